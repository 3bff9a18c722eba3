/* routes_links.c - the links that a search knows, numbered as they come. */
#include "mapping/routes.h"

#include <math.h>

uint32_t fc_routes_add_link(struct fc_routes *r, uint32_t real)
{
    double bandwidth = fc_site_bandwidth(r->sites, real);
    if (!isfinite(bandwidth)) return FC_NONE;
    r->real[r->n_links] = real;
    r->seconds[r->n_links] = 1 / bandwidth;
    return r->number[real] = r->n_links++;
}
