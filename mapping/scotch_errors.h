/* scotch_errors.h - what Scotch says when it fails. */
#ifndef FC_SCOTCH_ERRORS_H
#define FC_SCOTCH_ERRORS_H

#include "core/core.h"

/* Forgets what Scotch said in this thread. */
void fc_scotch_begin(void);
/* FC_NO where `good` is false or Scotch has complained since: some of its methods go on with a worse answer when they find
 * no memory. All that Scotch is given was checked before, so memory is what it lacks; `what` was being done. */
enum fc_code fc_scotch_end(bool good, const char *what, struct fc_status *st);

#endif
