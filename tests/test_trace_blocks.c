/* test_trace_blocks.c - traces in blocks: version 2 of the packed form and the temporary file give the same as memory. */
#include "tests/trace_good.h"
#include "tests/trace_oracles.h"
#include "traces/trace_blocks.h"
#include "traces/trace_census.h"
#include "traces/trace_formats.h"

#include <zlib.h>
#include <zstd.h>

static const struct fc_trace_options small = {.flops_per_s = 1e9, .tick_s = 1e-9, .memory_events = 10};

/* The rest of a source is the trace, event by event, the ranks by turns of `step` events. */
static void expect_source(const struct fc_trace *t, struct fc_trace_source *source, uint64_t step)
{
    uint64_t left = t->first_event[t->n_ranks];
    for (bool more = true; more;) {
        more = false;
        for (uint32_t r = 0; r < t->n_ranks; r++)
            for (uint64_t k = 0; k < step; k++) {
                const struct fc_event *e = fc_source_peek(source, r);
                uint64_t i = t->first_event[r] + source->rank[r].number;
                if (!e) {
                    CU_ASSERT_EQUAL(i, t->first_event[r + 1]);
                    break;
                }
                struct fc_event x = *e, y = t->events[i];
                x.list = y.list = 0;
                CU_ASSERT_EQUAL_FATAL(memcmp(&x, &y, sizeof x), 0);
                if (e->n_list)
                    CU_ASSERT_EQUAL_FATAL(memcmp(fc_source_list(source, r, e), t->lists + t->events[i].list,
                                                 e->n_list * sizeof *t->lists),
                                          0);
                fc_source_take(source, r);
                left--;
                more = true;
            }
    }
    CU_ASSERT_EQUAL(left, 0);
}

static void expect_head(const struct fc_trace *t, const struct fc_trace_source *source)
{
    const struct fc_trace *h = source->head;
    CU_ASSERT_STRING_EQUAL(h->program, t->program);
    CU_ASSERT_STRING_EQUAL(h->recorded, t->recorded);
    CU_ASSERT_EQUAL_FATAL(h->n_ranks, t->n_ranks);
    CU_ASSERT_EQUAL_FATAL(h->n_comms, t->n_comms);
    CU_ASSERT_EQUAL_FATAL(h->n_unwrapped, t->n_unwrapped);
    for (uint32_t i = 0; i < t->n_unwrapped; i++) CU_ASSERT_STRING_EQUAL(h->unwrapped[i], t->unwrapped[i]);
    CU_ASSERT_EQUAL(memcmp(h->first_event, t->first_event, (t->n_ranks + 1) * sizeof *t->first_event), 0);
    CU_ASSERT_EQUAL(memcmp(h->comm_first, t->comm_first, (t->n_comms + 1) * sizeof *t->comm_first), 0);
    CU_ASSERT_EQUAL(memcmp(h->comm_member, t->comm_member, t->comm_first[t->n_comms] * sizeof *t->comm_member), 0);
    CU_ASSERT_EQUAL(fc_event_place(h, 2, t->first_event[2] + 1).line, fc_event_place(t, 2, t->first_event[2] + 1).line);
}

/* Opened with little memory: streamed twice, in different turns. */
static void expect_streamed(const struct fc_trace *t, const char *where)
{
    struct fc_trace_source source;
    struct fc_status st = {0};
    CU_ASSERT_EQUAL_FATAL(fc_source_open(where, &small, &source, &st), FC_OK);
    CU_ASSERT_PTR_NULL(source.head->events);
    expect_head(t, &source);
    expect_source(t, &source, 1);
    CU_ASSERT_EQUAL(source.restart(&source), FC_OK);
    expect_source(t, &source, 7);
    CU_ASSERT_EQUAL(source.restart(&source), FC_OK);
    CU_ASSERT_PTR_NOT_NULL(fc_source_peek(&source, 1));
    CU_ASSERT_EQUAL(source.restart(&source), FC_OK);
    expect_source(t, &source, UINT64_MAX);
    fc_source_close(&source);
    CU_ASSERT_EQUAL(st.code, FC_OK);
}

/* Writes version 1 of the packed form to `second`. */
static void put_version_1(const struct fc_trace *t)
{
    struct fc_status st = {0};
    FILE *out = fopen(second, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    CU_ASSERT_EQUAL_FATAL(fc_write_trace_packed(t, out, &st), FC_OK);
    fclose(out);
}

static void test_streamed(void)
{
    struct fc_trace t;
    struct fc_trace_source source;
    struct fc_status st = {0};
    read_good(&t); /* path is the text */
    expect_streamed(&t, path);
    CU_ASSERT_EQUAL_FATAL(fc_trace_write(&t, second, false, &st), FC_OK);
    expect_streamed(&t, second);
    put_version_1(&t);
    expect_streamed(&t, second);
    gzFile gz = gzopen(second, "wb");
    gzwrite(gz, good, sizeof good - 1);
    gzclose(gz);
    expect_streamed(&t, second);
    CU_ASSERT_EQUAL_FATAL(fc_source_open(second, NULL, &source, &st), FC_OK); /* in memory */
    CU_ASSERT_PTR_NOT_NULL(source.head->events);
    expect_head(&t, &source);
    expect_source(&t, &source, 2);
    fc_source_close(&source);
    fc_trace_free(&t);
}

/* Blocks of every size up to the largest: a sample of four ranks of some 4000 events, and in between. */
static void test_sample(void)
{
    static const char *const files[] = {"traces/samples/lammps-lj-16.fct", "traces/samples/qe-si-16.fct"};
    struct fc_status st = {0};
    for (size_t i = 0; i < FC_COUNT(files); i++) {
        struct fc_trace t, u;
        struct fc_trace_source source;
        CU_ASSERT_EQUAL_FATAL(fc_trace_read(files[i], &t, &st), FC_OK);
        CU_ASSERT_EQUAL_FATAL(fc_trace_write(&t, second, false, &st), FC_OK);
        CU_ASSERT_EQUAL_FATAL(fc_trace_read(second, &u, &st), FC_OK);
        expect_same(&t, &u);
        fc_trace_free(&u);
        expect_streamed(&t, files[i]); /* version 1 */
        expect_streamed(&t, second);
        CU_ASSERT_EQUAL_FATAL(fc_source_open(second, &small, &source, &st), FC_OK);
        CU_ASSERT_EQUAL_FATAL(fc_source_write(&source, path, true, &st), FC_OK); /* streamed to text */
        fc_source_close(&source);
        expect_streamed(&t, path);
        CU_ASSERT_EQUAL_FATAL(fc_source_open(path, &small, &source, &st), FC_OK);
        CU_ASSERT_EQUAL_FATAL(fc_source_write(&source, second, false, &st), FC_OK); /* and back */
        fc_source_close(&source);
        CU_ASSERT_EQUAL_FATAL(fc_trace_read(second, &u, &st), FC_OK);
        expect_same(&t, &u);
        fc_trace_free(&u);
        fc_trace_free(&t);
    }
}

/* What is counted of a stream is what is counted in memory, and the totals are those of fc_trace_summarise. */
static void test_census(void)
{
    static const char *const files[] = {"traces/samples/lammps-lj-16.fct", "traces/samples/qe-si-16.fct"};
    struct fc_status st = {0};
    for (size_t i = 0; i < FC_COUNT(files); i++) {
        struct fc_trace t;
        struct fc_trace_source source;
        struct fc_trace_census a, b;
        struct fc_trace_summary s;
        uint64_t messages = 0, ranks = 0;
        CU_ASSERT_EQUAL_FATAL(fc_trace_read(files[i], &t, &st), FC_OK);
        CU_ASSERT_EQUAL_FATAL(fc_source_memory(&t, &source, &st), FC_OK);
        CU_ASSERT_EQUAL_FATAL(fc_trace_count_periods(&source, &a, NULL, &st), FC_OK);
        fc_source_close(&source);
        CU_ASSERT_EQUAL_FATAL(fc_trace_write(&t, second, false, &st), FC_OK);
        CU_ASSERT_EQUAL_FATAL(fc_source_open(second, &small, &source, &st), FC_OK);
        CU_ASSERT_EQUAL_FATAL(fc_trace_count_periods(&source, &b, NULL, &st), FC_OK);
        fc_source_close(&source);
        CU_ASSERT_EQUAL(memcmp(&a, &b, sizeof a), 0);
        fc_trace_summarise(&t, &s);
        CU_ASSERT_EQUAL(a.totals.n_events, s.n_events);
        CU_ASSERT_EQUAL(a.totals.n_messages, s.n_messages);
        CU_ASSERT_EQUAL(a.totals.n_pairs, s.n_pairs);
        CU_ASSERT_EQUAL(a.totals.n_collectives, s.n_collectives);
        CU_ASSERT_EQUAL(a.totals.n_polls, s.n_polls);
        CU_ASSERT_EQUAL(a.totals.p2p_bytes, s.p2p_bytes);
        CU_ASSERT_EQUAL(a.totals.collective_bytes, s.collective_bytes);
        CU_ASSERT_DOUBLE_EQUAL(a.totals.span_s, s.span_s, 1e-12);
        CU_ASSERT_DOUBLE_EQUAL(a.totals.compute_s, s.compute_s, 1e-9 * s.compute_s);
        for (int k = 0; k < FC_SIZE_CLASSES; k++) {
            messages += a.messages[k];
            ranks += a.partners[k];
        }
        CU_ASSERT_EQUAL(messages, s.n_messages);
        CU_ASSERT_EQUAL(ranks, t.n_ranks);
        CU_ASSERT(!a.unmatched_sends && !a.unmatched_receives && !a.other_tags && !a.open_requests && !a.wildcards);
        fc_trace_free(&t);
    }
}

/* Everything of a streamed source; its status tells. */
static enum fc_code drain(const char *where, struct fc_status *st)
{
    struct fc_trace_source source;
    *st = (struct fc_status){0};
    if (fc_source_open(where, &small, &source, st)) return st->code;
    for (uint32_t r = 0; r < source.head->n_ranks; r++)
        while (fc_source_peek(&source, r)) fc_source_take(&source, r);
    fc_source_close(&source);
    return st->code;
}

/* What only the whole shows is refused when it comes by, with its line. */
static void test_refusals(void)
{
    static const struct {
        const char *what, *by, *says;
    } cases[] = {
        {"requests=2\n", "requests=1\n", ":15: request 1 is completed twice"},
        {"comm=1 peer=2 tag=8", "comm=1 peer=1 tag=8", ":12: peer 1 is no member of communicator 1"},
        {"comm=0 peer=0 tag=9", "comm=1 peer=0 tag=9", ":30: rank 1 is no member of communicator 1"},
        {"request=2", "request=1", ":13: request 1 of isend (expected 2"},
        {"sizes=10,20", "sizes=10,21", ":20: the sizes sum to 31, not to bytes=30"},
        {"tag=7 ", "", ":11: irecv lacks tag="},
        {"end\n", "", ":50: the trace ends here, cut"},
        {"events 39", "events 40", ":51: the ranks have 39 events, but the head announces 40"},
        {"comm 0 0-2", "comm 0 0-1", ":8: communicator 0 is not the world"},
        {"fabricast-trace 1", "something else", ":1: not a trace"},
        {"events 39\n", "", "the trace ends inside its head"},
    };
    struct fc_status st;
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        char *text = replaced(cases[i].what, cases[i].by);
        put_file(path, text, strlen(text));
        CU_ASSERT_EQUAL(drain(path, &st), FC_INPUT);
        CU_ASSERT(fc_says(&st, FC_INPUT, cases[i].says));
        free(text);
    }
    setenv("TMPDIR", "/nowhere/at/all", 1);
    put_file(path, good, sizeof good - 1);
    CU_ASSERT_EQUAL(drain(path, &st), FC_NO);
    CU_ASSERT(fc_says(&st, FC_NO, "no temporary file in /nowhere/at/all for a trace"));
    unsetenv("TMPDIR");
}

/* More open requests than a word of the check has, completed from the last to the first, then some never. */
static void test_open_requests(void)
{
    enum { N = 5000 };
    struct fc_status st;
    for (int fault = 0; fault < 2; fault++) {
        FILE *out = fopen(path, "w");
        CU_ASSERT_PTR_NOT_NULL_FATAL(out);
        fprintf(out, "fabricast-trace 1\nranks 1\ncomm 0 0\nevents %d\nrank 0 %d\n", 4 * N + 1, 4 * N + 1);
        for (int i = 0; i < N; i++) fprintf(out, "isend 0 0 0 comm=0 peer=0 tag=0 bytes=1 request=%d\n", i);
        for (int i = N - 1; i >= 0; i--) fprintf(out, "wait 0 0 0 requests=%d\n", i);
        for (int i = N; i < 2 * N; i++)
            fprintf(out, "irecv 0 0 0 comm=0 peer=0 tag=0 bytes=1 request=%d\nwait 0 0 0 requests=%d\n", i,
                    fault && i == 2 * N - 1 ? N + 7 : i);
        fprintf(out, "wait 0 0 0\nend\n");
        fclose(out);
        CU_ASSERT_EQUAL(drain(path, &st), fault ? FC_INPUT : FC_OK);
        if (fault) CU_ASSERT(fc_says(&st, FC_INPUT, "request 5007 is completed twice"));
    }
}

/* ---- cut and damaged ---- */

/* Version 1 as it streams by: cut anywhere, and damaged behind its checksum. */
static void test_version_1(void)
{
    struct fc_trace t;
    struct fc_status st = {0};
    size_t size;
    read_good(&t);
    put_version_1(&t);
    fc_trace_free(&t);
    char *file = get_file(second, &size);
    for (size_t n = 16; n < size; n++) {
        put_file(second, file, n);
        CU_ASSERT_EQUAL(drain(second, &st), FC_INPUT);
    }
    size_t raw_size = (size_t)ZSTD_getFrameContentSize(file + 16, size - 16), bound = 16 + ZSTD_compressBound(raw_size);
    char *raw = malloc(raw_size), *to = malloc(bound);
    memcpy(to, file, 16);
    for (uint64_t round = 0; round < 1500; round++) {
        ZSTD_decompress(raw, raw_size, file + 16, size - 16);
        for (uint64_t j = 0; j <= fc_random_below(13, round, 0, 3); j++)
            raw[fc_random_below(13, round, 1 + 2 * j, raw_size)] ^=
                (char)(1 << fc_random_below(13, round, 2 + 2 * j, 8));
        size_t whole = round % 4 ? raw_size : fc_random_below(13, round, 9, raw_size);
        put_file(second, to, 16 + ZSTD_compress(to + 16, bound - 16, raw, whole, 1));
        struct fc_status memory = {0};
        enum fc_code streamed = drain(second, &st), read = fc_trace_read(second, &t, &memory);
        CU_ASSERT(streamed == FC_OK || streamed == FC_INPUT || streamed == FC_NO);
        if (read == FC_OK) {
            fc_trace_free(&t);
            CU_ASSERT_EQUAL(streamed, FC_OK);
        }
    }
    free(file);
    free(raw);
    free(to);
}

static void test_cut(void)
{
    struct fc_trace t, u;
    struct fc_status st = {0};
    size_t size;
    read_good(&t);
    CU_ASSERT_EQUAL_FATAL(fc_trace_write(&t, second, false, &st), FC_OK);
    fc_trace_free(&t);
    char *file = get_file(second, &size);
    for (size_t n = 0; n < size; n++) {
        put_file(second, file, n);
        st = (struct fc_status){0};
        CU_ASSERT_EQUAL(fc_trace_read(second, &u, &st), FC_INPUT);
        if (n >= 8) CU_ASSERT(fc_says(&st, FC_INPUT, "the packed trace is cut in the middle"));
        CU_ASSERT_EQUAL(drain(second, &st), FC_INPUT);
    }
    read_good(&t);
    for (size_t n = 0; n < size; n++) { /* a bit that changes nothing is one that zstd's head leaves unused */
        int bit = (int)(n % 8);
        file[n] ^= (char)(1 << bit);
        put_file(second, file, size);
        st = (struct fc_status){0};
        if (fc_trace_read(second, &u, &st) == FC_OK) {
            expect_same(&t, &u);
            fc_trace_free(&u);
            CU_ASSERT_EQUAL(drain(second, &st), FC_OK);
        } else {
            CU_ASSERT(st.code == FC_INPUT || st.code == FC_NO);
            CU_ASSERT_NOT_EQUAL(drain(second, &st), FC_OK);
        }
        file[n] ^= (char)(1 << bit);
    }
    fc_trace_free(&t);
    free(file);
}

/* The file with the frame at `at` exchanged for one of other contents, so that damage reaches what is behind the checksum;
 * the tail's sizes too, where it is the tail. */
static size_t exchange(const char *file, size_t size, size_t at, size_t n, const void *raw, size_t raw_size, bool tail,
                       char *to)
{
    memcpy(to, file, at);
    size_t packed = ZSTD_compress(to + at, ZSTD_compressBound(raw_size), raw, raw_size, 1);
    CU_ASSERT_FALSE_FATAL(ZSTD_isError(packed));
    memcpy(to + at + packed, file + at + n, size - at - n);
    size_t total = size - n + packed;
    for (int i = 0; tail && i < 8; i++) {
        to[total - 24 + (size_t)i] = (char)((uint64_t)raw_size >> 8 * i);
        to[total - 16 + (size_t)i] = (char)((uint64_t)packed >> 8 * i);
    }
    return total;
}

static void test_fuzz(void)
{
    struct fc_trace t, u;
    struct fc_status st = {0};
    size_t size, at[8] = {8}, n_frames = 0;
    read_good(&t);
    CU_ASSERT_EQUAL_FATAL(fc_trace_write(&t, second, false, &st), FC_OK);
    fc_trace_free(&t);
    char *file = get_file(second, &size), *to = malloc(size + 65536);
    while (n_frames < 6 && at[n_frames] < size - 24) {
        at[n_frames + 1] = at[n_frames] + ZSTD_findFrameCompressedSize(file + at[n_frames], size - at[n_frames]);
        n_frames++;
    }
    CU_ASSERT_EQUAL_FATAL(n_frames, 4); /* a block a rank and the tail */
    for (uint64_t round = 0; round < 2000; round++) {
        size_t k = round % n_frames, n = at[k + 1] - at[k],
               raw_size = (size_t)ZSTD_getFrameContentSize(file + at[k], n);
        unsigned char *raw = malloc(raw_size + 1);
        ZSTD_decompress(raw, raw_size, file + at[k], n);
        for (uint64_t j = 0; j <= fc_random_below(9, round, 0, 3); j++)
            raw[fc_random_below(9, round, 1 + 2 * j, raw_size)] ^=
                (unsigned char)(1 << fc_random_below(9, round, 2 + 2 * j, 8));
        put_file(second, to, exchange(file, size, at[k], n, raw, raw_size, k == n_frames - 1, to));
        free(raw);
        st = (struct fc_status){0};
        if (fc_trace_read(second, &u, &st) == FC_OK) {
            fc_trace_free(&u);
            CU_ASSERT_EQUAL(drain(second, &st), FC_OK);
        } else {
            CU_ASSERT(st.code == FC_INPUT || st.code == FC_NO);
            CU_ASSERT_NOT_EQUAL(drain(second, &st), FC_OK);
        }
    }
    free(file);
    free(to);
}

int suite_trace_blocks(void)
{
    static const CU_TestInfo tests[] = {{"streamed as in memory", test_streamed},
                                        {"samples through every form", test_sample},
                                        {"counted as in memory", test_census},
                                        {"refusals while streaming", test_refusals},
                                        {"many open requests", test_open_requests},
                                        {"version 1 cut or damaged", test_version_1},
                                        {"cut or damaged anywhere", test_cut},
                                        {"damaged behind the checksums", test_fuzz},
                                        CU_TEST_INFO_NULL};
    make_paths();
    return fc_add_suite("trace blocks", tests);
}
