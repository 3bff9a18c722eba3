/* reorder_place.c - which rank goes where: hosts and messages in, new numbers out; rank 0's part of a topology call.
 *
 * The question is the public library's (fabricast.h), which is opened here, in this one process, when it is first needed: the
 * other ranks carry none of it. A host is a node of the machine file by its name and takes as many new ranks as it has old
 * ones. One exchange, all edges at once, is predicted (contention) with the ranks as they are and as `optimize` places them.
 * They are placed anew where
 *     t_old / t_new - 1 > the larger of the two predictions' errors,
 * where no error is stated 25 %, within which mappings of machines without calibration were ranked right (docs/real-fabric.md).
 * An edge of mean weight counts 64 KiB, or FABRICAST_REORDER_BYTES. The search has 50 ms for 1,024 ranks, in proportion, as
 * counted work: the same input gives the same ranks. */
#include "library/reorder/reorder.h"
#include "library/fabricast.h"

#include <dlfcn.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double unknown_error_percent = 25, mean_bytes = 65536, search_s_a_rank = 0.05 / 1024,
                    least_search_s = 0.002;

/* ---- the log ---- */

void fc_reorder_say(const char *format, ...)
{
    const char *path = getenv("FABRICAST_REORDER_LOG");
    FILE *log = path && *path ? fopen(path, "ae") : NULL;
    char line[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    fprintf(log ? log : stderr, "fabricast: %s\n", line);
    if (log) fclose(log);
}

/* ---- the library ---- */

static struct {
    pthread_mutex_t lock;
    void *library;
    __typeof__(fabricast_machine_open) *machine_open;
    __typeof__(fabricast_machine_find) *machine_find;
    __typeof__(fabricast_machine_close) *machine_close;
    __typeof__(fabricast_job_traffic) *job_traffic;
    __typeof__(fabricast_job_close) *job_close;
    __typeof__(fabricast_defaults) *defaults;
    __typeof__(fabricast_predict) *predict;
    __typeof__(fabricast_answer_figures) *answer_figures;
    __typeof__(fabricast_answer_close) *answer_close;
} fabricast = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* libfabricast.so.0: the one that FABRICAST_LIBRARY names, beside this library, in the folder above, or the system's. */
static void *open_library(void)
{
    const char *given = getenv("FABRICAST_LIBRARY");
    char path[PATH_MAX];
    Dl_info here;
    if (given && *given) return dlopen(given, RTLD_NOW | RTLD_LOCAL);
    if (dladdr(&fabricast, &here)) {
        const char *slash = strrchr(here.dli_fname, '/');
        int folder = slash ? (int)(slash - here.dli_fname) + 1 : 0;
        for (int up = 0; up < 2; up++) {
            snprintf(path, sizeof path, "%.*s%slibfabricast.so.0", folder, here.dli_fname, up ? "../" : "");
            void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
            if (library) return library;
        }
    }
    return dlopen("libfabricast.so.0", RTLD_NOW | RTLD_LOCAL);
}

#define TAKE(name)                                                                                                     \
    ((fabricast.name = (__typeof__(fabricast.name))(uintptr_t)dlsym(fabricast.library, "fabricast_" #name)) != NULL)

static bool load_library(void)
{
    if (!fabricast.library) fabricast.library = open_library();
    return fabricast.library && TAKE(machine_open) && TAKE(machine_find) && TAKE(machine_close) && TAKE(job_traffic) &&
           TAKE(job_close) && TAKE(defaults) && TAKE(predict) && TAKE(answer_figures) && TAKE(answer_close);
}

bool fc_place_ready(const char *call)
{
    const char *machine = getenv("FABRICAST_MACHINE");
    if (!machine || !*machine) {
        fc_reorder_say("%s: untouched: FABRICAST_MACHINE names no machine", call);
        return false;
    }
    pthread_mutex_lock(&fabricast.lock);
    bool there = load_library();
    const char *why = there ? NULL : dlerror();
    if (!there)
        fc_reorder_say("%s: untouched: no library to ask: %s", call, why ? why : "libfabricast.so.0 is too old");
    pthread_mutex_unlock(&fabricast.lock);
    return there;
}

/* ---- the question ---- */

struct question {
    const struct fc_placing *p;
    fabricast_machine *machine;
    fabricast_job *job;
    uint32_t *node;  /* [n] of the old ranks */
    uint32_t *used;  /* [n_used] nodes, ascending */
    uint32_t *now;   /* [n] of the new ranks */
    uint32_t *slot;  /* [n] old rank by its node's first slot, in order of nodes and ranks */
    uint32_t *first; /* [n_used + 1] of slot */
    uint32_t n_used;
    bool weighed; /* there are messages */
    fabricast_error error;
};

static bool fail(struct question *q, const char *why)
{
    snprintf(q->error.message, sizeof q->error.message, "%s", why);
    return false;
}

static bool allocate(struct question *q)
{
    size_t n = (size_t)q->p->n;
    q->node = malloc(n * sizeof *q->node);
    q->used = malloc(n * sizeof *q->used);
    q->now = malloc(n * sizeof *q->now);
    q->slot = malloc(n * sizeof *q->slot);
    q->first = calloc(n + 1, sizeof *q->first);
    return (q->node && q->used && q->now && q->slot && q->first) || fail(q, "no memory");
}

struct numbered {
    uint32_t node, rank;
};

static int by_node(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;
    if (x->node != y->node) return x->node < y->node ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* Nodes of the hosts, and the nodes with their ranks. */
static bool find_nodes(struct question *q)
{
    uint32_t n = (uint32_t)q->p->n;
    const char **host = malloc(n * sizeof *host);
    struct numbered *at = malloc(n * sizeof *at);
    bool found = host && at;
    if (!found) fail(q, "no memory");
    for (uint32_t i = 0; found && i < n; i++) host[i] = q->p->host + (size_t)i * FC_HOST_BYTES;
    found = found && !fabricast.machine_find(q->machine, n, host, q->node, &q->error);
    for (uint32_t i = 0; found && i < n; i++) at[i] = (struct numbered){q->node[i], i};
    if (found) qsort(at, n, sizeof *at, by_node);
    for (uint32_t i = 0; found && i < n; i++) {
        if (!i || at[i].node != at[i - 1].node) {
            q->used[q->n_used] = at[i].node;
            q->first[q->n_used++] = i;
        }
        q->slot[i] = at[i].rank;
        q->first[q->n_used] = i + 1;
    }
    free(host);
    free(at);
    return found;
}

/* The messages in bytes; without any a ring, so that a mapping can be read. */
static bool make_job(struct question *q, double bytes_of_mean)
{
    const struct fc_placing *p = q->p;
    size_t n = 0, room = p->n_edges + (size_t)p->n;
    uint32_t *src = malloc(room * sizeof *src), *dst = malloc(room * sizeof *dst);
    double *bytes = malloc(room * sizeof *bytes), sum = 0;
    bool made = src && dst && bytes;
    if (!made) fail(q, "no memory");
    for (size_t e = 0; made && e < p->n_edges; e++) {
        if (p->src[e] < 0 || p->src[e] >= p->n || p->dst[e] < 0 || p->dst[e] >= p->n || p->weight[e] < 0)
            made = fail(q, "the graph has a rank or a weight that cannot be");
        else if (p->src[e] != p->dst[e] && p->weight[e] > 0)
            src[n] = (uint32_t)p->src[e], dst[n] = (uint32_t)p->dst[e], sum += bytes[n++] = p->weight[e];
    }
    q->weighed = n > 0;
    if (made && !n && !p->file) made = fail(q, "no rank has a neighbour");
    for (size_t e = 0, all = n; made && e < all; e++) bytes[e] *= bytes_of_mean / (sum / (double)all);
    for (int i = 0; made && !q->weighed && i < p->n; i++)
        src[n] = (uint32_t)i, dst[n] = (uint32_t)(i + 1) % (uint32_t)p->n, bytes[n++] = bytes_of_mean;
    made = made && !fabricast.job_traffic((uint32_t)p->n, n, src, dst, bytes, &q->job, &q->error);
    free(src);
    free(dst);
    free(bytes);
    return made;
}

/* Predicts with tasks on these nodes (NULL: on those that `map` gives them, which go into q->now). */
static bool predict(struct question *q, const uint32_t *node_of, const char *map, fabricast_figures *figures)
{
    fabricast_settings settings = fabricast.defaults();
    fabricast_answer *answer = NULL;
    settings.map = map;
    settings.node_of = node_of;
    settings.time_only = 1;
    settings.search_s = fmax(least_search_s, search_s_a_rank * q->p->n); /* of all predictions, so that they compare */
    if (map && !q->p->file) { /* a mapping file may name any core of the machine */
        settings.allowed = q->used;
        settings.n_allowed = q->n_used;
    }
    if (fabricast.predict(q->machine, q->job, &settings, &answer, &q->error)) return false;
    *figures = *fabricast.answer_figures(answer);
    if (map) memcpy(q->now, figures->node_of, (size_t)q->p->n * sizeof *q->now);
    fabricast.answer_close(answer);
    return true;
}

static uint32_t unit_of(const struct question *q, uint32_t node)
{
    uint32_t low = 0, high = q->n_used;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (q->used[middle] < node)
            low = middle + 1;
        else
            high = middle;
    }
    return low < q->n_used && q->used[low] == node ? low : UINT32_MAX;
}

/* New ranks beyond what their node has of slots go to the first nodes with room (where hosts have unequal numbers of ranks);
 * for a file that is an error. Says how many moved so. */
static bool fit(struct question *q, uint32_t *moved)
{
    uint32_t n = (uint32_t)q->p->n, unit = 0;
    uint32_t *taken = calloc(q->n_used, sizeof *taken);
    *moved = 0;
    if (!taken) return fail(q, "no memory");
    for (uint32_t t = 0; t < n; t++) {
        uint32_t u = unit_of(q, q->now[t]);
        bool fits = u != UINT32_MAX && taken[u] < q->first[u + 1] - q->first[u];
        if (fits) {
            taken[u]++;
        } else if (q->p->file) {
            snprintf(q->error.message, sizeof q->error.message,
                     "%.500s puts rank %u on node %u, where the job has %u ranks", q->p->file, t, q->now[t],
                     u == UINT32_MAX ? 0 : q->first[u + 1] - q->first[u]);
            free(taken);
            return false;
        } else {
            q->now[t] = UINT32_MAX;
            ++*moved;
        }
    }
    for (uint32_t t = 0; t < n; t++) {
        if (q->now[t] != UINT32_MAX) continue;
        while (taken[unit] == q->first[unit + 1] - q->first[unit]) unit++;
        q->now[t] = q->used[unit];
        taken[unit]++;
    }
    free(taken);
    return true;
}

/* The ranks that stay on their node keep their number, the others of a node take theirs in order. Returns how many change;
 * -1: no memory. */
static int number(const struct question *q, int *new_rank)
{
    uint32_t n = (uint32_t)q->p->n;
    int changed = 0;
    uint32_t *next = malloc(q->n_used * sizeof *next);
    if (!next) return -1;
    memcpy(next, q->first, q->n_used * sizeof *next);
    for (uint32_t i = 0; i < n; i++) new_rank[i] = q->now[i] == q->node[i] ? (int)i : -1;
    for (uint32_t t = 0; t < n; t++) {
        if (q->now[t] == q->node[t]) continue;
        uint32_t u = unit_of(q, q->now[t]);
        while (new_rank[q->slot[next[u]]] >= 0) next[u]++;
        new_rank[q->slot[next[u]]] = (int)t;
        changed++;
    }
    free(next);
    return changed;
}

static double larger_error(const fabricast_figures *a, const fabricast_figures *b, const char **stated)
{
    double error = fmax(a->error_percent, b->error_percent); /* fmax: the other one where one is NaN */
    *stated = isnan(error) ? ", assumed: none is stated" : "";
    return isnan(error) ? unknown_error_percent : error;
}

/* By a search, or a file where there are messages: both times, and whether to do it. */
static bool weigh(struct question *q, double bytes, int changed, double took_s, const fabricast_figures *was,
                  const fabricast_figures *now)
{
    const char *stated;
    double gain = 100 * (was->time_s / now->time_s - 1), error = larger_error(was, now, &stated);
    bool done = changed > 0 && (gain > error || (q->p->always && gain > 0) || q->p->file);
    fc_reorder_say(
        "%s of %d ranks on %u hosts: %s%s, %d ranks %s other numbers; an exchange of %.6g bytes a neighbour: "
        "%.4g s as started, %.4g s %s, %.2f times as fast (error %.0f %%%s)%s; %.0f ms",
        q->p->call, q->p->n, q->n_used, done ? "reordered" : "kept", q->p->file ? " by the mapping" : "", changed,
        done ? "have" : "would have", bytes, was->time_s, now->time_s, done ? "now" : "then", was->time_s / now->time_s,
        error, stated, done || !changed ? "" : ": not more than the error", 1e3 * took_s);
    return done;
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool answer(struct question *q, double bytes, double start_s, int *new_rank)
{
    const struct fc_placing *p = q->p;
    fabricast_figures was = {0}, now = {0};
    uint32_t moved;
    if (!p->file && q->n_used < 2) return fail(q, "all ranks are on one host");
    if (!make_job(q, bytes)) return false;
    if (!predict(q, NULL, p->file ? p->file : "optimize", &now) || !fit(q, &moved)) return false;
    if (moved && !predict(q, q->now, NULL, &now)) return false;
    int changed = number(q, new_rank);
    if (changed < 0) return fail(q, "no memory");
    was = now; /* where no rank moves */
    if (changed > 0 && q->weighed && !predict(q, q->node, NULL, &was)) return false;
    if (q->weighed) return weigh(q, bytes, changed, seconds() - start_s, &was, &now);
    fc_reorder_say("%s of %d ranks on %u hosts: renumbered by %s, %d ranks have other numbers", p->call, p->n,
                   q->n_used, p->file, changed);
    return changed > 0;
}

static int by_name(const void *a, const void *b)
{
    return strncmp(a, b, FC_HOST_BYTES);
}

/* The most ranks on a host; 0: no memory. */
static uint32_t most_on_a_host(const struct fc_placing *p)
{
    size_t n = (size_t)p->n;
    uint32_t most = 0, here = 0;
    char(*name)[FC_HOST_BYTES] = malloc(n * sizeof *name);
    if (!name) return 0;
    memcpy(name, p->host, n * sizeof *name);
    qsort(name, n, sizeof *name, by_name);
    for (size_t i = 0; i < n; i++) {
        here = i && !by_name(name[i], name[i - 1]) ? here + 1 : 1;
        if (here > most) most = here;
    }
    free(name);
    return most;
}

/* The machine, with as many cores a node as ranks are there, where a search places them. */
static bool open_machine(struct question *q)
{
    char text[64];
    const char *settings[] = {text, NULL};
    uint32_t cores = q->p->file ? 0 : most_on_a_host(q->p);
    if (!q->p->file && !cores) return fail(q, "no memory");
    snprintf(text, sizeof text, "node.cores=%u", cores);
    return !fabricast.machine_open(getenv("FABRICAST_MACHINE"), cores ? settings : NULL, &q->machine, &q->error);
}

static bool bytes_of_mean(struct question *q, double *bytes)
{
    const char *text = getenv("FABRICAST_REORDER_BYTES");
    char *end;
    *bytes = mean_bytes;
    if (!text || !*text) return true;
    *bytes = strtod(text, &end);
    if (end != text && !*end && *bytes >= 1 && *bytes <= 1e12) return true;
    snprintf(q->error.message, sizeof q->error.message,
             "FABRICAST_REORDER_BYTES is '%.60s' (expected a number of bytes, 1 to 1e12)", text);
    return false;
}

bool fc_place(const struct fc_placing *p, int *new_rank)
{
    struct question q = {.p = p};
    double start_s = seconds(), bytes;
    pthread_mutex_lock(&fabricast.lock);
    bool placed = allocate(&q) && bytes_of_mean(&q, &bytes) && open_machine(&q) && find_nodes(&q) &&
                  answer(&q, bytes, start_s, new_rank);
    if (!placed && *q.error.message)
        fc_reorder_say("%s of %d ranks: untouched: %s%s%s", p->call, p->n, q.error.file, *q.error.file ? ": " : "",
                       q.error.message);
    fabricast.job_close(q.job);
    fabricast.machine_close(q.machine);
    pthread_mutex_unlock(&fabricast.lock);
    free(q.node);
    free(q.used);
    free(q.now);
    free(q.slot);
    free(q.first);
    return placed;
}
