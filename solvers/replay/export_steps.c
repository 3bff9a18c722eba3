/* export_steps.c - what the writers for other tools share: calls as messages, one number for each communicator and tag.
 *
 * Messages of the k-th collective call of the trace have a tag of their own, behind all tags of the program, so that
 * they meet each other only. */
#include "solvers/replay/export.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

static bool has_tag(const struct fc_event *e)
{
    return (e->op == FC_OP_SEND || e->op == FC_OP_RECV || e->op == FC_OP_ISEND || e->op == FC_OP_IRECV) && e->tag >= 0;
}

static struct fc_export_tag *find_tag(const struct fc_exporter *x, int32_t comm, int32_t tag)
{
    uint64_t h = (uint64_t)(uint32_t)comm * 0x9e3779b97f4a7c15u ^ (uint64_t)(uint32_t)tag * 0xc2b2ae3d27d4eb4fu;
    uint64_t i = (h ^ h >> 29) & x->mask;
    while (x->tags[i].number >= 0 && (x->tags[i].comm != comm || x->tags[i].tag != tag)) i = (i + 1) & x->mask;
    return &x->tags[i];
}

int64_t fc_export_tag(const struct fc_exporter *x, int32_t comm, int32_t tag)
{
    if (tag < 0) return FC_ANY;
    return comm == 0 && x->keep_world ? tag : find_tag(x, comm, tag)->number;
}

/* The table doubles when it is half full. */
static enum fc_code grow_tags(struct fc_exporter *x, uint64_t n, struct fc_status *st)
{
    struct fc_export_tag *old = x->tags;
    uint64_t size = x->tags ? x->mask + 1 : 0;
    if (2 * n < size) return FC_OK;
    x->mask = size ? 2 * size - 1 : 255;
    x->tags = fc_alloc(&x->arena, x->mask + 1, sizeof *x->tags, st);
    if (!x->tags) return FC_NO;
    for (uint64_t i = 0; i <= x->mask; i++) x->tags[i].number = -1;
    for (uint64_t i = 0; i < size; i++)
        if (old[i].number >= 0) *find_tag(x, old[i].comm, old[i].tag) = old[i];
    return FC_OK;
}

/* Numbers the tags in order of appearance, from first on. */
static enum fc_code number_tags(struct fc_exporter *x, int64_t first, struct fc_status *st)
{
    const struct fc_trace *t = x->trace;
    uint64_t n = 0;
    for (uint64_t i = 0; i < t->first_event[t->n_ranks]; i++) {
        const struct fc_event *e = &t->events[i];
        if (!has_tag(e) || (e->comm == 0 && x->keep_world)) continue;
        if (grow_tags(x, n + 1, st)) return st->code;
        struct fc_export_tag *tag = find_tag(x, e->comm, e->tag);
        if (tag->number >= 0) continue;
        if (first + (int64_t)n >= INT32_MAX)
            return fc_refuse(st, FC_NO, "more pairs of communicator and tag than numbers for them");
        *tag = (struct fc_export_tag){e->comm, e->tag, (int32_t)(first + (int64_t)n++)};
    }
    x->first_call = first + (int64_t)n;
    return grow_tags(x, n + 1, st);
}

enum fc_code fc_export_start(const struct fc_trace *trace, uint64_t *losses, struct fc_exporter *x,
                             struct fc_status *st)
{
    uint64_t n = trace->first_event[trace->n_ranks];
    int64_t most = -1;
    *x = (struct fc_exporter){.trace = trace, .losses = losses};
    x->part = fc_alloc(&x->arena, n, sizeof *x->part, st);
    if (!x->part) return FC_NO;
    memset(x->part, 0xff, n * sizeof *x->part);
    if (fc_job_calls_find(trace, NULL, x->part, &x->calls, st)) return st->code;
    for (uint64_t i = 0; i < n; i++) {
        const struct fc_event *e = &trace->events[i];
        if (has_tag(e) && e->comm == 0 && e->tag > most) most = e->tag;
        losses[FC_LOST_RMA] += e->op == FC_OP_RMA;
        losses[FC_LOST_WILDCARD] += (e->op == FC_OP_RECV || e->op == FC_OP_IRECV) && (e->peer < 0 || e->tag < 0);
    }
    x->keep_world = most < INT32_MAX / 2;
    if (number_tags(x, x->keep_world ? most + 1 : 0, st)) return st->code;
    if (x->first_call + x->calls.n_calls > INT32_MAX)
        return fc_refuse(st, FC_NO, "more collective calls (%" PRIu32 ") than numbers for their messages' tags",
                         x->calls.n_calls);
    return FC_OK;
}

void fc_export_end(struct fc_exporter *x)
{
    fc_job_calls_free(&x->calls);
    fc_arena_free(&x->arena);
}

static const struct fc_call_schedule *schedule_of(const struct fc_exporter *x, uint64_t event)
{
    return &x->calls.schedules[x->calls.calls[fc_part_call(x->part[event])].schedule];
}

void fc_export_steps(const struct fc_exporter *x, uint64_t event, uint64_t *first, uint64_t *end)
{
    const struct fc_call_schedule *s = schedule_of(x, event);
    uint32_t member = fc_part_member(x->part[event]);
    *first = s->first_step[member];
    *end = s->first_step[member + 1];
}

struct fc_export_step fc_export_step(const struct fc_exporter *x, uint64_t event, uint64_t step)
{
    const struct fc_call_schedule *s = schedule_of(x, event);
    uint32_t call = fc_part_call(x->part[event]);
    const struct fc_message *m = &s->messages[s->step[step] / 2];
    bool receives = s->step[step] % 2;
    const uint32_t *member = x->trace->comm_member + x->trace->comm_first[x->calls.calls[call].comm];
    return (struct fc_export_step){receives, member[receives ? m->from : m->to], m->round, llround(m->bytes),
                                   x->first_call + call};
}
