/* option_table.c - every option of every command. A new one is a row here, a field in struct fc_arguments, and a rule in
 * option_rules.c that tells when it applies. */
#include "cli/options.h"

#include <math.h>

static void add_setting(struct fc_arguments *a, const char *value)
{
    a->ask.settings[a->ask.n_settings++] = value;
}
static void add_nodes(struct fc_arguments *a, const char *value)
{
    a->node_lists[a->n_node_lists++] = value;
}
/* Of several backgrounds each has the nodes that are given behind it. */
static void add_background(struct fc_arguments *a, const char *value)
{
    if (!value) return;
    struct fc_other_job *before = a->n_others ? &a->others[a->n_others - 1] : NULL;
    if (before) before->nodes = a->ask.background_nodes;
    if (before) a->ask.background_nodes = NULL;
    if (before) a->n_background_lists = 0;
    a->others[a->n_others++].background = value;
    a->ask.more = a->others;
    a->ask.n_more = (size_t)a->n_others - 1;
}
static void count_background_nodes(struct fc_arguments *a, const char *value)
{
    a->twice_on_nodes = a->twice_on_nodes || (value && a->n_background_lists++ > 0);
}
static void count_map(struct fc_arguments *a, const char *value)
{
    a->n_maps += value != NULL;
}
static void give_time(struct fc_arguments *a, const char *value)
{
    a->ask.search_given = value != NULL;
}

#define AT(field) offsetof(struct fc_arguments, field), sizeof(((struct fc_arguments *)0)->field)
#define FLAG(field) FC_OPTION_FLAG, AT(field), FC_NUMBER, 0, 0
#define TEXT(field) FC_OPTION_TEXT, AT(field), FC_NUMBER, 0, 0
#define WHOLE(field, low, high) FC_OPTION_INT, AT(field), FC_NUMBER, low, high
#define CYCLES(field) WHOLE(field, 1, 1e12)
#define QUANTITY(field, unit, low, high) FC_OPTION_QUANTITY, AT(field), unit, low, high

/* clang-format off: a row an option */
const struct fc_option fc_options[] = {
    {"machine", 'm', "NAME|FILE", FC_MACHINE, TEXT(ask.machine),
     .help = "the machine: a shipped name or a machine file"},
    {"set", 0, "KEY=VALUE", FC_MACHINE, TEXT(set),
     .help = "changes the machine: links.torus.bandwidth=350MB/s, network.dims=[8,8,4]; "
             "may be given several times",
     .also = add_setting},
    {"routing", 0, "NAME", FC_ROUTING, TEXT(ask.routing), .help = "routing instead of the machine file's"},
    {"without", 0, "LINK|SWITCH|HOST,...", FC_WITHOUT, TEXT(ask.without),
     .help = "what has failed, by the names that are printed; traffic takes the shortest ways left"},
    {"weakest", 0, "N", FC_FAILURES, WHOLE(weakest, 1, 1000),
     .help = "also the N cables whose failure costs this job most, each with its time without it"},
    {"from", 0, "osu|netpipe|fabricast", FC_BENCHMARKS, TEXT(from),
     .help = "whose tables the files are; fabricast: of its own benchmark, run by hand"},
    {"mpi", 0, "openmpi|mpich", FC_BENCHMARKS, TEXT(mpi), .help = "whose launcher it is (default: it is asked)"},
    {"time", 0, "SECONDS", FC_BENCHMARKS, QUANTITY(budget_s, FC_SECONDS, 1, 1e5),
     .help = "how long to measure; ends earlier when all is known to 1 % (default: 120)"},
    {"generate", 0, "NETWORK[:KEY=VALUE,...]", FC_DUMP, TEXT(generate),
     .help = "makes a machine file, -o NAME.yaml: hyperx:dims=10x10, slimfly:q=9 (`fabricast list generators`)",
     .part = FC_WRITES},
    {"import", 0, "slurm|ibnetdiscover|edges|opensm-routes|cray-xname|kubernetes", FC_DUMP, TEXT(import),
     .help = "makes a machine file, -o NAME.yaml, of a fabric's files, and tells what shape it has", .part = FC_WRITES},
    {"dump-network", 0, NULL, FC_DUMP, FLAG(dump_network), .help = "print every link"},

    {"pattern", 'p', "PATTERN", FC_PATTERN, TEXT(ask.pattern),
     .help = "traffic pattern, e.g. alltoall:bytes=4KiB (`fabricast list "
             "patterns`)"},
    {"graph", 'g', "FILE", FC_JOB, TEXT(ask.graph),
     .help = "communication graph: Matrix Market, Open MPI monitoring, dense .mat, METIS"},
    {"trace", 't', "FILE", FC_JOB, TEXT(ask.trace), .help = "a recorded trace"},
    {"collectives", 0, "RULES|hardware|OP=ALGORITHM,...", FC_JOB, TEXT(ask.collectives),
     .help = "rules (default: of the library that recorded the trace, else mpich) and fixed algorithms"},
    {"phase", 0, "N|N-M", FC_PHASE, TEXT(ask.phase),
     .help = "of the trace only phase N, or N to M (`trace info --phases` lists)"},
    {"phases", 0, NULL, FC_TRACES, FLAG(phases), .help = "info: also table the phases of the trace"},
    {"network", 0, "ideal|contention|queueing|flit", FC_REPLAY, TEXT(ask.network),
     .help = "the network that a trace is replayed on "
             "(default: contention)"},
    {"period", 0, "auto|check|off", FC_REPLAY, TEXT(ask.period),
     .help = "replay some periods of an iterative program (check: all too)"},
    {"sensitivity", 0, NULL, FC_WHY, FLAG(ask.sensitivity),
     .help =
         "what the time depends on: each parameter doubled, halved, and how much worse it may get (--time limits the work)"},
    {"loggops", 0, "L=..,o=..,g=..,G=..,O=..,S=..", FC_ENDS, TEXT(ask.loggops),
     .help = "end points, instead of the machine's"},
    {"flops-per-s", 0, "RATE,...", FC_SPEED, TEXT(ask.flops_per_s),
     .help = "operations/s of all ranks, or of each: traces that count "
             "operations (ti)"},
    {"compute", 0, "TIME", FC_SPEED, QUANTITY(ask.compute_s, FC_SECONDS, 0, INFINITY),
     .help = "computation before each phase (default 0)"},
    {"iterations", 0, "N", FC_TRACES, WHOLE(iterations, 1, 1e6), .help = "phases to generate (default 10)"},
    {"partial", 0, NULL, FC_TRACES, FLAG(partial),
     .help = "capture: keep also what a program did that fails or is killed"},
    {"format", 0, "fct|text|goal|ti|mtx", FC_TRACES, TEXT(format),
     .help = "convert: what to write (default: by the name of -o, else fct)"},
    {"text", 0, NULL, FC_TRACES, FLAG(text), .help = "write the readable form"},
    {"members", 0, "N", FC_FORMULAS, WHOLE(members, 1, 1 << 24), .help = "collectives: their times with N members"},
    {"bytes", 0, "BYTES", FC_FORMULAS, QUANTITY(bytes, FC_BYTES, 1, 1e15),
     .help = "collectives: vector, or block of a member "
             "(default: 8 B)"},

    {"map", 0, "MAP", FC_MAP, TEXT(ask.map),
     .help = "mapping: def, rnm, optimize, ... or a file (`fabricast list strategies`)", .also = count_map},
    {"versus", 0, "MAP", FC_VERSUS, TEXT(versus),
     .help = "the mapping to hold against --map (default: optimize; of dense traffic random)"},
    {"strategy", 0, "NAME", FC_LAUNCH, TEXT(ask.map),
     .help = "def, rnm, optimize, ..., a mapping file, FORMAT:FILE, or all: a table", .also = count_map},
    {"map", 0, "MAP", FC_LAUNCH, TEXT(ask.map), .help = "the same as --strategy", .also = count_map},
    {"compare", 0, NULL, FC_LAUNCH, FLAG(compare), .help = "the same as --strategy all"},
    {"format", 0, "NAME", FC_LAUNCH, TEXT(format),
     .help = "cores (default), slurm, rankfile, hostfile, ... (`fabricast list formats`)"},
    {"long-mapping", 0, NULL, FC_LAUNCH, FLAG(long_mapping),
     .help = "cray: also where the encoded mapping reaches the 1024 bytes of "
             "MPI_Init"},
    {"nodes", 0, "LIST", FC_NODES, TEXT(ask.nodes),
     .help = "0-31,64, hosts, coordinates, @FILE (default: all); predict compares several", .also = add_nodes},
    {"ranks-per-node", 0, "N", FC_NODES, WHOLE(ask.ranks_per_node, 1, 1 << 20),
     .help = "tasks on each node (default: the node's cores)"},
    {"hosts", 0, "LIST|@FILE", FC_NODES, TEXT(ask.hosts),
     .help = "host names of the machine's nodes in order, or of those of --nodes"},
    {"time", 0, "SECONDS", FC_SEARCH, QUANTITY(ask.search_s, FC_SECONDS, 0, INFINITY),
     .help = "search budget, e.g. 20s, of mappings and of load's programs (steps are "
             "counted, so results repeat)",
     .also = give_time},

    {"background", 0, "WHAT", FC_NODES, TEXT(ask.background),
     .help =
         "other jobs on the same links. At rates that this job does not "
         "change: PATTERN:LOAD (LOAD 0.3 flits/node/cycle, 30% of the busiest link, 50MB/s a node, or full: sources always have a "
         "packet), a graph FILE of bytes/s, or of bytes FILE:over=TIME, trace:FILE[:over=TIME], a job's mean rates (default: over "
         "its own time alone), or job:FILE, the job itself in the same replay (with -t): both slow each other down. Several times: "
         "all of them, at rates, each with the --background-nodes behind it",
     .also = add_background},
    {"background-nodes", 0, "LIST", FC_NODES, TEXT(ask.background_nodes),
     .help = "where it runs (default: patterns and graphs all "
             "nodes, traces those that --nodes leaves)",
     .also = count_background_nodes},

    {"queue", 0, "FILE", FC_WAITING, TEXT(queue),
     .help =
         "nodes and when they are free, lines of +MINUTES LIST: start now or later, on which of them? (docs/queue.md)"},
    {"repeat", 0, "N", FC_WAITING, WHOLE(repeat, 1, 1e12), .help = "the job is N times what was recorded (default 1)"},

    {"split", 0, "solver|uniform", FC_LINKS, TEXT(split),
     .help = "adaptive routing: as the solver finds (default), or uniform over "
             "minimal paths"},
    {"bound", 0, "lp|lp-minimal|cuts", FC_LINKS, TEXT(bound),
     .help = "the least busiest link of any routing, of minimal ones, by a linear "
             "program, or cuts only (default: the program where it is cheap and holds for the routing)"},
    {"worst-case", 0, NULL, FC_LINKS, FLAG(worst_case),
     .help = "instead of traffic: the permutation that the routing carries worst"},
    {"path-walk", 0, NULL, FC_LINKS, FLAG(path_walk), .help = "walk every path instead of the structural formulas"},

    {"graph", 'g', "FILE", FC_CURVES, TEXT(ask.graph),
     .help = "rates between nodes, as bytes in a communication graph: relative, the loads say how much"},
    {"load", 0, "LOAD", FC_OFFER, TEXT(run.load), .help = "offered flits/node/cycle, or 60% of the ideal throughput"},
    {"loads", 0, "FROM:TO:STEP", FC_CURVES, TEXT(loads), .help = "offered loads, or a list; also in %, as --load"},
    {"solver", 0, "flit|queueing|both", FC_CURVES, TEXT(solver),
     .help = "the kernel (default), the model, at once, or both"},
    {"per", 0, "node|injection|bisection", FC_CURVES, TEXT(per),
     .help =
         "several machines: loads in GB/s a node (default), or percent of a node's injection links, of the bisection"},
    {"pairs", 0, "A-B,...", FC_CURVES, TEXT(curve.pairs), .help = "the model's latency of these pairs of nodes"},
    {"by-hops", 0, NULL, FC_CURVES, FLAG(curve.by_hops), .help = "the model's latency by distance"},
    {"windows", 0, "N,...", FC_CURVES, TEXT(curve.windows),
     .help = "the model's throughput with N packets of a node on their way"},
    {"vc-rule", 0, "NAME", FC_CHANNELS, TEXT(run.vc_rule), .help = "virtual-channel rule (default: the machine's)"},
    {"engine", 0, "auto|event|cycle", FC_KERNEL, TEXT(run.engine), .help = "whole packets or flits (default: auto)"},
    {"packet-flits", 0, "N|N-M", FC_KERNEL, TEXT(run.packet_flits),
     .help = "packet lengths (default: the largest packet)"},
    {"precision", 0, "SHARE", FC_KERNEL, FC_OPTION_SHARE, AT(run.precision), FC_NUMBER, 1e-4, 0.5,
     .help =
         "open loop: until the 95% half widths of mean latency and accepted load are that share (curve: default 1%)"},
    {"max-cycles", 0, "CYCLES", FC_KERNEL, CYCLES(run.most_cycles), .help = "end the run there whatever happens"},
    {"allow-deadlock", 0, NULL, FC_KERNEL, FLAG(run.allow_deadlock), .help = "run also without deadlock certificate"},
    {"bubble-as-published", 0, NULL, FC_KERNEL, FLAG(run.bubble_as_published),
     .help = "true lengths on the bubble: can deadlock"},
    {"warmup", 0, "CYCLES", FC_MEASURE, CYCLES(run.warmup_cycles), .help = "before the measurement (default: chosen)"},
    {"measure", 0, "CYCLES", FC_MEASURE, CYCLES(run.measure_cycles),
     .help = "length of the measurement (default: chosen)"},
    {"interval", 0, "CYCLES", FC_FLITS, CYCLES(run.interval_cycles),
     .help = "also record throughput in intervals of this length"},
    {"backlog", 0, NULL, FC_FLITS, FLAG(run.backlog), .help = "every source always has a packet waiting: overload"},
    {"gap", 0, "CYCLES", FC_FLITS, QUANTITY(run.gap_cycles, FC_NUMBER, 0, 1e12),
     .help = "messages: least time between two packets of "
             "a node"},
    {"in-order", 0, NULL, FC_FLITS, FLAG(run.in_order), .help = "messages in their own order (default: random)"},
    {"high-priority", 0, "SHARE", FC_FLITS, TEXT(run.high_priority),
     .help = "part of the load that is of high priority, e.g. 5%"},
    {"budget", 0, "SECONDS", FC_BUDGET, QUANTITY(budget_s, FC_SECONDS, 1e-9, 1e6),
     .help = "work of the kernel, counted: CPU seconds of a nominal core (calibrate: default "
             "60), seconds of two of them (place: default 60)"},
    {"replays", 0, NULL, FC_CALIBRATION, FLAG(replays),
     .help =
         "make only the replays of an existing calibration anew (and what its phases take by their limit of mixing)"},
    {"measured", 0, "FILE", FC_CALIBRATION, TEXT(measured),
     .help =
         "instead: fit the end points to measured collectives, a table of nodes, collective, algorithm, total_bytes, median_us"},

    {"objective", 0, "hops|weighted|load|pareto", FC_LAYOUT, TEXT(objective),
     .help = "mean hops, the same by traffic, greatest load of "
             "a mesh link, or all (default: pareto)"},
    {"constraint", 0, "six-vc|lines|none", FC_LAYOUT, TEXT(constraint),
     .help = "against deadlock (default: six-vc; lines: a row for "
             "each dimension)"},
    {"pin", 0, "x-=N,...", FC_LAYOUT, TEXT(pin), .help = "interfaces that stay on these mesh nodes"},
    {"keep-free", 0, "LIST", FC_LAYOUT, TEXT(keep_free), .help = "mesh nodes that get no interface"},
    {"turns", 0, "dimension-order|orders|paths", FC_LAYOUT, TEXT(turns),
     .help = "the ways on a mesh, or means over all of them, for "
             "hops and loads (default: dimension-order)"},
    {"on-chip", 0, "SHARE", FC_LAYOUT, FC_OPTION_SHARE, AT(on_chip), FC_NUMBER, 0, 1e6,
     .help = "a core also sends this for each flit "
             "into the machine to cores of its chip, e.g. 30%"},
    {"milp", 0, NULL, FC_LAYOUT, FLAG(milp),
     .help = "also prove the best by an integer program (GLPK), in --time a program"},
    {"confirm", 0, NULL, FC_LAYOUT, FLAG(confirm),
     .help = "run the kernel on the front and on Table 1, with confidence intervals"},

    {"quick", 0, NULL, FC_FIGURES, FLAG(quick),
     .help = "smaller and shorter runs: all figures in minutes, with wider limits"},
    {"full", 0, NULL, FC_FIGURES, FLAG(full), .help = "runs as long as the papers' (default)"},
    {"into", 0, "FILE.md", FC_FIGURES, TEXT(into), .help = "also renew the summary between the marks of this page",
     .part = FC_WRITES},
    {"output", 'o', "DIR", FC_FIGURES, TEXT(output),
     .help = "draw into this directory (default: figures; with --json only where -o "
             "says)",
     .part = FC_WRITES},
    {"tier", 0, "same|own|theory", FC_TIERS, TEXT(tier),
     .help = "same (default): calibrations where all machines have one, their own or their family's, else none; "
             "own: each machine by what it has; theory: none"},
    {"plot", 0, "DIR", FC_PLOT, TEXT(plot), .help = "write plots (.tsv, .gp, .png) into this directory",
     .part = FC_WRITES},
    {"output", 'o', "FILE", FC_OUTPUT, TEXT(output), .help = "write here instead of standard output",
     .part = FC_WRITES},
    {"socket", 0, "PATH", FC_SOCKET, TEXT(socket),
     .help = "listen at this Unix socket, which only its user may open (made with mode 600)", .part = FC_WRITES},
    {"json", 0, NULL, FC_COMMON, FLAG(json), .help = "JSON instead of text", .part = FC_BY_SWEEP},
    {"quiet", 'q', NULL, FC_COMMON, FLAG(quiet), .help = "no progress bar", .part = FC_BY_SWEEP},
    {"seed", 0, "N", FC_SEED, WHOLE(ask.seed, 0, 9e18), .help = "seed of everything random (default 1)"},
    {"threads", 0, "N", FC_THREADS, WHOLE(ask.threads, 1, 1024), .help = "threads (results do not depend on it)"},
};
/* clang-format on */
const size_t fc_n_options = FC_COUNT(fc_options);

#define G(group) (UINT64_C(1) << (group))
const struct fc_option_section fc_option_sections[] = {
    {"The machine", G(FC_MACHINE) | G(FC_ROUTING) | G(FC_WITHOUT) | G(FC_FAILURES) | G(FC_BENCHMARKS) | G(FC_DUMP)},
    {"The job", G(FC_PATTERN) | G(FC_JOB) | G(FC_PHASE) | G(FC_REPLAY) | G(FC_ENDS) | G(FC_WHY) | G(FC_SPEED) |
                    G(FC_TRACES) | G(FC_FORMULAS)},
    {"Where it runs", G(FC_MAP) | G(FC_VERSUS) | G(FC_LAUNCH) | G(FC_NODES) | G(FC_WAITING) | G(FC_SEARCH)},
    {"How it is worked out", G(FC_LINKS) | G(FC_OFFER) | G(FC_CURVES) | G(FC_TIERS) | G(FC_CHANNELS) | G(FC_KERNEL) |
                                 G(FC_MEASURE) | G(FC_FLITS) | G(FC_BUDGET) | G(FC_CALIBRATION) | G(FC_LAYOUT) |
                                 G(FC_SEED) | G(FC_THREADS)},
    {"Output", G(FC_FIGURES) | G(FC_PLOT) | G(FC_SOCKET) | G(FC_OUTPUT) | G(FC_COMMON)},
    {NULL, 0},
};
