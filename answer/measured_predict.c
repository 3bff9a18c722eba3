/* measured_predict.c - rows of a table, predicted: each is the replay of one call of all ranks that enter it at once
 * (replay.c, under contention), with the algorithm that the row names. Its time is until the last rank leaves, as the slowest
 * rank's clock was read. Where the table names the library, a barrier by its rules goes before, as benchmarks have it, and with
 * e_i when it lets rank i go and f_i when the call does
 *
 *     T = max over i of (f_i - e_i):
 *
 * down a tree ranks are let go one after the other, so a broadcast down the same tree seems to take next to no time, and a
 * call in which all wait for all longer. Limits: no other imbalance between ranks, no other jobs. */
#include "answer/measured.h"
#include "mapping/mapping.h"

#include <string.h>

/* A row of more messages is left out. */
#define MOST_MESSAGES 3e7

const struct fc_end_point_range fc_end_points[FC_END_POINTS] = {
    [FC_END_OVERHEAD] = {"software.send", FC_SECONDS, 1e-8, 1e-4, 1e-6},
    [FC_END_EAGER_START] = {"software.eager_start", FC_SECONDS, 1e-8, 1e-5, 3e-7},
    [FC_END_COPY] = {"software.copy_per_byte", FC_SECONDS_PER_BYTE, 1e-12, 1e-8, 1e-10},
    [FC_END_RENDEZVOUS] = {"software.rendezvous", FC_SECONDS, 1e-8, 1e-4, 2e-6},
    [FC_END_REDUCE] = {"software.reduce_per_byte", FC_SECONDS_PER_BYTE, 1e-12, 1e-8, 1e-10},
    [FC_END_REDUCE_MEMORY] = {"software.reduce_memory_per_byte", FC_SECONDS_PER_BYTE, 1e-12, 1e-8, 3e-10},
    [FC_END_FRESH] = {"software.fresh_per_byte", FC_SECONDS_PER_BYTE, 1e-12, 1e-8, 3e-10},
    [FC_END_CALL] = {"software.call", FC_SECONDS, 1e-8, 1e-4, 5e-7},
    [FC_END_PORT] = {"node.port_bandwidth", FC_BYTES_PER_S, 1e7, 1e12, 1e10},
    [FC_END_EXCHANGE] = {"node.exchange_bandwidth", FC_BYTES_PER_S, 1e7, 2e12, 2e10},
    [FC_END_OWN] = {"software.own_per_byte", FC_SECONDS_PER_BYTE, 1e-12, 1e-8, 1e-10},
    [FC_END_DELAY] = {"router.delay", FC_SECONDS, 1e-8, 3e-6, 2e-7},
    [FC_END_INLINE] = {"software.inline", FC_BYTES, 0, 4096, 0},
    [FC_END_EAGER] = {"software.eager", FC_BYTES, 1024, 262144, 16384},
    [FC_END_CACHE] = {"software.cache", FC_BYTES, 1 << 20, 1e18, 1e18},
};

struct fc_end_values fc_end_values_of(const struct fc_machine *m)
{
    const struct fc_software *s = &m->software;
    struct fc_end_values v = {{[FC_END_OVERHEAD] = (s->send_s + s->recv_s) / 2,
                               [FC_END_EAGER_START] = s->eager_start_s,
                               [FC_END_COPY] = s->copy_per_byte_s,
                               [FC_END_RENDEZVOUS] = s->rendezvous_s,
                               [FC_END_REDUCE] = s->reduce_per_byte_s,
                               [FC_END_REDUCE_MEMORY] = s->reduce_memory_per_byte_s,
                               [FC_END_FRESH] = s->fresh_per_byte_s,
                               [FC_END_CALL] = s->call_s,
                               [FC_END_PORT] = m->port_bytes_per_s,
                               [FC_END_EXCHANGE] = m->exchange_bytes_per_s,
                               [FC_END_OWN] = s->own_per_byte_s,
                               [FC_END_DELAY] = m->router.delay_s,
                               [FC_END_INLINE] = s->inline_bytes,
                               [FC_END_EAGER] = s->eager_bytes,
                               [FC_END_CACHE] = s->cache_bytes}};
    return v;
}

void fc_end_values_set(const struct fc_end_values *v, struct fc_machine *m)
{
    struct fc_software *s = &m->software;
    s->send_s = s->recv_s = v->value[FC_END_OVERHEAD];
    s->eager_start_s = v->value[FC_END_EAGER_START];
    s->copy_per_byte_s = v->value[FC_END_COPY];
    s->rendezvous_s = v->value[FC_END_RENDEZVOUS];
    s->reduce_per_byte_s = v->value[FC_END_REDUCE];
    s->reduce_memory_per_byte_s = v->value[FC_END_REDUCE_MEMORY];
    s->fresh_per_byte_s = v->value[FC_END_FRESH];
    s->call_s = v->value[FC_END_CALL];
    s->inline_bytes = v->value[FC_END_INLINE];
    s->eager_bytes = v->value[FC_END_EAGER];
    s->cache_bytes = v->value[FC_END_CACHE];
    m->port_bytes_per_s = v->value[FC_END_PORT];
    m->exchange_bytes_per_s = v->value[FC_END_EXCHANGE];
    s->own_per_byte_s = v->value[FC_END_OWN];
    m->router.delay_s = v->value[FC_END_DELAY];
}

static bool too_long(const struct fc_measured_row *row, uint32_t n)
{
    const struct fc_collective_call call = {row->op, n, row->bytes, false};
    const struct fc_collective_algorithm *a = fc_collective_select(&row->choice, &call);
    return a && a->alike && (double)fc_alike_sends(a->alike, n) * n > MOST_MESSAGES;
}

/* A barrier before the one call of every rank of the trace, which has room for two. */
static void begin_with_barrier(struct fc_trace *t)
{
    for (uint64_t i = 0; i < t->first_event[t->n_ranks]; i += 2)
        t->events[i] = (struct fc_event){.op = FC_OP_BARRIER, .peer = -1, .request = -1};
}

/* FC_INPUT: the row cannot be predicted, for the reason in st. */
static enum fc_code predict(const struct fc_measured_job *job, struct fc_measured_row *row, struct fc_status *st)
{
    struct fc_trace trace[2]; /* the barrier alone, the barrier and the call */
    struct fc_replay replay[2];
    memset(trace, 0, sizeof trace);
    memset(replay, 0, sizeof replay);
    struct fc_placement placement = {job->mapping->n_tasks, job->mapping->node};
    struct fc_replay_settings settings = {.network = FC_NET_CONTENTION,
                                          .software = job->session.machine.software,
                                          .collectives = &row->choice,
                                          .time_only = true,
                                          .calibration = job->session.calibrated ? &job->session.calibration : NULL};
    row->predicted_s = NAN;
    if (too_long(row, job->n_ranks)) return fc_refuse(st, FC_INPUT, "more messages than are replayed here");
    if (!fc_trace_of_calls(row->op, job->n_ranks, row->call_bytes, row->barrier ? 2 : 1, &trace[1], st) &&
        row->barrier && !fc_trace_of_calls(FC_OP_BARRIER, job->n_ranks, 0, 1, &trace[0], st)) {
        begin_with_barrier(&trace[1]);
        fc_replay_run(&job->session.net, &trace[0], &placement, &settings, &replay[0], st);
    }
    if (!st->code && !fc_replay_run(&job->session.net, &trace[1], &placement, &settings, &replay[1], st)) {
        row->predicted_s = row->barrier ? 0 : replay[1].prediction.time_s - replay[1].prediction.computation_s;
        for (uint32_t r = 0; row->barrier && r < job->n_ranks; r++)
            row->predicted_s = fmax(row->predicted_s, replay[1].rank_finish_s[r] - replay[0].rank_finish_s[r]);
    }
    for (int k = 0; k < 2; k++) {
        fc_replay_free(&replay[k]);
        fc_trace_free(&trace[k]);
    }
    return st->code;
}

enum fc_code fc_measured_predict(struct fc_measured *t, const struct fc_end_values *values, bool only_fitted,
                                 int threads, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    struct fc_status *why = fc_alloc(&scratch, t->n_rows, sizeof *why, st);
    if (!why) return st->code;
    for (uint32_t j = 0; j < t->n_jobs; j++)
        if (t->jobs[j].open) fc_end_values_set(values, &t->jobs[j].session.machine);
#pragma omp parallel for num_threads(fc_threads(threads)) schedule(dynamic, 1)
    for (uint32_t i = 0; i < t->n_rows; i++) {
        struct fc_measured_row *row = &t->rows[i];
        if (!row->left_out && (row->fitted || !only_fitted)) predict(&t->jobs[row->job], row, &why[i]);
    }
    for (uint32_t i = 0; i < t->n_rows && !st->code; i++)
        if (why[i].code == FC_INPUT)
            t->rows[i].left_out = fc_copy_text(&t->arena, why[i].message, st);
        else if (why[i].code)
            *st = why[i];
    return st->code;
}
