/* test_bulk.c - closed runs of calibrations: runs equal to the kernel's, errors, files, answers with and without a
 * calibration. */
#include "tests/bulk_fixture.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- what covers ---- */

/* Nine cases of a kind that is always right and nine of one that is off by 1 to 9 deviations. */
static void test_covers(void)
{
    struct fc_bulk_case cases[18];
    struct fc_bulk bulk = {.n_cases = 18, .cases = cases};
    for (int i = 0; i < 18; i++)
        cases[i] = (struct fc_bulk_case){.network = "x",
                                         .pattern = "y",
                                         .kind = i < 9 ? "good" : "bad",
                                         .network_score = i < 9 ? 0 : i - 8,
                                         .kind_score = i};
    double all = 285 / 18.0, good = sqrt(2 * all / 11), bad = sqrt((285 + 2 * all) / 11);
    CU_ASSERT(fc_near(fc_bulk_covers(&bulk, "bad"), 9, 1e-12)); /* the 18th of 18 scores: the greatest */
    CU_ASSERT(fc_near(fc_bulk_covers(&bulk, "good"), 9 / bad * good, 1e-12));
    CU_ASSERT(fc_near(fc_bulk_covers(&bulk, ""), 17, 1e-12));
    bulk.n_cases = 0;
    CU_ASSERT(isnan(fc_bulk_covers(&bulk, "good")));
}

/* ---- runs ---- */

/* The closed runs of the square and its relatives. */
static bool run(int threads, double hops, struct fc_machine *machine, struct fc_calibration *c)
{
    struct fc_calibration_settings how = {.threads = threads, .seed = 5};
    struct fc_calibration_design none = {0};
    struct fc_network net;
    struct fc_status st = {0};
    memset(c, 0, sizeof *c);
    if (!fc_test_network(ORDERED, machine, &net)) return false;
    c->machine = "a";
    c->kernel_version = FC_KERNEL_VERSION;
    fc_queueing_defaults(&c->parameters);
    c->low = c->high = c->parameters;
    c->hops_step = 1;
    fc_calibration_kind(&net, NULL, &c->arena, &c->kind, &st);
    fc_network_free(&net);
    if (!fc_calibration_phases_run(machine, &none, hops, &how, 0.8, &c->arena, &c->phases, &st)) return true;
    CU_FAIL("run");
    printf("\n    %s\n", st.message);
    return false;
}

/* One of them for all tests, made when the first asks for it: seconds. Nobody changes it. */
static struct {
    struct fc_machine machine;
    struct fc_calibration c;
    bool made, good;
} shared;

static const struct fc_calibration *shared_run(void)
{
    if (!shared.made) shared.good = run(1, 2e5, &shared.machine, &shared.c);
    shared.made = true;
    return shared.good ? &shared.c : NULL;
}

static int free_shared(void)
{
    if (shared.made) {
        fc_calibration_free(&shared.c);
        fc_machine_free(&shared.machine);
    }
    return 0;
}

static bool same(const struct fc_bulk *a, const struct fc_bulk *b)
{
    bool equal =
        a->n_cases == b->n_cases && a->hops_run == b->hops_run && !memcmp(&a->shape, &b->shape, sizeof a->shape);
    for (uint32_t i = 0; equal && i < a->n_cases; i++)
        equal = a->cases[i].ratio == b->cases[i].ratio &&
                a->cases[i].left_network_percent == b->cases[i].left_network_percent &&
                a->cases[i].left_kind_percent == b->cases[i].left_kind_percent &&
                !strcmp(a->cases[i].pattern, b->cases[i].pattern);
    return equal;
}

static void test_threads(void)
{
    const struct fc_calibration *one = shared_run();
    struct fc_machine machine;
    struct fc_calibration two;
    if (one && run(2, 2e5, &machine, &two)) {
        CU_ASSERT(one->phases.n_cases > 30);
        CU_ASSERT(same(&one->phases, &two.phases));
        CU_ASSERT(one->phases.hops_run <= 2.2e5);
        fc_calibration_free(&two);
        fc_machine_free(&machine);
    }
}

/* The first case is the kernel's own run again, over the contention model without a calibration. */
static void test_kernel(void)
{
    const struct fc_calibration *c = shared_run();
    struct bench b;
    if (c) {
        const struct fc_bulk_case *k = &c->phases.cases[0];
        struct fc_flit_settings how;
        struct fc_flit_result r;
        CU_ASSERT_STRING_EQUAL(k->network, "dims [4, 4]");
        fc_flit_defaults(&how);
        how.seed = 5;
        if (open_bench(&b, ORDERED, k->pattern) && !fc_flit_run(&b.net, &b.demand, b.node, &how, &r, &b.st)) {
            double time_s = (double)r.cycles * r.cycle_s;
            CU_ASSERT(fc_near(k->ratio, time_s / (b.parts.links_s + b.parts.fill_s), 1e-9));
            CU_ASSERT_STRING_EQUAL(k->kind, kind_of(&b));
            fc_flit_free(&r);
        }
        close_bench(&b);
    }
}

/* Too little for four runs: nothing, which is no failure. */
static void test_small_budget(void)
{
    struct fc_machine machine;
    struct fc_calibration c;
    if (run(1, 40, &machine, &c)) CU_ASSERT_EQUAL(c.phases.n_cases, 0);
    fc_calibration_free(&c);
    fc_machine_free(&machine);
}

/* ---- answers ---- */

static void predict(struct bench *b, const struct fc_bulk *bulk, struct fc_prediction *p)
{
    struct fc_load_settings how = {.threads = 1, .bulk = bulk};
    CU_ASSERT_EQUAL(fc_predict_phase(&b->net, &b->demand, &b->placement, &b->load, &how, p, &b->st), FC_OK);
}

static double rms(const struct fc_bulk *bulk, const char *kind, bool kinds)
{
    double sum = 0, n = 0;
    for (uint32_t i = 0; i < bulk->n_cases; i++) {
        const struct fc_bulk_case *c = &bulk->cases[i];
        if (*kind && strcmp(c->kind, kind)) continue;
        double e = kinds ? fmax(c->left_network_percent, c->left_kind_percent) : c->left_network_percent;
        sum += e * e;
        n++;
    }
    return sqrt(sum / n);
}

static void test_answers(void)
{
    const struct fc_calibration *c = shared_run();
    struct fc_prediction p;
    struct bench b;
    struct fc_bulk one;
    if (!c) return;
    const struct fc_bulk *bulk = &c->phases;
    for (uint32_t i = 0; i < bulk->n_cases; i += 7) { /* what was run comes out as it was measured */
        const struct fc_bulk_case *k = &bulk->cases[i];
        struct fc_bulk_answer a;
        if (strcmp(k->network, "dims [4, 4]") || !strcmp(k->kind, "permutation") || !strcmp(k->kind, "stencil") ||
            !strcmp(k->kind, FC_BULK_GRAPH))
            continue;
        if (open_bench(&b, ORDERED, k->pattern)) {
            CU_ASSERT_EQUAL(fc_bulk_ratio(bulk, &b.net, k->kind, &k->at, &a, &b.st), FC_OK);
            CU_ASSERT(fabs(a.ratio / k->ratio - 1) < 1e-3);
            CU_ASSERT(!a.extrapolated && a.error_percent > 0);
            predict(&b, bulk, &p);
            CU_ASSERT(p.time_s >= p.bound_s && p.percent_of_peak <= 100);
            CU_ASSERT(p.time_s == p.bound_s || fabs(p.network_s / (k->ratio * k->at.reference_s) - 1) < 0.05);
            CU_ASSERT(
                fc_near(p.error_percent, a.error_percent, 0.05)); /* of the same point, to rounding of its loads */
        }
        close_bench(&b);
    }
    one = *bulk;
    if (open_bench(&b, ORDERED, "tornado:bytes=1120")) {
        struct fc_bulk_answer known, other;
        struct fc_bulk_point at;
        double split;
        CU_ASSERT_EQUAL(fc_bulk_split(&b.net, &b.demand, &b.placement, &b.load, &split, &b.st), FC_OK);
        CU_ASSERT(!fc_bulk_locate(&b.net, &b.demand, &b.placement, &b.load, &b.parts, split, 0, &at, &b.st));
        CU_ASSERT_EQUAL(fc_bulk_ratio(&one, &b.net, "tornado", &at, &known, &b.st), FC_OK);
        CU_ASSERT_EQUAL(fc_bulk_ratio(&one, &b.net, "no such kind", &at, &other, &b.st), FC_OK);
        CU_ASSERT(known.error_percent >= 0.2 * rms(bulk, "tornado", false));
        CU_ASSERT(other.error_percent >= 0.2 * rms(bulk, "", true));
        at.anisotropy *= 100;
        CU_ASSERT_EQUAL(fc_bulk_ratio(&one, &b.net, "tornado", &at, &other, &b.st), FC_OK);
        CU_ASSERT(other.extrapolated && strstr(other.why, "anisotropy") && other.error_percent >= 2);
        double background[512] = {0};
        struct fc_load_settings how = {.threads = 1, .bulk = bulk, .background_bytes_per_s = background};
        predict(&b, bulk, &p);
        double alone = p.error_percent;
        CU_ASSERT(b.net.n_links <= FC_COUNT(background));
        CU_ASSERT_EQUAL(fc_predict_phase(&b.net, &b.demand, &b.placement, &b.load, &how, &p, &b.st), FC_OK);
        CU_ASSERT(p.extrapolated && fc_near(p.error_percent, 2 * alone, 1e-12));
    }
    close_bench(&b);
}

/* Every case has its own network's other lengths to say what the process misses; a network that was not run has none.
 * A phase that by the ratio is over before its packets arrive takes what is proven. */
static void test_near(void)
{
    const struct fc_calibration *c = shared_run();
    struct bench b;
    if (!c) return;
    struct fc_bulk bulk = c->phases;
    struct fc_kriging *kriging;
    struct fc_status st = {0};
    double mean, near, value;
    CU_ASSERT_FATAL(!fc_bulk_open(&bulk, &kriging, &mean, &st));
    CU_ASSERT(!fc_bulk_covers_near(&bulk, kriging, "neighbor", &near, &st));
    CU_ASSERT(near > 0 && near < 10);
    for (uint32_t i = 0; i < bulk.n_cases; i++) {
        struct fc_kriging_point at = {.kind = bulk.cases[i].kind, .group = FC_KRIGING_NO_GROUP};
        fc_bulk_features(&bulk.cases[i].at, at.x);
        CU_ASSERT(!fc_bulk_missed(&bulk, kriging, &at, &value) && value == 0);
        at.group = 0;
        while (strcmp(bulk.cases[at.group].network, bulk.cases[i].network)) at.group++;
        CU_ASSERT(fc_bulk_missed(&bulk, kriging, &at, &value));
    }
    fc_kriging_close(kriging);
    bulk.n_cases = 4; /* too few */
    CU_ASSERT_FATAL(!fc_bulk_open(&bulk, &kriging, &mean, &st));
    CU_ASSERT(!fc_bulk_covers_near(&bulk, kriging, "neighbor", &near, &st) && isnan(near));
    fc_kriging_close(kriging);
    bulk.n_cases = c->phases.n_cases;
    bulk.cases = malloc(bulk.n_cases * sizeof *bulk.cases);
    CU_ASSERT_FATAL(bulk.cases != NULL);
    memcpy(bulk.cases, c->phases.cases, bulk.n_cases * sizeof *bulk.cases);
    for (uint32_t i = 0; i < bulk.n_cases; i++) bulk.cases[i].ratio *= 0.01;
    if (open_bench(&b, ORDERED, "tornado:bytes=16")) {
        struct fc_load_summary summary;
        struct fc_load_settings how = {0};
        struct fc_prediction p;
        fc_load_summarise(&b.net, &b.load, &how, &summary);
        predict(&b, &bulk, &p);
        CU_ASSERT(p.network_s > 0 && p.network_s == summary.bound_s);
    }
    close_bench(&b);
    free(bulk.cases);
}

/* ---- files ---- */

static void path_in(char *out, size_t size, const char *name)
{
    snprintf(out, size, "/tmp/fabricast-bulk-%ld-%s", (long)getpid(), name);
}

static bool slurp(const char *path, char *out, size_t size)
{
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(out, 1, size - 1, f) : 0;
    if (f) fclose(f);
    out[n] = '\0';
    return n > 0 && n < size - 1;
}

/* Gives the calibration one case, as the file wants it. */
static void add_case(struct fc_calibration *c)
{
    static struct fc_calibration_point point = {0.5, 10, 1, 1};
    static struct fc_calibration_case one = {.network = "x",
                                             .pattern = "uniform",
                                             .nodes = 1,
                                             .flits_min = 1,
                                             .flits_max = 1,
                                             .hops = 1,
                                             .anisotropy = 1,
                                             .buffer_packets = 1,
                                             .features = {1, 1, 1, 1, 1, 1},
                                             .saturation_ratio = 1,
                                             .saturation = 1,
                                             .ideal = 1,
                                             .n_points = 1,
                                             .points = &point};
    c->n_cases = 1;
    c->cases = &one;
    for (int i = 0; i < 2; i++) c->hops[i] = c->anisotropy[i] = c->flits[i] = c->buffer_packets[i] = 1;
}

static void test_file(void)
{
    static const struct {
        const char *from, *to, *says;
    } wrong[] = {{", noise: ", ", noize: ", "noize"},
                 {"\n  plain: ", "\n  plane: ", "plane"},
                 {"kind: \"alltoall\", ", "", "kind is missing"},
                 {", ratio: ", ", ratio: -", "ratio"},
                 {"], ratio", ", 1], ratio", "expected a list of 7 numbers"},
                 {"\nphases:", "\nstages:", "stages"}};
    static char text[1 << 18], other[1 << 18], edited[(1 << 18) + 64];
    const struct fc_calibration *run_once = shared_run();
    struct fc_calibration c, again;
    struct fc_status st = {0};
    char path[128];
    path_in(path, sizeof path, "a.yaml");
    if (!run_once) return;
    c = *run_once; /* its arrays stay the run's */
    add_case(&c);
    CU_ASSERT_EQUAL(fc_calibration_write(&c, path, &st), FC_OK);
    CU_ASSERT_FATAL(slurp(path, text, sizeof text));
    CU_ASSERT_EQUAL(fc_calibration_read(path, &again, &st), FC_OK);
    CU_ASSERT(same(&c.phases, &again.phases) || again.phases.shape.length[0] == c.phases.shape.length[0]);
    CU_ASSERT_EQUAL(fc_calibration_write(&again, path, &st), FC_OK);
    CU_ASSERT(slurp(path, other, sizeof other) && !strcmp(text, other));
    fc_calibration_free(&again);
    for (size_t i = 0; i < FC_COUNT(wrong); i++) {
        const char *at = strstr(text, wrong[i].from);
        struct fc_status why = {0};
        CU_ASSERT_FATAL(at != NULL);
        snprintf(edited, sizeof edited, "%.*s%s%s", (int)(at - text), text, wrong[i].to, at + strlen(wrong[i].from));
        FILE *f = fopen(path, "w");
        CU_ASSERT_FATAL(f != NULL);
        fputs(edited, f);
        fclose(f);
        CU_ASSERT_EQUAL(fc_calibration_read(path, &again, &why), FC_INPUT);
        CU_ASSERT(fc_says(&why, FC_INPUT, wrong[i].says) && why.line > 0);
    }
    /* A file of before fluids were known: one shape, by the section's own keys. */
    const char *shape = strstr(text, "\n  shape: "), *cases = strstr(text, "\n  cases: ");
    CU_ASSERT_FATAL(shape != NULL && cases != NULL);
    snprintf(edited, sizeof edited,
             "%.*s\n  lengths: [1, 2, 3, 4, 5, 6, 7]\n  kinds: 0\n  groups: 0.1\n  noise: 0.03\n  variance: 0.1%s",
             (int)(shape - text), text, cases);
    FILE *f = fopen(path, "w");
    CU_ASSERT_FATAL(f != NULL);
    fputs(edited, f);
    fclose(f);
    CU_ASSERT_EQUAL_FATAL(fc_calibration_read(path, &again, &st), FC_OK);
    CU_ASSERT(again.phases.n_cases == c.phases.n_cases && again.phases.plain.length[6] == 7);
    for (uint32_t i = 0; i < again.phases.n_cases; i++) CU_ASSERT(again.phases.cases[i].at.fluid == 0);
    fc_calibration_free(&again);
    unlink(path);
}

/* Fluids found again with another limit are those of a run with it, and so is the fit. */
static void test_renew(void)
{
    const struct fc_calibration *c = shared_run();
    struct fc_machine machine;
    struct fc_network net;
    struct fc_status st = {0};
    if (!c || !fc_test_network(ORDERED, &machine, &net)) return;
    struct fc_bulk bulk = c->phases, back;
    struct fc_bulk_case *cases = malloc(bulk.n_cases * sizeof *cases);
    CU_ASSERT_FATAL(cases != NULL);
    memcpy(cases, c->phases.cases, bulk.n_cases * sizeof *cases);
    bulk.cases = cases;
    back = bulk;
    CU_ASSERT(!fc_calibration_phases_renew(&machine, 1, 2, 0.5, &bulk, &st));
    double before = 0, after = 0;
    for (uint32_t i = 0; i < bulk.n_cases; i++) before += c->phases.cases[i].at.fluid, after += cases[i].at.fluid;
    CU_ASSERT(after > 1.01 * before); /* what mixes loses more; single fluids may end earlier */
    CU_ASSERT(!fc_calibration_phases_renew(&machine, 1, 1, 0.8, &back, &st));
    CU_ASSERT(same(&c->phases, &back));
    free(cases);
    fc_test_close(&machine, &net);
}

int suite_bulk(void)
{
    static const CU_TestInfo tests[] = {
        {"what covers nine of ten", test_covers},
        {"the same runs for any number of threads", test_threads},
        {"a case is the kernel's run", test_kernel},
        {"a budget for nothing", test_small_budget},
        {"answers and errors", test_answers},
        {"a pattern that was run there", test_near},
        {"the section of the file", test_file},
        {"fluids of another limit", test_renew},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite_between("bulk phases", NULL, free_shared, tests);
}
