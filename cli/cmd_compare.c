/* cmd_compare.c - `compare`: a set of jobs on several machines, the geometric mean of their times, and what the machines cost. */
#include "answer/compare.h"
#include "cli/option_rules.h"
#include "cli/print.h"
#include "cli/watch.h"
#include "plots/plots.h"

#include <string.h>

struct report {
    const struct fc_job_set *set;
    const struct fc_comparison *c;
    const char *map;
};

/* ---- text ---- */

static bool any_cost(const struct fc_comparison *c)
{
    bool any = false;
    for (size_t i = 0; i < c->n; i++) any |= !isnan(c->machines[i].cost.total);
    return any;
}

static bool all_costs(const struct fc_comparison *c)
{
    bool all = true;
    for (size_t i = 0; i < c->n; i++) all &= !isnan(c->machines[i].cost.total);
    return all;
}

static const char *cost_text(char *out, size_t size, double cost)
{
    snprintf(out, size, isnan(cost) ? "-" : cost < 1e6 ? "%.0f" : "%.5g", cost);
    return out;
}

static void print_machines(FILE *stream, const struct report *r)
{
    const struct fc_comparison *c = r->c;
    bool costs = any_cost(c);
    fprintf(stream, "\n%-20s %7s", "machine", "nodes");
    if (costs) fprintf(stream, " %12s", "cost");
    for (size_t j = 0; j < c->n_jobs; j++) fprintf(stream, " %9s%zu", j < 9 ? " " : "", j + 1);
    fprintf(stream, " %10s %8s %8s  %s\n", "mean", "relative", "error", costs ? "tier        front" : "tier");
    for (size_t i = 0; i < c->n; i++) {
        const struct fc_compared_machine *m = &c->machines[i];
        char text[256], number[64];
        fprintf(stream, "%-20s %7u", fc_visible(text, sizeof text, m->name, ""), m->n_nodes);
        if (costs) fprintf(stream, " %12s", cost_text(text, sizeof text, m->cost.total));
        for (size_t j = 0; j < c->n_jobs; j++)
            fprintf(stream, " %10s", fc_format(number, sizeof number, m->cells[j].time_s, FC_SECONDS));
        fprintf(stream, " %10s %8.3f %8s  ", fc_format(number, sizeof number, m->mean_s, FC_SECONDS), m->relative,
                fc_format_error(text, sizeof text, m->error_percent));
        if (m->on_front)
            fprintf(stream, "%-10s  yes\n", fc_tier_names[m->tier]);
        else
            fprintf(stream, "%s\n", fc_tier_names[m->tier]);
    }
}

/* What cables a floor plan gives the machines that have one. */
static void print_cables(FILE *stream, const struct fc_comparison *c)
{
    const char *head = "cables     ";
    for (size_t i = 0; i < c->n; i++) {
        const struct fc_network_cost *cost = &c->machines[i].cost;
        char name[256];
        double cables = 0;
        for (int k = 0; k < c->machines[i].n_classes; k++) cables += cost->cables[k];
        if (isnan(cost->racks) || cables == 0) continue;
        fprintf(stream, "%s %s: %.0f, %.0f of them optical, %.3g m in the mean, %.3g m the longest, in %.0f racks\n",
                head, fc_visible(name, sizeof name, c->machines[i].name, ""), cables, cost->optical,
                cost->cables_m / cables, cost->longest_m, cost->racks);
        head = "           ";
    }
}

static void print_notes(FILE *stream, const struct fc_comparison *c)
{
    fprintf(stream, "\nmean        geometric, by weight; relative to the first machine\n");
    if (c->tiers_lowered)
        fprintf(
            stream,
            "tier        theory in all rows: %s has no calibration, nor has its family (--tier own takes what each has)\n",
            c->without);
    if (c->mixed_tiers)
        fprintf(stream, "tier        rows differ: those by theory are bounds, which calibrated times do not reach\n");
    if (c->uneven_tasks)
        fprintf(
            stream,
            "tasks       a pattern over all nodes has as many tasks as a machine has nodes: not the same job everywhere\n");
    print_cables(stream, c);
    if (any_cost(c) && !c->one_currency) fprintf(stream, "cost        in several currencies, so there is no front\n");
    if (any_cost(c) && !all_costs(c))
        fprintf(stream, "cost        -: unknown, the machine has no prices; it is on no front and in no plot\n");
    if (!any_cost(c))
        fprintf(stream,
                "cost        unknown: no machine has prices (section cost: of its file, or --set cost.switch=...)\n");
}

static void print(FILE *stream, const void *what)
{
    const struct report *r = what;
    const struct fc_comparison *c = r->c;
    fprintf(stream, "jobs        ");
    fc_print_visible(stream, fc_last_part(r->set->file));
    fprintf(stream, ", mapping %s\n", r->map);
    fprintf(stream, "\n%3s %8s %-8s %-36s %8s\n", "job", "weight", "kind", "name", "tasks");
    for (size_t j = 0; j < c->n_jobs; j++) {
        const struct fc_set_job *job = &r->set->jobs[j];
        char name[512];
        uint32_t least = UINT32_MAX, most = 0;
        for (size_t i = 0; i < c->n; i++) {
            uint32_t n = c->machines[i].cells[j].n_tasks;
            least = n < least ? n : least;
            most = n > most ? n : most;
        }
        fprintf(stream, "%3zu %8.4g %-8s %-36s %8u", j + 1, job->weight, fc_job_kind_names[job->kind],
                fc_visible(name, sizeof name, job->name, ""), least);
        fprintf(stream, most > least ? " to %u\n" : "\n", most);
    }
    print_machines(stream, r);
    print_notes(stream, c);
}

/* ---- JSON ---- */

static json_t *cell_json(const struct fc_set_job *job, const struct fc_compared_cell *cell)
{
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:s?, s:I, s:s, s:s}", "job", job->name, "time_s",
                     fc_json_real(cell->time_s), "communication_s", fc_json_real(cell->communication_s),
                     "percent_of_peak", fc_json_real(cell->percent_of_peak), "error_percent",
                     fc_json_real(cell->error_percent), "error_against", fc_error_against_name(cell->error_against),
                     "tasks", (json_int_t)cell->n_tasks, "mapping", cell->mapping, "bottleneck", cell->bottleneck);
}

static json_t *cost_json(const struct fc_compared_machine *m)
{
    json_t *cables = json_object();
    for (int c = 0; c < m->n_classes; c++)
        if (m->cost.cables[c] > 0) json_object_set_new(cables, m->class_names[c], fc_json_real(m->cost.cables[c]));
    bool known = !isnan(m->cost.total);
    return json_pack("{s:o, s:s?, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "total",
                     fc_json_real(m->cost.total), "currency", *m->currency ? m->currency : NULL, "switches",
                     fc_json_real(m->cost.switches), "ports", fc_json_real(m->cost.ports), "nodes",
                     fc_json_real(m->cost.nodes), "cables", cables, "switches_cost",
                     fc_json_real(known ? m->cost.switches_cost : (double)NAN), "cables_cost",
                     fc_json_real(known ? m->cost.cables_cost : (double)NAN), "nodes_cost",
                     fc_json_real(known ? m->cost.nodes_cost : (double)NAN), "racks", fc_json_real(m->cost.racks),
                     "cables_m", fc_json_real(m->cost.cables_m), "longest_cable_m", fc_json_real(m->cost.longest_m),
                     "optical_cables", fc_json_real(m->cost.optical));
}

static json_t *to_json(const struct report *r)
{
    const struct fc_comparison *c = r->c;
    json_t *jobs = json_array(), *machines = json_array();
    for (size_t j = 0; j < c->n_jobs; j++) {
        const struct fc_set_job *job = &r->set->jobs[j];
        json_array_append_new(jobs,
                              json_pack("{s:s, s:s, s:s, s:o}", "name", job->name, "kind", fc_job_kind_names[job->kind],
                                        "input", job->what, "weight", fc_json_real(job->weight)));
    }
    for (size_t i = 0; i < c->n; i++) {
        const struct fc_compared_machine *m = &c->machines[i];
        json_t *cells = json_array();
        for (size_t j = 0; j < c->n_jobs; j++) json_array_append_new(cells, cell_json(&r->set->jobs[j], &m->cells[j]));
        json_array_append_new(machines,
                              json_pack("{s:s, s:s, s:s, s:I, s:o, s:o, s:o, s:o, s:s, s:b, s:o}", "machine", m->name,
                                        "title", m->title, "routing", m->routing, "nodes", (json_int_t)m->n_nodes,
                                        "jobs", cells, "geometric_mean_s", fc_json_real(m->mean_s), "relative",
                                        fc_json_real(m->relative), "error_percent", fc_json_real(m->error_percent),
                                        "tier", fc_tier_names[m->tier], "on_front", m->on_front, "cost", cost_json(m)));
    }
    return json_pack("{s:o, s:o, s:b, s:b, s:b}", "jobs", jobs, "machines", machines, "mixed_tiers", c->mixed_tiers,
                     "calibrations_left_out", c->tiers_lowered, "uneven_tasks", c->uneven_tasks);
}

/* ---- the plot ---- */

static enum fc_code plot(const struct fc_arguments *arguments, const struct report *r, struct fc_arena *arena,
                         struct fc_status *st)
{
    static const char *const names[] = {"designs", NULL};
    const struct fc_comparison *c = r->c;
    struct fc_plot_design *rows = fc_alloc(arena, c->n, sizeof *rows, st);
    size_t n = 0;
    for (size_t i = 0; rows && i < c->n; i++) {
        const struct fc_compared_machine *m = &c->machines[i];
        if (!isnan(m->cost.total)) rows[n++] = (struct fc_plot_design){m->name, m->cost.total, m->mean_s, m->on_front};
    }
    if (!st->code && !c->one_currency)
        return fc_refuse(st, FC_INPUT, "--plot: the machines' costs are in several currencies (expected one)");
    if (!st->code && n == 0)
        return fc_refuse(st, FC_INPUT,
                         "--plot: no machine has a cost (expected a section cost:, or --set cost.switch=PRICE)");
    const char *title =
        fc_plot_title(arguments, arena, st, "%s: %zu jobs on %zu machines", fc_last_part(r->set->file), c->n_jobs, n);
    char axis[128];
    snprintf(axis, sizeof axis, "cost%s%.90s%s", *c->currency ? " (" : "", c->currency, *c->currency ? ")" : "");
    if (st->code || fc_plot_designs(arguments->plot, title, axis, rows, n, st)) return st->code;
    fc_print_plots(arguments, names);
    return FC_OK;
}

/* ---- the command ---- */

static enum fc_code check(const struct fc_arguments *arguments, enum fc_tiers *tiers, struct fc_status *st)
{
    int t = 0;
    if (arguments->n_words != 1)
        return fc_refuse(st, FC_INPUT,
                         "%s (expected `compare JOBS -m A,B`, JOBS a file of lines WEIGHT trace|pattern|graph INPUT)",
                         arguments->n_words ? "more than one set of jobs" : "no set of jobs");
    if (!arguments->ask.machine) return fc_refuse(st, FC_INPUT, "no machine (expected -m NAME,NAME,...)");
    if (arguments->ask.map && !strcmp(arguments->ask.map, "all"))
        return fc_refuse(st, FC_INPUT, "--map: one mapping for all is expected, e.g. def or optimize");
    while (arguments->tier && fc_tiers_names[t] && strcmp(arguments->tier, fc_tiers_names[t])) t++;
    if (!fc_tiers_names[t])
        return fc_refuse(st, FC_INPUT, "--tier: '%s' is unknown (expected same, own or theory)", arguments->tier);
    *tiers = (enum fc_tiers)t;
    return arguments->plot ? fc_plots_check(arguments->plot, st) : FC_OK;
}

static enum fc_code run(const struct fc_arguments *arguments, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    struct fc_job_set set;
    struct fc_comparison comparison = {.n = 0};
    struct fc_watch watch;
    enum fc_tiers tiers = FC_TIERS_SAME;
    const char **machines, **maps;
    size_t n, n_maps;
    if (check(arguments, &tiers, st)) return st->code;
    struct report report = {&set, &comparison, arguments->ask.map ? arguments->ask.map : "def"};
    if (fc_split_list(report.map, &arena, &maps, &n_maps, st) ||
        fc_split_list(arguments->ask.machine, &arena, &machines, &n, st) ||
        fc_job_set_read(arguments->words[0], &arena, &set, st))
        return st->code;
    if (n_maps > 1) return fc_refuse(st, FC_INPUT, "--map: several mappings (expected one for all)");
    struct fc_question q = fc_watch_start(arguments, &watch);
    fc_compare(&q, &set, machines, n, tiers, &comparison, st);
    fc_watch_end(&watch);
    if (!st->code) fc_deliver(arguments, arguments->json ? to_json(&report) : NULL, print, &report, st);
    if (!st->code && arguments->plot) plot(arguments, &report, &arena, st);
    fc_comparison_free(&comparison);
    return st->code;
}

const struct fc_command fc_command_compare = {
    .name = "compare",
    .arguments = "JOBS",
    .summary =
        "a set of jobs on several machines: every time, the geometric mean, what the machines cost, the best of them",
    .example = "fabricast compare examples/jobs/mix.jobs -m bgl-64,qsnet-64,tmesh-216",
    .options = FC_GROUPS(FC_MACHINE, FC_ROUTING, FC_MAP, FC_SEARCH, FC_TIERS, FC_PLOT, FC_COMMON) | FC_RUNS,
    .run = run,
    .swept = "",
};
