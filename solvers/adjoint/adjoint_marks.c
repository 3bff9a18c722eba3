/* adjoint_marks.c - derivatives by what is on a tape: of the few that count. */
#include "core/array.h"
#include "solvers/adjoint/adjoint_internal.h"

#include <stdlib.h>

bool fc_adjoint_open_marks(struct fc_adjoint_marks *x, size_t n)
{
    x->marks = calloc(n / 64 + 1, sizeof *x->marks);
    x->place = malloc((n + 1) * sizeof *x->place);
    x->n_of = 1;
    return x->marks && x->place && FC_GROW(x->of, x->of_capacity, 64);
}

void fc_adjoint_close_marks(struct fc_adjoint_marks *x)
{
    free(x->marks);
    free(x->place);
    free(x->of);
    free(x->spare);
}

uint32_t fc_adjoint_place_of(struct fc_adjoint_marks *x, uint32_t i)
{
    uint32_t place = 0;
    if (x->n_spare > 0)
        place = x->spare[--x->n_spare];
    else if (FC_GROW(x->of, x->of_capacity, x->n_of + 1))
        place = (uint32_t)x->n_of++;
    x->refused = x->refused || place == 0;
    x->of[place] = (struct fc_adjoint_lanes){{0}};
    x->marks[i / 64] |= UINT64_C(1) << i % 64;
    return x->place[i] = place;
}
