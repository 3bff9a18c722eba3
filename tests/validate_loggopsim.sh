#!/bin/sh
# How the time of a GOAL schedule grows with L: LogGOPSim against fabricast on the same file, and fabricast's derivative by L against
# LogGOPSim run again with L a nanosecond more, and less: with the nearer one where they differ. Traces of this folder are written as GOAL by `trace convert`.
#
# LOGGOPSIM=DIR is where its two programs LogGOPSim and txt2bin are built (https://github.com/spcl/LogGOPSim); without them this says so
# and ends well. Figures: docs/validation.md.
set -u
fabricast=${FABRICAST:-obj/fabricast}
tools=${LOGGOPSIM:-}
[ -n "$tools" ] || { command -v LogGOPSim >/dev/null 2>&1 && tools=$(dirname "$(command -v LogGOPSim)"); }
if [ -z "$tools" ] || [ ! -x "$tools/LogGOPSim" ] || [ ! -x "$tools/txt2bin" ]; then
    echo "SKIPPED: no LogGOPSim and txt2bin (LOGGOPSIM=DIR)"
    exit 0
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

# theirs FILE L, ns: when the last rank ends.
theirs() {
    "$tools/LogGOPSim" -f "$1" -L "$2" -o 200 -g 100 -G 1 -O 0 -S 1000000000 |
        awk '/^Host [0-9]+:/ { if ($3 > most) most = $3 } /^Maximum finishing time/ { most = $7 } END { printf "%d", most }'
}
# ours FILE L OPTIONS: JSON
ours() {
    file=$1 latency=$2
    shift 2
    "$fabricast" predict -m bgl-64 -t "$file" --network ideal --loggops "L=${latency}ns,o=200ns,g=100ns,G=1ns/B,O=0ns/B,S=1GB" "$@" --json
}
value() { # of a key, or of a row of the sensitivity
    python3 -c 'import json, sys
a = json.load(sys.stdin)
while isinstance(a, list) or "predictions" in a: a = a[0] if isinstance(a, list) else a["predictions"]
print(a["time_s"] if sys.argv[1] == "time_s" else [r for r in a["sensitivity"] if r["parameter"] == sys.argv[1]][0]["derivative"])' "$1"
}

printf '%-18s %8s %14s %14s %8s %12s %12s %8s\n' trace 'L (ns)' 'LogGOPSim (ns)' 'here (ns)' 'off (%)' 'dT/dL theirs' 'dT/dL here' 'off (%)'
for trace in ${TRACES:-traces/samples/lammps-lj-16.fct traces/samples/lammps-lj-64.fct traces/samples/qe-si-16.fct}; do
    name=$(basename "$trace" .fct)
    "$fabricast" trace convert "$trace" -o "$work/$name.goal" >/dev/null || exit 1
    "$tools/txt2bin" -i "$work/$name.goal" -o "$work/$name.bin" >/dev/null || exit 1
    for latency in 500 1000 2000 10000 50000; do
        a=$(theirs "$work/$name.bin" "$latency")
        more=$(theirs "$work/$name.bin" $((latency + 1)))
        less=$(theirs "$work/$name.bin" $((latency - 1)))
        ours "$work/$name.goal" "$latency" --sensitivity --time 1ms >"$work/ours.json" || exit 1
        b=$(value time_s <"$work/ours.json")
        slope=$(value latency <"$work/ours.json")
        awk -v name="$name" -v latency="$latency" -v a="$a" -v b="$b" -v more="$more" -v less="$less" -v slope="$slope" 'BEGIN {
            up = more - a; down = a - less; near = (up - slope) ^ 2 < (down - slope) ^ 2 ? up : down
            theirs = near # at a corner, or where messages change their order, the two sides differ
            off = 100 * (1e9 * b / a - 1); tilt = theirs ? 100 * (slope / theirs - 1) : 100 * slope
            printf "%-18s %8d %14d %14.0f %+8.4f %12.1f %12.1f %+8.3f\n", name, latency, a, 1e9 * b, off, theirs, slope, tilt
            exit !(off ^ 2 < 0.1 ^ 2 && tilt ^ 2 < 2 ^ 2) }' || failed=1
    done
done
[ "$failed" = 0 ] || echo "FAILED: times by more than 0.1 %, or slopes by more than 2 %"
exit "$failed"
