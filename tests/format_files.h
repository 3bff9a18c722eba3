/* format_files.h - what the tests of foreign traces share: a folder of their own, reading, refusals, damaged
 * copies. */
#pragma once

#include "tests/tests.h"
#include "tests/trace_oracles.h"
#include "traces/trace_format.h"
#include "traces/trace_formats.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char test_folder[64];

static inline void remove_test_folder(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", test_folder);
    if (*test_folder && system(command)) fprintf(stderr, "%s stays\n", test_folder);
}

/* The name of a file of this test; a name with folders makes them. Valid until the fourth call after it. */
static inline const char *test_path(const char *name)
{
    static char path[4][256];
    static int turn;
    char *p = path[turn++ % 4];
    if (!*test_folder) {
        strcpy(test_folder, "/tmp/fabricast-format-XXXXXX");
        if (!mkdtemp(test_folder)) abort();
        atexit(remove_test_folder);
    }
    snprintf(p, sizeof path[0], "%s/%s", test_folder, name);
    for (char *slash = p + strlen(test_folder) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = 0;
        mkdir(p, 0700);
    }
    return p;
}

static inline const char *test_write(const char *name, const char *text, size_t length)
{
    const char *path = test_path(name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(text, 1, length, file) != length || fclose(file)) abort();
    return path;
}

static inline const char *test_text(const char *name, const char *text)
{
    return test_write(name, text, strlen(text));
}

/* Reads a trace that is good; the test ends when it is not. */
static inline void test_read(const char *path, struct fc_trace *trace)
{
    struct fc_status st = {0};
    char text[2048];
    if (fc_trace_read(path, trace, &st) == FC_OK) return;
    fc_status_text(&st, text, sizeof text);
    printf("\n    %s\n", text);
    CU_FAIL_FATAL("the trace is not read");
}

static inline bool test_refused(const char *path, const char *part)
{
    struct fc_trace trace;
    struct fc_status st = {0};
    if (fc_trace_read(path, &trace, &st) == FC_OK) {
        fc_trace_free(&trace);
        printf("\n    read, but expected \"%s\"\n", part);
        return false;
    }
    return fc_says(&st, FC_INPUT, part);
}

static inline const struct fc_event *test_event(const struct fc_trace *t, uint32_t rank, uint64_t number)
{
    CU_ASSERT_FATAL(t->first_event[rank] + number < t->first_event[rank + 1]);
    return &t->events[t->first_event[rank] + number];
}

/* The event is this one; shows it when it is not. */
static inline bool test_is(const struct fc_trace *t, uint32_t rank, uint64_t number, int op, int peer, int tag,
                           int64_t bytes)
{
    const struct fc_event *e = test_event(t, rank, number);
    if (e->op == op && e->peer == peer && e->tag == tag && e->bytes == bytes) return true;
    printf("\n    event %" PRIu64 " of rank %u: %s peer %d tag %d bytes %" PRId64 "\n", number, rank,
           fc_op_names[e->op], e->peer, e->tag, e->bytes);
    return false;
}

static inline int64_t test_listed(const struct fc_trace *t, const struct fc_event *e, uint32_t i)
{
    return i < e->n_list ? t->lists[e->list + i] : INT64_MIN;
}

/* A note of this text is there; shows the notes when it is not. */
static inline bool test_noted(const struct fc_trace *t, const char *text)
{
    for (uint32_t i = 0; i < t->n_unwrapped; i++)
        if (strcmp(t->unwrapped[i], text) == 0) return true;
    printf("\n    no note \"%s\"\n", text);
    for (uint32_t i = 0; i < t->n_unwrapped; i++) printf("    note %s\n", t->unwrapped[i]);
    return false;
}

/* Reads `n` damaged copies of a text under the same name: cut, bytes changed, pieces left out or twice. Each
 * is read or refused as input. */
static inline void test_damaged(const char *name, const char *text, uint32_t n, const char *read)
{
    size_t length = strlen(text), room = 2 * length;
    char *copy = malloc(room);
    uint32_t n_read = 0;
    for (uint32_t i = 0; i < n; i++) {
        size_t from = fc_random_below(1, i, 0, length), part = fc_random_below(1, i, 1, length - from) + 1,
               size = length;
        memcpy(copy, text, length);
        switch (fc_random_below(1, i, 2, 5)) {
        case 0: size = from; break;
        case 1:
            memmove(copy + from, copy + from + part, length - from - part);
            size = length - part;
            break;
        case 2:
            memmove(copy + from + part, text + from, length - from);
            size = length + part;
            break;
        default:
            for (int k = 0; k < 3; k++)
                copy[fc_random_below(1, i, (uint64_t)(3 + 2 * k), length)] =
                    "09-+:,.{}/*#\n\t \0eb\x80Z"[fc_random_below(1, i, (uint64_t)(4 + 2 * k), 20)];
        }
        struct fc_trace trace;
        struct fc_status st = {0};
        test_write(name, copy, size);
        if (fc_trace_read(read, &trace, &st) == FC_OK) {
            fc_trace_free(&trace);
            n_read++;
        } else if (st.code != FC_INPUT || !*st.message) {
            printf("\n    copy %u: code %d, %s\n", i, st.code, st.message);
            CU_FAIL("a damaged copy is neither read nor refused as input");
        }
    }
    CU_ASSERT(n_read < n);
    free(copy);
}

/* A file or folder of the collection beside the project; NULL where there is none, which is said. */
static inline const char *test_reference(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "../shared/reference/traces/%s", name);
    if (access(path, R_OK) == 0) return path;
    printf("(skipped: no %s) ", path);
    return NULL;
}

/* What a reference file must hold. */
struct test_counts {
    const char *name;
    uint32_t ranks;
    uint64_t sends, receives, waits, collectives, others; /* sends and receives of both kinds */
    int64_t bytes;                                        /* of the sends */
    int64_t list;                                         /* entries of all lists */
};
static inline bool test_counted(const char *path, const struct test_counts *want)
{
    struct fc_trace t;
    struct fc_trace_summary s;
    test_read(path, &t);
    fc_trace_summarise(&t, &s);
    uint64_t receives = s.op_count[FC_OP_RECV] + s.op_count[FC_OP_IRECV];
    bool good = t.n_ranks == want->ranks && s.n_messages == want->sends && receives == want->receives &&
                s.op_count[FC_OP_WAIT] == want->waits && s.n_collectives == want->collectives &&
                s.op_count[FC_OP_OTHER] == want->others && s.p2p_bytes == (double)want->bytes &&
                (int64_t)t.n_lists == want->list;
    if (!good)
        printf("\n    %s: ranks %u, sends %" PRIu64 ", receives %" PRIu64 ", waits %" PRIu64 ", collectives %" PRIu64
               ", others %" PRIu64 ", bytes %.0f, lists %" PRIu64 "\n",
               want->name, t.n_ranks, s.n_messages, receives, s.op_count[FC_OP_WAIT], s.n_collectives,
               s.op_count[FC_OP_OTHER], s.p2p_bytes, t.n_lists);
    fc_trace_free(&t);
    return good;
}
