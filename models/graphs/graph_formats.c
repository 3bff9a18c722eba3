/* graph_formats.c - the formats of communication graphs, one line each, and telling them apart. */
#include "models/demand_build.h"

#include "core/stream.h"

#include <string.h>
#include <sys/stat.h>

/* The first that fits reads; METIS, which is only numbers, comes last. */
const struct fc_graph_format *const fc_graph_formats[] = {
    &fc_graph_matrix_market, &fc_graph_monitoring, &fc_graph_dense, &fc_graph_metis, NULL,
};

static bool is_compressed(const struct fc_text *text)
{
    return text->size > 6 && (memcmp(text->data, "\x1f\x8b", 2) == 0 ||
                              memcmp(text->data,
                                     "\xfd"
                                     "7zXZ",
                                     6) == 0 ||
                              memcmp(text->data, "\x28\xb5\x2f\xfd", 4) == 0);
}

/* The whole file, decompressed. */
static enum fc_code decompress(struct fc_arena *arena, struct fc_text *text, struct fc_status *st)
{
    struct fc_stream s = {0};
    size_t ask = 1 << 20, there = 0;
    enum fc_code code = fc_stream_open(text->file, &s, st);
    if (!code) code = fc_stream_need(&s, ask, &there, st);
    while (!code && there == ask) code = fc_stream_need(&s, ask *= 2, &there, st);
    char *data = code ? NULL : fc_alloc(arena, there + 1, 1, st);
    if (data) {
        memcpy(data, s.next, there);
        *text = (struct fc_text){text->file, data, there};
    }
    fc_stream_close(&s);
    return data ? FC_OK : st->code;
}

static enum fc_code read_graph(const char *path, struct fc_arena *reading, struct fc_demand *demand,
                               struct fc_status *st)
{
    struct stat info;
    struct fc_text text = {.file = path};
    bool folder = stat(path, &info) == 0 && S_ISDIR(info.st_mode);
    if (!folder && fc_read_file(path, reading, &text, st)) return st->code;
    if (!folder && is_compressed(&text) && decompress(reading, &text, st)) return st->code;
    for (size_t i = 0; fc_graph_formats[i]; i++)
        if (fc_graph_formats[i]->is(&text)) return fc_graph_formats[i]->read(&text, reading, demand, st);
    return fc_fail(st, FC_INPUT, (struct fc_place){path, 0},
                   "no communication graph (known: Matrix Market, Open MPI "
                   "monitoring, a dense matrix NAME.mat, METIS)");
}

enum fc_code fc_demand_from_graph(const char *path, struct fc_demand *demand, struct fc_status *st)
{
    memset(demand, 0, sizeof *demand);
    struct fc_arena reading = {0}; /* what only the reading needs */
    enum fc_code code = read_graph(path, &reading, demand, st);
    if (!code) {
        demand->name = fc_copy_text(&demand->arena, path, st);
        code = demand->name ? FC_OK : st->code;
    }
    fc_arena_free(&reading);
    if (code) fc_demand_free(demand);
    return code;
}
