/* calibrate_measured.c - `calibrate --measured`: the end points of a machine fitted to measured collectives, and how far the
 * rows that were not fitted are off. */
#include "cli/calibrate_measured.h"
#include "answer/measured.h"
#include "cli/heartbeat.h"
#include "cli/print.h"
#include "core/values.h"

#include <stdlib.h>

enum { SHORT_BYTES = 16384 };

struct answer {
    const struct fc_measured *table;
    const struct fc_measured_fit *fit;
    const char *machine, *path;
};

/* ---- how far off ---- */

struct summary {
    uint32_t n, n_within; /* within 40 % */
    double median_percent;
};

/* Of the rows of a job, fitted or judged, of messages up to SHORT_BYTES or above. */
static struct summary summarise(const struct fc_measured *t, uint32_t job, bool fitted, bool is_short)
{
    struct summary s = {.median_percent = NAN};
    double *off = malloc((t->n_rows + 1) * sizeof *off);
    for (uint32_t i = 0; off && i < t->n_rows; i++) {
        const struct fc_measured_row *row = &t->rows[i];
        if (row->job != job || row->fitted != fitted || (row->bytes <= SHORT_BYTES) != is_short ||
            isnan(row->predicted_s))
            continue;
        off[s.n] = 100 * fabs(row->predicted_s / row->measured_s - 1);
        s.n_within += off[s.n++] <= 40;
    }
    if (s.n) {
        qsort(off, s.n, sizeof *off, fc_by_real);
        s.median_percent = off[s.n / 2];
    }
    free(off);
    return s;
}

static void print_summary(FILE *stream, const struct answer *a, uint32_t job, bool fitted)
{
    struct summary s[2] = {summarise(a->table, job, fitted, true), summarise(a->table, job, fitted, false)};
    const struct fc_measured_job *j = &a->table->jobs[job];
    if (s[0].n + s[1].n == 0) return;
    fprintf(stream, "%-12s %5d  %-7s", j->nodes, j->ranks_per_node, fitted ? "fitted" : "judged");
    for (int k = 0; k < 2; k++)
        if (s[k].n)
            fprintf(stream, " %6u %8.1f %8.0f", s[k].n, s[k].median_percent, 100.0 * s[k].n_within / s[k].n);
        else
            fprintf(stream, " %6s %8s %8s", "-", "-", "-");
    fprintf(stream, "\n");
}

static void print(FILE *stream, const void *what)
{
    const struct answer *a = what;
    const struct fc_measured *t = a->table;
    uint32_t n_left_out = 0;
    for (uint32_t i = 0; i < t->n_rows; i++) n_left_out += t->rows[i].left_out != NULL;
    fprintf(stream, "machine     %s\nrows        %u of %s, %u fitted, %u judged, %u left out; %u of other systems\n\n",
            a->machine, t->n_rows, t->file, a->fit->n_fitted, t->n_rows - a->fit->n_fitted - n_left_out, n_left_out,
            t->n_other);
    fprintf(stream, "%-26s %12s %12s %12s %12s\n", "end point (SI)", "was", "is", "low", "high");
    for (int p = 0; p < FC_END_POINTS; p++) {
        fprintf(stream, "%-26s %12.4g %12.4g", p == FC_END_OVERHEAD ? "software.send, recv" : fc_end_points[p].key,
                a->fit->before.value[p], a->fit->values.value[p]);
        if (a->fit->fitted[p])
            fprintf(stream, " %12.4g %12.4g\n", a->fit->low.value[p], a->fit->high.value[p]);
        else
            fprintf(stream, " %12s %12s\n", "not fitted", "-");
    }
    fprintf(stream, "\n%-12s %5s  %-7s %24s %24s\n%-12s %5s  %-7s", "", "ranks", "", "up to 16 KiB", "above", "nodes",
            "/node", "");
    for (int k = 0; k < 2; k++) fprintf(stream, " %6s %8s %8s", "rows", "median %", "in 40 %");
    fprintf(stream, "\n");
    for (uint32_t j = 0; j < t->n_jobs; j++)
        for (int fitted = 1; fitted >= 0; fitted--) print_summary(stream, a, j, fitted);
    if (!isnan(a->fit->covered))
        fprintf(
            stream,
            "\nerror       from the %u rows judged; of each job the stated error, by other jobs' rows, covers %.0f %%\n",
            a->fit->cases.n, 100 * a->fit->covered);
    fprintf(stream, "%s     %s\n", a->path ? "\nwritten" : "\nnot written",
            a->path ? a->path : "(-o FILE writes a machine file)");
}

static json_t *to_json(const struct answer *a)
{
    const struct fc_measured *t = a->table;
    json_t *points = json_object(), *rows = json_array();
    for (int p = 0; p < FC_END_POINTS; p++)
        json_object_set_new(points, fc_end_points[p].key,
                            json_pack("{s:o, s:o, s:o, s:o, s:b}", "was", fc_json_real(a->fit->before.value[p]),
                                      "value", fc_json_real(a->fit->values.value[p]), "low",
                                      fc_json_real(a->fit->low.value[p]), "high", fc_json_real(a->fit->high.value[p]),
                                      "fitted", a->fit->fitted[p]));
    for (uint32_t i = 0; i < t->n_rows; i++) {
        const struct fc_measured_row *row = &t->rows[i];
        const struct fc_measured_job *job = &t->jobs[row->job];
        json_array_append_new(
            rows,
            json_pack("{s:I, s:s, s:i, s:s, s:s, s:o, s:o, s:o, s:b, s:s?}", "line", (json_int_t)row->line, "nodes",
                      job->nodes, "ranks_per_node", job->ranks_per_node, "collective", row->collective, "algorithm",
                      row->algorithm, "bytes", fc_json_real(row->bytes), "measured_s", fc_json_real(row->measured_s),
                      "predicted_s", fc_json_real(row->predicted_s), "fitted", row->fitted, "left_out", row->left_out));
    }
    return json_pack("{s:s, s:s, s:s?, s:o, s:o, s:o}", "machine", a->machine, "measured", t->file, "written", a->path,
                     "covered_percent", fc_json_real(100 * a->fit->covered), "end_points", points, "rows", rows);
}

static enum fc_code fit(const struct fc_arguments *arguments, struct fc_measured *table, struct fc_measured_fit *found,
                        struct fc_status *st)
{
    struct fc_progress progress;
    fc_work_start(&progress, arguments->quiet);
    if (!fc_measured_open(&arguments->ask, table, st)) {
        fc_measured_choose(table);
        if (!fc_measured_fit(table, arguments->ask.threads, &progress, found, st) &&
            !fc_measured_predict(table, &found->values, false, arguments->ask.threads, st))
            fc_measured_judge(table, found, st);
    }
    fc_work_end(&progress);
    return st->code;
}

enum fc_code fc_calibrate_measured(const struct fc_arguments *arguments, const struct fc_machine *machine,
                                   struct fc_status *st)
{
    struct fc_measured table;
    struct fc_measured_fit found;
    if (fc_measured_read(arguments->measured, machine->name, &table, st)) return st->code;
    if (!fit(arguments, &table, &found, st)) {
        struct answer a = {&table, &found, machine->name, arguments->output};
        struct fc_arguments answer = *arguments;
        answer.output = NULL; /* -o names the machine file */
        if (!arguments->output || !fc_measured_write(&table, &found, &arguments->ask, arguments->output, st))
            fc_deliver(&answer, arguments->json ? to_json(&a) : NULL, print, &a, st);
    }
    fc_measured_free(&table);
    return st->code;
}
