/* reorder.h - libfabricast-reorder.so inside a rank: new ranks for MPI's topology calls and for MPI_COMM_WORLD
 * (docs/reorder.md).
 *
 * Old rank i runs on a host; the new rank of i is new_rank[i]: the same processes, numbered anew. What decides is rank 0 of
 * the communicator alone, from its own environment, and tells the others; so all ranks do the same. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* ---- reorder_place.c: rank 0's part, without MPI ---- */

enum { FC_HOST_BYTES = 256 }; /* of a host's name, its end included */

/* What rank 0 knows. Edges are messages between ranks, `weight` in any unit; those of a rank with itself count nothing. */
struct fc_placing {
    const char *call, *file; /* for the log; a mapping instead of a search, NULL: search */
    int n;
    bool always;      /* reorder even where the gain is within the error */
    const char *host; /* [n][FC_HOST_BYTES] */
    const int *src, *dst, *weight;
    size_t n_edges;
};
/* Whether this process can place at all: a machine is named and read, the library is there. Says in the log what `call`
 * lacks. */
bool fc_place_ready(const char *call);
/* new_rank[n] of the old ranks; false: every rank keeps its number. Says in the log what was done and why. Deterministic. */
bool fc_place(const struct fc_placing *p, int *new_rank);
/* A line into FABRICAST_REORDER_LOG. */
void fc_reorder_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- reorder_words.c: calls that name MPI_COMM_WORLD ---- */

/* Handles as words: Open MPI's are addresses, MPICH's 32-bit numbers. */
struct fc_world {
    uintptr_t real, now; /* MPI_COMM_WORLD, and what stands for it */
    int real_fortran, now_fortran;
    bool renumbered; /* by FABRICAST_MAP */
    bool
        reordered; /* a topology call gave this process another rank or may have: messages by old numbers are counted */
    uint64_t messages;
};
extern struct fc_world fc_world;
bool fc_is_world(uintptr_t handle);

/* ---- reorder_mpi.c ---- */
bool fc_is_predefined(int keyval);
void fc_reorder_start(void);  /* MPI_Init returned */
void fc_reorder_finish(void); /* MPI_Finalize begins */

#pragma GCC visibility pop
