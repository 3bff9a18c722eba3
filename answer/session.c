/* session.c - a machine with its network, as a question asks for it. */
#include "answer/session.h"
#include "models/hosts.h"
#include "solvers/calibration/family.h"

#include <string.h>
#include <unistd.h>

/* Without --nodes: all of them, in the family's order where it has one. */
static enum fc_code order_nodes(struct fc_session *s, struct fc_status *st)
{
    const struct fc_family_ops *family = s->net.machine->family;
    if (!family->order) return FC_OK;
    uint32_t *node = fc_alloc(&s->arena, s->net.n_nodes, sizeof *node, st);
    if (!node) return st->code;
    if (family->order(&s->net, node)) s->nodes = node, s->n_nodes = s->net.n_nodes;
    return FC_OK;
}

/* --hosts: one a node of the machine, or one for each of the allowed nodes in their order. */
static enum fc_code name_hosts(const struct fc_question *q, struct fc_session *s, struct fc_status *st)
{
    const char **host;
    char file[FILENAME_MAX + 2];
    uint32_t n;
    snprintf(file, sizeof file, "@%s", q->hosts);
    bool named = *q->hosts != '@' && access(q->hosts, F_OK) == 0; /* a file without the @ */
    struct fc_status why = {0};
    if (fc_hosts_read(named ? file : q->hosts, &s->arena, &host, &n, &why)) {
        if (*why.file) return fc_fail(st, why.code, (struct fc_place){why.file, why.line}, "%s", why.message);
        return fc_refuse(st, why.code, "--hosts: %s", why.message);
    }
    if (n == s->net.n_nodes) {
        s->net.host_name = host;
        return q->nodes ? fc_nodes_read(&s->net, q->nodes, q->nodes_line, &s->arena, &s->nodes, &s->n_nodes, st)
                        : order_nodes(s, st);
    }
    if (q->nodes && fc_nodes_read(&s->net, q->nodes, q->nodes_line, &s->arena, &s->nodes, &s->n_nodes, st))
        return st->code;
    if (!q->nodes || n != s->n_nodes)
        return fc_refuse(st, FC_INPUT, "--hosts: %u hosts (expected one for each of the machine's %u nodes%s)", n,
                         s->net.n_nodes,
                         q->nodes ? ", or of the nodes that --nodes lists" : "; --nodes tells which they are");
    s->net.host_name = fc_alloc(&s->arena, s->net.n_nodes, sizeof *s->net.host_name, st);
    for (uint32_t i = 0; s->net.host_name && i < n; i++) s->net.host_name[s->nodes[i]] = host[i];
    return st->code;
}

static enum fc_code read_nodes(const struct fc_question *q, struct fc_session *s, struct fc_status *st)
{
    if (q->hosts) return name_hosts(q, s, st);
    if (!q->nodes) return order_nodes(s, st);
    return fc_nodes_read(&s->net, q->nodes, q->nodes_line, &s->arena, &s->nodes, &s->n_nodes, st);
}

static enum fc_code limit_ranks(const struct fc_question *q, struct fc_machine *machine, struct fc_status *st)
{
    if (q->ranks_per_node > machine->cores_per_node)
        return fc_refuse(st, FC_INPUT, "--ranks-per-node: %d are more than a node of %s holds (%lld)",
                         q->ranks_per_node, machine->name, machine->cores_per_node);
    if (q->ranks_per_node) machine->cores_per_node = q->ranks_per_node;
    return FC_OK;
}

enum fc_code fc_session_open(const struct fc_question *q, const char *machine, struct fc_session *s,
                             struct fc_status *st)
{
    memset(s, 0, sizeof *s);
    if (!machine)
        return fc_refuse(st, FC_INPUT, "no machine (expected -m NAME or -m FILE; `fabricast machines` lists)");
    if (fc_machine_load_changed(machine, q->settings, q->n_settings, &s->machine, st)) return st->code;
    if (limit_ranks(q, &s->machine, st) || fc_machine_route(&s->machine, q->routing, st) ||
        fc_network_build(&s->machine, &s->net, st) || read_nodes(q, s, st) || fc_session_background(q, s, st)) {
        fc_session_close(s);
        return st->code;
    }
    return FC_OK;
}

enum fc_code fc_session_calibrate(struct fc_session *s, const struct fc_bulk **bulk, struct fc_status *st)
{
    *bulk = s->calibrated ? &s->calibration.phases : NULL;
    if (s->calibrated) return FC_OK; /* found before */
    if (fc_calibration_of(&s->net, &s->calibration, &s->calibrated, &s->misfit, st)) return st->code;
    if (s->calibrated) *bulk = &s->calibration.phases;
    return FC_OK;
}

void fc_session_close(struct fc_session *s)
{
    if (s->calibrated) fc_calibration_free(&s->calibration);
    fc_background_free(&s->background);
    if (s->other.first_event) fc_trace_free(&s->other);
    fc_network_free(&s->net);
    fc_machine_free(&s->machine);
    fc_arena_free(&s->arena);
}

enum fc_code fc_split_list(const char *text, struct fc_arena *arena, const char ***items, size_t *n,
                           struct fc_status *st)
{
    size_t count = 1;
    for (const char *c = text; *c; c++) count += *c == ',';
    char *copy = fc_copy_text(arena, text, st);
    *items = fc_alloc(arena, count, sizeof **items, st);
    *n = 0;
    if (!copy || !*items) return st->code;
    for (char *at = copy; at;) {
        char *comma = strchr(at, ',');
        /* "bsm:node=4x4,drawer=8x8" is one item */
        while (comma && comma[1 + strspn(comma + 1, "abcdefghijklmnopqrstuvwxyz")] == '=')
            comma = strchr(comma + 1, ',');
        if (comma) *comma = 0;
        if (*at == 0) return fc_refuse(st, FC_INPUT, "'%s': an empty name in the list", text);
        (*items)[(*n)++] = at;
        at = comma ? comma + 1 : NULL;
    }
    return FC_OK;
}
