/* test_report.c - the page of `report`: what is folded unfolds to the same, the page is whole or not there,
 * holds what it was given, and keeps to its size. In a browser it is tested by validate_report.c. */
#include "models/link_map.h"
#include "plots/page_internal.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* ---- folding ---- */

/* Base64 and zlib, undone. The caller frees. */
static unsigned char *unfold(const struct fc_packed *p, size_t *size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned char *z = malloc(p->length), *out = malloc(*size + 1);
    size_t n = 0;
    uLongf length = *size + 1;
    for (size_t i = 0; i + 4 <= p->length; i += 4) {
        uint32_t word = 0;
        for (int k = 0; k < 4; k++) {
            const char *digit = p->text[i + (size_t)k] == '=' ? digits : strchr(digits, p->text[i + (size_t)k]);
            word = word << 6 | (uint32_t)(digit - digits);
        }
        for (int k = 0; k < 3; k++) z[n++] = (unsigned char)(word >> (16 - 8 * k));
    }
    CU_ASSERT(p->length % 4 == 0);
    for (size_t i = p->length; i > 0 && p->text[i - 1] == '='; i--) n--;
    int code = uncompress(out, &length, z, n);
    CU_ASSERT(code == Z_OK);
    *size = code == Z_OK ? length : 0;
    free(z);
    return out;
}

static uint32_t word_at(const unsigned char *raw)
{
    return raw[0] | (uint32_t)raw[1] << 8 | (uint32_t)raw[2] << 16 | (uint32_t)raw[3] << 24;
}

/* Folds and unfolds; the greatest relative error, or -1. */
static double round_trip(const double *v, size_t n, uint32_t most_values, struct fc_packed *p)
{
    struct fc_arena arena = {0};
    struct fc_status st = {0};
    double worst = -1;
    if (!fc_pack_reals(v, n, most_values, &arena, p, &st)) {
        size_t size = 8 + 8 * ((size_t)p->n_values + 1) + 2 * n;
        unsigned char *raw = unfold(p, &size);
        uint32_t count = word_at(raw), width = word_at(raw + 4);
        const unsigned char *planes = raw + 8 + 8 * (size_t)count;
        worst = size == 8 + 8 * (size_t)count + width * n && count == p->n_values + 1 ? 0 : -1;
        for (size_t i = 0; worst >= 0 && i < n; i++) {
            double x;
            uint32_t index = planes[i] | (width > 1 ? (uint32_t)planes[n + i] << 8 : 0);
            memcpy(&x, raw + 8 + 8 * (size_t)index, 8);
            if (isnan(v[i]) != (index == 0))
                worst = INFINITY;
            else if (index && v[i] != x)
                worst = fmax(worst, fabs(x / v[i] - 1));
        }
        free(raw);
    }
    fc_arena_free(&arena);
    return worst;
}

static void test_reals(void)
{
    enum { N = 70000 };
    double *v = malloc(N * sizeof *v);
    struct fc_packed p;
    for (int i = 0; i < N; i++) v[i] = i % 7 == 0 ? NAN : i % 5 * 1.1e6;
    CU_ASSERT(round_trip(v, N, 65535, &p) == 0 && p.bits == 53 && p.n_values == 5);
    CU_ASSERT(round_trip(v, 1, 65535, &p) == 0 && p.n_values == 0); /* only an empty cell */
    CU_ASSERT(round_trip(v, 0, 65535, &p) == 0);
    for (int n = 250; n < 260; n++) CU_ASSERT(round_trip(v, (size_t)n, 255, &p) == 0);
    for (int i = 0; i < N; i++) v[i] = 1e9 * fc_random_real(1, 0, (uint64_t)i);
    CU_ASSERT(round_trip(v, 65535, 65535, &p) == 0 && p.bits == 53 && p.n_values == 65535);
    double worst = round_trip(v, N, 65535, &p);
    CU_ASSERT(worst > 0 && worst <= ldexp(1, -p.bits) && p.bits >= 12);
    worst = round_trip(v, N, 255, &p);
    CU_ASSERT(worst > 0 && worst <= ldexp(1, -p.bits) && p.n_values <= 255);
    free(v);
}

static void test_numbers(void)
{
    static const uint32_t v[] = {0, 1, 2, UINT32_MAX, 7, 7, 1u << 31};
    struct fc_arena arena = {0};
    struct fc_status st = {0};
    struct fc_packed p;
    for (size_t n = 0; n <= FC_COUNT(v); n++) {
        size_t size = 8 + 4 * n;
        CU_ASSERT(fc_pack_numbers(v, n, &arena, &p, &st) == FC_OK);
        unsigned char *raw = unfold(&p, &size);
        CU_ASSERT_FATAL(size == 8 + 4 * n);
        for (uint32_t i = 0, sum = 0; i < n; i++) {
            for (int k = 0; k < 4; k++) sum += (uint32_t)raw[8 + (size_t)k * n + i] << (8 * k);
            CU_ASSERT(sum == v[i]);
        }
        free(raw);
    }
    CU_ASSERT(fc_pack_text("x+ (0,0)\n", 9, &arena, &p, &st) == FC_OK);
    size_t size = 9;
    unsigned char *raw = unfold(&p, &size);
    CU_ASSERT(size == 9 && !memcmp(raw, "x+ (0,0)\n", 9));
    free(raw);
    fc_arena_free(&arena);
}

/* The text of a packed string of JSON; the caller frees. */
static unsigned char *unfold_json(const json_t *text, size_t *size)
{
    struct fc_packed p = {.text = json_string_value(text), .length = json_string_length(text)};
    return unfold(&p, size);
}

/* Puts all names of a panel together again as the page's script does, and compares them with the library's. */
static bool same_names(const struct fc_picture *picture, const struct fc_panel *panel)
{
    enum { MOST_COLUMNS = 16 };
    struct fc_arena arena = {0};
    struct fc_status st = {0};
    size_t n = fc_panel_cells(panel), bytes = 8 + 4 * n, size = 1 << 22, n_lines = 0, checked = 0;
    unsigned char *column[MOST_COLUMNS + 1] = {0};
    uint32_t value[MOST_COLUMNS + 1] = {0};
    char name[700], made[900];
    bool good = true;
    json_t *json = fc_page_names(picture, panel, &arena, &st);
    CU_ASSERT_FATAL(json != NULL);
    json_t *numbers = json_object_get(json, "numbers"), *which = json_object_get(json, "which");
    unsigned char *text = unfold_json(json_object_get(json, "patterns"), &size);
    const char **line = malloc((size + 2) * sizeof *line);
    text[size] = 0;
    for (char *at = strtok((char *)text, "\n"); at; at = strtok(NULL, "\n")) line[n_lines++] = at;
    CU_ASSERT_FATAL(json_array_size(numbers) <= MOST_COLUMNS && n_lines > 0);
    for (size_t i = 0; i < json_array_size(numbers); i++) column[i] = unfold_json(json_array_get(numbers, i), &bytes);
    if (which) column[MOST_COLUMNS] = unfold_json(which, &bytes);
    for (size_t cell = 0; cell < n; cell++) {
        for (int i = 0; i <= MOST_COLUMNS; i++)
            for (size_t k = 0; column[i] && k < 4; k++) value[i] += (uint32_t)column[i][8 + k * n + cell] << (8 * k);
        if (panel->cell[cell] == FC_NONE) continue;
        size_t length = 0;
        int used = 0;
        for (const char *c = line[value[MOST_COLUMNS]]; *c; c++)
            if (*c == '\1')
                length += (size_t)snprintf(made + length, 12, "%u", value[used++]);
            else
                made[length++] = *c;
        made[length] = 0;
        good = good && !strcmp(made, picture->link_name(picture->network, panel->cell[cell], name, sizeof name));
        checked++;
    }
    for (int i = 0; i <= MOST_COLUMNS; i++) free(column[i]);
    free(line);
    free(text);
    json_decref(json);
    fc_arena_free(&arena);
    return good && checked > 0;
}

static void test_link_names(void)
{
    static const char graph[] = "name: cluster\nnetwork: {family: graph, file: '%s', format: edge-list}\n";
    static const char edges[] =
        "router leaf0 router s007 20 GB/s\nrouter leaf1 router s007 20 GB/s\nrouter leaf0 node n12345678901 10 GB/s\n"
        "router leaf1 node n0 10 GB/s\nrouter leaf1 node ten 10 GB/s\n";
    static const char *const machines[] = {"bgl-64",   "gemini-xe6", "tmesh-216", "percs-16",
                                           "qsnet-64", "summit",     "frontier"};
    char path[64], yaml[256];
    struct fc_machine machine;
    struct fc_network net;
    struct fc_picture picture;
    struct fc_status st = {0};
    CU_ASSERT_FATAL(fc_test_file(path, "", edges, sizeof edges - 1));
    snprintf(yaml, sizeof yaml, graph, path);
    for (size_t i = 0; i <= FC_COUNT(machines); i++) {
        CU_ASSERT_FATAL(fc_test_network(i < FC_COUNT(machines) ? machines[i] : yaml, &machine, &net));
        CU_ASSERT_FATAL(fc_link_map_build(&net, &picture, &st) == FC_OK);
        for (int p = 0; p < picture.n_panels; p++) CU_ASSERT(same_names(&picture, &picture.panels[p]));
        fc_link_map_free(&picture);
        fc_test_close(&machine, &net);
    }
    unlink(path);
}

/* ---- pages ---- */

struct job {
    struct fc_machine machine;
    struct fc_network net;
    struct fc_picture map;
    struct fc_page page;
    double *bytes;
    uint32_t *node;
    json_t *prediction;
};

/* A page of loads that are random (or all alike); tasks one a node. */
static bool open_job(struct job *job, const char *machine, bool random)
{
    struct fc_status st = {0};
    memset(job, 0, sizeof *job);
    if (!fc_test_network(machine, &job->machine, &job->net)) return false;
    CU_ASSERT_FATAL(fc_link_map_build(&job->net, &job->map, &st) == FC_OK);
    job->bytes = malloc(job->net.n_links * sizeof *job->bytes);
    job->node = malloc(job->net.n_nodes * sizeof *job->node);
    job->prediction = json_pack("{s:s, s:f}", "traffic", "</script><b>&", "time_s", 0.1);
    for (uint32_t l = 0; l < job->net.n_links; l++) job->bytes[l] = random ? 1 + 1e9 * fc_random_real(1, 0, l) : 1e6;
    for (uint32_t n = 0; n < job->net.n_nodes; n++) job->node[n] = n;
    job->page = (struct fc_page){.picture = &job->map,
                                 .title = "a <title> & \"more\"",
                                 .question = "Q?",
                                 .time = "2.1 ms",
                                 .error = "± 4 %",
                                 .sentence = "37 % of peak",
                                 .command = "fabricast report 'x'",
                                 .n_tasks = job->net.n_nodes,
                                 .bottleneck_class = 0};
    for (int i = 0; i < 2; i++)
        job->page.side[i] = (struct fc_page_side){.label = i ? "after" : "before",
                                                  .note = "",
                                                  .time_s = 2.1e-3,
                                                  .bound_s = 1e-3,
                                                  .percent_of_peak = 37,
                                                  .error_percent = i ? (double)NAN : 4,
                                                  .bottleneck = "",
                                                  .error = "",
                                                  .link_bytes = job->bytes,
                                                  .link_busy_s = job->bytes,
                                                  .node = job->node,
                                                  .prediction = job->prediction};
    return true;
}

static void close_job(struct job *job)
{
    json_decref(job->prediction);
    free(job->bytes);
    free(job->node);
    fc_link_map_free(&job->map);
    fc_test_close(&job->machine, &job->net);
}

static char *file_text(const char *path)
{
    struct fc_arena arena = {0};
    struct fc_status st = {0};
    struct fc_text text = {0};
    char *copy = fc_read_file(path, &arena, &text, &st) ? NULL : strdup(text.data);
    fc_arena_free(&arena);
    return copy;
}

static void new_path(char *path)
{
    CU_ASSERT_FATAL(fc_test_file(path, ".html", "", 0));
    unlink(path);
}

static void test_contents(void)
{
    struct job job;
    struct fc_page_facts facts;
    struct fc_status st = {0};
    char path[64];
    new_path(path);
    if (!open_job(&job, "bgl-64", false)) return;
    CU_ASSERT(fc_page_write(&job.page, path, &facts, &st) == FC_OK && facts.bits == 53 && facts.n_links == 512);
    char *text = file_text(path);
    CU_ASSERT_FATAL(text != NULL);
    CU_ASSERT(strlen(text) == facts.bytes && !strncmp(text, "<!doctype html>", 15));
    static const char *const held[] = {"<title>a &lt;title&gt; &amp; &quot;more&quot;</title>",
                                       "fabricast report &#39;x&#39;",
                                       "\"time_s\": 0.1",
                                       "\\u003c/script>\\u003cb>&",
                                       "error unknown",
                                       "±4 %",
                                       "</html>\n"};
    for (size_t i = 0; i < FC_COUNT(held); i++) {
        if (!strstr(text, held[i])) printf("\n    not in the page: %s\n", held[i]);
        CU_ASSERT(strstr(text, held[i]) != NULL);
    }
    /* nothing is fetched, and no place was forgotten */
    static const char *const missing[] = {"http:", "https:", "src=", "url(", "@import", "{{", "}}<", "<b>&\""};
    for (size_t i = 0; i < FC_COUNT(missing); i++) {
        if (strstr(text, missing[i])) printf("\n    in the page: %.60s\n", strstr(text, missing[i]));
        CU_ASSERT(strstr(text, missing[i]) == NULL);
    }
    free(text);
    unlink(path);
    close_job(&job);
}

/* 524 288 links and 65 536 tasks; loads that share nothing have to be rounded. */
static void test_large(void)
{
    struct job job;
    struct fc_page_facts facts;
    struct fc_status st = {0};
    struct stat info;
    char path[64];
    new_path(path);
    if (!open_job(&job, "bgl-64k", true)) return;
    CU_ASSERT(fc_page_write(&job.page, path, &facts, &st) == FC_OK);
    CU_ASSERT(stat(path, &info) == 0 && (size_t)info.st_size == facts.bytes && info.st_size <= FC_PAGE_MOST_BYTES);
    CU_ASSERT(facts.bits >= 6 && facts.bits < 53);
    char *text = file_text(path), words[64];
    snprintf(words, sizeof words, "are rounded to %d bits", facts.bits);
    CU_ASSERT(text && strstr(text, words) != NULL);
    free(text);
    unlink(path);
    close_job(&job);
}

/* Too large however it is rounded, or nowhere to be written: no page. */
static void test_whole_or_nothing(void)
{
    struct job job;
    struct fc_page_facts facts;
    struct fc_status st = {0};
    char path[64];
    new_path(path);
    if (!open_job(&job, "bgl-64", false)) return;
    char *command = malloc(FC_PAGE_MOST_BYTES + 1);
    memset(command, 'x', FC_PAGE_MOST_BYTES);
    command[FC_PAGE_MOST_BYTES] = 0;
    job.page.command = command;
    CU_ASSERT(fc_page_write(&job.page, path, &facts, &st) == FC_NO && fc_says(&st, FC_NO, "at most 3 MB"));
    CU_ASSERT(access(path, F_OK) != 0);
    free(command);
    job.page.command = "c";
    st = (struct fc_status){0};
    CU_ASSERT(fc_page_write(&job.page, "/nowhere/page.html", &facts, &st) == FC_INPUT &&
              fc_says(&st, FC_INPUT, "cannot be written"));
    close_job(&job);
}

static void test_names(void)
{
    struct job job;
    struct fc_page_facts facts;
    struct fc_status st = {0};
    char path[64];
    new_path(path);
    if (!open_job(&job, "bgl-64", false)) return;
    job.page.side[1].label = "map-\xff.txt";
    CU_ASSERT(fc_page_write(&job.page, path, &facts, &st) == FC_INPUT && fc_says(&st, FC_INPUT, "not UTF-8"));
    st = (struct fc_status){0};
    job.page.side[1].label = "after";
    job.page.side[0].prediction = NULL;
    CU_ASSERT(fc_page_write(&job.page, path, &facts, &st) == FC_INPUT && fc_says(&st, FC_INPUT, "not UTF-8"));
    CU_ASSERT(access(path, F_OK) != 0);
    close_job(&job);
}

int suite_report(void)
{
    static const CU_TestInfo tests[] = {
        {"reals unfold to what they were, or as rounded", test_reals},
        {"numbers and text unfold to what they were", test_numbers},
        {"every link's name comes out of its pattern and numbers", test_link_names},
        {"a page holds what it was given, and fetches nothing", test_contents},
        {"a page of half a million random loads is small", test_large},
        {"a page is whole or not there", test_whole_or_nothing},
        {"names that are not UTF-8 are refused", test_names},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("report", tests);
}
