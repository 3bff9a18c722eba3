/* validate_serve.c - a server under 10^5 questions: memory that does not grow, and the time of an answer.
 *
 *     obj/validate_serve [QUESTIONS]
 *
 * Each is new: a ring of 8 tasks with bytes of its own, on one of two machines, over one connection; a tenth are mistakes. Then
 * the same question of a recorded job of 64 ranks again and again. Ends with 1 where memory grew by more than 16 MiB after the
 * first fifth, or an answer was not as it must be. */
#include "tests/serve_client.h"

#include <stdlib.h>
#include <time.h>

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double resident_mib(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%*d %ld", &pages) != 1) pages = 0;
    if (file) fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1048576;
}

int main(int argc, char **argv)
{
    static const char *const machines[] = {"bgl-64", "qsnet-64"};
    static char line[1 << 16];
    long n = argc > 1 ? atol(argv[1]) : 100000, bad = 0;
    char path[64];
    struct served served = {.stop = 0};
    double first_mib = 0;
    snprintf(path, sizeof path, "/tmp/validate_serve.%d", (int)getpid());
    if (!start_server(&served, path, 2)) return fprintf(stderr, "%s\n", served.st.message), 1;
    FILE *stream = connect_to(path);
    if (!stream) return 1;
    double start_s = now_s();
    for (long i = 0; i < n; i++) {
        bool wrong = i % 10 == 9;
        fprintf(
            stream,
            "{\"id\":%ld,\"verb\":\"predict\",\"machine\":\"%s\",\"traffic\":{\"tasks\":8,\"src\":[0,1,2,3,4,5,6,7],"
            "\"dst\":[1,2,3,4,5,6,7,%d],\"bytes\":[%ld,1e5,1e5,1e5,1e5,1e5,1e5,1e5]}}\n",
            i, machines[i % 2], wrong ? 8 : 0, 1000 + i);
        if (!hear(stream, line, sizeof line)) return fprintf(stderr, "the connection ended\n"), 1;
        long id = -1;
        int code = -1;
        if (sscanf(line, "{\"id\":%ld,\"code\":%d", &id, &code) != 2 || id != i || code != (wrong ? 2 : 0)) bad++;
        if (i == n / 5) first_mib = resident_mib();
    }
    double each_s = (now_s() - start_s) / (double)n, grown_mib = resident_mib() - first_mib;
    printf("%ld questions, %ld answered wrongly, %.3g ms each; memory %.0f MiB after a fifth, %+.1f MiB since\n", n,
           bad, 1e3 * each_s, first_mib, grown_mib);
    double once_s = 0;
    for (int i = 0; i < 200; i++) {
        start_s = now_s();
        fprintf(
            stream,
            "{\"id\":%d,\"verb\":\"predict\",\"machine\":\"bgl-64\",\"trace\":\"traces/samples/lammps-lj-64.fct\"}\n",
            i);
        if (!hear(stream, line, sizeof line) || !strstr(line, "\"code\":0")) bad++;
        if (i == 0) once_s = now_s() - start_s;
        if (i == 0) each_s = 0;
        if (i > 0) each_s += (now_s() - start_s) / 199;
    }
    printf("LAMMPS on 64 ranks: %.0f ms the first time, %.3g ms again\n", 1e3 * once_s, 1e3 * each_s);
    fclose(stream);
    end_server(&served);
    return bad || grown_mib > 16 || served.st.code;
}
