/* test_replay_jobs.c - whole jobs: collectives, communicators, bounds and conservation on random traces,
 * recorded programs, routes. Registered by suite_replay. */
#include "solvers/transit/transit_internal.h"
#include "tests/replay_script.h"

#include <unistd.h>

/* ---- collectives ---- */

/* Dissemination in LogP: ceil(log2 n) rounds of 2 o + L. */
static void barriers(void)
{
    for (uint32_t n = 2; n <= 33; n++) {
        struct rig g = {0};
        uint32_t rounds = 0;
        while (1u << rounds < n) rounds++;
        start_script(&script, n);
        for (uint32_t r = 0; r < n; r++) {
            next_rank(&script);
            add(&script, FC_OP_INIT, -1, 0);
            if (n % 2) add(&script, FC_OP_BARRIER, -1, 0);
            add(&script, FC_OP_FINALIZE, -1, 0); /* one too, as all ranks end with it */
        }
        use_loggops(&g, 2e-6, 0.7e-6, 0.5e-6, 1e-9);
        CU_ASSERT_EQUAL(fc_replay_run(NULL, &script.trace, NULL, &g.settings, &g.out, &g.st), FC_OK);
        CU_ASSERT(fc_near(g.out.prediction.time_s, (n % 2 ? 2 : 1) * rounds * (2 * 0.7e-6 + 2e-6), 1e-12));
        CU_ASSERT(fc_near(g.out.collective_s, g.out.prediction.time_s, 1e-12));
        fc_replay_free(&g.out);
    }
}

/* Long messages inside a collective announce themselves too: the root is held until the leaf has it. */
static void long_broadcast(void)
{
    struct rig g;
    open_rig(&g, LINE_YAML);
    start_script(&script, 2);
    for (int r = 0; r < 2; r++) {
        next_rank(&script);
        add(&script, FC_OP_BCAST, 0, 2000000)->compute_s = r * 1e-3;
    }
    g.node[1] = 2;
    must_replay(&g, &script);
    double arrives_s = 1e-3 + 2 * line_head_s(1) + 2e-3;
    CU_ASSERT(fc_near(g.out.rank_finish_s[0], arrives_s, 1e-12));
    CU_ASSERT(fc_near(g.out.rank_finish_s[1], arrives_s + 2e-6, 1e-12));
    CU_ASSERT(fc_near(g.out.collective_s, (arrives_s + arrives_s - 1e-3 + 2e-6) / 2, 1e-12));
    close_rig(&g);
}

/* A nonblocking barrier goes on beside the program: rank 1 enters it only after rank 0's message, which
 * rank 0 sends after starting it. Replayed as blocking calls this would hang. */
static void nonblocking_barrier(void)
{
    struct rig g = {0};
    start_script(&script, 2);
    for (int32_t r = 0; r < 2; r++) {
        next_rank(&script);
        if (r == 1) add(&script, FC_OP_RECV, 0, 1);
        struct fc_event *e = add(&script, FC_OP_BARRIER, -1, 0);
        e->mode = 1;
        e->request = script.n_requests++;
        if (r == 0) add(&script, FC_OP_SEND, 1, 1)->compute_s = 100e-6;
        add_wait(&script, 0, 1);
    }
    use_loggops(&g, 2e-6, 0.7e-6, 0, 0);
    CU_ASSERT_EQUAL(fc_replay_run(NULL, &script.trace, NULL, &g.settings, &g.out, &g.st), FC_OK);
    /* rank 1 starts at 100 + o + L + o; rank 0 learns of it o + L + o later, rank 1 has rank 0's token
     * already */
    double late_s = 100e-6 + 3.4e-6;
    CU_ASSERT(fc_near(g.out.rank_finish_s[0], late_s + 3.4e-6, 1e-12));
    CU_ASSERT(fc_near(g.out.rank_finish_s[1], late_s + 1.4e-6, 1e-12));
    fc_replay_free(&g.out);
}

/* One that nobody waits for and that not all ranks enter delays nobody, in either run. */
static void abandoned_barrier(void)
{
    struct rig g;
    open_rig(&g, LINE_YAML);
    start_script(&script, 3);
    for (int32_t r = 0; r < 3; r++) {
        next_rank(&script);
        if (r == 2) continue;
        struct fc_event *e = add(&script, FC_OP_BARRIER, -1, 0);
        e->mode = 1;
        e->request = script.n_requests++;
        add(&script, r ? FC_OP_RECV : FC_OP_SEND, 1 - r, 1000);
    }
    g.node[1] = 2;
    g.node[2] = 4;
    must_replay(&g, &script);
    CU_ASSERT(fc_near(g.out.rank_finish_s[0], 1e-6, 1e-12));
    CU_ASSERT(g.out.rank_finish_s[1] < 3e-6 + line_head_s(1) + 2e-6);
    close_rig(&g);
}

/* Two halves of the world do their own allreduce at the same time; roots are world ranks; the demand holds
 * it all. */
static void sub_communicators(void)
{
    struct rig g;
    open_rig(&g, LINE_YAML);
    start_script(&script, 8);
    add_comm(&script, 0, 4);
    add_comm(&script, 4, 4);
    for (int32_t r = 0; r < 8; r++) {
        next_rank(&script);
        struct fc_event *made = add(&script, FC_OP_COMM, 0, 0);
        made->comm = 1 + r / 4;
        add(&script, FC_OP_ALLREDUCE, -1, 64)->comm = 1 + r / 4;
        add(&script, FC_OP_BCAST, r / 4 * 4 + 3, 100)->comm = 1 + r / 4;
        if (r == 2) add(&script, FC_OP_SEND, 7, 5000);
        if (r == 7) add(&script, FC_OP_RECV, 2, 5000);
    }
    must_replay(&g, &script);
    struct fc_demand demand;
    CU_ASSERT_EQUAL_FATAL(fc_demand_of_job(&script.trace, &demand, &g.st), FC_OK);
    double bytes = 0, messages = 0, pair[8][8] = {{0}};
    for (size_t i = 0; i < demand.n_entries; i++) {
        bytes += demand.bytes[i];
        messages += demand.messages[i];
        pair[demand.src[i]][demand.dst[i]] += demand.bytes[i];
        if (i)
            CU_ASSERT(demand.src[i - 1] < demand.src[i] ||
                      (demand.src[i - 1] == demand.src[i] && demand.dst[i - 1] < demand.dst[i]));
    }
    /* comm: 8 ranks gather 7 x 8 bytes in 3 rounds; allreduce 2 x 4 x 2 messages of 64; bcast 2 x 3 of 100 */
    CU_ASSERT_EQUAL(bytes, 8 * 7 * 8 + 16 * 64 + 6 * 100 + 5000);
    CU_ASSERT_EQUAL(messages, 8 * 3 + 16 + 6 + 1);
    CU_ASSERT_EQUAL(pair[2][7], 5000);
    CU_ASSERT_EQUAL(pair[3][7], 4 * 8);       /* the last round of the doubling allgather */
    for (int half = 0; half < 8; half += 4) { /* roots 3 and 7: the tree is 3 -> 1 -> 2, 3 -> 0 */
        CU_ASSERT_EQUAL(pair[half + 3][half + 1], 2 * 8 + 64 + 100);
        CU_ASSERT_EQUAL(pair[half + 3][half], 100);
        CU_ASSERT_EQUAL(pair[half + 1][half + 2], 100);
        CU_ASSERT_EQUAL(pair[half][half + 1], 8 + 64);
    }
    CU_ASSERT_EQUAL((double)g.out.n_messages, messages);
    CU_ASSERT_EQUAL(g.out.prediction.network_bytes + g.out.prediction.local_bytes, bytes);
    fc_demand_free(&demand);
    close_rig(&g);
}

/* Members may contribute different amounts; alltoallv's sizes come from the list. */
static void uneven_collectives(void)
{
    struct rig g;
    open_rig(&g, LINE_YAML);
    start_script(&script, 4);
    for (int32_t r = 0; r < 4; r++) {
        next_rank(&script);
        add(&script, FC_OP_ALLGATHER, -1, 10 * (r + 1));
        add(&script, FC_OP_GATHER, 2, 1000 * r);
        for (int call = 0; call < 2; call++) { /* the same total, to other members */
            struct fc_event *e = add(&script, FC_OP_ALLTOALLV, -1, 0);
            e->list = script.trace.n_lists;
            e->n_list = 4;
            for (int64_t d = 0; d < 4; d++)
                e->bytes += script.list[script.trace.n_lists++] = d == (r + 1 + 2 * call) % 4 ? 400 : d == r ? 7 : 0;
        }
    }
    must_replay(&g, &script);
    struct fc_demand demand;
    CU_ASSERT_EQUAL_FATAL(fc_demand_of_job(&script.trace, &demand, &g.st), FC_OK);
    double bytes = fc_demand_bytes(&demand);
    /* allgather: each receives the others' 100 - own; gather on root 2: 3 -> 2 3000, 1 -> 0 1000... up a
     * binomial tree numbered from 2: 3 -> 2, 1 -> 0 -> 2; alltoallv: 400 to the next, then 400 to the one
     * before */
    CU_ASSERT_EQUAL(bytes, 300 + 3000 + 1000 + 1000 + 8 * 400);
    for (size_t i = 0; i < demand.n_entries; i++)
        if (demand.dst[i] == (demand.src[i] + 1) % 4 || demand.src[i] == (demand.dst[i] + 1) % 4)
            CU_ASSERT(demand.bytes[i] >= 400);
    CU_ASSERT_EQUAL(g.out.prediction.network_bytes + g.out.prediction.local_bytes, bytes);
    fc_demand_free(&demand);
    close_rig(&g);
}

/* ---- properties on random traces ---- */

/* Rounds in which everyone sends to a few random others without blocking, with computation and now and then a
 * collective. */
static void draw_job(struct script *s, uint32_t n_ranks, uint64_t seed)
{
    enum { ROUNDS = 4, DEGREE = 3 };
    static int32_t from[ROUNDS][MOST_RANKS][MOST_RANKS * DEGREE];
    static int64_t bytes[ROUNDS][MOST_RANKS][MOST_RANKS * DEGREE];
    int32_t n_from[ROUNDS][MOST_RANKS] = {{0}};
    start_script(s, n_ranks);
    for (int k = 0; k < ROUNDS; k++)
        for (uint32_t r = 0; r < n_ranks; r++)
            for (int j = 0; j < DEGREE; j++) {
                uint64_t index = ((uint64_t)k * MOST_RANKS + r) * DEGREE + (uint64_t)j;
                uint32_t to = (uint32_t)fc_random_below(seed, 1, index, n_ranks);
                from[k][to][n_from[k][to]] = (int32_t)r;
                bytes[k][to][n_from[k][to]++] = (int64_t)exp(12 * fc_random_real(seed, 2, index)) - 1;
            }
    for (uint32_t r = 0; r < n_ranks; r++) {
        next_rank(s);
        for (int k = 0; k < ROUNDS; k++) {
            int32_t first = s->n_requests;
            for (int32_t i = 0; i < n_from[k][r]; i++) add(s, FC_OP_IRECV, from[k][r][i], bytes[k][r][i])->tag = k;
            for (uint32_t to = 0; to < n_ranks; to++)
                for (int32_t i = 0; i < n_from[k][to]; i++)
                    if (from[k][to][i] == (int32_t)r) {
                        struct fc_event *e = add(s, FC_OP_ISEND, (int32_t)to, bytes[k][to][i]);
                        e->tag = k;
                        e->compute_s = 1e-6 * fc_random_real(seed, 3, (uint64_t)k * MOST_RANKS + r);
                    }
            add_wait(s, first, s->n_requests - first);
            if (seed % 3 == 0) add(s, FC_OP_ALLREDUCE, -1, 100 << 3 * k);
            if (seed % 3 == 1 && k == 2) add(s, FC_OP_BCAST, (int32_t)(seed % n_ranks), 100000);
        }
    }
}

/* Router-to-router bytes of the links, and the same from the messages' hops: minimal routing on a torus of
 * 3 x 4 x 5. */
static double ring_hops(uint32_t a, uint32_t b, uint32_t k)
{
    uint32_t d = a > b ? a - b : b - a;
    return d < k - d ? d : k - d;
}
static double hop_bytes(const struct fc_demand *d, const uint32_t *node)
{
    double sum = 0;
    for (size_t i = 0; i < d->n_entries; i++) {
        uint32_t a = node[d->src[i]], b = node[d->dst[i]];
        sum += d->bytes[i] *
               (ring_hops(a % 3, b % 3, 3) + ring_hops(a / 3 % 4, b / 3 % 4, 4) + ring_hops(a / 12, b / 12, 5));
    }
    return sum;
}

static void check_random_job(struct rig *g, uint64_t seed, uint32_t n_ranks, bool minimal)
{
    struct fc_demand demand;
    draw_job(&script, n_ranks, seed);
    for (uint32_t r = 0; r < n_ranks; r++) g->node[r] = (uint32_t)fc_random_below(seed, 4, r, 60);
    g->settings.network = FC_NET_IDEAL;
    must_replay(g, &script);
    double ideal_s = g->out.prediction.time_s;
    g->settings.network = FC_NET_CONTENTION;
    must_replay(g, &script);
    const struct fc_prediction *p = &g->out.prediction;
    CU_ASSERT(p->time_s >= ideal_s * (1 - 1e-12));
    CU_ASSERT(p->bound_s >= ideal_s * (1 - 1e-12) && p->bound_s <= p->time_s);
    CU_ASSERT(p->percent_of_peak > 0 && p->percent_of_peak <= 100);
    double busiest_s = 0, on_links = 0, from_nodes = 0, sent = 0, first_s = p->time_s, wait_s = g->out.link_wait_s;
    for (uint32_t l = 0; l < g->net.n_links; l++) {
        busiest_s = fmax(busiest_s, g->out.link_busy_s[l]);
        if (!fc_is_node(&g->net, g->net.link_source[l]) && !fc_is_node(&g->net, g->net.link_target[l]))
            on_links += g->out.link_bytes[l];
        if (fc_is_node(&g->net, g->net.link_source[l])) from_nodes += g->out.link_bytes[l];
    }
    CU_ASSERT(busiest_s <= p->time_s);
    CU_ASSERT(p->bottleneck == FC_NONE || g->out.link_busy_s[p->bottleneck] == busiest_s);
    CU_ASSERT_EQUAL_FATAL(fc_demand_of_job(&script.trace, &demand, &g->st), FC_OK);
    for (size_t i = 0; i < demand.n_entries; i++) sent += demand.bytes[i];
    CU_ASSERT(fc_near(p->network_bytes + p->local_bytes, sent, 1e-12));
    CU_ASSERT(fc_near(from_nodes, p->network_bytes, 1e-12));
    if (minimal) CU_ASSERT(fc_near(on_links, hop_bytes(&demand, g->node), 1e-9));
    fc_demand_free(&demand);
    must_replay(g, &script); /* again: the very same */
    CU_ASSERT(p->time_s == first_s && g->out.link_wait_s == wait_s);
}

static void ideal_is_a_bound(void)
{
    static const char *const routings[] = {"dimension-order", "adaptive", "valiant"};
    struct rig g;
    for (int k = 0; k < 3; k++) {
        open_torus(&g, "3, 4, 5", routings[k]);
        for (uint64_t seed = 0; seed < 12; seed++) check_random_job(&g, seed, 2 + (uint32_t)seed * 5, k < 2);
        close_rig(&g);
    }
}

/* Moving every rank by the same offset on a torus without ties changes no time. */
static void translation(void)
{
    struct rig g;
    open_torus(&g, "5, 5", "dimension-order");
    draw_job(&script, 25, 0);
    double time_s[2], wait_s[2];
    for (uint32_t shift = 0; shift < 2; shift++) {
        for (uint32_t r = 0; r < 25; r++) g.node[r] = (r % 5 + 3 * shift) % 5 + (r / 5 + 2 * shift) % 5 * 5;
        must_replay(&g, &script);
        time_s[shift] = g.out.prediction.time_s;
        wait_s[shift] = g.out.link_wait_s;
    }
    CU_ASSERT_EQUAL(time_s[0], time_s[1]);
    CU_ASSERT(fc_near(wait_s[0], wait_s[1], 1e-12));
    close_rig(&g);
}

/* Recorded programs (LAMMPS; Quantum ESPRESSO, 1,441 communicators): every byte of the job's demand is
 * sent once. */
static void recorded_jobs(void)
{
    static const char *const files[] = {"traces/samples/lammps-lj-16.fct", "traces/samples/qe-si-16.fct"};
    struct rig g;
    open_torus(&g, "3, 4, 5", "adaptive");
    for (size_t i = 0; i < FC_COUNT(files); i++) {
        struct fc_trace trace;
        struct fc_demand demand;
        double bytes = 0, messages = 0;
        CU_ASSERT_EQUAL_FATAL(fc_trace_read(files[i], &trace, &g.st), FC_OK);
        CU_ASSERT_EQUAL_FATAL(fc_demand_of_job(&trace, &demand, &g.st), FC_OK);
        g.placement = (struct fc_placement){trace.n_ranks, g.node};
        fc_replay_free(&g.out);
        CU_ASSERT_EQUAL_FATAL(fc_replay_run(&g.net, &trace, &g.placement, &g.settings, &g.out, &g.st), FC_OK);
        for (size_t e = 0; e < demand.n_entries; e++) {
            bytes += demand.bytes[e];
            messages += demand.messages[e];
        }
        const struct fc_prediction *p = &g.out.prediction;
        CU_ASSERT(fc_near(p->network_bytes + p->local_bytes, bytes, 1e-9));
        CU_ASSERT_EQUAL((double)g.out.n_messages, messages);
        CU_ASSERT(p->percent_of_peak > 50 && p->percent_of_peak <= 100 && p->computation_s < p->bound_s);
        fc_demand_free(&demand);
        fc_trace_free(&trace);
    }
    close_rig(&g);
}

/* AMG on 27 ranks of Hopper (Cray XE6): a window of 0.0447 s by its own clock (README of the reference traces). */
static void measured_window(void)
{
    static const char amg[] = "../shared/reference/traces/dumpi/amg27";
    struct fc_trace trace;
    struct rig g;
    if (access(amg, R_OK)) {
        printf("(skipped: %s is not there) ", amg);
        return;
    }
    memset(&g, 0, sizeof g);
    CU_ASSERT_FATAL(!fc_machine_load("gemini-xe6", &g.machine, &g.st) && !fc_network_build(&g.machine, &g.net, &g.st) &&
                    !fc_trace_read(amg, &trace, &g.st));
    g.settings = (struct fc_replay_settings){.network = FC_NET_CONTENTION, .software = g.machine.software};
    CU_ASSERT_EQUAL_FATAL(fc_replay_run(&g.net, &trace, NULL, &g.settings, &g.out, &g.st), FC_OK);
    CU_ASSERT(fc_near(g.out.prediction.time_s, 0.0447, 0.1));
    fc_trace_free(&trace);
    close_rig(&g);
}

/* The default mapping fills nodes in order. */
static void default_mapping(void)
{
    struct rig g;
    open_rig(&g, LINE_YAML);
    draw_job(&script, 16, 1);
    for (uint32_t r = 0; r < 16; r++) g.node[r] = r / 2;
    must_replay(&g, &script);
    double time_s = g.out.prediction.time_s;
    fc_replay_free(&g.out);
    CU_ASSERT_EQUAL(fc_replay_run(&g.net, &script.trace, NULL, &g.settings, &g.out, &g.st), FC_OK);
    CU_ASSERT_EQUAL(g.out.prediction.time_s, time_s);
    close_rig(&g);
}

/* ---- routes ---- */

/* What all pairs' paths carry is the routing's flow: each path leads from node to node, shares sum to 1, a
 * route of one path is that path, and drawn routes load the links as the walks do, but for the noise of
 * drawing 8 paths a pair (half of a link's load at most; 5 % for all links of a dimension and direction
 * together). */
static void routes_follow_the_routing(void)
{
    static const char *const routings[] = {"dimension-order", "adaptive", "valiant"};
    for (int k = 0; k < 3; k++) {
        struct rig g;
        struct fc_transit_ways routes;
        struct fc_walk walk;
        static double drawn[1000], asked[1000];
        open_torus(&g, "4, 4, 2", routings[k]);
        memset(drawn, 0, sizeof drawn);
        memset(asked, 0, sizeof asked);
        CU_ASSERT_EQUAL_FATAL(fc_transit_ways_open(&routes, &g.net, NULL, &g.st), FC_OK);
        CU_ASSERT_EQUAL_FATAL(fc_walk_start(&walk, g.machine.routing->walk_capacity(&g.net), &g.st), FC_OK);
        for (uint32_t s = 0; s < 32; s++)
            for (uint32_t d = 0; d < 32; d++) {
                if (s == d) continue;
                walk.n = 0;
                g.machine.routing->walk(&g.net, s, d, 1, &walk);
                for (uint32_t i = 0; i < walk.n; i++) asked[walk.link[i]] += walk.weight[i];
                uint32_t route = fc_transit_route_find(&routes, s, d);
                CU_ASSERT_FATAL(route != FC_NONE);
                CU_ASSERT(routes.n_paths >= 1 && routes.n_paths <= routes.most_paths);
                CU_ASSERT_EQUAL(routes.route[route].n_paths, routes.n_paths);
                double share = 0;
                for (uint32_t p = 0; p < routes.n_paths; p++) {
                    uint32_t at = fc_node_vertex(&g.net, s);
                    for (uint32_t i = routes.path[p].first; i < routes.path[p].first + routes.path[p].n; i++) {
                        CU_ASSERT_EQUAL_FATAL(g.net.link_source[routes.path_link[i]], at);
                        at = g.net.link_target[routes.path_link[i]];
                        drawn[routes.path_link[i]] += routes.path[p].share;
                    }
                    CU_ASSERT_EQUAL(at, fc_node_vertex(&g.net, d));
                    share += routes.path[p].share;
                }
                CU_ASSERT_DOUBLE_EQUAL(share, 1, 1e-12);
                CU_ASSERT_EQUAL(route, fc_transit_route_find(&routes, s, d)); /* made once */
            }
        double total_drawn = 0, total_asked = 0, way_drawn[6] = {0}, way_asked[6] = {0};
        for (uint32_t l = 0; l < g.net.n_links; l++) {
            CU_ASSERT(fabs(drawn[l] - asked[l]) < (k == 0 ? 1e-9 : 0.5 * asked[l]));
            total_drawn += drawn[l];
            total_asked += asked[l];
        }
        for (uint32_t v = 0; v < 32; v++)
            for (int way = 0; way < 6; way++) {
                uint32_t l = fc_torus_port(&g.net, v, way / 2, way % 2);
                way_drawn[way] += drawn[l];
                way_asked[way] += asked[l];
            }
        for (int way = 0; way < 6; way++) CU_ASSERT(fabs(way_drawn[way] - way_asked[way]) < 0.05 * way_asked[way]);
        CU_ASSERT(fabs(total_drawn - total_asked) <
                  (k < 2 ? 1e-9 : 0.01) * total_asked); /* hops of minimal routes are exact */
        fc_walk_free(&walk);
        fc_transit_ways_close(&routes);
        close_rig(&g);
    }
}

/* A routing that says so spreads messages over more paths: a quarter of them over the cell's own link, as the routing has it, the
 * others each over a leaf switch of its own. */
static void more_paths(void)
{
    struct rig g;
    struct fc_transit_ways routes;
    open_rig(&g, "name: t\nnetwork: {family: dragonfly-plus, cells: [3], leaves: [24], nodes_per_cell: [24]}\n"
                 "links: {local: {bandwidth: 1 GB/s}, global: {bandwidth: 1 GB/s}, injection: {bandwidth: 4 GB/s}}\n"
                 "router: {routing: ugal}\n");
    CU_ASSERT_EQUAL_FATAL(fc_transit_ways_open(&routes, &g.net, NULL, &g.st), FC_OK);
    CU_ASSERT_EQUAL(routes.most_paths, 16);
    uint32_t route = fc_transit_route_find(&routes, 0, 5);
    CU_ASSERT_FATAL(route != FC_NONE);
    double direct = 0;
    uint32_t n_around = 0;
    for (uint32_t p = 0; p < routes.n_paths; p++) {
        bool own = routes.path[p].n == 3;
        if (own) direct += routes.path[p].share;
        if (!own) n_around++;
        CU_ASSERT(own || fabs(routes.path[p].share - 1.0 / 16) < 1e-12);
    }
    CU_ASSERT_DOUBLE_EQUAL(direct, 0.25, 1.0 / 16 + 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(direct + n_around / 16.0, 1, 1e-12);
    fc_transit_ways_close(&routes);
    close_rig(&g);
}

int suite_replay_jobs(void)
{
    static const CU_TestInfo tests[] = {
        {"barriers", barriers},
        {"long broadcast", long_broadcast},
        {"nonblocking barrier", nonblocking_barrier},
        {"abandoned nonblocking barrier", abandoned_barrier},
        {"communicators, and the demand of a job", sub_communicators},
        {"uneven collectives", uneven_collectives},
        {"the ideal run is a bound, bytes are conserved", ideal_is_a_bound},
        {"translation on a torus", translation},
        {"default mapping", default_mapping},
        {"recorded jobs", recorded_jobs},
        {"a measured window", measured_window},
        {"routes follow the routing", routes_follow_the_routing},
        {"more paths a message", more_paths},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("replay jobs", tests);
}
