/* collectives.c - `list collectives --members N`: closed-form times of every algorithm, and which one each
 * set of rules takes. */
#include "answer/job.h"
#include "cli/collectives.h"

#include <string.h>

/* Who takes it of the sets of rules, ", " between; bytes of the vector or of one block, as the rules count them. */
static const char *takers(const struct fc_collective_algorithm *a, uint32_t n, double bytes, struct fc_arena *arena,
                          struct fc_status *st)
{
    char text[160] = "";
    bool blocks = a->op == FC_OP_GATHER || a->op == FC_OP_SCATTER || a->op == FC_OP_ALLGATHER ||
                  a->op == FC_OP_ALLTOALL || a->op == FC_OP_ALLTOALLV || a->op == FC_OP_REDUCE_SCATTER;
    struct fc_collective_call call = {a->op, n, blocks ? n * bytes : bytes, false};
    for (const struct fc_collective_rules *r = fc_collective_rules; r->name; r++) {
        struct fc_collective_choice choice = {.rules = r};
        size_t at = strlen(text);
        if (fc_collective_select(&choice, &call) == a)
            snprintf(text + at, sizeof text - at, "%s%s", at ? ", " : "", r->name);
    }
    return fc_copy_text(arena, text, st);
}

enum fc_code fc_table_collectives(const struct fc_arguments *arguments, struct fc_arena *arena, struct fc_table *table,
                                  struct fc_status *st)
{
    static const struct fc_column columns[] = {
        {"operation", FC_CELL_TEXT, NULL, FC_NUMBER, NULL},
        {"algorithm", FC_CELL_TEXT, NULL, FC_NUMBER, NULL},
        {"time_s", FC_CELL_REAL, NULL, FC_SECONDS, "time"},
        {"chosen_by", FC_CELL_TEXT, NULL, FC_NUMBER, "chosen by"},
    };
    struct fc_replay_settings settings = {.loggops = false};
    const struct fc_software none = {.compute_scale = 1, .eager_bytes = 1e18};
    uint32_t n = (uint32_t)arguments->members;
    double bytes = arguments->bytes > 0 ? arguments->bytes : 8;
    fc_table_start(table, columns, FC_COUNT(columns));
    if (!arguments->ask.loggops || n == 0)
        return fc_refuse(st, FC_INPUT,
                         "times of collectives need both --members N and "
                         "--loggops L=..,o=..,g=..,G=..");
    if (fc_read_loggops(arguments->ask.loggops, &none, &settings, st)) return st->code;
    const struct fc_software *s = &settings.software;
    if (s->per_byte_s > 0 || s->gap_s > s->send_s + s->recv_s)
        return fc_refuse(st, FC_INPUT, "closed forms hold for O = 0 and g <= 2 o (got O = %g s/B, g = %g s, o = %g s)",
                         s->per_byte_s, s->gap_s, s->send_s);
    struct fc_loggp p = {settings.loggops_latency_s, s->send_s, s->recv_s, s->gap_s, settings.loggops_per_byte_s};
    for (const struct fc_collective_algorithm *a = fc_collective_algorithms; a->name; a++) {
        struct fc_status fits = {0};
        double time_s = fc_collective_fits(a, n, &fits) ? NAN : fc_collective_time_s(a, &p, n, bytes);
        const char *who = takers(a, n, bytes, arena, st);
        const struct fc_cell cells[] = {
            {.text = fc_op_names[a->op]}, {.text = a->name}, {.real = time_s}, {.text = who}};
        if (!who || fc_table_row(table, cells, st)) break;
    }
    return st->code;
}
