/* place_service.c - a layout as a machine, and what model, certificate and kernel say of it. Traffic is
 * uniform, as in place_model.c.
 *
 * Throughput of the kernel is the most that the network accepts at any offered load, in a window behind a warm-up as
 * long, 4 zero-load times of the network each unless set: curves of throughput and latency show it so, and longer windows
 * accept less, as these chips lose throughput beyond their most. The first seed tries loads from 60 % of the ideal on in
 * steps of 4 until what is accepted has fallen by 3 %; the others the load that it found, and a step to both sides. Each
 * seed's most is one sample of a mean with Student's interval. Seeds are added until that is narrow enough (a rule that
 * looks at the data: its intervals are somewhat too narrow where few seeds end it, Law & Kelton 2000, section 9.4.1). */
#include "mapping/place/place_service.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>

/* Offered loads that are tried, of the ideal throughput; what ends the trials. */
enum { FIRST_PERCENT = 60, STEP_PERCENT = 4, LAST_PERCENT = 100 };
#define FALLEN 0.97
/* Seeds, and the half width of the throughput that ends them. */
enum { LEAST_RUNS = 3, MOST_RUNS = 16 };
#define ENOUGH 0.01
/* Windows: zero-load times, rounded up to cycles. */
#define WINDOW 4.0
#define ROUND 500.0
#define FLIT_HOPS_PER_S 15e6 /* of the nominal core */

enum fc_code fc_layout_machine(const struct fc_machine *machine, const struct fc_bridge_layout *layout, int policy,
                               struct fc_machine *made, struct fc_status *st)
{
    *made = *machine;
    memset(&made->arena, 0, sizeof made->arena);
    made->hosts = made->hosts_file = made->slow_hosts = NULL;
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

static enum fc_code open_served(const struct fc_machine *machine, const struct fc_bridge_layout *layout, int policy,
                                struct served *s, struct fc_status *st)
{
    memset(s, 0, sizeof *s);
    if (fc_layout_machine(machine, layout, policy, &s->machine, st)) return st->code;
    if (fc_network_build(&s->machine, &s->net, st) || fc_demand_from_pattern(&s->net, "uniform", 1, &s->demand, st))
        close_served(s);
    return st->code;
}

static enum fc_code certify(const struct served *s, bool *safe, struct fc_status *st)
{
    struct fc_certificate certificate;
    if (fc_certify(&s->net, NULL, &certificate, st)) return st->code;
    *safe = certificate.safe && certificate.enough;
    fc_certificate_free(&certificate);
    return FC_OK;
}

static enum fc_code model(const struct served *s, double load, struct fc_layout_service *service, struct fc_status *st)
{
    struct fc_calibration calibration;
    struct fc_turns turns = {0};
    struct fc_calibrated *calibrated = NULL;
    struct fc_calibrated_answer answer;
    struct fc_flit_settings settings;
    struct fc_calibration_misfit misfit; /* of another policy */
    bool found = false;
    fc_flit_defaults(&settings);
    settings.allow_deadlock = true; /* the certificate is told beside */
    if (!fc_calibration_find(&s->net, &calibration, &found, &misfit, st) &&
        !fc_turns_make(&s->net, &s->demand, &settings, fc_turns_hops(&s->net), &turns, st) &&
        !fc_calibrated_open(found ? &calibration : NULL, &turns, "uniform", &settings, &calibrated, st) &&
        !fc_calibrated_solve(calibrated, load, &answer, st)) {
        bool stable = answer.model.stable;
        service->latency_cycles = stable ? answer.model.latency_mean_cycles : (double)NAN;
        service->latency_percent = stable ? answer.error_percent : (double)NAN;
        service->saturation = fc_calibrated_saturation(calibrated, &service->saturation_percent);
        service->ideal = 1 / turns.max_service_rate;
        service->extrapolated = answer.extrapolated;
        snprintf(service->tier, sizeof service->tier, "%s", fc_calibration_tier_names[answer.tier]);
        snprintf(service->why, sizeof service->why, "%s", misfit.mistake ? misfit.text : answer.why);
    }
    fc_calibrated_close(calibrated);
    fc_turns_free(&turns);
    if (found) fc_calibration_free(&calibration);
    return st->code;
}

enum fc_code fc_layout_serve(const struct fc_machine *machine, const struct fc_bridge_layout *layout, int policy,
                             double load, struct fc_layout_service *service, struct fc_status *st)
{
    struct served s;
    memset(service, 0, sizeof *service);
    if (open_served(machine, layout, policy, &s, st)) return st->code;
    if (!certify(&s, &service->deadlock_free, st)) model(&s, load, service, st);
    close_served(&s);
    return st->code;
}

/* ---- the kernel ---- */

struct confirming {
    struct served served;
    struct fc_demand local; /* what cores send to their own chip's */
    struct fc_layout_confirming how;
    struct fc_flit_settings settings;
    struct fc_layout_kernel *kernel;
    double ideal, hops; /* flit-hops of all runs */
};

/* One run at an offered load. The caller frees the result. */
static enum fc_code run(struct confirming *c, double load, struct fc_flit_result *r, struct fc_status *st)
{
    c->settings.load_flits_per_cycle = load;
    c->settings.background_flits_per_cycle = c->how.on_chip * load;
    if (fc_flit_run(&c->served.net, &c->served.demand, NULL, &c->settings, r, st)) return st->code;
    if (r->deadlock) fc_refuse(st, FC_NO, "the kernel runs into a deadlock: %s", r->deadlock_text);
    c->kernel->cpu_s += r->cpu_s;
    c->hops += (double)r->flit_hops;
    return st->code;
}

static enum fc_code accepted(struct confirming *c, double load, double *flits, struct fc_status *st)
{
    struct fc_flit_result r = {0};
    if (!run(c, load, &r, st)) *flits = r.accepted_flits_per_node_cycle;
    fc_flit_free(&r);
    return st->code;
}

static enum fc_code latency(struct confirming *c, struct fc_status *st)
{
    struct fc_flit_result r = {0};
    if (!run(c, c->how.load_flits_per_cycle, &r, st)) {
        c->kernel->latency_cycles = r.stable ? r.latency_mean_cycles : (double)NAN;
        c->kernel->latency_half_width = r.stable ? r.latency_half_width_cycles : (double)NAN;
    }
    fc_flit_free(&r);
    return st->code;
}

/* The most that is accepted with this seed at the loads from..to percent of the ideal; at ascending loads until it has
 * fallen. */
static enum fc_code most_accepted(struct confirming *c, int from, int to, double *most, int *at, struct fc_status *st)
{
    *most = 0;
    for (int percent = from; percent <= to; percent += STEP_PERCENT) {
        double flits = 0;
        if (accepted(c, c->ideal * percent / 100, &flits, st)) return st->code;
        if (flits > *most) *most = flits, *at = percent;
        if (flits < FALLEN * *most) break;
    }
    return FC_OK;
}

/* Seeds until the mean is known well enough. */
static enum fc_code throughput(struct confirming *c, struct fc_status *st)
{
    struct fc_layout_kernel *k = c->kernel;
    int at = FIRST_PERCENT, first = at, last = LAST_PERCENT, ignored;
    double most, sum = 0, squares = 0;
    c->settings.warmup_cycles = c->how.warmup_cycles;
    c->settings.measure_cycles = c->how.measure_cycles;
    c->settings.most_cycles = c->how.warmup_cycles + c->how.measure_cycles + 1; /* no drain */
    for (bool enough = false; !enough && k->runs < c->how.most_runs; c->settings.seed++) {
        if (most_accepted(c, first, last, &most, k->runs ? &ignored : &at, st)) return st->code;
        first = at - STEP_PERCENT, last = at + STEP_PERCENT;
        sum += most;
        squares += most * most;
        k->throughput = sum / ++k->runs;
        if (k->runs < c->how.least_runs) continue;
        double variance = fmax(0, squares - sum * k->throughput) / (k->runs - 1);
        k->throughput_half_width = gsl_cdf_tdist_Pinv(0.975, k->runs - 1) * sqrt(variance / k->runs);
        enough = k->throughput_half_width < c->how.half_width_share * k->throughput ||
                 (c->how.budget_s > 0 && c->hops > c->how.budget_s * FLIT_HOPS_PER_S);
    }
    k->offered = c->ideal * at / 100;
    k->window_cycles = (double)c->how.measure_cycles;
    return FC_OK;
}

/* What was left open; windows are those of the machine as it stands, alike for all its layouts. */
static enum fc_code complete(const struct fc_machine *machine, struct fc_layout_confirming *how, struct fc_status *st)
{
    struct fc_network net;
    struct fc_flit_settings settings;
    double cycles = 0;
    fc_flit_defaults(&settings);
    settings.allow_deadlock = true;
    if (how->half_width_share == 0) how->half_width_share = ENOUGH;
    if (how->least_runs == 0) how->least_runs = LEAST_RUNS;
    if (how->most_runs == 0) how->most_runs = MOST_RUNS;
    if (how->least_runs < 2 || how->most_runs < how->least_runs)
        return fc_refuse(st, FC_INPUT, "%d to %d seeds: expected 2 or more", how->least_runs, how->most_runs);
    if (how->warmup_cycles && how->measure_cycles) return FC_OK;
    if (fc_network_build(machine, &net, st)) return st->code;
    fc_flit_zero_load_cycles(&net, &settings, &cycles, st);
    fc_network_free(&net);
    uint64_t window = (uint64_t)(ceil(WINDOW * cycles / ROUND) * ROUND);
    if (!how->warmup_cycles) how->warmup_cycles = window;
    if (!how->measure_cycles) how->measure_cycles = window;
    return st->code;
}

enum fc_code fc_layout_confirm(const struct fc_machine *machine, const struct fc_bridge_layout *layout, int policy,
                               const struct fc_layout_confirming *how, struct fc_layout_kernel *kernel,
                               struct fc_status *st)
{
    struct confirming c = {.how = *how, .kernel = kernel};
    char pattern[64];
    memset(kernel, 0, sizeof *kernel);
    if (complete(machine, &c.how, st) || open_served(machine, layout, policy, &c.served, st)) return st->code;
    const struct fc_tmesh_shape *shape = c.served.machine.shape;
    fc_flit_defaults(&c.settings);
    c.settings.seed = how->seed;
    snprintf(pattern, sizeof pattern, "blocks:nodes=%u", shape->n_computing);
    if (how->on_chip > 0 && !fc_demand_from_pattern(&c.served.net, pattern, 1, &c.local, st))
        c.settings.background = &c.local;
    if (!st->code && !fc_flit_ideal_throughput(&c.served.net, &c.served.demand, &c.settings, &c.ideal, st) &&
        !latency(&c, st))
        throughput(&c, st);
    fc_demand_free(&c.local);
    close_served(&c.served);
    return st->code;
}
