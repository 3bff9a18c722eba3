/* test_turns_destinations.c - turns found destination by destination against packets followed one by one,
 * against the pass over offsets of a torus, and against the load solver. */
#include "solvers/solvers.h"
#include "tests/turns_oracles.h"

/* Networks beside those of flit_oracles.h: cables and corners that the random word picks, links of unequal
 * speed. */
static const struct oracle_machine more_machines[] = {
    {"torus 6x4 of several cables, dimension order",
     "network: {family: torus, dims: [6, 4], links_per_dim: [2, 3]}\nlinks: {x: {bandwidth: 2 GB/s, latency: "
     "2 "
     "cycles}, y: {bandwidth: 8 GB/s, latency: 3 cycles}, injection: {bandwidth: 4 GB/s, latency: 1 "
     "cycle}}\n",
     "escape: dateline, routing: dimension-order}\n", 2, NULL},
    {"dragonfly of grids, two cables a pair",
     "network: {family: two-level, supernodes: 3, drawers: 2, nodes_per_drawer: 3, d_link: modulo, local: "
     "grid, "
     "links_per_pair: 2}\nlinks: {ll: {bandwidth: 8 GB/s, latency: 3 cycles}, lr: {bandwidth: 2 GB/s, "
     "latency: 5 "
     "cycles}, d: {bandwidth: 4 GB/s, latency: 40 cycles}, injection: {bandwidth: 1 GB/s, latency: 1 "
     "cycle}}\n",
     "escape: none, routing: direct}\n", 6, NULL},
    {"fat-tree 3-4-2, two planes, hashed",
     "network: {family: fat-tree, children: [3, 4, 2], parents: [1, 2, 2], planes: 2}\nlinks: {leaf: "
     "{bandwidth: 1 "
     "GB/s, latency: 4 cycles}, level1: {bandwidth: 2 GB/s, latency: 2 cycles}, level2: {bandwidth: 8 GB/s, "
     "latency: "
     "7 cycles}}\n",
     "escape: none, routing: nca-hash}\n", 2, NULL},
    {"torus 8x8x4, adaptive",
     "network: {family: torus, dims: [8, 8, 4]}\nlinks: {torus: {bandwidth: 8 GB/s, latency: 2 cycles}}\n",
     "escape: bubble, routing: adaptive}\n", 2, NULL},
};

/* Adaptive routings use up all their hops: on tori fewer do. */
enum { HOPS = 3000000, TORUS_HOPS = 1000000 };

/* Dense parts and entries at once: uniform traffic beside a permutation of thrice its weight. */
static bool mixed(const struct fc_network *net, struct fc_demand *demand)
{
    struct fc_status st = {0};
    struct fc_demand uniform;
    if (fc_demand_from_pattern(net, "permutation:seed=4", 3, demand, &st) ||
        fc_demand_from_pattern(net, "uniform", 3, &uniform, &st))
        return false;
    demand->open_loop = true;
    demand->n_dense = uniform.n_dense;
    double sum = 0;
    for (int p = 0; p < uniform.n_dense; p++) {
        double *a = fc_alloc(&demand->arena, net->n_nodes, sizeof *a, &st),
               *b = fc_alloc(&demand->arena, net->n_nodes, sizeof *b, &st);
        CU_ASSERT_FATAL(a && b);
        for (uint32_t s = 0; s < net->n_nodes; s++) {
            a[s] = uniform.dense[p].a[s];
            b[s] = uniform.dense[p].b[s] * (1 + s % 3);
            sum += a[s] * uniform.dense[p].b[s] * net->n_nodes;
        }
        demand->dense[p] = (struct fc_dense){.a = a, .b = b};
    }
    for (size_t i = 0; i < demand->n_entries; i++) demand->bytes[i] = 3 * sum / (double)demand->n_entries;
    fc_demand_free(&uniform);
    return demand->n_tasks == net->n_nodes;
}

/* Heads by the link they came by and the links they choose from: key and rate. */
struct heads {
    uint64_t key;
    double rate;
};
static int by_key(const void *a, const void *b)
{
    const struct heads *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

static struct heads *list_heads(const struct fc_turns *t, double sign, struct heads *list)
{
    for (uint32_t s = 0; s < t->n_states; s++) {
        uint64_t key = t->state_in[s] == FC_NONE ? 0 : t->channel_link[t->state_in[s]] + 1;
        for (uint32_t i = t->first_choice[s]; i < t->first_choice[s + 1]; i++)
            key = fc_random(key, t->choice_link[i], 0);
        *list++ = (struct heads){key, sign * t->state_rate[s]};
    }
    return list;
}

/* Greatest differences, relative to the busiest link and state. */
static double links_apart(const struct fc_turns *a, const struct fc_turns *b)
{
    double apart = 0, most = 0;
    for (uint32_t l = 0; l < a->n_links; l++) {
        apart = fmax(apart, fabs(a->rate[l] - b->rate[l]));
        most = fmax(most, b->rate[l]);
    }
    return apart / most;
}

static double states_apart(const struct fc_turns *a, const struct fc_turns *b)
{
    size_t n = (size_t)a->n_states + b->n_states;
    struct heads *list = calloc(n, sizeof *list);
    double apart = 0, most = 0, sum = 0;
    CU_ASSERT_FATAL(list != NULL);
    list_heads(b, -1, list_heads(a, 1, list));
    qsort(list, n, sizeof *list, by_key);
    for (size_t i = 0; i < n; i++) {
        sum = i > 0 && list[i].key == list[i - 1].key ? sum + list[i].rate : list[i].rate;
        most = fmax(most, list[i].rate);
        if (i + 1 == n || list[i].key != list[i + 1].key) apart = fmax(apart, fabs(sum));
    }
    free(list);
    return apart / most;
}

static void check(const struct oracle_machine *o, const char *what, const struct fc_network *net,
                  const struct fc_demand *demand)
{
    struct fc_turns exact, walked;
    bool adaptive = net->machine->routing->adaptive, torus = !strcmp(net->machine->family->name, "torus");
    double tolerance = adaptive ? 0.03 : 1e-9;
    if (!make(FC_TURNS_DESTINATIONS, net, demand, o->vc_rule, HOPS, &exact)) return;
    CU_ASSERT(exact.n_walked == 0 && !exact.sampled);
    if (make(FC_TURNS_UNFOLDED, net, demand, o->vc_rule, adaptive && torus ? TORUS_HOPS : HOPS, &walked)) {
        CU_ASSERT(!walked.sampled);
        double links = links_apart(&exact, &walked), states = states_apart(&exact, &walked);
        if (!(links <= tolerance && states <= 2 * tolerance))
            printf("\n    %s, %s: links %.3g, states %.3g apart\n", o->name, what, links, states);
        CU_ASSERT(links <= tolerance);
        CU_ASSERT(states <= 2 * tolerance); /* walks stop after a few rounds, and few packets share unevenly */
        if (!adaptive) CU_ASSERT_EQUAL(exact.n_states, walked.n_states);
        CU_ASSERT(fc_near(exact.packets, walked.packets, 1e-9));
        CU_ASSERT(fc_near(exact.hops_mean, walked.hops_mean, 1e-9));
        CU_ASSERT(fc_near(exact.zero_load_cycles, walked.zero_load_cycles, tolerance));
        CU_ASSERT(fabs(exact.zero_load_variance - walked.zero_load_variance) <=
                  tolerance * fmax(1, walked.zero_load_variance));
        CU_ASSERT(fc_near(exact.least_zero_load_cycles, walked.least_zero_load_cycles, 1e-9));
        fc_turns_free(&walked);
    }
    fc_turns_free(&exact);
}

static void followed(void)
{
    struct fc_machine machine;
    struct fc_network net;
    for (size_t m = 0; m < FC_COUNT(oracle_machines); m++) {
        const struct oracle_machine *o = &oracle_machines[m];
        if (strstr(o->rest, "nca-random")) continue; /* followed packets hash: see even_picks */
        for (int flow = 0; flow < 2; flow++) {
            struct fc_demand demand;
            struct fc_status st = {0};
            if (flow == ORACLE_WORMHOLE && strstr(o->rest, "bubble")) continue;
            if (!open_oracle(o, (enum oracle_flow)flow, &machine, &net)) return;
            if (flow == ORACLE_CUT_THROUGH && !fc_demand_from_pattern(&net, "uniform", 3, &demand, &st)) {
                check(o, "uniform", &net, &demand);
                fc_demand_free(&demand);
            }
            if (mixed(&net, &demand)) {
                check(o, "mixed", &net, &demand);
                fc_demand_free(&demand);
            }
            oracle_close(&machine, &net);
        }
    }
}

/* What a hash picks is split evenly, as the load solver does. */
static void even_split(const struct oracle_machine *o)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand demand;
    struct fc_turns t;
    struct fc_load load;
    struct fc_status st = {0};
    if (!open_oracle(o, ORACLE_CUT_THROUGH, &machine, &net)) return;
    CU_ASSERT_FATAL(!fc_demand_from_pattern(&net, "permutation:seed=4", 3, &demand, &st));
    demand.open_loop = true;
    uint32_t *node = calloc(net.n_nodes, sizeof *node);
    for (uint32_t s = 0; node && s < net.n_nodes; s++) node[s] = s;
    struct fc_placement placement = {.n_tasks = net.n_nodes, .node = node};
    struct fc_load_settings settings = {.seed = 1};
    double apart = 0, sum = 0;
    for (size_t i = 0; i < demand.n_entries; i++) sum += demand.bytes[i];
    CU_ASSERT_FATAL(node && !fc_load_solve(&net, &demand, &placement, &settings, &load, &st));
    if (make(FC_TURNS_DESTINATIONS, &net, &demand, NULL, HOPS, &t)) {
        for (uint32_t l = 0; l < net.n_links; l++)
            if (t.kind[l] == FC_TURN_NETWORK)
                apart = fmax(apart, fabs(t.rate[l] * FLITS - load.bytes[l] * net.n_nodes / sum));
        if (!(apart < 1e-9)) printf("\n    %s: %.3g\n", o->name, apart);
        CU_ASSERT(apart < 1e-9);
        for (uint32_t s = 0; s < t.n_states; s++) CU_ASSERT_EQUAL(t.first_choice[s + 1] - t.first_choice[s], 1);
        fc_turns_free(&t);
    }
    fc_load_free(&load);
    free(node);
    fc_demand_free(&demand);
    oracle_close(&machine, &net);
}

static void even_picks(void)
{
    for (size_t m = 0; m < FC_COUNT(oracle_machines); m++)
        if (strstr(oracle_machines[m].rest, "nca-random")) even_split(&oracle_machines[m]);
    for (size_t m = 0; m < 3; m++) even_split(&more_machines[m]);
}

/* An adaptive torus by destination, with so many states that they are pooled, against the pass over offsets.
 */
static void pooled(void)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand demand;
    struct fc_turns by_offset, by_destination;
    struct fc_status st = {0};
    if (!open_oracle(&more_machines[3], ORACLE_CUT_THROUGH, &machine, &net)) return;
    CU_ASSERT_FATAL(!fc_demand_from_pattern(&net, "uniform", 3, &demand, &st));
    if (make(FC_TURNS_AUTO, &net, &demand, NULL, HOPS, &by_offset)) {
        if (make(FC_TURNS_DESTINATIONS, &net, &demand, NULL, HOPS, &by_destination)) {
            const struct fc_turns *t = &by_destination;
            double apart = 0, out = 0, wide = 0;
            for (uint32_t l = 0; l < net.n_links; l++) {
                uint32_t first = net.first_link[net.link_source[l]], o = 0;
                while (by_offset.link[o] - net.first_link[net.link_source[by_offset.link[o]]] != l - first ||
                       (by_offset.kind[o] != t->kind[l]))
                    o++;
                apart = fmax(apart, fabs(t->rate[l] / by_offset.rate[o] - 1));
            }
            CU_ASSERT(apart < 2e-4);
            for (uint32_t s = 0; s < t->n_states; s++) {
                uint32_t n = t->first_choice[s + 1] - t->first_choice[s];
                double sum = 0;
                for (uint32_t i = t->first_choice[s]; i < t->first_choice[s + 1]; i++) sum += t->choice_rate[i];
                CU_ASSERT(fabs(sum - t->state_rate[s]) < 1e-9);
                wide = fmax(wide, n - (double)t->state_outputs[s]);
                if (t->state_in[s] == FC_NONE) out += sum;
            }
            CU_ASSERT(wide > 0); /* a state of three outputs that goes by up to six */
            CU_ASSERT(fc_near(out, t->packets, 1e-9));
            CU_ASSERT(fc_near(t->packets, by_offset.packets, 1e-9));
            CU_ASSERT(fc_near(t->hops_mean, by_offset.hops_mean, 1e-9));
            CU_ASSERT(fc_near(t->zero_load_cycles, by_offset.zero_load_cycles, 1e-9));
            CU_ASSERT(fc_near(t->zero_load_variance, by_offset.zero_load_variance, 1e-6));
            fc_turns_free(&by_destination);
        }
        fc_turns_free(&by_offset);
    }
    fc_demand_free(&demand);
    oracle_close(&machine, &net);
}

/* What the pass is not for. */
static void refused(void)
{
    static const char yaml[] = "name: t\nclock: 1 GHz\nnetwork: {family: torus, dims: [4, 4]}\nlinks: "
                               "{torus: {bandwidth: 8 GB/s, latency: 2 "
                               "cycles}}\nrouter: {delay: 2 cycles, flit: 8 B, flow_control: cut-through, "
                               "vcs: 4, buffer: 512 B, escape: "
                               "dateline, routing: valiant}\npacket: {min: 8 B, max: 64 B}\n";
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand demand;
    struct fc_turns t;
    struct fc_status st = {0};
    struct fc_flit_settings settings;
    if (!fc_test_network(yaml, &machine, &net)) return;
    fc_flit_defaults(&settings);
    CU_ASSERT_FATAL(!fc_demand_from_pattern(&net, "uniform", 3, &demand, &st));
    CU_ASSERT_EQUAL(fc_turns_make_by(FC_TURNS_DESTINATIONS, &net, &demand, &settings, 1000000, &t, &st), FC_NO);
    CU_ASSERT_PTR_NOT_NULL(strstr(st.message, "by destination"));
    fc_demand_free(&demand);
    fc_test_close(&machine, &net);
}

int suite_turns_destinations(void)
{
    static const CU_TestInfo tests[] = {
        {"the same as packets followed", followed},
        {"random picks share evenly", even_picks},
        {"many states, against the pass over offsets", pooled},
        {"refused", refused},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("turns by destination", tests);
}
