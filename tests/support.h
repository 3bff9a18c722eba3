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
/* Frontier's links, switches and packets under UGAL: 4 groups of 16 switches with a node each, two cables a pair of groups; what UGAL counts as a
 * string. */
#define FC_TEST_SLINGSHOT                                                                                              \
    "name: t\nclock: 1 GHz\nnetwork: {family: two-level, supernodes: 4, drawers: 1, nodes_per_drawer: 16, "            \
    "nodes_per_router: 1, links_per_pair: 2, d_link: modulo}\n"                                                        \
    "links:\n  ll: {bandwidth: 25 GB/s, latency: 15 ns}\n  d: {bandwidth: 25 GB/s, latency: 150 ns}\n"                 \
    "  injection: {bandwidth: 100 GB/s, latency: 10 ns}\n"                                                             \
    "router: {delay: 350 ns, flow_control: cut-through, flit: 32 B, vcs: 4, escape: none, buffer: 64 KiB, routing: "   \
    "ugal, ugal: {queue: %s}}\npacket: {min: 81 B, max: 2129 B, header: 81 B}\n"

/* Runs the shell commands where mpirun of `mpi` (openmpi, mpich) and the program's library for it are, else says that it is skipped:
 * $run is mpirun (-n comes), $program the program, $d a folder of its own; over SECONDS COMMAND
 * runs into $d/out for so long at most. Their status must be 0. */
void fc_under_mpirun(const char *mpi, const char *commands);
