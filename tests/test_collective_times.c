/* test_collective_times.c - every algorithm's closed-form time against the replay of one call on an idle
 * LogGOPS network, and against figures worked out by hand. */
#include "solvers/collective/collective.h"
#include "tests/replay_script.h"

static const uint32_t members[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 32, 33};
static const double sizes[] = {1, 1000, 200000};
/* L, o, o, g, G: ordinary; g = o_s + o_r; slow wire and no L; uneven overheads */
static const struct fc_loggp sets[] = {
    {2500e-9, 1500e-9, 1500e-9, 1000e-9, 6e-9},
    {1e-6, 1e-6, 2e-6, 3e-6, 1e-9},
    {0, 0.4e-6, 0.3e-6, 0.5e-6, 1e-7},
    {3e-7, 4e-6, 1e-7, 2e-6, 2e-9},
};

static double replayed_s(struct rig *g, const struct fc_collective_algorithm *a, const struct fc_loggp *p, uint32_t n,
                         double bytes)
{
    struct fc_collective_choice choice = {NULL};
    choice.fixed[a->op] = a;
    start_script(&script, n);
    for (uint32_t r = 0; r < n; r++) {
        next_rank(&script);
        bool rooted = a->op == FC_OP_BCAST || a->op == FC_OP_GATHER || a->op == FC_OP_SCATTER || a->op == FC_OP_REDUCE;
        struct fc_event *e = add(&script, a->op, rooted ? (int32_t)(n / 3) : -1, (int64_t)bytes);
        if (a->op == FC_OP_ALLTOALLV) {
            e->list = script.trace.n_lists;
            e->n_list = n;
            for (uint32_t i = 0; i < n; i++) script.list[script.trace.n_lists++] = (int64_t)bytes;
        }
    }
    g->settings = (struct fc_replay_settings){.network = FC_NET_IDEAL,
                                              .software = {.send_s = p->send_s,
                                                           .recv_s = p->recv_s,
                                                           .gap_s = p->gap_s,
                                                           .eager_bytes = 1e18,
                                                           .compute_scale = 1},
                                              .loggops = true,
                                              .loggops_latency_s = p->latency_s,
                                              .loggops_per_byte_s = p->s_per_byte,
                                              .collectives = &choice};
    must_replay(g, &script);
    return g->out.prediction.time_s;
}

static void as_replayed(void)
{
    struct rig g;
    open_torus(&g, "64", "dimension-order");
    for (const struct fc_collective_algorithm *a = fc_collective_algorithms; a->name; a++) {
        double worst = 0;
        if (!a->time_s) continue; /* none, or it needs a machine: test_collective_hardware.c */
        for (size_t i = 0; i < FC_COUNT(members); i++)
            for (size_t b = 0; b < FC_COUNT(sizes); b++)
                for (size_t k = 0; k < FC_COUNT(sets); k++) {
                    struct fc_status st = {0};
                    uint32_t n = members[i];
                    if (fc_collective_fits(a, n, &st)) continue;
                    double formula = fc_collective_time_s(a, &sets[k], n, sizes[b]);
                    double replay_s = replayed_s(&g, a, &sets[k], n, sizes[b]);
                    double off = fabs(formula - replay_s) / fmax(replay_s, 1e-12);
                    if (!(off <= 1e-12) && off > worst)
                        printf("\n    %s %s, %u members, %g bytes, set %zu: formula %.9g, replayed %.9g",
                               fc_op_names[a->op], a->name, n, sizes[b], k, formula, replay_s);
                    worst = fmax(worst, off);
                }
        CU_ASSERT(worst <= 1e-12);
    }
    close_rig(&g);
}

int suite_collective_times(void)
{
    static const CU_TestInfo tests[] = {
        {"closed forms equal the replay of a call", as_replayed},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("collective times", tests);
}
