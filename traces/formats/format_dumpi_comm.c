/* format_dumpi_comm.c - who is in which communicator of a DUMPI run.
 *
 * A file knows communicators by handles of its own rank. Making one is collective over its parent, and all
 * members make the communicators of one parent in the same order: so the k-th that a rank makes from a parent
 * is the k-th that each other member makes from it (MPI 4.0, 7.4.2). What a rank alone can tell of its result
 * (dup, cart_create, cart_sub, create with a group) is found at once; a split needs colour and key of all
 * members: the rank waits until the last has called. Ranks go on one after the other until all wait; a split
 * that still waits then (ranks without a file, a window) has unknown members. */
#include "core/array.h"
#include "traces/formats/format_dumpi_comm.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int fc_dumpi_makes_comm(int function, int *parent)
{
    *parent = 0;
    switch (function) {
    case DUMPI_COMM_DUP: return 1;
    case DUMPI_COMM_CREATE: return 2;
    case DUMPI_COMM_SPLIT: return 3;
    case DUMPI_CART_CREATE: return 5;
    case DUMPI_GRAPH_CREATE: return 6;
    case DUMPI_CART_SUB: *parent = 1; return 3;
    case DUMPI_INTERCOMM_CREATE: return 5;
    case DUMPI_INTERCOMM_MERGE: return 2;
    case DUMPI_COMM_ACCEPT:
    case DUMPI_COMM_CONNECT: *parent = 3; return 4;
    case DUMPI_COMM_GET_PARENT: *parent = -1; return 0;
    case DUMPI_COMM_JOIN: *parent = -1; return 1;
    case DUMPI_COMM_SPAWN: *parent = 2; return 3;
    case DUMPI_COMM_SPAWN_MULTIPLE: *parent = 3; return 4;
    default: return -1;
    }
}

enum fc_code fc_dumpi_add_comm(struct fc_dumpi_run *run, const uint32_t *member, uint32_t n, const int32_t *dims,
                               uint32_t n_dims, int32_t *comm)
{
    if (!FC_GROW(run->comm, run->comm_capacity, run->n_comms + 1)) return fc_dumpi_no_memory(run->st);
    struct fc_dumpi_comm *c = &run->comm[run->n_comms];
    uint32_t *members = fc_alloc(&run->arena, n, sizeof *members, run->st);
    int32_t *sides = fc_alloc(&run->arena, n_dims, sizeof *sides, run->st);
    if (!members || !sides) return FC_NO;
    memcpy(members, member, n * sizeof *member);
    if (n_dims) memcpy(sides, dims, n_dims * sizeof *dims);
    *c = (struct fc_dumpi_comm){.n = n, .n_dims = n_dims, .member = members, .dims = sides};
    *comm = (int32_t)run->n_comms++;
    if (*comm == 0) return FC_OK; /* the sink has the world already */
    return fc_sink_comm(run->sink, member, n, &c->number);
}

/* ---- what is collected: the calls of one rank ---- */

static bool is_group_call(int function)
{
    return function >= DUMPI_COMM_GROUP && function <= DUMPI_GROUP_RANGE_EXCL;
}

/* Argument with a list of numbers of such a call, or -1. */
static int list_argument(int function)
{
    switch (function) {
    case DUMPI_GROUP_INCL:
    case DUMPI_GROUP_EXCL:
    case DUMPI_GROUP_RANGE_INCL:
    case DUMPI_GROUP_RANGE_EXCL:
    case DUMPI_CART_SUB:
    case DUMPI_CART_CREATE: return 2;
    default: return -1;
    }
}

/* The list with ranges (first, last, step) written out; `to` NULL: only counts. UINT32_MAX: malformed. */
static uint32_t write_list(const struct fc_dumpi_finder *f, const struct fc_dumpi_argument *list, int32_t *to)
{
    const struct fc_dumpi_file *file = &f->file;
    uint64_t n = 0;
    if (list->width) {
        for (uint32_t i = 0; to && i < list->n; i++) to[i] = fc_dumpi_entry(file, list, i);
        return list->n;
    }
    for (uint32_t i = 0; i < list->n; i++) {
        if (fc_dumpi_entry(file, list, 4 * i) != 3) return UINT32_MAX;
        int64_t from = fc_dumpi_entry(file, list, 4 * i + 1), last = fc_dumpi_entry(file, list, 4 * i + 2);
        int64_t step = fc_dumpi_entry(file, list, 4 * i + 3);
        if (step == 0) return UINT32_MAX;
        for (int64_t r = from; step > 0 ? r <= last : r >= last; r += step) {
            if (n >= f->run->n_ranks) return UINT32_MAX;
            if (to) to[n] = (int32_t)r;
            n++;
        }
    }
    return (uint32_t)n;
}

static enum fc_code collect(struct fc_dumpi_finder *f, struct fc_dumpi_rank_state *rank)
{
    const struct fc_dumpi_record *r = &f->record;
    const struct fc_dumpi_argument *arg = r->arg;
    int parent = 0, made = fc_dumpi_makes_comm(r->function, &parent), list = list_argument(r->function);
    bool of_groups = is_group_call(r->function);
    if (!of_groups && made < 0) return FC_OK;
    uint32_t n = list < 0 ? 0 : write_list(f, &arg[list], NULL);
    if (n == UINT32_MAX)
        return fc_dumpi_fail(&f->file, "%s has ranges of ranks that are damaged", fc_dumpi_functions[r->function].name);
    struct fc_dumpi_action *a = fc_alloc(&f->run->arena, 1, sizeof *a + n * sizeof *a->list, f->st);
    if (!a) return FC_NO;
    *a = (struct fc_dumpi_action){.function = r->function, .n = n};
    if (of_groups) {
        bool of_two = r->function >= DUMPI_GROUP_UNION && r->function <= DUMPI_GROUP_DIFFERENCE;
        a->a = (int32_t)arg[0].value;
        a->b = of_two ? (int32_t)arg[1].value : 0;
        a->made = (int32_t)arg[of_two ? 2 : r->function == DUMPI_COMM_GROUP ? 1 : 3].value;
    } else {
        a->a = parent < 0 ? -1 : (int32_t)arg[parent].value;
        a->b = (int32_t)arg[r->function == DUMPI_GRAPH_CREATE ? 2 : 1].value; /* group or number of nodes */
        a->made = (int32_t)arg[made].value;
        a->color = (int32_t)arg[1].value;
        a->key = (int32_t)arg[2].value;
    }
    if (n) write_list(f, &arg[list], a->list);
    if (rank->last)
        rank->last->next = a;
    else
        rank->first = a;
    rank->last = a;
    return FC_OK;
}

static enum fc_code collect_rank(struct fc_dumpi_finder *f, uint32_t rank)
{
    bool there = true;
    if (!f->run->path[rank]) return FC_OK;
    enum fc_code code = fc_dumpi_open(&f->file, f->run->path[rank], rank, f->st);
    while (!code && there) {
        code = fc_dumpi_next(&f->file, &f->record, &there);
        if (!code && there) code = collect(f, &f->ranks[rank]);
    }
    fc_dumpi_close(&f->file);
    return code;
}

/* ---- communicators ---- */

static enum fc_code making_of(struct fc_dumpi_finder *f, int32_t parent, uint64_t k, uint16_t function,
                              struct fc_dumpi_making **found)
{
    if ((uint32_t)parent >= f->n_makings) {
        uint32_t n = 2 * (uint32_t)parent + 16;
        struct fc_dumpi_making **larger = realloc(f->makings, n * sizeof *larger);
        if (!larger) return fc_dumpi_no_memory(f->st);
        memset(larger + f->n_makings, 0, (n - f->n_makings) * sizeof *larger);
        f->makings = larger;
        f->n_makings = n;
    }
    struct fc_dumpi_making **at = &f->makings[parent];
    while (*at && (*at)->k != k) at = &(*at)->next;
    if (!*at) {
        *at = calloc(1, sizeof **at);
        if (!*at) return fc_dumpi_no_memory(f->st);
        **at = (struct fc_dumpi_making){.k = k, .function = function};
    }
    *found = *at;
    if ((*at)->function == function) return FC_OK;
    return fc_fail(f->st, FC_INPUT, (struct fc_place){f->run->sink->trace->file, 0},
                   "ranks disagree on making %" PRIu64 " of communicators from one parent: %s here, %s there", k + 1,
                   fc_dumpi_functions[(*at)->function].name, fc_dumpi_functions[function].name);
}

/* The communicator of these members in this making, made when it is the first to ask. */
static enum fc_code comm_of(struct fc_dumpi_finder *f, struct fc_dumpi_making *m, const struct fc_dumpi_comm *like,
                            int32_t *comm)
{
    for (uint32_t i = 0; i < m->n_comms; i++) {
        const struct fc_dumpi_comm *c = &f->run->comm[m->comms[i]];
        *comm = m->comms[i];
        if (c->n == like->n && memcmp(c->member, like->member, c->n * sizeof *c->member) == 0) return FC_OK;
    }
    if (!FC_GROW(m->comms, m->comm_capacity, m->n_comms + 1)) return fc_dumpi_no_memory(f->st);
    if (fc_dumpi_add_comm(f->run, like->member, like->n, like->dims, like->n_dims, comm)) return f->st->code;
    m->comms[m->n_comms++] = *comm;
    return FC_OK;
}

/* Members of a cartesian sub-grid through `place`, row-major; keeps[d]: dimension d stays. */
static void sub_grid(const struct fc_dumpi_comm *parent, const int32_t *keeps, uint32_t place, uint32_t *member,
                     int32_t *dims, struct fc_dumpi_comm *like)
{
    for (uint32_t i = 0; i < parent->n; i++) {
        uint32_t x = i, y = place;
        bool same = true;
        for (uint32_t d = parent->n_dims; d-- > 0; x /= (uint32_t)parent->dims[d], y /= (uint32_t)parent->dims[d])
            same = same && (keeps[d] || x % (uint32_t)parent->dims[d] == y % (uint32_t)parent->dims[d]);
        if (same) member[like->n++] = parent->member[i];
    }
    for (uint32_t d = 0; d < parent->n_dims; d++)
        if (keeps[d]) dims[like->n_dims++] = parent->dims[d];
}

/* What a rank alone can tell. */
static enum fc_code make_alone(struct fc_dumpi_finder *f, uint32_t rank, struct fc_dumpi_making *m,
                               const struct fc_dumpi_action *a, int32_t parent, int32_t *comm)
{
    const struct fc_dumpi_comm *p = &f->run->comm[parent];
    uint32_t *member = malloc(((size_t)p->n + p->n_dims + 1) * sizeof *member),
             place = fc_dumpi_place_in(p->member, p->n, rank);
    struct fc_dumpi_comm like = {.member = member, .dims = (int32_t *)member + p->n};
    uint64_t nodes = 1;
    const struct fc_dumpi_group *g = NULL;
    if (!member) return fc_dumpi_no_memory(f->st);
    *comm = FC_DUMPI_UNKNOWN;
    bool known = true;
    switch (a->function) {
    case DUMPI_CART_CREATE:
        for (uint32_t d = 0; d < a->n; d++) {
            known = known && a->list[d] > 0 && nodes <= p->n;
            nodes *= (uint64_t)(uint32_t)a->list[d];
        }
        like.dims = a->list;
        like.n_dims = a->n;
        break;
    case DUMPI_GRAPH_CREATE: nodes = a->b < 0 ? UINT64_MAX : (uint64_t)a->b; break;
    case DUMPI_CART_SUB:
        known = p->n_dims && a->n == p->n_dims;
        if (known) sub_grid(p, a->list, place, member, (int32_t *)member + p->n, &like);
        break;
    case DUMPI_COMM_CREATE:
        g = fc_dumpi_group_of(f, &f->ranks[rank], a->b);
        known = g && g->known && g->n <= p->n;
        if (known) memcpy(member, g->member, g->n * sizeof *member);
        if (known) like.n = g->n;
        break;
    default: /* dup keeps a grid */
        like.dims = p->dims;
        like.n_dims = p->n_dims;
        nodes = p->n;
    }
    if (a->function != DUMPI_CART_SUB && a->function != DUMPI_COMM_CREATE) {
        known = known && nodes <= p->n;
        if (known) memcpy(member, p->member, nodes * sizeof *member);
        if (known) like.n = (uint32_t)nodes;
    }
    enum fc_code code = f->st->code;
    if (known && !code) {
        *comm = FC_DUMPI_NOT_IN;
        if (fc_dumpi_place_in(member, like.n, rank) < like.n) code = comm_of(f, m, &like, comm);
    }
    free(member);
    return code;
}

struct split_entry {
    int32_t color, key;
    uint32_t place;
};

static int by_color(const void *a, const void *b)
{
    const struct split_entry *x = a, *y = b;
    if (x->color != y->color) return x->color < y->color ? -1 : 1;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

/* All have called: one communicator a colour, ordered by key, then by rank in the parent. */
static enum fc_code split(struct fc_dumpi_finder *f, struct fc_dumpi_making *m, int32_t parent)
{
    uint32_t n = f->run->comm[parent].n, *member = malloc(n * sizeof *member);
    struct split_entry *entry = malloc(n * sizeof *entry);
    enum fc_code code = member && entry ? FC_OK : fc_dumpi_no_memory(f->st);
    for (uint32_t i = 0; !code && i < n; i++) entry[i] = (struct split_entry){m->color[i], m->key[i], i};
    if (!code) qsort(entry, n, sizeof *entry, by_color);
    for (uint32_t i = 0, j; !code && i < n; i = j) {
        int32_t comm = FC_DUMPI_NOT_IN;
        for (j = i; j < n && entry[j].color == entry[i].color; j++)
            member[j - i] = f->run->comm[parent].member[entry[j].place];
        if (entry[i].color >= 0) code = fc_dumpi_add_comm(f->run, member, j - i, NULL, 0, &comm);
        for (uint32_t k = i; k < j; k++) m->result[entry[k].place] = comm;
    }
    free(member);
    free(entry);
    return code;
}

static enum fc_code join_split(struct fc_dumpi_finder *f, uint32_t rank, struct fc_dumpi_making *m,
                               const struct fc_dumpi_action *a, int32_t parent, int32_t *comm, bool *waits)
{
    uint32_t n = f->run->comm[parent].n, place = fc_dumpi_place_in(f->run->comm[parent].member, n, rank);
    if (!m->called) {
        m->called = fc_alloc(&f->run->arena, n, 1, f->st);
        m->color = fc_alloc(&f->run->arena, n, sizeof *m->color, f->st);
        m->key = fc_alloc(&f->run->arena, n, sizeof *m->key, f->st);
        m->result = fc_alloc(&f->run->arena, n, sizeof *m->result, f->st);
        if (!m->called || !m->color || !m->key || !m->result) return FC_NO;
    }
    if (!m->called[place]) {
        m->called[place] = 1;
        m->color[place] = a->made == FC_DUMPI_NULL || a->color < 0 ? -1 : a->color;
        m->key[place] = a->key;
        if (++m->n_called == n && split(f, m, parent)) return f->st->code;
    }
    *waits = m->n_called < n && !m->abandoned;
    *comm = m->n_called < n ? FC_DUMPI_UNKNOWN : m->result[place];
    return FC_OK;
}

static enum fc_code add_made(struct fc_dumpi_finder *f, struct fc_dumpi_made *made, int32_t comm)
{
    if (!FC_GROW(made->comm, made->capacity, made->n + 1)) return fc_dumpi_no_memory(f->st);
    made->comm[made->n++] = comm;
    return FC_OK;
}

static enum fc_code make_comm(struct fc_dumpi_finder *f, uint32_t rank, const struct fc_dumpi_action *a, bool *waits)
{
    struct fc_dumpi_rank_state *state = &f->ranks[rank];
    struct fc_dumpi_handle *parent = a->a < 0 ? NULL : fc_dumpi_handle_of(f, state, a->a), *made = NULL;
    int32_t comm = FC_DUMPI_UNKNOWN;
    struct fc_dumpi_making *m = NULL;
    if (a->a >= 0 && !parent) return f->st->code;
    if (a->a == FC_DUMPI_SELF && parent->comm == FC_DUMPI_UNKNOWN &&
        fc_dumpi_add_comm(f->run, &rank, 1, NULL, 0, &parent->comm))
        return f->st->code;
    bool intra = a->function == DUMPI_COMM_DUP || a->function == DUMPI_COMM_CREATE || a->function == DUMPI_COMM_SPLIT ||
                 a->function == DUMPI_CART_CREATE || a->function == DUMPI_GRAPH_CREATE || a->function == DUMPI_CART_SUB;
    if (intra && parent && parent->comm >= 0) {
        if (making_of(f, parent->comm, parent->k, a->function, &m)) return f->st->code;
        enum fc_code code = a->function == DUMPI_COMM_SPLIT ? join_split(f, rank, m, a, parent->comm, &comm, waits)
                                                            : make_alone(f, rank, m, a, parent->comm, &comm);
        if (code || *waits) return code;
        parent->k++;
    }
    if (add_made(f, &f->run->made[rank], comm)) return f->st->code;
    if (a->made == FC_DUMPI_NULL) return FC_OK;
    made = fc_dumpi_handle_of(f, state, a->made);
    if (!made) return f->st->code;
    *made = (struct fc_dumpi_handle){comm < 0 ? FC_DUMPI_UNKNOWN : comm, 0};
    return FC_OK;
}

/* The rank's calls until it must wait for another; *moved when it made any. */
static enum fc_code advance(struct fc_dumpi_finder *f, uint32_t rank, bool *moved)
{
    struct fc_dumpi_rank_state *state = &f->ranks[rank];
    enum fc_code code = FC_OK;
    state->waits = false;
    while (!code && state->first && !state->waits) {
        code = is_group_call(state->first->function) ? fc_dumpi_make_group(f, state, state->first)
                                                     : make_comm(f, rank, state->first, &state->waits);
        if (state->waits) break;
        state->first = state->first->next;
        *moved = true;
    }
    return code;
}

/* The makings that wait for ever: no rank can move. */
static uint64_t abandon(struct fc_dumpi_finder *f)
{
    uint64_t n = 0;
    for (uint32_t c = 0; c < f->n_makings && c < f->run->n_comms; c++)
        for (struct fc_dumpi_making *m = f->makings[c]; m; m = m->next)
            if (m->called && !m->abandoned && m->n_called < f->run->comm[c].n) {
                m->abandoned = true;
                n++;
            }
    return n;
}

static void free_finder(struct fc_dumpi_finder *f)
{
    for (uint32_t r = 0; f->ranks && r < f->run->n_ranks; r++) {
        for (uint32_t g = 0; g < f->ranks[r].n_groups; g++) free(f->ranks[r].group[g].member);
        free(f->ranks[r].group);
        free(f->ranks[r].handle);
    }
    for (uint32_t c = 0; c < f->n_makings; c++)
        for (struct fc_dumpi_making *m = f->makings[c], *next; m; m = next) {
            next = m->next;
            free(m->comms);
            free(m);
        }
    free(f->makings);
}

enum fc_code fc_dumpi_find_comms(struct fc_dumpi_run *run)
{
    struct fc_dumpi_finder f = {.run = run, .st = run->st};
    f.ranks = fc_alloc(&run->arena, run->n_ranks, sizeof *f.ranks, run->st);
    enum fc_code code = f.ranks ? FC_OK : FC_NO;
    bool moved = true, some = true;
    for (uint32_t r = 0; !code && r < run->n_ranks; r++) code = collect_rank(&f, r);
    while (!code && some) {
        for (moved = true; !code && moved;) {
            moved = false;
            for (uint32_t r = 0; !code && r < run->n_ranks; r++) code = advance(&f, r, &moved);
        }
        uint64_t n = code ? 0 : abandon(&f);
        some = n > 0;
        if (some)
            code =
                fc_sink_note(run->sink, "MPI_Comm_split: not all members have a file, so what it makes is unknown", n);
    }
    free_finder(&f);
    return code;
}
