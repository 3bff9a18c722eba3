/* validate_percs.c - the contention model on the shipped PERCS machines against two others: bounds of an independent
 * evaluator, and the replay of the same step as a trace. What Bhatele et al., SC'11, publish: `fabricast reproduce percs`.
 * Exit status 1 when a row is outside. `make validate`; arguments choose parts: hubs replay */
#include "reproduce/percs.h"

#include <stdlib.h>
#include <string.h>

static int n_rows, n_outside;

static void count(bool inside)
{
    n_rows++;
    n_outside += !inside;
    printf("  %s\n", inside ? "inside" : "OUTSIDE");
    fflush(stdout);
}

static void stop(const char *what, const struct fc_status *st)
{
    printf("%s: %s\n", what, st->message);
    exit(1);
}

/* Bounds of an evaluator that shares no code with this one, the host of a D link being hub (other supernode) mod 32; random
 * mappings there are one draw, and its indirect routing draws from all 64 supernodes, ours from the 62 others. */
static void hubs(void)
{
    static const double expected_ms[FC_PERCS_WAYS] = {214.7, 107.4, 53.7, 53.7, 38.6, 67.1, 16.8, 13.4};
    struct fc_status st = {0};
    struct fc_percs_result r[FC_PERCS_WAYS];
    if (fc_percs_run("percs-64", FC_D_MODULO, FC_PERCS_4D, fc_percs_ways_64, false, 1, r, &st)) stop("percs-64", &st);
    printf(
        "\n4D stencil, 64 supernodes, d_link: modulo: an independent evaluator's bound, ours, our seeds' least and most, ms\n");
    for (int w = 0; w < FC_PERCS_WAYS; w++) {
        double ours_ms = 1e3 * r[w].comm_s * (w >= FC_DFI ? 62.0 / 64 : 1);
        bool drawn = w == FC_RNM || w == FC_RDM;
        printf("%-4s %8.3f %8.3f %8.3f %8.3f", fc_percs_ways[w], expected_ms[w], ours_ms, 1e3 * r[w].least_s,
               1e3 * r[w].most_s);
        count(drawn ? 1e3 * r[w].least_s <= expected_ms[w] && 1e3 * r[w].most_s >= 0.999 * expected_ms[w]
                    : fabs(ours_ms / expected_ms[w] - 1) <= 0.003);
    }
}

/* One iteration under max-min sharing, all ranks starting at once, beside the bulk phase of the same messages
 * and places. More may be 50 us for the end points (calls of 1 us, handshakes), and `percent`. */
static void replay_one(const char *machine, const char *pattern, const char *map, bool indirect, double percent)
{
    struct fc_percs_job j;
    struct fc_percs_result bulk;
    struct fc_mapping mapping;
    struct fc_trace trace;
    struct fc_replay replay;
    struct fc_status st = {0};
    if (fc_percs_open(&j, machine, -1, pattern, &st) || fc_percs_once(&j, map, indirect, 1, &bulk, &st) ||
        fc_percs_map(&j, map, 1, &mapping, &st))
        stop(pattern, &st);
    struct fc_placement placement = {mapping.n_tasks, mapping.node};
    struct fc_replay_settings settings = {.network = FC_NET_CONTENTION, .software = j.bench.machine.software};
    double start = fc_cpu_s();
    if (fc_trace_generate(&j.demand, 1, 0, &trace, &st) ||
        fc_replay_run(&j.bench.net, &trace, &placement, &settings, &replay, &st))
        stop(pattern, &st);
    double cpu_s = fc_cpu_s() - start, over_s = replay.prediction.time_s - bulk.comm_s;
    char what[96];
    snprintf(what, sizeof what, "replay: %s%s %.44s", map, indirect ? "+indirect" : "", pattern);
    printf("%-64s %10.3f %10.3f %-4s %+8.2f %%  %.1f CPU s, %llu messages", what, 1e3 * bulk.comm_s,
           1e3 * replay.prediction.time_s, "ms", 100 * over_s / bulk.comm_s, cpu_s,
           (unsigned long long)j.demand.n_entries);
    count(over_s >= -1e-3 * bulk.comm_s && over_s <= 50e-6 + percent / 100 * bulk.comm_s);
    fc_replay_free(&replay);
    fc_trace_free(&trace);
    fc_mapping_free(&mapping);
    fc_percs_close(&j);
}

static void replays(void)
{
    static const char *const ways[] = {"def", "bnm", "bdm", "bsm", "rnm", "rdm"};
    printf("\n%-64s %10s %10s %-4s %8s\n", "bulk phase against the replay of its trace", "bulk", "replay", "",
           "more by");
    replay_one("percs-16", "stencil2d:grid=128x128,bytes=64KiB", "def", false, 1);
    replay_one("percs-16", "stencil4d:grid=8x8x16x16,bytes=2MiB", "def", false, 1);
    replay_one("percs-16", "stencil4d:grid=8x8x8x8,bytes=2MiB", "def", true, 12);
    replay_one("percs-64", FC_PERCS_2D, "bsm", false, 1);
    for (size_t i = 0; i < FC_COUNT(ways); i++) replay_one("percs-64", FC_PERCS_4D, ways[i], false, 1);
    replay_one("percs-64", FC_PERCS_MULTICAST, "def", false, 1);
    replay_one("percs-64", FC_PERCS_MULTICAST, "rdm", false, 1);
    replay_one("percs-300", FC_PERCS_300, "def", false, 1);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } parts[] = {{"hubs", hubs}, {"replay", replays}};
    for (size_t i = 0; i < FC_COUNT(parts); i++) {
        bool wanted = argc < 2;
        for (int a = 1; a < argc; a++) wanted = wanted || !strcmp(argv[a], parts[i].name);
        if (wanted) parts[i].run();
    }
    printf("\n%d rows, %d outside\n", n_rows, n_outside);
    return n_outside > 0;
}
