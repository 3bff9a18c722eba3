/* sensitivity_path.c - what a replay's time T has of each parameter, from the gradients of its path (solvers/adjoint/adjoint.h):
 * derivative times value. A gradient is of use where its parts sum up to T (Euler: twice every cost is twice the time). */
#include "answer/sensitivity_search.h"

#include <math.h>

#define CLOSE_SUM 1e-3 /* of T */

/* T's part of each rank's computation that goes with its distance from the mean. */
static double imbalance_s(const struct fc_sensitivity_job *j, const struct fc_gradient *g)
{
    double mean_s = 0, part_s = 0;
    for (uint32_t r = 0; r < j->n_ranks; r++) mean_s += j->rank_compute_s[r] / j->n_ranks;
    for (uint32_t r = 0; r < j->n_ranks; r++)
        if (j->rank_compute_s[r] > 0) part_s += g->compute_s[r] * (1 - mean_s / j->rank_compute_s[r]);
    return part_s;
}

static double compute_s(const struct fc_sensitivity_job *j, const struct fc_gradient *g)
{
    double sum_s = 0;
    for (uint32_t r = 0; r < j->n_ranks; r++) sum_s += g->compute_s[r];
    return sum_s;
}

/* Of the k-th single link; its name alone would not tell which. */
static double part_of(const struct fc_sensitivity_search *s, size_t row, const struct fc_gradient *g, int k)
{
    const struct fc_sensitivity_job *j = s->job;
    const struct fc_software *software = j->software;
    const struct fc_sensitivity_parameter *p = &s->parameters[row];
    switch (p->field) {
    case offsetof(struct fc_scales, send): return g->send * software->send_s;
    case offsetof(struct fc_scales, recv): return g->recv * software->recv_s;
    case offsetof(struct fc_scales, gap): return g->gap * (software->gap_s > 0 ? software->gap_s : 1);
    case offsetof(struct fc_scales, per_byte): return g->bytes * software->per_byte_s;
    case offsetof(struct fc_scales, latency): return g->latency_s;
    case offsetof(struct fc_scales, compute): return compute_s(j, g);
    case offsetof(struct fc_scales, imbalance): return imbalance_s(j, g);
    case offsetof(struct fc_scales, link_bandwidth): return -(g->slower_s[k] + g->faster_s[k]) / 2;
    case offsetof(struct fc_scales, eager): return 0;
    default: break;
    }
    if (!j->net) return -g->wire_bytes * j->loggops_per_byte_s;
    return -g->class_s[(p->field - offsetof(struct fc_scales, bandwidth)) / sizeof(double)];
}

static double sum_of(const struct fc_sensitivity_job *j, const struct fc_gradient *g)
{
    const struct fc_software *software = j->software;
    double sum_s = g->send * software->send_s + g->recv * software->recv_s + g->gap * software->gap_s +
                   g->bytes * software->per_byte_s + g->wire_bytes * j->loggops_per_byte_s + g->latency_s + g->rest_s +
                   compute_s(j, g);
    for (int c = 0; c < FC_MAX_CLASSES; c++) sum_s += g->class_s[c];
    return sum_s;
}

static bool sums_up(const struct fc_sensitivity_job *j, const struct fc_gradient *g)
{
    return fabs(sum_of(j, g) - j->time_s) <= CLOSE_SUM * j->time_s;
}

void fc_sensitivity_take_path(struct fc_sensitivity_search *s)
{
    const struct fc_gradient *path = s->job->path;
    int k = 0;
    if (!path) return;
    s->found->by_path = sums_up(s->job, &path[FC_TIE_MEAN]);
    s->kept = sums_up(s->job, &path[FC_MEETINGS_KEPT]);
    s->all_kept = s->kept && !s->found->by_path;
    for (size_t i = 0; i < s->found->n; i++) {
        struct fc_sensitivity_parameter *p = &s->parameters[i];
        for (int view = 0; view < FC_GRADIENTS; view++) p->part_s[view] = part_of(s, i, &path[view], k);
        if (p->field != offsetof(struct fc_scales, link_bandwidth)) continue;
        p->sides_s = fabs(path[FC_TIE_MEAN].slower_s[k] - path[FC_TIE_MEAN].faster_s[k]) / 2;
        k++;
    }
}
