/* tests.h - the list of test suites and what the test files share.
 *
 * A test file tests/test_X.c exports `int suite_X(void)`, which registers its suites (usually one a source file) with
 * CUnit and returns 0; one line in FC_SUITES makes it run. Tests run from the top of the source tree. */
#pragma once

#include "core/core.h"

#include <CUnit/CUnit.h>

/* clang-format off */
#define FC_SUITES(X)                                                                                                   \
    X(suite_adaptive_split)                                                                                            \
    X(suite_adjoint) X(suite_announced)                                                                                                 \
    X(suite_background)                                                                                                \
    X(suite_benchmark) X(suite_measurement) X(suite_bound)                                                                                                     \
    X(suite_block_shapes)                                                                                              \
    X(suite_buffer) X(suite_bulk) X(suite_bulk_phase)                                                                                                      \
    X(suite_calibration) X(suite_calibration_added) X(suite_calibration_design)                                        \
    X(suite_calibration_file)                                                                                          \
    X(suite_family)                                                                                                    \
    X(suite_capture)                                                                                                   \
    X(suite_capture_calls)                                                                                             \
    X(suite_collective)                                                                                                \
    X(suite_collective_choice)                                                                                         \
    X(suite_collective_flow)                                                                                           \
    X(suite_collective_hardware)                                                                                       \
    X(suite_collective_times)                                                                                          \
    X(suite_contention)                                                                                                \
    X(suite_compare)                                                                                                   \
    X(suite_floor_plan)                                                                                                \
    X(suite_core)                                                                                                      \
    X(suite_core_io)                                                                                                   \
    X(suite_core_keys)                                                                                                 \
    X(suite_core_table)                                                                                                \
    X(suite_threads)                                                                                                   \
    X(suite_sanitizers)                                                                                                \
    X(suite_deadlock)                                                                                                  \
    X(suite_dependencies)                                                                                              \
    X(suite_exact)                                                                                                     \
    X(suite_export)                                                                                                    \
    X(suite_fabrics)                                                                                                   \
    X(suite_families)                                                                                                  \
    X(suite_families_alone)                                                                                            \
    X(suite_dragonfly_plus)                                                                                            \
    X(suite_fat_tree)                                                                                                  \
    X(suite_flit_text)                                                                                                 \
    X(suite_format_chakra)                                                                                             \
    X(suite_format_paraver)                                                                                            \
    X(suite_flit_source)                                                                                               \
    X(suite_flit_source_closed)                                                                                        \
    X(suite_flit_precision)                                                                                            \
    X(suite_flit_run)                                                                                                  \
    X(suite_flit_means)           \
    X(suite_flit_statistics)                                                                                           \
    X(suite_flit_priority)                                                                                             \
    X(suite_flit_background)                                                                                           \
    X(suite_place_passed)                                                                                              \
    X(suite_flit_router)                                                                                               \
    X(suite_flit_route)                                                                                                \
    X(suite_flit_reference)                                                                                            \
    X(suite_flit_ugal)                                                                                                 \
    X(suite_flit_prepare)                                                                                              \
    X(suite_flit_ranks)                                                                                                \
    X(suite_flit_event)                                                                                                \
    X(suite_flit_event_queue)                                                                                          \
    X(suite_flit_injection)                                                                                            \
    X(suite_flit_multicast)                                                                                            \
    X(suite_flit_bluegene)                                                                                             \
    X(suite_flit_cycle)                                                                                                \
    X(suite_format_goal)                                                                                               \
    X(suite_format_liballprof)                                                                                         \
    X(suite_format_simgrid)                                                                                            \
    X(suite_format_dumpi)                                                                                              \
    X(suite_format_otf2)                                                                                               \
    X(suite_fuzz)                                                                                                      \
    X(suite_import) X(suite_slurm_yaml) X(suite_kubernetes) X(suite_generate) X(suite_graph) X(suite_graph_routings) X(suite_network_cut) X(suite_flit_graph)                                                                                                     \
    X(suite_graph_files)                                                                                               \
    X(suite_graph_monitoring)                                                                                          \
    X(suite_hosts)                                                                                                     \
    X(suite_kills)                                                                                                     \
    X(suite_kriging)                                                                                                   \
    X(suite_launched)                                                                                                  \
    X(suite_launcher)                                                                                                  \
    X(suite_library)                                                                                                   \
    X(suite_link_map)                                                                                                  \
    X(suite_load)                                                                                                      \
    X(suite_machine_file)                                                                                              \
    X(suite_machine_set)                                                                                               \
    X(suite_machine_loads)                                                                                             \
    X(suite_machines)                                                                                                  \
    X(suite_manual)                                                                                                    \
    X(suite_format) X(suite_rooms)                                                                                                     \
    X(suite_end_points) X(suite_measured) X(suite_map_background) X(suite_map_budget) X(suite_map_search) X(suite_map_starts) X(suite_even_pairs)            \
        X(suite_memory) X(suite_mapping) X(suite_mapping_bound) X(suite_maxmin) X(suite_nic) X(suite_options)          \
            X(suite_pages) X(suite_patterns) X(suite_queue) X(suite_phases) X(suite_place) X(suite_plots) X(suite_place_search)       \
                X(suite_place_cuts) X(suite_queueing) X(suite_queueing_pair) X(suite_queueing_stage) X(suite_queueing_theory) X(suite_alone) X(suite_queueing_window) X(suite_replay)  \
                    X(suite_replay_jobs) X(suite_reorder) X(suite_reproduce) X(suite_map_routes) X(suite_scotch_boxes) X(suite_shapes) X(suite_strategies) X(suite_stream)        \
                        X(suite_screen) X(suite_sensitivity) X(suite_serve) X(suite_sweep) X(suite_replay_error) X(suite_calibration_mixing) X(suite_replay_dense) X(suite_replay_beside)              \
                            X(suite_replay_online) X(suite_replay_graph) X(suite_report) X(suite_tmesh)                \
                                X(suite_trace_blocks) X(suite_trace_period) X(suite_trace_graph) X(suite_trace_sink)   \
                                    X(suite_trace_stream) X(suite_trace_use) X(suite_timeline) X(suite_transit) X(suite_transit_cut) X(suite_transit_fair) X(suite_transit_models) \
                                        X(suite_traces) X(suite_turns) X(suite_turns_destinations) X(suite_turns_groups) X(suite_turns_kept) X(suite_waiting) X(suite_node_kinds) X(suite_routes) X(suite_weakest) X(suite_without) X(suite_cases)
/* clang-format on */

/* Weak, so that one test file can be built and run alone (make test TESTS=tests/test_core.c ONLY=core). A suite of the
 * list that is not linked fails the run unless ONLY chooses suites. */
#define FC_DECLARE_SUITE(name) int name(void) __attribute__((weak));
FC_SUITES(FC_DECLARE_SUITE)

/* --update: golden commands write what they print into their case files. */
extern bool fc_update_cases;

/* Registers a suite of tests; 0, or non-zero when CUnit cannot. */
int fc_add_suite(const char *name, const CU_TestInfo *tests);
/* The same with what comes before and after its tests, only when it runs; 0: done. Every process registers all suites, so
 * nothing else may cost there. */
int fc_add_suite_between(const char *name, int (*begin)(void), int (*end)(void), const CU_TestInfo *tests);
/* The status holds `code` and a message (with its place, as users see it) that contains `part`; shows both if not. */
bool fc_says(const struct fc_status *st, enum fc_code code, const char *part);
