/* main.c - the table of commands. Exit status: 0 answered, 1 answered "no" or could not be done, 2 wrong usage or wrong
 * input, 3 our own fault. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

static const struct fc_command *const commands[] = {
    &fc_command_predict, &fc_command_load,    &fc_command_map,  &fc_command_trace,
    &fc_command_flit,    &fc_command_curve,    &fc_command_calibrate, &fc_command_certify,
    &fc_command_place,    &fc_command_report,   &fc_command_reproduce, &fc_command_sweep,
    &fc_command_machines, &fc_command_list,
};

const struct fc_command *fc_command_at(size_t i)
{
    return i < FC_COUNT(commands) ? commands[i] : NULL;
}

static void print_help(FILE *stream)
{
    fprintf(stream, "fabricast %s - predicts how a parallel job will communicate on a machine before it gets it\n\n"
                    "Usage: fabricast COMMAND [OPTION...]\n\nCommands:\n", FC_VERSION);
    for (size_t i = 0; i < FC_COUNT(commands); i++)
        fprintf(stream, "  %-9s %s\n", commands[i]->name, commands[i]->summary);
    fprintf(stream, "\nExample:\n  %s\n\n`fabricast COMMAND --help` tells more.\n", fc_command_predict.example);
}

static const struct fc_command *find(const char *name)
{
    for (size_t i = 0; i < FC_COUNT(commands); i++)
        if (!strcmp(commands[i]->name, name)) return commands[i];
    return NULL;
}

static int unknown(const char *name)
{
    const char *names[FC_COUNT(commands)];
    for (size_t i = 0; i < FC_COUNT(commands); i++) names[i] = commands[i]->name;
    const char *near = fc_nearest(name, names, FC_COUNT(commands));
    fprintf(stderr, "fabricast: unknown command '%s'", name);
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
        printf("fabricast %s\n", FC_VERSION);
        return FC_OK;
    }
    const struct fc_command *command = find(help ? argv[2] : argv[1]);
    if (!command) return unknown(help ? argv[2] : argv[1]);
    char ask[] = "--help", *help_argv[] = {argv[0], ask, NULL};
    struct fc_arguments arguments;
    if (help) fc_parse_arguments(command, 2, help_argv, &arguments);
    else fc_parse_arguments(command, argc - 1, argv + 1, &arguments);
    struct fc_status st = {0};
    fc_signals_start();
    fc_heartbeat_start(arguments.quiet);
    enum fc_code code = command->run(&arguments, &st);
    fc_heartbeat_stop();
    if (code == FC_OK) code = fflush(stdout) || ferror(stdout)
                                  ? fc_refuse(&st, FC_NO, "standard output: cannot be written")
                                  : FC_OK;
    if (st.message[0]) {
        char text[2048];
        fc_status_text(&st, text, sizeof text);
        fprintf(stderr, "fabricast: %s\n", text);
    }
    free(arguments.words);
    free(arguments.node_lists);
    free(arguments.settings);
    return (int)code;
}
