/* calibration_jobs.h - small jobs to replay, made, not recorded; private to calibration_replays.c and tests. */
#pragma once

#include "solvers/solvers.h"
#include "traces/traces.h"

/* A job on a network: what it does, how long its messages are, where its ranks are. */
struct fc_small_job {
    char name[128];  /* "stencil2d:grid=8x8,bytes=2048", "allreduce:bytes=64" */
    bool random;     /* nodes in random order instead of theirs */
    bool computes;   /* between phases, each rank for a time of its own */
    bool one_a_node; /* else as many ranks on a node as it has cores */
};
enum { FC_MOST_SMALL_JOBS = 64 };
/* The jobs of a network, such that the first of them span kinds and sizes. Returns how many. */
int fc_small_jobs(const struct fc_network *net, struct fc_small_job jobs[FC_MOST_SMALL_JOBS]);
/* Its trace and nodes (in the trace's arena). FC_INPUT: the network has no such pattern. */
enum fc_code fc_small_job_make(const struct fc_network *net, const struct fc_small_job *job, uint64_t seed,
                               struct fc_trace *trace, struct fc_placement *placement, struct fc_status *st);
