/* family_two_level.c - two-level direct networks: PERCS (Bhatele et al., SC'11; Arimilli et al., HOTI 2010) and the
 * dragonfly (Kim et al., ISCA 2008), which is the case of one drawer.
 *
 * Every supernode has one link (or links_per_pair) to every other; rule `d_link` says which router of supernode s
 * hosts the one to supernode t. Closed forms: LL links S D P (P-1), LR links S D P (D-1) P (full) or S D P (D-1)
 * (grid), D links S (S-1) cables; 992/(S-1) first-tier links a D link in PERCS. Bisection: half of the supernodes
 * against the rest, floor(S/2) ceil(S/2) cables. Mean distance is that of direct routing (LL/LR - D - LL/LR). */
#include "core/values.h"
#include "models/family_two_level.h"
#include "models/machine_files.h"

#include "models/family_parts.h"
#include "models/group_shift.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char *const rules[] = {"packed", "modulo", "block", "relative", "hashed", "free", "listed", NULL};
static const char *const locals[] = {"full", "grid", NULL};

/* Member of supernode s that hosts cable `cable` of its link to supernode t, by the machine's d_link rule. */
static uint32_t host_of(const struct fc_two_level_shape *s, uint32_t from, uint32_t to, uint32_t cable)
{
    uint64_t members = s->members, ports = (uint64_t)s->d_ports, cables = s->pair_links;
    uint64_t slot = (uint64_t)to * cables + cable, others = (uint64_t)s->n_supernodes * cables;
    switch (s->d_link) {
    case FC_D_MODULO: return (uint32_t)(slot % members);
    case FC_D_BLOCK: return (uint32_t)(slot * members / others);
    case FC_D_RELATIVE: {
        uint64_t n = s->n_supernodes, distance = (to + n - from - 1) % n;
        return (uint32_t)((distance * cables + cable) / ports % members);
    }
    case FC_D_LISTED: return s->host[(uint64_t)from * others + slot];
    case FC_D_HASHED: return (uint32_t)fc_random_below(0, from, slot, members);
    default: return (uint32_t)(slot / ports % members); /* packed; free is cabled the same way */
    }
}

/* ---- d_link: listed ---- */

/* "GROUP.MEMBER" */
static bool read_router(const struct fc_two_level_shape *s, const char *word, size_t length, uint32_t *group,
                        uint32_t *member)
{
    char text[32], *dot, *end;
    if (length >= sizeof text || !fc_is_digit(*word)) return false;
    snprintf(text, sizeof text, "%.*s", (int)length, word);
    unsigned long g = strtoul(text, &dot, 10),
                  m = *dot == '.' && fc_is_digit(dot[1]) ? strtoul(dot + 1, &end, 10) : ULONG_MAX;
    if (m == ULONG_MAX || *end || g >= s->n_supernodes || m >= s->members) return false;
    *group = (uint32_t)g;
    *member = (uint32_t)m;
    return true;
}

/* n[s][t]: cables of the pair so far. */
static enum fc_code read_cable(struct fc_two_level_shape *s, const struct fc_lines *lines, uint32_t *n,
                               struct fc_status *st)
{
    const char *comment = memchr(lines->text, '#', lines->length), *at = lines->text, *word[2], *more;
    const char *end = comment ? comment : lines->text + lines->length;
    size_t length[2], size;
    uint32_t group[2], member[2];
    struct fc_place where = fc_lines_place(lines);
    if (!fc_next_word(&at, end, &word[0], &length[0])) return FC_OK;
    if (!fc_next_word(&at, end, &word[1], &length[1]) || fc_next_word(&at, end, &more, &size))
        return fc_fail(st, FC_INPUT, where, "not two routers (expected GROUP.MEMBER GROUP.MEMBER, a cable a line)");
    for (int e = 0; e < 2; e++)
        if (!read_router(s, word[e], length[e], &group[e], &member[e]))
            return fc_fail(st, FC_INPUT, where, "'%.*s' is no router (expected GROUP.MEMBER, 0.0 to %u.%u)",
                           (int)(length[e] < 60 ? length[e] : 60), word[e], s->n_supernodes - 1, s->members - 1);
    if (group[0] == group[1])
        return fc_fail(st, FC_INPUT, where, "a D link within supernode %u (expected one between two)", group[0]);
    for (int e = 0; e < 2; e++) {
        uint64_t pair = (uint64_t)group[e] * s->n_supernodes + group[1 - e];
        if (n[pair] == s->pair_links)
            return fc_fail(st, FC_INPUT, where,
                           "more than %u cables between supernodes %u and %u (network.links_per_pair)", s->pair_links,
                           group[0], group[1]);
        s->host[pair * s->pair_links + n[pair]++] = member[e];
    }
    return FC_OK;
}

/* The file of D links: as many for each pair. */
static enum fc_code read_d_links(struct fc_machine *machine, struct fc_place where, struct fc_status *st)
{
    struct fc_two_level_shape *s = machine->shape;
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    struct fc_text text;
    struct fc_lines lines;
    uint64_t pairs = (uint64_t)s->n_supernodes * s->n_supernodes;
    if (!s->d_links || !*s->d_links)
        return fc_fail(st, FC_INPUT, where,
                       "network.d_links is missing (the file of D links that d_link: listed names)");
    const char *path = fc_machine_beside(machine, s->d_links, st);
    if (!path || fc_network_fits(machine, 0, 0, 4.0 * (double)pairs * (1 + s->pair_links), st)) return st->code;
    s->host = fc_alloc(&machine->arena, pairs * s->pair_links, sizeof *s->host, st);
    uint32_t *n = fc_alloc(&scratch, pairs, sizeof *n, st);
    if (!st->code && !fc_read_file(path, &scratch, &text, st)) {
        fc_lines_start(&lines, &text);
        while (!st->code && fc_lines_next(&lines)) read_cable(s, &lines, n, st);
        for (uint64_t pair = 0; pair < pairs && !st->code; pair++)
            if (n[pair] != s->pair_links && pair / s->n_supernodes != pair % s->n_supernodes)
                fc_fail(st, FC_INPUT, (struct fc_place){path, 0},
                        "%u cables between supernodes %u and %u (expected %u, network.links_per_pair)", n[pair],
                        (uint32_t)(pair / s->n_supernodes), (uint32_t)(pair % s->n_supernodes), s->pair_links);
    }
    return st->code;
}

static enum fc_code check(struct fc_machine *machine, struct fc_place where, struct fc_status *st)
{
    struct fc_two_level_shape *s = machine->shape;
    if (s->supernodes == 0) return fc_fail(st, FC_INPUT, where, "network.supernodes is missing");
    if (s->nodes_per_drawer == 0) return fc_fail(st, FC_INPUT, where, "network.nodes_per_drawer is missing");
    double routers = (double)s->supernodes * (double)s->drawers * (double)s->nodes_per_drawer;
    if (routers * (double)machine->nodes_per_router >= FC_NONE)
        return fc_fail(st, FC_NO, where, "network: %.4g nodes are too many (at most %u can be held)",
                       routers * (double)machine->nodes_per_router, FC_NONE - 1);
    s->n_supernodes = (uint32_t)s->supernodes;
    s->n_drawers = (uint32_t)s->drawers;
    s->n_positions = (uint32_t)s->nodes_per_drawer;
    s->members = s->n_drawers * s->n_positions;
    s->n_routers = s->n_supernodes * s->members;
    s->nodes_per_router = (uint32_t)machine->nodes_per_router;
    s->pair_links = (uint32_t)s->links_per_pair;
    double slots = (double)(s->n_supernodes - (s->d_link == FC_D_RELATIVE)) * s->pair_links;
    double hosted = slots / (double)s->d_ports;
    bool by_ports = s->d_link == FC_D_PACKED || s->d_link == FC_D_RELATIVE || s->d_link == FC_D_FREE;
    if (by_ports && ceil(hosted) > s->members)
        return fc_fail(st, FC_INPUT, where,
                       "network: d_link %s places %g D links a router, %u routers a supernode hold those of %.0f "
                       "supernodes only (raise d_ports or choose modulo or block)",
                       rules[s->d_link], (double)s->d_ports, s->members,
                       (double)s->members * (double)s->d_ports / s->pair_links);
    if (s->d_links && s->d_link != FC_D_LISTED)
        return fc_fail(st, FC_INPUT, where, "network.d_links: is for d_link: listed");
    if (s->d_link == FC_D_LISTED && read_d_links(machine, where, st)) return st->code;
    machine->n_classes = 0;
    s->ll_class = s->lr_class = s->d_class = -1;
    const char *names[] = {"ll", "lr", "d"};
    bool exists[] = {s->n_positions > 1, s->n_drawers > 1, s->n_supernodes > 1};
    int *index[] = {&s->ll_class, &s->lr_class, &s->d_class};
    for (int i = 0; i < 3; i++) {
        bool named = false;
        for (int j = 0; j < machine->n_link_names; j++) named = named || !strcmp(machine->link_names[j], names[i]);
        if (!exists[i] && !named) continue;
        *index[i] = machine->n_classes;
        snprintf(machine->classes[machine->n_classes++].name, sizeof machine->classes[0].name, "%s", names[i]);
    }
    return FC_OK;
}

/* The D slots (to * pair_links + cable) of supernode sn ordered by hosting member: slots of member m are
 * slot[first[m]] .. slot[first[m+1]-1], ascending. first [members + 2] (one place more than used), slot [S * cables]. */
static void sort_slots(const struct fc_two_level_shape *s, uint32_t sn, uint32_t *first, uint32_t *slot)
{
    uint32_t cables = s->pair_links;
    memset(first, 0, (s->members + 2) * sizeof *first);
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t to = 0; to < s->n_supernodes; to++)
            for (uint32_t c = 0; to != sn && c < cables; c++) {
                uint32_t host = host_of(s, sn, to, c);
                if (pass == 0)
                    first[host + 2]++;
                else
                    slot[first[host + 1]++] = to * cables + c;
            }
        for (uint32_t m = 0; pass == 0 && m < s->members; m++) first[m + 2] += first[m + 1];
    }
}

static void add_d_links(const struct fc_two_level_shape *s, uint32_t router, const uint32_t *slot, uint32_t n,
                        struct fc_link_list *list, struct fc_two_level_crossing *crossing)
{
    uint32_t sn = router / s->members;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t to = slot[i] / s->pair_links, cable = slot[i] % s->pair_links;
        uint32_t host = host_of(s, to, sn, cable);
        uint32_t link = fc_links_add(list, router, to * s->members + host, s->d_class);
        crossing[((uint64_t)sn * s->n_supernodes + to) * s->pair_links + cable] =
            (struct fc_two_level_crossing){link, router % s->members, host};
    }
}

static void add_local_links(const struct fc_two_level_shape *s, uint32_t router, struct fc_link_list *list)
{
    uint32_t p = s->n_positions, position = router % p, drawer = router / p % s->n_drawers;
    uint32_t base = router - router % s->members;
    for (uint32_t i = 0; i < p; i++)
        if (i != position) fc_links_add(list, router, base + drawer * p + i, s->ll_class);
    for (uint32_t d = 0; d < s->n_drawers; d++)
        for (uint32_t i = 0; d != drawer && i < p; i++)
            if (s->local == FC_LOCAL_FULL || i == position) fc_links_add(list, router, base + d * p + i, s->lr_class);
}

static enum fc_code build(const struct fc_machine *machine, struct fc_network *net, struct fc_status *st)
{
    const struct fc_two_level_shape *s = machine->shape;
    net->n_routers = s->n_routers;
    net->n_nodes = s->n_routers * s->nodes_per_router;
    uint64_t local =
        s->n_positions - 1u + (s->n_drawers - 1u) * (uint64_t)(s->local == FC_LOCAL_FULL ? s->n_positions : 1);
    uint64_t pairs = (uint64_t)s->n_supernodes * s->n_supernodes;
    double links = (double)s->n_routers * (double)local + 2.0 * net->n_nodes + (double)pairs * s->pair_links;
    double tables_bytes = (double)pairs * s->pair_links * sizeof(struct fc_two_level_crossing) +
                          4 * (s->members + (double)s->n_supernodes * s->pair_links);
    if (fc_network_fits(machine, (double)s->n_routers + net->n_nodes, links, tables_bytes, st)) return st->code;
    struct fc_link_list list;
    struct fc_two_level_tables *tables = fc_alloc(&net->arena, 1, sizeof *tables, st);
    if (!tables || fc_links_start(&list, &net->arena, (uint64_t)links, st)) return st->code;
    tables->crossing = fc_alloc(&net->arena, pairs * s->pair_links, sizeof *tables->crossing, st);
    if (!tables->crossing) return st->code;
    for (uint64_t i = 0; i < pairs * s->pair_links; i++) tables->crossing[i].link = FC_NONE;
    net->extra = tables;
    uint32_t *first = fc_alloc(&net->arena, s->members + 2, sizeof *first, st);
    uint32_t *slot = fc_alloc(&net->arena, (size_t)s->n_supernodes * s->pair_links, sizeof *slot, st);
    if (!first || !slot) return st->code;
    int injection = fc_injection_class(machine);
    for (uint32_t r = 0; r < s->n_routers; r++) {
        add_local_links(s, r, &list);
        if (r % s->members == 0) sort_slots(s, r / s->members, first, slot);
        uint32_t begin = first[r % s->members], end = first[r % s->members + 1];
        add_d_links(s, r, slot + begin, end - begin, &list, tables->crossing);
        for (uint32_t t = 0; t < s->nodes_per_router; t++)
            fc_links_add(&list, r, s->n_routers + r * s->nodes_per_router + t, injection);
    }
    for (uint32_t node = 0; node < net->n_nodes; node++)
        fc_links_add(&list, s->n_routers + node, node / s->nodes_per_router, injection);
    return fc_links_seal(net, &list, NULL, st);
}

static void vertex_name(const struct fc_network *net, uint32_t vertex, char *out, size_t size)
{
    const struct fc_two_level_shape *s = fc_two_level(net);
    if (fc_is_node(net, vertex))
        snprintf(out, size, "node %u", vertex - net->n_routers);
    else
        snprintf(out, size, "%u.%u", vertex / s->members, vertex % s->members);
}

static void link_name(const struct fc_network *net, uint32_t link, char *out, size_t size)
{
    uint32_t a = net->link_source[link], b = net->link_target[link];
    char from[48], to[48];
    const struct fc_two_level_shape *s = fc_two_level(net);
    int c = net->link_class[link];
    const char *kind = c == s->d_class ? "D" : c == s->ll_class ? "LL" : "LR";
    vertex_name(net, a, from, sizeof from);
    vertex_name(net, b, to, sizeof to);
    snprintf(out, size, "%s %s->%s", kind, from, to);
}

/* Mean hops from a router to another of its supernode, itself included, and to the hosts of the D links. */
static void facts(const struct fc_network *net, struct fc_facts *f)
{
    const struct fc_two_level_shape *s = fc_two_level(net);
    double S = s->n_supernodes, M = s->members, D = s->n_drawers, P = s->n_positions;
    bool grid = s->local == FC_LOCAL_GRID;
    /* Hops within a supernode summed over the M members as destinations: 1 each, 2 across the grid. */
    double within = (M - 1) + (grid ? (D - 1) * (P - 1) : 0);
    double longest = M == 1 ? 0 : grid && D > 1 && P > 1 ? 2 : 1;
    f->diameter_hops = S > 1 ? 2 * longest + 1 : longest;
    /* The way to a host averages `within / M` over sources whatever the host, and so does the way from it. */
    double legs = s->d_link == FC_D_FREE ? 0 : 2 * within / M;
    f->mean_hops = within / M / S + (S - 1) / S * (1 + legs);
    if (S > 1) {
        double half = floor(S / 2);
        f->bisection_links = half * (S - half) * s->pair_links;
        f->bisection_bytes_per_s = f->bisection_links * net->machine->classes[s->d_class].bandwidth_bytes_per_s;
    }
}

/* Supernodes, then drawers. */
static uint32_t partition(const struct fc_network *net, int index, uint32_t *label)
{
    const struct fc_two_level_shape *s = fc_two_level(net);
    uint32_t block = index == 0 ? s->members : s->n_positions;
    if (index > 1) return 0;
    for (uint32_t r = 0; r < s->n_routers; r++) label[r] = r / block;
    return s->n_routers / block;
}

static const char *left_out(const struct fc_network *net, const char **expected)
{
    *expected = "packed, modulo, block, relative, hashed or listed";
    return fc_two_level(net)->d_link == FC_D_FREE ? "network.d_link: free leaves the local hops of D routes out" : "";
}

static void block_name(const struct fc_network *net, int index, char *out, size_t size)
{
    (void)net;
    snprintf(out, size, "%s", index == 0 ? "supernodes" : "drawers");
}

static void words(const struct fc_machine *machine, char *out, size_t size)
{
    const struct fc_two_level_shape *s = machine->shape;
    fc_words_number(out, size, "supernodes", s->supernodes);
    fc_words_number(out, size, "drawers", s->drawers);
    fc_words_number(out, size, "nodes_per_drawer", s->nodes_per_drawer);
    fc_words_number(out, size, "links_per_pair", s->links_per_pair);
    fc_words_text(out, size, "local", locals[s->local]);
    fc_words_text(out, size, "d_link", rules[s->d_link]);
}

/* 4 or 8 supernodes of 2 or 4 drawers, which may be more than the machine has, and fewer nodes a drawer; from FC_SMALLEST_RELATIVE
 * on 3 or 4 of 2 or 4 routers. Cables between two supernodes grow so that global bandwidth a node stays, as far as there are
 * ports for them. */
static bool relative(void *shape, int number)
{
    static const struct {
        long long supernodes, drawers, positions;
    } list[] = {{4, 2, 4}, {8, 2, 4}, {4, 4, 4}, {8, 4, 4}}, smallest[] = {{3, 2, 1}, {4, 2, 1}, {3, 2, 2}, {4, 2, 2}},
      *take;
    struct fc_two_level_shape *s = shape;
    int small = number - FC_SMALLEST_RELATIVE;
    if (number >= (int)FC_COUNT(list) && (small < 0 || small >= (int)FC_COUNT(smallest))) return false;
    take = small >= 0 ? &smallest[small] : &list[number];
    if (s->d_link == FC_D_LISTED)
        s->d_link = FC_D_MODULO, s->d_links = NULL; /* the list is of the machine's own size */
    double nodes = (double)s->drawers * (double)s->nodes_per_drawer;
    double cables = (double)(s->supernodes - 1) * (double)s->links_per_pair / nodes;
    long long own = s->supernodes;
    if (own > 2) s->supernodes = take->supernodes;
    if (s->drawers == 1) { /* a group of one drawer keeps its routers together */
        long long routers = take->drawers * take->positions;
        if (s->nodes_per_drawer > routers) s->nodes_per_drawer = routers;
    } else {
        s->drawers = take->drawers;
        if (s->nodes_per_drawer > take->positions) s->nodes_per_drawer = take->positions;
    }
    nodes = (double)s->drawers * (double)s->nodes_per_drawer;
    bool ports = nodes * (double)s->d_ports >= (double)s->supernodes;
    if (s->supernodes > own && !ports) s->supernodes = own; /* no more than have a cable each */
    if (s->supernodes > 1)
        s->links_per_pair = (long long)fmax(1, fmin(round(cables * nodes / (double)(s->supernodes - 1)),
                                                    floor(nodes * (double)s->d_ports / (double)s->supernodes)));
    return true;
}

/* Supernodes, drawers, routers. */
static bool tree(const struct fc_machine *machine, struct fc_tree *t)
{
    const struct fc_two_level_shape *s = machine->shape;
    *t = (struct fc_tree){.n = 3,
                          .level = {{s->n_supernodes, s->d_class},
                                    {s->n_drawers, s->n_drawers > 1 ? s->lr_class : -1},
                                    {s->n_positions, s->n_positions > 1 ? s->ll_class : -1}},
                          .leaf_nodes = s->nodes_per_router};
    return true;
}

#define OFFSET(field) offsetof(struct fc_two_level_shape, field)
static const struct fc_key keys[] = {
    {"supernodes", FC_KEY_INT, FC_NUMBER, OFFSET(supernodes), 1, 1 << 24, NULL, NULL, "supernodes (dragonfly: groups)"},
    {"drawers", FC_KEY_INT, FC_NUMBER, OFFSET(drawers), 1, 1 << 16, NULL, "1",
     "drawers a supernode; 1: a dragonfly group"},
    {"nodes_per_drawer", FC_KEY_INT, FC_NUMBER, OFFSET(nodes_per_drawer), 1, 1 << 16, NULL, NULL, "routers a drawer"},
    {"d_link", FC_KEY_CHOICE, FC_NUMBER, OFFSET(d_link), 0, 0, rules, "packed", "which router hosts which D link"},
    {"d_links", FC_KEY_TEXT, FC_NUMBER, OFFSET(d_links), 0, 0, NULL, NULL,
     "d_link listed: file of D links, GROUP.MEMBER GROUP.MEMBER a line"},
    {"links_per_pair", FC_KEY_INT, FC_NUMBER, OFFSET(links_per_pair), 1, 4096, NULL, "1",
     "D links a pair of supernodes"},
    {"d_ports", FC_KEY_INT, FC_NUMBER, OFFSET(d_ports), 1, 4096, NULL, "16", "D ports a router (packed, relative)"},
    {"local", FC_KEY_CHOICE, FC_NUMBER, OFFSET(local), 0, 0, locals, "full",
     "full: LR to every router of other drawers; grid: to the same position only"},
};

/* The next group's node at the same place: minimal ways have the cables between two groups (Kim et al., ISCA 2008). */
static bool adversarial(const struct fc_network *net, uint32_t *to)
{
    struct fc_status st = {0};
    return fc_group_shift(net, 1, to, &st) == FC_OK;
}

const struct fc_family_ops fc_family_two_level = {
    .name = "two-level",
    .usage = "supernodes: 64; drawers: 4; nodes_per_drawer: 8; d_link: packed; classes: ll, lr, d",
    .source = "Bhatele, Jain, Gropp, Kale, SC'11; Kim, Dally, Scott, Abts, ISCA 2008",
    .shape_size = sizeof(struct fc_two_level_shape),
    .keys = keys,
    .n_keys = FC_COUNT(keys),
    .default_routing = "direct",
    .takes_nodes_per_router = true,
    .check = check,
    .build = build,
    .link_name = link_name,
    .vertex_name = vertex_name,
    .adversarial = adversarial,
    .partition = partition,
    .groups_by_links = true,
    .facts = facts,
    .words = words,
    .relative = relative,
    .tree = tree,
    .layout = &fc_two_level_layout,
    .block_name = block_name,
    .left_out = left_out,
};
