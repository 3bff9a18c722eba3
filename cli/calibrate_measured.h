/* calibrate_measured.h - `calibrate --measured` (calibrate_measured.c). */
#pragma once

#include "cli/arguments.h"
#include "models/machine.h"

/* Fits the end points of the machine to the rows of arguments->measured, delivers what it found. */
enum fc_code fc_calibrate_measured(const struct fc_arguments *arguments, const struct fc_machine *machine,
                                   struct fc_status *st);
