/* launcher.c - launcher files: the list of formats; a job from a mapping; write, read back, compare; a
 * mapping from a file.
 *
 * Nothing is published that does not read back as the mapping it was written from. Formats that tell no slots
 * are compared by node only: the order of ranks on a node is then the launcher's. */
#include "mapping/launcher.h"

#include "mapping/map_build.h"

#include <stdlib.h>
#include <string.h>

/* X(record): declared and listed. */
#define LAUNCHERS(X)                                                                                                   \
    X(slurm)                                                                                                           \
    X(rankfile)                                                                                                        \
    X(rankfile_relative)                                                                                               \
    X(hostfile)                                                                                                        \
    X(seq)                                                                                                             \
    X(cray)                                                                                                            \
    X(bgl)                                                                                                             \
    X(pjm)                                                                                                             \
    X(flux)                                                                                                            \
    X(lsf)                                                                                                             \
    X(erf)                                                                                                             \
    X(slots)                                                                                                           \
    X(kueue)                                                                                                           \
    X(json)
#define DECLARE(name) extern const struct fc_launcher_format fc_launcher_##name;
#define ENTRY(name) &fc_launcher_##name,
LAUNCHERS(DECLARE)
const struct fc_launcher_format *const fc_launcher_formats[] = {LAUNCHERS(ENTRY) NULL};
#undef DECLARE
#undef ENTRY

const struct fc_launcher_format *fc_launcher_find(const char *name)
{
    const struct fc_launcher_format *const *f = fc_launcher_formats;
    while (*f && strcmp((*f)->name, name)) f++;
    return *f;
}

enum fc_code fc_launcher_unknown(const char *name, struct fc_status *st)
{
    const char *names[32] = {"cores"};
    char known[300] = "cores";
    size_t n = 1;
    for (const struct fc_launcher_format *const *f = fc_launcher_formats; *f && n < FC_COUNT(names); f++) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, ", %s", (*f)->name);
        names[n++] = (*f)->name;
    }
    const char *near = fc_nearest(name, names, n);
    return fc_refuse(st, FC_INPUT, "--format: '%.60s' is unknown (%s%s%sknown: %s)", name, near ? "did you mean '" : "",
                     near ? near : "", near ? "'? " : "", known);
}

/* ---- the job ---- */

void fc_launch_free(struct fc_launch *job)
{
    fc_arena_free(&job->arena);
    memset(job, 0, sizeof *job);
}

/* The places without their ranks. */
static enum fc_code start_places(const struct fc_map_problem *problem, struct fc_launch *job, struct fc_status *st)
{
    const struct fc_network *net = problem->net;
    *job = (struct fc_launch){.net = net,
                              .n_tasks = problem->demand->n_tasks,
                              .n_places = problem->nodes ? (uint32_t)problem->n_nodes : net->n_nodes,
                              .slots = (uint32_t)net->machine->cores_per_node};
    size_t n_slots = (size_t)job->n_places * job->slots;
    job->node = fc_alloc(&job->arena, job->n_places, sizeof *job->node, st);
    job->host = fc_alloc(&job->arena, job->n_places, sizeof *job->host, st);
    job->n_ranks = fc_alloc(&job->arena, job->n_places, sizeof *job->n_ranks, st);
    job->place = fc_alloc(&job->arena, job->n_tasks, sizeof *job->place, st);
    job->slot = fc_alloc(&job->arena, job->n_tasks, sizeof *job->slot, st);
    job->rank_at = fc_alloc(&job->arena, n_slots, sizeof *job->rank_at, st);
    job->place_of = fc_alloc(&job->arena, net->n_nodes, sizeof *job->place_of, st);
    if (st->code || fc_host_index_start(net, &job->arena, &job->index, st)) return st->code;
    memset(job->place_of, 0xff, net->n_nodes * sizeof *job->place_of);
    for (uint32_t p = 0; p < job->n_places; p++) {
        job->node[p] = problem->nodes ? problem->nodes[p] : p;
        job->place_of[job->node[p]] = p;
        job->host[p] = net->host_name ? net->host_name[job->node[p]] : NULL;
    }
    memset(job->rank_at, 0xff, n_slots * sizeof *job->rank_at);
    return FC_OK;
}

enum fc_code fc_launch_start(const struct fc_map_problem *problem, const struct fc_mapping *mapping,
                             struct fc_launch *job, struct fc_status *st)
{
    if (start_places(problem, job, st)) return st->code;
    job->strategy = mapping->strategy;
    for (uint32_t r = 0; r < job->n_tasks; r++) {
        uint32_t place = job->place_of[mapping->node[r]], slot = mapping->core[r] % job->slots;
        if (place == FC_NONE || job->rank_at[(size_t)place * job->slots + slot] != FC_NONE)
            return fc_refuse(st, FC_FAULT, "rank %u is on core %u, which is not allowed or taken", r, mapping->core[r]);
        job->place[r] = place;
        job->slot[r] = slot;
        job->rank_at[(size_t)place * job->slots + slot] = r;
        job->n_used += job->n_ranks[place]++ == 0;
    }
    return FC_OK;
}

struct fc_launch_run fc_launch_next_run(const struct fc_launch *job, uint32_t *rank)
{
    struct fc_launch_run run = {job->place[*rank], 0, 0};
    for (;;) { /* one place a turn */
        uint32_t at = *rank, place = run.place + run.n_places;
        while (at < job->n_tasks && job->place[at] == place) at++;
        if (run.n_places == 0) run.n_ranks = at - *rank;
        if (at - *rank != run.n_ranks || at == *rank) return run;
        *rank = at;
        run.n_places++;
    }
}

enum fc_code fc_launch_check_once(const struct fc_launch *job, const char *format, struct fc_status *st)
{
    for (uint32_t p = 0, first, last; p < job->n_places; p++) {
        if (job->n_ranks[p] == 0) continue;
        first = job->n_tasks, last = 0;
        for (uint32_t s = 0; s < job->slots; s++) {
            uint32_t rank = job->rank_at[(size_t)p * job->slots + s];
            if (rank == FC_NONE) continue;
            if (rank < first) first = rank;
            if (rank > last) last = rank;
        }
        if (last - first + 1 != job->n_ranks[p])
            return fc_refuse(st, FC_INPUT,
                             "format %s lists each host once, with consecutive ranks: node %u of the allocation holds "
                             "%u ranks from %u to %u (strategies that move whole blocks of ranks keep them together)",
                             format, p, job->n_ranks[p], first, last);
    }
    return FC_OK;
}

/* ---- what readers share ---- */

void fc_launch_words_start(struct fc_launch_words *words, const struct fc_text *text)
{
    fc_lines_start(&words->lines, text);
    words->at = words->end = NULL;
}

bool fc_launch_word(struct fc_launch_words *words, const char **word, size_t *length)
{
    while (!words->at || !fc_next_word(&words->at, words->end, word, length)) {
        if (!fc_lines_next(&words->lines)) return false;
        const char *text = words->lines.text, *comment = memchr(text, '#', words->lines.length);
        words->at = text;
        words->end = comment ? comment : text + words->lines.length;
    }
    return true;
}

enum fc_code fc_launched_put(const struct fc_launch *job, struct fc_launched *back, long long rank, long long place,
                             long long slot, struct fc_place where, struct fc_status *st)
{
    if (rank < 0 || rank >= job->n_tasks)
        return fc_fail(st, FC_INPUT, where, "rank %lld (the job has ranks 0 to %u)", rank, job->n_tasks - 1);
    if (place < 0 || place >= job->n_places)
        return fc_fail(st, FC_INPUT, where, "rank %lld: node %lld of the allocation (which has %u)", rank, place,
                       job->n_places);
    if (slot != FC_NONE && (slot < 0 || slot >= job->slots))
        return fc_fail(st, FC_INPUT, where, "rank %lld: slot %lld (a node has slots 0 to %u)", rank, slot,
                       job->slots - 1);
    if (back->place[rank] != FC_NONE) return fc_fail(st, FC_INPUT, where, "rank %lld is placed twice", rank);
    back->place[rank] = (uint32_t)place;
    back->slot[rank] = (uint32_t)slot;
    back->n++;
    return FC_OK;
}

enum fc_code fc_launched_host(const struct fc_launch *job, const char *name, size_t length, uint32_t *place,
                              struct fc_place where, struct fc_status *st)
{
    uint32_t node = fc_host_find(&job->index, name, length);
    if (node == FC_NONE) return fc_host_unknown(job->net, name, length, where, st);
    *place = job->place_of[node];
    if (*place != FC_NONE) return FC_OK;
    return fc_fail(st, FC_INPUT, where, "host '%.*s' is not among the %u nodes allowed",
                   (int)(length < 80 ? length : 80), name, job->n_places);
}

static enum fc_code read_text(const struct fc_launcher_format *format, const struct fc_text *text,
                              const struct fc_launch *job, struct fc_arena *arena, struct fc_launched *back,
                              struct fc_status *st)
{
    size_t bytes = job->n_tasks * sizeof *back->place;
    back->n = 0;
    back->place = fc_alloc(arena, job->n_tasks, sizeof *back->place, st);
    back->slot = fc_alloc(arena, job->n_tasks, sizeof *back->slot, st);
    if (st->code) return st->code;
    memset(back->place, 0xff, bytes);
    memset(back->slot, 0xff, bytes);
    if (format->read(text, job, back, st)) return st->code;
    for (uint32_t r = 0; r < job->n_tasks; r++)
        if (back->place[r] == FC_NONE)
            return fc_fail(st, FC_INPUT, (struct fc_place){text->file, 0}, "rank %u is not placed (%u of %u ranks are)",
                           r, back->n, job->n_tasks);
    return FC_OK;
}

/* ---- write ---- */

/* What every launcher's file takes as a word. */
static bool plain(const char *host)
{
    size_t n = strspn(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");
    return *host && !host[n] && *host != '-' && *host != '.';
}

static enum fc_code check_hosts(const struct fc_launch *job, const struct fc_launcher_format *format,
                                struct fc_status *st)
{
    if (!format->names_hosts) return FC_OK;
    for (uint32_t p = 0; p < job->n_places; p++) {
        if (job->n_ranks[p] == 0) continue;
        if (!job->host[p])
            return fc_refuse(st, FC_INPUT,
                             "format %s names hosts, and node %u of machine %s has no host name (expected hosts: "
                             "in the machine file, or --hosts LIST|@FILE)",
                             format->name, job->node[p], job->net->machine->name);
        if (!plain(job->host[p]))
            return fc_refuse(st, FC_INPUT,
                             "host '%.80s' of node %u cannot stand in a file of format %s (expected letters, "
                             "digits, . _ -)",
                             job->host[p], job->node[p], format->name);
    }
    return FC_OK;
}

static enum fc_code compare(const struct fc_launch *job, const struct fc_launcher_format *format, char *data,
                            size_t size, struct fc_status *st)
{
    struct fc_text text = {"what was written", data, size};
    struct fc_arena arena = {0};
    struct fc_launched back;
    struct fc_status why = {0};
    char words[1600];
    if (read_text(format, &text, job, &arena, &back, &why)) {
        fc_status_text(&why, words, sizeof words);
        fc_refuse(st, FC_FAULT, "the %s file does not read back: %s", format->name, words);
    }
    for (uint32_t r = 0; !st->code && r < job->n_tasks; r++) {
        if (back.place[r] != job->place[r])
            fc_refuse(st, FC_FAULT, "the %s file puts rank %u on node %u of the allocation instead of %u", format->name,
                      r, back.place[r], job->place[r]);
        if (format->tells_slots && back.slot[r] != job->slot[r])
            fc_refuse(st, FC_FAULT, "the %s file puts rank %u on slot %u instead of %u", format->name, r, back.slot[r],
                      job->slot[r]);
    }
    fc_arena_free(&arena);
    return st->code;
}

enum fc_code fc_launch_write(const struct fc_launch *job, const struct fc_launcher_format *format, const char *path,
                             struct fc_status *st)
{
    struct fc_output out;
    struct fc_memory_stream memory;
    if (check_hosts(job, format, st) || (format->check && format->check(job, st))) return st->code;
    if (fc_memory_open(&memory, st)) return st->code;
    format->write(job, memory.stream, st);
    if (!fc_memory_close(&memory, st) && !compare(job, format, memory.text, memory.size, st) &&
        !fc_output_open(&out, path, st)) {
        fwrite(memory.text, 1, memory.size, out.stream);
        fc_output_close(&out, st);
    }
    free(memory.text);
    return st->code;
}

/* ---- read ---- */

/* Ranks without a slot take the free cores of their node in order. */
static const char *place_name(const struct fc_launch *job, uint32_t place, char *out, size_t size)
{
    if (job->host[place])
        snprintf(out, size, "node %u (%s)", job->node[place], job->host[place]);
    else
        snprintf(out, size, "node %u", job->node[place]);
    return out;
}

static enum fc_code take_cores(const struct fc_launch *job, const struct fc_launched *back, const char *path,
                               struct fc_mapping *mapping, struct fc_status *st)
{
    struct fc_place where = {path, 0};
    char name[360];
    for (uint32_t r = 0; r < job->n_tasks; r++) {
        uint32_t *core = &job->rank_at[(size_t)back->place[r] * job->slots], slot = back->slot[r];
        if (slot == FC_NONE)
            for (slot = 0; slot < job->slots && core[slot] != FC_NONE;) slot++;
        if (slot == job->slots)
            return fc_fail(st, FC_INPUT, where, "more ranks on %s than its %u cores (rank %u is too many)",
                           place_name(job, back->place[r], name, sizeof name), job->slots, r);
        if (core[slot] != FC_NONE)
            return fc_fail(st, FC_INPUT, where, "ranks %u and %u are both on slot %u of %s", core[slot], r, slot,
                           place_name(job, back->place[r], name, sizeof name));
        core[slot] = r;
        mapping->node[r] = job->node[back->place[r]];
        mapping->core[r] = mapping->node[r] * job->slots + slot;
    }
    return FC_OK;
}

enum fc_code fc_launch_read(const struct fc_map_problem *problem, const struct fc_launcher_format *format,
                            const char *path, struct fc_mapping *mapping, struct fc_status *st)
{
    struct fc_map_problem any_core = *problem;
    struct fc_slots slots;
    struct fc_launch job = {0};
    struct fc_launched back;
    struct fc_text text;
    any_core.spread = false;
    any_core.any_nodes = true;
    if (format->needs_writer)
        return fc_refuse(st, FC_INPUT,
                         "a file of format %s does not tell how many ranks a node has, so it is no mapping by "
                         "itself",
                         format->name);
    if (fc_map_start(&any_core, mapping, &slots, st) || start_places(problem, &job, st) ||
        fc_read_file(path, &job.arena, &text, st) || read_text(format, &text, &job, &job.arena, &back, st) ||
        take_cores(&job, &back, path, mapping, st)) {
        fc_launch_free(&job);
        return st->code;
    }
    mapping->strategy = fc_copy_text(&mapping->arena, path, st);
    fc_launch_free(&job);
    return st->code;
}
