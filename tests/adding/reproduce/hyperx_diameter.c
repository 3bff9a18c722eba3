/* hyperx_diameter.c - a HyperX's longest way: one hop a dimension. */
#include "reproduce/figure.h"

static const struct fc_figure figures[] = {
    {"hyperx-diameter", "hops of the longest way", "Ahn et al., SC'09, section 3", "bgl-64", ""},
};
static enum fc_code make(const struct fc_reproducing *how, struct fc_reproduction *r, struct fc_status *st)
{
    struct fc_point_of of = {r, FC_POINT_CLOSED_FORM, FC_POINT_STATED, "hops"};
    (void)how, (void)st;
    fc_point_percent(of, 2, 2, 0, "two dimensions");
    fc_reproduction_rows(r);
    return FC_OK;
}
const struct fc_reproduction_ops fc_reproduction_hyperx_diameter = {figures, 1, 0, 0, make};
