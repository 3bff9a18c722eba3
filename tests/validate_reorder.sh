#!/bin/bash
# validate_reorder.sh - an unmodified program with a Cartesian grid under libfabricast-reorder.so, on a real network
# (docs/reorder.md).
#
# On two switches of four hosts (fabric_lab.sh, as in validate_fabric.sh) eight ranks exchange the edges of a grid of 2 x 4
# (tests/mpi/halo.c), with Open MPI and MPICH: as started, with the interposer, with `never`, and with the rank file that
# `map --strategy optimize` writes for the recorded program. Fails where the interposer's run is slower than the rank file's
# by more than 5 %, less than twice as fast as the plain one, or where `never` changes a rank's host, or the time by more than
# 10 %.
#
# Needs root, iproute2 and the MPIs; says so and skips what is not there. FABRICAST: the program (default obj/fabricast).
# KEEP: a new directory that keeps everything. MPIS: openmpi, mpich or both. RATE: Mbit/s of the cable between the switches
# (default 10). BYTES: of a message (400000). STEPS: exchanges a run, of which the fastest counts (8).
set -u
export LC_ALL=C
tests=$(cd "$(dirname "$0")" && pwd)
self=$tests/${0##*/}
root=${tests%/*}
fabricast=$(realpath "${FABRICAST:-$root/obj/fabricast}")
rate=${RATE:-10}
bytes=${BYTES:-400000}
ranks=8
. "$tests/fabric_lab.sh"

skip()
{
    echo "SKIPPED: no real network: $*"
    exit 0
}

# Two switches of four hosts, one cable.
dumbbell()
{
    local i
    { for ((i = 0; i < 8; i++)); do printf 's%d n%02d %d\n' $((i / 4)) $i $((2 * rate)); done
      echo "s0 s1 $rate"; } >cables
    awk 'function kind(name) { return (name ~ /^s/ ? "router " : "node ") name }
         { print kind($1), kind($2), $3, "Mb/s" }' cables >edges
    printf '%s\n' 'name: dumbbell' 'source: the rates that tc-tbf was given' 'confidence: rates and headers configured' \
        'packet: {max: 1514 B, header: 66 B}' 'router: {delay: 0 s, flit: 1 B}' 'software: {eager: 64 KiB}' \
        'network: {family: graph, file: edges, format: edge-list}' 'links: {injection: {latency: 0 s}}' >machine.yaml
    lab_shortest_routes cables >routes
}

# start MPI FILE VARIABLES... -- PROGRAM...: with the ranks on the hosts of FILE, one a line; in a process of its own
start()
{
    local mpi=$1 file=$2
    local -a set=()
    shift 2
    while [ "$1" != -- ]; do set+=("$1"); shift; done
    shift
    if [ "$mpi" = openmpi ]; then
        awk '{ printf "rank %d=%s slot=0\n", NR - 1, $1 }' "$file" >"$file.ranks"
        lab_mpirun --rankfile "$file.ranks" -n $ranks env "${set[@]}" "$@"
    else
        exec mpiexec.mpich -launcher ssh -launcher-exec "$lab_agent" -disable-hostname-propagation -iface mgmt -f "$file" \
            -n $ranks "$self" --on-cable "${set[@]}" "$@"
    fi
}

# run NAME MPI FILE VARIABLES...: seconds and hosts of the grid's ranks into NAME.MPI. The run ends when it has told them:
# MPICH 4.0.2 on the TCP of UCX 1.13 does not come back from MPI_Finalize on this network, whatever is preloaded.
run()
{
    local name=$1 mpi=$2 file=$3 preload=$work/yield.$mpi.so pid tries
    shift 3
    [ $# = 0 ] || preload=$interposer:$preload
    start "$mpi" "$file" "LD_PRELOAD=$preload" "FABRICAST_MACHINE=$PWD/machine.yaml" \
        "FABRICAST_REORDER_BYTES=$bytes" "FABRICAST_REORDER_LOG=$PWD/$name.$mpi.log" "$@" -- "$work/halo.$mpi" "$bytes" "${STEPS:-8}" \
        >"$name.$mpi" 2>"$name.$mpi.err" &
    pid=$!
    for ((tries = 0; tries < 600; tries++)); do
        kill -0 $pid 2>/dev/null && ! grep -q "^host $((ranks - 1)) " "$name.$mpi" 2>/dev/null || break
        sleep 0.2
    done
    [ "$mpi" = openmpi ] || { sleep 1; kill $pid; } 2>/dev/null
    wait $pid 2>/dev/null
    grep -q "^host $((ranks - 1)) " "$name.$mpi" ||
        { echo "FAILED: $name with $mpi: $(tail -2 "$name.$mpi.err")"; return 1; }
}

seconds()
{
    awk '$1 == "seconds" { print $2 }' "$1"
}

# less A FACTOR B: A <= FACTOR * B
less()
{
    awk -v a="$1" -v f="$2" -v b="$3" 'BEGIN { exit !(a > 0 && b > 0 && a <= f * b) }'
}

inside()
{
    local mpi failed=0 plain never under file expected got
    work=$1
    mkdir -p "$work/lab" && cd "$work/lab" || exit 3
    export lab_work=$work/lab lab_agent work
    dumbbell && lab_build cables routes || { echo 'FAILED: the network cannot be built'; exit 3; }
    printf 'n%02d\n' 0 1 2 3 4 5 6 7 >first
    "$fabricast" map -m machine.yaml -t ../halo.fct --nodes @first --strategy optimize -q --format seq -o best >map.log ||
        exit 1
    for mpi in $mpis; do
        run plain "$mpi" first && run never "$mpi" first FABRICAST_REORDER=never && run under "$mpi" first FABRICAST_REORDER= &&
            run file "$mpi" best || { failed=1; continue; }
        plain=$(seconds plain.$mpi) never=$(seconds never.$mpi) under=$(seconds under.$mpi) file=$(seconds file.$mpi)
        echo "$mpi: as started $plain s, never $never s, interposer $under s, rank file $file s"
        sed 's/^/  /' "under.$mpi.log"
        less "$under" 1.05 "$file" || { echo "MISSED: $mpi: slower than the rank file"; failed=1; }
        less "$under" 0.5 "$plain" || { echo "MISSED: $mpi: not twice as fast as started"; failed=1; }
        less "$never" 1.10 "$plain" && less "$plain" 1.10 "$never" ||
            { echo "MISSED: $mpi: refused and not as it was"; failed=1; }
        [ ! -s "never.$mpi.log" ] && [ "$(grep host never.$mpi)" = "$(grep host plain.$mpi)" ] ||
            { echo "MISSED: $mpi: refused and something happened"; failed=1; }
        grep -q ': reordered, ' "under.$mpi.log" || { echo "MISSED: $mpi: not reordered"; failed=1; }
    done
    echo "$(lab_dropped) segments dropped"
    return $failed
}

if [ "${1:-}" = --on-cable ]; then
    # A rank of MPICH: UCX finds the host's cable in /sys, and takes it, not the launcher's bridge.
    shift
    device=$(ip -o link | sed -n 's/^[0-9]*: \(to-[a-z0-9]*\).*/\1/p')
    exec unshare --mount -- sh -c 'mount -t sysfs sysfs /sys && exec "$@"' sh \
        env UCX_TLS=tcp,self "UCX_NET_DEVICES=$device" "$@"
fi
if [ "${1:-}" = --inside ]; then
    shift
    lab_launcher=$2 mpis=$3
    export lab_launcher
    interposer=${fabricast%/*}/libfabricast-reorder.so
    inside "$1"
    exit
fi

why=$(lab_lacks) && skip "$why"
[ -x "$fabricast" ] || { echo "no $fabricast" >&2; exit 2; }
[ -f "${fabricast%/*}/libfabricast-reorder.so" ] || skip "no ${fabricast%/*}/libfabricast-reorder.so"
lab_possible || skip 'namespaces, veth devices or token buckets are not to be had here'
work=$(realpath -m "${KEEP:-$(mktemp -d /tmp/fabricast-reorder-XXXXXX)}")
mkdir -p "$work" || exit 2
[ -n "${KEEP:-}" ] || trap 'rm -rf "$work"' EXIT
mpis=
for mpi in ${MPIS:-openmpi mpich}; do
    type -P mpicc.$mpi >/dev/null && type -P mpiexec.$mpi >/dev/null || { echo "SKIPPED: $mpi is not installed"; continue; }
    mpicc.$mpi -O2 -Wno-stringop-overflow -o "$work/halo.$mpi" "$tests/mpi/halo.c" || exit 2
    mpis="$mpis $mpi"
done
[ -n "$mpis" ] || skip 'no MPI'
[[ $mpis != *openmpi* ]] || mpicc.openmpi -O2 -shared -fPIC -o "$work/yield.openmpi.so" "$tests/mpi/yield.c" || exit 2
[[ $mpis != *mpich* ]] || gcc -D_GNU_SOURCE -O2 -shared -fPIC -o "$work/yield.mpich.so" "$tests/mpi/yield_mpich.c" -ldl || exit 2
case $mpis in
    *openmpi*) launch="mpirun.openmpi --allow-run-as-root --oversubscribe -n $ranks $work/halo.openmpi" ;;
    *) launch="mpiexec.mpich -n $ranks env LD_PRELOAD=\$LD_PRELOAD:$work/yield.mpich.so $work/halo.mpich" ;;
esac
"$fabricast" trace capture -o "$work/halo.fct" -- sh -c "exec $launch $bytes 1" >"$work/capture.log" 2>&1 ||
    { echo "FAILED: not recorded: $(tail -1 "$work/capture.log")"; exit 1; }
lab_enter "$self" --inside "$work" mpirun.openmpi "${mpis# }"
