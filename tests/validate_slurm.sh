#!/bin/bash
# validate_slurm.sh - the ranks land where the launcher file says: real Slurm, Open MPI and MPICH.
#
# Starts a Slurm of eight slurmd's under two leaf switches on this machine, runs both scripts of
# examples/slurm in it and compares where each rank ran with the file that fabricast wrote; then rank files
# (host names, relative ones) and `seq` with Open MPI, host files with MPICH, on hosts that are UTS
# namespaces. All of it lives in namespaces that end with this script (lab_enter in fabric_lab.sh) and in a
# temporary directory: no file, service or port of the machine is touched. What is not installed is skipped,
# and said. FABRICAST: the program (default obj/fabricast). KEEP: a new directory that keeps everything.
# --quick: few of the checks, on four nodes, as `make test` runs them (test_launched.c).
set -u
export LC_ALL=C
tests=$(cd "$(dirname "$0")" && pwd)
self=$tests/${0##*/}
root=${tests%/*}
fabricast=$(realpath "${FABRICAST:-$root/obj/fabricast}")
examples=$root/examples/slurm
. "$tests/fabric_lab.sh"

n_nodes=${NODES:-8} cores=4
passed=0 failed=0

# check WHAT GOT EXPECTED
check()
{
    if [ -n "$3" ] && [ "$2" = "$3" ]; then
        passed=$((passed + 1))
        echo "  ok      $1"
    else
        failed=$((failed + 1))
        echo "  FAILED  $1: got '$2', expected '$3'"
    fi
}

# check_refused WHAT STATUS TEXT: exit status 2, and this text once in the file `message`
check_refused()
{
    check "$1" "$2 $(grep -c -F -- "$3" message)" '2 1'
}

# hosts_of: "RANK HOST" lines in any order as hosts in the order of the ranks
hosts_of()
{
    grep -E '^[0-9]+ cn[0-9]+$' | sort -n | awk '{ printf "%s%s", n++ ? " " : "", $2 }'
}

# in_file FILE: hosts of a file, one a line
in_file()
{
    awk '{ printf "%s%s", n++ ? " " : "", $1 }' "$1"
}

# The machine of the cluster: its own topology.conf.
write_machine()
{
    printf 'SwitchName=leaf0 Nodes=cn[00-%02d]\nSwitchName=leaf1 Nodes=cn[%02d-%02d]\nSwitchName=spine Switches=leaf[0-1]\n' \
        $((n_nodes / 2 - 1)) $((n_nodes / 2)) $((n_nodes - 1)) >topology.conf
    printf '%s\n' 'name: cluster' 'network: {family: graph, file: topology.conf, format: slurm-topology}' \
        'links: {link: {bandwidth: 1 GB/s, latency: 100 ns}}' "node: {cores: $cores}" >machine.yaml
    "$fabricast" trace generate -m machine.yaml -p stencil2d:grid=${n_nodes}x2,bytes=256KiB -o job.fct -q >/dev/null &&
        "$fabricast" trace generate -m machine.yaml -p stencil2d:grid=2x$((n_nodes / 2)),bytes=256KiB -o job8.fct -q \
            >/dev/null
}

resolve_hosts()
{
    local i
    ip link set lo up
    # slurmctld wants an address that is not of the loopback; nothing is sent there
    ip link add name lab0 type veth peer name lab1 && ip addr add 192.0.2.1/24 dev lab0 &&
        ip link set lab0 up && ip link set lab1 up || return 1
    hostname head
    { cat /etc/hosts; echo '127.0.0.1 head'
      for ((i = 0; i < n_nodes; i++)); do printf '127.1.0.%d cn%02d\n' $((i + 1)) $i; done; } >hosts
    mount --bind hosts /etc/hosts && mount -t tmpfs tmpfs /run
}

start_slurm()
{
    local i up name last at=$PWD/slurm
    last=$(printf %02d $((n_nodes - 1)))
    mkdir -p "$at"/{state,spool,log,run} && chmod 755 "$at/run" || return 1
    dd if=/dev/urandom of="$at/key" bs=1024 count=1 2>/dev/null && chmod 600 "$at/key"
    munged --key-file="$at/key" --socket="$at/run/munge" --pid-file="$at/run/munged.pid" \
        --log-file="$at/log/munged.log" --seed-file="$at/run/seed" 2>"$at/log/munged.err" || return 1
    cat >"$at/slurm.conf" <<CONF
ClusterName=test
SlurmctldHost=head(127.0.0.1)
SlurmctldPort=16817
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$at/run/munge
StateSaveLocation=$at/state
SlurmdSpoolDir=$at/spool/%n
SlurmctldPidFile=$at/run/slurmctld.pid
SlurmdPidFile=$at/run/slurmd-%n.pid
SlurmctldLogFile=$at/log/slurmctld.log
SlurmdLogFile=$at/log/slurmd-%n.log
TmpFS=$at/spool/%n
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_interval=2
TopologyPlugin=topology/tree
MpiDefault=none
ReturnToService=2
InactiveLimit=0
KillWait=2
MailProg=/bin/true
CliFilterPlugins=cli_filter/lua
NodeName=DEFAULT Sockets=1 CoresPerSocket=$cores ThreadsPerCore=1 RealMemory=1000 State=UNKNOWN
NodeName=cn[00-$last] NodeHostname=cn[00-$last] NodeAddr=127.0.0.1 Port=[17000-170$last]
PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
    echo 'CgroupPlugin=cgroup/v1' >"$at/cgroup.conf" # slurmd looks for /sys/fs/cgroup else
    cp topology.conf "$at/topology.conf"
    cp "$examples/cli_filter.lua" "$at/cli_filter.lua"
    export SLURM_CONF=$at/slurm.conf
    slurmctld 2>"$at/log/slurmctld.err" || return 1
    for ((i = 0; i < n_nodes; i++)); do
        name=$(printf 'cn%02d' $i)
        mkdir -p "$at/spool/$name"
        unshare --uts sh -c "hostname $name; exec slurmd -N $name" 2>>"$at/log/slurmd.err" || return 1
    done
    for ((i = 0; i < 300; i++)); do
        up=$(sinfo -h -t idle -o %D 2>/dev/null)
        [ "${up:-0}" = $n_nodes ] && return 0
        sleep 0.2
    done
    echo "  ${up:-0} of $n_nodes nodes came up"
    return 1
}

where='echo $SLURM_PROCID $SLURMD_NODENAME'

# mapped TRACE ARGUMENT...: run-mapped.sh on the cluster's machine
mapped()
{
    local trace=$1
    shift
    "$examples/run-mapped.sh" -m machine.yaml -t "$trace" "$@"
}

ranked()
{
    "$examples/rank-nodes.sh" -m machine.yaml -t job.fct "$@"
}

# in_allocation OPTION... COMMAND...: whole nodes
in_allocation()
{
    salloc -Q --exclusive "$@" 2>salloc.log
}

# check_step WHAT NAME: the step's output ran.NAME against its host file hosts.NAME
check_step()
{
    check "$1" "$(hosts_of <"ran.$2")" "$(in_file "hosts.$2")"
}

check_run_mapped()
{
    local strategy i
    for strategy in def random optimize; do
        in_allocation -N 8 "$self" --mapped job.fct -s $strategy $([ $strategy != optimize ] || echo -T 1s) \
            -k hosts.$strategy -- bash -c "$where" >ran.$strategy
        check_step "run-mapped.sh -s $strategy, 16 ranks on 8 nodes" $strategy
    done
    for strategy in def random optimize; do in_file hosts.$strategy; echo; done | sort -u >different
    check 'the three files differ' "$(grep -c . different)" 3
    # A batch script that asked for two tasks a node; the mapping fills some and leaves others empty.
    printf '%s\n' '#!/bin/sh' "'$self' --mapped job.fct -T 1s -k hosts.batch -- sh -c '$where' >ran.batch" \
        'echo $? >status' 'mv status status.batch' >job.sh
    sbatch -Q -N 8 --ntasks-per-node=2 --exclusive -o batch.log job.sh
    for ((i = 0; i < 150; i++)); do [ -f status.batch ] && break; sleep 0.2; done
    check_step 'run-mapped.sh in a batch script that asked for tasks by node' batch
    check 'and its status' "$(cat status.batch)" 0
    in_allocation -w 'cn[02,05-07]' "$self" --mapped job.fct -s random -k hosts.some -- \
        bash -c "$where" >ran.some
    check_step 'run-mapped.sh on four scattered nodes' some
    in_allocation -N 4 "$self" --mapped job.fct -s def -- sh -c 'exit 7'
    check "run-mapped.sh returns srun's status" $? 7
}

check_run_mapped_refusals()
{
    mapped job.fct -- true 2>message
    check_refused 'run-mapped.sh outside an allocation' $? 'no allocation (SLURM_JOB_ID is not set)'
    salloc -Q -N 3 --exclusive "$self" --mapped job.fct -- true 2>message
    check_refused 'run-mapped.sh, 16 ranks on 3 nodes of 4 cores' $? \
        '16 ranks but the 3 allowed nodes have 12 cores'
    salloc -Q -N 4 --ntasks-per-node=2 "$self" --mapped job.fct -- true 2>message
    check_refused 'run-mapped.sh, 2 of 4 cores allocated' $? \
        'would get 4 ranks of 1 CPUs, this allocation has 2 CPUs there'
    salloc -Q -N 4 --exclusive "$self" --mapped missing.fct -- true 2>message
    check_refused 'run-mapped.sh, no trace' $? 'no recording that fabricast reads'
    mapped job.fct 2>message
    check_refused 'run-mapped.sh, no program' $? 'usage: run-mapped.sh'
}

check_rank_nodes()
{
    local best direct
    ranked 'cn[00-01,04-05]' 'cn[04-07]' >table
    check 'rank-nodes.sh: one leaf before two' "$(tail -1 table)" '--nodelist=cn[04-07]'
    best=$(awk 'NR == 2 { print $1 }' table)
    direct=$("$fabricast" predict -m machine.yaml -t job.fct --nodes 'cn[04-07]' -q --json |
             sed -n 's/.*"time_s": *\([-+.0-9e]*\).*/\1/p')
    check 'rank-nodes.sh: the time of predict' "$best" "$(awk -v t="$direct" 'BEGIN { printf "%.6g", t }')"
    # One node of the first leaf is busy: only the second has four idle ones.
    salloc -Q -N 1 -w cn01 --exclusive --no-shell 2>held
    ranked -N 4 >table
    check 'rank-nodes.sh -N: the leaf that is idle' "$(tail -1 table)" '--nodelist=cn[04-07]'
    check 'rank-nodes.sh -N: no list with a busy node' "$(grep -c cn01 table)" 0
    in_allocation "$(tail -1 table)" "$self" --mapped job.fct -T 1s -k hosts.best -- \
        bash -c "$where" >ran.best
    check_step 'its first list, run with run-mapped.sh' best
    ranked -N 8 2>message
    check_refused 'rank-nodes.sh -N 8 with 7 idle' $? '7 nodes are idle, 8 are asked for'
    ranked 'cn[00-03]' 'xx[00-03]' 2>message
    check_refused 'rank-nodes.sh, hosts not in the machine' $? 'no prediction'
    scancel -u root
}

# The filter beside slurm.conf: a plain srun of a known program lands as fabricast maps it; nothing that fabricast does, or does
# not, keeps a step from starting.
filtered()
{
    in_allocation -N $n_nodes env FABRICAST_MACHINE="$PWD/machine.yaml" FABRICAST_TRACES="$PWD/traces" FABRICAST="$1" FABRICAST_SECONDS=${hold:-3} \
        srun -Q -n $((2 * n_nodes)) "${@:2}" "$PWD/where.sh" | hosts_of
}
check_filter()
{
    local in_order began
    if ! find /usr/lib -name cli_filter_lua.so | grep -q .; then
        echo '  SKIPPED the filter: this Slurm has no cli_filter/lua'
        return
    fi
    mkdir traces
    printf '#!/bin/sh\n%s\n' "$where" >where.sh && chmod +x where.sh
    cp job.fct traces/where.sh-16.fct
    in_order=$(filtered /bin/false)
    check 'filter: a fabricast that fails leaves the step' "$(echo "$in_order" | wc -w)" 16
    "$fabricast" map -m machine.yaml -t job.fct --nodes 'cn[00-07]' --strategy optimize --time 1s --format slurm -o hosts.filter -q >/dev/null
    check 'filter: a plain srun lands as mapped' "$(filtered "$fabricast")" "$(in_file hosts.filter)"
    check 'filter: the order that a user asks for stays' "$(filtered "$fabricast" -m block)" "$in_order"
    check 'filter: a step on some of the nodes stays' "$(filtered "$fabricast" -N 4 | tr ' ' '\n' | sort -u | wc -l)" 4
    printf '#!/bin/sh\nsleep 60\n' >slow && chmod +x slow
    began=$SECONDS
    check 'filter: a fabricast that hangs leaves the step' "$(filtered "$PWD/slow")" "$in_order"
    check 'filter: and holds it up for its time-out' "$((SECONDS - began < 12))" 1
    mv traces/where.sh-16.fct traces/other-16.fct
    check 'filter: an unknown program stays' "$(filtered "$fabricast")" "$in_order"
}

# Open MPI and MPICH as Slurm starts them, and Open MPI's own launcher in an allocation.
check_mpi_in_slurm()
{
    local format
    export OMPI_MCA_btl_tcp_if_include=lo OMPI_MCA_oob_tcp_if_include=lo
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    if [ -x where.openmpi ] && srun --mpi=list 2>&1 | grep -q pmix; then
        in_allocation -N 8 "$self" --mapped job.fct -s random -k hosts.pmix -- \
            --mpi=pmix ./where.openmpi >ran.pmix
        check_step 'Open MPI, run-mapped.sh -- --mpi=pmix' pmix
    else
        echo '  SKIPPED Open MPI under srun: no Open MPI, or no pmix plugin of Slurm'
    fi
    if [ -x where.mpich ] && srun --mpi=list 2>&1 | grep -q pmi2; then
        in_allocation -N 8 "$self" --mapped job.fct -s random -k hosts.pmi2 -- \
            --mpi=pmi2 ./where.mpich >ran.pmi2
        check_step 'MPICH, run-mapped.sh -- --mpi=pmi2' pmi2
    else
        echo '  SKIPPED MPICH under srun: no MPICH, or no pmi2 plugin of Slurm'
    fi
    [ -x where.openmpi ] || return
    for format in rankfile rankfile-relative; do
        map_random 1 job8.fct $format file.$format
        map_random 1 job8.fct slurm hosts.$format
        in_allocation -N 8 "$openmpi" --bind-to none --rankfile file.$format -n 8 ./where.openmpi >ran.$format
        check_step "Open MPI, $format inside salloc" $format
    done
}

# Hosts without Slurm, one rank on each: a slot is a core, and Open MPI looks for the cores that are really
# here.
check_mpi()
{
    local ompi format
    for format in slurm rankfile seq hostfile; do
        map_random 1 job8.fct $format mpi.$format
    done
    lab_write_agent "$PWD/agent"
    if [ -x where.openmpi ]; then
        ompi="$openmpi --allow-run-as-root --bind-to none --mca plm rsh --mca plm_rsh_agent $PWD/agent
              --mca oob_tcp_if_include lo --mca btl_tcp_if_include lo --mca orte_tmpdir_base $PWD -n 8"
        check 'Open MPI, --rankfile' "$($ompi --rankfile mpi.rankfile ./where.openmpi 2>mpi.log | hosts_of)" \
            "$(in_file mpi.slurm)"
        check 'Open MPI, seq' \
            "$($ompi --mca rmaps seq --hostfile mpi.seq ./where.openmpi 2>mpi.log | hosts_of)" \
            "$(in_file mpi.slurm)"
        if "$openmpi" --version | grep -q 'MPI) [5-9]'; then
            check 'Open MPI 5, --map-by rankfile:file=' "$(in_file mpi.slurm)" \
                "$($ompi --map-by rankfile:file=mpi.rankfile ./where.openmpi 2>mpi.log | hosts_of)"
        else
            echo '  SKIPPED --map-by rankfile:file=: this Open MPI is older than 5'
        fi
    fi
    [ -x where.mpich ] || return
    map_random 4 job.fct hostfile mpi.hostfile
    map_random 4 job.fct slurm mpi.slurm
    check 'MPICH, -f host file' "$(in_file mpi.slurm)" \
        "$("$mpich" -launcher ssh -launcher-exec "$PWD/agent" -f mpi.hostfile -n 16 ./where.mpich 2>mpi.log |
           hosts_of)"
}

# map_random CORES TRACE FORMAT FILE: the same random mapping in any format
map_random()
{
    sed "s/cores: $cores/cores: $1/" machine.yaml >random.yaml
    "$fabricast" map -m random.yaml -t "$2" --nodes 'cn[00-07]' --strategy random --seed 5 \
        --format "$3" -o "$4" -q >/dev/null
}

# Four nodes, eight ranks: a host file, a step as the filter maps it, a broken fabricast; Open MPI and MPICH by their own launchers.
check_quick()
{
    local in_order
    lab_write_agent "$PWD/agent"
    sed 's/cores: 4/cores: 1/' machine.yaml >one.yaml
    "$fabricast" map -m one.yaml -t job8.fct --nodes 'cn[00-03]' --strategy random --seed 5 --format json -o quick.json -q >/dev/null
    for format in slurm rankfile hostfile; do
        "$fabricast" map -m one.yaml -t job8.fct --nodes 'cn[00-03]' --strategy json:quick.json --format $format -o mpi.$format -q \
            >/dev/null
    done
    [ ! -x where.mpich ] || check 'MPICH, -f host file' "$(in_file mpi.slurm)" \
        "$("$mpich" -launcher ssh -launcher-exec "$PWD/agent" -f mpi.hostfile -n 4 ./where.mpich 2>mpi.log | hosts_of)"
    [ ! -x where.openmpi ] || check 'Open MPI, --rankfile' "$(in_file mpi.slurm)" \
        "$("$openmpi" --allow-run-as-root --bind-to none --mca plm rsh --mca plm_rsh_agent "$PWD/agent" --mca oob_tcp_if_include lo \
            --mca btl_tcp_if_include lo --mca orte_tmpdir_base "$PWD" -n 4 --rankfile mpi.rankfile ./where.openmpi 2>mpi.log | hosts_of)"
    [ "$1" = slurm ] || return
    start_slurm || { echo "  SKIPPED Slurm, which does not start here: $(cat slurm/log/*.err 2>/dev/null | tail -1)"; return; }
    in_allocation -N 4 "$self" --mapped job.fct -s random -k hosts.random -- bash -c "$where" >ran.random
    check_step 'Slurm, run-mapped.sh -s random' random
    find /usr/lib -name cli_filter_lua.so | grep -q . || { echo '  SKIPPED the filter: this Slurm has no cli_filter/lua'; return; }
    mkdir traces
    printf '#!/bin/sh\n%s\n' "$where" >where.sh && chmod +x where.sh
    cp job.fct traces/where.sh-8.fct
    printf '#!/bin/bash\nexec "%s" "${@/#1s/0.01s}"\n' "$fabricast" >soon && chmod +x soon # a shorter search than the filter asks for
    ./soon map -m machine.yaml -t job.fct --nodes 'cn[00-03]' --strategy optimize --time 1s --format slurm -o hosts.filter -q >/dev/null
    in_order=$(hold=20 filtered /bin/false)
    check 'Slurm, filter: a fabricast that fails leaves the step' "$(echo "$in_order" | wc -w)" 8
    check 'Slurm, filter: a plain srun lands as mapped' "$(hold=20 filtered "$PWD/soon")" "$(in_file hosts.filter)"
}

inside()
{
    cd "$1" || exit 3
    openmpi=$2 mpich=$3
    resolve_hosts && write_machine || { echo 'FAILED: the hosts cannot be set up'; exit 3; }
    if [ "$5" = --quick ]; then
        check_quick "$4"
        echo "$passed passed, $failed failed"
        exit $((failed > 0))
    fi
    if [ -x where.openmpi ] || [ -x where.mpich ]; then check_mpi; fi
    if [ "$4" = slurm ]; then
        if start_slurm; then
            check_run_mapped
            check_run_mapped_refusals
            check_rank_nodes
            check_filter
            check_mpi_in_slurm
        else
            echo "FAILED: Slurm did not start: $(cat slurm/log/*.err 2>/dev/null | tail -1)"
            failed=1
        fi
    fi
    echo "$passed passed, $failed failed"
    [ $failed = 0 ]
}

case ${1:-} in
    --inside)
        shift
        inside "$@"
        exit ;;
    --mapped) # what salloc and sbatch start
        shift
        mapped "$@"
        exit ;;
esac

quick=
case ${1:-} in
    '') ;;
    --quick) quick=--quick ;;
    *) echo "usage: ${0##*/} [--quick]" >&2; exit 2 ;;
esac

skip()
{
    echo "SKIPPED: $*"
    exit 0
}

[ "$(id -u)" = 0 ] || skip 'no real launchers: namespaces need root'
for tool in ip unshare nsenter mount; do
    type -P $tool >/dev/null ||
        skip "no real launchers: no $tool (Debian packages iproute2, util-linux, mount)"
done
unshare --pid --fork --kill-child --mount --mount-proc --uts --net --ipc -- sh -c \
    'mount -t tmpfs tmpfs /run && ip link add name lab0 type veth peer name lab1' 2>/dev/null ||
    skip 'no real launchers: namespaces are not to be had here'
[ -x "$fabricast" ] || { echo "no $fabricast" >&2; exit 2; }

[ -z "${KEEP:-}" ] || [ -z "$(ls -A "$KEEP" 2>/dev/null)" ] ||
    { echo "KEEP: $KEEP is not empty" >&2; exit 2; }
work=$(realpath -m "${KEEP:-$(mktemp -d /tmp/fabricast-slurm-XXXXXX)}")
mkdir -p "$work" && chmod 755 "$work" || exit 2
[ -n "${KEEP:-}" ] || trap 'rm -rf "$work"' EXIT
slurm=slurm openmpi='' mpich=''
for tool in slurmctld slurmd srun salloc sbatch munged; do
    type -P $tool >/dev/null || slurm=
done
[ -n "$slurm" ] || echo 'SKIPPED: Slurm is not installed (Debian packages slurm-wlm, munge)'
for tool in mpirun.openmpi mpirun; do
    [ -z "$openmpi" ] && $tool --version 2>/dev/null | grep -qE 'Open ?(MPI|RTE)' && openmpi=$tool
done
for tool in mpicc.openmpi mpicc; do
    [ -n "$openmpi" ] && [ ! -x "$work/where.openmpi" ] && $tool --showme:version >/dev/null 2>&1 &&
        $tool -O2 -o "$work/where.openmpi" "$tests/mpi/where.c"
done
[ -x "$work/where.openmpi" ] ||
    echo 'SKIPPED: Open MPI is not installed (Debian packages openmpi-bin, libopenmpi-dev)'
for tool in mpirun.mpich mpiexec.hydra; do
    [ -z "$mpich" ] && type -P $tool >/dev/null && mpich=$tool
done
[ -n "$mpich" ] && type -P mpicc.mpich >/dev/null &&
    mpicc.mpich -O2 -o "$work/where.mpich" "$tests/mpi/where.c"
[ -x "$work/where.mpich" ] || echo 'SKIPPED: MPICH is not installed (Debian packages mpich, libmpich-dev)'
export fabricast FABRICAST=$fabricast
[ -z "$quick" ] || export NODES=4
lab_enter "$self" --inside "$work" "$openmpi" "$mpich" "$slurm" "$quick"
