/* format_chakra.c - reads Chakra execution traces, one file a rank (NAME.RANK.et, or JSON NAME.RANK.json), as
 * a graph.
 *
 * Every node becomes an event of its rank: COMP and what only takes time an OTHER of the node's duration;
 * SEND and RECV messages; COLL a collective over its process group (JSON {"group": [ranks]} in NAME.json or
 * comm_group.json beside the files) or all ranks. Its control and data dependencies must have finished. Files
 * need not list nodes in order: they are sorted so that each comes behind what it depends on and otherwise as
 * in the file (chakra_order.c), for which one rank's nodes are in memory, about 150 bytes each and 16 a
 * dependency. A dependency on a node that is not there is counted and dropped. Processor 0 of a rank makes
 * what runs on the CPU, 1 computation and 2 communication of the accelerator: they overlap. Sizes as
 * ASTRA-sim takes them: comm_size is what a rank puts in; all-to-all and reduce-scatter divide it by the
 * members, rounded up. Durations of communications are results of the recorded run and not used. Limits: no
 * order of an accelerator's streams beyond the dependencies; no dimensions of a network (involved_dim).
 * Source: mlcommons/chakra et_def.proto; Sridharan et al., arXiv:2305.14516. */
#include "traces/formats/chakra.h"

#include "core/rank_files.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- events ---- */

static enum fc_code only_time(struct fc_chakra *c, const char *why)
{
    return why ? fc_sink_note(c->sink, why, 1) : FC_OK;
}

static enum fc_code take_bytes(struct fc_chakra *c, const struct fc_chakra_node *node, struct fc_event *e)
{
    e->bytes = node->bytes > 0 ? node->bytes : 0;
    if (node->bytes > 0) return FC_OK;
    return fc_sink_note(
        c->sink, node->bytes ? "communication without comm_size: taken as 0 bytes" : "communication of comm_size 0", 1);
}

static enum fc_code message(struct fc_chakra *c, const struct fc_chakra_node *node, struct fc_event *e)
{
    bool sends = node->type == FC_CHAKRA_SEND;
    int64_t peer = sends ? node->dst : node->src;
    const char *name = sends ? "comm_dst" : "comm_src";
    if (peer < 0) return fc_chakra_fail(c, node->record, "node %" PRIu64 " has no %s", node->id, name);
    if (peer >= c->n_ranks)
        return fc_chakra_fail(c, node->record,
                              "%s %" PRId64 " of node %" PRIu64 " (there are files of %" PRIu32 " ranks)", name, peer,
                              node->id, c->n_ranks);
    if (node->tag > INT32_MAX) return fc_chakra_fail(c, node->record, "comm_tag %" PRId64 " is too large", node->tag);
    e->op = sends ? FC_OP_SEND : FC_OP_RECV;
    e->peer = (int32_t)peer;
    e->tag = (int32_t)node->tag;
    return take_bytes(c, node, e);
}

static enum fc_code divide(struct fc_chakra *c, struct fc_event *e, uint32_t n)
{
    bool even = e->bytes % n == 0;
    e->bytes = e->bytes / n + !even;
    return even ? FC_OK : fc_sink_note(c->sink, "comm_size that the members do not divide: rounded up", 1);
}

static enum fc_code choose_root(struct fc_chakra *c, const struct fc_chakra_node *node,
                                const struct fc_chakra_group *group, struct fc_event *e)
{
    bool member = node->root >= 0 && node->root < c->n_ranks && !group;
    for (uint32_t i = 0; group && i < group->n; i++) member = member || group->member[i] == node->root;
    if (node->root >= 0 && !member)
        return fc_chakra_fail(c, node->record, "root %" PRId64 " of node %" PRIu64 " is not in its group", node->root,
                              node->id);
    e->peer = (int32_t)(node->root >= 0 ? node->root : group ? group->member[0] : 0);
    return node->root >= 0 ? FC_OK
                           : fc_sink_note(c->sink, "collective without a root: its group's first rank is taken", 1);
}

static enum fc_code collective(struct fc_chakra *c, const struct fc_chakra_node *node, struct fc_event *e)
{
    static const uint8_t ops[] = {FC_OP_ALLREDUCE,      FC_OP_REDUCE, FC_OP_ALLGATHER, FC_OP_GATHER,
                                  FC_OP_SCATTER,        FC_OP_BCAST,  FC_OP_ALLTOALL,  FC_OP_REDUCE_SCATTER,
                                  FC_OP_REDUCE_SCATTER, FC_OP_BARRIER};
    const struct fc_chakra_group *group = node->group >= 0 ? &c->groups[node->group] : NULL;
    bool member = !group;
    if (node->comm_type >= (int64_t)FC_COUNT(ops))
        return fc_chakra_fail(c, node->record, "comm_type %" PRId64 " of node %" PRIu64 " (expected 0 to %zu)",
                              node->comm_type, node->id, FC_COUNT(ops) - 1);
    for (uint32_t i = 0; group && i < group->n; i++) member = member || group->member[i] == c->rank;
    if (!member)
        return fc_chakra_fail(c, node->record, "node %" PRIu64 ": rank %" PRIu32 " is not in process group '%s'",
                              node->id, c->rank, group->name);
    if (node->some_dims &&
        fc_sink_note(c->sink,
                     "collective over some dimensions (involved_dim) of a network that the trace does not "
                     "tell: taken over all of them",
                     1))
        return c->st->code;
    e->op = ops[node->comm_type];
    e->comm = group ? group->comm : 0;
    bool rooted = e->op == FC_OP_REDUCE || e->op == FC_OP_GATHER || e->op == FC_OP_SCATTER || e->op == FC_OP_BCAST;
    if (rooted && choose_root(c, node, group, e)) return c->st->code;
    if (e->op == FC_OP_BARRIER) return FC_OK;
    if (take_bytes(c, node, e)) return c->st->code;
    if (e->op == FC_OP_ALLTOALL || e->op == FC_OP_REDUCE_SCATTER) return divide(c, e, group ? group->n : c->n_ranks);
    return FC_OK;
}

static enum fc_code computation(struct fc_chakra *c, const struct fc_chakra_node *node,
                                const struct fc_trace_options *options, struct fc_event *e)
{
    e->compute_s = node->duration_s;
    if (node->duration_s > 0 || node->num_ops <= 0) return FC_OK;
    e->compute_s = fc_sink_seconds(c->sink, options, c->rank, (double)node->num_ops);
    return fc_sink_note(c->sink, "computation without duration: its num_ops at the speed given for operations", 1);
}

static enum fc_code make_event(struct fc_chakra *c, const struct fc_chakra_node *node,
                               const struct fc_trace_options *options, struct fc_event *e)
{
    bool communicates = node->type >= FC_CHAKRA_SEND && node->type <= FC_CHAKRA_COLL;
    *e = (struct fc_event){.op = FC_OP_OTHER, .peer = -1, .request = node->on_cpu ? 0 : communicates ? 2 : 1};
    switch (node->type) {
    case FC_CHAKRA_COMP: return computation(c, node, options, e);
    case FC_CHAKRA_SEND:
    case FC_CHAKRA_RECV: return message(c, node, e);
    case FC_CHAKRA_COLL:
        if (node->comm_type >= 0) return collective(c, node, e);
        e->compute_s = node->duration_s;
        return only_time(c, "collective node without comm_type (its call or kernel): only its time is kept");
    case FC_CHAKRA_METADATA: e->compute_s = node->duration_s; return FC_OK;
    }
    if (node->type < 1 || node->type > FC_CHAKRA_LAST)
        return fc_chakra_fail(c, node->record, "type %" PRId64 " of node %" PRIu64 " (expected 1 to %d)", node->type,
                              node->id, FC_CHAKRA_LAST);
    e->compute_s = node->duration_s;
    return only_time(c, "memory or storage node: only its time is kept");
}

static enum fc_code hand_on(struct fc_chakra *c, const struct fc_chakra_order *s,
                            const struct fc_trace_options *options)
{
    size_t capacity = 0;
    int64_t *list = NULL;
    enum fc_code code = FC_OK;
    for (uint32_t i = 0; !code && i < s->n; i++) {
        const struct fc_chakra_node *node = &c->nodes[s->order[i]];
        struct fc_event e;
        code = make_event(c, node, options, &e);
        for (uint32_t k = 0; !code && k < node->n_before; k++) {
            const struct fc_chakra_dependency *d = &c->before[node->before + k];
            if (d->node == FC_NONE || d->dropped) {
                code = fc_sink_note(c->sink,
                                    d->dropped ? "control dependency inside a cycle: dropped"
                                               : "dependency on a node that is not in the trace: dropped",
                                    1);
                continue;
            }
            int64_t *larger = fc_chakra_room(c, list, e.n_list, &capacity, sizeof *list);
            if (!larger) code = FC_NO;
            if (larger) (list = larger)[e.n_list++] = s->event[d->node];
        }
        if (!code && !(e.compute_s >= 0 && isfinite(e.compute_s)))
            code = fc_chakra_fail(c, node->record, "a time is out of range");
        if (!code) code = fc_sink_event(c->sink, c->rank, &e, list);
    }
    free(list);
    return code;
}

/* ---- files ---- */

static enum fc_code read_group(struct fc_chakra *c, const char *name, const json_t *ranks)
{
    struct fc_chakra_group *g = &c->groups[c->n_groups];
    struct fc_place where = {c->groups_file, 0};
    size_t n = json_array_size(ranks);
    if (n == 0) return fc_fail(c->st, FC_INPUT, where, "process group '%.60s' is no list of ranks", name);
    if (n > c->n_ranks)
        return fc_fail(c->st, FC_INPUT, where, "process group '%.60s' of %zu ranks (the trace has %" PRIu32 ")", name,
                       n, c->n_ranks);
    *g = (struct fc_chakra_group){.name = strdup(name), .n = (uint32_t)n, .member = malloc(n * sizeof *g->member)};
    c->n_groups++;
    if (!g->name || !g->member) return fc_out_of_memory(c->st, "reading the trace");
    for (size_t i = 0; i < n; i++) {
        const json_t *rank = json_array_get(ranks, i);
        if (!json_is_integer(rank) || json_integer_value(rank) < 0 || json_integer_value(rank) >= c->n_ranks)
            return fc_fail(c->st, FC_INPUT, where,
                           "process group '%.60s': rank out of range (allowed: 0 to %" PRIu32 ")", name,
                           c->n_ranks - 1);
        g->member[i] = (uint32_t)json_integer_value(rank);
        for (size_t k = 0; k < i; k++)
            if (g->member[k] == g->member[i])
                return fc_fail(c->st, FC_INPUT, where, "process group '%.60s': rank %" PRIu32 " twice", name,
                               g->member[i]);
    }
    return fc_sink_comm(c->sink, g->member, g->n, &g->comm);
}

/* NAME.json, or comm_group.json in the folder. */
static enum fc_code read_groups(struct fc_chakra *c, const char *stem, struct fc_arena *arena)
{
    char path[4200];
    const char *slash = strrchr(stem, '/'), *name;
    snprintf(path, sizeof path, "%s.json", stem);
    if (access(path, F_OK))
        snprintf(path, sizeof path, "%.*scomm_group.json", slash ? (int)(slash + 1 - stem) : 0, stem);
    if (access(path, F_OK)) return FC_OK;
    c->groups_file = fc_copy_text(arena, path, c->st);
    json_t *json = c->groups_file ? fc_chakra_load_json(path, c->st) : NULL, *ranks;
    if (!json) return c->st->code;
    enum fc_code code = FC_OK;
    c->groups = calloc(json_object_size(json) + 1, sizeof *c->groups);
    if (!c->groups) code = fc_out_of_memory(c->st, "reading the trace");
    if (!json_is_object(json))
        code = fc_fail(c->st, FC_INPUT, (struct fc_place){path, 0},
                       "no process groups (expected {\"NAME\": [ranks], ...})");
    json_object_foreach(json, name, ranks) if (!code) code = read_group(c, name, ranks);
    json_decref(json);
    return code;
}

static enum fc_code read_ranks(struct fc_chakra *c, const struct fc_rank_files *files, bool is_json,
                               const struct fc_trace_options *options, struct fc_arena *arena)
{
    c->n_ranks = files->n;
    for (uint32_t r = 0; r < files->n; r++) c->sink->bytes += fc_file_bytes(files->path[r]);
    if (fc_sink_start(c->sink, files->n, NULL, "Chakra execution trace") || fc_sink_speeds(c->sink, options))
        return c->st->code;
    fc_sink_graph(c->sink);
    if (read_groups(c, files->stem, arena)) return c->st->code;
    for (c->rank = 0; c->rank < files->n; c->rank++) {
        struct fc_chakra_order s = {0};
        struct fc_arena scratch = {0};
        c->file = files->path[c->rank];
        c->n_nodes = c->n_before = 0;
        enum fc_code code = fc_sink_file(c->sink, c->rank, c->file);
        if (!code) code = is_json ? fc_chakra_read_json(c) : fc_chakra_read_protobuf(c);
        if (!code) code = fc_chakra_sort(c, &scratch, &s);
        if (!code) code = hand_on(c, &s, options);
        fc_arena_free(&scratch);
        if (code) return code;
    }
    return FC_OK;
}

static bool ends_in(const char *path, const char *end)
{
    return strlen(path) > strlen(end) && strcmp(path + strlen(path) - strlen(end), end) == 0;
}

static bool contains(const struct fc_trace_probe *probe, const char *text)
{
    return memmem(probe->head, probe->n_head, text, strlen(text)) != NULL;
}

static bool is_chakra(const struct fc_trace_probe *probe)
{
    size_t at = 0;
    if (probe->folder) return fc_has_rank_files(probe->path, ".et");
    if (ends_in(probe->path, ".et") || fc_is_rank_file(probe->path, ".et")) return true;
    while (at < probe->n_head && strchr(" \t\r\n", probe->head[at])) at++;
    return at < probe->n_head && probe->head[at] == '{' &&
           (contains(probe, "\"workload_graph\"") || (contains(probe, "\"schema\"") && contains(probe, "-chakra.")));
}

/* The execution graph that PyTorch writes is what Chakra traces are made of: it has no durations, no kinds of
 * nodes. */
static enum fc_code refuse_pytorch(const char *path, struct fc_status *st)
{
    FC_SCOPED(fc_stream_close) struct fc_stream s = {0};
    size_t there;
    enum fc_code code = fc_stream_open(path, &s, st);
    if (!code) code = fc_stream_need(&s, 1 << 16, &there, st);
    if (!code && !memmem(s.next, there, "\"workload_graph\"", 16))
        code = fc_fail(st, FC_INPUT, (struct fc_place){path, 0},
                       "an execution graph of PyTorch: its nodes have neither kind nor duration "
                       "(expected what chakra_trace_link and chakra_converter make of it)");
    return code;
}

static enum fc_code read_chakra(const char *path, const struct fc_trace_options *options, struct fc_trace_sink *sink)
{
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    struct fc_rank_files files;
    struct fc_chakra c = {.st = sink->st, .sink = sink, .file = path};
    bool is_json = !fc_is_rank_file(path, ".et") && !fc_has_rank_files(path, ".et") && !ends_in(path, ".et");
    enum fc_code code = is_json ? refuse_pytorch(path, sink->st) : FC_OK;
    if (!code) code = fc_rank_files(path, is_json ? ".json" : ".et", &arena, &files, sink->st);
    if (!code) code = read_ranks(&c, &files, is_json, options, &arena);
    for (size_t i = 0; i < c.n_groups; i++) {
        free(c.groups[i].name);
        free(c.groups[i].member);
    }
    free(c.groups);
    free(c.nodes);
    free(c.before);
    return code;
}

const struct fc_trace_format fc_format_chakra = {
    .name = "chakra",
    .what = "Chakra execution traces, NAME.RANK.et or .json (folder, or one of the files)",
    .is = is_chakra,
    .read = read_chakra,
};
