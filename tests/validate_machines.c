/* validate_machines.c - slower checks of every shipped machine: its routing is certified free of deadlock, and the
 * structural loads of all-to-all traffic and of a random permutation equal the path walk's where there are at most 6e6
 * pairs. Prints a row a machine; exit status 1 when one fails. `make validate` */
#include "models/models.h"
#include "solvers/solvers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double most_pairs = 6e6;

/* Greatest difference of two load vectors relative to the greatest load. */
static double difference(const struct fc_network *net, const struct fc_load *a, const struct fc_load *b)
{
    double off = 0, most = 1e-300;
    for (uint32_t l = 0; l < net->n_links; l++) {
        off = fmax(off, fabs(a->bytes[l] - b->bytes[l]));
        most = fmax(most, fmax(a->bytes[l], b->bytes[l]));
    }
    return off / most;
}

/* Structural against walked loads of a pattern; negative when one could not be solved. */
static double compare(const struct fc_network *net, const char *pattern, struct fc_status *st)
{
    struct fc_demand demand;
    struct fc_load formula = {0}, walked = {0};
    struct fc_load_settings settings = {.split = FC_SPLIT_SOLVER}, walk = {.path_walk = true};
    double off = -1;
    if (fc_demand_from_pattern(net, pattern, 1, &demand, st)) return off;
    uint32_t *node = malloc(demand.n_tasks * sizeof *node);
    for (uint32_t t = 0; node && t < demand.n_tasks; t++) node[t] = t;
    struct fc_placement placement = {demand.n_tasks, node};
    if (node && !fc_load_solve(net, &demand, &placement, &settings, &formula, st) &&
        !fc_load_solve(net, &demand, &placement, &walk, &walked, st))
        off = difference(net, &formula, &walked);
    fc_load_free(&formula);
    fc_load_free(&walked);
    fc_demand_free(&demand);
    free(node);
    return off;
}

static bool check(const char *name)
{
    struct fc_status st = {0};
    struct fc_machine machine;
    struct fc_network net = {0};
    struct fc_certificate certificate = {0};
    bool good = !fc_machine_load(name, &machine, &st) && !fc_network_build(&machine, &net, &st);
    if (good && fc_certify(&net, NULL, &certificate, &st)) good = false;
    if (!good) {
        printf("%-20s %s\n", name, st.message);
        return false;
    }
    good = certificate.safe;
    printf("%-20s %-22s", name, certificate.safe ? certificate.policy : "CAN DEADLOCK");
    bool splits =
        machine.routing->adaptive && machine.routing->n_components; /* UGAL, adaptive: only symmetric loads fixed */
    const char *patterns[] = {"alltoall:bytes=1KiB", "permutation:seed=1"};
    for (int p = 0; p < 2; p++) {
        bool fixed = !splits || (p == 0 && !strcmp(machine.routing->name, "adaptive"));
        if (!fixed || (p == 0 && (double)net.n_nodes * net.n_nodes > most_pairs)) {
            printf(" %14s", "-");
            continue;
        }
        double off = compare(&net, patterns[p], &st);
        printf(" %14.2g", off);
        good = good && off >= 0 && off <= 1e-12;
    }
    printf("  %s\n", good ? "ok" : st.code ? st.message : "FAILED");
    fc_certificate_free(&certificate);
    fc_network_free(&net);
    fc_machine_free(&machine);
    return good;
}

int main(void)
{
    struct fc_arena arena = {0};
    struct fc_status st = {0};
    const char **names;
    size_t n, failed = 0;
    if (fc_machine_names(&arena, &names, &n, &st)) {
        printf("%s\n", st.message);
        return 1;
    }
    printf("%-20s %-22s %14s %14s\n", "machine", "deadlock-free by", "all-to-all off", "permutation off");
    for (size_t i = 0; i < n; i++) failed += !check(names[i]);
    printf("%zu machines, %zu failed\n", n, failed);
    fc_arena_free(&arena);
    return failed > 0;
}
