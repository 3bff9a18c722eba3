/* curve_model.c - the queueing model's points of `curve`: turns, calibration beside the machine's file,
 * answers. */
#include "answer/curve_model.h"
#include "models/deadlock/cdg.h"
#include "solvers/calibration/family.h"

#include <stdlib.h>
#include <string.h>

/* All loads; those of pairs as they are solved, multiplied by what the calibration makes of their mean. */
static enum fc_code solve_loads(const struct fc_demand *demand, const struct fc_flit_settings *settings,
                                const double *load, struct fc_curve_model *m, struct fc_status *st)
{
    struct fc_queueing_pairs *pairs = NULL;
    const struct fc_queueing *queueing = fc_calibrated_queueing(m->model);
    if (fc_curve_pairs_asked(&m->pairs) && fc_queueing_pairs_open(queueing, settings, &pairs, st)) return st->code;
    for (size_t i = 0; i < m->n && !st->code; i++) {
        const struct fc_queueing_answer *a = &m->answers[i].model;
        if (fc_calibrated_solve(m->model, load[i], &m->answers[i], st) || !pairs || !a->stable) continue;
        double factor = a->latency_mean_cycles / fc_queueing_solved_cycles(queueing);
        fc_curve_pairs_solve(&m->pairs, i, pairs, demand, factor, &m->arena, st);
    }
    fc_queueing_pairs_close(pairs);
    return st->code;
}

static enum fc_code solve_open(void *context, double load, struct fc_queueing_answer *answer, struct fc_status *st)
{
    struct fc_calibrated_answer a;
    enum fc_code code = fc_calibrated_solve(context, load, &a, st);
    *answer = a.model;
    return code;
}

static enum fc_code solve_windows(const struct fc_curve_question *q, struct fc_curve_model *m, struct fc_status *st)
{
    const char **items;
    const struct fc_window_model open = {m->model, solve_open, m->saturation, m->turns.flits_mean};
    if (!q->windows) return FC_OK;
    if (fc_split_list(q->windows, &m->arena, &items, &m->n_windows, st)) return st->code;
    m->windows = fc_alloc(&m->arena, m->n_windows + 1, sizeof *m->windows, st);
    for (size_t i = 0; i < m->n_windows && !st->code; i++) {
        char *end;
        long long n = strtoll(items[i], &end, 10);
        if (end == items[i] || *end || n < 1 || n > 1000000)
            return fc_refuse(st, FC_INPUT, "--windows: '%s' is no window (expected 1 to 1000000 packets)", items[i]);
        fc_window_solve(&open, (uint32_t)n, 0, &m->windows[i], st);
    }
    return st->code;
}

static enum fc_code solve(const struct fc_curve_question *q, const struct fc_session *session, const char *pattern,
                          const struct fc_demand *demand, const struct fc_flit_settings *settings, const double *load,
                          struct fc_curve_model *m, struct fc_status *st)
{
    uint64_t hops = fc_turns_hops(&session->net);
    if (fc_calibration_of(&session->net, &m->calibration, &m->calibrated, &m->misfit, st) ||
        fc_turns_make_seen(&session->net, demand, settings, hops, FC_TURNS_LEAST_VISITS, &m->turns, st) ||
        fc_calibrated_open(m->calibrated ? &m->calibration : NULL, &m->turns, pattern, settings, &m->model, st))
        return st->code;
    m->by_theory = fc_calibrated_by_theory(m->model);
    if (m->by_theory && m->calibrated) fc_calibration_free(&m->calibration);
    m->calibrated = m->calibrated && !m->by_theory;
    m->error_against = fc_calibrated_alone(m->model) ? FC_AGAINST_KERNEL
                       : m->by_theory                ? FC_AGAINST_FAMILY
                       : !m->calibrated              ? FC_AGAINST_NOTHING
                       : m->calibration.n_relatives  ? FC_AGAINST_FAMILY
                                                     : FC_AGAINST_KERNEL;
    if (solve_loads(demand, settings, load, m, st)) return st->code;
    m->saturation = fc_calibrated_saturation(m->model, &m->saturation_percent);
    if (solve_windows(q, m, st)) return st->code;
    if (fc_flit_ideal_throughput(&session->net, demand, settings, &m->ideal, st)) return st->code;
    const struct fc_vc_rule_ops *rule = fc_vc_rule_of(&session->machine);
    m->vc_rule = settings->vc_rule ? settings->vc_rule : rule ? rule->name : "none";
    return FC_OK;
}

enum fc_code fc_curve_model_solve(const struct fc_curve_question *q, const struct fc_session *session,
                                  const char *pattern, const struct fc_demand *demand,
                                  const struct fc_flit_settings *settings, const double *load, size_t n,
                                  struct fc_curve_model *model, struct fc_status *st)
{
    memset(model, 0, sizeof *model);
    model->n = n;
    model->answers = fc_alloc(&model->arena, n + 1, sizeof *model->answers, st);
    if (!model->answers || fc_curve_pairs_read(q, &session->net, n, &model->arena, &model->pairs, st)) return st->code;
    return solve(q, session, pattern, demand, settings, load, model, st);
}

void fc_curve_model_free(struct fc_curve_model *model)
{
    fc_calibrated_close(model->model);
    fc_turns_free(&model->turns);
    if (model->calibrated) fc_calibration_free(&model->calibration);
    fc_arena_free(&model->arena);
    memset(model, 0, sizeof *model);
}
