/* machine_files.h - private to models/: the file of a machine's name. */
#pragma once

#include "models/machine.h"

/* The path of a shipped name, or of what is a path itself (contains '/' or ends in .yaml); the arena holds the names that a
 * refusal looks through. FC_INPUT suggests a near name. */
enum fc_code fc_machine_locate(const char *name, char *path, size_t size, struct fc_arena *arena, struct fc_status *st);
/* For a machine file that is about to be written, "DIRECTORY/NAME.yaml": its NAME, and the path of NAME.SUFFIX beside it. FC_INPUT:
 * another ending, or a name of other characters than letters, digits, '-', '_', '+' and '.'. */
enum fc_code fc_machine_new_file(const char *path, const char *suffix, char *name, size_t name_size, char *beside,
                                 size_t beside_size, struct fc_status *st);
/* The path of a file that the machine file names: beside it, unless it is absolute. The machine's arena owns it. */
const char *fc_machine_beside(struct fc_machine *machine, const char *file, struct fc_status *st);
