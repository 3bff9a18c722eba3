/* bulk.c - how much longer than the contention model says a bulk phase takes in the kernel.
 *
 *     ratio = T_kernel / (T_links + T_fill)      (contention.c; T_links in whole flits, no software)
 *
 * log ratio is a Gaussian process (kriging.c) over the kind of pattern and five features, chosen such that
 * they stay within what was run where a phase or a network only grows: packets^-1/2    a message of few
 * packets cannot be split evenly, and ends far from where the mean does 1 / hops        channels taken by
 * others in turn even out on long ways log anisotropy  of link loads: long dimensions hold up the short ones
 * (Adiga et al. 2005, 32 x 16 x 16) log split       what the solver's best split saves over the even one,
 * which routers see nothing of latency share   of the reference: a lone packet takes exactly that Values are
 * less the mean of all cases. A phase of a kind that was run: error = root mean square of that kind's errors
 * with each network left out (of messages about as long, where there are LEAST_ALIKE); any other: of all
 * cases, the greater of that and of their error with their kind left out; neither less than the process's own
 * standard deviation. What was run itself comes out as it was measured, with the same error. Outside the hull
 * of the kind's cases the error is doubled. All-to-all, where LEAST_ALONE cases on LEAST_NETWORKS networks were run, has a
 * process of its own cases alone about the trend
 *     log anisotropy x (t0 + t1 / hops)
 * because packets of the longest dimension hold up the others the more, the longer it is (Adiga et al. 2005; Kumar et al., ICPP
 * 2008), which no sparse pattern shows; its errors are those of trend and process with each network left out. Limits: what no case has, the process cannot know: several phases
 * at once, software that delays some messages, background. */
#include "solvers/calibration/bulk.h"
#include "solvers/calibration/family_distance.h"

#include <math.h>
#include <string.h>

#define MARGIN 0.1              /* of features, beyond the cases */
#define LEAST_ERROR_PERCENT 1.0 /* seeds alone move a run by that much */
#define LIKE_LENGTH 0.25        /* of packets^-1/2 */
#define LEAST_ALIKE 4
#define RIDGE 1e-3
enum { LEAST_ALONE = 9, LEAST_NETWORKS = 4, TERMS = 4 }; /* of a process of one kind; of its trend */
#define SAME 0.03                                        /* features of one pattern on one network */
/* Entries times routers for a second load solution, which walks the box of each: 4096 nodes with 60 000 pairs (half a
 * second) are within, a permutation of 65 536 nodes (three seconds) is not. */
#define MOST_WORK 2.5e8

static const char *const kinds[] = {"tornado",  "transpose",   "complement", "bit-reverse",
                                    "neighbor", "permutation", NULL};

/* ---- kinds ---- */

/* Every node sends every other the same: one dense part, the same for all tasks, and nodes that inject alike.
 */
static bool is_all_to_all(const struct fc_network *net, const struct fc_demand *demand, const struct fc_load *load)
{
    if (demand->n_entries || demand->n_dense != 1 || net->n_nodes < 2) return false;
    if (!fc_all_equal(demand->dense[0].a, demand->n_tasks) || !fc_all_equal(demand->dense[0].b, demand->n_tasks))
        return false;
    double first = -1;
    for (uint32_t node = 0; node < net->n_nodes; node++) {
        double out = 0;
        for (uint32_t l = net->first_link[net->n_routers + node]; l < net->first_link[net->n_routers + node + 1]; l++)
            out += load->bytes[l];
        if (first < 0) first = out;
        if (!(out > 0) || fabs(out - first) > 1e-9 * first) return false;
    }
    return true;
}

static bool in_order(const struct fc_network *net, const struct fc_placement *placement)
{
    uint32_t each = placement->n_tasks / net->n_nodes;
    if (each == 0 || placement->n_tasks % net->n_nodes) return false;
    for (uint32_t t = 0; t < placement->n_tasks; t++)
        if (placement->node[t] != t / each) return false;
    return true;
}

const char *fc_bulk_kind(const struct fc_network *net, const struct fc_demand *demand,
                         const struct fc_placement *placement, const struct fc_load *load)
{
    if (is_all_to_all(net, demand, load)) return "alltoall";
    if (!in_order(net, placement) || demand->n_dense) return "";
    if (demand->n_grid) return "stencil"; /* no other demand has one */
    size_t n = strcspn(demand->name, ":");
    for (int i = 0; kinds[i] && demand->n_entries <= demand->n_tasks; i++)
        if (strlen(kinds[i]) == n && !strncmp(demand->name, kinds[i], n)) return kinds[i];
    return "";
}

/* ---- points ---- */

/* Packets of a message; machines without packets send flits. */
static double packets_of(const struct fc_machine *m, double bytes)
{
    double payload = m->packet.max_bytes > 0 ? m->packet.max_bytes - m->packet.header_bytes : m->router.flit_bytes;
    return payload > 0 ? fmax(1, ceil(bytes / payload - 1e-9)) : 1;
}

/* Packets between two tasks, mean, and whole flits over wire bytes, for machines whose packets are flits
 * (others are rounded by fc_wire_bytes already). */
static void count_packets(const struct fc_network *net, const struct fc_demand *d, const struct fc_placement *placement,
                          double *packets, double *whole_flits)
{
    const struct fc_machine *m = net->machine;
    double n_packets = 0, n_pairs = 0, bytes = 0;
    for (size_t e = 0; e < d->n_entries; e++) {
        if (placement->node[d->src[e]] == placement->node[d->dst[e]]) continue;
        double n = fmax(1, d->messages[e]);
        n_packets += n * packets_of(m, d->bytes[e] / n);
        bytes += d->bytes[e];
        n_pairs++;
    }
    for (int i = 0; i < d->n_dense; i++) {
        const struct fc_dense *part = &d->dense[i];
        double a = 0, b = 0, same = 0, as = 0, bs = 0;
        for (uint32_t t = 0; t < d->n_tasks; t++) {
            a += part->a[t];
            b += part->b[t];
            same += part->a[t] * part->b[t];
            as += part->a[t] > 0;
            bs += part->b[t] > 0;
        }
        double sum = a * b - same, each = part->message_bytes > 0 ? part->message_bytes : sum;
        if (!(sum > 0)) continue;
        n_packets += sum / each * packets_of(m, each);
        bytes += sum;
        n_pairs += fmax(1, as * bs - fmin(as, bs));
    }
    *packets = n_pairs > 0 ? n_packets / n_pairs : 1;
    *whole_flits = m->packet.max_bytes > 0 || !(bytes > 0) ? 1 : fmax(1, n_packets * m->router.flit_bytes / bytes);
}

static double anisotropy(const struct fc_network *net, const struct fc_load *load)
{
    double most = 0, sum = 0, n = 0;
    for (uint32_t l = 0; l < net->n_links; l++) {
        if (!(load->bytes[l] > 0) || fc_is_node(net, net->link_source[l]) || fc_is_node(net, net->link_target[l]))
            continue;
        double time = load->bytes[l] / fc_link_bandwidth(net, l);
        most = fmax(most, time);
        sum += time;
        n++;
    }
    return sum > 0 ? fmax(1, most * n / sum) : 1;
}

enum fc_code fc_bulk_split(const struct fc_network *net, const struct fc_demand *demand,
                           const struct fc_placement *placement, const struct fc_load *load, double *gain,
                           struct fc_status *st)
{
    struct fc_load even;
    struct fc_load_settings how = {.split = FC_SPLIT_UNIFORM, .threads = 1};
    struct fc_load_summary one, other;
    *gain = 1;
    if (!net->machine->routing->adaptive || demand->n_dense || (double)demand->n_entries * net->n_routers > MOST_WORK)
        return FC_OK;
    if (fc_load_solve(net, demand, placement, &how, &even, st)) return st->code;
    fc_load_summarise(net, load, &how, &one);
    fc_load_summarise(net, &even, &how, &other);
    if (one.max_link_s > 0) *gain = fmax(1, other.max_link_s / one.max_link_s);
    fc_load_free(&even);
    return FC_OK;
}

void fc_bulk_locate(const struct fc_network *net, const struct fc_demand *demand, const struct fc_placement *placement,
                    const struct fc_load *load, const struct fc_phase_parts *parts, double split,
                    struct fc_bulk_point *point)
{
    double whole_flits;
    count_packets(net, demand, placement, &point->packets, &whole_flits);
    point->hops = load->network_bytes > 0 ? load->hop_bytes / load->network_bytes : 0;
    point->anisotropy = anisotropy(net, load);
    point->split = split;
    point->reference_s = parts->links_s * whole_flits + parts->fill_s;
    point->latency_share = point->reference_s > 0 ? parts->fill_s / point->reference_s : 0;
}

void fc_bulk_features(const struct fc_bulk_point *point, double x[FC_KRIGING_FEATURES])
{
    memset(x, 0, FC_KRIGING_FEATURES * sizeof *x);
    x[0] = 1 / sqrt(fmax(1, point->packets));
    x[1] = 1 / fmax(1, point->hops);
    x[2] = log(point->anisotropy);
    x[3] = log(point->split);
    x[4] = point->latency_share;
}

/* ---- the process ---- */

/* Of log ratio, at features x: 0 but for all-to-all alone. */
static double trend(const struct fc_bulk *bulk, const double *x)
{
    return x[2] * (bulk->trend[0] + bulk->trend[1] * x[1]);
}

enum fc_code fc_bulk_open(const struct fc_bulk *bulk, struct fc_kriging **kriging, double *mean, struct fc_status *st)
{
    struct fc_arena arena = {0};
    struct fc_kriging_point *points = fc_alloc(&arena, bulk->n_cases, sizeof *points, st);
    *kriging = NULL;
    *mean = 0;
    for (uint32_t i = 0; points && i < bulk->n_cases; i++) {
        fc_bulk_features(&bulk->cases[i].at, points[i].x);
        points[i].value = log(bulk->cases[i].ratio) - trend(bulk, points[i].x);
        *mean += points[i].value / bulk->n_cases;
    }
    for (uint32_t i = 0; points && i < bulk->n_cases; i++) {
        const struct fc_bulk_case *c = &bulk->cases[i];
        uint32_t group = 0;
        while (strcmp(bulk->cases[group].network, c->network)) group++;
        points[i].kind = c->kind;
        points[i].value -= *mean;
        points[i].group = group;
    }
    if (points && bulk->shape.noise > 0)
        fc_kriging_make(points, bulk->n_cases, &bulk->shape, kriging, st);
    else if (points)
        fc_kriging_fit(points, bulk->n_cases, kriging, st);
    fc_arena_free(&arena);
    return st->code;
}

double fc_bulk_error_percent(const struct fc_bulk *bulk, bool with_kinds)
{
    double squares = 0;
    for (uint32_t i = 0; i < bulk->n_cases; i++) {
        const struct fc_bulk_case *c = &bulk->cases[i];
        double error = with_kinds ? fmax(c->left_network_percent, c->left_kind_percent) : c->left_network_percent;
        squares += error * error / bulk->n_cases;
    }
    return bulk->n_cases ? sqrt(squares) : (double)NAN;
}

/* kind "": any. */
static bool is_of(const struct fc_bulk_case *c, const char *kind)
{
    return !*kind || !strcmp(c->kind, kind);
}

/* Of the kind, each network left out; of any, the worse of that and of each kind left out. `alike`: of
 * messages about as long only; then NaN for few. */
static double left_out_percent(const struct fc_bulk *bulk, const char *kind, const struct fc_bulk_point *point,
                               bool alike)
{
    double squares = 0, x[FC_KRIGING_FEATURES], at[FC_KRIGING_FEATURES];
    int n = 0;
    fc_bulk_features(point, at);
    for (uint32_t i = 0; i < bulk->n_cases; i++) {
        const struct fc_bulk_case *c = &bulk->cases[i];
        fc_bulk_features(&c->at, x);
        if (!is_of(c, kind) || (alike && fabs(x[0] - at[0]) > LIKE_LENGTH)) continue;
        double error = *kind ? c->left_network_percent : fmax(c->left_network_percent, c->left_kind_percent);
        squares += error * error;
        n++;
    }
    return n >= (alike ? LEAST_ALIKE : 1) ? sqrt(squares / n) : (double)NAN;
}

static double measured_percent(const struct fc_bulk *bulk, const char *kind, const struct fc_bulk_point *point)
{
    double error = left_out_percent(bulk, kind, point, true);
    return isnan(error) ? left_out_percent(bulk, kind, point, false) : error;
}

/* The greatest hops of the cases times the last step in size, which leaving the largest network out has
 * tested. */
static double most_hops(const struct fc_bulk *bulk, const char *kind)
{
    double most = 0, next = 0;
    for (uint32_t i = 0; i < bulk->n_cases; i++)
        if (is_of(&bulk->cases[i], kind)) most = fmax(most, bulk->cases[i].at.hops);
    for (uint32_t i = 0; i < bulk->n_cases; i++)
        if (is_of(&bulk->cases[i], kind) && bulk->cases[i].at.hops < most * 0.99)
            next = fmax(next, bulk->cases[i].at.hops);
    return next >= 1 ? most * most / next : most;
}

/* Of the cases of the kind. */
static void check_hull(const struct fc_bulk *bulk, const char *kind, const struct fc_bulk_point *point,
                       struct fc_bulk_answer *answer)
{
    static const char *const names[FC_BULK_FEATURES] = {"packets a message", "mean hops", "anisotropy of link loads",
                                                        "gain of the split", "share of latency"};
    double x[FC_KRIGING_FEATURES], low[FC_BULK_FEATURES], high[FC_BULK_FEATURES];
    for (int f = 0; f < FC_BULK_FEATURES; f++) low[f] = INFINITY, high[f] = -INFINITY;
    for (uint32_t i = 0; i < bulk->n_cases; i++) {
        if (!is_of(&bulk->cases[i], kind)) continue;
        fc_bulk_features(&bulk->cases[i].at, x);
        for (int f = 0; f < FC_BULK_FEATURES; f++) low[f] = fmin(low[f], x[f]), high[f] = fmax(high[f], x[f]);
    }
    fc_bulk_features(point, x);
    low[1] = fmin(low[1], 1 / most_hops(bulk, kind));
    const double value[FC_BULK_FEATURES] = {point->packets, point->hops, point->anisotropy, point->split,
                                            point->latency_share};
    for (int f = 0; f < FC_BULK_FEATURES && !answer->extrapolated; f++) {
        double margin = f == 1 ? MARGIN * low[1] : MARGIN;
        if (x[f] >= low[f] - margin && x[f] <= high[f] + margin) continue;
        answer->extrapolated = true;
        snprintf(answer->why, sizeof answer->why, "%s %.4g: no such phase was run", names[f], value[f]);
    }
}

/* What the process misses of this very pattern on this network, weighted by nearness in length and latency
 * (Shepard) and fading over LIKE_LENGTH: so that what was run comes out again. 0 where it was not run. */
static double missed(const struct fc_bulk *bulk, const struct fc_kriging *kriging, double mean,
                     const struct fc_kriging_point *at)
{
    double sum = 0, weights = 0;
    for (uint32_t i = 0; i < bulk->n_cases && at->group != FC_KRIGING_NO_GROUP; i++) {
        const struct fc_bulk_case *c = &bulk->cases[i];
        struct fc_kriging_point there = {.kind = c->kind, .group = at->group};
        double value, deviation;
        fc_bulk_features(&c->at, there.x);
        bool same = !strcmp(c->network, bulk->cases[at->group].network) && !strcmp(c->kind, at->kind);
        for (int f = 1; f < 4; f++) same = same && fabs(there.x[f] - at->x[f]) < SAME;
        if (!same) continue;
        fc_kriging_at(kriging, &there, &value, &deviation);
        double weight = 1 / (1e-6 + fabs(there.x[0] - at->x[0]) + fabs(there.x[4] - at->x[4]));
        sum += weight * (log(c->ratio) - trend(bulk, there.x) - mean - value);
        weights += weight;
    }
    return sum / (weights + 1 / LIKE_LENGTH);
}

static uint32_t group_of(const struct fc_bulk *bulk, const struct fc_network *net)
{
    char shape[512];
    fc_machine_shape(net->machine, shape, sizeof shape);
    for (uint32_t i = 0; i < bulk->n_cases; i++)
        if (!strcmp(bulk->cases[i].network, shape)) return i;
    return FC_KRIGING_NO_GROUP;
}

/* ---- all-to-all ---- */

/* trend[] by least squares of log ratio over 1, packets^-1/2, log anisotropy and that over hops; RIDGE keeps small what the
 * cases do not tell. */
static void fit_trend(struct fc_bulk *bulk)
{
    double a[TERMS][TERMS + 1] = {{0}}, x[FC_KRIGING_FEATURES];
    for (uint32_t i = 0; i < bulk->n_cases; i++) {
        fc_bulk_features(&bulk->cases[i].at, x);
        const double term[TERMS + 1] = {1, x[0], x[2], x[2] * x[1], log(bulk->cases[i].ratio)};
        for (int r = 0; r < TERMS; r++)
            for (int c = 0; c <= TERMS; c++) a[r][c] += term[r] * term[c];
    }
    for (int r = 0; r < TERMS; r++) a[r][r] += RIDGE;
    for (int r = 0; r < TERMS; r++) /* positive definite: no pivots needed */
        for (int k = 0; k < TERMS; k++) {
            double factor = a[k][r] / a[r][r];
            for (int c = r; c <= TERMS && k != r; c++) a[k][c] -= factor * a[r][c];
        }
    bulk->trend[0] = a[2][TERMS] / a[2][2];
    bulk->trend[1] = a[3][TERMS] / a[3][3];
}

/* Error of each case with its network left out, of trend and process; the shape stays. */
static enum fc_code leave_networks_out(struct fc_bulk *bulk, struct fc_arena *arena, struct fc_status *st)
{
    struct fc_bulk others = {.shape = bulk->shape};
    others.cases = fc_alloc(arena, bulk->n_cases + 1, sizeof *others.cases, st);
    for (uint32_t i = 0; others.cases && i < bulk->n_cases && !st->code; i++) {
        struct fc_bulk_case *c = &bulk->cases[i];
        struct fc_kriging *kriging;
        double mean, value, deviation;
        struct fc_kriging_point at = {.kind = c->kind, .group = FC_KRIGING_NO_GROUP};
        others.n_cases = 0;
        for (uint32_t k = 0; k < bulk->n_cases; k++)
            if (strcmp(bulk->cases[k].network, c->network)) others.cases[others.n_cases++] = bulk->cases[k];
        fit_trend(&others);
        if (fc_bulk_open(&others, &kriging, &mean, st)) break;
        fc_bulk_features(&c->at, at.x);
        fc_kriging_at(kriging, &at, &value, &deviation);
        fc_kriging_close(kriging);
        c->left_network_percent = 100 * fabs(expm1(trend(&others, at.x) + mean + value - log(c->ratio)));
    }
    return st->code;
}

/* The cases of one kind alone, with a trend and a process of their own. False: too few. */
static bool alone(const struct fc_bulk *bulk, const char *kind, struct fc_arena *arena, struct fc_bulk *own,
                  struct fc_status *st)
{
    struct fc_kriging *kriging;
    double mean;
    int networks = 0;
    *own = (struct fc_bulk){.cases = fc_alloc(arena, bulk->n_cases + 1, sizeof *own->cases, st)};
    for (uint32_t i = 0; own->cases && i < bulk->n_cases; i++) {
        bool seen = false;
        if (strcmp(bulk->cases[i].kind, kind)) continue;
        for (uint32_t k = 0; k < own->n_cases; k++) seen |= !strcmp(own->cases[k].network, bulk->cases[i].network);
        networks += !seen;
        own->cases[own->n_cases++] = bulk->cases[i];
    }
    if (st->code || own->n_cases < LEAST_ALONE || networks < LEAST_NETWORKS) return false;
    fit_trend(own);
    if (fc_bulk_open(own, &kriging, &mean, st)) return false;
    own->shape = *fc_kriging_shape_of(kriging);
    fc_kriging_close(kriging);
    return !leave_networks_out(own, arena, st);
}

/* net NULL: a network that was not run. */
static enum fc_code process_ratio(const struct fc_bulk *bulk, const struct fc_network *net, const char *kind,
                                  const struct fc_bulk_point *point, struct fc_bulk_answer *answer,
                                  struct fc_status *st)
{
    struct fc_kriging *kriging;
    double mean, value, deviation;
    bool known = false;
    *answer = (struct fc_bulk_answer){.ratio = 1, .error_percent = NAN};
    for (uint32_t i = 0; i < bulk->n_cases; i++) known = known || !strcmp(bulk->cases[i].kind, kind);
    if (fc_bulk_open(bulk, &kriging, &mean, st)) return st->code;
    struct fc_kriging_point at = {.kind = known ? kind : "", .group = net ? group_of(bulk, net) : FC_KRIGING_NO_GROUP};
    fc_bulk_features(point, at.x);
    fc_kriging_at(kriging, &at, &value, &deviation);
    value += missed(bulk, kriging, mean, &at);
    fc_kriging_close(kriging);
    answer->ratio = exp(trend(bulk, at.x) + mean + value);
    answer->error_percent =
        fmax(LEAST_ERROR_PERCENT, fmax(measured_percent(bulk, known ? kind : "", point), 100 * expm1(deviation)));
    check_hull(bulk, known ? kind : "", point, answer);
    if (answer->extrapolated) answer->error_percent *= 2;
    return FC_OK;
}

/* All-to-all by its own process where there are enough cases: what it loses to unequal dimensions no other kind shows. */
static enum fc_code ratio_of(const struct fc_bulk *bulk, const struct fc_network *net, const char *kind,
                             const struct fc_bulk_point *point, struct fc_bulk_answer *answer, struct fc_status *st)
{
    struct fc_arena arena = {0};
    struct fc_bulk own;
    bool is_own = !strcmp(kind, "alltoall") && alone(bulk, kind, &arena, &own, st);
    if (!st->code) process_ratio(is_own ? &own : bulk, net, kind, point, answer, st);
    fc_arena_free(&arena);
    return st->code;
}

/* ---- relatives ---- */

bool fc_bulk_tells(const struct fc_bulk *bulk)
{
    return bulk && (bulk->n_cases > 0 || bulk->n_relatives > 0);
}

/* Mean of the relatives' log ratios, less of it the farther the nearest is, and the root of the weighted squares of what each errs by, of how they differ, and of
 * what distance adds. */
static enum fc_code family_ratio(const struct fc_bulk *bulk, const struct fc_network *net, const char *kind,
                                 const struct fc_bulk_point *point, struct fc_bulk_answer *answer, struct fc_status *st)
{
    double mean = 0, second = 0, own = 0, least = INFINITY;
    for (uint32_t i = 0; i < bulk->n_relatives; i++) {
        const struct fc_bulk_relative *r = &bulk->relatives[i];
        struct fc_bulk_answer one;
        if (ratio_of(r->bulk, r->distance > 0 ? NULL : net, kind, point, &one, st)) return st->code;
        if (one.extrapolated && r->distance > 0) one.error_percent /= 2; /* what is far is wider by distance */
        double log_ratio = log(one.ratio), error = log1p(one.error_percent / 100);
        mean += r->weight * log_ratio;
        second += r->weight * log_ratio * log_ratio;
        own += r->weight * error * error;
        if (r->distance < least) {
            least = r->distance;
            answer->extrapolated = one.extrapolated;
            memcpy(answer->why, one.why, sizeof one.why);
        }
    }
    answer->ratio = exp(mean * fc_family_fade(least));
    answer->error_percent = fc_family_percent(sqrt(own + fmax(0, second - mean * mean)), least);
    return FC_OK;
}

enum fc_code fc_bulk_ratio(const struct fc_bulk *bulk, const struct fc_network *net, const char *kind,
                           const struct fc_bulk_point *point, struct fc_bulk_answer *answer, struct fc_status *st)
{
    *answer = (struct fc_bulk_answer){.ratio = 1, .error_percent = NAN};
    return bulk->n_relatives ? family_ratio(bulk, net, kind, point, answer, st)
                             : ratio_of(bulk, net, kind, point, answer, st);
}
