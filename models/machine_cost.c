/* machine_cost.c - what a machine costs: section `cost:` of its file, prices in one currency of the reader's,
 *
 *     cost = switches * switch + sum over switches of their ports * port + sum over classes of cables * cable + nodes * node
 *
 * A switch is a router of the network, a port of it where a cable ends, a cable the two links (one each way) between two
 * vertices. The form of the models in design papers (Kim, Dally, Abts, ISCA 2007 and 2008: routers by their pins, cables by
 * their length, which is here what a class says). Limits: no floor plan, so no length but that of a class; no power. Cables
 * of the class `injection` count where the file gives it a bandwidth: without one the node sits on its router. */
#include "models/machine_keys.h"

#define IN(field) offsetof(struct fc_machine, cost.field)
#define PRICE(name, field, help)                                                                                       \
    {                                                                                                                  \
        name, FC_KEY_QUANTITY, FC_NUMBER, IN(field), 0, 1e15, NULL, "0", help                                          \
    }
static const struct fc_key cost_keys[] = {
    {"currency", FC_KEY_TEXT, FC_NUMBER, IN(currency), 0, 0, NULL, "", "a word: USD"},
    PRICE("switch", per_switch, "of a router, without its ports"),
    PRICE("port", per_port, "of a router's port where a cable ends"),
    PRICE("cable", per_cable, "of a cable (both ways) of a class without a price in `cables`"),
    PRICE("node", per_node, "of a node, or its part in the network"),
};
#undef PRICE
#undef IN
const struct fc_key_table fc_cost_keys = {cost_keys, FC_COUNT(cost_keys)};

static enum fc_code unknown_class(struct fc_yaml *yaml, const yaml_node_t *name, const struct fc_machine *m)
{
    char known[512] = "";
    for (int c = 0; c < m->n_classes; c++) {
        size_t n = strlen(known);
        snprintf(known + n, sizeof known - n, "%s%s", n ? ", " : "", m->classes[c].name);
    }
    return FC_YAML_FAIL(yaml, name, "cost.cables: this machine has no link class '%s' (it has: %s)", fc_yaml_text(name),
                        known);
}

static enum fc_code decode_cables(struct fc_yaml *yaml, const yaml_node_t *cables, struct fc_machine *m)
{
    if (cables->type != YAML_MAPPING_NODE)
        return FC_YAML_FAIL(yaml, cables, "cost.cables: is not a mapping (expected cables: {CLASS: PRICE, ...})");
    if (fc_yaml_check_keys(yaml, cables, "cost.cables")) return yaml->st->code;
    for (yaml_node_pair_t *p = cables->data.mapping.pairs.start; p < cables->data.mapping.pairs.top; p++) {
        const yaml_node_t *name = fc_yaml_node(yaml, p->key), *value = fc_yaml_node(yaml, p->value);
        char full[96];
        int class = 0;
        while (class < m->n_classes && strcmp(m->classes[class].name, fc_yaml_text(name))) class ++;
        if (class == m->n_classes) return unknown_class(yaml, name, m);
        snprintf(full, sizeof full, "cost.cables.%.60s", fc_yaml_text(name));
        const struct fc_key key = {full, FC_KEY_QUANTITY, FC_NUMBER, 0, 0, 1e15, NULL, NULL, ""};
        if (!fc_yaml_is_plain(value)) return FC_YAML_FAIL(yaml, value, "%s: expected a number", full);
        if (fc_key_set(&key, &m->cost.class_cable[class], fc_yaml_text(value), 0, &m->arena, fc_yaml_place(yaml, value),
                       yaml->st))
            return yaml->st->code;
    }
    return FC_OK;
}

enum fc_code fc_cost_decode(struct fc_yaml *yaml, const yaml_node_t *section, struct fc_machine *m)
{
    struct fc_key known[FC_COUNT(cost_keys) + 1] = {{0}};
    if (fc_keys_preset(cost_keys, FC_COUNT(cost_keys), m, &m->arena, yaml->st)) return yaml->st->code;
    for (int c = 0; c < FC_MAX_CLASSES; c++) m->cost.class_cable[c] = NAN;
    if (!section) return FC_OK;
    m->cost.line = (long)section->start_mark.line + 1;
    memcpy(known, cost_keys, sizeof cost_keys);
    known[FC_COUNT(cost_keys)].name = "cables";
    if (fc_yaml_check_keys(yaml, section, "cost")) return yaml->st->code;
    for (yaml_node_pair_t *p = section->data.mapping.pairs.start; p < section->data.mapping.pairs.top; p++) {
        const yaml_node_t *name = fc_yaml_node(yaml, p->key), *value = fc_yaml_node(yaml, p->value);
        const struct fc_key *found = fc_key_find(cost_keys, FC_COUNT(cost_keys), fc_yaml_text(name));
        char full[96];
        if (!strcmp(fc_yaml_text(name), "cables")) {
            if (decode_cables(yaml, value, m)) return yaml->st->code;
            continue;
        }
        if (!found)
            return fc_key_unknown(known, FC_COUNT(known), fc_yaml_text(name), fc_yaml_place(yaml, name), yaml->st);
        snprintf(full, sizeof full, "cost.%s", found->name);
        struct fc_key key = *found;
        key.name = full;
        if (!fc_yaml_is_plain(value)) return FC_YAML_FAIL(yaml, value, "%s: expected one value", full);
        if (fc_key_set(&key, m, fc_yaml_text(value), 0, &m->arena, fc_yaml_place(yaml, value), yaml->st))
            return yaml->st->code;
    }
    return FC_OK;
}

void fc_network_cost(const struct fc_network *net, struct fc_network_cost *out)
{
    const struct fc_machine *m = net->machine;
    const struct fc_cost *price = &m->cost;
    *out = (struct fc_network_cost){.total = NAN};
    for (uint32_t l = 0; l < net->n_links; l++) {
        int class = net->link_class[l];
        if (class == fc_injection_class(m) && isinf(m->classes[class].bandwidth_bytes_per_s)) continue;
        out->cables[class] += 0.5;
        out->ports += !fc_is_node(net, net->link_source[l]);
    }
    out->switches = net->n_routers;
    out->nodes = net->n_nodes;
    for (int c = 0; c < m->n_classes; c++)
        out->cables_cost += out->cables[c] * (isnan(price->class_cable[c]) ? price->per_cable : price->class_cable[c]);
    out->switches_cost = out->switches * price->per_switch + out->ports * price->per_port;
    out->nodes_cost = out->nodes * price->per_node;
    if (price->line) out->total = out->switches_cost + out->cables_cost + out->nodes_cost;
}
