/* trace_period_rates.c - the periods of single ranks put together into periods of the job.
 *
 * A period of the job is k_r >= 1 of rank r's own. Messages balance when k_a S_ab = k_b R_ab for every pair
 * (S_ab sent by a, R_ab received by b in a period of their own), collective calls when k_r C_rc is the same
 * for every member r of c. Each equation fixes a ratio; they are collected in a forest of ranks and
 * communicators whose edges are fractions (union-find with weights), where one that closes a circle is
 * checked. The smallest whole k of each tree is taken. Receives from anyone only have to balance with all
 * that is sent to the rank.
 *
 * Why that is enough: each rank's stretch is periodic, so taking j periods out of it anywhere leaves the same
 * calls; of each pair as many sends go as receives, and the messages that are left meet receives like those
 * they met. */
#include "core/values.h"
#include "traces/trace_period_private.h"

#include <inttypes.h>
#include <stdlib.h>

/* The node's number is num / den of its parent's. */
struct node {
    uint32_t parent;
    uint64_t num, den;
};
struct joiner {
    struct fc_period_rates *r;
    struct node *node; /* [n_ranks + n_comms] */
    uint64_t *k;       /* [n_ranks]; and scratch [n_ranks + n_comms]: */
    uint64_t *scale;
    bool bad; /* ratios with numbers beyond any use */
};

/* num/den times a/b, in lowest terms. */
static void multiply(struct joiner *j, uint64_t *num, uint64_t *den, uint64_t a, uint64_t b)
{
    uint64_t x = fc_common_divisor(*num, b), y = fc_common_divisor(a, *den);
    bool over = __builtin_mul_overflow(*num / x, a / y, num) | __builtin_mul_overflow(*den / y, b / x, den);
    if (!over && *num <= UINT32_MAX && *den <= UINT32_MAX) return;
    j->bad = true;
    *num = *den = 1;
}

/* The root, to which the node's fraction then refers. */
static uint32_t find(struct joiner *j, uint32_t at)
{
    uint32_t root = at;
    uint64_t num = 1, den = 1;
    for (; j->node[root].parent != root; root = j->node[root].parent)
        multiply(j, &num, &den, j->node[root].num, j->node[root].den);
    while (j->node[at].parent != root && at != root) { /* hang the path under the root */
        struct node *n = &j->node[at];
        uint64_t a = n->num, b = n->den;
        at = n->parent;
        *n = (struct node){root, num, den};
        multiply(j, &num, &den, b, a);
    }
    return root;
}

/* a's number is num / den of b's; false: it cannot be. */
static bool relate(struct joiner *j, uint32_t a, uint32_t b, uint64_t num, uint64_t den)
{
    uint32_t x = find(j, a), y = find(j, b);
    uint64_t a_num = x == a ? 1 : j->node[a].num, a_den = x == a ? 1 : j->node[a].den;
    uint64_t b_num = y == b ? 1 : j->node[b].num, b_den = y == b ? 1 : j->node[b].den;
    uint64_t p = num / fc_common_divisor(num, den),
             q = den / fc_common_divisor(
                           num, den); /* x = (den_a / num_a) a = (den_a / num_a) (num / den) (num_b / den_b) y */
    multiply(j, &p, &q, b_num, b_den);
    multiply(j, &p, &q, a_den, a_num);
    if (x != y) {
        j->node[x] = (struct node){y, p, q};
        return true;
    }
    return p == q;
}

/* ---- messages and calls ---- */

static int by_pair(const void *a, const void *b)
{
    const struct fc_rate *x = a, *y = b;
    if (x->a != y->a) return x->a < y->a ? -1 : 1;
    return x->b < y->b ? -1 : x->b > y->b;
}

static bool relate_messages(struct joiner *j)
{
    struct fc_period_rates *r = j->r;
    char *why = r->period->why;
    size_t size = sizeof r->period->why;
    if (r->sends.n) qsort(r->sends.rate, r->sends.n, sizeof *r->sends.rate, by_pair);
    if (r->receives.n) qsort(r->receives.rate, r->receives.n, sizeof *r->receives.rate, by_pair);
    for (size_t i = 0, k = 0; i < r->sends.n || k < r->receives.n;) {
        const struct fc_rate *s = i < r->sends.n ? &r->sends.rate[i] : NULL;
        const struct fc_rate *t = k < r->receives.n ? &r->receives.rate[k] : NULL;
        int order = !s ? 1 : !t ? -1 : by_pair(s, t);
        const struct fc_rate *at = order <= 0 ? s : t;
        i += order <= 0;
        k += order >= 0;
        if (at->a == at->b) {
            if (order == 0 && s->n == t->n) continue;
        } else if (order == 0) {
            if (r->any[at->b] || relate(j, at->a, at->b, t->n, s->n)) continue;
        } else if (order < 0 && r->any[at->b]) {
            continue;
        }
        snprintf(why, size, "what rank %" PRIu32 " repeats sends to rank %" PRIu32 " what the other does not repeat",
                 at->a, at->b);
        return false;
    }
    return true;
}

/* All members of a communicator repeat its calls alike, or none does. */
static bool relate_calls(struct joiner *j)
{
    const struct fc_period_rates *r = j->r;
    const struct fc_trace *t = r->head;
    uint32_t n_ranks = t->n_ranks;
    for (uint32_t c = 0; c < t->n_comms; c++) j->scale[c] = 0;
    for (size_t i = 0; i < r->calls.n; i++) {
        const struct fc_rate *call = &r->calls.rate[i];
        j->scale[call->b]++;
        if (relate(j, call->a, n_ranks + call->b, 1, call->n)) continue;
        snprintf(r->period->why, sizeof r->period->why,
                 "the collective calls that rank %" PRIu32 " repeats on communicator %" PRIu32
                 " are not those of the others",
                 call->a, call->b);
        return false;
    }
    for (uint32_t c = 0; c < t->n_comms; c++) {
        if (j->scale[c] == 0 || j->scale[c] == t->comm_first[c + 1] - t->comm_first[c]) continue;
        snprintf(r->period->why, sizeof r->period->why,
                 "only %" PRIu64 " of the %" PRIu64 " members of communicator %" PRIu32
                 " repeat collective calls on it",
                 j->scale[c], t->comm_first[c + 1] - t->comm_first[c], c);
        return false;
    }
    return true;
}

/* ---- whole numbers ---- */

static bool solve(struct joiner *j)
{
    uint32_t n = j->r->head->n_ranks, n_nodes = n + j->r->head->n_comms;
    for (uint32_t i = 0; i < n_nodes; i++) j->scale[i] = 1;
    for (uint32_t i = 0; i < n; i++) { /* least common multiple of the denominators of each tree */
        uint32_t root = find(j, i);
        uint64_t den = root == i ? 1 : j->node[i].den, more = den / fc_common_divisor(den, j->scale[root]);
        j->bad |= __builtin_mul_overflow(j->scale[root], more, &j->scale[root]) || j->scale[root] > UINT32_MAX;
        if (j->bad) return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t root = find(j, i);
        j->k[i] = root == i ? j->scale[root] : j->scale[root] / j->node[i].den * j->node[i].num;
    }
    for (uint32_t i = 0; i < n_nodes; i++) j->scale[i] = 0;
    for (uint32_t i = 0; i < n; i++)
        if (j->r->period->rank[i].length) j->scale[find(j, i)] = fc_common_divisor(j->scale[find(j, i)], j->k[i]);
    for (uint32_t i = 0; i < n; i++)
        if (j->r->period->rank[i].length) j->k[i] /= j->scale[find(j, i)];
    return !j->bad;
}

/* All that is sent to a rank with receives from anyone is received. */
static bool balance(struct joiner *j)
{
    const struct fc_period_rates *r = j->r;
    for (uint32_t i = 0; i < r->head->n_ranks; i++) j->scale[i] = 0;
    for (size_t i = 0; i < r->sends.n; i++)
        j->scale[r->sends.rate[i].b] += j->k[r->sends.rate[i].a] * r->sends.rate[i].n;
    for (size_t i = 0; i < r->receives.n; i++)
        j->scale[r->receives.rate[i].b] -= j->k[r->receives.rate[i].b] * r->receives.rate[i].n;
    for (uint32_t i = 0; i < r->head->n_ranks; i++) {
        if (!r->any[i] || !r->period->rank[i].length || j->scale[i] == j->k[i] * r->any[i]) continue;
        snprintf(r->period->why, sizeof r->period->why,
                 "rank %" PRIu32 " receives from anyone, but not as many messages as are sent to it in a period", i);
        return false;
    }
    return true;
}

/* ---- periods of the job ---- */

/* Where all ranks repeat calls on the world, their periods start behind the same one, or as many periods
 * before it as all ranks have. */
static void align(struct joiner *j)
{
    struct fc_period_rates *r = j->r;
    struct fc_period_rank *rank = r->period->rank;
    uint32_t n = r->head->n_ranks;
    uint64_t call = 0, back = UINT64_MAX;
    for (uint32_t i = 0; i < n; i++) call = call > r->world_before[i] ? call : r->world_before[i];
    for (uint32_t i = 0; i < n; i++) j->scale[i] = 0; /* calls from the stretch's start to behind that one */
    for (size_t at = 0, end; at < r->world.n; at = end) {
        uint32_t i = r->world.rate[at].a;
        for (end = at; end < r->world.n && r->world.rate[end].a == i;) end++;
        if (!rank[i].length) continue;
        uint64_t ahead = call - r->world_before[i], per_period = end - at, whole = rank[i].length * j->k[i];
        j->scale[i] = ahead / per_period * rank[i].length + r->world.rate[at + ahead % per_period].b + 1;
        back = j->scale[i] / whole < back ? j->scale[i] / whole : back;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (!j->scale[i]) continue;
        uint64_t skip = j->scale[i] - back * rank[i].length * j->k[i];
        if (skip > r->stretch[i]) skip = r->stretch[i]; /* nothing is left: no period, told below */
        rank[i].start += skip;
        r->stretch[i] -= skip;
    }
}

static void count(struct joiner *j)
{
    struct fc_period_rates *r = j->r;
    struct fc_period *p = r->period;
    uint64_t n = UINT64_MAX, calls = 0, all = 0;
    p->least_calls = UINT64_MAX;
    for (uint32_t i = 0; i < r->head->n_ranks; i++) {
        struct fc_period_rank *rank = &p->rank[i];
        all += rank->n_calls;
        if (!rank->length) continue;
        rank->length *= j->k[i];
        rank->n_requests *= j->k[i];
        n = r->stretch[i] / rank->length < n ? r->stretch[i] / rank->length : n;
        calls += rank->length;
        p->least_calls = rank->length < p->least_calls ? rank->length : p->least_calls;
        p->most_calls = rank->length > p->most_calls ? rank->length : p->most_calls;
    }
    p->covers = calls ? (double)n * (double)calls / (double)all : 0;
    if (!calls)
        snprintf(p->why, sizeof p->why, "no calls about the middle of any rank repeat %d times", FC_LEAST_REPEATS);
    else if (n < FC_LEAST_REPEATS)
        snprintf(p->why, sizeof p->why, "what repeats does so only %" PRIu64 " times", n);
    else if (p->covers < 0.5)
        snprintf(p->why, sizeof p->why, "what repeats is only %.0f %% of all calls", 100 * p->covers);
    else
        p->repeats = n;
    if (!p->repeats) p->covers = 0;
    if (!p->repeats) p->least_calls = p->most_calls = 0;
}

enum fc_code fc_period_join(struct fc_period_rates *r, struct fc_status *st)
{
    struct joiner j = {.r = r};
    uint32_t n_nodes = r->head->n_ranks + r->head->n_comms;
    j.node = malloc(n_nodes * sizeof *j.node);
    j.k = malloc(r->head->n_ranks * sizeof *j.k);
    j.scale = malloc(n_nodes * sizeof *j.scale);
    if (!j.node || !j.k || !j.scale) {
        fc_out_of_memory(st, "%" PRIu32 " ranks and communicators", n_nodes);
    } else {
        for (uint32_t i = 0; i < n_nodes; i++) j.node[i] = (struct node){i, 1, 1};
        if (relate_messages(&j) && relate_calls(&j)) {
            if (!solve(&j)) {
                snprintf(r->period->why, sizeof r->period->why, "the periods of the ranks do not fit together");
            } else if (balance(&j)) {
                align(&j);
                count(&j);
            }
        }
    }
    free(j.node);
    free(j.k);
    free(j.scale);
    return st->code;
}
