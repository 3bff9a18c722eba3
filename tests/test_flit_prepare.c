/* test_flit_prepare.c - networks prepared for the flit-level kernel: shipped machines, ticks, virtual
 * channels, refusals. */
#include "tests/flit_walker.h"

/* ---- shipped machines ---- */

/* Random packets by random choices: each arrives in so many hops at most, and what it holds comes before what
 * it asks for in the certificate's order. */
static void send_some(const struct fc_flit_net *flit, const struct fc_certificate *c, uint32_t most_hops, bool minimal)
{
    const struct fc_network *net = flit->net;
    struct fc_flit_choice choice[FC_FLIT_MOST_CHOICES];
    struct walker w;
    start_walker(&w, flit);
    uint32_t *distance = malloc(net->n_vertices * sizeof *distance), *queue = malloc(net->n_vertices * sizeof *queue);
    size_t falls = 0, lost = 0;
    for (uint32_t i = 0; i < 200; i++) {
        if (i % 50 == 0) {
            w.src = (uint32_t)fc_random_below(1, 0, i, net->n_nodes);
            fc_distances(net, fc_node_vertex(net, w.src), distance, queue);
        }
        w.dst = (uint32_t)fc_random_below(1, 1, i, net->n_nodes);
        uint32_t word = (uint32_t)fc_random(1, 2, i), at = fc_node_vertex(net, w.src), hops = 0, link = FC_NONE;
        uint64_t state = word, held = NOTHING;
        struct fc_flit_view view = {&state, some_queue, some_queue};
        struct fc_flit_head head = {flit->route->start(flit, w.src, w.dst, word, &view), w.dst, word};
        uint16_t vcs = 1;
        for (; at != fc_node_vertex(net, w.dst) || link == FC_NONE; at = net->link_target[link]) {
            int n = flit->route->choices(flit, at, link, __builtin_ctz(vcs), &head, choice);
            if (n < 1 || hops > most_hops + 1) break;
            const struct fc_flit_choice *pick = &choice[fc_random_below(2, i, hops, (uint64_t)n)];
            bool ruled = !flit->adaptive || pick->escape || flit->n_escape_vcs == flit->n_vcs;
            link = pick->link, vcs = pick->vcs, head.route = pick->route;
            hops += !fc_is_node(net, at) && !fc_is_node(net, net->link_target[link]);
            if (!ruled && !fc_is_node(net, at) && !fc_is_node(net, net->link_target[link])) continue;
            uint64_t here = rule_channel(&w, link, vcs);
            if (c->order && held != NOTHING && w.src != w.dst) falls += c->order[held] >= c->order[here];
            held = here;
        }
        lost += at != fc_node_vertex(net, w.dst) || hops > most_hops;
        lost += minimal && hops != distance[fc_node_vertex(net, w.dst)];
    }
    CU_ASSERT(lost == 0 && falls == 0 && w.wrong == 0);
    free(w.layer), free(w.port), free(w.load), free(distance), free(queue);
}

static bool same_time(uint32_t ticks, double seconds, const struct fc_flit_net *flit, double tolerance)
{
    double tick_s = flit->cycle_s / flit->ticks_per_cycle;
    return fabs(ticks * tick_s - seconds) <= tolerance * seconds + 1e-9 * tick_s;
}

/* Flit times are whole numbers of ticks; links into every vertex are listed. */
static void check_prepared(const struct fc_flit_net *flit)
{
    const struct fc_machine *m = flit->net->machine;
    bool aries = !strcmp(m->name, "theta") || !strcmp(m->name, "piz-daint");
    double network = aries ? 0.005 : 0.001; /* Aries' rates have no common tick of 1/64 ns or more */
    for (int c = 0; c < m->n_classes; c++) {
        double b = m->classes[c].bandwidth_bytes_per_s;
        CU_ASSERT(isinf(b) ? flit->flit_ticks[c] == 0
                           : same_time(flit->flit_ticks[c], m->router.flit_bytes / b, flit,
                                       c == fc_injection_class(m) ? 0.012 : network));
    }
    CU_ASSERT(flit->n_vcs <= FC_FLIT_MOST_VCS && flit->injection_vcs && flit->injection_vcs >> flit->n_vcs == 0);
    CU_ASSERT_EQUAL(fc_flit_fifos(flit->net), __builtin_popcount(flit->injection_vcs));
    size_t misplaced = 0;
    for (uint32_t v = 0; v < flit->n_routers + flit->n_nodes; v++)
        for (uint32_t i = flit->in_first[v]; i < flit->in_first[v + 1]; i++) {
            uint32_t l = flit->in_link[i];
            misplaced += flit->net->link_target[l] != v || flit->in_port[l] != i - flit->in_first[v];
            misplaced += i > flit->in_first[v] && flit->in_link[i - 1] >= l;
        }
    CU_ASSERT(misplaced == 0 && flit->in_first[flit->n_routers + flit->n_nodes] == flit->n_links);
}

static void shipped_machines(void)
{
    struct fc_arena arena = {0};
    struct fc_status st = {0};
    const char **names;
    size_t n;
    CU_ASSERT_EQUAL_FATAL(fc_machine_names(&arena, &names, &n, &st), FC_OK);
    for (size_t i = 0; i < n; i++) {
        struct fc_machine machine;
        struct fc_network net;
        struct fc_flit_net flit;
        struct fc_flit_settings settings = {0};
        struct fc_certificate c;
        if (!fc_test_network(names[i], &machine, &net)) continue;
        if (net.n_nodes > 10000) { /* as the smaller ones of their kind */
            fc_test_close(&machine, &net);
            continue;
        }
        memset(&st, 0, sizeof st);
        if (fc_flit_prepare(&net, &settings, &flit, &st)) printf("\n    %s: %s\n", names[i], st.message);
        CU_ASSERT_EQUAL(st.code, FC_OK);
        if (!st.code) {
            check_prepared(&flit);
            CU_ASSERT_EQUAL_FATAL(fc_certify(&net, NULL, &c, &st), FC_OK);
            CU_ASSERT_STRING_EQUAL(flit.vc_rule, c.policy);
            const char *routing = machine.routing->name;
            bool minimal = is_torus(&net) || !strcmp(machine.family->name, "fat-tree");
            bool bent = !strcmp(routing, "ugal");
            send_some(&flit, &c, minimal ? 63 : !strcmp(routing, "direct") ? 5 : bent ? 8 : 200, minimal);
            fc_certificate_free(&c);
            fc_flit_unprepare(&flit);
        }
        fc_test_close(&machine, &net);
    }
    fc_arena_free(&arena);
}

/* ---- time, channels, buffers ---- */

/* Blue Gene/L: 32 cycles a flit on torus links, 5 1/3 on injection links, so three ticks a cycle. */
static void ticks_of_bluegene(void)
{
    struct prepared p;
    if (!prepare_text("bgl-64", NULL, &p)) return;
    const struct fc_flit_net *f = &p.flit;
    CU_ASSERT_DOUBLE_EQUAL(f->cycle_s, 1 / 175e6, 1e-20);
    CU_ASSERT(f->ticks_per_cycle == 3 && f->flit_ticks[0] == 96 && f->flit_ticks[1] == 16);
    CU_ASSERT(f->trailer_ticks[0] == 42 && f->trailer_ticks[1] == 7 && f->latency_ticks[0] == 24 &&
              f->latency_ticks[1] == 0);
    CU_ASSERT(f->router_ticks == 24 && f->buffer_flits == 32 && f->packet_flits_max == 8 && f->cut_through);
    CU_ASSERT_EQUAL(fc_flit_packet_ticks(f, 0, 8), 810); /* 270 bytes at a byte a cycle */
    CU_ASSERT(f->n_vcs == 6 && f->n_network_vcs == 3 && f->n_escape_vcs == 1 && f->adaptive &&
              f->select == FC_SELECT_JSQ && f->paths == 2);
    close_prepared(&p);
}

static void ticks_of_others(void)
{
    static const struct {
        const char *yaml;
        double ticks_per_cycle;
        uint32_t torus, injection, latency, delay, credit;
    } cases[] = {
        /* one flit a cycle: the tick is the cycle */
        {"name: t\nclock: 1 GHz\nnetwork: {family: torus, dims: [4]}\n"
         "links: {torus: {bandwidth: 32 GB/s, latency: 1 cycles}, injection: {bandwidth: 32 GB/s, latency: 1 "
         "cycles}}\n"
         "router: {vcs: 2, delay: 3 cycles, credit: 1 cycles}\n",
         1, 1, 1, 1, 3, 1},
        /* 32 cycles a flit, 16 of delay, 8 of latency: a tick of 8 cycles */
        {"name: t\nclock: 1 GHz\nnetwork: {family: torus, dims: [4]}\n"
         "links: {torus: {bandwidth: 1 GB/s, latency: 8 cycles}}\nrouter: {vcs: 2, delay: 16 cycles}\n",
         0.125, 4, 0, 1, 2, 0},
        /* no clock: the cycle is a flit's time on the first class, 32 ns; the injection link takes 2/3 of it
         */
        {"name: t\nnetwork: {family: torus, dims: [4]}\n"
         "links: {torus: {bandwidth: 1 GB/s, latency: 64 ns}, injection: {bandwidth: 1.5 GB/s}}\nrouter: "
         "{vcs: 2}\n",
         3, 3, 2, 6, 0, 0},
        /* injection within 1 % only: 1.005 flits a cycle is one */
        {"name: t\nclock: 1 GHz\nnetwork: {family: torus, dims: [4]}\n"
         "links: {torus: {bandwidth: 32 GB/s, latency: 2 cycles}, injection: {bandwidth: 32.16 "
         "GB/s}}\nrouter: {vcs: 2}\n",
         1, 1, 1, 2, 0, 0},
        /* a cycle and a half a flit */
        {"name: t\nclock: 1 GHz\nnetwork: {family: torus, dims: [4]}\n"
         "links: {torus: {bandwidth: 21.3333333333 GB/s, latency: 1 cycles}}\nrouter: {vcs: 2}\n",
         2, 3, 0, 2, 0, 0},
    };
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        struct prepared p;
        if (!prepare_text(cases[i].yaml, NULL, &p)) continue;
        CU_ASSERT_DOUBLE_EQUAL(p.flit.ticks_per_cycle, cases[i].ticks_per_cycle, 1e-12);
        CU_ASSERT(p.flit.flit_ticks[0] == cases[i].torus && p.flit.flit_ticks[1] == cases[i].injection);
        CU_ASSERT(p.flit.latency_ticks[0] == cases[i].latency && p.flit.router_ticks == cases[i].delay);
        CU_ASSERT_EQUAL(p.flit.credit_ticks, cases[i].credit);
        close_prepared(&p);
    }
}

/* Channels in all, of the rule, at injection; what router.vcs means under each routing. */
static void channel_counts(void)
{
    static const struct {
        const char *yaml;
        int n_vcs, n_escape;
        uint16_t injection;
    } cases[] = {
        {TORUS("dims: [4, 4]") "router: {vcs: 4, routing: dimension-order}\n", 4, 4, 0xf},
        {TORUS("dims: [4, 4]") "router: {vcs: 5, routing: dimension-order}\n", 4, 4,
         0xf}, /* two a side, one left over */
        {TORUS("dims: [4, 4]") "router: {vcs: 4, routing: valiant}\n", 4, 4, 0xf},
        {TORUS("dims: [4, 4]") "router: {vcs: 3, routing: adaptive}\n", 5, 2, 0x1f},
        {TORUS("dims: [4, 4]") "router: {vcs: 2, escape: bubble}\npacket: {max: 256 B}\n", 3, 1, 0x7},
        {TORUS("dims: [4, 4]") "router: {vcs: 2, escape: bubble, injection_fifos: 6}\npacket: {max: 256 B}\n", 6, 1,
         0x3f},
        {TORUS("dims: [4, 4]") "router: {vcs: 2, escape: bubble, injection_fifos: 1}\npacket: {max: 256 B}\n", 3, 1,
         0x1},
        {TORUS("dims: [4, 4]") "router: {vcs: 2, escape: bubble, routing: dimension-order}\npacket: {max: "
                               "256 B}\n",
         1, 1, 0x1},
        {MESH("dims: [4, 4]") "router: {vcs: 3}\n", 3, 3, 0x7}, /* no ring, no far side */
        {MESH("dims: [4, 4]") "router: {vcs: 2, routing: adaptive}\n", 3, 1, 0x7},
        {TMESH("dims: [4, 3], mesh: [2, 3], bridges: {x-: 0, y-: 1, x+: 3, y+: 5}") "router: {vcs: 4}\n", 8, 8, 0xff},
    };
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        struct prepared p;
        if (!prepare_text(cases[i].yaml, NULL, &p)) continue;
        CU_ASSERT(p.flit.n_vcs == cases[i].n_vcs && p.flit.n_escape_vcs == cases[i].n_escape);
        CU_ASSERT_EQUAL(p.flit.injection_vcs, cases[i].injection);
        close_prepared(&p);
    }
}

/* ---- refusals ---- */

static void refuses(const char *yaml, struct fc_flit_settings settings, enum fc_code code, const char *part)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_flit_net flit;
    struct fc_status st = {0};
    if (!fc_test_network(yaml, &machine, &net)) return;
    CU_ASSERT(fc_flit_prepare(&net, &settings, &flit, &st) != FC_OK);
    CU_ASSERT(fc_says(&st, code, part));
    fc_test_close(&machine, &net);
}

static void refusals(void)
{
    struct fc_flit_settings none = {0};
    refuses(TORUS("dims: [4, 4]") "router: {vcs: 1, routing: dimension-order}\n", none, FC_INPUT,
            "router.vcs: 1: no virtual channel left for dimension-order routing under rule dateline, which "
            "takes 2");
    refuses(TORUS("dims: [4, 4]") "router: {vcs: 3, routing: valiant}\n", none, FC_INPUT,
            "under rule dateline, which takes 4");
    refuses(TORUS("dims: [4, 4]") "router: {vcs: 15}\n", none, FC_INPUT,
            "router.vcs: 15 makes 17 virtual channels a link with rule dateline (at most 16)");
    refuses(TORUS("dims: [4, 4]") "router: {vcs: 2, escape: none, routing: dimension-order}\n", none, FC_INPUT,
            "dimension-order routing can deadlock under rule none: x+ (0,0)->(1,0) vc 0 -> x+ (1,0)->(2,0) "
            "vc 0 -> ");
    refuses(TORUS("dims: [4, 4]") "router: {vcs: 2}\n", (struct fc_flit_settings){.vc_rule = "none"}, FC_INPUT,
            "adaptive routing can deadlock under rule none");
    refuses(TORUS("dims: [4, 4]"), (struct fc_flit_settings){.vc_rule = "six-vc"}, FC_INPUT,
            "no virtual-channel rule 'six-vc'");
    refuses(TORUS("dims: [4, 4]") "router: {vcs: 2, buffer: 128 B}\npacket: {max: 256 B}\n", none, FC_INPUT,
            "router.buffer: 128 B hold 4 flits, cut-through needs room for the longest packet, 8 flits");
    refuses(TORUS("dims: [4, 4]") "router: {vcs: 2}\n", (struct fc_flit_settings){.packet_flits_max = 33}, FC_INPUT,
            "router.buffer: 1024 B hold 32 flits");
    refuses(TORUS("dims: [4, 4]") "router: {vcs: 2, buffer: 500 B, escape: bubble}\npacket: {max: 256 B}\n", none,
            FC_INPUT, "the bubble rule needs room for two of the longest packets, 16 flits");
    refuses(TORUS("dims: [4, 4]") "router: {vcs: 2, flow_control: wormhole, escape: bubble}\npacket: {max: "
                                  "256 B}\n",
            none, FC_INPUT, "router.flow_control: wormhole with the bubble rule");
    refuses(TORUS("dims: [4, 4]") "router: {vcs: 2, escape: bubble}\n", none, FC_INPUT,
            "router.escape: The bubble rule cannot "
            "be checked without packet.max");
    refuses(TORUS("dims: [4, 4]") "router: {vcs: 2, flit: 64 B, buffer: 32 B}\n", none, FC_INPUT,
            "router.buffer: 32 B hold no flit of 64 B");
    refuses(TORUS("dims: [4, 4]") "router: {vcs: 2}\n",
            (struct fc_flit_settings){.packet_flits_min = 9, .packet_flits_max = 8}, FC_INPUT,
            "packets of at least 9 flits are longer than the longest, 8 flits");
    refuses(TORUS("dims: [4, 4]") "router: {vcs: 2}\n", (struct fc_flit_settings){.packet_flits_max = 70000}, FC_INPUT,
            "packets of 70000 flits are too long");
    refuses(TORUS("dims: [4, 4], links_per_dim: [40, 40]") "router: {vcs: 2}\n", none, FC_INPUT,
            "network.links_per_dim: 80 cables to choose from under adaptive routing (at most 63)");
    refuses("name: t\nnetwork: {family: fat-tree, children: [4, 2], parents: [1, 65]}\n"
            "links: {leaf: {bandwidth: 1 GB/s}, up: {bandwidth: 1 GB/s}}\n",
            none, FC_INPUT, "nca routing would choose among 65 links at level 1 (at most 64");
    refuses("name: t\nnetwork: {family: two-level, supernodes: 5, nodes_per_drawer: 3, d_link: modulo}\n" LL_ONLY
            "router: {vcs: 2, routing: ugal}\n",
            none, FC_INPUT, "no virtual channel left for ugal routing under rule hops, which takes 3");
    refuses(TORUS("dims: [4, 4]") "clock: 10 GHz\nrouter: {vcs: 2, delay: 1 s}\n", none, FC_INPUT,
            "router.delay: 1 s is 1e+10 cycles, too long for the flit-level kernel");
}

/* A cut network has nodes without a way between them. */
static void unconnected(void)
{
    static const char cut[] = "router a node 0\nrouter a node 1\nrouter b node 2\nrouter b node 3\n";
    char path[64], yaml[512];
    CU_ASSERT_FATAL(fc_test_file(path, ".txt", cut, strlen(cut)));
    snprintf(yaml, sizeof yaml,
             "name: g\nnetwork: {family: graph, file: %s, format: edge-list}\n"
             "links: {link: {bandwidth: 1 GB/s, latency: 1 ns}}\n",
             path);
    refuses(yaml, (struct fc_flit_settings){0}, FC_INPUT, "there is no path from ");
    unlink(path);
}

static const CU_TestInfo tests[] = {
    {"shipped machines", shipped_machines},
    {"ticks of Blue Gene/L", ticks_of_bluegene},
    {"ticks of others", ticks_of_others},
    {"counts of virtual channels", channel_counts},
    {"refusals", refusals},
    {"unconnected graphs", unconnected},
    CU_TEST_INFO_NULL,
};
int suite_flit_prepare(void)
{
    return fc_add_suite("flit_prepare", tests);
}
