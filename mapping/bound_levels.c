/* bound_levels.c - units of the network between which the tasks are divided, and what may leave and enter
 * them.
 *
 * A level is a partition in which every allowed node lies in one unit. Whatever the routes, bytes that
 * leave a unit's nodes cross the links that leave it, so T >= (sum over units of bytes that leave) / (sum
 * over units of bandwidth out), and T >= (bytes that leave any one unit) / (greatest bandwidth out). With
 * n tasks on `total` places a unit of c places holds at least n - (total - c) of them. Levels: the node
 * itself, the router with its nodes, the family's blocks (those of the solver's cut bound) and units (subtrees
 * of a fat-tree, chips of a tmesh). Under indirect routing bytes between supernodes cross two links between supernodes,
 * which halves what may leave all of them together. Links that never bind make a level's bandwidth infinite, and its bound 0. */
#include "mapping/bound.h"

#include <math.h>
#include <string.h>

struct levels {
    const struct fc_sites *sites;
    uint32_t n_tasks;
    uint32_t *label;  /* [n_vertices] unit of a vertex, FC_NONE: in none */
    uint64_t *places; /* [n_vertices] of each unit */
    double *out, *in; /* [n_vertices] of each unit */
    struct fc_cut_level *level;
    int n;
};

/* A node belongs to a unit when all its routers do. */
static void label_nodes(struct levels *s)
{
    const struct fc_network *net = s->sites->net;
    for (uint32_t v = net->n_routers; v < net->n_vertices; v++) {
        uint32_t first = net->first_link[v], end = net->first_link[v + 1];
        s->label[v] = first == end ? FC_NONE : s->label[net->link_target[first]];
        for (uint32_t l = first; l < end; l++)
            if (s->label[net->link_target[l]] != s->label[v]) s->label[v] = FC_NONE;
    }
}

/* Adds the level of the labels, if every allowed node is in a unit. A byte that leaves its unit crosses at least
 * `crossings` links between units. */
static void add(struct levels *s, uint32_t n_units, const char *name, int crossings)
{
    const struct fc_network *net = s->sites->net;
    struct fc_cut_level level = {.rate = INFINITY /* none so far */};
    uint64_t total = (uint64_t)s->sites->n_nodes * s->sites->slots_per_node, fewest = UINT64_MAX, n_held = 0;
    if (s->n == FC_MOST_CUT_LEVELS) return;
    memset(s->places, 0, n_units * sizeof *s->places);
    memset(s->out, 0, n_units * sizeof *s->out);
    memset(s->in, 0, n_units * sizeof *s->in);
    for (uint32_t i = 0; i < s->sites->n_nodes; i++) {
        uint32_t unit = s->label[fc_node_vertex(net, s->sites->node[i])];
        if (unit == FC_NONE) return;
        s->places[unit] += s->sites->slots_per_node;
    }
    for (uint32_t l = 0; l < net->n_links; l++) {
        uint32_t from = s->label[net->link_source[l]], to = s->label[net->link_target[l]];
        if (from == to) continue;
        double rate = fc_site_bandwidth(s->sites, l);
        if (from != FC_NONE) s->out[from] += rate;
        if (to != FC_NONE) s->in[to] += rate;
        level.rate = level.rate == INFINITY || level.rate == rate ? rate : 0;
    }
    if (isinf(level.rate)) level.rate = 0;
    for (uint32_t u = 0; u < n_units; u++) {
        if (s->places[u] == 0) continue;
        n_held++;
        level.most = s->places[u] > level.most ? s->places[u] : level.most;
        fewest = s->places[u] < fewest ? s->places[u] : fewest;
        level.out += s->out[u];
        level.in += s->in[u];
        level.widest_out = fmax(level.widest_out, s->out[u]);
        level.widest_in = fmax(level.widest_in, s->in[u]);
    }
    level.least = s->n_tasks + fewest > total ? s->n_tasks + fewest - total : 1;
    if (level.most > s->n_tasks) level.most = s->n_tasks;
    level.fullest = n_held > 0 ? (s->n_tasks + n_held - 1) / n_held : 1;
    level.out /= crossings;
    level.in /= crossings;
    snprintf(level.name, sizeof level.name, "%s", name);
    s->level[s->n++] = level;
}

static void add_routers(struct levels *s, uint32_t n_units, const char *name, int crossings)
{
    label_nodes(s);
    add(s, n_units, name, crossings);
}

/* ---- the families' units ---- */

static void add_blocks(struct levels *s)
{
    const struct fc_network *net = s->sites->net;
    const struct fc_family_ops *family = net->machine->family;
    int crossings = net->machine->routing->block_crossings;
    char name[sizeof s->level->name];
    for (int i = 0; family->partition && s->n < FC_MOST_CUT_LEVELS; i++) {
        uint32_t n_units = family->partition(net, i, s->label);
        if (n_units == 0) break;
        snprintf(name, sizeof name, "blocks %d", i + 1);
        if (family->block_name) family->block_name(net, i, name, sizeof name);
        add_routers(s, n_units, name, i == 0 && crossings && n_units > 2 ? crossings : 1);
    }
}

static void add_units(struct levels *s)
{
    const struct fc_network *net = s->sites->net;
    char name[sizeof s->level->name];
    for (int i = 0; net->machine->family->units && s->n < FC_MOST_CUT_LEVELS; i++) {
        uint32_t n_units = net->machine->family->units(net, i, s->label, name, sizeof name);
        if (n_units == 0) break;
        add_routers(s, n_units, name, 1);
    }
}

enum fc_code fc_cut_levels(const struct fc_sites *sites, uint32_t n_tasks, struct fc_cut_level *level, int *n,
                           struct fc_status *st)
{
    const struct fc_network *net = sites->net;
    struct fc_arena scratch = {0};
    struct levels s = {.sites = sites, .n_tasks = n_tasks, .level = level};
    s.label = fc_alloc(&scratch, net->n_vertices, sizeof *s.label, st);
    s.places = s.label ? fc_alloc(&scratch, net->n_vertices, sizeof *s.places, st) : NULL;
    s.out = s.places ? fc_alloc(&scratch, net->n_vertices, sizeof *s.out, st) : NULL;
    s.in = s.out ? fc_alloc(&scratch, net->n_vertices, sizeof *s.in, st) : NULL;
    if (s.in) {
        for (uint32_t v = 0; v < net->n_vertices; v++) s.label[v] = v < net->n_routers ? FC_NONE : v - net->n_routers;
        add(&s, net->n_nodes, "nodes", 1);
        level[0].nodes = true;
        for (uint32_t v = 0; v < net->n_routers; v++) s.label[v] = v;
        add_routers(&s, net->n_routers, "routers", 1);
        add_blocks(&s);
        add_units(&s);
    }
    *n = s.n;
    fc_arena_free(&scratch);
    return st->code;
}
