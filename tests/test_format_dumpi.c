/* test_format_dumpi.c - DUMPI traces: files written by hand, record by record, and the reference traces where
 * they are. */
#include "tests/dumpi_file.h"
#include "tests/support.h"
#include "tests/tests.h"
#include "tests/trace_oracles.h"
#include "traces/traces.h"

#include <dirent.h>
#include <stdarg.h>
#include <unistd.h>

#define REAL "../shared/reference/traces/dumpi/"
enum { INT = 9, DOUBLE = 14, CHAR = 2, OWN = 28, WORLD = 2, ANY = -1 };

static char folder[] = "/tmp/fabricast-dumpi-XXXXXX";

static const char *in_folder(const char *name)
{
    static char path[4][128];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static void put_meta(const char *name, const char *text)
{
    FILE *out = fopen(in_folder(name), "w");
    if (!out || fputs(text, out) < 0 || fclose(out)) abort();
}

static void clean(void)
{
    DIR *dir = opendir(folder);
    for (struct dirent *d; dir && (d = readdir(dir));)
        if (d->d_name[0] != '.') unlink(in_folder(d->d_name));
    if (dir) closedir(dir);
}

/* ---- a run of three ranks with something of everything ---- */

static void ints(struct dumpi_out *o, int n, ...)
{
    va_list list;
    va_start(list, n);
    for (int i = 0; i < n; i++) put(o, 4, va_arg(list, int));
    va_end(list);
}

/* count, type, peer, tag, communicator, request (below 0: none) */
static void message(struct dumpi_out *o, int function, int count, int type, int peer, int tag, int comm, int request)
{
    dumpi_call(o, function);
    put(o, 4, count), put(o, 2, type), ints(o, 2, peer, tag), put(o, 2, comm);
    if (request >= 0) put(o, 4, request);
}

static void begin_rank(struct dumpi_out *o, int me)
{
    dumpi_begin(o);
    o->splits = 1;
    dumpi_call(o, 124), put(o, 4, 2); /* Init: argv */
    put(o, 4, 5), memcpy(o->bytes + o->n, "a.out", 5), o->n += 5;
    put(o, 4, 2), memcpy(o->bytes + o->n, "-x", 2), o->n += 2;
    dumpi_call(o, 81), put(o, 2, WORLD), put(o, 4, 3);
    dumpi_call(o, 82), put(o, 2, WORLD), put(o, 4, me);
    dumpi_call(o, 36), ints(o, 3, 2, 3, 5), put(o, 2, DOUBLE), put(o, 2, OWN); /* vector of 2 x 3 doubles */
    dumpi_call(o, 86), put(o, 2, WORLD), ints(o, 2, me == 1 ? -32766 : 7, -me), put(o, 2, me == 1 ? 1 : 4);
}

/* Ranks 2 and 0, in this order, are communicator 4: 2 sends to 0, which takes from any. */
static void on_split(struct dumpi_out *o, int me)
{
    if (me == 1) return;
    if (me == 0)
        message(o, 12, 200, CHAR, ANY, ANY, 4, 2);
    else
        message(o, 8, 3, OWN, 1, 9, 4, 2);
    for (int i = 0; me == 0 && i < 2; i++) dumpi_call(o, 14), ints(o, 2, 2, 0), put(o, 4, 0); /* Test fails */
    dumpi_call(o, 65), put(o, 4, 2), put(o, 2, DOUBLE), put(o, 1, 3), put(o, 2, 4);
    dumpi_call(o, 13), put(o, 4, 2), put(o, 4, 1);
    dumpi_status(o, me == 0 ? 144 : 0x7f000000, me == 0 ? 0 : 12345, 1, 9); /* of a send: garbage */
}

static void persistent(struct dumpi_out *o, int me)
{
    static const int32_t both[] = {5, 6};
    message(o, 26, 8, CHAR, (me + 1) % 3, 6, WORLD, 5);
    message(o, 30, 16, CHAR, ANY, 6, WORLD, 6);
    for (int round = 0; round < 2; round++) {
        if (round == 0)
            dumpi_call(o, 32), put(o, 4, 2), dumpi_ints(o, 2, both);
        else
            dumpi_call(o, 31), put(o, 4, 5), dumpi_call(o, 31), put(o, 4, 6);
        dumpi_call(o, 18), put(o, 4, 2), dumpi_ints(o, 2, both), put(o, 4, 2);
        dumpi_status(o, 0, 0, 0, 0);
        dumpi_status(o, 8, (me + 2) % 3, 0, 6);
    }
}

static void write_rank(struct dumpi_out *o, int me)
{
    begin_rank(o, me);
    on_split(o, me);
    dumpi_call(o, 33), put(o, 4, 1), put(o, 2, INT), ints(o, 2, (me + 1) % 3, 5); /* Sendrecv */
    put(o, 4, 1), put(o, 2, INT), ints(o, 2, (me + 2) % 3, 5), put(o, 2, WORLD), put(o, 4, 0);
    int32_t counts[] = {me, 1, 2}, zero[3] = {0};
    dumpi_call(o, 61), put(o, 4, 3), dumpi_ints(o, 3, counts), dumpi_ints(o, 3, zero), put(o, 2, INT);
    dumpi_ints(o, 3, counts), dumpi_ints(o, 3, zero), put(o, 2, INT), put(o, 2, WORLD);
    persistent(o, me);
    dumpi_call(o, 84), put(o, 2, WORLD), put(o, 2, 5); /* Comm_dup */
    dumpi_call(o, 52), put(o, 2, 5);
    dumpi_call(o, 54), put(o, 4, me), put(o, 4, 4), put(o, 2, INT), put(o, 4, 2), put(o, 2, 5); /* Gather to 2 */
    if (me == 2) put(o, 4, 4), put(o, 2, INT);
    dumpi_call(o, 125);
    o->ignored_bcasts = 4;
    dumpi_end(o);
}

static void write_run(void)
{
    static struct dumpi_out o;
    char name[40];
    clean();
    put_meta("run.meta", "hostname=host\nnumprocs=3\nfileprefix=run\n");
    for (int me = 0; me < 3; me++) {
        write_rank(&o, me);
        snprintf(name, sizeof name, "run-%04d.bin", me);
        dumpi_save(&o, in_folder(name));
    }
}

static bool read_run(const char *path, struct fc_trace *t)
{
    struct fc_status st = {0};
    if (fc_trace_read(path, t, &st) == FC_OK) return true;
    fc_says(&st, FC_OK, "");
    CU_FAIL("the trace is not read");
    return false;
}

static void expect_ops(const struct fc_trace *t, uint32_t rank, const uint8_t *op, size_t n)
{
    CU_ASSERT_EQUAL(t->first_event[rank + 1] - t->first_event[rank], n);
    for (size_t i = 0; i < n && t->first_event[rank] + i < t->first_event[rank + 1]; i++)
        if (t->events[t->first_event[rank] + i].op != op[i]) {
            printf("\n    rank %u event %zu is %s, not %s\n", rank, i,
                   fc_op_names[t->events[t->first_event[rank] + i].op], fc_op_names[op[i]]);
            CU_FAIL("another op");
        }
}

static void test_everything(void)
{
    static const uint8_t ops[] = {
        FC_OP_INIT,  FC_OP_COMM,      FC_OP_IRECV, FC_OP_ALLREDUCE, FC_OP_WAIT,    FC_OP_IRECV,  FC_OP_SEND,
        FC_OP_WAIT,  FC_OP_ALLTOALLV, FC_OP_OTHER, FC_OP_OTHER,     FC_OP_ISEND,   FC_OP_IRECV,  FC_OP_WAIT,
        FC_OP_ISEND, FC_OP_IRECV,     FC_OP_WAIT,  FC_OP_COMM,      FC_OP_BARRIER, FC_OP_GATHER, FC_OP_FINALIZE};
    struct fc_trace t;
    struct fc_status st = {0};
    uint64_t *match;
    write_run();
    if (!read_run(folder, &t)) return;
    CU_ASSERT_STRING_EQUAL(t.program, "a.out -x");
    CU_ASSERT_STRING_EQUAL(t.recorded, "DUMPI 1.1.0; 3 ranks; first on host; 2001-09-09 01:46 UTC");
    CU_ASSERT_EQUAL_FATAL(t.n_comms, 3);
    CU_ASSERT_EQUAL(t.comm_first[2] - t.comm_first[1], 2); /* by key: rank 2 before rank 0 */
    CU_ASSERT_EQUAL(t.comm_member[t.comm_first[1]], 2);
    CU_ASSERT_EQUAL(t.comm_member[t.comm_first[1] + 1], 0);
    CU_ASSERT_EQUAL(t.comm_first[3] - t.comm_first[2], 3);
    expect_ops(&t, 0, ops, sizeof ops);
    const struct fc_event *e = t.events + t.first_event[0];
    CU_ASSERT(e[1].comm == 1 && e[1].peer == 0);
    CU_ASSERT(e[2].comm == 1 && e[2].peer == 2 && e[2].tag == 9 && e[2].bytes == 144 &&
              e[2].request == 0); /* wildcard */
    CU_ASSERT(e[3].comm == 1 && e[3].bytes == 16 && e[3].polls == 2);
    CU_ASSERT(e[4].n_list == 1 && t.lists[e[4].list] == 0);
    CU_ASSERT(e[5].peer == 2 && e[5].request == 1 && e[6].peer == 1 && e[6].bytes == 4 && t.lists[e[7].list] == 1);
    CU_ASSERT(e[8].n_list == 3 && e[8].bytes == 12 && t.lists[e[8].list] == 0 && t.lists[e[8].list + 2] == 8);
    CU_ASSERT(e[12].peer == 2 && e[12].bytes == 8 && e[12].request == 3 && e[13].n_list == 2);
    CU_ASSERT(e[18].comm == 2 && e[19].peer == 2 && e[19].bytes == 16);
    CU_ASSERT(t.events[t.first_event[1] + 1].comm == -1); /* rank 1 is in no part of the split */
    CU_ASSERT_EQUAL(e[0].enter_s, 0);
    CU_ASSERT_DOUBLE_EQUAL(e[1].enter_s, 44e-6, 1e-12);     /* after Init three local calls of 11 us */
    CU_ASSERT_DOUBLE_EQUAL(e[1].compute_s, 21.5e-6, 1e-12); /* on the CPU half: 3 x 5.5 + 5 us */
    CU_ASSERT_DOUBLE_EQUAL(e[3].compute_s, 15e-6, 1e-12); /* 3 x 5 us around two polls, whose own time does not count */
    CU_ASSERT(fc_test_note(&t, "(12 times: MPI_Bcast was called and not recorded)"));
    CU_ASSERT_EQUAL(fc_trace_match(&t, &t.arena, &match, &st), FC_OK);
    fc_trace_free(&t);
}

/* ---- one rank of two, of an old writer, in a window ---- */

static void test_window(void)
{
    static struct dumpi_out o;
    static const uint8_t ops[] = {FC_OP_SEND,  FC_OP_OTHER, FC_OP_OTHER, FC_OP_OTHER, FC_OP_OTHER,
                                  FC_OP_IRECV, FC_OP_WAIT,  FC_OP_WAIT,  FC_OP_RECV,  FC_OP_RECV};
    struct fc_trace t;
    clean();
    put_meta("old.meta", "numprocs=2\nfileprefix=old\n");
    dumpi_begin(&o);
    o.version[0] = 0, o.version[1] = 6, o.version[2] = 2; /* statuses without tag, no table of sizes */
    o.mask = 0x4b;                                        /* no CPU clock */
    o.splits = 1;
    for (size_t i = 0; i < 1; i++) message(&o, 4, 7, INT, 1, 3, WORLD, -1);
    message(&o, 0, 7, INT, -2, 3, WORLD, -1); /* Send to nobody */
    dumpi_call(&o, 86), put(&o, 2, WORLD), ints(&o, 2, 0, 0), put(&o, 2, 4);
    dumpi_call(&o, 52), put(&o, 2, 4);       /* Barrier on what the split made */
    message(&o, 12, 4, INT, 1, 1, WORLD, 7); /* Irecv, cancelled */
    message(&o, 12, 5, INT, 1, 2, WORLD, 8);
    dumpi_call(&o, 24), put(&o, 4, 7);
    dumpi_call(&o, 13), put(&o, 4, 7), put(&o, 4, 1), dumpi_status(&o, 0, 1, 1, 0);
    dumpi_call(&o, 13), put(&o, 4, 8), put(&o, 4, 1), dumpi_status(&o, 12, 1, 0, 0);
    dumpi_call(&o, 15), put(&o, 4, 99); /* Request_free */
    message(&o, 1, 1, INT, ANY, ANY, WORLD, -1), put(&o, 4, 0);
    message(&o, 1, 1, INT, 1, 4, WORLD, -1), put(&o, 4, 1), dumpi_status(&o, -5, 77, 0, 0);
    dumpi_end(&o);
    dumpi_save(&o, in_folder("old-0000.bin"));
    if (!read_run(in_folder("old-0000.bin"), &t)) return;
    CU_ASSERT_EQUAL(t.n_ranks, 2);
    expect_ops(&t, 0, ops, sizeof ops);
    const struct fc_event *e = t.events;
    CU_ASSERT(e[0].mode == 1 && e[0].bytes == 28);
    CU_ASSERT(e[5].request == 0 && e[5].bytes == 12 && e[6].n_list == 0 && e[7].n_list == 1);
    CU_ASSERT(e[8].peer == FC_ANY && e[8].tag == FC_ANY && e[9].bytes == 4 && e[9].peer == 1);
    CU_ASSERT_DOUBLE_EQUAL(e[1].compute_s, 10e-6, 1e-12); /* wall time between calls */
    CU_ASSERT(fc_test_note(&t, "ranks without a file: 1"));
    CU_ASSERT(fc_test_note(&t, "MPI_Comm_split: not all members"));
    CU_ASSERT(fc_test_note(&t, "MPI_Barrier on a communicator whose members are unknown"));
    CU_ASSERT(fc_test_note(&t, "no table of datatype sizes"));
    fc_trace_free(&t);
}

/* ---- refusals ---- */

static void expect_refused(const char *path, const char *part)
{
    struct fc_trace t;
    struct fc_status st = {0};
    CU_ASSERT_EQUAL(fc_trace_read(path, &t, &st), FC_INPUT);
    CU_ASSERT(fc_says(&st, FC_INPUT, part));
}

/* A file of one rank with `write`'s record after Init of a run of one. */
static void refuse_record(void (*write)(struct dumpi_out *), const char *part)
{
    static struct dumpi_out o;
    clean();
    put_meta("bad.meta", "numprocs=1\n");
    dumpi_begin(&o);
    write(&o);
    dumpi_end(&o);
    dumpi_save(&o, in_folder("bad-0000.bin"));
    expect_refused(in_folder("bad.meta"), part);
}

static void unknown_function(struct dumpi_out *o)
{
    dumpi_call(o, 300);
}
static void unknown_type(struct dumpi_out *o)
{
    message(o, 0, 1, 77, 0, 0, WORLD, -1);
}
static void outside(struct dumpi_out *o)
{
    message(o, 0, 1, INT, 1, 0, WORLD, -1);
}
static void negative(struct dumpi_out *o)
{
    message(o, 0, -1, INT, 0, 0, WORLD, -1);
}
static void negative_tag(struct dumpi_out *o)
{
    message(o, 0, 1, INT, 0, -4, WORLD, -1);
}
static void huge_list(struct dumpi_out *o)
{
    dumpi_call(o, 18), put(o, 4, 1), put(o, 4, 0x7fffffff);
}
static void negative_list(struct dumpi_out *o)
{
    dumpi_call(o, 18), put(o, 4, 1), put(o, 4, -2);
}
static void outside_list(struct dumpi_out *o)
{
    static const int32_t one[] = {5};
    dumpi_call(o, 16), put(o, 4, 1), dumpi_ints(o, 1, one), put(o, 4, 1), put(o, 4, 0);
}
static void wrong_rank(struct dumpi_out *o)
{
    dumpi_call(o, 82), put(o, 2, WORLD), put(o, 4, 1);
}
static void uncounted(struct dumpi_out *o) /* the footer has one dup */
{
    o->splits = 0;
    for (int i = 0; i < 2; i++) dumpi_call(o, 18), put(o, 4, 1), dumpi_ints(o, 0, NULL), put(o, 4, 0);
    dumpi_call(o, 61), put(o, 4, 1);
    for (int i = 0; i < 2; i++) dumpi_ints(o, 0, NULL);
    put(o, 2, INT), dumpi_ints(o, 0, NULL), dumpi_ints(o, 0, NULL), put(o, 2, INT), put(o, 2, WORLD);
}

static void test_refusals(void)
{
    static struct dumpi_out o;
    refuse_record(unknown_function, "rank 0, record 1: function number 300 is unknown (known: 0 to 293)");
    refuse_record(unknown_type, "MPI_Send uses datatype 77, whose size is not in the file");
    refuse_record(outside, "MPI_Send names rank 1 of a communicator of 1 ranks");
    refuse_record(negative, "-1 elements");
    refuse_record(negative_tag, "tag -4 is negative");
    refuse_record(huge_list, "is cut, or a count in it is damaged");
    refuse_record(negative_list, "a list has -2 entries");
    refuse_record(outside_list, "request 1 of a list of 1 is completed");
    refuse_record(wrong_rank, "MPI_Comm_rank answers 1, which does not fit");
    refuse_record(uncounted, "record 3: MPI_Alltoallv has 0 counts for the 1 members");
    write_run();
    put_meta("run.meta", "numprocs=2\nfileprefix=run\n");
    expect_refused(in_folder("run.meta"), "run-0002.bin: is rank 2 of a run of 2 ranks");
    put_meta("run.meta", "numprocs=0\nfileprefix=run\n");
    expect_refused(in_folder("run.meta"), "run.meta:1: ");
    put_meta("run.meta", "numprocs=3\nfileprefix=run\n");
    write_rank(&o, 0);
    o.n -= 9;
    dumpi_save(&o, in_folder("run-0001.bin"));
    expect_refused(folder, "run-0001.bin: is cut: the index at its end is missing");
    dumpi_save(&o, in_folder("other-0001.bin"));
    expect_refused(folder, "holds several DUMPI runs (other, run ...): name the .meta file of one");
    clean();
    dumpi_begin(&o), dumpi_end(&o);
    dumpi_save(&o, in_folder("alone.bin"));
    expect_refused(in_folder("alone.bin"), "is one rank of a DUMPI run, but of how many is not known");
}

/* Damaged anywhere: read or refused, never more. */
static void test_fuzz(void)
{
    static struct dumpi_out good, o;
    uint64_t random = 1;
    int refused = 0;
    write_run();
    write_rank(&good, 0);
    for (int round = 0; round < 1500; round++) {
        struct fc_trace t;
        struct fc_status st = {0};
        o = good;
        for (int k = 0; k <= round % 3; k++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
            size_t at = (random >> 33) % 3 ? (random >> 35) % 1200 : (random >> 35) % o.n;
            o.bytes[at] = round % 2 ? (uint8_t)(random >> 20) : (uint8_t)(o.bytes[at] ^ 1 << (random >> 20) % 8);
        }
        if (round % 50 == 0) o.n = (random >> 30) % o.n;
        dumpi_save(&o, in_folder("run-0000.bin"));
        enum fc_code code = fc_trace_read(folder, &t, &st);
        if (code != FC_OK && code != FC_INPUT) CU_ASSERT(fc_says(&st, FC_INPUT, ""));
        refused += code != FC_OK;
        if (code == FC_OK) fc_trace_free(&t);
    }
    CU_ASSERT(refused > 300);
}

/* ---- real traces ---- */

static bool is_there(const char *path)
{
    if (access(path, R_OK) == 0) return true;
    printf("\n    %s is not there: skipped\n", path);
    return false;
}

static void test_reference(void)
{
    struct fc_trace t;
    struct fc_trace_summary s;
    uint64_t *match;
    struct fc_status st = {0};
    if (!is_there(REAL "amg27")) return;
    if (read_run(REAL "amg27", &t)) {
        fc_trace_summarise(&t, &s);
        CU_ASSERT(s.op_count[FC_OP_ISEND] == 15524 && s.op_count[FC_OP_IRECV] == 15524 &&
                  s.op_count[FC_OP_WAIT] == 1508);
        CU_ASSERT(s.p2p_bytes == 13584368 && s.n_pairs == 544);
        CU_ASSERT(fc_test_note(&t, "(2241 times: MPI_Allreduce was called and not recorded)")); /* 27 x 83 */
        CU_ASSERT_EQUAL(fc_trace_match(&t, &t.arena, &match, &st), FC_OK);
        fc_trace_free(&t);
    }
    if (read_run(REAL "sst/testtrace.meta", &t)) { /* each rank's counts as in the text dump of rank 0 */
        static const uint8_t ops[] = {FC_OP_INIT, FC_OP_BARRIER,   FC_OP_ISEND,   FC_OP_RECV,
                                      FC_OP_WAIT, FC_OP_ALLREDUCE, FC_OP_FINALIZE};
        for (uint32_t r = 0; r < 4; r++) expect_ops(&t, r, ops, sizeof ops);
        CU_ASSERT_DOUBLE_EQUAL(t.events[1].enter_s - t.events[0].enter_s, 43e-6, 1e-9);
        CU_ASSERT_DOUBLE_EQUAL(t.events[1].compute_s, 41e-6, 1e-9);
        fc_trace_free(&t);
    }
    if (read_run(REAL "sst/testbgp-0003.bin", &t)) {
        fc_trace_summarise(&t, &s);
        CU_ASSERT(t.n_ranks == 7 && s.op_count[FC_OP_ISEND] == 588 && s.op_count[FC_OP_ALLTOALL] == 49);
        CU_ASSERT_EQUAL(fc_trace_match(&t, &t.arena, &match, &st), FC_OK);
        fc_trace_free(&t);
    }
    if (read_run(REAL "naive_all_to_all_4", &t)) {
        fc_trace_summarise(&t, &s);
        CU_ASSERT(s.op_count[FC_OP_ISEND] == 48 && s.op_count[FC_OP_BARRIER] == 16 && s.n_pairs == 12);
        fc_trace_free(&t);
    }
    if (read_run(REAL "singles/MiniDFT.bin", &t)) {
        CU_ASSERT(t.n_ranks == 9 && fc_test_note(&t, "ranks without a file: 1-8"));
        fc_trace_free(&t);
    }
}

static int make_folder(void)
{
    return mkdtemp(folder) ? 0 : 1;
}

static int remove_folder(void)
{
    clean();
    return rmdir(folder);
}

int suite_format_dumpi(void)
{
    static const CU_TestInfo tests[] = {{"something of everything", test_everything},
                                        {"one rank of an old writer, in a window", test_window},
                                        {"refusals", test_refusals},
                                        {"damaged files", test_fuzz},
                                        {"reference traces", test_reference},
                                        CU_TEST_INFO_NULL};
    return fc_add_suite_between("format dumpi", make_folder, remove_folder, tests);
}
