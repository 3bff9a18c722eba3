/* predict.c - a job on a machine in rank order and under a better mapping, through libfabricast.
 *
 *     cc predict.c $(pkg-config --cflags --libs fabricast) -o predict && ./predict bgl-64 stencil3d:bytes=64KiB */
#include <fabricast.h>
#include <stdio.h>

static int tell(const fabricast_error *e)
{
    fprintf(stderr, "%s%s%s\n", e->file, *e->file ? ": " : "", e->message);
    return e->code;
}

int main(int argc, char **argv)
{
    static const char *const maps[] = {"def", "optimize"};
    fabricast_error error;
    fabricast_machine *machine;
    fabricast_job *job;
    if (argc != 3) return fprintf(stderr, "usage: predict MACHINE PATTERN\n"), FABRICAST_INPUT;
    if (fabricast_machine_open(argv[1], NULL, &machine, &error)) return tell(&error);
    if (fabricast_job_pattern(machine, argv[2], 1, &job, &error)) return fabricast_machine_close(machine), tell(&error);
    for (int i = 0; i < 2; i++) {
        fabricast_settings settings = fabricast_defaults();
        fabricast_answer *answer;
        settings.map = maps[i];
        settings.search_s = 0.2; /* of counted work: the same answer on any computer */
        if (fabricast_predict(machine, job, &settings, &answer, &error)) return tell(&error);
        const fabricast_figures *f = fabricast_answer_figures(answer);
        printf("%-9s %.4g ms +-%.0f %%, %.1f %% of peak, %s\n", maps[i], 1e3 * f->time_s, f->error_percent,
               f->percent_of_peak, f->bottleneck);
        fabricast_answer_close(answer);
    }
    fabricast_job_close(job);
    fabricast_machine_close(machine);
    return FABRICAST_OK;
}
