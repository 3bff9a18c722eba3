/* test_calibration_file.c - calibration files: what is read and written again is the same, every wrong file
 * is refused with its line, the file beside a machine file. */
#include "tests/calibration_world.h"

/* ---- the file ---- */

/* Writes the calibration of the world to a new file. */
static char *written(struct world *w, const char *path)
{
    struct fc_calibration c;
    struct fc_status st = {0};
    if (!open_world(w)) return NULL;
    w->list[1]->out->pattern = "permutation:seed=3,bytes=\"\\1\"";
    w->list[2]->out->points[1].half_width_cycles = NAN;
    if (!plain(w, &c)) return NULL;
    CU_ASSERT_EQUAL(fc_calibration_write(&c, path, &st), FC_OK);
    fc_calibration_free(&c);
    return text_of_file(path);
}

static void test_round_trip(void)
{
    char one[256], two[256];
    struct world w;
    struct fc_calibration c;
    struct fc_status st = {0};
    char *first = written(&w, path_in(one, sizeof one, "one"));
    if (first) {
        CU_ASSERT_EQUAL(fc_calibration_read(one, &c, &st), FC_OK);
        if (st.code) printf("\n    %s:%ld: %s\n", st.file, st.line, st.message);
        if (!st.code) {
            CU_ASSERT_STRING_EQUAL(c.cases[1].pattern, "permutation:seed=3,bytes=\"\\1\"");
            CU_ASSERT(isnan(c.cases[2].points[1].half_width_cycles));
            CU_ASSERT_EQUAL(c.seed, 7);
            CU_ASSERT_EQUAL(fc_calibration_write(&c, path_in(two, sizeof two, "two"), &st), FC_OK);
            char *second = text_of_file(two);
            CU_ASSERT_STRING_EQUAL(first, second);
            free(second);
            remove(two);
            fc_calibration_free(&c);
        }
    }
    free(first);
    remove(one);
    close_world(&w);
}

/* The first `find` of a good file becomes `put`; `line` is that of the place, 0: not told. */
static const struct edit {
    const char *find, *put;
    long line;
    const char *part;
} edits[] = {
    {"machine: \"a\"", "machine: [a]", 2, "machine: expected one value"},
    {"machine: \"a\"\n", "", 2, "calibration: machine is missing"},
    {"machine: \"a\"", "machina: \"a\"", 2, "unknown key 'machina' (did you mean 'machine'?"},
    {"machine: \"a\"", "machine: \"a\"\nmachine: \"a\"", 3, "machine: given twice"},
    {"seed: 7", "seed: -7", 5, "seed: '-7' is out of range"},
    {"seed: 7", "seed: many", 5, "seed: 'many' is not an integer"},
    {"hops_run: 12345678", "hops_run: null", 6, "hops_run:"},
    {"contention: {value: ", "contention: {value: 9", 8, "contention: "},
    {"contention: {value: ", "contention: {valu: ", 8, "unknown key 'valu'"},
    {"  choice: {", "  chance: {", 12, "unknown key 'chance'"},
    {"  hops: [", "  hops: [9", 15, "hops: "},
    {"  hops: [", "  hops: [1, ", 15, "hops: expected a list of 2 numbers"},
    {"  flits: [1, 8]", "  flits: one", 17, "flits: expected a list of 2 numbers"},
    {"  flits: [1, 8]", "  flits: [1, many]", 17, "flits: 'many'"},
    {"  hops_step: ", "  hops_step: -", 19, "hops_step: "},
    {"  left_out: network", "  left_out: node", 21, "left_out: 'node' is not known"},
    {"  residual: ", "  residual: -", 22, "residual: "},
    {"  at_load_share: [0, ", "  at_load_share: [", 30, "at_load_share: expected a list of 10 numbers"},
    {"    nodes: 25", "    nodes: 0", 71, "nodes: '0' is out of range"},
    {"    flits: [1, 1]", "    flits: [2, 1]", 72, "flits: 2 to 1 is no packet length"},
    {"    fitted: true", "    fitted: maybe", 81, "fitted: 'maybe' is neither true nor false"},
    {"      - at: [0.5, ", "      - at: [0.2, ", 87, "points: share 0.2 of saturation (expected ascending"},
    {"      - at: [0.3, ", "      - at: [0.3, 0, ", 86, "at: expected a list of 4 numbers"},
    {"      - at: [0.9, ", "      - at: [1.9, ", 90, "points: share 1.9"},
    {"      - at: [0.3, ", "      - on: [0.3, ", 86, "unknown key 'on'"},
    {"    points: ", "    points: 3 ", 86, "not YAML: "},
    {"hull: ", "hull: 3 ", 15, "not YAML: "},
    {"cases:\n", "cases: []\nrest:\n", 69, "unknown key 'rest'"},
    {"  - share: 0.5", "  - share: 0.2", 38, "corrections: share 0.2 (expected above 0.3)"},
    {"    kinds: 0\n", "    kinds: 2\n", 34, "kinds: '2' is out of range"},
    {"    lengths: [1, ", "    lengths: [0, ", 33, "lengths: '0' is out of range"},
    {"    variance: 0.001\n", "", 32, "corrections: variance is missing"},
    {"    variance: 0.001\n", "    variance: 0.001\n    known: 1\n", 32, "corrections: unknown is missing"},
    {"    features: [1, ", "    features: [", 73, "features: expected a list of 6 numbers"},
    {"    saturation_ratio: 1\n", "    saturation_ratio: 0\n", 78, "saturation_ratio: "},
    {"machine: \"a\"", "machine: \"a\"\nseed: 7\n---\nb: 1\n...\n---", 5, "a second document"},
    {"    kinds: 0\n", "    kinds: 0\n...\n", 36, "not YAML: "},
    {"# Made", "- Made", 2, "not YAML: "},
};

static void test_refused(void)
{
    char path[256];
    struct world w;
    char *good = written(&w, path_in(path, sizeof path, "bad"));
    for (size_t i = 0; good && i < FC_COUNT(edits); i++) {
        const struct edit *e = &edits[i];
        struct fc_calibration c;
        struct fc_status st = {0};
        const char *at = strstr(good, e->find);
        CU_ASSERT(at != NULL);
        if (!at) {
            printf("\n    '%s' is not in the file\n", e->find);
            continue;
        }
        FILE *f = fopen(path, "w");
        if (!f) break;
        fprintf(f, "%.*s%s%s", (int)(at - good), good, e->put, at + strlen(e->find));
        fclose(f);
        if (fc_calibration_read(path, &c, &st) == FC_OK) {
            CU_FAIL("a wrong file is read");
            printf("\n    '%s' was read\n", e->put);
            fc_calibration_free(&c);
            continue;
        }
        CU_ASSERT(fc_says(&st, FC_INPUT, e->part));
        CU_ASSERT_EQUAL(st.line, e->line);
        if (st.line != e->line) printf("\n    line %ld, expected %ld: %s\n", st.line, e->line, st.message);
    }
    struct fc_calibration c;
    struct fc_status st = {0};
    remove(path);
    CU_ASSERT_EQUAL(fc_calibration_read(path, &c, &st), FC_INPUT);
    free(good);
    close_world(&w);
}

/* Beside a machine file: none, one for it, one for another kind, one of another kernel. */
static void test_find(void)
{
    char machine_path[300], path[400];
    struct world w;
    struct fc_calibration c, found;
    struct fc_status st = {0};
    bool is = true;
    path_in(machine_path, sizeof machine_path, "machine.yaml");
    FILE *f = fopen(machine_path, "w");
    if (!f || !open_world(&w)) return;
    fputs(LARGER, f);
    fclose(f);
    struct fc_machine m;
    struct fc_network net;
    CU_ASSERT_FATAL(!fc_machine_load(machine_path, &m, &st) && !fc_network_build(&m, &net, &st));
    fc_calibration_path(&m, path, sizeof path);
    CU_ASSERT(strstr(path, "-machine.calibration.yaml") != NULL);
    struct fc_calibration_misfit misfit;
    CU_ASSERT(!fc_calibration_find(&net, &found, &is, &misfit, &st) && !is && !misfit.mistake &&
              strstr(misfit.text, "no calibration"));
    if (plain(&w, &c)) {
        CU_ASSERT(!fc_calibration_write(&c, path, &st));
        CU_ASSERT(!fc_calibration_find(&net, &found, &is, &misfit, &st) && is && !*misfit.text);
        if (is) fc_calibration_free(&found);
        CU_ASSERT(!fc_machine_route(&m, "valiant", &st));
        CU_ASSERT(!fc_calibration_find(&net, &found, &is, &misfit, &st) && !is && !misfit.mistake &&
                  strstr(misfit.text, "the kernel cannot run this machine: ")); /* under the routing asked for */
        CU_ASSERT(!fc_machine_route(&m, "dimension-order", &st));
        c.kernel_version = "0";
        CU_ASSERT(!fc_calibration_write(&c, path, &st));
        CU_ASSERT(!fc_calibration_find(&net, &found, &is, &misfit, &st) && !is && misfit.mistake &&
                  strstr(misfit.text, "made by kernel version 0 (expected "));
        c.kernel_version = FC_KERNEL_VERSION;
        c.kind = "family=mesh slq=4";
        CU_ASSERT(!fc_calibration_write(&c, path, &st));
        CU_ASSERT(!fc_calibration_find(&net, &found, &is, &misfit, &st) && !is && misfit.mistake);
        CU_ASSERT_PTR_NOT_NULL(
            strstr(misfit.text, "family=mesh (expected family=torus), slq=4 (expected no slq), no routing (expected "
                                "routing=dimension-order), "));
        /* what cannot be read is refused */
        FILE *broken = fopen(path, "w");
        if (broken) fputs("kind: [", broken), fclose(broken);
        CU_ASSERT(fc_calibration_find(&net, &found, &is, &misfit, &st) == FC_INPUT && !is);
        fc_calibration_free(&c);
    }
    remove(path);
    remove(machine_path);
    fc_network_free(&net);
    fc_machine_free(&m);
    close_world(&w);
}

int suite_calibration_file(void)
{
    static const CU_TestInfo tests[] = {
        {"a file that is read and written is the same", test_round_trip},
        {"wrong files are refused with their line", test_refused},
        {"the calibration beside a machine file", test_find},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("calibration_file", tests);
}
