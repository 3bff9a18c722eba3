/* figure.c - writes a figure's data and script and runs gnuplot on them. */
#include "plots/plots.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

const char *const fc_series_colours[8] = {"#004488", "#DDAA33", "#BB5566", "#000000",
                                          "#66CCEE", "#228833", "#AA3377", "#999999"};

static enum fc_code write_text(const char *path, const char *text, const struct fc_table *data, struct fc_status *st)
{
    struct fc_output out;
    if (fc_output_open(&out, path, st)) return st->code;
    if (data) fc_table_print_tsv(data, out.stream);
    else if (text) fputs(text, out.stream);
    return fc_output_close(&out, st);
}

/* Runs gnuplot in the directory, standard output and error into `log` there; its exit status, or -1 with errno. */
static int gnuplot(const char *directory, const char *log, char *const *argv)
{
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = 0;
    posix_spawn_file_actions_init(&actions);
    if (directory) posix_spawn_file_actions_addchdir_np(&actions, directory);
    posix_spawn_file_actions_addopen(&actions, 2, log, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    posix_spawn_file_actions_adddup2(&actions, 2, 1);
    int failed = posix_spawnp(&child, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed) {
        errno = failed;
        return -1;
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static enum fc_code missing(struct fc_status *st)
{
    return fc_refuse(st, FC_NO, "gnuplot cannot be run: %s (install gnuplot-nox)", strerror(errno));
}

enum fc_code fc_plots_check(const char *directory, struct fc_status *st)
{
    char program[] = "gnuplot", version[] = "--version", *argv[] = {program, version, NULL};
    struct stat info;
    if (gnuplot(NULL, "/dev/null", argv) != 0) return missing(st);
    if (mkdir(directory, 0777) && errno != EEXIST)
        return fc_refuse(st, FC_INPUT, "%s: cannot be made: %s", directory, strerror(errno));
    if (stat(directory, &info) || !S_ISDIR(info.st_mode))
        return fc_refuse(st, FC_INPUT, "%s: no directory (expected one for the figures)", directory);
    if (access(directory, W_OK | X_OK))
        return fc_refuse(st, FC_INPUT, "%s: cannot be written: %s", directory, strerror(errno));
    return FC_OK;
}

/* gnuplot does not tell when a device is full: does the picture have its end? */
static bool has_end(const char *path)
{
    char end[33] = "";
    FILE *stream = fopen(path, "rb");
    if (!stream) return false;
    size_t n = fseek(stream, -32, SEEK_END) ? 0 : fread(end, 1, 32, stream);
    fclose(stream);
    return memmem(end, n, "IEND", 4) || memmem(end, n, "</svg>", 6) || memmem(end, n, "%%EOF", 5);
}

enum fc_code fc_figure_path(char out[FC_FIGURE_PATH], const char *directory, const char *name, const char *ending,
                            struct fc_status *st)
{
    if (snprintf(out, FC_FIGURE_PATH, "%s/%s.%s", directory, name, ending) < FC_FIGURE_PATH) return FC_OK;
    return fc_refuse(st, FC_INPUT, "%.200s...: the path of a figure has over %d bytes", directory, FC_FIGURE_PATH - 1);
}

/* Gives the pictures their names, or takes them away. */
static void publish(const char *directory, const char *name, const char *const *pictures, size_t n, struct fc_status *st)
{
    char path[FC_FIGURE_PATH], part[FC_FIGURE_PATH + 5];
    for (size_t i = 0; i < n && !st->code; i++) {
        if (fc_figure_path(path, directory, name, pictures[i], st)) return;
        snprintf(part, sizeof part, "%s.part", path);
        if (!has_end(part)) fc_refuse(st, FC_NO, "%s: gnuplot could not write all of it (is the device full?)", path);
    }
    for (size_t i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/%s.%s", directory, name, pictures[i]);
        snprintf(part, sizeof part, "%s.part", path);
        if (st->code)
            unlink(part);
        else if (rename(part, path))
            fc_refuse(st, FC_NO, "%s: %s", path, strerror(errno));
    }
}

/* The script's name begins with ./, or gnuplot might take it for an option. -d: nothing of the user's ~/.gnuplot. */
enum fc_code fc_gnuplot_draw(const char *directory, const char *name, const char *const *pictures, size_t n,
                             struct fc_status *st)
{
    char script[FC_FIGURE_PATH], log[FC_FIGURE_PATH], path[FC_FIGURE_PATH];
    char program[] = "gnuplot", defaults[] = "-d", option[] = "-e", set[] = "part='.part'";
    char *argv[] = {program, defaults, option, set, script, NULL};
    if (fc_figure_path(path, directory, name, "log", st) || fc_figure_path(script, ".", name, "gp", st) ||
        fc_figure_path(log, ".", name, "log", st))
        return st->code;
    int status = gnuplot(directory, log, argv);
    if (status < 0)
        missing(st);
    else if (status)
        fc_refuse(st, FC_NO, "gnuplot refused %s/%s.gp (see %s)", directory, name, path);
    publish(directory, name, pictures, n, st);
    if (status == 0) unlink(path);
    return st->code;
}

enum fc_code fc_figure_write(const char *directory, const char *name, const struct fc_table *data,
                             const char *script, struct fc_status *st)
{
    char path[FC_FIGURE_PATH];
    if (mkdir(directory, 0777) && errno != EEXIST)
        return fc_refuse(st, FC_INPUT, "%s: cannot be made: %s", directory, strerror(errno));
    if (fc_figure_path(path, directory, name, "tsv", st) || write_text(path, NULL, data, st) ||
        fc_figure_path(path, directory, name, "gp", st) || write_text(path, script, NULL, st))
        return st->code;
    static const char *const picture = "png";
    return fc_gnuplot_draw(directory, name, &picture, 1, st);
}
