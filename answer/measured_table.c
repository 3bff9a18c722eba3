/* measured_table.c - a table of measured collectives, and the machine as each of its jobs has it. */
#include "answer/measured.h"
#include "answer/job.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- the table ---- */

enum column {
    NODES,
    COLLECTIVE,
    ALGORITHM,
    BYTES,
    MICROSECONDS,
    SYSTEM,
    RANKS_PER_NODE,
    HOSTS,
    PART,
    LIBRARY,
    COLUMNS
};
static const struct {
    const char *name, *other;
    bool needed;
} columns[COLUMNS] = {
    [NODES] = {"nodes", NULL, true},
    [COLLECTIVE] = {"collective", NULL, true},
    [ALGORITHM] = {"algorithm", NULL, true},
    [BYTES] = {"total_bytes", "bytes", true},
    [MICROSECONDS] = {"median_us", "time_us", true},
    [SYSTEM] = {"system", NULL, false},
    [RANKS_PER_NODE] = {"ppn", "ranks_per_node", false},
    [HOSTS] = {"hosts", NULL, false},
    [PART] = {"part", NULL, false},
    [LIBRARY] = {"library", NULL, false},
};
enum { MOST_FIELDS = 64, ELEMENT_BYTES = 4 };

struct reader {
    struct fc_measured *table;
    const char *machine;
    struct fc_lines lines;
    int at[COLUMNS]; /* number of the column; -1: there is none */
    char *field[MOST_FIELDS];
    int n_fields;
    struct fc_status *st;
};

static enum fc_code wrong(const struct reader *r, const char *what, const char *found, const char *expected)
{
    return fc_fail(r->st, FC_INPUT, fc_lines_place(&r->lines), "%s '%.60s' (expected %s)", what, found, expected);
}

/* The fields of the line, copied into the arena. */
static enum fc_code split(struct reader *r)
{
    char *line = fc_alloc(&r->table->arena, r->lines.length + 1, 1, r->st);
    if (!line) return r->st->code;
    memcpy(line, r->lines.text, r->lines.length);
    r->n_fields = 0;
    for (char *at = line; at && r->n_fields < MOST_FIELDS;) {
        char *tab = strchr(at, '\t');
        if (tab) *tab++ = '\0';
        r->field[r->n_fields++] = at;
        at = tab;
    }
    return FC_OK;
}

/* The next line that is neither empty nor a comment. */
static bool next_line(struct reader *r)
{
    bool there;
    while ((there = fc_lines_next(&r->lines)) && (!r->lines.length || *r->lines.text == '#')) continue;
    return there;
}

static enum fc_code read_head(struct reader *r)
{
    if (!next_line(r))
        return fc_fail(r->st, FC_INPUT, (struct fc_place){r->table->file, 0},
                       "is empty (expected a table whose first line names its columns)");
    if (split(r)) return r->st->code;
    for (int c = 0; c < COLUMNS; c++) {
        r->at[c] = -1;
        for (int i = 0; i < r->n_fields && r->at[c] < 0; i++)
            if (!strcmp(r->field[i], columns[c].name) || (columns[c].other && !strcmp(r->field[i], columns[c].other)))
                r->at[c] = i;
        if (columns[c].needed && r->at[c] < 0)
            return fc_fail(r->st, FC_INPUT, fc_lines_place(&r->lines),
                           "no column %s%s%s (expected a line of names with tabs between)", columns[c].name,
                           columns[c].other ? " or " : "", columns[c].other ? columns[c].other : "");
    }
    return FC_OK;
}

static const char *field(const struct reader *r, enum column c)
{
    return r->at[c] < 0 || r->at[c] >= r->n_fields || !*r->field[r->at[c]] ? NULL : r->field[r->at[c]];
}

static enum fc_code read_number(const struct reader *r, enum column c, double least, double *value)
{
    const char *text = field(r, c);
    char *end;
    *value = text ? strtod(text, &end) : NAN;
    if (!text || *end || !(*value >= least) || !isfinite(*value))
        return wrong(r, columns[c].name, text ? text : "",
                     least > 1   ? "a number"
                     : least > 0 ? "1 or more"
                                 : "a number above 0");
    return FC_OK;
}

/* The number of nodes that "16" or "8x8x8" means; 0: neither. */
static uint32_t count_nodes(const char *text)
{
    uint64_t product = 1;
    for (const char *at = text;; at++) {
        char *end;
        if (!isdigit((unsigned char)*at)) return 0;
        unsigned long long k = strtoull(at, &end, 10);
        if (k < 1 || k > INT32_MAX || (product *= k) > INT32_MAX) return 0;
        if (!*end) return (uint32_t)product;
        if (*end != 'x') return 0;
        at = end;
    }
}

static bool same(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

/* "@FILE:LINE": the path of FILE beside the table, and the line. Other lists stay as they are. */
static enum fc_code find_hosts(struct reader *r, struct fc_measured_job *job, const char *hosts)
{
    const char *colon = hosts && *hosts == '@' ? strrchr(hosts, ':') : NULL, *slash = strrchr(r->table->file, '/');
    char *end, path[1200];
    long line = colon ? strtol(colon + 1, &end, 10) : 0;
    job->hosts = hosts;
    if (!colon) return FC_OK;
    if (*end || line < 1) return wrong(r, "hosts", hosts, "@FILE:LINE, the line counted from 1");
    snprintf(path, sizeof path, "@%.*s%.*s", slash && hosts[1] != '/' ? (int)(slash + 1 - r->table->file) : 0,
             r->table->file, (int)(colon - hosts - 1), hosts + 1);
    job->hosts_line = line;
    job->hosts = fc_copy_text(&r->table->arena, path, r->st);
    return r->st->code;
}

/* The job of the line, new or known: its number, in order of the file. */
static enum fc_code find_job(struct reader *r, uint32_t *number)
{
    struct fc_measured *t = r->table;
    const char *nodes = field(r, NODES), *hosts = field(r, HOSTS);
    double each = 1;
    uint32_t n = nodes ? count_nodes(nodes) : 0;
    if (n < 1) return wrong(r, "nodes", nodes ? nodes : "", "a number of nodes, or the shape of a torus such as 8x8x8");
    if (field(r, RANKS_PER_NODE) && read_number(r, RANKS_PER_NODE, 1, &each)) return r->st->code;
    if (each != floor(each) || each * n > INT32_MAX)
        return wrong(r, "ranks a node", field(r, RANKS_PER_NODE), "a whole number");
    for (*number = 0; *number < t->n_jobs; ++*number) {
        const struct fc_measured_job *job = &t->jobs[*number];
        if (same(job->nodes, nodes) && job->ranks_per_node == (int)each && same(job->text, hosts)) return FC_OK;
    }
    t->jobs[t->n_jobs] = (struct fc_measured_job){
        .nodes = nodes, .text = hosts, .ranks_per_node = (int)each, .n_nodes = n, .n_ranks = n * (uint32_t)each};
    return find_hosts(r, &t->jobs[t->n_jobs++], hosts);
}

/* What a call of the operation says of its bytes, of a vector of so many. */
static double call_bytes(enum fc_op op, double vector_bytes, uint32_t n)
{
    bool blocks = op == FC_OP_ALLTOALL || op == FC_OP_ALLGATHER || op == FC_OP_GATHER || op == FC_OP_SCATTER ||
                  op == FC_OP_REDUCE_SCATTER;
    return blocks ? floor(vector_bytes / n) : vector_bytes;
}

static enum fc_code read_algorithm(struct reader *r, struct fc_measured_row *row)
{
    char text[200];
    struct fc_status why = {0};
    for (int op = 0; op < FC_N_OPS; op++)
        if (!strcasecmp(fc_op_names[op], row->collective) && fc_collective_named((enum fc_op)op, NULL))
            row->op = (enum fc_op)op, row->collective = fc_op_names[op];
    if (row->op == FC_OP_INIT) {
        row->left_out = "no such collective is known";
        return FC_OK;
    }
    const char *library = field(r, LIBRARY);
    if (library && !fc_collective_rules_named(library))
        return wrong(r, "library", library, "rules of `fabricast list collectives`, such as openmpi");
    row->barrier = library != NULL;
    snprintf(text, sizeof text, "%s%s%s=%.150s", library ? library : "", library ? "," : "", row->collective,
             row->algorithm);
    if (fc_collective_choice_read(text, &row->choice, &why)) row->left_out = "the algorithm is not known";
    return why.code == FC_NO ? fc_refuse(r->st, FC_NO, "%s", why.message) : FC_OK;
}

static enum fc_code read_part(struct reader *r, struct fc_measured_row *row)
{
    const char *part = field(r, PART);
    row->told = part != NULL;
    if (!part) return FC_OK;
    row->fitted = !strcmp(part, "fit");
    row->seen = !strcmp(part, "seen");
    if (row->fitted || row->seen || !strcmp(part, "judge")) return FC_OK;
    return wrong(r, "part", part, "fit, seen or judge");
}

static enum fc_code read_row(struct reader *r)
{
    struct fc_measured *t = r->table;
    const char *system = field(r, SYSTEM);
    size_t length = system ? strlen(system) : 0;
    double us, bytes;
    if (system && (strncmp(system, r->machine, length) || (r->machine[length] && r->machine[length] != '-'))) {
        t->n_other++;
        return FC_OK;
    }
    struct fc_measured_row *row = &t->rows[t->n_rows];
    *row = (struct fc_measured_row){.line = r->lines.line,
                                    .collective = field(r, COLLECTIVE),
                                    .algorithm = field(r, ALGORITHM),
                                    .predicted_s = NAN};
    if (!row->collective) return wrong(r, "collective", "", "the name of an operation, such as allreduce");
    if (!row->algorithm) return wrong(r, "algorithm", "", "its name, see `fabricast list collectives`");
    if (read_number(r, BYTES, 1, &bytes) || read_number(r, MICROSECONDS, 1e-9, &us) || find_job(r, &row->job) ||
        read_algorithm(r, row))
        return r->st->code;
    if (read_part(r, row)) return r->st->code;
    row->bytes = bytes;
    row->measured_s = 1e-6 * us;
    row->call_bytes = call_bytes(row->op, bytes, t->jobs[row->job].n_ranks);
    if (!row->left_out && row->call_bytes < ELEMENT_BYTES) row->left_out = "less than an element of 4 bytes a rank";
    t->n_rows++;
    return FC_OK;
}

enum fc_code fc_measured_read(const char *path, const char *machine, struct fc_measured *table, struct fc_status *st)
{
    struct fc_text text;
    struct reader r = {.table = table, .machine = machine, .st = st};
    size_t n = 0;
    memset(table, 0, sizeof *table);
    table->file = fc_copy_text(&table->arena, path, st);
    if (!st->code && !fc_read_file(path, &table->arena, &text, st)) {
        fc_lines_start(&r.lines, &text);
        while (fc_lines_next(&r.lines)) n++;
        table->rows = fc_alloc(&table->arena, n, sizeof *table->rows, st);
        table->jobs = fc_alloc(&table->arena, n, sizeof *table->jobs, st);
        fc_lines_start(&r.lines, &text);
        if (!st->code && !read_head(&r))
            while (next_line(&r))
                if (split(&r) || read_row(&r)) break;
    }
    if (!st->code && table->n_rows == 0)
        fc_fail(st, FC_INPUT, (struct fc_place){path, 0}, "no row of machine %s (%u of other systems)", machine,
                table->n_other);
    if (st->code) fc_measured_free(table);
    return st->code;
}

/* ---- the jobs on the machine ---- */

static enum fc_code open_session(const struct fc_question *q, struct fc_measured *t, struct fc_measured_job *job,
                                 struct fc_status *st)
{
    struct fc_question of = *q;
    char dims[120] = "network.dims=[";
    const char **settings = fc_alloc(&t->arena, q->n_settings + 1, sizeof *settings, st);
    if (!settings) return st->code;
    for (size_t i = 0; i < q->n_settings; i++) settings[i] = q->settings[i];
    if (strchr(job->nodes, 'x')) {
        size_t at = strlen(dims);
        for (const char *c = job->nodes; *c && at + 2 < sizeof dims; c++) dims[at++] = *c == 'x' ? ',' : *c;
        dims[at] = ']';
        settings[of.n_settings++] = dims;
    }
    of.settings = settings;
    of.ranks_per_node = job->ranks_per_node;
    if (job->hosts) of.nodes = job->hosts, of.nodes_line = job->hosts_line;
    if (fc_session_open(&of, q->machine, &job->session, st)) return st->code;
    job->open = true;
    const struct fc_bulk *bulk;
    return fc_session_calibrate(&job->session, &bulk, st);
}

static enum fc_code place(const struct fc_question *q, struct fc_measured *t, struct fc_measured_job *job,
                          struct fc_status *st)
{
    struct fc_demand nobody = {.n_tasks = job->n_ranks, .name = "measured"};
    struct fc_question of = *q;
    of.ranks_per_node = job->ranks_per_node;
    struct fc_mapping *mapping = fc_alloc(&t->arena, 1, sizeof *mapping, st);
    if (!mapping || fc_place_tasks(&of, &job->session, &nobody, q->map, mapping, st)) return st->code;
    job->mapping = mapping;
    return FC_OK;
}

enum fc_code fc_measured_open(const struct fc_question *q, struct fc_measured *t, struct fc_status *st)
{
    for (uint32_t j = 0; j < t->n_jobs; j++) {
        struct fc_measured_job *job = &t->jobs[j];
        struct fc_status why = {0};
        if (!open_session(q, t, job, &why) && !place(q, t, job, &why)) continue;
        if (why.code != FC_INPUT) return *st = why, st->code;
        char text[700];
        fc_status_text(&why, text, sizeof text);
        job->why_not = fc_copy_text(&t->arena, text, st);
    }
    for (uint32_t i = 0; i < t->n_rows; i++)
        if (!t->rows[i].left_out) t->rows[i].left_out = t->jobs[t->rows[i].job].why_not;
    return st->code;
}

void fc_measured_free(struct fc_measured *t)
{
    for (uint32_t j = 0; j < t->n_jobs; j++) {
        if (t->jobs[j].mapping) fc_mapping_free(t->jobs[j].mapping);
        if (t->jobs[j].open) fc_session_close(&t->jobs[j].session);
    }
    fc_arena_free(&t->arena);
    memset(t, 0, sizeof *t);
}
