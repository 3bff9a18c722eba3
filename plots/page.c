/* page.c - one self-contained page: the fixed parts of this folder with what `{{name}}` stands for. No
 * address is in it, so it opens without a network. */
#include "plots/page_internal.h"

#include <stdlib.h>
#include <string.h>

/* JSON for a script element: no '<' in it. */
static enum fc_code html_json(FILE *out, const json_t *json, struct fc_status *st)
{
    struct fc_memory_stream memory;
    if (fc_memory_open(&memory, st)) return st->code;
    fc_json_print(json, memory.stream);
    fc_memory_whole(st);
    if (!fc_memory_close(&memory, st))
        for (const char *at = memory.text; *at; at++) {
            if (*at == '<')
                fputs("\\u003c", out);
            else
                fputc(*at, out);
        }
    free(memory.text);
    return st->code;
}

struct writer {
    const struct fc_page *page;
    const json_t *data;
    int bits;
    FILE *out;
    struct fc_status *st;
};

static void put_predictions(struct writer *w)
{
    json_t *list = json_array();
    for (int i = 0; i < 2; i++) json_array_append(list, (json_t *)w->page->side[i].prediction);
    json_t *both = json_pack("{s:o}", "predictions", list);
    html_json(w->out, both, w->st);
    json_decref(both);
}

/* What stands for {{name}}. */
static void put(struct writer *w, const char *name, size_t length)
{
    const struct fc_page *p = w->page;
    const struct {
        const char *name, *text, *part;
        void (*write)(const struct fc_page *, FILE *);
    } places[] = {
        {"title", p->title, NULL, NULL},
        {"machine", p->picture->machine, NULL, NULL},
        {"question", p->question, NULL, NULL},
        {"time", p->time, NULL, NULL},
        {"error", p->error, NULL, NULL},
        {"sentence", p->sentence, NULL, NULL},
        {"command", p->command, NULL, NULL},
        {"before", p->side[0].label, NULL, NULL},
        {"after", p->side[1].label, NULL, NULL},
        {"css", NULL, fc_part_css, NULL},
        {"js", NULL, fc_part_js, NULL},
        {"inflate_js", NULL, fc_part_inflate_js, NULL},
        {"draw_js", NULL, fc_part_draw_js, NULL},
        {"bars", NULL, NULL, fc_page_bars},
        {"histograms", NULL, NULL, fc_page_histograms},
        {"numbers", NULL, NULL, fc_page_numbers},
        {"hottest", NULL, NULL, fc_page_hottest},
    };
    for (size_t i = 0; i < FC_COUNT(places); i++) {
        if (strlen(places[i].name) != length || memcmp(places[i].name, name, length)) continue;
        if (places[i].text) fc_html_text(w->out, places[i].text);
        if (places[i].part) fputs(places[i].part, w->out);
        if (places[i].write) places[i].write(p, w->out);
        return;
    }
    if (length == 6 && !memcmp(name, "inputs", 6))
        fc_page_inputs(p, w->bits, w->out);
    else if (length == 4 && !memcmp(name, "data", 4))
        html_json(w->out, w->data, w->st);
    else if (length == 11 && !memcmp(name, "predictions", 11))
        put_predictions(w);
    else
        fc_refuse(w->st, FC_FAULT, "the page has no '%.*s'", (int)length, name);
}

static enum fc_code fill(struct writer *w)
{
    for (const char *at = fc_part_html; !w->st->code;) {
        const char *open = strstr(at, "{{"), *close = open ? strstr(open, "}}") : NULL;
        if (!close) {
            fputs(at, w->out);
            break;
        }
        fwrite(at, 1, (size_t)(open - at), w->out);
        put(w, open + 2, (size_t)(close - open - 2));
        at = close + 2;
    }
    return w->st->code;
}

/* The page in memory; the caller frees *text. */
static enum fc_code compose(const struct fc_page *page, uint32_t most_values, char **text, size_t *size, int *bits,
                            struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    struct writer w = {.page = page, .st = st};
    json_t *data = fc_page_data(page, most_values, &arena, bits, st);
    w.data = data;
    w.bits = *bits;
    struct fc_memory_stream memory;
    if (!st->code && !fc_memory_whole(st) && !fc_memory_open(&memory, st)) {
        w.out = memory.stream;
        fill(&w);
        if (!fc_memory_close(&memory, st)) *text = memory.text, *size = memory.size;
    }
    json_decref(data);
    return st->code;
}

enum fc_code fc_page_write(const struct fc_page *page, const char *path, struct fc_page_facts *facts,
                           struct fc_status *st)
{
    static const uint32_t most_values[] = {65535, 2047, 255};
    struct fc_output out;
    char *text = NULL;
    size_t size = 0;
    for (size_t i = 0; i < FC_COUNT(most_values); i++) {
        free(text);
        text = NULL;
        if (compose(page, most_values[i], &text, &size, &facts->bits, st) || size <= FC_PAGE_MOST_BYTES) break;
    }
    if (!st->code && size > FC_PAGE_MOST_BYTES)
        fc_refuse(st, FC_NO,
                  "the page would have %.1f MB for the loads of %u links (at most %.0f MB: take a smaller machine, "
                  "or `load --json`)",
                  (double)size / 1e6, page->picture->n_links, FC_PAGE_MOST_BYTES / 1e6);
    facts->bytes = size;
    facts->n_links = page->picture->n_links;
    if (!st->code && !fc_output_open(&out, path, st)) {
        fwrite(text, 1, size, out.stream);
        fc_output_close(&out, st);
    }
    free(text);
    return st->code;
}
