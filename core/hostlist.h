/* hostlist.h - host lists as Slurm writes them: "cn[000-015,020],gpu7", and words from files of hosts
 * (hostlist.c). */
#pragma once

#include "core/core.h"

#define FC_MOST_HOSTS 1000000u /* that a list may stand for */
#define FC_MOST_HOST_NAME 255  /* bytes of a name */

/* Called for each name of a list, in order; `name` ends with NUL and holds until the call returns; `times` as
 * in "node1*2" (1 where not given). Anything but FC_OK ends the walk. */
typedef enum fc_code fc_host_visit(void *context, const char *name, size_t length, uint32_t times,
                                   struct fc_place where, struct fc_status *st);

/* Walks the names of the list [text, text + length): names apart at commas; [1-3,7] stands for each of its
 * numbers, padded with zeros to the digits of the range's first; a name may have several brackets, the last
 * runs fastest. FC_INPUT: a bracket without its other half or inside another, a range that is no rising range
 * of numbers of at most 9 digits, an empty or too long name, blanks inside, more than FC_MOST_HOSTS names (found before
 * the first is visited). */
enum fc_code fc_host_list_walk(const char *text, size_t length, fc_host_visit *visit, void *context,
                               struct fc_place where, struct fc_status *st);

/* How many names the list stands for, as far as it is well formed; at most UINT32_MAX. */
uint64_t fc_host_list_count(const char *text, size_t length);

/* The length of the first element of a list: up to the next comma outside [] and (). */
size_t fc_host_element(const char *text, size_t length);

/* Reads names by their text as users give them: "@FILE" or a path with '/' is a file with lists apart by
 * blanks and lines, '#' comments, names repeated as in a $PBS_NODEFILE; anything else is a list itself. Each
 * element is visited whole (fc_host_list_walk takes it apart). `in_file` tells the visitor which. `line`: of a file only
 * that line; 0: all. */
typedef enum fc_code fc_element_visit(void *context, const char *element, size_t length, bool in_file,
                                      struct fc_place where, struct fc_status *st);
enum fc_code fc_host_text_walk(const char *text, long line, fc_element_visit *visit, void *context,
                               struct fc_status *st);
/* Whether that text names a file. */
bool fc_host_text_is_file(const char *text);

/* The candidate lists in a file: its lines, where there are two or more and some hold several names or ranges. *n is 0
 * where the file is one list: one name a line, or one line. In the arena. */
struct fc_host_line {
    long line;
    const char *text; /* its words, apart at commas */
};
enum fc_code fc_host_file_lists(const char *path, struct fc_arena *arena, struct fc_host_line **list, size_t *n,
                                struct fc_status *st);
