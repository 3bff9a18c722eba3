#!/bin/bash
# validate_fabric.sh [FABRIC...] - predicted and measured speed-up of mappings on a real network
# (docs/real-fabric.md).
#
# Builds small IP networks of namespaces (fabric_lab.sh) that carry real Open MPI traffic, and the machine
# file of each: configured rates, the frame's overhead, nothing fitted. On each network every program is
# recorded in rank order with `trace capture`, predicted and mapped (`map --strategy optimize`, and the worst
# by prediction of some random mappings), and run with the rank files that `map` wrote. Fails when the
# predicted and the measured ratio of the bad to the optimized mapping differ by more than 25 %, or when on a
# network no mapping found is measurably faster than rank order: its slowest batch by 5 % before the fastest
# of rank order.
#
# Needs root, iproute2 and Open MPI; says so and skips otherwise. FABRICAST: the program (default
# obj/fabricast). KEEP: a new directory that keeps everything. RATE: Mbit/s of a cable between switches
# (default 10). LAMMPS=1: also a LAMMPS run of some seconds, shown but not judged: with eight ranks on few
# processors it measures these.
set -u
export LC_ALL=C
tests=$(cd "$(dirname "$0")" && pwd)
self=$tests/${0##*/}
root=${tests%/*}
fabricast=$(realpath "${FABRICAST:-$root/obj/fabricast}")
rate=${RATE:-10}
ranks=8
seeds=16 # random mappings of which the worst is the bad one
. "$tests/fabric_lab.sh"

# Program, bytes, repetitions a batch.
programs='pairs:400000:1 groups:300000:1 alltoall:300000:1 stencil:1000000:1'
[ -z "${LAMMPS:-}" ] || programs="$programs lammps:0:1"

skip()
{
    echo "SKIPPED: no real network: $*"
    exit 0
}

# value FILE KEY: a number of JSON
value()
{
    grep -o "\"$2\": *[-+.0-9e]*" "$1" | head -1 | sed 's/.*: *//'
}

# ---- fabrics: writes machine.yaml, cables, routes ----

head_of_machine()
{
    printf '%s\n' "name: $1" \
        'source: the rates that tc-tbf was given; Ethernet, IP and TCP headers of full segments' \
        'confidence: rates and headers configured; software costs are the defaults' \
        'packet: {max: 1514 B, header: 66 B}' 'router: {delay: 0 s, flit: 1 B, queues: output}' \
        "software: {eager: 64 KiB, compute_scale: $compute_scale}"
}

# graph NAME: machine and routes of any cables with one shortest path between any two hosts
graph()
{
    awk 'function kind(name) { return (name ~ /^s/ ? "router " : "node ") name }
         { print kind($1), kind($2), $3, "Mb/s" }' cables >edges
    { head_of_machine "$1"
      echo 'network: {family: graph, file: edges, format: edge-list}'
      echo 'links: {injection: {latency: 0 s}}'; } >machine.yaml
    lab_shortest_routes cables >routes
}

# hosts_on SWITCHES EACH RATE: cables of hosts n00.., EACH on a switch
hosts_on()
{
    local i
    for ((i = 0; i < $1 * $2; i++)); do printf 's%d n%02d %d\n' $((i / $2)) $i "$3"; done
}

# 2 switches of 6 hosts
dumbbell()
{
    { hosts_on 2 6 $((2 * rate)); echo "s0 s1 $rate"; } >cables
    graph dumbbell
}

# 9 switches of 1 host
ring()
{
    local i
    { hosts_on 9 1 $((2 * rate))
      for ((i = 0; i < 9; i++)); do echo "s$i s$(((i + 1) % 9)) $rate"; done; } >cables
    graph ring
}

# 3 x 3 routers of 2 hosts, x first
torus()
{
    local s d x y dx dy next host
    { hosts_on 9 2 $((2 * rate))
      for ((s = 0; s < 9; s++)); do
          x=$((s % 3)) y=$((s / 3))
          echo "s$s s$((y * 3 + (x + 1) % 3)) $rate"
          echo "s$s s$(((y + 1) % 3 * 3 + x)) $rate"
      done; } >cables
    for ((s = 0; s < 9; s++)); do
        for ((d = 0; d < 18; d++)); do
            x=$((s % 3)) y=$((s / 3)) dx=$((d / 2 % 3)) dy=$((d / 6))
            printf -v host 'n%02d' $d
            if [ $s = $((d / 2)) ]; then
                next=$host
            elif [ $x != $dx ]; then # the other two routers of a ring are both neighbours
                next=s$((y * 3 + dx))
            else
                next=s$((dy * 3 + x))
            fi
            echo "s$s $host $next"
        done
    done >routes
    { head_of_machine torus
      echo 'network: {family: torus, dims: [3, 3], nodes_per_router: 2}'
      echo "links: {torus: {bandwidth: $rate Mb/s}, injection: {bandwidth: $((2 * rate)) Mb/s}}"
      echo 'hosts: n[00-17]'; } | sed 's/^router: {/&routing: dimension-order, /' >machine.yaml
}

# 4 leaves of 3 hosts, 2 spines, destination mod 2: s0 to s3 are leaves, s4 and s5 spines
fattree()
{
    local s d host
    { hosts_on 4 3 $((2 * rate))
      for ((s = 0; s < 4; s++)); do echo "s$s s4 $rate"; echo "s$s s5 $rate"; done; } >cables
    for ((d = 0; d < 12; d++)); do
        printf -v host 'n%02d' $d
        for ((s = 0; s < 4; s++)); do
            if [ $s = $((d / 3)) ]; then echo "s$s $host $host"; else echo "s$s $host s$((4 + d % 2))"; fi
        done
        echo "s4 $host s$((d / 3))"
        echo "s5 $host s$((d / 3))"
    done >routes
    { head_of_machine fattree
      echo 'network: {family: fat-tree, children: [3, 4], parents: [1, 2]}'
      echo "links: {leaf: {bandwidth: $((2 * rate)) Mb/s}, level1: {bandwidth: $rate Mb/s}}"
      echo 'hosts: n[00-11]'; } | sed 's/^router: {/&routing: nca-hash, /' >machine.yaml
}

# ---- programs ----

# command PROGRAM BYTES WARM REPEATS BATCHES
command_of()
{
    if [ "$1" = lammps ]; then
        echo "$lammps -in $work/lj.in -log none -echo none"
    else
        echo "$work/exchange $*"
    fi
}

# run FILE OUTPUT COMMAND...: recorded, with the rank file; "least median greatest" seconds of a repetition in
# OUTPUT. Of a program that does not print them: once from the last return from MPI_Init to the last call of
# MPI_Finalize.
run()
{
    local file=$1 output=$2
    shift 2
    "$fabricast" trace capture -o measured.fct -- "$self" --run "$file" "$@" >"$output" 2>run.log ||
        { echo "FAILED: $* with $file: $(grep -v setpgid run.log | tail -1)"; return 1; }
    case $1 in
        "$work"/exchange) ;;
        *) "$fabricast" trace convert measured.fct -o measured.txt --format text &&
               awk '$1 == "init" && $3 > start { start = $3 } $1 == "finalize" && $2 > end { end = $2 }
                    END { time = end - start; print time, time, time }' measured.txt >"$output" ;;
    esac
    [ "$(wc -w <"$output")" = 3 ] || { echo "FAILED: no times of $* with $file"; return 1; }
}

# The worst of some random mappings by the time that `predict` gives it.
find_bad()
{
    local name=$1 seed time
    for ((seed = 1; seed <= seeds; seed++)); do
        predict "$name" --map random --seed $seed -o bad.json || return 1
        echo "$(value bad.json time_s) $seed"
    done | sort -g | tail -1
}

predict()
{
    local name=$1
    shift
    "$fabricast" predict -t "$name.fct" -m machine.yaml --collectives openmpi -q --json "$@"
}

write_map()
{
    local name=$1 mapping=$2
    shift 2
    "$fabricast" map -t "$name.fct" -m machine.yaml --collectives openmpi -q "$@" --format rankfile \
        -o "$name.$mapping" >map.log
}

# program NAME BYTES REPEATS: recorded in rank order, predicted, mapped, run; a line a mapping in `rows`
program()
{
    local name=$1 bytes=$2 warm=1 repeats=$3 batches=2 command scale seed mapping time
    command=$(command_of "$name" "$bytes" $warm "$repeats" $batches)
    scale=$((warm + repeats * batches))
    [ "$name" = lammps ] && scale=1
    run first "$name.def.time" $command && mv measured.fct "$name.fct" || return 1
    write_map "$name" def --strategy def || return 1
    write_map "$name" optimize --strategy optimize --time 1s || return 1
    seed=$(find_bad "$name") && seed=${seed#* } || return 1
    write_map "$name" bad --strategy random --seed "$seed" || return 1
    cmp -s first "$name.def" || { echo "FAILED: $name: the rank file of def is not rank order"; return 1; }
    for mapping in def optimize bad; do
        predict "$name" --map "rankfile:$name.$mapping" -o "$name.json" || return 1
        time=$(value "$name.json" time_s)
        [ $mapping = def ] || run "$name.$mapping" "$name.$mapping.time" $command || return 1
        echo "$fabric $name $mapping $(awk -v t="$time" -v n=$scale 'BEGIN { print t / n }')" \
            "$(cat "$name.$mapping.time")" | tee -a "$work/rows"
    done
}

# ---- inside ----

inside()
{
    local p failed=0
    work=$1 fabric=$2 lab_launcher=$3 lammps=$4 compute_scale=$5
    mkdir -p "$work/$fabric" && cd "$work/$fabric" || exit 3
    export lab_work=$work/$fabric
    "$fabric" && lab_build cables routes || { echo "FAILED: $fabric cannot be built"; exit 3; }
    for ((p = 0; p < ranks; p++)); do printf 'rank %d=n%02d slot=0\n' "$p" "$p"; done >first
    export lab_agent lab_launcher work
    for p in $programs; do
        program ${p//:/ } || failed=1
    done
    echo "$fabric: $(lab_dropped) segments dropped"
    return $failed
}

report()
{
    awk '
    { least[$1, $2, $3] = $5; most[$1, $2, $3] = $7; predicted[$1, $2, $3] = $4
      if (!(($1, $2) in seen)) order[n++] = $1 SUBSEP $2
      seen[$1, $2] = 1; fabrics[$1] = 1 }
    function ratio(key, what,    p, m, off) {
        p = predicted[key, what] / predicted[key, "optimize"]
        m = least[key, what] / least[key, "optimize"]
        off = 100 * (m / p - 1)
        printf "  %9.3f %9.3f %+6.1f %%", p, m, off
        return off
    }
    END {
        print ""
        print "                       bad : optimize                  def : optimize"
        print "fabric    program    predicted  measured deviation   predicted  measured deviation"
        for (i = 0; i < n; i++) {
            split(order[i], part, SUBSEP)
            printf "%-9s %-9s", part[1], part[2]
            off = ratio(order[i], "bad")
            printf "  "
            ratio(order[i], "def")
            gain = 1.05 * most[order[i], "optimize"] < least[order[i], "def"]
            faster[part[1]] += gain
            printf "%s", gain ? "  faster" : ""
            if (off > 25 || off < -25) {
                printf "  %sover 25 %%", part[2] == "lammps" ? "" : "MISSED: "
                if (part[2] != "lammps") missed = 1
            }
            print ""
        }
        for (f in fabrics) if (!faster[f]) {
            print f ": MISSED: no mapping found is measurably faster than rank order"
            missed = 1
        }
        exit missed
    }' "$work/rows"
}

case ${1:-} in
    --inside)
        shift
        inside "$@"
        exit ;;
    --run) # RANKFILE COMMAND...: what `trace capture` starts
        rankfile=$2
        shift 2
        export LD_PRELOAD=$work/yield.so:$LD_PRELOAD
        lab_mpirun -x LD_PRELOAD -x FABRICAST_TRACE_DIR --rankfile "$rankfile" -n $ranks "$@"
        exit ;;
esac

why=$(lab_lacks) && skip "$why"
[ -x "$fabricast" ] || { echo "no $fabricast" >&2; exit 2; }
lab_find_openmpi || skip 'no Open MPI (Debian packages openmpi-bin, libopenmpi-dev)'
$launcher --version | grep -qE '[^0-9]4\.[0-9]+\.[0-9]+' ||
    skip 'Open MPI is not 4.x, whose launcher the script knows'
[ -f "${fabricast%/*}/libfabricast-pmpi.so" ] || skip "no ${fabricast%/*}/libfabricast-pmpi.so"
lab_possible || skip 'namespaces, veth devices or token buckets are not to be had here'

[ -z "${KEEP:-}" ] || [ -z "$(ls -A "$KEEP" 2>/dev/null)" ] ||
    { echo "KEEP: $KEEP is not empty" >&2; exit 2; }
work=$(realpath -m "${KEEP:-$(mktemp -d /tmp/fabricast-fabric-XXXXXX)}")
mkdir -p "$work" && : >"$work/rows" || exit 2
[ -n "${KEEP:-}" ] || trap 'rm -rf "$work"' EXIT
$compiler -O2 -o "$work/exchange" "$tests/mpi/exchange.c" &&
    $compiler -O2 -shared -fPIC -o "$work/yield.so" "$tests/mpi/yield.c" || exit 2
sed 's/^run .*/run 4/; /^region/s/0 16/0 24/g' "$root/traces/samples/lj.in" >"$work/lj.in"
lammps=$(type -P lmp || true)
[ -z "${LAMMPS:-}" ] || [ -n "$lammps" ] ||
    { echo 'LAMMPS: lmp is not installed (Debian package lammps)' >&2; exit 2; }
# The ranks share this machine's processors; the predicted ones have one each.
compute_scale=$(awk -v n=$ranks -v c="$(nproc)" 'BEGIN { print (n > c ? n / c : 1) }')
status=0
for fabric in ${*:-dumbbell ring torus fattree}; do
    case $fabric in
        dumbbell | ring | torus | fattree) ;;
        *) echo "$fabric: none of dumbbell ring torus fattree" >&2; exit 2 ;;
    esac
    lab_enter "$self" --inside "$work" $fabric $launcher "$lammps" "$compute_scale" || status=1
done
report || status=1
exit $status
