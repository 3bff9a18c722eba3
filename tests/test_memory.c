/* test_memory.c - memory that runs out: the one path of core/status.c, and some allocations of every command failed in the
 * sanitized program (`make validate` fails all of them: tests/validate_memory.c). The library that fails them calls the
 * sanitizer's own malloc, so that a use of freed or unset memory on the way out is found too. */
#include "tests/memory_jobs.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <libgen.h>

/* A failure that the caller passed over still keeps an output from its name. */
static void test_passed_over(void)
{
    struct fc_status st = {0}, ignored = {0};
    struct fc_output out;
    char path[64];
    CU_ASSERT_FATAL(fc_test_file(path, ".txt", "old", 3));
    CU_ASSERT(fc_memory_whole(&st) == FC_OK);
    fc_doing(&ignored, "reading %s", "a machine");
    CU_ASSERT(fc_out_of_memory(&ignored, "%d links", 7) == FC_NO);
    CU_ASSERT(fc_is_out_of_memory(&ignored));
    CU_ASSERT_STRING_EQUAL(ignored.message, "out of memory: reading a machine: 7 links");
    CU_ASSERT_FATAL(fc_output_open(&out, path, &st) == FC_OK);
    fputs("new", out.stream);
    CU_ASSERT(fc_output_close(&out, &st) == FC_NO);
    CU_ASSERT_STRING_EQUAL(st.message, ignored.message);
    fc_memory_forget();
    st = (struct fc_status){0};
    CU_ASSERT(fc_memory_whole(&st) == FC_OK);
    FILE *file = fopen(path, "r");
    char text[8] = "";
    CU_ASSERT(file && fgets(text, sizeof text, file));
    CU_ASSERT_STRING_EQUAL(text, "old");
    if (file) fclose(file);
    unlink(path);
}

/* An arena's limit refuses; it is no failure of what else was worked out. */
static void test_limit(void)
{
    struct fc_status st = {0}, whole = {0};
    struct fc_arena arena = {.limit_bytes = 1000};
    CU_ASSERT(!fc_alloc(&arena, 2000, 1, &st));
    CU_ASSERT(fc_is_out_of_memory(&st));
    CU_ASSERT(fc_memory_whole(&whole) == FC_OK);
    fc_arena_free(&arena);
}

static void test_memory_stream(void)
{
    struct fc_status st = {0};
    struct fc_memory_stream m;
    CU_ASSERT_FATAL(fc_memory_open(&m, &st) == FC_OK);
    for (int i = 0; i < 10000; i++) fprintf(m.stream, "%04d", i);
    CU_ASSERT_FATAL(fc_memory_close(&m, &st) == FC_OK);
    CU_ASSERT(m.size == 40000 && strlen(m.text) == 40000 && !strncmp(m.text + 39992, "99989999", 8));
    free(m.text);
}

/* Commands of memory_jobs.h, by what they begin with, and how many of their allocations fail. */
static void test_some(void)
{
    static const struct {
        const char *begin;
        unsigned long runs;
    } some[] = {
        {"list strategies --json", 4},
        {"machines @torus.yaml --json", 5},
        {"load -m @torus.yaml -p transpose -o", 6},
        {"load -m @torus.yaml -p permutation", 6},
        {"predict -m @torus.yaml -t @job.txt --json", 6},
        {"map -m @tree.yaml -g @job.mtx --strategy scotch", 6},
        {"curve -m @torus.yaml -p uniform", 5},
        {"flit -m @ring.yaml", 5},
        {"report -m @tmesh.yaml", 5},
        {"trace convert", 5},
        {"trace info @job.txt --json", 4},
    };
    struct memory_check m;
    char program[PATH_MAX], library[PATH_MAX], command[1024];
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 32);
    CU_ASSERT_FATAL(n > 0);
    program[n] = 0;
    char *folder = dirname(program); /* obj/test */
    snprintf(library, sizeof library, "%.4000s/../fail_allocation.so", folder);
    strcat(program, "/fabricast");
    CU_ASSERT_FATAL(memory_open(&m, program, library));
    m.environment = "ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0";
    for (size_t i = 0; i < FC_COUNT(some); i++)
        for (size_t k = 0; k < FC_COUNT_OF(memory_commands); k++) {
            if (strncmp(memory_commands[k], some[i].begin, strlen(some[i].begin))) continue;
            memory_command(command, sizeof command, memory_commands[k]);
            CU_ASSERT(memory_walk(&m, command, some[i].runs, 0) > 0);
            CU_ASSERT(m.n_wrong == 0 && m.n_failed >= some[i].runs);
            break;
        }
    memory_close(&m);
}

int suite_memory(void)
{
    CU_pSuite suite = CU_add_suite("memory", NULL, NULL);
    CU_add_test(suite, "a failure that was passed over keeps an output from its name", test_passed_over);
    CU_add_test(suite, "an arena's limit", test_limit);
    CU_add_test(suite, "a stream into memory", test_memory_stream);
    CU_add_test(suite, "some allocations of every command", test_some);
    return 0;
}
