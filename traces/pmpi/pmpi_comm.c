/* pmpi_comm.c - communicators with their members as world ranks, and windows of one-sided calls.
 *
 * A communicator is looked up by its handle; one that nobody announced (MPI_COMM_SELF, or made by a call that
 * is not wrapped) is entered when first used. Handles are reused by MPI after a free, so making one
 * overwrites the entry; calls under way hold their communicator by counting its users. */
#include "traces/pmpi/pmpi_record.h"

#include <stdlib.h>
#include <string.h>

static struct {
    struct fc_handles comms, windows;
    MPI_Group world;
    int world_size, world_rank, n_comms;
    MPI_Comm last_handle; /* most calls in a row use one communicator */
    struct fc_comm *last;
} state;

/* ---- handles ---- */

static size_t slot_of(const struct fc_handles *table, const void *key)
{
    size_t i = (uintptr_t)key * (size_t)0x9e3779b97f4a7c15u;
    for (i ^= i >> 32;; i++) {
        size_t slot = i & (table->capacity - 1);
        if (!table->key[slot] || table->key[slot] == key) return slot;
    }
}

void *fc_handles_get(const struct fc_handles *table, const void *key)
{
    if (table->capacity == 0) return NULL;
    size_t slot = slot_of(table, key);
    return table->key[slot] ? table->value[slot] : NULL;
}

static void grow(struct fc_handles *table)
{
    struct fc_handles larger = {.capacity = table->capacity ? 2 * table->capacity : 256};
    larger.key = calloc(larger.capacity, sizeof *larger.key);
    larger.value = calloc(larger.capacity, sizeof *larger.value);
    if (!larger.key || !larger.value) abort(); /* a program out of memory: nothing sensible is left to do */
    for (size_t i = 0; i < table->capacity; i++)
        if (table->key[i]) fc_handles_set(&larger, table->key[i], table->value[i]);
    free(table->key);
    free(table->value);
    *table = larger;
}

/* Takes out a slot and moves up what was pushed behind it. */
static void take_out(struct fc_handles *table, size_t slot)
{
    table->key[slot] = NULL;
    table->used--;
    for (size_t i = (slot + 1) & (table->capacity - 1); table->key[i]; i = (i + 1) & (table->capacity - 1)) {
        void *key = table->key[i], *value = table->value[i];
        table->key[i] = NULL;
        size_t to = slot_of(table, key);
        table->key[to] = key;
        table->value[to] = value;
    }
}

void fc_handles_set(struct fc_handles *table, void *key, void *value)
{
    if (2 * (table->used + 1) > table->capacity) grow(table);
    size_t slot = slot_of(table, key);
    if (!value) {
        if (table->key[slot]) take_out(table, slot);
        return;
    }
    table->used += !table->key[slot];
    table->key[slot] = key;
    table->value[slot] = value;
}

static void *must(void *memory)
{
    if (!memory) abort();
    return memory;
}

/* ---- communicators ---- */

/* World ranks of a group's members, -1 for those outside (spawned or connected programs). */
static int *ranks_of_group(MPI_Group group, int *n)
{
    PMPI_Group_size(group, n);
    int *from = must(malloc((size_t)(*n + 1) * 2 * sizeof *from)), *to = from + *n;
    for (int i = 0; i < *n; i++) from[i] = i;
    if (*n) PMPI_Group_translate_ranks(group, *n, from, state.world, to);
    for (int i = 0; i < *n; i++) from[i] = to[i] == MPI_UNDEFINED ? -1 : to[i];
    return from;
}

static uint64_t hash_members(const int *member, int n, uint64_t h)
{
    for (int i = 0; i < n; i++) {
        h = (h ^ (uint64_t)(uint32_t)member[i]) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    return h;
}

static uint64_t mix(uint64_t a, uint64_t b)
{
    a = (a ^ b) * 0xff51afd7ed558ccdu;
    return a ^ a >> 32;
}

/* Writes the communicator's record: see enum fc_raw_comm. */
static void write_comm(struct fc_comm *comm, const int *member, int n)
{
    struct fc_raw_event record = {.kind = FC_RAW_COMM, .comm = comm->number};
    bool first = n > 0 && member[0] == state.world_rank;
    uint64_t n_words = FC_COMM_MEMBERS + (first ? (uint64_t)n : 0);
    int64_t *words = must(malloc(n_words * sizeof *words));
    comm->identity = hash_members(member, n, comm->identity ^ (comm->between ? 0x5bd1e995u : 0xcbf29ce4u));
    words[FC_COMM_HASH_A] = (int64_t)comm->identity;
    words[FC_COMM_HASH_B] =
        (int64_t)hash_members(member, n, mix(comm->identity, comm->between ? 0x1b873593u : 0x84222325u));
    words[FC_COMM_SIZE] = n;
    words[FC_COMM_OUTSIDE] = n < 1;
    for (int i = 0; i < n; i++) words[FC_COMM_OUTSIDE] |= member[i] < 0;
    for (int i = 0; first && i < n; i++) words[FC_COMM_MEMBERS + i] = member[i];
    fc_pmpi_write(&record, words, n_words);
    if (words[FC_COMM_OUTSIDE]) fc_pmpi_note("(communication with processes outside of MPI_COMM_WORLD)");
    free(words);
}

/* Between two groups: the one with the smaller first member comes first for all, peers are the other group's.
 */
static void fill_between(struct fc_comm *comm, MPI_Comm handle, const int *local, int n)
{
    MPI_Group group;
    PMPI_Comm_remote_group(handle, &group);
    comm->world = ranks_of_group(group, &comm->n_remote);
    PMPI_Group_free(&group);
    int *both = must(malloc((size_t)(n + comm->n_remote + 1) * sizeof *both));
    bool mine_first = n > 0 && (comm->n_remote == 0 || local[0] < comm->world[0]);
    memcpy(both + (mine_first ? 0 : comm->n_remote), local, (size_t)n * sizeof *both);
    memcpy(both + (mine_first ? n : 0), comm->world, (size_t)comm->n_remote * sizeof *both);
    write_comm(comm, both, n + comm->n_remote);
    free(both);
}

static void enter_comm(MPI_Comm handle, struct fc_comm *comm)
{
    struct fc_comm *stale = fc_handles_get(&state.comms, FC_KEY(handle));
    if (stale) stale->freed = true, fc_comm_release(stale);
    fc_handles_set(&state.comms, FC_KEY(handle), comm);
    state.last_handle = handle;
    state.last = comm;
}

/* The origin tells communicators of the same members apart: see pmpi_raw.h. 0: nothing known. */
static struct fc_comm *new_comm(MPI_Comm handle, uint64_t origin)
{
    struct fc_comm *comm = must(calloc(1, sizeof *comm));
    MPI_Group group;
    int between = 0;
    comm->number = state.n_comms++;
    comm->users = 1; /* the table's own use */
    comm->identity = origin;
    PMPI_Comm_test_inter(handle, &between);
    PMPI_Comm_rank(handle, &comm->rank);
    PMPI_Comm_group(handle, &group);
    int *local = ranks_of_group(group, &comm->n);
    PMPI_Group_free(&group);
    comm->between = between;
    if (between) {
        fill_between(comm, handle, local, comm->n);
        free(local);
    } else {
        comm->world = local;
        comm->n_remote = comm->n;
        write_comm(comm, local, comm->n);
    }
    enter_comm(handle, comm);
    return comm;
}

/* A duplicate, perhaps not usable yet. */
static struct fc_comm *duplicate(MPI_Comm handle, struct fc_comm *parent)
{
    struct fc_comm *comm = must(malloc(sizeof *comm));
    size_t size = (size_t)(parent->n_remote + 1) * sizeof *comm->world;
    *comm = *parent;
    comm->number = state.n_comms++;
    comm->users = 1;
    comm->freed = false;
    comm->n_made = 0;
    comm->identity = mix(parent->identity, parent->n_made++);
    comm->world = must(malloc(size));
    memcpy(comm->world, parent->world, size - sizeof *comm->world);
    write_comm(comm, comm->world, comm->n);
    enter_comm(handle, comm);
    return comm;
}

struct fc_comm *fc_comm_of(MPI_Comm handle)
{
    if (handle == MPI_COMM_NULL) handle = MPI_COMM_WORLD; /* an erroneous call that returned its error */
    if (handle == state.last_handle && state.last) return state.last;
    struct fc_comm *comm = fc_handles_get(&state.comms, FC_KEY(handle));
    if (!comm) {
        comm = new_comm(handle, 0);
        if (comm->n > 1) fc_pmpi_note("(a communicator made by a function that is not recorded)");
    }
    state.last_handle = handle;
    state.last = comm;
    return comm;
}

void fc_comm_release(struct fc_comm *comm)
{
    if (!comm || --comm->users > 0) return;
    if (state.last == comm) state.last = NULL;
    free(comm->world);
    free(comm);
}

int fc_world_of(const struct fc_comm *comm, int peer)
{
    return peer >= 0 && peer < comm->n_remote ? comm->world[peer] : -1;
}

void fc_comm_start(void)
{
    PMPI_Comm_group(MPI_COMM_WORLD, &state.world);
    PMPI_Comm_size(MPI_COMM_WORLD, &state.world_size);
    PMPI_Comm_rank(MPI_COMM_WORLD, &state.world_rank);
    new_comm(MPI_COMM_WORLD, 0);
}

static void write_making(const struct fc_pmpi_call *call, bool counts, int number, int over)
{
    struct fc_raw_event event = fc_pmpi_event(call, counts ? FC_OP_COMM : FC_OP_OTHER);
    event.comm = number;
    event.peer = over;
    fc_pmpi_write(&event, NULL, 0);
}

void fc_log_comm(struct fc_pmpi_call *call, MPI_Comm parent, MPI_Comm made)
{
    if (!fc_pmpi_left(call)) return;
    struct fc_comm *over = fc_comm_of(parent);
    bool good = call->rc == MPI_SUCCESS;
    uint64_t origin = good ? mix(over->identity, over->n_made++) : 0;
    int number = good && made != MPI_COMM_NULL ? new_comm(made, origin)->number : -1;
    write_making(call, good, number, over->number);
    fc_pmpi_done();
}

void fc_log_comm_of_group(struct fc_pmpi_call *call, MPI_Comm parent, int tag, MPI_Comm made)
{
    if (!fc_pmpi_left(call)) return;
    uint64_t origin = mix(parent == MPI_COMM_NULL ? 0 : fc_comm_of(parent)->identity, (uint64_t)(uint32_t)tag << 32);
    int number = call->rc == MPI_SUCCESS && made != MPI_COMM_NULL ? new_comm(made, origin)->number : -1;
    write_making(call, number >= 0, number, number);
    fc_pmpi_done();
}

void fc_log_comm_idup(struct fc_pmpi_call *call, MPI_Comm parent, MPI_Comm made, MPI_Request request)
{
    if (!fc_pmpi_left(call)) return;
    struct fc_comm *over = fc_comm_of(parent);
    struct fc_raw_event event = fc_pmpi_event(call, FC_OP_COMM);
    event.peer = over->number;
    if (over->between) fc_pmpi_note("(MPI_Comm_idup of an intercommunicator)");
    event.comm = over->between ? -1 : duplicate(made, over)->number;
    event.mode = 1;
    fc_request_new(request, &event.request);
    fc_pmpi_write(&event, NULL, 0);
    fc_pmpi_done();
}

void fc_log_spawn(struct fc_pmpi_call *call)
{
    if (!fc_pmpi_left(call)) return;
    fc_pmpi_note("(MPI_Comm_spawn was called: the processes it started are not recorded, nor what was exchanged with "
                 "them; the calls of those that started them keep their time)");
    fc_pmpi_write_plain(call, FC_OP_OTHER);
    fc_pmpi_done();
}

struct fc_comm *fc_comm_take(const struct fc_pmpi_call *call, MPI_Comm handle)
{
    if (!fc_pmpi_ahead(call)) return NULL;
    struct fc_comm *comm = fc_handles_get(&state.comms, FC_KEY(handle));
    if (comm) fc_handles_set(&state.comms, FC_KEY(handle), NULL);
    if (comm && state.last == comm) state.last = NULL;
    fc_pmpi_unlock();
    return comm;
}

void fc_log_comm_free(struct fc_pmpi_call *call, struct fc_comm *was)
{
    if (!fc_pmpi_left(call)) return;
    if (was) {
        was->freed = true;
        fc_comm_release(was);
    }
    fc_pmpi_write_plain(call, FC_OP_OTHER);
    fc_pmpi_done();
}

/* ---- windows ---- */

struct fc_window {
    int n;
    int *world;
};

static struct fc_window *window_of(MPI_Win handle)
{
    struct fc_window *window = fc_handles_get(&state.windows, FC_KEY(handle));
    if (window) return window;
    MPI_Group group;
    window = must(malloc(sizeof *window));
    PMPI_Win_get_group(handle, &group);
    window->world = ranks_of_group(group, &window->n);
    PMPI_Group_free(&group);
    fc_handles_set(&state.windows, FC_KEY(handle), window);
    return window;
}

void fc_log_rma(struct fc_pmpi_call *call, int mode, int count, MPI_Datatype type, int target, MPI_Win win)
{
    if (!fc_pmpi_left(call)) return;
    struct fc_raw_event event = fc_pmpi_event(call, FC_OP_OTHER);
    if (call->rc == MPI_SUCCESS && target != MPI_PROC_NULL) {
        const struct fc_window *window = window_of(win);
        event.peer = target >= 0 && target < window->n ? window->world[target] : -1;
        event.bytes = fc_bytes_of(count, type);
        event.mode = (uint8_t)mode;
        if (event.peer >= 0) event.kind = FC_OP_RMA;
    }
    fc_pmpi_write(&event, NULL, 0);
    fc_pmpi_done();
}

struct fc_window *fc_win_take(const struct fc_pmpi_call *call, MPI_Win handle)
{
    if (!fc_pmpi_ahead(call)) return NULL;
    struct fc_window *window = fc_handles_get(&state.windows, FC_KEY(handle));
    if (window) fc_handles_set(&state.windows, FC_KEY(handle), NULL);
    fc_pmpi_unlock();
    return window;
}

void fc_log_win_free(struct fc_pmpi_call *call, struct fc_window *was)
{
    if (!fc_pmpi_left(call)) return;
    if (was) {
        free(was->world);
        free(was);
    }
    fc_pmpi_write_plain(call, FC_OP_OTHER);
    fc_pmpi_done();
}
