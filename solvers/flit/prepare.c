/* prepare.c - the network as the engines see it: reverse adjacency, time in ticks, virtual channels, and the
 * refusal of what could not run.
 *
 * Ticks. A cycle is 1/clock, or without a clock the time of a flit on the first link class. T ticks a cycle,
 * T the least in 1 .. 64 for which a flit of every class of finite bandwidth takes a whole number of ticks
 * within 0.1 % (injection links within 1 %), else the T with the least worst error; trailers, latencies and
 * delays are rounded to ticks. All are then divided by their greatest common divisor, so that a tick is as
 * long as it can be. Limit: where no T fits, rates of link classes are off by the error that is left (at most
 * 1/128 for a class whose flit takes a cycle or more).
 *
 * Deadlock. A routing runs only where the rule of the settings or the machine is proven for all networks, or with a
 * certificate (models/deadlock/deadlock.c), unless allow_deadlock says otherwise. */
#include "core/values.h"
#include "models/deadlock/cdg.h"
#include "solvers/flit/route.h"

#include <math.h>
#include <string.h>

/* X(record): declared and listed. */
#define ROUTES(X)                                                                                                      \
    X(torus_dimension_order)                                                                                           \
    X(torus_adaptive)                                                                                                  \
    X(torus_valiant)                                                                                                   \
    X(nca)                                                                                                             \
    X(nca_hash)                                                                                                        \
    X(nca_random)                                                                                                      \
    X(direct)                                                                                                          \
    X(indirect)                                                                                                        \
    X(ugal)                                                                                                            \
    X(plus_direct)                                                                                                     \
    X(plus_indirect)                                                                                                   \
    X(plus_ugal)                                                                                                       \
    X(tmesh)                                                                                                           \
    X(shortest)                                                                                                        \
    X(shortest_hash)                                                                                                   \
    X(graph_valiant)                                                                                                   \
    X(graph_ugal)                                                                                                      \
    X(graph_updown)
#define DECLARE(name) extern const struct fc_flit_route_ops fc_route_##name;
#define ENTRY(name) &fc_route_##name,
ROUTES(DECLARE)
static const struct fc_flit_route_ops *const routes[] = {ROUTES(ENTRY) NULL};

enum fc_code fc_route_refuse(const struct fc_flit_net *flit, struct fc_status *st, const char *format, ...)
{
    char text[900];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return fc_fail(st, FC_INPUT, (struct fc_place){flit->net->machine->file, 0}, "%s", text);
}

/* ---- virtual channels ---- */

enum fc_code fc_route_set_channels(struct fc_flit_net *flit, int used, int escape, struct fc_status *st)
{
    int fifos = (int)flit->net->machine->router.injection_fifos;
    int queues = flit->reception_flits ? (int)flit->net->machine->reception.queues : 0;
    int n = fifos > used ? fifos : used;
    n = queues > n ? queues : n;
    if (n > FC_FLIT_MOST_VCS)
        return fc_route_refuse(flit, st, "router.vcs: %lld makes %d virtual channels a link with rule %s (at most %d)",
                               flit->net->machine->router.vcs, n, flit->vc_rule, FC_FLIT_MOST_VCS);
    flit->n_vcs = n;
    flit->n_network_vcs = used;
    flit->n_escape_vcs = escape;
    flit->injection_vcs = (uint16_t)((1u << (fifos ? fifos : used)) - 1);
    flit->reception_vcs = (uint16_t)((1u << queues) - 1);
    return FC_OK;
}

int fc_flit_fifos(const struct fc_network *net)
{
    const struct fc_router *router = &net->machine->router;
    const struct fc_routing_ops *routing = net->machine->routing;
    const struct fc_vc_rule_ops *rule = fc_vc_rule_of(net->machine);
    if (router->injection_fifos > 0) return (int)router->injection_fifos;
    if (!rule || !rule->vcs) return (int)router->vcs;
    int used = rule->vcs(net, rule->variant), data = rule->data_vcs ? rule->data_vcs(net, rule->variant) : 0;
    if (data > 0) return (int)router->vcs / data * used;
    return routing->adaptive && routing->ordered ? (int)router->vcs + used : used;
}

enum fc_code fc_route_add_high_channels(struct fc_flit_net *flit, int n, struct fc_status *st)
{
    int used = flit->n_network_vcs;
    if (flit->n_vcs + n > FC_FLIT_MOST_VCS)
        return fc_route_refuse(flit, st,
                               "router.high_priority: %d channels beside %d make more than %d virtual channels a link",
                               n, flit->n_vcs, FC_FLIT_MOST_VCS);
    uint32_t low = (1u << used) - 1, injection = flit->injection_vcs, reception = flit->reception_vcs;
    flit->injection_vcs = (uint16_t)((injection & low) | (injection & ~low) << n);
    flit->reception_vcs = (uint16_t)((reception & low) | (reception & ~low) << n);
    flit->high_vcs = (uint16_t)(((1u << n) - 1) << used);
    if (flit->reception_flits) flit->reception_vcs |= flit->high_vcs;
    flit->n_network_vcs += n;
    flit->n_vcs += n;
    return FC_OK;
}

bool fc_route_is_bubble(const char *vc_rule)
{
    return !strcmp(vc_rule, "bubble") || !strcmp(vc_rule, "bubble-direction-ordered");
}

enum fc_code fc_route_data_channels(struct fc_flit_net *flit, int n_rule, int *rep, struct fc_status *st)
{
    long long vcs = flit->net->machine->router.vcs;
    if (vcs < n_rule)
        return fc_route_refuse(flit, st,
                               "router.vcs: %lld: no virtual channel left for %s routing under rule %s, which takes %d "
                               "(expected at least %d)",
                               vcs, flit->net->machine->routing->name, flit->vc_rule, n_rule, n_rule);
    *rep = (int)(vcs / n_rule);
    return fc_route_set_channels(flit, *rep * n_rule, *rep * n_rule, st);
}

void fc_route_tie_words(struct fc_flit_words *words, uint32_t bits)
{
    words->n_start = 0;
    for (uint32_t word = bits;; word = (word - 1) & bits) {
        words->start[words->n_start++] = word;
        if (word == 0) return;
    }
}

/* ---- time ---- */

static bool is_finite_class(const struct fc_link_class *c)
{
    return isfinite(c->bandwidth_bytes_per_s) && c->bandwidth_bytes_per_s > 0;
}

/* Worst error of flit times in ticks of cycle/T, as a multiple of what its class is allowed. */
static double worst_error(const struct fc_machine *machine, double tick_s)
{
    double worst = 0;
    for (int i = 0; i < machine->n_classes; i++) {
        if (!is_finite_class(&machine->classes[i])) continue;
        double ticks = machine->router.flit_bytes / machine->classes[i].bandwidth_bytes_per_s / tick_s;
        double whole = fmax(1, round(ticks)), allowed = i == fc_injection_class(machine) ? 0.01 : 0.001;
        worst = fmax(worst, fabs(whole - ticks) / ticks / allowed);
    }
    return worst;
}

/* Seconds as ticks; FC_INPUT when too long for 32 bits. */
static enum fc_code to_ticks(const struct fc_flit_net *flit, double seconds, double tick_s, uint32_t least,
                             const char *what, uint32_t *ticks, struct fc_status *st)
{
    double whole = fmax(least, round(seconds / tick_s));
    if (whole >= (1u << 30))
        return fc_route_refuse(flit, st,
                               "%s: %.6g s is %.3g cycles, too long for the flit-level kernel (expected less than "
                               "%.3g)",
                               what, seconds, seconds / flit->cycle_s, (1u << 30) * tick_s / flit->cycle_s);
    *ticks = (uint32_t)whole;
    return FC_OK;
}

static enum fc_code choose_cycle(struct fc_flit_net *flit, struct fc_status *st)
{
    const struct fc_machine *machine = flit->net->machine;
    if (machine->clock_hz > 0) {
        flit->cycle_s = 1 / machine->clock_hz;
        return FC_OK;
    }
    for (int i = 0; i < machine->n_classes; i++)
        if (is_finite_class(&machine->classes[i])) {
            flit->cycle_s = machine->router.flit_bytes / machine->classes[i].bandwidth_bytes_per_s;
            return FC_OK;
        }
    return fc_route_refuse(flit, st, "clock: missing, and no link class has a finite bandwidth to take the cycle from");
}

/* Adds every time that is counted in ticks to the list; returns how many. */
enum { MOST_TIMES = 3 * FC_MAX_CLASSES + 5 };
static int list_times(struct fc_flit_net *flit, uint32_t *reception, uint32_t *list[MOST_TIMES])
{
    int n = 0;
    for (int i = 0; i < flit->net->machine->n_classes; i++) {
        list[n++] = &flit->flit_ticks[i];
        list[n++] = &flit->trailer_ticks[i];
        list[n++] = &flit->latency_ticks[i];
    }
    list[n++] = &flit->router_ticks;
    list[n++] = &flit->credit_ticks;
    list[n++] = &flit->bypass_ticks;
    list[n++] = &reception[0];
    list[n++] = &reception[1];
    return n;
}

static enum fc_code choose_ticks(struct fc_flit_net *flit, struct fc_status *st)
{
    const struct fc_machine *machine = flit->net->machine;
    if (choose_cycle(flit, st)) return st->code;
    int best = 1;
    double least = INFINITY;
    for (int t = 1; t <= 64 && least > 1; t++) {
        double error = worst_error(machine, flit->cycle_s / t);
        if (error < least * (1 - 1e-9)) least = error, best = t;
    }
    double tick_s = flit->cycle_s / best;
    for (int i = 0; i < machine->n_classes; i++) {
        const struct fc_link_class *c = &machine->classes[i];
        char what[64];
        snprintf(what, sizeof what, "links.%s", c->name);
        if (is_finite_class(c) && (to_ticks(flit, machine->router.flit_bytes / c->bandwidth_bytes_per_s, tick_s, 1,
                                            what, &flit->flit_ticks[i], st) ||
                                   to_ticks(flit, machine->packet.trailer_bytes / c->bandwidth_bytes_per_s, tick_s, 0,
                                            what, &flit->trailer_ticks[i], st)))
            return st->code;
        if (to_ticks(flit, c->latency_s, tick_s, 0, what, &flit->latency_ticks[i], st)) return st->code;
    }
    if (to_ticks(flit, machine->router.delay_s, tick_s, 0, "router.delay", &flit->router_ticks, st) ||
        to_ticks(flit, machine->router.credit_s, tick_s, 0, "router.credit", &flit->credit_ticks, st))
        return st->code;
    flit->bypass = !isnan(machine->router.bypass_s);
    if (flit->bypass && to_ticks(flit, machine->router.bypass_s, tick_s, 0, "router.bypass", &flit->bypass_ticks, st))
        return st->code;
    uint32_t *times[MOST_TIMES], reception[2];
    double flit_s = machine->router.flit_bytes * machine->reception.per_byte_s;
    if (to_ticks(flit, machine->reception.packet_s, tick_s, 0, "node.reception_time", &reception[0], st) ||
        to_ticks(flit, flit_s, tick_s, 0, "node.reception_per_byte", &reception[1], st))
        return st->code;
    int n = list_times(flit, reception, times);
    uint64_t divisor = 0;
    for (int i = 0; i < n; i++) divisor = fc_common_divisor(divisor, *times[i]);
    for (int i = 0; i < n && divisor > 1; i++) *times[i] /= (uint32_t)divisor;
    flit->ticks_per_cycle = (double)best / (double)(divisor ? divisor : 1);
    tick_s = flit->cycle_s / flit->ticks_per_cycle;
    flit->reception_packet_ticks = machine->reception.packet_s / tick_s;
    flit->reception_flit_ticks = flit_s / tick_s;
    return FC_OK;
}

/* ---- packets and buffers ---- */

/* Depth of an injection queue of so many flits. Where it holds less than the injection link has on the wire, there and back, it is an
 * adapter's, which packets have left when they are on their way; the router's buffer behind the link takes them. */
static uint32_t injection_depth(const struct fc_machine *machine, uint32_t given, uint32_t buffer_flits)
{
    const struct fc_link_class *link = &machine->classes[fc_injection_class(machine)];
    double wire = ceil(link->bandwidth_bytes_per_s * 2 * link->latency_s / machine->router.flit_bytes - 1e-9);
    if (wire <= given || given >= buffer_flits) return given;
    return (uint32_t)fmin(given + wire, buffer_flits);
}

static enum fc_code size_packets(struct fc_flit_net *flit, const struct fc_flit_settings *settings,
                                 struct fc_status *st)
{
    const struct fc_machine *machine = flit->net->machine;
    const struct fc_router *router = &machine->router;
    uint32_t low = settings->packet_flits_min, high = settings->packet_flits_max;
    double longest = machine->packet.max_bytes > 0 ? ceil(machine->packet.max_bytes / router->flit_bytes - 1e-9) : 1;
    if (longest > 65535 || high > 65535)
        return fc_route_refuse(flit, st, "packets of %.0f flits are too long (at most 65535)", fmax(longest, high));
    if (high == 0) high = (uint32_t)longest;
    if (low > high)
        return fc_refuse(st, FC_INPUT, "packets of at least %u flits are longer than the longest, %u flits", low, high);
    double buffer = floor(router->buffer_bytes / router->flit_bytes + 1e-9);
    if (buffer < 1)
        return fc_route_refuse(flit, st, "router.buffer: %.15g B hold no flit of %.15g B (expected one or more)",
                               router->buffer_bytes, router->flit_bytes);
    flit->packet_flits_max = high;
    flit->buffer_flits = buffer < (1u << 30) ? (uint32_t)buffer : 1u << 30;
    flit->cut_through = router->flow_control == FC_CUT_THROUGH;
    if (flit->cut_through && flit->buffer_flits < high)
        return fc_route_refuse(
            flit, st,
            "router.buffer: %.15g B hold %u flits, cut-through needs room for the longest packet, %u "
            "flits",
            router->buffer_bytes, flit->buffer_flits, high);
    flit->injection_flits = flit->buffer_flits;
    if (router->injection_buffer_bytes > 0)
        flit->injection_flits = (uint32_t)floor(router->injection_buffer_bytes / router->flit_bytes + 1e-9);
    if (flit->injection_flits < (flit->cut_through ? high : 1))
        return fc_route_refuse(flit, st, "router.injection_buffer: %.15g B hold %u flits (expected at least %u, %s)",
                               router->injection_buffer_bytes, flit->injection_flits, flit->cut_through ? high : 1,
                               flit->cut_through ? "the longest packet" : "wormhole's least");
    flit->injection_flits = injection_depth(machine, flit->injection_flits, flit->buffer_flits);
    if (machine->reception.bytes == 0) return FC_OK;
    double reception = floor(machine->reception.bytes / router->flit_bytes + 1e-9);
    flit->reception_flits = reception < (1u << 30) ? (uint32_t)reception : 1u << 30;
    if (flit->reception_flits < high)
        return fc_route_refuse(
            flit, st, "node.reception: %.15g B hold %u flits, a node takes in whole packets, of up to %u flits",
            machine->reception.bytes, flit->reception_flits, high);
    return FC_OK;
}

static enum fc_code check_bubble(const struct fc_flit_net *flit, struct fc_status *st)
{
    if (!flit->cut_through)
        return fc_route_refuse(
            flit, st,
            "router.flow_control: wormhole with the bubble rule, which needs each packet in one buffer "
            "(expected cut-through)");
    if (flit->buffer_flits < 2 * flit->packet_flits_max)
        return fc_route_refuse(
            flit, st,
            "router.buffer: %.15g B hold %u flits, the bubble rule needs room for two of the longest "
            "packets, %u flits",
            flit->net->machine->router.buffer_bytes, flit->buffer_flits, 2 * flit->packet_flits_max);
    return FC_OK;
}

/* ---- deadlock certificate ---- */

static void name_cycle(const struct fc_network *net, const struct fc_certificate *c, char *out, size_t size)
{
    char name[400];
    size_t n = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < c->n_cycle && i < 3 && n < size; i++)
        n += (size_t)snprintf(out + n, size - n, "%s%s", i ? " -> " : "",
                              fc_channel_name(net, c->cycle[i], c->n_vcs, name, sizeof name));
    if (c->n_cycle > 3 && n < size) snprintf(out + n, size - n, " -> ... (%u channels)", c->n_cycle);
}

/* The channels of high priority: the rule's own for dimension order, whatever the routing of the other
 * packets. The two kinds share no channel, so that either is safe when its own graph says so; nodes take in
 * both. */
static enum fc_code certify_high_priority(const struct fc_flit_net *flit, const struct fc_flit_settings *settings,
                                          struct fc_status *st)
{
    struct fc_machine machine = *flit->net->machine;
    struct fc_network net = *flit->net;
    struct fc_certificate c;
    const struct fc_routing_ops *routing = machine.routing;
    if (!machine.router.high_priority)
        return fc_route_refuse(flit, st,
                               "router.high_priority: no channels for packets of high priority, and %g of the load "
                               "is to be such (expected high_priority: true)",
                               settings->high_priority_share);
    machine.routing = routing->ordered;
    if (!routing->ordered || routing->phases > 1)
        return fc_route_refuse(flit, st,
                               "router.high_priority: %s routing on a %s (expected dimension-order or adaptive on a "
                               "torus or mesh)",
                               routing->name, machine.family->name);
    net.machine = &machine;
    if (fc_certify(&net, flit->vc_rule, &c, st)) return st->code;
    if (!c.safe && !settings->allow_deadlock)
        fc_route_refuse(flit, st,
                        "router.high_priority: dimension order can deadlock under rule %s on the channels of high "
                        "priority (expected another router.escape, or --allow-deadlock)",
                        c.policy);
    fc_certificate_free(&c);
    return st->code;
}

/* Sets vc_rule when the rule is proven, or safe by its invariant whatever the dependency graph, which then need not
 * be built. */
static bool safe_by_rule(struct fc_flit_net *flit, const struct fc_flit_settings *settings)
{
    const struct fc_machine *machine = flit->net->machine;
    const struct fc_vc_rule_ops *rule =
        settings->vc_rule ? fc_vc_rule_find(settings->vc_rule, machine) : fc_vc_rule_of(machine);
    char words[640];
    if (!rule || !fc_vc_rule_knows(rule, machine->routing)) return false; /* fc_certify tells why */
    bool by_invariant = rule->invariant && rule->invariant(flit->net, rule->variant, words, sizeof words);
    if (!rule->proven && !by_invariant) return false;
    flit->vc_rule = rule->name;
    return true;
}

/* Sets vc_rule; refuses a routing that may deadlock. */
static enum fc_code certify(struct fc_flit_net *flit, const struct fc_flit_settings *settings, struct fc_status *st)
{
    const struct fc_network *net = flit->net;
    struct fc_certificate c;
    flit->safe = safe_by_rule(flit, settings);
    if (flit->safe) return strcmp(flit->vc_rule, "bubble") ? FC_OK : check_bubble(flit, st);
    if (fc_certify(net, settings->vc_rule, &c, st)) return st->code;
    flit->vc_rule = c.policy;
    flit->safe = c.safe;
    bool bubble = fc_route_is_bubble(c.policy);
    char cycle[640];
    name_cycle(net, &c, cycle, sizeof cycle);
    if (bubble && check_bubble(flit, st)) {
        fc_certificate_free(&c);
        return st->code;
    }
    if (!c.safe && !settings->allow_deadlock && bubble)
        fc_route_refuse(flit, st, "router.escape: %s", c.argument);
    else if (!c.safe && !settings->allow_deadlock)
        fc_route_refuse(flit, st,
                        "%s routing can deadlock under rule %s: %s wait for each other (expected a rule whose "
                        "dependency graph has no cycle, or --allow-deadlock)",
                        net->machine->routing->name, c.policy, cycle);
    fc_certificate_free(&c);
    return st->code;
}

/* ---- links into every vertex ---- */

static enum fc_code reverse_links(struct fc_flit_net *flit, struct fc_status *st)
{
    const struct fc_network *net = flit->net;
    size_t n = (size_t)net->n_routers + net->n_nodes;
    flit->in_first = fc_alloc(&flit->arena, n + 1, sizeof *flit->in_first, st);
    flit->in_link = fc_alloc(&flit->arena, net->n_links, sizeof *flit->in_link, st);
    flit->in_port = fc_alloc(&flit->arena, net->n_links, sizeof *flit->in_port, st);
    if (!flit->in_first || !flit->in_link || !flit->in_port) return st->code;
    for (uint32_t l = 0; l < net->n_links; l++) flit->in_port[l] = flit->in_first[net->link_target[l] + 1]++;
    for (size_t v = 0; v < n; v++) flit->in_first[v + 1] += flit->in_first[v];
    for (uint32_t l = 0; l < net->n_links; l++)
        flit->in_link[flit->in_first[net->link_target[l]] + flit->in_port[l]] = l;
    return FC_OK;
}

/* A port passes on what its link brings: a fast link feeds several slow ones at a time, also out of one channel; that of a node
 * out of as many as it has channels. */
static enum fc_code count_paths(struct fc_flit_net *flit, struct fc_status *st)
{
    const struct fc_network *net = flit->net;
    flit->port_paths = fc_alloc(&flit->arena, net->n_links, sizeof *flit->port_paths, st);
    if (!flit->port_paths) return st->code;
    for (uint32_t l = 0; l < net->n_links; l++) {
        uint32_t v = net->link_target[l], brings = flit->flit_ticks[net->link_class[l]], slowest = 0;
        if (fc_is_node(net, v)) continue;
        for (uint32_t o = net->first_link[v]; o < net->first_link[v + 1]; o++) {
            uint32_t ticks = flit->flit_ticks[net->link_class[o]];
            if (!fc_is_node(net, net->link_target[o]) && ticks > slowest) slowest = ticks;
        }
        uint32_t times = brings == 0 ? FC_FLIT_MOST_VCS : (slowest + brings / 64) / brings;
        if (times < 1) times = 1;
        uint32_t paths = flit->paths * times, most = (uint32_t)flit->n_vcs;
        if (!fc_is_node(net, net->link_source[l])) most *= times;
        if (paths > most) paths = most;
        flit->port_paths[l] = paths < UINT8_MAX ? (uint8_t)paths : UINT8_MAX;
        if (flit->port_paths[l] > flit->most_paths) flit->most_paths = flit->port_paths[l];
    }
    return FC_OK;
}

/* What is not listed is walked. */
static const struct fc_flit_route_ops *find_route(const struct fc_machine *machine)
{
    for (const struct fc_flit_route_ops *const *r = routes; *r; r++)
        if (!strcmp((*r)->name, machine->routing->name) && fc_serves((*r)->families, machine->family)) return *r;
    return &fc_route_walked;
}

static enum fc_flit_select choose_select(const struct fc_flit_net *flit)
{
    bool joins = flit->arbitration == FC_JSQ || flit->arbitration == FC_JSQ_SLQ;
    return joins || flit->route == &fc_route_nca ? FC_SELECT_JSQ : FC_SELECT_RANDOM;
}

static enum fc_code prepare(struct fc_flit_net *flit, const struct fc_flit_settings *settings, struct fc_status *st)
{
    const struct fc_machine *machine = flit->net->machine;
    flit->route = find_route(machine);
    if ((double)flit->n_links * FC_FLIT_MOST_VCS >= FC_NONE)
        return fc_refuse(st, FC_NO, "%u links are too many for the flit-level kernel (at most %u)", flit->n_links,
                         FC_NONE / FC_FLIT_MOST_VCS);
    if (choose_ticks(flit, st) || size_packets(flit, settings, st) || certify(flit, settings, st) ||
        (flit->high_priority && certify_high_priority(flit, settings, st)) ||
        (!flit->figures && reverse_links(flit, st)) || flit->route->prepare(flit, st) ||
        (!flit->figures && count_paths(flit, st)))
        return st->code;
    if (machine->router.injection != FC_INJECTION_ANY && !flit->own_fifos)
        return fc_route_refuse(flit, st, "router.injection: %s: is for tori and meshes, not a %s (expected any)",
                               fc_injection_names[machine->router.injection], machine->family->name);
    flit->select = choose_select(flit);
    return FC_OK;
}

static enum fc_code start(const struct fc_network *net, const struct fc_flit_settings *settings, bool figures,
                          struct fc_flit_net *flit, struct fc_status *st)
{
    const struct fc_router *router = &net->machine->router;
    memset(flit, 0, sizeof *flit);
    flit->net = net;
    flit->ranks = fc_ranks_several(settings->ranks) ? settings->ranks : NULL;
    flit->figures = figures;
    flit->n_routers = net->n_routers;
    flit->n_nodes = net->n_nodes;
    flit->n_links = net->n_links;
    flit->vc_stage = router->vc_allocation == FC_VC_STAGE;
    flit->arbitration = router->arbitration;
    flit->paths = (uint32_t)router->paths;
    flit->bubble_as_published = settings->bubble_as_published;
    flit->high_priority = settings->high_priority_share != 0;
    if (prepare(flit, settings, st)) fc_flit_unprepare(flit);
    return st->code;
}

enum fc_code fc_flit_prepare(const struct fc_network *net, const struct fc_flit_settings *settings,
                             struct fc_flit_net *flit, struct fc_status *st)
{
    return start(net, settings, false, flit, st);
}

enum fc_code fc_flit_figures(const struct fc_network *net, const struct fc_flit_settings *settings,
                             struct fc_flit_net *flit, struct fc_status *st)
{
    return start(net, settings, true, flit, st);
}

void fc_flit_unprepare(struct fc_flit_net *flit)
{
    fc_arena_free(&flit->arena);
    memset(flit, 0, sizeof *flit);
}
