/* turns_internal.h - what turns.c, turns_cells.c, turns_tables.c and turns_torus.c share. */
#pragma once

#include "solvers/flit/source.h"
#include "solvers/queueing/turns.h"

#define FC_TURNS_MOST_SET FC_FLIT_MOST_CHOICES

/* What an output of that utilisation rho, relative to the busiest's, weighs among those that a head may choose from: (1 - rho)^2 at
 * 0.8 of the load that fills the busiest link, the equilibrium of routers that join the shortest queue and not the best split
 * (calibrations are made with it). Where there are none (by_theory) 1 - rho at that very load: a head takes the first output with room, and so often finds
 * this one free; near saturation the shares in the kernel are these. */
static inline double fc_turns_weight(const struct fc_turns *turns, double utilisation)
{
    double free = fmax(1e-3, 1 - (turns->by_theory ? 1 : 0.8) * utilisation);
    return turns->by_theory ? free : free * free;
}

struct fc_cells {
    int n_dims;
    uint32_t k[FC_MAX_DIMS], stride[FC_MAX_DIMS]; /* of the torus of cells */
    uint32_t n_cells, routers, nodes;             /* cells; of each cell */
    bool along;                                   /* coordinates along the ring matter */
    bool one_source;                              /* packets of one cell tell all: channels depend on no coordinate */
};
/* Whether each task is a node, and all dense parts of the demand are the same between all nodes. */
bool fc_turns_is_even(const struct fc_network *net, const struct fc_demand *demand);
/* The cells of the network, and whether it and the demand look alike from all of them. */
enum fc_code fc_turns_cells(const struct fc_network *net, const struct fc_demand *demand, struct fc_cells *cells,
                            bool *folded, struct fc_status *st);
/* orbit[n_links]: the set that each link belongs to; place[n_orbits]: the place of a set in the cell. */
enum fc_code fc_turns_orbits(const struct fc_network *net, const struct fc_cells *cells, struct fc_arena *arena,
                             uint32_t **orbit, uint32_t **place, uint32_t *n_orbits, struct fc_status *st);

/* Groups of routers and nodes that can change places (turns_groups.c), in classes of like ones. */
struct fc_groups {
    uint32_t n_groups, n_classes;
    uint32_t *group, *place;         /* [n_vertices] group, and number among its routers or among its nodes */
    uint32_t *first_node, *node;     /* [n_groups + 1], [n_nodes] nodes of each group */
    uint32_t *class_of, *rank;       /* [n_groups] class, and number within it */
    uint32_t *size;                  /* [n_classes] groups */
    uint32_t *first_member, *member; /* [n_classes + 1], [n_groups] groups of each class */
};
struct fc_turns_walk;
/* Sets w->groups where all nodes send to all alike and some of the network's groups can change places. Of the walk: net, demand, arena. */
enum fc_code fc_turns_groups(struct fc_turns_walk *w, struct fc_status *st);
/* orbit[n_links]: the set that each link belongs to. O(links + groups^2). */
enum fc_code fc_turns_group_orbits(const struct fc_network *net, const struct fc_groups *groups, struct fc_arena *arena,
                                   uint32_t **orbit, uint32_t *n_orbits, struct fc_status *st);
/* Pairs of nodes that stand for all: how many there are, and the nodes that `vertex`, a node, sends to, each as often as weight says;
 * to, weight: room for all nodes. Every set of links meets each node of a group some `mixes` times; the more, the nearer to all
 * pairs. `turn`: other pairs that do as well. */
double fc_turns_group_pairs(const struct fc_groups *groups, uint32_t mixes);
uint32_t fc_turns_group_receivers(const struct fc_groups *groups, uint32_t mixes, uint32_t vertex, uint32_t turn,
                                  uint32_t *to, double *weight);

struct fc_turns_choice {
    uint32_t link, channel; /* of the turns */
};
/* A packet's turn that is still to be looked up: a head without a choice. */
struct fc_turns_pending {
    uint32_t link; /* of the turns, that it goes on by */
    uint16_t vcs;
    bool at_source; /* else it came by the channel of the turn before */
    uint32_t in, channel, hash, state;
    double rate;
};
enum { FC_TURNS_PENDING = 64 };
/* A place of the hash of states: what tells a state of one choice. */
struct fc_turns_slot {
    uint32_t in, channel, n; /* n: choices; channel: of the first */
    uint32_t state;          /* + 1; 0: free */
};
/* Turns in the making. */
struct fc_turns_walk {
    const struct fc_network *net;
    struct fc_flit_net flit;
    struct fc_turns *turns;
    struct fc_arena *arena; /* scratch */
    const struct fc_demand *demand;
    struct fc_cells cells;
    const struct fc_groups *groups; /* by which the network is folded; NULL: not by groups */
    uint32_t mixes;                 /* of the pairs of groups that are followed */
    uint32_t *orbit;                /* [net->n_links] of the turns */
    double *utilisation;            /* [n_links] relative to the busiest, of the rounds before */
    uint32_t *channel_of;           /* hash of (link, mask) */
    uint64_t *recent; /* [n_links][recent_width] by the lowest channel of the mask: channel + 1, mask (16 bits) */
    uint32_t recent_width;
    uint32_t channel_slots, state_slots;
    struct fc_turns_slot *state_of; /* hash of states */
    uint64_t *met;                  /* a bit a state: packets followed since fc_turns_forget() may have passed there */
    struct fc_turns_pending pending[FC_TURNS_PENDING];
    uint32_t n_pending;
    uint32_t came_by; /* channel of the turn that was counted last */
    uint32_t states_capacity, choices_capacity, channels_capacity;
    double rate, hops, zero_load, zero_load2; /* sums of w, w x hops, w x T0, w x T0^2 */
    double least_zero_load;
    uint64_t n_walked, n_hops, seed;
    double least_visits;             /* of a link by packets that are followed, in the mean; fewer are refused */
    uint64_t n_sampled;              /* under UGAL: of the walks before, so that each draws others */
    uint32_t first_word;             /* the same where all pairs are followed: of the first random word of a pair */
    double scale;                    /* packets a cycle for a byte of the demand */
    double share[FC_TURNS_MOST_SET]; /* of the choices of a head, scratch */
    bool choosing;
    uint32_t flits_least, flits_most;
    bool whole_packets; /* moved by the event engine */
    uint32_t fastest;   /* flit ticks of the fastest class between routers */
    int tie_bits;       /* low bits of a packet's random word that decide ties */
    uint32_t n_strata;  /* random words that stand for all of them; 0: unknown */
    bool picks;         /* all picks of the random word are choices (turns_ways.c) */
    /* UGAL (turns_ugal.c), [n_links]; NULL: packets find no queues. */
    double *mean_rate, *level_rate; /* packets a cycle at load one, mean of the walks so far, and without chance */
    double *held_rate;       /* of the fullest channel, where virtual channels are given out in a stage; else NULL */
    double *price;           /* cycles that a packet waits at least for a link which would be too full */
    double *on_wire, *waits; /* flits that a packet finds, means */
    double at_load;
    bool ugal; /* turns of at_load; else, under UGAL, of an empty network */
};

/* ---- turns_kept.c ---- */

/* What a walk sent in which nobody turned away, packets a cycle at load one. */
struct fc_turns_direct {
    double *choice_rate; /* [n_choices] of the choices that it met */
    double *rate;        /* [n_links] without chance */
    uint32_t n_choices;
};
/* Queues that last, into w->turns (kept_cycles, kept_from), at w->at_load. */
enum fc_code fc_turns_keep(struct fc_turns_walk *w, const struct fc_turns_direct *direct, struct fc_status *st);

/* ---- turns_tables.c ---- */

/* Empty tables of channels, states and choices. */
enum fc_code fc_turns_tables(struct fc_turns_walk *w, struct fc_status *st);
/* The channel of a mask on a link (of the turns), new or known; FC_NONE: out of memory. */
uint32_t fc_turns_channel(struct fc_turns_walk *w, uint32_t link, uint16_t vcs, struct fc_status *st);
/* The state of a head that came by `in` and has the n choices of the set; FC_NONE: out of memory. */
uint32_t fc_turns_state(struct fc_turns_walk *w, uint32_t in, const struct fc_turns_choice *set, uint32_t n,
                        struct fc_status *st);
/* Adds the rate to a state, and to that of its choices. */
void fc_turns_add(struct fc_turns_walk *w, uint32_t state, uint32_t choice, double rate);
/* A head has no choice but `out`: counted at once or by fc_turns_count_pending. */
enum fc_code fc_turns_pass(struct fc_turns_walk *w, const struct fc_flit_choice *out, bool at_source, double rate,
                           struct fc_status *st);
enum fc_code fc_turns_count_pending(struct fc_turns_walk *w, struct fc_status *st);
/* No packet has been followed: rates of states that were met are 0. */
void fc_turns_forget(struct fc_turns_walk *w);
/* The first state from s on that was met; n_states: none. */
uint32_t fc_turns_next_met(const struct fc_turns_walk *w, uint32_t s);
/* The choices of a head in the order of the routing, escapes only where there is nothing else. */
static inline uint32_t fc_turns_outputs(const struct fc_turns_walk *w, uint32_t vertex, uint32_t in_link, int in_vc,
                                        const struct fc_flit_head *head, struct fc_flit_choice *out)
{
    const struct fc_flit_route_ops *route = w->flit.route;
    int n = (w->picks ? route->picks : route->choices)(&w->flit, vertex, in_link, in_vc, head, out);
    uint32_t m = 0;
    bool free = false;
    if (n == 1) return 1;
    for (int i = 0; i < n; i++) free = free || !out[i].escape;
    for (int i = 0; i < n; i++)
        if (!free || !out[i].escape) out[m++] = out[i];
    return m;
}
/* The channels of choices. */
enum fc_code fc_turns_set(struct fc_turns_walk *w, const struct fc_flit_choice *out, uint32_t n,
                          struct fc_turns_choice *set, struct fc_status *st);
/* The same with their channels; 0: out of memory. */
uint32_t fc_turns_choices(struct fc_turns_walk *w, uint32_t vertex, uint32_t in_link, int in_vc,
                          const struct fc_flit_head *head, struct fc_flit_choice *out, struct fc_turns_choice *set,
                          struct fc_status *st);

/* ---- turns.c ---- */

/* What the walk must know of the routers before packets can be followed: whole_packets, fastest. The net is
 * prepared. */
void fc_turns_routers(struct fc_turns_walk *w, const struct fc_flit_settings *settings);
/* How the turns are found; FC_TURNS_AUTO is fc_turns_make, the others are for tests that hold the ways
 * together: followed on the folded network, on one folded by like groups (as AUTO does with large ones), on the whole one, by
 * destination on the whole one. */
enum fc_turns_method { FC_TURNS_AUTO, FC_TURNS_FOLDED_WALK, FC_TURNS_GROUPS, FC_TURNS_UNFOLDED, FC_TURNS_DESTINATIONS };
enum fc_code fc_turns_make_by(enum fc_turns_method method, const struct fc_network *net, const struct fc_demand *demand,
                              const struct fc_flit_settings *settings, uint64_t most_hops, struct fc_turns *turns,
                              struct fc_status *st);
/* The same with the rungs of UGAL, as fc_turns_make_seen; rung_hops: for all of them. */
enum fc_code fc_turns_make_rungs_by(enum fc_turns_method method, const struct fc_network *net,
                                    const struct fc_demand *demand, const struct fc_flit_settings *settings,
                                    uint64_t most_hops, uint64_t rung_hops, double least_visits, struct fc_turns *turns,
                                    struct fc_status *st);
/* The first of cumulative[n], running sums, that is more than x; the last when none is. */
uint32_t fc_turns_find(const double *cumulative, uint32_t n, double x);
/* Rates of links and channels from those of the choices. */
void fc_turns_add_up(struct fc_turns_walk *w);
/* Those of links alone, where all other states than those met have a rate of 0. */
void fc_turns_add_up_met(struct fc_turns_walk *w);
/* Packets a cycle, at load one, that one followed packet stands for: a rate r of such packets varies by chance with a variance of r times
 * that. `share`: sum of the squares of the weights of the walks that rates are the mean of. */
double fc_turns_packet_weight(const struct fc_turns_walk *w, double share);
/* rate[n_links] of packets that were drawn: a link's chance is taken out of its difference from the others of its class
 * (turns_sum.c). `share`: sum of the squares of the weights of the walks that rate is the mean of. O(links). */
void fc_turns_level(const struct fc_turns_walk *w, double share, double *rate);

/* ---- turns_fit.c ---- */

/* fc_turns_level for the turns: rates of choices, scaled by those of their links, then of states so that what comes to a channel
 * leaves it, and of links and channels. */
enum fc_code fc_turns_smooth(struct fc_turns_walk *w, double share, struct fc_status *st);

/* ---- turns_ugal.c ---- */

/* What a packet with that random word sees of the queues: for fc_flit_route_ops.start. */
struct fc_turns_sight {
    const struct fc_turns_walk *walk;
    uint32_t random;
};
struct fc_flit_view fc_turns_see(const struct fc_turns_sight *sight);
/* One walk of all traffic with about that many packets. */
typedef enum fc_code fc_turns_walker(struct fc_turns_walk *w, double packets, struct fc_status *st);
/* States, choices and their rates of UGAL at a load in flits a node and cycle; 0: at the load that its busiest link
 * can just bear, *most_load. */
enum fc_code fc_turns_ugal(struct fc_turns_walk *w, fc_turns_walker *walk, double load, uint64_t most_hops,
                           double *most_load, struct fc_status *st);

/* ---- turns_pool.c ---- */

/* Sets state_outputs; pools states where there are very many. */
enum fc_code fc_turns_pool(struct fc_turns_walk *w, struct fc_status *st);

/* ---- turns_order.c ---- */

/* Where the network is not folded: numbers the channels anew by the router where they end, so that what a router's inputs
 * and outputs need lies together. Sums over the inputs of a router or the channels of a link keep their order; for all
 * others there is channel_met. O(states + channels). */
enum fc_code fc_turns_order(struct fc_turns_walk *w, struct fc_status *st);

/* ---- turns_zero.c ---- */

/* A packet alone on its way, in ticks. Start with zeros; one call a link, in order. */
struct fc_turns_alone {
    double head, tail; /* from when on they may leave */
    int in_class;
};
/* The packet goes by a link of the class, from a router or from its node, to a router or to a node. */
void fc_turns_hop(const struct fc_turns_walk *w, struct fc_turns_alone *alone, int link_class, bool from_router,
                  bool to_node);

/* ---- turns_torus.c ---- */

/* Whether fc_turns_torus takes this network and demand: see the head of turns_torus.c. */
bool fc_turns_is_torus(const struct fc_turns_walk *w);
/* Fills states, choices and their rates, and the sums of the walk, without following packets. */
enum fc_code fc_turns_torus(struct fc_turns_walk *w, struct fc_status *st);

/* ---- turns_destinations.c ---- */

/* The same for the whole network, destination by destination. *done false: the routing is not one for it, or the ways
 * to all destinations have more than most_edges edges, at some 10 ns each; then nothing was done. */
enum fc_code fc_turns_destinations(struct fc_turns_walk *w, double most_edges, bool *done, struct fc_status *st);
