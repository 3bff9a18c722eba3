/* generate_dragonfly.c - dragonflies: groups of routers that are linked all to all, and groups all to all.
 *
 * dragonfly: a routers a group, h links of each to other groups, p nodes each; the greatest has g = a h + 1 groups, a link a
 * pair; with fewer, as many links a pair as the routers have ports for. Source: Kim, Dally, Scott & Abts, ISCA 2008,
 * section 3.1. Family two-level.
 * dragonfly+ (megafly): leaf switches with nodes and spine switches with the links to other groups, each leaf linked to each
 * spine. Source: Shpiner et al., "Dragonfly+: low cost topology for scaling datacenters", HiPINEB 2017; Flajslik, Borch &
 * Parker, "Megafly", ISC 2018. Family dragonfly-plus. */
#include "models/generate/generate.h"

struct kim {
    struct fc_generated_rates rates;
    long long a, h, p, g;
};

static enum fc_code make_kim(const void *settings, struct fc_generated *g, struct fc_status *st)
{
    const struct kim *s = settings;
    long long h = s->h ? s->h : (s->a + 1) / 2, p = s->p ? s->p : h, groups = s->g ? s->g : s->a * h + 1;
    long long pair = groups > 1 ? s->a * h / (groups - 1) : 1;
    if (groups > s->a * h + 1)
        return fc_refuse(st, FC_INPUT, "g: %lld groups, but a h = %lld links of a group lead to %lld others at most",
                         groups, s->a * h, s->a * h);
    g->vcs = 3;
    g->routing = "ugal";
    g->classes[0] = s->a > 1 ? "ll" : NULL;
    g->classes[s->a > 1] = "d";
    snprintf(g->title, sizeof g->title,
             "dragonfly of %lld groups of %lld routers, %lld links to other groups and %lld nodes each", groups, s->a,
             h, p);
    snprintf(g->network, sizeof g->network,
             "family: two-level\n  supernodes: %lld\n  nodes_per_drawer: %lld\n  nodes_per_router: %lld\n"
             "  links_per_pair: %lld\n  d_ports: %lld\n  d_link: relative\n",
             groups, s->a, p, pair, h);
    return FC_OK;
}

#define KIM(field) offsetof(struct kim, field)
static const struct fc_key kim_keys[] = {
    {"a", FC_KEY_INT, FC_NUMBER, KIM(a), 1, 4096, NULL, "8", "routers of a group"},
    {"h", FC_KEY_INT, FC_NUMBER, KIM(h), 0, 4096, NULL, "0", "links of a router to other groups; 0: a / 2"},
    {"p", FC_KEY_INT, FC_NUMBER, KIM(p), 0, 4096, NULL, "0", "nodes of a router; 0: h"},
    {"g", FC_KEY_INT, FC_NUMBER, KIM(g), 0, 65536, NULL, "0", "groups; 0: a h + 1"},
    FC_GENERATED_RATES(struct kim),
};

const struct fc_generator_ops fc_generator_dragonfly = {
    .name = "dragonfly",
    .help = "groups of routers, all to all: a=8,h=4,p=4,g=33",
    .source = "Kim et al., ISCA 2008",
    FC_SETTINGS(kim_keys, struct kim),
    .make = make_kim,
};

struct plus {
    struct fc_generated_rates rates;
    long long groups, leaves, spines, nodes, links_per_pair;
};

static enum fc_code make_plus(const void *settings, struct fc_generated *g, struct fc_status *st)
{
    const struct plus *s = settings;
    (void)st;
    long long spines = s->spines ? s->spines : s->leaves, nodes = s->nodes ? s->nodes : spines;
    g->vcs = 3;
    g->routing = "ugal";
    g->classes[0] = "spine";
    g->classes[1] = "global";
    snprintf(g->title, sizeof g->title,
             "dragonfly+ of %lld groups, %lld leaf switches of %lld nodes and %lld spines each", s->groups, s->leaves,
             nodes, spines);
    snprintf(g->network, sizeof g->network,
             "family: dragonfly-plus\n  cells: [%lld]\n  leaves: [%lld]\n  spines: [%lld]\n  nodes_per_cell: [%lld]\n"
             "  links_per_pair: %lld\n",
             s->groups, s->leaves, spines, s->leaves * nodes, s->links_per_pair);
    return FC_OK;
}

#define PLUS(field) offsetof(struct plus, field)
static const struct fc_key plus_keys[] = {
    {"groups", FC_KEY_INT, FC_NUMBER, PLUS(groups), 2, 65536, NULL, "9", "of switches"},
    {"leaves", FC_KEY_INT, FC_NUMBER, PLUS(leaves), 1, 4096, NULL, "8", "leaf switches of a group"},
    {"spines", FC_KEY_INT, FC_NUMBER, PLUS(spines), 0, 4096, NULL, "0", "spine switches of a group; 0: as many"},
    {"nodes", FC_KEY_INT, FC_NUMBER, PLUS(nodes), 0, 4096, NULL, "0", "of a leaf switch; 0: one a spine"},
    {"links_per_pair", FC_KEY_INT, FC_NUMBER, PLUS(links_per_pair), 1, 4096, NULL, "8", "links of two groups"},
    FC_GENERATED_RATES(struct plus),
};
#define PLUS_RECORD(title)                                                                                             \
    .name = title, .help = "groups of leaf and spine switches: groups=9,leaves=8,spines=8,nodes=8,links_per_pair=8",   \
    .source = "Shpiner et al., HiPINEB 2017; Flajslik et al., ISC 2018", .keys = plus_keys,                            \
    .n_keys = FC_COUNT(plus_keys), .settings_size = sizeof(struct plus), .make = make_plus

const struct fc_generator_ops fc_generator_dragonfly_plus = {PLUS_RECORD("dragonfly+")};
const struct fc_generator_ops fc_generator_megafly = {PLUS_RECORD("megafly")};
