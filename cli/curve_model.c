/* curve_model.c - the queueing model's points of `curve`: turns, calibration beside the machine's file,
 * answers. */
#include "cli/curve_model.h"
#include "models/cdg.h"

#include <math.h>
#include <string.h>

/* Packets are followed over so many hops where the network is not folded; half of them count. */
#define HOPS_A_LINK 200
#define LEAST_HOPS 2e6
#define MOST_HOPS 20e6
#define LEAST_VISITS 50 /* packets a link below which its rate is noise */

/* Refuses turns that are mostly noise: their busiest link, and so the saturation, would be an accident. */
static enum fc_code check_sample(const struct fc_turns *t, struct fc_status *st)
{
    double visits = (double)t->n_walked * (t->hops_mean + 2) / t->n_links;
    if (!t->sampled || visits >= LEAST_VISITS) return FC_OK;
    return fc_refuse(
        st, FC_NO,
        "the queueing model can follow only %.3g packets a link of this network's traffic (expected at "
        "least %d; --solver flit does without)",
        visits, LEAST_VISITS);
}

static enum fc_code solve(const struct fc_session *session, const struct fc_demand *demand,
                          const char *pattern, const struct fc_flit_settings *settings, const double *load,
                          struct fc_curve_model *m, struct fc_status *st)
{
    uint64_t hops = (uint64_t)fmin(MOST_HOPS, fmax(LEAST_HOPS, (double)HOPS_A_LINK * session->net.n_links));
    if (fc_calibration_find(&session->net, &m->calibration, &m->calibrated, st) ||
        fc_turns_make(&session->net, demand, settings, hops, &m->turns, st) || check_sample(&m->turns, st) ||
        fc_calibrated_open(m->calibrated ? &m->calibration : NULL, &m->turns, pattern, settings, &m->model,
                           st))
        return st->code;
    for (size_t i = 0; i < m->n; i++)
        if (fc_calibrated_solve(m->model, load[i], &m->answers[i], st)) return st->code;
    m->saturation = fc_calibrated_saturation(m->model, &m->saturation_percent);
    m->ideal = 1 / m->turns.max_service_rate;
    const struct fc_vc_rule_ops *rule = fc_vc_rule_of(&session->machine);
    m->vc_rule = settings->vc_rule ? settings->vc_rule : rule ? rule->name : "none";
    return FC_OK;
}

enum fc_code fc_curve_model_solve(const struct fc_session *session, const struct fc_demand *demand,
                                  const char *pattern, const struct fc_flit_settings *settings,
                                  const double *load, size_t n, struct fc_curve_model *model,
                                  struct fc_status *st)
{
    memset(model, 0, sizeof *model);
    model->n = n;
    model->answers = fc_alloc(&model->arena, n, sizeof *model->answers, st);
    return model->answers ? solve(session, demand, pattern, settings, load, model, st) : st->code;
}

void fc_curve_model_free(struct fc_curve_model *model)
{
    fc_calibrated_close(model->model);
    fc_turns_free(&model->turns);
    if (model->calibrated) fc_calibration_free(&model->calibration);
    fc_arena_free(&model->arena);
    memset(model, 0, sizeof *model);
}

/* ---- printing ---- */

void fc_curve_model_print_head(const struct fc_curve_model *model, FILE *stream)
{
    fprintf(stream, "model       queueing, ");
    if (!model->calibrated) {
        fprintf(stream, "not calibrated (fabricast calibrate measures its error)\n");
        return;
    }
    int tier = model->n ? (int)model->answers[0].tier : FC_TIER_NONE;
    fprintf(stream, "calibrated by %s (%s)\n", model->calibration.file, fc_calibration_tier_names[tier]);
}

void fc_curve_model_print_notes(const struct fc_curve_model *model, FILE *stream)
{
    if (!model->calibrated) return; /* the head says it */
    for (size_t i = 0; i < model->n; i++) {
        const struct fc_calibrated_answer *a = &model->answers[i];
        bool told = !*a->why || !a->model.stable;
        for (size_t j = 0; j < i && !told; j++)
            told = model->answers[j].model.stable && !strcmp(model->answers[j].why, a->why);
        if (told) continue;
        fprintf(stream, "%s", a->extrapolated ? "* extrapolated: " : "no error known: ");
        fprintf(stream, "%s\n", a->why);
    }
}

json_t *fc_curve_model_json(const struct fc_calibrated_answer *answer)
{
    const struct fc_queueing_answer *m = &answer->model;
    bool stable = m->stable;
    return json_pack("{s:o, s:o, s:o, s:s, s:b, s:s, s:o, s:o, s:o, s:o, s:b}", "packet_latency_cycles",
                     fc_json_real(stable ? m->latency_mean_cycles : (double)NAN), "accepted",
                     fc_json_real(stable ? m->load_flits_per_cycle : (double)NAN), "error_percent",
                     fc_json_real(stable ? answer->error_percent : (double)NAN), "tier",
                     fc_calibration_tier_names[answer->tier], "extrapolated", answer->extrapolated, "why",
                     answer->why, "network_latency_cycles",
                     fc_json_real(stable ? m->network_cycles : (double)NAN), "source_queue_cycles",
                     fc_json_real(stable ? m->source_cycles : (double)NAN), "p95_cycles",
                     fc_json_real(stable ? m->latency_p95_cycles : (double)NAN), "p99_cycles",
                     fc_json_real(stable ? m->latency_p99_cycles : (double)NAN), "stable", stable);
}
