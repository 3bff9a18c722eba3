/* trace_pack.h - private to traces/: the layout that trace_unpack.c reads (tests/trace_pack.c writes it), version 1.
 *
 * A file is "fctrace1", the unpacked size (8 bytes, little-endian) and one zstd frame (RFC 8878) with
 * checksum. Within: the head as text with its length, events a rank, entries of all lists, then rank by rank
 * its columns (trace_columns.h), each with its length. Full layout: docs/trace-format.md. */
#pragma once

#include "traces/trace_columns.h"

enum { HEAD_BYTES = 16 };
#define FC_PACKED_MAGIC "fctrace1"
