/* launcher.h - a mapping as the file that a launcher takes: one format a file (launcher_*.c). */
#pragma once

#include "mapping/mapping.h"
#include "models/hosts.h"

/* A job placed, in a launcher's words: its nodes are places 0 .. n_places - 1 in the order of the allocation;
 * rank r has slot slot[r] of place place[r]. */
struct fc_launch {
    struct fc_arena arena;
    const struct fc_network *net;
    const char *strategy;
    uint32_t n_tasks, n_places;
    uint32_t slots;             /* of a place: cores of a node */
    uint32_t *node;             /* [n_places] of the machine */
    const char **host;          /* [n_places] host names; NULL where there is none */
    uint32_t *place, *slot;     /* [n_tasks] */
    uint32_t *rank_at;          /* [n_places * slots] FC_NONE: free */
    uint32_t *n_ranks;          /* [n_places] */
    uint32_t n_used;            /* places with ranks */
    uint32_t *place_of;         /* [nodes of the machine] FC_NONE: not allowed */
    struct fc_host_index index; /* of the machine's hosts */
    bool long_mapping;          /* cray: whatever the length of the encoded mapping */
};
/* What a reader found; slot FC_NONE where the file does not tell. */
struct fc_launched {
    uint32_t n;             /* ranks named so far */
    uint32_t *place, *slot; /* [n_tasks] place FC_NONE: not named yet */
};

struct fc_launcher_format {
    const char *name, *what, *source;
    const char *start; /* the command line that uses FILE */
    bool names_hosts;  /* needs a host name for every place with ranks */
    bool tells_slots;  /* what is read back holds the slot of every rank */
    bool needs_writer; /* cannot be read without the mapping it was written from */
    /* Refuses what the format cannot say, with numbers: FC_INPUT. NULL: it can say everything. */
    enum fc_code (*check)(const struct fc_launch *job, struct fc_status *st);
    enum fc_code (*write)(const struct fc_launch *job, FILE *out, struct fc_status *st);
    /* Reads a file for the job's places (its ranks' places are not looked at). FC_INPUT with file:line. */
    enum fc_code (*read)(const struct fc_text *text, const struct fc_launch *job, struct fc_launched *back,
                         struct fc_status *st);
};
extern const struct fc_launcher_format *const fc_launcher_formats[]; /* NULL-terminated */

/* The format of that name, or NULL. */
const struct fc_launcher_format *fc_launcher_find(const char *name);
/* FC_INPUT "unknown format 'x' (did you mean ...? known: ...)". */
enum fc_code fc_launcher_unknown(const char *name, struct fc_status *st);

/* The job of a mapping made for the problem; the mapping and the problem's network must outlive it. Free with
 * fc_launch_free. O(nodes + cores allowed). */
enum fc_code fc_launch_start(const struct fc_map_problem *problem, const struct fc_mapping *mapping,
                             struct fc_launch *job, struct fc_status *st);
void fc_launch_free(struct fc_launch *job);

/* Writes the job to `path` (NULL or "-": standard output) in that format: into memory, read back, compared
 * rank by rank, then whole. FC_INPUT: the format cannot say this mapping, or a host is not named; FC_FAULT:
 * what was read back is another mapping. */
enum fc_code fc_launch_write(const struct fc_launch *job, const struct fc_launcher_format *format, const char *path,
                             struct fc_status *st);
/* The mapping that a launcher file describes, for the problem's nodes in their order; where the file tells no
 * slots, the ranks of a node take its cores in order. FC_INPUT with file:line: not that format, a host that
 * is not among the nodes, a rank missing or twice, more ranks on a node than it has cores. */
enum fc_code fc_launch_read(const struct fc_map_problem *problem, const struct fc_launcher_format *format,
                            const char *path, struct fc_mapping *mapping, struct fc_status *st);

/* Bytes of the PMI-1 process mapping "(vector,(first node,nodes,ranks a node),...)" of the job, without the
 * ending NUL (Balaji et al., PMI, EuroMPI'10; the encoding of MPICH's and Slurm's PMI): runs of consecutive
 * ranks on a node, equal runs on consecutive nodes folded. O(ranks). */
size_t fc_pmi_mapping_bytes(const struct fc_launch *job);

/* ---- for the formats (launcher.c) ---- */

/* Runs of consecutive ranks on one place, equal runs on consecutive places folded: (first place, places,
 * ranks each). */
struct fc_launch_run {
    uint32_t place, n_places, n_ranks;
};
/* The run that begins with rank *rank; moves *rank behind it. */
struct fc_launch_run fc_launch_next_run(const struct fc_launch *job, uint32_t *rank);
/* FC_INPUT unless every place with ranks has consecutive ones: what a file that lists each host once can say. */
enum fc_code fc_launch_check_once(const struct fc_launch *job, const char *format, struct fc_status *st);
/* Puts rank r at a place; slot FC_NONE: not told. FC_INPUT: no such rank or place, the rank named before. */
enum fc_code fc_launched_put(const struct fc_launch *job, struct fc_launched *back, long long rank, long long place,
                             long long slot, struct fc_place where, struct fc_status *st);
/* The place of a host by name; FC_INPUT names those near. */
enum fc_code fc_launched_host(const struct fc_launch *job, const char *name, size_t length, uint32_t *place,
                              struct fc_place where, struct fc_status *st);
/* Walks the words of the text's lines, '#' comments left out. */
struct fc_launch_words {
    struct fc_lines lines;
    const char *at, *end;
};
void fc_launch_words_start(struct fc_launch_words *words, const struct fc_text *text);
bool fc_launch_word(struct fc_launch_words *words, const char **word, size_t *length);
