/* launcher_slurm.c - one host a line, line r for rank r: Slurm's host file for srun -m arbitrary (srun(1)),
 * and Open MPI's sequential mapper (rmaps/seq).
 *
 * Limits: no slots: on a node the ranks take the cores that the launcher binds them to, in rank order. Slurm
 * counts a list such as cn[00-01] as one line, so names are written plain; it does accept several apart by
 * commas, which are read. */
#include "mapping/launcher.h"

#include <string.h>

static enum fc_code write_hosts(const struct fc_launch *job, FILE *out, struct fc_status *st)
{
    (void)st;
    for (uint32_t r = 0; r < job->n_tasks; r++) fprintf(out, "%s\n", job->host[job->place[r]]);
    return FC_OK;
}

static enum fc_code read_hosts(const struct fc_text *text, const struct fc_launch *job, struct fc_launched *back,
                               struct fc_status *st)
{
    struct fc_launch_words words;
    const char *word;
    size_t length;
    for (fc_launch_words_start(&words, text); fc_launch_word(&words, &word, &length);) {
        struct fc_place where = fc_lines_place(&words.lines);
        for (const char *end = word + length, *next; word <= end; word = next + 1) {
            uint32_t place;
            next = memchr(word, ',', (size_t)(end - word));
            if (!next) next = end;
            if (next == word) return fc_fail(st, FC_INPUT, where, "an empty host name");
            if (back->n == job->n_tasks)
                return fc_fail(st, FC_INPUT, where, "more hosts than the %u ranks", job->n_tasks);
            if (fc_launched_host(job, word, (size_t)(next - word), &place, where, st) ||
                fc_launched_put(job, back, back->n, place, FC_NONE, where, st))
                return st->code;
        }
    }
    return FC_OK;
}

const struct fc_launcher_format fc_launcher_slurm = {
    .name = "slurm",
    .what = "Slurm host file for -m arbitrary: a host a line, line r for rank r",
    .source = "srun(1), distribution arbitrary and SLURM_HOSTFILE",
    .start = "SLURM_HOSTFILE=FILE srun -n RANKS -m arbitrary PROGRAM",
    .names_hosts = true,
    .write = write_hosts,
    .read = read_hosts,
};
const struct fc_launcher_format fc_launcher_seq = {
    .name = "seq",
    .what = "Open MPI sequential mapper, also Flux: a host a line, line r for rank r",
    .source = "Open MPI 4.1 mpirun(1), rmaps seq; flux-run(1), --taskmap=hostfile",
    .start = "mpirun --mca rmaps seq --hostfile FILE -n RANKS PROGRAM",
    .names_hosts = true,
    .write = write_hosts,
    .read = read_hosts,
};
