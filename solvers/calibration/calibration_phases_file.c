/* calibration_phases_file.c - the section `phases:` of a calibration's file: closed runs, one a line, and the
 * shapes of the processes over them (bulk.c). Every key is required, an unknown one is refused with its line. Files of before fluids were
 * known have one shape, whose keys are the section's own, and another figure in the fluid's place, which is not read. */
#include "solvers/calibration/calibration_phases.h"
#include "solvers/calibration/calibration_yaml.h"

/* In the order of fc_bulk_features. */
static const char *const features[FC_BULK_FEATURES] = {"packets",       "hops",  "anisotropy", "split",
                                                       "latency_share", "fluid", "spread"};

/* ---- writing ---- */

static void put_bulk_case(FILE *f, const struct fc_bulk_case *c)
{
    fprintf(f, "    - {network: ");
    put_text(f, c->network);
    fprintf(f, ", pattern: ");
    put_text(f, c->pattern);
    fprintf(f, ", kind: \"%s\", nodes: %llu", c->kind, (unsigned long long)c->nodes);
    const double at[FC_BULK_FEATURES] = {c->at.packets,       c->at.hops,  c->at.anisotropy, c->at.split,
                                         c->at.latency_share, c->at.fluid, c->at.spread};
    put_list(f, ", at", at, FC_BULK_FEATURES);
    put_key(f, ", ratio", c->ratio);
    put_key(f, ", left_network", c->left_network_percent);
    put_key(f, ", left_kind", c->left_kind_percent);
    put_key(f, ", network_score", c->network_score);
    put_key(f, ", kind_score", c->kind_score);
    fprintf(f, "}\n");
}

static void put_shape(FILE *f, const char *name, const struct fc_kriging_shape *s)
{
    fprintf(f, "\n  %s: {", name);
    put_list(f, "lengths", s->length, FC_BULK_FEATURES);
    put_key(f, ", kinds", s->kinds);
    put_key(f, ", groups", s->groups);
    put_key(f, ", noise", s->noise);
    put_key(f, ", variance", s->variance);
    fputc('}', f);
}

void fc_calibration_phases_write(FILE *f, const struct fc_bulk *bulk)
{
    fprintf(f, "phases: # closed runs: time of the kernel over that of solvers/contention.c; errors in percent\n");
    put_key(f, "  hops_run", bulk->hops_run);
    put_shape(f, "shape", &bulk->shape);
    put_shape(f, "plain", &bulk->plain);
    if (bulk->n_cases == 0) {
        fprintf(f, "\n  cases: []\n");
        return;
    }
    fprintf(f, "\n  cases: # at: ");
    for (int i = 0; i < FC_BULK_FEATURES; i++) fprintf(f, "%s%s", i ? ", " : "", features[i]);
    fputc('\n', f);
    for (uint32_t i = 0; i < bulk->n_cases; i++) put_bulk_case(f, &bulk->cases[i]);
}

/* ---- reading ---- */

static enum fc_code read_bulk_case(struct reader *r, const yaml_node_t *node, struct fc_bulk_case *c)
{
    static const struct field fields[] = {
        TEXT("network", struct fc_bulk_case, network),
        TEXT("pattern", struct fc_bulk_case, pattern),
        TEXT("kind", struct fc_bulk_case, kind),
        INT("nodes", struct fc_bulk_case, nodes, 1, 4294967295.0),
        REAL("ratio", struct fc_bulk_case, ratio, 1e-6, 1e6),
        REAL("left_network", struct fc_bulk_case, left_network_percent, 0, 1e9),
        REAL("left_kind", struct fc_bulk_case, left_kind_percent, 0, 1e9),
        REAL("network_score", struct fc_bulk_case, network_score, 0, 1e9),
        REAL("kind_score", struct fc_bulk_case, kind_score, 0, 1e9),
    };
    static const char *const others[] = {"at"};
    double at[FC_BULK_FEATURES];
    if (decode(r, node, "phases", fields, FC_COUNT(fields), others, 1, c) ||
        read_list(r, fc_yaml_value(&r->yaml, node, "at"), "at", false, 0, FC_BULK_FEATURES, at))
        return r->st->code;
    c->at = (struct fc_bulk_point){.packets = at[0],
                                   .hops = at[1],
                                   .anisotropy = at[2],
                                   .split = at[3],
                                   .latency_share = at[4],
                                   .fluid = at[5],
                                   .spread = at[6]};
    if (at[0] >= 1 && at[2] >= 1 && at[3] >= 1 && at[4] <= 1 && at[6] <= 1) return FC_OK;
    return FC_YAML_FAIL(&r->yaml, fc_yaml_value(&r->yaml, node, "at"),
                        "at: expected packets, anisotropy and split of at least 1, a share and a spread of at most 1");
}

static enum fc_code read_bulk_cases(struct reader *r, const yaml_node_t *node, struct fc_bulk *bulk)
{
    if (node->type != YAML_SEQUENCE_NODE) return FC_YAML_FAIL(&r->yaml, node, "cases: expected a list of cases");
    size_t n = (size_t)fc_yaml_count(node);
    if (n > FC_KRIGING_MOST_POINTS)
        return FC_YAML_FAIL(&r->yaml, node, "cases: %zu cases (at most %d)", n, FC_KRIGING_MOST_POINTS);
    bulk->cases = fc_alloc(&r->c->arena, n, sizeof *bulk->cases, r->st);
    for (size_t i = 0; bulk->cases && i < n; i++)
        if (read_bulk_case(r, fc_yaml_item(&r->yaml, node, i), &bulk->cases[i])) break;
    bulk->n_cases = (uint32_t)n;
    return r->st->code;
}

/* `older`: the node is the section itself. */
static enum fc_code read_shape(struct reader *r, const yaml_node_t *node, bool older, struct fc_kriging_shape *shape)
{
    static const struct field fields[] = {
        REAL("kinds", struct fc_kriging_shape, kinds, 0, 1),
        REAL("groups", struct fc_kriging_shape, groups, 0, 1e6),
        REAL("noise", struct fc_kriging_shape, noise, 0, 1e6),
        REAL("variance", struct fc_kriging_shape, variance, 0, 1e6),
    };
    static const char *const others[] = {"lengths", "hops_run", "cases"};
    if (decode(r, node, "phases", fields, FC_COUNT(fields), others, older ? FC_COUNT(others) : 1, shape) ||
        read_list(r, fc_yaml_value(&r->yaml, node, "lengths"), "lengths", false, 0, FC_BULK_FEATURES, shape->length))
        return r->st->code;
    for (int i = FC_BULK_FEATURES; i < FC_KRIGING_FEATURES; i++) shape->length[i] = 1;
    if (r->c->phases.n_cases == 0) return FC_OK;
    for (int i = 0; i < FC_BULK_FEATURES; i++)
        if (!(shape->length[i] > 0))
            return FC_YAML_FAIL(&r->yaml, fc_yaml_value(&r->yaml, node, "lengths"), "lengths: %g (expected above 0)",
                                shape->length[i]);
    if (!(shape->noise > 0))
        return FC_YAML_FAIL(&r->yaml, fc_yaml_value(&r->yaml, node, "noise"), "noise: 0 (expected above 0)");
    return FC_OK;
}

enum fc_code fc_calibration_phases_read(struct reader *r, const yaml_node_t *node)
{
    static const struct field fields[] = {REAL("hops_run", struct fc_bulk, hops_run, 0, 1e18)};
    static const char *const others[] = {"shape", "plain", "cases"};
    struct fc_bulk *bulk = &r->c->phases;
    bool older = node->type == YAML_MAPPING_NODE && fc_yaml_value(&r->yaml, node, "lengths");
    if (!older && decode(r, node, "phases", fields, FC_COUNT(fields), others, FC_COUNT(others), bulk))
        return r->st->code;
    if (read_bulk_cases(r, fc_yaml_value(&r->yaml, node, "cases"), bulk) ||
        read_shape(r, older ? node : fc_yaml_value(&r->yaml, node, "shape"), older, &bulk->shape))
        return r->st->code;
    if (!older) return read_shape(r, fc_yaml_value(&r->yaml, node, "plain"), false, &bulk->plain);
    bulk->plain = bulk->shape;
    for (uint32_t i = 0; i < bulk->n_cases; i++) bulk->cases[i].at.fluid = 0;
    return FC_OK;
}
