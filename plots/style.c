/* style.c - the look of all figures, written into their scripts: sizes as printed, one size of letters, lines and marks that
 * differ in grey.
 *
 * A figure is a column wide (3.3 in) or a page (7 in), and all of its text is 8 pt at that size, in .png (300 dots an inch), .pdf
 * and .svg alike, so that it is put into a paper as it is. gnuplot -e "form='pdf'; width=7" NAME.gp draws it in another form or
 * width. Colours are Paul Tol's; series differ in mark and dash, too. */
#include "plots/plots.h"

#include <math.h>
#include <string.h>

const char *const fc_series_colours[8] = {"#004488", "#DDAA33", "#BB5566", "#000000",
                                          "#66CCEE", "#228833", "#AA3377", "#999999"};
const int fc_series_marks[8] = {7, 5, 9, 13, 11, 15, 7, 5};
const int fc_series_dashes[8] = {1, 2, 3, 4, 5, 1, 2, 3};

void fc_script_start(FILE *script, const char *name, const char *title, double width_in, double height_in)
{
    const char *command = title ? strchr(title, '\n') : NULL;
    if (command) {
        fputs("# ", script);
        fc_script_text(script, command + 1); /* as a string, so that no letter of it is gnuplot's */
        fputc('\n', script);
    }
    fprintf(script,
            "if (!exists('form')) form = 'png' # or pdf, svg: gnuplot -e \"form='pdf'\" and this file\n"
            "if (!exists('part')) part = ''\n"
            "if (!exists('width')) width = %g # inches, as printed; letters are 8 pt\n"
            "height = width * %g\n"
            "if (form eq 'png') set terminal pngcairo noenhanced size 300*width,300*height font 'DejaVu Sans,8' "
            "fontscale 300/96. linewidth 300/96. pointscale 300/96.*0.6\n"
            "if (form eq 'svg') set terminal svg noenhanced size 96*width,96*height font 'DejaVu Sans,10.67' "
            "background 'white'\n"
            "if (form eq 'pdf') set terminal pdfcairo noenhanced size width,height font 'DejaVu Sans,8' fontscale 0.75 "
            "linewidth 2 pointscale 0.6\n"
            "set output ",
            width_in, height_in / width_in);
    fc_script_file(script, name, ".");
    fputs(".form.part\n"
          "set datafile separator '\\t'\n"
          "set datafile commentschars ''\n"
          "set border lw 0.6\n"
          "set tics scale 0.5\n"
          "set key samplen 2 spacing 1\n"
          "set grid lt 1 lw 0.4 lc rgb '#d8d8d8'\n"
          "unset grid\n",
          script);
}

double fc_round_step(double span, int most)
{
    if (!(span > 0) || !isfinite(span)) return 1;
    double least = span / most, power = pow(10, floor(log10(least)));
    return power * (least <= power ? 1 : least <= 2 * power ? 2 : least <= 5 * power ? 5 : 10);
}
