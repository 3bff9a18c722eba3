/* bench_replay.c - trace events a CPU second of the replay alone: the LAMMPS recording of 64 ranks sixteen
 * times over, in memory, on bgl-64 (best of three). Not a test: machines differ. `make bench` */
#include "solvers/solvers.h"
#include "traces/traces.h"
#include "tests/yardstick.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { TIMES = 16, RUNS = 3 };

static double cpu_s(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* The events of a rank but Init and Finalize, TIMES over; requests count on. Returns how many. */
static uint64_t repeat_rank(const struct fc_trace *t, uint32_t rank, struct fc_event *to, int64_t *lists)
{
    int64_t n_requests = 0;
    uint64_t n = 0;
    for (uint64_t i = t->first_event[rank]; i < t->first_event[rank + 1]; i++) n_requests += t->events[i].request >= 0;
    for (int k = 0; k < TIMES; k++)
        for (uint64_t i = t->first_event[rank]; i < t->first_event[rank + 1]; i++) {
            struct fc_event *e = &to[n];
            if (t->events[i].op == FC_OP_INIT || t->events[i].op == FC_OP_FINALIZE) continue;
            *e = t->events[i];
            if (e->request >= 0) e->request += (int32_t)(k * n_requests);
            e->list += (uint64_t)k * t->n_lists;
            for (uint32_t j = 0; j < e->n_list; j++)
                lists[e->list + j] = t->lists[t->events[i].list + j] + (e->op == FC_OP_WAIT ? k * n_requests : 0);
            n++;
        }
    return n;
}

static bool repeat(struct fc_trace *t)
{
    struct fc_event *events = malloc(TIMES * t->first_event[t->n_ranks] * sizeof *events);
    int64_t *lists = malloc((TIMES * t->n_lists + 1) * sizeof *lists);
    uint64_t *first = calloc((size_t)t->n_ranks + 1, sizeof *first);
    if (!events || !lists || !first) return false;
    for (uint32_t r = 0; r < t->n_ranks; r++) first[r + 1] = first[r] + repeat_rank(t, r, events + first[r], lists);
    t->events = events;
    t->lists = lists;
    t->first_event = first;
    t->n_lists *= TIMES;
    return true;
}

static bool measure(const char *what, const struct fc_network *net, const struct fc_trace *t,
                    enum fc_network_model model, double goal, struct fc_status *st)
{
    double best_s = 1e300;
    struct fc_replay_settings settings = {.network = model, .software = net->machine->software};
    for (int i = 0; i < RUNS; i++) {
        struct fc_replay replay;
        double start_s = cpu_s();
        if (fc_replay_run(net, t, NULL, &settings, &replay, st)) return false;
        double took_s = cpu_s() - start_s;
        if (took_s < best_s) best_s = took_s;
        fc_replay_free(&replay);
    }
    double sorts = best_s / yard_sort_s(), millions = 1e-6 * (double)t->first_event[t->n_ranks] / best_s;
    printf("%-28s %8.3f CPU s (%.2f sorts of a million) %8.2f M events/s, goal %4.1f, ratio %.2f\n", what, best_s,
           sorts, millions, goal, millions / goal);
    return true;
}

int main(void)
{
    struct fc_status st = {0};
    struct fc_machine machine;
    struct fc_network net;
    struct fc_trace trace;
    char text[1024];
    if (fc_machine_load("bgl-64", &machine, &st) || fc_network_build(&machine, &net, &st) ||
        fc_trace_read("traces/samples/lammps-lj-64.fct", &trace, &st) || !repeat(&trace) ||
        !measure("replay ideal", &net, &trace, FC_NET_IDEAL, 10, &st) ||
        !measure("replay contention", &net, &trace, FC_NET_CONTENTION, 1, &st)) {
        fc_status_text(&st, text, sizeof text);
        printf("%s\n", text);
        return 1;
    }
    free(trace.events);
    free(trace.lists);
    free(trace.first_event);
    fc_trace_free(&trace);
    return 0;
}
