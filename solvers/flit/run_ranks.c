/* run_ranks.c - run control over ranks: each of them decides everything by itself, so all must know the same.
 *
 * The engine's advance brings the state of all ranks. Counts are integers, whose sum is the same in any order: each rank keeps
 * what all others have counted as if one more thread had (all - own). Maxima may stand in both. What only the result
 * needs, links and intervals, is added up once, at the end. Failures of one rank reach the others where they next agree
 * (core/ranks.h), which is before they next wait for each other. */
#include "solvers/flit/run.h"

#include <stddef.h>
#include <string.h>

/* ---- were all asked the same? ---------------------------------------------------------------------------- */

static void digest(uint64_t *so_far, const void *bytes, size_t n)
{
    const char *at = bytes;
    for (; n >= 8; n -= 8, at += 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        *so_far = fc_random_quick(*so_far, word) + 1;
    }
    uint64_t rest = n;
    memcpy(&rest, at, n);
    *so_far = fc_random_quick(*so_far, rest) + 1;
}

static void digest_real(uint64_t *so_far, double value)
{
    digest(so_far, &value, sizeof value);
}

static void digest_whole(uint64_t *so_far, uint64_t value)
{
    digest(so_far, &value, sizeof value);
}

static void digest_demand(uint64_t *so_far, const struct fc_demand *d)
{
    digest_whole(so_far, d->n_tasks);
    digest_whole(so_far, d->open_loop);
    for (int p = 0; p < d->n_dense; p++) {
        digest(so_far, d->dense[p].a, d->n_tasks * sizeof *d->dense[p].a);
        digest(so_far, d->dense[p].b, d->n_tasks * sizeof *d->dense[p].b);
        digest_real(so_far, d->dense[p].message_bytes);
    }
    if (d->n_entries == 0) return;
    digest(so_far, d->src, d->n_entries * sizeof *d->src);
    digest(so_far, d->dst, d->n_entries * sizeof *d->dst);
    digest(so_far, d->bytes, d->n_entries * sizeof *d->bytes);
    if (d->messages) digest(so_far, d->messages, d->n_entries * sizeof *d->messages);
}

static void digest_network(uint64_t *so_far, const struct fc_flit_net *flit)
{
    const struct fc_network *net = flit->net;
    int n_classes = net->machine->n_classes;
    digest(so_far, net->link_source, net->n_links * sizeof *net->link_source);
    digest(so_far, net->link_target, net->n_links * sizeof *net->link_target);
    digest(so_far, net->link_class, net->n_links * sizeof *net->link_class);
    digest(so_far, flit->flit_ticks, (size_t)n_classes * sizeof *flit->flit_ticks);
    digest(so_far, flit->trailer_ticks, (size_t)n_classes * sizeof *flit->trailer_ticks);
    digest(so_far, flit->latency_ticks, (size_t)n_classes * sizeof *flit->latency_ticks);
    const uint64_t rest[] = {flit->n_routers,    flit->router_ticks,    flit->credit_ticks,
                             flit->buffer_flits, flit->injection_flits, (uint64_t)flit->n_vcs,
                             flit->paths,        flit->adaptive,        (uint64_t)flit->arbitration};
    digest(so_far, rest, sizeof rest);
    digest_real(so_far, flit->cycle_s);
}

static void digest_settings(uint64_t *so_far, const struct fc_flit_settings *s)
{
    const uint64_t whole[] = {s->packet_flits_min,  s->packet_flits_max,
                              s->warmup_cycles,     s->measure_cycles,
                              s->most_packets,      s->lengthen,
                              s->only_accepted,     s->most_cycles,
                              s->interval_cycles,   s->deadlock_cycles,
                              s->in_order,          s->allow_deadlock,
                              s->backlog,           s->seed,
                              (uint64_t)s->threads, s->bubble_as_published};
    const double real[] = {s->load_flits_per_cycle,
                           s->high_priority_share,
                           s->background_flits_per_cycle,
                           s->precision,
                           s->source_gap_cycles,
                           s->latency_limit_cycles,
                           s->most_moves};
    digest(so_far, whole, sizeof whole);
    digest(so_far, real, sizeof real);
    if (s->background) digest_demand(so_far, s->background);
}

enum fc_code fc_flit_ranks_alike(const struct fc_flit_net *flit, const struct fc_demand *demand, const uint32_t *node,
                                 const struct fc_flit_settings *settings, struct fc_status *st)
{
    uint64_t all = 1;
    if (!fc_ranks_several(settings->ranks)) return st->code;
    if (fc_ranks_agree(settings->ranks, st)) return st->code;
    digest_network(&all, flit);
    digest_demand(&all, demand);
    if (node) digest(&all, node, demand->n_tasks * sizeof *node);
    digest_settings(&all, settings);
    if (fc_ranks_alike(settings->ranks, all)) return FC_OK;
    return fc_refuse(st, FC_INPUT,
                     "the ranks were not asked the same: machine, traffic, mapping or options differ (expected one "
                     "command line, and the same files wherever a rank runs)");
}

/* ---- counts ---------------------------------------------------------------------------------------------- */

/* Counts are all whole numbers between these. */
#define FIRST offsetof(struct fc_flit_counts, measured_started)
#define N_COUNTS ((offsetof(struct fc_flit_counts, interval_flits) - FIRST) / sizeof(uint64_t))
_Static_assert((offsetof(struct fc_flit_counts, interval_flits) - FIRST) % sizeof(uint64_t) == 0, "counts of 64 bits");

static uint64_t *values_of(struct fc_flit_counts *counts)
{
    return (uint64_t *)(void *)((char *)counts + FIRST);
}

/* A place among them. */
#define AT(member) ((offsetof(struct fc_flit_counts, member) - FIRST) / sizeof(uint64_t))
static const size_t maxima[] = {AT(latency_max_ticks), AT(apart.latency_max_ticks), AT(last_delivery)};
/* What run control looks at after every step. */
static const size_t few[] = {AT(measured_started),       AT(measured_delivered), AT(packets_injected),
                             AT(packets_delivered),      AT(flits_injected),     AT(flits_delivered),
                             AT(packets_copied),         AT(flits_copied),       AT(window_flits_delivered),
                             AT(window_background_flits)};

static void share_few(struct fc_flit_control *c, uint64_t *others)
{
    uint64_t own[FC_COUNT(few)] = {0}, all[FC_COUNT(few)];
    for (int t = 0; t < c->threads; t++)
        for (size_t i = 0; i < FC_COUNT(few); i++) own[i] += values_of(&c->counts[t])[few[i]];
    memcpy(all, own, sizeof all);
    c->flit->ranks->sum(c->flit->ranks, all, FC_COUNT(all));
    for (size_t i = 0; i < FC_COUNT(few); i++) others[few[i]] = all[i] - own[i];
}

static void share_all(struct fc_flit_control *c, uint64_t *others)
{
    struct fc_flit_counts own = {0};
    uint64_t most[FC_COUNT(maxima)];
    for (int t = 0; t < c->threads; t++) fc_flit_counts_add(&own, &c->counts[t]);
    const uint64_t *mine = values_of(&own);
    for (size_t i = 0; i < FC_COUNT(maxima); i++) most[i] = mine[maxima[i]];
    memcpy(others, mine, N_COUNTS * sizeof *others);
    c->flit->ranks->sum(c->flit->ranks, others, N_COUNTS);
    c->flit->ranks->greatest(c->flit->ranks, most, FC_COUNT(most));
    for (size_t i = 0; i < N_COUNTS; i++) others[i] -= mine[i];
    for (size_t i = 0; i < FC_COUNT(maxima); i++) others[maxima[i]] = most[i];
}

void fc_flit_share(struct fc_flit_control *c, bool all)
{
    if (!c->flit->ranks) return;
    (all ? share_all : share_few)(c, values_of(&c->counts[c->threads]));
}

/* ---- at the end ------------------------------------------------------------------------------------------ */

void fc_flit_share_arrays(struct fc_flit_control *c)
{
    const struct fc_ranks *ranks = c->flit->ranks;
    struct fc_flit_counts *total = c->total;
    if (!ranks) return;
    ranks->sum(ranks, c->link_flits, c->flit->n_links);
    ranks->sum(ranks, c->link_packets, c->flit->n_links);
    for (uint32_t from = 0, n; from < c->flit->n_nodes; from += n) {
        uint64_t wide[8192];
        n = c->flit->n_nodes - from < FC_COUNT(wide) ? c->flit->n_nodes - from : FC_COUNT(wide);
        for (uint32_t i = 0; i < n; i++) wide[i] = c->injected[from + i];
        ranks->sum(ranks, wide, n);
        for (uint32_t i = 0; i < n; i++) c->injected[from + i] = (uint32_t)wide[i];
    }
    if (total->n_intervals == 0) return;
    ranks->sum(ranks, total->interval_flits, total->n_intervals);
    ranks->sum(ranks, *total->interval_vc_flits,
               total->n_intervals * sizeof *total->interval_vc_flits / sizeof(uint64_t));
    ranks->sum(ranks, total->interval_returns, total->n_intervals);
    ranks->sum(ranks, total->interval_unblocked, total->n_intervals);
}

void fc_flit_share_costs(struct fc_flit_control *c, double cpu_s)
{
    struct fc_flit_result *r = c->result;
    const struct fc_ranks *ranks = c->flit->ranks;
    r->cpu_s = cpu_s;
    r->exchanged = (struct fc_flit_exchanged){.ranks = 1};
    if (!ranks) return;
    uint64_t sum[] = {(uint64_t)(cpu_s * 1e9), c->state.messages, c->state.message_bytes},
             most = (uint64_t)c->state.neighbours;
    ranks->sum(ranks, sum, FC_COUNT(sum));
    ranks->greatest(ranks, &most, 1);
    r->cpu_s = (double)sum[0] * 1e-9;
    r->exchanged = (struct fc_flit_exchanged){.ranks = ranks->size,
                                              .windows = c->state.windows,
                                              .messages = sum[1],
                                              .message_bytes = sum[2],
                                              .most_neighbours = (int)most};
}
