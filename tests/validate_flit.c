/* validate_flit.c - the flit-level kernel against exact answers, and against every point of an independent
 * simulator where its curves are beside the source tree: latency within 3 % up to 80 % of saturation,
 * saturation within 3 %, accepted load in overload within 5 %, mean hops within 2 %. Prints a row a
 * comparison; exit status 1 when one fails. `make validate`
 *
 * Saturation is compared by the rule of the reference: the greatest load at which the mean latency of packets
 * born in a measurement of the same length stays below the same limit (1000 or 2000 cycles). */
#include "tests/flit_oracles.h"
#include "tests/flit_reference.h"
#include "tests/flit_ugal_reference.h"

static int n_rows, n_failed;

/* percent < 0: for information only. */
static void row(const char *what, const char *how, double ours, double theirs, double percent)
{
    double off = theirs != 0 ? 100 * (ours / theirs - 1) : ours == 0 ? 0 : (double)INFINITY;
    bool judged = percent >= 0, good = fabs(off) <= percent;
    n_rows += judged;
    n_failed += judged && !good;
    printf("%-30s %-34s %11.5g %11.5g %+8.2f %%  %s\n", what, how, ours, theirs, off,
           !judged ? "-"
           : good  ? "PASS"
                   : "FAIL");
    fflush(stdout);
}

static void broken(const char *what, const struct fc_status *st)
{
    char text[1600];
    fc_status_text(st, text, sizeof text);
    printf("%-30s %s  FAIL\n", what, text);
    n_rows++;
    n_failed++;
}

/* ---- exact answers
 * ----------------------------------------------------------------------------------------------------- */

/* 200 pairs of nodes; the row shows the sum of their latencies and the greatest difference of one. */
static void zero_load(const struct oracle_machine *o, int engine, int delay, bool stage, enum oracle_flow flow)
{
    struct fc_status st = {0};
    char how[96];
    double sum, worst = oracle_zero_load_worst(o, engine, delay, stage, flow, 200, &sum, &st);
    snprintf(how, sizeof how, "zero load, %s, %s%s", fc_flit_engine_names[engine], stage ? "VC stage, " : "",
             flow == ORACLE_WORMHOLE ? "wormhole" : "cut-through");
    if (!st.code)
        row(o->name, how, sum + worst, sum, 1e-9);
    else if (!oracle_not_taken(&st))
        broken(o->name, &st);
}

static void rings_and_crossbars(int engine)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_status st = {0};
    char how[96];
    if (!oracle_open(oracle_ring, &machine, &net, &st)) {
        broken("ring", &st);
        return;
    }
    static const struct {
        double load;
        uint32_t flits;
    } queues[] = {{0.5, 1}, {0.5, 4}, {0.8, 4}, {0.7, 16}, {0.5, 64}};
    for (size_t i = 0; i < FC_COUNT(queues) && !st.code; i++) {
        snprintf(how, sizeof how, "Geo/D/1, load %g, %u flits, %s", queues[i].load, queues[i].flits,
                 fc_flit_engine_names[engine]);
        double wait = oracle_measure_ring(&net, engine, 1, queues[i].load, queues[i].flits, 2000000, &st);
        if (!st.code) row("source queue, wait", how, wait, oracle_geo_d_1(queues[i].load, queues[i].flits), 2);
    }
    for (uint32_t hops = 1; hops <= 2 && !st.code; hops++) {
        snprintf(how, sizeof how, "%u hop%s on, saturated, %s", hops, hops == 1 ? "" : "s",
                 fc_flit_engine_names[engine]);
        double accepted = oracle_measure_ring(&net, engine, hops, 0, 4, 100000, &st);
        if (!st.code) row("ring of 8, accepted", how, accepted, 1.0 / hops, 1);
    }
    if (st.code && !oracle_not_taken(&st)) broken("ring", &st);
    oracle_close(&machine, &net);
    st = (struct fc_status){0};
    if (!oracle_open(oracle_crossbar, &machine, &net, &st)) {
        broken("crossbar", &st);
        return;
    }
    snprintf(how, sizeof how, "256 inputs, saturated, %s", fc_flit_engine_names[engine]);
    double accepted = oracle_measure_crossbar(&net, engine, 20000, &st);
    if (!st.code)
        row("crossbar, accepted", how, accepted, 2 - sqrt(2), 1);
    else if (!oracle_not_taken(&st))
        broken("crossbar", &st);
    oracle_close(&machine, &net);
}

static void exact_answers(void)
{
    for (int engine = FC_ENGINE_EVENT; engine <= FC_ENGINE_CYCLE; engine++) {
        for (size_t i = 0; i < FC_COUNT(oracle_machines); i++) {
            bool bubble = strstr(oracle_machines[i].yaml, "[4, 4, 3]") != NULL;
            zero_load(&oracle_machines[i], engine, 2, false, ORACLE_CUT_THROUGH);
            if (!bubble) zero_load(&oracle_machines[i], engine, 3, true, ORACLE_WORMHOLE);
        }
        rings_and_crossbars(engine);
    }
}

/* ---- the independent simulator
 * ----------------------------------------------------------------------------------------- */

static bool run_point(const struct reference_curve *c, const struct reference_machine *m, double load,
                      struct fc_flit_result *r)
{
    struct fc_status st = {0};
    if (!reference_run(c, m, load, FC_ENGINE_AUTO, 1, 1, r, &st)) return true;
    broken(c->name, &st);
    return false;
}

/* Bisection to 0.2 % of the load. */
static double saturation(const struct reference_curve *c, const struct reference_machine *m)
{
    double low = 0.8 * c->stable_up_to, high = fmin(1.2 * c->stable_up_to, 1);
    while (high - low > 0.002 * c->stable_up_to) {
        struct fc_flit_result r;
        double middle = (low + high) / 2;
        if (!run_point(c, m, middle, &r)) return NAN;
        if (r.latency_mean_cycles < c->limit_cycles)
            low = middle;
        else
            high = middle;
        fc_flit_free(&r);
    }
    return low;
}

static void compare(const struct reference_curve *c, const struct reference_machine *m, const struct reference_point *p)
{
    struct fc_flit_result r;
    char how[64];
    if (!run_point(c, m, p->load, &r)) return;
    if (p->overload || !p->stable) {
        snprintf(how, sizeof how, "load %g, accepted", p->load);
        row(c->name, how, r.accepted_flits_per_node_cycle, p->accepted, 5);
    } else {
        bool judged = p->load <= 0.8 * c->stable_up_to * (1 + 1e-9);
        snprintf(how, sizeof how, "load %g (%.0f %%), latency", p->load, 100 * p->load / c->stable_up_to);
        row(c->name, how, r.latency_mean_cycles, p->latency_cycles, judged ? 3 : -1);
        snprintf(how, sizeof how, "load %g, hops", p->load);
        row(c->name, how, r.hops_mean, p->hops, judged ? 2 : -1);
    }
    fc_flit_free(&r);
}

static void compare_curve(const char *name)
{
    struct fc_status st = {0};
    struct reference_curve c;
    struct reference_machine m;
    if (!reference_read(name, &c, &st) || !reference_open(name, &m, &st)) {
        broken(name, &st);
        return;
    }
    for (int i = 0; i < c.n; i++) compare(&c, &m, &c.points[i]);
    row(name, "saturation, offered", saturation(&c, &m), c.stable_up_to, 3);
    reference_close(&m);
}

/* ---- UGAL, by the same simulator ---- */

/* From 5 to 80 % of the simulator's saturation within 5 %. */
static void compare_ugal(const struct ugal_curve *c)
{
    struct fc_status st = {0};
    struct ugal_machine m;
    char name[64], how[64];
    snprintf(name, sizeof name, "UGAL, %s", c->name);
    if (!ugal_open(c, &m, &st)) {
        broken(name, &st);
        return;
    }
    for (int i = 0; i < c->n && !st.code; i++) {
        const struct ugal_point *p = &c->point[i];
        struct fc_flit_result r;
        if (ugal_run(c, &m, p->load, 1, &r, &st)) break;
        double share = p->load / c->stable_up_to;
        snprintf(how, sizeof how, "load %g (%.0f %%), latency", p->load, 100 * share);
        row(name, how, r.latency_mean_cycles, p->latency_cycles, share > 0.82 ? -1 : 5);
        snprintf(how, sizeof how, "load %g, hops", p->load);
        row(name, how, r.hops_mean, p->hops, -1);
        fc_flit_free(&r);
    }
    if (st.code) broken(name, &st);
    double low = 0.7 * c->stable_up_to, high = 1.4 * c->stable_up_to;
    while (high - low > 0.01 * c->stable_up_to && !st.code) {
        struct fc_flit_result r;
        double middle = (low + high) / 2;
        if (ugal_run(c, &m, middle, 1, &r, &st)) break;
        *(r.latency_mean_cycles < 2000 ? &low : &high) = middle;
        fc_flit_free(&r);
    }
    row(name, "saturation, offered", low, c->stable_up_to, -1);
    ugal_close(&m);
}

int main(int argc, char **argv)
{
    const char *only = argc > 1 ? argv[1] : "";
    printf("%-30s %-34s %11s %11s %10s\n", "what", "how", "ours", "reference", "deviation");
    if (!*only || !strcmp(only, "exact")) exact_answers();
    if (!reference_there()) printf("no %s: the independent simulator's curves are skipped\n", REFERENCE_DIRECTORY);
    for (size_t i = 0; i < FC_COUNT(reference_names) && reference_there(); i++)
        if (strstr(reference_names[i], only)) compare_curve(reference_names[i]);
    for (size_t i = 0; i < FC_COUNT(ugal_curves); i++)
        if (!*only || !strcmp(only, "ugal")) compare_ugal(&ugal_curves[i]);
    printf("%d comparisons, %d failed\n", n_rows, n_failed);
    return n_failed > 0;
}
