/* test_format_otf2.c - OTF2 archives: one written here with the library's writer, and the reference archives
 * where they are. */
#include "tests/support.h"
#include "tests/tests.h"
#include "tests/trace_oracles.h"
#include "traces/formats/format_otf2_check.h"
#include "traces/traces.h"

#include <dirent.h>
#include <otf2/otf2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define REAL "../shared/reference/traces/otf2/"
enum { N_RANKS = 3, STEP = 1000, CLOCK_OFFSET = 700, START = 50000 };

static char folder[] = "/tmp/fabricast-otf2-XXXXXX";
static const uint64_t location[N_RANKS] = {30, 10, 20}; /* of ranks 0, 1, 2 */
static const char *const names[] = {"MPI_Init",     "MPI_Irecv",     "MPI_Isend",   "MPI_Test",      "MPI_Waitall",
                                    "MPI_Sendrecv", "MPI_Allreduce", "MPI_Ibcast",  "MPI_Wait",      "MPI_Alltoallv",
                                    "MPI_Put",      "MPI_Comm_rank", "solve",       "MPI_Win_fence", "MPI_Ssend",
                                    "MPI_Recv",     "MPI_Scan",      "MPI_Finalize"};
enum { N_NAMES = sizeof names / sizeof *names };

/* ---- writing ---- */

struct out {
    OTF2_EvtWriter *w;
    uint64_t now;
    uint64_t shift; /* the location's clock is behind by this */
};

static OTF2_TimeStamp tick(struct out *o)
{
    return (o->now += STEP) - o->shift;
}

static uint32_t number_of(const char *name)
{
    uint32_t i = 0;
    while (strcmp(names[i], name)) i++;
    return i;
}

static void enter(struct out *o, const char *name)
{
    OTF2_EvtWriter_Enter(o->w, NULL, tick(o), number_of(name));
}

static void leave(struct out *o, const char *name)
{
    OTF2_EvtWriter_Leave(o->w, NULL, tick(o), number_of(name));
}

static void alone(struct out *o, const char *name)
{
    enter(o, name);
    leave(o, name);
}

static void write_messages(struct out *o, uint32_t to, uint32_t from)
{
    enter(o, "MPI_Irecv");
    OTF2_EvtWriter_MpiIrecvRequest(o->w, NULL, tick(o), 1);
    leave(o, "MPI_Irecv");
    enter(o, "MPI_Isend");
    OTF2_EvtWriter_MpiIsend(o->w, NULL, tick(o), to, 0, 5, 100 + from, 2);
    leave(o, "MPI_Isend");
    enter(o, "MPI_Test");
    OTF2_EvtWriter_MpiRequestTest(o->w, NULL, tick(o), 1);
    leave(o, "MPI_Test");
    alone(o, "MPI_Comm_rank");
    enter(o, "MPI_Waitall");
    OTF2_EvtWriter_MpiIrecv(o->w, NULL, tick(o), from, 0, 5, 100 + (from + 2) % 3, 1);
    OTF2_EvtWriter_MpiIsendComplete(o->w, NULL, tick(o), 2);
    leave(o, "MPI_Waitall");
    enter(o, "MPI_Sendrecv");
    OTF2_EvtWriter_MpiSend(o->w, NULL, tick(o), to, 0, 7, 8);
    OTF2_EvtWriter_MpiRecv(o->w, NULL, tick(o), from, 0, 7, 8);
    leave(o, "MPI_Sendrecv");
}

static void write_collectives(struct out *o, uint32_t rank)
{
    if (rank != 1) { /* communicator 1 is {2, 0} */
        enter(o, "MPI_Allreduce");
        OTF2_EvtWriter_MpiCollectiveBegin(o->w, NULL, tick(o));
        OTF2_EvtWriter_MpiCollectiveEnd(o->w, NULL, tick(o), OTF2_COLLECTIVE_OP_ALLREDUCE, 1, OTF2_COLLECTIVE_ROOT_NONE,
                                        16, 16);
        leave(o, "MPI_Allreduce");
    }
    enter(o, "MPI_Ibcast");
    OTF2_EvtWriter_NonBlockingCollectiveRequest(o->w, NULL, tick(o), 3);
    leave(o, "MPI_Ibcast");
    enter(o, "MPI_Wait");
    OTF2_EvtWriter_NonBlockingCollectiveComplete(o->w, NULL, tick(o), OTF2_COLLECTIVE_OP_BCAST, 0, 1,
                                                 rank == 1 ? 192 : 0, 64, 3);
    leave(o, "MPI_Wait");
    enter(o, "MPI_Alltoallv");
    OTF2_EvtWriter_MpiCollectiveBegin(o->w, NULL, tick(o));
    OTF2_EvtWriter_MpiCollectiveEnd(o->w, NULL, tick(o), OTF2_COLLECTIVE_OP_ALLTOALLV, 0, OTF2_COLLECTIVE_ROOT_NONE, 10,
                                    10);
    leave(o, "MPI_Alltoallv");
    enter(o, "MPI_Scan");
    OTF2_EvtWriter_MpiCollectiveBegin(o->w, NULL, tick(o));
    OTF2_EvtWriter_MpiCollectiveEnd(o->w, NULL, tick(o), OTF2_COLLECTIVE_OP_SCAN, 0, OTF2_COLLECTIVE_ROOT_NONE,
                                    (3 - rank) * 24, (rank + 1) * 24);
    leave(o, "MPI_Scan");
    enter(o, "MPI_Put");
    OTF2_EvtWriter_RmaPut(o->w, NULL, tick(o), 0, (rank + 1) % 3, 128, 0);
    leave(o, "MPI_Put");
    alone(o, "MPI_Win_fence");
}

static void write_rank(struct out *o, uint32_t rank)
{
    alone(o, "MPI_Init");
    enter(o, "solve");
    write_messages(o, (rank + 1) % 3, (rank + 2) % 3);
    o->now = START + 100 * STEP;
    write_collectives(o, rank);
    o->now = START + 200 * STEP;
    if (rank == 0) {
        enter(o, "MPI_Ssend");
        OTF2_EvtWriter_MpiSend(o->w, NULL, tick(o), 0, 1, 1, 77); /* rank 0 of communicator 1 is rank 2 */
        leave(o, "MPI_Ssend");
    } else if (rank == 2) {
        enter(o, "MPI_Recv");
        OTF2_EvtWriter_MpiRecv(o->w, NULL, tick(o), 1, 1, 1, 77);
        leave(o, "MPI_Recv");
    }
    OTF2_EvtWriter_MeasurementOnOff(o->w, NULL, START + 300 * STEP - o->shift, OTF2_MEASUREMENT_OFF);
    OTF2_EvtWriter_MeasurementOnOff(o->w, NULL, START + 400 * STEP - o->shift, OTF2_MEASUREMENT_ON);
    o->now = START + 402 * STEP;
    leave(o, "solve");
    alone(o, "MPI_Finalize");
}

static void write_definitions(OTF2_Archive *archive, uint32_t window_comm)
{
    OTF2_GlobalDefWriter *g = OTF2_Archive_GetGlobalDefWriter(archive);
    uint64_t in_order[] = {0, 1, 2}, part[] = {2, 0};
    OTF2_GlobalDefWriter_WriteClockProperties(g, 1000000000, START, 500 * STEP, OTF2_UNDEFINED_TIMESTAMP);
    OTF2_GlobalDefWriter_WriteString(g, 0, "");
    for (uint32_t i = 0; i < N_NAMES; i++) {
        OTF2_GlobalDefWriter_WriteString(g, 1 + i, names[i]);
        OTF2_GlobalDefWriter_WriteRegion(g, i, 1 + i, 1 + i, 0, OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_MPI,
                                         OTF2_REGION_FLAG_NONE, 0, 0, 0);
    }
    OTF2_GlobalDefWriter_WriteSystemTreeNode(g, 0, 0, 0, OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    for (uint32_t r = 0; r < N_RANKS; r++) {
        OTF2_GlobalDefWriter_WriteLocationGroup(g, r, 0, OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                                OTF2_UNDEFINED_LOCATION_GROUP);
        OTF2_GlobalDefWriter_WriteLocation(g, location[r], 0, OTF2_LOCATION_TYPE_CPU_THREAD, 60, r);
    }
    OTF2_GlobalDefWriter_WriteGroup(g, 0, 0, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
                                    N_RANKS, location);
    OTF2_GlobalDefWriter_WriteGroup(g, 1, 0, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
                                    N_RANKS, in_order);
    OTF2_GlobalDefWriter_WriteGroup(g, 2, 0, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, 2,
                                    part);
    OTF2_GlobalDefWriter_WriteComm(g, 0, 0, 1, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
    OTF2_GlobalDefWriter_WriteComm(g, 1, 0, 2, 0, OTF2_COMM_FLAG_NONE);
    OTF2_GlobalDefWriter_WriteRmaWin(g, 0, 0, window_comm, OTF2_RMA_WIN_FLAG_NONE);
}

static OTF2_FlushType before_flush(void *user, OTF2_FileType type, OTF2_LocationRef at, void *caller, bool final)
{
    (void)user, (void)type, (void)at, (void)caller, (void) final;
    return OTF2_FLUSH;
}

static OTF2_TimeStamp after_flush(void *user, OTF2_FileType type, OTF2_LocationRef at)
{
    (void)user, (void)type, (void)at;
    return 0;
}

static void write_archive(uint32_t window_comm)
{
    static OTF2_FlushCallbacks flush = {.otf2_pre_flush = before_flush, .otf2_post_flush = after_flush};
    OTF2_Archive *archive = OTF2_Archive_Open(folder, "run", OTF2_FILEMODE_WRITE, OTF2_CHUNK_SIZE_MIN,
                                              OTF2_CHUNK_SIZE_MIN, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    CU_ASSERT_PTR_NOT_NULL_FATAL(archive);
    OTF2_Archive_SetFlushCallbacks(archive, &flush, NULL);
    OTF2_Archive_SetSerialCollectiveCallbacks(archive);
    OTF2_Archive_OpenEvtFiles(archive);
    for (uint32_t r = 0; r < N_RANKS; r++) {
        struct out o = {OTF2_Archive_GetEvtWriter(archive, location[r]), START - STEP, r == 1 ? CLOCK_OFFSET : 0};
        write_rank(&o, r);
        OTF2_Archive_CloseEvtWriter(archive, o.w);
    }
    OTF2_Archive_CloseEvtFiles(archive);
    OTF2_Archive_OpenDefFiles(archive);
    for (uint32_t r = 0; r < N_RANKS; r++) {
        OTF2_DefWriter *d = OTF2_Archive_GetDefWriter(archive, location[r]);
        for (int end = 0; r == 1 && end < 2; end++)
            OTF2_DefWriter_WriteClockOffset(d, end ? 10 * START : 0, CLOCK_OFFSET, 0);
        OTF2_Archive_CloseDefWriter(archive, d);
    }
    OTF2_Archive_CloseDefFiles(archive);
    write_definitions(archive, window_comm);
    OTF2_Archive_Close(archive);
}

static void remove_all(const char *path)
{
    char inside[600];
    DIR *dir = opendir(path);
    for (struct dirent *d; dir && (d = readdir(dir));) {
        if (d->d_name[0] == '.') continue;
        snprintf(inside, sizeof inside, "%s/%.255s", path, d->d_name);
        if (unlink(inside)) {
            remove_all(inside);
            rmdir(inside);
        }
    }
    if (dir) closedir(dir);
}

/* ---- reading ---- */

static bool read_trace(const char *path, struct fc_trace *t)
{
    struct fc_status st = {0};
    if (fc_trace_read(path, t, &st) == FC_OK) return true;
    fc_says(&st, FC_OK, "");
    CU_FAIL("the archive is not read");
    return false;
}

static void test_everything(void)
{
    static const uint8_t ops[] = {FC_OP_INIT, FC_OP_IRECV,     FC_OP_ISEND, FC_OP_WAIT,    FC_OP_IRECV,     FC_OP_SEND,
                                  FC_OP_WAIT, FC_OP_ALLREDUCE, FC_OP_BCAST, FC_OP_WAIT,    FC_OP_ALLTOALLV, FC_OP_SCAN,
                                  FC_OP_RMA,  FC_OP_OTHER,     FC_OP_SEND,  FC_OP_FINALIZE};
    struct fc_trace t;
    struct fc_status st = {0};
    uint64_t *match;
    remove_all(folder);
    write_archive(0);
    if (!read_trace(folder, &t)) return;
    CU_ASSERT_EQUAL_FATAL(t.n_ranks, 3);
    CU_ASSERT_EQUAL_FATAL(t.n_comms, 2);
    CU_ASSERT(t.comm_member[t.comm_first[1]] == 2 && t.comm_member[t.comm_first[1] + 1] == 0);
    CU_ASSERT_EQUAL_FATAL(t.first_event[1], sizeof ops);
    const struct fc_event *e = t.events;
    for (size_t i = 0; i < sizeof ops; i++) CU_ASSERT_EQUAL(e[i].op, ops[i]);
    CU_ASSERT(e[1].peer == 2 && e[1].tag == 5 && e[1].bytes == 101 && e[1].request == 0); /* known when it completed */
    CU_ASSERT(e[2].peer == 1 && e[2].bytes == 102 && e[2].request == 1);
    CU_ASSERT(e[3].polls == 1 && e[3].n_list == 2 && t.lists[e[3].list] == 0 && t.lists[e[3].list + 1] == 1);
    CU_ASSERT(e[4].peer == 2 && e[5].peer == 1 && e[6].n_list == 1 && t.lists[e[6].list] == 2);
    CU_ASSERT(e[7].comm == 1 && e[7].bytes == 8); /* 2 members x 8 bytes */
    CU_ASSERT(e[8].mode == 1 && e[8].peer == 1 && e[8].bytes == 64 && e[8].request == 3 && t.lists[e[9].list] == 3);
    CU_ASSERT(e[10].bytes == 10 && t.lists[e[10].list] == 4 && t.lists[e[10].list + 2] == 3);
    CU_ASSERT(e[11].bytes == 24 && e[12].peer == 1 && e[12].bytes == 128);
    CU_ASSERT(e[14].mode == 1 && e[14].comm == 1 && e[14].peer == 2 && e[14].bytes == 77);
    CU_ASSERT_EQUAL(e[0].enter_s, 0);
    CU_ASSERT_DOUBLE_EQUAL(e[1].enter_s, 3e-6, 1e-15);
    CU_ASSERT_DOUBLE_EQUAL(e[1].compute_s, 2e-6, 1e-15);
    CU_ASSERT_DOUBLE_EQUAL(e[15].compute_s, 4e-6, 1e-15);   /* since measurement is on again */
    CU_ASSERT_EQUAL(t.events[t.first_event[1]].enter_s, 0); /* rank 1's clock, 700 ns behind, is set right */
    CU_ASSERT(fc_test_note(&t, "(3 times: MPI_Win_fence without a record"));
    CU_ASSERT(fc_test_note(&t, "(3 times: windows without measurement"));
    CU_ASSERT(fc_test_note(&t, "(3 times: MPI_Alltoallv and Alltoallw: only their sums"));
    CU_ASSERT_EQUAL(fc_trace_match(&t, &t.arena, &match, &st), FC_OK);
    fc_trace_free(&t);
}

static void expect_refused(const char *path, const char *part)
{
    struct fc_trace t;
    struct fc_status st = {0};
    CU_ASSERT_EQUAL(fc_trace_read(path, &t, &st), FC_INPUT);
    CU_ASSERT(fc_says(&st, FC_INPUT, part));
}

/* Keeps the first n bytes of a file, with `flip` changed in the last. */
static void cut(const char *name, long n, int flip)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "r+b");
    if (!f || fseek(f, n - 1, SEEK_SET)) abort();
    int c = fgetc(f);
    fseek(f, n - 1, SEEK_SET);
    fputc(c ^ flip, f);
    fclose(f);
    if (!flip && truncate(path, n)) abort();
}

static void test_refusals(void)
{
    char path[600];
    remove_all(folder);
    write_archive(5);
    expect_refused(folder, "rank 0, record");
    remove_all(folder);
    write_archive(0);
    cut("run/10.evt", 100, 0);
    expect_refused(folder, "run/10.evt: byte 100: the file is cut here (expected: the rest of a record,");
    snprintf(path, sizeof path, "%s/run/10.evt", folder);
    unlink(path);
    expect_refused(folder, "run/10.evt: cannot be read: No such file");
    cut("run.def", 60, 0);
    expect_refused(folder, "run.def: byte 51: the file is cut here");
    cut("run.otf2", 20, 0);
    snprintf(path, sizeof path, "%s/run.otf2", folder);
    expect_refused(path, "run.otf2: the OTF2 archive cannot be read: its anchor is cut or damaged");
    remove_all(folder);
    write_archive(0);
    cut("run.otf2", 47, 0x20); /* a machine's name where there is none: texts do not fit any more */
    /* The number of properties is then read from the archive's identity, which is drawn: as a rule too many. */
    expect_refused(path, "run.otf2: the OTF2 archive cannot be read: its anchor ");
    snprintf(path, sizeof path, "%s/more.otf2", folder);
    FILE *f = fopen(path, "wb");
    if (f) fclose(f);
    expect_refused(folder, "holds several OTF2 archives: name the .otf2 file of one");
}

static long size_of(const char *name)
{
    char path[600];
    struct stat info;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return stat(path, &info) ? 0 : (long)info.st_size;
}

/* A bit changed in one of the files: read or refused, never more. */
static void test_fuzz(void)
{
    static const char *const names_of_files[] = {"run/30.evt", "run.def", "run/30.def", "run.otf2"};
    uint64_t random = 1;
    int refused[FC_COUNT(names_of_files)] = {0}; /* a changed time is no damage */
    remove_all(folder);
    write_archive(0);
    for (int round = 0; round < 100; round++) {
        const char *name = names_of_files[round % 4];
        struct fc_trace t;
        struct fc_status st = {0};
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        long at = 1 + (long)((random >> 33) % (uint64_t)size_of(name));
        int flip = 1 << (random >> 60) % 8;
        cut(name, at, flip);
        enum fc_code code = fc_trace_read(folder, &t, &st);
        if (code != FC_OK && code != FC_INPUT) CU_ASSERT(fc_says(&st, FC_INPUT, ""));
        refused[round % 4] += code != FC_OK;
        if (code == FC_OK) fc_trace_free(&t);
        cut(name, at, flip); /* as it was */
    }
    struct fc_trace whole;
    if (read_trace(folder, &whole)) fc_trace_free(&whole);
    for (size_t i = 0; i < FC_COUNT(refused); i++) CU_ASSERT(refused[i] > 0);
}

/* ---- what is looked through before libotf2 reads it ---- */

#define HEAD "\3B\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0"
#define BIG "\3#\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\1"
#define BYTES(text) text, sizeof(text) - 1

struct sample {
    enum fc_otf2_file kind;
    const char *bytes;
    size_t n;
    const char *refused; /* NULL: good */
};

static void test_files(void)
{
    static const struct fc_otf2_chunks chunks = {256 << 10, 256 << 10};
    static const char damaged[] = "damaged (expected: its fields within its length)";
    static const char cut_here[] = "the file is cut here";
    const struct sample samples[] = {
        {FC_OTF2_EVENTS, BYTES(HEAD "\2"), NULL},
        {FC_OTF2_EVENTS, BYTES(HEAD "\5\1\2\3\4\5\6\7\10\14\2\1\1\2"), NULL},
        {FC_OTF2_EVENTS, BYTES(HEAD "\14\377\2"), NULL},                    /* an undefined region is one byte */
        {FC_OTF2_EVENTS, BYTES(HEAD "\14\5\1\2\3\4\5\0\0\0\0\2"), damaged}, /* five bytes of at most four */
        {FC_OTF2_EVENTS, BYTES(HEAD "\14\2\1"), cut_here},
        {FC_OTF2_EVENTS, BYTES(HEAD "\5\1\2"), cut_here},
        {FC_OTF2_EVENTS, BYTES(HEAD "\14\0"), cut_here}, /* no mark of the end */
        {FC_OTF2_EVENTS, BYTES(HEAD "\0"), cut_here},    /* another chunk is announced */
        {FC_OTF2_EVENTS, BYTES(""), "expected: a chunk, of 18 bytes at least"},
        {FC_OTF2_EVENTS, BYTES("\3B\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0"), "expected: a chunk, of 18 bytes at least"},
        {FC_OTF2_EVENTS, BYTES("\3b\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\2"), "byte 0: no chunk begins here"},
        {FC_OTF2_EVENTS, BYTES(HEAD "\16\4\0\0\0\0\2"), NULL},     /* a message */
        {FC_OTF2_EVENTS, BYTES(HEAD "\16\6\0\0\0\0\7\7\2"), NULL}, /* with fields of a later version */
        {FC_OTF2_EVENTS, BYTES(HEAD "\16\3\0\0\0\0\2"), damaged},
        {FC_OTF2_EVENTS, BYTES(HEAD "\16\377\4\0\0\0\0\0\0\0\0\0\0\0\2"), NULL}, /* a long length */
        {FC_OTF2_EVENTS, BYTES(HEAD "\16\377\4\0\0\0\0\0\0\1\0\0\0\0\2"), cut_here},
        {FC_OTF2_EVENTS, BYTES(BIG "\16\377\0\0\0\0\0\0\0\4\0\0\0\0\2"), NULL},
        {FC_OTF2_EVENTS, BYTES(HEAD "\16\377\4\0\2"), cut_here},
        {FC_OTF2_EVENTS, BYTES(HEAD "\37\6\0\2\3\0\3\0\2"), NULL},               /* two metrics */
        {FC_OTF2_EVENTS, BYTES(HEAD "\37\6\0\3\3\0\3\0\2"), damaged},            /* not three */
        {FC_OTF2_EVENTS, BYTES(HEAD "\123\4\0\1\1\0\2"), NULL},                  /* a program and one argument */
        {FC_OTF2_EVENTS, BYTES(HEAD "\123\7\0\4\377\377\377\177\0\2"), damaged}, /* and 2 147 483 647 */
        {FC_OTF2_EVENTS, BYTES(HEAD "\6\4\1\1\0\0\0\14\0\2"), damaged},          /* an attribute without its value */
        {FC_OTF2_EVENTS, BYTES(HEAD "\6\6\1\1\0\12\0\0\2"), damaged},            /* a double of two bytes */
        {FC_OTF2_EVENTS, BYTES(HEAD "\6\15\1\1\0\12\0\0\0\0\0\0\0\0\0\14\0\2"), NULL},
        {FC_OTF2_EVENTS, BYTES(HEAD "\6\4\2\1\20\0\2"), "too many attributes of one event (allowed: 4096)"},
        {FC_OTF2_EVENTS, BYTES(HEAD "\311\2\7\7\2"), NULL}, /* a type that is not known */
        {FC_OTF2_EVENTS, BYTES(HEAD "\311\3\7\7\2"), cut_here},
        {FC_OTF2_GLOBAL, BYTES(HEAD "\12\3\0a\0\2"), NULL},
        {FC_OTF2_GLOBAL, BYTES(HEAD "\12\2\0a\0\2"), damaged}, /* a text that does not end */
        {FC_OTF2_GLOBAL, BYTES(HEAD "\22\12\0\0\1\1\2\0\0\1\0\0\2"), NULL},
        {FC_OTF2_GLOBAL, BYTES(HEAD "\22\5\0\0\1\1\2\0\0\1\0\2"), damaged},  /* a group with one member too few */
        {FC_OTF2_GLOBAL, BYTES(HEAD "\22\10\0\0\1\4\0\0\0\100\2"), damaged}, /* 2^30 members */
        {FC_OTF2_GLOBAL, BYTES(HEAD "\10\10\0\0\0\0\0\1\0\14\2"), damaged},  /* a property without its value */
        {FC_OTF2_GLOBAL, BYTES(HEAD "\5\3\0\0\0\2"), NULL},                  /* the clock of version 1 */
        {FC_OTF2_GLOBAL, BYTES(HEAD "\5\3\1\11\11\2"), damaged},
        {FC_OTF2_LOCAL, BYTES(HEAD "\5\7\0\1\2\0\0\1\1\2"), NULL},              /* a dense table of two */
        {FC_OTF2_LOCAL, BYTES(HEAD "\5\3\0\0\0\2"), damaged},                   /* of none */
        {FC_OTF2_LOCAL, BYTES(HEAD "\5\13\0\10\0\0\0\0\0\0\0\1\0\2"), damaged}, /* of 2^56 */
        {FC_OTF2_LOCAL, BYTES(HEAD "\5\5\0\1\1\2\0\2"), damaged},               /* neither dense nor sparse */
        {FC_OTF2_LOCAL, BYTES(HEAD "\5\11\0\1\2\1\0\0\1\1\0\2"), NULL},
        {FC_OTF2_LOCAL, BYTES(HEAD "\5\11\0\1\2\1\1\1\0\0\0\2"), damaged}, /* sparse, not in order */
        {FC_OTF2_LOCAL, BYTES(HEAD "\6\21\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\2"), NULL},
        {FC_OTF2_LOCAL, BYTES(HEAD "\6\11\0\0\0\0\0\0\0\0\0\2"), damaged},
    };
    char path[600];
    snprintf(path, sizeof path, "%s/sample", folder);
    for (size_t i = 0; i < FC_COUNT(samples); i++) {
        struct fc_status st = {0};
        FILE *out = fopen(path, "wb");
        if (!out || fwrite(samples[i].bytes, 1, samples[i].n, out) != samples[i].n || fclose(out)) abort();
        enum fc_code code = fc_otf2_check_file(path, samples[i].kind, &chunks, &st);
        bool good = samples[i].refused ? fc_says(&st, FC_INPUT, samples[i].refused) : code == FC_OK;
        if (!good) printf("\n    sample %zu: %s\n", i, st.message);
        CU_ASSERT(good);
    }
    unlink(path);
}

/* Two chunks: the first is filled up with events and the mark of another, with `last` as its last byte. */
static enum fc_code check_two_chunks(uint8_t last, struct fc_status *st)
{
    static const struct fc_otf2_chunks chunks = {256 << 10, 256 << 10};
    static const char head[] = HEAD, second[] = HEAD "\2";
    static uint8_t data[(256 << 10) + sizeof second - 1];
    char path[600];
    size_t n = sizeof head - 1;
    memcpy(data, head, n);
    for (; n < chunks.events - 2; n += 2) memcpy(data + n, "\14\0", 2);
    memcpy(data + n, (uint8_t[]){0, last}, 2);
    memcpy(data + chunks.events, second, sizeof second - 1);
    if (last == 12) data[n] = 12, data[n + 1] = 0; /* no mark at all */
    snprintf(path, sizeof path, "%s/sample", folder);
    FILE *out = fopen(path, "wb");
    if (!out || fwrite(data, 1, sizeof data, out) != sizeof data || fclose(out)) abort();
    enum fc_code code = fc_otf2_check_file(path, FC_OTF2_EVENTS, &chunks, st);
    unlink(path);
    return code;
}

static void test_chunks(void)
{
    struct fc_status st = {0};
    CU_ASSERT_EQUAL(check_two_chunks(0, &st), FC_OK);
    CU_ASSERT_EQUAL(check_two_chunks(12, &st), FC_INPUT);
    CU_ASSERT(fc_says(&st, FC_INPUT, "byte 262144: a record does not fit into its chunk"));
}

/* An anchor of version 3 with `from` at `at` and these properties. */
static enum fc_code check_anchor(size_t at, const char *from, size_t n_from, const char *properties,
                                 size_t n_properties, struct fc_status *st)
{
    static const char front[] = "\3BOTF2\0\3\2\3\0\2\0\0\4\0\0\0\0\0\0\0\4\0\0\0\0\0\1\1\2\0\0\0\0\0\0\0"
                                "\5\0\0\0\0\0\0\0"
                                "machine\0creator\0\0";
    static const char back[] = "\1\2\3\4\5\6\7\10\0\0\0\0\0\0\0\0\2";
    struct fc_otf2_chunks chunks = {0};
    char path[600], anchor[400];
    size_t n = sizeof front - 1;
    memcpy(anchor, front, n);
    memcpy(anchor + at, from, n_from);
    memcpy(anchor + n, properties, n_properties);
    memcpy(anchor + n + n_properties, back, sizeof back - 1);
    n += n_properties + sizeof back - 1;
    snprintf(path, sizeof path, "%s/sample", folder);
    FILE *out = fopen(path, "wb");
    if (!out || fwrite(anchor, 1, n, out) != n || fclose(out)) abort();
    enum fc_code code = fc_otf2_check_anchor(path, &chunks, st);
    if (!code) CU_ASSERT(chunks.events == 1 << 18 && chunks.definitions == 1 << 18);
    unlink(path);
    return code;
}

static void test_anchors(void)
{
    static const struct {
        size_t at;
        const char *from;
        size_t n_from;
        const char *properties;
        size_t n_properties;
        const char *refused; /* NULL: good */
    } samples[] = {
        {0, BYTES(""), BYTES("\0\0\0\0"), NULL},
        {0, BYTES(""), BYTES("\2\0\0\0A::B\0x\0A::C_1\0y\0"), NULL},
        {0, BYTES("\3?"), BYTES("\0\0\0\0"), "is no anchor"},
        {2, BYTES("OTF3"), BYTES("\0\0\0\0"), "is no anchor"},
        {7, BYTES("\0"), BYTES("\0\0\0\0"), "is no anchor"},
        {8, BYTES("\3"), BYTES("\0\0\0\0"), "is of a format that is not known (known: 1, 2)"},
        {12, BYTES("\377\377\3"), BYTES("\0\0\0\0"), "has chunks of a size that is not allowed"},
        {22, BYTES("\1\0\1"), BYTES("\0\0\0\0"), "has chunks of a size that is not allowed"},
        {28, BYTES("\2"), BYTES("\0\0\0\0"), "no SION container"},
        {29, BYTES("\2"), BYTES("\0\0\0\0"), "compressed"},
        {0, BYTES(""), BYTES("\1\0\0\0"), "has a property without a good name"},
        {0, BYTES(""), BYTES("\1\0\0\0A:B\0x\0"), "has a property without a good name"},
        {0, BYTES(""), BYTES("\1\0\0\0A::\0x\0"), "has a property without a good name"},
        {0, BYTES(""), BYTES("\1\0\0\0A\0x\0"), "has a property without a good name"},
        {0, BYTES(""), BYTES("\1\0\0\0A::B\0\0"), "has a property without a value"},
        {0, BYTES(""), BYTES("\2\0\0\0A::B\0x\0a::b\0x\0"), "has a property twice"},
        {0, BYTES(""), BYTES("\1\4\0\0"), "has too many properties (allowed: 1024)"},
        {0, BYTES(""), BYTES("\0\0\0\0\0\0\0\0"), "is cut or damaged"}, /* the mark of the end stands elsewhere */
    };
    for (size_t i = 0; i < FC_COUNT(samples); i++) {
        struct fc_status st = {0};
        enum fc_code code = check_anchor(samples[i].at, samples[i].from, samples[i].n_from, samples[i].properties,
                                         samples[i].n_properties, &st);
        bool good = samples[i].refused ? fc_says(&st, FC_INPUT, samples[i].refused) : code == FC_OK;
        if (!good) printf("\n    anchor %zu: %s\n", i, st.message);
        CU_ASSERT(good);
    }
}

/* ---- real archives ---- */

static void expect_counts(const char *path, uint32_t n_ranks, uint64_t sends, double bytes, uint64_t collectives,
                          const char *note)
{
    struct fc_trace t;
    struct fc_trace_summary s;
    struct fc_status st = {0};
    uint64_t *match;
    if (access(path, R_OK)) {
        printf("\n    %s is not there: skipped\n", path);
        return;
    }
    if (!read_trace(path, &t)) return;
    fc_trace_summarise(&t, &s);
    CU_ASSERT_EQUAL(t.n_ranks, n_ranks);
    CU_ASSERT_EQUAL(s.op_count[FC_OP_SEND] + s.op_count[FC_OP_ISEND], sends);
    CU_ASSERT_EQUAL(s.p2p_bytes, bytes);
    CU_ASSERT_EQUAL(s.n_collectives, collectives);
    if (note) CU_ASSERT(fc_test_note(&t, note));
    CU_ASSERT_EQUAL(fc_trace_match(&t, &t.arena, &match, &st), FC_OK);
    fc_trace_free(&t);
}

static void test_reference(void)
{
    expect_counts(REAL "sstmacro_10ranks", 10, 1440, 23592600, 1200, "MPI_Iallreduce without a record");
    expect_counts(REAL "tracer_stencil4d/traces-32/traces.otf2", 32, 512, 67108864, 96, "windows without measurement");
    expect_counts(REAL "tracer_stencil4d/traces-64", 64, 1024, 268435456, 192, "windows without measurement");
    expect_counts(REAL "pipit_pingpong", 2, 16, 8355840, 0, NULL);
}

static int make_folder(void)
{
    return mkdtemp(folder) ? 0 : 1;
}

static int remove_folder(void)
{
    remove_all(folder);
    return rmdir(folder);
}

int suite_format_otf2(void)
{
    static const CU_TestInfo tests[] = {{"something of everything", test_everything},
                                        {"refusals", test_refusals},
                                        {"damaged files", test_fuzz},
                                        {"files, record by record", test_files},
                                        {"chunks", test_chunks},
                                        {"anchors", test_anchors},
                                        {"reference archives", test_reference},
                                        CU_TEST_INFO_NULL};
    return fc_add_suite_between("format otf2", make_folder, remove_folder, tests);
}
