/* figure_placements.c - layouts of a chip's interfaces by saturation throughput (abscissa) and latency, as
 * figure 15 of the TMesh paper orders them: to the right and down is better. Published layouts carry their
 * label; the front is marked. */
#include "plots/plots.h"

static const struct fc_column columns[] = {
    {"layout", FC_CELL_TEXT, NULL, FC_NUMBER, NULL},
    {"saturation_flits_per_node_cycle", FC_CELL_REAL, NULL, FC_NUMBER, NULL},
    {"packet_latency_cycles", FC_CELL_REAL, NULL, FC_NUMBER, NULL},
    {"kind", FC_CELL_INT, NULL, FC_NUMBER, NULL},
};

static const char script_end[] =
    "set xlabel 'saturation throughput (flits/node/cycle)'\n"
    "set ylabel 'packet latency (cycles)'\n"
    "set offsets graph 0.08, graph 0.08, graph 0.08, graph 0.08\n"
    "set key outside bottom center horizontal\n"
    "set grid\n"
    "plot 'placements.tsv' skip 1 using (column(4) == 0 ? column(2) : NaN):3 "
    "with points pt 7 ps 0.6 lc rgb '#999999' "
    "title 'searched', \\\n"
    "     '' skip 1 using (column(4) >= 2 ? column(2) : NaN):3 with points pt 5 "
    "ps 1.2 lc rgb '#4c72b0' title "
    "'Table 1 (LN)', \\\n"
    "     '' skip 1 using (column(4) == 1 || column(4) == 3 ? column(2) : NaN):3 "
    "with points pt 6 ps 2.4 lw 2 lc rgb '#c44e52' title 'front', \\\n"
    "     '' skip 1 using (column(4) >= 2 ? column(2) : NaN):3:(name[int($0)+1]) with labels "
    "offset 0,1.1 notitle, \\\n"
    "     '' skip 1 using (column(4) == 1 ? column(2) : NaN):3:(name[int($0)+1]) with labels "
    "offset 0,-1.3 notitle\n";

enum fc_code fc_plot_placements(const char *directory, const char *title, const struct fc_plot_placement *rows,
                                size_t n, struct fc_status *st)
{
    struct fc_script script;
    fc_script_open(&script, columns, FC_COUNT(columns), st);
    for (size_t i = 0; i < n && !st->code; i++) {
        struct fc_cell cells[] = {{.text = rows[i].label},
                                  {.real = rows[i].saturation},
                                  {.real = rows[i].latency_cycles},
                                  {.integer = rows[i].kind}};
        fc_table_row(&script.data, cells, st);
    }
    if (script.stream) {
        fc_script_start(script.stream, "placements", title, FC_COLUMN_IN, 2.8);
        fc_script_names(script.stream, rows, sizeof *rows, n);
        fc_script_titled(script.stream, title, FC_COLUMN_IN);
        fprintf(script.stream, "\n%s", script_end);
    }
    return fc_script_draw(&script, directory, "placements", st);
}
