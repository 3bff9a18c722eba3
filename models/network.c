/* network.c - the network as CSR arrays, and what can be derived from them for every family: breadth-first distances,
 * link counts, mean distance. A hop is a router-to-router link; node links count nothing. */
#include "models/hosts.h"
#include "models/node_kinds.h"

#include <stdlib.h>

/* Where nodes hang on links of another class (fat-tree, graph), a slower injection link would be ignored. */
static enum fc_code check_injection(const struct fc_network *net, struct fc_status *st)
{
    const struct fc_machine *m = net->machine;
    int injection = fc_injection_class(m);
    double bandwidth = m->classes[injection].bandwidth_bytes_per_s;
    if (isinf(bandwidth) || net->n_nodes == 0) return FC_OK;
    for (uint32_t l = net->first_link[net->n_routers]; l < net->n_links; l++) {
        const struct fc_link_class *class = &m->classes[net->link_class[l]];
        char text[2][32];
        if (net->link_class[l] == injection) return FC_OK;
        if (class->bandwidth_bytes_per_s > bandwidth)
            return fc_fail(
                st, FC_INPUT, (struct fc_place){m->file, m->network_line},
                "links.injection: %s, but nodes of this %s hang on its links '%s' of %s (give those the lesser "
                "bandwidth)",
                fc_format(text[0], sizeof text[0], bandwidth, FC_BYTES_PER_S), m->family->name, class->name,
                fc_format(text[1], sizeof text[1], class->bandwidth_bytes_per_s, FC_BYTES_PER_S));
    }
    return FC_OK;
}

enum fc_code fc_network_build(const struct fc_machine *machine, struct fc_network *net, struct fc_status *st)
{
    memset(net, 0, sizeof *net);
    net->machine = machine;
    enum fc_code code = machine->family->build(machine, net, st);
    if (!code) code = check_injection(net, st);
    if (!code) code = fc_hosts_of_machine(net, st);
    if (!code) code = fc_node_kinds_assign(net, st);
    if (code) fc_network_free(net);
    if (code && !*st->file && !st->line) { /* what the arena refuses is the machine file's doing too */
        snprintf(st->file, sizeof st->file, "%s", machine->file);
        st->line = machine->network_line;
    }
    return code;
}

enum fc_code fc_network_fits(const struct fc_machine *machine, double n_vertices, double n_links, double more_bytes,
                             struct fc_status *st)
{
    struct fc_place where = {machine->file, machine->network_line};
    double need = 9 * n_links + 4 * (n_vertices + 1) + more_bytes, memory = (double)fc_memory_bytes();
    char text[2][32];
    if (n_links >= FC_NONE)
        return fc_fail(st, FC_NO, where, "network: %.4g links are too many (at most %u can be held)", n_links,
                       FC_NONE - 1);
    if (need <= memory) return FC_OK;
    char what[48] = "its tables";
    if (n_links > 0) snprintf(what, sizeof what, "%.0f links", n_links);
    return fc_fail(st, FC_NO, where, "network: %s need %s of memory (this machine allows %s)", what,
                   fc_format(text[0], sizeof text[0], need, FC_BYTES),
                   fc_format(text[1], sizeof text[1], memory, FC_BYTES));
}

FC_FREES(fc_network_free, fc_network)

enum fc_code fc_links_start(struct fc_link_list *list, struct fc_arena *arena, uint64_t capacity, struct fc_status *st)
{
    memset(list, 0, sizeof *list);
    if (capacity >= FC_NONE)
        return fc_refuse(st, FC_NO, "the network has %llu links (at most %u can be held)", (unsigned long long)capacity,
                         FC_NONE - 1);
    list->capacity = (uint32_t)capacity;
    list->source = fc_alloc(arena, capacity, sizeof *list->source, st);
    list->target = list->source ? fc_alloc(arena, capacity, sizeof *list->target, st) : NULL;
    list->link_class = list->target ? fc_alloc(arena, capacity, sizeof *list->link_class, st) : NULL;
    return list->link_class ? FC_OK : FC_NO;
}

enum fc_code fc_links_seal(struct fc_network *net, const struct fc_link_list *list, uint32_t *place,
                           struct fc_status *st)
{
    net->n_vertices = net->n_routers + net->n_nodes;
    net->n_links = list->n;
    net->first_link = fc_alloc(&net->arena, (size_t)net->n_vertices + 1, sizeof *net->first_link, st);
    if (!net->first_link) return st->code;
    bool sorted = true;
    for (uint32_t i = 0; i < list->n; i++) {
        net->first_link[list->source[i] + 1]++;
        sorted = sorted && (i == 0 || list->source[i - 1] <= list->source[i]);
    }
    for (uint32_t v = 0; v < net->n_vertices; v++) net->first_link[v + 1] += net->first_link[v];
    if (sorted) { /* added in vertex order: the list's arrays are the network's */
        net->link_source = list->source;
        net->link_target = list->target;
        net->link_class = list->link_class;
        for (uint32_t i = 0; place && i < list->n; i++) place[i] = i;
        return FC_OK;
    }
    net->link_source = fc_alloc(&net->arena, list->n, sizeof *net->link_source, st);
    net->link_target = fc_alloc(&net->arena, list->n, sizeof *net->link_target, st);
    net->link_class = fc_alloc(&net->arena, list->n, sizeof *net->link_class, st);
    uint32_t *next = fc_alloc(&net->arena, net->n_vertices, sizeof *next, st);
    if (!net->link_source || !net->link_target || !net->link_class || !next) return st->code;
    memcpy(next, net->first_link, net->n_vertices * sizeof *next);
    for (uint32_t i = 0; i < list->n; i++) {
        uint32_t at = next[list->source[i]]++;
        net->link_source[at] = list->source[i];
        net->link_target[at] = list->target[i];
        net->link_class[at] = list->link_class[i];
        if (place) place[i] = at;
    }
    return FC_OK;
}

uint32_t fc_find_link(const struct fc_network *net, uint32_t a, uint32_t b)
{
    for (uint32_t l = net->first_link[a]; l < net->first_link[a + 1]; l++)
        if (net->link_target[l] == b) return l;
    return FC_NONE;
}

void fc_distances(const struct fc_network *net, uint32_t from, uint32_t *distance, uint32_t *queue)
{
    memset(distance, 0xff, net->n_vertices * sizeof *distance);
    uint32_t head = 0, tail = 0;
    distance[from] = 0;
    queue[tail++] = from;
    if (fc_is_node(net, from)) { /* its routers are at distance 0 too: node links are no hops */
        head = 1;
        for (uint32_t l = net->first_link[from]; l < net->first_link[from + 1]; l++)
            if (distance[net->link_target[l]] == FC_NONE) {
                distance[net->link_target[l]] = 0;
                queue[tail++] = net->link_target[l];
            }
    }
    while (head < tail) {
        uint32_t v = queue[head++];
        for (uint32_t l = net->first_link[v]; l < net->first_link[v + 1]; l++) {
            uint32_t to = net->link_target[l];
            if (fc_is_node(net, to)) { /* a terminal: reached, never passed through */
                if (distance[to] == FC_NONE) distance[to] = distance[v];
            } else if (distance[to] == FC_NONE) {
                distance[to] = distance[v] + 1;
                queue[tail++] = to;
            }
        }
    }
}

/* Mean and greatest distance over all pairs of nodes by a search from every node. */
static enum fc_code facts_by_search(const struct fc_network *net, struct fc_facts *facts, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    uint32_t *distance = fc_alloc(&scratch, net->n_vertices, sizeof *distance, st);
    uint32_t *queue = fc_alloc(&scratch, net->n_vertices, sizeof *queue, st);
    if (!distance || !queue) return st->code;
    double sum = 0, greatest = 0;
    bool connected = true;
    for (uint32_t s = 0; s < net->n_nodes; s++) {
        fc_distances(net, fc_node_vertex(net, s), distance, queue);
        for (uint32_t d = 0; d < net->n_nodes; d++) {
            if (d == s) continue;
            uint32_t hops = distance[fc_node_vertex(net, d)];
            if (hops == FC_NONE)
                connected = false;
            else
                sum += hops;
            if (hops != FC_NONE && hops > greatest) greatest = hops;
        }
    }
    double n = net->n_nodes;
    facts->diameter_hops = connected ? greatest : (double)INFINITY;
    facts->mean_hops = connected ? sum / (n * n) : (double)INFINITY;
    return FC_OK;
}

enum fc_code fc_network_facts(const struct fc_network *net, struct fc_facts *facts, struct fc_status *st)
{
    memset(facts, 0, sizeof *facts);
    facts->n_nodes = net->n_nodes;
    facts->n_routers = net->n_routers;
    facts->diameter_hops = facts->mean_hops = facts->mean_hops_distinct = (double)NAN;
    facts->bisection_links = facts->bisection_bytes_per_s = (double)NAN;
    for (uint32_t l = 0; l < net->n_links; l++) facts->class_links[net->link_class[l]]++;
    if (net->machine->family->facts) net->machine->family->facts(net, facts);
    if (isnan(facts->mean_hops) || isnan(facts->diameter_hops)) {
        enum fc_code code = facts_by_search(net, facts, st);
        if (code) return code;
    }
    double n = net->n_nodes;
    facts->mean_hops_distinct = n > 1 ? facts->mean_hops * n / (n - 1) : 0;
    return FC_OK;
}

enum fc_code fc_walk_start(struct fc_walk *walk, uint32_t capacity, struct fc_status *st)
{
    memset(walk, 0, sizeof *walk);
    walk->link = malloc((size_t)capacity * sizeof *walk->link);
    walk->weight = malloc((size_t)capacity * sizeof *walk->weight);
    walk->capacity = capacity;
    if (walk->link && walk->weight) return FC_OK;
    fc_walk_free(walk);
    return fc_out_of_memory(st, "a route of %u links", capacity);
}

void fc_walk_free(struct fc_walk *walk)
{
    free(walk->link);
    free(walk->weight);
    if (walk->kept) walk->forget(walk->kept);
    memset(walk, 0, sizeof *walk);
}

uint64_t fc_machine_cores(const struct fc_network *net)
{
    uint64_t cores = 0;
    if (!net->node_kind) return (uint64_t)net->n_nodes * (uint64_t)net->machine->cores_per_node;
    for (uint32_t n = 0; n < net->n_nodes; n++) cores += (uint64_t)fc_node_cores(net, n);
    return cores;
}
