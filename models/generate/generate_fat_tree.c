/* generate_fat_tree.c - fat-trees of switches with k ports: each of the lower levels has half its ports down, half up.
 *
 * k-port n-tree of h levels: 2 (k/2)^h nodes, h levels of switches, the top level's ports all down. Sources: Al-Fares,
 * Loukissas & Vahdat, SIGCOMM 2008 (h = 3); Leiserson, IEEE Trans. Computers 34(10), 1985. `taper` divides the ports up of the
 * lowest switches. Family fat-tree. */
#include "models/generate/generate.h"

struct settings {
    struct fc_generated_rates rates;
    long long k, levels, taper;
};

static enum fc_code make(const void *settings, struct fc_generated *g, struct fc_status *st)
{
    const struct settings *s = settings;
    long long half = s->k / 2;
    char children[120] = "", parents[120] = "";
    size_t a = 0, b = 0;
    if (s->k % 2) return fc_refuse(st, FC_INPUT, "k: %lld ports (expected an even number)", s->k);
    if (half % s->taper)
        return fc_refuse(st, FC_INPUT, "taper: %lld does not divide the %lld ports up", s->taper, half);
    for (int l = 0; l < s->levels; l++) {
        long long up = l == 0 ? 1 : l == 1 ? half / s->taper : half;
        a += (size_t)snprintf(children + a, sizeof children - a, "%s%lld", l ? ", " : "",
                              l + 1 == s->levels && s->levels > 1 ? s->k : half);
        b += (size_t)snprintf(parents + b, sizeof parents - b, "%s%lld", l ? ", " : "", up);
    }
    g->vcs = 1;
    g->classes[0] = "leaf";
    g->classes[1] = s->levels > 1 ? "up" : NULL;
    snprintf(g->title, sizeof g->title, "fat-tree of %lld levels of switches of %lld ports%s", s->levels, s->k,
             s->taper > 1 ? ", tapered" : "");
    snprintf(g->network, sizeof g->network, "family: fat-tree\n  children: [%s]\n  parents: [%s]\n", children, parents);
    return FC_OK;
}

#define AT(field) offsetof(struct settings, field)
static const struct fc_key keys[] = {
    {"k", FC_KEY_INT, FC_NUMBER, AT(k), 2, 65536, NULL, "16", "ports of a switch"},
    {"levels", FC_KEY_INT, FC_NUMBER, AT(levels), 1, 8, NULL, "3", "of switches"},
    {"taper", FC_KEY_INT, FC_NUMBER, AT(taper), 1, 65536, NULL, "1",
     "nodes of a lowest switch for each of its links up"},
    FC_GENERATED_RATES(struct settings),
};

const struct fc_generator_ops fc_generator_fat_tree = {
    .name = "fat-tree",
    .help = "switches of k ports: k=16,levels=3,taper=1",
    .source = "Al-Fares et al., SIGCOMM 2008; Leiserson 1985",
    FC_SETTINGS(keys, struct settings),
    .make = make,
};
