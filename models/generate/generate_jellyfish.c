/* generate_jellyfish.c - Jellyfish: a random regular graph of switches.
 *
 * Each of N switches has r ports to others. Pairs of switches with free ports that are not linked yet are drawn and linked;
 * where only linked ones are left, a switch with two free ports is put into a drawn cable. Source: Singla, Hong, Popa &
 * Godfrey, "Jellyfish: networking data centers randomly", NSDI'12, section 3. The same seed gives the same graph. A port stays
 * free where N r is odd. */
#include "models/generate/generate.h"

#include <string.h>

enum { STREAM = 0x6a656c6c, MOST_SWITCHES = 16384 };

struct settings {
    struct fc_generated_rates rates;
    long long switches, ports, nodes, seed;
};

struct drawing {
    uint64_t seed, index;
    uint32_t n, *free;      /* [n] ports of each switch */
    uint32_t *open, n_open; /* switches with free ports */
    uint8_t *linked;        /* [n][n] */
    struct fc_generated *g;
};

static uint32_t draw(struct drawing *d, uint32_t n)
{
    return (uint32_t)fc_random_below(d->seed, STREAM, d->index++, n);
}

static void link_up(struct drawing *d, uint32_t a, uint32_t b, bool on)
{
    d->linked[(size_t)a * d->n + b] = d->linked[(size_t)b * d->n + a] = on;
}

static void take_port(struct drawing *d, uint32_t number)
{
    if (--d->free[d->open[number]] == 0) d->open[number] = d->open[--d->n_open];
}

/* Whether two open switches are not linked yet. */
static bool any_pair(const struct drawing *d)
{
    for (uint32_t i = 0; i < d->n_open; i++)
        for (uint32_t k = i + 1; k < d->n_open; k++)
            if (!d->linked[(size_t)d->open[i] * d->n + d->open[k]]) return true;
    return false;
}

static void link_pairs(struct drawing *d)
{
    for (uint32_t failures = 0; d->n_open > 1;) {
        uint32_t i = draw(d, d->n_open), k = draw(d, d->n_open - 1);
        k += k >= i;
        uint32_t a = d->open[i], b = d->open[k];
        if (d->linked[(size_t)a * d->n + b]) {
            if (++failures % 64 == 0 && !any_pair(d)) return;
            continue;
        }
        link_up(d, a, b, true);
        fc_generated_cable(d->g, a, b);
        take_port(d, i > k ? i : k); /* the later first: taking one may move the last */
        take_port(d, i > k ? k : i);
    }
}

/* Switches with two free ports or more go between the ends of cables that they have no part in. */
static void insert_rest(struct drawing *d)
{
    for (uint32_t i = 0, tries = 0; i < d->n_open; i++)
        while (d->free[d->open[i]] >= 2 && tries++ < 1000000) {
            uint32_t s = d->open[i], *cable = d->g->cable[draw(d, d->g->n_cables)];
            uint32_t a = cable[0], b = cable[1];
            if (s == a || s == b || d->linked[(size_t)s * d->n + a] || d->linked[(size_t)s * d->n + b]) continue;
            link_up(d, a, b, false);
            link_up(d, s, a, true);
            link_up(d, s, b, true);
            cable[1] = s;
            fc_generated_cable(d->g, s, b);
            d->free[s] -= 2;
        }
}

/* Hops of the longest shortest path; 0: not connected. O(n cables). */
static uint32_t diameter(const struct drawing *d, uint32_t *hops, uint32_t *queue)
{
    uint32_t longest = 0;
    for (uint32_t s = 0; s < d->n; s++) {
        uint32_t head = 0, tail = 0;
        for (uint32_t i = 0; i < d->n; i++) hops[i] = FC_NONE;
        hops[queue[tail++] = s] = 0;
        for (; head < tail; head++)
            for (uint32_t to = 0; to < d->n; to++)
                if (d->linked[(size_t)queue[head] * d->n + to] && hops[to] == FC_NONE) {
                    hops[to] = hops[queue[head]] + 1;
                    queue[tail++] = to;
                }
        if (tail < d->n) return 0;
        if (hops[queue[tail - 1]] > longest) longest = hops[queue[tail - 1]];
    }
    return longest;
}

static enum fc_code make(const void *settings, struct fc_generated *g, struct fc_status *st)
{
    const struct settings *s = settings;
    uint32_t n = (uint32_t)s->switches, ports = (uint32_t)s->ports;
    struct drawing d = {.seed = (uint64_t)s->seed, .n = n, .n_open = n, .g = g};
    if (ports >= n) return fc_refuse(st, FC_INPUT, "ports: %u to other switches, of which there are %u", ports, n - 1);
    if (fc_generated_graph(g, n, (uint64_t)s->nodes, (uint64_t)n * ports / 2, st)) return st->code;
    d.free = fc_alloc(&g->arena, n, sizeof *d.free, st);
    d.open = fc_alloc(&g->arena, n, sizeof *d.open, st);
    d.linked = fc_alloc(&g->arena, n, n, st);
    uint32_t *work = fc_alloc(&g->arena, n, 2 * sizeof *work, st);
    if (st->code) return st->code;
    for (uint32_t i = 0; i < n; i++) d.free[i] = ports, d.open[i] = i;
    link_pairs(&d);
    insert_rest(&d);
    uint32_t longest = diameter(&d, work, work + n);
    if (!longest) return fc_refuse(st, FC_NO, "the graph drawn is not connected (another seed or more ports)");
    g->vcs = (int)longest;
    snprintf(g->title, sizeof g->title, "Jellyfish of %u switches, %u ports to others, %lld nodes each, seed %lld", n,
             ports, s->nodes, s->seed);
    return FC_OK;
}

#define AT(field) offsetof(struct settings, field)
static const struct fc_key keys[] = {
    {"switches", FC_KEY_INT, FC_NUMBER, AT(switches), 2, MOST_SWITCHES, NULL, "100", "in all"},
    {"ports", FC_KEY_INT, FC_NUMBER, AT(ports), 1, 1024, NULL, "14", "of a switch to other switches"},
    {"nodes", FC_KEY_INT, FC_NUMBER, AT(nodes), 1, 1024, NULL, "10", "of a switch"},
    {"seed", FC_KEY_INT, FC_NUMBER, AT(seed), 0, 9e18, NULL, "1", "which graph"},
    FC_GENERATED_RATES(struct settings),
};

const struct fc_generator_ops fc_generator_jellyfish = {
    .name = "jellyfish",
    .help = "a random regular graph: switches=100,ports=14,nodes=10,seed=1",
    .source = "Singla et al., NSDI'12",
    FC_SETTINGS(keys, struct settings),
    .make = make,
};
