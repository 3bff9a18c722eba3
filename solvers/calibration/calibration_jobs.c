/* calibration_jobs.c - small jobs like those that people run: halo exchanges with and without computation in
 * between, permutations, random graphs and sparse ones, all to one, collective calls of all ranks; on all cores or one core a node,
 * nodes in order or not.
 *
 * Messages of 64 B, 2 KiB and 32 KiB: one packet and eager, some packets, rendezvous; every kind of job comes
 * with one of them first, then with the next, its nodes in the other order. The first ones are such that messages wait for others, as most
 * of a small budget's jobs else have nothing that a model could be wrong about. Point-to-point jobs are
 * phases of a pattern (trace_generate.c), twice; collective ones make the call four times, and once with one
 * rank late. Where a job computes, rank r computes for U(r, phase) times what its own messages take on the
 * slowest link and 5 us. At most MOST_RANKS ranks. */
#include "solvers/calibration/calibration_jobs.h"
#include "solvers/calibration/calibration_internal.h"

#include <string.h>

enum { MOST_RANKS = 256, PHASES = 2, CALLS = 4, SIZES = 3 };
static const int sizes[SIZES] = {64, 2048, 32768};
#define LEAST_COMPUTE_S 5e-6

static const struct {
    const char *name;
    enum fc_op op;
    double scale; /* bytes of the call over the size: what each rank contributes */
} collectives[] = {{"alltoall", FC_OP_ALLTOALL, 0.125},
                   {"allreduce", FC_OP_ALLREDUCE, 1},
                   {"bcast", FC_OP_BCAST, 1},
                   {"allgather", FC_OP_ALLGATHER, 0.125}};

/* ---- the list ---- */

/* Two factors of at most MOST_RANKS ranks, as equal as they get. */
static void grid_of(uint64_t ranks, uint32_t *a, uint32_t *b)
{
    uint64_t n = ranks < MOST_RANKS ? ranks : MOST_RANKS;
    *a = 1;
    for (uint32_t f = 1; (uint64_t)f * f <= n; f++)
        if (n % f == 0) *a = f;
    *b = (uint32_t)(n / *a);
}

/* What a job does, but for its messages' length. */
struct kind {
    const char *pattern;
    int size;                          /* of the first turn, of `sizes` */
    bool computes, one_a_node, random; /* of fc_small_job; random of every other turn */
};

static void add(struct fc_small_job *jobs, int *n, const struct kind *kind, int turn)
{
    if (*n == FC_MOST_SMALL_JOBS) return;
    struct fc_small_job *job = &jobs[(*n)++];
    *job = (struct fc_small_job){
        .computes = kind->computes, .one_a_node = kind->one_a_node, .random = kind->random != (turn % 2 != 0)};
    snprintf(job->name, sizeof job->name, "%s%cbytes=%d", kind->pattern, strchr(kind->pattern, ':') ? ',' : ':',
             sizes[(kind->size + turn) % SIZES]);
}

int fc_small_jobs(const struct fc_network *net, struct fc_small_job jobs[FC_MOST_SMALL_JOBS])
{
    struct fc_calibration_patterns patterns;
    char halo[64], small[64];
    uint32_t a, b;
    int n = 0;
    fc_calibration_patterns(net, &patterns);
    grid_of(fc_machine_cores(net), &a, &b);
    snprintf(halo, sizeof halo, "stencil2d:grid=%ux%u", a, b);
    grid_of(net->n_nodes < 16 ? net->n_nodes : 16, &a, &b);
    snprintf(small, sizeof small, "stencil2d:grid=%ux%u", a, b);
    const char *stencil = fc_calibration_stencil(&patterns), *grid = stencil ? stencil : small;
    const struct kind kinds[] = {{halo, 1, false, false, true},
                                 {"permutation:seed=1", 2, false, true, true},
                                 {"random:seed=2", 1, false, true, false},
                                 {"allreduce", 2, false, false, true},
                                 {grid, 2, false, true, false},
                                 {halo, 0, true, false, false},
                                 {patterns.n > 0 ? patterns.text[0] : "permutation:seed=2", 1, false, true, false},
                                 {"random:partners=3,share=0.125,sigma=0,seed=3", 2, false, true, true},
                                 {"alltoall", 2, false, true, true},
                                 {"hotspot", 1, false, true, false},
                                 {small, 2, false, false, true},
                                 {"bcast", 1, false, false, false},
                                 {"neighbor", 2, true, true, false},
                                 {"allgather", 0, false, false, true}};
    for (int turn = 0; turn < SIZES; turn++)
        for (int k = 0; k < (int)FC_COUNT(kinds); k++) add(jobs, &n, &kinds[k], turn);
    return n;
}

/* ---- traces ---- */

static const int *size_of(const char *name)
{
    const char *bytes = strstr(name, "bytes=");
    for (int s = 0; bytes && s < SIZES; s++) {
        char text[32];
        snprintf(text, sizeof text, "bytes=%d", sizes[s]);
        if (!strcmp(bytes, text)) return &sizes[s];
    }
    return NULL;
}

/* What rank r sends in a phase takes on the slowest link, and some more. */
static double computation_s(const struct fc_network *net, double bytes)
{
    double slowest = INFINITY;
    for (int c = 0; c < net->machine->n_classes; c++)
        slowest = fmin(slowest, net->machine->classes[c].bandwidth_bytes_per_s);
    return LEAST_COMPUTE_S + (isfinite(slowest) ? 4 * bytes / slowest : 0);
}

static enum fc_code make_pattern(const struct fc_network *net, const struct fc_small_job *job, double bytes,
                                 uint64_t seed, struct fc_trace *trace, struct fc_status *st)
{
    FC_SCOPED(fc_demand_free) struct fc_demand demand = {0};
    double compute_s = job->computes ? computation_s(net, bytes) : 0;
    if (fc_demand_from_pattern(net, job->name, seed, &demand, st)) return st->code;
    fc_trace_generate(&demand, PHASES, compute_s, trace, st);
    for (uint32_t r = 0; !st->code && r < trace->n_ranks; r++)
        for (uint64_t e = trace->first_event[r], k = 0; e < trace->first_event[r + 1]; e++)
            if (trace->events[e].compute_s > 0)
                trace->events[e].compute_s *= fc_random_real(seed, UINT64_C(0x6a6f6273) + r, k++); /* "jobs" */
    return st->code;
}

/* Calls, the last of them with one rank late. */
static enum fc_code make_calls(uint32_t n, enum fc_op op, double bytes, uint64_t seed, struct fc_trace *t,
                               struct fc_status *st)
{
    if (fc_trace_of_calls(op, n, bytes, CALLS, t, st)) return st->code;
    t->events[fc_random_below(seed, UINT64_C(0x6a6f6273), 0, n) * CALLS + CALLS - 1].compute_s = LEAST_COMPUTE_S;
    return FC_OK;
}

static enum fc_code place(const struct fc_network *net, const struct fc_small_job *job, uint64_t seed,
                          struct fc_trace *trace, struct fc_placement *placement, struct fc_status *st)
{
    uint32_t n = trace->n_ranks, each = job->one_a_node ? 1 : (uint32_t)net->machine->cores_per_node;
    uint32_t *node = fc_alloc(&trace->arena, n, sizeof *node, st),
             *order = fc_alloc(&trace->arena, net->n_nodes, sizeof *order, st);
    if (!node || !order) return st->code;
    if ((n + each - 1) / each > net->n_nodes)
        return fc_refuse(st, FC_INPUT, "%s: %u ranks, %u nodes", job->name, n, net->n_nodes);
    fc_random_permutation(seed, UINT64_C(0x6a6f6273), order, net->n_nodes);
    for (uint32_t r = 0; r < n; r++) node[r] = job->random ? order[r / each] : r / each;
    *placement = (struct fc_placement){n, node};
    return FC_OK;
}

enum fc_code fc_small_job_make(const struct fc_network *net, const struct fc_small_job *job, uint64_t seed,
                               struct fc_trace *trace, struct fc_placement *placement, struct fc_status *st)
{
    const int *size = size_of(job->name);
    size_t length = strcspn(job->name, ":");
    uint64_t cores = job->one_a_node ? net->n_nodes : fc_machine_cores(net);
    *trace = (struct fc_trace){0};
    if (!size) return fc_refuse(st, FC_FAULT, "job %s has no size", job->name);
    for (size_t c = 0; c < FC_COUNT(collectives); c++) {
        if (strlen(collectives[c].name) != length || strncmp(job->name, collectives[c].name, length)) continue;
        if (!make_calls((uint32_t)(cores < MOST_RANKS ? cores : MOST_RANKS), collectives[c].op,
                        *size * collectives[c].scale, seed, trace, st))
            place(net, job, seed, trace, placement, st);
        goto done;
    }
    if (!make_pattern(net, job, *size, seed, trace, st)) place(net, job, seed, trace, placement, st);
done:
    if (st->code) fc_trace_free(trace);
    return st->code;
}
