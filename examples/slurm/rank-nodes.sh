#!/bin/sh
# rank-nodes.sh - which nodes to ask Slurm for: candidate lists of nodes by the time that fabricast predicts.
#
#     rank-nodes.sh -m MACHINE -t TRACE [-s STRATEGY] [-T TIME] [-c RULES] [-N NODES [-p PARTITION]] [LIST...]
#
# LIST: nodes as Slurm writes them, cn[00-03,08]. With -N also lists of NODES idle nodes: those under each
# switch that has as many, consecutive ones, spread ones. STRATEGY: the mapping that the job will run with:
# `def` (rank order, what srun does by itself) unless given; `optimize` is what run-mapped.sh starts, TIME its
# search for each list, e.g. 1s. RULES: of the collectives, e.g. openmpi. Lists are put into Slurm's order,
# since it sorts what -w names. Fastest first; the last line is the option for sbatch. FABRICAST: the program,
# if it is not in PATH.
set -u

me=${0##*/}
fabricast=${FABRICAST:-fabricast}
most=40 # lists that are compared

die()
{
    echo "$me: $*" >&2
    exit 2
}

usage()
{
    die "usage: $me -m MACHINE -t TRACE [-s STRATEGY] [-T TIME] [-c RULES]" \
        "[-N NODES [-p PARTITION]] [LIST...]"
}

machine='' trace='' strategy=def time='' rules='' count='' partition=''
while getopts m:t:s:T:c:N:p: option; do
    case $option in
        m) machine=$OPTARG ;;
        t) trace=$OPTARG ;;
        s) strategy=$OPTARG ;;
        T) time=$OPTARG ;;
        c) rules=$OPTARG ;;
        N) count=$OPTARG ;;
        p) partition=$OPTARG ;;
        *) usage ;;
    esac
done
shift $((OPTIND - 1))
if [ -z "$machine" ] || [ -z "$trace" ] || [ -z "$count$*" ]; then
    usage
fi
case $count in
    *[!0-9]* | 0) die "-N $count: not a number of nodes" ;;
esac
command -v "$fabricast" >/dev/null || die "$fabricast cannot be run: add it to PATH or set FABRICAST"
command -v scontrol >/dev/null || die 'scontrol is not in PATH'
work=$(mktemp -d "${TMPDIR:-/tmp}/$me.XXXXXX") || die 'no temporary directory'
trap 'rm -rf "$work"' EXIT
trap 'exit 143' TERM
trap 'exit 130' INT

for list in "$@"; do
    scontrol show hostlistsorted "$list" || die "scontrol does not read the list $list"
done >"$work/lists"

# Hosts on standard input, one a line, as one list in Slurm's order.
as_list()
{
    scontrol show hostlistsorted "$(paste -s -d , -)"
}

if [ -n "$count" ]; then
    command -v sinfo >/dev/null || die 'sinfo is not in PATH'
    sinfo -h -N -t idle ${partition:+-p "$partition"} -o %N >"$work/idle" || die 'sinfo failed'
    sort -u "$work/idle" >"$work/sorted"
    if [ -s "$work/sorted" ]; then # in Slurm's order
        scontrol show hostnames "$(as_list <"$work/sorted")" >"$work/idle"
    fi
    idle=$(wc -l <"$work/sorted")
    [ "$idle" -ge "$count" ] ||
        die "$idle nodes are idle${partition:+ in partition $partition}, $count are asked for:" \
            "give lists of your own"
    scontrol show topology 2>/dev/null |
        sed -n 's/.*SwitchName=\([^ ]*\).* Nodes=\([^ ]*\).*/\2/p' >"$work/switches"
    while read -r under; do
        scontrol show hostnames "$under" | grep -x -F -f "$work/idle" | head -n "$count" >"$work/some"
        [ "$(wc -l <"$work/some")" -ne "$count" ] || as_list <"$work/some"
    done <"$work/switches" >>"$work/lists"
    from=1
    while [ $((from + count - 1)) -le "$idle" ]; do
        tail -n "+$from" "$work/idle" | head -n "$count" | as_list
        from=$((from + count))
    done >>"$work/lists"
    awk -v step=$((idle / count)) -v n="$count" '(NR - 1) % step == 0 && given++ < n' "$work/idle" |
        as_list >>"$work/lists"
fi

awk '!seen[$0]++' "$work/lists" >"$work/candidates"
total=$(wc -l <"$work/candidates")
[ "$total" -le $most ] || echo "$me: the first $most of $total lists are compared" >&2
set --
while read -r list; do
    [ $# -ge $((2 * most)) ] || set -- "$@" --nodes "$list"
done <"$work/candidates"
"$fabricast" predict -m "$machine" -t "$trace" --map "$strategy" ${time:+--time "$time"} \
    ${rules:+--collectives "$rules"} -q --json "$@" >"$work/times" || die 'no prediction'
if [ $# -eq 2 ]; then # one list: no table, and it is not named in the answer
    sed -n 's/^ *"time_s": *\([-+.0-9e]*\).*/\1/p' "$work/times" | head -n 1 | sed "s|\$| $2|"
else
    sed -n 's/^ *"time_s": *\([-+.0-9e]*\).*/time \1/p; s/^ *"nodes": *"\(.*\)".*/nodes \1/p' "$work/times" |
        awk '$1 == "time" { time = $2 } $1 == "nodes" { print time, $2 }'
fi >"$work/table"
[ "$(wc -l <"$work/table")" -eq $(($# / 2)) ] ||
    die 'fabricast answered something else than a time for each list'
awk 'NR == 1 { least = $1; printf "%14s  %8s  %s\n", "predicted s", "slower", "nodes" }
     { printf "%14.6g  %7.1f%%  %s\n", $1, (least > 0 ? 100 * ($1 / least - 1) : 0), $2 }' "$work/table"
echo "--nodelist=$(sed -n '1s/.* //p' "$work/table")"
