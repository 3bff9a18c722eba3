/* cmd_map.c - `map`: a task mapping by a strategy, its time and percent of peak beside the default's; `all` compares. */
#include "cli/cli.h"

#include <math.h>
#include <string.h>

struct row {
    const char *strategy;
    struct fc_load_summary links;
    struct fc_load load;
    double elapsed_s;
};
struct answer {
    const struct fc_session *session;
    const struct fc_demand *demand;
    struct row *rows;
    size_t n;
};

static void print(FILE *stream, const void *what)
{
    const struct answer *a = what;
    char time[64], bytes[64], name[256];
    fc_print_machine(&a->session->machine, stream);
    fprintf(stream, "traffic     %s, %u tasks, routing %s\n\n", a->demand->name, a->demand->n_tasks,
            a->session->machine.routing->name);
    fprintf(stream, "%-10s %12s %12s %10s  %s\n", "mapping", "time", "hop-bytes", "hops/byte", "hottest link");
    for (size_t i = 0; i < a->n; i++) {
        const struct row *r = &a->rows[i];
        fprintf(stream, "%-10s %12s %12s %10.3f  %s\n", r->strategy,
                fc_format(time, sizeof time, r->links.max_link_s, FC_SECONDS),
                fc_format(bytes, sizeof bytes, r->load.hop_bytes, FC_BYTES),
                r->load.network_bytes > 0 ? r->load.hop_bytes / r->load.network_bytes : 0,
                r->links.hottest == FC_NONE ? "none"
                                            : fc_link_name(&a->session->net, r->links.hottest, name, sizeof name));
    }
}

static json_t *row_json(const struct answer *a, const struct row *r)
{
    const struct fc_load_summary *s = &r->links;
    const struct fc_network *net = &a->session->net;
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "strategy", r->strategy, "time_s",
                     fc_json_real(s->max_link_s), "communication_s", fc_json_real(s->max_link_s), "computation_s",
                     fc_json_real(NAN), "bound_s", fc_json_real(s->bound_s), "percent_of_peak",
                     fc_json_real(s->max_link_s > 0 ? 100 * s->bound_s / s->max_link_s : (double)NAN), "bottleneck",
                     fc_json_bottleneck(net, s->hottest, s->hottest == FC_NONE ? 0 : r->load.bytes[s->hottest]),
                     "links", fc_json_links(net, s), "hop_bytes", fc_json_real(r->load.hop_bytes), "error_percent",
                     fc_json_real(NAN), "elapsed_s", fc_json_real(r->elapsed_s));
}

static json_t *to_json(const struct answer *a)
{
    json_t *first = row_json(a, &a->rows[0]);
    if (a->n == 1) return first;
    json_t *list = json_array();
    json_array_append_new(list, first);
    for (size_t i = 1; i < a->n; i++) json_array_append_new(list, row_json(a, &a->rows[i]));
    return json_pack("{s:o}", "strategies", list);
}

static enum fc_code try_strategy(const struct fc_arguments *arguments, struct fc_session *session,
                                 const struct fc_demand *demand, const char *strategy, struct row *row,
                                 struct fc_mapping *mapping, struct fc_status *st)
{
    struct fc_load_settings settings = {.threads = arguments->threads, .seed = arguments->seed};
    double start = fc_cpu_s();
    if (fc_session_map(arguments, session, demand, strategy, mapping, st)) return st->code;
    row->elapsed_s = fc_cpu_s() - start;
    row->strategy = mapping->strategy;
    struct fc_placement placement = {mapping->n_tasks, mapping->node};
    if (fc_load_solve(&session->net, demand, &placement, &settings, &row->load, st)) return st->code;
    fc_load_summarise(&session->net, &row->load, &settings, &row->links);
    return FC_OK;
}

static enum fc_code run(const struct fc_arguments *arguments, struct fc_status *st)
{
    struct fc_session session;
    struct fc_demand demand = {0};
    struct fc_mapping mapping[32] = {0};
    struct row rows[32] = {0};
    struct answer answer = {&session, &demand, rows, 0};
    const char *wanted = arguments->map ? arguments->map : "all";
    if (arguments->output && !strcmp(wanted, "all"))
        return fc_refuse(st, FC_INPUT, "-o writes one mapping (expected --map with one strategy)");
    if (fc_session_open(arguments, arguments->machine, &session, st)) return st->code;
    if (!fc_session_demand(arguments, &session, &demand, st)) {
        if (strcmp(wanted, "all")) {
            if (!try_strategy(arguments, &session, &demand, wanted, &rows[0], &mapping[0], st)) answer.n = 1;
        } else {
            for (int i = 0; fc_strategies[i] && answer.n < FC_COUNT(rows) && st->code != FC_FAULT; i++) {
                if (fc_strategies[i]->argument) continue;
                struct fc_status why = {0}; /* a strategy that does not fit this traffic or network is left out */
                if (!try_strategy(arguments, &session, &demand, fc_strategies[i]->name, &rows[answer.n],
                                  &mapping[answer.n], &why))
                    answer.n++;
                else if (!arguments->quiet)
                    fprintf(stderr, "fabricast: %s left out: %s\n", fc_strategies[i]->name, why.message);
            }
            if (answer.n == 0) fc_refuse(st, FC_NO, "no strategy fits");
        }
        if (!st->code && arguments->output && fc_mapping_write(&mapping[0], arguments->output, st)) answer.n = 0;
        if (!st->code) {
            struct fc_arguments to_stdout = *arguments;
            to_stdout.output = NULL;
            json_t *json = arguments->json ? to_json(&answer) : NULL;
            fc_deliver(&to_stdout, json, print, &answer, st);
            json_decref(json);
        }
    }
    for (size_t i = 0; i < FC_COUNT(rows); i++) {
        fc_load_free(&rows[i].load);
        fc_mapping_free(&mapping[i]);
    }
    fc_demand_free(&demand);
    fc_session_close(&session);
    return st->code;
}

const struct fc_command fc_command_map = {
    .name = "map",
    .summary = "compares task mappings by their busiest link; writes one with -o",
    .example = "fabricast map -m percs-64 -p stencil4d:grid=16x16x16x16,bytes=2MiB",
    .options = "mpgtKMnrTsjoJq",
    .run = run,
};
