/* test_announced.c - small files that announce much are refused before memory is asked for; marks of encodings; compressed
 * files of every kind. */
#include "core/hostlist.h"
#include "core/stream.h"
#include "mapping/launcher.h"
#include "tests/dumpi_file.h"
#include "tests/format_files.h"
#include "tests/support.h"

#include <zlib.h>

static void test_traces(void)
{
    static const struct {
        const char *name, *text, *says;
    } files[] = {
        {"a.txt", "fabricast-trace 1\nranks 100000000\ncomm 0 0-99999999\nevents 0\n",
         "a.txt:2: 100000000 ranks announced, more than the file can hold"},
        {"c.txt", "fabricast-trace 1\nranks 2\ncomm 0 0-1\nevents 900\nrank 0 900\n",
         "c.txt:4: 900 events announced, more than the file can hold"},
        {"a.prv", "#Paraver (01/02/2024 at 10:00):1000_ns:1(2):1:67108864:0\n2:2:1:2:1:50:50000001:0\n",
         "a.prv:1: 67108864 tasks announced, more than the file can hold"},
        {"a.goal", "// a comment\nnum_ranks 67108864\nrank 0 {\nl1: calc 1 cpu 0\n}\n",
         "a.goal:2: 67108864 ranks announced, more than the file can hold"},
    };
    for (size_t i = 0; i < FC_COUNT(files); i++)
        CU_ASSERT(test_refused(test_text(files[i].name, files[i].text), files[i].says));
}

/* Each of 1000 ranges is short, and together they are 50 million members. */
static void test_communicators(void)
{
    enum { RANKS = 50000, COMMS = 1000 };
    char *text = malloc(3 << 20);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    size_t n = (size_t)sprintf(text, "fabricast-trace 1\nranks %d\n", RANKS);
    for (int c = 0; c < COMMS; c++) n += (size_t)sprintf(text + n, "comm %d 0-%d\n", c, RANKS - 1);
    n += (size_t)sprintf(text + n, "events 0\n");
    for (int r = 0; r < RANKS; r++) n += (size_t)sprintf(text + n, "rank %d 0\n", r);
    n += (size_t)sprintf(text + n, "end\n");
    CU_ASSERT(test_refused(test_write("many.txt", text, n),
                           "members of communicators announced, more than the file can hold"));
    free(text);
}

/* A job of 300 000 ranks, each with its line, is no such file. */
static void test_large_job(void)
{
    enum { RANKS = 300000 };
    char *text = malloc(RANKS * 16 + 100);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    struct fc_trace trace;
    size_t n = (size_t)sprintf(text, "fabricast-trace 1\nranks %d\ncomm 0 0-%d\nevents 0\n", RANKS, RANKS - 1);
    for (int r = 0; r < RANKS; r++) n += (size_t)sprintf(text + n, "rank %d 0\n", r);
    n += (size_t)sprintf(text + n, "end\n");
    test_read(test_write("large.txt", text, n), &trace);
    free(text);
    CU_ASSERT_EQUAL(trace.n_ranks, RANKS);
    fc_trace_free(&trace);
    /* 60 000 ranks that do nothing need not be written down */
    test_read(test_text("idle.goal", "num_ranks 60000\nrank 0 {\n calc 1\n}\n"), &trace);
    CU_ASSERT_EQUAL(trace.n_ranks, 60000);
    fc_trace_free(&trace);
}

static void test_dumpi(void)
{
    static struct dumpi_out o;
    dumpi_begin(&o);
    dumpi_call(&o, 81); /* MPI_Comm_size of the world */
    put(&o, 2, 2), put(&o, 4, 16121859);
    dumpi_end(&o);
    dumpi_save(&o, test_path("big/x-0000.bin"));
    CU_ASSERT(test_refused(test_path("big"),
                           "x-0000.bin: rank 0, record 1: MPI_Comm_size answers 16121859, more ranks than"));
    test_text("big/x.meta", "hostname=h\nnumprocs=16121859\n");
    CU_ASSERT(test_refused(test_path("big"), "x.meta:2: 16121859 ranks announced, more than the file can hold"));
}

static bool graph_refused(const char *path, const char *part)
{
    struct fc_demand demand;
    struct fc_status st = {0};
    if (!fc_demand_from_graph(path, &demand, &st)) fc_demand_free(&demand);
    return fc_says(&st, FC_INPUT, part);
}

static void test_graphs(void)
{
    CU_ASSERT(graph_refused(
        test_text("a.mtx", "%%MatrixMarket matrix coordinate real general\n1000000000 1000000000 1\n1 2 3\n"),
        "a.mtx:2: 1000000000 rows announced, more than the file can hold"));
    CU_ASSERT(graph_refused(test_text("b.mtx", "%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 3\n"),
                            "b.mtx:1: no %%MatrixMarket banner (the file begins with '%MatrixMarket')"));
}

static enum fc_code count(void *context, const char *name, size_t length, uint32_t times, struct fc_place where,
                          struct fc_status *st)
{
    (void)name, (void)length, (void)times, (void)where, (void)st;
    ++*(uint64_t *)context;
    return FC_OK;
}

/* Refused before the first host is visited. */
static void test_hosts(void)
{
    static const char *const lists[] = {"n[0-1000000]", "a,n[0-9][0-999999]", "[0-9][0-9][0-9][0-9][0-9][0-9][0-9]"};
    uint64_t visited = 0;
    for (size_t i = 0; i < FC_COUNT(lists); i++) {
        struct fc_status st = {0};
        fc_host_list_walk(lists[i], strlen(lists[i]), count, &visited, (struct fc_place){0}, &st);
        CU_ASSERT(fc_says(&st, FC_INPUT, "stands for more than 1000000 hosts"));
    }
    CU_ASSERT_EQUAL(visited, 0);
    CU_ASSERT_EQUAL(fc_host_list_count("n[0-9,20][1-3],x", 16), 34);
    char machine[64], cables[64];
    struct fc_machine m;
    struct fc_status st = {0};
    static const char list[] =
        "router a node n 1GB/s 1ns\nrouter a router b 1GB/s 1ns 65536\nrouter a router c 1GB/s 1ns 65536\n";
    CU_ASSERT_FATAL(fc_test_file(cables, "", list, sizeof list - 1));
    char yaml[300];
    int n = snprintf(yaml, sizeof yaml, "name: x\nnetwork: {family: graph, file: %s, format: edge-list}\n", cables);
    CU_ASSERT_FATAL(fc_test_file(machine, ".yaml", yaml, (size_t)n));
    if (!fc_machine_load(machine, &m, &st)) fc_machine_free(&m);
    CU_ASSERT(fc_says(&st, FC_INPUT, ":3: 131073 cables announced, more than the file can hold"));
    unlink(machine);
    unlink(cables);
}

/* gzip of `n` equal bytes behind a text. */
static const char *bomb(const char *name, const char *text, size_t n)
{
    const char *path = test_path(name);
    static char zeros[1 << 16];
    gzFile out = gzopen(path, "wb9");
    if (!out || gzputs(out, text) < 0) abort();
    memset(zeros, ' ', sizeof zeros);
    for (; n >= sizeof zeros; n -= sizeof zeros)
        if (gzwrite(out, zeros, sizeof zeros) != sizeof zeros) abort();
    if (gzclose(out) != Z_OK) abort();
    return path;
}

static void test_bombs(void)
{
    const char *part = "decompresses to one piece of more than 32 MiB and a hundred times the file's size";
    CU_ASSERT(test_refused(bomb("b.txt.gz", "fabricast-trace 1\nprogram ", (size_t)100 << 20), part));
    CU_ASSERT(test_refused(bomb("b.goal.gz", "num_ranks 2\nrank 0 { ", (size_t)100 << 20), part));
    CU_ASSERT(
        graph_refused(bomb("b.mtx.gz", "%%MatrixMarket matrix coordinate real general\n", (size_t)100 << 20), part));
}

/* The same text plain, behind the mark of UTF-8, and compressed. */
static void test_marks(void)
{
    static const char good[] = "\xef\xbb\xbf%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 3\n";
    static const char trace_text[] = "\xef\xbb\xbf"
                                     "fabricast-trace 1\nranks 1\ncomm 0 0\nevents 0\nrank 0 0\nend\n";
    struct fc_demand demand;
    struct fc_trace trace;
    struct fc_status st = {0};
    CU_ASSERT_EQUAL_FATAL(fc_demand_from_graph(test_text("m.mtx", good), &demand, &st), FC_OK);
    CU_ASSERT_EQUAL(demand.n_entries, 1);
    fc_demand_free(&demand);
    CU_ASSERT_EQUAL_FATAL(fc_demand_from_graph(bomb("m.mtx.gz", good, 0), &demand, &st), FC_OK);
    fc_demand_free(&demand);
    test_read(test_text("m.txt", trace_text), &trace);
    fc_trace_free(&trace);
    test_read(bomb("m.txt.gz", trace_text, 0), &trace);
    fc_trace_free(&trace);
    CU_ASSERT(graph_refused(test_write("w.mtx", "\xff\xfe%\0%\0", 6), "w.mtx: is UTF-16 text (expected UTF-8"));
    CU_ASSERT(test_refused(test_write("w.txt", "\xfe\xff\0f\0a", 6), "w.txt: is UTF-16 text (expected UTF-8"));
}

/* A fabric file as it is handed round. */
static void test_compressed_fabric(void)
{
    struct fc_machine m;
    struct fc_status st = {0};
    bomb("f.conf.gz", "SwitchName=s0 Nodes=n[0-3]\n", 0);
    const char *path =
        test_text("f.yaml", "name: x\nnetwork: {family: graph, file: f.conf.gz, format: slurm-topology}\n"
                            "links: {link: {bandwidth: 1 GB/s}}\n");
    CU_ASSERT_EQUAL_FATAL(fc_machine_load(path, &m, &st), FC_OK);
    fc_machine_free(&m);
}

int suite_announced(void)
{
    static const CU_TestInfo tests[] = {
        {"traces", test_traces},
        {"communicators", test_communicators},
        {"large jobs are read", test_large_job},
        {"DUMPI", test_dumpi},
        {"graphs", test_graphs},
        {"host lists and cables", test_hosts},
        {"compressed files", test_bombs},
        {"marks of UTF-8 and UTF-16", test_marks},
        {"a compressed fabric file", test_compressed_fabric},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("announced", tests);
}
