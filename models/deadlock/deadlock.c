/* deadlock.c - deadlock certificates: a routing is free of deadlock when its channel dependency graph has
 * no cycle (Dally & Seitz, IEEE Trans. Computers 36(5), 1987); for adaptive routing with escape channels
 * when the extended dependency graph of the escape channels has none (Duato, IEEE TPDS 4(12), 1993); a
 * bubble escape when every ring always keeps space for a packet (Puente et al., ICPP 1999).
 *
 * Acyclic graphs get a topological numbering (Kahn 1962), which anyone can check arc by arc; cyclic ones a
 * short cycle: breadth-first search inside the strongly connected components (Tarjan 1972) from as many
 * channels as a budget of arc visits allows, so the cycle is the shortest one of graphs up to moderate
 * size and a short one beyond. Limits: ejection channels are taken to drain always (messages that wait for
 * others at the nodes are not modelled). */
#include "core/values.h"
#include "models/deadlock/cdg.h"

#include <stdlib.h>
#include <string.h>

#define CYCLE_BUDGET 20000000u /* arc visits of the search for a short cycle */

/* ---- building ---- */

static void sort_row(uint32_t *row, uint64_t n)
{
    if (n > 32) {
        qsort(row, n, sizeof *row, fc_by_number);
        return;
    }
    for (uint64_t i = 1; i < n; i++) {
        uint32_t value = row[i];
        uint64_t at = i;
        for (; at > 0 && row[at - 1] > value; at--) row[at] = row[at - 1];
        row[at] = value;
    }
}

/* Sorts each row and drops repeated arcs. */
static void tidy(struct fc_cdg *cdg)
{
    uint64_t kept = 0, begin = 0;
    for (uint64_t v = 0; v < cdg->n_vertices; v++) {
        uint64_t end = cdg->first[v + 1];
        sort_row(cdg->to + begin, end - begin);
        cdg->first[v] = kept;
        for (uint64_t i = begin; i < end; i++)
            if (i == begin || cdg->to[i] != cdg->to[i - 1]) cdg->to[kept++] = cdg->to[i];
        begin = end;
    }
    cdg->first[cdg->n_vertices] = kept;
    cdg->n_arcs = kept;
}

static enum fc_code run_passes(const struct fc_vc_rule_ops *rule, struct fc_cdg *cdg, struct fc_status *st)
{
    cdg->pass = FC_CDG_HUBS;
    cdg->n_vertices = cdg->n_channels;
    if (rule->dependencies(cdg->net, rule->variant, cdg, st)) return st->code;
    uint64_t n = cdg->n_vertices;
    if (n >= FC_NONE)
        return fc_refuse(st, FC_NO, "the dependency graph has %llu channels (at most %u can be held)",
                         (unsigned long long)n, FC_NONE - 1);
    cdg->first = fc_alloc(&cdg->arena, n + 1, sizeof *cdg->first, st);
    if (!cdg->first) return st->code;
    cdg->pass = FC_CDG_COUNT;
    cdg->n_vertices = cdg->n_channels;
    if (rule->dependencies(cdg->net, rule->variant, cdg, st)) return st->code;
    uint64_t total = 0;
    for (uint64_t v = 0; v < n; v++) {
        uint64_t count = cdg->first[v + 1];
        cdg->first[v + 1] = total; /* where v's arcs begin; the fill pass moves it to where they end */
        total += count;
    }
    cdg->to = fc_alloc(&cdg->arena, total, sizeof *cdg->to, st);
    if (!cdg->to) return st->code;
    cdg->pass = FC_CDG_FILL;
    cdg->n_vertices = cdg->n_channels;
    return rule->dependencies(cdg->net, rule->variant, cdg, st);
}

bool fc_vc_rule_knows(const struct fc_vc_rule_ops *rule, const struct fc_routing_ops *routing)
{
    const struct fc_routing_ops *const *known = rule->routings;
    while (known && *known && *known != routing) known++;
    return !known || *known;
}

static enum fc_code unknown_routing(const struct fc_network *net, const struct fc_vc_rule_ops *rule,
                                    struct fc_status *st)
{
    char names[256] = "";
    for (const struct fc_routing_ops *const *known = rule->routings; *known; known++) {
        size_t n = strlen(names);
        snprintf(names + n, sizeof names - n, "%s%s", n ? ", " : "", (*known)->name);
    }
    return fc_refuse(st, FC_INPUT, "virtual-channel rule %s of the %s family does not know %s routing (it knows: %s)",
                     rule->name, net->machine->family->name, net->machine->routing->name, names);
}

enum fc_code fc_cdg_build(const struct fc_network *net, const struct fc_vc_rule_ops *rule, struct fc_cdg *cdg,
                          struct fc_status *st)
{
    memset(cdg, 0, sizeof *cdg);
    if (!fc_vc_rule_knows(rule, net->machine->routing)) return unknown_routing(net, rule, st);
    cdg->net = net;
    cdg->n_vcs = rule->vcs ? rule->vcs(net, rule->variant) : 1;
    cdg->n_channels = (uint64_t)net->n_links * (uint64_t)cdg->n_vcs;
    if (cdg->n_channels >= FC_NONE)
        return fc_refuse(st, FC_NO, "%u links with %d virtual channels each are too many (at most %u channels)",
                         net->n_links, cdg->n_vcs, FC_NONE - 1);
    if (run_passes(rule, cdg, st)) {
        fc_cdg_free(cdg);
        return st->code;
    }
    tidy(cdg);
    return FC_OK;
}

FC_FREES(fc_cdg_free, fc_cdg)

/* ---- numbering, components ---- */

uint64_t fc_cdg_sort(const struct fc_cdg *cdg, uint32_t *order, uint32_t *scratch)
{
    uint64_t n = cdg->n_vertices, head = 0, tail = 0;
    uint32_t *waits = scratch, *queue = scratch + n; /* waits[v]: arcs into v from vertices without a number */
    memset(waits, 0, n * sizeof *waits);
    memset(order, 0xff, n * sizeof *order);
    for (uint64_t i = 0; i < cdg->n_arcs; i++) waits[cdg->to[i]]++;
    for (uint64_t v = 0; v < n; v++)
        if (waits[v] == 0) queue[tail++] = (uint32_t)v;
    while (head < tail) {
        uint32_t v = queue[head];
        order[v] = (uint32_t)head++;
        for (uint64_t i = cdg->first[v]; i < cdg->first[v + 1]; i++)
            if (--waits[cdg->to[i]] == 0) queue[tail++] = cdg->to[i];
    }
    return tail;
}

uint32_t fc_cdg_components(const struct fc_cdg *cdg, uint32_t *component, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    uint64_t n = cdg->n_vertices, calls = 0, open = 0;
    uint32_t *seen = fc_alloc(&scratch, n, sizeof *seen, st), *low = fc_alloc(&scratch, n, sizeof *low, st);
    uint32_t *stack = fc_alloc(&scratch, n, sizeof *stack, st), *call = fc_alloc(&scratch, n, sizeof *call, st);
    uint64_t *next = fc_alloc(&scratch, n, sizeof *next, st);
    uint32_t n_components = 0, clock = 0;
    if (!seen || !low || !stack || !call || !next) return 0;
    memset(component, 0xff, n * sizeof *component);
    for (uint64_t root = 0; root < n; root++) {
        if (seen[root]) continue;
        call[calls++] = (uint32_t)root;
        while (calls > 0) {
            uint32_t v = call[calls - 1];
            if (!seen[v]) {
                seen[v] = low[v] = ++clock;
                next[v] = cdg->first[v];
                stack[open++] = v;
            }
            if (next[v] < cdg->first[v + 1]) {
                uint32_t to = cdg->to[next[v]++];
                if (!seen[to])
                    call[calls++] = to;
                else if (component[to] == FC_NONE && seen[to] < low[v])
                    low[v] = seen[to];
                continue;
            }
            calls--;
            if (calls > 0 && low[v] < low[call[calls - 1]]) low[call[calls - 1]] = low[v];
            if (low[v] != seen[v]) continue;
            do component[stack[--open]] = n_components;
            while (stack[open] != v);
            n_components++;
        }
    }
    return n_components;
}

/* ---- a short cycle ---- */

struct search {
    const struct fc_cdg *cdg;
    const uint32_t *component, *size;         /* size[component] */
    uint32_t *round, *parent, *depth, *queue; /* [n_vertices]; round[v]: the last search that met v */
    uint32_t best, last;                      /* arcs of the best cycle; its last vertex */
    uint64_t visits;
};

/* Breadth first from `start` within its component, no deeper than the best cycle; true when a shorter one
 * was found. */
static bool search_from(struct search *s, uint32_t start)
{
    const struct fc_cdg *cdg = s->cdg;
    uint64_t head = 0, tail = 0;
    s->round[start] = start + 1;
    s->depth[start] = 0;
    s->queue[tail++] = start;
    while (head < tail) {
        uint32_t v = s->queue[head++];
        if (s->depth[v] + 1 >= s->best) return false;
        for (uint64_t i = cdg->first[v]; i < cdg->first[v + 1]; i++) {
            uint32_t to = cdg->to[i];
            s->visits++;
            if (to == start) {
                s->best = s->depth[v] + 1;
                s->last = v;
                return true;
            }
            if (s->component[to] != s->component[start] || s->round[to] == start + 1) continue;
            s->round[to] = start + 1;
            s->parent[to] = v;
            s->depth[to] = s->depth[v] + 1;
            s->queue[tail++] = to;
        }
    }
    return false;
}

/* Puts the channels of the cycle start -> ... -> last into the certificate, hubs left out. */
static void keep_cycle(const struct search *s, uint32_t start, struct fc_certificate *c)
{
    uint32_t n = 0;
    for (uint32_t v = s->last;; v = s->parent[v]) {
        if (v < s->cdg->n_channels) c->cycle[n++] = v;
        if (v == start) break;
    }
    c->n_cycle = n;
    for (uint32_t i = 0; i < n / 2; i++) {
        uint32_t other = c->cycle[i];
        c->cycle[i] = c->cycle[n - 1 - i];
        c->cycle[n - 1 - i] = other;
    }
}

static enum fc_code find_cycle(const struct fc_cdg *cdg, struct fc_certificate *c, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    uint64_t n = cdg->n_vertices;
    uint32_t *component = fc_alloc(&scratch, n, sizeof *component, st), *size = NULL;
    struct search s = {.cdg = cdg, .component = component, .best = FC_NONE};
    s.round = fc_alloc(&scratch, n, sizeof *s.round, st);
    s.parent = fc_alloc(&scratch, n, sizeof *s.parent, st);
    s.depth = fc_alloc(&scratch, n, sizeof *s.depth, st);
    s.queue = fc_alloc(&scratch, n, sizeof *s.queue, st);
    c->cycle = fc_alloc(&c->arena, n, sizeof *c->cycle, st);
    uint32_t n_components = st->code ? 0 : fc_cdg_components(cdg, component, st);
    if (n_components) size = fc_alloc(&scratch, n_components, sizeof *size, st);
    if (size) {
        for (uint64_t v = 0; v < n; v++) size[component[v]]++;
        for (uint32_t v = 0; v < cdg->n_channels && s.visits < CYCLE_BUDGET; v++)
            if (size[component[v]] > 1 && search_from(&s, v)) keep_cycle(&s, v, c);
        if (c->n_cycle == 0) fc_refuse(st, FC_FAULT, "the dependency graph has a cycle that was not found");
    }
    return st->code;
}

/* ---- rules by name ---- */

/* Whether a rule of the list is for the machine's family and knows its routing; else it is walked. */
static bool has_rules(const struct fc_family_ops *family, const struct fc_routing_ops *routing)
{
    for (const struct fc_vc_rule_ops *const *r = fc_vc_rules; *r; r++)
        if (fc_serves((*r)->families, family) && fc_vc_rule_knows(*r, routing)) return true;
    return false;
}

const struct fc_vc_rule_ops *fc_vc_rule_find(const char *name, const struct fc_machine *machine)
{
    for (const struct fc_vc_rule_ops *const *r = fc_vc_rules; *r; r++)
        if (!strcmp((*r)->name, name) && fc_serves((*r)->families, machine->family)) return *r;
    bool walked = !has_rules(machine->family, machine->routing) && !strcmp(fc_vc_walked.name, name);
    return walked ? &fc_vc_walked : NULL;
}

const struct fc_vc_rule_ops *fc_vc_rule_of(const struct fc_machine *machine)
{
    if (!has_rules(machine->family, machine->routing)) return &fc_vc_walked;
    for (const struct fc_vc_rule_ops *const *r = fc_vc_rules; *r; r++)
        if (!(*r)->only_named && fc_serves((*r)->families, machine->family) &&
            (!(*r)->chosen || (*r)->chosen(machine, (*r)->variant)))
            return *r;
    return NULL;
}

static enum fc_code unknown_rule(const char *name, const struct fc_machine *machine, struct fc_status *st)
{
    const struct fc_family_ops *family = machine->family;
    char known[256] = "";
    if (!has_rules(family, machine->routing)) snprintf(known, sizeof known, "%s", fc_vc_walked.name);
    for (const struct fc_vc_rule_ops *const *r = fc_vc_rules; *r; r++) {
        size_t n = strlen(known);
        if (fc_serves((*r)->families, family)) snprintf(known + n, sizeof known - n, "%s%s", n ? ", " : "", (*r)->name);
    }
    return fc_refuse(st, FC_INPUT, "--vc-rule: the %s family has no virtual-channel rule '%s' (it has: %s)",
                     family->name, name ? name : "", known);
}

/* ---- certificates ---- */

static uint64_t count_used(const struct fc_cdg *cdg, uint32_t *scratch)
{
    uint64_t used = 0;
    memset(scratch, 0, cdg->n_vertices * sizeof *scratch);
    for (uint64_t i = 0; i < cdg->n_arcs; i++) scratch[cdg->to[i]] = 1;
    for (uint64_t v = 0; v < cdg->n_channels; v++) used += scratch[v] || cdg->first[v + 1] > cdg->first[v];
    return used;
}

static enum fc_code argue(const struct fc_cdg *cdg, const struct fc_vc_rule_ops *rule, struct fc_certificate *c,
                          struct fc_status *st)
{
    char words[512] = "", text[1200];
    const char *graph = cdg->extended ? "extended dependency graph of the escape channels" : "dependency graph";
    if (!c->acyclic && rule->invariant) c->safe = rule->invariant(cdg->net, rule->variant, words, sizeof words);
    if (c->acyclic)
        snprintf(text, sizeof text,
                 "%s%sThe %s (%llu channels in use) has no cycle: what a packet holds always comes before "
                 "what it waits "
                 "for in the topological order.",
                 rule->argument ? rule->argument : "", rule->argument ? " " : "", graph,
                 (unsigned long long)c->n_used_channels);
    else if (c->safe)
        snprintf(text, sizeof text, "%s", words);
    else
        snprintf(text, sizeof text,
                 "%s%sThe %s has a cycle: packets that hold all of its channels wait for each other "
                 "for ever.",
                 words, *words ? " " : "", graph);
    c->argument = fc_copy_text(&c->arena, text, st);
    return st->code;
}

/* Fills the certificate from the graph. */
static enum fc_code judge(const struct fc_cdg *cdg, const struct fc_vc_rule_ops *rule, struct fc_certificate *c,
                          struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    uint64_t n = cdg->n_vertices;
    c->order = fc_alloc(&c->arena, n, sizeof *c->order, st);
    uint32_t *work = fc_alloc(&scratch, 2 * n, sizeof *work, st);
    if (c->order && work) {
        c->acyclic = c->safe = fc_cdg_sort(cdg, c->order, work) == n;
        c->n_used_channels = count_used(cdg, work);
        if (!c->acyclic) c->order = NULL;
        if (!argue(cdg, rule, c, st) && !c->safe) find_cycle(cdg, c, st);
    }
    return st->code;
}

enum fc_code fc_certify(const struct fc_network *net, const char *name, struct fc_certificate *certificate,
                        struct fc_status *st)
{
    const struct fc_machine *machine = net->machine;
    const struct fc_vc_rule_ops *rule = name ? fc_vc_rule_find(name, machine) : fc_vc_rule_of(machine);
    struct fc_cdg cdg;
    memset(certificate, 0, sizeof *certificate);
    if (!rule) return unknown_rule(name, machine, st);
    if (fc_cdg_build(net, rule, &cdg, st)) return st->code;
    certificate->policy = rule->name;
    certificate->n_vcs = cdg.n_vcs;
    certificate->n_channels = cdg.n_channels;
    certificate->n_arcs = cdg.n_arcs;
    certificate->data_vcs = !rule->data_vcs               ? 0
                            : rule->data_vcs == rule->vcs ? cdg.n_vcs
                                                          : rule->data_vcs(net, rule->variant);
    certificate->enough = certificate->data_vcs <= machine->router.vcs;
    judge(&cdg, rule, certificate, st);
    fc_cdg_free(&cdg);
    if (st->code) fc_certificate_free(certificate);
    return st->code;
}

FC_FREES(fc_certificate_free, fc_certificate)

char *fc_channel_name(const struct fc_network *net, uint32_t channel, int n_vcs, char *out, size_t size)
{
    char link[400];
    snprintf(out, size, "%s vc %u", fc_link_name(net, channel / (uint32_t)n_vcs, link, sizeof link),
             channel % (uint32_t)n_vcs);
    return out;
}
