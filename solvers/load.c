/* load.c - channel loads: gamma_c = sum over pairs of bytes(s,d) * share of the route s -> d that crosses channel c
 * (Dally & Towles, ch. 3). Throughput and bulk time are bounded by max_c gamma_c / b_c.
 *
 * Dense traffic goes through the routing's structural formulas, sparse traffic through its `sparse` formula or path by
 * path; path_walk forces the walk for everything (the oracle of the tests). An adaptive routing's split is found by
 * load_mixture.c or adaptive_split.c, or is the routing's uniform minimal one when FC_SPLIT_UNIFORM asks for it. */
#include "solvers/bound/bound.h"
#include "models/hosts.h"

#include <string.h>

struct job {
    const struct fc_network *net;
    const struct fc_demand *demand;
    const struct fc_placement *placement;
    const struct fc_load_settings *settings;
    struct fc_load *load;
    struct fc_arena scratch;
    struct fc_node_demand nodes;
    struct fc_status *st;
    bool exact; /* every split of this traffic loads the links alike */
};

/* ---- from tasks to nodes ---- */

static enum fc_code check_placement(const struct job *j)
{
    if (j->placement->n_tasks != j->demand->n_tasks)
        return fc_refuse(j->st, FC_INPUT, "the mapping places %u tasks, the traffic has %u", j->placement->n_tasks,
                         j->demand->n_tasks);
    for (uint32_t t = 0; t < j->placement->n_tasks; t++)
        if (j->placement->node[t] >= j->net->n_nodes)
            return fc_refuse(j->st, FC_INPUT, "task %u is mapped to node %u (the machine has %u nodes)", t,
                             j->placement->node[t], j->net->n_nodes);
    return FC_OK;
}

struct totals {
    double payload, wire, least_factor;
};

/* Adds the wire bytes of `messages` messages with `bytes` in all; equal messages in a row are looked up once. */
static void count_wire(const struct fc_machine *machine, double bytes, double messages, double *last, double *factor,
                       struct totals *totals)
{
    double each = messages > 0 ? bytes / messages : 0; /* 0: rates without messages, payload only */
    if (each != *last) {
        *last = each;
        *factor = each > 0 ? fc_wire_bytes(machine, each) / each : 1;
    }
    totals->payload += bytes;
    totals->wire += bytes * *factor;
    totals->least_factor = fmin(totals->least_factor, *factor);
}

static enum fc_code place_entries(struct job *j, struct totals *totals)
{
    const struct fc_demand *d = j->demand;
    const uint32_t *node = j->placement->node;
    struct fc_node_demand *out = &j->nodes;
    double last = NAN, factor = 1;
    out->src = fc_alloc(&j->scratch, d->n_entries, sizeof *out->src, j->st);
    out->dst = fc_alloc(&j->scratch, d->n_entries, sizeof *out->dst, j->st);
    out->bytes = fc_alloc(&j->scratch, d->n_entries, sizeof *out->bytes, j->st);
    if (!out->src || !out->dst || !out->bytes) return j->st->code;
    for (size_t e = 0; e < d->n_entries; e++) {
        uint32_t s = node[d->src[e]], t = node[d->dst[e]];
        if (s == t) {
            j->load->local_bytes += d->bytes[e];
            continue;
        }
        out->src[out->n] = s;
        out->dst[out->n] = t;
        out->bytes[out->n++] = d->bytes[e];
        count_wire(j->net->machine, d->bytes[e], d->messages[e], &last, &factor, totals);
    }
    return FC_OK;
}

static enum fc_code place_dense(struct job *j, struct totals *totals)
{
    const struct fc_demand *d = j->demand;
    struct fc_node_demand *out = &j->nodes;
    for (int i = 0; i < d->n_dense; i++) {
        const struct fc_dense *part = &d->dense[i];
        double *a = out->a[i] = fc_alloc(&j->scratch, j->net->n_nodes, sizeof *a, j->st);
        double *b = out->b[i] = fc_alloc(&j->scratch, j->net->n_nodes, sizeof *b, j->st);
        if (!a || !b) return j->st->code;
        double sum_a = 0, sum_b = 0, same_task = 0, same_node = 0;
        for (uint32_t t = 0; t < d->n_tasks; t++) {
            a[j->placement->node[t]] += part->a[t];
            b[j->placement->node[t]] += part->b[t];
            sum_a += part->a[t];
            sum_b += part->b[t];
            same_task += part->a[t] * part->b[t];
        }
        for (uint32_t n = 0; n < j->net->n_nodes; n++) same_node += a[n] * b[n];
        j->load->local_bytes += same_node - same_task;
        double bytes = sum_a * sum_b - same_node, each = part->message_bytes;
        double last = NAN, factor;
        if (bytes > 0) count_wire(j->net->machine, bytes, each > 0 ? bytes / each : 0, &last, &factor, totals);
    }
    out->n_dense = d->n_dense;
    return FC_OK;
}

/* ---- loads ---- */

static enum fc_code walk_entries(struct job *j, size_t n, const uint32_t *src, const uint32_t *dst, const double *bytes,
                                 struct fc_walk *walk)
{
    const struct fc_routing_ops *r = j->net->machine->routing;
    double *load = j->load->bytes;
    for (size_t e = 0; e < n; e++) {
        walk->n = 0;
        r->walk(j->net, src[e], dst[e], bytes[e], walk);
        if (walk->n == 0) {
            char from[360], to[360];
            return fc_refuse(j->st, FC_NO, "no route from %s to %s", fc_node_name(j->net, src[e], from, sizeof from),
                             fc_node_name(j->net, dst[e], to, sizeof to));
        }
        for (uint32_t i = 0; i < walk->n; i++) load[walk->link[i]] += walk->weight[i];
    }
    return FC_OK;
}

static enum fc_code path_walk(struct job *j, bool dense)
{
    const struct fc_routing_ops *r = j->net->machine->routing;
    FC_SCOPED(fc_walk_free) struct fc_walk walk = {0};
    uint32_t capacity = r->walk_capacity(j->net), n = j->net->n_nodes;
    if (capacity == FC_NONE)
        return fc_refuse(j->st, FC_NO, "a path walk of %s routing on this machine needs more memory than there is",
                         r->name);
    if (fc_walk_start(&walk, capacity, j->st)) return j->st->code;
    if (!dense) walk_entries(j, j->nodes.n, j->nodes.src, j->nodes.dst, j->nodes.bytes, &walk);
    for (int i = 0; dense && i < j->nodes.n_dense; i++)
        for (uint32_t s = 0; s < n && !j->st->code; s++)
            for (uint32_t d = 0; d < n && !j->st->code; d++) {
                double bytes = j->nodes.a[i][s] * j->nodes.b[i][d];
                if (s != d && bytes != 0) walk_entries(j, 1, &s, &d, &bytes, &walk);
            }
    j->load->method = "path walk";
    return j->st->code;
}

/* The best mixture of the routing's components for the whole demand. */
static enum fc_code mixture(struct job *j)
{
    const struct fc_routing_ops *r = j->net->machine->routing;
    const struct fc_node_demand *d = &j->nodes;
    uint32_t n = r->n_components(j->net), n_links = j->net->n_links;
    double *loads = fc_alloc(&j->scratch, (size_t)n * n_links, sizeof *loads, j->st);
    double *weights = fc_alloc(&j->scratch, n, sizeof *weights, j->st);
    if (!loads || !weights) return j->st->code;
    for (uint32_t c = 0; c < n; c++) {
        double *load = loads + (size_t)c * n_links;
        for (int i = 0; i < d->n_dense; i++)
            if (r->component_rank_one(j->net, c, d->a[i], d->b[i], load, j->st)) return j->st->code;
        if (d->n && r->component_sparse(j->net, c, d->src, d->dst, d->bytes, d->n, load, j->st)) return j->st->code;
    }
    if (fc_mixture_weights(j->net, NULL, loads, n, weights, j->st)) return j->st->code;
    for (uint32_t c = 0; c < n; c++)
        for (uint32_t l = 0; weights[c] != 0 && l < n_links; l++)
            j->load->bytes[l] += weights[c] * loads[(size_t)c * n_links + l];
    j->load->method = "best mixture of routes";
    return FC_OK;
}

/* Traffic that looks the same from every node of a vertex-transitive network: every minimal split loads it alike. */
static bool symmetric(const struct fc_network *net, const struct fc_node_demand *d)
{
    const struct fc_family_ops *family = net->machine->family;
    if (d->n || !family->looks_alike || !family->looks_alike(net)) return false;
    for (int i = 0; i < d->n_dense; i++)
        if (!fc_all_equal(d->a[i], net->n_nodes) || !fc_all_equal(d->b[i], net->n_nodes)) return false;
    return true;
}

static enum fc_code deterministic(struct job *j)
{
    const struct fc_routing_ops *r = j->net->machine->routing;
    const struct fc_node_demand *d = &j->nodes;
    j->load->method = "structural";
    if (d->n_dense && !r->rank_one) {
        if (path_walk(j, true)) return j->st->code;
    } else {
        for (int i = 0; i < d->n_dense; i++)
            if (r->rank_one(j->net, d->a[i], d->b[i], j->load->bytes, j->st)) return j->st->code;
    }
    if (d->n == 0) return FC_OK;
    if (r->sparse) return r->sparse(j->net, d->src, d->dst, d->bytes, d->n, j->load->bytes, j->st);
    return path_walk(j, false);
}

static enum fc_code adaptive(struct job *j)
{
    const struct fc_routing_ops *r = j->net->machine->routing;
    const struct fc_node_demand *d = &j->nodes;
    bool torus = fc_adaptive_torus_takes(j->net);
    if (!r->n_components) return deterministic(j); /* ascents of a fat-tree: the even split is what it finds */
    j->load->method = "structural";
    if (torus && symmetric(j->net, d)) {
        j->exact = true;
        for (int i = 0; i < d->n_dense; i++)
            if (r->component_rank_one(j->net, 0, d->a[i], d->b[i], j->load->bytes, j->st)) return j->st->code;
        return FC_OK;
    }
    if (j->settings->split == FC_SPLIT_UNIFORM) {
        double pairs = d->n_dense ? (double)j->net->n_nodes * j->net->n_nodes : 0;
        if (pairs > 3e7)
            return fc_refuse(j->st, FC_NO,
                             "a uniform split of dense traffic would walk %.2g pairs (use the solver's "
                             "split, which needs none)",
                             pairs);
        return path_walk(j, false) || path_walk(j, true) ? j->st->code : FC_OK;
    }
    if (!torus || d->n_dense) return mixture(j);
    j->load->method = "adaptive split";
    double share = j->settings->split_share > 0 ? fmin(1, j->settings->split_share) : 1;
    return fc_adaptive_torus_split(j->net, d, j->settings->seed, share, j->load->bytes, j->st);
}

/* What the flow program proves of this routing: minimal paths where it takes no others. */
static bool flow_holds(const struct fc_network *net, const struct fc_flow_settings *flow)
{
    const struct fc_routing_ops *r = net->machine->routing;
    return r->adaptive && (flow->paths == FC_FLOW_ALL || fc_flow_minimal(net));
}

static enum fc_code flow_bound(struct job *j)
{
    struct fc_flow_settings settings = *j->settings->flow;
    struct fc_load *load = j->load;
    struct fc_status why = {0};
    settings.background_bytes_per_s = j->settings->background_bytes_per_s;
    load->flow = fc_alloc(&load->arena, 1, sizeof *load->flow, j->st);
    if (!load->flow) return j->st->code;
    if (fc_flow_bound_solve(j->net, &j->nodes, &settings, load->flow, &why)) {
        load->flow = NULL;
        if (why.code != FC_NO || !settings.if_cheap) *j->st = why;
        return j->st->code;
    }
    if (isnan(load->cut_bound_s) || !flow_holds(j->net, &settings)) return FC_OK;
    if (load->flow->lower_s > load->cut_bound_s * (1 + 1e-6)) {
        load->cut_bound_s = load->flow->lower_s;
        load->bound_by = "linear program";
    }
    return FC_OK;
}

static enum fc_code solve(struct job *j)
{
    struct totals totals = {0, 0, INFINITY};
    j->load->bytes = fc_alloc(&j->load->arena, j->net->n_links, sizeof *j->load->bytes, j->st);
    if (!j->load->bytes || check_placement(j) || place_entries(j, &totals) || place_dense(j, &totals))
        return j->st->code;
    j->load->network_bytes = totals.payload;
    j->load->wire_factor = totals.payload > 0 ? totals.wire / totals.payload : 1;
    j->load->least_wire_factor = isfinite(totals.least_factor) ? totals.least_factor : 1;
    enum fc_code code;
    if (j->settings->path_walk)
        code = path_walk(j, false) || path_walk(j, true) ? j->st->code : FC_OK;
    else
        code = j->net->machine->routing->adaptive ? adaptive(j) : deterministic(j);
    if (code) return code;
    for (uint32_t l = 0; l < j->net->first_link[j->net->n_routers]; l++)
        if (!fc_is_node(j->net, j->net->link_target[l])) j->load->hop_bytes += j->load->bytes[l];
    j->load->cut_bound_s = NAN;
    j->load->bound_by = "routing";
    if (j->net->machine->routing->adaptive && !j->exact) {
        j->load->bound_by = "cuts";
        if (fc_cut_bound(j->net, &j->nodes, j->settings->background_bytes_per_s, &j->load->cut_bound_s, j->st))
            return j->st->code;
    }
    bool needed = j->settings->flow && (!j->settings->flow->if_cheap || !isnan(j->load->cut_bound_s));
    return needed ? flow_bound(j) : FC_OK;
}

enum fc_code fc_load_solve(const struct fc_network *net, const struct fc_demand *demand,
                           const struct fc_placement *placement, const struct fc_load_settings *settings,
                           struct fc_load *load, struct fc_status *st)
{
    struct job j = {net, demand, placement, settings, load, {0}, {0}, st, false};
    memset(load, 0, sizeof *load);
    enum fc_code code = solve(&j);
    fc_arena_free(&j.scratch);
    if (code) fc_load_free(load);
    return code;
}

void fc_load_free(struct fc_load *load)
{
    if (load->flow) fc_flow_bound_free(load->flow);
    fc_arena_free(&load->arena);
    memset(load, 0, sizeof *load);
}

/* ---- what the loads say ---- */

static double link_seconds(const struct fc_network *net, const struct fc_load *load, const double *background,
                           uint32_t l)
{
    double free_bytes_per_s = fc_free_bandwidth(net, background, l);
    if (load->bytes[l] == 0) return 0;
    return free_bytes_per_s > 0 ? load->bytes[l] * load->wire_factor / free_bytes_per_s : (double)INFINITY;
}

void fc_load_summarise(const struct fc_network *net, const struct fc_load *load,
                       const struct fc_load_settings *settings, struct fc_load_summary *summary)
{
    const double *background = settings ? settings->background_bytes_per_s : NULL;
    memset(summary, 0, sizeof *summary);
    summary->hottest = FC_NONE;
    for (uint32_t l = 0; l < net->n_links; l++) {
        struct fc_load_class *c = &summary->classes[net->link_class[l]];
        double bytes = load->bytes[l];
        bool passed = !background && bytes <= c->max_bytes; /* a link of its class has carried as much */
        c->count++;
        if (bytes == 0) continue;
        c->min_bytes = c->used == 0 || bytes < c->min_bytes ? bytes : c->min_bytes;
        c->max_bytes = bytes > c->max_bytes ? bytes : c->max_bytes;
        c->mean_bytes += bytes;
        c->used++;
        if (passed) continue;
        double seconds = link_seconds(net, load, background, l);
        if (summary->hottest == FC_NONE || seconds > summary->max_link_s) {
            summary->hottest = l;
            summary->max_link_s = seconds;
        }
    }
    for (int c = 0; c < FC_MAX_CLASSES; c++)
        if (summary->classes[c].used) summary->classes[c].mean_bytes /= (double)summary->classes[c].used;
    summary->bound_s = isnan(load->cut_bound_s) ? summary->max_link_s * load->least_wire_factor / load->wire_factor
                                                : load->cut_bound_s * load->least_wire_factor;
    summary->bound_s = fmin(summary->bound_s, summary->max_link_s);
}

int fc_load_hottest(const struct fc_network *net, const struct fc_load *load, int k, uint32_t *links)
{
    double time_s[64];
    int n = 0;
    if (k > (int)FC_COUNT(time_s)) k = FC_COUNT(time_s);
    for (uint32_t l = 0; l < net->n_links; l++) {
        double bandwidth = fc_link_bandwidth(net, l), wire = load->bytes[l] * load->wire_factor;
        if (n == k && wire <= time_s[n - 1] * bandwidth) continue; /* most links: no division */
        double seconds = wire > 0 ? wire / bandwidth : 0;
        if (seconds == 0 || (n == k && seconds <= time_s[n - 1])) continue;
        int at = n < k ? n++ : n - 1;
        for (; at > 0 && time_s[at - 1] < seconds; at--) links[at] = links[at - 1], time_s[at] = time_s[at - 1];
        links[at] = l;
        time_s[at] = seconds;
    }
    return n;
}
