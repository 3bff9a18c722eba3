/* benchmark_fit.c - end points from tables of latencies and bandwidths.
 *
 * Latencies are cut into segments of t = a + b m by dynamic programming: the cost of a segment is the least sum of squares of
 * (t - a - b m) / t, b >= 0, and of n rows in k segments
 *
 *     n ln(max(sum, NOISE^2 n) / n) + 3 k ln n        is least       (Schwarz 1978; three parameters a segment, its end too).
 *
 * The eager limit S is the last size before the break with the greatest step, up or down (a rendezvous saves copies), beyond
 * JUMP. Then (benchmark.h) G = 1 / the stream's greatest rate, or the slope of the last segment; 2 o + L = a of the first
 * segment; o = the time between two short messages of the stream, where L is not known; c, R from the segments before and
 * behind S. */
#include "answer/benchmark.h"

#include <math.h>
#include <stdlib.h>

#define NOISE 0.005
#define JUMP 1.08
enum { MOST_SEGMENTS = FC_BENCHMARK_SEGMENTS, LEAST_ROWS = 3 };

/* Weighted least squares with weights 1 / t^2. */
static struct fc_benchmark_segment line_through(const struct fc_benchmark *t, uint32_t first, uint32_t last)
{
    struct fc_benchmark_segment s = {first, last, 0, 0, 0};
    double w = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (uint32_t i = first; i <= last; i++) {
        double weight = 1 / (t->value[i] * t->value[i]);
        w += weight;
        x += weight * t->bytes[i];
        y += weight * t->value[i];
        xx += weight * t->bytes[i] * t->bytes[i];
        xy += weight * t->bytes[i] * t->value[i];
    }
    double spread = w * xx - x * x;
    s.b = spread > 0 ? fmax(0, (w * xy - x * y) / spread) : 0;
    s.a = (y - s.b * x) / w;
    for (uint32_t i = first; i <= last; i++) {
        double off = (t->value[i] - s.a - s.b * t->bytes[i]) / t->value[i];
        s.cost += off * off;
    }
    return s;
}

/* Rows are few: all segments are tried. */
int fc_benchmark_cut(const struct fc_benchmark *t, struct fc_benchmark_segment *out, struct fc_arena *scratch,
                     struct fc_status *st)
{
    uint32_t n = t->n;
    struct fc_benchmark_segment *one = fc_alloc(scratch, (size_t)n * n, sizeof *one, st);
    double *cost = fc_alloc(scratch, (size_t)n * (MOST_SEGMENTS + 1), sizeof *cost, st), best = INFINITY;
    uint32_t *from = fc_alloc(scratch, (size_t)n * (MOST_SEGMENTS + 1), sizeof *from, st);
    int chosen = 0;
    if (st->code) return 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = i + LEAST_ROWS - 1; k < n; k++) one[(size_t)i * n + k] = line_through(t, i, k);
    for (int s = 1; s <= MOST_SEGMENTS; s++) {
        for (uint32_t k = 0; k < n; k++) {
            double *least = &cost[(size_t)s * n + k];
            *least = s == 1 && k + 1 >= LEAST_ROWS ? one[k].cost : INFINITY;
            for (uint32_t i = LEAST_ROWS; s > 1 && i + LEAST_ROWS - 1 <= k; i++) {
                double sum = cost[(size_t)(s - 1) * n + i - 1] + one[(size_t)i * n + k].cost;
                if (sum < *least) *least = sum, from[(size_t)s * n + k] = i;
            }
        }
        double sum = cost[(size_t)s * n + n - 1];
        double criterion = n * log(fmax(sum, NOISE * NOISE * n) / n) + 3 * s * log(n);
        if (isfinite(sum) && criterion < best) best = criterion, chosen = s;
    }
    for (uint32_t s = (uint32_t)chosen, k = n - 1; s > 0; s--) {
        uint32_t i = s > 1 ? from[(size_t)s * n + k] : 0;
        out[s - 1] = one[(size_t)i * n + k];
        k = i - 1;
    }
    return chosen;
}

/* The break at which messages cease to be eager: number of the segment before it; -1: there is none. */
static int find_eager(const struct fc_benchmark *t, const struct fc_benchmark_segment *s, int n)
{
    double most = JUMP;
    int found = -1;
    for (int k = 0; k + 1 < n; k++) {
        double at = t->bytes[s[k + 1].first], before = s[k].a + s[k].b * at, behind = s[k + 1].a + s[k + 1].b * at;
        double step = before > 0 && behind > 0 ? fmax(behind / before, before / behind) : 1;
        if (step > most) most = step, found = k;
    }
    return found;
}

static int descending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* The second of the greatest values: one may be a fluke. */
static double plateau(const struct fc_benchmark *t, struct fc_arena *scratch, struct fc_status *st)
{
    double *value = fc_alloc(scratch, t->n, sizeof *value, st);
    for (uint32_t i = 0; value && i < t->n; i++) value[i] = t->value[i];
    if (value) qsort(value, t->n, sizeof *value, descending);
    return value ? value[t->n > 1] : (double)NAN;
}

static double predicted(const struct fc_benchmark_fit *f, double bytes)
{
    bool eager = isnan(f->eager_bytes) || bytes <= f->eager_bytes;
    return 2 * f->overhead_s + f->latency_s + bytes / f->bandwidth_bytes_per_s +
           (eager ? 2 * bytes * f->copy_per_byte_s : 2 * f->latency_s + 2 * f->rendezvous_s);
}

static double median_off(const struct fc_benchmark_fit *f, const struct fc_benchmark *t, struct fc_arena *scratch,
                         struct fc_status *st)
{
    double *off = fc_alloc(scratch, t->n, sizeof *off, st);
    for (uint32_t i = 0; off && i < t->n; i++) off[i] = fabs(predicted(f, t->bytes[i]) / t->value[i] - 1);
    if (off) qsort(off, t->n, sizeof *off, descending);
    return off ? 100 * off[t->n / 2] : (double)NAN;
}

/* o and L, which a latency alone does not tell apart. */
static void split_latency(struct fc_benchmark_fit *f, const struct fc_benchmark *stream, double both_s, double known_s)
{
    f->overhead_s = both_s / 2;
    f->overhead_is_bound = !stream && isnan(known_s);
    for (uint32_t i = 0; stream && isnan(known_s) && i < stream->n && stream->bytes[i] <= 8; i++)
        f->overhead_s = fmin(f->overhead_s, stream->bytes[i] / stream->value[i]);
    if (!isnan(known_s)) f->overhead_s = fmax(0, (both_s - known_s) / 2);
    f->latency_s = both_s - 2 * f->overhead_s;
}

enum fc_code fc_benchmark_fit_tables(const struct fc_benchmark *tables, int n_tables, double latency_s,
                                     struct fc_benchmark_fit *f, struct fc_status *st)
{
    const struct fc_benchmark *of[3] = {NULL};
    struct fc_benchmark_segment s[MOST_SEGMENTS];
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    for (int i = 0; i < n_tables; i++) {
        if (of[tables[i].kind])
            return fc_fail(st, FC_INPUT, (struct fc_place){tables[i].file, 0},
                           "is of the same kind as %s (expected one each)", of[tables[i].kind]->file);
        of[tables[i].kind] = &tables[i];
    }
    const struct fc_benchmark *latency = of[FC_BENCHMARK_LATENCY], *stream = of[FC_BENCHMARK_BANDWIDTH];
    *f = (struct fc_benchmark_fit){.eager_bytes = NAN, .pairs_bytes_per_s = NAN};
    if (!latency) return fc_refuse(st, FC_INPUT, "no table of latencies (expected osu_latency's or NetPIPE's)");
    int n = fc_benchmark_cut(latency, s, &scratch, st), eager = n ? find_eager(latency, s, n) : -1;
    if (!st->code) {
        double slope = s[n - 1].b;
        f->bandwidth_bytes_per_s = stream ? plateau(stream, &scratch, st) : 1 / fmax(slope, 1e-15);
        if (of[FC_BENCHMARK_PAIRS]) {
            f->pairs_bytes_per_s = plateau(of[FC_BENCHMARK_PAIRS], &scratch, st);
            f->pairs = of[FC_BENCHMARK_PAIRS]->pairs;
        }
        split_latency(f, stream, s[0].a, latency_s);
        const struct fc_benchmark_segment *before = &s[eager >= 0 ? eager : n - 1];
        f->copy_per_byte_s = fmax(0, before->b - 1 / f->bandwidth_bytes_per_s) / 2;
        if (eager >= 0) {
            f->eager_bytes = latency->bytes[s[eager].last];
            f->rendezvous_s = fmax(0, s[eager + 1].a - 2 * f->overhead_s - 3 * f->latency_s) / 2;
        }
        f->off_percent = median_off(f, latency, &scratch, st);
    }
    return st->code;
}
