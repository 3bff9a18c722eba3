/* certificate.h - whether packets can wait for each other for ever, and what a virtual-channel rule is (deadlock/). */
#pragma once

#include "models/routing.h"

/* A channel is (link, virtual channel): id = link * n_vcs + vc. The channel dependency graph (Dally & Seitz 1987) has an
 * arc from every channel that a packet may hold to every channel that it may wait for. Vertices behind the channels are
 * hubs: a path from channel to channel through hubs is one dependency, so that "all of these wait for all of those"
 * costs in + out arcs. Built by the helpers of cdg.h. */
struct fc_cdg {
    struct fc_arena arena;
    const struct fc_network *net;
    int n_vcs;
    uint64_t n_channels;
    uint64_t n_vertices; /* channels, then hubs */
    uint64_t n_arcs;
    uint64_t *first; /* [n_vertices + 1] arcs of vertex v: to[first[v]] .. to[first[v+1] - 1], sorted and unique */
    uint32_t *to;    /* [n_arcs] */
    int pass;        /* of building, see cdg.h */
    void *kept;      /* what the rule found in one pass for the next, in the arena */
    bool extended;   /* the channels are escape channels, the arcs also what adaptive hops between them bring (Duato) */
};
struct fc_certificate {
    struct fc_arena arena;
    const char *policy;   /* "dateline", "bubble", "six-vc", ... */
    const char *argument; /* why it is safe, or why not, one or two sentences for people */
    bool safe;
    bool acyclic; /* safe by an acyclic graph; else safe by the escape's invariant */
    uint64_t n_channels, n_arcs, n_used_channels;
    uint32_t *order;  /* acyclic: topological number of each channel [n_channels]; else NULL */
    uint32_t n_cycle; /* unsafe: the channels of one cycle, in order */
    uint32_t *cycle;
    int n_vcs;
    int data_vcs; /* of them the rule takes so many from router.vcs; those of escapes come on top of it */
    bool enough;  /* router.vcs has them: a machine is free of deadlock where it is safe and has enough */
};
/* A rule that tells which virtual channel a packet takes: one file, one record. */
struct fc_vc_rule_ops {
    const char *name, *help, *source;
    const char *const *families;
    const struct fc_routing_ops *const *routings; /* whose dependencies it knows; ends with NULL. NULL: any */
    const char *argument; /* why its graph has no cycle, in words; NULL: nothing but the check itself says so */
    /* The argument holds for every network and routing that the rule knows: the kernel takes it and builds no graph. A
     * certificate (fc_certify) is of the graph all the same, and tests hold the two together. */
    bool proven;
    /* What tells it from the other rules of its family, whose functions it shares: tori enum fc_escape, tmesh enum
     * fc_tmesh_policy, graphs fc_graph_scheme, others whether it is the rule of one channel. Handed to them as `variant`. */
    int variant;
    bool only_named; /* no machine is run under this rule where none is named */
    /* Whether a machine of these families is run under this rule when none is named. NULL: all are. */
    bool (*chosen)(const struct fc_machine *machine, int variant);
    /* Virtual channels a link for this network under this rule. NULL: one. */
    int (*vcs)(const struct fc_network *net, int variant);
    /* How many of router.vcs a link must have for it. NULL: no more than any machine has. */
    int (*data_vcs)(const struct fc_network *net, int variant);
    /* Adds every dependency of the machine's routing under this rule. Pure: called once a pass. */
    enum fc_code (*dependencies)(const struct fc_network *net, int variant, struct fc_cdg *cdg, struct fc_status *st);
    /* Whether the rule is safe on this machine whatever its graph (bubble: a cyclic one; layers: acyclic as they are
     * made), and why or why not in words with the machine's figures. NULL: safe only when the graph is acyclic. */
    bool (*invariant)(const struct fc_network *net, int variant, char *words, size_t size);
};
/* Certifies the machine's routing under the named rule (NULL: the machine's escape, or the family's default). The
 * caller frees with fc_certificate_free. FC_INPUT: rule unknown or not for this family. A cycle is an answer
 * (certificate->safe false), not a failure, and so are too few channels (certificate->enough false; the kernel refuses
 * such a machine). */
enum fc_code fc_certify(const struct fc_network *net, const char *rule, struct fc_certificate *certificate,
                        struct fc_status *st);
void fc_certificate_free(struct fc_certificate *certificate);
/* "x+ (3,0,7)->(4,0,7) vc 1". Returns out. */
char *fc_channel_name(const struct fc_network *net, uint32_t channel, int n_vcs, char *out, size_t size);
