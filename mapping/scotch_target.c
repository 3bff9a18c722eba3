/* scotch_target.c - the network as Scotch's target architecture.
 *
 * A whole grid of routers (torus, mesh) is Scotch's torus or mesh (rings and lines mixed, or more than 5 long
 * dimensions: as any other network). A whole fat tree is its tree of subtrees, a whole two-level network one of
 * supernodes, drawers and routers (`tree` of the family's record); the price of a level is the bandwidth of the
 * fastest link over that of its links. Any other network, or a part of one, is decomposed from its graph of
 * routers and nodes with such prices on the links. Source: F. Pellegrini, Scotch and libScotch 7.0 User's Guide,
 * section 3.2 (target architectures), archBuild2 there. */
#include "mapping/scotch_target.h"
#include "mapping/scotch_errors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SCOTCH_DIMS = 5, MOST_PRICE = 1000 };

/* Whole seconds a byte of the class over those of the machine's fastest links, rounded, at least 1. */
static SCOTCH_Num price(const struct fc_machine *machine, int link_class)
{
    double fastest = 0, mine = machine->classes[link_class].bandwidth_bytes_per_s;
    for (int c = 0; c < machine->n_classes; c++)
        if (isfinite(machine->classes[c].bandwidth_bytes_per_s))
            fastest = fmax(fastest, machine->classes[c].bandwidth_bytes_per_s);
    return (SCOTCH_Num)fmin(MOST_PRICE, fmax(1, isfinite(mine) ? round(fastest / mine) : 1));
}

/* Parts of `each` consecutive nodes. */
static enum fc_code equal_parts(struct fc_scotch_target *t, uint32_t n_nodes, uint32_t each, struct fc_arena *arena,
                                struct fc_status *st)
{
    t->n_parts = n_nodes / each;
    t->first_place = fc_alloc(arena, (size_t)t->n_parts + 1, sizeof *t->first_place, st);
    for (uint32_t p = 0; t->first_place && p <= t->n_parts; p++) t->first_place[p] = p * each;
    return t->first_place ? FC_OK : st->code;
}

/* False: not one of Scotch's. */
static bool is_plain_torus(const struct fc_grid *s, SCOTCH_Num *side, SCOTCH_Num *n_long, bool *ring)
{
    bool rings = false, lines = false;
    *n_long = 0;
    if (s->routers > 1) return false;
    for (int d = 0; d < s->n_dims; d++) {
        if (s->k[d] == 1) continue;
        if (*n_long == MOST_SCOTCH_DIMS) return false;
        side[(*n_long)++] = (SCOTCH_Num)s->k[d];
        rings = rings || (s->ring[d] && s->k[d] > 2);
        lines = lines || (!s->ring[d] && s->k[d] > 2);
    }
    *ring = rings;
    return *n_long > 0 && !(rings && lines);
}

static enum fc_code make_tree(struct fc_scotch_target *t, const struct fc_network *net, const struct fc_tree *tree,
                              struct fc_arena *arena, struct fc_status *st)
{
    SCOTCH_Num size[FC_MAX_LIST], cost[FC_MAX_LIST], used = 0;
    if (equal_parts(t, net->n_nodes, tree->leaf_nodes, arena, st)) return st->code;
    for (int i = 0; i < tree->n; i++) {
        int link_class = tree->level[i].link_class;
        if (tree->level[i].parts == 1) continue;
        size[used] = (SCOTCH_Num)tree->level[i].parts;
        cost[used++] = link_class < 0 ? 1 : price(net->machine, link_class);
    }
    if (used == 0) size[used] = 1, cost[used++] = 1;
    t->has_arch = SCOTCH_archTleaf(t->arch, used, size, cost) == 0;
    return fc_scotch_check(t->has_arch, "the tree of the network", st);
}

/* ---- any network, from its graph ---- */

struct arc {
    uint32_t from, to;
    SCOTCH_Num price;
};

static int compare(const void *a, const void *b)
{
    const struct arc *x = a, *y = b;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    if (x->to != y->to) return x->to < y->to ? -1 : 1;
    return x->price < y->price ? -1 : x->price > y->price;
}

/* The graph of routers and nodes, an edge for each pair with a link either way. */
static enum fc_code build_graph(struct fc_scotch_target *t, const struct fc_network *net, struct fc_arena *arena,
                                struct fc_status *st)
{
    uint64_t n_arcs = (uint64_t)net->n_links * 2;
    if (n_arcs >= INT32_MAX || net->n_vertices >= INT32_MAX)
        return fc_refuse(st, FC_NO, "%u links are too many for Scotch", net->n_links);
    struct arc *arc = fc_alloc(arena, n_arcs, sizeof *arc, st);
    SCOTCH_Num *first = arc ? fc_alloc(arena, (size_t)net->n_vertices + 1, sizeof *first, st) : NULL;
    SCOTCH_Num *other = first ? fc_alloc(arena, n_arcs, sizeof *other, st) : NULL;
    SCOTCH_Num *prices = other ? fc_alloc(arena, n_arcs, sizeof *prices, st) : NULL, n = 0;
    if (!prices) return st->code;
    for (uint32_t l = 0; l < net->n_links; l++) {
        SCOTCH_Num p = price(net->machine, net->link_class[l]);
        arc[2 * l] = (struct arc){net->link_source[l], net->link_target[l], p};
        arc[2 * l + 1] = (struct arc){net->link_target[l], net->link_source[l], p};
    }
    qsort(arc, n_arcs, sizeof *arc, compare);
    for (uint64_t a = 0; a < n_arcs; a++) {
        if (a > 0 && arc[a].from == arc[a - 1].from && arc[a].to == arc[a - 1].to) continue;
        other[n] = (SCOTCH_Num)arc[a].to;
        prices[n++] = arc[a].price;
        first[arc[a].from + 1] = n;
    }
    for (uint32_t v = 0; v < net->n_vertices; v++) /* vertices without links */
        if (first[v + 1] < first[v]) first[v + 1] = first[v];
    t->has_graph = SCOTCH_graphBuild(t->graph, 0, (SCOTCH_Num)net->n_vertices, first, first + 1, NULL, NULL, n, other,
                                     prices) == 0;
    return fc_scotch_check(t->has_graph, "the graph of the network", st);
}

static enum fc_code decompose(struct fc_scotch_target *t, const struct fc_network *net, const struct fc_slots *slots,
                              SCOTCH_Context *context, struct fc_arena *arena, struct fc_status *st)
{
    SCOTCH_Num *list = fc_alloc(arena, slots->n_nodes, sizeof *list, st);
    if (!list || equal_parts(t, slots->n_nodes, 1, arena, st) || build_graph(t, net, arena, st)) return st->code;
    for (uint32_t i = 0; i < slots->n_nodes; i++) list[i] = (SCOTCH_Num)fc_node_vertex(net, slots->node[i]);
    SCOTCH_Graph *bound = SCOTCH_graphAlloc();
    if (!bound || SCOTCH_graphInit(bound)) {
        free(bound);
        return fc_out_of_memory(st, "the graph of the network");
    }
    t->has_arch = SCOTCH_contextBindGraph(context, t->graph, bound) == 0 &&
                  SCOTCH_archBuild2(t->arch, bound, (SCOTCH_Num)slots->n_nodes, list) == 0;
    SCOTCH_graphExit(bound);
    free(bound);
    return fc_scotch_check(t->has_arch, "decomposing the network", st);
}

enum fc_code fc_scotch_target_make(struct fc_scotch_target *t, const struct fc_network *net,
                                   const struct fc_slots *slots, SCOTCH_Context *context, struct fc_arena *arena,
                                   struct fc_status *st)
{
    const struct fc_family_ops *family = net->machine->family;
    struct fc_tree tree;
    struct fc_grid grid;
    bool whole = slots->n_nodes == net->n_nodes, ring;
    *t = (struct fc_scotch_target){.arch = SCOTCH_archAlloc(), .graph = SCOTCH_graphAlloc()};
    if (!t->arch || !t->graph || SCOTCH_archInit(t->arch) || SCOTCH_graphInit(t->graph))
        return fc_out_of_memory(st, "the network for Scotch");
    for (uint32_t i = 0; whole && i < slots->n_nodes; i++) whole = slots->node[i] == i;
    if (whole && family->tree && family->tree(net->machine, &tree)) return make_tree(t, net, &tree, arena, st);
    SCOTCH_Num side[MOST_SCOTCH_DIMS], n_long;
    if (!whole || !fc_grid(net, &grid) || !is_plain_torus(&grid, side, &n_long, &ring))
        return decompose(t, net, slots, context, arena, st);
    if (equal_parts(t, net->n_nodes, grid.nodes, arena, st)) return st->code;
    t->grid = grid;
    t->in_boxes = fc_scotch_boxes_choose(&grid, t->factor);
    for (int d = 0, i = 0; t->in_boxes && d < grid.n_dims; d++)
        if (grid.k[d] > 1) side[i++] /= (SCOTCH_Num)t->factor[d];
    t->has_arch = (ring ? SCOTCH_archTorusX(t->arch, n_long, side) : SCOTCH_archMeshX(t->arch, n_long, side)) == 0;
    return fc_scotch_check(t->has_arch, "the torus", st);
}

void fc_scotch_target_free(struct fc_scotch_target *t)
{
    if (t->has_arch) SCOTCH_archExit(t->arch);
    if (t->has_graph) SCOTCH_graphExit(t->graph);
    free(t->arch);
    free(t->graph);
    memset(t, 0, sizeof *t);
}

enum fc_code fc_scotch_map(SCOTCH_Context *context, SCOTCH_Graph *graph, SCOTCH_Arch *arch, SCOTCH_Num *part,
                           struct fc_status *st)
{
    SCOTCH_Graph *bound = SCOTCH_graphAlloc();
    SCOTCH_Strat *strategy = SCOTCH_stratAlloc();
    bool good = false;
    if (bound && strategy && !SCOTCH_graphInit(bound)) {
        SCOTCH_stratInit(strategy);
        good = !SCOTCH_contextBindGraph(context, graph, bound) &&
               !SCOTCH_stratGraphMapBuild(strategy, SCOTCH_STRATDEFAULT, SCOTCH_archSize(arch), 0.01) &&
               !SCOTCH_graphMap(bound, arch, strategy, part);
        SCOTCH_stratExit(strategy);
        SCOTCH_graphExit(bound);
    }
    free(bound);
    free(strategy);
    return fc_scotch_check(good, "a mapping", st);
}
