/* session.c - the beginning that commands share: machine, network, traffic, mapping. */
#include "cli/cli.h"
#include "traces/trace_source.h"
#include "models/hosts.h"

#include <math.h>
#include <signal.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

/* --hosts: one a node of the machine, or one for each of the allowed nodes in their order. */
static enum fc_code name_hosts(const struct fc_arguments *a, struct fc_session *s, struct fc_status *st)
{
    const char **host;
    char file[FILENAME_MAX + 2];
    uint32_t n;
    snprintf(file, sizeof file, "@%s", a->ask.hosts);
    bool named = *a->ask.hosts != '@' && access(a->ask.hosts, F_OK) == 0; /* a file without the @ */
    struct fc_status why = {0};
    if (fc_hosts_read(named ? file : a->ask.hosts, &s->arena, &host, &n, &why)) {
        if (*why.file) return fc_fail(st, why.code, (struct fc_place){why.file, why.line}, "%s", why.message);
        return fc_refuse(st, why.code, "--hosts: %s", why.message);
    }
    if (n == s->net.n_nodes) {
        s->net.host_name = host;
        return a->ask.nodes ? fc_nodes_read(&s->net, a->ask.nodes, a->ask.nodes_line, &s->arena, &s->nodes, &s->n_nodes, st) : FC_OK;
    }
    if (a->ask.nodes && fc_nodes_read(&s->net, a->ask.nodes, a->ask.nodes_line, &s->arena, &s->nodes, &s->n_nodes, st)) return st->code;
    if (!a->ask.nodes || n != s->n_nodes)
        return fc_refuse(st, FC_INPUT, "--hosts: %u hosts (expected one for each of the machine's %u nodes%s)", n,
                         s->net.n_nodes,
                         a->ask.nodes ? ", or of the nodes that --nodes lists" : "; --nodes tells which they are");
    s->net.host_name = fc_alloc(&s->arena, s->net.n_nodes, sizeof *s->net.host_name, st);
    for (uint32_t i = 0; s->net.host_name && i < n; i++) s->net.host_name[s->nodes[i]] = host[i];
    return st->code;
}

static enum fc_code read_nodes(const struct fc_arguments *a, struct fc_session *s, struct fc_status *st)
{
    if (a->ask.hosts) return name_hosts(a, s, st);
    return a->ask.nodes ? fc_nodes_read(&s->net, a->ask.nodes, a->ask.nodes_line, &s->arena, &s->nodes, &s->n_nodes, st) : FC_OK;
}

enum fc_code fc_session_open(const struct fc_arguments *arguments, const char *machine, struct fc_session *s,
                             struct fc_status *st)
{
    memset(s, 0, sizeof *s);
    if (!machine) return fc_refuse(st, FC_INPUT, "no machine (expected -m NAME or -m FILE; `fabricast machines` lists)");
    if (fc_machine_load_changed(machine, arguments->ask.settings, arguments->ask.n_settings, &s->machine, st)) return st->code;
    if (fc_machine_route(&s->machine, arguments->ask.routing, st) ||
        fc_check_options(arguments, &s->machine, NULL, st) || fc_network_build(&s->machine, &s->net, st) ||
        read_nodes(arguments, s, st) || fc_session_background(arguments, s, st)) {
        fc_session_close(s);
        return st->code;
    }
    return FC_OK;
}

enum fc_code fc_session_calibrate(struct fc_session *s, const struct fc_bulk **bulk, struct fc_status *st)
{
    *bulk = s->calibrated ? &s->calibration.phases : NULL;
    if (s->calibrated) return FC_OK; /* found before */
    if (fc_calibration_find(&s->net, &s->calibration, &s->calibrated, &s->misfit, st)) return st->code;
    if (s->calibrated) *bulk = &s->calibration.phases;
    return FC_OK;
}

void fc_session_close(struct fc_session *s)
{
    if (s->calibrated) fc_calibration_free(&s->calibration);
    fc_background_free(&s->background);
    if (s->other.first_event) fc_trace_free(&s->other);
    fc_network_free(&s->net);
    fc_machine_free(&s->machine);
    fc_arena_free(&s->arena);
}

enum fc_code fc_trace_options_of(const struct fc_arguments *arguments, struct fc_arena *arena,
                                 struct fc_trace_options *options, struct fc_status *st)
{
    const char **item;
    size_t n;
    *options = (struct fc_trace_options)FC_TRACE_OPTIONS;
    if (!arguments->ask.flops_per_s) return FC_OK;
    if (fc_split_list(arguments->ask.flops_per_s, arena, &item, &n, st)) return st->code;
    double *speeds = fc_alloc(arena, n, sizeof *speeds, st);
    if (!speeds) return st->code;
    for (size_t i = 0; i < n; i++) {
        char *end;
        speeds[i] = strtod(item[i], &end);
        if (*end || !(speeds[i] > 0 && speeds[i] <= 1e30))
            return fc_refuse(st, FC_INPUT, "--flops-per-s: '%s' is not a number above 0 and up to 1e30", item[i]);
    }
    options->speeds = speeds;
    options->n_speeds = (uint32_t)n;
    return FC_OK;
}

enum fc_code fc_check_speeds(const struct fc_arguments *arguments, const struct fc_trace *trace,
                             struct fc_status *st)
{
    if (!arguments->ask.flops_per_s || trace->operations) return FC_OK;
    return fc_refuse(st, FC_INPUT,
                     "--flops-per-s: %s has times, not operations (expected a trace of SimGrid or Chakra)",
                     trace->file);
}

enum fc_code fc_session_collectives(const struct fc_arguments *arguments, struct fc_collective_choice *choice,
                                    struct fc_status *st)
{
    return fc_collective_choice_read(arguments->ask.collectives ? arguments->ask.collectives : "mpich", choice, st);
}

/* Phases are cut in memory. */
static enum fc_code demand_of_phases(const struct fc_arguments *arguments, struct fc_demand *demand,
                                     struct fc_status *st)
{
    struct fc_trace trace;
    if (fc_trace_read(arguments->ask.trace, &trace, st)) return st->code;
    fc_demand_of_argument(arguments, &trace, demand, st);
    fc_trace_free(&trace);
    return st->code;
}

enum fc_code fc_session_demand(const struct fc_arguments *arguments, const struct fc_session *s,
                               struct fc_demand *demand, struct fc_status *st)
{
    int given = (arguments->ask.pattern != NULL) + (arguments->ask.graph != NULL) + (arguments->ask.trace != NULL);
    memset(demand, 0, sizeof *demand);
    if (given != 1)
        return fc_refuse(st, FC_INPUT, "%s (expected one of -p PATTERN, -g GRAPH, -t TRACE)",
                         given ? "more than one kind of traffic" : "no traffic");
    if (arguments->ask.pattern) return fc_demand_from_pattern(&s->net, arguments->ask.pattern, arguments->ask.seed, demand, st);
    if (arguments->ask.graph) return fc_demand_from_graph(arguments->ask.graph, demand, st);
    if (arguments->ask.phase) return demand_of_phases(arguments, demand, st);
    struct fc_trace_source source;
    struct fc_collective_choice choice;
    if (fc_session_collectives(arguments, &choice, st) || fc_source_open(arguments->ask.trace, NULL, &source, st))
        return st->code;
    fc_demand_of_source(&source, &choice, demand, st);
    fc_source_close(&source);
    return st->code;
}

/* From a --time of so many seconds on mappings are measured with all the work of the adaptive split. */
enum { FULL_SPLIT_S = 4 };

struct fc_map_problem fc_session_problem(const struct fc_arguments *arguments, const struct fc_session *s,
                                         const struct fc_demand *demand)
{
    bool over_nodes = arguments->ask.pattern && demand->n_grid == 0 && demand->n_tasks == s->net.n_nodes &&
                      strncmp(arguments->ask.pattern, "multicast", 9);
    return (struct fc_map_problem){
        .net = &s->net,
        .demand = demand,
        .nodes = s->nodes,
        .n_nodes = s->n_nodes,
        .background_bytes_per_s = s->background_bytes_per_s,
        .spread = over_nodes,
        .seed = arguments->ask.seed,
        .time_s = arguments->ask.search_given ? fmax(1e-9, arguments->ask.search_s) : arguments->ask.search_s,
        .starts_free = !arguments->ask.search_given,
        .split_share = arguments->ask.search_given ? fmax(1e-9, fmin(1, arguments->ask.search_s / FULL_SPLIT_S)) : 0,
        .threads = arguments->ask.threads,
    };
}

enum fc_code fc_session_map(const struct fc_arguments *arguments, const struct fc_session *s,
                            const struct fc_demand *demand, const char *map, struct fc_mapping *mapping,
                            struct fc_status *st)
{
    return fc_session_map_problem(arguments, fc_session_problem(arguments, s, demand), map, mapping, st);
}

enum fc_code fc_session_map_problem(const struct fc_arguments *arguments, struct fc_map_problem problem,
                                    const char *map, struct fc_mapping *mapping, struct fc_status *st)
{
    bool searches = map && !strncmp(map, "optimize", strlen("optimize"));
    struct sigaction before;
    struct fc_progress progress;
    fc_work_start(&progress, arguments->quiet);
    problem.progress = &progress;
    problem.stop = searches ? fc_catch_interrupt(&before) : NULL;
    enum fc_code code = fc_mapping_make(&problem, map ? map : "def", mapping, st);
    if (searches) sigaction(SIGINT, &before, NULL);
    fc_work_end(&progress);
    if (!code && mapping->stopped)
        fc_note("the search was stopped: %s is the best mapping found until then", map);
    if (!code && mapping->unsearched)
        fc_note("--time: %g s ended before the search: %s is the best of the starts that they paid for",
                arguments->ask.search_s, map);
    return code;
}

enum fc_code fc_split_list(const char *text, struct fc_arena *arena, const char ***items, size_t *n,
                           struct fc_status *st)
{
    size_t count = 1;
    for (const char *c = text; *c; c++) count += *c == ',';
    char *copy = fc_copy_text(arena, text, st);
    *items = fc_alloc(arena, count, sizeof **items, st);
    *n = 0;
    if (!copy || !*items) return st->code;
    for (char *at = copy; at;) {
        char *comma = strchr(at, ',');
        /* "bsm:node=4x4,drawer=8x8" is one item */
        while (comma && comma[1 + strspn(comma + 1, "abcdefghijklmnopqrstuvwxyz")] == '=')
            comma = strchr(comma + 1, ',');
        if (comma) *comma = 0;
        if (*at == 0) return fc_refuse(st, FC_INPUT, "'%s': an empty name in the list", text);
        (*items)[(*n)++] = at;
        at = comma ? comma + 1 : NULL;
    }
    return FC_OK;
}
