/* main.c - chooses the command. Exit status: 0 answered, 1 answered "no" or could not be done, 2 wrong usage or wrong
 * input, 3 our own fault. */
#include "cli/manual.h"
#include "cli/signals.h"
#include "cli/text.h"
#include "cli/version.h"

#include <stdlib.h>
#include <string.h>

static void print_help(FILE *stream)
{
    fprintf(stream,
            "fabricast %s - predicts how a parallel job will communicate on a machine before it gets it\n\n"
            "Usage: fabricast COMMAND [OPTION...]\n\nCommands:\n",
            FC_VERSION);
    for (size_t i = 0; fc_commands[i]; i++)
        fprintf(stream, "  %-9s %s\n", fc_commands[i]->name, fc_commands[i]->summary);
    fprintf(stream, "\nExample:\n  %s\n\n`fabricast COMMAND --help` tells more.\n", fc_command_predict.example);
}

static const struct fc_command *find(const char *name)
{
    for (size_t i = 0; fc_commands[i]; i++)
        if (!strcmp(fc_commands[i]->name, name)) return fc_commands[i];
    return NULL;
}

static int unknown(const char *name)
{
    enum { MOST = 32 };
    const char *names[MOST];
    size_t n = 0;
    for (; fc_commands[n] && n < MOST; n++) names[n] = fc_commands[n]->name;
    const char *near = fc_nearest(name, names, n);
    fc_say(stderr, "fabricast: unknown command '%s'", name);
    if (near) fprintf(stderr, "; did you mean '%s'?", near);
    fprintf(stderr, " (`fabricast --help` lists them)\n");
    return FC_INPUT;
}

int main(int argc, char **argv)
{
    bool help = argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"));
    if (argc < 2 || (help && argc == 2)) {
        print_help(help ? stdout : stderr);
        return help ? FC_OK : FC_INPUT;
    }
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
        fc_print_version(stdout);
        return FC_OK;
    }
    if (!strcmp(argv[1], "--manual") && argc == 3) {
        struct fc_status st = {0};
        if (fc_write_manual(argv[2], &st)) fc_say(stderr, "fabricast: %s\n", st.message);
        return (int)st.code;
    }
    const struct fc_command *command = find(help ? argv[2] : argv[1]);
    if (!command) return unknown(help ? argv[2] : argv[1]);
    char ask[] = "--help", *help_argv[] = {argv[0], ask, NULL};
    fc_json_watch();
    fc_signals_start();
    atexit(fc_given_up);
    return help ? fc_run_command(command, 2, help_argv) : fc_run_command(command, argc - 1, argv + 1);
}
