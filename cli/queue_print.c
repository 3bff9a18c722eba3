/* queue_print.c - the table of `predict --queue`. */
#include "cli/queue_print.h"
#include "answer/answer_json.h"

/* Minutes and hours from two of them on. */
static const char *duration(char *out, size_t size, double s)
{
    if (s >= 7200)
        snprintf(out, size, "%.4g h", s / 3600);
    else if (s >= 120)
        snprintf(out, size, "%.4g min", s / 60);
    else
        fc_format(out, size, s, FC_SECONDS);
    return out;
}

static struct fc_queue_choice choose(const struct fc_start_choices *queue, const struct fc_prediction_row *rows,
                                     double repeat)
{
    double run_s[FC_QUEUE_MOST], error[FC_QUEUE_MOST];
    for (size_t i = 0; i < queue->n; i++) {
        run_s[i] = rows[i].why ? NAN : repeat * rows[i].answer.p.time_s;
        error[i] = rows[i].answer.p.error_percent;
    }
    return fc_queue_choose(queue, run_s, error);
}

static double error_of(const struct fc_prediction_row *row)
{
    return isnan(row->answer.p.error_percent) ? FC_QUEUE_ERROR_PERCENT : row->answer.p.error_percent;
}

static void print_row(FILE *stream, const struct fc_queue_candidate *c, const struct fc_prediction_row *row,
                      double repeat, bool best)
{
    char start[32], time[32], run[32], end[32], error[32];
    double run_s = repeat * row->answer.p.time_s;
    if (row->why) {
        fprintf(stream, "%-10s %-8s %10s %10s %8s %10s   %s: %s\n",
                c->start_s > 0 ? duration(start, sizeof start, c->start_s) : "now", c->policy, "-", "-", "-", "never",
                c->label, row->why);
        return;
    }
    snprintf(error, sizeof error, "+-%.0f %%%s", error_of(row), isnan(row->answer.p.error_percent) ? "?" : "");
    fprintf(stream, "%-10s %-8s %10s %10s %8s %10s %s %s\n",
            c->start_s > 0 ? duration(start, sizeof start, c->start_s) : "now", c->policy,
            fc_format(time, sizeof time, row->answer.p.time_s, FC_SECONDS), duration(run, sizeof run, run_s), error,
            duration(end, sizeof end, c->start_s + run_s), best ? "*" : " ", c->label);
}

void fc_print_queue(FILE *stream, const struct fc_start_choices *queue, const struct fc_prediction_row *rows,
                    double repeat)
{
    struct fc_queue_choice c = choose(queue, rows, repeat);
    const struct fc_answer *any = &rows[c.best].answer;
    char a[32], b[32], d[32];
    fprintf(stream, "machine     ");
    fc_print_visible(stream, any->machine);
    fprintf(stream, "\njob         %s, %u tasks on %u nodes, mapping %s", any->traffic, any->n_tasks, queue->n_nodes,
            any->mapping);
    if (repeat > 1) fprintf(stream, ", %.15g times", repeat);
    fprintf(stream, "\nfree now    %u nodes\n\n%-10s %-8s %10s %10s %8s %10s   %s\n", queue->n_free_now, "start",
            "nodes", repeat > 1 ? "once" : "time", "run", "error", "end", "list");
    bool assumed = false;
    for (size_t i = 0; i < queue->n; i++) {
        print_row(stream, &queue->candidate[i], &rows[i], repeat, i == c.best);
        assumed = assumed || (!rows[i].why && isnan(rows[i].answer.p.error_percent));
    }
    const struct fc_queue_candidate *best = &queue->candidate[c.best], *now = &queue->candidate[c.now];
    if (assumed)
        fprintf(stream, "\n?           the error is not known there: %g %% is assumed\n", FC_QUEUE_ERROR_PERCENT);
    else
        putc('\n', stream);
    fprintf(stream, "ends first  %s, start %s%s\n", best->policy, best->start_s > 0 ? "in " : "now",
            best->start_s > 0 ? duration(a, sizeof a, best->start_s) : "");
    if (best->start_s <= now->start_s)
        fprintf(stream, "advice      start%s%s: nothing later ends earlier\n", now->start_s > 0 ? " in " : "",
                now->start_s > 0 ? duration(b, sizeof b, now->start_s) : "");
    else
        fprintf(stream, "advice      %s: it ends %s before the best of those that start first (%s), error %s\n",
                c.wait ? "wait" : "start, waiting gains less than the error", duration(b, sizeof b, c.gain_s),
                now->policy, duration(d, sizeof d, c.error_s));
}

json_t *fc_queue_json(const struct fc_start_choices *queue, const struct fc_prediction_row *rows, double repeat)
{
    struct fc_queue_choice c = choose(queue, rows, repeat);
    json_t *list = json_array();
    for (size_t i = 0; i < queue->n; i++) {
        const struct fc_queue_candidate *k = &queue->candidate[i];
        bool none = rows[i].why != NULL;
        double run_s = none ? NAN : repeat * rows[i].answer.p.time_s;
        json_array_append_new(list, json_pack("{s:o, s:s, s:s, s:s?, s:o, s:o, s:o, s:o, s:b, s:s?}", "start_s",
                                              fc_json_real(k->start_s), "policy", k->policy, "nodes", k->nodes, "hosts",
                                              k->label != k->nodes ? k->label : NULL, "run_s", fc_json_real(run_s),
                                              "end_s", fc_json_real(k->start_s + run_s), "error_s",
                                              fc_json_real(run_s * error_of(&rows[i]) / 100), "prediction",
                                              none ? json_null() : fc_answer_json(&rows[i].answer), "error_assumed",
                                              !none && isnan(rows[i].answer.p.error_percent), "message", rows[i].why));
    }
    return json_pack("{s:I, s:I, s:o, s:o, s:I, s:I, s:o, s:o, s:s}", "nodes_needed", (json_int_t)queue->n_nodes,
                     "nodes_free_now", (json_int_t)queue->n_free_now, "repeat", fc_json_real(repeat), "candidates",
                     list, "best", (json_int_t)c.best, "first", (json_int_t)c.now, "gain_s", fc_json_real(c.gain_s),
                     "gain_error_s", fc_json_real(c.error_s), "advice", c.wait ? "wait" : "start");
}
