/* exact_load.c - the least longest link time of a small job, by depth-first branch and bound.
 *
 * Link times are those that fc_load_summarise says: payload times the mean wire bytes a payload byte of the messages
 * between nodes (exact.h), of a part of a mapping the least mean that it can come to.
 *
 * A mapping is of use only when every link time stays under the best one met. Each step counts, for every task
 * not yet placed and every place, the link times with its messages to the tasks already placed; places that
 * reach the best time are struck out (forward checking), and the task with the fewest places left goes next,
 * to the place with the least link time first. Alike mappings are tried once: what was refuted for a place is
 * refuted for the places that an automorphism makes of it and for tasks of the same messages (fc_exact_strike; Gent &
 * Smith, Symmetry breaking during search, ECAI 2000). When the work does not suffice, searches under lower and lower
 * times prove a bound. A mixed-integer program is no help here: its relaxation spreads every task over all places;
 * GLPK took 5 s for 8 tasks on a mesh that talk to half of the others and did not close 9 in a minute. Limits:
 * exponential; link times are compared to 1e-9. */
#include "mapping/exact.h"

#include <math.h>
#include <string.h>

static const double tolerance = 1e-9;

struct search {
    const struct fc_exact_job *job;
    double cutoff; /* only mappings under it are of use: seconds of wire bytes */
    double wire;   /* wire bytes a payload byte of what is placed, whatever follows */
    uint64_t work, budget;
    bool spent;
    uint32_t node[FC_EXACT_MOST]; /* FC_NONE: not placed */
    uint32_t used[FC_EXACT_MOST];
    double *load;  /* [n_tasks + 1][n_links] after so many tasks */
    double *added; /* [n_links] all 0 between uses */
    uint32_t *touched;
    struct fc_exact_answer *answer;
    bool found;
};

/* Seconds that the messages between task t on place i and the placed tasks add to the links, in added[];
 * touched[0 .. *n). The longest link time with them, or INFINITY as soon as it reaches the cutoff. */
static double add_task(struct search *s, const double *load, uint32_t t, uint32_t i, uint32_t *n)
{
    const struct fc_exact_job *job = s->job;
    double longest = 0;
    for (uint32_t u = 0; u < job->n_tasks; u++) {
        if (s->node[u] == FC_NONE || s->node[u] == i) continue;
        for (int way = 0; way < 2; way++) {
            double bytes = way ? job->bytes[u][t] : job->bytes[t][u];
            if (bytes == 0) continue;
            uint64_t pair = way ? (uint64_t)s->node[u] * job->n_nodes + i : (uint64_t)i * job->n_nodes + s->node[u];
            for (uint64_t k = job->first[pair]; k < job->first[pair + 1]; k++) {
                uint32_t l = job->link[k];
                if (s->added[l] == 0) s->touched[(*n)++] = l;
                s->added[l] += bytes * job->share_s[k];
                longest = fmax(longest, load[l] + s->added[l]);
            }
            s->work += job->first[pair + 1] - job->first[pair];
            if (longest * s->wire >= s->cutoff) return INFINITY;
        }
    }
    return longest;
}

static void forget(struct search *s, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++) s->added[s->touched[k]] = 0;
}

static void keep(struct search *s, const double *load)
{
    double longest = 0;
    for (uint32_t l = 0; l < s->job->n_links; l++) longest = fmax(longest, load[l]);
    longest *= s->wire;
    if (longest >= s->cutoff) return;
    s->found = true;
    s->answer->value = longest;
    memcpy(s->answer->node, s->node, s->job->n_tasks * sizeof *s->node);
    s->cutoff = longest * (1 - tolerance);
}

/* The places of unplaced tasks that still are of use; false when a task has none. */
static bool check_places(struct search *s, const double *load, uint32_t *places, double longest[][FC_EXACT_MOST])
{
    for (uint32_t t = 0; t < s->job->n_tasks; t++) {
        if (s->node[t] != FC_NONE) continue;
        for (uint32_t i = 0; i < s->job->n_nodes; i++) {
            if (!(places[t] >> i & 1)) continue;
            uint32_t n = 0;
            longest[t][i] = s->used[i] < s->job->capacity[i] ? add_task(s, load, t, i, &n) : (double)INFINITY;
            forget(s, n);
            if (isinf(longest[t][i])) places[t] &= ~(1u << i);
        }
        s->work++;
        if (!places[t]) return false;
    }
    return true;
}

static double task_bytes(const struct fc_exact_job *job, uint32_t t)
{
    double sum = 0;
    for (uint32_t u = 0; u < job->n_tasks; u++) sum += job->bytes[t][u] + job->bytes[u][t];
    return sum;
}

static uint32_t next_task(const struct search *s, const uint32_t *places)
{
    uint32_t best = FC_NONE;
    for (uint32_t t = 0; t < s->job->n_tasks; t++) {
        if (s->node[t] != FC_NONE) continue;
        int fewer = best == FC_NONE ? -1 : __builtin_popcount(places[t]) - __builtin_popcount(places[best]);
        if (fewer < 0 || (fewer == 0 && task_bytes(s->job, t) > task_bytes(s->job, best))) best = t;
    }
    return best;
}

/* Of the task's places left the one with the least link time. */
static uint32_t next_place(uint32_t places, const double *longest)
{
    uint32_t best = FC_NONE;
    for (uint32_t i = 0; i < FC_EXACT_MOST; i++)
        if ((places >> i & 1) && (best == FC_NONE || longest[i] < longest[best])) best = i;
    return best;
}

static void extend(struct search *s, uint32_t depth, const uint32_t *from_above)
{
    const struct fc_exact_job *job = s->job;
    uint32_t places[FC_EXACT_MOST], n;
    double longest[FC_EXACT_MOST][FC_EXACT_MOST], *load = s->load + (size_t)depth * job->n_links;
    double wire = s->wire = fc_exact_wire(job, s->node);
    if (depth == job->n_tasks) {
        keep(s, load);
        return;
    }
    memcpy(places, from_above, sizeof places);
    if (!check_places(s, load, places, longest)) return;
    for (uint32_t t = next_task(s, places), i; !s->spent; places[t] &= ~(1u << i)) {
        i = next_place(places[t], longest[t]);
        s->spent = s->work > s->budget;
        n = 0;
        if (isinf(add_task(s, load, t, i, &n))) { /* the cutoff has fallen since: no place left is of use */
            forget(s, n);
            return;
        }
        memcpy(load + job->n_links, load, job->n_links * sizeof *load);
        for (uint32_t k = 0; k < n; k++) load[job->n_links + s->touched[k]] += s->added[s->touched[k]];
        forget(s, n);
        s->node[t] = i;
        s->used[i]++;
        extend(s, depth + 1, places);
        s->used[i]--;
        s->node[t] = FC_NONE;
        s->wire = wire;
        if (!fc_exact_strike(job, s->node, s->used, depth, t, i, places)) return;
    }
}

/* Whether the whole space under the cutoff was searched. */
static bool search_under(struct search *s, double cutoff, uint64_t budget)
{
    uint32_t places[FC_EXACT_MOST];
    for (uint32_t t = 0; t < s->job->n_tasks; t++) {
        places[t] = (uint32_t)((1ull << s->job->n_nodes) - 1);
        s->node[t] = FC_NONE;
    }
    memset(s->used, 0, sizeof s->used);
    memset(s->load, 0, s->job->n_links * sizeof *s->load);
    s->cutoff = cutoff;
    s->budget = s->work + budget;
    s->spent = s->found = false;
    extend(s, 0, places);
    return !s->spent;
}

/* Proves what it can where the whole proof takes too long: searches for mappings under a time half way between
 * what is proven and what is not, each with half of the work left. */
static void prove_in_part(struct search *s, uint64_t budget)
{
    double high = s->answer->value;
    for (uint64_t end = s->work + budget; s->work < end && high > s->answer->bound * (1 + 1e-3);) {
        double half = (s->answer->bound + high) / 2;
        bool whole = search_under(s, half, (end - s->work) / 2 + 1);
        if (s->found)
            high = s->answer->value;
        else if (whole)
            s->answer->bound = half;
        else
            high = half;
        if (end - s->work < budget / 64) break;
    }
}

enum fc_code fc_exact_load(const struct fc_exact_job *job, double least_s, uint64_t budget, uint64_t seed,
                           struct fc_exact_answer *answer, struct fc_status *st)
{
    struct fc_arena scratch = {0};
    struct search s = {.job = job, .answer = answer};
    size_t n = job->n_links + 1ull;
    s.load = fc_alloc(&scratch, n * (job->n_tasks + 1), sizeof *s.load, st);
    s.added = s.load ? fc_alloc(&scratch, n, sizeof *s.added, st) : NULL;
    s.touched = s.added ? fc_alloc(&scratch, n, sizeof *s.touched, st) : NULL;
    if (s.touched) {
        fc_exact_descend(job, seed, s.added, answer);
        memset(s.added, 0, n * sizeof *s.added);
        answer->bound = least_s;
        answer->proven = answer->value <= least_s * (1 + tolerance) ||
                         search_under(&s, answer->value * (1 - tolerance), budget / 4 * 3);
        if (!answer->proven) prove_in_part(&s, budget / 4);
        if (answer->proven) answer->bound = answer->value;
    }
    fc_arena_free(&scratch);
    return st->code;
}
