/* sensitivity_jobs.h - five jobs on four families, which validate_sensitivity.c and bench_sensitivity.c replay. */
#pragma once

#include "answer/answer.h"
#include "core/core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const machines[] = {"bgl-64", "qsnet-64", "percs-16", "tmesh-216"};
static const struct {
    const char *name, *what; /* a trace, or a pattern of so many phases after so much computation */
    int phases;
    double compute_s;
} jobs[] = {{"Quantum ESPRESSO 16", "traces/samples/qe-si-16.fct", 0, 0},
            {"LAMMPS 16", "traces/samples/lammps-lj-16.fct", 0, 0},
            {"LAMMPS 64", "traces/samples/lammps-lj-64.fct", 0, 0},
            {"stencil 64", "stencil3d:grid=4x4x4,bytes=32KiB", 10, 2e-4},
            {"all-to-all 64", "alltoall:bytes=4KiB", 3, 1e-3}};

struct work {
    struct fc_session session;
    struct fc_predicted_job job;
    struct fc_demand demand;
    struct fc_mapping mapping;
    const struct fc_bulk *bulk;
    double *background; /* [n_links] for what a caller likes; the caller frees it */
    struct fc_status st;
};

/* Job j on the machine, rank order; `made`: its trace, if it is a pattern. False, with a message: it cannot be. Close it anyway. */
static inline bool open_work(struct work *w, const char *machine, size_t j, const struct fc_trace *made,
                             struct fc_question *q)
{
    const char *map = "def";
    *w = (struct work){.bulk = NULL};
    *q = (struct fc_question){.machine = machine,
                              .trace = jobs[j].phases ? jobs[j].name : jobs[j].what,
                              .read = made,
                              .time_only = true,
                              .sensitivity = true,
                              .seed = 1,
                              .threads = 1};
    if (!fc_job_open(q, &w->job, &w->st) && !fc_session_open(q, machine, &w->session, &w->st) &&
        !fc_job_traffic(&w->job, q, &w->session, &map, 1, &w->demand, &w->st) &&
        !fc_place_tasks(q, &w->session, &w->demand, map, &w->mapping, &w->st))
        fc_session_calibrate(&w->session, &w->bulk, &w->st);
    if (w->st.code) fprintf(stderr, "%s on %s: %s\n", jobs[j].name, machine, w->st.message);
    return !w->st.code;
}
static inline void close_work(struct work *w)
{
    fc_mapping_free(&w->mapping);
    fc_demand_free(&w->demand);
    fc_job_close(&w->job);
    fc_session_close(&w->session);
}

/* A pattern of 64 tasks. */
static inline bool make(size_t j, struct fc_trace *trace)
{
    struct fc_machine m;
    struct fc_network net;
    struct fc_demand demand;
    struct fc_status st = {0};
    if (fc_machine_load("bgl-64", &m, &st)) return false;
    bool good = !fc_network_build(&m, &net, &st) && !fc_demand_from_pattern(&net, jobs[j].what, 1, &demand, &st);
    if (good) {
        good = !fc_trace_generate(&demand, jobs[j].phases, jobs[j].compute_s, trace, &st);
        trace->file = jobs[j].name;
        fc_demand_free(&demand);
    }
    fc_network_free(&net);
    fc_machine_free(&m);
    return good;
}
