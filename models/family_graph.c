/* family_graph.c - any network of routers, nodes and full-duplex cables, read from a fabric file.
 *
 * The file's format is read by its own reader (read_*.c) when the machine file is checked; here its cables
 * become links, two a cable. A node may hang on several routers (rails). Nodes are numbered in natural order
 * of their names (n2 before n10), the order of Slurm's node lists. Parts without a path between them are
 * allowed, as in a real topology.conf without a root: routing refuses traffic between them. Limits: distances
 * are hops, every cable alike. */
#include "core/values.h"
#include "models/family_graph.h"
#include "models/hosts.h"

#include "models/family_parts.h"
#include "models/machine_files.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    enum fc_code (*read)(struct fc_graph_reader *reader, struct fc_status *st);
} formats[] = {
    {"ibnetdiscover", fc_read_ibnetdiscover}, {"slurm-topology", fc_read_slurm_topology},
    {"edge-list", fc_read_edge_list},         {"cray-xname", fc_read_cray_tiles},
    {"kubernetes", fc_read_kubernetes},
};
#define FORMATS "ibnetdiscover, slurm-topology, edge-list, cray-xname, kubernetes"

/* The files of a list. */
static enum fc_code read_routes(struct fc_machine *machine, const char *list, struct fc_place where,
                                struct fc_status *st)
{
    struct fc_graph_shape *s = machine->shape;
    size_t n = 1;
    for (const char *c = list; *c; c++) n += *c == ',';
    const char **path = fc_alloc(&machine->arena, n, sizeof *path, st);
    char *text = fc_copy_text(&machine->arena, list, st);
    n = 0;
    for (char *comma; path && text; text = comma ? comma + 1 : NULL) {
        comma = strchr(text, ',');
        if (comma) *comma = 0;
        if (!*text) return fc_fail(st, FC_INPUT, where, "network.routes: an empty name (expected files of tables)");
        if (!(path[n++] = fc_machine_beside(machine, text, st))) return st->code;
    }
    if (st->code) return st->code;
    s->routes_path = path[0];
    return fc_read_routes(machine, path, n, st);
}

static enum fc_code check(struct fc_machine *machine, struct fc_place where, struct fc_status *st)
{
    struct fc_graph_shape *s = machine->shape;
    struct fc_graph_reader reader = {.machine = machine, .shape = s};
    size_t format = 0;
    if (!s->file || !*s->file) return fc_fail(st, FC_INPUT, where, "network.file is missing (the fabric file)");
    if (!s->format) return fc_fail(st, FC_INPUT, where, "network.format is missing (expected one of: " FORMATS ")");
    while (format < FC_COUNT(formats) && strcmp(formats[format].name, s->format)) format++;
    if (format == FC_COUNT(formats))
        return fc_fail(st, FC_INPUT, where, "network.format: '%s' is unknown (expected one of: " FORMATS ")",
                       s->format);
    s->path = fc_machine_beside(machine, s->file, st);
    if (!s->path || fc_read_file(s->path, &machine->arena, &reader.text, st)) return st->code;
    if (memchr(reader.text.data, 0, reader.text.size))
        return fc_fail(st, FC_INPUT, (struct fc_place){s->path, 0}, "is not a text file (expected %s)", s->format);
    machine->n_classes = 0;
    if (formats[format].read(&reader, st) || fc_graph_finish(&reader, st)) return st->code;
    return s->routes ? read_routes(machine, s->routes, where, st) : FC_OK;
}

/* ---- groups: nodes with the same routers ---- */

/* Routers of each node, sorted: targets[first_link[node] - first node link ..]. */
struct attachments {
    const struct fc_network *net;
    uint32_t *targets;
};

static int compare_attachments(const struct attachments *at, uint32_t a, uint32_t b)
{
    const uint32_t *first = at->net->first_link + at->net->n_routers, base = first[0];
    uint32_t n = first[a + 1] - first[a], m = first[b + 1] - first[b];
    for (uint32_t i = 0; i < n && i < m; i++) {
        int order = fc_by_number(&at->targets[first[a] - base + i], &at->targets[first[b] - base + i]);
        if (order) return order;
    }
    return (n > m) - (n < m);
}

static int by_attachment(const void *a, const void *b, void *context)
{
    int order = compare_attachments(context, *(const uint32_t *)a, *(const uint32_t *)b);
    return order ? order : fc_by_number(a, b);
}

static enum fc_code find_groups(struct fc_network *net, struct fc_graph_tables *t, struct fc_arena *scratch,
                                struct fc_status *st)
{
    const uint32_t *first = net->first_link + net->n_routers;
    uint32_t n = net->n_nodes, n_targets = net->n_links - first[0];
    struct attachments at = {net, fc_alloc(scratch, n_targets, sizeof *at.targets, st)};
    t->group = fc_alloc(&net->arena, n, sizeof *t->group, st);
    t->member = fc_alloc(&net->arena, n, sizeof *t->member, st);
    t->first_member = fc_alloc(&net->arena, (size_t)n + 1, sizeof *t->first_member, st);
    if (!at.targets || !t->group || !t->member || !t->first_member) return st->code;
    memcpy(at.targets, net->link_target + first[0], n_targets * sizeof *at.targets);
    for (uint32_t i = 0; i < n; i++) {
        qsort(at.targets + first[i] - first[0], first[i + 1] - first[i], sizeof *at.targets, fc_by_number);
        t->member[i] = i;
    }
    qsort_r(t->member, n, sizeof *t->member, by_attachment, &at);
    for (uint32_t i = 0; i < n; i++) {
        if (i == 0 || compare_attachments(&at, t->member[i - 1], t->member[i])) t->first_member[t->n_groups++] = i;
        t->group[t->member[i]] = t->n_groups - 1;
    }
    t->first_member[t->n_groups] = n;
    return FC_OK;
}

/* Hops to the nearest of the n routers in the queue, which have 0, others FC_FAR, by breadth-first search over cables. */
static enum fc_code spread(const struct fc_network *net, uint16_t *hops, uint32_t *queue, uint32_t n,
                           struct fc_status *st)
{
    for (uint32_t head = 0; head < n; head++) {
        uint32_t v = queue[head];
        if (hops[v] == FC_FAR - 1)
            return fc_refuse(st, FC_NO, "%s: paths of %u hops are too long", fc_graph(net)->path, FC_FAR);
        for (uint32_t l = net->first_link[v]; l < net->first_link[v + 1]; l++) {
            uint32_t to = net->link_target[l];
            if (fc_is_node(net, to)) break; /* links to nodes come last */
            if (hops[to] != FC_FAR) continue;
            hops[to] = (uint16_t)(hops[v] + 1);
            queue[n++] = to;
        }
    }
    return FC_OK;
}

/* Hops from every router to the group's nearest router. */
static enum fc_code measure(const struct fc_network *net, const struct fc_graph_tables *t, uint32_t group,
                            uint32_t *queue, struct fc_status *st)
{
    uint16_t *hops = t->hops + (size_t)group * net->n_routers;
    uint32_t node = fc_node_vertex(net, t->member[t->first_member[group]]), n = 0;
    memset(hops, 0xff, net->n_routers * sizeof *hops);
    for (uint32_t l = net->first_link[node]; l < net->first_link[node + 1]; l++) {
        uint32_t router = net->link_target[l];
        if (hops[router] == 0) continue;
        hops[router] = 0;
        queue[n++] = router;
    }
    return spread(net, hops, queue, n, st);
}

/* ---- stops ---- */

/* Whether every group has one router that no other has; then the groups are the stops, and stop[group] is that router. */
static bool groups_are_stops(const struct fc_network *net, const struct fc_graph_tables *t, bool *met)
{
    memset(met, 0, net->n_routers * sizeof *met);
    for (uint32_t g = 0; g < t->n_groups; g++) {
        uint32_t v = fc_node_vertex(net, t->member[t->first_member[g]]), router = net->link_target[net->first_link[v]];
        for (uint32_t l = net->first_link[v]; l < net->first_link[v + 1]; l++)
            if (net->link_target[l] != router) return false;
        if (met[router]) return false;
        met[router] = true;
        t->stop[g] = router;
    }
    return true;
}

static enum fc_code find_stops(struct fc_network *net, struct fc_graph_tables *t, struct fc_arena *scratch,
                               uint32_t *queue, struct fc_status *st)
{
    bool *met = fc_alloc(scratch, net->n_routers, sizeof *met, st);
    t->stop = fc_alloc(&net->arena, net->n_routers > t->n_groups ? net->n_routers : t->n_groups, sizeof *t->stop, st);
    if (!met || !t->stop) return st->code;
    t->farthest = 1;
    if (groups_are_stops(net, t, met)) {
        t->n_stops = t->n_groups;
        t->stop_hops = t->hops;
    } else {
        memset(met, 0, net->n_routers * sizeof *met);
        for (uint32_t l = net->first_link[net->n_routers]; l < net->n_links; l++) met[net->link_target[l]] = true;
        for (uint32_t v = 0; v < net->n_routers; v++)
            if (met[v]) t->stop[t->n_stops++] = v;
        t->stop_hops = fc_alloc(&net->arena, t->n_stops, net->n_routers * sizeof *t->stop_hops, st);
        for (uint32_t s = 0; t->stop_hops && s < t->n_stops; s++) {
            uint16_t *hops = t->stop_hops + (size_t)s * net->n_routers;
            memset(hops, 0xff, net->n_routers * sizeof *hops);
            hops[t->stop[s]] = 0;
            queue[0] = t->stop[s];
            if (spread(net, hops, queue, 1, st)) return st->code;
        }
    }
    for (uint32_t s = 0; t->stop_hops && s < t->n_stops; s++)
        for (uint32_t to = 0; to < t->n_stops; to++) {
            uint16_t h = t->stop_hops[(size_t)s * net->n_routers + t->stop[to]];
            if (h != FC_FAR && h > t->farthest) t->farthest = h;
        }
    return st->code;
}

/* Of hops to groups, between stops at most, and up*-down*. */
static double tables_bytes(const struct fc_network *net, const struct fc_graph_tables *t)
{
    bool updown = net->machine->routing == &fc_routing_updown;
    return 2.0 * net->n_routers * ((updown ? 3.0 : 1.0) * t->n_groups + net->n_routers);
}

static enum fc_code tabulate(struct fc_network *net, struct fc_graph_tables *t, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    uint32_t *queue = fc_alloc(&scratch, net->n_routers, sizeof *queue, st), most = 0;
    if (!queue || find_groups(net, t, &scratch, st) || fc_network_fits(net->machine, 0, 0, tables_bytes(net, t), st))
        return st->code;
    if (!(t->hops = fc_alloc(&net->arena, t->n_groups, net->n_routers * sizeof *t->hops, st))) return st->code;
    for (uint32_t group = 0; group < t->n_groups; group++)
        if (measure(net, t, group, queue, st)) return st->code;
    for (uint32_t v = net->n_routers; v < net->n_vertices; v++)
        if (net->first_link[v + 1] - net->first_link[v] > most) most = net->first_link[v + 1] - net->first_link[v];
    /* A route uses a cable in one direction at most, and the walk needs a number a router of scratch. */
    uint64_t capacity = 2ull * most + net->n_links / 2 + net->n_routers;
    t->walk_capacity = capacity < FC_NONE ? (uint32_t)capacity : FC_NONE;
    if (find_stops(net, t, &scratch, queue, st)) return st->code;
    if (net->machine->routing == &fc_routing_updown && (t->updown = fc_alloc(&net->arena, 1, sizeof *t->updown, st)))
        fc_graph_updown(net, &net->arena, t->updown, st);
    return st->code;
}

/* ---- building ---- */

static enum fc_code build(const struct fc_machine *machine, struct fc_network *net, struct fc_status *st)
{
    const struct fc_graph_shape *s = machine->shape;
    struct fc_link_list list;
    struct fc_graph_tables *t = fc_alloc(&net->arena, 1, sizeof *t, st);
    uint32_t n_links = 2 * s->n_cables;
    if (!t || fc_links_start(&list, &net->arena, n_links, st)) return st->code;
    t->cable = fc_alloc(&net->arena, n_links, sizeof *t->cable, st);
    t->reverse = fc_alloc(&net->arena, n_links, sizeof *t->reverse, st);
    uint32_t *order = fc_alloc(&net->arena, s->n_cables, sizeof *order, st);
    uint32_t *place = fc_alloc(&net->arena, n_links, sizeof *place, st);
    if (!t->cable || !t->reverse || !order || !place) return st->code;
    net->n_routers = s->n_routers;
    net->n_nodes = s->n_nodes;
    net->extra = t;
    for (int to_node = 0; to_node < 2; to_node++) /* the order of links within a router */
        for (uint32_t i = 0; i < s->n_cables; i++) {
            const struct fc_cable *c = &s->cables[i];
            if (c->to_node != (bool)to_node) continue;
            uint32_t other = to_node ? s->n_routers + c->other : c->other;
            order[list.n / 2] = i;
            fc_links_add(&list, c->router, other, c->link_class);
            fc_links_add(&list, other, c->router, c->link_class);
        }
    if (fc_links_seal(net, &list, place, st)) return st->code;
    for (uint32_t i = 0; i < n_links; i++) {
        t->cable[place[i]] = order[i / 2];
        t->reverse[place[i]] = place[i ^ 1];
    }
    return tabulate(net, t, st) || !s->forward ? st->code : fc_forwarding_build(net, st);
}

/* ---- names ---- */

/* The file's name; a bare number gets its kind. */
static void vertex_name(const struct fc_network *net, uint32_t vertex, char *out, size_t size)
{
    const struct fc_graph_shape *s = fc_graph(net);
    bool node = fc_is_node(net, vertex);
    const char *name = node ? s->node_name[vertex - net->n_routers] : s->router_name[vertex];
    bool number = name[0] >= '0' && name[0] <= '9';
    snprintf(out, size, "%s%s", !number ? "" : node ? "node " : "router ", name);
}

/* "4xEDR leaf1[13]->spine2[19]" with the ports where the file tells them, else the cable of several. */
static void link_name(const struct fc_network *net, uint32_t link, char *out, size_t size)
{
    const struct fc_graph_tables *t = net->extra;
    const struct fc_cable *c = &fc_graph(net)->cables[t->cable[link]];
    uint32_t a = net->link_source[link], b = net->link_target[link], parallel = 0, nth = 0;
    uint32_t from_port = a == c->router ? c->port : c->other_port, to_port = a == c->router ? c->other_port : c->port;
    char from[300], to[300], ports[2][16] = {"", ""};
    vertex_name(net, a, from, sizeof from);
    vertex_name(net, b, to, sizeof to);
    if (from_port) snprintf(ports[0], sizeof ports[0], "[%u]", from_port);
    if (to_port) snprintf(ports[1], sizeof ports[1], "[%u]", to_port);
    int n = snprintf(out, size, "%s %s%s->%s%s", net->machine->classes[net->link_class[link]].name, from, ports[0], to,
                     ports[1]);
    for (uint32_t l = net->first_link[a]; l < net->first_link[a + 1]; l++) {
        if (l == link) nth = parallel;
        parallel += net->link_target[l] == b;
    }
    if (!from_port && parallel > 1 && n > 0 && (size_t)n < size) snprintf(out + n, size - (size_t)n, " cable %u", nth);
}

/* Whether a path leads from the first router of the group to a router of the other. */
static bool reaches(const struct fc_network *net, uint32_t group, uint32_t other)
{
    const struct fc_graph_tables *t = net->extra;
    uint32_t v = fc_node_vertex(net, t->member[t->first_member[group]]);
    return t->hops[(size_t)other * net->n_routers + net->link_target[net->first_link[v]]] != FC_FAR;
}

/* Nodes that a path from the first node of the group joins. */
static uint32_t joined(const struct fc_network *net, uint32_t group)
{
    const struct fc_graph_tables *t = net->extra;
    uint32_t n = 0;
    for (uint32_t g = 0; g < t->n_groups; g++)
        if (reaches(net, group, g)) n += t->first_member[g + 1] - t->first_member[g];
    return n;
}

/* Where no path joins the first node and another: the first such node. */
static int note_parts(const struct fc_network *net, char *out, size_t size)
{
    const struct fc_graph_tables *t = net->extra;
    uint32_t first = t->group[0], far = FC_NONE;
    char a[96], b[96];
    for (uint32_t n = 0; n < net->n_nodes && far == FC_NONE; n++)
        if (!reaches(net, first, t->group[n])) far = n;
    if (far == FC_NONE) return 0;
    return snprintf(
        out, size,
        "not connected: no path joins %s (with %u nodes) and %s (with %u), so traffic between such is refused; ",
        fc_node_name(net, 0, a, sizeof a), joined(net, first), fc_node_name(net, far, b, sizeof b),
        joined(net, t->group[far]));
}

static void note(const struct fc_network *net, char *out, size_t size)
{
    const struct fc_graph_shape *s = fc_graph(net);
    int n = note_parts(net, out, size);
    if (n < 0 || (size_t)n >= size) return;
    out += n;
    size -= (size_t)n;
    n = 0;
    if (s->n_unnamed)
        n = snprintf(out, size, "%u adapters without a host name %s; ", s->n_unnamed,
                     s->unnamed ? "are nodes of their own" : "are left out (network.unnamed: node keeps them)");
    if (s->n_aggregation && n >= 0 && (size_t)n < size)
        snprintf(out + n, size - (size_t)n, "%u in-switch reduction engines are no hosts; ", s->n_aggregation);
}

uint32_t fc_graph_by_falling_hops(const uint16_t *hops, uint32_t n, uint32_t *first, uint32_t *order)
{
    uint32_t farthest = 0, at = 0;
    memset(first, 0, (n + 1ull) * sizeof *first);
    for (uint32_t v = 0; v < n; v++) {
        if (hops[v] == FC_FAR) continue;
        first[hops[v]]++;
        if (hops[v] > farthest) farthest = hops[v];
    }
    for (uint32_t h = farthest + 1; h-- > 0;) {
        uint32_t count = first[h];
        first[h] = at;
        at += count;
    }
    for (uint32_t v = 0; v < n; v++)
        if (hops[v] != FC_FAR) order[first[hops[v]]++] = v;
    return at;
}

/* Tables that are given are what the fabric does. */
static const char *routing_of(const struct fc_machine *machine)
{
    const struct fc_graph_shape *s = machine->shape;
    return s->routes ? "tables" : "shortest";
}

static const char *const *node_names(const struct fc_network *net)
{
    return fc_graph(net)->node_name;
}

/* A file is one network. */
static void words(const struct fc_machine *machine, char *out, size_t size)
{
    fc_words_text(out, size, "machine", machine->name);
}

#define OFFSET(field) offsetof(struct fc_graph_shape, field)
static const char *const unnamed_choices[] = {"skip", "node", NULL};
static const struct fc_key keys[] = {
    {"file", FC_KEY_TEXT, FC_NUMBER, OFFSET(file), 0, 0, NULL, NULL, "fabric file, relative to the machine file"},
    {"format", FC_KEY_TEXT, FC_NUMBER, OFFSET(format), 0, 0, NULL, NULL, FORMATS},
    {"routes", FC_KEY_TEXT, FC_NUMBER, OFFSET(routes), 0, 0, NULL, NULL,
     "forwarding tables of the switches: a file or a list of them, relative to the machine file"},
    {"unnamed", FC_KEY_CHOICE, FC_NUMBER, OFFSET(unnamed), 0, 0, unnamed_choices, "skip",
     "ibnetdiscover: adapters whose description names no host are left out (skip) or a node each (node)"},
};

const struct fc_family_ops fc_family_graph = {
    .name = "graph",
    .usage =
        "file: fabric.txt; format: ibnetdiscover | slurm-topology | edge-list | cray-xname | kubernetes; classes: as the file "
        "names them",
    .source = "ibnetdiscover(8), topology.conf(5), BookSim 2 anynet",
    .shape_size = sizeof(struct fc_graph_shape),
    .keys = keys,
    .n_keys = FC_COUNT(keys),
    .default_routing = "shortest",
    .layout = &fc_graph_layout,
    .check = check,
    .build = build,
    .link_name = link_name,
    .vertex_name = vertex_name,
    .note = note,
    .words = words,
    .queueing_by_theory = true,
    .node_names = node_names,
    .routing_of = routing_of,
};
