/* route_shortest.c - graphs: at every router any link that leads one hop nearer to the destination
 * (equal-cost multi-path, RFC 2992, packet by packet), by the tables of route_graph_tables.c, whose limits are its own. */
#include "solvers/flit/route_shortest.h"

static uint64_t start(const struct fc_flit_net *flit, uint32_t src, uint32_t dst, uint32_t random,
                      const struct fc_flit_view *view)
{
    const struct fc_shortest_routes *t = flit->route_tables;
    (void)src, (void)random, (void)view;
    return t->tables->group[dst];
}

static int choices(const struct fc_flit_net *flit, uint32_t router, uint32_t in_link, int in_vc,
                   const struct fc_flit_head *head, struct fc_flit_choice *out)
{
    const struct fc_shortest_routes *t = flit->route_tables;
    (void)in_link, (void)in_vc;
    if (t->escape) return fc_route_graph_choices(flit, router, head, out);
    if (router >= flit->n_routers)
        return fc_route_graph_inject(flit, router, t->tables->hops + (size_t)head->route * flit->n_routers, head->route,
                                     out);
    const uint64_t *mask = t->next + ((size_t)head->route * flit->n_routers + router) * t->words;
    uint32_t first = t->net->first_link[router];
    uint16_t vcs = t->vcs[t->by_hops ? t->tables->hops[(size_t)head->route * flit->n_routers + router] : head->route];
    int n = 0;
    for (uint32_t w = 0; w < t->words; w++)
        for (uint64_t left = mask[w]; left; left &= left - 1)
            out[n++] = (struct fc_flit_choice){
                .route = head->route, .link = first + 64 * w + (uint32_t)__builtin_ctzll(left), .vcs = vcs};
    return n ? n : fc_route_graph_eject(t, router, head, flit->n_routers, out);
}

static enum fc_code prepare(struct fc_flit_net *flit, struct fc_status *st)
{
    return fc_route_shortest_prepare(flit, false, st);
}

static bool words(const struct fc_flit_net *flit, struct fc_flit_words *out)
{
    (void)flit, (void)out;
    return true;
}

static const char *const families[] = {"graph", NULL};
const struct fc_flit_route_ops fc_route_shortest = {
    .name = "shortest",
    .families = families,
    .prepare = prepare,
    .start = start,
    .choices = choices,
    .words = words,
};
