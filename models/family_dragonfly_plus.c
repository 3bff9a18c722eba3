/* family_dragonfly_plus.c - dragonfly+ (Shpiner, Haramaty, Eliad, Zdornov, Gafni & Zahavi, HiPINEB 2017; Megafly: Flajslik,
 * Borch & Parker, ISC 2018) of unequal cells, and the dragonfly (Kim et al., ISCA 2008), whose cells have no spines.
 *
 * A cell has L leaf switches and P spines, each leaf linked to each spine, or, without spines, leaves linked all to all.
 * Every two cells share C global links, or C(k, l) of cells of kinds k and l (C the most); cable c of cell s to cell t is
 * hosted by switch (t C + c) mod H of the H spines (leaves) of s. Cells of several kinds differ in L, P, nodes and rails. Nodes fill the leaf switches in their order,
 * ceil(nodes / leaves) on each, or as `leaf_nodes` says.
 *
 * Closed forms: global links S (S-1) C; up and down 2 sum L P; local sum L (L-1). Hops: 0 between nodes of the same leaf
 * switches, 2 (up, down) or 1 (local) in a cell, and to another cell 3 with spines on both sides; a leg without spines
 * counts 1 but where the leaf hosts the cable. Bisection: the first floor(S/2) cells against the rest, floor(S/2) ceil(S/2) C
 * where all pairs have C.
 * Limits: one cable between two switches of a cell; global links of one class; which switch hosts which link is a rule. */
#include "models/family_dragonfly_plus.h"

#include "models/family_parts.h"
#include "models/group_shift.h"

#include <ctype.h>
#include <string.h>

enum { MOST_ROUTERS = 1 << 22, MOST_LEAF_NODES = 65535, MOST_CABLES = 255 };

/* ---- the file's lists ---- */

static long long of_kind(const struct fc_ints *list, int kind, long long otherwise)
{
    return list->n ? list->v[kind] : otherwise;
}

static enum fc_code check_lists(const struct fc_plus_shape *s, struct fc_place where, struct fc_status *st)
{
    const struct {
        const char *name;
        const struct fc_ints *list;
        bool required;
    } lists[] = {{"leaves", &s->leaves, true},
                 {"spines", &s->spines, false},
                 {"nodes_per_cell", &s->nodes_per_cell, false},
                 {"rails", &s->rails, false},
                 {"node_links", &s->node_links, false}};
    if (s->cells.n == 0) return fc_fail(st, FC_INPUT, where, "network.cells is missing (e.g. cells: [19, 2])");
    for (size_t i = 0; i < FC_COUNT(lists); i++) {
        if (lists[i].list->n == 0 && !lists[i].required) continue;
        if (lists[i].list->n != s->cells.n)
            return fc_fail(st, FC_INPUT, where,
                           "network.%s has %d entries (expected %d, one a kind of cell as network.cells)",
                           lists[i].name, lists[i].list->n, s->cells.n);
    }
    int kinds = s->cells.n, pairs = kinds * (kinds + 1) / 2;
    if (s->links_by_kind.n && s->links_by_kind.n != pairs)
        return fc_fail(st, FC_INPUT, where,
                       "network.links_by_kind has %d entries (expected %d, of kind 0 with 0, 1, ..., of 1 with 1, ...)",
                       s->links_by_kind.n, pairs);
    if (s->links_by_kind.n && s->links_per_pair != 1)
        return fc_fail(st, FC_INPUT, where, "network: expected one of links_per_pair and links_by_kind");
    if (!s->leaf_nodes == !s->nodes_per_cell.n)
        return fc_fail(st, FC_INPUT, where, "network: expected one of nodes_per_cell and leaf_nodes");
    for (int k = 0; k < s->cells.n; k++) {
        long long rails = of_kind(&s->rails, k, 1), leaves = s->leaves.v[k];
        if (leaves % rails)
            return fc_fail(st, FC_INPUT, where, "network.rails: %lld leaf switches a cell are not whole sets of %lld",
                           leaves, rails);
        if (s->nodes_per_cell.n && s->nodes_per_cell.v[k] > MOST_LEAF_NODES * (leaves / rails))
            return fc_fail(st, FC_INPUT, where, "network.nodes_per_cell: at most %d nodes a leaf switch",
                           MOST_LEAF_NODES);
    }
    return FC_OK;
}

/* ---- leaf_nodes: "342*10/4, 2/4, 40" ---- */

struct reader {
    const char *at;
    struct fc_place where;
    struct fc_status *st;
    long long times, nodes, cables; /* of the entry at hand; times: how often it still stands for a switch */
};

static bool number(struct reader *r, long long least, long long most, long long *value)
{
    int digits = 0;
    *value = 0;
    for (; isdigit((unsigned char)*r->at) && digits < 9; r->at++, digits++) *value = *value * 10 + (*r->at - '0');
    return digits > 0 && *value >= least && *value <= most;
}

static void blanks(struct reader *r)
{
    while (*r->at == ' ' || *r->at == '\n') r->at++;
}

static enum fc_code next_entry(struct reader *r, long long cables)
{
    const char *start = r->at;
    r->times = 1;
    r->cables = cables;
    blanks(r);
    bool good = number(r, 0, MOST_ROUTERS, &r->nodes);
    if (good && *r->at == '*') {
        r->times = r->nodes;
        r->at++;
        good = r->times > 0 && number(r, 0, MOST_LEAF_NODES, &r->nodes);
    }
    if (good && *r->at == '/') r->at++, good = number(r, 1, MOST_CABLES, &r->cables);
    good = good && r->nodes <= MOST_LEAF_NODES;
    blanks(r);
    if (good && *r->at == ',') return r->at++, FC_OK;
    if (good && !*r->at) return FC_OK;
    return fc_fail(
        r->st, FC_INPUT, r->where,
        "network.leaf_nodes: '%.40s' (expected nodes of each leaf switch, such as 342*10/4, 2, 40: 342 times 10 "
        "nodes of 4 links each, ...)",
        start);
}

/* ---- the derived tables ---- */

static enum fc_code count(struct fc_plus_shape *s, struct fc_place where, struct fc_status *st)
{
    double cells = 0, routers = 0;
    for (int k = 0; k < s->cells.n; k++) {
        cells += (double)s->cells.v[k];
        routers += (double)s->cells.v[k] * (double)(s->leaves.v[k] + of_kind(&s->spines, k, 0));
    }
    if (routers > MOST_ROUTERS)
        return fc_fail(st, FC_NO, where, "network: %.4g switches are too many (at most %d)", routers, MOST_ROUTERS);
    s->n_cells = (uint32_t)cells;
    s->n_routers = (uint32_t)routers;
    s->pair_links = 0;
    s->least_links = FC_NONE;
    for (uint32_t k = 0; k < (uint32_t)s->cells.n; k++)
        for (uint32_t l = k; l < (uint32_t)s->cells.n; l++) {
            uint32_t links = fc_plus_kind_links(s, k, l);
            if (links > s->pair_links) s->pair_links = links;
            if (links < s->least_links) s->least_links = links;
        }
    return FC_OK;
}

/* Blocks of one cell, without their nodes. */
static void add_cell(struct fc_plus_shape *s, int kind, uint32_t number, uint32_t *router)
{
    struct fc_plus_cell *cell = &s->cell[number];
    uint32_t rails = (uint32_t)of_kind(&s->rails, kind, 1);
    *cell = (struct fc_plus_cell){.first_router = *router,
                                  .n_leaves = (uint32_t)s->leaves.v[kind],
                                  .n_spines = (uint32_t)of_kind(&s->spines, kind, 0),
                                  .first_block = s->n_blocks,
                                  .kind = (uint32_t)kind};
    cell->n_blocks = cell->n_leaves / rails;
    for (uint32_t b = 0; b < cell->n_blocks; b++)
        s->block[s->n_blocks++] = (struct fc_plus_block){.cell = number,
                                                         .first_leaf = *router + b * rails,
                                                         .rails = rails,
                                                         .cables = (uint32_t)of_kind(&s->node_links, kind, 1)};
    for (uint32_t i = 0; i < cell->n_leaves + cell->n_spines; i++) {
        s->router_cell[*router + i] = number;
        s->router_block[*router + i] = i < cell->n_leaves ? cell->first_block + i / rails : FC_NONE;
    }
    *router += cell->n_leaves + cell->n_spines;
}

/* Nodes of every block: evenly in their order, or as leaf_nodes lists them. */
static enum fc_code fill_blocks(struct fc_plus_shape *s, struct fc_place where, struct fc_status *st)
{
    struct reader r = {.at = s->leaf_nodes, .where = where, .st = st};
    double nodes = 0;
    int kind = 0;
    uint32_t left_of_kind = (uint32_t)s->cells.v[0];
    for (uint32_t c = 0; c < s->n_cells; c++) {
        while (left_of_kind == 0) left_of_kind = (uint32_t)s->cells.v[++kind];
        left_of_kind--;
        const struct fc_plus_cell *cell = &s->cell[c];
        long long left = s->leaf_nodes ? 0 : s->nodes_per_cell.v[kind];
        long long each = (left + cell->n_blocks - 1) / cell->n_blocks;
        for (uint32_t b = cell->first_block; b < cell->first_block + cell->n_blocks; b++) {
            struct fc_plus_block *block = &s->block[b];
            long long n = left < each ? left : each;
            if (s->leaf_nodes) {
                if (r.times == 0 && !*r.at)
                    return fc_fail(st, FC_INPUT, where, "network.leaf_nodes ends after %u leaf switches (expected %u)",
                                   b, s->n_blocks);
                if (r.times == 0 && next_entry(&r, block->cables)) return st->code;
                r.times--;
                n = r.nodes;
                block->cables = (uint32_t)r.cables;
            }
            left -= n;
            nodes += (double)n;
            if (nodes >= FC_NONE) return fc_fail(st, FC_NO, where, "network: more than %u nodes", FC_NONE - 1);
            block->first_node = s->n_nodes;
            block->n_nodes = (uint32_t)n;
            s->n_nodes += (uint32_t)n;
            s->n_links += 2.0 * (double)n * block->rails * block->cables;
        }
        double L = cell->n_leaves, P = cell->n_spines;
        s->n_links += P > 0 ? 2 * L * P : L * (L - 1);
    }
    if (s->leaf_nodes && (r.times > 0 || *r.at))
        return fc_fail(st, FC_INPUT, where, "network.leaf_nodes has more than the %u leaf switches", s->n_blocks);
    if (s->n_nodes == 0) return fc_fail(st, FC_INPUT, where, "network: no nodes");
    for (uint32_t k = 0; k < (uint32_t)s->cells.n; k++)
        for (uint32_t l = 0; l < (uint32_t)s->cells.n; l++)
            s->n_links += (double)s->cells.v[k] * ((double)s->cells.v[l] - (k == l)) * fc_plus_kind_links(s, k, l);
    return FC_OK;
}

static void declare_classes(struct fc_machine *machine, struct fc_plus_shape *s)
{
    bool local = false, up = false;
    for (uint32_t c = 0; c < s->n_cells; c++) {
        up = up || s->cell[c].n_spines > 0;
        local = local || (s->cell[c].n_spines == 0 && s->cell[c].n_leaves > 1);
    }
    const char *names[] = {"local", "spine", "global"};
    bool exists[] = {local, up, s->n_cells > 1};
    int *index[] = {&s->local_class, &s->spine_class, &s->global_class};
    machine->n_classes = 0;
    for (int i = 0; i < 3; i++) {
        *index[i] = exists[i] ? machine->n_classes : -1;
        if (exists[i])
            snprintf(machine->classes[machine->n_classes++].name, sizeof machine->classes[0].name, "%s", names[i]);
    }
}

static enum fc_code check(struct fc_machine *machine, struct fc_place where, struct fc_status *st)
{
    struct fc_plus_shape *s = machine->shape;
    if (check_lists(s, where, st) || count(s, where, st)) return st->code;
    s->cell = fc_alloc(&machine->arena, s->n_cells, sizeof *s->cell, st);
    s->block = fc_alloc(&machine->arena, s->n_routers, sizeof *s->block, st);
    s->router_cell = fc_alloc(&machine->arena, s->n_routers, sizeof *s->router_cell, st);
    s->router_block = fc_alloc(&machine->arena, s->n_routers, sizeof *s->router_block, st);
    if (st->code) return st->code;
    uint32_t router = 0, number = 0;
    s->n_blocks = s->n_nodes = 0;
    s->n_links = 0;
    for (int k = 0; k < s->cells.n; k++)
        for (long long i = 0; i < s->cells.v[k]; i++) add_cell(s, k, number++, &router);
    if (fill_blocks(s, where, st)) return st->code;
    if ((double)s->n_nodes * 4 > (double)fc_memory_bytes())
        return fc_fail(st, FC_NO, where, "network: %u nodes do not fit the memory", s->n_nodes);
    s->node_block = fc_alloc(&machine->arena, s->n_nodes, sizeof *s->node_block, st);
    if (!s->node_block) return st->code;
    for (uint32_t b = 0; b < s->n_blocks; b++)
        for (uint32_t i = 0; i < s->block[b].n_nodes; i++) s->node_block[s->block[b].first_node + i] = b;
    declare_classes(machine, s);
    return FC_OK;
}

/* ---- links ---- */

/* Of host h of cell c, by peer and cable. */
static void add_global(const struct fc_plus_shape *s, uint32_t c, uint32_t h, struct fc_link_list *list,
                       uint32_t *global)
{
    uint32_t router = fc_plus_host_router(&s->cell[c], h), hosts = fc_plus_hosts(&s->cell[c]);
    for (uint64_t slot = h; slot < (uint64_t)s->n_cells * s->pair_links; slot += hosts) {
        uint32_t to = (uint32_t)(slot / s->pair_links), cable = (uint32_t)(slot % s->pair_links);
        if (to == c || cable >= fc_plus_cables(s, c, to)) continue;
        uint32_t peer = fc_plus_host_router(&s->cell[to], fc_plus_host(s, to, c, cable));
        global[((uint64_t)c * s->n_cells + to) * s->pair_links + cable] =
            fc_links_add(list, router, peer, s->global_class);
    }
}

static void add_leaf(const struct fc_plus_shape *s, uint32_t c, uint32_t leaf, int injection, struct fc_link_list *list,
                     uint32_t *global)
{
    const struct fc_plus_cell *cell = &s->cell[c];
    uint32_t router = cell->first_router + leaf;
    const struct fc_plus_block *b = &s->block[s->router_block[router]];
    for (uint32_t j = 0; j < cell->n_spines; j++)
        fc_links_add(list, router, cell->first_router + cell->n_leaves + j, s->spine_class);
    for (uint32_t j = 0; !cell->n_spines && j < cell->n_leaves; j++)
        if (j != leaf) fc_links_add(list, router, cell->first_router + j, s->local_class);
    if (!cell->n_spines) add_global(s, c, leaf, list, global);
    for (uint32_t i = 0; i < b->n_nodes * b->cables; i++)
        fc_links_add(list, router, s->n_routers + b->first_node + i / b->cables, injection);
}

static void add_spine(const struct fc_plus_shape *s, uint32_t c, uint32_t spine, struct fc_link_list *list,
                      uint32_t *global)
{
    const struct fc_plus_cell *cell = &s->cell[c];
    for (uint32_t leaf = 0; leaf < cell->n_leaves; leaf++)
        fc_links_add(list, cell->first_router + cell->n_leaves + spine, cell->first_router + leaf, s->spine_class);
    add_global(s, c, spine, list, global);
}

static void add_node(const struct fc_plus_shape *s, uint32_t node, int injection, struct fc_link_list *list)
{
    const struct fc_plus_block *b = &s->block[s->node_block[node]];
    for (uint32_t rail = 0; rail < b->rails; rail++)
        for (uint32_t i = 0; i < b->cables; i++)
            fc_links_add(list, s->n_routers + node, b->first_leaf + rail, injection);
}

static enum fc_code build(const struct fc_machine *machine, struct fc_network *net, struct fc_status *st)
{
    const struct fc_plus_shape *s = machine->shape;
    uint64_t cables = (uint64_t)s->n_cells * s->n_cells * s->pair_links;
    net->n_routers = s->n_routers;
    net->n_nodes = s->n_nodes;
    if (fc_network_fits(machine, (double)s->n_routers + s->n_nodes, s->n_links, 4.0 * (double)cables, st))
        return st->code;
    struct fc_link_list list;
    struct fc_plus_tables *tables = fc_alloc(&net->arena, 1, sizeof *tables, st);
    if (!tables || fc_links_start(&list, &net->arena, (uint64_t)s->n_links, st)) return st->code;
    tables->global = fc_alloc(&net->arena, cables, sizeof *tables->global, st);
    if (!tables->global) return st->code;
    memset(tables->global, 0xff, cables * sizeof *tables->global);
    net->extra = tables;
    int injection = fc_injection_class(machine);
    for (uint32_t c = 0; c < s->n_cells; c++) {
        for (uint32_t i = 0; i < s->cell[c].n_leaves; i++) add_leaf(s, c, i, injection, &list, tables->global);
        for (uint32_t i = 0; i < s->cell[c].n_spines; i++) add_spine(s, c, i, &list, tables->global);
    }
    for (uint32_t node = 0; node < s->n_nodes; node++) add_node(s, node, injection, &list);
    return fc_links_seal(net, &list, NULL, st);
}

/* ---- names and figures ---- */

/* "3.5" a leaf, "3.s5" a spine, "node 17". */
static void vertex_name(const struct fc_network *net, uint32_t vertex, char *out, size_t size)
{
    const struct fc_plus_shape *s = fc_plus(net);
    if (fc_is_node(net, vertex)) {
        snprintf(out, size, "node %u", vertex - net->n_routers);
        return;
    }
    uint32_t c = s->router_cell[vertex], i = vertex - s->cell[c].first_router, leaves = s->cell[c].n_leaves;
    snprintf(out, size, i < leaves ? "%u.%u" : "%u.s%u", c, i < leaves ? i : i - leaves);
}

static void link_name(const struct fc_network *net, uint32_t link, char *out, size_t size)
{
    const struct fc_plus_shape *s = fc_plus(net);
    uint32_t a = net->link_source[link], b = net->link_target[link], first = fc_find_link(net, a, b);
    int class = net->link_class[link];
    char from[48], to[48];
    vertex_name(net, a, from, sizeof from);
    vertex_name(net, b, to, sizeof to);
    const char *kind = class == s->global_class ? "global" : class == s->local_class ? "local" : a < b ? "up" : "down";
    int n = snprintf(out, size, "%s %s->%s", kind, from, to);
    if (link > first && n > 0 && (size_t)n < size) snprintf(out + n, size - (size_t)n, " cable %u", link - first);
}

/* Mean hops of the leg between a node of cell s and the cables to cell t. */
static double leg(const struct fc_plus_shape *s, uint32_t cell, uint32_t to)
{
    if (s->cell[cell].n_spines) return 1;
    double here = 0, nodes = 0; /* cables hosted by a node's own leaf switch */
    for (uint32_t b = s->cell[cell].first_block; b < s->cell[cell].first_block + s->cell[cell].n_blocks; b++)
        nodes += s->block[b].n_nodes;
    uint32_t cables = fc_plus_cables(s, cell, to);
    for (uint32_t c = 0; c < cables; c++) {
        uint32_t router = fc_plus_host_router(&s->cell[cell], fc_plus_host(s, cell, to, c));
        const struct fc_plus_block *b = &s->block[s->router_block[router]];
        here += (double)b->n_nodes / b->rails;
    }
    return nodes > 0 ? 1 - here / cables / nodes : 0;
}

static double cell_nodes(const struct fc_plus_shape *s, uint32_t c)
{
    const struct fc_plus_block *first = &s->block[s->cell[c].first_block], *last = first + s->cell[c].n_blocks - 1;
    return last->first_node + last->n_nodes - first->first_node;
}

static void facts(const struct fc_network *net, struct fc_facts *f)
{
    const struct fc_plus_shape *s = fc_plus(net);
    double N = s->n_nodes, hops = 0, longest = 0;
    for (uint32_t c = 0; c < s->n_cells; c++) {
        const struct fc_plus_cell *cell = &s->cell[c];
        double nodes = cell_nodes(s, c), within = cell->n_spines ? 2 : 1;
        for (uint32_t b = cell->first_block; b < cell->first_block + cell->n_blocks; b++) {
            hops += within * s->block[b].n_nodes * (nodes - s->block[b].n_nodes);
            if (s->block[b].n_nodes > 0 && nodes > s->block[b].n_nodes) longest = fmax(longest, within);
        }
        for (uint32_t t = 0; t < s->n_cells; t++) {
            double others = t == c ? 0 : cell_nodes(s, t);
            if (nodes == 0 || others == 0) continue;
            hops += nodes * others * (1 + leg(s, c, t) + leg(s, t, c));
            longest = fmax(longest, 1.0 + (s->cell[c].n_leaves > 1 || s->cell[c].n_spines) +
                                        (s->cell[t].n_leaves > 1 || s->cell[t].n_spines));
        }
    }
    f->diameter_hops = longest;
    f->mean_hops = hops / N / N;
    if (s->n_cells > 1) {
        f->bisection_links = 0;
        for (uint32_t c = 0; c < s->n_cells / 2; c++)
            for (uint32_t t = s->n_cells / 2; t < s->n_cells; t++) f->bisection_links += fc_plus_cables(s, c, t);
        f->bisection_bytes_per_s = f->bisection_links * net->machine->classes[s->global_class].bandwidth_bytes_per_s;
    }
}

/* Cells. */
static uint32_t partition(const struct fc_network *net, int index, uint32_t *label)
{
    const struct fc_plus_shape *s = fc_plus(net);
    if (index > 0) return 0;
    memcpy(label, s->router_cell, s->n_routers * sizeof *label);
    return s->n_cells;
}

static void block_name(const struct fc_network *net, int index, char *out, size_t size)
{
    (void)net;
    (void)index;
    snprintf(out, size, "cells");
}

static void words(const struct fc_machine *machine, char *out, size_t size)
{
    const struct fc_plus_shape *s = machine->shape;
    fc_words_list(out, size, "cells", &s->cells);
    fc_words_list(out, size, "leaves", &s->leaves);
    if (s->spines.n) fc_words_list(out, size, "spines", &s->spines);
    if (s->nodes_per_cell.n) fc_words_list(out, size, "nodes_per_cell", &s->nodes_per_cell);
    if (s->leaf_nodes) fc_words_text(out, size, "leaf_nodes", s->leaf_nodes);
    if (s->rails.n) fc_words_list(out, size, "rails", &s->rails);
    if (s->node_links.n) fc_words_list(out, size, "node_links", &s->node_links);
    if (s->links_by_kind.n)
        fc_words_list(out, size, "links_by_kind", &s->links_by_kind);
    else
        fc_words_number(out, size, "links_per_pair", s->links_per_pair);
}

/* Of the kind with most cells alone: fewer cells of fewer leaf switches, with as many nodes a leaf switch, spines a leaf
 * switch and global links a node as there. */
static bool relative(void *shape, int number)
{
    static const struct {
        long long cells, leaves;
    } list[] = {{4, 4}, {7, 4}, {4, 8}, {6, 8}};
    struct fc_plus_shape *s = shape;
    if (number >= (int)FC_COUNT(list)) return false;
    int kind = 0, first = 0;
    for (int k = 1; k < s->cells.n; k++)
        if (s->cells.v[k] > s->cells.v[kind]) kind = k;
    for (int k = 0; k < kind; k++) first += (int)s->cells.v[k];
    const struct fc_plus_cell *cell = &s->cell[first];
    double nodes = 0, links = 0, spines = cell->n_spines;
    for (uint32_t t = 0; t < s->n_cells; t++) links += t == (uint32_t)first ? 0 : fc_plus_cables(s, (uint32_t)first, t);
    for (uint32_t b = 0; b < cell->n_blocks; b++) nodes += s->block[cell->first_block + b].n_nodes;
    long long rails = of_kind(&s->rails, kind, 1), leaves = list[number].leaves / rails * rails;
    if (leaves < rails) leaves = rails;
    if (leaves > cell->n_leaves) leaves = cell->n_leaves;
    double part = (double)leaves / cell->n_leaves;
    long long cables = s->block[cell->first_block].cables;
    s->spines = (struct fc_ints){1, {spines > 0 ? (long long)fmax(1, round(spines * part)) : 0}};
    s->nodes_per_cell = (struct fc_ints){1, {(long long)fmax(1, round(nodes * part))}};
    s->links_per_pair = 1;
    s->links_by_kind = (struct fc_ints){0};
    if (s->n_cells > 2) s->cells.v[0] = list[number].cells;
    s->cells.n = 1;
    if (s->cells.v[0] > 1) s->links_per_pair = (long long)fmax(1, round(links * part / (double)(s->cells.v[0] - 1)));
    s->leaves = (struct fc_ints){1, {leaves}};
    s->rails = (struct fc_ints){1, {rails}};
    s->node_links = (struct fc_ints){1, {cables}};
    s->leaf_nodes = NULL;
    return true;
}

#define OFFSET(field) offsetof(struct fc_plus_shape, field)
static const struct fc_key keys[] = {
    {"cells", FC_KEY_INTS, FC_NUMBER, OFFSET(cells), 1, 65535, NULL, NULL, "cells (groups) of each kind"},
    {"leaves", FC_KEY_INTS, FC_NUMBER, OFFSET(leaves), 1, FC_PLUS_MOST_HOSTS, NULL, NULL,
     "leaf switches of a cell of each kind"},
    {"spines", FC_KEY_INTS, FC_NUMBER, OFFSET(spines), 0, FC_PLUS_MOST_HOSTS, NULL, NULL,
     "spine switches of a cell; 0 (default): leaf switches are linked all to all"},
    {"nodes_per_cell", FC_KEY_INTS, FC_NUMBER, OFFSET(nodes_per_cell), 1, 2147483647.0, NULL, NULL,
     "nodes of a cell of each kind"},
    {"leaf_nodes", FC_KEY_TEXT, FC_NUMBER, OFFSET(leaf_nodes), 0, 0, NULL, NULL,
     "instead: nodes of every leaf switch, 342*10/4, 2, 40 (/4: links of each node)"},
    {"rails", FC_KEY_INTS, FC_NUMBER, OFFSET(rails), 1, 64, NULL, NULL,
     "leaf switches that a node hangs on, of each kind (default 1)"},
    {"node_links", FC_KEY_INTS, FC_NUMBER, OFFSET(node_links), 1, MOST_CABLES, NULL, NULL,
     "links of a node to each of them (default 1)"},
    {"links_per_pair", FC_KEY_INT, FC_NUMBER, OFFSET(links_per_pair), 1, 4096, NULL, "1",
     "global links between each two cells"},
    {"links_by_kind", FC_KEY_INTS, FC_NUMBER, OFFSET(links_by_kind), 1, 4096, NULL, NULL,
     "instead, where kinds differ: of kind 0 with 0, 1, ..., of 1 with 1, ..."},
};

/* The next group's node at the same place: minimal ways have the cables between two groups (Kim et al., ISCA 2008). */
static bool adversarial(const struct fc_network *net, uint32_t *to)
{
    struct fc_status st = {0};
    return fc_group_shift(net, 1, to, &st) == FC_OK;
}

const struct fc_family_ops fc_family_dragonfly_plus = {
    .name = "dragonfly-plus",
    .usage =
        "cells: [19, 2]; leaves: [18, 16]; spines: [18, 18]; nodes_per_cell: [180, 624]; links_per_pair: 18; classes: "
        "spine (local without spines), global",
    .source = "Shpiner et al., HiPINEB 2017; Flajslik et al., ISC 2018; Kim et al., ISCA 2008",
    .shape_size = sizeof(struct fc_plus_shape),
    .keys = keys,
    .n_keys = FC_COUNT(keys),
    .default_routing = "direct",
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
    .block_name = block_name,
    .queueing_by_theory = true,
};
