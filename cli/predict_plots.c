/* predict_plots.c - `predict --plot`: times, percent of peak, links; of a replay also what the ranks do, as sums and over
 * time, and the throughput between nodes. */
#include "cli/predictions.h"
#include "cli/print.h"
#include "core/timeline.h"
#include "plots/plots.h"

#include <stdlib.h>

struct figures {
    const struct fc_arguments *arguments;
    const struct fc_prediction_row *rows;
    size_t n;
    const char **label; /* [n] "bgl-64 def" */
    const char *title;
    struct fc_arena *arena;
    struct fc_status *st;
};

static bool name_rows(struct figures *f)
{
    f->label = fc_alloc(f->arena, f->n, sizeof *f->label, f->st);
    for (size_t i = 0; f->label && i < f->n; i++) {
        const struct fc_answer *r = &f->rows[i].answer;
        const char *nodes = f->rows[i].nodes;
        char label[256];
        snprintf(label, sizeof label, "%s %s%s%s", r->machine, r->mapping, nodes ? " " : "", nodes ? nodes : "");
        f->label[i] = fc_copy_text(f->arena, label, f->st);
    }
    f->title =
        fc_plot_title(f->arguments, f->arena, f->st, "%s, %u tasks", f->rows->answer.traffic, f->rows->answer.n_tasks);
    return !f->st->code;
}

static int descending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* Times of the links that are busy, most first. */
static void sort_busy(const struct figures *f, const struct fc_answer *r, struct fc_plot_links *links)
{
    double *busy_s = fc_alloc(f->arena, r->n_links, sizeof *busy_s, f->st);
    for (uint32_t l = 0; busy_s && l < r->n_links; l++)
        if (r->link_busy_s[l] > 0) busy_s[links->n++] = r->link_busy_s[l];
    if (busy_s) qsort(busy_s, links->n, sizeof *busy_s, descending);
    links->busy_s = busy_s;
}

static bool plot_times(const struct figures *f)
{
    struct fc_plot_prediction *bars = fc_alloc(f->arena, f->n, sizeof *bars, f->st);
    struct fc_plot_links *links = fc_alloc(f->arena, f->n, sizeof *links, f->st);
    struct fc_plot_peak *peaks = fc_alloc(f->arena, f->n, sizeof *peaks, f->st);
    for (size_t i = 0; !f->st->code && i < f->n; i++) {
        const struct fc_answer *r = &f->rows[i].answer;
        bars[i] = (struct fc_plot_prediction){f->label[i],    r->p.computation_s, r->p.communication_s,
                                              r->p.waiting_s, r->p.bound_s,       r->p.percent_of_peak};
        links[i] = (struct fc_plot_links){f->label[i], NULL, 0};
        sort_busy(f, r, &links[i]);
        peaks[i] = (struct fc_plot_peak){f->label[i], r->p.percent_of_peak, r->p.error_percent, r->p.time_s};
    }
    const char *directory = f->arguments->plot;
    return !f->st->code && !fc_plot_predictions(directory, f->title, bars, f->n, f->st) &&
           !fc_plot_percent_of_peak(directory, f->title, "of peak (%): bound / time", peaks, f->n, f->st) &&
           !fc_plot_link_loads(directory, f->title, links, f->n, f->st);
}

static bool plot_ranks(const struct figures *f)
{
    size_t n = f->n < FC_MOST_RANK_FRAMES ? f->n : FC_MOST_RANK_FRAMES;
    struct fc_plot_ranks *ranks = fc_alloc(f->arena, n, sizeof *ranks, f->st);
    for (size_t i = 0; ranks && i < n; i++) {
        const struct fc_answer *r = &f->rows[i].answer;
        ranks[i] = (struct fc_plot_ranks){f->label[i], r->rank_compute_s, r->rank_finish_s, r->n_tasks, r->p.time_s};
    }
    return ranks && !fc_plot_ranks(f->arguments->plot, f->title, ranks, n, f->st);
}

/* A replay of some periods shows those. */
static const char *course_label(const struct figures *f, size_t i)
{
    const struct fc_period_row *p = &f->rows[i].answer.period;
    char label[320];
    if (!p->use.replayed || !isnan(p->full_time_s)) return f->label[i];
    snprintf(label, sizeof label, "%s (%llu of %llu periods)", f->label[i], (unsigned long long)p->use.replayed,
             (unsigned long long)p->use.repeats);
    return fc_copy_text(f->arena, label, f->st);
}

static bool plot_courses(const struct figures *f)
{
    struct fc_plot_timeline lines[FC_MOST_TIMELINES];
    struct fc_plot_course courses[FC_MOST_TIMELINES];
    size_t n = 0;
    for (size_t i = 0; i < f->n && n < FC_MOST_TIMELINES; i++) {
        const struct fc_timeline *t = f->rows[i].answer.timeline;
        if (!t) continue;
        double *bytes_per_s = fc_alloc(f->arena, t->n_bins, sizeof *bytes_per_s, f->st);
        for (uint32_t b = 0; bytes_per_s && b < t->n_bins; b++) bytes_per_s[b] = t->network_bytes[b] / t->bin_s;
        lines[n] = (struct fc_plot_timeline){course_label(f, i), t};
        char label[400];
        snprintf(label, sizeof label, "%s: payload under way between nodes", lines[n].label);
        courses[n] = (struct fc_plot_course){fc_copy_text(f->arena, label, f->st), bytes_per_s, t->n_bins, t->bin_s};
        n++;
    }
    if (f->st->code) return false;
    double end_s = 0, most = 0;
    for (size_t i = 0; i < n; i++) {
        end_s = fmax(end_s, (double)courses[i].n * courses[i].bin);
        for (size_t b = 0; b < courses[i].n; b++) most = fmax(most, courses[i].value[b]);
    }
    struct fc_time_axis axis = fc_time_axis(end_s);
    char x_label[64];
    double unit = most >= 1e12 ? 1e12 : most >= 1e9 ? 1e9 : 1e6;
    const char *y_label = unit == 1e12 ? "payload (TB/s)" : unit == 1e9 ? "payload (GB/s)" : "payload (MB/s)";
    snprintf(x_label, sizeof x_label, "time (%s)", axis.unit);
    struct fc_plot_throughput throughput = {"s", x_label, "bytes_per_s", y_label, axis.per_s, 1 / unit, courses,
                                            n,   NAN,     NAN,           NAN,     NULL,       NULL};
    const char *directory = f->arguments->plot;
    return !fc_plot_timelines(directory, f->title, lines, n, f->st) &&
           !fc_plot_time_profiles(directory, f->title, lines, n, f->st) &&
           !fc_plot_throughput(directory, f->title, &throughput, f->st);
}

/* Of the first prediction, which the title names. */
static bool plot_sensitivity(const struct figures *f)
{
    const struct fc_sensitivity *s = f->rows->answer.sensitivity;
    const char *title = fc_plot_title(f->arguments, f->arena, f->st, "%s: %s, %u tasks", f->label[0],
                                      f->rows->answer.traffic, f->rows->answer.n_tasks);
    struct fc_plot_change *rows = fc_alloc(f->arena, s->n, sizeof *rows, f->st);
    for (size_t i = 0; rows && i < s->n; i++) {
        const struct fc_sensitivity_row *r = &s->rows[i];
        rows[i] = (struct fc_plot_change){r->parameter, r->if_doubled_percent, r->if_halved_percent};
    }
    return rows && !f->st->code && !fc_plot_sensitivity(f->arguments->plot, title, rows, s->n, f->st);
}

enum fc_code fc_plot_prediction_rows(const struct fc_arguments *arguments, const struct fc_prediction_row *rows,
                                     size_t n, struct fc_arena *arena, struct fc_status *st)
{
    static const char *const of_traffic[] = {"predictions", "percent-of-peak", "link-loads"}, *const of_trace[] = {
                                                                                                  "ranks", "timeline",
                                                                                                  "time-profile",
                                                                                                  "throughput"};
    const char *names[FC_COUNT(of_traffic) + FC_COUNT(of_trace) + 2];
    size_t n_names = 0;
    struct figures f = {arguments, rows, n, NULL, NULL, arena, st};
    bool replayed = arguments->ask.trace != NULL;
    bool sensitive = rows->answer.sensitivity != NULL;
    if (!name_rows(&f) || !plot_times(&f) || (replayed && (!plot_ranks(&f) || !plot_courses(&f))) ||
        (sensitive && !plot_sensitivity(&f)))
        return st->code;
    for (size_t i = 0; i < FC_COUNT(of_traffic); i++) names[n_names++] = of_traffic[i];
    for (size_t i = 0; replayed && i < FC_COUNT(of_trace); i++) names[n_names++] = of_trace[i];
    if (sensitive) names[n_names++] = "sensitivity";
    names[n_names] = NULL;
    fc_print_plots(arguments, names);
    return st->code;
}
