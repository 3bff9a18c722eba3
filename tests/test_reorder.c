/* test_reorder.c - libfabricast-reorder.so under each MPI that is there: tests/mpi/grid asks for new ranks on hosts that
 * tests/mpi/hosts.c makes up, four nodes of a ring with two ranks each. The graph is a grid of 2 x 4, in which rank r and r + 4
 * exchange most: on this machine every placement that does not put them on one node is slower. */
#include "tests/capture_world.h"

#define PAIRED "h0 h0 h2 h2 h4 h4 h6 h6"
#define SINGLE "h0 h1 h2 h3 h4 h5 h6 h7"
#define UNEVEN "h0 h1 h2 h2 h3 h4 h5 h6"

/* The built files: obj, or obj/test for the checked ones. */
static void built(const char *name, char *path, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    path[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(path, '/');
    CU_ASSERT_PTR_NOT_NULL_FATAL(slash);
    snprintf(slash, size - (size_t)(slash - path), "/%s", name);
}

static void write_text(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fputs(text, file);
    fclose(file);
}

static char *read_text(const char *name, char *text, size_t size)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "r");
    size_t n = file ? fread(text, 1, size - 1, file) : 0;
    text[n] = '\0';
    if (file) fclose(file);
    return text;
}

static char sanitizer[256];

/* Hosts, ranks that sleep while they wait for the one that asks, machine, mapping (half of the ring the other way round).
 * MPICH's `use mpi` calls C by its MPI names, so it has no test of its own. */
static bool prepared(const char *compiler, const char *options, const char *source, const char *program)
{
    char command[256], library[512];
    built("../libfabricast-reorder.so", library, sizeof library);
    if (access(library, R_OK)) return skip("libfabricast-reorder.so is not built");
    if (!compile(compiler, options, source, program)) return false;
    if (*sanitizer) return true;
    snprintf(
        command, sizeof command,
        "cd tests/mpi && gcc -shared -fPIC -o %s/hosts.so hosts.c && gcc -shared -fPIC -DNAP_NS=500000 -o %s/sleep.so yield.c",
        directory, directory);
    CU_ASSERT_EQUAL_FATAL(system(command), 0);
    FILE *found = popen("gcc -print-file-name=libasan.so", "r");
    CU_ASSERT_FATAL(found && fgets(sanitizer, sizeof sanitizer, found));
    pclose(found);
    sanitizer[strcspn(sanitizer, "\n")] = '\0';
    char edges[1024] = "";
    for (int i = 0; i < 8; i++)
        snprintf(edges + strlen(edges), sizeof edges - strlen(edges),
                 "router s%d node h%d 40 MB/s\nrouter s%d router s%d 10 MB/s\n", i, i, i, (i + 1) % 8);
    write_text("edges", edges);
    write_text("ring.yaml", "name: ring\nnetwork: {family: graph, file: edges, format: edge-list}\nlinks: {injection: "
                            "{latency: 0 s}}\nnode: {cores: 2}\n");
    write_text("map", "0\n2\n4\n6\n14\n12\n10\n8\n");
    return true;
}

/* What the ranks print, and the log. */
static struct {
    char out[4096], log[8192];
} got;

/* As many ranks as hosts, with these settings ("NAME=VALUE ...", $D: the directory). */
static void run(const char *hosts, const char *settings, const char *program)
{
    char command[2048], runs[160], picks[512], checked[512];
    int n = 1;
    for (const char *at = hosts; (at = strchr(at, ' ')); at++) n++;
    built("../libfabricast-reorder.so", picks, sizeof picks);
    built("libfabricast.so.0", checked, sizeof checked);
    write_text("log", "");
    /* The library is the checked one: rank 0, which loads it, must have its sanitizer. */
    snprintf(
        command, sizeof command,
        "export D=%s; %s env FABRICAST_MACHINE=$D/ring.yaml FABRICAST_LIBRARY=%s FABRICAST_REORDER_LOG=$D/log TEST_HOSTS='%s' "
        "ASAN_OPTIONS=detect_leaks=0 %s sh -c 'asan=; [ ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} != 0 ] || asan=%s; "
        "LD_PRELOAD=$asan:%s:$D/hosts.so:$D/sleep.so%s exec %s/%s' >$D/out 2>&1",
        directory, mpirun(n, runs, sizeof runs), checked, hosts, settings, sanitizer, picks,
        is_openmpi() ? "" : ":$D/yield.so", programs(), program);
    CU_ASSERT_EQUAL(system(command), 0);
    read_text("out", got.out, sizeof got.out);
    read_text("log", got.log, sizeof got.log);
}

/* A line of the output. */
static bool printed(const char *line)
{
    const char *at = strstr(got.out, line);
    bool found = at && (at == got.out || at[-1] == '\n') && strchr("\n ", at[strlen(line)]);
    if (!found) printf("\n    no '%s' in '%s', log '%s'", line, got.out, got.log);
    return found;
}

static bool logged(const char *part)
{
    bool found = strstr(got.log, part) != NULL;
    if (!found) printf("\n    no '%s' in the log '%s'", part, got.log);
    return found;
}

/* As many lines, each with its part (which may hold the line's end). */
static void lines_are(const char *text, const char *const *part, size_t n)
{
    size_t lines = 0;
    for (const char *at = text, *end; (end = strchr(at, '\n')); at = end + 1, lines++) {
        const char *found = lines < n ? strstr(at, part[lines]) : NULL;
        CU_ASSERT(found && found <= end);
        if (!found || found > end) printf("\n    line %zu of '%s'", lines + 1, text);
    }
    CU_ASSERT_EQUAL(lines, n);
}

#define KEPT " 0>0 1>1 2>2 3>3 4>4 5>5 6>6 7>7"

/* Of the last line "cart 0>4 1>0 ...": r and r + 4 are on one of the paired hosts, each number once. */
static bool is_paired(const char *what)
{
    const char *at = NULL;
    for (const char *next = got.out; (next = strstr(next, what)); next++) at = next;
    int node[8] = {-1, -1, -1, -1, -1, -1, -1, -1}, old, new, length;
    for (at = at ? at + strlen(what) : ""; sscanf(at, " %d>%d%n", &old, &new, &length) == 2; at += length)
        if (new >= 0 && new < 8 && node[new] < 0) node[new] = old / 2;
    for (int r = 0; r < 4; r++)
        if (node[r] < 0 || node[r] != node[r + 4]) return false;
    return *at == '\n';
}

/* ---- tests ---- */

/* In one start, the same under each MPI: never, a gain within the error, always, a mapping file, then the calls in turn.
 * Settings count when a call is made; `world` sends a message a rank over MPI_COMM_WORLD, which counts from the first call on
 * that reordered. */
static void test_placed(void)
{
    static char before[sizeof got.out];
    static const char *const lines[] = {
        "cart" KEPT "\n", "world" KEPT "\n", "cart" KEPT "\n", "world ",    "cart 0>0 1>1 2>2 3>3 4>7 5>6 6>5 7>4\n",
        "cart ",          "graph ",          "dist ",          "adjacent ", " 7>-\n"};
    static const char *const logs[] = {"kept, ",
                                       "reordered, ",
                                       "reordered by the mapping, 4 ranks have other numbers",
                                       "MPI_Cart_create of 8 ranks on 4 hosts: reordered, ",
                                       "MPI_Graph_create of 8 ranks on 4 hosts: reordered, ",
                                       "MPI_Dist_graph_create of 8 ranks on 4 hosts: reordered, ",
                                       "MPI_Dist_graph_create_adjacent of 8 ranks on 4 hosts: reordered, ",
                                       "MPI_Cart_create of 7 ranks on 4 hosts: kept, 0 ranks",
                                       "warning: 8 messages or probes on MPI_COMM_WORLD"};
    static const char kept[] = "cart" KEPT "\nworld" KEPT "\ncart" KEPT "\nworld";
    if (!prepared("mpicc", "-Wall", "grid.c", "grid")) return;
    run(UNEVEN, "FABRICAST_REORDER=never",
        "grid cart world FABRICAST_REORDER= cart FABRICAST_REORDER=always world "
        "\"TEST_HOSTS=" SINGLE "\" FABRICAST_REORDER=$D/map cart "
        "\"TEST_HOSTS=" PAIRED "\" FABRICAST_REORDER= cart graph dist adjacent part");
    lines_are(got.out, lines, FC_COUNT(lines));
    lines_are(got.log, logs, FC_COUNT(logs));
    CU_ASSERT(logged("not more than the error"));
    CU_ASSERT(!strncmp(got.out, kept, strlen(kept)) && strncmp(got.out + strlen(kept), KEPT "\n", strlen(KEPT "\n")));
    CU_ASSERT(is_paired("\ncart"));
    CU_ASSERT(is_paired("\ndist"));
    CU_ASSERT(is_paired("\nadjacent"));
    CU_ASSERT(!strstr(got.out, "wrong"));
    if (*before) CU_ASSERT_STRING_EQUAL(got.out, before);
    memcpy(before, got.out, sizeof before);
}

/* Each leaves the call as it was, with one line in the log. */
static void test_failures(void)
{
    if (!prepared("mpicc", "-Wall", "grid.c", "grid")) return;
    write_text("short", "0\n");
    write_text("other", "2\n3\n");
    run("h0 h1", "",
        "grid FABRICAST_LIBRARY=$D/none.so cart FABRICAST_LIBRARY=$FABRICAST_LIBRARY FABRICAST_MACHINE= cart "
        "FABRICAST_MACHINE=$D/none.yaml cart FABRICAST_MACHINE=$D/ring.yaml FABRICAST_REORDER_BYTES=64k cart "
        "FABRICAST_REORDER_BYTES= FABRICAST_REORDER=$D/short cart FABRICAST_REORDER=$D/other cart FABRICAST_REORDER= "
        "\"TEST_HOSTS=h0 cn9\" cart \"TEST_HOSTS=h0 h0\" cart");
    const char *why[] = {"no library to ask",
                         "FABRICAST_MACHINE names no machine",
                         "none.yaml: cannot be read",
                         "FABRICAST_REORDER_BYTES is '64k'",
                         "short: ",
                         "puts rank 1 on node 1, where the job has 1 ranks",
                         "host 'cn9' is not in machine ring (it has h0 to h7)",
                         "all ranks are on one host"};
    const char *kept[FC_COUNT(why)];
    for (size_t i = 0; i < FC_COUNT(why); i++) kept[i] = "cart 0>0 1>1\n";
    lines_are(got.out, kept, FC_COUNT(kept));
    lines_are(got.log, why, FC_COUNT(why));
    size_t n = 0;
    for (const char *at = got.log; (at = strstr(at, "untouched: ")); at++) n++;
    CU_ASSERT_EQUAL(n, FC_COUNT(why));
}

/* MPI_COMM_WORLD: rank r is on the host of the mapping's line r in all that is asked, and the count of messages is of those
 * after a topology call only. */
static void test_world(void)
{
    if (!prepared("mpicc", "-Wall", "grid.c", "grid")) return;
    write_text("swapped", "0\n6\n4\n2\n");
    run("h0 h1 h2 h3", "FABRICAST_REORDER=never FABRICAST_MAP=$D/swapped", "grid none cart world");
    CU_ASSERT(printed("none 0>0 3>1 2>2 1>3"));
    CU_ASSERT(printed("cart 0>0 3>1 2>2 1>3"));
    CU_ASSERT(!strstr(got.out, "wrong") && !strstr(got.log, "warning"));
    CU_ASSERT(logged("MPI_COMM_WORLD of 4 ranks on 4 hosts: renumbered by ") && logged("swapped, 2 ranks"));
}

/* Ranks of the new communicator in the order of those of MPI_COMM_WORLD, which the mapping has turned round but for the
 * first two (rank 0 loads the checked library): a node has r and r + 3. */
static void expect_fortran(const char *program)
{
    int r[6] = {0};
    write_text("turned", "8\n9\n13\n12\n11\n10\n");
    run("h4 h4 h5 h5 h6 h6", "FABRICAST_MAP=$D/turned", program);
    const char *at = strstr(got.out, "cart");
    CU_ASSERT_PTR_NOT_NULL_FATAL(at);
    CU_ASSERT_EQUAL(sscanf(at + 4, "%d %d %d %d %d %d", &r[0], &r[1], &r[2], &r[3], &r[4], &r[5]), 6);
    for (int i = 0; i < 6; i += 2) CU_ASSERT_EQUAL(abs(r[i] - r[i + 1]), 3);
    CU_ASSERT(strstr(got.out, "adjacent") && !strstr(got.out, "wrong"));
    CU_ASSERT(logged("MPI_COMM_WORLD of 6 ranks on 3 hosts: renumbered by "));
    CU_ASSERT(logged("MPI_Cart_create of 6 ranks on 3 hosts: reordered, "));
    CU_ASSERT(logged("MPI_Dist_graph_create_adjacent of 6 ranks on 3 hosts: "));
}

static void test_fortran(void)
{
    if (prepared("mpif90", "", "grid.F90", "grid-mpi")) expect_fortran("grid-mpi");
}

static void test_fortran_2008(void)
{
    if (prepared("mpif90", "-DF08", "grid.F90", "grid-f08")) expect_fortran("grid-f08");
}

UNDER_MPICH(test_placed)
UNDER_MPICH(test_world)
UNDER_MPICH(test_fortran_2008)

int suite_reorder(void)
{
    static const CU_TestInfo tests[] = {{"topology calls, by each setting; messages by old ranks", test_placed},
                                        {"MPI_COMM_WORLD by a mapping", test_world},
                                        {"Fortran (use mpi)", test_fortran},
                                        {"Fortran (use mpi_f08)", test_fortran_2008},
                                        {"whatever fails leaves the job untouched", test_failures},
                                        {"MPICH: topology calls", test_placed_mpich},
                                        {"MPICH: MPI_COMM_WORLD by a mapping", test_world_mpich},
                                        {"MPICH: Fortran (use mpi_f08)", test_fortran_2008_mpich},
                                        CU_TEST_INFO_NULL};
    return fc_add_suite_between("library reorder", make_directory, remove_directory, tests);
}
