#!/bin/sh
# run-mapped.sh - starts a job step of Slurm with a task mapping made for the nodes of this very allocation.
#
#     run-mapped.sh -m MACHINE -t TRACE [-s STRATEGY] [-T TIME] [-c RULES] [-k FILE] --
#                   [SRUN OPTION...] PROGRAM [ARGUMENT...]
#
# Inside salloc or a batch script. MACHINE: the cluster as fabricast knows it, with host names
# (docs/machines.md). TRACE: a recording of the program with as many ranks (`fabricast trace capture`).
# STRATEGY: `optimize` unless given; TIME: its search, e.g. 20s. RULES: of the collectives, e.g. openmpi
# (default mpich). FILE: keeps the host file there. Everything behind `--` goes to srun. FABRICAST: the
# program, if it is not in PATH. Exit status: that of srun, or 2 before srun was started.
set -u

me=${0##*/}
fabricast=${FABRICAST:-fabricast}

die()
{
    echo "$me: $*" >&2
    exit 2
}

usage()
{
    die "usage: $me -m MACHINE -t TRACE [-s STRATEGY] [-T TIME] [-c RULES] [-k FILE] --" \
        "[SRUN OPTION...] PROGRAM [ARGUMENT...]"
}

# expand "4(x2),2": one number a line
expand()
{
    echo "$1" | tr ',' '\n' | sed -n 's/^\([0-9]*\)(x\([0-9]*\))$/\1 \2/p; s/^\([0-9]*\)$/\1 1/p' |
        awk '{ for (i = 0; i < $2; i++) print $1 }'
}

machine='' trace='' strategy=optimize time='' rules='' keep=''
while getopts m:t:s:T:c:k: option; do
    case $option in
        m) machine=$OPTARG ;;
        t) trace=$OPTARG ;;
        s) strategy=$OPTARG ;;
        T) time=$OPTARG ;;
        c) rules=$OPTARG ;;
        k) keep=$OPTARG ;;
        *) usage ;;
    esac
done
shift $((OPTIND - 1))
if [ -z "$machine" ] || [ -z "$trace" ] || [ $# -eq 0 ]; then
    usage
fi
[ -n "${SLURM_JOB_ID:-}" ] ||
    die 'no allocation (SLURM_JOB_ID is not set): run this in a batch script or behind salloc'
command -v "$fabricast" >/dev/null || die "$fabricast cannot be run: add it to PATH or set FABRICAST"
for tool in srun scontrol; do
    command -v $tool >/dev/null || die "$tool is not in PATH"
done

ranks=$("$fabricast" trace info "$trace" --json | sed -n 's/^ *"ranks": *\([0-9]*\).*/\1/p' | head -n 1)
[ -n "$ranks" ] || die "$trace: no recording that fabricast reads"
nodes=$(scontrol show hostnames "$SLURM_JOB_NODELIST") || die "scontrol does not read $SLURM_JOB_NODELIST"

# srun wants an absolute path.
work=$(mktemp -d "${TMPDIR:-/tmp}/$me.XXXXXX") || die 'no temporary directory'
trap 'rm -rf "$work"' EXIT
trap 'exit 143' TERM
trap 'exit 130' INT
file=$work/hosts
if [ -n "$keep" ]; then
    directory=$(cd "$(dirname "$keep")" && pwd) || die "$keep: no such directory"
    file=$directory/$(basename "$keep")
fi

list=$(echo "$nodes" | paste -s -d , -)
"$fabricast" map -m "$machine" -t "$trace" --nodes "$list" --strategy "$strategy" ${time:+--time "$time"} \
    ${rules:+--collectives "$rules"} --format slurm -o "$file" -q >"$work/map" ||
    die 'no mapping, so nothing was started'
"$fabricast" predict -m "$machine" -t "$trace" --nodes "$list" --map "def,slurm:$file" \
    ${rules:+--collectives "$rules"} -q >&2 || die 'no prediction, so nothing was started'

# srun's own words for this are "Requested node configuration is not available".
if [ -n "${SLURM_JOB_CPUS_PER_NODE:-}" ]; then
    expand "$SLURM_JOB_CPUS_PER_NODE" >"$work/cpus"
    echo "$nodes" | paste -d ' ' - "$work/cpus" >"$work/has"
    awk -v each="${SLURM_CPUS_PER_TASK:-1}" -v machine="$machine" '
        NR == FNR { has[$1] = $2; next }
        { ranks[$1]++ }
        END {
            for (host in ranks) if (has[host] != "" && ranks[host] * each > has[host]) {
                printf "%s would get %d ranks of %d CPUs, this allocation has %d CPUs there: " \
                       "allocate whole nodes (--exclusive), or lower node: cores: of %s\n",
                       host, ranks[host], each, has[host], machine
                exit 1
            }
        }' "$work/has" "$file" >"$work/short" || die "$(cat "$work/short")"
fi

# How many tasks a node gets is the host file's matter: what the batch script asked for must not stand against
# it.
unset SLURM_NTASKS_PER_NODE SLURM_TASKS_PER_NODE SLURM_NTASKS_PER_CORE SLURM_NTASKS_PER_SOCKET
unset SLURM_DISTRIBUTION
SLURM_HOSTFILE=$file srun -N "$(sort -u "$file" | wc -l)" -n "$ranks" -m arbitrary "$@"
