/* reproduce.c - the list of figures, and computing those that are asked for.
 *
 * Groups of figures are independent, so they run side by side, the longest first; what a group gives depends
 * on the settings alone. Progress counts the groups' expected seconds. */
#include "reproduce/figure.h"

#include <stdlib.h>
#include <string.h>

#define FIGURES(X)                                                                                                     \
    X(bgl_response)                                                                                                    \
    X(bgl_hot_region)                                                                                                  \
    X(bgl_alltoall)                                                                                                    \
    X(bgl_escape)                                                                                                      \
    X(bgl_text)                                                                                                        \
    X(bgl_asymmetric)                                                                                                  \
    X(tmesh_layouts)                                                                                                   \
    X(tmesh_links)                                                                                                     \
    X(tmesh_background)                                                                                                \
    X(percs_forms)                                                                                                     \
    X(percs_2d)                                                                                                        \
    X(percs_4d)                                                                                                        \
    X(percs_profile)                                                                                                   \
    X(percs_multicast)                                                                                                 \
    X(percs_300)                                                                                                       \
    X(gemini)                                                                                                          \
    X(qsnet)                                                                                                           \
    X(qsnet_loaded)                                                                                                    \
    X(measured_fugaku)                                                                                                 \
    X(measured_lumi)                                                                                                   \
    X(measured_leonardo)

#define DECLARE(name) extern const struct fc_reproduction_ops fc_reproduction_##name;
#define ENTRY(name) &fc_reproduction_##name,
FIGURES(DECLARE)
const struct fc_reproduction_ops *const fc_reproductions[] = {FIGURES(ENTRY) NULL};
#undef DECLARE
#undef ENTRY

enum { GROUPS = FC_COUNT(fc_reproductions) - 1, MOST_FIGURES = 128 };

/* ---- which ---- */

static bool named(const char *id, const char *word)
{
    size_t n = strlen(word);
    return !strcmp(id, word) || (n > 0 && !strncmp(id, word, n) && id[n] == '-');
}

static enum fc_code unknown(const char *word, struct fc_status *st)
{
    const char *names[MOST_FIGURES];
    size_t n = 0;
    for (const struct fc_reproduction_ops *const *g = fc_reproductions; *g; g++)
        for (int i = 0; i < (*g)->n_figures && n < MOST_FIGURES; i++) names[n++] = (*g)->figures[i].id;
    const char *near = fc_nearest(word, names, n);
    return fc_refuse(st, FC_INPUT, "unknown figure '%.60s'%s%s%s (`fabricast list figures` lists them)", word,
                     near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

/* wanted[g][i] of group g's figure i; FC_INPUT for a word that names none. */
static enum fc_code choose(const char *const *ids, size_t n_ids, bool wanted[][MOST_FIGURES], struct fc_status *st)
{
    for (size_t w = 0; w < (n_ids ? n_ids : 1); w++) {
        bool found = n_ids == 0;
        for (int g = 0; g < GROUPS; g++)
            for (int i = 0; i < fc_reproductions[g]->n_figures; i++) {
                bool fits = n_ids == 0 || named(fc_reproductions[g]->figures[i].id, ids[w]);
                wanted[g][i] = wanted[g][i] || fits;
                found = found || fits;
            }
        if (!found) return unknown(ids[w], st);
    }
    return FC_OK;
}

enum fc_code fc_reproduce_known(const char *const *ids, size_t n_ids, struct fc_status *st)
{
    bool wanted[GROUPS][MOST_FIGURES] = {{false}};
    return choose(ids, n_ids, wanted, st);
}

/* ---- progress over all groups ---- */

struct whole {
    struct fc_progress *progress;
    double total_s, done_s[GROUPS];
};

/* A group's progress: what solvers report lies within from..to of it. */
struct part {
    struct fc_progress progress; /* first: the solvers' self */
    struct whole *whole;
    int group;
    double cost_s, from, to;
    const char *what;
};

static void report(struct part *p, double fraction)
{
    struct whole *w = p->whole;
#pragma omp critical(fc_reproduce_progress)
    {
        double sum = 0;
        w->done_s[p->group] = fmax(w->done_s[p->group], p->cost_s * fmin(fmax(fraction, 0), 1));
        for (int g = 0; g < GROUPS; g++) sum += w->done_s[g];
        fc_progress_show(w->progress, w->total_s > 0 ? sum / w->total_s : 1, p->what);
    }
}

static void show_part(struct fc_progress *self, double done_fraction, const char *what)
{
    struct part *p = (struct part *)self;
    (void)what;
    report(p, p->from + (p->to - p->from) * done_fraction);
}

void fc_reproducing_step(const struct fc_reproducing *how, int i, int n)
{
    if (!how->progress) return;
    struct part *p = (struct part *)how->progress;
    p->from = (double)i / n;
    p->to = (i + 1.0) / n;
    report(p, p->from);
}

/* ---- running ---- */

struct group {
    const struct fc_reproduction_ops *ops;
    struct fc_reproduction *r; /* [n_figures] */
    struct fc_status st;
    struct part part;
};

static int longer(const void *a, const void *b)
{
    const struct group *x = *(const struct group *const *)a, *y = *(const struct group *const *)b;
    double d = y->part.cost_s - x->part.cost_s;
    return d > 0 ? 1 : d < 0 ? -1 : (x > y) - (x < y);
}

static void finish(struct fc_reproduction *r)
{
    const struct fc_figure *f = r->figure;
    if (r->plot.n_series == 0) fc_reproduction_rows(r);
    r->plot.name = f->id;
    r->plot.title = fc_reproduction_text(r, "%s: %s", f->id, f->title);
    r->plot.subtitle =
        fc_reproduction_text(r, "%s; machine %s%s", f->source, f->machine, r->quick ? "; quick run" : "");
}

static void compute(struct group *g, const struct fc_reproduce_settings *settings)
{
    struct fc_reproducing how = {.quick = settings->budget == FC_REPRODUCE_QUICK,
                                 .seed = settings->seed,
                                 .progress = settings->progress ? &g->part.progress : NULL};
    for (int i = 0; i < g->ops->n_figures; i++) {
        g->r[i].figure = &g->ops->figures[i];
        g->r[i].note = "";
        g->r[i].quick = how.quick;
    }
    fc_reproducing_step(&how, 0, 1);
    g->ops->make(&how, g->r, &g->st);
    for (int i = 0; i < g->ops->n_figures && !g->st.code; i++) {
        finish(&g->r[i]);
        if (g->r[i].st.code) g->st = g->r[i].st;
    }
    if (settings->progress) report(&g->part, 1);
}

/* The first failure in the order of the list, with its figure. */
static enum fc_code failure(const struct group *groups, int n, struct fc_status *st)
{
    for (int g = 0; g < n; g++)
        if (groups[g].st.code) {
            char text[1600];
            fc_status_text(&groups[g].st, text, sizeof text);
            return fc_refuse(st, groups[g].st.code, "%s: %.900s", groups[g].ops->figures[0].id, text);
        }
    return FC_OK;
}

/* Hands the wanted figures over and frees the others. */
static enum fc_code collect(struct group *groups, int n_groups, bool wanted[][MOST_FIGURES], bool keep,
                            struct fc_reproduction **list, size_t *n, struct fc_status *st)
{
    *list = NULL;
    *n = 0;
    if (keep && !(*list = calloc(MOST_FIGURES, sizeof **list))) keep = fc_out_of_memory(st, "the figures") == FC_OK;
    for (int g = 0; g < n_groups; g++) {
        int group = groups[g].part.group;
        for (int i = 0; groups[g].r && i < groups[g].ops->n_figures; i++)
            if (keep && wanted[group][i])
                (*list)[(*n)++] = groups[g].r[i];
            else
                fc_reproduction_clear(&groups[g].r[i]);
        free(groups[g].r);
    }
    return st->code;
}

enum fc_code fc_reproduce(const char *const *ids, size_t n_ids, const struct fc_reproduce_settings *settings,
                          struct fc_reproduction **list, size_t *n, struct fc_status *st)
{
    bool wanted[GROUPS][MOST_FIGURES] = {{false}};
    struct group groups[GROUPS] = {{.ops = NULL}}, *order[GROUPS];
    struct whole whole = {.progress = settings->progress};
    int n_groups = 0;
    *list = NULL;
    *n = 0;
    if (settings->threads < 1) return fc_refuse(st, FC_INPUT, "threads: %d (expected 1 or more)", settings->threads);
    if (choose(ids, n_ids, wanted, st)) return st->code;
    for (int g = 0; g < GROUPS; g++) {
        const struct fc_reproduction_ops *ops = fc_reproductions[g];
        bool any = false;
        for (int i = 0; i < ops->n_figures; i++) any = any || wanted[g][i];
        if (!any) continue;
        double cost_s = settings->budget == FC_REPRODUCE_QUICK ? ops->quick_s : ops->full_s;
        struct group *now = &groups[n_groups];
        *now = (struct group){.ops = ops, .r = calloc((size_t)ops->n_figures, sizeof *now->r)};
        if (!now->r) fc_out_of_memory(&now->st, "the figures");
        now->part = (struct part){{.show = show_part}, &whole, g, cost_s, 0, 1, ops->figures[0].id};
        whole.total_s += cost_s;
        order[n_groups++] = now;
    }
    qsort(order, (size_t)n_groups, sizeof *order, longer);
#pragma omp parallel for num_threads(fc_threads(settings->threads)) schedule(dynamic, 1)
    for (int g = 0; g < n_groups; g++)
        if (!order[g]->st.code) compute(order[g], settings);
    failure(groups, n_groups, st);
    return collect(groups, n_groups, wanted, st->code == FC_OK, list, n, st);
}

void fc_reproduce_free(struct fc_reproduction *list, size_t n)
{
    for (size_t i = 0; i < n; i++) fc_reproduction_clear(&list[i]);
    free(list);
}
