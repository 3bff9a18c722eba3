/* collective.h - collective operations as algorithms: the table, which one is taken, messages, steps, time.
 *
 * To add one: a file that builds its messages and tells its time, one line in the table of collective.c.
 * What the network itself carries out (a hardware broadcast or barrier) is no round of messages: such an
 * algorithm brings its times on a network (`hardware`); its messages are those of software that would do the
 * same, for who wants bytes between tasks. */
#pragma once

#include "solvers/solvers.h"

/* Messages of one call, being built round by round. Members are 0 .. n-1. */
struct fc_schedule {
    uint32_t n, root;
    double bytes;       /* as in enum fc_op; of equal blocks: one block */
    const double *list; /* alltoallv [n][n]; block bytes [n] of each member; NULL: all blocks have `bytes` */
    double *before;     /* [n + 1] bytes of blocks 0 .. i-1; NULL: equal blocks */
    uint32_t round;
    enum fc_message_work work; /* of the messages that are added */
    struct fc_message *messages;
    uint64_t n_messages, capacity;
    bool full; /* memory ran out: messages are missing */
};

void fc_schedule_grow(struct fc_schedule *s);
static inline void fc_schedule_add(struct fc_schedule *s, uint32_t from, uint32_t to, double bytes)
{
    if (s->n_messages == s->capacity) fc_schedule_grow(s);
    if (!s->full) s->messages[s->n_messages++] = (struct fc_message){from, to, bytes, s->round, s->work};
}
/* Bytes of `count` blocks from block i on, round the end. */
static inline double fc_schedule_blocks(const struct fc_schedule *s, uint32_t i, uint32_t count)
{
    if (!s->before) return count * s->bytes;
    i %= s->n;
    if (i + count <= s->n) return s->before[i + count] - s->before[i];
    return s->before[s->n] - s->before[i] + s->before[i + count - s->n];
}
/* The member that is v places behind the root. */
static inline uint32_t fc_schedule_member(const struct fc_schedule *s, uint32_t v)
{
    return (uint32_t)(((uint64_t)v + s->root) % s->n);
}
/* Some of the n sizes differ. */
static inline bool fc_sizes_differ(const double *sizes, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        if (sizes[i] != sizes[0]) return true;
    return false;
}
/* The greatest power of two that is not above n (n > 0). */
static inline uint32_t fc_floor_power_of_two(uint32_t n)
{
    return UINT32_C(1) << (31 - __builtin_clz(n));
}
/* The least k with 2^k >= n (n > 0). */
static inline uint32_t fc_ceil_log2(uint32_t n)
{
    return n > 1 ? 32 - (uint32_t)__builtin_clz(n - 1) : 0;
}

/* ---- time on an idle network: LogGP (Alexandrov, Ionescu, Schauser & Scheiman, SPAA'95) ---- */

struct fc_loggp {
    double latency_s, send_s, recv_s, gap_s, s_per_byte; /* L, o of the sender and of the receiver, g, G */
};
/* Of a message of b bytes, with w = (b - 1) G: */
static inline double fc_loggp_wire_s(const struct fc_loggp *p, double bytes)
{
    return bytes > 1 ? (bytes - 1) * p->s_per_byte : 0;
}
static inline double fc_loggp_recv_s(const struct fc_loggp *p, double bytes) /* r = o_r + w */
{
    return p->recv_s + fc_loggp_wire_s(p, bytes);
}
static inline double fc_loggp_hop_s(const struct fc_loggp *p, double bytes) /* H = o_s + L + r */
{
    return p->send_s + p->latency_s + fc_loggp_recv_s(p, bytes);
}
/* From one send to the next of a member, s = max(o_s, g + w); and of receives, q = max(o_r, g) + w. */
static inline double fc_loggp_send_gap_s(const struct fc_loggp *p, double bytes)
{
    double card = p->gap_s + fc_loggp_wire_s(p, bytes);
    return card > p->send_s ? card : p->send_s;
}
static inline double fc_loggp_recv_gap_s(const struct fc_loggp *p, double bytes)
{
    return (p->recv_s > p->gap_s ? p->recv_s : p->gap_s) + fc_loggp_wire_s(p, bytes);
}

/* ---- the algorithms ---- */

/* Every member does the same in every round: `n_sends` sends, then as many receives. The messages of one
 * member in one round are known without building any. An empty block of an alltoallv is no message. */
struct fc_collective_alike {
    uint32_t (*n_rounds)(uint32_t n);
    uint32_t (*n_sends)(uint32_t n); /* of a member in a round; NULL: one */
    /* To whom, from whom the member's k-th send and receive of the round are. from NULL: the call is always listed, never
     * worked out as it comes (solvers/replay/replay_rounds.c). */
    uint32_t (*to)(uint32_t n, uint32_t member, uint32_t round, uint32_t k);
    uint32_t (*from)(uint32_t n, uint32_t member, uint32_t round, uint32_t k);
    uint32_t (*block)(uint32_t n, uint32_t from, uint32_t to, uint32_t round); /* whose the one block of a message is */
    double (*bytes)(const struct fc_schedule *s, uint32_t from, uint32_t to, uint32_t round); /* NULL: of `block` */
    uint32_t (*n_reduce)(uint32_t n); /* rounds of a reduction, the first ones, that reduce; NULL: all of them */
    enum fc_message_work (*packs)(uint32_t n, uint32_t round); /* of blocks in this round; NULL: never */
};
/* Sends of a member in all rounds. */
static inline uint32_t fc_alike_sends(const struct fc_collective_alike *alike, uint32_t n)
{
    return alike->n_rounds(n) * (alike->n_sends ? alike->n_sends(n) : 1);
}
/* What the receiver does with a message of operation `op` in that round, by the alike algorithm. */
static inline enum fc_message_work fc_alike_work(const struct fc_collective_alike *alike, enum fc_message_work of_op,
                                                 uint32_t n, uint32_t round)
{
    enum fc_message_work packs = alike->packs ? alike->packs(n, round) : FC_WORK_NONE;
    if (packs) return packs;
    return alike->n_reduce && round >= alike->n_reduce(n) ? FC_WORK_NONE : of_op;
}
/* What receivers do in a collective operation, before anything is handed back. */
static inline enum fc_message_work fc_op_work(enum fc_op op)
{
    return op == FC_OP_REDUCE || op == FC_OP_ALLREDUCE || op == FC_OP_REDUCE_SCATTER || op == FC_OP_SCAN
               ? FC_WORK_REDUCES
               : FC_WORK_NONE;
}

/* A call that the network carries out. */
struct fc_hardware_call {
    const struct fc_network *net;
    const struct fc_background *background; /* NULL: none */
    const double *background_bytes_per_s;   /* [n_links] or NULL */
    const struct fc_software *software;     /* of the end points */
    uint32_t n, root;
    const uint32_t *node; /* [n] of each member */
    double bytes;
};
struct fc_collective_hardware {
    bool together; /* nobody leaves before all have entered, and time counts from then; else from the root's entering */
    /* When each member may leave: at_s[n]. FC_INPUT: the machine does not have it, or not for these nodes; the
     * message says why. */
    enum fc_code (*times)(const struct fc_hardware_call *call, double *at_s, struct fc_status *st);
};

enum fc_collective_need { FC_ANY_MEMBERS, FC_POWER_OF_TWO_MEMBERS, FC_EVEN_MEMBERS };
struct fc_collective_algorithm {
    enum fc_op op;
    const char *name, *source;
    enum fc_collective_need need;
    void (*build)(struct fc_schedule *s);    /* NULL: alike */
    const struct fc_collective_alike *alike; /* NULL: members do different things, or not yet by step */
    /* Time from when all members enter to when the last leaves, equal blocks, `bytes` as in enum fc_op. Exact
     * for the replay's LogGOPS on an idle network with O = 0, messages up to S, and g <= o_s + o_r (then the
     * network card is free again when a member has answered). NaN when memory runs out. */
    double (*time_s)(const struct fc_loggp *p, uint32_t n, double bytes);
    const struct fc_collective_hardware *hardware; /* NULL: messages; else it needs a machine and time_s is NULL */
};
extern const struct fc_collective_algorithm fc_collective_algorithms[]; /* ends with name NULL */

/* Buffers as long as the whole vector that each member takes anew for a call, and the share of its messages that leaves out of
 * one (collective_buffers.c). */
struct fc_collective_fresh {
    uint32_t buffers;
    double sent;
};
struct fc_collective_fresh fc_collective_buffers(const struct fc_collective_algorithm *algorithm);
/* The algorithm of that operation and name, the first of the operation when name is NULL; NULL: none. */
const struct fc_collective_algorithm *fc_collective_named(enum fc_op op, const char *name);
/* FC_INPUT when the algorithm cannot do with n members: says what it needs. */
enum fc_code fc_collective_fits(const struct fc_collective_algorithm *algorithm, uint32_t n, struct fc_status *st);
/* Closed-form time; 0 for one member, and for 0 bytes but of a barrier; NaN of what the network carries out. The
 * algorithm fits n. */
double fc_collective_time_s(const struct fc_collective_algorithm *algorithm, const struct fc_loggp *p, uint32_t n,
                            double bytes);

/* The messages of a call by a given algorithm, appended as fc_collective_messages_by does. FC_INPUT also when
 * it cannot do with n members. */
enum fc_code fc_collective_build(const struct fc_collective_algorithm *algorithm, uint32_t n, uint32_t root,
                                 double bytes, const double *list, struct fc_arena *arena, struct fc_message **messages,
                                 uint64_t *n_messages, struct fc_status *st);

/* ---- algorithms with `alike` (collective_alike.c) ---- */

/* One round less than members; the member that many ahead or behind; 2^round ahead; the bytes from each to each. */
uint32_t fc_alike_less_one(uint32_t n);
uint32_t fc_alike_ahead(uint32_t n, uint32_t member, uint32_t round, uint32_t k);
uint32_t fc_alike_behind(uint32_t n, uint32_t member, uint32_t round, uint32_t k);
uint32_t fc_alike_far_ahead(uint32_t n, uint32_t member, uint32_t round, uint32_t k);
double fc_alike_matrix(const struct fc_schedule *s, uint32_t from, uint32_t to, uint32_t round);
void fc_collective_alike_build(const struct fc_collective_alike *alike, struct fc_schedule *s);

/* ---- which algorithm: collective_choice.c; rules in collective_mpich.c, collective_openmpi.c, collective_vendors.c ---- */

/* What decides between algorithms. */
struct fc_collective_call {
    enum fc_op op;
    uint32_t n;
    double total; /* bytes of the vector, of all blocks, or of what a member sends in an alltoall (mean) */
    bool uneven;  /* members' blocks differ: gatherv, scatterv, allgatherv */
};
/* How a library chooses: the name of the algorithm in the table; NULL: the operation is no collective. */
struct fc_collective_rules {
    const char *name, *source;
    const char *(*pick)(const struct fc_collective_call *call);
};
extern const struct fc_collective_rules fc_collective_rules[]; /* the default first; ends with name NULL */
const char *fc_collective_mpich(const struct fc_collective_call *call);
const char *fc_collective_mpich4(const struct fc_collective_call *call);
const char *fc_collective_openmpi(const struct fc_collective_call *call);
const char *fc_collective_cray(const struct fc_collective_call *call);
const char *fc_collective_fjmpi(const struct fc_collective_call *call);
/* NULL: there are none of that name. */
const struct fc_collective_rules *fc_collective_rules_named(const char *name);
/* Of the library that a trace's `recorded` begins with, by its MPI_Get_library_version; NULL: it tells none that we
 * know. text NULL: none. */
const struct fc_collective_rules *fc_collective_rules_of(const char *text);

struct fc_collective_choice {
    const struct fc_collective_rules *rules;                 /* NULL: the default */
    const struct fc_collective_algorithm *fixed[FC_N_OPS];   /* NULL: by rules */
    const struct fc_collective_rules *fixed_rules[FC_N_OPS]; /* of this operation; NULL: as the others */
};
/* Reads names of rules, "hardware" (barrier=hardware,bcast=hardware) and OP=ALGORITHM, comma-separated, into *choice.
 * An algorithm may have a library's name for it (collective_alias.c). FC_INPUT names those known. */
enum fc_code fc_collective_choice_read(const char *text, struct fc_collective_choice *choice, struct fc_status *st);
/* The choice as such a text, cut to the size. */
void fc_collective_choice_text(const struct fc_collective_choice *choice, char *text, size_t size);
/* choice NULL: the default rules. NULL when the operation is no collective. A fixed algorithm is returned whether it
 * fits or not. */
const struct fc_collective_algorithm *fc_collective_select(const struct fc_collective_choice *choice,
                                                           const struct fc_collective_call *call);

/* ---- what libraries call algorithms: collective_alias.c ---- */

struct fc_collective_alias {
    enum fc_op op;
    const char *library; /* whose meaning: "ompi", "mpich", "fjmpi"; "": all who have the name */
    const char *alias, *name;
};
extern const struct fc_collective_alias fc_collective_aliases[]; /* ends with alias NULL */
/* Text of `length` bytes as an algorithm of the operation. A suffix _ompi, _mpich or _over (HLC-Lab/pico's own), or a prefix
 * default- (FJMPI), says whose meaning the name has; - and _ are alike. Of a set of rules, of "default" with a library, and of
 * MPICH's "nb", *rules are those and the algorithm is NULL; both NULL: unknown. */
const struct fc_collective_algorithm *fc_collective_known_as(enum fc_op op, const char *text, size_t length,
                                                             const struct fc_collective_rules **rules);

/* Appends the messages of collective `op` among n members (root: member number; bytes as in enum fc_op; list: bytes
 * from each to each for ALLTOALLV as [n][n] row-major; for GATHER, SCATTER, ALLGATHER, REDUCE_SCATTER each member's bytes
 * [n] where they differ; or NULL) to *messages (grown in the arena), ordered by round. choice NULL: the default rules. */
enum fc_code fc_collective_messages_by(const struct fc_collective_choice *choice, enum fc_op op, uint32_t n,
                                       uint32_t root, double bytes, const double *list, struct fc_arena *arena,
                                       struct fc_message **messages, uint64_t *n_messages, struct fc_status *st);
