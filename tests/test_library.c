/* test_library.c - the public library (library/fabricast.h): against the answers of answer/, under another locale, by several
 * threads; and an installed copy of it, used by a C program and by Python outside the source tree (tests/installed.sh). */
#include "answer/answer.h"
#include "library/fabricast.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static fabricast_machine *open_machine(const char *name)
{
    fabricast_machine *machine = NULL;
    fabricast_error error;
    if (fabricast_machine_open(name, NULL, &machine, &error)) CU_FAIL(error.message);
    return machine;
}

static fabricast_job *open_pattern(const fabricast_machine *machine, const char *pattern)
{
    fabricast_job *job = NULL;
    fabricast_error error;
    if (fabricast_job_pattern(machine, pattern, 1, &job, &error)) CU_FAIL(error.message);
    return job;
}

static void test_same_answer(void)
{
    static const char pattern[] = "stencil3d:bytes=64KiB";
    fabricast_machine *machine = open_machine("bgl-64");
    fabricast_job *job = open_pattern(machine, pattern);
    fabricast_answer *answer = NULL;
    struct fc_answer own;
    struct fc_status st = {0};
    struct fc_question q = {.machine = "bgl-64", .pattern = pattern, .seed = 1, .threads = 1, .keep_links = true};
    CU_ASSERT_EQUAL_FATAL(fabricast_predict(machine, job, NULL, &answer, NULL), FABRICAST_OK);
    CU_ASSERT_EQUAL_FATAL(fc_answer_make(&q, &own, &st), FC_OK);
    const fabricast_figures *f = fabricast_answer_figures(answer);
    CU_ASSERT(f->time_s == own.p.time_s && f->bound_s == own.p.bound_s && f->error_percent == own.p.error_percent);
    CU_ASSERT(f->error_percent > 0 && f->time_s >= f->bound_s);
    CU_ASSERT_STRING_EQUAL(f->bottleneck, own.bottleneck);
    CU_ASSERT_EQUAL_FATAL(f->n_links, own.n_links);
    CU_ASSERT(!memcmp(f->link_bytes, own.link_bytes, own.n_links * sizeof(double)));
    CU_ASSERT(!memcmp(f->node_of, own.node, own.n_tasks * sizeof(uint32_t)));
    CU_ASSERT_EQUAL(f->n_tasks, fabricast_job_tasks(job));
    fc_answer_free(&own);
    fabricast_answer_close(answer);
    fabricast_job_close(job);
    fabricast_machine_close(machine);
}

/* Without the bound of all mappings the rest is the same; the member stands where the struct had room. */
static void test_time_only(void)
{
    fabricast_settings settings = fabricast_defaults();
    fabricast_machine *machine = open_machine("bgl-64");
    fabricast_job *job = open_pattern(machine, "stencil3d:bytes=64KiB");
    fabricast_answer *all = NULL, *time_only = NULL;
    CU_ASSERT(settings.time_only == 0 && sizeof settings == offsetof(fabricast_settings, background) + sizeof(char *));
    CU_ASSERT_EQUAL_FATAL(fabricast_predict(machine, job, &settings, &all, NULL), FABRICAST_OK);
    settings.time_only = 1;
    CU_ASSERT_EQUAL_FATAL(fabricast_predict(machine, job, &settings, &time_only, NULL), FABRICAST_OK);
    const fabricast_figures *a = fabricast_answer_figures(all), *b = fabricast_answer_figures(time_only);
    CU_ASSERT(a->time_s == b->time_s && a->bound_s == b->bound_s && a->best_bound_s > 0 && isnan(b->best_bound_s));
    fabricast_answer_close(all);
    fabricast_answer_close(time_only);
    fabricast_job_close(job);
    fabricast_machine_close(machine);
}

/* Nodes in a text are numbered as in the whole machine, as on the command line; names that came later are of what is left. */
static void test_failed(void)
{
    static const char yaml[] = "name: m\nnetwork: {family: mesh, dims: [5]}\nlinks: {mesh: {bandwidth: 1 GB/s}}\n"
                               "failed: ['(0)']\nnode: {cores: 1}\n";
    static const uint32_t src[] = {0}, dst[] = {1};
    static const double bytes[] = {1e6};
    fabricast_settings settings = fabricast_defaults();
    fabricast_machine *machine = NULL;
    fabricast_job *job = NULL;
    fabricast_answer *answer = NULL;
    fabricast_error error;
    char path[64];
    CU_ASSERT_FATAL(fc_test_file(path, ".yaml", yaml, sizeof yaml - 1));
    CU_ASSERT_EQUAL_FATAL(fabricast_machine_open(path, NULL, &machine, &error), FABRICAST_OK);
    CU_ASSERT_EQUAL(fabricast_machine_nodes(machine), 4);
    CU_ASSERT_EQUAL_FATAL(fabricast_job_traffic(2, 1, src, dst, bytes, &job, NULL), FABRICAST_OK);
    settings.nodes = "4,2";
    CU_ASSERT_EQUAL_FATAL(fabricast_predict(machine, job, &settings, &answer, NULL), FABRICAST_OK);
    const fabricast_figures *f = fabricast_answer_figures(answer);
    CU_ASSERT(f->node_of[0] == 3 && f->node_of[1] == 1);
    fabricast_answer_close(answer);
    settings.nodes = "0-1";
    CU_ASSERT_EQUAL(fabricast_predict(machine, job, &settings, &answer, &error), FABRICAST_INPUT);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "node 0 is gone"));
    CU_ASSERT_EQUAL(fabricast_machine_hosts(machine, "n[1-4]", NULL), FABRICAST_OK);
    settings.nodes = "n4,n2";
    CU_ASSERT_EQUAL_FATAL(fabricast_predict(machine, job, &settings, &answer, NULL), FABRICAST_OK);
    f = fabricast_answer_figures(answer);
    CU_ASSERT(f->node_of[0] == 3 && f->node_of[1] == 1);
    fabricast_answer_close(answer);
    fabricast_job_close(job);
    fabricast_machine_close(machine);
    remove(path);
}

/* A header that knows fewer settings than the library: the rest is as by default. */
static void test_older_settings(void)
{
    fabricast_machine *machine = open_machine("bgl-64");
    fabricast_job *job = open_pattern(machine, "stencil3d:bytes=1KiB");
    fabricast_settings settings = fabricast_defaults();
    fabricast_answer *answer;
    fabricast_error error;
    settings.size = offsetof(fabricast_settings, nodes);
    settings.nodes = settings.background = "not read";
    CU_ASSERT_EQUAL(fabricast_predict(machine, job, &settings, &answer, NULL), FABRICAST_OK);
    fabricast_answer_close(answer);
    settings.size = 4;
    CU_ASSERT_EQUAL(fabricast_predict(machine, job, &settings, &answer, &error), FABRICAST_INPUT);
    CU_ASSERT(answer == NULL && strstr(error.message, "settings of 4 bytes") != NULL);
    fabricast_job_close(job);
    fabricast_machine_close(machine);
}

static void test_errors_have_a_place(void)
{
    char path[64];
    static const char text[] = "name: broken\nnetwork: {family: torus, dims: [4, x]}\n";
    fabricast_machine *machine = (fabricast_machine *)1;
    fabricast_error error;
    CU_ASSERT_FATAL(fc_test_file(path, ".yaml", text, sizeof text - 1));
    CU_ASSERT_EQUAL(fabricast_machine_open(path, NULL, &machine, &error), FABRICAST_INPUT);
    CU_ASSERT(machine == NULL && error.line == 2 && !strcmp(error.file, path) && strstr(error.message, "dims"));
    unlink(path);
    fabricast_machine_close(NULL);
    fabricast_job_close(NULL);
    fabricast_answer_close(NULL);
    CU_ASSERT(fabricast_answer_figures(NULL) == NULL && fabricast_machine_nodes(NULL) == 0);
}

static void test_traffic(void)
{
    static const uint32_t src[] = {1, 0, 1}, dst[] = {0, 1, 0};
    static const double bytes[] = {1e6, 2e6, 3e6}, wrong[] = {1, NAN, 1};
    static const uint32_t there[] = {0, 1};
    fabricast_machine *machine = open_machine("bgl-64");
    fabricast_job *job = NULL;
    fabricast_answer *answer = NULL;
    fabricast_settings settings = fabricast_defaults();
    settings.node_of = there;
    CU_ASSERT_EQUAL_FATAL(fabricast_job_traffic(2, 3, src, dst, bytes, &job, NULL), FABRICAST_OK);
    CU_ASSERT_EQUAL_FATAL(fabricast_predict(machine, job, &settings, &answer, NULL), FABRICAST_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(fabricast_answer_json(answer), "\"network_bytes\": 6000000.0"));
    fabricast_answer_close(answer);
    fabricast_job_close(job);
    CU_ASSERT_EQUAL(fabricast_job_traffic(2, 3, src, dst, wrong, &job, NULL), FABRICAST_INPUT);
    CU_ASSERT(job == NULL);
    fabricast_machine_close(machine);
}

struct asked {
    char *json;
    int number;
};

static void *ask(void *context)
{
    struct asked *asked = context;
    fabricast_machine *machine = open_machine(asked->number % 2 ? "bgl-64" : "tmesh-216");
    fabricast_job *job = open_pattern(machine, "alltoall:bytes=0.5KiB");
    fabricast_settings settings = fabricast_defaults();
    fabricast_answer *answer = NULL;
    settings.map = "random";
    if (fabricast_predict(machine, job, &settings, &answer, NULL) == FABRICAST_OK)
        asked->json = strdup(fabricast_answer_json(answer));
    fabricast_answer_close(answer);
    fabricast_job_close(job);
    fabricast_machine_close(machine);
    return NULL;
}

/* A comma in the host program's numbers, and several threads at once. */
static void test_threads_and_locale(void)
{
    struct asked asked[4] = {{NULL, 0}, {NULL, 1}, {NULL, 2}, {NULL, 3}};
    pthread_t thread[4];
    char *before = strdup(setlocale(LC_ALL, NULL));
    bool comma = setlocale(LC_ALL, "de_DE.UTF-8") || setlocale(LC_ALL, "de_DE");
    for (int i = 0; i < 4; i++) CU_ASSERT_EQUAL_FATAL(pthread_create(&thread[i], NULL, ask, &asked[i]), 0);
    for (int i = 0; i < 4; i++) pthread_join(thread[i], NULL);
    if (comma) CU_ASSERT_STRING_EQUAL(localeconv()->decimal_point, ","); /* ours is not left behind */
    setlocale(LC_ALL, before);
    free(before);
    for (int i = 0; i < 4; i++) CU_ASSERT_PTR_NOT_NULL_FATAL(asked[i].json);
    CU_ASSERT_STRING_EQUAL(asked[0].json, asked[2].json);
    CU_ASSERT_STRING_EQUAL(asked[1].json, asked[3].json);
    for (int i = 0; i < 4; i++) free(asked[i].json);
}

static void test_installed(void)
{
    char line[4096];
    bool done = false;
    FILE *out = popen("tests/installed.sh obj/test 2>&1", "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    while (fgets(line, sizeof line, out)) {
        if (!strcmp(line, "done\n")) {
            done = true;
            continue;
        }
        CU_FAIL("the installed copy");
        printf("    %s", line);
    }
    CU_ASSERT_EQUAL(pclose(out), 0);
    CU_ASSERT(done);
}

static const CU_TestInfo tests[] = {
    {"the same answer as answer/", test_same_answer},
    {"settings of an older header", test_older_settings},
    {"nodes of a machine that has lost some", test_failed},
    {"without the bound of all mappings", test_time_only},
    {"errors have a place", test_errors_have_a_place},
    {"traffic in memory", test_traffic},
    {"threads, and a locale with commas", test_threads_and_locale},
    CU_TEST_INFO_NULL,
};
static const CU_TestInfo installed[] = {
    {"a C program and Python use an installed copy", test_installed},
    CU_TEST_INFO_NULL,
};
int suite_library(void)
{
    return fc_add_suite("library", tests) || fc_add_suite("installed", installed);
}
