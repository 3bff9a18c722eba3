/* percs.h - jobs of Bhatele et al., SC'11, on the shipped PERCS machines: opened, mapped, loaded
 * (validate_percs.c).
 *
 * What a strategy of the paper is here: its six mappings by name, DFI and RDI are def and rdm with routing
 * indirect. Strategies that draw at random are measured with several seeds; the median stands for them. */
#ifndef FC_TEST_PERCS_H
#define FC_TEST_PERCS_H

#include "mapping/mapping.h"
#include "models/family_two_level.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PERCS_LL, PERCS_LR, PERCS_D, PERCS_CLASSES };
enum { DEF, BNM, BDM, BSM, RNM, RDM, DFI, RDI, PERCS_WAYS };
enum { PERCS_SEEDS = 5 };
static const char *const percs_ways[PERCS_WAYS] = {"DEF", "BNM", "BDM", "BSM", "RNM", "RDM", "DFI", "RDI"};

struct percs_job {
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand demand;
    struct fc_status st;
};

/* One mapping's loads and contention time; the time of a random one also over the seeds. */
struct percs_result {
    const char *map;                /* NULL: not measured */
    double comm_s, least_s, most_s; /* communication_s of predict without calibration: median, extremes */
    struct fc_load_class link[PERCS_CLASSES];
    char bottleneck[8]; /* "D" */
    double cpu_s;       /* of one measurement: mapping, loads, bound */
};

static inline void percs_stop(const char *what, const struct fc_status *st)
{
    printf("%s: %s\n", what, st->message);
    exit(1);
}

/* d_link: the rule for the hosts of D links, -1: the file's (packed). */
static inline void percs_open(struct percs_job *j, const char *machine, int d_link, const char *pattern)
{
    memset(j, 0, sizeof *j);
    if (fc_machine_load(machine, &j->machine, &j->st)) percs_stop(machine, &j->st);
    if (d_link >= 0) ((struct fc_two_level_shape *)j->machine.shape)->d_link = d_link;
    if (fc_network_build(&j->machine, &j->net, &j->st)) percs_stop(machine, &j->st);
    if (pattern && fc_demand_from_pattern(&j->net, pattern, 1, &j->demand, &j->st))
        percs_stop(pattern, &j->st);
}

static inline void percs_close(struct percs_job *j)
{
    fc_demand_free(&j->demand);
    fc_network_free(&j->net);
    fc_machine_free(&j->machine);
}

static inline void percs_map(struct percs_job *j, const char *map, uint64_t seed, struct fc_mapping *mapping)
{
    struct fc_map_problem problem = {.net = &j->net, .demand = &j->demand, .seed = seed, .threads = 1};
    if (fc_mapping_make(&problem, map, mapping, &j->st)) percs_stop(map, &j->st);
}

static inline void percs_once(struct percs_job *j, const char *map, bool indirect, uint64_t seed,
                              struct percs_result *r)
{
    struct fc_mapping mapping;
    struct fc_load load;
    struct fc_load_settings settings = {.seed = seed};
    struct fc_load_summary s;
    struct fc_prediction p;
    double start = fc_cpu_s();
    *r = (struct percs_result){.map = map};
    if (fc_machine_route(&j->machine, indirect ? "indirect" : "direct", &j->st)) percs_stop(map, &j->st);
    percs_map(j, map, seed, &mapping);
    struct fc_placement placement = {mapping.n_tasks, mapping.node};
    if (fc_load_solve(&j->net, &j->demand, &placement, &settings, &load, &j->st) ||
        fc_predict_phase(&j->net, &j->demand, &placement, &load, &settings, &p, &j->st))
        percs_stop(map, &j->st);
    fc_load_summarise(&j->net, &load, &settings, &s);
    memcpy(r->link, s.classes, sizeof r->link);
    static const char *const names[] = {"LL", "LR", "D", "node"};
    if (s.hottest != FC_NONE) strcpy(r->bottleneck, names[j->net.link_class[s.hottest]]);
    r->comm_s = r->least_s = r->most_s = p.communication_s;
    r->cpu_s = fc_cpu_s() - start;
    fc_load_free(&load);
    fc_mapping_free(&mapping);
}

static inline int percs_slower(const void *a, const void *b)
{
    double x = ((const struct percs_result *)a)->comm_s, y = ((const struct percs_result *)b)->comm_s;
    return (x > y) - (x < y);
}

/* `random`: the median of PERCS_SEEDS seeds, 1 and up. */
static inline void percs_measure(struct percs_job *j, const char *map, bool indirect, bool random,
                                 struct percs_result *r)
{
    struct percs_result all[PERCS_SEEDS];
    int n = random ? PERCS_SEEDS : 1;
    for (int i = 0; i < n; i++) percs_once(j, map, indirect, (uint64_t)i + 1, &all[i]);
    qsort(all, (size_t)n, sizeof *all, percs_slower);
    *r = all[n / 2];
    r->least_s = all[0].comm_s;
    r->most_s = all[n - 1].comm_s;
}

/* The ways of the list: map[w] NULL is left out. */
static inline void percs_measure_all(struct percs_job *j, const char *const *map, bool rest_is_random,
                                     struct percs_result *r)
{
    for (int w = 0; w < PERCS_WAYS; w++) {
        bool random = w == RNM || w == RDM || w == RDI || (rest_is_random && w >= BNM && w <= BSM);
        r[w] = (struct percs_result){.map = NULL, .comm_s = NAN};
        if (map[w]) percs_measure(j, map[w], w >= DFI, random, &r[w]);
    }
}

#endif
