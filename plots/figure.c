/* figure.c - writes a figure's data and script and runs gnuplot on them. */
#include "plots/plots.h"
#include "core/unfinished.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static enum fc_code write_text(const char *path, const char *text, const struct fc_table *data, struct fc_status *st)
{
    struct fc_output out;
    if (fc_output_open(&out, path, st)) return st->code;
    if (data)
        fc_table_print_tsv(data, out.stream);
    else if (text)
        fputs(text, out.stream);
    return fc_output_close(&out, st);
}

/* Runs gnuplot in the directory, standard output and error into `log` there; its exit status, or -1 with errno. */
static int gnuplot(const char *directory, const char *log, char *const *argv)
{
    char path[2 * FC_FIGURE_PATH];
    int status = 0;
    snprintf(path, sizeof path, "%s%s%s", directory ? directory : "", directory ? "/" : "", log);
    int out = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (out < 0) return -1;
    struct fc_child child = {.argv = argv, .directory = directory, .stream = {-1, out, out}, .end = SIGKILL};
    pid_t pid = fc_child_start(&child);
    int error = errno;
    close(out);
    errno = error;
    if (pid < 0) return -1;
    fc_child_ended(pid, true, &status);
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

/* What gnuplot makes is ours to remove until it is whole: the pictures' parts and its messages. */
static enum fc_code note_files(const char *directory, const char *name, const char *const *pictures, size_t n,
                               struct fc_unfinished **part, struct fc_unfinished **log, struct fc_status *st)
{
    char path[FC_FIGURE_PATH], with_part[FC_FIGURE_PATH + 5];
    for (size_t i = 0; i < n; i++) {
        if (fc_figure_path(path, directory, name, pictures[i], st)) return st->code;
        snprintf(with_part, sizeof with_part, "%s.part", path);
        part[i] = fc_unfinished_name(with_part);
        if (!part[i]) return fc_out_of_memory(st, "the plot");
    }
    if (fc_figure_path(path, directory, name, "log", st)) return st->code;
    *log = fc_unfinished_name(path);
    return *log ? FC_OK : fc_out_of_memory(st, "the plot");
}

/* Gives the pictures their names, or takes them away. */
static void publish(const char *directory, const char *name, const char *const *pictures, size_t n,
                    struct fc_unfinished **part, struct fc_status *st)
{
    char path[FC_FIGURE_PATH] = "";
    for (size_t i = 0; i < n && !st->code; i++)
        if (!fc_figure_path(path, directory, name, pictures[i], st) && !has_end(fc_unfinished_path(part[i])))
            fc_refuse(st, FC_NO, "%s: gnuplot could not write all of it (is the device full?)", path);
    for (size_t i = 0; i < n; i++) {
        int error = 0;
        if (!st->code && !fc_figure_path(path, directory, name, pictures[i], st))
            error = fc_unfinished_publish(&part[i], path);
        if (error) fc_refuse(st, FC_NO, "%s: %s", path, strerror(error));
        fc_unfinished_remove(&part[i]);
    }
}

/* The script's name begins with ./, or gnuplot might take it for an option. -d: nothing of the user's ~/.gnuplot. */
enum fc_code fc_gnuplot_draw(const char *directory, const char *name, const char *const *pictures, size_t n,
                             struct fc_status *st)
{
    char script[FC_FIGURE_PATH], log[FC_FIGURE_PATH];
    char program[] = "gnuplot", defaults[] = "-d", option[] = "-e", set[] = "part='.part'";
    char *argv[] = {program, defaults, option, set, script, NULL};
    struct fc_unfinished *part[FC_MOST_PICTURES] = {0}, *noted_log = NULL;
    int status = 0;
    if (!fc_figure_path(script, ".", name, "gp", st) && !fc_figure_path(log, ".", name, "log", st) &&
        !note_files(directory, name, pictures, n, part, &noted_log, st)) {
        status = gnuplot(directory, log, argv);
        if (status < 0)
            missing(st);
        else if (status)
            fc_refuse(st, FC_NO, "gnuplot refused %s/%s.gp (see %s)", directory, name, fc_unfinished_path(noted_log));
    }
    publish(directory, name, pictures, n, part, st);
    if (status == 0) fc_unfinished_remove(&noted_log);
    fc_unfinished_keep(&noted_log);
    return st->code;
}

enum fc_code fc_figure_write(const char *directory, const char *name, const struct fc_table *data, const char *script,
                             struct fc_status *st)
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
