/* machine_without.c - what is left of a machine when cables, routers or nodes fail, as a network of family `graph`.
 *
 * A family's own routes assume that all of it is there. What is left is therefore a graph: routers and nodes keep their names
 * and link classes, traffic splits over the shortest ways (routing_shortest.c), and destinations are spread over virtual
 * channels so that nothing waits in a circle (vc_layers.c). On fat-trees these are the ways over the parents that are left;
 * on tori and dragonflies a way round a gap may be longer than the family's own, and adaptivity is lost. Limits: a cable fails
 * in both directions; the k-th link from a to b and the k-th from b to a of a class are taken for one cable. */
#include "models/machine_without.h"
#include "core/hostlist.h"
#include "models/family_graph.h"
#include "models/hosts.h"

#include <stdlib.h>
#include <string.h>

enum { NAME = 300, MOST_PARTS = 64 };

struct loss {
    const struct fc_network *net;
    struct fc_machine *machine;
    struct fc_arena scratch;
    struct fc_host_index hosts;
    const char **router_name;   /* [n_routers] */
    bool *link, *router, *node; /* gone */
    bool cut;
    struct fc_status *st;
};

/* ---- names ---- */

static enum fc_code start(struct loss *l)
{
    const struct fc_network *net = l->net;
    char name[NAME];
    l->link = fc_alloc(&l->scratch, net->n_links, sizeof *l->link, l->st);
    l->router = fc_alloc(&l->scratch, net->n_routers, sizeof *l->router, l->st);
    l->node = fc_alloc(&l->scratch, net->n_nodes, sizeof *l->node, l->st);
    l->router_name = fc_alloc(&l->machine->arena, net->n_routers, sizeof *l->router_name, l->st);
    for (uint32_t r = 0; !l->st->code && r < net->n_routers; r++)
        l->router_name[r] = fc_copy_text(&l->machine->arena, fc_vertex_name(net, r, name, sizeof name), l->st);
    return l->st->code ? l->st->code : fc_host_index_start(net, &l->scratch, &l->hosts, l->st);
}

static bool lose_routers(struct loss *l, const char *name)
{
    bool found = false;
    for (uint32_t r = 0; r < l->net->n_routers; r++)
        if (!strcmp(l->router_name[r], name)) l->router[r] = found = true;
    return found;
}

static bool lose_node(struct loss *l, const char *name)
{
    const char *digits = strncmp(name, "node ", 5) ? name : name + 5;
    size_t length = strspn(digits, "0123456789");
    uint32_t node = fc_host_find(&l->hosts, name, strlen(name));
    if (node == FC_NONE && length > 0 && length < 10 && !digits[length]) node = (uint32_t)strtoul(digits, NULL, 10);
    if (node >= l->net->n_nodes) return false;
    l->node[node] = true;
    return true;
}

static enum fc_code unknown(const struct loss *l, const char *name)
{
    char link[NAME], router[NAME];
    return fc_refuse(l->st, FC_INPUT,
                     "'%.200s' is no link, router, node or host of %s (they are called '%s', '%s', 'node 0'%s%s)", name,
                     l->machine->name, fc_link_name(l->net, 0, link, sizeof link),
                     fc_vertex_name(l->net, 0, router, sizeof router), l->net->host_name ? ", " : "",
                     l->net->host_name && l->net->host_name[0] ? l->net->host_name[0] : "");
}

static enum fc_code add_name(void *context, const char *name, size_t length, uint32_t times, struct fc_place where,
                             struct fc_status *st)
{
    struct loss *l = context;
    char text[NAME];
    (void)times, (void)where, (void)st;
    snprintf(text, sizeof text, "%.*s", (int)(length < sizeof text ? length : sizeof text - 1), name);
    return lose_routers(l, text) || lose_node(l, text) ? FC_OK : unknown(l, text);
}

/* Number of link `l` among those of its class between the same vertices, and that one of the other direction. */
uint32_t fc_other_direction(const struct fc_network *net, uint32_t link)
{
    uint32_t a = net->link_source[link], b = net->link_target[link], number = 0;
    for (uint32_t l = net->first_link[a]; l < link; l++)
        number += net->link_target[l] == b && net->link_class[l] == net->link_class[link];
    for (uint32_t l = net->first_link[b]; l < net->first_link[b + 1]; l++)
        if (net->link_target[l] == a && net->link_class[l] == net->link_class[link] && number-- == 0) return l;
    return FC_NONE;
}

static enum fc_code lose_cable(struct loss *l, uint32_t link)
{
    char full[2 * NAME];
    uint32_t back = fc_other_direction(l->net, link);
    if (back == FC_NONE)
        return fc_refuse(l->st, FC_NO, "%s has no other direction (expected full-duplex cables)",
                         fc_link_name(l->net, link, full, sizeof full));
    l->link[link] = l->link[back] = true;
    return FC_OK;
}

/* Every link that is called so, or goes from the one place to the other where the name tells no class. */
static enum fc_code lose_links(struct loss *l, const char *name)
{
    const struct fc_network *net = l->net;
    char full[2 * NAME], from[NAME], to[NAME], between[2 * NAME];
    bool found = false;
    for (uint32_t k = 0; k < net->n_links; k++) {
        uint32_t a = net->link_source[k], b = net->link_target[k];
        snprintf(between, sizeof between, "%s->%s", fc_vertex_name(net, a, from, sizeof from),
                 fc_vertex_name(net, b, to, sizeof to));
        if (strcmp(between, name) && strcmp(fc_link_name(net, k, full, sizeof full), name)) continue;
        if (lose_cable(l, k)) return l->st->code;
        found = true;
    }
    return found ? FC_OK : unknown(l, name);
}

static enum fc_code lose(struct loss *l, char *name)
{
    while (*name == ' ') name++;
    for (size_t n = strlen(name); n && name[n - 1] == ' ';) name[--n] = 0;
    if (!*name) return fc_refuse(l->st, FC_INPUT, "an empty name in the list");
    if (strstr(name, "->")) return lose_links(l, name);
    if (lose_routers(l, name) || lose_node(l, name)) return FC_OK;
    if (!strpbrk(name, "[*")) return unknown(l, name);
    return fc_host_list_walk(name, strlen(name), add_name, l, (struct fc_place){NULL, 0}, l->st);
}

static enum fc_code lose_list(struct loss *l, const char *list)
{
    char *text = fc_copy_text(&l->scratch, list, l->st);
    while (text) {
        size_t length = fc_host_element(text, strlen(text));
        bool last = !text[length];
        text[length] = 0;
        if (lose(l, text) || last) break;
        text += length + 1;
    }
    return l->st->code;
}

/* ---- what follows from it ---- */

static const char *node_text(const struct loss *l, uint32_t node, char *out, size_t size)
{
    return fc_node_name(l->net, node, out, size);
}

/* Links of what is gone are gone; nodes whose routers are all gone are. FC_NO: cables alone cut a node off. */
static enum fc_code follow(struct loss *l)
{
    const struct fc_network *net = l->net;
    char name[NAME];
    for (uint32_t k = 0; k < net->n_links; k++) {
        uint32_t end[2] = {net->link_source[k], net->link_target[k]};
        for (int e = 0; e < 2; e++)
            if (fc_is_node(net, end[e]) ? l->node[end[e] - net->n_routers] : l->router[end[e]]) l->link[k] = true;
    }
    for (uint32_t node = 0; node < net->n_nodes; node++) {
        uint32_t v = fc_node_vertex(net, node), links = 0, routers = 0;
        for (uint32_t k = net->first_link[v]; k < net->first_link[v + 1]; k++) {
            links += !l->link[k];
            routers += !l->router[net->link_target[k]];
        }
        if (l->node[node] || links) continue;
        if (routers) l->cut = true;
        if (routers)
            return fc_refuse(l->st, FC_NO, "%s would have no cable left (leave it out too)",
                             node_text(l, node, name, sizeof name));
        l->node[node] = true;
    }
    return FC_OK;
}

/* The parts of the network that hang together: of each router, by searches over links that are left. */
static enum fc_code find_parts(struct loss *l, uint32_t *part, uint32_t *n_parts)
{
    const struct fc_network *net = l->net;
    uint32_t *queue = fc_alloc(&l->scratch, net->n_routers, sizeof *queue, l->st);
    *n_parts = 0;
    for (uint32_t r = 0; r < net->n_routers; r++) part[r] = FC_NONE;
    for (uint32_t r = 0; queue && r < net->n_routers; r++) {
        uint32_t head = 0, tail = 0;
        if (part[r] != FC_NONE || l->router[r]) continue;
        part[r] = *n_parts;
        for (queue[tail++] = r; head < tail; head++)
            for (uint32_t k = net->first_link[queue[head]]; k < net->first_link[queue[head] + 1]; k++) {
                uint32_t to = net->link_target[k];
                if (fc_is_node(net, to) || l->link[k] || part[to] != FC_NONE) continue;
                part[to] = *n_parts;
                queue[tail++] = to;
            }
        ++*n_parts;
    }
    return l->st->code;
}

/* Every two nodes have a path: they hang on routers of one part. */
static enum fc_code check_connected(struct loss *l)
{
    const struct fc_network *net = l->net;
    uint32_t n_parts, number[MOST_PARTS], n = 0, n_kinds = 0;
    uint32_t *part = fc_alloc(&l->scratch, net->n_routers, sizeof *part, l->st);
    struct {
        uint64_t parts;
        uint32_t node;
    } kind[MOST_PARTS];
    char a[NAME], b[NAME];
    if (!part || find_parts(l, part, &n_parts)) return l->st->code;
    for (uint32_t node = 0; n_parts > 1 && node < net->n_nodes; node++) {
        uint32_t v = fc_node_vertex(net, node), i;
        uint64_t parts = 0;
        for (uint32_t k = net->first_link[v]; !l->node[node] && k < net->first_link[v + 1]; k++) {
            if (l->link[k]) continue;
            for (i = 0; i < n && number[i] != part[net->link_target[k]]; i++) {
            }
            if (i == MOST_PARTS) break;
            if (i == n) number[n++] = part[net->link_target[k]];
            parts |= 1ull << i;
        }
        for (i = 0; i < n_kinds && kind[i].parts != parts; i++) {
        }
        if (l->node[node] || i < n_kinds) continue;
        for (i = 0; i < n_kinds; i++)
            if (!(kind[i].parts & parts)) {
                l->cut = true;
                return fc_refuse(l->st, FC_NO, "nothing would connect %s and %s",
                                 node_text(l, kind[i].node, a, sizeof a), node_text(l, node, b, sizeof b));
            }
        if (n_kinds < MOST_PARTS) {
            kind[n_kinds].parts = parts;
            kind[n_kinds++].node = node;
        }
    }
    return FC_OK;
}

/* ---- what is left ---- */

static const char *name_of_node(const struct loss *l, uint32_t node)
{
    char number[16];
    const char *host = l->net->host_name ? l->net->host_name[node] : NULL;
    snprintf(number, sizeof number, "%u", node);
    return fc_copy_text(&l->machine->arena, host ? host : number, l->st);
}

/* Numbers of what is left, in the old order: now[n]. */
static uint32_t renumber(const bool *gone, uint32_t n, uint32_t *now)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < n; i++) now[i] = gone[i] ? FC_NONE : left++;
    return left;
}

static void add_cables(const struct loss *l, const uint32_t *router, const uint32_t *node, struct fc_graph_shape *s)
{
    const struct fc_network *net = l->net;
    for (uint32_t a = 0; a < net->n_routers; a++)
        for (uint32_t k = net->first_link[a]; k < net->first_link[a + 1]; k++) {
            uint32_t b = net->link_target[k];
            bool to_node = fc_is_node(net, b);
            if (l->link[k] || (!to_node && b < a)) continue;
            s->cables[s->n_cables++] = (struct fc_cable){
                router[a], to_node ? node[b - net->n_routers] : router[b], to_node, net->link_class[k], 0, 0, 0};
        }
}

static enum fc_code tell(struct loss *l, const char *list)
{
    struct fc_machine *m = l->machine;
    if (!list) return FC_OK;
    size_t size = strlen(m->title) + (m->changes ? strlen(m->changes) : 0) + strlen(list) + 32;
    char *title = fc_alloc(&m->arena, size, 1, l->st), *changes = title ? fc_alloc(&m->arena, size, 1, l->st) : NULL;
    if (!changes) return l->st->code;
    snprintf(title, size, "%s%s(without %s)", m->title, *m->title ? " " : "", list);
    snprintf(changes, size, "%s%swithout %s", m->changes ? m->changes : "", m->changes ? ", " : "", list);
    m->title = title;
    m->changes = changes;
    return FC_OK;
}

static enum fc_code make(struct loss *l, const char *list, uint32_t *now)
{
    const struct fc_network *net = l->net;
    struct fc_machine *m = l->machine;
    struct fc_graph_shape *s = fc_alloc(&m->arena, 1, sizeof *s, l->st);
    uint32_t *router = fc_alloc(&l->scratch, net->n_routers, sizeof *router, l->st);
    if (!s || !router) return l->st->code;
    s->path = m->file;
    s->n_routers = renumber(l->router, net->n_routers, router);
    s->n_nodes = renumber(l->node, net->n_nodes, now);
    if (s->n_nodes == 0) return fc_refuse(l->st, FC_NO, "no node would be left");
    s->router_name = fc_alloc(&m->arena, s->n_routers, sizeof *s->router_name, l->st);
    s->node_name = fc_alloc(&m->arena, s->n_nodes, sizeof *s->node_name, l->st);
    s->cables = fc_alloc(&m->arena, net->n_links, sizeof *s->cables, l->st);
    if (!s->router_name || !s->node_name || !s->cables) return l->st->code;
    for (uint32_t r = 0; r < net->n_routers; r++)
        if (!l->router[r]) s->router_name[router[r]] = l->router_name[r];
    for (uint32_t n = 0; n < net->n_nodes; n++)
        if (!l->node[n]) s->node_name[now[n]] = name_of_node(l, n);
    if (l->st->code || tell(l, list)) return l->st->code;
    add_cables(l, router, now, s);
    if (net->node_kind) {
        uint8_t *kind = fc_alloc(&m->arena, s->n_nodes, sizeof *kind, l->st);
        for (uint32_t n = 0; kind && n < net->n_nodes; n++)
            if (now[n] != FC_NONE) kind[now[n]] = net->node_kind[n];
        m->kinds.of_node = kind;
    }
    if (net->node_slow) {
        uint8_t *slow = fc_alloc(&m->arena, s->n_nodes, sizeof *slow, l->st);
        for (uint32_t n = 0; slow && n < net->n_nodes; n++)
            if (now[n] != FC_NONE) slow[now[n]] = net->node_slow[n];
        m->slow_of_node = slow;
    }
    m->damaged = true;
    m->family = &fc_family_graph;
    m->shape = s;
    m->nodes_per_router = 1;
    m->hosts = m->hosts_file = NULL; /* the nodes' names are */
    return fc_machine_route(m, m->family->default_routing, l->st);
}

static bool any(const bool *gone, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (gone[i]) return true;
    return false;
}

/* Only nodes are gone: the network is what it was. */
static enum fc_code make_without_nodes(struct loss *l, const char *list, uint32_t *now)
{
    for (uint32_t n = 0; n < l->net->n_nodes; n++) now[n] = l->node[n] ? FC_NONE : n;
    return tell(l, list);
}

enum fc_code fc_machine_without(struct fc_machine *machine, const struct fc_network *net, const char *list,
                                struct fc_arena *arena, struct fc_remains *left, struct fc_status *st)
{
    struct loss l = {.net = net, .machine = machine, .st = st};
    *left = (struct fc_remains){.now = fc_alloc(arena, net->n_nodes, sizeof *left->now, st)};
    if (left->now && !start(&l) && !lose_list(&l, list)) {
        left->network = any(l.link, net->n_links) || any(l.router, net->n_routers);
        if (!left->network)
            make_without_nodes(&l, list, left->now);
        else if (!follow(&l) && !check_connected(&l))
            make(&l, list, left->now);
    }
    left->cut = l.cut;
    fc_arena_free(&l.scratch);
    return st->code;
}

enum fc_code fc_machine_without_cable(struct fc_machine *machine, const struct fc_network *net, uint32_t link,
                                      struct fc_arena *arena, struct fc_remains *left, struct fc_status *st)
{
    struct loss l = {.net = net, .machine = machine, .st = st};
    *left = (struct fc_remains){.now = fc_alloc(arena, net->n_nodes, sizeof *left->now, st), .network = true};
    if (left->now && !start(&l) && (link == FC_NONE || !lose_cable(&l, link)) && !follow(&l) && !check_connected(&l))
        make(&l, NULL, left->now);
    left->cut = l.cut;
    fc_arena_free(&l.scratch);
    return st->code;
}
