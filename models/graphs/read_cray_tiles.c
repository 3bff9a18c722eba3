/* read_cray_tiles.c - the cabling of a Cray XC as its list of router tiles, a tile a line, every cable from both ends:
 *
 *     c0-0c0s0a0l00(0:0:0) green -> c0-0c0s6a0l10(0:0:6)       l: row and column of the tile, in octal; (group:row:column)
 *     c0-0c0s0a0l07(0:0:0) black -> c1-0c2s0a0l16(0:5:0)       green: within a chassis, black: between chassis of a group
 *     c0-0c0s0a0l01(0:0:0) blue -> c2-0c0s0a0l01(1:0:0)        blue: between groups
 *     c0-0c0s0a0l04(0:0:0) blue -> unused                      no cable
 *     c0-0c0s0a0l50(0:0:0) ptile -> processor                  two such tiles are a node's
 *
 * Routers keep their names (c0-0c0s0a0), nodes get those of their blade's (c0-0c0s0n0, ...). The tiles are Aries', so rates are its
 * own, 3 lanes of 14 Gb/s (12.5 Gb/s between groups) and 16 GB/s of a node: Alverson et al., Cray XC Series Network, 2012; the
 * public CODES model of Theta. Refused: cables that only one end lists, tiles listed
 * twice, two routers of one slot that both have nodes. */
#include "core/values.h"
#include "models/family_graph.h"

#include <stdlib.h>
#include <string.h>

enum { TILES_A_NODE = 2, N_COLOURS = 4 };
enum colour { GREEN, BLACK, BLUE, PTILE };
static const struct {
    const char *name;
    double bytes_per_s;
} colours[N_COLOURS] = {{"green", 5.25e9}, {"black", 5.25e9}, {"blue", 4.6875e9}, {"ptile", 16e9}};

/* One end of a cable as its line tells it. */
struct end {
    uint32_t router, other;
    uint8_t tile, other_tile, colour;
    long line;
};
struct tiles {
    struct fc_graph_reader *reader;
    struct fc_status *st;
    struct fc_arena scratch;
    struct end *end; /* [n] */
    size_t n;
    uint64_t *ptiles; /* [routers.n] those to processors, a bit each */
    uint32_t capacity;
};

static enum fc_code malformed(const struct tiles *t, long line, const char *at, const char *end)
{
    size_t length = (size_t)(end - at);
    return fc_fail(
        t->st, FC_INPUT, (struct fc_place){t->reader->text.file, line},
        "malformed at '%.*s' (expected c0-0c0s0a0l00(0:0:0) COLOUR -> c0-0c0s1a0l00(0:0:1), unused or processor)",
        (int)(length < 60 ? length : 60), at);
}

/* "c0-0c0s0a0l07(...)": the name before the last l, and the two octal digits behind it. */
static bool read_tile(const char *word, size_t length, size_t *name, uint8_t *tile)
{
    const char *open = memchr(word, '(', length);
    size_t n = open ? (size_t)(open - word) : length;
    if (n < 5 || word[n - 3] != 'l' || word[n - 1] < '0' || word[n - 1] > '7' || word[n - 2] < '0' || word[n - 2] > '7')
        return false;
    *name = n - 3;
    *tile = (uint8_t)(8 * (word[n - 2] - '0') + word[n - 1] - '0');
    return true;
}

static enum fc_code find_router(struct tiles *t, const char *name, size_t length, long line, uint32_t *router)
{
    struct fc_graph_reader *r = t->reader;
    if (fc_graph_names_add(&r->routers, &r->machine->arena, name, length, router, (struct fc_place){r->text.file, line},
                           t->st))
        return t->st->code;
    if (*router < t->capacity) return FC_OK;
    uint32_t capacity = t->capacity ? 2 * t->capacity : 1024;
    uint64_t *more = fc_alloc(&t->scratch, capacity, sizeof *more, t->st);
    if (!more) return t->st->code;
    if (t->capacity) memcpy(more, t->ptiles, t->capacity * sizeof *more);
    t->ptiles = more;
    t->capacity = capacity;
    return FC_OK;
}

static enum fc_code read_line(struct tiles *t, const char *at, const char *end, long line)
{
    const char *start = at, *word[4], *more;
    size_t length[4], size, name;
    struct end e = {.line = line, .colour = N_COLOURS};
    if (!fc_next_word(&at, end, &word[0], &length[0]) || *word[0] == '#') return FC_OK;
    for (int i = 1; i < 4; i++)
        if (!fc_next_word(&at, end, &word[i], &length[i])) return malformed(t, line, start, end);
    for (uint8_t c = 0; c < N_COLOURS; c++)
        if (strlen(colours[c].name) == length[1] && !memcmp(colours[c].name, word[1], length[1])) e.colour = c;
    if (e.colour == N_COLOURS || length[2] != 2 || memcmp(word[2], "->", 2) || fc_next_word(&at, end, &more, &size) ||
        !read_tile(word[0], length[0], &name, &e.tile))
        return malformed(t, line, start, end);
    if (find_router(t, word[0], name, line, &e.router)) return t->st->code;
    if (length[3] == 6 && !memcmp(word[3], "unused", 6)) return FC_OK;
    bool processor = length[3] == 9 && !memcmp(word[3], "processor", 9);
    if (processor != (e.colour == PTILE)) return malformed(t, line, start, end);
    if (processor) {
        uint64_t bit = 1ull << e.tile;
        if (t->ptiles[e.router] & bit)
            return fc_fail(t->st, FC_INPUT, (struct fc_place){t->reader->text.file, line},
                           "tile l%o%o of '%s' is listed twice", e.tile / 8, e.tile % 8,
                           t->reader->routers.name[e.router]);
        t->ptiles[e.router] |= bit;
        return FC_OK;
    }
    if (!read_tile(word[3], length[3], &name, &e.other_tile)) return malformed(t, line, start, end);
    if (find_router(t, word[3], name, line, &e.other)) return t->st->code;
    if (e.other == e.router)
        return fc_fail(t->st, FC_INPUT, (struct fc_place){t->reader->text.file, line}, "a cable joins '%s' to itself",
                       t->reader->routers.name[e.router]);
    t->end[t->n++] = e;
    return FC_OK;
}

static int by_tile(const void *a, const void *b)
{
    const struct end *x = a, *y = b;
    if (x->router != y->router) return x->router < y->router ? -1 : 1;
    return x->tile - y->tile;
}

static enum fc_code add_cables(struct tiles *t)
{
    struct fc_graph_reader *r = t->reader;
    uint8_t class[N_COLOURS] = {0};
    bool used[N_COLOURS] = {false};
    qsort(t->end, t->n, sizeof *t->end, by_tile);
    for (size_t i = 0; i < t->n; i++) {
        const struct end *e = &t->end[i];
        struct fc_place where = {r->text.file, e->line};
        struct end key = {.router = e->other, .tile = e->other_tile};
        const struct end *mate = bsearch(&key, t->end, t->n, sizeof key, by_tile);
        if (i > 0 && by_tile(&t->end[i - 1], e) == 0)
            return fc_fail(t->st, FC_INPUT, where, "tile l%o%o of '%s' is listed twice", e->tile / 8, e->tile % 8,
                           r->routers.name[e->router]);
        if (!mate || mate->other != e->router || mate->other_tile != e->tile || mate->colour != e->colour)
            return fc_fail(t->st, FC_INPUT, where,
                           "'%s' l%o%o does not list this %s cable (expected it from both ends)",
                           r->routers.name[e->other], e->other_tile / 8, e->other_tile % 8, colours[e->colour].name);
        if (by_tile(e, mate) > 0) continue;
        int c = e->colour;
        if (!used[c] && fc_graph_class(r, colours[c].name, colours[c].bytes_per_s, 0, &class[c], where, t -> st))
            return t->st->code;
        used[c] = true;
        struct fc_cable cable = {
            e->router, e->other, false, class[c], (uint16_t)(e->tile + 1), (uint16_t)(e->other_tile + 1), 0};
        if (fc_graph_add_cable(r, &cable, t->st)) return t->st->code;
    }
    return FC_OK;
}

/* "c0-0c0s0a0" has nodes c0-0c0s0n0, ... */
static enum fc_code add_nodes(struct tiles *t)
{
    struct fc_graph_reader *r = t->reader;
    struct fc_place where = {r->text.file, 0};
    uint8_t class = 0;
    for (uint32_t router = 0, first = true; router < r->routers.n; router++) {
        const char *name = r->routers.name[router], *a = strrchr(name, 'a');
        uint32_t n = ((uint32_t)__builtin_popcountll(t->ptiles[router]) + TILES_A_NODE - 1) / TILES_A_NODE;
        if (n && first && fc_graph_class(r, colours[PTILE].name, colours[PTILE].bytes_per_s, 0, &class, where, t->st))
            return t->st->code;
        first = first && n == 0;
        for (uint32_t i = 0; i < n; i++) {
            char node[320];
            uint32_t before = r->nodes.n;
            int length = snprintf(node, sizeof node, "%.*sn%u", a ? (int)(a - name) : (int)strlen(name), name, i);
            struct fc_cable cable = {router, 0, true, class, 0, 0, 0};
            if (fc_graph_names_add(&r->nodes, &r->machine->arena, node, (size_t)length, &cable.other, where, t->st))
                return t->st->code;
            if (r->nodes.n == before)
                return fc_fail(t->st, FC_INPUT, where,
                               "'%s' is a node of '%s' and of another router (expected one router a slot)", node, name);
            if (fc_graph_add_cable(r, &cable, t->st)) return t->st->code;
        }
    }
    return FC_OK;
}

enum fc_code fc_read_cray_tiles(struct fc_graph_reader *reader, struct fc_status *st)
{
    struct tiles t = {.reader = reader, .st = st};
    struct fc_lines lines;
    size_t n_lines = 1;
    for (size_t i = 0; i < reader->text.size; i++) n_lines += reader->text.data[i] == '\n';
    t.end = fc_alloc(&t.scratch, n_lines, sizeof *t.end, st);
    fc_lines_start(&lines, &reader->text);
    while (!st->code && fc_lines_next(&lines)) read_line(&t, lines.text, lines.text + lines.length, lines.line);
    if (!st->code && !add_cables(&t)) add_nodes(&t);
    fc_arena_free(&t.scratch);
    return st->code;
}
