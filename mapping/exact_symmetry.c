/* exact_symmetry.c - places and tasks that look the same, so that of mappings alike only one is tried.
 *
 * A permutation p of the places is an automorphism when it keeps capacities and hops and some permutation q of
 * the links has share(p(i), p(j), q(l)) = share(i, j, l) for all i, j, l: then every mapping and its image have
 * the same link times in another order. Distances propose p (backtracking), the links dispose. Proposals are
 * given up after most_tries: a symmetry that is not found costs time, never a wrong answer. */
#include "mapping/exact.h"

#include <math.h>
#include <string.h>

enum { MOST_TRIES = 64, MOST_STEPS = 100000 };

struct automorphism {
    const struct fc_exact_job *job;
    const double *share; /* [n_links][n_nodes * n_nodes] */
    bool *taken;         /* [n_links] scratch */
    uint32_t to[FC_EXACT_MOST];
    bool used[FC_EXACT_MOST];
    int tries, steps;
};

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fmax(a, b);
}

/* Link l goes to link m under the permutation. */
static bool link_fits(const struct automorphism *a, uint32_t l, uint32_t m)
{
    uint32_t n = a->job->n_nodes;
    const double *x = a->share + (size_t)l * n * n, *y = a->share + (size_t)m * n * n;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++)
            if (!near(x[i * n + j], y[a->to[i] * n + a->to[j]])) return false;
    return true;
}

static bool links_follow(struct automorphism *a)
{
    memset(a->taken, 0, a->job->n_links * sizeof *a->taken);
    for (uint32_t l = 0; l < a->job->n_links; l++) {
        uint32_t m = 0;
        while (m < a->job->n_links && (a->taken[m] || !link_fits(a, l, m))) m++;
        if (m == a->job->n_links) return false;
        a->taken[m] = true;
    }
    return true;
}

static bool fits(const struct automorphism *a, uint32_t i, uint32_t image)
{
    const struct fc_exact_job *job = a->job;
    if (job->capacity[i] != job->capacity[image]) return false;
    for (uint32_t k = 0; k < i; k++)
        if (!near(job->hops[i][k], job->hops[image][a->to[k]]) || !near(job->hops[k][i], job->hops[a->to[k]][image]))
            return false;
    return true;
}

/* Extends to[0 .. i) to an automorphism; to[fixed] is given. */
static bool extend(struct automorphism *a, uint32_t i, uint32_t fixed)
{
    if (i == a->job->n_nodes) return links_follow(a) || (a->tries++, false);
    for (uint32_t v = 0; v < a->job->n_nodes && a->tries < MOST_TRIES && a->steps < MOST_STEPS; v++) {
        if (i == fixed ? v != a->to[fixed] : a->used[v] || v == a->to[fixed]) continue;
        a->steps++;
        if (!fits(a, i, v)) continue;
        a->to[i] = v;
        a->used[v] = true;
        if (extend(a, i + 1, fixed)) return true;
        a->used[v] = false;
    }
    return false;
}

static bool maps(struct automorphism *a, uint32_t from, uint32_t to)
{
    a->tries = a->steps = 0;
    memset(a->used, 0, sizeof a->used);
    a->to[from] = to;
    return extend(a, 0, from);
}

static bool exchanges(struct automorphism *a, uint32_t u, uint32_t v)
{
    for (uint32_t i = 0; i < a->job->n_nodes; i++) a->to[i] = i == u ? v : i == v ? u : i;
    for (uint32_t i = 0; i < a->job->n_nodes; i++)
        if (!fits(a, i, a->to[i])) return false;
    return links_follow(a);
}

static bool tasks_alike(const struct fc_exact_job *job, uint32_t s, uint32_t t)
{
    if (job->bytes[s][t] != job->bytes[t][s] || job->wire[s][t] != job->wire[t][s]) return false;
    for (uint32_t u = 0; u < job->n_tasks; u++) {
        if (u == s || u == t) continue;
        if (job->bytes[s][u] != job->bytes[t][u] || job->bytes[u][s] != job->bytes[u][t]) return false;
        if (job->wire[s][u] != job->wire[t][u] || job->wire[u][s] != job->wire[u][t]) return false;
    }
    return true;
}

enum fc_code fc_exact_symmetry(struct fc_exact_job *job, struct fc_status *st)
{
    struct fc_arena scratch = {0};
    uint32_t n = job->n_nodes;
    struct automorphism a = {.job = job};
    double *share = fc_alloc(&scratch, (size_t)job->n_links * n * n + 1, sizeof *share, st);
    a.taken = share ? fc_alloc(&scratch, job->n_links + 1ull, sizeof *a.taken, st) : NULL;
    if (!a.taken) goto done;
    a.share = share;
    for (uint32_t pair = 0; pair < n * n; pair++)
        for (uint64_t k = job->first[pair]; k < job->first[pair + 1]; k++)
            share[(size_t)job->link[k] * n * n + pair] = job->share_s[k];
    for (uint32_t v = 0; v < n; v++) {
        job->orbit[v] = v;
        for (uint32_t u = 0; u < v && job->orbit[v] == v; u++)
            if (job->orbit[u] == u && maps(&a, u, v)) job->orbit[v] = u;
        for (uint32_t u = 0; u < v; u++) job->node_twin[u][v] = job->node_twin[v][u] = exchanges(&a, u, v);
    }
    for (uint32_t t = 0; t < job->n_tasks; t++)
        for (uint32_t s = 0; s < t; s++) job->task_twin[s][t] = job->task_twin[t][s] = tasks_alike(job, s, t);
done:
    fc_arena_free(&scratch);
    return st->code;
}

bool fc_exact_strike(const struct fc_exact_job *job, const uint32_t *node, const uint32_t *used, uint32_t depth,
                     uint32_t t, uint32_t i, uint32_t *places)
{
    uint32_t gone = 1u << i;
    for (uint32_t k = 0; k < job->n_nodes; k++) {
        bool twin = job->node_twin[i][k] && used[i] == 0 && used[k] == 0;
        if (twin || (depth == 0 && job->orbit[k] == job->orbit[i])) gone |= 1u << k;
    }
    places[t] &= ~gone;
    for (uint32_t u = 0; u < job->n_tasks; u++) {
        if (node[u] != FC_NONE || !job->task_twin[t][u]) continue;
        places[u] &= ~gone;
        if (!places[u]) return false;
    }
    return places[t] != 0;
}
