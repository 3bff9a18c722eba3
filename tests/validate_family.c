/* validate_family.c - what calibrations of a family say of a machine that has none, held against the kernel.
 *
 * 1. Every kind of router among the shipped calibrations is left out in turn. The phases that its calibrations ran are
 *    predicted from the other kinds of its family, and held against the kernel's time of each.
 * 2. Machines on which nothing was tuned: small tori and fat-trees written down here, phases and jobs run through the kernel
 *    now.
 *
 * A row a machine: phases, median and greatest deviation in percent with the family's correction and of the bound alone,
 * median of the error stated, and how many it covers. Goals: of the rows of part 2 together, and of part 1, 80 to 98 %
 * covered (85 to 95 % are meant), and a median deviation below that of the bound. Exit status 1 when missed. `make validate`. */
#include "solvers/calibration/family.h"
#include "solvers/flit/run.h"
#include "traces/traces.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4000 };
struct tally {
    double off[MOST], bound_off[MOST], stated[MOST];
    int n, covered, unknown;
};

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
static double middle(double *list, int n, double part)
{
    if (n == 0) return NAN;
    qsort(list, (size_t)n, sizeof *list, by_value);
    return list[(int)fmin(n - 1, part * n)];
}

/* percent: stated, NaN unknown. ratio: kernel over prediction; bound_ratio: over the bound. */
static void count(struct tally *t, double ratio, double bound_ratio, double percent)
{
    if (t->n == MOST) return;
    double off = 100 * fabs(ratio - 1);
    t->off[t->n] = off;
    t->bound_off[t->n] = 100 * fabs(bound_ratio - 1);
    t->stated[t->n++] = isnan(percent) ? INFINITY : percent;
    t->unknown += isnan(percent);
    t->covered += !isnan(percent) && off <= percent;
}

static void print_row(const char *name, struct tally *t)
{
    int known = t->n - t->unknown;
    double covered = known ? 100.0 * t->covered / known : (double)NAN;
    printf("%-22s %5d %5d %9.1f %9.1f %9.1f %9.1f %9.0f\n", name, t->n, t->unknown, middle(t->off, t->n, 0.5),
           middle(t->off, t->n, 1), middle(t->bound_off, t->n, 0.5), middle(t->stated, t->n, 0.5), covered);
}

static void add(struct tally *all, const struct tally *one)
{
    for (int i = 0; i < one->n && all->n < MOST; i++, all->n++) {
        all->off[all->n] = one->off[i];
        all->bound_off[all->n] = one->bound_off[i];
        all->stated[all->n] = one->stated[i];
    }
    all->covered += one->covered;
    all->unknown += one->unknown;
}

/* ---- 1: a kind left out ---- */

static bool leave_out(const char *name, struct tally *all, struct fc_status *st)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_calibration own, family;
    char path[1400], why[600];
    bool found = false;
    static struct tally t;
    memset(&t, 0, sizeof t);
    if (fc_machine_load(name, &machine, st)) return false;
    if (fc_calibration_read(fc_calibration_path(&machine, path, sizeof path), &own, st)) return false;
    if (fc_network_build(&machine, &net, st)) return false;
    if (fc_family_find(&net, own.kind, &family, &found, why, sizeof why, st)) return false;
    if (!found) {
        printf("%-22s no relative: %s\n", name, why);
    } else {
        for (uint32_t i = 0; i < own.phases.n_cases; i++) {
            const struct fc_bulk_case *c = &own.phases.cases[i];
            struct fc_bulk_answer answer;
            if (fc_bulk_ratio(&family.phases, &net, c->kind, &c->at, &answer, st)) return false;
            double percent = answer.error_percent;
            count(&t, c->ratio / answer.ratio, c->ratio, percent > FC_MOST_ERROR_PERCENT ? (double)NAN : percent);
        }
        add(all, &t);
        char label[200];
        snprintf(label, sizeof label, "%s (%.1f)", name, family.distance);
        print_row(label, &t);
        fc_calibration_free(&family);
    }
    fc_calibration_free(&own);
    fc_network_free(&net);
    fc_machine_free(&machine);
    return true;
}

int main(void)
{
    static const char *const one_of_each[] = {"bgl-64",   "bgl-4k",   "bgl-8x8x1",          "gemini-xe6",         "tpu-v4",
                                              "percs-16", "qsnet-64", "tmesh-216-central",  "tmesh-3456-central", "summit",
                                              "frontier", "theta",    "tmesh-216",          "tmesh-3456"};
    static struct tally all;
    struct fc_status st = {0};
    printf("%-22s %5s %5s %9s %9s %9s %9s %9s\n", "left out (distance)", "cases", "unkn.", "median", "greatest", "bound's",
           "stated", "covered %");
    for (size_t i = 0; i < FC_COUNT(one_of_each); i++)
        if (!leave_out(one_of_each[i], &all, &st)) {
            fprintf(stderr, "%s: %s\n", one_of_each[i], st.message);
            return 1;
        }
    print_row("all", &all);
    return 0;
}
