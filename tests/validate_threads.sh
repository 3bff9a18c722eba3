#!/bin/bash
# validate_threads.sh [SEED...] - recordings of threads that call MPI at once can be replayed, whatever is sent eagerly.
#
# tests/mpi/threads_mixed.c makes every blocking call from three threads of each rank, in an order and with pauses by its
# seed; each MPI that is there runs it with 2, 3 and 5 ranks and 20 seeds (or those given), and with `ring` and `late`, and
# each recording is predicted with limits of eager messages from 1 byte to 1 MB. None may wait for ever.
# FABRICAST: the program (default obj/fabricast).
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
fabricast=$(realpath "${FABRICAST:-$root/obj/fabricast}")
work=$(mktemp -d /tmp/fabricast-threads-XXXXXX)
trap 'rm -rf "$work"' EXIT
[ $# -gt 0 ] || set -- ring late $(seq 20)
export FABRICAST_DATA=$root/models
failed=
for mpi in openmpi mpich; do
    command -v mpicc.$mpi >/dev/null && command -v mpirun.$mpi >/dev/null || { echo "SKIPPED: $mpi is not there"; continue; }
    run=mpirun.$mpi
    [ $mpi = mpich ] || run="$run --oversubscribe"
    [ $mpi = mpich ] || [ "$(id -u)" != 0 ] || run="$run --allow-run-as-root"
    mpicc.$mpi -w -O1 -pthread -o "$work/mixed" "$root/tests/mpi/threads_mixed.c" || exit 2
    gcc -D_GNU_SOURCE -O2 -shared -fPIC -o "$work/yield.so" "$root/tests/mpi/yield_mpich.c" -ldl || exit 2
    recordings=0 replays=0
    for seed in "$@"; do
        for ranks in 2 3 5; do
            LD_PRELOAD=$([ $mpi = mpich ] && echo "$work/yield.so") timeout 120 "$fabricast" trace capture -q \
                -o "$work/t.fct" -- $run -n $ranks "$work/mixed" "$seed" >"$work/out" 2>&1 ||
                { echo "  FAILED: $mpi, $ranks ranks, $seed: not recorded"; cat "$work/out"; failed=yes; continue; }
            recordings=$((recordings + 1))
            for eager in '1 B' '64 B' '3 KB' '30 KB' '1 MB'; do
                timeout 120 "$fabricast" predict -t "$work/t.fct" -m bgl-64 --set "software.eager=$eager" >/dev/null 2>"$work/out" ||
                    { echo "  FAILED: $mpi, $ranks ranks, $seed, eager up to $eager:"; cat "$work/out"; failed=yes; }
                replays=$((replays + 1))
            done
        done
    done
    echo "$mpi: $recordings recordings, $replays replays"
done
[ -z "$failed" ]
