/* test_graph_monitoring.c - communication graphs from Open MPI's monitoring: what is counted, each refusal
 * with its line, compressed graph files, and the recordings of the reference data against figures that Open
 * MPI and a tracer agreed on. */
#include "core/rank_files.h"
#include "models/demand_build.h"
#include "tests/tests.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD "# POINT TO POINT\n"

static char folder[64];

static void make_folder(void)
{
    strcpy(folder, "/tmp/fabricast-monitoring-XXXXXX");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
}

static const char *inside(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void put(const char *name, const char *text)
{
    FILE *f = fopen(inside(name), "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    fputs(text, f);
    fclose(f);
}

static void shell(const char *format, const char *a, const char *b)
{
    char command[1024];
    snprintf(command, sizeof command, format, a, b);
    CU_ASSERT_EQUAL(system(command), 0);
}

static void remove_folder(void)
{
    shell("rm -r %s%s", folder, "");
}

static const char rank_0[] = HEAD "E\t0\t1\t1000 bytes\t3 msgs sent\t1,0,0,2\n"
                                  "E\t0\t2\t0 bytes\t5 msgs sent\t5\n"
                                  "I\t0\t1\t70 bytes\t7 msgs sent\n"
                                  "# OSC\nS\t0\t2\t400 bytes\t4 msgs sent\nR\t0\t1\t90 bytes\t9 msgs sent\n"
                                  "# COLLECTIVES\nC\t0\t1\t12345 bytes\t1 msgs sent\n"
                                  "D\tMPI_COMM_WORLD\tprocs: 0,1,2\nO2A\t0\t1 bytes\t1 msgs sent\n"
                                  "A2O\t0\t0 bytes\t0 msgs sent\nA2A\t0\t0 bytes\t0 msgs sent\n";

static void put_three(void)
{
    make_folder();
    put("m.0.prof", rank_0);
    put("m.1.prof", HEAD "# OSC\n");
    put("m.2.prof", HEAD "E\t2\t0\t8 bytes\t1 msgs sent\r\n");
    put("notes.txt", "not read");
}

static void test_rows(void)
{
    static const struct {
        uint32_t src, dst;
        double bytes, messages;
    } expected[] = {{0, 1, 1000, 3}, {0, 1, 70, 7}, {0, 2, 0, 5}, {0, 2, 400, 4}, {1, 0, 90, 9}, {2, 0, 8, 1}};
    put_three();
    for (int way = 0; way < 3; way++) {
        struct fc_demand d;
        struct fc_status st = {0};
        const char *path = way == 0 ? folder : inside(way == 1 ? "m.2.prof" : "");
        CU_ASSERT_EQUAL_FATAL(fc_demand_from_graph(path, &d, &st), FC_OK);
        CU_ASSERT_STRING_EQUAL(d.name, path);
        CU_ASSERT(d.n_tasks == 3 && d.n_entries == FC_COUNT(expected) && d.n_dense == 0 && !d.open_loop);
        for (size_t i = 0; i < FC_COUNT(expected) && i < d.n_entries; i++) {
            CU_ASSERT(d.src[i] == expected[i].src && d.dst[i] == expected[i].dst);
            CU_ASSERT(d.bytes[i] == expected[i].bytes && d.messages[i] == expected[i].messages);
        }
        fc_demand_free(&d);
    }
    remove_folder();
}

static void test_compressed(void)
{
    struct fc_demand d;
    put_three();
    shell("gzip %s/m.0.prof && xz %s/m.1.prof", folder, folder);
    struct fc_status st = {0};
    CU_ASSERT_EQUAL_FATAL(fc_demand_from_graph(folder, &d, &st), FC_OK);
    CU_ASSERT(d.n_entries == 6 && d.n_tasks == 3);
    fc_demand_free(&d);
    put("g.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 5\n");
    put("g.mat", "0 5\n0 0\n");
    shell("gzip %s/g.mtx && xz %s/g.mat", folder, folder);
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL_FATAL(fc_demand_from_graph(inside(i ? "g.mat.xz" : "g.mtx.gz"), &d, &st), FC_OK);
        CU_ASSERT(d.n_entries == 1 && d.n_tasks == 2 && d.src[0] == 0 && d.dst[0] == 1 && d.bytes[0] == 5);
        fc_demand_free(&d);
    }
    shell("head -c 40 %s/g.mtx.gz > %s/cut.gz", folder, folder);
    CU_ASSERT_EQUAL(fc_demand_from_graph(inside("cut.gz"), &d, &st), FC_INPUT);
    CU_ASSERT(fc_says(&st, FC_INPUT, "cut in the middle"));
    remove_folder();
}

/* Rank 0's file is replaced by `text`. */
static void refused(const char *text, const char *says)
{
    struct fc_demand d;
    struct fc_status st = {0};
    put("m.0.prof", text);
    CU_ASSERT_EQUAL(fc_demand_from_graph(folder, &d, &st), FC_INPUT);
    CU_ASSERT(fc_says(&st, FC_INPUT, says));
}

static void test_refusals(void)
{
    put_three();
    refused("", "m.0.prof: is empty");
    refused("E\t0\t1\t8 bytes\t1 msgs sent\n", "m.0.prof:1: no file of Open MPI's monitoring");
    refused(HEAD "X\t0\t1\t8 bytes\t1 msgs sent\n", "m.0.prof:2: row of kind 'X'");
    refused(HEAD "E\t0\t1\t8 bytes\n", "m.0.prof:2: not a row of messages");
    refused(HEAD "E\t0\t1\t8 octets\t1 msgs sent\n", "m.0.prof:2: not a row of messages");
    refused(HEAD "E\t1\t0\t8 bytes\t1 msgs sent\n", "m.0.prof:2: source 1 in the file of rank 0");
    refused(HEAD "E\t0\t3\t8 bytes\t1 msgs sent\n", "m.0.prof:2: destination: '3' is out of range (allowed: 0 to 2)");
    refused(HEAD "E\t0\t1\t-8 bytes\t1 msgs sent\n", "m.0.prof:2: bytes: '-8' is out of range");
    refused(HEAD "E\t0\t1\t8 bytes\t0 msgs sent\n", "m.0.prof:2: 8 bytes in no message");
    refused(HEAD "E\t0\t1\t8 bytes\t1e99 msgs sent\n", "m.0.prof:2: msgs: '1e99'");
    remove_folder();
}

static void set_refused(const char *path, const char *says)
{
    struct fc_demand d;
    struct fc_status st = {0};
    CU_ASSERT_EQUAL(fc_demand_from_graph(path, &d, &st), FC_INPUT);
    CU_ASSERT(fc_says(&st, FC_INPUT, says));
}

static void test_sets(void)
{
    put_three();
    put("m.1.prof.gz", "");
    set_refused(folder, "rank 1 is here twice: m.1.prof and m.1.prof.gz");
    unlink(inside("m.1.prof.gz"));
    put("m.4.prof", HEAD);
    set_refused(folder, "m.3.prof is missing (there is m.4.prof)");
    put("other.0.prof", HEAD);
    set_refused(folder, "several sets of files are here: m.*.prof and other.*.prof");
    put("monitoring.prof", HEAD);
    set_refused(inside("monitoring.prof"), "its name does not tell its rank (expected NAME.RANK.prof)");
    struct fc_demand d;
    struct fc_status st = {0};
    CU_ASSERT_EQUAL_FATAL(fc_demand_from_graph(inside("other.0.prof"), &d, &st), FC_OK); /* one file tells its set */
    CU_ASSERT(d.n_tasks == 1 && d.n_entries == 0);
    fc_demand_free(&d);
    CU_ASSERT(!fc_is_rank_file("a/m..prof", ".prof") && !fc_is_rank_file("a.0/mprof", ".prof"));
    CU_ASSERT(!fc_is_rank_file(".0.prof", ".prof") && !fc_is_rank_file("m.x.prof", ".prof"));
    CU_ASSERT(fc_is_rank_file("a/m.n.12.prof.zst", ".prof") && !fc_is_rank_file("m.123456789.prof", ".prof"));
    remove_folder();
}

/* Figures: bytes, messages and pairs of the program's own messages, as a tracer counted them in the same
 * runs. */
static void test_recordings(void)
{
    static const struct {
        const char *archive, *in;
        uint32_t n_ranks;
        double bytes, messages, pairs;
    } runs[] = {{"mon.tar.xz", "mon", 16, 234266256, -1, 64},
                {"monqe.tar.xz", "monqe", 16, 6.40e6, 27295, -1},
                {"mon64.tar.xz", "mon64", 64, 455e6, -1, 384}};
    const char *from = "../shared/reference/traces/commmatrix/openmpi_monitoring";
    struct stat info;
    if (stat(from, &info)) {
        printf("\n    skipped: %s is not there ", from);
        return;
    }
    for (size_t i = 0; i < FC_COUNT(runs); i++) {
        make_folder();
        char archive[512];
        snprintf(archive, sizeof archive, "%s/%s", from, runs[i].archive);
        shell("tar xJf %s -C %s", archive, folder);
        struct fc_demand d = {0};
        struct fc_status st = {0};
        struct fc_arena reading = {0};
        CU_ASSERT_EQUAL_FATAL(fc_graph_monitored(inside(runs[i].in), FC_MONITORED_USER, &reading, &d, &st), FC_OK);
        double messages = 0, bytes = 0; /* with what a rank sends itself */
        for (size_t e = 0; e < d.n_entries; e++) bytes += d.bytes[e];
        for (size_t e = 0; e < d.n_entries; e++) messages += d.messages[e];
        CU_ASSERT_EQUAL(d.n_tasks, runs[i].n_ranks);
        CU_ASSERT(i == 0 ? bytes == runs[i].bytes : bytes > 0.998 * runs[i].bytes && bytes < 1.002 * runs[i].bytes);
        CU_ASSERT(runs[i].messages < 0 || messages == runs[i].messages);
        CU_ASSERT(runs[i].pairs < 0 || d.n_entries == runs[i].pairs);
        fc_demand_free(&d);
        CU_ASSERT_EQUAL_FATAL(fc_demand_from_graph(inside(runs[i].in), &d, &st), FC_OK);
        for (size_t e = 0; e < d.n_entries; e++) bytes -= d.bytes[e];
        CU_ASSERT(bytes < 0); /* now with those inside collectives */
        fc_demand_free(&d);
        fc_arena_free(&reading);
        remove_folder();
    }
}

int suite_graph_monitoring(void)
{
    static const CU_TestInfo tests[] = {
        {"rows by kind", test_rows},
        {"compressed graph files", test_compressed},
        {"refusals with their lines", test_refusals},
        {"sets of files", test_sets},
        {"recordings", test_recordings},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("graph monitoring", tests);
}
