/* reorder_mpi.h - what the wrappers of MPI's calls ask for. */
#pragma once

#include "library/reorder/reorder.h"

#include <mpi.h>

#pragma GCC visibility push(hidden)

struct fc_asking {
    const char *call, *file; /* as in struct fc_placing */
    int n;                   /* ranks of the graph: the first n of the communicator */
    bool wanted, always;     /* by this rank's environment; rank 0's counts */
};
/* Collective over comm. True: ranks are numbered anew and *made has them (MPI_COMM_NULL on those beyond n), made with comm's
 * error handler; *source: the rank in *made of the process whose old rank was this one's new number (its neighbours are this
 * one's now). False, on all: nothing was done. edges: of this rank, source, destination, weight; n_edges -1: too many, or no
 * memory for them. */
bool fc_reorder(MPI_Comm comm, const struct fc_asking *asking, const int *edges, int n_edges, MPI_Comm *made,
                int *source);
/* MPI_COMM_WORLD, or what FABRICAST_MAP made of it. */
MPI_Comm fc_comm_now(MPI_Comm comm);

#pragma GCC visibility pop
