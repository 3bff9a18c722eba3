/* demand.c - bytes between tasks: patterns by name, and what graph files share with them.
 *
 * Entries are kept sorted by sender. A dense part stands for the n_tasks^2 entries a[s]*b[d], s != d, and is
 * never expanded: its total is sum(a)*sum(b) - sum(a*b). */
#include "models/demand_build.h"

#include <string.h>

FC_FREES(fc_demand_free, fc_demand)

enum fc_code fc_demand_start(struct fc_demand *demand, uint64_t n_tasks, uint64_t n_entries, struct fc_status *st)
{
    if (n_tasks >= FC_NONE)
        return fc_refuse(st, FC_NO, "%llu tasks are too many (at most %u can be held)", (unsigned long long)n_tasks,
                         FC_NONE - 1);
    struct fc_arena *arena = &demand->arena;
    demand->n_tasks = (uint32_t)n_tasks;
    demand->n_entries = 0;
    demand->src = fc_alloc(arena, n_entries, sizeof *demand->src, st);
    demand->dst = demand->src ? fc_alloc(arena, n_entries, sizeof *demand->dst, st) : NULL;
    demand->bytes = demand->dst ? fc_alloc(arena, n_entries, sizeof *demand->bytes, st) : NULL;
    demand->messages = demand->bytes ? fc_alloc(arena, n_entries, sizeof *demand->messages, st) : NULL;
    return demand->messages ? FC_OK : st->code;
}

struct fc_dense *fc_demand_dense(struct fc_demand *demand, double message_bytes, struct fc_status *st)
{
    struct fc_dense *part = &demand->dense[demand->n_dense];
    part->message_bytes = message_bytes;
    part->a = fc_alloc(&demand->arena, demand->n_tasks, sizeof *part->a, st);
    part->b = part->a ? fc_alloc(&demand->arena, demand->n_tasks, sizeof *part->b, st) : NULL;
    if (!part->b) return NULL;
    demand->n_dense++;
    return part;
}

double fc_packet_payload_bytes(const struct fc_machine *machine)
{
    const struct fc_packet *p = &machine->packet;
    return p->max_bytes > p->header_bytes ? p->max_bytes - p->header_bytes : 1;
}

/* ---- patterns
 * -------------------------------------------------------------------------------------------------------- */

void fc_demand_box(const struct fc_torus_shape *s, const uint32_t *side, double *inside)
{
    uint32_t n_nodes = s->n_routers * s->nodes_per_router;
    for (uint32_t node = 0; node < n_nodes; node++) {
        uint32_t router = node / s->nodes_per_router;
        bool in = true;
        for (int d = 0; d < s->n_dims; d++) in = in && fc_torus_coordinate(s, router, d) < side[d];
        inside[node] = in ? 1 : 0;
    }
}

enum fc_code fc_demand_permutation(const struct fc_network *net, struct fc_demand *demand,
                                   uint32_t (*to)(const struct fc_network *net, uint32_t node), double bytes,
                                   struct fc_status *st)
{
    if (fc_demand_start(demand, net->n_nodes, net->n_nodes, st)) return st->code;
    for (uint32_t s = 0; s < net->n_nodes; s++) fc_demand_add(demand, s, to(net, s), bytes);
    return FC_OK;
}

static enum fc_code unknown_pattern(const char *name, struct fc_status *st)
{
    const char *names[64];
    char known[600] = "";
    size_t n = 0;
    for (const struct fc_pattern_ops *const *p = fc_patterns; *p && n < FC_COUNT(names); p++) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", n ? ", " : "", (*p)->name);
        names[n++] = (*p)->name;
    }
    const char *near = fc_nearest(name, names, n);
    return fc_refuse(st, FC_INPUT, "unknown pattern '%.60s' (%s%s%sknown: %s)", name, near ? "did you mean '" : "",
                     near ? near : "", near ? "'? " : "", known);
}

static enum fc_code make_pattern(const struct fc_network *net, const char *text, uint64_t seed,
                                 struct fc_demand *demand, struct fc_status *st)
{
    char name[64];
    size_t length = strcspn(text, ":");
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), text);
    const struct fc_pattern_ops *const *p = fc_patterns;
    while (*p && strcmp((*p)->name, name)) p++;
    if (!*p) return unknown_pattern(name, st);
    void *settings = fc_alloc(&demand->arena, 1, (*p)->settings_size, st);
    demand->name = settings ? fc_copy_text(&demand->arena, text, st) : NULL;
    if (!demand->name) return st->code;
    struct fc_status why = {0};
    enum fc_code code = fc_keys_preset((*p)->keys, (*p)->n_keys, settings, &demand->arena, &why);
    if (!code)
        code = fc_keys_parse((*p)->keys, (*p)->n_keys, settings, text[length] ? text + length + 1 : "",
                             net->machine->clock_hz, &demand->arena, (struct fc_place){0}, &why);
    if (!code) code = (*p)->make(net, settings, seed, demand, &why);
    return code ? fc_refuse(st, code, "pattern %s: %s", (*p)->name, why.message) : FC_OK;
}

enum fc_code fc_demand_from_pattern(const struct fc_network *net, const char *text, uint64_t seed,
                                    struct fc_demand *demand, struct fc_status *st)
{
    memset(demand, 0, sizeof *demand);
    enum fc_code code = make_pattern(net, text, seed, demand, st);
    if (code) fc_demand_free(demand);
    return code;
}

/* ---- graph files
 * ------------------------------------------------------------------------------------------------------- */

enum fc_code fc_triples_start(struct fc_triples *t, struct fc_arena *arena, uint64_t capacity, struct fc_status *st)
{
    t->n = 0;
    t->src = fc_alloc(arena, capacity, sizeof *t->src, st);
    t->dst = t->src ? fc_alloc(arena, capacity, sizeof *t->dst, st) : NULL;
    t->bytes = t->dst ? fc_alloc(arena, capacity, sizeof *t->bytes, st) : NULL;
    t->line = t->bytes ? fc_alloc(arena, capacity, sizeof *t->line, st) : NULL;
    return t->line ? FC_OK : st->code;
}

/* One stable counting sort of `from` into `to` by key[n] < n_tasks; first[n_tasks + 1] is scratch. */
static void sort_by(const struct fc_triples *from, const uint32_t *key, uint32_t n_tasks, uint64_t *first,
                    struct fc_triples *to)
{
    memset(first, 0, ((size_t)n_tasks + 1) * sizeof *first);
    for (size_t i = 0; i < from->n; i++) first[key[i] + 1]++;
    for (uint32_t t = 0; t < n_tasks; t++) first[t + 1] += first[t];
    for (size_t i = 0; i < from->n; i++) {
        uint64_t at = first[key[i]]++;
        to->src[at] = from->src[i];
        to->dst[at] = from->dst[i];
        to->bytes[at] = from->bytes[i];
        to->line[at] = from->line[i];
    }
    to->n = from->n;
}

enum fc_code fc_triples_sort(struct fc_triples *t, uint32_t n_tasks, struct fc_arena *arena, struct fc_status *st)
{
    struct fc_triples by_dst = {0};
    uint64_t *first = fc_alloc(arena, (size_t)n_tasks + 1, sizeof *first, st);
    if (!first || fc_triples_start(&by_dst, arena, t->n, st)) return st->code;
    sort_by(t, t->dst, n_tasks, first, &by_dst);
    sort_by(&by_dst, by_dst.src, n_tasks, first, t);
    return FC_OK;
}
