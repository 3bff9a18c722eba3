/* trace_info.h - `trace info` (trace_info.c). */
#pragma once

#include "cli/arguments.h"

enum fc_code fc_trace_info(const struct fc_arguments *arguments, struct fc_status *st);
