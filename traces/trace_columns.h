/* trace_columns.h - private to traces/: events as columns of numbers, which both packed forms compress.
 *
 * Numbers are LEB128 varints, signed ones zigzag; what is predictable is a difference: a peer is relative to the rank,
 * an entry time to the last leave time, a wall-clock gap to the CPU time in it, a request to the newest, a dependency
 * to the event itself. Request numbers are not stored: they count up. Full layout: docs/trace-format.md. */
#pragma once

#include "traces/trace_format.h"

enum fc_trace_column {
    FC_COL_KIND, /* a byte a call: op, mode << FC_KIND_MODE, FC_KIND_POLLS when it has polls (graph: a NIC not 0) */
    FC_COL_POLLS,
    FC_COL_COMM,
    FC_COL_PEER,
    FC_COL_TAG,
    FC_COL_BYTES,
    FC_COL_LIST,
    FC_COL_ENTER,
    FC_COL_LEAVE,
    FC_COL_COMPUTE,
    FC_N_CALL_COLUMNS,
    FC_COL_CPU = FC_N_CALL_COLUMNS, /* graphs only */
    FC_N_COLUMNS
};
enum { FC_KIND_MODE = 5, FC_KIND_POLLS = 0x80 };
static inline int fc_n_columns(bool graph)
{
    return graph ? FC_N_COLUMNS : FC_N_CALL_COLUMNS;
}

/* What the differences refer to, walked alike by writer and reader of one rank. */
struct fc_column_base {
    int64_t leave_ns, made; /* requests made before */
    int64_t number;         /* of the event at hand */
    int32_t tag;
};

/* ---- writing ---- */

struct fc_bytes {
    unsigned char *data; /* malloc'd */
    size_t size, capacity;
};
/* All false when there is no memory. */
bool fc_bytes_reserve(struct fc_bytes *b, size_t more);
bool fc_bytes_put(struct fc_bytes *b, uint64_t value);
/* The length, then the bytes. */
bool fc_bytes_put_block(struct fc_bytes *b, const void *data, size_t size);

/* Appends an event of `rank` to column[fc_n_columns(graph)]; list: its own. */
bool fc_columns_put(struct fc_bytes *column, uint32_t rank, bool graph, const struct fc_event *event,
                    const int64_t *list, struct fc_column_base *base);

/* ---- reading ---- */

/* A column being read; `bad` sticks once it ends early or a number is too long. */
struct fc_column_in {
    const unsigned char *at, *end;
    bool bad;
};
static inline uint64_t fc_column_get(struct fc_column_in *in)
{
    if (in->at < in->end && *in->at < 0x80) return *in->at++;
    uint64_t value = 0;
    for (int shift = 0; shift < 64 && in->at < in->end; shift += 7) {
        unsigned char byte = *in->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) return value;
    }
    in->bad = true;
    return 0;
}
static inline int64_t fc_column_get_signed(struct fc_column_in *in)
{
    uint64_t value = fc_column_get(in);
    return (int64_t)(value >> 1 ^ (0 - (value & 1)));
}
/* The next block, by its length; false (and `from` bad) when it does not fit. */
bool fc_column_get_block(struct fc_column_in *from, struct fc_column_in *block);

/* Where lists go: list[next ..] while next < n. */
struct fc_lists_in {
    int64_t *list;
    uint64_t n, next;
};
extern const char *const fc_column_names[FC_N_COLUMNS]; /* for messages: "calls", "polls", ... */
/* The next event of `rank`. False for an op that there is not; whether the numbers were good is in column[].bad. */
bool fc_columns_get(struct fc_column_in *column, uint32_t rank, bool graph, struct fc_event *event,
                    struct fc_lists_in *lists, struct fc_column_base *base);
