/* trace_pack.h - private to traces/: the layout that trace_pack.c writes and trace_unpack.c reads.
 *
 * A file is "fctrace1", the unpacked size (8 bytes, little-endian) and one zstd frame (RFC 8878) with
 * checksum. Within: the head as text with its length, events a rank, entries of all lists, then rank by rank
 * its columns, each with its length. Numbers are LEB128 varints, signed ones zigzag; what is predictable is a
 * difference: a peer is relative to the rank, an entry time to the last leave time, a wall-clock gap to the
 * CPU time in it, a request to the newest. Request numbers are not stored: they count up. Full layout:
 * docs/trace-format.md. */
#ifndef FC_TRACE_PACK_H
#define FC_TRACE_PACK_H

#include "traces/trace_format.h"

enum column {
    COL_KIND, /* a byte a call: op, mode << KIND_MODE, KIND_POLLS when it has polls */
    COL_POLLS,
    COL_COMM,
    COL_PEER,
    COL_TAG,
    COL_BYTES,
    COL_LIST,
    COL_ENTER,
    COL_LEAVE,
    COL_COMPUTE,
    N_COLUMNS
};
enum { HEAD_BYTES = 16, KIND_MODE = 5, KIND_POLLS = 0x80 };
#define FC_PACKED_MAGIC "fctrace1"

/* What the differences refer to, walked alike by writer and reader. */
struct base {
    int64_t leave_ns, made;
    int32_t tag;
};

#endif
