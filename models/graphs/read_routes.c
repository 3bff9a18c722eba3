/* read_routes.c - forwarding tables of a fabric's switches, in one of three forms, in one file or several:
 *
 *   dump_lfts(8), dump_fts(8), ibroute(8), opensm-lfts.dump       opensm.fdbs
 *     Unicast lids [0x0-0xd0] of switch Lid 24 guid 0x2000f (..):    dump_ucast_routes: Switch 0x0000000002000000
 *       Lid  Out   Destination                                       LID    : Port : Hops : Optimal
 *     0x0002 005 : (Channel Adapter portguid 0x1: 'Hca0')            0x0002 : 005  : 01   : yes
 *     0x0003 001 # Switch portguid 0x2: 'Switch1'                    0x0004 : UNREACHABLE
 *
 *   ours, for fabrics of any kind
 *     at ROUTER to NODE next ROUTER|NODE [cable N]                   # N counts parallel cables from 0
 *
 * The first two name switches by GUID, ports by number and destinations by LID: the fabric's file must be ibnetdiscover's. Of a
 * port with several LIDs (LMC) the first counts. Entries for LIDs of switches, and for adapters that are no nodes, are passed
 * over; so are multicast tables. In our form an entry holds for every cable of the node. Refused: switches, ports, names that
 * the fabric does not have, and two entries that contradict each other. */
#include "core/values.h"
#include "models/family_graph.h"

#include <stdlib.h>
#include <string.h>

enum section { SECTION_NONE, SECTION_PORTS, SECTION_COLONS, SECTION_OTHER };
enum { MOST_PORTS = 256, MOST_LIDS = 65536 };

struct known_guid {
    uint64_t guid;
    uint32_t router;
};
struct tables {
    struct fc_machine *machine;
    struct fc_graph_shape *shape;
    struct fc_text text;
    struct fc_arena scratch;
    struct fc_status *st;
    struct fc_names routers, nodes;
    struct known_guid *guid; /* [n_guids] by GUID */
    uint32_t n_guids;
    uint32_t *end_of_lid;  /* [MOST_LIDS] FC_NONE: no node's */
    uint32_t *cable_at;    /* [n_routers][MOST_PORTS] FC_NONE: nothing there */
    uint32_t *first_end;   /* [n_nodes + 1] into end_of_node */
    uint32_t *end_of_node; /* [n_ends] */
    uint32_t *first_cable; /* [n_routers + 1] into cable_of */
    uint32_t *cable_of;    /* cables of each router in the order of the file */
    enum section section;
    uint32_t router; /* whose section it is */
};

static struct fc_place place(const struct tables *t, long line)
{
    return (struct fc_place){t->text.file, line};
}

static int by_guid(const void *a, const void *b)
{
    const struct known_guid *x = a, *y = b;
    return (x->guid > y->guid) - (x->guid < y->guid);
}

/* ---- what the fabric has ---- */

static uint32_t *filled(struct tables *t, size_t n)
{
    uint32_t *list = fc_alloc(&t->scratch, n, sizeof *list, t->st);
    if (list) memset(list, 0xff, n * sizeof *list);
    return list;
}

static enum fc_code list_names(struct tables *t, struct fc_names *names, const char **name, uint32_t n)
{
    uint32_t number;
    for (uint32_t i = 0; i < n; i++)
        if (fc_graph_names_add(names, &t->scratch, name[i], strlen(name[i]), &number, place(t, 0), t->st))
            return t->st->code;
    return FC_OK;
}

/* Cables of every router, and ends of every node, each in the file's order. */
static enum fc_code list_cables(struct tables *t)
{
    struct fc_graph_shape *s = t->shape;
    t->first_cable = fc_alloc(&t->scratch, s->n_routers + 2ull, sizeof *t->first_cable, t->st);
    t->cable_of = fc_alloc(&t->scratch, 2ull * s->n_cables, sizeof *t->cable_of, t->st);
    t->first_end = fc_alloc(&t->scratch, s->n_nodes + 2ull, sizeof *t->first_end, t->st);
    t->end_of_node = fc_alloc(&t->scratch, s->n_cables, sizeof *t->end_of_node, t->st);
    s->end = fc_alloc(&t->machine->arena, s->n_cables, sizeof *s->end, t->st);
    if (t->st->code) return t->st->code;
    for (uint32_t c = 0; c < s->n_cables; c++) {
        const struct fc_cable *k = &s->cables[c];
        t->first_cable[k->router + 2]++;
        if (k->to_node)
            s->end[s->n_ends++] = c, t->first_end[k->other + 2]++;
        else
            t->first_cable[k->other + 2]++;
    }
    for (uint32_t r = 0; r < s->n_routers; r++) t->first_cable[r + 2] += t->first_cable[r + 1];
    for (uint32_t n = 0; n < s->n_nodes; n++) t->first_end[n + 2] += t->first_end[n + 1];
    for (uint32_t c = 0; c < s->n_cables; c++) {
        const struct fc_cable *k = &s->cables[c];
        t->cable_of[t->first_cable[k->router + 1]++] = c;
        if (!k->to_node) t->cable_of[t->first_cable[k->other + 1]++] = c;
    }
    for (uint32_t e = 0; e < s->n_ends; e++) t->end_of_node[t->first_end[s->cables[s->end[e]].other + 1]++] = e;
    return FC_OK;
}

static enum fc_code list_addresses(struct tables *t)
{
    const struct fc_graph_shape *s = t->shape;
    t->end_of_lid = filled(t, MOST_LIDS);
    t->cable_at = filled(t, (size_t)s->n_routers * MOST_PORTS);
    t->guid = fc_alloc(&t->scratch, s->n_routers, sizeof *t->guid, t->st);
    if (t->st->code) return t->st->code;
    for (uint32_t r = 0; s->router_guid && r < s->n_routers; r++)
        if (s->router_guid[r]) t->guid[t->n_guids++] = (struct known_guid){s->router_guid[r], r};
    qsort(t->guid, t->n_guids, sizeof *t->guid, by_guid);
    for (uint32_t c = 0; c < s->n_cables; c++) {
        const struct fc_cable *k = &s->cables[c];
        if (k->port && k->port < MOST_PORTS) t->cable_at[(size_t)k->router * MOST_PORTS + k->port] = c;
        if (!k->to_node && k->other_port && k->other_port < MOST_PORTS)
            t->cable_at[(size_t)k->other * MOST_PORTS + k->other_port] = c;
    }
    for (uint32_t e = 0; e < s->n_ends; e++) {
        const struct fc_cable *k = &s->cables[s->end[e]];
        if (!k->lid) continue;
        if (t->end_of_lid[k->lid] != FC_NONE)
            return fc_fail(t->st, FC_INPUT, (struct fc_place){s->path, 0}, "nodes '%s' and '%s' have both LID %u",
                           s->node_name[s->cables[s->end[t->end_of_lid[k->lid]]].other], s->node_name[k->other],
                           k->lid);
        t->end_of_lid[k->lid] = e;
    }
    return FC_OK;
}

/* ---- entries ---- */

static enum fc_code enter(struct tables *t, uint32_t router, uint32_t end, uint32_t cable, long line)
{
    const struct fc_graph_shape *s = t->shape;
    uint32_t *entry = &s->forward[(size_t)end * s->n_routers + router];
    if (*entry != FC_NONE && *entry != cable)
        return fc_fail(t->st, FC_INPUT, place(t, line), "'%s' has another entry for node '%s' already",
                       s->router_name[router], s->node_name[s->cables[s->end[end]].other]);
    *entry = cable;
    return FC_OK;
}

static enum fc_code malformed(const struct tables *t, const char *at, const char *end, long line, const char *expected)
{
    size_t length = (size_t)(end - at);
    return fc_fail(t->st, FC_INPUT, place(t, line), "malformed at '%.*s' (expected %s)",
                   (int)(length < 60 ? length : 60), at, expected);
}

static bool word_is(const char *word, size_t length, const char *text)
{
    return length == strlen(text) && !memcmp(word, text, length);
}

/* A whole word as a number in C's notation, or in decimal with leading zeroes. */
static bool read_number(const char *word, size_t length, int base, unsigned long long most, unsigned long long *number)
{
    char text[32], *end;
    if (length == 0 || length >= sizeof text || !fc_is_digit(*word)) return false;
    memcpy(text, word, length);
    text[length] = 0;
    *number = strtoull(text, &end, base);
    return !*end && *number <= most;
}

/* "0x0002 005 ..." or "0x0002 : 005 : ...". */
static enum fc_code read_entry(struct tables *t, const char *at, const char *end, long line)
{
    const struct fc_graph_shape *s = t->shape;
    const char *start = at, *word;
    size_t length;
    unsigned long long lid, port;
    if (!fc_next_word(&at, end, &word, &length) || !read_number(word, length, 16, MOST_LIDS - 1, &lid))
        return malformed(t, start, end, line, "a LID and a port");
    if (t->section == SECTION_COLONS && (!fc_next_word(&at, end, &word, &length) || !word_is(word, length, ":")))
        return malformed(t, start, end, line, "LID : PORT");
    if (!fc_next_word(&at, end, &word, &length)) return malformed(t, start, end, line, "a port behind the LID");
    if (word_is(word, length, "UNREACHABLE")) return FC_OK;
    if (!read_number(word, length, 10, MOST_PORTS - 1, &port)) return malformed(t, word, end, line, "a port");
    uint32_t to = t->end_of_lid[lid];
    if (to == FC_NONE || port == MOST_PORTS - 1) return FC_OK;
    uint32_t cable = t->cable_at[(size_t)t->router * MOST_PORTS + port];
    if (cable == FC_NONE)
        return fc_fail(t->st, FC_INPUT, place(t, line),
                       "LID %llu (node '%s') leaves '%s' by port %llu, which has no cable in %s", lid,
                       s->node_name[s->cables[s->end[to]].other], s->router_name[t->router], port, s->path);
    return enter(t, t->router, to, cable, line);
}

/* at ROUTER to NODE next ROUTER|NODE [cable N] */
static enum fc_code read_ours(struct tables *t, const char *at, const char *end, long line)
{
    static const char *const words[] = {"at", "to", "next"};
    const struct fc_graph_shape *s = t->shape;
    const char *start = at, *word, *name[3];
    size_t length, size[3];
    long long nth = 0;
    for (int i = 0; i < 3; i++)
        if (!fc_next_word(&at, end, &word, &length) || !word_is(word, length, words[i]) ||
            !fc_next_word(&at, end, &name[i], &size[i]))
            return malformed(t, start, end, line, "at ROUTER to NODE next ROUTER or NODE");
    if (fc_next_word(&at, end, &word, &length)) {
        if (!word_is(word, length, "cable")) return malformed(t, word, end, line, "cable N");
        if (!fc_next_word(&at, end, &word, &length)) return malformed(t, start, end, line, "a number behind cable");
        if (fc_word_int(word, length, 0, UINT16_MAX, "cable", &nth, place(t, line), t->st)) return t->st->code;
        if (fc_next_word(&at, end, &word, &length)) return malformed(t, word, end, line, "the end of the line");
    }
    uint32_t router = fc_names_find(&t->routers, name[0], size[0]), node = fc_names_find(&t->nodes, name[1], size[1]);
    uint32_t next = fc_names_find(&t->routers, name[2], size[2]);
    bool there = next == FC_NONE && size[2] == size[1] && !memcmp(name[2], name[1], size[1]);
    int unknown = router == FC_NONE ? 0 : node == FC_NONE ? 1 : next == FC_NONE && !there ? 2 : -1;
    if (unknown >= 0)
        return fc_fail(t->st, FC_INPUT, place(t, line), "'%.*s' is no %s of %s", (int)size[unknown], name[unknown],
                       unknown == 0   ? "router"
                       : unknown == 1 ? "node"
                                      : "router, and not that node,",
                       s->path);
    long long seen = 0;
    for (uint32_t i = t->first_cable[router]; i < t->first_cable[router + 1]; i++) {
        const struct fc_cable *k = &s->cables[t->cable_of[i]];
        uint32_t other = k->router == router ? k->other : k->router;
        if (there ? !k->to_node || other != node : k->to_node || other != next) continue;
        if (seen++ != nth) continue;
        for (uint32_t e = t->first_end[node]; e < t->first_end[node + 1]; e++)
            if (enter(t, router, t->end_of_node[e], t->cable_of[i], line)) return t->st->code;
        return FC_OK;
    }
    return fc_fail(t->st, FC_INPUT, place(t, line), "'%.*s' has %lld cables to '%.*s' (expected one that counts %lld)",
                   (int)size[0], name[0], seen, (int)size[2], name[2], nth);
}

/* ---- lines ---- */

/* The word behind the first `key` as a GUID. */
static enum fc_code begin(struct tables *t, const char *at, const char *end, const char *key, enum section section,
                          long line)
{
    const char *start = at, *word;
    size_t length;
    unsigned long long guid = 0;
    bool found = false;
    while (!found && fc_next_word(&at, end, &word, &length))
        found = word_is(word, length, key) && fc_next_word(&at, end, &word, &length) &&
                read_number(word, length, 16, UINT64_MAX, &guid);
    if (!found) return malformed(t, start, end, line, "the GUID of a switch");
    const struct known_guid wanted = {guid, 0},
                            *known = t->n_guids ? bsearch(&wanted, t->guid, t->n_guids, sizeof wanted, by_guid) : NULL;
    if (!known)
        return fc_fail(t->st, FC_INPUT, place(t, line),
                       "switch 0x%llx is not in %s (expected the fabric of the tables%s)", guid, t->shape->path,
                       t->n_guids ? "" : ", format ibnetdiscover");
    t->section = section;
    t->router = known->router;
    return FC_OK;
}

/* "  Lid  Out   Destination", "       Port     Info", "LID    : Port : ..." */
static bool is_heading(const char *word, size_t length)
{
    return word_is(word, length, "Lid") || word_is(word, length, "Port") || word_is(word, length, "LID");
}

static enum fc_code read_line(struct tables *t, const char *at, const char *end, long line)
{
    const char *start = at, *word, *second;
    size_t length, second_length = 0;
    if (!fc_next_word(&at, end, &word, &length) || *word == '#' || word_is(word, length, "***")) return FC_OK;
    if (!fc_next_word(&at, end, &second, &second_length)) second = "";
    if (word_is(word, length, "at")) {
        const char *comment = memchr(start, '#', (size_t)(end - start));
        return read_ours(t, start, comment ? comment : end, line);
    }
    if (word_is(word, length, "Unicast")) return begin(t, start, end, "guid", SECTION_PORTS, line);
    if (word_is(word, length, "Multicast")) t->section = SECTION_OTHER;
    if (word_is(second, second_length, "Switch") && word[length - 1] == ':')
        return begin(t, start, end, "Switch", SECTION_COLONS, line);
    bool counts = word_is(second, second_length, "valid") || word_is(second, second_length, "lids");
    if (t->section == SECTION_OTHER || is_heading(word, length) || (counts && fc_is_digit(*word))) return FC_OK;
    if (t->section != SECTION_NONE) return read_entry(t, start, end, line);
    return malformed(t, start, end, line, "tables of dump_lfts, ibroute or opensm, or at ROUTER to NODE next ROUTER");
}

bool fc_are_routes(const struct fc_text *text)
{
    struct fc_lines lines;
    fc_lines_start(&lines, text);
    while (fc_lines_next(&lines)) {
        const char *at = lines.text, *end = lines.text + lines.length, *word, *second;
        size_t length, second_length = 0;
        if (!fc_next_word(&at, end, &word, &length) || *word == '#') continue;
        if (!fc_next_word(&at, end, &second, &second_length)) return false;
        return word_is(word, length, "Unicast") || word_is(word, length, "at") ||
               (word_is(second, second_length, "Switch") && word[length - 1] == ':');
    }
    return false;
}

static enum fc_code read_tables(struct tables *t, const char *path)
{
    struct fc_lines lines;
    if (fc_read_file(path, &t->scratch, &t->text, t->st)) return t->st->code;
    if (memchr(t->text.data, 0, t->text.size))
        return fc_fail(t->st, FC_INPUT, place(t, 0), "is not a text file (expected forwarding tables)");
    t->section = SECTION_NONE;
    fc_lines_start(&lines, &t->text);
    while (!t->st->code && fc_lines_next(&lines)) read_line(t, lines.text, lines.text + lines.length, lines.line);
    return t->st->code;
}

enum fc_code fc_read_routes(struct fc_machine *machine, const char *const *paths, size_t n, struct fc_status *st)
{
    struct fc_graph_shape *s = machine->shape;
    struct tables t = {.machine = machine, .shape = s, .text.file = s->path, .st = st};
    if (!list_cables(&t) && !fc_network_fits(machine, 0, 0, 10.0 * s->n_ends * s->n_routers, st) &&
        !list_addresses(&t) && !list_names(&t, &t.routers, s->router_name, s->n_routers) &&
        !list_names(&t, &t.nodes, s->node_name, s->n_nodes)) {
        size_t entries = (size_t)s->n_ends * s->n_routers;
        s->forward = fc_alloc(&machine->arena, entries, sizeof *s->forward, st);
        if (s->forward) memset(s->forward, 0xff, entries * sizeof *s->forward);
        for (size_t i = 0; i < n && !st->code; i++) read_tables(&t, paths[i]);
    }
    fc_arena_free(&t.scratch);
    return st->code;
}
