/* percs.c - the jobs of the PERCS figures: bulk loads and contention time (solvers/contention.c) of a
 * mapping; nothing is simulated. Times are communication, the paper's total less its computation. Limits:
 * docs/percs.md. */
#include "reproduce/percs.h"

#include <stdlib.h>
#include <string.h>

const char *const fc_percs_ways[FC_PERCS_WAYS] = {"DEF", "BNM", "BDM", "BSM", "RNM", "RDM", "DFI", "RDI"};
const char *const fc_percs_classes[FC_PERCS_CLASSES] = {"LL", "LR", "D"};
const char *const fc_percs_ways_64[FC_PERCS_WAYS] = {"def", "bnm", "bdm", "bsm", "rnm", "rdm", "def", "rdm"};
const char *const fc_percs_ways_multicast[FC_PERCS_WAYS] = {
    [FC_DEF] = "def", [FC_RNM] = "rnm", [FC_RDM] = "rdm", [FC_DFI] = "def", [FC_RDI] = "rdm"};
/* Table 5 "as long as it is possible", the rest on random drawers */
const char *const fc_percs_ways_300[FC_PERCS_WAYS] = {"def",
                                                      "shapes:4x2x2x2/16x4x2x2/16x16x2x2",
                                                      "shapes:4x2x2x2/4x4x4x4/16x4x4x4",
                                                      "shapes:4x2x2x2/4x4x4x4/8x8x4x4",
                                                      "rnm",
                                                      "rdm",
                                                      "def",
                                                      "rdm"};

enum fc_code fc_percs_open(struct fc_percs_job *j, const char *machine, int d_link, const char *pattern,
                           struct fc_status *st)
{
    static const char *const rules[] = {"packed", "modulo", "block", "relative", "hashed", "free"};
    char edits[64] = "";
    memset(j, 0, sizeof *j);
    if (d_link >= 0) snprintf(edits, sizeof edits, "network.d_link=%s", rules[d_link]);
    if (fc_bench_open(&j->bench, machine, edits, st)) return st->code;
    if (pattern && fc_demand_from_pattern(&j->bench.net, pattern, 1, &j->demand, st)) fc_bench_close(&j->bench);
    return st->code;
}

void fc_percs_close(struct fc_percs_job *j)
{
    fc_demand_free(&j->demand);
    fc_bench_close(&j->bench);
}

enum fc_code fc_percs_map(struct fc_percs_job *j, const char *map, uint64_t seed, struct fc_mapping *mapping,
                          struct fc_status *st)
{
    struct fc_map_problem problem = {.net = &j->bench.net, .demand = &j->demand, .seed = seed, .threads = 1};
    return fc_mapping_make(&problem, map, mapping, st);
}

static void count_d_links(const struct fc_network *net, const struct fc_load *load, struct fc_percs_result *r)
{
    for (uint32_t l = 0; l < net->n_links; l++) {
        if (net->link_class[l] != FC_PERCS_D || !(load->bytes[l] > 0)) continue;
        int bin = (int)(load->bytes[l] / FC_PERCS_BIN_BYTES);
        r->d_links[bin < FC_PERCS_BINS ? bin : FC_PERCS_BINS - 1]++;
    }
}

static enum fc_code solve(struct fc_percs_job *j, const struct fc_placement *placement, uint64_t seed,
                          struct fc_percs_result *r, struct fc_status *st)
{
    FC_SCOPED(fc_load_free) struct fc_load load = {0};
    struct fc_load_settings settings = {.seed = seed};
    struct fc_load_summary s;
    struct fc_prediction p;
    const struct fc_network *net = &j->bench.net;
    if (fc_load_solve(net, &j->demand, placement, &settings, &load, st)) return st->code;
    if (!fc_predict_phase(net, &j->demand, placement, &load, &settings, &p, st)) {
        fc_load_summarise(net, &load, &settings, &s);
        memcpy(r->link, s.classes, sizeof r->link);
        r->comm_s = r->least_s = r->most_s = p.communication_s;
        count_d_links(net, &load, r);
    }
    return st->code;
}

enum fc_code fc_percs_once(struct fc_percs_job *j, const char *map, bool indirect, uint64_t seed,
                           struct fc_percs_result *r, struct fc_status *st)
{
    FC_SCOPED(fc_mapping_free) struct fc_mapping mapping = {0};
    double start = fc_cpu_s();
    *r = (struct fc_percs_result){.map = map};
    if (fc_machine_route(&j->bench.machine, indirect ? "indirect" : "direct", st) ||
        fc_percs_map(j, map, seed, &mapping, st))
        return st->code;
    struct fc_placement placement = {mapping.n_tasks, mapping.node};
    solve(j, &placement, seed, r, st);
    r->cpu_s = fc_cpu_s() - start;
    return st->code;
}

static int slower(const void *a, const void *b)
{
    double x = ((const struct fc_percs_result *)a)->comm_s, y = ((const struct fc_percs_result *)b)->comm_s;
    return (x > y) - (x < y);
}

enum fc_code fc_percs_measure(struct fc_percs_job *j, const char *const *map, bool rest_is_random, uint64_t seed,
                              struct fc_percs_result *r, struct fc_status *st)
{
    for (int w = 0; w < FC_PERCS_WAYS; w++) {
        struct fc_percs_result all[FC_PERCS_SEEDS];
        bool random = w == FC_RNM || w == FC_RDM || w == FC_RDI || (rest_is_random && w >= FC_BNM && w <= FC_BSM);
        int n = random ? FC_PERCS_SEEDS : 1;
        r[w] = (struct fc_percs_result){.map = NULL, .comm_s = NAN};
        if (!map[w]) continue;
        for (int i = 0; i < n; i++)
            if (fc_percs_once(j, map[w], w >= FC_DFI, seed + (uint64_t)i, &all[i], st)) return st->code;
        qsort(all, (size_t)n, sizeof *all, slower);
        r[w] = all[n / 2];
        r[w].least_s = all[0].comm_s;
        r[w].most_s = all[n - 1].comm_s;
    }
    return FC_OK;
}

enum fc_code fc_percs_run(const char *machine, int d_link, const char *pattern, const char *const *map,
                          bool rest_is_random, uint64_t seed, struct fc_percs_result *r, struct fc_status *st)
{
    FC_SCOPED(fc_percs_close) struct fc_percs_job j = {0};
    if (fc_percs_open(&j, machine, d_link, pattern, st)) return st->code;
    return fc_percs_measure(&j, map, rest_is_random, seed, r, st);
}

double fc_percs_greatest(const struct fc_percs_result *r, int from, int to)
{
    double most = 0;
    for (int w = from; w <= to; w++) most = fmax(most, r[w].comm_s);
    return most;
}

double fc_percs_least(const struct fc_percs_result *r, int from, int to)
{
    double best = INFINITY;
    for (int w = from; w <= to; w++) best = fmin(best, r[w].comm_s);
    return best;
}

void fc_percs_plot_links(struct fc_reproduction *f, const struct fc_percs_result *r)
{
    fc_reproduction_axes(f, FC_PAPER_BARS, "mapping", "mapping", "mean_MB", "payload on used links: mean, range (MB)");
    f->plot.log_y = true;
    for (int w = 0; w < FC_PERCS_WAYS; w++)
        if (r[w].map) fc_reproduction_category(f, fc_percs_ways[w]);
    for (int c = 0; c < FC_PERCS_CLASSES; c++) {
        int s = fc_reproduction_series(f, FC_PAPER_OURS, c, "ours, %s links", fc_percs_classes[c]);
        for (int w = 0, at = 0; w < FC_PERCS_WAYS; w++)
            if (r[w].map)
                fc_reproduction_between(f, s, at++, r[w].link[c].mean_bytes / 1e6, r[w].link[c].min_bytes / 1e6,
                                        r[w].link[c].max_bytes / 1e6);
    }
}

void fc_percs_plot_times(struct fc_reproduction *f, const struct fc_percs_result *r,
                         const struct fc_percs_result *modulo, double compute_ms)
{
    fc_reproduction_axes(f, FC_PAPER_BARS, "mapping", "mapping", "time_ms", "time of a step (ms)");
    const struct fc_percs_result *of[] = {r, modulo};
    int series[] = {fc_reproduction_series(f, FC_PAPER_OURS, 0, "ours, D links packed, 5 seeds"),
                    fc_reproduction_series(f, FC_PAPER_OURS, 1, "ours, D links modulo, 5 seeds")};
    for (int w = 0; w < FC_PERCS_WAYS; w++) {
        fc_reproduction_category(f, fc_percs_ways[w]);
        for (int i = 0; i < 2; i++)
            fc_reproduction_between(f, series[i], w, compute_ms + 1e3 * of[i][w].comm_s,
                                    compute_ms + 1e3 * of[i][w].least_s, compute_ms + 1e3 * of[i][w].most_s);
    }
}
