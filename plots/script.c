/* script.c - gnuplot scripts: every text that reaches one is written here.
 *
 * gnuplot runs what stands between backticks, expands @macros, opens a pipe for a file that begins with < or |, and reads
 * % in the name of a tic, { ^ _ in enhanced text. Names come from files that anyone may have written, so nothing of a text
 * is left to gnuplot: it stands in double quotes, where all but letters, digits and a few marks are octal numbers. A
 * backtick so written is a letter of the text and runs nothing. Terminals are set to `noenhanced`. */
#include "plots/plots.h"

#include <stdlib.h>
#include <string.h>

/* `twice` is a letter to be doubled. gnuplot reads four digits of a number that begins
 * with 0. */
static void put_letters(FILE *script, const char *text, size_t length, char twice)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_ -+=:;,./()[]<>|&*?!";
    char letter[5];
    for (const char *end = text + length; text < end && *text;) {
        text += fc_visible_letter(letter, text, "");
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
    put_letters(script, text, strlen(text), 0);
    fputc('"', script);
}

/* How many bytes of the text stand on a line of so many letters: to the last blank that fits, or, where that leaves no more lines, to
 * one behind a comma, colon or semicolon of its second half. */
static size_t line_length(const char *text, size_t most)
{
    size_t length = strcspn(text, "\n"), letters = 0, blank = 0, behind = 0, at = 0, letters_behind = 0;
    while (at < length && letters < most) {
        if (text[at] == ' ') {
            blank = at;
            if (at > 0 && strchr(",:;", text[at - 1]) && letters >= most / 2) behind = at, letters_behind = letters;
        }
        size_t n = fc_letter(text + at);
        at += n ? n : 1;
        letters++;
    }
    if (at >= length) return length;
    for (size_t rest = at; rest < length; letters++) {
        size_t n = fc_letter(text + rest);
        rest += n ? n : 1;
    }
    if (behind && (letters - letters_behind) <= most * ((letters + most - 1) / most - 1)) return behind;
    return blank ? blank : at;
}

void fc_script_title(FILE *script, const char *text, double width_in)
{
    enum { MOST_LINES = 3 };
    fputc('"', script);
    for (int i = 0; i < MOST_LINES && *text && *text != '\n'; i++) {
        size_t n = line_length(text, fc_script_letters(width_in));
        if (i) fputs("\\n", script);
        put_letters(script, text, n, 0);
        text += n + (text[n] == ' ');
        if (i + 1 == MOST_LINES && *text && *text != '\n') fputs(" ...", script);
    }
    fputc('"', script);
}

void fc_script_tic(FILE *script, const char *text)
{
    fputc('"', script);
    put_letters(script, text, strlen(text), '%');
    fputc('"', script);
}

void fc_script_file(FILE *script, const char *name, const char *ending)
{
    fputs("\"./", script);
    put_letters(script, name, strlen(name), 0);
    fprintf(script, "%s\"", ending);
}

void fc_script_words(FILE *script, const char *words, const char *text)
{
    fputs(words, script);
    fc_script_text(script, text);
}

void fc_script_titled(FILE *script, const char *text, double width_in)
{
    fputs("set title ", script);
    fc_script_title(script, text, width_in);
}

static const char *label_of(const void *rows, size_t size, size_t i)
{
    const char *label;
    memcpy(&label, (const char *)rows + i * size, sizeof label);
    return label;
}

void fc_script_names(FILE *script, const void *rows, size_t size, size_t n)
{
    fprintf(script, "array name[%zu]\n", n ? n : 1);
    for (size_t i = 0; i < n; i++) {
        fprintf(script, "name[%zu] = ", i + 1);
        fc_script_text(script, label_of(rows, size, i));
        fputc('\n', script);
    }
}

size_t fc_script_longest(const void *rows, size_t size, size_t n)
{
    size_t longest = 0;
    for (size_t i = 0; i < n; i++) {
        size_t length = strlen(label_of(rows, size, i));
        longest = length > longest ? length : longest;
    }
    return longest;
}

struct fc_time_axis fc_time_axis(double most_s)
{
    return most_s < 1e-6   ? (struct fc_time_axis){1e9, "ns"}
           : most_s < 1e-3 ? (struct fc_time_axis){1e6, "µs"}
           : most_s < 1    ? (struct fc_time_axis){1e3, "ms"}
                           : (struct fc_time_axis){1, "s"};
}

void fc_script_open(struct fc_script *script, const struct fc_column *columns, int n_columns, struct fc_status *st)
{
    *script = (struct fc_script){0};
    fc_table_start(&script->data, columns, n_columns);
    if (!st->code && !fc_memory_open(&script->memory, st)) script->stream = script->memory.stream;
}

enum fc_code fc_script_draw(struct fc_script *script, const char *directory, const char *name, struct fc_status *st)
{
    if (!fc_memory_close(&script->memory, st)) fc_figure_write(directory, name, &script->data, script->memory.text, st);
    free(script->memory.text);
    fc_table_free(&script->data);
    *script = (struct fc_script){0};
    return st->code;
}
