/* cmd_place.c - `place`: which mesh nodes of a chip should host the torus' interfaces: the best layouts with
 * their proof, the front of latency and saturation, beside the seven layouts of Table 1 of the TMesh paper
 * where they fit. */
#include "answer/run.h"
#include "cli/command.h"
#include "cli/heartbeat.h"
#include "cli/place_report.h"
#include "cli/print.h"
#include "cli/watch.h"
#include "plots/plots.h"

#include <string.h>

enum { MOST_FRONT = 16 };
#define SERVED_A_SECOND 8    /* layouts by the queueing model in a second of --time */
#define LAYOUTS_A_SECOND 5e5 /* of all layouts, evaluated in a second of --time; */
#define FEW_LAYOUTS 1e5      /* so many always */
#define MOST_SERVED_LINKS 2e6
#define MOST_PASSED 1e6 /* layouts that the front of passed bridges is made of */
/* --budget: of a nominal machine, and where it is not given (as `calibrate`). */
#define CORES 2
#define DEFAULT_BUDGET_S 60

/* ---- arguments ---- */

static enum fc_code choice(const char *option, const char *text, const char *const *names, int *value,
                           struct fc_status *st)
{
    char list[128] = "";
    for (int i = 0; names[i]; i++) {
        *value = i;
        if (!strcmp(text, names[i])) return FC_OK;
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", names[i]);
    }
    return fc_refuse(st, FC_INPUT, "--%s: '%s' is unknown (expected %s)", option, text, list);
}

static enum fc_code read_rules(struct fc_place_answer *a, struct fc_status *st)
{
    const struct fc_arguments *arguments = a->arguments;
    fc_layout_rules_none(&a->rules);
    a->rules.lines = a->constraint == FC_PLACE_LINES;
    a->policy = a->constraint == FC_PLACE_SIX_VC  ? FC_TMESH_SIX_VC
                : a->constraint == FC_PLACE_LINES ? FC_TMESH_SEPARATE
                                                  : -1;
    if (arguments->pin && fc_layout_read(arguments->pin, "--pin", &a->model, a->rules.pinned, st)) return st->code;
    if (arguments->keep_free) {
        uint32_t *list;
        size_t n;
        uint8_t *taken = fc_alloc(&a->arena, a->model.n_mesh, 1, st);
        struct fc_status why = {0};
        if (!taken) return st->code;
        if (fc_parse_ranges(arguments->keep_free, a->model.n_mesh, &a->arena, &list, &n, &why))
            return fc_refuse(st, why.code, "--keep-free: %s", why.message);
        for (size_t i = 0; i < n; i++) taken[list[i]] = 1;
        a->rules.taken = taken;
    }
    return fc_layout_rules_check(&a->model, &a->rules, st);
}

static enum fc_code read_arguments(struct fc_place_answer *a, struct fc_status *st)
{
    static const char *const objectives[] = {"hops", "weighted", "load", "pareto", NULL};
    const struct fc_arguments *arguments = a->arguments;
    struct fc_chip chip;
    if (choice("objective", arguments->objective ? arguments->objective : "pareto", objectives, &a->objective, st) ||
        choice("constraint", arguments->constraint ? arguments->constraint : "six-vc", fc_place_constraint_names,
               &a->constraint, st) ||
        fc_chip_of_machine(&a->session->machine, &chip, st) ||
        choice("turns", arguments->turns ? arguments->turns : "dimension-order", fc_chip_turns_names, &chip.turns, st))
        return st->code;
    chip.on_chip = arguments->on_chip;
    if (fc_place_model_make(&chip, &a->model, st)) return st->code;
    return read_rules(a, st);
}

/* ---- rows ---- */

/* Adds a row, or its name to the row that is alike (the same up to mirrors and equal interfaces); those of
 * Table 1 stay apart. */
static void add_row(struct fc_place_answer *a, const struct fc_bridge_layout *layout, const char *name)
{
    struct fc_served_layout *row = &a->rows[a->n];
    size_t i = a->n < a->n_table1 ? a->n : 0;
    row->layout = *layout;
    fc_layout_figure(&a->model, layout, NULL, &row->figures);
    while (i < a->n && !fc_layout_alike(&a->rows[i].figures, &row->figures)) i++;
    size_t used = strlen(a->name[i]);
    snprintf(a->name[i] + used, sizeof a->name[i] - used, "%s%s", used ? "; " : "", name);
    a->n += i == a->n;
}

static void first_rows(struct fc_place_answer *a)
{
    const struct fc_chip *c = &a->model.chip;
    const struct fc_tmesh_shape *s = a->session->machine.shape;
    struct fc_bridge_layout own = {{0}};
    if (c->n_dims == 3 && c->side[0] == 4 && c->side[1] == 4) a->n_table1 = FC_PLACE_TABLE1;
    for (size_t i = 0; i < a->n_table1; i++) {
        char name[64];
        snprintf(name, sizeof name, "Table 1: LN %s", fc_place_table1[i].ln);
        add_row(a, &fc_place_table1[i].layout, name);
    }
    for (int i = 0; i < a->model.n; i++) own.node[i] = s->bridge[i / 2][i % 2];
    add_row(a, &own, "machine");
}

/* ---- the search ---- */

static enum fc_code all_layouts(struct fc_place_answer *a, const struct fc_place_all *all)
{
    static const char *const names[] = {"least hops", "least weighted", "least load"};
    a->counted = true;
    a->n_evaluated = (double)all->evaluated;
    a->n_layouts = (double)all->layouts;
    for (int o = 0; o < FC_PLACE_OBJECTIVES; o++) {
        if (a->objective != FC_PLACE_PARETO && a->objective != o) continue;
        const struct fc_layout_point *p = &all->best[o];
        double value = fc_layout_value(&p->figures, o);
        a->best[o] =
            (struct fc_place_best){p->layout, p->figures, value, value, true, 0, "all layouts", all->evaluated};
        add_row(a, &p->layout, names[o]);
    }
    uint32_t shown = all->n_front < MOST_FRONT ? all->n_front : MOST_FRONT;
    for (uint32_t f = 0; f < shown && a->objective == FC_PLACE_PARETO; f++)
        add_row(a, &all->front[shown > 1 ? f * (all->n_front - 1) / (shown - 1) : 0].layout, "hops/load front");
    return FC_OK;
}

/* Layouts of few hops, hence of low latency, to layouts that pass few bridges, hence of much throughput. */
static enum fc_code passed_front(struct fc_place_answer *a, struct fc_status *st)
{
    struct fc_layout_point *front;
    uint32_t n;
    if (fc_place_passed_front(&a->model, &a->rules, &a->arena, &front, &n, st)) return st->code;
    uint32_t shown = n < MOST_FRONT ? n : MOST_FRONT;
    for (uint32_t f = 0; f < shown; f++)
        add_row(a, &front[shown > 1 ? f * (n - 1) / (shown - 1) : 0].layout, "hops/passed front");
    return FC_OK;
}

static enum fc_code search(struct fc_place_answer *a, struct fc_status *st)
{
    static const char *const names[] = {"best hops", "best weighted", "best load"};
    const struct fc_arguments *arguments = a->arguments;
    struct fc_place_all_settings settings = {.symmetry = true, .threads = arguments->ask.threads, .most = 6e6};
    if (arguments->ask.search_given)
        settings.most = fmin(settings.most, fmax(FEW_LAYOUTS, LAYOUTS_A_SECOND * arguments->ask.search_s));
    struct fc_place_all all;
    struct fc_status why = {0};
    bool pareto = a->objective == FC_PLACE_PARETO;
    a->n_layouts = fc_place_count(&a->model, &a->rules);
    if (!fc_place_all(&a->model, &a->rules, &settings, &all, &why)) {
        all_layouts(a, &all);
        fc_place_all_free(&all);
        return pareto && a->n_evaluated <= MOST_PASSED ? passed_front(a, st) : FC_OK;
    }
    if (why.code != FC_NO) return fc_refuse(st, why.code, "%s", why.message);
    for (int o = 0; o < FC_PLACE_OBJECTIVES; o++) {
        if (!pareto && a->objective != o) continue;
        if (fc_place_best_find(&a->model, &a->rules, o, arguments->ask.search_s / (pareto ? 3 : 1),
                               arguments->ask.threads, &a->best[o], st))
            return st->code;
        add_row(a, &a->best[o].layout, names[o]);
    }
    return FC_OK;
}

static enum fc_code prove(struct fc_place_answer *a, struct fc_status *st)
{
    for (int o = 0; o < FC_PLACE_OBJECTIVES && a->arguments->milp; o++) {
        struct fc_place_milp_settings settings = {.time_s = a->arguments->ask.search_s};
        if (!a->best[o].by) continue;
        a->proof[o] = a->best[o];
        struct fc_status why = {0};
        if (!fc_place_milp(&a->model, &a->rules, o, &settings, &a->proof[o], &why)) continue;
        if (why.code != FC_NO) return fc_refuse(st, why.code, "%s", why.message);
        if (!a->arguments->quiet) fc_note("%s: %s", fc_place_objective_names[o], why.message);
        a->proof[o].by = NULL;
    }
    return FC_OK;
}

static bool confirmed(const struct fc_place_answer *a, size_t i)
{
    return fc_place_shown(a, i) && a->rows[i].service.deadlock_free;
}

static enum fc_code find_load(struct fc_place_answer *a, struct fc_status *st)
{
    FC_SCOPED(fc_demand_free) struct fc_demand demand = {0};
    struct fc_flit_settings settings;
    const char *text = a->arguments->run.load ? a->arguments->run.load : "60%";
    if (fc_run_settings(&a->arguments->run, a->arguments->ask.seed, a->arguments->ask.threads, &settings, st) ||
        fc_demand_from_pattern(&a->session->net, "uniform", 1, &demand, st))
        return st->code;
    a->ideal = NAN;
    if (!fc_flit_ideal_throughput(&a->session->net, &demand, &settings, &a->ideal, st))
        fc_run_load("--load", text, &a->session->net, &demand, &settings, &a->ideal, &a->load, st);
    return st->code;
}

/* What serve would refuse after the search (the load, channels too few for the policy) is refused before it.
 */
static enum fc_code try_service(struct fc_place_answer *a, struct fc_status *st)
{
    struct fc_layout_service service;
    a->served = a->session->net.n_links <= MOST_SERVED_LINKS;
    if (!a->served && (a->arguments->confirm || a->arguments->run.load || a->arguments->plot))
        return fc_refuse(st, FC_NO, "--%s: a network of %u links is too large for the queueing model here",
                         a->arguments->plot      ? "plot"
                         : a->arguments->confirm ? "confirm"
                                                 : "load",
                         a->session->net.n_links);
    if (!a->served || find_load(a, st)) return st->code;
    return fc_layout_serve(&a->session->machine, &a->rows[0].layout, a->policy, a->load, &service, st);
}

/* Rows that are shown, by the kernel. */
static enum fc_code confirm(struct fc_place_answer *a, struct fc_progress *progress, struct fc_status *st)
{
    const struct fc_arguments *given = a->arguments;
    struct fc_layout_confirming how = {.load_flits_per_cycle = a->load,
                                       .on_chip = given->on_chip,
                                       .warmup_cycles = given->run.warmup_cycles,
                                       .measure_cycles = given->run.measure_cycles,
                                       .seed = given->ask.seed};
    size_t n = 0, done = 0;
    for (size_t i = 0; i < a->n; i++) n += confirmed(a, i);
    how.budget_s = CORES * (given->budget_s > 0 ? given->budget_s : DEFAULT_BUDGET_S) / fmax(1, (double)n);
    for (size_t i = 0; i < a->n; i++) {
        if (!confirmed(a, i)) continue;
        fc_progress_show(progress, (double)done++ / (double)n, "kernel");
        if (fc_layout_confirm(&a->session->machine, &a->rows[i].layout, a->policy, &how, &a->kernel[i], st))
            return st->code;
    }
    return FC_OK;
}

/* Every row by the queueing model, and for the front a walk from them. */
static enum fc_code serve(struct fc_place_answer *a, int more, struct fc_status *st)
{
    struct fc_progress progress;
    if (!a->served) return FC_OK;
    if (a->arguments->ask.search_given)
        more = more > (int)a->n ? more - (int)a->n : 0; /* the rows that are there count */
    fc_work_start(&progress, a->arguments->quiet);
    fc_place_front(&a->session->machine, &a->model, &a->rules, a->policy, a->load,
                   a->objective == FC_PLACE_PARETO ? more : 0, a->arguments->ask.seed, &progress, a->rows, &a->n, st);
    if (!st->code && a->arguments->confirm) confirm(a, &progress, st);
    fc_work_end(&progress);
    return st->code;
}

/* Its name, or which mesh node each interface is on: "x+1 x-5 ...". */
static const char *layout_label(const struct fc_place_answer *a, size_t i, struct fc_arena *arena, struct fc_status *st)
{
    char text[512] = "", name[8];
    if (i < a->n_table1) return fc_place_table1[i].ln;
    if (*a->name[i]) return a->name[i];
    for (int k = 0; k < a->model.n; k++) {
        size_t n = strlen(text);
        snprintf(text + n, sizeof text - n, "%s%s%u", k ? " " : "", fc_interface_name(k, name, sizeof name),
                 a->rows[i].layout.node[k]);
    }
    return fc_copy_text(arena, text, st);
}

static enum fc_code plot(const struct fc_place_answer *a, struct fc_arena *arena, struct fc_status *st)
{
    static const char *const names[] = {"placements", NULL};
    const char *title =
        fc_plot_title(a->arguments, arena, st, "%s: layouts of the chip's interfaces, latency at %.4g flits/node/cycle",
                      a->session->machine.name, a->load);
    struct fc_plot_placement *rows = fc_alloc(arena, a->n, sizeof *rows, st);
    if (st->code) return st->code;
    for (size_t i = 0; i < a->n; i++) {
        const struct fc_layout_service *s = &a->rows[i].service;
        rows[i] = (struct fc_plot_placement){layout_label(a, i, arena, st), s->saturation, s->latency_cycles,
                                             (i < a->n_table1 ? 2 : 0) + a->rows[i].front};
    }
    if (!fc_plot_placements(a->arguments->plot, title, rows, a->n, st)) fc_print_plots(a->arguments, names);
    return st->code;
}

static enum fc_code answer(struct fc_place_answer *a, struct fc_status *st)
{
    double start = fc_wall_s();
    int more = (int)fmax(0, fmin(10000, SERVED_A_SECOND * a->arguments->ask.search_s));
    size_t room = FC_PLACE_TABLE1 + 1 + FC_PLACE_OBJECTIVES + 2 * MOST_FRONT + (size_t)more + 1;
    if (read_arguments(a, st)) return st->code;
    a->rows = fc_alloc(&a->arena, room, sizeof *a->rows, st);
    a->name = fc_alloc(&a->arena, room, sizeof *a->name, st);
    a->kernel = fc_alloc(&a->arena, room, sizeof *a->kernel, st);
    if (st->code) return st->code;
    first_rows(a);
    if (try_service(a, st) || search(a, st) || prove(a, st) || serve(a, more, st)) return st->code;
    a->elapsed_s = fc_wall_s() - start;
    fc_deliver(a->arguments, a->arguments->json ? fc_place_json(a) : NULL, fc_place_print, a, st);
    if (!st->code && a->arguments->plot) plot(a, &a->arena, st);
    return st->code;
}

static enum fc_code run(const struct fc_arguments *arguments, struct fc_status *st)
{
    FC_SCOPED(fc_session_close) struct fc_session session = {0};
    if (arguments->plot && fc_plots_check(arguments->plot, st)) return st->code;
    if (fc_open_machine(arguments, arguments->ask.machine, &session, st)) return st->code;
    struct fc_place_answer a = {.arguments = arguments, .session = &session};
    if (!fc_session_only_alike(&session, "place", st)) answer(&a, st);
    fc_place_model_free(&a.model);
    fc_arena_free(&a.arena);
    return st->code;
}

const struct fc_command fc_command_place = {
    .name = "place",
    .summary = "which mesh nodes host a chip's torus interfaces: best layouts with proof, front of latency "
               "and saturation",
    .example = "fabricast place -m tmesh-216 --objective pareto --time 10s",
    .options =
        FC_GROUPS(FC_MACHINE, FC_LAYOUT, FC_OFFER, FC_SEARCH, FC_BUDGET, FC_MEASURE, FC_PLOT, FC_COMMON) | FC_RUNS,
    .run = run,
    .swept = "",
};
