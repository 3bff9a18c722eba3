/* validate_published.c - published curves that are queueing alone, from the kernel and from the queueing
 * model: order and crossings. Blue Gene/L, Figures 2 and 4 (Adiga et al., IBM J. Res. Dev. 49(2/3), 2005; on
 * 8 x 8 x 8, the paper's are 32 x 32 x 32); TMesh, Figure 8 (Liu et al.; the standard torus' router is not
 * printed: twice the delay of a mesh router, all else alike). The model has the parameters of theory, or,
 * marked "calibrated", those that a calibration of each router with the default budget gives. A row a
 * statement: what decides, from the kernel, from the model, the limit, and whether each holds; exit status 1
 * where the kernel or the calibrated model misses one. The model of theory knows nothing of arbitration and
 * is printed beside them.
 * Figures without a limit are for information. `make validate` */
#include "solvers/calibration/calibration.h"
#include "reproduce/bluegene.h"

#include <string.h>

/* The default of `fabricast calibrate`. With 6 the model got the arbitrations of Figure 4 wrong. */
#define BUDGET_S 120
#define TMESH "tmesh-216"
#define TORUS "tests/machines/torus-6x6x6x10.yaml"
enum { KERNEL, THEORY, CALIBRATED, WAYS };
static const char *const ways[WAYS] = {"kernel", "theory", "calibrated"};
static int n_missed;

/* ---- one router ---- */

struct curve {
    struct fc_calibration calibration;
    struct fc_demand demand;
    struct fc_turns turns;
    struct fc_calibrated *model[WAYS]; /* KERNEL: NULL */
    struct fc_network net;
    struct fc_machine machine;
    struct fc_flit_settings settings;
    struct fc_status st;
};

static bool start(struct curve *c)
{
    struct fc_calibration_settings how = {.budget_s = BUDGET_S, .threads = 2, .seed = 1};
    fc_flit_defaults(&c->settings);
    c->settings.seed = 3; /* not the calibration's */
    if (fc_demand_from_pattern(&c->net, "uniform", 1, &c->demand, &c->st) ||
        fc_turns_make(&c->net, &c->demand, &c->settings, 2000000, &c->turns, &c->st) ||
        fc_calibrated_open(NULL, &c->turns, "uniform", &c->settings, &c->model[THEORY], &c->st) ||
        fc_calibrate(&c->machine, &how, &c->calibration, &c->st) ||
        fc_calibrated_open(&c->calibration, &c->turns, "uniform", &c->settings, &c->model[CALIBRATED], &c->st)) {
        printf("%s: %s\n", c->machine.name, c->st.message);
        n_missed++;
        return false;
    }
    return true;
}

static bool open_machine(struct curve *c, const char *name)
{
    memset(c, 0, sizeof *c);
    if (!fc_machine_load(name, &c->machine, &c->st) && !fc_network_build(&c->machine, &c->net, &c->st)) return start(c);
    printf("%s: %s\n", name, c->st.message);
    n_missed++;
    return false;
}

/* networks point at their machine, which is moved: built again */
static bool open_bgl(struct curve *c, const char *edits)
{
    struct fc_bench b;
    memset(c, 0, sizeof *c);
    if (fc_bench_open(&b, "bgl-512", edits, &c->st)) {
        printf("%s: %s\n", edits, c->st.message);
        n_missed++;
        return false;
    }
    fc_network_free(&b.net);
    c->machine = b.machine;
    return !fc_network_build(&c->machine, &c->net, &c->st) && start(c);
}

static void stop(struct curve *c)
{
    fc_calibrated_close(c->model[THEORY]);
    fc_calibrated_close(c->model[CALIBRATED]);
    fc_turns_free(&c->turns);
    fc_calibration_free(&c->calibration);
    fc_demand_free(&c->demand);
    fc_network_free(&c->net);
    fc_machine_free(&c->machine);
}

/* Mean latency in cycles; NaN: saturated. */
static double latency(struct curve *c, int way, double load)
{
    struct fc_flit_result r;
    struct fc_calibrated_answer a;
    double cycles = NAN;
    if (way != KERNEL)
        return fc_calibrated_solve(c->model[way], load, &a, &c->st) ? (double)NAN : a.model.latency_mean_cycles;
    c->settings.load_flits_per_cycle = load;
    if (!fc_flit_run(&c->net, &c->demand, NULL, &c->settings, &r, &c->st)) {
        if (r.stable) cycles = r.latency_mean_cycles;
        fc_flit_free(&r);
    }
    return cycles;
}

static double saturation(struct curve *c, int way)
{
    double load = NAN;
    if (way != KERNEL) return fc_calibrated_saturation(c->model[way], NULL);
    return fc_flit_saturation(&c->net, &c->demand, &c->settings, &load, &c->st) ? (double)NAN : load;
}

/* ---- rows ---- */

static void head(void)
{
    printf("%-24s %-62s %10s", "figure", "what is compared", "published");
    for (int w = 0; w < WAYS; w++) printf(" %10s", ways[w]);
    printf("  limit\n");
}

/* value[WAYS] must lie in low..high (both infinite: for information). */
static void row(const char *figure, const char *what, const char *published, const double *value, double low,
                double high)
{
    bool judged = isfinite(low) || isfinite(high), good = true;
    printf("%-24s %-62s %10s", figure, what, published);
    for (int w = 0; w < WAYS; w++) {
        if (isnan(value[w]))
            printf(" %10s", "-");
        else
            printf(" %10.2f", value[w]);
        if (w != THEORY) good = good && value[w] >= low && value[w] <= high;
    }
    if (!judged)
        printf("\n");
    else if (isinf(high))
        printf("  > %g  %s\n", low, good ? "PASS" : "MISSED");
    else if (isinf(low))
        printf("  < %g  %s\n", high, good ? "PASS" : "MISSED");
    else
        printf("  %g to %g  %s\n", low, high, good ? "PASS" : "MISSED");
    n_missed += judged && !good;
    fflush(stdout);
}

/* ---- Blue Gene/L ---- */

static void figure_2(void)
{
    enum { DETERMINISTIC, V1P1, V2P1, V2P2, V4P4, N };
    static const char *const edits[N] = {"router.arbitration=random; router.vcs=1; router.routing=dimension-order",
                                         "router.arbitration=random; router.vcs=1; router.paths=1",
                                         "router.arbitration=random; router.vcs=2; router.paths=1",
                                         "router.arbitration=random; router.vcs=2; router.paths=2",
                                         "router.arbitration=random; router.vcs=4; router.paths=4"};
    static const char *const names[N] = {"deterministic", "1 channel, 1 path", "2 channels, 1 path",
                                         "2 channels, 2 paths", "4 channels, 4 paths"};
    static const char figure[] = "Blue Gene/L, Figure 2";
    double half[N][WAYS], most[N][WAYS], edge[WAYS], x[WAYS];
    for (int i = 0; i < N; i++) {
        struct curve c;
        char what[96];
        if (!open_bgl(&c, edits[i])) return;
        for (int w = 0; w < WAYS; w++) {
            half[i][w] = latency(&c, w, fc_bgl_load(0.5));
            most[i][w] = latency(&c, w, fc_bgl_load(0.8));
            if (i == DETERMINISTIC) edge[w] = 100 * saturation(&c, w) / fc_bgl_load(1);
        }
        stop(&c);
        snprintf(what, sizeof what, "%s: response, links 50 %% busy, cycles", names[i]);
        row(figure, what, "-", half[i], -INFINITY, INFINITY);
        snprintf(what, sizeof what, "%s: 80 %% (-: saturated)", names[i]);
        row(figure, what, "-", most[i], -INFINITY, INFINITY);
    }
    for (int w = 0; w < WAYS; w++) x[w] = 100 * half[V1P1][w] / half[DETERMINISTIC][w];
    row(figure, "dynamic far below deterministic: share at 50 %, %", "order", x, -INFINITY, 70);
    row(figure, "deterministic saturates with the links busy for, %", "crossing", edge, -INFINITY, 75);
    for (int w = 0; w < WAYS; w++) x[w] = 100 * (most[V1P1][w] - most[V2P1][w]) / (most[V1P1][w] - most[V2P2][w]);
    row(figure, "a 2nd channel alone, of what it gains with a 2nd path, %", "little", x, -INFINITY, 50);
    for (int w = 0; w < WAYS; w++) x[w] = most[V1P1][w] / most[V2P2][w];
    row(figure, "2 channels and paths faster than 1: ratio at 80 %", "order", x, 1.05, INFINITY);
    for (int w = 0; w < WAYS; w++) x[w] = 100 * (most[V2P2][w] - most[V4P4][w]) / (most[V1P1][w] - most[V2P2][w]);
    row(figure, "4 and 4, of the gain of 2 and 2, %", "marginal", x, 0, 50);
}

static void figure_4(void)
{
    enum { RANDOM, JSQ, SLQ, N };
    static const char *const edits[N] = {"router.arbitration=random", "router.arbitration=jsq",
                                         "router.arbitration=slq"};
    static const char figure[] = "Blue Gene/L, Figure 4";
    double at60[N][WAYS], at95[N][WAYS], x[WAYS];
    for (int i = 0; i < N; i++) {
        struct curve c;
        if (!open_bgl(&c, edits[i])) return;
        for (int w = 0; w < WAYS; w++) {
            at60[i][w] = latency(&c, w, fc_bgl_load(0.6));
            at95[i][w] = latency(&c, w, fc_bgl_load(0.95));
        }
        stop(&c);
    }
    for (int w = 0; w < WAYS; w++) x[w] = 100 * (at95[JSQ][w] / at95[RANDOM][w] - 1);
    row(figure, "JSQ changes the response, links 95 % busy, %", "-20", x, -26, -14);
    for (int w = 0; w < WAYS; w++) x[w] = 100 * (at60[SLQ][w] / at60[RANDOM][w] - 1);
    row(figure, "SLQ in light traffic (60 %): little, %", "little", x, -3, 3);
    for (int w = 0; w < WAYS; w++) x[w] = at60[JSQ][w] / at60[RANDOM][w];
    row(figure, "JSQ is never slower: ratio at 60 %", "order", x, -INFINITY, 1);
}

/* ---- TMesh ---- */

static void figure_8(void)
{
    static const char figure[] = "TMesh, Figure 8";
    struct curve mesh, torus;
    double low[WAYS], high[WAYS], most[WAYS], beyond[WAYS];
    if (!open_machine(&mesh, TMESH)) return;
    if (!open_machine(&torus, TORUS)) return;
    for (int w = 0; w < WAYS; w++) {
        double full = saturation(&torus, w);
        most[w] = 100 * (saturation(&mesh, w) / full - 1);
        low[w] = latency(&mesh, w, 0.1 * full) / latency(&torus, w, 0.1 * full);
        high[w] = latency(&mesh, w, 0.97 * full) / latency(&torus, w, 0.97 * full);
        beyond[w] = isnan(latency(&torus, w, 1.1 * full)) ? latency(&mesh, w, 1.1 * full) : NAN;
    }
    stop(&torus);
    stop(&mesh);
    row(figure, "maximum throughput above the standard torus', %", "13.4", most, 0, INFINITY);
    row(figure, "latency over the torus', 10 % of its throughput", "above 1", low, 1, INFINITY);
    row(figure, "the same at 97 %: has come nearer", "-", high, -INFINITY, INFINITY);
    row(figure, "crossed at 110 %: latency, cycles, where the torus is saturated", "crossing", beyond, 0, INFINITY);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } figures[] = {{"bluegene-2", figure_2}, {"bluegene-4", figure_4}, {"tmesh-8", figure_8}};
    head();
    for (size_t i = 0; i < FC_COUNT(figures); i++)
        if (argc < 2 || strstr(figures[i].name, argv[1])) figures[i].run();
    printf("%d missed\n", n_missed);
    return n_missed > 0;
}
