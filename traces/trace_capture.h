/* trace_capture.h - private to traces/: the parts of a capture. */
#pragma once

#include "traces/trace_format.h"

/* A growing list of texts; the array is the arena's. */
struct fc_name_list {
    const char **name;
    uint32_t n, capacity;
};
/* Adds a copy unless it is there. */
enum fc_code fc_names_add(struct fc_name_list *names, const char *name, struct fc_arena *arena, struct fc_status *st);

/* Merges the ranks' files in `directory` into a checked trace; `objects` gets the paths of the programs and
 * libraries that the ranks had loaded. trace->unwrapped holds only what the recorder noted itself. FC_NO when
 * a rank's recording is missing, or is not whole and not `partial`. */
enum fc_code fc_merge_ranks(const char *directory, const char *program, struct fc_trace *trace, bool partial,
                            struct fc_name_list *objects, struct fc_arena *arena, struct fc_status *st);

/* Adds the MPI functions that communicate, that `object` (an ELF file) refers to and that `recorder` does not
 * define. Objects of the MPI library itself and files that are no ELF are passed over. */
enum fc_code fc_unwrapped_symbols(const char *object, const char *recorder, struct fc_name_list *names,
                                  struct fc_arena *arena, struct fc_status *st);

/* What a program's file tells about recording it. */
enum fc_elf_kind {
    FC_ELF_NONE,    /* no program in machine code (a script), or it cannot be read */
    FC_ELF_FOREIGN, /* for another kind of processor than fabricast's recorder */
    FC_ELF_STATIC,  /* no dynamic linker: nothing can be preloaded */
    FC_ELF_HAS_MPI, /* MPI is linked into it statically: its calls do not go through the dynamic linker */
    FC_ELF_DYNAMIC
};
enum fc_elf_kind fc_elf_look(const char *path);
/* Does the shared library define the dynamic symbol? */
bool fc_elf_defines(const char *path, const char *name);

/* The families of MPI for which a recorder lies beside `recorder`, as "Open MPI and MPICH"; size >= 64. */
void fc_recorder_families(const char *recorder, char *text, size_t size);
/* The same of the recorder that fc_trace_capture would use; "": there is none. */
void fc_recorders_found(char *text, size_t size);
/* Refuses a run that the recorder ended because the program's MPI is another. */
enum fc_code fc_check_refused(const char *directory, const char *recorder, struct fc_status *st);
/* Did a rank 0 record anything? And if not, the refusal that says why. */
bool fc_reached(const char *directory);
enum fc_code fc_check_reached(char *const *argv, const char *directory, const char *recorder, struct fc_status *st);
/* "was ended by signal 11 (Segmentation fault)" or "failed with exit status 3", from the exit status of a shell or a
 * launcher, and from how the recordings in `directory` end. */
void fc_describe_end(int exit_status, const char *directory, char *text, size_t size);
