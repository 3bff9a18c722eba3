/* glpk_thread.h - the one way to GLPK. */
#pragma once

#include "core/core.h"

#include <glpk.h>

/* Calls work(of) where it may use GLPK: what it makes there (problems too) is gone when this returns, so answers are
 * read inside. GLPK neither prints nor ends the process: when it finds no memory, or a check of its own fails, work is
 * left where it is (its own allocations must belong to an arena or to `of`), and the status is FC_NO, naming `what` (the
 * program that was solved). Returns the status' code. */
enum fc_code fc_glpk(void (*work)(void *of), void *of, const char *what, struct fc_status *st);
