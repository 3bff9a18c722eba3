/* queueing_fixture.h - a network, its traffic and the queueing model of it with the parameters of theory. */
#pragma once

#include "solvers/calibration/calibration.h"
#include "solvers/queueing/queueing_pair.h"
#include "tests/flit_oracles.h"
#include "tests/support.h"
#include "tests/tests.h"

struct queued {
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand demand;
    struct fc_flit_settings settings;
    struct fc_turns turns;
    struct fc_queueing *queueing;
    struct fc_queueing_parameters theory;
    struct fc_status st;
};
/* Nothing yet, but for packets of so many flits. */
static inline void queued_start(struct queued *q, uint32_t flits)
{
    *q = (struct queued){0};
    fc_flit_defaults(&q->settings);
    q->settings.packet_flits_min = q->settings.packet_flits_max = flits;
}
/* The model, where network and demand are there. */
static inline bool queued_model(struct queued *q)
{
    q->demand.open_loop = true;
    if (fc_turns_make(&q->net, &q->demand, &q->settings, 1000000, &q->turns, &q->st)) return false;
    fc_queueing_theory(&q->turns, &q->theory);
    return !fc_queueing_open(&q->turns, &q->queueing, &q->st);
}
static inline void queued_close(struct queued *q, bool pattern)
{
    if (q->st.code) printf("\n    %s\n", q->st.message);
    CU_ASSERT_EQUAL(q->st.code, FC_OK);
    fc_queueing_close(q->queueing);
    fc_turns_free(&q->turns);
    if (pattern) fc_demand_free(&q->demand);
    fc_test_close(&q->machine, &q->net);
}
static inline double queued_saturation(struct queued *q)
{
    double load = NAN;
    CU_ASSERT_EQUAL(fc_queueing_saturation(q->queueing, &q->theory, &load, &q->st), FC_OK);
    return load;
}
