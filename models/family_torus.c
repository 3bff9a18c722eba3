/* family_torus.c - k-ary n-cubes with any size, wrap and number of cables a dimension, several nodes a router.
 *
 * Closed forms (Dally & Towles, ch. 5): mean hops of a ring of k over all pairs, self included: k/4 (even),
 * (k - 1/k)/4 (odd); of a line (k - 1/k)/3; diameter floor(k/2) and k-1; bisection: the cut across the dimension that
 * leaves the fewest links, 2 N/k on a ring, N/k on a line, times the parallel cables (one direction; for an odd size
 * the least unbalanced cut). Limits: at most FC_MAX_DIMS dimensions. */
#include "models/family_torus.h"

#include "models/family_parts.h"

#include <string.h>

char fc_torus_letter(int dim)
{
    return "xyzabcde"[dim];
}

/* One class for all dimensions, or one a dimension, as the file's links: say. */
static void declare_classes(struct fc_machine *machine, struct fc_torus_shape *s)
{
    bool per_dimension = false;
    for (int i = 0; i < machine->n_link_names; i++)
        per_dimension = per_dimension || (strlen(machine->link_names[i]) == 1 &&
                                          memchr("xyzabcde", machine->link_names[i][0], (size_t)s->dims.n));
    machine->n_classes = 0;
    for (int d = 0; d < s->n_dims; d++) {
        if (d == 0 || (per_dimension && s->of[d] != s->of[d - 1])) {
            struct fc_link_class *c = &machine->classes[machine->n_classes++];
            if (per_dimension)
                snprintf(c->name, sizeof c->name, "%c", fc_torus_letter(s->of[d]));
            else
                snprintf(c->name, sizeof c->name, "%s", machine->family->name);
        }
        s->dim_class[d] = machine->n_classes - 1;
    }
}

/* Lists that speak of dimensions have one entry a dimension, or are left out for all `preset`. */
static enum fc_code check_list(const struct fc_ints *list, int n_dims, const char *key, struct fc_place where,
                               struct fc_status *st)
{
    if (list->n == 0 || list->n == n_dims) return FC_OK;
    return fc_fail(st, FC_INPUT, where, "network.%s has %d entries (expected %d, one a dimension)", key, list->n,
                   n_dims);
}

static enum fc_code check(struct fc_machine *machine, bool default_ring, struct fc_place where, struct fc_status *st)
{
    struct fc_torus_shape *s = machine->shape;
    if (s->dims.n == 0) return fc_fail(st, FC_INPUT, where, "network.dims is missing (e.g. dims: [8, 8, 8])");
    if (s->dims.n > FC_MAX_DIMS)
        return fc_fail(st, FC_INPUT, where, "network.dims has %d dimensions (at most %d)", s->dims.n, FC_MAX_DIMS);
    if (check_list(&s->links_per_dim, s->dims.n, "links_per_dim", where, st) ||
        check_list(&s->wrap, s->dims.n, "wrap", where, st))
        return st->code;
    double routers = 1;
    for (int d = 0; d < s->dims.n; d++) {
        routers *= (double)s->dims.v[d];
        if (routers * (double)machine->nodes_per_router >= FC_NONE)
            return fc_fail(st, FC_NO, where, "network.dims: %.4g nodes are too many (at most %u can be held)",
                           routers * (double)machine->nodes_per_router, FC_NONE - 1);
    }
    for (int d = 0; d < s->wrap.n; d++)
        if (s->wrap.v[d] != 0 && s->wrap.v[d] != 1)
            return fc_fail(st, FC_INPUT, where, "network.wrap: %lld (expected 1 = ring or 0 = line)", s->wrap.v[d]);
    if (fc_torus_fold(s, default_ring, where, st)) return st->code;
    s->n_routers = (uint32_t)routers;
    s->nodes_per_router = (uint32_t)machine->nodes_per_router;
    declare_classes(machine, s);
    return FC_OK;
}
static enum fc_code check_torus(struct fc_machine *m, struct fc_place where, struct fc_status *st)
{
    return check(m, true, where, st);
}
static enum fc_code check_mesh(struct fc_machine *m, struct fc_place where, struct fc_status *st)
{
    return check(m, false, where, st);
}

static bool has_port(const struct fc_torus_shape *s, uint32_t router, int dim, int direction)
{
    if (s->k[dim] == 1) return false;
    if (s->ring[dim]) return true;
    uint32_t c = fc_torus_coordinate(s, router, dim);
    return direction == FC_PLUS ? c + 1 < s->k[dim] : c > 0;
}

static enum fc_code build(const struct fc_machine *machine, struct fc_network *net, struct fc_status *st)
{
    const struct fc_torus_shape *s = machine->shape;
    net->n_routers = s->n_routers;
    net->n_nodes = s->n_routers * s->nodes_per_router;
    uint64_t links = 2ull * net->n_nodes;
    for (int d = 0; d < s->n_dims; d++) {
        uint64_t pairs = s->k[d] == 1 ? 0 : s->ring[d] ? s->n_routers : s->n_routers / s->k[d] * (s->k[d] - 1ull);
        links += 2 * pairs * s->parallel[d];
    }
    double ports = 2.0 * s->n_dims * s->n_routers;
    if (fc_network_fits(machine, (double)s->n_routers + net->n_nodes, (double)links, ports * sizeof(uint32_t), st))
        return st->code;
    if (ports >= FC_NONE) /* sizes of 1 have ports without links */
        return fc_fail(st, FC_NO, (struct fc_place){machine->file, machine->network_line},
                       "network.dims: %.4g ports are too many (at most %u can be held)", ports, FC_NONE - 1);
    struct fc_link_list list;
    struct fc_torus_tables *tables = fc_alloc(&net->arena, 1, sizeof *tables, st);
    if (!tables || fc_links_start(&list, &net->arena, links, st)) return st->code;
    tables->port = fc_alloc(&net->arena, (size_t)s->n_routers * (size_t)s->n_dims * 2, sizeof *tables->port, st);
    if (!tables->port) return st->code;
    net->extra = tables;
    int injection = fc_injection_class(machine);
    for (uint32_t v = 0; v < s->n_routers; v++) {
        for (int d = 0; d < s->n_dims; d++)
            for (int direction = 0; direction < 2; direction++) {
                uint32_t *port = &tables->port[(v * (uint32_t)s->n_dims + (uint32_t)d) * 2 + (uint32_t)direction];
                *port = has_port(s, v, d, direction) ? list.n : FC_NONE;
                for (uint32_t p = 0; *port != FC_NONE && p < s->parallel[d]; p++)
                    fc_links_add(&list, v, fc_torus_neighbour(s, v, d, direction), s->dim_class[d]);
            }
        for (uint32_t t = 0; t < s->nodes_per_router; t++)
            fc_links_add(&list, v, s->n_routers + v * s->nodes_per_router + t, injection);
    }
    for (uint32_t node = 0; node < net->n_nodes; node++)
        fc_links_add(&list, s->n_routers + node, node / s->nodes_per_router, injection);
    return fc_links_seal(net, &list, NULL, st);
}

static void vertex_name(const struct fc_network *net, uint32_t vertex, char *out, size_t size)
{
    const struct fc_torus_shape *s = fc_torus(net);
    if (fc_is_node(net, vertex)) {
        snprintf(out, size, "node %u", vertex - net->n_routers);
        return;
    }
    size_t n = (size_t)snprintf(out, size, "(");
    for (int d = 0; d < s->n_dims && n < size; d++)
        n += (size_t)snprintf(out + n, size - n, "%s%u", d ? "," : "", fc_torus_coordinate(s, vertex, d));
    if (n < size) snprintf(out + n, size - n, ")");
}

static void link_name(const struct fc_network *net, uint32_t link, char *out, size_t size)
{
    const struct fc_torus_shape *s = fc_torus(net);
    uint32_t a = net->link_source[link], b = net->link_target[link];
    char from[80], to[80];
    for (int d = 0; d < s->n_dims; d++)
        for (int direction = 0; direction < 2; direction++) {
            uint32_t port = fc_torus_port(net, a, d, direction);
            if (port == FC_NONE || link < port || link >= port + s->parallel[d]) continue;
            int n = snprintf(out, size, "%c%c %s->%s", fc_torus_letter(d), direction == FC_PLUS ? '+' : '-',
                             fc_vertex_name(net, a, from, sizeof from), fc_vertex_name(net, b, to, sizeof to));
            if (s->parallel[d] > 1 && n > 0 && (size_t)n < size)
                snprintf(out + n, size - (size_t)n, " cable %u", link - port);
            return;
        }
}

static void facts(const struct fc_network *net, struct fc_facts *f)
{
    const struct fc_torus_shape *s = fc_torus(net);
    f->mean_hops = f->diameter_hops = 0;
    double best = INFINITY, best_bytes_per_s = INFINITY;
    for (int d = 0; d < s->n_dims; d++) {
        double k = s->k[d];
        if (s->ring[d]) {
            f->mean_hops += s->k[d] % 2 ? (k - 1 / k) / 4 : k / 4;
            f->diameter_hops += floor(k / 2);
        } else {
            f->mean_hops += (k - 1 / k) / 3;
            f->diameter_hops += k - 1;
        }
        if (s->k[d] == 1) continue;
        double links = (s->ring[d] ? 2 : 1) * (s->n_routers / k) * s->parallel[d];
        double bytes_per_s = links * net->machine->classes[s->dim_class[d]].bandwidth_bytes_per_s;
        if (bytes_per_s < best_bytes_per_s) best = links, best_bytes_per_s = bytes_per_s;
    }
    if (isfinite(best)) f->bisection_links = best, f->bisection_bytes_per_s = best_bytes_per_s;
}

/* Slabs one router thick of each dimension, its two halves, then boxes of sides k/2, k/4, ... in all dimensions. */
static uint32_t partition(const struct fc_network *net, int index, uint32_t *label)
{
    const struct fc_torus_shape *s = fc_torus(net);
    int n = s->n_dims;
    uint32_t side[FC_MAX_DIMS], count = 1;
    bool finer = false;
    for (int d = 0; d < n; d++) {
        if (index < n)
            side[d] = d == index ? 1 : s->k[d];
        else if (index < 2 * n)
            side[d] = d == index - n ? (s->k[d] + 1) / 2 : s->k[d];
        else
            side[d] = index - 2 * n + 1 < 32 ? (s->k[d] >> (index - 2 * n + 1)) : 0;
        finer = finer || side[d] > 1;
        if (side[d] == 0) side[d] = 1;
    }
    if (index >= 2 * n && !finer) return 0;
    uint32_t c[FC_MAX_DIMS] = {0}, step[FC_MAX_DIMS]; /* of the router; between blocks of neighbours in a dimension */
    for (int d = 0; d < n; d++) {
        step[d] = count;
        count *= (s->k[d] + side[d] - 1) / side[d];
    }
    for (uint32_t v = 0, block = 0; v < s->n_routers; v++) {
        int d = 0;
        label[v] = block;
        while (d < n && c[d] + 1 == s->k[d]) { /* begins anew, and the next dimension goes on */
            block -= c[d] / side[d] * step[d];
            c[d++] = 0;
        }
        if (d < n && ++c[d] % side[d] == 0) block += step[d];
    }
    return count;
}

static void block_name(const struct fc_network *net, int index, char *out, size_t size)
{
    int n = fc_torus(net)->n_dims;
    if (index < n)
        snprintf(out, size, "slabs across dimension %d", index + 1);
    else if (index < 2 * n)
        snprintf(out, size, "halves of dimension %d", index - n + 1);
    else
        snprintf(out, size, "boxes of 1/%d of the sides", 1 << (index - 2 * n + 1));
}

/* Sides by SHORT times shorter than the longest, as Tofu's A, B and C, are of a unit that all such tori are made of. */
enum { SHORT = 4 };
static bool is_of_unit(long long side, long long longest)
{
    return side > 1 && SHORT * side <= longest;
}

/* Units stay, the first n_lines of the other sides become `side`, the rest 1. */
static void cap_lines(struct fc_ints *dims, long long longest, long long side, int n_lines)
{
    for (int d = 0; d < dims->n; d++)
        if (!is_of_unit(dims->v[d], longest)) dims->v[d] = n_lines-- > 0 ? side : 1;
}

/* Sides longer than 2 become 4, then 8 x 4 x 4..., 6, 8, 16 x 8 x 8... (3 is left out: the queueing model is farthest
 * from the kernel on so small rings). Tori of units have many nodes: lines of 4 and of 8 units, planes of 4 x 4 and
 * 6 x 6, boxes of 4 x 4 x 4. */
static bool relative(void *shape, int number)
{
    static const struct {
        long long side;
        bool doubled;
        long long unit_side;
        int unit_lines;
    } list[] = {{4, false, 4, 1}, {4, true, 8, 1}, {6, false, 4, 2}, {8, false, 6, 2}, {8, true, 4, 3}};
    struct fc_torus_shape *s = shape;
    if (number >= (int)FC_COUNT(list)) return false;
    long long longest = 0;
    bool units = false;
    for (int d = 0; d < s->dims.n; d++) longest = s->dims.v[d] > longest ? s->dims.v[d] : longest;
    for (int d = 0; d < s->dims.n; d++) units |= s->dims.v[d] > 2 && is_of_unit(s->dims.v[d], longest);
    if (units)
        cap_lines(&s->dims, longest, list[number].unit_side, list[number].unit_lines);
    else
        fc_cap_sides(&s->dims, list[number].side, list[number].doubled);
    return true;
}

static bool grid(const struct fc_machine *machine, struct fc_grid *g)
{
    const struct fc_torus_shape *s = machine->shape;
    *g = (struct fc_grid){.n_dims = s->n_dims, .n_cells = s->n_routers, .routers = 1, .nodes = s->nodes_per_router};
    memcpy(g->k, s->k, sizeof g->k);
    memcpy(g->stride, s->stride, sizeof g->stride);
    memcpy(g->ring, s->ring, sizeof g->ring);
    return true;
}

static bool all_rings(const struct fc_network *net)
{
    const struct fc_torus_shape *s = fc_torus(net);
    for (int d = 0; d < s->n_dims; d++)
        if (!s->ring[d] && s->k[d] > 1) return false;
    return true;
}

/* Tornado: just short of half-way round every ring (Dally & Towles 2004, section 3.2). */
static bool adversarial(const struct fc_network *net, uint32_t *to)
{
    const struct fc_torus_shape *s = fc_torus(net);
    bool some = false, lines = false;
    for (int d = 0; d < s->n_dims; d++) {
        some |= s->k[d] > 2;
        lines |= !s->ring[d] && s->k[d] > 1;
    }
    if (!some || lines) return false;
    for (uint32_t node = 0; node < net->n_nodes; node++) {
        uint32_t router = node / s->nodes_per_router, target = 0;
        for (int d = 0; d < s->n_dims; d++)
            target += (fc_torus_coordinate(s, router, d) + (s->k[d] + 1) / 2 - 1) % s->k[d] * s->stride[d];
        to[node] = target * s->nodes_per_router + node % s->nodes_per_router;
    }
    return true;
}

static const char *const hard_on_rings[] = {"tornado", "transpose", NULL}, *const hard_on_lines[] = {"transpose", NULL};

#define OFFSET(field) offsetof(struct fc_torus_shape, field)
static const struct fc_key keys[] = {
    {"dims", FC_KEY_INTS, FC_NUMBER, OFFSET(dims), 1, 4294967295.0, NULL, NULL, "routers in each dimension"},
    {"links_per_dim", FC_KEY_INTS, FC_NUMBER, OFFSET(links_per_dim), 1, 256, NULL, NULL,
     "parallel links to each neighbour, per dimension (default 1)"},
    {"wrap", FC_KEY_INTS, FC_NUMBER, OFFSET(wrap), 0, 1, NULL, NULL,
     "per dimension: 1 = ring, 0 = line (default: torus 1, mesh 0)"},
    {"longest_line", FC_KEY_INT, FC_NUMBER, OFFSET(longest_line), 0, 4294967295.0, NULL, "0",
     "longer rings are folded into lines of this length at most (0: none)"},
};

/* What a mesh has as a torus has it. */
#define COMMON                                                                                                         \
    .shape_size = sizeof(struct fc_torus_shape), .keys = keys, .n_keys = FC_COUNT(keys),                               \
    .takes_nodes_per_router = true, .build = build, .link_name = link_name, .vertex_name = vertex_name,                \
    .partition = partition, .facts = facts, .relative = relative, .grid = grid, .layout = &fc_torus_layout,            \
    .block_name = block_name, .order = fc_torus_snake, .note = fc_torus_folds, .looks_alike = all_rings

const struct fc_family_ops fc_family_torus = {
    .name = "torus",
    .usage = "dims: [8, 8, 8]; links_per_dim: [1, 1, 1]; wrap: [1, 1, 1]; classes: torus, or x y z ...",
    .source = "Dally & Towles 2004 ch. 5; Adiga et al., IBM J. Res. Dev. 49(2/3) 2005; Alverson et al., HOTI 2010",
    COMMON,
    .default_routing = "adaptive",
    .check = check_torus,
    .hard_patterns = hard_on_rings,
    .adversarial = adversarial,
};

const struct fc_family_ops fc_family_mesh = {
    .name = "mesh",
    .usage = "dims: [4, 4]; links_per_dim: [1, 1]; wrap: [0, 0]; classes: mesh, or x y z ...",
    .source = "Dally & Towles 2004 ch. 5",
    COMMON,
    .default_routing = "dimension-order",
    .check = check_mesh,
    .hard_patterns = hard_on_lines,
};
