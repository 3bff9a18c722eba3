/* validate_hardware.c - the waits behind QsNET's barriers and broadcasts beside a background (solvers/nic/nic_loaded.c)
 * against the flit-level kernel's packets in the full network. What the papers publish of Gemini and QsNET:
 * `fabricast reproduce gemini qsnet`. Exit status 1 when a row is outside. `make validate` */
#include "solvers/flit/flit.h"
#include "solvers/nic/nic.h"
#include "solvers/nic/nic_loaded.h"

#include <math.h>
#include <stdlib.h>

static int n_outside;

/* low <= ours <= high. */
static void limits(const char *what, double low, double high, double ours)
{
    bool inside = ours >= low && ours <= high;
    printf("%-74s %6.4g..%.4g us %9.4g us  %s\n", what, low, high, ours, inside ? "inside" : "OUTSIDE");
    n_outside += !inside;
}

static void stop(const char *what, const struct fc_status *st)
{
    printf("%s: %s\n", what, st->message);
    exit(1);
}

/* Mean time of packets in the network, microseconds, sources overloaded; without their injection link's wait.
 */
static double kernel_us(const struct fc_network *net, const char *pattern)
{
    struct fc_status st = {0};
    struct fc_demand demand;
    struct fc_flit_settings settings;
    struct fc_flit_result r;
    fc_flit_defaults(&settings);
    settings.load_flits_per_cycle = 0.95;
    settings.warmup_cycles = 5000;
    settings.measure_cycles = 20000;
    if (fc_demand_from_pattern(net, pattern, 1, &demand, &st)) stop(pattern, &st);
    demand.open_loop = true;
    if (fc_flit_run(net, &demand, NULL, &settings, &r, &st)) stop(pattern, &st);
    double time = r.network_latency_mean_cycles * r.cycle_s;
    fc_flit_free(&r);
    fc_demand_free(&demand);
    return 1e6 * time;
}

/* The same of a packet that is next in line everywhere, to nodes drawn at random, each link shared by two
 * worms. */
static double model_us(const struct fc_network *net, const struct fc_nic_background *b)
{
    static const double share[] = {0, 3 / 63., 12 / 63., 48 / 63.};
    const struct fc_machine *m = net->machine;
    struct fc_arena arena = {0};
    struct fc_status st = {0};
    struct fc_nic_load load = {m, m->shape, b, 10e-9, &arena, &st};
    struct fc_spread wait;
    double sum = 2 * m->packet.max_bytes / m->classes[0].bandwidth_bytes_per_s;
    if (fc_nic_wait_way(&load, 1, &wait)) stop("wait", &st);
    sum -= fc_spread_mean(&wait) / 2;
    for (int l = 1; l <= 3; l++) {
        if (fc_nic_wait_way(&load, l, &wait)) stop("wait", &st);
        sum += share[l] * (fc_spread_mean(&wait) + (2 * l - 1) * m->router.delay_s + 2 * l * m->classes[0].latency_s);
    }
    fc_arena_free(&arena);
    return 1e6 * sum;
}

int main(void)
{
    struct fc_status st = {0};
    struct fc_machine m;
    struct fc_network net;
    struct fc_nic_background uniform;
    if (fc_machine_load("qsnet-64", &m, &st) || fc_network_build(&m, &net, &st)) stop("qsnet-64", &st);
    if (fc_nic_background_run(&net, "uniform", 1, &uniform, &st)) stop("background", &st);
    double kernel = kernel_us(&net, "uniform"), free_us = kernel_us(&net, "complement");
    double length = 1e6 * m.packet.max_bytes / m.classes[0].bandwidth_bytes_per_s;
    printf("packets in the kernel's full network; ours is the oldest everywhere, so its time is a lower limit\n");
    limits("uniform: model at most the kernel's mean packet, at least its half", kernel / 2, kernel,
           model_us(&net, &uniform));
    limits("complement: kernel between a free way and links shared by two", length, 0.235 + 2 * length, free_us);
    fc_network_free(&net);
    fc_machine_free(&m);
    return n_outside > 0;
}
