/* format_dumpi_comm.h - private to format_dumpi_comm.c and format_dumpi_group.c: what is known while the
 * members of a run's communicators are found. */
#pragma once

#include "traces/formats/format_dumpi.h"

/* A call about groups or communicators. */
struct fc_dumpi_action {
    struct fc_dumpi_action *next;
    uint16_t function;
    int32_t a, b, made; /* handles: of what it works on, of what it makes */
    int32_t color, key;
    uint32_t n;
    int32_t list[];
};
/* One making of communicators from a parent, by all its members. */
struct fc_dumpi_making {
    struct fc_dumpi_making *next;
    uint64_t k; /* which, over this parent */
    uint16_t function;
    bool abandoned;
    uint32_t n_called;
    uint8_t *called; /* [members of the parent]; splits only, as color and key */
    int32_t *color, *key;
    int32_t *result; /* [members of the parent] index of the communicator */
    int32_t *comms;  /* made so far */
    uint32_t n_comms, comm_capacity;
};
struct fc_dumpi_group {
    bool known;
    uint32_t n;
    uint32_t *member; /* world ranks; owned */
};
struct fc_dumpi_handle {
    int32_t comm; /* index in run->comm, FC_DUMPI_UNKNOWN */
    uint64_t k;   /* makings that this rank took part in */
};
struct fc_dumpi_rank_state {
    struct fc_dumpi_action *first, *last;
    struct fc_dumpi_handle *handle; /* [n_handles] */
    struct fc_dumpi_group *group;   /* [n_groups] */
    uint32_t n_handles, n_groups;
    bool waits;
};
struct fc_dumpi_finder {
    struct fc_dumpi_run *run;
    struct fc_status *st;
    struct fc_dumpi_rank_state *ranks; /* [n_ranks] */
    struct fc_dumpi_making **makings;  /* [communicators] list of each */
    uint32_t n_makings;
    struct fc_dumpi_file file;
    struct fc_dumpi_record record;
};

enum fc_code fc_dumpi_no_memory(struct fc_status *st);
/* What a rank's handle stands for; NULL: out of memory. Handles are 16 bits wide. */
struct fc_dumpi_handle *fc_dumpi_handle_of(struct fc_dumpi_finder *f, struct fc_dumpi_rank_state *rank, int32_t handle);
struct fc_dumpi_group *fc_dumpi_group_of(struct fc_dumpi_finder *f, struct fc_dumpi_rank_state *rank, int32_t handle);
/* Position of a world rank among members; n: it is none. */
uint32_t fc_dumpi_place_in(const uint32_t *member, uint32_t n, uint32_t world);
/* Carries out a call that makes a group. */
enum fc_code fc_dumpi_make_group(struct fc_dumpi_finder *f, struct fc_dumpi_rank_state *rank,
                                 const struct fc_dumpi_action *a);
