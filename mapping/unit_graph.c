/* unit_graph.c - the undirected neighbour lists of a demand, for tasks or for groups of tasks.
 *
 * Every entry between different units is noted at both; two counting sorts bring equal pairs together. */
#include "mapping/search.h"

#include <string.h>

struct notes {
    uint32_t *from, *to;
    double *out, *in;
};

static enum fc_code start_notes(struct notes *notes, size_t n, struct fc_arena *arena, struct fc_status *st)
{
    notes->from = fc_alloc(arena, n, sizeof *notes->from, st);
    notes->to = notes->from ? fc_alloc(arena, n, sizeof *notes->to, st) : NULL;
    notes->out = notes->to ? fc_alloc(arena, n, sizeof *notes->out, st) : NULL;
    notes->in = notes->out ? fc_alloc(arena, n, sizeof *notes->in, st) : NULL;
    return notes->in ? FC_OK : st->code;
}

/* Stable counting sort of n notes by key into `to`; first[n_units + 1] is scratch. */
static void sort_notes(const struct notes *notes, size_t n, const uint32_t *key, uint32_t n_units, uint64_t *first,
                       struct notes *to)
{
    memset(first, 0, ((size_t)n_units + 1) * sizeof *first);
    for (size_t i = 0; i < n; i++) first[key[i] + 1]++;
    for (uint32_t u = 0; u < n_units; u++) first[u + 1] += first[u];
    for (size_t i = 0; i < n; i++) {
        uint64_t at = first[key[i]]++;
        to->from[at] = notes->from[i];
        to->to[at] = notes->to[i];
        to->out[at] = notes->out[i];
        to->in[at] = notes->in[i];
    }
}

static size_t note_entries(const struct fc_demand *demand, const uint32_t *unit, struct notes *notes)
{
    size_t n = 0;
    for (size_t e = 0; e < demand->n_entries; e++) {
        uint32_t s = unit[demand->src[e]], d = unit[demand->dst[e]];
        if (s == d || demand->bytes[e] == 0) continue;
        notes->from[n] = s;
        notes->to[n] = d;
        notes->out[n] = demand->bytes[e];
        notes->in[n++] = 0;
        notes->from[n] = d;
        notes->to[n] = s;
        notes->out[n] = 0;
        notes->in[n++] = demand->bytes[e];
    }
    return n;
}

enum fc_code fc_unit_graph_build(const struct fc_demand *demand, const uint32_t *unit, uint32_t n_units,
                                 struct fc_arena *arena, struct fc_unit_graph *graph, struct fc_status *st)
{
    struct fc_arena scratch = {0};
    struct notes notes, sorted;
    uint64_t *first = fc_alloc(&scratch, (size_t)n_units + 1, sizeof *first, st);
    size_t n = 0, pairs = 0;
    if (!first || start_notes(&notes, demand->n_entries * 2, &scratch, st) ||
        start_notes(&sorted, demand->n_entries * 2, &scratch, st))
        goto done;
    n = note_entries(demand, unit, &notes);
    sort_notes(&notes, n, notes.to, n_units, first, &sorted);
    sort_notes(&sorted, n, sorted.from, n_units, first, &notes);
    for (size_t i = 0; i < n; i++)
        pairs += i == 0 || notes.from[i] != notes.from[i - 1] || notes.to[i] != notes.to[i - 1];
    graph->n = n_units;
    graph->first = fc_alloc(arena, (size_t)n_units + 1, sizeof *graph->first, st);
    graph->other = graph->first ? fc_alloc(arena, pairs, sizeof *graph->other, st) : NULL;
    graph->out = graph->other ? fc_alloc(arena, pairs, sizeof *graph->out, st) : NULL;
    graph->in = graph->out ? fc_alloc(arena, pairs, sizeof *graph->in, st) : NULL;
    if (!graph->in) goto done;
    for (size_t i = 0, at = 0; i < n; i++) {
        bool same = i > 0 && notes.from[i] == notes.from[i - 1] && notes.to[i] == notes.to[i - 1];
        if (!same) {
            graph->other[at] = notes.to[i];
            graph->first[notes.from[i] + 1] = ++at;
        }
        graph->out[at - 1] += notes.out[i];
        graph->in[at - 1] += notes.in[i];
    }
    for (uint32_t u = 0; u < n_units; u++) /* units without neighbours */
        if (graph->first[u + 1] < graph->first[u]) graph->first[u + 1] = graph->first[u];
done:
    fc_arena_free(&scratch);
    return st->code;
}
