/* place_model.c - the loads of a chip's mesh as a quadratic function of the layout.
 *
 * Rates of place_traffic.c times V, the packets of a chip: with C cores a chip and N in the machine, one flit
 * a cycle each, V = C N / (N - 1) (a packet for its own core is none). With p(u, v) the links of the on-chip
 * route,
 *
 *   load = sum_{i,j} rate_ij p(u_i, u_j) + sum_i sum_{cores a} [inject_i p(a, u_i) + eject_i p(u_i, a)]
 *          + sum_{cores a != b} local p(a, b).
 *
 * Where bridges carry no core, sums over cores are sums over all nodes less those over bridges, so what
 * depends on more than one interface is again a sum over pairs: flow_ij = rate_ij - inject_j - eject_i +
 * local.
 *
 * All of it is rational: times 8 (N - 1) (times n! over orders) it is whole; what the numbers have in common
 * is divided out. Limits: uniform traffic; meshes of at most 256 nodes. */
#include "core/values.h"
#include "mapping/place/place.h"

#include <math.h>
#include <string.h>

enum fc_code fc_chip_of_machine(const struct fc_machine *machine, struct fc_chip *chip, struct fc_status *st)
{
    memset(chip, 0, sizeof *chip);
    const struct fc_tmesh_shape *s = fc_machine_tmesh(machine);
    if (!s)
        return fc_fail(st, FC_INPUT, (struct fc_place){machine->file, machine->network_line},
                       "%s is of family %s, which has no interfaces to place (expected family tmesh)", machine->name,
                       machine->family->name);
    chip->n_dims = s->n_dims;
    memcpy(chip->k, s->k, sizeof chip->k);
    chip->n_axes = 2;
    chip->side[0] = s->rows;
    chip->side[1] = s->columns;
    chip->order[0] = s->mesh_order == FC_ROW_FIRST ? 1 : 0;
    chip->order[1] = 1 - chip->order[0];
    chip->bridges_compute = s->router_nodes_compute;
    chip->torus_bytes_per_s = machine->classes[0].bandwidth_bytes_per_s;
    chip->mesh_bytes_per_s = machine->classes[1].bandwidth_bytes_per_s;
    return FC_OK;
}

/* ---- the mesh ---- */

static uint32_t stride_of(const struct fc_chip *chip, int axis)
{
    uint32_t stride = 1;
    for (int a = chip->n_axes - 1; a > axis; a--) stride *= chip->side[a];
    return stride;
}

static enum fc_code check(const struct fc_chip *c, struct fc_status *st)
{
    double nodes = 1, chips = 1;
    if (c->n_dims < 1 || c->n_dims > FC_MAX_DIMS || c->n_axes < 1 || c->n_axes > FC_CHIP_AXES)
        return fc_refuse(st, FC_INPUT, "a chip of %d torus dimensions and %d mesh axes (expected 1 to %d, 1 to %d)",
                         c->n_dims, c->n_axes, FC_MAX_DIMS, FC_CHIP_AXES);
    for (int a = 0; a < c->n_axes; a++) nodes *= c->side[a];
    for (int d = 0; d < c->n_dims; d++) chips *= c->k[d];
    if (!(nodes >= 1 && nodes <= FC_CHIP_MOST_NODES && chips >= 1 && chips <= FC_NONE))
        return fc_refuse(st, FC_INPUT, "a mesh of %.0f nodes on each of %.4g chips (expected 1 to %d nodes)", nodes,
                         chips, FC_CHIP_MOST_NODES);
    int n = 2 * c->n_dims;
    if (nodes < n || (!c->bridges_compute && nodes < n + 1))
        return fc_refuse(st, FC_INPUT,
                         "the mesh of %.0f nodes is too small for the %d interfaces of a torus of %d dimensions%s",
                         nodes, n, c->n_dims, c->bridges_compute ? "" : " and a core");
    if ((nodes - (c->bridges_compute ? 0 : n)) * chips < 2)
        return fc_refuse(st, FC_INPUT, "a single core has nobody to talk to");
    if (!(c->on_chip >= 0 && c->on_chip <= 1e6) || (c->on_chip > 0 && nodes - (c->bridges_compute ? 0 : n) < 2))
        return fc_refuse(st, FC_INPUT, "on-chip traffic of %g (expected 0 to 1e6, and two cores a chip)", c->on_chip);
    return FC_OK;
}

/* link_of [n_mesh][axes][2] gets the links' numbers. */
static enum fc_code make_links(struct fc_place_model *m, uint32_t (*link_of)[FC_CHIP_AXES][2], struct fc_status *st)
{
    const struct fc_chip *c = &m->chip;
    uint32_t most = m->n_mesh * 2 * (uint32_t)c->n_axes;
    m->link_source = fc_alloc(&m->arena, most, sizeof *m->link_source, st);
    m->link_target = fc_alloc(&m->arena, most, sizeof *m->link_target, st);
    if (st->code) return st->code;
    for (uint32_t u = 0; u < m->n_mesh; u++)
        for (int a = c->n_axes - 1; a >= 0; a--)
            for (int minus = 0; minus < 2; minus++) {
                uint32_t stride = stride_of(c, a), at = u / stride % c->side[a];
                link_of[u][a][minus] = FC_NONE;
                if (minus ? at == 0 : at + 1 == c->side[a]) continue;
                link_of[u][a][minus] = m->n_links;
                m->link_source[m->n_links] = u;
                m->link_target[m->n_links++] = minus ? u - stride : u + stride;
            }
    return FC_OK;
}

static enum fc_code make_routes(struct fc_place_model *m, uint32_t (*link_of)[FC_CHIP_AXES][2], struct fc_status *st)
{
    const struct fc_chip *c = &m->chip;
    uint32_t n = m->n_mesh, longest = 0, hop = 0;
    for (int a = 0; a < c->n_axes; a++) longest += c->side[a] - 1;
    m->first_hop = fc_alloc(&m->arena, (size_t)n * n + 1, sizeof *m->first_hop, st);
    m->distance = fc_alloc(&m->arena, (size_t)n * n, sizeof *m->distance, st);
    m->route = fc_alloc(&m->arena, (size_t)n * n * longest, sizeof *m->route, st);
    if (st->code) return st->code;
    for (uint32_t u = 0; u < n; u++)
        for (uint32_t v = 0; v < n; v++) {
            m->first_hop[u * n + v] = hop;
            for (uint32_t i = 0, at = u; i < (uint32_t)c->n_axes; i++) {
                int a = c->order[i];
                uint32_t stride = stride_of(c, a), to = v / stride % c->side[a];
                while (at / stride % c->side[a] != to) {
                    bool minus = at / stride % c->side[a] > to;
                    m->route[hop++] = link_of[at][a][minus];
                    at = minus ? at - stride : at + stride;
                }
            }
            m->distance[u * n + v] = (uint8_t)(hop - m->first_hop[u * n + v]);
        }
    m->first_hop[(size_t)n * n] = hop;
    return FC_OK;
}

/* ---- what flows ---- */

static void make_rates(struct fc_place_model *m)
{
    struct fc_torus_turns t;
    const struct fc_chip *c = &m->chip;
    double chips = 1, cores = m->n_cores, longest = 0;
    for (int d = 0; d < c->n_dims; d++) chips *= c->k[d];
    double share = cores * chips / (cores * chips - 1); /* V / C */
    fc_torus_turns_uniform(c->n_dims, c->k, c->turns, &t);
    for (int i = 0; i < c->n_dims; i++)
        for (int s = 0; s < 2; s++) {
            double through = t.first[i][s];
            m->inject[2 * i + s] = share * t.first[i][s];
            m->eject[2 * i + !s] = share * t.last[i][s];
            for (int j = 0; j < c->n_dims; j++)
                for (int way = 0; way < 2; way++) {
                    m->rate[2 * i + !s][2 * j + way] = share * cores * t.turn[i][s][j][way];
                    through += t.turn[j][way][i][s];
                }
            longest = fmax(longest, through);
        }
    m->torus_load = longest * share * cores;
    m->local = 1 / (cores * chips - 1) + (c->on_chip > 0 ? c->on_chip / (cores - 1) : 0);
    for (int i = 0; i < m->n; i++)
        for (int j = 0; j < m->n; j++) {
            m->flow[i][j] = i == j ? 0 : m->rate[i][j];
            if (i != j && !c->bridges_compute) m->flow[i][j] += m->local - m->inject[j] - m->eject[i];
            m->turn_weight[i][j] = i / 2 == j / 2 ? 2 * (i != j) : 1;
        }
    m->turn_pairs = 2 * c->n_dims * c->n_dims;
}

static void add_route(const struct fc_place_model *m, uint32_t u, uint32_t v, double flits, double *load)
{
    for (uint32_t h = m->first_hop[u * m->n_mesh + v]; h < m->first_hop[u * m->n_mesh + v + 1]; h++)
        load[m->route[h]] += flits;
}

static enum fc_code make_parts(struct fc_place_model *m, struct fc_status *st)
{
    uint32_t n = m->n_mesh;
    m->base = fc_alloc(&m->arena, m->n_links, sizeof *m->base, st);
    m->unary = fc_alloc(&m->arena, (size_t)m->n * n * m->n_links, sizeof *m->unary, st);
    m->unary_hops = fc_alloc(&m->arena, (size_t)m->n * n, sizeof *m->unary_hops, st);
    if (st->code) return st->code;
    double off = m->chip.bridges_compute ? 0 : m->local;
    for (uint32_t u = 0; u < n; u++)
        for (uint32_t v = 0; v < n; v++) add_route(m, u, v, m->local, m->base);
    for (int i = 0; i < m->n; i++)
        for (uint32_t u = 0; u < n; u++) {
            double *load = m->unary + ((size_t)i * n + u) * m->n_links;
            for (uint32_t v = 0; v < n; v++) {
                add_route(m, v, u, m->inject[i] - off, load);
                add_route(m, u, v, m->eject[i] - off, load);
            }
            for (uint32_t l = 0; l < m->n_links; l++) m->unary_hops[(size_t)i * n + u] += load[l];
        }
    for (uint32_t l = 0; l < m->n_links; l++) m->base_hops += m->base[l];
    return FC_OK;
}

/* ---- one denominator ---- */

/* Takes x into the divisor of all; false when x times the scale is not whole, which says that the scale is
 * wrong. */
static bool take(double x, double scale, uint64_t *divisor)
{
    double whole = round(fabs(x) * scale);
    if (fabs(fabs(x) * scale - whole) > 1e-6 * fmax(1, whole * 1e-6)) return false;
    *divisor = fc_common_divisor(*divisor, (uint64_t)whole);
    return true;
}

static void find_scale(struct fc_place_model *m)
{
    const struct fc_chip *c = &m->chip;
    double chips = 1, cores = m->n_cores, orders = 1, total = m->base_hops;
    uint64_t divisor = 0;
    for (int d = 0; d < c->n_dims; d++) {
        chips *= c->k[d];
        orders *= c->turns == FC_CHIP_ORDERS ? d + 1 : 1;
    }
    double scale = 8 * (cores * chips - 1) * orders;
    for (int i = 0; i < m->n; i++) {
        total += cores * (m->inject[i] + m->eject[i]);
        for (int j = 0; j < m->n; j++) total += m->rate[i][j];
    }
    if (c->turns == FC_CHIP_PATHS || c->on_chip > 0 || !(total * scale * 2 * m->n_mesh < 0x1p52)) return;
    bool whole = take(m->local, scale, &divisor);
    for (int i = 0; i < m->n; i++) {
        whole = whole && take(m->inject[i], scale, &divisor) && take(m->eject[i], scale, &divisor);
        for (int j = 0; j < m->n; j++) whole = whole && take(m->rate[i][j], scale, &divisor);
    }
    if (whole && divisor) m->scale = scale / (double)divisor;
}

enum fc_code fc_place_model_make(const struct fc_chip *chip, struct fc_place_model *m, struct fc_status *st)
{
    memset(m, 0, sizeof *m);
    if (check(chip, st)) return st->code;
    m->chip = *chip;
    m->n = 2 * chip->n_dims;
    m->n_mesh = 1;
    for (int a = 0; a < chip->n_axes; a++) m->n_mesh *= chip->side[a];
    m->n_cores = m->n_mesh - (chip->bridges_compute ? 0 : (uint32_t)m->n);
    make_rates(m);
    uint32_t link_of[FC_CHIP_MOST_NODES][FC_CHIP_AXES][2];
    if (!make_links(m, link_of, st) && !make_routes(m, link_of, st) && !make_parts(m, st)) find_scale(m);
    if (st->code) fc_place_model_free(m);
    return st->code;
}

void fc_place_model_free(struct fc_place_model *model)
{
    fc_arena_free(&model->arena);
}

/* ---- what a layout costs ---- */

int fc_layout_turn_sum(const struct fc_place_model *m, const struct fc_bridge_layout *layout)
{
    int sum = 0;
    for (int i = 0; i < m->n; i++)
        for (int j = i + 1; j < m->n; j++)
            sum += m->turn_weight[i][j] * m->distance[layout->node[i] * m->n_mesh + layout->node[j]];
    return sum;
}

static double fairness(const struct fc_place_model *m, const struct fc_bridge_layout *layout)
{
    double least = INFINITY, most = 0;
    for (uint32_t a = 0; a < m->n_mesh; a++) {
        double hops = 0;
        bool core = true;
        for (int i = 0; i < m->n; i++) {
            core = core && (m->chip.bridges_compute || layout->node[i] != a);
            hops += (m->inject[i] + m->eject[i]) * m->distance[a * m->n_mesh + layout->node[i]];
        }
        if (!core) continue;
        least = fmin(least, hops);
        most = fmax(most, hops);
    }
    return most > 0 ? least / most : 1;
}

void fc_layout_cost(const struct fc_place_model *m, const struct fc_bridge_layout *layout, double *load,
                    struct fc_layout_figures *f)
{
    double own[FC_CHIP_MOST_NODES * 2 * FC_CHIP_AXES], sum = 0;
    if (!load) load = own;
    memcpy(load, m->base, m->n_links * sizeof *load);
    for (int i = 0; i < m->n; i++) {
        const double *unary = m->unary + ((size_t)i * m->n_mesh + layout->node[i]) * m->n_links;
        for (uint32_t l = 0; l < m->n_links; l++) load[l] += unary[l];
        for (int j = 0; j < m->n; j++)
            if (j != i) add_route(m, layout->node[i], layout->node[j], m->flow[i][j], load);
    }
    *f = (struct fc_layout_figures){.busiest = 0};
    for (uint32_t l = 0; l < m->n_links; l++) {
        sum += load[l];
        if (load[l] > load[f->busiest]) f->busiest = l;
    }
    f->greatest_load = m->n_links ? load[f->busiest] : 0;
    f->turn_hops = (double)fc_layout_turn_sum(m, layout) / m->turn_pairs;
    f->weighted_hops = sum / m->n_cores;
    f->utilization = f->greatest_load / m->chip.mesh_bytes_per_s * m->chip.torus_bytes_per_s / m->torus_load;
    f->fairness = fairness(m, layout);
}
