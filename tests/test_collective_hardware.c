/* test_collective_hardware.c - collectives that the network carries out: the replay against closed forms
 * worked out here, against nic.h and, for the line, against the flit-level kernel; who waits for whom;
 * refusals. */
#include "solvers/background.h"
#include "solvers/collective/collective.h"
#include "solvers/flit/flit.h"
#include "tests/replay_script.h"

/* Rings of 8 and 4. Packets of 240 + 16 bytes; a hop of 100 ns, 80 ns from and to nodes; o = 0.3 and 0.4 us.
 */
#define DEPOSIT_YAML                                                                                                   \
    "name: dep\nclock: 1 GHz\nnetwork: {family: torus, dims: [8, 4]}\n"                                                \
    "links: {torus: {bandwidth: 1 GB/s, latency: 40 ns}, injection: {bandwidth: 8 GB/s, latency: 10 ns}}\n"            \
    "router: {delay: 60 ns, flit: 16 B, routing: dimension-order, vcs: 2, escape: bubble, multicast: "                 \
    "deposit, "                                                                                                        \
    "buffer: 1 KiB, injection_fifos: 6, injection: direction}\npacket: {min: 32 B, max: 256 B, header: 16 "            \
    "B}\nnode: {cores: 1}\n"                                                                                           \
    "software: {send: 300 ns, recv: 400 ns, gap: 0 s, eager: 4 KiB}\n"

static struct fc_collective_choice choice;

static void choose(struct rig *g, const char *text)
{
    CU_ASSERT_EQUAL_FATAL(fc_collective_choice_read(text, &choice, &g->st), FC_OK);
    g->settings.collectives = &choice;
}

static void open_machine(struct rig *g, const char *name)
{
    memset(g, 0, sizeof *g);
    CU_ASSERT_FATAL(!fc_machine_load(name, &g->machine, &g->st) && !fc_network_build(&g->machine, &g->net, &g->st));
    g->settings.network = FC_NET_CONTENTION;
    g->settings.software = g->machine.software;
    for (uint32_t r = 0; r < MOST_RANKS; r++) g->node[r] = r;
}

/* Every rank computes r * step_s and calls. */
static void call_all(uint32_t n, enum fc_op op, int32_t root, int64_t bytes, double step_s)
{
    start_script(&script, n);
    for (uint32_t r = 0; r < n; r++) {
        next_rank(&script);
        add(&script, op, root, bytes)->compute_s = r * step_s;
    }
}

static double finish(const struct rig *g, uint32_t rank)
{
    return g->out.rank_finish_s[rank];
}

/* ---- QsNET ---- */

static double nic_s(struct rig *g, uint32_t first, uint32_t n, enum fc_nic_barrier kind,
                    const struct fc_nic_background *b)
{
    struct fc_nic_time t = {0};
    CU_ASSERT(!fc_nic_barrier_from(&g->net, first, n, kind, b, 0, &t, &g->st));
    return t.mean_s;
}

/* The call ends for all when the last has come + its time, whatever network is underneath. */
static void barriers(void)
{
    static const struct {
        const char *name;
        enum fc_nic_barrier kind;
    } kinds[] = {{"barrier=hardware", FC_NIC_BARRIER_HARDWARE},
                 {"barrier=hardware-event", FC_NIC_BARRIER_EVENT},
                 {"barrier=elan", FC_NIC_BARRIER_SOFTWARE}};
    static const enum fc_network_model networks[] = {FC_NET_IDEAL, FC_NET_CONTENTION};
    struct rig g;
    open_machine(&g, "qsnet-64");
    for (size_t k = 0; k < FC_COUNT(kinds); k++)
        for (size_t w = 0; w < FC_COUNT(networks); w++)
            for (uint32_t n = 2; n <= 64; n *= 2)
                for (uint32_t first = 0; first + n <= 64; first += 1 + n / 2) {
                    choose(&g, kinds[k].name);
                    g.settings.network = networks[w];
                    for (uint32_t r = 0; r < n; r++) g.node[r] = first + r;
                    call_all(n, FC_OP_BARRIER, -1, 0, 1e-6);
                    must_replay(&g, &script);
                    double over_s = (n - 1) * 1e-6 + nic_s(&g, first, n, kinds[k].kind, NULL);
                    for (uint32_t r = 0; r < n; r++) CU_ASSERT(fc_near(finish(&g, r), over_s, 1e-12));
                    CU_ASSERT(fc_near(g.out.prediction.time_s, over_s, 1e-12));
                    CU_ASSERT(g.out.prediction.network_bytes == 0);
                }
    close_rig(&g);
}

/* Nodes 14 to 17 meet only at the top; 12 to 15 under one switch. 64 nodes: the published 6 us. */
static void levels(void)
{
    struct rig g;
    open_machine(&g, "qsnet-64");
    CU_ASSERT(fc_near(nic_s(&g, 0, 64, FC_NIC_BARRIER_HARDWARE, NULL), 6e-6, 2e-2));
    CU_ASSERT(nic_s(&g, 12, 4, FC_NIC_BARRIER_HARDWARE, NULL) == nic_s(&g, 0, 4, FC_NIC_BARRIER_HARDWARE, NULL));
    double level_s = 2 * 35e-9 + 2 * 10e-9; /* two switches and two wires more, three times */
    CU_ASSERT(fc_near(nic_s(&g, 14, 4, FC_NIC_BARRIER_HARDWARE, NULL) - nic_s(&g, 12, 4, FC_NIC_BARRIER_HARDWARE, NULL),
                      2 * 3 * level_s, 1e-9));
    struct fc_nic_time t;
    CU_ASSERT(fc_nic_barrier_from(&g.net, 62, 4, FC_NIC_BARRIER_HARDWARE, NULL, 0, &t, &g.st) == FC_INPUT &&
              fc_says(&g.st, FC_INPUT, "nodes 62 to 65 (the machine has 64)"));
    close_rig(&g);
}

/* Several members a node; a communicator of some; Finalize; a broadcast with its synchronisation. */
static void jobs(void)
{
    struct rig g;
    double bcast_s;
    open_machine(&g, "qsnet-64");
    choose(&g, "hardware");
    for (uint32_t r = 0; r < 16; r++) g.node[r] = 20 + r / 2;
    start_script(&script, 16);
    for (uint32_t r = 0; r < 16; r++) {
        next_rank(&script);
        add(&script, FC_OP_BCAST, 3, 100000);
        if (r >= 4 && r < 8) add(&script, FC_OP_BARRIER, -1, 0)->comm = 1;
        add(&script, FC_OP_FINALIZE, -1, 0);
    }
    add_comm(&script, 4, 4);
    must_replay(&g, &script);
    CU_ASSERT(
        !fc_nic_broadcast_from(&g.net, 20, 8, 100000, FC_NIC_BROADCAST_HARDWARE, FC_NIC_HOST, NULL, &bcast_s, &g.st));
    double some_s = nic_s(&g, 22, 2, FC_NIC_BARRIER_HARDWARE, NULL),
           all_s = nic_s(&g, 20, 8, FC_NIC_BARRIER_HARDWARE, NULL);
    for (uint32_t r = 0; r < 16; r++) CU_ASSERT(fc_near(finish(&g, r), bcast_s + some_s + all_s, 1e-12));
    CU_ASSERT(g.out.prediction.network_bytes == 700000 && g.out.n_messages == 3);
    close_rig(&g);
}

/* A nonblocking broadcast goes on beside the program. */
static void nonblocking(void)
{
    struct rig g;
    double bcast_s;
    open_machine(&g, "qsnet-64");
    choose(&g, "bcast=elan");
    start_script(&script, 4);
    for (uint32_t r = 0; r < 4; r++) {
        next_rank(&script);
        struct fc_event *e = add(&script, FC_OP_BCAST, 0, 4096);
        e->mode = 1;
        e->request = 0;
        add(&script, FC_OP_OTHER, -1, 0)->compute_s = 100e-6 * r;
        add_wait(&script, 0, 1);
    }
    must_replay(&g, &script);
    CU_ASSERT(!fc_nic_broadcast(&g.net, 4, 4096, FC_NIC_BROADCAST_SOFTWARE, FC_NIC_HOST, NULL, &bcast_s, &g.st));
    for (uint32_t r = 0; r < 4; r++) CU_ASSERT(fc_near(finish(&g, r), fmax(bcast_s, 100e-6 * r), 1e-12));
    close_rig(&g);
}

/* Sources that always have a packet waiting: the interfaces' own waits. */
static void beside_full_traffic(void)
{
    struct rig g;
    static double taken[1000];
    struct fc_background b = {.fills = true, .interfaces = true, .busiest = FC_NONE, .link_bytes_per_s = taken};
    b.nic = (struct fc_nic_background){
        .accepted_bytes_per_s = 200e6, .contended = true, .held_s = 3.2e-6, .all_held = {0.9, 0.8, 0.7}};
    open_machine(&g, "qsnet-64");
    CU_ASSERT_FATAL(g.net.n_links <= FC_COUNT(taken));
    g.settings.background = &b;
    g.settings.background_bytes_per_s = taken;
    choose(&g, "barrier=elan");
    call_all(64, FC_OP_BARRIER, -1, 0, 0);
    must_replay(&g, &script);
    double software_s = nic_s(&g, 0, 64, FC_NIC_BARRIER_SOFTWARE, &b.nic);
    CU_ASSERT(fc_near(g.out.prediction.time_s, software_s, 1e-12) &&
              software_s > 30 * nic_s(&g, 0, 64, FC_NIC_BARRIER_SOFTWARE, NULL));
    b.fills = false;
    CU_ASSERT(replay(&g, &script) == FC_INPUT && fc_says(&g.st, FC_INPUT, "known only for one that fills the network"));
    g.settings.background = NULL;
    CU_ASSERT(replay(&g, &script) == FC_INPUT && fc_says(&g.st, FC_INPUT, "known only by what links carry"));
    close_rig(&g);
}

/* ---- Blue Gene/L ---- */

static void at_line(struct rig *g)
{
    for (uint32_t r = 0; r < 8; r++) g->node[r] = 16 + r; /* y = 2 */
}

static void lines(void)
{
    struct rig g;
    open_rig(&g, DEPOSIT_YAML);
    at_line(&g);
    choose(&g, "bcast=line");
    call_all(8, FC_OP_BCAST, 0, 24000, 0); /* 50 packets a half: 12.8 us */
    must_replay(&g, &script);
    CU_ASSERT(fc_near(finish(&g, 0), 0.6e-6 + 12.8e-6, 1e-12));
    for (uint32_t j = 1; j < 8; j++) {
        double plus_s = 0.3e-6 + 0.08e-6 + j * 0.1e-6 + 12.8e-6,
               minus_s = 0.6e-6 + 0.08e-6 + (8 - j) * 0.1e-6 + 12.8e-6;
        double last_s = fmax(fmin(plus_s, minus_s) + 0.4e-6, fmax(plus_s, minus_s)) + 0.4e-6;
        CU_ASSERT(fc_near(finish(&g, j), last_s, 1e-12));
    }
    CU_ASSERT(fc_near(g.out.prediction.time_s, 14.58e-6, 1e-12));
    CU_ASSERT(g.out.prediction.network_bytes == 7 * 24000.0);
    call_all(8, FC_OP_BCAST, 5, 24000, 20e-6); /* the root comes at 100 us, two after it are later than the data */
    must_replay(&g, &script);
    CU_ASSERT(fc_near(finish(&g, 5), 113.4e-6, 1e-12) && fc_near(finish(&g, 6), 114.58e-6 + 5.42e-6, 1e-12));
    CU_ASSERT(fc_near(finish(&g, 7), 140e-6, 1e-12) && fc_near(finish(&g, 4), 100e-6 + 14.38e-6, 1e-12));
    close_rig(&g);
}

/* The kernel's copies along the line, without software. */
static void as_in_the_kernel(void)
{
    struct rig g;
    struct fc_demand demand;
    struct fc_flit_settings settings;
    struct fc_flit_result result;
    open_rig(&g, DEPOSIT_YAML);
    g.settings.software = (struct fc_software){.compute_scale = 1, .eager_bytes = 1e9};
    choose(&g, "bcast=line");
    call_all(8, FC_OP_BCAST, 0, 96000, 0);
    must_replay(&g, &script);
    fc_flit_defaults(&settings);
    CU_ASSERT_FATAL(!fc_demand_from_pattern(&g.net, "line-broadcast:bytes=96000", 1, &demand, &g.st) &&
                    !fc_flit_run(&g.net, &demand, NULL, &settings, &result, &g.st));
    CU_ASSERT(fc_near(g.out.prediction.time_s, (double)result.cycles * result.cycle_s, 2e-3));
    fc_flit_free(&result);
    fc_demand_free(&demand);
    close_rig(&g);
}

static void planes(void)
{
    struct rig g;
    double turn_s = 0.08e-6 + 0.256e-6 + 0.4e-6 + 0.3e-6;
    open_rig(&g, DEPOSIT_YAML);
    choose(&g, "bcast=plane");
    call_all(32, FC_OP_BCAST, 0, 48000, 0);
    must_replay(&g, &script);
    CU_ASSERT(fc_near(finish(&g, 0), 1.2e-6 + 12.8e-6, 1e-12));
    double c[4] = {13.48e-6 + turn_s, 14.38e-6 + turn_s, 14.08e-6 + turn_s, 14.98e-6 + turn_s}; /* (2, 1) */
    CU_ASSERT(fc_near(finish(&g, 10), fmax(fmax(c[0] + 0.4e-6, c[2]) + 0.8e-6, c[3]) + 0.4e-6, 1e-12));
    CU_ASSERT(fc_near(finish(&g, 10), 16.416e-6, 1e-12));
    CU_ASSERT(fc_near(finish(&g, 8), 14.58e-6 + 2 * turn_s + 0.4e-6, 1e-12)); /* (0, 1): the wrap links come last */
    call_all(32, FC_OP_BCAST, 0, 480000000, 0);
    must_replay(&g, &script);
    CU_ASSERT(fc_near(g.out.prediction.time_s, 480e6 / 4 * 256 / 240 / 1e9, 1e-4)); /* all four links of the root */
    close_rig(&g);
}

/* What a background leaves of the line's slowest link. */
static void line_beside_others(void)
{
    static double taken[400];
    struct rig g;
    open_rig(&g, DEPOSIT_YAML);
    at_line(&g);
    choose(&g, "bcast=line");
    call_all(8, FC_OP_BCAST, 0, 24000, 0);
    CU_ASSERT_FATAL(g.net.n_links <= FC_COUNT(taken));
    g.settings.background_bytes_per_s = taken;
    taken[fc_torus_port(&g.net, 3, 0, FC_PLUS)] = 0.9e9; /* of another line */
    must_replay(&g, &script);
    CU_ASSERT(fc_near(g.out.prediction.time_s, 14.58e-6, 1e-12));
    taken[fc_torus_port(&g.net, 19, 0, FC_MINUS)] = 0.75e9;
    must_replay(&g, &script);
    CU_ASSERT(fc_near(g.out.prediction.time_s, 14.58e-6 + 3 * 12.8e-6, 1e-12));
    taken[fc_torus_port(&g.net, 19, 0, FC_MINUS)] = 1e9;
    CU_ASSERT(replay(&g, &script) == FC_NO && fc_says(&g.st, FC_NO, "leaves nothing of a link"));
    close_rig(&g);
}

/* ---- what cannot be ---- */

static void refused(struct rig *g, const char *algorithm, const char *why)
{
    choose(g, algorithm);
    bool said = replay(g, &script) == FC_INPUT && fc_says(&g->st, FC_INPUT, why);
    if (!said) printf("\n    %s", g->st.message);
    CU_ASSERT(said);
}

static void refusals(void)
{
    struct rig g;
    open_machine(&g, "qsnet-64");
    call_all(4, FC_OP_BARRIER, -1, 0, 0);
    g.node[2] = 9;
    refused(&g, "barrier=hardware",
            "members are on nodes 0 to 9 but for node 2 (the hardware takes adjacent nodes only)");
    for (uint32_t r = 0; r < 4; r++) g.node[r] = 7;
    refused(&g, "barrier=elan", "all 4 members are on node 7");
    call_all(4, FC_OP_BCAST, 0, 8, 0);
    refused(&g, "bcast=line", "bcast by line needs routers that leave copies on the way");
    use_loggops(&g, 1e-6, 1e-6, 0, 0);
    refused(&g, "hardware", "bcast by hardware is carried out by the machine's network, which LogGOPS");
    close_rig(&g);

    open_rig(&g, DEPOSIT_YAML);
    call_all(7, FC_OP_BCAST, 0, 8000, 0);
    refused(&g, "bcast=line", "members are on 7 of the 8 nodes of it");
    refused(&g, "bcast=plane", "the members' nodes differ in 1 dimensions (expected 2)");
    refused(&g, "bcast=hardware", "is for machines with nic: and router.multicast: tree");
    g.st = (struct fc_status){0};
    CU_ASSERT(fc_collective_choice_read("hardware,bcast=line", &choice, &g.st) == FC_INPUT &&
              fc_says(&g.st, FC_INPUT, "bcast is given twice"));
    close_rig(&g);

    open_machine(&g, "qsnet-64"); /* the last one never comes */
    choose(&g, "barrier=hardware");
    start_script(&script, 3);
    for (uint32_t r = 0; r < 3; r++) {
        next_rank(&script);
        if (r < 2) add(&script, FC_OP_BARRIER, -1, 0);
    }
    CU_ASSERT(replay(&g, &script) == FC_INPUT &&
              fc_says(&g.st, FC_INPUT, "rank 0 in barrier (line 1000) for rank 2, and rank 2 has ended"));
    close_rig(&g);
}

int suite_collective_hardware(void)
{
    static const CU_TestInfo tests[] = {
        {"QsNET barriers", barriers},
        {"QsNET levels", levels},
        {"QsNET jobs", jobs},
        {"nonblocking", nonblocking},
        {"beside full traffic", beside_full_traffic},
        {"lines", lines},
        {"a line as in the kernel", as_in_the_kernel},
        {"planes", planes},
        {"a line beside others", line_beside_others},
        {"refusals", refusals},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("collective hardware", tests);
}
