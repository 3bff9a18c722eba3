/* launcher_flux.c - Flux's task map: [[nodeid, nnodes, ppn, repeat], ...], ranks counted up through the
 * entries.
 *
 * nodeid counts the nodes of the job in the order of its allocation; an entry gives ppn consecutive ranks to
 * each of nnodes nodes, and that `repeat` times. Equal entries in a row fold into the repeat. It is read inside
 * {"version":1, "map":...}, too, as Flux hands it on. Source: Flux RFC 34. Limits: no slots. */
#include "core/json.h"
#include "mapping/launcher.h"

#include <jansson.h>
#include <string.h>

static enum fc_code write_map(const struct fc_launch *job, FILE *out, struct fc_status *st)
{
    (void)st;
    putc('[', out);
    for (uint32_t r = 0, n = 0, repeat; r < job->n_tasks; n++) {
        struct fc_launch_run run = fc_launch_next_run(job, &r), next;
        for (repeat = 1; r < job->n_tasks; repeat++) {
            uint32_t ahead = r;
            next = fc_launch_next_run(job, &ahead);
            if (memcmp(&next, &run, sizeof run)) break;
            r = ahead;
        }
        fprintf(out, "%s[%u,%u,%u,%u]", n ? "," : "", run.place, run.n_places, run.n_ranks, repeat);
    }
    fprintf(out, "]\n");
    return FC_OK;
}

static enum fc_code put_entry(const struct fc_launch *job, const json_t *entry, struct fc_launched *back,
                              struct fc_place where, struct fc_status *st)
{
    long long v[4];
    bool good = json_array_size(entry) == 4;
    for (size_t i = 0; good && i < 4; i++) {
        const json_t *number = json_array_get(entry, i);
        v[i] = json_integer_value(number);
        good = json_is_integer(number) && v[i] >= (i > 0) && v[i] < FC_NONE;
    }
    if (!good) return fc_fail(st, FC_INPUT, where, "an entry is not [nodeid, nnodes, ppn, repeat] of whole numbers");
    for (long long again = 0; again < v[3]; again++)
        for (long long p = 0; p < v[1]; p++)
            for (long long i = 0; i < v[2]; i++) /* the first rank too many is refused */
                if (fc_launched_put(job, back, back->n, p < job->n_places ? v[0] + p : job->n_places, FC_NONE, where,
                                    st))
                    return st->code;
    return FC_OK;
}

static enum fc_code read_map(const struct fc_text *text, const struct fc_launch *job, struct fc_launched *back,
                             struct fc_status *st)
{
    json_error_t error;
    json_t *map = fc_json_text(text->data, text->size, 0, &error, st);
    struct fc_place where = {text->file, map ? 1 : error.line > 0 ? error.line : 1};
    if (st->code) return st->code;
    if (!map) return fc_fail(st, FC_INPUT, where, "not a task map: %s", error.text);
    const json_t *blocks = map;
    if (json_is_object(map)) { /* as Flux hands it on: {"version":1, "map":[...]} */
        blocks = json_object_get(map, "map");
        if (json_integer_value(json_object_get(map, "version")) != 1)
            fc_fail(st, FC_INPUT, where, "not a task map of version 1");
    }
    if (!st->code && !json_is_array(blocks))
        fc_fail(st, FC_INPUT, where, "not a task map (expected [[nodeid,nnodes,ppn,repeat],...])");
    for (size_t i = 0; !st->code && i < json_array_size(blocks); i++)
        put_entry(job, json_array_get(blocks, i), back, where, st);
    json_decref(map);
    return st->code;
}

const struct fc_launcher_format fc_launcher_flux = {
    .name = "flux",
    .what = "Flux task map: [[nodeid,nnodes,ppn,repeat],...] over the nodes of the allocation",
    .source = "Flux RFC 34; flux-run(1), --taskmap",
    .start = "flux run -n RANKS --taskmap=manual:\"$(cat FILE)\" PROGRAM",
    .write = write_map,
    .read = read_map,
};
