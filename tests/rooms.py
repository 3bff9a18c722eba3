"""The order of the rooms, and circles of files.

    python3 tests/rooms.py OBJECTS

Reads every #include of the product, and from its objects (nm) which file calls functions of which other one. Ends with 1, and says why,
where a room includes or calls one above it, where two records have one name, or where there are more circles of files than MOST_CIRCLES: sets of files that all need
each other. Records (fc_..._ops) and lists of them do not count: a list names all, whoever is listed calls what is general.
"""
import os
import re
import subprocess
import sys

# A room may use those before it; figures stand on core alone.
ORDER = ["core", "models", "traces", "solvers", "mapping", "plots", "answer", "serve", "library", "reproduce", "sweep", "cli"]
PLOTS_MAY = {"core", "plots"}
MOST_CIRCLES = 2

bad = []


def allowed(room, used):
    if room == "plots":
        return used in PLOTS_MAY
    return ORDER.index(used) <= ORDER.index(room)


def sources():
    for room in ORDER:
        for folder, _, names in os.walk(room):
            for name in names:
                beside = folder.startswith(("traces/pmpi", "library/reorder", "answer/mpi"))
                if name.endswith((".c", ".h")) and not beside:
                    yield room, os.path.join(folder, name)


def check_includes():
    n = 0
    for room, path in sources():
        for line, text in enumerate(open(path, encoding="utf-8"), 1):
            found = re.match(r'#include "(\w+)/', text)
            if found and found[1] in ORDER:
                n += 1
                if not allowed(room, found[1]):
                    bad.append(f"{path}:{line}: {room}/ includes {text.split()[1]}")
    return n


def check_names():
    """A record's name stands for one thing in the whole product, also in files that never meet."""
    places = {}
    for room in ORDER:
        for folder, _, names in os.walk(room):
            for path in sorted(os.path.join(folder, name) for name in names if name.endswith((".c", ".h"))):
                for line, text in enumerate(open(path, encoding="utf-8"), 1):
                    found = re.match(r"\s*(?:typedef )?(?:struct|enum|union) (fc_\w+) \{", text)
                    if found:
                        places.setdefault(found[1], []).append(f"{path}:{line}")
    bad.extend(f"{p[1]}: {name} is also at {p[0]}" for name, p in sorted(places.items()) if len(p) > 1)


def uses(objects):
    """{file: files whose functions it calls}, as "room/name.o"."""
    paths = [os.path.join(f, n) for room in ORDER for f, _, names in os.walk(os.path.join(objects, room)) for n in names if n.endswith(".o")]
    defined, wanted = {}, {}
    out = subprocess.run(["nm", "-A", "-g", *sorted(paths)], capture_output=True, text=True, check=True).stdout
    for text in out.splitlines():
        path, kind, name = re.match(r"(.+?\.o):[0-9a-f ]*([A-Za-z]) (\S+)", text).groups()
        file = os.path.relpath(path, objects)
        if kind == "U":
            wanted.setdefault(file, set()).add(name)
        elif kind == "T":
            defined[name] = file
    return {file: {defined[n] for n in names if n in defined} - {file} for file, names in wanted.items()}


def check_calls(edges):
    for file, used in sorted(edges.items()):
        for other in sorted(used):
            if not allowed(file.split("/")[0], other.split("/")[0]):
                bad.append(f"{file} calls {other}")


def circles(edges):
    """Strongly connected sets of more than one file (Tarjan)."""
    index, low, stack, on, out = {}, {}, [], set(), []

    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        on.add(v)
        for w in sorted(edges.get(v, ())):
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in on:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            group = []
            while True:
                w = stack.pop()
                on.discard(w)
                group.append(w)
                if w == v:
                    break
            if len(group) > 1:
                out.append(sorted(group))

    for v in sorted(edges):
        if v not in index:
            visit(v)
    return out


def main():
    sys.setrecursionlimit(10000)
    n = check_includes()
    check_names()
    edges = uses(sys.argv[1])
    check_calls(edges)
    found = circles(edges)
    for group in found:
        print("circle:", " ".join(group))
    if len(found) > MOST_CIRCLES:
        bad.append(f"{len(found)} circles of files (at most {MOST_CIRCLES})")
    for text in bad:
        print(text)
    print(f"{n} includes, {len(found)} circles of files")
    return 1 if bad else 0


sys.exit(main())
