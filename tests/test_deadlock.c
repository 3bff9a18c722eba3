/* test_deadlock.c - deadlock certificates: the placements of the TMesh paper, numbering and components
 * against brute force, the bubble's invariant by exhaustion, the rule a machine runs under, names and
 * refusals. */
#include "tests/dependencies.h"

#include "solvers/flit/prepared.h"

/* Table 1 of the TMesh paper on 4 x 4 x 4 chips: with mesh channels shared by all traffic every placement
 * deadlocks, with separate injection and ejection all but three, with a channel a dimension and dateline
 * side none. */
static void published_placements(void)
{
    static const int table[][6] = {{8, 4, 0, 11, 7, 3}, {0, 2, 4, 1, 3, 5},  {4, 5, 6, 7, 9, 10}, {9, 6, 4, 10, 7, 5},
                                   {4, 5, 9, 8, 6, 10}, {5, 4, 6, 9, 8, 10}, {1, 5, 9, 2, 6, 10}};
    static const int safe_separate[7][2] = {{1, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 1}, {1, 0}};
    struct fc_machine machine;
    struct fc_network net;
    char yaml[512];
    for (size_t i = 0; i < FC_COUNT(table); i++)
        for (int order = 0; order < 2; order++) {
            const int *b = table[i];
            snprintf(yaml, sizeof yaml,
                     TMESH("dims: [4, 4, 4], mesh: [4, 4], mesh_order: %s, "
                           "bridges: {x-: %d, y-: %d, z-: %d, x+: %d, y+: %d, z+: %d}"),
                     order ? "column-first" : "row-first", b[0], b[1], b[2], b[3], b[4], b[5]);
            if (!fc_test_network(yaml, &machine, &net)) return;
            static const char *const rules[] = {"shared", "separate", "six-vc"};
            for (int r = 0; r < 3; r++) {
                struct fc_certificate c;
                struct fc_status st = {0};
                bool expected = r == 2 || (r == 1 && safe_separate[i][order]);
                CU_ASSERT_EQUAL_FATAL(fc_certify(&net, rules[r], &c, &st), FC_OK);
                CU_ASSERT(c.safe == expected && c.acyclic == expected);
                CU_ASSERT(expected ? c.n_cycle == 0 : c.n_cycle >= 8 && c.n_cycle <= 20);
                CU_ASSERT_EQUAL(c.n_vcs, r == 0 ? 2 : r == 1 ? 4 : 6);
                fc_certificate_free(&c);
            }
            fc_test_close(&machine, &net);
        }
}

/* ---- numbering and components on graphs of any kind ---- */

static void random_graph(struct fc_cdg *g, uint32_t n, uint32_t n_arcs, uint64_t seed)
{
    struct fc_status st = {0};
    struct arcs set = {0};
    memset(g, 0, sizeof *g);
    for (uint32_t i = 0; i < n_arcs; i++)
        arcs_add(&set, fc_random_below(seed, 0, i, n), fc_random_below(seed, 1, i, n));
    arcs_unique(&set);
    g->n_channels = g->n_vertices = n;
    g->n_arcs = set.n;
    g->first = fc_alloc(&g->arena, n + 1u, sizeof *g->first, &st);
    g->to = fc_alloc(&g->arena, set.n, sizeof *g->to, &st);
    CU_ASSERT_PTR_NOT_NULL_FATAL(g->to);
    for (size_t i = 0; i < set.n; i++) {
        g->to[i] = (uint32_t)set.arc[i];
        g->first[(set.arc[i] >> 32) + 1] = i + 1;
    }
    for (uint32_t v = 0; v < n; v++)
        if (g->first[v + 1] < g->first[v]) g->first[v + 1] = g->first[v];
    arcs_free(&set);
}

/* Against reachability by Warshall's closure: components are mutual reachability, numbers go to what no
 * cycle reaches. */
static void graphs_against_closure(void)
{
    enum { N = 24 };
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct fc_cdg g;
        struct fc_status st = {0};
        bool reach[N][N] = {{false}};
        uint32_t component[N], order[N], scratch[2 * N], numbered = 0, wrong = 0;
        random_graph(&g, N, 8 + (uint32_t)seed, seed);
        for (uint32_t v = 0; v < N; v++)
            for (uint64_t i = g.first[v]; i < g.first[v + 1]; i++) reach[v][g.to[i]] = true;
        for (int k = 0; k < N; k++)
            for (int i = 0; i < N; i++)
                for (int j = 0; j < N; j++) reach[i][j] |= reach[i][k] && reach[k][j];
        CU_ASSERT(fc_cdg_components(&g, component, &st) > 0);
        uint64_t sorted = fc_cdg_sort(&g, order, scratch);
        for (int i = 0; i < N; i++) {
            bool behind_cycle = reach[i][i];
            for (int j = 0; j < N; j++) {
                behind_cycle = behind_cycle || (reach[j][j] && reach[j][i]);
                wrong += i != j && (component[i] == component[j]) != (reach[i][j] && reach[j][i]);
                wrong += order[i] != FC_NONE && order[j] != FC_NONE && reach[i][j] && order[i] >= order[j];
            }
            wrong += behind_cycle != (order[i] == FC_NONE);
            numbered += order[i] != FC_NONE;
        }
        CU_ASSERT_EQUAL(wrong, 0);
        CU_ASSERT_EQUAL(numbered, sorted);
        fc_arena_free(&g.arena);
    }
}

/* ---- the bubble ---- */

/* The premise of the invariant: on the bubble channels only packets of one ring can wait for each other in
 * a circle. */
static void bubble_cycles_stay_in_rings(void)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_cdg cdg;
    struct fc_status st = {0};
    if (!fc_test_network(TORUS("dims: [5, 4, 3]"), &machine, &net)) return;
    CU_ASSERT_EQUAL_FATAL(fc_cdg_build(&net, rule_of(&net, "bubble"), &cdg, &st), FC_OK);
    uint32_t *component = malloc(cdg.n_vertices * sizeof *component), in_rings = 0, wrong = 0;
    CU_ASSERT(fc_cdg_components(&cdg, component, &st) > 0);
    for (uint32_t a = 0; a < net.n_links; a++)
        for (uint32_t b = 0; b < a; b++) {
            if (component[a] != component[b]) continue;
            char from[80], to[80];
            uint32_t u = net.link_source[a], v = net.link_source[b], differ = 0;
            for (int d = 0; d < 3; d++)
                differ += fc_torus_coordinate(fc_torus(&net), u, d) != fc_torus_coordinate(fc_torus(&net), v, d);
            fc_link_name(&net, a, from, sizeof from), fc_link_name(&net, b, to, sizeof to);
            wrong += differ > 1 || strncmp(from, to, 2) != 0;
            in_rings++;
        }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_EQUAL(in_rings, 12 * 2 * 5 * 4 / 2 + 15 * 2 * 4 * 3 / 2); /* rings of 5 and 4, not those of 3 */
    free(component);
    fc_cdg_free(&cdg);
    fc_test_close(&machine, &net);
}

/* A ring of n buffers of 4 chunks, packets of 1 or 2 chunks (2 is full size). A packet enters a buffer
 * from outside when two full packets fit, from the ring when one fits; it may then go on `reach` hops at
 * most. State: 4 bits a packet (1 + 2 * hops left + size - 1), 16 a buffer, head lowest. */
struct ring {
    int n, reach;
    bool full_size; /* every packet counts as full size */
};
static int free_chunks(const struct ring *r, uint64_t buffer)
{
    int used = 0;
    for (; buffer; buffer >>= 4) used += r->full_size ? 2 : 1 + (int)((buffer & 15) - 1) % 2;
    return 4 - used;
}
static uint64_t buffer_of(uint64_t state, int i)
{
    return state >> 16 * i & 0xffff;
}
static uint64_t append(uint64_t state, int i, uint64_t packet)
{
    int at = 0;
    while (buffer_of(state, i) >> 4 * at) at++;
    return state | packet << (16 * i + 4 * at);
}
static uint64_t pop(uint64_t state, int i)
{
    return (state & ~(0xffffull << 16 * i)) | (buffer_of(state, i) >> 4) << 16 * i;
}
/* Moves of the packets that are there; returns how many states it wrote. */
static int ring_moves(const struct ring *r, uint64_t state, uint64_t *next)
{
    int n = 0;
    for (int i = 0; i < r->n; i++) {
        uint64_t packet = buffer_of(state, i) & 15;
        int to = (i + 1) % r->n;
        if (packet == 0) continue;
        if ((packet - 1) / 2 == 0)
            next[n++] = pop(state, i);
        else if (free_chunks(r, buffer_of(state, to)) >= 2)
            next[n++] = append(pop(state, i), to, packet - 2);
    }
    return n;
}

/* Visits every state from the empty ring; how many it met, and those with packets of which none can move. */
static uint32_t stuck_states(const struct ring *r, uint32_t *n_states)
{
    enum { SLOTS = 1 << 20 };
    uint64_t *table = calloc(SLOTS, sizeof *table), *queue = malloc(SLOTS * sizeof *queue), next[64];
    uint32_t head = 0, tail = 0, stuck = 0;
    queue[tail++] = 0;
    table[0] = 1; /* state + 1 */
    while (head < tail && tail < SLOTS / 2) {
        uint64_t state = queue[head++];
        int n = ring_moves(r, state, next);
        stuck += n == 0 && state != 0;
        for (int i = 0; i < r->n; i++)
            for (uint64_t hops = 0; free_chunks(r, buffer_of(state, i)) >= 4 && hops <= (uint64_t)r->reach; hops++)
                for (uint64_t size = 1; size <= 2; size++) next[n++] = append(state, i, 1 + 2 * hops + size - 1);
        for (int i = 0; i < n; i++) {
            uint32_t at = (uint32_t)(next[i] * 0x9e3779b97f4a7c15ull >> 44);
            if (next[i] == 0) continue;
            while (table[at] && table[at] != next[i] + 1) at = (at + 1) % SLOTS;
            if (table[at]) continue;
            table[at] = next[i] + 1;
            queue[tail++] = next[i];
        }
    }
    CU_ASSERT(head == tail); /* all states were visited */
    *n_states = tail;
    free(table), free(queue);
    return stuck;
}

static void bubble_rings_by_exhaustion(void)
{
    static const struct ring rings[] = {{2, 2, true}, {3, 2, true}, {3, 1, true}, {4, 1, true}};
    for (size_t i = 0; i < FC_COUNT(rings); i++) {
        uint32_t n_states;
        CU_ASSERT_EQUAL(stuck_states(&rings[i], &n_states), 0);
        CU_ASSERT(n_states > 20);
        if (i > 1) continue; /* by true lengths: no packet goes far enough, or too many states */
        struct ring by_length = rings[i];
        by_length.full_size = false;
        CU_ASSERT(stuck_states(&by_length, &n_states) > 0);
    }
}

static void bubble_verdict(const char *yaml, bool safe, const char *part)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_certificate c;
    struct fc_status st = {0};
    if (!fc_test_network(yaml, &machine, &net)) return;
    CU_ASSERT_EQUAL_FATAL(fc_certify(&net, NULL, &c, &st), FC_OK);
    CU_ASSERT_STRING_EQUAL(c.policy, "bubble");
    CU_ASSERT(c.safe == safe && (c.n_cycle == 0) == safe);
    if (!strstr(c.argument, part)) printf("\n    %s\n", c.argument);
    CU_ASSERT_PTR_NOT_NULL(strstr(c.argument, part));
    fc_certificate_free(&c);
    fc_test_close(&machine, &net);
}

static void bubble_conditions(void)
{
    bubble_verdict(TORUS("dims: [8, 8]") "router: {escape: bubble, buffer: 1 KiB}\npacket: {max: 256 B}\n", true,
                   "two full packets fit (512 of 1024 B");
    bubble_verdict(TORUS("dims: [8, 8]") "router: {escape: bubble, buffer: 512 B}\npacket: {max: 256 B}\n", true,
                   "512 of 512 B");
    bubble_verdict(TORUS("dims: [8, 8]") "router: {escape: bubble, buffer: 511 B}\npacket: {max: 256 B}\n", false,
                   "two full packets (512 B), router.buffer is 511 B");
    bubble_verdict(TORUS("dims: [8, 8]") "router: {escape: bubble, flow_control: wormhole}\npacket: {max: 256 B}\n",
                   false, "needs cut-through");
    bubble_verdict(TORUS("dims: [8, 8]") "router: {escape: bubble}\n", false, "without packet.max");
    bubble_verdict(MESH("dims: [8, 8]") "router: {escape: bubble}\n", true, "has no cycle");
}

/* ---- choice of the rule, names, refusals ---- */

static void rule_is_chosen(void)
{
    static const struct {
        const char *yaml, *rule;
        bool safe;
    } cases[] = {
        {TORUS("dims: [8, 8]"), "dateline", true},
        {TORUS("dims: [8, 8]") "router: {escape: direction-ordered}\n", "direction-ordered", true},
        {TORUS("dims: [8, 8]") "router: {escape: none}\n", "none", false},
        {TORUS("dims: [8, 8]") "router: {escape: none, routing: dimension-order}\n", "none", false},
        {MESH("dims: [8, 8]") "router: {escape: none}\n", "none", true},
        {MESH("dims: [8, 8]") "router: {escape: none, routing: adaptive}\n", "none", false},
        {TMESH("dims: [4, 4], mesh: [2, 3], bridges: {x-: 0, y-: 1, x+: 2, y+: 3}"), "six-vc", true},
        {TMESH("dims: [4, 4], mesh: [2, 3], vc_policy: shared, bridges: {x-: 0, y-: 1, x+: 2, y+: 3}"), "shared",
         false},
        {TMESH("dims: [4, 4], mesh: [2, 3], vc_policy: separate, bridges: {x-: 0, x+: 2, y-: 3, y+: 5}"), "separate",
         true},
        {"name: t\nnetwork: {family: two-level, supernodes: 4, nodes_per_drawer: 4}\n" LL_ONLY, "hops", true},
        {"name: t\nnetwork: {family: fat-tree, children: [4, 4], parents: [1, 2]}\n"
         "links: {leaf: {bandwidth: 1 GB/s, latency: 1 ns}, up: {bandwidth: 1 GB/s, latency: 1 ns}}\n",
         "up-down", true},
    };
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        struct fc_machine machine;
        struct fc_network net;
        struct fc_certificate c;
        struct fc_status st = {0};
        if (!fc_test_network(cases[i].yaml, &machine, &net)) continue;
        CU_ASSERT_EQUAL_FATAL(fc_certify(&net, NULL, &c, &st), FC_OK);
        CU_ASSERT_STRING_EQUAL(c.policy, cases[i].rule);
        CU_ASSERT_EQUAL(c.safe, cases[i].safe);
        fc_certificate_free(&c);
        fc_test_close(&machine, &net);
    }
}

/* The four turns of two dimensions are the shortest cycle of minimal adaptive routing; a ring of 4 that of
 * one channel. */
static void short_cycles_with_names(void)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_certificate c;
    struct fc_status st = {0};
    char name[80];
    static const char *const ring[] = {"y+ (0,0)->(0,1) vc 0", "y+ (0,1)->(0,2) vc 0", "y+ (0,2)->(0,3) vc 0",
                                       "y+ (0,3)->(0,0) vc 0"};
    if (!fc_test_network(TORUS("dims: [6, 4]") "router: {escape: none, routing: dimension-order}\n", &machine, &net))
        return;
    CU_ASSERT_EQUAL_FATAL(fc_certify(&net, NULL, &c, &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(c.n_cycle, 4);
    for (uint32_t i = 0; i < 4; i++)
        CU_ASSERT_STRING_EQUAL(fc_channel_name(&net, c.cycle[i], c.n_vcs, name, sizeof name), ring[i]);
    fc_certificate_free(&c);
    route_by(&machine, "adaptive");
    CU_ASSERT_EQUAL_FATAL(fc_certify(&net, NULL, &c, &st), FC_OK);
    CU_ASSERT_EQUAL(c.n_cycle, 4);
    fc_certificate_free(&c);
    CU_ASSERT_EQUAL_FATAL(fc_certify(&net, "dateline", &c, &st), FC_OK);
    CU_ASSERT_STRING_EQUAL(fc_channel_name(&net, 3, c.n_vcs, name, sizeof name), "x- (0,0)->(5,0) vc 1");
    CU_ASSERT_PTR_NOT_NULL(strstr(c.argument, "extended dependency graph"));
    fc_certificate_free(&c);
    fc_test_close(&machine, &net);
}

/* A rule that takes more of router.vcs than there are: the certificate says so wherever the kernel refuses the machine
 * for it, and nowhere else. */
static void channels_enough(const char *yaml, const char *rule, int needed)
{
    for (int vcs = 1; vcs <= 5; vcs++) {
        char text[1500];
        struct fc_machine machine;
        struct fc_network net;
        struct fc_certificate c;
        struct fc_flit_net flit;
        struct fc_flit_settings settings;
        struct fc_status st = {0}, kernel = {0};
        snprintf(text, sizeof text, "%s", yaml);
        char *digit = strstr(text, "vcs: N");
        CU_ASSERT_PTR_NOT_NULL_FATAL(digit);
        digit[5] = (char)('0' + vcs);
        if (!fc_test_network(text, &machine, &net)) continue;
        CU_ASSERT_EQUAL_FATAL(fc_certify(&net, rule, &c, &st), FC_OK);
        CU_ASSERT_EQUAL(c.data_vcs, needed);
        CU_ASSERT_EQUAL(c.enough, vcs >= needed);
        fc_flit_defaults(&settings);
        settings.vc_rule = rule;
        settings.allow_deadlock = true;
        settings.packet_flits_min = settings.packet_flits_max = 1;
        if (fc_flit_prepare(&net, &settings, &flit, &kernel) == FC_OK) fc_flit_unprepare(&flit);
        CU_ASSERT_EQUAL(kernel.code, c.enough ? FC_OK : FC_INPUT);
        if (!c.enough) CU_ASSERT(fc_says(&kernel, FC_INPUT, "router.vcs"));
        fc_certificate_free(&c);
        fc_test_close(&machine, &net);
    }
}

#define VCS(routing) "router: {flit: 32 B, buffer: 1 KiB, vcs: N, routing: " routing "}\npacket: {max: 256 B}\n"
static void channels_are_counted(void)
{
    static const char ring[] =
        "router a node 0\nrouter b node 1\nrouter c node 2\nrouter d node 3\nrouter e node 4\n"
        "router a router b\nrouter b router c\nrouter c router d\nrouter d router e\nrouter e router a\n";
    char path[64], yaml[1024];
    channels_enough(TORUS("dims: [5, 4]") VCS("dimension-order"), "dateline", 2);
    channels_enough(TORUS("dims: [5, 4]") VCS("valiant"), "direction-ordered", 4);
    channels_enough(TORUS("dims: [5, 4]") VCS("adaptive"), "dateline", 0);
    channels_enough(TORUS("dims: [5, 4]") VCS("dimension-order"), "bubble", 0);
    channels_enough(MESH("dims: [5, 4]") VCS("dimension-order"), "dateline", 1);
    channels_enough(MESH("dims: [5, 4]") VCS("valiant"), "dateline", 2);
    channels_enough(TMESH("dims: [4, 4], mesh: [2, 3], bridges: {x-: 0, y-: 1, x+: 2, y+: 3}") VCS("dimension-order"),
                    "six-vc", 2);
    channels_enough("name: t\nnetwork: {family: two-level, supernodes: 4, nodes_per_drawer: 4}\n" LL_ONLY VCS("direct"),
                    "hops", 2);
    channels_enough("name: t\nnetwork: {family: two-level, supernodes: 4, nodes_per_drawer: 4}\n" LL_ONLY VCS("ugal"),
                    "hops", 3);
    CU_ASSERT_FATAL(fc_test_file(path, ".txt", ring, strlen(ring)));
    snprintf(yaml, sizeof yaml,
             "name: g\nnetwork: {family: graph, file: %s, format: edge-list}\n"
             "links: {link: {bandwidth: 1 GB/s, latency: 1 ns}}\n" VCS("shortest"),
             path);
    channels_enough(yaml, "layers", 2);
    unlink(path);
}

/* Every network under the rules that say `proven` has a graph without a cycle, which the kernel no longer builds: all tori and
 * meshes of small rings, and cells of all kinds. */
static uint32_t proven_hold(const char *yaml, const char *const *routings)
{
    struct fc_machine machine;
    struct fc_network net;
    uint32_t n = 0;
    if (!fc_test_network(yaml, &machine, &net)) return 0;
    for (int r = 0; routings[r]; r++)
        for (int via = 0; via < 2; via++)
            for (const struct fc_vc_rule_ops *const *rule = fc_vc_rules; *rule; rule++) {
                struct fc_certificate c;
                struct fc_status st = {0};
                route_by(&machine, routings[r]);
                if (!(*rule)->proven || !fc_serves((*rule)->families, machine.family) ||
                    !fc_vc_rule_knows(*rule, machine.routing))
                    continue;
                machine.router.ugal.via = via ? FC_UGAL_ROUTER : FC_UGAL_SUPERNODE;
                CU_ASSERT_EQUAL_FATAL(fc_certify(&net, (*rule)->name, &c, &st), FC_OK);
                if (!c.acyclic) printf("\n%s %s %s: cyclic\n", yaml, routings[r], (*rule)->name);
                CU_ASSERT(c.safe && c.acyclic);
                fc_certificate_free(&c);
                n++;
            }
    fc_test_close(&machine, &net);
    return n;
}

static void proven_rules(void)
{
    static const char *const of_tori[] = {"dimension-order", "adaptive", "valiant", NULL},
                             *const of_cells[] = {"direct", "indirect", "ugal", NULL},
                             *const of_trees[] = {"nca", "nca-hash", NULL},
                             *const of_chips[] = {"dimension-order", NULL};
    static const char *const cells[] = {
        "cells: [3, 1], leaves: [2, 3], spines: [3, 2], nodes_per_cell: [4, 3], links_per_pair: 2",
        "cells: [4], leaves: [3], nodes_per_cell: [6], links_per_pair: 2",
        "cells: [2, 2], leaves: [4, 2], spines: [0, 2], nodes_per_cell: [4, 4], links_per_pair: 3",
        "cells: [2], leaves: [3], spines: [2], nodes_per_cell: [3]"};
    char yaml[700];
    uint32_t n = 0;
    for (int kind = 0; kind < 4; kind++) /* torus or mesh, either dateline */
        for (int a = 1; a <= 9; a++)
            for (int b = 1; b <= (a < 6 ? a : 2); b++) {
                const char *family = kind < 2 ? "torus" : "mesh";
                snprintf(yaml, sizeof yaml,
                         "name: t\nnetwork: {family: %s, dims: [%d, %d, %d], links_per_dim: [1, %d, 1]}\n"
                         "links: {%s: {bandwidth: 1 GB/s}}\nrouter: {dateline: %s}\n",
                         family, a, b, a == 4 ? 3 : 1, 1 + (a == 3), family, kind % 2 ? "entry" : "crossed");
                n += proven_hold(yaml, of_tori);
            }
    for (int supernodes = 1; supernodes <= 4; supernodes++)
        for (int local = 0; local < 2; local++)
            for (int drawers = 1; drawers <= 3; drawers++) {
                snprintf(yaml, sizeof yaml,
                         "name: t\nnetwork: {family: two-level, supernodes: %d, drawers: %d, nodes_per_drawer: 3, "
                         "links_per_pair: %d%s}\n%s",
                         supernodes, drawers, 1 + supernodes % 2, local ? ", local: grid" : "",
                         drawers > 1 ? LL_LR : LL_ONLY);
                n += proven_hold(yaml, of_cells);
            }
    for (size_t i = 0; i < FC_COUNT(cells); i++) {
        snprintf(yaml, sizeof yaml,
                 "name: t\nnetwork: {family: dragonfly-plus, %s}\nlinks: {global: {bandwidth: 1 GB/s}%s%s}\n", cells[i],
                 i == 1 ? "" : ", spine: {bandwidth: 1 GB/s}", i == 1 || i == 2 ? ", local: {bandwidth: 1 GB/s}" : "");
        n += proven_hold(yaml, of_cells);
    }
    n += proven_hold("name: t\nnetwork: {family: fat-tree, children: [3, 2, 2], parents: [1, 2, 3]}\n"
                     "links: {leaf: {bandwidth: 1 GB/s}, up: {bandwidth: 1 GB/s}}\n",
                     of_trees);
    for (int i = 0; i < 12; i++) { /* six-vc: places of the bridges drawn */
        int place[6];
        for (int k = 0; k < 6; k++)
            for (bool taken = true; taken;) {
                place[k] = (int)fc_random_below(7, (uint64_t)(6 * i + k), 0, 16);
                for (uint64_t again = 1; again < 40 && taken; again++) {
                    taken = false;
                    for (int j = 0; j < k; j++) taken = taken || place[j] == place[k];
                    if (taken) place[k] = (int)fc_random_below(7, (uint64_t)(6 * i + k), again, 16);
                }
            }
        snprintf(yaml, sizeof yaml,
                 TMESH("dims: [%d, 3, 4], mesh: [4, 4], mesh_order: %s, "
                       "bridges: {x-: %d, y-: %d, z-: %d, x+: %d, y+: %d, z+: %d}"),
                 2 + i % 4, i % 2 ? "column-first" : "row-first", place[0], place[1], place[2], place[3], place[4],
                 place[5]);
        n += proven_hold(yaml, of_chips);
    }
    CU_ASSERT(n > 500);
}

static void refusals(void)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_certificate c;
    struct fc_status unknown = {0}, other = {0}, routing = {0};
    static const struct fc_routing_ops odd = {.name = "odd"};
    if (!fc_test_network(TORUS("dims: [4, 4]"), &machine, &net)) return;
    CU_ASSERT_EQUAL(fc_certify(&net, "magic", &c, &unknown), FC_INPUT);
    CU_ASSERT(fc_says(&unknown, FC_INPUT, "the torus family has no virtual-channel rule 'magic' (it has: "));
    CU_ASSERT(fc_says(&unknown, FC_INPUT, "dateline"));
    CU_ASSERT_EQUAL(fc_certify(&net, "six-vc", &c, &other), FC_INPUT);
    machine.routing = &odd;
    CU_ASSERT_EQUAL(fc_certify(&net, "dateline", &c, &routing), FC_INPUT);
    CU_ASSERT(fc_says(&routing, FC_INPUT, "does not know odd routing (it knows: dimension-order, adaptive, valiant)"));
    fc_test_close(&machine, &net);
}

static const CU_TestInfo tests[] = {
    {"the placements of Table 1", published_placements},
    {"numbering and components against the closure", graphs_against_closure},
    {"bubble cycles stay in rings", bubble_cycles_stay_in_rings},
    {"bubble rings by exhaustion", bubble_rings_by_exhaustion},
    {"bubble conditions", bubble_conditions},
    {"the rule a machine runs under", rule_is_chosen},
    {"short cycles with names", short_cycles_with_names},
    {"channels of router.vcs are counted", channels_are_counted},
    {"proven rules have graphs without cycles", proven_rules},
    {"refusals", refusals},
    CU_TEST_INFO_NULL,
};
int suite_deadlock(void)
{
    return fc_add_suite("deadlock", tests);
}
