/* family_hyperx.c - HyperX: routers at the points of a box, all that differ in one coordinate connected, with its
 * dimension-order routing: one hop in each dimension in which two routers differ (Ahn et al., SC'09). */
#include "models/models.h"

struct shape {
    struct fc_ints dims; /* as in the file */
    /* Derived by check: */
    uint32_t k[FC_MAX_DIMS], stride[FC_MAX_DIMS], n_routers, nodes_per_router;
};

static enum fc_code check(struct fc_machine *machine, struct fc_place where, struct fc_status *st)
{
    struct shape *s = machine->shape;
    double nodes = (double)machine->nodes_per_router;
    if (s->dims.n == 0 || s->dims.n > FC_MAX_DIMS)
        return fc_fail(st, FC_INPUT, where, "network.dims: %d sizes (expected 1 to %d, e.g. dims: [4, 4])", s->dims.n,
                       FC_MAX_DIMS);
    for (int d = 0; d < s->dims.n; d++) nodes *= (double)s->dims.v[d];
    if (nodes >= FC_NONE) return fc_fail(st, FC_NO, where, "network.dims: %.4g nodes are too many", nodes);
    s->n_routers = 1;
    for (int d = 0; d < s->dims.n; d++) {
        s->k[d] = (uint32_t)s->dims.v[d];
        s->stride[d] = s->n_routers;
        s->n_routers *= s->k[d];
    }
    s->nodes_per_router = (uint32_t)machine->nodes_per_router;
    machine->n_classes = 1;
    snprintf(machine->classes[0].name, sizeof machine->classes[0].name, "hyperx");
    return FC_OK;
}

/* Links of a router: dimension by dimension to the other coordinates in order, then to its nodes. */
static enum fc_code build(const struct fc_machine *machine, struct fc_network *net, struct fc_status *st)
{
    const struct shape *s = machine->shape;
    struct fc_link_list list;
    uint64_t degree = 0;
    for (int d = 0; d < s->dims.n; d++) degree += s->k[d] - 1;
    net->n_routers = s->n_routers;
    net->n_nodes = s->n_routers * s->nodes_per_router;
    uint64_t links = s->n_routers * degree + 2ull * net->n_nodes;
    if (fc_network_fits(machine, (double)s->n_routers + net->n_nodes, (double)links, 0, st) ||
        fc_links_start(&list, &net->arena, links, st))
        return st->code;
    for (uint32_t v = 0; v < s->n_routers; v++) {
        for (int d = 0; d < s->dims.n; d++)
            for (uint32_t c = 0, own = v / s->stride[d] % s->k[d]; c < s->k[d]; c++)
                if (c != own) fc_links_add(&list, v, v - own * s->stride[d] + c * s->stride[d], 0);
        for (uint32_t t = 0; t < s->nodes_per_router; t++)
            fc_links_add(&list, v, s->n_routers + v * s->nodes_per_router + t, fc_injection_class(machine));
    }
    for (uint32_t n = 0; n < net->n_nodes; n++)
        fc_links_add(&list, s->n_routers + n, n / s->nodes_per_router, fc_injection_class(machine));
    return fc_links_seal(net, &list, NULL, st);
}

static void vertex_name(const struct fc_network *net, uint32_t vertex, char *out, size_t size)
{
    bool node = fc_is_node(net, vertex);
    snprintf(out, size, "%s %u", node ? "node" : "router", node ? vertex - net->n_routers : vertex);
}
static void link_name(const struct fc_network *net, uint32_t link, char *out, size_t size)
{
    snprintf(out, size, "router %u->%u", net->link_source[link], net->link_target[link]);
}

static const struct fc_key keys[] = {
    {"dims", FC_KEY_INTS, FC_NUMBER, offsetof(struct shape, dims), 1, 65536, NULL, NULL, "routers in each dimension"},
};
const struct fc_family_ops fc_family_hyperx = {
    .name = "hyperx",
    .usage = "dims: [4, 4]; class: hyperx",
    .source = "Ahn, Binkert, Davis, McLaren & Schreiber, SC'09",
    .shape_size = sizeof(struct shape),
    .keys = keys,
    .n_keys = FC_COUNT(keys),
    .default_routing = "dimension-order",
    .takes_nodes_per_router = true,
    .check = check,
    .build = build,
    .link_name = link_name,
    .vertex_name = vertex_name,
};

/* ---- dimension order ---- */

static uint32_t walk_capacity(const struct fc_network *net)
{
    const struct shape *s = net->machine->shape;
    return (uint32_t)s->dims.n + 2;
}
static void walk(const struct fc_network *net, uint32_t src, uint32_t dst, double share, struct fc_walk *out)
{
    const struct shape *s = net->machine->shape;
    uint32_t v = src / s->nodes_per_router, to = dst / s->nodes_per_router, first = 0;
    fc_walk_add(out, net->first_link[fc_node_vertex(net, src)], share);
    for (int d = 0; d < s->dims.n; first += s->k[d++] - 1) {
        uint32_t own = v / s->stride[d] % s->k[d], c = to / s->stride[d] % s->k[d];
        if (c == own) continue;
        fc_walk_add(out, net->first_link[v] + first + c - (c > own), share);
        v = v - own * s->stride[d] + c * s->stride[d];
    }
    fc_walk_add(out, net->first_link[v] + first + dst % s->nodes_per_router, share);
}
static const char *const families[] = {"hyperx", NULL};
const struct fc_routing_ops fc_routing_hyperx = {
    .name = "dimension-order",
    .help = "one hop in each dimension, x first",
    .source = "Ahn et al., SC'09",
    .families = families,
    .walk_capacity = walk_capacity,
    .walk = walk,
};
