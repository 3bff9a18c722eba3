/* job_phases.c - the phases of a recorded job (traces/trace_phases.c) with all their bytes, collectives
 * expanded.
 *
 * A message belongs to the phase in which its sender makes the call that sends it: a send or a one-sided call
 * by itself, a collective call those messages of its algorithm that this member sends. So every message of
 * the job is in one phase, and the phases add up to fc_demand_of_job. What a member would send in a call that
 * its record no longer holds (a trace may be a window) comes after all of its record: in the last phase.
 *
 * Two phases are of one kind when they end with the same operation and have the same demand, entry by entry;
 * that is told by 64 bits of hash and the totals, so a chance of about n^2 / 2^65 for n phases is taken.
 * Rows: from a phase on, the p = 1 .. MOST_PERIOD next ones that repeat over most phases are p rows (least
 * p); else the phase is a row alone. One pass, O(events + messages + phases * MOST_PERIOD); memory O(ranks +
 * collective calls + pairs of one phase + phases). */
#include "core/array.h"
#include "solvers/replay/job_calls.h"
#include "traces/flows.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PERIOD = 64 };

struct walker {
    const struct fc_trace *trace;
    const struct fc_collective_choice *collectives;
    struct fc_status *st;
    struct fc_arena arena;
    struct fc_phase_cut cut;
    struct fc_job_calls calls;
    struct fc_flows flows; /* of the phases taken so far */
    uint64_t *part;        /* [n_events] UINT64_MAX: no part in a collective call */
    uint32_t *made;        /* [comm_first[n_comms]] calls so far of each member of each communicator */
};

static enum fc_code start(struct walker *w)
{
    const struct fc_trace *t = w->trace;
    uint64_t n_events = t->first_event[t->n_ranks];
    w->part = fc_alloc(&w->arena, n_events, sizeof *w->part, w->st);
    w->made = fc_alloc(&w->arena, t->comm_first[t->n_comms], sizeof *w->made, w->st);
    if (!w->part || !w->made) return w->st->code;
    memset(w->part, 0xff, n_events * sizeof *w->part);
    if (fc_job_calls_find(t, w->collectives, w->part, &w->calls, w->st) || fc_phases_start(t, &w->cut, w->st))
        return w->st->code;
    return fc_flows_start(&w->flows, t->n_ranks, w->st);
}

static void stop(struct walker *w)
{
    fc_flows_free(&w->flows);
    fc_phases_free(&w->cut);
    fc_job_calls_free(&w->calls);
    fc_arena_free(&w->arena);
}

/* What one member sends in a call. */
static enum fc_code add_part(struct walker *w, uint32_t call, uint32_t member)
{
    const struct fc_call *c = &w->calls.calls[call];
    const struct fc_call_schedule *s = &w->calls.schedules[c->schedule];
    const uint32_t *rank = w->trace->comm_member + w->trace->comm_first[c->comm];
    for (uint64_t i = s->first_step[member]; i < s->first_step[member + 1]; i++) {
        const struct fc_message *m = &s->messages[s->step[i] / 2];
        if (s->step[i] % 2 == 0 &&
            fc_flows_add(&w->flows, (struct fc_flow){rank[m->from], rank[m->to], m->bytes, 1}, w->st))
            return w->st->code;
    }
    return FC_OK;
}

/* What members send in calls that they do not make. Calls are in order of communicators. */
static enum fc_code add_missing(struct walker *w)
{
    const struct fc_trace *t = w->trace;
    for (uint32_t first = 0, end; first < w->calls.n_calls; first = end) {
        uint32_t comm = w->calls.calls[first].comm;
        for (end = first; end < w->calls.n_calls && w->calls.calls[end].comm == comm;) end++;
        for (uint64_t i = t->comm_first[comm]; i < t->comm_first[comm + 1]; i++)
            for (uint32_t k = w->made[i]; k < end - first; k++)
                if (add_part(w, first + k, (uint32_t)(i - t->comm_first[comm]))) return w->st->code;
    }
    return FC_OK;
}

/* Steps to the next phase; its messages are added where `take`. */
static enum fc_code next_phase(struct walker *w, bool take)
{
    const struct fc_trace *t = w->trace;
    if (fc_phases_next(&w->cut, w->st)) return w->st->code;
    for (uint32_t r = 0; r < t->n_ranks; r++)
        for (uint64_t i = w->cut.begin[r]; i < w->cut.end[r]; i++) {
            uint64_t part = w->part[i];
            if (part != UINT64_MAX)
                w->made[t->comm_first[w->calls.calls[fc_part_call(part)].comm] + fc_part_member(part)]++;
            if (!take) continue;
            if (part == UINT64_MAX ? fc_flows_add_event(&w->flows, r, &t->events[i], w->st)
                                   : add_part(w, fc_part_call(part), fc_part_member(part)))
                return w->st->code;
        }
    return take && w->cut.last ? add_missing(w) : FC_OK;
}

/* ---- the demand of some phases ---- */

static enum fc_code walk_to(struct walker *w, uint64_t first, uint64_t last)
{
    do {
        uint64_t number = w->cut.number + w->cut.started;
        if (next_phase(w, number >= first && number <= last)) return w->st->code;
    } while (!w->cut.last && w->cut.number < last);
    if (w->cut.number == last) return FC_OK;
    return fc_fail(w->st, FC_INPUT, (struct fc_place){w->trace->file, 0},
                   "phase %" PRIu64 " is out of range (allowed: 0 to %" PRIu64 ")", last, w->cut.number);
}

/* "./solver -n 3, phases 4-5" */
static char *phase_title(const struct fc_trace *trace, uint64_t first, uint64_t last, struct fc_arena *arena,
                         struct fc_status *st)
{
    const char *title = fc_trace_title(trace);
    size_t size = strlen(title) + 64;
    char *name = fc_alloc(arena, size, 1, st);
    if (!name) return NULL;
    int n = snprintf(name, size, "%s, phase%s %" PRIu64, title, first < last ? "s" : "", first);
    if (first < last) snprintf(name + n, size - (size_t)n, "-%" PRIu64, last);
    return name;
}

enum fc_code fc_demand_of_phases_by(const struct fc_trace *trace, const struct fc_collective_choice *collectives,
                                    uint64_t first, uint64_t last, struct fc_demand *demand, struct fc_status *st)
{
    struct walker w = {.trace = trace, .collectives = collectives, .st = st};
    *demand = (struct fc_demand){0};
    if (first > last) return fc_refuse(st, FC_INPUT, "there are no phases from %" PRIu64 " to %" PRIu64, first, last);
    enum fc_code code = start(&w);
    if (!code) code = walk_to(&w, first, last);
    char *name = code ? NULL : phase_title(trace, first, last, &w.arena, st);
    if (name) fc_flows_demand(&w.flows, name, demand, st);
    stop(&w);
    return st->code;
}

/* ---- all phases ---- */

static uint64_t mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * UINT64_C(0x9E3779B97F4A7C15);
    h ^= h >> 29;
    h *= UINT64_C(0xBF58476D1CE4E5B9);
    return h ^ h >> 32;
}

static uint64_t bits(double x)
{
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

/* Totals and hash of the phase whose merged messages are in flows; clears them. moved[2 * n_ranks] is
 * scratch. */
static void measure(struct walker *w, double *moved, struct fc_job_phase *phase)
{
    uint32_t n_ranks = w->trace->n_ranks;
    fc_flows_merge(&w->flows);
    memset(moved, 0, 2 * (size_t)n_ranks * sizeof *moved);
    phase->ending = w->cut.ending == UINT64_MAX ? -1 : w->trace->events[w->cut.ending].op;
    phase->hash = mix(0, (uint64_t)(phase->ending + 1));
    for (size_t i = 0; i < w->flows.n; i++) {
        const struct fc_flow *f = &w->flows.flow[i];
        phase->hash = mix(mix(mix(phase->hash, (uint64_t)f->src << 32 | f->dst), bits(f->bytes)), bits(f->messages));
        if (f->src == f->dst) continue;
        phase->n_pairs++;
        phase->messages += f->messages;
        phase->bytes += f->bytes;
        moved[f->src] += f->bytes;
        moved[n_ranks + f->dst] += f->bytes;
    }
    for (uint32_t i = 0; i < 2 * n_ranks; i++) phase->max_rank_bytes = fmax(phase->max_rank_bytes, moved[i]);
    w->flows.n = 0;
}

static bool same_kind(const struct fc_job_phase *a, const struct fc_job_phase *b)
{
    return a->hash == b->hash && a->ending == b->ending && a->n_pairs == b->n_pairs && a->bytes == b->bytes &&
           a->messages == b->messages;
}

/* Numbers kinds in the order of their first phases. */
static enum fc_code find_kinds(struct fc_job_phases *p, struct fc_arena *scratch, struct fc_status *st)
{
    size_t mask = 15;
    while (mask < 2 * p->n_phases) mask = 2 * mask + 1;
    uint64_t *slot = fc_alloc(scratch, mask + 1, sizeof *slot, st); /* phase + 1 */
    if (!slot) return st->code;
    for (uint64_t i = 0; i < p->n_phases; i++) {
        size_t s = p->phase[i].hash & mask;
        while (slot[s] && !same_kind(&p->phase[slot[s] - 1], &p->phase[i])) s = (s + 1) & mask;
        if (slot[s] == 0) {
            slot[s] = i + 1;
            p->phase[i].kind = p->n_kinds++;
        }
        p->phase[i].kind = p->phase[slot[s] - 1].kind;
    }
    return FC_OK;
}

/* Phases from `first` on that repeat with the period. */
static uint64_t repeats(const struct fc_job_phases *p, uint64_t first, uint64_t period)
{
    uint64_t i = first + period;
    while (i < p->n_phases && p->phase[i].kind == p->phase[i - period].kind) i++;
    return (i - first) / period;
}

static enum fc_code find_rows(struct fc_job_phases *p, struct fc_status *st)
{
    p->row = fc_alloc(&p->arena, p->n_phases, sizeof *p->row, st);
    if (!p->row) return st->code;
    for (uint64_t i = 0; i < p->n_phases;) {
        uint64_t period = 1, times = 1;
        for (uint64_t k = 1; k <= MOST_PERIOD && i + k < p->n_phases; k++) {
            uint64_t n = repeats(p, i, k);
            if (n > 1 && n * k > times * period) {
                times = n;
                period = k;
            }
        }
        for (uint64_t k = 0; k < period; k++) p->row[p->n_rows++] = (struct fc_phase_row){i + k, period, times};
        i += period * times;
    }
    return FC_OK;
}

/* All phases into *list, malloc'd. */
static enum fc_code list_phases(struct walker *w, struct fc_job_phase **list, uint64_t *n)
{
    size_t capacity = 0;
    double *moved = fc_alloc(&w->arena, 2 * (size_t)w->trace->n_ranks, sizeof *moved, w->st);
    if (!moved) return w->st->code;
    do {
        if (!FC_GROW(*list, capacity, *n + 1)) return fc_out_of_memory(w->st, "the phases of the trace");
        if (next_phase(w, true)) return w->st->code;
        (*list)[*n] = (struct fc_job_phase){0};
        measure(w, moved, &(*list)[(*n)++]);
    } while (!w->cut.last);
    return FC_OK;
}

enum fc_code fc_job_phases_find_by(const struct fc_trace *trace, const struct fc_collective_choice *collectives,
                                   struct fc_job_phases *phases, struct fc_status *st)
{
    struct walker w = {.trace = trace, .collectives = collectives, .st = st};
    struct fc_job_phase *list = NULL;
    *phases = (struct fc_job_phases){0};
    enum fc_code code = start(&w);
    if (!code) code = list_phases(&w, &list, &phases->n_phases);
    if (!code) {
        phases->phase = fc_alloc(&phases->arena, phases->n_phases, sizeof *list, st);
        if (phases->phase) memcpy(phases->phase, list, phases->n_phases * sizeof *list);
        code = !phases->phase || find_kinds(phases, &w.arena, st) || find_rows(phases, st) ? st->code : FC_OK;
    }
    free(list);
    stop(&w);
    if (code) fc_job_phases_free(phases);
    return code;
}

void fc_job_phases_free(struct fc_job_phases *phases)
{
    fc_arena_free(&phases->arena);
    *phases = (struct fc_job_phases){0};
}
