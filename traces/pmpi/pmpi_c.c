/* pmpi_c.c - the C names of MPI, each calling the real function and logging what it did.
 *
 * One line a function: name, parameters, arguments, log. Waits and tests come first, because they need copies
 * of the handles that MPI overwrites and statuses even where the program wants none. */
#include "traces/pmpi/pmpi_record.h"

#include <stdlib.h>

/* ---- waits and tests ---- */

/* Copies of up to FEW handles and statuses need no memory of their own. */
enum { FEW = 32 };
struct kept {
    MPI_Request few[FEW], *was;
    struct fc_pmpi_request **claimed;
    int n;
    MPI_Status few_status[FEW], *status;
};

static void keep(const struct fc_pmpi_call *call, struct kept *kept, int n, const MPI_Request *requests,
                 MPI_Status *statuses)
{
    kept->n = n;
    kept->was = n <= FEW ? kept->few : malloc((size_t)n * sizeof *kept->was);
    kept->status = statuses;
    if (statuses == MPI_STATUSES_IGNORE)
        kept->status = n <= FEW ? kept->few_status : malloc((size_t)n * sizeof *kept->status);
    if (n > 0 && (!kept->was || !kept->status)) abort();
    for (int i = 0; i < n; i++) kept->was[i] = requests[i];
    fc_request_claim(call, n, kept->was, &kept->claimed);
}

static void drop(struct kept *kept, const MPI_Status *statuses)
{
    if (kept->was != kept->few) free(kept->was);
    if (kept->status != statuses && kept->status != kept->few_status) free(kept->status);
}

static void status_at(const void *statuses, int k, MPI_Status *status)
{
    *status = ((const MPI_Status *)statuses)[k];
}

static void log_wait(struct fc_pmpi_call *call, const struct kept *kept, int n_done, const int *index, bool is_test)
{
    struct fc_wait wait = {kept->was, kept->claimed, kept->n, n_done, index, 0, is_test, kept->status, status_at};
    fc_log_wait(call, &wait);
}

/* n: handles that the program passes; done: how many are complete; at: which (NULL: all in order). */
#define WAIT(name, params, args, n, requests, statuses, done, at, is_test)                                             \
    int MPI_##name params                                                                                              \
    {                                                                                                                  \
        struct fc_pmpi_call call;                                                                                      \
        struct kept kept;                                                                                              \
        fc_pmpi_enter(&call);                                                                                          \
        keep(&call, &kept, n, requests, statuses);                                                                     \
        call.rc = PMPI_##name args;                                                                                    \
        log_wait(&call, &kept, done, at, is_test);                                                                     \
        drop(&kept, statuses);                                                                                         \
        return call.rc;                                                                                                \
    }

WAIT(Wait, (MPI_Request * r, MPI_Status *s), (r, kept.status), 1, r, s, 1, NULL, false)
WAIT(Waitall, (int n, MPI_Request r[], MPI_Status s[]), (n, r, kept.status), n, r, s, n, NULL, false)
WAIT(Waitany, (int n, MPI_Request r[], int *i, MPI_Status *s), (n, r, i, kept.status), n, r, s, *i != MPI_UNDEFINED, i,
     false)
WAIT(Waitsome, (int n, MPI_Request r[], int *out, int i[], MPI_Status s[]), (n, r, out, i, kept.status), n, r, s,
     *out == MPI_UNDEFINED ? 0 : *out, i, false)
WAIT(Test, (MPI_Request * r, int *flag, MPI_Status *s), (r, flag, kept.status), 1, r, s, *flag ? 1 : 0, NULL, true)
WAIT(Testall, (int n, MPI_Request r[], int *flag, MPI_Status s[]), (n, r, flag, kept.status), n, r, s, *flag ? n : 0,
     NULL, true)
WAIT(Testany, (int n, MPI_Request r[], int *i, int *flag, MPI_Status *s), (n, r, i, flag, kept.status), n, r, s,
     *flag &&*i != MPI_UNDEFINED, i, true)
WAIT(Testsome, (int n, MPI_Request r[], int *out, int i[], MPI_Status s[]), (n, r, out, i, kept.status), n, r, s,
     *out == MPI_UNDEFINED ? 0 : *out, i, true)

/* ---- everything else ---- */

#define WRAP(name, params, args, log)                                                                                  \
    int MPI_##name params                                                                                              \
    {                                                                                                                  \
        struct fc_pmpi_call call;                                                                                      \
        fc_pmpi_enter(&call);                                                                                          \
        call.rc = PMPI_##name args;                                                                                    \
        log;                                                                                                           \
        return call.rc;                                                                                                \
    }
/* What the handle stands for before the call, which frees it. */
#define WRAP_OLD(name, type, old, params, args, log)                                                                   \
    int MPI_##name params                                                                                              \
    {                                                                                                                  \
        struct fc_pmpi_call call;                                                                                      \
        fc_pmpi_enter(&call);                                                                                          \
        type was = old;                                                                                                \
        call.rc = PMPI_##name args;                                                                                    \
        log;                                                                                                           \
        return call.rc;                                                                                                \
    }
/* A status of our own where the program wants none; `st` is what MPI gets. */
#define WRAP_STATUS(name, params, args, log)                                                                           \
    int MPI_##name params                                                                                              \
    {                                                                                                                  \
        struct fc_pmpi_call call;                                                                                      \
        MPI_Status own, *st = s == MPI_STATUS_IGNORE ? &own : s;                                                       \
        fc_pmpi_enter(&call);                                                                                          \
        call.rc = PMPI_##name args;                                                                                    \
        log;                                                                                                           \
        return call.rc;                                                                                                \
    }
#define OTHER fc_log_other(&call)

WRAP(Init, (int *argc, char ***argv), (argc, argv), fc_pmpi_start(&call))
WRAP(Init_thread, (int *argc, char ***argv, int need, int *got), (argc, argv, need, got), fc_pmpi_start(&call))
WRAP(Finalize, (void), (), fc_pmpi_finish(&call))

int MPI_Abort(MPI_Comm comm, int code)
{
    fc_pmpi_abort();
    return PMPI_Abort(comm, code);
}

/* Point to point. */
#define SEND(name, mode)                                                                                               \
    WRAP(name, (const void *b, int n, MPI_Datatype t, int d, int g, MPI_Comm c), (b, n, t, d, g, c),                   \
         fc_log_send(&call, mode, n, t, d, g, c))
#define ISEND(name, mode)                                                                                              \
    WRAP(name, (const void *b, int n, MPI_Datatype t, int d, int g, MPI_Comm c, MPI_Request *r),                       \
         (b, n, t, d, g, c, r), fc_log_isend(&call, mode, n, t, d, g, c, *r))
#define SEND_INIT(name, mode)                                                                                          \
    WRAP(name, (const void *b, int n, MPI_Datatype t, int d, int g, MPI_Comm c, MPI_Request *r),                       \
         (b, n, t, d, g, c, r), fc_log_persistent(&call, mode, n, t, d, g, c, *r))
SEND(Send, 0)
SEND(Ssend, 1)
SEND(Bsend, 2)
SEND(Rsend, 3)
ISEND(Isend, 0)
ISEND(Issend, 1)
ISEND(Ibsend, 2)
ISEND(Irsend, 3)
SEND_INIT(Send_init, 0)
SEND_INIT(Ssend_init, 1)
SEND_INIT(Bsend_init, 2)
SEND_INIT(Rsend_init, 3)
WRAP(Recv_init, (void *b, int n, MPI_Datatype t, int src, int g, MPI_Comm c, MPI_Request *r), (b, n, t, src, g, c, r),
     fc_log_persistent(&call, -1, n, t, src, g, c, *r))
WRAP_STATUS(Recv, (void *b, int n, MPI_Datatype t, int src, int g, MPI_Comm c, MPI_Status *s), (b, n, t, src, g, c, st),
            fc_log_recv(&call, c, st))
WRAP(Irecv, (void *b, int n, MPI_Datatype t, int src, int g, MPI_Comm c, MPI_Request *r), (b, n, t, src, g, c, r),
     fc_log_irecv(&call, n, t, src, g, c, *r))
WRAP_STATUS(Sendrecv,
            (const void *sb, int sn, MPI_Datatype sty, int d, int sg, void *rb, int rn, MPI_Datatype rt, int src,
             int rg, MPI_Comm c, MPI_Status *s),
            (sb, sn, sty, d, sg, rb, rn, rt, src, rg, c, st), fc_log_sendrecv(&call, sn, sty, d, sg, c, st))
WRAP_STATUS(Sendrecv_replace,
            (void *b, int n, MPI_Datatype t, int d, int sg, int src, int rg, MPI_Comm c, MPI_Status *s),
            (b, n, t, d, sg, src, rg, c, st), fc_log_sendrecv(&call, n, t, d, sg, c, st))
WRAP(Probe, (int src, int g, MPI_Comm c, MPI_Status *s), (src, g, c, s), fc_log_probe(&call, true))
WRAP(Iprobe, (int src, int g, MPI_Comm c, int *flag, MPI_Status *s), (src, g, c, flag, s), fc_log_probe(&call, *flag))
WRAP(Mprobe, (int src, int g, MPI_Comm c, MPI_Message *m, MPI_Status *s), (src, g, c, m, s),
     fc_log_mprobe(&call, true, c, *m))
WRAP(Improbe, (int src, int g, MPI_Comm c, int *flag, MPI_Message *m, MPI_Status *s), (src, g, c, flag, m, s),
     fc_log_mprobe(&call, *flag, c, *m))
int MPI_Mrecv(void *b, int n, MPI_Datatype t, MPI_Message *m, MPI_Status *s)
{
    struct fc_pmpi_call call;
    MPI_Status own, *st = s == MPI_STATUS_IGNORE ? &own : s;
    fc_pmpi_enter(&call);
    struct fc_comm *was = fc_message_take(&call, *m);
    call.rc = PMPI_Mrecv(b, n, t, m, st);
    fc_log_mrecv(&call, was, st);
    return call.rc;
}
WRAP_OLD(Imrecv, struct fc_comm *, fc_message_take(&call, *m),
         (void *b, int n, MPI_Datatype t, MPI_Message *m, MPI_Request *r), (b, n, t, m, r),
         fc_log_imrecv(&call, was, n, t, *r))
WRAP(Start, (MPI_Request * r), (r), fc_log_start(&call, 1, r))
WRAP(Startall, (int n, MPI_Request r[]), (n, r), fc_log_start(&call, n, r))
WRAP(Cancel, (MPI_Request * r), (r), fc_log_cancel(&call, *r))
WRAP_OLD(Request_free, struct fc_pmpi_request *, fc_request_take(&call, *r), (MPI_Request * r), (r),
         fc_log_request_free(&call, was))

/* Collectives: blocking and nonblocking from one line. req is the nonblocking one's request, else NULL. */
#define STRIP(...) __VA_ARGS__
#define BOTH(name, small, params, args, log)                                                                           \
    WRAP(name, (STRIP params), (STRIP args), const MPI_Request *req = NULL; log)                                       \
    WRAP(I##small, (STRIP params, MPI_Request * req), (STRIP args, req), log)
#define COLLECTIVE(op, root, bytes) fc_log_collective(&call, op, c, root, bytes, req)
#define IN_PLACE(b) ((b) == MPI_IN_PLACE)

BOTH(Barrier, barrier, (MPI_Comm c), (c), COLLECTIVE(FC_OP_BARRIER, -1, 0))
BOTH(Bcast, bcast, (void *b, int n, MPI_Datatype t, int root, MPI_Comm c), (b, n, t, root, c),
     COLLECTIVE(FC_OP_BCAST, root, fc_bytes_of(n, t)))
BOTH(Reduce, reduce, (const void *sb, void *rb, int n, MPI_Datatype t, MPI_Op op, int root, MPI_Comm c),
     (sb, rb, n, t, op, root, c), COLLECTIVE(FC_OP_REDUCE, root, fc_bytes_of(n, t)))
BOTH(Allreduce, allreduce, (const void *sb, void *rb, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c),
     (sb, rb, n, t, op, c), COLLECTIVE(FC_OP_ALLREDUCE, -1, fc_bytes_of(n, t)))
#define LOG_SCAN COLLECTIVE(FC_OP_SCAN, -1, fc_bytes_of(n, t))
BOTH(Scan, scan, (const void *sb, void *rb, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c), (sb, rb, n, t, op, c),
     LOG_SCAN)
BOTH(Exscan, exscan, (const void *sb, void *rb, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c), (sb, rb, n, t, op, c),
     LOG_SCAN)
BOTH(Reduce_scatter, reduce_scatter, (const void *sb, void *rb, const int rn[], MPI_Datatype t, MPI_Op op, MPI_Comm c),
     (sb, rb, rn, t, op, c), COLLECTIVE(FC_OP_REDUCE_SCATTER, -1, fc_own_bytes(c, rn, t)))
BOTH(Reduce_scatter_block, reduce_scatter_block,
     (const void *sb, void *rb, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c), (sb, rb, n, t, op, c),
     COLLECTIVE(FC_OP_REDUCE_SCATTER, -1, fc_bytes_of(n, t)))

/* "sb, sn, st" is what a rank sends, "rb, rn, rt" what it receives; in place, the other side's count stands.
 */
BOTH(Gather, gather,
     (const void *sb, int sn, MPI_Datatype sty, void *rb, int rn, MPI_Datatype rt, int root, MPI_Comm c),
     (sb, sn, sty, rb, rn, rt, root, c),
     COLLECTIVE(FC_OP_GATHER, root, IN_PLACE(sb) ? fc_bytes_of(rn, rt) : fc_bytes_of(sn, sty)))
BOTH(Gatherv, gatherv,
     (const void *sb, int sn, MPI_Datatype sty, void *rb, const int rn[], const int rd[], MPI_Datatype rt, int root,
      MPI_Comm c),
     (sb, sn, sty, rb, rn, rd, rt, root, c),
     COLLECTIVE(FC_OP_GATHER, root, IN_PLACE(sb) ? fc_own_bytes(c, rn, rt) : fc_bytes_of(sn, sty)))
BOTH(Scatter, scatter,
     (const void *sb, int sn, MPI_Datatype sty, void *rb, int rn, MPI_Datatype rt, int root, MPI_Comm c),
     (sb, sn, sty, rb, rn, rt, root, c),
     COLLECTIVE(FC_OP_SCATTER, root, IN_PLACE(rb) ? fc_bytes_of(sn, sty) : fc_bytes_of(rn, rt)))
BOTH(Scatterv, scatterv,
     (const void *sb, const int sn[], const int sd[], MPI_Datatype sty, void *rb, int rn, MPI_Datatype rt, int root,
      MPI_Comm c),
     (sb, sn, sd, sty, rb, rn, rt, root, c),
     COLLECTIVE(FC_OP_SCATTER, root, IN_PLACE(rb) ? fc_own_bytes(c, sn, sty) : fc_bytes_of(rn, rt)))
BOTH(Allgather, allgather, (const void *sb, int sn, MPI_Datatype sty, void *rb, int rn, MPI_Datatype rt, MPI_Comm c),
     (sb, sn, sty, rb, rn, rt, c),
     COLLECTIVE(FC_OP_ALLGATHER, -1, IN_PLACE(sb) ? fc_bytes_of(rn, rt) : fc_bytes_of(sn, sty)))
BOTH(Allgatherv, allgatherv,
     (const void *sb, int sn, MPI_Datatype sty, void *rb, const int rn[], const int rd[], MPI_Datatype rt, MPI_Comm c),
     (sb, sn, sty, rb, rn, rd, rt, c),
     COLLECTIVE(FC_OP_ALLGATHER, -1, IN_PLACE(sb) ? fc_own_bytes(c, rn, rt) : fc_bytes_of(sn, sty)))
BOTH(Alltoall, alltoall, (const void *sb, int sn, MPI_Datatype sty, void *rb, int rn, MPI_Datatype rt, MPI_Comm c),
     (sb, sn, sty, rb, rn, rt, c),
     COLLECTIVE(FC_OP_ALLTOALL, -1, IN_PLACE(sb) ? fc_bytes_of(rn, rt) : fc_bytes_of(sn, sty)))
BOTH(Alltoallv, alltoallv,
     (const void *sb, const int sn[], const int sd[], MPI_Datatype sty, void *rb, const int rn[], const int rd[],
      MPI_Datatype rt, MPI_Comm c),
     (sb, sn, sd, sty, rb, rn, rd, rt, c),
     fc_log_sizes(&call, c, IN_PLACE(sb) ? rn : sn, IN_PLACE(sb) ? rt : sty, NULL, req))
BOTH(Alltoallw, alltoallw,
     (const void *sb, const int sn[], const int sd[], const MPI_Datatype sty[], void *rb, const int rn[],
      const int rd[], const MPI_Datatype rt[], MPI_Comm c),
     (sb, sn, sd, sty, rb, rn, rd, rt, c),
     fc_log_sizes(&call, c, IN_PLACE(sb) ? rn : sn, MPI_DATATYPE_NULL, IN_PLACE(sb) ? rt : sty, req))
#define LOG_NEIGHBOR fc_log_neighbors(&call, c, sn, NULL, sty, NULL, req)
BOTH(Neighbor_allgather, neighbor_allgather,
     (const void *sb, int sn, MPI_Datatype sty, void *rb, int rn, MPI_Datatype rt, MPI_Comm c),
     (sb, sn, sty, rb, rn, rt, c), LOG_NEIGHBOR)
BOTH(Neighbor_allgatherv, neighbor_allgatherv,
     (const void *sb, int sn, MPI_Datatype sty, void *rb, const int rn[], const int rd[], MPI_Datatype rt, MPI_Comm c),
     (sb, sn, sty, rb, rn, rd, rt, c), LOG_NEIGHBOR)
BOTH(Neighbor_alltoall, neighbor_alltoall,
     (const void *sb, int sn, MPI_Datatype sty, void *rb, int rn, MPI_Datatype rt, MPI_Comm c),
     (sb, sn, sty, rb, rn, rt, c), LOG_NEIGHBOR)
BOTH(Neighbor_alltoallv, neighbor_alltoallv,
     (const void *sb, const int sn[], const int sd[], MPI_Datatype sty, void *rb, const int rn[], const int rd[],
      MPI_Datatype rt, MPI_Comm c),
     (sb, sn, sd, sty, rb, rn, rd, rt, c), fc_log_neighbors(&call, c, 0, sn, sty, NULL, req))
BOTH(Neighbor_alltoallw, neighbor_alltoallw,
     (const void *sb, const int sn[], const MPI_Aint sd[], const MPI_Datatype sty[], void *rb, const int rn[],
      const MPI_Aint rd[], const MPI_Datatype rt[], MPI_Comm c),
     (sb, sn, sd, sty, rb, rn, rd, rt, c), fc_log_neighbors(&call, c, 0, sn, MPI_DATATYPE_NULL, sty, req))

/* Communicators. */
#define MADE fc_log_comm(&call, c, *made)
WRAP(Comm_dup, (MPI_Comm c, MPI_Comm *made), (c, made), MADE)
WRAP(Comm_dup_with_info, (MPI_Comm c, MPI_Info info, MPI_Comm *made), (c, info, made), MADE)
WRAP(Comm_idup, (MPI_Comm c, MPI_Comm *made, MPI_Request *r), (c, made, r), fc_log_comm_idup(&call, c, *made, *r))
WRAP(Comm_split, (MPI_Comm c, int color, int key, MPI_Comm *made), (c, color, key, made), MADE)
WRAP(Comm_split_type, (MPI_Comm c, int type, int key, MPI_Info info, MPI_Comm *made), (c, type, key, info, made), MADE)
WRAP(Comm_create, (MPI_Comm c, MPI_Group g, MPI_Comm *made), (c, g, made), MADE)
WRAP(Comm_create_group, (MPI_Comm c, MPI_Group g, int tag, MPI_Comm *made), (c, g, tag, made),
     fc_log_comm_of_group(&call, c, tag, *made))
WRAP(Cart_create, (MPI_Comm c, int n, const int d[], const int p[], int reorder, MPI_Comm *made),
     (c, n, d, p, reorder, made), MADE)
WRAP(Cart_sub, (MPI_Comm c, const int keep_dims[], MPI_Comm *made), (c, keep_dims, made), MADE)
WRAP(Graph_create, (MPI_Comm c, int n, const int index[], const int edges[], int reorder, MPI_Comm *made),
     (c, n, index, edges, reorder, made), MADE)
WRAP(Dist_graph_create,
     (MPI_Comm c, int n, const int src[], const int deg[], const int dst[], const int w[], MPI_Info info, int reorder,
      MPI_Comm *made),
     (c, n, src, deg, dst, w, info, reorder, made), MADE)
WRAP(Dist_graph_create_adjacent,
     (MPI_Comm c, int in, const int src[], const int sw[], int out, const int dst[], const int dw[], MPI_Info info,
      int reorder, MPI_Comm *made),
     (c, in, src, sw, out, dst, dw, info, reorder, made), MADE)
WRAP(Intercomm_create, (MPI_Comm c, int leader, MPI_Comm peers, int remote, int tag, MPI_Comm *made),
     (c, leader, peers, remote, tag, made), fc_log_comm_of_group(&call, MPI_COMM_NULL, tag, *made))
WRAP(Intercomm_merge, (MPI_Comm c, int high, MPI_Comm *made), (c, high, made), MADE)
WRAP(Comm_spawn,
     (const char *command, char *argv[], int n, MPI_Info info, int root, MPI_Comm c, MPI_Comm *made, int codes[]),
     (command, argv, n, info, root, c, made, codes), fc_log_spawn(&call))
WRAP(Comm_spawn_multiple,
     (int kinds, char *commands[], char **argvs[], const int n[], const MPI_Info infos[], int root, MPI_Comm c,
      MPI_Comm *made, int codes[]),
     (kinds, commands, argvs, n, infos, root, c, made, codes), fc_log_spawn(&call))
WRAP_OLD(Comm_free, struct fc_comm *, fc_comm_take(&call, *c), (MPI_Comm * c), (c), fc_log_comm_free(&call, was))
WRAP_OLD(Comm_disconnect, struct fc_comm *, fc_comm_take(&call, *c), (MPI_Comm * c), (c), fc_log_comm_free(&call, was))

/* One-sided: what is moved is counted, the rest takes time. */
WRAP(Put, (const void *b, int n, MPI_Datatype t, int to, MPI_Aint at, int tn, MPI_Datatype tt, MPI_Win w),
     (b, n, t, to, at, tn, tt, w), fc_log_rma(&call, FC_PUT, n, t, to, w))
WRAP(Get, (void *b, int n, MPI_Datatype t, int to, MPI_Aint at, int tn, MPI_Datatype tt, MPI_Win w),
     (b, n, t, to, at, tn, tt, w), fc_log_rma(&call, FC_GET, n, t, to, w))
WRAP(Accumulate,
     (const void *b, int n, MPI_Datatype t, int to, MPI_Aint at, int tn, MPI_Datatype tt, MPI_Op op, MPI_Win w),
     (b, n, t, to, at, tn, tt, op, w), fc_log_rma(&call, FC_PUT, n, t, to, w))
WRAP(Rput,
     (const void *b, int n, MPI_Datatype t, int to, MPI_Aint at, int tn, MPI_Datatype tt, MPI_Win w, MPI_Request *r),
     (b, n, t, to, at, tn, tt, w, r), fc_log_rma(&call, FC_PUT, n, t, to, w))
WRAP(Rget, (void *b, int n, MPI_Datatype t, int to, MPI_Aint at, int tn, MPI_Datatype tt, MPI_Win w, MPI_Request *r),
     (b, n, t, to, at, tn, tt, w, r), fc_log_rma(&call, FC_GET, n, t, to, w))
WRAP(Raccumulate,
     (const void *b, int n, MPI_Datatype t, int to, MPI_Aint at, int tn, MPI_Datatype tt, MPI_Op op, MPI_Win w,
      MPI_Request *r),
     (b, n, t, to, at, tn, tt, op, w, r), fc_log_rma(&call, FC_PUT, n, t, to, w))
/* With MPI_NO_OP nothing goes to the target. */
#define UPDATE (op == MPI_NO_OP ? FC_GET : FC_UPDATE)
WRAP(Get_accumulate,
     (const void *b, int n, MPI_Datatype t, void *res, int rn, MPI_Datatype rt, int to, MPI_Aint at, int tn,
      MPI_Datatype tt, MPI_Op op, MPI_Win w),
     (b, n, t, res, rn, rt, to, at, tn, tt, op, w), fc_log_rma(&call, UPDATE, rn, rt, to, w))
WRAP(Rget_accumulate,
     (const void *b, int n, MPI_Datatype t, void *res, int rn, MPI_Datatype rt, int to, MPI_Aint at, int tn,
      MPI_Datatype tt, MPI_Op op, MPI_Win w, MPI_Request *r),
     (b, n, t, res, rn, rt, to, at, tn, tt, op, w, r), fc_log_rma(&call, UPDATE, rn, rt, to, w))
WRAP(Fetch_and_op, (const void *b, void *res, MPI_Datatype t, int to, MPI_Aint at, MPI_Op op, MPI_Win w),
     (b, res, t, to, at, op, w), fc_log_rma(&call, UPDATE, 1, t, to, w))
WRAP(Compare_and_swap, (const void *b, const void *cmp, void *res, MPI_Datatype t, int to, MPI_Aint at, MPI_Win w),
     (b, cmp, res, t, to, at, w), fc_log_rma(&call, FC_UPDATE, 1, t, to, w))
WRAP(Win_create, (void *b, MPI_Aint n, int unit, MPI_Info i, MPI_Comm c, MPI_Win *w), (b, n, unit, i, c, w), OTHER)
WRAP(Win_allocate, (MPI_Aint n, int unit, MPI_Info i, MPI_Comm c, void *b, MPI_Win *w), (n, unit, i, c, b, w), OTHER)
WRAP(Win_allocate_shared, (MPI_Aint n, int unit, MPI_Info i, MPI_Comm c, void *b, MPI_Win *w), (n, unit, i, c, b, w),
     OTHER)
WRAP(Win_create_dynamic, (MPI_Info i, MPI_Comm c, MPI_Win *w), (i, c, w), OTHER)
WRAP_OLD(Win_free, struct fc_window *, fc_win_take(&call, *w), (MPI_Win * w), (w), fc_log_win_free(&call, was))
WRAP(Win_fence, (int a, MPI_Win w), (a, w), OTHER)
WRAP(Win_post, (MPI_Group g, int a, MPI_Win w), (g, a, w), OTHER)
WRAP(Win_start, (MPI_Group g, int a, MPI_Win w), (g, a, w), OTHER)
WRAP(Win_complete, (MPI_Win w), (w), OTHER)
WRAP(Win_wait, (MPI_Win w), (w), OTHER)
WRAP(Win_test, (MPI_Win w, int *flag), (w, flag), fc_log_probe(&call, *flag))
WRAP(Win_lock, (int type, int to, int a, MPI_Win w), (type, to, a, w), OTHER)
WRAP(Win_lock_all, (int a, MPI_Win w), (a, w), OTHER)
WRAP(Win_unlock, (int to, MPI_Win w), (to, w), OTHER)
WRAP(Win_unlock_all, (MPI_Win w), (w), OTHER)
WRAP(Win_flush, (int to, MPI_Win w), (to, w), OTHER)
WRAP(Win_flush_all, (MPI_Win w), (w), OTHER)
WRAP(Win_flush_local, (int to, MPI_Win w), (to, w), OTHER)
WRAP(Win_flush_local_all, (MPI_Win w), (w), OTHER)
