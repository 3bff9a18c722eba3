/* network_names.c - names of routers, nodes and links: the family's own, or "node 5", "router 7", "CLASS FROM->TO". */
#include "models/models.h"

char *fc_vertex_name(const struct fc_network *net, uint32_t vertex, char *out, size_t size)
{
    if (fc_is_node(net, vertex) && net->machine->family->vertex_name == NULL)
        snprintf(out, size, "node %u", vertex - net->n_routers);
    else if (net->machine->family->vertex_name)
        net->machine->family->vertex_name(net, vertex, out, size);
    else
        snprintf(out, size, "router %u", vertex);
    return out;
}

char *fc_link_name(const struct fc_network *net, uint32_t link, char *out, size_t size)
{
    uint32_t a = net->link_source[link], b = net->link_target[link];
    int class = net->link_class[link];
    bool injection = class == fc_injection_class(net->machine);
    for (uint32_t k = 0; k < net->machine->kinds.n; k++)
        injection = injection || net->machine->kinds.kind[k].link_class == class;
    if (injection && fc_is_node(net, a)) {
        snprintf(out, size, "node %u in", a - net->n_routers);
    } else if (injection) {
        snprintf(out, size, "node %u out", b - net->n_routers);
    } else if (net->machine->family->link_name) {
        net->machine->family->link_name(net, link, out, size);
    } else {
        char from[80], to[80];
        snprintf(out, size, "%s %s->%s", net->machine->classes[net->link_class[link]].name,
                 fc_vertex_name(net, a, from, sizeof from), fc_vertex_name(net, b, to, sizeof to));
    }
    return out;
}
