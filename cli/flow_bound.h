/* flow_bound.h - bounds by linear programs, for the commands that show loads (flow_bound.c). */
#pragma once

#include "answer/session.h"
#include "cli/arguments.h"
#include "solvers/bound/bound.h"

#include <jansson.h>

/* --bound: the settings for fc_load_settings.flow where one is wanted. Without the option the cheap ones. */
enum fc_code fc_read_bound(const struct fc_arguments *arguments, const struct fc_network *net,
                           struct fc_flow_settings *settings, bool *wanted, struct fc_status *st);
/* The lines below the bound: nothing where it was not asked for and does not bind. */
void fc_print_flow_bound(const struct fc_arguments *arguments, const struct fc_load *load, FILE *stream);
/* The program's answer, or null. A new reference. */
json_t *fc_json_flow_bound(const struct fc_load *load);
/* load --worst-case. */
enum fc_code fc_worst_case_command(const struct fc_arguments *arguments, struct fc_session *session,
                                   struct fc_status *st);
