# fabric_lab.sh - a rate-limited, statically routed IP network on one machine; sourced by validate_fabric.sh,
# and by validate_slurm.sh for its namespaces.
#
# Every host and every switch is a network namespace, every cable a pair of veth devices with a token bucket
# (tc-tbf) of the cable's rate at either end, every forwarding table static routes, one path for each switch
# and destination. Launchers talk over a bridge of their own, so that their traffic is not on the cables. All
# of it lives in the namespaces that lab_enter makes, and ends with them: nothing of the machine is changed,
# whatever happens.
#
# The buckets cut segments that are joined for offloading, so the rates hold for the bytes of Ethernet frames:
# 1514 of them carry 1448 of a message (14 Ethernet, 20 IP, 32 TCP with time stamps).

# lab_enter COMMAND...: runs it in namespaces of its own and returns its status. Signals end it.
lab_enter()
{
    local status=0
    lab_pid=
    trap '[ -z "$lab_pid" ] || kill -KILL "$lab_pid" 2>/dev/null; exit 143' TERM INT HUP
    unshare --pid --fork --kill-child --mount --mount-proc --uts --net --ipc -- "$@" </dev/null &
    lab_pid=$!
    wait "$lab_pid" || status=$?
    lab_pid=
    trap - TERM INT HUP
    return $status
}

# lab_possible: can this machine have such namespaces, with token buckets?
lab_possible()
{
    unshare --pid --fork --kill-child --mount --mount-proc --uts --net --ipc -- sh -c \
        'mount -t tmpfs tmpfs /run && ip link add name lab0 type veth peer name lab1 &&
         tc qdisc add dev lab0 root tbf rate 10mbit burst 16kb limit 1mb &&
         ip link add name lab2 type bridge' >/dev/null 2>&1
}

# lab_lacks: what a lab of networks needs and this machine has not, on standard output; fails where it has all of it.
lab_lacks()
{
    local tool
    [ "$(id -u)" = 0 ] || { echo 'namespaces need root'; return 0; }
    for tool in ip tc nsenter unshare sysctl; do
        type -P $tool >/dev/null || { echo "no $tool (Debian packages iproute2, util-linux, procps)"; return 0; }
    done
    return 1
}

# lab_find_openmpi: sets launcher and compiler to those of Open MPI; fails where one is not there.
lab_find_openmpi()
{
    local tool
    launcher='' compiler=''
    for tool in mpirun.openmpi mpirun; do
        [ -z "$launcher" ] && $tool --version 2>/dev/null | grep -qE 'Open ?(MPI|RTE)' && launcher=$tool
    done
    for tool in mpicc.openmpi mpicc; do
        [ -z "$compiler" ] && $tool --showme:version >/dev/null 2>&1 && compiler=$tool
    done
    [ -n "$launcher" ] && [ -n "$compiler" ]
}

# lab_shortest_routes CABLES: on standard output "SWITCH HOST NEXT" for every switch and host. Two shortest
# paths are refused: fabricast would split traffic over both, and these tables do not.
lab_shortest_routes()
{
    awk '
    { neighbour[$1] = neighbour[$1] " " $2; neighbour[$2] = neighbour[$2] " " $1 }
    function from(host,    queue, head, tail, v, parts, n, i, w, distance, next_of) {
        queue[tail++] = host
        distance[host] = 0
        while (head < tail) {
            v = queue[head++]
            n = split(neighbour[v], parts, " ")
            for (i = 1; i <= n; i++) {
                w = parts[i]
                if (w in distance) {
                    if (distance[w] == distance[v] + 1) {
                        print "two shortest paths from " w " to " host >"/dev/stderr"
                        exit 1
                    }
                    continue
                }
                distance[w] = distance[v] + 1
                next_of[w] = v
                if (w ~ /^s/) queue[tail++] = w
            }
        }
        for (w in next_of) if (w ~ /^s/) print w, host, next_of[w]
    }
    END { for (v in neighbour) if (v ~ /^n/) from(v) }' "$1"
}

# lab_end NAME DEVICE RATE: one end of a cable
lab_end()
{
    ip -n "$1" link set "$2" up
    ip netns exec "$1" tc qdisc add dev "$2" root tbf rate "${3}mbit" burst "${lab_burst:-4kb}" limit 4mb
}

# lab_vertex NAME: a host n0.. or a switch s0..
lab_vertex()
{
    ip netns add "$1"
    ip -n "$1" link set lo up
    case $1 in
        s*) ip netns exec "$1" sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0 \
                net.ipv4.conf.default.rp_filter=0
            ip -n "$1" addr add "10.99.0.$((10#${1#s} + 1))/32" dev lo ;;
        n*) # What flows have under way, the window of their routes, never fills a queue: nothing is lost. What
            # waits in sockets is more, so that ranks that wait for a processor do not hold up their messages.
            ip netns exec "$1" sysctl -qw net.ipv4.tcp_congestion_control=reno \
                net.ipv4.tcp_no_metrics_save=1 \
                net.ipv4.tcp_rmem="4096 524288 524288" net.ipv4.tcp_wmem="4096 524288 524288" \
                net.ipv4.tcp_slow_start_after_idle=0 net.ipv4.tcp_moderate_rcvbuf=0 ;;
    esac
}

# lab_cable A B: the devices to-B of A and to-A of B, joined at once
lab_cable()
{
    ip link add name "to-$2" netns "$1" type veth peer name "to-$1" netns "$2"
}

# lab_slow_cable A B NUMBER: the same by way of two devices in the namespace `wire`
lab_slow_cable()
{
    ip link add name "to-$2" netns "$1" type veth peer name "w$3a" netns wire &&
        ip link add name "w$3b" netns wire type veth peer name "to-$1" netns "$2" &&
        ip -n wire link set "w$3a" up && ip -n wire link set "w$3b" up
}

# lab_build CABLES ROUTES: lines "A B MBIT [MICROSECONDS]" and "SWITCH HOST NEXT"; hosts n00.. hang on one switch each. A cable's
# time is each way; lab_delay is the program that takes it (lab_delay.c), lab_window what a connection may have under way. Sets
# what a launcher needs: lab_agent (an ssh that stays on this machine), lab_hosts (names in order), names that
# resolve at once.
lab_build()
{
    local cables=$1 routes=$2 a b rate delay name i at=$lab_work slow='' number=0
    mount -t tmpfs tmpfs /run && mkdir /run/netns || return 1
    ip link set lo up
    hostname head
    lab_hosts=$(awk '{ print $1; print $2 }' "$cables" | grep '^n' | sort -u)
    { cat /etc/hosts; echo "10.66.0.254 head"
      for name in $lab_hosts; do echo "10.66.0.$((10#${name#n} + 1)) $name"; done; } >"$at/hosts"
    mount --bind "$at/hosts" /etc/hosts || return 1
    ip link add name mgmt type bridge && ip link set mgmt up &&
        ip addr add 10.66.0.254/24 dev mgmt || return 1
    for name in $(awk '{ print $1; print $2 }' "$cables" | sort -u); do lab_vertex "$name" || return 1; done
    ip netns add wire && ip netns exec wire sysctl -qw net.ipv6.conf.all.disable_ipv6=1 || return 1
    while read -r a b rate delay; do
        if [ -z "$delay" ]; then
            lab_cable "$a" "$b" || return 1
        else
            number=$((number + 1)) slow="$slow w${number}a w${number}b $delay"
            lab_slow_cable "$a" "$b" $number || return 1
        fi
        lab_end "$a" "to-$b" "$rate" && lab_end "$b" "to-$a" "$rate" || return 1
        case $b in n*)
            i=$((10#${b#n} + 1))
            ip -n "$b" addr add "10.77.0.$i/32" dev "to-$a"
            ip -n "$b" route add 10.77.0.0/16 via "10.99.0.$((10#${a#s} + 1))" dev "to-$a" onlink \
                rto_min 2s window ${lab_window:-24000}
            ip link add name "m$i" type veth peer name mgmt netns "$b"
            ip link set "m$i" master mgmt up
            ip -n "$b" addr add "10.66.0.$i/24" dev mgmt
            ip -n "$b" link set mgmt up ;;
        esac
    done <"$cables"
    while read -r a b name; do
        i="10.77.0.$((10#${b#n} + 1))"
        case $name in
            n*) ip -n "$a" route add "$i" dev "to-$name" ;;
            s*) ip -n "$a" route add "$i" via "10.99.0.$((10#${name#s} + 1))" dev "to-$name" onlink ;;
        esac || return 1
    done <"$routes"
    [ -z "$slow" ] || { ${lab_priority:-} ip netns exec wire "$lab_delay" $slow & }
    lab_agent=$at/agent
    lab_write_agent "$lab_agent"
}

# lab_dropped: segments that all queues of all cables have dropped
lab_dropped()
{
    local name
    for name in $(ip netns list | awk '{ print $1 }'); do
        ip netns exec "$name" tc -s qdisc show
    done | sed -n 's/.*(dropped \([0-9]*\),.*/\1/p' | awk '{ n += $1 } END { print n + 0 }'
}

# lab_write_agent FILE: an ssh for launchers that stays on this machine, with the host name of the host that
# it is told, in the host's network where it has one
lab_write_agent()
{
    cat >"$1" <<'AGENT'
#!/bin/bash
while [ $# -gt 0 ]; do
    case $1 in
        -[xnqTAXY]) shift ;;
        -[lpoi]) shift 2 ;;
        *) break ;;
    esac
done
host=$1
shift
enter=
[ ! -e "/run/netns/$host" ] || enter="nsenter --net=/run/netns/$host --"
exec $enter unshare --uts /bin/bash -c "hostname $host; $*"
AGENT
    chmod +x "$1"
}

# lab_mpirun ...: Open MPI's mpirun with data on the cables. Flags 1 of the TCP transport (send only): its put
# protocol sends one direction of a pair after the other. The launcher's own traffic stays on the bridge.
lab_mpirun()
{
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
        ${lab_priority:-} "$lab_launcher" --bind-to none --mca plm rsh --mca plm_rsh_agent "$lab_agent" \
        --mca oob_tcp_if_include 10.66.0.0/24 --mca btl self,tcp --mca pml ob1 --mca btl_tcp_flags 1 \
        --mca btl_tcp_if_include 10.77.0.0/16 --mca btl_tcp_progress_thread 1 --mca mpi_yield_when_idle 1 \
        --mca orte_tmpdir_base "$lab_work" "$@"
}
