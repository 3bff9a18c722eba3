/* place_service.c - a layout as a machine, and what model, certificate and kernel say of it. Traffic is
 * uniform, as in place_model.c.
 *
 * Throughput of the kernel is the most that the network accepts at any offered load (60 % to 100 % of the
 * ideal in steps of 5), after 20 000 cycles in 20 000 more, as curves of throughput and latency show it: with
 * a backlog at all sources these chips accept far less than their most. Its interval is Student's over other
 * seeds at the load that one seed found. */
#include "mapping/place/place_service.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>

#define WARMUP_CYCLES 20000
#define MEASURE_CYCLES 20000
/* Offered loads that are tried, of the ideal throughput. */
enum { FIRST_PERCENT = 60, STEP_PERCENT = 5 };
/* Packets are followed over so many hops, as `curve` does. */
#define HOPS_A_LINK 200
#define LEAST_HOPS 2e6
#define MOST_HOPS 20e6

enum fc_code fc_layout_machine(const struct fc_machine *machine, const struct fc_layout *layout, int policy,
                               struct fc_machine *made, struct fc_status *st)
{
    *made = *machine;
    memset(&made->arena, 0, sizeof made->arena);
    made->hosts = made->hosts_file = NULL;
    struct fc_tmesh_shape *shape = fc_alloc(&made->arena, 1, sizeof *shape, st);
    if (!shape) return st->code;
    *shape = *(const struct fc_tmesh_shape *)machine->shape;
    for (int i = 0; i < 2 * shape->n_dims; i++) shape->bridge[i / 2][i % 2] = layout->node[i];
    if (policy >= 0) shape->vc_policy = policy;
    fc_tmesh_derive(shape);
    made->shape = shape;
    return FC_OK;
}

/* A network of the layout with uniform traffic. */
struct served {
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand demand;
};

static void close_served(struct served *s)
{
    fc_demand_free(&s->demand);
    fc_network_free(&s->net);
    fc_machine_free(&s->machine);
}

static enum fc_code open_served(const struct fc_machine *machine, const struct fc_layout *layout, int policy,
                                struct served *s, struct fc_status *st)
{
    memset(s, 0, sizeof *s);
    if (fc_layout_machine(machine, layout, policy, &s->machine, st)) return st->code;
    if (fc_network_build(&s->machine, &s->net, st) ||
        fc_demand_from_pattern(&s->net, "uniform", 1, &s->demand, st))
        close_served(s);
    return st->code;
}

static enum fc_code certify(const struct served *s, bool *safe, struct fc_status *st)
{
    struct fc_certificate certificate;
    if (fc_certify(&s->net, NULL, &certificate, st)) return st->code;
    *safe = certificate.safe;
    fc_certificate_free(&certificate);
    return FC_OK;
}

static enum fc_code model(const struct served *s, double load, struct fc_layout_service *service,
                          struct fc_status *st)
{
    struct fc_calibration calibration;
    struct fc_turns turns = {0};
    struct fc_calibrated *calibrated = NULL;
    struct fc_calibrated_answer answer;
    struct fc_flit_settings settings;
    struct fc_status other_kind = {0};
    bool found = false;
    uint64_t hops = (uint64_t)fmin(MOST_HOPS, fmax(LEAST_HOPS, (double)HOPS_A_LINK * s->net.n_links));
    fc_flit_defaults(&settings);
    settings.allow_deadlock = true; /* the certificate is told beside */
    if (fc_calibration_find(&s->net, &calibration, &found, &other_kind))
        found = false; /* of another policy */
    if (!fc_turns_make(&s->net, &s->demand, &settings, hops, &turns, st) &&
        !fc_calibrated_open(found ? &calibration : NULL, &turns, "uniform", &settings, &calibrated, st) &&
        !fc_calibrated_solve(calibrated, load, &answer, st)) {
        bool stable = answer.model.stable;
        service->latency_cycles = stable ? answer.model.latency_mean_cycles : (double)NAN;
        service->latency_percent = stable ? answer.error_percent : (double)NAN;
        service->saturation = fc_calibrated_saturation(calibrated, &service->saturation_percent);
        service->ideal = 1 / turns.max_service_rate;
        service->extrapolated = answer.extrapolated;
        snprintf(service->tier, sizeof service->tier, "%s", fc_calibration_tier_names[answer.tier]);
        snprintf(service->why, sizeof service->why, "%s", other_kind.code ? other_kind.message : answer.why);
    }
    fc_calibrated_close(calibrated);
    fc_turns_free(&turns);
    if (found) fc_calibration_free(&calibration);
    return st->code;
}

enum fc_code fc_layout_serve(const struct fc_machine *machine, const struct fc_layout *layout, int policy,
                             double load, struct fc_layout_service *service, struct fc_status *st)
{
    struct served s;
    memset(service, 0, sizeof *service);
    if (open_served(machine, layout, policy, &s, st)) return st->code;
    if (!certify(&s, &service->deadlock_free, st)) model(&s, load, service, st);
    close_served(&s);
    return st->code;
}

/* What the network accepts at an offered load. */
static enum fc_code accepted(const struct served *s, const struct fc_flit_settings *settings, double *flits,
                             double *cpu_s, struct fc_status *st)
{
    struct fc_flit_result r;
    if (fc_flit_run(&s->net, &s->demand, NULL, settings, &r, st)) return st->code;
    if (r.deadlock) fc_refuse(st, FC_NO, "the kernel runs into a deadlock: %s", r.deadlock_text);
    *flits = r.accepted_flits_per_node_cycle;
    *cpu_s += r.cpu_s;
    fc_flit_free(&r);
    return st->code;
}

/* The load at which most is accepted, by one seed; what is accepted there, by `runs` others. */
static enum fc_code throughput(const struct served *s, struct fc_flit_settings *settings, int runs,
                               struct fc_layout_kernel *kernel, struct fc_status *st)
{
    double ideal, flits = 0, most = 0, best = 0, sum = 0, squares = 0;
    if (fc_flit_ideal_throughput(&s->net, &s->demand, settings, &ideal, st)) return st->code;
    settings->warmup_cycles = WARMUP_CYCLES;
    settings->measure_cycles = MEASURE_CYCLES;
    for (int percent = FIRST_PERCENT; percent <= 100; percent += STEP_PERCENT) {
        settings->load_flits_per_cycle = ideal * percent / 100;
        if (accepted(s, settings, &flits, &kernel->cpu_s, st)) return st->code;
        if (flits > most) most = flits, best = settings->load_flits_per_cycle;
    }
    settings->load_flits_per_cycle = kernel->offered = best;
    for (int run = 0; run < runs; run++) {
        settings->seed++;
        if (accepted(s, settings, &flits, &kernel->cpu_s, st)) return st->code;
        sum += flits;
        squares += flits * flits;
    }
    double mean = sum / runs, variance = fmax(0, squares - runs * mean * mean) / (runs - 1);
    kernel->throughput = mean;
    kernel->throughput_half_width = gsl_cdf_tdist_Pinv(0.975, runs - 1) * sqrt(variance / runs);
    return FC_OK;
}

enum fc_code fc_layout_confirm(const struct fc_machine *machine, const struct fc_layout *layout, int policy,
                               double load, int runs, uint64_t seed, struct fc_layout_kernel *kernel,
                               struct fc_status *st)
{
    struct served s;
    struct fc_flit_settings settings;
    struct fc_flit_result r;
    memset(kernel, 0, sizeof *kernel);
    if (open_served(machine, layout, policy, &s, st)) return st->code;
    fc_flit_defaults(&settings);
    settings.seed = seed;
    settings.load_flits_per_cycle = load;
    kernel->runs = runs;
    if (!fc_flit_run(&s.net, &s.demand, NULL, &settings, &r, st)) {
        kernel->latency_cycles = r.stable ? r.latency_mean_cycles : (double)NAN;
        kernel->latency_half_width = r.stable ? r.latency_half_width_cycles : (double)NAN;
        kernel->cpu_s = r.cpu_s;
        fc_flit_free(&r);
        throughput(&s, &settings, runs, kernel, st);
    }
    close_served(&s);
    return st->code;
}
