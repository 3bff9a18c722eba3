/* curve_print.c - the queueing side of `curve`, as text and as JSON. */
#include "cli/curve_print.h"
#include "cli/print.h"

#include <string.h>

/* ---- pairs ---- */

static void print_answer(const struct fc_pair_answer *a, FILE *stream)
{
    fprintf(stream, " %12.2f %12.2f %12.2f %12.2f\n", a->zero_load_cycles, a->latency_mean_cycles,
            a->latency_p95_cycles, a->latency_p99_cycles);
}

void fc_curve_pairs_print(const struct fc_curve_pairs *pairs, const double *load, FILE *stream)
{
    static const char columns[] = "       empty         mean          95%          99%  (cycles)\n";
    if (pairs->n_pairs) {
        fprintf(stream, "\n%12s %17s %8s %s", "offered", "pair", "hops", columns);
        for (size_t i = 0; i < pairs->n_loads; i++)
            for (uint32_t p = 0; p < pairs->n_pairs; p++) {
                const struct fc_pair_answer *a = &pairs->answer[i * pairs->n_pairs + p];
                char name[32];
                if (isnan(a->latency_mean_cycles)) continue;
                snprintf(name, sizeof name, "%u-%u", pairs->pair[p].source, pairs->pair[p].target);
                fprintf(stream, "%12.4g %17s %8.4g", load[i], name, a->hops_mean);
                print_answer(a, stream);
            }
    }
    if (!pairs->by_hops) return;
    fprintf(stream, "\n%12s %17s %8s %s", "offered", "% of packets", "hops", columns);
    for (size_t i = 0; i < pairs->n_loads; i++)
        for (uint32_t c = 0; c < pairs->n_classes[i]; c++) {
            const struct fc_hops_class *class = &pairs->class[i][c];
            fprintf(stream, "%12.4g %17.3f %8u", load[i], 100 * class->share, class->hops);
            print_answer(&class->latency, stream);
        }
}

static json_t *to_json(const struct fc_pair_answer *a)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "hops_mean", fc_json_real(a->hops_mean), "zero_load_cycles",
                     fc_json_real(a->zero_load_cycles), "packet_latency_cycles", fc_json_real(a->latency_mean_cycles),
                     "p95_cycles", fc_json_real(a->latency_p95_cycles), "p99_cycles",
                     fc_json_real(a->latency_p99_cycles));
}

static void pairs_json(const struct fc_curve_pairs *pairs, size_t i, json_t *point)
{
    if (pairs->n_pairs) {
        json_t *list = json_array();
        for (uint32_t p = 0; p < pairs->n_pairs; p++) {
            const struct fc_pair_answer *a = &pairs->answer[i * pairs->n_pairs + p];
            json_t *one = isnan(a->latency_mean_cycles) ? json_object() : to_json(a);
            json_object_set_new(one, "source", json_integer(pairs->pair[p].source));
            json_object_set_new(one, "target", json_integer(pairs->pair[p].target));
            if (isnan(a->latency_mean_cycles)) json_object_set_new(one, "packet_latency_cycles", json_null());
            json_array_append_new(list, one);
        }
        json_object_set_new(point, "pairs", list);
    }
    if (!pairs->by_hops) return;
    json_t *list = json_array();
    for (uint32_t c = 0; c < pairs->n_classes[i]; c++) {
        json_t *one = to_json(&pairs->class[i][c].latency);
        json_object_set_new(one, "hops", json_integer(pairs->class[i][c].hops));
        json_object_set_new(one, "packet_share", fc_json_real(pairs->class[i][c].share));
        json_array_append_new(list, one);
    }
    json_object_set_new(point, "by_hops", list);
}

/* ---- the model ---- */

void fc_curve_model_print_head(const struct fc_curve_model *model, FILE *stream)
{
    fprintf(stream, "model       queueing, ");
    if (fc_calibrated_alone(model->model)) {
        fprintf(stream,
                "nobody meets in this traffic: each source's pace by a short run of the kernel; errors against it\n");
        return;
    }
    if (model->by_theory) {
        fprintf(stream, "by theory, not calibrated; errors against the kernel on other networks of such routers\n");
        return;
    }
    if (!model->calibrated) {
        fprintf(stream, "not calibrated (fabricast calibrate measures its error)\n");
        return;
    }
    if (model->calibration.from) {
        fprintf(stream, "from %s; errors %s\n", model->calibration.from, fc_error_against_words(model->error_against));
        return;
    }
    int tier = model->n ? (int)model->answers[0].tier : FC_TIER_NONE;
    bool elsewhere = model->n && model->answers[0].elsewhere;
    fprintf(stream, "calibrated by %s (%s%s); errors %s\n", fc_last_part(model->calibration.file),
            fc_calibration_tier_names[tier], elsewhere ? "; nothing was run on this network" : "",
            fc_error_against_words(model->error_against));
}

void fc_curve_model_print_notes(const struct fc_curve_model *model, FILE *stream)
{
    if (!model->calibrated && !model->by_theory) return; /* the head says it */
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

json_t *fc_curve_model_json(const struct fc_curve_model *model, size_t i)
{
    const struct fc_calibrated_answer *answer = &model->answers[i];
    const struct fc_queueing_answer *m = &answer->model;
    bool stable = m->stable;
    json_t *point = json_pack("{s:o, s:o, s:o, s:s, s:b, s:b, s:s, s:o, s:o, s:o, s:o, s:b}", "packet_latency_cycles",
                              fc_json_real(stable ? m->latency_mean_cycles : (double)NAN), "accepted",
                              fc_json_real(stable ? m->load_flits_per_cycle : (double)NAN), "error_percent",
                              fc_json_real(stable ? answer->error_percent : (double)NAN), "tier",
                              fc_calibration_tier_names[answer->tier], "elsewhere", answer->elsewhere, "extrapolated",
                              answer->extrapolated, "why", answer->why, "network_latency_cycles",
                              fc_json_real(stable ? m->network_cycles : (double)NAN), "source_queue_cycles",
                              fc_json_real(stable ? m->source_cycles : (double)NAN), "p95_cycles",
                              fc_json_real(stable ? m->latency_p95_cycles : (double)NAN), "p99_cycles",
                              fc_json_real(stable ? m->latency_p99_cycles : (double)NAN), "stable", stable);
    pairs_json(&model->pairs, i, point);
    return point;
}

void fc_curve_model_print_windows(const struct fc_curve_model *model, FILE *stream)
{
    if (!model->n_windows) return;
    fprintf(stream, "\n%12s %12s %12s  limit\n%12s %12s %12s\n", "window", "accepted", "latency", "packets",
            "flits/node/c", "cycles");
    for (size_t i = 0; i < model->n_windows; i++) {
        const struct fc_window_answer *w = &model->windows[i];
        fprintf(stream, "%12u %12.4g %12.2f  %s\n", w->window_packets, w->load_flits_per_cycle, w->latency_mean_cycles,
                w->saturated ? "network" : "window");
    }
}

json_t *fc_curve_model_windows_json(const struct fc_curve_model *model)
{
    if (!model->n_windows) return NULL;
    json_t *list = json_array();
    for (size_t i = 0; i < model->n_windows; i++) {
        const struct fc_window_answer *w = &model->windows[i];
        json_array_append_new(list, json_pack("{s:I, s:o, s:o, s:s}", "window_packets", (json_int_t)w->window_packets,
                                              "accepted", fc_json_real(w->load_flits_per_cycle),
                                              "packet_latency_cycles", fc_json_real(w->latency_mean_cycles), "limit",
                                              w->saturated ? "network" : "window"));
    }
    return list;
}
