/* flit_walker.h - what the tests of routing in the flit-level kernel share: packets that follow every choice,
 * what they hold and ask for, and the links they load. */
#pragma once

#include "models/family_graph.h"
#include "solvers/flit/prepared.h"
#include "solvers/flit/route_ops.h"
#include "tests/dependencies.h"

/* ---- following every choice ---- */

#define NOTHING UINT64_MAX
struct walker {
    const struct fc_flit_net *flit;
    const struct fc_network *net;
    struct arcs arcs; /* dependencies met, as the rule numbers its channels */
    int rule_vcs, rep;
    bool pair, bubble, extended;
    uint32_t *layer; /* [n_nodes] rule layers: of each destination; else NULL */
    int8_t *port;    /* [n_links] torus_port_of; NULL: no torus */
    bool any_ring;
    double *load; /* [n_links] of all pairs, each choice that is no escape equally likely */
    uint32_t src, dst, hops, most_hops;
    struct fc_flit_head head;
    size_t wrong;
};

static inline void wrong(struct walker *w, const char *what)
{
    if (w->wrong++ == 0)
        printf("\n    %s routing, rule %s, node %u to %u: %s", w->net->machine->routing->name, w->flit->vc_rule, w->src,
               w->dst, what);
}

/* 2 dim + direction of a torus link; -1: not one. */
static inline int torus_port_of(const struct fc_network *net, uint32_t link)
{
    const struct fc_torus_shape *s = fc_torus(net);
    uint32_t v = net->link_source[link];
    if (fc_is_node(net, v) || fc_is_node(net, net->link_target[link])) return -1;
    for (int p = 0; p < 2 * s->n_dims; p++) {
        uint32_t first = fc_torus_port(net, v, p / 2, p % 2);
        if (first != FC_NONE && link >= first && link < first + s->parallel[p / 2]) return p;
    }
    return -1;
}

static inline bool is_torus(const struct fc_network *net)
{
    return !strcmp(net->machine->family->name, "torus") || !strcmp(net->machine->family->name, "mesh");
}

/* The rule's number of the channel, of all virtual channels of the mask the same one. */
static inline uint64_t rule_channel(struct walker *w, uint32_t link, uint16_t mask)
{
    uint32_t vc = FC_NONE;
    if (fc_is_node(w->net, w->net->link_source[link]) || fc_is_node(w->net, w->net->link_target[link])) {
        vc = w->layer ? w->layer[w->dst] : 0;
    } else {
        for (int i = 0; i < w->flit->n_vcs; i++) {
            if (!(mask >> i & 1)) continue;
            uint32_t c = w->rule_vcs == 1 ? 0 : (uint32_t)(i / w->rep);
            if (w->pair) {
                if (!w->any_ring)
                    c *= 2;
                else if (!fc_torus(w->net)->ring[w->port[link] / 2])
                    c &= ~1u;
            }
            if (vc != FC_NONE && vc != c) wrong(w, "virtual channels of several classes");
            vc = c;
        }
    }
    if (vc >= (uint32_t)w->rule_vcs) wrong(w, "a channel that the rule does not have");
    return link * (uint64_t)w->rule_vcs + vc;
}

/* Room that the bubble rule asks for, from the links alone. */
static inline int bubble_room(const struct walker *w, uint32_t in_link, bool on_bubble, uint32_t link)
{
    int port = w->port[link];
    if (!fc_torus(w->net)->ring[port / 2]) return 1;
    return on_bubble && w->port[in_link] == port ? 1 : 2;
}

/* held: the last channel of the rule that counts for dependencies, NOTHING where none does. ruled: the packet
 * sits on a channel of the rule. */
static inline void follow(struct walker *w, uint32_t at, uint32_t in_link, uint16_t in_mask, uint64_t held, bool ruled,
                          uint32_t hops, double chance)
{
    if (w->wrong) return; /* what is lost may never end */
    struct fc_flit_choice choice[FC_FLIT_MOST_CHOICES];
    struct fc_flit_head head = w->head;
    int n = w->flit->route->choices(w->flit, at, in_link, in_mask ? __builtin_ctz(in_mask) : 0, &head, choice),
        n_free = 0;
    if (n < 1 || n > FC_FLIT_MOST_CHOICES || hops > w->most_hops) {
        wrong(w, n < 1 ? "no choice" : "too many choices or hops");
        return;
    }
    for (int i = 0; i < n; i++) n_free += !choice[i].escape;
    for (int i = 0; i < n; i++) {
        const struct fc_flit_choice *c = &choice[i];
        uint32_t to = w->net->link_target[c->link];
        bool follows_rule = !w->flit->adaptive || c->escape || w->flit->n_escape_vcs == 0 ||
                            w->flit->n_escape_vcs == w->flit->n_vcs || fc_is_node(w->net, to);
        double part = c->escape ? 0 : chance / n_free;
        if (w->net->link_source[c->link] != at) wrong(w, "a link of another router");
        if (c->vcs == 0 || c->vcs >> w->flit->n_vcs) wrong(w, "no such virtual channel");
        if (c->escape && i < n_free) wrong(w, "an escape before other choices");
        w->load[c->link] += part;
        if (at >= w->net->n_routers) {
            if (c->vcs != w->flit->injection_vcs) wrong(w, "other than the injection channels");
            w->head.route = c->route;
            follow(w, to, c->link, c->vcs, rule_channel(w, c->link, c->vcs), true, 0, part);
            w->head = head;
            continue;
        }
        uint64_t here = NOTHING;
        if (follows_rule) {
            here = rule_channel(w, c->link, c->vcs);
            if (held != NOTHING) arcs_add(&w->arcs, held, here);
        }
        bool same = ruled && held % (uint64_t)w->rule_vcs == here % (uint64_t)w->rule_vcs;
        if (w->bubble && follows_rule && !fc_is_node(w->net, to) &&
            (c->room_packets != bubble_room(w, in_link, same, c->link) ||
             c->full_size != !w->flit->bubble_as_published))
            wrong(w, "not the bubble's room");
        if (fc_is_node(w->net, to)) {
            if (to != fc_node_vertex(w->net, w->dst)) wrong(w, "another node");
            if (w->hops != FC_NONE && hops != w->hops) wrong(w, "not a minimal route");
            continue;
        }
        uint64_t next = follows_rule ? here : w->extended ? held : NOTHING;
        w->head.route = c->route;
        follow(w, to, c->link, c->vcs, next, follows_rule, hops + 1, part);
        w->head = head;
    }
}

/* ---- dependencies of the certificate ---- */

static inline void expand_from(const struct fc_cdg *cdg, uint64_t from, uint64_t v, uint32_t *met, struct arcs *set)
{
    for (uint64_t i = cdg->first[v]; i < cdg->first[v + 1]; i++) {
        uint32_t to = cdg->to[i];
        if (to < cdg->n_channels) {
            arcs_add(set, from, to);
        } else if (met[to - cdg->n_channels] != from + 1) {
            met[to - cdg->n_channels] = (uint32_t)from + 1;
            expand_from(cdg, from, to, met, set);
        }
    }
}

static inline size_t count_missing(const struct fc_network *net, int n_vcs, const struct arcs *part,
                                   const struct arcs *whole, const char *what)
{
    size_t missing = 0;
    for (size_t i = 0; i < part->n; i++) {
        if (bsearch(&part->arc[i], whole->arc, whole->n, sizeof *whole->arc, compare_keys)) continue;
        char from[200], to[200];
        if (missing++ == 0)
            printf("\n    %s: %s => %s", what,
                   fc_channel_name(net, (uint32_t)(part->arc[i] >> 32), n_vcs, from, sizeof from),
                   fc_channel_name(net, (uint32_t)part->arc[i], n_vcs, to, sizeof to));
    }
    return missing;
}

enum agreement { EQUAL, SUBSET };

/* The dependencies met are those of the certificate's graph, or some of them; they grow in its order. */
static inline void check_dependencies(struct walker *w, enum agreement agreement)
{
    struct fc_cdg cdg;
    struct fc_status st = {0};
    struct fc_certificate c;
    struct arcs known = {0};
    size_t falls = 0;
    CU_ASSERT_EQUAL_FATAL(fc_cdg_build(w->net, rule_of(w->net, w->flit->vc_rule), &cdg, &st), FC_OK);
    uint32_t *met = calloc(cdg.n_vertices - cdg.n_channels + 1, sizeof *met);
    for (uint64_t v = 0; v < cdg.n_channels; v++) expand_from(&cdg, v, v, met, &known);
    arcs_unique(&known);
    arcs_unique(&w->arcs);
    size_t missing = count_missing(w->net, cdg.n_vcs, &w->arcs, &known, "not in the certificate");
    if (agreement == EQUAL) missing += count_missing(w->net, cdg.n_vcs, &known, &w->arcs, "no packet does");
    CU_ASSERT(missing == 0 && w->arcs.n > 0);
    if (missing) printf(" (%s, rule %s)\n", w->net->machine->routing->name, w->flit->vc_rule);
    CU_ASSERT_EQUAL_FATAL(fc_certify(w->net, w->flit->vc_rule, &c, &st), FC_OK);
    for (size_t i = 0; c.acyclic && i < w->arcs.n; i++)
        falls += c.order[w->arcs.arc[i] >> 32] >= c.order[(uint32_t)w->arcs.arc[i]];
    CU_ASSERT_EQUAL(falls, 0);
    fc_certificate_free(&c);
    fc_cdg_free(&cdg);
    arcs_free(&known);
    free(met);
}

/* ---- one machine, one routing, one rule ---- */

enum loads { EXACT, STATISTICAL, LINKS_ONLY }; /* what holds of the loads of all pairs against the models' walk */
struct trial {
    const char *routing, *rule;
    enum loads loads;
    enum agreement agreement;
    uint32_t n_draws; /* random words a pair; 0: every tie and every cable of a torus */
    bool minimal;
    bool as_published;
};

/* Queues that make UGAL choose both ways. */
static inline uint32_t some_queue(const void *engine, uint32_t link)
{
    return (uint32_t)fc_random_below(*(const uint64_t *)engine, 0, link, 1000);
}

static inline uint32_t random_word(const struct fc_network *net, const struct trial *t, uint32_t i, uint32_t pair)
{
    if (t->n_draws) return (uint32_t)fc_random(7, pair, i);
    uint32_t ways = 1u << fc_torus(net)->n_dims;
    return i % ways | (uint32_t)((i / ways + 0.5) * 65536 / 12) << 16; /* 12: cables of 1, 2, 3, 4 come out even */
}

static inline void compare_loads(const struct walker *w, const struct trial *t, const double *expected, double draws)
{
    size_t off = 0;
    for (uint32_t l = 0; l < w->net->n_links; l++) {
        double difference = fabs(w->load[l] - expected[l]);
        bool bad = t->loads == EXACT         ? difference > 1e-9 * (1 + expected[l])
                   : t->loads == STATISTICAL ? difference > 5 * sqrt(expected[l] / draws) + 1e-9
                                             : (expected[l] > 0) != (w->load[l] > 0);
        char name[200];
        if (bad && off++ == 0)
            printf("\n    %s, rule %s: %s carries %g (expected %g)", t->routing, w->flit->vc_rule,
                   fc_link_name(w->net, l, name, sizeof name), w->load[l], expected[l]);
    }
    CU_ASSERT_EQUAL(off, 0);
}

static inline void start_walker(struct walker *w, const struct fc_flit_net *flit)
{
    const struct fc_network *net = flit->net;
    const char *rule = flit->vc_rule;
    *w = (struct walker){.flit = flit, .net = net};
    w->rule_vcs = vcs_of(net, rule);
    w->bubble = !strncmp(rule, "bubble", 6);
    w->pair = is_torus(net) && !w->bubble && strcmp(rule, "none");
    w->extended = (w->pair || !strcmp(rule, "bubble-direction-ordered")) && flit->adaptive;
    if (is_torus(net)) {
        const struct fc_torus_shape *s = fc_torus(net);
        for (int d = 0; d < s->n_dims; d++) w->any_ring = w->any_ring || (s->ring[d] && s->k[d] > 1);
        w->port = malloc(net->n_links * sizeof *w->port);
        for (uint32_t l = 0; l < net->n_links; l++) w->port[l] = (int8_t)torus_port_of(net, l);
    }
    w->rep = 1;
    if (!flit->adaptive || !is_torus(net)) w->rep = flit->n_escape_vcs / w->rule_vcs;
    if (w->pair && !flit->adaptive && !w->any_ring) w->rep *= 2; /* the far sides of datelines get no channels */
    if (!strcmp(rule, "layers")) {
        const struct fc_graph_tables *tables = net->extra;
        struct fc_status st = {0};
        uint32_t *of_group = calloc(tables->n_groups, sizeof *of_group), n_layers;
        CU_ASSERT_EQUAL_FATAL(fc_graph_layers(net, of_group, &n_layers, &st), FC_OK);
        w->layer = calloc(net->n_nodes, sizeof *w->layer);
        for (uint32_t n = 0; n < net->n_nodes; n++) w->layer[n] = of_group[tables->group[n]];
        free(of_group);
    }
    w->most_hops = 64;
    w->load = calloc(net->n_links, sizeof *w->load);
}

static inline void run_trial(const struct fc_network *net, const struct trial *t)
{
    struct fc_flit_settings settings = {
        .allow_deadlock = true, .vc_rule = t->rule, .bubble_as_published = t->as_published};
    struct fc_flit_net flit;
    struct fc_status st = {0};
    struct walker w;
    struct fc_walk walk;
    enum fc_code code = fc_flit_prepare(net, &settings, &flit, &st);
    if (code) printf("\n    %s: %s\n", t->routing, st.message);
    CU_ASSERT_EQUAL(code, FC_OK);
    if (code) return;
    start_walker(&w, &flit);
    double *expected = calloc(net->n_links, sizeof *expected);
    uint32_t *distance = malloc(net->n_vertices * sizeof *distance), *queue = malloc(net->n_vertices * sizeof *queue);
    uint32_t draws = t->n_draws ? t->n_draws : 12u << fc_torus(net)->n_dims;
    CU_ASSERT_EQUAL_FATAL(fc_walk_start(&walk, net->machine->routing->walk_capacity(net), &st), FC_OK);
    for (w.src = 0; w.src < net->n_nodes; w.src++) {
        fc_distances(net, fc_node_vertex(net, w.src), distance, queue);
        for (w.dst = 0; w.dst < net->n_nodes; w.dst++) {
            w.hops = t->minimal ? distance[fc_node_vertex(net, w.dst)] : FC_NONE;
            walk.n = 0;
            if (w.src != w.dst) net->machine->routing->walk(net, w.src, w.dst, 1, &walk);
            for (uint32_t i = 0; i < walk.n; i++) expected[walk.link[i]] += walk.weight[i];
            for (uint32_t i = 0; w.src != w.dst && i < draws; i++) {
                uint32_t word = random_word(net, t, i, w.src * net->n_nodes + w.dst);
                uint64_t state = word;
                struct fc_flit_view view = {&state, some_queue, some_queue};
                w.head = (struct fc_flit_head){flit.route->start(&flit, w.src, w.dst, word, &view), w.dst, word};
                follow(&w, fc_node_vertex(net, w.src), FC_NONE, 0, NOTHING, true, 0, 1.0 / draws);
            }
        }
    }
    CU_ASSERT_EQUAL(w.wrong, 0);
    compare_loads(&w, t, expected, draws);
    check_dependencies(&w, t->agreement);
    arcs_free(&w.arcs);
    free(w.layer), free(w.port), free(w.load), free(expected), free(distance), free(queue);
    fc_walk_free(&walk);
    fc_flit_unprepare(&flit);
}

/* ---- machines from text ---- */

/* Prepares the machine's text; free with close_prepared. */
struct prepared {
    struct fc_machine machine;
    struct fc_network net;
    struct fc_flit_net flit;
};
static inline bool prepare_text(const char *yaml, const struct fc_flit_settings *settings, struct prepared *p)
{
    struct fc_status st = {0};
    static const struct fc_flit_settings none = {0};
    if (!fc_test_network(yaml, &p->machine, &p->net)) return false;
    if (!fc_flit_prepare(&p->net, settings ? settings : &none, &p->flit, &st)) return true;
    printf("\n    %s\n", st.message);
    CU_FAIL("could not be prepared");
    fc_test_close(&p->machine, &p->net);
    return false;
}
static inline void close_prepared(struct prepared *p)
{
    fc_flit_unprepare(&p->flit);
    fc_test_close(&p->machine, &p->net);
}
