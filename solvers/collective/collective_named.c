/* collective_named.c - finds an algorithm in the table (collective.c). */
#include "solvers/collective/collective.h"

#include <string.h>

const struct fc_collective_algorithm *fc_collective_named(enum fc_op op, const char *name)
{
    for (const struct fc_collective_algorithm *a = fc_collective_algorithms; a->name; a++)
        if (a->op == op && (!name || !strcmp(a->name, name))) return a;
    return NULL;
}
