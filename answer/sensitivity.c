/* sensitivity.c - what a predicted time T depends on, by predicting it again with one parameter changed: same job, same
 * place, same routes.
 *
 *     derivative      (T(v (1 + h)) - T(v (1 - h))) / (2 h v), h = 1/1000
 *     doubled, halved 100 (T(2 v) / T(v) - 1) and 100 (T(v / 2) / T(v) - 1)
 *     tolerance       the least x with T(v worse by x %) = 1.01, 1.05, 1.1 T(v), by regula falsi (Illinois; Dowell & Jarratt,
 *                     BIT 11, 1971) between a change that is too small and one that is enough
 *
 * On an ideal network T is the longest of all paths of the job, a convex and piecewise linear function of every cost (Hoefler,
 * Schneider & Lumsdaine, HPDC'10; as a linear program: Shen et al., "LLAMP", SC'24), and the derivative is the number of
 * times that the longest path has the parameter: what the program's duals say. At a corner of T it is the mean of both sides. With
 * contention T is not convex: rates are shared anew.
 *
 * Limits: mappings stay as they are; the kernel's replays (--network flit) are too slow and too noisy. */
#include "answer/sensitivity.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define STEP 1e-3
enum { MOST_LINKS = 5, MOST_POINTS = 48, MOST_STEPS = 12 };
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

/* One parameter while it is looked at. */
struct parameter {
    size_t field; /* of struct fc_scales: what it multiplies */
    uint32_t link;
    bool rate; /* worse is less */
    bool step; /* no derivative */
    struct {
        double worse, time_s; /* so many times worse, in ascending order */
    } point[MOST_POINTS];     /* [n_points] what is known */
    int n_points;
};
struct search {
    const struct fc_sensitivity_job *job;
    struct fc_arena *arena;
    struct fc_sensitivity *found;
    struct parameter *parameters; /* beside the rows */
    struct fc_status *st;
};

static double predict(struct search *s, const struct fc_scales *scales)
{
    double time_s = NAN;
    s->found->n_times++;
    s->job->time_under(s->job->context, scales, &time_s, s->st);
    if (s->st->code == FC_INPUT && scales->eager < 1) *s->st = (struct fc_status){0}; /* it deadlocks: NaN */
    return s->st->code ? (double)NAN : time_s;
}

/* The time with the parameter so many times its value. */
static double time_at(struct search *s, size_t row, double factor)
{
    struct parameter *p = &s->parameters[row];
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

static double time_if_worse(struct search *s, size_t row, double worse)
{
    return time_at(s, row, s->parameters[row].rate ? 1 / worse : worse);
}

/* ---- derivatives ---- */

static double percent_of(const struct search *s, double time_s)
{
    return 100 * (time_s / s->job->time_s - 1);
}

/* A gap that is 0 has a right-hand derivative, and nothing else. */
static void differentiate_gap_at_0(struct search *s, size_t row)
{
    struct fc_scales scales = fc_scales_of_1;
    scales.gap_more_s = STEP * fmax(s->job->software->send_s, 1e-9);
    s->found->rows[row].derivative = (predict(s, &scales) - s->job->time_s) / scales.gap_more_s;
}

static void differentiate(struct search *s, size_t row)
{
    struct fc_sensitivity_row *r = &s->found->rows[row];
    const struct parameter *p = &s->parameters[row];
    r->derivative = r->if_doubled_percent = r->if_halved_percent = NAN;
    for (size_t k = 0; k < FC_COUNT(r->tolerance_percent); k++) r->tolerance_percent[k] = NAN;
    if (r->value == 0) {
        differentiate_gap_at_0(s, row); /* no other parameter that is 0 has a row */
        return;
    }
    if (!p->step) r->derivative = (time_at(s, row, 1 + STEP) - time_at(s, row, 1 - STEP)) / (2 * STEP * r->value);
    r->if_doubled_percent = percent_of(s, time_at(s, row, 2));
    r->if_halved_percent = percent_of(s, time_at(s, row, 0.5));
}

/* ---- tolerances ---- */

static bool may_go_on(struct search *s)
{
    if (s->st->code) return false;
    if (s->found->n_times < s->job->most_times) return true;
    s->found->cut = true;
    return false;
}

/* Between the greatest change known to be too small and the least known to be enough; false: none is enough. */
static bool bracket(struct search *s, size_t row, double enough_s, int *above)
{
    struct parameter *p = &s->parameters[row];
    for (double worse = 4;; worse *= 4) {
        for (*above = 0; *above < p->n_points; ++*above)
            if (p->point[*above].worse > 1 && p->point[*above].time_s >= enough_s) return true;
        if (worse > FC_SENSITIVITY_MOST || !may_go_on(s)) return false;
        time_if_worse(s, row, fmin(worse, FC_SENSITIVITY_MOST));
    }
}

/* How many times worse it is when the time is enough_s; NaN: unknown. */
static double worse_until(struct search *s, size_t row, double enough_s)
{
    struct parameter *p = &s->parameters[row];
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
        if (!may_go_on(s)) return NAN;
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

static void tolerate(struct search *s, size_t row)
{
    struct fc_sensitivity_row *r = &s->found->rows[row];
    const struct parameter *p = &s->parameters[row];
    if (r->value == 0 || p->step || !(s->job->time_s > 0)) return; /* nothing has no percents */
    for (size_t k = 0; k < FC_COUNT(fc_sensitivity_rises) && !s->st->code; k++) {
        double worse = worse_until(s, row, s->job->time_s * (1 + fc_sensitivity_rises[k] / 100));
        r->tolerance_percent[k] = 100 * (p->rate ? 1 - 1 / worse : worse - 1);
        if (isnan(worse)) break; /* nor does it rise more */
    }
}

/* ---- which parameters there are ---- */

static void add(struct search *s, const char *name, double value, const char *unit, struct parameter parameter)
{
    struct fc_sensitivity *f = s->found;
    f->rows[f->n] = (struct fc_sensitivity_row){.parameter = fc_copy_text(s->arena, name, s->st), unit, value};
    s->parameters[f->n] = parameter;
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

static void add_classes(struct search *s)
{
    const struct fc_sensitivity_job *j = s->job;
    char name[64];
    for (int c = 0; c < j->machine->n_classes; c++) {
        const struct fc_link_class *k = &j->machine->classes[c];
        if (!isfinite(k->bandwidth_bytes_per_s) || !carries(j, c)) continue;
        snprintf(name, sizeof name, "link:%s", k->name);
        add(s, name, k->bandwidth_bytes_per_s, "B/s", (struct parameter)RATE(bandwidth[c], FC_NONE));
    }
}

/* The links that are busy longest; of equals the first. */
static void add_links(struct search *s)
{
    const struct fc_sensitivity_job *j = s->job;
    uint32_t most[MOST_LINKS];
    int n = 0;
    for (uint32_t l = 0; j->busy_s && l < j->net->n_links; l++) {
        int at = n;
        if (!(j->busy_s[l] > 0) || !isfinite(fc_link_bandwidth(j->net, l))) continue;
        while (at > 0 && j->busy_s[l] > j->busy_s[most[at - 1]]) at--;
        if (at == MOST_LINKS) continue;
        if (n < MOST_LINKS) n++;
        memmove(&most[at + 1], &most[at], (size_t)(n - 1 - at) * sizeof *most);
        most[at] = l;
    }
    for (int i = 0; i < n; i++) {
        char name[300] = "link:";
        fc_link_name(j->net, most[i], name + 5, sizeof name - 5);
        add(s, name, fc_link_bandwidth(j->net, most[i]), "B/s", (struct parameter)RATE(link_bandwidth, most[i]));
    }
}

static enum fc_code list_parameters(struct search *s)
{
    const struct fc_sensitivity_job *j = s->job;
    const struct fc_software *software = j->software;
    size_t most = 8 + FC_MAX_CLASSES + MOST_LINKS;
    s->found->rows = fc_alloc(s->arena, most, sizeof *s->found->rows, s->st);
    s->parameters = fc_alloc(s->arena, most, sizeof *s->parameters, s->st);
    if (s->st->code) return s->st->code;
    const struct {
        const char *name, *unit;
        double value;
        struct parameter parameter;
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
            add(s, "link:G", 1 / j->loggops_per_byte_s, "B/s", (struct parameter)RATE(bandwidth[0], FC_NONE));
        return s->st->code;
    }
    add_classes(s);
    add_links(s);
    return s->st->code;
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

enum fc_code fc_sensitivity_find(const struct fc_sensitivity_job *job, struct fc_arena *arena,
                                 struct fc_sensitivity *found, struct fc_status *st)
{
    struct search s = {.job = job, .arena = arena, .found = found, .st = st};
    *found = (struct fc_sensitivity){.time_s = job->time_s, .balanced_s = NAN, .ideal_s = NAN};
    if (list_parameters(&s)) return st->code;
    for (size_t i = 0; i < found->n && !st->code; i++) differentiate(&s, i);
    if (job->of_trace && !st->code) {
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
        if (!may_go_on(&s)) break;
        tolerate(&s, i);
    }
    return st->code;
}
