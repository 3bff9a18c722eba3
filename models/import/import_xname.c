/* import_xname.c - a dragonfly from the names of its nodes: Cray's component names (xnames) tell cabinet, chassis and slot.
 *
 *     x1000c0s3b0n1    Cray EX: cabinet, chassis, slot, controller, node; x1000c0r3b0 is a switch
 *     c3-0c2s15n3      Cray XC: column and row of the cabinet, chassis, slot, node; c3-0c2s15a0 is its router
 *
 * one or several a line, lists such as x1000c[0-7]s[0-7]b[0-1]n0 too, or a host and its xname on a line. Groups: a cabinet of an EX
 * (a placeholder: sites differ), two neighbouring cabinets of an XC. Routers: of an XC that of each slot, in a grid of chassis and
 * slots where all groups are alike; of an EX the switches that the file names in a chassis, else one for 16 nodes (a placeholder),
 * over which the chassis' nodes are spread in their order. The names do not tell the cables between groups, so as many a pair as
 * give every router one are a placeholder, too. Rates: Aries', Slingshot 11's. */
#include "core/hostlist.h"
#include "core/values.h"
#include "models/family_graph.h"
#include "models/import/import.h"

#include <stdlib.h>
#include <string.h>

enum {
    NODES_A_SWITCH = 16,
    XC_CHASSIS = 3,
    XC_SLOTS = 64,
    XC_ROWS = 1000,
    XC_COLUMNS = 1000,
    MOST_KINDS_OF_GROUPS = FC_MAX_LIST
};

/* A node or, with `is_switch`, a router. */
struct part {
    bool is_switch;
    uint32_t group, chassis, slot, controller, node;
    uint32_t router; /* number within its group, once known */
    const char *name, *host;
    long line;
};
struct names {
    struct fc_arena arena;
    struct fc_text text;
    struct fc_status *st;
    struct part *part; /* [n] */
    size_t n, capacity;
    bool ex, xc;
    size_t first_of_line; /* parts of the line begin here */
    const char *host;     /* the word of the line that is no xname */
    uint32_t n_groups;
    uint32_t *routers; /* [n_groups] */
};

/* ---- names ---- */

/* Follows the pattern: digits for '#', else the character itself. */
static bool follows(const char *name, const char *pattern, uint32_t *number)
{
    for (; *pattern; pattern++) {
        if (*pattern != '#') {
            if (*name++ != *pattern) return false;
            continue;
        }
        size_t n = strspn(name, "0123456789");
        if (n == 0 || n > 6) return false;
        *number++ = (uint32_t)strtoul(name, NULL, 10);
        name += n;
    }
    return !*name;
}

static bool read_name(const char *name, struct part *p, bool *ex)
{
    uint32_t v[5] = {0};
    *ex = *name == 'x';
    if (follows(name, "x#c#s#b#n#", v)) {
        *p = (struct part){.group = v[0], .chassis = v[1], .slot = v[2], .controller = v[3], .node = v[4]};
    } else if (follows(name, "x#c#r#b#", v) || follows(name, "x#c#r#", v)) {
        *p = (struct part){.is_switch = true, .group = v[0], .chassis = v[1], .slot = v[2]};
    } else if (follows(name, "c#-#c#s#n#", v) || follows(name, "c#-#c#s#a#", v)) {
        *p = (struct part){.is_switch = strrchr(name, 'a') != NULL,
                           .group = v[1] * XC_COLUMNS + v[0] / 2,
                           .chassis = v[0] % 2 * XC_CHASSIS + v[2],
                           .slot = v[3],
                           .node = v[4]};
        if (v[0] >= XC_COLUMNS || v[1] >= XC_ROWS || v[2] >= XC_CHASSIS || v[3] >= XC_SLOTS) return false;
    } else {
        return false;
    }
    return true;
}

static enum fc_code add_name(void *context, const char *name, size_t length, uint32_t times, struct fc_place where,
                             struct fc_status *st)
{
    struct names *x = context;
    char text[300];
    struct part part;
    bool ex;
    (void)times;
    snprintf(text, sizeof text, "%.*s", (int)(length < sizeof text ? length : sizeof text - 1), name);
    const char *copy = fc_copy_text(&x->arena, text, st);
    if (!copy) return st->code;
    if (!read_name(copy, &part, &ex)) {
        if (x->host)
            return fc_fail(st, FC_INPUT, where,
                           "'%.60s' is no xname (expected names such as x1000c0s0b0n0 or c0-0c0s0n0)", text);
        x->host = copy;
        return FC_OK;
    }
    if (ex ? x->xc : x->ex)
        return fc_fail(st, FC_INPUT, where, "'%.60s': names of a Cray EX and of an XC in one file", text);
    x->ex = x->ex || ex;
    x->xc = x->xc || !ex;
    part.name = copy;
    part.line = where.line;
    if (x->n == x->capacity) {
        size_t capacity = x->capacity ? 2 * x->capacity : 1024;
        struct part *more = fc_alloc(&x->arena, capacity, sizeof *more, st);
        if (!more) return st->code;
        if (x->n) memcpy(more, x->part, x->n * sizeof *more);
        x->part = more;
        x->capacity = capacity;
    }
    x->part[x->n++] = part;
    return FC_OK;
}

static enum fc_code read_line(struct names *x, const struct fc_lines *lines)
{
    const char *comment = memchr(lines->text, '#', lines->length), *at = lines->text, *word;
    const char *end = comment ? comment : lines->text + lines->length;
    size_t length;
    x->first_of_line = x->n;
    x->host = NULL;
    while (fc_next_word(&at, end, &word, &length))
        if (fc_host_list_walk(word, length, add_name, x, fc_lines_place(lines), x->st)) return x->st->code;
    if (!x->host) return FC_OK;
    if (x->n != x->first_of_line + 1)
        return fc_fail(x->st, FC_INPUT, fc_lines_place(lines),
                       "'%.60s' is no xname (expected names such as x1000c0s0b0n0, or a host and its xname)", x->host);
    x->part[x->first_of_line].host = x->host;
    return FC_OK;
}

static int by_place(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    if (x->chassis != y->chassis) return x->chassis < y->chassis ? -1 : 1;
    if (x->is_switch != y->is_switch) return x->is_switch ? -1 : 1;
    if (x->slot != y->slot) return x->slot < y->slot ? -1 : 1;
    if (x->controller != y->controller) return x->controller < y->controller ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

/* ---- groups and routers ---- */

/* Parts first .. end - 1 are a chassis; routers of its group count on. Only nodes are kept, at x->part[*kept]. */
static void number_chassis(struct names *x, size_t first, size_t end, uint32_t *routers, size_t *kept)
{
    uint32_t n_switches = 0, n_nodes = 0, slot = FC_NONE, own = 0;
    for (size_t i = first; i < end; i++) {
        n_switches += x->part[i].is_switch;
        n_nodes += !x->part[i].is_switch;
    }
    if (x->ex && n_switches == 0) n_switches = (n_nodes + NODES_A_SWITCH - 1) / NODES_A_SWITCH;
    for (size_t i = first, node = 0; i < end; i++) {
        struct part p = x->part[i];
        if (p.is_switch) continue;
        if (x->xc && p.slot != slot) own++, slot = p.slot;
        p.router = *routers + (x->ex ? (uint32_t)(node * n_switches / n_nodes) : own - 1);
        node++;
        x->part[(*kept)++] = p;
    }
    *routers += x->ex ? n_switches : own;
}

static enum fc_code number_routers(struct names *x)
{
    size_t kept = 0, end = 0;
    if (x->n) qsort(x->part, x->n, sizeof *x->part, by_place);
    for (size_t i = 1; i < x->n; i++)
        if (by_place(&x->part[i - 1], &x->part[i]) == 0)
            return fc_fail(x->st, FC_INPUT, (struct fc_place){x->text.file, x->part[i].line},
                           "'%s' is listed twice (first on line %ld)", x->part[i].name, x->part[i - 1].line);
    x->routers = fc_alloc(&x->arena, x->n + 1, sizeof *x->routers, x->st);
    for (size_t first = 0; x->routers && first < x->n; first = end) {
        uint32_t group = x->part[first].group, chassis = x->part[first].chassis;
        while (end < x->n && x->part[end].group == group && x->part[end].chassis == chassis) end++;
        bool more = end < x->n && x->part[end].group == group;
        size_t before = kept;
        number_chassis(x, first, end, &x->routers[x->n_groups], &kept);
        for (size_t i = before; i < kept; i++) x->part[i].group = x->n_groups;
        if (!more) x->n_groups += x->routers[x->n_groups] > 0;
    }
    x->n = kept;
    if (!x->st->code && kept == 0)
        return fc_fail(x->st, FC_INPUT, (struct fc_place){x->text.file, 0},
                       "names no node (expected x1000c0s0b0n0 or c0-0c0s0n0)");
    return x->st->code;
}

/* ---- the machine ---- */

/* All groups of an XC are grids of as many chassis, slots and nodes a router. */
static bool is_grid(const struct names *x, uint32_t *chassis, uint32_t *slots, uint32_t *nodes)
{
    uint32_t n_chassis = 0;
    *nodes = *slots = 0;
    if (!x->xc) return false;
    for (size_t first = 0, end = 0; first < x->n; first = end) {
        uint32_t routers = 0;
        for (; end < x->n && x->part[end].group == x->part[first].group &&
               x->part[end].chassis == x->part[first].chassis;) {
            size_t router = end;
            while (end < x->n && x->part[end].group == x->part[router].group &&
                   x->part[end].router == x->part[router].router)
                end++;
            if (*nodes == 0) *nodes = (uint32_t)(end - router);
            if (end - router != *nodes) return false;
            routers++;
        }
        if (*slots == 0) *slots = routers;
        if (routers != *slots) return false;
        n_chassis++;
    }
    *chassis = n_chassis / x->n_groups;
    for (uint32_t g = 0; g < x->n_groups; g++)
        if (x->routers[g] != *chassis * *slots) return false;
    return *chassis > 1 && *slots > 1;
}

/* "3*4, 2": of every router. */
static void write_leaf_nodes(const struct names *x, FILE *f)
{
    uint32_t last = FC_NONE, times = 0;
    size_t at = 0;
    bool some = false;
    for (uint32_t g = 0; g <= x->n_groups; g++)
        for (uint32_t r = 0; r < (g < x->n_groups ? x->routers[g] : 1); r++) {
            uint32_t n = 0;
            while (g < x->n_groups && at < x->n && x->part[at].group == g && x->part[at].router == r) at++, n++;
            if (g < x->n_groups && n == last) {
                times++;
                continue;
            }
            if (times > 1) fprintf(f, "%s%u*%u", some ? ", " : "", times, last);
            if (times == 1) fprintf(f, "%s%u", some ? ", " : "", last);
            some = some || times;
            last = n;
            times = 1;
        }
}

static enum fc_code write_network(const struct names *x, uint32_t links_per_pair, FILE *f)
{
    uint32_t chassis, slots, nodes, n = 0;
    uint32_t cells[MOST_KINDS_OF_GROUPS], leaves[MOST_KINDS_OF_GROUPS];
    if (is_grid(x, &chassis, &slots, &nodes)) {
        fprintf(f,
                "  family: two-level\n  supernodes: %u\n  drawers: %u\n  nodes_per_drawer: %u\n  local: grid\n"
                "  nodes_per_router: %u\n  links_per_pair: %u   # a placeholder, as the next\n  d_link: modulo\n",
                x->n_groups, chassis, slots, nodes, links_per_pair);
        fprintf(
            f, "links:\n  ll: {bandwidth: 5.25 GB/s, latency: 50 ns}\n  lr: {bandwidth: 15.75 GB/s, latency: 50 ns}\n");
        if (x->n_groups > 1) fprintf(f, "  d: {bandwidth: 4.6875 GB/s, latency: 50 ns}\n");
        fprintf(f, "  injection: {bandwidth: 16 GB/s, latency: 50 ns}   # latencies: placeholders\n");
        return FC_OK;
    }
    for (uint32_t g = 0; g < x->n_groups; g++) {
        if (n && leaves[n - 1] == x->routers[g]) {
            cells[n - 1]++;
            continue;
        }
        if (n == MOST_KINDS_OF_GROUPS)
            return fc_fail(x->st, FC_INPUT, (struct fc_place){x->text.file, 0},
                           "groups change their number of routers more than %d times", MOST_KINDS_OF_GROUPS - 1);
        cells[n] = 1;
        leaves[n++] = x->routers[g];
    }
    fprintf(f, "  family: dragonfly-plus\n  cells: [");
    for (uint32_t i = 0; i < n; i++) fprintf(f, "%s%u", i ? ", " : "", cells[i]);
    fprintf(f, "]\n  leaves: [");
    for (uint32_t i = 0; i < n; i++) fprintf(f, "%s%u", i ? ", " : "", leaves[i]);
    fprintf(f, "]\n  leaf_nodes: \"");
    write_leaf_nodes(x, f);
    fprintf(f, "\"\n  links_per_pair: %u   # a placeholder\nlinks:\n", links_per_pair);
    const char *rate = x->ex ? "25 GB/s" : "5.25 GB/s";
    bool local = false;
    for (uint32_t i = 0; i < n; i++) local = local || leaves[i] > 1;
    if (local) fprintf(f, "  local: {bandwidth: %s, latency: 50 ns}\n", rate);
    if (x->n_groups > 1) fprintf(f, "  global: {bandwidth: %s, latency: 50 ns}\n", x->ex ? rate : "4.6875 GB/s");
    fprintf(f, "  injection: {bandwidth: %s, latency: 50 ns}   # latencies: placeholders\n", x->ex ? rate : "16 GB/s");
    return FC_OK;
}

enum fc_code fc_import_xnames(const char *file, const char *hosts_file, const char *head, FILE *machine, FILE *hosts,
                              char *words, size_t size, struct fc_status *st)
{
    struct names x = {.st = st};
    struct fc_lines lines;
    if (fc_read_file(file, &x.arena, &x.text, st)) goto done;
    fc_lines_start(&lines, &x.text);
    while (!st->code && fc_lines_next(&lines)) read_line(&x, &lines);
    if (st->code || number_routers(&x)) goto done;
    uint32_t fewest = x.routers[0], most = fewest;
    for (uint32_t g = 0; g < x.n_groups; g++) {
        if (x.routers[g] < fewest) fewest = x.routers[g];
        if (x.routers[g] > most) most = x.routers[g];
    }
    uint32_t pair = x.n_groups > 1 && fewest / (x.n_groups - 1) > 1 ? fewest / (x.n_groups - 1) : 1;
    snprintf(words, size,
             "%s: a dragonfly of %u groups of %u%s%.0u routers, by the names of %zu nodes\n"
             "groups are %s; the names do not tell the cables between groups: %u a pair are a placeholder\n"
             "%srates are %s; delays, packets, cores and software costs are placeholders: look through the file\n",
             file, x.n_groups, fewest, most > fewest ? " to " : "", most > fewest ? most : 0, x.n,
             x.ex ? "cabinets (a placeholder: sites differ)" : "two cabinets", pair,
             x.ex ? "switches of a chassis are those that the file names, else one for 16 nodes\n" : "",
             x.ex ? "Slingshot 11's" : "Aries'");
    fprintf(
        machine,
        "%stitle: \"a dragonfly of %u groups\"\nconfidence: groups, switches and hosts from the nodes' names; cables between "
        "groups, delays, packets and software costs are placeholders\nhosts_file: \"%s\"\nnetwork:\n",
        head, x.n_groups, hosts_file);
    if (write_network(&x, pair, machine)) goto done;
    fprintf(
        machine,
        "router: {delay: 130 ns, vcs: 4, routing: ugal}\npacket: {max: 4 KiB, header: 64 B}\nnode: {cores: 1}   # all placeholders\n");
    for (size_t i = 0; i < x.n; i++) fprintf(hosts, "%s\n", x.part[i].host ? x.part[i].host : x.part[i].name);
done:
    fc_arena_free(&x.arena);
    return st->code;
}
