/* trace_info.h - `trace info` (trace_info.c). */
#ifndef FC_CLI_TRACE_INFO_H
#define FC_CLI_TRACE_INFO_H

#include "cli/arguments.h"

enum fc_code fc_trace_info(const struct fc_arguments *arguments, struct fc_status *st);

#endif
