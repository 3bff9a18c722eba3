/* watch.c - the machine of a command, and who waits for its answer: a bar at the terminal, and Ctrl-C, which ends a search. */
#include "answer/job.h"
#include "cli/heartbeat.h"
#include "cli/option_rules.h"
#include "cli/signals.h"
#include "cli/watch.h"

#include <string.h>

enum fc_code fc_open_machine(const struct fc_arguments *arguments, const char *machine, struct fc_session *session,
                             struct fc_status *st)
{
    if (fc_session_open(&arguments->ask, machine, session, st)) return st->code;
    if (fc_check_options(arguments, &session->machine, NULL, st))
        fc_session_close(session);
    else
        fc_note_buffer(arguments, machine, &session->machine);
    return st->code;
}

/* A shipped machine as it is has the buffers that its source says. */
static bool own_buffer(const char *asked, const char *changes)
{
    size_t n = strlen(asked);
    return strchr(asked, '/') || (n > 5 && !strcmp(asked + n - 5, ".yaml")) ||
           (changes && (strstr(changes, "router.") || strstr(changes, "links.") || strstr(changes, "packet.")));
}

void fc_note_buffer(const struct fc_arguments *arguments, const char *asked, const struct fc_machine *m)
{
    double need = fc_buffer_needed_bytes(m);
    if (arguments->quiet || !m->router.buffer_given || m->router.buffer_bytes >= need || !own_buffer(asked, m->changes))
        return;
    fc_note("%s: router.buffer: %.15g B leave a link idle until credits are back (expected at least %.15g B a virtual "
            "channel: bandwidth x round trip, and a packet)",
            m->name, m->router.buffer_bytes, need);
}

static const volatile sig_atomic_t *search_starts(void *context)
{
    struct fc_watch *watch = context;
    return fc_catch_interrupt(&watch->before);
}

static void search_ends(void *context)
{
    struct fc_watch *watch = context;
    sigaction(SIGINT, &watch->before, NULL);
}

struct fc_question fc_watch_start(const struct fc_arguments *arguments, struct fc_watch *watch)
{
    struct fc_question q = arguments->ask;
    fc_work_start(&watch->progress, arguments->quiet);
    watch->watcher = (struct fc_watcher){watch, &watch->progress, search_starts, search_ends};
    q.watcher = &watch->watcher;
    return q;
}

void fc_watch_end(struct fc_watch *watch)
{
    fc_work_end(&watch->progress);
}

void fc_note_search(const struct fc_arguments *arguments, const char *map, bool stopped, bool unsearched)
{
    if (stopped) fc_note("the search was stopped: %s is the best mapping found until then", map);
    if (unsearched)
        fc_note("--time: %g s ended before the search: %s is the best of the starts that they paid for",
                arguments->ask.search_s, map);
}

enum fc_code fc_place_watched(const struct fc_arguments *arguments, struct fc_map_problem problem, const char *map,
                              struct fc_mapping *mapping, struct fc_status *st)
{
    struct fc_watch watch;
    const struct fc_question q = fc_watch_start(arguments, &watch);
    fc_place_problem(&q, problem, map, mapping, st);
    fc_watch_end(&watch);
    if (!st->code) fc_note_search(arguments, map, mapping->stopped, mapping->unsearched);
    return st->code;
}
