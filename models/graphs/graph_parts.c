/* graph_parts.c - what the readers of fabric files share: names with numbers, cables, link classes. */
#include "core/values.h"
#include "models/family_graph.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

static uint64_t hash(const char *text, size_t length)
{
    uint64_t h = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < length; i++) h = (h ^ (unsigned char)text[i]) * 1099511628211u;
    return h ^ h >> 32;
}

/* The slot that holds the name, or the empty one where it belongs. Requires an empty slot. */
static uint32_t slot_of(const struct fc_names *names, const char *text, size_t length)
{
    uint32_t at = (uint32_t)hash(text, length) & (names->n_slots - 1);
    for (; names->slot[at]; at = (at + 1) & (names->n_slots - 1)) {
        const char *name = names->name[names->slot[at] - 1];
        if (strlen(name) == length && !memcmp(name, text, length)) break;
    }
    return at;
}

uint32_t fc_names_find(const struct fc_names *names, const char *text, size_t length)
{
    return names->n_slots == 0 ? FC_NONE : names->slot[slot_of(names, text, length)] - 1;
}

static enum fc_code grow(struct fc_names *names, struct fc_arena *arena, struct fc_status *st)
{
    uint32_t capacity = names->capacity ? 2 * names->capacity : 64;
    const char **name = fc_alloc(arena, capacity, sizeof *name, st);
    uint32_t *slot = name ? fc_alloc(arena, 2 * (size_t)capacity, sizeof *slot, st) : NULL;
    if (!slot) return st->code;
    if (names->n) memcpy(name, names->name, names->n * sizeof *name);
    names->name = name;
    names->slot = slot;
    names->capacity = capacity;
    names->n_slots = 2 * capacity;
    for (uint32_t i = 0; i < names->n; i++) names->slot[slot_of(names, name[i], strlen(name[i]))] = i + 1;
    return FC_OK;
}

/* What can be shown on a terminal and written as JSON. */
static bool printable(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f) return false;
    json_t *string = json_stringn(text, length); /* NULL when not UTF-8 */
    json_decref(string);
    return string != NULL;
}

enum fc_code fc_graph_names_add(struct fc_names *names, struct fc_arena *arena, const char *text, size_t length,
                                uint32_t *number, struct fc_place where, struct fc_status *st)
{
    if (length == 0 || length > 255 || !printable(text, length))
        return fc_fail(st, FC_INPUT, where, "a name of %zu bytes%s (expected 1 to 255 bytes of printable UTF-8)",
                       length, length && length <= 255 ? " is not printable" : "");
    *number = fc_names_find(names, text, length);
    if (*number != FC_NONE) return FC_OK;
    if (names->n == names->capacity && grow(names, arena, st)) return st->code;
    char *copy = fc_alloc(arena, length + 1, 1, st);
    if (!copy) return st->code;
    memcpy(copy, text, length);
    uint32_t slot = slot_of(names, text, length);
    names->name[names->n] = copy;
    names->slot[slot] = ++names->n;
    *number = names->n - 1;
    return FC_OK;
}

/* ---- cables and classes ---- */

enum fc_code fc_graph_add_cable(struct fc_graph_reader *reader, const struct fc_cable *cable, struct fc_status *st)
{
    struct fc_graph_shape *s = reader->shape;
    if (s->n_cables == reader->capacity) {
        uint32_t capacity = reader->capacity ? 2 * reader->capacity : 256;
        if (capacity > UINT32_MAX / 4)
            return fc_refuse(st, FC_NO, "%s: more than %u cables are too many", reader->text.file, s->n_cables);
        struct fc_cable *cables = fc_alloc(&reader->machine->arena, capacity, sizeof *cables, st);
        if (!cables) return st->code;
        if (s->n_cables) memcpy(cables, s->cables, s->n_cables * sizeof *cables);
        s->cables = cables;
        reader->capacity = capacity;
    }
    s->cables[s->n_cables++] = *cable;
    return FC_OK;
}

enum fc_code fc_graph_class(struct fc_graph_reader *reader, const char *name, double bandwidth_bytes_per_s,
                            double latency_s, uint8_t *link_class, struct fc_place where, struct fc_status *st)
{
    struct fc_machine *m = reader->machine;
    for (int c = 0; c < m->n_classes; c++)
        if (!strcmp(m->classes[c].name, name)) {
            *link_class = (uint8_t)c;
            return FC_OK;
        }
    if (m->n_classes == FC_MAX_CLASSES - 1)
        return fc_fail(st, FC_INPUT, where, "'%s' is one kind of link too many (at most %d kinds)", name,
                       FC_MAX_CLASSES - 1);
    struct fc_link_class *class = &m->classes[m->n_classes];
    if (strlen(name) >= sizeof class->name)
        return fc_fail(st, FC_INPUT, where, "'%s': the name of a kind of link has at most %zu characters", name,
                       sizeof class->name - 1);
    snprintf(class->name, sizeof class->name, "%s", name);
    class->bandwidth_bytes_per_s = bandwidth_bytes_per_s;
    class->latency_s = latency_s;
    class->given = bandwidth_bytes_per_s > 0;
    *link_class = (uint8_t)m->n_classes++;
    return FC_OK;
}

/* ---- numbering ---- */

/* Runs of digits compare as numbers, all else as bytes; "n2" < "n10", and "n02" > "n2" so that the order is
 * total. */
static int compare_natural(const char *a, const char *b)
{
    const char *p = a, *q = b;
    while (*p && *q) {
        if (!fc_is_digit(*p) || !fc_is_digit(*q)) {
            if (*p != *q) return (unsigned char)*p < (unsigned char)*q ? -1 : 1;
            p++, q++;
            continue;
        }
        while (*p == '0' && fc_is_digit(p[1])) p++;
        while (*q == '0' && fc_is_digit(q[1])) q++;
        size_t n = strspn(p, "0123456789"), m = strspn(q, "0123456789");
        int order = n == m ? memcmp(p, q, n) : n < m ? -1 : 1;
        if (order) return order;
        p += n, q += m;
    }
    if (*p || *q) return *p ? 1 : -1;
    return strlen(a) == strlen(b) ? strcmp(a, b) : strlen(a) < strlen(b) ? -1 : 1;
}

struct numbered {
    const char *name;
    uint32_t number;
};

static int by_name(const void *a, const void *b)
{
    return compare_natural(((const struct numbered *)a)->name, ((const struct numbered *)b)->name);
}

/* Names in natural order and the new number of each old one. */
static enum fc_code sort_names(const struct fc_names *names, struct fc_arena *arena, const char ***sorted,
                               uint32_t **new_number, struct fc_status *st)
{
    struct numbered *list = fc_alloc(arena, names->n, sizeof *list, st);
    *sorted = list ? fc_alloc(arena, names->n, sizeof **sorted, st) : NULL;
    *new_number = *sorted ? fc_alloc(arena, names->n, sizeof **new_number, st) : NULL;
    if (!*new_number) return st->code;
    for (uint32_t i = 0; i < names->n; i++) list[i] = (struct numbered){names->name[i], i};
    qsort(list, names->n, sizeof *list, by_name);
    for (uint32_t i = 0; i < names->n; i++) {
        (*sorted)[i] = list[i].name;
        (*new_number)[list[i].number] = i;
    }
    return FC_OK;
}

enum fc_code fc_graph_finish(struct fc_graph_reader *reader, struct fc_status *st)
{
    struct fc_graph_shape *s = reader->shape;
    struct fc_arena *arena = &reader->machine->arena;
    struct fc_place where = {reader->text.file, 0};
    uint32_t *router, *node;
    if (sort_names(&reader->routers, arena, &s->router_name, &router, st) ||
        sort_names(&reader->nodes, arena, &s->node_name, &node, st))
        return st->code;
    s->n_routers = reader->routers.n;
    s->n_nodes = reader->nodes.n;
    if (s->n_nodes == 0) return fc_fail(st, FC_INPUT, where, "the file has no nodes");
    uint32_t *cables = fc_alloc(arena, s->n_nodes, sizeof *cables, st);
    if (!cables) return st->code;
    if (reader->guid && !(s->router_guid = fc_alloc(arena, s->n_routers, sizeof *s->router_guid, st))) return st->code;
    for (uint32_t i = 0; reader->guid && i < s->n_routers; i++) s->router_guid[router[i]] = reader->guid[i];
    for (uint32_t i = 0; i < s->n_cables; i++) {
        struct fc_cable *c = &s->cables[i];
        c->router = router[c->router];
        c->other = c->to_node ? node[c->other] : router[c->other];
        if (c->to_node) cables[c->other]++;
    }
    for (uint32_t i = 0; i < s->n_nodes; i++)
        if (cables[i] == 0) return fc_fail(st, FC_INPUT, where, "node '%s' has no cable to a switch", s->node_name[i]);
    return FC_OK;
}
