/* test_flit_run.c - run control of the flit-level kernel, with an engine of the test's own, in which every
 * node is a Geo/D/1 queue whose waiting time is a closed form. That engine can also be told to lose packets,
 * to stand still, and to lose credits. Statistics and saturation: test_flit_statistics.c. */
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

static enum fc_code fake_open(const struct fc_flit_net *flit, const struct fc_flit_traffic *traffic, int threads,
                              uint64_t seed, struct fc_flit_counts *counts, uint64_t *link_flits,
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
                    fc_flit_count_delivery(c, n->born, n->started, n->finish, 3);
                if (n->finish > e->last_move) e->last_move = n->finish;
                n->busy = false;
            } else {
                uint64_t start = n->source.born > n->free_at ? n->source.born : n->free_at;
                if (n->source.born == UINT64_MAX || start >= until) break;
                fake_start(e, v, start, fault == STANDS_STILL && start > STOP_TICK ? UINT64_MAX / 4 : SERVICE);
            }
        }
        if (fault == ENDS_EARLY && n->source.number > 3) n->source.born = UINT64_MAX;
        state->packets_in_flight += n->busy;
        state->flits_in_flight += n->busy ? n->flits : 0;
        state->sources_waiting += n->source.born < c->measure_to;
        if (n->source.born < until && until - n->source.born > state->longest_wait)
            state->longest_wait = until - n->source.born;
        state->exhausted = state->exhausted && !n->busy && n->source.born == UINT64_MAX;
    }
    e->now = state->now = until;
    state->last_move = e->last_move;
    return FC_OK;
}

#define ADVANCE(name, fault)                                                                                           \
    static enum fc_code name(void *engine, uint64_t until, struct fc_flit_state *state, struct fc_status *st)          \
    {                                                                                                                  \
        (void)st;                                                                                                      \
        return fake_advance(engine, until, state, fault);                                                              \
    }
ADVANCE(advance_sound, SOUND)
ADVANCE(advance_losing_flits, LOSES_FLITS)
ADVANCE(advance_losing_packets, LOSES_PACKETS)
ADVANCE(advance_standing_still, STANDS_STILL)
ADVANCE(advance_ending_early, ENDS_EARLY)

static enum fc_code fake_blocked(void *engine, struct fc_arena *arena, struct fc_flit_blocked **blocked, uint32_t *n,
                                 uint32_t **wanted, struct fc_status *st)
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
                                   .n_vcs = 2,
                                   .n_network_vcs = 2,
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
        CU_ASSERT(r->latency_p50_cycles <= r->latency_p95_cycles && r->latency_p95_cycles <= r->latency_p99_cycles);
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
    CU_ASSERT_EQUAL_FATAL(fc_flit_traffic_make(&s.flit, &s.demand, NULL, &s.settings, &traffic, &s.st), FC_OK);
    for (uint32_t v = 0; v < 16; v++) {
        struct fc_flit_source x;
        for (fc_flit_first(traffic, v, &x); x.born < 2 * 3701; fc_flit_next(traffic, v, &x)) born += x.born >= 2 * 700;
    }
    fc_flit_traffic_free(traffic);
    CU_ASSERT_EQUAL(s.result.measured_packets, born);
    /* Intervals: together they hold what was delivered. */
    s.settings.interval_cycles = 100;
    CU_ASSERT_EQUAL(run(&s, SOUND), FC_OK);
    CU_ASSERT_EQUAL(s.result.n_intervals, s.result.cycles / 100);
    double flits = 0;
    for (uint32_t i = 0; i < s.result.n_intervals; i++) flits += s.result.intervals[i].flits_per_node_cycle * 16 * 100;
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
    CU_ASSERT(!s.result.stable && strstr(s.result.unstable_because, "limit of 500 cycles in the warm-up") != NULL);
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
    CU_ASSERT(run(&s, LOSES_PACKETS) == FC_FAULT && fc_says(&s.st, FC_FAULT, "the fake engine does not conserve"));
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

/* Runs of the queue whose mean waiting time is known end with the precision, above it say that they have not, and their
 * intervals hold it. */
static void precision_closed_form(void)
{
    struct set s;
    if (!open_set(&s, true)) return;
    static const double loads[] = {0.04, 0.24, 0.36}; /* of 0.4 */
    for (size_t i = 0; i < FC_COUNT(loads); i++) {
        int held = 0, reached = 0, n = 0;
        s.settings.load_flits_per_cycle = loads[i];
        for (s.settings.seed = 1; s.settings.seed <= 4; s.settings.seed++, n++) {
            s.settings.precision = i == 2 ? 0.03 : 0.01;
            CU_ASSERT_EQUAL(run(&s, SOUND), FC_OK);
            const struct fc_flit_result *r = &s.result;
            CU_ASSERT(r->stable && r->complete);
            held += fabs(r->latency_mean_cycles - geo_d_1(loads[i])) <= r->latency_half_width_cycles;
            reached += r->precision_reached;
            CU_ASSERT(!r->precision_reached ||
                      (r->latency_half_width_cycles <= r->precision * r->latency_mean_cycles &&
                       r->accepted_half_width_flits <= r->precision * r->accepted_flits_per_node_cycle));
            CU_ASSERT(fc_near(r->accepted_flits_per_node_cycle, loads[i], 0.01));
        }
        CU_ASSERT(held >= n - 1 && reached >= n - 2);
    }
    s.settings.most_packets = 5000; /* too few */
    CU_ASSERT_EQUAL(run(&s, SOUND), FC_OK);
    CU_ASSERT(!s.result.precision_reached && s.result.measured_packets < 6000);
    CU_ASSERT(s.result.latency_half_width_cycles > 0.03 * s.result.latency_mean_cycles);
    close_set(&s);
}

/* Above capacity a run says so soon, and what is accepted, as precisely as asked; below, threads make no difference. */
static void precision_overload(void)
{
    struct set s;
    if (!open_set(&s, true)) return;
    s.settings.precision = 0.01;
    static const double loads[] = {0.42, 0.6, 1.5};
    for (size_t i = 0; i < FC_COUNT(loads); i++) {
        s.settings.load_flits_per_cycle = loads[i];
        CU_ASSERT_EQUAL(run(&s, SOUND), FC_OK);
        CU_ASSERT(!s.result.stable && (i == 2 || s.result.precision_reached)); /* of 2: few packets a batch */
        CU_ASSERT(fc_near(s.result.accepted_flits_per_node_cycle, 0.4, 0.01));
        CU_ASSERT(i == 0 || strstr(s.result.unstable_because, "in proportion to time") != NULL);
    }
    double latency = 0;
    s.settings.load_flits_per_cycle = 0.3;
    for (s.settings.threads = 1; s.settings.threads <= 3; s.settings.threads += 2) {
        CU_ASSERT_EQUAL(run(&s, SOUND), FC_OK);
        CU_ASSERT(s.settings.threads == 1 || s.result.latency_mean_cycles == latency);
        latency = s.result.latency_mean_cycles;
    }
    s.settings.most_cycles = 3000; /* ends in time for it, and says so */
    CU_ASSERT_EQUAL(run(&s, SOUND), FC_OK);
    CU_ASSERT(s.result.stable && !s.result.precision_reached && s.result.cycles <= 3000);
    CU_ASSERT(s.result.latency_half_width_cycles > 0.01 * s.result.latency_mean_cycles);
    s.settings.most_cycles = 100; /* ended by its limit: nothing is claimed */
    CU_ASSERT_EQUAL(run(&s, SOUND), FC_OK);
    CU_ASSERT(!s.result.stable && !s.result.precision_reached && isnan(s.result.accepted_half_width_flits));
    close_set(&s);
}

static void precision_is_checked(void)
{
    struct set s;
    if (!open_set(&s, true)) return;
    struct fc_flit_settings good;
    fc_flit_defaults(&good);
    good.load_flits_per_cycle = 0.1;
    for (int i = 0; i < 6; i++) {
        s.settings = good;
        s.settings.precision = i == 0 ? -0.1 : i == 1 ? 1 : i == 2 ? (double)NAN : 0.01;
        s.settings.measure_cycles = i == 3 ? 1000 : 0;
        s.settings.backlog = i == 4;
        s.demand.open_loop = i != 5;
        memset(&s.st, 0, sizeof s.st);
        CU_ASSERT_EQUAL(fc_flit_run(&s.net, &s.demand, NULL, &s.settings, &s.result, &s.st), FC_INPUT);
        CU_ASSERT(fc_says(&s.st, FC_INPUT, i < 3 ? "expected a share above 0 and below 1" : "of no given length"));
    }
    close_set(&s);
}

/* One source of 16 that offers 1.38 times what its queue takes is short of 2.5 % of what all offer: a run that looks at what is
 * accepted, to 3 %, sees that it falls behind. Below it is stable. */
static void one_source_overloaded(void)
{
    struct set s;
    if (!open_set(&s, true)) return;
    s.demand.dense[0].a[0] *= 1.5;
    s.settings.precision = 0.03;
    s.settings.only_accepted = true;
    s.settings.most_packets = 20000;
    for (s.settings.seed = 1; s.settings.seed <= 4; s.settings.seed++)
        for (int above = 0; above < 2; above++) {
            s.settings.load_flits_per_cycle = above ? 0.38 : 0.2; /* of the one 0.553 and 0.291, of 0.4 */
            CU_ASSERT_EQUAL(run(&s, SOUND), FC_OK);
            CU_ASSERT(s.result.stable == !above);
        }
    close_set(&s);
}

int suite_flit_run(void)
{
    static const CU_TestInfo tests[] = {
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
        {"precision closed form", precision_closed_form},
        {"precision overload", precision_overload},
        {"one source overloaded", one_source_overloaded},
        {"precision is checked", precision_is_checked},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("flit_run", tests);
}
