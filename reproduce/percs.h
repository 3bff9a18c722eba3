/* percs.h - jobs of Bhatele, Jain, Gropp, Kale, SC'11, on the shipped PERCS machines: opened, mapped, loaded.
 * Private to the room and its tests.
 *
 * What a strategy of the paper is here: its six mappings by name; DFI and RDI are def and rdm with routing
 * indirect. Strategies that draw at random are measured with several seeds; the median stands for them. */
#pragma once

#include "mapping/mapping.h"
#include "models/family_two_level.h"
#include "reproduce/figure.h"

#define FC_PERCS_PAPER "Bhatele, Jain, Gropp, Kale, SC'11"
#define FC_PERCS_2D "stencil2d:grid=256x256,bytes=64KiB"
#define FC_PERCS_4D "stencil4d:grid=16x16x16x16,bytes=2MiB"
#define FC_PERCS_300 "stencil4d:grid=16x16x16x75,bytes=1MiB/1MiB/512KiB/512KiB"
#define FC_PERCS_MULTICAST "multicast:targets=14,stride=12,bytes=1MiB"

enum { FC_PERCS_LL, FC_PERCS_LR, FC_PERCS_D, FC_PERCS_CLASSES };
enum { FC_DEF, FC_BNM, FC_BDM, FC_BSM, FC_RNM, FC_RDM, FC_DFI, FC_RDI, FC_PERCS_WAYS };
enum { FC_PERCS_SEEDS = 5, FC_PERCS_BINS = 20 };
#define FC_PERCS_BIN_BYTES 108.3e6 /* of Figure 6's histograms of D links */
extern const char *const fc_percs_ways[FC_PERCS_WAYS], *const fc_percs_classes[FC_PERCS_CLASSES];
/* Mappings by way, NULL: not judged; on 64 supernodes, of the multicast, on 300 supernodes. */
extern const char *const fc_percs_ways_64[FC_PERCS_WAYS], *const fc_percs_ways_multicast[FC_PERCS_WAYS],
                                                              *const fc_percs_ways_300[FC_PERCS_WAYS];

struct fc_percs_job {
    struct fc_bench bench;
    struct fc_demand demand;
};
/* One mapping's loads and contention time; the time of a random one also over the seeds. */
struct fc_percs_result {
    const char *map;                /* NULL: not measured */
    double comm_s, least_s, most_s; /* communication_s of predict without calibration: median, extremes */
    struct fc_load_class link[FC_PERCS_CLASSES];
    double d_links[FC_PERCS_BINS]; /* used D links by bytes, in bins of FC_PERCS_BIN_BYTES */
    double cpu_s;                  /* of one measurement: mapping, loads, bound */
};

/* d_link: the rule for the hosts of D links, -1: the file's; pattern NULL: none. Free with fc_percs_close. */
enum fc_code fc_percs_open(struct fc_percs_job *j, const char *machine, int d_link, const char *pattern,
                           struct fc_status *st);
void fc_percs_close(struct fc_percs_job *j);
/* The mapping is the caller's to free. */
enum fc_code fc_percs_map(struct fc_percs_job *j, const char *map, uint64_t seed, struct fc_mapping *mapping,
                          struct fc_status *st);
enum fc_code fc_percs_once(struct fc_percs_job *j, const char *map, bool indirect, uint64_t seed,
                           struct fc_percs_result *r, struct fc_status *st);
/* The ways of the list, random ones with seeds seed .. seed + FC_PERCS_SEEDS - 1. */
enum fc_code fc_percs_measure(struct fc_percs_job *j, const char *const *map, bool rest_is_random, uint64_t seed,
                              struct fc_percs_result *r, struct fc_status *st);
/* open, measure, close. */
enum fc_code fc_percs_run(const char *machine, int d_link, const char *pattern, const char *const *map,
                          bool rest_is_random, uint64_t seed, struct fc_percs_result *r, struct fc_status *st);

/* Greatest and least time of ways from..to. */
double fc_percs_greatest(const struct fc_percs_result *r, int from, int to);
double fc_percs_least(const struct fc_percs_result *r, int from, int to);
/* Bars of the ways that were measured: one series' mean bytes a link, MB, by class with least and most as
 * error bars. */
void fc_percs_plot_links(struct fc_reproduction *f, const struct fc_percs_result *r);
/* Bars of a step's time, ms, by mapping: computation and communication, with the range over seeds, for both rules of the
 * D links' hubs. r, modulo: [FC_PERCS_WAYS]. */
void fc_percs_plot_times(struct fc_reproduction *f, const struct fc_percs_result *r,
                         const struct fc_percs_result *modulo, double compute_ms);
