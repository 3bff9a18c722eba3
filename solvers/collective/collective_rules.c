/* collective_rules.c - the sets of rules, and which of them a library's name stands for. */
#include "solvers/collective/collective.h"

#include <string.h>
#include <strings.h>

const struct fc_collective_rules fc_collective_rules[] = {
    {"mpich", "MPICH up to 3; Thakur, Rabenseifner & Gropp 2005", fc_collective_mpich},
    {"mpich4", "MPICH 4 and 5", fc_collective_mpich4},
    {"openmpi", "Open MPI 4.1, coll/tuned", fc_collective_openmpi},
    {"openmpi5", "Open MPI 5.0, the same rules", fc_collective_openmpi},
    {"cray-mpich", "Cray MPICH 8, as far as it is known", fc_collective_cray},
    {"fjmpi", "FJMPI 4 on Fugaku, inferred from times", fc_collective_fjmpi},
    {NULL, NULL, NULL},
};

const struct fc_collective_rules *fc_collective_rules_named(const char *name)
{
    for (const struct fc_collective_rules *r = fc_collective_rules; r->name; r++)
        if (!strcmp(r->name, name)) return r;
    return NULL;
}

const struct fc_collective_rules *fc_collective_rules_of(const char *text)
{
    static const struct {
        const char *begins, *name;
    } library[] = {
        {"Open MPI v4", "openmpi"}, {"Open MPI v5", "openmpi5"},  {"MPICH 4", "mpich4"},    {"MPICH 5", "mpich4"},
        {"MPICH 3", "mpich"},       {"CRAY MPICH", "cray-mpich"}, {"FUJITSU MPI", "fjmpi"},
    };
    for (size_t i = 0; text && i < FC_COUNT(library); i++)
        if (!strncasecmp(text, library[i].begins, strlen(library[i].begins)))
            return fc_collective_rules_named(library[i].name);
    return NULL;
}
