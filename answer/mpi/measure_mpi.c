/* measure_mpi.c - the benchmark that `fabricast measure -o FILE -- mpirun ...` starts: fabricast-measure-FAMILY [--time S].
 *
 * Rank 0 gives orders to one pair of ranks after the other, or to several at once; all others sleep. What was measured goes to
 * standard output, in the rows of docs/measure-format.md. Ranks of one host are a node; where all are of one host each rank is
 * taken as a node. Quiet pairs first: latencies of some pairs, the eager limit by bisection (a send that returns before its
 * receive is posted is eager), then the pair of least and the one of greatest latency over sizes, calls, streams,
 * several ranks a node, all nodes at once. */
#include "answer/mpi/measure_mpi.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PAIRS = 10, MOST_TOGETHER = 4096, MOST_BYTES = 4 << 20, SHORT = 8, MOST_SHARING = 64 };

static int n_ranks, rows, set;
static char (*host)[MPI_MAX_PROCESSOR_NAME]; /* [n_ranks] */
static int n_nodes, *node, *first, *size;    /* node[rank]; first[node], size[node]: rank of it, how many */
static double begin_s, time_s;
static const char *const names[] = {
    [PART_LATENCY] = "latency", [PART_SEND] = "send",     [PART_RECEIVE] = "receive",
    [PART_PROBE] = "probe",     [PART_STREAM] = "stream", [PART_REDUCE] = "reduce",
};

/* ---- orders ---- */

static void print_row(const struct order *o, const struct result *r)
{
    printf("%s %d %d %d %d %d %.9g %.9g %.9g\n", names[o->part], o->together ? set : 0, o->from, o->to, o->bytes, r->n,
           r->median_s, r->low_s, r->high_s);
    fflush(stdout);
    rows++;
}

static void tell(const struct order *o, int rank)
{
    if (rank != 0) MPI_Send(o, sizeof *o, MPI_BYTE, rank, TAG_ORDER, control);
}

static void fetch(const struct order *o, struct result *r)
{
    if (o->from == 0) return;
    wait_softly(o->from, TAG_RESULT, control);
    MPI_Recv(r, sizeof *r, MPI_BYTE, o->from, TAG_RESULT, control, MPI_STATUS_IGNORE);
}

/* A row of one pair alone. */
static struct result measure(struct order o)
{
    struct result r = {0};
    tell(&o, o.from);
    if (o.to != o.from) tell(&o, o.to);
    if (o.from == 0 || o.to == 0) carry_out(&o, &r);
    fetch(&o, &r);
    print_row(&o, &r);
    return r;
}

/* Streams of n pairs at once: a set of rows. */
static void measure_together(struct order *o, int n)
{
    struct result r, mine = {0};
    int own = -1;
    set++;
    for (int i = 0; i < n; i++) {
        o[i].together = 1;
        tell(&o[i], o[i].from);
        tell(&o[i], o[i].to);
        if (o[i].from == 0 || o[i].to == 0) own = i;
    }
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 2; k++) {
            int rank = k ? o[i].to : o[i].from;
            if (rank == 0) continue;
            wait_softly(rank, TAG_READY, control);
            MPI_Recv(NULL, 0, MPI_BYTE, rank, TAG_READY, control, MPI_STATUS_IGNORE);
        }
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 2; k++)
            if ((k ? o[i].to : o[i].from) != 0) MPI_Send(NULL, 0, MPI_BYTE, k ? o[i].to : o[i].from, TAG_GO, control);
    if (own >= 0) carry_out(&o[own], &mine);
    for (int i = 0; i < n; i++) {
        r = mine;
        fetch(&o[i], &r);
        print_row(&o[i], &r);
    }
}

static void obey(void)
{
    struct order o;
    struct result r = {0};
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (;;) {
        wait_softly(0, TAG_ORDER, control);
        MPI_Recv(&o, sizeof o, MPI_BYTE, 0, TAG_ORDER, control, MPI_STATUS_IGNORE);
        if (o.part == PART_END) return;
        if (o.together) {
            MPI_Send(NULL, 0, MPI_BYTE, 0, TAG_READY, control);
            MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG_GO, control, MPI_STATUS_IGNORE);
        }
        carry_out(&o, &r);
        if (rank == o.from) MPI_Send(&r, sizeof r, MPI_BYTE, 0, TAG_RESULT, control);
    }
}

/* ---- who is where ---- */

static void find_nodes(void)
{
    char name[MPI_MAX_PROCESSOR_NAME] = "";
    int length, one = 1;
    MPI_Get_processor_name(name, &length);
    host = calloc((size_t)n_ranks, sizeof *host);
    node = calloc((size_t)n_ranks, sizeof *node);
    first = calloc((size_t)n_ranks, sizeof *first);
    size = calloc((size_t)n_ranks, sizeof *size);
    if (!host || !node || !first || !size) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Gather(name, sizeof name, MPI_CHAR, host, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int i = 1; i < n_ranks; i++) one = one && !strcmp(host[i], host[0]);
    for (int i = 0; i < n_ranks; i++) {
        int k = 0;
        while (!one && k < n_nodes && strcmp(host[first[k]], host[i])) k++;
        if (one) k = i;
        if (k == n_nodes) first[n_nodes++] = i;
        node[i] = k;
        size[k]++;
    }
}

/* Rank i of a node. */
static int rank_of(int which, int i)
{
    int rank = first[which];
    while (i > 0) i -= node[++rank] == which;
    return rank;
}

/* ---- what is measured ---- */

static double left_s(void)
{
    return time_s - (MPI_Wtime() - begin_s);
}

static struct result pair(int part, const int *of, int bytes, double budget_s, double pause_s)
{
    return measure((struct order){
        .part = part, .from = of[0], .to = of[1], .bytes = bytes, .budget_s = budget_s, .pause_s = pause_s});
}

/* Short messages of two windows last longer than an acknowledgement is under way. */
static int short_window = 64;

static int window_of(int bytes)
{
    int window = bytes > 0 ? (1 << 18) / bytes : short_window;
    return window > short_window ? short_window : window < 2 ? 2 : window;
}

static void set_window(double latency_s, double send_s)
{
    double window = 1.5 * latency_s / (send_s > 1e-8 ? send_s : 1e-8);
    if (window < 64 && 64 * latency_s < 5e-3) window = 64;
    short_window = window < 8 ? 8 : window > 256 ? 256 : (int)window;
}

static double stream(const int *of, int bytes, double budget_s)
{
    return measure((struct order){.part = PART_STREAM,
                                  .from = of[0],
                                  .to = of[1],
                                  .bytes = bytes,
                                  .budget_s = budget_s,
                                  .window = window_of(bytes)})
        .median_s;
}

/* Pairs from the first node to others near and far in the numbering, and across the middle. */
static int choose_pairs(int (*pairs)[2])
{
    int n = 0;
    for (int step = 1; step < n_nodes && n < MOST_PAIRS - 2; step *= 2)
        pairs[n][0] = first[0], pairs[n++][1] = first[step];
    if (n_nodes > 2 && (n_nodes - 1) & (n_nodes - 2)) pairs[n][0] = first[0], pairs[n++][1] = first[n_nodes - 1];
    if (n_nodes > 3) pairs[n][0] = first[n_nodes / 2 - 1], pairs[n++][1] = first[n_nodes / 2];
    return n;
}

/* Twice of three: a disturbance makes a send late, never early. */
static bool is_eager(const int *of, int bytes, double latency_s)
{
    double pause_s = 4 * latency_s > 4e-3 ? 4 * latency_s : 4e-3;
    return pair(PART_PROBE, of, bytes, 0, pause_s).median_s < pause_s / 2;
}

/* The greatest size whose sends do not wait for their receives; MOST_BYTES: none waited. */
static int find_eager(const int *of, double most_s)
{
    int low = 1, high = 1024;
    double latency_s = pair(PART_LATENCY, of, low, 0.01, 0).median_s;
    if (!is_eager(of, low, latency_s)) return 0;
    for (;; high *= 2) {
        latency_s = pair(PART_LATENCY, of, high, 0.01, 0).median_s;
        if (!is_eager(of, high, latency_s)) break;
        low = high;
        if (high >= MOST_BYTES || (high >= 1 << 17 && 2 * latency_s > most_s)) return MOST_BYTES;
    }
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (is_eager(of, middle, latency_s))
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Sizes around a limit: powers of two, and some on either side of it. */
static int list_sizes(int *list, int eager, int most)
{
    static const double around[] = {0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8};
    int n = 0;
    for (int bytes = 1; bytes <= most; bytes *= 2)
        if (bytes == 1 || bytes >= 8) list[n++] = bytes;
    for (size_t i = 0; eager > 4 && eager < MOST_BYTES && i < sizeof around / sizeof *around; i++)
        if (around[i] * eager <= most || around[i] <= 4) list[n++] = (int)(around[i] * eager);
    if (eager > 4 && eager < MOST_BYTES) list[n++] = eager + 1;
    for (int i = 1; i < n; i++)
        for (int k = i; k > 0 && list[k] < list[k - 1]; k--) {
            int other = list[k];
            list[k] = list[k - 1];
            list[k - 1] = other;
        }
    int kept = 0;
    for (int i = 0; i < n; i++)
        if (!kept || list[i] != list[kept - 1]) list[kept++] = list[i];
    return kept;
}

static void several(int (*pairs)[2], int n, int bytes, double message_s)
{
    static struct order o[MOST_TOGETHER];
    int window = bytes <= SHORT ? short_window : 2 * bytes > 1 << 17 ? 2 : (1 << 17) / bytes;
    double pause_s = 40 * window * message_s;
    pause_s = pause_s > 0.04 * time_s ? 0.04 * time_s : pause_s < 0.1 ? 0.1 : pause_s;
    if (n > MOST_TOGETHER) n = MOST_TOGETHER;
    for (int i = 0; i < n; i++)
        o[i] = (struct order){.part = PART_STREAM,
                              .from = pairs[i][0],
                              .to = pairs[i][1],
                              .bytes = bytes,
                              .window = window,
                              .pause_s = pause_s};
    measure_together(o, n);
}

/* Long messages of which several pairs that share a link send enough in that time. */
static int shared_size(int eager, int most, double per_byte_s)
{
    int bytes = most;
    while (bytes > 1 << 14 && bytes / 2 > 4 * eager && 200 * bytes * per_byte_s > 0.04 * time_s) bytes /= 2;
    return bytes;
}

/* 1, 2, 4, ... ranks a node, between two nodes; then between ranks of one. */
static void share_nodes(const int *of, int bytes, double short_s, double long_s)
{
    int a = node[of[0]], b = node[of[1]], most = size[a] < size[b] ? size[a] : size[b], pairs[MOST_SHARING][2];
    for (int k = 1; k <= most && k <= MOST_SHARING && most > 1; k = k < most && 2 * k > most ? most : 2 * k) {
        for (int i = 0; i < k; i++) pairs[i][0] = rank_of(a, i), pairs[i][1] = rank_of(b, i);
        several(pairs, k, SHORT, short_s);
        several(pairs, k, bytes, long_s);
    }
    if (size[a] < 2) return;
    int inside[2] = {rank_of(a, 0), rank_of(a, 1)}, k = size[a] / 2 < MOST_SHARING ? size[a] / 2 : MOST_SHARING;
    pair(PART_LATENCY, inside, SHORT, 0.02 * time_s, 0);
    double alone_s = stream(inside, bytes, 0.02 * time_s);
    for (int i = 0; i < k; i++) pairs[i][0] = rank_of(a, 2 * i), pairs[i][1] = rank_of(a, 2 * i + 1);
    if (k > 1) several(pairs, k, bytes, alone_s);
}

/* One rank a node: neighbours, and node i with node i + n / 2, each way round once. */
static void all_nodes(int bytes, double long_s)
{
    int half = n_nodes / 2, (*pairs)[2] = calloc((size_t)half + 1, sizeof *pairs);
    if (!pairs) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < half; i++) pairs[i][0] = first[2 * i], pairs[i][1] = first[2 * i + 1];
    if (half > 1) several(pairs, half, bytes, long_s);
    for (int i = 0; i < half; i++) pairs[i][0] = first[i], pairs[i][1] = first[i + half];
    if (half > 1) several(pairs, half, bytes, long_s);
    free(pairs);
}

static void reductions(double budget_s)
{
    int n = 0;
    for (int bytes = 64; bytes <= 1 << 20; bytes *= 4) n++;
    for (int bytes = 64; bytes <= 1 << 20; bytes *= 4)
        measure((struct order){.part = PART_REDUCE, .bytes = bytes, .budget_s = budget_s / n});
}

static void conduct(void)
{
    int pairs[MOST_PAIRS][2], sizes[64], n_pairs = choose_pairs(pairs), near = 0, far = 0, most = 1024;
    double of[MOST_PAIRS], longest_s = time_s / 250 > 0.25 ? 0.25 : time_s / 250 > 0.02 ? time_s / 250 : 0.02;
    for (int i = 0; i < n_pairs; i++) {
        of[i] = pair(PART_LATENCY, pairs[i], SHORT, 0.08 * time_s / n_pairs, 0).median_s;
        if (of[i] < of[near]) near = i;
        if (of[i] > of[far]) far = i;
    }
    int eager = find_eager(pairs[near], longest_s);
    printf("eager %d %d %d\n", pairs[near][0], pairs[near][1], eager < MOST_BYTES ? eager : -1);
    rows++;
    while (most < MOST_BYTES && (2 * pair(PART_LATENCY, pairs[near], most, 0.01, 0).median_s < longest_s)) most *= 2;
    if (eager < MOST_BYTES && most < 4 * eager) most = 4 * eager;
    /* Half of what is left is for the two pairs over sizes, in shares of the sizes that are left. */
    int n = list_sizes(sizes, eager, most);
    double budget_s = left_s(), short_s = 0, long_s = 0;
    for (int i = 0; i < n; i++) pair(PART_LATENCY, pairs[near], sizes[i], 0.25 * budget_s / n, 0);
    for (int i = 0; i < n && far != near; i++)
        if (sizes[i] == SHORT || sizes[i] == eager || sizes[i] == eager + 1 || sizes[i] == 4 * eager || i == n - 1)
            pair(PART_LATENCY, pairs[far], sizes[i], 0.1 * budget_s / 5, 0);
    double send_s = 0;
    for (int i = 0; i < n; i++) {
        bool is_short = sizes[i] <= 64;
        double pause_s = 4 * of[near] + (is_short ? 0 : longest_s / 2 * sizes[i] / most),
               share = is_short ? 0.02 : 0.01;
        if (sizes[i] > eager || (!is_short && sizes[i] != eager)) continue;
        double call_s = pair(PART_SEND, pairs[near], sizes[i], share * budget_s, pause_s).median_s;
        pair(PART_RECEIVE, pairs[near], sizes[i], share * budget_s, pause_s);
        if (send_s == 0 || call_s < send_s) send_s = call_s;
    }
    set_window(of[near], send_s);
    budget_s = left_s();
    for (int i = 0; i < n; i++) {
        bool some = sizes[i] <= SHORT || sizes[i] == 64 || sizes[i] == eager || sizes[i] == eager + 1 || i > n - 4;
        if (!some && sizes[i] & (sizes[i] - 1)) continue;
        double message_s = stream(pairs[near], sizes[i], 0.35 * budget_s / n);
        if (sizes[i] == SHORT) short_s = message_s;
        long_s = message_s;
    }
    /* Long messages that take no longer than they must to show a rate. */
    int bytes = sizes[n - 1], shared = shared_size(eager < MOST_BYTES ? eager : 0, bytes, long_s / bytes);
    share_nodes(pairs[near], shared, short_s, long_s / bytes * shared);
    for (int i = 0; i < n_pairs; i++)
        if (i != near) stream(pairs[i], shared, 0.2 * budget_s / n_pairs);
    all_nodes(shared, long_s / bytes * shared);
    reductions(0.02 * time_s);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    MPI_Comm_dup(MPI_COMM_WORLD, &control);
    time_s = argc == 3 && !strcmp(argv[1], "--time") ? strtod(argv[2], NULL) : argc == 1 ? 120 : 0;
    bool refused = !(time_s > 0) || n_ranks < 2;
    if (refused && rank == 0) fprintf(stderr, "usage: %s [--time SECONDS], on two ranks or more\n", argv[0]);
    if (!refused) {
        find_nodes();
        begin_s = MPI_Wtime();
        if (rank != 0) {
            obey();
        } else {
            printf("# fabricast measure 1: %d ranks on %d nodes\n", n_ranks, n_nodes);
            for (int i = 0; i < n_ranks; i++) printf("rank %d %d %s\n", i, node[i], host[i]);
            conduct();
            for (int i = 1; i < n_ranks; i++) tell(&(struct order){.part = PART_END}, i);
            printf("end %d %.3f\n", rows, MPI_Wtime() - begin_s);
        }
    }
    MPI_Comm_free(&control);
    MPI_Finalize();
    return refused ? 2 : 0;
}
