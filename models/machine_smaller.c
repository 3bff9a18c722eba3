/* machine_smaller.c - a machine of the same routers and links in another, mostly smaller, shape: what can be
 * run in seconds where the machine itself cannot.
 *
 * Number of dimensions and nodes a router, links, routers and packets stay. By family:
 *   torus, mesh: sides longer than 2 become 4, then 8 x 4 x 4..., 6, 8, 16 x 8 x 8...; a shorter side stays
 * (side 3 is left out: the model is farthest from the kernel on so small rings); tmesh: the same for the
 * torus of chips (side 2 to 4: whole chips are large); the chips stay; fat-tree: all levels, at most 2, 3, 4,
 * 6 children a level; parents and cables shrink with the children below them, so that the slimness of the
 * tree stays; trees of one or two levels of two children get one more, of links like those of the highest,
 * for ways longer than the machine's own (of two levels, four nodes would be left); two-level: 4 or 8
 * supernodes of 2 or 4 drawers, which may be more than the machine has, and fewer nodes a drawer; cables
 * between two supernodes grow so that global bandwidth a node stays, as far as there are ports for them.
 * graph: none: a file is one network. A relative that equals the machine is skipped by the caller, which
 * compares shapes. */
#include "models/family_fat_tree.h"
#include "models/family_tmesh.h"
#include "models/family_torus.h"
#include "models/family_two_level.h"

#include <math.h>
#include <string.h>

/* ---- the shape in words ---- */

static void add_list(char *out, size_t size, const char *name, const struct fc_ints *list)
{
    size_t n = strlen(out);
    snprintf(out + n, size - n, "%s%s [", n ? ", " : "", name);
    for (int i = 0; i < list->n; i++) {
        n = strlen(out);
        snprintf(out + n, size - n, "%s%lld", i ? ", " : "", list->v[i]);
    }
    n = strlen(out);
    snprintf(out + n, size - n, "]");
}

static void add_number(char *out, size_t size, const char *name, long long value)
{
    size_t n = strlen(out);
    snprintf(out + n, size - n, "%s%s %lld", n ? ", " : "", name, value);
}

static void add_text(char *out, size_t size, const char *name, const char *value)
{
    size_t n = strlen(out);
    snprintf(out + n, size - n, "%s%s %s", n ? ", " : "", name, value);
}

static bool is(const struct fc_machine *machine, const char *family)
{
    return !strcmp(machine->family->name, family);
}

char *fc_machine_shape(const struct fc_machine *machine, char *out, size_t size)
{
    out[0] = '\0';
    if (is(machine, "torus") || is(machine, "mesh")) {
        const struct fc_torus_shape *s = machine->shape;
        add_list(out, size, "dims", &s->dims);
        if (s->links_per_dim.n) add_list(out, size, "links_per_dim", &s->links_per_dim);
        if (s->wrap.n) add_list(out, size, "wrap", &s->wrap);
    } else if (is(machine, "tmesh")) {
        const struct fc_tmesh_shape *s = machine->shape;
        char bridges[256];
        add_list(out, size, "dims", &s->dims);
        add_list(out, size, "mesh", &s->mesh);
        add_text(out, size, "bridges", fc_tmesh_bridges_text(s, bridges, sizeof bridges));
    } else if (is(machine, "fat-tree")) {
        const struct fc_fat_tree_shape *s = machine->shape;
        add_list(out, size, "children", &s->children);
        add_list(out, size, "parents", &s->parents);
        if (s->links.n) add_list(out, size, "links", &s->links);
        if (s->planes > 1) add_number(out, size, "planes", s->planes);
    } else if (is(machine, "two-level")) {
        static const char *const rules[] = {"packed", "modulo", "block", "relative", "hashed", "free"};
        const struct fc_two_level_shape *s = machine->shape;
        add_number(out, size, "supernodes", s->supernodes);
        add_number(out, size, "drawers", s->drawers);
        add_number(out, size, "nodes_per_drawer", s->nodes_per_drawer);
        add_number(out, size, "links_per_pair", s->links_per_pair);
        add_text(out, size, "local", s->local == FC_LOCAL_GRID ? "grid" : "full");
        add_text(out, size, "d_link", rules[s->d_link]);
    } else {
        add_text(out, size, "machine", machine->name);
    }
    if (machine->nodes_per_router > 1) add_number(out, size, "nodes_per_router", machine->nodes_per_router);
    return out;
}

/* ---- relatives ---- */

enum { LOW_TREE = 2 }; /* levels */

static void cap_dims(struct fc_ints *dims, long long side, bool first_doubled)
{
    bool doubled = false;
    for (int d = 0; d < dims->n; d++) {
        if (dims->v[d] <= 2) continue;
        dims->v[d] = first_doubled && !doubled ? 2 * side : side;
        doubled = true;
    }
}

static bool smaller_torus(struct fc_torus_shape *s, int number)
{
    static const struct {
        long long side;
        bool doubled;
    } list[] = {{4, false}, {4, true}, {6, false}, {8, false}, {8, true}};
    if (number >= (int)FC_COUNT(list)) return false;
    cap_dims(&s->dims, list[number].side, list[number].doubled);
    return true;
}

static bool smaller_tmesh(struct fc_tmesh_shape *s, int number)
{
    static const struct {
        long long side;
        bool doubled;
    } list[] = {{3, false}, {2, true}, {4, false}, {3, true}};
    if (number >= (int)FC_COUNT(list)) return false;
    cap_dims(&s->dims, list[number].side, list[number].doubled);
    return true;
}

/* One level more on top of a tree of two children a level, as slim as its highest. */
static void add_level(struct fc_fat_tree_shape *s)
{
    int n = s->children.n;
    double slim = n > 1 ? (double)s->parents.v[n - 1] / (double)s->children.v[n - 2] : 1;
    s->parents.v[n] = (long long)fmax(1, round(slim * (double)s->children.v[n - 1]));
    s->children.v[n] = 2;
    s->children.n = s->parents.n = n + 1;
    if (s->links.n) s->links.v[s->links.n++] = s->links.v[n - 1];
}

static bool smaller_fat_tree(struct fc_fat_tree_shape *s, int number)
{
    static const long long most[] = {4, 2, 6, 3, 8};
    if (number >= (int)FC_COUNT(most)) return false;
    double shrunk = 1; /* children of the level below, new over old: parents follow */
    for (int l = 0; l < s->children.n; l++) {
        long long m = s->children.v[l] < most[number] ? s->children.v[l] : most[number];
        s->parents.v[l] = (long long)fmax(1, round((double)s->parents.v[l] * shrunk));
        shrunk = (double)m / (double)s->children.v[l];
        s->children.v[l] = m;
    }
    if (most[number] == 2 && s->children.n <= LOW_TREE) add_level(s);
    return true;
}

static bool smaller_two_level(struct fc_two_level_shape *s, int number)
{
    static const struct {
        long long supernodes, drawers, positions;
    } list[] = {{4, 2, 4}, {8, 2, 4}, {4, 4, 4}, {8, 4, 4}};
    if (number >= (int)FC_COUNT(list)) return false;
    double nodes = (double)s->drawers * (double)s->nodes_per_drawer;
    double cables = (double)(s->supernodes - 1) * (double)s->links_per_pair / nodes;
    long long own = s->supernodes;
    if (own > 2) s->supernodes = list[number].supernodes;
    if (s->drawers == 1) { /* a group of one drawer keeps its routers together */
        long long routers = list[number].drawers * list[number].positions;
        if (s->nodes_per_drawer > routers) s->nodes_per_drawer = routers;
    } else {
        s->drawers = list[number].drawers;
        if (s->nodes_per_drawer > list[number].positions) s->nodes_per_drawer = list[number].positions;
    }
    nodes = (double)s->drawers * (double)s->nodes_per_drawer;
    bool ports = nodes * (double)s->d_ports >= (double)s->supernodes;
    if (s->supernodes > own && !ports) s->supernodes = own; /* no more than have a cable each */
    if (s->supernodes > 1)
        s->links_per_pair =
            (long long)fmax(1, fmin(round(cables * nodes / (double)(s->supernodes - 1)),
                                    floor(nodes * (double)s->d_ports / (double)s->supernodes)));
    return true;
}

/* The link classes of the new shape take the figures of those of the same name; levels of a fat-tree that
 * stay away leave theirs unused, one more takes those of the highest (all other classes of a tree are
 * levels). */
static enum fc_code take_classes(const struct fc_machine *from, struct fc_machine *to, struct fc_status *st)
{
    to->n_classes++; /* injection: declared by no family */
    for (int c = 0; c < to->n_classes; c++) {
        const char *name = c + 1 < to->n_classes ? to->classes[c].name : "injection";
        int same = 0;
        while (same < from->n_classes && strcmp(from->classes[same].name, name)) same++;
        if (same == from->n_classes && is(from, "fat-tree")) same -= 2; /* injection is last */
        if (same == from->n_classes)
            return fc_refuse(st, FC_FAULT, "a smaller %s has a link class '%s' that the machine lacks",
                             from->family->name, name);
        char own[sizeof to->classes[c].name];
        memcpy(own, name, strlen(name) + 1);
        to->classes[c] = from->classes[same];
        memcpy(to->classes[c].name, own, sizeof own);
    }
    return FC_OK;
}

enum fc_code fc_machine_smaller(const struct fc_machine *machine, int number, struct fc_machine *smaller,
                                bool *exists, struct fc_status *st)
{
    *smaller = *machine;
    smaller->arena = (struct fc_arena){0};
    smaller->hosts = smaller->hosts_file = NULL; /* they are as many as the machine's nodes */
    *exists = false;
    if (is(machine, "graph")) return FC_OK;
    smaller->shape = fc_alloc(&smaller->arena, 1, machine->family->shape_size, st);
    if (!smaller->shape) return st->code;
    memcpy(smaller->shape, machine->shape, machine->family->shape_size);
    if (is(machine, "torus") || is(machine, "mesh"))
        *exists = smaller_torus(smaller->shape, number);
    else if (is(machine, "tmesh"))
        *exists = smaller_tmesh(smaller->shape, number);
    else if (is(machine, "fat-tree"))
        *exists = smaller_fat_tree(smaller->shape, number);
    else if (is(machine, "two-level"))
        *exists = smaller_two_level(smaller->shape, number);
    struct fc_place where = {machine->file, machine->network_line};
    if (*exists && !machine->family->check(smaller, where, st)) take_classes(machine, smaller, st);
    if (st->code || !*exists) fc_machine_free(smaller);
    return st->code;
}
