/* machine_files.h - private to models/: the file of a machine's name. */
#pragma once

#include "core/core.h"

/* The path of a shipped name, or of what is a path itself (contains '/' or ends in .yaml); the arena holds the names that a
 * refusal looks through. FC_INPUT suggests a near name. */
enum fc_code fc_machine_locate(const char *name, char *path, size_t size, struct fc_arena *arena, struct fc_status *st);
