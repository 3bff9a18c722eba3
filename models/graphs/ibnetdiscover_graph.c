/* ibnetdiscover_graph.c - from the devices and cable ends of an InfiniBand fabric to routers, nodes and
 * cables.
 *
 * Every cable is listed at both ends, which must agree in ports and speed; one end suffices when the other
 * device has no record (not queried) or is an adapter. Adapters "HOST DEVICE" (HCA-1, mlx5_5, ...) of one
 * HOST are the rails of one node; a description of one word, or none, names a node by itself. "Aggregation
 * Node" adapters (SHARP reduction engines inside switches) are no hosts and are left out. An adapter with the
 * maker's description (no host name) is left out or a node of its own (network.unnamed). IB routers (Rt)
 * count as switches. */
#include "models/graphs/ibnetdiscover.h"

#include <stdlib.h>
#include <string.h>

/* ---- devices become routers and nodes ---- */

/* Splits "HOST DEVICE"; the device is empty for a description of one word. False: no host name. */
static bool host_of(const char *description, size_t *host, const char **adapter)
{
    *host = strcspn(description, " \t");
    *adapter = description + *host + strspn(description + *host, " \t");
    size_t length = strcspn(*adapter, " \t");
    if (*host == 0 || (*adapter)[length]) return false;
    return length == 0 || ((*adapter)[length - 1] >= '0' && (*adapter)[length - 1] <= '9');
}

static enum fc_code add_adapter(struct fc_ib_fabric *f, uint32_t number, struct fc_names *adapters, long *lines)
{
    struct fc_graph_reader *r = f->reader;
    struct fc_ib_device *d = &f->devices[number];
    const char *id = f->ids.name[number], *adapter = "", *name = d->description ? d->description : id;
    size_t host = strlen(name);
    struct fc_place where = fc_ib_place(f, d->first_line);
    if (strstr(name, "Aggregation Node")) {
        d->left_out = true;
        r->shape->n_aggregation++;
        return FC_OK;
    }
    if (d->description && !host_of(name, &host, &adapter)) {
        r->shape->n_unnamed++;
        d->left_out = r->shape->unnamed == FC_UNNAMED_SKIP;
        if (d->left_out) return FC_OK;
        name = id;
        host = strlen(id);
    }
    uint32_t same, before = adapters->n;
    if (fc_graph_names_add(adapters, &f->scratch, name, strlen(name), &same, where, f->st)) return f->st->code;
    if (adapters->n == before)
        return fc_fail(f->st, FC_INPUT, where, "a second adapter is called '%s' (the first is on line %ld)", name,
                       lines[same]);
    lines[same] = d->first_line;
    return fc_graph_names_add(&r->nodes, &r->machine->arena, name, host, &d->vertex, where, f->st);
}

/* "S-0002c9..." 0: it is none. */
static uint64_t guid_of(const char *id)
{
    char *end = NULL;
    unsigned long long guid = strlen(id) > 2 && id[1] == '-' ? strtoull(id + 2, &end, 16) : 0;
    return guid && !*end ? guid : 0;
}

/* Switches are called by their description where that is theirs alone, else by their GUID. */
static enum fc_code add_devices(struct fc_ib_fabric *f)
{
    struct fc_graph_reader *r = f->reader;
    struct fc_names adapters = {0}, descriptions = {0};
    long *lines = fc_alloc(&f->scratch, f->n_devices, sizeof *lines, f->st);
    uint32_t *uses = fc_alloc(&f->scratch, f->n_devices, sizeof *uses, f->st), number;
    r->guid = fc_alloc(&r->machine->arena, f->n_devices, sizeof *r->guid, f->st);
    if (!lines || !uses || !r->guid) return f->st->code;
    for (uint32_t i = 0; i < f->n_devices; i++) {
        const struct fc_ib_device *d = &f->devices[i];
        if (d->kind == FC_IB_UNKNOWN)
            return fc_fail(f->st, FC_INPUT, fc_ib_place(f, d->first_line), "device '%s' is cabled but has no record",
                           f->ids.name[i]);
        if (d->kind != FC_IB_SWITCH || !d->description || !*d->description) continue;
        if (fc_graph_names_add(&descriptions, &f->scratch, d->description, strlen(d->description), &number,
                               fc_ib_place(f, d->first_line), f->st))
            return f->st->code;
        uses[number]++;
    }
    for (uint32_t i = 0; i < f->n_devices; i++) {
        struct fc_ib_device *d = &f->devices[i];
        if (d->kind == FC_IB_ADAPTER) {
            if (add_adapter(f, i, &adapters, lines)) return f->st->code;
            continue;
        }
        const char *name = d->description && *d->description ? d->description : f->ids.name[i];
        number = fc_names_find(&descriptions, name, strlen(name));
        if (number != FC_NONE && uses[number] > 1) name = f->ids.name[i];
        struct fc_place where = fc_ib_place(f, d->first_line);
        uint32_t before = r->routers.n;
        if (fc_graph_names_add(&r->routers, &r->machine->arena, name, strlen(name), &d->vertex, where, f->st))
            return f->st->code;
        if (r->routers.n == before)
            return fc_fail(f->st, FC_INPUT, where, "'%s' is the description of one switch and the GUID of another",
                           name);
        r->guid[r->n_guids++] = guid_of(f->ids.name[i]);
    }
    return FC_OK;
}

/* ---- ends become cables ---- */

static int by_port(const void *a, const void *b)
{
    const struct fc_ib_end *x = a, *y = b;
    if (x->device != y->device) return x->device < y->device ? -1 : 1;
    if (x->port != y->port) return x->port < y->port ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

static int by_remote(const void *a, const void *b)
{
    const struct fc_ib_end *x = *(const struct fc_ib_end *const *)a, *y = *(const struct fc_ib_end *const *)b;
    if (x->remote != y->remote) return x->remote < y->remote ? -1 : 1;
    if (x->remote_port != y->remote_port) return x->remote_port < y->remote_port ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

/* `mate`: the other end where it is listed too, else NULL. */
static enum fc_code add_cable(struct fc_ib_fabric *f, const struct fc_ib_end *e, const struct fc_ib_end *mate,
                              uint8_t link_class)
{
    const struct fc_ib_device *a = &f->devices[e->device], *b = &f->devices[e->remote];
    bool swap = a->kind == FC_IB_ADAPTER;
    if (e->device == e->remote)
        return fc_fail(f->st, FC_INPUT, fc_ib_place(f, e->line), "a cable joins '%s' to itself",
                       f->ids.name[e->device]);
    if (a->kind == FC_IB_ADAPTER && b->kind == FC_IB_ADAPTER)
        return fc_fail(f->st, FC_INPUT, fc_ib_place(f, e->line),
                       "a cable joins two adapters (expected a switch at one end)");
    if (a->left_out || b->left_out) return FC_OK;
    if (link_class == FC_IB_NO_SPEED &&
        fc_graph_class(f->reader, "link", 0, 0, &link_class, fc_ib_place(f, e->line), f->st))
        return f->st->code;
    struct fc_cable cable = {
        swap ? b->vertex : a->vertex,    swap ? a->vertex : b->vertex,    a->kind != b->kind,           link_class,
        swap ? e->remote_port : e->port, swap ? e->port : e->remote_port, swap ? e->lid : e->remote_lid};
    if (cable.to_node && !cable.lid && mate) cable.lid = swap ? mate->remote_lid : mate->lid;
    if (!cable.to_node) cable.lid = 0;
    return fc_graph_add_cable(f->reader, &cable, f->st);
}

/* Both ends are listed: they must tell the same. */
static enum fc_code check_mates(const struct fc_ib_fabric *f, const struct fc_ib_end *e, const struct fc_ib_end *mate)
{
    if (mate->remote != e->device || mate->remote_port != e->port)
        return fc_fail(f->st, FC_INPUT, fc_ib_place(f, e->line),
                       "'%s' port %u is cabled to '%s' port %u, but line %ld cables that to '%s' port %u",
                       f->ids.name[e->device], e->port, f->ids.name[e->remote], e->remote_port, mate->line,
                       f->ids.name[mate->remote], mate->remote_port);
    if (e->link_class != FC_IB_NO_SPEED && mate->link_class != FC_IB_NO_SPEED && e->link_class != mate->link_class)
        return fc_fail(f->st, FC_INPUT, fc_ib_place(f, e->line), "this end of the cable runs at %s, line %ld says %s",
                       f->reader->machine->classes[e->link_class].name, mate->line,
                       f->reader->machine->classes[mate->link_class].name);
    return FC_OK;
}

static enum fc_code add_cables(struct fc_ib_fabric *f)
{
    const struct fc_ib_end **single = fc_alloc(&f->scratch, f->n_ends, sizeof *single, f->st);
    size_t n_single = 0;
    if (!single) return f->st->code;
    qsort(f->ends, f->n_ends, sizeof *f->ends, by_port);
    for (uint32_t i = 1; i < f->n_ends; i++)
        if (f->ends[i].device == f->ends[i - 1].device && f->ends[i].port == f->ends[i - 1].port)
            return fc_fail(f->st, FC_INPUT, fc_ib_place(f, f->ends[i].line), "port %u is listed already on line %ld",
                           f->ends[i].port, f->ends[i - 1].line);
    for (uint32_t i = 0; i < f->n_ends; i++) {
        const struct fc_ib_end *e = &f->ends[i];
        const struct fc_ib_device *remote = &f->devices[e->remote];
        struct fc_ib_end key = {.device = e->remote, .port = e->remote_port, .line = 0};
        uint32_t low = 0, high = f->n_ends; /* the first end not before the key */
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (by_port(&f->ends[middle], &key) < 0)
                low = middle + 1;
            else
                high = middle;
        }
        const struct fc_ib_end *mate = low < f->n_ends ? &f->ends[low] : NULL;
        if (mate && mate->device == e->remote && mate->port == e->remote_port) {
            if (check_mates(f, e, mate)) return f->st->code;
            uint8_t link_class = e->link_class != FC_IB_NO_SPEED ? e->link_class : mate->link_class;
            if (low >= i && add_cable(f, e, mate, link_class)) return f->st->code;
            continue;
        }
        if (remote->line && (remote->kind == FC_IB_SWITCH || e->remote_port > remote->ports))
            return fc_fail(f->st, FC_INPUT, fc_ib_place(f, e->line),
                           "'%s' port %u is cabled to '%s' port %u, which the record on line %ld does not list",
                           f->ids.name[e->device], e->port, f->ids.name[e->remote], e->remote_port, remote->line);
        single[n_single++] = e;
        if (add_cable(f, e, NULL, e->link_class)) return f->st->code;
    }
    qsort(single, n_single, sizeof *single, by_remote);
    for (size_t i = 1; i < n_single; i++)
        if (single[i]->remote == single[i - 1]->remote && single[i]->remote_port == single[i - 1]->remote_port)
            return fc_fail(f->st, FC_INPUT, fc_ib_place(f, single[i]->line),
                           "'%s' port %u is cabled already on line %ld", f->ids.name[single[i]->remote],
                           single[i]->remote_port, single[i - 1]->line);
    return FC_OK;
}

enum fc_code fc_ib_graph(struct fc_ib_fabric *f)
{
    if (add_devices(f) || add_cables(f)) return f->st->code;
    uint32_t n_unnamed = f->reader->shape->n_unnamed;
    if (f->reader->nodes.n == 0 && n_unnamed > 0)
        return fc_fail(f->st, FC_INPUT, fc_ib_place(f, 0),
                       "none of the %u adapters tells its host (network.unnamed: node makes each a node)", n_unnamed);
    return FC_OK;
}
