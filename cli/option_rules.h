/* option_rules.h - which options apply (option_rules.c), and which may stand in a sweep (options.c). */
#pragma once

#include "cli/command.h"
#include "models/demand.h"
#include "models/machine.h"

/* FC_INPUT, "--OPTION: why (what was expected)", for an option that is given and would be passed over. Asked before the
 * command begins and whenever more is known; NULL: not known yet. */
enum fc_code fc_check_options(const struct fc_arguments *arguments, const struct fc_machine *machine,
                              const struct fc_demand *demand, struct fc_status *st);
/* How many rules there are for an option of a command; 0: nobody has decided when it applies. */
int fc_option_rules(const char *command, const char *option);

/* Whether words, words[0] the command's name, may stand in a sweep: options that the command has, none that writes a file or
 * that the sweep sets itself, no other program's command line. FC_INPUT tells which does not. Looks at no values. */
enum fc_code fc_check_swept(const struct fc_command *command, int n_words, const char *const *words,
                            struct fc_status *st);
