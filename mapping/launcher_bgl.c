/* launcher_bgl.c - files of coordinates: line r tells the node of rank r.
 *
 * Blue Gene's map file: "x y z t" on L and P, "a b c d e t" on Q, t the core. Source: Blue Gene/L system documentation
 * (BGLMPI_MAPPING), rubik; the order A B C D E T of Q is from its runjob manual.
 * PJM's (K, Fugaku, FX1000): "(x,y,z)" in the job's shape, up to three dimensions; no cores: ranks of a node take them in order.
 * Source: Fugaku's users guide, rank assignment (rank-map-hostfile) and mpiexec's vcoordfile, whose lines are the same.
 *
 * Coordinates count from the corner of the partition, so the nodes must be a box of a torus or mesh with one
 * node a router. Limits: on a partition smaller than the file's box the launcher refuses, not we.
 */
#include "mapping/launcher.h"

#include "models/family_torus.h"

#include <string.h>

struct box {
    uint32_t low[FC_MAX_DIMS], side[FC_MAX_DIMS];
};

static enum fc_code find_box(const struct fc_launch *job, const char *format, struct box *box, struct fc_status *st)
{
    const struct fc_machine *m = job->net->machine;
    uint64_t volume = 1;
    const struct fc_torus_shape *s = fc_torus(job->net);
    if (!s)
        return fc_refuse(st, FC_INPUT, "format %s writes coordinates, and a %s network has none (tori and meshes do)",
                         format, m->family->name);
    if (s->nodes_per_router != 1)
        return fc_refuse(st, FC_INPUT, "format %s tells one node a router, and machine %s has %u", format, m->name,
                         s->nodes_per_router);
    for (int d = 0; d < s->n_dims; d++) {
        uint32_t low = FC_NONE, high = 0;
        for (uint32_t p = 0; p < job->n_places; p++) {
            uint32_t c = fc_torus_coordinate(s, job->node[p], d);
            if (c < low) low = c;
            if (c > high) high = c;
        }
        box->low[d] = low;
        box->side[d] = high - low + 1;
        volume *= box->side[d];
    }
    if (volume != job->n_places)
        return fc_refuse(st, FC_INPUT,
                         "format %s counts coordinates in a partition, and the %u allowed nodes are no box (the "
                         "one around them has %llu)",
                         format, job->n_places, (unsigned long long)volume);
    return FC_OK;
}

static enum fc_code check(const struct fc_launch *job, struct fc_status *st)
{
    struct box box;
    return find_box(job, "bgl", &box, st);
}

static enum fc_code write_coordinates(const struct fc_launch *job, FILE *out, struct fc_status *st)
{
    const struct fc_torus_shape *s = fc_torus(job->net);
    struct box box;
    if (find_box(job, "bgl", &box, st)) return st->code;
    for (uint32_t r = 0; r < job->n_tasks; r++) {
        for (int d = 0; d < s->n_dims; d++)
            fprintf(out, "%u ", fc_torus_coordinate(s, job->node[job->place[r]], d) - box.low[d]);
        fprintf(out, "%u\n", job->slot[r]);
    }
    return FC_OK;
}

static enum fc_code read_coordinates(const struct fc_text *text, const struct fc_launch *job, struct fc_launched *back,
                                     struct fc_status *st)
{
    struct box box;
    struct fc_lines lines;
    if (find_box(job, "bgl", &box, st)) return st->code;
    const struct fc_torus_shape *s = fc_torus(job->net);
    for (fc_lines_start(&lines, text); fc_lines_next(&lines);) {
        struct fc_place where = fc_lines_place(&lines);
        const char *comment = memchr(lines.text, '#', lines.length), *at = lines.text, *word;
        const char *end = comment ? comment : at + lines.length;
        size_t length;
        uint32_t node = 0;
        long long c[FC_MAX_DIMS + 1];
        int n = 0;
        while (fc_next_word(&at, end, &word, &length)) {
            bool core = n == s->n_dims;
            if (n > s->n_dims) return fc_fail(st, FC_INPUT, where, "more than %d coordinates and a core", s->n_dims);
            if (fc_word_int(word, length, 0, (core ? job->slots : box.side[n]) - 1, core ? "core" : "coordinate", &c[n],
                            where, st))
                return st->code;
            if (!core) node += (box.low[n] + (uint32_t)c[n]) * s->stride[n];
            n++;
        }
        if (n == 0) continue;
        if (n <= s->n_dims)
            return fc_fail(st, FC_INPUT, where, "%d numbers (expected %d coordinates and a core)", n, s->n_dims);
        if (fc_launched_put(job, back, back->n, job->place_of[node], c[s->n_dims], where, st)) return st->code;
    }
    return FC_OK;
}

const struct fc_launcher_format fc_launcher_bgl = {
    .name = "bgl",
    .what = "Blue Gene map file: coordinates and core of rank r on line r (tori)",
    .source = "Blue Gene/L, BGLMPI_MAPPING; Blue Gene/Q, runjob --mapping",
    .start = "mpirun -env BGLMPI_MAPPING=FILE -np RANKS PROGRAM (Blue Gene/Q: runjob --mapping FILE)",
    .tells_slots = true,
    .check = check,
    .write = write_coordinates,
    .read = read_coordinates,
};

/* ---- PJM ---- */

enum { PJM_DIMS = 3 };

static enum fc_code check_shape(const struct fc_launch *job, struct fc_status *st)
{
    struct box box;
    if (find_box(job, "pjm", &box, st)) return st->code;
    int n = fc_torus(job->net)->n_dims;
    if (n <= PJM_DIMS) return FC_OK;
    return fc_refuse(
        st, FC_INPUT,
        "format pjm writes one to three coordinates, and the machine has %d (expected the torus of the job's shape)",
        n);
}

static enum fc_code write_shape(const struct fc_launch *job, FILE *out, struct fc_status *st)
{
    const struct fc_torus_shape *s = fc_torus(job->net);
    struct box box;
    if (find_box(job, "pjm", &box, st)) return st->code;
    for (uint32_t r = 0; r < job->n_tasks; r++)
        for (int d = 0; d < s->n_dims; d++)
            fprintf(out, "%s%u%s", d ? "," : "(", fc_torus_coordinate(s, job->node[job->place[r]], d) - box.low[d],
                    d + 1 == s->n_dims ? ")\n" : "");
    return FC_OK;
}

static enum fc_code read_shape(const struct fc_text *text, const struct fc_launch *job, struct fc_launched *back,
                               struct fc_status *st)
{
    struct box box;
    struct fc_lines lines;
    if (find_box(job, "pjm", &box, st)) return st->code;
    const struct fc_torus_shape *s = fc_torus(job->net);
    for (fc_lines_start(&lines, text); fc_lines_next(&lines);) {
        struct fc_place where = fc_lines_place(&lines);
        const char *at = lines.text, *end = at + lines.length;
        uint32_t node = 0;
        while (end > at && (end[-1] == ' ' || end[-1] == '\t')) end--;
        if (at == end) continue;
        for (int d = 0; d < s->n_dims; d++) {
            size_t length;
            long long c;
            bool opens = at < end && *at == (d ? ',' : '(');
            if (opens) at++;
            for (length = 0; at + length < end && at[length] >= '0' && at[length] <= '9';) length++;
            if (!opens || length == 0)
                return fc_fail(st, FC_INPUT, where, "'%.*s' (expected %d coordinates, (0,0,1))", (int)lines.length,
                               lines.text, s->n_dims);
            if (fc_word_int(at, length, 0, box.side[d] - 1, "coordinate", &c, where, st)) return st->code;
            at += length;
            node += (box.low[d] + (uint32_t)c) * s->stride[d];
        }
        if (end - at != 1 || *at != ')')
            return fc_fail(st, FC_INPUT, where, "'%.*s' (expected %d coordinates, (0,0,1))", (int)lines.length,
                           lines.text, s->n_dims);
        if (fc_launched_put(job, back, back->n, job->place_of[node], FC_NONE, where, st)) return st->code;
    }
    return FC_OK;
}

const struct fc_launcher_format fc_launcher_pjm = {
    .name = "pjm",
    .what = "PJM's rank map: coordinates of rank r in the job's shape on line r (Fugaku, K)",
    .source = "Fugaku users guide, rank assignment (--mpi rank-map-hostfile); mpiexec --vcoordfile",
    .start =
        "pjsub -L node=XxYxZ --mpi \"rank-map-bynode,rank-map-hostfile=FILE\" JOB, or in the job mpiexec --vcoordfile FILE",
    .check = check_shape,
    .write = write_shape,
    .read = read_shape,
};
