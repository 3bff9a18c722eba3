/* screen.h - which of many lists of nodes a job is likely to run fastest on (screen.c). */
#pragma once

#include "answer/job.h"

struct fc_screened {
    const char *nodes; /* a list as --nodes takes it */
    long line;         /* of the file that it stands in, for messages; 0: none */
    double score_s;    /* set: what the network and distances cost there; less is better */
    size_t number;     /* the caller's own */
};
/* Sets the scores of lists[n] for the job of demand `demand` in rank order, q->ranks_per_node or the node's cores on each node.
 * FC_INPUT: a list that is wrong or too short, with its line. One walk of the routing for each pair of nodes that talk, and
 * q->threads threads: about half a millisecond a list for 64 ranks on some thousand nodes. */
enum fc_code fc_screen_nodes(const struct fc_question *q, const struct fc_session *session,
                             const struct fc_demand *demand, struct fc_screened *lists, size_t n, struct fc_status *st);
