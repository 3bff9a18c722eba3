/* turns_oracles.h - turns of the small networks of flit_oracles.h, packets of FLITS, for the tests of all ways to find
 * them. */
#pragma once

#include "solvers/queueing/turns_internal.h"
#include "tests/flit_oracles.h"
#include "tests/support.h"
#include "tests/tests.h"

enum { FLITS = 3 };

static inline bool open_oracle(const struct oracle_machine *o, enum oracle_flow flow, struct fc_machine *machine,
                               struct fc_network *net)
{
    struct fc_status st = {0};
    if (oracle_open(oracle_yaml(o, 2, false, flow, "512 B"), machine, net, &st)) return true;
    printf("\n    %s: %s\n", o->name, st.message);
    CU_FAIL("a machine does not open");
    return false;
}

static inline bool make(enum fc_turns_method method, const struct fc_network *net, const struct fc_demand *demand,
                        const char *vc_rule, uint64_t hops, struct fc_turns *turns)
{
    struct fc_status st = {0};
    struct fc_flit_settings settings;
    fc_flit_defaults(&settings);
    settings.packet_flits_min = settings.packet_flits_max = FLITS;
    settings.vc_rule = vc_rule;
    settings.seed = 5;
    if (fc_turns_make_by(method, net, demand, &settings, hops, turns, &st) == FC_OK) return true;
    printf("\n    %s\n", st.message);
    CU_FAIL("turns are not made");
    return false;
}
