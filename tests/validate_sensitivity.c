/* validate_sensitivity.c - the derivatives of `predict --sensitivity` against predictions of the job with the parameter changed.
 *
 * Five jobs on four families. For each parameter that matters (its derivative, times its value, is at least LEAST of T) beside the
 * derivative that is told: central differences over several steps h,
 *
 *     (T(v (1 + h)) - T(v / (1 + h))) / (2 ln (1 + h)),
 *
 * and where T jumps what a user would measure, a regression of T on ln v over MANY replays (fewer of long ones) with all parameters
 * of software, latency, computation and classes drawn at once from 10 % up and down; of a single link with this link drawn so and all
 * others moved by 1e-4, which is enough to make T jump. All in percent of T, which is 100 times the exponent by which T follows
 * the parameter.
 *
 * A row is good where it is within CLOSE of itself (and SMALL of T besides) of the difference over one of the steps, or of the
 * regression within two of its standard errors more. Exit status 1 where a parameter other than a single link is not. With a part of a
 * machine's name: only those. `make validate` */
#include "tests/sensitivity_jobs.h"

#include <gsl/gsl_multifit.h>
#include <math.h>

#define LEAST 0.01
#define CLOSE 0.02
#define SMALL 0.002
#define WIDTH 0.1 /* of regression, of ln v */
#define JOLT 1e-4
enum { MANY = 200, FEW = 60, MOST_ROWS = 32, STEPS = 4 };
static const double steps[STEPS] = {1e-6, 1e-4, 1e-2, 1e-1};
#define WORK 1e7 /* replayed events of a regression, which sets how many replays it has */

/* ---- predictions with parameters changed ---- */

/* ln of what each is multiplied by. */
struct change {
    double send, recv, latency, compute, bandwidth[FC_MAX_CLASSES], of_link;
    uint32_t link; /* FC_NONE: none */
};

static double predict(struct work *w, const struct change *by, uint64_t *n_events)
{
    struct fc_machine m = w->session.machine;
    struct fc_network net = w->session.net;
    struct fc_placement placement = {w->mapping.n_tasks, w->mapping.node};
    FC_SCOPED(fc_replay_free) struct fc_replay replay = {0};
    net.machine = &m;
    for (int c = 0; c < m.n_classes; c++) {
        m.classes[c].bandwidth_bytes_per_s *= exp(by->bandwidth[c]);
        m.classes[c].latency_s *= exp(by->latency);
    }
    m.router.delay_s *= exp(by->latency);
    m.software.send_s *= exp(by->send);
    m.software.recv_s *= exp(by->recv);
    m.software.compute_scale *= exp(by->compute);
    struct fc_replay_settings how = {.network = FC_NET_CONTENTION,
                                     .software = m.software,
                                     .collectives = &w->job.collectives,
                                     .calibration = w->bulk ? &w->session.calibration : NULL,
                                     .time_only = true};
    if (by->link != FC_NONE) {
        memset(w->background, 0, net.n_links * sizeof *w->background);
        w->background[by->link] = -expm1(by->of_link) * fc_link_bandwidth(&w->session.net, by->link);
        how.background_bytes_per_s = w->background;
    }
    if (w->job.source.restart(&w->job.source) ||
        fc_replay_source(&net, &w->job.source, &placement, &how, &replay, &w->st)) {
        fprintf(stderr, "validate_sensitivity: %s\n", w->st.message);
        exit(1);
    }
    if (n_events) *n_events = replay.n_events;
    return replay.prediction.time_s;
}

/* ---- a parameter ---- */

struct row {
    const struct fc_sensitivity_row *told;
    size_t at; /* in struct change: what it moves */
    uint32_t link;
    double percent;           /* derivative x value, of T */
    double by_step[STEPS];    /* differences */
    double mean, uncertainty; /* regression and its standard error */
};

/* False: it is none of those that are looked at here. */
static bool find_field(const struct fc_session *s, const char *parameter, struct row *r)
{
    static const struct {
        const char *name;
        size_t at;
    } costs[] = {{"send", offsetof(struct change, send)},
                 {"recv", offsetof(struct change, recv)},
                 {"latency", offsetof(struct change, latency)},
                 {"compute", offsetof(struct change, compute)}};
    r->link = FC_NONE;
    for (size_t i = 0; i < FC_COUNT(costs); i++)
        if (!strcmp(parameter, costs[i].name)) return r->at = costs[i].at, true;
    if (strncmp(parameter, "link:", 5) != 0) return false;
    for (int c = 0; c < s->machine.n_classes; c++)
        if (!strcmp(parameter + 5, s->machine.classes[c].name))
            return r->at = offsetof(struct change, bandwidth) + (size_t)c * sizeof(double), true;
    for (uint32_t l = 0; l < s->net.n_links; l++) {
        char name[300];
        if (strcmp(parameter + 5, fc_link_name(&s->net, l, name, sizeof name)) != 0) continue;
        r->at = offsetof(struct change, of_link);
        r->link = l;
        return true;
    }
    return false;
}

static void set(struct change *by, const struct row *r, double ln)
{
    memcpy((char *)by + r->at, &ln, sizeof ln);
    if (r->link != FC_NONE) by->link = r->link;
}

static void difference(struct work *w, double time_s, struct row *r)
{
    for (int k = 0; k < STEPS; k++) {
        struct change up = {.link = FC_NONE}, down = up;
        set(&up, r, log1p(steps[k]));
        set(&down, r, -log1p(steps[k]));
        r->by_step[k] = 100 * (predict(w, &up, NULL) - predict(w, &down, NULL)) / (2 * log1p(steps[k]) * time_s);
    }
}

/* Of rows[n] at once, in pairs of opposite changes; jolted: these are single links, one of which is drawn, and all others shaken. */
static void regress(struct work *w, double time_s, struct row **rows, size_t n, const struct row *jolted,
                    size_t n_jolted, size_t times, uint64_t seed)
{
    gsl_matrix *x = gsl_matrix_calloc(times, n + 1), *covariance = gsl_matrix_alloc(n + 1, n + 1);
    gsl_vector *y = gsl_vector_alloc(times), *slope = gsl_vector_alloc(n + 1);
    gsl_multifit_linear_workspace *fit = gsl_multifit_linear_alloc(times, n + 1);
    double squares;
    for (size_t i = 0; i < times; i++) {
        struct change by = {.link = FC_NONE};
        double sign = i % 2 ? -1 : 1;
        for (size_t k = 0; k < n_jolted; k++)
            if (jolted[k].link == FC_NONE)
                set(&by, &jolted[k], sign * JOLT * (2 * fc_random_real(seed, 100 + k, i / 2) - 1));
        gsl_matrix_set(x, i, 0, 1);
        for (size_t k = 0; k < n; k++) {
            double ln = sign * WIDTH * (2 * fc_random_real(seed, k, i / 2) - 1);
            gsl_matrix_set(x, i, k + 1, ln);
            set(&by, rows[k], ln);
        }
        gsl_vector_set(y, i, 100 * (predict(w, &by, NULL) / time_s - 1));
    }
    gsl_multifit_linear(x, y, slope, covariance, &squares, fit);
    for (size_t k = 0; k < n; k++) {
        rows[k]->mean = gsl_vector_get(slope, k + 1);
        rows[k]->uncertainty = sqrt(gsl_matrix_get(covariance, k + 1, k + 1));
    }
    gsl_multifit_linear_free(fit);
    gsl_matrix_free(x);
    gsl_matrix_free(covariance);
    gsl_vector_free(y);
    gsl_vector_free(slope);
}

/* How far it is from the nearest difference or the regression, percent of T beyond what is allowed; at most 0: good. */
static double beyond(const struct row *r, double *off)
{
    double near = fmax(0, fabs(r->percent - r->mean) - 2 * r->uncertainty);
    for (int k = 0; k < STEPS; k++) near = fmin(near, fabs(r->percent - r->by_step[k]));
    *off = near;
    return near - CLOSE * fabs(r->percent) - 100 * SMALL;
}

/* ---- a job on a machine ---- */

static int print_rows(const char *machine, const char *job, const struct row *rows, size_t n)
{
    int missed = 0;
    for (size_t i = 0; i < n; i++) {
        const struct row *r = &rows[i];
        double off;
        bool good = beyond(r, &off) <= 0;
        missed += !good && r->link == FC_NONE;
        printf("%-10s %-20s %-34s %8.2f  %-10s", machine, job, r->told->parameter, r->percent, r->told->derivative_by);
        for (int k = 0; k < STEPS; k++) printf(fabs(r->by_step[k]) < 1000 ? " %8.2f" : "        *", r->by_step[k]);
        printf("  %8.2f +- %-5.2f %s\n", r->mean, r->uncertainty, good ? "" : r->link == FC_NONE ? "MISSED" : "corner");
    }
    fflush(stdout);
    return missed;
}

static int compare(struct work *w, const struct fc_question *q, const char *job)
{
    FC_SCOPED(fc_answer_free) struct fc_answer a = {0};
    struct row rows[MOST_ROWS], *together[MOST_ROWS];
    size_t n = 0, n_together = 0;
    uint64_t n_events;
    if (fc_answer_make(q, &a, &w->st)) return fprintf(stderr, "validate_sensitivity: %s\n", w->st.message), 1;
    double time_s = predict(w, &(struct change){.link = FC_NONE}, &n_events);
    if (time_s != a.p.time_s) return fprintf(stderr, "validate_sensitivity: %s: another time\n", job), 1;
    size_t times = 2 * (size_t)fmin(MANY / 2, fmax(FEW / 2, WORK / 2 / (double)n_events));
    for (size_t i = 0; i < a.sensitivity->n && n < MOST_ROWS; i++) {
        struct row *r = &rows[n];
        r->told = &a.sensitivity->rows[i];
        r->percent = 100 * r->told->derivative * r->told->value / time_s;
        if (!find_field(&w->session, r->told->parameter, r) || !(fabs(r->percent) >= 100 * LEAST)) continue;
        difference(w, time_s, r);
        n++;
    }
    for (size_t i = 0; i < n; i++)
        if (rows[i].link == FC_NONE) together[n_together++] = &rows[i];
    regress(w, time_s, together, n_together, NULL, 0, times, 1);
    for (size_t i = 0; i < n; i++) {
        struct row *alone = &rows[i];
        if (rows[i].link != FC_NONE) regress(w, time_s, &alone, 1, rows, n, times / 2, 2 + i);
    }
    return print_rows(q->machine, job, rows, n);
}

static int job_on(const char *machine, size_t j, const struct fc_trace *made)
{
    struct work w;
    struct fc_question q;
    int missed = 1;
    if (open_work(&w, machine, j, made, &q)) {
        w.background = calloc(w.session.net.n_links, sizeof *w.background);
        if (w.background) missed = compare(&w, &q, jobs[j].name);
        if (w.st.code) fprintf(stderr, "validate_sensitivity: %s\n", w.st.message);
    }
    free(w.background);
    close_work(&w);
    return missed;
}

int main(int argc, char **argv)
{
    int missed = 0;
    printf("%-10s %-20s %-34s %8s  %-10s", "machine", "job", "parameter", "told", "by");
    for (int k = 0; k < STEPS; k++) printf("   h=%-4.0e", steps[k]);
    printf("  regression +-10 %% (percent of T; *: 1000 or more)\n");
    for (size_t i = 0; i < FC_COUNT(machines); i++) {
        if (argc > 1 && !strstr(machines[i], argv[1])) continue;
        for (size_t j = 0; j < FC_COUNT(jobs); j++) {
            struct fc_trace trace = {0};
            if (argc > 2 && !strstr(jobs[j].name, argv[2])) continue;
            if (jobs[j].phases && !make(j, &trace)) return 1;
            missed += job_on(machines[i], j, jobs[j].phases ? &trace : NULL);
            if (jobs[j].phases) fc_trace_free(&trace);
        }
    }
    printf("%d parameters missed\n", missed);
    return missed > 0;
}
