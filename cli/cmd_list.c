/* cmd_list.c - `list`: what this build knows, printed from the lists themselves. */
#include "cli/arguments.h"
#include "cli/collectives.h"
#include "cli/command.h"
#include "cli/print.h"
#include "mapping/launcher.h"
#include "models/demand_build.h"
#include "models/generate/generate.h"
#include "reproduce/reproduce.h"
#include "solvers/replay/export.h"

#include <string.h>

struct thing {
    const char *kind, *name, *help, *of;
};
struct things {
    struct thing thing[480];
    struct fc_arena arena; /* texts made here */
    int n;
    const char *kind; /* NULL: all */
};

static void add(struct things *t, const char *kind, const char *name, const char *help, const char *of)
{
    if (t->n < (int)FC_COUNT(t->thing)) t->thing[t->n++] = (struct thing){kind, name, help, of};
}

/* Ours are read and written; a writer for another tool may have a reader of the same name. */
static void add_trace_formats(struct things *t)
{
    add(t, "formats", "fct", "our trace, packed", "trace, read and written");
    add(t, "formats", "text", "our trace, readable", "trace, read and written");
    for (const struct fc_trace_format *const *f = fc_trace_formats; *f; f++) {
        const struct fc_trace_writer *w = fc_trace_writers;
        while (w->name && strcmp(w->name, (*f)->name)) w++;
        add(t, "formats", (*f)->name, (*f)->what, w->name ? "trace, read and written" : "trace, read");
    }
    for (const struct fc_trace_writer *w = fc_trace_writers; w->name; w++) {
        const struct fc_trace_format *const *f = fc_trace_formats;
        while (*f && strcmp((*f)->name, w->name)) f++;
        if (!*f) add(t, "formats", w->name, w->what, "trace, written");
    }
}

/* A library's name for an algorithm, as --collectives takes it. */
static void add_alias(struct things *t, const struct fc_collective_alias *a)
{
    struct fc_status st = {0};
    char text[120];
    bool fjmpi = !strcmp(a->library, "fjmpi");
    snprintf(text, sizeof text, "%s%s%s%s", fjmpi ? "default-" : "", a->alias, *a->library && !fjmpi ? "_" : "",
             fjmpi ? "" : a->library);
    char *name = fc_copy_text(&t->arena, text, &st);
    snprintf(text, sizeof text, "is %s", a->name);
    char *help = fc_copy_text(&t->arena, text, &st);
    if (name && help) add(t, "collectives", name, help, fc_op_names[a->op]);
}

static void collect(struct things *t)
{
    for (const struct fc_family_ops *const *f = fc_families; *f; f++) add(t, "families", (*f)->name, (*f)->usage, "");
    for (const struct fc_routing_ops *const *r = fc_routings; *r; r++)
        for (const char *const *f = (*r)->families; *f; f++) add(t, "routings", (*r)->name, (*r)->help, *f);
    for (const struct fc_vc_rule_ops *const *v = fc_vc_rules; *v; v++)
        for (const char *const *f = (*v)->families; *f; f++) add(t, "vc-rules", (*v)->name, (*v)->help, *f);
    for (const struct fc_pattern_ops *const *p = fc_patterns; *p; p++) add(t, "patterns", (*p)->name, (*p)->help, "");
    for (const struct fc_strategy_ops *const *s = fc_strategies; *s; s++)
        add(t, "strategies", (*s)->name, (*s)->help, "");
    for (const struct fc_collective_algorithm *c = fc_collective_algorithms; c->name; c++)
        add(t, "collectives", c->name, c->source, fc_op_names[c->op]);
    for (const struct fc_collective_rules *r = fc_collective_rules; r->name; r++)
        add(t, "collectives", r->name, r->source, "rules");
    for (const struct fc_collective_alias *a = fc_collective_aliases; a->alias; a++) add_alias(t, a);
    add_trace_formats(t);
    for (const struct fc_graph_format *const *g = fc_graph_formats; *g; g++)
        add(t, "formats", (*g)->name, (*g)->what, "graph");
    for (const struct fc_generator_ops *const *g = fc_generators; *g; g++)
        add(t, "generators", (*g)->name, (*g)->help, "");
    add(t, "formats", "ibnetdiscover", "InfiniBand fabric", "network");
    add(t, "formats", "slurm-topology", "topology.conf: switches, blocks or rings; topology.yaml", "network");
    add(t, "formats", "edge-list", "routers, nodes and links", "network");
    add(t, "formats", "cray-xname", "router tiles of a Cray XC", "network");
    add(t, "formats", "kubernetes", "nodes and Kueue's topology, Volcano's HyperNodes, or DLRover's switches, as JSON",
        "network");
    add(t, "formats", "cores", "one core number a line in task order", "mapping");
    for (const struct fc_launcher_format *const *f = fc_launcher_formats; *f; f++)
        add(t, "formats", (*f)->name, (*f)->what, "mapping");
    for (const struct fc_reproduction_ops *const *g = fc_reproductions; *g; g++)
        for (int i = 0; i < (*g)->n_figures; i++) add(t, "figures", (*g)->figures[i].id, (*g)->figures[i].title, "");
}

static void print(FILE *stream, const void *what)
{
    const struct things *t = what;
    const char *kind = "";
    for (int i = 0; i < t->n; i++) {
        const struct thing *x = &t->thing[i];
        if (t->kind && strcmp(t->kind, x->kind)) continue;
        if (strcmp(kind, x->kind)) fprintf(stream, "%s%s:\n", *kind ? "\n" : "", x->kind);
        kind = x->kind;
        char name[96];
        snprintf(name, sizeof name, "%s%s%s%s", x->name, *x->of ? " (" : "", x->of, *x->of ? ")" : "");
        fprintf(stream, "  %-28s %s\n", name, x->help);
    }
}

static json_t *to_json(const struct things *t)
{
    json_t *all = json_object();
    for (int i = 0; i < t->n; i++) {
        const struct thing *x = &t->thing[i];
        if (t->kind && strcmp(t->kind, x->kind)) continue;
        json_t *kind = json_object_get(all, x->kind);
        if (!kind) json_object_set_new(all, x->kind, kind = json_array());
        json_array_append_new(kind, *x->of ? json_pack("{s:s, s:s, s:s}", "name", x->name, "of", x->of, "help", x->help)
                                           : json_pack("{s:s, s:s}", "name", x->name, "help", x->help));
    }
    return all;
}

static void print_table(FILE *stream, const void *table)
{
    fc_table_print(table, stream);
}

static enum fc_code list_times(const struct fc_arguments *arguments, struct fc_status *st)
{
    FC_SCOPED(fc_table_free) struct fc_table table = {0};
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    if (!fc_table_collectives(arguments, &arena, &table, st))
        fc_deliver(arguments, arguments->json ? fc_table_json(&table) : NULL, print_table, &table, st);
    return st->code;
}

static enum fc_code run(const struct fc_arguments *arguments, struct fc_status *st)
{
    static const char *const kinds[] = {"families",    "routings", "vc-rules",   "patterns", "strategies",
                                        "collectives", "formats",  "generators", "figures"};
    struct things t = {.n = 0, .kind = arguments->n_words ? arguments->words[0] : NULL};
    bool known = t.kind == NULL;
    for (size_t i = 0; i < FC_COUNT(kinds); i++) known = known || !strcmp(t.kind, kinds[i]);
    if (!known)
        return fc_refuse(st, FC_INPUT,
                         "unknown kind '%s' (known: families, routings, vc-rules, patterns, strategies, "
                         "collectives, formats, generators, figures)",
                         t.kind);
    bool times = arguments->members > 0 || arguments->bytes > 0 || arguments->ask.loggops;
    if (times) return list_times(arguments, st);
    collect(&t);
    enum fc_code code = fc_deliver(arguments, arguments->json ? to_json(&t) : NULL, print, &t, st);
    fc_arena_free(&t.arena);
    return code;
}

const struct fc_command fc_command_list = {
    .name = "list",
    .arguments = "[KIND]",
    .summary = "what this build knows: families, routings, patterns, strategies, collectives, formats, generators, "
               "figures",
    .example = "fabricast list patterns",
    .options = FC_GROUPS(FC_FORMULAS, FC_ENDS, FC_OUTPUT, FC_COMMON),
    .run = run,
    .swept = "",
};
