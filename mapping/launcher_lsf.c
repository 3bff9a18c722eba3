/* launcher_lsf.c - LSF's task geometry, LSB_TASK_GEOMETRY: "{(2,5,7)(0,6)(1,3)(4)}", a group of ranks a node.
 *
 * It tells which ranks share a node, not which node: here group i stands for node i of the allocation, so the
 * nodes with ranks must be the first ones without a gap, and the answer holds where LSF gives its hosts in
 * that order (LSB_MCPU_HOSTS). Source: LSF administration, Running Jobs with Task Geometry. Limits: no slots.
 */
#include "mapping/launcher.h"

static enum fc_code check(const struct fc_launch *job, struct fc_status *st)
{
    for (uint32_t p = 0; p < job->n_used; p++)
        if (job->n_ranks[p] == 0)
            return fc_refuse(st, FC_INPUT,
                             "format lsf cannot name nodes: its group i goes to host i, and node %u of the "
                             "allocation holds no rank while later ones do (%u of %u nodes have ranks; list "
                             "only these with "
                             "--nodes)",
                             p, job->n_used, job->n_places);
    return FC_OK;
}

static enum fc_code write_groups(const struct fc_launch *job, FILE *out, struct fc_status *st)
{
    (void)st;
    putc('{', out);
    for (uint32_t p = 0; p < job->n_used; p++) {
        const char *before = "(";
        for (uint32_t s = 0; s < job->slots; s++) {
            uint32_t rank = job->rank_at[(size_t)p * job->slots + s];
            if (rank == FC_NONE) continue;
            fprintf(out, "%s%u", before, rank);
            before = ",";
        }
        putc(')', out);
    }
    fprintf(out, "}\n");
    return FC_OK;
}

static enum fc_code read_groups(const struct fc_text *text, const struct fc_launch *job, struct fc_launched *back,
                                struct fc_status *st)
{
    struct fc_place where = {text->file, 1};
    uint32_t group = 0;
    char before = 0; /* what the next character must fit */
    for (const char *c = text->data, *end = c + text->size; c < end;) {
        if (*c == '\n') where.line++;
        if (*c == ' ' || *c == '\t' || *c == '\n' || *c == '\r') {
            c++;
            continue;
        }
        bool number = *c >= '0' && *c <= '9';
        bool good = before == 0     ? *c == '{'
                    : before == '{' ? *c == '('
                    : before == ')' ? *c == '(' || *c == '}'
                    : before == '0' ? *c == ',' || *c == ')'
                                    : number && before != '}';
        if (!good)
            return fc_fail(st, FC_INPUT, where, "'%c' is not expected here (expected groups such as {(2,5)(0,1)})", *c);
        before = number ? '0' : *c;
        if (number) {
            size_t digits = 0;
            long long rank;
            while (c + digits < end && c[digits] >= '0' && c[digits] <= '9') digits++;
            if (fc_word_int(c, digits, 0, job->n_tasks - 1, "rank", &rank, where, st) ||
                fc_launched_put(job, back, rank, group, FC_NONE, where, st))
                return st->code;
            c += digits;
            continue;
        }
        group += *c == ')';
        c++;
    }
    return before == '}' ? FC_OK : fc_fail(st, FC_INPUT, where, "the geometry ends without its }");
}

const struct fc_launcher_format fc_launcher_lsf = {
    .name = "lsf",
    .what = "LSF task geometry: {(2,5)(0,1)}, group i on node i of the allocation",
    .source = "LSF administration, Running Jobs with Task Geometry",
    .start = "LSB_TASK_GEOMETRY=\"$(cat FILE)\" bsub -n RANKS ... PROGRAM",
    .check = check,
    .write = write_groups,
    .read = read_groups,
};
