/* trace_blocks.h - private to traces/: version 2 of the packed form, which is written and read in bounded memory.
 *
 * A file is "fctrace2", then blocks, each a zstd frame (RFC 8878, with checksum and content size) with the columns
 * (trace_columns.h) of some successive events of one rank, blocks of all ranks in any order; then one more frame, the
 * tail: the head as text, and for each block its rank, events, list entries, requests, unpacked and packed size; then 24
 * bytes: unpacked and packed size of the tail (8 bytes each, little-endian) and "fctrace2" again. Layout:
 * docs/trace-format.md. A file that is cut has no end and is refused at once. */
#pragma once

#include "traces/trace_columns.h"
#include "traces/trace_source.h"

#define FC_BLOCKS_MAGIC "fctrace2"
enum { FC_BLOCKS_HEAD = 8, FC_BLOCKS_END = 24 };
enum { FC_LEVEL_SPOOL = 1, FC_LEVEL_FILE = 12 }; /* of zstd: for what is read once, and for what is kept */
enum { FC_MOST_BLOCK_EVENTS = 1 << 20, FC_MOST_BLOCK_BYTES = 1 << 28 };
/* Of a source every rank holds a block at a time: so many events of all ranks together, and 32 of each. The writer keeps
 * within that (4096 events a block, fewer for many ranks). */
enum { FC_MOST_HELD_EVENTS = 1 << 21, FC_FEWEST_BLOCK_EVENTS = 32 };

struct fc_block {
    uint64_t offset; /* in the file */
    uint32_t rank, n_events, n_requests;
    uint32_t n_lists, raw_size, size; /* entries of lists; bytes unpacked and packed */
};

/* ---- writing (trace_blocks_write.c) ---- */

struct fc_block_writer {
    FILE *out;          /* borrowed; its errors are found when it is closed, but */
    const char *folder; /* of a temporary file, at once (set after fc_blocks_start); NULL: it is none */
    struct fc_status *st;
    uint32_t n_ranks, block_events;
    bool graph;
    struct fc_open_block *open; /* [n_ranks] */
    uint64_t *rank_events;      /* [n_ranks] so far */
    struct fc_block *blocks;
    uint64_t n_blocks, capacity, offset;
    struct fc_bytes column[FC_N_COLUMNS], raw, packed;
    struct ZSTD_CCtx_s *zstd;
};
/* Starts a file; memory O(ranks), blocks of all ranks together stay within some 100 MB. */
enum fc_code fc_blocks_start(struct fc_block_writer *w, FILE *out, uint32_t n_ranks, bool graph, int level,
                             struct fc_status *st);
enum fc_code fc_blocks_event(struct fc_block_writer *w, uint32_t rank, const struct fc_event *event,
                             const int64_t *list);
/* Refuses a temporary file that could not be written. */
enum fc_code fc_blocks_fail(const struct fc_block_writer *w, int error);
/* Writes the blocks that are open; nothing comes behind but the tail. */
enum fc_code fc_blocks_flush(struct fc_block_writer *w);
/* The tail: head->first_event must count what was written. */
enum fc_code fc_blocks_tail(struct fc_block_writer *w, const struct fc_trace *head);
void fc_blocks_free(struct fc_block_writer *w);
/* All of a trace in memory. */
enum fc_code fc_write_trace_blocks(const struct fc_trace *trace, FILE *out, struct fc_status *st);

/* ---- reading (trace_blocks_read.c) ---- */

bool fc_is_blocks(const struct fc_text *text);
/* Reads a whole file into memory, unchecked (fc_trace_check). */
enum fc_code fc_read_trace_blocks(const struct fc_text *text, struct fc_trace *trace, struct fc_status *st);
/* A file as a source; places are lines of the text form. `file` must outlive it. */
enum fc_code fc_source_blocks(const char *file, struct fc_trace_source *source, struct fc_status *st);
/* What a writer has put into a temporary file as a source: takes fd, the head and the writer's blocks over, also when it
 * fails. */
enum fc_code fc_source_spooled(int fd, struct fc_trace *head, struct fc_block_writer *w, struct fc_trace_source *source,
                               struct fc_status *st);
