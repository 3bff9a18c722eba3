/* place_service.h - what cores get from a layout: latency at a load and saturation throughput by the queueing
 * model, freedom of deadlock by certificate, and the same by the flit-level kernel. */
#pragma once

#include "mapping/place/place.h"
#include "solvers/calibration/calibration.h"

struct fc_layout_service {
    double latency_cycles, latency_percent; /* of uniform traffic at the load; error, NaN: unknown or no steady state */
    double saturation, saturation_percent;  /* flits a node and cycle */
    double ideal;                           /* load that fills the busiest link */
    bool extrapolated, deadlock_free;
    char tier[16], why[1024]; /* of the calibration */
};
struct fc_layout_confirming {
    double load_flits_per_cycle; /* where latency is taken */
    double on_chip;              /* of struct fc_chip: flits to the chip's other cores for each one into the machine */
    uint64_t warmup_cycles, measure_cycles; /* of a run for the throughput; 0: 4 Z of the machine as it stands,
                                                rounded up to 500 cycles */
    double half_width_share;   /* seeds end where the half width is below this share of the throughput; 0: 1 % */
    int least_runs, most_runs; /* seeds; 2 or more; 0: 3 and 16 */
    double budget_s;           /* work for one layout, seconds of a nominal core, counted in hops so that results
                                                repeat; seeds end there too. 0: no limit */
    uint64_t seed;
};
struct fc_layout_kernel {
    int runs;                                  /* seeds */
    double latency_cycles, latency_half_width; /* one run; 95 % by batch means; NaN: unstable */
    double throughput, throughput_half_width;  /* most accepted at any offered load: mean of seeds, 95 % */
    double offered;                            /* there, first seed */
    double window_cycles;                      /* of a run for the throughput */
    double cpu_s;
};

/* A machine of family tmesh with this layout, under another virtual-channel policy where `policy` >= 0
 * (enum fc_tmesh_policy). It borrows from `machine`, which must outlive it; the caller frees it by
 * fc_machine_free. */
enum fc_code fc_layout_machine(const struct fc_machine *machine, const struct fc_bridge_layout *layout, int policy,
                               struct fc_machine *made, struct fc_status *st);
/* By the queueing model, with the calibration beside the machine's file where its kind fits. Packets of the
 * machine's largest size. 0.1 to 0.2 s for 2 160 nodes. */
enum fc_code fc_layout_serve(const struct fc_machine *machine, const struct fc_bridge_layout *layout, int policy,
                             double load_flits_per_cycle, struct fc_layout_service *service, struct fc_status *st);
/* By the kernel: latency at the load, and the most that is accepted. 3 to 7 s for tmesh-3456. FC_NO: a deadlock. */
enum fc_code fc_layout_confirm(const struct fc_machine *machine, const struct fc_bridge_layout *layout, int policy,
                               const struct fc_layout_confirming *how, struct fc_layout_kernel *kernel,
                               struct fc_status *st);

struct fc_served_layout {
    struct fc_bridge_layout layout;
    struct fc_layout_figures figures;
    struct fc_layout_service service;
    bool allowed; /* by the rules, and free of deadlock */
    bool front;   /* allowed, and none allowed has both less latency and more saturation, one of them strictly */
};
/* Serves list[0..*n), then `more` layouts that are one change away from a layout of the front so far (an
 * interface to another node, or two exchanged; those with figures that were seen are passed over), and marks
 * the front. The list has room for *n + more. Deterministic (place_front.c). `more` x the time of
 * fc_layout_serve. */
enum fc_code fc_place_front(const struct fc_machine *machine, const struct fc_place_model *model,
                            const struct fc_layout_rules *rules, int policy, double load_flits_per_cycle, int more,
                            uint64_t seed, struct fc_progress *progress, struct fc_served_layout *list, size_t *n,
                            struct fc_status *st);
