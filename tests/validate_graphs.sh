#!/bin/sh
# Networks made by their rule (machines --generate), of about 1,000 nodes each, against what their papers say of them:
#
#   certify   each is free of deadlock under its rule, with the channels that the file has
#   limit     uniform load that fills the busiest link, against the paper's channel load
#   curve     saturation under uniform traffic by the kernel and by the queueing model, which no calibration knows here: within 20 %
#   adverse   each group sends to the next: the kernel's accepted load, sources always full, against the paper's limit
#
# What is held against the papers are the limits that they derive. The points of their simulated curves stand in figures, in no text
# that could be had, and hang on their buffers and channels. ONLY=NAME runs one. Takes some minutes of CPU.
set -u
fabricast=${FABRICAST:-obj/fabricast}
case $fabricast in */*) fabricast=$(cd "$(dirname "$fabricast")" && pwd)/$(basename "$fabricast") ;; esac
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=
bad() { failed="$failed $1"; echo "    FAILED: $1"; }
within() { awk -v a="$1" -v b="$2" -v percent="$3" 'BEGIN { exit !(a > 0 && b > 0 && (a / b - 1) ^ 2 <= (percent / 100) ^ 2) }'; }
off() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%+.1f %%", 100 * (a / b - 1) }'; }
chosen() { [ -z "${ONLY:-}" ] || [ "$ONLY" = "$1" ]; }

# safe FILE [OPTIONS]: free of deadlock, with enough channels.
safe() { # `certify` ends with 0 where it is
    "$fabricast" certify -m "$@" >certify.txt 2>&1 || { cat certify.txt; bad "certify $*"; }
}

# uniform NAME FILE LIMIT PERCENT SOURCE [OPTIONS]
uniform() {
    name=$1 file=$2 limit=$3 percent=$4 source=$5
    shift 5
    safe "$file" "$@"
    "$fabricast" curve -m "$file" -p uniform --loads 30%,60%,80%,90% --solver both --warmup 2000 --measure 3000 "$@" >curve.txt 2>&1 ||
        { cat curve.txt; bad "$name curve"; return; }
    ideal=$(sed -n 's/.*ideal throughput \([0-9.]*\).*/\1/p' curve.txt | head -1)
    kernel=$(sed -n 's/^saturation *\([0-9.]*\) .*/\1/p' curve.txt)
    model=$(sed -n 's/^model *\([0-9.]*\),.*/\1/p' curve.txt)
    printf '%-26s limit %s (%s: %s, %s); saturation: kernel %s, queueing %s (%s)\n' "$name" "$ideal" "$source" "$limit" \
        "$(off "$ideal" "$limit")" "$kernel" "$model" "$(off "$model" "$kernel")"
    within "$ideal" "$limit" "$percent" || bad "$name limit"
    within "$model" "$kernel" 20 || bad "$name saturation of the models"
}

# adverse NAME FILE GROUPS NODES LIMIT PERCENT SOURCE [OPTIONS]: NODES a group, each to all of the next group.
adverse() {
    name=$1 file=$2 limit=$5 percent=$6 source=$7
    awk -v g="$3" -v n="$4" 'BEGIN {
        print "%%MatrixMarket matrix coordinate real general"; print g * n, g * n, g * n * n
        for (s = 0; s < g * n; s++) for (d = 0; d < n; d++) print s + 1, (int(s / n) + 1) % g * n + d + 1, 1 }' >shift.mtx
    shift 7
    safe "$file" "$@"
    "$fabricast" flit -m "$file" -g shift.mtx --backlog --warmup 4000 --measure 4000 "$@" >flit.txt 2>&1 ||
        { cat flit.txt; bad "$name run"; return; }
    got=$(sed -n 's/.*accepted \([0-9.]*\) .*/\1/p' flit.txt | head -1)
    printf '%-26s accepted %s (%s: %s, %s)\n' "$name" "$got" "$source" "$limit" "$(off "$got" "$limit")"
    within "$got" "$limit" "$percent" || bad "$name"
}

make() { "$fabricast" machines --generate "$1" -o "$2" >made.txt 2>&1 || { cat made.txt; bad "$1"; }; }

# Slim Fly, q = 9: 162 routers of k' = 13 links and 7 nodes (Besta & Hoefler, SC'14: channel load of all links on
# average, p (2 (N_r - 1) - k') / (N_r k'); the busiest is 5 % above it). Its MIN and VAL.
if chosen slimfly; then
    make slimfly:q=9 slimfly.yaml
    safe slimfly.yaml --routing valiant --set router.vcs=4
    safe slimfly.yaml --routing ugal --set router.vcs=4
    safe slimfly.yaml --vc-rule updown
    uniform 'slimfly q=9 MIN' slimfly.yaml "$(awk 'BEGIN { print 1 / (7 * (2 * 161 - 13) / (162 * 13)) }')" 5 'mean channel load'
    uniform 'slimfly q=9 VAL' slimfly.yaml "$(awk 'BEGIN { print 0.5 / (7 * (2 * 161 - 13) / (162 * 13)) }')" 5 'twice that' \
        --routing valiant --set router.vcs=4
fi
# HyperX of 10 x 10 routers, 10 nodes each: relative bisection K S / (2 T) = 0.5, so uniform traffic at the full rate (Ahn et al., SC'09).
if chosen hyperx; then
    make hyperx:dims=10x10,nodes=10 hyperx.yaml
    grep -q 'bisection   250 links' made.txt || bad 'hyperx bisection'
    safe hyperx.yaml --routing ugal --set router.vcs=4
    uniform 'hyperx 10x10 MIN' hyperx.yaml 1 0.5 'relative bisection 0.5'
fi
# Dragonfly a = 8, p = h = 4, 33 groups (Kim et al., ISCA 2008): adverse traffic is limited to 1 / (a h) by
# minimal routing, to 50 % by Valiant's (of the loads: 48.4 %; the queues of short buffers take more).
if chosen dragonfly; then
    make dragonfly:a=8,h=4,p=4,g=33 dragonfly.yaml
    safe dragonfly.yaml
    uniform 'dragonfly 8,4,33 MIN' dragonfly.yaml 1 5 'balanced a = 2 p = 2 h' --routing direct
    adverse 'dragonfly 8,4,33 MIN' dragonfly.yaml 33 32 0.03125 5 '1 / (a h)' --routing direct
fi
# Dragonfly+ of 17 groups of 8 leaf and 8 spine switches, 64 nodes, 8 links a pair of groups (Shpiner et al., HiPINEB 2017:
# the links between the two groups are what adverse traffic has).
if chosen dragonfly+; then
    make dragonfly+:groups=17,leaves=8,spines=8,nodes=8,links_per_pair=8 plus.yaml
    safe plus.yaml
    uniform 'dragonfly+ 17 groups MIN' plus.yaml 1 5 'links between groups' --routing direct
    adverse 'dragonfly+ 17 groups MIN' plus.yaml 17 64 0.125 5 'links of a pair' --routing direct
fi
# Jellyfish of 250 switches of 10 links and 4 nodes (Singla et al., NSDI'12 and NSDI'14): throughput is at most links /
# (nodes x mean hops). Shortest paths alone stay well below it, as the papers say.
if chosen jellyfish; then
    make jellyfish:switches=250,ports=14,nodes=4,seed=1 jellyfish.yaml
    hops=$(sed -n 's/.*mean \([0-9.]*\) hops.*/\1/p' made.txt)
    safe jellyfish.yaml --vc-rule updown
    uniform 'jellyfish 250 MIN' jellyfish.yaml "$(awk -v h="$hops" 'BEGIN { print 2500 / (1000 * h) }')" 30 'at most'
fi

[ -z "$failed" ] || { echo "failed:$failed"; exit 1; }
