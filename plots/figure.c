/* figure.c - writes a figure's data and script and runs gnuplot on them. */
#include "plots/plots.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

extern char **environ;

static enum fc_code write_text(const char *path, const char *text, const struct fc_table *data, struct fc_status *st)
{
    struct fc_output out;
    if (fc_output_open(&out, path, st)) return st->code;
    if (data) fc_table_print_tsv(data, out.stream);
    else if (text) fputs(text, out.stream);
    return fc_output_close(&out, st);
}

/* Runs `gnuplot NAME.gp` inside the directory; its messages go to NAME.log, which stays only after a failure. */
static enum fc_code draw(const char *directory, const char *name, struct fc_status *st)
{
    char script[160], log[700];
    snprintf(script, sizeof script, "%s.gp", name);
    snprintf(log, sizeof log, "%s/%s.log", directory, name);
    char program[] = "gnuplot", *argv[] = {program, script, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 2, log, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    posix_spawn_file_actions_adddup2(&actions, 2, 1);
    posix_spawn_file_actions_addchdir_np(&actions, directory);
    pid_t child;
    int failed = posix_spawnp(&child, program, &actions, NULL, argv, environ), status = 0;
    posix_spawn_file_actions_destroy(&actions);
    if (failed) return fc_refuse(st, FC_NO, "gnuplot cannot be run: %s (install gnuplot-nox)", strerror(failed));
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    if (status != 0) return fc_refuse(st, FC_NO, "gnuplot refused %s/%s (see %s)", directory, script, log);
    remove(log);
    return FC_OK;
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
    return draw(directory, name, st);
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
