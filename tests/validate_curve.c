/* validate_curve.c - how far the queueing model's curves are from the kernel's, and whether the stated errors say so.
 *
 * Machines: small ones on which nothing was tuned (tests/machines/unseen), calibrated here with BUDGET_S and, u.. and j.., a second
 * time with DEFAULT_BUDGET_S; shipped ones with
 * their own calibrations, of traffic of which most is in none; a shipped one with a key changed; shipped ones in shapes that their
 * calibrations did not run. All but the last two answer a second
 * time as their family does, their own kind of router left out. The form of the stated errors was chosen on f1 to f6, o01 to o06 and shipped
 * machines, with first results of the others in sight.
 *
 * Of every traffic the kernel finds the saturation, and latencies at shares of it. Deviations are model / kernel - 1. A load for
 * which the model has no latency, because its own saturation is below, is covered where the error of the saturation says so, and
 * in no median. Unknown errors are counted apart. Goals, of each kind: of shapes that were not run 85 %
 * covered; an own calibration, with BUDGET_S and with DEFAULT_BUDGET_S, and the family, over u.., j.. and shipped machines: 85 to
 * 98 % covered (85 to 95 are meant), median stated at most 2.5 times the median deviation or 1.5 points, nothing above 100 %.
 * Exit status 1 when missed.
 *
 *     validate_curve [-a] [-c DIR [-k]] [-r] [-o FILE] [PART...]
 *
 * -c keeps the kernel's points and the calibrations in DIR, or takes them from there: what was run once is judged in seconds.
 * -k: only what is kept there, nothing is run. -a: also machines that take long (an hour and a half of CPU in all). -r: a line a
 * point. -o: writes four of the tables between two marks of FILE (docs/trust.md). PART: only machines with this in their name. */
#include "solvers/calibration/calibration_internal.h"
#include "solvers/calibration/family.h"
#include "solvers/flit/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define UNSEEN "tests/machines/unseen/"
#define BUDGET_S 10              /* of calibrations */
#define DEFAULT_BUDGET_S 60      /* of `calibrate` */
#define SEED 20                  /* not the calibrations' */
#define PRECISION 0.01           /* of saturations, as `curve` finds them; of latencies half */
#define PRECISION_ELSEWHERE 0.02 /* these are of many short packets */
enum group { CHOSEN, JUDGED, SHIPPED, ELSEWHERE, LONGER, GROUPS };
static const char *const group_names[] = {"f.., o..", "unseen", "shipped", "shapes that were not run",
                                          "unseen, default budget"};

static const struct subject {
    const char *name;    /* shipped, or a file of UNSEEN */
    const char *changed; /* keys, a space between; NULL: none */
    enum group group;
    bool quick; /* run without -a */
} subjects[] = {
    {"u01-t333ad", NULL, JUDGED, true},
    {"u02-t55dl", NULL, JUDGED, false},
    {"u03-t644ad", NULL, JUDGED, false},
    {"u04-t644dl", NULL, JUDGED, false},
    {"u05-ftslim", NULL, JUDGED, true},
    {"u06-ft3", NULL, JUDGED, false},
    {"f1-torus-4x4-adaptive", NULL, CHOSEN, false},
    {"f2-torus-5x3x3-adaptive", NULL, CHOSEN, false},
    {"f3-torus-6x6-dateline", NULL, CHOSEN, false},
    {"f4-torus-4x4x3-dateline", NULL, CHOSEN, false},
    {"f5-tree-24-slim", NULL, CHOSEN, false},
    {"f6-cells-32", NULL, CHOSEN, false},
    {"o01-t55ad", NULL, CHOSEN, false},
    {"o02-t66dl", NULL, CHOSEN, false},
    {"o03-t444dl", NULL, CHOSEN, false},
    {"o04-t842ad", NULL, CHOSEN, false},
    {"o05-ft3n", NULL, CHOSEN, false},
    {"o06-ft2h", NULL, CHOSEN, false},
    {"j1-torus-7x4-adaptive", NULL, JUDGED, false},
    {"j2-torus-4x4x4-adaptive", NULL, JUDGED, false},
    {"j3-torus-8x4-dateline", NULL, JUDGED, true},
    {"j4-torus-5x5x3-dateline", NULL, JUDGED, false},
    {"j5-tree-36", NULL, JUDGED, false},
    {"j6-cells-50", NULL, JUDGED, false},
    {"bgl-64", NULL, SHIPPED, true},
    {"bgl-8x8x1", NULL, SHIPPED, false},
    {"qsnet-64", NULL, SHIPPED, false},
    {"percs-16", NULL, SHIPPED, false},
    {"percs-64", NULL, SHIPPED, false},
    {"summit", NULL, SHIPPED, false},
    {"tmesh-216", NULL, SHIPPED, false},
    {"bgl-64", "router.buffer=512B", SHIPPED, false},
    {"bgl-64", "router.vcs=2", SHIPPED, false},
    {"bgl-64", "router.paths=1", SHIPPED, false},
    {"summit", "network.children=[5,3,3] network.parents=[1,5,3]", ELSEWHERE, false},
    {"tmesh-216", "network.dims=[4,3,2]", ELSEWHERE, false},
    {"tmesh-3456-central", "network.dims=[5,5,4]", ELSEWHERE, false},
    {"perlmutter", "network.supernodes=5 network.nodes_per_drawer=4 network.links_per_pair=3", ELSEWHERE, false},
    {"dgx-superpod", "network.children=[10,3] network.links=[1,5]", ELSEWHERE, false},
    {"frontier", "network.supernodes=4 network.nodes_per_drawer=4 network.links_per_pair=5", ELSEWHERE, false},
    {"frontier", "network.supernodes=5 network.nodes_per_drawer=8 network.links_per_pair=18", ELSEWHERE, false},
    {"perlmutter", "network.supernodes=6 network.nodes_per_drawer=12 network.links_per_pair=8", ELSEWHERE, false},
    {"theta", "network.supernodes=5 network.drawers=3 network.nodes_per_drawer=4 network.links_per_pair=9", ELSEWHERE,
     false},
    {"theta", "network.supernodes=5 network.drawers=2 network.nodes_per_drawer=1 network.links_per_pair=3", ELSEWHERE,
     false},
    {"fugaku-torus", "network.dims=[5,4,4]", ELSEWHERE, false},
    {"fugaku", "network.dims=[5,1,1,2,3,2]", ELSEWHERE, false},
    {"u01-t333ad", NULL, LONGER, false},
    {"u02-t55dl", NULL, LONGER, false},
    {"u03-t644ad", NULL, LONGER, false},
    {"u04-t644dl", NULL, LONGER, false},
    {"u05-ftslim", NULL, LONGER, false},
    {"u06-ft3", NULL, LONGER, false},
    {"j1-torus-7x4-adaptive", NULL, LONGER, false},
    {"j2-torus-4x4x4-adaptive", NULL, LONGER, false},
    {"j3-torus-8x4-dateline", NULL, LONGER, false},
    {"j4-torus-5x5x3-dateline", NULL, LONGER, false},
    {"j5-tree-36", NULL, LONGER, false},
    {"j6-cells-50", NULL, LONGER, false},
};
static const char *const patterns[] = {
    "uniform",   "tornado",     "complement", "permutation:seed=7",
    "hotregion", "bit-reverse", "neighbor"}; /* and the stencil that calibrations run */
static const double shares[] = {0.3, 0.6, 0.8, 0.9, 0.95};
enum { SHARES = FC_COUNT(shares), TO_80 = 3 };

/* ---- what is counted ---- */

enum tier { ANCHORED, TRANSFER, CHANGED, FAMILY, TIERS };
static const char *const tier_names[] = {"run itself", "calibrated", "key changed", "family"};
enum kind { LOW, KNEE, SATURATION, KINDS };
static const char *const kind_names[] = {"latency to 80 %", "latency at 90, 95 %", "saturation"};
struct answer {
    int subject;
    enum tier tier;
    enum kind kind;
    double off, stated; /* percent; stated NaN: unknown */
    bool silent;        /* no latency: off and stated are NaN */
    bool covered;
};
enum { MOST = 20000 };
static struct answer answers[MOST];
static int n_answers;

struct how {
    const char *directory; /* NULL: nothing is kept */
    bool only_kept, raw, all;
    const char *file; /* NULL: none */
};

/* ---- the kernel ---- */

struct truth {
    double saturation, latency[SHARES]; /* NaN: not found */
};

static void cache_path(const struct how *how, const struct subject *s, const char *ending, char *path, size_t size)
{
    char name[200];
    snprintf(name, sizeof name, "%s%s%s", s->name, s->changed ? "+" : "", s->changed ? s->changed : "");
    snprintf(path, size, "%s/%s.%s", how->directory, name, ending);
}

static bool find_kept(const struct how *how, const struct subject *s, const char *pattern, struct truth *t)
{
    char path[600], line[400];
    size_t n = strlen(pattern);
    if (!how->directory) return false;
    cache_path(how, s, "kernel", path, sizeof path);
    FILE *file = fopen(path, "r");
    bool found = false;
    while (file && !found && fgets(line, sizeof line, file)) {
        if (strncmp(line, pattern, n) || line[n] != ' ') continue;
        char *at = line + n;
        t->saturation = strtod(at, &at);
        for (int i = 0; i < SHARES; i++) t->latency[i] = strtod(at, &at);
        found = true;
    }
    if (file) fclose(file);
    return found;
}

static void keep(const struct how *how, const struct subject *s, const char *pattern, const struct truth *t)
{
    char path[600];
    if (!how->directory) return;
    cache_path(how, s, "kernel", path, sizeof path);
    FILE *file = fopen(path, "a");
    if (!file) return;
    fprintf(file, "%s %.10g", pattern, t->saturation);
    for (int i = 0; i < SHARES; i++) fprintf(file, " %.10g", t->latency[i]);
    fprintf(file, "\n");
    fclose(file);
}

static bool run_kernel(const struct fc_network *net, const struct fc_demand *demand, double precision, struct truth *t,
                       struct fc_status *st)
{
    struct fc_flit_settings settings;
    struct fc_status none = {0};
    fc_flit_defaults(&settings);
    settings.seed = SEED;
    settings.precision = precision;
    t->saturation = NAN;
    for (int i = 0; i < SHARES; i++) t->latency[i] = NAN;
    if (fc_flit_saturation(net, demand, &settings, &t->saturation, &none)) {
        if (none.code != FC_NO) *st = none;
        return none.code == FC_NO;
    }
    settings.precision /= 2;
    for (int i = 0; i < SHARES; i++) {
        struct fc_flit_result r;
        settings.load_flits_per_cycle = shares[i] * t->saturation;
        if (fc_flit_run(net, demand, NULL, &settings, &r, st)) return false;
        if (r.stable && r.complete) t->latency[i] = r.latency_mean_cycles;
        fc_flit_free(&r);
    }
    return true;
}

/* ---- the model ---- */

static bool is_shipped(const struct subject *s)
{
    return s->group == SHIPPED || s->group == ELSEWHERE;
}

static const char *full_name(const struct subject *s, char *text, size_t size)
{
    const char *more = s->group == LONGER ? "default budget" : s->changed;
    snprintf(text, size, "%s%s%s", s->name, more ? " " : "", more ? more : "");
    return text;
}

static void count(const struct how *how, const char *pattern, const struct answer *a, double share)
{
    char name[200];
    if (n_answers < MOST) answers[n_answers++] = *a;
    if (how->raw)
        printf("%s\t%s\t%s\t%s\t%.2f\t%.2f\t%.2f\t%d\n", full_name(&subjects[a->subject], name, sizeof name),
               tier_names[a->tier], kind_names[a->kind], pattern, share, a->off, a->stated, a->covered);
}

/* The answers of one model. */
static enum fc_code ask(const struct how *how, struct fc_calibrated *model, const char *pattern, const struct truth *t,
                        struct answer a, struct fc_status *st)
{
    struct fc_calibrated_answer at;
    a.kind = SATURATION;
    a.off = 100 * (fc_calibrated_saturation(model, &a.stated) / t->saturation - 1);
    bool held = a.covered = fabs(a.off) <= a.stated;
    if (fc_calibrated_solve(model, shares[0] * t->saturation, &at, st)) return st->code;
    if (a.tier == TRANSFER && at.tier == FC_TIER_ANCHORED) a.tier = ANCHORED;
    count(how, pattern, &a, 1);
    for (int i = 0; i < SHARES; i++) {
        if (isnan(t->latency[i])) continue;
        if (fc_calibrated_solve(model, shares[i] * t->saturation, &at, st)) return st->code;
        a.kind = i < TO_80 ? LOW : KNEE;
        a.silent = !at.model.stable;
        a.off = a.silent ? (double)NAN : 100 * (at.model.latency_mean_cycles / t->latency[i] - 1);
        a.stated = a.silent ? (double)NAN : at.error_percent;
        a.covered = a.silent ? held : fabs(a.off) <= a.stated;
        count(how, pattern, &a, shares[i]);
    }
    return FC_OK;
}

static bool judge(const struct how *how, const struct answer *a, const struct fc_network *net,
                  const struct fc_demand *demand, const char *pattern, const struct fc_calibration *calibration,
                  const struct truth *t, struct fc_status *st)
{
    struct fc_flit_settings settings;
    struct fc_turns turns = {0};
    struct fc_calibrated *model = NULL;
    fc_flit_defaults(&settings);
    settings.seed = SEED;
    if (!fc_turns_make_seen(net, demand, &settings, fc_turns_hops(net), FC_TURNS_LEAST_VISITS, &turns, st) &&
        !fc_calibrated_open(calibration, &turns, pattern, &settings, &model, st))
        ask(how, model, pattern, t, *a, st);
    fc_calibrated_close(model);
    fc_turns_free(&turns);
    return !st->code;
}

/* ---- a machine ---- */

static bool own_calibration(const struct how *how, const struct subject *s, const struct fc_machine *machine,
                            const struct fc_network *net, struct fc_calibration *c, struct fc_status *st)
{
    char path[600];
    bool longer = s->group == LONGER, found = false;
    struct fc_calibration_settings budget = {.budget_s = longer ? DEFAULT_BUDGET_S : BUDGET_S, .threads = 2, .seed = 1};
    if (is_shipped(s)) {
        fc_calibration_of(net, c, &found, NULL, st);
        if (!found && !st->code) fc_refuse(st, FC_NO, "%s has no calibration", s->name);
        return found;
    }
    if (how->directory) cache_path(how, s, longer ? "60.calibration.yaml" : "calibration.yaml", path, sizeof path);
    if (how->directory && access(path, R_OK) == 0) return !fc_calibration_read(path, c, st);
    if (how->only_kept) return false;
    return !fc_calibrate(machine, &budget, c, st) && (!how->directory || !fc_calibration_write(c, path, st));
}

/* One traffic: one that is not defined on the machine is none. */
static bool try_pattern(const struct how *how, int subject, const struct fc_network *net, const char *pattern,
                        const struct fc_calibration *own, const struct fc_calibration *family, struct fc_status *st)
{
    const struct subject *s = &subjects[subject];
    struct fc_demand demand;
    struct fc_status none = {0};
    struct truth t;
    struct answer a = {.subject = subject, .tier = s->changed && s->group != ELSEWHERE ? CHANGED : TRANSFER};
    if (fc_demand_from_pattern(net, pattern, 1, &demand, &none)) return true;
    if (demand.n_tasks != net->n_nodes) {
        fc_demand_free(&demand);
        return true;
    }
    demand.open_loop = true;
    bool kept = find_kept(how, s, pattern, &t), good = kept;
    if (!kept && how->only_kept) t.saturation = NAN, good = true;
    if (!good && (good = run_kernel(net, &demand, s->group == ELSEWHERE ? PRECISION_ELSEWHERE : PRECISION, &t, st)))
        keep(how, s, pattern, &t);
    if (good && !isnan(t.saturation)) {
        good = judge(how, &a, net, &demand, pattern, own, &t, st);
        a.tier = FAMILY;
        if (good && family) good = judge(how, &a, net, &demand, pattern, family, &t, st);
    }
    fc_demand_free(&demand);
    return good;
}

static bool try_machine(const struct how *how, int subject, struct fc_status *st)
{
    const struct subject *s = &subjects[subject];
    struct fc_machine machine;
    struct fc_network net;
    struct fc_calibration own, family;
    char file[200], why[600], keys[300] = "", *rest = keys;
    const char *key[4];
    size_t n_keys = 0;
    bool found = false;
    if (s->changed) snprintf(keys, sizeof keys, "%s", s->changed);
    while (s->changed && n_keys < FC_COUNT(key) && (key[n_keys] = strsep(&rest, " "))) n_keys++;
    snprintf(file, sizeof file, is_shipped(s) ? "%s" : UNSEEN "%s.yaml", s->name);
    if (fc_machine_load_changed(file, key, n_keys, &machine, st)) return false;
    if (!fc_network_build(&machine, &net, st)) {
        if (own_calibration(how, s, &machine, &net, &own, st)) {
            if (!s->changed && s->group != LONGER) fc_family_find(&net, own.kind, &family, &found, why, sizeof why, st);
            struct fc_calibration_patterns run;
            fc_calibration_patterns(&net, &run);
            const char *last = fc_calibration_stencil(&run);
            for (size_t p = 0; p < FC_COUNT(patterns) + (last != NULL) && !st->code; p++)
                try_pattern(how, subject, &net, p < FC_COUNT(patterns) ? patterns[p] : last, &own,
                            found ? &family : NULL, st);
            if (found) fc_calibration_free(&family);
            fc_calibration_free(&own);
        }
        fc_network_free(&net);
    }
    fc_machine_free(&machine);
    return !st->code;
}

/* ---- tables ---- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *list, int n)
{
    if (n == 0) return NAN;
    qsort(list, (size_t)n, sizeof *list, by_value);
    return n % 2 ? list[n / 2] : (list[n / 2 - 1] + list[n / 2]) / 2;
}

struct row {
    int n, unknown, silent, covered;
    double off, mean, worst, stated; /* median, mean, greatest deviation; median stated */
};
/* Of answers of the tiers and groups (a bit each), of the kind and subject; -1: any. */
static struct row sum(unsigned tiers, int kind, unsigned groups, int subject)
{
    static double off[MOST], stated[MOST];
    struct row r = {0};
    int known = 0;
    for (int i = 0; i < n_answers; i++) {
        const struct answer *a = &answers[i];
        if (!(tiers & 1u << a->tier) || (kind >= 0 && a->kind != (enum kind)kind) ||
            !(groups & 1u << subjects[a->subject].group) || (subject >= 0 && a->subject != subject))
            continue;
        r.n++;
        r.silent += a->silent;
        r.unknown += !a->silent && isnan(a->stated);
        r.covered += a->covered;
        if (a->silent || isnan(a->stated)) continue;
        off[known] = fabs(a->off);
        r.mean += off[known];
        r.worst = fmax(r.worst, off[known]);
        stated[known++] = a->stated;
    }
    r.mean /= known;
    r.off = median(off, known);
    r.stated = median(stated, known);
    return r;
}

static double covered_percent(const struct row *r)
{
    return 100.0 * r->covered / (r->n - r->unknown);
}

static void print_row(FILE *out, bool page, const char *name, const char *of, const struct row *r)
{
    if (r->n == 0) return;
    fprintf(out,
            page ? "| %s | %s | %d | %d | %d | %.0f %% | %.1f | %.1f | %.1f | %.1f |\n"
                 : "%-34s %-20s %5d %5d %5d %7.0f %8.1f %8.1f %8.1f %8.1f\n",
            name, of, r->n, r->unknown, r->silent, covered_percent(r), r->stated, r->off, r->mean, r->worst);
}

static void print_head(FILE *out, bool page, const char *first)
{
    if (page)
        fprintf(
            out,
            "\n| %s | tier | answers | unknown | no latency | covered | stated, median | off, median | mean | most |\n"
            "|---|---|---|---|---|---|---|---|---|---|\n",
            first);
    else
        fprintf(out, "\n%-34s %-20s %5s %5s %5s %7s %8s %8s %8s %8s\n", first, "tier", "n", "unkn.", "none", "cov. %",
                "stated", "median", "mean", "most");
}

/* Tiers of the tables: one a bit, and an own calibration in all. */
static const struct {
    const char *name;
    unsigned tiers;
} lines[] = {{"run itself", 1u << ANCHORED},
             {"calibrated, not run", 1u << TRANSFER},
             {"both", 1u << ANCHORED | 1u << TRANSFER},
             {"key changed", 1u << CHANGED},
             {"family", 1u << FAMILY}};
enum { LINES = FC_COUNT(lines), BOTH = 2, OWN_LINES = 3 };

enum {
    ALL = (1u << GROUPS) - 1,
    JUDGING = 1u << JUDGED | 1u << SHIPPED,
    JUDGING_LONGER = 1u << LONGER | 1u << SHIPPED
};

static void print_machines(FILE *out, bool page)
{
    char name[200];
    print_head(out, page, "machine");
    for (int s = 0; s < (int)FC_COUNT(subjects); s++)
        for (int line = 0; line < LINES; line++) {
            struct row r = sum(lines[line].tiers, -1, ALL, s);
            if (!page || lines[line].tiers & (lines[line].tiers - 1) || line > 2)
                print_row(out, page, full_name(&subjects[s], name, sizeof name), lines[line].name, &r);
        }
}

/* The first n_lines lines of each kind. */
static void print_kinds(FILE *out, bool page, const char *title, unsigned groups, int n_lines)
{
    print_head(out, page, title);
    for (int kind = 0; kind < KINDS; kind++)
        for (int line = 0; line < n_lines; line++) {
            struct row r = sum(lines[line].tiers, kind, groups, -1);
            print_row(out, page, kind_names[kind], lines[line].name, &r);
        }
}

/* Whether the goals of a kind are; no answers reach them. */
static bool is_reached(const struct row *r)
{
    double covered = covered_percent(r);
    return r->n == 0 || (covered >= 85 && covered <= 98 && r->stated <= fmax(2.5 * r->off, 1.5));
}

/* Everything, and whether the goals are reached. */
static bool print_tables(void)
{
    bool good = true;
    print_machines(stdout, false);
    for (int group = 0; group < GROUPS; group++) print_kinds(stdout, false, group_names[group], 1u << group, LINES);
    print_kinds(stdout, false, "unseen and shipped", JUDGING, LINES);
    print_kinds(stdout, false, "the same, default budget", JUDGING_LONGER, OWN_LINES);
    for (int kind = 0; kind < KINDS; kind++) {
        struct row longer = sum(lines[BOTH].tiers, kind, JUDGING_LONGER, -1);
        good = good && is_reached(&longer);
        for (int line = BOTH; line < LINES; line++) {
            struct row r = sum(lines[line].tiers, kind, JUDGING, -1);
            good = good && is_reached(&r);
        }
    }
    for (int kind = 0; kind < KINDS; kind++) {
        struct row r = sum(lines[BOTH].tiers, kind, 1u << ELSEWHERE, -1);
        good = good && (r.n == 0 || covered_percent(&r) >= 85);
    }
    for (int i = 0; i < n_answers; i++) good = good && !(answers[i].stated > FC_MOST_ERROR_PERCENT);
    return good;
}

/* Writes the page anew, its tables between the marks. */
static bool write_page(const char *path)
{
    static const char begin[] = "<!-- curves: written by make validate -->\n", end[] = "\n<!-- end of curves -->";
    struct fc_status st = {0};
    struct fc_arena arena = {0};
    struct fc_text text = {0};
    if (fc_read_file(path, &arena, &text, &st)) printf("%s\n", st.message);
    const char *from = text.data ? strstr(text.data, begin) : NULL, *to = from ? strstr(from, end) : NULL;
    FILE *out = to ? fopen(path, "w") : NULL;
    if (out) {
        fprintf(out, "%.*s", (int)(from + strlen(begin) - text.data), text.data);
        print_kinds(out, true, "kind, machines u, j and shipped", JUDGING, LINES);
        print_kinds(out, true, "kind, the same calibrated with the default budget", JUDGING_LONGER, OWN_LINES);
        print_kinds(out, true, "kind, shapes of shipped machines that were not run", 1u << ELSEWHERE, OWN_LINES);
        print_machines(out, true);
        fprintf(out, "%s", to);
    }
    bool good = out && !fclose(out);
    if (!good)
        printf("%s: cannot be written, or has no place for tables ('%.*s')\n", path, (int)strlen(begin) - 1, begin);
    fc_arena_free(&arena);
    return good;
}

int main(int argc, char **argv)
{
    struct how how = {0};
    struct fc_status st = {0};
    int option;
    while ((option = getopt(argc, argv, "ac:kro:")) != -1) {
        if (option == 'a')
            how.all = true;
        else if (option == 'c')
            how.directory = optarg;
        else if (option == 'k')
            how.only_kept = true;
        else if (option == 'r')
            how.raw = true;
        else if (option == 'o')
            how.file = optarg;
        else
            return 2;
    }
    if (how.directory) mkdir(how.directory, 0777);
    for (size_t i = 0; i < FC_COUNT(subjects); i++) {
        bool asked = optind == argc && (how.all || how.only_kept || subjects[i].quick);
        for (int k = optind; k < argc; k++) asked = asked || strstr(subjects[i].name, argv[k]);
        if (asked && !try_machine(&how, (int)i, &st)) {
            char text[2048];
            fc_status_text(&st, text, sizeof text);
            printf("%s: %s\n", subjects[i].name, text);
            return 1;
        }
    }
    bool good = print_tables();
    if (how.file) good = write_page(how.file) && good;
    printf("%s\n", good ? "reached" : "MISSED");
    return good ? 0 : 1;
}
