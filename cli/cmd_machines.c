/* cmd_machines.c - `machines`: the shipped machine files; with a name, its figures. */
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/heartbeat.h"
#include "cli/nic_figures.h"
#include "cli/print.h"
#include "cli/watch.h"
#include "mapping/network_cut.h"
#include "models/generate/generate.h"
#include "models/import/import.h"

#include <string.h>

struct figures {
    const struct fc_session *session;
    struct fc_facts facts;
    struct fc_nic_figures nic;
    struct fc_bisection bisection; /* both ends the same where it is known */
};

/* Where there is no closed form, from both sides; known where they meet. */
static enum fc_code bisect(struct figures *f, struct fc_status *st)
{
    struct fc_facts *facts = &f->facts;
    struct fc_bisection *b = &f->bisection;
    if (!isnan(facts->bisection_links)) {
        *b = (struct fc_bisection){facts->bisection_links, facts->bisection_bytes_per_s, facts->bisection_links,
                                   facts->bisection_bytes_per_s};
        return FC_OK;
    }
    if (fc_bisection_bounds(&f->session->net, b, st)) return st->code;
    if (b->lower_links * (1 + 1e-6) < b->upper_links || b->lower_bytes_per_s * (1 + 1e-6) < b->upper_bytes_per_s)
        return FC_OK;
    facts->bisection_links = b->upper_links;
    facts->bisection_bytes_per_s = b->upper_bytes_per_s;
    return FC_OK;
}

/* Nodes that differ, a kind a line. */
static void print_kinds(FILE *stream, const struct figures *f)
{
    const struct fc_network *net = &f->session->net;
    const struct fc_node_kinds *kinds = &f->session->machine.kinds;
    char rate[64];
    fprintf(stream, "nodes       %llu of %u kinds, on %llu routers\n", (unsigned long long)f->facts.n_nodes, kinds->n,
            (unsigned long long)f->facts.n_routers);
    for (uint32_t k = 0; k < kinds->n; k++) {
        uint32_t n = 0;
        for (uint32_t i = 0; i < net->n_nodes; i++) n += net->node_kind[i] == k;
        const struct fc_node_kind *kind = &kinds->kind[k];
        fprintf(stream, "            %u with %lld cores, computation x%g", n, kind->cores, kind->compute_scale);
        if (kind->link_class >= 0)
            fprintf(stream, ", injection %s",
                    fc_format(rate, sizeof rate, kind->injection_bytes_per_s, FC_BYTES_PER_S));
        if (kind->port_bytes_per_s < INFINITY)
            fprintf(stream, ", %lld port%s of %s", kind->ports, kind->ports > 1 ? "s" : "",
                    fc_format(rate, sizeof rate, kind->port_bytes_per_s, FC_BYTES_PER_S));
        if (kind->memory_bytes_per_s < INFINITY)
            fprintf(stream, ", memory %s", fc_format(rate, sizeof rate, kind->memory_bytes_per_s, FC_BYTES_PER_S));
        fputc('\n', stream);
    }
}

/* As the file names them, or, where some have failed, how many are left. */
static void print_slow(FILE *stream, const struct fc_network *net)
{
    const struct fc_machine *m = net->machine;
    uint32_t n = 0;
    char text[64];
    for (uint32_t i = 0; net->node_slow && i < net->n_nodes; i++) n += net->node_slow[i];
    if (!n) return;
    fputs("slow        ", stream);
    if (m->slow_of_node)
        fprintf(stream, "%u of the nodes that are left", n);
    else
        fc_print_visible(stream, m->slow_hosts);
    fprintf(stream, ": o is %s longer there\n", fc_format(text, sizeof text, m->slow_overhead_s, FC_SECONDS));
}

static void print_figures(FILE *stream, const void *what)
{
    const struct figures *f = what;
    const struct fc_machine *m = &f->session->machine;
    char a[64], b[64];
    fc_print_machine(m, stream);
    if (*m->source) fprintf(stream, "source      %s\n", m->source);
    fprintf(stream, "family      %s, routing %s\n", m->family->name, m->routing->name);
    if (m->kinds.n)
        print_kinds(stream, f);
    else
        fprintf(stream, "nodes       %llu with %lld cores, on %llu routers\n", (unsigned long long)f->facts.n_nodes,
                m->cores_per_node, (unsigned long long)f->facts.n_routers);
    print_slow(stream, &f->session->net);
    const char **host = f->session->net.host_name;
    if (host) fprintf(stream, "hosts       %s to %s\n", host[0], host[f->facts.n_nodes - 1]);
    if (isinf(f->facts.mean_hops))
        fprintf(stream, "distance    not connected\n");
    else
        fprintf(stream, "distance    diameter %g hops, mean %.6g hops (%.6g between distinct nodes)\n",
                f->facts.diameter_hops, f->facts.mean_hops, f->facts.mean_hops_distinct);
    const struct fc_bisection *cut = &f->bisection;
    if (isnan(f->facts.bisection_links))
        fprintf(stream, "bisection   at least %g links, %s (spectrum); at most %g links, %s (Scotch) one way\n",
                cut->lower_links, fc_format(a, sizeof a, cut->lower_bytes_per_s, FC_BYTES_PER_S), cut->upper_links,
                fc_format(b, sizeof b, cut->upper_bytes_per_s, FC_BYTES_PER_S));
    else
        fprintf(stream, "bisection   %g links, %s one way\n", f->facts.bisection_links,
                fc_format(a, sizeof a, f->facts.bisection_bytes_per_s, FC_BYTES_PER_S));
    for (int c = 0; c < m->n_classes; c++)
        if (f->facts.class_links[c])
            fprintf(stream, "links       %-10s %9llu of %s, %s\n", m->classes[c].name,
                    (unsigned long long)f->facts.class_links[c],
                    isinf(m->classes[c].bandwidth_bytes_per_s)
                        ? "no limit"
                        : fc_format(a, sizeof a, m->classes[c].bandwidth_bytes_per_s, FC_BYTES_PER_S),
                    fc_format(b, sizeof b, m->classes[c].latency_s, FC_SECONDS));
    fc_nic_print(&f->nic, stream);
    char note[512] = "";
    if (m->family->note) m->family->note(&f->session->net, note, sizeof note);
    size_t end = strlen(note);
    if (end >= 2 && !strcmp(note + end - 2, "; ")) note[end - 2] = 0;
    if (*note) fprintf(stream, "note        %s\n", note);
}

static json_t *figures_json(const struct figures *f)
{
    const struct fc_machine *m = &f->session->machine;
    json_t *links = json_object();
    for (int c = 0; c < m->n_classes; c++)
        if (f->facts.class_links[c])
            json_object_set_new(links, m->classes[c].name,
                                json_pack("{s:I, s:o, s:o}", "count", (json_int_t)f->facts.class_links[c],
                                          "bandwidth_bytes_per_s", fc_json_real(m->classes[c].bandwidth_bytes_per_s),
                                          "latency_s", fc_json_real(m->classes[c].latency_s)));
    return json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name",
        m->name, "title", m->title, "source", m->source, "confidence", m->confidence, "family", m->family->name,
        "routing", m->routing->name, "nodes", (json_int_t)f->facts.n_nodes, "routers", (json_int_t)f->facts.n_routers,
        "cores_per_node", (json_int_t)m->cores_per_node, "diameter_hops", fc_json_real(f->facts.diameter_hops),
        "mean_hops", fc_json_real(f->facts.mean_hops), "mean_hops_distinct", fc_json_real(f->facts.mean_hops_distinct),
        "bisection_links", fc_json_real(f->facts.bisection_links), "bisection_bytes_per_s",
        fc_json_real(f->facts.bisection_bytes_per_s), "bisection_lower_links", fc_json_real(f->bisection.lower_links),
        "bisection_lower_bytes_per_s", fc_json_real(f->bisection.lower_bytes_per_s), "bisection_upper_links",
        fc_json_real(f->bisection.upper_links), "bisection_upper_bytes_per_s",
        fc_json_real(f->bisection.upper_bytes_per_s), "links", links, "nic", fc_nic_json(&f->session->net, &f->nic));
}

static void print_links(FILE *stream, const void *what)
{
    const struct fc_network *net = &((const struct figures *)what)->session->net;
    char name[256], from[96], to[96];
    fprintf(stream, "link\tfrom\tto\tclass\tname\n");
    for (uint32_t l = 0; l < net->n_links; l++)
        fprintf(stream, "%u\t%s\t%s\t%s\t%s\n", l, fc_vertex_name(net, net->link_source[l], from, sizeof from),
                fc_vertex_name(net, net->link_target[l], to, sizeof to), net->machine->classes[net->link_class[l]].name,
                fc_link_name(net, l, name, sizeof name));
}

static void print_table(FILE *stream, const void *what)
{
    fc_table_print(what, stream);
}

static enum fc_code list_machines(const struct fc_arguments *arguments, struct fc_status *st)
{
    static const struct fc_column columns[] = {
        {"name", FC_CELL_TEXT, NULL, FC_NUMBER, NULL},    {"family", FC_CELL_TEXT, NULL, FC_NUMBER, NULL},
        {"routing", FC_CELL_TEXT, NULL, FC_NUMBER, NULL}, {"cores_per_node", FC_CELL_INT, NULL, FC_NUMBER, "cores"},
        {"title", FC_CELL_TEXT, NULL, FC_NUMBER, NULL},
    };
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    FC_SCOPED(fc_table_free) struct fc_table table = {0};
    const char **names;
    size_t n;
    fc_table_start(&table, columns, FC_COUNT(columns));
    if (!fc_machine_names(&arena, &names, &n, st))
        for (size_t i = 0; i < n && !st->code; i++) {
            FC_SCOPED(fc_machine_free) struct fc_machine m = {0};
            if (fc_machine_load(names[i], &m, st)) break;
            struct fc_cell cells[] = {{.text = names[i]},
                                      {.text = m.family->name},
                                      {.text = m.routing->name},
                                      {.integer = m.cores_per_node},
                                      {.text = fc_copy_text(&arena, m.title, st)}};
            fc_table_row(&table, cells, st);
        }
    if (!st->code)
        fc_deliver(arguments, json_pack("{s:o}", "machines", fc_table_json(&table)), print_table, &table, st);
    return st->code;
}

static enum fc_code show(const struct fc_arguments *arguments, const char *name, struct fc_status *st)
{
    FC_SCOPED(fc_session_close) struct fc_session session = {0};
    if (fc_open_machine(arguments, name, &session, st)) return st->code;
    struct figures figures = {.session = &session};
    if (!fc_network_facts(&session.net, &figures.facts, st) && !bisect(&figures, st) &&
        !fc_nic_figures(&session.net, &figures.nic, st))
        fc_deliver(arguments, arguments->json ? figures_json(&figures) : NULL,
                   arguments->dump_network ? print_links : print_figures, &figures, st);
    return st->code;
}

/* Writes the file, and shows what is in it. */
static enum fc_code generate(const struct fc_arguments *arguments, struct fc_status *st)
{
    struct fc_arguments shown = *arguments;
    if (!arguments->output || !strcmp(arguments->output, "-"))
        return fc_refuse(st, FC_INPUT, "--generate writes a machine file (expected -o NAME.yaml)");
    if (fc_machine_generate(arguments->generate, arguments->output, st)) return st->code;
    shown.output = NULL;
    return show(&shown, arguments->output, st);
}

/* The same of a fabric's file. */
static enum fc_code import(const struct fc_arguments *arguments, struct fc_status *st)
{
    struct fc_arguments shown = *arguments;
    char words[2048] = "";
    if (!arguments->output || !strcmp(arguments->output, "-"))
        return fc_refuse(st, FC_INPUT, "--import writes a machine file (expected -o NAME.yaml)");
    if (fc_machine_import(arguments->import, (const char *const *)arguments->words, (size_t)arguments->n_words,
                          arguments->output, words, sizeof words, st))
        return st->code;
    for (char *line = words, *end; (end = strchr(line, '\n')); line = end + 1) fc_note("%.*s", (int)(end - line), line);
    shown.output = NULL;
    return show(&shown, arguments->output, st);
}

static enum fc_code run(const struct fc_arguments *arguments, struct fc_status *st)
{
    const char *name = arguments->n_words ? arguments->words[0] : arguments->ask.machine;
    if (arguments->generate) return generate(arguments, st);
    if (arguments->import) return import(arguments, st);
    return name ? show(arguments, name, st) : list_machines(arguments, st);
}

const struct fc_command fc_command_machines = {
    .name = "machines",
    .arguments = "[NAME|FILE...]",
    .summary = "the shipped machine files; with a name, its figures",
    .example = "fabricast machines bgl-512",
    .options = FC_GROUPS(FC_MACHINE, FC_ROUTING, FC_WITHOUT, FC_DUMP, FC_OUTPUT, FC_COMMON),
    .run = run,
    .swept = "",
};
