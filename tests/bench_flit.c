/* bench_flit.c - how fast the flit-level kernel runs: flit-hops (a flit over a router-to-router link) and
 * packet-hops a CPU second, best of seven, and how many times that of the naive kernel of yardstick.h, run at the same
 * load just before; its goal there (above it = met). Two threads against one by the wall clock; memory and network time
 * a second of a loaded bgl-64k. Not a test: machines differ. `make bench`; `bench_flit WORD`: the jobs with it. */
#include "solvers/flit/flit.h"
#include "tests/yardstick.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct job {
    const char *what, *machine;
    double load; /* of the ideal throughput; 0: backlog */
    uint32_t packet_flits;
    int engine, threads;
    uint64_t cycles; /* measured, after a quarter of it */
    uint32_t naive;  /* side of the naive kernel's cube */
    double goal;     /* times it, flit-hops for flit-hops (event engine: a packet-hop for a flit-hop); 0: none */
} jobs[] = {
    {"8x8x8, 1-flit packets, 30 % load", "tests/machines/torus-8x8x8.yaml", 0.3, 1, FC_ENGINE_CYCLE, 1, 10000, 8, 4},
    {"16x16x16, 1-flit packets, 30 % load", "tests/machines/torus-16x16x16.yaml", 0.3, 1, FC_ENGINE_CYCLE, 1, 2000, 16,
     4},
    {"the same, 2 threads", "tests/machines/torus-16x16x16.yaml", 0.3, 1, FC_ENGINE_CYCLE, 2, 2000, 16, 0},
    {"8x8x8, 4-flit worms, 30 % load", "tests/machines/torus-8x8x8.yaml", 0.3, 4, FC_ENGINE_CYCLE, 1, 8000, 8, 2.5},
    {"8x8x8, 1-flit packets, saturated", "tests/machines/torus-8x8x8.yaml", 0, 1, FC_ENGINE_CYCLE, 1, 4000, 8, 0},
    {"8x8x8, 1-flit packets, 3 % load", "tests/machines/torus-8x8x8.yaml", 0.03, 1, FC_ENGINE_CYCLE, 1, 20000, 8, 0},
    {"fat-tree of 64, 1-flit packets, 30 % load", "tests/machines/r2_e_fattree4x3_nca_v4b8_l1.yaml", 0.3, 1,
     FC_ENGINE_CYCLE, 1, 10000, 8, 2.5},
    {"the same with a VC stage", "tests/machines/e_fattree4x3_nca_v4b8_l1.yaml", 0.3, 1, FC_ENGINE_CYCLE, 1, 10000, 8,
     2.5},
    {"mesh 8x8 with a VC stage, 1-flit packets, 30 %", "tests/machines/a_mesh8x8_dor_v4b8_l1.yaml", 0.3, 1,
     FC_ENGINE_CYCLE, 1, 10000, 8, 2.5},
    {"torus 4x4x4 with a VC stage, 8-flit worms, 30 %", "tests/machines/c_torus4x4x4_dor_v4b8_l4.yaml", 0.3, 8,
     FC_ENGINE_CYCLE, 1, 10000, 8, 2.5},
    {"dragonfly of 72, minimal, 1-flit packets, 30 %", "tests/machines/g_dragonfly72_min_uniform_l1.yaml", 0.3, 1,
     FC_ENGINE_CYCLE, 1, 10000, 8, 2.5},
    {"dragonfly of 72, ugal, 1-flit packets, 30 %", "tests/machines/ugal_dragonfly72.yaml", 0.3, 1, FC_ENGINE_CYCLE, 1,
     10000, 8, 2.5},
    {"bgl-512, adaptive, 8-flit packets, 30 %", "bgl-512", 0.3, 8, FC_ENGINE_CYCLE, 1, 10000, 8, 2.5},
    {"bgl-512, 8-flit packets, 50 % load", "bgl-512", 0.5, 8, FC_ENGINE_EVENT, 1, 200000, 8, 0},
    {"bgl-512, 8-flit packets, saturated", "bgl-512", 0, 8, FC_ENGINE_EVENT, 1, 100000, 8, 0},
    {"bgl-4k, 8-flit packets, 50 % load", "bgl-4k", 0.5, 8, FC_ENGINE_EVENT, 1, 30000, 16, 0},
    {"the same, 2 threads", "bgl-4k", 0.5, 8, FC_ENGINE_EVENT, 2, 30000, 16, 0},
    {"bgl-64k, 8-flit packets, saturated, 2 threads", "bgl-64k", 0, 8, FC_ENGINE_EVENT, 2, 4000, 16, 0},
};
enum { RUNS = 7 };

static int failed(const struct fc_status *st)
{
    char text[2048];
    fc_status_text(st, text, sizeof text);
    printf("failed: %s\n", text);
    return 1;
}

static int run(const struct job *job, double *one_thread_wall_s)
{
    struct fc_status st = {0};
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand demand;
    struct fc_flit_settings s;
    if (fc_machine_load(job->machine, &machine, &st) || fc_network_build(&machine, &net, &st) ||
        fc_demand_from_pattern(&net, "uniform", 1, &demand, &st))
        return failed(&st);
    fc_flit_defaults(&s);
    s.engine = job->engine;
    s.threads = job->threads;
    s.seed = 1;
    s.packet_flits_min = s.packet_flits_max = job->packet_flits;
    s.warmup_cycles = job->cycles / 4;
    s.measure_cycles = job->cycles;
    s.most_cycles = job->cycles + job->cycles / 4;
    s.backlog = job->load == 0;
    /* Its load is of a node's rate: an 8-ary torus carries 1 flit a node and cycle, a 16-ary one half. */
    double part = job->load > 0 ? job->load : 0.5;
    double naive = yard_naive(job->naive, 3, job->naive == 16 ? part / 2 : part, job->naive == 16 ? 300 : 2000);
    double ideal = 0, cpu_s = 1e300, wall_s = 1e300, hops = 0, cycles = 0, seconds = 0;
    if (!s.backlog && fc_flit_ideal_throughput(&net, &demand, &s, &ideal, &st)) return failed(&st);
    s.load_flits_per_cycle = job->load * ideal;
    for (int i = 0; i < RUNS; i++) {
        struct fc_flit_result r;
        double wall = fc_wall_s();
        if (fc_flit_run(&net, &demand, NULL, &s, &r, &st)) return failed(&st);
        wall = fc_wall_s() - wall;
        if (r.cpu_s < cpu_s) cpu_s = r.cpu_s;
        if (wall < wall_s) wall_s = wall;
        hops = (double)r.flit_hops;
        cycles = (double)r.cycles;
        seconds = cycles * r.cycle_s;
        fc_flit_free(&r);
        if (wall > 3) break;
    }
    bool event = job->engine == FC_ENGINE_EVENT;
    double per_s = (event ? hops / job->packet_flits : hops) / cpu_s;
    printf("%-50s %8.2f %-12s %6.1f %6.2f", job->what, per_s / 1e6, event ? "packet-hops" : "flit-hops", naive,
           per_s / 1e6 / naive);
    if (job->goal > 0)
        printf(" %5.1f", job->goal);
    else
        printf(" %5s", "-");
    printf(" %8.3f", wall_s);
    if (job->threads == 1)
        *one_thread_wall_s = wall_s;
    else
        printf("  %.2f times one thread", *one_thread_wall_s / wall_s);
    if (!strcmp(job->machine, "bgl-64k"))
        printf("\n%-50s %8.2f us of network time a second (25 x 0.25 = 6.25 asked for), peak memory %.2f GB (4)", "",
               seconds * 1e6 / wall_s, (double)fc_peak_rss_bytes() / 1e9);
    printf("\n");
    fflush(stdout);
    fc_demand_free(&demand);
    fc_network_free(&net);
    fc_machine_free(&machine);
    return 0;
}

int main(int argc, char **argv)
{
    int failures = 0;
    double one_thread_wall_s = NAN;
    printf("%-50s %8s %-12s %6s %6s %5s %8s\n", "kernel, uniform traffic", "M a s", "of", "naive", "times", "goal",
           "wall s");
    for (size_t i = 0; i < FC_COUNT(jobs); i++)
        if (argc < 2 || strstr(jobs[i].what, argv[1])) failures += run(&jobs[i], &one_thread_wall_s);
    return failures > 0;
}
