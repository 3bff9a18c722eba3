#!/bin/bash
# validate_allocations.sh - what a better mapping gains on real allocations: for every job of a list of jobs (a line "NODES LIST")
# that has 32 nodes or more, the first MOST of each machine, 64 tasks on its first 32 nodes, two a node, in rank order against `optimize`.
#
#     [FIGURE=FILE.svg] tests/validate_allocations.sh [FOLDER] [MOST]
#
# FOLDER has jobs-lumi.txt and jobs-leonardo.txt (default: measured/ of the reference data beside the source; without it nothing is
# done). Prints a line for each machine and job: allocations, quartiles of the gain in percent of the time, the share of allocations on
# which the gain exceeds the stated error of the two predictions, and how much the allocation itself matters: the slowest in rank
# order over the fastest. FIGURE: draws the times of all allocations, from the fastest to the slowest, into that file.
# docs/allocations.md has the table and the figure.
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
text, gains, beyond, orders, betters, at = sys.stdin.read(), [], 0, [], [], 0
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
    betters.append(better["time_s"])
    beyond += 100 * (order["time_s"] / better["time_s"] - 1) > error
gains.sort()
n = len(gains)
quartile = lambda q: gains[min(n - 1, int(q * n))]
print(f"{sys.argv[1]:9} {sys.argv[2]:36} {n:4} {quartile(.25):6.1f} {quartile(.5):6.1f} {quartile(.75):6.1f} {gains[-1]:6.1f} "
      f"{100 * beyond / n:5.0f} % {max(orders) / min(orders):6.2f}")
with open(sys.argv[3], "a") as rows:
    for i, (order, better) in enumerate(sorted(zip(orders, betters))):
        rows.write(f"{100 * (i + 0.5) / n}\t{order / min(orders)}\t{better / min(orders)}\n")
    rows.write("\n\n")' $machine "${job##*/}" "$scratch/rows"
    done
done
[ -n "${FIGURE:-}" ] || exit 0
# Blocks of rows: LUMI's three jobs, Leonardo's three. Lines: rank order; marks: every tenth allocation with `optimize`.
TO=$FIGURE ROWS=$scratch/rows gnuplot - <<'EOF'
set terminal svg size 640, 380 font "DejaVu Sans,12"
rows = system('printf %s "$ROWS"')
set output system('printf %s "$TO"')
set xlabel "allocations, from the fastest to the slowest (%)"
set ylabel "time / that of the fastest allocation"
set xrange [0:100]
set yrange [0.9:4.5]
set logscale y
set ytics (1, 1.5, 2, 3, 4)
set key top left reverse Left samplen 3
array job[3] = ["LAMMPS", "3-D stencil, 1 MiB", "2-D stencil, 64 KiB"]
array machine[2] = ["LUMI", "Leonardo"]
plot for [m=0:1] for [j=1:3] rows index 3 * m + j - 1 using 1:2 with lines lw 2 dt m + 1 lc j title machine[m + 1].", ".job[j], \
     for [m=0:1] for [j=1:3] rows index 3 * m + j - 1 every 10::5 using 1:3 with points pt 4 + 2 * m lc j notitle, \
     NaN with points pt 4 lc "black" title "squares, circles: with optimize"
EOF
