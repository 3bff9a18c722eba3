/* route_fat_tree.c - fat-trees: up to a nearest common ancestor, then down.
 *
 * nca (Petrini & Vanneschi, IPPS 1997): at every switch on the way up any up link, the one with most credits
 * (selection is the engine's), any of parallel cables down. nca-random: the same with every up link and cable
 * picked uniformly and afresh at each level, whatever the load. nca-hash: d-mod-k, the way up and the cable
 * down as in models/routings/routing_nca_hash.c (residue of the destination); over several planes by a random pick at
 * the source, which splits traffic evenly as there. One rule channel, so all virtual channels are free to any
 * packet.
 *
 * Route word: bits 0..3 the level of the nearest common ancestors, then the child number at each level, which
 * is the way down. Limits: at most 64 up links a switch (nca). */
#include "models/family_fat_tree.h"
#include "solvers/flit/route.h"
#include "solvers/flit/route_fields.h"

#include <string.h>

enum ascent { ANY_UP, RANDOM_UP, HASHED_UP };

struct fat_tree_routes {
    const struct fc_fat_tree_shape *shape;
    enum ascent ascent;
    uint8_t *level;                   /* [n_routers] */
    uint8_t shift[FC_MAX_LEVELS + 1]; /* of the child number at level 1 .. h */
    uint64_t mask[FC_MAX_LEVELS + 1];
    uint32_t up[FC_MAX_LEVELS + 1];     /* up links of a switch of level l; level 0: of a node */
    uint32_t cables[FC_MAX_LEVELS + 1]; /* of each link between levels l - 1 and l */
    uint16_t all;
    uint64_t *place;      /* [n_nodes] the child numbers on the way down to the node */
    uint8_t level_of[64]; /* level of the child number that a bit of a route word belongs to */
};

static uint64_t start(const struct fc_flit_net *flit, uint32_t src, uint32_t dst, uint32_t random,
                      const struct fc_flit_view *view)
{
    const struct fat_tree_routes *t = flit->route_tables;
    const struct fc_fat_tree_shape *s = t->shape;
    uint64_t route = 0;
    int top = 0;
    (void)random, (void)view;
    for (int l = 1; l <= s->h; l++) {
        if (src == dst && top == 0) top = l - 1;
        uint32_t above = dst / s->m[l];
        route |= (uint64_t)(dst - above * s->m[l]) << t->shift[l];
        dst = above;
        src /= s->m[l];
    }
    if (top == 0) top = s->h;
    return route | (uint64_t)top;
}

/* Links first .. first + n - 1 as choices, or one of them. */
static inline int offer(const struct fat_tree_routes *t, uint32_t first, uint32_t n, uint32_t salt, uint16_t vcs,
                        const struct fc_flit_head *head, struct fc_flit_choice *out)
{
    if (t->ascent != ANY_UP) {
        first += n > 1 ? fc_route_below(fc_route_mix(head->random, salt), n) : 0;
        n = 1;
    }
    for (uint32_t i = 0; i < n; i++)
        out[i] = (struct fc_flit_choice){.route = head->route, .link = first + i, .vcs = vcs};
    return (int)n;
}

/* d-mod-k between levels l and l + 1: cable of the way up, or down, that goes to node dst. */
static inline uint32_t hashed_up(const struct fc_fat_tree_shape *s, int l, uint32_t dst)
{
    uint32_t residue = dst % fc_fat_tree_cables(s, l);
    return residue / s->subtree_switches[l] % s->w[l + 1] * s->p[l + 1] + residue / s->subtree_switches[l + 1];
}
static inline uint32_t hashed_cable(const struct fc_fat_tree_shape *s, int l, uint32_t dst)
{
    return dst % fc_fat_tree_cables(s, l) / s->subtree_switches[l + 1];
}

static int inject(const struct fc_flit_net *flit, const struct fat_tree_routes *t, uint32_t vertex,
                  const struct fc_flit_head *head, struct fc_flit_choice *out)
{
    const struct fc_fat_tree_shape *s = t->shape;
    uint32_t first = flit->net->first_link[vertex], n = t->up[0];
    if (t->ascent == HASHED_UP) { /* the links of a plane lie side by side */
        n = s->w[1] * s->p[1];
        first += n * fc_route_below(fc_route_mix(head->random, 0), s->planes) + hashed_up(s, 0, head->dst);
        n = 1;
    }
    return offer(t, first, n, 0, flit->injection_vcs, head, out);
}

static int choices(const struct fc_flit_net *flit, uint32_t router, uint32_t in_link, int in_vc,
                   const struct fc_flit_head *head, struct fc_flit_choice *out)
{
    const struct fat_tree_routes *t = flit->route_tables;
    const struct fc_fat_tree_shape *s = t->shape;
    (void)in_link, (void)in_vc;
    if (router >= flit->n_routers) return inject(flit, t, router, head, out);
    uint32_t first = flit->net->first_link[router];
    int level = t->level[router];
    if (level < (int)(head->route & 15)) {
        if (t->ascent == HASHED_UP) return offer(t, first + hashed_up(s, level, head->dst), 1, 0, t->all, head, out);
        return offer(t, first, t->up[level], (uint32_t)level, t->all, head, out);
    }
    uint32_t child = (uint32_t)(head->route >> t->shift[level] & t->mask[level]);
    uint32_t down = first + t->up[level] + child * t->cables[level];
    struct fc_flit_head below = *head;
    below.route = (head->route & ~15ull); /* never up again */
    if (t->ascent == HASHED_UP)
        return offer(t, down + hashed_cable(s, level - 1, head->dst), 1, 0, t->all, &below, out);
    return offer(t, down, t->cables[level], 16 + (uint32_t)level, t->all, &below, out);
}

/* The way: what choices() would give at each router. */
static uint64_t random_way(const struct fc_flit_net *flit, const struct fc_route_fields *fields, uint32_t src,
                           uint32_t dst, uint32_t random, const struct fc_flit_view *view, uint32_t *hops,
                           uint32_t *bits)
{
    const struct fat_tree_routes *t = flit->route_tables;
    uint64_t down = t->place[dst], differs = t->place[src] ^ down, way = 0;
    uint32_t top = differs ? t->level_of[63 - __builtin_clzll(differs)] : 1, at = 0;
    (void)view;
    for (uint32_t l = 1; l < top; l++, at += fields->out_bits)
        way |= (uint64_t)(t->up[l] > 1 ? fc_route_below(fc_route_mix(random, l), t->up[l]) : 0) << at;
    for (uint32_t l = top; l > 0; l--, at += fields->out_bits) {
        uint32_t out = t->up[l] + (uint32_t)(down >> t->shift[l] & t->mask[l]) * t->cables[l];
        if (t->cables[l] > 1) out += fc_route_below(fc_route_mix(random, 16 + l), t->cables[l]);
        way |= (uint64_t)out << at;
    }
    *hops = 2 * top - 2;
    *bits = at;
    return way;
}
static uint64_t hashed_way(const struct fc_flit_net *flit, const struct fc_route_fields *fields, uint32_t src,
                           uint32_t dst, uint32_t random, const struct fc_flit_view *view, uint32_t *hops,
                           uint32_t *bits)
{
    struct fc_flit_head head = {.route = start(flit, src, dst, random, view), .dst = dst, .random = random};
    return fc_route_walk(flit, fields, src, head, hops, bits, choices);
}

/* nca-random: what nca chooses from. */
static int picks(const struct fc_flit_net *flit, uint32_t router, uint32_t in_link, int in_vc,
                 const struct fc_flit_head *head, struct fc_flit_choice *out)
{
    struct fat_tree_routes any = *(const struct fat_tree_routes *)flit->route_tables;
    struct fc_flit_net all = *flit;
    any.ascent = ANY_UP;
    all.route_tables = &any;
    return choices(&all, router, in_link, in_vc, head, out);
}

static enum fc_code prepare(struct fc_flit_net *flit, enum ascent ascent, struct fc_status *st)
{
    const struct fc_fat_tree_shape *s = fc_fat_tree(flit->net);
    struct fat_tree_routes *t = fc_alloc(&flit->arena, 1, sizeof *t, st);
    int rep, at = 4;
    if (!t) return st->code;
    flit->route_tables = t;
    t->shape = s;
    t->ascent = ascent;
    t->level = fc_alloc(&flit->arena, flit->n_routers, sizeof *t->level, st);
    if (!t->level || fc_route_data_channels(flit, 1, &rep, st)) return st->code;
    t->all = fc_route_all(flit);
    t->up[0] = s->planes * s->w[1] * s->p[1];
    for (int l = 1; l <= s->h; l++) {
        memset(t->level + s->first_switch[l], l, s->first_switch[l + 1] - s->first_switch[l]);
        t->shift[l] = (uint8_t)at;
        t->mask[l] = (1ull << fc_route_bits(s->m[l] - 1)) - 1;
        at += fc_route_bits(s->m[l] - 1);
        t->up[l] = l < s->h ? s->w[l + 1] * s->p[l + 1] : 0;
        t->cables[l] = s->p[l];
    }
    for (int l = 1; l <= s->h; l++)
        for (int bit = t->shift[l]; bit < (l < s->h ? t->shift[l + 1] : at); bit++) t->level_of[bit] = (uint8_t)l;
    if (!flit->figures) {
        if (!(t->place = fc_alloc(&flit->arena, flit->n_nodes, sizeof *t->place, st))) return st->code;
        for (uint32_t n = 0; n < flit->n_nodes; n++) t->place[n] = start(flit, n, n, 0, NULL) & ~15ull;
    }
    for (int l = 0; ascent == ANY_UP && l <= s->h; l++) {
        uint32_t most = l && t->cables[l] > t->up[l] ? t->cables[l] : t->up[l];
        if (most > FC_FLIT_MOST_CHOICES)
            return fc_route_refuse(
                flit, st,
                "network: nca routing would choose among %u links at level %d (at most %d; nca-random "
                "and nca-hash take any number)",
                most, l, FC_FLIT_MOST_CHOICES);
    }
    flit->adaptive = ascent == ANY_UP;
    if (ascent != ANY_UP) fc_route_add_way_vcs(flit, t->all);
    flit->way_links = 2 * (uint32_t)s->h - 1;
    return FC_OK;
}
static enum fc_code prepare_any(struct fc_flit_net *flit, struct fc_status *st)
{
    return prepare(flit, ANY_UP, st);
}
static enum fc_code prepare_random(struct fc_flit_net *flit, struct fc_status *st)
{
    return prepare(flit, RANDOM_UP, st);
}
static enum fc_code prepare_hash(struct fc_flit_net *flit, struct fc_status *st)
{
    return prepare(flit, HASHED_UP, st);
}

static bool no_words(const struct fc_flit_net *flit, struct fc_flit_words *words)
{
    (void)flit, (void)words;
    return true;
}
/* Every pick is one of the choices, if those are not too many. */
static bool picked_words(const struct fc_flit_net *flit, struct fc_flit_words *words)
{
    const struct fc_fat_tree_shape *s = fc_fat_tree(flit->net);
    (void)words;
    for (int l = 1; l <= s->h; l++)
        if ((l == 1 ? s->planes : 1) * s->w[l] * s->p[l] > FC_FLIT_MOST_CHOICES) return false;
    return true;
}
/* One for each plane. */
static bool hashed_words(const struct fc_flit_net *flit, struct fc_flit_words *words)
{
    uint32_t planes = fc_fat_tree(flit->net)->planes;
    if (planes > FC_FLIT_MOST_WORDS) return false;
    words->n_way = planes;
    for (uint32_t plane = 0; plane < planes; plane++)
        while (fc_route_below(fc_route_mix(words->way[plane], 0), planes) != plane) words->way[plane]++;
    return true;
}

static const char *const families[] = {"fat-tree", NULL};
const struct fc_flit_route_ops fc_route_nca = {
    .name = "nca",
    .families = families,
    .prepare = prepare_any,
    .start = start,
    .choices = choices,
    .words = no_words,
};
const struct fc_flit_route_ops fc_route_nca_random = {
    .name = "nca-random",
    .families = families,
    .prepare = prepare_random,
    .start = start,
    .choices = choices,
    .words = picked_words,
    .picks = picks,
    .way = random_way,
};
const struct fc_flit_route_ops fc_route_nca_hash = {
    .name = "nca-hash",
    .families = families,
    .prepare = prepare_hash,
    .start = start,
    .choices = choices,
    .words = hashed_words,
    .way = hashed_way,
};
