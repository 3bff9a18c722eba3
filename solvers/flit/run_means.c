/* run_means.c - where a run has settled, and how precisely its means are known.
 *
 * Settled, MSER-5 (White, Simulation 69(6), 1997; White, Cobb & Spratt, Proc. Winter Simulation Conf. 2000): of the means
 * Y_1 .. Y_n of groups of five observations cut the first d that leave the least
 *     z(d) = sum over i > d of (Y_i - mean of those)^2 / (n - d)^2,
 * the squared standard error as if they were independent. An observation is here what arrived of the packets born in a
 * slot of time, and a group is five slots. A quarter of the groups is always left: few are alike by chance. A cut in the second
 * half of the run says that the run is too short.
 *
 * Precision, batch means (Law & Kelton, Simulation Modeling and Analysis, section 9.5.3) with a control variate (Lavenberg &
 * Welch, Management Science 27(3), 1981; Law & Kelton, section 11.4): how many packets a batch of births holds is random, with
 * a known mean, and a batch with more of them has longer queues. So with batches' sums s_i and weights w_i, R = sum s / sum w,
 * deviations y_i = (s_i - R w_i) / mean w, and births in excess x_i = births_i / expected - 1,
 *     mean = R - b mean(x),   b the slope of y over x,   half width = t(n - 2, 0.975) x standard error of y at x = 0.
 * It halves the variance of latencies (docs/notes/flit.md). Batches are joined in pairs while what is left of one
 * correlates with the next by more than 0.2.
 *
 * Limits: intervals hold for batches that are much longer than what the network remembers; joined batches are few, and
 * their correlation is known only roughly. How often they hold the mean: tests/validate_precision.c. */
#include "solvers/flit/run.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

int fc_flit_mser5_cut(const double *mean, int n)
{
    int best = 0;
    double least = INFINITY, sum = 0, squares = 0;
    for (int d = n - 1; d >= 0; d--) { /* from the end: sums over i >= d */
        double size = n - d;
        sum += mean[d] - mean[n - 1]; /* near 0, so that squares do not cancel */
        squares += pow(mean[d] - mean[n - 1], 2);
        double z = (squares - sum * sum / size) / (size * size);
        if (4 * (n - d) >= n && n - d >= 2 && z <= least) { /* of equals the longest rest */
            least = z;
            best = d;
        }
    }
    return best;
}

/* y over x: slope, sum of squares that is left, correlation of neighbours in what is left, sum of squares of x. */
struct line {
    double slope, left, lag1, xx;
};

static struct line fit(const double *y, const double *x, int n)
{
    struct line l = {0};
    double x_mean = 0, y_mean = 0, xy = 0, before = 0;
    for (int i = 0; i < n; i++) {
        x_mean += x[i] / n;
        y_mean += y[i] / n;
    }
    for (int i = 0; i < n; i++) {
        l.xx += (x[i] - x_mean) * (x[i] - x_mean);
        xy += (x[i] - x_mean) * (y[i] - y_mean);
    }
    l.slope = l.xx > 0 ? xy / l.xx : 0;
    for (int i = 0; i < n; i++) {
        double e = y[i] - y_mean - l.slope * (x[i] - x_mean);
        l.left += e * e;
        l.lag1 += i ? e * before : 0;
        before = e;
    }
    l.lag1 = l.left > 0 ? l.lag1 / l.left : 0;
    return l;
}

struct fc_flit_mean fc_flit_controlled_mean(const struct fc_flit_series *series, int most)
{
    double sum[FC_FLIT_MOST_BATCHES], weight[FC_FLIT_MOST_BATCHES], births[FC_FLIT_MOST_BATCHES];
    double y[FC_FLIT_MOST_BATCHES], x[FC_FLIT_MOST_BATCHES], all = 0, weights = 0, born = 0;
    double expected = series->expected_births;
    int n = series->n;
    for (int i = 0; i < n; i++) {
        all += sum[i] = series->sum[i];
        weights += weight[i] = series->weight[i];
        born += births[i] = series->births[i];
    }
    struct fc_flit_mean m = {weights > 0 ? all / weights : (double)NAN, NAN, n};
    if (!(weights > 0) || n < 4 || !(expected > 0)) return m;
    struct line l;
    double excess = born / n / expected - 1;
    for (;; n /= 2, expected *= 2) {
        for (int i = 0; i < n; i++) {
            y[i] = (sum[i] - m.mean * weight[i]) / (weights / n);
            x[i] = births[i] / expected - 1;
        }
        l = fit(y, x, n);
        if (n < 16 || (n < 2 * most && l.lag1 <= 0.2)) break;
        for (int i = 0; i < n / 2; i++) { /* an odd last batch stays out */
            sum[i] = sum[2 * i] + sum[2 * i + 1];
            weight[i] = weight[2 * i] + weight[2 * i + 1];
            births[i] = births[2 * i] + births[2 * i + 1];
        }
        if (n % 2) weights *= (n - 1.0) / n;
    }
    double r = fmin(fmax(l.lag1, 0), 0.8), again = (1 + r) / (1 - r);
    double at_0 = 1.0 / n + (l.xx > 0 ? excess * excess / l.xx : 0);
    m.mean -= l.slope * excess;
    m.half_width = gsl_cdf_tdist_Pinv(0.975, n - 2) * sqrt(l.left / (n - 2) * at_0 * again);
    m.batches = n;
    return m;
}
