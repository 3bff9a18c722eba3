/* test_transit.c - messages on their way: ideal and contention. Oracles: fc_maxmin from scratch at every
 * event, closed forms, what is conserved. */
#include "solvers/calibration/calibration.h"
#include "solvers/flit/flit.h"
#include "solvers/load_internal.h"
#include "solvers/transit/transit_internal.h"
#include "tests/maxmin.h"
#include "tests/support.h"
#include "tests/tests.h"
#include "tests/transit_send.h"
#include "tests/transit_slow.h"

#include <math.h>
#include <stdlib.h>

#define REFUSES(call, code, text)                                                                                      \
    do {                                                                                                               \
        CU_ASSERT_EQUAL(call, code);                                                                                   \
        CU_ASSERT(fc_says(&st, code, text));                                                                           \
        st = (struct fc_status){0};                                                                                    \
    } while (0)

/* 4 nodes in a ring with doors of 4 GB/s, links of 1 GB/s, 10 ns a wire, 20 ns a router; the wire carries the
 * payload. */
static const char *const ring = "name: ring\nnetwork: {family: torus, dims: [4]}\n"
                                "links: {torus: {bandwidth: 1 GB/s, latency: 10 ns}, injection: {bandwidth: 4 GB/s}}\n"
                                "router: {delay: 20 ns, routing: dimension-order}\n";

struct gear {
    struct fc_machine machine;
    struct fc_network net;
    struct fc_status st;
    struct fc_transit_settings settings;
    struct fc_transit *transit;
};
static bool open_gear(struct gear *g, const char *machine, enum fc_network_model model)
{
    *g = (struct gear){.settings = {.network = model, .seed = 1}};
    if (strchr(machine, '\n')) {
        if (!fc_test_network(machine, &g->machine, &g->net)) return false;
    } else if (fc_machine_load(machine, &g->machine, &g->st) || fc_network_build(&g->machine, &g->net, &g->st)) {
        CU_FAIL("the machine does not load");
        printf("\n    %s\n", g->st.message);
        return false;
    }
    CU_ASSERT_EQUAL_FATAL(fc_transit_open(&g->net, &g->settings, &g->transit, &g->st), FC_OK);
    return true;
}
static void close_gear(struct gear *g)
{
    fc_transit_close(g->transit);
    fc_test_close(&g->machine, &g->net);
}
static double take(struct gear *g, uint64_t id)
{
    struct fc_arrival a = {0};
    bool found = false;
    CU_ASSERT_EQUAL(fc_transit_next(g->transit, INFINITY, &a, &found), FC_OK);
    CU_ASSERT(found && a.id == id);
    return a.time_s;
}
static void send(struct gear *g, uint64_t id, double time_s, uint32_t src, uint32_t dst, double bytes)
{
    CU_ASSERT_EQUAL(fc_test_send(g->transit, id, time_s, src, dst, bytes), FC_OK);
}

/* ---- closed forms ---- */

#define HEAD(hops) (((hops) + 2) * 10e-9 + ((hops) + 1) * 20e-9)

static void alone(void)
{
    for (int model = FC_NET_IDEAL; model <= FC_NET_CONTENTION; model++) {
        struct gear g;
        if (!open_gear(&g, ring, (enum fc_network_model)model)) return;
        send(&g, 7, 1e-6, 0, 1, 1e4);
        CU_ASSERT(fc_near(take(&g, 7), 1e-6 + HEAD(1) - 2 * 10e-9 + 1e-5, 1e-12)); /* doors have no wire */
        send(&g, 8, 2e-5, 2, 2, 4e3);                                              /* memory of the node */
        CU_ASSERT(fc_near(take(&g, 8), 2e-5 + 1e-6, 1e-12));
        send(&g, 9, 3e-5, 0, 1, 0);
        CU_ASSERT(fc_near(take(&g, 9), 3e-5 + HEAD(1) - 2 * 10e-9, 1e-12));
        CU_ASSERT_EQUAL(fc_transit_waited_s(g.transit), 0);
        close_gear(&g);
    }
}

/* Two on one link: half each; the second starts late or is shorter. */
static void two(void)
{
    struct gear g;
    if (!open_gear(&g, ring, FC_NET_CONTENTION)) return;
    double head = HEAD(1) - 2 * 10e-9;
    send(&g, 1, 0, 0, 1, 1e4);
    send(&g, 2, 0, 0, 1, 1e4);
    CU_ASSERT(fc_near(take(&g, 1), head + 2e-5, 1e-14));
    CU_ASSERT(fc_near(take(&g, 2), head + 2e-5, 1e-14));
    CU_ASSERT_EQUAL_FATAL(fc_test_reopen(&g.transit), FC_OK);
    send(&g, 1, 0, 0, 1, 1e4); /* alone for 4 us, 6 kB left; both at half for 8 us; then 6 kB alone */
    send(&g, 2, 4e-6, 0, 1, 4e3);
    CU_ASSERT(fc_near(take(&g, 2), head + 12e-6, 1e-14));
    CU_ASSERT(fc_near(take(&g, 1), head + 14e-6, 1e-14));
    CU_ASSERT(fc_near(fc_transit_waited_s(g.transit), 8e-6, 1e-12));
    CU_ASSERT(fc_near(carried_bytes(g.transit)[fc_find_link(&g.net, 0, 1)], 14e3, 1e-14));
    CU_ASSERT(fc_near(busy_seconds(g.transit)[fc_find_link(&g.net, 0, 1)], 14e-6, 1e-14));
    close_gear(&g);
}

/* n to 1 of one router through a door of 1 GB/s: 1/n each; of sizes 1 .. n kB the k-th ends n - k + 1 us after the one before
 * it (processor sharing). */
static void many_to_one(void)
{
    struct gear g;
    if (!open_gear(&g,
                   "name: star\nnetwork: {family: fat-tree, children: [8], parents: [1]}\n"
                   "links: {leaf: {bandwidth: 1 GB/s, latency: 0 s}}\nrouter: {delay: 0 s, routing: nca}\n",
                   FC_NET_CONTENTION))
        return;
    double end = 0;
    for (uint32_t s = 1; s < 8; s++) send(&g, s, 0, s, 0, 1e3 * s);
    for (uint32_t s = 1; s < 8; s++) {
        end += (8 - s) * 1e-6;
        CU_ASSERT(fc_near(take(&g, s), end, 1e-12));
    }
    close_gear(&g);
}

/* Nodes 1, 2 and 3 of a line to node 0: at the router of each what comes from farther away and its own have a half, so they have
 * 1/2, 1/4, 1/4 of a door of 1 GB/s, then the two 1/2. With one more from node 3, a while later, 2 : 1 : 1 : 1. Where p = 50, equal
 * shares. */
static void near_ones_first(void)
{
    static const char *const router[] = {"arbitration: age", "arbitration: round-robin, in_network: 50"};
    static const double end_s[][4] = {{8e-6, 12e-6, 12e-6}, {12e-6, 12e-6, 12e-6}};
    for (size_t i = 0; i < FC_COUNT(router); i++) {
        struct gear g;
        char text[400];
        snprintf(text, sizeof text,
                 "name: line\nnetwork: {family: torus, dims: [8]}\n"
                 "links: {torus: {bandwidth: 100 GB/s, latency: 0 s}, injection: {bandwidth: 1 GB/s}}\n"
                 "router: {delay: 0 s, routing: dimension-order, %s}\n",
                 router[i]);
        if (!open_gear(&g, text, FC_NET_CONTENTION)) return;
        double first_s = g.machine.router.flit_bytes * (1e-9 - 1e-11); /* a flit is sent on when it is whole */
        for (uint32_t s = 1; s <= 3; s++) send(&g, s, 0, s, 0, 4e3);
        for (uint32_t s = 1; s <= 3; s++) CU_ASSERT(fc_near(take(&g, s), first_s + end_s[i][s - 1], 1e-9));
        CU_ASSERT_EQUAL_FATAL(fc_test_reopen(&g.transit), FC_OK);
        for (uint32_t s = 1; s <= 3; s++) send(&g, s, 0, s, 0, 4e3);
        send(&g, 4, 4e-6, 3, 0, 4e3);
        for (uint32_t s = 1; i == 0 && s <= 4; s++)
            CU_ASSERT(fc_near(take(&g, s), first_s + (double[]){9e-6, 15e-6, 15e-6, 16e-6}[s - 1], 1e-9));
        close_gear(&g);
    }
}

/* Two over one link of 1 GB/s, of 5 hops and of 3 with the nodes' own links: claims 5^-f and 3^-f, f = 1/3; where routers take
 * the oldest packet first 0, where packets in the network go first -1/3. */
static void from_afar(void)
{
    static const struct {
        const char *router;
        double f;
    } at[] = {{"arbitration: round-robin", 1.0 / 3},
              {"arbitration: age", 0},
              {"arbitration: round-robin, in_network: 50", 0},
              {"arbitration: round-robin, in_network: 100", -1.0 / 3}};
    for (size_t i = 0; i < FC_COUNT(at); i++) {
        struct gear g;
        char text[400];
        snprintf(text, sizeof text,
                 "name: line\nnetwork: {family: torus, dims: [8]}\n"
                 "links: {torus: {bandwidth: 1 GB/s, latency: 0 s}, injection: {bandwidth: 100 GB/s}}\n"
                 "router: {delay: 0 s, routing: dimension-order, %s}\n",
                 at[i].router);
        if (!open_gear(&g, text, FC_NET_CONTENTION)) return;
        double share[2] = {pow(5, -at[i].f), pow(3, -at[i].f)}, all = share[0] + share[1];
        uint32_t first = at[i].f > 0; /* that ends; by number where both end at once */
        send(&g, 0, 0, 0, 3, 6e3);
        send(&g, 1, 0, 2, 3, 6e3);
        double end_s[2] = {12e-6, 12e-6};
        end_s[first] = 6e-6 * all / share[first];
        CU_ASSERT(fc_near(take(&g, first), end_s[first], 1e-12));
        CU_ASSERT(fc_near(take(&g, !first), end_s[!first], 1e-12));
        CU_ASSERT_EQUAL_FATAL(fc_test_reopen(&g.transit), FC_OK);
        send(&g, 2, 0, 0, 3, 6e3); /* alone as fast as the link */
        CU_ASSERT(fc_near(take(&g, 2), 6e-6, 1e-12));
        close_gear(&g);
    }
}

/* Half way round a ring of 8, n packets over links of 1 GB/s: the larger part of two has n / 2 + sqrt(n / (2 pi)) in the mean, of
 * which an ideal network knows nothing. One way round: all. */
static void two_ways(void)
{
    for (int model = FC_NET_IDEAL; model <= FC_NET_CONTENTION; model++) {
        struct gear g;
        double more = model == FC_NET_IDEAL ? 0 : sqrt(16 / (2 * M_PI)) * 0.256e-6;
        if (!open_gear(&g,
                       "name: ring\nnetwork: {family: torus, dims: [8]}\n"
                       "links: {torus: {bandwidth: 1 GB/s, latency: 0 s}, injection: {bandwidth: 100 GB/s}}\n"
                       "router: {delay: 0 s, routing: adaptive}\npacket: {max: 256 B}\n",
                       (enum fc_network_model)model))
            return;
        send(&g, 0, 0, 0, 4, 4096);
        CU_ASSERT(fc_near(take(&g, 0), 8 * 0.256e-6 + more, 1e-12));
        send(&g, 1, 1e-3, 0, 3, 4096);
        CU_ASSERT(fc_near(take(&g, 1), 1e-3 + 4.096e-6, 1e-12));
        send(&g, 2, 2e-3, 0, 4, 128); /* a packet has one */
        CU_ASSERT(fc_near(take(&g, 2), 2e-3 + 0.128e-6, 1e-12));
        CU_ASSERT(fc_near(fc_transit_waited_s(g.transit) + 1e-3, more + 1e-3, 1e-12));
        close_gear(&g);
    }
}

/* 0 to 4 is half way round a ring of 8: half of it goes each way, though another message is on one of the two; in two dimensions
 * too, where each part has both. */
static void half_way(void)
{
    static const char *const dims[] = {"[8]", "[8, 5]"};
    char text[400];
    for (size_t k = 0; k < FC_COUNT(dims); k++) {
        struct gear g;
        snprintf(text, sizeof text,
                 "name: ring\nnetwork: {family: torus, dims: %s}\n"
                 "links: {torus: {bandwidth: 1 GB/s, latency: 0 s}, injection: {bandwidth: 100 GB/s}}\n"
                 "router: {delay: 0 s, routing: adaptive, arbitration: age}\npacket: {max: 256 B}\n",
                 dims[k]);
        if (!open_gear(&g, text, FC_NET_CONTENTION)) return;
        uint32_t to = k == 0 ? 4 : 12, plus = 0, minus = 0;
        double bytes[2] = {0};
        send(&g, 0, 0, 0, to, 1e6);
        send(&g, 1, 0, 1, 2, 1e6);
        struct fc_arrival a;
        bool found;
        for (int i = 0; i < 2; i++) CU_ASSERT_EQUAL(fc_transit_next(g.transit, INFINITY, &a, &found), FC_OK);
        const double *moved = carried_bytes(g.transit);
        for (uint32_t y = 0; y < g.net.n_routers / 8; y++) {
            plus = fc_find_link(&g.net, 8 * y + 2, 8 * y + 3);
            minus = fc_find_link(&g.net, 8 * y + 6, 8 * y + 5);
            bytes[0] += moved[plus];
            bytes[1] += moved[minus];
        }
        CU_ASSERT(fc_near(bytes[0], 5e5, 1e-9) && fc_near(bytes[1], 5e5, 1e-9));
        close_gear(&g);
    }
}

static void background(void)
{
    struct gear g;
    if (!open_gear(&g, ring, FC_NET_CONTENTION)) return;
    fc_transit_close(g.transit);
    double *taken = calloc(g.net.n_links, sizeof *taken), head = HEAD(1) - 2 * 10e-9;
    uint32_t link = fc_find_link(&g.net, 0, 1);
    taken[link] = 0.75e9;
    g.settings.background_bytes_per_s = taken;
    for (int model = FC_NET_IDEAL; model <= FC_NET_CONTENTION; model++) {
        g.settings.network = (enum fc_network_model)model;
        CU_ASSERT_EQUAL_FATAL(fc_transit_open(&g.net, &g.settings, &g.transit, &g.st), FC_OK);
        send(&g, 1, 0, 0, 1, 1e3);
        CU_ASSERT(fc_near(take(&g, 1), head + 4e-6, 1e-12));
        CU_ASSERT(fc_near(busy_seconds(g.transit)[link], 4e-6, 1e-12));
        fc_transit_close(g.transit);
    }
    taken[link] = 1e9;
    CU_ASSERT_EQUAL_FATAL(fc_transit_open(&g.net, &g.settings, &g.transit, &g.st), FC_OK);
    send(&g, 1, 0, 0, 1, 1e3);
    struct fc_arrival a;
    bool found;
    CU_ASSERT_EQUAL(fc_transit_next(g.transit, INFINITY, &a, &found), FC_NO);
    CU_ASSERT(fc_says(&g.st, FC_NO, "x+ (0)->(1) has no bandwidth left: 1e+09 of 1e+09 bytes/s"));
    free(taken);
    close_gear(&g);
}

/* ---- arrivals against a simulation that solves from scratch at every event, on every family ---- */

static void run_load(struct gear *g, struct load *m, bool backwards)
{
    struct fc_arrival a = {0};
    double last_s = 0;
    uint64_t last = 0;
    for (uint32_t k = 0; k < MESSAGES; k++) {
        uint32_t i = backwards ? MESSAGES - 1 - k : k;
        send(g, i, m->time_s[i], m->src[i], m->dst[i], m->bytes[i]);
    }
    for (uint32_t k = 0; k <= MESSAGES; k++) {
        bool found;
        CU_ASSERT_EQUAL(fc_transit_next(g->transit, INFINITY, &a, &found), FC_OK);
        CU_ASSERT_EQUAL(found, k < MESSAGES);
        if (!found) break;
        CU_ASSERT(a.time_s > last_s || (a.time_s == last_s && (k == 0 || a.id > last)));
        CU_ASSERT(a.time_s >= a.alone_s);
        last_s = a.time_s;
        last = a.id;
        m->arrived_s[a.id] = a.time_s;
        m->alone_s[a.id] = a.alone_s;
        m->interference[a.id] = a.interference;
    }
}

/* What the larger part of a message between two directions takes longer, as far as others do not even it out. */
static double uneven_s(struct gear *g, const struct load *m, uint32_t i)
{
    struct fc_transit_ways *ways = &g->transit->ways;
    uint32_t way = fc_transit_ways_find(ways, m->src[i], m->dst[i], m->bytes[i], i);
    double wire_bytes = fc_wire_bytes(&g->machine, m->bytes[i]);
    return fc_transit_uneven_s(ways, way, m->bytes[i], wire_bytes) * (1 - m->interference[i]);
}

/* outputs: routers queue there, and lose nothing whatever the limit. */
static void against_scratch(const char *machine, double limit, bool outputs)
{
    static struct load m, again, ideal;
    static double end_s[MESSAGES];
    struct fc_calibration calibration = {.replays = {.mixing = limit}};
    struct gear g;
    if (!open_gear(&g, machine, FC_NET_CONTENTION)) return;
    if (limit < 1) {
        fc_transit_close(g.transit);
        g.settings.made = &calibration;
        g.machine.router.queues = outputs ? FC_QUEUES_OUTPUT : FC_QUEUES_INPUT;
        CU_ASSERT_EQUAL_FATAL(fc_transit_open(&g.net, &g.settings, &g.transit, &g.st), FC_OK);
    }
    double *capacity = calloc(g.net.n_links + g.net.n_nodes, sizeof *capacity), door = INFINITY, most_s = 0, bytes = 0;
    for (uint32_t l = 0; l < g.net.n_links; l++) door = fmin(door, capacity[l] = fc_link_bandwidth(&g.net, l));
    draw_load(&m, &g.net, 2e4 / door * 40, 2e4);
    run_load(&g, &m, false);
    /* conserved: a message's bytes leave by its node's doors; the end is not before the busiest link's */
    const double *busy_s = busy_seconds(g.transit), *carried = carried_bytes(g.transit);
    double doors = 0, last_s = 0;
    for (uint32_t i = 0; i < MESSAGES; i++) {
        bytes += m.src[i] == m.dst[i] ? 0 : m.bytes[i];
        last_s = fmax(last_s, m.arrived_s[i]);
    }
    for (uint32_t l = 0; l < g.net.n_links; l++) {
        most_s = fmax(most_s, busy_s[l]);
        if (fc_is_node(&g.net, g.net.link_source[l])) doors += carried[l];
    }
    CU_ASSERT(fc_near(doors, bytes, 1e-12));
    CU_ASSERT(last_s >= most_s);
    simulate(&m, &g.transit->ways, outputs ? 1 : limit, capacity, end_s);
    int wrong = 0;
    double worst = 0;
    for (uint32_t i = 0; i < MESSAGES; i++) {
        if (m.src[i] == m.dst[i]) continue;
        double end = end_s[i] + uneven_s(&g, &m, i);
        end = fmax(end, m.alone_s[i]); /* of two packets, over two paths that part more than those of its turn */
        worst = fmax(worst, fabs(m.arrived_s[i] - end) / end);
        wrong += fabs(m.arrived_s[i] - end) > 1e-9 * end;
    }
    if (wrong) printf("\n    %s: %d of %d arrivals differ, worst %g\n", machine, wrong, MESSAGES, worst);
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT(fc_transit_waited_s(g.transit) > 0);
    CU_ASSERT_EQUAL_FATAL(fc_test_reopen(&g.transit), FC_OK); /* the same again, also when sent in another order */
    again = m;
    run_load(&g, &again, true);
    CU_ASSERT(memcmp(&again, &m, sizeof m) == 0);
    close_gear(&g);
    if (!open_gear(&g, machine, FC_NET_IDEAL)) return;
    ideal = m;
    run_load(&g, &ideal, false);
    CU_ASSERT(memcmp(ideal.alone_s, m.alone_s, sizeof m.alone_s) == 0);
    CU_ASSERT(memcmp(ideal.alone_s, ideal.arrived_s, sizeof m.alone_s) == 0);
    close_gear(&g);
    free(capacity);
}

static void families(void)
{
    static const char *const machines[] = {"bgl-64",
                                           "qsnet-64",
                                           "percs-16",
                                           "tests/machines/tmesh-27.yaml",
                                           "tests/fabrics/rails_ndr.yaml",
                                           "tests/machines/mesh-4x4.yaml",
                                           "tests/machines/unseen/u01-t333ad.yaml"}; /* FIFOs bind */
    for (size_t i = 0; i < FC_COUNT(machines); i++) against_scratch(machines[i], 1, false);
    for (size_t i = 0; i < 3; i++) against_scratch(machines[i], 0.4, false); /* mixing knows links, not families */
    against_scratch("qsnet-64", 0.4, true);
}

static const char two_fifos[] = "name: fifos\nnetwork: {family: torus, dims: [4, 4]}\n"
                                "links: {torus: {bandwidth: 1 GB/s}, injection: {bandwidth: 4 GB/s}}\n"
                                "router: {delay: 20 ns, routing: dimension-order, vcs: 2, escape: dateline, "
                                "flit: 10 B, buffer: 100 B}\n";

/* m messages of 10 kB to as many neighbours, at once since they are long: two heads keep m (1 - (1 - 1/m)^2) of m links busy. */
static void to_neighbours(struct gear *g, uint32_t m)
{
    static const uint32_t neighbour[] = {4, 12, 1, 3};
    double ends_s = 1e4 / (1e9 * (1 - pow(1 - 1.0 / m, 2)));
    for (uint32_t i = 0; i < m; i++) send(g, i, 0, 0, neighbour[i], 1e4);
    for (uint32_t i = 0; i < m; i++) CU_ASSERT(fc_near(take(g, i), ends_s + 2 * 20e-9, 1e-12));
}

/* Two FIFOs, links of 1 GB/s. */
static void injection_fifos(void)
{
    struct gear g;
    if (!open_gear(&g, two_fifos, FC_NET_CONTENTION)) return;
    for (uint32_t m = 1; m <= 4; m++) {
        to_neighbours(&g, m);
        CU_ASSERT_EQUAL_FATAL(fc_test_reopen(&g.transit), FC_OK);
    }
    close_gear(&g);
}

/* Two of up to 79 B, packets of 10 B, over one link: the second begins 2.5 ns later, then they share; of 80 B they share at once. */
static void turns(void)
{
    static const double bytes[] = {10, 79, 80}, first_s[] = {17.5e-9, 155.5e-9, 160e-9};
    struct gear g;
    if (!open_gear(&g, two_fifos, FC_NET_CONTENTION)) return;
    for (int k = 0; k < 3; k++) {
        for (uint32_t i = 0; i < 2; i++) send(&g, i, 0, 0, 4, bytes[k]);
        CU_ASSERT(fc_near(take(&g, 0), first_s[k] + 2 * 20e-9, 1e-9));
        CU_ASSERT(fc_near(take(&g, 1), 1e-9 * 2 * bytes[k] + 2 * 20e-9, 1e-9));
        CU_ASSERT_EQUAL_FATAL(fc_test_reopen(&g.transit), FC_OK);
    }
    close_gear(&g);
}

/* Two FIFOs of 100 B, no longer packets than 10 B: what follows finds at most 180 B before the heads, which leave at 1 GB/s. */
static void waits_for_fifos(void)
{
    static const double left_s[] = {5e-6, 30e-9, 9.95e-6};
    /* full; (4 - 1) GB/s x 30 ns = 90 B, less 20; the others' last 50 B, less 20 */
    static const double wait_s[] = {180e-9, 70e-9, 30e-9};
    static const double together[] = {1e3, 1e3,
                                      20}; /* bytes that each moves beside the other, at 3/4 of its link: two heads */
    struct gear g;
    if (!open_gear(&g, two_fifos, FC_NET_CONTENTION)) return;
    for (int i = 0; i < 3; i++) {
        send(&g, 0, 0, 0, 4, 1e4);
        send(&g, 1, left_s[i], 0, 1, 1e3);
        double first = i < 2 ? 1 : 0, times[2];
        times[(int)first] = take(&g, (uint64_t)first);
        times[1 - (int)first] = take(&g, 1 - (uint64_t)first);
        double lost_s = together[i] / 3 / 1e9;
        CU_ASSERT(fc_near(times[0], 1e-5 + lost_s + 2 * 20e-9, 1e-12));
        CU_ASSERT(fc_near(times[1], left_s[i] + wait_s[i] + 1e-6 + lost_s + 2 * 20e-9, 1e-9));
        CU_ASSERT_EQUAL_FATAL(fc_test_reopen(&g.transit), FC_OK);
    }
    close_gear(&g);
}

/* Sent one after the other while arrivals are taken: what is sent later never changes what was taken. */
static void step_by_step(void)
{
    static struct load all;
    struct gear g;
    if (!open_gear(&g, "bgl-64", FC_NET_CONTENTION)) return;
    draw_load(&all, &g.net, 1e-3, 5e4);
    run_load(&g, &all, false);
    CU_ASSERT_EQUAL_FATAL(fc_test_reopen(&g.transit), FC_OK);
    bool sent[MESSAGES] = {0};
    uint32_t taken = 0;
    for (double t = 0; taken < MESSAGES; t += 1e-6) {
        for (uint32_t i = 0; i < MESSAGES; i++)
            if (!sent[i] && all.time_s[i] <= t) {
                send(&g, i, all.time_s[i], all.src[i], all.dst[i], all.bytes[i]);
                sent[i] = true;
            }
        for (bool found = true; found;) {
            struct fc_arrival a;
            CU_ASSERT_EQUAL_FATAL(fc_transit_next(g.transit, t, &a, &found), FC_OK);
            if (!found) break;
            CU_ASSERT(a.time_s <= t && a.time_s > t - 1.001e-6);
            CU_ASSERT_EQUAL(a.time_s, all.arrived_s[a.id]);
            taken++;
        }
    }
    close_gear(&g);
}

static void refusals(void)
{
    struct gear g;
    if (!open_gear(&g, ring, FC_NET_CONTENTION)) return;
    struct fc_status st = {0};
    struct fc_transit *t = NULL;
    struct fc_transit_settings wrong = g.settings;
    wrong.network = (enum fc_network_model)9;
    REFUSES(fc_transit_open(&g.net, &wrong, &t, &st), FC_INPUT, "no network model 9");
    CU_ASSERT_PTR_NULL(t);
    fc_transit_close(NULL);
    const struct {
        double time_s, bytes;
        uint32_t src, dst;
        const char *text;
    } bad[] = {
        {0, 1, 4, 0, "message 3 goes from node 4 to node 0 (the machine has 4 nodes)"},
        {0, 1, 0, UINT32_MAX, "the machine has 4 nodes"},
        {0, -1, 0, 1, "has -1 bytes"},
        {0, NAN, 0, 1, "has nan bytes"},
        {0, INFINITY, 0, 1, "has inf bytes"},
        {-1e-9, 1, 0, 1, "leaves at -1e-09 s"},
        {NAN, 1, 0, 1, "leaves at nan s"},
        {INFINITY, 1, 0, 1, "leaves at inf s"},
    };
    for (size_t i = 0; i < FC_COUNT(bad); i++) {
        CU_ASSERT_EQUAL(fc_test_send(g.transit, 3, bad[i].time_s, bad[i].src, bad[i].dst, bad[i].bytes), FC_INPUT);
        CU_ASSERT(fc_says(&g.st, FC_INPUT, bad[i].text));
        g.st = (struct fc_status){0};
    }
    send(&g, 1, 1e-6, 0, 1, 1);
    take(&g, 1);
    CU_ASSERT_EQUAL(fc_test_send(g.transit, 2, 0, 0, 1, 1), FC_FAULT);
    CU_ASSERT(fc_says(&g.st, FC_FAULT, "but an arrival of"));
    close_gear(&g);
}

int suite_transit(void)
{
    static const CU_TestInfo tests[] = {{"one message alone", alone},
                                        {"two on one link", two},
                                        {"many to one", many_to_one},
                                        {"those from near by are first", near_ones_first},
                                        {"from afar", from_afar},
                                        {"half way round a ring", half_way},
                                        {"parts of two directions are not even", two_ways},
                                        {"background", background},
                                        {"arrivals equal a simulation from scratch on every family", families},
                                        {"injection FIFOs", injection_fifos},
                                        {"short messages of a node take turns", turns},
                                        {"a message waits for what is in its node's FIFOs", waits_for_fifos},
                                        {"step by step", step_by_step},
                                        {"refusals", refusals},
                                        CU_TEST_INFO_NULL};
    return fc_add_suite("transit.c, transit_contention.c", tests);
}
