/* floor_plan.c - which routers stand in which rack, so that cables are short.
 *
 * Racks stand in a room as square as their width and depth let it be, and hold routers with their nodes. Two plans are made
 * and the one with fewer metres of cable, sum over cables of fc_cable_length_m, is taken: routers in the order of their numbers,
 * rack after rack; and a mapping of the graph of routers onto a mesh of racks by Scotch, which minimises cables times steps
 * between racks (F. Pellegrini, SHPCC'94; libScotch 7.0). Scotch keeps loads equal only about; what a rack cannot hold goes where it
 * lengthens cables least. The form of the models of design papers (Kim, Dally & Abts, ISCA 2007; Besta & Hoefler, SC14): a near
 * square of racks, Manhattan distance. Limits: a heuristic; a step to the rack behind counts for Scotch like one to
 * the rack beside; a node on several routers stands with the first; no rack for storage, none left free, no aisles of their own. */
#include "mapping/floor_plan.h"
#include "mapping/scotch_errors.h"
#include "mapping/scotch_target.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SCRATCH_BYTES (1ul << 26)

struct planner {
    const struct fc_network *net;
    struct fc_floor_plan *plan;
    uint64_t *load, *full; /* [n_routers] places that a router needs; [racks] places taken */
    uint64_t room;         /* places in a rack: as many for each node as leave the same for each router without */
    SCOTCH_Num *part;      /* [n_routers] */
    struct fc_arena scratch;
    struct fc_status *st;
};

/* Places: a rack has rack_nodes x rack_switches, a node rack_switches of them, a router without nodes rack_nodes. */
static enum fc_code find_loads(struct planner *p)
{
    const struct fc_network *net = p->net;
    const struct fc_cost *cost = &net->machine->cost;
    p->load = fc_alloc(&p->scratch, net->n_routers, sizeof *p->load, p->st);
    p->part = fc_alloc(&p->scratch, net->n_routers, sizeof *p->part, p->st);
    if (p->st->code) return p->st->code;
    p->room = (uint64_t)cost->rack_nodes * (uint64_t)cost->rack_switches;
    for (uint32_t n = 0; n < net->n_nodes; n++)
        p->load[net->link_target[net->first_link[fc_node_vertex(net, n)]]] += (uint64_t)cost->rack_switches;
    for (uint32_t r = 0; r < net->n_routers; r++) {
        if (p->load[r] > p->room)
            return fc_refuse(p->st, FC_INPUT, "cost.rack_nodes: router %u has %llu nodes, more than the %lld of a rack",
                             r, (unsigned long long)(p->load[r] / (uint64_t)cost->rack_switches), cost->rack_nodes);
        if (p->load[r] == 0) p->load[r] = (uint64_t)cost->rack_nodes;
    }
    return FC_OK;
}

/* By number; says how many racks that takes, and so what shape the room has. */
static enum fc_code in_order(struct planner *p)
{
    struct fc_floor_plan *plan = p->plan;
    const struct fc_cost *cost = &p->net->machine->cost;
    uint32_t rack = 0;
    uint64_t taken = 0;
    for (uint32_t r = 0; r < p->net->n_routers; r++) {
        if (taken + p->load[r] > p->room) rack++, taken = 0;
        taken += p->load[r];
        plan->router_rack[r] = rack;
    }
    uint32_t n = rack + 1;
    double columns = ceil(sqrt(n * cost->rack_depth_m / cost->rack_width_m));
    plan->rows = (uint32_t)ceil(n / fmin(n, columns));
    plan->columns = (n + plan->rows - 1) / plan->rows;
    p->full = fc_alloc(&p->scratch, (size_t)plan->columns * plan->rows, sizeof *p->full, p->st);
    return p->st->code;
}

/* Of the cables at a router. */
static double length_of_router(const struct planner *p, uint32_t router)
{
    double m = 0;
    for (uint32_t l = p->net->first_link[router]; l < p->net->first_link[router + 1]; l++)
        m += fc_cable_length_m(p->net, p->plan, l);
    return m;
}

static double length(const struct planner *p)
{
    double m = 0;
    for (uint32_t l = 0; l < p->net->n_links; l++) m += fc_cable_length_m(p->net, p->plan, l);
    return m;
}

/* Moves routers out of racks that hold too much, each where it lengthens cables least. False: no rack has room for one. */
static bool even_out(struct planner *p)
{
    uint32_t n_racks = p->plan->columns * p->plan->rows, *rack = p->plan->router_rack;
    memset(p->full, 0, n_racks * sizeof *p->full);
    for (uint32_t r = 0; r < p->net->n_routers; r++) p->full[rack[r]] += p->load[r];
    for (uint32_t from = 0; from < n_racks; from++)
        while (p->full[from] > p->room) {
            uint32_t best = FC_NONE, best_to = 0;
            double least = INFINITY;
            for (uint32_t r = 0; r < p->net->n_routers; r++) {
                if (rack[r] != from) continue;
                double here = length_of_router(p, r);
                for (uint32_t to = 0; to < n_racks; to++) {
                    if (p->full[to] + p->load[r] > p->room) continue;
                    rack[r] = to;
                    double more = length_of_router(p, r) - here;
                    if (more < least) least = more, best = r, best_to = to;
                }
                rack[r] = from;
            }
            if (best == FC_NONE) return false;
            rack[best] = best_to;
            p->full[from] -= p->load[best];
            p->full[best_to] += p->load[best];
        }
    return true;
}

/* Cables between routers; those of one pair are one edge. */
static enum fc_code build(struct planner *p, SCOTCH_Graph *graph)
{
    const struct fc_network *net = p->net;
    uint32_t n = net->n_routers, arcs = 0;
    SCOTCH_Num *first = fc_alloc(&p->scratch, n + 1ull, sizeof *first, p->st);
    SCOTCH_Num *load = fc_alloc(&p->scratch, n, sizeof *load, p->st);
    SCOTCH_Num *other = fc_alloc(&p->scratch, net->n_links + 1ull, sizeof *other, p->st);
    SCOTCH_Num *weight = fc_alloc(&p->scratch, net->n_links + 1ull, sizeof *weight, p->st);
    uint32_t *met = fc_alloc(&p->scratch, n, sizeof *met, p->st); /* 1 + the arc to a router */
    if (p->st->code) return p->st->code;
    double scale = fmin(1, 0x1p20 / (double)p->room);
    for (uint32_t r = 0; r < n; r++) {
        uint32_t begin = arcs;
        first[r] = (SCOTCH_Num)arcs;
        load[r] = (SCOTCH_Num)fmax(1, (double)p->load[r] * scale);
        for (uint32_t l = net->first_link[r]; l < net->first_link[r + 1]; l++) {
            uint32_t to = net->link_target[l];
            if (fc_is_node(net, to) || to == r) continue;
            if (met[to] <= begin) other[arcs] = (SCOTCH_Num)to, met[to] = ++arcs;
            weight[met[to] - 1]++;
        }
    }
    first[n] = (SCOTCH_Num)arcs;
    return fc_scotch_check(
        !SCOTCH_graphBuild(graph, 0, (SCOTCH_Num)n, first, first + 1, load, NULL, (SCOTCH_Num)arcs, other, weight),
        "the graph of routers", p->st);
}

static void by_scotch(void *of)
{
    struct planner *p = of;
    SCOTCH_Context *context = SCOTCH_contextAlloc();
    SCOTCH_Graph *graph = SCOTCH_graphAlloc();
    SCOTCH_Arch *racks = SCOTCH_archAlloc();
    bool open = context && !SCOTCH_contextInit(context), made = open && graph && !SCOTCH_graphInit(graph);
    bool shaped = made && racks && !SCOTCH_archInit(racks);
    if (!shaped) {
        fc_out_of_memory(p->st, "the graph of Scotch");
    } else if (!fc_scotch_check(!SCOTCH_archMesh2(racks, (SCOTCH_Num)p->plan->columns, (SCOTCH_Num)p->plan->rows) &&
                                    !SCOTCH_contextRandomClone(context) &&
                                    !SCOTCH_contextThreadSpawn(context, 1, NULL) &&
                                    !SCOTCH_contextOptionSetNum(context, SCOTCH_OPTIONNUMDETERMINISTIC, 1),
                                "the context of Scotch", p->st) &&
               !build(p, graph)) {
        SCOTCH_contextRandomSeed(context, 1);
        SCOTCH_contextRandomReset(context);
        fc_scotch_map(context, graph, racks, p->part, p->st);
    }
    if (shaped) SCOTCH_archExit(racks);
    if (made) SCOTCH_graphExit(graph);
    if (open) SCOTCH_contextExit(context);
    free(racks);
    free(graph);
    free(context);
}

/* Takes Scotch's plan where it fits and has shorter cables. */
static enum fc_code compare_plans(struct planner *p)
{
    uint32_t n = p->net->n_routers, *ordered = fc_alloc(&p->scratch, n, sizeof *ordered, p->st);
    if (p->st->code || fc_scotch(by_scotch, p, SCRATCH_BYTES, p->st)) return p->st->code;
    double before = length(p);
    memcpy(ordered, p->plan->router_rack, n * sizeof *ordered);
    for (uint32_t r = 0; r < n; r++) {
        if (p->part[r] < 0 || p->part[r] >= (SCOTCH_Num)(p->plan->columns * p->plan->rows))
            return fc_refuse(p->st, FC_FAULT, "Scotch puts router %u in rack %lld of %u", r, (long long)p->part[r],
                             p->plan->columns * p->plan->rows);
        p->plan->router_rack[r] = (uint32_t)p->part[r];
    }
    if (!even_out(p) || length(p) >= before) memcpy(p->plan->router_rack, ordered, n * sizeof *ordered);
    return FC_OK;
}

static void count_racks(struct planner *p)
{
    memset(p->full, 0, (size_t)p->plan->columns * p->plan->rows * sizeof *p->full);
    for (uint32_t r = 0; r < p->net->n_routers; r++)
        if (p->full[p->plan->router_rack[r]]++ == 0) p->plan->n_racks++;
}

enum fc_code fc_floor_plan_make(const struct fc_network *net, struct fc_arena *arena, struct fc_floor_plan *plan,
                                struct fc_status *st)
{
    struct planner p = {.net = net, .plan = plan, .st = st};
    *plan = (struct fc_floor_plan){0};
    if (net->machine->cost.rack_nodes == 0) return FC_OK;
    plan->router_rack = fc_alloc(arena, net->n_routers, sizeof *plan->router_rack, st);
    if (!st->code && !find_loads(&p) && !in_order(&p) && (plan->columns * plan->rows == 1 || !compare_plans(&p)))
        count_racks(&p);
    fc_arena_free(&p.scratch);
    return st->code;
}
