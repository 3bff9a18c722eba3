/* weakest.h - the cables of a machine by what the failure of each costs a job (weakest.c). */
#pragma once

#include "answer/answer.h"

/* One cable, or several alike: between the same routers, of one class. Both directions fail together. */
struct fc_weak_link {
    const char *link;        /* a name that `without` takes */
    uint32_t cables;         /* that are alike; one of them fails */
    double time_s;           /* of the job; NaN: it disconnects */
    double increase_percent; /* over whole_s; NaN: it disconnects */
    bool disconnects;        /* nodes would not be connected */
};
/* The arena owns all. */
struct fc_weakest {
    struct fc_arena arena;
    struct fc_weak_link *link; /* [n] those that disconnect first, then by falling time */
    size_t n;
    double whole_s;         /* of the job on the whole machine, by the ways that are taken where a cable is gone */
    uint32_t n_loaded;      /* cables between routers, and of nodes with several, that carry traffic of the job */
    uint32_t n_looked_at;   /* those of them whose failure was looked at, those that are alike counted each */
    uint32_t n_node_cables; /* cables that carry traffic and are a node's only one: left out */
};
/* The `n` cables whose failure costs the job of an answer most; the answer was made of this session, job and demand with
 * keep_links. By time, the work is that of n and up to 2 n predictions more, and of the loads of as many networks as q->search_s
 * (where given, else two seconds of a nominal core) pays for. The caller frees it, also after a failure. */
enum fc_code fc_answer_weakest(const struct fc_question *q, struct fc_session *session, struct fc_predicted_job *job,
                               const struct fc_demand *demand, const struct fc_answer *answer, size_t n,
                               struct fc_weakest *weakest, struct fc_status *st);
void fc_weakest_free(struct fc_weakest *weakest);
