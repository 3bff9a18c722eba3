/* format_liballprof_survey.c - what must be known before calls can be read, from one reading of all files:
 * which files there are, how large a request is, and who belongs to which communicator.
 *
 * Requests are named by address, and MPI_Waitall by the address of the first of an array: the rest stand 4
 * bytes apart where MPI_Request is an integer (MPICH; Fortran), 8 where it is a pointer (Open MPI). The
 * stride is the one with which more addresses of lists are those of requests; if both find as many, 4 where
 * some request stands at an address that is no multiple of 8.
 *
 * A communicator is written as handle, rank and size, never with its members. Rules, in this order:
 *   1. of one rank: the rank itself;
 *   2. a handle that exactly `size` ranks write with that size, with ranks 0 to size - 1 once each: those
 * ranks, in that order. The first of them that has all ranks in the world's order is the world;
 *   3. where no handle is the world by rule 2: the only communicator of all ranks in the world's order that
 * each rank writes is the world (handles are addresses, which may differ between processes); others cannot be
 * told and are refused. Limit of rule 2: two communicators of the same size whose handles are equal by chance
 * and whose ranks fit into one are taken as one. */
#include "traces/formats/format_liballprof.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MPICH_WORLD = 0x44000000 };

/* ---- files ---- */

/* The last `-DIGITS` of the name's last part that no letter or digit follows; *length its digits. */
static const char *find_number(const char *path, size_t *length)
{
    const char *slash = strrchr(path, '/'), *found = NULL;
    for (const char *at = slash ? slash : path; (at = strchr(at, '-'));) {
        const char *digits = ++at;
        while (isdigit((unsigned char)*at)) at++;
        if (at == digits || isalnum((unsigned char)*at)) continue;
        found = digits;
        *length = (size_t)(at - digits);
    }
    return found;
}

const char *fc_allprof_file(struct fc_allprof *a, uint32_t rank)
{
    size_t size = strlen(a->before) + strlen(a->after) + 40;
    char *name = fc_alloc(&a->arena, size, 1, a->st);
    if (name) snprintf(name, size, "%s%0*" PRIu32 "%s", a->before, a->width, rank, a->after);
    return name;
}

static bool is_file(const char *path)
{
    struct stat info;
    return path && stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

static bool is_ours(const char *path)
{
    FC_SCOPED(fc_stream_close) struct fc_stream s = {0};
    struct fc_status st = {0};
    struct fc_trace_probe probe = {.path = path};
    bool ours = !fc_stream_open(path, &s, &st) && !fc_stream_need(&s, 64 << 10, &probe.n_head, &st);
    if (ours) {
        probe.head = (const char *)s.next;
        ours = fc_allprof_is(&probe);
    }
    return ours;
}

static bool name_of_file(const char *path, struct fc_allprof *a, struct fc_status *st)
{
    size_t length = 0;
    const char *number = find_number(path, &length);
    if (!number || length > 9) return false;
    char *before = fc_copy_text(&a->arena, path, st);
    if (!before) return false;
    before[number - path] = 0;
    a->before = before;
    a->after = fc_copy_text(&a->arena, number + length, st);
    a->st = st;
    a->width = 1;
    if (a->after && !is_file(fc_allprof_file(a, 0))) a->width = (int)length; /* 000 .. 123 */
    return a->after != NULL;
}

/* The file of rank 0 in a folder; the first by name if there are several. */
static bool name_in_folder(const char *path, struct fc_allprof *a, struct fc_status *st)
{
    DIR *folder = opendir(path);
    char *best = NULL;
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        size_t length = 0, size = strlen(path) + strlen(entry->d_name) + 2;
        const char *number = find_number(entry->d_name, &length);
        if (!number || strspn(number, "0") != length) continue;
        char *name = fc_alloc(&a->arena, size, 1, st);
        if (!name) break;
        snprintf(name, size, "%s%s%s", path, path[strlen(path) - 1] == '/' ? "" : "/", entry->d_name);
        if (is_file(name) && (!best || strcmp(name, best) < 0) && is_ours(name)) best = name;
    }
    if (folder) closedir(folder);
    return best && name_of_file(best, a, st);
}

bool fc_allprof_name(const char *path, bool folder, struct fc_allprof *a, struct fc_status *st)
{
    return folder ? name_in_folder(path, a, st) : name_of_file(path, a, st);
}

static enum fc_code count_files(struct fc_allprof *a)
{
    for (;; a->n_ranks++) {
        const char *name = fc_allprof_file(a, a->n_ranks);
        if (!name) return a->st->code;
        if (!is_file(name)) break;
        a->sink->bytes += fc_file_bytes(name);
    }
    if (a->n_ranks) return FC_OK;
    return fc_fail(a->st, FC_INPUT, (struct fc_place){fc_allprof_file(a, 0), 0}, "rank 0's file is missing");
}

/* ---- one file ---- */

struct survey {
    struct fc_allprof *a;
    struct fc_open_requests comms, made; /* (handle, size) -> use of this rank; address -> 0 */
    uint32_t rank;
};

static enum fc_code note_comm(struct survey *s, const struct fc_allprof_call *call, int at)
{
    struct fc_allprof *a = s->a;
    struct fc_allprof_use use;
    if (fc_allprof_comm_of(call, at, &use, a->st)) return a->st->code;
    use.world_rank = s->rank;
    if (use.size > a->n_ranks)
        return fc_fail(a->st, FC_INPUT, call->where,
                       "a communicator of %" PRIu32 " ranks, but there are %" PRIu32 " files (%s is missing)", use.size,
                       a->n_ranks, fc_allprof_file(a, a->n_ranks));
    int32_t known = fc_requests_find(&s->comms, (uint64_t)use.handle, use.size);
    if (known >= 0 && a->use[known].rank == use.rank) return FC_OK;
    if (known >= 0)
        return fc_fail(a->st, FC_INPUT, call->where,
                       "communicator %" PRId64 " of %" PRIu32 " ranks: this rank is its %" PRIu32
                       " here and its %" PRIu32 " in line %ld (a handle used again cannot be told apart)",
                       use.handle, use.size, use.rank, a->use[known].rank, a->use[known].line);
    struct fc_allprof_use *grown = fc_grow(a->use, &a->use_capacity, a->n_uses + 1, sizeof *grown, a->st);
    if (!grown || a->n_uses >= INT32_MAX)
        return grown ? fc_refuse(a->st, FC_NO, "too many communicators") : a->st->code;
    a->use = grown;
    a->use[a->n_uses] = use;
    return fc_requests_add(&s->comms, (uint64_t)use.handle, use.size, (int32_t)a->n_uses++, a->st);
}

static enum fc_code note_request(struct survey *s, const struct fc_allprof_call *call)
{
    int64_t address;
    if (fc_allprof_integer(call, -1, "the address of a request", 0, INT64_MAX, &address, s->a->st))
        return s->a->st->code;
    s->a->odd |= address % 8 != 0;
    if (fc_requests_find(&s->made, (uint64_t)address, 0) == 0) return FC_OK;
    return fc_requests_add(&s->made, (uint64_t)address, 0, 0, s->a->st);
}

static enum fc_code note_list(struct survey *s, const struct fc_allprof_call *call)
{
    int64_t n, base;
    if (fc_allprof_integer(call, 0, "a number of requests", 0, 1 << 24, &n, s->a->st) ||
        fc_allprof_integer(call, 1, "the address of requests", 0, INT64_MAX / 2, &base, s->a->st))
        return s->a->st->code;
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < 2; k++)
            s->a->known[k] += fc_requests_find(&s->made, (uint64_t)(base + i * (k ? 8 : 4)), 0) == 0;
    s->a->n_waited += (uint64_t)n;
    return FC_OK;
}

static enum fc_code note_call(struct survey *s, const struct fc_allprof_call *call)
{
    bool nonblocking;
    const struct fc_allprof_kind *kind = fc_allprof_kind(call, &nonblocking);
    if (!kind) return FC_OK;
    if (kind->shape == FC_ALLPROF_WAITALL || kind->shape == FC_ALLPROF_STARTALL) return note_list(s, call);
    int comm = kind->comm_at;
    if (kind->shape == FC_ALLPROF_EXCHANGE) comm = 10;
    if (kind->shape == FC_ALLPROF_REPLACE) comm = 7;
    if (comm < 0) comm -= nonblocking;
    if (comm != FC_ALLPROF_ABSENT && note_comm(s, call, comm)) return s->a->st->code;
    return kind->request || nonblocking ? note_request(s, call) : FC_OK;
}

static enum fc_code survey_rank(struct fc_allprof *a, uint32_t rank, bool *any)
{
    struct survey s = {.a = a, .rank = rank};
    FC_SCOPED(fc_stream_close) struct fc_stream stream = {0};
    const char *file = fc_allprof_file(a, rank);
    a->first_use[rank] = a->n_uses;
    enum fc_code code = file ? fc_stream_open(file, &stream, a->st) : FC_NO;
    for (struct fc_allprof_call call; !code;) {
        code = fc_allprof_next(&stream, &call, a->st);
        if (code || !call.name.text) break;
        if (!*any || call.enter_ns < a->start_ns) a->start_ns = call.enter_ns;
        *any = true;
        code = note_call(&s, &call);
    }
    fc_requests_free(&s.comms);
    fc_requests_free(&s.made);
    return code;
}

/* ---- communicators ---- */

static int by_handle(const void *x, const void *y)
{
    const struct fc_allprof_use *a = *(struct fc_allprof_use *const *)x, *b = *(struct fc_allprof_use *const *)y;
    if (a->size != b->size) return a->size < b->size ? -1 : 1;
    if (a->handle != b->handle) return a->handle < b->handle ? -1 : 1;
    return (a->world_rank > b->world_rank) - (a->world_rank < b->world_rank);
}

static enum fc_code define(struct fc_allprof *a, uint32_t *member, uint32_t n, bool world, int32_t *number)
{
    struct fc_allprof_comm *comm = fc_grow(a->comm, &a->comm_capacity, a->n_comms + 1, sizeof *comm, a->st);
    if (!comm) return a->st->code;
    a->comm = comm;
    if (world) { /* the sink's own */
        comm[0] = (struct fc_allprof_comm){member, n};
        *number = 0;
        return FC_OK;
    }
    comm[a->n_comms++] = (struct fc_allprof_comm){member, n};
    return fc_sink_comm(a->sink, member, n, number);
}

/* Uses of one size and handle by rule 2; `world` when it is the world. */
static enum fc_code tell_group(struct fc_allprof *a, struct fc_allprof_use *const *use, uint32_t n, bool world)
{
    uint32_t size = use[0]->size, *member = fc_alloc(&a->arena, size, sizeof *member, a->st);
    int32_t number;
    if (!member) return a->st->code;
    for (uint32_t i = 0; i < n; i++) member[use[i]->rank] = use[i]->world_rank;
    if (define(a, member, size, world, &number)) return a->st->code;
    for (uint32_t i = 0; i < n; i++) use[i]->comm = number;
    return FC_OK;
}

/* The group has each of its ranks once; *world: in the world's order. seen [n_ranks] is zeroed, and left so.
 */
static bool is_whole(const struct fc_allprof *a, struct fc_allprof_use *const *use, size_t n, uint8_t *seen,
                     bool *world)
{
    bool whole = n == use[0]->size;
    *world = n == a->n_ranks;
    for (size_t i = 0; i < n; i++) {
        whole &= !seen[use[i]->rank];
        *world &= use[i]->rank == use[i]->world_rank;
        seen[use[i]->rank] = 1;
    }
    for (size_t i = 0; i < n; i++) seen[use[i]->rank] = 0;
    return whole;
}

static enum fc_code fail_untold(struct fc_allprof *a, const struct fc_allprof_use *use, size_t n)
{
    return fc_fail(a->st, FC_INPUT, (struct fc_place){fc_allprof_file(a, use->world_rank), use->line},
                   "the members of communicator %" PRId64 " of %" PRIu32
                   " ranks cannot be told: %zu ranks write that handle "
                   "(expected: %" PRIu32 ", as ranks 0 to %" PRIu32 " of it once each)",
                   use->handle, use->size, n, use->size, use->size - 1);
}

/* Rule 3. */
static enum fc_code tell_world(struct fc_allprof *a, struct fc_allprof_use *const *use, size_t n_uses)
{
    uint8_t *seen = fc_alloc(&a->arena, a->n_ranks, 1, a->st);
    if (!seen) return a->st->code;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < n_uses; i++) {
            if (use[i]->comm >= 0 || use[i]->size != a->n_ranks || use[i]->rank != use[i]->world_rank) continue;
            if (pass == 0 && seen[use[i]->world_rank]++) return FC_OK; /* a rank has two: left to be refused */
            if (pass == 1) use[i]->comm = 0;
        }
    return FC_OK;
}

static enum fc_code tell_groups(struct fc_allprof *a, struct fc_allprof_use **use, uint8_t *seen)
{
    const struct fc_allprof_use *first = NULL; /* of the world by rule 2 */
    bool world = false;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0, end; i < a->n_uses; i = end) {
            for (end = i + 1; end < a->n_uses && use[end]->size == use[i]->size && use[end]->handle == use[i]->handle;)
                end++;
            bool whole = is_whole(a, use + i, end - i, seen, &world) && use[i]->size > 1;
            if (pass == 0 && whole && world && (!first || use[i] < first)) first = use[i];
            if (pass == 1 && whole && tell_group(a, use + i, (uint32_t)(end - i), use[i] == first)) return a->st->code;
        }
    }
    for (size_t i = 0; i < a->n_uses; i++) /* rule 1; also the world of one rank */
        if (use[i]->size == 1 && tell_group(a, use + i, 1, a->n_ranks == 1 && use[i] == a->use)) return a->st->code;
    if (!first && a->n_ranks > 1 && tell_world(a, use, a->n_uses)) return a->st->code;
    for (size_t i = 0, end; i < a->n_uses; i = end) {
        for (end = i + 1; end < a->n_uses && use[end]->size == use[i]->size && use[end]->handle == use[i]->handle;)
            end++;
        for (size_t k = i; k < end; k++) /* by rule 3 some ranks of it may be told, and others not */
            if (use[k]->comm < 0) return fail_untold(a, use[k], end - i);
    }
    return FC_OK;
}

static enum fc_code tell_members(struct fc_allprof *a)
{
    struct fc_allprof_use **use = fc_alloc(&a->arena, a->n_uses, sizeof *use, a->st);
    uint8_t *seen = fc_alloc(&a->arena, a->n_ranks, 1, a->st);
    uint32_t *world = fc_alloc(&a->arena, a->n_ranks, sizeof *world, a->st);
    int32_t number;
    if (!use || !seen || !world) return a->st->code;
    for (uint32_t r = 0; r < a->n_ranks; r++) world[r] = r;
    for (size_t i = 0; i < a->n_uses; i++) use[i] = &a->use[i];
    if (define(a, world, a->n_ranks, true, &number)) return a->st->code;
    a->n_comms = 1;
    qsort(use, a->n_uses, sizeof *use, by_handle);
    if (tell_groups(a, use, seen)) return a->st->code;
    for (size_t i = 0; i < a->n_uses; i++)
        if (a->use[i].comm == 0 && a->use[i].handle == MPICH_WORLD) a->mpich = true;
    return FC_OK;
}

enum fc_code fc_allprof_survey(struct fc_allprof *a)
{
    bool any = false;
    if (count_files(a)) return a->st->code;
    a->first_use = fc_alloc(&a->arena, (size_t)a->n_ranks + 1, sizeof *a->first_use, a->st);
    if (!a->first_use ||
        fc_sink_start(a->sink, a->n_ranks, NULL, "liballprof text; computation is the wall clock between calls"))
        return a->st->code;
    for (uint32_t r = 0; r < a->n_ranks; r++)
        if (survey_rank(a, r, &any)) return a->st->code;
    a->first_use[a->n_ranks] = a->n_uses;
    a->stride = a->known[0] != a->known[1] ? (a->known[0] > a->known[1] ? 4 : 8) : a->odd ? 4 : 8;
    return tell_members(a);
}

void fc_allprof_free(struct fc_allprof *a)
{
    free(a->use);
    free(a->comm);
    fc_arena_free(&a->arena);
}
