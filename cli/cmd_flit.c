/* cmd_flit.c - `flit`: one run of the flit-level kernel. */
#include "answer/run.h"
#include "cli/heartbeat.h"
#include "cli/option_rules.h"
#include "cli/print.h"
#include "cli/terminal.h"
#include "cli/watch.h"
#include "plots/plots.h"
#include "solvers/bound/bound.h"

#include <inttypes.h>

struct answer {
    const struct fc_session *session;
    const struct fc_demand *demand;
    const struct fc_flit_settings *settings;
    const struct fc_flit_result *r;
    const char *background;          /* as it was asked for */
    const char *mapping;             /* messages between tasks: how they are placed; else NULL */
    double time_s;                   /* of all messages; NaN: open loop, or not all arrived */
    double bound_s;                  /* proven lower bound of it by the links; NaN: open loop */
    double ideal;                    /* throughput that a load in percent is of; NaN: not asked for */
    double router_links_utilization; /* mean over router-to-router links */
    size_t rss_bytes;
    bool intervals_asked; /* by --interval, not for the plot alone */
};

/* Batch means say something about a steady state only. */
static double half_width(const struct fc_flit_result *r)
{
    return r->open_loop && r->stable ? r->latency_half_width_cycles : (double)NAN;
}

/* ---- for people ---- */

static void print_run(FILE *stream, const struct answer *a)
{
    const struct fc_flit_result *r = a->r;
    const struct fc_flit_settings *s = a->settings;
    char cycle[64];
    fc_print_machine(&a->session->machine, stream);
    fprintf(stream, "run         %s", a->demand->name);
    if (r->open_loop && s->backlog)
        fprintf(stream, ", every source backlogged");
    else if (r->open_loop)
        fprintf(stream, " at %.4g flits/node/cycle", s->load_flits_per_cycle);
    if (!isnan(a->ideal)) fprintf(stream, ", %.4g %% of the ideal", 100 * s->load_flits_per_cycle / a->ideal);
    if (!r->open_loop) fprintf(stream, ", %u tasks, mapping %s", a->demand->n_tasks, a->mapping);
    if (s->packet_flits_max && s->packet_flits_max == s->packet_flits_min)
        fprintf(stream, ", packets of %u flit%s", s->packet_flits_max, s->packet_flits_max == 1 ? "" : "s");
    else if (s->packet_flits_max)
        fprintf(stream, ", packets of %u to %u flits", s->packet_flits_min, s->packet_flits_max);
    fprintf(stream, "\nrouters     routing %s, rule %s, %d virtual channel%s, ", a->session->machine.routing->name,
            r->vc_rule, r->n_vcs, r->n_vcs == 1 ? "" : "s");
    if (*r->multicast) fprintf(stream, "multicast %s, ", r->multicast);
    fprintf(stream, "%s engine\n", r->engine);
    fprintf(stream, "cycles      %" PRIu64 " of %s", r->cycles, fc_format(cycle, sizeof cycle, r->cycle_s, FC_SECONDS));
    if (r->open_loop) fprintf(stream, ": %.0f to warm up, %.0f measured", r->warmup_cycles, r->measure_cycles);
    fprintf(stream, "\n");
}

static void print_answer(FILE *stream, const struct answer *a)
{
    const struct fc_flit_result *r = a->r;
    char time[64], bound[64];
    if (r->deadlock || !r->stable || r->open_loop) {
        fprintf(stream, "answer      ");
        bool good = !r->deadlock && r->stable;
        fc_print_coloured(stream, good ? FC_COLOUR_GOOD : FC_COLOUR_BAD,
                          r->deadlock  ? "DEADLOCK"
                          : !r->stable ? "UNSTABLE"
                                       : "stable");
        fprintf(stream, "%s%s%s", good ? "" : ": ",
                r->deadlock ? r->deadlock_text
                : good      ? ""
                            : r->unstable_because,
                r->deadlock ? "" : "\n");
    }
    if (r->open_loop || isnan(a->time_s)) return;
    fprintf(stream, "time        %s, bound %s: %.1f %% of peak\n", fc_format(time, sizeof time, a->time_s, FC_SECONDS),
            fc_format(bound, sizeof bound, a->bound_s, FC_SECONDS), 100 * a->bound_s / a->time_s);
}

static void print_high_priority(FILE *stream, const struct fc_flit_part *h)
{
    fprintf(stream, "priority    %.4g %% of the load is of high priority: ", 100 * h->share);
    if (h->packets == 0)
        fprintf(stream, "none of it arrived\n");
    else
        fprintf(stream,
                "latency %.2f cycles, p50 %.4g, p95 %.4g, p99 %.4g, max %.4g; %" PRIu64 " packets\n"
                "            %.2f in the network; all others %.2f cycles\n",
                h->latency_mean_cycles, h->latency_p50_cycles, h->latency_p95_cycles, h->latency_p99_cycles,
                h->latency_max_cycles, h->packets, h->network_latency_mean_cycles, h->others_latency_mean_cycles);
}

static void print_background(FILE *stream, const struct answer *a)
{
    const struct fc_flit_part *b = &a->r->background;
    if (!(b->share > 0)) return;
    fprintf(stream, "background  %s: offered %.4g, accepted %.4g flits/node/cycle", a->background,
            a->settings->background_flits_per_cycle, b->accepted_flits_per_node_cycle);
    if (b->packets)
        fprintf(stream, "; latency %.2f cycles, %.2f in the network", b->latency_mean_cycles,
                b->network_latency_mean_cycles);
    fprintf(stream, "\n");
}

/* Half widths of what was to be as precise as asked, percent. */
static void print_precision(FILE *stream, const struct fc_flit_result *r)
{
    double latency = 100 * half_width(r) / r->latency_mean_cycles;
    double accepted = 100 * r->accepted_half_width_flits / r->accepted_flits_per_node_cycle;
    if (!(r->precision > 0)) return;
    fprintf(stream, "precision   %.4g %% %s", 100 * r->precision, r->precision_reached ? "reached" : "not reached");
    if (!isnan(latency)) fprintf(stream, ", latency +- %.2f %%", latency);
    if (!isnan(accepted)) fprintf(stream, ", accepted load +- %.2f %%", accepted);
    fprintf(stream, "\n");
}

static void print_packets(FILE *stream, const struct answer *a)
{
    const struct fc_flit_result *r = a->r;
    char ns[64];
    if (r->measured_packets && !isnan(r->latency_mean_cycles)) {
        fprintf(stream, "latency     %.2f", r->latency_mean_cycles);
        if (!isnan(half_width(r))) fprintf(stream, " +- %.2f", half_width(r));
        fprintf(stream, " cycles (%s), p50 %.4g, p95 %.4g, p99 %.4g, max %.4g; %" PRIu64 " packets\n",
                fc_format(ns, sizeof ns, r->latency_mean_cycles * r->cycle_s, FC_SECONDS), r->latency_p50_cycles,
                r->latency_p95_cycles, r->latency_p99_cycles, r->latency_max_cycles, r->measured_packets);
        fprintf(stream, "            %.2f in the network, %.2f at the source\n", r->network_latency_mean_cycles,
                r->latency_mean_cycles - r->network_latency_mean_cycles);
        fprintf(stream, "hops        %.4f links between routers\n", r->hops_mean);
    }
    if (r->high_priority.share > 0) print_high_priority(stream, &r->high_priority);
    if (r->open_loop && !isnan(r->offered_flits_per_node_cycle))
        fprintf(stream, "load        offered %.4g, accepted %.4g flits/node/cycle\n", r->offered_flits_per_node_cycle,
                r->accepted_flits_per_node_cycle);
    else
        fprintf(stream, "load        accepted %.4g flits/node/cycle\n", r->accepted_flits_per_node_cycle);
    print_precision(stream, r);
    print_background(stream, a);
    if (!isnan(r->fairness_jain))
        fprintf(stream, "fairness    nodes inject %.2f to %.2f of the mean, Jain's index %.4f\n", r->fairness_min,
                r->fairness_max, r->fairness_jain);
    fprintf(stream, "packets     %" PRIu64 " injected", r->packets_injected);
    if (*r->multicast) fprintf(stream, " + %" PRIu64 " copied", r->packets_copied);
    fprintf(stream, " = %" PRIu64 " delivered + %" PRIu64 " in flight; flits %" PRIu64, r->packets_delivered,
            r->packets_in_flight, r->flits_injected);
    if (*r->multicast) fprintf(stream, " + %" PRIu64, r->flits_copied);
    fprintf(stream, " = %" PRIu64 " + %" PRIu64 "%s\n", r->flits_delivered, r->flits_in_flight,
            r->credits_full ? "; all credits back" : "");
}

static void print_classes(FILE *stream, const struct answer *a)
{
    const struct fc_flit_result *r = a->r;
    char name[256];
    fprintf(stream, "\n%-10s %9s %9s %9s  %s\n", "class", "links", "mean %", "max %", "busiest");
    for (int c = 0; c < r->n_classes; c++) {
        const struct fc_flit_class *k = &r->classes[c];
        if (k->links)
            fprintf(stream, "%-10s %9" PRIu64 " %9.2f %9.2f  %s\n", a->session->machine.classes[c].name, k->links,
                    100 * k->mean_utilization, 100 * k->max_utilization,
                    k->busiest == FC_NONE ? "-" : fc_link_name(&a->session->net, k->busiest, name, sizeof name));
    }
    if (!r->open_loop)
        fprintf(stream, "links between routers are busy %.1f %% of the time\n", 100 * a->router_links_utilization);
    fprintf(stream, "\nbuffers     flits in each virtual channel:");
    for (int v = 0; v < r->n_vcs; v++) fprintf(stream, " %.3g", r->vc_occupancy_flits[v]);
    if (!isnan(r->escape_share)) fprintf(stream, "; %.1f %% of the flit-hops on the escape", 100 * r->escape_share);
    fprintf(stream, "\n");
}

static void print_intervals(FILE *stream, const struct answer *a)
{
    const struct fc_flit_result *r = a->r;
    fprintf(stream, "\n%12s %12s %12s  %s\n", "from cycle", "accepted", "unblocking", "flits/link/cycle by channel");
    for (uint32_t i = 0; i < r->n_intervals; i++) {
        const struct fc_flit_interval *k = &r->intervals[i];
        fprintf(stream, "%12" PRIu64 " %12.4f ", i * a->settings->interval_cycles, k->flits_per_node_cycle);
        if (isnan(k->unblocking_probability))
            fprintf(stream, "%12s ", "-");
        else
            fprintf(stream, "%12.4f ", k->unblocking_probability);
        for (int v = 0; v < r->n_vcs; v++) fprintf(stream, " %.4f", k->vc_flits_per_link_cycle[v]);
        fprintf(stream, "\n");
    }
}

/* At a terminal the course in a line, neighbours averaged. */
static void print_course(FILE *stream, const struct answer *a)
{
    enum { WIDTH = 60 };
    const struct fc_flit_result *r = a->r;
    double mean[WIDTH] = {0}, top = 0;
    uint32_t n = r->n_intervals < WIDTH ? r->n_intervals : WIDTH;
    char after[64];
    for (uint32_t k = 0; k < n; k++) {
        uint32_t from = (uint32_t)((uint64_t)k * r->n_intervals / n),
                 to = (uint32_t)((k + UINT64_C(1)) * r->n_intervals / n);
        for (uint32_t i = from; i < to; i++) mean[k] += r->intervals[i].flits_per_node_cycle / (to - from);
        top = fmax(top, mean[k]);
    }
    snprintf(after, sizeof after, " 0 to %.4g flits/node/cycle\n", top);
    fc_print_sparkline(stream, "\naccepted    ", mean, n, top, after);
}

static void print_speed(FILE *stream, const struct answer *a)
{
    const struct fc_flit_exchanged *x = &a->r->exchanged;
    char memory[64], message[64];
    fprintf(stream, "speed       %.3g s CPU, %.4g M flit-hops/s, %s%s\n", a->r->cpu_s,
            a->r->cpu_s > 0 ? (double)a->r->flit_hops / a->r->cpu_s / 1e6 : 0,
            fc_format(memory, sizeof memory, (double)a->rss_bytes, FC_BYTES), x->ranks > 1 ? " a rank" : "");
    if (x->ranks < 2) return;
    double mean = x->messages ? (double)x->message_bytes / (double)x->messages : 0;
    fprintf(stream,
            "ranks       %d, each with at most %d neighbours: %" PRIu64 " windows, %" PRIu64 " messages of %s\n",
            x->ranks, x->most_neighbours, x->windows, x->messages, fc_format(message, sizeof message, mean, FC_BYTES));
}

static void print(FILE *stream, const void *what)
{
    const struct answer *a = what;
    print_run(stream, a);
    print_answer(stream, a);
    print_packets(stream, a);
    print_classes(stream, a);
    if (a->intervals_asked && a->r->n_intervals) print_intervals(stream, a);
    print_course(stream, a);
    print_speed(stream, a);
}

/* ---- for programs ---- */

static json_t *count(uint64_t n)
{
    return json_integer((json_int_t)n);
}

static void set_real(json_t *object, const char *key, double value)
{
    json_object_set_new(object, key, fc_json_real(value));
}

static json_t *json_latency(const struct fc_flit_result *r)
{
    json_t *latency = json_object();
    set_real(latency, "mean", r->latency_mean_cycles);
    set_real(latency, "half_width", half_width(r));
    set_real(latency, "p50", r->latency_p50_cycles);
    set_real(latency, "p95", r->latency_p95_cycles);
    set_real(latency, "p99", r->latency_p99_cycles);
    set_real(latency, "max", r->latency_max_cycles);
    return latency;
}

/* Its share and latencies. */
static json_t *json_part(const struct fc_flit_part *h)
{
    json_t *json = json_object();
    set_real(json, "share", h->share);
    json_object_set_new(json, "packets", count(h->packets));
    set_real(json, "latency_mean", h->latency_mean_cycles);
    set_real(json, "latency_p50", h->latency_p50_cycles);
    set_real(json, "latency_p95", h->latency_p95_cycles);
    set_real(json, "latency_p99", h->latency_p99_cycles);
    set_real(json, "latency_max", h->latency_max_cycles);
    set_real(json, "network_latency_mean", h->network_latency_mean_cycles);
    set_real(json, "others_latency_mean", h->others_latency_mean_cycles);
    return json;
}

static json_t *json_background(const struct answer *a)
{
    const struct fc_flit_part *b = &a->r->background;
    json_t *json = json_part(b);
    json_object_set_new(json, "what", json_string(a->background));
    set_real(json, "offered_flits_per_node_cycle", a->settings->background_flits_per_cycle);
    set_real(json, "accepted_flits_per_node_cycle", b->accepted_flits_per_node_cycle);
    return json;
}

static json_t *json_classes(const struct answer *a)
{
    char name[256];
    json_t *classes = json_object();
    for (int c = 0; c < a->r->n_classes; c++) {
        const struct fc_flit_class *k = &a->r->classes[c];
        if (k->links == 0) continue;
        json_t *entry = json_object();
        set_real(entry, "mean", k->mean_utilization);
        set_real(entry, "max", k->max_utilization);
        json_object_set_new(entry, "links", count(k->links));
        json_object_set_new(entry, "busiest",
                            k->busiest == FC_NONE
                                ? json_null()
                                : json_string(fc_link_name(&a->session->net, k->busiest, name, sizeof name)));
        json_object_set_new(classes, a->session->machine.classes[c].name, entry);
    }
    return classes;
}

static json_t *json_channels(const double *value, int n)
{
    json_t *list = json_array();
    for (int i = 0; i < n; i++) json_array_append_new(list, fc_json_real(value[i]));
    return list;
}

static json_t *json_intervals(const struct answer *a)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < a->r->n_intervals; i++) {
        const struct fc_flit_interval *k = &a->r->intervals[i];
        json_t *entry = json_object();
        json_object_set_new(entry, "from_cycle", count(i * a->settings->interval_cycles));
        set_real(entry, "accepted_flits_per_node_cycle", k->flits_per_node_cycle);
        set_real(entry, "unblocking_probability", k->unblocking_probability);
        json_object_set_new(entry, "vc_flits_per_link_cycle", json_channels(k->vc_flits_per_link_cycle, a->r->n_vcs));
        json_array_append_new(list, entry);
    }
    return list;
}

static json_t *json_ranks(const struct fc_flit_exchanged *x)
{
    json_t *ranks = json_object();
    json_object_set_new(ranks, "n", json_integer(x->ranks));
    json_object_set_new(ranks, "most_neighbours", json_integer(x->most_neighbours));
    json_object_set_new(ranks, "windows", count(x->windows));
    json_object_set_new(ranks, "messages", count(x->messages));
    json_object_set_new(ranks, "message_bytes", count(x->message_bytes));
    return ranks;
}

static json_t *text_or_null(const char *text)
{
    return text && *text ? json_string(text) : json_null();
}

/* The contract's keys, in its order. */
static void set_contract(json_t *json, const struct answer *a)
{
    const struct fc_flit_result *r = a->r;
    json_t *network = json_object();
    set_real(network, "mean", r->network_latency_mean_cycles);
    set_real(json, "offered_flits_per_node_cycle", r->offered_flits_per_node_cycle);
    set_real(json, "accepted_flits_per_node_cycle", r->accepted_flits_per_node_cycle);
    json_object_set_new(json, "packet_latency_cycles", json_latency(r));
    json_object_set_new(json, "network_latency_cycles", network);
    set_real(json, "hops_mean", r->hops_mean);
    json_object_set_new(json, "cycles", count(r->cycles));
    json_object_set_new(json, "flit_hops", count(r->flit_hops));
    json_object_set_new(json, "packets_injected", count(r->packets_injected));
    json_object_set_new(json, "packets_delivered", count(r->packets_delivered));
    json_object_set_new(json, "packets_in_flight", count(r->packets_in_flight));
    json_object_set_new(json, "deadlock", json_boolean(r->deadlock));
    json_object_set_new(json, "stable", json_boolean(r->stable));
    set_real(json, "cpu_s", r->cpu_s);
    set_real(json, "flit_hops_per_cpu_s", r->cpu_s > 0 ? (double)r->flit_hops / r->cpu_s : (double)NAN);
    json_object_set_new(json, "peak_rss_bytes", count(a->rss_bytes));
    json_object_set_new(json, "link_utilization", json_classes(a));
}

static json_t *to_json(const struct answer *a)
{
    const struct fc_flit_result *r = a->r;
    json_t *json =
        json_pack("{s:s, s:s, s:s, s:s, s:s}", "machine", a->session->machine.name, "traffic", a->demand->name,
                  "routing", a->session->machine.routing->name, "vc_rule", r->vc_rule, "engine", r->engine);
    set_contract(json, a);
    set_real(json, "ideal_throughput", a->ideal);
    set_real(json, "cycle_s", r->cycle_s);
    json_object_set_new(json, "unstable_because", text_or_null(r->unstable_because));
    json_object_set_new(json, "deadlock_cycle", text_or_null(r->deadlock_text));
    json_object_set_new(json, "complete", json_boolean(r->complete));
    json_object_set_new(json, "measured_packets", count(r->measured_packets));
    set_real(json, "warmup_cycles", r->warmup_cycles);
    set_real(json, "measure_cycles", r->measure_cycles);
    json_object_set_new(json, "flits_injected", count(r->flits_injected));
    json_object_set_new(json, "flits_delivered", count(r->flits_delivered));
    json_object_set_new(json, "flits_in_flight", count(r->flits_in_flight));
    json_object_set_new(json, "multicast", text_or_null(r->multicast));
    json_object_set_new(json, "packets_copied", count(r->packets_copied));
    json_object_set_new(json, "flits_copied", count(r->flits_copied));
    json_object_set_new(json, "credits_full", json_boolean(r->credits_full));
    set_real(json, "escape_share", r->escape_share);
    json_object_set_new(json, "vc_occupancy_flits", json_channels(r->vc_occupancy_flits, r->n_vcs));
    json_t *fairness = json_object();
    set_real(fairness, "min", r->fairness_min);
    set_real(fairness, "max", r->fairness_max);
    set_real(fairness, "jain", r->fairness_jain);
    json_object_set_new(json, "fairness", fairness);
    if (r->precision > 0) {
        set_real(json, "precision", r->precision);
        json_object_set_new(json, "precision_reached", json_boolean(r->precision_reached));
        set_real(json, "accepted_half_width_flits_per_node_cycle", r->accepted_half_width_flits);
    }
    if (r->exchanged.ranks > 1) json_object_set_new(json, "ranks", json_ranks(&r->exchanged));
    if (r->high_priority.share > 0) json_object_set_new(json, "high_priority", json_part(&r->high_priority));
    if (r->background.share > 0) json_object_set_new(json, "background", json_background(a));
    set_real(json, "router_links_utilization", a->router_links_utilization);
    json_object_set_new(json, "mapping", text_or_null(a->mapping));
    set_real(json, "time_s", a->time_s);
    set_real(json, "bound_s", a->bound_s);
    set_real(json, "percent_of_peak", 100 * a->bound_s / a->time_s);
    json_object_set_new(json, "intervals", a->intervals_asked ? json_intervals(a) : json_array());
    return json;
}

/* ---- --plot ---- */

enum { PLOT_INTERVAL_CYCLES = 100 }; /* where --interval does not say */

/* Delivered flits over time; in an open loop beside what is offered, and what was measured. */
static enum fc_code plot(const struct fc_arguments *arguments, const struct answer *a, struct fc_status *st)
{
    static const char *const names[] = {"throughput", NULL};
    const struct fc_flit_result *r = a->r;
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    double *flits = fc_alloc(&arena, r->n_intervals, sizeof *flits, st);
    const char *title = fc_plot_title(arguments, &arena, st, "%s: %s, routing %s, rule %s", a->session->machine.name,
                                      a->demand->name, a->session->machine.routing->name, r->vc_rule);
    for (uint32_t i = 0; flits && i < r->n_intervals; i++) flits[i] = r->intervals[i].flits_per_node_cycle;
    struct fc_plot_course course = {"delivered to all nodes", flits, r->n_intervals,
                                    (double)a->settings->interval_cycles};
    struct fc_plot_throughput throughput = {"cycle",
                                            "time (cycles)",
                                            "flits_per_node_cycle",
                                            "accepted load (flits/node/cycle)",
                                            1,
                                            1,
                                            &course,
                                            1,
                                            NAN,
                                            NAN,
                                            NAN,
                                            "offered",
                                            "measured"};
    if (r->open_loop) throughput.level = r->offered_flits_per_node_cycle;
    if (r->open_loop && r->measure_cycles > 0) {
        throughput.from = r->warmup_cycles;
        throughput.to = r->warmup_cycles + r->measure_cycles;
    }
    if (!st->code && r->n_intervals == 0)
        fc_refuse(st, FC_NO, "--plot: the run ended within one interval of %" PRIu64 " cycles (choose --interval)",
                  a->settings->interval_cycles);
    if (!st->code && !fc_plot_throughput(arguments->plot, title, &throughput, st)) fc_print_plots(arguments, names);
    return st->code;
}

/* ---- the command ---- */

/* What the links alone would need for the messages. */
static enum fc_code link_bound(const struct fc_arguments *arguments, const struct fc_session *session,
                               const struct fc_demand *demand, const struct fc_mapping *mapping, double *bound_s,
                               struct fc_status *st)
{
    FC_SCOPED(fc_load_free) struct fc_load load = {0};
    struct fc_flow_settings flow = fc_flow_cheap(&session->net);
    struct fc_load_settings settings = {.threads = arguments->ask.threads, .seed = arguments->ask.seed, .flow = &flow};
    struct fc_placement placement = {mapping->n_tasks, mapping->node};
    struct fc_load_summary summary;
    if (fc_flit_copies(&session->net, demand))
        return fc_flit_multicast_bound(&session->net, demand, mapping->node, bound_s, st);
    if (fc_load_solve(&session->net, demand, &placement, &settings, &load, st)) return st->code;
    fc_load_summarise(&session->net, &load, &settings, &summary);
    *bound_s = summary.bound_s;
    return FC_OK;
}

static double router_links_utilization(const struct fc_network *net, const struct fc_flit_result *r)
{
    double sum = 0;
    uint64_t n = 0;
    for (uint32_t l = 0; l < net->n_links; l++) {
        if (fc_is_node(net, net->link_source[l]) || fc_is_node(net, net->link_target[l])) continue;
        sum += r->link_utilization[l];
        n++;
    }
    return n ? sum / (double)n : (double)NAN;
}

static enum fc_code deliver(const struct fc_arguments *arguments, const struct answer *answer, struct fc_status *st)
{
    const struct fc_flit_result *r = answer->r;
    fc_deliver(arguments, arguments->json ? to_json(answer) : NULL, print, answer, st);
    if (st->code || (arguments->plot && fc_speaks(arguments) && plot(arguments, answer, st))) return st->code;
    if (r->deadlock)
        return fc_refuse(st, FC_NO, "%s: deadlock in cycle %" PRIu64, answer->session->machine.name, r->cycles);
    if (!r->open_loop && !r->complete)
        return fc_refuse(st, FC_NO, "%s: not all messages have arrived after %" PRIu64 " cycles (raise --max-cycles)",
                         answer->session->machine.name, r->cycles);
    return FC_OK;
}

static enum fc_code use_background(const struct fc_arguments *arguments, const struct fc_session *session,
                                   struct fc_flit_settings *settings, struct fc_status *st)
{
    if (!arguments->ask.background || fc_session_only_rates(session, st)) return st->code;
    if (session->background.fills)
        return fc_refuse(st, FC_INPUT,
                         "--background: %s: sources that always have a packet waiting leave no place in the "
                         "nodes' queues (expected a rate)",
                         arguments->ask.background);
    settings->background = &session->background.demand;
    return fc_background_flits(&session->net, &session->background, &settings->background_flits_per_cycle, st);
}

/* With a load or a backlog the demand becomes rates, and only then it is known which options are for it. */
static enum fc_code read_offer(const struct fc_arguments *arguments, const struct fc_session *session,
                               struct fc_demand *demand, struct fc_flit_settings *settings, double *ideal,
                               struct fc_status *st)
{
    const struct fc_run_question *run = &arguments->run;
    if ((run->load || run->backlog) && fc_run_rates(run->load ? "--load" : "--backlog", &session->net, demand, st))
        return st->code;
    if (fc_check_options(arguments, &session->machine, demand, st) ||
        (demand->open_loop && fc_session_only_whole(session, st)))
        return st->code;
    return fc_run_offer(run, &session->net, demand, settings, ideal, st);
}

/* Of the largest rank. */
static size_t peak_rss_bytes(const struct fc_ranks *ranks)
{
    uint64_t bytes = fc_peak_rss_bytes();
    if (ranks) ranks->greatest(ranks, &bytes, 1);
    return (size_t)bytes;
}

static enum fc_code run_demand(const struct fc_arguments *arguments, const struct fc_session *session,
                               struct fc_demand *demand, struct fc_status *st)
{
    struct fc_flit_settings settings;
    FC_SCOPED(fc_flit_free) struct fc_flit_result result = {0};
    FC_SCOPED(fc_mapping_free) struct fc_mapping mapping = {0};
    struct fc_progress progress;
    struct answer answer = {.session = session,
                            .demand = demand,
                            .settings = &settings,
                            .r = &result,
                            .background = arguments->ask.background,
                            .time_s = NAN,
                            .bound_s = NAN,
                            .ideal = NAN,
                            .router_links_utilization = NAN,
                            .intervals_asked = arguments->run.interval_cycles > 0};
    if (fc_run_settings(&arguments->run, arguments->ask.seed, arguments->ask.threads, &settings, st) ||
        read_offer(arguments, session, demand, &settings, &answer.ideal, st) ||
        use_background(arguments, session, &settings, st))
        return st->code;
    if (arguments->plot && !settings.interval_cycles) settings.interval_cycles = PLOT_INTERVAL_CYCLES;
    if (!demand->open_loop) {
        if (fc_place_watched(arguments, fc_map_problem_of(&arguments->ask, session, demand), arguments->ask.map,
                             &mapping, st) ||
            link_bound(arguments, session, demand, &mapping, &answer.bound_s, st))
            return st->code;
        answer.mapping = mapping.strategy;
    }
    fc_work_start(&progress, arguments->quiet);
    settings.progress = &progress;
    settings.ranks = arguments->ranks;
    fc_flit_run(&session->net, demand, mapping.node, &settings, &result, st);
    fc_work_end(&progress);
    if (!st->code) {
        if (!demand->open_loop && result.complete) answer.time_s = (double)result.cycles * result.cycle_s;
        answer.router_links_utilization = router_links_utilization(&session->net, &result);
        answer.rss_bytes = peak_rss_bytes(arguments->ranks);
        deliver(arguments, &answer, st);
    }
    return st->code;
}

static enum fc_code run(const struct fc_arguments *arguments, struct fc_status *st)
{
    FC_SCOPED(fc_session_close) struct fc_session session = {0};
    FC_SCOPED(fc_demand_free) struct fc_demand demand = {0};
    if (arguments->plot && fc_plots_check(arguments->plot, st)) return st->code;
    if (fc_open_machine(arguments, arguments->ask.machine, &session, st)) return st->code;
    if (!fc_session_only_alike(&session, "flit", st) && !fc_job_demand(&arguments->ask, &session, &demand, st))
        run_demand(arguments, &session, &demand, st);
    return st->code;
}

const struct fc_command fc_command_flit = {
    .name = "flit",
    .summary =
        "one run of the flit-level kernel: latency, accepted load, use of links, deadlock; over MPI ranks under mpirun",
    .example = "fabricast flit -m bgl-512 -p uniform --load 60%",
    .options = FC_A_JOB | FC_GROUPS(FC_PHASE, FC_MAP, FC_CHANNELS, FC_OFFER, FC_KERNEL, FC_MEASURE, FC_FLITS, FC_PLOT),
    .run = run,
    .swept = "",
    .over_ranks = true,
};
