/* launcher_kueue.c - Kueue's topology assignment: which node takes how many pods of a workload, in the order of their ranks.
 *
 *     {"levels": ["kubernetes.io/hostname"], "domains": [{"values": ["cn2"], "count": 2}, ...]}
 *
 * Rank r (the pod's index) goes to the first domain whose count, added to those before, exceeds r. Each node comes once, so its
 * ranks are consecutive. Read are assignments with further levels, too, of which the last names the node. Source: Kueue,
 * API v1beta1, TopologyAssignment in a workload's status.admission.podSetAssignments; its topology ungater gives pods their
 * nodes in this order. Limits: the compressed form of v1beta2 (slices) is not read; no slots. */
#include "core/json.h"
#include "mapping/launcher.h"

#include <jansson.h>
#include <string.h>

static enum fc_code check(const struct fc_launch *job, struct fc_status *st)
{
    return fc_launch_check_once(job, "kueue", st);
}

static enum fc_code write_assignment(const struct fc_launch *job, FILE *out, struct fc_status *st)
{
    (void)st;
    fprintf(out, "{\"levels\": [\"kubernetes.io/hostname\"], \"domains\": [");
    for (uint32_t r = 0; r < job->n_tasks;
         r += job->n_ranks[job->place[r]]) /* names are plain words: nothing to escape */
        fprintf(out, "%s\n  {\"values\": [\"%s\"], \"count\": %u}", r ? "," : "", job->host[job->place[r]],
                job->n_ranks[job->place[r]]);
    fprintf(out, "\n]}\n");
    return FC_OK;
}

static enum fc_code read_domain(const json_t *domain, size_t number, size_t n_levels, const struct fc_launch *job,
                                struct fc_launched *back, struct fc_place where, struct fc_status *st)
{
    const json_t *values = json_object_get(domain, "values"), *count = json_object_get(domain, "count");
    const char *host = json_string_value(json_array_get(values, n_levels - 1));
    json_int_t n = json_integer_value(count);
    uint32_t place;
    if (!host || json_array_size(values) != n_levels || !json_is_integer(count) || n < 1)
        return fc_fail(st, FC_INPUT, where, "domains[%zu]: expected values, one a level, and a count of 1 or more",
                       number);
    if (n > job->n_tasks - back->n)
        return fc_fail(st, FC_INPUT, where, "domains[%zu]: more pods than the %u ranks", number, job->n_tasks);
    if (fc_launched_host(job, host, strlen(host), &place, where, st)) return st->code;
    for (; n > 0; n--)
        if (fc_launched_put(job, back, back->n, place, FC_NONE, where, st)) return st->code;
    return FC_OK;
}

static enum fc_code read_assignment(const struct fc_text *text, const struct fc_launch *job, struct fc_launched *back,
                                    struct fc_status *st)
{
    struct fc_place where;
    json_t *all = fc_json_of_file(text, &where, st);
    if (!all) return st->code;
    const json_t *levels = json_object_get(all, "levels"), *domains = json_object_get(all, "domains");
    if (!json_array_size(levels) || !json_is_array(domains))
        fc_fail(st, FC_INPUT, where, "no lists levels and domains (expected the topologyAssignment of a workload%s)",
                json_object_get(all, "slices") ? " of API v1beta1" : "");
    for (size_t i = 0; !st->code && i < json_array_size(domains); i++)
        read_domain(json_array_get(domains, i), i, json_array_size(levels), job, back, where, st);
    json_decref(all);
    return st->code;
}

const struct fc_launcher_format fc_launcher_kueue = {
    .name = "kueue",
    .what = "Kueue's topologyAssignment: nodes in the order of the pods' ranks, each once",
    .source = "Kueue, API v1beta1, TopologyAssignment",
    .start = "for Kubernetes: which pod index goes to which node",
    .names_hosts = true,
    .check = check,
    .write = write_assignment,
    .read = read_assignment,
};
