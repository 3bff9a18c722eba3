/* watch.h - the machine and the watcher of a command (watch.c). */
#pragma once

#include "answer/session.h"
#include "cli/arguments.h"
#include "mapping/mapping.h"

#include <signal.h>

/* fc_session_open, and what the machine tells of options that would be passed over. */
enum fc_code fc_open_machine(const struct fc_arguments *arguments, const char *machine, struct fc_session *session,
                             struct fc_status *st);
/* Tells that router.buffer is less than a virtual channel needs to fill its link, unless a shipped machine has it so;
 * `asked`: as -m has it. */
void fc_note_buffer(const struct fc_arguments *arguments, const char *asked, const struct fc_machine *machine);
/* A bar at the terminal, and Ctrl-C for searches; stays where it is until fc_watch_end. */
struct fc_watch {
    struct fc_watcher watcher;
    struct fc_progress progress;
    struct sigaction before;
};
/* The command's question, watched. */
struct fc_question fc_watch_start(const struct fc_arguments *arguments, struct fc_watch *watch);
void fc_watch_end(struct fc_watch *watch);
/* Tells that the mapping by `map` is not what a whole search gives. */
void fc_note_search(const struct fc_arguments *arguments, const char *map, bool stopped, bool unsearched);
/* fc_place_problem, watched and noted. */
enum fc_code fc_place_watched(const struct fc_arguments *arguments, struct fc_map_problem problem, const char *map,
                              struct fc_mapping *mapping, struct fc_status *st);
