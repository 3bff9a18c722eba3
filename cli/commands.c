/* commands.c - the table of commands, and one command line from its words to its exit status. */
#include "cli/arguments.h"
#include "cli/heartbeat.h"
#include "cli/option_rules.h"
#include "cli/ranks.h"
#include "cli/text.h"

#include <unistd.h>

/* X(record): declared and listed. */
#define COMMANDS(X)                                                                                                    \
    X(predict)                                                                                                         \
    X(compare)                                                                                                         \
    X(load)                                                                                                            \
    X(map)                                                                                                             \
    X(trace)                                                                                                           \
    X(flit)                                                                                                            \
    X(curve)                                                                                                           \
    X(calibrate)                                                                                                       \
    X(certify)                                                                                                         \
    X(place)                                                                                                           \
    X(report)                                                                                                          \
    X(reproduce)                                                                                                       \
    X(sweep)                                                                                                           \
    X(serve)                                                                                                           \
    X(measure)                                                                                                         \
    X(machines)                                                                                                        \
    X(list)
#define DECLARE(name) extern const struct fc_command fc_command_##name;
#define ENTRY(name) &fc_command_##name,
COMMANDS(DECLARE)
const struct fc_command *const fc_commands[] = {COMMANDS(ENTRY) NULL};

/* What runs a command, for fc_given_up. */
static const struct fc_status *running;

/* Two libraries end the process where they find no memory, and nothing can be done about it: OpenMP's runtime when it
 * starts a team, and the scanner of Scotch's strategies. The exit status and the message are ours all the same. */
void fc_given_up(void)
{
    if (!running) return;
    fprintf(stderr, "fabricast: out of memory: %s: a library ended the program\n", running->doing);
    fflush(stderr);
    _exit(FC_NO);
}

/* Whatever a command makes of memory that ran out: this is the cause. */
static void blame_memory(enum fc_code *code, struct fc_status *st)
{
    struct fc_status cause = {0};
    if (!fc_memory_whole(&cause)) return;
    *st = cause;
    *code = FC_NO;
}

/* Other ranks say nothing: what they find, rank 0 finds too, or is told when they agree. */
static const struct fc_ranks_library *join_ranks(const struct fc_command *command, struct fc_arguments *arguments,
                                                 struct fc_ranks *ranks, struct fc_status *st)
{
    const struct fc_ranks_library *library = command->over_ranks ? fc_ranks_join(ranks, st) : NULL;
    if (!library) return NULL;
    arguments->ranks = ranks;
    if (fc_speaks(arguments)) return library;
    arguments->quiet = true;
    fc_notes_off();
    return library;
}

int fc_run_command(const struct fc_command *command, int argc, char **argv)
{
    struct fc_arguments arguments;
    struct fc_ranks ranks;
    struct fc_status st = {0};
    fc_parse_arguments(command, argc, argv, &arguments);
    fc_doing(&st, "%s", command->name);
    const struct fc_ranks_library *library = join_ranks(command, &arguments, &ranks, &st);
    fc_heartbeat_start(arguments.quiet);
    running = &st;
    enum fc_code code = st.code;
    if (code == FC_OK && !fc_text_reserve()) code = fc_out_of_memory(&st, "the text of the answer");
    if (code == FC_OK) code = fc_check_options(&arguments, NULL, NULL, &st);
    if (code == FC_OK) code = command->run(&arguments, &st);
    running = NULL;
    fc_heartbeat_stop();
    blame_memory(&code, &st);
    if (code == FC_OK)
        code = fflush(stdout) || ferror(stdout) ? fc_refuse(&st, FC_NO, "standard output: cannot be written") : FC_OK;
    if (code && !st.code) st.code = code;
    if (arguments.ranks) code = fc_ranks_agree(arguments.ranks, &st);
    if (st.message[0] && fc_speaks(&arguments)) {
        char text[2048];
        fc_status_text(&st, text, sizeof text);
        fprintf(stderr, "fabricast: %s\n", text);
    }
    if (library) library->close();
    fc_free_arguments(&arguments);
    return (int)code;
}
