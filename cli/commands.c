/* commands.c - the table of commands, and one command line from its words to its exit status. */
#include "cli/cli.h"

#include <stdlib.h>

const struct fc_command *const fc_commands[] = {
    &fc_command_predict, &fc_command_load,    &fc_command_map,  &fc_command_trace,
    &fc_command_flit,    &fc_command_curve,    &fc_command_calibrate, &fc_command_certify,
    &fc_command_place,    &fc_command_report,   &fc_command_reproduce, &fc_command_sweep,
    &fc_command_machines, &fc_command_list,    NULL,
};

int fc_run_command(const struct fc_command *command, int argc, char **argv)
{
    struct fc_arguments arguments;
    struct fc_status st = {0};
    fc_parse_arguments(command, argc, argv, &arguments);
    fc_heartbeat_start(arguments.quiet);
    enum fc_code code = fc_check_options(&arguments, NULL, NULL, &st);
    if (code == FC_OK) code = command->run(&arguments, &st);
    fc_heartbeat_stop();
    if (code == FC_OK) code = fflush(stdout) || ferror(stdout)
                                  ? fc_refuse(&st, FC_NO, "standard output: cannot be written")
                                  : FC_OK;
    if (st.message[0]) {
        char text[2048];
        fc_status_text(&st, text, sizeof text);
        fprintf(stderr, "fabricast: %s\n", text);
    }
    fc_free_arguments(&arguments);
    return (int)code;
}
