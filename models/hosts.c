/* hosts.c - the host names of a machine's nodes: from the machine file, the fabric file or the user.
 *
 * A fabric file's names are hosts unless one of them is a number: numbers are node numbers everywhere. */
#include "models/hosts.h"

#include "core/hostlist.h"
#include "models/family_graph.h"

#include <string.h>

static bool is_number(const char *name)
{
    return *name && !name[strspn(name, "0123456789")];
}

/* ---- lists ---- */

struct reading {
    struct fc_names names;
    struct fc_arena *arena;
    bool in_file;
};

static enum fc_code add_host(void *context, const char *name, size_t length, uint32_t times, struct fc_place where,
                             struct fc_status *st)
{
    struct reading *r = context;
    uint32_t number, before = r->names.n;
    if (is_number(name))
        return fc_fail(st, FC_INPUT, where, "'%s' is a number, which node lists take for a node (expected a host name)",
                       name);
    if (fc_graph_names_add(&r->names, r->arena, name, length, &number, where, st)) return st->code;
    if (number < before && !r->in_file && times == 1)
        return fc_fail(st, FC_INPUT, where, "host '%s' is listed twice", name);
    return FC_OK;
}

static enum fc_code add_element(void *context, const char *element, size_t length, bool in_file, struct fc_place where,
                                struct fc_status *st)
{
    struct reading *r = context;
    r->in_file = in_file;
    return fc_host_list_walk(element, length, add_host, r, where, st);
}

enum fc_code fc_hosts_read(const char *text, struct fc_arena *arena, const char ***name, uint32_t *n,
                           struct fc_status *st)
{
    struct reading r = {.arena = arena};
    if (fc_host_text_walk(text, 0, add_element, &r, st)) return st->code;
    *name = r.names.name;
    *n = r.names.n;
    return FC_OK;
}

/* ---- of the machine ---- */

static enum fc_code of_fabric(struct fc_network *net, struct fc_status *st)
{
    const struct fc_family_ops *family = net->machine->family;
    const char *const *name = family->node_names ? family->node_names(net) : NULL;
    if (!name) return FC_OK;
    for (uint32_t i = 0; i < net->n_nodes; i++)
        if (is_number(name[i])) return FC_OK;
    net->host_name = fc_alloc(&net->arena, net->n_nodes, sizeof *net->host_name, st);
    if (net->host_name) memcpy(net->host_name, name, net->n_nodes * sizeof *net->host_name);
    return st->code;
}

/* A message without a place is the key's. */
static enum fc_code at_key(const struct fc_machine *m, struct fc_status *st)
{
    if (*st->file) return st->code;
    snprintf(st->file, sizeof st->file, "%s", m->file);
    st->line = m->hosts_line;
    return st->code;
}

enum fc_code fc_hosts_of_machine(struct fc_network *net, struct fc_status *st)
{
    const struct fc_machine *m = net->machine;
    struct fc_place where = {m->file, m->hosts_line};
    const char **name = NULL;
    uint32_t n = 0;
    if (!m->hosts && !m->hosts_file) return of_fabric(net, st);
    if (m->hosts && m->hosts_file) return fc_fail(st, FC_INPUT, where, "hosts and hosts_file: expected one of them");
    if (m->hosts && fc_host_text_is_file(m->hosts))
        return fc_fail(st, FC_INPUT, where,
                       "hosts: '%.80s' (expected a host list such as cn[000-063]; hosts_file: names a file)", m->hosts);
    char path[2 + FILENAME_MAX];
    const char *slash = m->hosts_file && m->hosts_file[0] != '/' ? strrchr(m->file, '/') : NULL;
    int length = m->hosts_file ? snprintf(path, sizeof path, "@%.*s%s", slash ? (int)(slash - m->file) + 1 : 0, m->file,
                                          m->hosts_file)
                               : 0;
    if ((size_t)length >= sizeof path) return fc_fail(st, FC_INPUT, where, "hosts_file: the path is too long");
    if (fc_hosts_read(m->hosts ? m->hosts : path, &net->arena, &name, &n, st)) return at_key(m, st);
    if (n != net->n_nodes)
        return fc_fail(st, FC_INPUT, where,
                       "%s: %u hosts for %u nodes (expected one a node, in the order of their numbers)",
                       m->hosts ? "hosts" : "hosts_file", n, net->n_nodes);
    net->host_name = name;
    return FC_OK;
}

/* ---- by name ---- */

static uint32_t hash(const char *text, size_t length)
{
    uint64_t h = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < length; i++) h = (h ^ (unsigned char)text[i]) * 1099511628211u;
    return (uint32_t)(h ^ h >> 32);
}

enum fc_code fc_host_index_start(const struct fc_network *net, struct fc_arena *arena, struct fc_host_index *index,
                                 struct fc_status *st)
{
    *index = (struct fc_host_index){.n_slots = 2, .name = net->host_name};
    if (!net->host_name) return FC_OK;
    while (index->n_slots < 2 * (uint64_t)net->n_nodes) index->n_slots *= 2;
    index->slot = fc_alloc(arena, index->n_slots, sizeof *index->slot, st);
    for (uint32_t i = 0; index->slot && i < net->n_nodes; i++) {
        if (!net->host_name[i]) continue;
        uint32_t at = hash(net->host_name[i], strlen(net->host_name[i])) & (index->n_slots - 1);
        while (index->slot[at]) at = (at + 1) & (index->n_slots - 1);
        index->slot[at] = i + 1;
    }
    return st->code;
}

uint32_t fc_host_find(const struct fc_host_index *index, const char *name, size_t length)
{
    if (!index->slot) return FC_NONE;
    for (uint32_t at = hash(name, length) & (index->n_slots - 1); index->slot[at];
         at = (at + 1) & (index->n_slots - 1)) {
        uint32_t node = index->slot[at] - 1;
        if (strlen(index->name[node]) == length && !memcmp(index->name[node], name, length)) return node;
    }
    return FC_NONE;
}

enum fc_code fc_host_unknown(const struct fc_network *net, const char *name, size_t length, struct fc_place where,
                             struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    const char **rest = fc_alloc(&arena, net->n_nodes, sizeof *rest, st), *first = NULL, *last = NULL;
    char asked[256], near[400] = "";
    if (!rest) return st->code;
    size_t n = 0;
    snprintf(asked, sizeof asked, "%.*s", (int)(length < 255 ? length : 255), name);
    for (uint32_t i = 0; i < net->n_nodes; i++) {
        if (!net->host_name || !net->host_name[i]) continue;
        rest[n++] = last = net->host_name[i];
        if (!first) first = last;
    }
    const char *found;
    for (int i = 0; i < 3 && (found = fc_nearest(asked, rest, n)); i++) {
        size_t used = strlen(near), at = 0;
        snprintf(near + used, sizeof near - used, "%s%.80s", i ? ", " : "near: ", found);
        while (rest[at] != found) at++;
        for (n--; at < n; at++) rest[at] = rest[at + 1];
    }
    return fc_fail(st, FC_INPUT, where, "host '%.80s' is not in machine %s (%s%sit has %.80s to %.80s)", asked,
                   net->machine->name, near, *near ? "; " : "", first ? first : "none", last ? last : "none");
}

char *fc_node_name(const struct fc_network *net, uint32_t node, char *out, size_t size)
{
    char number[32], name[300];
    snprintf(number, sizeof number, "node %u", node);
    const char *host = net->host_name ? net->host_name[node] : NULL;
    if (!host) host = fc_vertex_name(net, fc_node_vertex(net, node), name, sizeof name);
    if (strcmp(host, number))
        snprintf(out, size, "%s (%s)", number, host);
    else
        snprintf(out, size, "%s", number);
    return out;
}
