/* weakest.c - which cables a job can spare least.
 *
 *     cost of a cable = time of the job without it / time on the whole network - 1
 *
 * both by the ways that `--without` takes, the shortest that are left, and with the tasks where they are. Three steps, each over
 * fewer cables than the one before:
 *   1 cables that carry traffic of the job: those that could be the only way between two parts first (bridges, by Tarjan,
 *     Inf. Process. Lett. 2(6), 1974), then by the time that they are busy;
 *   2 of as many as the work allows: the network without it, and the time of its busiest link for the job's whole traffic;
 *   3 of the 2 n with the greatest such bound: the job's prediction. A phase costs little more than its loads: all of step 2.
 * Cables between the same two routers of the same class leave the same network behind, whichever is gone: one stands for all.
 * Limits: a cable that is hardly busy in the whole network may still be missed where step 2 does not reach it (n_looked_at
 * tells); a node's only cable is left out: without it the node is gone, whatever the network. */
#include "answer/weakest.h"
#include "mapping/work.h"
#include "models/machine_without.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_LOOKED_AT = 1024, NAME = 600 };
static const double DEFAULT_S = 2;

struct candidate {
    uint32_t link, cables; /* the lower number of its two directions */
    bool bridge, disconnects;
    double busy_s;  /* in the whole network */
    double bytes;   /* the same where it has no limit */
    double bound_s; /* without it; NaN: not known */
    double time_s;
};

struct search {
    const struct fc_question *q;
    struct fc_question apart; /* the same with the tasks where they are */
    struct fc_session *session;
    struct fc_predicted_job *job;
    const struct fc_demand *demand; /* whole traffic; NULL: not known */
    const struct fc_demand *given;  /* as the answer was made of it */
    const struct fc_answer *answer;
    struct fc_weakest *out;
    struct fc_arena scratch;
    struct candidate *candidate;
    size_t n;
    struct fc_status *st;
};

/* ---- candidates ---- */

/* Links between routers whose cable is the only way between its ends: low[v], the earliest router that the search's tree below
 * v reaches past its own cable, lies behind the other end. */
static enum fc_code find_bridges(const struct fc_network *net, bool *bridge, struct fc_arena *scratch,
                                 struct fc_status *st)
{
    uint32_t n = net->n_routers, count = 0, *number = fc_alloc(scratch, n, sizeof *number, st);
    uint32_t *low = fc_alloc(scratch, n, sizeof *low, st), *next = fc_alloc(scratch, n, sizeof *next, st);
    uint32_t *came_by = fc_alloc(scratch, n, sizeof *came_by, st);
    for (uint32_t root = 0; !st->code && root < n; root++) {
        if (number[root]) continue;
        uint32_t v = root;
        number[v] = low[v] = ++count;
        next[v] = net->first_link[v];
        came_by[v] = FC_NONE;
        for (;;) {
            if (next[v] < net->first_link[v + 1]) {
                uint32_t l = next[v]++, to = net->link_target[l];
                if (fc_is_node(net, to)) continue;
                if (came_by[v] != FC_NONE && fc_other_direction(net, came_by[v]) == l) continue;
                if (number[to]) {
                    if (number[to] < low[v]) low[v] = number[to];
                    continue;
                }
                number[to] = low[to] = ++count;
                next[to] = net->first_link[to];
                came_by[to] = l;
                v = to;
                continue;
            }
            uint32_t by = came_by[v];
            if (by == FC_NONE) break;
            uint32_t parent = net->link_source[by];
            if (low[v] > number[parent]) bridge[by] = true;
            if (low[v] < low[parent]) low[parent] = low[v];
            v = parent;
        }
    }
    return st->code;
}

static bool is_only_cable(const struct fc_network *net, uint32_t link)
{
    uint32_t end[2] = {net->link_source[link], net->link_target[link]};
    for (int e = 0; e < 2; e++)
        if (fc_is_node(net, end[e]) && net->first_link[end[e] + 1] - net->first_link[end[e]] == 1) return true;
    return false;
}

/* The candidate so far between the same ends, of the same class; NULL: there is none. */
static struct candidate *alike(struct search *s, const uint32_t *of_link, uint32_t link)
{
    const struct fc_network *net = &s->session->net;
    uint32_t v = net->link_source[link];
    for (uint32_t l = net->first_link[v]; l < link; l++)
        if (net->link_target[l] == net->link_target[link] && net->link_class[l] == net->link_class[link] &&
            of_link[l] != FC_NONE)
            return &s->candidate[of_link[l]];
    return NULL;
}

static int by_promise(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->bridge != y->bridge) return x->bridge ? -1 : 1;
    if (x->busy_s != y->busy_s) return x->busy_s > y->busy_s ? -1 : 1;
    if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
    return x->link < y->link ? -1 : 1;
}

static enum fc_code find_candidates(struct search *s)
{
    const struct fc_network *net = &s->session->net;
    const struct fc_answer *a = s->answer;
    uint32_t *of_link = fc_alloc(&s->scratch, net->n_links, sizeof *of_link, s->st);
    bool *bridge = fc_alloc(&s->scratch, net->n_links, sizeof *bridge, s->st);
    s->candidate = fc_alloc(&s->scratch, net->n_links, sizeof *s->candidate, s->st);
    if (s->st->code || find_bridges(net, bridge, &s->scratch, s->st)) return s->st->code;
    for (uint32_t l = 0; l < net->n_links; l++) {
        uint32_t back = fc_other_direction(net, l);
        of_link[l] = FC_NONE;
        if (back < l) continue;
        double bytes = a->link_bytes[l], busy_s = a->link_busy_s[l];
        if (back != FC_NONE) bytes = fmax(bytes, a->link_bytes[back]), busy_s = fmax(busy_s, a->link_busy_s[back]);
        if (!(bytes > 0)) continue;
        if (is_only_cable(net, l) || net->link_class[l] == fc_injection_class(net->machine)) {
            s->out->n_node_cables++;
            continue;
        }
        s->out->n_loaded++;
        struct candidate *same = alike(s, of_link, l);
        if (same) {
            same->cables++;
            if (busy_s > same->busy_s) same->busy_s = busy_s;
            if (bytes > same->bytes) same->bytes = bytes;
            continue;
        }
        of_link[l] = (uint32_t)s->n;
        s->candidate[s->n++] = (struct candidate){.link = l,
                                                  .cables = 1,
                                                  .bridge = bridge[l] || (back != FC_NONE && bridge[back]),
                                                  .busy_s = busy_s,
                                                  .bytes = bytes,
                                                  .bound_s = NAN,
                                                  .time_s = NAN};
    }
    qsort(s->candidate, s->n, sizeof *s->candidate, by_promise);
    return FC_OK;
}

/* ---- without a cable ---- */

/* The session without the cable of that link (FC_NONE: as a whole, by the same ways); *cut: nodes would not be connected, and
 * it is not open. It borrows from the session. */
static enum fc_code open_without(struct search *s, uint32_t link, struct fc_session *without, bool *cut)
{
    struct fc_session *whole = s->session;
    struct fc_remains left;
    struct fc_status why = {0};
    memset(without, 0, sizeof *without);
    without->machine = whole->machine;
    without->machine.arena = (struct fc_arena){0};
    *cut = false;
    if (fc_machine_without_cable(&without->machine, &whole->net, link, &without->arena, &left, &why)) {
        *cut = left.cut;
        if (!left.cut) *s->st = why;
    } else if (!fc_network_build(&without->machine, &without->net, s->st)) {
        without->net.host_name = whole->net.host_name;
        without->nodes = whole->nodes;
        without->n_nodes = whole->n_nodes;
        without->nodes_lost = whole->nodes_lost;
        without->now = whole->now;
        without->opened = whole->opened;
        fc_session_background(s->q, without, s->st);
    }
    if (*cut || s->st->code) fc_session_close(without);
    return s->st->code;
}

/* The busiest link's time for all of the job's traffic. */
static enum fc_code bound_of(struct search *s, const struct fc_session *session, double *bound_s)
{
    FC_SCOPED(fc_load_free) struct fc_load load = {0};
    struct fc_load_summary links;
    struct fc_load_settings settings = {
        .threads = s->q->threads, .seed = s->q->seed, .background_bytes_per_s = session->background_bytes_per_s};
    struct fc_placement placement = {s->answer->n_tasks, s->answer->node};
    if (fc_load_solve(&session->net, s->demand, &placement, &settings, &load, s->st)) return s->st->code;
    fc_load_summarise(&session->net, &load, &settings, &links);
    *bound_s = links.max_link_s;
    return FC_OK;
}

static enum fc_code time_of(struct search *s, struct fc_session *session, double *time_s)
{
    FC_SCOPED(fc_answer_free) struct fc_answer answer = {0};
    if (!fc_answer_placed(&s->apart, session, s->job, s->given, "def", &answer, s->st)) *time_s = answer.p.time_s;
    return s->st->code;
}

enum step { STEP_CONNECTED, STEP_BOUND, STEP_TIME };

static enum fc_code look_at(struct search *s, struct candidate *c, enum step step)
{
    FC_SCOPED(fc_session_close) struct fc_session without = {0};
    if (open_without(s, c->link, &without, &c->disconnects) || c->disconnects) return s->st->code;
    if (step == STEP_BOUND) bound_of(s, &without, &c->bound_s);
    if (step == STEP_TIME) time_of(s, &without, &c->time_s);
    return s->st->code;
}

/* ---- the ranking ---- */

/* How many cables step 2 may look at. */
static size_t affordable(const struct search *s, size_t least)
{
    const struct fc_network *net = &s->session->net;
    double each = (double)net->n_nodes * net->n_links + 64.0 * net->n_links;
    double work = (double)fc_work_of_s(s->q->search_given ? s->q->search_s : DEFAULT_S);
    double n = fmin(work / each, MOST_LOOKED_AT);
    return n > (double)least ? (size_t)n : least;
}

/* x before y where it is greater, unknown ones last. */
static int by_falling(double x, double y)
{
    if (isnan(x) || isnan(y)) return isnan(x) - isnan(y);
    return (x < y) - (x > y);
}

static int by_bound(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->disconnects != y->disconnects) return x->disconnects ? -1 : 1;
    int order = x->disconnects ? 0 : by_falling(x->bound_s, y->bound_s);
    return order ? order : by_promise(a, b);
}

static int by_time(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->disconnects != y->disconnects) return x->disconnects ? -1 : 1;
    int order = x->disconnects ? 0 : by_falling(x->time_s, y->time_s);
    return order ? order : by_promise(a, b);
}

static enum fc_code rank(struct search *s, size_t n)
{
    struct candidate *c = s->candidate;
    size_t looked_at = 0, n_cut = 0, most = affordable(s, 2 * n < s->n ? 2 * n : s->n), timed;
    bool phase = !s->job->source.head;
    if (most > s->n) most = s->n;
    for (; looked_at < most && n_cut < n && !s->st->code; looked_at++) {
        enum step step = phase ? STEP_TIME : s->demand ? STEP_BOUND : STEP_CONNECTED;
        look_at(s, &c[looked_at], step);
        n_cut += c[looked_at].disconnects;
        s->out->n_looked_at += c[looked_at].cables;
    }
    if (s->st->code) return s->st->code;
    if (!phase && s->demand) qsort(c, looked_at, sizeof *c, by_bound);
    if (!phase && !s->demand) qsort(c, looked_at, sizeof *c, by_time); /* those that disconnect, then by promise */
    timed = looked_at < 2 * n ? looked_at : 2 * n;
    for (size_t i = n_cut; !phase && i < timed && n_cut < n && !s->st->code; i++) look_at(s, &c[i], STEP_TIME);
    qsort(c, phase ? looked_at : timed, sizeof *c, by_time);
    s->n = timed;
    return s->st->code;
}

/* ---- the answer ---- */

static enum fc_code keep(struct search *s, size_t n)
{
    struct fc_weakest *w = s->out;
    char name[NAME];
    w->link = fc_alloc(&w->arena, n, sizeof *w->link, s->st);
    for (size_t i = 0; w->link && i < s->n && w->n < n; i++) {
        const struct candidate *c = &s->candidate[i];
        fc_link_name(&s->session->net, c->link, name, sizeof name);
        w->link[w->n++] = (struct fc_weak_link){
            .link = fc_copy_text(&w->arena, name, s->st),
            .cables = c->cables,
            .time_s = c->disconnects ? (double)NAN : c->time_s,
            .increase_percent = c->disconnects || !(w->whole_s > 0) ? (double)NAN : 100 * (c->time_s / w->whole_s - 1),
            .disconnects = c->disconnects};
    }
    return s->st->code;
}

static enum fc_code time_whole(struct search *s)
{
    FC_SCOPED(fc_session_close) struct fc_session whole = {0};
    bool cut;
    if (open_without(s, FC_NONE, &whole, &cut)) return s->st->code;
    if (cut)
        return fc_refuse(s->st, FC_NO, "--weakest: some nodes of %s are not connected as it is",
                         s->session->machine.name);
    return time_of(s, &whole, &s->out->whole_s);
}

enum fc_code fc_answer_weakest(const struct fc_question *q, struct fc_session *session, struct fc_predicted_job *job,
                               const struct fc_demand *demand, const struct fc_answer *answer, size_t n,
                               struct fc_weakest *weakest, struct fc_status *st)
{
    struct search s = {.q = q,
                       .apart = *q,
                       .session = session,
                       .job = job,
                       .given = demand,
                       .answer = answer,
                       .out = weakest,
                       .st = st};
    const char *why;
    memset(weakest, 0, sizeof *weakest);
    s.apart.node_of = answer->node;
    s.apart.n_node_of = answer->n_tasks;
    s.apart.keep_links = s.apart.keep_timeline = false;
    s.apart.time_only = true;
    if (!fc_job_whole(job, demand, &s.demand, &why, st)) s.demand = NULL;
    if (!st->code && !find_candidates(&s) && !time_whole(&s) && !rank(&s, n)) keep(&s, n);
    fc_arena_free(&s.scratch);
    return st->code;
}

FC_FREES(fc_weakest_free, fc_weakest)
