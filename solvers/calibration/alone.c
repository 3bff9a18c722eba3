/* alone.c - traffic in which nobody meets: saturation and latency, with a short run of the kernel.
 *
 * Where heads have one way and every link carries what one source offers, flows share nothing: each is limited by its slowest link. A
 * short run, in which sources always have a packet waiting, tells after how many cycles, S_i, the packets of each follow one another.
 * With lambda packets a cycle from each source, drawn anew every cycle, the wait there is that of a discrete queue with arrivals by
 * Bernoulli (Meisling, Operations Research 6, 1958; Geo/G/1):
 *
 *     T = T_0 + mean over i of  lambda E[S_i (S_i - 1)] / (2 (1 - lambda S_i)),    saturation: lambda = 1 / max S_i,
 *
 * with T_0 the latency at zero load, and S_i varying as packet lengths do.
 * Limits: networks of up to MOST_NODES nodes; one route from node to node, one link into it; patterns, in which all sources offer the
 * same. Where credits come back too late to keep the slowest link busy (LATE), several packets are served at a time, which this queue is
 * not; and where virtual channels are given out in a stage of their own, packets of one source share its links flit by flit, which takes
 * up to 16 % longer at 60 %: no answer to either. Cost: WARM + MEASURED packets a source. */
#include "solvers/calibration/alone.h"

#include <math.h>

enum { MOST_NODES = 512 };
#define WARM 16.0 /* packets a source */
#define MEASURED 64.0
#define SAME 1e-6
#define LATE 1.02 /* of the slowest link's time, either way */

/* Whether no two flows share a link, and all sources offer the same: heads have one way, and each link carries what one source
 * offers. */
static bool nobody_meets(const struct fc_turns *t)
{
    double offers = 0;
    if (t->n_rungs) return false;
    for (uint32_t s = 0; s < t->n_states; s++) {
        uint32_t way = FC_NONE;
        for (uint32_t c = t->first_choice[s]; c < t->first_choice[s + 1]; c++) {
            if (!(t->choice_rate[c] > 0)) continue;
            if (way != FC_NONE && t->choice_link[c] != way) return false;
            way = t->choice_link[c];
        }
    }
    for (uint32_t l = 0; l < t->n_links; l++) {
        if (!(t->rate[l] > 0)) continue;
        if (offers > 0 && fabs(t->rate[l] - offers) > SAME * offers) return false;
        offers = t->rate[l];
    }
    return offers > 0;
}

/* What arrived at the nodes in a run, as services: what left the sources fills buffers first. False: not what was expected of the
 * traffic. */
static bool take_services(const struct fc_turns *t, const struct fc_flit_result *r, struct fc_alone *a)
{
    const struct fc_network *net = t->net;
    for (uint32_t l = 0; l < net->n_links; l++) {
        if (!fc_is_node(net, net->link_target[l]) || !(r->link_utilization[l] > 0)) continue;
        double *into = &a->service_cycles[net->link_target[l] - net->n_routers];
        uint32_t set = t->orbit ? t->orbit[l] : l;
        if (*into > 0) return false; /* by two links */
        *into = t->service[set] / r->link_utilization[l];
        a->spread = t->service2[set] / (t->service[set] * t->service[set]);
        a->longest_cycles = fmax(a->longest_cycles, *into);
    }
    for (uint32_t node = 0; node < net->n_nodes; node++)
        if (a->service_cycles[node] > 0) a->service_cycles[a->n++] = a->service_cycles[node];
    double slowest = 0;
    for (uint32_t l = 0; l < t->n_links; l++)
        if (t->rate[l] > 0) slowest = fmax(slowest, t->service[l]);
    return a->n > 0 && a->longest_cycles <= LATE * slowest && a->longest_cycles * LATE >= slowest;
}

/* A name that is no pattern, and what the kernel refuses, are answered without it. */
enum fc_code fc_alone_find(const struct fc_turns *t, const char *pattern, const struct fc_flit_settings *settings,
                           struct fc_arena *arena, struct fc_alone *a, struct fc_status *st)
{
    struct fc_status why = {0};
    struct fc_demand demand;
    struct fc_flit_settings run;
    struct fc_flit_result result;
    *a = (struct fc_alone){.turns = t};
    if (t->net->n_nodes > MOST_NODES || !t->safe || t->stage > 0 || settings->background ||
        settings->high_priority_share > 0)
        return FC_OK;
    if (!nobody_meets(t)) return FC_OK;
    a->service_cycles = fc_alloc(arena, t->net->n_nodes, sizeof *a->service_cycles, st);
    if (!a->service_cycles || fc_demand_from_pattern(t->net, pattern, settings->seed, &demand, &why)) return st->code;
    double packet_cycles = t->max_service_rate * t->net->n_nodes / t->packets;
    demand.open_loop = true;
    fc_flit_defaults(&run);
    run.backlog = true;
    run.packet_flits_min = settings->packet_flits_min;
    run.packet_flits_max = settings->packet_flits_max;
    run.vc_rule = settings->vc_rule;
    run.seed = settings->seed;
    run.warmup_cycles = (uint64_t)(2 * t->zero_load_cycles + WARM * packet_cycles);
    run.measure_cycles = (uint64_t)(MEASURED * packet_cycles);
    if (!fc_flit_run(t->net, &demand, NULL, &run, &result, &why)) {
        a->holds = !result.deadlock && take_services(t, &result, a);
        fc_flit_free(&result);
    }
    fc_demand_free(&demand);
    return st->code;
}

double fc_alone_saturation(const struct fc_alone *a)
{
    return a->n / (a->turns->packets * a->longest_cycles);
}

double fc_alone_latency(const struct fc_alone *a, double load_flits_per_cycle)
{
    double rate = load_flits_per_cycle * a->turns->packets / a->n, wait = 0;
    for (uint32_t i = 0; i < a->n; i++) {
        double s = a->service_cycles[i];
        wait += rate * s * fmax(0, a->spread * s - 1) / (2 * (1 - rate * s));
    }
    return a->turns->zero_load_cycles + wait / a->n;
}
