/* support.c - see support.h. */
#include "tests/support.h"
#include "tests/replay_script.h"
#include "tests/tests.h"
#include "traces/traces.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct script script;

bool fc_test_file(char *path, const char *suffix, const char *text, size_t n)
{
    snprintf(path, 64, "/tmp/fabricast-test-XXXXXX%s", suffix);
    int fd = mkstemps(path, (int)strlen(suffix));
    if (fd < 0) return false;
    bool whole = write(fd, text, n) == (ssize_t)n;
    return close(fd) == 0 && whole;
}

enum fc_code fc_test_machine(const char *yaml, struct fc_machine *machine, struct fc_status *st)
{
    char path[64];
    if (!fc_test_file(path, ".yaml", yaml, strlen(yaml)))
        return fc_refuse(st, FC_FAULT, "the test cannot write %s", path);
    enum fc_code code = fc_machine_load(path, machine, st);
    unlink(path);
    return code;
}

bool fc_test_network(const char *yaml, struct fc_machine *machine, struct fc_network *net)
{
    struct fc_status st = {0};
    bool is_text = strchr(yaml, '\n') != NULL;
    if ((is_text ? fc_test_machine(yaml, machine, &st) : fc_machine_load(yaml, machine, &st)) == FC_OK) {
        if (fc_network_build(machine, net, &st) == FC_OK) return true;
        fc_machine_free(machine);
    }
    char text[2048];
    fc_status_text(&st, text, sizeof text);
    printf("\n    %s\n", text);
    CU_FAIL("the machine does not build");
    return false;
}

void fc_test_close(struct fc_machine *machine, struct fc_network *net)
{
    fc_network_free(net);
    fc_machine_free(machine);
}

bool fc_near(double a, double b, double tolerance)
{
    if (fabs(a - b) <= tolerance * fmax(fabs(a), fabs(b)) || fabs(a - b) < 1e-300) return true;
    printf("\n    %.17g against %.17g: off by %.3g relative\n", a, b, fabs(a - b) / fmax(fabs(a), fabs(b)));
    return false;
}

bool fc_test_note(const struct fc_trace *t, const char *part)
{
    for (uint32_t i = 0; i < t->n_unwrapped; i++)
        if (strstr(t->unwrapped[i], part)) return true;
    printf("\n    no note \"%s\"\n", part);
    return false;
}

double fc_demand_bytes(const struct fc_demand *demand)
{
    double total = 0;
    for (size_t i = 0; i < demand->n_entries; i++)
        if (demand->src[i] != demand->dst[i]) total += demand->bytes[i];
    for (int p = 0; p < demand->n_dense; p++) {
        const struct fc_dense *part = &demand->dense[p];
        double a = 0, b = 0, self = 0;
        for (uint32_t t = 0; t < demand->n_tasks; t++) {
            a += part->a[t];
            b += part->b[t];
            self += part->a[t] * part->b[t];
        }
        total += a * b - self;
    }
    return total;
}

void fc_under_mpirun(const char *mpi, const char *commands)
{
    static const char prepare[] =
        "run=mpirun.$mpi; command -v $run >/dev/null || [ $mpi = mpich ] || run=mpirun\n"
        "command -v $run >/dev/null || exit 77\n"
        "d=$(mktemp -d) && trap 'rm -rf $d' EXIT\n"
        "export ASAN_OPTIONS=detect_leaks=0 FABRICAST_DATA=$PWD/models\n"
        /* Open MPI's mpirun, told to end, now and then waits for itself for ever: once more. */
        "over() { for try in 1 2 3; do timeout -v -k 5 \"$@\" >$d/out 2>&1; s=$?\n"
        "grep -q 'sending signal KILL' $d/out || break; done; return $s; }\n"
        "[ $mpi = mpich ] || run=\"$run --oversubscribe\"\n"
        "[ $mpi = mpich ] || [ $(id -u) != 0 ] || run=\"$run --allow-run-as-root\"";
    char directory[400], program[500], library[500], command[4096];
    ssize_t n = readlink("/proc/self/exe", directory, sizeof directory - 1);
    directory[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(directory, '/');
    if (slash) *slash = '\0';
    snprintf(program, sizeof program, "%s/fabricast", directory);
    snprintf(library, sizeof library, "%s/../libfabricast-sweep-%s.so", directory, mpi);
    if (access(program, X_OK) || access(library, R_OK)) {
        printf("\n    SKIPPED: the program or libfabricast-sweep-%s.so is not built ", mpi);
        return;
    }
    snprintf(command, sizeof command, "mpi=%s program=%s\n%s\n%s", mpi, program, prepare, commands);
    int status = system(command);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        printf("\n    SKIPPED: mpirun of %s is not installed ", mpi);
    else
        CU_ASSERT_EQUAL(status, 0);
}
