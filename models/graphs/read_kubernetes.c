/* read_kubernetes.c - where a Kubernetes cluster's nodes are, as its schedulers see it; JSON documents, one or several.
 *
 * Kueue (topology-aware scheduling): what `kubectl get topologies.kueue.x-k8s.io -o json` and `kubectl get nodes -o json` print.
 * A Topology lists node labels from the outermost level to the innermost, kubernetes.io/hostname last or left out; nodes with
 * equal labels down to a level share a place.
 * Volcano: `kubectl get hypernodes -o json`. A HyperNode has members, nodes or other HyperNodes, by exactMatch, regexMatch or
 * labelMatch; the last two are held against the nodes of the file, and patterns are extended regular expressions with \d and \D.
 * DLRover: a list of nodes with their access switch and pod switch, [{"node_ip": "10.0.0.1", "asw": "a1", "psw": "p1"}, ...].
 *
 * Places become routers (domains.c: as many cables up as nodes below). Refused: a file of two of these kinds, several Topologies,
 * nodes without one of the labels (kubectl get nodes -l LABEL leaves them out), HyperNodes that overlap or are in a circle.
 * Sources: Kueue API v1beta1, Topology; Volcano API topology/v1alpha1, HyperNode; DLRover, net_topology. */
#include "core/json.h"
#include "models/graphs/domains.h"

#include <regex.h>
#include <string.h>

enum { MOST_LEVELS = 16 };

struct cluster {
    struct fc_graph_reader *reader;
    struct fc_status *st;
    struct fc_place where;
    struct fc_domains domains;
    size_t n_entered;                                /* HyperNodes */
    json_t *nodes, *topologies, *hypernodes, *plain; /* lists of objects */
};

static enum fc_code fail(const struct cluster *c, const char *what, const char *name)
{
    return fc_fail(c->st, FC_INPUT, c->where, what, name);
}

static const char *text_at(const json_t *object, const char *outer, const char *inner)
{
    return json_string_value(json_object_get(json_object_get(object, outer), inner));
}
static const char *name_of(const json_t *object)
{
    return text_at(object, "metadata", "name");
}

/* ---- reading ---- */

static enum fc_code sort_object(struct cluster *c, json_t *object)
{
    const char *kind = json_string_value(json_object_get(object, "kind"));
    json_t *items = json_object_get(object, "items");
    if (json_is_array(items) && kind && strlen(kind) >= 4 && !strcmp(kind + strlen(kind) - 4, "List")) {
        for (size_t i = 0; i < json_array_size(items); i++)
            if (json_object_get(json_array_get(items, i), "items"))
                return fail(c, "a list in a list%s", "");
            else if (sort_object(c, json_array_get(items, i)))
                return c->st->code;
        return FC_OK;
    }
    json_t *to = !kind                        ? NULL
                 : !strcmp(kind, "Node")      ? c->nodes
                 : !strcmp(kind, "Topology")  ? c->topologies
                 : !strcmp(kind, "HyperNode") ? c->hypernodes
                                              : NULL;
    if (!to)
        return fail(c, "an object of kind '%.60s' (expected Node, Topology, HyperNode, or a List of them)",
                    kind ? kind : "");
    if (!name_of(object)) return fail(c, "a %s without metadata.name", kind);
    return json_array_append(to, object) ? fc_out_of_memory(c->st, "reading %s", c->where.file) : FC_OK;
}

/* The documents of the text one after the other. */
static enum fc_code read_documents(struct cluster *c)
{
    const struct fc_text *text = &c->reader->text;
    size_t at = 0, counted = 0;
    long line = 0;
    while (!c->st->code) {
        while (at < text->size && strchr(" \t\r\n", text->data[at])) at++;
        if (at == text->size) return FC_OK;
        json_error_t error;
        for (; counted < at; counted++) line += text->data[counted] == '\n';
        json_t *one = fc_json_text(text->data + at, text->size - at, JSON_DISABLE_EOF_CHECK, &error, c->st);
        if (c->st->code) return c->st->code;
        c->where.line = line + (one ? 1 : error.line);
        if (!one) return fail(c, "not JSON: %s", error.text);
        if (json_is_array(one))
            json_array_extend(c->plain, one);
        else
            sort_object(c, one);
        json_decref(one);
        at += (size_t)error.position;
    }
    return c->st->code;
}

/* ---- Kueue ---- */

static enum fc_code add_labelled(struct cluster *c, const json_t *levels, const json_t *node)
{
    const char *path[MOST_LEVELS];
    char names[MOST_LEVELS][256], whole[256] = "";
    uint32_t n = 0;
    for (size_t l = 0; l < json_array_size(levels); l++) {
        const char *label = json_string_value(json_object_get(json_array_get(levels, l), "nodeLabel"));
        if (!label) return fail(c, "a level without nodeLabel%s", "");
        if (!strcmp(label, "kubernetes.io/hostname")) break; /* the node itself */
        const char *value =
            json_string_value(json_object_get(json_object_get(json_object_get(node, "metadata"), "labels"), label));
        if (!value)
            return fc_fail(c->st, FC_INPUT, c->where,
                           "node '%.80s' has no label %.80s, by which the topology goes (kubectl get nodes -l %.80s "
                           "leaves it out)",
                           name_of(node), label, label);
        size_t used = strlen(whole);
        if (used + strlen(value) + 2 > sizeof whole)
            return fail(c, "the labels of node '%.80s' are too long", name_of(node));
        snprintf(whole + used, sizeof whole - used, "%s%s", n ? "/" : "",
                 value); /* a rack r1 of each block is its own */
        memcpy(names[n], whole, sizeof whole);
        path[n] = names[n];
        n++;
    }
    if (n == 0) return fail(c, "the topology has no level above the node%s", "");
    return fc_domains_add(&c->domains, name_of(node), path, n, c->where, c->st);
}

static enum fc_code read_kueue(struct cluster *c)
{
    const json_t *levels = json_object_get(json_object_get(json_array_get(c->topologies, 0), "spec"), "levels");
    if (json_array_size(c->topologies) > 1)
        return fail(c, "several Topologies (expected one: kubectl get topologies NAME)%s", "");
    if (!json_array_size(levels) || json_array_size(levels) > MOST_LEVELS)
        return fail(c, "Topology '%.80s' has no spec.levels, or too many", name_of(json_array_get(c->topologies, 0)));
    for (size_t i = 0; i < json_array_size(c->nodes) && !c->st->code; i++)
        add_labelled(c, levels, json_array_get(c->nodes, i));
    return c->st->code;
}

/* ---- Volcano ---- */

static bool labels_match(const json_t *node, const json_t *wanted)
{
    const json_t *labels = json_object_get(json_object_get(node, "metadata"), "labels");
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)wanted, key, value)
    {
        const char *has = json_string_value(json_object_get(labels, key));
        if (!has || !json_is_string(value) || strcmp(has, json_string_value(value))) return false;
    }
    return json_object_size(wanted) > 0;
}

struct member {
    const char *exact;
    const json_t *labels;
    regex_t regex;
    bool by_regex, is_node;
};

/* The pattern in POSIX' spelling: Go's \d and \D have none. */
static enum fc_code compile(struct cluster *c, const char *of, const char *pattern, regex_t *regex)
{
    char text[2048] = "";
    size_t n = 0, open = 0; /* open: the bracket at hand begins there, + 1 */
    for (const char *at = pattern; *at && !c->st->code; at++) {
        const char *put = NULL;
        if (n + 8 > sizeof text) return fail(c, "HyperNode '%.80s': a pattern that is too long", of);
        if (open && *at == ']' && n > open + (text[open] == '^')) {
            open = 0;
        } else if (!open && *at == '[') {
            open = n + 1;
        } else if (*at == '\\') {
            at++;
            put = open || !*at            ? NULL
                  : *at == 'd'            ? "[0-9]"
                  : *at == 'D'            ? "[^0-9]"
                  : strchr("wWsSbB", *at) ? ""
                                          : NULL;
            if (!put && (open || !*at || (*at >= '0' && *at <= '9') || ((*at | 32) >= 'a' && (*at | 32) <= 'z')))
                return fail(
                    c,
                    "HyperNode '%.80s': a \\ in a pattern that is not read (expected \\d, \\w, \\s, \\b or one before a "
                    "sign, not in brackets)",
                    of);
            if (!put || !*put) text[n++] = '\\', put = NULL;
        }
        if (put)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s", put);
        else
            text[n++] = *at;
    }
    text[n] = 0;
    return regcomp(regex, text, REG_EXTENDED | REG_NOSUB)
               ? fail(c, "HyperNode '%.80s': a pattern that is no regular expression", of)
               : FC_OK;
}

static enum fc_code open_member(struct cluster *c, const char *of, const json_t *entry, struct member *m)
{
    const json_t *selector = json_object_get(entry, "selector");
    const char *type = json_string_value(json_object_get(entry, "type")),
               *pattern = text_at(selector, "regexMatch", "pattern");
    *m = (struct member){.exact = text_at(selector, "exactMatch", "name"),
                         .labels = json_object_get(json_object_get(selector, "labelMatch"), "matchLabels")};
    m->is_node = type && !strcmp(type, "Node");
    if (!type || (!m->is_node && strcmp(type, "HyperNode")) || (!!m->exact + !!m->labels + !!pattern) != 1)
        return fail(
            c, "HyperNode '%.80s': a member that is no Node or HyperNode by one exactMatch, regexMatch or labelMatch",
            of);
    if (pattern && compile(c, of, pattern, &m->regex)) return c->st->code;
    m->by_regex = pattern != NULL;
    return FC_OK;
}

static bool matches(const struct member *m, const json_t *object)
{
    if (m->labels) return labels_match(object, m->labels);
    return m->by_regex ? !regexec(&m->regex, name_of(object), 0, NULL, 0) : !strcmp(m->exact, name_of(object));
}

/* Adds the nodes below a HyperNode, whose names from the outermost are path[n]. */
static enum fc_code descend(struct cluster *c, const json_t *hypernode, const char **path, uint32_t n)
{
    const json_t *members = json_object_get(json_object_get(hypernode, "spec"), "members");
    const char *name = name_of(hypernode);
    if (n == MOST_LEVELS) return fail(c, "HyperNode '%.80s' is too deep: more than 16 levels", name);
    path[n++] = name;
    c->n_entered++;
    for (size_t i = 0; i < json_array_size(members) && !c->st->code; i++) {
        struct member m;
        if (open_member(c, name, json_array_get(members, i), &m)) break;
        const json_t *among = m.is_node ? c->nodes : c->hypernodes;
        bool by_name = m.is_node && m.exact, found = by_name; /* a node that is told by this alone */
        if (by_name) fc_domains_add(&c->domains, m.exact, path, n, c->where, c->st);
        for (size_t k = 0; !by_name && k < json_array_size(among) && !c->st->code; k++) {
            const json_t *object = json_array_get(among, k);
            if (!matches(&m, object)) continue;
            found = true;
            if (m.is_node)
                fc_domains_add(&c->domains, name_of(object), path, n, c->where, c->st);
            else
                descend(c, object, path, n);
        }
        if (!c->st->code && !found && m.exact)
            fc_fail(c->st, FC_INPUT, c->where, "HyperNode '%.80s' has no member '%.80s'", name, m.exact);
        else if (!c->st->code && !found)
            fail(c,
                 "HyperNode '%.80s': a pattern or labels that nothing in the file has (expected the nodes beside the "
                 "HyperNodes: kubectl get nodes -o json)",
                 name);
        if (m.by_regex) regfree(&m.regex);
    }
    return c->st->code;
}

/* inside[i]: HyperNode i is a member of another, of one at most. */
static enum fc_code find_members(struct cluster *c, bool *inside)
{
    size_t n = json_array_size(c->hypernodes);
    for (size_t i = 0; i < n; i++) {
        const json_t *of = json_array_get(c->hypernodes, i),
                     *members = json_object_get(json_object_get(of, "spec"), "members");
        for (size_t k = 0; k < json_array_size(members) && !c->st->code; k++) {
            struct member m;
            if (open_member(c, name_of(of), json_array_get(members, k), &m)) break;
            for (size_t o = 0; !m.is_node && o < n && !c->st->code; o++) {
                const json_t *other = json_array_get(c->hypernodes, o);
                if (!matches(&m, other)) continue;
                if (o == i)
                    fail(c, "HyperNode '%.80s' is in a circle: a member of itself", name_of(of));
                else if (inside[o])
                    fail(c, "HyperNode '%.80s' is a member twice (expected one place)", name_of(other));
                inside[o] = true;
            }
            if (m.by_regex) regfree(&m.regex);
        }
    }
    return c->st->code;
}

static enum fc_code read_volcano(struct cluster *c)
{
    const char *path[MOST_LEVELS];
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    size_t n = json_array_size(c->hypernodes);
    bool *inside = fc_alloc(&scratch, n, sizeof *inside, c->st);
    if (inside && !find_members(c, inside))
        for (size_t i = 0; i < n && !c->st->code; i++)
            if (!inside[i]) descend(c, json_array_get(c->hypernodes, i), path, 0);
    if (!c->st->code && c->n_entered < n) fail(c, "HyperNodes are members of each other, in a circle%s", "");
    return c->st->code;
}

/* ---- DLRover ---- */

static enum fc_code read_switches(struct cluster *c)
{
    for (size_t i = 0; i < json_array_size(c->plain) && !c->st->code; i++) {
        const json_t *node = json_array_get(c->plain, i);
        const char *name = json_string_value(json_object_get(node, "node_ip")),
                   *asw = json_string_value(json_object_get(node, "asw")),
                   *psw = json_string_value(json_object_get(node, "psw"));
        const json_t *pod = json_object_get(node, "psw");
        const char *path[] = {psw, asw};
        bool pods = psw && *psw;
        if (!name || !asw || !*asw || (pod && !psw && !json_is_null(pod)))
            return fc_fail(c->st, FC_INPUT, c->where, "entry %zu has no node_ip and asw (psw may be left out)", i);
        fc_domains_add(&c->domains, name, path + !pods, 1 + pods, c->where, c->st);
    }
    return c->st->code;
}

enum fc_code fc_read_kubernetes(struct fc_graph_reader *reader, struct fc_status *st)
{
    struct cluster c = {.reader = reader, .st = st, .where = {reader->text.file, 0}, .domains = {.reader = reader}};
    c.nodes = json_array(), c.topologies = json_array(), c.hypernodes = json_array(), c.plain = json_array();
    if (!c.nodes || !c.topologies || !c.hypernodes || !c.plain) fc_out_of_memory(st, "reading %s", reader->text.file);
    if (!st->code && !read_documents(&c)) {
        bool kueue = json_array_size(c.topologies), volcano = json_array_size(c.hypernodes),
             plain = json_array_size(c.plain);
        c.where.line = 0;
        if (kueue + volcano + plain != 1 || (plain && json_array_size(c.nodes)))
            fail(&c, "expected Nodes and a Topology, or HyperNodes, or a list of node_ip, asw and psw%s", "");
        else if (!(kueue ? read_kueue(&c) : volcano ? read_volcano(&c) : read_switches(&c)) && reader->nodes.n)
            fc_domains_finish(&c.domains, st);
    }
    json_decref(c.nodes);
    json_decref(c.topologies);
    json_decref(c.hypernodes);
    json_decref(c.plain);
    return st->code;
}
