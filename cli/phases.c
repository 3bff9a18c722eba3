/* phases.c - the table of a trace's phases. */
#include "cli/phases.h"

#include <inttypes.h>

static const char *ending_name(const struct fc_job_phase *p)
{
    return p->ending < 0 ? "end of trace" : fc_op_names[p->ending];
}

/* "7", "3, 5", "3, 5, 7" or "3, 5 .. 201". */
static void name_row(char *out, size_t size, const struct fc_phase_row *row)
{
    int n = snprintf(out, size, "%" PRIu64, row->first);
    if (row->times == 1) return;
    n += snprintf(out + n, size - (size_t)n, ", %" PRIu64, row->first + row->step);
    if (row->times > 2)
        snprintf(out + n, size - (size_t)n, "%s%" PRIu64, row->times == 3 ? ", " : " .. ",
                 row->first + (row->times - 1) * row->step);
}

enum fc_code fc_table_phases(const struct fc_job_phases *phases, struct fc_arena *arena, struct fc_table *table,
                             struct fc_status *st)
{
    static const struct fc_column columns[] = {
        {"phases", FC_CELL_TEXT, NULL, FC_NUMBER, NULL},
        {"times", FC_CELL_INT, NULL, FC_NUMBER, NULL},
        {"kind", FC_CELL_INT, NULL, FC_NUMBER, NULL},
        {"ends_with", FC_CELL_TEXT, NULL, FC_NUMBER, "ends with"},
        {"pairs", FC_CELL_INT, NULL, FC_NUMBER, NULL},
        {"messages", FC_CELL_INT, NULL, FC_NUMBER, NULL},
        {"bytes", FC_CELL_REAL, NULL, FC_BYTES, NULL},
        {"max_rank_bytes", FC_CELL_REAL, NULL, FC_BYTES, "most of a rank"},
    };
    enum { NAME = 72 };
    char(*name)[NAME] = fc_alloc(arena, phases->n_rows, sizeof *name, st);
    fc_table_start(table, columns, FC_COUNT(columns));
    for (uint64_t i = 0; name && i < phases->n_rows; i++) {
        const struct fc_phase_row *row = &phases->row[i];
        const struct fc_job_phase *p = &phases->phase[row->first];
        name_row(name[i], sizeof name[i], row);
        struct fc_cell cells[FC_COUNT(columns)] = {
            {.text = name[i]},        {.integer = (long long)row->times}, {.integer = (long long)p->kind},
            {.text = ending_name(p)}, {.integer = (long long)p->n_pairs}, {.integer = (long long)p->messages},
            {.real = p->bytes},       {.real = p->max_rank_bytes},
        };
        if (fc_table_row(table, cells, st)) break;
    }
    return st->code;
}

json_t *fc_json_phases(const struct fc_job_phases *phases)
{
    json_t *rows = json_array();
    for (uint64_t i = 0; i < phases->n_rows; i++) {
        const struct fc_phase_row *row = &phases->row[i];
        const struct fc_job_phase *p = &phases->phase[row->first];
        json_array_append_new(
            rows, json_pack("{s:I, s:I, s:I, s:I, s:s?, s:I, s:I, s:o, s:o}", "first", (json_int_t)row->first, "step",
                            (json_int_t)row->step, "times", (json_int_t)row->times, "kind", (json_int_t)p->kind,
                            "ends_with", p->ending < 0 ? NULL : fc_op_names[p->ending], "pairs", (json_int_t)p->n_pairs,
                            "messages", (json_int_t)p->messages, "bytes", fc_json_real(p->bytes), "max_rank_bytes",
                            fc_json_real(p->max_rank_bytes)));
    }
    return json_pack("{s:I, s:I, s:o}", "count", (json_int_t)phases->n_phases, "kinds", (json_int_t)phases->n_kinds,
                     "rows", rows);
}
