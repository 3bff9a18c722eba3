/* trace_good.h - a small trace with every op, and what the tests of traces share. */
#pragma once

#include "tests/tests.h"
#include "traces/traces.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Every op once at least; lines are counted in the refusals below. */
static const char good[] =
    "fabricast-trace 1\n"                                                                 /* 1 */
    "program demo -n 3\n"                                                                 /* 2 */
    "recorded by hand\n"                                                                  /* 3 */
    "unwrapped MPI_Comm_spawn\n"                                                          /* 4 */
    "ranks 3\n"                                                                           /* 5 */
    "comm 0 0-2\n"                                                                        /* 6 */
    "comm 1 2,0\n"                                                                        /* 7 */
    "events 39\n"                                                                         /* 8 */
    "rank 0 17\n"                                                                         /* 9 */
    "init 0.000000000 0.100000000 0.000000000\n"                                          /* 10 */
    "irecv 0.100000001 0.100000002 0.000000500 comm=0 peer=1 tag=7 bytes=100 request=0\n" /* 11 */
    "irecv 0.100000003 0.100000004 0.000000000 comm=1 peer=2 tag=8 bytes=0 request=1\n"   /* 12 */
    "isend 0.100000005 0.100000006 0.000000000 mode=synchronous comm=0 peer=1 tag=9 bytes=4096 request=2\n"
    "wait 0.100000007 0.200000000 0.050000000 requests=0-1 polls=70\n"                          /* 14 */
    "wait 0.200000001 0.200000002 0.000000000 requests=2\n"                                     /* 15 */
    "send 0.200000003 0.200000004 0.000000000 mode=buffered comm=1 peer=2 tag=3 bytes=10\n"     /* 16 */
    "poll 0.200000004 0.200000004 0.000000000 polls=65535\n"                                    /* 17 */
    "barrier 0.200000005 0.200000006 0.000000000 comm=0\n"                                      /* 18 */
    "bcast 0.200000007 0.200000008 0.000000000 comm=1 root=2 bytes=64\n"                        /* 19 */
    "alltoallv 0.200000009 0.300000000 0.000000000 comm=1 bytes=30 sizes=10,20\n"               /* 20 */
    "allreduce 0.300000001 0.300000002 0.000000000 mode=nonblocking comm=0 bytes=8 request=3\n" /* 21 */
    "wait 0.300000003 0.300000004 0.000000000 requests=3\n"                                     /* 22 */
    "comm 0.300000005 0.300000006 0.000000000 comm=1 parent=0\n"                                /* 23 */
    "rma 0.300000007 0.300000008 0.000000000 mode=get peer=2 bytes=512\n"                       /* 24 */
    "other 0.300000009 0.300000010 0.000000000\n"                                               /* 25 */
    "finalize 0.300000011 0.400000000 0.000000000\n"                                            /* 26 */
    "rank 1 7\n"                                                                                /* 27 */
    "init 0.000000000 0.100000000 0.000000000\n"                                                /* 28 */
    "send 0.100000001 0.100000002 0.020000000 mode=ready comm=0 peer=0 tag=7 bytes=100\n"       /* 29 */
    "recv 0.100000003 0.200000000 0.000000000 comm=0 peer=0 tag=9 bytes=4096\n"                 /* 30 */
    "barrier 0.200000001 0.200000002 0.000000000 comm=0\n"                                      /* 31 */
    "allreduce 0.200000003 0.200000004 0.000000000 comm=0 bytes=8\n"                            /* 32 */
    "comm 0.200000005 0.200000006 0.000000000 comm=-1 parent=0\n"                               /* 33 */
    "finalize 0.200000007 0.400000001 0.000000000\n"                                            /* 34 */
    "rank 2 15\n"                                                                               /* 35 */
    "send 0.100000001 0.100000002 0.000000000 comm=1 peer=0 tag=8 bytes=0\n"                    /* 36 */
    "recv 0.100000003 0.200000000 0.000000000 comm=1 peer=0 tag=3 bytes=10\n"                   /* 37 */
    "gather 0.200000001 0.200000002 0.000000000 comm=0 root=1 bytes=1\n"                        /* 38 */
    "scatter 0.200000003 0.200000004 0.000000000 comm=0 root=1 bytes=2\n"                       /* 39 */
    "allgather 0.200000005 0.200000006 0.000000000 comm=0 bytes=3\n"                            /* 40 */
    "alltoall 0.200000007 0.200000008 0.000000000 comm=0 bytes=4\n"                             /* 41 */
    "reduce 0.200000009 0.200000010 0.000000000 comm=0 root=0 bytes=5\n"                        /* 42 */
    "reduce_scatter 0.200000011 0.200000012 0.000000000 comm=0 bytes=6\n"                       /* 43 */
    "scan 0.200000013 0.200000014 0.000000000 comm=0 bytes=7\n"                                 /* 44 */
    "comm 0.200000015 0.200000016 0.000000000 mode=nonblocking comm=1 parent=0 request=0\n"     /* 45 */
    "barrier 0.200000017 0.200000018 0.000000000 mode=nonblocking comm=0 request=1\n"           /* 46 */
    "wait 0.200000019 0.200000020 0.000000000 requests=1,0\n"                                   /* 47 */
    "wait 0.200000021 0.200000022 0.000000000\n"                                                /* 48 */
    "rma 0.200000023 0.200000024 0.000000000 mode=put peer=0 bytes=99\n"                        /* 49 */
    "rma 0.200000025 0.200000026 0.000000000 mode=update peer=0 bytes=8\n"                      /* 50 */
    "end\n";                                                                                    /* 51 */

static char path[64], second[64];

static inline void remove_paths(void)
{
    unlink(path);
    unlink(second);
}

static inline void make_paths(void)
{
    snprintf(path, sizeof path, "/tmp/fabricast-trace-%ld", (long)getpid());
    snprintf(second, sizeof second, "/tmp/fabricast-trace-%ld-b", (long)getpid());
    atexit(remove_paths);
}

static inline void put_file(const char *where, const void *data, size_t size)
{
    FILE *file = fopen(where, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    CU_ASSERT_EQUAL(fwrite(data, 1, size, file), size);
    fclose(file);
}

/* The file's bytes, malloc'd. */
static inline char *get_file(const char *where, size_t *size)
{
    FILE *file = fopen(where, "rb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *data = malloc(*size + 1);
    CU_ASSERT_EQUAL(fread(data, 1, *size, file), *size);
    data[*size] = '\0';
    fclose(file);
    return data;
}

static inline enum fc_code read_text(const char *text, struct fc_trace *trace, struct fc_status *st)
{
    *st = (struct fc_status){0};
    put_file(path, text, strlen(text));
    return fc_trace_read(path, trace, st);
}

static inline void read_good(struct fc_trace *trace)
{
    struct fc_status st;
    CU_ASSERT_EQUAL_FATAL(read_text(good, trace, &st), FC_OK);
}

/* The good text with its first `what` replaced; malloc'd. */
static inline char *replaced(const char *what, const char *by)
{
    const char *at = strstr(good, what);
    CU_ASSERT_PTR_NOT_NULL_FATAL(at);
    char *text = malloc(sizeof good + strlen(by));
    sprintf(text, "%.*s%s%s", (int)(at - good), good, by, at + strlen(what));
    return text;
}

static inline void expect_same(const struct fc_trace *a, const struct fc_trace *b)
{
    uint64_t n = a->first_event[a->n_ranks];
    CU_ASSERT_EQUAL_FATAL(n, b->first_event[b->n_ranks]);
    CU_ASSERT_STRING_EQUAL(a->program, b->program);
    for (uint64_t i = 0; i < n; i++) {
        struct fc_event x = a->events[i], y = b->events[i];
        CU_ASSERT_EQUAL_FATAL(x.n_list, y.n_list);
        if (x.n_list) CU_ASSERT_EQUAL(memcmp(a->lists + x.list, b->lists + y.list, x.n_list * sizeof *a->lists), 0);
        x.list = y.list = 0;
        CU_ASSERT_EQUAL(memcmp(&x, &y, sizeof x), 0);
    }
    for (uint32_t r = 0; r < a->n_ranks; r++) CU_ASSERT_EQUAL(a->first_line[r], b->first_line[r]);
}
