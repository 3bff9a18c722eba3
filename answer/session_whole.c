/* session_whole.c - a machine before anything is left out of it (session.c); nodes in texts go by its numbers. */
#include "answer/session.h"
#include "core/hostlist.h"
#include "models/hosts.h"

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
    for (uint32_t k = 0; q->ranks_per_node && k < machine->kinds.n;
         k++) /* those with fewer keep theirs: refused if used */
        if (machine->kinds.kind[k].cores > q->ranks_per_node) machine->kinds.kind[k].cores = q->ranks_per_node;
    return FC_OK;
}

static enum fc_code open_whole(const struct fc_question *q, const char *machine, struct fc_session *s,
                               struct fc_status *st)
{
    memset(s, 0, sizeof *s);
    if (!machine)
        return fc_refuse(st, FC_INPUT, "no machine (expected -m NAME or -m FILE; `fabricast machines` lists)");
    if (fc_machine_load_changed(machine, q->settings, q->n_settings, &s->machine, st)) return st->code;
    s->opened = fc_copy_text(&s->arena, machine, st);
    if (st->code || limit_ranks(q, &s->machine, st) ||
        (!q->without && !s->machine.failed && fc_machine_route(&s->machine, q->routing, st)) ||
        fc_network_build(&s->machine, &s->net, st))
        return st->code;
    return read_nodes(q, s, st);
}

enum fc_code fc_session_open_whole(const struct fc_question *q, const char *machine, struct fc_session *s,
                                   struct fc_status *st)
{
    if (open_whole(q, machine, s, st)) fc_session_close(s);
    return st->code;
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

enum fc_code fc_session_read_nodes(const struct fc_question *q, const struct fc_session *s, const char *text,
                                   struct fc_arena *arena, uint32_t **node, size_t *n, struct fc_status *st)
{
    FC_SCOPED(fc_session_close) struct fc_session whole = {0};
    if (!s->now) return fc_nodes_read(&s->net, text, 0, arena, node, n, st);
    if (fc_session_open_whole(q, s->opened, &whole, st)) return st->code;
    if (!fc_nodes_read(&whole.net, text, 0, arena, node, n, st))
        for (size_t i = 0; i < *n && !st->code; i++) {
            char name[FC_MOST_HOST_NAME + 32];
            uint32_t now = s->now[(*node)[i]];
            if (now == FC_NONE)
                fc_refuse(st, FC_INPUT, "%s is gone (failed, or by --without)",
                          fc_node_name(&whole.net, (*node)[i], name, sizeof name));
            (*node)[i] = now;
        }
    return st->code;
}
