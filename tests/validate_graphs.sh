#!/bin/sh
# Networks made by their rule (machines --generate), of about 1,000 nodes each, against what their papers say of them:
#
#   certify   each is free of deadlock under its rule, with the channels that the file has
#   limit     uniform load that fills the busiest link, against the paper's channel load
#   curve     saturation under uniform traffic by the kernel and by the queueing model, which no calibration knows here: within 12 %
#   adverse   each group sends to the next: the kernel's accepted load, sources always full, against the paper's limit
#   held      accepted load in overload and mean latencies against BookSim 2 on the same graph and routers, within 5 and 3 %; the
#             queueing model's saturation, by theory, within 5 % of what the kernel accepts (uniform; under Valiant all traffic is)
#
# What is held against the papers are the limits that they derive. The points of their simulated curves stand in figures, in no text
# that could be had, and hang on their buffers and channels. BookSim 2, commit 28f4329 (github.com/booksim/booksim2), measured by us:
# topology anynet on the very list of cables, num_vcs = 4, vc_buf_size = 16, routing_delay 0, vc_alloc_delay, sw_alloc_delay,
# st_final_delay and credit_delay 1, separable input-first allocators with round-robin arbiters, one iteration, no speedup; links of
# one cycle; packets of one flit, Bernoulli; uniform. Its own anynet routing has one fixed path and any channel, which can deadlock;
# a packet here went to a router drawn among those one hop nearer, in channels by the hops left (docs/deadlock.md, rule hops).
# Dragonfly: dragonflynew, k = 4, routing min, 2 channels of 256 flits, links of 1, 10 and 100 cycles. 3 x 400 to 600 cycles to
# warm up, as many measured. ONLY=NAME runs one. Takes some minutes of CPU.
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
    "$fabricast" curve -m "$file" -p uniform --loads 30%,60%,80%,90% --solver both --warmup 12000 --measure 15000 "$@" >curve.txt 2>&1 ||
        { cat curve.txt; bad "$name curve"; return; }
    ideal=$(sed -n 's/.*ideal throughput \([0-9.]*\).*/\1/p' curve.txt | head -1)
    kernel=$(sed -n 's/^saturation *\([0-9.]*\) .*/\1/p' curve.txt)
    model=$(sed -n 's/^model *\([0-9][0-9.]*\)[ ,].*/\1/p' curve.txt)
    printf '%-26s limit %s (%s: %s, %s); saturation: kernel %s, queueing %s (%s)\n' "$name" "$ideal" "$source" "$limit" \
        "$(off "$ideal" "$limit")" "$kernel" "$model" "$(off "$model" "$kernel")"
    within "$ideal" "$limit" "$percent" || bad "$name limit"
    within "$model" "$kernel" 12 || bad "$name saturation of the models"
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

# The router of the curves that BookSim 2 made; $1: channels.
router() {
    echo "--set clock=1GHz --set router.delay=3ns --set router.vc_allocation=stage --set router.vcs=$1 --set router.buffer=128B \
--set router.flow_control=wormhole --set router.flit=8B --set router.credit=1ns --set packet.min=8B --set packet.max=64B \
--set packet.header=0B --packet-flits 1"
}
# links CLASS...: of one flit a cycle, one cycle long.
links() {
    for class; do printf ' --set links.%s.bandwidth=8GB/s --set links.%s.latency=1ns' "$class" "$class"; done
}
# held NAME FILE OPTIONS ACCEPTED [LOAD LATENCY]...: BookSim 2's accepted load at an offered one of 1, and mean latencies.
held() {
    name=$1 file=$2 options=$3 accepted=$4
    shift 4
    # shellcheck disable=SC2086 # options are words
    "$fabricast" flit -m "$file" ${traffic:--p uniform} --load 1 --warmup 1200 --measure 1800 $options >flit.txt 2>&1
    got=$(sed -n 's/.*accepted \([0-9.]*\) .*/\1/p' flit.txt | head -1)
    [ -n "$got" ] || { cat flit.txt; bad "$name run"; return; }
    printf '%-26s accepted %s (BookSim 2: %s, %s)\n' "$name" "$got" "$accepted" "$(off "$got" "$accepted")"
    within "$got" "$accepted" 5 || bad "$name accepted"
    # shellcheck disable=SC2086
    "$fabricast" curve -m "$file" -p uniform --loads 10% --solver queueing $options >curve.txt 2>&1
    model=$(sed -n 's/^saturation *\([0-9.]*\) .*/\1/p' curve.txt)
    [ -n "$model" ] || cat curve.txt
    printf '%-26s queueing model, by theory: %s (kernel: %s, %s)\n' "$name" "$model" "$got" "$(off "$model" "$got")"
    within "$model" "$got" 5 || bad "$name queueing"
    while [ $# -gt 1 ]; do
        # shellcheck disable=SC2086
        "$fabricast" flit -m "$file" -p uniform --load "$1" --warmup 1200 --measure 1800 $options >flit.txt 2>&1
        got=$(sed -n 's/^latency *\([0-9.]*\) .*/\1/p' flit.txt | head -1)
        printf '%-26s latency %s cycles at %s (BookSim 2: %s, %s)\n' "$name" "$got" "$1" "$2" "$(off "$got" "$2")"
        within "$got" "$2" 3 || bad "$name latency at $1"
        shift 2
    done
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
    held 'slimfly q=9 MIN' slimfly.yaml "$(router 4)$(links link injection)" 0.6110 0.3 14.71 0.5 19.43
    awk 'BEGIN { print "%%MatrixMarket matrix coordinate real general"; print 1134, 1134, 1134
        for (s = 0; s < 1134; s++) print s + 1, (s + 7) % 1134 + 1, 1 }' >next.mtx
    traffic='-g next.mtx'
    held 'slimfly q=9 VAL, router to next' slimfly.yaml "$(router 4)$(links link injection) --routing valiant" 0.2920
    traffic=
fi
# HyperX of 10 x 10 routers, 10 nodes each: relative bisection K S / (2 T) = 0.5, so uniform traffic at the full rate (Ahn et al., SC'09).
if chosen hyperx; then
    make hyperx:dims=10x10,nodes=10 hyperx.yaml
    grep -q 'bisection   250 links' made.txt || bad 'hyperx bisection'
    safe hyperx.yaml --routing ugal --set router.vcs=4
    uniform 'hyperx 10x10 MIN' hyperx.yaml 1 0.5 'relative bisection 0.5'
    # BookSim's packet keeps to the link that was drawn, as under shortest-hash; `shortest` takes any with room (0.645 here).
    held 'hyperx 10x10 MIN' hyperx.yaml "$(router 4)$(links link injection) --routing shortest-hash" 0.6334 0.5 18.27
fi
# Dragonfly a = 8, p = h = 4, 33 groups (Kim et al., ISCA 2008): adverse traffic is limited to 1 / (a h) by
# minimal routing, to 50 % by Valiant's (of the loads: 48.4 %; the queues of short buffers take more).
if chosen dragonfly; then
    make dragonfly:a=8,h=4,p=4,g=33 dragonfly.yaml
    safe dragonfly.yaml
    uniform 'dragonfly 8,4,33 MIN' dragonfly.yaml 1 5 'balanced a = 2 p = 2 h' --routing direct
    adverse 'dragonfly 8,4,33 MIN' dragonfly.yaml 33 32 0.03125 5 '1 / (a h)' --routing direct
    # BookSim's cables: of group s to t > s from router (t - 1) / 4 of s to router s / 4 of t.
    awk 'BEGIN { for (s = 0; s < 33; s++) for (t = s + 1; t < 33; t++) print s "." int((t - 1) / 4), t "." int(s / 4) }' >booksim.cables
    held 'dragonfly 8,4,33 MIN' dragonfly.yaml "$(router 2)$(links injection) --set router.buffer=2KiB \
--set network.d_link=listed --set network.d_links=booksim.cables --routing direct \
--set links.ll.bandwidth=8GB/s --set links.ll.latency=10ns --set links.d.bandwidth=8GB/s --set links.d.latency=100ns" 0.3807
fi
# Dragonfly+ of 17 groups of 8 leaf and 8 spine switches, 64 nodes, 8 links a pair of groups (Shpiner et al., HiPINEB 2017:
# the links between the two groups are what adverse traffic has).
if chosen dragonfly+; then
    make dragonfly+:groups=17,leaves=8,spines=8,nodes=8,links_per_pair=8 plus.yaml
    safe plus.yaml
    uniform 'dragonfly+ 17 groups MIN' plus.yaml 1 5 'links between groups' --routing direct
    adverse 'dragonfly+ 17 groups MIN' plus.yaml 17 64 0.125 5 'links of a pair' --routing direct
    held 'dragonfly+ 17 groups MIN' plus.yaml "$(router 3)$(links spine global injection) --routing direct" 0.3692
fi
# Jellyfish of 250 switches of 10 links and 4 nodes (Singla et al., NSDI'12 and NSDI'14): throughput is at most links /
# (nodes x mean hops). Shortest paths alone stay well below it, as the papers say.
if chosen jellyfish; then
    make jellyfish:switches=250,ports=10,nodes=4,seed=1 jellyfish.yaml
    hops=$(sed -n 's/.*mean \([0-9.]*\) hops.*/\1/p' made.txt)
    safe jellyfish.yaml --vc-rule updown
    # As for HyperX; `shortest`: 0.507.
    held 'jellyfish 250 MIN' jellyfish.yaml "$(router 4)$(links link injection) --routing shortest-hash" 0.4612 0.4 22.15
    uniform 'jellyfish 250 MIN' jellyfish.yaml "$(awk -v h="$hops" 'BEGIN { print 2500 / (1000 * h) }')" 35 'at most'
fi

[ -z "$failed" ] || { echo "failed:$failed"; exit 1; }
