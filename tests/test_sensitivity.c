/* test_sensitivity.c - what a time depends on: against the duals of the job as a linear program (GLPK) on an ideal network,
 * against predictions of changed machines with contention, and the closed forms of single phases. */
#include "answer/answer.h"
#include "core/core.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <glpk.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct fc_sensitivity_row *row_of(const struct fc_answer *a, const char *parameter)
{
    for (size_t i = 0; i < a->sensitivity->n; i++)
        if (!strcmp(a->sensitivity->rows[i].parameter, parameter)) return &a->sensitivity->rows[i];
    return NULL;
}

static void ask(const struct fc_question *q, struct fc_answer *a)
{
    struct fc_status st = {0};
    if (fc_answer_make(q, a, &st)) {
        fprintf(stderr, "test_sensitivity: %s\n", st.message);
        CU_FAIL_FATAL("an answer is refused");
    }
}

/* ---- the job as a linear program ---- */

/* N ranks compute, send to one and receive from another, ROUNDS times. */
enum { N = 5, ROUNDS = 40, EVENTS = 3 * N * ROUNDS };
struct ring {
    double compute_s[ROUNDS][N];
    int bytes[ROUNDS][N], shift[ROUNDS];
};

static void make_ring(struct ring *ring, uint64_t most_bytes)
{
    for (int k = 0; k < ROUNDS; k++) {
        ring->shift[k] = 1 + (int)fc_random_below(7, 0, (uint64_t)k, N - 1);
        for (int r = 0; r < N; r++) {
            ring->compute_s[k][r] = 1e-9 * (double)fc_random_below(7, 1, (uint64_t)(N * k + r), 60000);
            ring->bytes[k][r] = 1 + (int)fc_random_below(7, 2, (uint64_t)(N * k + r), most_bytes);
        }
    }
}

static void write_ring(const struct ring *ring, char *path)
{
    static char text[EVENTS * 120];
    size_t at = 0;
    at += (size_t)sprintf(text, "fabricast-trace 1\nranks %d\ncomm 0 0-%d\nevents %d\n", N, N - 1, 2 * N * ROUNDS);
    for (int r = 0; r < N; r++) {
        at += (size_t)sprintf(text + at, "rank %d %d\n", r, 2 * ROUNDS);
        for (int k = 0; k < ROUNDS; k++) {
            int to = (r + ring->shift[k]) % N, from = (r + N - ring->shift[k]) % N;
            at += (size_t)sprintf(text + at, "send 0 0 %.9f comm=0 peer=%d tag=%d bytes=%d\n", ring->compute_s[k][r],
                                  to, k, ring->bytes[k][r]);
            at += (size_t)sprintf(text + at, "recv 0 0 0 comm=0 peer=%d tag=%d bytes=%d\n", from, k,
                                  ring->bytes[k][from]);
        }
    }
    at += (size_t)sprintf(text + at, "end\n");
    CU_ASSERT_FATAL(fc_test_file(path, ".txt", text, at));
}

/* Columns of the parameters, fixed at their values; their reduced costs are the derivatives. */
enum { SEND = 1, RECV, LATENCY, GAP, PER_BYTE, SCALE, PARAMETERS = SCALE };
struct program {
    glp_prob *lp;
    int index[16];
    double value[16];
    int n;
};

static void term(struct program *p, int column, double value)
{
    p->n++;
    p->index[p->n] = column;
    p->value[p->n] = value;
}
/* column >= what the terms say: -column + terms <= 0. */
static void later_than_terms(struct program *p, int column)
{
    int row = glp_add_rows(p->lp, 1);
    term(p, column, -1);
    glp_set_row_bnds(p->lp, row, GLP_UP, 0, 0);
    glp_set_mat_row(p->lp, row, p->n, p->index, p->value);
    p->n = 0;
}
static int new_time(struct program *p)
{
    int column = glp_add_cols(p->lp, 1);
    glp_set_col_bnds(p->lp, column, GLP_LO, 0, 0);
    return column;
}

/* LogGP as replay_ends.c plays it: a send starts when processor (clock) and card are free and takes o; the card g + (n - 1) G;
 * the message is there o + L after the start; a receive starts when it is there and processor and card are free, and
 * takes o + (n - 1) G; its card g + (n - 1) G. */
static void build(struct program *p, const struct ring *ring)
{
    int clock[N], out[N], in[N], there[N], end;
    for (int r = 0; r < N; r++) clock[r] = out[r] = in[r] = 0;
    for (int k = 0; k < ROUNDS; k++) {
        for (int r = 0; r < N; r++) {
            int start = new_time(p), done = new_time(p), card = new_time(p);
            double more = ring->bytes[k][r] - 1;
            term(p, SCALE, ring->compute_s[k][r]);
            if (clock[r]) term(p, clock[r], 1);
            later_than_terms(p, start);
            if (out[r]) {
                term(p, out[r], 1);
                later_than_terms(p, start);
            }
            term(p, start, 1);
            term(p, SEND, 1);
            later_than_terms(p, done);
            term(p, start, 1);
            term(p, GAP, 1);
            term(p, PER_BYTE, more);
            later_than_terms(p, card);
            there[r] = new_time(p);
            term(p, start, 1);
            term(p, SEND, 1);
            term(p, LATENCY, 1);
            later_than_terms(p, there[r]);
            clock[r] = done;
            out[r] = card;
        }
        for (int r = 0; r < N; r++) {
            int from = (r + N - ring->shift[k]) % N, start = new_time(p), done = new_time(p), card = new_time(p);
            double more = ring->bytes[k][from] - 1;
            const int after[] = {clock[r], there[from], in[r]};
            for (int i = 0; i < 3; i++) {
                if (!after[i]) continue;
                term(p, after[i], 1);
                later_than_terms(p, start);
            }
            term(p, start, 1);
            term(p, RECV, 1);
            term(p, PER_BYTE, more);
            later_than_terms(p, done);
            term(p, start, 1);
            term(p, GAP, 1);
            term(p, PER_BYTE, more);
            later_than_terms(p, card);
            clock[r] = done;
            in[r] = card;
        }
    }
    end = new_time(p);
    for (int r = 0; r < N; r++) {
        term(p, clock[r], 1);
        later_than_terms(p, end);
        term(p, there[r], 1);
        later_than_terms(p, end);
    }
    glp_set_obj_coef(p->lp, end, 1);
}

static void duals(void)
{
    const double value[1 + PARAMETERS] = {0, 2e-6, 2e-6, 3e-6, 1e-6, 1.0 / 700e6, 1};
    struct ring ring;
    struct program p = {.lp = glp_create_prob()};
    struct fc_answer a;
    char path[64];
    make_ring(&ring, 20000);
    write_ring(&ring, path);
    glp_add_cols(p.lp, PARAMETERS);
    for (int c = 1; c <= PARAMETERS; c++) glp_set_col_bnds(p.lp, c, GLP_FX, value[c], value[c]);
    build(&p, &ring);
    glp_smcp how;
    glp_init_smcp(&how);
    how.msg_lev = GLP_MSG_OFF;
    how.tol_bnd = how.tol_dj = 1e-12;
    glp_term_out(GLP_OFF);
    glp_scale_prob(p.lp, GLP_SF_AUTO);
    CU_ASSERT_EQUAL_FATAL(glp_simplex(p.lp, &how), 0);
    CU_ASSERT_EQUAL_FATAL(glp_get_status(p.lp), GLP_OPT);
    struct fc_question q = {.machine = "bgl-64",
                            .trace = path,
                            .network = "ideal",
                            .loggops = "L=3us,o=2us,g=1us,G=1.4285714285714286ns/B,S=1GB",
                            .sensitivity = true,
                            .seed = 1,
                            .threads = 1};
    ask(&q, &a);
    CU_ASSERT(fc_near(a.p.time_s, glp_get_obj_val(p.lp), 1e-9));
    static const char *const names[] = {NULL, "send", "recv", "latency", "gap", NULL, "compute"};
    for (int c = 1; c <= PARAMETERS; c++) {
        if (!names[c]) continue;
        const struct fc_sensitivity_row *r = row_of(&a, names[c]);
        CU_ASSERT_PTR_NOT_NULL_FATAL(r);
        CU_ASSERT(fabs(r->derivative - glp_get_col_dual(p.lp, c)) <= 1e-6 * a.p.time_s / value[c]);
        CU_ASSERT(r->derivative_by && !strcmp(r->derivative_by, "path"));
        CU_ASSERT(glp_get_col_dual(p.lp, c) >= 0);
    }
    const struct fc_sensitivity_row *g = row_of(&a, "link:G"); /* in bytes/s: dT/db = -dT/dG / b^2 */
    CU_ASSERT_PTR_NOT_NULL_FATAL(g);
    double dual = glp_get_col_dual(p.lp, PER_BYTE);
    CU_ASSERT(dual > 0);
    CU_ASSERT(fc_near(g->derivative, -dual * value[PER_BYTE] * value[PER_BYTE], 1e-6));
    fc_answer_free(&a);
    glp_delete_prob(p.lp);
    remove(path);
}

/* ---- contention: predictions of machines that were changed by hand ---- */

static double time_of(struct fc_question q, const char *setting)
{
    struct fc_answer a;
    q.settings = &setting;
    q.n_settings = 1;
    q.sensitivity = false;
    ask(&q, &a);
    double time_s = a.p.time_s;
    fc_answer_free(&a);
    return time_s;
}

/* A parameter of the test below so many times what it is. */
static double time_by(struct fc_question q, const char *parameter, double times)
{
    char setting[80];
    if (!strcmp(parameter, "compute"))
        snprintf(setting, sizeof setting, "software.compute_scale=%.9g", times);
    else if (!strncmp(parameter, "link", 4))
        snprintf(setting, sizeof setting, "links.torus.bandwidth=%.9gMB/s", 175 * times);
    else
        snprintf(setting, sizeof setting, "software.%s=%.9gus", parameter, 1.5 * times);
    return time_of(q, setting);
}

static void changed_by_hand(void)
{
    struct ring ring;
    char path[64];
    make_ring(&ring, 1000);
    write_ring(&ring, path);
    struct fc_question q = {.machine = "bgl-64",
                            .trace = path,
                            .sensitivity = true,
                            .search_s = 0.02,
                            .search_given = true,
                            .seed = 1,
                            .threads = 1};
    struct fc_answer a;
    ask(&q, &a);
    CU_ASSERT(a.sensitivity->cut && a.sensitivity->by_path); /* derivatives, twice and half are there all the same */
    static const struct {
        const char *parameter, *twice, *half;
    } by_hand[] = {{"send", "software.send=3us", "software.send=0.75us"},
                   {"recv", "software.recv=3us", "software.recv=0.75us"},
                   {"compute", "software.compute_scale=2", "software.compute_scale=0.5"},
                   {"link:torus", "links.torus.bandwidth=350MB/s", "links.torus.bandwidth=87.5MB/s"}};
    for (size_t i = 0; i < FC_COUNT(by_hand); i++) {
        const struct fc_sensitivity_row *r = row_of(&a, by_hand[i].parameter);
        CU_ASSERT_PTR_NOT_NULL_FATAL(r);
        double twice = time_of(q, by_hand[i].twice), half = time_of(q, by_hand[i].half);
        CU_ASSERT(fabs(r->if_doubled_percent - 100 * (twice / a.p.time_s - 1)) < 1e-6);
        CU_ASSERT(fabs(r->if_halved_percent - 100 * (half / a.p.time_s - 1)) < 1e-6);
        CU_ASSERT(strncmp(r->parameter, "link", 4) ? r->derivative > 0 : r->derivative < 0);
        double h = 1e-4, more = time_by(q, by_hand[i].parameter, 1 + h), less = time_by(q, by_hand[i].parameter, 1 - h);
        CU_ASSERT(fc_near(r->derivative * r->value, (more - less) / (2 * h), 5e-3));
    }
    CU_ASSERT(a.sensitivity->ideal_s <= a.p.time_s && a.sensitivity->balanced_s > 0);
    const struct fc_sensitivity_row *eager = row_of(&a, "eager"); /* half: blocking sends in a ring never end */
    CU_ASSERT(eager && isnan(eager->derivative) && isnan(eager->if_halved_percent) && eager->if_doubled_percent == 0);
    q.search_s = 1e-3; /* next to nothing: derivatives alone */
    struct fc_answer quick;
    ask(&q, &quick);
    const struct fc_sensitivity_row *send = row_of(&quick, "send");
    CU_ASSERT(send && send->derivative == row_of(&a, "send")->derivative && isnan(send->if_doubled_percent));
    CU_ASSERT(quick.sensitivity->n_times <= 2 && quick.sensitivity->cut);
    fc_answer_free(&quick);
    struct fc_help help[FC_MOST_HELPS];
    int n = fc_answer_helps(&a, help);
    CU_ASSERT(n > 3);
    for (int i = 1; i < n; i++) CU_ASSERT(help[i - 1].percent <= help[i].percent);
    fc_answer_free(&a);
    const char *none = "software.compute_scale=0"; /* twice of nothing is nothing */
    q.settings = &none;
    q.n_settings = 1;
    ask(&q, &a);
    CU_ASSERT(!row_of(&a, "compute") && row_of(&a, "gap"));
    fc_answer_free(&a);
    remove(path);
}

/* ---- a job whose time jumps with any small change: derivatives with meetings kept, which sum up to T ---- */

static void meetings_kept(void)
{
    struct fc_question q = {.machine = "qsnet-64",
                            .trace = "traces/samples/lammps-lj-16.fct",
                            .time_only = true,
                            .sensitivity = true,
                            .search_s = 1e-3,
                            .search_given = true,
                            .seed = 1,
                            .threads = 1};
    struct fc_answer a;
    double sum_s = 0;
    ask(&q, &a);
    CU_ASSERT(!a.sensitivity->by_path && a.sensitivity->cut && a.sensitivity->n_times == 0);
    for (size_t i = 0; i < a.sensitivity->n; i++) {
        const struct fc_sensitivity_row *r = &a.sensitivity->rows[i];
        if (!strcmp(r->parameter, "eager")) continue;
        CU_ASSERT(r->derivative_by && !strcmp(r->derivative_by, "kept") && isfinite(r->derivative));
        if (strpbrk(r->parameter, " >") || !strcmp(r->parameter, "imbalance")) continue; /* part of others */
        sum_s += fabs(r->derivative) * r->value;
    }
    CU_ASSERT(fc_near(sum_s, a.p.time_s, 1e-3));
    const struct fc_sensitivity_row *leaf = row_of(&a, "link:leaf"), *compute = row_of(&a, "compute");
    CU_ASSERT_FATAL(leaf && compute); /* regression over 10 %: -0.55 and 0.40 of T */
    CU_ASSERT(fabs(leaf->derivative * leaf->value / a.p.time_s + 0.55) < 0.02);
    CU_ASSERT(fabs(compute->derivative * compute->value / a.p.time_s - 0.4) < 0.02);
    fc_answer_free(&a);
}

/* ---- a time that jumps: the design of 64 replays ---- */

/* T is linear in ln of what each is multiplied by, with interactions of two, which a design and its mirror image do not see; and
 * jumps. */
enum { FACTORS = 9, RUNS = 64 };
struct designed {
    double slope[FACTORS]; /* dT / d ln, seconds */
    double interaction_s, jump_s;
    uint32_t n, wrong; /* runs; runs in which not every parameter is up or down by 10 % */
};
static const struct {
    const char *parameter;
    size_t field;
} factors[FACTORS] = {{"send", offsetof(struct fc_scales, send)},
                      {"recv", offsetof(struct fc_scales, recv)},
                      {"latency", offsetof(struct fc_scales, latency)},
                      {"gap", offsetof(struct fc_scales, gap)},
                      {"per_byte", offsetof(struct fc_scales, per_byte)},
                      {"compute", offsetof(struct fc_scales, compute)},
                      {"imbalance", offsetof(struct fc_scales, imbalance)},
                      {"link:torus", offsetof(struct fc_scales, bandwidth[0])},
                      {"link:injection", offsetof(struct fc_scales, bandwidth[1])}};

static enum fc_code designed_time(void *context, const struct fc_scales *scales, double *time_s, struct fc_status *st)
{
    struct designed *d = context;
    double ln[FACTORS];
    bool right = scales->eager == 1 && scales->link_bandwidth == 1 && scales->gap_more_s == 0 && !scales->ideal;
    *time_s = 1 + d->jump_s * (2 * fc_random_real(3, 0, d->n) - 1);
    for (int k = 0; k < FACTORS; k++) {
        double factor;
        memcpy(&factor, (const char *)scales + factors[k].field, sizeof factor);
        ln[k] = log(factor);
        right = right && fc_near(fabs(ln[k]), log(1.1), 1e-12);
        *time_s += d->slope[k] * ln[k];
        for (int i = 0; i <= k; i++) *time_s += d->interaction_s * (1 + i - 2 * (k % 2)) * ln[k] * ln[i];
    }
    d->n++;
    d->wrong += !right;
    return st->code;
}

/* Finds the slopes of d; how far they are off, as a root of the mean square. */
static double find_slopes(struct designed *d)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_sensitivity found;
    struct fc_arena arena = {0};
    struct fc_status st = {0};
    double compute_s[1] = {1}, no_compute_s[1] = {0}, squares = 0;
    struct fc_gradient path[FC_GRADIENTS] = {{.rest_s = 0}};
    CU_ASSERT_EQUAL_FATAL(fc_machine_load("bgl-64", &machine, &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(fc_network_build(&machine, &net, &st), FC_OK);
    machine.software.per_byte_s = 1e-10;
    for (int view = 0; view < FC_GRADIENTS; view++) /* only with meetings kept it is a second, as T */
        path[view] = (struct fc_gradient){.rest_s = view == FC_MEETINGS_KEPT ? 1 : 7, .compute_s = no_compute_s};
    path[FC_MEETINGS_KEPT].slower_s[0] = path[FC_MEETINGS_KEPT].faster_s[0] = 0.25;
    double *busy_s = fc_alloc(&arena, net.n_links, sizeof *busy_s, &st);
    CU_ASSERT_PTR_NOT_NULL_FATAL(busy_s);
    busy_s[5] = 1; /* one link has a row, which is not in the design */
    struct fc_sensitivity_job job = {.net = &net,
                                     .machine = &machine,
                                     .software = &machine.software,
                                     .busy_s = busy_s,
                                     .time_s = 1,
                                     .of_trace = true,
                                     .path = path,
                                     .rank_compute_s = compute_s,
                                     .n_ranks = 1,
                                     .most_times = RUNS,
                                     .some_times = RUNS,
                                     .time_under = designed_time,
                                     .context = d};
    d->n = d->wrong = 0;
    CU_ASSERT_EQUAL_FATAL(fc_sensitivity_find(&job, &arena, &found, &st), FC_OK);
    CU_ASSERT(d->n == RUNS && found.n_times == RUNS && d->wrong == 0 && !found.by_path && found.cut);
    CU_ASSERT_EQUAL(found.n, FACTORS + 2); /* and eager, which has no derivative */
    const struct fc_answer a = {.sensitivity = &found};
    for (int k = 0; k < FACTORS; k++) {
        const struct fc_sensitivity_row *r = row_of(&a, factors[k].parameter);
        CU_ASSERT_FATAL(r && r->derivative_by && !strcmp(r->derivative_by, "difference"));
        squares += pow(r->derivative * r->value - d->slope[k], 2) / FACTORS;
    }
    const struct fc_sensitivity_row *link = &found.rows[found.n - 1];
    CU_ASSERT(!strcmp(link->derivative_by, "kept") && fc_near(link->derivative * link->value, -0.25, 1e-12));
    fc_arena_free(&arena);
    fc_network_free(&net);
    fc_machine_free(&machine);
    return sqrt(squares);
}

static void design(void)
{
    struct designed d = {.slope = {0.1, 0.2, 0.05, 0, 0.03, 0.4, 0.01, -0.5, -0.25}};
    CU_ASSERT(find_slopes(&d) < 1e-13);
    d.interaction_s = 0.5;
    CU_ASSERT(find_slopes(&d) < 1e-12);
    d.jump_s = 0.01; /* one difference of two replays is off by jump / sqrt(6) / ln 1.1, 0.043; the mean of 32 less */
    double off_s = find_slopes(&d), expected_s = d.jump_s / sqrt(3) / sqrt(RUNS) / log(1.1);
    CU_ASSERT(off_s > expected_s / 2 && off_s < 2 * expected_s);
}

/* ---- one phase: T = compute + n o + bytes / b: everything in closed form ---- */

static void one_phase(void)
{
    static const char yaml[] =
        "name: two\nnetwork: {family: mesh, dims: [2]}\nlinks: {mesh: {bandwidth: 1 GB/s, latency: 0 s}, injection: "
        "{bandwidth: 4 GB/s}}\nrouter: {delay: 0 s}\nsoftware: {send: 1us, recv: 1us}\n";
    char machine[64], graph[64];
    static const char bytes[] = "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 1000000\n";
    CU_ASSERT_FATAL(fc_test_file(machine, ".yaml", yaml, sizeof yaml - 1));
    CU_ASSERT_FATAL(fc_test_file(graph, ".mtx", bytes, sizeof bytes - 1));
    struct fc_question q = {.machine = machine, .graph = graph, .compute_s = 1e-3, .sensitivity = true, .threads = 1};
    struct fc_answer a;
    ask(&q, &a);
    const struct fc_sensitivity_row *link = row_of(&a, "link:mesh"), *compute = row_of(&a, "compute");
    CU_ASSERT_PTR_NOT_NULL_FATAL(link);
    CU_ASSERT_PTR_NOT_NULL_FATAL(compute);
    double network_s = 1e-3; /* 1 MB at 1 GB/s */
    CU_ASSERT(fc_near(link->derivative, -network_s / 1e9, 1e-5));
    CU_ASSERT(fc_near(link->if_doubled_percent, -100 * network_s / 2 / a.p.time_s, 1e-6));
    CU_ASSERT(fc_near(link->if_halved_percent, 100 * network_s / a.p.time_s, 1e-6));
    /* bytes / (b (1 - x)) is longer by y T: 1 - x = 1 / (1 + y T / network) */
    for (int k = 0; k < 3; k++) {
        double y = fc_sensitivity_rises[k] / 100;
        CU_ASSERT(fc_near(link->tolerance_percent[k], 100 * (1 - 1 / (1 + y * a.p.time_s / network_s)), 5e-3));
        CU_ASSERT(fc_near(compute->tolerance_percent[k], 100 * y * a.p.time_s / 1e-3, 5e-3));
    }
    CU_ASSERT(fc_near(compute->derivative, 1, 1e-9) && compute->value == 1e-3);
    const struct fc_sensitivity_row *injection = row_of(&a, "link:injection"); /* four times as fast: binds nothing */
    CU_ASSERT(injection && injection->if_doubled_percent == 0);
    CU_ASSERT(!a.sensitivity->cut && isnan(a.sensitivity->balanced_s));
    fc_answer_free(&a);
    remove(machine);
    remove(graph);
}

/* A job that takes no time: nothing grows by percents of it, and nothing is looked for. */
static void no_time(void)
{
    static const uint32_t self[] = {0};
    static const double bytes[] = {1};
    struct fc_question q = {.machine = "bgl-64", .sensitivity = true, .seed = 1, .threads = 1};
    struct fc_demand demand;
    struct fc_answer a;
    struct fc_status st = {0};
    CU_ASSERT_EQUAL_FATAL(fc_demand_of_pairs("x", 2, 1, self, self, bytes, &demand, &st), FC_OK);
    q.traffic = &demand;
    ask(&q, &a);
    CU_ASSERT(a.p.time_s == 0 && a.sensitivity->n > 0 && !a.sensitivity->cut);
    CU_ASSERT_EQUAL(a.sensitivity->n_times, 4 * a.sensitivity->n);
    for (size_t i = 0; i < a.sensitivity->n; i++) {
        const struct fc_sensitivity_row *r = &a.sensitivity->rows[i];
        CU_ASSERT(r->derivative == 0 && isnan(r->if_doubled_percent) && isnan(r->tolerance_percent[0]));
    }
    fc_answer_free(&a);
    fc_demand_free(&demand);
}

int suite_sensitivity(void)
{
    static const CU_TestInfo tests[] = {
        {"derivatives are the duals of the job as a linear program", duals},
        {"twice and half are what changed machines say", changed_by_hand},
        {"a time that jumps: meetings kept", meetings_kept},
        {"a time that jumps: slopes by a design of 64 replays", design},
        {"one phase in closed form", one_phase},
        {"a job that takes no time", no_time},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("sensitivity", tests);
}
