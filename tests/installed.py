"""Asks the installed library through fabricast.py and the installed program the same, and tells where the answers differ."""
import json
import math
import os
import subprocess
import sys
import threading

import fabricast

TOP = sys.argv[1]
TRACE = os.path.join(TOP, "traces/samples/lammps-lj-64.fct")


def own(*arguments):
    environment = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    out = subprocess.run([os.environ["FABRICAST_PROGRAM"], "predict", *arguments, "--json"], capture_output=True, env=environment)
    return json.loads(out.stdout)


def same(what, a, b):
    if a != b:
        print(f"{what}: the library says {a}, the program {b}")


def refuses(what, code, part, call):
    try:
        call()
    except fabricast.Error as e:
        if e.code != code or part not in str(e):
            print(f"{what}: refused with {e.code}, '{e}'")
    else:
        print(f"{what}: taken")


bgl = fabricast.Machine("bgl-64")  # with its calibration
same("nodes", bgl.nodes, 64)
stencil = fabricast.Job.pattern(bgl, "stencil3d:bytes=64KiB")
before = fabricast.predict(bgl, stencil)
same("a pattern", before.json(), own("-m", "bgl-64", "-p", "stencil3d:bytes=64KiB"))
same("beside others", fabricast.predict(bgl, stencil, background="uniform:20%").json(),
     own("-m", "bgl-64", "-p", "stencil3d:bytes=64KiB", "--background", "uniform:20%"))
same("a trace", fabricast.predict(bgl, fabricast.Job.trace(TRACE)).json(), own("-m", "bgl-64", "-t", TRACE))
if not math.isclose(before.time_s, before.json()["time_s"]) or not before.error_percent > 0:
    print(f"figures: {before.time_s} s +- {before.error_percent} %")
same("loads of links", len(before.link_bytes), bgl.links)
if not before.hottest(1)[0][0] or before.hottest(1)[0][1] > before.time_s:
    print(f"the hottest link is {before.hottest(1)}")

machine = fabricast.Machine("./small.yaml")
square = fabricast.Job.pattern(machine, "stencil2d:bytes=64KiB")
calls = []
after = fabricast.predict(machine, square, map="optimize", search_s=0.1, progress=lambda done: calls.append(done))
same("a search", after.json(), own("-m", "./small.yaml", "-p", "stencil2d:bytes=64KiB", "--map", "optimize", "--time", "0.1s"))
if not calls:
    print("progress was never called")

# traffic in memory: a ring whose neighbours are told to share a node does not use the network
ring = fabricast.Job.traffic(4, [(t, (t + 1) % 4, 1e6) for t in range(4)])
cores = fabricast.predict(machine, ring).json()
there = fabricast.predict(machine, ring, node_of=[3, 3, 5, 5])
same("placed tasks", (there.node_of, there.json()["local_bytes"]), ([3, 3, 5, 5], 2e6))
same("def", cores["mapping"], "def")

# what launchers take
machine.hosts("n[00-07]")
after.launcher("rankfile", "ranks.txt")
with open("ranks.txt") as f:
    lines = f.read().splitlines()
same("the rank file", [line.split("=")[1].split()[0] for line in lines if line.startswith("rank ")],
     ["n%02d" % node for node in after.node_of])
after.launcher("cores", "cores.txt")
same("a mapping file", fabricast.predict(machine, square, map="cores.txt").time_s, after.time_s)
same("named nodes", fabricast.predict(machine, ring, nodes="n[06-07]").node_of,
     fabricast.predict(machine, ring, allowed=[6, 7]).node_of)

refuses("no machine", 2, "no shipped machine", lambda: fabricast.Machine("nowhere"))
refuses("a wrong setting", 2, "network.dims", lambda: fabricast.Machine("bgl-64", ["network.dims=x"]))
refuses("no node", 2, "task 2 is on node 9999", lambda: fabricast.predict(machine, ring, node_of=[0, 1, 9999, 2]))
refuses("no strategy", 2, "neither a strategy", lambda: fabricast.predict(machine, ring, map="nothing"))
refuses("no format", 2, "'nothing' is unknown", lambda: after.launcher("nothing", "x"))
refuses("no trace", 2, "none.fct", lambda: fabricast.Job.trace("none.fct"))
refuses("a task too many", 2, "entry 0", lambda: fabricast.Job.traffic(2, [(0, 2, 1)]))

# two threads on one machine and one job, which are not changed by asking
answers = [None] * 2


def ask(i):
    answers[i] = fabricast.predict(machine, square, map="scotch").json()


threads = [threading.Thread(target=ask, args=(i,)) for i in range(2)]
for t in threads:
    t.start()
for t in threads:
    t.join()
same("two threads", answers[0], answers[1])
same("alone", fabricast.predict(machine, square, map="scotch").json(), answers[0])

try:
    import matplotlib
except ImportError:
    pass
else:
    fabricast.draw([before, after], "figure.png")
    if os.path.getsize("figure.png") < 1000 or math.isnan(before.time_s):
        print("no figure")
