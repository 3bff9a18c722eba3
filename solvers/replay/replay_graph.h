/* replay_graph.h - private to the replay of graphs: its state (replay_graph.c) and what prepares it
 * (replay_graph_load.c). */
#pragma once

#include "solvers/replay/replay_job.h"
#include "solvers/replay/replay_run.h"

/* Something that is to happen; those at one time in the order of their turns. */
struct fc_graph_item {
    unsigned __int128 key; /* bits of the time, turn */
    uint64_t what;         /* pointer or index << 2, and its kind */
};
struct fc_graph_heap {
    struct fc_graph_item *item;
    size_t n, capacity;
};
struct fc_vertex {
    double ready_ns, alone_ns; /* what it depends on has finished; the same on an idle machine */
    uint32_t ready_node;       /* of the run's adjoint: ready_ns, or what it was called for later */
    uint64_t after;            /* first of those that depend on it */
    uint32_t n_left;           /* it depends on, not there yet */
    uint32_t rank;
    uint32_t call; /* collective: its how-manieth of its communicator */
    uint8_t state;
};
struct fc_processor {
    double free_ns;
    struct fc_chain chain; /* behind free_ns */
};
struct fc_card {
    double send_ns, receive_ns;
    uint32_t send_node, receive_node; /* of the run's adjoint: these times */
};
struct fc_graph {
    struct fc_run *run;
    struct fc_status *st;
    struct fc_arena arena;
    const struct fc_event *event; /* [n] */
    struct fc_event *copies;      /* where the trace is not in memory */
    struct fc_vertex *vertex;     /* [n + 1] */
    uint64_t *after;              /* vertex << 1, + 1: depends on the start only */
    uint64_t n;
    uint32_t n_processors, n_cards; /* of each rank: the most that any has */
    struct fc_processor *processor; /* [n_ranks][n_processors] */
    struct fc_card *card;           /* [n_ranks][n_cards] */
    struct fc_graph_heap queue;
    struct fc_graph_heap *line; /* [n_ranks][n_processors][1 + 2 n_cards] computation and calls; sends; messages */
    uint64_t turns;
    uint64_t *freed; /* events that have become free in this step */
    size_t n_freed, freed_capacity;
    double o_ns, recv_ns, gap_ns, byte_ns, cpu_byte_ns, latency_ns, eager, rendezvous_ns,
        copy_byte_ns; /* byte_ns: G; cpu_byte_ns: O */
    uint64_t n_done, n_started;
    uint32_t node; /* of the run's adjoint: now */
};

/* Reads the events of the run's source, turns their dependencies round, numbers the collective calls.
 * O(graph). */
enum fc_code fc_graph_prepare(struct fc_graph *graph);
