/* test_fuzz.c - every reader under its seeds, under what once broke one, and under a few thousand changed inputs, always the
 * same. The long search is `make fuzz` (docs/fuzzing.md). */
#include "tests/fuzz/fuzz.h"
#include "tests/tests.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHANGED = 40, MOST_BYTES = 1 << 16, MOST_SEEDS = 400 };

struct seed {
    const struct fc_fuzz_target *target;
    uint8_t *data;
    size_t n;
    char name[256];
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct seed *)a)->name, ((const struct seed *)b)->name);
}

/* All seeds in order of their names. */
static size_t load_seeds(struct seed *seeds)
{
    char folder[128], path[400];
    size_t n = 0;
    snprintf(folder, sizeof folder, "%s/seeds", fc_fuzz_folder());
    mkdir(folder, 0700);
    fc_fuzz_write_seeds(folder);
    DIR *list = opendir(folder);
    for (struct dirent *d; list && n < MOST_SEEDS && (d = readdir(list));) {
        struct seed *s = &seeds[n];
        snprintf(s->name, sizeof s->name, "%.*s", (int)strcspn(d->d_name, "."), d->d_name);
        s->target = fc_fuzz_find(s->name);
        snprintf(s->name, sizeof s->name, "%.250s", d->d_name);
        if (*d->d_name == '.') continue;
        snprintf(path, sizeof path, "%s/%s", folder, d->d_name);
        FILE *in = fopen(path, "rb");
        s->data = malloc(MOST_BYTES);
        s->n = in && s->data ? fread(s->data, 1, MOST_BYTES, in) : 0;
        if (in) fclose(in);
        CU_ASSERT_PTR_NOT_NULL(s->target);
        n += s->target && s->data;
    }
    if (list) closedir(list);
    qsort(seeds, n, sizeof *seeds, by_name);
    return n;
}

/* One to four changes: a byte, a piece left out, a piece doubled, a number put in. */
static size_t change(uint8_t *data, size_t n, uint64_t stream)
{
    static const char *const numbers[] = {"0", "-1", "4294967296", "9223372036854775807", "65536", "1e309", "",
                                          ":", ",",  "\n"};
    uint64_t draw = 0, changes = 1 + fc_random_below(5, stream, draw++, 4);
    for (; changes > 0 && n > 0; changes--) {
        size_t at = (size_t)fc_random_below(5, stream, draw++, n),
               length = 1 + (size_t)fc_random_below(5, stream, draw++, 16);
        const char *number = numbers[fc_random_below(5, stream, draw++, FC_COUNT(numbers))];
        if (length > n - at) length = n - at;
        switch (fc_random_below(5, stream, draw++, 4)) {
        case 0: data[at] = (uint8_t)fc_random(5, stream, draw++); break;
        case 1:
            memmove(data + at, data + at + length, n - at - length);
            n -= length;
            break;
        case 2:
            memmove(data + at + length, data + at, n - at);
            n += length;
            break;
        default:
            length = strlen(number);
            memmove(data + at + length, data + at, n - at);
            memcpy(data + at, number, length);
            n += length;
        }
    }
    return n;
}

static void test_inputs(void)
{
    static struct seed seeds[MOST_SEEDS];
    static uint8_t changed[MOST_BYTES + 256];
    size_t n = load_seeds(seeds), n_run = 0, n_targets = 0;
    for (size_t i = 0; i < n; i++) {
        fc_fuzz_run(seeds[i].target, seeds[i].data, seeds[i].n);
        int times = seeds[i].n < 4096 ? CHANGED : CHANGED / 4;
        for (int k = 0; k < times; k++, n_run++) {
            memcpy(changed, seeds[i].data, seeds[i].n);
            fc_fuzz_run(seeds[i].target, changed, change(changed, seeds[i].n, i << 16 | (uint64_t)k));
        }
        free(seeds[i].data);
    }
    for (const struct fc_fuzz_target *t = fc_fuzz_targets; t->name; t++) {
        bool any = false;
        for (size_t i = 0; i < n; i++) any = any || seeds[i].target == t;
        if (!any) printf("\n    target %s has no seed\n", t->name);
        CU_ASSERT(any);
        n_targets++;
    }
    CU_ASSERT(n_targets >= 31 && n_run > 1000);
}

int suite_fuzz(void)
{
    static const CU_TestInfo tests[] = {
        {"seeds, what once broke a reader, and changed inputs", test_inputs},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("fuzz", tests);
}
