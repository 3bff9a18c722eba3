/* validate_precision.c - do the half widths of runs with a precision hold the mean as often as they say, and are saturations found?
 *
 * Machines of both engines at 20 %, 60 % and 90 % of what they take (the saturation is found first, with a precision, too).
 * SEEDS runs each end by the asked precision; the mean they are held against comes from TRUTHS runs with other seeds and a
 * quarter of it, some 16 times as long. Of the 95 % intervals of latency at least 90 % have to hold it over all of a machine's
 * loads, and 84 % at each (of 50 that hold in 95 % fewer are seen in 1 of 300 cases); and accepted loads are within
 * their half widths of what is offered as often.
 *
 * Saturations: traffic in which all sources are alike, SATURATIONS seeds at 1 %. What they are held against is what a run of LONG packets a
 * source accepts of ABOVE times the greatest of them: each has to be within WITHIN of the ideal
 * (2.3 % is the worst there was when it was chosen). Exit status 1 when missed. Some 5 CPU minutes.
 *
 *     validate_precision [MACHINE...] */
#include "solvers/flit/flit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SEEDS = 50, TRUTHS = 4, SATURATIONS = 5 };
#define LONG 20000.0
#define ABOVE 1.02
#define WITHIN 0.025
static const struct subject {
    const char *machine;
    uint32_t packet_flits; /* 0: the machine's largest */
} subjects[] = {{"bgl-64", 0},
                {"tests/machines/a_mesh8x8_dor_v4b8_l1.yaml", 1},
                {"tests/machines/r2_e_fattree4x3_nca_v4b8_l1.yaml", 4}};
static const struct point {
    double share, precision;
} points[] = {{0.2, 0.01}, {0.6, 0.01}, {0.9, 0.02}};

static const struct saturated {
    const char *machine, *pattern;
} saturated[] = {
    {"bgl-64", "uniform"},  {"bgl-8x8x1", "uniform"}, {"bgl-512", "uniform"},
    {"bgl-64", "neighbor"}, {"bgl-512", "neighbor"},
};

static int failed(const struct fc_status *st)
{
    char text[2048];
    fc_status_text(st, text, sizeof text);
    printf("failed: %s\n", text);
    return 1;
}

/* Mean of the runs that were stable, with seeds from `first` on. */
static enum fc_code find_truth(const struct fc_network *net, const struct fc_demand *demand, struct fc_flit_settings s,
                               double *latency, struct fc_status *st)
{
    double sum = 0;
    int n = 0;
    s.precision /= 4;
    s.most_packets = UINT64_C(1) << 40;
    for (int i = 0; i < TRUTHS; i++) {
        struct fc_flit_result r;
        s.seed = 1000 + (uint64_t)i;
        if (fc_flit_run(net, demand, NULL, &s, &r, st)) return st->code;
        if (r.stable) sum += r.latency_mean_cycles, n++;
        fc_flit_free(&r);
    }
    *latency = sum / n;
    return FC_OK;
}

struct tally {
    int runs, held, accepted, stable, reached;
};

static enum fc_code try_load(const struct fc_network *net, const struct fc_demand *demand, struct fc_flit_settings s,
                             const char *machine, double share, struct tally *all, struct fc_status *st)
{
    double truth = NAN, deviation = 0, width = 0, cpu_s = 0;
    struct tally t = {0};
    if (find_truth(net, demand, s, &truth, st)) return st->code;
    for (int i = 0; i < SEEDS; i++) {
        struct fc_flit_result r;
        s.seed = 1 + (uint64_t)i;
        if (fc_flit_run(net, demand, NULL, &s, &r, st)) return st->code;
        t.runs++;
        t.stable += r.stable;
        t.reached += r.precision_reached;
        t.held += r.stable && fabs(r.latency_mean_cycles - truth) <= r.latency_half_width_cycles;
        t.accepted += r.stable && fabs(r.accepted_flits_per_node_cycle - r.offered_flits_per_node_cycle) <=
                                      r.accepted_half_width_flits;
        deviation += (r.latency_mean_cycles / truth - 1) / SEEDS;
        width += r.latency_half_width_cycles / r.latency_mean_cycles / SEEDS;
        cpu_s += r.cpu_s / SEEDS;
        fc_flit_free(&r);
    }
    const char *name = strrchr(machine, '/');
    printf("%-34s %5.0f %6d %7d %6d %9d %9.2f %9.2f %8.3f\n", name ? name + 1 : machine, 100 * share, t.stable,
           t.reached, t.held, t.accepted, 100 * width, 100 * deviation, cpu_s);
    fflush(stdout);
    all->runs += t.runs;
    all->held += t.held;
    all->accepted += t.accepted;
    return t.held < 0.84 * t.runs || t.accepted < 0.84 * t.runs
               ? fc_refuse(st, FC_NO, "at %.0f %% too few of the intervals hold the mean", 100 * share)
               : FC_OK;
}

struct traffic {
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand demand;
};

/* And settings of runs to 1 %. */
static enum fc_code open_traffic(const char *machine, const char *pattern, struct traffic *t,
                                 struct fc_flit_settings *settings, struct fc_status *st)
{
    if (fc_machine_load(machine, &t->machine, st) || fc_network_build(&t->machine, &t->net, st) ||
        fc_demand_from_pattern(&t->net, pattern, 1, &t->demand, st))
        return st->code;
    t->demand.open_loop = true;
    fc_flit_defaults(settings);
    settings->precision = 0.01;
    return FC_OK;
}

static void close_traffic(struct traffic *t)
{
    fc_demand_free(&t->demand);
    fc_network_free(&t->net);
    fc_machine_free(&t->machine);
}

static int try_machine(const struct subject *of)
{
    struct fc_status st = {0};
    struct traffic t;
    struct fc_flit_settings s;
    struct tally all = {0};
    double saturation;
    int bad = 0;
    if (open_traffic(of->machine, "uniform", &t, &s, &st)) return failed(&st);
    s.packet_flits_min = s.packet_flits_max = of->packet_flits;
    if (fc_flit_saturation(&t.net, &t.demand, &s, &saturation, &st)) return failed(&st);
    for (size_t i = 0; i < FC_COUNT(points); i++) {
        s.precision = points[i].precision;
        s.load_flits_per_cycle = points[i].share * saturation;
        memset(&st, 0, sizeof st);
        if (try_load(&t.net, &t.demand, s, of->machine, points[i].share, &all, &st)) bad = failed(&st);
    }
    if (all.held < 0.9 * all.runs || all.accepted < 0.9 * all.runs) {
        printf("failed: %s: %d and %d of %d intervals hold the mean\n", of->machine, all.held, all.accepted, all.runs);
        bad = 1;
    }
    close_traffic(&t);
    return bad;
}

/* Flits a node and cycle that are accepted of a load above the saturation. */
static enum fc_code find_capacity(const struct fc_network *net, const struct fc_demand *demand, double load,
                                  double *accepted, struct fc_status *st)
{
    struct fc_flit_settings s;
    struct fc_flit_result r;
    double flits =
        (net->machine->packet.max_bytes + net->machine->router.flit_bytes - 1) / net->machine->router.flit_bytes;
    fc_flit_defaults(&s);
    s.load_flits_per_cycle = load;
    s.measure_cycles = (uint64_t)(LONG * flits / load);
    s.warmup_cycles = s.measure_cycles / 2;
    s.most_cycles = 2 * s.measure_cycles;
    if (fc_flit_run(net, demand, NULL, &s, &r, st)) return st->code;
    *accepted = r.accepted_flits_per_node_cycle;
    fc_flit_free(&r);
    return FC_OK;
}

static int try_saturation(const struct saturated *of)
{
    struct fc_status st = {0};
    struct traffic t;
    struct fc_flit_settings s;
    double found[SATURATIONS], greatest = 0, ideal, capacity = NAN, worst = 0;
    if (open_traffic(of->machine, of->pattern, &t, &s, &st) ||
        fc_flit_ideal_throughput(&t.net, &t.demand, &s, &ideal, &st))
        return failed(&st);
    for (int i = 0; i < SATURATIONS; i++) {
        s.seed = 1 + (uint64_t)i;
        if (fc_flit_saturation(&t.net, &t.demand, &s, &found[i], &st)) return failed(&st);
        greatest = fmax(greatest, found[i]);
    }
    if (find_capacity(&t.net, &t.demand, ABOVE * greatest, &capacity, &st)) return failed(&st);
    printf("%-16s %-12s %9.1f ", of->machine, of->pattern, 100 * capacity / ideal);
    for (int i = 0; i < SATURATIONS; i++) {
        printf(" %6.1f", 100 * found[i] / ideal);
        worst = fmax(worst, fabs(found[i] - capacity) / ideal);
    }
    printf("\n");
    fflush(stdout);
    if (worst > WITHIN)
        printf("failed: a saturation is %.1f %% of the ideal off (at most %.1f)\n", 100 * worst, 100 * WITHIN);
    close_traffic(&t);
    return worst > WITHIN;
}

int main(int argc, char **argv)
{
    int bad = 0;
    printf("of %d runs                            %% of          stopped  hold the true       half\n", SEEDS);
    printf("%-34s %5s %6s %7s %6s %9s %9s %9s %8s\n", "machine", "sat.", "stable", "precise", "mean", "accepted",
           "width %", "mean off %", "CPU s");
    for (size_t i = 0; i < FC_COUNT(subjects); i++) {
        bool asked = argc < 2;
        for (int k = 1; k < argc; k++) asked = asked || strstr(subjects[i].machine, argv[k]);
        if (asked && try_machine(&subjects[i])) bad = 1;
    }
    printf("\nsaturations, %% of the ideal: what a long run accepts, and %d seeds\n", SATURATIONS);
    for (size_t i = 0; i < FC_COUNT(saturated); i++) {
        bool asked = argc < 2;
        for (int k = 1; k < argc; k++) asked = asked || strstr(saturated[i].machine, argv[k]);
        if (asked && try_saturation(&saturated[i])) bad = 1;
    }
    return bad;
}
