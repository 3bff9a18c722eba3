/* pmpi_fortran.c - the Fortran names of MPI: mpi_x_ (mpif.h, use mpi) and mpi_x_f08_ (use mpi_f08).
 *
 * Open MPI's Fortran layer calls the C functions by their PMPI names, so a C wrapper never sees a Fortran program. Every
 * argument is an address, and a handle of mpi_f08 is a struct of one integer: both interfaces take the same arguments in
 * the same order, so one line makes both wrappers. They call pmpi_x_ and not PMPI_x, which keeps the meaning of Fortran's
 * MPI_IN_PLACE and MPI_STATUS_IGNORE. `err` is optional in mpi_f08 (then NULL).
 *
 * MPICH's layer calls the C functions by their MPI names, but for mpi_f08 only those with buffers (mpi_send_f08ts_); the
 * others, mpi_wait_f08_, are wrapped here. A wrapper that a layer has no function for is never called.
 *
 * The real functions are weak: a C program has none of them, and then nobody calls these wrappers. Arguments are named
 * a, b, c, ... in MPI's order. */
#include "traces/pmpi/pmpi_record.h"

#include <stdlib.h>

typedef MPI_Fint fint;

/* Constants are addresses of these. */
#ifdef OPEN_MPI
extern int mpi_fortran_in_place_ __attribute__((weak));
extern int mpi_fortran_status_ignore_ __attribute__((weak));
extern int mpi_fortran_statuses_ignore_ __attribute__((weak));
#define IN_PLACE(x) is_at(x, &mpi_fortran_in_place_)
#define STATUS_IGNORE &mpi_fortran_status_ignore_
#define STATUSES_IGNORE &mpi_fortran_statuses_ignore_
#else
#pragma weak MPIR_F08_MPI_STATUS_IGNORE_OBJ
#pragma weak MPIR_F08_MPI_STATUSES_IGNORE_OBJ
#define IN_PLACE(x) (x == NULL)
#define STATUS_IGNORE &MPIR_F08_MPI_STATUS_IGNORE_OBJ
#define STATUSES_IGNORE MPIR_F08_MPI_STATUSES_IGNORE_OBJ
#endif

static inline bool is_at(const void *argument, const void *constant)
{
    return constant && argument == constant;
}

#define INT(x) (*(const fint *)(x))
#define INTS(x) ((const fint *)(x))
#define TYPE(x) PMPI_Type_f2c(INT(x))
#define COMM(x) PMPI_Comm_f2c(INT(x))
#define WIN(x) PMPI_Win_f2c(INT(x))
#define REQUEST(x) PMPI_Request_f2c(INT(x))
#define MESSAGE(x) PMPI_Message_f2c(INT(x))

#define P0
#define P1 void *a,
#define P2 P1 void *b,
#define P3 P2 void *c,
#define P4 P3 void *d,
#define P5 P4 void *e,
#define P6 P5 void *f,
#define P7 P6 void *g,
#define P8 P7 void *h,
#define P9 P8 void *i,
#define P10 P9 void *j,
#define P11 P10 void *k,
#define P12 P11 void *l,
#define P13 P12 void *m,
#define A0
#define A1 a,
#define A2 A1 b,
#define A3 A2 c,
#define A4 A3 d,
#define A5 A4 e,
#define A6 A5 f,
#define A7 A6 g,
#define A8 A7 h,
#define A9 A8 i,
#define A10 A9 j,
#define A11 A10 k,
#define A12 A11 l,
#define A13 A12 m,

/* Both interfaces of one function with n arguments; `before` runs ahead of the call, `log` after it. */
#define ONE(real, name, n, args, before, log)                                                                          \
    void real(P##n fint *err) __attribute__((weak));                                                                   \
    void name(P##n fint *err);                                                                                         \
    void name(P##n fint *err)                                                                                          \
    {                                                                                                                  \
        struct fc_pmpi_call call;                                                                                      \
        fint no_err;                                                                                                   \
        err = err ? err : &no_err;                                                                                     \
        fc_pmpi_enter(&call);                                                                                          \
        before;                                                                                                        \
        real args;                                                                                                     \
        call.rc = *err;                                                                                                \
        log;                                                                                                           \
    }
/* What -fno-underscoring and -fsecond-underscore make of a name. */
#define ALIAS(name, n, of) void name(P##n fint *err) __attribute__((alias(#of)));
#ifdef OPEN_MPI
#define REAL_F08(name) pmpi_##name##_f08_
#define WRAP_BEFORE(name, n, args, before, log)                                                                        \
    ONE(pmpi_##name##_, mpi_##name##_, n, args, before, log)                                                           \
    ALIAS(mpi_##name, n, mpi_##name##_)                                                                                \
    ALIAS(mpi_##name##__, n, mpi_##name##_)                                                                            \
    ONE(REAL_F08(name), mpi_##name##_f08_, n, args, before, log)
#else
#define REAL_F08(name) pmpir_##name##_f08_
#define WRAP_BEFORE(name, n, args, before, log) ONE(REAL_F08(name), mpi_##name##_f08_, n, args, before, log)
#endif
#define WRAP(name, n, log) WRAP_BEFORE(name, n, (A##n err), (void)0, log)
#define OTHER fc_log_other(&call)

WRAP(init, 0, fc_pmpi_start(&call))
WRAP(init_thread, 2, fc_pmpi_start(&call))
WRAP(finalize, 0, fc_pmpi_finish(&call))
WRAP_BEFORE(abort, 2, (A2 err), fc_pmpi_abort(), OTHER)

/* ---- point to point ---- */

#define SEND(name, mode) WRAP(name, 6, fc_log_send(&call, mode, INT(b), TYPE(c), INT(d), INT(e), COMM(f)))
#define ISEND(name, mode) WRAP(name, 7, fc_log_isend(&call, mode, INT(b), TYPE(c), INT(d), INT(e), COMM(f), REQUEST(g)))
#define PERSISTENT(name, mode)                                                                                         \
    WRAP(name, 7, fc_log_persistent(&call, mode, INT(b), TYPE(c), INT(d), INT(e), COMM(f), REQUEST(g)))
SEND(send, 0)
SEND(ssend, 1)
SEND(bsend, 2)
SEND(rsend, 3)
ISEND(isend, 0)
ISEND(issend, 1)
ISEND(ibsend, 2)
ISEND(irsend, 3)
PERSISTENT(send_init, 0)
PERSISTENT(ssend_init, 1)
PERSISTENT(bsend_init, 2)
PERSISTENT(rsend_init, 3)
PERSISTENT(recv_init, -1)
WRAP(irecv, 7, fc_log_irecv(&call, INT(b), TYPE(c), INT(d), INT(e), COMM(f), REQUEST(g)))

/* A status of our own where the program wants none. */
enum { STATUS_INTS = sizeof(MPI_Status) / sizeof(fint) };
#define OWN_STATUS(x)                                                                                                  \
    fint own[STATUS_INTS];                                                                                             \
    void *st = is_at(x, STATUS_IGNORE) ? own : x;                                                                      \
    MPI_Status s
#define STATUS (PMPI_Status_f2c(st, &s), &s)
WRAP_BEFORE(recv, 7, (A6 st, err), OWN_STATUS(g), fc_log_recv(&call, COMM(f), STATUS))
WRAP_BEFORE(sendrecv, 12, (A11 st, err), OWN_STATUS(l),
            fc_log_sendrecv(&call, INT(b), TYPE(c), INT(d), INT(e), COMM(k), STATUS))
WRAP_BEFORE(sendrecv_replace, 9, (A8 st, err), OWN_STATUS(i),
            fc_log_sendrecv(&call, INT(b), TYPE(c), INT(d), INT(e), COMM(h), STATUS))
WRAP_BEFORE(mrecv, 5, (A4 st, err), OWN_STATUS(e);
            struct fc_comm *was = fc_message_take(&call, MESSAGE(d)), fc_log_mrecv(&call, was, STATUS))
WRAP_BEFORE(imrecv, 5, (A5 err), struct fc_comm *was = fc_message_take(&call, MESSAGE(d)),
            fc_log_imrecv(&call, was, INT(b), TYPE(c), REQUEST(e)))
WRAP(probe, 4, fc_log_probe(&call, true))
WRAP(iprobe, 5, fc_log_probe(&call, INT(d) != 0))
WRAP(mprobe, 5, fc_log_mprobe(&call, true, COMM(c), MESSAGE(d)))
WRAP(improbe, 6, fc_log_mprobe(&call, INT(d) != 0, COMM(c), MESSAGE(e)))
WRAP_BEFORE(cancel, 1, (A1 err), (void)0, fc_log_cancel(&call, REQUEST(a)))
WRAP_BEFORE(request_free, 1, (A1 err), struct fc_pmpi_request *was = fc_request_take(&call, REQUEST(a)),
            fc_log_request_free(&call, was))

/* ---- lists of requests ---- */

/* C handles of the program's requests, and statuses that can be read after the call. */
enum { FEW = 32 };
struct kept {
    MPI_Request few[FEW], *was;
    struct fc_pmpi_request **claimed;
    int n;
    fint few_status[FEW * STATUS_INTS], *status;
    bool own_status;
};

static void keep(struct kept *kept, int n, const fint *requests, void *statuses)
{
    kept->n = n;
    kept->claimed = NULL;
    kept->was = n <= FEW ? kept->few : malloc((size_t)n * sizeof *kept->was);
    kept->own_status = is_at(statuses, STATUS_IGNORE) || is_at(statuses, STATUSES_IGNORE);
    kept->status = statuses;
    if (kept->own_status)
        kept->status = n <= FEW ? kept->few_status : malloc((size_t)n * STATUS_INTS * sizeof *kept->status);
    if (n > 0 && (!kept->was || !kept->status)) abort();
    for (int i = 0; i < n; i++) kept->was[i] = PMPI_Request_f2c(requests[i]);
}

static void drop(struct kept *kept)
{
    if (kept->was != kept->few) free(kept->was);
    if (kept->own_status && kept->status != kept->few_status) free(kept->status);
}

static void status_at(const void *statuses, int k, MPI_Status *status)
{
    PMPI_Status_f2c((const fint *)statuses + (size_t)k * STATUS_INTS, status);
}

/* What the layer counts indices from. Those of MPICH 4.0's mpi_f08 are C's, from 0: asked with a request to nobody. */
#ifdef OPEN_MPI
static int index_base(void)
{
    return 1;
}
#else
void pmpir_waitany_f08_(P4 fint *err) __attribute__((weak));
static int index_base(void)
{
    static int known = -1;
    MPI_Request request;
    MPI_Status status;
    fint one = 1, handle, index = 1, err;
    if (known >= 0) return known;
    PMPI_Isend(NULL, 0, MPI_CHAR, MPI_PROC_NULL, 0, MPI_COMM_SELF, &request);
    handle = PMPI_Request_c2f(request);
    pmpir_waitany_f08_(&one, &handle, &index, &status, &err);
    return known = index == 0 ? 0 : 1;
}
#endif

static void log_wait(struct fc_pmpi_call *call, struct kept *kept, int n_done, const fint *index, bool is_test)
{
    struct fc_wait wait = {kept->was, kept->claimed, kept->n,  n_done, index, index ? index_base() : 0,
                           is_test,   kept->status,  status_at};
    fc_log_wait(call, &wait);
    drop(kept);
}

#define KEEP(n, requests, statuses)                                                                                    \
    struct kept kept;                                                                                                  \
    keep(&kept, n, INTS(requests), statuses);                                                                          \
    fc_request_claim(&call, n, kept.was, &kept.claimed)
#define DONE(out) (INT(out) == MPI_UNDEFINED ? 0 : INT(out))
WRAP_BEFORE(wait, 2, (A1 kept.status, err), KEEP(1, a, b), log_wait(&call, &kept, 1, NULL, false))
WRAP_BEFORE(waitall, 3, (A2 kept.status, err), KEEP(INT(a), b, c), log_wait(&call, &kept, INT(a), NULL, false))
WRAP_BEFORE(waitany, 4, (A3 kept.status, err), KEEP(INT(a), b, d),
            log_wait(&call, &kept, INT(c) != MPI_UNDEFINED, INTS(c), false))
WRAP_BEFORE(waitsome, 5, (A4 kept.status, err), KEEP(INT(a), b, e), log_wait(&call, &kept, DONE(c), INTS(d), false))
WRAP_BEFORE(test, 3, (A2 kept.status, err), KEEP(1, a, c), log_wait(&call, &kept, INT(b) != 0, NULL, true))
WRAP_BEFORE(testall, 4, (A3 kept.status, err), KEEP(INT(a), b, d),
            log_wait(&call, &kept, INT(c) ? INT(a) : 0, NULL, true))
WRAP_BEFORE(testany, 5, (A4 kept.status, err), KEEP(INT(a), b, e),
            log_wait(&call, &kept, INT(d) && INT(c) != MPI_UNDEFINED, INTS(c), true))
WRAP_BEFORE(testsome, 5, (A4 kept.status, err), KEEP(INT(a), b, e), log_wait(&call, &kept, DONE(c), INTS(d), true))

static void log_start(struct fc_pmpi_call *call, int n, const fint *requests)
{
    struct kept kept;
    keep(&kept, n, requests, kept.few_status);
    fc_log_start(call, n, kept.was);
    drop(&kept);
}
WRAP(start, 1, log_start(&call, 1, INTS(a)))
WRAP(startall, 2, log_start(&call, INT(a), INTS(b)))

/* ---- collectives: name, arguments when blocking and when not, then which of these is the request ---- */

#define NONBLOCKING(name, n, q, log)                                                                                   \
    WRAP_BEFORE(name, n, (A##n err), MPI_Request request, request = REQUEST(q); const MPI_Request *req = &request; log)
#define BLOCKING(name, n, log) WRAP_BEFORE(name, n, (A##n err), const MPI_Request *req = NULL, log)
#define BOTH(name, n, more, q, log) BLOCKING(name, n, log) NONBLOCKING(i##name, more, q, log)
#define COLLECTIVE(op, comm, root, bytes) fc_log_collective(&call, op, COMM(comm), root, bytes, req)
#define BYTES(n, t) fc_bytes_of(INT(n), TYPE(t))

BOTH(barrier, 1, 2, b, COLLECTIVE(FC_OP_BARRIER, a, -1, 0))
BOTH(bcast, 5, 6, f, COLLECTIVE(FC_OP_BCAST, e, INT(d), BYTES(b, c)))
BOTH(reduce, 7, 8, h, COLLECTIVE(FC_OP_REDUCE, g, INT(f), BYTES(c, d)))
BOTH(allreduce, 6, 7, g, COLLECTIVE(FC_OP_ALLREDUCE, f, -1, BYTES(c, d)))
#define LOG_SCAN COLLECTIVE(FC_OP_SCAN, f, -1, BYTES(c, d))
BOTH(scan, 6, 7, g, LOG_SCAN)
BOTH(exscan, 6, 7, g, LOG_SCAN)
BOTH(reduce_scatter, 6, 7, g, COLLECTIVE(FC_OP_REDUCE_SCATTER, f, -1, fc_own_bytes(COMM(f), INTS(c), TYPE(d))))
BOTH(reduce_scatter_block, 6, 7, g, COLLECTIVE(FC_OP_REDUCE_SCATTER, f, -1, BYTES(c, d)))
BOTH(gather, 8, 9, i, COLLECTIVE(FC_OP_GATHER, h, INT(g), IN_PLACE(a) ? BYTES(e, f) : BYTES(b, c)))
BOTH(gatherv, 9, 10, j,
     COLLECTIVE(FC_OP_GATHER, i, INT(h), IN_PLACE(a) ? fc_own_bytes(COMM(i), INTS(e), TYPE(g)) : BYTES(b, c)))
BOTH(scatter, 8, 9, i, COLLECTIVE(FC_OP_SCATTER, h, INT(g), IN_PLACE(d) ? BYTES(b, c) : BYTES(e, f)))
BOTH(scatterv, 9, 10, j,
     COLLECTIVE(FC_OP_SCATTER, i, INT(h), IN_PLACE(e) ? fc_own_bytes(COMM(i), INTS(b), TYPE(d)) : BYTES(f, g)))
BOTH(allgather, 7, 8, h, COLLECTIVE(FC_OP_ALLGATHER, g, -1, IN_PLACE(a) ? BYTES(e, f) : BYTES(b, c)))
BOTH(allgatherv, 8, 9, i,
     COLLECTIVE(FC_OP_ALLGATHER, h, -1, IN_PLACE(a) ? fc_own_bytes(COMM(h), INTS(e), TYPE(g)) : BYTES(b, c)))
BOTH(alltoall, 7, 8, h, COLLECTIVE(FC_OP_ALLTOALL, g, -1, IN_PLACE(a) ? BYTES(e, f) : BYTES(b, c)))
BOTH(alltoallv, 9, 10, j,
     fc_log_sizes(&call, COMM(i), INTS(IN_PLACE(a) ? f : b), IN_PLACE(a) ? TYPE(h) : TYPE(d), NULL, req))

/* With a type for each partner, the handles need converting. */
static void log_types(struct fc_pmpi_call *call, bool neighbors, fint comm, const fint *counts, const fint *types,
                      const MPI_Request *request)
{
    MPI_Comm handle = PMPI_Comm_f2c(comm);
    int n = 0, in, weighted, dims = 0, kind = MPI_UNDEFINED, rank;
    PMPI_Comm_rank(handle, &rank);
    if (neighbors) PMPI_Topo_test(handle, &kind);
    if (!neighbors) PMPI_Comm_size(handle, &n);
    if (kind == MPI_CART) PMPI_Cartdim_get(handle, &dims);
    if (kind == MPI_GRAPH) PMPI_Graph_neighbors_count(handle, rank, &n);
    if (kind == MPI_DIST_GRAPH) PMPI_Dist_graph_neighbors_count(handle, &in, &n, &weighted);
    n += 2 * dims;
    MPI_Datatype *type = malloc(((size_t)n + 1) * sizeof *type);
    if (!type) abort();
    for (int i = 0; i < n; i++) type[i] = PMPI_Type_f2c(types[i]);
    if (neighbors)
        fc_log_neighbors(call, handle, 0, counts, MPI_DATATYPE_NULL, type, request);
    else
        fc_log_sizes(call, handle, counts, MPI_DATATYPE_NULL, type, request);
    free(type);
}
BOTH(alltoallw, 9, 10, j, log_types(&call, false, INT(i), INTS(IN_PLACE(a) ? f : b), INTS(IN_PLACE(a) ? h : d), req))
#define LOG_NEIGHBOR(comm) fc_log_neighbors(&call, COMM(comm), INT(b), NULL, TYPE(c), NULL, req)
BOTH(neighbor_allgather, 7, 8, h, LOG_NEIGHBOR(g))
BOTH(neighbor_allgatherv, 8, 9, i, LOG_NEIGHBOR(h))
BOTH(neighbor_alltoall, 7, 8, h, LOG_NEIGHBOR(g))
BOTH(neighbor_alltoallv, 9, 10, j, fc_log_neighbors(&call, COMM(i), 0, INTS(b), TYPE(d), NULL, req))
BOTH(neighbor_alltoallw, 9, 10, j, log_types(&call, true, INT(i), INTS(b), INTS(d), req))

/* ---- communicators: the parent and the new one ---- */

#define MADE(parent, made) fc_log_comm(&call, COMM(parent), COMM(made))
WRAP(comm_dup, 2, MADE(a, b))
WRAP(comm_dup_with_info, 3, MADE(a, c))
WRAP(comm_idup, 3, fc_log_comm_idup(&call, COMM(a), COMM(b), REQUEST(c)))
WRAP(comm_split, 4, MADE(a, d))
WRAP(comm_split_type, 5, MADE(a, e))
WRAP(comm_create, 3, MADE(a, c))
WRAP(comm_create_group, 4, fc_log_comm_of_group(&call, COMM(a), INT(c), COMM(d)))
WRAP(cart_create, 6, MADE(a, f))
WRAP(cart_sub, 3, MADE(a, c))
WRAP(graph_create, 6, MADE(a, f))
WRAP(dist_graph_create, 9, MADE(a, i))
WRAP(dist_graph_create_adjacent, 10, MADE(a, j))
WRAP(intercomm_create, 6, fc_log_comm_of_group(&call, MPI_COMM_NULL, INT(e), COMM(f)))
WRAP(intercomm_merge, 3, MADE(a, c))
/* With the lengths of its texts behind. */
#define SPAWN(real, name, n)                                                                                           \
    void real(P##n fint *err, long length, long longer) __attribute__((weak));                                         \
    void name(P##n fint *err, long length, long longer);                                                               \
    void name(P##n fint *err, long length, long longer)                                                                \
    {                                                                                                                  \
        struct fc_pmpi_call call;                                                                                      \
        fint no_err;                                                                                                   \
        err = err ? err : &no_err;                                                                                     \
        fc_pmpi_enter(&call);                                                                                          \
        real(A##n err, length, longer);                                                                                \
        call.rc = *err;                                                                                                \
        fc_log_spawn(&call);                                                                                           \
    }
#ifdef OPEN_MPI
SPAWN(pmpi_comm_spawn_, mpi_comm_spawn_, 8)
SPAWN(pmpi_comm_spawn_multiple_, mpi_comm_spawn_multiple_, 9)
#endif
SPAWN(REAL_F08(comm_spawn), mpi_comm_spawn_f08_, 8)
SPAWN(REAL_F08(comm_spawn_multiple), mpi_comm_spawn_multiple_f08_, 9)
WRAP_BEFORE(comm_free, 1, (A1 err), struct fc_comm *was = fc_comm_take(&call, COMM(a)), fc_log_comm_free(&call, was))
WRAP_BEFORE(comm_disconnect, 1, (A1 err), struct fc_comm *was = fc_comm_take(&call, COMM(a)),
            fc_log_comm_free(&call, was))

/* ---- one-sided ---- */

#define MOVE(mode, n, t, to, w) fc_log_rma(&call, mode, n, TYPE(t), INT(to), WIN(w))
#define UPDATE(op) (PMPI_Op_f2c(INT(op)) == MPI_NO_OP ? FC_GET : FC_UPDATE)
WRAP(put, 8, MOVE(FC_PUT, INT(b), c, d, h))
WRAP(rput, 9, MOVE(FC_PUT, INT(b), c, d, h))
WRAP(get, 8, MOVE(FC_GET, INT(b), c, d, h))
WRAP(rget, 9, MOVE(FC_GET, INT(b), c, d, h))
WRAP(accumulate, 9, MOVE(FC_PUT, INT(b), c, d, i))
WRAP(raccumulate, 10, MOVE(FC_PUT, INT(b), c, d, i))
WRAP(get_accumulate, 12, MOVE(UPDATE(k), INT(e), f, g, l))
WRAP(rget_accumulate, 13, MOVE(UPDATE(k), INT(e), f, g, l))
WRAP(fetch_and_op, 7, MOVE(UPDATE(f), 1, c, d, g))
WRAP(compare_and_swap, 7, MOVE(FC_UPDATE, 1, d, e, g))
WRAP(win_create, 6, OTHER)
WRAP(win_allocate, 6, OTHER)
WRAP(win_allocate_cptr, 6, OTHER)
WRAP(win_allocate_shared, 6, OTHER)
WRAP(win_allocate_shared_cptr, 6, OTHER)
WRAP(win_create_dynamic, 3, OTHER)
WRAP_BEFORE(win_free, 1, (A1 err), struct fc_window *was = fc_win_take(&call, WIN(a)), fc_log_win_free(&call, was))
WRAP(win_fence, 2, OTHER)
WRAP(win_post, 3, OTHER)
WRAP(win_start, 3, OTHER)
WRAP(win_complete, 1, OTHER)
WRAP(win_wait, 1, OTHER)
WRAP(win_test, 2, fc_log_probe(&call, INT(b) != 0))
WRAP(win_lock, 4, OTHER)
WRAP(win_lock_all, 2, OTHER)
WRAP(win_unlock, 2, OTHER)
WRAP(win_unlock_all, 1, OTHER)
WRAP(win_flush, 2, OTHER)
WRAP(win_flush_all, 1, OTHER)
WRAP(win_flush_local, 2, OTHER)
WRAP(win_flush_local_all, 1, OTHER)
