/* bound_message.c - what a single message costs where routes have fixed shares, and in what portions loads come.
 *
 * Let f(x, y) be the greatest share / bandwidth of the links between nodes x and y, in either direction the lesser: a
 * message of w bytes between them takes T >= w f(x, y); f = 0 on one node. For a time theta a byte join all nodes with
 * f < theta; the largest component has C(theta) places. Join the tasks that exchange at least w bytes in one direction;
 * let K(C) be the greatest w at which a component has more than C tasks. The tasks of that component do not fit a
 * component of nodes, and it is connected, so two of its tasks that exchange K bytes are on nodes of different
 * components, and
 *     T >= max over theta of theta * K(C(theta)).
 * Both sides are bottlenecks of spanning trees: components under a threshold are those of the minimum spanning tree
 * (of the nodes by f, of the tasks by -w; Kruskal, Proc. AMS 7, 1956; Prim, Bell System Tech. J. 36, 1957). On a torus
 * under dimension order f depends on the displacement alone, and C(theta) is the subgroup that the near displacements
 * generate: ties of even rings, whose halves go both ways.
 *
 * Where all shares are whole multiples of 1 / parts and all tasks exchange whole multiples of g bytes, loads are
 * multiples of g / parts (`portion`). Limits: nothing for adaptive routings; background traffic is left out; 0 where
 * looking at all routes would cost more than most_work. */
#include "core/values.h"
#include "mapping/bound.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_PARTS = 2 };

/* f of one direction; *parts: 0 as soon as a share is no multiple of 1 / MOST_PARTS. */
static double route_s(const struct fc_sites *sites, uint32_t a, uint32_t b, struct fc_walk *walk, int *parts)
{
    double most = 0;
    walk->n = 0;
    sites->routing->walk(sites->net, a, b, 1, walk);
    for (uint32_t i = 0; i < walk->n; i++) {
        double share = walk->weight[i];
        most = fmax(most, share / fc_link_bandwidth(sites->net, walk->link[i]));
        if (share == 1 || *parts == 0) continue;
        *parts = share * MOST_PARTS == floor(share * MOST_PARTS) ? MOST_PARTS : 0;
    }
    return most;
}

/* ---- components ---- */

static uint32_t root_of(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

/* A pair that joins two components. */
struct join {
    double value; /* seconds a byte, or bytes */
    uint32_t a, b;
};
static int rising(const void *x, const void *y)
{
    const struct join *p = x, *q = y;
    return (p->value > q->value) - (p->value < q->value);
}
static int falling(const void *x, const void *y)
{
    return rising(y, x);
}

/* Components as joins are made in their order: step i says that from value[i] on the largest has size[i] members. */
struct growth {
    uint64_t n;
    double *value;
    uint64_t *size;
};

/* One step for each value at which the largest component grows; join[n_joins] in order. */
static enum fc_code grow(const struct join *join, uint64_t n_joins, uint32_t n, struct fc_arena *arena,
                         struct growth *growth, struct fc_status *st)
{
    struct fc_arena scratch = {0};
    uint32_t *parent = fc_alloc(&scratch, n, sizeof *parent, st), *size = NULL;
    if (parent) size = fc_alloc(&scratch, n, sizeof *size, st);
    growth->n = 0;
    growth->value = fc_alloc(arena, (uint64_t)n + 1, sizeof *growth->value, st);
    growth->size = growth->value ? fc_alloc(arena, (uint64_t)n + 1, sizeof *growth->size, st) : NULL;
    for (uint32_t i = 0; size && i < n; i++) {
        parent[i] = i;
        size[i] = 1;
    }
    uint32_t largest = 1;
    for (uint64_t i = 0; size && growth->size && i < n_joins; i++) {
        uint32_t a = root_of(parent, join[i].a), b = root_of(parent, join[i].b);
        if (a == b) continue;
        if (size[a] < size[b]) {
            uint32_t swap = a;
            a = b;
            b = swap;
        }
        parent[b] = a;
        size[a] += size[b];
        if (size[a] <= largest) continue;
        largest = size[a];
        if (growth->n == 0 || growth->value[growth->n - 1] != join[i].value) growth->value[growth->n++] = join[i].value;
        growth->size[growth->n - 1] = largest;
    }
    fc_arena_free(&scratch);
    return st->code;
}

/* ---- tasks ---- */

static enum fc_code grow_tasks(const struct fc_unit_graph *g, struct fc_arena *arena, struct growth *growth,
                               struct fc_status *st)
{
    uint64_t n = 0;
    struct fc_arena scratch = {0};
    struct join *join = fc_alloc(&scratch, g->first[g->n] / 2 + 1, sizeof *join, st);
    for (uint32_t u = 0; join && u < g->n; u++)
        for (uint64_t e = g->first[u]; e < g->first[u + 1]; e++)
            if (g->other[e] > u) join[n++] = (struct join){fmax(g->out[e], g->in[e]), u, g->other[e]};
    if (join) {
        qsort(join, n, sizeof *join, falling);
        grow(join, n, g->n, arena, growth, st);
    }
    fc_arena_free(&scratch);
    return st->code;
}

/* K(places): 0 where no component has more tasks. */
static double heaviest_between(const struct growth *tasks, uint64_t places)
{
    for (uint64_t i = 0; i < tasks->n; i++)
        if (tasks->size[i] > places) return tasks->value[i];
    return 0;
}

/* Greatest common divisor of what tasks send each other; 0 where it is not whole. */
static double common_bytes(const struct fc_unit_graph *g)
{
    uint64_t unit = 0;
    double last = 0;
    for (uint64_t e = 0; e < g->first[g->n]; e++) {
        double bytes = g->out[e];
        if (bytes == last) continue;
        if (bytes != floor(bytes) || bytes > 0x1p53) return 0;
        unit = fc_common_divisor((uint64_t)bytes, unit);
        last = bytes;
    }
    return (double)unit;
}

/* ---- nodes: all pairs ---- */

/* Joins of the minimum spanning tree of the sites' nodes by f, join[n - 1]. O(n^2) routes. */
static enum fc_code tree_of_nodes(const struct fc_sites *sites, struct fc_walk *walk, struct join *join, int *parts,
                                  struct fc_status *st)
{
    struct fc_arena scratch = {0};
    uint32_t n = sites->n_nodes, at = 0;
    struct join *nearest = fc_alloc(&scratch, n, sizeof *nearest, st); /* to the tree; a: FC_NONE when in it */
    for (uint32_t i = 0; nearest && i < n; i++) nearest[i] = (struct join){INFINITY, 0, i};
    if (nearest) nearest[0].a = FC_NONE;
    for (uint32_t k = 0; nearest && k + 1 < n; k++) {
        uint32_t next = FC_NONE;
        for (uint32_t i = 0; i < n; i++) {
            struct join *to = &nearest[i];
            if (to->a == FC_NONE) continue;
            double s = fmin(route_s(sites, sites->node[at], sites->node[i], walk, parts),
                            route_s(sites, sites->node[i], sites->node[at], walk, parts));
            if (s < to->value) *to = (struct join){s, at, i};
            if (next == FC_NONE || to->value < nearest[next].value) next = i;
        }
        join[k] = nearest[next];
        nearest[next].a = FC_NONE;
        at = next;
    }
    fc_arena_free(&scratch);
    return st->code;
}

static enum fc_code bound_by_pairs(const struct fc_sites *sites, const struct growth *tasks, struct fc_walk *walk,
                                   struct fc_message_bound *bound, struct fc_status *st)
{
    struct fc_arena scratch = {0};
    struct growth nodes;
    struct join *join = fc_alloc(&scratch, sites->n_nodes, sizeof *join, st);
    if (!join || tree_of_nodes(sites, walk, join, &bound->parts, st)) goto done;
    qsort(join, sites->n_nodes - 1, sizeof *join, rising);
    if (grow(join, sites->n_nodes - 1, sites->n_nodes, &scratch, &nodes, st)) goto done;
    for (uint64_t i = 0; i < nodes.n; i++) {
        uint64_t places = (i > 0 ? nodes.size[i - 1] : 1) * sites->slots_per_node;
        bound->time_s = fmax(bound->time_s, nodes.value[i] * heaviest_between(tasks, places));
    }
done:
    fc_arena_free(&scratch);
    return st->code;
}

/* ---- nodes: a torus under dimension order ---- */

static uint32_t displaced(const struct fc_grid *grid, uint32_t cell, uint32_t by)
{
    uint32_t sum = 0;
    for (int d = 0; d < grid->n_dims; d++)
        sum += (cell / grid->stride[d] + by / grid->stride[d]) % grid->k[d] * grid->stride[d];
    return sum;
}

/* Cells in the component of cell 0 when those with f[displacement] < theta are joined: the subgroup that they generate,
 * coset by coset of what there is. `most` + 1 when more. O(n_cells). */
static uint64_t component(const struct fc_grid *grid, const double *f, double theta, uint64_t most, bool *seen,
                          uint32_t *member)
{
    uint64_t n = 1;
    for (uint32_t c = 0; c < grid->n_cells; c++) seen[c] = c == 0;
    member[0] = 0;
    for (uint32_t near = 1; near < grid->n_cells && n <= most; near++) {
        if (f[near] >= theta || seen[near]) continue;
        uint64_t before = n;
        for (uint32_t by = near; !seen[by] && n <= most; by = displaced(grid, by, near))
            for (uint64_t i = 0; i < before; i++) {
                uint32_t c = displaced(grid, member[i], by);
                seen[c] = true;
                member[n++] = c;
            }
    }
    return n <= most ? n : most + 1;
}

static bool is_ordered_torus(const struct fc_sites *sites, struct fc_grid *grid)
{
    const struct fc_family_ops *family = sites->net->machine->family;
    return sites->routing->ordered == sites->routing && family->looks_alike && family->looks_alike(sites->net) &&
           fc_grid(sites->net, grid) && grid->routers == 1;
}

/* Nodes of a router count as one. */
static enum fc_code bound_by_displacement(const struct fc_sites *sites, const struct fc_grid *grid,
                                          const struct growth *tasks, struct fc_walk *walk,
                                          struct fc_message_bound *bound, struct fc_status *st)
{
    struct fc_arena scratch = {0};
    uint32_t n = grid->n_cells, origin = 0;
    uint64_t places = (uint64_t)grid->nodes * sites->slots_per_node, all = tasks->n ? tasks->size[tasks->n - 1] : 0;
    double *f = fc_alloc(&scratch, n, sizeof *f, st);
    bool *seen = f ? fc_alloc(&scratch, n, sizeof *seen, st) : NULL;
    uint32_t *member = seen ? fc_alloc(&scratch, n, sizeof *member, st) : NULL;
    for (uint32_t c = 1; member && c < n; c++) {
        uint32_t to = c * grid->nodes;
        f[c] = fmin(route_s(sites, origin, to, walk, &bound->parts), route_s(sites, to, origin, walk, &bound->parts));
    }
    for (double theta = 0; member && n > 1;) {
        double next = INFINITY;
        for (uint32_t c = 1; c < n; c++)
            if (f[c] > theta) next = fmin(next, f[c]);
        if (isinf(next)) break;
        theta = next;
        uint64_t cells = component(grid, f, theta, all / places, seen, member);
        double bytes = heaviest_between(tasks, cells * places);
        if (!(bytes > 0)) break;
        bound->time_s = fmax(bound->time_s, theta * bytes);
    }
    fc_arena_free(&scratch);
    return st->code;
}

enum fc_code fc_message_bound(const struct fc_sites *sites, const struct fc_unit_graph *tasks, double most_work,
                              struct fc_message_bound *bound, struct fc_status *st)
{
    struct fc_arena scratch = {0};
    struct fc_grid grid;
    struct growth growth;
    struct fc_walk walk;
    const struct fc_routing_ops *routing = sites->routing;
    *bound = (struct fc_message_bound){.parts = 0};
    uint32_t capacity = routing->adaptive ? 0 : routing->walk_capacity(sites->net), n = sites->n_nodes;
    bool torus = is_ordered_torus(sites, &grid);
    double routes = torus ? 2.0 * grid.n_cells : (double)n * n, links = fmin(capacity, 16);
    if (routing->adaptive || n < 2 || capacity > FC_MOST_MESSAGE_WALK || routes * links > most_work) return FC_OK;
    if (fc_walk_start(&walk, capacity, st)) return st->code;
    bound->parts = 1;
    if (!grow_tasks(tasks, &scratch, &growth, st)) {
        if (torus)
            bound_by_displacement(sites, &grid, &growth, &walk, bound, st);
        else
            bound_by_pairs(sites, &growth, &walk, bound, st);
    }
    if (bound->parts > 0) bound->portion = common_bytes(tasks) / bound->parts;
    fc_walk_free(&walk);
    fc_arena_free(&scratch);
    return st->code;
}
