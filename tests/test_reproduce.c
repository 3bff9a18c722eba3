/* test_reproduce.c - the room of the papers' figures: arithmetic of deviations and limits, the list and its
 * names, the cheap figures themselves, edited machine files, the page of the summary, and pictures that
 * appear whole or not at all. */
#include "reproduce/figure.h"
#include "plots/plots.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- points ---- */

static const struct fc_point *last(const struct fc_reproduction *r)
{
    return &r->points[r->n_points - 1];
}

static void deviations(void)
{
    struct fc_reproduction r = {.note = ""};
    struct fc_point_of of = {&r, FC_POINT_TIMING, FC_POINT_PREDICTED, "us"};
    fc_point_percent(of, 200, 210, 5, "on the upper limit, %d %%", 5);
    CU_ASSERT_STRING_EQUAL(last(&r)->what, "on the upper limit, 5 %");
    CU_ASSERT(fc_near(last(&r)->deviation_percent, 5, 1e-12) && fc_near(last(&r)->tolerance_percent, 5, 1e-12));
    CU_ASSERT_TRUE(last(&r)->inside);
    fc_point_percent(of, 200, 189.9, 5, "below the lower one");
    CU_ASSERT_TRUE(!last(&r)->inside && last(&r)->deviation_percent < -5);
    fc_point_width(of, -75, -71, 5, "negative: less of a loss is a positive deviation");
    CU_ASSERT_TRUE(last(&r)->inside && fc_near(last(&r)->deviation_percent, 100 * 4 / 75., 1e-12));
    CU_ASSERT(fc_near(last(&r)->tolerance_percent, 100 * 5 / 75., 1e-12));
    fc_point_percent(of, 32, 32, 0, "exact");
    CU_ASSERT_TRUE(last(&r)->inside);
    fc_point_percent(of, 32, 33, 0, "not exact");
    CU_ASSERT_FALSE(last(&r)->inside);
    fc_point_percent(of, 1, NAN, 50, "unknown is never inside");
    CU_ASSERT_FALSE(last(&r)->inside);
    CU_ASSERT_EQUAL(r.n_points, 6);
    CU_ASSERT_EQUAL(r.n_judged, 6);
    CU_ASSERT_EQUAL(r.n_inside, 3);
    CU_ASSERT(fc_near(fc_reproduction_worst(&r), 100 * 4 / 75., 1e-9));
    fc_reproduction_clear(&r);
}

static void limits(void)
{
    struct fc_reproduction r = {.note = ""};
    struct fc_point_of of = {&r, FC_POINT_FLIT, FC_POINT_PREDICTED, ""};
    char text[64];
    fc_point_limits(of, -INFINITY, 0.7, 0.7, "at most");
    CU_ASSERT_TRUE(last(&r)->inside && isnan(last(&r)->deviation_percent) && isnan(last(&r)->tolerance_percent));
    CU_ASSERT_STRING_EQUAL(fc_point_limits_text(last(&r), text, sizeof text), "<= 0.7");
    fc_point_limits(of, 5, INFINITY, 4.9, "at least");
    CU_ASSERT_FALSE(last(&r)->inside);
    CU_ASSERT_STRING_EQUAL(fc_point_limits_text(last(&r), text, sizeof text), ">= 5");
    fc_point_limits(of, 12, 15, 14, "between");
    CU_ASSERT_TRUE(last(&r)->inside);
    CU_ASSERT_STRING_EQUAL(fc_point_limits_text(last(&r), text, sizeof text), "12..15");
    fc_point_shown(of, 10, 20, "shown");
    CU_ASSERT_TRUE(!last(&r)->judged && !last(&r)->inside && fc_near(last(&r)->deviation_percent, 100, 1e-12));
    CU_ASSERT_STRING_EQUAL(fc_point_limits_text(last(&r), text, sizeof text), "-");
    fc_point_percent(of, 200, 210, 6.5, "about");
    CU_ASSERT_STRING_EQUAL(fc_point_limits_text(last(&r), text, sizeof text), "+-6.5 %");
    CU_ASSERT_EQUAL(r.n_judged, 4);
    CU_ASSERT_EQUAL(r.n_inside, 3);
    CU_ASSERT(fc_near(fc_reproduction_worst(&r), 5, 1e-12)); /* the shown point is not judged */
    fc_reproduction_clear(&r);
}

/* Rows lie at -1 and 1 on their limits, at 0 on the number. */
static void rows(void)
{
    struct fc_reproduction r = {.note = ""};
    struct fc_point_of of = {&r, FC_POINT_FLIT, FC_POINT_PREDICTED, ""};
    fc_point_percent(of, 100, 95, 5, "low");
    fc_point_limits(of, 2, 4, 3, "middle");
    fc_point_limits(of, -INFINITY, 2, 1, "half of the limit");
    fc_point_limits(of, 8, INFINITY, 16, "twice the limit");
    fc_point_percent(of, 1, 100, 1, "far outside: at the edge");
    fc_point_shown(of, 1, 1, "not judged: no row");
    fc_reproduction_rows(&r);
    static const double x[] = {-1, 0, 0.5, -0.5};
    CU_ASSERT_EQUAL_FATAL(r.plot.n_series, 2);
    CU_ASSERT_EQUAL_FATAL(r.plot.series[0].n, 4);
    for (int i = 0; i < 4; i++) CU_ASSERT_DOUBLE_EQUAL(r.plot.series[0].x[i], x[i], 1e-12);
    CU_ASSERT_EQUAL_FATAL(r.plot.series[1].n, 1);
    CU_ASSERT_EQUAL(r.plot.series[1].x[0], 4);
    CU_ASSERT_EQUAL(r.plot.n_categories, 5);
    fc_reproduction_clear(&r);
}

/* ---- the list ---- */

static void names(void)
{
    const char *seen[128];
    int n = 0;
    for (const struct fc_reproduction_ops *const *g = fc_reproductions; *g; g++) {
        CU_ASSERT_TRUE((*g)->n_figures > 0 && (*g)->quick_s > 0 && (*g)->full_s >= (*g)->quick_s);
        for (int i = 0; i < (*g)->n_figures; i++) {
            const struct fc_figure *f = &(*g)->figures[i];
            CU_ASSERT_TRUE_FATAL(f->id && f->title && f->source && f->machine && f->command && n < 128);
            CU_ASSERT_EQUAL(f->id[strspn(f->id, "abcdefghijklmnopqrstuvwxyz0123456789-")], '\0'); /* a file's name */
            for (int j = 0; j < n; j++) CU_ASSERT_STRING_NOT_EQUAL(seen[j], f->id);
            seen[n++] = f->id;
        }
    }
    CU_ASSERT_TRUE(n >= 35);
}

static enum fc_code reproduce(const char *a, const char *b, int threads, struct fc_reproduction **list, size_t *n,
                              struct fc_status *st)
{
    const char *ids[] = {a, b};
    struct fc_reproduce_settings settings = {.budget = FC_REPRODUCE_QUICK, .threads = threads, .seed = 1};
    return fc_reproduce(ids, b ? 2 : 1, &settings, list, n, st);
}

static void refused(void)
{
    static const struct {
        const char *id, *says;
        int threads;
    } cases[] = {{"gemini-fig88", "did you mean 'gemini-fig8'?", 1},
                 {"percs-tabel1", "did you mean 'percs-table1'?", 1},
                 {"zzzzzzzz", "unknown figure 'zzzzzzzz' (`fabricast list figures` lists them)", 1},
                 {"gemini-", "unknown figure 'gemini-'", 1},
                 {"", "unknown figure ''", 1},
                 {"gemini", "threads: 0", 0}};
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        struct fc_status st = {0};
        struct fc_reproduction *list;
        size_t n;
        CU_ASSERT_EQUAL(reproduce(cases[i].id, NULL, cases[i].threads, &list, &n, &st), FC_INPUT);
        fc_says(&st, FC_INPUT, cases[i].says);
        CU_ASSERT_TRUE(list == NULL && n == 0);
    }
}

/* ---- figures that cost nothing: every point inside ---- */

static void cheap_figures(void)
{
    struct fc_status st = {0};
    struct fc_reproduction *list, *again;
    size_t n, m;
    CU_ASSERT_EQUAL_FATAL(reproduce("gemini", "qsnet", 1, &list, &n, &st), FC_OK);
    CU_ASSERT_EQUAL(n, 14);
    CU_ASSERT_STRING_EQUAL(list[0].figure->id, "gemini-rates");
    CU_ASSERT_STRING_EQUAL(list[6].figure->id, "qsnet-fig9");
    for (size_t i = 0; i < n; i++) {
        CU_ASSERT_TRUE(list[i].n_judged > 0 && list[i].plot.n_series > 0);
        for (size_t p = 0; p < list[i].n_points; p++)
            if (list[i].points[p].judged && !list[i].points[p].inside) {
                printf("\n    %s: %s: %g", list[i].figure->id, list[i].points[p].what, list[i].points[p].ours);
                CU_FAIL("a point is outside");
            }
    }
    CU_ASSERT_EQUAL_FATAL(reproduce("qsnet-fig9", "gemini", 2, &again, &m, &st),
                          FC_OK); /* other order, other threads */
    CU_ASSERT_EQUAL_FATAL(m, 6);
    for (size_t i = 0; i < m; i++) {
        const struct fc_reproduction *first = &list[i < 5 ? i : 6];
        CU_ASSERT_STRING_EQUAL_FATAL(first->figure->id, again[i].figure->id);
        for (size_t p = 0; p < first->n_points; p++)
            CU_ASSERT_EQUAL(memcmp(&first->points[p].ours, &again[i].points[p].ours, sizeof(double)), 0);
    }
    fc_reproduce_free(list, n);
    fc_reproduce_free(again, m);
}

static void closed_forms(void)
{
    struct fc_status st = {0};
    struct fc_reproduction *list;
    size_t n;
    CU_ASSERT_EQUAL_FATAL(reproduce("percs-table1", "gemini-fig6", 2, &list, &n, &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(n, 2);
    for (size_t i = 0; i < n; i++) CU_ASSERT_TRUE(list[i].n_judged > 0 && list[i].n_inside == list[i].n_judged);
    CU_ASSERT_STRING_EQUAL(list[0].figure->id, "percs-table1"); /* the list's order */
    fc_reproduce_free(list, n);
}

/* ---- machines that were measured ---- */

/* Rows of the shipped table of 2x2x2: of that part, up to 16 KiB and above. */
static void table_rows(const char *part, int of[2])
{
    char directory[1024], path[1200], line[300], nodes[32], says[16];
    double bytes;
    snprintf(path, sizeof path, "%s/fugaku-torus.measured.tsv", fc_machines_directory(directory, sizeof directory));
    FILE *table = fopen(path, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(table);
    of[0] = of[1] = 0;
    while (fgets(line, sizeof line, table))
        if (sscanf(line, "%31s %*s %*s %*s %lg %*s %15s", nodes, &bytes, says) == 3 && !strcmp(nodes, "2x2x2") &&
            !strcmp(says, part))
            of[bytes > 16384]++;
    fclose(table);
}

/* The figure of Fugaku's smallest job: it judges the rows that the table leaves to judge, draws those that were fitted to as open
 * marks, and its predictions are near. */
static void measured(void)
{
    struct fc_status st = {0};
    struct fc_reproduction *list;
    size_t n, judged = 0;
    int of[2], fitted[2], open = 0, filled = 0;
    char says[80];
    CU_ASSERT_EQUAL_FATAL(reproduce("measured-fugaku", NULL, 1, &list, &n, &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(n, 1);
    table_rows("judge", of);
    table_rows("fit", fitted);
    CU_ASSERT_TRUE(of[0] > 30 && of[1] > 30 && fitted[0] + fitted[1] > 60);
    for (int size = 0; size < 2; size++) {
        snprintf(says, sizeof says, "2x2x2 nodes, %s 16 KiB, %d rows: median off", size ? "above" : "up to", of[size]);
        for (size_t p = 0; p < list->n_points; p++)
            if (!strcmp(list->points[p].what, says)) judged += list->points[p].ours > 0 && list->points[p].ours < 8;
    }
    CU_ASSERT_EQUAL(judged, 2);
    CU_ASSERT_EQUAL(list->n_inside, list->n_judged);
    CU_ASSERT_PTR_NOT_NULL_FATAL(list->rows);
    CU_ASSERT_PTR_NOT_NULL(strstr(list->rows, "| fugaku-torus | 2x2x2 nodes | bcast | "));
    CU_ASSERT_PTR_NULL(strstr(list->rows, "8x8x8"));
    for (int i = 0; i < list->plot.n_series; i++) {
        const struct fc_paper_series *s = &list->plot.series[i];
        CU_ASSERT_TRUE(s->panel < list->plot.n_categories);
        open += s->mark == FC_PAPER_PUBLISHED;
        filled += s->mark == FC_PAPER_FILLED;
    }
    CU_ASSERT_TRUE(open == 8 && filled == 8); /* a curve of 2x2x2 in every panel */
    fc_reproduce_free(list, n);
}

/* ---- machines with settings ---- */

static void edited(void)
{
    struct fc_status st = {0};
    struct fc_bench b;
    CU_ASSERT_EQUAL_FATAL(fc_bench_open(&b, "bgl-512", "network.dims=[4, 4, 2]; router.vcs=1", &st), FC_OK);
    CU_ASSERT_TRUE(b.net.n_nodes == 32 && b.machine.router.vcs == 1);
    fc_bench_close(&b);
    CU_ASSERT_EQUAL(fc_bench_open(&b, "bgl-512", "network.dimensions=[4, 4, 2]", &st), FC_INPUT);
    CU_ASSERT_TRUE(fc_says(&st, FC_INPUT, "unknown key 'dimensions'"));
    st = (struct fc_status){0};
    CU_ASSERT_EQUAL(fc_bench_open(&b, "bgl-512", "router.vcs=-1", &st), FC_INPUT);
    fc_says(&st, FC_INPUT, "vcs");
    st = (struct fc_status){0};
    CU_ASSERT_EQUAL(fc_bench_open(&b, "no-such-machine", "router.vcs=1", &st), FC_INPUT);
}

/* ---- the page ---- */

static void page_is(const char *path, const char *expected)
{
    struct fc_arena arena = {0};
    struct fc_status st = {0};
    struct fc_text text;
    CU_ASSERT_EQUAL_FATAL(fc_read_file(path, &arena, &text, &st), FC_OK);
    CU_ASSERT_STRING_EQUAL(text.data, expected);
    fc_arena_free(&arena);
}

static void page(void)
{
    static const char none[] = "# A page\n\n<!-- reproduce: end -->\n<!-- reproduce: begin -->\n",
                      marked[] = "# A page\n<!-- reproduce: begin -->\nold\n<!-- reproduce: end -->\nkept\n";
    static const struct fc_figure figure = {"x-fig1", "a figure", "somebody", "bgl-64", ""};
    struct fc_reproduction r = {.figure = &figure, .note = ""};
    struct fc_point_of of = {&r, FC_POINT_FLIT, FC_POINT_PREDICTED, "us"};
    struct fc_status st = {0};
    char path[64];
    fc_point_percent(of, 100, 101, 2, "good");
    fc_point_percent(of, 100, 150, 2, "bad");
    fc_point_reason(&r, "because");
    CU_ASSERT_TRUE_FATAL(fc_test_file(path, ".md", none, sizeof none - 1));
    CU_ASSERT_EQUAL(fc_reproduce_document(path, &r, 1, &st), FC_INPUT);
    fc_says(&st, FC_INPUT, "has no line");
    page_is(path, none);
    unlink(path);
    st = (struct fc_status){0};
    CU_ASSERT_TRUE_FATAL(fc_test_file(path, ".md", marked, sizeof marked - 1));
    for (int i = 0; i < 2; i++) { /* the second time nothing changes */
        CU_ASSERT_EQUAL(fc_reproduce_document(path, &r, 1, &st), FC_OK);
        page_is(path, "# A page\n<!-- reproduce: begin -->\n"
                      "Written by `fabricast reproduce --into`, full runs; deviations in percent of the published "
                      "number, the "
                      "worst of those judged.\n\n"
                      "| figure | what | kinds | inside | worst |\n|---|---|---|---|---|\n"
                      "| x-fig1 | a figure | flit | **1 of 2** | +50.0 % |\n\n"
                      "| kind of model | points | inside | with a number | mean deviation |\n|---|---|---|---|---|\n"
                      "| flit | 2 | 1 (50 %) | 2 | 26 % |\n| all | 2 | 1 (50 %) | 2 | 26 % |\n\n"
                      "| outside | published | ours | allowed | why |\n|---|---|---|---|---|\n"
                      "| x-fig1: bad | 100 | 150 us | +-2 % | because |\n"
                      "<!-- reproduce: end -->\nkept\n");
    }
    unlink(path);
    CU_ASSERT_EQUAL(fc_reproduce_document("/nonexistent/page.md", &r, 1, &st), FC_INPUT);
    fc_reproduction_clear(&r);
}

/* ---- pictures ---- */

static int files_in(const char *directory, const char *ending)
{
    int n = 0;
    DIR *dir = opendir(directory);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        size_t length = strlen(e->d_name), end = strlen(ending);
        n += e->d_name[0] != '.' && length >= end && !strcmp(e->d_name + length - end, ending);
    }
    if (dir) closedir(dir);
    return n;
}

static void remove_all(const char *directory)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    CU_ASSERT_EQUAL(system(command), 0);
}

/* Curves, bars and rows with texts that gnuplot could stumble over. */
static void make_plot(struct fc_reproduction *r, enum fc_paper_form form)
{
    fc_reproduction_axes(r, form, "x_bytes", "size, 50 % \"of\" \\n {a}_b (bytes)", "y_us", "time (us)");
    r->plot.name = form == FC_PAPER_CURVES ? "curves" : form == FC_PAPER_BARS ? "bars" : "rows";
    r->plot.title = "100 % of 'it'";
    r->plot.subtitle = "@x ^2; `quoted`";
    for (int i = 0; i < 3; i++) fc_paper_category_add(&r->plot, "a % \"b\"\tc", "note %d");
    for (int m = FC_PAPER_PUBLISHED; m <= FC_PAPER_LIMIT; m++) {
        int s = fc_reproduction_series(r, (enum fc_paper_mark)m, m, "series %d, 5 %%", m);
        for (int i = 0; i < 3; i++) fc_reproduction_at(r, s, i, i == 1 ? NAN : i + m, 0.2);
    }
    fc_reproduction_series(r, FC_PAPER_OURS, 9, "empty");
}

static void pictures(void)
{
    char directory[] = "/tmp/fabricast-figures-XXXXXX";
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(directory));
    for (int form = FC_PAPER_CURVES; form <= FC_PAPER_ROWS; form++) {
        struct fc_reproduction r = {.note = ""};
        struct fc_status st = {0};
        make_plot(&r, (enum fc_paper_form)form);
        CU_ASSERT_EQUAL(fc_plots_check(directory, &st), FC_OK);
        if (fc_paper_write(directory, &r.plot, &st)) {
            printf("\n    %s", st.message);
            CU_FAIL("gnuplot refuses the figure");
        }
        fc_reproduction_clear(&r);
    }
    static const char *const endings[] = {".tsv", ".gp", ".png", ".svg", ".pdf"};
    for (size_t i = 0; i < FC_COUNT(endings); i++) CU_ASSERT_EQUAL(files_in(directory, endings[i]), 3);
    CU_ASSERT_EQUAL(files_in(directory, ""), 15); /* no .part, no .log */
    remove_all(directory);
}

/* A gnuplot of this text first in PATH, or none at all. */
static enum fc_code with_gnuplot(const char *text, const char *directory, bool check, struct fc_status *st)
{
    char bin[] = "/tmp/fabricast-gnuplot-XXXXXX", path[96], old[8192];
    struct fc_reproduction r = {.note = ""};
    snprintf(old, sizeof old, "%s", getenv("PATH"));
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(bin));
    if (text) {
        snprintf(path, sizeof path, "%s/gnuplot", bin);
        FILE *f = fopen(path, "w");
        fprintf(f, "#!/bin/sh\n%s\n", text);
        fclose(f);
        chmod(path, 0755);
    }
    setenv("PATH", bin, 1);
    make_plot(&r, FC_PAPER_CURVES);
    enum fc_code code = check ? fc_plots_check(directory, st) : fc_paper_write(directory, &r.plot, st);
    setenv("PATH", old, 1);
    fc_reproduction_clear(&r);
    remove_all(bin);
    return code;
}

static void no_half_pictures(void)
{
    char directory[] = "/tmp/fabricast-figures-XXXXXX", file[64], below[96];
    struct fc_status st = {0};
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(directory));
    CU_ASSERT_EQUAL(with_gnuplot(NULL, directory, true, &st), FC_NO);
    fc_says(&st, FC_NO, "gnuplot cannot be run");
    st = (struct fc_status){0};
    CU_ASSERT_EQUAL(with_gnuplot("echo half > curves.png.part; exit 1", directory, false, &st), FC_NO);
    fc_says(&st, FC_NO, "gnuplot refused");
    CU_ASSERT_EQUAL(files_in(directory, ".part") + files_in(directory, ".png"), 0);
    CU_ASSERT_EQUAL(files_in(directory, ".log"), 1);
    st = (struct fc_status){0};
    CU_ASSERT_TRUE_FATAL(fc_test_file(file, ".txt", "", 0));
    CU_ASSERT_EQUAL(fc_plots_check(file, &st), FC_INPUT);
    fc_says(&st, FC_INPUT, "no directory");
    st = (struct fc_status){0};
    snprintf(below, sizeof below, "%s/below", file);
    CU_ASSERT_EQUAL(fc_plots_check(below, &st), FC_INPUT);
    fc_says(&st, FC_INPUT, "cannot be made");
    unlink(file);
    remove_all(directory);
}

int suite_reproduce(void)
{
    static const CU_TestInfo tests[] = {
        {"deviations and tolerances", deviations},
        {"limits", limits},
        {"rows between limits", rows},
        {"names", names},
        {"unknown figures", refused},
        {"Gemini and QsNET, any threads", cheap_figures},
        {"closed forms", closed_forms},
        {"measured machines", measured},
        {"edited machines", edited},
        {"the page", page},
        {"pictures", pictures},
        {"no half pictures", no_half_pictures},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("reproduce", tests);
}
