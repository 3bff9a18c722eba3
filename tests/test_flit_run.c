/* test_flit_run.c - run control of the flit-level kernel: statistics on data with known answers, and runs
 * with an engine of the test's own, in which every node is a Geo/D/1 queue whose waiting time is a closed
 * form. That engine can also be told to lose packets, to stand still, and to lose credits. */
#include "solvers/flit/run.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the engine ------------------------------------------------------------------------------------------
 */

/* A node serves its packets one by one, service_ticks each, in order of birth; nothing else is in the way.
 * Which fault it has is chosen by its record of functions. */
struct fake_node {
    struct fc_flit_source source;
    uint64_t free_at, started;
    uint64_t born, finish; /* of the packet in service */
    uint32_t flits;
    bool busy;
};
struct fake {
    const struct fc_flit_net *flit;
    const struct fc_flit_traffic *traffic;
    struct fc_flit_counts *counts;
    uint64_t *link_flits, *link_packets;
    uint32_t *injected;
    int threads;
    uint64_t now, last_move;
    struct fake_node node[];
};
enum { SERVICE = 10, STOP_TICK = 5000 };
enum fault { SOUND, LOSES_FLITS, LOSES_PACKETS, STANDS_STILL, KEEPS_CREDITS, ENDS_EARLY };

static bool fake_takes(const struct fc_flit_net *flit, char *why, size_t size)
{
    (void)flit, (void)why, (void)size;
    return true;
}

static enum fc_code fake_open(const struct fc_flit_net *flit, const struct fc_flit_traffic *traffic,
                              int threads, uint64_t seed, struct fc_flit_counts *counts, uint64_t *link_flits,
                              uint64_t *link_packets, uint32_t *injected, void **engine, struct fc_status *st)
{
    (void)seed;
    struct fake *e = calloc(1, sizeof *e + flit->n_nodes * sizeof e->node[0]);
    if (!e) return fc_refuse(st, FC_NO, "out of memory");
    e->flit = flit, e->traffic = traffic, e->counts = counts, e->threads = threads;
    e->link_flits = link_flits, e->link_packets = link_packets, e->injected = injected;
    for (uint32_t v = 0; v < flit->n_nodes; v++) fc_flit_first(traffic, v, &e->node[v].source);
    *engine = e;
    return FC_OK;
}

static void fake_start(struct fake *e, uint32_t v, uint64_t start, uint64_t service)
{
    struct fake_node *n = &e->node[v];
    struct fc_flit_counts *c = &e->counts[v % (uint32_t)e->threads];
    uint32_t link = e->flit->net->first_link[fc_node_vertex(e->flit->net, v)];
    *n = (struct fake_node){.source = n->source,
                            .started = start,
                            .born = n->source.born,
                            .finish = start + service,
                            .free_at = start + service,
                            .flits = n->source.flits,
                            .busy = true};
    c->packets_injected++;
    c->flits_injected += n->flits;
    if (n->born >= c->measure_from && n->born < c->measure_to) c->measured_started++;
    if (start >= c->measure_from && start < c->measure_to) {
        e->link_flits[link] += n->flits;
        e->link_packets[link]++;
        e->injected[v]++;
    }
    if (start > e->last_move) e->last_move = start;
    fc_flit_next(e->traffic, v, &n->source);
}

static enum fc_code fake_advance(void *engine, uint64_t until, struct fc_flit_state *state, enum fault fault)
{
    struct fake *e = engine;
    *state = (struct fc_flit_state){.exhausted = true};
    for (uint32_t v = 0; v < e->flit->n_nodes; v++) {
        struct fake_node *n = &e->node[v];
        struct fc_flit_counts *c = &e->counts[v % (uint32_t)e->threads];
        for (;;) {
            if (n->busy) {
                if (n->finish >= until) break;
                uint32_t lost = fault == LOSES_FLITS && n->finish > STOP_TICK;
                fc_flit_count_flits(c, n->finish, n->flits - lost);
                if (fault != LOSES_PACKETS || n->finish <= STOP_TICK)
                    fc_flit_count_delivery(c, n->born, n->started, n->finish, 3, n->flits);
                if (n->finish > e->last_move) e->last_move = n->finish;
                n->busy = false;
            } else {
                uint64_t start = n->source.born > n->free_at ? n->source.born : n->free_at;
                if (n->source.born == UINT64_MAX || start >= until) break;
                fake_start(e, v, start,
                           fault == STANDS_STILL && start > STOP_TICK ? UINT64_MAX / 4 : SERVICE);
            }
        }
        if (fault == ENDS_EARLY && n->source.number > 3) n->source.born = UINT64_MAX;
        state->packets_in_flight += n->busy;
        state->flits_in_flight += n->busy ? n->flits : 0;
        state->sources_waiting += n->source.born < c->measure_to;
        state->exhausted = state->exhausted && !n->busy && n->source.born == UINT64_MAX;
    }
    e->now = state->now = until;
    state->last_move = e->last_move;
    return FC_OK;
}

#define ADVANCE(name, fault)                                                                                 \
    static enum fc_code name(void *engine, uint64_t until, struct fc_flit_state *state,                      \
                             struct fc_status *st)                                                           \
    {                                                                                                        \
        (void)st;                                                                                            \
        return fake_advance(engine, until, state, fault);                                                    \
    }
ADVANCE(advance_sound, SOUND)
ADVANCE(advance_losing_flits, LOSES_FLITS)
ADVANCE(advance_losing_packets, LOSES_PACKETS)
ADVANCE(advance_standing_still, STANDS_STILL)
ADVANCE(advance_ending_early, ENDS_EARLY)

static enum fc_code fake_blocked(void *engine, struct fc_arena *arena, struct fc_flit_blocked **blocked,
                                 uint32_t *n, uint32_t **wanted, struct fc_status *st)
{
    (void)engine;
    *n = 0;
    *blocked = fc_alloc(arena, 1, sizeof **blocked, st);
    *wanted = fc_alloc(arena, 1, sizeof **wanted, st);
    return st->code;
}

static bool all_credits(const void *engine)
{
    (void)engine;
    return true;
}

static bool no_credits(const void *engine)
{
    (void)engine;
    return false;
}

static struct fc_flit_engine_ops fake_engine(enum fault fault)
{
    return (struct fc_flit_engine_ops){.name = "fake",
                                       .takes = fake_takes,
                                       .open = fake_open,
                                       .advance = fault == LOSES_FLITS     ? advance_losing_flits
                                                  : fault == LOSES_PACKETS ? advance_losing_packets
                                                  : fault == STANDS_STILL  ? advance_standing_still
                                                  : fault == ENDS_EARLY    ? advance_ending_early
                                                                           : advance_sound,
                                       .blocked = fake_blocked,
                                       .credits_full = fault == KEEPS_CREDITS ? no_credits : all_credits,
                                       .close = free};
}

/* ---- a run -----------------------------------------------------------------------------------------------
 */

static const char machine_text[] = "name: t\nclock: 1 GHz\nnetwork: {family: torus, dims: [4, 4]}\n"
                                   "links: {torus: {bandwidth: 8 GB/s, latency: 1 ns}}\n"
                                   "router: {flit: 8 B, buffer: 1 KiB}\npacket: {max: 16 B, header: 8 B}\n";

/* 16 nodes, packets of 2 flits; 2 ticks a cycle, so that a service takes 5 cycles. */
struct set {
    struct fc_machine machine;
    struct fc_network net;
    struct fc_flit_net flit;
    struct fc_flit_settings settings;
    struct fc_demand demand;
    struct fc_flit_result result;
    struct fc_status st;
};

static bool open_set(struct set *s, bool open_loop)
{
    memset(s, 0, sizeof *s);
    if (!fc_test_network(machine_text, &s->machine, &s->net)) return false;
    s->flit = (struct fc_flit_net){.net = &s->net,
                                   .n_routers = s->net.n_routers,
                                   .n_nodes = s->net.n_nodes,
                                   .n_links = s->net.n_links,
                                   .n_vcs = 2, .n_network_vcs = 2,
                                   .vc_rule = "dateline",
                                   .cycle_s = 1e-9,
                                   .ticks_per_cycle = 2,
                                   .flit_ticks = {2, 0},
                                   .trailer_ticks = {1, 0},
                                   .latency_ticks = {2, 0},
                                   .router_ticks = 4,
                                   .packet_flits_max = 2};
    fc_flit_defaults(&s->settings);
    struct fc_dense *part = &s->demand.dense[0];
    s->demand.name = "test";
    s->demand.n_tasks = s->net.n_nodes;
    s->demand.n_dense = 1;
    s->demand.open_loop = open_loop;
    part->a = fc_alloc(&s->demand.arena, s->demand.n_tasks, sizeof(double), &s->st);
    part->b = fc_alloc(&s->demand.arena, s->demand.n_tasks, sizeof(double), &s->st);
    part->message_bytes = 80;
    for (uint32_t t = 0; t < s->demand.n_tasks; t++) part->a[t] = 80, part->b[t] = 1;
    return true;
}

static enum fc_code run(struct set *s, enum fault fault)
{
    struct fc_flit_traffic *traffic;
    struct fc_flit_engine_ops ops = fake_engine(fault);
    fc_flit_free(&s->result);
    memset(&s->st, 0, sizeof s->st);
    if (fc_flit_traffic_make(&s->flit, &s->demand, NULL, &s->settings, &traffic, &s->st)) return s->st.code;
    fc_flit_run_engine(&s->flit, traffic, &ops, &s->settings, &s->result, &s->st);
    fc_flit_traffic_free(traffic);
    return s->st.code;
}

static void close_set(struct set *s)
{
    fc_flit_free(&s->result);
    fc_demand_free(&s->demand);
    fc_test_close(&s->machine, &s->net);
}

/* Mean latency of the queue in cycles: births every cycle with probability p, service D = 5 cycles: D + p D
 * (D-1) / (2 (1 - p D)) (discrete-time Geo/D/1). */
static double geo_d_1(double load)
{
    double p = load / 2, d = 5;
    return d + p * d * (d - 1) / (2 * (1 - p * d));
}

static void queue_closed_form(void)
{
    struct set s;
    if (!open_set(&s, true)) return;
    static const double loads[] = {0.02, 0.1, 0.2, 0.3, 0.36};
    for (size_t i = 0; i < FC_COUNT(loads); i++) {
        s.settings.load_flits_per_cycle = loads[i];
        CU_ASSERT_EQUAL(run(&s, SOUND), FC_OK);
        const struct fc_flit_result *r = &s.result;
        double exact = geo_d_1(loads[i]);
        CU_ASSERT(r->stable && r->complete && !r->deadlock);
        CU_ASSERT(fabs(r->latency_mean_cycles - exact) <= 2.5 * r->latency_half_width_cycles);
        CU_ASSERT(r->latency_half_width_cycles < (loads[i] < 0.35 ? 0.012 : 0.03) * exact);
        CU_ASSERT(r->measured_packets > 15000);
        CU_ASSERT_EQUAL(r->network_latency_mean_cycles, 5);
        CU_ASSERT_EQUAL(r->hops_mean, 3);
        CU_ASSERT_EQUAL(r->offered_flits_per_node_cycle, loads[i]);
        CU_ASSERT(fc_near(r->accepted_flits_per_node_cycle, loads[i], 0.03));
        CU_ASSERT_EQUAL(r->packets_injected, r->packets_delivered + r->packets_in_flight);
        CU_ASSERT_EQUAL(r->flits_injected, r->flits_delivered + r->flits_in_flight);
        CU_ASSERT_EQUAL(r->flits_injected, 2 * r->packets_injected);
        CU_ASSERT(r->latency_p50_cycles <= r->latency_p95_cycles &&
                  r->latency_p95_cycles <= r->latency_p99_cycles);
        CU_ASSERT(r->latency_p50_cycles >= 5 && r->latency_p99_cycles <= r->latency_max_cycles);
        CU_ASSERT(r->fairness_jain > 0.99 && r->fairness_min > 0.85 && r->fairness_max < 1.15);
        CU_ASSERT(isnan(r->classes[1].mean_utilization) && isnan(r->classes[1].max_utilization));
        CU_ASSERT_EQUAL(r->classes[0].links, 64);
        CU_ASSERT_EQUAL(r->classes[0].mean_utilization, 0);
        CU_ASSERT_EQUAL(r->classes[1].links, 32);
    }
    /* The 95 % intervals hold the exact mean in about 95 % of runs with other seeds. */
    int held = 0;
    s.settings.load_flits_per_cycle = 0.3;
    for (s.settings.seed = 100; s.settings.seed < 140; s.settings.seed++) {
        CU_ASSERT_EQUAL(run(&s, SOUND), FC_OK);
        held += fabs(s.result.latency_mean_cycles - geo_d_1(0.3)) <= s.result.latency_half_width_cycles;
    }
    CU_ASSERT(held >= 33);
    close_set(&s);
}

static void fixed_phases(void)
{
    struct set s;
    if (!open_set(&s, true)) return;
    s.settings.load_flits_per_cycle = 0.2;
    s.settings.warmup_cycles = 700;
    s.settings.measure_cycles = 3001;
    CU_ASSERT_EQUAL(run(&s, SOUND), FC_OK);
    CU_ASSERT_EQUAL(s.result.warmup_cycles, 700);
    CU_ASSERT_EQUAL(s.result.measure_cycles, 3001);
    CU_ASSERT(s.result.complete && s.result.stable);
    CU_ASSERT(s.result.cycles > 3701 && s.result.cycles < 5000);
    CU_ASSERT(fabs((double)s.result.measured_packets - 3001 * 1.6) < 5 * sqrt(3001 * 1.6));
    /* Every packet of the window and no other: they are counted here from the sources. */
    struct fc_flit_traffic *traffic;
    uint64_t born = 0;
    CU_ASSERT_EQUAL_FATAL(fc_flit_traffic_make(&s.flit, &s.demand, NULL, &s.settings, &traffic, &s.st),
                          FC_OK);
    for (uint32_t v = 0; v < 16; v++) {
        struct fc_flit_source x;
        for (fc_flit_first(traffic, v, &x); x.born < 2 * 3701; fc_flit_next(traffic, v, &x))
            born += x.born >= 2 * 700;
    }
    fc_flit_traffic_free(traffic);
    CU_ASSERT_EQUAL(s.result.measured_packets, born);
    /* Intervals: together they hold what was delivered. */
    s.settings.interval_cycles = 100;
    CU_ASSERT_EQUAL(run(&s, SOUND), FC_OK);
    CU_ASSERT_EQUAL(s.result.n_intervals, s.result.cycles / 100);
    double flits = 0;
    for (uint32_t i = 0; i < s.result.n_intervals; i++)
        flits += s.result.intervals[i].flits_per_node_cycle * 16 * 100;
    CU_ASSERT(fabs(flits - (double)s.result.flits_delivered) < 0.2 * 16 * 100 * 1.5);
    CU_ASSERT(flits > 0.9 * (double)s.result.flits_delivered);
    CU_ASSERT(isnan(s.result.intervals[0].unblocking_probability));
    close_set(&s);
}

static void same_for_any_threads(void)
{
    struct set s;
    if (!open_set(&s, true)) return;
    struct fc_flit_result first = {0};
    s.settings.load_flits_per_cycle = 0.25;
    s.settings.interval_cycles = 500;
    for (s.settings.threads = 1; s.settings.threads <= 5; s.settings.threads += 2) {
        CU_ASSERT_EQUAL(run(&s, SOUND), FC_OK);
        struct fc_flit_result *r = &s.result;
        if (s.settings.threads == 1) {
            first = *r;
            r->arena = (struct fc_arena){0};
            continue;
        }
        CU_ASSERT_EQUAL(r->latency_mean_cycles, first.latency_mean_cycles);
        CU_ASSERT_EQUAL(r->latency_half_width_cycles, first.latency_half_width_cycles);
        CU_ASSERT_EQUAL(r->latency_p99_cycles, first.latency_p99_cycles);
        CU_ASSERT_EQUAL(r->cycles, first.cycles);
        CU_ASSERT_EQUAL(r->packets_injected, first.packets_injected);
        CU_ASSERT_EQUAL(r->n_intervals, first.n_intervals);
        for (uint32_t i = 0; i < r->n_intervals; i++)
            CU_ASSERT_EQUAL(r->intervals[i].flits_per_node_cycle, first.intervals[i].flits_per_node_cycle);
    }
    fc_flit_free(&first);
    close_set(&s);
}

/* Capacity is 0.4: above, the run ends, says so, and gives what the queues take. */
static void overload(void)
{
    struct set s;
    if (!open_set(&s, true)) return;
    static const double loads[] = {0.41, 0.45, 0.6, 1.5};
    for (size_t i = 0; i < FC_COUNT(loads); i++) {
        s.settings.load_flits_per_cycle = loads[i];
        CU_ASSERT_EQUAL(run(&s, SOUND), FC_OK);
        CU_ASSERT(!s.result.stable && !s.result.deadlock);
        CU_ASSERT(strstr(s.result.unstable_because, "latency grows") != NULL);
        CU_ASSERT(fc_near(s.result.accepted_flits_per_node_cycle, 0.4, 0.01));
        CU_ASSERT_EQUAL(s.result.packets_injected, s.result.packets_delivered + s.result.packets_in_flight);
    }
    s.settings.load_flits_per_cycle = 0.39; /* 97.5 % of capacity holds */
    CU_ASSERT_EQUAL(run(&s, SOUND), FC_OK);
    CU_ASSERT(s.result.stable);
    CU_ASSERT(fc_near(s.result.latency_mean_cycles, geo_d_1(0.39), 0.25));
    /* Half of the nodes overloaded: the mean load would do. */
    for (uint32_t v = 0; v < 16; v++) s.demand.dense[0].a[v] = v < 8 ? 3 : 1;
    s.settings.load_flits_per_cycle = 0.3; /* 0.45 and 0.15 */
    CU_ASSERT_EQUAL(run(&s, SOUND), FC_OK);
    CU_ASSERT(!s.result.stable);
    CU_ASSERT(fc_near(s.result.accepted_flits_per_node_cycle, 0.275, 0.02));
    s.settings.load_flits_per_cycle = 0.6; /* fixed phases: packets of the window do not arrive in time */
    s.settings.warmup_cycles = 100;
    s.settings.measure_cycles = 20000;
    CU_ASSERT_EQUAL(run(&s, SOUND), FC_OK);
    CU_ASSERT(!s.result.stable);
    close_set(&s);
}

static void saturated_sources(void)
{
    struct set s;
    if (!open_set(&s, true)) return;
    s.settings.backlog = true;
    s.demand.dense[0].a[3] = 0;
    CU_ASSERT_EQUAL(run(&s, SOUND), FC_OK);
    CU_ASSERT(s.result.stable && s.result.complete);
    CU_ASSERT(isnan(s.result.offered_flits_per_node_cycle) && isnan(s.result.latency_mean_cycles));
    CU_ASSERT(fc_near(s.result.accepted_flits_per_node_cycle, 0.4 * 15 / 16, 0.001));
    CU_ASSERT(s.result.fairness_min > 0.999 && s.result.fairness_max < 1.001);
    close_set(&s);
}

/* All-to-all of 80-byte messages in packets of 8 payload bytes: 150 packets a node, 5 cycles each. */
static void closed_run(void)
{
    struct set s;
    if (!open_set(&s, false)) return;
    CU_ASSERT_EQUAL(run(&s, SOUND), FC_OK);
    struct fc_flit_result *r = &s.result;
    CU_ASSERT(r->stable && r->complete && r->credits_full && !r->open_loop);
    CU_ASSERT_EQUAL(r->packets_delivered, 16 * 150);
    CU_ASSERT_EQUAL(r->measured_packets, 16 * 150);
    CU_ASSERT_EQUAL(r->packets_in_flight, 0);
    CU_ASSERT_EQUAL(r->cycles, 750);
    CU_ASSERT_EQUAL(r->latency_mean_cycles, 5 * 151 / 2.0);
    CU_ASSERT_EQUAL(r->latency_max_cycles, 750);
    CU_ASSERT_EQUAL(r->accepted_flits_per_node_cycle, 0.4);
    CU_ASSERT(isnan(r->offered_flits_per_node_cycle));
    s.settings.source_gap_cycles = 6.5;
    CU_ASSERT_EQUAL(run(&s, SOUND), FC_OK);
    CU_ASSERT_EQUAL(r->cycles, (uint64_t)ceil(149 * 6.5 + 5));
    CU_ASSERT_EQUAL(r->latency_mean_cycles, 5);
    s.settings.most_cycles = 400;
    CU_ASSERT_EQUAL(run(&s, SOUND), FC_OK);
    CU_ASSERT(!r->stable && !r->complete);
    CU_ASSERT(strstr(r->unstable_because, "limit of 400 cycles in the messages") != NULL);
    CU_ASSERT_EQUAL(r->cycles, 400);
    CU_ASSERT(r->packets_in_flight > 0);
    close_set(&s);
}

static void limit_of_cycles(void)
{
    struct set s;
    if (!open_set(&s, true)) return;
    s.settings.load_flits_per_cycle = 0.2;
    s.settings.most_cycles = 500;
    CU_ASSERT_EQUAL(run(&s, SOUND), FC_OK);
    CU_ASSERT(!s.result.stable &&
              strstr(s.result.unstable_because, "limit of 500 cycles in the warm-up") != NULL);
    CU_ASSERT(isnan(s.result.accepted_flits_per_node_cycle) && isnan(s.result.latency_mean_cycles));
    s.settings.most_cycles = 3000;
    CU_ASSERT_EQUAL(run(&s, SOUND), FC_OK);
    CU_ASSERT(!s.result.stable && strstr(s.result.unstable_because, "in the measurement") != NULL);
    CU_ASSERT_EQUAL(s.result.cycles, 3000);
    CU_ASSERT_EQUAL(s.result.measure_cycles, 3000 - s.result.warmup_cycles);
    CU_ASSERT(fc_near(s.result.accepted_flits_per_node_cycle, 0.2, 0.05));
    close_set(&s);
}

static void faults_are_found(void)
{
    struct set s;
    if (!open_set(&s, true)) return;
    s.settings.load_flits_per_cycle = 0.2;
    CU_ASSERT(run(&s, LOSES_FLITS) == FC_FAULT && fc_says(&s.st, FC_FAULT, "does not conserve packets"));
    CU_ASSERT(run(&s, LOSES_PACKETS) == FC_FAULT &&
              fc_says(&s.st, FC_FAULT, "the fake engine does not conserve"));
    close_set(&s);
    if (!open_set(&s, false)) return;
    CU_ASSERT(run(&s, KEEPS_CREDITS) == FC_FAULT && fc_says(&s.st, FC_FAULT, "has lost credits"));
    CU_ASSERT(run(&s, ENDS_EARLY) == FC_FAULT && fc_says(&s.st, FC_FAULT, "of 2400 packets"));
    close_set(&s);
}

static void standstill_is_a_deadlock(void)
{
    struct set s;
    if (!open_set(&s, true)) return;
    s.settings.load_flits_per_cycle = 0.2;
    CU_ASSERT_EQUAL(run(&s, STANDS_STILL), FC_OK);
    CU_ASSERT(s.result.deadlock && !s.result.stable && !s.result.complete);
    CU_ASSERT_STRING_EQUAL(s.result.unstable_because, "deadlock");
    CU_ASSERT_EQUAL(s.result.packets_in_flight, 16);
    CU_ASSERT(s.result.cycles > STOP_TICK / 2 && s.result.cycles < STOP_TICK / 2 + 2500);
    s.settings.deadlock_cycles = 9000;
    CU_ASSERT_EQUAL(run(&s, STANDS_STILL), FC_OK);
    CU_ASSERT(s.result.deadlock);
    CU_ASSERT(s.result.cycles > STOP_TICK / 2 + 9000);
    close_set(&s);
}

static void settings_are_checked(void)
{
    struct set s;
    if (!open_set(&s, true)) return;
    struct fc_flit_settings good;
    fc_flit_defaults(&good);
    CU_ASSERT(good.engine == FC_ENGINE_AUTO && good.threads == 1 && good.load_flits_per_cycle == 0);
    good.load_flits_per_cycle = 0.1;
    static const struct {
        const char *says;
        int engine, threads;
        uint64_t warmup, measure, most;
        bool in_order, closed;
    } cases[] = {{"engine 7", 7, 1, 0, 0, 0, false, false},
                 {"threads 0", 0, 0, 0, 0, 0, false, false},
                 {"threads 5000", 0, 5000, 0, 0, 0, false, false},
                 {"leaves nothing to measure", 0, 1, 1000, 0, 1000, false, false},
                 {"for finite messages", 0, 1, 0, 0, 0, true, false},
                 {"no warm-up, no window", 0, 1, 100, 0, 0, false, true},
                 {"no warm-up, no window", 0, 1, 0, 100, 0, false, true}};
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        s.settings = good;
        s.settings.engine = cases[i].engine, s.settings.threads = cases[i].threads;
        s.settings.warmup_cycles = cases[i].warmup, s.settings.measure_cycles = cases[i].measure;
        s.settings.most_cycles = cases[i].most, s.settings.in_order = cases[i].in_order;
        s.demand.open_loop = !cases[i].closed;
        memset(&s.st, 0, sizeof s.st);
        CU_ASSERT_EQUAL(fc_flit_run(&s.net, &s.demand, NULL, &s.settings, &s.result, &s.st), FC_INPUT);
        CU_ASSERT(fc_says(&s.st, FC_INPUT, cases[i].says));
    }
    close_set(&s);
}

/* ---- statistics ------------------------------------------------------------------------------------------
 */

static void buckets(void)
{
    uint64_t before = 0;
    for (uint32_t b = 0; b < FC_FLIT_BUCKETS; b++) {
        uint64_t low, end;
        fc_flit_bucket_range(b, &low, &end);
        CU_ASSERT_EQUAL(low, before);
        CU_ASSERT(end > low && (b < 64 || (end - low) * 32 <= low));
        CU_ASSERT_EQUAL(fc_flit_bucket(low), b);
        CU_ASSERT_EQUAL(fc_flit_bucket(end - 1), b);
        before = end;
    }
    CU_ASSERT_EQUAL(fc_flit_bucket(UINT64_MAX), FC_FLIT_BUCKETS - 1);
}

static struct fc_flit_counts *new_counts(uint64_t from, uint64_t to)
{
    struct fc_flit_counts *c = calloc(1, sizeof *c);
    c->measure_from = from, c->measure_to = to;
    return c;
}

static void percentiles(void)
{
    struct fc_flit_counts *c = new_counts(0, 1000000);
    CU_ASSERT(isnan(fc_flit_percentile(c, 0.5)));
    for (uint64_t i = 1; i <= 50; i++)
        fc_flit_count_delivery(c, i, i, i + i, 1, 1); /* latencies 1 .. 50: exact */
    CU_ASSERT_EQUAL(fc_flit_percentile(c, 0.5), 25);
    CU_ASSERT_EQUAL(fc_flit_percentile(c, 0.02), 1);
    CU_ASSERT_EQUAL(fc_flit_percentile(c, 1), 50);
    fc_flit_restart_window(c, 0, 1000000);
    CU_ASSERT(isnan(fc_flit_percentile(c, 0.5)));
    for (uint64_t i = 1; i <= 100000; i++) fc_flit_count_delivery(c, 5, 5, 5 + i, 1, 1);
    CU_ASSERT(fc_near(fc_flit_percentile(c, 0.5), 50000, 1e-4));
    CU_ASSERT(fc_near(fc_flit_percentile(c, 0.99), 99000, 1e-3));
    CU_ASSERT(fc_flit_percentile(c, 1) <= 100000);
    free(c);
}

static void windows_and_batches(void)
{
    struct fc_flit_counts *c = new_counts(100, 100 + 32 * 10), *wide = new_counts(100, 100 + 64 * 10);
    for (uint64_t i = 0; i < 2000; i++) {
        uint64_t born = fc_random_below(1, 2, i, 420), latency = fc_random_below(1, 3, i, 1000);
        fc_flit_count_delivery(c, born, born + 1, born + latency, 2, 1);
        fc_flit_count_delivery(wide, born, born + 1, born + latency, 2, 1);
    }
    CU_ASSERT_EQUAL(c->packets_delivered, 2000);
    CU_ASSERT(c->measured_delivered < 2000 && c->measured_delivered > 1300);
    fc_flit_double_window(c);
    CU_ASSERT_EQUAL(c->measure_to, wide->measure_to);
    CU_ASSERT_EQUAL(memcmp(c->batch_packets, wide->batch_packets, sizeof c->batch_packets), 0);
    CU_ASSERT_EQUAL(memcmp(c->batch_ticks, wide->batch_ticks, sizeof c->batch_ticks), 0);
    CU_ASSERT_EQUAL(memcmp(c->histogram, wide->histogram, sizeof c->histogram), 0);
    free(c);
    free(wide);
}

/* Half widths of batch means hold the true mean (here 0 above a base) in about 95 % of cases, for independent
 * data and, with joined batches, for data that correlate over batches. */
static void half_widths_hold(void)
{
    enum { TRIALS = 400 };
    for (int kind = 0; kind < 2; kind++) {
        int held = 0, joined = 0;
        for (uint64_t trial = 0; trial < TRIALS; trial++) {
            struct fc_flit_counts *c = new_counts(0, 3200);
            double state = 0;
            for (int b = 0; b < 32; b++) {
                double sum = 0, u = 0;
                for (uint64_t k = 0; k < 12; k++) u += fc_random_real(trial, (uint64_t)b, k);
                state = (kind ? 0.45 * state : 0) + (u - 6);
                sum = state * 1000 + 100000;
                c->batch_packets[b] = 50;
                c->batch_ticks[b] = (uint64_t)rint(sum * 50);
            }
            struct fc_flit_mean m = fc_flit_batch_mean(c, 32);
            held += fabs(m.mean - 100000) <= m.half_width;
            joined += m.batches < 32;
            free(c);
        }
        CU_ASSERT(held >= (kind ? 0.86 : 0.92) * TRIALS && held <= 0.985 * TRIALS);
        CU_ASSERT(kind ? joined > TRIALS / 2 : joined < TRIALS / 4);
    }
    struct fc_flit_counts *c = new_counts(0, 3200);
    CU_ASSERT(isnan(fc_flit_batch_mean(c, 32).mean) && isnan(fc_flit_batch_mean(c, 32).half_width));
    c->batch_packets[3] = 1, c->batch_ticks[3] = 7;
    CU_ASSERT(fc_flit_batch_mean(c, 32).mean == 7 && isnan(fc_flit_batch_mean(c, 32).half_width));
    /* Two of 2 packets in 2 batches, by hand: means 10 and 14, t(1) = 12.706, error 2. */
    c->batch_packets[0] = c->batch_packets[1] = 2, c->batch_ticks[0] = 20, c->batch_ticks[1] = 28;
    struct fc_flit_mean m = fc_flit_batch_mean(c, 2);
    CU_ASSERT_EQUAL(m.mean, 12);
    CU_ASSERT(fc_near(m.half_width, 25.412409, 1e-6));
    free(c);
}

static void trends(void)
{
    struct fc_flit_counts *c = new_counts(0, 3200);
    for (int b = 0; b < 32; b++) c->batch_packets[b] = 10, c->batch_ticks[b] = 10 * (100 + 10 * (uint64_t)b);
    struct fc_flit_trend t = fc_flit_latency_trend(c, 32);
    CU_ASSERT(fc_near(t.growth, 320 / 255.0, 1e-9) && t.t > 1e6);
    t = fc_flit_latency_trend(c, 16);
    CU_ASSERT(fc_near(t.growth, 320 / 175.0, 1e-9));
    for (int b = 0; b < 32; b++) c->batch_ticks[b] = 10 * (1000 - 10 * (uint64_t)b);
    CU_ASSERT(fc_flit_latency_trend(c, 32).growth < 0);
    int rising = 0;
    for (uint64_t trial = 0; trial < 500; trial++) {
        for (int b = 0; b < 32; b++) c->batch_ticks[b] = 900 + fc_random_below(4, trial, (uint64_t)b, 200);
        rising += fc_flit_latency_trend(c, 32).t > 4;
    }
    CU_ASSERT(rising < 10); /* 2 expected: one side of t with 6 degrees of freedom, 0.36 % */
    memset(c->batch_packets, 0, sizeof c->batch_packets);
    CU_ASSERT_EQUAL(fc_flit_latency_trend(c, 32).t, 0);
    free(c);
}

static void counts_add_up(void)
{
    struct fc_arena arena = {0};
    struct fc_status st = {0};
    struct fc_flit_counts part[3] = {{0}}, all = {0}, sum = {0};
    struct fc_flit_counts *list[] = {&part[0], &part[1], &part[2], &all, &sum};
    for (size_t i = 0; i < FC_COUNT(list); i++) {
        list[i]->measure_from = 50, list[i]->measure_to = 850;
        list[i]->interval_ticks = 100, list[i]->n_intervals = 10;
        CU_ASSERT_EQUAL_FATAL(fc_flit_counts_make(list[i], &arena, &st), FC_OK);
    }
    for (uint64_t i = 0; i < 5000; i++) {
        uint64_t born = fc_random_below(8, 1, i, 900), latency = fc_random_below(8, 2, i, 300);
        struct fc_flit_counts *two[] = {&part[i % 3], &all};
        for (int k = 0; k < 2; k++) {
            fc_flit_count_delivery(two[k], born, born + 3, born + latency + 3, 4, 2);
            fc_flit_count_flits(two[k], born + latency, 2);
            two[k]->occupancy_flit_ticks[i % 5] += latency;
            two[k]->flit_hops += 8, two[k]->escape_flit_hops += i % 2, two[k]->measured_started += i % 7;
            two[k]->packets_injected++, two[k]->flits_injected += 2;
            two[k]->interval_vc_flits[i % 10][i % 3]++;
            two[k]->interval_returns[i % 10]++, two[k]->interval_unblocked[i % 10] += i % 2;
        }
    }
    for (int k = 2; k >= 0; k--) fc_flit_counts_add(&sum, &part[k]);
    for (uint32_t i = 0; i < 10; i++) {
        CU_ASSERT_EQUAL(sum.interval_flits[i], all.interval_flits[i]);
        CU_ASSERT_EQUAL(sum.interval_returns[i], all.interval_returns[i]);
        CU_ASSERT_EQUAL(sum.interval_unblocked[i], all.interval_unblocked[i]);
        CU_ASSERT_EQUAL(
            memcmp(sum.interval_vc_flits[i], all.interval_vc_flits[i], sizeof sum.interval_vc_flits[i]), 0);
    }
    CU_ASSERT(all.last_delivery > 1100 && all.window_flits_delivered > 0);
    sum.interval_flits = all.interval_flits, sum.interval_vc_flits = all.interval_vc_flits;
    sum.interval_returns = all.interval_returns, sum.interval_unblocked = all.interval_unblocked;
    CU_ASSERT_EQUAL(memcmp(&sum, &all, sizeof sum), 0);
    fc_arena_free(&arena);
}

/* ---- the whole kernel -------------------------------------------------------------------------------------
 */

#define PAPER(family, more) PAPER_OF(family, "[8, 8]", more)
#define PAPER_OF(family, dims, more)                                                                         \
    "name: t\nclock: 1 GHz\nnetwork: {family: " family ", dims: " dims "}\n"                                 \
    "links: {" family ": {bandwidth: 8 GB/s, latency: 1 ns}, injection: {bandwidth: 8 GB/s}}\n"              \
    "router: {flit: 8 B, buffer: 128 B, vcs: 2, escape: dateline, routing: dimension-order}\n" more

struct whole {
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand demand;
    struct fc_flit_settings settings;
    struct fc_status st;
};

static bool open_whole(struct whole *w, const char *yaml, const char *pattern)
{
    memset(w, 0, sizeof *w);
    if (!fc_test_network(yaml, &w->machine, &w->net)) return false;
    fc_flit_defaults(&w->settings);
    CU_ASSERT_EQUAL_FATAL(fc_demand_from_pattern(&w->net, pattern, 1, &w->demand, &w->st), FC_OK);
    w->demand.open_loop = true;
    return true;
}

static void close_whole(struct whole *w)
{
    fc_demand_free(&w->demand);
    fc_test_close(&w->machine, &w->net);
}

/* Closed forms of Dally & Towles, section 3.3, in flits a node and cycle. */
static void ideal_throughput(void)
{
    static const struct {
        const char *yaml, *pattern;
        double ideal;
    } cases[] = {
        {PAPER("mesh", "packet: {max: 8 B}\n"), "uniform", 0.5},      /* 4/k */
        {PAPER("torus", "packet: {max: 8 B}\n"), "uniform", 1},       /* 8/k: as much as a node can inject */
        {PAPER("torus", "packet: {max: 8 B}\n"), "tornado", 1.0 / 3}, /* 1 / (ceil(k/2) - 1) */
        {PAPER("torus", "packet: {max: 8 B}\n"), "neighbor", 1},
        {PAPER("torus", "packet: {max: 32 B, trailer: 8 B}\n"), "neighbor", 0.8}, /* 4 flits in 5 cycles */
        {PAPER("torus", "packet: {max: 32 B, trailer: 8 B}\n"), "tornado", 0.8 / 3},
    };
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        struct whole w;
        double ideal = 0;
        if (!open_whole(&w, cases[i].yaml, cases[i].pattern)) return;
        CU_ASSERT_EQUAL(fc_flit_ideal_throughput(&w.net, &w.demand, &w.settings, &ideal, &w.st), FC_OK);
        CU_ASSERT(fc_near(ideal, cases[i].ideal, 1e-9));
        w.demand.open_loop = false;
        CU_ASSERT_EQUAL(fc_flit_ideal_throughput(&w.net, &w.demand, &w.settings, &ideal, &w.st), FC_INPUT);
        CU_ASSERT(fc_says(&w.st, FC_INPUT, "only open-loop traffic has a throughput"));
        close_whole(&w);
    }
}

/* Neighbours share no link, so what can be injected arrives; uniform traffic saturates below the ideal, and
 * what the bisection answers is held by a run of its own, with other random numbers, just below and not just
 * above. */
static void saturation_throughput(void)
{
    struct whole w;
    double load;
    if (!open_whole(&w, PAPER_OF("torus", "[4, 4]", "packet: {max: 8 B}\n"), "neighbor")) return;
    w.settings.warmup_cycles = 500, w.settings.measure_cycles = 2000;
    CU_ASSERT_EQUAL(fc_flit_saturation(&w.net, &w.demand, &w.settings, &load, &w.st), FC_OK);
    CU_ASSERT_EQUAL(load, 1);
    close_whole(&w);
    if (!open_whole(&w, PAPER_OF("mesh", "[6, 2]", "packet: {max: 8 B}\n"), "uniform")) return;
    w.settings.warmup_cycles = 1000, w.settings.measure_cycles = 6000;
    CU_ASSERT_EQUAL(fc_flit_saturation(&w.net, &w.demand, &w.settings, &load, &w.st), FC_OK);
    CU_ASSERT(load > 0.4 && load < 0.7); /* ideal 4/6 */
    struct fc_flit_result result;
    w.settings.seed = 77;
    for (int above = 0; above < 2; above++) {
        w.settings.load_flits_per_cycle = load * (above ? 1.1 : 0.95);
        CU_ASSERT_EQUAL(fc_flit_run(&w.net, &w.demand, NULL, &w.settings, &result, &w.st), FC_OK);
        CU_ASSERT_EQUAL(result.stable, !above);
        CU_ASSERT((result.accepted_flits_per_node_cycle > 0.98 * w.settings.load_flits_per_cycle) == !above);
        fc_flit_free(&result);
    }
    /* A latency limit in a short fixed window lets more pass. */
    double limited;
    w.settings.seed = 1;
    w.settings.warmup_cycles = w.settings.measure_cycles = 1000;
    w.settings.latency_limit_cycles = 400;
    CU_ASSERT_EQUAL(fc_flit_saturation(&w.net, &w.demand, &w.settings, &limited, &w.st), FC_OK);
    CU_ASSERT(limited > load && limited < 1.3 * load);
    close_whole(&w);
}

int suite_flit_run(void)
{
    static const CU_TestInfo tests[] = {
        {"buckets", buckets},
        {"percentiles", percentiles},
        {"windows and batches", windows_and_batches},
        {"half widths hold", half_widths_hold},
        {"trends", trends},
        {"counts add up", counts_add_up},
        {"queue closed form", queue_closed_form},
        {"fixed phases", fixed_phases},
        {"same for any threads", same_for_any_threads},
        {"overload", overload},
        {"saturated sources", saturated_sources},
        {"closed run", closed_run},
        {"limit of cycles", limit_of_cycles},
        {"faults are found", faults_are_found},
        {"standstill is a deadlock", standstill_is_a_deadlock},
        {"settings are checked", settings_are_checked},
        {"ideal throughput", ideal_throughput},
        {"saturation throughput", saturation_throughput},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("flit_run", tests);
}
