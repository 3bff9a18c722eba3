#!/bin/bash
# validate_measure.sh [delays|network] - `fabricast measure` finds what was set.
#
# delays: two ranks of this host, whose messages take known times (tests/mpi/delays.c). send, recv, L, G, O, c, R and the reduction
# are recovered within 10 %, the eager limit exactly.
#
# network: a tree of namespaces (fabric_lab.sh) of two leaf switches with four hosts each and a root, cables with rates and times
# (lab_delay.c), sends and receives with times of their own (tests/mpi/overheads.c), an eager limit. `measure` knows the cables'
# shape, with placeholders for all figures. L, G, send, recv within 10 %, the eager limit exactly, in under 3 minutes; and four
# programs of 8 ranks (exchange.c), recorded and timed there, are predicted within 15 % from the measured file, and as well as from
# a file with the figures that were set.
#
# Needs Open MPI; network also root, iproute2, util-linux; says so and skips otherwise. FABRICAST: the program (default
# obj/fabricast). KEEP: a directory that keeps everything. TIME: seconds of the measurement in the network (default 100).
set -u
export LC_ALL=C OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
tests=$(cd "$(dirname "$0")" && pwd)
self=$tests/${0##*/}
root=${tests%/*}
fabricast=$(realpath "${FABRICAST:-$root/obj/fabricast}")
. "$tests/fabric_lab.sh"
rate=10
failed=0

# A message that waits must not wait for a processor: where it can be had, real-time priority.
priority=''
chrt -f 1 true 2>/dev/null && priority='chrt -f 1'

# value FILE KEY [INNER]: a number of JSON
value()
{
    python3 -c 'import json, sys
v = json.load(open(sys.argv[1]))
for key in sys.argv[2].split("."): v = v[key]
print(v)' "$1" "$2"
}

# compare WHAT MEASURED SET PERCENT
compare()
{
    awk -v what="$1" -v m="$2" -v s="$3" -v most="$4" 'BEGIN {
        off = s ? 100 * (m / s - 1) : (m ? 1000 : 0)
        bad = off > most || off < -most
        printf "  %-28s %12.6g  set %12.6g  %+6.1f %%%s\n", what, m, s, off, bad ? "  MISSED" : ""
        exit bad }' || failed=1
}

# ---- known delays on shared memory ----

delays_once()
{
    local set=$1 at=$work/delays.json
    echo "delays on shared memory: send recv L G O c S R reduce = $set"
    : >"$work/delays.shared"
    DELAYS=$set DELAYS_FILE=$work/delays.shared $priority "$fabricast" measure -q --json --time 20 --mpi openmpi \
        -o "$work/delays.yaml" -- $launcher --mca mpi_yield_when_idle 1 -x LD_PRELOAD="$work/delays.so" -n 2 >"$at" ||
        { failed=1; return; }
    set -- $set
    compare send "$(value "$at" send_s.value)" "$1" 10
    compare recv "$(value "$at" recv_s.value)" "$2" 10
    compare L "$(value "$at" latency_s.value)" "$3" 10
    compare G "$(value "$at" stream_per_byte_s.value)" "$4" 10
    compare O "$(value "$at" per_byte_s.value)" "$5" 10
    compare c "$(value "$at" copy_per_byte_s.value)" "$6" 10
    compare 'S, exactly' "$(value "$at" eager_bytes)" "$7" 0
    compare R "$(value "$at" rendezvous_s.value)" "$8" 10
    compare reduction "$(value "$at" reduce_per_byte_s.value)" "$9" 10
}

delays()
{
    $compiler -O2 -D_GNU_SOURCE -shared -fPIC -o "$work/delays.so" "$tests/mpi/delays.c" -lm || exit 2
    delays_once '200e-6 300e-6 500e-6 20e-9 6e-9 4e-9 12345 150e-6 2e-9'
    delays_once '400e-6 200e-6 300e-6 50e-9 0 10e-9 4097 300e-6 5e-9'
}

# ---- a network with known delays ----

overheads='3e-3 4e-3' eager=20000 leaf_us=4000 root_us=3000
header=56 # of ob1 before an eager message, within its limit

cables()
{
    local i
    for ((i = 0; i < 8; i++)); do printf 's%d n%02d %d %d\n' $((i / 4)) $i $((2 * rate)) $leaf_us; done
    echo "s0 s2 $rate $root_us"
    echo "s1 s2 $rate $root_us"
}

# machine NAME LEAF ROOT: cables as a graph, with these words behind them
machine()
{
    awk -v leaf="$2" -v root="$3" 'function kind(name) { return (name ~ /^s/ ? "router " : "node ") name }
        { print kind($1), kind($2), $2 ~ /^n/ ? leaf : root }' cables >"$1.edges"
    printf '%s\n' "name: $1" "network: {family: graph, file: $1.edges, format: edge-list}" 'packet: {max: 1514 B, header: 66 B}' \
        'router: {delay: 0 s, flit: 1 B}' 'links: {injection: {latency: 0 s}}' "software: {$4compute_scale: $scale}" >"$1.yaml"
}

# predicted MACHINE PROGRAM: seconds of a repetition, of those that are timed: what a run of three takes more than one of one
predicted()
{
    local times=3 sum=''
    for times in 3 1; do
        "$fabricast" predict -t "$2.$times.fct" -m "$1" --map rankfile:first --collectives openmpi -q --json -o p.json || return 1
        sum="$sum $(value p.json time_s)"
    done
    echo $sum | awk '{ print ($1 - $2) / 2 }'
}

programs='pairs:400000 groups:300000 alltoall:300000 stencil:1000000'

inside()
{
    local p name bytes batches start took
    work=$1 lab_launcher=$2 scale=$3
    mkdir -p "$work/network" && cd "$work/network" || exit 3
    export work lab_launcher lab_work=$work/network lab_delay=$work/lab_delay lab_window=96000 lab_burst=1600 lab_priority=$priority
    cables >cables
    lab_shortest_routes cables >routes
    lab_build cables routes || { echo 'FAILED: the network cannot be built'; exit 3; }
    export lab_agent
    for ((p = 0; p < 8; p++)); do printf 'rank %d=n%02d slot=0\n' $p $p; done >first
    machine site '1 GB/s 1 us' '2 GB/s 1 us' '' # placeholders
    machine configured "$((2 * rate)) Mb/s $leaf_us us" "$rate Mb/s $root_us us" \
        "send: 50 us, recv: 50 us, eager: $((eager - header)) B, "
    start=$SECONDS
    "$fabricast" measure -q --json --time "${TIME:-100}" --mpi openmpi -m ./site.yaml -o measured.yaml -- \
        "$self" --run measure --rankfile first -n 8 >measured.json || exit 1
    took=$((SECONDS - start))
    echo "network of namespaces, measured in $took s ($(lab_dropped) segments dropped)"
    set -- $overheads
    compare send "$(value measured.json send_s.value)" "$1" 10
    compare recv "$(value measured.json recv_s.value)" "$2" 10
    compare 'L, near pair' "$(value measured.json latency_s.value)" "$(awk -v l=$leaf_us 'BEGIN { print 2e-6 * l }')" 10
    compare 'L, far pair' "$(value measured.json far_latency_s)" "$(awk -v l=$leaf_us -v r=$root_us 'BEGIN { print 2e-6 * (l + r) }')" 10
    compare 'G, near pair' "$(value measured.json stream_per_byte_s.value)" "$(awk -v r=$rate 'BEGIN { print 8e-6 / (2 * r) * 1514 / 1448 }')" 10
    compare 'rate, leaf' "$(value measured.json 'links.1 GB/s 1 us.bytes_per_s')" "$(awk -v r=$rate 'BEGIN { print 2e6 * r / 8 }')" 10
    compare 'rate, level1' "$(value measured.json 'links.2 GB/s 1 us.bytes_per_s')" "$(awk -v r=$rate 'BEGIN { print 1e6 * r / 8 }')" 10
    compare 'eager limit, exactly' "$(value measured.json eager_bytes)" $((eager - header)) 0
    [ $took -lt 180 ] || { echo '  MISSED: 3 minutes or more'; failed=1; }
    echo 'programs: seconds run, predicted from the measured and from the configured file'
    for p in $programs; do
        name=${p%:*} bytes=${p#*:}
        for batches in 1 3; do
            "$fabricast" trace capture -o $name.$batches.fct -- "$self" --run program --rankfile first -n 8 "$work/exchange" \
                $name $bytes 1 1 $batches >$name.time 2>run.log || { echo "FAILED: $name: $(tail -1 run.log)"; exit 1; }
        done
        set -- $(cat $name.time)
        compare "$name, measured file" "$(predicted ./measured.yaml $name)" "$2" 15
        compare "$name, configured file" "$(predicted ./configured.yaml $name)" "$2" 15
    done
    exit $failed
}

network()
{
    why=$(lab_lacks) && { echo "SKIPPED: network: $why"; return; }
    $launcher --version | grep -qE '[^0-9]4\.[0-9]+\.[0-9]+' || { echo 'SKIPPED: network: Open MPI is not 4.x'; return; }
    lab_possible || { echo 'SKIPPED: network: namespaces, veth devices or token buckets are not to be had here'; return; }
    gcc -O2 -D_GNU_SOURCE -o "$work/lab_delay" "$tests/lab_delay.c" &&
        $compiler -O2 -o "$work/exchange" "$tests/mpi/exchange.c" &&
        $compiler -O2 -shared -fPIC -o "$work/yield.so" "$tests/mpi/yield.c" &&
        $compiler -O2 -D_GNU_SOURCE -shared -fPIC -o "$work/overheads.so" "$tests/mpi/overheads.c" -lm || exit 2
    lab_enter "$self" --inside "$work" $launcher "$(awk -v c="$(nproc)" 'BEGIN { print (8 > c ? 8 / c : 1) }')" || failed=1
}

case ${1:-} in
    --inside)
        shift
        inside "$@" ;;
    --run) # measure|program ARGUMENTS: what `measure` and `trace capture` start
        [ "$2" = program ] || export OVERHEADS=$overheads LD_PRELOAD=$work/overheads.so
        [ "$2" = measure ] || lab_priority=''
        export LD_PRELOAD=$work/yield.so:$LD_PRELOAD
        also='-x FABRICAST_TRACE_DIR'
        [ "$2" = program ] || also='-x OVERHEADS'
        shift 2
        lab_mpirun --mca btl_tcp_eager_limit $eager -x LD_PRELOAD $also "$@"
        exit ;;
esac

lab_find_openmpi || { echo 'SKIPPED: no Open MPI (Debian packages openmpi-bin, libopenmpi-dev)'; exit 0; }
[ -x "${fabricast%/*}/fabricast-measure-openmpi" ] || { echo "no ${fabricast%/*}/fabricast-measure-openmpi" >&2; exit 2; }
work=$(realpath -m "${KEEP:-$(mktemp -d /tmp/fabricast-measure-XXXXXX)}")
mkdir -p "$work" || exit 2
[ -n "${KEEP:-}" ] || trap 'rm -rf "$work"' EXIT
for part in ${*:-delays network}; do
    case $part in
        delays | network) $part ;;
        *) echo "$part: none of delays network" >&2; exit 2 ;;
    esac
done
exit $failed
