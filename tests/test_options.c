/* test_options.c - every option of every command, from the program's own table: in each situation it is applied (the answer
 * differs) or refused by a message that names it; what stays the same stands in a list here, with the reason. An option
 * without a rule, without a value here, or that is applied nowhere, fails. The command lines run in this process. */
#include "cli/command.h"
#include "cli/option_rules.h"
#include "cli/options.h"
#include "reproduce/reproduce.h"
#include "tests/options_files.h"
#include "tests/tests.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- what is walked ---- */

static const struct {
    const char *command, *line; /* of the command, without its name */
} situations[] = {
    {"predict", "-m small.yaml -p stencil2d:grid=2x4,bytes=64KiB --json"},
    {"predict", "-m small.yaml -g graph.mtx --json"},
    {"predict", "-m small.yaml -g graph.mtx --map optimize --nodes 0-3 --hosts a,b,c,d --time 1us"},
    {"predict", "-m small.yaml -t ring.txt"},
    {"predict", "-m small.yaml -t ops.txt --background uniform:0.05 --json"},
    {"predict", "-m small.yaml -t ring.txt --queue queue.txt --json"},
    {"predict", "-m small.yaml -t ring.txt --network ideal --json"},
    {"predict", "-m small.yaml -t ring.txt --network flit --json"},
    {"predict", "-m small.yaml -t ring.txt --network ideal --json --loggops L=2us,o=1us,g=1us,G=1ns/B,O=0,S=65535"},
    {"load", "-m small.yaml -p uniform --json"},
    {"load", "-m small.yaml -p stencil2d:grid=4x4,bytes=1KiB --routing adaptive --map def --json"},
    {"load", "-m small.yaml -g graph.mtx --map optimize --time 1us"},
    {"load", "-m small.yaml -t ring.txt --background uniform:0.2 --json"},
    {"load", "-m small.yaml --worst-case"},
    {"map", "-m small.yaml -p stencil2d:grid=2x2,bytes=1KiB --time 1us --json"},
    {"map", "-m small.yaml -g graph.mtx --strategy def --json"},
    {"map", "-m small.yaml -t ring.txt --background uniform:0.05 --strategy def"},
    {"map", "-m small.yaml -g graph.mtx --strategy def --format cray -o ranks --json"},
    {"map", "-m small.yaml -g graph.mtx --strategy optimize --time 1us --json"},
    {"flit", "-m small.yaml -p uniform --load 20% --warmup 200 --measure 300 --json"},
    {"flit", "-m small.yaml -p uniform --backlog --warmup 200 --measure 300"},
    {"flit", "-m small.yaml -p alltoall:bytes=512 --json"},
    {"flit", "-m small.yaml -g graph.mtx --map optimize --time 1us --json"},
    {"flit", "-m small.yaml -t ring.txt --json"},
    {"flit", "-m small.yaml -p uniform --load 20% --warmup 200 --measure 300 --background uniform:0.05 --json"},
    {"flit",
     "-m small.yaml -p uniform --load 90% --warmup 200 --measure 900 --vc-rule bubble --packet-flits 1-8 --json"},
    {"curve", "-m small.yaml -p uniform --loads 20% --warmup 200 --measure 300"},
    {"curve", "-m small.yaml -p uniform --loads 20% --solver queueing --json"},
    {"curve",
     "-m small.yaml -p uniform --loads 90% --solver both --vc-rule bubble --packet-flits 1-8 --warmup 200 --measure 500 --json"},
    {"curve", "-m small.yaml,small.yaml -p uniform --loads 20% --solver queueing"},
    {"curve", "-m small.yaml -g eight.mtx --loads 20% --warmup 200 --measure 300"},
    {"compare", "set.jobs -m small.yaml,third.yaml --set cost.switch=5"},
    {"certify", "-m small.yaml"},
    {"place", "-m chip.yaml --objective load --time 1us"},
    {"report", "-m small.yaml -p stencil2d:grid=2x4,bytes=64KiB -o page.html --time 1us"},
    {"report", "-m small.yaml -t ring.txt -o page.html --background uniform:0.2 --map def --versus greedy --json"},
    {"report", "-m small.yaml -g graph.mtx -o page.html --background uniform:0.2 --map def --versus greedy --json"},
    {"report", "-m small.yaml -t ops.txt -o page.html --map def,optimize --time 1us --json"},
    {"reproduce", "percs-table1 --json"},
    {"measure", "--from osu lat.txt -m small.yaml"},
    {"machines", ""},
    {"machines", "small.yaml"},
    {"machines", "-m small.yaml --json"},
    {"list", ""},
    {"list", "collectives --members 4 --loggops L=1us,o=1us,g=1us,G=1ns/B"},
    {"list", "patterns --json"},
    {"trace", "info ring.txt --phases"},
    {"trace", "info -t ops.txt --json"},
    {"trace", "convert ring.txt -o -"},
    {"trace", "convert ops.txt -o - --text"},
    {"trace", "generate -m third.yaml -p hotspot -o - --text"},
    {"trace", "generate -m third.yaml -g graph.mtx -o - --text"},
};

/* What each option is given; `command` NULL: every command that has no row of its own. */
static const struct {
    const char *option, *command, *value;
} values[] = {
    {"machine", "place", "chip2.yaml"},
    {"machine", "trace", "small.yaml"},
    {"machine", "measure", "chip.yaml"},
    {"machine", NULL, "other.yaml"},
    {"set", "place", "links.mesh.bandwidth=4GB/s"},
    {"set", "certify", "router.vcs=1"},
    {"set", "trace", "network.dims=[3,2]"},
    {"set", NULL, "links.torus.bandwidth=2GB/s"},
    {"pattern", "curve", "complement"},
    {"pattern", "map", "stencil2d:grid=2x4,bytes=4KiB"},
    {"pattern", "report", "stencil2d:grid=4x2,bytes=4KiB"},
    {"pattern", NULL, "tornado:bytes=64"},
    {"graph", "curve", "eights.mtx"},
    {"tier", NULL, "theory"},
    {"graph", NULL, "other.mtx"},
    {"trace", NULL, "again.txt"},
    {"phase", NULL, "0"},
    {"period", NULL, "auto"},
    {"map", "map", "optimize"},
    {"map", NULL, "random"},
    {"versus", NULL, "random"},
    {"strategy", NULL, "optimize"},
    {"nodes", NULL, "0,2,1,3,4,5,6,7"},
    {"ranks-per-node", NULL, "1"},
    {"hosts", NULL, "a,b,c,d,e,f,g,h"},
    {"routing", NULL, "valiant"},
    {"without", NULL, "(0,0)->(1,0)"},
    {"from", NULL, "osu"},
    {"weakest", NULL, "2"},
    {"queue", NULL, "later.txt"},
    {"repeat", NULL, "3"},
    {"time", "measure", "3s"},
    {"set", "measure", "links.torus.latency=3us"},
    {"generate", NULL, "hyperx:dims=3,nodes=1"},
    {"import", NULL, "edges"},
    {"background", "flit", "uniform:0.02"},
    {"background", NULL, "uniform:40%"},
    {"background-nodes", NULL, "2-7"},
    {"network", NULL, "queueing"},
    {"loggops", "list", "L=2us,o=1us,g=1us,G=1ns/B"},
    {"loggops", NULL, "L=9us,o=1us,g=1us,G=1ns/B,O=0,S=65535"},
    {"collectives", NULL, "bcast=chain"},
    {"members", NULL, "8"},
    {"bytes", NULL, "64KiB"},
    {"split", NULL, "uniform"},
    {"bound", NULL, "lp"},
    {"vc-rule", NULL, "direction-ordered"},
    {"load", "place", "30%"},
    {"load", NULL, "10%"},
    {"loads", NULL, "10%"},
    {"solver", NULL, "both"},
    {"pairs", NULL, "0-1"},
    {"windows", NULL, "4"},
    {"engine", NULL, "cycle"},
    {"packet-flits", NULL, "2"},
    {"warmup", NULL, "250"},
    {"measure", NULL, "350"},
    {"max-cycles", NULL, "400"},
    {"interval", NULL, "50"},
    {"per", NULL, "bisection"},
    {"gap", NULL, "90"},
    {"high-priority", NULL, "10%"},
    {"plot", NULL, "plots"},
    {"time", NULL, "20us"},
    {"budget", NULL, "2ms"},
    {"format", "map", "json"},
    {"format", "trace", "goal"},
    {"flops-per-s", NULL, "2e9"},
    {"iterations", NULL, "3"},
    {"compute", NULL, "3s"},
    {"objective", NULL, "weighted"},
    {"constraint", NULL, "none"},
    {"pin", NULL, "x-=5"},
    {"keep-free", NULL, "0"},
    {"turns", NULL, "orders"},
    {"on-chip", NULL, "30%"},
    {"into", NULL, "page.md"},
    {"seed", NULL, "7"},
    {"threads", NULL, "2"},
    {"output", "report", "other.html"},
    {"output", "reproduce", "drawn"},
    {"output", NULL, "out"},
};

/* What need not change an answer, and why; `command` NULL: of any. */
static const struct {
    const char *command, *option, *because;
    bool never;        /* in no situation here */
    const char *where; /* part of the situation's line; NULL: any */
} same[] = {
    {NULL, "seed", "where nothing is random", true, NULL},
    {NULL, "threads", "an answer does not depend on them", true, NULL},
    {NULL, "quiet", "there is no bar where standard error is no terminal", true, NULL},
    {NULL, "allow-deadlock", "the rule is free of deadlock", true, NULL},
    {"measure", "from", "the file is of one program only", true, NULL},
    {"curve", "per", "what the picture is drawn over; the text has all of them", true, NULL},
    {"machines", "generate", "it writes a file, which -o must name", true, NULL},
    {"machines", "import", "the file is a fabric's, which no other option takes", true, NULL},
    {NULL, "time", "a search may find nothing better, a proof end sooner", true, NULL},
    {NULL, "period", "the trace has none; the reason is told in text only", false, "-t "},
    {NULL, "collectives", "no such collective in the trace", false, "-t "},
    {NULL, "hosts", "names for --nodes, which numbers them", true, NULL},
    {NULL, "ranks-per-node", "of symmetric traffic, or of one task a node", false, NULL},
    {NULL, "nodes", "of symmetric traffic, or of ranks that share a node", false, NULL},
    {"predict", "network", "without contention the models agree", false, "-t "},
    {"load", "path-walk", "the oracle of the formulas: the same loads", false, NULL},
    {"load", "bound", "the program's bound is the default where it is cheap", false, NULL},
    {"load", "worst-case", "a situation of its own", true, NULL},
    {"map", "compare", "the default", true, NULL},
    {"map", "long-mapping", "the mapping is short", true, NULL},
    {"flit", "max-cycles", "the run ends before", false, "-p alltoall"},
    {"flit", "in-order", "a task has one partner", false, "graph.mtx"},
    {"curve", "bubble-as-published", "no ring fills up", true, NULL},
    {"flit", "bubble-as-published", "no ring fills up", true, NULL},
    {"curve", "solver", "the default of the situation", false, "--solver both"},
    {"place", "milp", "the proof stands where the program ends in time", false, NULL},
    {"place", "budget", "of the runs of --confirm", true, NULL},
    {"place", "warmup", "of the runs of --confirm", true, NULL},
    {"place", "measure", "of the runs of --confirm", true, NULL},
    {"reproduce", "quick", "closed forms are not run", false, NULL},
    {"reproduce", "full", "the default", true, NULL},
    {"reproduce", "json", "text would be drawn, seconds a run", true, NULL},
    {"predict", "set", "with --loggops only software.compute_scale counts of the machine", false, "--loggops"},
    {"trace", "machine", "a graph's tasks are its own", false, "graph.mtx"},
    {"trace", "set", "a graph's tasks are its own", false, "graph.mtx"},
};

/* Commands whose runs take seconds or start others; their rules are checked, their runs are tests of their own. */
static const char *const not_run[] = {"calibrate", "sweep", "serve"};
/* Options that start programs, or runs of the kernel that take seconds. */
static const char *const not_given[] = {"partial", "confirm", "mpi", "precision"};

/* ---- runs ---- */

struct run {
    char line[600];
    const struct fc_command *command;
    size_t situation;
    const char *option, *value; /* NULL: the situation itself */
    bool empty;                 /* the option's value is "" */
    bool made;                  /* the file or folder that the option names */
    int status;
    char *out, *err;
};
static struct {
    struct run *run;
    size_t n;
    unsigned failures;
} walk;

static const struct fc_command *command_named(const char *name)
{
    for (size_t i = 0; fc_commands[i]; i++)
        if (!strcmp(fc_commands[i]->name, name)) return fc_commands[i];
    return NULL;
}

static struct run *add_run(size_t situation, const char *option)
{
    walk.run = realloc(walk.run, (walk.n + 1) * sizeof *walk.run);
    struct run *r = &walk.run[walk.n++];
    *r =
        (struct run){.situation = situation, .option = option, .command = command_named(situations[situation].command)};
    snprintf(r->line, sizeof r->line, "%s", situations[situation].line);
    return r;
}

static void fail(const char *what, const struct run *r)
{
    walk.failures++;
    printf("\n    %s: %s %s\n", what, r->command->name, r->line);
    if (r->err && *r->err) printf("      exit %d: %s", r->status, r->err);
}

/* Its words; the option's value "" last. */
static int split(const struct run *r, char *line, size_t size, char **argv, int most)
{
    static char nothing[] = "";
    int argc = 0;
    snprintf(line, size, "%s %s", r->command->name, r->line);
    for (char *word = strtok(line, " "); word && argc < most - 2; word = strtok(NULL, " ")) argv[argc++] = word;
    if (r->empty) argv[argc++] = nothing;
    argv[argc] = NULL;
    return argc;
}

static char *content(int file)
{
    off_t size = lseek(file, 0, SEEK_END);
    char *text = calloc((size_t)size + 1, 1);
    if (!text || pread(file, text, (size_t)size, 0) != size) CU_FAIL("what a command printed cannot be read");
    return text;
}

/* In this process, with standard output and error in files. A wrong number ends the process (argp): in a child. */
static void run_one(struct run *r)
{
    char line[700], *argv[64];
    int argc = split(r, line, sizeof line, argv, FC_COUNT(argv)), kept[2], file[2], status = -1;
    fflush(NULL);
    for (int i = 0; i < 2; i++) {
        kept[i] = dup(1 + i);
        file[i] = memfd_create("printed", 0);
        dup2(file[i], 1 + i);
    }
    if (!r->empty)
        r->status = fc_run_command(r->command, argc, argv);
    else if (fork() == 0)
        _exit(fc_run_command(r->command, argc, argv));
    else if (wait(&status) > 0)
        r->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    fflush(NULL);
    for (int i = 0; i < 2; i++) {
        dup2(kept[i], 1 + i);
        close(kept[i]);
    }
    r->out = content(file[0]);
    r->err = content(file[1]);
    for (int i = 0; i < 2; i++) close(file[i]);
    const char *made = !r->option                     ? NULL
                       : !strcmp(r->option, "plot")   ? "plots"
                       : !strcmp(r->option, "output") ? r->value
                                                      : NULL;
    struct stat page;
    r->made = made && access(made, F_OK) == 0;
    if (r->option && !strcmp(r->option, "into")) r->made = stat("page.md", &page) == 0 && page.st_size > 200;
}

/* ---- what is expected ---- */

static const char *value_of(const char *command, const char *option)
{
    for (int own = 1; own >= 0; own--)
        for (size_t i = 0; i < FC_COUNT(values); i++)
            if (!strcmp(values[i].option, option) &&
                (own ? values[i].command && !strcmp(values[i].command, command) : !values[i].command))
                return values[i].value;
    return NULL;
}

/* In the situation of that line; NULL: in all. */
static bool may_be_same(const char *command, const char *option, const char *line)
{
    for (size_t i = 0; i < FC_COUNT(same); i++)
        if ((!same[i].command || !strcmp(same[i].command, command)) && !strcmp(same[i].option, option))
            if (line ? !same[i].where || strstr(line, same[i].where) : same[i].never) return true;
    return false;
}

static bool listed(const char *const *list, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(list[i], name)) return true;
    return false;
}

/* Whether the message names an option of the command line, by its name or letter: of two that contradict each other one. */
static bool names_an_option(const char *err, const char *line)
{
    static const struct {
        const char *letter, *name;
    } letters[] = {{"-m", "--machine"}, {"-p", "--pattern"}, {"-g", "--graph"},
                   {"-t", "--trace"},   {"-o", "--output"},  {"--strategy", "--map"}};
    for (const char *at = strchr(line, '-'); at; at = strstr(at, " -"), at += at != NULL) {
        char name[2][64];
        size_t n = strcspn(at, " ");
        snprintf(name[0], sizeof name[0], "%.*s", (int)n, at);
        snprintf(name[1], sizeof name[1], "%s", name[0]);
        for (size_t i = 0; i < FC_COUNT(letters); i++) {
            if (!strcmp(name[0], letters[i].letter)) snprintf(name[1], sizeof name[1], "%s", letters[i].name);
            if (!strcmp(name[0], letters[i].name)) snprintf(name[1], sizeof name[1], "%s", letters[i].letter);
        }
        for (int i = 0; i < 2; i++)
            for (const char *found = err; *name[i] && (found = strstr(found, name[i])); found++)
                if (!strchr("abcdefghijklmnopqrstuvwxyz-", found[strlen(name[i])]) &&
                    (found == err || found[-1] != '-'))
                    return true;
    }
    return false;
}

/* Lines that tell how long something took. */
static bool is_clock(const char *line, size_t length)
{
    static const char *const keys[] = {"\"elapsed_s\"",      "\"cpu_s\"", "\"flit_hops_per_cpu_s\"",
                                       "\"peak_rss_bytes\"", "hops/s",    "spent"};
    for (size_t i = 0; i < FC_COUNT(keys); i++)
        if (memmem(line, length, keys[i], strlen(keys[i]))) return true;
    return false;
}

static bool same_text(const char *a, const char *b)
{
    while (*a || *b) {
        size_t n = strcspn(a, "\n"), k = strcspn(b, "\n");
        bool clocks = is_clock(a, n) && is_clock(b, k);
        if (!clocks && (n != k || memcmp(a, b, n))) return false;
        a += n + (a[n] == '\n');
        b += k + (b[k] == '\n');
    }
    return true;
}

enum verdict { APPLIED, SAME, REFUSED, WRONG };

static enum verdict judge(const struct run *base, const struct run *r)
{
    bool refused = r->status == FC_INPUT || (r->status == FC_NO && !*r->out);
    if (r->status > FC_INPUT) return WRONG;
    if (refused) return names_an_option(r->err, r->line) ? REFUSED : WRONG;
    return same_text(base->out, r->out) && !r->made ? SAME : APPLIED;
}

/* ---- the walk ---- */

/* An empty value is tried once an option. */
static bool empty_is_new(const char *option)
{
    for (size_t i = 0; i < walk.n; i++)
        if (walk.run[i].empty && !strcmp(walk.run[i].option, option)) return false;
    return true;
}

/* Once a command: figures, which gnuplot makes slow, and what no answer depends on. Runs of the kernel are short ones. */
static bool is_left_out(const char *option, bool first, const char *line)
{
    static const char *const once[] = {"plot", "seed", "threads", "quiet"};
    if (!strcmp(option, "solver")) return strstr(line, "--measure") == NULL;
    return !first && listed(once, FC_COUNT(once), option) && !strstr(line, "--worst-case");
}

static bool stands_in(const char *line, const char *option)
{
    char flag[64];
    snprintf(flag, sizeof flag, "--%s", option);
    const char *at = strstr(line, flag);
    return at && !strchr("abcdefghijklmnopqrstuvwxyz-", at[strlen(flag)] ? at[strlen(flag)] : ' ');
}

/* The i-th option of a command, and whether it takes a value; NULL: it has no more. */
static const char *option_name(const struct fc_command *command, size_t i, bool *valued)
{
    for (size_t k = 0; k < fc_n_options; k++)
        if (fc_takes(command, &fc_options[k]) && i-- == 0) {
            *valued = fc_options[k].value != NULL;
            return fc_options[k].name;
        }
    return NULL;
}

static void plan(void)
{
    bool valued;
    for (size_t s = 0; s < FC_COUNT(situations); s++) {
        const char *command = situations[s].command, *option;
        size_t used = strlen(add_run(s, NULL)->line);
        bool first = s == 0 || strcmp(situations[s - 1].command, command) != 0;
        for (size_t i = 0; (option = option_name(command_named(command), i, &valued)); i++) {
            if (listed(not_given, FC_COUNT(not_given), option) || is_left_out(option, first, situations[s].line) ||
                (!valued && stands_in(situations[s].line, option)))
                continue;
            struct run *r = add_run(s, option);
            r->value = valued ? value_of(command, option) : "";
            snprintf(r->line + used, sizeof r->line - used, " --%s%s%s", option, valued ? " " : "",
                     r->value ? r->value : "");
            if (!r->value) fail("no value for this option in tests/test_options.c", r);
            if (!valued || !empty_is_new(option)) continue;
            r = add_run(s, option);
            r->empty = true;
            snprintf(r->line + used, sizeof r->line - used, " --%s", option);
        }
    }
}

static void judge_all(void)
{
    const struct run *base = NULL;
    for (size_t i = 0; i < walk.n; i++) {
        struct run *r = &walk.run[i];
        if (!r->option) {
            base = r;
            if (r->status > FC_NO) fail("a situation is refused", r);
            continue;
        }
        if (r->empty) {
            if (r->status != FC_INPUT) fail("an empty value is taken", r);
            continue;
        }
        enum verdict v = judge(base, r);
        if (v == WRONG) fail("refused without the option's name", r);
        if (v == SAME && !may_be_same(r->command->name, r->option, situations[r->situation].line))
            fail("the option is passed over in silence", r);
    }
}

/* Every option has a rule, and is applied somewhere. */
static void check_table(void)
{
    bool valued;
    for (size_t c = 0; fc_commands[c]; c++) {
        const char *command = fc_commands[c]->name, *option;
        for (size_t i = 0; (option = option_name(fc_commands[c], i, &valued)); i++) {
            bool applied = listed(not_run, FC_COUNT(not_run), command) ||
                           listed(not_given, FC_COUNT(not_given), option) || may_be_same(command, option, NULL);
            const struct run *base = NULL;
            for (size_t k = 0; k < walk.n && !applied; k++) {
                const struct run *r = &walk.run[k];
                if (!r->option)
                    base = r;
                else if (r->command == fc_commands[c] && !strcmp(r->option, option) && !r->empty)
                    applied = judge(base, r) == APPLIED;
            }
            walk.failures += !applied + (fc_option_rules(command, option) == 0);
            if (!applied) printf("\n    %s --%s is applied in no situation\n", command, option);
            if (fc_option_rules(command, option) == 0)
                printf("\n    %s --%s has no rule in cli/option_rules.c\n", command, option);
        }
    }
}

static bool write_files(void)
{
    for (size_t i = 0; i < FC_COUNT(files); i++) {
        FILE *stream = fopen(files[i].name, "w");
        if (!stream) return false;
        fputs(files[i].text, stream);
        if (fclose(stream)) return false;
    }
    return true;
}

/* The shipped machines, with the calibration of one: thousands of runs that read those of all relatives take most of the
 * time, and an option counts or does not with one relative as with ten. */
static bool link_data(const char *here)
{
    char command[2 * PATH_MAX + 256];
    snprintf(
        command, sizeof command,
        "mkdir -p data/machines && ln -s '%s'/models/machines/* data/machines && rm data/machines/*.calibration.yaml "
        "&& ln -s '%s'/models/machines/tpu-v4.calibration.yaml data/machines",
        here, here);
    return system(command) == 0;
}

static void test_walk(void)
{
    char folder[] = "/tmp/fabricast-options-XXXXXX", command[128], data[64], here[PATH_MAX];
    const char *before = getenv("FABRICAST_DATA");
    char *kept = before ? strdup(before) : NULL;
    CU_ASSERT_PTR_NOT_NULL_FATAL(getcwd(here, sizeof here));
    CU_ASSERT_FATAL(mkdtemp(folder) && chdir(folder) == 0 && write_files() && link_data(here));
    snprintf(data, sizeof data, "%s/data", folder);
    setenv("FABRICAST_DATA", data, 1);
    plan();
    /* First those that fork, while there is little memory to copy. */
    for (size_t k = 0; k < 2 * walk.n; k++) {
        size_t i = k % walk.n;
        if (walk.run[i].empty != (k < walk.n)) continue;
        if (getenv("FC_SHOW_WALK")) printf("%s %s\n", walk.run[i].command->name, walk.run[i].line);
        double start = fc_wall_s();
        run_one(&walk.run[i]);
        if (getenv("FC_SHOW_WALK"))
            printf("    %.0f ms %d | %.*s\n", 1e3 * (fc_wall_s() - start), walk.run[i].status,
                   (int)strcspn(walk.run[i].err, "\n"), walk.run[i].err);
        snprintf(command, sizeof command, "rm -rf plots out drawn");
        if (walk.run[i].made) CU_ASSERT_EQUAL(system(command), 0);
    }
    judge_all();
    check_table();
    CU_ASSERT_EQUAL(walk.failures, 0);
    for (size_t i = 0; i < walk.n; i++) {
        free(walk.run[i].out);
        free(walk.run[i].err);
    }
    free(walk.run);
    if (kept)
        setenv("FABRICAST_DATA", kept, 1);
    else
        unsetenv("FABRICAST_DATA");
    free(kept);
    CU_ASSERT_EQUAL(chdir(here), 0);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    CU_ASSERT_EQUAL(system(command), 0);
}

static const CU_TestInfo tests[] = {
    {"every option of every command", test_walk},
    CU_TEST_INFO_NULL,
};
int suite_options(void)
{
    return fc_add_suite("options", tests);
}
