#!/bin/bash
# validate_tsan.sh - no data race: the program under clang's ThreadSanitizer, two threads, all that runs in threads.
#
# The sanitizer sees the teams of core/threads.c (pthreads) by itself. OpenMP's loops are LLVM's, whose Archer tells it
# which thread waited for which; with gcc's libgomp it would take every loop for a race. Archer counts only what was
# really ordered, so nothing is suppressed. Before the program come loops, alone and with a race: the first must pass,
# the second must be found, or the check itself is broken.
#
# Needs clang and LLVM's OpenMP (Debian: clang, libomp-dev or libomp-14-dev) and two processors; says so and skips
# otherwise. KEEP: a directory that keeps the build.
set -u
export LC_ALL=C
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root" || exit 1
work=${KEEP:-$(mktemp -d /tmp/fabricast-tsan-XXXXXX)}
[ -n "${KEEP:-}" ] || trap 'rm -rf "$work"' EXIT
mkdir -p "$work"
flags='-fsanitize=thread -O1 -g'
passed=0 failed=0

skip()
{
    echo "SKIPPED: no thread sanitizer: $*"
    exit 0
}

command -v clang >/dev/null || skip "clang is not installed"
[ "$(nproc)" -gt 1 ] || skip "one processor: nothing would run at the same time"
archer=$(clang -print-resource-dir)/../../libarcher.so
[ -e "$archer" ] || skip "LLVM's OpenMP with Archer is not installed (libomp-dev)"
# Addresses as the sanitizer expects them, where the kernel puts programs elsewhere.
fixed=
setarch -R true 2>/dev/null && fixed='setarch -R'
export OMP_TOOL_LIBRARIES=$archer TSAN_OPTIONS='halt_on_error=0 exitcode=66 ignore_noninstrumented_modules=1'
export FABRICAST_DATA=$root/models

# sanitized COMMAND...: its exit status; what the sanitizer says into $work/log
sanitized()
{
    timeout -k 5 "${LIMIT:-600}" $fixed "$@" >"$work/out" 2>"$work/log" </dev/null
}

# ---- the check of the check ----

cat >"$work/loops.c" <<'END'
#include <omp.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    static int shared[1000], sum, most;
    (void)argv;
#pragma omp parallel for num_threads(2) schedule(dynamic, 1) reduction(+ : sum)
    for (int i = 0; i < 1000; i++) {
        shared[i] = i;
        sum += i;
#pragma omp critical
        if (i > most) most = i;
    }
#pragma omp parallel for num_threads(2) schedule(dynamic, 1)
    for (int i = 0; i < 1000; i++) shared[999 - i]++;
#pragma omp parallel num_threads(2)
    if (argc > 1) sum++;
    printf("%d %d %d\n", shared[7], sum, most);
    return 0;
}
END
clang -fopenmp $flags -o "$work/loops" "$work/loops.c" 2>"$work/log" || skip "clang does not build with -fsanitize=thread -fopenmp"
sanitized "$work/loops" || { cat "$work/log"; echo "FAILED: a loop without a race is reported"; exit 1; }
sanitized "$work/loops" racing && { echo "FAILED: a planted race is not reported"; exit 1; }
grep -q 'WARNING: ThreadSanitizer: data race' "$work/log" || skip "programs under the sanitizer do not start: $(head -1 "$work/log")"

# ---- the program ----

echo "  building with clang $flags"
make -s CC=clang OBJ="$work/obj" CFLAGS="$flags" "$work/obj/fabricast" >"$work/log" 2>&1 ||
    { cat "$work/log"; echo "FAILED: it does not build"; exit 1; }

# clean ARGUMENT...: the command, with two threads, must end with 0 and without a word of the sanitizer
clean()
{
    sanitized "$work/obj/fabricast" "$@" --threads 2
    local status=$?
    if [ $status = 0 ] && ! grep -q ThreadSanitizer "$work/log"; then
        passed=$((passed + 1))
        return
    fi
    failed=$((failed + 1))
    echo "  FAILED  fabricast $* --threads 2 (exit $status)"
    head -40 "$work/log"
}

short='--warmup 300 --measure 700 -q'
for machine in bgl-64 qsnet-64 percs-16 tests/machines/{torus-4x4x4,mesh-4x4,tmesh-64,e_fattree4x3_nca_v4b8_l1,g_dragonfly72_min_uniform_l1}.yaml; do
    for engine in cycle event; do
        "$work/obj/fabricast" flit -m "$machine" -p uniform --load 30% --engine $engine --max-cycles 1 -q >/dev/null 2>"$work/log" </dev/null
        grep -q 'engine' "$work/log" && continue # is not exact for this machine, and says so
        clean flit -m "$machine" -p uniform --load 30% --engine $engine $short
    done
    clean flit -m "$machine" -p uniform --backlog $short
done
for engine in cycle event; do
    clean flit -m bgl-64 -p alltoall:bytes=512 --engine $engine -q
    clean flit -m bgl-64 -p uniform --load 20% --background tornado:0.01 --interval 100 --engine $engine $short
    clean flit -m bgl-64 -p uniform --load 20% --packet-flits 1-8 --engine $engine $short
done
clean map -m bgl-64 -p stencil2d:grid=8x8,bytes=64KiB --strategy optimize --time 0.05s -q
clean map -m qsnet-64 -t traces/samples/lammps-lj-64.fct --strategy optimize:time --time 0.05s -q
clean map -m percs-16 -p stencil2d:grid=32x16,bytes=64KiB --strategy all --time 0.02s -q
clean map -m tests/machines/tmesh-27.yaml -p stencil3d:grid=3x3x3,bytes=64KiB --strategy optimize --time 0.05s -q
clean load -m bgl-512 -p stencil3d
clean load -m percs-64 -p permutation:seed=3
clean curve -m bgl-64 -p uniform --loads 20%,40% --solver both $short
clean curve -m qsnet-64 -p uniform --loads 30% --solver both $short
clean predict -m bgl-64,qsnet-64 -t traces/samples/lammps-lj-64.fct --map def,optimize --time 0.05s -q
clean predict -m bgl-64 -t traces/samples/lammps-lj-16.fct --network queueing -q
"$work/obj/fabricast" trace generate -m bgl-64 -p stencil2d:grid=4x4,bytes=640 --iterations 2 -o "$work/loop.fct" -q
clean predict -m bgl-64 -t "$work/loop.fct" --network flit -q
clean place -m tests/machines/tmesh-27.yaml --objective hops -q
clean calibrate -m bgl-8x8x1 --budget 600ms -q -o "$work/calibration.yaml"
clean reproduce gemini-fig6 qsnet-fig9 --quick -o "$work/figures" -q

echo "  $passed commands without a race, $failed with"
[ $failed = 0 ] && [ $passed -gt 25 ]
