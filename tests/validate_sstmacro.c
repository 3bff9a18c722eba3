/* validate_sstmacro.c - DUMPI traces of SST/macro's tests (read from ../shared when they are there) against
 * the times that it publishes, tests/reference/test_dumpi_bgp.ref-out and test_dumpi_manager.ref-out, with
 * ranks on the nodes named there. What differs, and why: docs/validation.md. `make validate` */
#include "solvers/solvers.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

static const struct row {
    const char *name;
    uint32_t n_ranks, node[7]; /* of each rank */
    double published_s, most_percent;
} rows[] = {
    {"testbgp", 7, {0, 0, 0, 0, 1, 1, 1}, 0.00906712, 2},
    {"testtrace", 4, {0, 0, 0, 0}, 0.00010026, 4},
};

static bool check(const struct fc_network *net, const struct row *row, struct fc_status *st)
{
    char path[200];
    struct fc_trace trace;
    struct fc_replay replay;
    struct fc_placement placement = {row->n_ranks, row->node};
    struct fc_replay_settings settings = {.network = FC_NET_CONTENTION, .software = net->machine->software};
    snprintf(path, sizeof path, "../shared/reference/traces/dumpi/sst/%s.meta", row->name);
    if (access(path, R_OK)) {
        printf("%-10s skipped: %s is not there\n", row->name, path);
        return true;
    }
    if (fc_trace_read(path, &trace, st)) return false;
    bool good = !fc_replay_run(net, &trace, &placement, &settings, &replay, st);
    if (good) {
        const struct fc_prediction *p = &replay.prediction;
        double off = 100 * (p->time_s / row->published_s - 1);
        good = fabs(off) <= row->most_percent;
        printf("%-10s SST/macro %.8f s, here %.8f s, %+.1f %%; communication %.3g and %.3g s%s\n", row->name,
               row->published_s, p->time_s, off, row->published_s - p->computation_s, p->time_s - p->computation_s,
               good ? "" : "  FAILED");
        fc_replay_free(&replay);
    }
    fc_trace_free(&trace);
    return good;
}

int main(void)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_status st = {0};
    bool good = !fc_machine_load("tests/machines/sst-small-torus.yaml", &machine, &st);
    if (good && !fc_network_build(&machine, &net, &st)) {
        for (size_t i = 0; i < FC_COUNT(rows) && !st.code; i++) good &= check(&net, &rows[i], &st);
        fc_network_free(&net);
    }
    if (st.code) {
        char text[1024];
        fc_status_text(&st, text, sizeof text);
        printf("%s\n", text);
    }
    return st.code || !good;
}
