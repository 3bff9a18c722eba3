/* calibration_file.c - a calibration as YAML: writing.
 *
 * Numbers have the fewest digits that read back as the same double, unknown ones are null, so that what is
 * read and written again is the same file byte for byte (calibration_read.c). */
#include "solvers/calibration/calibration_replays.h"
#include "solvers/calibration/calibration_yaml.h"

const char *const fc_left_out_names[] = {"network", "case", NULL};

static void put_parameters(FILE *f, const struct fc_calibration *c)
{
    fprintf(f, "parameters: # of the queueing model, with 95 %% intervals\n");
    for (int i = 0; i < FC_Q_PARAMETERS; i++) {
        fprintf(f, "  %s: {", fc_queueing_parameter_names[i]);
        put_key(f, "value", c->parameters.value[i]);
        put_key(f, ", low", c->low.value[i]);
        put_key(f, ", high", c->high.value[i]);
        fprintf(f, ", fitted: %s}\n", c->free_parameter[i] ? "true" : "false");
    }
}

static void put_errors(FILE *f, const struct fc_calibration *c)
{
    fprintf(f, "hull: # least and most of the cases\n");
    const struct {
        const char *name;
        const double *range;
    } hull[] = {{"  hops", c->hops},
                {"  anisotropy", c->anisotropy},
                {"  flits", c->flits},
                {"  buffer_packets", c->buffer_packets}};
    for (size_t i = 0; i < FC_COUNT(hull); i++) {
        put_list(f, hull[i].name, hull[i].range, 2);
        fputc('\n', f);
    }
    put_key(f, "  hops_step", c->hops_step);
    fprintf(f, "\nerrors: # percent; of cases that fit and correction have not seen\n  left_out: %s\n",
            fc_left_out_names[c->left_out]);
    const struct {
        const char *name;
        double value;
    } list[] = {{"  residual", c->residual_percent},
                {"  latency_mean", c->left_out_mean_percent},
                {"  latency_greatest", c->left_out_greatest_percent},
                {"  largest_network_mean", c->largest_left_out_percent},
                {"  saturation_mean", c->saturation_mean_percent},
                {"  saturation_greatest", c->saturation_greatest_percent},
                {"  kind_latency_mean", c->kind_mean_percent},
                {"  kind_saturation_mean", c->kind_saturation_mean_percent}};
    for (size_t i = 0; i < FC_COUNT(list); i++) {
        put_key(f, list[i].name, list[i].value);
        fputc('\n', f);
    }
    put_list(f, "  at_load_share", c->error_at, (int)FC_COUNT(c->error_at));
    fprintf(f, " # 0, 0.1, ... 0.9 of saturation\n");
}

static void put_corrections(FILE *f, const struct fc_calibration *c)
{
    fprintf(f, "corrections: # at a share of saturation; share 1: of the saturation%s\n",
            c->n_corrections ? "" : "\n  []");
    for (int i = 0; i < c->n_corrections; i++) {
        const struct fc_calibration_correction *one = &c->corrections[i];
        put_key(f, "  - share", one->share);
        fputc('\n', f);
        put_list(f, "    lengths", one->shape.length, FC_KRIGING_FEATURES);
        put_key(f, "\n    kinds", one->shape.kinds);
        put_key(f, "\n    networks", one->shape.groups);
        put_key(f, "\n    noise", one->shape.noise);
        put_key(f, "\n    variance", one->shape.variance);
        fputc('\n', f);
    }
}

static void put_case(FILE *f, const struct fc_calibration_case *k)
{
    fprintf(f, "  - network: ");
    put_text(f, k->network);
    fprintf(f, "\n    pattern: ");
    put_text(f, k->pattern);
    fprintf(f, "\n    nodes: %llu\n", (unsigned long long)k->nodes);
    put_list(f, "    flits", (double[]){k->flits_min, k->flits_max}, 2);
    fputc('\n', f);
    put_list(f, "    features", k->features, FC_CALIBRATION_FEATURES);
    const struct {
        const char *name;
        double value;
    } list[] = {{"hops", k->hops},
                {"anisotropy", k->anisotropy},
                {"buffer_packets", k->buffer_packets},
                {"saturation", k->saturation},
                {"saturation_ratio", k->saturation_ratio},
                {"ideal", k->ideal},
                {"escape_percent", k->escape_percent}};
    for (size_t i = 0; i < FC_COUNT(list); i++) {
        fputs("\n    ", f);
        put_key(f, list[i].name, list[i].value);
    }
    fprintf(f, "\n    fitted: %s\n", k->fitted ? "true" : "false");
    put_key(f, "    error_mean", k->mean_error_percent);
    fputc('\n', f);
    put_key(f, "    error_greatest", k->greatest_error_percent);
    fputc('\n', f);
    put_key(f, "    error_saturation", k->saturation_error_percent);
    fprintf(f, "\n    points: # share of saturation, latency and its half width in cycles, model over kernel\n");
    for (int i = 0; i < k->n_points; i++) {
        const struct fc_calibration_point *p = &k->points[i];
        put_list(f, "      - at", (double[]){p->load_share, p->latency_cycles, p->half_width_cycles, p->model_ratio},
                 4);
        fputc('\n', f);
    }
}

enum fc_code fc_calibration_write(const struct fc_calibration *calibration, const char *path, struct fc_status *st)
{
    struct fc_output out;
    if (fc_output_open(&out, path, st)) return st->code;
    FILE *f = out.stream;
    fprintf(f, "# Made by `fabricast calibrate`; docs/calibration.md tells how to read it.\nmachine: ");
    put_text(f, calibration->machine);
    fprintf(f, "\nkind: ");
    put_text(f, calibration->kind);
    fprintf(f, "\nkernel_version: ");
    put_text(f, calibration->kernel_version);
    fprintf(f, "\nseed: %llu\n", (unsigned long long)calibration->seed);
    if (calibration->budget_s > 0) fprintf(f, "budget: %.15g\n", calibration->budget_s);
    put_key(f, "hops_run", calibration->hops_run);
    fputc('\n', f);
    put_parameters(f, calibration);
    put_errors(f, calibration);
    put_corrections(f, calibration);
    fprintf(f, "cases:\n");
    for (uint32_t i = 0; i < calibration->n_cases; i++) put_case(f, &calibration->cases[i]);
    fc_calibration_phases_write(f, &calibration->phases);
    fc_calibration_replays_write(f, &calibration->replays);
    return fc_output_close(&out, st);
}
