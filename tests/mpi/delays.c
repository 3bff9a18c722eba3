/* delays.c - preloaded: a network between ranks of one host, with known delays (tests/validate_measure.sh).
 *
 * Messages of MPI_COMM_WORLD by MPI_Send, MPI_Recv, MPI_Isend, MPI_Irecv and MPI_Waitall take what LogGOPS says, with the terms
 * beyond it (docs/theory-timing.md); what really goes from rank to rank is empty. DELAYS holds, apart at blanks:
 *
 *     send recv L G O c S R reduce      s, s, s, s/B, s/B, s/B, B, s, s/B
 *
 * DELAYS_FILE: shared by the ranks. A pair's messages are received in the order in which they were sent. Requests are known by
 * their address. */
#include <fcntl.h>
#include <math.h>
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { MOST_RANKS = 8, RING = 4096, MOST_OPEN = 4096, TAG_BATCH = 10 /* of numbers that count (measure_parts.c) */ };

struct message {
    uint64_t sent, posted; /* number of the message + 1 */
    double announced_s, posted_s, arrival_s;
    int bytes;
};
struct shared {
    struct {
        pthread_spinlock_t lock;
        double free_s; /* from when its link is */
        struct message to[MOST_RANKS][RING];
    } from[MOST_RANKS];
};
static struct shared *all;
static double d_send, d_recv, d_latency, d_gap, d_byte, d_copy, d_eager, d_rendezvous, d_reduce;
static int me, n_ranks;
static uint64_t n_sent[MOST_RANKS], n_posted[MOST_RANKS];

static struct open {
    const MPI_Request *at;
    int from, to;
    uint64_t number;
} opened[MOST_OPEN];

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void until(double end_s)
{
    double left = end_s - now_s() - 1e-4;
    if (left > 0) {
        struct timespec t = {.tv_sec = (time_t)left, .tv_nsec = (long)(1e9 * (left - floor(left)))};
        nanosleep(&t, NULL);
    }
    while (now_s() < end_s) {
    }
}

int MPI_Init(int *argc, char ***argv)
{
    int result = PMPI_Init(argc, argv), fd = open(getenv("DELAYS_FILE"), O_RDWR);
    PMPI_Comm_rank(MPI_COMM_WORLD, &me);
    PMPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    if (sscanf(getenv("DELAYS"), "%lf %lf %lf %lf %lf %lf %lf %lf %lf", &d_send, &d_recv, &d_latency, &d_gap, &d_byte,
               &d_copy, &d_eager, &d_rendezvous, &d_reduce) != 9 ||
        n_ranks > MOST_RANKS || fd < 0)
        PMPI_Abort(MPI_COMM_WORLD, 3);
    if (me == 0 && ftruncate(fd, sizeof *all)) PMPI_Abort(MPI_COMM_WORLD, 3);
    PMPI_Barrier(MPI_COMM_WORLD);
    all = mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (all == MAP_FAILED) PMPI_Abort(MPI_COMM_WORLD, 3);
    pthread_spin_init(&all->from[me].lock, PTHREAD_PROCESS_SHARED);
    prctl(PR_SET_TIMERSLACK, 1);
    PMPI_Barrier(MPI_COMM_WORLD);
    return result;
}

static struct message *message_of(int from, int to, uint64_t number)
{
    return &all->from[from].to[to][number % RING];
}

/* Both sides are known: the message's time on the link. The lock is held. */
static void settle(int from, struct message *m)
{
    double leaves = m->bytes > d_eager ? fmax(m->posted_s, m->announced_s + d_latency) + d_latency : m->announced_s;
    double begins = fmax(leaves, all->from[from].free_s);
    all->from[from].free_s = begins + m->bytes * d_gap;
    m->arrival_s = begins + m->bytes * d_gap + d_latency;
}

/* What really goes has gone since start_s: within the time of the call. */
static uint64_t begin_send(double start_s, int bytes, int to)
{
    uint64_t number = n_sent[to]++;
    struct message *m = message_of(me, to, number);
    double cpu = d_send + (bytes > 1 ? (bytes - 1) * d_byte : 0) + (bytes > d_eager ? d_rendezvous : bytes * d_copy);
    until(start_s + cpu);
    pthread_spin_lock(&all->from[me].lock);
    m->bytes = bytes;
    m->announced_s = now_s();
    m->arrival_s = 0;
    m->sent = number + 1;
    if (bytes <= d_eager || m->posted == number + 1) settle(me, m);
    pthread_spin_unlock(&all->from[me].lock);
    return number;
}

static uint64_t begin_receive(int from)
{
    uint64_t number = n_posted[from]++;
    struct message *m = message_of(from, me, number);
    pthread_spin_lock(&all->from[from].lock);
    m->posted = number + 1;
    m->posted_s = now_s();
    if (m->sent == number + 1 && m->bytes > d_eager) settle(from, m);
    pthread_spin_unlock(&all->from[from].lock);
    return number;
}

/* Until it has arrived; when that was. */
static double wait_for(int from, int to, uint64_t number)
{
    struct message *m = message_of(from, to, number);
    for (double arrival = 0;;) {
        pthread_spin_lock(&all->from[from].lock);
        if (m->sent == number + 1) arrival = m->arrival_s;
        pthread_spin_unlock(&all->from[from].lock);
        if (arrival > 0) return until(arrival), arrival;
        nanosleep(&(struct timespec){.tv_nsec = 2000}, NULL);
    }
}

/* Returns when it is taken, by a rank that is free from clock_s on. */
static double take(double clock_s, int from, uint64_t number)
{
    clock_s = fmax(clock_s, wait_for(from, me, number));
    int bytes = message_of(from, me, number)->bytes;
    clock_s += d_recv + (bytes > 1 ? (bytes - 1) * d_byte : 0) + (bytes > d_eager ? d_rendezvous : bytes * d_copy);
    until(clock_s);
    return clock_s;
}

static struct open *find(const MPI_Request *at)
{
    size_t i = ((uintptr_t)at / sizeof *at) % MOST_OPEN;
    while (opened[i].at && opened[i].at != at) i = (i + 1) % MOST_OPEN;
    return &opened[i];
}

int MPI_Send(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    int size;
    if (comm != MPI_COMM_WORLD) return PMPI_Send(buffer, count, type, to, tag, comm);
    PMPI_Type_size(type, &size);
    double start_s = now_s();
    PMPI_Send(buffer, tag == TAG_BATCH ? count : 0, type, to, tag, comm);
    uint64_t number = begin_send(start_s, count * size, to);
    if (count * size > d_eager) wait_for(me, to, number);
    return MPI_SUCCESS;
}

int MPI_Recv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    if (comm != MPI_COMM_WORLD) return PMPI_Recv(buffer, count, type, from, tag, comm, status);
    double start_s = now_s();
    uint64_t number = begin_receive(from);
    PMPI_Recv(buffer, count, type, from, tag, comm, status);
    take(start_s, from, number);
    return MPI_SUCCESS;
}

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    int size;
    double start_s = now_s();
    PMPI_Type_size(type, &size);
    PMPI_Isend(buffer, 0, type, to, tag, comm, request);
    *find(request) = (struct open){request, me, to, begin_send(start_s, count * size, to)};
    return MPI_SUCCESS;
}

int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request)
{
    *find(request) = (struct open){request, from, me, begin_receive(from)};
    return PMPI_Irecv(buffer, count, type, from, tag, comm, request);
}

int MPI_Waitall(int n, MPI_Request request[], MPI_Status *statuses)
{
    double clock_s = now_s();
    int result = PMPI_Waitall(n, request, statuses);
    for (int i = 0; i < n; i++) {
        struct open *o = find(&request[i]);
        if (o->from != me)
            clock_s = take(clock_s, o->from, o->number);
        else if (message_of(me, o->to, o->number)->bytes > d_eager)
            wait_for(me, o->to, o->number);
    }
    return result;
}

int MPI_Reduce_local(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op)
{
    int size;
    (void)in, (void)out, (void)op;
    PMPI_Type_size(type, &size);
    until(now_s() + count * size * d_reduce);
    return MPI_SUCCESS;
}
