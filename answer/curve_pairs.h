/* curve_pairs.h - `curve --pairs`, `--by-hops`: the model's latency of single pairs of nodes and by distance. */
#pragma once

#include "answer/session.h"
#include "solvers/queueing/queueing_pair.h"

struct fc_curve_pairs {
    struct fc_pair {
        uint32_t source, target;
    } * pair; /* [n_pairs] as asked */
    uint32_t n_pairs;
    bool by_hops;
    size_t n_loads;
    struct fc_pair_answer *answer; /* [n_loads][n_pairs] */
    struct fc_hops_class **class;  /* [n_loads][n_classes[load]] */
    uint32_t *n_classes;           /* [n_loads] 0: no stable load */
};
/* What the question asks, for n_loads loads; everything in the arena. FC_INPUT: no pairs, no such nodes. */
enum fc_code fc_curve_pairs_read(const struct fc_curve_question *q, const struct fc_network *net, size_t n_loads,
                                 struct fc_arena *arena, struct fc_curve_pairs *pairs, struct fc_status *st);
bool fc_curve_pairs_asked(const struct fc_curve_pairs *pairs);
/* Answers of load number i, which the model has just solved. */
enum fc_code fc_curve_pairs_solve(struct fc_curve_pairs *pairs, size_t i, const struct fc_queueing_pairs *model,
                                  const struct fc_demand *demand, double factor, struct fc_arena *arena,
                                  struct fc_status *st);
