/* trace_calls.c - a trace of nothing but calls of one collective operation of all ranks. */
#include "traces/traces.h"

enum fc_code fc_trace_of_calls(enum fc_op op, uint32_t n, double bytes, uint32_t calls, struct fc_trace *t,
                               struct fc_status *st)
{
    *t = (struct fc_trace){.n_ranks = n, .n_comms = 1};
    t->comm_first = fc_alloc(&t->arena, 2, sizeof *t->comm_first, st);
    t->comm_member = fc_alloc(&t->arena, n, sizeof *t->comm_member, st);
    t->first_event = fc_alloc(&t->arena, (size_t)n + 1, sizeof *t->first_event, st);
    t->first_line = fc_alloc(&t->arena, n, sizeof *t->first_line, st);
    t->events = fc_alloc(&t->arena, (size_t)n * calls, sizeof *t->events, st);
    t->lists = fc_alloc(&t->arena, 1, sizeof *t->lists, st);
    t->program = fc_copy_text(&t->arena, fc_op_names[op], st);
    if (st->code) {
        fc_trace_free(t);
        return st->code;
    }
    t->file = t->program;
    t->comm_first[1] = n;
    bool rooted = op == FC_OP_BCAST || op == FC_OP_REDUCE || op == FC_OP_GATHER || op == FC_OP_SCATTER;
    for (uint32_t r = 0; r < n; r++) {
        t->comm_member[r] = r;
        t->first_event[r + 1] = (uint64_t)(r + 1) * calls;
        t->first_line[r] = (long)(r * (uint64_t)calls) + 1;
        for (uint32_t k = 0; k < calls; k++)
            t->events[r * (uint64_t)calls + k] = (struct fc_event){
                .op = (uint8_t)op, .peer = rooted ? 0 : -1, .bytes = (int64_t)fmax(1, bytes), .request = -1};
    }
    return FC_OK;
}
