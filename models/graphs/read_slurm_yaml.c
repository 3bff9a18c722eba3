/* read_slurm_yaml.c - Slurm's topology.yaml (topology.yaml(5), Slurm 25.05 and later): a list of named topologies,
 *
 *     - topology: pods
 *       cluster_default: true
 *       tree: {switches: [{switch: leaf0, nodes: "cn[0-3]"}, {switch: top, children: "leaf[0-1]"}]}
 *
 * of which the first with cluster_default is read, or the only one. Kinds: `tree`; `block: {block_sizes: [4, 16], blocks: [{block:,
 * nodes:}]}`; `ring: {rings: [{ring:, nodes:}]}`, as topology.conf has them (slurm_topology.c); and
 *
 *     torus3d: {toruses: [{name: pod1, dims: {x: 4, y: 4, z: 2}, nodes: "n[01-32]"}]}
 *
 * or with `regions: [{anchor: {x:, y:, z:}, dims:, nodes:}, ...]` instead of nodes, x fastest in each. A torus' positions are
 * routers (NAME-X-Y-Z), joined along each side of two or more by cables of the class `link`, its nodes hang on them by the class
 * `node`; a side of two has one cable, not two. Placements are the scheduler's and passed over. Limits: `flat` describes no
 * network and is refused; toruses are not joined with each other, since the file does not tell how. */
#include "core/hostlist.h"
#include "core/values.h"
#include "core/yaml_file.h"
#include "models/graphs/slurm_topology.h"

struct reading {
    struct fc_graph_reader *reader;
    struct fc_yaml yaml;
    struct fc_status *st;
};

bool fc_is_slurm_yaml(const struct fc_text *text)
{
    struct fc_lines lines;
    for (fc_lines_start(&lines, text); fc_lines_next(&lines);) {
        const char *at = lines.text, *word;
        size_t length;
        if (!fc_next_word(&at, lines.text + lines.length, &word, &length) || *word == '#') continue;
        return *word == '-' || *word == '%' || *word == '[';
    }
    return false;
}

static enum fc_code fail(const struct reading *y, const yaml_node_t *node, const char *what)
{
    return FC_YAML_FAIL(&y->yaml, node, "%s", what);
}

/* The value of a key that must be there and of that kind. */
static yaml_node_t *need(struct reading *y, yaml_node_t *mapping, const char *key, yaml_node_type_t type)
{
    yaml_node_t *value = mapping->type == YAML_MAPPING_NODE ? fc_yaml_value(&y->yaml, mapping, key) : NULL;
    bool good = value && value->type == type && (type != YAML_SCALAR_NODE || fc_yaml_is_plain(value));
    if (!good)
        FC_YAML_FAIL(&y->yaml, value ? value : mapping, "%s %s (expected %s)", key,
                     value ? "is of another kind" : "is missing",
                     type == YAML_SEQUENCE_NODE  ? "a list"
                     : type == YAML_MAPPING_NODE ? "a mapping"
                                                 : "a word");
    return good ? value : NULL;
}

/* Only those keys, apart at blanks. */
static enum fc_code only(struct reading *y, yaml_node_t *mapping, const char *keys)
{
    if (mapping->type != YAML_MAPPING_NODE) return fail(y, mapping, "expected a mapping");
    if (fc_yaml_check_keys(&y->yaml, mapping, "")) return y->st->code;
    for (yaml_node_pair_t *p = mapping->data.mapping.pairs.start; p < mapping->data.mapping.pairs.top; p++) {
        const yaml_node_t *key = fc_yaml_node(&y->yaml, p->key);
        const char *text = fc_yaml_text(key), *at = strstr(keys, text);
        size_t n = strlen(text);
        while (at && !((at == keys || at[-1] == ' ') && (at[n] == ' ' || !at[n]))) at = strstr(at + 1, text);
        if (!at || n == 0) return FC_YAML_FAIL(&y->yaml, key, "unknown key '%.60s' (expected %s)", text, keys);
    }
    return FC_OK;
}

/* ---- trees, blocks, rings ---- */

static const struct kind {
    const char *key, *list, *name, *keys;
} kinds[] = {
    {"tree", "switches", "switch", "switch nodes children"},
    {"block", "blocks", "block", "block nodes"},
    {"ring", "rings", "ring", "ring nodes"},
};

static enum fc_code read_line(struct reading *y, const struct kind *kind, yaml_node_t *entry,
                              struct fc_slurm_line *line)
{
    yaml_node_t *name, *members;
    *line =
        (struct fc_slurm_line){.kind = (enum fc_slurm_kind)(kind - kinds), .line = fc_yaml_place(&y->yaml, entry).line};
    if (only(y, entry, kind->keys) || !(name = need(y, entry, kind->name, YAML_SCALAR_NODE))) return y->st->code;
    line->nodes = fc_yaml_value(&y->yaml, entry, "nodes") != NULL;
    if (line->nodes && fc_yaml_value(&y->yaml, entry, "children"))
        return fail(y, entry, "a switch with nodes and children (expected either)");
    members = need(y, entry, line->nodes || kind != kinds ? "nodes" : "children", YAML_SCALAR_NODE);
    if (!members) return y->st->code;
    line->name = fc_yaml_text(name);
    line->name_length = name->data.scalar.length;
    line->list = fc_yaml_text(members);
    line->list_length = members->data.scalar.length;
    return FC_OK;
}

static enum fc_code read_sizes(struct reading *y, yaml_node_t *body, uint32_t *sizes, size_t *n)
{
    yaml_node_t *list = fc_yaml_value(&y->yaml, body, "block_sizes");
    if (!list) return FC_OK;
    if (!need(y, body, "block_sizes", YAML_SEQUENCE_NODE)) return y->st->code;
    for (long i = 0; i < fc_yaml_count(list); i++) {
        yaml_node_t *size = fc_yaml_item(&y->yaml, list, i);
        if (!fc_yaml_is_plain(size)) return fail(y, size, "block_sizes: expected whole numbers");
        if (fc_slurm_sizes(fc_yaml_text(size), size->data.scalar.length, sizes, n, fc_yaml_place(&y->yaml, size),
                           y->st))
            return y->st->code;
    }
    return FC_OK;
}

static enum fc_code read_lines(struct reading *y, const struct kind *kind, yaml_node_t *body)
{
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    uint32_t sizes[FC_SLURM_SIZES];
    size_t n_sizes = 0;
    yaml_node_t *list = NULL;
    if (!only(y, body, kind == &kinds[1] ? "blocks block_sizes" : kind->list))
        list = need(y, body, kind->list, YAML_SEQUENCE_NODE);
    size_t n = list ? (size_t)fc_yaml_count(list) : 0;
    struct fc_slurm_line *lines = list ? fc_alloc(&scratch, n + 1, sizeof *lines, y->st) : NULL;
    for (size_t i = 0; lines && i < n && !y->st->code; i++)
        read_line(y, kind, fc_yaml_item(&y->yaml, list, i), &lines[i]);
    if (!y->st->code && !read_sizes(y, body, sizes, &n_sizes))
        fc_slurm_build(y->reader, lines, n, sizes, n_sizes, y->st);
    return y->st->code;
}

/* ---- 3-D tori ---- */

enum { LONGEST_SIDE = 4096, MOST_POSITIONS = 1000000 };

struct torus {
    struct reading *reading;
    uint32_t dims[3], anchor[3], size[3]; /* of the torus; of the region at hand */
    uint32_t *router;                     /* [positions] */
    uint8_t *taken;                       /* [positions] */
    uint32_t n;                           /* nodes of the region so far */
    uint8_t link, to_node;
};

static enum fc_code read_triple(struct reading *y, yaml_node_t *mapping, const char *key, long long low, long long high,
                                uint32_t *value)
{
    static const char *const sides[] = {"x", "y", "z"};
    yaml_node_t *triple = need(y, mapping, key, YAML_MAPPING_NODE);
    if (!triple || only(y, triple, "x y z")) return y->st->code;
    for (int d = 0; d < 3; d++) {
        long long number;
        yaml_node_t *side = need(y, triple, sides[d], YAML_SCALAR_NODE);
        if (!side || fc_word_int(fc_yaml_text(side), side->data.scalar.length, low, high, sides[d], &number,
                                 fc_yaml_place(&y->yaml, side), y->st))
            return y->st->code;
        value[d] = (uint32_t)number;
    }
    return FC_OK;
}

static uint32_t position(const struct torus *t, uint32_t x, uint32_t y, uint32_t z)
{
    return (z * t->dims[1] + y) * t->dims[0] + x;
}

static enum fc_code put_node(void *context, const char *name, size_t length, uint32_t times, struct fc_place where,
                             struct fc_status *st)
{
    struct torus *t = context;
    struct fc_graph_reader *r = t->reading->reader;
    uint32_t node, before = r->nodes.n, i = t->n++;
    if (times != 1) return fc_fail(st, FC_INPUT, where, "'%s' (expected each node once)", name);
    if (i >= t->size[0] * t->size[1] * t->size[2])
        return fc_fail(st, FC_INPUT, where, "more nodes than the %u positions of %u x %u x %u", i, t->size[0],
                       t->size[1], t->size[2]);
    uint32_t at = position(t, t->anchor[0] + i % t->size[0], t->anchor[1] + i / t->size[0] % t->size[1],
                           t->anchor[2] + i / t->size[0] / t->size[1]);
    if (t->taken[at]) return fc_fail(st, FC_INPUT, where, "node '%s' is where another region's node is", name);
    t->taken[at] = 1;
    if (fc_graph_names_add(&r->nodes, &r->machine->arena, name, length, &node, where, st)) return st->code;
    if (node < before) return fc_fail(st, FC_INPUT, where, "node '%s' is listed twice", name);
    struct fc_cable cable = {.router = t->router[at], .other = node, .to_node = true, .link_class = t->to_node};
    return fc_graph_add_cable(r, &cable, st);
}

static enum fc_code read_region(struct torus *t, yaml_node_t *mapping)
{
    struct reading *y = t->reading;
    yaml_node_t *nodes = need(y, mapping, "nodes", YAML_SCALAR_NODE);
    t->n = 0;
    if (!nodes || fc_host_list_walk(fc_yaml_text(nodes), nodes->data.scalar.length, put_node, t,
                                    fc_yaml_place(&y->yaml, nodes), y->st))
        return y->st->code;
    uint32_t size = t->size[0] * t->size[1] * t->size[2];
    if (t->n < size)
        return FC_YAML_FAIL(&y->yaml, nodes, "%u nodes for %u x %u x %u positions", t->n, t->size[0], t->size[1],
                            t->size[2]);
    return FC_OK;
}

static enum fc_code read_regions(struct torus *t, yaml_node_t *list)
{
    struct reading *y = t->reading;
    for (long i = 0; i < fc_yaml_count(list); i++) {
        yaml_node_t *region = fc_yaml_item(&y->yaml, list, i);
        if (only(y, region, "anchor dims nodes") || read_triple(y, region, "anchor", 0, LONGEST_SIDE - 1, t->anchor) ||
            read_triple(y, region, "dims", 1, LONGEST_SIDE, t->size))
            return y->st->code;
        for (int d = 0; d < 3; d++)
            if (t->anchor[d] + t->size[d] > t->dims[d])
                return fail(y, region, "a region that reaches over the torus' side (regions do not wrap)");
        if (read_region(t, region)) return y->st->code;
    }
    return FC_OK;
}

static enum fc_code join(struct torus *t)
{
    struct fc_graph_reader *r = t->reading->reader;
    for (uint32_t z = 0; z < t->dims[2]; z++)
        for (uint32_t y = 0; y < t->dims[1]; y++)
            for (uint32_t x = 0; x < t->dims[0]; x++) {
                uint32_t at[3] = {x, y, z};
                for (int d = 0; d < 3; d++) { /* to the next in this dimension */
                    uint32_t side = t->dims[d], next[3] = {x, y, z};
                    if (side < 2 || (side == 2 && at[d] == 1)) continue;
                    next[d] = (at[d] + 1) % side;
                    struct fc_cable cable = {.router = t->router[position(t, x, y, z)],
                                             .other = t->router[position(t, next[0], next[1], next[2])],
                                             .link_class = t->link};
                    if (fc_graph_add_cable(r, &cable, t->reading->st)) return t->reading->st->code;
                }
            }
    return FC_OK;
}

static enum fc_code read_torus(struct reading *y, yaml_node_t *mapping)
{
    struct fc_graph_reader *r = y->reader;
    struct fc_place where = fc_yaml_place(&y->yaml, mapping);
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    struct torus t = {.reading = y};
    yaml_node_t *name = NULL, *regions = NULL;
    if (only(y, mapping, "name dims nodes regions placements") ||
        !(name = need(y, mapping, "name", YAML_SCALAR_NODE)) ||
        read_triple(y, mapping, "dims", 1, LONGEST_SIDE, t.dims))
        return y->st->code;
    uint64_t n = (uint64_t)t.dims[0] * t.dims[1] * t.dims[2];
    if (r->routers.n + n > MOST_POSITIONS)
        return fc_fail(y->st, FC_INPUT, where, "more than %d positions in the toruses up to here", MOST_POSITIONS);
    t.router = fc_alloc(&scratch, n, sizeof *t.router, y->st);
    t.taken = fc_alloc(&scratch, n, sizeof *t.taken, y->st);
    for (uint32_t i = 0; t.taken && i < n && !y->st->code; i++) {
        char text[300];
        uint32_t before = r->routers.n;
        int length = snprintf(text, sizeof text, "%.200s-%u-%u-%u", fc_yaml_text(name), i % t.dims[0],
                              i / t.dims[0] % t.dims[1], i / t.dims[0] / t.dims[1]);
        fc_graph_names_add(&r->routers, &r->machine->arena, text, (size_t)length, &t.router[i], where, y->st);
        if (!y->st->code && t.router[i] < before) fail(y, mapping, "two toruses of one name");
    }
    if (y->st->code || fc_graph_class(r, "link", 0, 0, &t.link, where, y->st) ||
        fc_graph_class(r, "node", 0, 0, &t.to_node, where, y->st))
        return y->st->code;
    memcpy(t.size, t.dims, sizeof t.size);
    if (!fc_yaml_value(&y->yaml, mapping, "regions"))
        read_region(&t, mapping);
    else if (fc_yaml_value(&y->yaml, mapping, "nodes"))
        fail(y, mapping, "a torus with nodes and regions (expected either)");
    else if ((regions = need(y, mapping, "regions", YAML_SEQUENCE_NODE)))
        read_regions(&t, regions);
    if (!y->st->code) join(&t);
    return y->st->code;
}

static enum fc_code read_toruses(struct reading *y, yaml_node_t *body)
{
    yaml_node_t *list = NULL;
    if (!only(y, body, "toruses")) list = need(y, body, "toruses", YAML_SEQUENCE_NODE);
    for (long i = 0; list && i < fc_yaml_count(list) && !y->st->code; i++)
        read_torus(y, fc_yaml_item(&y->yaml, list, i));
    return y->st->code;
}

/* ---- the file ---- */

static bool is_true(const yaml_node_t *node)
{
    return node && fc_yaml_is_plain(node) &&
           (!strcmp(fc_yaml_text(node), "true") || !strcmp(fc_yaml_text(node), "True"));
}

static enum fc_code read_topology(struct reading *y, yaml_node_t *topology)
{
    yaml_node_t *body = NULL;
    const struct kind *kind = NULL;
    int n = 0;
    for (size_t k = 0; k < FC_COUNT(kinds); k++) {
        yaml_node_t *value = fc_yaml_value(&y->yaml, topology, kinds[k].key);
        if (!value) continue;
        body = value;
        kind = &kinds[k];
        n++;
    }
    yaml_node_t *torus = fc_yaml_value(&y->yaml, topology, "torus3d");
    if (fc_yaml_value(&y->yaml, topology, "flat")) return fail(y, topology, "a flat topology describes no network");
    if (n + (torus != NULL) != 1)
        return fail(y, topology, "expected one of tree, block, ring and torus3d in a topology");
    return torus ? read_toruses(y, torus) : read_lines(y, kind, body);
}

enum fc_code fc_read_slurm_yaml(struct fc_graph_reader *reader, struct fc_status *st)
{
    struct reading y = {.reader = reader, .st = st};
    yaml_node_t *chosen = NULL;
    if (fc_yaml_read(&y.yaml, &reader->text, reader->text.file, " (expected one list of topologies)", st))
        return st->code;
    yaml_node_t *root = yaml_document_get_root_node(&y.yaml.document);
    if (!root || root->type != YAML_SEQUENCE_NODE || fc_yaml_count(root) == 0)
        fc_fail(st, FC_INPUT, (struct fc_place){reader->text.file, 1}, "no list of topologies (- topology: NAME)");
    for (long i = 0; !st->code && i < fc_yaml_count(root); i++) {
        yaml_node_t *topology = fc_yaml_item(&y.yaml, root, i);
        if (only(&y, topology, "topology cluster_default tree block ring torus3d flat") ||
            !need(&y, topology, "topology", YAML_SCALAR_NODE))
            break;
        if (!chosen && (fc_yaml_count(root) == 1 || is_true(fc_yaml_value(&y.yaml, topology, "cluster_default"))))
            chosen = topology;
    }
    if (!st->code && !chosen)
        fail(&y, root, "several topologies and none with cluster_default: true (expected one that is)");
    if (!st->code) read_topology(&y, chosen);
    fc_yaml_free(&y.yaml);
    return st->code;
}
