#!/bin/bash
# validate_recording.sh [PROGRAM...] - real programs recorded under two independent witnesses in the same run.
#
# LAMMPS, Quantum ESPRESSO, HPCC and NWChem (Debian: lammps, quantum-espresso, hpcc, nwchem-openmpi) run with
# the recorder, with Open MPI's monitoring (bytes and messages of every pair of ranks; compare_monitoring.awk)
# and with a counter of calls by name (count_calls.sh). Nothing may differ. Then each trace is read and
# replayed without contention and with it. A program that is not installed is skipped, and said.
# FABRICAST: the program (default obj/fabricast). KEEP: a directory that keeps everything. MACHINE: for the
# replays.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
fabricast=$(realpath "${FABRICAST:-$root/obj/fabricast}")
recorder=${fabricast%/*}/libfabricast-pmpi.so
machine=$root/models/machines/${MACHINE:-bgl-64}.yaml
work=${KEEP:-$(mktemp -d /tmp/fabricast-recording-XXXXXX)}
[ -n "${KEEP:-}" ] || trap 'rm -rf "$work"' EXIT
as_root=
[ "$(id -u)" != 0 ] || as_root=--allow-run-as-root
failed=

# Alltoall and alltoallv by Open MPI's pairwise algorithm: the linear one starts persistent requests, which
# the monitoring takes for the program's own messages.
run="mpirun $as_root --oversubscribe --mca coll_tuned_use_dynamic_rules 1
     --mca coll_tuned_alltoall_algorithm 2 --mca coll_tuned_alltoallv_algorithm 2
     --mca pml_monitoring_enable 2 --mca pml_monitoring_enable_output 3"

fail()
{
    echo "  FAILED: $*"
    failed=yes
}

# seconds OUTPUT COMMAND...: "wall CPU" into `took`
seconds()
{
    local output=$1 TIMEFORMAT='%R %U %S'
    shift
    took=$({ time "$@" >"$output" 2>&1 </dev/null || echo "exit status $?" >>"$output"; } 2>&1 |
           awk '{ printf "%.1f %.1f", $1, $2 + $3 }')
}

# value FILE KEY: a number of a flat place in JSON
value()
{
    grep -o "\"$2\": *[-+.0-9e]*" "$1" | head -1 | sed 's/.*: *//'
}

replay()
{
    local name=$1 network time
    for network in ideal contention; do
        if ! "$fabricast" predict -t "$name.fct" -m "$machine" --network $network -q --json \
            -o $network.json; then
            fail "$name: predict --network $network"
            return
        fi
        time="${time:-} $(value $network.json time_s)"
        for left in unmatched_sends unmatched_receives uneven_calls; do
            case $(value $network.json $left) in
                0 | '') ;;
                *) fail "$name: --network $network: $left $(value $network.json $left)" ;;
            esac
        done
    done
    echo "  predicted on ${machine##*/}: ideal and contention$time s"
}

# The monitoring and the counter against the text form.
compare()
{
    local name=$1 windows
    "$fabricast" trace convert "$name.fct" -o "$name.txt" --format text || fail "$name: trace convert"
    windows=$(awk '$1 ~ /[wW]in_(allocate|create)/ { n += $2 } END { print n + 0 }' calls.*)
    awk -v windows="$windows" -f "$root/tests/compare_monitoring.awk" "$name.txt" monitored.*.prof |
        tee pairs | sed 's/^/  /'
    awk '$1 ~ /^[ESRC]$/ { n++; bad += $8 } END { exit n != 4 || bad }' pairs || fail "$name: pairs differ"
    if [ ! -f libcount.so ]; then
        echo "  calls by name were not counted (that needs x86-64, gcc and nm)"
        return
    fi
    awk -f "$root/tests/compare_calls.awk" "$name.txt" calls.* | tee calls | sed 's/^/  /'
    grep -q differ calls && fail "$name: calls differ"
}

# record NAME RANKS COMMAND...: in a directory of its own, where its input was written
record()
{
    local name=$1 ranks=$2 preload=$recorder
    shift 2
    rm -f calls.* ./*.prof "$name.fct" libcount.so
    bash "$root/tests/count_calls.sh" "$PWD/libcount.so" "$(type -P "$1")" &&
        preload=$PWD/libcount.so:$recorder
    seconds plain.log $run --mca pml_monitoring_filename "$PWD/plain" -n "$ranks" "$@"
    echo "$name: $ranks ranks; wall and CPU seconds without the recorder $took"
    seconds record.log "$fabricast" trace capture -o "$name.fct" -- \
        $run --mca pml_monitoring_filename "$PWD/monitored" -x "LD_PRELOAD=$preload" \
        -x "FABRICAST_CALLS=$PWD/calls" -n "$ranks" "$@"
    if [ ! -f "$name.fct" ]; then
        fail "$name: $(tail -1 record.log)"
        return
    fi
    echo "  with it $took; trace $(stat -c %s "$name.fct") bytes"
    grep 'that are not recorded' record.log | sed 's/^fabricast:/ /'
    "$fabricast" trace info "$name.fct" >info || fail "$name: trace info"
    sed -n 's/^\(events\|time\|balance\) */  /p' info
    grep -q '^unmatched' info && fail "$name: $(grep '^unmatched' info)"
    compare "$name"
    replay "$name"
}

lammps()
{
    cp "$root/traces/samples/lj.in" . && record lammps 16 lmp -in lj.in -log none
}

qe()
{
    cp "$root/traces/samples/si.in" . && record qe 16 pw.x -npool 4 -in si.in
}

# HPL on a 4 x 4 grid with a matrix of 400 rows; the sizes of the other benchmarks follow from it.
hpcc()
{
    printf '%s\n' head head 'HPL.out' '8 device' '1 sizes' '400 N' '1 blocks' '40 NB' '0 rows first' \
        '1 grids' '4 P' '4 Q' '16.0 threshold' '1' '2 PFACT' '1' '4 NBMIN' '1' '2 NDIV' '1' '1 RFACT' '1' \
        '1 BCAST' '1' '1 DEPTH' '2 SWAP' '64' '0 L1' '0 U' '1 equilibrate' '8 align' '#' '0' '1200' '0' '40' \
        >hpccinf.txt
    record hpcc 16 hpcc
}

nwchem()
{
    printf '%s\n' 'start h2o' 'geometry units angstrom' ' O 0 0 0' ' H 0 0.757 0.587' ' H 0 -0.757 0.587' \
        end 'basis' ' * library 6-31g' end 'task scf' >h2o.nw
    record nwchem 8 nwchem.openmpi h2o.nw
}

[ -f "$recorder" ] && command -v mpirun >/dev/null ||
    { echo "SKIPPED: real programs are not recorded: no mpirun or no $recorder"; exit 0; }
for program in ${*:-lammps qe hpcc nwchem}; do
    case $program in
        lammps) needs=lmp package=lammps ;;
        qe) needs=pw.x package=quantum-espresso ;;
        hpcc) needs=hpcc package=hpcc ;;
        nwchem) needs=nwchem.openmpi package=nwchem-openmpi ;;
        *) echo "$program: none of lammps qe hpcc nwchem" >&2; exit 2 ;;
    esac
    if ! type -P $needs >/dev/null; then
        echo "$program: SKIPPED, $needs is not installed (Debian package $package)"
        continue
    fi
    mkdir -p "$work/$program" && cd "$work/$program" && $program
done
[ -z "$failed" ] || exit 1
