/* test_trace_period.c - what repeats in a trace, and the time of a program from some of its periods. Oracles:
 * traces whose period is known, a search that tries everything, and the replay of the whole trace. */
#include "solvers/replay/replay_period.h"
#include "tests/replay_script.h"
#include "traces/trace_formats.h"

#include <stdlib.h>

static struct fc_period period;

static void find(const struct fc_trace *t)
{
    struct fc_trace_source source;
    struct fc_status st = {0};
    fc_period_free(&period);
    CU_ASSERT_EQUAL_FATAL(fc_source_memory(t, &source, &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(fc_period_find(&source, &period, &st), FC_OK);
    fc_source_close(&source);
}

static bool why_has(const char *part)
{
    if (period.repeats == 0 && strstr(period.why, part)) return true;
    printf("\n    repeats %llu, why '%s'", (unsigned long long)period.repeats, period.why);
    return false;
}

/* ---- programs ---- */

/* n ranks in a ring, each with both neighbours; iteration `odd` sends one byte more (-1: none does). */
static void halo(uint32_t n, int iterations, int odd, bool collective, double noise)
{
    start_script(&script, n);
    for (uint32_t r = 0; r < n; r++) {
        next_rank(&script);
        add(&script, FC_OP_INIT, -1, 0);
        add(&script, FC_OP_BCAST, 0, 64);
        for (int k = 0; k < iterations; k++) {
            int32_t left = (int32_t)((r + n - 1) % n), right = (int32_t)((r + 1) % n), first = script.n_requests;
            double step_s = 20e-6 + 1e-6 * r;
            if (noise > 0) step_s *= 1 + noise * (fc_random_real(7, r, (uint64_t)k) - 0.5);
            add(&script, FC_OP_IRECV, left, 3000 + (k == odd))->compute_s = step_s;
            add(&script, FC_OP_IRECV, right, 2000)->tag = 1;
            add(&script, FC_OP_ISEND, right, 3000 + (k == odd));
            add(&script, FC_OP_ISEND, left, 2000)->tag = 1;
            add_wait(&script, first, 4);
            if (collective) add(&script, FC_OP_ALLREDUCE, -1, 8)->compute_s = 3e-6;
        }
        add(&script, FC_OP_ALLREDUCE, -1, 16)->compute_s = 50e-6;
        add(&script, FC_OP_FINALIZE, -1, 0);
    }
}

/* The replay by periods beside the one of all; returns the relative error of the time. */
static double by_periods(struct rig *g, uint64_t replayed, double tolerance)
{
    struct fc_trace_source source;
    struct fc_period_use use;
    struct fc_replay part;
    must_replay(g, &script);
    CU_ASSERT_EQUAL_FATAL(fc_source_memory(&script.trace, &source, &g->st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(
        fc_replay_periods(&g->net, &source, &period, &g->placement, &g->settings, &part, &use, &g->st), FC_OK);
    fc_source_close(&source);
    if (use.replayed != replayed) printf("\n    replayed %llu: %s", (unsigned long long)use.replayed, use.why);
    CU_ASSERT_EQUAL_FATAL(use.replayed, replayed);
    const struct fc_prediction *p = &part.prediction, *q = &g->out.prediction;
    CU_ASSERT(fc_near(p->time_s, q->time_s, tolerance));
    CU_ASSERT(fc_near(p->bound_s, q->bound_s, tolerance));
    CU_ASSERT(fc_near(p->computation_s, q->computation_s, 1e-12));
    CU_ASSERT(fc_near(p->network_bytes, q->network_bytes, 1e-12));
    CU_ASSERT(fc_near(p->local_bytes, q->local_bytes, 1e-12));
    CU_ASSERT_EQUAL(part.n_messages, g->out.n_messages);
    CU_ASSERT_EQUAL(part.n_events, g->out.n_events);
    CU_ASSERT_EQUAL(part.n_network_messages, g->out.n_network_messages);
    CU_ASSERT(fc_near(part.alone_s, g->out.alone_s, tolerance));
    double path_s = part.path_link_s + part.path_latency_s, all_s = g->out.path_link_s + g->out.path_latency_s;
    CU_ASSERT(fabs(path_s - all_s) <= tolerance * q->time_s);
    CU_ASSERT(fabs(part.path_interference_s - g->out.path_interference_s) <= tolerance * q->time_s);
    CU_ASSERT_EQUAL(part.n_unmatched_sends, g->out.n_unmatched_sends);
    CU_ASSERT_STRING_EQUAL(p->binds, q->binds);
    for (uint32_t r = 0; r < script.trace.n_ranks; r++) {
        CU_ASSERT(fc_near(part.rank_finish_s[r], g->out.rank_finish_s[r], tolerance));
        CU_ASSERT(fc_near(part.rank_compute_s[r], g->out.rank_compute_s[r], 1e-12));
    }
    for (uint32_t l = 0; l < g->net.n_links; l++) {
        CU_ASSERT(fc_near(part.link_bytes[l], g->out.link_bytes[l], 1e-12));
        CU_ASSERT(fc_near(part.link_busy_s[l], g->out.link_busy_s[l], 1e-9));
    }
    double error = p->time_s / q->time_s - 1;
    fc_replay_free(&part);
    return error;
}

/* ---- what is found ---- */

static void ring_of_ranks(void)
{
    halo(4, 100, -1, false, 0.5);
    find(&script.trace);
    CU_ASSERT_EQUAL_FATAL(period.repeats, 100);
    CU_ASSERT(period.least_calls == 5 && period.most_calls == 5);
    CU_ASSERT(fc_near(period.covers, 500.0 / 504, 1e-12));
    for (int r = 0; r < 4; r++) {
        CU_ASSERT_EQUAL(period.rank[r].n_calls, 504);
        CU_ASSERT_EQUAL(period.rank[r].start, 2);
        CU_ASSERT_EQUAL(period.rank[r].n_requests, 4);
    }
    halo(4, 100, -1, true, 0.5);
    find(&script.trace);
    CU_ASSERT_EQUAL(period.repeats, 100); /* the last allreduce is longer */
    CU_ASSERT_EQUAL(period.most_calls, 6);
}

/* One message differs: what is left about the middle counts, if it is half of the calls. */
static void disturbed(void)
{
    halo(4, 100, 29, false, 0);
    find(&script.trace);
    CU_ASSERT_EQUAL(period.repeats, 70);
    CU_ASSERT_EQUAL(period.rank[0].start, 2 + 30 * 5 - 2); /* the last send and wait of the 30th are as ever */
    halo(4, 100, 52, false, 0);
    find(&script.trace);
    CU_ASSERT_EQUAL(period.repeats, 52);
    CU_ASSERT_EQUAL(period.rank[0].start, 2);
    halo(4, 101, 50, false, 0);
    find(&script.trace);
    CU_ASSERT(why_has("no calls about the middle")); /* the middle call itself is an odd one */
    halo(4, 101, -1, false, 0);
    for (uint32_t r = 0; r < 4; r++) {
        script.event[script.first[r] + 2 + 45 * 5].bytes++;
        script.event[script.first[r] + 2 + 80 * 5].bytes++;
    }
    find(&script.trace);
    CU_ASSERT(why_has("only 33 % of all calls; longest: 34 times 5 calls of rank 0, 34 % of its"));
}

static void nothing_repeats(void)
{
    start_script(&script, 2);
    for (int32_t r = 0; r < 2; r++) {
        next_rank(&script);
        for (int k = 0; k < 100; k++) add(&script, r ? FC_OP_RECV : FC_OP_SEND, 1 - r, k * k);
    }
    find(&script.trace);
    CU_ASSERT(why_has("no calls about the middle of any rank repeat 5 times"));
    script.trace.graph = true;
    find(&script.trace);
    CU_ASSERT(why_has("a graph of dependencies"));
    start_script(&script, 2); /* no calls at all */
    next_rank(&script);
    next_rank(&script);
    find(&script.trace);
    CU_ASSERT(why_has("no calls"));
}

/* Only one side of the messages repeats; requests that stay open. */
static void halves_of_periods(void)
{
    start_script(&script, 2);
    for (int32_t r = 0; r < 2; r++) {
        next_rank(&script);
        for (int k = 0; k < 100; k++) {
            add(&script, r ? FC_OP_RECV : FC_OP_SEND, 1 - r, 8);
            if (r) add(&script, FC_OP_OTHER, -1, k); /* other work each time */
        }
    }
    find(&script.trace);
    CU_ASSERT(why_has("what rank 0 repeats sends to rank 1 what the other does not repeat; longest: 100 "
                      "times 1 calls of rank 0"));
    start_script(&script, 2);
    for (int32_t r = 0; r < 2; r++) {
        next_rank(&script);
        for (int k = 0; k < 100; k++) add(&script, r ? FC_OP_IRECV : FC_OP_ISEND, 1 - r, 8);
    }
    find(&script.trace);
    CU_ASSERT(why_has("no calls about the middle"));
}

/* Rank 0 sends without end, rank 1 hands every second message on: 2, 3 and 1 calls a period. */
static void unlike_ranks(void)
{
    static const struct {
        int32_t n[3];
    } length = {{2, 3, 1}};
    start_script(&script, 3);
    for (int32_t r = 0; r < 3; r++) {
        next_rank(&script);
        for (int k = 0; k < 60; k++) {
            if (r == 0) add(&script, FC_OP_SEND, 1, 8);
            if (r == 0) add(&script, FC_OP_SEND, 1, 8);
            if (r == 1) add(&script, FC_OP_RECV, 0, 8);
            if (r == 1) add(&script, FC_OP_RECV, 0, 8);
            if (r == 1) add(&script, FC_OP_SEND, 2, 9);
            if (r == 2) add(&script, FC_OP_RECV, 1, 9);
        }
    }
    find(&script.trace);
    CU_ASSERT_EQUAL_FATAL(period.repeats, 60);
    for (int r = 0; r < 3; r++) CU_ASSERT_EQUAL(period.rank[r].length, (uint64_t)length.n[r]);
    CU_ASSERT(period.least_calls == 1 && period.most_calls == 3);
    struct rig g;
    open_rig(&g, LINE_YAML);
    by_periods(&g, 16, 1e-9);
    close_rig(&g);
}

/* Collectives on parts of the ranks tell ratios too; a member that does not take part is an obstacle. */
static void sub_communicators(void)
{
    for (int missing = 0; missing < 2; missing++) {
        start_script(&script, 4);
        add_comm(&script, 0, 2);
        add_comm(&script, 1, 3);
        for (uint32_t r = 0; r < 4; r++) {
            next_rank(&script);
            for (int k = 0; k < 40; k++) {
                for (int twice = 0; r < 2 && twice < 2; twice++) add(&script, FC_OP_BARRIER, -1, 0)->comm = 1;
                if (r > 0 && !(missing && r == 3)) add(&script, FC_OP_ALLREDUCE, -1, 8)->comm = 2;
            }
        }
        find(&script.trace);
        if (missing) {
            CU_ASSERT(why_has("only 2 of the 3 members of communicator 2 repeat"));
            continue;
        }
        CU_ASSERT_EQUAL_FATAL(period.repeats, 40);
        CU_ASSERT(period.rank[0].length == 2 && period.rank[1].length == 3 && period.rank[3].length == 1);
    }
}

/* A master that takes what comes, first come first served. */
static void receives_from_anyone(void)
{
    for (int lost = 0; lost < 2; lost++) {
        start_script(&script, 4);
        for (int32_t r = 0; r < 4; r++) {
            next_rank(&script);
            for (int k = 0; k < 50; k++) {
                for (int i = 0; r == 0 && i < 3 - lost; i++) add(&script, FC_OP_RECV, FC_ANY, 8);
                if (r) add(&script, FC_OP_SEND, 0, 8)->compute_s = 1e-6 * r;
                for (int i = 1; r == 0 && i < 4; i++) add(&script, FC_OP_SEND, i, 4);
                if (r) add(&script, FC_OP_RECV, 0, 4);
            }
        }
        find(&script.trace);
        if (lost) {
            CU_ASSERT(why_has("rank 0 receives from anyone"));
            continue;
        }
        CU_ASSERT_EQUAL_FATAL(period.repeats, 50);
        struct rig g;
        open_rig(&g, LINE_YAML);
        by_periods(&g, 16, 1e-9);
        close_rig(&g);
    }
}

/* One rank of calls of two kinds at random with repetitions planted: all stretches through the middle, tried
 * one by one. */
static void every_stretch(void)
{
    for (uint64_t seed = 0; seed < 300; seed++) {
        start_script(&script, 1);
        next_rank(&script);
        int n = 1 + (int)(120 * fc_random_real(seed, 1, 0)), p = 1 + (int)(12 * fc_random_real(seed, 2, 0));
        int from = (int)(n * 0.6 * fc_random_real(seed, 3, 0));
        for (int i = 0; i < n; i++) {
            int64_t letter = fc_random_real(seed, 4, (uint64_t)i) < 0.5;
            if (i >= from + p && i < from + p * 9) letter = script.event[i - p].bytes;
            add(&script, FC_OP_OTHER, -1, letter);
            if (i % 7 == 0) add(&script, FC_OP_OTHER, -1, 0)->op = FC_OP_OTHER;
        }
        const struct fc_event *e = script.event;
        int64_t all = (int64_t)script.first[1], c = all / 2, gain = 0, start = 0, length = 0, best = 0;
        for (int64_t q = 1; q < all - c; q++) {
            int64_t low = c, high = c;
            while (high + q < all && e[high].bytes == e[high + q].bytes) high++;
            while (low > 0 && e[low - 1].bytes == e[low - 1 + q].bytes) low--;
            if ((high + q - low) / q < FC_LEAST_REPEATS || high + q - low - 4 * q <= gain) continue;
            gain = high + q - low - 4 * q;
            start = low;
            length = high + q - low;
            best = q;
        }
        find(&script.trace);
        if (best && 2 * (length / best * best) >= all) {
            CU_ASSERT_EQUAL(period.repeats, (uint64_t)(length / best));
            CU_ASSERT_EQUAL(period.rank[0].length, (uint64_t)best);
            CU_ASSERT_EQUAL(period.rank[0].start, (uint64_t)start);
        } else {
            CU_ASSERT_EQUAL(period.repeats, 0);
        }
    }
}

/* ---- the time by some periods ---- */

static void steady_state_is_exact(void)
{
    static const enum fc_network_model models[] = {FC_NET_IDEAL, FC_NET_CONTENTION};
    struct rig g;
    open_rig(&g, LINE_OF("delay: 50 ns, arbitration: age")); /* all have the same of a link: soon steady */
    for (int collective = 0; collective < 2; collective++)
        for (size_t i = 0; i < FC_COUNT(models); i++) {
            halo(8, 100, -1, collective, 0);
            find(&script.trace);
            CU_ASSERT_EQUAL_FATAL(period.repeats, 100);
            g.settings.network = models[i];
            g.settings.software.compute_scale = 1.5;
            by_periods(&g, 16, 1e-9);
        }
    close_rig(&g);
}

static void noise_averages_out(void)
{
    struct rig g;
    open_rig(&g, LINE_YAML);
    halo(4, 240, -1, true, 0.3);
    find(&script.trace);
    CU_ASSERT_EQUAL_FATAL(period.repeats, 240);
    struct fc_trace_source source;
    struct fc_period_use use;
    struct fc_replay part;
    must_replay(&g, &script);
    CU_ASSERT_EQUAL_FATAL(fc_source_memory(&script.trace, &source, &g.st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(fc_replay_periods(&g.net, &source, &period, &g.placement, &g.settings, &part, &use, &g.st),
                          FC_OK);
    fc_source_close(&source);
    CU_ASSERT(use.replayed >= 16 && use.change_percent < 0.5);
    CU_ASSERT(fc_near(part.prediction.time_s, g.out.prediction.time_s, 0.02));
    CU_ASSERT(fc_near(part.prediction.computation_s, g.out.prediction.computation_s, 1e-12));
    fc_replay_free(&part);
    close_rig(&g);
}

/* Nodes of two speeds, and ranks with a factor of their own: computation that is known counts as it is replayed. */
static void unlike_speeds(void)
{
    static const double rank_scale[] = {1, 1.25, 1, 0.5};
    struct rig g;
    open_rig(&g, "name: line\nnetwork: {family: mesh, dims: [4], nodes_per_router: 2}\n"
                 "links: {mesh: {bandwidth: 1 GB/s, latency: 100 ns}, injection: {bandwidth: 2 GB/s}}\n"
                 "node: [{hosts: 0-1, cores: 2, compute_scale: 3}, {cores: 2}]\n");
    for (int scaled = 0; scaled < 2; scaled++) {
        halo(4, 100, -1, true, 0);
        find(&script.trace);
        g.settings.rank_scale = scaled ? rank_scale : NULL;
        by_periods(&g, 16, 1e-9);
    }
    close_rig(&g);
}

/* Receives are posted a period ahead, so that requests cross the ends of periods, the stretch's included. */
static void requests_across_periods(void)
{
    struct rig g;
    open_rig(&g, LINE_YAML);
    start_script(&script, 2);
    for (int32_t r = 0; r < 2; r++) {
        next_rank(&script);
        add(&script, FC_OP_IRECV, 1 - r, 70)->tag = 9; /* waited for at the very end */
        add(&script, FC_OP_IRECV, 1 - r, 500);
        for (int k = 0; k < 64; k++) {
            add(&script, FC_OP_IRECV, 1 - r, 500)->compute_s = 1e-5;
            add(&script, FC_OP_SEND, 1 - r, 500);
            add_wait(&script, k + 1, 1);
        }
        add(&script, FC_OP_SEND, 1 - r, 500);
        add(&script, FC_OP_SEND, 1 - r, 70)->tag = 9;
        add_wait(&script, 65, 1);
        add_wait(&script, 0, 1);
    }
    find(&script.trace);
    CU_ASSERT_EQUAL_FATAL(period.repeats, 64);
    by_periods(&g, 16, 1e-9);
    close_rig(&g);
}

static void not_worth_it(void)
{
    struct rig g;
    struct fc_trace_source source;
    struct fc_period_use use;
    struct fc_replay part;
    open_rig(&g, LINE_YAML);
    for (int few = 0; few < 2; few++) {
        halo(4, few ? 31 : 101, few ? -1 : 50, false, 0);
        find(&script.trace);
        CU_ASSERT_EQUAL(period.repeats, few ? 31 : 0);
        CU_ASSERT_EQUAL_FATAL(fc_source_memory(&script.trace, &source, &g.st), FC_OK);
        CU_ASSERT_EQUAL(fc_replay_periods(&g.net, &source, &period, NULL, &g.settings, &part, &use, &g.st), FC_OK);
        fc_source_close(&source);
        CU_ASSERT_EQUAL(use.replayed, 0);
        CU_ASSERT_PTR_NOT_NULL(
            strstr(use.why, few ? "repeats 31 times (expected at least 32)" : "no period: no calls about the middle"));
    }
    close_rig(&g);
}

/* Rank 1 is busy for 2 ms before it takes what rank 0 has sent meanwhile: up to 150 messages cost nothing. */
static void hidden_periods(void)
{
    for (int late = 0; late < 2; late++) {
        struct rig g;
        struct fc_trace_source source;
        struct fc_period_use use;
        struct fc_replay part;
        open_rig(&g, LINE_YAML);
        start_script(&script, 2);
        for (int32_t r = 0; r < 2; r++) {
            next_rank(&script);
            if (r) add(&script, FC_OP_OTHER, -1, 0)->compute_s = late ? 2e-3 : 0;
            for (int k = 0; k < 400; k++)
                add(&script, r ? FC_OP_RECV : FC_OP_SEND, 1 - r, 80)->compute_s = r ? 1e-6 : 10e-6;
        }
        find(&script.trace);
        CU_ASSERT_EQUAL_FATAL(period.repeats, 400);
        if (!late) {
            by_periods(&g, 16, 1e-9);
            close_rig(&g);
            continue;
        }
        CU_ASSERT_EQUAL_FATAL(fc_source_memory(&script.trace, &source, &g.st), FC_OK);
        CU_ASSERT_EQUAL(fc_replay_periods(&g.net, &source, &period, NULL, &g.settings, &part, &use, &g.st), FC_OK);
        fc_source_close(&source);
        CU_ASSERT_EQUAL(use.replayed, 0);
        CU_ASSERT_PTR_NOT_NULL(strstr(use.why, "128 of them do not show how long they take"));
        close_rig(&g);
    }
}

/* Shortened by hand: which periods stay, and what is refused. */
static void shortened(void)
{
    struct fc_trace_source source;
    struct fc_status st = {0};
    struct fc_trace t;
    struct fc_period left;
    halo(2, 60, -1, false, 0);
    for (uint64_t i = 0; i < script.first[2]; i++)
        script.event[i].tag = script.event[i].op == FC_OP_WAIT ? 0 : script.event[i].tag;
    find(&script.trace);
    for (int k = 0; k < 60; k++) script.event[2 + 5 * k].compute_s = k + 1;
    CU_ASSERT_EQUAL_FATAL(fc_source_memory(&script.trace, &source, &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(fc_trace_shorten(&source, &period, 4, 1000, &t, &left, &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(t.first_event[1], 4 + 4 * 5);
    CU_ASSERT_EQUAL(fc_period_calls(&period, 4), t.first_event[2]);
    for (int k = 0; k < 4; k++) {
        const struct fc_event *e = &t.events[2 + 5 * k];
        CU_ASSERT_EQUAL(e->compute_s, 15 * (k + 1)); /* the 15th, 30th, 45th, 60th */
        CU_ASSERT_EQUAL(e->request, 4 * k);
        CU_ASSERT_EQUAL(t.lists[e[4].list + 3], 4 * k + 3);
    }
    CU_ASSERT(left.repeats == 4 && left.rank[0].n_calls == 24);
    fc_trace_free(&t);
    fc_period_free(&left);
    CU_ASSERT_EQUAL(fc_trace_shorten(&source, &period, 4, 10, &t, &left, &st), FC_NO);
    CU_ASSERT(fc_says(&st, FC_NO, "48 calls are left with 4 periods (at most 10)"));
    st = (struct fc_status){0};
    CU_ASSERT_EQUAL(fc_trace_shorten(&source, &period, 61, 1000, &t, &left, &st), FC_INPUT);
    CU_ASSERT(fc_says(&st, FC_INPUT, "61 of the trace's 60 periods cannot be kept"));
    fc_source_close(&source);
}

static void samples(void)
{
    static const char *const files[] = {"traces/samples/lammps-lj-16.fct", "traces/samples/qe-si-16.fct"};
    for (size_t i = 0; i < FC_COUNT(files); i++) {
        struct fc_trace_source source;
        struct fc_status st = {0};
        fc_period_free(&period);
        CU_ASSERT_EQUAL_FATAL(fc_source_open(files[i], NULL, &source, &st), FC_OK);
        CU_ASSERT_EQUAL_FATAL(fc_period_find(&source, &period, &st), FC_OK);
        CU_ASSERT(
            why_has("no calls about the middle")); /* neighbour lists and iterations to convergence change sizes */
        fc_source_close(&source);
    }
    fc_period_free(&period);
}

int suite_trace_period(void)
{
    static const CU_TestInfo tests[] = {
        {"a ring of ranks with noise: period, start, repetitions", ring_of_ranks},
        {"a message that differs cuts the stretch", disturbed},
        {"nothing repeats", nothing_repeats},
        {"one side repeats, requests stay open", halves_of_periods},
        {"ranks with periods of unlike length", unlike_ranks},
        {"collectives on parts of the ranks", sub_communicators},
        {"receives from anyone", receives_from_anyone},
        {"the stretch is that of a search of all", every_stretch},
        {"a steady state is exact", steady_state_is_exact},
        {"noise averages out", noise_averages_out},
        {"nodes and ranks of unlike speeds", unlike_speeds},
        {"requests across the ends of periods", requests_across_periods},
        {"too few periods, none", not_worth_it},
        {"what comes before hides the periods", hidden_periods},
        {"a shortened trace", shortened},
        {"the samples have no period", samples},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("trace_period", tests);
}
