/* paper_script.h - the gnuplot script of a figure in a paper's form (paper_script.c). */
#ifndef FC_PAPER_SCRIPT_H
#define FC_PAPER_SCRIPT_H

#include "plots/paper.h"

/* A script that reads NAME.tsv and draws NAME.png, NAME.svg and NAME.pdf, each name followed by the variable
 * `part` where gnuplot is given one. */
void fc_paper_print_script(const struct fc_paper_plot *plot, FILE *script);

#endif
