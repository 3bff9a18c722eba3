/* paper_script.h - the gnuplot script of a figure in a paper's form (paper_script.c). */
#pragma once

#include "plots/paper.h"

/* A script that reads NAME.tsv and draws NAME.png, NAME.svg and NAME.pdf, each name followed by the variable
 * `part` where gnuplot is given one. */
void fc_paper_print_script(const struct fc_paper_plot *plot, FILE *script);

/* ---- parts of it ---- */

/* A series as an element of a `plot` command; *first: it is the command's first. Bars: `at` of `n` side by side. (paper_series.c) */
void fc_paper_put_curve(const struct fc_paper_plot *plot, FILE *script, int series, bool *first);
void fc_paper_put_bar(const struct fc_paper_plot *plot, FILE *script, int series, int at, int n, bool *first);
void fc_paper_put_row(const struct fc_paper_plot *plot, FILE *script, int series, bool *first);
bool fc_paper_has_points(const struct fc_paper_series *s);
/* The panels of FC_PAPER_PANELS, for the terminal that is set (paper_panels.c), and the picture's height in pixels. */
void fc_paper_put_panels(const struct fc_paper_plot *plot, FILE *script);
int fc_paper_panels_height(const struct fc_paper_plot *plot);
