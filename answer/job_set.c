/* job_set.c - the file of a set of jobs: one a line, its weight, what kind of input it is, the input, perhaps a name.
 *
 *     # weight  kind     input
 *     2         trace    lammps-lj-64.fct
 *     1         pattern  stencil3d:grid=8x8x8,bytes=64KiB   halo */
#include "answer/compare.h"

#include <string.h>

enum { MOST_JOBS = 1000 };
#define MOST_WEIGHT 1e15 /* so that no sum of weights overflows */

const char *const fc_job_kind_names[] = {"trace", "pattern", "graph", NULL};

static const char *copy_word(struct fc_arena *arena, const char *word, size_t length, struct fc_status *st)
{
    char *copy = fc_alloc(arena, length + 1, 1, st);
    if (copy) memcpy(copy, word, length);
    return copy;
}

/* A file is beside the set, unless its path begins at the top. */
static const char *path_beside(const char *set, const char *file, struct fc_arena *arena, struct fc_status *st)
{
    const char *slash = strrchr(set, '/');
    if (*file == '/' || !slash) return file;
    size_t folder = (size_t)(slash - set) + 1, size = folder + strlen(file) + 1;
    char *path = fc_alloc(arena, size, 1, st);
    if (path) snprintf(path, size, "%.*s%s", (int)folder, set, file);
    return path;
}

static enum fc_code read_job(const struct fc_lines *lines, const char *at, struct fc_arena *arena,
                             struct fc_job_set *set, struct fc_status *st)
{
    static const char expected[] = "expected WEIGHT trace|pattern|graph INPUT [NAME]";
    struct fc_place where = fc_lines_place(lines);
    struct fc_set_job *job = &set->jobs[set->n];
    const char *word[5], *end = lines->text + lines->length;
    size_t length[5];
    int n = 0;
    while (n < 5 && fc_next_word(&at, end, &word[n], &length[n])) n++;
    for (int i = 0; i < n; i++)
        if (*word[i] == '#') n = i;
    if (n == 0) return FC_OK;
    if (set->n == MOST_JOBS) return fc_fail(st, FC_INPUT, where, "more than %d jobs", MOST_JOBS);
    if (n < 3 || n > 4) return fc_fail(st, FC_INPUT, where, "a job has %d words (%s)", n, expected);
    if (fc_word_real(word[0], length[0], "weight", &job->weight, where, st)) return st->code;
    if (!(job->weight > 0)) return fc_fail(st, FC_INPUT, where, "weight: %.*s is not above 0", (int)length[0], word[0]);
    if (job->weight > MOST_WEIGHT)
        return fc_fail(st, FC_INPUT, where, "weight: %.*s is above %g", (int)length[0], word[0], MOST_WEIGHT);
    int kind = 0;
    while (fc_job_kind_names[kind] &&
           (strlen(fc_job_kind_names[kind]) != length[1] || memcmp(fc_job_kind_names[kind], word[1], length[1])))
        kind++;
    if (!fc_job_kind_names[kind])
        return fc_fail(st, FC_INPUT, where, "'%.*s' is no kind of job (%s)", (int)fmin(60, (double)length[1]), word[1],
                       expected);
    job->kind = (enum fc_job_kind)kind;
    job->line = lines->line;
    job->what = copy_word(arena, word[2], length[2], st);
    if (st->code) return st->code;
    const char *slash = strrchr(job->what, '/');
    job->name = n == 4                            ? copy_word(arena, word[3], length[3], st)
                : slash && kind != FC_SET_PATTERN ? slash + 1
                                                  : job->what;
    if (kind != FC_SET_PATTERN) job->what = path_beside(set->file, job->what, arena, st);
    set->n++;
    return st->code;
}

enum fc_code fc_job_set_read(const char *path, struct fc_arena *arena, struct fc_job_set *set, struct fc_status *st)
{
    struct fc_text text;
    struct fc_lines lines;
    *set = (struct fc_job_set){.file = path};
    set->jobs = fc_alloc(arena, MOST_JOBS, sizeof *set->jobs, st);
    if (!set->jobs || fc_read_file(path, arena, &text, st)) return st->code;
    fc_lines_start(&lines, &text);
    while (!st->code && fc_lines_next(&lines)) read_job(&lines, lines.text, arena, set, st);
    if (!st->code && set->n == 0)
        return fc_fail(st, FC_INPUT, (struct fc_place){path, 0},
                       "no job (expected lines WEIGHT trace|pattern|graph INPUT [NAME])");
    return st->code;
}
