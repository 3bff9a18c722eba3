/* format_dumpi_group.c - MPI's groups, by the rules of MPI 4.0, 7.3.2: of a communicator, union,
 * intersection, difference, chosen and left out. Members are world ranks in the group's order. */
#include "traces/formats/format_dumpi_comm.h"

#include <stdlib.h>
#include <string.h>

struct fc_dumpi_group *fc_dumpi_group_of(struct fc_dumpi_finder *f, struct fc_dumpi_rank_state *rank, int32_t handle)
{
    uint32_t index = (uint16_t)handle;
    if (index >= rank->n_groups) {
        uint32_t n = index + 16;
        struct fc_dumpi_group *larger = realloc(rank->group, n * sizeof *larger);
        if (!larger) return fc_dumpi_no_memory(f->st), NULL;
        memset(larger + rank->n_groups, 0, (n - rank->n_groups) * sizeof *larger);
        rank->group = larger;
        rank->n_groups = n;
        rank->group[FC_DUMPI_EMPTY].known = true;
    }
    return &rank->group[index];
}

static enum fc_code set_group(struct fc_dumpi_finder *f, struct fc_dumpi_rank_state *rank, int32_t handle,
                              struct fc_dumpi_group made)
{
    struct fc_dumpi_group *g = fc_dumpi_group_of(f, rank, handle);
    if (!g) return free(made.member), f->st->code;
    free(g->member);
    *g = made;
    return FC_OK;
}

uint32_t fc_dumpi_place_in(const uint32_t *member, uint32_t n, uint32_t world)
{
    if (world < n && member[world] == world) return world;
    uint32_t i = 0;
    while (i < n && member[i] != world) i++;
    return i;
}

static void keep(struct fc_dumpi_group *to, uint32_t world)
{
    to->member[to->n++] = world;
}

/* incl, excl and their ranges: ranks of group `of`, each once. */
static bool choose(const struct fc_dumpi_group *of, const struct fc_dumpi_action *a, struct fc_dumpi_group *to)
{
    bool exclude = a->function == DUMPI_GROUP_EXCL || a->function == DUMPI_GROUP_RANGE_EXCL, good = a->n <= of->n;
    uint8_t *named = calloc((size_t)of->n + 1, 1);
    for (uint32_t i = 0; named && good && i < a->n; i++) {
        int32_t r = a->list[i];
        good = r >= 0 && (uint32_t)r < of->n && !named[r];
        if (!good) break;
        named[r] = 1;
        if (!exclude) keep(to, of->member[r]);
    }
    for (uint32_t r = 0; named && good && exclude && r < of->n; r++)
        if (!named[r]) keep(to, of->member[r]);
    good = good && named;
    free(named);
    return good;
}

static void combine(const struct fc_dumpi_group *x, const struct fc_dumpi_group *y, int function,
                    struct fc_dumpi_group *to)
{
    for (uint32_t i = 0; i < x->n; i++) {
        bool both = fc_dumpi_place_in(y->member, y->n, x->member[i]) < y->n;
        if (function == DUMPI_GROUP_UNION || both == (function == DUMPI_GROUP_INTERSECTION)) keep(to, x->member[i]);
    }
    for (uint32_t i = 0; function == DUMPI_GROUP_UNION && i < y->n; i++)
        if (fc_dumpi_place_in(x->member, x->n, y->member[i]) == x->n) keep(to, y->member[i]);
}

enum fc_code fc_dumpi_make_group(struct fc_dumpi_finder *f, struct fc_dumpi_rank_state *rank,
                                 const struct fc_dumpi_action *a)
{
    struct fc_dumpi_group made = {.known = true};
    if (a->function == DUMPI_COMM_GROUP) {
        struct fc_dumpi_handle *h = fc_dumpi_handle_of(f, rank, a->a);
        if (!h) return f->st->code;
        const struct fc_dumpi_comm *c = h->comm < 0 ? NULL : &f->run->comm[h->comm];
        made.member = malloc(((c ? c->n : 0) + 1) * sizeof *made.member);
        if (!made.member) return fc_dumpi_no_memory(f->st);
        made.known = c;
        for (uint32_t i = 0; c && i < c->n; i++) keep(&made, c->member[i]);
        return set_group(f, rank, a->made, made);
    }
    bool of_two = a->function <= DUMPI_GROUP_DIFFERENCE;
    if (!fc_dumpi_group_of(f, rank, a->a) || (of_two && !fc_dumpi_group_of(f, rank, a->b))) return f->st->code;
    const struct fc_dumpi_group *x = fc_dumpi_group_of(f, rank, a->a),
                                *y = of_two ? fc_dumpi_group_of(f, rank, a->b) : x;
    made.known = x->known && y->known;
    made.member = malloc(((size_t)x->n + y->n + 1) * sizeof *made.member);
    if (!made.member) return fc_dumpi_no_memory(f->st);
    if (made.known && of_two) combine(x, y, a->function, &made);
    if (made.known && !of_two) made.known = choose(x, a, &made);
    return set_group(f, rank, a->made, made);
}

enum fc_code fc_dumpi_no_memory(struct fc_status *st)
{
    return fc_out_of_memory(st, "finding communicators");
}

/* Handles are 16 bits wide. */
struct fc_dumpi_handle *fc_dumpi_handle_of(struct fc_dumpi_finder *f, struct fc_dumpi_rank_state *rank, int32_t handle)
{
    uint32_t index = (uint16_t)handle;
    if (index >= rank->n_handles) {
        uint32_t n = index + 16;
        struct fc_dumpi_handle *larger = realloc(rank->handle, n * sizeof *larger);
        if (!larger) return fc_dumpi_no_memory(f->st), NULL;
        for (uint32_t i = rank->n_handles; i < n; i++)
            larger[i] = (struct fc_dumpi_handle){i == FC_DUMPI_WORLD ? 0 : FC_DUMPI_UNKNOWN, 0};
        rank->handle = larger;
        rank->n_handles = n;
    }
    return &rank->handle[index];
}
