/* slurm_topology.c - the network of the switches, blocks or rings that a topology file of Slurm lists.
 *
 * Switches: every member gives one cable (the file does not tell how many there are) of the class `link`. Of LinkSpeed, which
 * Slurm ignores and gives no unit, "100Gb/s" is a bandwidth and a class of its own; bare numbers count where they differ: 100 is
 * the class `speed 100`, whose bandwidth the machine file gives. A switch may stand under several (Janus' three core switches); a
 * node under two switches has two cables, which Slurm takes with a warning; no root is needed. Refused: a switch with both nodes
 * and switches, unknown members, members listed twice, a switch under itself.
 * Blocks are places (domains.c); with BlockSizes b, c, ... the first c / b blocks, as the file has them, lie in one place, and so
 * on. A ring's nodes are joined in the order of the list by cables of the class `link`, each node to a router of its own by one of
 * the class `node`; rings are not joined, since the file does not tell how. */
#include "core/hostlist.h"
#include "core/values.h"
#include "models/graphs/domains.h"
#include "models/graphs/slurm_topology.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct slurm {
    struct fc_graph_reader *reader;
    struct fc_status *st;
    struct fc_names defined;     /* switches that have a line */
    struct fc_slurm_line *lines; /* [n_lines] read in a second pass, when all switches are known */
    size_t n_lines;
    uint32_t sizes[FC_SLURM_SIZES];
    size_t n_sizes;
    bool speeds_differ;
};

static enum fc_code fail(const struct slurm *s, long line, const char *what, const char *text, size_t length,
                         const char *expected)
{
    return fc_fail(s->st, FC_INPUT, (struct fc_place){s->reader->text.file, line}, "%s: '%.*s' (expected %s)", what,
                   (int)(length < 80 ? length : 80), text, expected);
}

/* ---- host lists ---- */

struct listing {
    struct slurm *slurm;
    const struct fc_slurm_line *members;
};

static enum fc_code add_member(void *context, const char *name, size_t length, uint32_t times, struct fc_place where,
                               struct fc_status *st)
{
    const struct listing *listing = context;
    struct slurm *s = listing->slurm;
    const struct fc_slurm_line *m = listing->members;
    struct fc_graph_reader *r = s->reader;
    struct fc_cable cable = {m->owner, 0, m->nodes, m->link_class, 0, 0, 0};
    if (times != 1) return fail(s, m->line, "host list", m->list, m->list_length, "each member once");
    if (m->nodes) {
        if (fc_graph_names_add(&r->nodes, &r->machine->arena, name, length, &cable.other, where, st)) return st->code;
    } else {
        cable.other = fc_names_find(&r->routers, name, length);
        if (cable.other == FC_NONE)
            return fail(s, m->line, "Switches", name, length, "a switch that has a SwitchName line");
        if (cable.other == m->owner) return fail(s, m->line, "Switches", name, length, "another switch than itself");
    }
    return fc_graph_add_cable(r, &cable, st);
}

static enum fc_code expand_list(struct slurm *s, const struct fc_slurm_line *m)
{
    struct listing listing = {s, m};
    struct fc_place where = {s->reader->text.file, m->line};
    return fc_host_list_walk(m->list, m->list_length, add_member, &listing, where, s->st);
}

/* ---- speeds ---- */

/* A speed without a unit. */
static bool is_bare(const struct fc_slurm_line *line)
{
    for (size_t i = 0; i < line->speed_length; i++)
        if (!fc_is_digit(line->speed[i]) && line->speed[i] != '.') return false;
    return line->speed_length > 0;
}

static void compare_speeds(struct slurm *s)
{
    const struct fc_slurm_line *first = NULL;
    for (size_t i = 0; i < s->n_lines; i++) {
        const struct fc_slurm_line *m = &s->lines[i];
        if (!is_bare(m)) continue;
        if (!first) first = m;
        s->speeds_differ = s->speeds_differ || m->speed_length != first->speed_length ||
                           memcmp(m->speed, first->speed, m->speed_length) != 0;
    }
}

/* The class of a line's cables. */
static enum fc_code find_class(struct slurm *s, struct fc_slurm_line *line)
{
    struct fc_place where = {s->reader->text.file, line->line};
    char text[32], name[48];
    double bandwidth = 0;
    int length = (int)line->speed_length;
    if (!line->speed) return fc_graph_class(s->reader, "link", 0, 0, &line->link_class, where, s->st);
    if (line->speed_length >= sizeof text)
        return fail(s, line->line, "LinkSpeed", line->speed, line->speed_length, "a number");
    snprintf(text, sizeof text, "%.*s", length, line->speed);
    if (is_bare(line)) {
        char *end;
        if (!(strtod(text, &end) > 0) || *end)
            return fail(s, line->line, "LinkSpeed", text, line->speed_length, "a number above 0");
        if (!s->speeds_differ) return fc_graph_class(s->reader, "link", 0, 0, &line->link_class, where, s->st);
        snprintf(name, sizeof name, "speed %s", text);
    } else {
        if (fc_quantity(text, FC_BYTES_PER_S, 0, &bandwidth, where, s->st)) return s->st->code;
        if (!(bandwidth >= 1 && bandwidth <= 1e18))
            return fail(s, line->line, "LinkSpeed", text, line->speed_length, "1 B/s to 1e18 B/s");
        fc_format(name, sizeof name, bandwidth, FC_BYTES_PER_S);
    }
    return fc_graph_class(s->reader, name, bandwidth, 0, &line->link_class, where, s->st);
}

static int by_ends(const void *a, const void *b)
{
    const struct fc_cable *x = a, *y = b;
    if (x->to_node != y->to_node) return x->to_node - y->to_node;
    uint32_t x_low = !x->to_node && x->other < x->router ? x->other : x->router, x_high = x->router + x->other - x_low;
    uint32_t y_low = !y->to_node && y->other < y->router ? y->other : y->router, y_high = y->router + y->other - y_low;
    if (x_low != y_low) return x_low < y_low ? -1 : 1;
    return (x_high > y_high) - (x_high < y_high);
}

/* A member listed twice, or two switches that list each other. */
static enum fc_code refuse_repeats(struct slurm *s, struct fc_arena *scratch)
{
    const struct fc_graph_reader *r = s->reader;
    size_t n = r->shape->n_cables;
    struct fc_cable *sorted = fc_alloc(scratch, n, sizeof *sorted, s->st);
    if (!sorted) return s->st->code;
    if (n) memcpy(sorted, r->shape->cables, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_ends);
    for (size_t i = 1; i < n; i++)
        if (by_ends(&sorted[i - 1], &sorted[i]) == 0)
            return fc_fail(s->st, FC_INPUT, (struct fc_place){r->text.file, 0},
                           "switch '%s' and '%s' are joined twice (expected each member once)",
                           r->routers.name[sorted[i].router],
                           sorted[i].to_node ? r->nodes.name[sorted[i].other] : r->routers.name[sorted[i].other]);
    return FC_OK;
}

/* ---- what lines make ---- */

static enum fc_code build_switches(struct slurm *s, struct fc_arena *scratch)
{
    struct fc_graph_reader *r = s->reader;
    for (size_t i = 0; i < s->n_lines; i++) {
        struct fc_slurm_line *l = &s->lines[i];
        struct fc_place where = {r->text.file, l->line};
        uint32_t defined, before = s->defined.n;
        if (fc_graph_names_add(&r->routers, &r->machine->arena, l->name, l->name_length, &l->owner, where, s->st) ||
            fc_graph_names_add(&s->defined, &r->machine->arena, l->name, l->name_length, &defined, where, s->st))
            return s->st->code;
        if (defined < before) return fail(s, l->line, "SwitchName", l->name, l->name_length, "one line a switch");
    }
    compare_speeds(s);
    for (size_t i = 0; i < s->n_lines; i++)
        if (find_class(s, &s->lines[i]) || expand_list(s, &s->lines[i])) return s->st->code;
    return refuse_repeats(s, scratch);
}

/* The names of the places that a block's nodes are in, outermost first: the larger ones by number, then its own. */
struct block {
    struct fc_domains *domains;
    const char *path[FC_SLURM_SIZES + 1];
    uint32_t n_path;
};

static enum fc_code add_to_block(void *context, const char *name, size_t length, uint32_t times, struct fc_place where,
                                 struct fc_status *st)
{
    const struct block *block = context;
    (void)length;
    if (times != 1) return fc_fail(st, FC_INPUT, where, "'%s' (expected each node once)", name);
    return fc_domains_add(block->domains, name, block->path, block->n_path, where, st);
}

static enum fc_code build_blocks(struct slurm *s)
{
    struct fc_domains domains = {.reader = s->reader};
    size_t n_larger = s->n_sizes > 1 ? s->n_sizes - 1 : 0;
    for (size_t i = 0; i < s->n_lines; i++) {
        const struct fc_slurm_line *l = &s->lines[i];
        struct block block = {.domains = &domains, .n_path = (uint32_t)n_larger + 1};
        struct fc_place where = {s->reader->text.file, l->line};
        char names[FC_SLURM_SIZES][64], own[256];
        for (size_t k = 0; k < n_larger; k++) {
            uint32_t size = s->sizes[n_larger - k];
            snprintf(names[k], sizeof names[k], "places-of-%u-%zu", size, i / (size / s->sizes[0]));
            block.path[k] = names[k];
        }
        snprintf(own, sizeof own, "%.*s", (int)(l->name_length < 255 ? l->name_length : 255), l->name);
        block.path[n_larger] = own;
        uint32_t defined, before = s->defined.n;
        if (fc_graph_names_add(&s->defined, &s->reader->machine->arena, l->name, l->name_length, &defined, where,
                               s->st))
            return s->st->code;
        if (defined < before) return fail(s, l->line, "BlockName", l->name, l->name_length, "one line a block");
        if (fc_host_list_walk(l->list, l->list_length, add_to_block, &block, where, s->st)) return s->st->code;
    }
    return fc_domains_finish(&domains, s->st);
}

struct ring {
    struct slurm *slurm;
    uint32_t first, last; /* routers; FC_NONE: none yet */
    uint32_t n;
    uint8_t link, to_node;
};

static enum fc_code add_to_ring(void *context, const char *name, size_t length, uint32_t times, struct fc_place where,
                                struct fc_status *st)
{
    struct ring *ring = context;
    struct fc_graph_reader *r = ring->slurm->reader;
    uint32_t router, node, before = r->nodes.n;
    if (times != 1) return fc_fail(st, FC_INPUT, where, "'%s' (expected each node once)", name);
    if (fc_graph_names_add(&r->routers, &r->machine->arena, name, length, &router, where, st) ||
        fc_graph_names_add(&r->nodes, &r->machine->arena, name, length, &node, where, st))
        return st->code;
    if (node < before) return fc_fail(st, FC_INPUT, where, "node '%s' is listed twice", name);
    struct fc_cable end = {.router = router, .other = node, .to_node = true, .link_class = ring->to_node};
    struct fc_cable along = {.router = ring->last, .other = router, .link_class = ring->link};
    if (fc_graph_add_cable(r, &end, st) || (ring->n && fc_graph_add_cable(r, &along, st))) return st->code;
    if (ring->n++ == 0) ring->first = router;
    ring->last = router;
    return FC_OK;
}

static enum fc_code build_rings(struct slurm *s)
{
    struct fc_graph_reader *r = s->reader;
    for (size_t i = 0; i < s->n_lines; i++) {
        const struct fc_slurm_line *l = &s->lines[i];
        struct fc_place where = {r->text.file, l->line};
        struct ring ring = {.slurm = s};
        if (fc_graph_class(r, "link", 0, 0, &ring.link, where, s->st) ||
            fc_graph_class(r, "node", 0, 0, &ring.to_node, where, s->st) ||
            fc_host_list_walk(l->list, l->list_length, add_to_ring, &ring, where, s->st))
            return s->st->code;
        struct fc_cable closing = {.router = ring.last, .other = ring.first, .link_class = ring.link};
        if (ring.n > 2 && fc_graph_add_cable(r, &closing, s->st)) return s->st->code;
    }
    return FC_OK;
}

enum fc_code fc_slurm_build(struct fc_graph_reader *reader, struct fc_slurm_line *lines, size_t n,
                            const uint32_t *sizes, size_t n_sizes, struct fc_status *st)
{
    static const char *const names[] = {"switches", "blocks", "rings"};
    struct slurm s = {.reader = reader, .st = st, .lines = lines, .n_lines = n, .n_sizes = n_sizes};
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    uint64_t n_listed = 0;
    if (n_sizes) memcpy(s.sizes, sizes, n_sizes * sizeof *sizes);
    for (size_t i = 0; i < n; i++) {
        if (lines[i].kind != lines[0].kind)
            return fail(&s, lines[i].line, "a line", lines[i].name, lines[i].name_length, names[lines[0].kind]);
        if (lines[i].kind != FC_SLURM_SWITCH && (!lines[i].nodes || lines[i].speed))
            return fail(&s, lines[i].line, "a line", lines[i].name, lines[i].name_length, "Nodes=... and nothing else");
        n_listed += fc_host_list_count(lines[i].list, lines[i].list_length);
        if (n_listed > FC_MOST_HOSTS)
            return fc_fail(st, FC_INPUT, (struct fc_place){reader->text.file, lines[i].line},
                           "more than %u members in the lists up to here", FC_MOST_HOSTS);
    }
    if (n_sizes && (n == 0 || lines[0].kind != FC_SLURM_BLOCK))
        return fc_fail(st, FC_INPUT, (struct fc_place){reader->text.file, 0}, "BlockSizes without blocks");
    if (n == 0) return FC_OK; /* "has no nodes" */
    if (lines[0].kind == FC_SLURM_SWITCH)
        build_switches(&s, &scratch);
    else if (lines[0].kind == FC_SLURM_BLOCK)
        build_blocks(&s);
    else
        build_rings(&s);
    return st->code;
}

enum fc_code fc_slurm_sizes(const char *text, size_t length, uint32_t *sizes, size_t *n, struct fc_place where,
                            struct fc_status *st)
{
    for (const char *end = text + length, *next; text <= end; text = next + 1) {
        long long size;
        next = memchr(text, ',', (size_t)(end - text));
        if (!next) next = end;
        if (fc_word_int(text, (size_t)(next - text), 1, FC_MOST_HOSTS, "BlockSizes", &size, where, st)) return st->code;
        if (*n == FC_SLURM_SIZES) return fc_fail(st, FC_INPUT, where, "BlockSizes: more than %d sizes", FC_SLURM_SIZES);
        long long times = *n ? size / sizes[*n - 1] : 0;
        if (*n && (size % sizes[*n - 1] || times < 2 || (times & (times - 1))))
            return fc_fail(st, FC_INPUT, where,
                           "BlockSizes: %lld after %u (expected each a power of two times the one before)", size,
                           sizes[*n - 1]);
        sizes[(*n)++] = (uint32_t)size;
    }
    return FC_OK;
}
