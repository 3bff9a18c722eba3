/* test_flit_ranks.c - runs of the kernel over ranks give the bytes of a run in one process; what cannot be run over them is
 * refused by all ranks alike, and none waits for ever. Ranks are threads here, processes of MPI in the last tests. */
#include "solvers/flit/flit.h"
#include "tests/ranks_threads.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define TORUS(dims, more)                                                                                              \
    "name: t\nclock: 175 MHz\nnetwork: {family: torus, dims: " dims "}\n"                                              \
    "links: {torus: {bandwidth: 175 MB/s, latency: 8 cycles}, injection: {bandwidth: 1.05 GB/s}}\n"                    \
    "router: {delay: 8 cycles, flow_control: cut-through, flit: 32 B, buffer: 1 KiB, paths: 2, " more "}\n"            \
    "packet: {min: 32 B, max: 256 B, header: 16 B, trailer: 14 B}\n"
#define ADAPTIVE(dims) TORUS(dims, "vcs: 2, escape: bubble, routing: adaptive, arbitration: jsq-slq")
#define RING                                                                                                           \
    "name: t\nclock: 1 GHz\nnetwork: {family: torus, dims: [6]}\n"                                                     \
    "links: {torus: {bandwidth: 8 GB/s, latency: 2 cycles}}\n"                                                         \
    "router: {delay: 8 cycles, flow_control: cut-through, flit: 8 B, buffer: 32 B, vcs: 1, escape: none,"              \
    " routing: dimension-order}\npacket: {min: 8 B, max: 32 B}\n"
#define NO_TIME                                                                                                        \
    "name: t\nclock: 1 GHz\nnetwork: {family: torus, dims: [6]}\nlinks: {torus: {bandwidth: 8 GB/s}}\n"                \
    "router: {delay: 0 cycles, credit: 0 cycles, flow_control: cut-through, flit: 8 B, buffer: 64 B, vcs: 2}\n"        \
    "packet: {min: 8 B, max: 32 B}\n"

struct job {
    const char *machine, *pattern;
    struct fc_flit_settings set;
    bool open_loop, background;
    /* made of it */
    struct fc_machine built;
    struct fc_network net;
    struct fc_demand demand, others;
    uint32_t *node;
    char *said[MOST_RANKS]; /* what each rank answered */
    int odd;                /* rank that is asked something else; -1: none */
};

static const struct job jobs[] = {
    {.machine = ADAPTIVE("[4, 4, 3]"),
     .pattern = "uniform",
     .open_loop = true,
     .set = {.load_flits_per_cycle = 0.05,
             .packet_flits_min = 1,
             .packet_flits_max = 8,
             .warmup_cycles = 400,
             .measure_cycles = 1500,
             .interval_cycles = 256}},
    {.machine = TORUS("[6, 4]", "vcs: 2, escape: dateline, routing: dimension-order, arbitration: round-robin"),
     .pattern = "alltoall:bytes=400",
     .set = {.interval_cycles = 512}},
    {.machine = "name: t\nclock: 1 GHz\nnetwork: {family: fat-tree, children: [4, 4], parents: [1, 4]}\n"
                "links: {leaf: {bandwidth: 32 GB/s, latency: 4 cycles}, up: {bandwidth: 16 GB/s, latency: 9 cycles}}\n"
                "router: {delay: 6 cycles, flow_control: cut-through, flit: 32 B, buffer: 1 KiB, vcs: 2, routing: nca,"
                " arbitration: slq}\npacket: {min: 32 B, max: 256 B}\n",
     .pattern = "uniform",
     .open_loop = true,
     .set = {.load_flits_per_cycle = 0.2, .precision = 0.1}},
    {.machine = "name: t\nclock: 1 GHz\nnetwork: {family: two-level, supernodes: 5, drawers: 1, nodes_per_drawer: 4}\n"
                "links: {ll: {bandwidth: 8 GB/s, latency: 5 cycles}, d: {bandwidth: 8 GB/s, latency: 20 cycles},"
                " injection: {bandwidth: 8 GB/s}}\n"
                "router: {delay: 4 cycles, flow_control: cut-through, flit: 8 B, buffer: 512 B, vcs: 3, escape: none,"
                " routing: ugal, ugal: {threshold: 30, weight: 2}}\n"
                "packet: {min: 8 B, max: 64 B}\n",
     .pattern = "uniform",
     .open_loop = true,
     .set = {.load_flits_per_cycle = 0.1, .warmup_cycles = 200, .measure_cycles = 300}},
    {.machine = ADAPTIVE("[4, 3, 3]"),
     .pattern = "uniform",
     .open_loop = true,
     .set = {.backlog = true, .warmup_cycles = 500, .measure_cycles = 1000}},
    {.machine = TORUS("[6, 4]", "vcs: 4, escape: dateline, routing: valiant, arbitration: age"),
     .pattern = "uniform",
     .open_loop = true,
     .background = true,
     .set = {.load_flits_per_cycle = 0.03,
             .background_flits_per_cycle = 0.02,
             .warmup_cycles = 300,
             .measure_cycles = 1200,
             .most_cycles = 1600}},
    {.machine = RING, .pattern = "tornado", .open_loop = true, .set = {.backlog = true, .allow_deadlock = true}},
};

/* Everything that a run answers, but what it cost. */
static char *words(const struct job *job, const struct fc_flit_result *r, const struct fc_status *st)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (st->code) {
        fprintf(out, "%d %s", (int)st->code, st->message);
        fclose(out);
        return text;
    }
    fprintf(out, "%s %s %d%d%d%d%d '%s' '%s'\n", r->engine, r->vc_rule, r->open_loop, r->stable, r->deadlock,
            r->complete, r->credits_full, r->unstable_because, r->deadlock_text);
    const double reals[] = {r->cycle_s,
                            r->offered_flits_per_node_cycle,
                            r->accepted_flits_per_node_cycle,
                            r->latency_mean_cycles,
                            r->latency_half_width_cycles,
                            r->precision,
                            r->accepted_half_width_flits,
                            r->precision_reached,
                            r->latency_p50_cycles,
                            r->latency_p95_cycles,
                            r->latency_p99_cycles,
                            r->latency_max_cycles,
                            r->network_latency_mean_cycles,
                            r->background.latency_mean_cycles,
                            r->background.accepted_flits_per_node_cycle,
                            (double)r->background.packets,
                            r->hops_mean,
                            r->warmup_cycles,
                            r->measure_cycles,
                            r->escape_share,
                            r->fairness_min,
                            r->fairness_max,
                            r->fairness_jain};
    const uint64_t wholes[] = {r->measured_packets,  r->cycles,          r->packets_injected, r->packets_delivered,
                               r->packets_in_flight, r->flits_injected,  r->flits_delivered,  r->flits_in_flight,
                               r->flit_hops,         (uint64_t)r->n_vcs, r->n_intervals};
    for (size_t i = 0; i < FC_COUNT(reals); i++) fprintf(out, "%a ", reals[i]);
    for (size_t i = 0; i < FC_COUNT(wholes); i++) fprintf(out, "%llu ", (unsigned long long)wholes[i]);
    for (int v = 0; v < r->n_vcs; v++) fprintf(out, "%a ", r->vc_occupancy_flits[v]);
    for (uint32_t i = 0; i < r->n_intervals; i++)
        fprintf(out, "\n%a %a %a", r->intervals[i].flits_per_node_cycle, r->intervals[i].unblocking_probability,
                r->intervals[i].vc_flits_per_link_cycle[0]);
    for (uint32_t l = 0; l < job->net.n_links; l++) fprintf(out, "\n%a", r->link_utilization[l]);
    fclose(out);
    return text;
}

static void work(const struct fc_ranks *ranks, void *of)
{
    struct job *job = of;
    struct fc_flit_settings set = job->set;
    struct fc_flit_result result;
    struct fc_status st = {0};
    int rank = ranks ? ranks->rank : 0;
    set.ranks = ranks;
    if (ranks && rank == job->odd) set.seed++;
    fc_flit_run(&job->net, &job->demand, job->node, &set, &result, &st);
    job->said[rank] = words(job, &result, &st);
    fc_flit_free(&result);
}

static bool make_job(struct job *job, const struct job *of)
{
    struct fc_status st = {0};
    *job = *of;
    job->odd = -1;
    job->set.seed = 3;
    if (!job->set.threads) job->set.threads = 1;
    if (!job->set.engine) job->set.engine = FC_ENGINE_EVENT;
    if (!fc_test_network(job->machine, &job->built, &job->net)) return false;
    fc_demand_from_pattern(&job->net, job->pattern, 1, &job->demand, &st);
    job->demand.open_loop = job->open_loop;
    if (!job->open_loop) {
        job->node = calloc(job->net.n_nodes, sizeof *job->node);
        for (uint32_t i = 0; i < job->net.n_nodes; i++) job->node[i] = i;
    }
    if (job->background) {
        fc_demand_from_pattern(&job->net, "complement", 1, &job->others, &st);
        job->others.open_loop = true;
        job->set.background = &job->others;
    }
    CU_ASSERT_EQUAL(st.code, FC_OK);
    return st.code == FC_OK;
}

static void end_job(struct job *job)
{
    free(job->node);
    fc_demand_free(&job->demand);
    if (job->background) fc_demand_free(&job->others);
    fc_test_close(&job->built, &job->net);
}

static void forget(struct job *job)
{
    for (int i = 0; i < MOST_RANKS; i++) {
        free(job->said[i]);
        job->said[i] = NULL;
    }
}

/* One, two and three ranks, of one and of two threads. */
static void same_bytes(void)
{
    for (size_t j = 0; j < FC_COUNT(jobs); j++) {
        struct job job;
        if (!make_job(&job, &jobs[j])) continue;
        work(NULL, &job);
        char *alone = job.said[0];
        job.said[0] = NULL;
        if (j + 1 < FC_COUNT(jobs)) CU_ASSERT(alone[0] == 'e');
        for (int ranks = 2; ranks <= 3; ranks++)
            for (job.set.threads = 1; job.set.threads <= 4 - ranks; job.set.threads++) {
                threads_ranks_run(ranks, work, &job);
                for (int i = 0; i < ranks; i++) {
                    if (strcmp(alone, job.said[i]))
                        printf("\n    job %zu, rank %d of %d with %d threads:\n%.700s\nalone:\n%.700s\n", j, i, ranks,
                               job.set.threads, job.said[i], alone);
                    CU_ASSERT_STRING_EQUAL(alone, job.said[i]);
                }
                forget(&job);
            }
        free(alone);
        end_job(&job);
    }
}

static void all_refuse(struct job *job, int ranks, const char *says)
{
    threads_ranks_run(ranks, work, job);
    for (int i = 0; i < ranks; i++) {
        if (!strstr(job->said[i], says)) printf("\n    rank %d: %s ", i, job->said[i]);
        CU_ASSERT_PTR_NOT_NULL(strstr(job->said[i], says));
    }
    forget(job);
}

static void refusals(void)
{
    struct job job;
    const struct job none = {
        .machine = NO_TIME, .pattern = "uniform", .open_loop = true, .set = {.load_flits_per_cycle = 0.1}};
    if (make_job(&job, &jobs[0])) {
        job.odd = 1;
        all_refuse(&job, 3, "the ranks were not asked the same");
        job.odd = -1;
        job.set.engine = FC_ENGINE_CYCLE;
        all_refuse(&job, 2, "the cycle engine runs in one process, not over 2 ranks");
        end_job(&job);
    }
    if (make_job(&job, &none)) {
        all_refuse(&job, 2, "takes no time");
        end_job(&job);
    }
}

/* ---- agreement ---- */

static void disagree(const struct fc_ranks *ranks, void *of)
{
    struct fc_status st = {0}, *said = of;
    for (int failing = ranks->size; failing >= 0; failing--) { /* nobody; then this rank and those above it */
        memset(&st, 0, sizeof st);
        if (ranks->rank >= failing) fc_refuse(&st, FC_INPUT, "no such file %d", ranks->rank);
        fc_ranks_agree(ranks, &st);
        said[ranks->rank * (MOST_RANKS + 1) + failing] = st;
    }
}

static void ranks_agree(void)
{
    struct fc_status said[MOST_RANKS][MOST_RANKS + 1] = {0};
    threads_ranks_run(3, disagree, said);
    for (int i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL(said[i][3].code, FC_OK);
        CU_ASSERT_EQUAL(said[i][2].code, FC_INPUT);
        CU_ASSERT_STRING_EQUAL(said[i][2].message, "rank 2: no such file 2");
        CU_ASSERT_STRING_EQUAL(said[i][1].message, "rank 1: no such file 1");
        CU_ASSERT_STRING_EQUAL(said[i][0].message, "no such file 0");
    }
}

/* ---- under mpirun ---- */

/* Two ranks. What is asked for last is not in the answer of one process. */
static const char same_under[] =
    "ask=\"flit -q -m bgl-64 -p uniform --load 40% --warmup 500 --measure 2000\"\n"
    "$program $ask >$d/one && $run -n 2 $program $ask -o $d/two >$d/out 2>&1 || exit 1\n"
    "grep -v -e ^speed $d/one >$d/answer; grep -v -e ^speed -e ^ranks $d/two | cmp - $d/answer && [ ! -s $d/out ] &&\n"
    "grep -q '^ranks       2, each with at most 1 neighbours: ' $d/two";
/* Rank 1 dies while it works; another time it is asked something else. */
static const char ends_under[] =
    "printf '[ ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} = 0 ] || (sleep 0.3; kill -9 $$) &\n' >$d/dies\n"
    "printf 'exec %s flit -q -m bgl-512 -p uniform --load 60%%\n' $program >>$d/dies\n"
    "over 20 $run -n 2 sh $d/dies; s=$?; [ $s != 0 ] && ! grep -q 'sending signal' $d/out || exit 1\n"
    "printf 'exec %s flit -q -m bgl-64 -p uniform --load 60%% --seed $((2 + ${OMPI_COMM_WORLD_RANK:-$PMI_RANK}))\n' "
    "$program >$d/odd\n"
    "over 20 $run -n 2 sh $d/odd; [ $? = 2 ] && [ $(grep -c 'fabricast: the ranks were not asked' $d/out) = 1 ]";

static void over_mpi(void)
{
    fc_under_mpirun("openmpi", same_under);
    fc_under_mpirun("mpich", same_under);
}

static void nobody_waits(void)
{
    fc_under_mpirun("openmpi", ends_under);
}

int suite_flit_ranks(void)
{
    static const CU_TestInfo tests[] = {
        {"ranks change nothing", same_bytes},
        {"what all ranks refuse", refusals},
        {"failures reach all ranks", ranks_agree},
        {"ranks of MPI change nothing", over_mpi},
        {"nobody waits for a rank that died", nobody_waits},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("flit ranks", tests);
}
