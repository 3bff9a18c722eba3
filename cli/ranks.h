/* ranks.h - a command that mpirun has started several times: MPI is in a library of its own for each of its kinds, loaded only
 * then, so that nothing else waits for MPI's start. */
#pragma once

#include "core/ranks.h"

/* What that library offers for the kernel (ranks_mpi.c). */
struct fc_ranks_library {
    bool (*open)(struct fc_ranks *ranks); /* false: MPI cannot be started */
    void (*close)(void);
};

/* How many ranks the launcher says there are; 1: it is none. */
int fc_ranks_told(void);
/* A table of the library for the launcher's MPI, of that name; FC_NO: it cannot be loaded, and why. Where `program` (a path)
 * lies tells where the library is. */
const void *fc_ranks_table(const char *program, const char *name, struct fc_status *st);
/* After MPI has told how many there are: refuses a launcher of another MPI; programs that are started from here are none of
 * its ranks. */
enum fc_code fc_ranks_check(int told, int size, struct fc_status *st);

/* Joins the others, if there are any: *ranks, and what closes it, else NULL. */
const struct fc_ranks_library *fc_ranks_join(struct fc_ranks *ranks, struct fc_status *st);
