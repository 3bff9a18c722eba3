/* replay_job.h - what is replayed, in which views, and what a time is made of. */
#pragma once

#include "solvers/timing.h"
#include "traces/trace_source.h"

struct fc_job {
    const struct fc_network *net; /* NULL only with loggops */
    const struct fc_trace *trace; /* the source's head: its events only where they are in memory */
    struct fc_trace_source *source;
    const struct fc_replay_settings *settings;
    struct fc_status *st;
    struct fc_arena arena;
    const uint32_t *node; /* [n_ranks] */
};
/* The recorded computation of a rank on that node is multiplied by it. */
static inline double fc_compute_scale_on(const struct fc_replay_settings *settings, const struct fc_network *net,
                                         uint32_t rank, uint32_t node)
{
    double scale = settings->software.compute_scale;
    if (settings->rank_scale) scale *= settings->rank_scale[rank];
    return settings->loggops ? scale : scale * fc_node_compute_scale(net, node);
}
static inline double fc_compute_scale(const struct fc_job *job, uint32_t rank)
{
    return fc_compute_scale_on(job->settings, job->net, rank, job->settings->loggops ? 0 : job->node[rank]);
}

/* What o is longer at each end of a message of that rank: 0 but on a node that is known to be slow. */
static inline double fc_slow_o_s(const struct fc_job *job, uint32_t rank)
{
    return job->settings->loggops || !job->net ? 0 : fc_node_slow_s(job->net, job->node[rank]);
}

/* A program is replayed in two views at once: as it happens, and, in the same order of everything, as if
 * every message met an idle network. The second is a bound of the first (replay.c). Ideal networks have the
 * first view only. */
enum { FC_REAL, FC_ALONE, FC_VIEWS };

/* What the chain of events that ends at a certain time spent that time on; the rest is latency. */
struct fc_chain {
    double computation_s, software_s;
    double link_s;         /* serialisation and waiting for links */
    double interference_s; /* of that, messages' transit times the part of a link that others had (fc_arrival) */
    uint32_t node;         /* of the run's adjoint: that time */
};

/* fc_event.mode of sends and of one-sided calls. */
enum { FC_SEND_SYNCHRONOUS = 1, FC_SEND_BUFFERED = 2 };
enum { FC_MOVE_PUT = 0, FC_MOVE_GET = 1, FC_MOVE_UPDATE = 2 };
