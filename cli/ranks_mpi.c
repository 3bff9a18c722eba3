/* ranks_mpi.c - the kernel's ranks over MPI: in the library that is loaded where mpirun has started the program (ranks.h).
 *
 * MPI_THREAD_FUNNELED: the thread that began speaks for all of its rank. What fails within MPI ends all ranks
 * (MPI_ERRORS_ARE_FATAL, the default), and so does a message without memory for it. Who waits tries again for a while and
 * then sleeps between tries: MPI's own waits keep a processor busy, which others may want. */
#include "cli/ranks.h"

#include <limits.h>
#include <mpi.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { TAG = 1, SPINS = 400, SLEEP_NS = 20000, PIECE = 1 << 20 };

static void wait_a_little(int *tries)
{
    if (++*tries > SPINS) nanosleep(&(struct timespec){0, SLEEP_NS}, NULL);
}

static _Noreturn void end_all(const char *why)
{
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "fabricast: rank %d: %s\n", rank, why);
    MPI_Abort(MPI_COMM_WORLD, FC_NO);
    _exit(FC_NO); /* not reached */
}

static void give_up(const struct fc_ranks *ranks, const struct fc_status *why)
{
    (void)ranks;
    end_all(why->message);
}

static int words_of(size_t bytes)
{
    if (bytes / 8 > INT_MAX) end_all("a message between ranks is larger than MPI takes (use more ranks)");
    return (int)(bytes / 8);
}

static void finish(MPI_Request *request)
{
    int done = 0, tries = 0;
    for (MPI_Test(request, &done, MPI_STATUS_IGNORE); !done; MPI_Test(request, &done, MPI_STATUS_IGNORE))
        wait_a_little(&tries);
}

/* The message of that rank, if it is there. */
static bool take(int from, struct fc_parcel *in)
{
    MPI_Message message;
    MPI_Status status;
    int there = 0, n = 0;
    MPI_Improbe(from, TAG, MPI_COMM_WORLD, &there, &message, &status);
    if (!there) return false;
    MPI_Get_count(&status, MPI_UINT64_T, &n);
    if (!fc_parcel_room(in, (size_t)n * 8 + 8)) end_all("out of memory: a message of another rank");
    in->n = (size_t)n * 8;
    MPI_Mrecv(in->bytes, n, MPI_UINT64_T, &message, &status);
    return true;
}

static void exchange(const struct fc_ranks *ranks, int n, const int *peer, const struct fc_parcel *out,
                     struct fc_parcel *in)
{
    (void)ranks;
    MPI_Request *sent = malloc(((size_t)n + 1) * sizeof *sent);
    bool *came = calloc((size_t)n + 1, sizeof *came);
    if (!sent || !came) end_all("out of memory: messages to other ranks");
    for (int i = 0; i < n; i++)
        MPI_Isend(out[i].bytes, words_of(out[i].n), MPI_UINT64_T, peer[i], TAG, MPI_COMM_WORLD, &sent[i]);
    for (int left = n, tries = 0; left > 0;) {
        bool any = false;
        for (int i = 0; i < n; i++)
            if (!came[i] && take(peer[i], &in[i])) {
                came[i] = any = true;
                left--;
            }
        if (!any) wait_a_little(&tries);
    }
    for (int i = 0; i < n; i++) finish(&sent[i]);
    free(sent);
    free(came);
}

static void combine(uint64_t *value, size_t n, MPI_Op how)
{
    for (size_t from = 0; from < n; from += PIECE) {
        MPI_Request request;
        size_t some = n - from < PIECE ? n - from : PIECE;
        MPI_Iallreduce(MPI_IN_PLACE, value + from, (int)some, MPI_UINT64_T, how, MPI_COMM_WORLD, &request);
        finish(&request);
    }
}

static void sum(const struct fc_ranks *ranks, uint64_t *value, size_t n)
{
    (void)ranks;
    combine(value, n, MPI_SUM);
}

static void greatest(const struct fc_ranks *ranks, uint64_t *value, size_t n)
{
    (void)ranks;
    combine(value, n, MPI_MAX);
}

static void gather(const struct fc_ranks *ranks, const struct fc_parcel *out, struct fc_parcel *in, size_t *first)
{
    int n = ranks->size, *bytes = calloc((size_t)n, sizeof *bytes), *at = calloc((size_t)n, sizeof *at);
    if (!bytes || !at) end_all("out of memory: what all ranks say");
    int own = words_of(out->n * 8); /* bytes, as MPI counts them */
    MPI_Allgather(&own, 1, MPI_INT, bytes, 1, MPI_INT, MPI_COMM_WORLD);
    first[0] = 0;
    for (int i = 0; i < n; i++) {
        at[i] = words_of(first[i] * 8);
        first[i + 1] = first[i] + (size_t)bytes[i];
    }
    if (!fc_parcel_room(in, first[n] + 1)) end_all("out of memory: what all ranks say");
    in->n = first[n];
    MPI_Allgatherv(out->bytes, own, MPI_BYTE, in->bytes, bytes, at, MPI_BYTE, MPI_COMM_WORLD);
    free(bytes);
    free(at);
}

static bool open_ranks(struct fc_ranks *ranks)
{
    int provided;
    *ranks =
        (struct fc_ranks){.exchange = exchange, .sum = sum, .greatest = greatest, .gather = gather, .give_up = give_up};
    return MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) == MPI_SUCCESS &&
           provided >= MPI_THREAD_FUNNELED && MPI_Comm_rank(MPI_COMM_WORLD, &ranks->rank) == MPI_SUCCESS &&
           MPI_Comm_size(MPI_COMM_WORLD, &ranks->size) == MPI_SUCCESS;
}

static void close_ranks(void)
{
    MPI_Finalize();
}

extern const struct fc_ranks_library fc_ranks_mpi;
const struct fc_ranks_library fc_ranks_mpi = {open_ranks, close_ranks};
