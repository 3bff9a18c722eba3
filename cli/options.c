/* options.c - every option of every command in one table; argp parses and prints help. */
#include "cli/cli.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_ROUTING = 1000, KEY_NODES, KEY_BACKGROUND, KEY_NETWORK, KEY_LOGGOPS, KEY_SPLIT, KEY_JSON, KEY_SEED,
       KEY_THREADS, KEY_MAP, KEY_WALK, KEY_PLOT, KEY_TIME, KEY_TEXT, KEY_ITERATIONS, KEY_COMPUTE,
       KEY_VC_RULE, KEY_DUMP, KEY_LOAD, KEY_LOADS, KEY_SOLVER, KEY_WARMUP, KEY_MEASURE, KEY_HIGH, KEY_ENGINE,
       KEY_PACKET_FLITS, KEY_BACKLOG, KEY_INTERVAL, KEY_GAP, KEY_IN_ORDER, KEY_ALLOW_DEADLOCK, KEY_MOST_CYCLES,
       KEY_BUBBLE, KEY_PHASE, KEY_PHASES, KEY_BUDGET, KEY_PAIRS, KEY_BY_HOPS, KEY_WINDOWS,
       KEY_FORMAT, KEY_PARTIAL, KEY_FLOPS, KEY_COLLECTIVES, KEY_MEMBERS, KEY_BYTES, KEY_PERIOD, KEY_BACKGROUND_NODES,
       KEY_HOSTS, KEY_STRATEGY, KEY_COMPARE, KEY_LAUNCHER, KEY_LONG, KEY_BOUND, KEY_WORST, KEY_OBJECTIVE,
       KEY_CONSTRAINT, KEY_PIN, KEY_KEEP_FREE, KEY_TURNS, KEY_ON_CHIP, KEY_CONFIRM, KEY_MILP, KEY_REPLAYS,
       KEY_SET, KEY_VERSUS, KEY_QUICK, KEY_FULL, KEY_INTO };

/* `letter` is what a command's option string names. An option that writes files also stands in writes_files. */
static const struct entry {
    char letter;
    struct argp_option option;
} table[] = {
    {'m', {"machine", 'm', "NAME|FILE", 0, "the machine: a shipped name or a machine file", 0}},
    {'m', {"set", KEY_SET, "KEY=VALUE", 0, "changes the machine: links.torus.bandwidth=350MB/s, network.dims=[8,8,4]; may "
           "be given several times", 0}},
    {'p', {"pattern", 'p', "PATTERN", 0, "traffic pattern, e.g. alltoall:bytes=4KiB (`fabricast list patterns`)", 0}},
    {'g', {"graph", 'g', "FILE", 0, "communication graph: Matrix Market, Open MPI monitoring, dense .mat, METIS", 0}},
    {'t', {"trace", 't', "FILE", 0, "a recorded trace", 0}},
    {'H', {"phase", KEY_PHASE, "N|N-M", 0, "of the trace only phase N, or N to M (`trace info --phases` lists)", 0}},
    {'Y', {"phases", KEY_PHASES, NULL, 0, "info: also table the phases of the trace", 0}},
    {'V', {"period", KEY_PERIOD, "auto|check|off", 0, "replay some periods of an iterative program (check: all too)", 0}},
    {'M', {"map", KEY_MAP, "MAP", 0, "mapping: def, rnm, optimize, ... or a file (`fabricast list strategies`)", 0}},
    {'z', {"versus", KEY_VERSUS, "MAP", 0, "the mapping to hold against --map (default: optimize)", 0}},
    {'5', {"strategy", KEY_STRATEGY, "NAME", 0, "def, rnm, optimize, ..., a mapping file, FORMAT:FILE, or all: a table", 0}},
    {'6', {"compare", KEY_COMPARE, NULL, 0, "the same as --strategy all", 0}},
    {'n', {"nodes", KEY_NODES, "LIST", 0, "0-31,64, hosts, coordinates, @FILE (default: all); predict compares several", 0}},
    {'X', {"hosts", KEY_HOSTS, "LIST|@FILE", 0, "host names of the machine's nodes in order, or of those of --nodes", 0}},
    {'r', {"routing", KEY_ROUTING, "NAME", 0, "routing instead of the machine file's", 0}},
    {'b', {"background", KEY_BACKGROUND, "WHAT", 0, "other jobs on the same links. At rates that this job does not change: "
           "PATTERN:LOAD (LOAD 0.3 flits/node/cycle, 30% of the busiest link, 50MB/s a node, or full: sources "
           "always have a packet), a graph FILE of bytes/s, or of bytes FILE:over=TIME, trace:FILE[:over=TIME], a "
           "job's mean rates (default: over its own time alone), or job:FILE, the job itself in the same replay (with "
           "-t): both slow each other down", 0}},
    {'b', {"background-nodes", KEY_BACKGROUND_NODES, "LIST", 0, "where it runs (default: patterns and graphs all nodes, "
           "traces those that --nodes leaves)", 0}},
    {'N', {"network", KEY_NETWORK, "MODEL", 0, "ideal, contention (default), queueing or flit", 0}},
    {'L', {"loggops", KEY_LOGGOPS, "L=..,o=..,g=..,G=..,O=..,S=..", 0, "end points, instead of the machine's", 0}},
    {'K', {"collectives", KEY_COLLECTIVES, "mpich|openmpi|hardware|OP=ALGORITHM,...", 0, "rules (default: mpich) and fixed algorithms", 0}},
    {'k', {"members", KEY_MEMBERS, "N", 0, "collectives: their times with N members", 0}},
    {'y', {"bytes", KEY_BYTES, "BYTES", 0, "collectives: vector, or block of a member (default: 8 B)", 0}},
    {'S', {"split", KEY_SPLIT, "HOW", 0, "adaptive routing: solver (default) or uniform over minimal paths", 0}},
    {'7', {"bound", KEY_BOUND, "lp|lp-minimal|cuts", 0, "the least busiest link of any routing, of minimal ones, by a linear "
           "program, or cuts only (default: the program where it is cheap and holds for the routing)", 0}},
    {'8', {"worst-case", KEY_WORST, NULL, 0, "instead of traffic: the permutation that the routing carries worst", 0}},
    {'W', {"path-walk", KEY_WALK, NULL, 0, "walk every path instead of the structural formulas", 0}},
    {'v', {"vc-rule", KEY_VC_RULE, "NAME", 0, "virtual-channel rule (default: the machine's)", 0}},
    {'l', {"load", KEY_LOAD, "LOAD", 0, "offered flits/node/cycle, or 60% of the ideal throughput", 0}},
    {'A', {"loads", KEY_LOADS, "FROM:TO:STEP", 0, "offered loads, or a list; also in %, as --load", 0}},
    {'R', {"solver", KEY_SOLVER, "NAME", 0, "flit (default: the kernel), queueing (the model, at once) or both", 0}},
    {'1', {"pairs", KEY_PAIRS, "A-B,...", 0, "the model's latency of these pairs of nodes", 0}},
    {'2', {"by-hops", KEY_BY_HOPS, NULL, 0, "the model's latency by distance", 0}},
    {'3', {"windows", KEY_WINDOWS, "N,...", 0, "the model's throughput with N packets of a node on their way", 0}},
    {'E', {"engine", KEY_ENGINE, "NAME", 0, "auto (default), event (whole packets) or cycle (flits)", 0}},
    {'f', {"packet-flits", KEY_PACKET_FLITS, "N|N-M", 0, "packet lengths (default: the largest packet)", 0}},
    {'w', {"warmup", KEY_WARMUP, "CYCLES", 0, "before the measurement (default: chosen)", 0}},
    {'e', {"measure", KEY_MEASURE, "CYCLES", 0, "length of the measurement (default: chosen)", 0}},
    {'C', {"max-cycles", KEY_MOST_CYCLES, "CYCLES", 0, "end the run there whatever happens", 0}},
    {'I', {"interval", KEY_INTERVAL, "CYCLES", 0, "also record throughput in intervals of this length", 0}},
    {'B', {"backlog", KEY_BACKLOG, NULL, 0, "every source always has a packet waiting: overload", 0}},
    {'G', {"gap", KEY_GAP, "CYCLES", 0, "messages: least time between two packets of a node", 0}},
    {'O', {"in-order", KEY_IN_ORDER, NULL, 0, "messages in their own order (default: random)", 0}},
    {'h', {"high-priority", KEY_HIGH, "SHARE", 0, "part of the load that is of high priority, e.g. 5%", 0}},
    {'a', {"allow-deadlock", KEY_ALLOW_DEADLOCK, NULL, 0, "run also without deadlock certificate", 0}},
    {'u', {"bubble-as-published", KEY_BUBBLE, NULL, 0, "true lengths on the bubble: can deadlock", 0}},
    {'P', {"plot", KEY_PLOT, "DIR", 0, "write plots (.tsv, .gp, .png) into this directory", 0}},
    {'T', {"time", KEY_TIME, "SECONDS", 0, "search budget, e.g. 20s (steps are counted, so results repeat)", 0}},
    {'U', {"budget", KEY_BUDGET, "SECONDS", 0, "work of the kernel, in seconds of a nominal machine of two cores (default 60)", 0}},
    {'#', {"replays", KEY_REPLAYS, NULL, 0, "make only the replays of an existing calibration anew", 0}},
    {'x', {"text", KEY_TEXT, NULL, 0, "write the readable form", 0}},
    {'F', {"format", KEY_FORMAT, "NAME", 0, "convert: fct, text, goal, ti or mtx (default: by the name of -o, else fct)", 0}},
    {'4', {"partial", KEY_PARTIAL, NULL, 0, "capture: keep also what a program did that fails or is killed", 0}},
    {'Z', {"flops-per-s", KEY_FLOPS, "RATE,...", 0, "operations/s of all ranks, or of each: traces that count operations (ti)", 0}},
    {'Q', {"format", KEY_LAUNCHER, "NAME", 0, "cores (default), slurm, rankfile, hostfile, ... (`fabricast list formats`)", 0}},
    {'0', {"long-mapping", KEY_LONG, NULL, 0, "cray: also where the encoded mapping reaches the 1024 bytes of MPI_Init", 0}},
    {'i', {"iterations", KEY_ITERATIONS, "N", 0, "phases to generate (default 10)", 0}},
    {'c', {"compute", KEY_COMPUTE, "TIME", 0, "computation before each phase (default 0)", 0}},
    {'9', {"objective", KEY_OBJECTIVE, "NAME", 0, "hops, weighted (by traffic), load (greatest of a mesh link), pareto (default)", 0}},
    {'9', {"constraint", KEY_CONSTRAINT, "NAME", 0, "against deadlock: six-vc (default), lines (a row for each dimension), none", 0}},
    {'9', {"pin", KEY_PIN, "x-=N,...", 0, "interfaces that stay on these mesh nodes", 0}},
    {'9', {"keep-free", KEY_KEEP_FREE, "LIST", 0, "mesh nodes that get no interface", 0}},
    {'9', {"turns", KEY_TURNS, "NAME", 0, "dimension-order (default), orders or paths: means over all of them, for hops and loads", 0}},
    {'9', {"on-chip", KEY_ON_CHIP, "SHARE", 0, "a core also sends this for each flit into the machine to cores of its chip, e.g. 30%", 0}},
    {'9', {"milp", KEY_MILP, NULL, 0, "also prove the best by an integer program (GLPK), in --time a program", 0}},
    {'9', {"confirm", KEY_CONFIRM, NULL, 0, "run the kernel on the front and on Table 1, with confidence intervals", 0}},
    {'d', {"quick", KEY_QUICK, NULL, 0, "smaller and shorter runs: all figures in minutes, with wider limits", 0}},
    {'d', {"full", KEY_FULL, NULL, 0, "runs as long as the papers' (default)", 0}},
    {'d', {"into", KEY_INTO, "FILE.md", 0, "also renew the summary between the marks of this page", 0}},
    {'d', {"output", 'o', "DIR", 0, "draw into this directory (default: figures; with --json only where -o says)", 1}},
    {'D', {"dump-network", KEY_DUMP, NULL, 0, "print every link", 0}},
    {'s', {"seed", KEY_SEED, "N", 0, "seed of everything random (default 1)", 1}},
    {'j', {"threads", KEY_THREADS, "N", 0, "threads (results do not depend on it)", 1}},
    {'o', {"output", 'o', "FILE", 0, "write here instead of standard output", 1}},
    {'J', {"json", KEY_JSON, NULL, 0, "JSON instead of text", 1}},
    {'q', {"quiet", 'q', NULL, 0, "no progress bar", 1}},
};

static const long long most_cycles = 1000000000000;

struct parse {
    const struct fc_command *command;
    struct fc_arguments *arguments;
};

static long long whole(struct argp_state *state, const char *name, const char *text, long long low, long long high)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (*text == 0 || *end || errno || value < low || value > high)
        argp_error(state, "--%s: '%s' is not a whole number in %lld..%lld", name, text, low, high);
    return value;
}

static double seconds(struct argp_state *state, const char *name, const char *text)
{
    double value = 0;
    struct fc_status st = {0};
    if (fc_quantity(text, FC_SECONDS, 0, &value, (struct fc_place){0}, &st))
        argp_error(state, "--%s: %s", name, st.message);
    return value;
}

static double bytes(struct argp_state *state, const char *name, const char *text)
{
    double value = 0;
    struct fc_status st = {0};
    if (fc_quantity(text, FC_BYTES, 0, &value, (struct fc_place){0}, &st))
        argp_error(state, "--%s: %s", name, st.message);
    if (!(value > 0 && value <= 1e15)) argp_error(state, "--%s: '%s' is not above 0 and up to 1e15 bytes", name, text);
    return value;
}

static double cycles(struct argp_state *state, const char *name, const char *text)
{
    char *end;
    double value = strtod(text, &end);
    if (*text == 0 || *end || !(value >= 0 && value <= 1e12))
        argp_error(state, "--%s: '%s' is not a number of cycles in 0..1e12", name, text);
    return value;
}

/* "0.3" or "30%". */
static double share(struct argp_state *state, const char *name, const char *text)
{
    char *end;
    double value = strtod(text, &end);
    bool percent = end != text && !strcmp(end, "%");
    if (end == text || (*end && !percent) || !(value >= 0 && value <= 1e6))
        argp_error(state, "--%s: '%s' is no share (expected 0.3 or 30%%)", name, text);
    return percent ? value / 100 : value;
}

/* Those of runs of the kernel and of curves. */
static error_t parse_run_option(int key, char *value, struct argp_state *state)
{
    struct fc_arguments *a = ((struct parse *)state->input)->arguments;
    switch (key) {
    case KEY_LOAD: a->run.load = value; break;
    case KEY_LOADS: a->loads = value; break;
    case KEY_SOLVER: a->solver = value; break;
    case KEY_ENGINE: a->run.engine = value; break;
    case KEY_PACKET_FLITS: a->run.packet_flits = value; break;
    case KEY_HIGH: a->run.high_priority = value; break;
    case KEY_BACKLOG: a->run.backlog = true; break;
    case KEY_IN_ORDER: a->run.in_order = true; break;
    case KEY_ALLOW_DEADLOCK: a->run.allow_deadlock = true; break;
    case KEY_BUBBLE: a->run.bubble_as_published = true; break;
    case KEY_WARMUP: a->run.warmup_cycles = (uint64_t)whole(state, "warmup", value, 1, most_cycles); break;
    case KEY_MEASURE: a->run.measure_cycles = (uint64_t)whole(state, "measure", value, 1, most_cycles); break;
    case KEY_MOST_CYCLES: a->run.most_cycles = (uint64_t)whole(state, "max-cycles", value, 1, most_cycles); break;
    case KEY_INTERVAL: a->run.interval_cycles = (uint64_t)whole(state, "interval", value, 1, most_cycles); break;
    case KEY_GAP: a->run.gap_cycles = cycles(state, "gap", value); break;
    case KEY_PAIRS: a->curve.pairs = value; break;
    case KEY_WINDOWS: a->curve.windows = value; break;
    case KEY_BY_HOPS: a->curve.by_hops = true; break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static bool takes(const struct fc_command *command, const struct entry *e)
{
    return strchr(command->options, e->letter);
}

static void note_given(struct parse *p, int key)
{
    struct fc_arguments *a = p->arguments;
    for (size_t i = 0; i < FC_COUNT(table); i++) {
        if (table[i].option.key != key || !takes(p->command, &table[i])) continue;
        size_t k = 0;
        while (k < a->n_given && a->given[k] != table[i].option.name) k++;
        if (k == a->n_given) a->given[a->n_given++] = table[i].option.name;
        return;
    }
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct parse *p = state->input;
    struct fc_arguments *a = p->arguments;
    note_given(p, key);
    switch (key) {
    case 'm': a->ask.machine = value; break;
    case 'p': a->ask.pattern = value; break;
    case 'g': a->ask.graph = value; break;
    case 't': a->ask.trace = value; break;
    case KEY_SET: a->ask.settings[a->ask.n_settings++] = value; break;
    case 'o': a->output = value; break;
    case 'q': a->quiet = true; break;
    case KEY_PHASE: a->ask.phase = value; break;
    case KEY_PHASES: a->phases = true; break;
    case KEY_REPLAYS: a->replays = true; break;
    case KEY_STRATEGY: /* `map`'s name for --map */
    case KEY_MAP:
        a->ask.map = value;
        a->n_maps++;
        break;
    case KEY_NODES:
        a->ask.nodes = value;
        a->node_lists[a->n_node_lists++] = value;
        break;
    case KEY_VERSUS: a->versus = value; break;
    case KEY_HOSTS: a->ask.hosts = value; break;
    case KEY_COMPARE: a->compare = true; break;
    case KEY_LONG: a->long_mapping = true; break;
    case KEY_LAUNCHER: a->format = value; break;
    case KEY_ROUTING: a->ask.routing = value; break;
    case KEY_BACKGROUND: a->ask.background = value; break;
    case KEY_BACKGROUND_NODES: a->ask.background_nodes = value; break;
    case KEY_NETWORK: a->ask.network = value; break;
    case KEY_LOGGOPS: a->ask.loggops = value; break;
    case KEY_PERIOD: a->ask.period = value; break;
    case KEY_COLLECTIVES: a->ask.collectives = value; break;
    case KEY_MEMBERS: a->members = (double)whole(state, "members", value, 1, 1 << 24); break;
    case KEY_BYTES: a->bytes = bytes(state, "bytes", value); break;
    case KEY_SPLIT: a->split = value; break;
    case KEY_BOUND: a->bound = value; break;
    case KEY_WORST: a->worst_case = true; break;
    case KEY_WALK: a->path_walk = true; break;
    case KEY_VC_RULE: a->run.vc_rule = value; break;
    case KEY_PLOT: a->plot = value; break;
    case KEY_TEXT: a->text = true; break;
    case KEY_PARTIAL: a->partial = true; break;
    case KEY_FORMAT: a->format = value; break;
    case KEY_FLOPS: a->ask.flops_per_s = value; break;
    case KEY_DUMP: a->dump_network = true; break;
    case KEY_JSON: a->json = true; break;
    case KEY_OBJECTIVE: a->objective = value; break;
    case KEY_CONSTRAINT: a->constraint = value; break;
    case KEY_PIN: a->pin = value; break;
    case KEY_KEEP_FREE: a->keep_free = value; break;
    case KEY_TURNS: a->turns = value; break;
    case KEY_ON_CHIP: a->on_chip = share(state, "on-chip", value); break;
    case KEY_MILP: a->milp = true; break;
    case KEY_CONFIRM: a->confirm = true; break;
    case KEY_QUICK: a->quick = true; break;
    case KEY_FULL: a->full = true; break;
    case KEY_INTO: a->into = value; break;
    case KEY_TIME:
        a->ask.search_s = seconds(state, "time", value);
        a->ask.search_given = true;
        break;
    case KEY_BUDGET:
        a->budget_s = seconds(state, "budget", value);
        if (!(a->budget_s > 0 && a->budget_s <= 1e6))
            argp_error(state, "--budget: '%s' is not a time above 0 and up to 1e6 s", value);
        break;
    case KEY_COMPUTE: a->ask.compute_s = seconds(state, "compute", value); break;
    case KEY_SEED: a->ask.seed = (uint64_t)whole(state, "seed", value, 0, INT64_MAX); break;
    case KEY_THREADS: a->ask.threads = (int)whole(state, "threads", value, 1, 1024); break;
    case KEY_ITERATIONS: a->iterations = (int)whole(state, "iterations", value, 1, 1000000); break;
    case ARGP_KEY_ARG:
        if (!p->command->arguments) argp_error(state, "unexpected argument '%s'", value);
        a->words[a->n_words++] = value;
        break;
    default: return parse_run_option(key, value, state);
    }
    return 0;
}

static _Noreturn void no_memory(void)
{
    fprintf(stderr, "fabricast: out of memory: reading the command line\n");
    exit(FC_NO);
}

/* The options of a command, ended by zeros. */
static void list_options(const struct fc_command *command, struct argp_option options[FC_COUNT(table) + 1])
{
    size_t n = 0;
    for (size_t i = 0; i < FC_COUNT(table); i++)
        if (takes(command, &table[i])) options[n++] = table[i].option;
    options[n] = (struct argp_option){0};
}

void fc_parse_arguments(const struct fc_command *command, int argc, char **argv, struct fc_arguments *arguments)
{
    static struct argp_option options[FC_COUNT(table) + 1];
    static char name[64], doc[2048];
    memset(arguments, 0, sizeof *arguments);
    arguments->command = command->name;
    arguments->ask.seed = 1;
    arguments->ask.search_s = 2;
    arguments->ask.threads = 1;
    arguments->iterations = 10;
    list_options(command, options);
    snprintf(name, sizeof name, "fabricast %s", command->name);
    snprintf(doc, sizeof doc, "%s\vOf an option that is given twice the last one counts. An option that would have no part in "
                              "the answer is refused.%s%s", command->summary, command->example ? "\n\nExample:\n  " : "",
             command->example ? command->example : "");
    argv[0] = name;
    arguments->argc = argc;
    arguments->argv = argv;
    for (int i = 1; i < argc; i++) /* what follows -- is a command line of its own */
        if (!strcmp(argv[i], "--")) {
            arguments->program = argv + i + 1;
            argc = i;
            break;
        }
    arguments->words = calloc((size_t)argc + 1, sizeof *arguments->words);
    arguments->node_lists = calloc((size_t)argc + 1, sizeof *arguments->node_lists);
    arguments->ask.settings = calloc((size_t)argc + 1, sizeof *arguments->ask.settings);
    arguments->given = calloc(FC_COUNT(table), sizeof *arguments->given);
    if (!arguments->words || !arguments->node_lists || !arguments->ask.settings || !arguments->given) no_memory();
    struct argp argp = {options, parse_option, command->arguments, doc, NULL, NULL, NULL};
    struct parse parse = {command, arguments};
    argp_err_exit_status = FC_INPUT;
    FILE *errors = stderr, *shown = fc_text_errors(); /* argp quotes what was typed */
    if (shown) stderr = shown;
    error_t failed = argp_parse(&argp, argc, argv, 0, NULL, &parse);
    stderr = errors;
    if (shown) fclose(shown);
    if (failed) no_memory();
}

void fc_free_arguments(struct fc_arguments *arguments)
{
    free(arguments->words);
    free(arguments->node_lists);
    free(arguments->ask.settings);
    free(arguments->given);
}

const char *fc_option_name(const struct fc_command *command, size_t i, bool *valued)
{
    for (size_t k = 0; k < FC_COUNT(table); k++)
        if (takes(command, &table[k]) && i-- == 0) {
            *valued = table[k].option.arg != NULL;
            return table[k].option.name;
        }
    return NULL;
}

/* ---- in a sweep ---- */

static bool writes_files(int key) { return key == 'o' || key == KEY_PLOT || key == KEY_INTO; }

static bool set_by_the_sweep(int key) { return key == KEY_JSON || key == 'q'; }

struct swept {
    const struct fc_command *command;
    const struct argp_option *refused; /* the first one; NULL: none */
    const char *verb;                  /* the first word that is no option */
    int next;                          /* the word that is looked at next */
};

static error_t look_at(int key, char *value, struct argp_state *state)
{
    struct swept *s = state->input;
    if (key == ARGP_KEY_ARG) {
        s->next = state->next;
        if (!s->verb) s->verb = value;
        return 0;
    }
    for (size_t i = 0; i < FC_COUNT(table); i++)
        if (table[i].option.key == key && takes(s->command, &table[i])) {
            s->next = state->next;
            if (!s->refused && (writes_files(key) || set_by_the_sweep(key))) s->refused = &table[i].option;
            return 0;
        }
    return ARGP_ERR_UNKNOWN;
}

enum fc_code fc_check_swept(const struct fc_command *command, int n_words, const char *const *words, struct fc_status *st)
{
    struct argp_option options[FC_COUNT(table) + 1];
    struct argp argp = {.options = options, .parser = look_at, .args_doc = command->arguments};
    struct swept s = {.command = command, .next = 1};
    char *copy[n_words + 1]; /* argp wants them writable */
    for (int i = 0; i <= n_words; i++) copy[i] = i < n_words ? (char *)words[i] : NULL;
    list_options(command, options);
    if (argp_parse(&argp, n_words, copy, ARGP_IN_ORDER | ARGP_NO_ERRS | ARGP_NO_HELP | ARGP_NO_EXIT, NULL, &s))
        return fc_refuse(st, FC_INPUT, "'%s': %s has no such option, or it lacks its value",
                         words[s.next < n_words ? s.next : n_words - 1], command->name);
    if (s.refused && writes_files(s.refused->key))
        return fc_refuse(st, FC_INPUT, "--%s writes files, and points would write over each other's (a sweep's points only "
                         "answer; its own -o takes the table of them)", s.refused->name);
    if (s.refused) return fc_refuse(st, FC_INPUT, "--%s is set by the sweep itself", s.refused->name);
    if (*command->swept && (!s.verb || strcmp(s.verb, command->swept)))
        return fc_refuse(st, FC_INPUT, "`%s%s%s` does not only answer (in a sweep: `%s %s`)", command->name, s.verb ? " " : "",
                         s.verb ? s.verb : "", command->name, command->swept);
    for (int i = 1; i < n_words; i++)
        if (!strcmp(words[i], "--"))
            return fc_refuse(st, FC_INPUT, "'--': another program's command line, and a sweep runs none");
    return FC_OK;
}
