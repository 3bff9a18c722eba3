/* figure.c - writes a figure's data and script and runs gnuplot on them. */
#include "plots/plots.h"
#include "core/unfinished.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

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
    char path[800];
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

/* What gnuplot makes is ours to remove until it is whole. */
static void note_files(const char *directory, const char *name, const char *const *pictures, size_t n,
                       struct fc_unfinished **part, struct fc_unfinished **log, struct fc_status *st)
{
    char path[800];
    for (size_t i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/%s.%s.part", directory, name, pictures[i]);
        part[i] = fc_unfinished_name(path);
        if (!part[i]) fc_refuse(st, FC_NO, "out of memory for the plot");
    }
    snprintf(path, sizeof path, "%s/%s.log", directory, name);
    *log = fc_unfinished_name(path);
    if (!*log) fc_refuse(st, FC_NO, "out of memory for the plot");
}

enum fc_code fc_gnuplot_draw(const char *directory, const char *name, const char *const *pictures, size_t n,
                             struct fc_status *st)
{
    char script[160], log[160], path[800], program[] = "gnuplot", option[] = "-e", set[] = "part='.part'";
    char *argv[] = {program, option, set, script, NULL};
    struct fc_unfinished *part[FC_MOST_PICTURES] = {0}, *noted_log = NULL;
    snprintf(script, sizeof script, "%s.gp", name);
    snprintf(log, sizeof log, "%s.log", name);
    note_files(directory, name, pictures, n, part, &noted_log, st);
    int status = st->code ? 0 : gnuplot(directory, log, argv);
    if (status < 0)
        missing(st);
    else if (status)
        fc_refuse(st, FC_NO, "gnuplot refused %s/%s (see %s/%s)", directory, script, directory, log);
    for (size_t i = 0; i < n && !st->code; i++)
        if (!has_end(fc_unfinished_path(part[i])))
            fc_refuse(st, FC_NO, "%s/%s.%s: gnuplot could not write all of it (is the device full?)", directory, name,
                      pictures[i]);
    for (size_t i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/%s.%s", directory, name, pictures[i]);
        int error = st->code ? 0 : fc_unfinished_publish(&part[i], path);
        if (error) fc_refuse(st, FC_NO, "%s: %s", path, strerror(error));
        fc_unfinished_remove(&part[i]);
    }
    if (status == 0) fc_unfinished_remove(&noted_log);
    fc_unfinished_keep(&noted_log);
    return st->code;
}

enum fc_code fc_figure_write(const char *directory, const char *name, const struct fc_table *data,
                             const char *script, struct fc_status *st)
{
    char path[700];
    if (mkdir(directory, 0777) && errno != EEXIST)
        return fc_refuse(st, FC_INPUT, "%s: cannot be made: %s", directory, strerror(errno));
    snprintf(path, sizeof path, "%s/%s.tsv", directory, name);
    if (write_text(path, NULL, data, st)) return st->code;
    snprintf(path, sizeof path, "%s/%s.gp", directory, name);
    if (write_text(path, script, NULL, st)) return st->code;
    static const char *const picture = "png";
    return fc_gnuplot_draw(directory, name, &picture, 1, st);
}

void fc_script_text(FILE *script, const char *text)
{
    fputc('"', script);
    for (; *text; text++)
        if (*text == '\n')
            fputs("\\n", script);
        else
            fputc(*text == '"' || *text == '\\' ? '\'' : *text, script);
    fputc('"', script);
}

void fc_script_start(FILE *script, const char *name, double width, double height)
{
    fprintf(script,
            "if (!exists('form')) form = 'png' # gnuplot -e \"form='pdf'\" %s.gp, or svg\n"
            "if (!exists('part')) part = ''\n"
            "if (form eq 'png') set terminal pngcairo size %.0f,%.0f font 'DejaVu Sans,11'\n"
            "if (form eq 'svg') set terminal svg size %.0f,%.0f font 'DejaVu Sans,11' background 'white'\n"
            "if (form eq 'pdf') set terminal pdfcairo size %.2fin,%.2fin font 'DejaVu Sans,9'\n"
            "set output '%s.'.form.part\n"
            "set datafile separator '\\t'\n",
            name, width, height, width, height, width / 120, height / 120, name);
}

struct fc_time_axis fc_time_axis(double most_s)
{
    return most_s < 1e-6   ? (struct fc_time_axis){1e9, "ns"}
           : most_s < 1e-3 ? (struct fc_time_axis){1e6, "µs"}
           : most_s < 1    ? (struct fc_time_axis){1e3, "ms"}
                           : (struct fc_time_axis){1, "s"};
}

void fc_script_open(struct fc_script *script, struct fc_status *st)
{
    *script = (struct fc_script){0};
    if (st->code) return;
    script->stream = open_memstream(&script->text, &script->size);
    if (!script->stream) fc_refuse(st, FC_NO, "out of memory for the plot");
}

enum fc_code fc_script_draw(struct fc_script *script, const char *directory, const char *name,
                            const struct fc_table *data, struct fc_status *st)
{
    if (script->stream && fclose(script->stream)) fc_refuse(st, FC_NO, "out of memory for the plot");
    if (!st->code) fc_figure_write(directory, name, data, script->text, st);
    free(script->text);
    *script = (struct fc_script){0};
    return st->code;
}
