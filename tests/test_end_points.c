/* test_end_points.c - what a node costs a message beyond LogGOPS: copies of eager messages, the rendezvous of longer ones,
 * reductions (timing.h), and ports that a message is held to (transit_contention.c). Closed forms are the oracle. */
#include "solvers/collective/collective.h"
#include "tests/replay_script.h"

/* Two messages of 1 and 2 us of software; all networks. */
static void test_copies(void)
{
    struct rig g;
    open_rig(&g, LINE_YAML);
    g.settings.software.eager_bytes = 1000;
    g.settings.software.copy_per_byte_s = 2e-9;
    g.settings.software.rendezvous_s = 5e-6;
    for (int network = FC_NET_IDEAL; network <= FC_NET_CONTENTION; network++) {
        g.settings.network = (enum fc_network_model)network;
        for (int64_t bytes = 0; bytes <= 2000; bytes += 500) {
            start_script(&script, 3);
            next_rank(&script);
            add(&script, FC_OP_SEND, 2, bytes);
            next_rank(&script);
            next_rank(&script);
            add(&script, FC_OP_RECV, 0, bytes);
            must_replay(&g, &script);
            double wire_s = (double)bytes * 1e-9 + line_head_s(1), each_s = bytes > 1000 ? 5e-6 : (double)bytes * 2e-9;
            if (bytes > 1000) wire_s += 2 * line_head_s(1); /* it is announced, and asked for */
            CU_ASSERT(fc_near(g.out.prediction.time_s, 3e-6 + 2 * each_s + wire_s, 1e-12));
        }
    }
    close_rig(&g);
}

/* The CPU time of reductions in a call of 8 members, beyond the same without it. */
static double reduction_s(struct rig *g, enum fc_op op, const char *algorithm, uint32_t n, int64_t bytes)
{
    double time_s[2];
    struct fc_collective_choice choice = {0};
    char text[64];
    snprintf(text, sizeof text, "%s=%s", fc_op_names[op], algorithm);
    CU_ASSERT_FATAL(fc_collective_choice_read(text, &choice, &g->st) == FC_OK);
    g->settings.collectives = &choice;
    start_script(&script, n);
    for (uint32_t r = 0; r < n; r++) {
        next_rank(&script);
        add(&script, op, 0, bytes);
    }
    for (int reduces = 0; reduces < 2; reduces++) {
        g->settings.software.reduce_per_byte_s = reduces ? 1e-9 : 0;
        must_replay(g, &script);
        time_s[reduces] = g->out.prediction.time_s;
    }
    g->settings.collectives = NULL;
    return time_s[1] - time_s[0];
}

static void test_reductions(void)
{
    static const struct {
        enum fc_op op;
        const char *algorithm;
        uint32_t n;
        double vectors; /* taken in, one after the other, by who is last */
    } cases[] = {
        {FC_OP_ALLREDUCE, "doubling", 8, 3},
        {FC_OP_ALLREDUCE, "doubling", 6, 3}, /* folds, then two rounds; the result handed back is no reduction */
        {FC_OP_ALLREDUCE, "rabenseifner", 8, 7.0 / 8},
        {FC_OP_ALLREDUCE, "ring", 8, 7.0 / 8},
        {FC_OP_ALLREDUCE, "reduce+bcast", 8, 3},
        {FC_OP_REDUCE, "binomial", 8, 3},
        {FC_OP_REDUCE, "chain", 8, 7},
        {FC_OP_REDUCE, "rabenseifner", 8, 7.0 / 8},
        {FC_OP_REDUCE_SCATTER, "ring", 8, 7}, /* blocks of `bytes` */
        {FC_OP_REDUCE_SCATTER, "pairwise", 8, 7},
        {FC_OP_REDUCE_SCATTER, "halving", 8, 7},
        {FC_OP_SCAN, "doubling", 8, 3},
        {FC_OP_BCAST, "binomial", 8, 0},
        {FC_OP_ALLGATHER, "ring", 8, 0},
        {FC_OP_ALLTOALL, "pairwise", 8, 0},
    };
    struct rig g;
    open_torus(&g, "8", "dimension-order");
    g.settings.network = FC_NET_IDEAL;
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        double s = reduction_s(&g, cases[i].op, cases[i].algorithm, cases[i].n, 1 << 20);
        bool near = fabs(s - cases[i].vectors * (1 << 20) * 1e-9) <= 1e-6;
        if (!near) printf("\n    %s, %u members: %.9g vectors\n", cases[i].algorithm, cases[i].n, s / (1 << 20) * 1e9);
        CU_ASSERT(near);
    }
    close_rig(&g);
}

/* Node 0 of a ring sends to both neighbours at once; or both to it. */
static double two_messages_s(struct rig *g, int64_t ports, double port_bytes_per_s, bool out,
                             enum fc_network_model network)
{
    g->machine.ports = ports;
    g->machine.port_bytes_per_s = port_bytes_per_s;
    g->settings.network = network;
    start_script(&script, 4);
    for (uint32_t r = 0; r < 4; r++) {
        next_rank(&script);
        enum fc_op op = (r == 0) == out ? FC_OP_ISEND : FC_OP_IRECV;
        if (r == 2) continue;
        add(&script, op, r ? 0 : 1, 1 << 20);
        if (r == 0) add(&script, op, 3, 1 << 20);
        add_wait(&script, 0, r ? 1 : 2);
    }
    must_replay(g, &script);
    return g->out.prediction.time_s;
}

static void test_ports(void)
{
    struct rig g;
    open_torus(&g, "4", "dimension-order");
    g.machine.router.injection_fifos = 16; /* so many that no link waits for the packets at their heads */
    g.settings.software = g.machine.software = (struct fc_software){.eager_bytes = 1e18, .compute_scale = 1};
    for (int out = 0; out < 2; out++) {
        double free_s = two_messages_s(&g, 1, INFINITY, out, FC_NET_CONTENTION);
        double wire_s = free_s - 2 * 40e-9; /* nearly: about 1.1 bytes a byte at 1 GB/s */
        CU_ASSERT(wire_s > 1.0e-3 && wire_s < 1.3e-3);
        CU_ASSERT(fc_near(two_messages_s(&g, 2, 1e9, out, FC_NET_CONTENTION), free_s, 1e-6));
        /* one port of who moves them, the sender of eager ones: one after the other, or both at half the rate */
        double shared = out ? 2 : 1;
        CU_ASSERT(fc_near(two_messages_s(&g, 1, 1e9, out, FC_NET_CONTENTION), shared * free_s, 1e-3));
        /* a port slower than a link, two of them: each message at its rate, also on ideal networks */
        CU_ASSERT(fc_near(two_messages_s(&g, 2, 0.5e9, out, FC_NET_CONTENTION), 2 * free_s, 1e-3));
        CU_ASSERT(fc_near(two_messages_s(&g, 2, 0.5e9, out, FC_NET_IDEAL), 2 * free_s, 1e-3));
    }
    /* longer ones are fetched by the receiver */
    g.machine.software.eager_bytes = g.settings.software.eager_bytes = 1024;
    for (int out = 0; out < 2; out++) {
        double free_s = two_messages_s(&g, 1, INFINITY, out, FC_NET_CONTENTION), shared = out ? 1 : 2;
        CU_ASSERT(fc_near(two_messages_s(&g, 1, 1e9, out, FC_NET_CONTENTION), shared * free_s, 1e-3));
    }
    close_rig(&g);
}

/* Long messages out of one node to two others: its port counts where both sides do. */
static void test_port_sides(void)
{
    struct rig g;
    open_torus(&g, "4", "dimension-order");
    g.machine.router.injection_fifos = 16;
    g.settings.software = g.machine.software = (struct fc_software){.eager_bytes = 1024, .compute_scale = 1};
    for (int out = 0; out < 2; out++) {
        g.machine.port_sides = 1;
        double free_s = two_messages_s(&g, 1, INFINITY, out, FC_NET_CONTENTION);
        g.machine.port_sides = 2;
        CU_ASSERT(fc_near(two_messages_s(&g, 1, INFINITY, out, FC_NET_CONTENTION), free_s, 1e-12));
        CU_ASSERT(fc_near(two_messages_s(&g, 1, 1e9, out, FC_NET_CONTENTION), 2 * free_s, 1e-3));
    }
    close_rig(&g);
}

/* Two tasks on each of two nodes of two ports: two messages of one task share a port if it is the task's; one of each do not. */
static void test_port_of_task(void)
{
    struct rig g;
    open_torus(&g, "4", "dimension-order");
    for (uint32_t r = 0; r < 4; r++) g.node[r] = r / 2;
    g.machine.cores_per_node = 2;
    g.machine.ports = 2;
    g.machine.port_bytes_per_s = 0.25e9; /* two of them are slower than the link */
    g.settings.network = FC_NET_CONTENTION;
    for (int fetched = 0; fetched < 2; fetched++) {
        double eager = fetched ? 1024 : 1e18, time_s[2][2];
        g.settings.software = g.machine.software = (struct fc_software){.eager_bytes = eager, .compute_scale = 1};
        for (int of = FC_PORT_OF_MESSAGE; of <= FC_PORT_OF_TASK; of++)
            for (uint32_t senders = 1; senders <= 2; senders++) {
                g.machine.port_of = of;
                start_script(&script, 4);
                for (uint32_t r = 0; r < 4; r++) {
                    next_rank(&script);
                    for (uint32_t i = 0; r % 2 < senders && i < 2 / senders; i++)
                        add(&script, r < 2 ? FC_OP_ISEND : FC_OP_IRECV, (r + 2) % 4, 1 << 20);
                    if (r % 2 < senders) add_wait(&script, 0, 2 / senders);
                }
                must_replay(&g, &script);
                time_s[of][senders - 1] = g.out.prediction.time_s;
            }
        CU_ASSERT(fc_near(time_s[FC_PORT_OF_MESSAGE][0], time_s[FC_PORT_OF_MESSAGE][1], 1e-3));
        CU_ASSERT(fc_near(time_s[FC_PORT_OF_TASK][1], time_s[FC_PORT_OF_MESSAGE][1], 1e-12));
        CU_ASSERT(fc_near(time_s[FC_PORT_OF_TASK][0], 2 * time_s[FC_PORT_OF_MESSAGE][0], 1e-3));
    }
    close_rig(&g);
}

/* Each of n nodes of a ring of four sends 1 MiB to who is next among them: of two each to the other, of four onwards. */
static double round_s(struct rig *g, uint32_t n, double exchange_bytes_per_s, double beyond_bytes)
{
    g->machine.exchange_bytes_per_s = exchange_bytes_per_s;
    g->machine.exchange_beyond_bytes = beyond_bytes;
    start_script(&script, 4);
    for (uint32_t r = 0; r < 4; r++) {
        next_rank(&script);
        if (r >= n) continue;
        add(&script, FC_OP_IRECV, (int64_t)((r + n - 1) % n), 1 << 20);
        add(&script, FC_OP_ISEND, (int64_t)((r + 1) % n), 1 << 20);
        add_wait(&script, 0, 2);
    }
    must_replay(g, &script);
    return g->out.prediction.time_s;
}

static void test_exchange(void)
{
    struct rig g;
    open_torus(&g, "4", "dimension-order");
    g.settings.network = FC_NET_CONTENTION;
    g.settings.software = g.machine.software = (struct fc_software){.eager_bytes = 1024, .compute_scale = 1};
    double free_s = round_s(&g, 2, INFINITY, 0);
    CU_ASSERT(free_s > 1.0e-3 && free_s < 1.3e-3);
    CU_ASSERT(fc_near(round_s(&g, 2, 1e9, 0), 2 * free_s, 1e-3));         /* both ways over 1 GB/s */
    CU_ASSERT(fc_near(round_s(&g, 2, 1.5e9, 0), 4 / 3.0 * free_s, 1e-3)); /* over 1.5 GB/s */
    CU_ASSERT(fc_near(round_s(&g, 2, 2e9, 0), free_s, 1e-6));
    CU_ASSERT(fc_near(round_s(&g, 2, 1e9, 1.5 * (1 << 20)), free_s, 1e-6)); /* only the second is beyond: alone */
    CU_ASSERT(fc_near(round_s(&g, 2, 0.5e9, 1.5 * (1 << 20)), 2 * free_s, 1e-3));
    CU_ASSERT(fc_near(round_s(&g, 2, 0.5e9, 4 << 20), free_s, 1e-6));              /* so much is never under way */
    CU_ASSERT(fc_near(round_s(&g, 4, 1e9, 0), round_s(&g, 4, INFINITY, 0), 1e-6)); /* nobody exchanges */
    close_rig(&g);
}

/* Rank 0 sends to 1, 2, 3 in turn, twice, and then has 5 bytes from 3: only the first `most` of them get long messages
 * without a rendezvous, at both ends. */
static void test_partners(void)
{
    struct rig g;
    open_rig(&g, LINE_YAML);
    g.settings.network = FC_NET_IDEAL;
    g.settings.software = (struct fc_software){.eager_bytes = 1000, .compute_scale = 1, .rendezvous_s = 1};
    for (int64_t bytes = 99; bytes <= 101; bytes += 2)
        for (uint32_t most = 0; most <= 4; most++) {
            g.settings.software.eager_partners = most;
            g.settings.software.eager_beyond_bytes = most ? 100 : 0;
            start_script(&script, 4);
            for (uint32_t r = 0; r < 4; r++) {
                next_rank(&script);
                for (uint32_t k = 0; k < 6; k++)
                    if (r == 0 || k % 3 + 1 == r)
                        add(&script, r ? FC_OP_RECV : FC_OP_SEND, r ? 0 : (int64_t)(k % 3 + 1), bytes);
                if (r == 3) add(&script, FC_OP_SEND, 0, bytes);
                if (r == 0) add(&script, FC_OP_RECV, 3, bytes);
            }
            must_replay(&g, &script);
            /* rank 0 pays a second for each of 2 messages to each partner beyond, and one from 3; 3 pays for its last too */
            double met = most == 0 || bytes < 100 ? 3 : most < 3 ? most : 3, slow = 2 * (3 - met);
            CU_ASSERT(fabs(g.out.prediction.time_s - (slow + (met < 3 ? 3 : 0))) < 1e-4);
        }
    close_rig(&g);
}

/* Bruck's all-to-all picks its blocks one by one, 4 of 8 in each of 3 rounds. */
static void test_picks(void)
{
    struct rig g;
    struct fc_collective_choice choice = {0};
    open_torus(&g, "8", "dimension-order");
    g.settings.network = FC_NET_IDEAL;
    CU_ASSERT_FATAL(fc_collective_choice_read("alltoall=bruck,allgather=bruck", &choice, &g.st) == FC_OK);
    g.settings.collectives = &choice;
    for (int gather = 0; gather < 2; gather++) {
        double time_s[3];
        start_script(&script, 8);
        for (uint32_t r = 0; r < 8; r++) {
            next_rank(&script);
            add(&script, gather ? FC_OP_ALLGATHER : FC_OP_ALLTOALL, 0, 64);
        }
        for (int i = 0; i < 3; i++) {
            g.settings.software.pack_s = i == 1;
            g.settings.software.pack_per_block_s = i == 2;
            must_replay(&g, &script);
            time_s[i] = g.out.prediction.time_s;
        }
        CU_ASSERT(fc_near(time_s[1] - time_s[0], gather ? 0 : 3, 1e-9));
        CU_ASSERT(fc_near(time_s[2] - time_s[0], gather ? 0 : 12, 1e-9));
    }
    close_rig(&g);
}

/* Above `inline` an eager message is on its way longer, its sender not busy longer; a call costs its members; vectors beyond the cache add from memory. */
static void test_steps(void)
{
    struct rig g;
    open_rig(&g, LINE_YAML);
    g.settings.network = FC_NET_IDEAL;
    g.settings.software.eager_bytes = 1000;
    g.settings.software.inline_bytes = 100;
    for (int64_t bytes = 100; bytes <= 101; bytes++) {
        double time_s[2], sent_s[2];
        for (int costs = 0; costs < 2; costs++) {
            g.settings.software.eager_start_s = costs ? 4e-6 : 0;
            start_script(&script, 2);
            next_rank(&script);
            for (int i = 0; i < 3; i++) add(&script, FC_OP_SEND, 1, bytes);
            next_rank(&script);
            for (int i = 0; i < 3; i++) add(&script, FC_OP_RECV, 0, bytes);
            must_replay(&g, &script);
            time_s[costs] = g.out.prediction.time_s;
            sent_s[costs] = g.out.rank_finish_s[0];
        }
        CU_ASSERT(fc_near(time_s[1] - time_s[0], bytes > 100 ? 4e-6 : 0, 1e-9)); /* once, however many */
        CU_ASSERT(fc_near(sent_s[1], sent_s[0], 1e-15));
    }
    g.settings.software.eager_start_s = 0;
    struct fc_collective_choice choice = {0};
    CU_ASSERT_FATAL(fc_collective_choice_read("allreduce=doubling", &choice, &g.st) == FC_OK);
    g.settings.collectives = &choice;
    double time_s[3];
    for (int i = 0; i < 3; i++) {
        g.settings.software.call_s = i == 1 ? 7e-6 : 0;
        g.settings.software.cache_bytes = i == 2 ? 499 : 1e18;
        g.settings.software.reduce_memory_per_byte_s = 3e-9;
        start_script(&script, 2);
        for (int r = 0; r < 2; r++) {
            next_rank(&script);
            add(&script, FC_OP_ALLREDUCE, 0, 500);
        }
        must_replay(&g, &script);
        time_s[i] = g.out.prediction.time_s;
    }
    CU_ASSERT(fc_near(time_s[1] - time_s[0], 7e-6, 1e-9));
    CU_ASSERT(fc_near(time_s[2] - time_s[0], 500 * 3e-9, 1e-9));
    close_rig(&g);
}

/* Ranks 0 to 3 of one node: 0 sends to 1, and, `two`, 2 to 3 at once. */
static double local_s(struct rig *g, bool two, int64_t bytes)
{
    for (uint32_t r = 0; r < 4; r++) g->node[r] = 0;
    start_script(&script, 4);
    for (uint32_t r = 0; r < 4; r++) {
        next_rank(&script);
        if (r < 2 || two) add(&script, r % 2 ? FC_OP_RECV : FC_OP_SEND, r % 2 ? r - 1 : r + 1, bytes);
    }
    must_replay(g, &script);
    return g->out.prediction.time_s;
}

/* Within a node: o of its own; memory that messages share, and reductions and fresh buffers of all its ranks. */
static void test_memory(void)
{
    struct rig g;
    open_rig(&g, LINE_YAML);
    g.settings.network = FC_NET_CONTENTION;
    g.settings.software = (struct fc_software){.send_s = 1e-6, .recv_s = 2e-6, .eager_bytes = 1e18, .compute_scale = 1};
    double alone_s = local_s(&g, false, 1 << 20);
    CU_ASSERT(fc_near(local_s(&g, true, 1 << 20), alone_s, 1e-12)); /* no limit */
    g.settings.software.local_s = 0.25e-6;
    CU_ASSERT(fc_near(alone_s - local_s(&g, false, 1 << 20), 2.5e-6, 1e-9));
    g.settings.software.local_s = 3e-6; /* above o: as it says */
    CU_ASSERT(fc_near(local_s(&g, false, 1 << 20) - alone_s, 3e-6, 1e-9));
    g.settings.software.local_s = 0;
    double wire_s = alone_s - 3e-6;
    CU_ASSERT(wire_s > 0);
    g.machine.memory_bytes_per_s = (1 << 20) / wire_s; /* one message is as before, two share it */
    CU_ASSERT(fc_near(local_s(&g, false, 1 << 20), alone_s, 1e-9));
    CU_ASSERT(fc_near(local_s(&g, true, 1 << 20), 3e-6 + 2 * wire_s, 1e-6));
    CU_ASSERT(fc_near(local_s(&g, true, 0), 3e-6, 1e-9));
    g.settings.network = FC_NET_QUEUEING; /* the same of messages that meet no link */
    CU_ASSERT(fc_near(local_s(&g, true, 1 << 20), 3e-6 + 2 * wire_s, 1e-6));
    close_rig(&g);
}

/* A call of n ranks, all on one node or each on its own, of a vector of 64 MiB. */
static double call_s(struct rig *g, enum fc_op op, const char *algorithm, bool together, int64_t bytes)
{
    struct fc_collective_choice choice = {0};
    char text[64];
    snprintf(text, sizeof text, "%s=%s", fc_op_names[op], algorithm);
    CU_ASSERT_FATAL(fc_collective_choice_read(text, &choice, &g->st) == FC_OK);
    g->settings.collectives = &choice;
    start_script(&script, 4);
    for (uint32_t r = 0; r < 4; r++) {
        g->node[r] = together ? 0 : r;
        next_rank(&script);
        add(&script, op, 0, bytes);
    }
    must_replay(g, &script);
    g->settings.collectives = NULL;
    return g->out.prediction.time_s;
}

static void test_fresh(void)
{
    static const struct {
        enum fc_op op;
        const char *algorithm;
        double buffers;
    } cases[] = {{FC_OP_ALLREDUCE, "doubling", 1},  {FC_OP_ALLREDUCE, "rabenseifner", 1}, {FC_OP_ALLREDUCE, "ring", 0},
                 {FC_OP_REDUCE_SCATTER, "ring", 1}, {FC_OP_REDUCE_SCATTER, "halving", 2}, {FC_OP_BCAST, "binomial", 0}};
    const int64_t mib = 1 << 20;
    struct rig g;
    open_rig(&g, LINE_YAML);
    g.settings.network = FC_NET_CONTENTION;
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        int64_t block = cases[i].op == FC_OP_REDUCE_SCATTER ? 16 * mib : 64 * mib;
        for (int small = 0; small < 2; small++) {
            double time_s[2];
            for (int k = 0; k < 2; k++) {
                g.settings.software.fresh_per_byte_s = k ? 1e-9 : 0;
                time_s[k] = call_s(&g, cases[i].op, cases[i].algorithm, false, small ? block / 4 : block);
            }
            double expected_s = small ? 0 : cases[i].buffers * 64 * (double)mib * 1e-9;
            CU_ASSERT(fabs(time_s[1] - time_s[0] - expected_s) < 1e-9);
        }
    }
    /* what comes out of such a buffer of another task of the node: the sums of halving (a half and a quarter of the vector) and a
     * ring (three quarters), half of what doubling sends in two rounds; Rabenseifner's leave from the user's */
    static const struct {
        enum fc_op op;
        const char *algorithm;
        double vectors;
    } sent[] = {{FC_OP_REDUCE_SCATTER, "halving", 0.75},
                {FC_OP_REDUCE_SCATTER, "ring", 0.75},
                {FC_OP_ALLREDUCE, "doubling", 1},
                {FC_OP_ALLREDUCE, "rabenseifner", 0}};
    g.settings.software.fresh_per_byte_s = 0;
    for (size_t i = 0; i < FC_COUNT(sent); i++)
        for (int together = 0; together < 2; together++) {
            double time_s[2];
            for (int k = 0; k < 2; k++) {
                g.settings.software.fresh_local_per_byte_s = k * 1e-9;
                time_s[k] = call_s(&g, sent[i].op, sent[i].algorithm, together,
                                   (sent[i].op == FC_OP_REDUCE_SCATTER ? 16 : 64) * mib);
            }
            double expected_s = together ? sent[i].vectors * 64 * (double)mib * 1e-9 : 0;
            CU_ASSERT(fabs(time_s[1] - time_s[0] - expected_s) < 1e-9);
        }
    g.settings.software.fresh_local_per_byte_s = 0;
    /* an allgather copies each member's own block */
    double own_s[2];
    for (int k = 0; k < 2; k++) {
        g.settings.software.own_per_byte_s = k * 1e-9;
        own_s[k] = call_s(&g, FC_OP_ALLGATHER, "doubling", false, 16 * mib);
    }
    CU_ASSERT(fabs(own_s[1] - own_s[0] - 16 * (double)mib * 1e-9) < 1e-9);
    g.settings.software.own_per_byte_s = 0;
    /* four ranks share a memory of 1 GB/s: what each of two rounds adds takes 4 ns a byte at least */
    g.settings.software.fresh_per_byte_s = 0;
    g.settings.software.cache_bytes = 1;
    g.machine.memory_bytes_per_s = 1e9;
    double time_s[3];
    for (int k = 0; k < 3; k++) {
        g.settings.software.reduce_memory_per_byte_s = k < 2 ? k * 1e-9 : 5e-9;
        time_s[k] = call_s(&g, FC_OP_ALLREDUCE, "doubling", true, 64 * mib);
    }
    CU_ASSERT(fc_near(time_s[1] - time_s[0], 2 * 64 * (double)mib * 4e-9, 1e-6));
    CU_ASSERT(fc_near(time_s[2] - time_s[0], 2 * 64 * (double)mib * 5e-9, 1e-6));
    close_rig(&g);
}

static const CU_TestInfo tests[] = {
    {"memory of a node is shared", test_memory},
    {"buffers that a call takes anew", test_fresh},
    {"partners with eager buffers", test_partners},
    {"blocks that are picked one by one", test_picks},
    {"eager messages are copied, longer ones meet", test_copies},
    {"reductions cost time where vectors are added", test_reductions},
    {"a message is held to one port", test_ports},
    {"ports of both sides", test_port_sides},
    {"ports of tasks", test_port_of_task},
    {"two nodes that exchange long messages", test_exchange},
    {"steps of protocols, calls, vectors that no cache holds", test_steps},
    CU_TEST_INFO_NULL,
};
int suite_end_points(void)
{
    return fc_add_suite("end points", tests);
}
