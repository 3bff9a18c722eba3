/* place_cuts.c - the least greatest load of a mesh link, proven by cuts; or the best bound so far.
 *
 * Routes take the axes in one order, so a link of the first axis carries only what nodes of its own line
 * send: over the cut behind position c of that axis
 *
 *   load(line, c) = near C + sum_{k on the line, on this side of the cut} (W_k - C),
 *   W_k = e_k cores beyond + sum_{j beyond} r_kj,   C = local cores beyond + sum_{j beyond} g_j,
 *
 * `near` the nodes of the line on this side, e_k = eject_k, g_j = inject_j, r the rates (- C only where an
 * interface takes the place of a core). W and C need the positions of interfaces on the first axis alone. A
 * link of the last axis carries only what goes to nodes of its line: the same with r transposed, e and g
 * exchanged, and positions on the last axis.
 *
 * So positions on the first axis are searched by themselves (a profile), cut off where an interface alone
 * (W_k) overfills the link beside it. For each profile that is left nodes are searched, cut off where lines
 * along the first axis (exact) or along the last one, by what is placed, are overfull. Interfaces to come are
 * taken to stand where they take most off a load. Other axes are looked at in whole layouts only.
 *
 * "No layout below T" is shown for T rising to the layout known; each T that is through is a bound. Limits:
 * loads are whole multiples of 1 / scale of the model, or of 2^-29 of all that flows where that is too fine.
 */
#include "mapping/place/place_best.h"
#include "mapping/place/place_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of the value known; the last level is the proof. */
static const double levels[] = {0.5, 0.7, 0.8, 0.85, 0.9, 0.925, 0.95, 0.975, 1};

/* Loads along one axis. A lane is a cut and a direction: up from positions <= c (lanes 0 .. cuts - 1), then
 * down from positions > c; zeros to a multiple of 4. */
struct plane {
    int n;                                                       /* interfaces */
    uint32_t lines, lanes;                                       /* of the mesh along the axis */
    bool replaces;                                               /* interfaces take the place of a core */
    int32_t local, core[FC_LAYOUT_MOST], gather[FC_LAYOUT_MOST]; /* local, e, g */
    int32_t rate[FC_LAYOUT_MOST][FC_LAYOUT_MOST];
    int32_t *beyond, *near;    /* [lanes] nodes on the other side; nodes of a line on this one */
    int32_t *mask;             /* [side][lanes] -1: position is on this side; 0: beyond */
    const uint32_t *position;  /* [n_mesh] */
    uint32_t *line;            /* [n_mesh] */
    int order[FC_LAYOUT_MOST]; /* interfaces as they are placed: heaviest with cores, whose room is least,
                                  first */
    int32_t *w, *c;            /* by interfaces placed [n + 1][n][lanes], [n + 1][lanes]: W, C, at least */
};

struct cuts {
    const struct fc_place_model *m;
    const struct fc_layout_rules *rules;
    bool symmetry, swap[FC_MAX_DIMS];
    double scale;
    int n;
    uint32_t *position[FC_CHIP_AXES]; /* [n_mesh] */
    uint32_t *stand;                  /* [side of the first axis][lines] nodes by position there */
    struct plane first, last;         /* last: no lanes where there is one axis */
    int32_t *delta, *spare;           /* [n][lanes] W_k - C; [n + 1][lanes] what those to come may take off a line */
    int32_t *full, *sum;              /* [lines][lanes] loads along the first axis; [lanes] */
    uint32_t x[FC_LAYOUT_MOST], node[FC_LAYOUT_MOST]; /* positions on the first axis; nodes */
    uint64_t steps, most_steps;
    int32_t limit; /* only layouts below are looked for */
    bool found;
    struct fc_bridge_layout best;
    struct fc_place_profiles *list; /* wanted instead of layouts */
    uint32_t most_profiles;
};

/* ---- planes ---- */

/* What interface j beyond a cut adds to W_i, or to C where i < 0. */
static int32_t gain(const struct plane *p, int i, int j)
{
    if (i < 0) return p->gather[j] - (p->replaces ? p->local : 0);
    return i == j ? 0 : p->rate[i][j] - (p->replaces ? p->core[i] : 0);
}

static int32_t below_zero(int32_t x)
{
    return x < 0 ? x : 0;
}
static int32_t above_zero(int32_t x)
{
    return x > 0 ? x : 0;
}

/* W and C of nothing placed: all that are to come are where they take most off. */
static void start(const struct plane *p)
{
    for (int i = -1; i < p->n; i++) {
        int32_t *to = i < 0 ? p->c : p->w + (size_t)i * p->lanes, least = 0;
        for (int j = 0; j < p->n; j++) least += below_zero(gain(p, i, j));
        for (uint32_t l = 0; l < p->lanes; l++) to[l] = (i < 0 ? p->local : p->core[i]) * p->beyond[l] + least;
    }
}

/* W and C of depth + 1 interfaces, the last of them j. */
static void move(const struct plane *p, int depth, int j, uint32_t position)
{
    const int32_t *mask = p->mask + (size_t)position * p->lanes;
    for (int i = -1; i < p->n; i++) {
        int rows = i < 0 ? 1 : p->n;
        int32_t *from = (i < 0 ? p->c : p->w) + (size_t)(depth * rows + (i < 0 ? 0 : i)) * p->lanes,
                *to = from + (size_t)rows * p->lanes, more = gain(p, i, j), back = below_zero(more);
        for (uint32_t l = 0; l < p->lanes; l++) to[l] = from[l] - back + (more & ~mask[l]);
    }
}

/* Whether all lanes are below the limit. */
static bool fits(const int32_t *load, uint32_t lanes, int32_t limit)
{
    int32_t over = 0;
    for (uint32_t l = 0; l < lanes; l++) over |= limit - 1 - load[l];
    return over >= 0;
}

/* ---- nodes; positions on the first axis are given ---- */

/* A line along the last axis, by the first `depth` interfaces. Of those to come the ones on the same position
 * of the first axis may take a core off it. */
static bool last_fits(struct cuts *b, int depth, uint32_t line)
{
    const struct plane *p = &b->last;
    const int32_t *w = p->w + (size_t)(depth * b->n) * p->lanes, *c = p->c + (size_t)depth * p->lanes;
    const int32_t *own[FC_LAYOUT_MOST], *mask[FC_LAYOUT_MOST];
    uint32_t x = 0;
    int32_t waiting = 0;
    int n = 0;
    for (int d = 0; d < depth; d++) {
        int i = p->order[d];
        if (p->line[b->node[i]] != line) continue;
        x = b->x[i];
        own[n] = w + (size_t)i * p->lanes;
        mask[n++] = p->mask + p->position[b->node[i]] * p->lanes;
    }
    for (int d = depth; d < b->n && p->replaces; d++) waiting += b->x[p->order[d]] == x;
    for (uint32_t l = 0; l < p->lanes; l++) b->sum[l] = p->near[l] - waiting;
    for (int k = 0; k < n && p->replaces; k++)
        for (uint32_t l = 0; l < p->lanes; l++) b->sum[l] += mask[k][l];
    for (uint32_t l = 0; l < p->lanes; l++) b->sum[l] = above_zero(b->sum[l]) * above_zero(c[l]);
    for (int k = 0; k < n; k++)
        for (uint32_t l = 0; l < p->lanes; l++) b->sum[l] += above_zero(own[k][l]) & mask[k][l];
    return fits(b->sum, p->lanes, b->limit);
}

static bool all_last_fit(struct cuts *b, int depth)
{
    const struct plane *p = &b->last;
    for (int d = 0; d < depth; d++) {
        bool seen = false;
        uint32_t line = p->line[b->node[p->order[d]]];
        for (int e = 0; e < d; e++) seen = seen || p->line[b->node[p->order[e]]] == line;
        if (!seen && !last_fits(b, depth, line)) return false;
    }
    return true;
}

static bool may_host(const struct cuts *b, int i, uint32_t u)
{
    const struct fc_layout_rules *r = b->rules;
    return !(r->taken && r->taken[u]) && (r->pinned[i] == FC_NONE || r->pinned[i] == u);
}

/* The first pair of a search in the lower half: mirrors. */
static bool lower_half(const struct cuts *b, uint32_t u, uint32_t v, int axis)
{
    return !b->symmetry || b->position[axis][u] + b->position[axis][v] < b->m->chip.side[axis];
}

static bool may_take(const struct cuts *b, int depth, uint32_t u)
{
    int i = b->last.order[depth];
    if (!may_host(b, i, u)) return false;
    for (int d = 0; d < depth; d++) {
        int j = b->last.order[d];
        uint32_t v = b->node[j];
        if (v == u) return false;
        if (b->rules->lines && (b->first.line[u] == b->first.line[v]) != (i / 2 == j / 2)) return false;
        if (i / 2 != j / 2) continue;
        if (b->swap[i / 2] && b->x[i] == b->x[j] && (i < j) != (u < v)) return false;
        for (int a = 1; a < b->m->chip.n_axes && d == 0; a++)
            if (!lower_half(b, u, v, b->m->chip.order[a])) return false;
    }
    return true;
}

static void keep(struct cuts *b)
{
    struct fc_bridge_layout layout;
    struct fc_layout_figures f;
    memcpy(layout.node, b->node, sizeof b->node);
    fc_layout_cost(b->m, &layout, NULL, &f);
    int32_t value = (int32_t)llround(f.greatest_load * b->scale);
    if (value >= b->limit) return;
    b->limit = value;
    b->found = true;
    b->best = layout;
}

/* False: out of steps. */
static bool place_nodes(struct cuts *b, int depth)
{
    const struct plane *p = &b->first, *q = &b->last;
    if (depth == b->n) {
        keep(b);
        return true;
    }
    int i = q->order[depth];
    const int32_t *delta = b->delta + (size_t)i * p->lanes, *spare = b->spare + (size_t)(depth + 1) * p->lanes;
    for (uint32_t s = 0; s < p->lines; s++) {
        uint32_t u = b->stand[b->x[i] * p->lines + s];
        if (!may_take(b, depth, u)) continue;
        if (b->steps >= b->most_steps) return false;
        b->steps += 2 + (uint32_t)(b->n + 2 * depth) * q->lanes / 32;
        int32_t *full = b->full + (size_t)p->line[u] * p->lanes;
        bool through = true;
        for (uint32_t l = 0; l < p->lanes; l++) full[l] += delta[l];
        for (uint32_t l = 0; l < p->lanes; l++) b->sum[l] = full[l] + spare[l];
        if (fits(b->sum, p->lanes, b->limit)) {
            b->node[i] = u;
            move(q, depth, i, q->position[u]);
            through = !all_last_fit(b, depth + 1) || place_nodes(b, depth + 1);
        }
        for (uint32_t l = 0; l < p->lanes; l++) full[l] -= delta[l];
        if (!through) return false;
    }
    return true;
}

/* ---- positions on the first axis ---- */

/* Sets what they say of the lines along that axis; returns the most that an interface, alone on a line,
 * brings onto a link. */
static int32_t set_lines(struct cuts *b)
{
    const struct plane *p = &b->first;
    const int32_t *w = p->w + (size_t)(b->n * b->n) * p->lanes, *c = p->c + (size_t)b->n * p->lanes;
    int32_t most = 0;
    for (int d = b->n - 1; d >= 0; d--) {
        int i = b->last.order[d];
        const int32_t *mask = p->mask + b->x[i] * p->lanes;
        int32_t *delta = b->delta + (size_t)i * p->lanes, *spare = b->spare + (size_t)d * p->lanes;
        for (uint32_t l = 0; l < p->lanes; l++) {
            delta[l] = (w[(size_t)i * p->lanes + l] - (p->replaces ? c[l] : 0)) & mask[l];
            spare[l] = spare[l + p->lanes] + below_zero(delta[l]);
        }
    }
    for (int i = 0; i < b->n; i++)
        for (uint32_t l = 0; l < p->lanes; l++) {
            int32_t alone = p->near[l] * c[l] + above_zero(b->delta[(size_t)i * p->lanes + l]) + b->spare[l];
            most = alone > most ? alone : most;
        }
    for (uint32_t line = 0; line < p->lines; line++)
        for (uint32_t l = 0; l < p->lanes; l++) b->full[line * p->lanes + l] = p->near[l] * c[l];
    return most;
}

/* Positions of all interfaces stand. False: out of steps, or of room for profiles. */
static bool take_profile(struct cuts *b)
{
    int32_t bound = set_lines(b);
    if (bound >= b->limit) return true;
    if (!b->list) return place_nodes(b, 0);
    if (b->list->n == b->most_profiles) return false;
    struct fc_place_profile *own = &b->list->profile[b->list->n++];
    memcpy(own->position, b->x, sizeof b->x);
    own->bound = bound / b->scale;
    return true;
}

static bool may_stand(const struct cuts *b, int depth, uint32_t x)
{
    int i = b->first.order[depth];
    uint32_t lines = b->first.lines, s = 0;
    while (s < lines && !may_host(b, i, b->stand[x * lines + s])) s++;
    if (s == lines) return false;
    for (int d = 0; d < depth; d++) {
        int j = b->first.order[d];
        if (i / 2 != j / 2) continue;
        if (b->swap[i / 2] && (i < j ? x > b->x[j] : x < b->x[j])) return false;
        if (b->rules->lines && x == b->x[j]) return false;
        if (d == 0 && !lower_half(b, b->stand[x * lines], b->stand[b->x[j] * lines], b->m->chip.order[0])) return false;
    }
    return true;
}

/* False: as take_profile. */
static bool place_positions(struct cuts *b, int depth)
{
    const struct plane *p = &b->first;
    if (depth == b->n) return take_profile(b);
    int i = p->order[depth];
    for (uint32_t x = 0; x < b->m->n_mesh / p->lines; x++) {
        if (!may_stand(b, depth, x)) continue;
        if (b->steps >= b->most_steps) return false;
        b->steps += 2 + (uint32_t)b->n * p->lanes / 32;
        b->x[i] = x;
        move(p, depth, i, x);
        const int32_t *w = p->w + (size_t)((depth + 1) * b->n) * p->lanes;
        bool fit = true;
        for (int d = 0; d <= depth && fit; d++) {
            size_t j = (size_t)p->order[d];
            const int32_t *mask = p->mask + b->x[j] * p->lanes;
            for (uint32_t l = 0; l < p->lanes; l++) b->sum[l] = w[j * p->lanes + l] & mask[l];
            fit = fits(b->sum, p->lanes, b->limit);
        }
        if (fit && !place_positions(b, depth + 1)) return false;
    }
    return true;
}

/* ---- setting up ---- */

/* What flows, in whole numbers; rounded down where they are not, so that sums stay bounds. */
static int32_t whole(const struct cuts *b, double flits)
{
    return (int32_t)(b->scale == b->m->scale ? round(flits * b->scale) : floor(flits * b->scale));
}

static void make_lanes(struct plane *p, uint32_t side)
{
    for (uint32_t c = 0; c + 1 < side && p->lanes; c++) {
        uint32_t up = c, down = side - 1 + c;
        p->near[up] = (int32_t)(c + 1);
        p->near[down] = (int32_t)(side - 1 - c);
        p->beyond[up] = p->near[down] * (int32_t)p->lines;
        p->beyond[down] = p->near[up] * (int32_t)p->lines;
        for (uint32_t a = 0; a < side; a++) {
            p->mask[a * p->lanes + up] = a <= c ? -1 : 0;
            p->mask[a * p->lanes + down] = a > c ? -1 : 0;
        }
    }
}

static void make_flows(struct plane *p, const struct cuts *b, bool last)
{
    const struct fc_place_model *m = b->m;
    p->local = whole(b, m->local);
    for (int i = 0; i < m->n; i++) {
        int at = i;
        p->core[i] = whole(b, last ? m->inject[i] : m->eject[i]);
        p->gather[i] = whole(b, last ? m->eject[i] : m->inject[i]);
        for (int j = 0; j < m->n; j++) p->rate[i][j] = whole(b, last ? m->rate[j][i] : m->rate[i][j]);
        for (; at > 0 && p->core[p->order[at - 1]] < p->core[i]; at--) p->order[at] = p->order[at - 1];
        p->order[at] = i;
    }
}

static enum fc_code make_plane(struct plane *p, const struct cuts *b, bool last, struct fc_arena *arena,
                               struct fc_status *st)
{
    const struct fc_place_model *m = b->m;
    size_t n = (size_t)m->n;
    int axis = m->chip.order[last ? m->chip.n_axes - 1 : 0];
    uint32_t side = m->chip.side[axis], stride = 1;
    for (int a = m->chip.n_axes - 1; a > axis; a--) stride *= m->chip.side[a];
    p->n = m->n;
    p->lines = m->n_mesh / side;
    p->lanes = last && m->chip.n_axes == 1 ? 0 : (2 * (side - 1) + 3) / 4 * 4;
    p->replaces = !m->chip.bridges_compute;
    p->position = b->position[axis];
    p->line = fc_alloc(arena, m->n_mesh, sizeof *p->line, st);
    p->beyond = fc_alloc(arena, p->lanes, sizeof *p->beyond, st);
    p->near = fc_alloc(arena, p->lanes, sizeof *p->near, st);
    p->mask = fc_alloc(arena, (size_t)side * p->lanes, sizeof *p->mask, st);
    p->w = fc_alloc(arena, (n + 1) * n * p->lanes, sizeof *p->w, st);
    p->c = fc_alloc(arena, (n + 1) * p->lanes, sizeof *p->c, st);
    if (st->code) return st->code;
    for (uint32_t u = 0; u < m->n_mesh; u++) p->line[u] = u / (stride * side) * stride + u % stride;
    make_lanes(p, side);
    make_flows(p, b, last);
    start(p);
    return FC_OK;
}

static enum fc_code make_positions(struct cuts *b, struct fc_arena *arena, struct fc_status *st)
{
    const struct fc_chip *c = &b->m->chip;
    uint32_t n = b->m->n_mesh, stride = 1, lines = n / c->side[c->order[0]];
    b->stand = fc_alloc(arena, n, sizeof *b->stand, st);
    for (int a = c->n_axes - 1; a >= 0; a--) {
        b->position[a] = fc_alloc(arena, n, sizeof *b->position[a], st);
        for (uint32_t u = 0; u < n && !st->code; u++) b->position[a][u] = u / stride % c->side[a];
        stride *= c->side[a];
    }
    for (uint32_t u = 0; u < n && !st->code; u++)
        b->stand[b->position[c->order[0]][u] * lines + fc_layout_line(b->m, u)] = u;
    return st->code;
}

static enum fc_code set_up(struct cuts *b, struct fc_arena *arena, struct fc_status *st)
{
    const struct fc_place_model *m = b->m;
    double total = m->base_hops;
    for (int i = 0; i < m->n; i++) total += m->n_mesh * (m->inject[i] + m->eject[i]) + m->torus_load;
    b->scale = m->scale > 0 && total * m->scale < 0x1p30 ? m->scale : 0x1p29 / total;
    b->n = m->n;
    b->symmetry = fc_place_symmetry(m, b->rules, b->swap);
    if (make_positions(b, arena, st) || make_plane(&b->first, b, false, arena, st) ||
        make_plane(&b->last, b, true, arena, st))
        return st->code;
    size_t n = (size_t)m->n, lanes = b->first.lanes;
    b->delta = fc_alloc(arena, n * lanes, sizeof *b->delta, st);
    b->spare = fc_alloc(arena, (n + 1) * lanes, sizeof *b->spare, st);
    b->full = fc_alloc(arena, b->first.lines * lanes, sizeof *b->full, st);
    b->sum = fc_alloc(arena, lanes + b->last.lanes, sizeof *b->sum, st);
    return st->code;
}

/* ---- answers ---- */

enum fc_code fc_place_cuts(const struct fc_place_model *m, const struct fc_layout_rules *rules, uint64_t most_steps,
                           struct fc_place_best *best, struct fc_status *st)
{
    struct cuts b = {.m = m, .rules = rules, .most_steps = most_steps, .best = best->layout};
    struct fc_arena arena = {0};
    if (!set_up(&b, &arena, st)) {
        bool through = true;
        int32_t value = (int32_t)llround(best->figures.greatest_load * b.scale), bound = 0;
        for (size_t level = 0; level < FC_COUNT(levels) && through && !b.found; level++) {
            b.limit = (int32_t)ceil(levels[level] * value);
            through = place_positions(&b, 0);
            if (through) bound = b.limit;
        }
        best->layout = b.best;
        fc_layout_figure(m, &best->layout, NULL, &best->figures);
        best->value = best->figures.greatest_load;
        best->bound = through ? best->value : fmin(best->value, fmax(best->bound, bound / b.scale));
        best->proven = best->bound >= best->value;
        best->gap_percent = best->bound > 0 ? 100 * (best->value / best->bound - 1) : (double)NAN;
        best->by = "cuts";
        best->steps = b.steps;
    }
    fc_arena_free(&arena);
    return st->code;
}

static int by_bound(const void *x, const void *y)
{
    const struct fc_place_profile *a = x, *b = y;
    if (a->bound != b->bound) return a->bound < b->bound ? -1 : 1;
    return memcmp(a->position, b->position, sizeof a->position);
}

enum fc_code fc_place_profiles_find(const struct fc_place_model *m, const struct fc_layout_rules *rules, double below,
                                    uint32_t most, struct fc_arena *arena, struct fc_place_profiles *profiles,
                                    struct fc_status *st)
{
    struct cuts b = {.m = m, .rules = rules, .most_steps = UINT64_MAX, .list = profiles, .most_profiles = most};
    struct fc_arena own = {0};
    profiles->n = 0;
    profiles->profile = fc_alloc(arena, most, sizeof *profiles->profile, st);
    if (!st->code && !set_up(&b, &own, st)) {
        b.limit = (int32_t)fmin(0x1p30, ceil(below * b.scale - 1e-6));
        if (!place_positions(&b, 0)) fc_refuse(st, FC_NO, "more than %u profiles of positions", most);
        qsort(profiles->profile, profiles->n, sizeof *profiles->profile, by_bound);
    }
    fc_arena_free(&own);
    return st->code;
}
