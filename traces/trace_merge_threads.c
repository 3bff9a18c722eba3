/* trace_merge_threads.c - one order for the calls of a rank whose threads call MPI at the same time.
 *
 * A trace has one sequence of events a rank, and a replay that blocks in one thread's call must not keep
 * another's from being made. So a blocking call becomes the nonblocking one when it was entered and a wait
 * when it left, and events are sorted by what they give to others: by entry, waits by when they left. What a
 * wait waited for was entered before the wait left, on whichever rank; so along every dependency times grow,
 * and the order has no cycle. Limits: computation of the threads adds up, as if they had shared one core;
 * ranks on several hosts are ordered as well as their clocks agree. */
#include "traces/trace_merge.h"

#include <stdlib.h>
#include <string.h>

struct sorted {
    double key_s;
    uint64_t number;
    struct fc_event event;
};

static bool blocks(int op, int mode)
{
    bool collective = op == FC_OP_COMM || (op >= FC_OP_BARRIER && op <= FC_OP_SCAN);
    return op == FC_OP_SEND || op == FC_OP_RECV || (collective && mode == 0);
}

bool fc_merge_splits(const struct fc_raw_event *raw)
{
    return blocks(raw->kind, raw->mode);
}

static int by_key(const void *left, const void *right)
{
    const struct sorted *a = left, *b = right;
    if (a->key_s != b->key_s) return a->key_s < b->key_s ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

/* The nonblocking half of a blocking call; its wait goes into *wait. */
static void split(struct fc_trace *t, struct fc_event *e, int64_t request, struct fc_event *wait)
{
    *wait = (struct fc_event){.op = FC_OP_WAIT,
                              .peer = -1,
                              .request = -1,
                              .n_list = 1,
                              .list = t->n_lists,
                              .enter_s = e->enter_s,
                              .leave_s = e->leave_s};
    t->lists[t->n_lists++] = request;
    e->leave_s = e->enter_s;
    e->request = (int32_t)request;
    if (e->op == FC_OP_SEND)
        e->op = FC_OP_ISEND;
    else if (e->op == FC_OP_RECV)
        e->op = FC_OP_IRECV;
    else
        e->mode = 1;
}

void fc_merge_renumber(struct fc_trace *t, struct fc_event *events, uint64_t n, int64_t *number)
{
    int64_t next = 0;
    for (uint64_t i = 0; i < n; i++) {
        struct fc_event *e = &events[i];
        if (e->op != FC_OP_WAIT && e->request >= 0) {
            number[e->request] = next;
            e->request = (int32_t)next++;
        }
        for (uint32_t k = 0; e->op == FC_OP_WAIT && k < e->n_list; k++)
            t->lists[e->list + k] = number[t->lists[e->list + k]];
    }
}

enum fc_code fc_merge_untangle(struct fc_trace *t, struct fc_event *events, uint64_t *n, int64_t n_requests,
                               struct fc_status *st)
{
    uint64_t m = 0;
    struct sorted *sorted = malloc((2 * *n + 1) * sizeof *sorted);
    int64_t *number = malloc(((uint64_t)n_requests + *n + 1) * sizeof *number);
    if (!sorted || !number) {
        free(sorted);
        free(number);
        return fc_out_of_memory(st, "the threads of a rank are merged");
    }
    memset(number, -1, ((uint64_t)n_requests + *n + 1) * sizeof *number);
    for (uint64_t i = 0; i < *n; i++) {
        struct fc_event e = events[i], wait = {.op = FC_OP_OTHER};
        if (blocks(e.op, e.mode)) split(t, &e, n_requests++, &wait);
        sorted[m] = (struct sorted){e.op == FC_OP_WAIT ? e.leave_s : e.enter_s, m, e};
        m++;
        if (wait.op != FC_OP_WAIT) continue;
        sorted[m] = (struct sorted){wait.leave_s, m, wait};
        m++;
    }
    qsort(sorted, m, sizeof *sorted, by_key);
    for (uint64_t i = 0; i < m; i++) events[i] = sorted[i].event;
    fc_merge_renumber(t, events, m, number);
    *n = m;
    free(sorted);
    free(number);
    return FC_OK;
}
