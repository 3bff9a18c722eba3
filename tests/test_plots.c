/* test_plots.c - figures of names that anyone may have written: nothing of them is evaluated by gnuplot, all of them are
 * drawn, letter by letter. */
#include "models/link_map.h"
#include "plots/link_figures.h"
#include "plots/paper.h"
#include "plots/plots.h"
#include "core/timeline.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A gnuplot that evaluates any of them leaves a file `canary`, or stops. */
#define RUNS "`touch canary`$(touch canary)@canary 'q' \"q\" \\n\\U+00e9 50%s %n {/Symbol b}^2_x&~ #\t"
static const char *const hostile[] = {
    "\"" RUNS "\xc3\xa9\n\"; system('touch canary') #",
    "#'; system(\"touch canary\"); '" RUNS "\033[31m\xc2\x9b\xff",
    "<touch canary",
    "|touch canary'''\"\"\" \\",
    "-e system('touch canary')",
};
enum { N = FC_COUNT(hostile) };
static char here[] = "/tmp/fabricast-plots-XXXXXX", directory[128];

static void start(void)
{
    strcpy(here + strlen(here) - 6, "XXXXXX");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(here));
    snprintf(directory, sizeof directory, "%s/-`touch canary`$(touch canary)'\"{@canary%%s}\\\n\xc3\xa9", here);
    struct fc_status st = {0};
    CU_ASSERT_EQUAL_FATAL(fc_plots_check(directory, &st), FC_OK);
}

/* What a script may hold nowhere, and files that only a command can have made. */
static void look_at(const char *name)
{
    char path[512], text[1 << 16];
    const char *end = strrchr(name, '.');
    if (!strncmp(name, "canary", 6)) CU_FAIL("a command ran");
    if (end && !strcmp(end, ".log")) CU_FAIL("gnuplot had something to say");
    if (!end || strcmp(end, ".gp")) return;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *stream = fopen(path, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    text[fread(text, 1, sizeof text - 1, stream)] = 0;
    fclose(stream);
    CU_ASSERT_TRUE(strstr(text, "canary") != NULL);
    CU_ASSERT_PTR_NULL(strpbrk(text, "`@\033"));
    CU_ASSERT_PTR_NULL(strstr(text, "$("));
    CU_ASSERT_PTR_NULL(strstr(text, "system('"));
    CU_ASSERT_PTR_NULL(strstr(text, "\"<touch canary.")); /* files: a pipe */
    CU_ASSERT_PTR_NULL(strstr(text, "\"|touch canary."));
}

/* `n` pictures of that ending, and nothing ran. */
static void finish(int n, const char *ending)
{
    char command[160];
    DIR *dir = opendir(directory);
    CU_ASSERT_PTR_NOT_NULL_FATAL(dir);
    for (struct dirent *e; (e = readdir(dir));) {
        const char *at = strrchr(e->d_name, '.');
        n -= at && !strcmp(at, ending);
        look_at(e->d_name);
    }
    closedir(dir);
    CU_ASSERT_EQUAL(n, 0);
    snprintf(command, sizeof command, "rm -rf %s", here);
    CU_ASSERT_EQUAL(system(command), 0);
}

static void is_drawn(enum fc_code code, const struct fc_status *st)
{
    if (code) printf("\n    %s", st->message);
    CU_ASSERT_EQUAL(code, FC_OK);
}

/* ---- figures ---- */

static void of_predictions(void)
{
    struct fc_status st = {0};
    struct fc_plot_prediction bars[N];
    struct fc_plot_peak peaks[N];
    struct fc_plot_links links[N];
    struct fc_plot_ranks ranks[N];
    const double busy_s[] = {2e-3, 1e-3}, s[] = {1e-3, 2e-3};
    start();
    for (size_t i = 0; i < N; i++) {
        bars[i] = (struct fc_plot_prediction){hostile[i], 1e-3, 2e-3, 5e-4, 2e-3, 66};
        peaks[i] = (struct fc_plot_peak){hostile[i], 66, 5, 3e-3};
        links[i] = (struct fc_plot_links){hostile[i], busy_s, 2};
        ranks[i] = (struct fc_plot_ranks){hostile[i], s, s, 2, 2e-3};
    }
    is_drawn(fc_plot_predictions(directory, hostile[0], bars, N, &st), &st);
    is_drawn(fc_plot_percent_of_peak(directory, hostile[0], hostile[1], peaks, N, &st), &st);
    struct fc_plot_change changes[N];
    for (int i = 0; i < N; i++) changes[i] = (struct fc_plot_change){hostile[i], 10.0 * i - 300, i ? NAN : 500};
    is_drawn(fc_plot_sensitivity(directory, hostile[0], changes, N, &st), &st);
    is_drawn(fc_plot_link_loads(directory, hostile[0], links, N, &st), &st);
    is_drawn(fc_plot_ranks(directory, hostile[0], ranks, N, &st), &st);
    finish(5, ".png");
}

static void over_time(void)
{
    struct fc_status st = {0};
    struct fc_timeline timeline = {0};
    struct fc_plot_timeline lines[2];
    struct fc_plot_course courses[2];
    const double flits[] = {1, 2, 3};
    start();
    CU_ASSERT_EQUAL_FATAL(fc_timeline_start(&timeline, 2, &st), FC_OK);
    fc_timeline_does(&timeline, 0, FC_RANK_COMPUTES, 0, 1e-3);
    fc_timeline_does(&timeline, 1, FC_RANK_SENDS, 0, 1e-3);
    fc_timeline_end(&timeline, (double[]){1e-3, 1e-3});
    for (int i = 0; i < 2; i++) {
        lines[i] = (struct fc_plot_timeline){hostile[i], &timeline};
        courses[i] = (struct fc_plot_course){hostile[i], flits, 3, 10};
    }
    struct fc_plot_throughput throughput = {hostile[2], hostile[0], hostile[3], hostile[1], 1,         1, courses, 2,
                                            2,          10,         20,         hostile[2], hostile[3]};
    is_drawn(fc_plot_timelines(directory, hostile[0], lines, 2, &st), &st);
    is_drawn(fc_plot_time_profiles(directory, hostile[0], lines, 2, &st), &st);
    is_drawn(fc_plot_throughput(directory, hostile[0], &throughput, &st), &st);
    fc_timeline_free(&timeline);
    finish(3, ".png");
}

static void of_loads(void)
{
    struct fc_status st = {0};
    struct fc_machine machine;
    struct fc_network net;
    struct fc_picture map;
    start();
    if (!fc_test_network(FC_TEST_SMALL, &machine, &net)) return;
    CU_ASSERT_EQUAL_FATAL(fc_link_map_build(&net, &map, &st), FC_OK);
    for (int i = 0; i < map.n_panels; i++) {
        snprintf(map.panels[i].title, sizeof map.panels[i].title, "%s", hostile[i % N]);
        snprintf(map.panels[i].tile, sizeof map.panels[i].tile, "%s", hostile[(i + 1) % N]);
    }
    snprintf(map.nodes.row, sizeof map.nodes.row, "%s", hostile[3]);
    for (int c = 0; c < machine.n_classes; c++) snprintf(map.class_title[c], 32, "%s", hostile[c % N]);
    double *busy = calloc(net.n_links, sizeof *busy);
    for (uint32_t l = 0; l < net.n_links; l++) busy[l] = l;
    const uint32_t node[] = {0, 1, 2};
    is_drawn(fc_plot_link_map(directory, hostile[0], &map, busy, &st), &st);
    is_drawn(fc_plot_link_histogram(directory, hostile[1], &map, busy, &st), &st);
    is_drawn(fc_plot_mapping(directory, hostile[2], &map, node, 3, &st), &st);
    free(busy);
    fc_link_map_free(&map);
    fc_test_close(&machine, &net);
    finish(3, ".png");
}

/* Every cell once, in its panel's part of the image: high panels side by side in twos, those with names of rows one below the
 * other. */
static double as_it_is(const void *context, uint32_t item)
{
    (void)context;
    return item;
}
static void cells(void)
{
    enum { PANELS = 3, ROWS = 40, COLUMNS = 4, CELLS = ROWS * COLUMNS };
    static uint32_t cell[PANELS][CELLS];
    struct fc_panel panel[PANELS] = {0};
    const struct fc_panel *panels[PANELS];
    const char *names[ROWS] = {"r0"};
    struct fc_status st = {0};
    for (uint32_t i = 0; i < PANELS; i++) {
        for (uint32_t k = 0; k < CELLS; k++) cell[i][k] = i * CELLS + k;
        panel[i] = (struct fc_panel){.n_tiles = 1, .rows = ROWS, .columns = COLUMNS, .cell = cell[i]};
        panels[i] = &panel[i];
    }
    for (int named = 0; named < 2; named++) {
        struct fc_cell_image image;
        uint32_t n = 0, seen[PANELS] = {0};
        if (named) panel[1].row_name = names;
        CU_ASSERT_EQUAL_FATAL(fc_cell_image_make(panels, PANELS, as_it_is, NULL, &image, &st), FC_OK);
        CU_ASSERT(named ? image.top[1] > ROWS && image.left[1] == 0 : image.top[1] == 0 && image.left[1] > COLUMNS);
        CU_ASSERT(image.top[2] > image.top[1] && image.left[2] == 0);
        for (uint32_t y = 0; y < image.height; y++)
            for (uint32_t x = 0; x < image.width; x++) {
                double v = image.value[(size_t)y * image.width + x];
                if (isnan(v)) continue;
                uint32_t i = (uint32_t)v / CELLS;
                CU_ASSERT(y > image.top[i] && x >= image.left[i] && x < image.left[i] + COLUMNS);
                seen[i]++, n++;
            }
        CU_ASSERT(n == PANELS * CELLS && seen[0] == CELLS && seen[1] == CELLS && seen[2] == CELLS);
        fc_cell_image_free(&image);
    }
}

static void of_curves(void)
{
    struct fc_status st = {0};
    const struct fc_plot_latency points[] = {{0.1, 0.1, 50, 1}, {0.2, 0.2, 60, 2}};
    const struct fc_plot_band band[] = {{50, 40, 60}, {60, 50, 70}};
    struct fc_plot_curve curves[N];
    struct fc_plot_placement rows[N];
    start();
    for (size_t i = 0; i < N; i++) {
        curves[i] = (struct fc_plot_curve){hostile[i], points, 2, 0.3, band, true};
        rows[i] = (struct fc_plot_placement){hostile[i], 0.1 + 0.1 * (double)i, 50, (int)i % 4};
    }
    is_drawn(fc_plot_latency_curves(directory, hostile[0], NULL, curves, N, &st), &st);
    is_drawn(fc_plot_placements(directory, hostile[1], rows, N, &st), &st);
    finish(2, ".png");
}

/* A latency that comes down again is shown whole; one that goes on rising is cut at six times the least. */
static void where_curves_are_cut(void)
{
    static const struct fc_plot_latency points[] = {{0.1, 0.1, 50, 1}, {0.2, 0.2, 800, 2}, {0.3, 0.3, 400, 2}};
    static const struct fc_plot_latency rising[] = {{0.1, 0.1, 50, 1}, {0.2, 0.2, 400, 2}, {0.3, 0.3, 800, 2}};
    static const struct {
        const struct fc_plot_latency *points;
        const char *range;
    } cases[] = {{points, "set yrange [0:880]"}, {rising, "set yrange [0:300]"}};
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        struct fc_status st = {0};
        struct fc_plot_curve curve = {hostile[0], cases[i].points, 3, 0.4, NULL, true};
        char path[512], text[1 << 14];
        start();
        is_drawn(fc_plot_latency_curves(directory, hostile[0], NULL, &curve, 1, &st), &st);
        snprintf(path, sizeof path, "%s/latency-curve.gp", directory);
        FILE *stream = fopen(path, "r");
        CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
        text[fread(text, 1, sizeof text - 1, stream)] = 0;
        fclose(stream);
        CU_ASSERT_PTR_NOT_NULL(strstr(text, cases[i].range));
        finish(1, ".png");
    }
}

/* As `reproduce` draws them; here the file's name is hostile too. */
static void of_papers(void)
{
    static const char *const names[] = {"<touch canary", "|touch canary", "-e canary`touch canary`"};
    start();
    for (int form = FC_PAPER_CURVES; form <= FC_PAPER_ROWS; form++) {
        struct fc_status st = {0};
        struct fc_paper_plot plot = {.name = names[form],
                                     .title = hostile[0],
                                     .subtitle = hostile[1],
                                     .x_name = hostile[0],
                                     .y_name = hostile[1],
                                     .x_label = hostile[2],
                                     .y_label = hostile[3],
                                     .form = (enum fc_paper_form)form};
        for (size_t i = 0; i < N; i++) {
            fc_paper_category_add(&plot, hostile[i], hostile[(i + 1) % N]);
            int s = fc_paper_series_add(&plot, (enum fc_paper_mark)(i % 4), (int)i, hostile[i]);
            fc_paper_point_add(&plot, s, (double)i, (double)i + 1, 0.5, 6);
        }
        is_drawn(fc_paper_write(directory, &plot, &st), &st);
        fc_paper_free(&plot);
    }
    finish(3, ".pdf");
}

/* ---- what gnuplot makes of them ---- */

static void run_script(const char *text)
{
    char path[160], command[200];
    snprintf(path, sizeof path, "%s/script", here);
    FILE *script = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(script);
    fputs(text, script);
    fclose(script);
    snprintf(command, sizeof command, "cd %s && gnuplot -d script >printed 2>&1", here);
    CU_ASSERT_EQUAL(system(command), 0);
}

static bool printed(const char *expected)
{
    char path[160], text[4096];
    snprintf(path, sizeof path, "%s/printed", here);
    FILE *stream = fopen(path, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    text[fread(text, 1, sizeof text - 1, stream)] = 0;
    fclose(stream);
    if (strcmp(text, expected)) printf("\n    expected %s\n    got      %s", expected, text);
    return !strcmp(text, expected);
}

/* Every text is the string that was meant, digits after an escaped letter too. */
static void texts(void)
{
    char *script = NULL, all[4096] = "";
    size_t size = 0;
    FILE *out = open_memstream(&script, &size);
    start();
    fprintf(out, "set print '-'\ncanary = 'system(\"touch canary\")'\n");
    for (size_t i = 0; i < N; i++) {
        char visible[600];
        fprintf(out, "print ");
        fc_script_text(out, hostile[i]);
        fprintf(out, "\n");
        strcat(strcat(all, fc_visible(visible, sizeof visible, hostile[i], "")), "\n");
    }
    fprintf(out, "print ");
    fc_script_title(out, "'7`7\"7%7\\7\nnot this", 3.3);
    fprintf(out, "\nprint ");
    fc_script_tic(out, "7%7%\n");
    fprintf(out, "\n");
    fclose(out);
    strcat(all, "'7`7\"7%7\\7\n7%%7%%\\x0a\n");
    run_script(script);
    CU_ASSERT_TRUE(printed(all));
    free(script);
    finish(0, ".png");
}

/* gnuplot finds the numbers beside any name. */
static void tables(void)
{
    struct fc_status st = {0};
    struct fc_plot_peak peaks[N];
    char script[400];
    start();
    for (size_t i = 0; i < N; i++) peaks[i] = (struct fc_plot_peak){hostile[i], 66, 5, 3e-3};
    is_drawn(fc_plot_percent_of_peak(here, RUNS, "x", peaks, N, &st), &st);
    snprintf(script, sizeof script,
             "set print '-'\nset datafile separator '\\t'\nset datafile commentschars ''\n"
             "stats './percent-of-peak.tsv' skip 1 using 2 name 'A' nooutput\nprint A_records, A_mean\n");
    run_script(script);
    CU_ASSERT_TRUE(printed("5 66.0\n"));
    finish(0, ".png");
}

int suite_plots(void)
{
    static const CU_TestInfo tests[] = {
        {"predictions", of_predictions},
        {"over time", over_time},
        {"loads", of_loads},
        {"cells", cells},
        {"curves, placements", of_curves},
        {"where curves are cut", where_curves_are_cut},
        {"papers", of_papers},
        {"texts", texts},
        {"tables", tables},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("plots", tests);
}
