#!/bin/sh
# Adds to the calibrations of shipped machines the traffic that people name, run by the kernel: curves, and phases of five lengths; and more jobs of traces.
# Of gemini-xe6, whose own network is large, on one of 4 x 4 x 4 routers; of perlmutter and frontier on 32 switches. Usage: models/add_traffic.sh PROGRAM THREADS (make calibrations)
set -eu
program=$1 threads=$2

add() { # MACHINE OPTION...; what the command refuses, as a pattern that the network does not have, is said and passed over
    name=$1
    shift
    "$program" calibrate -m "models/machines/$name.yaml" -o "models/machines/$name.calibration.yaml" \
        --threads "$threads" --quiet "$@" >/dev/null || [ $? = 2 ]
}
phases() { # MACHINE OPTIONS PATTERN...; a pattern ends where its bytes follow
    of=$1 options=$2
    shift 2
    for pattern in "$@"; do
        for bytes in 250 1000 4000 12000 40000; do
            echo "  ADD $of ${pattern}bytes=$bytes"
            add "$of" $options -p "${pattern}bytes=$bytes"
        done
    done
}

for machine in bgl-64 bgl-8x8x1 bgl-512 qsnet-64 percs-16; do
    for pattern in complement bit-reverse neighbor hotregion transpose tornado permutation:seed=1 permutation:seed=2 \
        permutation:seed=3; do
        echo "  ADD $machine $pattern"
        add $machine -p $pattern --budget 300
    done
done
# Where a budget has no room for it: on the smallest network that is run.
for network in "perlmutter 9" "frontier 24"; do
    set -- $network
    echo "  ADD $1 neighbor"
    add $1 --set network.supernodes=4 --set network.nodes_per_drawer=8 --set network.links_per_pair=$2 -p neighbor --budget 300
done
for machine in bgl-64 bgl-8x8x1 bgl-512 qsnet-64; do
    phases $machine "" permutation:seed=3, permutation:seed=4, permutation:seed=5, permutation:seed=6, bit-reverse: complement: \
        transpose: tornado: random:seed=4, random:partners=3,share=0.125,sigma=0,seed=5,
done
phases gemini-xe6 "--set network.dims=[4,4,4]" permutation:seed=3, permutation:seed=4, bit-reverse: complement: tornado:
phases percs-16 "" bit-reverse: complement:
# Jobs of traces, more than the default budget has room for.
for machine in bgl-64 bgl-8x8x1 bgl-512 bgl-4k bgl-32k bgl-64k gemini-xe6 tpu-v4; do
    echo "  ADD $machine jobs"
    add $machine --replays --budget 120
done
# All of them, on all three trees: those that fit a smaller budget are of the two small ones, on which packets hold up each other less.
add qsnet-64 --replays --budget 1200
