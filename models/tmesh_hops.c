/* tmesh_hops.c - hops of dimension-order routes on tori of mesh chips, in closed form.
 *
 * In torus dimension i of size k_i a packet of uniform traffic stays with probability 1/k_i and moves
 * either way with p_i = (k_i - 1) / (2 k_i), on average q_i = kbar_i/2 hops each way (kbar the mean ring
 * distance, Dally & Towles ch. 5). With d() the distance on the mesh, in(i,s) and out(i,s) the bridges by
 * which a packet that moves in direction s enters and leaves a chip, a and b its nodes, the mean of its
 * on-chip hops is
 *
 *   sum_{i,s} [ (q_i - p_i) d(in(i,s), out(i,s))  +  p_i prod_{m<i} 1/k_m  mean_a d(a, out(i,s))
 *             + p_i prod_{m>i} 1/k_m  mean_b d(in(i,s), b) ]
 *   + sum_{i<j,s,t} p_i p_j prod_{i<m<j} 1/k_m  d(in(i,s), out(j,t))  +  prod_m 1/k_m  mean_{a,b} d(a, b).
 *
 * (Derivation ours; tests hold it against every route.) Ties of even rings go either way with 1/2; the
 * diameter takes the longer way. */
#include "models/family_tmesh.h"

double fc_tmesh_mean_turn_hops(const struct fc_tmesh_shape *s)
{
    double sum = 0, pairs = 0;
    for (int i = 0; i < s->n_dims; i++) {
        sum += 2 * fc_tmesh_mesh_hops(s, s->bridge[i][0], s->bridge[i][1]);
        pairs += 2;
        for (int j = i + 1; j < s->n_dims; j++)
            for (int a = 0; a < 2; a++)
                for (int b = 0; b < 2; b++) {
                    sum += fc_tmesh_mesh_hops(s, s->bridge[i][a], s->bridge[j][b]);
                    pairs++;
                }
    }
    return sum / pairs;
}

/* Sum and greatest of the distances from m to the computing nodes of its chip. */
static double hops_to_all(const struct fc_tmesh_shape *s, uint32_t m, double *greatest)
{
    double sum = 0;
    *greatest = 0;
    for (uint32_t n = 0; n < s->n_mesh; n++) {
        double hops = fc_tmesh_mesh_hops(s, m, n);
        if (!fc_tmesh_computes(s, n)) continue;
        sum += hops;
        *greatest = fmax(*greatest, hops);
    }
    return sum;
}

/* Sum of |i - j| over all ordered pairs of things, count[i] of them at place i. */
static double spread(const double *count, uint32_t n)
{
    double sum = 0, before = 0, places_before = 0; /* how many at smaller places, and the sum of their places */
    for (uint32_t i = 0; i < n; i++) {
        sum += 2 * count[i] * (i * before - places_before);
        before += count[i];
        places_before += i * count[i];
    }
    return sum;
}

/* Mean and greatest distance of computing nodes of one chip, a node with itself included: rows and columns
 * apart add up; the greatest lies along a diagonal r + c or r - c. */
static double hops_within(const struct fc_tmesh_shape *s, double *greatest)
{
    double in_row[FC_TMESH_MOST_LINES] = {0}, in_column[FC_TMESH_MOST_LINES] = {0};
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (uint32_t m = 0; m < s->n_mesh; m++) {
        double r = m / s->columns, c = m % s->columns, diagonal[2] = {r + c, r - c};
        if (!fc_tmesh_computes(s, m)) continue;
        in_row[m / s->columns]++;
        in_column[m % s->columns]++;
        for (int i = 0; i < 2; i++) {
            low[i] = fmin(low[i], diagonal[i]);
            high[i] = fmax(high[i], diagonal[i]);
        }
    }
    *greatest = fmax(high[0] - low[0], high[1] - low[1]);
    return (spread(in_row, s->rows) + spread(in_column, s->columns)) / s->n_computing / s->n_computing;
}

static double ring_mean(uint32_t size)
{
    double k = size;
    return size % 2 ? (k - 1 / k) / 4 : k / 4;
}

double fc_tmesh_mean_mesh_hops(const struct fc_tmesh_shape *s, bool between_chips)
{
    double mean = 0, stay = 1, greatest, before = 1;
    for (int d = 0; d < s->n_dims; d++) stay /= s->k[d];
    for (int i = 0; i < s->n_dims; i++) {
        double p = (s->k[i] - 1.0) / (2.0 * s->k[i]), q = ring_mean(s->k[i]) / 2;
        for (int way = 0; way < 2; way++) {
            uint32_t in = fc_tmesh_entry(s, i, way), out = s->bridge[i][way];
            double after = 1;
            mean += (q - p) * fc_tmesh_mesh_hops(s, in, out);
            mean += p * before * hops_to_all(s, out, &greatest) / s->n_computing;
            for (int j = i + 1; j < s->n_dims; j++) {
                double turn = p * after * (s->k[j] - 1.0) / (2.0 * s->k[j]);
                mean += turn * fc_tmesh_mesh_hops(s, in, s->bridge[j][0]);
                mean += turn * fc_tmesh_mesh_hops(s, in, s->bridge[j][1]);
                after /= s->k[j];
            }
            mean += p * after * hops_to_all(s, in, &greatest) / s->n_computing;
        }
        before /= s->k[i];
    }
    if (between_chips) return s->n_chips > 1 ? mean / (1 - stay) : 0;
    return mean + stay * hops_within(s, &greatest);
}

double fc_tmesh_mean_hops(const struct fc_tmesh_shape *s)
{
    double mean = fc_tmesh_mean_mesh_hops(s, false);
    for (int d = 0; d < s->n_dims; d++) mean += ring_mean(s->k[d]);
    return mean;
}

/* longest[i][s]: hops of the longest route up to its last arrival in dimension i, direction s. */
double fc_tmesh_diameter_hops(const struct fc_tmesh_shape *s)
{
    double longest[FC_MAX_DIMS][2], result, far;
    hops_within(s, &result);
    for (int j = 0; j < s->n_dims; j++)
        for (int way = 0; way < 2 && s->k[j] > 1; way++) {
            uint32_t out = s->bridge[j][way], in = fc_tmesh_entry(s, j, way);
            double best, hops = fc_tmesh_reach(s, j);
            hops_to_all(s, out, &best);
            for (int i = 0; i < j; i++)
                for (int a = 0; a < 2 && s->k[i] > 1; a++)
                    best = fmax(best, longest[i][a] + fc_tmesh_mesh_hops(s, fc_tmesh_entry(s, i, a), out));
            longest[j][way] = best + hops + (hops - 1) * fc_tmesh_mesh_hops(s, in, out);
            hops_to_all(s, in, &far);
            result = fmax(result, longest[j][way] + far);
        }
    return result;
}

bool fc_tmesh_computes(const struct fc_tmesh_shape *s, uint32_t m)
{
    for (int d = 0; d < s->n_dims && !s->router_nodes_compute; d++)
        if (s->bridge[d][0] == m || s->bridge[d][1] == m) return false;
    return true;
}
