/* node_kinds.c - nodes that differ in cores, speed, injection, ports and memory:
 *
 *     node: [{hosts: "gpu[00-15]", cores: 8, compute_scale: 0.5, injection: 50 GB/s}, {cores: 64}]
 *
 * `hosts` are nodes as --nodes names them; one entry without are all others. Every key but `hosts` has the default of a machine of one
 * kind of nodes. What is between two nodes (exchange_*) or for the kernel alone (reception*) is not a kind's and is refused. A kind's own injection is a link class of its own, before the class `injection`. Limits: 16 kinds; injection only
 * in families whose nodes hang on links of class `injection`. */
#include "models/node_kinds.h"
#include "models/hosts.h"
#include "models/machine_keys.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_KINDS = 16 };

#define IN(field) offsetof(struct fc_node_kind, field)
static const struct fc_key keys[] = {
    {"hosts", FC_KEY_TEXT, FC_NUMBER, IN(hosts), 0, 0, NULL, NULL,
     "the nodes, as --nodes names them; left out: all others"},
    {"cores", FC_KEY_INT, FC_NUMBER, IN(cores), 1, 1 << 20, NULL, "1", "tasks that one of them can hold"},
    {"compute_scale", FC_KEY_QUANTITY, FC_NUMBER, IN(compute_scale), 1e-6, 1e6, NULL, "1.0",
     "computation there takes so many times as long"},
    {"injection", FC_KEY_QUANTITY, FC_BYTES_PER_S, IN(injection_bytes_per_s), 1, 1e18, NULL, NULL,
     "bandwidth of a node's links; left out: that of links.injection"},
    {"ports", FC_KEY_INT, FC_NUMBER, IN(ports), 1, 64, NULL, "1",
     "interfaces of a node; a message goes through one of them"},
    {"port_bandwidth", FC_KEY_QUANTITY, FC_BYTES_PER_S, IN(port_bytes_per_s), 1, 1e18, NULL, NULL,
     "of one of them; left out: no limit"},
    {"port_sides", FC_KEY_INT, FC_NUMBER, IN(port_sides), 1, 2, NULL, "1",
     "a long message that one of them sends crosses a port of its receiver (1), or one of its own too (2)"},
    {"memory_bandwidth", FC_KEY_QUANTITY, FC_BYTES_PER_S, IN(memory_bytes_per_s), 1, 1e18, NULL, NULL,
     "of all messages within a node together; left out: no limit"},
};
#undef IN

/* A scalar, or of a list its items with commas between them. */
static const char *value_text(struct fc_yaml *yaml, const yaml_node_t *value, const char *key, struct fc_machine *m)
{
    if (fc_yaml_is_plain(value)) return fc_yaml_text(value);
    size_t size = 1, n = 0;
    bool list = value->type == YAML_SEQUENCE_NODE && !strcmp(key, "hosts");
    int count = list ? (int)fc_yaml_count(value) : 0;
    for (int i = 0; list && i < count; i++) {
        const yaml_node_t *item = fc_yaml_item(yaml, value, i);
        list = fc_yaml_is_plain(item);
        if (list) size += strlen(fc_yaml_text(item)) + 1;
    }
    char *text = list && count ? fc_alloc(&m->arena, size, 1, yaml->st) : NULL;
    if (!text && !yaml->st->code)
        FC_YAML_FAIL(yaml, value, "node.%s: expected %s", key,
                     strcmp(key, "hosts") ? "one value" : "a host list, or a list of them");
    for (int i = 0; text && i < count; i++)
        n += (size_t)snprintf(text + n, size - n, "%s%s", i ? "," : "", fc_yaml_text(fc_yaml_item(yaml, value, i)));
    return text;
}

static enum fc_code decode_kind(struct fc_yaml *yaml, const yaml_node_t *item, struct fc_node_kind *kind,
                                struct fc_machine *m)
{
    if (item->type != YAML_MAPPING_NODE)
        return FC_YAML_FAIL(yaml, item,
                            "node: expected a list of {hosts: LIST, cores: N, compute_scale: X, injection: RATE, "
                            "ports: N, port_bandwidth: RATE, memory_bandwidth: RATE}");
    if (fc_yaml_check_keys(yaml, item, "node") || fc_keys_preset(keys, FC_COUNT(keys), kind, &m->arena, yaml->st))
        return yaml->st->code;
    kind->line = fc_yaml_place(yaml, item).line;
    kind->link_class = -1;
    kind->port_bytes_per_s = kind->memory_bytes_per_s = INFINITY;
    for (yaml_node_pair_t *p = item->data.mapping.pairs.start; p < item->data.mapping.pairs.top; p++) {
        const yaml_node_t *name = fc_yaml_node(yaml, p->key), *value = fc_yaml_node(yaml, p->value);
        const struct fc_key *key = fc_key_find(keys, FC_COUNT(keys), fc_yaml_text(name));
        if (!key && fc_key_find(fc_node_keys.keys, fc_node_keys.n, fc_yaml_text(name)))
            return FC_YAML_FAIL(yaml, name,
                                "node.%s: cannot differ from node to node (node: {...} of all nodes takes it)",
                                fc_yaml_text(name));
        if (!key) return fc_key_unknown(keys, FC_COUNT(keys), fc_yaml_text(name), fc_yaml_place(yaml, name), yaml->st);
        char full[64];
        struct fc_key named = *key;
        snprintf(full, sizeof full, "node.%s", key->name);
        named.name = full;
        const char *text = value_text(yaml, value, key->name, m);
        if (!text || fc_key_set(&named, kind, text, m->clock_hz, &m->arena, fc_yaml_place(yaml, value), yaml->st))
            return yaml->st->code;
    }
    return FC_OK;
}

static enum fc_code add_class(struct fc_machine *m, uint32_t number, struct fc_place where, struct fc_status *st)
{
    struct fc_node_kind *kind = &m->kinds.kind[number];
    if (kind->injection_bytes_per_s == 0) return FC_OK;
    if (m->n_classes >= FC_MAX_CLASSES - 1)
        return fc_fail(st, FC_INPUT, where, "node.injection: one kind of link too many (at most %d)",
                       FC_MAX_CLASSES - 1);
    struct fc_link_class *class = &m->classes[m->n_classes];
    *class = (struct fc_link_class){.bandwidth_bytes_per_s = kind->injection_bytes_per_s, .given = true};
    snprintf(class->name, sizeof class->name, "injection%u", number + 1);
    kind->link_class = m->n_classes++;
    return FC_OK;
}

enum fc_code fc_node_kinds_decode(struct fc_yaml *yaml, const yaml_node_t *list, struct fc_machine *m)
{
    size_t n = (size_t)fc_yaml_count(list);
    long rest = 0;
    if (n < 1 || n > MOST_KINDS)
        return FC_YAML_FAIL(yaml, list, "node: %zu kinds of nodes (expected 1 to %d)", n, MOST_KINDS);
    m->kinds.kind = fc_alloc(&m->arena, n, sizeof *m->kinds.kind, yaml->st);
    for (size_t i = 0; m->kinds.kind && i < n && !yaml->st->code; i++) {
        const yaml_node_t *item = fc_yaml_item(yaml, list, i);
        struct fc_node_kind *kind = &m->kinds.kind[i];
        if (decode_kind(yaml, item, kind, m) || add_class(m, (uint32_t)i, fc_yaml_place(yaml, item), yaml->st)) break;
        if (!kind->hosts && rest)
            return FC_YAML_FAIL(yaml, item,
                                "node.hosts: is missing (the nodes that are left are of the kind on line %ld)", rest);
        if (!kind->hosts) rest = kind->line;
        m->kinds.n++;
    }
    return yaml->st->code;
}

void fc_node_kinds_most(struct fc_machine *m)
{
    for (uint32_t k = 0; k < m->kinds.n; k++) {
        const struct fc_node_kind *kind = &m->kinds.kind[k];
        if (k == 0) {
            m->ports = kind->ports;
            m->port_sides = kind->port_sides;
            m->port_bytes_per_s = kind->port_bytes_per_s;
            m->memory_bytes_per_s = kind->memory_bytes_per_s;
        }
        if (kind->ports > m->ports) m->ports = kind->ports;
        if (kind->port_sides > m->port_sides) m->port_sides = kind->port_sides;
        m->port_bytes_per_s = fmax(m->port_bytes_per_s, kind->port_bytes_per_s);
        m->memory_bytes_per_s = fmax(m->memory_bytes_per_s, kind->memory_bytes_per_s);
    }
}

/* ---- nodes ---- */

/* The nodes that the text names, in the scratch memory; what is wrong is of the key, at `where` or in the file that it names. */
static enum fc_code read_hosts(const struct fc_network *net, const char *text, struct fc_place where, const char *key,
                               struct fc_arena *scratch, uint32_t **node, size_t *n, struct fc_status *st)
{
    struct fc_status why = {0};
    if (!fc_nodes_read(net, text, 0, scratch, node, n, &why)) return FC_OK;
    const char *message = strncmp(why.message, "--nodes: ", 9) ? why.message : why.message + 9;
    if (*why.file) return fc_fail(st, why.code, (struct fc_place){why.file, why.line}, "%s", message);
    return fc_fail(st, why.code, where, "node.%s: %s", key, message);
}

static enum fc_code assign_hosts(struct fc_network *net, uint32_t number, struct fc_arena *scratch,
                                 struct fc_status *st)
{
    const struct fc_machine *m = net->machine;
    const struct fc_node_kind *kind = &m->kinds.kind[number];
    struct fc_place where = {m->file, kind->line};
    uint32_t *node;
    size_t n;
    char name[300];
    if (read_hosts(net, kind->hosts, where, "hosts", scratch, &node, &n, st)) return st->code;
    for (size_t i = 0; i < n; i++) {
        if (net->node_kind[node[i]] != UINT8_MAX && net->node_kind[node[i]] != number)
            return fc_fail(st, FC_INPUT, where, "node.hosts: %s is of the kind on line %ld already",
                           fc_node_name(net, node[i], name, sizeof name), m->kinds.kind[net->node_kind[node[i]]].line);
        net->node_kind[node[i]] = (uint8_t)number;
    }
    return FC_OK;
}

/* Both directions of a node's links of class `injection`. */
static enum fc_code give_class(struct fc_network *net, uint32_t node, struct fc_status *st)
{
    const struct fc_machine *m = net->machine;
    const struct fc_node_kind *kind = &m->kinds.kind[net->node_kind[node]];
    uint32_t v = fc_node_vertex(net, node);
    if (kind->link_class < 0) return FC_OK;
    for (uint32_t l = net->first_link[v]; l < net->first_link[v + 1]; l++) {
        uint32_t router = net->link_target[l];
        if (net->link_class[l] != fc_injection_class(m))
            return fc_fail(st, FC_INPUT, (struct fc_place){m->file, kind->line},
                           "node.injection: nodes of this %s hang on its links '%s' (give those the bandwidth)",
                           m->family->name, m->classes[net->link_class[l]].name);
        net->link_class[l] = (uint8_t)kind->link_class;
        for (uint32_t k = net->first_link[router]; k < net->first_link[router + 1]; k++)
            if (net->link_target[k] == v) net->link_class[k] = (uint8_t)kind->link_class;
    }
    return FC_OK;
}

static enum fc_code assign_slow(struct fc_network *net, struct fc_status *st)
{
    const struct fc_machine *m = net->machine;
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    uint32_t *node;
    size_t n;
    if (!m->slow_hosts && !m->slow_of_node) return FC_OK;
    if (!(net->node_slow = fc_alloc(&net->arena, net->n_nodes, sizeof *net->node_slow, st))) return st->code;
    if (m->slow_of_node) {
        memcpy(net->node_slow, m->slow_of_node, net->n_nodes * sizeof *net->node_slow);
        return FC_OK;
    }
    if (read_hosts(net, m->slow_hosts, (struct fc_place){m->file, m->slow_line}, "slow_hosts", &scratch, &node, &n, st))
        return st->code;
    for (size_t i = 0; i < n; i++) net->node_slow[node[i]] = 1;
    return FC_OK;
}

enum fc_code fc_node_kinds_assign(struct fc_network *net, struct fc_status *st)
{
    const struct fc_machine *m = net->machine;
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    uint32_t rest = FC_NONE;
    char name[300];
    if (assign_slow(net, st) || m->kinds.n == 0) return st->code;
    net->node_kind = fc_alloc(&net->arena, net->n_nodes, sizeof *net->node_kind, st);
    if (!net->node_kind) return st->code;
    if (m->kinds.of_node) { /* links have their classes */
        memcpy(net->node_kind, m->kinds.of_node, net->n_nodes * sizeof *net->node_kind);
        return FC_OK;
    }
    memset(net->node_kind, 0xff, net->n_nodes * sizeof *net->node_kind);
    for (uint32_t k = 0; k < m->kinds.n && !st->code; k++) {
        if (!m->kinds.kind[k].hosts)
            rest = k;
        else
            assign_hosts(net, k, &scratch, st);
    }
    for (uint32_t n = 0; n < net->n_nodes && !st->code; n++) {
        if (net->node_kind[n] == UINT8_MAX && rest == FC_NONE)
            fc_fail(st, FC_INPUT, (struct fc_place){m->file, m->kinds.kind[0].line},
                    "node: %s is of no kind (expected it among the hosts, or a kind without hosts)",
                    fc_node_name(net, n, name, sizeof name));
        if (net->node_kind[n] == UINT8_MAX) net->node_kind[n] = (uint8_t)rest;
        if (!st->code) give_class(net, n, st);
    }
    return st->code;
}
