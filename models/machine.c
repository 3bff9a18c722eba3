/* machine.c - machine files: YAML checked against tables of keys, every refusal with file:line.
 *
 * libyaml gives the document with the line of every node; the tables of machine_keys.c (and the family's own) say which
 * keys exist, their kind, unit and range. libcyaml, built on the same parser, was not taken because it cannot tell the line
 * of a well-formed value that is out of range. */
#include "core/yaml_file.h"
#include "models/family_two_level.h"
#include "models/machine_files.h"
#include "models/machine_keys.h"
#include "models/machine_set.h"
#include "models/node_kinds.h"

#define IN(field) offsetof(struct fc_machine, field)
static const struct fc_key top_keys[] = {
    {"name", FC_KEY_TEXT, FC_NUMBER, IN(name), 0, 0, NULL, NULL, "short name"},
    {"title", FC_KEY_TEXT, FC_NUMBER, IN(title), 0, 0, NULL, "", "one line for people"},
    {"source", FC_KEY_TEXT, FC_NUMBER, IN(source), 0, 0, NULL, "", "where the figures come from"},
    {"confidence", FC_KEY_TEXT, FC_NUMBER, IN(confidence), 0, 0, NULL, "", "how sure they are"},
    {"clock", FC_KEY_QUANTITY, FC_HERTZ, IN(clock_hz), 1, 1e13, NULL, NULL, "network cycle; makes `cycles` a unit"},
    {"failed", FC_KEY_TEXT, FC_NUMBER, IN(failed), 0, 0, NULL, NULL, "links, switches, hosts that are out of order"},
    {"hosts", FC_KEY_TEXT, FC_NUMBER, IN(hosts), 0, 0, NULL, NULL, "host names of the nodes in order: cn[000-063]"},
    {"hosts_file", FC_KEY_TEXT, FC_NUMBER, IN(hosts_file), 0, 0, NULL, NULL, "a file of them, relative to this one"},
};
#undef IN
static const struct fc_key shared_network_keys[] = {
    {"family", FC_KEY_TEXT, FC_NUMBER, 0, 0, 0, NULL, NULL, "torus, mesh, fat-tree, ..."},
    {"nodes_per_router", FC_KEY_INT, FC_NUMBER, offsetof(struct fc_machine, nodes_per_router), 1, 1 << 16, NULL, "1",
     "terminals on each router"},
};

/* ---- the YAML document ---- */

struct reader {
    struct fc_yaml yaml;
    struct fc_machine *machine;
    struct fc_status *st;
};

/* What checks a section as a whole knows only the section's line. Where its message begins with "section.key" and the
 * file gives that key, the message moves to the key's line. Returns the status' code. */
static enum fc_code point_at_key(struct reader *r, const yaml_node_t *mapping, const char *section)
{
    size_t n = strlen(section);
    if (strcmp(r->st->file, r->machine->file) || strncmp(r->st->message, section, n) || r->st->message[n] != '.')
        return r->st->code;
    const char *key = r->st->message + n + 1;
    size_t length = strspn(key, "abcdefghijklmnopqrstuvwxyz_");
    const yaml_node_pair_t *pair = mapping ? fc_yaml_pair(&r->yaml.document, mapping, key, length) : NULL;
    if (pair) r->st->line = fc_yaml_place(&r->yaml, fc_yaml_node(&r->yaml, pair->value)).line;
    return r->st->code;
}

/* The mapping under `name` of the top level, NULL when left out. */
static enum fc_code section(struct reader *r, const yaml_node_t *top, const char *name, yaml_node_t **found)
{
    const yaml_node_pair_t *pair = fc_yaml_pair(&r->yaml.document, top, name, strlen(name));
    *found = pair ? fc_yaml_node(&r->yaml, pair->value) : NULL;
    if (!pair || (*found)->type == YAML_MAPPING_NODE) return FC_OK;
    return FC_YAML_FAIL(&r->yaml, fc_yaml_node(&r->yaml, pair->key),
                        "%s: is not a mapping (expected %s: {key: value, ...})", name, name);
}

/* A scalar's text; a sequence of scalars as "a,b,c"; a mapping of scalars as "k=a,k=b". FC_INPUT for anything deeper. */
static enum fc_code flat_text(struct reader *r, const char *key, yaml_node_t *node, char *out, size_t size)
{
    if (node->type == YAML_SCALAR_NODE) {
        if (strlen(fc_yaml_text(node)) != node->data.scalar.length)
            return FC_YAML_FAIL(&r->yaml, node, "%s: the value holds a zero byte", key);
        if (strlen(fc_yaml_text(node)) >= size) return FC_YAML_FAIL(&r->yaml, node, "%s: the value is too long", key);
        snprintf(out, size, "%s", fc_yaml_text(node));
        return FC_OK;
    }
    size_t n = 0;
    bool map = node->type == YAML_MAPPING_NODE;
    size_t count =
        map ? (size_t)(node->data.mapping.pairs.top - node->data.mapping.pairs.start) : (size_t)fc_yaml_count(node);
    out[0] = 0;
    for (size_t i = 0; i < count; i++) {
        yaml_node_t *name = map ? fc_yaml_node(&r->yaml, node->data.mapping.pairs.start[i].key) : NULL;
        yaml_node_t *item =
            fc_yaml_node(&r->yaml, map ? node->data.mapping.pairs.start[i].value : node->data.sequence.items.start[i]);
        if (item->type != YAML_SCALAR_NODE || (name && name->type != YAML_SCALAR_NODE))
            return FC_YAML_FAIL(&r->yaml, item, "%s: expected plain values in the list", key);
        int more = snprintf(out + n, size - n, "%s%s%s%s", i ? "," : "", name ? fc_yaml_text(name) : "",
                            name ? "=" : "", fc_yaml_text(item));
        n += (size_t)more;
        if (n >= size) return FC_YAML_FAIL(&r->yaml, node, "%s: the list is too long", key);
    }
    return FC_OK;
}

/* A message about a value begins with its section: "router.delay". */
static enum fc_code set_key(struct reader *r, const char *prefix, const struct fc_key *key, void *settings,
                            yaml_node_t *value)
{
    char text[4096], name[96];
    struct fc_key named = *key;
    snprintf(name, sizeof name, "%s%s%s", prefix, *prefix ? "." : "", key->name);
    named.name = name;
    bool takes_list = key->kind == FC_KEY_INTS || key->kind == FC_KEY_QUANTITIES || !strcmp(name, "hosts") ||
                      !strcmp(name, "failed") || !strcmp(name, "network.routes");
    /* A family may take a mapping as text and parse it: tmesh's bridges. */
    bool takes_mapping = key->kind == FC_KEY_TEXT && !strcmp(prefix, "network");
    if (value->type == YAML_SEQUENCE_NODE && !takes_list)
        return FC_YAML_FAIL(&r->yaml, value, "%s: a list where one value is expected", name);
    if (value->type == YAML_MAPPING_NODE && !takes_mapping)
        return FC_YAML_FAIL(&r->yaml, value, "%s: a mapping where %s is expected", name,
                            takes_list ? "a list" : "one value");
    if (flat_text(r, name, value, text, sizeof text)) return r->st->code;
    return fc_key_set(&named, settings, text, r->machine->clock_hz, &r->machine->arena, fc_yaml_place(&r->yaml, value),
                      r->st);
}

/* Names the table's keys, and the section within the router's. */
static enum fc_code unknown_key(struct reader *r, const struct fc_key_table *table, yaml_node_t *name)
{
    struct fc_key all[64] = {{0}};
    size_t n = table->n < FC_COUNT(all) ? table->n : FC_COUNT(all) - 1;
    memcpy(all, table->keys, n * sizeof *all);
    if (table == &fc_router_keys) all[n++].name = "ugal";
    return fc_key_unknown(all, n, fc_yaml_text(name), fc_yaml_place(&r->yaml, name), r->st);
}

/* Decodes a mapping whose every key is in the table. */
static enum fc_code decode(struct reader *r, const char *prefix, yaml_node_t *mapping, const struct fc_key_table *table,
                           void *settings)
{
    if (fc_keys_preset(table->keys, table->n, settings, &r->machine->arena, r->st)) return r->st->code;
    if (!mapping) return FC_OK;
    if (fc_yaml_check_keys(&r->yaml, mapping, "")) return r->st->code;
    for (yaml_node_pair_t *p = mapping->data.mapping.pairs.start; p < mapping->data.mapping.pairs.top; p++) {
        yaml_node_t *name = fc_yaml_node(&r->yaml, p->key);
        const struct fc_key *key = fc_key_find(table->keys, table->n, fc_yaml_text(name));
        if (table == &fc_router_keys && !strcmp(fc_yaml_text(name), "ugal")) continue; /* decode_ugal */
        if (!key) return unknown_key(r, table, name);
        if (set_key(r, prefix, key, settings, fc_yaml_node(&r->yaml, p->value))) return r->st->code;
    }
    return FC_OK;
}

/* ---- sections that need more than a table ---- */

static const struct fc_family_ops *find_family(const char *name)
{
    for (const struct fc_family_ops *const *f = fc_families; *f; f++)
        if (!strcmp((*f)->name, name)) return *f;
    return NULL;
}

/* `name` NULL: none is given. */
static enum fc_code unknown_family(struct reader *r, const char *name, struct fc_place where)
{
    char known[256] = "";
    for (const struct fc_family_ops *const *f = fc_families; *f; f++) {
        size_t n = strlen(known);
        snprintf(known + n, sizeof known - n, "%s%s", n ? ", " : "", (*f)->name);
    }
    if (!name) return fc_fail(r->st, FC_INPUT, where, "network.family: a name is missing (known: %s)", known);
    return fc_fail(r->st, FC_INPUT, where, "network.family: '%.60s' is unknown (known: %s)", name, known);
}

static enum fc_code decode_network(struct reader *r, yaml_node_t *top, yaml_node_t *mapping)
{
    struct fc_machine *m = r->machine;
    if (!mapping) return FC_YAML_FAIL(&r->yaml, top, "network: is missing (expected network: {family: ...})");
    m->network_line = (long)mapping->start_mark.line + 1;
    if (fc_yaml_check_keys(&r->yaml, mapping, "")) return r->st->code;
    yaml_node_pair_t *start = mapping->data.mapping.pairs.start, *end = mapping->data.mapping.pairs.top;
    const yaml_node_t *family = fc_yaml_value(&r->yaml, mapping, "family");
    if (!family || family->type != YAML_SCALAR_NODE)
        return unknown_family(r, NULL, fc_yaml_place(&r->yaml, family ? family : mapping));
    m->family = find_family(fc_yaml_text(family));
    if (!m->family) return unknown_family(r, fc_yaml_text(family), fc_yaml_place(&r->yaml, family));
    m->shape = fc_alloc(&m->arena, 1, m->family->shape_size, r->st);
    if (!m->shape || fc_keys_preset(m->family->keys, m->family->n_keys, m->shape, &m->arena, r->st)) return r->st->code;
    for (yaml_node_pair_t *p = start; p < end; p++) {
        yaml_node_t *name = fc_yaml_node(&r->yaml, p->key);
        yaml_node_t *value = fc_yaml_node(&r->yaml, p->value);
        if (!strcmp(fc_yaml_text(name), "family")) continue;
        const struct fc_key *key = fc_key_find(m->family->keys, m->family->n_keys, fc_yaml_text(name));
        void *settings = m->shape;
        if (!key && m->family->takes_nodes_per_router && !strcmp(fc_yaml_text(name), "nodes_per_router")) {
            key = &shared_network_keys[1];
            settings = m;
        }
        if (!key)
            return fc_key_unknown(m->family->keys, m->family->n_keys, fc_yaml_text(name), fc_yaml_place(&r->yaml, name),
                                  r->st);
        if (set_key(r, "network", key, settings, value)) return r->st->code;
    }
    return FC_OK;
}

static enum fc_code list_link_names(struct reader *r, yaml_node_t *links)
{
    struct fc_machine *m = r->machine;
    if (!links) return FC_OK;
    if (fc_yaml_check_keys(&r->yaml, links, "")) return r->st->code;
    for (yaml_node_pair_t *p = links->data.mapping.pairs.start; p < links->data.mapping.pairs.top; p++) {
        yaml_node_t *name = fc_yaml_node(&r->yaml, p->key);
        if (m->n_link_names == FC_MAX_CLASSES)
            return FC_YAML_FAIL(&r->yaml, name, "links: more than %d classes", FC_MAX_CLASSES);
        m->link_names[m->n_link_names] = fc_copy_text(&m->arena, fc_yaml_text(name), r->st);
        if (!m->link_names[m->n_link_names++]) return r->st->code;
    }
    return FC_OK;
}

static enum fc_code unknown_class(struct reader *r, const char *name, struct fc_place where)
{
    struct fc_machine *m = r->machine;
    char known[512] = "";
    for (int c = 0; c < m->n_classes; c++) {
        size_t n = strlen(known);
        snprintf(known + n, sizeof known - n, "%s%s", n ? ", " : "", m->classes[c].name);
    }
    return fc_fail(r->st, FC_INPUT, where, "links: this %s network has no link class '%s' (it has: %s)",
                   m->family->name, name, known);
}

/* One entry of links:. `up` stands for every level above the leaves that has no entry of its own. */
static enum fc_code decode_class(struct reader *r, yaml_node_t *name, yaml_node_t *value, bool aliases)
{
    struct fc_machine *m = r->machine;
    bool is_alias = !strcmp(fc_yaml_text(name), "up"), known = false;
    if (is_alias != aliases) return FC_OK;
    char prefix[64];
    snprintf(prefix, sizeof prefix, "links.%.40s", fc_yaml_text(name));
    if (value->type != YAML_MAPPING_NODE)
        return FC_YAML_FAIL(&r->yaml, value, "%s: expected {bandwidth: 1 GB/s, latency: 10 ns}", prefix);
    for (int c = 0; c < m->n_classes; c++) {
        struct fc_link_class *class = &m->classes[c];
        bool mine = !strcmp(class->name, fc_yaml_text(name));
        if (is_alias) mine = !strncmp(class->name, "level", 5);
        known = known || mine;
        if (!mine || (is_alias && class->given)) continue;
        if (decode(r, prefix, value, &fc_link_keys, class)) return r->st->code;
        if (class->bandwidth_bytes_per_s == 0) return FC_YAML_FAIL(&r->yaml, value, "%s: bandwidth is missing", prefix);
        class->given = true;
    }
    return known ? FC_OK : unknown_class(r, fc_yaml_text(name), fc_yaml_place(&r->yaml, name));
}

static enum fc_code decode_links(struct reader *r, yaml_node_t *top, yaml_node_t *links)
{
    struct fc_machine *m = r->machine;
    for (int aliases = 0; links && aliases < 2; aliases++)
        for (yaml_node_pair_t *p = links->data.mapping.pairs.start; p < links->data.mapping.pairs.top; p++)
            if (decode_class(r, fc_yaml_node(&r->yaml, p->key), fc_yaml_node(&r->yaml, p->value), aliases))
                return r->st->code;
    for (int c = 0; c < m->n_classes; c++)
        if (!m->classes[c].given)
            return FC_YAML_FAIL(&r->yaml, links ? links : top,
                                "links: class '%s' is missing (expected %s: {bandwidth: ..., latency: ...})",
                                m->classes[c].name, m->classes[c].name);
    return FC_OK;
}

/* router.ugal, a mapping within the router's. */
static enum fc_code decode_ugal(struct reader *r, yaml_node_t *router)
{
    struct fc_machine *m = r->machine;
    yaml_node_t *value = router ? (yaml_node_t *)fc_yaml_value(&r->yaml, router, "ugal") : NULL;
    m->router.ugal.threshold_flits = NAN;
    if (value && value->type != YAML_MAPPING_NODE)
        return FC_YAML_FAIL(&r->yaml, value,
                            "router.ugal: is not a mapping (expected ugal: {threshold: FLITS, weight: N, queue: local, "
                            "credits or both})");
    if (value && !fc_routing_find("ugal", m->family->name))
        return FC_YAML_FAIL(&r->yaml, value, "router.ugal: a %s network has no routing ugal", m->family->name);
    if (value) m->router.ugal.line = fc_yaml_place(&r->yaml, value).line;
    if (decode(r, "router.ugal", value, &fc_ugal_keys, m)) return r->st->code;
    const yaml_node_t *via = value ? fc_yaml_value(&r->yaml, value, "via") : NULL;
    if (via && !fc_machine_two_level(m))
        return FC_YAML_FAIL(&r->yaml, via,
                            "router.ugal.via: a %s network has no such choice (expected a two-level one)",
                            m->family->name);
    return FC_OK;
}

/* router.escape: the rules that count hops or make layers are not of every family; those of rings say nothing elsewhere. */
static enum fc_code check_escape(struct reader *r, const yaml_node_t *router)
{
    const struct fc_machine *m = r->machine;
    const char *name = fc_escape_names[m->router.escape];
    if (m->router.escape < FC_ESCAPE_HOPS) return FC_OK;
    for (const struct fc_vc_rule_ops *const *rule = fc_vc_rules; *rule; rule++)
        if (fc_serves((*rule)->families, m->family) && !strcmp((*rule)->name, name)) return FC_OK;
    const yaml_node_t *value = fc_yaml_value(&r->yaml, router, "escape");
    return FC_YAML_FAIL(&r->yaml, value, "router.escape: a %s network has no rule '%s' (graphs have it)",
                        m->family->name, name);
}

static enum fc_code check_packet(struct reader *r, yaml_node_t *packet)
{
    const struct fc_machine *m = r->machine;
    if (!packet) return FC_OK;
    if (m->packet.max_bytes == 0) return FC_YAML_FAIL(&r->yaml, packet, "packet.max is missing (the longest packet)");
    if (m->packet.header_bytes >= m->packet.max_bytes)
        return FC_YAML_FAIL(&r->yaml, packet, "packet.header: %g B leaves no payload in max %g B",
                            m->packet.header_bytes, m->packet.max_bytes);
    if (m->packet.min_bytes > m->packet.max_bytes)
        return FC_YAML_FAIL(&r->yaml, packet, "packet.min: %g B is more than max %g B", m->packet.min_bytes,
                            m->packet.max_bytes);
    return FC_OK;
}

static enum fc_code check_router(struct reader *r, yaml_node_t *router)
{
    const struct fc_router *own = &r->machine->router;
    if (own->bypass_s > own->delay_s)
        return FC_YAML_FAIL(&r->yaml, router, "router.bypass: %g s is longer than router.delay, %g s", own->bypass_s,
                            own->delay_s);
    if (!isnan(own->bypass_s) && own->vc_allocation == FC_VC_STAGE)
        return FC_YAML_FAIL(
            &r->yaml, router,
            "router.bypass: with a virtual-channel stage, which a head that bypasses would skip (expected "
            "vc_allocation: combined)");
    double flits = floor(own->injection_buffer_bytes / own->flit_bytes + 1e-9);
    if (flits > FC_MOST_INJECTION_FLITS)
        return FC_YAML_FAIL(&r->yaml, router,
                            "router.injection_buffer: %.15g B hold %.0f flits of %.15g B (expected at most %d flits)",
                            own->injection_buffer_bytes, flits, own->flit_bytes, FC_MOST_INJECTION_FLITS);
    return FC_OK;
}

static enum fc_code check_node(struct reader *r, yaml_node_t *node)
{
    const struct fc_reception *own = &r->machine->reception;
    struct fc_machine *m = r->machine;
    if (m->slow_hosts) m->slow_line = fc_yaml_place(&r->yaml, node).line;
    if (!m->slow_hosts != !(m->slow_overhead_s > 0))
        return FC_YAML_FAIL(&r->yaml, node, "node.%s: without node.%s nothing is slow (expected both or neither)",
                            m->slow_hosts ? "slow_hosts" : "slow_overhead",
                            m->slow_hosts ? "slow_overhead" : "slow_hosts");
    const char *key = own->packet_s > 0     ? "reception_time"
                      : own->per_byte_s > 0 ? "reception_per_byte"
                      : own->queues > 1     ? "reception_queues"
                                            : NULL;
    if (own->bytes > 0 || !key) return FC_OK;
    return FC_YAML_FAIL(&r->yaml, node,
                        "node.%s: without node.reception, the size of the queues, a node takes in everything at once",
                        key);
}

static enum fc_code check_software(struct reader *r, yaml_node_t *software)
{
    const struct fc_software *own = &r->machine->software;
    if (own->eager_beyond_bytes > 0 && own->eager_partners == 0)
        return FC_YAML_FAIL(&r->yaml, software,
                            "software.eager_beyond: without software.eager_partners every partner has eager buffers");
    if (own->eager_beyond_bytes > own->eager_bytes)
        return FC_YAML_FAIL(&r->yaml, software,
                            "software.eager_beyond: %.15g B are more than software.eager (expected at most %.15g B)",
                            own->eager_beyond_bytes, own->eager_bytes);
    return FC_OK;
}

static enum fc_code decode_top(struct reader *r, yaml_node_t *top)
{
    static const char *const sections[] = {"network",  "links", "router",   "packet", "node",
                                           "software", "nic",   "measured", "cost"};
    struct fc_machine *m = r->machine;
    if (!top || top->type != YAML_MAPPING_NODE)
        return fc_fail(r->st, FC_INPUT, (struct fc_place){m->file, 1},
                       "not a machine file (expected keys name:, network:, links:, ...)");
    if (fc_yaml_check_keys(&r->yaml, top, "") || fc_keys_preset(top_keys, FC_COUNT(top_keys), m, &m->arena, r->st))
        return r->st->code;
    m->port_bytes_per_s = m->memory_bytes_per_s = m->exchange_bytes_per_s = INFINITY;
    for (yaml_node_pair_t *p = top->data.mapping.pairs.start; p < top->data.mapping.pairs.top; p++) {
        yaml_node_t *name = fc_yaml_node(&r->yaml, p->key);
        bool is_section = false;
        for (size_t i = 0; i < FC_COUNT(sections); i++)
            is_section = is_section || !strcmp(fc_yaml_text(name), sections[i]);
        if (is_section) continue;
        const struct fc_key *key = fc_key_find(top_keys, FC_COUNT(top_keys), fc_yaml_text(name));
        if (!key) {
            struct fc_key all[FC_COUNT(top_keys) + FC_COUNT(sections)];
            memcpy(all, top_keys, sizeof top_keys);
            memset(all + FC_COUNT(top_keys), 0, sizeof all - sizeof top_keys);
            for (size_t i = 0; i < FC_COUNT(sections); i++) all[FC_COUNT(top_keys) + i].name = sections[i];
            return fc_key_unknown(all, FC_COUNT(all), fc_yaml_text(name), fc_yaml_place(&r->yaml, name), r->st);
        }
        if (!strcmp(key->name, "failed")) m->failed_line = fc_yaml_place(&r->yaml, name).line;
        if (!strncmp(key->name, "hosts", 5)) m->hosts_line = fc_yaml_place(&r->yaml, name).line;
        if (set_key(r, "", key, m, fc_yaml_node(&r->yaml, p->value))) return r->st->code;
    }
    if (!m->name || !*m->name) return fc_fail(r->st, FC_INPUT, (struct fc_place){m->file, 1}, "name: is missing");
    return FC_OK;
}

static enum fc_code decode_machine(struct reader *r)
{
    struct fc_machine *m = r->machine;
    struct fc_status *st = r->st;
    yaml_node_t *top = yaml_document_get_root_node(&r->yaml.document);
    yaml_node_t *network, *links, *router, *packet, *node = NULL, *software, *nic, *measured, *cost;
    if (decode_top(r, top)) return st->code;
    const yaml_node_t *kinds = fc_yaml_value(&r->yaml, top, "node");
    if (kinds && kinds->type != YAML_SEQUENCE_NODE) kinds = NULL;
    if (section(r, top, "network", &network) || section(r, top, "links", &links) ||
        section(r, top, "router", &router) || section(r, top, "packet", &packet) ||
        (!kinds && section(r, top, "node", &node)) || section(r, top, "software", &software) ||
        section(r, top, "nic", &nic) || section(r, top, "measured", &measured) || section(r, top, "cost", &cost))
        return st->code;
    m->nodes_per_router = 1;
    m->router.bypass_s = NAN;
    if (decode_network(r, top, network) || list_link_names(r, links)) return st->code;
    struct fc_place where = {m->file, m->network_line};
    if (m->family->check(m, where, st)) return point_at_key(r, network, "network");
    if (kinds && fc_node_kinds_decode(&r->yaml, kinds, m)) return st->code;
    struct fc_link_class *injection = &m->classes[m->n_classes++];
    *injection = (struct fc_link_class){.name = "injection", .bandwidth_bytes_per_s = INFINITY, .given = true};
    if (decode_links(r, top, links) || decode(r, "router", router, &fc_router_keys, m) || decode_ugal(r, router) ||
        (fc_multicast_check(m, st) && point_at_key(r, router, "router")) ||
        decode(r, "packet", packet, &fc_packet_keys, m) ||
        (check_packet(r, packet) && point_at_key(r, packet, "packet")) ||
        (check_router(r, router) && point_at_key(r, router, "router")) || decode(r, "node", node, &fc_node_keys, m) ||
        (check_node(r, node) && point_at_key(r, node, "node")) ||
        decode(r, "software", software, &fc_software_keys, m) ||
        (check_software(r, software) && point_at_key(r, software, "software")) ||
        decode(r, "nic", nic, &fc_nic_keys, m) || fc_measured_decode(&r->yaml, measured, m) ||
        fc_cost_decode(&r->yaml, cost, m))
        return st->code;
    for (uint32_t k = 0; k < m->kinds.n; k++)
        if (k == 0 || m->kinds.kind[k].cores > m->cores_per_node) m->cores_per_node = m->kinds.kind[k].cores;
    fc_node_kinds_most(m);
    for (uint32_t k = 0; k < m->kinds.n; k++)
        if (m->kinds.kind[k].link_class >= 0)
            m->classes[m->kinds.kind[k].link_class].latency_s = m->classes[m->n_classes - 1].latency_s;
    m->router.vcs_given = router && fc_yaml_value(&r->yaml, router, "vcs");
    m->router.buffer_given = router && fc_yaml_value(&r->yaml, router, "buffer");
    if (!m->router.buffer_given) m->router.buffer_bytes = fmax(m->router.buffer_bytes, fc_buffer_needed_bytes(m));
    if (nic) m->nic.line = (long)nic->start_mark.line + 1;
    if (nic && fc_nic_check(m, st)) return point_at_key(r, nic, "nic");
    if (check_escape(r, router)) return st->code;
    const yaml_node_t *routing = fc_yaml_value(&r->yaml, router, "routing");
    if (routing) where = fc_yaml_place(&r->yaml, routing);
    if (fc_machine_route(m, m->router.routing ? m->router.routing : fc_default_routing(m), st)) {
        if (!st->line) { /* the name came from this file */
            snprintf(st->file, sizeof st->file, "%s", m->file);
            st->line = where.line;
        }
        return st->code;
    }
    return FC_OK;
}

/* ---- a machine ---- */

/* The title says what was changed. */
static enum fc_code tell_changes(struct fc_machine *m, struct fc_status *st)
{
    if (!m->changes) return FC_OK;
    size_t size = strlen(m->title) + strlen(m->changes) + 16;
    char *title = fc_alloc(&m->arena, size, 1, st);
    if (title) snprintf(title, size, "%s%s(changed: %s)", m->title, *m->title ? " " : "", m->changes);
    m->title = title;
    return st->code;
}

/* Makes the changes in the document; the machine keeps their text. */
static enum fc_code change(struct reader *r, const char *const *settings, size_t n)
{
    const yaml_node_t *top = yaml_document_get_root_node(&r->yaml.document);
    size_t length = 1;
    if (n == 0 || !top || top->type != YAML_MAPPING_NODE) return FC_OK;
    for (size_t i = 0; i < n; i++) {
        if (fc_machine_set(&r->yaml.document, settings[i], i, r->st)) return r->st->code;
        length += strlen(settings[i]) + 2;
    }
    char *text = fc_alloc(&r->machine->arena, length, 1, r->st);
    for (size_t i = 0, at = 0; text && i < n; i++)
        at += (size_t)snprintf(text + at, length - at, "%s%s", i ? ", " : "", settings[i]);
    r->machine->changes = text;
    return r->st->code;
}

/* A refusal of what was set names the setting, not a line. */
static void name_setting(struct fc_status *st, const char *const *settings, size_t n)
{
    if (st->line <= FC_LINE_OF_SET) return;
    size_t number = (size_t)(st->line - FC_LINE_OF_SET) - 1;
    st->line = 0;
    if (number < n) snprintf(st->file, sizeof st->file, "--set %s", settings[number]);
}

static enum fc_code read_changed(const struct fc_text *text, const char *const *settings, size_t n_settings,
                                 struct fc_machine *machine, struct fc_status *st)
{
    struct reader r = {.machine = machine, .st = st};
    memset(machine, 0, sizeof *machine);
    machine->file = fc_copy_text(&machine->arena, text->file, st);
    enum fc_code code =
        machine->file ? fc_yaml_read(&r.yaml, text, machine->file, " (expected one machine a file)", st) : st->code;
    if (!code) {
        code = change(&r, settings, n_settings);
        if (!code) code = decode_machine(&r);
        if (!code) code = tell_changes(machine, st);
        fc_yaml_free(&r.yaml);
    }
    if (code) name_setting(st, settings, n_settings);
    if (code) fc_machine_free(machine);
    return code;
}

enum fc_code fc_machine_read(const struct fc_text *text, struct fc_machine *machine, struct fc_status *st)
{
    return read_changed(text, NULL, 0, machine, st);
}

enum fc_code fc_machine_load_changed(const char *name_or_path, const char *const *settings, size_t n_settings,
                                     struct fc_machine *machine, struct fc_status *st)
{
    char path[1200];
    struct fc_text text;
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    memset(machine, 0, sizeof *machine);
    if (!fc_machine_locate(name_or_path, path, sizeof path, &arena, st) && !fc_read_file(path, &arena, &text, st))
        read_changed(&text, settings, n_settings, machine, st);
    return st->code;
}

enum fc_code fc_machine_load(const char *name_or_path, struct fc_machine *machine, struct fc_status *st)
{
    return fc_machine_load_changed(name_or_path, NULL, 0, machine, st);
}

FC_FREES(fc_machine_free, fc_machine)

/* ---- routing by name ---- */

bool fc_serves(const char *const *families, const struct fc_family_ops *family)
{
    while (*families && strcmp(*families, family->name)) families++;
    return *families != NULL;
}

const struct fc_routing_ops *fc_routing_find(const char *name, const char *family)
{
    for (const struct fc_routing_ops *const *r = fc_routings; *r; r++)
        for (const char *const *f = (*r)->families; !strcmp((*r)->name, name) && *f; f++)
            if (!strcmp(*f, family)) return *r;
    return NULL;
}

enum fc_code fc_machine_route(struct fc_machine *machine, const char *routing, struct fc_status *st)
{
    if (!routing) return FC_OK;
    const struct fc_routing_ops *found = fc_routing_find(routing, machine->family->name);
    const char *lacks = found && found->lacks ? found->lacks(machine) : NULL;
    if (lacks) return fc_refuse(st, FC_INPUT, "routing '%s': %s", routing, lacks);
    if (found) {
        machine->routing = found;
        return FC_OK;
    }
    char known[256] = "";
    for (const struct fc_routing_ops *const *r = fc_routings; *r; r++)
        if (fc_serves((*r)->families, machine->family)) {
            size_t n = strlen(known);
            snprintf(known + n, sizeof known - n, "%s%s", n ? ", " : "", (*r)->name);
        }
    return fc_refuse(st, FC_INPUT, "a %s network cannot do routing '%s' (it can: %s)", machine->family->name, routing,
                     known);
}

/* ---- packets ---- */

double fc_wire_bytes(const struct fc_machine *machine, double bytes)
{
    const struct fc_packet *p = &machine->packet;
    if (p->max_bytes == 0) return bytes;
    double payload = p->max_bytes - p->header_bytes, full = floor(bytes / payload), rest = bytes - full * payload;
    double wire = full * (p->max_bytes + p->trailer_bytes);
    if (rest > 0 || full == 0) {
        double last = ceil((rest + p->header_bytes) / machine->router.flit_bytes) * machine->router.flit_bytes;
        if (last < p->min_bytes) last = p->min_bytes;
        wire += fmin(last, p->max_bytes) + p->trailer_bytes;
    }
    return wire;
}

enum fc_code fc_check_input_queues(const struct fc_machine *machine, const char *who, struct fc_status *st)
{
    if (machine->router.queues == FC_QUEUES_INPUT) return FC_OK;
    return fc_refuse(st, FC_INPUT,
                     "router.queues: output is for replays of traces; %s at inputs (expected router.queues: input)",
                     who);
}
