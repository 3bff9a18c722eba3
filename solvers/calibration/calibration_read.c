/* calibration_read.c - a calibration as YAML: reading.
 *
 * The document is libyaml's; tables of keys (core.h) say which keys exist, their kind and range. Every key is
 * required, because a file is written by the program: what is missing was cut off or edited. null is an
 * unknown number (NaN) where the table's key may be unknown. */
#include "solvers/calibration/calibration_replays.h"
#include "solvers/calibration/calibration_yaml.h"

/* ---- sections ---- */

struct parameter {
    double value, low, high;
    bool fitted;
};

static enum fc_code read_parameters(struct reader *r, const yaml_node_t *node)
{
    static const struct field fields[] = {
        REAL("value", struct parameter, value, 0, 1e6),
        REAL("low", struct parameter, low, 0, 1e6),
        REAL("high", struct parameter, high, 0, 1e6),
        BOOL("fitted", struct parameter, fitted),
    };
    struct fc_calibration *c = r->c;
    if (decode(r, node, "parameters", NULL, 0, fc_queueing_parameter_names, FC_Q_PARAMETERS, NULL)) return r->st->code;
    for (int i = 0; i < FC_Q_PARAMETERS; i++) {
        const char *name = fc_queueing_parameter_names[i];
        const yaml_node_t *entry = fc_yaml_value(&r->yaml, node, name);
        struct parameter p;
        if (decode(r, entry, name, fields, FC_COUNT(fields), NULL, 0, &p)) return r->st->code;
        if (!(p.low <= p.value && p.value <= p.high))
            return FC_YAML_FAIL(&r->yaml, entry, "%s: %g is not in its interval %g to %g", name, p.value, p.low,
                                p.high);
        c->parameters.value[i] = p.value;
        c->low.value[i] = p.low;
        c->high.value[i] = p.high;
        c->free_parameter[i] = p.fitted;
    }
    return FC_OK;
}

static enum fc_code read_hull(struct reader *r, const yaml_node_t *node)
{
    static const struct field fields[] = {REAL("hops_step", struct fc_calibration, hops_step, 1, 1e6)};
    static const char *const lists[] = {"hops", "anisotropy", "flits", "buffer_packets"};
    double *range[] = {r->c->hops, r->c->anisotropy, r->c->flits, r->c->buffer_packets};
    if (decode(r, node, "hull", fields, FC_COUNT(fields), lists, FC_COUNT(lists), r->c)) return r->st->code;
    for (size_t i = 0; i < FC_COUNT(lists); i++) {
        const yaml_node_t *value = fc_yaml_value(&r->yaml, node, lists[i]);
        if (read_list(r, value, lists[i], false, 0, 2, range[i])) return r->st->code;
        if (range[i][0] > range[i][1])
            return FC_YAML_FAIL(&r->yaml, value, "%s: %g to %g is no range", lists[i], range[i][0], range[i][1]);
    }
    return FC_OK;
}

static enum fc_code read_errors(struct reader *r, const yaml_node_t *node)
{
    static const struct field fields[] = {
        {{"left_out", FC_KEY_CHOICE, FC_NUMBER, offsetof(struct fc_calibration, left_out), 0, 0, fc_left_out_names,
          NULL, ""},
         false},
        PERCENT("residual", struct fc_calibration, residual_percent),
        PERCENT("latency_mean", struct fc_calibration, left_out_mean_percent),
        PERCENT("latency_greatest", struct fc_calibration, left_out_greatest_percent),
        PERCENT("largest_network_mean", struct fc_calibration, largest_left_out_percent),
        PERCENT("saturation_mean", struct fc_calibration, saturation_mean_percent),
        PERCENT("saturation_greatest", struct fc_calibration, saturation_greatest_percent),
        PERCENT("kind_latency_mean", struct fc_calibration, kind_mean_percent),
        PERCENT("kind_saturation_mean", struct fc_calibration, kind_saturation_mean_percent),
    };
    static const char *const lists[] = {"at_load_share"};
    if (decode(r, node, "errors", fields, FC_COUNT(fields), lists, 1, r->c)) return r->st->code;
    return read_list(r, fc_yaml_value(&r->yaml, node, lists[0]), lists[0], true, 0, (int)FC_COUNT(r->c->error_at),
                     r->c->error_at);
}

static enum fc_code read_correction(struct reader *r, const yaml_node_t *node, struct fc_calibration_correction *one,
                                    double last)
{
    static const struct field fields[] = {
        REAL("share", struct fc_calibration_correction, share, 1e-6, 1),
        REAL("kinds", struct fc_calibration_correction, shape.kinds, 0, 1),
        REAL("networks", struct fc_calibration_correction, shape.groups, 0, 1e6),
        REAL("noise", struct fc_calibration_correction, shape.noise, 1e-9, 1e6),
        REAL("variance", struct fc_calibration_correction, shape.variance, 0, 1e6),
    };
    /* Files made before calibration_error.c have two factors more, which nothing reads. */
    static const char *const lists[] = {"lengths", "known", "unknown"};
    bool older = node->type == YAML_MAPPING_NODE && fc_yaml_value(&r->yaml, node, "known");
    if (decode(r, node, "corrections", fields, FC_COUNT(fields), lists, older ? 3 : 1, one) ||
        read_list(r, fc_yaml_value(&r->yaml, node, lists[0]), lists[0], false, 1e-9, FC_KRIGING_FEATURES,
                  one->shape.length))
        return r->st->code;
    if (one->share > last) return FC_OK;
    return FC_YAML_FAIL(&r->yaml, node, "corrections: share %g (expected above %g)", one->share, last);
}

static enum fc_code read_corrections(struct reader *r, const yaml_node_t *node)
{
    struct fc_calibration *c = r->c;
    long n = fc_yaml_count(node);
    if (n < 0 || n > FC_CALIBRATION_MOST_CORRECTIONS)
        return FC_YAML_FAIL(&r->yaml, node, "corrections: expected a list of at most %d",
                            FC_CALIBRATION_MOST_CORRECTIONS);
    for (c->n_corrections = 0; c->n_corrections < (int)n; c->n_corrections++) {
        struct fc_calibration_correction *one = &c->corrections[c->n_corrections];
        if (read_correction(r, fc_yaml_item(&r->yaml, node, c->n_corrections), one,
                            c->n_corrections ? one[-1].share : 0))
            return r->st->code;
    }
    return FC_OK;
}

static enum fc_code read_points(struct reader *r, const yaml_node_t *node, struct fc_calibration_case *k)
{
    static const char *const at[] = {"at"};
    long n = fc_yaml_count(node);
    if (n < 1 || n > FC_CALIBRATION_MOST_POINTS)
        return FC_YAML_FAIL(&r->yaml, node, "points: expected a list of 1 to %d points", FC_CALIBRATION_MOST_POINTS);
    k->points = fc_alloc(&r->c->arena, (size_t)n, sizeof *k->points, r->st);
    if (!k->points) return r->st->code;
    for (int i = 0; i < (int)n; i++) {
        const yaml_node_t *point = fc_yaml_item(&r->yaml, node, i);
        double v[4];
        if (decode(r, point, "points", NULL, 0, at, 1, NULL) ||
            read_list(r, fc_yaml_value(&r->yaml, point, "at"), "at", true, 0, 4, v))
            return r->st->code;
        k->points[i] = (struct fc_calibration_point){v[0], v[1], v[2], v[3]};
        if (!(v[0] > (i ? k->points[i - 1].load_share : 0)) || !(v[0] < 1))
            return FC_YAML_FAIL(&r->yaml, point,
                                "points: share %g of saturation (expected ascending, above 0 and below 1)", v[0]);
        if (!(v[1] > 0)) return FC_YAML_FAIL(&r->yaml, point, "points: latency %g cycles (expected above 0)", v[1]);
        if (!(v[3] > 0)) return FC_YAML_FAIL(&r->yaml, point, "points: model over kernel %g (expected above 0)", v[3]);
    }
    k->n_points = (int)n;
    return FC_OK;
}

static enum fc_code read_case(struct reader *r, const yaml_node_t *node, struct fc_calibration_case *k)
{
    static const struct field fields[] = {
        TEXT("network", struct fc_calibration_case, network),
        TEXT("pattern", struct fc_calibration_case, pattern),
        INT("nodes", struct fc_calibration_case, nodes, 1, 4294967295.0),
        REAL("hops", struct fc_calibration_case, hops, 0, 1e9),
        REAL("anisotropy", struct fc_calibration_case, anisotropy, 1, 1e9),
        REAL("buffer_packets", struct fc_calibration_case, buffer_packets, 1, 1e9),
        REAL("saturation", struct fc_calibration_case, saturation, 1e-12, 1e12),
        REAL("saturation_ratio", struct fc_calibration_case, saturation_ratio, 1e-6, 1e6),
        REAL("ideal", struct fc_calibration_case, ideal, 1e-12, 1e12),
        PERCENT("escape_percent", struct fc_calibration_case, escape_percent),
        BOOL("fitted", struct fc_calibration_case, fitted),
        PERCENT("error_mean", struct fc_calibration_case, mean_error_percent),
        PERCENT("error_greatest", struct fc_calibration_case, greatest_error_percent),
        PERCENT("error_saturation", struct fc_calibration_case, saturation_error_percent),
    };
    static const char *const others[] = {"flits", "features", "points"};
    double flits[2];
    if (decode(r, node, "cases", fields, FC_COUNT(fields), others, FC_COUNT(others), k) ||
        read_list(r, fc_yaml_value(&r->yaml, node, "flits"), "flits", false, 0, 2, flits) ||
        read_list(r, fc_yaml_value(&r->yaml, node, "features"), "features", false, 1e-6, FC_CALIBRATION_FEATURES,
                  k->features) ||
        read_points(r, fc_yaml_value(&r->yaml, node, "points"), k))
        return r->st->code;
    if (!(flits[0] >= 1) || flits[0] > flits[1])
        return FC_YAML_FAIL(&r->yaml, fc_yaml_value(&r->yaml, node, "flits"), "flits: %g to %g is no packet length",
                            flits[0], flits[1]);
    k->flits_min = flits[0];
    k->flits_max = flits[1];
    k->kind = fc_calibration_pattern_kind(k->pattern, &r->c->arena, r->st);
    return r->st->code;
}

static enum fc_code read_cases(struct reader *r, const yaml_node_t *node)
{
    struct fc_calibration *c = r->c;
    long n = fc_yaml_count(node);
    if (n < 1) return FC_YAML_FAIL(&r->yaml, node, "cases: expected a list of at least one case");
    c->cases = fc_alloc(&c->arena, (size_t)n, sizeof *c->cases, r->st);
    if (!c->cases) return r->st->code;
    c->n_cases = (uint32_t)n;
    for (long i = 0; i < n; i++)
        if (read_case(r, fc_yaml_item(&r->yaml, node, i), &c->cases[i])) return r->st->code;
    return FC_OK;
}

static enum fc_code read_all(struct reader *r)
{
    static const struct field fields[] = {
        TEXT("machine", struct fc_calibration, machine),
        TEXT("kind", struct fc_calibration, kind),
        TEXT("kernel_version", struct fc_calibration, kernel_version),
        INT("seed", struct fc_calibration, seed, 0, 9e18),
        REAL("hops_run", struct fc_calibration, hops_run, 0, 1e18),
        REAL("budget", struct fc_calibration, budget_s, 0, 1e6),
    };
    static const char *const sections[] = {"parameters", "hull", "errors", "corrections", "cases", "phases", "replays"};
    const yaml_node_t *top = yaml_document_get_root_node(&r->yaml.document);
    if (!top || top->type != YAML_MAPPING_NODE)
        return fc_fail(r->st, FC_INPUT, (struct fc_place){r->c->file, 1},
                       "not a calibration (expected keys machine:, kind:, parameters:, ...)");
    const yaml_node_t *replays = top->type == YAML_MAPPING_NODE ? fc_yaml_value(&r->yaml, top, "replays") : NULL;
    size_t n_sections = FC_COUNT(sections) - (replays ? 0 : 1);   /* older files have none */
    bool budget = fc_yaml_value(&r->yaml, top, "budget") != NULL; /* older files do not tell it */
    if (decode(r, top, "calibration", fields, FC_COUNT(fields) - !budget, sections, n_sections, r->c))
        return r->st->code;
    if (read_parameters(r, fc_yaml_value(&r->yaml, top, "parameters")) ||
        read_hull(r, fc_yaml_value(&r->yaml, top, "hull")) || read_errors(r, fc_yaml_value(&r->yaml, top, "errors")) ||
        read_corrections(r, fc_yaml_value(&r->yaml, top, "corrections")))
        return r->st->code;
    if (read_cases(r, fc_yaml_value(&r->yaml, top, "cases"))) return r->st->code;
    if (fc_calibration_phases_read(r, fc_yaml_value(&r->yaml, top, "phases"))) return r->st->code;
    if (fc_calibration_replays_read(r, replays)) return r->st->code;
    r->c->phases.mixing = r->c->replays.mixing;
    return FC_OK;
}

enum fc_code fc_calibration_read(const char *path, struct fc_calibration *calibration, struct fc_status *st)
{
    struct fc_text text;
    struct reader r = {.c = calibration, .st = st};
    memset(calibration, 0, sizeof *calibration);
    calibration->file = fc_copy_text(&calibration->arena, path, st);
    if (calibration->file && !fc_read_file(path, &calibration->arena, &text, st) &&
        !fc_yaml_read(&r.yaml, &text, calibration->file, ": a calibration is one", st)) {
        read_all(&r);
        fc_yaml_free(&r.yaml);
    }
    if (st->code) fc_calibration_free(calibration);
    return st->code;
}

void fc_calibration_free(struct fc_calibration *calibration)
{
    for (uint32_t i = 0; i < calibration->n_relatives; i++) fc_calibration_free(&calibration->relatives[i]);
    if (calibration->aside) fc_calibration_free(calibration->aside);
    fc_arena_free(&calibration->arena);
    memset(calibration, 0, sizeof *calibration);
}
