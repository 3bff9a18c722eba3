#!/bin/bash
# validate_allocations.sh - what a better mapping gains on real allocations: for every job of a list of jobs (a line "NODES LIST")
# that has 32 nodes or more, the first MOST of each machine, 64 tasks on its first 32 nodes, two a node, in rank order against `optimize`.
#
#     tests/validate_allocations.sh [FOLDER] [MOST]
#
# FOLDER has jobs-lumi.txt and jobs-leonardo.txt (default: measured/ of the reference data beside the source; without it nothing is
# done). Prints a line for each machine and job: allocations, quartiles of the gain in percent of the time, the share of allocations on
# which the gain exceeds the stated error of the two predictions, and how much the allocation itself matters: the slowest in rank
# order over the fastest. docs/allocations.md has the table.
set -eu
folder=${1:-../shared/reference/measured}
most=${2:-100}
fabricast=${FABRICAST:-obj/fabricast}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
if [ ! -f "$folder/jobs-lumi.txt" ]; then
    echo "validate_allocations: no lists of jobs in $folder: skipped"
    exit 0
fi
jobs='-t traces/samples/lammps-lj-64.fct
-p stencil3d:grid=4x4x4,bytes=1MiB
-p stencil2d:grid=8x8,bytes=64KiB'
for machine in lumi leonardo; do
    python3 -c '
import re, sys
seen, most = set(), int(sys.argv[1])
for line in sys.stdin:
    name, ranges = re.fullmatch(r"\d+ ([a-z]+)\[(.*)\]\n", line).groups() if "[" in line else ("", "")
    nodes = []
    for part in filter(None, ranges.split(",")):
        first, _, last = part.partition("-")
        nodes += [f"{name}{k:0{len(first)}}" for k in range(int(first), int(last or first) + 1)]
    if len(nodes) >= 32 and len(seen) < most and tuple(nodes[:32]) not in seen:
        seen.add(tuple(nodes[:32]))
        print(",".join(nodes[:32]))' "$most" <"$folder/jobs-$machine.txt" >"$scratch/lists"
    printf '%s\n' "$jobs" | while read -r kind job; do
        while read -r list; do
            "$fabricast" predict -m $machine $kind "$job" --nodes "$list" --ranks-per-node 2 --map def,optimize --time 0.2s -q --json
        done <"$scratch/lists" | python3 -c '
import json, sys
text, gains, beyond, orders, at = sys.stdin.read(), [], 0, [], 0
decoder = json.JSONDecoder()
while text[at:].strip():
    while text[at].isspace():
        at += 1
    answer, at = decoder.raw_decode(text, at)
    order, better = answer["predictions"]
    gain = 100 * (1 - better["time_s"] / order["time_s"])
    error = max(order["error_percent"] or 100, better["error_percent"] or 100)
    gains.append(gain)
    orders.append(order["time_s"])
    beyond += 100 * (order["time_s"] / better["time_s"] - 1) > error
gains.sort()
n = len(gains)
quartile = lambda q: gains[min(n - 1, int(q * n))]
print(f"{sys.argv[1]:9} {sys.argv[2]:36} {n:4} {quartile(.25):6.1f} {quartile(.5):6.1f} {quartile(.75):6.1f} {gains[-1]:6.1f} "
      f"{100 * beyond / n:5.0f} % {max(orders) / min(orders):6.2f}")' $machine "${job##*/}"
    done
done
