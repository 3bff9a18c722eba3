/* cell_image.c - the panels of a network as one image: tiles side by side with a cell between them, panels
 * one under the other with room for a title. Names of rows stand left of a panel whose tiles are one beside the other; of long
 * names the end. */
#include "plots/link_figures.h"
#include "plots/plots.h"

#include <math.h>
#include <string.h>

enum { GAP = 1, MOST_NAMES = 40, NAME_LETTERS = 18 };

/* Width of a letter of a name, of the image's. */
#define LETTER 0.014

/* Rows of a panel's title, in cells: a few per cent of the image's width. */
static uint32_t title_rows(uint32_t width)
{
    return width / 22 + 2;
}

static uint32_t tiles_across(const struct fc_panel *p, uint32_t width)
{
    uint32_t most = (width + GAP) / (p->columns + GAP), even;
    if (most < 1) most = 1;
    if (most > p->n_tiles) most = p->n_tiles;
    for (even = most; p->n_tiles % even; even--) {
    }
    if (3 * even >= 2 * most) return even;
    uint32_t down = (p->n_tiles + most - 1) / most;
    return (p->n_tiles + down - 1) / down;
}

static uint32_t panel_rows(const struct fc_panel *p, uint32_t width)
{
    uint32_t across = tiles_across(p, width);
    return (p->n_tiles + across - 1) / across * (p->rows + GAP);
}

/* A width at which the image is about as high as wide. */
static uint32_t choose_width(const struct fc_panel *const *panels, int n_panels)
{
    double cells = 0;
    uint32_t least = 24;
    for (int i = 0; i < n_panels; i++) {
        cells += (double)panels[i]->n_tiles * (panels[i]->rows + GAP) * (panels[i]->columns + GAP);
        if (panels[i]->columns > least) least = panels[i]->columns;
    }
    double width = sqrt(1.3 * cells);
    return width > least ? (uint32_t)width : least;
}

enum fc_code fc_cell_image_make(const struct fc_panel *const *panels, int n_panels,
                                double (*of)(const void *context, uint32_t item), const void *context,
                                struct fc_cell_image *image, struct fc_status *st)
{
    *image = (struct fc_cell_image){.width = choose_width(panels, n_panels)};
    image->top = fc_alloc(&image->arena, (size_t)n_panels, sizeof *image->top, st);
    for (int i = 0; image->top && i < n_panels; i++) {
        image->top[i] = image->height;
        image->height += title_rows(image->width) + panel_rows(panels[i], image->width);
    }
    image->value = fc_alloc(&image->arena, (size_t)image->width * image->height, sizeof *image->value, st);
    if (!image->value) return st->code;
    for (size_t i = 0; i < (size_t)image->width * image->height; i++) image->value[i] = NAN;
    for (int i = 0; i < n_panels; i++) {
        const struct fc_panel *p = panels[i];
        uint32_t across = tiles_across(p, image->width), first = image->top[i] + title_rows(image->width);
        for (size_t k = 0; k < fc_panel_cells(p); k++) {
            uint32_t tile = (uint32_t)(k / p->columns / p->rows), row = (uint32_t)(k / p->columns % p->rows);
            uint32_t y = first + tile / across * (p->rows + GAP) + row;
            uint32_t x = tile % across * (p->columns + GAP) + (uint32_t)(k % p->columns);
            if (p->cell[k] != FC_NONE) image->value[(size_t)y * image->width + x] = of(context, p->cell[k]);
        }
    }
    return FC_OK;
}

/* Whether names of rows fit; every how many-th row's. */
static uint32_t name_step(const struct fc_cell_image *image, const struct fc_panel *p)
{
    if (!p->row_name || tiles_across(p, image->width) < p->n_tiles) return 0;
    return (image->height + MOST_NAMES - 1) / MOST_NAMES;
}

/* Letters of the longest name that is drawn. */
static uint32_t name_letters(const struct fc_cell_image *image, const struct fc_panel *const *panels, int n_panels)
{
    size_t most = 0;
    for (int i = 0; i < n_panels; i++) {
        uint32_t step = name_step(image, panels[i]);
        for (uint32_t r = 0; step && r < panels[i]->rows; r += step)
            if (panels[i]->row_name[r] && strlen(panels[i]->row_name[r]) > most) most = strlen(panels[i]->row_name[r]);
    }
    return most > NAME_LETTERS ? NAME_LETTERS : (uint32_t)most;
}

static void draw_names(FILE *out, const struct fc_cell_image *image, const struct fc_panel *p, uint32_t top)
{
    uint32_t step = name_step(image, p);
    for (uint32_t r = 0; step && r < p->rows; r += step) {
        char text[NAME_LETTERS + 4];
        if (!p->row_name[r]) continue;
        size_t n = strlen(p->row_name[r]);
        snprintf(text, sizeof text, "%s%s", n > NAME_LETTERS ? ".." : "",
                 p->row_name[r] + (n > NAME_LETTERS ? n - (NAME_LETTERS - 2) : 0));
        fprintf(out, "set label ");
        fc_script_text(out, text);
        fprintf(out, " at -0.8,%u right font ',6'\n", top + title_rows(image->width) + r);
    }
}

void fc_cell_image_free(struct fc_cell_image *image)
{
    fc_arena_free(&image->arena);
}

enum fc_code fc_cell_image_draw(const struct fc_cell_image *image, const struct fc_panel *const *panels, int n_panels,
                                const char *directory, const char *name, const char *title, const char *column,
                                const char *palette, const char *legend, double most, struct fc_status *st)
{
    const struct fc_column columns[] = {{"x", FC_CELL_INT, NULL, FC_NUMBER, NULL},
                                        {"y", FC_CELL_INT, NULL, FC_NUMBER, NULL},
                                        {column, FC_CELL_REAL, NULL, FC_NUMBER, NULL}};
    struct fc_script script;
    double scale = fmax(1, floor(fmin(900.0 / image->width, 1400.0 / image->height))), high = image->height * scale;
    fc_script_open(&script, columns, FC_COUNT(columns), st);
    for (size_t i = 0; i < (size_t)image->width * image->height && !st->code; i++) {
        struct fc_cell cells[] = {{.integer = (long long)(i % image->width)},
                                  {.integer = (long long)(i / image->width)},
                                  {.real = image->value[i]}};
        fc_table_row(&script.data, cells, st);
    }
    if (script.stream) {
        FILE *out = script.stream;
        fc_script_start(out, name, title, FC_PAGE_IN,
                        fmin(9, FC_PAGE_IN * (high + 150) / fmax(image->width * scale + 220, 900)));
        fc_script_titled(out, title, FC_PAGE_IN);
        fprintf(out,
                "\nset xrange [%g:%u]\nset yrange [%u:-1]\nset size ratio -1\nunset border\nunset tics\n"
                "set cbtics\nset palette defined (%s)\nset cbrange [0:%g]\nset cblabel ",
                -1 - LETTER * name_letters(image, panels, n_panels) * image->width, image->width, image->height,
                palette, most > 0 ? most : 1);
        fc_script_text(out, legend);
        fprintf(out, " offset 1.5,0\nunset key\n");
        for (int i = 0; i < n_panels; i++) {
            char label[400];
            const struct fc_panel *p = panels[i];
            snprintf(label, sizeof label, "%s%s%s%s%s%s%s", p->title, *p->tile ? "   a tile a " : "", p->tile,
                     *p->row ? "   rows: " : "", p->row, *p->column ? "   columns: " : "", p->column);
            fprintf(out, "set label %d ", i + 1);
            fc_script_text(out, label);
            fprintf(out, " at -0.5,%g left\n", image->top[i] + title_rows(image->width) * 0.6);
        }
        for (int i = 0; i < n_panels; i++) draw_names(out, image, panels[i], image->top[i]);
        fprintf(out, "plot ");
        fc_script_file(out, name, ".tsv");
        fprintf(out, " skip 1 using 1:2:3 with image\n");
    }
    return fc_script_draw(&script, directory, name, st);
}
