/* cmd_reproduce.c - `reproduce`: figures and tables of the papers, published value beside ours, and their
 * plots. */
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/heartbeat.h"
#include "cli/print.h"
#include "plots/plots.h"
#include "reproduce/reproduce.h"

#define DIRECTORY "figures"

struct answer {
    struct fc_reproduction *list;
    size_t n;
    const char *directory; /* NULL: nothing drawn */
};

/* ---- text ---- */

static void print_points(const struct fc_reproduction *r, FILE *stream)
{
    static const struct fc_column columns[] = {{"what", FC_CELL_TEXT, NULL, FC_NUMBER, NULL},
                                               {"published", FC_CELL_REAL, "%.4g", FC_NUMBER, NULL},
                                               {"ours", FC_CELL_REAL, "%.4g", FC_NUMBER, NULL},
                                               {"unit", FC_CELL_TEXT, NULL, FC_NUMBER, NULL},
                                               {"deviation", FC_CELL_REAL, "%+.2f", FC_NUMBER, "deviation %"},
                                               {"allowed", FC_CELL_TEXT, NULL, FC_NUMBER, NULL},
                                               {"kind", FC_CELL_TEXT, NULL, FC_NUMBER, NULL},
                                               {"origin", FC_CELL_TEXT, NULL, FC_NUMBER, "by"},
                                               {"verdict", FC_CELL_TEXT, NULL, FC_NUMBER, NULL}};
    FC_SCOPED(fc_table_free) struct fc_table table = {0};
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    struct fc_status st = {0};
    fc_table_start(&table, columns, FC_COUNT(columns));
    for (size_t i = 0; i < r->n_points; i++) {
        const struct fc_point *p = &r->points[i];
        char limits[64];
        struct fc_cell cells[] = {{.text = p->what},
                                  {.real = p->published},
                                  {.real = p->ours},
                                  {.text = p->unit},
                                  {.real = p->deviation_percent},
                                  {.text = fc_copy_text(&arena, fc_point_limits_text(p, limits, sizeof limits), &st)},
                                  {.text = fc_point_kinds[p->kind]},
                                  {.text = fc_point_origins[p->origin]},
                                  {.text = !p->judged  ? "-"
                                           : p->inside ? "inside"
                                                       : "OUTSIDE"}};
        fc_table_row(&table, cells, &st);
    }
    fprintf(stream, "%s: %s\n%s; machine %s%s\n", r->figure->id, r->figure->title, r->figure->source,
            r->figure->machine, r->quick ? "; quick run" : "");
    if (*r->figure->command) fprintf(stream, "like: %s\n", r->figure->command);
    if (*r->note) fprintf(stream, "note: %s\n", r->note);
    fc_table_print(&table, stream);
    for (size_t i = 0; i < r->n_points; i++)
        if (r->points[i].judged && !r->points[i].inside)
            fprintf(stream, "outside: %s: %s\n", r->points[i].what,
                    r->points[i].reason ? r->points[i].reason : "not known why");
    fprintf(stream, "\n");
}

static void print_summary(const struct answer *a, FILE *stream)
{
    static const struct fc_column columns[] = {{"figure", FC_CELL_TEXT, NULL, FC_NUMBER, NULL},
                                               {"points", FC_CELL_INT, NULL, FC_NUMBER, NULL},
                                               {"inside", FC_CELL_INT, NULL, FC_NUMBER, NULL},
                                               {"worst", FC_CELL_REAL, "%+.2f", FC_NUMBER, "worst %"},
                                               {"title", FC_CELL_TEXT, NULL, FC_NUMBER, "what"}};
    FC_SCOPED(fc_table_free) struct fc_table table = {0};
    struct fc_status st = {0};
    size_t judged = 0, inside = 0;
    fc_table_start(&table, columns, FC_COUNT(columns));
    for (size_t i = 0; i < a->n; i++) {
        const struct fc_reproduction *r = &a->list[i];
        struct fc_cell cells[] = {{.text = r->figure->id},
                                  {.integer = (long long)r->n_judged},
                                  {.integer = (long long)r->n_inside},
                                  {.real = fc_reproduction_worst(r)},
                                  {.text = r->figure->title}};
        fc_table_row(&table, cells, &st);
        judged += r->n_judged;
        inside += r->n_inside;
    }
    fc_table_print(&table, stream);
    fprintf(stream, "\n%zu points of %zu figure%s: %zu inside, %zu outside\n", judged, a->n, a->n == 1 ? "" : "s",
            inside, judged - inside);
    if (a->directory) fprintf(stream, "drawn in %s: .tsv, .gp, .png, .svg, .pdf of each\n", a->directory);
}

static void print(FILE *stream, const void *what)
{
    const struct answer *a = what;
    for (size_t i = 0; i < a->n; i++) print_points(&a->list[i], stream);
    print_summary(a, stream);
}

/* ---- JSON: the contract's keys, and what stands beside them ---- */

static json_t *json_of_point(const struct fc_point *p)
{
    json_t *j = json_object();
    json_object_set_new(j, "what", json_string(p->what));
    json_object_set_new(j, "unit", json_string(p->unit));
    json_object_set_new(j, "published", fc_json_real(p->published));
    json_object_set_new(j, "ours", fc_json_real(p->ours));
    json_object_set_new(j, "half_width", fc_json_real(p->half_width));
    json_object_set_new(j, "deviation_percent", fc_json_real(p->deviation_percent));
    json_object_set_new(j, "tolerance_percent", fc_json_real(p->tolerance_percent));
    json_object_set_new(j, "low", fc_json_real(p->judged ? p->low : (double)NAN));
    json_object_set_new(j, "high", fc_json_real(p->judged ? p->high : (double)NAN));
    json_object_set_new(j, "kind", json_string(fc_point_kinds[p->kind]));
    json_object_set_new(j, "origin", json_string(fc_point_origins[p->origin]));
    json_object_set_new(j, "inside", p->judged ? json_boolean(p->inside) : json_null());
    json_object_set_new(j, "reason", p->reason && p->judged && !p->inside ? json_string(p->reason) : json_null());
    return j;
}

static json_t *to_json(const struct answer *a)
{
    json_t *figures = json_array();
    size_t judged = 0, inside = 0;
    for (size_t i = 0; i < a->n; i++) {
        const struct fc_reproduction *r = &a->list[i];
        json_t *points = json_array();
        for (size_t p = 0; p < r->n_points; p++) json_array_append_new(points, json_of_point(&r->points[p]));
        json_array_append_new(figures,
                              json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:o}", "id", r->figure->id, "title",
                                        r->figure->title, "source", r->figure->source, "machine", r->figure->machine,
                                        "command", r->figure->command, "note", r->note, "points", points));
        judged += r->n_judged;
        inside += r->n_inside;
    }
    return json_pack("{s:s, s:i, s:i, s:o}", "budget", a->n && a->list[0].quick ? "quick" : "full", "points_judged",
                     (int)judged, "points_inside", (int)inside, "figures", figures);
}

/* ---- the command ---- */

static enum fc_code draw(const struct answer *a, struct fc_status *st)
{
    for (size_t i = 0; a->directory && i < a->n && !st->code; i++) fc_paper_write(a->directory, &a->list[i].plot, st);
    return st->code;
}

static size_t outside(const struct answer *a)
{
    size_t n = 0;
    for (size_t i = 0; i < a->n; i++) n += a->list[i].n_judged - a->list[i].n_inside;
    return n;
}

static enum fc_code run(const struct fc_arguments *arguments, struct fc_status *st)
{
    struct answer a = {.directory = arguments->output ? arguments->output : arguments->json ? NULL : DIRECTORY};
    struct fc_progress progress;
    struct fc_reproduce_settings settings = {.budget = arguments->quick ? FC_REPRODUCE_QUICK : FC_REPRODUCE_FULL,
                                             .threads = arguments->ask.threads,
                                             .seed = arguments->ask.seed,
                                             .progress = &progress};
    const char *const *ids = (const char *const *)arguments->words;
    size_t n_ids = (size_t)arguments->n_words;
    if (fc_reproduce_known(ids, n_ids, st)) return st->code;
    if (arguments->into && fc_reproduce_document_check(arguments->into, st)) return st->code;
    if (a.directory && fc_plots_check(a.directory, st)) return st->code;
    fc_work_start(&progress, arguments->quiet);
    fc_reproduce(ids, n_ids, &settings, &a.list, &a.n, st);
    fc_work_end(&progress);
    if (!st->code && !draw(&a, st) && arguments->into) fc_reproduce_document(arguments->into, a.list, a.n, st);
    if (!st->code) {
        struct fc_arguments to_screen = *arguments;
        to_screen.output = NULL; /* -o is the figures' directory */
        fc_deliver(&to_screen, arguments->json ? to_json(&a) : NULL, print, &a, st);
    }
    size_t n_outside = outside(&a);
    fc_reproduce_free(a.list, a.n);
    if (!st->code && n_outside)
        fc_refuse(st, FC_NO, "%zu point%s outside", n_outside, n_outside > 1 ? "s lie" : " lies");
    return st->code;
}

const struct fc_command fc_command_reproduce = {
    .name = "reproduce",
    .arguments = "[FIGURE...]",
    .summary = "figures and tables of the papers: published value beside ours, and the plot (`fabricast list "
               "figures`)",
    .example = "fabricast reproduce percs-table4 qsnet -o figures",
    .options = FC_GROUPS(FC_FIGURES, FC_SEED, FC_THREADS, FC_COMMON),
    .run = run,
};
