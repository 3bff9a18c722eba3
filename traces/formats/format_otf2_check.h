/* format_otf2_check.h - the files of an OTF2 archive looked through before libotf2 reads them: it believes every
 * size and count, and what it opened for a damaged anchor is lost. */
#pragma once

#include "core/core.h"

/* Of all chunks but the last one of a file, in bytes (256 KiB .. 16 MiB). */
struct fc_otf2_chunks {
    uint64_t events, definitions;
};
enum fc_otf2_file { FC_OTF2_GLOBAL, FC_OTF2_LOCAL, FC_OTF2_EVENTS };

/* The anchor NAME.otf2: every text ends, every number is there and allowed. FC_INPUT says what is wrong. */
enum fc_code fc_otf2_check_anchor(const char *path, struct fc_otf2_chunks *chunks, struct fc_status *st);
/* One other file: chunks begin and end as they must, each record fits into its chunk and its fields into the
 * record, up to the mark of the end. Memory: one chunk. Time: that of reading the file. FC_INPUT says what is wrong
 * at which byte. */
enum fc_code fc_otf2_check_file(const char *path, enum fc_otf2_file kind, const struct fc_otf2_chunks *chunks,
                                struct fc_status *st);
