/* test_trace_stream.c - jobs from traces that stream by: the same demand and the same times as from memory;
 * the temporary file, and its refusals. */
#include "tests/replay_script.h"
#include "traces/trace_formats.h"
#include "traces/trace_source.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct fc_trace_options small = {.flops_per_s = 1e9, .tick_s = 1e-9, .memory_events = 1000};
static char folder[] = "/tmp/fabricast-test-XXXXXX";
static char path[64];

static bool start_folder(void)
{
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    if (!mkdtemp(folder)) return false;
    snprintf(path, sizeof path, "%s/trace", folder);
    return true;
}

/* Removes the trace; nothing else may have been left. */
static void end_folder(void)
{
    int n = 0;
    unlink(path);
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));) n += e->d_name[0] != '.';
    if (d) closedir(d);
    CU_ASSERT(d && n == 0);
    rmdir(folder);
}

/* ---- demand ---- */

static void expect_demand(const struct fc_demand *a, const struct fc_demand *b)
{
    CU_ASSERT_EQUAL(a->n_tasks, b->n_tasks);
    CU_ASSERT_STRING_EQUAL(a->name, b->name);
    CU_ASSERT_EQUAL_FATAL(a->n_entries, b->n_entries);
    for (size_t i = 0; i < a->n_entries; i++) {
        CU_ASSERT(a->src[i] == b->src[i] && a->dst[i] == b->dst[i]);
        CU_ASSERT(fc_near(a->bytes[i], b->bytes[i], 1e-12));
        CU_ASSERT_EQUAL(a->messages[i], b->messages[i]);
    }
}

static void samples_demand(void)
{
    static const char *const files[] = {"traces/samples/lammps-lj-16.fct", "traces/samples/qe-si-16.fct"};
    for (size_t i = 0; i < FC_COUNT(files); i++) {
        struct fc_trace trace;
        struct fc_trace_source source;
        struct fc_demand memory, stream;
        struct fc_status st = {0};
        CU_ASSERT_EQUAL_FATAL(fc_trace_read(files[i], &trace, &st), FC_OK);
        CU_ASSERT_EQUAL_FATAL(fc_source_open(files[i], &small, &source, &st), FC_OK);
        CU_ASSERT_PTR_NULL(source.head->events);
        CU_ASSERT_EQUAL_FATAL(fc_demand_of_job(&trace, &memory, &st), FC_OK);
        CU_ASSERT_EQUAL_FATAL(fc_demand_of_source(&source, NULL, &stream, &st), FC_OK);
        expect_demand(&stream, &memory);
        fc_demand_free(&stream);
        CU_ASSERT_EQUAL_FATAL(source.restart(&source), FC_OK); /* once more */
        CU_ASSERT_EQUAL_FATAL(fc_demand_of_source(&source, NULL, &stream, &st), FC_OK);
        expect_demand(&stream, &memory);
        fc_demand_free(&stream);
        fc_demand_free(&memory);
        fc_source_close(&source);
        fc_trace_free(&trace);
    }
}

/* Every kind of call, members that bring different bytes, a window in which some never come, many kinds. */
static void write_calls(bool finalize)
{
    static const enum fc_op ops[] = {FC_OP_BARRIER,        FC_OP_BCAST,    FC_OP_GATHER, FC_OP_SCATTER,
                                     FC_OP_ALLGATHER,      FC_OP_ALLTOALL, FC_OP_REDUCE, FC_OP_ALLREDUCE,
                                     FC_OP_REDUCE_SCATTER, FC_OP_SCAN};
    start_script(&script, 5);
    add_comm(&script, 1, 4);
    for (uint32_t r = 0; r < 5; r++) {
        next_rank(&script);
        add(&script, FC_OP_SEND, (int32_t)(r + 1) % 5, 100 + r);
        add(&script, FC_OP_RECV, (int32_t)(r + 4) % 5, 100 + (r + 4) % 5);
        struct fc_event *v = add(&script, FC_OP_ALLTOALLV, -1, 0);
        v->list = script.trace.n_lists;
        v->n_list = 5;
        for (int i = 0; i < 5; i++) v->bytes += script.list[script.trace.n_lists++] = 10 * i + r;
        for (int k = 0; k < 200; k++) {
            enum fc_op op = ops[k % (int)FC_COUNT(ops)];
            bool sub = k % 3 == 0,
                 rooted = op == FC_OP_BCAST || op == FC_OP_GATHER || op == FC_OP_SCATTER || op == FC_OP_REDUCE;
            bool block =
                op == FC_OP_GATHER || op == FC_OP_SCATTER || op == FC_OP_ALLGATHER || op == FC_OP_REDUCE_SCATTER;
            if ((sub && r == 0) || (!finalize && r == 3 && k > 190)) continue;
            struct fc_event *e =
                add(&script, op, rooted ? 1 + k % 4 : -1, op == FC_OP_BARRIER ? 0 : 40 * k + (block ? 7 * r : 0));
            e->comm = sub;
        }
        add(&script, FC_OP_RMA, (int32_t)(r + 2) % 5, 64)->mode = 2;
        if (finalize) add(&script, FC_OP_FINALIZE, -1, 0);
    }
}

static void every_call(void)
{
    for (int finalize = 0; finalize < 2; finalize++) {
        struct fc_trace_source source;
        struct fc_demand memory, stream;
        struct fc_status st = {0};
        write_calls(finalize);
        CU_ASSERT_EQUAL_FATAL(fc_source_memory(&script.trace, &source, &st), FC_OK);
        CU_ASSERT_EQUAL_FATAL(fc_demand_of_source(&source, NULL, &memory, &st), FC_OK);
        struct fc_trace head = script.trace; /* the same events, as if they were a stream's */
        head.events = NULL;
        source.head = &head;
        CU_ASSERT_EQUAL_FATAL(fc_demand_of_source(&source, NULL, &stream, &st), FC_OK);
        expect_demand(&stream, &memory);
        fc_demand_free(&stream);
        fc_demand_free(&memory);
        fc_source_close(&source);
    }
}

/* More kinds of calls than are kept apart. */
static void many_kinds(void)
{
    struct fc_trace_source source;
    struct fc_demand memory, stream;
    struct fc_status st = {0};
    start_script(&script, 2);
    for (uint32_t r = 0; r < 2; r++) {
        next_rank(&script);
        for (int k = 0; k < 2900; k++) add(&script, FC_OP_BCAST, 0, 1 + k);
    }
    CU_ASSERT_EQUAL_FATAL(fc_source_memory(&script.trace, &source, &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(fc_demand_of_source(&source, NULL, &memory, &st), FC_OK);
    struct fc_trace head = script.trace;
    head.events = NULL;
    source.head = &head;
    CU_ASSERT_EQUAL_FATAL(fc_demand_of_source(&source, NULL, &stream, &st), FC_OK);
    expect_demand(&stream, &memory);
    CU_ASSERT(stream.n_entries == 1 && stream.bytes[0] == 2900.0 * 2901 / 2);
    fc_demand_free(&stream);
    fc_demand_free(&memory);
    fc_source_close(&source);
}

static void refused_calls(void)
{
    static const struct {
        enum fc_op op;
        int32_t comm, root;
        const char *says;
    } wrong[] = {
        {FC_OP_ALLREDUCE, 0, -1,
         "job.trace:2000: rank 1 calls allreduce where rank 0 calls bcast (line 1000) on the same "
         "communicator"},
        {FC_OP_BCAST, 0, 1, "job.trace:2000: rank 1 calls bcast with root 1, rank 0 with root 0 (line 1000)"},
        {FC_OP_BCAST, 1, 0, "job.trace:2000: rank 1, call 0: bcast on communicator 1, of which it is no member"},
    };
    for (size_t i = 0; i < FC_COUNT(wrong); i++) {
        struct fc_trace_source source;
        struct fc_demand demand;
        struct fc_status st = {0};
        start_script(&script, 2);
        add_comm(&script, 0, 1);
        next_rank(&script);
        add(&script, FC_OP_BCAST, 0, 8);
        next_rank(&script);
        add(&script, wrong[i].op, wrong[i].root, 8)->comm = wrong[i].comm;
        CU_ASSERT_EQUAL_FATAL(fc_source_memory(&script.trace, &source, &st), FC_OK);
        struct fc_trace head = script.trace;
        head.events = NULL;
        source.head = &head;
        CU_ASSERT_EQUAL(fc_demand_of_source(&source, NULL, &demand, &st), FC_INPUT);
        CU_ASSERT(fc_says(&st, FC_INPUT, wrong[i].says));
        fc_source_close(&source);
    }
}

/* ---- times ---- */

/* From blocks and through a temporary file as from memory; Finalize is found to be every rank's last call. */
static void same_times(void)
{
    struct rig g;
    struct fc_trace trace;
    open_torus(&g, "4, 4", "adaptive");
    CU_ASSERT_FATAL(start_folder());
    CU_ASSERT_EQUAL_FATAL(fc_trace_read("traces/samples/lammps-lj-16.fct", &trace, &g.st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(fc_replay_run(&g.net, &trace, NULL, &g.settings, &g.out, &g.st), FC_OK);
    for (int text = 0; text < 2; text++) {
        struct fc_trace_source source;
        struct fc_replay stream;
        CU_ASSERT_EQUAL_FATAL(fc_trace_write(&trace, path, text, &g.st), FC_OK);
        CU_ASSERT_EQUAL_FATAL(fc_source_open(path, &small, &source, &g.st), FC_OK);
        CU_ASSERT_PTR_NULL(source.head->events);
        CU_ASSERT(source.finalizes && source.finalizes(&source));
        for (int twice = 0; twice < 2; twice++) {
            CU_ASSERT_EQUAL_FATAL(source.restart(&source), FC_OK);
            CU_ASSERT_EQUAL_FATAL(fc_replay_source(&g.net, &source, NULL, &g.settings, &stream, &g.st), FC_OK);
            CU_ASSERT_EQUAL(stream.prediction.time_s, g.out.prediction.time_s);
            CU_ASSERT_EQUAL(stream.n_messages, g.out.n_messages);
            fc_replay_free(&stream);
        }
        fc_source_close(&source);
    }
    fc_trace_free(&trace);
    end_folder();
    close_rig(&g);
}

static void no_finalize(void)
{
    struct fc_trace_source source;
    struct fc_status st = {0};
    CU_ASSERT_FATAL(start_folder());
    for (int which = 0; which < 2; which++) {
        start_script(&script, 2);
        for (int r = 0; r < 2; r++) {
            next_rank(&script);
            for (int k = 0; k < (r && which ? 0 : 1500); k++) add(&script, FC_OP_OTHER, -1, 0);
            if (!r) add(&script, FC_OP_FINALIZE, -1, 0);
        }
        script.trace.recorded = "by hand";
        CU_ASSERT_EQUAL_FATAL(fc_trace_write(&script.trace, path, true, &st), FC_OK);
        CU_ASSERT_EQUAL_FATAL(fc_source_open(path, &small, &source, &st), FC_OK);
        CU_ASSERT(!source.finalizes(&source) && st.code == FC_OK);
        fc_source_close(&source);
    }
    end_folder();
}

/* ---- the temporary file ---- */

static void no_room(void)
{
    struct fc_trace_source source;
    struct fc_trace trace;
    struct fc_status st = {0};
    struct rlimit limit, little;
    const char *before = getenv("TMPDIR");
    char *kept = before ? strdup(before) : NULL;
    CU_ASSERT_FATAL(start_folder());
    CU_ASSERT_EQUAL_FATAL(fc_trace_read("traces/samples/lammps-lj-16.fct", &trace, &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(fc_trace_write(&trace, path, true, &st), FC_OK);
    fc_trace_free(&trace);
    setenv("TMPDIR", "/nowhere/at/all", 1);
    CU_ASSERT_EQUAL(fc_source_open(path, &small, &source, &st), FC_NO);
    CU_ASSERT(fc_says(&st, FC_NO, "no temporary file in /nowhere/at/all"));
    st = (struct fc_status){0};
    setenv("TMPDIR", folder, 1);
    CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_FSIZE, &limit), 0);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    static const rlim_t sizes[] = {0, 1, 50000, 200000}; /* it takes some 370 kB */
    for (size_t i = 0; i < FC_COUNT(sizes); i++) {
        little = (struct rlimit){sizes[i], limit.rlim_max};
        CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_FSIZE, &little), 0);
        enum fc_code code = fc_source_open(path, &small, &source, &st);
        CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_FSIZE, &limit), 0);
        CU_ASSERT_EQUAL(code, FC_NO);
        CU_ASSERT(fc_says(&st, FC_NO, "cannot be written: File too large (expected a folder TMPDIR with room for it)"));
        CU_ASSERT(fc_says(&st, FC_NO, folder));
        st = (struct fc_status){0};
    }
    signal(SIGXFSZ, handler);
    CU_ASSERT_EQUAL_FATAL(fc_source_open(path, &small, &source, &st), FC_OK); /* and it has no name */
    unlink(path);
    CU_ASSERT_PTR_NOT_NULL(fc_source_peek(&source, 3));
    end_folder();
    fc_source_close(&source);
    if (kept)
        setenv("TMPDIR", kept, 1);
    else
        unsetenv("TMPDIR");
    free(kept);
}

int suite_trace_stream(void)
{
    static const CU_TestInfo tests[] = {
        {"the demand of the samples", samples_demand},
        {"every collective call as from memory", every_call},
        {"more kinds of calls than are counted apart", many_kinds},
        {"calls that do not agree", refused_calls},
        {"times from blocks and a temporary file", same_times},
        {"ranks that do not finalize", no_finalize},
        {"no room for a temporary file", no_room},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("trace_stream", tests);
}
