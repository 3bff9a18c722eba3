/* recognise_torus.c - whether a graph is a torus, and the coordinates of its routers.
 *
 * Let the links of one router be paired into dimensions, + and -. That fixes all coordinates: the neighbour of p + e_i in
 * direction +-e_j (j other than i) is the only other common neighbour of p + e_i and p +- e_j, the one towards -e_i is p, and
 * the one that is left lies at p + 2 e_i. So directions are carried from router to router, and the graph is the torus when no
 * two ways contradict each other. Pairings of one router are tried one after the other: (2n - 1)!! of them. Limits: sides of
 * three or more (a ring of two has two links between its routers), at most four dimensions, no meshes. */
#include "models/import/import.h"

#include <string.h>

enum { MOST_DIMS = 4, MOST_LINKS = 2 * MOST_DIMS };

struct torus {
    const struct fc_network *net;
    uint32_t n_dims;
    uint32_t *near;    /* [n_routers][2 n_dims] distinct neighbours */
    uint32_t *towards; /* [n_routers][2 n_dims] the router in direction 2 d (+), 2 d + 1 (-); FC_NONE: not known */
    uint32_t *queue, *place; /* [n_routers] of the searches; number of the router on the torus */
    uint32_t side[MOST_DIMS];
};

/* Neighbours and nodes of every router; false: they are not alike. */
static bool list_neighbours(struct torus *t, uint32_t *nodes)
{
    const struct fc_network *net = t->net;
    uint32_t width = 2 * t->n_dims;
    for (uint32_t r = 0; r < net->n_routers; r++) {
        uint32_t n = 0, own_nodes = 0, *near = t->near + (size_t)r * width;
        for (uint32_t l = net->first_link[r]; l < net->first_link[r + 1]; l++) {
            uint32_t to = net->link_target[l], i = 0;
            own_nodes += fc_is_node(net, to);
            if (fc_is_node(net, to)) continue;
            while (i < n && near[i] != to) i++;
            if (i == width) return false;
            if (i == n) near[n++] = to;
        }
        if (n != width || (r && own_nodes != *nodes)) return false;
        *nodes = own_nodes;
    }
    return true;
}

static bool adjacent(const struct torus *t, uint32_t a, uint32_t b)
{
    const uint32_t *near = t->near + (size_t)a * 2 * t->n_dims;
    for (uint32_t i = 0; i < 2 * t->n_dims; i++)
        if (near[i] == b) return true;
    return false;
}

/* The one common neighbour of a and b but `not`; FC_NONE: none, or several. */
static uint32_t corner(const struct torus *t, uint32_t a, uint32_t b, uint32_t not )
{
    const uint32_t *near = t->near + (size_t)a * 2 * t->n_dims;
    uint32_t found = FC_NONE;
    for (uint32_t i = 0; i < 2 * t->n_dims; i++) {
        if (near[i] == not || !adjacent(t, near[i], b)) continue;
        if (found != FC_NONE) return FC_NONE;
        found = near[i];
    }
    return found;
}

/* Directions at the router that lies in direction d of r. */
static bool carry(struct torus *t, uint32_t r, uint32_t d, uint32_t *directions)
{
    uint32_t width = 2 * t->n_dims, to = t->towards[(size_t)r * width + d], rest = FC_NONE, n = 0;
    const uint32_t *near = t->near + (size_t)to * width;
    for (uint32_t i = 0; i < width; i++)
        if (i / 2 != d / 2) directions[i] = corner(t, to, t->towards[(size_t)r * width + i], r);
    directions[d ^ 1] = r;
    for (uint32_t k = 0; k < width; k++) {
        bool known = false;
        for (uint32_t i = 0; i < width; i++) known = known || (i != d && directions[i] == near[k]);
        if (!known) rest = near[k], n++;
    }
    directions[d] = rest;
    return n == 1;
}

/* From router 0, whose directions are set, to all; false: they contradict each other. */
static bool carry_all(struct torus *t)
{
    uint32_t width = 2 * t->n_dims, head = 0, tail = 0, directions[MOST_LINKS];
    for (size_t i = width; i < (size_t)t->net->n_routers * width; i++) t->towards[i] = FC_NONE;
    for (t->queue[tail++] = 0; head < tail; head++)
        for (uint32_t d = 0; d < width; d++) {
            uint32_t r = t->queue[head], to = t->towards[(size_t)r * width + d];
            if (!carry(t, r, d, directions)) return false;
            uint32_t *known = t->towards + (size_t)to * width;
            if (*known == FC_NONE) {
                memcpy(known, directions, width * sizeof *known);
                t->queue[tail++] = to;
            }
            if (memcmp(known, directions, width * sizeof *known)) return false;
        }
    return tail == t->net->n_routers;
}

static uint32_t step(const struct torus *t, uint32_t r, uint32_t dim)
{
    return t->towards[(size_t)r * 2 * t->n_dims + 2 * dim];
}

/* Sides, and the number of every router with the first dimension running fastest; false: rings of unequal length. */
static bool number_routers(struct torus *t)
{
    uint32_t n = 1;
    for (uint32_t r = 0; r < t->net->n_routers; r++) t->place[r] = FC_NONE;
    t->place[0] = 0;
    t->queue[0] = 0;
    for (uint32_t d = 0; d < t->n_dims; d++) {
        uint32_t length = 1;
        for (uint32_t r = step(t, 0, d); r != 0 && length <= t->net->n_routers; r = step(t, r, d)) length++;
        t->side[d] = length;
        if ((uint64_t)n * length > t->net->n_routers) return false;
        for (uint32_t i = n; i < n * length; i++) {
            t->queue[i] = step(t, t->queue[i - n], d);
            if (t->place[t->queue[i]] != FC_NONE) return false;
            t->place[t->queue[i]] = i;
        }
        n *= length;
    }
    return n == t->net->n_routers;
}

/* Tries all pairings of the links of router 0 that are left. */
static bool pair_up(struct torus *t, uint32_t dim, bool *used)
{
    uint32_t width = 2 * t->n_dims, first = 0;
    if (dim == t->n_dims) return carry_all(t) && number_routers(t);
    while (used[first]) first++;
    used[first] = true;
    for (uint32_t second = first + 1; second < width; second++) {
        if (used[second]) continue;
        used[second] = true;
        t->towards[2 * dim] = t->near[first];
        t->towards[2 * dim + 1] = t->near[second];
        if (pair_up(t, dim + 1, used)) return true;
        used[second] = false;
    }
    used[first] = false;
    return false;
}

/* Parallel cables and link class along each dimension; false: they differ within one. */
static bool read_links(const struct torus *t, uint32_t *parallel, int *classes)
{
    const struct fc_network *net = t->net;
    for (uint32_t d = 0; d < t->n_dims; d++) classes[d] = -1;
    for (uint32_t r = 0; r < net->n_routers; r++)
        for (uint32_t d = 0; d < t->n_dims; d++) {
            uint32_t to = step(t, r, d), n = 0;
            for (uint32_t l = net->first_link[r]; l < net->first_link[r + 1]; l++) {
                if (net->link_target[l] != to) continue;
                if (classes[d] >= 0 && classes[d] != net->link_class[l]) return false;
                classes[d] = net->link_class[l];
                n++;
            }
            if (r && n != parallel[d]) return false;
            parallel[d] = n;
        }
    for (uint32_t d = 1; d < t->n_dims; d++)
        if (classes[d] != classes[0]) return false;
    return true;
}

/* The nodes of the routers in their order on the torus. */
static bool list_nodes(const struct torus *t, uint32_t nodes, struct fc_recognised *r, struct fc_status *st)
{
    const struct fc_network *net = t->net;
    r->node = fc_alloc(&r->arena, net->n_nodes, sizeof *r->node, st);
    r->class_of[1] = -1;
    for (uint32_t router = 0; r->node && router < net->n_routers; router++) {
        uint32_t n = 0;
        for (uint32_t l = net->first_link[router]; l < net->first_link[router + 1]; l++) {
            if (!fc_is_node(net, net->link_target[l])) continue;
            if (r->class_of[1] >= 0 && r->class_of[1] != net->link_class[l]) return false;
            r->class_of[1] = net->link_class[l];
            r->node[(size_t)t->place[router] * nodes + n++] = net->link_target[l] - net->n_routers;
        }
    }
    return r->node != NULL;
}

static void tell(const struct torus *t, uint32_t nodes, const uint32_t *parallel, struct fc_recognised *r)
{
    char dims[80] = "", links[80] = "", times[80] = "";
    bool several = false;
    for (uint32_t d = 0; d < t->n_dims; d++) {
        snprintf(dims + strlen(dims), sizeof dims - strlen(dims), "%s%u", d ? ", " : "", t->side[d]);
        snprintf(times + strlen(times), sizeof times - strlen(times), "%s%u", d ? " x " : "", t->side[d]);
        snprintf(links + strlen(links), sizeof links - strlen(links), "%s%u", d ? ", " : "", parallel[d]);
        several = several || parallel[d] > 1;
    }
    int n = snprintf(r->keys, sizeof r->keys, "dims: [%s]\n  nodes_per_router: %u\n", dims, nodes);
    if (several) snprintf(r->keys + n, sizeof r->keys - (size_t)n, "  links_per_dim: [%s]\n", links);
    snprintf(r->words, sizeof r->words, "a torus of %s routers, %u nodes each", times, nodes);
    r->family = "torus";
    r->classes[0] = "torus";
    r->classes[1] = "injection";
    r->n_classes = 2;
}

enum fc_code fc_recognise_torus(const struct fc_network *net, struct fc_recognised *r, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    struct torus t = {.net = net};
    uint32_t distinct = 0, seen[MOST_LINKS + 1], nodes = 0, parallel[MOST_DIMS];
    int classes[MOST_DIMS];
    bool used[MOST_LINKS] = {false};
    for (uint32_t l = net->first_link[0]; net->n_routers && l < net->first_link[1]; l++) {
        uint32_t to = net->link_target[l], i = 0;
        if (fc_is_node(net, to)) continue;
        while (i < distinct && seen[i] != to) i++;
        if (i == MOST_LINKS) return FC_OK;
        if (i == distinct) seen[distinct++] = to;
    }
    if (distinct == 0 || distinct % 2) return FC_OK;
    for (uint32_t n = 0; n < net->n_nodes; n++)
        if (net->first_link[net->n_routers + n + 1] - net->first_link[net->n_routers + n] != 1) return FC_OK;
    t.n_dims = distinct / 2;
    size_t size = (size_t)net->n_routers * distinct;
    t.near = fc_alloc(&scratch, size, sizeof *t.near, st);
    t.towards = fc_alloc(&scratch, size, sizeof *t.towards, st);
    t.queue = fc_alloc(&scratch, net->n_routers, sizeof *t.queue, st);
    t.place = fc_alloc(&scratch, net->n_routers, sizeof *t.place, st);
    if (!st->code && list_neighbours(&t, &nodes) && nodes > 0 && pair_up(&t, 0, used) &&
        read_links(&t, parallel, classes) && list_nodes(&t, nodes, r, st)) {
        r->class_of[0] = classes[0];
        tell(&t, nodes, parallel, r);
    }
    return st->code;
}
