/* fuzz_main.c - libFuzzer's entry: the target is named by FUZZ_TARGET; FUZZ_SEEDS=FOLDER writes the seeds that are not
 * text and ends, FUZZ_LIST lists the targets. */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct fc_fuzz_target *target;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const char *name = getenv("FUZZ_TARGET"), *seeds = getenv("FUZZ_SEEDS");
    (void)argc, (void)argv;
    for (const struct fc_fuzz_target *t = fc_fuzz_targets; getenv("FUZZ_LIST") && t->name; t++) puts(t->name);
    if (seeds) fc_fuzz_write_seeds(seeds);
    if (seeds || getenv("FUZZ_LIST")) exit(0);
    target = name ? fc_fuzz_find(name) : NULL;
    if (!target) {
        fprintf(stderr, "FUZZ_TARGET=%s is no target (FUZZ_LIST=1 lists them)\n", name ? name : "");
        exit(2);
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fc_fuzz_run(target, data, size);
    return 0;
}
