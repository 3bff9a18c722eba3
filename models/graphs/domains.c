/* domains.c - a tree of places (blocks, racks, rooms) as a network without oversubscription.
 *
 * Schedulers describe which nodes share a place, not the cables. Every place is a router here, and every node has a cable of
 * its own all the way up: node - innermost place by one cable of the class `leaf`, a place of level l with n nodes - the place
 * around it by n cables of the class `level<l>`. So no place is a bottleneck until the machine file makes it one, by the
 * bandwidth of a class; what is told apart is the distance. */
#include "models/graphs/domains.h"

#include <string.h>

static enum fc_code reserve(struct fc_domains *d, uint32_t router, struct fc_status *st)
{
    if (router < d->capacity) return FC_OK;
    uint32_t capacity = d->capacity ? 2 * d->capacity : 64;
    struct fc_domain *of = fc_alloc(&d->reader->machine->arena, capacity, sizeof *of, st);
    if (!of) return st->code;
    if (d->capacity) memcpy(of, d->of, d->capacity * sizeof *of);
    d->of = of;
    d->capacity = capacity;
    return reserve(d, router, st);
}

enum fc_code fc_domains_add(struct fc_domains *d, const char *node, const char *const *path, uint32_t n_path,
                            struct fc_place where, struct fc_status *st)
{
    struct fc_graph_reader *r = d->reader;
    uint32_t above = FC_NONE, before = r->nodes.n, number;
    uint8_t leaf;
    for (uint32_t i = 0; i < n_path; i++) {
        uint32_t place;
        if (fc_graph_names_add(&r->routers, &r->machine->arena, path[i], strlen(path[i]), &place, where, st) ||
            reserve(d, place, st))
            return st->code;
        struct fc_domain *of = &d->of[place];
        if (of->known && of->parent != above)
            return fc_fail(st, FC_INPUT, where, "'%s' is in '%s', and in '%s' elsewhere (expected one place)", path[i],
                           above == FC_NONE ? "nothing" : r->routers.name[above],
                           of->parent == FC_NONE ? "nothing" : r->routers.name[of->parent]);
        if (!of->known || of->level < n_path - i) of->level = n_path - i;
        of->known = true;
        of->parent = above;
        of->n_nodes++;
        above = place;
    }
    if (fc_graph_names_add(&r->nodes, &r->machine->arena, node, strlen(node), &number, where, st)) return st->code;
    if (number < before) return fc_fail(st, FC_INPUT, where, "node '%s' is listed twice", node);
    struct fc_cable cable = {.router = above, .other = number, .to_node = true};
    if (fc_graph_class(r, "leaf", 0, 0, &leaf, where, st)) return st->code;
    cable.link_class = leaf;
    return fc_graph_add_cable(r, &cable, st);
}

enum fc_code fc_domains_finish(struct fc_domains *d, struct fc_status *st)
{
    struct fc_graph_reader *r = d->reader;
    struct fc_place where = {r->text.file, 0};
    uint32_t n = r->routers.n, n_tops = 0, top = FC_NONE;
    for (uint32_t p = 0; p < n; p++) n_tops += d->of[p].parent == FC_NONE;
    if (n_tops > 1) {
        if (fc_graph_names_add(&r->routers, &r->machine->arena, "network", strlen("network"), &top, where, st))
            return st->code;
        if (top < n) return fc_fail(st, FC_INPUT, where, "a place is called network (expected another name)");
    }
    for (uint32_t p = 0; p < n; p++) {
        struct fc_cable cable = {.router = p, .other = d->of[p].parent == FC_NONE ? top : d->of[p].parent};
        char class[32];
        if (cable.other == FC_NONE) continue;
        snprintf(class, sizeof class, "level%u", d->of[p].level);
        if (fc_graph_class(r, class, 0, 0, &cable.link_class, where, st)) return st->code;
        for (uint32_t k = 0; k < d->of[p].n_nodes; k++)
            if (fc_graph_add_cable(r, &cable, st)) return st->code;
    }
    return FC_OK;
}
