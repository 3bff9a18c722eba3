/* node_list.c - nodes as users name them: numbers, host lists, coordinates, names of routers, or a file of
 * these.
 *
 * A number is always a node number. Any other word is looked up among the host names, then among the names
 * that routers have in our output: "(3,0,7)" of a torus, "(0,0,0).5" and the chip "(0,0,0)" of a tmesh,
 * "12.5" of a two-level network, a switch of a fabric file; it stands for all nodes of that router. */
#include "core/hostlist.h"
#include "models/hosts.h"

#include <string.h>
#include <unistd.h>

struct routers {
    char *text;     /* names one after the other, each with its NUL */
    size_t *start;  /* [n_routers] */
    uint32_t *slot; /* [n_slots] router + 1 */
    uint32_t n_slots;
};
struct list {
    const struct fc_network *net;
    struct fc_arena *arena, scratch;
    struct fc_status *st;
    uint32_t *node;
    size_t n;
    bool *seen; /* [n_nodes] */
    bool in_file;
    struct fc_host_index hosts;
    struct routers routers; /* start NULL: not listed yet */
    bool listed;
};

static enum fc_code add(struct list *l, uint32_t node, bool again, struct fc_place where)
{
    if (!l->seen[node]) {
        l->seen[node] = true;
        l->node[l->n++] = node;
        return FC_OK;
    }
    if (again) return FC_OK;
    if (l->net->host_name && l->net->host_name[node])
        return fc_fail(l->st, FC_INPUT, where, "%s, node %u, is listed twice", l->net->host_name[node], node);
    return fc_fail(l->st, FC_INPUT, where, "%u is listed twice", node);
}

/* ---- routers by name ---- */

static uint32_t hash(const char *text)
{
    uint64_t h = 14695981039346656037u; /* FNV-1a */
    for (; *text; text++) h = (h ^ (unsigned char)*text) * 1099511628211u;
    return (uint32_t)(h ^ h >> 32);
}

static enum fc_code list_routers(struct list *l)
{
    struct routers *r = &l->routers;
    uint32_t n = l->net->n_routers;
    size_t size = 0, used = 0;
    char name[300];
    l->listed = true;
    for (uint32_t v = 0; v < n; v++) size += strlen(fc_vertex_name(l->net, v, name, sizeof name)) + 1;
    for (r->n_slots = 2; r->n_slots < 2 * (uint64_t)n; r->n_slots *= 2) continue;
    r->text = fc_alloc(&l->scratch, size, 1, l->st);
    r->start = fc_alloc(&l->scratch, n, sizeof *r->start, l->st);
    r->slot = fc_alloc(&l->scratch, r->n_slots, sizeof *r->slot, l->st);
    if (!r->text || !r->start || !r->slot) return l->st->code;
    for (uint32_t v = 0; v < n; v++) {
        size_t length = strlen(fc_vertex_name(l->net, v, name, sizeof name)) + 1;
        memcpy(r->text + used, name, length);
        r->start[v] = used;
        used += length;
        uint32_t at = hash(name) & (r->n_slots - 1);
        while (r->slot[at]) at = (at + 1) & (r->n_slots - 1);
        r->slot[at] = v + 1;
    }
    return FC_OK;
}

static uint32_t find_router(const struct list *l, const char *name)
{
    const struct routers *r = &l->routers;
    for (uint32_t at = hash(name) & (r->n_slots - 1); r->slot[at]; at = (at + 1) & (r->n_slots - 1))
        if (!strcmp(r->text + r->start[r->slot[at] - 1], name)) return r->slot[at] - 1;
    return FC_NONE;
}

static enum fc_code add_router(struct list *l, uint32_t router, bool again, struct fc_place where)
{
    const struct fc_network *net = l->net;
    size_t first = l->n, i;
    for (uint32_t e = net->first_link[router]; e < net->first_link[router + 1]; e++) {
        if (!fc_is_node(net, net->link_target[e])) continue;
        uint32_t node = net->link_target[e] - net->n_routers;
        for (i = l->seen[node] ? first : l->n; i < l->n && l->node[i] != node;) i++; /* a second cable to it */
        if (i == l->n && add(l, node, again, where)) return l->st->code;
    }
    return FC_OK;
}

/* A router, or the chip whose mesh nodes are "NAME.0", "NAME.1", ... *found tells whether there was one. */
static enum fc_code add_routers(struct list *l, const char *name, bool again, struct fc_place where, bool *found)
{
    if (!l->listed && list_routers(l)) return l->st->code;
    uint32_t router = find_router(l, name);
    *found = router != FC_NONE;
    if (*found) return add_router(l, router, again, where);
    for (uint32_t m = 0;; m++) {
        char part[FC_MOST_HOST_NAME + 16];
        snprintf(part, sizeof part, "%s.%u", name, m);
        if (*name != '(' || (router = find_router(l, part)) == FC_NONE) return FC_OK;
        *found = true;
        if (add_router(l, router, again, where)) return l->st->code;
    }
}

static enum fc_code unknown(const struct list *l, const char *name, struct fc_place where)
{
    const struct fc_network *net = l->net;
    char last[300];
    if (net->host_name && *name != '(') return fc_host_unknown(net, name, strlen(name), where, l->st);
    fc_vertex_name(net, net->n_routers - 1, last, sizeof last);
    if (*name == '(')
        return fc_fail(l->st, FC_INPUT, where, "'%.80s' is no place in machine %s (its last router is %.80s)", name,
                       net->machine->name, last);
    return fc_fail(l->st, FC_INPUT, where,
                   "'%.80s': machine %s has no host names (expected node numbers up to %u or names "
                   "of routers up to %.80s; hosts: in the machine file or --hosts gives it host names)",
                   name, net->machine->name, net->n_nodes - 1, last);
}

static enum fc_code add_name(void *context, const char *name, size_t length, uint32_t times, struct fc_place where,
                             struct fc_status *st)
{
    struct list *l = context;
    bool again = l->in_file || times > 1, found;
    uint32_t node = fc_host_find(&l->hosts, name, length);
    (void)st;
    if (node != FC_NONE) return add(l, node, again, where);
    if (add_routers(l, name, again, where, &found)) return l->st->code;
    return found ? FC_OK : unknown(l, name, where);
}

/* ---- coordinates ---- */

struct box {
    const char *text; /* "(0-3,0,1)rest" */
    int length, n_dims;
    unsigned long low[FC_MAX_DIMS], high[FC_MAX_DIMS];
    const char *rest;
};

/* "(0-3,0,1)": false when it is none. */
static bool read_box(const char *text, size_t length, struct box *b)
{
    const char *at = text + 1, *end = text + length;
    *b = (struct box){.text = text, .length = (int)(length < 80 ? length : 80)};
    for (; at < end && b->n_dims < FC_MAX_DIMS; at++) {
        int digits = 0, more = 0;
        unsigned long *low = &b->low[b->n_dims], *high = &b->high[b->n_dims];
        for (; at < end && *at >= '0' && *at <= '9' && digits < 9; at++, digits++)
            *low = *low * 10 + (unsigned long)(*at - '0');
        if (digits == 0) return false;
        *high = *low;
        if (at < end && *at == '-')
            for (*high = 0, at++; at < end && *at >= '0' && *at <= '9' && more < 9; at++, more++)
                *high = *high * 10 + (unsigned long)(*at - '0');
        if (at == end || *high < *low || (*at != ',' && *at != ')')) return false;
        b->n_dims++;
        if (*at != ')') continue;
        b->rest = at + 1;
        return true;
    }
    return false;
}

/* Every place of the box, the first dimension fastest, as the machine numbers its nodes. */
static enum fc_code add_box(struct list *l, const char *text, size_t length, struct fc_place where)
{
    struct box b;
    if (!read_box(text, length, &b))
        return fc_fail(l->st, FC_INPUT, where, "'%.*s' (expected coordinates such as (0,0,1) or (0-3,0,1))",
                       (int)(length < 80 ? length : 80), text);
    unsigned long c[FC_MAX_DIMS];
    memcpy(c, b.low, sizeof c);
    for (;;) {
        char name[FC_MOST_HOST_NAME + 1];
        size_t n = 0;
        for (int d = 0; d < b.n_dims; d++)
            n += (size_t)snprintf(name + n, sizeof name - n, "%s%lu", d ? "," : "(", c[d]);
        n += (size_t)snprintf(name + n, sizeof name - n, ")%.*s", (int)(text + length - b.rest), b.rest);
        if (n >= sizeof name) return fc_fail(l->st, FC_INPUT, where, "'%.*s' is too long", b.length, text);
        bool found;
        if (add_routers(l, name, l->in_file, where, &found)) return l->st->code;
        if (!found) return unknown(l, name, where);
        int d = 0;
        while (d < b.n_dims && c[d] == b.high[d]) c[d] = b.low[d], d++;
        if (d == b.n_dims) return FC_OK;
        c[d]++;
    }
}

/* ---- the list ---- */

static bool all_of(const char *text, size_t length, const char *set)
{
    size_t i = 0;
    while (i < length && strchr(set, text[i])) i++;
    return i == length;
}

static enum fc_code add_numbers(struct list *l, const char *text, size_t length, struct fc_place where)
{
    struct fc_status why = {0};
    char copy[64];
    uint32_t *number;
    size_t n;
    snprintf(copy, sizeof copy, "%.*s", (int)length, text);
    if (length >= sizeof copy)
        fc_refuse(&why, FC_INPUT, "'%.60s...' is not a number or range", text);
    else
        fc_parse_ranges(copy, l->net->n_nodes, &l->scratch, &number, &n, &why);
    if (why.code) return fc_fail(l->st, why.code, where, "%s", why.message);
    for (size_t i = 0; i < n; i++)
        if (add(l, number[i], l->in_file, where)) return l->st->code;
    return FC_OK;
}

static enum fc_code add_element(void *context, const char *element, size_t length, bool in_file, struct fc_place where,
                                struct fc_status *st)
{
    struct list *l = context;
    l->in_file = in_file;
    if (all_of(element, length, "0123456789-+ ")) return add_numbers(l, element, length, where);
    if (*element == '(') return add_box(l, element, length, where);
    return fc_host_list_walk(element, length, add_name, l, where, st);
}

bool fc_nodes_in_file(const char *text)
{
    return fc_host_text_is_file(text) || (!all_of(text, strlen(text), "0123456789-,+ ") && access(text, F_OK) == 0);
}

/* A word that is the name of a file and of nothing else is read as one; of both, it is refused. */
static enum fc_code choose_file(struct list *l, const char *text, bool *file)
{
    *file = fc_nodes_in_file(text);
    if (*file && !fc_host_text_is_file(text) && fc_host_find(&l->hosts, text, strlen(text)) != FC_NONE)
        return fc_refuse(l->st, FC_INPUT,
                         "'%.80s' is a host and also a file here (expected @%.80s or ./%.80s for the file)", text, text,
                         text);
    return FC_OK;
}

/* Lines of a file that are lists of their own are never merged. */
static enum fc_code refuse_several(struct list *l, const char *path)
{
    struct fc_host_line *list;
    size_t n;
    if (fc_host_file_lists(path, &l->scratch, &list, &n, l->st) || n == 0) return l->st->code;
    return fc_fail(
        l->st, FC_INPUT, (struct fc_place){path, list[1].line},
        "a second list of nodes: the file has %zu candidate lists, one a line (expected one name a line, or all on "
        "one line; `predict --nodes` compares several)",
        n);
}

enum fc_code fc_nodes_read(const struct fc_network *net, const char *text, long line, struct fc_arena *arena,
                           uint32_t **node, size_t *n, struct fc_status *st)
{
    struct fc_status why = {0};
    struct list l = {.net = net, .arena = arena, .st = &why};
    char path[FILENAME_MAX + 2];
    bool file;
    l.node = fc_alloc(arena, net->n_nodes, sizeof *l.node, &why);
    l.seen = fc_alloc(&l.scratch, net->n_nodes, sizeof *l.seen, &why);
    if (l.node && l.seen && !fc_host_index_start(net, &l.scratch, &l.hosts, &why) && !choose_file(&l, text, &file)) {
        snprintf(path, sizeof path, "%s%s", file && *text != '@' ? "@" : "", text);
        if (!file || line || !refuse_several(&l, path + 1))
            fc_host_text_walk(file ? path : text, line, add_element, &l, &why);
    }
    fc_arena_free(&l.scratch);
    *node = l.node;
    *n = l.n;
    if (!why.code) return FC_OK;
    if (*why.file) return fc_fail(st, why.code, (struct fc_place){why.file, why.line}, "%s", why.message);
    return fc_refuse(st, why.code, "--nodes: %s", why.message);
}
