/* exact_job.c - a small mapping problem as tables: bytes between tasks, routes and hops between places; and
 * descents that find what the exact methods then prove.
 *
 * Routes are the routing's own walks, so shares are those of its fixed split (adaptive routings: the uniform
 * minimal one). Dense traffic is expanded: there are at most FC_EXACT_MOST tasks. */
#include "mapping/exact.h"
#include "models/hosts.h"

#include <math.h>
#include <string.h>

enum { DESCENTS = 200 };
static const uint64_t descent_stream = 0x65786163;

/* ---- the tables ---- */

static void add_message(const struct fc_machine *machine, double bytes, double each, double *payload, double *wire)
{
    *payload += bytes;
    *wire += bytes * (each > 0 ? fc_wire_bytes(machine, each) / each : 1);
}

static void sum_bytes(const struct fc_machine *machine, const struct fc_demand *d, struct fc_exact_job *job)
{
    for (size_t e = 0; e < d->n_entries; e++) {
        uint32_t s = d->src[e], t = d->dst[e];
        double each = d->messages[e] > 0 ? d->bytes[e] / d->messages[e] : 0;
        if (s != t) add_message(machine, d->bytes[e], each, &job->bytes[s][t], &job->wire[s][t]);
    }
    for (int i = 0; i < d->n_dense; i++)
        for (uint32_t s = 0; s < d->n_tasks; s++)
            for (uint32_t t = 0; t < d->n_tasks; t++)
                if (s != t)
                    add_message(machine, d->dense[i].a[s] * d->dense[i].b[t], d->dense[i].message_bytes,
                                &job->bytes[s][t], &job->wire[s][t]);
}

static double ratio(const struct fc_exact_job *job, uint32_t pair)
{
    return job->wire[pair / job->n_tasks][pair % job->n_tasks] / job->bytes[pair / job->n_tasks][pair % job->n_tasks];
}

/* Lists the pairs; whether their mean is always the same: all are alike, or every task has a node of its own. */
static void list_pairs(struct fc_exact_job *job)
{
    double payload = 0, wire = 0;
    bool shared = false;
    for (uint32_t i = 0; i < job->n_nodes; i++) shared = shared || job->capacity[i] > 1;
    for (uint32_t p = 0; p < job->n_tasks * job->n_tasks; p++) {
        uint32_t at = job->n_pairs;
        if (!(job->bytes[p / job->n_tasks][p % job->n_tasks] > 0)) continue;
        for (; at > 0 && ratio(job, job->pair[at - 1]) > ratio(job, p); at--) job->pair[at] = job->pair[at - 1];
        job->pair[at] = (uint16_t)p;
        job->n_pairs++;
        payload += job->bytes[p / job->n_tasks][p % job->n_tasks];
        wire += job->wire[p / job->n_tasks][p % job->n_tasks];
    }
    job->most_wire = job->n_pairs == 0 ? 1 : shared ? ratio(job, job->pair[job->n_pairs - 1]) : wire / payload;
    job->even_wire = job->n_pairs == 0 || !shared || job->most_wire <= ratio(job, job->pair[0]) * (1 + 1e-15);
}

/* Seconds that a byte of the walk takes of each link that may bind, in share_s[n_links]; hops. */
static double spread_walk(const struct fc_sites *sites, const struct fc_walk *walk, double *share_s)
{
    const struct fc_network *net = sites->net;
    double hops = 0;
    memset(share_s, 0, net->n_links * sizeof *share_s);
    for (uint32_t i = 0; i < walk->n; i++) {
        uint32_t l = walk->link[i];
        bool between = fc_is_between_routers(net, l);
        if (isfinite(fc_site_bandwidth(sites, l))) share_s[l] += walk->weight[i] / fc_site_bandwidth(sites, l);
        if (between) hops += walk->weight[i];
    }
    return hops;
}

/* Lists the walk's links under new numbers; `number` of those met before. Room for the whole walk is there. */
static void list_route(const struct fc_walk *walk, double *share_s, uint32_t *number, struct fc_exact_job *job,
                       uint64_t *at)
{
    for (uint32_t i = 0; i < walk->n; i++) {
        uint32_t l = walk->link[i];
        if (share_s[l] == 0) continue;
        if (number[l] == FC_NONE) number[l] = job->n_links++;
        job->link[*at] = number[l];
        job->share_s[(*at)++] = share_s[l];
        share_s[l] = 0;
    }
}

static enum fc_code list_routes(const struct fc_sites *sites, struct fc_walk *walk, struct fc_arena *arena,
                                struct fc_arena *scratch, struct fc_exact_job *job, struct fc_status *st)
{
    const struct fc_network *net = sites->net;
    uint32_t n = job->n_nodes, *number = fc_alloc(scratch, net->n_links, sizeof *number, st);
    double *share_s = number ? fc_alloc(scratch, net->n_links, sizeof *share_s, st) : NULL;
    uint64_t at = 0, room = 0;
    if (!share_s) return st->code;
    memset(number, 0xff, net->n_links * sizeof *number);
    for (int pass = 0; pass < 2; pass++) { /* counts, then lists */
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = 0; j < n; j++) {
                if (pass == 1) job->first[i * n + j] = at;
                if (i == j) continue;
                walk->n = 0;
                sites->routing->walk(net, sites->node[i], sites->node[j], 1, walk);
                if (walk->n == 0) {
                    char from[360], to[360];
                    return fc_refuse(st, FC_NO, "no route from %s to %s",
                                     fc_node_name(net, sites->node[i], from, sizeof from),
                                     fc_node_name(net, sites->node[j], to, sizeof to));
                }
                room += walk->n;
                if (pass == 0) continue;
                job->hops[i][j] = spread_walk(sites, walk, share_s);
                list_route(walk, share_s, number, job, &at);
            }
        if (pass == 1) break;
        job->link = fc_alloc(arena, room + 1, sizeof *job->link, st);
        job->share_s = job->link ? fc_alloc(arena, room + 1, sizeof *job->share_s, st) : NULL;
        if (!job->share_s) return st->code;
    }
    job->first[n * n] = at;
    return FC_OK;
}

enum fc_code fc_exact_job_start(const struct fc_sites *sites, const struct fc_demand *demand, struct fc_arena *arena,
                                struct fc_exact_job *job, struct fc_status *st)
{
    struct fc_arena scratch = {0};
    struct fc_walk walk;
    *job = (struct fc_exact_job){.n_tasks = demand->n_tasks, .n_nodes = sites->n_nodes};
    for (uint32_t i = 0; i < job->n_nodes; i++) job->capacity[i] = sites->slots_per_node;
    sum_bytes(sites->net->machine, demand, job);
    list_pairs(job);
    job->first = fc_alloc(arena, (size_t)job->n_nodes * job->n_nodes + 1, sizeof *job->first, st);
    if (!job->first || fc_walk_start(&walk, sites->routing->walk_capacity(sites->net), st)) return st->code;
    if (!list_routes(sites, &walk, arena, &scratch, job, st)) fc_exact_symmetry(job, st);
    fc_walk_free(&walk);
    fc_arena_free(&scratch);
    return st->code;
}

/* ---- the value of a mapping ---- */

double fc_exact_wire(const struct fc_exact_job *job, const uint32_t *node)
{
    double payload = 0, wire = 0;
    if (job->even_wire) return job->most_wire;
    for (uint32_t i = 0; i < job->n_pairs; i++) {
        uint32_t s = job->pair[i] / job->n_tasks, t = job->pair[i] % job->n_tasks;
        if (node[s] == FC_NONE || node[t] == FC_NONE || node[s] == node[t]) continue;
        payload += job->bytes[s][t];
        wire += job->wire[s][t];
    }
    for (uint32_t i = 0; i < job->n_pairs; i++) { /* the least of those that are open lower the mean most */
        uint32_t s = job->pair[i] / job->n_tasks, t = job->pair[i] % job->n_tasks;
        if (node[s] != FC_NONE && node[t] != FC_NONE) continue;
        if (payload > 0 && ratio(job, job->pair[i]) >= wire / payload) break;
        payload += job->bytes[s][t];
        wire += job->wire[s][t];
    }
    return payload > 0 ? wire / payload : 1;
}

double fc_exact_time_s(const struct fc_exact_job *job, const uint32_t *node, double *load)
{
    double longest = 0;
    memset(load, 0, job->n_links * sizeof *load);
    for (uint32_t s = 0; s < job->n_tasks; s++)
        for (uint32_t t = 0; t < job->n_tasks; t++) {
            uint64_t pair = (uint64_t)node[s] * job->n_nodes + node[t];
            if (job->bytes[s][t] == 0) continue;
            for (uint64_t k = job->first[pair]; k < job->first[pair + 1]; k++)
                load[job->link[k]] += job->bytes[s][t] * job->share_s[k];
        }
    for (uint32_t l = 0; l < job->n_links; l++) longest = fmax(longest, load[l]);
    return longest * fc_exact_wire(job, node);
}

double fc_exact_hop_bytes(const struct fc_exact_job *job, const uint32_t *node)
{
    double sum = 0;
    for (uint32_t s = 0; s < job->n_tasks; s++)
        for (uint32_t t = 0; t < job->n_tasks; t++) sum += job->bytes[s][t] * job->hops[node[s]][node[t]];
    return sum;
}

/* ---- descents ---- */

/* A value and, among equal ones, a second: the link times' squares summed, so that the many links of the same
 * longest time are left one by one. */
struct rank {
    double value, then;
};

static struct rank rank_of(const struct fc_exact_job *job, const uint32_t *node, double *load_s)
{
    struct rank r = {0, 0};
    if (!load_s) return (struct rank){fc_exact_hop_bytes(job, node), 0};
    r.value = fc_exact_time_s(job, node, load_s);
    for (uint32_t l = 0; l < job->n_links; l++) r.then += load_s[l] * load_s[l];
    return r;
}

static bool better(struct rank a, struct rank b)
{
    if (a.value < b.value * (1 - 1e-12)) return true;
    return a.value <= b.value * (1 + 1e-12) && a.then < b.then * (1 - 1e-9);
}

/* Tries to bring task t to place i, in exchange for task `other` there (FC_NONE: on a free slot). */
static bool improve(const struct fc_exact_job *job, uint32_t t, uint32_t i, uint32_t other, uint32_t *node,
                    struct rank *now, double *load_s)
{
    uint32_t from = node[t];
    node[t] = i;
    if (other != FC_NONE) node[other] = from;
    struct rank after = rank_of(job, node, load_s);
    if (better(after, *now)) {
        *now = after;
        return true;
    }
    node[t] = from;
    if (other != FC_NONE) node[other] = i;
    return false;
}

static struct rank descend(const struct fc_exact_job *job, uint32_t *node, double *load_s, uint64_t *tried)
{
    struct rank now = rank_of(job, node, load_s);
    uint32_t used[FC_EXACT_MOST] = {0};
    for (uint32_t t = 0; t < job->n_tasks; t++) used[node[t]]++;
    for (bool changed = true; changed;) {
        changed = false;
        *tried += job->n_tasks * (job->n_tasks / 2 + job->n_nodes);
        for (uint32_t t = 0; t < job->n_tasks; t++) {
            for (uint32_t u = t + 1; u < job->n_tasks; u++)
                if (node[u] != node[t] && improve(job, t, node[u], u, node, &now, load_s)) changed = true;
            for (uint32_t i = 0; i < job->n_nodes; i++) {
                uint32_t from = node[t];
                if (i == from || used[i] == job->capacity[i] || !improve(job, t, i, FC_NONE, node, &now, load_s))
                    continue;
                used[from]--;
                used[i]++;
                changed = true;
            }
        }
    }
    return now;
}

void fc_exact_descend(const struct fc_exact_job *job, uint64_t seed, double *load_s, struct fc_exact_answer *answer)
{
    uint64_t tried = 0;
    uint32_t slot[FC_EXACT_MOST * FC_EXACT_MOST], n_slots = 0, node[FC_EXACT_MOST], shuffled[FC_COUNT(slot)];
    struct rank best = {INFINITY, INFINITY};
    uint64_t work = 0, a_value = job->n_links + job->first[job->n_nodes * job->n_nodes] * job->n_pairs /
                                                    (uint64_t)fmax(1, job->n_nodes * (job->n_nodes - 1.0));
    for (uint32_t i = 0; i < job->n_nodes; i++)
        for (uint32_t k = 0; k < job->capacity[i] && k < job->n_tasks; k++) slot[n_slots++] = i;
    for (uint64_t r = 0; r < DESCENTS && (r == 0 || job->descent_work == 0 || work < job->descent_work); r++) {
        fc_random_permutation(seed, descent_stream + r, shuffled, n_slots);
        for (uint32_t t = 0; t < job->n_tasks; t++) node[t] = slot[r == 0 ? t : shuffled[t]];
        struct rank found = descend(job, node, load_s, &tried);
        work = tried * a_value;
        if (!better(found, best)) continue;
        best = found;
        memcpy(answer->node, node, job->n_tasks * sizeof *node);
    }
    answer->value = rank_of(job, answer->node, load_s).value;
}
