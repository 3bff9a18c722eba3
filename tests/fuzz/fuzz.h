/* fuzz.h - readers under random input: what a target is, and how one input is run. Three programs share this:
 * libFuzzer's (`make fuzz`, fuzz_main.c), the replay and short mutation in the tests (tests/test_fuzz.c), and both start
 * from the same seeds. */
#pragma once

#include "core/core.h"

/* One reader. The input becomes `file` in an empty folder in memory; where `file` is NULL the reader takes text. With
 * `bundle` the input is several files, "@@NAME\n" before each. */
struct fc_fuzz_target {
    const char *name;
    const char *file; /* of the input, told to the reader as `path`; bundle: the path that the reader gets */
    bool bundle;
    const char *format; /* of a trace or a fabric; else NULL */
    const char *seeds;  /* files of the repository that are seeds too (glob); NULL: none */
    enum fc_code (*run)(const struct fc_fuzz_target *target, const char *path, const char *text, struct fc_status *st);
};
extern const struct fc_fuzz_target fc_fuzz_targets[]; /* ends with a NULL name */
const struct fc_fuzz_target *fc_fuzz_find(const char *name);

/* The folder in memory (/dev/shm, else /tmp), made at the first use and removed at the exit. */
const char *fc_fuzz_folder(void);
/* Runs one input; ends the process (abort) when the reader breaks its word: a status that is FC_FAULT, or a failure
 * without a message. What the reader does wrong to memory the sanitizers find. */
void fc_fuzz_run(const struct fc_fuzz_target *target, const uint8_t *data, size_t size);
/* All seeds as files `folder`/TARGET.NAME: those of tests/fuzz/seeds, those of tests/fuzz/found (what once broke a reader),
 * the repository's own samples, and what a writer makes (packed traces, DUMPI, OTF2). */
void fc_fuzz_write_seeds(const char *folder);
