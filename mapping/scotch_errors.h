/* scotch_errors.h - what Scotch says when it fails. */
#pragma once

#include "core/core.h"

/* Calls work(of), which may use Scotch, when `bytes` of memory are there: some of Scotch's own allocations are not checked.
 * Where Scotch complains, work is left at once: Scotch goes on after a failed
 * allocation, and crashes or gives a worse answer. What it held then is lost; what work holds must belong to an arena. All
 * that Scotch is given was checked before, so memory is what it lacks: FC_NO. Returns the status' code. */
enum fc_code fc_scotch(void (*work)(void *of), void *of, size_t bytes, struct fc_status *st);
/* FC_NO where a call of Scotch in `work` was not good; `what` was being done. */
enum fc_code fc_scotch_check(bool good, const char *what, struct fc_status *st);
