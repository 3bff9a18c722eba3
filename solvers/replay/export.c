/* export.c - the writers for other tools, and the Matrix Market writer: bytes from row to column. */
#include "solvers/replay/export.h"

#include <inttypes.h>
#include <math.h>

const char *const fc_export_losses[FC_N_LOSSES] = {
    "one-sided calls left out, for which the form has no words",
    "receives from any source or of any tag, which may take a message of a collective",
    "nonblocking collectives written as blocking ones",
    "requests that are never waited for",
};

static enum fc_code write_matrix(const struct fc_trace *trace, const struct fc_trace_options *options, FILE *out,
                                 uint64_t *losses, struct fc_status *st)
{
    struct fc_demand demand;
    (void)options;
    (void)losses; /* one-sided calls count with the data they move */
    if (fc_demand_of_job(trace, &demand, st)) return st->code;
    fprintf(out,
            "%%%%MatrixMarket matrix coordinate real general\n%% bytes from row to column, collectives expanded\n");
    size_t n = 0;
    for (size_t i = 0; i < demand.n_entries; i++) n += demand.bytes[i] > 0; /* empty messages are no entry */
    fprintf(out, "%" PRIu32 " %" PRIu32 " %zu\n", trace->n_ranks, trace->n_ranks, n);
    for (size_t i = 0; i < demand.n_entries; i++)
        if (demand.bytes[i] > 0)
            fprintf(out, "%" PRIu32 " %" PRIu32 " %.17g\n", demand.src[i] + 1, demand.dst[i] + 1, demand.bytes[i]);
    fc_demand_free(&demand);
    return FC_OK;
}

const struct fc_trace_writer fc_trace_writers[] = {
    {"goal", "LogGOPSim's schedule text; collectives expanded", ".goal", fc_export_goal},
    {"ti", "SimGrid's time-independent trace, one shared file; collectives on some ranks expanded", ".ti",
     fc_export_ti},
    {"mtx", "Matrix Market of bytes, collectives expanded", ".mtx", write_matrix},
    {NULL, NULL, NULL, NULL},
};
