/* measured_write.c - what the rows that were not fitted say, and the machine file with both. */
#include "answer/measured.h"

#include <stdlib.h>

enum fc_code fc_measured_judge(struct fc_measured *t, struct fc_measured_fit *fit, struct fc_status *st)
{
    fit->cases = (struct fc_measured_cases){.source = t->file, .widen = 1};
    fit->cases.cases = fc_alloc(&t->arena, t->n_rows, sizeof *fit->cases.cases, st);
    if (!fit->cases.cases) return st->code;
    for (uint32_t i = 0; i < t->n_rows; i++) {
        const struct fc_measured_row *row = &t->rows[i];
        const struct fc_measured_job *job = &t->jobs[row->job];
        if (row->fitted || row->seen || isnan(row->predicted_s)) continue;
        fit->cases.cases[fit->cases.n++] = (struct fc_measured_case){row->collective, job->n_nodes, job->ranks_per_node,
                                                                     row->bytes, row->measured_s / row->predicted_s};
    }
    fit->covered = fc_measured_widen(&fit->cases);
    return FC_OK;
}

static const char *quantity(enum fc_unit unit, double value, char *out, size_t size)
{
    const char *name = unit == FC_SECONDS            ? " s"
                       : unit == FC_SECONDS_PER_BYTE ? " s/B"
                       : unit == FC_BYTES            ? " B"
                                                     : " B/s";
    snprintf(out, size, unit == FC_BYTES ? "%.15g%s" : "%.4g%s", value, name);
    return out;
}

/* Four digits of a ratio, none nearer to 1: an error is to cover the rows that it is from. */
static double kept(double ratio)
{
    double unit = pow(10, floor(log10(ratio)) - 3);
    return (ratio > 1 ? ceil(ratio / unit) : floor(ratio / unit)) * unit;
}

/* "measured={source: ..., widen: ..., rows: [...]}", a text that the caller frees; NULL: no memory. */
static char *cases_text(const struct fc_measured_fit *fit, struct fc_status *st)
{
    struct fc_memory_stream out;
    if (fc_memory_open(&out, st)) return NULL;
    fprintf(out.stream, "measured={source: '");
    for (const char *c = fit->cases.source; *c; c++) fprintf(out.stream, *c == '\'' ? "''" : "%c", *c);
    fprintf(out.stream, "', widen: %.4g, rows: [", kept(fit->cases.widen));
    for (uint32_t i = 0; i < fit->cases.n; i++) {
        const struct fc_measured_case *c = &fit->cases.cases[i];
        fprintf(out.stream, "%s[%s, %.0f, %.0f, %.0f, %.4g]", i ? ", " : "", c->collective, c->nodes, c->ranks_per_node,
                c->bytes, kept(c->ratio));
    }
    fprintf(out.stream, "]}");
    return fc_memory_close(&out, st) ? NULL : out.text;
}

enum fc_code fc_measured_write(const struct fc_measured *t, const struct fc_measured_fit *fit,
                               const struct fc_question *q, const char *path, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    size_t n = 0;
    const char **settings = fc_alloc(&scratch, q->n_settings + FC_END_POINTS + 2, sizeof *settings, st);
    char *cases = fit->cases.n ? cases_text(fit, st) : NULL;
    for (size_t i = 0; settings && i < q->n_settings; i++) settings[n++] = q->settings[i];
    for (int p = 0; settings && p < FC_END_POINTS && !st->code; p++) {
        char value[40], line[120];
        if (!fit->fitted[p] && fit->values.value[p] == fit->before.value[p]) continue;
        quantity(fc_end_points[p].unit, fit->values.value[p], value, sizeof value);
        snprintf(line, sizeof line, "%s=%s", fc_end_points[p].key, value);
        settings[n++] = fc_copy_text(&scratch, line, st);
        if (p != FC_END_OVERHEAD) continue;
        snprintf(line, sizeof line, "software.recv=%s", value);
        settings[n++] = fc_copy_text(&scratch, line, st);
    }
    if (cases) settings[n++] = cases;
    if (!st->code) fc_machine_save(q->machine, settings, n, NULL, path, st);
    free(cases);
    (void)t;
    return st->code;
}
