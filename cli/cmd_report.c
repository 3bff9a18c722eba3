/* cmd_report.c - `report`: one page of a job on a machine under two mappings: the answer, where the links are
 * hot before and after, histograms, mappings, and what it was made from. */
#include "cli/command.h"
#include "cli/print.h"
#include "cli/report_words.h"
#include "cli/version.h"
#include "cli/watch.h"
#include "models/link_map.h"
#include "plots/page.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_INPUTS = 16, MOST_HELPS = 10 };

struct answer {
    const struct fc_arguments *arguments;
    struct fc_session session;
    struct fc_arena arena;
    struct fc_answer row[2];
    json_t *prediction[2];
    struct fc_picture map;
    struct fc_page page;
    struct fc_page_line inputs[MOST_INPUTS];
    struct fc_page_facts facts;
};

/* ---- figures of the links ---- */

static void summarise_classes(struct answer *a)
{
    const struct fc_network *net = &a->session.net;
    struct fc_page *page = &a->page;
    for (int i = 0; i < 2; i++)
        for (uint32_t l = 0; l < net->n_links; l++) {
            struct fc_page_class *k = &page->side[i].classes[net->link_class[l]];
            double bytes = a->row[i].link_bytes[l];
            k->count++;
            k->used += bytes > 0;
            k->mean_bytes += bytes;
            k->max_bytes = fmax(k->max_bytes, bytes);
            k->max_busy_s = fmax(k->max_busy_s, a->row[i].link_busy_s[l]);
            page->most_bytes[net->link_class[l]] = fmax(page->most_bytes[net->link_class[l]], bytes);
        }
    for (int i = 0; i < 2; i++)
        for (int c = 0; c < net->machine->n_classes; c++) {
            struct fc_page_class *k = &page->side[i].classes[c];
            if (k->used) k->mean_bytes /= (double)k->used;
        }
}

static void count_bins(struct answer *a)
{
    const struct fc_network *net = &a->session.net;
    for (int i = 0; i < 2; i++)
        for (uint32_t l = 0; l < net->n_links; l++) {
            double bytes = a->row[i].link_bytes[l], most = a->page.most_bytes[net->link_class[l]];
            if (bytes <= 0) continue;
            int bin = (int)(bytes / most * FC_PAGE_BINS);
            a->page.side[i].classes[net->link_class[l]].bins[bin < FC_PAGE_BINS ? bin : FC_PAGE_BINS - 1]++;
        }
}

/* The links that are busy longest, most first, by insertion; equal ones in the order of their numbers. */
static enum fc_code find_hottest(struct answer *a, int side, struct fc_status *st)
{
    struct fc_page_side *s = &a->page.side[side];
    uint32_t hot[FC_PAGE_HOT];
    const double *busy_s = a->row[side].link_busy_s;
    for (uint32_t l = 0; l < a->session.net.n_links; l++) {
        if (busy_s[l] <= 0 || (s->n_hot == FC_PAGE_HOT && busy_s[l] <= busy_s[hot[FC_PAGE_HOT - 1]])) continue;
        int at = s->n_hot < FC_PAGE_HOT ? s->n_hot++ : FC_PAGE_HOT - 1;
        for (; at > 0 && busy_s[hot[at - 1]] < busy_s[l]; at--) hot[at] = hot[at - 1];
        hot[at] = l;
    }
    for (int i = 0; i < s->n_hot; i++) {
        char name[700];
        s->hot[i] =
            (struct fc_page_link){fc_copy_text(&a->arena, fc_link_name(&a->session.net, hot[i], name, sizeof name), st),
                                  a->row[side].link_bytes[hot[i]], busy_s[hot[i]]};
    }
    return st->code;
}

/* ---- words ---- */

/* What `put` prints of the row, without its line end. */
static const char *text_of(struct answer *a, void (*put)(FILE *stream, const struct fc_answer *row),
                           const struct fc_answer *row, struct fc_status *st)
{
    struct fc_memory_stream out;
    const char *copy = NULL;
    if (fc_memory_open(&out, st)) return NULL;
    put(out.stream, row);
    if (!fc_memory_close(&out, st)) {
        if (out.size && out.text[out.size - 1] == '\n') out.text[out.size - 1] = 0;
        copy = fc_copy_text(&a->arena, out.text, st);
    }
    free(out.text);
    return copy;
}

static void print_error(FILE *stream, const struct fc_answer *row)
{
    fc_print_error(stream, row->calibration, row->calibration_from, &row->p);
}

/* "200 ms: computation 51 ms, communication 100 ms, waiting 49 ms, input/output 0 s" */
static void print_split(FILE *stream, const struct fc_answer *row)
{
    char text[64];
    const struct fc_prediction *p = &row->p;
    fprintf(stream, "%s: ", fc_format(text, sizeof text, p->time_s, FC_SECONDS));
    fprintf(stream, "computation %s", fc_format(text, sizeof text, p->computation_s, FC_SECONDS));
    fprintf(stream, ", communication %s", fc_format(text, sizeof text, p->communication_s, FC_SECONDS));
    if (!isnan(p->waiting_s)) fprintf(stream, ", waiting %s", fc_format(text, sizeof text, p->waiting_s, FC_SECONDS));
    if (row->of_trace && isnan(row->io_s))
        fputs(", input/output unknown", stream);
    else if (row->of_trace)
        fprintf(stream, ", input/output %s", fc_format(text, sizeof text, row->io_s, FC_SECONDS));
    fputc('\n', stream);
}

static void add_input(struct answer *a, const char *name, const char *value)
{
    if (value && *value && a->page.n_inputs < MOST_INPUTS)
        a->inputs[a->page.n_inputs++] = (struct fc_page_line){name, value};
}

static const char *printed(struct answer *a, struct fc_status *st, const char *format, ...) FC_PRINTF(3, 4);
static const char *printed(struct answer *a, struct fc_status *st, const char *format, ...)
{
    char text[8192];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    const char *copy = fc_copy_text(&a->arena, text, st);
    return copy ? copy : "";
}

static void list_inputs(struct answer *a, struct fc_status *st)
{
    const struct fc_arguments *arguments = a->arguments;
    const struct fc_network *net = &a->session.net;
    const struct fc_answer *row = a->row;
    char one[64], two[64];
    add_input(a, "program", "fabricast " FC_VERSION);
    add_input(a, "machine", printed(a, st, "%s%s%s", row->machine, *row->title ? ": " : "", row->title));
    add_input(a, "machine data", row->confidence);
    add_input(a, "network",
              printed(a, st, "%s, %u nodes of %lld cores, %u routers, %u links (one a direction), routing %s",
                      net->machine->family->name, net->n_nodes, net->machine->cores_per_node, net->n_routers,
                      net->n_links, row->routing));
    add_input(a, "traffic",
              printed(a, st, "%s, %u tasks, %s between nodes and %s inside them (%s)", row->traffic, row->n_tasks,
                      fc_format(one, sizeof one, row->p.network_bytes, FC_BYTES),
                      fc_format(two, sizeof two, row->p.local_bytes, FC_BYTES), row->mapping));
    add_input(
        a, "mappings",
        printed(a, st, "%s: %s; %s: %s", row[0].mapping, a->page.side[0].note, row[1].mapping, a->page.side[1].note));
    add_input(
        a, "search",
        printed(a, st, "%g s of steps, seed %llu", arguments->ask.search_s, (unsigned long long)arguments->ask.seed));
    for (int i = 0; i < 2; i++)
        add_input(a, i ? "error, after" : "error, before",
                  printed(a, st, "%s: %s", row[i].mapping, a->page.side[i].error));
    for (int i = 0; i < 2; i++)
        add_input(a, i ? "time, after" : "time, before", text_of(a, print_split, &a->row[i], st));
    add_input(a, "best bound", text_of(a, fc_print_best_bound, row, st));
    add_input(a, "calibration", row->calibration ? fc_last_part(row->calibration) : "none");
    add_input(a, "nodes", arguments->ask.nodes);
    add_input(a, "background", row->other_text);
    if (row->period.asked)
        add_input(a, "periods", "the time is extrapolated from periods, loads are of the periods replayed");
    a->page.inputs = a->inputs;
}

static void describe_side(struct answer *a, int i, struct fc_status *st)
{
    const struct fc_answer *row = &a->row[i];
    a->page.side[i] = (struct fc_page_side){
        .label = row->mapping,
        .note = fc_words_mapping(row->mapping),
        .time_s = row->p.time_s,
        .bound_s = row->p.bound_s,
        .percent_of_peak = row->p.percent_of_peak,
        .percent_of_best = fc_answer_percent_of_best(row),
        .against = fc_error_against_words(row->p.error_against),
        .error_percent = row->p.error_percent,
        .bottleneck = row->bottleneck,
        .error = text_of(a, print_error, row, st),
        .link_bytes = row->link_bytes,
        .link_busy_s = row->link_busy_s,
        .node = row->node,
        .prediction = a->prediction[i],
    };
}

/* What would help under the mapping before, where that is asked. */
static void list_helps(struct answer *a, struct fc_status *st)
{
    struct fc_help help[FC_MOST_HELPS];
    struct fc_page *page = &a->page;
    page->helps_asked = a->row[0].sensitivity != NULL;
    page->helps_cut = page->helps_asked && a->row[0].sensitivity->cut;
    int n = page->helps_asked ? fc_answer_helps(&a->row[0], help) : 0;
    struct fc_page_help *helps = fc_alloc(&a->arena, (size_t)n + 1, sizeof *helps, st);
    for (int i = 0; helps && i < n && i < MOST_HELPS; i++)
        helps[page->n_helps++] =
            (struct fc_page_help){fc_copy_text(&a->arena, help[i].change, st), help[i].percent, help[i].at_most};
    page->helps = helps;
}

static enum fc_code describe(struct answer *a, struct fc_status *st)
{
    struct fc_page *page = &a->page;
    const struct fc_answer *row = a->row;
    page->picture = &a->map;
    page->n_tasks = row->n_tasks;
    page->bottleneck_class = -1;
    if (!strcmp(row->p.binds, "link") && row->p.bottleneck != FC_NONE)
        page->bottleneck_class = a->session.net.link_class[row->p.bottleneck];
    for (int i = 0; i < 2; i++) describe_side(a, i, st);
    page->title = printed(a, st, "%s on %s", row->traffic, row->machine);
    page->question = fc_words_unbroken(printed(a, st, "How will %s with %u tasks communicate on %s?", row->traffic,
                                               row->n_tasks, *row->title ? row->title : row->machine),
                                       &a->arena, st);
    page->time = fc_words_time(row->p.time_s, &a->arena, st);
    page->error = fc_words_error(&row->p, &a->arena, st);
    page->command = fc_words_command(a->arguments, &a->arena, st);
    if (st->code) return st->code;
    const char *class_title = page->bottleneck_class < 0 ? NULL : a->map.class_title[page->bottleneck_class];
    const char *bottleneck = fc_words_bottleneck(&row->p, class_title, &a->arena, st);
    const char *speedup = fc_words_speedup(&a->row[0], &a->row[1], &a->arena, st);
    if (st->code) return st->code;
    const char *peak = isnan(row->p.percent_of_peak) ? "percent of peak unknown"
                                                     : printed(a, st, "%.0f %% of peak", row->p.percent_of_peak);
    page->sentence = printed(a, st, "%s; %s; %s", peak, bottleneck, speedup);
    list_inputs(a, st);
    list_helps(a, st);
    summarise_classes(a);
    count_bins(a);
    if (!find_hottest(a, 0, st)) find_hottest(a, 1, st);
    return st->code;
}

/* ---- answer ---- */

/* As other commands write it: "+-42 %", "14.5x faster". */
static void print_plain(FILE *stream, const char *text)
{
    for (; *text; text++)
        if (!strncmp(text, "± ", 3))
            fputs("+-", stream), text += 2;
        else if (!strncmp(text, "µ", 2))
            fputc('u', stream), text++;
        else if (!strncmp(text, "×", 2))
            fputc('x', stream), text++;
        else
            fputc(*text, stream);
}

static void print(FILE *stream, const void *what)
{
    const struct answer *a = what;
    fc_print_machine(&a->session.machine, stream);
    fprintf(stream, "job         %s, %u tasks, routing %s\n\n", a->row->traffic, a->row->n_tasks, a->row->routing);
    fprintf(stream, "%-16s %10s %8s %8s %10s %8s %8s  %s\n", "mapping", "time", "error", "against", "bound", "of peak",
            "of best", "bottleneck");
    for (int i = 0; i < 2; i++) {
        const struct fc_answer *r = &a->row[i];
        char time[64], bound[64], error[32];
        fc_format_error(error, sizeof error, r->p.error_percent);
        const char *against = fc_error_against_name(r->p.error_against);
        char best[32];
        fprintf(stream, "%-16s %10s %8s %8s %10s %8.1f %8s  %s\n", r->mapping,
                fc_format(time, sizeof time, r->p.time_s, FC_SECONDS), error, against ? against : "-",
                fc_format(bound, sizeof bound, r->p.bound_s, FC_SECONDS), r->p.percent_of_peak,
                fc_format_percent(best, sizeof best, fc_answer_percent_of_best(r)), r->bottleneck);
    }
    fputs("\nbest bound  ", stream);
    fc_print_best_bound(stream, a->row);
    fputs("answer      ", stream);
    print_plain(stream, a->page.time);
    fputc(' ', stream);
    print_plain(stream, a->page.error);
    fputs(", ", stream);
    print_plain(stream, a->page.sentence);
    fprintf(stream, "\npage        %s, %.1f KB, loads of %u links", a->arguments->output, (double)a->facts.bytes / 1e3,
            a->facts.n_links);
    if (a->facts.bits < 53) fprintf(stream, " rounded to %d bits", a->facts.bits);
    fputc('\n', stream);
}

static json_t *to_json(const struct answer *a)
{
    json_t *list = json_array();
    for (int i = 0; i < 2; i++) json_array_append(list, a->prediction[i]);
    return json_pack("{s:s, s:I, s:I, s:b, s:o, s:s, s:o}", "page", a->arguments->output, "page_bytes",
                     (json_int_t)a->facts.bytes, "links", (json_int_t)a->facts.n_links, "rounded", a->facts.bits < 53,
                     "speedup",
                     fc_json_real(a->row[1].p.time_s > 0 ? a->row[0].p.time_s / a->row[1].p.time_s : (double)NAN),
                     "answer", a->page.sentence, "predictions", list);
}

static enum fc_code write_page(struct answer *a, struct fc_status *st)
{
    if (fc_link_map_build(&a->session.net, &a->map, st) || describe(a, st) ||
        fc_page_write(&a->page, a->arguments->output, &a->facts, st))
        return st->code;
    struct fc_arguments to_stdout = *a->arguments;
    to_stdout.output = NULL;
    for (int i = 0; i < 2; i++) fc_note_answer(a->arguments, &a->row[i], i ? &a->row[0] : NULL);
    fc_deliver(&to_stdout, a->arguments->json ? to_json(a) : NULL, print, a, st);
    return st->code;
}

/* Refuses at once what could not be written after the search. */
static enum fc_code check_output(const char *path, struct fc_status *st)
{
    struct fc_output out;
    json_t *name = json_string(path);
    if (!name) return fc_refuse(st, FC_INPUT, "-o: the file's name is not UTF-8");
    json_decref(name);
    if (!fc_output_open(&out, path, st)) fc_output_abandon(&out);
    return st->code;
}

static enum fc_code check(const struct fc_arguments *arguments, struct fc_status *st)
{
    const char *network = arguments->ask.network;
    if (!arguments->output || !strcmp(arguments->output, "-"))
        return fc_refuse(st, FC_INPUT, "no page (expected -o FILE.html)");
    if (arguments->ask.machine && strchr(arguments->ask.machine, ','))
        return fc_refuse(st, FC_INPUT, "-m %s: a page is of one machine", arguments->ask.machine);
    if (arguments->ask.trace && network && (!strcmp(network, "ideal") || !strcmp(network, "flit")))
        return fc_refuse(st, FC_INPUT, "--network %s: loads of links are not known (expected contention or queueing)",
                         network);
    return check_output(arguments->output, st);
}

/* The mappings of `--map A --versus B`, or of `--map A,B` as predict takes it; `chosen`: the second is not the default. */
static enum fc_code two_maps(const struct fc_arguments *arguments, struct fc_arena *arena, const char *maps[2],
                             bool *chosen, struct fc_status *st)
{
    const char **listed;
    size_t n = 0;
    if (arguments->ask.map && fc_split_list(arguments->ask.map, arena, &listed, &n, st)) return st->code;
    if (n > 2 || (n == 2 && arguments->versus))
        return fc_refuse(st, FC_INPUT, "--map %s%s%s: a page is of two mappings", arguments->ask.map,
                         arguments->versus ? " --versus " : "", arguments->versus ? arguments->versus : "");
    for (size_t i = 0; i < n; i++) maps[i] = listed[i];
    if (arguments->versus) maps[1] = arguments->versus;
    *chosen = n == 2 || arguments->versus;
    return FC_OK;
}

static enum fc_code run(const struct fc_arguments *arguments, struct fc_status *st)
{
    struct answer *a = calloc(1, sizeof *a);
    FC_SCOPED(fc_job_close) struct fc_predicted_job job = {0};
    FC_SCOPED(fc_demand_free) struct fc_demand demand = {0};
    struct fc_watch watch;
    if (!a) return fc_out_of_memory(st, "the page");
    a->arguments = arguments;
    const char *maps[2] = {"def", "optimize"};
    bool chosen = false;
    if (!check(arguments, st) && !two_maps(arguments, &a->arena, maps, &chosen, st) &&
        !fc_job_open(&arguments->ask, &job, st) &&
        !fc_open_machine(arguments, arguments->ask.machine, &a->session, st)) {
        struct fc_question q = fc_watch_start(arguments, &watch);
        q.keep_links = true;
        bool made = !fc_job_traffic(&job, &q, &a->session, maps, 2, &demand, st);
        if (demand.n_dense > 0 && !chosen) maps[1] = "random"; /* optimize searches over messages */
        made = made && !fc_answer_placed(&q, &a->session, &job, &demand, maps[0], &a->row[0], st);
        q.sensitivity = false; /* of the mapping before alone */
        made = made && !fc_answer_placed(&q, &a->session, &job, &demand, maps[1], &a->row[1], st);
        fc_watch_end(&watch);
        for (int i = 0; made && i < 2; i++) a->prediction[i] = fc_answer_json(&a->row[i]);
        if (made) write_page(a, st);
        fc_link_map_free(&a->map);
        fc_session_close(&a->session);
    }
    for (int i = 0; i < 2; i++) json_decref(a->prediction[i]), fc_answer_free(&a->row[i]);
    fc_arena_free(&a->arena);
    free(a);
    return st->code;
}

const struct fc_command fc_command_report = {
    .name = "report",
    .summary = "one self-contained page: prediction, link heat maps, histograms and mapping, before and after",
    .example = "fabricast report -m percs-64 -p stencil4d:grid=16x16x16x16,bytes=2MiB -o page.html",
    .options = FC_A_JOB | FC_GROUPS(FC_MAP, FC_VERSUS, FC_REPLAY, FC_WHY, FC_SPEED),
    .run = run,
};
