/* bench_halo.c - CPU seconds of a replay with contention: a 3-D halo exchange of 6 x 64 KiB and an allreduce
 * of 8 bytes, ten times, on 1 728 ranks (103 680 halo messages), torus and fat-tree (best of two). SimGrid 3.32
 * takes 5.4 CPU s on such a torus and 60 on such a fat-tree; the goal is a twentieth. Not a test: machines
 * differ. `make bench`; an argument chooses the cases whose name contains it: `halo at random` those that place
 * ranks on random nodes, too, so that most messages are connected by full links. */
#include "solvers/solvers.h"
#include "traces/traces.h"
#include "tests/yardstick.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { SIDE = 12, RANKS = SIDE * SIDE * SIDE, TIMES = 10, FACES = 6, A_TIME = 2 * FACES + 2, RUNS = 2 };

static double cpu_s(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static uint32_t neighbour(uint32_t rank, int face)
{
    uint32_t at[3] = {rank % SIDE, rank / SIDE % SIDE, rank / SIDE / SIDE}, d = (uint32_t)face / 2;
    at[d] = (at[d] + (face % 2 ? 1 : SIDE - 1)) % SIDE;
    return at[0] + SIDE * (at[1] + SIDE * at[2]);
}

/* One iteration of a rank: receives, sends, Waitall, Allreduce. */
static void exchange(uint32_t rank, struct fc_event *e, uint64_t list, int time)
{
    for (int k = 0; k < 2 * FACES; k++) {
        int face = k % FACES;
        bool sends = k >= FACES;
        *e++ = (struct fc_event){.op = sends ? FC_OP_ISEND : FC_OP_IRECV,
                                 .peer = (int32_t)neighbour(rank, sends ? face : face ^ 1),
                                 .tag = face,
                                 .bytes = 65536,
                                 .request = 2 * FACES * time + k};
    }
    *e++ = (struct fc_event){.op = FC_OP_WAIT, .peer = -1, .request = -1, .n_list = 2 * FACES, .list = list};
    *e = (struct fc_event){.op = FC_OP_ALLREDUCE, .peer = -1, .bytes = 8, .request = -1};
}

static bool make_trace(struct fc_trace *t, struct fc_status *st)
{
    *t = (struct fc_trace){.file = "halo", .program = "halo", .recorded = "", .n_ranks = RANKS, .n_comms = 1};
    t->n_lists = 2 * FACES * TIMES;
    t->comm_first = fc_alloc(&t->arena, 2, sizeof *t->comm_first, st);
    t->comm_member = fc_alloc(&t->arena, RANKS, sizeof *t->comm_member, st);
    t->first_event = fc_alloc(&t->arena, RANKS + 1, sizeof *t->first_event, st);
    t->events = fc_alloc(&t->arena, (size_t)RANKS * TIMES * A_TIME, sizeof *t->events, st);
    t->lists = fc_alloc(&t->arena, t->n_lists, sizeof *t->lists, st);
    if (st->code) return false;
    t->comm_first[1] = RANKS;
    for (uint64_t i = 0; i < t->n_lists; i++) t->lists[i] = (int64_t)i;
    for (uint32_t r = 0; r < RANKS; r++) {
        t->comm_member[r] = r;
        t->first_event[r + 1] = t->first_event[r] + TIMES * A_TIME;
        for (int k = 0; k < TIMES; k++)
            exchange(r, t->events + t->first_event[r] + k * A_TIME, (uint64_t)(2 * FACES * k), k);
    }
    return true;
}

struct bench {
    const char *name, *machine, *routing;
    double goal_s; /* 0: none */
    bool random;
};

/* A random permutation of the nodes. */
static void shuffle(uint32_t *node)
{
    for (uint32_t i = 0; i < RANKS; i++) node[i] = i;
    for (uint32_t i = RANKS - 1; i > 0; i--) {
        uint32_t j = (uint32_t)fc_random_below(3, 1, i, i + 1), moved = node[i];
        node[i] = node[j];
        node[j] = moved;
    }
}

static bool measure(const struct bench *b, const struct fc_trace *t, struct fc_status *st)
{
    struct fc_machine machine;
    struct fc_network net;
    double best_s = 1e300, time_s = 0;
    if (fc_machine_load(b->machine, &machine, st) || fc_machine_route(&machine, b->routing, st) ||
        fc_network_build(&machine, &net, st))
        return false;
    struct fc_replay_settings settings = {.network = FC_NET_CONTENTION, .software = machine.software};
    uint32_t node[RANKS];
    struct fc_placement placement = {.n_tasks = RANKS, .node = node};
    shuffle(node);
    for (int i = 0; i < (b->random ? 1 : RUNS); i++) {
        struct fc_replay replay;
        double start_s = cpu_s();
        if (fc_replay_run(&net, t, b->random ? &placement : NULL, &settings, &replay, st)) return false;
        double took_s = cpu_s() - start_s;
        if (took_s < best_s) best_s = took_s;
        time_s = replay.prediction.time_s;
        fc_replay_free(&replay);
    }
    printf("%-40s %8.3f CPU s (%.2f sorts of a million), %.6f s", b->name, best_s, best_s / yard_sort_s(), time_s);
    if (b->goal_s > 0) printf(", goal %.2f, ratio %.2f", b->goal_s, best_s / b->goal_s);
    printf("\n");
    fc_network_free(&net);
    fc_machine_free(&machine);
    return true;
}

int main(int argc, char **argv)
{
    static const struct bench benches[] = {
        {"halo, torus, dimension order", "tests/machines/torus-12x12x12.yaml", "dimension-order", 0.27, false},
        {"halo, torus, 8 adaptive paths", "tests/machines/torus-12x12x12.yaml", "adaptive", 0.27, false},
        {"halo, fat-tree, one path a pair", "tests/machines/fat-tree-12-12-12.yaml", "nca-hash", 3, false},
        {"halo, fat-tree, 8 paths a pair", "tests/machines/fat-tree-12-12-12.yaml", "nca", 3, false},
        {"halo at random, torus", "tests/machines/torus-12x12x12.yaml", "dimension-order", 0, true},
        {"halo at random, torus, adaptive", "tests/machines/torus-12x12x12.yaml", "adaptive", 0, true},
        {"halo at random, fat-tree, 8 paths", "tests/machines/fat-tree-12-12-12.yaml", "nca", 0, true},
    };
    struct fc_status st = {0};
    struct fc_trace trace;
    char text[1024];
    bool good = make_trace(&trace, &st);
    for (size_t i = 0; good && i < FC_COUNT(benches); i++)
        if (argc < 2 ? !benches[i].random : strstr(benches[i].name, argv[1]) != NULL)
            good = measure(&benches[i], &trace, &st);
    if (!good) {
        fc_status_text(&st, text, sizeof text);
        printf("%s\n", text);
        return 1;
    }
    fc_trace_free(&trace);
    return 0;
}
