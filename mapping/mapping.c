/* mapping.c - a mapping by strategy name or from a file, checked; the list of strategies.
 *
 * Invariant of every mapping made here: core[t] is a core of an allowed node, no core holds two tasks. */
#include "mapping/map_build.h"

#include "mapping/launcher.h"

#include <string.h>
#include <unistd.h>

/* X(record): declared and listed. */
#define STRATEGIES(X)                                                                                                  \
    X(def)                                                                                                             \
    X(random)                                                                                                          \
    X(bnm)                                                                                                             \
    X(bdm)                                                                                                             \
    X(bsm)                                                                                                             \
    X(rnm)                                                                                                             \
    X(rdm)                                                                                                             \
    X(shapes)                                                                                                          \
    X(fold)                                                                                                            \
    X(tile)                                                                                                            \
    X(permute)                                                                                                         \
    X(hilbert)                                                                                                         \
    X(greedy)                                                                                                          \
    X(scotch)                                                                                                          \
    X(optimize)                                                                                                        \
    X(exact)
#define DECLARE(name) extern const struct fc_strategy_ops fc_strategy_##name;
#define ENTRY(name) &fc_strategy_##name,
STRATEGIES(DECLARE)
const struct fc_strategy_ops *const fc_strategies[] = {STRATEGIES(ENTRY) NULL};
#undef DECLARE
#undef ENTRY

void fc_mapping_free(struct fc_mapping *mapping)
{
    fc_arena_free(&mapping->arena);
    memset(mapping, 0, sizeof *mapping);
}

/* ---- files
 * -----------------------------------------------------------------------------------------------------------------
 */

/* Takes the core of the current line for `task`; line_of_core[n_cores] tells where each was used, 0: nowhere.
 */
static enum fc_code read_core(const struct fc_lines *lines, const char *word, size_t length, uint32_t task,
                              const struct fc_slots *slots, const bool *allowed, uint64_t n_cores, long *line_of_core,
                              struct fc_mapping *mapping, struct fc_status *st)
{
    struct fc_place where = fc_lines_place(lines);
    long long core;
    if (fc_word_int(word, length, 0, (long long)n_cores - 1, "core", &core, where, st)) return st->code;
    if (task >= mapping->n_tasks)
        return fc_fail(st, FC_INPUT, where, "more lines than the %u tasks of the job", mapping->n_tasks);
    if (line_of_core[core])
        return fc_fail(st, FC_INPUT, where, "core %lld is used twice (first at line %ld)", core, line_of_core[core]);
    uint32_t node = (uint32_t)core / slots->cores_per_node;
    if (!allowed[node])
        return fc_fail(st, FC_INPUT, where, "core %lld is on node %u, which is not allowed", core, node);
    line_of_core[core] = lines->line;
    fc_map_put(mapping, slots, task, node, (uint32_t)core % slots->cores_per_node);
    return FC_OK;
}

static enum fc_code read_mapping(const struct fc_text *text, const struct fc_map_problem *problem,
                                 const struct fc_slots *slots, struct fc_arena *reading, struct fc_mapping *mapping,
                                 struct fc_status *st)
{
    struct fc_lines lines;
    uint32_t task = 0;
    uint64_t n_cores = (uint64_t)problem->net->n_nodes * slots->cores_per_node;
    long *line_of_core = fc_alloc(reading, n_cores, sizeof *line_of_core, st);
    bool *allowed = line_of_core ? fc_alloc(reading, problem->net->n_nodes, sizeof *allowed, st) : NULL;
    if (!allowed) return st->code;
    for (uint32_t i = 0; i < slots->n_nodes; i++) allowed[slots->node[i]] = true;
    for (fc_lines_start(&lines, text); fc_lines_next(&lines);) {
        const char *comment = memchr(lines.text, '#', lines.length), *at = lines.text, *word, *more;
        const char *end = comment ? comment : at + lines.length;
        size_t length, more_length;
        if (!fc_next_word(&at, end, &word, &length)) continue;
        if (fc_next_word(&at, end, &more, &more_length))
            return fc_fail(st, FC_INPUT, fc_lines_place(&lines),
                           "a second word '%.*s' (expected one core number a line)",
                           (int)(more_length < 40 ? more_length : 40), more);
        if (read_core(&lines, word, length, task++, slots, allowed, n_cores, line_of_core, mapping, st))
            return st->code;
    }
    if (task < mapping->n_tasks)
        return fc_fail(st, FC_INPUT, (struct fc_place){text->file, lines.line}, "the file ends after %u of %u tasks",
                       task, mapping->n_tasks);
    return FC_OK;
}

static enum fc_code from_file(const struct fc_map_problem *problem, const char *path, struct fc_mapping *mapping,
                              struct fc_status *st)
{
    struct fc_slots slots;
    struct fc_text text;
    struct fc_arena reading = {0};
    struct fc_map_problem any_core = *problem; /* a file may put several tasks on a node, whatever the traffic */
    any_core.spread = false;
    any_core.any_nodes = true;
    enum fc_code code = fc_map_start(&any_core, mapping, &slots, st);
    if (!code) code = fc_read_file(path, &reading, &text, st);
    if (!code) code = read_mapping(&text, problem, &slots, &reading, mapping, st);
    if (!code) mapping->strategy = fc_copy_text(&mapping->arena, path, st);
    fc_arena_free(&reading);
    return code || !mapping->strategy ? st->code : FC_OK;
}

enum fc_code fc_mapping_write(const struct fc_mapping *mapping, const char *path, struct fc_status *st)
{
    struct fc_output out;
    if (fc_output_open(&out, path, st)) return st->code;
    fprintf(out.stream, "# core of each task in order, by strategy %s: %u tasks\n", mapping->strategy,
            mapping->n_tasks);
    for (uint32_t t = 0; t < mapping->n_tasks; t++) fprintf(out.stream, "%u\n", mapping->core[t]);
    return fc_output_close(&out, st);
}

/* "slurm:FILE": the format, and where the file's name begins; NULL when it is none. */
static const struct fc_launcher_format *format_of(const char *text, const char **path)
{
    const char *colon = strchr(text, ':');
    char name[32];
    if (!colon || (size_t)(colon - text) >= sizeof name) return NULL;
    snprintf(name, sizeof name, "%.*s", (int)(colon - text), text);
    *path = colon + 1;
    return fc_launcher_find(name);
}

/* ---- by name
 * ---------------------------------------------------------------------------------------------------------------
 */

static enum fc_code unknown_strategy(const char *name, struct fc_status *st)
{
    const char *names[32];
    char known[300] = "";
    size_t n = 0;
    for (const struct fc_strategy_ops *const *s = fc_strategies; *s && n < FC_COUNT(names); s++) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", n ? ", " : "", (*s)->name);
        names[n++] = (*s)->name;
    }
    const char *near = fc_nearest(name, names, n);
    return fc_refuse(st, FC_INPUT, "'%.80s' is neither a strategy (%s%s%sknown: %s) nor a mapping file", name,
                     near ? "did you mean '" : "", near ? near : "", near ? "'? " : "", known);
}

/* The strategy of that name, perhaps with a colon and an argument behind it; or NULL. */
static const struct fc_strategy_ops *find_strategy(const char *text, const char **argument)
{
    size_t n = strcspn(text, ":");
    *argument = text[n] ? text + n + 1 : NULL;
    for (const struct fc_strategy_ops *const *s = fc_strategies; *s; s++)
        if (!strncmp((*s)->name, text, n) && (*s)->name[n] == 0) return *s;
    return NULL;
}

static enum fc_code by_strategy(const struct fc_strategy_ops *strategy, const char *text, const char *argument,
                                const struct fc_map_problem *problem, struct fc_mapping *mapping, struct fc_status *st)
{
    struct fc_map_problem with = *problem;
    with.argument = argument;
    if (argument && !strategy->argument && !strategy->option)
        return fc_refuse(st, FC_INPUT, "strategy %s takes nothing behind its name (got ':%.80s')", strategy->name,
                         argument);
    if (!argument && strategy->argument)
        return fc_refuse(st, FC_INPUT, "strategy %s needs %s", strategy->name, strategy->argument);
    for (uint32_t k = 0; strategy->searches && k < problem->net->machine->kinds.n; k++)
        if (problem->net->machine->kinds.kind[k].link_class >= 0)
            return fc_refuse(st, FC_INPUT,
                             "strategy %s is for nodes of one injection (expected node: without injection)",
                             strategy->name);
    if (strategy->map(&with, mapping, st)) return st->code;
    mapping->strategy = argument ? fc_copy_text(&mapping->arena, text, st) : strategy->name;
    return mapping->strategy ? FC_OK : st->code;
}

/* No node of fewer cores than others holds more tasks than it has. */
static enum fc_code check_cores(const struct fc_map_problem *problem, const struct fc_mapping *mapping,
                                struct fc_status *st)
{
    const struct fc_network *net = problem->net;
    for (uint32_t t = 0; net->node_kind && t < mapping->n_tasks; t++)
        if (mapping->core[t] % (uint32_t)net->machine->cores_per_node >= fc_node_cores(net, mapping->node[t]))
            return fc_refuse(st, FC_INPUT, "%.200s: task %u is on core %u of node %u, which has %lld",
                             mapping->strategy, t, mapping->core[t] % (uint32_t)net->machine->cores_per_node,
                             mapping->node[t], fc_node_cores(net, mapping->node[t]));
    return FC_OK;
}

enum fc_code fc_mapping_make(const struct fc_map_problem *problem, const char *name_or_file, struct fc_mapping *mapping,
                             struct fc_status *st)
{
    memset(mapping, 0, sizeof *mapping);
    const char *argument, *path;
    const struct fc_strategy_ops *strategy = find_strategy(name_or_file, &argument);
    const struct fc_launcher_format *format = strategy ? NULL : format_of(name_or_file, &path);
    enum fc_code code;
    if (strategy) {
        code = by_strategy(strategy, name_or_file, argument, problem, mapping, st);
    } else if (format) {
        code = fc_launch_read(problem, format, path, mapping, st);
    } else if (strpbrk(name_or_file, "/.") || access(name_or_file, F_OK) == 0) {
        code = from_file(problem, name_or_file, mapping, st);
    } else {
        code = unknown_strategy(name_or_file, st);
    }
    if (!code) code = check_cores(problem, mapping, st);
    if (code) fc_mapping_free(mapping);
    return code;
}
