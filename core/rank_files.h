/* rank_files.h - traces and profiles of one file a rank: NAME.0.et, NAME.1.et, ... */
#pragma once

#include "core/core.h"

struct fc_rank_files {
    uint32_t n;        /* ranks 0 .. n - 1 */
    const char *stem;  /* what the names have in common, with the folder: "run/NAME" */
    const char **path; /* [n] */
};
/* Finds the files STEM.RANK<suffix> (behind it perhaps .gz, .xz or .zst): `path` is any one of them, or the
 * folder that holds them. FC_INPUT when there are none, when a folder holds several sets (named), or when a
 * rank is missing or there twice. Owned by the arena. O(files in the folder, sorted). */
enum fc_code fc_rank_files(const char *path, const char *suffix, struct fc_arena *arena, struct fc_rank_files *files,
                           struct fc_status *st);
/* Whether the name of a file is that of a rank's file. */
bool fc_is_rank_file(const char *path, const char *suffix);
/* Whether a folder has such a file. */
bool fc_has_rank_files(const char *folder, const char *suffix);
