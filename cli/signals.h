/* signals.h - signals (signals.c). */
#pragma once

#include <signal.h>

/* From here on a signal that ends the program leaves no child and nothing unfinished. */
void fc_signals_start(void);
/* Until sigaction(SIGINT, before, NULL), the first Ctrl-C makes the result nonzero, for a search that then gives the best it
 * has, and the second one ends the program. Where Ctrl-C is ignored it stays so. */
const volatile sig_atomic_t *fc_catch_interrupt(struct sigaction *before);
