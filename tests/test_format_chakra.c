/* test_format_chakra.c - Chakra traces: messages encoded here and read back, order and cycles, groups,
 * refusals, damaged files, and the reference data against counts made by an independent reader. */
#include "tests/tests.h"
#include "tests/trace_oracles.h"
#include "traces/trace_formats.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- a small encoder of the wire format ---- */

struct bytes {
    unsigned char at[4096];
    size_t n;
};

static void varint(struct bytes *b, uint64_t v)
{
    for (; v > 127; v >>= 7) b->at[b->n++] = (unsigned char)(v | 128);
    b->at[b->n++] = (unsigned char)v;
}
static void number(struct bytes *b, int field, uint64_t v)
{
    varint(b, (uint64_t)field << 3);
    varint(b, v);
}
static void block(struct bytes *b, int field, const void *data, size_t n)
{
    varint(b, (uint64_t)field << 3 | 2);
    varint(b, n);
    memcpy(b->at + b->n, data, n);
    b->n += n;
}
static void attribute(struct bytes *b, const char *name, int kind, uint64_t value)
{
    struct bytes a = {.n = 0};
    block(&a, 1, name, strlen(name));
    number(&a, kind, value);
    block(b, 10, a.at, a.n);
}
static void text(struct bytes *b, const char *name, const char *value)
{
    struct bytes a = {.n = 0};
    block(&a, 1, name, strlen(name));
    block(&a, 29, value, strlen(value));
    block(b, 10, a.at, a.n);
}
static struct bytes node(uint64_t id, int type)
{
    struct bytes b = {.n = 0};
    if (id) number(&b, 1, id); /* 0 is not written, as proto3 does */
    block(&b, 2, "name", 4);
    number(&b, 3, (uint64_t)type);
    return b;
}

static char folder[64];

static const char *inside(const char *name)
{
    static char path[2][256];
    static int turn;
    char *p = path[turn = !turn];
    snprintf(p, sizeof path[0], "%s/%s", folder, name);
    return p;
}
static void begin(void)
{
    strcpy(folder, "/tmp/fabricast-chakra-XXXXXX");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
}
static void end(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    CU_ASSERT_EQUAL(system(command), 0);
}
static void put(const char *name, const void *data, size_t n)
{
    FILE *f = fopen(inside(name), "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    CU_ASSERT_EQUAL(fwrite(data, 1, n, f), n);
    fclose(f);
}
static void put_text(const char *name, const char *data)
{
    put(name, data, strlen(data));
}
static void append(struct bytes *file, struct bytes message)
{
    varint(file, message.n);
    memcpy(file->at + file->n, message.at, message.n);
    file->n += message.n;
}
static struct bytes start(void)
{
    struct bytes file = {.n = 0}, metadata = {.n = 0};
    block(&metadata, 1, "0.0.4", 5);
    append(&file, metadata);
    return file;
}
static enum fc_code read_it(const char *path, struct fc_trace *t, struct fc_status *st)
{
    *st = (struct fc_status){0};
    enum fc_code code = fc_trace_read(path, t, st);
    if (code && code != st->code) CU_FAIL("code without a status");
    return code;
}
static bool good(const char *path, struct fc_trace *t)
{
    struct fc_status st;
    if (read_it(path, t, &st) == FC_OK) return true;
    printf("\n    refused: %s: %s\n", st.file, st.message);
    CU_FAIL("a good trace is refused");
    return false;
}
static void refused(const char *path, const char *says)
{
    struct fc_trace t;
    struct fc_status st;
    if (read_it(path, &t, &st) == FC_OK) fc_trace_free(&t);
    CU_ASSERT(fc_says(&st, FC_INPUT, says));
}
static bool notes(const struct fc_trace *t, const char *says)
{
    for (uint32_t i = 0; i < t->n_unwrapped; i++)
        if (strstr(t->unwrapped[i], says)) return true;
    return false;
}

/* Two ranks: computation, a message, an all-reduce; listed backwards on rank 0. */
static void put_pair(const char *pattern)
{
    char name[32];
    for (int r = 0; r < 2; r++) {
        struct bytes file = start(), comp = node(0, 4), message = node(7, r ? 6 : 5), coll = node(9, 7);
        number(&comp, 7, 1500);
        attribute(&comp, "is_cpu_op", 27, 1);
        attribute(&message, r ? "comm_src" : "comm_dst", 7, (uint64_t)!r);
        attribute(&message, "comm_size", 9, 4096);
        attribute(&message, "comm_tag", 7, 3);
        number(&message, 5, 0); /* not packed */
        attribute(&coll, "comm_type", 9, 0);
        attribute(&coll, "comm_size", 13, 1000);
        block(&coll, 4, "\x07\x00", 2); /* packed: 7 and 0 */
        number(&coll, 4, 55);           /* is not there */
        if (r == 0) append(&file, coll);
        append(&file, message);
        append(&file, comp);
        if (r == 1) append(&file, coll);
        snprintf(name, sizeof name, pattern, r);
        put(name, file.at, file.n);
    }
}

static void check_pair(const struct fc_trace *t)
{
    CU_ASSERT(t->graph && t->n_ranks == 2 && t->first_event[2] == 6 && t->n_comms == 1);
    for (uint64_t r = 0; r < 2; r++) {
        const struct fc_event *e = t->events + t->first_event[r];
        CU_ASSERT(e[0].op == FC_OP_OTHER && e[0].compute_s == 0.0015 && e[0].n_list == 0 && e[0].request == 0);
        CU_ASSERT(e[1].op == (r ? FC_OP_RECV : FC_OP_SEND) && e[1].peer == (int)!r && e[1].tag == 3 &&
                  e[1].bytes == 4096);
        CU_ASSERT(e[1].n_list == 1 && t->lists[e[1].list] == 0 && e[1].request == 2);
        CU_ASSERT(e[2].op == FC_OP_ALLREDUCE && e[2].bytes == 1000 && e[2].n_list == 2);
        CU_ASSERT(t->lists[e[2].list] == 1 && t->lists[e[2].list + 1] == 0);
    }
    CU_ASSERT(notes(t, "(2 times: dependency on a node that is not in the trace"));
}

static void test_nodes(void)
{
    struct fc_trace t;
    begin();
    put_pair("w.%d.et");
    if (good(folder, &t)) {
        check_pair(&t);
        fc_trace_free(&t);
    }
    if (good(inside("w.1.et"), &t)) {
        check_pair(&t);
        CU_ASSERT(strstr(t.rank_file[1], "/w.1.et") != NULL);
        fc_trace_free(&t);
    }
    char command[256];
    snprintf(command, sizeof command, "gzip %s/w.0.et && xz %s/w.1.et", folder, folder);
    CU_ASSERT_EQUAL(system(command), 0);
    if (good(folder, &t)) {
        check_pair(&t);
        fc_trace_free(&t);
    }
    end();
}

static void test_json(void)
{
    static const char *const rank[] = {
        "{\"workload_graph\": [{\"Id\": 9, \"Name\": \"c\", \"NodeType\": 7, \"ctrlDeps\": [7, 0, 55], "
        "\"comm_type\": 0,"
        " \"comm_size\": 1000}, {\"Id\": 7, \"NodeType\": 5, \"data_deps\": 0, \"comm_dst\": 1, "
        "\"comm_size\": \"4096\", \"comm_tag\": 3},"
        " {\"Id\": 0, \"NodeType\": 4, \"runtime\": 1500, \"is_cpu_op\": true}], \"ngpus\": 2}",
        "{\"version\": 1, \"workload_graph\": [{\"id\": \"0\", \"type\": \"COMP_NODE\", \"durationMicros\": "
        "\"1500\","
        " \"attr\": [{\"name\": \"is_cpu_op\", \"boolVal\": true}]},"
        " {\"id\": 7, \"type\": \"COMM_RECV_NODE\", \"dataDeps\": [\"0\"], \"attr\": [{\"name\": "
        "\"comm_src\", \"int32Val\": 0},"
        " {\"name\": \"comm_size\", \"int64Val\": \"4096\"}, {\"name\": \"comm_tag\", \"int32_val\": 3}]},"
        " {\"id\": 9, \"type\": 7, \"ctrl_deps\": [7, 0, 55], \"attr\": [{\"name\": \"comm_type\", "
        "\"value\": \"ALL_REDUCE\"},"
        " {\"name\": \"comm_size\", \"doc_string\": \"x\", \"value\": 1000}]}]}"};
    struct fc_trace t;
    begin();
    put_text("w.0.json", rank[0]);
    put_text("w.1.json", rank[1]);
    if (good(inside("w.0.json"), &t)) {
        check_pair(&t);
        fc_trace_free(&t);
    }
    put_text("w.1.json", "{\"workload_graph\": [{\"Id\": 1, \"NodeType\": 4, }]}");
    refused(inside("w.0.json"), "w.1.json:1: no JSON: ");
    put_text("w.1.json", "{\"workload_graph\": 5}");
    refused(inside("w.0.json"), "w.1.json: rank 1, record 0: no list \"workload_graph\"");
    put_text("w.1.json", "{\"workload_graph\": [{\"Id\": -1, \"NodeType\": 4}]}");
    refused(inside("w.0.json"), "rank 1, record 1: the node's Id is no number");
    put_text("w.1.json", "{\"workload_graph\": [{\"Id\": 1, \"NodeType\": \"GPU\"}]}");
    refused(inside("w.0.json"), "rank 1, record 1: the node's type is unknown");
    put_text("w.1.json", "{\"workload_graph\": [{\"Id\": 1, \"NodeType\": 4, \"runtime\": -3}]}");
    refused(inside("w.0.json"), "the node's runtime is no time in microseconds");
    put_text("w.1.json", "{\"workload_graph\": [{\"Id\": 1, \"NodeType\": 4, \"data_deps\": [1.5]}]}");
    refused(inside("w.0.json"), "a dependency is no node's number");
    put_text("w.1.json", "{\"workload_graph\": [{\"Id\": 1, \"NodeType\": 7, \"comm_type\": \"ALL_SUM\"}]}");
    refused(inside("w.0.json"), "comm_type of the node is negative or no number");
    put_text("p.0.json", "{\"schema\": \"1.0.2-chakra.0.0.4\", \"nodes\": [{\"id\": 2, \"ctrl_deps\": 1}]}");
    refused(inside("p.0.json"), "p.0.json: an execution graph of PyTorch");
    end();
}

static const char three[] = "t.%d.et";

/* Three ranks, each with one node. */
static void put_each(struct bytes one)
{
    char name[32];
    for (int r = 0; r < 3; r++) {
        struct bytes file = start();
        append(&file, one);
        snprintf(name, sizeof name, three, r);
        put(name, file.at, file.n);
    }
}

static void test_collectives(void)
{
    static const struct {
        int type, op;
        int64_t bytes;
    } cases[] = {{0, FC_OP_ALLREDUCE, 300}, {1, FC_OP_REDUCE, 300},         {2, FC_OP_ALLGATHER, 300},
                 {3, FC_OP_GATHER, 300},    {4, FC_OP_SCATTER, 300},        {5, FC_OP_BCAST, 300},
                 {6, FC_OP_ALLTOALL, 100},  {7, FC_OP_REDUCE_SCATTER, 100}, {8, FC_OP_REDUCE_SCATTER, 100},
                 {9, FC_OP_BARRIER, 0}};
    struct fc_trace t;
    begin();
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        struct bytes coll = node(4, 7);
        attribute(&coll, "comm_type", 9, (uint64_t)cases[i].type);
        attribute(&coll, "comm_size", 9, 300);
        attribute(&coll, "root", 9, 2);
        put_each(coll);
        if (!good(folder, &t)) continue;
        const struct fc_event *e = &t.events[1];
        CU_ASSERT(e->op == cases[i].op && e->bytes == cases[i].bytes && e->comm == 0 && t.n_unwrapped == 0);
        bool rooted = e->op == FC_OP_REDUCE || e->op == FC_OP_GATHER || e->op == FC_OP_SCATTER || e->op == FC_OP_BCAST;
        CU_ASSERT(e->peer == (rooted ? 2 : -1));
        fc_trace_free(&t);
    }
    struct bytes coll = node(4, 7);
    attribute(&coll, "comm_type", 9, 7);
    attribute(&coll, "comm_size", 9, 301);
    block(&coll, 10, "\x0a\x0cinvolved_dim\xe2\x01\x04\x0a\x02\x01\x00", 21);
    put_each(coll);
    if (good(folder, &t)) {
        CU_ASSERT(t.events[0].bytes == 101 && notes(&t, "(3 times: comm_size that the members do not divide"));
        CU_ASSERT(notes(&t, "(3 times: collective over some dimensions"));
        fc_trace_free(&t);
    }
    coll = node(4, 7);
    attribute(&coll, "comm_type", 9, 5);
    attribute(&coll, "comm_size", 9, 0);
    text(&coll, "pg_name", "tp");
    put_each(coll);
    if (good(folder, &t)) {
        CU_ASSERT(t.events[0].peer == 0 && notes(&t, "(3 times: communication of comm_size 0)"));
        CU_ASSERT(notes(&t, "collective without a root") && notes(&t, "process group whose members are not told"));
        fc_trace_free(&t);
    }
    put_text("t.json", "{\"dp\": [0], \"tp\": [2, 0, 1]}");
    if (good(folder, &t)) {
        CU_ASSERT(t.n_comms == 3 && t.events[0].comm == 2 && t.events[0].peer == 2);
        CU_ASSERT(t.comm_member[t.comm_first[2]] == 2 && t.comm_first[3] - t.comm_first[2] == 3);
        fc_trace_free(&t);
    }
    put_text("t.json", "{\"dp\": [0]}");
    refused(folder, "t.0.et: rank 0, record 1: process group 'tp' is not in ");
    put_text("t.json", "{\"tp\": [0, 2]}");
    refused(folder, "t.1.et: rank 1, record 1: node 4: rank 1 is not in process group 'tp'");
    put_text("t.json", "{\"tp\": [0, 3]}");
    refused(folder, "t.json: process group 'tp': rank out of range (allowed: 0 to 2)");
    put_text("t.json", "{\"tp\": [1, 1]}");
    refused(folder, "t.json: process group 'tp': rank 1 twice");
    put_text("t.json", "{\"tp\": 7}");
    refused(folder, "t.json: process group 'tp' is no list of ranks");
    put_text("t.json", "[]");
    refused(folder, "t.json: no process groups");
    end();
}

static void test_other_nodes(void)
{
    struct fc_trace t;
    struct bytes file = start(), n = node(1, 7);
    begin();
    number(&n, 7, 20);
    append(&file, n); /* a collective's launch: no comm_type */
    n = node(2, 4);
    attribute(&n, "num_ops", 9, 5000000);
    append(&file, n);
    append(&file, node(3, 1));
    append(&file, node(4, 2));
    append(&file, node(5, 8));
    put("o.0.et", file.at, file.n);
    if (good(folder, &t)) {
        CU_ASSERT(t.first_event[1] == 5 && t.events[0].op == FC_OP_OTHER && t.events[0].compute_s == 20e-6);
        CU_ASSERT(t.events[1].compute_s == 0.005); /* at 1e9 operations a second */
        CU_ASSERT(notes(&t, "collective node without comm_type") && notes(&t, "(2 times: memory or storage node"));
        CU_ASSERT(notes(&t, "computation without duration"));
        fc_trace_free(&t);
    }
    end();
}

static void refused_node(struct bytes n, const char *says)
{
    struct bytes file = start();
    append(&file, node(1, 4));
    append(&file, n);
    put("r.0.et", file.at, file.n);
    refused(folder, says);
}

static void test_refusals(void)
{
    begin();
    struct bytes n = node(2, 5), file = start();
    refused_node(n, "r.0.et: rank 0, record 2: node 2 has no comm_dst");
    attribute(&n, "comm_dst", 7, 1);
    refused_node(n, "rank 0, record 2: comm_dst 1 of node 2 (there are files of 1 ranks)");
    refused_node(node(2, 11), "rank 0, record 2: type 11 of node 2 (expected 1 to 10)");
    refused_node(node(2, 0), "type 0 of node 2");
    refused_node(node(1, 4), "rank 0, record 2: node 1 is there twice (also record 1)");
    n = node(2, 7);
    attribute(&n, "comm_type", 9, 10);
    refused_node(n, "comm_type 10 of node 2 (expected 0 to 9)");
    n = node(2, 7);
    attribute(&n, "comm_size", 9, UINT64_MAX);
    refused_node(n, "comm_size of the node is negative");
    n = node(2, 7);
    attribute(&n, "comm_type", 9, 5);
    attribute(&n, "root", 9, 3);
    refused_node(n, "root 3 of node 2 is not in its group");
    n = node(2, 4);
    block(&n, 5, "\x80\x80", 2);
    refused_node(n, "rank 0, record 2: dependencies are damaged");
    n = node(2, 4);
    n.at[n.n++] = 0x53; /* a group: no such wire type is used */
    refused_node(n, "rank 0, record 2: the node is damaged");
    n = node(2, 4);
    block(&n, 10, "\x0a\x09xx", 4);
    refused_node(n, "an attribute is damaged");
    put("r.0.et", "", 0);
    refused(folder, "rank 0, record 0: the file is empty");
    file.n = 0;
    append(&file, node(1, 4));
    put("r.0.et", file.at, file.n);
    refused(folder, "record 0: the first message is no Chakra metadata");
    put("r.0.et", "\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 9);
    refused(folder, "record 0: 9223372036854775807 bytes in one record");
    put("r.0.et", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 10);
    refused(folder, "record 0: the length of the record is damaged");
    put("s.0.et", "", 0);
    refused(folder, "several sets of files are here: r.*.et and s.*.et");
    put("trace.et", "", 0);
    refused(inside("trace.et"), "its name does not tell its rank");
    end();
}

static void test_cycles(void)
{
    struct bytes file = start();
    begin();
    for (uint64_t id = 1; id < 6; id++) { /* 1 -> 2 -> 3 -> 4 -> 2 */
        struct bytes n = node(id, 4);
        number(&n, 5, id == 4 ? 2 : id + 1);
        append(&file, n);
    }
    put("c.0.et", file.at, file.n);
    refused(folder, "c.0.et: rank 0, record 2: nodes depend on each other: 2 -> 3 -> 4 -> 2");
    struct bytes self = node(8, 4);
    number(&self, 5, 8);
    file = start();
    append(&file, self);
    put("c.0.et", file.at, file.n);
    refused(folder, "nodes depend on each other: 8 -> 8");
    /* control: 1 -> 2 -data-> 3 -> 1 -> 1, and 2 -> 4: all but the last close a cycle */
    static const uint64_t control[][2] = {{1, 2}, {3, 1}, {1, 1}, {2, 4}};
    file = start();
    for (uint64_t id = 1; id < 5; id++) {
        struct bytes n = node(id, 4);
        for (size_t i = 0; i < FC_COUNT(control); i++)
            if (control[i][0] == id) number(&n, 4, control[i][1]);
        if (id == 2) number(&n, 5, 3);
        append(&file, n);
    }
    put("c.0.et", file.at, file.n);
    struct fc_trace t;
    if (good(folder, &t)) { /* 1, 4, 3, 2 */
        const struct fc_event *e = &t.events[3];
        CU_ASSERT(t.first_event[1] == 4 && t.events[0].n_list == 0 && t.events[1].n_list == 0 && e->n_list == 2);
        CU_ASSERT(t.lists[e->list] == 1 && t.lists[e->list + 1] == 2);
        CU_ASSERT(notes(&t, "(3 times: control dependency inside a cycle: dropped)"));
        fc_trace_free(&t);
    }
    end();
}

/* A file cut anywhere or with any byte changed is read or refused, never worse. */
static void test_damage(void)
{
    struct fc_trace t;
    struct fc_status st;
    struct bytes file = start();
    begin();
    for (uint64_t id = 0; id < 3; id++) {
        struct bytes n = node(id, id == 2 ? 7 : 4);
        block(&n, 5, "\x00\x01", 2);
        attribute(&n, "comm_type", 9, 0);
        attribute(&n, "comm_size", 9, 300);
        text(&n, "pg_name", "x");
        if (id) append(&file, n);
    }
    for (size_t cut = 0; cut < file.n; cut++) {
        put("d.0.et", file.at, cut);
        if (!read_it(folder, &t, &st)) fc_trace_free(&t);
    }
    for (size_t i = 0; i < file.n; i++)
        for (int change = 1; change < 256; change = change * 3 + 1) {
            struct bytes other = file;
            other.at[i] ^= (unsigned char)change;
            put("d.0.et", other.at, other.n);
            if (!read_it(folder, &t, &st)) fc_trace_free(&t);
        }
    end();
}

static void count(const char *path, uint32_t ranks, uint64_t events, int op, uint64_t of_op, double bytes)
{
    struct fc_trace t;
    struct fc_trace_summary s;
    if (!good(path, &t)) return;
    fc_trace_summarise(&t, &s);
    CU_ASSERT(t.graph && t.n_ranks == ranks && s.n_events == events);
    CU_ASSERT(s.op_count[op] == of_op && s.op_bytes[op] == bytes);
    fc_trace_free(&t);
}

static void test_reference(void)
{
    static const char from[] = "../shared/reference/traces/chakra";
    static const struct {
        const char *name;
        int op;
        bool divided;
    } benchmarks[] = {{"all_reduce", FC_OP_ALLREDUCE, false},
                      {"all_gather", FC_OP_ALLGATHER, false},
                      {"all_to_all", FC_OP_ALLTOALL, true},
                      {"reduce_scatter", FC_OP_REDUCE_SCATTER, true}};
    char path[512];
    if (access(from, F_OK)) {
        printf("\n    skipped: %s is not there ", from);
        return;
    }
    for (size_t i = 0; i < FC_COUNT(benchmarks); i++)
        for (uint32_t n = 4; n <= 16; n *= 2) {
            snprintf(path, sizeof path, "%s/astra_microbenchmarks/%s/%unpus_1MB", from, benchmarks[i].name, n);
            count(path, n, n, benchmarks[i].op, n, 1048576.0 * (benchmarks[i].divided ? 1 : n));
        }
    snprintf(path, sizeof path, "%s/astra_custom_collectives/custom_ring_allreduce_8npus_1MB", from);
    count(path, 8, 8 * 35, FC_OP_SEND, 8 * 14, 8 * 14 * 131072.0);
    begin();
    snprintf(path, sizeof path, "for f in %s/feeder_tests_trace.tar.gz %s/json_trace.tar.gz; do tar xzf $f -C %s; done",
             from, from, folder);
    CU_ASSERT_EQUAL(system(path), 0);
    count(inside("tests/data/chakra.0.et"), 1, 3664, FC_OP_ALLREDUCE, 5, 102228128);
    count(inside("jsonData/chakra.0.json"), 1, 3664, FC_OP_OTHER, 3664, 0);
    end();
}

int suite_format_chakra(void)
{
    static const CU_TestInfo tests[] = {
        {"nodes, files, order", test_nodes},
        {"JSON", test_json},
        {"collectives and groups", test_collectives},
        {"other nodes", test_other_nodes},
        {"refusals", test_refusals},
        {"cycles", test_cycles},
        {"damaged files", test_damage},
        {"reference data", test_reference},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("format chakra", tests);
}
