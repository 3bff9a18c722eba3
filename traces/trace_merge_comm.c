/* trace_merge_comm.c - communicators of all ranks get common numbers.
 *
 * The ranks did not talk to agree on numbers. They need not: all members of a communicator take part in making it, and
 * those of several communicators over the same parent make them in one order (MPI 3.1, section 6.4). So its members, its
 * parent and its place among what was made over that parent are the same on every rank: its identity (pmpi_raw.h). Of
 * several with one identity the k-th is the same on every rank. Numbers follow rank 0's order, then rank 1's, ...; the
 * world is every rank's first. Limits: threads that make communicators of the same members at once by calls that only the
 * members make (MPI_Comm_create_group, MPI_Intercomm_create), with the same tag, have no such order. */
#include "traces/trace_merge.h"

#include <inttypes.h>

static struct fc_known_comm *find_comm(const struct fc_merger *m, uint64_t a, uint64_t b, uint32_t nth)
{
    for (uint64_t i = a ^ b >> 7 ^ (uint64_t)nth * 0x9e3779b97f4a7c15u;; i++) {
        struct fc_known_comm *c = &m->known[i & m->mask];
        if (!c->used || (c->a == a && c->b == b && c->nth == nth)) return c;
    }
}

static struct fc_known_comm *add_comm(const struct fc_merger *m, uint64_t a, uint64_t b, uint32_t nth)
{
    struct fc_known_comm *c = find_comm(m, a, b, nth);
    if (!c->used)
        *c = (struct fc_known_comm){.a = a, .b = b, .nth = nth, .used = true, .number = -1, .counted_rank = UINT32_MAX};
    return c;
}

/* The common number of the communicator that rank's record tells of. */
static int32_t number_comm(struct fc_merger *m, uint32_t rank, const struct fc_raw_event *record, const int64_t *words)
{
    if (words[FC_COMM_OUTSIDE]) return -1;
    uint64_t a = (uint64_t)words[FC_COMM_HASH_A], b = (uint64_t)words[FC_COMM_HASH_B];
    struct fc_known_comm *counter = add_comm(m, a, b, 0);
    if (counter->counted_rank != rank) counter->count = 0;
    counter->counted_rank = rank;
    struct fc_known_comm *c = add_comm(m, a, b, counter->count++);
    if (c->number < 0) {
        c->number = (int32_t)m->n_comms;
        c->size = (uint64_t)words[FC_COMM_SIZE];
        m->by_number[m->n_comms++] = (uint64_t)(c - m->known);
    }
    if (record->n_words > FC_COMM_MEMBERS) c->member = words + FC_COMM_MEMBERS;
    return c->number;
}

enum fc_code fc_merge_number_comms(struct fc_merger *m)
{
    uint64_t records = 0;
    for (uint32_t r = 0; r < m->trace->n_ranks; r++) records += m->rank[r].n_comms;
    for (m->mask = 63; m->mask < 4 * records; m->mask = 2 * m->mask + 1) {
    }
    m->known = fc_alloc(m->scratch, m->mask + 1, sizeof *m->known, m->st);
    m->by_number = fc_alloc(m->scratch, records, sizeof *m->by_number, m->st);
    if (!m->known || !m->by_number) return FC_NO;
    for (uint32_t r = 0; r < m->trace->n_ranks; r++) {
        struct fc_rank_file *file = &m->rank[r];
        const int64_t *words;
        uint32_t n = 0;
        file->comm = fc_alloc(m->scratch, file->n_comms, sizeof *file->comm, m->st);
        if (!file->comm) return FC_NO;
        fc_rewind_file(file);
        for (const struct fc_raw_event *record; (record = fc_next_record(file, &words));)
            if (record->kind == FC_RAW_COMM) file->comm[n++] = number_comm(m, r, record, words);
    }
    return FC_OK;
}

enum fc_code fc_merge_build_comms(struct fc_merger *m)
{
    struct fc_trace *t = m->trace;
    t->n_comms = m->n_comms;
    t->comm_first = fc_alloc(&t->arena, (size_t)t->n_comms + 1, sizeof *t->comm_first, m->st);
    if (!t->comm_first) return FC_NO;
    for (uint32_t c = 0; c < t->n_comms; c++) t->comm_first[c + 1] = t->comm_first[c] + m->known[m->by_number[c]].size;
    t->comm_member = fc_alloc(&t->arena, t->comm_first[t->n_comms], sizeof *t->comm_member, m->st);
    if (!t->comm_member) return FC_NO;
    for (uint32_t c = 0; c < t->n_comms; c++) {
        const struct fc_known_comm *known = &m->known[m->by_number[c]];
        if (!known->member)
            return fc_refuse(m->st, FC_FAULT,
                             "communicator %" PRIu32 " of %" PRIu64 " ranks: its first member did not "
                             "record it",
                             c, known->size);
        for (uint64_t i = 0; i < known->size; i++) t->comm_member[t->comm_first[c] + i] = (uint32_t)known->member[i];
    }
    return FC_OK;
}
