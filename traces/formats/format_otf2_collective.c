/* format_otf2_collective.c - collectives of OTF2 as events: operation, members, bytes.
 *
 * OTF2 has what a rank sent and received in all. Score-P counts what each member sends to each, itself too
 * (not itself when in place; its scorep_mpi_coll.h), and so are the sums read: of N members and m bytes an
 * allreduce, allgather or alltoall sends N m, or (N - 1) m in place; rank r of a scan sends (N - r) m and
 * receives (r + 1) m; a reduce_scatter receives N m. A multiple of N counts as not in place. Sizes of each
 * member of an alltoallv are not recorded: the sum is spread evenly, and noted. */
#include "traces/formats/format_otf2.h"

#include <inttypes.h>

enum {
    OP_BARRIER,
    OP_BCAST,
    OP_GATHER,
    OP_GATHERV,
    OP_SCATTER,
    OP_SCATTERV,
    OP_ALLGATHER,
    OP_ALLGATHERV,
    OP_ALLTOALL,
    OP_ALLTOALLV,
    OP_ALLTOALLW,
    OP_ALLREDUCE,
    OP_REDUCE,
    OP_REDUCE_SCATTER,
    OP_SCAN,
    OP_EXSCAN,
    OP_REDUCE_SCATTER_BLOCK,
    OP_CREATE_HANDLE,
    OP_CREATE_AND_ALLOCATE = 21
};

/* bytes / n, or / (n - 1) when in place, or as they are when written by another rule. */
static int64_t share(struct fc_otf2_rank *r, uint64_t bytes, uint32_t n)
{
    if (bytes % n == 0) return (int64_t)(bytes / n);
    if (n > 1 && bytes % (n - 1) == 0) return (int64_t)(bytes / (n - 1));
    fc_sink_note(r->sink, "collectives whose sizes are no multiple of the members: taken as one member's", 1);
    return (int64_t)bytes;
}

static int64_t scan_bytes(struct fc_otf2_rank *r, const struct fc_otf2_collective *c, uint32_t n, uint32_t place)
{
    uint64_t whole = c->received / (place + 1);
    if (whole * (place + 1) == c->received && c->sent == whole * (n - place)) return (int64_t)whole;
    return n > 1 ? share(r, c->sent + c->received, n - 1) : (int64_t)c->sent;
}

/* Operation and bytes; false: no collective that is known. */
static bool shape(struct fc_otf2_rank *r, const struct fc_otf2_collective *c, uint32_t n, uint32_t place,
                  struct fc_event *e)
{
    static const uint8_t ops[] = {
        FC_OP_BARRIER,   FC_OP_BCAST,          FC_OP_GATHER,   FC_OP_GATHER,    FC_OP_SCATTER,       FC_OP_SCATTER,
        FC_OP_ALLGATHER, FC_OP_ALLGATHER,      FC_OP_ALLTOALL, FC_OP_ALLTOALLV, FC_OP_ALLTOALLV,     FC_OP_ALLREDUCE,
        FC_OP_REDUCE,    FC_OP_REDUCE_SCATTER, FC_OP_SCAN,     FC_OP_SCAN,      FC_OP_REDUCE_SCATTER};
    if (c->op < 0 || c->op > OP_REDUCE_SCATTER_BLOCK) return false;
    e->op = ops[c->op];
    switch (c->op) {
    case OP_BARRIER: break;
    case OP_BCAST: e->bytes = c->received ? (int64_t)c->received : share(r, c->sent, n); break;
    case OP_GATHER:
    case OP_REDUCE: e->bytes = c->sent || n < 2 ? (int64_t)c->sent : share(r, c->received, n - 1); break;
    case OP_SCATTER: e->bytes = c->received || n < 2 ? (int64_t)c->received : share(r, c->sent, n - 1); break;
    case OP_GATHERV:
    case OP_ALLTOALLV:
    case OP_ALLTOALLW: e->bytes = (int64_t)c->sent; break;
    case OP_SCATTERV: e->bytes = (int64_t)c->received; break;
    case OP_REDUCE_SCATTER:
    case OP_REDUCE_SCATTER_BLOCK: e->bytes = share(r, c->received, n); break;
    case OP_SCAN:
    case OP_EXSCAN: e->bytes = scan_bytes(r, c, n, place); break;
    default: e->bytes = share(r, c->sent, n);
    }
    return true;
}

static bool is_rooted(int op)
{
    return op == FC_OP_BCAST || op == FC_OP_GATHER || op == FC_OP_SCATTER || op == FC_OP_REDUCE;
}

/* The collective's event in `e`; *spread: members over which its bytes are spread; *known false: it is left
 * as time. */
static enum fc_code collective_event(struct fc_otf2_rank *r, const struct fc_otf2_collective *c, struct fc_event *e,
                                     uint32_t *spread, bool *known)
{
    const struct fc_otf2_comm *comm;
    *known = false;
    *spread = 0;
    if (c->sent > INT64_MAX / 2 || c->received > INT64_MAX / 2)
        return fc_otf2_fail(r, "a collective of %" PRIu64 " bytes sent and %" PRIu64 " received", c->sent, c->received);
    if (fc_otf2_comm_of(r, c->comm, &comm, &e->comm) || !comm) return r->st->code;
    uint32_t n = comm->self ? 1 : comm->n, place = 0;
    while (!comm->self && place < n && comm->member[place] != r->rank) place++;
    if (place == n)
        return fc_otf2_fail(r, "a collective on communicator %" PRIu32 ", in which the rank is not", c->comm);
    *known = shape(r, c, n, place, e);
    if (!*known || r->st->code) return r->st->code;
    if (is_rooted(e->op)) return fc_otf2_world_of(r, comm, c->root, &e->peer);
    if (e->op != FC_OP_ALLTOALLV) return FC_OK;
    *spread = n;
    return e->bytes ? fc_sink_note(r->sink,
                                   "MPI_Alltoallv and Alltoallw: only their sums are recorded, spread evenly here", 1)
                    : FC_OK;
}

static bool makes_comm(const char *name)
{
    static const char *const words[] = {"Comm_*", "Cart_*", "Graph_*", "Dist_graph_*", "Intercomm_*", NULL};
    return fc_otf2_is_one_of(name, words);
}

/* A handle was made: a communicator when the archive says so, or the call's name does. */
static enum fc_code handle_made(struct fc_otf2_rank *r, const struct fc_otf2_collective *c)
{
    const struct fc_otf2_comm *parent;
    int32_t number;
    bool named = r->call && makes_comm(r->call);
    if (r->made < 0 && !named) return FC_OK; /* a window or file: by its name */
    if (fc_otf2_comm_of(r, c->comm, &parent, &number) || !parent) return r->st->code;
    struct fc_otf2_item *i = fc_otf2_add_item(r, FC_OP_COMM);
    if (!i) return r->st->code;
    i->event.comm = r->made;
    i->event.peer = number;
    return FC_OK;
}

enum fc_code fc_otf2_collective(struct fc_otf2_rank *r, const struct fc_otf2_collective *c, double time_s)
{
    struct fc_event e = fc_hold_plain(FC_OP_OTHER, 0, 0, 0);
    uint32_t spread;
    bool known;
    if (c->op == OP_CREATE_HANDLE || c->op == OP_CREATE_AND_ALLOCATE)
        return handle_made(r, c) ? r->st->code : fc_otf2_settle(r, time_s);
    if (collective_event(r, c, &e, &spread, &known)) return r->st->code;
    if (!known) return FC_OK;
    struct fc_otf2_item *i = fc_otf2_add_item(r, e.op);
    if (!i) return r->st->code;
    i->event = e;
    i->n = spread;
    return fc_otf2_settle(r, time_s);
}

enum fc_code fc_otf2_collective_done(struct fc_otf2_rank *r, const struct fc_otf2_collective *c, uint64_t request,
                                     double time_s)
{
    struct fc_event e = fc_hold_plain(FC_OP_OTHER, 0, 0, 0);
    struct fc_hold_request *of = fc_otf2_find_request(r, request);
    uint32_t spread;
    bool known;
    if (r->st->code) return r->st->code;
    if (!of) return fc_otf2_unknown_request(r) ? r->st->code : fc_otf2_settle(r, time_s);
    if (collective_event(r, c, &e, &spread, &known)) return r->st->code;
    if (!known) {
        fc_otf2_cancel(r, of);
    } else {
        if (spread && !fc_otf2_make_room(r, (void **)&r->list, spread, &r->list_capacity, sizeof *r->list))
            return r->st->code;
        for (uint32_t k = 0; k < spread; k++) r->list[k] = e.bytes / spread + (k < e.bytes % spread);
        e.n_list = spread;
        if (fc_hold_resolve(&r->hold, of, &e, r->list)) return r->st->code;
    }
    return fc_otf2_done(r, of) ? r->st->code : fc_otf2_settle(r, time_s);
}
