"""Predictions against collectives measured on Fugaku.

    python3 tests/measured.py FABRICAST COLLECTIVES.tsv

COLLECTIVES.tsv: columns system, run, nodes (X x Y x Z of the job's torus), ppn, collective, algorithm, total_bytes, ..., median_us; the
rows of HLC-Lab/pico (commit 413bc5d). Each row becomes a trace of one call and is predicted on fugaku-torus with the algorithm that the
row names. The end points of that machine file were fitted to 2x2x2, 256 B to 64 MiB, so those rows are shown apart, and only
others are judged. Names are FJMPI's own (coll_select_..._algorithm), which --collectives takes; `default` is its own choice, shown apart. Left
out, and counted: algorithms that FJMPI alone has, and names behind which something else runs (NOT_AS_NAMED).

8 nodes cannot show what hundreds of partners or of packed blocks cost: eager_partners, eager_beyond and pack_per_block were chosen
on half of the sizes (SEEN) of the algorithms of 8x8x8 that show them (SEEN_IN). Those rows are printed and not judged.
"""
import collections
import csv
import json
import math
import os
import subprocess
import sys
import tempfile

# Forced by that name another algorithm runs: its times are those of the library's own choice, or of its own algorithms one after
# the other (docs/collectives.md).
NOT_AS_NAMED = {("bcast", "basic-linear"), ("allgather", "linear"), ("allgather", "gtbc"), ("allreduce", "nonoverlapping"),
                ("allreduce", "rdbc"), ("reduce_scatter", "non-overlapping"), ("gather", "linear-sync"),
                ("reduce", "in-order-binary"), ("bcast", "split-binary-tree")}
# Rounds among thousands of ranks that take minutes to replay.
SLOW = {"linear", "basic-linear", "basic_linear", "linear-sync", "ring", "segmented_ring", "pairwise", "chain", "pipeline",
        "neighbor", "default"}
SEEN_IN = {("alltoall", "modified-bruck"), ("gather", "basic-linear"), ("scatter", "basic-linear"), ("reduce", "linear")}
SEEN = {2048, 131072, 8388608}
LEAST, MOST = 256, 1 << 26


def trace(path, n, op, total):
    size = {"alltoall": total // n, "allgather": total // n, "gather": total // n, "scatter": total // n,
            "reduce_scatter": total // n}.get(op, total)
    root = "root=0 " if op in ("bcast", "reduce", "gather", "scatter") else ""
    with open(path, "w") as out:
        out.write(f"fabricast-trace 1\nprogram {op}\nranks {n}\ncomm 0 0-{n - 1}\nevents {n}\n")
        for rank in range(n):
            out.write(f"rank {rank} 1\n{op} 0 0 0 comm=0 {root}bytes={size}\n")
        out.write("end\n")


def predicted_s(program, path, shape, op, algorithm):
    out = subprocess.run([program, "predict", "-t", path, "-m", "fugaku-torus", "--set", f"network.dims=[{shape.replace('x', ',')}]",
                          "--ranks-per-node", "1", "--collectives", f"{op}=default-{algorithm}", "--json"],
                         capture_output=True, text=True)
    if "unknown algorithm" in out.stderr:
        return None
    if out.returncode:
        sys.exit(out.stderr)
    return json.loads(out.stdout)["communication_s"]


def read(path):
    rows, left_out = collections.defaultdict(list), 0
    for row in csv.DictReader(open(path), delimiter="\t"):
        if row["system"] != "fugaku" or not row["algorithm"].startswith("default-"):
            continue
        op, algorithm, total = row["collective"].lower(), row["algorithm"][8:], int(row["total_bytes"])
        n = math.prod(int(k) for k in row["nodes"].split("x"))
        if (op, algorithm) in NOT_AS_NAMED or total < n or not LEAST <= total <= MOST:
            left_out += 1
        elif n <= 512 or algorithm not in SLOW:
            rows[row["nodes"], op, algorithm, total].append(1e-6 * float(row["median_us"]))
    return {key: sorted(times)[len(times) // 2] for key, times in rows.items()}, left_out


def judged(key):
    return not (key[0] == "8x8x8" and key[1:3] in SEEN_IN and key[3] in SEEN)


def summary(ratios):
    off = sorted(abs(r - 1) for r in ratios)
    return f"{len(off):4} rows, median {100 * off[len(off) // 2]:5.1f} % off, {100 * sum(o <= 0.4 for o in off) / len(off):5.1f} % within 40 %"


def pairs(shape, found):
    """Of algorithms of one operation and size that differ by 20 % or more when measured, the share that is ranked alike."""
    alike = n = 0
    for a in found:
        for b in found:
            if a[:2] == b[:2] and a[3] == b[3] and a[0] == shape and judged(a) and judged(b) and found[a][0] > 1.2 * found[b][0]:
                n += 1
                alike += found[a][1] > found[b][1]
    return f"{alike} of {n} pairs ranked alike ({100 * alike / n:.0f} %)" if n else "no pairs"


def main():
    program, path = sys.argv[1:3]
    rows, left_out = read(path)
    found, chosen, unknown = {}, {}, set()
    with tempfile.TemporaryDirectory() as folder:
        for (shape, op, algorithm, total), measured in sorted(rows.items()):
            n = math.prod(int(k) for k in shape.split("x"))
            file = os.path.join(folder, "t")
            trace(file, n, op, total)
            predicted = None if (op, algorithm) in unknown else predicted_s(program, file, shape, op, algorithm)
            if predicted is None:
                unknown.add((op, algorithm))
                left_out += 1
            elif algorithm == "default":
                chosen[shape, op, algorithm, total] = (measured, predicted)
            else:
                found[shape, op, algorithm, total] = (measured, predicted)
    worst = 0
    for shape in sorted({key[0] for key in found | chosen}):
        print(f"\n{shape}" + (", fitted" if shape == "2x2x2" else ", judged"))
        for op, algorithm in sorted({key[1:3] for key in found if key[0] == shape}):
            line = " ".join(f"{key[3]}:{p / m:.2f}" for key, (m, p) in sorted(found.items()) if key[:3] == (shape, op, algorithm))
            print(f"  {op:15}{algorithm:20}{line}")
        for words, low, high in (("up to 16 KiB", 0, 16384), ("above", 16385, 1 << 60)):
            ratios = [p / m for key, (m, p) in found.items() if key[0] == shape and judged(key) and low <= key[3] <= high]
            if ratios:
                print(f"  {words:14} {summary(ratios)}")
                if shape == "8x8x8":
                    off = sorted(abs(r - 1) for r in ratios)
                    worst = max(worst, off[len(off) // 2])
        print(f"  {pairs(shape, found)}")
        for op in sorted({key[1] for key in chosen if key[0] == shape}):
            print(f"  {op:15}{'its own choice':20}" +
                  " ".join(f"{key[3]}:{p / m:.2f}" for key, (m, p) in sorted(chosen.items()) if key[:2] == (shape, op)))
        ratios = [p / m for key, (m, p) in chosen.items() if key[0] == shape]
        if ratios:
            print(f"  {'its own choice':14} {summary(ratios)}")
    print(f"\n{left_out} rows left out: the library's own algorithms, names behind which another one runs, sizes outside {LEAST} B to {MOST >> 20} MiB")
    return 0 if worst <= 0.2 else 1


sys.exit(main())
