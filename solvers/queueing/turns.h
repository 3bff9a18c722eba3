/* turns.h - traffic as the kernel's routing splits it: what the queueing model works on.
 *
 * A channel is (link, mask of virtual channels that a packet may use there). A state is a head that came by
 * one channel and has one set of outputs to choose from; packets that are about to leave their source came by
 * no channel. All rates are for an offered load of one flit a node and cycle (mean over the nodes), so that
 * they are multiplied by the load; those of links are of one link, all others of the whole network. */
#pragma once

#include "solvers/flit/flit.h"

struct fc_turns {
    struct fc_arena arena;
    const struct fc_network *net;
    /* Links, or where the network and the traffic look the same from every cell (router of a torus, chip of a
     * tmesh) sets of links alike: those at one place of the cell; with virtual channels that depend on where
     * in its ring a packet is, also at one coordinate along their ring. Or, where groups can change places, those at
     * one place of like groups (turns_groups.c). */
    bool folded;
    uint32_t n_links;
    uint32_t *orbit;  /* [net->n_links] the set that each link of the network is in; NULL: not folded */
    uint32_t *link;   /* [n_links] one of the set */
    uint32_t *port;   /* [n_links] place in the cell: links of one port are one input of a router */
    double *copies;   /* [n_links] links in the set */
    double *rate;     /* [n_links] packets a cycle on each */
    double *service;  /* [n_links] mean time that a packet keeps it, trailer included, cycles; 0: none */
    double *service2; /* [n_links] mean of its square */
    uint8_t *kind;    /* [n_links] enum fc_turn_link */
    double *paths;    /* [n_links] transfers at once out of the port behind it */
    uint32_t n_channels;
    uint32_t *channel_link; /* [n_channels] */
    uint8_t *channel_vcs;   /* [n_channels] number of virtual channels in its mask */
    uint64_t *channel_key;  /* [n_channels] channel_link << 16 | mask */
    double *channel_rate;   /* [n_channels] packets a cycle, all of its virtual channels together */
    uint32_t *channel_met;  /* [n_channels] the channels in the order in which packets met them; NULL: as they stand */
    uint32_t n_states, n_choices;
    uint32_t *state_in;     /* [n_states] channel, FC_NONE at the source */
    uint32_t *first_choice; /* [n_states + 1] */
    double *state_rate;     /* [n_states] packets a cycle */
    uint8_t *state_outputs; /* [n_states] outputs that a head may choose from: as many as there are choices, or
                              * less where states were pooled (turns_pool.c) */
    uint32_t *choice_link, *choice_channel; /* [n_choices] */
    double *choice_rate;                    /* [n_choices] packets a cycle */
    double packets;                         /* packets a cycle of all nodes */
    double flits_mean, buffer_packets;      /* of a packet; whole packets that a virtual channel holds, at least 1 */
    int n_vcs;
    double stage;       /* cycles that a head takes to be given a virtual channel, before the switch; 0: both at once */
    bool by_theory;     /* the family has no calibrations that the equations must suit (models/network.h) */
    bool one_bid;       /* an input port asks for one output a cycle, and sends nothing where it loses */
    double *places;     /* [n_links] packets that a virtual channel of the link holds; 0: endless */
    double *round_trip; /* [n_links] cycles from sending a flit to the use of its credit, without waits */
    double hops_mean, zero_load_cycles; /* over packets; zero load: alone in the network */
    double zero_load_variance, least_zero_load_cycles;
    double cycle_s;
    double max_service_rate; /* greatest rate x service: 1 / it is the load that fills the busiest link */
    uint64_t n_walked;       /* packets followed; 0: found without (turns_torus.c) */
    bool sampled;            /* not every pair was followed */
    bool safe;               /* the routing is certified free of deadlock */
    /* UGAL: what is above is of an empty network, all direct, but for max_service_rate, which is the last rung's. Turns
     * at rising loads: */
    struct fc_turns *rung; /* [n_rungs] */
    uint32_t n_rungs;      /* 0: the turns do not depend on the load */
    double rung_top;       /* load of the last */
    double direct_load;    /* flits a node and cycle, fills the busiest link where nobody turns away */
    /* Of a rung: */
    double *kept_cycles,
        *kept_from; /* [n_links] whole queues; from which load on, flits a node and cycle; NULL: none */
};
/* Load of a rung, flits a node and cycle. */
double fc_turns_rung_load(const struct fc_turns *turns, uint32_t rung);
/* Wait, in cycles, that lasts at this load (flits a node and cycle) before a link of a rung's turns which more packets would take directly than it
 * can send, as UGAL's threshold has it; 0: none. *off_cycles: how far off that may be (turns_kept.c). */
double fc_turns_kept_cycles(const struct fc_turns *turns, uint32_t link, double load, double *off_cycles);
#define FC_TURNS_RUNGS 6
enum fc_turn_link { FC_TURN_NETWORK, FC_TURN_INJECTION, FC_TURN_EJECTION };

/* Hops enough for `most_hops` below: 200 a link, 2 to 20 million; half of them count. */
uint64_t fc_turns_hops(const struct fc_network *net);
/* Follows packets of the demand through the network by the routing functions of the kernel. Adaptive choices
 * share as (1 - utilisation)^2 at 0.8 of the load that fills the busiest link, by successive averages
 * (turns.c). Settings give packet lengths, rule and seed. `most_hops`: work allowed, about
 * 50 ns each; pairs are sampled beyond it. Tasks are nodes, demand->open_loop is not asked for.
 * Deterministic. The caller frees with fc_turns_free. FC_INPUT as fc_flit_run. */
enum fc_code fc_turns_make(const struct fc_network *net, const struct fc_demand *demand,
                           const struct fc_flit_settings *settings, uint64_t most_hops, struct fc_turns *turns,
                           struct fc_status *st);
#define FC_TURNS_LEAST_VISITS 50 /* packets a link below which its rate is noise */
/* The same, FC_NO where traffic is sampled and fewer packets than that are followed over a link, in the mean: rates would be
 * noise. Refused before that noise is fitted. Of large networks the rungs of UGAL take up to three times the hops: their noise is the saturation's. */
enum fc_code fc_turns_make_seen(const struct fc_network *net, const struct fc_demand *demand,
                                const struct fc_flit_settings *settings, uint64_t most_hops, double least_visits,
                                struct fc_turns *turns, struct fc_status *st);
/* The same without the detours that UGAL takes at higher loads (no rungs): cheap. */
enum fc_code fc_turns_make_empty(const struct fc_network *net, const struct fc_demand *demand,
                                 const struct fc_flit_settings *settings, uint64_t most_hops, struct fc_turns *turns,
                                 struct fc_status *st);
void fc_turns_free(struct fc_turns *turns);
