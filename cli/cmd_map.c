/* cmd_map.c - `map`: a task mapping by a strategy with its time, percent of peak and gap to the bound, and
 * the launcher's file of it; `all` compares the strategies. */
#include "answer/job.h"
#include "cli/command.h"
#include "cli/heartbeat.h"
#include "cli/print.h"
#include "cli/watch.h"
#include "mapping/launcher.h"
#include "mapping/work.h"
#include "plots/plots.h"
#include "solvers/bound/bound.h"

#include <ctype.h>
#include <string.h>

struct row {
    const char *strategy;
    struct fc_load_summary links;
    struct fc_load load;
    struct fc_map_proof proof;
    double elapsed_s;
};
struct answer {
    const struct fc_arguments *arguments;
    const struct fc_session *session;
    const struct fc_demand *demand;
    const struct fc_launcher_format *format; /* of the file; NULL: cores */
    struct row *rows;
    size_t n, best;
    struct fc_map_bound bound; /* of every mapping */
    const char *background;    /* in words; NULL: none */
};

/* ---- figures ---- */

static double percent_of_peak(const struct row *r)
{
    return r->links.max_link_s > 0 ? 100 * r->links.bound_s / r->links.max_link_s : (double)NAN;
}

/* How far the time is above what no mapping is under, percent. */
static double gap_percent(const struct answer *a, const struct row *r)
{
    return a->bound.time_s > 0 ? fmax(0, 100 * (r->links.max_link_s / a->bound.time_s - 1)) : (double)NAN;
}

/* ---- printing ---- */

/* The command that uses the file, its words FILE and RANKS filled in. */
static void start_command(const struct answer *a, char *out, size_t size)
{
    const char *from = a->format->start;
    size_t n = 0;
    while (*from && n + 1 < size) {
        bool whole = from == a->format->start || !isalpha((unsigned char)from[-1]);
        bool file = whole && !strncmp(from, "FILE", 4), ranks = whole && !strncmp(from, "RANKS", 5);
        int more = file    ? snprintf(out + n, size - n, "%s", a->arguments->output)
                   : ranks ? snprintf(out + n, size - n, "%u", a->demand->n_tasks)
                           : snprintf(out + n, size - n, "%c", *from);
        n += (size_t)more;
        from += file ? 4 : ranks ? 5 : 1;
    }
}

/* How far the value of the proof is above what is proven, percent. */
static double open_percent(const struct fc_map_proof *p)
{
    if (p->proven) return 0;
    return p->bound > 0 ? 100 * (p->value / p->bound - 1) : (double)NAN;
}

/* "1.23" of 23 % above. */
static char *factor_text(char *out, size_t size, double gap)
{
    if (isnan(gap))
        snprintf(out, size, "unknown");
    else
        snprintf(out, size, "%.3f", 1 + gap / 100);
    return out;
}

static void print_proof(FILE *stream, const struct row *r)
{
    const struct fc_map_proof *p = &r->proof;
    bool time = !strcmp(p->objective, "time");
    char bound[64], gap[32];
    if (time)
        fc_format(bound, sizeof bound, p->bound, FC_SECONDS);
    else
        snprintf(bound, sizeof bound, "%.10g", p->bound);
    fprintf(stream, "\nproof       %s: ", r->strategy);
    if (p->proven && p->even_splits)
        fprintf(stream, "no mapping has less time than %s", bound);
    else if (p->proven)
        fprintf(stream, "no mapping has less %s", p->objective);
    else
        fprintf(stream, "not closed: no mapping has %s under %s, gap %s %% (more with --time)", p->objective, bound,
                fc_format_percent(gap, sizeof gap, open_percent(p)));
    fprintf(stream, "%s\n",
            p->even_splits ? ", for even splits over the minimal routes; the table's times are of the solver's splits"
                           : "");
}

static void print(FILE *stream, const void *what)
{
    const struct answer *a = what;
    char time[64], peak[32], gap[32], name[1024];
    fc_print_machine(&a->session->machine, stream);
    fprintf(stream, "traffic     %s, %u tasks, routing %s\n", a->demand->name, a->demand->n_tasks,
            a->session->machine.routing->name);
    if (a->background) fprintf(stream, "background  %s\n", a->background);
    if (isnan(a->bound.time_s))
        fprintf(stream, "bound       unknown\n");
    else
        fprintf(stream, "bound       %s: no mapping is faster (%s)\n",
                fc_format(time, sizeof time, a->bound.time_s, FC_SECONDS), a->bound.binds);
    fprintf(stream, "link time   of the busiest link; predict tells the job's time\n\n");
    fprintf(stream, "%-10s %12s %10s %12s %10s %9s  %s\n", "mapping", "link time", "of peak %", "times bound",
            "hops/byte", "spent s", "hottest link");
    for (size_t i = 0; i < a->n; i++) {
        const struct row *r = &a->rows[i];
        fprintf(
            stream, "%-10s %12s %10s %12s %10.3f %9.3f  %s\n", r->strategy,
            fc_format(time, sizeof time, r->links.max_link_s, FC_SECONDS),
            fc_format_percent(peak, sizeof peak, percent_of_peak(r)), factor_text(gap, sizeof gap, gap_percent(a, r)),
            r->load.network_bytes > 0 ? r->load.hop_bytes / r->load.network_bytes : 0, r->elapsed_s,
            r->links.hottest == FC_NONE ? "none" : fc_link_name(&a->session->net, r->links.hottest, name, sizeof name));
    }
    for (size_t i = 0; i < a->n; i++)
        if (a->rows[i].proof.objective) print_proof(stream, &a->rows[i]);
    if (!a->arguments->output) return;
    fprintf(stream, "\nwritten     %s, format %s\n", a->arguments->output, a->format ? a->format->name : "cores");
    if (!a->format) return;
    start_command(a, name, sizeof name);
    fprintf(stream, "start       %s\n", name);
}

static json_t *proof_json(const struct fc_map_proof *p)
{
    if (!p->objective) return json_null();
    return json_pack("{s:s, s:b, s:o, s:o, s:o, s:b}", "objective", p->objective, "proven", p->proven, "value",
                     fc_json_real(p->value), "lower_bound", fc_json_real(p->bound), "gap_percent",
                     fc_json_real(open_percent(p)), "even_splits", p->even_splits);
}

static json_t *background_json(const struct answer *a, uint32_t link)
{
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    struct fc_other_traffic other = {0};
    struct fc_status st = {0};
    bool known = !fc_other_traffic_of(&a->arguments->ask, a->session, link, &scratch, &other, &st);
    json_t *json = known ? fc_other_traffic_json(&other) : json_null();
    return json;
}

static json_t *row_json(const struct answer *a, const struct row *r)
{
    const struct fc_load_summary *s = &r->links;
    const struct fc_network *net = &a->session->net;
    return json_pack(
        "{s:s, s:s, s:s, s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s?, s:o, s:o, s:o}",
        "strategy", r->strategy, "machine", a->session->machine.name, "traffic", a->demand->name, "routing",
        a->session->machine.routing->name, "tasks", (json_int_t)a->demand->n_tasks, "time_s",
        fc_json_real(s->max_link_s), "communication_s", fc_json_real(s->max_link_s), "computation_s", fc_json_real(NAN),
        "bound_s", fc_json_real(s->bound_s), "percent_of_peak", fc_json_real(percent_of_peak(r)), "bottleneck",
        fc_json_bottleneck(net, s->hottest, s->hottest == FC_NONE ? 0 : r->load.bytes[s->hottest]), "links",
        fc_json_links(net, s), "hop_bytes", fc_json_real(r->load.hop_bytes), "error_percent", fc_json_real(NAN),
        "elapsed_s", fc_json_real(r->elapsed_s), "lower_bound_s", fc_json_real(a->bound.time_s), "bound_binds",
        a->bound.binds[0] ? a->bound.binds : NULL, "gap_percent", fc_json_real(gap_percent(a, r)), "proof",
        proof_json(&r->proof), "background", background_json(a, s->hottest));
}

/* The best strategy's keys, and the list of all when there are several. */
static json_t *to_json(const struct answer *a)
{
    json_t *answer = row_json(a, &a->rows[a->best]);
    char start[1024];
    if (a->arguments->output && a->format) {
        start_command(a, start, sizeof start);
        json_object_set_new(
            answer, "launcher",
            json_pack("{s:s, s:s, s:s}", "format", a->format->name, "file", a->arguments->output, "start", start));
    }
    if (a->n == 1) return answer;
    json_t *list = json_array();
    for (size_t i = 0; i < a->n; i++) json_array_append_new(list, row_json(a, &a->rows[i]));
    json_object_set_new(answer, "strategies", list);
    return answer;
}

/* ---- one strategy ---- */

/* What no mapping of the kind asked for is under. A file may put several tasks on a node, whatever the
 * traffic. */
static enum fc_code find_bound(struct answer *a, const char *wanted, struct fc_status *st)
{
    struct fc_map_problem problem = fc_map_problem_of(&a->arguments->ask, a->session, a->demand);
    size_t n = strcspn(wanted, ":"); /* an argument may follow */
    bool strategy = !strcmp(wanted, "all");
    for (const struct fc_strategy_ops *const *s = fc_strategies; *s; s++)
        strategy = strategy || (strlen((*s)->name) == n && !strncmp((*s)->name, wanted, n));
    problem.spread = problem.spread && strategy;
    a->bound = (struct fc_map_bound){.time_s = NAN};
    uint64_t work = fc_bound_work(&problem);
    if (a->arguments->ask.search_given && work > fc_work_of_s(problem.time_s) / 2) {
        if (!a->arguments->quiet)
            fc_note("the bound of all mappings is left out: it may take %.2g s, more than --time leaves it",
                    (double)work / FC_WORK_PER_S);
        return FC_OK;
    }
    return fc_mapping_bound(&problem, &a->bound, st);
}

/* A proven least time is a bound of every mapping. */
static void take_bound(struct answer *a, const struct fc_map_proof *p)
{
    if (!p->objective || strcmp(p->objective, "time") || p->even_splits || !(p->bound > 0)) return;
    if (a->bound.time_s >= p->bound * (1 - 1e-9)) return;
    a->bound.time_s = p->bound;
    snprintf(a->bound.binds, sizeof a->bound.binds, "%s", p->proven ? "all mappings" : "all mappings, in part");
}

/* The flow program's bound of a row: under a --time of few seconds a smaller program. */
static struct fc_flow_settings row_flow(const struct answer *a, double share)
{
    struct fc_flow_settings flow = fc_flow_cheap(&a->session->net);
    if (share == 0) return flow;
    flow.most_variables = fmax(1, flow.most_variables * share);
    flow.work *= share;
    return flow;
}

static enum fc_code try_strategy(struct answer *a, const struct fc_map_problem *problem, const char *strategy,
                                 struct row *row, struct fc_mapping *mapping, struct fc_status *st)
{
    const struct fc_arguments *arguments = a->arguments;
    struct fc_flow_settings flow = row_flow(a, problem->split_share);
    struct fc_load_settings settings = {.threads = arguments->ask.threads,
                                        .seed = arguments->ask.seed,
                                        .flow = &flow,
                                        .split_share = problem->split_share,
                                        .background_bytes_per_s = a->session->background_bytes_per_s};
    double start = fc_wall_s();
    if (fc_place_watched(arguments, *problem, strategy, mapping, st)) return st->code;
    row->elapsed_s = fc_wall_s() - start;
    row->strategy = mapping->strategy;
    row->proof = mapping->proof;
    take_bound(a, &row->proof);
    struct fc_placement placement = {mapping->n_tasks, mapping->node};
    if (fc_load_solve(&a->session->net, a->demand, &placement, &settings, &row->load, st)) return st->code;
    fc_load_summarise(&a->session->net, &row->load, &settings, &row->links);
    return FC_OK;
}

/* What --time leaves for the table's rows, link updates. */
struct ledger {
    bool counted;            /* --time is given */
    uint64_t left, work[32]; /* work: of each strategy's row */
    struct fc_map_made made[32];
    size_t n_made;
};

static bool searches(const char *strategy)
{
    return !strcmp(strategy, "optimize") || !strcmp(strategy, "exact");
}

/* Which named strategies half of the budget pays for, the cheap ones first; rank order always. */
static void choose_rows(const struct fc_map_problem *problem, struct ledger *ledger, bool *chosen)
{
    uint64_t *work = ledger->work, evaluation = ledger->counted ? fc_load_work(problem) : 0, end = ledger->left / 2;
    int order[32], n = 0;
    for (int i = 0; fc_strategies[i]; i++) {
        const char *name = fc_strategies[i]->name;
        chosen[i] = !ledger->counted || searches(name) || i == 0;
        work[i] = ledger->counted && !fc_strategies[i]->argument ? fc_strategy_work(problem, name) + evaluation : 0;
        if (searches(name) || fc_strategies[i]->argument) continue;
        int at = n++;
        for (; at > 0 && i > 0 && work[order[at - 1]] > work[i]; at--) order[at] = order[at - 1];
        order[at] = i;
    }
    for (int k = 0; k < n && ledger->counted; k++) {
        int i = order[k];
        chosen[i] = chosen[i] || end + work[i] <= ledger->left;
        if (chosen[i]) ledger->left -= work[i] < ledger->left ? work[i] : ledger->left;
    }
}

/* The problem of a row: searches know the rows before them, and have what is left of the budget; `exact` comes after
 * `optimize` and gets as much where it fits. */
static struct fc_map_problem row_problem(const struct answer *a, const struct ledger *ledger, const char *strategy)
{
    struct fc_map_problem problem = fc_map_problem_of(&a->arguments->ask, a->session, a->demand);
    uint32_t n_nodes = problem.nodes ? (uint32_t)problem.n_nodes : problem.net->n_nodes;
    bool two = problem.demand->n_tasks <= FC_EXACT_MOST && n_nodes <= FC_EXACT_MOST;
    problem.bound = &a->bound;
    problem.made = ledger->made;
    problem.n_made = ledger->n_made;
    if (ledger->counted && searches(strategy))
        problem.time_s = fmax(1e-9, (double)ledger->left / FC_WORK_PER_S / (two ? 2 : 1));
    return problem;
}

static enum fc_code try_all(struct answer *a, size_t most, struct fc_mapping *mappings, struct fc_status *st)
{
    struct fc_map_problem whole = fc_map_problem_of(&a->arguments->ask, a->session, a->demand);
    struct ledger ledger = {.counted = !whole.starts_free, .left = fc_work_of_s(whole.time_s)};
    bool chosen[32];
    choose_rows(&whole, &ledger, chosen);
    for (int i = 0; fc_strategies[i] && a->n < most; i++) {
        const char *name = fc_strategies[i]->name;
        struct fc_map_problem problem = row_problem(a, &ledger, name);
        struct row *row = &a->rows[a->n];
        if (fc_strategies[i]->argument) continue;
        if (!chosen[i]) {
            double cost_s = (double)ledger.work[i] / FC_WORK_PER_S;
            if (!a->arguments->quiet)
                fc_note("%s left out: it may take %.2g s, more than --time leaves it", name, cost_s);
            continue;
        }
        struct fc_status why = {0}; /* a strategy that does not fit this traffic or network is left out */
        if (try_strategy(a, &problem, name, row, &mappings[a->n], &why) == FC_FAULT) {
            *st = why;
            return st->code;
        }
        if (why.code) fc_mapping_free(&mappings[a->n]);
        if (why.code && !a->arguments->quiet) fc_note("%s left out: %s", name, why.message);
        if (why.code) continue;
        if (row->links.max_link_s < a->rows[a->best].links.max_link_s) a->best = a->n;
        if (!searches(name))
            ledger.made[ledger.n_made++] =
                (struct fc_map_made){name, &mappings[a->n], row->links.max_link_s, row->load.hop_bytes};
        a->n++;
    }
    return a->n ? FC_OK : fc_refuse(st, FC_NO, "no strategy fits");
}

static enum fc_code try_one(struct answer *a, const char *strategy, struct fc_mapping *mapping, struct fc_status *st)
{
    struct fc_map_problem problem = fc_map_problem_of(&a->arguments->ask, a->session, a->demand);
    problem.bound = &a->bound;
    return try_strategy(a, &problem, strategy, &a->rows[0], mapping, st);
}

/* ---- the command ---- */

static enum fc_code write_file(const struct answer *a, const struct fc_mapping *mapping, struct fc_status *st)
{
    FC_SCOPED(fc_launch_free) struct fc_launch job = {0};
    if (!a->format) return fc_mapping_write(mapping, a->arguments->output, st);
    struct fc_map_problem problem = fc_map_problem_of(&a->arguments->ask, a->session, a->demand);
    if (!fc_launch_start(&problem, mapping, &job, st)) {
        job.long_mapping = a->arguments->long_mapping;
        fc_launch_write(&job, a->format, a->arguments->output, st);
    }
    return st->code;
}

/* The strategy asked for, "all" by default, and the format of the file. */
static enum fc_code read_arguments(const struct fc_arguments *arguments, const char **wanted,
                                   const struct fc_launcher_format **format, struct fc_status *st)
{
    *wanted = arguments->ask.map ? arguments->ask.map : "all";
    if (arguments->compare && strcmp(*wanted, "all"))
        return fc_refuse(st, FC_INPUT, "--compare tables all strategies, and --strategy asks for '%s'", *wanted);
    if ((arguments->output || arguments->format) && !strcmp(*wanted, "all"))
        return fc_refuse(st, FC_INPUT, "%s writes one mapping (expected --strategy with one name)",
                         arguments->output ? "-o" : "--format");
    *format = arguments->format ? fc_launcher_find(arguments->format) : NULL;
    if (arguments->format && !*format && strcmp(arguments->format, "cores"))
        return fc_launcher_unknown(arguments->format, st);
    if (arguments->plot && (arguments->output || arguments->format) &&
        (!arguments->output || !strcmp(arguments->output, "-")))
        return fc_refuse(st, FC_INPUT,
                         "--plot: the mapping goes to standard output instead of a table (expected -o FILE)");
    bool to_stdout = !arguments->output || !strcmp(arguments->output, "-");
    if (arguments->json && to_stdout && (arguments->format || arguments->output))
        return fc_refuse(st, FC_INPUT, "--json and the mapping both go to standard output (expected -o FILE)");
    return FC_OK;
}

/* --plot: the table as bars, each mapping in percent of what no mapping is under; where that is unknown, of its own
 * bound. */
static enum fc_code plot(const struct answer *a, struct fc_status *st)
{
    static const char *const names[] = {"percent-of-peak", NULL};
    bool known = a->bound.time_s > 0;
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    struct fc_plot_peak *bars = fc_alloc(&arena, a->n, sizeof *bars, st);
    const char *title =
        fc_plot_title(a->arguments, &arena, st, "%s: %s, %u tasks, routing %s", a->session->machine.name,
                      a->arguments->ask.trace ? fc_last_part(a->arguments->ask.trace) : a->demand->name,
                      a->demand->n_tasks, a->session->machine.routing->name);
    for (size_t i = 0; !st->code && i < a->n; i++)
        bars[i] = (struct fc_plot_peak){
            a->rows[i].strategy, known ? 100 / (1 + gap_percent(a, &a->rows[i]) / 100) : percent_of_peak(&a->rows[i]),
            NAN, a->rows[i].links.max_link_s};
    const char *axis = known ? "bound of every mapping / time (%)" : "of peak (%): bound of the mapping / time";
    if (!st->code && !fc_plot_percent_of_peak(a->arguments->plot, title, axis, bars, a->n, st))
        fc_print_plots(a->arguments, names);
    return st->code;
}

static enum fc_code deliver(const struct answer *a, const struct fc_mapping *mapping, struct fc_status *st)
{
    struct fc_arguments to_stdout = *a->arguments;
    bool file = a->arguments->output || a->arguments->format;
    if (file && write_file(a, mapping, st)) return st->code;
    if (file && (!a->arguments->output || !strcmp(a->arguments->output, "-"))) return FC_OK;
    to_stdout.output = NULL;
    fc_deliver(&to_stdout, a->arguments->json ? to_json(a) : NULL, print, a, st);
    return st->code || !a->arguments->plot ? st->code : plot(a, st);
}

static enum fc_code run(const struct fc_arguments *arguments, struct fc_status *st)
{
    FC_SCOPED(fc_session_close) struct fc_session session = {0};
    FC_SCOPED(fc_demand_free) struct fc_demand demand = {0};
    struct fc_mapping mapping[32] = {0};
    struct row rows[32] = {0};
    struct answer answer = {.arguments = arguments, .session = &session, .demand = &demand, .rows = rows};
    const char *wanted;
    if (read_arguments(arguments, &wanted, &answer.format, st) ||
        (arguments->plot && fc_plots_check(arguments->plot, st)) ||
        fc_open_machine(arguments, arguments->ask.machine, &session, st))
        return st->code;
    fc_session_only_rates(&session, st);
    struct fc_other_traffic other = {0};
    if (!st->code && !fc_other_traffic_of(&arguments->ask, &session, FC_NONE, &session.arena, &other, st))
        answer.background = fc_other_traffic_text(&other, &session.arena, st);
    if (!st->code && !fc_job_demand(&arguments->ask, &session, &demand, st)) {
        if (find_bound(&answer, wanted, st))
            answer.n = 0;
        else if (!strcmp(wanted, "all"))
            try_all(&answer, FC_COUNT(rows), mapping, st);
        else if (!try_one(&answer, wanted, &mapping[0], st))
            answer.n = 1;
        if (!st->code) deliver(&answer, &mapping[0], st);
    }
    for (size_t i = 0; i < FC_COUNT(rows); i++) {
        fc_load_free(&rows[i].load);
        fc_mapping_free(&mapping[i]);
    }
    return st->code;
}

const struct fc_command fc_command_map = {
    .name = "map",
    .summary = "a task mapping, its percent of peak and gap to the bound; writes it for a launcher; compares "
               "strategies",
    .example = "fabricast map -m percs-64 -p stencil4d:grid=16x16x16x16,bytes=2MiB --strategy all",
    .options = FC_A_JOB | FC_GROUPS(FC_LAUNCH, FC_PLOT),
    .run = run,
    .swept = "",
};
