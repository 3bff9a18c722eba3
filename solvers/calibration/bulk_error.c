/* bulk_error.c - the error of a process over closed runs (bulk.c) that covers nine of ten.
 *
 * A case's score is by how many standard deviations of the process its log ratio was off, with its network, or its kind, left
 * out. Kinds differ: all-to-all is found to a percent, permutations are not. So the score counts in those of its kind,
 *
 *     s_k^2 = (sum over the kind of score^2 + SHRINK x mean of all) / (cases of the kind + SHRINK)
 *
 * and with q the ceil((n + 1) COVER)-th least of score / s of all n cases (split conformal prediction with normalised scores:
 * Vovk, Gammerman & Shafer 2005; Lei et al., J. Am. Stat. Assoc. 113, 2018) an answer of a kind that was run is stated with
 * exp(q s_k x standard deviation) - 1; one of another, by the scores with kinds left out, s = 1. Limit: cases of one network are
 * alike, so nine of ten is of networks like those that were run. */
#include "solvers/calibration/bulk.h"
#include "core/values.h"

#include <stdlib.h>
#include <string.h>

#define COVER 0.9
#define SHRINK 4.0

/* The greatest where n is too small for the rule. */
static double covering(double *value, uint32_t n)
{
    qsort(value, n, sizeof *value, fc_by_real);
    return value[(uint32_t)fmin(ceil((n + 1) * COVER), n) - 1];
}

static double scale_of(const struct fc_bulk *bulk, const char *kind)
{
    double all = 0, own = 0, n = 0;
    for (uint32_t i = 0; i < bulk->n_cases; i++) {
        double score = bulk->cases[i].network_score;
        bool is_own = !strcmp(bulk->cases[i].kind, kind);
        all += score * score / bulk->n_cases;
        own += is_own ? score * score : 0;
        n += is_own;
    }
    return sqrt((own + SHRINK * all) / (n + SHRINK));
}

double fc_bulk_covers(const struct fc_bulk *bulk, const char *kind)
{
    double score[FC_KRIGING_MOST_POINTS];
    uint32_t n = bulk->n_cases < FC_KRIGING_MOST_POINTS ? bulk->n_cases : FC_KRIGING_MOST_POINTS;
    if (n == 0) return NAN;
    for (uint32_t i = 0; i < n; i++) {
        const struct fc_bulk_case *c = &bulk->cases[i];
        uint32_t first = 0; /* of its kind: what it has is the kind's */
        if (!*kind) {
            score[i] = c->kind_score;
            continue;
        }
        while (strcmp(bulk->cases[first].kind, c->kind)) first++;
        double scale = scale_of(bulk, bulk->cases[first].kind);
        score[i] = scale > 0 ? c->network_score / scale : 0;
    }
    return covering(score, n) * (*kind ? scale_of(bulk, kind) : 1);
}
