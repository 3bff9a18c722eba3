/* replay_error.c - the error of a replay's time against the kernel, from jobs that were replayed both ways.
 *
 * A model of the network knows how a message moves alone, and among others that go the same way. What it does not know is how packets
 * get on that go different ways: b, of the time, the transit in the critical path times the part of a link that messages between other
 * nodes have there (fc_arrival); but only where that makes them wait: w, the part of the time that is longer than without contention.
 * And in which order short messages go that share a way: w / p, p packets of each. Together
 *
 *     x = ALONE + w b + SHORT w / p
 *
 * is how uncertain a replay is. With T the model's time and T_k the kernel's, the cases of a calibration give
 *
 *     e_i = (T_k,i / T_i - 1) / x_i
 *
 * and a replay is stated with the error x q, q the |e| that covers the part `covered` c of the cases:
 * between the two nearest to the c (k + 1)-th smallest of k (split conformal prediction, Vovk,
 * Gammerman & Shafer 2005: if the job at hand is a draw from those that were run, it covers with a probability
 * of c). c is 0.85, as the jobs that are run are harder than most: of o.. 90 % are covered then; with it ALONE was chosen, on o.., too. The form
 * and SHORT are near those of the least mean of 0.87 max(d, 0) + 0.13 max(-d, 0), d = log(|error| + 0.5 %) -
 * log(stated + 0.5 %), over the jobs of 15 shipped calibrations and those of tests/validate_phases.c on shipped machines and o.., among
 * forms whose stated errors are small in the median (docs/notes/calibration.md).
 *
 * Under queueing, which lets short messages pass each other and so sees little of b, and where the machine's calibration, or those
 * of all its relatives, were made before b was known (a single relative's that was is passed over), x = s + HIDDEN, s the greater of two
 * shares of the time: links and latency in the critical path, and the busiest link's busy time. Then only the nearest third of all cases
 * count, at least LEAST_LIKE, by s, waiting / s and packets^-1/2 (bulk_point.c has the reason).
 *
 * Never less than 1 %. On a network that was not run the error is
 * `unknown` times as large: the factor, at least 1, that would have covered as many of all jobs, each network left out in turn.
 *
 * Without own cases, or with few (FC_ENOUGH_REPLAYS), those of relatives are among the cases, each with a weight, so that machines
 * of one kind of router count like one; counts above are then sums of weights, and c is 0.9 (chosen on o..: 90 %): the
 * machine at hand is no draw from those that are shipped, many of which are large and have jobs that are hit almost
 * exactly. An error from
 * relatives alone is wider with the distance d of the nearest's router (family_distance.c): exp(sqrt(log(1 + error)^2 + (SLOPE x d)^2)) - 1, x at most 1. SLOPE was
 * chosen with s + HIDDEN for x; with x it covers 90 of 100 of the shipped calibrations' jobs, each kind of router left out
 * (tests/validate_family.c).
 *
 * Limits: the error is one of the model against the kernel, not against a machine. It is one of the kinds of
 * jobs that were run (calibration_jobs.c), on networks about as large: outside of their packets a message and
 * hops the error is OUTSIDE times as large and flagged. Contention and queueing only, without other traffic. */
#include "solvers/calibration/replay_error.h"
#include "core/values.h"
#include "solvers/calibration/family_distance.h"

#include <stdlib.h>
#include <string.h>

/* The part c of the cases that count: with own ones alone, and with those of relatives. */
static const struct {
    double own, others;
} covered[] = {{0.85, 0.9}, {0.9, 0.94}}; /* with b; without (`old`) */
#define LEAST_ERROR_PERCENT 1.0
#define ALONE 0.01  /* of a message that meets nobody */
#define SHORT 0.5   /* of the order of packets, where a message has one */
#define HIDDEN 0.05 /* of the network beside the critical path */
#define SLOPE 0.03  /* of a unit of distance, of the network's part */
#define OUTSIDE 1.2 /* an error outside of what was run, over that inside */
#define MARGIN 0.1  /* of packets^-1/2 and, relative, of 1 / hops */
#define ROUNDING 1e-9
enum { LEAST_LIKE = 19, FEWEST = 9 }; /* cases that are enough to be like; that say anything */

void fc_replay_locate(const struct fc_network *net, const struct fc_replay *replay, struct fc_replay_point *point)
{
    const struct fc_machine *m = net->machine;
    const struct fc_prediction *p = &replay->prediction;
    double payload = m->packet.max_bytes > 0 ? m->packet.max_bytes - m->packet.header_bytes : m->router.flit_bytes;
    double time_s = p->time_s > 0 ? p->time_s : 1, messages = (double)replay->n_network_messages, hop_bytes = 0;
    double path_s = replay->path_link_s + replay->path_latency_s, busiest_s = 0;
    for (uint32_t l = 0; l < net->n_links; l++) busiest_s = fmax(busiest_s, replay->link_busy_s[l]);
    for (uint32_t l = 0; l < net->first_link[net->n_routers]; l++)
        if (!fc_is_node(net, net->link_target[l])) hop_bytes += replay->link_bytes[l];
    *point = (struct fc_replay_point){.share = fmin(1, fmax(path_s, busiest_s) / time_s),
                                      .waiting = fmin(1, fmax(0, p->time_s - replay->alone_s) / time_s),
                                      .packets = messages > 0 ? fmax(1, p->network_bytes / messages / payload) : 1,
                                      .hops = p->network_bytes > 0 ? hop_bytes / p->network_bytes : 0,
                                      .interference = fmin(1, replay->path_interference_s / time_s)};
}

/* ---- what is alike ---- */

/* x of the above. `old`: without b. */
static double uncertain(const struct fc_replay_point *p, bool old)
{
    return old ? HIDDEN + p->share : ALONE + p->waiting * (p->interference + SHORT / fmax(1, p->packets));
}

enum { FEATURES = 3 };
static void features(const struct fc_replay_point *p, double x[FEATURES])
{
    x[0] = p->share;
    x[1] = p->share > 0 ? fmin(1, p->waiting / p->share) : 0;
    x[2] = 1 / sqrt(fmax(1, p->packets));
}

/* Of the cases that count under the model, how many have b, or have it not. */
static uint32_t count(const struct fc_replays *replays, int model, bool with)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < replays->n_cases; i++)
        n += replays->cases[i].ratio[model] > 0 && isnan(replays->cases[i].at[model].interference) != with;
    return n;
}
/* Whether b is not known of the replay, of a case of its own calibration, or of any relative's. */
static bool is_old(const struct fc_replays *replays, int model, const struct fc_replay_point *point)
{
    uint32_t with = 0, without = 0;
    for (uint32_t i = 0; i < replays->n_relatives; i++) {
        with += count(replays->relatives[i].replays, model, true);
        without += count(replays->relatives[i].replays, model, false);
    }
    return isnan(point->interference) || count(replays, model, false) > 0 || (without > 0 && with == 0);
}

struct like {
    double distance, error, weight; /* error: |e| */
};
static int by_distance(const void *a, const void *b)
{
    const struct like *x = a, *y = b;
    if (x->distance != y->distance) return x->distance < y->distance ? -1 : 1;
    return (x->error < y->error) - (x->error > y->error); /* of equally near ones the worse counts */
}
static int by_error(const void *a, const void *b)
{
    double x = ((const struct like *)a)->error, y = ((const struct like *)b)->error;
    return (x > y) - (x < y);
}

/* Appends the cases to like[n], each with the weight; their number then. */
static uint32_t collect(const struct fc_replays *replays, int model, const struct fc_replay_point *point, bool old,
                        const char *without, uint32_t without_case, double weight, struct like *like, uint32_t n)
{
    double at[FEATURES], x[FEATURES];
    if (old) features(point, at);
    for (uint32_t i = 0; i < replays->n_cases && i < FC_MOST_REPLAYS; i++) {
        const struct fc_replay_case *c = &replays->cases[i];
        if (!(c->ratio[model] > 0) || i == without_case || (without && !strcmp(c->network, without))) continue;
        if (!old && isnan(c->at[model].interference)) continue; /* of a relative */
        like[n] = (struct like){0, fabs(c->ratio[model] - 1) / uncertain(&c->at[model], old), weight};
        if (old) features(&c->at[model], x);
        for (int f = 0; old && f < FEATURES; f++) like[n].distance += (x[f] - at[f]) * (x[f] - at[f]);
        n++;
    }
    return n;
}

/* q of like[n], or of the nearest third, which is sorted; NaN where too few are left. It covers `part` of them, or where that is more
 * than there are, all. */
static double quantile(struct like *like, uint32_t n, bool nearest, double part)
{
    double all = 0, near = 0, so_far = 0, least = 0;
    uint32_t k = 0;
    for (uint32_t i = 0; i < n; i++) all += like[i].weight;
    qsort(like, n, sizeof *like, by_distance);
    while (k < n && near < (nearest ? fmax(LEAST_LIKE, floor(all / 3)) : all) - ROUNDING) near += like[k++].weight;
    if (near < FEWEST - ROUNDING) return NAN;
    if (near >= covered[nearest].own * (near + 1) - ROUNDING) part = fmin(part, near / (near + 1));
    qsort(like, k, sizeof *like, by_error);
    for (uint32_t i = 0; i < k; i++) {
        double lacks = part * (near + 1) - so_far;
        if (lacks <= like[i].weight + ROUNDING)
            return least + (like[i].error - least) * fmin(1, lacks / like[i].weight);
        so_far += like[i].weight;
        least = like[i].error;
    }
    return NAN;
}

/* ---- hull ---- */

/* The most hops of the cases times the last step in size (bulk.c). */
static double most_hops(const struct fc_replays *replays, int model)
{
    double most = 0, next = 0;
    for (uint32_t i = 0; i < replays->n_cases; i++) most = fmax(most, replays->cases[i].at[model].hops);
    for (uint32_t i = 0; i < replays->n_cases; i++)
        if (replays->cases[i].at[model].hops < most * 0.99) next = fmax(next, replays->cases[i].at[model].hops);
    return next >= 1 ? most * most / next : most;
}

/* Whether no set of jobs has one like it: `why` says so. */
static bool outside(const struct fc_replays *replays, int model, const struct fc_replay_point *point, char *why,
                    size_t size)
{
    double longest = 0, hops = most_hops(replays, model);
    for (uint32_t i = 0; i < replays->n_cases; i++)
        if (replays->cases[i].ratio[model] > 0) longest = fmax(longest, replays->cases[i].at[model].packets);
    bool longer = 1 / sqrt(fmax(1, longest)) - MARGIN > 1 / sqrt(point->packets);
    bool further = point->hops > (1 + MARGIN) * hops;
    if (longer)
        snprintf(why, size, "%.4g packets a message: no such job was replayed", point->packets);
    else if (further)
        snprintf(why, size, "mean hops %.4g: no such job was replayed", point->hops);
    return longer || further;
}

static void check_hull(const struct fc_replays *replays, int model, const struct fc_replay_point *point,
                       struct fc_replay_answer *answer)
{
    bool out = replays->n_cases == 0 || outside(replays, model, point, answer->why, sizeof answer->why);
    for (uint32_t i = 0; out && i < replays->n_relatives; i++)
        out = outside(replays->relatives[i].replays, model, point, answer->why, sizeof answer->why);
    answer->extrapolated = out;
    if (!out) answer->why[0] = '\0';
}

/* ---- answers ---- */

/* Its own cases, and those of relatives as if they were its own, less sure with the distance of the nearest. */
void fc_replay_error(const struct fc_replays *replays, int model, const struct fc_replay_point *point,
                     const char *without, uint32_t without_case, struct fc_replay_answer *answer)
{
    double distance = replays->n_cases ? 0 : INFINITY;
    struct like *like = malloc(((size_t)replays->n_relatives + 1) * FC_MOST_REPLAYS * sizeof *like);
    *answer = (struct fc_replay_answer){.error_percent = NAN};
    if (!like) {
        snprintf(answer->why, sizeof answer->why, "out of memory");
        return;
    }
    bool old = is_old(replays, model, point);
    uint32_t n = collect(replays, model, point, old, without, without_case, 1, like, 0);
    for (uint32_t i = 0; i < replays->n_relatives; i++) {
        const struct fc_replays_relative *r = &replays->relatives[i];
        uint32_t before = n;
        n = collect(r->replays, model, point, old, NULL, FC_NONE, r->weight, like, n);
        if (n > before) distance = fmin(distance, r->distance);
    }
    double q = quantile(like, n, old, replays->n_relatives ? covered[old].others : covered[old].own);
    free(like);
    if (isnan(q)) {
        snprintf(answer->why, sizeof answer->why, "too few jobs were replayed by the calibration%s",
                 replays->n_cases ? "" : "s of its family");
        return;
    }
    check_hull(replays, model, point, answer);
    double x = uncertain(point, old), far = SLOPE * distance * fmin(1, x), error = log1p(q * x);
    answer->error_percent =
        fmax(LEAST_ERROR_PERCENT, 100 * expm1(hypot(error, far)) * (answer->extrapolated ? OUTSIDE : 1));
}

/* |error| over what the others state, of the jobs of a network (NULL: of all, each left out), into ratio[]. */
static uint32_t left_out(const struct fc_replays *replays, int model, const char *network, double *ratio)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < replays->n_cases; i++) {
        const struct fc_replay_case *c = &replays->cases[i];
        struct fc_replay_answer answer;
        if (!(c->ratio[model] > 0) || (network && strcmp(c->network, network))) continue;
        fc_replay_error(replays, model, &c->at[model], network, network ? FC_NONE : i, &answer);
        if (!isnan(answer.error_percent)) ratio[n++] = 100 * fabs(c->ratio[model] - 1) / answer.error_percent;
    }
    return n;
}

void fc_replays_cover(struct fc_replays *replays)
{
    double ratio[FC_MOST_REPLAYS];
    bool several = false;
    for (uint32_t i = 1; i < replays->n_cases; i++)
        several = several || strcmp(replays->cases[i].network, replays->cases[0].network);
    for (int m = 0; m < FC_MEASURED; m++) {
        uint32_t n = 0, held = 0;
        for (uint32_t i = 0; i < replays->n_cases; i++) {
            uint32_t first = 0;
            while (several && strcmp(replays->cases[first].network, replays->cases[i].network)) first++;
            if (first != i && (several || i > 0)) continue; /* each network once */
            n += left_out(replays, m, several ? replays->cases[i].network : NULL, ratio + n);
        }
        qsort(ratio, n, sizeof *ratio, fc_by_real);
        while (held < n && ratio[held] <= 1) held++;
        uint32_t rank = (uint32_t)ceil(covered[m == FC_MEASURED_QUEUEING].own * (n + 1));
        replays->covered_percent[m] = n ? 100.0 * held / n : (double)NAN;
        replays->unknown[m] = n && several ? fmax(1, ratio[(rank < n ? rank : n) - 1]) : (double)NAN;
    }
}

/* Whether the network is one of those that were run; else its factor, or doubled and flagged where there is none. Relatives never
 * ran it, and their cases are of many networks. */
static void check_network(const struct fc_network *net, const struct fc_replays *replays, int model,
                          struct fc_replay_answer *answer)
{
    char shape[512];
    fc_machine_shape(net->machine, shape, sizeof shape);
    for (uint32_t i = 0; i < replays->n_cases; i++)
        if (!strcmp(replays->cases[i].network, shape)) return;
    if (!isnan(replays->unknown[model])) {
        answer->error_percent *= replays->unknown[model];
        return;
    }
    if (!answer->extrapolated) answer->error_percent *= 2;
    answer->extrapolated = true;
    if (!answer->why[0]) snprintf(answer->why, sizeof answer->why, "jobs were replayed on one other network only");
}

void fc_replay_state_error(const struct fc_network *net, const struct fc_replays *replays,
                           const struct fc_replay_settings *settings, bool beside, struct fc_replay *replay)
{
    struct fc_prediction *p = &replay->prediction;
    struct fc_replay_point point;
    struct fc_replay_answer answer;
    if (settings->network != FC_NET_CONTENTION && settings->network != FC_NET_QUEUEING) return;
    p->error_percent = NAN;
    p->extrapolated = false;
    if (beside || settings->background_bytes_per_s) {
        snprintf(p->why, sizeof p->why, "replays beside other traffic are not compared with the kernel");
        return;
    }
    if (!replays || (replays->n_cases == 0 && replays->n_relatives == 0)) {
        snprintf(p->why, sizeof p->why, "%s",
                 replays                 ? "the calibration has no replays (`fabricast calibrate --replays` adds them)"
                 : net->machine->damaged ? "no calibration is of what is left of a machine"
                                         : "no calibration of this machine (`fabricast calibrate` makes one)");
        return;
    }
    enum fc_error_against against = replays->n_cases ? FC_AGAINST_KERNEL : FC_AGAINST_FAMILY;
    if (replay->n_network_messages == 0) {
        snprintf(p->why, sizeof p->why, "no message crosses the network");
        p->error_percent = 0;
        p->error_against = against;
        return;
    }
    fc_replay_locate(net, replay, &point);
    int model = settings->network == FC_NET_QUEUEING ? FC_MEASURED_QUEUEING : FC_MEASURED_CONTENTION;
    fc_replay_error(replays, model, &point, NULL, FC_NONE, &answer);
    if (!replays->n_relatives && !isnan(answer.error_percent)) check_network(net, replays, model, &answer);
    p->extrapolated = answer.extrapolated;
    snprintf(p->why, sizeof p->why, "%s", answer.why);
    fc_prediction_error(p, answer.error_percent, against);
}
