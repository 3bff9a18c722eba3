/* test_graph_files.c - communication graphs from Matrix Market and METIS files: what they mean, and each
 * refusal with its line. */
#include "models/models.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MARKET "%%MatrixMarket matrix coordinate "

/* Writes `text` to a temporary file and reads it as a graph. */
static enum fc_code read_text(const char *text, struct fc_demand *d, struct fc_status *st)
{
    char path[64];
    CU_ASSERT_FATAL(fc_test_file(path, "", text, strlen(text)));
    *st = (struct fc_status){0};
    enum fc_code code = fc_demand_from_graph(path, d, st);
    unlink(path);
    CU_ASSERT_EQUAL(code, st->code);
    CU_ASSERT_STRING_EQUAL(code ? st->file : d->name, path); /* every refusal names the file */
    return code;
}

struct entry {
    uint32_t src, dst;
    double bytes;
};

static void expect(const char *text, uint32_t n_tasks, const struct entry *entries, size_t n)
{
    struct fc_demand d;
    struct fc_status st;
    if (read_text(text, &d, &st)) {
        printf("\n    refused: %s\n", st.message);
        CU_FAIL("a good file is refused");
        return;
    }
    CU_ASSERT(d.n_tasks == n_tasks && d.n_entries == n && d.n_dense == 0 && d.n_grid == 0 && !d.open_loop);
    for (size_t i = 0; i < n && i < d.n_entries; i++) {
        CU_ASSERT(d.src[i] == entries[i].src && d.dst[i] == entries[i].dst && d.bytes[i] == entries[i].bytes);
        CU_ASSERT_EQUAL(d.messages[i], 1);
    }
    fc_demand_free(&d);
}
#define EXPECT(text, n_tasks, ...)                                                                                     \
    do {                                                                                                               \
        static const struct entry entries[] = {__VA_ARGS__};                                                           \
        expect(text, n_tasks, entries, FC_COUNT(entries));                                                             \
    } while (0)

static void test_matrix_market(void)
{
    /* unsorted; the pair (2,1) twice is one message; the diagonal stays in its task; 0 bytes are no message
     */
    EXPECT(MARKET "real general\n% comment\n\n3 3 6\n3 1 5\n2 1 1.5\n1 2 1e3\n% inside\n2 1 2.5\n2 2 7\n1 3 0\n", 3,
           {0, 1, 1000}, {1, 0, 4}, {1, 1, 7}, {2, 0, 5});
    EXPECT(MARKET "integer symmetric\n3 3 3\n2 1 10\r\n3 3 4\r\n3 2 6", 3, {0, 1, 10}, {1, 0, 10}, {1, 2, 6}, {2, 1, 6},
           {2, 2, 4});
    EXPECT(MARKET "pattern symmetric\n3 3 2\n2 1\n3 3\n", 3, {0, 1, 1}, {1, 0, 1}, {2, 2, 1});
    EXPECT(MARKET "pattern general\n2 2 3\n1 2\n1 2\n1 2\n", 2, {0, 1, 3}); /* three times 1 byte */
    EXPECT(MARKET "real symmetric\n2 2 2\n2 1 1.5\n2 1 2\n", 2, {0, 1, 3.5}, {1, 0, 3.5});
    EXPECT("%%MatrixMarket MATRIX Coordinate Pattern General\n4 4 2\n4 1\n1 2\n", 4, {0, 1, 1}, {3, 0, 1});
}

static void test_matrix_market_array(void)
{
    /* values run down the columns: (1,1) (2,1) (3,1) (1,2) ... */
    EXPECT("%%MatrixMarket matrix array real general\n% c\n2 2\n0\n10\n2.5\n7\n", 2, {0, 1, 2.5}, {1, 0, 10},
           {1, 1, 7});
    EXPECT("%%MatrixMarket matrix array integer symmetric\n3 3\n1 2 3\n% inside\n0\n5\n6", 3, {0, 0, 1}, {0, 1, 2},
           {0, 2, 3}, {1, 0, 2}, {1, 2, 5}, {2, 0, 3}, {2, 1, 5}, {2, 2, 6});
}

static void test_dense(void)
{
    /* five numbers are no METIS head */
    EXPECT("0 1 0 0 0\n2.5 0 3 0 0\n\n0 0 0 1e3 0\n0 0 0 4 0\n5 0 0 0 0\n", 5, {0, 1, 1}, {1, 0, 2.5}, {1, 2, 3},
           {2, 3, 1000}, {3, 3, 4}, {4, 0, 5});
}

static void test_metis(void)
{
    EXPECT("% a path of three\n3 2\n2\n1 3\n2\n", 3, {0, 1, 1}, {1, 0, 1}, {1, 2, 1}, {2, 1, 1});
    EXPECT("4 2 001\n3 5 2 7\n1 7\n1 5\n\n", 4, {0, 1, 7}, {0, 2, 5}, {1, 0, 7}, {2, 0, 5}); /* vertex 4 is alone */
    EXPECT("2 1 011 2\n10 20 2 3\n11 21 1 3\n\n\n", 2, {0, 1, 3}, {1, 0, 3});
    EXPECT("2 1 0\n2\n1\n", 2, {0, 1, 1}, {1, 0, 1});
    EXPECT("2 1 1\n% weights\n2 9\n% between\n1 9\n% behind\n", 2, {0, 1, 9}, {1, 0, 9});
    EXPECT("2 1 010\n7 2\n8 1\n", 2, {0, 1, 1}, {1, 0, 1});
    EXPECT("2 1 111\n5 7 2 4\n6 8 1 4\n", 2, {0, 1, 4}, {1, 0, 4});
    EXPECT("2 1 100\n5 2\n6 1\n", 2, {0, 1, 1}, {1, 0, 1});
}

static void test_bytes(void)
{
    struct fc_demand d;
    struct fc_status st;
    CU_ASSERT_EQUAL_FATAL(read_text(MARKET "real general\n2 2 3\n1 1 100\n1 2 30\n2 1 4\n", &d, &st), FC_OK);
    CU_ASSERT_EQUAL(fc_demand_bytes(&d), 34); /* what a task sends itself stays out */
    fc_demand_free(&d);
}

static const struct {
    const char *text, *says;
} wrong[] = {
    {"", "no communication graph"},
    {"%%Nothing\n", "no communication graph"},
    {"name: bgl\n", ":1: no communication graph"},
    {MARKET "real\n", ":1: Matrix Market head"},
    {"%%MatrixMarket matrix list real general\n2 2\n", ":1: Matrix Market head"},
    {"%%MatrixMarket matrix array pattern general\n2 2\n", ":1: an array of type pattern has no values"},
    {"%%MatrixMarket matrix array real general\n2 2 4\n1\n2\n3\n4\n", ":2: the size line is missing"},
    {"%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n", ":5: the file ends after 3 of 4 values"},
    {"%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n5\n", ":7: more than the 4 values"},
    {"%%MatrixMarket matrix array real general\n2 2\n1\n-2\n3\n4\n", ":4: bytes: -2 is negative"},
    {"%%MatrixMarket matrix array integer general\n2 2\n1\n2\n.5\n4\n", ":5: bytes: 0.5 is not whole"},
    {"%%MatrixMarket matrix array real general\n4000000000 4000000000\n1\n", ":2: an array of 4000000000 columns"},
    {"%%MatrixMarket matrix array real general\n2000000000 2000000000\n1\n",
     ":2: 4000000000000000000 entries do not fit"},
    {MARKET "complex general\n2 2 1\n1 2 3 4\n", ":1: values of type 'complex'"},
    {MARKET "real hermitian\n2 2 1\n1 2 3\n", ":1: symmetry 'hermitian'"},
    {MARKET "real general\n% only\n", ":2: the size line is missing"},
    {MARKET "real general\n2 2\n", ":2: the size line is missing"},
    {MARKET "real general\n2 3 1\n1 2 3\n", ":2: 2 rows and 3 columns"},
    {MARKET "real general\n0 0 0\n", ":2: rows: '0' is out of range"},
    {MARKET "real general\n2 2 999999\n1 2 3\n", ":2: 999999 entries do not fit"},
    {MARKET "real general\n2 2 1\n3 1 5\n", ":3: row: '3' is out of range (allowed: 1 to 2)"},
    {MARKET "real general\n2 2 1\n1 0 5\n", ":3: column: '0' is out of range"},
    {MARKET "real general\n2 2 1\n1 2 -5\n", ":3: bytes: -5 is negative"},
    {MARKET "real general\n2 2 1\n1 2 nan\n", ":3: bytes: 'nan' is not a number"},
    {MARKET "real general\n2 2 1\n1 2\n", ":3: an entry has 3 numbers"},
    {MARKET "pattern general\n2 2 1\n1 2 3\n", ":3: an entry has 2 numbers"},
    {MARKET "real general\n2 2 1\n1 2 3\n2 1 3\n", ":4: more than the 1 entries"},
    {MARKET "real general\n2 2 2\n1 2 3\n", ":3: the file ends after 1 of 2 entries"},
    {MARKET "real symmetric\n2 2 1\n1 2 3\n", ":3: entry (1, 2) lies above the diagonal"},
    {"3\n", ":1: no communication graph"},
    {"3 2 1 1 1\n", "the file ends after 1 of 5 lines of 5 numbers"},
    {"0 1 2 3 4\n1 0 1 1\n1 1 0 1 1\n", ":2: line 2 of the matrix has 4 numbers (expected 5"},
    {"0 1 2 3 4\n1 0 1 1 1 1\n1 1 0 1 1\n", ":2: line 2 of the matrix has more than 5 numbers"},
    {"0 1 2 3 -4\n", ":1: bytes: -4 is negative"},
    {"0 1 2 3 4\n0 1 x 3 4\n", ":2: bytes: 'x' is not a number"},
    {"0 1 2 3 4\n\n0 1 2 3 4\n0 1 2 3 4\n0 1 2 3 4\n0 1 2 3 4\n0 1 2 3 4\n", ":7: more than 5 lines"},
    {"-3 2\n", ":1: vertices of a METIS graph"},
    {"2 1 2\n2\n1\n", ":1: fmt: '2'"},
    {"2 1 001 3\n2 1\n1 1\n", ":1: ncon is given"},
    {"2 1000000\n2\n1\n", ":1: 2 vertices and 1000000 edges do not fit"},
    {"3 2\n2\n1 4\n2\n", ":3: neighbour: '4' is out of range (allowed: 1 to 3)"},
    {"3 2\n2 1\n1 3\n2\n", ":2: vertex 1 is its own neighbour"},
    {"2 1 1\n2\n1 5\n", ":2: the edge to 2 has no weight"},
    {"2 1 1\n2 0\n1 0\n", ":2: edge weight: '0' is out of range"},
    {"2 1 010\n\n1 1\n", ":2: the vertex has 0 of its 1 sizes and weights"},
    {"3 1\n2\n1 3\n2\n", ":3: more edges than the 1 announced"},
    {"3 3\n2\n1 3\n2\n", "4 neighbours are listed (expected 6"},
    {"3 2\n2\n1 3\n", ":3: the file ends after 2 of 3 vertices"},
    {"2 1\n2\n1\n\n7\n", ":5: more lines than the 2 vertices"},
    {"3 2\n2 3\n1\n2\n", ":2: vertex 1 lists neighbour 3, which does not list it"},
    {"3 2\n2\n3\n1 2\n", ":2: vertex 1 lists neighbour 2, which does not list it"},
    {"4 1\n4\n\n2\n\n", ":2: vertex 1 lists neighbour 4, which does not list it"},
    {"4 1\n\n3\n\n1\n", ":5: vertex 4 lists neighbour 1, which does not list it"},
    {"3 2\n2 2\n1 1\n\n", ":2: neighbour 2 is listed twice"},
    {"2 1 1\n2 5\n1 6\n", ":3: edge 1-2 weighs 6 here and 5 at line 2"},
    {"2 1 1\n2 -5\n1 -5\n", ":2: edge weight: '-5'"},
    {"2 1 1\n2 1.5\n1 1.5\n", ":2: edge weight: '1.5'"},
    {"2 1 010\n-1 2\n1 1\n", ":2: vertex weight: '-1'"},
    {"0 0\n", ":1: vertices of a METIS graph: '0' is out of range"},
    {"2 -1\n\n\n", ":1: edges of a METIS graph: '-1'"},
    {"2 1 0001\n2\n1\n", ":1: fmt: '0001'"},
    {"2 1\n0\n1\n", ":2: neighbour: '0' is out of range"},
    {"2 1\n% comment\n2\nx\n", ":4: neighbour: 'x'"},
    {"% only a comment\n", "no communication graph"},
    {"\n", "no communication graph"},
    {"task,bytes\n1,2\n", ":1: no communication graph"},
    {"\x7f"
     "ELF \x01 \x02\n",
     ":1: no communication graph"},
    {MARKET "real general\n2 2 1\n1 2 inf\n", ":3: bytes: 'inf' is not a number"},
    {MARKET "real general\n2 2 1\n1 2 x\n", ":3: bytes: 'x' is not a number"},
    {MARKET "real general\n2 2 1\n1.5 2 1\n", ":3: row: '1.5'"},
    {MARKET "real general\n2 2 -1\n", ":2: entries: '-1'"},
    {MARKET "real general\n2 2 1\n% c\n\n1 2 -0.5\n", ":5: bytes: -0.5 is negative"},
    {MARKET "integer general\n2 2 1\n1 2 1.5\n", ":3: bytes: 1.5 is not whole"},
    {MARKET "real general\n2 2 2\n1 2 1e308\n1 2 1e308\n", ":4: the entries of (1, 2) sum to more bytes"},
};

static void test_refusals(void)
{
    for (size_t i = 0; i < FC_COUNT(wrong); i++) {
        struct fc_demand d;
        struct fc_status st;
        enum fc_code code = read_text(wrong[i].text, &d, &st);
        if (code == FC_OK) fc_demand_free(&d);
        CU_ASSERT(fc_says(&st, FC_INPUT, wrong[i].says));
    }
    struct fc_demand d;
    struct fc_status st = {0};
    CU_ASSERT_EQUAL(fc_demand_from_graph("/nowhere/g.mtx", &d, &st), FC_INPUT);
    CU_ASSERT(fc_says(&st, FC_INPUT, "/nowhere/g.mtx: cannot be read"));
    st = (struct fc_status){0};
    CU_ASSERT_EQUAL(fc_demand_from_graph("tests", &d, &st), FC_INPUT); /* a directory */
    CU_ASSERT(fc_says(&st, FC_INPUT, "tests: "));
    CU_ASSERT(d.n_tasks == 0 && d.src == NULL);
}

int suite_graph_files(void)
{
    static const CU_TestInfo tests[] = {
        {"Matrix Market", test_matrix_market},
        {"Matrix Market array", test_matrix_market_array},
        {"dense matrix", test_dense},
        {"METIS", test_metis},
        {"bytes between tasks", test_bytes},
        {"refusals with their lines", test_refusals},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("graph files", tests);
}
