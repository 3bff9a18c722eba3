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
#define SHRINK 2.0

/* The greatest where n is too small for the rule. */
static double covering(double *value, uint32_t n)
{
    qsort(value, n, sizeof *value, fc_by_real);
    return value[(uint32_t)fmin(ceil((n + 1) * COVER), n) - 1];
}

/* Of a kind, of all scores that are known. */
static double scale_of(const struct fc_bulk *bulk, const double *score, const char *kind)
{
    double all = 0, n_all = 0, own = 0, n = 0;
    for (uint32_t i = 0; i < bulk->n_cases; i++) {
        if (isnan(score[i])) continue;
        bool is_own = !strcmp(bulk->cases[i].kind, kind);
        all += score[i] * score[i];
        n_all++;
        own += is_own ? score[i] * score[i] : 0;
        n += is_own;
    }
    return sqrt((own + SHRINK * all / n_all) / (n + SHRINK));
}

double fc_bulk_covers_scores(const struct fc_bulk *bulk, const double *score, const char *kind)
{
    double scaled[FC_KRIGING_MOST_POINTS];
    uint32_t n = 0;
    for (uint32_t i = 0; i < bulk->n_cases && n < FC_KRIGING_MOST_POINTS; i++) {
        uint32_t first = 0; /* of its kind: what it has is the kind's */
        if (isnan(score[i])) continue;
        while (strcmp(bulk->cases[first].kind, bulk->cases[i].kind)) first++;
        double scale = scale_of(bulk, score, bulk->cases[first].kind);
        scaled[n++] = scale > 0 ? score[i] / scale : 0;
    }
    return n ? covering(scaled, n) * scale_of(bulk, score, kind) : (double)NAN;
}

double fc_bulk_covers(const struct fc_bulk *bulk, const char *kind)
{
    double score[FC_KRIGING_MOST_POINTS];
    uint32_t n = bulk->n_cases < FC_KRIGING_MOST_POINTS ? bulk->n_cases : FC_KRIGING_MOST_POINTS;
    for (uint32_t i = 0; i < n; i++) score[i] = *kind ? bulk->cases[i].network_score : bulk->cases[i].kind_score;
    if (n == 0 || *kind) return fc_bulk_covers_scores(bulk, score, kind);
    return covering(score, n);
}
