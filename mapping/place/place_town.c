/* place_town.c - the least sum of distances between all pairs of n different nodes of a mesh, exactly: an
 * "optimal town" (Demaine et al., Integer point sets minimizing average pairwise L1 distance, CGTA 2011).
 *
 * The sum is that of rows plus that of columns, each sum_{i<j} |i - j| h_i h_j of how many points h lie in
 * each row or column. A matrix of zeros and ones with row counts h and column counts g exists if and only if
 * the sorted counts satisfy Gale and Ryser; their order along the mesh is free, so each partition of n takes
 * its best order. Empty rows between others only add. Turn sums count every pair of interfaces once and the
 * pairs of a dimension twice, and a pair is at least one hop apart: least town + n_dims bounds them. They are
 * even: on a chess board with b of the 2 n nodes black, b (2 n - b) pairs are an odd distance apart; those of
 * dimensions among them, which count twice, are odd in number when b is; and b (2 n - b) - b is even. */
#include "mapping/place/place_best.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_POINTS = 16, MOST_PARTITIONS = 231 };

/* A partition of the points, descending, and the least sum of its best order. */
struct counts {
    uint8_t part[MOST_POINTS];
    int n, least;
};

static int compare_parts(const void *a, const void *b)
{
    return *(const uint8_t *)b - *(const uint8_t *)a;
}

/* All compositions of `points`, joined by the partition that they are orders of. Returns how many partitions.
 */
static int partitions(int points, struct counts *list)
{
    int n_list = 0;
    for (uint32_t cuts = 0; cuts < 1u << (points - 1); cuts++) {
        uint8_t part[MOST_POINTS] = {1};
        int n = 1, sum = 0, at = 0;
        for (int i = 0; i + 1 < points; i++) {
            if (cuts >> i & 1) part[n++] = 0;
            part[n - 1]++;
        }
        for (int i = 0; i < n; i++)
            for (int j = 0; j < i; j++) sum += (i - j) * part[i] * part[j];
        qsort(part, (size_t)n, 1, compare_parts);
        while (at < n_list && memcmp(list[at].part, part, sizeof part)) at++;
        if (at == n_list) {
            memcpy(list[n_list].part, part, sizeof part);
            list[n_list].n = n;
            list[n_list++].least = sum;
        }
        if (sum < list[at].least) list[at].least = sum;
    }
    return n_list;
}

/* Gale and Ryser: for each k the k largest row counts fit into the columns: sum_{i<k} h_i <= sum_j min(g_j,
 * k). */
static bool fit(const struct counts *rows, const struct counts *columns)
{
    int have = 0;
    for (int k = 1; k <= rows->n; k++) {
        int room = 0;
        have += rows->part[k - 1];
        for (int j = 0; j < columns->n; j++) room += columns->part[j] < k ? columns->part[j] : k;
        if (have > room) return false;
    }
    return true;
}

int fc_town_least(uint32_t rows, uint32_t columns, int points)
{
    struct counts list[MOST_PARTITIONS];
    int least = -1;
    if (points < 2) return 0;
    int n = partitions(points, list);
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++) {
            if ((uint32_t)list[a].n > rows || (uint32_t)list[b].n > columns || !fit(&list[a], &list[b])) continue;
            if (least < 0 || list[a].least + list[b].least < least) least = list[a].least + list[b].least;
        }
    return least < 0 ? points * (points - 1) / 2 : least;
}

int fc_town_pairs(const struct fc_place_model *m)
{
    if (m->chip.n_axes > 2) return m->n * (m->n - 1) / 2;
    return fc_town_least(m->chip.n_axes == 1 ? 1 : m->chip.side[0], m->chip.side[m->chip.n_axes - 1], m->n);
}

int fc_town_bound(const struct fc_place_model *m)
{
    int bound = fc_town_pairs(m) + m->chip.n_dims;
    return bound + bound % 2;
}
