"""Predictions on `aurora` against HPE's published validation logs of a Slingshot 11 system with eight NICs a node.

    python3 tests/slingshot.py FABRICAST

Source of all measured figures: HewlettPackard/shs-docs, commit ef07c6c, docs/portal/developer-portal/fabric_validation,
fabric_validation_using_osu_tests.md and fabric_validation_using_dgnettest.md. The system is not named; its groups (up to 102) and NICs
are Aurora's.

OSU (64 nodes, four processes a NIC): all pairs of nodes are alike, so one pair is predicted, on the same switches. osu_multi_lat is
predicted with one process a NIC: at 4 MiB its 17.9 GB/s a pair would be 571 GB/s a node of 200, so its pairs did not share NICs at a time.

dgnettest (131072 B a message, one process a NIC): its all2all is MPI_Alltoall (its manual page in cray-diags-fabric), what bisect sends is
not published. Modelled as: all2all, each process sends to all others; bisect, each process exchanges with those of the other half in turn;
WINDOW messages under way in both; so many rounds are enough. The bandwidth is ranks x bytes over the seconds a repetition, as in the log. Nodes: the log's sets of switches give
how many nodes of a group hang on which four switches. Its script gives each process a NIC (MPICH_OFI_NIC_MAPPING), so bisect is predicted NIC
by NIC: a node of OWN_NIC is one of aurora's NICs. all2all is predicted with the file's nodes, whose messages take their NICs in turn, and, shown
only, NIC by NIC.

Fitted: the end points of aurora.yaml by hand to the OSU rows, all of them in sight; the share of traffic
within a group that goes over a third switch to groups 55 and 98. The window, and 16 paths a message instead of 8, were chosen with all
of dgnettest's rows in sight: these are no judges. The last column says what must hold; a set marked "not reached" is printed and holds nobody up.
"""
import json
import os
import subprocess
import sys
import tempfile

BYTES, RANKS, MIB = 131072, 8, 1 << 20
WINDOW, ROUNDS = 2, 40
# Sixteen nodes of one NIC a switch.
OWN_NIC = ["network.rails=[1]", "network.node_links=[1]", "network.nodes_per_cell=[512]", "node.ports=1", "node.cores=13"]

LATENCY_US = {1: 4.35, 64: 4.20, 128: 5.15, 256: 5.63, 1024: 5.76, 2048: 5.89, 4096: 6.22, 8192: 12.36, 16384: 13.03, 32768: 14.84,
              65536: 17.52, 131072: 21.23, 262144: 27.87, 1048576: 67.84, 4194304: 234.77}
RATE_MB_PER_S = {1: 2238.68, 64: 136488.16, 128: 264199.64, 256: 504191.55, 512: 1002982.31, 1024: 1883179.25, 2048: 2786505.95,
                 4096: 3245610.39, 8192: 3492389.73, 16384: 4770180.77, 32768: 5106849.27, 65536: 5443378.29, 1048576: 5558304.69,
                 4194304: 5457474.28}
# Nodes of the set: bisect, all2all; MiB/s a process, the mean of the log's second iteration over sets of that size.
SWITCH = {4: (8791, 14378), 5: (7536, 14590), 6: (8784, 14204), 7: (7490, 13501)}
# Nodes on each four switches, by the switch that names the set; bisect, all2all of the last iteration.
GROUP = {55: ({10: 4, 14: 5, 18: 5, 22: 4, 26: 4, 30: 2}, 7567.45, 10079.43),
         98: ({2: 4, 6: 5, 10: 3, 14: 6, 18: 4, 22: 6, 26: 6, 30: 3}, 7500.82, 10400.47),
         101: ({2: 6, 6: 4, 10: 5, 14: 5, 18: 4, 22: 5, 26: 4, 30: 5}, 7523.17, 10406.14)}


def write(path, events):
    n = len(events)
    with open(path, "w") as out:
        out.write(f"fabricast-trace 1\nprogram test\nranks {n}\ncomm 0 0-{n - 1}\nevents {sum(map(len, events))}\n")
        for rank, own in enumerate(events):
            out.write(f"rank {rank} {len(own)}\n" + "".join(f"{event}\n" for event in own))
        out.write("end\n")


def call(op, peer, size, tag=0, request=None):
    return f"{op} 0 0 0 comm=0 peer={peer} tag={tag} bytes={size}" + ("" if request is None else f" request={request}")


def ping_pong(pairs, size, n):
    """osu_multi_lat: n messages each way."""
    def own(rank):
        peer = (rank + pairs) % (2 * pairs)
        two = [call("send", peer, size), call("recv", peer, size)]
        return (two if rank < pairs else two[::-1]) * n
    return [own(rank) for rank in range(2 * pairs)]


def windows(pairs, size, window, n):
    """osu_mbw_mr: n windows of messages and an answer."""
    def own(rank):
        peer, out, first = (rank + pairs) % (2 * pairs), [], rank < pairs
        for i in range(n):
            numbers = range(i * window, (i + 1) * window)
            out += [call("isend" if first else "irecv", peer, size, 0, k) for k in numbers]
            out += [f"wait 0 0 0 requests={numbers[0]}-{numbers[-1]}", call("recv" if first else "send", peer, 4, 1)]
        return out
    return [own(rank) for rank in range(2 * pairs)]


def exchanges(n, window, rounds, peers):
    """Each rank sends to, and receives from, peers(rank, round), with `window` such exchanges under way."""
    events = []
    for rank in range(n):
        out, pending = [], []
        for k in range(rounds):
            to, source = peers(rank, k)
            out += [call("irecv", source, BYTES, k, 2 * k), call("isend", to, BYTES, k, 2 * k + 1)]
            pending.append(k)
            if len(pending) == window:
                done = pending.pop(0)
                out.append(f"wait 0 0 0 requests={2 * done}-{2 * done + 1}")
        out += [f"wait 0 0 0 requests={2 * k}-{2 * k + 1}" for k in pending]
        events.append(out)
    return events


def all_to_all(n):
    return exchanges(n, WINDOW, min(ROUNDS, n - 1), lambda rank, k: ((rank + k + 1) % n, (rank - k - 1) % n))


def bisection(n):
    half = n // 2

    def peers(rank, k):
        other = half + (rank + k) % half if rank < half else (rank - half - k) % half
        return other, other
    return exchanges(n, WINDOW, min(ROUNDS, half), peers)


def nics(nodes):
    """The nodes' NICs as nodes of OWN_NIC: eight nodes on four switches, two NICs each on every one."""
    return [16 * (4 * (node // 8) + nic // 2) + 2 * (node % 8) + nic % 2 for node in nodes for nic in range(RANKS)]


def predicted_s(program, folder, events, nodes, ranks, settings=()):
    path = os.path.join(folder, "t")
    write(path, events)
    out = subprocess.run([program, "predict", "-t", path, "-m", "aurora", "--nodes", ",".join(map(str, nodes)), "--ranks-per-node",
                          str(ranks), "--json", *(word for s in settings for word in ("--set", s))], capture_output=True, text=True)
    if out.returncode:
        sys.exit(out.stderr)
    answer = json.loads(out.stdout)
    return answer["time_s"] - answer["computation_s"]


class Table:
    def __init__(self):
        self.failed = False

    def show(self, name, rows, band, at_least=1.0):
        """rows: label: (measured, predicted). at_least: share of them that must be within the band; None: not reached."""
        good = sum(abs(p / m - 1) <= band for m, p in rows.values())
        print(f"{name}: {good} of {len(rows)} within {100 * band:.0f} %" + (" (not reached)" if at_least is None else ""))
        for label, (measured, predicted) in rows.items():
            print(f"    {label:>22}  measured {measured:10.4g}  predicted {predicted:10.4g}  {predicted / measured:5.2f}")
        if at_least is not None and good < at_least * len(rows):
            print(f"    FAILED: {100 * at_least:.0f} % of the rows must be")
            self.failed = True


def main():
    program, table = sys.argv[1], Table()
    with tempfile.TemporaryDirectory() as folder:
        def run(events, nodes, ranks):
            return predicted_s(program, folder, events, nodes, ranks)

        def mib(events, nodes, own_nic=False):
            rounds = sum(event.startswith("isend") for event in events[0])
            time_s = predicted_s(program, folder, events, nics(nodes), 1, OWN_NIC) if own_nic else run(events, nodes, RANKS)
            return rounds * BYTES / time_s / MIB

        table.show("osu_multi_lat, us", {f"{b} B": (m, 1e6 * run(ping_pong(8, b, 4), [0, 1], 8) / 8) for b, m in LATENCY_US.items()},
                   0.2, 0.9)
        table.show("osu_mbw_mr, MB/s of 1024 pairs",
                   {f"{b} B": (m, 1e-6 * 1024 * 128 * b / run(windows(32, b, 64, 2), [0, 1], 32)) for b, m in RATE_MB_PER_S.items()},
                   0.2, 0.9)
        sets = {k: list(range(k)) for k in SWITCH}
        groups = {g: [8 * ((offset - 2) // 4) + i for offset, k in sorted(GROUP[g][0].items()) for i in range(k)] for g in GROUP}
        table.show("dgnettest all2all on four switches, MiB/s a process",
                   {f"{k} nodes": (SWITCH[k][1], mib(all_to_all(RANKS * k), sets[k])) for k in sets}, 0.25)
        table.show("dgnettest all2all in a group",
                   {f"group {g}, {len(n)} nodes": (GROUP[g][2], mib(all_to_all(RANKS * len(n)), n)) for g, n in groups.items()}, 0.25)
        table.show("the same, NIC by NIC",
                   {f"{k} nodes": (SWITCH[k][1], mib(all_to_all(RANKS * k), sets[k], True)) for k in sets} |
                   {f"group {g}, {len(n)} nodes": (GROUP[g][2], mib(all_to_all(RANKS * len(n)), n, True)) for g, n in groups.items()},
                   0.25, None)
        table.show("dgnettest bisect on four switches, NIC by NIC",
                   {f"{k} nodes": (SWITCH[k][0], mib(bisection(RANKS * k), sets[k], True)) for k in sets}, 0.25)
        table.show("dgnettest bisect in a group, NIC by NIC",
                   {f"group {g}, {len(n)} nodes": (GROUP[g][1], mib(bisection(RANKS * len(n)), n, True)) for g, n in groups.items()},
                   0.25)
    return 1 if table.failed else 0


sys.exit(main())
