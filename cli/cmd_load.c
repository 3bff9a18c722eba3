/* cmd_load.c - `load`: bytes on every link by class, the bound time, the hottest links. */
#include "cli/command.h"
#include "cli/flow_bound.h"
#include "cli/heartbeat.h"
#include "cli/print.h"
#include "cli/terminal.h"
#include "cli/watch.h"
#include "models/link_map.h"
#include "plots/link_figures.h"
#include "plots/plots.h"

#include <stdlib.h>
#include <string.h>

struct answer {
    const struct fc_session *session;
    const struct fc_demand *demand;
    const struct fc_mapping *mapping;
    const struct fc_load *load;
    const struct fc_arguments *arguments;
    struct fc_load_summary summary;
    struct fc_prediction network; /* of the messages on the network; of rates: the busiest link's time, no error */
};

enum { N_BINS = 10 };

/* Links of a class by bytes: N_BINS equal bins from 0 to the class's greatest load, unused links apart. */
static void histogram(const struct answer *a, int link_class, uint64_t *bins)
{
    double most = a->summary.classes[link_class].max_bytes;
    memset(bins, 0, N_BINS * sizeof *bins);
    for (uint32_t l = 0; l < a->session->net.n_links; l++) {
        double bytes = a->load->bytes[l];
        if (a->session->net.link_class[l] != link_class || bytes == 0) continue;
        int bin = (int)(bytes / most * N_BINS);
        bins[bin >= N_BINS ? N_BINS - 1 : bin]++;
    }
}

static void print_histogram(FILE *stream, const struct answer *a, int link_class)
{
    uint64_t bins[N_BINS], most = 1;
    char from[32], to[32];
    double width = a->summary.classes[link_class].max_bytes / N_BINS;
    histogram(a, link_class, bins);
    for (int i = 0; i < N_BINS; i++) most = bins[i] > most ? bins[i] : most;
    fprintf(stream, "\n%s links by load\n", a->session->machine.classes[link_class].name);
    for (int i = 0; i < N_BINS; i++)
        if (bins[i]) {
            fprintf(stream, "  %10s .. %-10s %8llu ", fc_format(from, sizeof from, i * width, FC_BYTES),
                    fc_format(to, sizeof to, (i + 1) * width, FC_BYTES), (unsigned long long)bins[i]);
            fc_print_bar(stream, (double)bins[i] / (double)most, 40);
            fprintf(stream, "\n");
        }
}

/* Behind the class's row: its links by load, from 0 to the busiest. */
static void print_spread(FILE *stream, const struct answer *a, int link_class)
{
    uint64_t bins[N_BINS];
    double links[N_BINS], most = 0;
    histogram(a, link_class, bins);
    for (int i = 0; i < N_BINS; i++) most = fmax(most, links[i] = sqrt((double)bins[i])); /* few links are seen too */
    fc_print_sparkline(stream, "  0 |", links, N_BINS, most, "| max");
}

static void print(FILE *stream, const void *what)
{
    const struct answer *a = what;
    const struct fc_network *net = &a->session->net;
    char one[64], two[64], three[64], name[256];
    fc_print_machine(&a->session->machine, stream);
    fprintf(stream, "traffic     %s, %u tasks, %s between nodes, %s inside\n", a->demand->name, a->demand->n_tasks,
            fc_format(one, sizeof one, a->load->network_bytes, FC_BYTES),
            fc_format(two, sizeof two, a->load->local_bytes, FC_BYTES));
    fprintf(stream, "mapping     %s, routing %s (%s)\n\n", a->mapping->strategy, a->session->machine.routing->name,
            a->load->method);
    fprintf(stream, "%-10s %9s %9s %12s %12s %12s\n", "class", "links", "used", "min", "mean", "max");
    for (int c = 0; c < net->machine->n_classes; c++) {
        const struct fc_load_class *k = &a->summary.classes[c];
        if (!k->count) continue;
        fprintf(stream, "%-10s %9llu %9llu %12s %12s %12s", net->machine->classes[c].name, (unsigned long long)k->count,
                (unsigned long long)k->used, fc_format(one, sizeof one, k->min_bytes, FC_BYTES),
                fc_format(two, sizeof two, k->mean_bytes, FC_BYTES),
                fc_format(three, sizeof three, k->max_bytes, FC_BYTES));
        if (k->used) print_spread(stream, a, c);
        fprintf(stream, "\n");
    }
    for (int c = 0; c < net->machine->n_classes; c++)
        if (a->summary.classes[c].used && !isinf(net->machine->classes[c].bandwidth_bytes_per_s))
            print_histogram(stream, a, c);
    uint32_t hottest[5];
    int n = fc_load_hottest(net, a->load, FC_COUNT(hottest), hottest);
    fprintf(stream, "\nhottest links\n");
    for (int i = 0; i < n; i++)
        fprintf(stream, "  %-36s %12s %12s\n", fc_link_name(net, hottest[i], name, sizeof name),
                fc_format(one, sizeof one, a->load->bytes[hottest[i]], FC_BYTES),
                fc_format(two, sizeof two,
                          a->load->bytes[hottest[i]] * a->load->wire_factor / fc_link_bandwidth(net, hottest[i]),
                          FC_SECONDS));
    fprintf(stream, "\nhop-bytes   %s (%.4g hops a byte)\n", fc_format(one, sizeof one, a->load->hop_bytes, FC_BYTES),
            a->load->network_bytes > 0 ? a->load->hop_bytes / a->load->network_bytes : 0);
    fprintf(stream, "bound       %s (busiest link %s, wire bytes %.4g x payload)\n",
            fc_format(one, sizeof one, a->summary.bound_s, FC_SECONDS),
            fc_format(two, sizeof two, a->summary.max_link_s, FC_SECONDS), a->load->wire_factor);
    fc_print_flow_bound(a->arguments, a->load, stream);
    if (a->demand->open_loop) return;
    fprintf(stream, "time        %s on the network, %.1f %% of peak\nerror       ",
            fc_format(one, sizeof one, a->network.network_s, FC_SECONDS), a->network.percent_of_peak);
    const struct fc_calibration *calibration = a->session->calibrated ? &a->session->calibration : NULL;
    fc_print_error(stream, calibration ? calibration->file : NULL, calibration ? calibration->from : NULL, &a->network);
}

static json_t *to_json(const struct answer *a)
{
    const struct fc_load_summary *s = &a->summary;
    const struct fc_network *net = &a->session->net;
    json_t *histograms = json_object();
    for (int c = 0; c < net->machine->n_classes; c++) {
        uint64_t bins[N_BINS];
        if (!s->classes[c].used) continue;
        histogram(a, c, bins);
        json_t *list = json_array();
        for (int i = 0; i < N_BINS; i++) json_array_append_new(list, json_integer((json_int_t)bins[i]));
        json_object_set_new(histograms, net->machine->classes[c].name, list);
    }
    json_t *hot = json_array();
    uint32_t hottest[5];
    int n = fc_load_hottest(net, a->load, FC_COUNT(hottest), hottest);
    for (int i = 0; i < n; i++)
        json_array_append_new(hot, fc_json_bottleneck(net, hottest[i], a->load->bytes[hottest[i]]));
    const struct fc_prediction *p = &a->network;
    return json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s?, s:b, s:s, "
        "s:s?, s:s?, s:o, s:o, s:o, s:s, s:o, s:o, s:o}",
        "machine", a->session->machine.name, "traffic", a->demand->name, "mapping", a->mapping->strategy, "routing",
        a->session->machine.routing->name, "method", a->load->method, "time_s", fc_json_real(p->network_s),
        "communication_s", fc_json_real(p->network_s), "computation_s", fc_json_real(NAN), "bound_s",
        fc_json_real(s->bound_s), "percent_of_peak", fc_json_real(p->percent_of_peak), "bottleneck",
        fc_json_bottleneck(net, s->hottest, s->hottest == FC_NONE ? 0 : a->load->bytes[s->hottest]), "links",
        fc_json_links(net, s), "hop_bytes", fc_json_real(a->load->hop_bytes), "error_percent",
        fc_json_real(p->error_percent), "error_against", fc_error_against_name(p->error_against), "extrapolated",
        p->extrapolated, "why", p->why, "calibration", a->session->calibrated ? a->session->calibration.file : NULL,
        "uncalibrated_because", *a->session->misfit.text ? a->session->misfit.text : NULL, "network_bytes",
        fc_json_real(a->load->network_bytes), "local_bytes", fc_json_real(a->load->local_bytes), "wire_factor",
        fc_json_real(a->load->wire_factor), "bound_by", a->load->bound_by, "lp", fc_json_flow_bound(a->load),
        "histograms", histograms, "hottest", hot);
}

/* Time on the network: calibrated where there is a calibration, else of the busiest link alone. */
static enum fc_code predict_network(struct answer *a, struct fc_load_settings *settings,
                                    const struct fc_placement *placement, struct fc_session *session,
                                    struct fc_status *st)
{
    struct fc_prediction *p = &a->network;
    *p = (struct fc_prediction){.error_percent = NAN};
    snprintf(p->why, sizeof p->why, "rates take no time");
    if (!a->demand->open_loop && (fc_session_calibrate(session, &settings->bulk, st) ||
                                  fc_predict_phase(&session->net, a->demand, placement, a->load, settings, p, st)))
        return st->code;
    if (!settings->bulk) p->network_s = a->summary.max_link_s;
    p->percent_of_peak = p->network_s > 0 ? 100 * a->summary.bound_s / p->network_s : (double)NAN;
    return FC_OK;
}

/* --plot: pictures of the links and of the mapping. */
static enum fc_code plot(const struct answer *a, struct fc_status *st)
{
    const struct fc_network *net = &a->session->net;
    const char *directory = a->arguments->plot;
    struct fc_picture map = {0};
    static const char *const names[] = {"link-map", "link-histogram", "mapping", NULL};
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    const char *title =
        fc_plot_title(a->arguments, &arena, st, "%s: %s, %u tasks, mapping %s, routing %s", net->machine->name,
                      a->arguments->ask.trace ? fc_last_part(a->arguments->ask.trace) : a->demand->name,
                      a->demand->n_tasks, a->mapping->strategy, net->machine->routing->name);
    double *busy_s = malloc(net->n_links * sizeof *busy_s);
    if (!busy_s) fc_out_of_memory(st, "the plot");
    for (uint32_t l = 0; busy_s && l < net->n_links; l++)
        busy_s[l] = a->load->bytes[l] * a->load->wire_factor / fc_link_bandwidth(net, l);
    if (!st->code && !fc_link_map_build(net, &map, st) && !fc_plot_link_map(directory, title, &map, busy_s, st) &&
        !fc_plot_link_histogram(directory, title, &map, a->load->bytes, st) &&
        !fc_plot_mapping(directory, title, &map, a->mapping->node, a->mapping->n_tasks, st))
        fc_print_plots(a->arguments, names);
    fc_link_map_free(&map);
    free(busy_s);
    return st->code;
}

static enum fc_code read_split(const struct fc_arguments *arguments, enum fc_split *split, struct fc_status *st)
{
    *split = FC_SPLIT_SOLVER;
    if (!arguments->split || !strcmp(arguments->split, "solver")) return FC_OK;
    *split = FC_SPLIT_UNIFORM;
    if (!strcmp(arguments->split, "uniform")) return FC_OK;
    return fc_refuse(st, FC_INPUT, "--split: '%s' is unknown (expected solver or uniform)", arguments->split);
}

static enum fc_code run(const struct fc_arguments *arguments, struct fc_status *st)
{
    FC_SCOPED(fc_session_close) struct fc_session session = {0};
    FC_SCOPED(fc_demand_free) struct fc_demand demand = {0};
    FC_SCOPED(fc_mapping_free) struct fc_mapping mapping = {0};
    FC_SCOPED(fc_load_free) struct fc_load load = {0};
    struct fc_load_settings settings = {
        .path_walk = arguments->path_walk, .threads = arguments->ask.threads, .seed = arguments->ask.seed};
    if (read_split(arguments, &settings.split, st)) return st->code;
    if (arguments->plot && fc_plots_check(arguments->plot, st)) return st->code;
    if (fc_open_machine(arguments, arguments->ask.machine, &session, st)) return st->code;
    settings.background_bytes_per_s = session.background_bytes_per_s;
    struct fc_flow_settings flow;
    bool with_flow;
    if (fc_read_bound(arguments, &session.net, &flow, &with_flow, st)) return st->code;
    settings.flow = with_flow ? &flow : NULL;
    if (arguments->worst_case) {
        fc_worst_case_command(arguments, &session, st);
        return st->code;
    }
    if (!fc_session_only_rates(&session, st) && !fc_job_demand(&arguments->ask, &session, &demand, st) &&
        !fc_place_watched(arguments, fc_map_problem_of(&arguments->ask, &session, &demand), arguments->ask.map,
                          &mapping, st)) {
        struct fc_placement placement = {mapping.n_tasks, mapping.node};
        if (!fc_load_solve(&session.net, &demand, &placement, &settings, &load, st)) {
            struct answer answer = {
                .session = &session, .demand = &demand, .mapping = &mapping, .load = &load, .arguments = arguments};
            fc_load_summarise(&session.net, &load, &settings, &answer.summary);
            if (!predict_network(&answer, &settings, &placement, &session, st)) {
                if (session.misfit.mistake) fc_note_uncalibrated(session.misfit.text);
                fc_deliver(arguments, arguments->json ? to_json(&answer) : NULL, print, &answer, st);
                if (!st->code && arguments->plot) plot(&answer, st);
            }
        }
    }
    return st->code;
}

const struct fc_command fc_command_load = {
    .name = "load",
    .summary = "bytes on every link by class, the bound time, the hottest links by name",
    .example = "fabricast load -m percs-300 -p stencil4d:grid=16x16x16x75,bytes=1MiB/1MiB/512KiB/512KiB",
    .options = FC_A_JOB | FC_GROUPS(FC_PHASE, FC_MAP, FC_LINKS, FC_PLOT),
    .run = run,
    .swept = "",
};
