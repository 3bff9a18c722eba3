/* family_tmesh.c - a torus of chips whose routers are the nodes of a 2D mesh on the chip (Liu, Xun, Cao &
 * Sun, "Co-design of on-chip networks and system interconnection networks"; Anton 2: Towles et al., ISCA
 * 2014). 2 n mesh nodes are bridges: they host the NICs of the n torus dimensions' directions.
 *
 * Links: torus 2 n a chip, mesh 2 (R (C-1) + C) a chip of R rows and C columns. Distances are those
 * of dimension order (tmesh_hops.c). Bisection: the cut across the longest torus dimension k, 2 chips / k
 * links one direction. Limits: one bridge a mesh node; cuts through the chips are not looked at (on-chip
 * links are taken to be the faster ones). */
#include "models/family_tmesh.h"

#include "models/family_parts.h"

#include <string.h>

static const char *const orders[] = {"row-first", "column-first", NULL};
static const char *const policies[] = {"shared", "separate", "six-vc", NULL};
static const char letters[] = "xyzabcde";

/* ---- checking ---- */

/* One item "x-=0" of the list. */
static enum fc_code read_bridge(struct fc_tmesh_shape *s, const char *item, size_t length, struct fc_place where,
                                struct fc_status *st)
{
    const char *letter = length > 3 ? memchr(letters, item[0], (size_t)s->n_dims) : NULL;
    if (!letter || (item[1] != '-' && item[1] != '+') || item[2] != '=')
        return fc_fail(st, FC_INPUT, where,
                       "network.bridges: '%.*s' names no torus direction of %d dimensions (expected {x-: 0, "
                       "x+: 1, ...})",
                       (int)length, item, s->n_dims);
    int dim = (int)(letter - letters), direction = item[1] == '+' ? FC_TMESH_PLUS : FC_TMESH_MINUS;
    char what[32];
    long long node;
    snprintf(what, sizeof what, "network.bridges: %c%c", item[0], item[1]);
    if (s->bridge[dim][direction] != FC_NONE) return fc_fail(st, FC_INPUT, where, "%s is given twice", what);
    if (fc_word_int(item + 3, length - 3, 0, s->n_mesh - 1, what, &node, where, st)) return st->code;
    for (int d = 0; d < s->n_dims; d++)
        for (int i = 0; i < 2; i++)
            if (s->bridge[d][i] == node)
                return fc_fail(st, FC_INPUT, where, "%s: mesh node %lld hosts the bridge %c%c already", what, node,
                               letters[d], i == FC_TMESH_PLUS ? '+' : '-');
    s->bridge[dim][direction] = (uint32_t)node;
    return FC_OK;
}

static enum fc_code read_bridges(struct fc_tmesh_shape *s, struct fc_place where, struct fc_status *st)
{
    memset(s->bridge, 0xff, sizeof s->bridge);
    if (!s->bridges)
        return fc_fail(st, FC_INPUT, where,
                       "network.bridges is missing (expected the mesh node of each torus "
                       "direction: {x-: 0, y-: 2, x+: 1, y+: 3})");
    for (const char *at = s->bridges; *at;) {
        size_t length = strcspn(at, ",");
        if (read_bridge(s, at, length, where, st)) return st->code;
        at += length + (at[length] == ',');
    }
    for (int d = 0; d < s->n_dims; d++)
        for (int i = 0; i < 2; i++)
            if (s->bridge[d][i] == FC_NONE)
                return fc_fail(st, FC_INPUT, where,
                               "network.bridges: %c%c is missing (each of the %d torus directions "
                               "needs a mesh node)",
                               letters[d], i == FC_TMESH_PLUS ? '+' : '-', 2 * s->n_dims);
    return FC_OK;
}

void fc_tmesh_derive(struct fc_tmesh_shape *s)
{
    s->n_chips = 1;
    uint32_t torus_ports = 0;
    for (int d = 0; d < s->n_dims; d++) {
        s->stride[d] = s->n_chips;
        s->n_chips *= s->k[d];
        torus_ports += s->k[d] > 1 ? 2 : 0;
    }
    s->n_mesh = s->rows * s->columns;
    s->n_computing = s->n_mesh - (s->router_nodes_compute ? 0 : 2 * (uint32_t)s->n_dims);
    s->chip_links = 2 * (s->rows * (s->columns - 1) + s->columns * (s->rows - 1)) + torus_ports + s->n_computing;
}

static enum fc_code check(struct fc_machine *machine, struct fc_place where, struct fc_status *st)
{
    struct fc_tmesh_shape *s = machine->shape;
    if (s->dims.n == 0) return fc_fail(st, FC_INPUT, where, "network.dims is missing (e.g. dims: [6, 6, 6])");
    if (s->dims.n > FC_MAX_DIMS)
        return fc_fail(st, FC_INPUT, where, "network.dims has %d dimensions (at most %d)", s->dims.n, FC_MAX_DIMS);
    if (s->mesh.n != 2)
        return fc_fail(st, FC_INPUT, where,
                       "network.mesh has %d entries (expected rows and columns, e.g. mesh: [4, 4])", s->mesh.n);
    double routers = (double)s->mesh.v[0] * (double)s->mesh.v[1], chips = 1;
    for (int d = 0; d < s->dims.n; d++) chips *= (double)s->dims.v[d];
    if (chips * routers * (FC_MESH_PORTS + 3) >= FC_NONE)
        return fc_fail(st, FC_NO, where, "network: %.4g routers are too many (at most %u links can be held)",
                       chips * routers, FC_NONE - 1);
    s->n_dims = s->dims.n;
    s->rows = (uint32_t)s->mesh.v[0];
    s->columns = (uint32_t)s->mesh.v[1];
    s->n_mesh = s->rows * s->columns;
    for (int d = 0; d < s->n_dims; d++) s->k[d] = (uint32_t)s->dims.v[d];
    if (s->n_mesh < 2 * (uint32_t)s->n_dims || (!s->router_nodes_compute && s->n_mesh == 2 * (uint32_t)s->n_dims))
        return fc_fail(st, FC_INPUT, where, "network.mesh: %u nodes are too few for %d bridges%s", s->n_mesh,
                       2 * s->n_dims, s->router_nodes_compute ? "" : " and a node that computes");
    if (read_bridges(s, where, st)) return st->code;
    fc_tmesh_derive(s);
    machine->n_classes = 2;
    snprintf(machine->classes[0].name, sizeof machine->classes[0].name, "torus");
    snprintf(machine->classes[1].name, sizeof machine->classes[1].name, "mesh");
    return FC_OK;
}

/* ---- building ---- */

/* The neighbour of mesh node m by each port, FC_NONE at an edge. */
static void mesh_neighbours(const struct fc_tmesh_shape *s, uint32_t m, uint32_t *to)
{
    uint32_t row = m / s->columns, column = m % s->columns;
    to[FC_EAST] = column + 1 < s->columns ? m + 1 : FC_NONE;
    to[FC_WEST] = column > 0 ? m - 1 : FC_NONE;
    to[FC_SOUTH] = row + 1 < s->rows ? m + s->columns : FC_NONE;
    to[FC_NORTH] = row > 0 ? m - s->columns : FC_NONE;
}

/* Adds the routers of a chip, and fills the tables of local links, which come out alike for every chip. */
static void add_chip(const struct fc_tmesh_shape *s, uint32_t chip, int injection, struct fc_link_list *list,
                     struct fc_tmesh_tables *tables)
{
    uint32_t terminal = 0, base = chip * s->chip_links;
    for (uint32_t m = 0; m < s->n_mesh; m++) {
        uint32_t to[FC_MESH_PORTS], router = chip * s->n_mesh + m;
        mesh_neighbours(s, m, to);
        for (int p = 0; p < FC_MESH_PORTS; p++) {
            tables->mesh_port[m][p] = to[p] == FC_NONE ? FC_NONE : list->n - base;
            if (to[p] != FC_NONE) fc_links_add(list, router, chip * s->n_mesh + to[p], 1);
        }
        for (int d = 0; d < s->n_dims; d++)
            for (int i = 0; i < 2; i++) {
                if (s->bridge[d][i] != m || s->k[d] == 1) continue;
                tables->torus_port[d][i] = list->n - base;
                fc_links_add(list, router, fc_tmesh_neighbour(s, chip, d, i) * s->n_mesh + fc_tmesh_entry(s, d, i), 0);
            }
        if (!fc_tmesh_computes(s, m)) continue;
        tables->computing[terminal] = m;
        tables->ejection[terminal] = list->n - base;
        fc_links_add(list, router, s->n_chips * s->n_mesh + chip * s->n_computing + terminal++, injection);
    }
}

static enum fc_code build(const struct fc_machine *machine, struct fc_network *net, struct fc_status *st)
{
    const struct fc_tmesh_shape *s = machine->shape;
    net->n_routers = s->n_chips * s->n_mesh;
    net->n_nodes = s->n_chips * s->n_computing;
    struct fc_link_list list;
    struct fc_tmesh_tables *tables = fc_alloc(&net->arena, 1, sizeof *tables, st);
    if (!tables || fc_links_start(&list, &net->arena, (uint64_t)s->n_chips * s->chip_links + net->n_nodes, st))
        return st->code;
    tables->mesh_port = fc_alloc(&net->arena, s->n_mesh, sizeof *tables->mesh_port, st);
    tables->computing = fc_alloc(&net->arena, s->n_computing, sizeof *tables->computing, st);
    tables->ejection = fc_alloc(&net->arena, s->n_computing, sizeof *tables->ejection, st);
    if (!tables->mesh_port || !tables->computing || !tables->ejection) return st->code;
    memset(tables->torus_port, 0xff, sizeof tables->torus_port);
    net->extra = tables;
    int injection = fc_injection_class(machine);
    for (uint32_t chip = 0; chip < s->n_chips; chip++) add_chip(s, chip, injection, &list, tables);
    for (uint32_t node = 0; node < net->n_nodes; node++)
        fc_links_add(&list, net->n_routers + node,
                     node / s->n_computing * s->n_mesh + tables->computing[node % s->n_computing], injection);
    return fc_links_seal(net, &list, NULL, st);
}

/* ---- on-chip routes ---- */

static uint32_t step_along(const struct fc_network *net, bool in_row, uint32_t *at, uint32_t b, uint32_t *out)
{
    const struct fc_tmesh_shape *s = fc_tmesh(net);
    uint32_t n = 0;
    if (in_row) {
        while (*at % s->columns != b % s->columns) {
            bool east = *at % s->columns < b % s->columns;
            out[n++] = fc_tmesh_tables(net)->mesh_port[*at][east ? FC_EAST : FC_WEST];
            *at = east ? *at + 1 : *at - 1;
        }
    } else {
        while (*at / s->columns != b / s->columns) {
            bool south = *at / s->columns < b / s->columns;
            out[n++] = fc_tmesh_tables(net)->mesh_port[*at][south ? FC_SOUTH : FC_NORTH];
            *at = south ? *at + s->columns : *at - s->columns;
        }
    }
    return n;
}

uint32_t fc_tmesh_mesh_path(const struct fc_network *net, uint32_t a, uint32_t b, uint32_t *out)
{
    bool row_first = fc_tmesh(net)->mesh_order == FC_ROW_FIRST;
    uint32_t n = step_along(net, row_first, &a, b, out);
    return n + step_along(net, !row_first, &a, b, out + n);
}

/* ---- figures ---- */

static void facts(const struct fc_network *net, struct fc_facts *f)
{
    const struct fc_tmesh_shape *s = fc_tmesh(net);
    uint32_t longest = 1;
    f->mean_hops = fc_tmesh_mean_hops(s);
    f->diameter_hops = fc_tmesh_diameter_hops(s);
    for (int d = 0; d < s->n_dims; d++)
        if (s->k[d] > longest) longest = s->k[d];
    if (longest == 1) return;
    f->bisection_links = 2.0 * s->n_chips / longest;
    f->bisection_bytes_per_s = f->bisection_links * net->machine->classes[0].bandwidth_bytes_per_s;
}

/* ---- names ---- */

char *fc_tmesh_bridges_text(const struct fc_tmesh_shape *s, char *out, size_t size)
{
    size_t n = (size_t)snprintf(out, size, "{");
    for (int i = FC_TMESH_MINUS; i >= FC_TMESH_PLUS; i--)
        for (int d = 0; d < s->n_dims && n < size; d++)
            n += (size_t)snprintf(out + n, size - n, "%s%c%c: %u", n > 1 ? ", " : "", letters[d],
                                  i == FC_TMESH_PLUS ? '+' : '-', s->bridge[d][i]);
    if (n < size) snprintf(out + n, size - n, "}");
    return out;
}

static size_t chip_name(const struct fc_tmesh_shape *s, uint32_t chip, char *out, size_t size)
{
    size_t n = (size_t)snprintf(out, size, "(");
    for (int d = 0; d < s->n_dims && n < size; d++)
        n += (size_t)snprintf(out + n, size - n, "%s%u", d ? "," : "", fc_tmesh_coordinate(s, chip, d));
    if (n < size) n += (size_t)snprintf(out + n, size - n, ")");
    return n;
}

static void vertex_name(const struct fc_network *net, uint32_t vertex, char *out, size_t size)
{
    const struct fc_tmesh_shape *s = fc_tmesh(net);
    if (fc_is_node(net, vertex)) {
        snprintf(out, size, "node %u", vertex - net->n_routers);
        return;
    }
    size_t n = chip_name(s, vertex / s->n_mesh, out, size);
    if (n < size) snprintf(out + n, size - n, ".%u", vertex % s->n_mesh);
}

static void link_name(const struct fc_network *net, uint32_t link, char *out, size_t size)
{
    const struct fc_tmesh_shape *s = fc_tmesh(net);
    uint32_t a = net->link_source[link], b = net->link_target[link];
    char from[96], to[96];
    vertex_name(net, a, from, sizeof from);
    vertex_name(net, b, to, sizeof to);
    for (int d = 0; d < s->n_dims; d++)
        for (int i = 0; i < 2; i++)
            if (fc_tmesh_tables(net)->torus_port[d][i] == link % s->chip_links) {
                snprintf(out, size, "%c%c %s->%s", letters[d], i == FC_TMESH_PLUS ? '+' : '-', from, to);
                return;
            }
    snprintf(out, size, "mesh %s->%u", from, b % s->n_mesh);
}

static void words(const struct fc_machine *machine, char *out, size_t size)
{
    const struct fc_tmesh_shape *s = machine->shape;
    char bridges[256];
    fc_words_list(out, size, "dims", &s->dims);
    fc_words_list(out, size, "mesh", &s->mesh);
    fc_words_text(out, size, "bridges", fc_tmesh_bridges_text(s, bridges, sizeof bridges));
}

/* ---- relatives, cells, blocks ---- */

/* The torus of chips with sides of 2 to 4 (whole chips are large); the chips stay. */
static bool relative(void *shape, int number)
{
    static const struct {
        long long side;
        bool doubled;
    } list[] = {{3, false}, {2, true}, {4, false}, {3, true}};
    struct fc_tmesh_shape *s = shape;
    if (number >= (int)FC_COUNT(list)) return false;
    fc_cap_sides(&s->dims, list[number].side, list[number].doubled);
    return true;
}

/* Of chips. */
static bool grid(const struct fc_machine *machine, struct fc_grid *g)
{
    const struct fc_tmesh_shape *s = machine->shape;
    *g = (struct fc_grid){.n_dims = s->n_dims, .n_cells = s->n_chips, .routers = s->n_mesh, .nodes = s->n_computing};
    for (int d = 0; d < s->n_dims; d++) {
        g->k[d] = s->k[d];
        g->stride[d] = s->stride[d];
        g->ring[d] = true;
    }
    return true;
}

static uint32_t units(const struct fc_network *net, int index, uint32_t *label, char *name, size_t size)
{
    const struct fc_tmesh_shape *s = fc_tmesh(net);
    if (index > 0) return 0;
    for (uint32_t v = 0; v < net->n_routers; v++) label[v] = v / s->n_mesh;
    snprintf(name, size, "chips");
    return s->n_chips;
}

#define OFFSET(field) offsetof(struct fc_tmesh_shape, field)
static const struct fc_key keys[] = {
    {"dims", FC_KEY_INTS, FC_NUMBER, OFFSET(dims), 1, 65536, NULL, NULL, "chips in each torus dimension"},
    {"mesh", FC_KEY_INTS, FC_NUMBER, OFFSET(mesh), 1, FC_TMESH_MOST_LINES, NULL, NULL,
     "rows and columns of the chip's mesh"},
    {"bridges", FC_KEY_TEXT, FC_NUMBER, OFFSET(bridges), 0, 0, NULL, NULL,
     "mesh node (row by row, from 0) that hosts the NIC of each torus direction: {x-: 0, x+: 1, ...}"},
    {"router_nodes_compute", FC_KEY_BOOL, FC_NUMBER, OFFSET(router_nodes_compute), 0, 0, NULL, "false",
     "whether bridge nodes carry a core too"},
    {"mesh_order", FC_KEY_CHOICE, FC_NUMBER, OFFSET(mesh_order), 0, 0, orders, "row-first",
     "on-chip route: row-first goes along its row to the right column, then along the column (XY); "
     "column-first the "
     "other way"},
    {"vc_policy", FC_KEY_CHOICE, FC_NUMBER, OFFSET(vc_policy), 0, 0, policies, "six-vc",
     "virtual channels of mesh links: shared (2, the torus VC kept), separate (2 and one each for injection "
     "and "
     "ejection), six-vc (one a dimension and dateline side)"},
};

/* Every core to its place on the chip just short of half-way round the first dimension longer than 2: what leaves a chip leaves
 * over one bridge. */
static bool adversarial(const struct fc_network *net, uint32_t *to)
{
    const struct fc_tmesh_shape *s = fc_tmesh(net);
    int d = 0;
    while (d < s->n_dims && s->k[d] < 3) d++;
    if (d == s->n_dims) return false;
    for (uint32_t node = 0; node < net->n_nodes; node++) {
        uint32_t chip = node / s->n_computing, at = fc_tmesh_coordinate(s, chip, d), k = s->k[d];
        uint32_t other = chip - at * s->stride[d] + (at + (k + 1) / 2 - 1) % k * s->stride[d];
        to[node] = other * s->n_computing + node % s->n_computing;
    }
    return true;
}

const struct fc_family_ops fc_family_tmesh = {
    .name = "tmesh",
    .usage = "dims: [6, 6, 6]; mesh: [4, 4]; bridges: {x-: 0, y-: 2, z-: 4, x+: 1, y+: 3, z+: 5}; classes: "
             "torus, mesh",
    .source = "Liu, Xun, Cao & Sun, Co-design of on-chip networks and system interconnection networks (TMesh)",
    .shape_size = sizeof(struct fc_tmesh_shape),
    .keys = keys,
    .n_keys = FC_COUNT(keys),
    .default_routing = "dimension-order",
    .check = check,
    .build = build,
    .link_name = link_name,
    .vertex_name = vertex_name,
    .facts = facts,
    .words = words,
    .relative = relative,
    .grid = grid,
    .layout = &fc_tmesh_layout,
    .units = units,
    .adversarial = adversarial,
};
