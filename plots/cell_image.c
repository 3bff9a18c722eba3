/* cell_image.c - the panels of a network as one image: tiles side by side with a cell between them, panels
 * one under the other with room for a title. Names of rows stand left of a panel whose tiles are one beside the other; of long
 * names the end. */
#include "plots/link_figures.h"
#include "plots/plots.h"

#include <math.h>
#include <string.h>

enum { GAP = 1, MOST_NAMES = 40, NAME_LETTERS = 18, HALF_LETTERS = 58 };

/* Inches: of the page at most, above the image, and below it for the bar of colours, where no panel's title is. */
#define HIGH_IN 9
#define TITLE_IN 0.4
#define BAR_IN 0.75

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

static int label_of(const struct fc_panel *p, char *label, size_t size)
{
    return snprintf(label, size, "%s%s%s%s%s%s%s", p->title, *p->tile ? "   a tile a " : "", p->tile,
                    *p->row ? "   rows: " : "", p->row, *p->column ? "   columns: " : "", p->column);
}

/* Two panels may stand side by side: their titles fit, and no names stand before rows. */
static bool pairs_fit(const struct fc_panel *const *panels, int n_panels)
{
    for (int i = 0; i < n_panels; i++)
        if (panels[i]->row_name || label_of(panels[i], NULL, 0) > HALF_LETTERS) return false;
    return n_panels > 1;
}

/* Panels of at most `width` cells one under the other, or two and two side by side: top, left and height of the image, whose
 * width is known. Returns the width of the widest panel. */
static uint32_t stack(const struct fc_panel *const *panels, int n_panels, uint32_t width, bool pairs,
                      struct fc_cell_image *image)
{
    uint32_t widest = 0, row = 0;
    image->height = 0;
    for (int i = 0; i < n_panels; i++) {
        uint32_t rows = title_rows(image->width) + panel_rows(panels[i], width);
        uint32_t columns = tiles_across(panels[i], width) * (panels[i]->columns + GAP) - GAP;
        bool second = pairs && i % 2;
        if (columns > widest) widest = columns;
        if (!second) image->top[i] = image->height, row = 0;
        if (second) image->top[i] = image->top[i - 1];
        image->left[i] = second ? image->width - (image->width - 2 * GAP) / 2 : 0;
        if (rows > row) row = rows;
        image->height = image->top[i] + row;
    }
    return widest;
}

enum fc_code fc_cell_image_make(const struct fc_panel *const *panels, int n_panels,
                                double (*of)(const void *context, uint32_t item), const void *context,
                                struct fc_cell_image *image, struct fc_status *st)
{
    *image = (struct fc_cell_image){.width = choose_width(panels, n_panels)};
    image->top = fc_alloc(&image->arena, (size_t)n_panels, sizeof *image->top, st);
    image->left = fc_alloc(&image->arena, (size_t)n_panels, sizeof *image->left, st);
    if (!image->top || !image->left) return st->code;
    uint32_t width = image->width, used = stack(panels, n_panels, width, false, image);
    if (pairs_fit(panels, n_panels) && image->height > width) {
        image->width = 2 * used + 2 * GAP;
        stack(panels, n_panels, width, true, image);
    }
    image->value = fc_alloc(&image->arena, (size_t)image->width * image->height, sizeof *image->value, st);
    if (!image->value) return st->code;
    for (size_t i = 0; i < (size_t)image->width * image->height; i++) image->value[i] = NAN;
    for (int i = 0; i < n_panels; i++) {
        const struct fc_panel *p = panels[i];
        uint32_t across = tiles_across(p, width), first = image->top[i] + title_rows(image->width);
        for (size_t k = 0; k < fc_panel_cells(p); k++) {
            uint32_t tile = (uint32_t)(k / p->columns / p->rows), row = (uint32_t)(k / p->columns % p->rows);
            uint32_t y = first + tile / across * (p->rows + GAP) + row;
            uint32_t x = image->left[i] + tile % across * (p->columns + GAP) + (uint32_t)(k % p->columns);
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
                                const char *palette, const char *legend, double unit, double most, struct fc_status *st)
{
    const struct fc_column columns[] = {{"x", FC_CELL_INT, NULL, FC_NUMBER, NULL},
                                        {"y", FC_CELL_INT, NULL, FC_NUMBER, NULL},
                                        {column, FC_CELL_REAL, NULL, FC_NUMBER, NULL}};
    struct fc_script script;
    double left = 1 + LETTER * name_letters(image, panels, n_panels) * image->width;
    double most_high = HIGH_IN - TITLE_IN - BAR_IN,
           high = (FC_PAGE_IN - 0.3) * (image->height + 1) / (image->width + left);
    if (high > most_high) high = most_high;
    double page = high + TITLE_IN + BAR_IN;
    fc_script_open(&script, columns, FC_COUNT(columns), st);
    for (size_t i = 0; i < (size_t)image->width * image->height && !st->code; i++) {
        struct fc_cell cells[] = {{.integer = (long long)(i % image->width)},
                                  {.integer = (long long)(i / image->width)},
                                  {.real = image->value[i]}};
        fc_table_row(&script.data, cells, st);
    }
    if (script.stream) {
        FILE *out = script.stream;
        fc_script_start(out, name, title, FC_PAGE_IN, page);
        fputs("set label ", out);
        fc_script_title(out, title, FC_PAGE_IN);
        fprintf(
            out,
            " at screen 0.5,%.4f center\nset xrange [%g:%u]\nset yrange [%u:-1]\nset size ratio -1\nunset border\nunset tics\n"
            "set lmargin at screen 0.02\nset rmargin at screen 0.98\nset tmargin at screen %.4f\n"
            "set bmargin at screen %.4f\nset cbtics\nset palette defined (%s)\nset cbrange [0:%g]\n"
            "set colorbox horizontal user origin screen 0.1,%.4f size screen 0.8,%.4f\nset cblabel ",
            1 - 0.15 / page, -left, image->width, image->height, 1 - TITLE_IN / page, BAR_IN / page, palette,
            most > 0 ? unit * most : 1, 0.45 / page, 0.12 / page);
        fc_script_text(out, legend);
        fprintf(out, "\nunset key\n");
        for (int i = 0; i < n_panels; i++) {
            char label[400];
            label_of(panels[i], label, sizeof label);
            fprintf(out, "set label ");
            fc_script_text(out, label);
            fprintf(out, " at %g,%g left\n", image->left[i] - 0.5, image->top[i] + title_rows(image->width) * 0.6);
        }
        for (int i = 0; i < n_panels; i++) draw_names(out, image, panels[i], image->top[i]);
        fprintf(out, "plot ");
        fc_script_file(out, name, ".tsv");
        fprintf(out, " skip 1 using 1:2:($3*%g) with image\n", unit);
    }
    return fc_script_draw(&script, directory, name, st);
}
