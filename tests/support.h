/* support.h - small things that several test files need. */
#pragma once

#include "models/models.h"

struct fc_trace;

/* A new file of `n` bytes whose name ends in `suffix`; path[64]. False when it cannot be written. */
bool fc_test_file(char *path, const char *suffix, const char *text, size_t n);
/* Loads the text of a machine file, by way of a temporary file. */
enum fc_code fc_test_machine(const char *yaml, struct fc_machine *machine, struct fc_status *st);
/* Machine, from its text or name, and network; on failure the test fails with the message, and false. */
bool fc_test_network(const char *yaml, struct fc_machine *machine, struct fc_network *net);
void fc_test_close(struct fc_machine *machine, struct fc_network *net);
/* |a - b| <= tolerance * max(|a|, |b|, tiny). */
bool fc_near(double a, double b, double tolerance);
/* Sum of payload bytes between distinct tasks. */
double fc_demand_bytes(const struct fc_demand *demand);
/* Does one of the trace's notes contain `part`? Says so if not. */
bool fc_test_note(const struct fc_trace *t, const char *part);

/* Eight nodes, and the same with the hosts' names. */
#define FC_TEST_SMALL                                                                                                  \
    "name: small\nnetwork: {family: torus, dims: [4, 2]}\nlinks: {torus: {bandwidth: 1 GB/s}}\nnode: "                 \
    "{cores: 2}\n"
#define FC_TEST_NAMED FC_TEST_SMALL "hosts: cn[0-7]\n"

/* Runs the shell commands where mpirun of `mpi` (openmpi, mpich) and the program's library for it are, else says that it is skipped:
 * $run is mpirun (-n comes), $program the program, $d a folder of its own; over SECONDS COMMAND
 * runs into $d/out for so long at most. Their status must be 0. */
void fc_under_mpirun(const char *mpi, const char *commands);
