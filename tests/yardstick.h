/* yardstick.h - what this machine does now: plain code that everybody could have written, timed in the minute in which
 * a benchmark runs, so that its figures can be compared between machines and between days. CPU time, best of three.
 *
 *   naive kernel   an input-queued torus, flit by flit: k^n routers, dimension order, dateline, 2 virtual channels of 8
 *                  flits, packets of one flit, a bit for each input that asks for an output; flit-hops a second
 *   copy           memcpy of 32 MiB; bytes a second
 *   sort           qsort of a million random 64-bit numbers; numbers a second
 */
#pragma once

#include "core/core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { YARD_VCS = 2, YARD_DEPTH = 8, YARD_QUEUE = 64, YARD_MOST_INS = 16 };

struct yard_flit {
    uint32_t to, ready; /* node; tick from which it may move */
};
struct yard_router {
    struct yard_flit slot[YARD_MOST_INS][YARD_DEPTH];
    uint8_t first[YARD_MOST_INS], n[YARD_MOST_INS]; /* ring of each input channel, port * VCS + vc */
    uint8_t leaves_by[YARD_MOST_INS];               /* output channel that the front asks for */
    uint8_t credit[YARD_MOST_INS];                  /* of output channels */
    uint8_t turn[YARD_MOST_INS / YARD_VCS];
    uint32_t asks[YARD_MOST_INS / YARD_VCS]; /* of outputs: inputs whose front asks for it */
    uint32_t asked;                          /* outputs that anybody asks for */
    uint32_t next[6];                        /* router behind each port */
    uint8_t at[3];                           /* coordinates */
    struct yard_flit queue[YARD_QUEUE];      /* at the source */
    uint32_t queued, queue_first;
};
struct yard_torus {
    uint32_t k, dims, n;
    struct yard_router *router;
    struct yard_credit {
        uint32_t router, channel;
    } * back[2]; /* credits that come back at the next tick */
    size_t n_back[2];
};

/* Port 2 d goes up in dimension d, 2 d + 1 down, the last one to the node. */
static inline uint8_t yard_route(const struct yard_torus *y, const struct yard_router *r, uint32_t in, uint32_t to)
{
    const uint8_t *there = y->router[to].at;
    for (uint32_t d = 0; d < y->dims; d++) {
        if (r->at[d] == there[d]) continue;
        uint32_t up = (there[d] + y->k - r->at[d]) % y->k;
        bool goes_up = 2 * up < y->k || (2 * up == y->k && to % 2);
        uint32_t vc = in / YARD_VCS / 2 == d ? in % YARD_VCS : 0;
        if (r->at[d] == (goes_up ? y->k - 1 : 0)) vc = 1; /* over the dateline */
        return (uint8_t)((2 * d + !goes_up) * YARD_VCS + vc);
    }
    return (uint8_t)(2 * y->dims * YARD_VCS);
}
static inline void yard_front(const struct yard_torus *y, struct yard_router *r, uint32_t in)
{
    r->leaves_by[in] = yard_route(y, r, in, r->slot[in][r->first[in]].to);
    r->asks[r->leaves_by[in] / YARD_VCS] |= 1u << in;
    r->asked |= 1u << r->leaves_by[in] / YARD_VCS;
}
static inline void yard_put(const struct yard_torus *y, struct yard_router *r, uint32_t in, struct yard_flit flit)
{
    r->slot[in][(r->first[in] + r->n[in]) % YARD_DEPTH] = flit;
    if (r->n[in]++ == 0) yard_front(y, r, in);
}
/* The first flit that may go by output `out`, in turn; FC_NONE: none. */
static inline uint32_t yard_winner(const struct yard_router *r, uint32_t out, uint32_t taken, uint32_t t, bool ejects)
{
    uint32_t behind = r->asks[out] & ~0u << r->turn[out], before = r->asks[out] & ~behind;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t rest = pass ? before : behind; rest; rest &= rest - 1) {
            uint32_t in = (uint32_t)__builtin_ctz(rest);
            if (taken >> in / YARD_VCS & 1 || r->slot[in][r->first[in]].ready > t) continue;
            if (ejects || r->credit[r->leaves_by[in]]) return in;
        }
    return FC_NONE;
}
static inline uint64_t yard_switch(struct yard_torus *y, uint32_t at, uint32_t t)
{
    struct yard_router *r = &y->router[at];
    uint32_t node_port = 2 * y->dims, taken = 0;
    uint64_t hops = 0;
    for (uint32_t rest = r->asked; rest; rest &= rest - 1) {
        uint32_t out = (uint32_t)__builtin_ctz(rest);
        uint32_t in = yard_winner(r, out, taken, t, out == node_port);
        if (in == FC_NONE) continue;
        struct yard_flit flit = r->slot[in][r->first[in]];
        uint32_t channel = r->leaves_by[in], port = in / YARD_VCS;
        taken |= 1u << port;
        r->turn[out] = (uint8_t)(in + 1);
        r->first[in] = (uint8_t)((r->first[in] + 1) % YARD_DEPTH);
        if (!(r->asks[out] &= ~(1u << in))) r->asked &= ~(1u << out);
        if (--r->n[in]) yard_front(y, r, in);
        if (port < node_port) /* the port receives from the router behind it, whose port opposite sends */
            y->back[t & 1][y->n_back[t & 1]++] =
                (struct yard_credit){r->next[port], (port ^ 1) * YARD_VCS + in % YARD_VCS};
        if (out == node_port) continue;
        hops++;
        r->credit[channel]--;
        flit.ready = t + 1;
        yard_put(y, &y->router[r->next[out]], (out ^ 1) * YARD_VCS + channel % YARD_VCS, flit);
    }
    return hops;
}
/* Flit-hops of so many ticks at `load` flits a node and tick. */
static inline uint64_t yard_run(struct yard_torus *y, double load, uint32_t ticks)
{
    uint64_t hops = 0, random = 88172645463325252u;
    uint32_t below = (uint32_t)(load * 4294967295.0), own = 2 * y->dims * YARD_VCS;
    for (uint32_t t = 0; t < ticks; t++) {
        struct yard_credit *back = y->back[~t & 1];
        for (size_t i = 0; i < y->n_back[~t & 1]; i++) y->router[back[i].router].credit[back[i].channel]++;
        y->n_back[~t & 1] = 0;
        for (uint32_t at = 0; at < y->n; at++) {
            struct yard_router *r = &y->router[at];
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            if ((uint32_t)random < below && r->queued < YARD_QUEUE)
                r->queue[(r->queue_first + r->queued++) % YARD_QUEUE] =
                    (struct yard_flit){(uint32_t)((random >> 32) * y->n >> 32), 0};
            if (r->queued && r->n[own] < YARD_DEPTH) {
                yard_put(y, r, own, r->queue[r->queue_first]);
                r->queue_first = (r->queue_first + 1) % YARD_QUEUE;
                r->queued--;
            }
            hops += yard_switch(y, at, t);
        }
    }
    return hops;
}
/* M flit-hops a CPU second on k^dims routers; 0: out of memory. */
static inline double yard_naive(uint32_t k, uint32_t dims, double load, uint32_t ticks)
{
    struct yard_torus y = {.k = k, .dims = dims, .n = 1};
    for (uint32_t d = 0; d < dims; d++) y.n *= k;
    double best = 0;
    for (int run = 0; run < 3; run++) {
        y.router = calloc(y.n, sizeof *y.router);
        for (int i = 0; i < 2; i++) y.back[i] = calloc((size_t)y.n * 2 * dims + 1, sizeof *y.back[i]), y.n_back[i] = 0;
        if (y.router && y.back[0] && y.back[1]) {
            for (uint32_t at = 0; at < y.n; at++) {
                struct yard_router *r = &y.router[at];
                for (uint32_t d = 0, step = 1; d < dims; d++, step *= k) {
                    uint32_t x = at / step % k;
                    r->at[d] = (uint8_t)x;
                    r->next[2 * d] = at - x * step + (x + 1) % k * step;
                    r->next[2 * d + 1] = at - x * step + (x + k - 1) % k * step;
                }
                memset(r->credit, YARD_DEPTH, sizeof r->credit);
            }
            double from = fc_cpu_s();
            double rate = (double)yard_run(&y, load, ticks) / (fc_cpu_s() - from) / 1e6;
            if (rate > best) best = rate;
        }
        free(y.router), free(y.back[0]), free(y.back[1]);
    }
    return best;
}

/* GB a second. */
static inline double yard_copy(void)
{
    enum { BYTES = 32 << 20 };
    char *from = malloc(BYTES), *to = malloc(BYTES);
    double best = 0;
    for (int run = 0; from && to && run < 4; run++) {
        memset(run ? to : from, run, BYTES);
        double start = fc_cpu_s();
        for (int i = 0; i < 4; i++) {
            from[i] = (char)(i + run);
            memcpy(to, from, BYTES);
            __asm__ volatile("" : : "r"(to) : "memory"); /* it is read: the copy stays */
        }
        double rate = 4.0 * BYTES / (fc_cpu_s() - start) / 1e9;
        if (run && rate > best) best = rate;
    }
    free(from), free(to);
    return best;
}

static int yard_compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}
/* Seconds to sort a million numbers. */
static inline double yard_sort_s(void)
{
    enum { N = 1000000 };
    uint64_t *number = malloc(N * sizeof *number);
    double best = 1e300;
    for (int run = 0; number && run < 3; run++) {
        for (uint64_t i = 0; i < N; i++) number[i] = fc_random(1, 2, i);
        double start = fc_cpu_s();
        qsort(number, N, sizeof *number, yard_compare);
        double spent = fc_cpu_s() - start;
        if (spent < best) best = spent;
    }
    free(number);
    return best;
}

/* A line of all three. Returns the time of the sort, for ratios. */
static inline double yard_print(void)
{
    double sort_s = yard_sort_s();
    printf("now: naive kernel %.1f M flit-hops a CPU second (8x8x8, 30 %%), copy %.1f GB/s, sort of a million %.3f s\n",
           yard_naive(8, 3, 0.3, 2000), yard_copy(), sort_s);
    fflush(stdout);
    return sort_s;
}
