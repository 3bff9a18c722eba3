/* heartbeat.h - long work shows that it goes on (heartbeat.c). */
#pragma once

#include "core/core.h"

/* From here on the command shows at a terminal that it works; stopped before it prints, at the latest in fc_deliver. */
void fc_heartbeat_start(bool quiet);
void fc_heartbeat_stop(void);
/* A line on standard error, "fabricast: ...", in place of the heartbeat's. */
void fc_note(const char *format, ...) FC_PRINTF(1, 2);
/* No more of them: another process says the same. */
void fc_notes_off(void);
/* That the calibration beside the machine does not fit, and why. */
void fc_note_uncalibrated(const char *why);
/* fc_progress_start and fc_progress_end of a bar that the heartbeat keeps alive. */
void fc_work_start(struct fc_progress *progress, bool quiet);
void fc_work_end(struct fc_progress *progress);
