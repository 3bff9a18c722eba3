/* background.c - other jobs beside the one that is asked about, and what an answer says of them. `background` is one of
 *
 *     PATTERN:LOAD             between all nodes, or those of `background_nodes`: LOAD in flits a node and cycle (0.3), of
 *                              the busiest link's time (30%), payload a node (50MB/s), or full: every source always has a
 *                              packet waiting
 *     FILE[:over=TIME]         a graph: bytes/s between nodes, or bytes that flow anew in every TIME
 *     trace:FILE[:over=TIME]   another job's mean rates: its bytes in the time that it takes here alone, or in TIME
 *     job:FILE                 the other job itself in the same replay, again and again (replay_beside.c)
 *
 * Several, each on nodes of its own, are the sum of their rates (all but job: and full). */
#include "answer/session.h"
#include "traces/trace_source.h"

#include <stdlib.h>
#include <string.h>

struct other {
    const struct fc_question *q;
    struct fc_session *session;
    struct fc_arena scratch;
    uint32_t *nodes; /* where it runs */
    size_t n_nodes;
    bool listed; /* by --background-nodes */
    bool one_of; /* of several */
    struct fc_status *st;
};

/* ---- where ---- */

static enum fc_code read_listed(struct other *o)
{
    struct fc_status why = {0};
    o->listed = o->q->background_nodes != NULL;
    static const char whose[] = "--nodes: "; /* what the reader of lists takes them for */
    if (!o->listed ||
        !fc_session_read_nodes(o->q, o->session, o->q->background_nodes, &o->scratch, &o->nodes, &o->n_nodes, &why))
        return FC_OK;
    if (*why.file) return fc_fail(o->st, why.code, (struct fc_place){why.file, why.line}, "%s", why.message);
    bool named = !strncmp(why.message, whose, sizeof whose - 1);
    return fc_refuse(o->st, why.code, "--background-nodes: %s", why.message + (named ? sizeof whose - 1 : 0));
}

/* All nodes, or those that --nodes leaves. */
static enum fc_code take_others(struct other *o, bool all)
{
    const struct fc_session *s = o->session;
    if (o->listed) return FC_OK;
    if (!all && o->one_of)
        return fc_refuse(o->st, FC_INPUT,
                         "--background: of several jobs each has nodes of its own (expected --background-nodes LIST "
                         "behind %s)",
                         o->q->background);
    if (!all && !s->nodes)
        return fc_refuse(o->st, FC_INPUT,
                         "--background: on which nodes does the other job run? (expected --background-nodes LIST, or "
                         "--nodes LIST for this one: the other then has the rest)");
    bool *ours = fc_alloc(&o->scratch, s->net.n_nodes, sizeof *ours, o->st);
    o->nodes = fc_alloc(&o->scratch, s->net.n_nodes, sizeof *o->nodes, o->st);
    if (o->st->code) return o->st->code;
    for (size_t i = 0; !all && i < s->n_nodes; i++) ours[s->nodes[i]] = true;
    for (uint32_t n = 0; n < s->net.n_nodes; n++)
        if (!ours[n]) o->nodes[o->n_nodes++] = n;
    return FC_OK;
}

/* Node of every task, `a_node` of them on each. */
static uint32_t *place(struct other *o, const char *file, uint32_t n_tasks, uint64_t a_node)
{
    uint32_t *node = fc_alloc(&o->scratch, n_tasks, sizeof *node, o->st);
    if (!node) return NULL;
    if ((n_tasks + a_node - 1) / a_node > o->n_nodes) {
        fc_fail(o->st, FC_INPUT, (struct fc_place){file, 0},
                "the background has %u tasks, %llu a node, and %zu nodes to run on", n_tasks,
                (unsigned long long)a_node, o->n_nodes);
        return NULL;
    }
    for (uint32_t t = 0; t < n_tasks; t++) node[t] = o->nodes[t / a_node];
    return node;
}

/* ---- a pattern ---- */

static bool is_pattern(const char *text)
{
    size_t n = strcspn(text, ":");
    for (const struct fc_pattern_ops *const *p = fc_patterns; *p; p++)
        if (strlen((*p)->name) == n && !strncmp((*p)->name, text, n)) return true;
    return false;
}

static enum fc_code read_load(const char *text, enum fc_background_load *kind, double *load, struct fc_status *st)
{
    struct fc_status no_rate = {0};
    char *end;
    *load = strtod(text, &end);
    bool number = end != text && *load > 0 && !isinf(*load);
    *kind = FC_BACKGROUND_FLITS;
    if (!strcmp(text, "full"))
        *kind = FC_BACKGROUND_FULL;
    else if (number && !strcmp(end, "%") && *load < 100) {
        *kind = FC_BACKGROUND_SHARE;
        *load /= 100;
    } else if (number && *end && strcmp(end, "%") &&
               !fc_quantity(text, FC_BYTES_PER_S, 0, load, (struct fc_place){0}, &no_rate))
        *kind = FC_BACKGROUND_PAYLOAD;
    else if (!number || *end)
        return fc_refuse(st, FC_INPUT,
                         "--background: '%s' is no load (expected flits a node and cycle, e.g. 0.3, a part of the "
                         "busiest link's time, e.g. 30%%, payload a node, e.g. 50MB/s, or full)",
                         text);
    return FC_OK;
}

/* "hotregion:fraction=0.25,load=0.3", "uniform:0.3": the load is what stands last. */
static enum fc_code of_pattern(struct other *o, const char *text)
{
    enum fc_background_load kind;
    double load;
    char *pattern = fc_copy_text(&o->scratch, text, o->st);
    if (!pattern) return o->st->code;
    char *colon = strchr(pattern, ':'), *comma = strrchr(pattern, ','), *last = comma ? comma : colon;
    const char *value = last ? last + 1 : "";
    if (!strncmp(value, "load=", 5))
        value += 5;
    else if (strchr(value, '='))
        value = "";
    if (!*value)
        return fc_refuse(o->st, FC_INPUT,
                         "--background: %s has no load (expected PATTERN:LOAD, e.g. uniform:0.3, or "
                         "PATTERN:key=value,load=LOAD)",
                         text);
    if (read_load(value, &kind, &load, o->st)) return o->st->code;
    *last = 0;
    return fc_background_of_pattern(&o->session->net, pattern, o->nodes, o->n_nodes, kind, load, o->q->seed,
                                    &o->session->background, o->st);
}

/* ---- files ---- */

/* Cuts ":over=TIME" off the end; *over_s stays where there is none. */
static enum fc_code cut_over(char *file, double *over_s, struct fc_status *st)
{
    struct fc_status why = {0};
    char *at = NULL;
    for (char *next = file; (next = strstr(next, ":over=")); next++) at = next;
    if (!at) return FC_OK;
    *at = 0;
    if (fc_quantity(at + 6, FC_SECONDS, 0, over_s, (struct fc_place){0}, &why))
        return fc_refuse(st, FC_INPUT, "--background: over: %s", why.message);
    if (!(*over_s > 0 && *over_s <= 1e9))
        return fc_refuse(st, FC_INPUT, "--background: over=%s is not a time above 0 and up to 1e9 s", at + 6);
    return FC_OK;
}

static enum fc_code of_graph(struct other *o, char *file)
{
    FC_SCOPED(fc_demand_free) struct fc_demand demand = {0};
    double over_s = 1;
    if (cut_over(file, &over_s, o->st) || take_others(o, true) || fc_demand_from_graph(file, &demand, o->st))
        return o->st->code;
    const uint32_t *node = place(o, file, demand.n_tasks, 1);
    if (node)
        fc_background_of_demand(&o->session->net, &demand, node, 1 / over_s, o->q->seed, &o->session->background,
                                o->st);
    return o->st->code;
}

/* How long the other job takes on its nodes alone. */
static enum fc_code time_alone(struct other *o, const struct fc_trace *trace, const uint32_t *node, double *time_s)
{
    FC_SCOPED(fc_replay_free) struct fc_replay replay = {0};
    struct fc_placement placement = {trace->n_ranks, node};
    struct fc_replay_settings settings = {.network = FC_NET_CONTENTION, .software = o->session->machine.software};
    if (fc_replay_run(&o->session->net, trace, &placement, &settings, &replay, o->st)) return o->st->code;
    *time_s = replay.prediction.time_s;
    if (*time_s > 0) return FC_OK;
    return fc_fail(o->st, FC_INPUT, (struct fc_place){trace->file, 0}, "takes no time: no background");
}

static enum fc_code of_trace(struct other *o, char *file)
{
    FC_SCOPED(fc_trace_free) struct fc_trace trace = {0};
    FC_SCOPED(fc_demand_free) struct fc_demand demand = {0};
    double over_s = 0;
    if (cut_over(file, &over_s, o->st) || take_others(o, false) || fc_trace_read(file, &trace, o->st))
        return o->st->code;
    const uint32_t *node = place(o, file, trace.n_ranks, (uint64_t)o->session->machine.cores_per_node);
    if (node && (over_s > 0 || !time_alone(o, &trace, node, &over_s)) && !fc_demand_of_job(&trace, &demand, o->st))
        fc_background_of_demand(&o->session->net, &demand, node, 1 / over_s, o->q->seed, &o->session->background,
                                o->st);
    return o->st->code;
}

static enum fc_code of_job(struct other *o, const char *file)
{
    struct fc_session *s = o->session;
    if (!o->q->trace)
        return fc_refuse(
            o->st, FC_INPUT,
            "--background: job:FILE is replayed beside a trace (expected -t TRACE; or trace:FILE, its mean "
            "rates)");
    if (take_others(o, false) || fc_trace_read(file, &s->other, o->st)) return o->st->code;
    uint32_t *node = fc_alloc(&s->arena, s->other.n_ranks, sizeof *node, o->st);
    const uint32_t *there = place(o, file, s->other.n_ranks, (uint64_t)s->machine.cores_per_node);
    if (!node || !there) return o->st->code;
    memcpy(node, there, s->other.n_ranks * sizeof *node);
    s->other_placement = (struct fc_placement){s->other.n_ranks, node};
    return FC_OK;
}

enum fc_code fc_session_only_alike(const struct fc_session *s, const char *who, struct fc_status *st)
{
    if (!s->net.node_kind) return FC_OK;
    return fc_fail(
        st, FC_INPUT, (struct fc_place){s->machine.file, s->machine.kinds.kind[0].line},
        "node: %s is for machines whose nodes are all alike (expected node: {...}; load, predict and map take a list)",
        who);
}

/* One background into the session. */
static enum fc_code read_one(const struct fc_question *q, struct fc_session *s, bool one_of, struct fc_status *st)
{
    struct other o = {.q = q, .session = s, .one_of = one_of, .st = st};
    const char *text = q->background;
    if (one_of && !strncmp(text, "job:", 4))
        return fc_refuse(
            st, FC_INPUT,
            "--background: a job: is replayed alone beside this one (expected trace:FILE for each of several)");
    char *file = fc_copy_text(&o.scratch, strncmp(text, "trace:", 6) ? text : text + 6, st);
    if (file && !read_listed(&o)) {
        if (is_pattern(text))
            of_pattern(&o, text);
        else if (!strncmp(text, "job:", 4))
            of_job(&o, text + 4);
        else if (file[0] == text[0] && strlen(file) == strlen(text))
            of_graph(&o, file);
        else
            of_trace(&o, file);
    }
    fc_arena_free(&o.scratch);
    return st->code;
}

enum fc_code fc_session_background(const struct fc_question *q, struct fc_session *s, struct fc_status *st)
{
    if (!q->background)
        return q->background_nodes
                   ? fc_refuse(st, FC_INPUT, "--background-nodes: no background (expected --background)")
                   : FC_OK;
    if (fc_session_only_alike(s, "--background", st) || read_one(q, s, q->n_more > 0, st)) return st->code;
    for (size_t i = 0; i < q->n_more && !st->code; i++) {
        struct fc_question other = *q;
        struct fc_background before = s->background;
        other.background = q->more[i].background;
        other.background_nodes = q->more[i].nodes;
        s->background = (struct fc_background){0};
        if (!read_one(&other, s, true, st)) fc_background_add(&s->net, &before, q->seed, &s->background, st);
        fc_background_free(&before);
    }
    if (!st->code) s->background_bytes_per_s = s->background.link_bytes_per_s; /* NULL: a job */
    return st->code;
}

enum fc_code fc_session_only_rates(const struct fc_session *s, struct fc_status *st)
{
    if (!s->other.first_event) return FC_OK;
    return fc_refuse(st, FC_INPUT, "--background: job:FILE is for `predict` (expected trace:FILE, its mean rates)");
}

/* ---- what is said of it ---- */

static double of_link(const struct fc_session *s, uint32_t link)
{
    return link == FC_NONE ? (double)NAN : s->background_bytes_per_s[link] / fc_link_bandwidth(&s->net, link);
}

/* As it was asked for, a file without the folders before it. */
static const char *short_name(const char *text)
{
    const char *slash = is_pattern(text) ? NULL : strrchr(text, '/');
    return slash ? slash + 1 : text;
}

/* All of them, in the order given. */
static const char *names(const struct fc_question *q, bool whole, struct fc_arena *arena, struct fc_status *st)
{
    size_t size = strlen(q->background) + 1;
    for (size_t i = 0; i < q->n_more; i++) size += strlen(q->more[i].background) + 3;
    char *text = fc_alloc(arena, size, 1, st);
    for (size_t i = 0, n = 0; text && i <= q->n_more; i++) {
        const char *one = i < q->n_more ? q->more[i].background : q->background;
        n += (size_t)snprintf(text + n, size - n, "%s%s", i ? " + " : "", whole ? one : short_name(one));
    }
    return text;
}

enum fc_code fc_other_traffic_of(const struct fc_question *q, const struct fc_session *s, uint32_t bottleneck,
                                 struct fc_arena *arena, struct fc_other_traffic *other, struct fc_status *st)
{
    const struct fc_background *b = &s->background;
    char name[256];
    struct fc_beside beside = other->beside;
    *other = (struct fc_other_traffic){.bottleneck_utilization = NAN};
    if (!s->other.first_event && !s->background_bytes_per_s) return FC_OK;
    other->what = names(q, true, arena, st);
    other->short_name = names(q, false, arena, st);
    if (st->code) return st->code;
    if (s->other.first_event) {
        other->kind = FC_OTHER_JOB;
        other->n_tasks = s->other.n_ranks;
        other->beside = beside;
        return FC_OK;
    }
    other->kind = FC_OTHER_RATES;
    other->n_senders = b->n_senders;
    other->offered_bytes_per_s = b->offered_bytes_per_s;
    other->max_utilization = b->max_utilization;
    other->full = b->fills;
    other->bottleneck_utilization = of_link(s, bottleneck);
    if (b->busiest != FC_NONE)
        other->busiest_link = fc_copy_text(arena, fc_link_name(&s->net, b->busiest, name, sizeof name), st);
    return st->code;
}

const char *fc_other_traffic_text(const struct fc_other_traffic *o, struct fc_arena *arena, struct fc_status *st)
{
    char text[512], one[64], two[64], own[64] = "";
    if (o->kind == FC_OTHER_NONE) return NULL;
    if (o->kind == FC_OTHER_JOB) {
        snprintf(text, sizeof text, "%s: %u tasks, up to %llu runs of %s alone; this job alone takes %s", o->short_name,
                 o->n_tasks, (unsigned long long)o->beside.runs,
                 fc_format(two, sizeof two, o->beside.other_alone_s, FC_SECONDS),
                 fc_format(one, sizeof one, o->beside.alone_s, FC_SECONDS));
        return fc_copy_text(arena, text, st);
    }
    if (!isnan(o->bottleneck_utilization))
        snprintf(own, sizeof own, "; of the bottleneck %.1f %%", 100 * o->bottleneck_utilization);
    snprintf(text, sizeof text, "%s: %u nodes send %s; of the busiest link, %s, it takes %.1f %%%s", o->short_name,
             o->n_senders, fc_format(one, sizeof one, o->offered_bytes_per_s, FC_BYTES_PER_S),
             o->busiest_link ? o->busiest_link : "none", 100 * o->max_utilization, own);
    return fc_copy_text(arena, text, st);
}
