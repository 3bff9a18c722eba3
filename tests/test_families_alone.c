/* test_families_alone.c - a family's or routing's name is spelt in files of that family alone; and things are added as
 * docs/adding.md says, one file and one line each (adding.sh). */
#include "models/models.h"
#include "tests/tests.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Files that are a family's, a routing's or a rule's own begin so. */
static const char *const own[] = {"family_", "routing_", "cdg_", "vc_", "route_", "generate_", "recognise_"};

/* What else has one of the words in quotes, and for what. All else that a file has is an error. */
static const struct {
    const char *file, *word;
} other[] = {
    {"solvers/calibration/bulk.h", "graph"},              /* a kind of phase: whoever sends to whom */
    {"models/network.h", "torus"},                        /* an example in a comment */
    {"models/machine.c", "ugal"},                         /* a section of the router's, for those that can do it */
    {"mapping/place/place_traffic.c", "dimension-order"}, /* how packets turn on a chip: place --turns */
    {"cli/cmd_place.c", "dimension-order"},               /* the same */
    {"reproduce/percs.c", "direct"},                      /* a paper's setting */
    {"reproduce/percs.c", "indirect"},                    /* the same */
    {"reproduce/tmesh.c", "mesh"},                        /* a class of links */
    {"traces/trace_head.c", "graph"},                     /* a key of our trace format */
    {"cli/trace_info.c", "graph"},                        /* the same, in JSON */
    {"answer/job_set.c", "graph"},                        /* a kind of job */
    {"cli/option_rules.c", "graph"},                      /* the same */
    {"cli/option_table.c", "graph"},                      /* --graph */
    {"cli/cmd_list.c", "graph"},                          /* a kind of file format */
};
static bool used[FC_COUNT(other)];

static bool is_own(const char *path)
{
    const char *name = strrchr(path, '/') + 1;
    for (size_t i = 0; i < FC_COUNT(own); i++)
        if (!strncmp(name, own[i], strlen(own[i]))) return true;
    return false;
}

static void look_for(const char *word, const char *path, long number, const char *line)
{
    char quoted[80];
    snprintf(quoted, sizeof quoted, "\"%s\"", word);
    if (!strstr(line, quoted)) return;
    for (size_t i = 0; i < FC_COUNT(other); i++)
        if (!strcmp(other[i].file, path) && !strcmp(other[i].word, word)) {
            used[i] = true;
            return;
        }
    CU_FAIL("a name that only its family should know");
    printf("\n    %s:%ld: %s", path, number, line);
}

static long read_source(const char *path)
{
    char line[1024];
    FILE *in = fopen(path, "r");
    long number = 0;
    CU_ASSERT_PTR_NOT_NULL_FATAL(in);
    while (fgets(line, sizeof line, in)) {
        number++;
        for (const struct fc_family_ops *const *f = fc_families; *f; f++) look_for((*f)->name, path, number, line);
        for (const struct fc_routing_ops *const *r = fc_routings; *r; r++) look_for((*r)->name, path, number, line);
    }
    fclose(in);
    return number;
}

static void names_in_their_own_files(void)
{
    char path[512];
    long files = 0, lines = 0;
    FILE *list = popen("find core models traces solvers mapping plots answer library reproduce sweep cli "
                       "-name '*.[ch]' | sort",
                       "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(list);
    while (fgets(path, sizeof path, list)) {
        path[strcspn(path, "\n")] = '\0';
        if (is_own(path)) continue;
        files++;
        lines += read_source(path);
    }
    CU_ASSERT_EQUAL(pclose(list), 0);
    CU_ASSERT(files > 300 && lines > 40000);
    for (size_t i = 0; i < FC_COUNT(other); i++) {
        if (used[i]) continue;
        CU_FAIL("an exception that is none any more");
        printf("\n    %s: \"%s\"", other[i].file, other[i].word);
    }
}

/* ---- adding ---- */

/* What the program with the new things answers, in this order; two blanks stand for two or more. */
static const char *const answers[] = {
    "$ fabricast list families",
    "hyperx  dims: [4, 4]; class: hyperx",
    "$ fabricast list routings",
    "reverse-order (mesh)  the last dimension first",
    "dimension-order (hyperx)  one hop in each dimension, x first",
    "$ fabricast list patterns",
    "shift  node s sends to node s + by: by=1, bytes=1MiB",
    "$ fabricast list strategies",
    "backwards  the last task on the first core",
    "$ fabricast list collectives",
    "backwards (bcast)",
    "$ fabricast list formats",
    "pairs (trace, read)  a line a message",
    "$ fabricast list figures",
    "hyperx-diameter  hops of the longest way",
    /* 31/32 of the bytes leave a node, half a byte crosses each of the links; 3/2 hops, of which a node makes none
     * to itself */
    "$ fabricast load -m ./hyperx-4x4.yaml -p uniform",
    "hyperx  96  96  0.5 B  0.5 B  0.5 B",
    "injection  64  64  0.9688 B",
    "(1.548 hops a byte)",
    "$ fabricast load -m ./hyperx-4x4.yaml -p shift:by=5",
    "shift:by=5, 32 tasks, 33.55 MB between nodes",
    "$ fabricast certify -m ./hyperx-4x4.yaml",
    "rule  walked",
    "free of deadlock: acyclic",
    /* One hop in x for 3 of 4 routers, one in x and one in y for the last: 5/4 */
    "$ fabricast flit -m ./hyperx-4x4.yaml -p shift:by=2",
    "rule walked, 2 virtual channels",
    "answer  stable",
    "hops  1.2",
    "links between routers",
    "$ fabricast flit -m ./hyperx-4x4.yaml -p uniform",
    "answer  stable",
    "hops  1.",
    "links between routers",
    "$ fabricast calibrate -m ./hyperx-4x4.yaml",
    "dims [4, 4], nodes_per_router 2",
    "$ fabricast predict -m ./hyperx-4x4.yaml -p alltoall",
    "bound  62 us",
    "bottleneck",
    "$ fabricast predict -m ./hyperx-4x4.yaml -t four.txt",
    "hyperx-4x4  def",
    "hyperx-4x4  backwards",
    "$ fabricast predict -m ./hyperx-4x4.yaml -t",
    "--collectives bcast=backwards",
    "routing dimension-order",
    "of peak",
    "$ fabricast load",
    "--routing reverse-order",
    "routing reverse-order (path walk)",
    "x+ (0,0)->(1,0)  3.146 MB",
    "$ fabricast certify",
    "rule  walked on routing reverse-order",
    "free of deadlock: acyclic",
    "$ fabricast flit",
    "routing reverse-order, rule walked",
    "answer  stable",
    "$ fabricast certify",
    "CAN DEADLOCK",
    "status 1",
    "$ fabricast list collectives --members 8",
    "bcast  backwards  28.16 us", /* 7 (o + L + o + 1023 G) */
    "$ fabricast reproduce hyperx-diameter",
    "two dimensions  2  2  hops",
    "1 inside, 0 outside",
    "done",
};

/* Where `part` is in the text, runs of blanks taken for two blanks at most; NULL: nowhere. */
static const char *find(const char *text, const char *part)
{
    for (; *text; text++) {
        const char *a = text, *b = part;
        for (; *b; b++) {
            if (b[0] == ' ' && b[1] == ' ') {
                if (a[0] != ' ' || a[1] != ' ') break;
                while (*a == ' ') a++;
                b++;
            } else if (*a++ != *b) {
                break;
            }
        }
        if (!*b) return a;
    }
    return NULL;
}

static void one_file_and_one_line_each(void)
{
    static char text[1 << 16];
    FILE *out = popen("tests/adding.sh obj/test 2>&1", "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    text[fread(text, 1, sizeof text - 1, out)] = '\0';
    CU_ASSERT_EQUAL(pclose(out), 0);
    const char *at = text;
    for (size_t i = 0; at && i < FC_COUNT(answers); i++) {
        const char *next = find(at, answers[i]);
        if (!next) {
            CU_FAIL("a new thing does not answer");
            printf("\n    not found: %s\n    in: %s", answers[i], at);
        }
        at = next;
    }
    CU_ASSERT(strncmp(text, "$ ", 2) == 0); /* nothing was amiss before the first command */
}

static const CU_TestInfo tests[] = {
    {"names in their own files", names_in_their_own_files},
    {"one file and one line each", one_file_and_one_line_each},
    CU_TEST_INFO_NULL,
};

int suite_families_alone(void)
{
    return fc_add_suite("families alone", tests);
}
