/* bench_alltoall.c - does the time of a linear all-to-all grow as its messages? One call of 1 KiB a pair among P
 * ranks on bgl-4k, two ranks a node: CPU us a message of the replay, and its ratio to that of the fewest ranks
 * (1: as the messages). Not a test: machines differ. `make bench`; an argument chooses the network, `ideal
 * 4096` more ranks (some 20 s and 2 GB). */
#include "solvers/collective/collective.h"
#include "traces/traces.h"
#include "tests/yardstick.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static double cpu_s(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static bool make_trace(struct fc_trace *t, uint32_t n, struct fc_status *st)
{
    *t = (struct fc_trace){.file = "alltoall", .program = "alltoall", .recorded = "", .n_ranks = n, .n_comms = 1};
    t->comm_first = fc_alloc(&t->arena, 2, sizeof *t->comm_first, st);
    t->comm_member = fc_alloc(&t->arena, n, sizeof *t->comm_member, st);
    t->first_event = fc_alloc(&t->arena, (size_t)n + 1, sizeof *t->first_event, st);
    t->events = fc_alloc(&t->arena, n, sizeof *t->events, st);
    t->lists = fc_alloc(&t->arena, 1, sizeof *t->lists, st);
    if (st->code) return false;
    t->comm_first[1] = n;
    for (uint32_t r = 0; r < n; r++) {
        t->comm_member[r] = r;
        t->first_event[r + 1] = r + 1;
        t->events[r] = (struct fc_event){.op = FC_OP_ALLTOALL, .peer = -1, .bytes = 1024, .request = -1};
    }
    return true;
}

/* CPU us a message; negative when it fails. */
static double measure(const struct fc_network *net, enum fc_network_model network, uint32_t n, double *time_s,
                      struct fc_status *st)
{
    struct fc_collective_choice choice;
    struct fc_trace trace;
    struct fc_replay replay;
    if (!make_trace(&trace, n, st) || fc_collective_choice_read("alltoall=linear", &choice, st)) return -1;
    struct fc_replay_settings settings = {
        .network = network, .software = net->machine->software, .collectives = &choice};
    double start_s = cpu_s();
    if (fc_replay_run(net, &trace, NULL, &settings, &replay, st)) return -1;
    double took_s = cpu_s() - start_s;
    *time_s = replay.prediction.time_s;
    fc_replay_free(&replay);
    fc_trace_free(&trace);
    return 1e6 * took_s / ((double)n * (n - 1));
}

int main(int argc, char **argv)
{
    static const struct {
        const char *network;
        uint32_t n[3];
    } benches[] = {{"ideal", {512, 1024, 2048}}, {"contention", {64, 128, 256}}};
    struct fc_status st = {0};
    struct fc_machine machine;
    struct fc_network net;
    uint32_t more = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
    yard_print();
    if (fc_machine_load("bgl-4k", &machine, &st) || fc_network_build(&machine, &net, &st)) return 1;
    for (size_t i = 0; i < FC_COUNT(benches); i++) {
        double first_us = 0;
        if (argc > 1 && strcmp(argv[1], benches[i].network)) continue;
        for (size_t k = 0; k < FC_COUNT(benches[i].n) + (more > 0); k++) {
            uint32_t n = k < FC_COUNT(benches[i].n) ? benches[i].n[k] : more;
            double time_s, us = measure(&net, i ? FC_NET_CONTENTION : FC_NET_IDEAL, n, &time_s, &st);
            if (us < 0) {
                char text[1024];
                fc_status_text(&st, text, sizeof text);
                printf("%s\n", text);
                return 1;
            }
            if (k == 0) first_us = us;
            printf("linear alltoall, %-10s %5u ranks %8.2f CPU us a message, ratio %.2f; %.6f s\n", benches[i].network,
                   n, us, us / first_us, time_s);
        }
    }
    fc_network_free(&net);
    fc_machine_free(&machine);
    return 0;
}
