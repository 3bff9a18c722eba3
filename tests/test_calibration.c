/* test_calibration.c - calibrations: a synthetic truth is found again, answers of both tiers, kernel runs for
 * any number of threads, smaller relatives of machines. */
#include "tests/calibration_world.h"

/* A fitted calibration of the world. */
static bool fit(struct world *w, int threads, struct fc_calibration *c)
{
    struct fc_status st = {0};
    memset(c, 0, sizeof *c);
    c->machine = "a";
    c->kernel_version = FC_KERNEL_VERSION;
    c->seed = 7;
    c->hops_run = 12345678;
    if (!fc_calibration_kind(&w->net[0], NULL, &c->arena, &c->kind, &st) &&
        !fc_calibration_fit(w->list, w->n_list, INFINITY, threads, NULL, c, &st))
        return true;
    CU_FAIL("fit");
    printf("\n    %s\n", st.message);
    return false;
}

/* ---- the fit ---- */

static void test_truth(void)
{
    struct world w;
    struct fc_calibration c;
    if (open_world(&w) && fit(&w, 1, &c)) {
        static const int known[] = {FC_Q_CONTENTION, FC_Q_INPUT_QUEUE, FC_Q_BACKPRESSURE, FC_Q_PORT};
        for (size_t i = 0; i < FC_COUNT(known); i++) {
            int k = known[i];
            double value = c.parameters.value[k], low = c.low.value[k], high = c.high.value[k], is = truth.value[k];
            CU_ASSERT(c.free_parameter[k]);
            /* The search ends at steps of 2 %, so that an interval of a noiseless truth can be narrower than
             * that. */
            CU_ASSERT(low * 0.98 <= is && is <= high * 1.02);
            CU_ASSERT(low <= value && value <= high);
            if (!(low * 0.98 <= is && is <= high * 1.02))
                printf("\n    parameter %d: %g in %g..%g, truth %g\n", k, value, low, high, is);
        }
        CU_ASSERT(!c.free_parameter[FC_Q_CHOICE]); /* nothing to choose in dimension order */
        CU_ASSERT_EQUAL(c.parameters.value[FC_Q_CHOICE], 1);
        CU_ASSERT(c.residual_percent < 0.3);
        CU_ASSERT(c.left_out == FC_LEFT_OUT_NETWORK);
        CU_ASSERT(c.left_out_mean_percent < 0.5);
        CU_ASSERT(c.left_out_greatest_percent >= c.left_out_mean_percent);
        CU_ASSERT(c.saturation_mean_percent < 0.5);
        CU_ASSERT(c.error_at[9] < 3 && c.error_at[0] == 0);
        CU_ASSERT(c.n_cases == w.n && c.flits[0] == 1 && c.flits[1] == 8);
        fc_calibration_free(&c);
    }
    close_world(&w);
}

/* A traffic without contention says nothing of contention: its parameters stand at their defaults. */
static void test_not_identifiable(void)
{
    struct world w;
    struct fc_calibration c;
    memset(&w, 0, sizeof w);
    struct fc_status st = {0};
    if (!fc_test_network(SQUARE, &w.machine[0], &w.net[0])) return;
    CU_ASSERT(add_job(&w, 0, "uniform", 1, &st));
    if (fit(&w, 1, &c)) {
        int n = 0;
        for (int i = 0; i < FC_Q_PARAMETERS; i++) n += c.free_parameter[i];
        CU_ASSERT(n < 5); /* of five rows */
        CU_ASSERT(c.left_out == FC_LEFT_OUT_CASE);
        CU_ASSERT(isnan(c.left_out_mean_percent) && isnan(c.error_at[5]));
        CU_ASSERT(isnan(c.cases[0].mean_error_percent));
        fc_calibration_free(&c);
    }
    close_world(&w);
}

/* Without tornado, whose steady state ends at a jump: fits of it take by far the longest. */
static void keep_smooth(struct world *w)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->n_list; i++)
        if (strcmp(w->list[i]->out->pattern, "tornado")) w->list[n++] = w->list[i];
    w->n_list = n;
}

/* The four jobs left are more than the threads and of both networks, so that what is left out is fitted, too. */
static void test_threads(void)
{
    struct world w;
    struct fc_calibration c[2];
    for (int i = 0; i < 2; i++) {
        bool good = open_world(&w);
        keep_short(&w);
        keep_smooth(&w);
        good = good && w.n_list == 4 && fit(&w, i + 1, &c[i]);
        close_world(&w);
        CU_ASSERT_FATAL(good);
    }
    CU_ASSERT(!memcmp(&c[0].parameters, &c[1].parameters, sizeof c[0].parameters));
    CU_ASSERT(!memcmp(&c[0].high, &c[1].high, sizeof c[0].high));
    CU_ASSERT(c[0].left_out == FC_LEFT_OUT_NETWORK);
    CU_ASSERT_EQUAL(c[0].left_out_mean_percent, c[1].left_out_mean_percent);
    for (int i = 0; i < 2; i++) fc_calibration_free(&c[i]);
}

/* ---- answers ---- */

static void test_anchored(void)
{
    struct world w;
    struct fc_calibration c;
    struct fc_status st = {0};
    if (open_world(&w) && plain(&w, &c)) {
        const struct fc_calibration_job *job = &w.job[1];
        struct fc_calibration_case *k = &c.cases[1];
        struct fc_calibrated *a;
        struct fc_calibrated_answer answer;
        double error;
        for (int i = 0; i < N_POINTS; i++) k->points[i].latency_cycles *= 1 + 0.02 * i; /* no more the model's own */
        k->saturation *= 1.03;
        CU_ASSERT_FATAL(!fc_calibrated_open(&c, &job->turns, "uniform", &job->settings, &a, &st));
        CU_ASSERT_EQUAL(fc_calibrated_saturation(a, &error), k->saturation);
        /* No point above 0.94: windows of fixed length. */
        CU_ASSERT_DOUBLE_EQUAL(error, 3.5 / job->turns.max_service_rate / k->saturation, 1e-9);
        for (int i = 0; i < N_POINTS; i++) {
            CU_ASSERT(!fc_calibrated_solve(a, shares[i] * k->saturation, &answer, &st));
            CU_ASSERT(answer.tier == FC_TIER_ANCHORED && !answer.extrapolated && !*answer.why);
            CU_ASSERT_DOUBLE_EQUAL(answer.model.latency_mean_cycles / k->points[i].latency_cycles, 1, 1e-9);
            CU_ASSERT_DOUBLE_EQUAL(answer.model.network_cycles + answer.model.source_cycles,
                                   answer.model.latency_mean_cycles, 1e-6 * answer.model.latency_mean_cycles);
            CU_ASSERT(answer.error_percent >= 1.2 && answer.error_percent < 5);
        }
        CU_ASSERT(!fc_calibrated_solve(a, 0.95 * k->saturation, &answer, &st));
        CU_ASSERT(answer.extrapolated && strstr(answer.why, "above the highest load"));
        double at_95 = answer.error_percent;
        CU_ASSERT(at_95 > 2);
        /* Next to saturation its own error says nearly nothing of the latency, which yet is none of a thousand times. */
        CU_ASSERT(!fc_calibrated_solve(a, 0.9999 * k->saturation, &answer, &st) && answer.model.stable);
        CU_ASSERT(answer.error_percent > at_95 && answer.error_percent < 100);
        CU_ASSERT(answer.model.latency_mean_cycles < 20 * k->points[N_POINTS - 1].latency_cycles);
        CU_ASSERT(!fc_calibrated_solve(a, k->saturation, &answer, &st));
        CU_ASSERT(!answer.model.stable && isnan(answer.model.latency_mean_cycles) && isnan(answer.error_percent));
        CU_ASSERT_EQUAL(fc_calibrated_solve(a, 0, &answer, &st), FC_INPUT);
        fc_calibrated_close(a);

        /* Too vague for anchors: the latency is of the other tier, the saturation still the run's. */
        st = (struct fc_status){0};
        k->points[N_POINTS - 1].half_width_cycles = 0.1 * k->points[N_POINTS - 1].latency_cycles;
        CU_ASSERT_FATAL(!fc_calibrated_open(&c, &job->turns, "uniform", &job->settings, &a, &st));
        CU_ASSERT_EQUAL(fc_calibrated_saturation(a, &error), k->saturation);
        CU_ASSERT_DOUBLE_EQUAL(error, 3.5 / job->turns.max_service_rate / k->saturation, 1e-9);
        CU_ASSERT(!fc_calibrated_solve(a, 0.5 * k->saturation, &answer, &st));
        CU_ASSERT(answer.tier == FC_TIER_TRANSFER && answer.saturation == k->saturation);
        fc_calibrated_close(a);

        k->points[N_POINTS - 1].load_share = 0.95;
        CU_ASSERT_FATAL(!fc_calibrated_open(&c, &job->turns, "uniform", &job->settings, &a, &st));
        fc_calibrated_saturation(a, &error);
        CU_ASSERT_DOUBLE_EQUAL(error, 2 / job->turns.max_service_rate / k->saturation, 1e-9);
        fc_calibrated_close(a);
        fc_calibration_free(&c);
    }
    close_world(&w);
}

static double stated_at(struct fc_calibrated *a, double load)
{
    struct fc_calibrated_answer answer;
    struct fc_status st = {0};
    CU_ASSERT(!fc_calibrated_solve(a, load, &answer, &st) && answer.tier == FC_TIER_TRANSFER && !answer.extrapolated);
    return answer.error_percent;
}

/* Of a latency at share x whose part u is waiting, where the saturation may be off by a factor; its form is known. */
static double shifted_percent(double x, double u, double factor)
{
    double part = 0.5 + 0.85 * pow(x, 8), wait = x / (1 - x), down = x / factor, up = x * factor;
    double low = pow(1 - u + u * down / (1 - down) / wait, part), high = pow(1 - u + u * up / (1 - up) / wait, part);
    return 100 * (high - low) / (high + low);
}

/* The world's own ratios are 1: no correction, and no error but what runs resolve, until cases were off when left out. */
static void test_transfer(void)
{
    struct world w;
    struct fc_calibration c;
    struct fc_status st = {0};
    if (open_world(&w) && plain(&w, &c)) {
        struct fc_calibrated *a;
        struct fc_calibrated_answer answer;
        struct fc_queueing_answer model;
        const struct fc_calibration_job *job = &w.job[0];
        double error, model_saturation;
        CU_ASSERT_FATAL(!fc_calibrated_open(&c, &job->turns, "uniform:a=b", &job->settings, &a, &st));
        double s = fc_calibrated_saturation(a, &error);
        struct fc_queueing *q;
        CU_ASSERT(!fc_queueing_open(&job->turns, &q, &st) &&
                  !fc_queueing_saturation(q, &c.parameters, &model_saturation, &st) &&
                  !fc_queueing_solve(q, &c.parameters, 0.75 * s, &model, &st));
        CU_ASSERT_DOUBLE_EQUAL(s / model_saturation, 1, 1e-9);
        CU_ASSERT_DOUBLE_EQUAL(error, 2 / job->turns.max_service_rate / s, 1e-9);
        CU_ASSERT(!fc_calibrated_solve(a, 0.75 * s, &answer, &st) && answer.tier == FC_TIER_TRANSFER);
        CU_ASSERT(!answer.extrapolated && answer.saturation == s);
        CU_ASSERT_DOUBLE_EQUAL(model.latency_mean_cycles / answer.model.latency_mean_cycles, 1, 1e-4);
        fc_queueing_close(q);
        double exact = stated_at(a, 0.75 * s), at_10 = stated_at(a, 0.1 * s);
        CU_ASSERT(at_10 >= 1 && at_10 < exact);
        CU_ASSERT(!fc_calibrated_solve(a, 1.2 * s, &answer, &st) && !answer.model.stable);
        CU_ASSERT(isnan(answer.model.latency_mean_cycles) && isnan(answer.error_percent));
        fc_calibrated_close(a);

        /* Saturations 8 % off when left out: shifts the load, below 100 % also next to saturation. */
        for (uint32_t i = 0; i < c.n_cases; i++) c.cases[i].saturation_error_percent = 8;
        CU_ASSERT_FATAL(!fc_calibrated_open(&c, &job->turns, "uniform:a=b", &job->settings, &a, &st));
        fc_calibrated_saturation(a, &error);
        CU_ASSERT_DOUBLE_EQUAL(error, 8, 1e-9);
        double at_75 = stated_at(a, 0.75 * s), at_95 = stated_at(a, 0.95 * s);
        CU_ASSERT(at_75 > exact && at_95 > at_75 && at_95 < 100 && stated_at(a, 0.999 * s) < 100);
        CU_ASSERT_DOUBLE_EQUAL(
            at_75, shifted_percent(0.75, 1 - job->turns.zero_load_cycles / model.latency_mean_cycles, 1.08), 1e-3);
        fc_calibrated_close(a);

        /* A case unlike the traffic, however far off, does not count. */
        c.cases[0].saturation_error_percent = 80;
        for (int f = 0; f < FC_CALIBRATION_FEATURES; f++) c.cases[0].features[f] *= 1000;
        CU_ASSERT_FATAL(!fc_calibrated_open(&c, &job->turns, "uniform:a=b", &job->settings, &a, &st));
        fc_calibrated_saturation(a, &error);
        CU_ASSERT_DOUBLE_EQUAL(error, 8, 1e-9);
        fc_calibrated_close(a);
        memcpy(c.cases[0].features, w.job[0].out->features, sizeof c.cases[0].features);
        c.cases[0].saturation_error_percent = 8;

        /* Latencies that the correction does not find when a network is left out. */
        for (uint32_t i = 0; i < c.n_cases; i++)
            for (int k = 0; k < N_POINTS; k++)
                c.cases[i].points[k].model_ratio = strcmp(c.cases[i].network, c.cases[0].network) ? 0.7 : 1.3;
        CU_ASSERT_FATAL(!fc_calibrated_open(&c, &job->turns, "uniform:a=b", &job->settings, &a, &st));
        CU_ASSERT(stated_at(a, 0.75 * s) > at_75);
        fc_calibrated_close(a);
        for (uint32_t i = 0; i < c.n_cases; i++)
            for (int k = 0; k < N_POINTS; k++) c.cases[i].points[k].model_ratio = 1;

        c.flits[0] = c.flits[1] = 4; /* outside the hull */
        CU_ASSERT_FATAL(!fc_calibrated_open(&c, &job->turns, "elsewhere", &job->settings, &a, &st));
        CU_ASSERT(!fc_calibrated_solve(a, 0.75 * s, &answer, &st) && answer.extrapolated);
        CU_ASSERT(answer.error_percent > 1.4 * at_75 && answer.error_percent < 2 * at_75);
        CU_ASSERT(strstr(answer.why, "packet length in flits 1: calibrated for 4 to 4") != NULL);
        fc_calibrated_close(a);

        c.kind = "another";
        CU_ASSERT_FATAL(!fc_calibrated_open(&c, &job->turns, "uniform", &job->settings, &a, &st));
        CU_ASSERT(!fc_calibrated_solve(a, 0.5 * s, &answer, &st) && answer.tier == FC_TIER_NONE);
        CU_ASSERT(isnan(answer.error_percent) &&
                  strstr(answer.why, "another kind of router: another (this one: family"));
        fc_calibrated_close(a);

        CU_ASSERT_FATAL(!fc_calibrated_open(NULL, &job->turns, "uniform", &job->settings, &a, &st));
        CU_ASSERT(!fc_calibrated_solve(a, 0.5 * s, &answer, &st) && answer.tier == FC_TIER_NONE);
        CU_ASSERT(isnan(answer.error_percent) && answer.model.stable && !strcmp(answer.why, "not calibrated"));
        fc_calibrated_close(a);
        fc_calibration_free(&c);
    }
    close_world(&w);
}

/* What the model misses alike on both networks is corrected on one that it has not seen: what is left out,
 * too. */
static void test_correction(void)
{
    struct world w;
    struct fc_calibration c;
    struct fc_status st = {0};
    bool good = open_world(&w);
    for (uint32_t j = 0; good && j < w.n; j++) {
        struct fc_calibration_case *k = w.job[j].out;
        if (strcmp(k->pattern, "tornado")) continue;
        k->saturation *= 0.8;
        for (int i = 0; i < k->n_points; i++) k->points[i].latency_cycles *= 1 + 0.2 * k->points[i].load_share;
    }
    keep_short(&w);
    if (good && fit(&w, 1, &c)) {
        CU_ASSERT(c.n_corrections == N_POINTS + 1 && c.corrections[N_POINTS].share == 1);
        CU_ASSERT(c.saturation_mean_percent < 8 && c.left_out_mean_percent < 6);
        /* 1.9 at the least residual, to which the fit comes the nearer the more exactly the model is solved. */
        CU_ASSERT(c.kind_saturation_mean_percent > 1.7 * c.saturation_mean_percent);
        for (uint32_t j = 0; j < w.n; j++) {
            if (w.job[j].out->flits_max > 1) continue;
            struct fc_calibrated *a;
            const struct fc_calibration_case *k = w.job[j].out;
            char text[64];
            snprintf(text, sizeof text, "%s:size=3", k->pattern); /* of the kind, but no anchor */
            CU_ASSERT_FATAL(!fc_calibrated_open(&c, &w.job[j].turns, text, &w.job[j].settings, &a, &st));
            CU_ASSERT_DOUBLE_EQUAL(fc_calibrated_saturation(a, NULL) / k->saturation, 1, 0.05);
            fc_calibrated_close(a);
        }
        fc_calibration_free(&c);
    }
    close_world(&w);
}

static void test_pattern_kind(void)
{
    static const char *const list[][2] = {{"uniform", "uniform"},
                                          {"stencil3d:grid=8x8x8", "stencil"},
                                          {"stencil2d:grid=4x4,order=column-major", "stencil:order=column-major"},
                                          {"permutation:seed=3", "permutation"},
                                          {"", ""}};
    struct fc_arena arena = {0};
    struct fc_status st = {0};
    for (size_t i = 0; i < FC_COUNT(list); i++)
        CU_ASSERT_STRING_EQUAL(fc_calibration_pattern_kind(list[i][0], &arena, &st), list[i][1]);
    fc_arena_free(&arena);
}

/* ---- a real one ---- */

#define TINY                                                                                                           \
    "name: tiny\nclock: 1 GHz\nnetwork: {family: torus, dims: [2, 2]}\n"                                               \
    "links: {torus: {bandwidth: 8 GB/s, latency: 1 cycles}}\n"                                                         \
    "router: {delay: 2 cycles, flit: 8 B, vcs: 2, buffer: 64 B, escape: dateline, routing: "                           \
    "dimension-order, flow_control: wormhole}\npacket: {min: 64 B, max: 64 B}\n"

static void test_real(void)
{
    char *text[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        struct fc_machine m;
        struct fc_calibration c;
        struct fc_status st = {0};
        char path[256];
        struct fc_calibration_settings set = {.budget_s = 1.5, .threads = i + 1, .seed = 1};
        if (fc_test_machine(TINY, &m, &st)) {
            CU_FAIL("machine");
            return;
        }
        if (fc_calibrate(&m, &set, &c, &st)) {
            CU_FAIL("calibrate");
            printf("\n    %s\n", st.message);
            fc_machine_free(&m);
            return;
        }
        CU_ASSERT(c.hops_run > 0 && c.n_cases > 0);
        CU_ASSERT(!fc_calibration_write(&c, path_in(path, sizeof path, "real"), &st));
        text[i] = text_of_file(path);
        remove(path);
        fc_calibration_free(&c);
        fc_machine_free(&m);
    }
    CU_ASSERT_STRING_EQUAL(text[0], text[1]);
    for (int i = 0; i < 2; i++) free(text[i]);
}

static void test_no_budget(void)
{
    struct fc_machine m;
    struct fc_calibration c;
    struct fc_status st = {0};
    struct fc_calibration_settings set = {.budget_s = 1e-3, .threads = 1, .seed = 1};
    if (fc_test_machine(TINY, &m, &st)) return;
    CU_ASSERT_EQUAL(fc_calibrate(&m, &set, &c, &st), FC_NO);
    CU_ASSERT(fc_says(&st, FC_NO, "allows no"));
    memset(&st, 0, sizeof st);
    set.threads = 0;
    CU_ASSERT_EQUAL(fc_calibrate(&m, &set, &c, &st), FC_INPUT);
    fc_machine_free(&m);
}

/* ---- relatives ---- */

/* Every shipped machine but graphs has relatives of its kind that can be built. */
static void test_relatives(void)
{
    struct fc_arena arena = {0};
    const char **names;
    size_t n;
    struct fc_status st = {0};
    CU_ASSERT_FATAL(!fc_machine_names(&arena, &names, &n, &st));
    for (size_t i = 0; i < n; i++) {
        struct fc_machine m, smaller;
        bool exists = true;
        int made = 0;
        CU_ASSERT(strstr(names[i], "calibration") == NULL);
        if (fc_machine_load(names[i], &m, &st)) break;
        for (int k = 0; exists && !st.code; k++) {
            struct fc_network net;
            char shape[512];
            if (fc_machine_smaller(&m, k, &smaller, &exists, &st) || !exists) break;
            CU_ASSERT(!fc_network_build(&smaller, &net, &st) && net.n_nodes > 1);
            CU_ASSERT(strlen(fc_machine_shape(&smaller, shape, sizeof shape)) > 8);
            if (!st.code) fc_network_free(&net);
            fc_machine_free(&smaller);
            made++;
        }
        CU_ASSERT(made >= 3);
        CU_ASSERT(!st.code);
        if (st.code) printf("\n    %s: %s\n", names[i], st.message);
        fc_machine_free(&m);
    }
    fc_arena_free(&arena);
}

/* A machine, and what would be run for its calibration. */
struct designed {
    struct fc_machine machine;
    struct fc_network net;
    struct fc_arena arena;
    struct fc_calibration_design d;
    struct fc_status st;
};

static void design(struct designed *x, double budget_s)
{
    CU_ASSERT_EQUAL_FATAL(fc_calibration_design_make(&x->machine, budget_s, NULL, 1, &x->arena, &x->d, &x->st), FC_OK);
}
static bool open_designed(struct designed *x, const char *yaml, double budget_s)
{
    *x = (struct designed){.st = {0}};
    if (!fc_test_network(yaml, &x->machine, &x->net)) return false;
    design(x, budget_s);
    return true;
}
static void close_designed(struct designed *x)
{
    fc_calibration_design_free(&x->d);
    fc_arena_free(&x->arena);
    fc_test_close(&x->machine, &x->net);
}

/* Under UGAL a core is taken to move fewer packets the more channels a network has: of two networks the larger is the dearer by
 * hop, by little where both fit its caches. */
static void test_ugal_rate(void)
{
    struct designed x;
    if (!open_designed(
            &x,
            "name: t\nnetwork: {family: two-level, supernodes: 9, nodes_per_drawer: 8, nodes_per_router: 2, d_link: "
            "modulo}\nlinks: {ll: {bandwidth: 8 GB/s, latency: 10 ns}, d: {bandwidth: 8 GB/s, latency: 100 ns}}\n"
            "router: {vcs: 3, routing: ugal, flit: 8 B}\npacket: {max: 64 B}\n",
            60))
        return;
    CU_ASSERT(x.d.n_networks >= 2 && x.d.n_jobs >= 2);
    for (uint32_t i = 0; i < x.d.n_jobs; i++) {
        const struct fc_calibration_job *a = &x.d.jobs[i];
        CU_ASSERT(a->moves_per_s < FC_CALIBRATION_UGAL_MOVES_PER_S &&
                  a->moves_per_s > 0.8 * FC_CALIBRATION_UGAL_MOVES_PER_S);
        for (uint32_t j = 0; j < x.d.n_jobs; j++)
            if (a->net->n_links > x.d.jobs[j].net->n_links) CU_ASSERT(a->moves_per_s < x.d.jobs[j].moves_per_s);
    }
    close_designed(&x);
}

/* Traffic that people name is run on the machine's own network, once, where that has it: 27 nodes have no bit-reverse, and no eighth. */
static void test_named_traffic(void)
{
    struct designed x;
    static const struct {
        const char *pattern;
        uint32_t times;
    } expected[] = {{"permutation:seed=1", 1}, {"permutation:seed=2", 1}, {"hotregion", 0},
                    {"complement", 1},         {"neighbor", 1},           {"bit-reverse", 0}};
    if (!open_designed(
            &x,
            "name: t\nnetwork: {family: torus, dims: [3, 3, 3]}\nlinks: {torus: {bandwidth: 1 GB/s, latency: 10 ns}, "
            "injection: {bandwidth: 1 GB/s, latency: 10 ns}}\n"
            "router: {vcs: 2, flit: 8 B}\npacket: {max: 64 B}\n",
            60))
        return;
    for (size_t i = 0; i < FC_COUNT(expected); i++) {
        uint32_t n = 0;
        for (uint32_t j = 0; j < x.d.n_jobs; j++)
            if (!strcmp(x.d.jobs[j].out->pattern, expected[i].pattern)) {
                CU_ASSERT_EQUAL(x.d.jobs[j].out->nodes, 27);
                CU_ASSERT_EQUAL(x.d.jobs[j].settings.packet_flits_max, 8);
                n++;
            }
        CU_ASSERT_EQUAL(n, expected[i].times);
    }
    close_designed(&x);
}

/* Where one case takes much of the budget: after the first the cheapest come first, and runs that overload deep buffers do not go on for ever. What was
 * moved is what the budget stands for, though the first case may take more than was thought. */
static void test_ugal_budget(void)
{
    struct designed x;
    struct fc_calibration_settings set = {.threads = 1, .seed = 1};
    double budget_s = 0.6, run_s = 3, spent_s = 0; /* warm-ups of 1000 cycles are more than such small windows */
    uint32_t n_ran = 0;
    if (!open_designed(
            &x,
            "name: t\nclock: 1 GHz\nnetwork: {family: two-level, supernodes: 4, nodes_per_drawer: 2, nodes_per_router: 1, "
            "d_link: modulo}\nlinks: {ll: {bandwidth: 8 GB/s, latency: 2 ns}, d: {bandwidth: 8 GB/s, latency: 10 ns}}\n"
            "router: {delay: 2 ns, vcs: 3, routing: ugal, flit: 8 B, buffer: 16 KiB}\n",
            budget_s))
        return;
    for (uint32_t i = 2; i < x.d.n_jobs; i++) CU_ASSERT(x.d.jobs[i].estimate_s >= x.d.jobs[i - 1].estimate_s);
    CU_ASSERT_EQUAL(fc_calibration_run(&x.d, run_s, &set, &x.arena, &x.st), FC_OK);
    for (uint32_t i = 0; i < x.d.n_jobs; i++) {
        spent_s += x.d.jobs[i].spent_s;
        n_ran += x.d.jobs[i].ran;
    }
    CU_ASSERT(n_ran >= 2 && spent_s < 1.1 * run_s);
    close_designed(&x);
}

/* A fat-tree of many parallel links, where much happens in a zero-load time: what cases take is what the design says, and less than
 * the budget; those that may take too little are given up, and say so. */
static void test_busy_budget(void)
{
    struct designed x;
    struct fc_calibration_settings set = {.threads = 1, .seed = 1};
    double budget_s = 1, spent_s = 0;
    uint32_t n_ran = 0;
    if (!open_designed(
            &x,
            "name: t\nclock: 1 GHz\nnetwork: {family: fat-tree, children: [4, 2], parents: [1, 1], links: [1, 8], "
            "planes: 2}\nlinks: {leaf: {bandwidth: 8 GB/s, latency: 15 ns}, up: {bandwidth: 8 GB/s, latency: 50 ns}}\n"
            "router: {delay: 100 ns, flow_control: cut-through, flit: 8 B, vcs: 2, escape: none, buffer: 8 KiB, "
            "routing: nca, arbitration: round-robin}\npacket: {min: 8 B, max: 128 B}\n",
            budget_s))
        return;
    CU_ASSERT(x.d.jobs[0].events && x.d.jobs[0].more_links > 2);
    CU_ASSERT_EQUAL(fc_calibration_run(&x.d, budget_s, &set, &x.arena, &x.st), FC_OK);
    for (uint32_t i = 0; i < x.d.n_jobs; i++) {
        spent_s += x.d.jobs[i].spent_s;
        n_ran += x.d.jobs[i].ran;
        CU_ASSERT(x.d.jobs[i].spent_s == 0 || x.d.jobs[i].spent_s < 1.2 * x.d.jobs[i].most_s);
        CU_ASSERT(!x.d.jobs[i].ran || x.d.jobs[i].out->n_points >= 2);
    }
    CU_ASSERT(n_ran >= 2 && spent_s < 1.1 * budget_s);
    fc_calibration_design_free(&x.d);
    design(&x, budget_s);
    for (uint32_t i = 0; i < x.d.n_jobs; i++) x.d.jobs[i].estimate_s = 1e-3; /* far too little */
    CU_ASSERT_EQUAL(fc_calibration_run(&x.d, 2e-3, &set, &x.arena, &x.st), FC_OK);
    CU_ASSERT(x.d.n_jobs > 0 && x.d.jobs[0].cut && !x.d.jobs[0].ran);
    close_designed(&x);
}

static void test_shape(void)
{
    struct fc_machine m, smaller;
    bool exists;
    char shape[256];
    struct fc_status st = {0};
    CU_ASSERT_FATAL(!fc_machine_load("bgl-4k", &m, &st));
    CU_ASSERT_STRING_EQUAL(fc_machine_shape(&m, shape, sizeof shape), "dims [16, 16, 16]");
    CU_ASSERT(!fc_machine_smaller(&m, 1, &smaller, &exists, &st) && exists);
    CU_ASSERT_STRING_EQUAL(fc_machine_shape(&smaller, shape, sizeof shape), "dims [8, 4, 4]");
    CU_ASSERT_EQUAL(smaller.classes[0].bandwidth_bytes_per_s, m.classes[0].bandwidth_bytes_per_s);
    fc_machine_free(&smaller);
    CU_ASSERT(!fc_machine_smaller(&m, 100, &smaller, &exists, &st) && !exists);
    fc_machine_free(&m);
}

int suite_calibration(void)
{
    static const CU_TestInfo fits[] = {
        {"a synthetic truth is found again", test_truth},
        {"what the data does not tell stands still", test_not_identifiable},
        {"threads do not change a fit", test_threads},
        CU_TEST_INFO_NULL,
    };
    static const CU_TestInfo tests[] = {
        {"anchored answers go through their anchors", test_anchored},
        {"transfer answers carry the error of their load", test_transfer},
        {"what the model misses alike is corrected", test_correction},
        {"kinds of pattern", test_pattern_kind},
        {"kernel runs: the same for any number of threads", test_real},
        {"no budget, no threads", test_no_budget},
        {"relatives of every shipped machine", test_relatives},
        {"the shape in words", test_shape},
        {"traffic that people name", test_named_traffic},
        {"large networks cost more a hop under UGAL", test_ugal_rate},
        {"the budget of runs under UGAL", test_ugal_budget},
        {"the budget where much happens in a zero-load time", test_busy_budget},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("calibration fits", fits) + fc_add_suite("calibration", tests);
}
