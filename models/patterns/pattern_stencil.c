/* pattern_stencil.c - near-neighbour exchange on a periodic grid of tasks, in two, three and four dimensions.
 *
 * Task r has grid coordinates with the first dimension fastest (column-major, as the paper counts: table 5) or, with
 * order=row-major, the last one (as MPI_Cart_create numbers them). It sends `bytes` to both neighbours of every dimension,
 * minus side first. A dimension of size 2 sends two messages to the same neighbour, one of size 1 none.
 * Source: Bhatele et al., SC'11, section 5.1 (5-point 2D and 9-point 4D stencils, one message a neighbour and
 * iteration). On a grid of equal sides and bytes both orders load the links alike. */
#include "models/demand_build.h"

enum { MOST_DIMS = 4, MOST_DIVISORS = 4096 };
static const double default_bytes[MOST_DIMS + 1] = {0, 0, 65536, 1048576,
                                                    2097152}; /* by dimensions; the paper's 2D, 4D */
static const char *const orders[] = {"row-major", "column-major", NULL};

struct settings {
    struct fc_ints grid;
    struct fc_reals bytes;
    int order;
};

/* Slowest dimension first. */
struct stencil {
    int n;
    uint64_t k[MOST_DIMS];
    double bytes[MOST_DIMS];
};

/* The most cubic grid of exactly `left` tasks: least sum of sides, longer sides first (as MPI_Dims_create).
 */
static void balance(const uint64_t *divisors, int n_divisors, int n, int d, uint64_t left, uint64_t sum, uint64_t *k,
                    uint64_t *best, uint64_t *best_k)
{
    if (d == n - 1 || d == MOST_DIMS - 1) {
        if (sum + left >= *best || (d > 0 && left > k[d - 1])) return;
        *best = sum + left;
        for (int i = 0; i < d; i++) best_k[i] = k[i];
        best_k[d] = left;
        return;
    }
    for (int i = 0; i < n_divisors && divisors[i] <= left; i++) {
        if (left % divisors[i] || (d > 0 && divisors[i] > k[d - 1])) continue;
        k[d] = divisors[i];
        balance(divisors, n_divisors, n, d + 1, left / divisors[i], sum + divisors[i], k, best, best_k);
    }
}

static void all_cores(const struct fc_network *net, struct stencil *stencil)
{
    uint64_t cores = fc_machine_cores(net), divisors[MOST_DIVISORS], k[MOST_DIMS] = {0}, best = UINT64_MAX;
    int n_divisors = 0;
    for (uint64_t i = 1; i * i <= cores; i++)
        if (cores % i == 0) divisors[n_divisors++] = i;
    for (int i = n_divisors - 1; i >= 0; i--)
        if (divisors[i] * divisors[i] != cores) divisors[n_divisors++] = cores / divisors[i];
    balance(divisors, n_divisors, stencil->n, 0, cores, 0, k, &best, stencil->k);
}

static enum fc_code read_shape(const struct fc_network *net, const struct settings *set, struct stencil *stencil,
                               struct fc_status *st)
{
    int n = stencil->n;
    if (set->grid.n != 0 && set->grid.n != n)
        return fc_refuse(st, FC_INPUT, "grid: %d dimensions (expected %d)", set->grid.n, n);
    if (set->bytes.n > 1 && set->bytes.n != n)
        return fc_refuse(st, FC_INPUT, "bytes: %d values (expected 1, or %d: one a dimension)", set->bytes.n, n);
    if (set->grid.n == 0) all_cores(net, stencil);
    for (int d = 0; d < n; d++) {
        int from = set->order ? n - 1 - d : d;
        if (set->grid.n) stencil->k[d] = (uint64_t)set->grid.v[from];
        stencil->bytes[d] = set->bytes.n == 0 ? default_bytes[n] : set->bytes.v[set->bytes.n == 1 ? 0 : from];
    }
    return FC_OK;
}

/* The entries of all tasks: 2 a dimension of size > 1. */
static void fill(const struct stencil *stencil, uint64_t tasks, struct fc_demand *demand)
{
    uint64_t stride[MOST_DIMS], c[MOST_DIMS] = {0};
    for (int d = stencil->n - 1; d >= 0; d--) stride[d] = d == stencil->n - 1 ? 1 : stride[d + 1] * stencil->k[d + 1];
    size_t i = 0;
    for (uint64_t r = 0; r < tasks; r++) {
        for (int d = 0; d < stencil->n; d++) {
            uint64_t k = stencil->k[d], s = stride[d];
            if (k == 1) continue;
            for (int side = 0; side < 2; side++, i++) {
                demand->src[i] = (uint32_t)r;
                demand->dst[i] = (uint32_t)(side == 0 ? (c[d] == 0 ? r + (k - 1) * s : r - s)
                                                      : (c[d] + 1 == k ? r - (k - 1) * s : r + s));
                demand->bytes[i] = stencil->bytes[d];
                demand->messages[i] = 1;
            }
        }
        for (int d = stencil->n - 1; d >= 0 && ++c[d] == stencil->k[d]; d--) c[d] = 0;
    }
}

static enum fc_code make(const struct fc_network *net, const struct settings *set, int n, struct fc_demand *demand,
                         struct fc_status *st)
{
    struct stencil stencil = {.n = n};
    if (read_shape(net, set, &stencil, st)) return st->code;
    double exact = 1;
    uint64_t tasks = 1;
    int per_task = 0;
    for (int d = 0; d < n; d++) {
        exact *= (double)stencil.k[d];
        tasks *= stencil.k[d];
        per_task += stencil.k[d] > 1 ? 2 : 0;
        demand->grid[d] = (long long)stencil.k[d];
    }
    if (exact >= FC_NONE) return fc_refuse(st, FC_NO, "grid: %.4g tasks are too many (at most %u)", exact, FC_NONE - 1);
    if (fc_demand_start(demand, tasks, tasks * (uint64_t)per_task, st)) return st->code;
    demand->n_entries = tasks * (size_t)per_task;
    demand->n_grid = n;
    fill(&stencil, tasks, demand);
    return FC_OK;
}

static const struct fc_key keys[] = {
    {"grid", FC_KEY_INTS, FC_NUMBER, offsetof(struct settings, grid), 1, 4e9, NULL, NULL,
     "tasks in each dimension (default: all cores, most cubic)"},
    {"bytes", FC_KEY_QUANTITIES, FC_BYTES, offsetof(struct settings, bytes), 0, INFINITY, NULL, NULL,
     "payload of a message, or one value a dimension: 1MiB/512KiB (default: 64KiB, 1MiB, 2MiB in 2, "
     "3, 4D)"},
    {"order", FC_KEY_CHOICE, FC_NUMBER, offsetof(struct settings, order), 0, 0, orders, "column-major",
     "column-major: the grid's first dimension varies fastest (the paper's); row-major: its last (MPI_Cart)"},
};

static enum fc_code make_2d(const struct fc_network *net, const void *settings, uint64_t seed, struct fc_demand *demand,
                            struct fc_status *st)
{
    (void)seed;
    return make(net, settings, 2, demand, st);
}
static enum fc_code make_3d(const struct fc_network *net, const void *settings, uint64_t seed, struct fc_demand *demand,
                            struct fc_status *st)
{
    (void)seed;
    return make(net, settings, 3, demand, st);
}
static enum fc_code make_4d(const struct fc_network *net, const void *settings, uint64_t seed, struct fc_demand *demand,
                            struct fc_status *st)
{
    (void)seed;
    return make(net, settings, 4, demand, st);
}

const struct fc_pattern_ops fc_pattern_stencil2d = {
    .name = "stencil2d",
    .help = "every task with its 4 neighbours on a periodic grid: grid=256x256,bytes=64KiB",
    .source = "Bhatele et al., SC'11, section 6.1",
    FC_SETTINGS(keys, struct settings),
    .make = make_2d,
};
const struct fc_pattern_ops fc_pattern_stencil3d = {
    .name = "stencil3d",
    .help = "every task with its 6 neighbours on a periodic grid: grid=32x32x32,bytes=1MiB",
    .source = "Bhatele et al., SC'11, section 6 (in three dimensions)",
    FC_SETTINGS(keys, struct settings),
    .make = make_3d,
};
const struct fc_pattern_ops fc_pattern_stencil4d = {
    .name = "stencil4d",
    .help = "every task with its 8 neighbours on a periodic grid: grid=16x16x16x16,bytes=2MiB",
    .source = "Bhatele et al., SC'11, section 6.2",
    FC_SETTINGS(keys, struct settings),
    .make = make_4d,
};
