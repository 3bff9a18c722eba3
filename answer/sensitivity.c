/* sensitivity.c - what a predicted time T depends on.
 *
 *     derivative      by path: one pass over the replay's critical path (solvers/adjoint/adjoint_back.c), all parameters at once.
 *                     By difference: predicted again with the parameter changed, same job, same place, same routes:
 *                     (T(v (1 + h)) - T(v / (1 + h))) / (2 v ln(1 + h)), h = 1/10 of replays; of phases, which have closed
 *                     forms, (T(v (1 + h)) - T(v (1 - h))) / (2 v h), h = 1/1000
 *                     With meetings kept ("kept"): the same pass, see below
 *     doubled, halved 100 (T(2 v) / T(v) - 1) and 100 (T(v / 2) / T(v) - 1)
 *     tolerance       the least x with T(v worse by x %) = 1.01, 1.05, 1.1 T(v), by regula falsi (Illinois; Dowell & Jarratt,
 *                     BIT 11, 1971) between a change that is too small and one that is enough
 *
 * On an ideal network T is the longest of all paths of the job, a convex and piecewise linear function of every cost (Hoefler,
 * Schneider & Lumsdaine, HPDC'10; as a linear program: Shen et al., "LLAMP", SC'24), and the derivative is the number of
 * times that the longest path has the parameter: what the program's duals say. At a corner of T it is one side's; of a
 * single link, which may be a bottleneck beside others, the mean of both sides. With contention T is not convex: rates are
 * shared anew.
 *
 * Whose derivatives count. The path's are those of T at the very point. Where messages meet again and again a small delay can
 * change who meets whom, and grow: messages that share links fairly hold up each other, so that one that comes earlier makes another
 * end later, by more than that where rates fall (the coefficients of adjoint_back.c are 2 and -1 where one message halves another's). A
 * hundred such meetings in a row make 10^76 of a delay (LAMMPS on qsnet-64): T jumps by parts of a percent over any small change, and
 * what it does at the point says nothing about what it does over 10 %. The pass shows it: the parts do not sum up to T, or (where
 * no work is allowed) an early delay counts more than MOST_GREATEST times in the end. So do two predictions each with the two
 * parameters that matter most changed by CHECK_STEP, or over WIDE_STEP (where the work is allowed). Then the path is taken with its meetings kept: whom a message
 * meets comes and goes along with it. No delay grows there, and the parts sum up to T: a ranking from one replay. Where the work is
 * allowed the mean of differences over WIDE_STEP takes its place, from DESIGN replays for all parameters (but single links).
 *
 * One parameter alone is by difference where the path's derivative depends on which of several things that happen at once is taken to
 * come first; a single link also where it is another as the link becomes faster than as it becomes slower, or another with meetings kept:
 * T has corners everywhere then. Where no work is allowed, or T jumps so much that the difference is none of the slopes to twice and
 * half the value either, meetings are kept.
 *
 * Limits: mappings stay as they are; the kernel's replays (--network flit) are too slow and too noisy. */
#include "answer/sensitivity_search.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define STEP 1e-3
#define WIDE_STEP 0.1
#define MOST_GREATEST 1e3
#define DOUBT_PERCENT 0.5
#define CLOSE_SLOPES 0.1
#define CLOSE_TIES 0.02 /* of a derivative, */
#define CHECK_STEP 0.03 /* of the parameters that matter most; then it and the path are to differ by no more than */
#define CLOSE_CHECK 0.02
#define SMALL_CHECK 2e-3 /* of T, besides */
#define CLOSE_KEPT 0.1   /* of a single link's derivative; */
#define SMALL_KEPT 1e-3  /* of T, besides */
enum { CHECKED = 2, DESIGN = 64 };
#define SMALL 1e-4 /* but what moves T by less than this part of itself when it is doubled does not count */
enum { MOST_LINKS = FC_SENSITIVITY_LINKS, MOST_OTHERS = 8 + FC_MAX_CLASSES, MOST_STEPS = 12 };
#define NEAR 0.002 /* a tolerance is good where the time has risen by what was asked, within this part of it */

const struct fc_scales fc_scales_of_1 = {
    .send = 1,
    .recv = 1,
    .gap = 1,
    .per_byte = 1,
    .eager = 1,
    .latency = 1,
    .compute = 1,
    .imbalance = 1,
    .bandwidth = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
    .link = FC_NONE,
    .link_bandwidth = 1,
};
_Static_assert(FC_MAX_CLASSES == 16, "fc_scales_of_1 has as many bandwidths");
const double fc_sensitivity_rises[3] = {1, 5, 10};

static double predict(struct fc_sensitivity_search *s, const struct fc_scales *scales)
{
    double time_s = NAN;
    s->found->n_times++;
    s->job->time_under(s->job->context, scales, &time_s, s->st);
    if (s->st->code && !fc_is_out_of_memory(s->st))
        *s->st = (struct fc_status){0}; /* the changed job does not end, or the background leaves a link nothing: NaN */
    return s->st->code ? (double)NAN : time_s;
}

/* The time with the parameter so many times its value. */
static double time_at(struct fc_sensitivity_search *s, size_t row, double factor)
{
    struct fc_sensitivity_parameter *p = &s->parameters[row];
    struct fc_scales scales = fc_scales_of_1;
    double worse = p->rate ? 1 / factor : factor;
    int at = 0;
    while (at < p->n_points && p->point[at].worse < worse) at++;
    if (at < p->n_points && p->point[at].worse == worse) return p->point[at].time_s;
    memcpy((char *)&scales + p->field, &factor, sizeof factor);
    scales.link = p->link;
    double time_s = predict(s, &scales);
    if (p->n_points == MOST_POINTS) return time_s;
    memmove(&p->point[at + 1], &p->point[at], (size_t)(p->n_points - at) * sizeof p->point[0]);
    p->point[at].worse = worse;
    p->point[at].time_s = time_s;
    p->n_points++;
    return time_s;
}

static double time_if_worse(struct fc_sensitivity_search *s, size_t row, double worse)
{
    return time_at(s, row, s->parameters[row].rate ? 1 / worse : worse);
}

/* ---- derivatives ---- */

static double percent_of(const struct fc_sensitivity_search *s, double time_s)
{
    return 100 * (time_s / s->job->time_s - 1);
}

/* A gap that is 0 has a right-hand derivative, and nothing else. */
static void differentiate_gap_at_0(struct fc_sensitivity_search *s, size_t row)
{
    struct fc_scales scales = fc_scales_of_1;
    scales.gap_more_s = STEP * fmax(s->job->software->send_s, 1e-9);
    s->found->rows[row].derivative = (predict(s, &scales) - s->job->time_s) / scales.gap_more_s;
}

/* Is what the path says of the parameter the same whatever is taken to come first? */
static bool is_sure(const struct fc_sensitivity_search *s, const struct fc_sensitivity_parameter *p)
{
    double part_s = p->part_s[FC_TIE_MEAN], kept_s = p->part_s[FC_MEETINGS_KEPT], small_s = SMALL * s->job->time_s;
    double most = fmax(part_s, fmax(p->part_s[FC_TIE_FIRST], p->part_s[FC_TIE_LAST]));
    double least = fmin(part_s, fmin(p->part_s[FC_TIE_FIRST], p->part_s[FC_TIE_LAST]));
    if (isnan(p->part_s[FC_TIE_FIRST] + p->part_s[FC_TIE_LAST])) return false; /* fmax and fmin leave it out */
    if (!(fmax(most - least, p->sides_s) <= CLOSE_TIES * fabs(part_s) + small_s)) return false;
    return p->link == FC_NONE || fabs(part_s - kept_s) <= CLOSE_KEPT * fabs(kept_s) + SMALL_KEPT * s->job->time_s;
}

static void take_part(struct fc_sensitivity_search *s, size_t row, enum fc_adjoint_view view, const char *by)
{
    struct fc_sensitivity_row *r = &s->found->rows[row];
    double part_s = s->parameters[row].part_s[view];
    r->derivative = r->value > 0 ? part_s / r->value : part_s;
    r->derivative_by = by;
}

static bool may_go_on(struct fc_sensitivity_search *s)
{
    if (s->st->code) return false;
    if (s->found->n_times < s->job->most_times) return true;
    s->found->cut = true;
    return false;
}

/* derivative x value, over h to both sides. */
static double secant_s(struct fc_sensitivity_search *s, size_t row, double h)
{
    return (time_at(s, row, 1 + h) - time_at(s, row, 1 / (1 + h))) / (2 * log1p(h));
}

/* All parameters but single links from one set of replays, each with every one of them up or down by WIDE_STEP: the two-level design
 * of a Hadamard matrix and its mirror image (Plackett & Burman, Biometrika 33, 1946). Every derivative is then a mean over all of
 * them, by which jumps of T matter less by the root of their number, and interactions of two parameters cancel. */
static void average_differences(struct fc_sensitivity_search *s)
{
    _Static_assert(MOST_OTHERS < DESIGN / 2, "a column of the design for each parameter but single links");
    double ln = log1p(WIDE_STEP);
    if (s->job->some_times < s->found->n_times + DESIGN || s->job->most_times < s->found->n_times + DESIGN) return;
    for (size_t k = 0; k < s->found->n; k++) s->parameters[k].averaged_s = 0;
    for (uint32_t run = 0; run < DESIGN && !s->st->code; run++) {
        struct fc_scales scales = fc_scales_of_1;
        double sign[DESIGN / 2] = {0};
        for (uint32_t k = 0; k < s->found->n && k + 1 < DESIGN / 2; k++) {
            struct fc_sensitivity_parameter *p = &s->parameters[k];
            if (p->link != FC_NONE || p->step || s->found->rows[k].value == 0) continue;
            sign[k] = (__builtin_popcount((run / 2) & (k + 1)) + (int)run) % 2 ? -1 : 1;
            double factor = exp(sign[k] * ln);
            memcpy((char *)&scales + p->field, &factor, sizeof factor);
        }
        double time_s = predict(s, &scales);
        for (size_t k = 0; k < s->found->n && k + 1 < DESIGN / 2; k++)
            s->parameters[k].averaged_s += sign[k] * time_s / (DESIGN * ln);
    }
    for (size_t k = 0; k < s->found->n; k++) {
        struct fc_sensitivity_parameter *p = &s->parameters[k];
        if (p->link != FC_NONE || p->step || s->found->rows[k].value == 0) p->averaged_s = NAN;
    }
}

static void differentiate(struct fc_sensitivity_search *s, size_t row)
{
    struct fc_sensitivity_row *r = &s->found->rows[row];
    const struct fc_sensitivity_parameter *p = &s->parameters[row];
    if (p->step) return;
    if (s->found->by_path && is_sure(s, p)) {
        take_part(s, row, FC_TIE_MEAN, "path");
        return;
    }
    if (s->kept) take_part(s, row, FC_MEETINGS_KEPT, "kept");
    if (!isnan(p->averaged_s)) {
        r->derivative = p->averaged_s / r->value;
        r->derivative_by = "difference";
        return;
    }
    if (s->all_kept || !may_go_on(s)) return;
    if (r->value == 0) {
        differentiate_gap_at_0(s, row); /* no other parameter that is 0 has a row */
    } else if (s->job->of_trace) {
        r->derivative = secant_s(s, row, WIDE_STEP) / r->value;
    } else {
        r->derivative = (time_at(s, row, 1 + STEP) - time_at(s, row, 1 - STEP)) / (2 * STEP * r->value);
    }
    r->derivative_by = isnan(r->derivative) ? NULL : "difference";
}

/* Where T jumps by so much that the slope over 10 % is none of those over factors of 2, it is no derivative to tell. */
static void doubt(struct fc_sensitivity_search *s, size_t row)
{
    struct fc_sensitivity_row *r = &s->found->rows[row];
    bool rate = s->parameters[row].rate;
    double slope = 100 * r->derivative * r->value / s->job->time_s * (rate ? -1 : 1);
    double worse = rate ? r->if_halved_percent : r->if_doubled_percent;
    double better = -2 * (rate ? r->if_doubled_percent : r->if_halved_percent);
    double room = DOUBT_PERCENT + CLOSE_SLOPES * fmax(fabs(worse), fabs(better));
    if (!(slope < fmin(worse, better) - room || slope > fmax(worse, better) + room)) return;
    r->derivative = NAN;
    r->derivative_by = NULL;
    if (s->kept) take_part(s, row, FC_MEETINGS_KEPT, "kept");
}

static void double_and_halve(struct fc_sensitivity_search *s, size_t row)
{
    struct fc_sensitivity_row *r = &s->found->rows[row];
    if (r->value == 0 || !may_go_on(s)) return;
    r->if_doubled_percent = percent_of(s, time_at(s, row, 2));
    r->if_halved_percent = percent_of(s, time_at(s, row, 0.5));
    if (s->job->of_trace && r->derivative_by && !strcmp(r->derivative_by, "difference") &&
        isnan(s->parameters[row].averaged_s))
        doubt(s, row);
}

/* ---- tolerances ---- */

static bool may_search(struct fc_sensitivity_search *s)
{
    if (!may_go_on(s)) return false;
    if (s->found->n_times < s->job->some_times) return true;
    s->found->cut = true;
    return false;
}

/* Between the greatest change known to be too small and the least known to be enough; false: none is enough. */
static bool bracket(struct fc_sensitivity_search *s, size_t row, double enough_s, int *above)
{
    struct fc_sensitivity_parameter *p = &s->parameters[row];
    for (double worse = 4;; worse *= 4) {
        for (*above = 0; *above < p->n_points; ++*above)
            if (p->point[*above].worse > 1 && p->point[*above].time_s >= enough_s) return true;
        if (worse > FC_SENSITIVITY_MOST || !may_search(s)) return false;
        time_if_worse(s, row, fmin(worse, FC_SENSITIVITY_MOST));
    }
}

/* How many times worse it is when the time is enough_s; NaN: unknown. */
static double worse_until(struct fc_sensitivity_search *s, size_t row, double enough_s)
{
    struct fc_sensitivity_parameter *p = &s->parameters[row];
    double rise_s = enough_s - s->job->time_s;
    int above;
    if (!bracket(s, row, enough_s, &above)) return NAN;
    double high = p->point[above].worse, high_s = p->point[above].time_s - enough_s;
    double low = 1, low_s = -rise_s;
    if (above > 0 && p->point[above - 1].worse > 1) {
        low = p->point[above - 1].worse;
        low_s = p->point[above - 1].time_s - enough_s;
    }
    for (int step = 0, side = 0; step < MOST_STEPS; step++) {
        double at = (low * high_s - high * low_s) / (high_s - low_s);
        if (high - low <= 1e-4 * (high - 1)) return at;
        if (!may_search(s)) return NAN;
        double off_s = time_if_worse(s, row, at) - enough_s;
        if (fabs(off_s) <= NEAR * rise_s) return at;
        if (off_s > 0) {
            high = at;
            high_s = off_s;
            if (side == 1) low_s /= 2;
            side = 1;
        } else {
            low = at;
            low_s = off_s;
            if (side == -1) high_s /= 2;
            side = -1;
        }
    }
    return high;
}

static void tolerate(struct fc_sensitivity_search *s, size_t row)
{
    struct fc_sensitivity_row *r = &s->found->rows[row];
    const struct fc_sensitivity_parameter *p = &s->parameters[row];
    if (r->value == 0 || p->step || !(s->job->time_s > 0)) return; /* nothing has no percents */
    for (size_t k = 0; k < FC_COUNT(fc_sensitivity_rises) && !s->st->code; k++) {
        double worse = worse_until(s, row, s->job->time_s * (1 + fc_sensitivity_rises[k] / 100));
        r->tolerance_percent[k] = 100 * (p->rate ? 1 - 1 / worse : worse - 1);
        if (isnan(worse)) break; /* nor does it rise more */
    }
}

/* ---- which parameters there are ---- */

static void add(struct fc_sensitivity_search *s, const char *name, double value, const char *unit,
                struct fc_sensitivity_parameter parameter)
{
    struct fc_sensitivity *f = s->found;
    f->rows[f->n] = (struct fc_sensitivity_row){.parameter = fc_copy_text(s->arena, name, s->st),
                                                .unit = unit,
                                                .value = value,
                                                .derivative = NAN,
                                                .if_doubled_percent = NAN,
                                                .if_halved_percent = NAN,
                                                .tolerance_percent = {NAN, NAN, NAN}};
    s->parameters[f->n] = parameter;
    s->parameters[f->n].averaged_s = NAN;
    f->n++;
}

#define COST(member)                                                                                                   \
    {                                                                                                                  \
        .field = offsetof(struct fc_scales, member), .link = FC_NONE                                                   \
    }
#define RATE(member, number)                                                                                           \
    {                                                                                                                  \
        .field = offsetof(struct fc_scales, member), .link = number, .rate = true                                      \
    }

static double hop_latency_s(const struct fc_sensitivity_job *j)
{
    double sum_s = 0, n = 0;
    if (!j->net) return j->loggops_latency_s;
    for (uint32_t l = 0; l < j->net->first_link[j->net->n_routers]; l++)
        if (!fc_is_node(j->net, j->net->link_target[l])) {
            sum_s += j->machine->classes[j->net->link_class[l]].latency_s;
            n++;
        }
    if (n == 0) sum_s = j->machine->classes[fc_injection_class(j->machine)].latency_s;
    return j->machine->router.delay_s + sum_s / fmax(n, 1);
}

static bool carries(const struct fc_sensitivity_job *j, int link_class)
{
    for (uint32_t l = 0; j->bytes && l < j->net->n_links; l++)
        if (j->net->link_class[l] == link_class && j->bytes[l] > 0) return true;
    return !j->bytes;
}

static void add_classes(struct fc_sensitivity_search *s)
{
    const struct fc_sensitivity_job *j = s->job;
    char name[64];
    for (int c = 0; c < j->machine->n_classes; c++) {
        const struct fc_link_class *k = &j->machine->classes[c];
        if (!isfinite(k->bandwidth_bytes_per_s) || !carries(j, c)) continue;
        snprintf(name, sizeof name, "link:%s", k->name);
        add(s, name, k->bandwidth_bytes_per_s, "B/s", (struct fc_sensitivity_parameter)RATE(bandwidth[c], FC_NONE));
    }
}

int fc_sensitivity_links(const struct fc_network *net, const double *busy_s, uint32_t link[FC_SENSITIVITY_LINKS])
{
    int n = 0;
    for (uint32_t l = 0; busy_s && l < net->n_links; l++) {
        int at = n;
        if (!(busy_s[l] > 0) || !isfinite(fc_link_bandwidth(net, l))) continue;
        while (at > 0 && busy_s[l] > busy_s[link[at - 1]]) at--;
        if (at == MOST_LINKS) continue;
        if (n < MOST_LINKS) n++;
        memmove(&link[at + 1], &link[at], (size_t)(n - 1 - at) * sizeof *link);
        link[at] = l;
    }
    return n;
}

static void add_links(struct fc_sensitivity_search *s)
{
    const struct fc_sensitivity_job *j = s->job;
    uint32_t link[MOST_LINKS];
    int n = fc_sensitivity_links(j->net, j->busy_s, link);
    for (int i = 0; i < n; i++) {
        char name[300] = "link:";
        fc_link_name(j->net, link[i], name + 5, sizeof name - 5);
        add(s, name, fc_link_bandwidth(j->net, link[i]), "B/s",
            (struct fc_sensitivity_parameter)RATE(link_bandwidth, link[i]));
    }
}

static enum fc_code list_parameters(struct fc_sensitivity_search *s)
{
    const struct fc_sensitivity_job *j = s->job;
    const struct fc_software *software = j->software;
    size_t most = MOST_OTHERS + MOST_LINKS;
    s->found->rows = fc_alloc(s->arena, most, sizeof *s->found->rows, s->st);
    s->parameters = fc_alloc(s->arena, most, sizeof *s->parameters, s->st);
    if (s->st->code) return s->st->code;
    const struct {
        const char *name, *unit;
        double value;
        struct fc_sensitivity_parameter parameter;
        bool there;
    } all[] = {
        {"send", "s", software->send_s, COST(send), software->send_s > 0},
        {"recv", "s", software->recv_s, COST(recv), software->recv_s > 0},
        {"latency", "s", hop_latency_s(j), COST(latency), hop_latency_s(j) > 0},
        {"gap", "s", software->gap_s, COST(gap), j->of_trace},
        {"per_byte", "s/B", software->per_byte_s, COST(per_byte), software->per_byte_s > 0},
        {"eager",
         "B",
         software->eager_bytes,
         {.field = offsetof(struct fc_scales, eager), .link = FC_NONE, .step = true},
         j->of_trace && software->eager_bytes > 0 && software->eager_bytes < 1e15},
        {"compute", j->of_trace ? "1" : "s", j->of_trace ? software->compute_scale : j->compute_s, COST(compute),
         j->of_trace ? software->compute_scale > 0 : j->compute_s > 0},
        {"imbalance", "1", 1, COST(imbalance), j->of_trace},
    };
    for (size_t i = 0; i < FC_COUNT(all); i++)
        if (all[i].there) add(s, all[i].name, all[i].value, all[i].unit, all[i].parameter);
    if (!j->net) {
        if (j->loggops_per_byte_s > 0)
            add(s, "link:G", 1 / j->loggops_per_byte_s, "B/s",
                (struct fc_sensitivity_parameter)RATE(bandwidth[0], FC_NONE));
        return s->st->code;
    }
    add_classes(s);
    add_links(s);
    return s->st->code;
}

/* ---- is the path right? ---- */

/* The two parameters that matter most by the path, but single links; returns how many there are. */
static int most_by_path(const struct fc_sensitivity_search *s, enum fc_adjoint_view view, size_t most[CHECKED])
{
    int n = 0;
    for (size_t i = 0; i < s->found->n; i++) {
        double part_s = fabs(s->parameters[i].part_s[view]);
        int at = n;
        if (s->parameters[i].link != FC_NONE || part_s < SMALL_CHECK * s->job->time_s) continue;
        while (at > 0 && part_s > fabs(s->parameters[most[at - 1]].part_s[view])) at--;
        if (at == CHECKED) continue;
        if (n < CHECKED) n++;
        memmove(&most[at + 1], &most[at], (size_t)(n - 1 - at) * sizeof *most);
        most[at] = i;
    }
    return n;
}

static bool agrees(struct fc_sensitivity_search *s, size_t row, enum fc_adjoint_view view, double h)
{
    double part_s = s->parameters[row].part_s[view];
    return fabs(secant_s(s, row, h) - part_s) <= CLOSE_CHECK * fabs(part_s) + SMALL_CHECK * s->job->time_s;
}

/* Where work is allowed: does T change as the path says with the parameters that matter most? */
static bool check(struct fc_sensitivity_search *s, enum fc_adjoint_view view, bool without_work)
{
    size_t most[CHECKED];
    int n = most_by_path(s, view, most);
    for (int k = 0; k < n; k++) {
        if (!may_go_on(s)) return without_work;
        if (!agrees(s, most[k], view, CHECK_STEP) && !(may_go_on(s) && agrees(s, most[k], view, WIDE_STEP)))
            return false;
    }
    return true;
}

static void check_path(struct fc_sensitivity_search *s)
{
    struct fc_sensitivity *f = s->found;
    if (f->by_path) f->by_path = check(s, FC_TIE_MEAN, s->job->path[FC_TIE_MEAN].greatest <= MOST_GREATEST);
    if (s->kept && !f->by_path && !s->all_kept) s->all_kept = check(s, FC_MEETINGS_KEPT, true);
}

/* ---- all of it ---- */

/* The row that matters most of those left, by what doubling or halving moves; n: none is left. */
static size_t next_row(const struct fc_sensitivity *f, const bool *done)
{
    size_t best = f->n;
    double most = -1;
    for (size_t i = 0; i < f->n; i++) {
        const struct fc_sensitivity_row *r = &f->rows[i];
        double moves = fmax(fabs(r->if_doubled_percent), fabs(r->if_halved_percent));
        if (isnan(moves)) moves = 0;
        if (done[i] || moves <= most) continue;
        most = moves;
        best = i;
    }
    return best;
}

/* Those that move T most by their derivatives first; unknown ones before, those without any last. */
static void double_and_halve_all(struct fc_sensitivity_search *s)
{
    const struct fc_sensitivity *f = s->found;
    bool *done = fc_alloc(s->arena, f->n + 1, sizeof *done, s->st);
    for (size_t k = 0; done && k < f->n && !s->st->code; k++) {
        size_t best = f->n;
        double most = -1;
        for (size_t i = 0; i < f->n; i++) {
            const struct fc_sensitivity_row *r = &f->rows[i];
            double moves = s->parameters[i].step ? 0 : r->derivative_by ? fabs(r->derivative * r->value) : INFINITY;
            if (done[i] || moves <= most) continue;
            most = moves;
            best = i;
        }
        done[best] = true;
        double_and_halve(s, best);
    }
}

enum fc_code fc_sensitivity_find(const struct fc_sensitivity_job *job, struct fc_arena *arena,
                                 struct fc_sensitivity *found, struct fc_status *st)
{
    struct fc_sensitivity_search s = {.job = job, .arena = arena, .found = found, .st = st};
    *found = (struct fc_sensitivity){.time_s = job->time_s, .balanced_s = NAN, .ideal_s = NAN};
    if (list_parameters(&s)) return st->code;
    fc_sensitivity_take_path(&s);
    check_path(&s);
    if (s.all_kept) average_differences(&s);
    for (size_t i = 0; i < found->n && !st->code; i++) differentiate(&s, i);
    double_and_halve_all(&s);
    if (job->of_trace && may_go_on(&s)) {
        struct fc_scales scales = fc_scales_of_1;
        scales.imbalance = 0;
        found->balanced_s = predict(&s, &scales);
        scales = fc_scales_of_1;
        scales.ideal = true;
        if (job->net) found->ideal_s = predict(&s, &scales);
    }
    bool *done = fc_alloc(arena, found->n + 1, sizeof *done, st);
    for (size_t i; !st->code && (i = next_row(found, done)) < found->n;) {
        done[i] = true;
        if (!may_search(&s)) break;
        tolerate(&s, i);
    }
    return st->code;
}
