/* test_stream.c - input streams: plain, gzip, xz and zstd give the same bytes; cut and damaged files are refused. */
#include "core/stream.h"
#include "tests/tests.h"

#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum form { PLAIN, GZIP, XZ, ZSTD, N_FORMS };
static const size_t magic_size[N_FORMS] = {0, 2, 6, 4};
static char path[64];

static void remove_path(void)
{
    unlink(path);
}

/* One member or frame around `size` bytes; malloc'd. */
static unsigned char *packed(enum form form, const unsigned char *data, size_t size, size_t *n)
{
    size_t bound = 2 * size + 4096;
    unsigned char *out = malloc(bound);
    *n = 0;
    if (form == PLAIN) {
        memcpy(out, data, size);
        *n = size;
    } else if (form == GZIP) {
        z_stream z = {
            .next_in = (unsigned char *)data, .avail_in = (uInt)size, .next_out = out, .avail_out = (uInt)bound};
        CU_ASSERT_EQUAL_FATAL(deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
        CU_ASSERT_EQUAL(deflate(&z, Z_FINISH), Z_STREAM_END);
        *n = z.total_out;
        deflateEnd(&z);
    } else if (form == XZ) {
        CU_ASSERT_EQUAL_FATAL(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC64, NULL, data, size, out, n, bound), LZMA_OK);
    } else {
        ZSTD_CCtx *zstd = ZSTD_createCCtx();
        ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
        *n = ZSTD_compress2(zstd, out, bound, data, size);
        CU_ASSERT_FALSE_FATAL(ZSTD_isError(*n));
        ZSTD_freeCCtx(zstd);
    }
    return out;
}

static void put(const unsigned char *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    CU_ASSERT_EQUAL(fwrite(data, 1, size, file), size);
    fclose(file);
}

/* The data as `members` members one behind the other. */
static void put_packed(enum form form, const unsigned char *data, size_t size, int members)
{
    FILE *file = fopen(path, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    for (int i = 0; i < members; i++) {
        size_t from = size * (size_t)i / (size_t)members, to = size * (size_t)(i + 1) / (size_t)members, n;
        unsigned char *part = packed(form, data + from, to - from, &n);
        CU_ASSERT_EQUAL(fwrite(part, 1, n, file), n);
        free(part);
    }
    fclose(file);
}

/* Reads all in pieces of odd sizes; true when it is `data` to the last byte. */
static bool gives(const unsigned char *data, size_t size, struct fc_status *st)
{
    struct fc_stream s;
    size_t at = 0, n, there = 1;
    bool same = true;
    *st = (struct fc_status){0};
    fc_stream_open(path, &s, st);
    for (uint64_t i = 0; !st->code && there; i++) {
        n = i % 50 == 49 ? 200000 : 1 + (size_t)fc_random_below(3, 1, i, 9999);
        if (fc_stream_need(&s, n, &there, st)) break;
        if (there > n || at + there > size || memcmp(s.next, data + at, there) != 0) same = false;
        if (!same) break;
        at += there;
        fc_stream_skip(&s, there);
        CU_ASSERT_EQUAL(s.offset, at);
    }
    fc_stream_close(&s);
    return same && !st->code && at == size;
}

/* Bytes that compress a little. */
static unsigned char *some_bytes(size_t size)
{
    unsigned char *data = malloc(size + 1);
    for (size_t i = 0; i < size; i++) data[i] = (unsigned char)(fc_random_quick(5, i) % 23);
    return data;
}

static void test_forms(void)
{
    struct fc_status st;
    size_t size = 1000003;
    unsigned char *data = some_bytes(size);
    for (int form = 0; form < N_FORMS; form++)
        for (int members = 1; members <= 7; members += 2) {
            put_packed(form, data, size, members);
            CU_ASSERT(gives(data, size, &st));
            CU_ASSERT_EQUAL(st.code, FC_OK);
        }
    memset(data, 'x', size); /* a few bytes that become many */
    for (int form = 0; form < N_FORMS; form++) {
        put_packed(form, data, size, 2);
        CU_ASSERT(gives(data, size, &st));
        put_packed(form, data, 0, 1);
        CU_ASSERT(gives(data, 0, &st));
    }
    free(data);
}

static void test_cut(void)
{
    struct fc_status st;
    size_t size = 300, n;
    unsigned char *data = some_bytes(size);
    for (int form = GZIP; form < N_FORMS; form++) {
        unsigned char *file = packed(form, data, size, &n);
        for (size_t k = magic_size[form]; k < n; k++) {
            put(file, k);
            CU_ASSERT_FALSE(gives(data, size, &st));
            CU_ASSERT(fc_says(&st, FC_INPUT, "the compressed data is cut in the middle"));
        }
        free(file);
    }
    free(data);
}

/* A changed bit is found by a checksum or changes nothing of the contents (a time in gzip's head). */
static void test_damaged(void)
{
    struct fc_status st;
    size_t size = 200, n;
    unsigned char *data = some_bytes(size);
    for (int form = GZIP; form < N_FORMS; form++) {
        unsigned char *file = packed(form, data, size, &n);
        for (size_t k = magic_size[form]; k < n; k++)
            for (int bit = 0; bit < 8; bit += 3) {
                file[k] ^= (unsigned char)(1 << bit);
                put(file, n);
                bool whole = gives(data, size, &st);
                CU_ASSERT(whole || st.code == FC_INPUT);
                file[k] ^= (unsigned char)(1 << bit);
            }
        file = realloc(file, n + 16);
        memcpy(file + n, "garbage garbage", 16);
        put(file, n + 16);
        CU_ASSERT_FALSE(gives(data, size, &st));
        CU_ASSERT(fc_says(&st, FC_INPUT, "damaged"));
        free(file);
    }
    free(data);
}

static void expect_line(struct fc_stream *s, const char *text, long line)
{
    struct fc_status st = {0};
    const char *got;
    size_t length;
    CU_ASSERT_EQUAL_FATAL(fc_stream_line(s, &got, &length, &st), FC_OK);
    if (!text) {
        CU_ASSERT_PTR_NULL(got);
        return;
    }
    CU_ASSERT_PTR_NOT_NULL_FATAL(got);
    CU_ASSERT_EQUAL(length, strlen(text));
    CU_ASSERT_EQUAL(memcmp(got, text, strlen(text) < length ? strlen(text) : length), 0);
    CU_ASSERT_EQUAL(fc_stream_place(s).line, line);
}

static void test_lines(void)
{
    static const char text[] = "one\r\n\n\r\ntwo\rhalf\nlast";
    struct fc_stream s;
    struct fc_status st = {0};
    for (int form = 0; form < N_FORMS; form++) {
        put_packed(form, (const unsigned char *)text, sizeof text - 1, 3); /* members end inside lines */
        CU_ASSERT_EQUAL_FATAL(fc_stream_open(path, &s, &st), FC_OK);
        expect_line(&s, "one", 1);
        expect_line(&s, "", 2);
        expect_line(&s, "", 3);
        expect_line(&s, "two\rhalf", 4);
        expect_line(&s, "last", 5);
        expect_line(&s, NULL, 5);
        expect_line(&s, NULL, 5);
        fc_stream_close(&s);
    }
}

/* Lines of growing length: every place of CR LF against the end of a buffer, and lines longer than a buffer. */
static void test_long_lines(void)
{
    struct fc_stream s;
    struct fc_status st = {0};
    size_t n_lines = 900, longest = 1500000, size = 0;
    unsigned char *data = malloc(n_lines * (n_lines + 2) + longest + 16);
    for (size_t i = 0; i < n_lines; i++) {
        memset(data + size, 'a' + (int)(i % 26), i);
        size += i;
        if (i % 2) data[size++] = '\r';
        data[size++] = '\n';
    }
    memset(data + size, 'z', longest);
    size += longest;
    put(data, size);
    CU_ASSERT_EQUAL_FATAL(fc_stream_open(path, &s, &st), FC_OK);
    for (size_t i = 0; i <= n_lines; i++) {
        const char *text;
        size_t length;
        CU_ASSERT_EQUAL_FATAL(fc_stream_line(&s, &text, &length, &st), FC_OK);
        CU_ASSERT_EQUAL_FATAL(length, i < n_lines ? i : longest);
        if (length) CU_ASSERT(text[0] == text[length - 1] && text[0] == (i < n_lines ? 'a' + (int)(i % 26) : 'z'));
        CU_ASSERT_EQUAL(s.line, (long)i + 1);
    }
    CU_ASSERT_EQUAL(s.offset, size);
    fc_stream_close(&s);
    free(data);
}

static void test_refusals(void)
{
    struct fc_stream s;
    struct fc_status st = {0};
    size_t there;
    CU_ASSERT_EQUAL(fc_stream_open("/nowhere/at/all", &s, &st), FC_INPUT);
    CU_ASSERT(fc_says(&st, FC_INPUT, "/nowhere/at/all: cannot be read: No such file"));
    fc_stream_close(&s);
    st = (struct fc_status){0};
    CU_ASSERT_EQUAL(fc_stream_open("/tmp", &s, &st), FC_INPUT);
    CU_ASSERT(fc_says(&st, FC_INPUT, "/tmp: is a folder"));
    fc_stream_close(&s);
    st = (struct fc_status){0};
    put((const unsigned char *)"abc", 3);
    CU_ASSERT_EQUAL_FATAL(fc_stream_open(path, &s, &st), FC_OK);
    CU_ASSERT_EQUAL(fc_stream_need(&s, 100, &there, &st), FC_OK);
    CU_ASSERT_EQUAL(there, 3);
    CU_ASSERT_EQUAL(fc_stream_need(&s, ((size_t)1 << 30) + 1, &there, &st), FC_INPUT);
    CU_ASSERT(fc_says(&st, FC_INPUT, "more than 1 GiB in one piece"));
    fc_stream_close(&s);
    fc_stream_close(&s); /* twice is safe */
}

int suite_stream(void)
{
    static const CU_TestInfo tests[] = {{"plain, gzip, xz, zstd; several members", test_forms},
                                        {"cut anywhere", test_cut},
                                        {"damaged anywhere", test_damaged},
                                        {"lines", test_lines},
                                        {"long lines across buffers", test_long_lines},
                                        {"refusals", test_refusals},
                                        CU_TEST_INFO_NULL};
    snprintf(path, sizeof path, "/tmp/fabricast-stream-%ld", (long)getpid());
    atexit(remove_path);
    return fc_add_suite("stream", tests);
}
