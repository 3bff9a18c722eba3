/* launcher_hostfile.c - MPICH Hydra's host file: HOST:K places the next K ranks; a run of consecutive ranks
 * on a host is one line, and a host may come again.
 *
 * Source: MPICH, Using the Hydra Process Manager, host files. Limits: no slots (Hydra binds with -bind-to).
 * Hydra starts over at the first line when more ranks are asked for than the file has: ask for exactly as
 * many. */
#include "mapping/launcher.h"

#include <string.h>

static enum fc_code write_runs(const struct fc_launch *job, FILE *out, struct fc_status *st)
{
    (void)st;
    for (uint32_t r = 0, first; r < job->n_tasks;) {
        for (first = r; r < job->n_tasks && job->place[r] == job->place[first];) r++;
        fprintf(out, "%s:%u\n", job->host[job->place[first]], r - first);
    }
    return FC_OK;
}

static enum fc_code read_runs(const struct fc_text *text, const struct fc_launch *job, struct fc_launched *back,
                              struct fc_status *st)
{
    struct fc_launch_words words;
    const char *word;
    size_t length;
    for (fc_launch_words_start(&words, text); fc_launch_word(&words, &word, &length);) {
        struct fc_place where = fc_lines_place(&words.lines);
        const char *colon = memchr(word, ':', length);
        size_t host = colon ? (size_t)(colon - word) : length;
        long long n = 1;
        uint32_t place;
        if (colon && fc_word_int(colon + 1, length - host - 1, 1, job->n_tasks, "ranks of the host", &n, where, st))
            return st->code;
        if (n > job->n_tasks - back->n)
            return fc_fail(st, FC_INPUT, where, "more places than the %u ranks", job->n_tasks);
        if (fc_launched_host(job, word, host, &place, where, st)) return st->code;
        for (; n > 0; n--)
            if (fc_launched_put(job, back, back->n, place, FC_NONE, where, st)) return st->code;
    }
    return FC_OK;
}

const struct fc_launcher_format fc_launcher_hostfile = {
    .name = "hostfile",
    .what = "MPICH Hydra host file: HOST:K for each run of K consecutive ranks",
    .source = "MPICH, Using the Hydra Process Manager",
    .start = "mpiexec -f FILE -n RANKS PROGRAM",
    .names_hosts = true,
    .write = write_runs,
    .read = read_runs,
};
