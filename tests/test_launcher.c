/* test_launcher.c - launcher files: their texts, read back, what they refuse; the bound of a problem. */
#include "mapping/launcher.h"

#include "tests/support.h"
#include "tests/tests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *temporary(char *path, const char *text)
{
    CU_ASSERT_FATAL(fc_test_file(path, "", text, strlen(text)));
    return path;
}

/* ---- launcher files ---- */

struct job {
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand demand;
    struct fc_map_problem problem;
    struct fc_mapping mapping;
    struct fc_launch launch;
};

/* `map`: a strategy, or the cores of the ranks as the text of a mapping file. */
static bool open_job(struct job *j, const char *yaml, const char *pattern, const uint32_t *nodes, size_t n_nodes,
                     const char *map)
{
    struct fc_status st = {0};
    char path[64] = "";
    memset(j, 0, sizeof *j);
    if (!fc_test_network(yaml, &j->machine, &j->net)) return false;
    CU_ASSERT_EQUAL_FATAL(fc_demand_from_pattern(&j->net, pattern, 1, &j->demand, &st), FC_OK);
    j->problem =
        (struct fc_map_problem){.net = &j->net, .demand = &j->demand, .nodes = nodes, .n_nodes = n_nodes, .seed = 1};
    bool file = *map >= '0' && *map <= '9';
    enum fc_code code = fc_mapping_make(&j->problem, file ? temporary(path, map) : map, &j->mapping, &st);
    if (file) unlink(path);
    if (!code) code = fc_launch_start(&j->problem, &j->mapping, &j->launch, &st);
    if (code) printf("\n%s\n", st.message);
    CU_ASSERT_EQUAL_FATAL(code, FC_OK);
    return true;
}

static void close_job(struct job *j)
{
    fc_launch_free(&j->launch);
    fc_mapping_free(&j->mapping);
    fc_demand_free(&j->demand);
    fc_test_close(&j->machine, &j->net);
}

/* The file as text (freed by the caller), or NULL with the status. */
static char *written(const struct fc_launch *launch, const char *format, struct fc_status *st)
{
    char path[64], *text = calloc(1, 1 << 20);
    temporary(path, "");
    unlink(path);
    *st = (struct fc_status){0};
    if (fc_launch_write(launch, fc_launcher_find(format), path, st)) {
        CU_ASSERT_NOT_EQUAL(access(path, F_OK), 0); /* nothing is left of a refused file */
        free(text);
        return NULL;
    }
    FILE *stream = fopen(path, "r");
    size_t n = stream ? fread(text, 1, (1 << 20) - 1, stream) : 0;
    text[n] = '\0';
    if (stream) fclose(stream);
    unlink(path);
    return text;
}

static void says_file(const struct fc_launch *launch, const char *format, const char *expected)
{
    struct fc_status st;
    char *text = written(launch, format, &st);
    if (!text || strcmp(text, expected)) printf("\n%s: %s%s\n", format, text ? text : "", st.message);
    CU_ASSERT(text && !strcmp(text, expected));
    free(text);
}

static void refuses(const struct fc_launch *launch, const char *format, enum fc_code code, const char *what)
{
    struct fc_status st;
    char *text = written(launch, format, &st);
    CU_ASSERT_PTR_NULL(text);
    CU_ASSERT(fc_says(&st, code, what));
    free(text);
}

/* Six ranks on nodes 2, 0 and 4 of eight. */
#define SIX "4\n5\n0\n9\n8\n1\n"

static void test_texts(void)
{
    static const uint32_t nodes[] = {2, 0, 4};
    struct job j;
    if (!open_job(&j, FC_TEST_NAMED, "stencil2d:grid=2x3,bytes=1KiB", NULL, 0, SIX)) return;
    const struct fc_launch *l = &j.launch;
    says_file(l, "slurm", "cn2\ncn2\ncn0\ncn4\ncn4\ncn0\n");
    says_file(l, "seq", "cn2\ncn2\ncn0\ncn4\ncn4\ncn0\n");
    says_file(l, "hostfile", "cn2:2\ncn0:1\ncn4:2\ncn0:1\n");
    says_file(l, "rankfile",
              "rank 0=cn2 slot=0\nrank 1=cn2 slot=1\nrank 2=cn0 slot=0\nrank 3=cn4 slot=1\nrank 4=cn4 slot=0\n"
              "rank 5=cn0 slot=1\n");
    says_file(l, "bgl", "2 0 0\n2 0 1\n0 0 0\n0 1 1\n0 1 0\n0 0 1\n");
    says_file(l, "pjm", "(2,0)\n(2,0)\n(0,0)\n(0,1)\n(0,1)\n(0,0)\n");
    says_file(l, "flux", "[[2,1,2,1],[0,1,1,1],[4,1,2,1],[0,1,1,1]]\n");
    says_file(
        l, "erf",
        "cpu_index_using: logical\nrank: 0: { hostname: cn2; cpu: {0-3} }\nrank: 1: { hostname: cn2; cpu: {4-7} }\n"
        "rank: 2: { hostname: cn0; cpu: {0-3} }\nrank: 3: { hostname: cn4; cpu: {4-7} }\n"
        "rank: 4: { hostname: cn4; cpu: {0-3} }\nrank: 5: { hostname: cn0; cpu: {4-7} }\n");
    refuses(l, "slots", FC_INPUT,
            "each host once, with consecutive ranks: node 0 of the allocation holds 2 ranks from 2 to 5");
    refuses(l, "kueue", FC_INPUT, "format kueue lists each host once");
    refuses(l, "lsf", FC_INPUT, "node 1 of the allocation holds no rank while later ones do (3 of 8 nodes have ranks");
    refuses(l, "cray", FC_INPUT, "node 1 of the allocation holds 0 ranks (expected 2: 6 ranks by 2 a node)");
    close_job(&j);

    if (!open_job(&j, FC_TEST_NAMED, "stencil2d:grid=2x3,bytes=1KiB", nodes, 3, SIX)) return;
    says_file(l, "lsf", "{(0,1)(2,5)(4,3)}\n");
    says_file(l, "cray", "# 6 ranks, 2 a node\n0,1\n2,5\n4,3\n");
    says_file(l, "rankfile-relative",
              "rank 0=+n0 slot=0\nrank 1=+n0 slot=1\nrank 2=+n1 slot=0\nrank 3=+n2 slot=1\n"
              "rank 4=+n2 slot=0\nrank 5=+n1 slot=1\n");
    says_file(l, "flux", "[[0,1,2,1],[1,1,1,1],[2,1,2,1],[1,1,1,1]]\n");
    refuses(l, "bgl", FC_INPUT, "the 3 allowed nodes are no box (the one around them has 6)");
    close_job(&j);

    /* blocks fold, rounds repeat */
    if (!open_job(&j, FC_TEST_NAMED, "stencil2d:grid=4x4,bytes=1KiB", NULL, 0, "def")) return;
    says_file(l, "flux", "[[0,8,2,1]]\n");
    CU_ASSERT_EQUAL(fc_pmi_mapping_bytes(l), strlen("(vector,(0,8,2))"));
    close_job(&j);
    if (!open_job(&j, FC_TEST_NAMED, "stencil2d:grid=4x4,bytes=1KiB", NULL, 0,
                  "0\n2\n4\n6\n8\n10\n12\n14\n1\n3\n5\n7\n9\n11\n13\n15\n"))
        return;
    says_file(l, "flux", "[[0,8,1,2]]\n");
    CU_ASSERT_EQUAL(fc_pmi_mapping_bytes(l), strlen("(vector,(0,8,1),(0,8,1))"));
    says_file(l, "cray", "# 16 ranks, 2 a node\n0,8\n1,9\n2,10\n3,11\n4,12\n5,13\n6,14\n7,15\n");
    close_job(&j);

    /* whole nodes in another order, one of them not full */
    if (!open_job(&j, FC_TEST_NAMED, "stencil2d:grid=1x5,bytes=1KiB", NULL, 0, "6\n7\n0\n3\n2\n")) return;
    says_file(l, "slots", "cn3 slots=2\ncn0 slots=1\ncn1 slots=2\n");
    says_file(l, "kueue",
              "{\"levels\": [\"kubernetes.io/hostname\"], \"domains\": [\n  {\"values\": [\"cn3\"], \"count\": 2},\n"
              "  {\"values\": [\"cn0\"], \"count\": 1},\n  {\"values\": [\"cn1\"], \"count\": 2}\n]}\n");
    close_job(&j);

    /* a last node that is not full; uneven nodes */
    if (!open_job(&j, FC_TEST_NAMED, "stencil2d:grid=1x3,bytes=1KiB", NULL, 0, "1\n2\n0\n")) return;
    says_file(l, "cray", "# 3 ranks, 2 a node\n2,0\n1\n");
    says_file(l, "lsf", "{(2,0)(1)}\n");
    close_job(&j);
    if (!open_job(&j, FC_TEST_NAMED, "stencil2d:grid=1x3,bytes=1KiB", NULL, 0, "2\n1\n3\n")) return;
    refuses(l, "cray", FC_INPUT, "node 0 of the allocation holds 1 ranks (expected 2: 3 ranks by 2 a node)");
    close_job(&j);
}

/* A box inside the torus: coordinates from its corner. */
static void test_partition(void)
{
    static const uint32_t nodes[] = {1, 2, 5, 6};
    struct job j;
    if (!open_job(&j, FC_TEST_NAMED, "stencil2d:grid=2x2,bytes=1KiB", nodes, 4, "13\n2\n4\n10\n")) return;
    says_file(&j.launch, "bgl", "1 1 1\n0 0 0\n1 0 0\n0 1 0\n");
    close_job(&j);
}

static void test_format_refusals(void)
{
    static const char *const named[] = {"slurm", "seq", "rankfile", "hostfile", "erf", "slots", "kueue"};
    struct fc_status st = {0};
    struct job j;
    if (!open_job(&j, FC_TEST_SMALL, "stencil2d:grid=2x3,bytes=1KiB", NULL, 0, SIX)) return;
    for (size_t i = 0; i < FC_COUNT(named); i++)
        refuses(&j.launch, named[i], FC_INPUT,
                "node 0 of machine small has no host name (expected hosts: in the machine file");
    says_file(&j.launch, "rankfile-relative",
              "rank 0=+n2 slot=0\nrank 1=+n2 slot=1\nrank 2=+n0 slot=0\nrank 3=+n4 slot=1\n"
              "rank 4=+n4 slot=0\nrank 5=+n0 slot=1\n");
    close_job(&j);
    if (!open_job(&j, FC_TEST_SMALL "hosts: a+[0-7]\n", "stencil2d:grid=2x3,bytes=1KiB", NULL, 0, SIX)) return;
    refuses(&j.launch, "slurm", FC_INPUT, "host 'a+0' of node 0 cannot stand in a file");
    close_job(&j);
    if (!open_job(&j,
                  "name: t\nnetwork: {family: torus, dims: [4], nodes_per_router: 2}\nlinks: {torus: "
                  "{bandwidth: 1 GB/s}}\n",
                  "stencil2d:grid=2x2,bytes=1KiB", NULL, 0, "def"))
        return;
    refuses(&j.launch, "bgl", FC_INPUT, "one node a router, and machine t has 2");
    close_job(&j);
    if (!open_job(&j,
                  "name: t\nnetwork: {family: fat-tree, children: [2, 2], parents: [1, 2]}\nlinks: {leaf: "
                  "{bandwidth: 1 "
                  "GB/s}, up: {bandwidth: 1 GB/s}}\n",
                  "stencil2d:grid=2x2,bytes=1KiB", NULL, 0, "def"))
        return;
    refuses(&j.launch, "bgl", FC_INPUT, "a fat-tree network has none");
    close_job(&j);
    fc_launcher_unknown("slrum", &st);
    CU_ASSERT(fc_says(&st, FC_INPUT, "did you mean 'slurm'? known: cores, slurm, rankfile"));
}

/* The length as Slurm's PMI packs it: the ranks of every node in order, the node of the next rank, runs of
 * equal depth on the nodes that follow (a rule of its own, not that of the writer). */
static size_t packed_bytes(const struct fc_launch *l)
{
    uint32_t *next = calloc(l->n_places, sizeof *next), *list = calloc((size_t)l->n_places * l->n_tasks, sizeof *list);
    size_t bytes = 8;
    for (uint32_t r = 0, *n = calloc(l->n_places, sizeof *n); r <= l->n_tasks; r++) {
        if (r == l->n_tasks)
            free(n);
        else
            list[(size_t)l->place[r] * l->n_tasks + n[l->place[r]]++] = r + 1; /* 0: none */
    }
    for (uint32_t rank = 0; rank < l->n_tasks;) {
        uint32_t start = l->place[rank], depth = 0, node = start;
        for (; node < l->n_places; node++) {
            const uint32_t *mine = list + (size_t)node * l->n_tasks + next[node];
            uint32_t n = 0;
            while (rank + n < l->n_tasks && mine[n] == rank + n + 1) n++;
            if (n == 0 || (depth && n != depth)) break;
            depth = n;
            next[node] += n;
            rank += n;
        }
        bytes += (size_t)snprintf(NULL, 0, ",(%u,%u,%u)", start, node - start, depth);
    }
    free(next);
    free(list);
    return bytes;
}

/* cray-mpich aborts from 1,024 bytes on: 1,023 are written, 1,024 are refused. */
static void test_pmi_limit(void)
{
    struct job j;
    bool seen[2] = {false, false};
    if (!open_job(&j, "name: t\nnetwork: {family: torus, dims: [16, 16]}\nlinks: {torus: {bandwidth: 1 GB/s}}\n",
                  "stencil2d:grid=16x16,bytes=1KiB", NULL, 0, "def"))
        return;
    struct fc_launch *l = &j.launch;
    for (uint64_t i = 0; i < 20000 && !(seen[0] && seen[1]); i++) {
        uint32_t a = (uint32_t)fc_random_below(7, 0, i, 256), b = (uint32_t)fc_random_below(7, 1, i, 256),
                 was = l->place[a];
        l->place[a] = l->place[b];
        l->place[b] = was;
        size_t bytes = fc_pmi_mapping_bytes(l);
        if (i < 300) CU_ASSERT_EQUAL(bytes, packed_bytes(l));
        l->rank_at[l->place[a]] = a;
        l->rank_at[l->place[b]] = b;
        if (bytes == 1023 && !seen[0]) {
            struct fc_status st;
            char *text = written(l, "cray", &st);
            CU_ASSERT_PTR_NOT_NULL(text);
            free(text);
            seen[0] = true;
        } else if (bytes == 1024 && !seen[1]) {
            struct fc_status st;
            refuses(l, "cray", FC_NO,
                    "PMI_process_mapping takes 1024 bytes, and cray-mpich 9.1.0 aborts in MPI_Init from 1024 on");
            l->long_mapping = true;
            char *text = written(l, "cray", &st);
            CU_ASSERT_PTR_NOT_NULL(text);
            free(text);
            l->long_mapping = false;
            seen[1] = true;
        } else if (bytes > 1024) { /* back */
            l->place[b] = l->place[a];
            l->place[a] = was;
            l->rank_at[l->place[a]] = a;
            l->rank_at[l->place[b]] = b;
        }
    }
    CU_ASSERT(seen[0] && seen[1]);
    close_job(&j);
}

/* Every format and strategy: what is written reads as the same mapping, slots where the file tells them. */
static void test_read_back(void)
{
    static const char *const maps[] = {"def", "random", "bnm", "rnm"};
    struct job j;
    int files = 0;
    for (size_t m = 0; m < FC_COUNT(maps); m++) {
        if (!open_job(&j, FC_TEST_NAMED, "stencil2d:grid=4x4,bytes=1KiB", NULL, 0, maps[m])) return;
        for (int f = 0; fc_launcher_formats[f]; f++) {
            const struct fc_launcher_format *format = fc_launcher_formats[f];
            struct fc_mapping back = {0};
            struct fc_status st;
            char path[64], name[128], *text = written(&j.launch, format->name, &st);
            if (!text && m > 0 && fc_says(&st, FC_INPUT, "lists each host once, with consecutive ranks")) continue;
            CU_ASSERT_PTR_NOT_NULL_FATAL(text);
            snprintf(name, sizeof name, "%s:%s", format->name, temporary(path, text));
            enum fc_code code = fc_mapping_make(&j.problem, name, &back, &st);
            if (format->needs_writer) {
                CU_ASSERT(fc_says(&st, FC_INPUT, "does not tell how many ranks a node has"));
            } else {
                CU_ASSERT_EQUAL(code, FC_OK);
                CU_ASSERT(!code && !memcmp(back.node, j.mapping.node, back.n_tasks * sizeof *back.node));
                if (format->tells_slots)
                    CU_ASSERT(!code && !memcmp(back.core, j.mapping.core, back.n_tasks * sizeof *back.core));
                files++;
            }
            fc_mapping_free(&back);
            unlink(path);
            free(text);
        }
        close_job(&j);
    }
    CU_ASSERT_EQUAL(files, 50);
}

static enum fc_code write_reversed(const struct fc_launch *job, FILE *out, struct fc_status *st)
{
    (void)st;
    for (uint32_t r = job->n_tasks; r-- > 0;) fprintf(out, "%s\n", job->host[job->place[r]]);
    return FC_OK;
}

/* A writer that is wrong: nothing is published. */
static void test_wrong_writer(void)
{
    struct job j;
    struct fc_status st = {0};
    char path[64];
    if (!open_job(&j, FC_TEST_NAMED, "stencil2d:grid=2x2,bytes=1KiB", NULL, 0, "def")) return;
    struct fc_launcher_format format = *fc_launcher_find("slurm");
    format.write = write_reversed;
    temporary(path, "as it was\n");
    CU_ASSERT_EQUAL(fc_launch_write(&j.launch, &format, path, &st), FC_FAULT);
    CU_ASSERT(fc_says(&st, FC_FAULT, "the slurm file puts rank 0 on node 1 of the allocation instead of 0"));
    char text[32] = "";
    FILE *stream = fopen(path, "r");
    CU_ASSERT(stream && fgets(text, sizeof text, stream));
    CU_ASSERT_STRING_EQUAL(text, "as it was\n");
    if (stream) fclose(stream);
    unlink(path);
    close_job(&j);
}

static const struct {
    const char *format, *text, *what;
} unreadable[] = {
    {"slurm", "cn0\ncn0\ncn1\n", "rank 3 is not placed (3 of 4 ranks are)"},
    {"slurm", "cn0\ncn0\ncn1\ncn1\ncn2\n", ":5: more hosts than the 4 ranks"},
    {"slurm", "cn0\ncn9\ncn1\ncn1\n", ":2: host 'cn9' is not in machine small"},
    {"slurm", "cn0\ncn0\ncn0\ncn1\n", "more ranks on node 0 (cn0) than its 2 cores (rank 2 is too many)"},
    {"slurm", "cn[0-1]\n", ":1: host 'cn[0-1]' is not in machine"},
    {"hostfile", "cn0:2\ncn1:3\n", ":2: more places than the 4 ranks"},
    {"hostfile", "cn0:0\n", ":1: ranks of the host: '0' is out of range"},
    {"hostfile", "cn0:x\n", ":1: ranks of the host: 'x' is not an integer"},
    {"rankfile", "rank 0=cn0 slot=0\nrank 0=cn0 slot=1\n", ":2: rank 0 is placed twice"},
    {"rankfile", "rank 0=cn0 slot=2\n", ":1: slot: '2' is out of range (allowed: 0 to 1)"},
    {"rankfile", "rank 4=cn0 slot=0\n", ":1: rank: '4' is out of range (allowed: 0 to 3)"},
    {"rankfile", "rank 0=cn0\n", ":1: expected rank N=HOST slot=S"},
    {"rankfile", "rank 0=+n8 slot=0\n", ":1: +n: '8' is out of range (allowed: 0 to 7)"},
    {"rankfile", "rank 0=cn0 slot=0\nrank 1=cn0 slot=0\nrank 2=cn1 slot=0\nrank 3=cn2 slot=0\n",
     "ranks 0 and 1 are both on slot 0 of node 0 (cn0)"},
    {"bgl", "0 0 0\n0 0 1\n4 0 0\n", ":3: coordinate: '4' is out of range (allowed: 0 to 3)"},
    {"bgl", "0 0 2\n", ":1: core: '2' is out of range"},
    {"bgl", "0 0\n", ":1: 2 numbers (expected 2 coordinates and a core)"},
    {"bgl", "0 0 0 0\n", ":1: more than 2 coordinates and a core"},
    {"pjm", "(0,0)\n(4,0)\n", ":2: coordinate: '4' is out of range (allowed: 0 to 3)"},
    {"pjm", "(0,0\n", ":1: '(0,0' (expected 2 coordinates, (0,0,1))"},
    {"pjm", "0,0\n", ":1: '0,0' (expected 2 coordinates"},
    {"pjm", "(0,0,0)\n", ":1: '(0,0,0)' (expected 2 coordinates"},
    {"pjm", "(0,)\n", ":1: '(0,)' (expected 2 coordinates"},
    {"flux", "[[0,8,1,1]]", "rank 4 (the job has ranks 0 to 3)"},
    {"flux", "[[7,2,1,2]]", "rank 1: node 8 of the allocation (which has 8)"},
    {"flux", "[[0,1,2]]", "an entry is not [nodeid, nnodes, ppn, repeat]"},
    {"flux", "[[0,1,-2,1]]", "an entry is not"},
    {"flux", "{}", "not a task map"},
    {"flux", "[[0,1", "not a task map"},
    {"flux", "[[0,4294967294,4294967294,4294967294]]", "rank 4 (the job has"},
    {"flux", "{\"version\": 2, \"map\": [[0,2,2,1]]}", "not a task map of version 1"},
    {"flux", "{\"version\": 1, \"map\": [[0,3,2,1]]}", "rank 4 (the job has"},
    {"erf", "rank: 0: { hostname: cn0; cpu: {0-3} }\nrank: 0: { hostname: cn0; cpu: {4-7} }\n",
     ":2: rank 0 is placed twice"},
    {"erf", "rank: 0: { hostname: cn9; cpu: {0-3} }\n", ":1: host 'cn9' is not in machine small"},
    {"erf", "rank: 0: { host: 9; cpu: {0-3} }\n", ":1: host: '9' is out of range (allowed: 1 to 8)"},
    {"erf", "rank: 0: { host: 1; cpu: {2-3} }\n", ":1: cpu 2 is not the first of a core"},
    {"erf", "rank: 0: { host: 1; cpu: {8-11} }\n", ":1: cpu: '8' is out of range (allowed: 0 to 7)"},
    {"erf", "rank: 0: { host: 1 }\n", ":1: rank 0: no cpu"},
    {"erf", "rank: 0: { host: 1; hostname: cn0; cpu: {0} }\n", ":1: a second host of one rank"},
    {"erf", "rank: 0: { host: 1; cpu: {0}; cpu: {4} }\n", ":1: a second cpu of one rank"},
    {"erf", "rank: 0: { host: 1; cpu: {0x4} }\n", ":1: cpu: '0x4}' (expected {FIRST-LAST})"},
    {"erf", "rank: 0: { cpu: {0} }\n", ":1: rank 0: no hostname or host"},
    {"erf", "rank: 0: { host: 1; core: {0} }\n", ":1: 'core' (expected hostname, host, cpu"},
    {"erf", "rank: 0: host 1\n", ":1: expected rank: N: { hostname: HOST"},
    {"erf", "rank: 0: { }\n", ":1: expected KEY: VALUE between"},
    {"erf", "app 0: ./a.out\n", ":1: 'app 0' (expected rank: N: {...} or a setting of jsrun)"},
    {"erf", "cpu_index_using: physical\n", ":1: CPUs by their physical numbers are not read"},
    {"erf", "launch_distribution: packed\n", "rank 0 is not placed"},
    {"slots", "cn0 slots=2\ncn9 slots=2\n", ":2: host 'cn9' is not in machine small"},
    {"slots", "cn0 slots=2\ncn0 slots=2\n", ":2: host 'cn0' again"},
    {"slots", "cn0 slots=2\ncn1 slots=3\n", ":2: more slots than the 4 ranks"},
    {"slots", "cn0 slots=0\n", ":1: slots: '0' is out of range"},
    {"slots", "cn0:2\n", ":1: expected HOST slots=N"},
    {"slots", "cn0 slots=2 max_slots=2\n", ":1: expected HOST slots=N"},
    {"kueue", "{\"levels\": [\"h\"], \"domains\": [{\"values\": [\"cn9\"], \"count\": 4}]}",
     "host 'cn9' is not in machine"},
    {"kueue", "{\"levels\": [\"h\"], \"domains\": [{\"values\": [\"cn0\"], \"count\": 5}]}",
     "domains[0]: more pods than"},
    {"kueue", "{\"levels\": [\"h\"], \"domains\": [{\"values\": [\"r\", \"cn0\"], \"count\": 2}]}",
     "values, one a level"},
    {"kueue", "{\"levels\": [\"r\", \"h\"], \"domains\": [{\"values\": [\"r\", \"cn0\"], \"count\": 2}]}",
     "rank 2 is not placed"},
    {"kueue", "{\"levels\": [\"h\"], \"slices\": []}",
     "(expected the topologyAssignment of a workload of API v1beta1)"},
    {"kueue", "{", "not JSON"},
    {"lsf", "{(0,1)(2)}", "rank 3 is not placed"},
    {"lsf", "{(0,1)(1,3)}", ":1: rank 1 is placed twice"},
    {"lsf", "{(0,1)(2,3)", "the geometry ends without its }"},
    {"lsf", "(0,1)", "'(' is not expected here"},
    {"lsf", "{(0,,1)}", "',' is not expected here"},
    {"lsf", "{(0)(1)(2)(3)} 4", "'4' is not expected here"},
    {"json", "{\"ranks\": [{\"rank\": 0, \"node\": 9, \"slot\": 0}]}", "ranks[0]: node 9 is not among the 8 nodes"},
    {"json", "{\"ranks\": [{\"rank\": 0, \"node\": 1}]}", "ranks[0] has no whole numbers"},
    {"json", "{\"ranks\": 4}", "no list ranks"},
    {"json", "[", "not JSON"},
};

static void test_reader_refusals(void)
{
    struct job j;
    char path[64];
    if (!open_job(&j, FC_TEST_NAMED, "stencil2d:grid=2x2,bytes=1KiB", NULL, 0, "def")) return;
    for (size_t i = 0; i < FC_COUNT(unreadable); i++) {
        struct fc_mapping m = {0};
        struct fc_status st = {0};
        temporary(path, unreadable[i].text);
        CU_ASSERT_NOT_EQUAL(fc_launch_read(&j.problem, fc_launcher_find(unreadable[i].format), path, &m, &st), FC_OK);
        CU_ASSERT(fc_says(&st, FC_INPUT, unreadable[i].what));
        CU_ASSERT(fc_says(&st, FC_INPUT, path));
        fc_mapping_free(&m);
        unlink(path);
    }
    close_job(&j);
}

/* Any bytes: an answer or a refusal, never a crash (the tests run under sanitizers). */
static void test_fuzz(void)
{
    static const char signs[] = "cn0123456789[]()-,*:{}= \n+#\"rank";
    struct job j;
    char path[64];
    struct fc_status st;
    if (!open_job(&j, FC_TEST_NAMED, "stencil2d:grid=2x3,bytes=1KiB", NULL, 0, "def")) return;
    temporary(path, "");
    uint64_t draw = 0;
    for (int f = 0; fc_launcher_formats[f]; f++) {
        char *good = written(&j.launch, fc_launcher_formats[f]->name, &st);
        CU_ASSERT_PTR_NOT_NULL_FATAL(good);
        size_t size = strlen(good);
        for (int i = 0; i < 150 && !fc_launcher_formats[f]->needs_writer; i++) {
            struct fc_mapping m = {0};
            FILE *stream = fopen(path, "w");
            size_t cut = i % 5 == 0 ? fc_random_below(11, 2, draw++, size) : size;
            for (size_t at = 0; at < cut; at++) {
                bool change = fc_random_below(11, 3, draw++, size) < 2;
                fputc(change ? signs[fc_random_below(11, 4, draw++, sizeof signs - 1)] : good[at], stream);
            }
            fclose(stream);
            st = (struct fc_status){0};
            enum fc_code code = fc_launch_read(&j.problem, fc_launcher_formats[f], path, &m, &st);
            CU_ASSERT(code == FC_OK || (code == FC_INPUT && st.message[0]));
            fc_mapping_free(&m);
        }
        free(good);
    }
    unlink(path);
    close_job(&j);
}

/* No strategy is under the bound. */
static void test_bound(void)
{
    struct job j;
    struct fc_map_bound bound;
    struct fc_status st = {0};
    if (!open_job(&j, FC_TEST_NAMED, "stencil2d:grid=4x4,bytes=1KiB", NULL, 0, "random")) return;
    CU_ASSERT_EQUAL(fc_mapping_bound(&j.problem, &bound, &st), FC_OK);
    CU_ASSERT(bound.time_s > 0);
    struct fc_load load;
    struct fc_load_summary summary;
    struct fc_load_settings settings = {.threads = 1};
    struct fc_placement placement = {j.mapping.n_tasks, j.mapping.node};
    CU_ASSERT_EQUAL(fc_load_solve(&j.net, &j.demand, &placement, &settings, &load, &st), FC_OK);
    fc_load_summarise(&j.net, &load, &settings, &summary);
    CU_ASSERT(bound.time_s <= summary.max_link_s);
    fc_load_free(&load);
    close_job(&j);
    if (!open_job(&j, FC_TEST_NAMED, "alltoall:bytes=1KiB", NULL, 0, "def")) return;
    CU_ASSERT_EQUAL(fc_mapping_bound(&j.problem, &bound, &st), FC_OK);
    CU_ASSERT(bound.time_s > 0); /* dense traffic too */
    close_job(&j);
}

int suite_launcher(void)
{
    static const CU_TestInfo tests[] = {
        {"the text of every format", test_texts},
        {"coordinates within a partition", test_partition},
        {"mappings that a format cannot say", test_format_refusals},
        {"Cray: 1,023 bytes pass, 1,024 do not", test_pmi_limit},
        {"what is written reads back, in every format", test_read_back},
        {"a wrong writer publishes nothing", test_wrong_writer},
        {"files that are refused", test_reader_refusals},
        {"any bytes are refused or answered", test_fuzz},
        {"the bound", test_bound},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("launcher", tests);
}
