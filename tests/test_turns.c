/* test_turns.c - turns of packets against what is known exactly: what comes to a channel leaves it, the load
 * solver's link rates, closed forms of mean hops, one packet in the kernel, and the ways of finding turns
 * against each other. */
#include "models/family_torus.h"
#include "solvers/solvers.h"
#include "tests/turns_oracles.h"

static const uint64_t most_hops = 200000;

/* Links of different speed in a packet's way: slow behind fast, fast behind slow, slow twice. */
static const struct oracle_machine unequal[] = {
    {"torus 3x4x2, a slow dimension",
     "network: {family: torus, dims: [3, 4, 2]}\nlinks: {x: {bandwidth: 2 GB/s, latency: 2 cycles}, y: "
     "{bandwidth: 8 "
     "GB/s, latency: 3 cycles}, z: {bandwidth: 4 GB/s, latency: 1 cycle}, injection: {bandwidth: 4 GB/s, "
     "latency: 1 "
     "cycle}}\n",
     "escape: dateline, routing: dimension-order}\n", 2, NULL},
    {"torus 4x4, fast injection",
     "network: {family: torus, dims: [4, 4]}\nlinks: {torus: {bandwidth: 1 GB/s, latency: 2 cycles}, "
     "injection: "
     "{bandwidth: 8 GB/s, latency: 1 cycle}}\n",
     "escape: bubble, routing: adaptive}\n", 2, NULL},
    {"torus 4x3, slow injection",
     "network: {family: torus, dims: [4, 3]}\nlinks: {torus: {bandwidth: 8 GB/s, latency: 2 cycles}, "
     "injection: "
     "{bandwidth: 2 GB/s, latency: 1 cycle}}\n",
     "escape: dateline, routing: dimension-order}\n", 2, NULL},
    {"fat-tree 3-4-2, wider to the top",
     "network: {family: fat-tree, children: [3, 4, 2], parents: [1, 2, 2]}\nlinks: {leaf: {bandwidth: 1 "
     "GB/s, latency: "
     "4 cycles}, level1: {bandwidth: 2 GB/s, latency: 2 cycles}, level2: {bandwidth: 8 GB/s, latency: 7 "
     "cycles}}\n",
     "escape: none, routing: nca-hash}\n", 2, NULL},
    {"tmesh 3x3 of 2x2 meshes, slow torus",
     "network: {family: tmesh, dims: [3, 3], mesh: [2, 2], bridges: {x-: 0, y-: 1, x+: 2, y+: 3}, "
     "router_nodes_compute: "
     "true}\nlinks: {torus: {bandwidth: 2 GB/s, latency: 9 cycles}, mesh: {bandwidth: 8 GB/s, latency: 1 "
     "cycle}}\n",
     "escape: dateline}\n", 2, NULL},
    {"dragonfly of 5 groups, three speeds",
     "network: {family: two-level, supernodes: 5, drawers: 2, nodes_per_drawer: 2, d_link: modulo, "
     "nodes_per_router: "
     "2}\nlinks: {ll: {bandwidth: 8 GB/s, latency: 3 cycles}, lr: {bandwidth: 2 GB/s, latency: 5 cycles}, d: "
     "{bandwidth: 4 GB/s, latency: 40 cycles}, injection: {bandwidth: 1 GB/s, latency: 1 cycle}}\n",
     "escape: none, routing: direct}\n", 2, NULL},
};

static bool pattern(const struct fc_network *net, const char *name, struct fc_demand *demand)
{
    struct fc_status st = {0};
    if (fc_demand_from_pattern(net, name, 3, demand, &st)) return false; /* not for this shape */
    demand->open_loop = true;
    return demand->n_tasks == net->n_nodes;
}
static const char *const patterns[] = {"uniform", "permutation:seed=4", "hotregion", "complement", "transpose"};

/* ---- conservation ---- */

static void check_conservation(const struct fc_turns *t, const struct fc_network *net)
{
    double *out = calloc(t->n_channels, sizeof *out), source = 0, delivered = 0, worst = 0;
    CU_ASSERT_FATAL(out != NULL);
    for (uint32_t s = 0; s < t->n_states; s++) {
        double choices = 0;
        for (uint32_t i = t->first_choice[s]; i < t->first_choice[s + 1]; i++) {
            choices += t->choice_rate[i];
            if (t->kind[t->choice_link[i]] == FC_TURN_EJECTION) delivered += t->choice_rate[i];
            CU_ASSERT_EQUAL(t->channel_link[t->choice_channel[i]], t->choice_link[i]);
        }
        worst = fmax(worst, fabs(choices - t->state_rate[s]));
        if (t->state_in[s] == FC_NONE)
            source += t->state_rate[s];
        else
            out[t->state_in[s]] += t->state_rate[s];
    }
    for (uint32_t c = 0; c < t->n_channels; c++)
        if (t->kind[t->channel_link[c]] != FC_TURN_EJECTION) worst = fmax(worst, fabs(out[c] - t->channel_rate[c]));
    free(out);
    CU_ASSERT(worst < 1e-9 * net->n_nodes);
    CU_ASSERT(fc_near(source * FLITS, net->n_nodes, 1e-9)); /* a load of one flit a node and cycle */
    CU_ASSERT(fc_near(delivered, source, 1e-9));
    CU_ASSERT(fc_near(t->packets, source, 1e-9));
}

static void conserves(void)
{
    struct fc_machine machine;
    struct fc_network net;
    for (size_t m = 0; m < FC_COUNT(oracle_machines); m++) {
        if (!open_oracle(&oracle_machines[m], ORACLE_CUT_THROUGH, &machine, &net)) return;
        for (size_t p = 0; p < 2; p++) {
            struct fc_demand demand;
            struct fc_turns t;
            if (!pattern(&net, patterns[p], &demand)) continue;
            for (uint64_t hops = 4000; hops <= most_hops; hops *= 50) /* sampled too */
                if (make(FC_TURNS_AUTO, &net, &demand, oracle_machines[m].vc_rule, hops, &t)) {
                    check_conservation(&t, &net);
                    fc_turns_free(&t);
                }
            fc_demand_free(&demand);
        }
        oracle_close(&machine, &net);
    }
}

/* ---- link rates ---- */

/* Flits a cycle on every link between routers for a load of one, by the load solver. */
static bool solver_rates(const struct fc_network *net, const struct fc_demand *demand, double *rate)
{
    struct fc_status st = {0};
    struct fc_load load;
    struct fc_load_settings settings = {.seed = 1};
    uint32_t *node = calloc(net->n_nodes, sizeof *node);
    for (uint32_t s = 0; node && s < net->n_nodes; s++) node[s] = s;
    struct fc_placement placement = {.n_tasks = net->n_nodes, .node = node};
    double sum = 0;
    for (size_t i = 0; i < demand->n_entries; i++) sum += demand->bytes[i];
    for (int p = 0; p < demand->n_dense; p++) {
        double a = 0, b = 0;
        for (uint32_t s = 0; s < net->n_nodes; s++) a += demand->dense[p].a[s], b += demand->dense[p].b[s];
        sum += a * b; /* to itself too: what stays at home is no less offered */
    }
    bool good = node && fc_load_solve(net, demand, &placement, &settings, &load, &st) == FC_OK;
    for (uint32_t l = 0; good && l < net->n_links; l++) rate[l] = load.bytes[l] * net->n_nodes / sum;
    if (good) fc_load_free(&load);
    free(node);
    return good;
}

/* Greatest difference over the busiest link. */
static double rates_apart(const struct fc_turns *t, const struct fc_network *net, const double *rate)
{
    double apart = 0, most = 0;
    for (uint32_t o = 0; o < t->n_links; o++) {
        if (t->kind[o] != FC_TURN_NETWORK) continue;
        apart = fmax(apart, fabs(t->rate[o] * FLITS - rate[t->link[o]]));
        most = fmax(most, rate[t->link[o]]);
    }
    (void)net;
    return most > 0 ? apart / most : apart;
}

static void load_rates(void)
{
    struct fc_machine machine;
    struct fc_network net;
    int compared = 0;
    for (size_t m = 0; m < FC_COUNT(oracle_machines); m++) {
        if (!open_oracle(&oracle_machines[m], ORACLE_CUT_THROUGH, &machine, &net)) return;
        const char *routing = machine.routing->name;
        /* nca-random picks cables by a hash of the packet's random word: right on the average only. */
        double tolerance = !strcmp(routing, "nca-random") ? 0.1 : 1e-9;
        double *rate = calloc(net.n_links, sizeof *rate);
        for (size_t p = 0; p < FC_COUNT(patterns) && !machine.routing->adaptive && rate; p++) {
            struct fc_demand demand;
            struct fc_turns t;
            if (!pattern(&net, patterns[p], &demand)) continue;
            if (solver_rates(&net, &demand, rate) &&
                make(FC_TURNS_AUTO, &net, &demand, oracle_machines[m].vc_rule, 12 * most_hops, &t)) {
                double apart = rates_apart(&t, &net, rate);
                if (!(apart <= tolerance)) printf("\n    %s, %s: %g\n", oracle_machines[m].name, patterns[p], apart);
                CU_ASSERT(apart <= tolerance);
                fc_turns_free(&t);
                compared++;
            }
            fc_demand_free(&demand);
        }
        free(rate);
        oracle_close(&machine, &net);
    }
    CU_ASSERT(compared >= 20);
}

/* ---- folded ---- */

/* The greatest difference of link rates, and the means, between two ways. */
static void same_turns(const char *what, const struct fc_network *net, const struct fc_demand *demand,
                       enum fc_turns_method method, double tolerance)
{
    struct fc_turns one, all;
    if (!make(method, net, demand, NULL, 8 * most_hops, &one)) return;
    if (make(FC_TURNS_UNFOLDED, net, demand, NULL, 8 * most_hops, &all)) {
        CU_ASSERT(one.folded && !all.folded && all.n_links == net->n_links);
        double *mean = calloc(net->n_links, sizeof *mean), apart = 0, most = 0;
        struct fc_status st = {0};
        struct fc_cells cells;
        bool folded;
        uint32_t *orbit, *place, n;
        struct fc_arena arena = {0};
        fc_turns_cells(net, demand, &cells, &folded, &st);
        if (mean && !fc_turns_orbits(net, &cells, &arena, &orbit, &place, &n, &st)) {
            for (uint32_t l = 0; l < net->n_links; l++) mean[orbit[l]] += all.rate[l] / one.copies[orbit[l]];
            CU_ASSERT_EQUAL(n, one.n_links);
            for (uint32_t o = 0; o < n; o++) {
                apart = fmax(apart, fabs(mean[o] - one.rate[o]));
                most = fmax(most, one.rate[o]);
            }
        }
        fc_arena_free(&arena);
        free(mean);
        if (!(apart <= tolerance * most)) printf("\n    %s: link rates %g apart\n", what, apart / most);
        CU_ASSERT(apart <= tolerance * most);
        CU_ASSERT(fc_near(one.hops_mean, all.hops_mean, 1e-9));
        CU_ASSERT(fc_near(one.packets, all.packets, 1e-9));
        CU_ASSERT(fc_near(one.zero_load_cycles, all.zero_load_cycles, tolerance));
        CU_ASSERT(fc_near(one.zero_load_variance, all.zero_load_variance, 0.02));
        CU_ASSERT(fc_near(one.least_zero_load_cycles, all.least_zero_load_cycles, 1e-9));
        fc_turns_free(&all);
    }
    fc_turns_free(&one);
}

/* Every node sends to the nodes x, y and z places away: alike everywhere, but not the same in all directions.
 */
static void lopsided(const struct fc_network *net, struct fc_demand *demand, uint32_t *src, uint32_t *dst,
                     double *bytes)
{
    uint32_t n = net->n_nodes, offsets[] = {1, 2, n / 3, n - 1};
    size_t i = 0;
    const struct fc_torus_shape *s = net->machine->shape;
    for (uint32_t v = 0; v < n; v++)
        for (size_t k = 0; k < FC_COUNT(offsets); k++, i++) {
            uint32_t to = 0;
            for (int d = 0; d < s->n_dims; d++)
                to += (v / s->stride[d] + offsets[k] / s->stride[d]) % s->k[d] * s->stride[d];
            src[i] = v;
            dst[i] = to;
            bytes[i] = (double)(k + 1);
        }
    *demand = (struct fc_demand){.name = "lopsided",
                                 .n_tasks = n,
                                 .n_entries = i,
                                 .src = src,
                                 .dst = dst,
                                 .bytes = bytes,
                                 .messages = bytes,
                                 .open_loop = true};
}

static const char *const tori[] = {"dims: [4, 4, 3]", "dims: [6, 4], links_per_dim: [2, 3]", "dims: [8, 2, 1]"};

static void folded(void)
{
    for (size_t i = 0; i < FC_COUNT(tori); i++)
        for (int adaptive = 0; adaptive < 2; adaptive++) {
            struct fc_machine machine;
            struct fc_network net;
            struct fc_demand demand;
            uint32_t src[512], dst[512];
            double bytes[512];
            char yaml[1024];
            snprintf(yaml, sizeof yaml,
                     "name: t\nclock: 1 GHz\nnetwork: {family: torus, %s}\nlinks: {torus: {bandwidth: 4 "
                     "GB/s, latency: "
                     "2 cycles}, injection: {bandwidth: 8 GB/s, latency: 1 cycle}}\nrouter: {delay: 2 "
                     "cycles, flit: 8 "
                     "B, flow_control: cut-through, vcs: 2, buffer: 512 B, escape: %s, routing: %s}\npacket: "
                     "{min: 8 "
                     "B, max: 64 B, trailer: 4 B}\n",
                     tori[i], adaptive ? "bubble" : "dateline", adaptive ? "adaptive" : "dimension-order");
            if (!fc_test_network(yaml, &machine, &net)) continue;
            lopsided(&net, &demand, src, dst, bytes);
            /* Walks stop after a few rounds, and few packets share unevenly. */
            if (adaptive) same_turns("adaptive torus, entries", &net, &demand, FC_TURNS_AUTO, 0.04);
            same_turns("torus, entries", &net, &demand, FC_TURNS_FOLDED_WALK, adaptive ? 0.04 : 1e-9);
            if (pattern(&net, "uniform", &demand)) {
                if (adaptive) same_turns("adaptive torus, uniform", &net, &demand, FC_TURNS_AUTO, 0.01);
                same_turns("torus, uniform", &net, &demand, FC_TURNS_FOLDED_WALK, adaptive ? 0.01 : 1e-9);
                fc_demand_free(&demand);
            }
            fc_test_close(&machine, &net);
        }
}

/* Heads by the channel they came by and what they choose from: the exact pass against packets followed. */
static void exact_states(void)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand demand;
    struct fc_turns exact, walked;
    if (!fc_test_network(
            "name: t\nclock: 1 GHz\nnetwork: {family: torus, dims: [5, 4, 2], nodes_per_router: 2}\nlinks: "
            "{torus: {bandwidth: 8 GB/s, latency: 2 cycles}}\nrouter: {delay: 2 cycles, flit: 8 B, "
            "flow_control: cut-through, vcs: 2, buffer: 512 B, escape: bubble, routing: adaptive}\npacket: "
            "{min: 8 B, max: 64 B}\n",
            &machine, &net))
        return;
    CU_ASSERT_FATAL(pattern(&net, "uniform", &demand));
    if (make(FC_TURNS_AUTO, &net, &demand, NULL, most_hops, &exact)) {
        CU_ASSERT_EQUAL(exact.n_walked, 0);
        check_conservation(&exact, &net);
        if (make(FC_TURNS_FOLDED_WALK, &net, &demand, NULL, 20 * most_hops, &walked)) {
            uint32_t found = 0;
            double apart = 0;
            for (uint32_t s = 0; s < exact.n_states; s++)
                for (uint32_t r = 0; r < walked.n_states; r++) {
                    uint32_t a = exact.state_in[s], b = walked.state_in[r];
                    uint32_t n = exact.first_choice[s + 1] - exact.first_choice[s];
                    bool same = n == walked.first_choice[r + 1] - walked.first_choice[r] &&
                                (a == FC_NONE) == (b == FC_NONE) &&
                                (a == FC_NONE || (exact.channel_link[a] == walked.channel_link[b] &&
                                                  exact.channel_vcs[a] == walked.channel_vcs[b]));
                    for (uint32_t i = 0; i < n && same; i++)
                        same = exact.choice_link[exact.first_choice[s] + i] ==
                               walked.choice_link[walked.first_choice[r] + i];
                    if (!same) continue;
                    found++;
                    apart = fmax(apart, fabs(exact.state_rate[s] - walked.state_rate[r]));
                }
            CU_ASSERT_EQUAL(found, exact.n_states);
            CU_ASSERT_EQUAL(found, walked.n_states);
            CU_ASSERT(apart < 0.01 * exact.packets);
            fc_turns_free(&walked);
        }
        fc_turns_free(&exact);
    }
    fc_demand_free(&demand);
    fc_test_close(&machine, &net);
}

/* ---- means ---- */

static void mean_hops(void)
{
    struct fc_machine machine;
    struct fc_network net;
    for (size_t m = 0; m < FC_COUNT(oracle_machines); m++) {
        struct fc_status st = {0};
        struct fc_demand demand;
        struct fc_facts facts;
        struct fc_turns t;
        if (!open_oracle(&oracle_machines[m], ORACLE_CUT_THROUGH, &machine, &net)) return;
        CU_ASSERT_EQUAL(fc_network_facts(&net, &facts, &st), FC_OK);
        if (pattern(&net, "uniform", &demand)) {
            if (make(FC_TURNS_AUTO, &net, &demand, oracle_machines[m].vc_rule, 8 * most_hops, &t)) {
                CU_ASSERT(!t.sampled);
                CU_ASSERT(fc_near(t.hops_mean, facts.mean_hops, 1e-9));
                fc_turns_free(&t);
            }
            fc_demand_free(&demand);
        }
        oracle_close(&machine, &net);
    }
    if (!fc_test_network(
            "name: t\nclock: 1 GHz\nnetwork: {family: torus, dims: [16, 8, 4]}\nlinks: {torus: {bandwidth: 8 "
            "GB/s, latency: 2 cycles}}\nrouter: {delay: 2 cycles, flit: 8 B, flow_control: cut-through, vcs: "
            "2, buffer: 512 B, escape: bubble, routing: adaptive}\npacket: {min: 8 B, max: 64 B}\n",
            &machine, &net))
        return;
    struct fc_demand demand;
    struct fc_turns t;
    CU_ASSERT_FATAL(pattern(&net, "uniform", &demand));
    if (make(FC_TURNS_AUTO, &net, &demand, NULL, most_hops, &t)) {
        CU_ASSERT(fc_near(t.hops_mean, (16 + 8 + 4) / 4.0, 1e-12)); /* k / 4 a dimension */
        CU_ASSERT(fc_near(1 / t.max_service_rate, 8.0 / 16, 1e-6)); /* 8 / k of the longest, whatever the split */
        fc_turns_free(&t);
    }
    fc_demand_free(&demand);
    fc_test_close(&machine, &net);
}

/* ---- zero load ---- */

/* One pair's latency by the turns and by one packet in the kernel. */
static void check_zero_load(const struct oracle_machine *o, enum oracle_flow flow, int pairs)
{
    struct fc_machine machine;
    struct fc_network net;
    double worst = 0;
    if (!open_oracle(o, flow, &machine, &net)) return;
    uint32_t *node = malloc(net.n_nodes * sizeof *node);
    for (uint64_t i = 0; node && i < (uint64_t)pairs; i++) {
        uint32_t src = (uint32_t)fc_random_below(1, 0, i, net.n_nodes),
                 dst = (uint32_t)fc_random_below(1, 1, i, net.n_nodes);
        double bytes = 1;
        struct fc_status st = {0};
        struct fc_turns t;
        struct fc_demand demand = {.name = "one pair",
                                   .n_tasks = net.n_nodes,
                                   .n_entries = 1,
                                   .src = &src,
                                   .dst = &dst,
                                   .bytes = &bytes,
                                   .messages = &bytes,
                                   .open_loop = true};
        if (src == dst || !make(FC_TURNS_AUTO, &net, &demand, o->vc_rule, 1000, &t)) continue;
        double kernel = oracle_measure_one(&net, FC_ENGINE_AUTO, o->vc_rule, src, dst, FLITS, node, &st);
        CU_ASSERT(!isnan(kernel));
        worst = fmax(worst, fabs(t.zero_load_cycles / kernel - 1));
        fc_turns_free(&t);
    }
    free(node);
    if (!(worst < 1e-9))
        printf("\n    %s, %s: %.3g\n", o->name, flow == ORACLE_WORMHOLE ? "wormhole" : "cut-through", worst);
    CU_ASSERT(worst < 1e-9);
    oracle_close(&machine, &net);
}

static void zero_load(void)
{
    for (size_t m = 0; m < FC_COUNT(oracle_machines); m++) check_zero_load(&oracle_machines[m], ORACLE_CUT_THROUGH, 8);
    for (size_t m = 0; m < FC_COUNT(unequal); m++) {
        check_zero_load(&unequal[m], ORACLE_CUT_THROUGH, 12);
        if (!strstr(unequal[m].rest, "bubble")) check_zero_load(&unequal[m], ORACLE_WORMHOLE, 12);
    }
}

/* The mean over all pairs, by the kernel at a load at which nobody waits. */
static void zero_load_mean(void)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand demand;
    struct fc_turns t;
    struct fc_flit_result r;
    struct fc_status st = {0};
    if (!open_oracle(&unequal[1], ORACLE_CUT_THROUGH, &machine, &net)) return;
    CU_ASSERT_FATAL(pattern(&net, "uniform", &demand));
    if (make(FC_TURNS_AUTO, &net, &demand, NULL, most_hops, &t)) {
        CU_ASSERT_EQUAL(oracle_run(&net, &demand, FC_ENGINE_AUTO, 0.002, FLITS, 400000, &r, &st), FC_OK);
        CU_ASSERT(fc_near(t.zero_load_cycles, r.latency_mean_cycles, 0.01));
        fc_flit_free(&r);
        fc_turns_free(&t);
    }
    fc_demand_free(&demand);
    oracle_close(&machine, &net);
}

/* ---- the same again ---- */

static void deterministic(void)
{
    struct fc_machine machine;
    struct fc_network net;
    for (size_t m = 0; m < FC_COUNT(oracle_machines); m++) {
        struct fc_demand demand;
        struct fc_turns a, b;
        if (!open_oracle(&oracle_machines[m], ORACLE_CUT_THROUGH, &machine, &net)) return;
        if (pattern(&net, "uniform", &demand)) {
            if (make(FC_TURNS_AUTO, &net, &demand, oracle_machines[m].vc_rule, 20000, &a)) {
                if (make(FC_TURNS_AUTO, &net, &demand, oracle_machines[m].vc_rule, 20000, &b)) {
                    CU_ASSERT_EQUAL(a.n_states, b.n_states);
                    CU_ASSERT_EQUAL(a.n_choices, b.n_choices);
                    CU_ASSERT(!memcmp(a.choice_rate, b.choice_rate, a.n_choices * sizeof *a.choice_rate));
                    CU_ASSERT(!memcmp(a.state_in, b.state_in, a.n_states * sizeof *a.state_in));
                    fc_turns_free(&b);
                }
                fc_turns_free(&a);
            }
            fc_demand_free(&demand);
        }
        oracle_close(&machine, &net);
    }
}

/* Under UGAL each walk has random words of its own: with a threshold that no queue exceeds all packets of a supernode go to one
 * other, spread over the pair's cables, and the busiest carries a fourth. (With the same few words a pair in every walk it was said to carry
 * 1.4 times that.) */
static void cables_by_chance(void)
{
    static const char *const text =
        "name: t\nnetwork: {family: two-level, supernodes: 6, nodes_per_drawer: 4, nodes_per_router: 2, links_per_pair: 4, "
        "d_link: modulo}\nlinks: {ll: {bandwidth: 8 GB/s, latency: 3 ns}, d: {bandwidth: 1 GB/s, latency: 40 ns}, injection: "
        "{bandwidth: 16 GB/s, latency: 1 ns}}\nclock: 1 GHz\n"
        "router: {flit: 8 B, vcs: 3, routing: ugal, ugal: {threshold: 1000000}, buffer: 4 KiB}\n";
    struct fc_machine machine;
    struct fc_network net;
    struct fc_status st = {0};
    struct fc_demand demand;
    struct fc_turns t;
    CU_ASSERT_FATAL(oracle_open(text, &machine, &net, &st));
    CU_ASSERT_FATAL(pattern(&net, "complement", &demand));
    struct fc_flit_settings settings;
    fc_flit_defaults(&settings);
    settings.packet_flits_min = settings.packet_flits_max = FLITS;
    CU_ASSERT_EQUAL(fc_turns_make(&net, &demand, &settings, most_hops, &t, &st), FC_OK);
    if (!st.code) {
        double flits_a_cycle = net.n_nodes / 6 / 4.0, cycles_a_flit = 8;
        CU_ASSERT(t.n_rungs > 0);
        CU_ASSERT_DOUBLE_EQUAL(t.max_service_rate / (flits_a_cycle * cycles_a_flit), 1, 0.06);
        fc_turns_free(&t);
    }
    fc_demand_free(&demand);
    oracle_close(&machine, &net);
}

int suite_turns(void)
{
    static const CU_TestInfo tests[] = {
        {"what comes to a channel leaves it", conserves},
        {"link rates of the load solver", load_rates},
        {"one cell tells all", folded},
        {"states of an adaptive torus", exact_states},
        {"mean hops, busiest link", mean_hops},
        {"one packet alone as in the kernel", zero_load},
        {"mean at zero load as in the kernel", zero_load_mean},
        {"the same again", deterministic},
        {"cables by chance under UGAL", cables_by_chance},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("turns", tests);
}
