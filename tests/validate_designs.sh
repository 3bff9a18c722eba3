#!/bin/bash
# validate_designs.sh - what networks cost a node, beside what design papers say of them: dragonflies, flattened butterflies and folded
# Clos networks from 1,000 to 65,000 nodes, all with enough links for uniform traffic at full rate, with floor plans; Slim Fly beside a fat-tree.
#
#     [FIGURE=FILE.svg] tests/validate_designs.sh
#
# Prices, a Gb/s: electrical cable 2.16 and 1.4 a metre, optical 9.71 and 0.364 a metre (cheaper from 7.3 m on; the lines of Kim et al., ISCA
# 2008, figure 2), a port 0.34 (Kim, Dally & Abts, ISCA 2007: 390 for a router of 64), a cable to a node, on a
# backplane, 0.33. All of these at second hand: we had the papers' abstracts. Racks of 128 nodes on 0.57 m x 3 m, 2 m of cable beyond the way (75 nodes a square metre, as there). Prints a line a
# network and what a dragonfly saves; fails where a saving is on the wrong side of half of what is published. FIGURE: draws cost over nodes.
# docs/compare.md has table and figure.
set -eu
fabricast=$(realpath "${FABRICAST:-obj/fabricast}")
figure=${FIGURE:+$(realpath -m "$FIGURE")}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
echo "1 pattern neighbor:bytes=1KiB" >one.jobs
prices="--set cost.cable=2.16 --set cost.cable_per_metre=1.4 --set cost.optical=9.7103 --set cost.optical_per_metre=0.364
    --set cost.reach=7.3m --set cost.port=0.34 --set cost.node_cable=0.33
    --set cost.rack_nodes=128 --set cost.rack_width=57cm --set cost.rack_depth=3m --set cost.rack_slack=2m"
echo "family               nodes routers cables/node  m/node optical/node racks  cost/node  racks' cables on backplanes"
while read -r family network; do
    "$fabricast" machines --generate "$network" -o net.yaml >/dev/null
    for inside in 2m 0m; do
        "$fabricast" compare one.jobs -m ./net.yaml $prices --set cost.rack_cable=$inside --tier theory -q --json
    done >both.json
    python3 - "$family" both.json <<'P'
import json, sys
text = open(sys.argv[2]).read()
first, at = json.JSONDecoder().raw_decode(text)
other, _ = json.JSONDecoder().raw_decode(text[at:].lstrip())
cost, least = first["machines"][0]["cost"], other["machines"][0]["cost"]
n = cost["nodes"]
print(f"{sys.argv[1]:18} {n:7.0f} {cost['switches']:7.0f} {sum(cost['cables'].values()) / n:11.2f} {cost['cables_m'] / n:7.2f} "
      f"{cost['optical_cables'] / n:12.3f} {cost['racks']:5.0f} {cost['total'] / n:10.2f} {least['total'] / n:10.2f}")
P
done >rows <<'LIST'
dragonfly dragonfly:a=8,h=4,p=4,g=33
dragonfly dragonfly:a=12,h=6,p=6,g=73
dragonfly dragonfly:a=16,h=8,p=8,g=129
dragonfly dragonfly:a=22,h=11,p=11,g=243
flattened-butterfly hyperx:dims=10x10,nodes=10
flattened-butterfly hyperx:dims=8x8x8,nodes=8
flattened-butterfly hyperx:dims=11x11x11,nodes=11
flattened-butterfly hyperx:dims=12x12x12,nodes=12
flattened-butterfly hyperx:dims=16x16x16,nodes=16
folded-Clos fat-tree:k=16,levels=3
folded-Clos fat-tree:k=26,levels=3
folded-Clos fat-tree:k=42,levels=3
folded-Clos fat-tree:k=64,levels=3
Slim-Fly slimfly:q=19,nodes=15
fat-tree fat-tree:k=36,levels=3
LIST
cat rows
python3 - rows <<'P'
import math, sys
rows = [line.split() for line in open(sys.argv[1])]
of = lambda family, column: sorted((float(r[1]), float(r[column])) for r in rows if r[0] == family)
def at(points, nodes):  # straight in log nodes
    for (a, x), (b, y) in zip(points, points[1:]):
        if a <= nodes <= b:
            return x + (y - x) * math.log(nodes / a) / math.log(b / a)
    return points[-1][1] if nodes > points[-1][0] else points[0][1]
bad = 0
for other, published in (("flattened-butterfly", 20), ("folded-Clos", 52)):
    for nodes, _ in of("dragonfly", 7)[2:]:
        saved = [100 * (1 - at(of("dragonfly", c), nodes) / at(of(other, c), nodes)) for c in (7, 8)]
        bad += max(saved) < published / 2
        print(f"dragonfly of {nodes:.0f} nodes beside {other}: {saved[0]:.0f} to {saved[1]:.0f} % less, published {published}")
for nodes, _ in of("dragonfly", 7)[2:]:
    ratio = [at(of("flattened-butterfly", c), nodes) / at(of("folded-Clos", c), nodes) for c in (7, 8)]
    print(f"flattened butterfly of {nodes:.0f} nodes: {ratio[0]:.2f} to {ratio[1]:.2f} of a folded Clos, published about half")
(n, routers), (m, more) = of("Slim-Fly", 2)[0], of("fat-tree", 2)[0]
cables, most = of("Slim-Fly", 3)[0][1], of("fat-tree", 3)[0][1]
fewer = [100 * (1 - routers / n / (more / m)), 100 * (1 - cables / most)]
bad += fewer[0] < 50 or fewer[1] < 30
print(f"Slim Fly: {fewer[0]:.0f} % fewer routers and {fewer[1]:.0f} % fewer cables a node than a fat-tree, published over 50 and 30")
sys.exit(bad > 0)
P
if [ -n "$figure" ]; then
    for family in dragonfly flattened-butterfly folded-Clos; do
        grep "^$family " rows | sort -k2n >"$family.dat"
    done
    cat >figure.gp <<P
set terminal svg size 640, 400 font "DejaVu Sans,12"
set output "$figure"
set logscale x
set xrange [800:90000]
set yrange [0:*]
set xlabel "nodes"
set ylabel "cost a node (price of a Gb/s)"
set xtics ("1,000" 1000, "4,000" 4000, "16,000" 16000, "64,000" 64000)
set key right bottom Left reverse samplen 3
set border 3
set tics nomirror
set style data linespoints
plot "folded-Clos.dat" using 2:8 title "folded Clos" lc rgb "#0072b2" dt 3 pt 6, \
     "flattened-butterfly.dat" using 2:8 title "flattened butterfly" lc rgb "#d55e00" dt 2 pt 4, \
     "dragonfly.dat" using 2:8 title "dragonfly" lc rgb "#000000" dt 1 pt 7, \
     "folded-Clos.dat" using (\$2 > 15000 ? \$2 : NaN):(\$8 * 0.48) title "published: folded Clos less 52 %" with points lc rgb "#0072b2" pt 2, \
     "flattened-butterfly.dat" using (\$2 > 14000 ? \$2 : NaN):(\$8 * 0.8) title "published: flattened butterfly less 20 %" with points lc rgb "#d55e00" pt 1
P
    gnuplot figure.gp
fi
