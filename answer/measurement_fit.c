/* measurement_fit.c - end points from the rows of fabricast-measure-FAMILY. With send, recv from the calls themselves and the
 * eager limit S from the probes, the times T(m) of the near pair are
 *
 *     T(m) = a + m (G + 2 c + 2 O)            m <= S,      a = send + recv + L
 *     T(m) = a + 2 L + 2 R + m (G + 2 O)      m > S
 *
 * a: the first segment's intercept (benchmark_fit.c cuts); G: the stream's least time a byte, or the slope of long messages where
 * that is less; O: half of what that slope is above G; c: least squares of relative deviations, given a, G, O; R: what is left of
 * the longer ones' intercept. The gap is the time between short messages of a stream, where no end point explains it.
 *
 * Intervals: all of it again, each row drawn from a normal of its median and its own interval, RESAMPLES times; the 2.5th and
 * 97.5th percentile. What is no longer there below NEGLIGIBLE of G is 0. Limits: T falls short where the network stores and forwards
 * packets (its last packet's time a hop counts as R). */
#include "answer/measurement.h"
#include "core/values.h"

#include <stdlib.h>

#define NEGLIGIBLE 0.02
#define GAP_FACTOR 1.15
#define WIDE 0.25
enum { RESAMPLES = 100, SHORT_BYTES = 64, MOST_SIZES = 256 };

struct table {
    struct fc_benchmark latency;
    double bytes[MOST_SIZES], value[MOST_SIZES];
};

static double draw(const struct fc_measurement_row *row, uint64_t seed, uint64_t i)
{
    if (seed == 0) return row->median_s;
    double u = fmax(fc_random_real(seed, 1, i), 1e-12), v = fc_random_real(seed, 2, i);
    double normal = sqrt(-2 * log(u)) * cos(2 * 3.14159265358979 * v);
    double sigma = normal < 0 ? (row->median_s - row->low_s) / 1.96 : (row->high_s - row->median_s) / 1.96;
    return fmax(row->median_s + normal * sigma, 0.1 * row->median_s);
}

static bool of_pair(const struct fc_measurement_row *row, const uint32_t *pair)
{
    return row->set == 0 && row->from == pair[0] && row->to == pair[1];
}

static double median(double *x, uint32_t n)
{
    qsort(x, n, sizeof *x, fc_by_real);
    return n ? 0.5 * (x[(n - 1) / 2] + x[n / 2]) : (double)NAN;
}

/* Of a size that was measured several times the row with the most samples counts. */
static uint32_t row_of_size(const struct fc_measurement *m, enum fc_measurement_part part, const uint32_t *pair,
                            double bytes)
{
    uint32_t best = FC_NONE;
    for (uint32_t i = 0; i < m->n_rows; i++)
        if (m->row[i].part == part && of_pair(&m->row[i], pair) && m->row[i].bytes == bytes &&
            (best == FC_NONE || m->row[i].n >= m->row[best].n))
            best = i;
    return best;
}

/* The latencies of sizes in (above, up_to], rising. Rows that say little are left out where three are left without them. */
static void make_table(const struct fc_measurement *m, double above, double up_to, uint64_t seed, struct table *t)
{
    uint32_t kept = 0, n = 0, row[MOST_SIZES];
    double size[MOST_SIZES];
    for (uint32_t i = 0; i < m->n_rows && n < MOST_SIZES; i++)
        if (m->row[i].part == FC_ROW_LATENCY && of_pair(&m->row[i], m->near) && m->row[i].bytes > above &&
            m->row[i].bytes <= up_to && row_of_size(m, FC_ROW_LATENCY, m->near, m->row[i].bytes) == i)
            size[n++] = m->row[i].bytes;
    qsort(size, n, sizeof *size, fc_by_real);
    for (uint32_t i = 0; i < n; i++) {
        row[i] = row_of_size(m, FC_ROW_LATENCY, m->near, size[i]);
        kept += m->row[row[i]].high_s - m->row[row[i]].low_s <= WIDE * m->row[row[i]].median_s;
    }
    t->latency = (struct fc_benchmark){.file = m->file, .bytes = t->bytes, .value = t->value};
    for (uint32_t i = 0; i < n; i++) {
        const struct fc_measurement_row *r = &m->row[row[i]];
        if (kept >= 3 && r->high_s - r->low_s > WIDE * r->median_s) continue;
        t->bytes[t->latency.n] = r->bytes;
        t->value[t->latency.n++] = draw(r, seed, row[i]);
    }
}

/* The median over short sizes of a call; NaN: none was measured. */
static double of_call(const struct fc_measurement *m, enum fc_measurement_part part, uint64_t seed)
{
    double x[MOST_SIZES];
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->n_rows && n < MOST_SIZES; i++)
        if (m->row[i].part == part && of_pair(&m->row[i], m->near) && m->row[i].bytes <= SHORT_BYTES)
            x[n++] = draw(&m->row[i], seed, i);
    return median(x, n);
}

/* The second least time a byte of a stream: one may be a fluke. Short messages: time of one. */
static void of_streams(const struct fc_measurement *m, uint64_t seed, double *per_byte_s, double *short_s)
{
    double least[2] = {INFINITY, INFINITY}, any = INFINITY, x[MOST_SIZES];
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->n_rows; i++) {
        const struct fc_measurement_row *r = &m->row[i];
        if (r->part != FC_ROW_STREAM || !of_pair(r, m->near)) continue;
        double value = draw(r, seed, i), each = value / r->bytes;
        if (r->bytes <= SHORT_BYTES && n < MOST_SIZES) x[n++] = value;
        if (r->bytes < 1024) continue;
        any = fmin(any, each);
        if (r->high_s - r->low_s > WIDE * r->median_s) continue;
        if (each < least[0])
            least[1] = least[0], least[0] = each;
        else if (each < least[1])
            least[1] = each;
    }
    *per_byte_s = isfinite(least[1]) ? least[1] : isfinite(least[0]) ? least[0] : any;
    *short_s = median(x, n);
}

/* c of T = a + m (known_s + 2 c). */
static double copies(const struct fc_benchmark *t, double a, double known_s)
{
    double xx = 0, xy = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        double x = 2 * t->bytes[i] / t->value[i], y = (t->value[i] - a - t->bytes[i] * known_s) / t->value[i];
        xx += x * x;
        xy += x * y;
    }
    return xx > 0 ? fmax(0, xy / xx) : 0;
}

static double reduction(const struct fc_measurement *m, uint64_t seed)
{
    double x[MOST_SIZES];
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->n_rows && n < MOST_SIZES; i++)
        if (m->row[i].part == FC_ROW_REDUCE && m->row[i].bytes >= 4096)
            x[n++] = draw(&m->row[i], seed, i) / m->row[i].bytes;
    return median(x, n);
}

/* Seconds a byte of all rows of a set together. */
static double of_set(const struct fc_measurement *m, uint32_t set, uint64_t seed)
{
    double rate = 0;
    for (uint32_t i = 0; i < m->n_rows; i++)
        if (m->row[i].set == set) rate += m->row[i].bytes / draw(&m->row[i], seed, i);
    return 1 / rate;
}

enum set_kind { SET_NONE, SET_INSIDE, SET_SHARED, SET_NODES };

/* Between ranks of one node, of two, of all nodes; `n` pairs of long messages. */
static enum set_kind kind_of(const struct fc_measurement *m, uint32_t set, uint32_t *n, bool *across)
{
    enum set_kind kind = SET_NONE;
    uint32_t from = FC_NONE, to = FC_NONE;
    *n = 0;
    for (uint32_t i = 0; i < m->n_rows; i++) {
        const struct fc_measurement_row *r = &m->row[i];
        if (r->set != set) continue;
        if (r->bytes <= SHORT_BYTES) return SET_NONE;
        uint32_t a = m->node[r->from], b = m->node[r->to];
        if (!(*n)++)
            from = a, to = b, kind = a == b ? SET_INSIDE : SET_SHARED, *across = b > a + 1;
        else if (a != from || b != to)
            kind = SET_NODES;
    }
    return kind;
}

/* What several ranks a node, and all nodes, do together. */
static void of_sets(const struct fc_measurement *m, uint64_t seed, double *number, struct fc_measurement_fit *fit)
{
    fit->node_s_per_byte = number[FC_NUMBER_G];
    fit->most_sharing = 1;
    fit->across = NAN;
    for (uint32_t set = 1; set <= m->n_sets; set++) {
        uint32_t n;
        bool across = false;
        enum set_kind kind = kind_of(m, set, &n, &across);
        double s_per_byte = kind ? of_set(m, set, seed) : (double)NAN;
        if (kind == SET_INSIDE) number[FC_NUMBER_MEMORY] = s_per_byte;
        if (kind == SET_SHARED && n > fit->most_sharing) fit->most_sharing = n;
        if (kind == SET_SHARED && n > 1) fit->node_s_per_byte = fmin(fit->node_s_per_byte, s_per_byte);
        if (kind == SET_NODES && across) fit->across = number[FC_NUMBER_G] / (n * s_per_byte);
    }
}

static void of_local(const struct fc_measurement *m, uint64_t seed, double *number)
{
    for (uint32_t i = 0; i < m->n_rows; i++)
        if (m->row[i].part == FC_ROW_LATENCY && m->node[m->row[i].from] == m->node[m->row[i].to] &&
            m->row[i].bytes <= SHORT_BYTES)
            number[FC_NUMBER_LOCAL] = draw(&m->row[i], seed, i) / 2;
}

static double predicted(const double *number, double eager_bytes, double bytes)
{
    double ends = number[FC_NUMBER_SEND] + number[FC_NUMBER_RECV] + number[FC_NUMBER_LATENCY] +
                  bytes * (number[FC_NUMBER_G] + 2 * number[FC_NUMBER_PER_BYTE]);
    return bytes <= eager_bytes ? ends + 2 * bytes * number[FC_NUMBER_COPY]
                                : ends + 2 * number[FC_NUMBER_LATENCY] + 2 * number[FC_NUMBER_RENDEZVOUS];
}

/* All numbers of one draw; seed 0: of the medians. */
static enum fc_code solve(const struct fc_measurement *m, uint64_t seed, double *number, struct fc_measurement_fit *fit,
                          struct fc_arena *scratch, struct fc_status *st)
{
    struct table eager, longer;
    struct fc_benchmark_segment s[FC_BENCHMARK_SEGMENTS], l[FC_BENCHMARK_SEGMENTS];
    double short_s, limit = m->eager_is_bound ? INFINITY : m->eager_bytes;
    for (int i = 0; i < FC_NUMBERS; i++) number[i] = NAN;
    make_table(m, -1, limit, seed, &eager);
    make_table(m, limit, INFINITY, seed, &longer);
    number[FC_NUMBER_SEND] = of_call(m, FC_ROW_SEND, seed);
    number[FC_NUMBER_RECV] = of_call(m, FC_ROW_RECEIVE, seed);
    of_streams(m, seed, &number[FC_NUMBER_G], &short_s);
    struct fc_place file = {m->file, 0};
    if (isnan(number[FC_NUMBER_SEND]) || isnan(number[FC_NUMBER_RECV]))
        return fc_fail(st, FC_INPUT, file,
                       "has no rows of short sends and receives of the near pair (expected some of each)");
    if (!isfinite(number[FC_NUMBER_G]))
        return fc_fail(st, FC_INPUT, file,
                       "has no rows of a stream of the near pair (expected some of 1 KiB and more)");
    if (eager.latency.n < 3)
        return fc_fail(st, FC_INPUT, file, "has %u latencies of eager messages of the near pair (expected 3 or more)",
                       eager.latency.n);
    int n = fc_benchmark_cut(&eager.latency, s, scratch, st), k = 0;
    if (longer.latency.n >= 3 && !st->code) k = fc_benchmark_cut(&longer.latency, l, scratch, st);
    if (st->code) return st->code;
    double a = s[0].a, ends = number[FC_NUMBER_SEND] + number[FC_NUMBER_RECV];
    if (ends > a) { /* a message is handed over while the calls still run */
        number[FC_NUMBER_SEND] *= a / ends;
        number[FC_NUMBER_RECV] *= a / ends;
        ends = a;
    }
    number[FC_NUMBER_LATENCY] = a - ends;
    number[FC_NUMBER_PER_BYTE] = 0;
    if (k > 0) {
        double slope = l[k - 1].b;
        number[FC_NUMBER_G] = fmin(number[FC_NUMBER_G], slope);
        double more = (slope - number[FC_NUMBER_G]) / 2;
        if (more > NEGLIGIBLE * number[FC_NUMBER_G]) number[FC_NUMBER_PER_BYTE] = more;
    }
    number[FC_NUMBER_COPY] = copies(&eager.latency, a, number[FC_NUMBER_G] + 2 * number[FC_NUMBER_PER_BYTE]);
    if (number[FC_NUMBER_COPY] < NEGLIGIBLE * number[FC_NUMBER_G]) number[FC_NUMBER_COPY] = 0;
    if (k > 0) number[FC_NUMBER_RENDEZVOUS] = fmax(0, l[0].a - ends - 3 * number[FC_NUMBER_LATENCY]) / 2;
    number[FC_NUMBER_GAP] = short_s > GAP_FACTOR * fmax(number[FC_NUMBER_SEND], number[FC_NUMBER_RECV]) ? short_s : 0;
    number[FC_NUMBER_REDUCE] = reduction(m, seed);
    of_local(m, seed, number);
    of_sets(m, seed, number, fit);
    if (seed) return FC_OK;
    fit->n_steps = 0;
    for (int i = 1; i < n; i++) fit->step_bytes[fit->n_steps++] = eager.bytes[s[i].first];
    for (int i = 1; i < k; i++) fit->step_bytes[fit->n_steps++] = longer.bytes[l[i].first];
    double off[2 * MOST_SIZES];
    uint32_t n_off = 0;
    for (uint32_t i = 0; i < eager.latency.n; i++)
        off[n_off++] = fabs(predicted(number, limit, eager.bytes[i]) / eager.value[i] - 1);
    for (uint32_t i = 0; k > 0 && i < longer.latency.n; i++)
        off[n_off++] = fabs(predicted(number, limit, longer.bytes[i]) / longer.value[i] - 1);
    fit->off_percent = 100 * median(off, n_off);
    return FC_OK;
}

/* Of all pairs of nodes but the near one, each by its best row. */
static double far_latency(const struct fc_measurement *m, const double *number)
{
    double most = number[FC_NUMBER_LATENCY], ends = number[FC_NUMBER_SEND] + number[FC_NUMBER_RECV];
    for (uint32_t i = 0; i < m->n_rows; i++) {
        const struct fc_measurement_row *r = &m->row[i];
        uint32_t pair[2] = {r->from, r->to};
        if (r->part == FC_ROW_LATENCY && r->bytes == 8 && !of_pair(r, m->near) && m->node[r->from] != m->node[r->to] &&
            row_of_size(m, FC_ROW_LATENCY, pair, 8) == i)
            most = fmax(most, r->median_s - ends);
    }
    return most;
}

enum fc_code fc_measurement_solve(const struct fc_measurement *m, struct fc_measurement_fit *fit, struct fc_status *st)
{
    struct fc_arena scratch = {0};
    struct fc_measurement_fit other;
    double number[FC_NUMBERS], drawn[RESAMPLES][FC_NUMBERS], x[RESAMPLES];
    *fit = (struct fc_measurement_fit){0};
    if (!solve(m, 0, number, fit, &scratch, st)) {
        fit->far_latency_s = far_latency(m, number);
        for (uint64_t k = 0; k < RESAMPLES && !st->code; k++) {
            solve(m, k + 1, drawn[k], &other, &scratch, st);
            fc_arena_free(&scratch);
            scratch = (struct fc_arena){0};
        }
    }
    fc_arena_free(&scratch);
    for (int i = 0; i < FC_NUMBERS && !st->code; i++) {
        for (int k = 0; k < RESAMPLES; k++) x[k] = drawn[k][i];
        qsort(x, RESAMPLES, sizeof *x, fc_by_real);
        fit->number[i] = (struct fc_interval){number[i], fmin(x[2], number[i]), fmax(x[RESAMPLES - 3], number[i])};
    }
    return st->code;
}
