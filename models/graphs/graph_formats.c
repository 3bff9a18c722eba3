/* graph_formats.c - the formats of communication graphs, one line each, and telling them apart. */
#include "models/demand_build.h"

#include <string.h>
#include <sys/stat.h>

/* The first that fits reads; METIS, which is only numbers, comes last. */
/* X(record): declared and listed. */
#define FORMATS(X)                                                                                                     \
    X(matrix_market)                                                                                                   \
    X(monitoring)                                                                                                      \
    X(dense)                                                                                                           \
    X(metis)
#define DECLARE(name) extern const struct fc_graph_format fc_graph_##name;
#define ENTRY(name) &fc_graph_##name,
FORMATS(DECLARE)
const struct fc_graph_format *const fc_graph_formats[] = {FORMATS(ENTRY) NULL};
#undef DECLARE
#undef ENTRY

static enum fc_code read_graph(const char *path, struct fc_arena *reading, struct fc_demand *demand,
                               struct fc_status *st)
{
    struct stat info;
    struct fc_text text = {.file = path};
    bool folder = stat(path, &info) == 0 && S_ISDIR(info.st_mode);
    if (!folder && fc_read_file(path, reading, &text, st)) return st->code;
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
