/* run.h - a question to the flit-level kernel as its settings (run.c). */
#pragma once

#include "answer/question.h"
#include "solvers/flit/flit.h"

/* All settings but the load. FC_INPUT: a text is none. */
enum fc_code fc_run_settings(const struct fc_run_question *run, uint64_t seed, int threads,
                             struct fc_flit_settings *settings, struct fc_status *st);
/* One load in flits a node and cycle: "0.3", or "60%" of the demand's ideal throughput, which is worked out on first use and
 * kept in *ideal (NaN before). `option` names where the text comes from. */
enum fc_code fc_run_load(const char *option, const char *text, const struct fc_network *net,
                         const struct fc_demand *demand, const struct fc_flit_settings *settings, double *ideal,
                         double *load_flits_per_cycle, struct fc_status *st);
/* Messages of one task a node taken as relative rates, for `option`. FC_INPUT where tasks are not nodes. */
enum fc_code fc_run_rates(const char *option, const struct fc_network *net, struct fc_demand *demand,
                          struct fc_status *st);
/* run->load into the settings where the demand is of rates; FC_INPUT where it lacks. *ideal as above. */
enum fc_code fc_run_offer(const struct fc_run_question *run, const struct fc_network *net,
                          const struct fc_demand *demand, struct fc_flit_settings *settings, double *ideal,
                          struct fc_status *st);
