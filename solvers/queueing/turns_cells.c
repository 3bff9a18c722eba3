/* turns_cells.c - whether network and traffic look the same from every cell, so that the links of one cell tell
 * all.
 *
 * A cell is a router of a torus with its nodes, or a chip of a tmesh with its mesh; cells form a torus in which
 * every ring is closed. Traffic is alike when each task is a node, dense parts are constant, and every (place in
 * the cell, offset of cells, place in the cell) that occurs carries the same bytes from all cells. Groups that
 * can change places: turns_groups.c. Limit: other symmetries (levels of a fat-tree, reflections) are not looked for. */
#include "solvers/queueing/turns_internal.h"

#include <stdlib.h>
#include <string.h>

/* Where a cell is one router, links are told apart by their place along the ring too, unless adaptive channels are
 * the same everywhere. */
static bool closed_cells(const struct fc_network *net, struct fc_cells *cells)
{
    struct fc_grid grid;
    bool adaptive = net->machine->routing->adaptive;
    if (!fc_grid(net, &grid)) return false;
    for (int d = 0; d < grid.n_dims; d++)
        if (!grid.ring[d] && grid.k[d] > 1) return false;
    cells->n_dims = grid.n_dims;
    memcpy(cells->k, grid.k, sizeof cells->k);
    memcpy(cells->stride, grid.stride, sizeof cells->stride);
    cells->n_cells = grid.n_cells;
    cells->routers = grid.routers;
    cells->nodes = grid.nodes;
    cells->along = grid.routers == 1 && !adaptive;
    cells->one_source = grid.routers == 1 && adaptive;
    return true;
}

/* One pair of the traffic as seen from its sender's cell. */
struct seen {
    uint32_t from, to; /* places in the cell */
    uint32_t offset;   /* cell of the receiver when the sender's is 0 */
    double bytes;
};

static int in_order(const void *a, const void *b)
{
    const struct seen *x = a, *y = b;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    if (x->offset != y->offset) return x->offset < y->offset ? -1 : 1;
    if (x->to != y->to) return x->to < y->to ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static uint32_t cell_offset(const struct fc_cells *cells, uint32_t from, uint32_t to)
{
    uint32_t offset = 0;
    for (int d = 0; d < cells->n_dims; d++) {
        uint32_t k = cells->k[d], a = from / cells->stride[d] % k, b = to / cells->stride[d] % k;
        offset += (b + k - a) % k * cells->stride[d];
    }
    return offset;
}

/* FC_OK with *alike; FC_NO: out of memory. */
static enum fc_code entries_alike(const struct fc_cells *cells, const struct fc_demand *demand, bool *alike,
                                  struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    size_t n = demand->n_entries;
    *alike = n % cells->n_cells == 0;
    struct seen *seen = *alike ? fc_alloc(&arena, n, sizeof *seen, st) : NULL;
    if (seen) {
        for (size_t i = 0; i < n; i++) {
            uint32_t s = demand->src[i], d = demand->dst[i];
            seen[i] = (struct seen){s % cells->nodes, d % cells->nodes,
                                    cell_offset(cells, s / cells->nodes, d / cells->nodes), demand->bytes[i]};
        }
        qsort(seen, n, sizeof *seen, in_order);
        for (size_t i = 0; i < n && *alike; i += cells->n_cells)
            *alike = in_order(&seen[i], &seen[i + cells->n_cells - 1]) == 0 &&
                     (i == 0 || seen[i - 1].from != seen[i].from || seen[i - 1].to != seen[i].to ||
                      seen[i - 1].offset != seen[i].offset);
    }
    return st->code;
}

bool fc_turns_is_even(const struct fc_network *net, const struct fc_demand *demand)
{
    bool even = demand->n_tasks == net->n_nodes;
    for (int p = 0; even && p < demand->n_dense; p++)
        even = fc_all_equal(demand->dense[p].a, net->n_nodes) && fc_all_equal(demand->dense[p].b, net->n_nodes);
    return even;
}

enum fc_code fc_turns_cells(const struct fc_network *net, const struct fc_demand *demand, struct fc_cells *cells,
                            bool *folded, struct fc_status *st)
{
    memset(cells, 0, sizeof *cells);
    *folded = false;
    if (!closed_cells(net, cells)) return FC_OK;
    if (cells->n_cells < 2 || !fc_turns_is_even(net, demand)) return FC_OK;
    return entries_alike(cells, demand, folded, st);
}

/* Vertices of a cell: its routers, then its nodes. */
static uint32_t place_in_cell(const struct fc_network *net, const struct fc_cells *cells, uint32_t vertex)
{
    return vertex < net->n_routers ? vertex % cells->routers
                                   : cells->routers + (vertex - net->n_routers) % cells->nodes;
}

/* The coordinate of a network link along its own ring; 0 where the ends lie in one cell. */
static uint32_t along_ring(const struct fc_network *net, const struct fc_cells *cells, uint32_t link)
{
    uint32_t a = net->link_source[link], b = net->link_target[link];
    if (!cells->along || fc_is_node(net, a) || fc_is_node(net, b)) return 0;
    a /= cells->routers;
    b /= cells->routers;
    for (int d = 0; d < cells->n_dims; d++) {
        uint32_t c = a / cells->stride[d] % cells->k[d];
        if (c != b / cells->stride[d] % cells->k[d]) return c;
    }
    return 0;
}

enum fc_code fc_turns_orbits(const struct fc_network *net, const struct fc_cells *cells, struct fc_arena *arena,
                             uint32_t **orbit, uint32_t **place, uint32_t *n_orbits, struct fc_status *st)
{
    uint32_t places = cells->routers + cells->nodes, ports = 0, longest = 1, n = 0;
    for (int d = 0; d < cells->n_dims && cells->along; d++) longest = cells->k[d] > longest ? cells->k[d] : longest;
    uint32_t *base = fc_alloc(arena, places, sizeof *base, st);
    *orbit = base ? fc_alloc(arena, net->n_links, sizeof **orbit, st) : NULL;
    if (!*orbit) return st->code;
    for (uint32_t p = 0; p < places; p++) {
        uint32_t v = p < cells->routers ? p : net->n_routers + p - cells->routers;
        base[p] = ports;
        ports += net->first_link[v + 1] - net->first_link[v];
    }
    uint32_t *number = fc_alloc(arena, (size_t)ports * longest, sizeof *number, st); /* of a set, + 1 */
    *place = fc_alloc(arena, (size_t)ports * longest, sizeof **place, st);
    if (!number || !*place) return st->code;
    for (uint32_t l = 0; l < net->n_links; l++) {
        uint32_t v = net->link_source[l];
        uint32_t port = base[place_in_cell(net, cells, v)] + l - net->first_link[v];
        uint32_t *set = &number[port * longest + along_ring(net, cells, l)];
        if (!*set) {
            (*place)[n] = port;
            *set = ++n;
        }
        (*orbit)[l] = *set - 1;
    }
    *n_orbits = n;
    return FC_OK;
}
