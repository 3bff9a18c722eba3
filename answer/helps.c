/* helps.c - which change would help a job most, in words: twice each bandwidth, half of each cost, no
 * imbalance, an ideal network, and what no mapping can be better than. */
#include "answer/answer.h"

#include <stdlib.h>
#include <string.h>

#define LEAST_PERCENT 0.05

struct helps {
    struct fc_help *help;
    int n;
};

static struct fc_help *add(struct helps *h, double percent)
{
    if (!(percent <= -LEAST_PERCENT) || h->n == FC_MOST_HELPS) return NULL;
    h->help[h->n] = (struct fc_help){.percent = percent};
    return &h->help[h->n++];
}

/* Twice or half, in words. */
static void name_change(const struct fc_sensitivity_row *r, bool doubled, char *out, size_t size)
{
    static const struct {
        const char *parameter, *words;
    } costs[] = {{"send", "cost of a send (o)"},
                 {"recv", "cost of a receive (o)"},
                 {"latency", "latency of routers and wires (L)"},
                 {"gap", "gap between messages (g)"},
                 {"per_byte", "processor time a byte (O)"},
                 {"eager", "eager limit"},
                 {"compute", "computation"},
                 {"imbalance", "imbalance"}};
    const char *times = doubled ? "twice" : "half";
    if (!strncmp(r->parameter, "link:", 5)) {
        bool one = strpbrk(r->parameter + 5, " >") != NULL;
        snprintf(out, size, "%s the bandwidth of %s%s%s", times, one ? "link " : "", r->parameter + 5,
                 one ? "" : " links");
        return;
    }
    for (size_t i = 0; i < FC_COUNT(costs); i++)
        if (!strcmp(r->parameter, costs[i].parameter)) snprintf(out, size, "%s the %s", times, costs[i].words);
}

static int most_first(const void *a, const void *b)
{
    const struct fc_help *x = a, *y = b;
    if (x->percent != y->percent) return x->percent < y->percent ? -1 : 1;
    return strcmp(x->change, y->change);
}

int fc_answer_helps(const struct fc_answer *a, struct fc_help help[FC_MOST_HELPS])
{
    struct helps h = {help, 0};
    struct fc_help *new;
    const struct fc_sensitivity *s = a->sensitivity;
    for (size_t i = 0; i < s->n; i++) {
        const struct fc_sensitivity_row *r = &s->rows[i];
        bool doubled =
            !strcmp(r->unit, "B/s") || (!strcmp(r->parameter, "eager") && r->if_doubled_percent < r->if_halved_percent);
        if (!strcmp(r->parameter, "imbalance")) continue; /* none at all, below */
        if ((new = add(&h, doubled ? r->if_doubled_percent : r->if_halved_percent)))
            name_change(r, doubled, new->change, sizeof new->change);
    }
    if ((new = add(&h, 100 * (s->balanced_s / s->time_s - 1))))
        snprintf(new->change, sizeof new->change, "no imbalance");
    if ((new = add(&h, 100 * (s->ideal_s / s->time_s - 1))))
        snprintf(new->change, sizeof new->change, "an ideal network, where messages do not meet");
    if ((new = add(&h, 100 * (a->best_bound_s / s->time_s - 1)))) {
        snprintf(new->change, sizeof new->change, "the best mapping");
        new->at_most = true;
    }
    qsort(help, (size_t)h.n, sizeof *help, most_first);
    return h.n;
}
