/* options_files.h - the files that the command lines of test_options.c name. */
#pragma once

#include "reproduce/reproduce.h"

#define ROUTER                                                                                                         \
    "clock: 1 GHz\nlinks: {torus: {bandwidth: 8 GB/s, latency: 1 cycle}}\nrouter: {delay: 2 cycles, flit: 8 B, "       \
    "vcs: 4, buffer: 256 B, escape: dateline, routing: dimension-order, high_priority: true}\n"                        \
    "packet: {min: 8 B, max: 64 B}\nnode: {cores: 2}\n"

#define CHIP                                                                                                           \
    "clock: 500 MHz\nnetwork: {family: tmesh, dims: [2, 2], mesh: [2, 3], bridges: {x-: 0, y-: 1, x+: 2, y+: 3}}\n"    \
    "links: {torus: {bandwidth: 2 GB/s, latency: 8 cycles}, mesh: {bandwidth: 16 GB/s, latency: 1 cycle}}\n"           \
    "router: {delay: 2 cycles, flit: 32 B, vcs: 2, buffer: 1 KiB}\npacket: {min: 32 B, max: 256 B}\n"

static const struct {
    const char *name, *text;
} files[] = {
    {"small.yaml", "name: small\nnetwork: {family: torus, dims: [4, 2]}\nhosts: cn[0-7]\n" ROUTER},
    {"third.yaml", "name: third\nnetwork: {family: torus, dims: [3, 3]}\n" ROUTER},
    {"chip2.yaml", "name: chip2\n" CHIP},
    {"other.yaml", "name: other\nnetwork: {family: torus, dims: [2, 4]}\nhosts: cn[0-7]\n" ROUTER},
    {"chip.yaml", "name: chip\n" CHIP},
    {"queue.txt", "+0 0,3,4,7\n"},
    {"later.txt", "+1 1,2,5,6\n"},
    {"ring.txt", "fabricast-trace 1\nranks 4\ncomm 0 0-3\nevents 12\n"
                 "rank 0 3\nsend 1 1 0.5 comm=0 peer=1 tag=0 bytes=3000\nrecv 1 1 0 comm=0 peer=3 tag=0 bytes=3000\n"
                 "bcast 2 2 0.1 comm=0 root=0 bytes=20000\n"
                 "rank 1 3\nrecv 1 1 0.1 comm=0 peer=0 tag=0 bytes=3000\nsend 1 1 0 comm=0 peer=2 tag=0 bytes=3000\n"
                 "bcast 2 2 0.1 comm=0 root=0 bytes=20000\n"
                 "rank 2 3\nrecv 1 1 0.1 comm=0 peer=1 tag=0 bytes=3000\nsend 1 1 0 comm=0 peer=3 tag=0 bytes=3000\n"
                 "bcast 2 2 0.1 comm=0 root=0 bytes=20000\n"
                 "rank 3 3\nrecv 1 1 0.1 comm=0 peer=2 tag=0 bytes=3000\nsend 1 1 0 comm=0 peer=0 tag=0 bytes=3000\n"
                 "bcast 2 2 0.1 comm=0 root=0 bytes=20000\nend\n"},
    {"ops.txt",
     "0 init\n0 compute 5e8\n0 send 1 0 1000\n0 finalize\n1 init\n1 recv 0 0 1000\n1 compute 1e9\n1 finalize\n"},
    {"again.txt",
     "fabricast-trace 1\nranks 4\ncomm 0 0-3\nevents 2\nrank 0 1\nsend 1 1 0.5 comm=0 peer=3 tag=0 bytes=9000\n"
     "rank 1 0\nrank 2 0\nrank 3 1\nrecv 1 1 0 comm=0 peer=0 tag=0 bytes=9000\nend\n"},
    {"eight.mtx", "%%MatrixMarket matrix coordinate real general\n8 8 3\n1 2 5000\n2 3 6000\n3 8 7000\n"},
    {"eights.mtx", "%%MatrixMarket matrix coordinate real general\n8 8 3\n1 6 5000\n2 3 6000\n4 8 7000\n"},
    {"set.jobs", "1 pattern alltoall:bytes=40KiB\n2 trace ring.txt\n"},
    {"lat.txt", "# OSU MPI Latency Test v5.9\n1 2\n2 2\n4 2.01\n8 2.02\n4096 3\n"},
    {"page.md", FC_REPRODUCE_BEGIN "\n" FC_REPRODUCE_END "\n"},
    {"other.mtx", "%%MatrixMarket matrix coordinate real general\n4 4 4\n1 2 50000\n1 3 60000\n1 4 70000\n4 1 40000\n"},
    {"graph.mtx", "%%MatrixMarket matrix coordinate real general\n4 4 4\n1 2 5000\n2 3 6000\n3 4 7000\n4 1 4000\n"},
};
