/* pattern_multicast.c - every task sends one message to `targets` tasks whose ranks differ from its own by
 * multiples of `stride`: r + k * stride, k = -floor(targets/2) .. -1 and 1 .. ceil(targets/2), modulo the
 * number of tasks.
 *
 * Source: Bhatele et al., SC'11, section 6.3 (NAMD's multicast trees). Its text says 14 targets but its
 * example (x = 5, rank 50 -> 20, 25 ... 45, 55 ... 85) lists 13: that is targets=13 here, and targets=14 adds
 * rank 15. The figures of table 6 depend on the longest offset only, which is 7 x in both. Offsets that meet
 * modulo the tasks are refused. */
#include "models/demand_build.h"

struct settings {
    long long targets, stride, tasks;
    double bytes;
};

/* Multiples k and l of the stride meet when (k - l) stride = 0 modulo tasks; |k - l| <= targets. */
static enum fc_code check(const struct settings *set, uint64_t tasks, struct fc_status *st)
{
    if ((uint64_t)set->targets >= tasks)
        return fc_refuse(st, FC_INPUT, "targets: %lld others of %llu tasks", set->targets, (unsigned long long)tasks);
    uint64_t stride = (uint64_t)set->stride % tasks;
    for (uint64_t difference = 1; difference <= (uint64_t)set->targets; difference++)
        if (difference * stride % tasks == 0)
            return fc_refuse(st, FC_INPUT,
                             "stride: %llu steps of %lld lead back to the same task of %llu, so the %lld "
                             "targets are not distinct",
                             (unsigned long long)difference, set->stride, (unsigned long long)tasks, set->targets);
    return FC_OK;
}

static enum fc_code make(const struct fc_network *net, const void *settings, uint64_t seed, struct fc_demand *demand,
                         struct fc_status *st)
{
    const struct settings *set = settings;
    uint64_t tasks = set->tasks ? (uint64_t)set->tasks : fc_machine_cores(net);
    (void)seed;
    if (check(set, tasks, st) || fc_demand_start(demand, tasks, tasks * (uint64_t)set->targets, st)) return st->code;
    long long down = set->targets / 2, up = set->targets - down;
    uint64_t stride = (uint64_t)set->stride % tasks;
    for (uint64_t r = 0; r < tasks; r++)
        for (long long k = -down; k <= up; k++) {
            uint64_t offset = (uint64_t)(k < 0 ? -k : k) * stride % tasks;
            if (k != 0)
                fc_demand_add(demand, (uint32_t)r, (uint32_t)((k < 0 ? r + tasks - offset : r + offset) % tasks),
                              set->bytes);
        }
    return FC_OK;
}

static const struct fc_key keys[] = {
    {"targets", FC_KEY_INT, FC_NUMBER, offsetof(struct settings, targets), 1, 1e6, NULL, "14",
     "tasks that each task sends to"},
    {"stride", FC_KEY_INT, FC_NUMBER, offsetof(struct settings, stride), 1, 4e9, NULL, "5",
     "difference of rank between targets"},
    {"tasks", FC_KEY_INT, FC_NUMBER, offsetof(struct settings, tasks), 2, 4e9, NULL, NULL,
     "number of tasks (default: all cores)"},
    FC_KEY_MESSAGE_BYTES(struct settings, "1 MiB"),
};

const struct fc_pattern_ops fc_pattern_multicast = {
    .name = "multicast",
    .help = "every task to targets at multiples of a stride: targets=14,stride=5,bytes=1MiB,tasks=cores",
    .source = "Bhatele et al., SC'11, section 6.3",
    FC_SETTINGS(keys, struct settings),
    .make = make,
};
