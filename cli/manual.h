/* manual.h - what is made from the table of options for others than argp (manual.c). */
#pragma once

#include "cli/options.h"

/* Writes fabricast.1, fabricast-COMMAND.1 for every command, and `fabricast`, the completion of bash, into a directory that is
 * there. `fabricast --manual DIRECTORY`: for the build. */
enum fc_code fc_write_manual(const char *directory, struct fc_status *st);
