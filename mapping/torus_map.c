/* torus_map.c - what strategies for tori and meshes share: is the whole machine at hand, and how good is a
 * mapping. */
#include "mapping/torus_map.h"

const struct fc_torus_shape *fc_map_whole_torus(const struct fc_map_problem *problem, const struct fc_slots *slots,
                                                const char *name, struct fc_status *st)
{
    const struct fc_network *net = problem->net;
    const struct fc_torus_shape *torus = fc_torus(net);
    if (!torus) {
        fc_refuse(st, FC_INPUT, "strategy %s needs a torus or mesh, and %s is a %s network", name, net->machine->name,
                  net->machine->family->name);
        return NULL;
    }
    bool whole = slots->n_nodes == net->n_nodes;
    for (uint32_t i = 0; whole && i < slots->n_nodes; i++) whole = slots->node[i] == i;
    if (whole) return torus;
    fc_refuse(st, FC_INPUT, "strategy %s needs all %u nodes of the machine in order (got %u of them)", name,
              net->n_nodes, slots->n_nodes);
    return NULL;
}

enum fc_code fc_map_link_time(const struct fc_map_problem *problem, const struct fc_mapping *mapping, double *time_s,
                              double *hop_bytes, struct fc_status *st)
{
    struct fc_placement placement = {mapping->n_tasks, mapping->node};
    struct fc_load_settings settings = {.split = FC_SPLIT_UNIFORM,
                                        .threads = 1,
                                        .seed = problem->seed,
                                        .background_bytes_per_s = problem->background_bytes_per_s};
    struct fc_load_summary summary;
    struct fc_load load;
    if (fc_load_solve(problem->net, problem->demand, &placement, &settings, &load, st)) return st->code;
    fc_load_summarise(problem->net, &load, &settings, &summary);
    *time_s = summary.hottest == FC_NONE ? 0 : summary.max_link_s;
    if (hop_bytes) *hop_bytes = load.hop_bytes;
    fc_load_free(&load);
    return FC_OK;
}

int fc_map_worth_trying(const struct fc_demand *demand, int n)
{
    double most = 1e6 / ((double)demand->n_entries + 1);
    return most >= n ? n : most < 2 ? (n < 2 ? n : 2) : (int)most;
}
