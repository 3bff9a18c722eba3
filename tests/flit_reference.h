/* flit_reference.h - curves of an independent flit-level simulator, beside the source tree where there are
 * any, and the same point run by the kernel. Used by the fast tests and by `make validate`. */
#pragma once

#include "solvers/flit/flit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REFERENCE_DIRECTORY "../shared/reference/flit"
static const char *const reference_names[] = {
    "a_mesh8x8_dor_v4b8_l1",           "b_torus8x8_dor_v2b8_l1",       "c_torus4x4x4_dor_v4b8_l4",
    "e_fattree4x3_nca_v4b8_l1",        "g_dragonfly72_min_uniform_l1", "r2_a_mesh8x8_dor_v4b8_l1",
    "r2_b_torus8x8_dor_v2b8_l1",       "r2_c_torus4x4x4_dor_v4b8_l4",  "r2_e_fattree4x3_nca_v4b8_l1",
    "r2_g_dragonfly72_min_uniform_l1",
};

/* One load of a curve: means over its runs with several seeds. */
struct reference_point {
    double load, latency_cycles, accepted, hops;
    int runs;
    bool overload, stable; /* overload: measured for the accepted load only */
};
struct reference_curve {
    const char *name;
    int router; /* 1: VC allocation in a stage of its own, 2: combined */
    uint32_t packet_flits;
    uint64_t warmup_cycles, measure_cycles; /* of each of its runs */
    double limit_cycles;                    /* a mean latency above it is called unstable there */
    double stable_up_to;                    /* greatest stable load */
    struct reference_point points[64];
    int n;
};

static inline bool reference_there(void)
{
    FILE *file = fopen(REFERENCE_DIRECTORY "/README.md", "r");
    if (file) fclose(file);
    return file != NULL;
}

/* `key = value;` of the parameters; the last one counts. */
static inline double reference_parameter(const char *text, const char *key)
{
    double value = NAN;
    size_t length = strlen(key);
    for (const char *at = text; (at = strstr(at, key)); at += length)
        if (at > text && strchr(" \n;", at[-1])) sscanf(at + length, " = %lf", &value);
    return value;
}

/* Column `name` of a line of comma-separated values under `head`; writes the cell, empty when missing. */
static inline void reference_cell(const char *head, const char *line, const char *name, char cell[64])
{
    size_t length = strlen(name);
    cell[0] = 0;
    for (;;) {
        size_t h = strcspn(head, ",\n"), l = strcspn(line, ",\n");
        if (h == length && !strncmp(head, name, h)) snprintf(cell, 64, "%.*s", (int)l, line);
        if (head[h] != ',' || line[l] != ',') return;
        head += h + 1;
        line += l + 1;
    }
}

static inline void reference_add(struct reference_curve *c, const char *head, const char *line)
{
    char cell[64];
    reference_cell(head, line, "mode", cell);
    bool overload = !strcmp(cell, "throughput");
    reference_cell(head, line, "status", cell);
    bool stable = !overload && !strcmp(cell, "ok");
    reference_cell(head, line, "offered", cell);
    double load = atof(cell);
    struct reference_point *p = c->points;
    while (p < c->points + c->n && (p->load != load || p->overload != overload || p->stable != stable)) p++;
    if (p == c->points + FC_COUNT(c->points)) return;
    if (p == c->points + c->n)
        c->points[c->n++] = (struct reference_point){.load = load, .overload = overload, .stable = stable};
    reference_cell(head, line, "plat_avg", cell);
    p->latency_cycles += (atof(cell) - p->latency_cycles) / ++p->runs;
    reference_cell(head, line, "accepted", cell);
    p->accepted += (atof(cell) - p->accepted) / p->runs;
    reference_cell(head, line, "hops_routers", cell);
    p->hops += (atof(cell) - 1 - p->hops) / p->runs;
    if (stable && load > c->stable_up_to) c->stable_up_to = load;
}

static inline int reference_order(const void *a, const void *b)
{
    const struct reference_point *x = a, *y = b;
    return x->overload != y->overload ? x->overload - y->overload : (x->load > y->load) - (x->load < y->load);
}

/* Reads curve `name`; false with the reason in st. */
static inline bool reference_read(const char *name, struct reference_curve *c, struct fc_status *st)
{
    struct fc_arena arena = {0};
    struct fc_text parameters, table;
    char path[256];
    memset(c, 0, sizeof *c);
    c->name = name;
    c->router = strncmp(name, "r2_", 3) ? 1 : 2;
    snprintf(path, sizeof path, REFERENCE_DIRECTORY "/%s.cfg", name);
    if (fc_read_file(path, &arena, &parameters, st)) return false;
    snprintf(path, sizeof path, REFERENCE_DIRECTORY "/%s.csv", name);
    if (!fc_read_file(path, &arena, &table, st)) {
        double period = reference_parameter(parameters.data, "sample_period");
        c->packet_flits = (uint32_t)reference_parameter(parameters.data, "packet_size");
        c->warmup_cycles = (uint64_t)(period * reference_parameter(parameters.data, "warmup_periods"));
        c->measure_cycles = (uint64_t)(period * 3);
        c->limit_cycles = reference_parameter(parameters.data, "latency_thres");
        const char *head = table.data;
        for (const char *line = strchr(head, '\n'); line && line[1]; line = strchr(line + 1, '\n'))
            reference_add(c, head, line + 1);
        qsort(c->points, (size_t)c->n, sizeof *c->points, reference_order);
    }
    fc_arena_free(&arena);
    return st->code == FC_OK;
}

/* The machine of a curve, and its uniform traffic. */
struct reference_machine {
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand demand;
};
static inline void reference_close(struct reference_machine *m)
{
    fc_demand_free(&m->demand);
    fc_network_free(&m->net);
    fc_machine_free(&m->machine);
}
static inline bool reference_open(const char *name, struct reference_machine *m, struct fc_status *st)
{
    char path[256];
    memset(m, 0, sizeof *m);
    snprintf(path, sizeof path, "tests/machines/%s.yaml", name);
    if (!fc_machine_load(path, &m->machine, st) && !fc_network_build(&m->machine, &m->net, st) &&
        !fc_demand_from_pattern(&m->net, "uniform", 1, &m->demand, st))
        return true;
    reference_close(m);
    return false;
}

/* The kernel at one load of the curve, with its lengths divided by `shorter`. The caller frees the result. */
static inline enum fc_code reference_run(const struct reference_curve *c, const struct reference_machine *m,
                                         double load, int engine, uint64_t shorter, uint64_t seed,
                                         struct fc_flit_result *result, struct fc_status *st)
{
    struct fc_flit_settings settings;
    fc_flit_defaults(&settings);
    settings.engine = engine;
    settings.load_flits_per_cycle = load;
    settings.packet_flits_min = settings.packet_flits_max = c->packet_flits;
    settings.warmup_cycles = c->warmup_cycles / shorter;
    settings.measure_cycles = c->measure_cycles / shorter;
    settings.seed = seed;
    return fc_flit_run(&m->net, &m->demand, NULL, &settings, result, st);
}
