/* validate_mapping.c - `optimize` beside every named strategy, on jobs with a goal and on generated jobs of
 * the kinds that users bring: stencils in order and shuffled, power-law graphs (preferential attachment),
 * finite-element meshes, random geometric graphs and 27-point stencils with their tasks shuffled, multicasts, on tori,
 * meshes, fat trees, TMesh, dragonflies and PERCS networks (every rule for the hosts of D links, direct and indirect
 * routing).
 *
 * A row: the job, the proven bound, the longest link time by each strategy, then by `optimize` with budget_s
 * seconds' worth of steps, how far that is below the best other, and hops a byte (between nodes; of all
 * bytes). Checked: never above the best other; at least least_gain percent below it in half of the rows where
 * the bound leaves room for that; no time under the bound; goals met. Goals come from what peers and a first
 * search reached (Scotch, KaHIP, IntMap, SharedMap, VieM, TreeMatch, blocks of SC'11). Two goals are those of
 * graph files in
 * ../shared/reference/mapping; without them their rows are left out. Exit status 1 when a check fails.
 * `make validate`; an argument: only rows whose names contain it; a second one: that seed. */
#include "mapping/mapping.h"
#include "models/demand_build.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double least_gain = 10;
enum { MOST_STRATEGIES = 24, MOST_TASKS = 4096, SHUFFLE = 1, POSITIONS, ATTACHMENT, WEIGHTS };

/* ---- graphs ---- */

struct edges {
    uint32_t n_tasks;
    size_t n, room;
    uint32_t *a, *b;
    double *bytes;
};

static void add_edge(struct edges *e, uint32_t a, uint32_t b, double bytes)
{
    if (e->n == e->room) {
        e->room = 2 * e->room + 1024;
        e->a = realloc(e->a, e->room * sizeof *e->a);
        e->b = realloc(e->b, e->room * sizeof *e->b);
        e->bytes = realloc(e->bytes, e->room * sizeof *e->bytes);
        if (!e->a || !e->b || !e->bytes) abort();
    }
    e->a[e->n] = a;
    e->b[e->n] = b;
    e->bytes[e->n++] = bytes;
}

/* Barabasi & Albert, Science 286 (1999): every task ties itself to 4 earlier ones, each drawn by its ties so
 * far; weights 1 to 16. */
static void power_law(struct edges *e, uint64_t seed)
{
    uint64_t draw = 0;
    for (uint32_t t = 1; t < e->n_tasks; t++)
        for (uint32_t k = 0; k < 4 && k < t; k++) {
            size_t i = e->n ? (size_t)fc_random_below(seed, ATTACHMENT, draw++, 2 * e->n) : 0;
            uint32_t to = e->n == 0 ? 0 : i % 2 ? e->a[i / 2] : e->b[i / 2];
            if (to == t) to = (uint32_t)fc_random_below(seed, ATTACHMENT, draw++, t);
            add_edge(e, t, to, 1 + (double)fc_random_below(seed, WEIGHTS, e->n, 16));
        }
}

/* Points in the unit square, tied when nearer than a radius that gives 8 ties on average. */
static void geometric(struct edges *e, uint64_t seed)
{
    double reach = 8 / (3.141592653589793 * e->n_tasks);
    for (uint32_t t = 0; t < e->n_tasks; t++)
        for (uint32_t u = 0; u < t; u++) {
            double x = fc_random_real(seed, POSITIONS, 2 * t) - fc_random_real(seed, POSITIONS, 2 * u);
            double y = fc_random_real(seed, POSITIONS, 2 * t + 1) - fc_random_real(seed, POSITIONS, 2 * u + 1);
            if (x * x + y * y < reach) add_edge(e, t, u, 1 + (double)fc_random_below(seed, WEIGHTS, e->n, 4));
        }
}

/* A triangulated square of columns that get narrower, a fifth of the edges left out: a partitioned mesh's
 * neighbours; weights are lengths of common borders. */
static void element_mesh(struct edges *e, uint64_t seed)
{
    uint32_t side = 1;
    while ((side + 1) * (side + 1) <= e->n_tasks) side++;
    uint32_t rows = (e->n_tasks + side - 1) / side;
    for (uint32_t t = 0; t < e->n_tasks; t++) {
        static const uint32_t dx[] = {1, 0, 1}, dy[] = {0, 1, 1};
        for (int k = 0; k < 3; k++) {
            uint32_t x = t % side + dx[k], y = t / side + dy[k], u = y * side + x;
            if (x >= side || y >= rows || u >= e->n_tasks ||
                fc_random_below(seed, POSITIONS, 3 * t + (uint32_t)k, 5) == 0)
                continue;
            add_edge(e, t, u, 2 + (double)fc_random_below(seed, WEIGHTS, 3 * t + (uint32_t)k, 20));
        }
    }
}

/* The stencil of 27 points on an open cube: 16 over faces, 4 over edges, 1 over corners. */
static void cube_27(struct edges *e)
{
    uint32_t side = 1;
    while ((side + 1) * (side + 1) * (side + 1) <= e->n_tasks) side++;
    for (uint32_t t = 0; t < e->n_tasks; t++)
        for (uint32_t u = 0; u < t; u++) {
            uint32_t far = 0, steps = 0;
            for (uint32_t k = 0, p = t, q = u; k < 3; k++, p /= side, q /= side) {
                uint32_t apart = p % side > q % side ? p % side - q % side : q % side - p % side;
                far += apart > 1;
                steps += apart;
            }
            if (far == 0) add_edge(e, t, u, steps == 1 ? 16 : steps == 2 ? 4 : 1);
        }
}

struct sender {
    uint32_t from, to;
    double bytes;
};
static int by_sender(const void *p, const void *q)
{
    const struct sender *a = p, *b = q;
    return a->from != b->from ? (a->from > b->from) - (a->from < b->from) : (a->to > b->to) - (a->to < b->to);
}

/* Every edge both ways, the tasks renumbered at random when `shuffled`. */
static enum fc_code put_edges(const struct edges *e, bool shuffled, uint64_t seed, struct fc_demand *d,
                              struct fc_status *st)
{
    static uint32_t number[MOST_TASKS];
    struct sender *s = malloc(2 * (e->n + 1) * sizeof *s);
    if (!s || fc_demand_start(d, e->n_tasks, 2 * e->n, st)) return st->code ? st->code : FC_NO;
    fc_random_permutation(seed, SHUFFLE, number, e->n_tasks);
    for (size_t i = 0; i < e->n; i++) {
        uint32_t a = shuffled ? number[e->a[i]] : e->a[i], b = shuffled ? number[e->b[i]] : e->b[i];
        s[2 * i] = (struct sender){a, b, e->bytes[i]};
        s[2 * i + 1] = (struct sender){b, a, e->bytes[i]};
    }
    qsort(s, 2 * e->n, sizeof *s, by_sender);
    for (size_t i = 0; i < 2 * e->n; i++) fc_demand_add(d, s[i].from, s[i].to, s[i].bytes);
    free(s);
    return FC_OK;
}

/* A pattern's messages under other numbers, without its grid. */
static enum fc_code shuffle_pattern(const struct fc_demand *ordered, uint64_t seed, struct fc_demand *d,
                                    struct fc_status *st)
{
    struct edges e = {.n_tasks = ordered->n_tasks};
    for (size_t i = 0; i < ordered->n_entries; i++)
        if (ordered->src[i] < ordered->dst[i]) add_edge(&e, ordered->src[i], ordered->dst[i], ordered->bytes[i]);
    put_edges(&e, true, seed, d, st);
    free(e.a), free(e.b), free(e.bytes);
    return st->code;
}

/* ---- jobs ---- */

#define MACHINE(network, links, routing, cores)                                                                        \
    "name: m\nnetwork: {family: " network "}\nlinks: {" links "}\nrouter: {delay: 1 us, routing: " routing "}\n"       \
    "node: {cores: " cores "}\n"
#define TORUS(dims, routing, cores) MACHINE("torus, dims: " dims, "torus: {bandwidth: 1 GB/s}", routing, cores)
#define TREE(children, parents)                                                                                        \
    MACHINE("fat-tree, children: " children ", parents: " parents,                                                     \
            "leaf: {bandwidth: 1 GB/s}, up: {bandwidth: 1 GB/s}", "nca-hash", "1")
#define PERCS(supernodes, cores)                                                                                       \
    MACHINE("two-level, supernodes: " supernodes ", drawers: 4, nodes_per_drawer: 8",                                  \
            "ll: {bandwidth: 24 GB/s}, lr: {bandwidth: 5 GB/s}, d: {bandwidth: 10 GB/s}", "direct", cores)
#define DRAGONFLY(routing, cores)                                                                                      \
    MACHINE("two-level, supernodes: 9, drawers: 4, nodes_per_drawer: 8, nodes_per_router: 4, links_per_pair: 8, "      \
            "local: grid, d_link: modulo",                                                                             \
            "ll: {bandwidth: 5.25 GB/s}, lr: {bandwidth: 15.75 GB/s}, d: {bandwidth: 4.6875 GB/s}", routing, cores)
#define TMESH                                                                                                          \
    MACHINE("tmesh, dims: [4, 4, 4], mesh: [4, 4], bridges: {x-: 0, y-: 2, z-: 4, x+: 1, y+: 3, z+: 5}",               \
            "torus: {bandwidth: 2 GB/s}, mesh: {bandwidth: 25.6 GB/s}", "dimension-order", "1")

#define PERCS_64(rule, routing)                                                                                        \
    MACHINE("two-level, supernodes: 64, drawers: 4, nodes_per_drawer: 8, d_link: " rule,                               \
            "ll: {bandwidth: 24 GB/s}, lr: {bandwidth: 5 GB/s}, d: {bandwidth: 10 GB/s}", routing, "32")
#define STENCIL_4D "stencil4d:grid=16x16x16x16,bytes=2MiB"
#define STENCIL_2D "stencil2d:grid=256x256,bytes=64KiB"
#define MULTICAST "multicast:targets=14,stride=12,bytes=1MiB"
#define SHARED "../shared/reference/mapping/"

static const struct job {
    const char *name, *machine;
    const char *graph; /* power-law, geometric, mesh, 27-point, a file, or a pattern; "shuffled " before it */
    uint32_t n_tasks;  /* of a graph */
    uint64_t seed;
    double budget_s;          /* 0: 4 */
    double goal_s, goal_hops; /* longest link time; hops a byte of all bytes, on a fat tree with those into
                                 and out of the network; 0: none */
} jobs[] = {
    {"PERCS-64 packed direct, 4D stencil", PERCS_64("packed", "direct"), STENCIL_4D, 0, 1, 20, 16e-3, 0},
    {"PERCS-64 packed direct, 2D stencil", PERCS_64("packed", "direct"), STENCIL_2D, 0, 1, 20, 105e-6, 0},
    {"PERCS-64 packed direct, multicast", PERCS_64("packed", "direct"), MULTICAST, 0, 1, 20, 6e-3, 0},
    {"PERCS-300 packed direct, 4D stencil",
     MACHINE("two-level, supernodes: 300, drawers: 4, nodes_per_drawer: 8, d_link: packed",
             "ll: {bandwidth: 24 GB/s}, lr: {bandwidth: 5 GB/s}, d: {bandwidth: 10 GB/s}", "direct", "32"),
     "stencil4d:grid=16x16x16x75,bytes=1MiB/1MiB/512KiB/512KiB", 0, 1, 60, 3.3e-3, 0},
    {"torus 16x16x16, shuffled 3D stencil", TORUS("[16, 16, 16]", "dimension-order", "1"),
     "shuffled stencil3d:grid=16x16x16,bytes=1", 0, 1, 20, 1e-9, 1},
    {"torus 16x16x16, 2D stencil 64x64", TORUS("[16, 16, 16]", "dimension-order", "1"), "stencil2d:grid=64x64,bytes=1",
     0, 1, 20, 4e-9, 1.11},
    {"torus 16x16x16, shuffled 2D stencil 64x64", TORUS("[16, 16, 16]", "dimension-order", "1"),
     "shuffled stencil2d:grid=64x64,bytes=1", 0, 1, 20, 4e-9, 1.11},
    {"torus 8x8x8 x 8 cores, power law 4096 (file)", TORUS("[8, 8, 8]", "dimension-order", "8"),
     SHARED "plaw4096.graph", 0, 1, 20, 540e-9, 3.5},
    {"4-ary 5-tree, 4elt in 1024 parts (file)", TREE("[4, 4, 4, 4, 4]", "[1, 4, 4, 4, 4]"), SHARED "4elt1024.graph", 0,
     1, 20, 58e-9, 3.87},
    {"PERCS-64 modulo direct, 4D stencil", PERCS_64("modulo", "direct"), STENCIL_4D, 0, 1, 5, 0, 0},
    {"PERCS-64 block direct, 4D stencil", PERCS_64("block", "direct"), STENCIL_4D, 0, 1, 5, 0, 0},
    {"PERCS-64 relative direct, 2D stencil", PERCS_64("relative", "direct"), STENCIL_2D, 0, 1, 5, 0, 0},
    {"PERCS-64 hashed direct, multicast", PERCS_64("hashed", "direct"), MULTICAST, 0, 1, 5, 0, 0},
    {"PERCS-64 free direct, 4D stencil", PERCS_64("free", "direct"), STENCIL_4D, 0, 1, 5, 0, 0},
    {"PERCS-64 packed indirect, 4D stencil", PERCS_64("packed", "indirect"), STENCIL_4D, 0, 1, 5, 0, 0},
    {"PERCS-64 hashed indirect, 4D stencil", PERCS_64("hashed", "indirect"), STENCIL_4D, 0, 1, 5, 0, 0},
    {"PERCS-64 packed indirect, 2D stencil", PERCS_64("packed", "indirect"), STENCIL_2D, 0, 1, 5, 60e-6, 0},
    {"PERCS-64 packed indirect, multicast", PERCS_64("packed", "indirect"), MULTICAST, 0, 1, 5, 2.5e-3, 0},
    {"torus 8x8x8, shuffled 27-point stencil", TORUS("[8, 8, 8]", "dimension-order", "1"), "27-point", 512, 2, 0, 36e-9,
     0},
    {"torus 6x10x9 Valiant, mesh 540", TORUS("[6, 10, 9]", "valiant", "1"), "mesh", 540, 24, 0, 0, 0},
    {"mesh 9x11 Valiant x 2 cores, power law 198",
     MACHINE("mesh, dims: [9, 11]", "mesh: {bandwidth: 1 GB/s}", "valiant", "2"), "power-law", 198, 25, 0, 0, 0},
    {"dragonfly of 9 groups, UGAL, geometric 1152", DRAGONFLY("ugal", "1"), "geometric", 1152, 26, 0, 0, 0},
    {"dragonfly of 9 groups, indirect x 2 cores, power law 1500", DRAGONFLY("indirect", "2"), "power-law", 1500, 27, 0,
     0, 0},
    {"torus 8x8x8x8, power law 4096", TORUS("[8, 8, 8, 8]", "dimension-order", "1"), "power-law", 4096, 21, 5, 0, 0},
    {"torus 10x10x10, 2D stencil 40x25", TORUS("[10, 10, 10]", "dimension-order", "1"), "stencil2d:grid=40x25,bytes=1",
     0, 22, 0, 0, 0},
    {"torus 9x6x5 x 2 cores, shuffled 3D stencil 15x6x6", TORUS("[9, 6, 5]", "dimension-order", "2"),
     "shuffled stencil3d:grid=15x6x6,bytes=1", 0, 23, 0, 0, 0},
    {"torus 8x8x8, 2D stencil 32x16", TORUS("[8, 8, 8]", "dimension-order", "1"), "stencil2d:grid=32x16,bytes=1", 0, 1,
     0, 0, 0},
    {"torus 8x8x8, shuffled 3D stencil", TORUS("[8, 8, 8]", "dimension-order", "1"),
     "shuffled stencil3d:grid=8x8x8,bytes=1", 0, 2, 0, 0, 0},
    {"torus 12x8x8, shuffled 2D stencil 24x32", TORUS("[12, 8, 8]", "dimension-order", "1"),
     "shuffled stencil2d:grid=24x32,bytes=1", 0, 3, 0, 0, 0},
    {"torus 8x8x8, power law 512", TORUS("[8, 8, 8]", "dimension-order", "1"), "power-law", 512, 4, 0, 0, 0},
    {"torus 8x8x4 x 4 cores, power law 1024", TORUS("[8, 8, 4]", "dimension-order", "4"), "power-law", 1024, 5, 0, 0,
     0},
    {"torus 4x4x4x4, geometric 256", TORUS("[4, 4, 4, 4]", "dimension-order", "1"), "geometric", 256, 6, 0, 0, 0},
    {"torus 8x8x4 adaptive, geometric 256", TORUS("[8, 8, 4]", "adaptive", "1"), "geometric", 256, 7, 0, 0, 0},
    {"torus 12x8x4 x 2 cores, mesh 768", TORUS("[12, 8, 4]", "dimension-order", "2"), "mesh", 768, 8, 0, 0, 0},
    {"mesh 16x16, geometric 256", MACHINE("mesh, dims: [16, 16]", "mesh: {bandwidth: 1 GB/s}", "dimension-order", "1"),
     "geometric", 256, 9, 0, 0, 0},
    {"mesh 8x8x8, mesh 512", MACHINE("mesh, dims: [8, 8, 8]", "mesh: {bandwidth: 1 GB/s}", "dimension-order", "1"),
     "mesh", 512, 10, 0, 0, 0},
    {"4-ary 4-tree, mesh 256", TREE("[4, 4, 4, 4]", "[1, 4, 4, 4]"), "mesh", 256, 11, 0, 0, 0},
    {"4-ary 4-tree, power law 256", TREE("[4, 4, 4, 4]", "[1, 4, 4, 4]"), "power-law", 256, 12, 0, 0, 0},
    {"fat tree 8:8:8 of 4 parents, geometric 512", TREE("[8, 8, 8]", "[1, 4, 4]"), "geometric", 512, 13, 0, 0, 0},
    {"fat tree 8:8:8 of 2 parents, shuffled 3D stencil", TREE("[8, 8, 8]", "[1, 2, 2]"),
     "shuffled stencil3d:grid=8x8x8,bytes=1", 0, 14, 0, 0, 0},
    {"TMesh 4x4x4, 3D stencil 8x8x10", TMESH, "stencil3d:grid=8x8x10,bytes=1", 0, 15, 0, 0, 0},
    {"TMesh 4x4x4, power law 512", TMESH, "power-law", 512, 16, 0, 0, 0},
    {"PERCS 8 SN x 4 cores, 2D stencil 32x32", PERCS("8", "4"), "stencil2d:grid=32x32,bytes=65536", 0, 17, 0, 0, 0},
    {"PERCS 8 SN x 8 cores, 4D stencil 8x8x8x4", PERCS("8", "8"), "stencil4d:grid=8x8x8x4,bytes=1048576", 0, 18, 0, 0,
     0},
    {"PERCS 8 SN x 4 cores, multicast stride 5", PERCS("8", "4"), "multicast:targets=14,stride=5,bytes=1048576", 0, 19,
     0, 0, 0},
    {"PERCS 8 SN x 4 cores, geometric 1024", PERCS("8", "4"), "geometric", 1024, 20, 0, 0, 0},
};

static enum fc_code load_machine(const char *yaml, struct fc_machine *machine, struct fc_status *st)
{
    char path[] = "/tmp/fabricast-validate-XXXXXX.yaml";
    int fd = mkstemps(path, 5);
    size_t n = strlen(yaml);
    if (fd < 0) return fc_refuse(st, FC_FAULT, "%s cannot be written", path);
    bool whole = write(fd, yaml, n) == (ssize_t)n;
    if (close(fd) || !whole)
        fc_refuse(st, FC_FAULT, "%s cannot be written", path);
    else
        fc_machine_load(path, machine, st);
    unlink(path);
    return st->code;
}

static bool is_file(const struct job *job)
{
    return !strncmp(job->graph, SHARED, strlen(SHARED));
}

static enum fc_code make_demand(const struct job *job, const struct fc_network *net, struct fc_demand *d,
                                struct fc_status *st)
{
    struct edges e = {.n_tasks = job->n_tasks};
    if (!strncmp(job->graph, "shuffled ", 9)) {
        struct fc_demand ordered;
        if (fc_demand_from_pattern(net, job->graph + 9, job->seed, &ordered, st)) return st->code;
        shuffle_pattern(&ordered, job->seed, d, st);
        fc_demand_free(&ordered);
        return st->code;
    }
    if (is_file(job)) return fc_demand_from_graph(job->graph, d, st);
    if (job->n_tasks == 0) return fc_demand_from_pattern(net, job->graph, job->seed, d, st);
    if (!strcmp(job->graph, "power-law")) power_law(&e, job->seed);
    if (!strcmp(job->graph, "geometric")) geometric(&e, job->seed);
    if (!strcmp(job->graph, "mesh")) element_mesh(&e, job->seed);
    if (!strcmp(job->graph, "27-point")) cube_27(&e);
    put_edges(&e, true, job->seed, d, st);
    free(e.a), free(e.b), free(e.bytes);
    return st->code;
}

/* ---- rows ---- */

struct figures {
    double time_s, hops_a_byte, hops, spent_s; /* hops: of all bytes */
};

/* FC_INPUT: the strategy does not fit. */
static enum fc_code try(const struct fc_map_problem *problem, const char *strategy, struct figures *f,
                        struct fc_status *st)
{
    struct fc_mapping mapping;
    struct fc_load load;
    struct fc_load_summary summary;
    struct fc_load_settings settings = {.threads = 1, .seed = 1};
    double start = fc_cpu_s();
    if (fc_mapping_make(problem, strategy, &mapping, st)) return st->code;
    f->spent_s = fc_cpu_s() - start;
    struct fc_placement placement = {mapping.n_tasks, mapping.node};
    if (!fc_load_solve(problem->net, problem->demand, &placement, &settings, &load, st)) {
        fc_load_summarise(problem->net, &load, &settings, &summary);
        f->time_s = summary.max_link_s;
        f->hops_a_byte = load.network_bytes > 0 ? load.hop_bytes / load.network_bytes : 0;
        f->hops = load.hop_bytes;
        if (!strcmp(problem->net->machine->family->name, "fat-tree")) f->hops += 2 * load.network_bytes;
        double bytes = 0;
        for (size_t e = 0; e < problem->demand->n_entries; e++) bytes += problem->demand->bytes[e];
        f->hops /= bytes;
        fc_load_free(&load);
    }
    fc_mapping_free(&mapping);
    return st->code;
}

struct tally {
    int rows, worse, room, better, under, goals, missed;
};

/* The row's goal, and whether it is met. */
static void hold_to_goal(const struct job *job, const struct figures *f, struct tally *tally)
{
    if (job->goal_s == 0) return;
    bool met = f->time_s <= job->goal_s * (1 + 1e-9) && (job->goal_hops == 0 || f->hops <= job->goal_hops);
    printf("    goal %.4g us", 1e6 * job->goal_s);
    if (job->goal_hops > 0) printf(", %.3f hops of all bytes (%.3f)", job->goal_hops, f->hops);
    printf(": %s\n", met ? "met" : "MISSED");
    tally->goals++;
    tally->missed += !met;
}

static enum fc_code run(const struct job *job, uint64_t seed, struct tally *tally, struct fc_status *st)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand demand = {0};
    struct fc_map_bound bound;
    struct figures f, best = {.time_s = 1e300};
    const char *best_name = "none";
    if (load_machine(job->machine, &machine, st) || fc_network_build(&machine, &net, st) ||
        make_demand(job, &net, &demand, st))
        return st->code;
    struct fc_map_problem problem = {
        .net = &net, .demand = &demand, .seed = seed, .time_s = job->budget_s > 0 ? job->budget_s : 4, .threads = 1};
    if (fc_mapping_bound(&problem, &bound, st)) return st->code;
    printf("%s: bound %.4g us\n   ", job->name, 1e6 * bound.time_s);
    for (int i = 0; fc_strategies[i]; i++) {
        struct fc_status why = {0};
        if (fc_strategies[i]->argument || !strcmp(fc_strategies[i]->name, "optimize") ||
            !strcmp(fc_strategies[i]->name, "exact"))
            continue;
        if (try(&problem, fc_strategies[i]->name, &f, &why)) {
            if (why.code != FC_INPUT) return fc_refuse(st, why.code, "%s", why.message);
            continue;
        }
        printf(" %s %.4g", fc_strategies[i]->name, 1e6 * f.time_s);
        tally->under += f.time_s < bound.time_s * (1 - 1e-9);
        if (f.time_s >= best.time_s) continue;
        best = f;
        best_name = fc_strategies[i]->name;
    }
    if (try(&problem, "optimize", &f, st)) return st->code;
    double gain = 100 * (1 - f.time_s / best.time_s);
    bool room = !(bound.time_s > best.time_s * (1 - least_gain / 100));
    printf("\n    optimize %.4g us, %.2f CPU s: %.1f %% below %s; hops a byte %.3f (%.3f)%s\n", 1e6 * f.time_s,
           f.spent_s, gain, best_name, f.hops_a_byte, best.hops_a_byte,
           room ? "" : "; the bound leaves less than 10 %");
    hold_to_goal(job, &f, tally);
    tally->rows++;
    tally->worse += f.time_s > best.time_s * (1 + 1e-9);
    tally->room += room;
    tally->better += room && gain >= least_gain;
    tally->under += f.time_s < bound.time_s * (1 - 1e-9);
    fflush(stdout);
    fc_demand_free(&demand);
    fc_network_free(&net);
    fc_machine_free(&machine);
    return FC_OK;
}

int main(int argc, char **argv)
{
    struct tally tally = {0};
    for (size_t i = 0; i < FC_COUNT(jobs); i++) {
        struct fc_status st = {0};
        if (argc > 1 && !strstr(jobs[i].name, argv[1])) continue;
        if (is_file(&jobs[i]) && access(jobs[i].graph, R_OK)) {
            printf("%s: left out, no %s\n", jobs[i].name, jobs[i].graph);
            continue;
        }
        if (!run(&jobs[i], argc > 2 ? strtoull(argv[2], NULL, 10) : 1, &tally, &st)) continue;
        printf("%s: %s\n", jobs[i].name, st.message);
        return 1;
    }
    printf("%d jobs: optimize above the best other strategy in %d; the bound leaves 10 %% in %d, optimize "
           "takes them in %d; "
           "times under the bound: %d; goals missed: %d of %d\n",
           tally.rows, tally.worse, tally.room, tally.better, tally.under, tally.missed, tally.goals);
    return tally.worse > 0 || tally.under > 0 || tally.missed > 0 || 2 * tally.better < tally.room;
}
