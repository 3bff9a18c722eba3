/* calibration_replays_file.c - the section `replays:` of a calibration's file: jobs replayed over the network
 * models and through the kernel, one a line. Files made before there were any have no such section; in one
 * that is there every key is required, an unknown one is refused with its line. Cases of which interference is not known,
 * those of queueing and older ones, are a number shorter (replay_error.c). */
#include "solvers/calibration/calibration_replays.h"
#include "solvers/calibration/calibration_yaml.h"

/* In the order of the models measured. */
static const char *const models[FC_MEASURED] = {"contention", "queueing"};
enum { FIGURES = FC_REPLAY_FEATURES + 1 };

/* ---- writing ---- */

static void put_replay_case(FILE *f, const struct fc_replay_case *c)
{
    fprintf(f, "    - {network: ");
    put_text(f, c->network);
    fprintf(f, ", job: ");
    put_text(f, c->job);
    fprintf(f, ", mapping: %s, nodes: %llu, ", c->mapping, (unsigned long long)c->nodes);
    put_key(f, "kernel_s", c->kernel_s);
    for (int m = 0; m < FC_MEASURED; m++) {
        const struct fc_replay_point *at = &c->at[m];
        const double figures[FIGURES] = {at->share, at->waiting, at->packets, at->hops, at->interference, c->ratio[m]};
        const double older[] = {at->share, at->waiting, at->packets, at->hops, c->ratio[m]};
        bool known = !isnan(at->interference);
        fprintf(f, ", ");
        put_list(f, models[m], known ? figures : older, known ? FIGURES : FIGURES - 1);
    }
    fprintf(f, "}\n");
}

void fc_calibration_replays_write(FILE *f, const struct fc_replays *replays)
{
    if (replays->n_cases == 0) return;
    fprintf(f, "replays: # jobs over network models and through the kernel; covered: percent, networks left out; "
               "unknown: factor;\n  # mixing: limit, 95 %% interval\n");
    put_key(f, "  work", replays->hops_run);
    put_list(f, "\n  covered", replays->covered_percent, FC_MEASURED);
    put_list(f, "\n  unknown", replays->unknown, FC_MEASURED);
    const double mixing[] = {replays->mixing, replays->mixing_low, replays->mixing_high};
    put_list(f, "\n  mixing", mixing, FC_COUNT(mixing));
    fprintf(
        f,
        "\n  cases: # of each model: share, waiting, packets, hops, (contention: interference,) kernel's time over the model's\n");
    for (uint32_t i = 0; i < replays->n_cases; i++) put_replay_case(f, &replays->cases[i]);
}

/* ---- reading ---- */

static enum fc_code read_figures(struct reader *r, const yaml_node_t *node, struct fc_replay_case *c, int m)
{
    double v[FIGURES];
    const yaml_node_t *list = fc_yaml_value(&r->yaml, node, models[m]);
    bool older = fc_yaml_count(list) == FIGURES - 1;
    if (read_list(r, list, models[m], true, 0, older ? FIGURES - 1 : FIGURES, v)) return r->st->code;
    double ratio = v[older ? FIGURES - 2 : FIGURES - 1], interference = older ? (double)NAN : v[4];
    c->at[m] = (struct fc_replay_point){
        .share = v[0], .waiting = v[1], .packets = v[2], .hops = v[3], .interference = interference};
    c->ratio[m] = ratio;
    if (isnan(ratio)) return FC_OK;
    if (v[0] <= 1 && v[1] <= 1 && v[2] >= 1 && v[3] >= 0 && (older || interference <= 1) && ratio > 0) return FC_OK;
    return FC_YAML_FAIL(&r->yaml, list, "%s: expected shares of 0 to 1, at least one packet, hops and a ratio above 0",
                        models[m]);
}

static enum fc_code read_replay_case(struct reader *r, const yaml_node_t *node, struct fc_replay_case *c)
{
    static const struct field fields[] = {
        TEXT("network", struct fc_replay_case, network),
        TEXT("job", struct fc_replay_case, job),
        TEXT("mapping", struct fc_replay_case, mapping),
        INT("nodes", struct fc_replay_case, nodes, 1, 4294967295.0),
        REAL("kernel_s", struct fc_replay_case, kernel_s, 1e-15, 1e9),
    };
    if (decode(r, node, "replays", fields, FC_COUNT(fields), models, FC_MEASURED, c)) return r->st->code;
    for (int m = 0; m < FC_MEASURED; m++)
        if (read_figures(r, node, c, m)) return r->st->code;
    return FC_OK;
}

/* node NULL: nothing is lost. */
static enum fc_code read_mixing(struct reader *r, const yaml_node_t *node, struct fc_replays *replays)
{
    double v[] = {1, 1, 1};
    if (node && read_list(r, node, "mixing", false, 0, FC_COUNT(v), v)) return r->st->code;
    replays->mixing = v[0];
    replays->mixing_low = v[1];
    replays->mixing_high = v[2];
    if (0 < v[1] && v[1] <= v[0] && v[0] <= v[2] && v[2] <= 1) return FC_OK;
    return FC_YAML_FAIL(
        &r->yaml, node,
        "mixing: expected a limit above 0 and up to 1 between the ends of its interval, which come after it");
}

enum fc_code fc_calibration_replays_read(struct reader *r, const yaml_node_t *node)
{
    static const struct field fields[] = {REAL("work", struct fc_replays, hops_run, 0, 1e18)};
    static const char *const others[] = {"covered", "unknown", "cases", "mixing"};
    struct fc_replays *replays = &r->c->replays;
    if (!node) return FC_OK;
    const yaml_node_t *mixing = node->type == YAML_MAPPING_NODE ? fc_yaml_value(&r->yaml, node, "mixing") : NULL;
    size_t n_others = FC_COUNT(others) - (mixing ? 0 : 1); /* older files have none */
    if (decode(r, node, "replays", fields, FC_COUNT(fields), others, n_others, replays) ||
        read_mixing(r, mixing, replays) ||
        read_list(r, fc_yaml_value(&r->yaml, node, "covered"), "covered", true, 0, FC_MEASURED,
                  replays->covered_percent) ||
        read_list(r, fc_yaml_value(&r->yaml, node, "unknown"), "unknown", true, 1, FC_MEASURED, replays->unknown))
        return r->st->code;
    const yaml_node_t *cases = fc_yaml_value(&r->yaml, node, "cases");
    long n = fc_yaml_count(cases);
    if (n < 1 || n > FC_MOST_REPLAYS)
        return FC_YAML_FAIL(&r->yaml, cases, "replays: expected a list of 1 to %d cases", FC_MOST_REPLAYS);
    replays->cases = fc_alloc(&r->c->arena, n, sizeof *replays->cases, r->st);
    for (long i = 0; replays->cases && i < n; i++)
        if (read_replay_case(r, fc_yaml_item(&r->yaml, cases, i), &replays->cases[i])) break;
    replays->n_cases = (uint32_t)n;
    return r->st->code;
}
