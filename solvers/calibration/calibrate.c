/* calibrate.c - a calibration of a machine: design, kernel runs, fit. */
#include "solvers/calibration/calibration_fit.h"
#include "solvers/calibration/calibration_phases.h"
#include "solvers/calibration/calibration_replays.h"

#include <string.h>

/* Of the budget. With those of phases and replays it is one budget at the nominal speeds, and 1.2 with the fit: the rest of the
 * 1.5 that a calibration may take is for what is not counted. */
#define RUNS_SHARE 0.7
#define FIT_SHARE 0.2 /* at most, for the fit of parameters; else they keep theory's values */

static enum fc_code check(const struct fc_machine *machine, const struct fc_calibration_settings *set,
                          struct fc_status *st)
{
    if (!(set->budget_s >= 0 && set->budget_s <= 1e6))
        return fc_refuse(st, FC_INPUT, "budget %g s: expected 0 to 1e6", set->budget_s);
    if (set->threads < 1 || set->threads > 4096)
        return fc_refuse(st, FC_INPUT, "threads %d: expected 1 to 4096", set->threads);
    return fc_check_input_queues(machine, "the kernel that calibrates has routers that queue", st);
}

/* The kind of the machine itself, which also says whether the kernel runs it at all. */
static enum fc_code describe(const struct fc_machine *machine, struct fc_calibration *c, struct fc_status *st)
{
    FC_SCOPED(fc_network_free) struct fc_network net = {0};
    char path[1200];
    c->machine = fc_copy_text(&c->arena, machine->name, st);
    c->file = fc_copy_text(&c->arena, fc_calibration_path(machine, path, sizeof path), st);
    c->kernel_version = FC_KERNEL_VERSION;
    if (st->code || fc_network_build(machine, &net, st)) return st->code;
    return fc_calibration_kind(&net, NULL, &c->arena, &c->kind, st);
}

/* Units of work a second of one core: `usual`, less where packets compare ways. */
static double work_per_s(const struct fc_machine *machine, double usual)
{
    return fc_compares_ways(machine) ? fmin(usual, FC_CALIBRATION_UGAL_MOVES_PER_S) : usual;
}

static enum fc_code make_replays(const struct fc_machine *machine, const struct fc_calibration_settings *set,
                                 double budget_s, struct fc_calibration *c, struct fc_status *st)
{
    double work = FC_CALIBRATION_REPLAYS_SHARE * budget_s * work_per_s(machine, FC_CALIBRATION_REPLAYS_WORK_PER_S);
    return fc_calibration_replays_run(machine, work, set, c, st);
}

static enum fc_code make(const struct fc_machine *machine, const struct fc_calibration_settings *set, double budget_s,
                         struct fc_calibration_design *design, struct fc_calibration *c, struct fc_status *st)
{
    uint32_t n = 0;
    double closed = FC_CALIBRATION_PHASES_SHARE * budget_s * work_per_s(machine, FC_CALIBRATION_PHASES_MOVES_PER_S);
    if (fc_calibration_design_make(machine, budget_s, set->without, set->seed, &c->arena, design, st) ||
        fc_calibration_run(design, RUNS_SHARE * budget_s, set, &c->arena, st))
        return st->code;
    struct fc_calibration_job **ran = fc_alloc(&design->arena, design->n_jobs, sizeof *ran, st);
    if (!ran) return st->code;
    for (uint32_t j = 0; j < design->n_jobs; j++) {
        struct fc_calibration_job *job = &design->jobs[j];
        c->hops_run += job->hops_run;
        c->n_not_begun += job->spent_s == 0;
        c->n_given_up += job->cut;
        if (job->ran) ran[n++] = job;
    }
    if (n == 0)
        return fc_refuse(st, FC_NO, "a budget of %g s allows no case of %s or a smaller relative", budget_s,
                         machine->name);
    if (fc_calibration_fit(ran, n, FIT_SHARE * budget_s, set->threads, set->progress, c, st) ||
        make_replays(machine, set, budget_s, c, st))
        return st->code; /* before phases, whose fluids are of its limit of mixing */
    return fc_calibration_phases_run(machine, design, closed, set, c->replays.mixing, &c->arena, &c->phases, st);
}

enum fc_code fc_calibrate(const struct fc_machine *machine, const struct fc_calibration_settings *settings,
                          struct fc_calibration *calibration, struct fc_status *st)
{
    struct fc_calibration_design design = {0};
    double budget_s = settings->budget_s > 0 ? settings->budget_s : FC_CALIBRATION_BUDGET_S;
    memset(calibration, 0, sizeof *calibration);
    calibration->seed = settings->seed;
    calibration->budget_s = budget_s;
    if (!check(machine, settings, st) && !describe(machine, calibration, st))
        make(machine, settings, budget_s, &design, calibration, st);
    fc_calibration_design_free(&design);
    if (st->code) fc_calibration_free(calibration);
    return st->code;
}

/* Whether the calibration is of this machine's kind of router, and of this kernel. */
static enum fc_code check_made(const struct fc_machine *machine, const struct fc_calibration *c, struct fc_status *st)
{
    FC_SCOPED(fc_network_free) struct fc_network net = {0};
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    const char *kind;
    struct fc_place where = {c->file, 0};
    if (strcmp(c->kernel_version, FC_KERNEL_VERSION))
        return fc_fail(st, FC_INPUT, where, "made by kernel version %s (this is %s): nothing can be added to it",
                       c->kernel_version, FC_KERNEL_VERSION);
    if (fc_network_build(machine, &net, st)) return st->code;
    if (!fc_calibration_kind(&net, NULL, &arena, &kind, st) && strcmp(kind, c->kind))
        fc_fail(st, FC_INPUT, where, "made for another kind of router: %s (this machine: %s)", c->kind, kind);
    return st->code;
}

enum fc_code fc_calibrate_replays(const struct fc_machine *machine, const struct fc_calibration_settings *settings,
                                  struct fc_calibration *calibration, struct fc_status *st)
{
    double budget_s = settings->budget_s > 0 ? settings->budget_s : FC_CALIBRATION_BUDGET_S;
    if (check(machine, settings, st) || check_made(machine, calibration, st) ||
        make_replays(machine, settings, budget_s, calibration, st))
        return st->code;
    return fc_calibration_phases_renew(machine, calibration->seed, settings->threads, calibration->replays.mixing,
                                       &calibration->phases, st);
}

/* ---- one more traffic ---- */

/* The same network, pattern and packets. */
static bool is_same(const struct fc_calibration_case *a, const struct fc_calibration_case *b)
{
    return !strcmp(a->network, b->network) && !strcmp(a->pattern, b->pattern) && a->flits_min == b->flits_min &&
           a->flits_max == b->flits_max;
}

/* The case in the place of the same one, else behind the last of its network. */
static enum fc_code keep_case(const struct fc_calibration_case *k, struct fc_calibration *c,
                              const struct fc_calibration_case **added, struct fc_status *st)
{
    uint32_t at = c->n_cases;
    bool instead = false;
    for (uint32_t i = c->n_cases; i-- > 0 && !instead;) {
        if (at == c->n_cases && !strcmp(c->cases[i].network, k->network)) at = i + 1;
        instead = is_same(&c->cases[i], k);
        if (instead) at = i;
    }
    struct fc_calibration_case *cases = fc_alloc(&c->arena, c->n_cases + 1ull, sizeof *cases, st);
    if (!cases) return st->code;
    memcpy(cases, c->cases, at * sizeof *cases);
    cases[at] = *k;
    if (instead) { /* what the fit found of it is of that traffic */
        const struct fc_calibration_case *old = &c->cases[at];
        cases[at].fitted = old->fitted;
        cases[at].mean_error_percent = old->mean_error_percent;
        cases[at].greatest_error_percent = old->greatest_error_percent;
        cases[at].saturation_error_percent = old->saturation_error_percent;
    }
    memcpy(cases + at + 1, c->cases + at + instead, (c->n_cases - at - instead) * sizeof *cases);
    c->cases = cases;
    c->n_cases += !instead;
    if (added) *added = &cases[at];
    return FC_OK;
}

static enum fc_code add_case(const struct fc_network *net, const struct fc_calibration_settings *set, double budget_s,
                             const char *pattern, struct fc_calibration *c, const struct fc_calibration_case **added,
                             struct fc_status *st)
{
    struct fc_calibration_job job = {0};
    struct fc_calibration_design alone = {.n_jobs = 1, .jobs = &job};
    if (!fc_calibration_job_make(net, pattern, set->seed, budget_s, &c->arena, &job, st) &&
        !fc_calibration_run(&alone, budget_s, set, &c->arena, st)) {
        if (!job.ran)
            fc_refuse(st, FC_NO, "%s on %s: %s", pattern, job.out->network,
                      job.spent_s > 0 && !job.cut ? "the kernel finds no saturation"
                                                  : "the budget does not allow it (expected a greater --budget)");
        else if (!fc_queueing_open(&job.turns, &job.queueing, st) && !fc_calibration_ratios(&job, &c->parameters, st)) {
            job.out->fitted = false;
            job.out->mean_error_percent = job.out->greatest_error_percent = job.out->saturation_error_percent = NAN;
            if (!keep_case(job.out, c, added, st)) c->hops_run += job.hops_run;
        }
    }
    fc_calibration_job_free(&job);
    return st->code;
}

enum fc_code fc_calibrate_curve(const struct fc_machine *machine, const struct fc_calibration_settings *settings,
                                const char *pattern, struct fc_calibration *calibration,
                                const struct fc_calibration_case **added, struct fc_status *st)
{
    FC_SCOPED(fc_network_free) struct fc_network net = {0};
    double budget_s = settings->budget_s > 0 ? settings->budget_s : FC_CALIBRATION_BUDGET_S;
    if (check(machine, settings, st) || check_made(machine, calibration, st) || fc_network_build(machine, &net, st))
        return st->code;
    return add_case(&net, settings, budget_s, pattern, calibration, added, st);
}

enum fc_code fc_calibrate_phase(const struct fc_machine *machine, const struct fc_calibration_settings *settings,
                                const char *pattern, struct fc_calibration *calibration,
                                const struct fc_bulk_case **added, struct fc_status *st)
{
    FC_SCOPED(fc_network_free) struct fc_network net = {0};
    if (check(machine, settings, st) || check_made(machine, calibration, st) || fc_network_build(machine, &net, st) ||
        fc_calibration_phase_add(&net, pattern, settings->seed, &calibration->arena, &calibration->phases, added, st))
        return st->code;
    return fc_bulk_fit(&calibration->phases, st);
}
