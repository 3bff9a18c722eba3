/* trace_capture.c - runs a program with the recorder in every rank and keeps what they recorded, whole or not
 * at all.
 *
 * The recorder (libfabricast-pmpi.so) is preloaded by the dynamic linker through the environment, so it
 * reaches ranks that inherit it: those of mpirun on this host, of srun everywhere; for mpirun across hosts
 * add -x LD_PRELOAD -x FABRICAST_TRACE_DIR. The ranks write to a private directory beside the output (on the
 * same, so probably shared, file system), which is removed in the end. The library picks the recorder of the program's MPI
 * (pmpi_pick.c). Limits: dynamically linked programs; one MPI program a capture. */
#include "core/unfinished.h"
#include "traces/pmpi/pmpi_raw.h"
#include "traces/trace_capture.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

#define RECORDER "libfabricast-pmpi.so"

/* The recorder: $FABRICAST_PMPI, or where the program was built or installed. */
static enum fc_code find_recorder(char *path, struct fc_status *st)
{
    static const char *const places[] = {"", "../", "../lib/fabricast/", "../lib/"};
    const char *given = getenv("FABRICAST_PMPI");
    char program[PATH_MAX], candidate[2 * PATH_MAX];
    if (given && *given) {
        if (realpath(given, path) && fc_elf_defines(path, "fc_pmpi_picks")) return FC_OK;
        if (access(given, R_OK) == 0)
            return fc_fail(st, FC_INPUT, (struct fc_place){given, 0},
                           "the recorder named by FABRICAST_PMPI: not a " RECORDER
                           " (which picks one for the program's MPI "
                           "from beside itself)");
        return fc_fail(st, FC_INPUT, (struct fc_place){given, 0}, "the recorder named by FABRICAST_PMPI: %s",
                       strerror(errno));
    }
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    program[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(program, '/');
    if (slash) slash[1] = '\0';
    for (size_t i = 0; i < FC_COUNT(places); i++) {
        snprintf(candidate, sizeof candidate, "%s%s" RECORDER, program, places[i]);
        if (realpath(candidate, path)) return FC_OK;
    }
    return fc_refuse(st, FC_NO,
                     "the recorder " RECORDER " is not beside the program nor in ../lib/fabricast (it is built "
                     "where an mpicc is; FABRICAST_PMPI can name it)");
}

/* ---- the private directory ---- */

/* Beside the output, which thereby proves writable before a long run. */
static enum fc_code make_directory(const char *path, char *directory, struct fc_unfinished **made, struct fc_status *st)
{
    *made = NULL;
    if (!path || !*path || strcmp(path, "-") == 0)
        return fc_refuse(st, FC_INPUT, "a recording needs a file to go to (expected -o FILE)");
    if (fc_unfinished_directory(path, made) && realpath(fc_unfinished_path(*made), directory)) return FC_OK;
    fc_fail(st, FC_INPUT, (struct fc_place){path, 0}, "cannot be written: %s", strerror(errno));
    fc_unfinished_remove(made);
    return st->code;
}

/* ---- running ---- */

void fc_recorders_found(char *text, size_t size)
{
    struct fc_status none = {0};
    char path[PATH_MAX];
    *text = 0;
    if (!find_recorder(path, &none)) fc_recorder_families(path, text, size);
}

/* Our environment with LD_PRELOAD (before what is preloaded already) and the directory. */
static char **make_environment(const char *recorder, const char *directory, struct fc_arena *arena,
                               struct fc_status *st)
{
    static const char *const ours[] = {"LD_PRELOAD=", FC_RAW_DIRECTORY "="};
    size_t n = 0, kept = 0;
    const char *before = getenv("LD_PRELOAD");
    while (environ[n]) n++;
    char **list = fc_alloc(arena, n + 3, sizeof *list, st);
    size_t size = strlen(recorder) + strlen(directory) + (before ? strlen(before) : 0) + 64;
    char *text[2] = {fc_alloc(arena, size, 1, st), fc_alloc(arena, size, 1, st)};
    if (!list || !text[0] || !text[1]) return NULL;
    for (size_t i = 0; i < n; i++) {
        bool replaced = false;
        for (size_t k = 0; k < FC_COUNT(ours); k++) replaced |= strncmp(environ[i], ours[k], strlen(ours[k])) == 0;
        if (!replaced) list[kept++] = environ[i];
    }
    snprintf(text[0], size, "%s%s%s%s", ours[0], recorder, before && *before ? ":" : "", before ? before : "");
    snprintf(text[1], size, "%s%s", ours[1], directory);
    list[kept++] = text[0];
    list[kept++] = text[1];
    return list;
}

/* Why the program's end is none; FC_OK when it went well. */
static enum fc_code check_exit(int exit_status, const char *directory, const char *kept, const char *program,
                               struct fc_status *st)
{
    char end[128];
    if (exit_status == 0) return FC_OK;
    fc_describe_end(exit_status, directory, end, sizeof end);
    return fc_refuse(st, FC_NO, "the program %s; %s (%s)", end, kept, program);
}

static enum fc_code check_files(const char *directory, struct fc_status *st)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/" FC_RAW_AGAIN, directory);
    if (access(path, F_OK) != 0) return FC_OK;
    return fc_refuse(st, FC_INPUT,
                     "the command ran more than one MPI program (expected one: capture them one by "
                     "one)");
}

/* ---- keeping ---- */

/* The command line as a text; words with blanks in quotes. */
static char *join(char *const *argv, struct fc_arena *arena, struct fc_status *st)
{
    size_t size = 1;
    for (char *const *word = argv; *word; word++) size += strlen(*word) + 3;
    char *text = fc_alloc(arena, size, 1, st), *at = text;
    for (char *const *word = argv; text && *word; word++) {
        bool quote = (*word)[strcspn(*word, " \t\n")] != '\0' || !**word;
        at += sprintf(at, quote ? "%s'%s'" : "%s%s", word == argv ? "" : " ", *word);
    }
    return text;
}

/* What the program's files refer to goes before what the recorder noted itself. */
static enum fc_code add_unwrapped(const char *recorder, const struct fc_name_list *objects, struct fc_trace *trace,
                                  struct fc_status *st)
{
    struct fc_name_list names = {0};
    for (uint32_t i = 0; i < objects->n; i++)
        if (fc_unwrapped_symbols(objects->name[i], recorder, &names, &trace->arena, st)) return st->code;
    for (uint32_t i = 0; i < trace->n_unwrapped; i++)
        if (fc_names_add(&names, trace->unwrapped[i], &trace->arena, st)) return FC_NO;
    trace->unwrapped = names.name;
    trace->n_unwrapped = names.n;
    fc_set_lines(trace);
    return FC_OK;
}

static enum fc_code fill_report(const struct fc_trace *trace, struct fc_arena *arena, int exit_status,
                                struct fc_capture_report *report, struct fc_status *st)
{
    struct fc_name_list names = {0};
    for (uint32_t i = 0; i < trace->n_unwrapped; i++)
        if (fc_names_add(&names, trace->unwrapped[i], arena, st)) return FC_NO;
    *report = (struct fc_capture_report){.exit_status = exit_status,
                                         .kept = true,
                                         .n_ranks = trace->n_ranks,
                                         .n_events = trace->first_event[trace->n_ranks],
                                         .n_unwrapped = names.n,
                                         .unwrapped = names.name};
    return FC_OK;
}

static enum fc_code keep(const char *directory, const char *recorder, const char *program, const char *path,
                         bool partial, struct fc_arena *arena, int exit_status, struct fc_capture_report *report,
                         struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    struct fc_name_list objects = {0};
    FC_SCOPED(fc_trace_free) struct fc_trace trace = {0};
    enum fc_code code = fc_merge_ranks(directory, program, &trace, partial, &objects, &scratch, st);
    if (!code) {
        code = add_unwrapped(recorder, &objects, &trace, st);
        if (!code) code = fc_trace_write(&trace, path, false, st);
        if (!code) code = fill_report(&trace, arena, exit_status, report, st);
    }
    return code;
}

enum fc_code fc_trace_capture(char *const *argv, const char *path, bool partial, struct fc_arena *arena,
                              struct fc_capture_report *report, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    struct fc_unfinished *made;
    char recorder[PATH_MAX], directory[PATH_MAX];
    *report = (struct fc_capture_report){0};
    if (!argv || !argv[0]) return fc_refuse(st, FC_INPUT, "no program to record (expected e.g. mpirun -n 4 ./program)");
    if (find_recorder(recorder, st) || make_directory(path, directory, &made, st)) return st->code;
    char *program = join(argv, &scratch, st);
    char **environment = program ? make_environment(recorder, directory, &scratch, st) : NULL;
    struct fc_child child = {.argv = argv, .environment = environment, .stream = {-1, -1, -1}, .end = SIGTERM};
    enum fc_code code = environment ? fc_child_run(&child, &report->exit_status, st) : FC_NO;
    bool failed = report->exit_status != 0;
    if (!code) code = fc_check_refused(directory, recorder, st);
    if (!code && failed && (!partial || !fc_reached(directory)))
        code = check_exit(report->exit_status, directory, "nothing is kept", program, st);
    if (!code) code = fc_check_reached(argv, directory, recorder, st);
    if (!code) code = check_files(directory, st);
    if (!code)
        code = keep(directory, recorder, program, path, partial && failed, arena, report->exit_status, report, st);
    if (!code && failed)
        code = check_exit(report->exit_status, directory, "what all ranks did until then is kept", program, st);
    fc_unfinished_remove(&made);
    return code;
}
