/* queue.c - start now on what is free, or later on better nodes?
 *
 *     end = start + run time of the job on these nodes,      advice: wait where end(now) - end(later) > error
 *
 * A file tells when which nodes become free; at time t all nodes of lines up to t are (nobody else takes them). At every time at
 * which enough are free the job could take, of those nodes,
 *
 *     listed   the first of the line or lines of that time alone: a block that becomes free
 *     packed   one node and those nearest to it, of all such sets the one with the least sum of distances to its first node.
 *              The sum over all pairs is then at most twice the least possible (Krumke et al., Compact location problems, TCS
 *              181, 1997: each node's star is a candidate, and distances obey the triangle inequality)
 *     spread   one node after the other, each farthest from those taken (Gonzalez 1985)
 *     random   drawn from all, by the seed
 *
 * in the order of their numbers but for `listed`, which keeps the file's. A set that could have started earlier is no candidate
 * again. Distances are links of shortest paths, of those that failed too. The error of a difference is the larger one of the two run times': what one model
 * has wrong on both sides cancels, so it is on the safe side.
 *
 * Limits: nodes that are free later are taken to be free then for certain; `packed` begins at 256 of the free nodes at most. */
#include "answer/queue.h"
#include "core/values.h"
#include "core/hostlist.h"
#include "models/hosts.h"

#include <stdlib.h>
#include <string.h>

enum { POLICIES = 4, MOST_TIMES = FC_QUEUE_MOST / POLICIES, MOST_STARTS = 256, MOST_MINUTES = 10000000 };
static const char *const policies[POLICIES] = {"listed", "packed", "spread", "random"};

struct line {
    double start_s;
    long number;
    uint32_t *node; /* [n] in the order written */
    size_t n;
};
struct reading {
    const struct fc_question *q;
    const struct fc_session *session;
    const uint32_t *now; /* FC_NONE: the node is gone; NULL: none is */
    struct fc_start_choices *queue;
    struct fc_arena scratch;
    const char *path;
    struct line *lines; /* [n_lines] by rising start */
    size_t n_lines;
    long *free_by;               /* [nodes] line by which a node is free; 0: never */
    uint32_t *free_node, n_free; /* [n_free] at the time at hand, by number */
    uint32_t *hops, *stack;      /* [n_vertices] */
    uint32_t **taken;            /* [n candidates] their nodes by number, to tell equal ones */
    struct fc_status *st;
};

/* ---- the file ---- */

static enum fc_code fail(const struct reading *r, long line, const char *what)
{
    return fc_fail(r->st, FC_INPUT, (struct fc_place){r->path, line},
                   "%s (expected +MINUTES and nodes, e.g. +90 n[00-07])", what);
}

/* "+90". */
static enum fc_code read_start(const struct reading *r, const char *word, size_t length, struct line *line)
{
    char text[32], *end = text;
    double minutes = NAN;
    if (*word == '+' && length > 1 && length < sizeof text) {
        memcpy(text, word + 1, length - 1);
        text[length - 1] = 0;
        if (strspn(text, "0123456789.") == length - 1) minutes = strtod(text, &end);
    }
    if (!(minutes >= 0) || *end) return fail(r, line->number, "no +MINUTES");
    if (minutes > MOST_MINUTES) return fail(r, line->number, "more than 10000000 minutes from now");
    line->start_s = 60 * minutes;
    return FC_OK;
}

/* The words behind it are one list. */
static enum fc_code read_nodes(struct reading *r, const char *at, const char *end, struct line *line)
{
    struct fc_place where = {r->path, line->number};
    static const char whose[] = "--nodes: "; /* what the reader of lists takes them for */
    char *text = fc_alloc(&r->scratch, (size_t)(end - at) + 2, 1, r->st), *to = text;
    const char *word;
    size_t length;
    struct fc_status why = {0};
    if (!text) return r->st->code;
    while (fc_next_word(&at, end, &word, &length)) {
        if (to > text && to[-1] != ',' && *word != ',') *to++ = ',';
        memcpy(to, word, length);
        to += length;
    }
    if (to == text) return fail(r, line->number, "no nodes");
    if (*text == '@' || fc_nodes_in_file(text)) return fail(r, line->number, "nodes of another file");
    if (fc_nodes_read(&r->session->net, text, 0, &r->scratch, &line->node, &line->n, &why))
        return fc_fail(r->st, why.code, where, "%s",
                       why.message + (strncmp(why.message, whose, sizeof whose - 1) ? 0 : sizeof whose - 1));
    for (size_t i = 0; i < line->n; i++) {
        long *by = &r->free_by[line->node[i]];
        char name[300];
        if (r->now && r->now[line->node[i]] == FC_NONE)
            return fc_fail(r->st, FC_INPUT, where, "%s is gone (failed, or by --without)",
                           fc_node_name(&r->session->net, line->node[i], name, sizeof name));
        if (*by)
            return fc_fail(r->st, FC_INPUT, where, "%s is free by line %ld already",
                           fc_node_name(&r->session->net, line->node[i], name, sizeof name), *by);
        *by = line->number;
    }
    return FC_OK;
}

static int by_start(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    if (x->start_s != y->start_s) return x->start_s < y->start_s ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static enum fc_code read_file(struct reading *r)
{
    struct fc_text text;
    struct fc_lines lines;
    size_t most = 1;
    if (fc_read_file(r->path, &r->scratch, &text, r->st)) return r->st->code;
    for (size_t i = 0; i < text.size; i++) most += text.data[i] == '\n';
    r->lines = fc_alloc(&r->scratch, most, sizeof *r->lines, r->st);
    for (fc_lines_start(&lines, &text); r->lines && fc_lines_next(&lines);) {
        const char *comment = memchr(lines.text, '#', lines.length), *at = lines.text, *word;
        const char *end = comment ? comment : at + lines.length;
        size_t length;
        struct line *line = &r->lines[r->n_lines];
        if (!fc_next_word(&at, end, &word, &length)) continue;
        line->number = lines.line;
        if (read_start(r, word, length, line) || read_nodes(r, at, end, line)) return r->st->code;
        r->n_lines++;
    }
    if (r->n_lines) qsort(r->lines, r->n_lines, sizeof *r->lines, by_start);
    return r->st->code;
}

/* ---- sets of nodes ---- */

/* Links of a shortest path from the node to every vertex, into r->hops; FC_NONE: there is none. */
static void measure(struct reading *r, uint32_t node)
{
    const struct fc_network *net = &r->session->net;
    uint32_t n = 0, start = fc_node_vertex(net, node);
    memset(r->hops, 0xff, net->n_vertices * sizeof *r->hops);
    r->hops[start] = 0;
    r->stack[n++] = start;
    for (uint32_t head = 0; head < n; head++) {
        uint32_t v = r->stack[head];
        for (uint32_t l = net->first_link[v]; l < net->first_link[v + 1]; l++) {
            uint32_t to = net->link_target[l];
            if (r->hops[to] != FC_NONE) continue;
            r->hops[to] = r->hops[v] + 1;
            r->stack[n++] = to;
        }
    }
}
static uint32_t hops_to(const struct reading *r, uint32_t node)
{
    uint32_t hops = r->hops[fc_node_vertex(&r->session->net, node)];
    return hops == FC_NONE ? 1u << 20 : hops; /* farther than any path */
}

static int by_distance(const void *a, const void *b, void *context)
{
    const uint32_t *x = a, *y = b;
    uint32_t left = hops_to(context, *x), right = hops_to(context, *y);
    if (left != right) return left < right ? -1 : 1;
    return *x < *y ? -1 : *x > *y;
}

static void pack(struct reading *r, uint32_t *set, uint32_t k, uint32_t *order)
{
    uint64_t least = UINT64_MAX;
    uint32_t n_starts = r->n_free < MOST_STARTS ? r->n_free : MOST_STARTS;
    for (uint32_t s = 0; s < n_starts; s++) {
        uint64_t sum = 0;
        memcpy(order, r->free_node, r->n_free * sizeof *order);
        measure(r, r->free_node[(uint64_t)s * r->n_free / n_starts]);
        qsort_r(order, r->n_free, sizeof *order, by_distance, r);
        for (uint32_t i = 0; i < k; i++) sum += hops_to(r, order[i]);
        if (sum >= least) continue;
        least = sum;
        memcpy(set, order, k * sizeof *set);
    }
    qsort(set, k, sizeof *set, fc_by_number);
}

static void spread(struct reading *r, uint32_t *set, uint32_t k, uint32_t *nearest)
{
    uint32_t at = 0;
    memset(nearest, 0xff, r->n_free * sizeof *nearest);
    for (uint32_t i = 0; i < k; i++) {
        set[i] = r->free_node[at];
        measure(r, set[i]);
        at = 0;
        for (uint32_t f = 0; f < r->n_free; f++) {
            uint32_t hops = hops_to(r, r->free_node[f]);
            if (hops < nearest[f]) nearest[f] = hops;
            if (nearest[f] > nearest[at]) at = f;
        }
    }
    qsort(set, k, sizeof *set, fc_by_number);
}

static void draw(struct reading *r, uint32_t *set, uint32_t k, uint32_t *order)
{
    memcpy(order, r->free_node, r->n_free * sizeof *order);
    for (uint32_t i = 0; i < k; i++) {
        uint32_t at = i + (uint32_t)fc_random_below(r->q->seed, 11, i, r->n_free - i), node = order[at];
        order[at] = order[i];
        set[i] = order[i] = node;
    }
    qsort(set, k, sizeof *set, fc_by_number);
}

/* ---- candidates ---- */

/* "0-3,7", or hosts as "n[00-03,07]"; ranges over what follows itself by one. */
static const char *list_text(struct reading *r, const uint32_t *node, uint32_t n, bool hosts)
{
    struct fc_memory_stream memory;
    const struct fc_network *net = &r->session->net;
    if (fc_memory_open(&memory, r->st)) return NULL;
    for (uint32_t i = 0, last; i < n; i = last + 1) {
        const char *host = hosts ? net->host_name[node[i]] : "";
        size_t length = strlen(host), digits = 0;
        while (digits < length && digits < 9 && strchr("0123456789", host[length - digits - 1])) digits++;
        unsigned long first = hosts ? strtoul(host + length - digits, NULL, 10) : node[i];
        for (last = i; last + 1 < n; last++) {
            char next[FC_MOST_HOST_NAME + 32];
            unsigned long number = first + (last + 1 - i);
            if (hosts) {
                snprintf(next, sizeof next, "%.*s%0*lu", (int)(length - digits), host, (int)digits, number);
                if (!digits || strcmp(next, net->host_name[node[last + 1]])) break;
            } else if (node[last + 1] != number)
                break;
        }
        if (i) putc(',', memory.stream);
        if (!hosts)
            fprintf(memory.stream, last > i ? "%u-%u" : "%u", node[i], node[last]);
        else if (last == i)
            fputs(host, memory.stream);
        else
            fprintf(memory.stream, "%.*s[%0*lu-%0*lu]", (int)(length - digits), host, (int)digits, first, (int)digits,
                    first + (last - i));
    }
    const char *text = fc_memory_close(&memory, r->st) ? NULL : fc_copy_text(&r->queue->arena, memory.text, r->st);
    free(memory.text);
    return text;
}

/* Adds the set, unless it is there with an earlier or the same start. */
static enum fc_code add(struct reading *r, const uint32_t *set, uint32_t k, double start_s, const char *policy)
{
    const struct fc_network *net = &r->session->net;
    struct fc_start_choices *queue = r->queue;
    uint32_t *sorted = fc_alloc(&r->scratch, k, sizeof *sorted, r->st);
    bool named = net->host_name != NULL;
    if (!sorted) return r->st->code;
    memcpy(sorted, set, k * sizeof *sorted);
    qsort(sorted, k, sizeof *sorted, fc_by_number);
    for (size_t i = 0; i < queue->n; i++)
        if (!memcmp(r->taken[i], sorted, k * sizeof *sorted)) return FC_OK;
    for (uint32_t i = 0; i < k; i++) named = named && net->host_name[set[i]];
    struct fc_queue_candidate *c = &queue->candidate[queue->n];
    *c = (struct fc_queue_candidate){.start_s = start_s, .policy = policy};
    r->taken[queue->n++] = sorted;
    c->nodes = list_text(r, set, k, false);
    c->label = c->nodes && named ? list_text(r, set, k, true) : c->nodes;
    return r->st->code;
}

/* The nodes of the lines of that time, in their order, if they are enough. */
static uint32_t listed(struct reading *r, size_t first, size_t end, uint32_t *set, uint32_t k)
{
    uint32_t n = 0;
    for (size_t l = first; l < end; l++)
        for (size_t i = 0; i < r->lines[l].n && n < k; i++) set[n++] = r->lines[l].node[i];
    return n;
}

static enum fc_code choose_at(struct reading *r, size_t first, size_t end)
{
    uint32_t k = r->queue->n_nodes, n_nodes = r->session->net.n_nodes;
    double start_s = r->lines[first].start_s;
    uint32_t *set = fc_alloc(&r->scratch, k, sizeof *set, r->st);
    uint32_t *order = fc_alloc(&r->scratch, n_nodes, sizeof *order, r->st);
    if (r->st->code) return r->st->code;
    for (int p = 0; p < POLICIES && !r->st->code; p++) {
        if (p == 0 && listed(r, first, end, set, k) < k) continue;
        if (p == 1) pack(r, set, k, order);
        if (p == 2) spread(r, set, k, order);
        if (p == 3) draw(r, set, k, order);
        add(r, set, k, start_s, policies[p]);
    }
    return r->st->code;
}

static enum fc_code choose(struct reading *r)
{
    struct fc_start_choices *queue = r->queue;
    const struct fc_network *net = &r->session->net;
    size_t times = 0;
    r->free_node = fc_alloc(&r->scratch, net->n_nodes, sizeof *r->free_node, r->st);
    r->hops = fc_alloc(&r->scratch, net->n_vertices, sizeof *r->hops, r->st);
    r->stack = fc_alloc(&r->scratch, net->n_vertices, sizeof *r->stack, r->st);
    r->taken = fc_alloc(&r->scratch, FC_QUEUE_MOST, sizeof *r->taken, r->st);
    queue->candidate = fc_alloc(&queue->arena, FC_QUEUE_MOST, sizeof *queue->candidate, r->st);
    for (size_t first = 0, end; first < r->n_lines && !r->st->code; first = end) {
        for (end = first; end < r->n_lines && r->lines[end].start_s == r->lines[first].start_s; end++)
            for (size_t i = 0; i < r->lines[end].n; i++) r->free_node[r->n_free++] = r->lines[end].node[i];
        qsort(r->free_node, r->n_free, sizeof *r->free_node, fc_by_number);
        if (r->lines[first].start_s == 0) queue->n_free_now = r->n_free;
        if (r->n_free < queue->n_nodes) continue;
        if (times++ == MOST_TIMES)
            return fc_fail(r->st, FC_INPUT, (struct fc_place){r->path, r->lines[first].number},
                           "more than %d times at which enough nodes are free", MOST_TIMES);
        choose_at(r, first, end);
    }
    if (!r->st->code && !queue->n)
        fc_fail(r->st, FC_INPUT, (struct fc_place){r->path, 0}, "%u nodes are ever free, and the job takes %u",
                r->n_free, queue->n_nodes);
    return r->st->code;
}

enum fc_code fc_queue_read(const struct fc_question *q, const struct fc_session *session, const uint32_t *now,
                           uint32_t n_tasks, const char *path, struct fc_start_choices *queue, struct fc_status *st)
{
    struct reading r = {.q = q, .session = session, .now = now, .queue = queue, .path = path, .st = st};
    uint32_t a_node = q->ranks_per_node ? (uint32_t)q->ranks_per_node : (uint32_t)session->machine.cores_per_node;
    *queue = (struct fc_start_choices){.n_nodes = (n_tasks + a_node - 1) / a_node};
    if (fc_session_only_alike(session, "--queue", st)) return st->code;
    r.free_by = fc_alloc(&r.scratch, session->net.n_nodes, sizeof *r.free_by, st);
    if (r.free_by && !read_file(&r)) choose(&r);
    fc_arena_free(&r.scratch);
    return st->code;
}

FC_FREES(fc_queue_free, fc_start_choices)

/* ---- the decision ---- */

struct fc_queue_choice fc_queue_choose(const struct fc_start_choices *queue, const double *run_s,
                                       const double *error_percent)
{
    struct fc_queue_choice c = {0};
    size_t first = 0;
    while (first + 1 < queue->n && isnan(run_s[first])) first++;
    c.best = c.now = first;
    for (size_t i = first + 1; i < queue->n; i++) { /* comparisons with a NaN are false */
        double end_s = queue->candidate[i].start_s + run_s[i];
        if (end_s < queue->candidate[c.best].start_s + run_s[c.best]) c.best = i;
        if (queue->candidate[i].start_s == queue->candidate[first].start_s && run_s[i] < run_s[c.now]) c.now = i;
    }
    c.gain_s = queue->candidate[c.now].start_s + run_s[c.now] - queue->candidate[c.best].start_s - run_s[c.best];
    for (int k = 0; k < 2; k++) {
        size_t i = k ? c.now : c.best;
        double percent = isnan(error_percent[i]) ? FC_QUEUE_ERROR_PERCENT : error_percent[i];
        c.error_s = fmax(c.error_s, run_s[i] * percent / 100);
    }
    c.wait = queue->candidate[c.best].start_s > queue->candidate[c.now].start_s && c.gain_s > c.error_s;
    return c;
}
