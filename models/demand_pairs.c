/* demand_pairs.c - a demand from arrays in memory: what a scheduler's plug-in or a script has at hand. */
#include "models/demand_build.h"

#include <string.h>

enum fc_code fc_demand_of_pairs(const char *name, uint32_t n_tasks, size_t n, const uint32_t *src, const uint32_t *dst,
                                const double *bytes, struct fc_demand *demand, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    struct fc_triples t;
    memset(demand, 0, sizeof *demand);
    if (n_tasks == 0) return fc_refuse(st, FC_INPUT, "no tasks");
    if (fc_triples_start(&t, &scratch, n, st)) return st->code;
    for (size_t i = 0; i < n && !st->code; i++) {
        if (src[i] >= n_tasks || dst[i] >= n_tasks)
            fc_refuse(st, FC_INPUT, "entry %zu: task %u to %u (tasks are 0 to %u)", i, src[i], dst[i], n_tasks - 1);
        else if (!(bytes[i] >= 0) || isinf(bytes[i]))
            fc_refuse(st, FC_INPUT, "entry %zu: %g bytes (expected a number of at least 0)", i, bytes[i]);
        if (st->code || bytes[i] == 0) continue;
        t.src[t.n] = src[i];
        t.dst[t.n] = dst[i];
        t.bytes[t.n++] = bytes[i];
    }
    if (!st->code && !fc_triples_sort(&t, n_tasks, &scratch, st) && !fc_demand_start(demand, n_tasks, t.n, st)) {
        for (size_t i = 0; i < t.n; i++) fc_demand_add(demand, t.src[i], t.dst[i], t.bytes[i]);
        demand->name = fc_copy_text(&demand->arena, name, st);
    }
    return st->code;
}
