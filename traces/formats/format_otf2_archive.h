/* format_otf2_archive.h - private to the two files that use libotf2: an archive being read. */
#pragma once

#include "traces/formats/format_otf2.h"
#include "traces/formats/format_otf2_check.h"

#include <otf2/otf2.h>

enum { FC_OTF2_PATH = 4096 };
struct fc_otf2_group {
    uint32_t ref;
    uint8_t type, paradigm;
    uint32_t n;
    const uint64_t *member;
};
struct fc_otf2_comm_def {
    uint32_t ref, name, group;
    bool known; /* no intercommunicator */
};
struct fc_otf2_region_def {
    uint32_t ref, name;
};
struct fc_otf2_string {
    uint32_t ref;
    const char *text;
};
struct fc_otf2_window_def {
    uint32_t ref, comm;
};
/* A growing list of definitions, all of which begin with their reference. */
struct fc_otf2_list {
    void *at;
    size_t n, capacity, size;
};
struct fc_otf2_archive {
    struct fc_trace_sink *sink;
    struct fc_status *st;
    struct fc_arena arena;
    const char *path;        /* of the anchor */
    char file[FC_OTF2_PATH]; /* path of another of its files, the last one asked for */
    struct fc_otf2_chunks chunks;
    OTF2_Reader *reader;
    char message[512]; /* first error of the library */
    struct fc_otf2_list strings, groups, comms, regions, windows;
    uint64_t resolution, offset, n_other_locations;
    const struct fc_otf2_group *world; /* locations of MPI */
    struct fc_otf2_rank rank;
    uint64_t n_handled;
};

/* A definition by its reference, or NULL; the text of a string, "" when it is not defined. */
const void *fc_otf2_find(const struct fc_otf2_list *list, uint32_t ref);
const char *fc_otf2_text(const struct fc_otf2_archive *a, uint32_t ref);
/* Callbacks that take a location's records (format_otf2_event.c); NULL when memory is short. */
OTF2_EvtReaderCallbacks *fc_otf2_event_callbacks(void);
