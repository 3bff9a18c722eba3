/* machine_cost.c - what a machine costs: section `cost:` of its file, prices in one currency of the reader's,
 *
 *     cost = switches * switch + sum over switches of their ports * port + sum over cables of its price + nodes * node
 *     price of a cable = node_cable, if given, of one to a node; that of its class, if given; else
 *                        cable + cable_per_metre * m,              without a floor plan or up to the length `reach`
 *                        optical + optical_per_metre * m           beyond, where either is given
 *
 * A switch is a router of the network, a port of it where a cable ends, a cable the two links (one each way) between two
 * vertices, m its length in a floor plan (mapping/floor_plan.c). The form of the models in design papers (Kim, Dally & Abts, ISCA
 * 2007; Kim, Dally, Scott & Abts, ISCA 2008; Besta & Hoefler, SC14): routers by their pins, cables by a line over their length,
 * one for electrical ones and one for optical. Presets of racks, and of cable beyond the way, are those of the layout tools of
 * Fujiwara, Koibuchi et al. (0.6 m x 2.1 m with the aisle, 2 m within a rack, 4 m more between racks); of `reach` Abts & Kim, High
 * Performance Datacenter Networks (2011), chapter 7: short cables, which need no optics, are those below 5 m. Limits: no power, no price by bandwidth but
 * by class. Cables of the class `injection` count where the file gives it a bandwidth: without one the node sits on its router. */
#include "models/machine_keys.h"

#define IN(field) offsetof(struct fc_machine, cost.field)
#define PRICE(name, field, help)                                                                                       \
    {                                                                                                                  \
        name, FC_KEY_QUANTITY, FC_NUMBER, IN(field), 0, 1e15, NULL, "0", help                                          \
    }
#define LENGTH(name, field, low, preset, help)                                                                         \
    {                                                                                                                  \
        name, FC_KEY_QUANTITY, FC_METRES, IN(field), low, 1000, NULL, preset, help                                     \
    }
#define NUMBER(name, field, low, preset, help)                                                                         \
    {                                                                                                                  \
        name, FC_KEY_INT, FC_NUMBER, IN(field), low, 1e6, NULL, preset, help                                           \
    }
static const struct fc_key cost_keys[] = {
    {"currency", FC_KEY_TEXT, FC_NUMBER, IN(currency), 0, 0, NULL, "", "a word: USD"},
    PRICE("switch", per_switch, "of a router, without its ports"),
    PRICE("port", per_port, "of a router's port where a cable ends"),
    PRICE("cable", per_cable, "of a cable (both ways) of a class without a price in `cables`"),
    PRICE("node", per_node, "of a node, or its part in the network"),
    {"node_cable", FC_KEY_QUANTITY, FC_NUMBER, IN(per_node_cable), 0, 1e15, NULL, NULL,
     "of a cable to a node, of any class; default: as all cables"},
    PRICE("cable_per_metre", per_metre, "of a metre of such a cable; needs rack_nodes"),
    PRICE("optical", per_optical, "of such a cable longer than reach; needs rack_nodes"),
    PRICE("optical_per_metre", per_optical_metre, "of a metre of those; needs rack_nodes"),
    LENGTH("reach", reach_m, 0, "5", "the longest electrical cable, where optical ones have a price"),
    NUMBER("rack_nodes", rack_nodes, 0, "0", "nodes in a rack: makes a floor plan, and cables have lengths; 0: none"),
    NUMBER("rack_switches", rack_switches, 1, "32", "routers without nodes in a rack"),
    LENGTH("rack_width", rack_width_m, 0.01, "0.6", "from a rack to the one beside it"),
    LENGTH("rack_depth", rack_depth_m, 0.01, "2.1", "from a rack to the one behind it, with the aisle"),
    LENGTH("rack_cable", rack_cable_m, 0, "2", "length of a cable within a rack"),
    LENGTH("rack_slack", rack_slack_m, 0, "4", "of a cable between racks, beyond the way along rows and columns"),
};
#undef NUMBER
#undef LENGTH
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
    m->cost.per_node_cable = NAN;
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
    const struct fc_cost *cost = &m->cost;
    if (cost->rack_nodes == 0 && (cost->per_metre > 0 || cost->per_optical > 0 || cost->per_optical_metre > 0))
        return FC_YAML_FAIL(yaml, section,
                            "cost: prices by length without a floor plan (expected rack_nodes: nodes in a rack)");
    return FC_OK;
}

/* ---- what a network costs ---- */

/* Rack of a router, or of a node, which stands with its first router. */
static uint32_t rack_of(const struct fc_network *net, const struct fc_floor_plan *plan, uint32_t vertex)
{
    if (fc_is_node(net, vertex)) vertex = net->link_target[net->first_link[vertex]];
    return plan->router_rack[vertex];
}

double fc_cable_length_m(const struct fc_network *net, const struct fc_floor_plan *plan, uint32_t l)
{
    const struct fc_cost *cost = &net->machine->cost;
    uint32_t a = rack_of(net, plan, net->link_source[l]), b = rack_of(net, plan, net->link_target[l]);
    if (a == b) return cost->rack_cable_m;
    double columns = fabs((double)(a % plan->columns) - (double)(b % plan->columns));
    double rows = fabs((double)(a / plan->columns) - (double)(b / plan->columns));
    return cost->rack_slack_m + columns * cost->rack_width_m + rows * cost->rack_depth_m;
}

/* Adds one way of a cable. */
static void add_cable(const struct fc_network *net, const struct fc_floor_plan *plan, uint32_t l,
                      struct fc_network_cost *out)
{
    const struct fc_cost *price = &net->machine->cost;
    int class = net->link_class[l];
    double one = price->per_cable;
    out->cables[class] += 0.5;
    if (plan->n_racks) {
        double m = fc_cable_length_m(net, plan, l);
        bool optical = (price->per_optical > 0 || price->per_optical_metre > 0) && m > price->reach_m;
        one = optical ? price->per_optical + m * price->per_optical_metre : price->per_cable + m * price->per_metre;
        out->cables_m += m / 2;
        out->longest_m = fmax(out->longest_m, m);
        out->optical += 0.5 * optical;
    }
    if (!isnan(price->class_cable[class])) one = price->class_cable[class];
    bool to_node = !fc_is_between_routers(net, l);
    if (to_node && !isnan(price->per_node_cable)) one = price->per_node_cable;
    out->cables_cost += one / 2;
}

void fc_network_cost(const struct fc_network *net, const struct fc_floor_plan *plan, struct fc_network_cost *out)
{
    const struct fc_machine *m = net->machine;
    const struct fc_cost *price = &m->cost;
    double none = plan->n_racks ? 0 : NAN;
    *out = (struct fc_network_cost){.total = NAN, .cables_m = none, .longest_m = none, .optical = none};
    for (uint32_t l = 0; l < net->n_links; l++) {
        int class = net->link_class[l];
        if (class == fc_injection_class(m) && isinf(m->classes[class].bandwidth_bytes_per_s)) continue;
        out->ports += !fc_is_node(net, net->link_source[l]);
        add_cable(net, plan, l, out);
    }
    out->racks = none + plan->n_racks;
    out->switches = net->n_routers;
    out->nodes = net->n_nodes;
    out->switches_cost = out->switches * price->per_switch + out->ports * price->per_port;
    out->nodes_cost = out->nodes * price->per_node;
    if (price->line) out->total = out->switches_cost + out->cables_cost + out->nodes_cost;
}
