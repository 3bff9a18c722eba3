/* session.c - a machine with its network, as a question asks for it. */
#include "answer/session.h"
#include "models/machine_without.h"
#include "solvers/calibration/family.h"

#include <string.h>

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
    if (title) snprintf(title, size, "%s%sa virtual channel a hop: %d", m->title, *m->title ? ", " : "", each.n_vcs);
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

enum fc_code fc_session_open(const struct fc_question *q, const char *machine, struct fc_session *s,
                             struct fc_status *st)
{
    if (fc_session_open_whole(q, machine, s, st)) return st->code;
    if (leave_out(q, s, st) || fc_session_background(q, s, st)) fc_session_close(s);
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
