/* machine_measured.c - section `measured:` of a machine file: how far predictions with its end points were off where the machine
 * itself was measured. `calibrate --measured` writes it (solvers/calibration/measured_error.c uses it).
 *
 *     measured:
 *       source: where the rows are from
 *       widen: 1.1                                     # errors are stated so many times as wide as the rows say
 *       rows: [[allreduce, 16, 1, 65536, 1.08], ...]   # operation, nodes, ranks a node, bytes, measured / predicted time */
#include "models/machine_keys.h"

#include <stdlib.h>

enum { FIELDS = 5, MOST_ROWS = 20000 };

static enum fc_code wrong(struct fc_yaml *yaml, const yaml_node_t *node, const char *what)
{
    return FC_YAML_FAIL(yaml, node, "measured.%s", what);
}

static bool read_number(const yaml_node_t *node, double *value)
{
    char *end;
    if (!fc_yaml_is_plain(node)) return false;
    *value = strtod(fc_yaml_text(node), &end);
    return !*end && end != fc_yaml_text(node) && isfinite(*value) && *value > 0;
}

static enum fc_code read_row(struct fc_yaml *yaml, const yaml_node_t *node, struct fc_machine *m)
{
    struct fc_measured_case *c = &m->measured.cases[m->measured.n];
    double *values[FIELDS] = {NULL, &c->nodes, &c->ranks_per_node, &c->bytes, &c->ratio};
    bool good = fc_yaml_count(node) == FIELDS;
    for (int i = 0; good && i < FIELDS; i++) {
        const yaml_node_t *item = fc_yaml_item(yaml, node, i);
        good = values[i] ? read_number(item, values[i]) : fc_yaml_is_plain(item);
        if (good && i == 0) c->collective = fc_copy_text(&m->arena, fc_yaml_text(item), yaml->st);
    }
    if (!good)
        return wrong(
            yaml, node,
            "rows: a row is [operation, nodes, ranks a node, bytes, measured / predicted time], numbers above 0");
    m->measured.n++;
    return yaml->st->code;
}

enum fc_code fc_measured_decode(struct fc_yaml *yaml, const yaml_node_t *section, struct fc_machine *m)
{
    m->measured.widen = 1;
    if (!section) return FC_OK;
    if (fc_yaml_check_keys(yaml, section, "measured")) return yaml->st->code;
    for (yaml_node_pair_t *p = section->data.mapping.pairs.start; p < section->data.mapping.pairs.top; p++) {
        const yaml_node_t *key = fc_yaml_node(yaml, p->key), *value = fc_yaml_node(yaml, p->value);
        if (!strcmp(fc_yaml_text(key), "source")) {
            if (!fc_yaml_is_plain(value)) return wrong(yaml, value, "source: expected a text");
            m->measured.source = fc_copy_text(&m->arena, fc_yaml_text(value), yaml->st);
        } else if (!strcmp(fc_yaml_text(key), "widen")) {
            if (!read_number(value, &m->measured.widen)) return wrong(yaml, value, "widen: expected a number above 0");
        } else if (!strcmp(fc_yaml_text(key), "rows")) {
            long n = fc_yaml_count(value);
            if (n < 1 || n > MOST_ROWS) return wrong(yaml, value, "rows: expected a list of 1 to 20000 rows");
            m->measured.cases = fc_alloc(&m->arena, n, sizeof *m->measured.cases, yaml->st);
            for (long i = 0; m->measured.cases && i < n && !yaml->st->code; i++)
                read_row(yaml, fc_yaml_item(yaml, value, i), m);
        } else {
            return FC_YAML_FAIL(yaml, key, "measured.%s: is unknown (known: source, widen, rows)", fc_yaml_text(key));
        }
        if (yaml->st->code) return yaml->st->code;
    }
    return FC_OK;
}
