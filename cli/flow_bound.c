/* flow_bound.c - what `load --bound` and `load --worst-case` print: an interval of the flow program, a permutation. */
#include "cli/arguments.h"
#include "cli/flow_bound.h"
#include "cli/print.h"

#include <string.h>

#define CAPACITY_WORK 3e8
#define LEAST_WORK 1e6

/* --time as elementary steps, counted so that answers repeat; 0: not given. */
static double asked_work(const struct fc_arguments *arguments)
{
    return arguments->ask.search_given ? fmax(1, arguments->ask.search_s * 5e8) : 0;
}

enum fc_code fc_read_bound(const struct fc_arguments *arguments, const struct fc_network *net,
                           struct fc_flow_settings *settings, bool *wanted, struct fc_status *st)
{
    const char *text = arguments->bound;
    *settings = fc_flow_cheap(net);
    *wanted = !text || strcmp(text, "cuts") != 0;
    if (!text || !*wanted) return FC_OK;
    *settings = (struct fc_flow_settings){.paths = FC_FLOW_ALL, .work = asked_work(arguments)};
    if (!strcmp(text, "lp")) return FC_OK;
    settings->paths = FC_FLOW_MINIMAL;
    if (!strcmp(text, "lp-minimal")) return FC_OK;
    return fc_refuse(st, FC_INPUT,
                     "--bound: '%s' is unknown (expected lp: over all paths, lp-minimal: over those of "
                     "fewest hops, or cuts)",
                     text);
}

void fc_print_flow_bound(const struct fc_arguments *arguments, const struct fc_load *load, FILE *stream)
{
    const struct fc_flow_bound *b = load->flow;
    char low[32], high[32];
    bool better = !strcmp(load->bound_by, "linear program");
    if (!b || (!arguments->bound && !better)) return;
    fprintf(stream, "bound by    %s\n", load->bound_by);
    double factor = load->least_wire_factor;
    fc_format(low, sizeof low, b->lower_s * factor, FC_SECONDS);
    fc_format(high, sizeof high, b->upper_s * factor, FC_SECONDS);
    const char *paths = b->paths == FC_FLOW_ALL ? "all paths" : "paths of fewest hops";
    if (b->exact)
        fprintf(stream, "lp          %s, the optimum over %s", low, paths);
    else
        fprintf(stream, "lp          %s proven, %s found, over %s", low, high, paths);
    fprintf(stream, " (%u destinations, %u links, %s)\n", b->n_commodities, b->n_rows, b->method);
}

json_t *fc_json_flow_bound(const struct fc_load *load)
{
    const struct fc_flow_bound *b = load->flow;
    if (!b) return json_null();
    double factor = load->least_wire_factor;
    return json_pack("{s:s, s:o, s:o, s:b, s:s, s:I, s:I, s:o, s:I}", "paths",
                     b->paths == FC_FLOW_ALL ? "all" : "minimal", "lower_s", fc_json_real(b->lower_s * factor),
                     "upper_s", fc_json_real(b->upper_s * factor), "exact", b->exact, "method", b->method,
                     "destinations", (json_int_t)b->n_commodities, "links", (json_int_t)b->n_rows, "variables",
                     fc_json_real((double)b->n_variables), "symmetry", (json_int_t)b->symmetry);
}

/* ---- the worst permutation ---- */

struct answer {
    const struct fc_session *session;
    struct fc_worst_case worst;
    double dual;
    struct fc_flow_bound capacity; /* of uniform traffic over all paths; lower_s 0: not known */
};

static double percent_of_capacity(const struct answer *a)
{
    bool close = a->capacity.lower_s > 0 && a->capacity.upper_s <= 1.01 * a->capacity.lower_s;
    return close && a->worst.time_s > 0 ? 100 * a->capacity.lower_s / a->worst.time_s : (double)NAN;
}

static void print(FILE *stream, const void *what)
{
    const struct answer *a = what;
    const struct fc_worst_case *w = &a->worst;
    const struct fc_network *net = &a->session->net;
    const struct fc_routing_ops *routing = net->machine->routing;
    char one[64], name[256];
    fc_print_machine(net->machine, stream);
    fprintf(stream, "routing     %s%s\n", routing->name,
            routing->adaptive ? ", split evenly over its paths (its best split carries no permutation worse)" : "");
    if (w->link == FC_NONE && !w->n_left) {
        fprintf(stream, "worst case  no permutation loads a link of finite bandwidth\n");
        return;
    }
    if (w->link == FC_NONE) {
        fprintf(stream, "worst case  none was found in the time\n");
    } else {
        fprintf(stream, "worst case  %.6g x the bytes of a node on %s\n", w->load,
                fc_link_name(net, w->link, name, sizeof name));
        fprintf(stream, "throughput  %s from every node", fc_format(one, sizeof one, 1 / w->time_s, FC_BYTES_PER_S));
        if (isnan(percent_of_capacity(a)))
            fprintf(stream, "\n");
        else
            fprintf(stream, ", %.4g %% of the capacity for uniform traffic\n", percent_of_capacity(a));
    }
    if (w->n_left)
        fprintf(stream,
                "interval    not finished (--time): links left %u, no permutation is worse than %s from every node\n",
                w->n_left, fc_format(one, sizeof one, 1 / w->most_s, FC_BYTES_PER_S));
    if (w->link == FC_NONE) return;
    fprintf(stream, "certificate the dual of the assignment is %.6g (%u links solved, %u translations used)\n", a->dual,
            w->n_solved, w->symmetry);
    fprintf(stream, "permutation");
    for (uint32_t s = 0; s < net->n_nodes && s < 8; s++) fprintf(stream, " %u->%u", s, w->to[s]);
    fprintf(stream, net->n_nodes > 8 ? " ... (--json has all)\n" : "\n");
}

static json_t *to_json(const struct answer *a)
{
    const struct fc_worst_case *w = &a->worst;
    const struct fc_network *net = &a->session->net;
    char name[256];
    bool none = w->link == FC_NONE, unknown = none && w->n_left; /* unknown: stopped before anything was found */
    json_t *to = unknown ? json_null() : json_array();
    for (uint32_t s = 0; !unknown && s < net->n_nodes; s++) json_array_append_new(to, json_integer(w->to[s]));
    return json_pack(
        "{s:s, s:s, s:o, s:o, s:o, s:b, s:o, s:s?, s:o, s:o, s:I, s:I, s:o}", "machine", net->machine->name, "routing",
        net->machine->routing->name, "worst_case_load", fc_json_real(unknown ? (double)NAN : w->load),
        "worst_case_s_per_byte", fc_json_real(unknown ? (double)NAN : w->time_s), "worst_case_most_s_per_byte",
        fc_json_real(w->most_s), "exact", w->n_left == 0, "throughput_bytes_per_s",
        fc_json_real(none ? (double)NAN : 1 / w->time_s), "link",
        none ? NULL : fc_link_name(net, w->link, name, sizeof name), "dual",
        fc_json_real(unknown ? (double)NAN : a->dual), "percent_of_capacity", fc_json_real(percent_of_capacity(a)),
        "links_solved", (json_int_t)w->n_solved, "symmetry", (json_int_t)w->symmetry, "permutation", to);
}

/* The least greatest load of uniform traffic, where --time leaves work for it, a byte a node: Dally & Towles' capacity. */
static enum fc_code find_capacity(struct answer *a, struct fc_status *st)
{
    const struct fc_network *net = &a->session->net;
    struct fc_arena scratch = {0};
    struct fc_status why = {0};
    struct fc_flow_settings settings = {
        .paths = FC_FLOW_ALL, .work = fmin(CAPACITY_WORK, a->worst.work_left), .gap = 1e-6};
    if (settings.work < LEAST_WORK) return FC_OK;
    struct fc_node_demand uniform = {.n_dense = 1};
    if (a->worst.symmetry == 1 && net->n_links > 1500) settings.method = FC_FLOW_WEIGHTS; /* seconds, not a simplex */
    uniform.a[0] = fc_alloc(&scratch, net->n_nodes, sizeof(double), st);
    uniform.b[0] = fc_alloc(&scratch, net->n_nodes, sizeof(double), st);
    for (uint32_t n = 0; !st->code && n < net->n_nodes; n++) uniform.a[0][n] = 1, uniform.b[0][n] = 1.0 / net->n_nodes;
    if (!st->code && fc_flow_bound_solve(net, &uniform, &settings, &a->capacity, &why) && why.code == FC_FAULT)
        *st = why;
    fc_arena_free(&scratch); /* too large, or links that are left out: the capacity stays unknown */
    return st->code;
}

enum fc_code fc_worst_case_command(const struct fc_arguments *arguments, struct fc_session *session,
                                   struct fc_status *st)
{
    struct answer a = {.session = session};
    if (fc_worst_case_solve(&session->net, false, asked_work(arguments), &a.worst, st)) return st->code;
    for (uint32_t n = 0; n < session->net.n_nodes; n++) a.dual += a.worst.u[n] + a.worst.v[n];
    if (!find_capacity(&a, st)) fc_deliver(arguments, arguments->json ? to_json(&a) : NULL, print, &a, st);
    fc_flow_bound_free(&a.capacity);
    fc_worst_case_free(&a.worst);
    return st->code;
}
