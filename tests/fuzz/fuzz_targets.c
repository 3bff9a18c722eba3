/* fuzz_targets.c - every reader, a few lines each. A reader that succeeds hands its product to what comes next, so that
 * what is let through is looked at too. */
#include "core/hostlist.h"
#include "core/stream.h"
#include "mapping/launcher.h"
#include "models/hosts.h"
#include "models/import/import.h"
#include "solvers/calibration/calibration.h"
#include "sweep/sweep.h"
#include "tests/fuzz/fuzz.h"
#include "traces/trace_format.h"
#include "traces/trace_formats.h"
#include "traces/trace_source.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- traces ---- */

/* By its format's reader, whatever the first bytes. */
static enum fc_code read_trace(const struct fc_fuzz_target *target, const char *path, const char *text,
                               struct fc_status *st)
{
    static const struct fc_trace_options options = FC_TRACE_OPTIONS;
    struct fc_trace trace = {0};
    (void)text;
    trace.file = fc_copy_text(&trace.arena, path, st);
    for (size_t i = 0; fc_trace_formats[i]; i++)
        if (strcmp(fc_trace_formats[i]->name, target->format) == 0)
            fc_trace_read_foreign(fc_trace_formats[i], &options, &trace, st);
    if (!st->code) fc_trace_check(&trace, st);
    fc_trace_free(&trace);
    return st->code;
}

/* By its first bytes, whole. */
static enum fc_code read_any(const struct fc_fuzz_target *target, const char *path, const char *text,
                             struct fc_status *st)
{
    struct fc_trace trace;
    (void)target, (void)text;
    if (!fc_trace_read(path, &trace, st)) fc_trace_free(&trace);
    return st->code;
}

/* As streams of events, all of them. */
static enum fc_code walk_any(const struct fc_fuzz_target *target, const char *path, const char *text,
                             struct fc_status *st)
{
    static const struct fc_trace_options options = {.flops_per_s = 1e9, .tick_s = 1e-9, .memory_events = 2};
    struct fc_trace_source source;
    (void)target, (void)text;
    if (fc_source_open(path, &options, &source, st)) return st->code;
    for (uint32_t r = 0; r < source.head->n_ranks; r++)
        while (fc_source_peek(&source, r)) fc_source_take(&source, r);
    fc_source_close(&source);
    return st->code;
}

/* ---- graphs ---- */

static enum fc_code read_graph(const struct fc_fuzz_target *target, const char *path, const char *text,
                               struct fc_status *st)
{
    struct fc_demand demand;
    (void)target, (void)text;
    if (!fc_demand_from_graph(path, &demand, st)) fc_demand_free(&demand);
    return st->code;
}

/* A list of a hundred thousand hosts is no fault, but takes the time of thousands of inputs. */
static bool lists_many_hosts(const char *text)
{
    double n = 0;
    for (const char *at = strchr(text, '='); at; at = strchr(at + 1, '='))
        n += (double)fc_host_list_count(at + 1, strcspn(at + 1, " \t\r\n"));
    return n > 20000;
}

/* A fabric file beside its machine file. */
static enum fc_code read_fabric(const struct fc_fuzz_target *target, const char *path, const char *text,
                                struct fc_status *st)
{
    struct fc_machine machine;
    struct fc_network net;
    char yaml[300], file[200];
    if (lists_many_hosts(text)) return FC_OK;
    snprintf(file, sizeof file, "%s/machine.yaml", fc_fuzz_folder());
    int n = snprintf(yaml, sizeof yaml,
                     "name: x\nnetwork: {family: graph, file: %s, format: %s}\nlinks: {link: {bandwidth: 1 GB/s}}\n",
                     strrchr(path, '/') + 1, target->format);
    struct fc_text machine_text = {file, yaml, (size_t)n};
    if (fc_machine_read(&machine_text, &machine, st)) return st->code;
    if (machine.arena.used_bytes < 1 << 22 && !fc_network_build(&machine, &net, st)) fc_network_free(&net);
    fc_machine_free(&machine);
    return st->code;
}

/* Forwarding tables of a fabric that is there. */
static enum fc_code read_routes(const struct fc_fuzz_target *target, const char *path, const char *text,
                                struct fc_status *st)
{
    struct fc_machine machine;
    struct fc_network net;
    char yaml[600], file[200], top[300];
    (void)target, (void)text;
    if (!getcwd(top, sizeof top)) return FC_OK;
    snprintf(file, sizeof file, "%s/machine.yaml", fc_fuzz_folder());
    int n = snprintf(
        yaml, sizeof yaml,
        "name: x\nnetwork: {family: graph, format: ibnetdiscover, file: %s/tests/fabrics/degraded_edr.txt, routes: "
        "%s}\n",
        top, strrchr(path, '/') + 1);
    struct fc_text machine_text = {file, yaml, (size_t)n};
    if (fc_machine_read(&machine_text, &machine, st)) return st->code;
    if (!fc_network_build(&machine, &net, st)) fc_network_free(&net);
    fc_machine_free(&machine);
    return st->code;
}

/* Names of nodes: what is written of them is read. */
static enum fc_code read_xnames(const struct fc_fuzz_target *target, const char *path, const char *text,
                                struct fc_status *st)
{
    struct fc_machine machine;
    char *yaml = NULL, *hosts = NULL, words[2000];
    size_t size, hosts_size;
    (void)target;
    if (lists_many_hosts(text) || fc_host_list_count(text, strlen(text)) > 20000) return FC_OK;
    FILE *f = open_memstream(&yaml, &size), *h = open_memstream(&hosts, &hosts_size);
    fc_import_xnames(path, "none", "name: x\n", f, h, words, sizeof words, st);
    fclose(f);
    fclose(h);
    if (!st->code && size < 1 << 20) {
        struct fc_text machine_text = {"machine.yaml", yaml, size};
        if (!fc_machine_read(&machine_text, &machine, st)) fc_machine_free(&machine);
    }
    free(yaml);
    free(hosts);
    return st->code;
}

/* ---- machines ---- */

static enum fc_code read_machine(const struct fc_fuzz_target *target, const char *path, const char *text,
                                 struct fc_status *st)
{
    struct fc_machine machine;
    (void)target, (void)text;
    if (!fc_machine_load(path, &machine, st)) fc_machine_free(&machine);
    return st->code;
}

static enum fc_code read_setting(const struct fc_fuzz_target *target, const char *path, const char *text,
                                 struct fc_status *st)
{
    static const char yaml[] = "name: x\nclock: 1 GHz\nnetwork: {family: torus, dims: [4, 2]}\n"
                               "links: {torus: {bandwidth: 1 GB/s}}\nnode: {cores: 2}\n";
    struct fc_machine machine;
    (void)target;
    FILE *out = fopen(path, "w");
    if (!out || fwrite(yaml, 1, sizeof yaml - 1, out) != sizeof yaml - 1 || fclose(out)) return st->code;
    if (!fc_machine_load_changed(path, &text, 1, &machine, st)) fc_machine_free(&machine);
    return st->code;
}

/* Eight nodes of two cores, with hosts' names. */
static const struct fc_network *small_network(void)
{
    static const char yaml[] = "name: x\nclock: 1 GHz\nnetwork: {family: torus, dims: [4, 2]}\n"
                               "links: {torus: {bandwidth: 1 GB/s}}\nnode: {cores: 2}\nhosts: cn[0-7]\n";
    static struct fc_machine machine;
    static struct fc_network net;
    static bool made;
    struct fc_status st = {0};
    struct fc_text text = {"small.yaml", yaml, sizeof yaml - 1};
    if (!made && (fc_machine_read(&text, &machine, &st) || fc_network_build(&machine, &net, &st))) {
        fprintf(stderr, "fuzz: %s\n", st.message);
        __builtin_trap();
    }
    made = true;
    return &net;
}

/* ---- mappings ---- */

/* Of sixteen tasks; made once, so that an input costs no more than its reader. */
static enum fc_code make_mapping(const char *name, struct fc_status *st)
{
    static struct fc_demand demand;
    static bool made;
    struct fc_mapping mapping;
    if (!made && fc_demand_from_pattern(small_network(), "stencil2d:grid=4x4", 1, &demand, st)) return st->code;
    made = true;
    struct fc_map_problem problem = {.net = small_network(), .demand = &demand, .threads = 1};
    if (!fc_mapping_make(&problem, name, &mapping, st)) fc_mapping_free(&mapping);
    return st->code;
}

static enum fc_code read_mapping(const struct fc_fuzz_target *target, const char *path, const char *text,
                                 struct fc_status *st)
{
    (void)target, (void)text;
    return make_mapping(path, st);
}

/* By every launcher's reader; what one refuses another may take. */
static enum fc_code read_launcher(const struct fc_fuzz_target *target, const char *path, const char *text,
                                  struct fc_status *st)
{
    char name[300];
    (void)target, (void)text;
    for (size_t i = 0; fc_launcher_formats[i]; i++) {
        struct fc_status one = {0};
        snprintf(name, sizeof name, "%s:%s", fc_launcher_formats[i]->name, path);
        if (make_mapping(name, &one) == FC_FAULT || (one.code && !*one.message)) *st = one;
    }
    return st->code;
}

/* ---- texts of the command line ---- */

static enum fc_code read_hosts(const struct fc_fuzz_target *target, const char *path, const char *text,
                               struct fc_status *st)
{
    struct fc_arena arena = {0};
    const char **name;
    uint32_t n;
    (void)target, (void)path;
    if (fc_host_list_count(text, strlen(text)) < 20000 && !fc_host_text_is_file(text))
        fc_hosts_read(text, &arena, &name, &n, st);
    fc_arena_free(&arena);
    return st->code;
}

static enum fc_code read_nodes(const struct fc_fuzz_target *target, const char *path, const char *text,
                               struct fc_status *st)
{
    struct fc_arena arena = {0};
    uint32_t *node;
    size_t n;
    (void)target, (void)path;
    if (!strchr(text, '@') && !strchr(text, '/')) fc_nodes_read(small_network(), text, 0, &arena, &node, &n, st);
    fc_arena_free(&arena);
    return st->code;
}

/* A job of a million tasks is no fault: numbers of more than three digits are left out. */
static bool large(const char *text)
{
    while (*text) {
        size_t n = strspn(text, "0123456789");
        if (n > 3) return true;
        text += n + (text[n] != 0);
    }
    return false;
}

static enum fc_code read_pattern(const struct fc_fuzz_target *target, const char *path, const char *text,
                                 struct fc_status *st)
{
    struct fc_demand demand;
    (void)target, (void)path;
    if (large(text) || strchr(text, '*')) return FC_OK;
    if (strpbrk(text, "eEpPxX") && strstr(text, "stencil4d")) return FC_OK; /* 999^4 tasks */
    if (!fc_demand_from_pattern(small_network(), text, 1, &demand, st)) fc_demand_free(&demand);
    return st->code;
}

static enum fc_code read_quantity(const struct fc_fuzz_target *target, const char *path, const char *text,
                                  struct fc_status *st)
{
    double value;
    char out[64];
    (void)target, (void)path;
    enum fc_unit unit = text[0] % 6;
    if (text[0] && !fc_quantity(text + 1, unit, text[0] & 8 ? 1e9 : 0, &value, (struct fc_place){0}, st))
        fc_format(out, sizeof out, value, unit);
    return st->code;
}

static enum fc_code read_ranges(const struct fc_fuzz_target *target, const char *path, const char *text,
                                struct fc_status *st)
{
    struct fc_arena arena = {0};
    uint32_t *list;
    size_t n;
    (void)target, (void)path;
    fc_parse_ranges(text, 10000, &arena, &list, &n, st);
    fc_arena_free(&arena);
    return st->code;
}

/* ---- other files ---- */

static enum fc_code read_calibration(const struct fc_fuzz_target *target, const char *path, const char *text,
                                     struct fc_status *st)
{
    struct fc_calibration calibration;
    (void)target, (void)text;
    if (!fc_calibration_read(path, &calibration, st)) fc_calibration_free(&calibration);
    return st->code;
}

static enum fc_code read_sweep(const struct fc_fuzz_target *target, const char *path, const char *text,
                               struct fc_status *st)
{
    struct fc_sweep sweep;
    char **words;
    (void)target, (void)text;
    if (!fc_sweep_read(path, &sweep, st))
        fc_sweep_words(&sweep, "fabricast", sweep.n_points - 1, &sweep.arena, &words, st);
    fc_sweep_free(&sweep);
    return st->code;
}

/* Whatever is compressed, line by line. */
static enum fc_code read_stream(const struct fc_fuzz_target *target, const char *path, const char *text,
                                struct fc_status *st)
{
    struct fc_stream s;
    const char *line;
    size_t length;
    (void)target, (void)text;
    if (!fc_stream_open(path, &s, st))
        while (!fc_stream_line(&s, &line, &length, st) && line) {
        }
    fc_stream_close(&s);
    return st->code;
}

const struct fc_fuzz_target fc_fuzz_targets[] = {
    {.name = "text", .file = "t.txt", .run = read_any},
    {.name = "fct", .file = "t.fct", .run = read_any},
    {.name = "source", .file = "s.fct", .run = walk_any},
    {.name = "otf2", .file = "run.otf2", .bundle = true, .format = "otf2", .run = read_trace},
    {.name = "dumpi", .file = "d-0000.bin", .format = "dumpi", .run = read_trace},
    {.name = "dumpi-run", .file = "r.meta", .bundle = true, .format = "dumpi", .run = read_trace},
    {.name = "paraver", .file = "p.prv", .format = "paraver", .run = read_trace},
    {.name = "chakra-json", .file = "c.0.json", .format = "chakra", .run = read_trace},
    {.name = "chakra-et", .file = "e.0.et", .format = "chakra", .run = read_trace},
    {.name = "goal", .file = "g.goal", .format = "goal", .run = read_trace},
    {.name = "liballprof", .file = "l-rank-0.txt", .bundle = true, .format = "liballprof", .run = read_trace},
    {.name = "simgrid", .file = "i", .bundle = true, .format = "ti", .run = read_trace},
    {.name = "simgrid-shared", .file = "shared", .format = "ti", .run = read_trace},
    {.name = "graph", .file = "g.graph", .run = read_graph},
    {.name = "dense", .file = "g.mat", .run = read_graph},
    {.name = "monitoring", .file = "m.0.prof", .bundle = true, .run = read_graph},
    {.name = "edge-list",
     .file = "f.txt",
     .format = "edge-list",
     .seeds = "tests/fabrics/small_platform.txt",
     .run = read_fabric},
    {.name = "ibnetdiscover",
     .file = "f.ib",
     .format = "ibnetdiscover",
     .seeds = "tests/fabrics/*edr.txt",
     .run = read_fabric},
    {.name = "slurm-topology",
     .file = "f.conf",
     .format = "slurm-topology",
     .seeds = "tests/fabrics/*.conf",
     .run = read_fabric},
    {.name = "cray-xname", .file = "f.tiles", .format = "cray-xname", .run = read_fabric},
    {.name = "slurm-yaml", .file = "f.yaml", .format = "slurm-topology", .run = read_fabric},
    {.name = "kubernetes", .file = "f.json", .format = "kubernetes", .run = read_fabric},
    {.name = "routes", .file = "f.lft", .run = read_routes},
    {.name = "xnames", .file = "x.names", .run = read_xnames},
    {.name = "machine", .file = "m.yaml", .seeds = "models/machines/*[0-9].yaml", .run = read_machine},
    {.name = "set", .file = "set.yaml", .run = read_setting},
    {.name = "calibration", .file = "x.calibration.yaml", .run = read_calibration},
    {.name = "mapping", .file = "x.map", .run = read_mapping},
    {.name = "launcher", .file = "launch", .run = read_launcher},
    {.name = "sweep", .file = "sweep.yaml", .run = read_sweep},
    {.name = "hosts", .run = read_hosts},
    {.name = "nodes", .run = read_nodes},
    {.name = "pattern", .run = read_pattern},
    {.name = "quantity", .run = read_quantity},
    {.name = "ranges", .run = read_ranges},
    {.name = "stream", .file = "z", .run = read_stream},
    {0},
};
