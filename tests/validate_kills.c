/* validate_kills.c - 1,000 signals (SIGKILL, SIGTERM, SIGINT) at random times over every command that writes: no file is torn,
 * what goes on gives the bytes of an undisturbed run, no child and no unfinished file is left (tests/kills.h).
 *
 *     validate_kills [SEED [SIGNALS]]       $FABRICAST: the program */
#include "tests/kills_jobs.h"

/* Of 1,000; ranks that mpirun starts take a second each. */
static const int share[KILLS_JOBS] = {
    [KILLS_SWEEP] = 200,     [KILLS_MAP] = 130,          [KILLS_CONVERT] = 150,    [KILLS_CALIBRATE] = 80,
    [KILLS_REPRODUCE] = 130, [KILLS_REPORT] = 60,        [KILLS_PLOTS] = 60,       [KILLS_EXPORT] = 50,
    [KILLS_CAPTURE] = 80,    [KILLS_CAPTURE_RANKS] = 30, [KILLS_SWEEP_RANKS] = 30,
};

int main(int argc, char **argv)
{
    struct kills k;
    struct kills_inputs in;
    struct kills_job jobs[KILLS_JOBS];
    struct kills_counts all = {0};
    char program[PATH_MAX], root[PATH_MAX];
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    int n = argc > 2 ? atoi(argv[2]) : 1000;
    double start = fc_wall_s();
    const char *named = getenv("FABRICAST");
    if (!realpath(named ? named : "obj/fabricast", program) || !realpath(".", root) || !kills_open(&k, program, seed) ||
        !kills_make_inputs(&k, root, &in)) {
        printf("cannot begin: %s (run it from the top of the source tree, after `make`)\n", strerror(errno));
        return 1;
    }
    bool ranks = kills_make_program(&k, &in);
    kills_make_jobs(&in, jobs);
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("seed %llu\n%-20s %8s %8s %8s %8s %8s %8s\n", (unsigned long long)seed, "command", "SIGKILL", "SIGTERM",
           "SIGINT", "answers", "wrong", "s");
    for (int j = 0; j < KILLS_JOBS; j++) {
        double since = fc_wall_s();
        k.counts = (struct kills_counts){0};
        if (!ranks && j >= KILLS_CAPTURE) {
            printf("%-20s skipped: no mpicc\n", jobs[j].name);
            continue;
        }
        kills_run(&k, &jobs[j], (share[j] * n + 999) / 1000);
        struct kills_counts *c = &k.counts;
        printf("%-20s %8d %8d %8d %8d %8d %8.1f\n", jobs[j].name, c->sent[0], c->sent[1], c->sent[2], c->completed,
               c->wrong, fc_wall_s() - since);
        for (int i = 0; i < 3; i++) all.sent[i] += c->sent[i];
        all.completed += c->completed;
        all.wrong += c->wrong;
    }
    kills_close(&k);
    printf("%-20s %8d %8d %8d %8d %8d %8.1f\n", "all", all.sent[0], all.sent[1], all.sent[2], all.completed, all.wrong,
           fc_wall_s() - start);
    return all.wrong > 0;
}
