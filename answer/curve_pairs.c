/* curve_pairs.c - `curve --pairs`, `--by-hops`: who waits, where the mean hides it. */
#include "answer/curve_pairs.h"

#include <stdlib.h>
#include <string.h>

/* "A-B", nodes by number. */
static enum fc_code read_pair(const char *text, uint32_t n_nodes, struct fc_pair *pair, struct fc_status *st)
{
    char *end;
    unsigned long long a = strtoull(text, &end, 10), b = 0;
    bool good = end != text && *end == '-' && text[0] != '-' && end[1] != '-';
    if (good) {
        const char *second = end + 1;
        b = strtoull(second, &end, 10);
        good = end != second && !*end;
    }
    if (!good) return fc_refuse(st, FC_INPUT, "--pairs: '%s' is no pair (expected nodes FROM-TO, e.g. 0-17,3-9)", text);
    if (a >= n_nodes || b >= n_nodes)
        return fc_refuse(st, FC_INPUT, "--pairs: '%s': the machine has nodes 0 to %u", text, n_nodes - 1);
    *pair = (struct fc_pair){(uint32_t)a, (uint32_t)b};
    return FC_OK;
}

enum fc_code fc_curve_pairs_read(const struct fc_curve_question *q, const struct fc_network *net, size_t n_loads,
                                 struct fc_arena *arena, struct fc_curve_pairs *pairs, struct fc_status *st)
{
    const char **items;
    size_t n = 0;
    *pairs = (struct fc_curve_pairs){.by_hops = q->by_hops, .n_loads = n_loads};
    if (q->pairs && fc_split_list(q->pairs, arena, &items, &n, st)) return st->code;
    pairs->n_pairs = (uint32_t)n;
    pairs->pair = fc_alloc(arena, n + 1, sizeof *pairs->pair, st);
    pairs->answer = fc_alloc(arena, n_loads * n + 1, sizeof *pairs->answer, st);
    pairs->class = fc_alloc(arena, n_loads + 1, sizeof *pairs->class, st);
    pairs->n_classes = fc_alloc(arena, n_loads + 1, sizeof *pairs->n_classes, st);
    for (size_t i = 0; i < n && !st->code; i++) read_pair(items[i], net->n_nodes, &pairs->pair[i], st);
    for (size_t i = 0; i < n_loads * n && !st->code; i++) pairs->answer[i].latency_mean_cycles = NAN;
    return st->code;
}

bool fc_curve_pairs_asked(const struct fc_curve_pairs *pairs)
{
    return pairs->n_pairs > 0 || pairs->by_hops;
}

enum fc_code fc_curve_pairs_solve(struct fc_curve_pairs *pairs, size_t i, const struct fc_queueing_pairs *model,
                                  const struct fc_demand *demand, double factor, struct fc_arena *arena,
                                  struct fc_status *st)
{
    for (uint32_t p = 0; p < pairs->n_pairs; p++)
        if (fc_queueing_pair(model, pairs->pair[p].source, pairs->pair[p].target, factor,
                             &pairs->answer[i * pairs->n_pairs + p], st))
            return st->code;
    if (!pairs->by_hops) return FC_OK;
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    uint32_t n = 0;
    struct fc_hops_class *all = fc_alloc(&scratch, FC_MOST_HOPS_CLASSES, sizeof *all, st);
    if (all && !fc_queueing_by_hops(model, demand, factor, all, &n, st) &&
        (pairs->class[i] = fc_alloc(arena, n + 1ull, sizeof *all, st)) != NULL) {
        memcpy(pairs->class[i], all, n * sizeof *all);
        pairs->n_classes[i] = n;
    }
    return st->code;
}
