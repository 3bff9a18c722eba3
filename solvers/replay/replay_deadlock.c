/* replay_deadlock.c - names ranks that wait for ever.
 *
 * Nothing is on its way and some ranks have not finished: each of them waits for something another rank has
 * not done. From the lowest such rank the chain of "waits for" is followed until it closes (a cycle), or ends
 * at a rank that has finished or one that waits for a message from anyone: that part of it is reported. */
#include "solvers/replay/replay_report.h"
#include "solvers/replay/replay_run.h"

#include <inttypes.h>

static size_t describe(const struct fc_trace *t, const struct fc_blocked *b, char *out, size_t size)
{
    char place[40], whom[40] = "a message from anyone";
    if (t->first_line)
        snprintf(place, sizeof place, "line %ld", t->first_line[b->rank] + (long)b->event);
    else
        snprintf(place, sizeof place, "call %" PRIu64, b->event);
    if (b->waits_for != FC_NONE) snprintf(whom, sizeof whom, "rank %" PRIu32, b->waits_for);
    int n = snprintf(out, size, "rank %" PRIu32 " in %s (%s) for %s", b->rank, fc_op_names[b->op], place, whom);
    return n < 0 ? 0 : (size_t)n < size ? (size_t)n : size - 1;
}

enum fc_code fc_report_deadlock(struct fc_run *run,
                                bool (*blocked)(const struct fc_run *, uint32_t, struct fc_blocked *))
{
    enum { MOST_NAMED = 6 };
    const struct fc_trace *t = run->job->trace;
    struct fc_arena scratch = {0};
    char text[1000];
    struct fc_blocked b;
    uint32_t rank = 0, length = 0;
    while (rank < t->n_ranks && !blocked(run, rank, &b)) rank++;
    if (rank == t->n_ranks) return fc_refuse(run->job->st, FC_FAULT, "the replay stands still and nobody waits");
    uint32_t first = rank, *visited = fc_alloc(&scratch, t->n_ranks, sizeof *visited, run->job->st);
    if (!visited) return run->job->st->code;
    bool is_blocked = true;
    while (rank != FC_NONE && (is_blocked = blocked(run, rank, &b)) && !visited[rank]) {
        visited[rank] = ++length;
        rank = b.waits_for;
    }
    bool cycle = rank != FC_NONE && is_blocked;
    uint32_t start = cycle ? visited[rank] : 1, end = rank; /* of the chain's part to report */
    if (cycle) first = rank;
    size_t used = 0;
    rank = first;
    for (uint32_t i = start; i <= length; i++, rank = b.waits_for) {
        blocked(run, rank, &b);
        if (i - start == MOST_NAMED) {
            used += (size_t)snprintf(text + used, sizeof text - used, ", and %" PRIu32 " more", length - i + 1);
            break;
        }
        if (i > start) used += (size_t)snprintf(text + used, sizeof text - used, ", ");
        used += describe(t, &b, text + used, sizeof text - used);
    }
    fc_arena_free(&scratch);
    blocked(run, first, &b);
    struct fc_place where = {t->rank_file ? t->rank_file[first] : t->file, 0};
    if (t->first_line) where = (struct fc_place){t->file, t->first_line[first] + (long)b.event};
    if (cycle) return fc_fail(run->job->st, FC_INPUT, where, "ranks wait for each other for ever: %s", text);
    if (end == FC_NONE) return fc_fail(run->job->st, FC_INPUT, where, "ranks wait for ever: %s", text);
    return fc_fail(run->job->st, FC_INPUT, where, "ranks wait for ever: %s, and rank %" PRIu32 " has ended", text, end);
}
