/* compare.c - jobs on machines side by side. Of times t_mj and weights w_j the mean of machine m is
 *
 *     exp(sum_j w_j ln t_mj / sum_j w_j)
 *
 * the geometric mean, since ratios of machines by it do not depend on the machine they are taken against (Fleming & Wallace,
 * CACM 29(3), 1986). A machine is on the front of cost and mean where no other is at least as good in both and better in one.
 *
 * A calibrated time is nearer to the kernel than a bound; a machine with a calibration beside one without would lose by it
 * alone. So, unless told otherwise, all rows have one or none has. Limit: errors of jobs are added up as if they went together. */
#include "answer/compare.h"
#include "answer/answer.h"
#include "mapping/floor_plan.h"

#include <string.h>

const char *const fc_tier_names[] = {"theory", "family", "calibrated"};
const char *const fc_tiers_names[] = {"same", "own", "theory", NULL};

struct work {
    struct fc_question q;
    const struct fc_job_set *set;
    const char *const *names; /* of machines, as asked for */
    struct fc_session *sessions;
    size_t n_open;
    struct fc_comparison *out;
    struct fc_status *st;
};

/* Appends to the refusal what it is of: the job's line, as its place where it has none, and the machine (NULL: of none). */
static void name_cell(struct work *w, const struct fc_set_job *job, const char *machine)
{
    struct fc_status *st = w->st;
    size_t used = strlen(st->message), room = sizeof st->message - used;
    const char *comma = machine ? ", machine " : "";
    if (*st->file)
        snprintf(st->message + used, room, " (job of %.200s:%ld%s%.200s)", w->set->file, job->line, comma,
                 machine ? machine : "");
    else if (machine)
        snprintf(st->message + used, room, " (machine %.200s)", machine);
    if (*st->file) return;
    snprintf(st->file, sizeof st->file, "%s", w->set->file);
    st->line = job->line;
}

static enum fc_code open_machines(struct work *w, enum fc_tiers tiers)
{
    struct fc_comparison *out = w->out;
    bool all = true, some = false;
    for (size_t i = 0; i < out->n; i++) {
        const struct fc_bulk *bulk = NULL;
        struct fc_session *s = &w->sessions[i];
        if (fc_session_open(&w->q, w->names[i], s, w->st)) {
            if (!*w->st->file) {
                size_t used = strlen(w->st->message);
                snprintf(w->st->message + used, sizeof w->st->message - used, " (machine %.200s)", w->names[i]);
            }
            return w->st->code;
        }
        w->n_open++;
        if (tiers != FC_TIERS_THEORY && fc_session_calibrate(s, &bulk, w->st)) return w->st->code;
        out->machines[i].tier = !bulk ? FC_TIER_THEORY : bulk->n_relatives ? FC_TIER_FAMILY : FC_TIER_CALIBRATED;
        if (!bulk && all) out->without = fc_copy_text(&out->arena, s->machine.name, w->st);
        all &= bulk != NULL;
        some |= bulk != NULL;
    }
    out->mixed_tiers = tiers == FC_TIERS_OWN && some && !all;
    out->tiers_lowered = tiers == FC_TIERS_SAME && some && !all;
    w->q.uncalibrated = tiers == FC_TIERS_THEORY || out->tiers_lowered;
    for (size_t i = 0; w->q.uncalibrated && i < out->n; i++) out->machines[i].tier = FC_TIER_THEORY;
    return w->st->code;
}

static enum fc_code describe(struct work *w, size_t i)
{
    struct fc_comparison *out = w->out;
    struct fc_compared_machine *to = &out->machines[i];
    const struct fc_machine *m = &w->sessions[i].machine;
    to->name = fc_copy_text(&out->arena, m->name, w->st);
    to->title = fc_copy_text(&out->arena, m->title, w->st);
    to->routing = fc_copy_text(&out->arena, m->routing->name, w->st);
    to->currency = fc_copy_text(&out->arena, m->cost.currency, w->st);
    to->n_classes = m->n_classes;
    to->class_names = fc_alloc(&out->arena, (size_t)m->n_classes, sizeof *to->class_names, w->st);
    for (int c = 0; to->class_names && c < m->n_classes; c++)
        to->class_names[c] = fc_copy_text(&out->arena, m->classes[c].name, w->st);
    to->n_nodes = w->sessions[i].net.n_nodes;
    to->cells = fc_alloc(&out->arena, out->n_jobs, sizeof *to->cells, w->st);
    struct fc_floor_plan plan;
    FC_SCOPED(fc_arena_free) struct fc_arena racks = {0};
    if (fc_floor_plan_make(&w->sessions[i].net, &racks, &plan, w->st)) return w->st->code;
    fc_network_cost(&w->sessions[i].net, &plan, &to->cost);
    return w->st->code;
}

static enum fc_code keep(struct work *w, const struct fc_answer *answer, struct fc_compared_cell *cell)
{
    const struct fc_prediction *p = &answer->p;
    *cell = (struct fc_compared_cell){p->time_s,
                                      p->communication_s,
                                      p->percent_of_peak,
                                      p->error_percent,
                                      p->error_against,
                                      answer->n_tasks,
                                      fc_copy_text(&w->out->arena, answer->bottleneck, w->st),
                                      fc_copy_text(&w->out->arena, answer->mapping, w->st)};
    if (!(cell->time_s > 0)) return fc_refuse(w->st, FC_NO, "takes no time, so it has no mean with others");
    return w->st->code;
}

static enum fc_code predict(struct work *w, struct fc_predicted_job *job, size_t i, struct fc_compared_cell *cell)
{
    const char *map = w->q.map ? w->q.map : "def";
    FC_SCOPED(fc_demand_free) struct fc_demand demand = {0};
    FC_SCOPED(fc_answer_free) struct fc_answer answer = {0};
    if (!fc_job_traffic(job, &w->q, &w->sessions[i], &map, 1, &demand, w->st)) {
        if (!fc_answer_placed(&w->q, &w->sessions[i], job, &demand, map, &answer, w->st)) keep(w, &answer, cell);
    }
    return w->st->code;
}

/* One job on all machines: a trace is opened once. */
static enum fc_code run_job(struct work *w, size_t j)
{
    const struct fc_set_job *one = &w->set->jobs[j];
    FC_SCOPED(fc_job_close) struct fc_predicted_job job = {0};
    w->q.trace = one->kind == FC_SET_TRACE ? one->what : NULL;
    w->q.pattern = one->kind == FC_SET_PATTERN ? one->what : NULL;
    w->q.graph = one->kind == FC_SET_GRAPH ? one->what : NULL;
    if (fc_job_open(&w->q, &job, w->st)) name_cell(w, one, NULL);
    for (size_t i = 0; i < w->out->n && !w->st->code; i++) {
        struct fc_compared_cell *cell = &w->out->machines[i].cells[j];
        if (predict(w, &job, i, cell)) name_cell(w, one, w->names[i]);
        w->out->uneven_tasks |= cell->n_tasks != w->out->machines[0].cells[j].n_tasks;
        if (w->q.watcher && w->q.watcher->progress)
            fc_progress_show(w->q.watcher->progress,
                             (double)(j * w->out->n + i + 1) / (double)(w->out->n * w->out->n_jobs),
                             "jobs on machines");
    }
    return w->st->code;
}

static void find_means(const struct work *w)
{
    struct fc_comparison *out = w->out;
    double weights = 0;
    for (size_t j = 0; j < out->n_jobs; j++) weights += w->set->jobs[j].weight;
    for (size_t i = 0; i < out->n; i++) {
        struct fc_compared_machine *m = &out->machines[i];
        double logarithm = 0, error = 0;
        for (size_t j = 0; j < out->n_jobs; j++) {
            double part = w->set->jobs[j].weight / weights;
            logarithm += part * log(m->cells[j].time_s);
            error += part * m->cells[j].error_percent;
        }
        m->mean_s = exp(logarithm);
        m->error_percent = error;
        m->relative = m->mean_s / out->machines[0].mean_s;
    }
}

static void find_front(struct fc_comparison *out)
{
    const char *first = NULL;
    out->one_currency = true;
    for (size_t i = 0; i < out->n; i++) {
        if (isnan(out->machines[i].cost.total)) continue;
        if (!first) first = out->machines[i].currency;
        out->one_currency &= !strcmp(out->machines[i].currency, first);
    }
    out->currency = first ? first : "";
    for (size_t i = 0; i < out->n; i++) {
        struct fc_compared_machine *m = &out->machines[i];
        m->on_front = out->one_currency && !isnan(m->cost.total);
        for (size_t k = 0; m->on_front && k < out->n; k++) {
            const struct fc_compared_machine *o = &out->machines[k];
            if (o->cost.total <= m->cost.total && o->mean_s <= m->mean_s &&
                (o->cost.total < m->cost.total || o->mean_s < m->mean_s))
                m->on_front = false;
        }
    }
}

enum fc_code fc_compare(const struct fc_question *q, const struct fc_job_set *set, const char *const *machines,
                        size_t n, enum fc_tiers tiers, struct fc_comparison *out, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    struct work w = {.q = *q, .set = set, .names = machines, .out = out, .st = st};
    *out = (struct fc_comparison){.n = n, .n_jobs = set->n};
    w.q.time_only = true;
    out->machines = fc_alloc(&out->arena, n, sizeof *out->machines, st);
    w.sessions = fc_alloc(&scratch, n, sizeof *w.sessions, st);
    if (!st->code) open_machines(&w, tiers);
    for (size_t i = 0; i < n && !st->code; i++) describe(&w, i);
    for (size_t j = 0; j < set->n && !st->code; j++) run_job(&w, j);
    if (!st->code) {
        find_means(&w);
        find_front(out);
    }
    for (size_t i = 0; i < w.n_open; i++) fc_session_close(&w.sessions[i]);
    return st->code;
}

FC_FREES(fc_comparison_free, fc_comparison)
