/* launcher_json.c - a mapping as JSON: every rank with its node, host, place in the allocation and core. */
#include "core/json.h"
#include "mapping/launcher.h"

#include <jansson.h>

static json_t *host_of(const struct fc_launch *job, uint32_t place)
{
    return job->host[place] ? json_string(job->host[place]) : json_null();
}

static enum fc_code write_ranks(const struct fc_launch *job, FILE *out, struct fc_status *st)
{
    json_t *ranks = json_array(), *all;
    for (uint32_t r = 0; r < job->n_tasks; r++) {
        uint32_t p = job->place[r];
        json_array_append_new(ranks, json_pack("{s:I, s:I, s:o, s:I, s:I}", "rank", (json_int_t)r, "node",
                                               (json_int_t)job->node[p], "host", host_of(job, p), "place",
                                               (json_int_t)p, "slot", (json_int_t)job->slot[r]));
    }
    all = json_pack("{s:s, s:s, s:I, s:I, s:I, s:o}", "machine", job->net->machine->name, "strategy", job->strategy,
                    "tasks", (json_int_t)job->n_tasks, "nodes", (json_int_t)job->n_places, "cores_per_node",
                    (json_int_t)job->slots, "ranks", ranks);
    if (!all) return fc_out_of_memory(st, "%u ranks as JSON", job->n_tasks);
    fc_json_print(all, out);
    json_decref(all);
    return FC_OK;
}

static enum fc_code read_rank(const json_t *entry, size_t number, const struct fc_launch *job, struct fc_launched *back,
                              struct fc_place where, struct fc_status *st)
{
    const json_t *rank = json_object_get(entry, "rank"), *node = json_object_get(entry, "node"),
                 *slot = json_object_get(entry, "slot");
    if (!json_is_integer(rank) || !json_is_integer(node) || !json_is_integer(slot))
        return fc_fail(st, FC_INPUT, where, "ranks[%zu] has no whole numbers rank, node and slot", number);
    long long n = json_integer_value(node);
    if (n < 0 || n >= job->net->n_nodes || job->place_of[n] == FC_NONE)
        return fc_fail(st, FC_INPUT, where, "ranks[%zu]: node %lld is not among the %u nodes allowed", number, n,
                       job->n_places);
    long long s = json_integer_value(slot); /* a slot that is none would read as "not told" */
    return fc_launched_put(job, back, json_integer_value(rank), job->place_of[n], s == FC_NONE ? -1 : s, where, st);
}

static enum fc_code read_ranks(const struct fc_text *text, const struct fc_launch *job, struct fc_launched *back,
                               struct fc_status *st)
{
    struct fc_place where;
    json_t *all = fc_json_of_file(text, &where, st);
    if (!all) return st->code;
    const json_t *ranks = json_object_get(all, "ranks");
    if (!json_is_array(ranks)) fc_fail(st, FC_INPUT, where, "no list ranks (expected the JSON of fabricast map)");
    for (size_t i = 0; !st->code && i < json_array_size(ranks); i++)
        read_rank(json_array_get(ranks, i), i, job, back, where, st);
    json_decref(all);
    return st->code;
}

const struct fc_launcher_format fc_launcher_json = {
    .name = "json",
    .what = "every rank with node, host, place in the allocation and core",
    .source = "docs/launchers.md",
    .start = "for programs of your own",
    .tells_slots = true,
    .write = write_ranks,
    .read = read_ranks,
};
