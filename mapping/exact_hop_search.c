/* exact_hop_search.c - the least hop-bytes of a small job by depth-first branch and bound, before GLPK is asked.
 *
 * With some tasks placed, a task t not yet placed brings at place i at least
 *     bytes x hops between it and the placed ones, both ways,
 *   + what it sends to the others, its heaviest partners on the nearest free slots (Gilmore & Lawler),
 * and the least of that over i, summed over the tasks, bounds what is to come; a place of t that lifts the sum to
 * the best mapping met is struck out. The task with the fewest places left goes next. Symmetries as in
 * exact_load.c. Strong where many tasks talk and places are few; sparse traffic on more than ten places is GLPK's. */
#include "mapping/exact.h"

#include <math.h>
#include <string.h>

struct search {
    const struct fc_exact_job *job;
    double cutoff, step; /* only mappings under the cutoff are of use: the best met less a step */
    uint64_t work, budget;
    uint32_t node[FC_EXACT_MOST], used[FC_EXACT_MOST]; /* FC_NONE: not placed */
    struct fc_exact_answer *answer;
};
typedef double table[FC_EXACT_MOST][FC_EXACT_MOST]; /* [task][place] */

/* Puts x into the falling list. */
static void insert(double *list, uint32_t *n, double x)
{
    uint32_t at = (*n)++;
    for (; at > 0 && list[at - 1] < x; at--) list[at] = list[at - 1];
    list[at] = x;
}

double fc_exact_least_sent(const struct fc_exact_job *job, uint32_t t, uint32_t i, const uint32_t *node,
                           const uint32_t *used)
{
    double bytes[FC_EXACT_MOST], hops[FC_EXACT_MOST * FC_EXACT_MOST], sum = 0;
    uint32_t n_bytes = 0, n_hops = 0;
    for (uint32_t u = 0; u < job->n_tasks; u++)
        if (node[u] == FC_NONE && job->bytes[t][u] > 0) insert(bytes, &n_bytes, job->bytes[t][u]);
    for (uint32_t j = 0; j < job->n_nodes; j++)
        for (uint32_t k = used[j] + (i == j); k < job->capacity[j] && k < used[j] + job->n_tasks; k++)
            insert(hops, &n_hops, job->hops[i][j]);
    for (uint32_t b = 0; b < n_bytes && b < n_hops; b++) sum += bytes[b] * hops[n_hops - 1 - b];
    return sum;
}

/* Lists what each task brings at each of its places, and strikes out places of no use. False: nothing is of use. */
static bool check_places(struct search *s, double cost, table brought, table least, uint32_t *places)
{
    const struct fc_exact_job *job = s->job;
    double sum = cost, lowest[FC_EXACT_MOST];
    for (uint32_t t = 0; t < job->n_tasks; t++) {
        if (s->node[t] != FC_NONE) continue;
        lowest[t] = INFINITY;
        for (uint32_t i = 0; i < job->n_nodes; i++) {
            if (s->used[i] == job->capacity[i]) places[t] &= ~(1u << i);
            if (!(places[t] >> i & 1)) continue;
            least[t][i] = brought[t][i] + fc_exact_least_sent(job, t, i, s->node, s->used);
            lowest[t] = fmin(lowest[t], least[t][i]);
        }
        s->work += (uint64_t)job->n_nodes * (job->n_tasks + job->n_nodes);
        sum += lowest[t];
    }
    if (sum >= s->cutoff) return false;
    for (uint32_t t = 0; t < job->n_tasks; t++)
        for (uint32_t i = 0; s->node[t] == FC_NONE && i < job->n_nodes; i++)
            if ((places[t] >> i & 1) && sum - lowest[t] + least[t][i] >= s->cutoff) places[t] &= ~(1u << i);
    return true;
}

static uint32_t next_task(const struct search *s, const uint32_t *places)
{
    uint32_t best = FC_NONE;
    for (uint32_t t = 0; t < s->job->n_tasks; t++)
        if (s->node[t] == FC_NONE &&
            (best == FC_NONE || __builtin_popcount(places[t]) < __builtin_popcount(places[best])))
            best = t;
    return best;
}

static void extend(struct search *s, uint32_t depth, double cost, table brought, const uint32_t *from_above)
{
    const struct fc_exact_job *job = s->job;
    uint32_t places[FC_EXACT_MOST];
    table least, after;
    if (depth == job->n_tasks) {
        if (cost >= s->cutoff) return;
        s->answer->value = cost;
        s->cutoff = cost - fmax(s->step, cost * 1e-9);
        memcpy(s->answer->node, s->node, job->n_tasks * sizeof *s->node);
        return;
    }
    memcpy(places, from_above, sizeof places);
    if (!check_places(s, cost, brought, least, places)) return;
    uint32_t t = next_task(s, places);
    while (places[t] && s->work <= s->budget) {
        uint32_t i = FC_NONE;
        for (uint32_t k = 0; k < job->n_nodes; k++)
            if ((places[t] >> k & 1) && (i == FC_NONE || least[t][k] < least[t][i])) i = k;
        s->node[t] = i;
        s->used[i]++;
        for (uint32_t u = 0; u < job->n_tasks; u++)
            for (uint32_t k = 0; s->node[u] == FC_NONE && k < job->n_nodes; k++)
                after[u][k] = brought[u][k] + job->bytes[u][t] * job->hops[k][i] + job->bytes[t][u] * job->hops[i][k];
        extend(s, depth + 1, cost + brought[t][i], after, places);
        s->used[i]--;
        s->node[t] = FC_NONE;
        if (!fc_exact_strike(job, s->node, s->used, depth, t, i, places)) return;
    }
}

bool fc_exact_hop_search(const struct fc_exact_job *job, double step, uint64_t budget, struct fc_exact_answer *answer)
{
    struct search s = {.job = job, .step = step, .budget = budget, .answer = answer};
    uint32_t places[FC_EXACT_MOST];
    table nothing = {0};
    s.cutoff = answer->value - fmax(step, answer->value * 1e-9);
    for (uint32_t t = 0; t < FC_EXACT_MOST; t++) {
        places[t] = (uint32_t)((1ull << job->n_nodes) - 1);
        s.node[t] = FC_NONE;
    }
    extend(&s, 0, 0, nothing, places);
    return s.work <= s.budget;
}
