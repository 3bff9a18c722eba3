/* option_rules.c - when an option applies: one table for all commands. An option that is given is applied, or refused with
 * the reason; none is passed over in silence.
 *
 * A row holds for some options of some commands; an option may have several rows, and all must agree. An option of a
 * command without any row is one that nobody has decided about: tests/test_options.c walks them all. The table is asked
 * before the command begins, again when the machine is known and again with the traffic (fc_check_options). */
#include "cli/arguments.h"
#include "cli/option_rules.h"
#include "mapping/mapping.h"
#include "models/deadlock/cdg.h"

#include <string.h>

struct facts {
    const struct fc_arguments *arguments;
    const struct fc_machine *machine; /* NULL: not known yet */
    const struct fc_demand *demand;   /* NULL: not known yet */
};
struct rule {
    const char *commands, *options;         /* names, apart at blanks */
    bool (*applies)(const struct facts *f); /* NULL: always. What is not known yet is no reason against */
    const char *beside;                     /* options of which one must be given too; "!x": x must not; NULL: any */
    const char *reason;                     /* why not (what was expected) */
};

static bool is(const char *text, const char *word)
{
    return text && !strcmp(text, word);
}

#define FACT(name, what)                                                                                               \
    static bool name(const struct facts *f)                                                                            \
    {                                                                                                                  \
        return what;                                                                                                   \
    }

/* ---- traffic ---- */

FACT(of_rates, !f->demand || f->demand->open_loop)
FACT(of_messages, !f->demand || !f->demand->open_loop)

/* ---- network models and mappings ---- */

FACT(not_ideal, !f->arguments->ask.trace || !is(f->arguments->ask.network, "ideal"))
FACT(ideal, is(f->arguments->ask.network, "ideal"))
FACT(one_list, f->arguments->n_node_lists < 2)
FACT(one_map, f->arguments->n_maps < 2)
FACT(one_background, f->arguments->n_others < 2)
FACT(one_list_each, !f->arguments->twice_on_nodes)
static bool no_job_beside(const struct facts *f)
{
    const char *background = f->arguments->ask.background;
    return !background || strncmp(background, "job:", 4);
}
FACT(no_period_of_two, no_job_beside(f) || is(f->arguments->ask.period, "off"))
FACT(several_machines, strchr(f->arguments->ask.machine ? f->arguments->ask.machine : "", ','))
FACT(not_kernel, !is(f->arguments->ask.network, "flit"))

/* Whether one of the mappings "def,optimize:..." is searched for. */
static bool some_search(const char *maps)
{
    for (const char *at = maps; at && *at; at += strcspn(at, ","), at += *at == ',')
        for (int i = 0; fc_strategies[i]; i++) {
            size_t n = strlen(fc_strategies[i]->name);
            if (fc_strategies[i]->searches && !strncmp(at, fc_strategies[i]->name, n) && strchr(",:", at[n]))
                return true;
        }
    return false;
}

/* One machine, mapping and list of nodes, and messages that meet on its links. */
static bool one_answer(const struct facts *f)
{
    const struct fc_arguments *a = f->arguments;
    return !(a->ask.machine && strchr(a->ask.machine, ',')) && !(a->ask.map && strchr(a->ask.map, ',')) && one_list(f);
}
FACT(contention, !f->arguments->ask.network || is(f->arguments->ask.network, "contention"))

static bool time_matters(const struct facts *f)
{
    return !f->arguments->ask.loggops || f->arguments->ask.sensitivity;
}

static bool searched(const struct facts *f)
{
    const struct fc_arguments *a = f->arguments;
    if (a->weakest) return true; /* the failures looked at */
    bool both = a->versus || (a->ask.map && strchr(a->ask.map, ','));
    if (a->worst_case || is(a->bound, "lp") || is(a->bound, "lp-minimal")) return true;
    if (is(a->command, "map") && (!a->ask.map || is(a->ask.map, "all"))) return true;
    if (is(a->command, "report") && !both) return true; /* against optimize */
    if (a->ask.sensitivity) return true;
    return some_search(a->ask.map) || some_search(a->versus);
}

/* ---- load ---- */

FACT(split_chosen, !f->machine || f->machine->routing->adaptive)

/* ---- runs of the kernel ---- */

FACT(kernel_runs, !is(f->arguments->solver, "queueing"))
FACT(model_asked, is(f->arguments->solver, "queueing") || is(f->arguments->solver, "both"))
FACT(no_model, !model_asked(f))

static bool bubble_rule(const struct facts *f)
{
    const char *name = f->arguments->run.vc_rule;
    if (!f->machine) return true;
    const struct fc_vc_rule_ops *rule = name ? NULL : fc_vc_rule_of(f->machine);
    if (!name) name = rule ? rule->name : "";
    return !strncmp(name, "bubble", 6);
}

/* ---- place, calibrate, map ---- */

FACT(to_file, f->arguments->measured || !is(f->arguments->output, "-"))
FACT(for_cray, is(f->arguments->format, "cray"))

/* ---- words ---- */

static const char *word(const struct facts *f)
{
    return f->arguments->n_words ? f->arguments->words[0] : "";
}
FACT(named, f->arguments->n_words || f->arguments->ask.machine)
FACT(some_file, f->arguments->n_words && !f->arguments->ask.machine && !f->arguments->generate)
static bool never(const struct facts *f)
{
    (void)f;
    return false;
}
FACT(no_machine, !named(f))
FACT(no_word, !f->arguments->n_words)
FACT(runs_some, f->arguments->program)
FACT(runs_none, !f->arguments->program)
FACT(no_json, !f->arguments->json)
FACT(of_collectives, is(word(f), "collectives"))
FACT(generates, is(word(f), "generate"))
FACT(captures, is(word(f), "capture"))
FACT(informs, is(word(f), "info"))
FACT(converts, is(word(f), "convert"))
FACT(reads, informs(f) || converts(f))
FACT(writes, generates(f) || converts(f))
FACT(takes_trace, generates(f) || (reads(f) && f->arguments->n_words < 2))
FACT(tables_phases, informs(f) && f->arguments->phases)

/* ---- the table ---- */

#define ALL                                                                                                            \
    "predict load map flit curve calibrate certify place report reproduce sweep serve measure machines list trace "    \
    "compare"
#define JOBS "predict load map flit report"

static const struct rule rules[] = {
    /* Everywhere the same. Answers without anything random do not depend on a seed, and none on threads. */
    {ALL, "seed threads quiet output", NULL, NULL, NULL},
    {"predict load map flit curve certify place report reproduce sweep measure machines list compare", "json", NULL,
     NULL, NULL},
    {"compare", "machine set routing plot map tier", NULL, NULL, NULL},
    {JOBS " curve calibrate certify place", "machine routing", NULL, NULL, NULL},
    {JOBS " curve certify place", "set", NULL, NULL, NULL},
    {JOBS " curve certify", "without", NULL, NULL, NULL},
    {JOBS, "pattern graph trace", NULL, NULL, NULL},
    {"predict load map flit curve place", "plot", NULL, NULL, NULL},

    /* Traffic. */
    {"load flit", "phase", NULL, "trace", "only a trace has phases (expected -t TRACE)"},
    {JOBS, "collectives", NULL, "trace", "only a trace has collective calls (expected -t TRACE)"},
    {"predict report", "sensitivity", no_job_beside, NULL,
     "two jobs in one replay (expected --background trace: and its mean rates)"},
    {"predict report", "sensitivity", not_kernel, NULL,
     "the kernel is too slow for many replays (expected --network ideal, contention or queueing)"},
    {"predict report", "period", NULL, "trace", "only a trace has periods (expected -t TRACE)"},
    {"predict report", "period", no_period_of_two, NULL,
     "two jobs in one replay have no common period (expected --background trace: and its mean rates)"},
    {"predict report", "flops-per-s", NULL, "trace", "only a trace has operations (expected -t TRACE)"},
    {"predict report", "network", NULL, "trace",
     "only a trace is replayed on a network model, other traffic is one phase with its contention (expected -t TRACE)"},
    {"predict", "loggops", NULL, "trace", "only a trace has end points that take time (expected -t TRACE)"},
    {"predict", "loggops", ideal, NULL,
     "L and G replace the network, so there is no contention (expected --network ideal)"},
    {"predict", "weakest", one_answer, NULL, "of one prediction (expected one machine, mapping and list of nodes)"},
    {"predict", "weakest", contention, NULL, "links are compared by their contention (leave out --network)"},
    {"predict", "queue", one_answer, NULL, "of one job (expected one machine and mapping)"},
    {"predict", "repeat", NULL, "queue", "the time is that of what was recorded (expected --queue)"},
    {"predict", "nodes weakest sensitivity plot loggops", NULL, "!queue",
     "--queue compares lists of nodes, those of its file (leave it out)"},
    {"predict", "routing map nodes ranks-per-node hosts", NULL, "!loggops",
     "under --loggops no node is another's neighbour (leave it out)"},
    {"predict", "time", time_matters, NULL, "under --loggops no node is another's neighbour (leave it out)"},
    {"predict report", "compute", NULL, "!trace", "a trace has its own computation (expected -p or -g)"},

    /* Where tasks are, and what runs beside them. */
    {JOBS, "map strategy", one_map, NULL,
     "given more than once (several are one list, --map A,B; --strategy is its other name)"},
    {JOBS, "nodes", NULL, NULL, NULL},
    {JOBS, "ranks-per-node", NULL, NULL, NULL},
    {"load map flit report", "nodes", one_list, NULL, "given more than once (only predict compares lists of nodes)"},
    {JOBS, "hosts", NULL, "nodes queue background-nodes without format",
     "names nodes for other options (expected --nodes, --queue, --background-nodes, --without or, of map, --format)"},
    {JOBS, "background", not_ideal, NULL,
     "on an ideal network no message meets another (expected --network contention, queueing or flit)"},
    {JOBS, "background-nodes", NULL, "background", "no background (expected --background)"},
    {JOBS, "background-nodes", one_list_each, NULL,
     "given twice for one background (expected one list behind each --background)"},
    {"compare", "map", one_map, NULL, "given more than once (expected one mapping for all)"},
    {JOBS " compare", "time", searched, NULL,
     "nothing is searched for (expected optimize or exact as mapping, of load --worst-case or --bound lp)"},
    {"map", "compare format", NULL, NULL, NULL},
    {"map", "long-mapping", for_cray, NULL, "only the file of --format cray has a limit"},
    {"report", "versus", NULL, NULL, NULL},

    /* load */
    {"load", "bound worst-case path-walk", NULL, NULL, NULL},
    {"load", "split", split_chosen, NULL, "the routing is not adaptive, its paths have fixed shares"},
    {"load", "split", NULL, "!path-walk", "--path-walk splits evenly over the paths (leave one of them out)"},
    {"load", "pattern graph trace", NULL, "!worst-case",
     "--worst-case finds the traffic itself (expected no -p, -g, -t)"},
    {"load", "phase collectives map nodes ranks-per-node hosts background background-nodes bound split path-walk", NULL,
     "!worst-case", "--worst-case is of the routing between all nodes (leave it out)"},
    {"load", "plot", NULL, "!worst-case", "the worst case is a permutation, without loads of all links"},

    /* flit, curve */
    {"flit curve", "vc-rule packet-flits allow-deadlock", NULL, NULL, NULL},
    {"flit curve", "bubble-as-published", bubble_rule, NULL,
     "only the bubble rules count lengths (expected --vc-rule bubble)"},
    {"flit", "engine max-cycles interval backlog", NULL, NULL, NULL},
    {"flit", "map nodes hosts time", of_messages, NULL, "open-loop traffic is between all nodes (leave it out)"},
    {"flit", "gap in-order", of_messages, NULL, "open-loop traffic is no set of messages (leave it out)"},
    {"flit", "background", one_background, NULL, "given more than once (expected one)"},
    {"flit", "background", of_rates, NULL,
     "beside a set of messages it is not run here (expected open-loop traffic, or `predict --network flit`)"},
    {"flit", "warmup measure", of_rates, NULL, "of a set of messages the whole run is measured (leave it out)"},
    {"flit", "precision", of_rates, NULL, "of a set of messages the time is exact (leave it out)"},
    {"flit curve", "precision", NULL, "!measure", "a measurement of given length ends with it (leave one of them out)"},
    {"flit", "precision", NULL, "!backlog", "overload has no mean latency (leave one of them out)"},
    {"flit", "high-priority", of_rates, NULL, "a set of messages has no rate to take a share of (leave it out)"},
    {"flit", "packet-flits", of_rates, NULL, "messages are cut as packet: of the machine says (leave it out)"},
    {"flit", "high-priority", NULL, "!background",
     "beside a background it cannot be counted apart (leave one of them out)"},
    {"flit", "background", NULL, "!backlog",
     "with --backlog sources always have a packet waiting, there is no place for others"},
    {"flit", "load high-priority", NULL, "!backlog",
     "with --backlog sources always have a packet waiting, there is no rate"},
    {"curve", "pattern graph loads solver", NULL, NULL, NULL},
    {"curve", "graph", no_model, NULL, "the model's error is not known for matrices (expected --solver flit)"},
    {"curve", "per", several_machines, "plot", "for a plot of several machines (expected -m A,B --plot DIR)"},
    {"curve", "engine warmup measure precision max-cycles bubble-as-published", kernel_runs, NULL,
     "for runs of the kernel (expected --solver flit or both)"},
    {"curve", "pairs by-hops windows", model_asked, NULL,
     "for the queueing model (expected --solver queueing or both)"},

    /* certify, calibrate, place, reproduce */
    {"certify", "vc-rule", NULL, NULL, NULL},
    {"calibrate", "measured", NULL, NULL, NULL},
    {"calibrate", "budget replays pattern vc-rule", NULL, "!measured",
     "--measured makes no runs of the kernel (leave it out)"},
    {"calibrate", "pattern", NULL, "!replays", "one at a time: --replays makes replays anew, -p adds a traffic"},
    {"calibrate", "set vc-rule", NULL, "measured output",
     "the file beside the machine is for the machine as it is (expected -o FILE)"},
    {"calibrate", "json", to_file, NULL, "the calibration itself goes to standard output (expected -o FILE)"},
    {"place", "objective constraint pin keep-free turns on-chip milp confirm load time", NULL, NULL, NULL},
    {"place", "budget warmup measure", NULL, "confirm", "for runs of the kernel (expected --confirm)"},
    {"reproduce", "full into", NULL, NULL, NULL},
    {"reproduce", "quick", NULL, "!full", "--full is the opposite (leave one of them out)"},

    /* serve, measure, machines, list */
    {"serve", "socket", NULL, NULL, NULL},
    {"serve", "json", never, NULL, "all answers are JSON (leave it out)"},
    {"measure", "machine set", NULL, NULL, NULL},
    {"measure", "from", runs_none, NULL, "files are read, or a benchmark is run (leave one of them out)"},
    {"measure", "mpi time", runs_some, NULL, "no benchmark is run (expected `measure -o FILE -- mpirun -n 4 ...`)"},
    {"machines", "machine", no_word, NULL, "a machine is named already (expected one name)"},
    {"machines", "set routing without dump-network", named, NULL, "no machine is named (expected `machines NAME`)"},
    {"machines", "generate", no_machine, NULL, "a machine is named already (expected one of them)"},
    {"machines", "import", some_file, NULL,
     "makes a machine of a fabric's files (expected `machines --import KIND FILE... -o NAME.yaml`)"},
    {"machines", "dump-network", no_json, NULL, "the links are a table of text (leave out --json)"},
    {"list", "members bytes loggops", of_collectives, NULL, "for `list collectives` only"},

    /* trace */
    {"trace", "json", informs, NULL, "only trace info prints an answer (expected trace info)"},
    {"trace", "machine set pattern graph iterations compute", generates, NULL, "only trace generate makes a trace"},
    {"trace", "trace", takes_trace, NULL, "the trace is named already, or none is read (expected `trace info FILE`)"},
    {"trace", "phases", informs, NULL, "only trace info has a table of phases"},
    {"trace", "collectives", tables_phases, NULL,
     "only trace info --phases takes it (convert expands by MPICH's rules)"},
    {"trace", "flops-per-s", reads, NULL, "only trace info and convert read a trace"},
    {"trace", "text", writes, NULL, "only trace convert and generate write a trace in a form of choice"},
    {"trace", "format", converts, NULL, "only trace convert chooses a format"},
    {"trace", "partial", captures, NULL, "only trace capture runs a program"},
};

static bool names(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = list; *at; at += strcspn(at, " "), at += *at == ' ')
        if (strcspn(at, " ") == n && !strncmp(at, name, n)) return true;
    return false;
}

static bool holds_for(const struct rule *r, const char *command, const char *option)
{
    return names(r->commands, command) && names(r->options, option);
}

static bool stands(const struct rule *r, const struct facts *f)
{
    if (r->applies && !r->applies(f)) return false;
    bool without = r->beside && *r->beside == '!', found = false;
    for (size_t g = 0; r->beside && g < f->arguments->n_given; g++)
        found = found || names(r->beside + without, f->arguments->given[g]);
    return !r->beside || found != without;
}

int fc_option_rules(const char *command, const char *option)
{
    int n = 0;
    for (size_t i = 0; i < FC_COUNT(rules); i++) n += holds_for(&rules[i], command, option);
    return n;
}

/* ---- arguments that are no options ---- */

static enum fc_code check_words(const struct fc_arguments *a, struct fc_status *st)
{
    const struct facts f = {a, NULL, NULL};
    bool trace = is(a->command, "trace");
    if (a->import) return FC_OK;
    int most = is(a->command, "machines") || is(a->command, "list") || (trace && !reads(&f)) ? 1 : 2;
    if (a->program && !(trace && captures(&f)) && !is(a->command, "measure"))
        return fc_refuse(st, FC_INPUT,
                         "--: a program is run by `trace capture` and `measure` only (leave out what follows --)");
    if ((trace || most == 1) && a->n_words > most)
        return fc_refuse(st, FC_INPUT, "unexpected argument '%s'", a->words[most]);
    return FC_OK;
}

enum fc_code fc_check_options(const struct fc_arguments *arguments, const struct fc_machine *machine,
                              const struct fc_demand *demand, struct fc_status *st)
{
    const struct facts f = {arguments, machine, demand};
    for (size_t g = 0; g < arguments->n_given; g++)
        for (size_t i = 0; i < FC_COUNT(rules); i++) {
            const struct rule *r = &rules[i];
            if (!holds_for(r, arguments->command, arguments->given[g]) || stands(r, &f)) continue;
            return fc_refuse(st, FC_INPUT, "--%s: %s", arguments->given[g], r->reason);
        }
    return check_words(arguments, st);
}
