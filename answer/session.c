/* session.c - a machine with its network, as a question asks for it. */
#include "answer/session.h"
#include "core/hostlist.h"
#include "models/hosts.h"
#include "models/machine_without.h"
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
    for (uint32_t k = 0; q->ranks_per_node && k < machine->kinds.n;
         k++) /* those with fewer keep theirs: refused if used */
        if (machine->kinds.kind[k].cores > q->ranks_per_node) machine->kinds.kind[k].cores = q->ranks_per_node;
    return FC_OK;
}

/* The nodes that may be used, as they are numbered now; those that are gone are left out, or refused where the question
 * names them. */
static enum fc_code keep_nodes(const struct fc_question *q, struct fc_session *s, const uint32_t *now,
                               struct fc_status *st)
{
    uint32_t n_before = s->net.n_nodes, *node = fc_alloc(&s->arena, n_before, sizeof *node, st);
    size_t n = 0, n_listed = s->nodes ? s->n_nodes : n_before;
    for (size_t i = 0; node && i < n_listed; i++) {
        uint32_t old = s->nodes ? s->nodes[i] : (uint32_t)i;
        const char *host = s->net.host_name ? s->net.host_name[old] : NULL; /* the machine names others now */
        if (now[old] == FC_NONE && q->nodes)
            return fc_refuse(st, FC_INPUT, "--nodes: node %u%s%s%s is gone (failed, or by --without)", old,
                             host ? " (" : "", host ? host : "", host ? ")" : "");
        if (now[old] != FC_NONE) node[n++] = now[old];
    }
    if (node && n == 0) return fc_refuse(st, FC_NO, "--without, or failed: of the machine: no node is left");
    s->nodes = node;
    s->n_nodes = n;
    return st->code;
}

/* Host names of the nodes that are left; those of the network go with it. */
static const char **keep_hosts(struct fc_session *s, const uint32_t *now, struct fc_status *st)
{
    const char **host = s->net.host_name ? fc_alloc(&s->arena, s->net.n_nodes, sizeof *host, st) : NULL;
    for (uint32_t n = 0; host && n < s->net.n_nodes; n++)
        if (now[n] != FC_NONE && s->net.host_name[n]) host[now[n]] = fc_copy_text(&s->arena, s->net.host_name[n], st);
    return host;
}

/* Where the ways that are left could wait for each other in a circle, a packet takes a virtual channel a hop, and links have as
 * many; the title says so. */
static enum fc_code escape_deadlock(struct fc_session *s, struct fc_status *st)
{
    struct fc_machine *m = &s->machine;
    struct fc_certificate one, each;
    if (fc_certify(&s->net, NULL, &one, st)) return st->code;
    bool safe = one.safe && one.enough;
    fc_certificate_free(&one);
    if (safe) return FC_OK;
    m->router.escape = FC_ESCAPE_HOPS;
    if (fc_certify(&s->net, NULL, &each, st)) return st->code;
    if (m->router.vcs < each.n_vcs) m->router.vcs = each.n_vcs;
    size_t size = strlen(m->title) + 64;
    char *title = fc_alloc(&m->arena, size, 1, st);
    if (title) snprintf(title, size, "%s, a virtual channel a hop: %d", m->title, each.n_vcs);
    m->title = title;
    fc_certificate_free(&each);
    return st->code;
}

static bool is_damaged(const struct fc_question *q, const struct fc_session *s)
{
    return q->without || s->machine.failed;
}

/* Takes out what the machine file and the question say has failed. */
static enum fc_code take_out(const struct fc_question *q, struct fc_session *s, struct fc_remains *left,
                             struct fc_status *st)
{
    const char *failed = s->machine.failed;
    size_t size = (failed ? strlen(failed) : 0) + (q->without ? strlen(q->without) : 0) + 2;
    char *list = fc_alloc(&s->arena, size, 1, st);
    struct fc_status why = {0};
    if (!list) return st->code;
    snprintf(list, size, "%s%s%s", failed ? failed : "", failed && q->without ? "," : "", q->without ? q->without : "");
    if (!fc_machine_without(&s->machine, &s->net, list, &s->arena, left, &why)) return FC_OK;
    if (q->without) return fc_refuse(st, why.code, "--without: %s", why.message);
    return fc_fail(st, why.code, (struct fc_place){s->machine.file, s->machine.failed_line}, "failed: %s", why.message);
}

/* --without and failed: nodes are read as the whole machine numbers them, then the network is built anew. */
static enum fc_code leave_out(const struct fc_question *q, struct fc_session *s, struct fc_status *st)
{
    struct fc_remains left;
    if (!is_damaged(q, s)) return FC_OK;
    if (take_out(q, s, &left, st) || keep_nodes(q, s, left.now, st)) return st->code;
    s->now = left.now;
    s->nodes_lost = !left.network;
    if (!left.network) {
        const struct fc_routing_ops *built = s->machine.routing;
        if (fc_machine_route(&s->machine, q->routing, st) || s->machine.routing == built) return st->code;
        fc_network_free(&s->net); /* tables are those of the routing */
        return fc_network_build(&s->machine, &s->net, st);
    }
    if (q->routing && strcmp(q->routing, s->machine.routing->name))
        return fc_refuse(st, FC_INPUT, "--routing: what --without or failed: leaves is routed by %s (leave it out)",
                         s->machine.routing->name);
    const char **host = keep_hosts(s, left.now, st);
    fc_network_free(&s->net);
    if (st->code || fc_network_build(&s->machine, &s->net, st)) return st->code;
    s->net.host_name = host;
    bool all = s->n_nodes == s->net.n_nodes;
    for (size_t i = 0; all && i < s->n_nodes; i++) all = s->nodes[i] == i;
    if (all) s->nodes = NULL, s->n_nodes = 0;
    return escape_deadlock(s, st);
}

enum fc_code fc_session_only_whole(const struct fc_session *s, struct fc_status *st)
{
    if (!s->nodes_lost) return FC_OK;
    return fc_refuse(st, FC_INPUT,
                     "--without, or failed: of the machine: open-loop traffic is between all nodes (expected links and "
                     "routers)");
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
        (!is_damaged(q, s) && fc_machine_route(&s->machine, q->routing, st)) ||
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

enum fc_code fc_session_open(const struct fc_question *q, const char *machine, struct fc_session *s,
                             struct fc_status *st)
{
    if (open_whole(q, machine, s, st) || leave_out(q, s, st) || fc_session_background(q, s, st)) fc_session_close(s);
    return st->code;
}

enum fc_code fc_session_read_nodes(const struct fc_question *q, const struct fc_session *s, const char *text,
                                   struct fc_arena *arena, uint32_t **node, size_t *n, struct fc_status *st)
{
    struct fc_session whole;
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
    fc_session_close(&whole);
    return st->code;
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
