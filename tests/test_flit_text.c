/* test_flit_text.c - deadlocks in words: wait graphs laid out by hand, and random ones against the definition
 * of a knot. */
#include "solvers/flit/engine.h"
#include "solvers/flit/prepared.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 64, WANTS = 4 };

struct laid_out {
    struct fc_machine machine;
    struct fc_network net;
    struct fc_flit_net flit;
    struct fc_arena arena;
    struct fc_flit_blocked blocked[MOST];
    uint32_t wanted[MOST * WANTS], n, n_wanted;
};

static bool lay_out(struct laid_out *w, const char *dims, int n_vcs)
{
    char yaml[256];
    memset(w, 0, sizeof *w);
    snprintf(yaml, sizeof yaml, "name: ring\nnetwork: {family: torus, dims: %s}\nlinks: {torus: {bandwidth: 1 GB/s}}\n",
             dims);
    if (!fc_test_network(yaml, &w->machine, &w->net)) return false;
    w->flit = (struct fc_flit_net){.net = &w->net, .n_links = w->net.n_links, .n_vcs = n_vcs};
    return true;
}

static void close_all(struct laid_out *w)
{
    fc_arena_free(&w->arena);
    fc_test_close(&w->machine, &w->net);
}

/* Channel of the link between two routers. */
static uint32_t channel(const struct laid_out *w, uint32_t from, uint32_t to, int vc)
{
    return fc_find_link(&w->net, from, to) * (uint32_t)w->flit.n_vcs + (uint32_t)vc;
}

/* A head in `in`, for node `dst`, that wants any of `n` channels. */
static void block(struct laid_out *w, uint32_t in, uint32_t dst, uint32_t n, const uint32_t *want)
{
    w->blocked[w->n] = (struct fc_flit_blocked){in, w->n, dst, 8, n, w->n_wanted};
    w->n++;
    for (uint32_t i = 0; i < n; i++) w->wanted[w->n_wanted++] = want[i];
}

static const char *text_of(struct laid_out *w)
{
    struct fc_status st = {0};
    const char *text = NULL;
    CU_ASSERT_EQUAL(fc_flit_deadlock_text(&w->flit, w->blocked, w->n, w->wanted, &w->arena, &text, &st), FC_OK);
    return text ? text : "";
}

static void test_ring(void)
{
    struct laid_out w;
    if (!lay_out(&w, "[4]", 1)) return;
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t next = channel(&w, (i + 1) % 4, (i + 2) % 4, 0);
        block(&w, channel(&w, i, (i + 1) % 4, 0), (i + 3) % 4, 1, &next);
    }
    CU_ASSERT_STRING_EQUAL(text_of(&w), "4 packets wait in a cycle:\n"
                                        "x+ (0)->(1) vc 0 holds packet 0 -> 3 (8 flits), waits for x+ (1)->(2) vc 0\n"
                                        "x+ (1)->(2) vc 0 holds packet 1 -> 0 (8 flits), waits for x+ (2)->(3) vc 0\n"
                                        "x+ (2)->(3) vc 0 holds packet 2 -> 1 (8 flits), waits for x+ (3)->(0) vc 0\n"
                                        "x+ (3)->(0) vc 0 holds packet 3 -> 2 (8 flits), waits for x+ (0)->(1) vc 0\n");
    close_all(&w);
}

static void test_long_ring_is_cut(void)
{
    struct laid_out w;
    if (!lay_out(&w, "[20]", 1)) return;
    for (uint32_t i = 0; i < 20; i++) {
        uint32_t next = channel(&w, (i + 1) % 20, (i + 2) % 20, 0);
        block(&w, channel(&w, i, (i + 1) % 20, 0), (i + 3) % 20, 1, &next);
    }
    const char *text = text_of(&w);
    int lines = 0;
    for (const char *c = text; *c; c++) lines += *c == '\n';
    CU_ASSERT_EQUAL(lines, 14);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "20 packets wait in a cycle:\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\n... and 8 more\n"));
    close_all(&w);
}

/* Two heads wait for each other, but the first could also take a free channel; two others have no way out.
 * The second pair is shown although the first comes first. */
static void test_way_out(void)
{
    struct laid_out w;
    if (!lay_out(&w, "[8]", 2)) return;
    uint32_t a = channel(&w, 0, 1, 0), b = channel(&w, 1, 2, 0), c = channel(&w, 4, 5, 1), d = channel(&w, 5, 6, 1);
    uint32_t first[] = {b, channel(&w, 1, 2, 1)};
    block(&w, a, 3, 2, first);
    block(&w, b, 3, 1, &a);
    CU_ASSERT_PTR_NOT_NULL(strstr(text_of(&w),
                                  "2 packets wait in a cycle, though some want channels that no blocked "
                                  "packet holds:\n"
                                  "x+ (0)->(1) vc 0 holds packet 0 -> 3 (8 flits), waits for x+ (1)->(2) vc "
                                  "0 or 1 other\n"));
    block(&w, c, 3, 1, &d);
    block(&w, d, 3, 1, &c);
    CU_ASSERT_PTR_NOT_NULL(strstr(text_of(&w), "2 packets wait in a cycle:\nx+ (4)->(5) vc 1 holds packet 2 -> 3"));
    close_all(&w);
}

static void test_no_cycle(void)
{
    struct laid_out w;
    if (!lay_out(&w, "[4]", 1)) return;
    uint32_t empty = channel(&w, 1, 2, 0);
    block(&w, channel(&w, 0, 1, 0), 2, 1, &empty);
    CU_ASSERT_STRING_EQUAL(text_of(&w), "1 packet waits for channels that no blocked packet holds:\n"
                                        "x+ (0)->(1) vc 0 holds packet 0 -> 2 (8 flits), waits for x+ (1)->(2) vc 0\n");
    w.n = 0;
    CU_ASSERT_STRING_EQUAL(text_of(&w), "0 packets wait for channels that no blocked packet holds:\n");
    close_all(&w);
}

/* By the definition, O(n^2): heads all of whose wanted channels are held within the set. */
static uint32_t knot(const struct laid_out *w, bool *in)
{
    uint32_t left = w->n;
    for (uint32_t h = 0; h < w->n; h++) in[h] = true;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t h = 0; h < w->n; h++) {
            bool stuck = w->blocked[h].n_wanted > 0;
            for (uint32_t i = 0; i < w->blocked[h].n_wanted; i++) {
                bool held = false;
                for (uint32_t o = 0; o < w->n; o++)
                    held = held || (in[o] && w->blocked[o].channel == w->wanted[w->blocked[h].first_wanted + i]);
                stuck = stuck && held;
            }
            if (!in[h] || stuck) continue;
            in[h] = false;
            changed = true;
            left--;
        }
    }
    return left;
}

/* The head whose channel name starts the line. */
static uint32_t head_of(const struct laid_out *w, const char *line)
{
    char name[256];
    for (uint32_t h = 0; h < w->n; h++) {
        fc_channel_name(&w->net, w->blocked[h].channel, w->flit.n_vcs, name, sizeof name);
        size_t length = strlen(name);
        if (!strncmp(line, name, length) && !strncmp(line + length, " holds", 6)) return h;
    }
    return FC_NONE;
}

static bool wants(const struct laid_out *w, uint32_t head, uint32_t other)
{
    for (uint32_t i = 0; i < w->blocked[head].n_wanted; i++)
        if (w->wanted[w->blocked[head].first_wanted + i] == w->blocked[other].channel) return true;
    return false;
}

/* Random wait graphs: a cycle is shown as such exactly when there is a knot, lies in it, and every step is a
 * wait. */
static void test_random(void)
{
    struct laid_out w;
    if (!lay_out(&w, "[4, 4]", 2)) return;
    int knots = 0;
    for (uint64_t round = 0; round < 400; round++) {
        uint32_t order[256], n_channels = w.net.n_links * 2, heads = 4 + (uint32_t)fc_random_below(round, 1, 0, 40);
        if (n_channels > 256) n_channels = 256;
        fc_random_permutation(round, 2, order, n_channels);
        w.n = w.n_wanted = 0;
        for (uint32_t h = 0; h < heads; h++) {
            uint32_t want[WANTS], n = 1 + (uint32_t)fc_random_below(round, 3, h, 2);
            for (uint32_t i = 0; i < n; i++) want[i] = order[fc_random_below(round, 4 + i, h, heads + heads / 8)];
            block(&w, order[h], 0, n, want);
        }
        bool in[MOST];
        uint32_t left = knot(&w, in);
        const char *text = text_of(&w), *line = strchr(text, '\n');
        CU_ASSERT_EQUAL(left > 0, strstr(text, "in a cycle:\n") != NULL);
        uint32_t cycle[MOST], n = 0;
        for (; left && line && line[1] && strncmp(line + 1, "...", 3); line = strchr(line + 1, '\n'))
            cycle[n++] = head_of(&w, line + 1);
        for (uint32_t i = 0; i < n; i++) {
            CU_ASSERT_FATAL(cycle[i] != FC_NONE);
            CU_ASSERT_TRUE(in[cycle[i]]);
            if (i + 1 < n || atoi(text) == (int)n) CU_ASSERT_TRUE(wants(&w, cycle[i], cycle[(i + 1) % n]));
            for (uint32_t j = 0; j < i; j++) CU_ASSERT_NOT_EQUAL(cycle[i], cycle[j]);
        }
        knots += left > 0;
        fc_arena_free(&w.arena);
    }
    CU_ASSERT_TRUE(knots > 40 && knots < 360);
    close_all(&w);
}

int suite_flit_text(void)
{
    static const CU_TestInfo tests[] = {
        {"a ring of waiting packets, in order", test_ring},
        {"a long cycle is cut", test_long_ring_is_cut},
        {"a cycle with a way out is no deadlock", test_way_out},
        {"no cycle", test_no_cycle},
        {"random wait graphs", test_random},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("flit_text", tests);
}
