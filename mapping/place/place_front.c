/* place_front.c - layouts that no other beats in both latency and saturation, by the queueing model: those
 * given, and those that a walk over small changes of the front finds. */
#include "mapping/place/place_service.h"

#include <math.h>

/* Saturations are known to about so much (queueing.h). */
#define SAME_SATURATION 2e-4

/* No worse in both and better in one. An unknown latency is worse than any. */
static bool beats(const struct fc_served_layout *a, const struct fc_served_layout *b)
{
    double la = a->service.latency_cycles, lb = b->service.latency_cycles;
    double sa = a->service.saturation, sb = b->service.saturation;
    if (isnan(la)) la = INFINITY;
    if (isnan(lb)) lb = INFINITY;
    bool faster = la<lb *(1 - 1e-9), slower = la> lb * (1 + 1e-9);
    bool more = sa > sb * (1 + SAME_SATURATION), less = sa < sb * (1 - SAME_SATURATION);
    return !slower && !less && (faster || more);
}

static size_t mark(struct fc_served_layout *list, size_t n)
{
    size_t on_front = 0;
    for (size_t i = 0; i < n; i++) {
        list[i].front = list[i].allowed;
        for (size_t j = 0; j < n && list[i].front; j++) list[i].front = !list[j].allowed || !beats(&list[j], &list[i]);
        on_front += list[i].front;
    }
    return on_front;
}

/* One change of the layout, drawn by number `step`. */
static void change(const struct fc_place_model *m, uint64_t seed, uint64_t step, struct fc_bridge_layout *layout)
{
    int i = (int)fc_random_below(seed, step, 0, (uint64_t)m->n), hit = -1;
    uint32_t u = (uint32_t)fc_random_below(seed, step, 1, m->n_mesh), before = layout->node[i];
    for (int j = 0; j < m->n; j++)
        if (layout->node[j] == u) hit = j;
    layout->node[i] = u;
    if (hit >= 0) layout->node[hit] = before;
}

static enum fc_code serve(const struct fc_machine *machine, const struct fc_place_model *m,
                          const struct fc_layout_rules *rules, int policy, double load, struct fc_served_layout *row,
                          struct fc_status *st)
{
    fc_layout_figure(m, &row->layout, NULL, &row->figures);
    if (fc_layout_serve(machine, &row->layout, policy, load, &row->service, st)) return st->code;
    row->allowed = row->service.deadlock_free && fc_layout_allowed(m, rules, &row->layout);
    return FC_OK;
}

enum fc_code fc_place_front(const struct fc_machine *machine, const struct fc_place_model *m,
                            const struct fc_layout_rules *rules, int policy, double load, int more, uint64_t seed,
                            struct fc_progress *progress, struct fc_served_layout *list, size_t *n,
                            struct fc_status *st)
{
    double all = (double)*n + more;
    for (size_t i = 0; i < *n; i++) {
        fc_progress_show(progress, (double)i / all, "layouts");
        if (serve(machine, m, rules, policy, load, &list[i], st)) return st->code;
    }
    size_t on_front = mark(list, *n), most = *n + (size_t)more;
    for (uint64_t step = 0; on_front && *n < most && step < 50 * (uint64_t)more; step++) {
        struct fc_served_layout *next = &list[*n];
        size_t pick = fc_random_below(seed, step, 2, on_front), from = 0;
        while (!list[from].front || pick-- > 0) from++;
        next->layout = list[from].layout;
        for (uint64_t changes = 0; changes <= step % 3; changes++) change(m, seed, 3 * step + changes, &next->layout);
        if (!fc_layout_allowed(m, rules, &next->layout)) continue;
        fc_layout_figure(m, &next->layout, NULL, &next->figures);
        bool seen = false;
        for (size_t i = 0; i < *n && !seen; i++) seen = fc_layout_alike(&list[i].figures, &next->figures);
        if (seen) continue;
        fc_progress_show(progress, (double)*n / all, "layouts");
        if (serve(machine, m, rules, policy, load, next, st)) return st->code;
        ++*n;
        on_front = mark(list, *n);
    }
    return FC_OK;
}
