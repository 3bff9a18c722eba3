/* collective_binomial.c - binomial trees: bcast, reduce, scatter, gather in ceil(log2 n) rounds.
 *
 * Members are numbered from the root, v = (member - root) mod n; v's parent is v without its lowest set bit.
 * Down, the largest subtree goes first; up, the smallest. Bcast and reduce move the vector over each edge,
 * scatter and gather the blocks of the subtree. Source: Thakur, Rabenseifner & Gropp, IJHPCA 19(1), 2005.
 *
 * Times: n members are the root's tree of 2^(k-1) members and a subtree of c = n - 2^(k-1), k = ceil(log2 n).
 * With x bytes over the edge between the two (b, or c b for blocks):
 *     down(n) = max(H(x) + down(c), s(x) + down(2^(k-1)))     bcast of 2^k: k H(b)
 *     up(n)   = max(up(2^(k-1)) + max(0, g - o_r), up(c) + o + L) + r(x)     reduce of 2^k: k H(b)
 * with down(1) = up(1) = 0; the root has its last receive g + (b - 1) G after the one before. */
#include "solvers/collective/collective_parts.h"

/* Distance of the longest edge of the tree, 0 when n = 1. */
static uint32_t longest_edge(uint32_t n)
{
    return n > 1 ? fc_floor_power_of_two(n - 1) : 0;
}

/* The edges of one level: parents v, children v + mask. */
static void level(struct fc_schedule *s, uint32_t mask, bool down, bool blocks)
{
    for (uint64_t v = 0; v + mask < s->n; v += 2ull * mask) {
        uint32_t parent = fc_schedule_member(s, (uint32_t)v);
        uint32_t child = fc_schedule_member(s, (uint32_t)v + mask);
        uint32_t subtree = s->n - (uint32_t)v - mask < mask ? s->n - (uint32_t)v - mask : mask;
        double bytes = blocks ? fc_schedule_blocks(s, child, subtree) : s->bytes;
        fc_schedule_add(s, down ? parent : child, down ? child : parent, bytes);
    }
    s->round++;
}

static void down_the_tree(struct fc_schedule *s, bool blocks)
{
    for (uint32_t mask = longest_edge(s->n); mask > 0; mask /= 2) level(s, mask, true, blocks);
}

static void up_the_tree(struct fc_schedule *s, bool blocks)
{
    for (uint32_t mask = 1; mask > 0 && mask <= longest_edge(s->n); mask *= 2) level(s, mask, false, blocks);
}

/* A tree of 2^k members ends with its deepest leaf: every edge of that path is the first of its parent. */
static double down_s(const struct fc_loggp *p, uint32_t n, double bytes, bool blocks)
{
    double before = 0, latest = 0;
    while (n > 1) {
        uint32_t whole = longest_edge(n), c = n - whole;
        double edge = blocks ? c * bytes : bytes, rest = 0;
        for (uint32_t m = whole; m > 1; m /= 2) rest += fc_loggp_hop_s(p, blocks ? m / 2 * bytes : bytes);
        latest = fmax(latest, before + fc_loggp_send_gap_s(p, edge) + rest);
        before += fc_loggp_hop_s(p, edge);
        n = c;
    }
    return fmax(latest, before);
}

static double up_s(const struct fc_loggp *p, uint32_t n, double bytes, bool blocks)
{
    if (n == 1) return 0;
    uint32_t whole = longest_edge(n), c = n - whole;
    double root = 0;
    for (uint32_t m = 1; m < whole; m *= 2) root += fc_loggp_hop_s(p, blocks ? m * bytes : bytes);
    if (whole > 1) root += fmax(0, p->gap_s - p->recv_s);
    double child = up_s(p, c, bytes, blocks) + p->send_s + p->latency_s; /* c < n: log2 n deep */
    return fmax(root, child) + fc_loggp_recv_s(p, blocks ? c * bytes : bytes);
}

FC_BUILD(bcast_binomial, down_the_tree(s, false))
FC_TIME(bcast_binomial, down_s(p, n, bytes, false))

FC_BUILD(scatter_binomial, down_the_tree(s, true))
FC_TIME(scatter_binomial, down_s(p, n, bytes, true))

FC_BUILD(reduce_binomial, up_the_tree(s, false))
FC_TIME(reduce_binomial, up_s(p, n, bytes, false))

FC_BUILD(gather_binomial, up_the_tree(s, true))
FC_TIME(gather_binomial, up_s(p, n, bytes, true))
