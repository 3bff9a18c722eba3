/* cmd_predict.c - `predict`: time, communication, percent of peak, bottleneck and error band of a job on one or several
 * machines under one or several mappings. */
#include "answer/screen.h"
#include "cli/option_rules.h"
#include "cli/print.h"
#include "cli/print_sensitivity.h"
#include "cli/queue_print.h"
#include "cli/watch.h"
#include "cli/weakest_print.h"
#include "core/hostlist.h"
#include "models/hosts.h"
#include "plots/plots.h"

#include <stdlib.h>
#include <string.h>

struct report {
    struct fc_prediction_row *rows;
    size_t n;
    size_t
        n_screened; /* lists of nodes of which these rows are the best few, the middle one and the worst; 0: all are here */
    struct fc_weakest *weakest;    /* of the only row; NULL: not asked for */
    struct fc_start_choices queue; /* n 0: not asked for; else the rows are its candidates */
    double repeat;
    size_t n_failed;                        /* rows of the queue without an answer */
    const struct fc_prediction_row *failed; /* the first of them */
};

/* More lists of nodes than MOST_LISTS on one machine are screened, and the best few are predicted. */
enum { MOST_LISTS = 32, BEST_LISTS = 10 };

/* ---- printing ---- */

static void print_assumed(FILE *stream, const struct fc_answer *row)
{
    if (row->assumed_flops_per_s > 0)
        fprintf(stream,
                "assumed        %g operations/s: the trace counts operations and does not tell (--flops-per-s)\n",
                row->assumed_flops_per_s);
}

static void print_period(FILE *stream, const struct fc_period_row *row)
{
    char a[64];
    if (!row->asked) return;
    if (!row->use.replayed) {
        fprintf(stream, "period         not used, replayed in full: %s\n", row->use.why);
        return;
    }
    fprintf(stream, "period         %llu of %llu replayed; the last doubling moved the time by %.2g %%\n",
            (unsigned long long)row->use.replayed, (unsigned long long)row->use.repeats, row->use.change_percent);
    if (isnan(row->full_time_s))
        fprintf(stream, "period error   not measured (--period check replays in full too)\n");
    else
        fprintf(stream, "period error   %+.2g %%: in full the time is %s\n", row->error_percent,
                fc_format(a, sizeof a, row->full_time_s, FC_SECONDS));
}

static double share(const struct fc_prediction *p, double part_s)
{
    return p->time_s > 0 ? 100 * part_s / p->time_s : 0;
}

/* What the time consists of. */
static void print_split(FILE *stream, const struct fc_answer *row)
{
    char a[64];
    const struct fc_prediction *p = &row->p;
    char scale[32];
    snprintf(scale, sizeof scale, row->compute_scale == round(row->compute_scale) ? "%.1f" : "%.4g",
             row->compute_scale);
    fprintf(stream, "computation    %s", fc_format(a, sizeof a, p->computation_s, FC_SECONDS));
    if (!row->of_trace)
        fputc('\n', stream);
    else if (row->assumed_flops_per_s > 0)
        fprintf(stream, " (x%s)\n", scale);
    else
        fprintf(stream, " as recorded (x%s)\n", scale);
    fprintf(stream, "communication  %s (%.1f %% of the time)\n", fc_format(a, sizeof a, p->communication_s, FC_SECONDS),
            share(p, p->communication_s));
    if (!row->of_trace) return;
    if (isnan(p->waiting_s))
        fprintf(stream, "waiting        not told from communication\n");
    else
        fprintf(stream, "waiting        %s (%.1f %%) for ranks that compute longer\n",
                fc_format(a, sizeof a, p->waiting_s, FC_SECONDS), share(p, p->waiting_s));
    if (isnan(row->io_s))
        fprintf(stream, "input/output   unknown, none in the time: the program can call %s\n", row->io_why);
    else
        fprintf(stream, "input/output   %s: none recorded\n", fc_format(a, sizeof a, row->io_s, FC_SECONDS));
}

static void print_one(FILE *stream, const struct fc_answer *row)
{
    char a[64], b[64];
    const struct fc_prediction *p = &row->p;
    fputs("machine        ", stream);
    fc_print_name(stream, row->machine, row->title);
    fprintf(stream, "job            %s, %u tasks, mapping %s, routing %s\n", row->traffic, row->n_tasks, row->mapping,
            row->routing);
    print_assumed(stream, row);
    if (row->of_trace) fprintf(stream, "collectives    by the rules %s\n", row->collectives);
    fprintf(stream, "time           %s\n", fc_format(a, sizeof a, p->time_s, FC_SECONDS));
    print_split(stream, row);
    fprintf(stream, "bound          %s: %s\n", fc_format(a, sizeof a, p->bound_s, FC_SECONDS),
            row->period.use.replayed ? "extrapolated from periods, as the time is"
                                     : "no run with this mapping and routing is faster");
    bool is_bound = isnan(p->error_percent) && p->percent_of_peak > 99.95 && p->bottleneck != FC_NONE;
    fprintf(stream, "of peak        %.1f %%%s\n", p->percent_of_peak,
            is_bound ? ": the time is the bound itself; how far the routers stay below it is not measured" : "");
    fprintf(stream, "best bound     ");
    fc_print_best_bound(stream, row);
    if (p->bottleneck == FC_NONE)
        fprintf(stream, "bottleneck     %s\n", p->binds);
    else
        fprintf(stream, "bottleneck     %s carries %s; %s binds\n", row->bottleneck,
                fc_format(a, sizeof a, p->bottleneck_bytes, FC_BYTES), p->binds);
    fprintf(stream, "error          ");
    fc_print_error(stream, row->calibration, row->calibration_from, p);
    if (row->other_text) fprintf(stream, "background     %s\n", row->other_text);
    fprintf(stream, "traffic        %s between nodes, %s inside, %s hop-bytes\n",
            fc_format(a, sizeof a, p->network_bytes, FC_BYTES), fc_format(b, sizeof b, p->local_bytes, FC_BYTES),
            isnan(row->hop_bytes) ? "unknown" : fc_format((char[64]){0}, 64, row->hop_bytes, FC_BYTES));
    if (row->n_unmatched_sends || row->n_unmatched_receives)
        fprintf(stream, "left over      %llu messages that nobody received, %llu receives that got nothing\n",
                (unsigned long long)row->n_unmatched_sends, (unsigned long long)row->n_unmatched_receives);
    if (row->n_uneven_calls)
        fprintf(stream, "uneven         %llu collective calls whose members recorded different bytes\n",
                (unsigned long long)row->n_uneven_calls);
    print_period(stream, &row->period);
    if (row->sensitivity) fc_print_sensitivity(stream, row);
    if (*row->confidence) fprintf(stream, "machine data   %s\n", row->confidence);
}

static void print(FILE *stream, const void *what)
{
    const struct report *report = what;
    if (report->queue.n) {
        fc_print_queue(stream, &report->queue, report->rows, report->repeat);
        return;
    }
    if (report->n == 1) {
        print_one(stream, &report->rows->answer);
        if (report->weakest) fc_print_weakest(stream, report->weakest);
        return;
    }
    fprintf(stream, "%s, %u tasks\n", report->rows->answer.traffic, report->rows->answer.n_tasks);
    print_assumed(stream, &report->rows->answer);
    fprintf(stream, "\n");
    if (report->n_screened)
        fprintf(
            stream,
            "the best %d of %zu lists of nodes by loads of links and distances, and the middle and the last of them\n\n",
            BEST_LISTS, report->n_screened);
    bool by_nodes = report->rows->nodes != NULL;
    fprintf(stream, "%-16s %-12s %10s %8s %8s %8s %8s %8s  %s%s\n", "machine", "mapping", "time", "comm %", "of peak",
            "of best", "error", "against", by_nodes ? "nodes; " : "", "bottleneck");
    for (size_t i = 0; i < report->n; i++) {
        const struct fc_answer *r = &report->rows[i].answer;
        char time[64], error[32], machine[256];
        fc_format_error(error, sizeof error, r->p.error_percent);
        const char *against = fc_error_against_name(r->p.error_against);
        char best[32];
        fprintf(stream, "%-16s %-12s %10s %8.1f %8.1f %8s %8s %8s  %s%s%s\n",
                fc_visible(machine, sizeof machine, r->machine, ""), r->mapping,
                fc_format(time, sizeof time, r->p.time_s, FC_SECONDS), share(&r->p, r->p.communication_s),
                r->p.percent_of_peak, fc_format_percent(best, sizeof best, fc_answer_percent_of_best(r)), error,
                against ? against : "-", by_nodes ? report->rows[i].nodes : "", by_nodes ? "; " : "", r->bottleneck);
    }
    for (size_t i = 0; i < report->n; i++) {
        const struct fc_answer *r = &report->rows[i].answer;
        if (!r->sensitivity) continue;
        fputc('\n', stream);
        fc_print_visible(stream, r->machine);
        fprintf(stream, " %s\n", r->mapping);
        fc_print_sensitivity(stream, r);
    }
}

/* ---- the command ---- */

/* What the rows have in common. */
struct asking {
    const struct fc_arguments *arguments;
    struct fc_question q; /* changes with the list of nodes */
    struct fc_predicted_job job;
    const char **machines, **maps;
    size_t n_machines, n_maps;
    struct fc_weakest *weakest; /* NULL: not asked for */
    int most_timelines;         /* the first so many predictions have one */
};

static enum fc_code predict_machine(struct asking *s, const char *name, struct fc_prediction_row *rows,
                                    struct fc_status *st)
{
    FC_SCOPED(fc_session_close) struct fc_session session = {0};
    FC_SCOPED(fc_demand_free) struct fc_demand demand = {0};
    if (fc_session_open(&s->q, name, &session, st)) return st->code;
    fc_note_buffer(s->arguments, name, &session.machine);
    if (fc_check_options(s->arguments, &session.machine, NULL, st) ||
        fc_job_traffic(&s->job, &s->q, &session, s->maps, s->n_maps, &demand, st))
        return st->code;
    for (size_t i = 0; i < s->n_maps && !st->code; i++) {
        s->q.keep_timeline = s->most_timelines > 0;
        fc_answer_placed(&s->q, &session, &s->job, &demand, s->maps[i], &rows[i].answer, st);
        s->most_timelines -= rows[i].answer.timeline != NULL;
    }
    if (s->weakest && !st->code)
        fc_answer_weakest(&s->q, &session, &s->job, &demand, &rows->answer, s->arguments->weakest, s->weakest, st);
    return st->code;
}

/* ---- several lists of nodes ---- */

static int by_time(const void *a, const void *b)
{
    const struct fc_prediction_row *x = a, *y = b;
    double left = x->answer.p.time_s, right = y->answer.p.time_s;
    if (left != right) return left < right ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

/* One candidate. */
struct nodes {
    const char *given; /* as --nodes has it */
    long line;         /* of the file that it names; 0: all of it */
    const char *label;
};
struct node_lists {
    struct nodes *list; /* [n] */
    size_t n;           /* 0: no --nodes */
};

/* Every --nodes, and of a file with several candidate lists every line. */
static enum fc_code find_lists(const struct fc_arguments *arguments, struct fc_arena *arena, struct node_lists *lists,
                               struct fc_status *st)
{
    size_t n = (size_t)arguments->n_node_lists, most = 0;
    struct fc_host_line **line = fc_alloc(arena, n + 1, sizeof *line, st);
    size_t *n_lines = fc_alloc(arena, n + 1, sizeof *n_lines, st);
    for (size_t i = 0; !st->code && i < n; i++) {
        const char *text = arguments->node_lists[i];
        if (fc_nodes_in_file(text)) fc_host_file_lists(text + (*text == '@'), arena, &line[i], &n_lines[i], st);
        most += n_lines[i] ? n_lines[i] : 1;
    }
    if (st->code || !(lists->list = fc_alloc(arena, most + 1, sizeof *lists->list, st))) return st->code;
    for (size_t i = 0; i < n; i++) {
        const char *text = arguments->node_lists[i];
        if (!n_lines[i]) lists->list[lists->n++] = (struct nodes){text, 0, text};
        for (size_t k = 0; k < n_lines[i]; k++)
            lists->list[lists->n++] = (struct nodes){text, line[i][k].line, line[i][k].text};
    }
    return FC_OK;
}

static int by_score(const void *a, const void *b)
{
    const struct fc_screened *x = a, *y = b;
    if (x->score_s != y->score_s) return x->score_s < y->score_s ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Leaves the best few of very many lists, the middle one and the last, by screening. All of them stay where lists do not mean the
 * same on the machine as a whole: where nodes differ in kind, where something has failed, where hosts or traffic of others go by
 * the list. */
static enum fc_code screen_lists(struct asking *s, struct node_lists *lists, struct fc_arena *arena,
                                 struct report *report, struct fc_status *st)
{
    struct fc_question whole = s->q; /* the lists are read one by one */
    FC_SCOPED(fc_session_close) struct fc_session session = {0};
    FC_SCOPED(fc_demand_free) struct fc_demand demand = {0};
    whole.nodes = NULL;
    struct fc_screened *screened = fc_alloc(arena, lists->n, sizeof *screened, st);
    struct fc_status without_list = {0};
    if (!screened || fc_session_open(&whole, s->machines[0], &session, &without_list)) return st->code;
    for (size_t i = 0; i < lists->n; i++)
        screened[i] = (struct fc_screened){lists->list[i].label, lists->list[i].line, 0, i};
    bool alike = session.machine.kinds.n == 0 && !session.machine.damaged && !session.nodes_lost;
    if (alike && !fc_job_demand(&whole, &session, &demand, st) &&
        !fc_screen_nodes(&whole, &session, &demand, screened, lists->n, st)) {
        struct nodes *few = fc_alloc(arena, BEST_LISTS + 2, sizeof *few, st);
        qsort(screened, lists->n, sizeof *screened, by_score);
        for (size_t k = 0; few && k < BEST_LISTS + 2; k++) {
            size_t at = k < BEST_LISTS ? k : k == BEST_LISTS ? lists->n / 2 : lists->n - 1;
            few[k] = lists->list[screened[at].number];
        }
        report->n_screened = lists->n;
        *lists = (struct node_lists){few, BEST_LISTS + 2};
    }
    return st->code;
}

static int by_place(const void *a, const void *b)
{
    const struct fc_prediction_row *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* The candidates of --queue as lists. */
static enum fc_code read_queue(struct asking *s, struct node_lists *lists, struct fc_arena *arena,
                               struct report *report, struct fc_status *st)
{
    struct fc_question whole = s->q; /* others run on what a candidate leaves */
    struct fc_session session, all;  /* what is left; the machine by whose numbers --nodes goes */
    struct fc_demand demand = {0};
    whole.background = whole.background_nodes = NULL;
    whole.n_more = 0;
    report->repeat = s->arguments->repeat ? (double)s->arguments->repeat : 1;
    if (fc_session_open(&whole, s->machines[0], &session, st)) return st->code;
    if (!fc_job_traffic(&s->job, &whole, &session, s->maps, s->n_maps, &demand, st) &&
        (!session.now || !fc_session_open_whole(&whole, s->machines[0], &all, st))) {
        fc_queue_read(&whole, session.now ? &all : &session, session.now, demand.n_tasks, s->arguments->queue,
                      &report->queue, st);
        if (session.now) fc_session_close(&all);
    }
    fc_demand_free(&demand);
    fc_session_close(&session);
    lists->list = fc_alloc(arena, report->queue.n, sizeof *lists->list, st);
    for (size_t i = 0; !st->code && i < report->queue.n; i++)
        lists->list[lists->n++] = (struct nodes){report->queue.candidate[i].nodes, 0, report->queue.candidate[i].label};
    return st->code;
}

/* A candidate of --queue that cannot run there is a row that says why. */
static enum fc_code keep_failure(struct fc_prediction_row *row, struct fc_arena *arena, struct fc_status *st)
{
    char why[sizeof st->file + sizeof st->message + 4];
    snprintf(why, sizeof why, "%s%s%s", st->file, *st->file ? ": " : "", st->message);
    struct fc_status failed = *st;
    *st = (struct fc_status){0};
    fc_answer_free(&row->answer);
    row->why = fc_copy_text(arena, why, st);
    if (st->code) *st = failed;
    return st->code;
}

/* What failed with all candidates fails; else how many have no answer. */
static enum fc_code count_failures(const struct report *report, const struct fc_status *first, size_t *n)
{
    *n = 0;
    for (size_t i = 0; i < report->n; i++) *n += report->rows[i].why != NULL;
    return *n && *n == report->n ? first->code : FC_OK;
}

/* Every machine with every list of nodes, fastest first where there are several lists. */
static enum fc_code predict_all(struct asking *s, const struct node_lists *lists, struct report *report,
                                struct fc_arena *arena, struct fc_status *st)
{
    bool several = lists->n > 1 || report->queue.n;
    struct fc_status first = {0};
    size_t n_lists = several ? lists->n : 1;
    struct fc_prediction_row *rows = report->rows;
    const char *label = "";
    for (size_t i = 0; i < s->n_machines * n_lists && !st->code; i++, rows += s->n_maps) {
        if (several) {
            const struct nodes *nodes = &lists->list[i % n_lists];
            s->q.nodes = nodes->given;
            s->q.nodes_line = nodes->line;
            label = nodes->label;
        }
        predict_machine(s, s->machines[i / n_lists], rows, st);
        if (report->queue.n && (st->code == FC_INPUT || st->code == FC_NO) && !fc_is_out_of_memory(st)) {
            if (!first.code) first = *st, report->failed = rows;
            keep_failure(rows, arena, st);
        }
        for (size_t m = 0; m < s->n_maps && several && !st->code; m++) {
            rows[m].nodes = label;
            rows[m].number = (size_t)(rows + m - report->rows);
        }
    }
    if (!st->code && count_failures(report, &first, &report->n_failed)) {
        *st = first;
        label = lists->list->label;
    }
    if (st->code && several) {
        size_t used = strlen(st->message);
        snprintf(st->message + used, sizeof st->message - used, " (with --nodes %.200s)", label);
    }
    if (!st->code && several)
        qsort(report->rows, report->n, sizeof *report->rows, report->queue.n ? by_place : by_time);
    return st->code;
}

static json_t *to_json(const struct report *report)
{
    if (report->queue.n) return fc_queue_json(&report->queue, report->rows, report->repeat);
    json_t *list = json_array();
    for (size_t i = 0; i < report->n; i++) {
        json_t *row = fc_answer_json(&report->rows[i].answer);
        if (report->rows[i].nodes) json_object_set_new(row, "nodes", json_string(report->rows[i].nodes));
        if (report->weakest) fc_add_weakest(row, report->weakest);
        if (report->n == 1) {
            json_decref(list);
            return row;
        }
        json_array_append_new(list, row);
    }
    json_t *json = json_pack("{s:o}", "predictions", list);
    if (json && report->n_screened) json_object_set_new(json, "screened", json_integer((json_int_t)report->n_screened));
    return json;
}

static enum fc_code deliver(const struct fc_arguments *arguments, const struct report *report, struct fc_arena *arena,
                            struct fc_status *st)
{
    const struct fc_answer *before = NULL;
    for (size_t i = 0; i < report->n; i++) {
        if (report->rows[i].why) continue;
        fc_note_answer(arguments, &report->rows[i].answer, before);
        before = &report->rows[i].answer;
    }
    enum fc_code code = fc_deliver(arguments, arguments->json ? to_json(report) : NULL, print, report, st);
    return code || !arguments->plot ? code : fc_plot_prediction_rows(arguments, report->rows, report->n, arena, st);
}

static enum fc_code run(const struct fc_arguments *arguments, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    struct fc_watch watch;
    struct asking s = {.arguments = arguments};
    FC_SCOPED(fc_weakest_free) struct fc_weakest weakest = {0};
    struct report report = {.weakest = arguments->weakest ? &weakest : NULL};
    struct node_lists lists = {NULL, 0};
    if (!arguments->ask.machine) return fc_refuse(st, FC_INPUT, "no machine (expected -m NAME or -m FILE)");
    if (arguments->plot && fc_plots_check(arguments->plot, st)) return st->code;
    s.q = fc_watch_start(arguments, &watch);
    s.q.keep_links = arguments->plot || arguments->weakest;
    s.weakest = report.weakest;
    s.most_timelines = arguments->plot ? FC_MOST_TIMELINES : 0;
    if (!fc_job_open(&s.q, &s.job, st) &&
        !fc_split_list(arguments->ask.machine, &arena, &s.machines, &s.n_machines, st) &&
        !fc_split_list(arguments->ask.map ? arguments->ask.map : "def", &arena, &s.maps, &s.n_maps, st) &&
        !find_lists(arguments, &arena, &lists, st)) {
        if (arguments->queue)
            read_queue(&s, &lists, &arena, &report, st);
        else if (lists.n > MOST_LISTS && s.n_machines == 1)
            screen_lists(&s, &lists, &arena, &report, st);
        report.n = s.n_machines * s.n_maps * (lists.n > 1 ? lists.n : 1);
        report.rows = st->code ? NULL : fc_alloc(&arena, report.n, sizeof *report.rows, st);
        if (report.rows) predict_all(&s, &lists, &report, &arena, st);
    }
    fc_watch_end(&watch);
    if (!st->code && !deliver(arguments, &report, &arena, st) && report.n_failed)
        fc_refuse(st, FC_NO, "%zu of %zu choices of --queue have no answer; the first: %s", report.n_failed, report.n,
                  report.failed->why);
    for (size_t i = 0; report.rows && i < report.n; i++) fc_answer_free(&report.rows[i].answer);
    fc_queue_free(&report.queue);
    fc_job_close(&s.job);
    return st->code;
}

const struct fc_command fc_command_predict = {
    .name = "predict",
    .summary = "time, communication, percent of peak, bottleneck and error of a job on one or several machines",
    .example = "fabricast predict -t traces/samples/lammps-lj-64.fct -m bgl-64,qsnet-64,percs-16,tmesh-216 "
               "--map def,optimize --plot out",
    .options = FC_A_JOB | FC_GROUPS(FC_MAP, FC_REPLAY, FC_ENDS, FC_WHY, FC_SPEED, FC_PLOT, FC_FAILURES) |
               FC_GROUPS(FC_WAITING),
    .run = run,
    .swept = "",
};
