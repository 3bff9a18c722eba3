/* test_flit_event_queue.c - queues of the packet-event engine against exact theory: a Geo/D/1 queue, a
 * saturated link, one that two sources share, and a saturated crossbar. */
#include "tests/flit_event.h"

/* Births in a cycle with probability p, service of S cycles: mean wait p S (S - 1) / (2 (1 - p S)) (Geo/D/1:
 * Hunter, Mathematical Techniques of Applied Probability 2, 1983, section 9.2). The injection link is the
 * server. */
static void geo_d_1(void)
{
    static const double rho[] = {0.3, 0.7};
    for (size_t i = 0; i < FC_COUNT(rho); i++) {
        struct run r;
        if (!build(&r, NARROW_INJECTION)) return;
        struct fc_flit_settings settings = settings_of(rho[i] / 2); /* mean over two nodes, one of which sends */
        one_flow(&r, 0, 1, 1, true);
        uint64_t cycles = 500000;
        if (start(&r, &settings, 0, UINT64_MAX / 2, 0)) {
            double tpc = r.flit.ticks_per_cycle;
            advance(&r, (uint64_t)((double)cycles * tpc));
            finish(&r);
            double n = (double)r.counts.measured_delivered, s = 8;
            double wait = (double)(r.counts.latency_ticks - r.counts.network_ticks) / n / tpc;
            double expected = rho[i] * (s - 1) / (2 * (1 - rho[i]));
            CU_ASSERT(fc_near(wait, expected, 0.03));
            CU_ASSERT(fc_near(n * s / (double)cycles, rho[i], 0.01));
            /* nothing else queues: three wires, two routers, the packet's length, and before the fast link in the
             * middle the wait for the rest of the first flit, 1 - 1/4 cycles */
            CU_ASSERT_DOUBLE_EQUAL((double)r.counts.network_ticks / n / tpc, 1 + 2 + 1 + 2 * 3 + s + 0.75, 1e-9);
        }
        end(&r);
    }
}

/* A source that always has a packet keeps its link busy without a gap. */
static void saturated_link(void)
{
    struct run r;
    struct fc_flit_settings settings = settings_of(0);
    settings.backlog = true;
    if (!build(&r, NARROW_INJECTION)) return;
    one_flow(&r, 0, 1, 1, true);
    if (start(&r, &settings, 4000, 44000, 0)) {
        advance(&r, 50000);
        finish(&r);
        uint32_t l = r.net.first_link[fc_node_vertex(&r.net, 0)];
        uint32_t flit_ticks = r.flit.flit_ticks[r.net.link_class[l]];
        CU_ASSERT_EQUAL(r.link_flits[l], 40000 / flit_ticks);
        CU_ASSERT_EQUAL(r.counts.window_flits_delivered, 40000 / flit_ticks);
        CU_ASSERT_EQUAL(r.injected[0], 40000 / flit_ticks / 8);
        CU_ASSERT_EQUAL(r.injected[1], 0);
    }
    end(&r);
}

/* Two nodes send through one link: it is full, and each gets half under round robin. */
static void shared_link(void)
{
    struct run r;
    struct fc_flit_settings settings = settings_of(0);
    settings.backlog = true;
    if (!build(&r, "name: t\nclock: 1 GHz\nnetwork: {family: mesh, dims: [2], nodes_per_router: 2}\n"
                   "links: {mesh: {bandwidth: 32 GB/s, latency: 2 cycles}, injection: {bandwidth: 32 GB/s}}\n"
                   "router: {delay: 3 cycles, flow_control: cut-through, flit: 32 B, buffer: 1 KiB, vcs: 1,"
                   " routing: dimension-order, escape: none, arbitration: round-robin}\npacket: {min: 32 B, "
                   "max: 256 B}\n"))
        return;
    r.st.code = fc_demand_from_pattern(&r.net, "complement", 1, &r.demand, &r.st);
    r.demand.open_loop = true;
    if (start(&r, &settings, 4000, 84000, 0)) {
        advance(&r, 90000);
        finish(&r);
        uint32_t l = fc_find_link(&r.net, 0, 1), flit_ticks = r.flit.flit_ticks[r.net.link_class[l]];
        CU_ASSERT_EQUAL(r.link_flits[l], 80000 / flit_ticks);
        int32_t difference = (int32_t)r.injected[0] - (int32_t)r.injected[1];
        CU_ASSERT(difference >= -1 && difference <= 1);
    }
    end(&r);
}

/* A crossbar with one queue an input, all queues full, destinations uniform, random choice among heads:
 * throughput of an output (Karol, Hluchyj & Morgan, IEEE Trans. Commun. 35(12), 1987, table I). */
static void crossbar(void)
{
    static const struct {
        int ports;
        double throughput;
    } karol[] = {{2, 0.7500}, {3, 0.6825}, {4, 0.6553}, {8, 0.6184}};
    for (size_t i = 0; i < FC_COUNT(karol); i++) {
        struct run r;
        struct fc_flit_settings settings = settings_of(0);
        char yaml[700];
        settings.backlog = true;
        snprintf(yaml, sizeof yaml,
                 "name: t\nclock: 1 GHz\nnetwork: {family: mesh, dims: [2], nodes_per_router: %d}\n"
                 "links: {mesh: {bandwidth: 8 GB/s}, injection: {bandwidth: 8 GB/s, latency: 1 cycle}}\n"
                 "router: {delay: 1 cycle, credit: 1 cycle, flow_control: cut-through, flit: 8 B, buffer: 512 B, "
                 "vcs: 1,"
                 " routing: dimension-order, escape: none, arbitration: random}\npacket: {min: 8 B, max: 8 B}\n",
                 karol[i].ports);
        if (!build(&r, yaml)) return;
        /* every node of router 0 sends to every node of router 0, itself included */
        struct fc_demand *d = &r.demand;
        uint32_t n = (uint32_t)karol[i].ports;
        d->name = "crossbar";
        d->n_tasks = r.net.n_nodes;
        d->open_loop = true;
        d->n_dense = 1;
        d->dense[0].a = fc_alloc(&d->arena, d->n_tasks, sizeof(double), &r.st);
        d->dense[0].b = fc_alloc(&d->arena, d->n_tasks, sizeof(double), &r.st);
        d->dense[0].message_bytes = 1;
        for (uint32_t k = 0; k < n; k++) d->dense[0].a[k] = d->dense[0].b[k] = 1;
        if (start(&r, &settings, 1000, 101000, 0)) {
            CU_ASSERT_DOUBLE_EQUAL(r.flit.ticks_per_cycle, 1, 1e-12);
            advance(&r, 101000);
            finish(&r);
            CU_ASSERT(fc_near((double)r.counts.window_flits_delivered / 100000 / n, karol[i].throughput, 0.01));
        }
        end(&r);
    }
}

int suite_flit_event_queue(void)
{
    static const CU_TestInfo tests[] = {
        {"Geo/D/1", geo_d_1},
        {"a saturated link", saturated_link},
        {"two sources share a link", shared_link},
        {"head-of-line blocking in a crossbar", crossbar},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("flit/event queue", tests);
}
