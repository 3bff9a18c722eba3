/* answer_json.c - an answer as JSON. Unknown is null, never 0. */
#include "answer/answer_json.h"

static json_t *links_json(const struct fc_answer *a)
{
    if (!a->n_classes) return json_null();
    json_t *links = json_object();
    for (int c = 0; c < a->n_classes; c++) {
        const struct fc_answer_class *k = &a->classes[c];
        json_object_set_new(links, k->name,
                            json_pack("{s:I, s:I, s:o, s:o, s:o}", "count", (json_int_t)k->count, "used",
                                      (json_int_t)k->used, "min_bytes", fc_json_real(k->min_bytes), "mean_bytes",
                                      fc_json_real(k->mean_bytes), "max_bytes", fc_json_real(k->max_bytes)));
    }
    return links;
}

static json_t *bottleneck_json(const struct fc_answer *a)
{
    if (!a->bottleneck_class) return json_null();
    return json_pack("{s:s, s:s, s:o}", "class", a->bottleneck_class, "link", a->bottleneck, "bytes",
                     fc_json_real(a->p.bottleneck_bytes));
}

static json_t *period_json(const struct fc_period_row *row)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:s}", "repeats", (json_int_t)row->repeats, "replayed",
                     (json_int_t)row->use.replayed, "least_events", (json_int_t)row->least_calls, "most_events",
                     (json_int_t)row->most_calls, "covers_percent", fc_json_real(100 * row->covers), "change_percent",
                     fc_json_real(row->use.change_percent), "full_time_s", fc_json_real(row->full_time_s),
                     "error_percent", fc_json_real(row->error_percent), "why", row->use.why);
}

json_t *fc_other_traffic_json(const struct fc_other_traffic *o)
{
    if (o->kind == FC_OTHER_NONE) return json_null();
    if (o->kind == FC_OTHER_JOB)
        return json_pack("{s:s, s:I, s:I, s:o, s:o}", "what", o->what, "tasks", (json_int_t)o->n_tasks, "runs",
                         (json_int_t)o->beside.runs, "alone_s", fc_json_real(o->beside.alone_s), "other_alone_s",
                         fc_json_real(o->beside.other_alone_s));
    return json_pack("{s:s, s:I, s:o, s:o, s:s?, s:o, s:b}", "what", o->what, "nodes", (json_int_t)o->n_senders,
                     "offered_bytes_per_s", fc_json_real(o->offered_bytes_per_s), "max_utilization",
                     fc_json_real(o->max_utilization), "busiest_link", o->busiest_link, "bottleneck_utilization",
                     fc_json_real(o->bottleneck_utilization), "full", o->full);
}

static void add_trace(const struct fc_answer *a, json_t *json)
{
    json_object_set_new(json, "collectives", json_string(a->collectives));
    json_object_set_new(json, "unmatched_sends", json_integer((json_int_t)a->n_unmatched_sends));
    json_object_set_new(json, "unmatched_receives", json_integer((json_int_t)a->n_unmatched_receives));
    json_object_set_new(json, "uneven_calls", json_integer((json_int_t)a->n_uneven_calls));
    json_object_set_new(json, "assumed_flops_per_s",
                        a->assumed_flops_per_s > 0 ? json_real(a->assumed_flops_per_s) : json_null());
    if (a->period.asked) json_object_set_new(json, "period", period_json(&a->period));
}

static json_t *sensitivity_json(const struct fc_sensitivity *s)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < s->n; i++) {
        const struct fc_sensitivity_row *r = &s->rows[i];
        json_array_append_new(rows,
                              json_pack("{s:s, s:o, s:s, s:o, s:s?, s:o, s:o, s:o, s:o, s:o}", "parameter",
                                        r->parameter, "value", fc_json_real(r->value), "unit", r->unit, "derivative",
                                        fc_json_real(r->derivative), "derivative_by", r->derivative_by,
                                        "if_doubled_percent", fc_json_real(r->if_doubled_percent), "if_halved_percent",
                                        fc_json_real(r->if_halved_percent), "tolerance_1_percent",
                                        fc_json_real(r->tolerance_percent[0]), "tolerance_5_percent",
                                        fc_json_real(r->tolerance_percent[1]), "tolerance_10_percent",
                                        fc_json_real(r->tolerance_percent[2])));
    }
    return rows;
}

static json_t *helps_json(const struct fc_answer *a)
{
    struct fc_help help[FC_MOST_HELPS];
    json_t *list = json_array();
    int n = fc_answer_helps(a, help);
    for (int i = 0; i < n; i++)
        json_array_append_new(list, json_pack("{s:s, s:o, s:b}", "change", help[i].change, "percent",
                                              fc_json_real(help[i].percent), "at_most", help[i].at_most));
    return list;
}

json_t *fc_answer_json(const struct fc_answer *a)
{
    const struct fc_prediction *p = &a->p;
    json_t *json = json_pack(
        "{s:s, s:s, s:s, s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:s?, s:b, s:s, s:s?, s:s?, s:o, s:o, s:s}",
        "machine", a->machine, "traffic", a->traffic, "mapping", a->mapping, "routing", a->routing, "tasks",
        (json_int_t)a->n_tasks, "time_s", fc_json_real(p->time_s), "communication_s", fc_json_real(p->communication_s),
        "computation_s", fc_json_real(p->computation_s), "bound_s", fc_json_real(p->bound_s), "percent_of_peak",
        fc_json_real(p->percent_of_peak), "binds", p->binds, "bottleneck", bottleneck_json(a), "links", links_json(a),
        "hop_bytes", fc_json_real(a->hop_bytes), "error_percent", fc_json_real(p->error_percent), "error_against",
        fc_error_against_name(p->error_against), "extrapolated", p->extrapolated, "why", p->why, "calibration",
        a->calibration, "uncalibrated_because", a->uncalibrated, "network_bytes", fc_json_real(p->network_bytes),
        "local_bytes", fc_json_real(p->local_bytes), "confidence", a->confidence);
    if (json) {
        json_object_set_new(json, "waiting_s", fc_json_real(p->waiting_s));
        json_object_set_new(json, "io_s", fc_json_real(a->io_s));
        json_object_set_new(json, "best_bound_s", fc_json_real(a->best_bound_s));
        json_object_set_new(json, "percent_of_best", fc_json_real(fc_answer_percent_of_best(a)));
        json_object_set_new(json, "best_bound_by", a->best_bound_by ? json_string(a->best_bound_by) : json_null());
        json_object_set_new(json, "compute_scale", fc_json_real(a->compute_scale));
    }
    if (json && a->of_trace) add_trace(a, json);
    if (json && a->sensitivity) {
        json_object_set_new(json, "sensitivity", sensitivity_json(a->sensitivity));
        json_object_set_new(json, "what_would_help", helps_json(a));
    }
    if (json) json_object_set_new(json, "background", fc_other_traffic_json(&a->other));
    return json;
}
