/* launcher_slots.c - hosts in order with how many ranks each takes: "cn2 slots=4". Open MPI's host file, that of the MPI
 * Operator of Kubernetes (/etc/mpi/hostfile) and DeepSpeed's.
 *
 * Ranks fill the hosts in the order of the lines, so a host's ranks are consecutive and each host comes once. Source: Open MPI
 * mpirun(1), Specifying Host Nodes; DeepSpeed, Getting Started, Resource Configuration. Limits: no slots of a node; Open MPI
 * fills in this order by default (--map-by slot) only. */
#include "mapping/launcher.h"

#include <string.h>

static enum fc_code check(const struct fc_launch *job, struct fc_status *st)
{
    return fc_launch_check_once(job, "slots", st);
}

static enum fc_code write_hosts(const struct fc_launch *job, FILE *out, struct fc_status *st)
{
    (void)st;
    for (uint32_t r = 0; r < job->n_tasks; r += job->n_ranks[job->place[r]])
        fprintf(out, "%s slots=%u\n", job->host[job->place[r]], job->n_ranks[job->place[r]]);
    return FC_OK;
}

static enum fc_code read_hosts(const struct fc_text *text, const struct fc_launch *job, struct fc_launched *back,
                               struct fc_status *st)
{
    struct fc_lines lines;
    for (fc_lines_start(&lines, text); fc_lines_next(&lines);) {
        struct fc_place where = fc_lines_place(&lines);
        const char *comment = memchr(lines.text, '#', lines.length), *at = lines.text, *host, *slots, *more;
        const char *end = comment ? comment : at + lines.length;
        size_t length, slots_length, more_length;
        long long n;
        uint32_t place;
        if (!fc_next_word(&at, end, &host, &length)) continue;
        if (!fc_next_word(&at, end, &slots, &slots_length) || slots_length < 7 || memcmp(slots, "slots=", 6) ||
            fc_next_word(&at, end, &more, &more_length))
            return fc_fail(st, FC_INPUT, where, "expected HOST slots=N");
        if (fc_word_int(slots + 6, slots_length - 6, 1, job->n_tasks, "slots", &n, where, st) ||
            fc_launched_host(job, host, length, &place, where, st))
            return st->code;
        for (uint32_t r = 0; r < back->n; r++)
            if (back->place[r] == place)
                return fc_fail(st, FC_INPUT, where, "host '%.*s' again (expected each once)",
                               (int)(length < 80 ? length : 80), host);
        if (n > job->n_tasks - back->n)
            return fc_fail(st, FC_INPUT, where, "more slots than the %u ranks", job->n_tasks);
        for (; n > 0; n--)
            if (fc_launched_put(job, back, back->n, place, FC_NONE, where, st)) return st->code;
    }
    return FC_OK;
}

const struct fc_launcher_format fc_launcher_slots = {
    .name = "slots",
    .what = "Open MPI host file, also MPI Operator and DeepSpeed: HOST slots=N, each host once",
    .source = "Open MPI mpirun(1), Specifying Host Nodes; DeepSpeed, Resource Configuration",
    .start = "mpirun --hostfile FILE -n RANKS PROGRAM, or deepspeed --hostfile FILE PROGRAM",
    .names_hosts = true,
    .check = check,
    .write = write_hosts,
    .read = read_hosts,
};
