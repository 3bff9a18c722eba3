/* route.h - what the routings of the kernel share (route_*.c): counting virtual channels, random picks, node
 * tables. */
#pragma once

#include "solvers/flit/prepared.h"
#include "solvers/flit/route_ops.h"

/* FC_INPUT at the machine file. */
enum fc_code fc_route_refuse(const struct fc_flit_net *flit, struct fc_status *st, const char *format, ...)
    FC_PRINTF(3, 4);
/* Channels of a routing without escapes: router.vcs divided evenly among the rule's n_rule; *rep each. Sets
 * n_vcs, n_escape_vcs and injection_vcs. FC_INPUT: too few or too many. */
enum fc_code fc_route_data_channels(struct fc_flit_net *flit, int n_rule, int *rep, struct fc_status *st);
/* Sets n_vcs, n_escape_vcs and injection_vcs for `used` channels, the first `escape` of which follow the
 * rule. */
enum fc_code fc_route_set_channels(struct fc_flit_net *flit, int used, int escape, struct fc_status *st);

/* Puts n channels for high-priority packets behind those between routers: high_vcs, n_vcs and the masks. To
 * be called after one of the two above. FC_INPUT: too many. */
enum fc_code fc_route_add_high_channels(struct fc_flit_net *flit, int n, struct fc_status *st);
/* Whether a rule has bubble channels. */
bool fc_route_is_bubble(const char *vc_rule);

/* 32 bits that depend on all of the packet's random word, different for every salt (the finaliser of
 * MurmurHash3, 64 bits: Appleby 2011). */
static inline uint32_t fc_route_mix(uint32_t random, uint32_t salt)
{
    uint64_t x = (uint64_t)random + 0x9e3779b97f4a7c15u * (salt + 1ull);
    x = (x ^ x >> 33) * 0xff51afd7ed558ccdu;
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53u;
    return (uint32_t)(x >> 32);
}
/* Uniform below n from 32 or 16 random bits. */
static inline uint32_t fc_route_below(uint32_t bits32, uint32_t n)
{
    return (uint32_t)((uint64_t)bits32 * n >> 32);
}
static inline uint32_t fc_route_below16(uint32_t bits16, uint32_t n)
{
    return bits16 * n >> 16;
}

/* One of n injection FIFOs for a packet (router.injection: random). */
static inline uint32_t fc_route_drawn(uint32_t random, uint32_t n)
{
    return fc_route_below(fc_route_mix(random, 0xf1f0), n);
}
/* Mask of all channels of a link but those of high priority. */
static inline uint16_t fc_route_all(const struct fc_flit_net *flit)
{
    return (uint16_t)(((1u << flit->n_vcs) - 1) & ~(uint32_t)flit->high_vcs);
}
/* The injection link of a node that has one, as its only choice. */
static inline int fc_route_inject(const struct fc_flit_net *flit, uint32_t vertex, uint64_t route,
                                  struct fc_flit_choice *out)
{
    out[0] = (struct fc_flit_choice){.route = route, .link = flit->net->first_link[vertex], .vcs = flit->injection_vcs};
    return 1;
}
/* Adds to the masks of channels that ways may have (way_vcs of struct fc_flit_net), at most 16 different ones. */
static inline void fc_route_add_way_vcs(struct fc_flit_net *flit, uint16_t vcs)
{
    uint32_t i = 0;
    while (i < flit->n_way_vcs && flit->way_vcs[i] != vcs) i++;
    flit->way_vcs[i] = vcs;
    if (i == flit->n_way_vcs) flit->n_way_vcs++;
}
/* Bits that hold 0 .. most. */
static inline int fc_route_bits(uint32_t most)
{
    return most ? 32 - __builtin_clz(most) : 0;
}

/* Tori and meshes (route_torus.c): the first route word along one dimension, hops < its size; whether a word
 * has hops left. */
uint64_t fc_route_torus_along(const struct fc_flit_net *flit, int dim, int direction, uint32_t hops);
bool fc_route_torus_goes_on(const struct fc_flit_net *flit, uint64_t route);

/* All settings of the bits as words of the start. */
void fc_route_tie_words(struct fc_flit_words *words, uint32_t bits);

extern const struct fc_flit_route_ops fc_route_torus_dimension_order, fc_route_torus_adaptive, fc_route_torus_valiant,
    fc_route_nca, fc_route_nca_hash, fc_route_nca_random, fc_route_walked;
