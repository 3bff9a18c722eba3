/* measure_parts.c - what two ranks do to measure one thing.
 *
 * A sample is one round, or as many short ones as take 10 us. Rounds go on in batches, whose length `from` tells `to` before
 * each, until the interval of the median (order statistics, 95 %) is narrower than NARROW of it, or the order's time is over.
 * The first rounds are not counted: they open connections. */
#include "answer/mpi/measure_mpi.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NARROW 0.02
#define SAMPLE_S 1e-5
#define LONG_PAUSE_S 2e-3
#define QUICK_S 0.02
enum {
    MOST_SAMPLES = 4000,
    ENOUGH = 25,
    LEAST = 5,
    WARM = 2,
    TAG_BATCH = 10,
    TAG_DATA,
    TAG_BACK,
    TAG_NEVER,
    MOST_WINDOW = 256
};

MPI_Comm control;

static double *samples;
static char *buffer[2];
static int buffer_bytes;

void wait_softly(int from, int tag, MPI_Comm comm)
{
    static const struct timespec pause = {.tv_nsec = 200000};
    for (int there = 0;;) {
        MPI_Iprobe(from, tag, comm, &there, MPI_STATUS_IGNORE);
        if (there) return;
        nanosleep(&pause, NULL);
    }
}

static void make_room(int bytes)
{
    if (!samples) samples = malloc(MOST_SAMPLES * sizeof *samples);
    for (int i = 0; i < 2 && bytes > buffer_bytes; i++) {
        free(buffer[i]);
        buffer[i] = malloc((size_t)bytes);
        if (buffer[i]) memset(buffer[i], 0, (size_t)bytes);
    }
    if (!samples || (bytes > 0 && (!buffer[0] || !buffer[1]))) MPI_Abort(MPI_COMM_WORLD, 1);
    if (bytes > buffer_bytes) buffer_bytes = bytes;
}

/* Outside of MPI: asleep, at the end awake, so that it ends in time. */
static void pause_for(double seconds)
{
    double end = MPI_Wtime() + seconds;
    double asleep = seconds - LONG_PAUSE_S;
    if (asleep > 0) {
        struct timespec t = {.tv_sec = (time_t)asleep, .tv_nsec = (long)(1e9 * (asleep - floor(asleep)))};
        nanosleep(&t, NULL);
    }
    while (MPI_Wtime() < end) {
    }
}

/* Within MPI, with no receive: what needs the library's progress alone gets it. */
static void progress_for(double seconds, int from)
{
    double end = MPI_Wtime() + seconds;
    int there;
    while (MPI_Wtime() < end) MPI_Iprobe(from, TAG_NEVER, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts. */
static struct result median_of(double *x, int n)
{
    qsort(x, (size_t)n, sizeof *x, ascending);
    int half = (int)ceil(0.98 * sqrt(n)), low = (n - 1) / 2 - half, high = n / 2 + half;
    return (struct result){0.5 * (x[(n - 1) / 2] + x[n / 2]), x[low < 0 ? 0 : low], x[high >= n ? n - 1 : high], n};
}

/* What a look at the clock costs. */
static double clock_s(void)
{
    static double cost_s = -1;
    double x[101];
    for (int i = 0; cost_s < 0 && i < 101; i++) {
        double start = MPI_Wtime();
        x[i] = MPI_Wtime() - start;
    }
    if (cost_s < 0) cost_s = median_of(x, 101).median_s;
    return cost_s;
}

/* ---- one round of each part ---- */

static void send_to(int rank, int bytes, int tag)
{
    MPI_Send(buffer[0], bytes, MPI_BYTE, rank, tag, MPI_COMM_WORLD);
}
static void receive_from(int rank, int bytes, int tag)
{
    MPI_Recv(buffer[1], bytes, MPI_BYTE, rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Returns the sample of `from`. */
static double lead(const struct order *o, int inner)
{
    double start, end;
    switch (o->part) {
    case PART_LATENCY:
        start = MPI_Wtime();
        for (int i = 0; i < inner; i++) {
            send_to(o->to, o->bytes, TAG_DATA);
            receive_from(o->to, o->bytes, TAG_DATA);
        }
        return (MPI_Wtime() - start) / inner / 2;
    case PART_SEND:
        start = MPI_Wtime();
        send_to(o->to, o->bytes, TAG_DATA);
        end = MPI_Wtime();
        receive_from(o->to, 0, TAG_BACK);
        pause_for(o->pause_s);
        return end - start - clock_s();
    case PART_RECEIVE:
        send_to(o->to, 0, TAG_BACK);
        pause_for(o->pause_s);
        start = MPI_Wtime();
        receive_from(o->to, o->bytes, TAG_DATA);
        return MPI_Wtime() - start - clock_s();
    default: /* PART_PROBE */
        receive_from(o->to, 0, TAG_BACK);
        start = MPI_Wtime();
        send_to(o->to, o->bytes, TAG_DATA);
        end = MPI_Wtime();
        receive_from(o->to, 0, TAG_BACK);
        return end - start;
    }
}

static void follow(const struct order *o, int inner)
{
    switch (o->part) {
    case PART_LATENCY:
        for (int i = 0; i < inner; i++) {
            receive_from(o->from, o->bytes, TAG_DATA);
            send_to(o->from, o->bytes, TAG_DATA);
        }
        break;
    case PART_SEND:
        receive_from(o->from, o->bytes, TAG_DATA);
        send_to(o->from, 0, TAG_BACK);
        break;
    case PART_RECEIVE:
        receive_from(o->from, 0, TAG_BACK);
        send_to(o->from, o->bytes, TAG_DATA);
        break;
    default:
        send_to(o->from, 0, TAG_BACK);
        progress_for(o->pause_s, o->from);
        receive_from(o->from, o->bytes, TAG_DATA);
        send_to(o->from, 0, TAG_BACK);
    }
}

/* ---- rounds until it is known ---- */

struct batch {
    int rounds, inner;
};

static struct batch next_batch(const struct order *o, int n, double round_s, double left_s)
{
    struct batch b = {n < 4 ? 4 : n, 1};
    if (o->part == PART_PROBE) return (struct batch){n < 3 ? 3 - n : 0, 1};
    if (o->part == PART_LATENCY && round_s < SAMPLE_S) b.inner = (int)ceil(SAMPLE_S / fmax(round_s, 1e-7));
    double most = left_s / fmax(b.inner * round_s, 1e-7);
    int least = ENOUGH * b.inner * round_s < QUICK_S ? ENOUGH : LEAST;
    if (b.rounds > 400) b.rounds = 400;
    if (b.rounds > most) b.rounds = (int)most;
    if (b.rounds < least - n) b.rounds = least - n;
    if (b.rounds > MOST_SAMPLES - n) b.rounds = MOST_SAMPLES - n;
    if (b.rounds < 0) b.rounds = 0;
    return b;
}

static bool known(struct result r)
{
    return r.n >= ENOUGH && r.high_s - r.low_s <= NARROW * r.median_s;
}

static struct result lead_rounds(const struct order *o)
{
    struct result r = {0};
    struct batch b = {o->part == PART_PROBE ? 0 : WARM, 1};
    double start = MPI_Wtime(), round_s;
    MPI_Send(&b, 2, MPI_INT, o->to, TAG_BATCH, MPI_COMM_WORLD);
    for (int i = 0; i < b.rounds; i++) lead(o, 1);
    round_s = b.rounds ? (MPI_Wtime() - start) / b.rounds : 0;
    for (int n = 0;;) {
        b = known(r) ? (struct batch){0, 1} : next_batch(o, n, round_s, start + o->budget_s - MPI_Wtime());
        MPI_Send(&b, 2, MPI_INT, o->to, TAG_BATCH, MPI_COMM_WORLD);
        if (!b.rounds) break;
        double before = MPI_Wtime();
        for (int i = 0; i < b.rounds; i++) samples[n++] = lead(o, b.inner);
        double whole_s = (MPI_Wtime() - before) / b.rounds / b.inner;
        r = median_of(samples, n);
        /* One disturbance is no reason to give up: of a latency the median tells how long a round takes. */
        round_s = o->part == PART_LATENCY ? 2 * r.median_s : whole_s;
    }
    return r;
}

static void follow_rounds(const struct order *o)
{
    struct batch b;
    for (int n = 0;; n++) {
        MPI_Recv(&b, 2, MPI_INT, o->from, TAG_BATCH, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (!b.rounds && (n > 0 || o->part != PART_PROBE)) return;
        for (int i = 0; i < b.rounds; i++) follow(o, b.inner);
    }
}

/* ---- streams: two windows are under way, each is acknowledged ---- */

static void lead_windows(const struct order *o, int windows, double *arrived)
{
    MPI_Request request[2][MOST_WINDOW];
    static MPI_Status statuses[MOST_WINDOW]; /* MPICH warns of MPI_STATUSES_IGNORE */
    for (int i = 0; i < windows + 2; i++) {
        if (i >= 2) {
            receive_from(o->to, 0, TAG_BACK);
            arrived[i - 2] = MPI_Wtime();
            MPI_Waitall(o->window, request[i % 2], statuses);
        }
        for (int k = 0; i < windows && k < o->window; k++)
            MPI_Isend(buffer[0], o->bytes, MPI_BYTE, o->to, TAG_DATA, MPI_COMM_WORLD, &request[i % 2][k]);
    }
}

/* windows < 0: each is announced. */
static void follow_windows(const struct order *o, int windows)
{
    MPI_Request request[2][MOST_WINDOW];
    static MPI_Status statuses[MOST_WINDOW]; /* MPICH warns of MPI_STATUSES_IGNORE */
    for (int i = 0, more = 1; more; i++) {
        more = i < windows;
        if (windows < 0) MPI_Recv(&more, 1, MPI_INT, o->from, TAG_BATCH, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int k = 0; more && k < o->window; k++)
            MPI_Irecv(buffer[1], o->bytes, MPI_BYTE, o->from, TAG_DATA, MPI_COMM_WORLD, &request[i % 2][k]);
        if (i == 0) continue;
        MPI_Waitall(o->window, request[(i - 1) % 2], statuses);
        send_to(o->from, 0, TAG_BACK);
    }
}

static struct result lead_stream(const struct order *o)
{
    static double arrived[MOST_SAMPLES + 4];
    struct result r = {0};
    double start = MPI_Wtime(), window_s = 0;
    for (int n = 0, windows = LEAST + 3;;) {
        MPI_Send(&windows, 1, MPI_INT, o->to, TAG_BATCH, MPI_COMM_WORLD);
        if (!windows) return r;
        double before = MPI_Wtime();
        lead_windows(o, windows, arrived);
        window_s = (MPI_Wtime() - before) / windows;
        /* A batch begins with empty queues: its first window is not counted. Two windows are under way, and may end together. */
        for (int i = 3; i < windows; i++) samples[n++] = (arrived[i] - arrived[i - 2]) / 2 / o->window;
        r = median_of(samples, n);
        double left = (start + o->budget_s - MPI_Wtime()) / fmax(window_s, 1e-7);
        windows = known(r) ? 0 : n < 8 ? 8 : 2 * n > 400 ? 400 : 2 * n;
        if (windows > left) windows = left >= 6 ? (int)left : 0;
        if (windows + n > MOST_SAMPLES) windows = 0;
    }
}

static void follow_stream(const struct order *o)
{
    for (int windows;;) {
        MPI_Recv(&windows, 1, MPI_INT, o->from, TAG_BATCH, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (!windows) return;
        follow_windows(o, windows);
    }
}

/* ---- streams beside others: all go on until pause_s is over, and what counts is what they have together, a mean ---- */

static struct result lead_beside(const struct order *o)
{
    static double arrived[MOST_SAMPLES + 4];
    MPI_Request request[2][MOST_WINDOW];
    static MPI_Status statuses[MOST_WINDOW];
    int more = 1, issued = 0, first = 1;
    double start = MPI_Wtime();
    for (int i = 0; more || i < issued + 2; i++) {
        if (i >= 2) {
            receive_from(o->to, 0, TAG_BACK);
            arrived[i - 2] = MPI_Wtime();
            MPI_Waitall(o->window, request[i % 2], statuses);
        }
        if (!more) continue;
        more = i < LEAST + 3 || (i < MOST_SAMPLES && MPI_Wtime() < start + o->pause_s);
        MPI_Send(&more, 1, MPI_INT, o->to, TAG_BATCH, MPI_COMM_WORLD);
        if (!more) continue;
        for (int k = 0; k < o->window; k++)
            MPI_Isend(buffer[0], o->bytes, MPI_BYTE, o->to, TAG_DATA, MPI_COMM_WORLD, &request[i % 2][k]);
        issued++;
    }
    /* From a fifth of the time on; the last two windows came when others had ceased. */
    int last = issued - 3;
    while (first + LEAST < last && arrived[first] < start + o->pause_s / 5) first++;
    for (int i = first; i < last; i++) samples[i - first] = (arrived[i + 1] - arrived[i]) / o->window;
    double mean_s = (arrived[last] - arrived[first]) / (last - first) / o->window;
    struct result r = median_of(samples, last - first);
    return (struct result){mean_s, fmin(r.low_s, mean_s), fmax(r.high_s, mean_s), r.n};
}

/* ---- a reduction in memory ---- */

static struct result reduce(const struct order *o)
{
    struct result r = {0};
    double start = MPI_Wtime();
    int n = 0, count = o->bytes / (int)sizeof(double);
    while (n < 2 * ENOUGH || (n < MOST_SAMPLES && !known(r) && MPI_Wtime() < start + o->budget_s)) {
        if (n >= LEAST && MPI_Wtime() > start + o->budget_s) break;
        for (int i = 0; i < ENOUGH && n < MOST_SAMPLES; i++) {
            double before = MPI_Wtime();
            MPI_Reduce_local(buffer[0], buffer[1], count, MPI_DOUBLE, MPI_SUM);
            samples[n++] = MPI_Wtime() - before - clock_s();
        }
        r = median_of(samples, n);
    }
    return r;
}

void carry_out(const struct order *order, struct result *result)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    make_room(order->bytes);
    if (order->part == PART_REDUCE)
        *result = reduce(order);
    else if (rank == order->from)
        *result = order->together              ? lead_beside(order)
                  : order->part == PART_STREAM ? lead_stream(order)
                                               : lead_rounds(order);
    else if (order->together)
        follow_windows(order, -1);
    else if (order->part == PART_STREAM)
        follow_stream(order);
    else
        follow_rounds(order);
}
