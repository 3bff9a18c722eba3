/* best_bound.c - what no mapping of a job's tasks onto the nodes that it may use is under, beside an answer.
 *
 *     T >= the greater of the job's time without a network (prediction: anywhere_s), and W / bandwidth as mapping_bound.c
 *          proves it of the job's traffic, whatever the mapping and the routing
 *
 * Of a phase W are wire bytes by the least factor of its messages. Of a trace, whose messages of one pair differ in size, they
 * are payload bytes by the factor of full packets, and its collectives are those of the answer's algorithms. Limits: looked for
 * where it costs less than half a second (fc_bound_work) and of traces where they are in memory; nothing is known of
 * jobs whose collectives the network carries out, and of jobs beside another job's replay only what holds alone. */
#include "answer/answer.h"
#include "mapping/work.h"

#include <string.h>

enum { MOST_EVENTS = 1 << 21, MOST_RANKS = 4096 };
static const double MOST_S = 0.5;

bool fc_job_whole(struct fc_predicted_job *job, const struct fc_demand *demand, const struct fc_demand **whole,
                  const char **why, struct fc_status *st)
{
    const struct fc_trace *trace = job->source.head;
    *whole = demand;
    if (!trace || demand->n_entries || demand->n_dense) return true;
    *why = "the trace is too long to be looked at once more";
    if (!trace->events || trace->first_event[trace->n_ranks] > MOST_EVENTS || trace->n_ranks > MOST_RANKS) return false;
    if (!job->whole_read) {
        if (job->source.restart(&job->source)) return false;
        if (fc_demand_of_source(&job->source, &job->collectives, &job->whole, st)) return false;
        job->whole_read = true;
    }
    *whole = &job->whole;
    return true;
}

static double total_bytes(const struct fc_demand *d)
{
    double sum = 0;
    for (size_t e = 0; e < d->n_entries; e++) sum += d->bytes[e];
    return sum;
}

/* Wire bytes a payload byte of full packets: of no message it is less. */
static double least_factor(const struct fc_machine *m)
{
    double payload = m->packet.max_bytes - m->packet.header_bytes;
    return m->packet.max_bytes > 0 ? fc_wire_bytes(m, payload) / payload : 1;
}

static bool is_strategy(const char *map)
{
    size_t n = strcspn(map, ":");
    for (int k = 0; fc_strategies[k]; k++)
        if (strlen(fc_strategies[k]->name) == n && !strncmp(map, fc_strategies[k]->name, n)) return true;
    return false;
}

/* The mappings' bound of the job on this machine, looked for once for all mappings of one kind. */
static enum fc_code find(const struct fc_question *q, const struct fc_session *session, struct fc_predicted_job *job,
                         const struct fc_demand *whole, const char *map, struct fc_best *best, struct fc_status *st)
{
    struct fc_map_problem problem = fc_map_problem_of(q, session, whole);
    problem.spread = problem.spread && !q->node_of && is_strategy(map); /* a file may put several tasks on a node */
    if (job->best.known && job->best.spread == problem.spread) {
        *best = job->best;
        return FC_OK;
    }
    *best = (struct fc_best){.known = true, .spread = problem.spread, .bound = {.time_s = NAN}};
    problem.time_s = MOST_S;
    problem.starts_free = false;
    if (fc_bound_work(&problem) > fc_work_of_s(MOST_S))
        best->why = "to look for it would take longer than the answer (map does)";
    else if (fc_mapping_bound(&problem, &best->bound, st))
        return st->code;
    job->best = *best;
    return FC_OK;
}

enum fc_code fc_answer_best_bound(const struct fc_question *q, const struct fc_session *session,
                                  struct fc_predicted_job *job, const struct fc_demand *demand, const char *map,
                                  struct fc_answer *a, struct fc_status *st)
{
    const struct fc_trace *trace = job->source.head;
    const struct fc_prediction *p = &a->p;
    const struct fc_demand *whole;
    struct fc_best best = {.bound = {.time_s = NAN}};
    a->best_bound_s = NAN;
    if (job->network == FC_NET_IDEAL && trace) {
        a->best_bound_why = "an ideal network is no machine's";
        return FC_OK;
    }
    if (session->net.node_kind) {
        a->best_bound_why = "the machine's nodes differ";
        return FC_OK;
    }
    if (!fc_job_whole(job, demand, &whole, &a->best_bound_why, st)) return st->code;
    if (find(q, session, job, whole, map, &best, st)) return st->code;
    a->best_bound_why = best.why;
    if (best.why) return FC_OK;
    double least_s = best.bound.time_s;
    if (trace) {
        double sent = p->network_bytes + p->local_bytes;
        a->best_bound_why = "the network carries out some of the job's collectives";
        if (total_bytes(whole) > sent * (1 + 1e-3)) return FC_OK;
        least_s = best.bound.payload_s * least_factor(&session->machine);
    } else {
        least_s += p->computation_s;
    }
    a->best_bound_why = "nothing is known that holds for all of them";
    bool by_links = least_s > p->anywhere_s;
    if (!by_links) least_s = p->anywhere_s;
    if (!(least_s > 0)) return FC_OK;
    a->best_bound_why = NULL;
    a->best_bound_s = fmin(least_s, p->bound_s);
    a->best_bound_by = by_links ? fc_copy_text(&a->arena, best.bound.binds, st)
                       : trace  ? "computation of the busiest rank"
                                : "computation and software of the busiest task";
    return st->code;
}

double fc_answer_percent_of_best(const struct fc_answer *a)
{
    return a->p.time_s > 0 ? 100 * a->best_bound_s / a->p.time_s : (double)NAN;
}
