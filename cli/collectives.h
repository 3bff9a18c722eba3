/* collectives.h - times of collectives as a table (collectives.c). */
#pragma once

#include "cli/arguments.h"

/* Closed-form times of all collectives for --members, --bytes, --loggops. */
enum fc_code fc_table_collectives(const struct fc_arguments *arguments, struct fc_arena *arena, struct fc_table *table,
                                  struct fc_status *st);
