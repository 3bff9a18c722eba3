/* table.c - results as rows: aligned text for people, TSV and JSON for programs.
 *
 * Unknown (a NULL text, a NaN) is "-" for people and in TSV texts, "nan" in TSV numbers (gnuplot and pandas
 * know it), null in JSON; never 0. An integer is unknown when the cell's `real` is NaN. Reals for programs
 * have the fewest digits that read back as the same double. */
#include "core/core.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void fc_table_start(struct fc_table *table, const struct fc_column *columns, int n_columns)
{
    *table = (struct fc_table){.columns = columns, .n_columns = n_columns};
}

enum fc_code fc_table_row(struct fc_table *table, const struct fc_cell *cells, struct fc_status *st)
{
    size_t width = (size_t)table->n_columns;
    if (table->n_rows == table->capacity) {
        size_t capacity = table->capacity ? 2 * table->capacity : 16;
        struct fc_cell *larger = reallocarray(table->cells, capacity, width * sizeof *larger);
        if (!larger) return fc_out_of_memory(st, "a table of %zu rows", table->n_rows + 1);
        table->cells = larger;
        table->capacity = capacity;
    }
    memcpy(table->cells + table->n_rows * width, cells, width * sizeof *cells);
    table->n_rows++;
    return FC_OK;
}

static const struct fc_cell *cell_at(const struct fc_table *table, size_t row, int column)
{
    return &table->cells[row * (size_t)table->n_columns + (size_t)column];
}

static bool unknown(const struct fc_column *column, const struct fc_cell *cell)
{
    return column->kind == FC_CELL_TEXT ? !cell->text : isnan(cell->real);
}

static const char *title(const struct fc_column *column)
{
    return column->title ? column->title : column->name;
}

/* What people see of a cell: its own text, or one made in `out`. */
static const char *for_people(const struct fc_column *column, const struct fc_cell *cell, char *out, size_t size)
{
    if (unknown(column, cell)) return "-";
    if (column->kind == FC_CELL_TEXT) return cell->text;
    if (column->kind == FC_CELL_INT) {
        if (!column->format && column->unit != FC_NUMBER)
            return fc_format(out, size, (double)cell->integer, column->unit);
        snprintf(out, size, column->format ? column->format : "%lld", cell->integer);
        return out;
    }
    if (!column->format) return fc_format(out, size, cell->real, column->unit);
    snprintf(out, size, column->format, cell->real);
    return out;
}

/* Columns of a terminal that the text takes as it is printed, one a letter. */
static int width_of(const char *text)
{
    int width = 0;
    char letter[5];
    while (*text) {
        text += fc_visible_letter(letter, text, "");
        for (const char *c = letter; *c; c++) width += ((unsigned char)*c & 0xc0) != 0x80;
    }
    return width;
}

static void print_padded(FILE *stream, const char *text, int width, bool right, bool last)
{
    int pad = width > width_of(text) ? width - width_of(text) : 0;
    if (right) fprintf(stream, "%*s", pad, "");
    fc_print_visible(stream, text);
    if (!right && !last) fprintf(stream, "%*s", pad, "");
    fputs(last ? "\n" : "  ", stream);
}

/* Width of column `c`; cells are formatted twice (here and when printed) rather than kept. */
static int column_width(const struct fc_table *table, int c)
{
    char text[128];
    int widest = width_of(title(&table->columns[c]));
    for (size_t r = 0; r < table->n_rows; r++) {
        int width = width_of(for_people(&table->columns[c], cell_at(table, r, c), text, sizeof text));
        if (width > widest) widest = width;
    }
    return widest;
}

void fc_table_print(const struct fc_table *table, FILE *stream)
{
    int n = table->n_columns;
    int *width = calloc((size_t)n + 1, sizeof *width); /* without memory: counted again for every cell */
    char text[128];
    for (int c = 0; width && c < n; c++) width[c] = column_width(table, c);
    for (int c = 0; c < n; c++)
        print_padded(stream, title(&table->columns[c]), width ? width[c] : column_width(table, c),
                     table->columns[c].kind != FC_CELL_TEXT, c == n - 1);
    for (size_t r = 0; r < table->n_rows; r++)
        for (int c = 0; c < n; c++) {
            const struct fc_column *column = &table->columns[c];
            print_padded(stream, for_people(column, cell_at(table, r, c), text, sizeof text),
                         width ? width[c] : column_width(table, c), column->kind != FC_CELL_TEXT, c == n - 1);
        }
    free(width);
}

static void print_exact(FILE *stream, double value)
{
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    fputs(text, stream);
}

/* A tab or newline in a text would shift the columns. gnuplot, pandas and spreadsheets take a quote at the beginning for
 * that of a text in quotes. */
static void print_tsv_text(FILE *stream, const char *text)
{
    char letter[5];
    bool quoted = *text == '"';
    if (quoted) fputc('"', stream);
    while (*text) {
        text += fc_visible_letter(letter, text, "");
        fputs(quoted && *letter == '"' ? "\"\"" : letter, stream);
    }
    if (quoted) fputc('"', stream);
}

void fc_table_print_tsv(const struct fc_table *table, FILE *stream)
{
    int n = table->n_columns;
    for (int c = 0; c < n; c++) {
        print_tsv_text(stream, table->columns[c].name);
        fputc(c == n - 1 ? '\n' : '\t', stream);
    }
    for (size_t r = 0; r < table->n_rows; r++)
        for (int c = 0; c < n; c++) {
            const struct fc_column *column = &table->columns[c];
            const struct fc_cell *cell = cell_at(table, r, c);
            if (column->kind == FC_CELL_TEXT)
                print_tsv_text(stream, cell->text ? cell->text : "-");
            else if (unknown(column, cell))
                fputs("nan", stream);
            else if (column->kind == FC_CELL_INT)
                fprintf(stream, "%lld", cell->integer);
            else
                print_exact(stream, cell->real);
            fputc(c == n - 1 ? '\n' : '\t', stream);
        }
}

/* JSON is UTF-8: text that is not keeps its ASCII, the rest becomes '?'. */
static json_t *json_text(const char *text)
{
    json_t *json = json_string(text);
    char *copy = json ? NULL : strdup(text);
    if (!copy) return json;
    for (char *c = copy; *c; c++)
        if ((unsigned char)*c >= 0x80) *c = '?';
    json = json_string(copy);
    free(copy);
    return json;
}

static json_t *json_cell(const struct fc_column *column, const struct fc_cell *cell)
{
    if (unknown(column, cell)) return json_null();
    switch (column->kind) {
    case FC_CELL_TEXT: return json_text(cell->text);
    case FC_CELL_INT: return json_integer(cell->integer);
    case FC_CELL_REAL: return fc_json_real(cell->real);
    }
    return json_null();
}

json_t *fc_table_json(const struct fc_table *table)
{
    json_t *rows = json_array();
    for (size_t r = 0; r < table->n_rows; r++) {
        json_t *row = json_object();
        for (int c = 0; c < table->n_columns; c++)
            json_object_set_new(row, table->columns[c].name, json_cell(&table->columns[c], cell_at(table, r, c)));
        json_array_append_new(rows, row);
    }
    return rows;
}

void fc_table_free(struct fc_table *table)
{
    free(table->cells);
    table->cells = NULL;
    table->n_rows = table->capacity = 0;
}

json_t *fc_json_real(double value)
{
    return isfinite(value) ? json_real(value + 0.0) : json_null();
}

/* Jansson escapes C0 only. The others stand in strings, in whole letters. */
static int print_json_part(const char *part, size_t n, void *stream)
{
    const unsigned char *c = (const unsigned char *)part, *end = c + n, *from = c;
    while (c < end) {
        size_t length = *c == 0x7f ? 1 : *c == 0xc2 && end - c > 1 && c[1] < 0xa0 ? 2 : 0;
        if (length) {
            fwrite(from, 1, (size_t)(c - from), stream);
            fprintf(stream, "\\u%04X", c[length - 1]);
            from = c + length;
        }
        c += length ? length : 1;
    }
    fwrite(from, 1, (size_t)(end - from), stream);
    return 0;
}

void fc_json_print(const json_t *json, FILE *stream)
{
    json_dump_callback(json, print_json_part, stream,
                       JSON_INDENT(2) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(15) | JSON_ENCODE_ANY);
    fputc('\n', stream);
}
