/* measured.c - machines that stand somewhere: collectives that were measured on them, and the predictions of the shipped machine
 * files, computed here with the end points as shipped. Nothing is fitted: which rows the end points were fitted to is in the
 * table (models/machines/MACHINE.measured.tsv, column part), and those are drawn but not judged.
 *
 *   off = |predicted / measured - 1|
 *
 * Ranked alike: of two algorithms of one job, operation and size whose times differ by RANKED or more when measured, the one
 * that is predicted to be faster is the faster one. docs/measured.md has the method and the limits. */
#include "answer/measured.h"
#include "core/values.h"
#include "mapping/mapping.h"
#include "reproduce/figure.h"

#include <stdlib.h>
#include <string.h>

#define SHORT_BYTES 16384.0
#define NEAR 0.4
#define RANKED 1.2
enum { QUICK_RANKS = 64 };

/* A curve that is drawn: all rows would be too many. Colours and marks go by its place in the panel. */
struct curve {
    const char *collective, *nodes;
    int ranks_per_node;
    const char *algorithm, *label;
};

/* ---- what judged rows say ---- */

struct tally {
    uint32_t n, of[2]; /* rows judged; up to 16 KiB, above */
    double off[2], within, stated, covered, held_out;
    uint32_t pairs, alike;
};

/* Which rows: of a job, of an operation; FC_NONE and FC_OP_INIT: of all. */
struct choice {
    uint32_t job;
    enum fc_op op;
};

static bool judged(const struct fc_measured_row *row)
{
    return !row->fitted && !row->seen && !row->left_out && !isnan(row->predicted_s);
}

static bool same_size(const struct fc_measured_job *a, const struct fc_measured_job *b)
{
    return !strcmp(a->nodes, b->nodes) && a->ranks_per_node == b->ranks_per_node;
}

static bool chosen(const struct fc_measured *t, const struct fc_measured_row *row, struct choice which)
{
    return judged(row) && (which.job == FC_NONE || same_size(&t->jobs[row->job], &t->jobs[which.job])) &&
           (which.op == FC_OP_INIT || row->op == which.op);
}

static double median(double *value, size_t n)
{
    if (n == 0) return NAN;
    qsort(value, n, sizeof *value, fc_by_real);
    return value[n / 2];
}

static double off(const struct fc_measured_row *row)
{
    return fabs(row->predicted_s / row->measured_s - 1);
}

/* The error that `predict` states for the row, percent; held_out: from the rows of other jobs alone. */
static double stated(const struct fc_measured *t, const struct fc_measured_row *row, bool held_out)
{
    const struct fc_measured_job *job = &t->jobs[row->job];
    const struct fc_measured_cases *cases = &job->session.machine.measured;
    struct fc_measured_point at = {row->collective, job->n_nodes, job->ranks_per_node, row->bytes};
    uint32_t without = FC_NONE;
    bool far;
    for (uint32_t i = 0; held_out && i < cases->n && without == FC_NONE; i++)
        if (cases->cases[i].nodes == job->n_nodes && cases->cases[i].ranks_per_node == job->ranks_per_node) without = i;
    return fc_measured_error_percent(cases, &at, without, &far);
}

static void rank(const struct fc_measured *t, struct choice which, struct tally *y)
{
    for (uint32_t i = 0; i < t->n_rows; i++)
        for (uint32_t j = 0; j < t->n_rows; j++) {
            const struct fc_measured_row *a = &t->rows[i], *b = &t->rows[j];
            if (!chosen(t, a, which) || !chosen(t, b, which) || a->op != b->op || a->bytes != b->bytes ||
                !same_size(&t->jobs[a->job], &t->jobs[b->job]) || !strcmp(a->algorithm, b->algorithm) ||
                a->measured_s <= RANKED * b->measured_s)
                continue;
            y->pairs++;
            y->alike += a->predicted_s > b->predicted_s;
        }
}

static enum fc_code count(const struct fc_measured *t, struct choice which, struct tally *y, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    double *part[3];
    *y = (struct tally){.n = 0};
    for (int k = 0; k < 3; k++)
        if (!(part[k] = fc_alloc(&scratch, t->n_rows, sizeof *part[k], st))) break;
    for (uint32_t i = 0; i < t->n_rows && !st->code; i++) {
        const struct fc_measured_row *row = &t->rows[i];
        if (!chosen(t, row, which)) continue;
        int size = row->bytes > SHORT_BYTES;
        double missed = fabs(row->measured_s / row->predicted_s - 1), error = stated(t, row, false) / 100;
        part[size][y->of[size]++] = off(row);
        part[2][y->n++] = error;
        y->within += off(row) <= NEAR;
        y->covered += missed <= error;
        y->held_out += missed <= stated(t, row, true) / 100;
    }
    if (!st->code) {
        y->off[0] = median(part[0], y->of[0]);
        y->off[1] = median(part[1], y->of[1]);
        y->stated = median(part[2], y->n);
        y->within /= y->n, y->covered /= y->n, y->held_out /= y->n;
        rank(t, which, y);
    }
    return st->code;
}

/* ---- the rows of the summary's table ---- */

static void put_share(FILE *to, double share)
{
    if (isnan(share))
        fprintf(to, " - |");
    else
        fprintf(to, " %.*f %% |", share < 0.0995 ? 1 : 0, 100 * share);
}

static void put_row(FILE *to, const char *machine, const char *job, const char *operation, const struct tally *y)
{
    fprintf(to, "| %s | %s | %s | %u |", machine, job, operation, y->n);
    put_share(to, y->off[0]);
    put_share(to, y->off[1]);
    put_share(to, y->within);
    if (y->pairs)
        fprintf(to, " %u of %u |", y->alike, y->pairs);
    else
        fprintf(to, " - |");
    if (y->stated > 1) /* the answer says so from there on */
        fprintf(to, " unknown |");
    else
        put_share(to, y->stated);
    put_share(to, y->covered);
    fprintf(to, "\n");
}

/* The job's size; NULL: one before it has the same. */
static const char *job_name(struct fc_reproduction *r, const struct fc_measured *t, uint32_t job)
{
    const struct fc_measured_job *j = &t->jobs[job];
    for (uint32_t i = 0; i < job; i++)
        if (same_size(&t->jobs[i], j)) return NULL;
    return j->ranks_per_node > 1 ? fc_reproduction_text(r, "%s nodes, %d ranks each", j->nodes, j->ranks_per_node)
                                 : fc_reproduction_text(r, "%s nodes", j->nodes);
}

static enum fc_code put_rows(struct fc_reproduction *r, const struct fc_measured *t, const struct tally *all,
                             struct fc_status *st)
{
    struct fc_memory_stream to;
    struct tally y;
    if (fc_memory_open(&to, st)) return st->code;
    for (uint32_t j = 0; j < t->n_jobs && !st->code; j++) {
        const char *job = job_name(r, t, j);
        for (int op = 0; job && op < FC_N_OPS; op++) {
            if (op == FC_OP_INIT || count(t, (struct choice){j, (enum fc_op)op}, &y, st) || y.n == 0) continue;
            put_row(to.stream, r->figure->machine, job, fc_op_names[op], &y);
        }
    }
    put_row(to.stream, fc_reproduction_text(r, "**%s**", r->figure->machine), "all", "all", all);
    fc_memory_close(&to, st);
    if (!st->code) r->rows = fc_copy_text(&r->arena, to.text, st);
    free(to.text);
    return st->code;
}

/* ---- points ---- */

static struct fc_point_of percent(struct fc_reproduction *r, enum fc_point_origin origin)
{
    return (struct fc_point_of){r, FC_POINT_TIMING, origin, "%"};
}

static enum fc_code jobs(struct fc_reproduction *r, const struct fc_measured *t, struct fc_status *st)
{
    static const char *const sizes[] = {"up to 16 KiB", "above 16 KiB"};
    struct tally y;
    for (uint32_t j = 0; j < t->n_jobs; j++) {
        const char *job = job_name(r, t, j);
        if (!job) continue;
        if (count(t, (struct choice){j, FC_OP_INIT}, &y, st)) return st->code;
        for (int size = 0; size < 2; size++)
            if (y.of[size])
                fc_point_shown(percent(r, FC_POINT_PREDICTED), NAN, 100 * y.off[size], "%s, %s, %u rows: median off",
                               job, sizes[size], y.of[size]);
    }
    return FC_OK;
}

static enum fc_code judge(struct fc_reproduction *r, const struct fc_measured *t, const char *why, struct fc_status *st)
{
    struct fc_point_of predicted = percent(r, FC_POINT_PREDICTED);
    struct tally y;
    if (jobs(r, t, st) || count(t, (struct choice){FC_NONE, FC_OP_INIT}, &y, st)) return st->code;
    for (int size = 0; size < 2; size++) {
        fc_point_limits(predicted, 0, 20, 100 * y.off[size], "all jobs, %s, %u rows: median off",
                        size ? "above 16 KiB" : "up to 16 KiB", y.of[size]);
        fc_point_reason(r, why);
    }
    fc_point_limits(predicted, 80, 100, 100 * y.within, "all %u rows: within 40 %%", y.n);
    fc_point_reason(r, why);
    fc_point_limits(predicted, 85, 100, 100.0 * y.alike / y.pairs, "of two algorithms ranked alike, %u pairs", y.pairs);
    fc_point_reason(r, why);
    fc_point_limits(percent(r, FC_POINT_FITTED), 80, 100, 100 * y.covered, "the stated error covers");
    fc_point_shown(percent(r, FC_POINT_FITTED), NAN, 100 * y.held_out, "the same, from rows of other jobs alone");
    fc_point_limits(predicted, 0, 30, 100 * y.stated, "the stated error, median");
    fc_point_reason(r, "it is as wide as the rows around it are off");
    return put_rows(r, t, &y, st);
}

/* ---- the plot ---- */

static int panel_of(struct fc_reproduction *r, const char *collective)
{
    for (int p = 0; p < r->plot.n_categories; p++)
        if (!strcmp(r->plot.category[p], collective)) return p;
    fc_reproduction_category(r, collective);
    return r->plot.n_categories - 1;
}

static int place_in_panel(const struct fc_reproduction *r, int panel)
{
    int n = 0;
    for (int i = 0; i < r->plot.n_series; i++)
        n += r->plot.series[i].panel == panel && r->plot.series[i].mark == FC_PAPER_LINE;
    return n;
}

static void add_series(struct fc_reproduction *r, const struct fc_measured *t, const struct curve *c, int panel,
                       int style, enum fc_paper_mark mark)
{
    uint32_t job = FC_NONE;
    int s = -1;
    for (uint32_t i = 0; i < t->n_rows && !r->st.code; i++) {
        const struct fc_measured_row *row = &t->rows[i];
        const struct fc_measured_job *j = &t->jobs[row->job];
        bool line = mark == FC_PAPER_LINE, open = row->fitted || row->seen;
        if (row->left_out || isnan(row->predicted_s) || strcmp(row->collective, c->collective) ||
            strcmp(row->algorithm, c->algorithm) || strcmp(j->nodes, c->nodes) ||
            j->ranks_per_node != c->ranks_per_node)
            continue;
        if (job == FC_NONE) job = row->job; /* of several runs the first */
        if (row->job != job || (!line && open != (mark == FC_PAPER_PUBLISHED))) continue;
        if (s < 0 && (s = fc_reproduction_series(r, mark, style, "%s", line ? c->label : "")) < 0) return;
        r->plot.series[s].panel = panel;
        fc_reproduction_at(r, s, row->bytes, 1e6 * (line ? row->predicted_s : row->measured_s), NAN);
    }
}

static void draw(struct fc_reproduction *r, const struct fc_measured *t, const struct curve *curve, size_t n)
{
    fc_reproduction_axes(r, FC_PAPER_PANELS, "vector_bytes", "vector (bytes)", "time_us", "time");
    for (size_t i = 0; i < n && !r->st.code; i++) {
        int panel = panel_of(r, curve[i].collective), style = place_in_panel(r, panel);
        static const enum fc_paper_mark marks[] = {FC_PAPER_LINE, FC_PAPER_PUBLISHED, FC_PAPER_FILLED};
        for (size_t m = 0; m < FC_COUNT(marks); m++) add_series(r, t, &curve[i], panel, style, marks[m]);
    }
}

/* ---- a machine ---- */

static enum fc_code make(const struct fc_reproducing *how, struct fc_reproduction *r, const struct curve *curve,
                         size_t n, const char *why, struct fc_status *st)
{
    char directory[1024], path[1200];
    const char *machine = r->figure->machine;
    struct fc_question question = {.machine = machine};
    struct fc_measured t;
    snprintf(path, sizeof path, "%s/%s.measured.tsv", fc_machines_directory(directory, sizeof directory), machine);
    if (fc_measured_read(path, machine, &t, st)) return st->code;
    if (!fc_measured_open(&question, &t, st)) {
        struct fc_end_values values = fc_end_values_of(&t.jobs[0].session.machine);
        fc_measured_choose(&t);
        for (uint32_t i = 0; i < t.n_rows && how->quick; i++)
            if (t.jobs[t.rows[i].job].n_ranks > QUICK_RANKS) t.rows[i].left_out = "quick";
        if (how->quick) fc_reproduction_note(r, "quick: jobs of at most 64 ranks");
        if (!fc_measured_predict(&t, &values, false, 1, st) && !judge(r, &t, why, st)) draw(r, &t, curve, n);
    }
    fc_measured_free(&t);
    return st->code;
}

#define SOURCE "HLC-Lab/pico, commit 413bc5d, 2025"

/* Fugaku, FJMPI */
static const struct curve fugaku_curves[] = {
    {"allgather", "2x2x2", 1, "default-ring", "2x2x2, ring"},
    {"allgather", "8x8x8", 1, "default-bruck", "8x8x8, bruck"},
    {"allgather", "8x8x8", 1, "default-ring", "8x8x8, ring"},
    {"allreduce", "2x2x2", 1, "default-ring", "2x2x2, ring"},
    {"allreduce", "8x8x8", 1, "default-ring", "8x8x8, ring"},
    {"allreduce", "64x64", 1, "default-recursive_doubling", "64x64, doubling"},
    {"alltoall", "2x2x2", 1, "default-pairwise", "2x2x2, pairwise"},
    {"alltoall", "8x8x8", 1, "default-modified-bruck", "8x8x8, bruck"},
    {"alltoall", "8x8x8", 1, "default-pairwise", "8x8x8, pairwise"},
    {"bcast", "2x2x2", 1, "default-binomial", "2x2x2, binomial"},
    {"bcast", "8x8x8", 1, "default-binomial", "8x8x8, binomial"},
    {"bcast", "8x8x8", 1, "default-chain", "8x8x8, chain"},
    {"gather", "2x2x2", 1, "default-binomial", "2x2x2, binomial"},
    {"gather", "8x8x8", 1, "default-basic-linear", "8x8x8, linear"},
    {"gather", "64x64", 1, "default-binomial", "64x64, binomial"},
    {"reduce", "2x2x2", 1, "default-binomial", "2x2x2, binomial"},
    {"reduce", "8x8x8", 1, "default-pipeline", "8x8x8, pipeline"},
    {"reduce", "64x64", 1, "default-binary", "64x64, binary"},
    {"reduce_scatter", "2x2x2", 1, "default-ring", "2x2x2, ring"},
    {"reduce_scatter", "8x8x8", 1, "default-ring", "8x8x8, ring"},
    {"reduce_scatter", "64x64", 1, "default-recursive-halving", "64x64, halving"},
    {"scatter", "2x2x2", 1, "default-binomial", "2x2x2, binomial"},
    {"scatter", "8x8x8", 1, "default-basic-linear", "8x8x8, linear"},
    {"scatter", "64x64", 1, "default-binomial", "64x64, binomial"},
};
static const struct fc_figure fugaku[] = {{"measured-fugaku", "collectives measured and predicted, 8 to 4096 nodes",
                                           SOURCE ", FJMPI 4.0.1", "fugaku-torus", ""}};
static enum fc_code make_fugaku(const struct fc_reproducing *how, struct fc_reproduction *r, struct fc_status *st)
{
    return make(how, r, fugaku_curves, FC_COUNT(fugaku_curves), "not known", st);
}
const struct fc_reproduction_ops fc_reproduction_measured_fugaku = {fugaku, 1, 0.4, 130, make_fugaku};

/* LUMI, Cray MPICH */
static const struct curve lumi_curves[] = {
    {"allgather", "16", 1, "ring_mpich", "16 nodes, ring"},
    {"allgather", "16", 1, "brucks_mpich", "16 nodes, bruck"},
    {"allgather", "1000", 1, "brucks_mpich", "1000 nodes, bruck"},
    {"allgather", "37", 56, "sparbit_over", "37 nodes x 56 ranks, sparbit"},
    {"allreduce", "8", 1, "recursive_doubling_over", "8 nodes, doubling"},
    {"allreduce", "8", 1, "rabenseifner_over", "8 nodes, Rabenseifner"},
    {"allreduce", "16", 1, "ring_over", "16 nodes, ring"},
    {"reduce", "4", 1, "binomial_mpich", "4 nodes, binomial"},
    {"reduce", "4", 1, "rabenseifner_mpich", "4 nodes, Rabenseifner"},
    {"reduce_scatter", "1000", 1, "recursive_halving_mpich", "1000 nodes, halving"},
    {"reduce_scatter", "1000", 1, "recursive_halving_over", "1000 nodes, halving (over)"},
};
static const struct fc_figure lumi[] = {
    {"measured-lumi", "collectives measured and predicted, 4 to 1000 nodes", SOURCE ", Cray MPICH 8.1.29", "lumi", ""}};
static enum fc_code make_lumi(const struct fc_reproducing *how, struct fc_reproduction *r, struct fc_status *st)
{
    return make(how, r, lumi_curves, FC_COUNT(lumi_curves), "long messages among 56 ranks of a node (docs/measured.md)",
                st);
}
const struct fc_reproduction_ops fc_reproduction_measured_lumi = {lumi, 1, 0.4, 140, make_lumi};

/* Leonardo, Open MPI */
static const struct curve leonardo_curves[] = {
    {"allgather", "4", 1, "ring_ompi", "4 nodes, ring"},
    {"allgather", "32", 1, "recursive_doubling_ompi", "32 nodes, doubling"},
    {"allgather", "32", 1, "ring_ompi", "32 nodes, ring"},
    {"allgather", "2048", 1, "recursive_doubling_ompi", "2048 nodes, doubling"},
    {"allreduce", "16", 1, "rabenseifner_ompi", "16 nodes, Rabenseifner"},
    {"allreduce", "128", 1, "recursive_doubling_ompi", "128 nodes, doubling"},
    {"allreduce", "2048", 1, "recursive_doubling_ompi", "2048 nodes, doubling"},
    {"allreduce", "2048", 1, "rabenseifner_ompi", "2048 nodes, Rabenseifner"},
    {"reduce_scatter", "64", 1, "recursive_halving_ompi", "64 nodes, halving"},
    {"reduce_scatter", "64", 1, "ring_ompi", "64 nodes, ring"},
    {"reduce_scatter", "64", 4, "recursive_halving_ompi", "64 nodes x 4 ranks, halving"},
    {"reduce_scatter", "64", 32, "recursive_halving_ompi", "64 nodes x 32 ranks, halving"},
};
static const struct fc_figure leonardo[] = {
    {"measured-leonardo", "collectives measured and predicted, 4 to 2048 nodes", SOURCE ", Open MPI", "leonardo", ""}};
static enum fc_code make_leonardo(const struct fc_reproducing *how, struct fc_reproduction *r, struct fc_status *st)
{
    return make(
        how, r, leonardo_curves, FC_COUNT(leonardo_curves),
        "a job of 128 nodes, one or two of them faulty, and short messages of 32 ranks a node (docs/measured.md)", st);
}
const struct fc_reproduction_ops fc_reproduction_measured_leonardo = {leonardo, 1, 0.5, 18, make_leonardo};
