/* test_flit_run.c - run control of the flit-level kernel, with the engine of fake_engine.h, in which every node is a queue whose
 * waiting time is a closed form. Precision: test_flit_precision.c. Statistics and saturation: test_flit_statistics.c. */
#include "tests/fake_engine.h"

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
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("flit_run", tests);
}
