/* test_transit_fair.c - fair rates of flows that come and go, against filling from scratch (fc_maxmin). */
#include "solvers/transit/transit_fair.h"
#include "tests/maxmin.h"
#include "tests/support.h"
#include "tests/tests.h"
#include "tests/transit_mix.h"

#include <math.h>
#include <stdlib.h>

int suite_transit_fair(void);

enum { LINKS = 30, FLOWS = 60, MOST = 6 };
struct world {
    double capacity[LINKS], weight[FLOWS][MOST], blocks[FLOWS], limit;
    uint32_t link[FLOWS][MOST], n[FLOWS], number[FLOWS];
    bool lives[FLOWS], mixes[LINKS];
};

struct arrays {
    const double *capacity;
    const bool *mixes;
};
static double capacity_of(const void *arrays, uint32_t link)
{
    return ((const struct arrays *)arrays)->capacity[link];
}
static bool mixes_of(const void *arrays, uint32_t link)
{
    return ((const struct arrays *)arrays)->mixes[link];
}
/* Links with these capacities, which mix by mixes[]; NULL: none does. One at a time. */
static void open_fair(struct fc_fair *fair, uint32_t n, const double *capacity, const bool *mixes, struct fc_status *st)
{
    static struct arrays arrays;
    arrays = (struct arrays){capacity, mixes};
    struct fc_fair_links links = {capacity_of, mixes_of, &arrays};
    CU_ASSERT_EQUAL_FATAL(fc_fair_open(fair, n, &links, st), FC_OK);
}

/* Equal to fc_maxmin of the flows that live, and `used` to their sum. */
static int compare(struct world *w, const struct fc_fair *fair)
{
    uint64_t first[FLOWS + 1] = {0};
    uint32_t link[FLOWS * MOST], who[FLOWS], n = 0;
    double weight[FLOWS * MOST], rate[FLOWS], used[LINKS] = {0}, capacity[LINKS];
    struct fc_status st = {0};
    int wrong = 0;
    for (uint32_t f = 0; f < FLOWS; f++) {
        if (!w->lives[f]) continue;
        who[n++] = f;
        first[n] = first[n - 1] + w->n[f];
        memcpy(link + first[n - 1], w->link[f], w->n[f] * sizeof *link);
        memcpy(weight + first[n - 1], w->weight[f], w->n[f] * sizeof *weight);
    }
    for (uint32_t l = 0; l < LINKS; l++) {
        double there[FLOWS], blocks[FLOWS];
        uint32_t m = 0;
        for (uint32_t i = 0; i < n; i++)
            for (uint64_t k = first[i]; k < first[i + 1]; k++)
                if (link[k] == l) there[m] = weight[k], blocks[m++] = w->blocks[who[i]];
        capacity[l] = w->capacity[l] * (w->mixes[l] ? part_left(m, there, blocks, NULL, w->limit) : 1);
    }
    CU_ASSERT_EQUAL(fc_maxmin(LINKS, capacity, n, first, link, weight, rate, NULL, &st), FC_OK);
    for (uint32_t i = 0; i < n; i++) {
        double have = fair->flow[w->number[who[i]]].rate;
        wrong += !(fabs(have - rate[i]) <= 1e-9 * rate[i]);
        for (uint64_t k = first[i]; k < first[i + 1]; k++) used[link[k]] += weight[k] * have;
    }
    for (uint32_t l = 0; l < LINKS; l++) wrong += fabs(used[l] - fair->link[l].used) > 1e-9 * w->capacity[l];
    return wrong;
}

static void change_some(struct world *w, struct fc_fair *fair, uint64_t seed, uint64_t step)
{
    uint64_t n = 1 + fc_random_below(seed, 3, step, 4), index = 1000 * step;
    if (step % 10 == 9) n = 30;
    for (int coming = 0; coming < 2; coming++)
        for (uint64_t i = 0; i < n; i++) {
            uint32_t f = (uint32_t)fc_random_below(seed, 4, 100 * step + i, FLOWS);
            if (w->lives[f] == coming) continue;
            w->lives[f] = coming;
            if (!coming) {
                fc_fair_remove(fair, w->number[f]);
                continue;
            }
            w->n[f] = 1 + (uint32_t)fc_random_below(seed, 5, index++, MOST);
            for (uint32_t k = 0; k < w->n[f]; k++) { /* each link once */
                w->link[f][k] = (5 * (uint32_t)fc_random_below(seed, 6, index++, LINKS / MOST) + k) % LINKS;
                for (uint32_t j = 0; j < k; j++)
                    if (w->link[f][j] == w->link[f][k]) w->link[f][k] = (w->link[f][k] + 1) % LINKS, j = UINT32_MAX;
                w->weight[f][k] = seed % 2 ? 1 : (double)(1 + fc_random_below(seed, 7, index++, 8)) / 8;
            }
            w->blocks[f] = (double)fc_random_below(seed, 8, index++, 9) / 8;
            w->number[f] = fc_fair_add(fair, w->n[f], w->link[f], w->weight[f], 1, 1, NULL, 0, w->blocks[f], f);
        }
}

static void rates_from_scratch(void)
{
    int wrong = 0;
    for (uint64_t seed = 0; seed < 80; seed++) {
        struct fc_status st = {0};
        struct fc_fair fair;
        struct world w = {.limit = seed < 40 ? 1 : 0.2 + 0.2 * (double)(seed % 4)};
        for (uint64_t l = 0; l < LINKS; l++) {
            w.capacity[l] = seed % 3 ? exp(3 * fc_random_real(seed, 1, l)) : 1 + (double)(l % 3);
            w.mixes[l] = seed >= 40 && fc_random_below(seed, 9, l, 4) > 0;
        }
        for (uint64_t step = 0; step < 150; step++) {
            if (step % 100 == 0) {
                if (step > 0) fc_fair_close(&fair);
                memset(w.lives, 0, sizeof w.lives);
                open_fair(&fair, LINKS, w.capacity, w.mixes, &st);
                if (seed >= 40) CU_ASSERT_EQUAL_FATAL(fc_fair_lose(&fair, w.limit, FLOWS), FC_OK);
            }
            change_some(&w, &fair, seed, step);
            bool anew = (seed + step / 3) % 4 == 3;
            CU_ASSERT_EQUAL(anew ? fc_fair_solve_anew(&fair) : fc_fair_solve(&fair), FC_OK);
            wrong += compare(&w, &fair);
        }
        fc_fair_close(&fair);
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

/* Two flows to one node have all of a link; a third to another mixes with them: 2/3 of the bytes and 1/3. Halves of flows,
 * as parts of messages are, count as halves. */
static void ends_alike(void)
{
    static const double capacity[1] = {9}, one = 1;
    static const bool mixes[1] = {true};
    static const uint32_t link = 0;
    struct fc_status st = {0};
    struct fc_fair fair;
    double sum = 0;
    open_fair(&fair, 1, capacity, mixes, &st);
    CU_ASSERT_EQUAL_FATAL(fc_fair_lose(&fair, 0.5, 6), FC_OK);
    uint32_t a = fc_fair_add(&fair, 1, &link, &one, 1, 1, NULL, 0, 1, 5),
             b = fc_fair_add(&fair, 1, &link, &one, 1, 1, NULL, 0, 1, 5);
    CU_ASSERT_EQUAL(fc_fair_solve(&fair), FC_OK);
    CU_ASSERT(fc_near(fair.flow[a].rate + fair.flow[b].rate, 9, 1e-9));
    uint32_t c = fc_fair_add(&fair, 1, &link, &one, 1, 1, NULL, 0, 1, 2);
    CU_ASSERT_EQUAL(fc_fair_solve(&fair), FC_OK);
    sum = fair.flow[a].rate + fair.flow[b].rate + fair.flow[c].rate;
    CU_ASSERT(fc_near(sum, 9 * (1 - 0.5 * (1 - 5.0 / 9)), 1e-9));
    fc_fair_remove(&fair, a);
    CU_ASSERT_EQUAL(fc_fair_solve(&fair), FC_OK);
    CU_ASSERT(fc_near(fair.flow[b].rate + fair.flow[c].rate, 9 * (1 - 0.5 * 0.5), 1e-9));
    fc_fair_remove(&fair, c);
    CU_ASSERT_EQUAL(fc_fair_solve(&fair), FC_OK);
    CU_ASSERT(fc_near(fair.flow[b].rate, 9, 1e-9));
    uint32_t part[2];
    for (int i = 0; i < 2; i++) part[i] = fc_fair_add(&fair, 1, &link, &one, 0.5, 1, NULL, 0, 1, 2);
    CU_ASSERT(fc_fair_solve(&fair) == FC_OK && part[0] != FC_NONE && part[1] != FC_NONE);
    CU_ASSERT(fc_near(fair.link[0].capacity, 9 * (1 - 0.5 * 0.5), 1e-9));
    fc_fair_close(&fair);
}

/* A message of two halves on a link of 9 that would have 27 alone: it has them; with another like it q is a third
 * and g 2, with a flow that keeps to its path it is bound to its own; one that would have 6 alone has the link's 9. */
static void spreads(void)
{
    static const double capacity[1] = {9}, one = 1;
    static const bool mixes[1] = {true};
    static const uint32_t link = 0;
    struct fc_status st = {0};
    struct fc_fair fair;
    uint32_t part[2] = {0};
    open_fair(&fair, 1, capacity, mixes, &st);
    CU_ASSERT_EQUAL_FATAL(fc_fair_lose(&fair, 1, 6), FC_OK);
    for (int i = 0; i < 2; i++) {
        part[i] = fc_fair_add(&fair, 1, &link, &one, 0.5, 1, NULL, 0, 1, 2);
        fair.flow[part[i]].message = part[0];
        CU_ASSERT_EQUAL(fc_fair_spreads(&fair, part[i], 27), FC_OK);
    }
    CU_ASSERT_EQUAL(fc_fair_solve(&fair), FC_OK);
    CU_ASSERT(fc_near(fair.flow[part[0]].rate, 27, 1e-9) && fc_near(fair.flow[part[1]].rate, 27, 1e-9));
    uint32_t other = fc_fair_add(&fair, 1, &link, &one, 1, 1, NULL, 0, 1, 3);
    CU_ASSERT_EQUAL(fc_fair_solve(&fair), FC_OK);
    CU_ASSERT(fc_near(fair.flow[other].rate, 4.5, 1e-9));
    CU_ASSERT_EQUAL(fc_fair_spreads(&fair, other, 27), FC_OK);
    CU_ASSERT_EQUAL(fc_fair_solve(&fair), FC_OK);
    CU_ASSERT(fc_near(fair.link[0].capacity, 11, 1e-9));
    CU_ASSERT(fc_near(fair.flow[other].rate, 5.5, 1e-9));
    fc_fair_remove(&fair, other);
    CU_ASSERT_EQUAL(fc_fair_solve(&fair), FC_OK);
    CU_ASSERT(fc_near(fair.flow[part[0]].rate, 27, 1e-9));
    for (int i = 0; i < 2; i++) fc_fair_remove(&fair, part[i]);
    uint32_t slow = fc_fair_add(&fair, 1, &link, &one, 1, 1, NULL, 0, 1, 2);
    CU_ASSERT_EQUAL(fc_fair_spreads(&fair, slow, 6), FC_OK);
    CU_ASSERT_EQUAL(fc_fair_solve(&fair), FC_OK);
    CU_ASSERT(fc_near(fair.flow[slow].rate, 9, 1e-9));
    fc_fair_remove(&fair, slow);
    uint32_t plain = fc_fair_add(&fair, 1, &link, &one, 1, 1, NULL, 0, 1, 2);
    CU_ASSERT_EQUAL(fc_fair_solve(&fair), FC_OK);
    CU_ASSERT(fc_near(fair.flow[plain].rate, 9, 1e-9));
    fc_fair_close(&fair);
}

/* Link 0, of 3, is left to flow x by two others, and a newcomer comes: x is kept at 1 by link 1, the newcomer gets 2. */
static void kept_elsewhere(void)
{
    static const double capacity[2] = {3, 2}, ones[2] = {1, 1};
    static const uint32_t both[2] = {0, 1};
    struct fc_status st = {0};
    struct fc_fair fair;
    open_fair(&fair, 2, capacity, NULL, &st);
    uint32_t x = fc_fair_add(&fair, 2, both, ones, 1, 1, NULL, 0, 1, 0), others[2];
    for (int i = 0; i < 2; i++) others[i] = fc_fair_add(&fair, 1, both, ones, 1, 1, NULL, 0, 1, 0);
    CU_ASSERT_EQUAL(fc_fair_solve(&fair), FC_OK);
    uint32_t keeps = fc_fair_add(&fair, 1, both + 1, ones, 1, 1, NULL, 0, 1, 0);
    CU_ASSERT_EQUAL(fc_fair_solve(&fair), FC_OK);
    CU_ASSERT_EQUAL(fair.flow[keeps].rate, 1);
    for (int i = 0; i < 2; i++) fc_fair_remove(&fair, others[i]);
    uint32_t comes = fc_fair_add(&fair, 1, both, ones, 1, 1, NULL, 0, 1, 0);
    CU_ASSERT_EQUAL(fc_fair_solve(&fair), FC_OK);
    CU_ASSERT_EQUAL(fair.flow[x].rate, 1);
    CU_ASSERT_EQUAL(fair.flow[comes].rate, 2);
    fc_fair_close(&fair);
}

/* The least of keys that come and change: few, without a tree, and many, on up to four levels of one, which begins among them. */
static void least_key(void)
{
    static const uint32_t sizes[] = {1, 16, 17, 200, FC_LOWS_FLAT, FC_LOWS_FLAT + 1, 700, 1024, 1100, 5000};
    static double room[6000];
    int wrong = 0;
    for (size_t s = 0; s < FC_COUNT(sizes); s++) {
        uint32_t most = sizes[s], number = 0;
        struct fc_lows lows;
        CU_ASSERT_FATAL(fc_lows_room(most) <= FC_COUNT(room));
        fc_lows_on(&lows, room, most);
        for (uint64_t i = 0; i < 600; i++) {
            uint64_t n = 1 + fc_random_below(s, 1, i, most);
            lows.n = lows.n < n ? (uint32_t)n : lows.n;
            for (uint64_t k = 0; k < 3; k++)
                fc_lows_set(&lows, (uint32_t)fc_random_below(s, 2, 3 * i + k, lows.n),
                            i + 50 > 600 || fc_random_below(s, 3, 3 * i + k, 4) == 0
                                ? INFINITY
                                : (double)fc_random_below(s, 4, 3 * i + k, 50));
            double least = INFINITY, have;
            uint32_t first = number;
            for (uint32_t k = lows.n; k-- > 0;)
                if (lows.key[0][k] <= least && isfinite(lows.key[0][k])) least = lows.key[0][k], first = k;
            have = fc_lows_least(&lows, &number);
            wrong += have != least || number != first;
        }
        for (uint32_t k = 0; k < lows.n; k++) fc_lows_set(&lows, k, INFINITY);
        wrong += !isinf(fc_lows_least(&lows, &number));
        fc_lows_clear(&lows);
        for (uint64_t k = 0; k < fc_lows_room(most); k++) wrong += !isinf(room[k]);
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

static uint32_t add_from(struct fc_fair *fair, const uint32_t *link, const double *weight, uint32_t start, uint32_t end)
{
    uint32_t f = fc_fair_add(fair, 1, link, weight, 1, 1, NULL, 0, 1, end);
    fair->flow[f].start = start;
    return f;
}

/* Of a link's load, what other pairs of nodes have: by weight, on the link where it is most, of all flows that are there or of
 * sixteen that stand for them. */
static void others_share(void)
{
    static const double capacity[2] = {9, 9}, weight[2] = {1, 0.5};
    static const uint32_t link[2] = {0, 1};
    struct fc_status st = {0};
    struct fc_fair fair;
    open_fair(&fair, 2, capacity, NULL, &st);
    uint32_t a = fc_fair_add(&fair, 2, link, weight, 1, 1, NULL, 0, 1, 5);
    fair.flow[a].start = 3;
    CU_ASSERT_EQUAL(fc_fair_interference(&fair, a, false, 0), 0);
    for (int i = 0; i < 40; i++) add_from(&fair, link, weight, 3, 5);
    CU_ASSERT_EQUAL(fc_fair_interference(&fair, a, false, 0), 0); /* they all go its way */
    uint32_t b = add_from(&fair, link + 1, weight, 4, 5);         /* to the same node from another one */
    CU_ASSERT(fc_near(fc_fair_interference(&fair, a, false, 0), 1 / 1.5, 1e-12));
    CU_ASSERT(fc_near(fc_fair_interference(&fair, b, false, 0), 0.5 / 1.5, 1e-12));
    CU_ASSERT_EQUAL(fc_fair_interference(&fair, b, false, 0.9), 0.9);
    CU_ASSERT_EQUAL(fc_fair_interference(&fair, b, true, 0.1), 0.1); /* its link has been looked at */
    fc_fair_remove(&fair, b);
    for (int i = 0; i < 41; i++) add_from(&fair, link, weight, 3, 2);
    CU_ASSERT(fabs(fc_fair_interference(&fair, a, false, 0) - 0.5) < 0.1); /* 41 of 82 */
    fc_fair_close(&fair);
}

int suite_transit_fair(void)
{
    static const CU_TestInfo tests[] = {{"rates equal filling from scratch", rates_from_scratch},
                                        {"a message goes round a link", spreads},
                                        {"a flow is kept where it is, a newcomer is not", kept_elsewhere},
                                        {"the least of many keys", least_key},
                                        {"flows to one node do not mix", ends_alike},
                                        {"flows of other pairs of nodes", others_share},
                                        CU_TEST_INFO_NULL};
    return fc_add_suite("transit_fair.c, transit_fair_mix.c, transit_lows.h", tests);
}
