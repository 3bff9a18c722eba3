/* script.c - gnuplot scripts: every text that reaches one is written here.
 *
 * gnuplot runs what stands between backticks, expands @macros, opens a pipe for a file that begins with < or |, and reads
 * % in the name of a tic, { ^ _ in enhanced text. Names come from files that anyone may have written, so nothing of a text
 * is left to gnuplot: it stands in double quotes, where all but letters, digits and a few marks are octal numbers. A
 * backtick so written is a letter of the text and runs nothing. Terminals are set to `noenhanced`. */
#include "plots/plots.h"

#include <stdlib.h>
#include <string.h>

/* Control characters in `keep` pass; `twice` is a letter to be doubled. gnuplot reads four digits of a number that begins
 * with 0. */
static void put_letters(FILE *script, const char *text, const char *keep, char twice)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_ -+=:;,./()[]<>|&*?!";
    char letter[5];
    while (*text) {
        text += fc_visible_letter(letter, text, keep);
        for (const char *c = letter; *c; c++)
            for (int i = 0; i < (*c == twice ? 2 : 1); i++)
                if ((unsigned char)*c >= 0x80 || strchr(plain, *c))
                    fputc(*c, script);
                else
                    fprintf(script, "\\%04o", (unsigned)*c);
    }
}

void fc_script_text(FILE *script, const char *text)
{
    fputc('"', script);
    put_letters(script, text, "", 0);
    fputc('"', script);
}

void fc_script_title(FILE *script, const char *text)
{
    fputc('"', script);
    put_letters(script, text, "\n", 0);
    fputc('"', script);
}

void fc_script_tic(FILE *script, const char *text)
{
    fputc('"', script);
    put_letters(script, text, "", '%');
    fputc('"', script);
}

void fc_script_file(FILE *script, const char *name, const char *ending)
{
    fputs("\"./", script);
    put_letters(script, name, "", 0);
    fprintf(script, "%s\"", ending);
}

void fc_script_names(FILE *script, const char *(*of)(const void *rows, size_t i), const void *rows, size_t n)
{
    fprintf(script, "array name[%zu]\n", n ? n : 1);
    for (size_t i = 0; i < n; i++) {
        fprintf(script, "name[%zu] = ", i + 1);
        fc_script_text(script, of(rows, i));
        fputc('\n', script);
    }
}

void fc_script_start(FILE *script, const char *name, double width, double height)
{
    fprintf(script,
            "if (!exists('form')) form = 'png' # or pdf, svg: gnuplot -e \"form='pdf'\" and this file\n"
            "if (!exists('part')) part = ''\n"
            "if (form eq 'png') set terminal pngcairo noenhanced size %.0f,%.0f font 'DejaVu Sans,11'\n"
            "if (form eq 'svg') set terminal svg noenhanced size %.0f,%.0f font 'DejaVu Sans,11' background 'white'\n"
            "if (form eq 'pdf') set terminal pdfcairo noenhanced size %.2fin,%.2fin font 'DejaVu Sans,9'\n"
            "set output ",
            width, height, width, height, width / 120, height / 120);
    fc_script_file(script, name, ".");
    fputs(".form.part\n"
          "set datafile separator '\\t'\n"
          "set datafile commentschars ''\n",
          script);
}

struct fc_time_axis fc_time_axis(double most_s)
{
    return most_s < 1e-6   ? (struct fc_time_axis){1e9, "ns"}
           : most_s < 1e-3 ? (struct fc_time_axis){1e6, "µs"}
           : most_s < 1    ? (struct fc_time_axis){1e3, "ms"}
                           : (struct fc_time_axis){1, "s"};
}

void fc_script_open(struct fc_script *script, struct fc_status *st)
{
    *script = (struct fc_script){0};
    if (st->code) return;
    if (!fc_memory_open(&script->memory, st)) script->stream = script->memory.stream;
}

enum fc_code fc_script_draw(struct fc_script *script, const char *directory, const char *name, struct fc_table *data,
                            struct fc_status *st)
{
    if (!fc_memory_close(&script->memory, st)) fc_figure_write(directory, name, data, script->memory.text, st);
    free(script->memory.text);
    fc_table_free(data);
    *script = (struct fc_script){0};
    return st->code;
}
