/* test_turns_kept.c - queues that last under UGAL: their length in closed form, where there are none, and latencies and saturation against the
 * kernel. */
#include "solvers/queueing/queueing.h"
#include "tests/turns_oracles.h"

struct open_turns {
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand demand;
    struct fc_turns turns;
    struct fc_status st;
};

static bool open_turns(struct open_turns *o, const char *queue, const char *pattern)
{
    struct fc_flit_settings settings;
    char text[1024];
    memset(o, 0, sizeof *o);
    snprintf(text, sizeof text, FC_TEST_SLINGSHOT, queue);
    if (!fc_test_network(text, &o->machine, &o->net)) return false;
    CU_ASSERT_EQUAL_FATAL(fc_demand_from_pattern(&o->net, pattern, 1, &o->demand, &o->st), FC_OK);
    o->demand.open_loop = true;
    fc_flit_defaults(&settings);
    CU_ASSERT_EQUAL_FATAL(fc_turns_make(&o->net, &o->demand, &settings, 1000000, &o->turns, &o->st), FC_OK);
    return true;
}

static void close_turns(struct open_turns *o)
{
    fc_turns_free(&o->turns);
    fc_demand_free(&o->demand);
    fc_test_close(&o->machine, &o->net);
}

/* 15 inputs keep the threshold, six packets of 67 flits, and one packet more; what is on the wires is little. The cables take two of 0.78 flits a
 * cycle for 16 nodes. */
static void closed_form(void)
{
    struct open_turns o;
    if (!open_turns(&o, "both", "group-shift")) return;
    double rate = 25.0 / 32, full = 2 * rate / 16, wait = 15 * 7 * 67 / rate;
    int lasting = 0;
    for (uint32_t i = 0; i < o.turns.n_rungs; i++) {
        const struct fc_turns *t = &o.turns.rung[i];
        double load = fc_turns_rung_load(&o.turns, i);
        for (uint32_t l = 0; l < t->n_links; l++) {
            double off;
            if (!(fc_turns_kept_cycles(t, l, load, &off) > 0)) continue;
            CU_ASSERT(off >= (load > 1.25 * full ? 0.19 : 0) * wait * 0.9 && off < wait);
            CU_ASSERT(load > full);
            CU_ASSERT(fc_near(t->kept_from[l], full, 0.1));
            CU_ASSERT(t->kept_cycles[l] <= 1.1 * wait);
            if (load > 1.3 * full) CU_ASSERT(fc_near(t->kept_cycles[l], wait, 0.1));
            CU_ASSERT_EQUAL(fc_turns_kept_cycles(t, l, 0.9 * full, &off), 0);
            CU_ASSERT_EQUAL(off, 0);
            lasting += load > 1.3 * full;
        }
    }
    CU_ASSERT(fc_turns_rung_load(&o.turns, 0) < full);
    CU_ASSERT(lasting >= 2 * 8); /* two cables of four groups, at two rungs at the least */
    close_turns(&o);
}

static void none_elsewhere(void)
{
    static const char *const cases[][2] = {{"both", "uniform"}, {"credits", "group-shift"}, {"local", "group-shift"}};
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        struct open_turns o;
        double off;
        if (!open_turns(&o, cases[i][0], cases[i][1])) return;
        for (uint32_t r = 0; r + 1 < o.turns.n_rungs; r++) /* the last is where uniform traffic fills all */
            for (uint32_t l = 0; l < o.turns.rung[r].n_links; l++)
                CU_ASSERT_EQUAL(fc_turns_kept_cycles(&o.turns.rung[r], l, fc_turns_rung_load(&o.turns, r), &off), 0);
        close_turns(&o);
    }
}

/* `curve --solver flit` of the same network. Without queues that last 0.12 and 0.15 were 2118 and 2416 cycles. */
static void as_the_kernel(void)
{
    static const struct {
        double load, kernel_cycles, within;
    } cases[] = {{0.06, 1717.2, 0.015}, {0.08, 1829.9, 0.02}, {0.12, 7471.7, 0.12}, {0.15, 9186.2, 0.25}};
    struct open_turns o;
    struct fc_queueing *q = NULL;
    struct fc_queueing_parameters theory;
    struct fc_queueing_answer a;
    double saturation;
    if (!open_turns(&o, "both", "group-shift")) return;
    CU_ASSERT_EQUAL_FATAL(fc_queueing_open(&o.turns, &q, &o.st), FC_OK);
    fc_queueing_theory(&o.turns, &theory);
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        CU_ASSERT_EQUAL_FATAL(fc_queueing_solve(q, &theory, cases[i].load, &a, &o.st), FC_OK);
        CU_ASSERT(a.stable && fc_near(a.latency_mean_cycles, cases[i].kernel_cycles, cases[i].within));
    }
    CU_ASSERT_EQUAL(fc_queueing_saturation(q, &theory, &saturation, &o.st), FC_OK);
    CU_ASSERT(fc_near(saturation, 0.1807, 0.06));
    fc_queueing_close(q);
    close_turns(&o);
}

int suite_turns_kept(void)
{
    static const CU_TestInfo tests[] = {
        {"closed form", closed_form},
        {"none where nobody turns away, or sees one side", none_elsewhere},
        {"as the kernel", as_the_kernel},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("turns: queues that last", tests);
}
