/* trace_capture.h - private to traces/: the parts of a capture. */
#ifndef FC_TRACE_CAPTURE_H
#define FC_TRACE_CAPTURE_H

#include "traces/trace_format.h"

/* A growing list of texts; the array is the arena's. */
struct fc_names {
    const char **name;
    uint32_t n, capacity;
};
/* Adds a copy unless it is there. */
enum fc_code fc_names_add(struct fc_names *names, const char *name, struct fc_arena *arena,
                          struct fc_status *st);

/* Merges the ranks' files in `directory` into a checked trace; `objects` gets the paths of the programs and
 * libraries that the ranks had loaded. trace->unwrapped holds only what the recorder noted itself. FC_NO when
 * a rank's recording is missing, or is not whole and not `partial`. */
enum fc_code fc_merge_ranks(const char *directory, const char *program, struct fc_trace *trace, bool partial,
                            struct fc_names *objects, struct fc_arena *arena, struct fc_status *st);

/* Adds the MPI functions that communicate, that `object` (an ELF file) refers to and that `recorder` does not
 * define. Objects of the MPI library itself and files that are no ELF are passed over. */
enum fc_code fc_unwrapped_symbols(const char *object, const char *recorder, struct fc_names *names,
                                  struct fc_arena *arena, struct fc_status *st);

#endif
