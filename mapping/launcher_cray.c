/* launcher_cray.c - Cray MPICH's MPICH_RANK_ORDER: the ranks in slot order, all slots of node 0 first.
 *
 * Slot i lies on node i / k of the launched nodes, k ranks a node, so every node with ranks has k of them but
 * the last, and none before it is empty. A line holds the ranks of one node. Source: NERSC and OLCF user
 * documentation; grid_order(1). Trap: cray-mpich 9.1.0 aborts in MPI_Init when the process mapping that PMI
 * hands out reaches 1,024 bytes (one field report, 2026): a longer one is refused unless asked for. Limits:
 * the order of the ranks on a node is kept, the numbers of the cores are not told. */
#include "mapping/launcher.h"

#include <string.h>

#define MOST_MAPPING_BYTES 1023

size_t fc_pmi_mapping_bytes(const struct fc_launch *job)
{
    size_t bytes = strlen("(vector)");
    for (uint32_t r = 0; r < job->n_tasks;) {
        struct fc_launch_run run = fc_launch_next_run(job, &r);
        bytes += (size_t)snprintf(NULL, 0, ",(%u,%u,%u)", run.place, run.n_places, run.n_ranks);
    }
    return bytes;
}

/* After check: those of every node but the last. */
static uint32_t ranks_a_node(const struct fc_launch *job)
{
    return job->n_ranks[0];
}

static enum fc_code check(const struct fc_launch *job, struct fc_status *st)
{
    uint32_t k = 0;
    for (uint32_t p = 0; p < job->n_places; p++)
        if (job->n_ranks[p] > k) k = job->n_ranks[p];
    uint32_t last = (job->n_tasks - 1) / k;
    for (uint32_t p = 0; p < job->n_places; p++) {
        uint32_t expected = p < last ? k : p == last ? job->n_tasks - last * k : 0;
        if (job->n_ranks[p] != expected)
            return fc_refuse(st, FC_INPUT,
                             "format cray fills the nodes in order with equal ranks: node %u of the allocation "
                             "holds %u ranks (expected %u: %u ranks by %u a node)",
                             p, job->n_ranks[p], expected, job->n_tasks, k);
    }
    size_t bytes = fc_pmi_mapping_bytes(job);
    if (bytes > MOST_MAPPING_BYTES && !job->long_mapping)
        return fc_refuse(st, FC_NO,
                         "the order's PMI_process_mapping takes %zu bytes, and cray-mpich 9.1.0 aborts in MPI_Init "
                         "from %d on (whole blocks of consecutive ranks a node fold; --long-mapping writes it all the "
                         "same)",
                         bytes, MOST_MAPPING_BYTES + 1);
    return FC_OK;
}

static enum fc_code write_order(const struct fc_launch *job, FILE *out, struct fc_status *st)
{
    (void)st;
    fprintf(out, "# %u ranks, %u a node\n", job->n_tasks, ranks_a_node(job));
    for (uint32_t p = 0; p < job->n_places; p++) {
        uint32_t n = 0;
        for (uint32_t s = 0; s < job->slots; s++) {
            uint32_t rank = job->rank_at[(size_t)p * job->slots + s];
            if (rank != FC_NONE) fprintf(out, "%s%u", n++ ? "," : "", rank);
        }
        if (n) putc('\n', out);
    }
    return FC_OK;
}

static enum fc_code read_order(const struct fc_text *text, const struct fc_launch *job, struct fc_launched *back,
                               struct fc_status *st)
{
    struct fc_launch_words words;
    const char *word;
    size_t length;
    uint32_t k = ranks_a_node(job);
    for (fc_launch_words_start(&words, text); fc_launch_word(&words, &word, &length);) {
        struct fc_place where = fc_lines_place(&words.lines);
        for (const char *end = word + length, *next; word < end; word = next + 1) {
            long long rank;
            next = memchr(word, ',', (size_t)(end - word));
            if (!next) next = end;
            if (fc_word_int(word, (size_t)(next - word), 0, job->n_tasks - 1, "rank", &rank, where, st) ||
                fc_launched_put(job, back, rank, back->n / k, FC_NONE, where, st))
                return st->code;
        }
    }
    return FC_OK;
}

const struct fc_launcher_format fc_launcher_cray = {
    .name = "cray",
    .what = "Cray MPICH_RANK_ORDER: the ranks in slot order, a line a node",
    .source = "NERSC and OLCF user documentation; grid_order(1)",
    .start = "MPICH_RANK_REORDER_METHOD=3 MPICH_RANK_REORDER_FILE=FILE srun -n RANKS --ntasks-per-node=K PROGRAM",
    .needs_writer = true,
    .check = check,
    .write = write_order,
    .read = read_order,
};
