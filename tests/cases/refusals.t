# One wrong input a line: the message says what is wrong, where, and what was expected; exit 2 (1: memory, disk).

# An unknown command, option, argument.
$ fabricast predct
! fabricast: unknown command 'predct'; did you mean 'predict'? (`fabricast --help` lists them)
? 2
$ fabricast load --nothing
! fabricast load: unrecognized option '--nothing'
! Try `fabricast load --help' or `fabricast load --usage' for more information.
? 2
$ fabricast list colours
! fabricast: unknown kind 'colours' (known: families, routings, vc-rules, patterns, strategies, collectives, formats, generators, figures)
? 2
$ fabricast list collectives --members 8
! fabricast: times of collectives need both --members N and --loggops L=..,o=..,g=..,G=..
? 2
$ fabricast list collectives --members 8 --loggops L=1us,o=1us,g=3us,G=0
! fabricast: closed forms hold for O = 0 and g <= 2 o (got O = 0 s/B, g = 3e-06 s, o = 1e-06 s)
? 2
$ fabricast list patterns --members 8
! fabricast: --members: for `list collectives` only
? 2
$ fabricast load -m bgl-64 -p uniform --collectives openmpi
! fabricast: --collectives: only a trace has collective calls (expected -t TRACE)
? 2
$ fabricast predict -m bgl-64 -t traces/samples/lammps-lj-64.fct --collectives lam
! fabricast: collectives: unknown set 'lam' (known: mpich, mpich4, openmpi, openmpi5, cray-mpich, fjmpi, hardware, or OP=ALGORITHM)
? 2
$ fabricast predict -m bgl-64 -t traces/samples/lammps-lj-64.fct --collectives bcast=fast
! fabricast: collectives: unknown algorithm 'fast' of bcast (known: binomial, binomial-doubling, linear, chain, pipeline, 3-chains, 4-chains, binary, binary-segments, binomial-segments, 4-nomial, split-binary, scatter+doubling, scatter+doubling-any, scatter+ring, hardware, elan, line, plane)
? 2
$ fabricast trace
! fabricast: no verb (expected trace capture, info, convert or generate)
? 2
$ fabricast load -m bgl-64
! fabricast: no traffic (expected one of -p PATTERN, -g GRAPH, -t TRACE)
? 2
$ fabricast load -p uniform
! fabricast: no machine (expected -m NAME or -m FILE; `fabricast machines` lists)
? 2
$ fabricast load -m bgl-64 -p uniform -g /dev/null
! fabricast: more than one kind of traffic (expected one of -p PATTERN, -g GRAPH, -t TRACE)
? 2

# An option that would have no part in the answer (tests/test_options.c walks them all).
$ fabricast predict -m bgl-64 -p alltoall:bytes=1KiB '--loggops=[['
! fabricast: --loggops: only a trace has end points that take time (expected -t TRACE)
? 2
$ fabricast predict -m bgl-64 -p alltoall:bytes=1KiB --network=ideal
! fabricast: --network: only a trace is replayed on a network model, other traffic is one phase with its contention (expected -t TRACE)
? 2
$ fabricast predict -m bgl-64 -t traces/samples/lammps-lj-16.fct --map def --time 5s
! fabricast: --time: nothing is searched for (expected optimize or exact as mapping, of load --worst-case or --bound lp)
? 2
$ fabricast load -m fugaku -p uniform --split uniform
! fabricast: --split: the routing is not adaptive, its paths have fixed shares
? 2
$ fabricast predict -m bgl-64 -p alltoall -- ls
! fabricast: --: a program is run by `trace capture` and `measure` only (leave out what follows --)
? 2
$ fabricast machines bgl-64 bgl-512
! fabricast: unexpected argument 'bgl-512'
? 2
$ fabricast calibrate -m bgl-64 -o - --json
! fabricast: --json: the calibration itself goes to standard output (expected -o FILE)
? 2
$ fabricast flit -m bgl-64 -p uniform --load 10% --replays
! fabricast flit: unrecognized option '--replays'
! Try `fabricast flit --help' or `fabricast flit --usage' for more information.
? 2
# An abbreviation that may be two; a number that no seed can be; of two the last one counts, but for lists.
$ fabricast load -m bgl-64 -p uniform --se 3
! fabricast load: option '--se' is ambiguous; possibilities: '--set' '--seed'
! Try `fabricast load --help' or `fabricast load --usage' for more information.
? 2
$ fabricast load -m bgl-64 -p uniform --seed 99999999999999999999
! fabricast load: --seed: '99999999999999999999' is too large (allowed: up to 9e18)
! Try `fabricast load --help' or `fabricast load --usage' for more information.
? 2
$ fabricast certify -m no-such -m bgl-64 | head -1
> machine     bgl-64: Blue Gene/L, 4 x 4 x 4 torus (the VHDL test)
$ fabricast predict -m bgl-64 -t traces/samples/lammps-lj-16.fct --map def --map optimize
! fabricast: --map: given more than once (several are one list, --map A,B; --strategy is its other name)
? 2

# A calibration is not begun when it could not be written.
$ fabricast calibrate
! fabricast: no machine (expected -m NAME or -m FILE; `fabricast machines` lists)
? 2
$ fabricast calibrate -m bgl-64 -o /nowhere/at/all.yaml
! fabricast: /nowhere/at/all.yaml: cannot be written: No such file or directory (-o FILE names another place)
? 2
$ fabricast calibrate -m bgl-64 -o - --budget 1ms
! fabricast: a budget of 0.001 s allows no kernel run of bgl-64 or a smaller relative
? 1

# Names.
$ fabricast machines bgl-513
! fabricast: no shipped machine is called 'bgl-513'; did you mean 'bgl-512'? (`fabricast machines` lists them; a path contains '/' or ends in .yaml)
? 2
$ fabricast load -m bgl-64 -p stencil5d
! fabricast: unknown pattern 'stencil5d' (did you mean 'stencil2d'? known: uniform, complement, transpose, tornado, bit-reverse, neighbor, hotregion, alltoall, blocks, hotspot, line-broadcast, plane-broadcast, broadcast, stencil2d, stencil3d, stencil4d, multicast, permutation, group-shift, adversarial, random)
? 2
$ fabricast load -m bgl-64 -p hotregion:fractoin=0.2
! fabricast: pattern hotregion: unknown key 'fractoin' (did you mean 'fraction'? known: fraction, region)
? 2
$ fabricast load -m bgl-64 -p hotregion:fraction=2
! fabricast: pattern hotregion: fraction: '2' is out of range (allowed: 0 to 1)
? 2
$ fabricast load -m bgl-64 -p uniform --routing nca
! fabricast: a torus network cannot do routing 'nca' (it can: dimension-order, adaptive, valiant)
? 2
$ fabricast load -m bgl-64 -p uniform --map best
! fabricast: 'best' is neither a strategy (did you mean 'bsm'? known: def, random, bnm, bdm, bsm, rnm, rdm, shapes, fold, tile, permute, hilbert, greedy, scotch, optimize, exact) nor a mapping file
? 2
$ fabricast load -m bgl-64 -p uniform --split half
! fabricast: --split: 'half' is unknown (expected solver or uniform)
? 2
$ fabricast calibrate -m bgl-64 --vc-rule dateline
! fabricast: --vc-rule: the file beside the machine is for the machine as it is (expected -o FILE)
? 2
$ fabricast calibrate -m percs-16 --vc-rule dateline -o $TMP/c.yaml
! fabricast: --vc-rule: no router.escape of a two-level network chooses rule dateline (percs-16 has hops)
? 2
$ fabricast measure -m nosuch -o $TMP/c.yaml -- mpirun -n 2
! fabricast: no shipped machine is called 'nosuch' (`fabricast machines` lists them; a path contains '/' or ends in .yaml)
? 2
$ fabricast certify -m bgl-64 --vc-rule six-vc
! fabricast: --vc-rule: the torus family has no virtual-channel rule 'six-vc' (it has: none, dateline, direction-ordered, bubble, bubble-direction-ordered)
? 2

# Machine files.
$ cd $TMP; printf 'name: a\nnetwork: {family: torus, dims: [4, 4], size: 3}\nlinks: {torus: {bandwidth: 1 GB/s}}\n' > a.yaml; fabricast machines ./a.yaml
! fabricast: ./a.yaml:2: unknown key 'size' (known: dims, links_per_dim, wrap, longest_line)
? 2
$ cd $TMP; printf 'name: a\nclock: 1 GHz\nnetwork: {family: torus, dims: [4, 4]}\nlinks:\n  torus: {bandwidth: 1 GB/s, latency: 12}\n' > a.yaml; fabricast machines ./a.yaml
! fabricast: ./a.yaml:5: links.torus.latency: '12' is ambiguous (write 12 cycles or 12 ns)
? 2
$ cd $TMP; printf 'name: a\nnetwork: {family: torus, dims: [4, 4]}\nlinks:\n  torus: {bandwidth: 3 ns}\n' > a.yaml; fabricast machines ./a.yaml
! fabricast: ./a.yaml:4: links.torus.bandwidth: '3 ns' is not a quantity (expected bytes/s, e.g. 175 MB/s)
? 2
$ cd $TMP; printf 'name: a\nnetwork: {family: torus, dims: [4, 0]}\nlinks: {torus: {bandwidth: 1 GB/s}}\n' > a.yaml; fabricast machines ./a.yaml
! fabricast: ./a.yaml:2: network.dims: '0' is out of range (allowed: 1 to 4294967295)
? 2
$ cd $TMP; printf 'name: a\nnetwork: {family: torus, dims: [4, -4]}\nlinks: {torus: {bandwidth: 1 GB/s}}\n' > a.yaml; fabricast machines ./a.yaml
! fabricast: ./a.yaml:2: network.dims: '-4' is out of range (allowed: 1 to 4294967295)
? 2
$ cd $TMP; printf 'name: a\nnetwork: {family: torus, dims: [9223372036854775808, 2]}\nlinks: {torus: {bandwidth: 1 GB/s}}\n' > a.yaml; fabricast machines ./a.yaml
! fabricast: ./a.yaml:2: network.dims: '9223372036854775808' is too large (allowed: up to 9e18)
? 2
$ cd $TMP; printf 'name: a\nnetwork: {family: torus, dims: [2000, 2000, 2000]}\nlinks: {torus: {bandwidth: 1 GB/s}}\n' > a.yaml; fabricast machines ./a.yaml
! fabricast: ./a.yaml:2: network.dims: 8e+09 nodes are too many (at most 4294967294 can be held)
? 1
$ cd $TMP; printf 'name: a\nnetwork: {family: fat-tree, children: [40, 40, 40], parents: [1, 0, 4]}\nlinks: {leaf: {bandwidth: 1 GB/s}, up: {bandwidth: 1 GB/s}}\n' > a.yaml; fabricast machines ./a.yaml
! fabricast: ./a.yaml:2: network.parents: '0' is out of range (allowed: 1 to 2147483647)
? 2
$ cd $TMP; printf 'name: a\nnetwork: {family: two-level, supernodes: 4, nodes_per_drawer: 4}\nlinks: {ll: {bandwidth: 1 GB/s}}\n' > a.yaml; fabricast machines ./a.yaml
! fabricast: ./a.yaml:3: links: class 'd' is missing (expected d: {bandwidth: ..., latency: ...})
? 2
$ cd $TMP; printf 'name: a\nnetwork: {family: hypercube}\n' > a.yaml; fabricast machines ./a.yaml
! fabricast: ./a.yaml:2: network.family: 'hypercube' is unknown (known: torus, mesh, fat-tree, tmesh, two-level, dragonfly-plus, graph)
? 2
$ cd $TMP; printf 'name: [a\n' > a.yaml; fabricast machines ./a.yaml
! fabricast: ./a.yaml:2: not YAML: did not find expected ',' or ']'
? 2
$ fabricast machines ./no-such.yaml
! fabricast: ./no-such.yaml: cannot be read: No such file or directory
? 2

# Graphs and traces.
$ cd $TMP; printf '%%%%MatrixMarket matrix coordinate real general\n3 3 1\n4 1 5\n' > g.mtx; fabricast load -m bgl-64 -g g.mtx
! fabricast: g.mtx:3: row: '4' is out of range (allowed: 1 to 3)
? 2
$ cd $TMP; printf '%%%%MatrixMarket matrix coordinate real general\n1000 1000 1\n4 1 5\n' > g.mtx; fabricast load -m bgl-64 -g g.mtx
! fabricast: communication graph has 1000 ranks but the machine has 128 cores
? 2
$ cd $TMP; printf '2 1 001\n2 5\n1 6\n' > g.graph; fabricast load -m bgl-64 -g g.graph
! fabricast: g.graph:3: edge 1-2 weighs 6 here and 5 at line 2
? 2
$ fabricast load -m bgl-64 -g no-such.mtx
! fabricast: no-such.mtx: cannot be read: No such file or directory
? 2
$ fabricast predict -m bgl-64 -p uniform
! fabricast: uniform traffic is a rate, not a number of bytes, so it takes no time (use alltoall:bytes=N for a message between every two nodes)
? 2
$ fabricast predict -m bgl-64 -t traces/samples/lammps-lj-16.fct --network quantum
! fabricast: --network: 'quantum' is unknown (expected ideal, contention, queueing or flit)
? 2
$ fabricast predict -m bgl-64 -p alltoall:bytes=1KiB --nodes 0-99
! fabricast: --nodes: '0-99' is out of range (allowed: 0 to 63)
? 2
$ fabricast predict -m bgl-64 -p alltoall:bytes=1KiB --nodes 0-3
! fabricast: communication graph has 64 ranks, one a node, but only these are allowed: 4 nodes
? 2

# Two halves of a fabric: the hosts that cannot reach each other are named.
$ cd $TMP; printf 'router %s node cn%s\n' a 0 b 1 > halves.txt; printf 'name: halves\nnetwork: {family: graph, file: halves.txt, format: edge-list}\nlinks: {link: {bandwidth: 1 GB/s}}\n' > halves.yaml; fabricast load -m ./halves.yaml --worst-case
! fabricast: no route from node 0 (cn0) to node 1 (cn1)
? 1

# A full disk: nothing is claimed to be written.
$ fabricast list families -o /proc/self/fd/9 9>/dev/full
! fabricast: /proc/self/fd/9: cannot be written: No space left on device
? 1
$ fabricast list families > /dev/full
! fabricast: standard output: No space left on device
? 1

# Traces: cut in the middle, a receive that nobody sends to, ranks that wait for each other.
$ head -c 100000 traces/samples/lammps-lj-16.fct > $TMP/cut.fct; cd $TMP; fabricast predict -m bgl-64 -t cut.fct
! fabricast: cut.fct:8038: the packed trace is cut in the middle: it ends within the events of rank 2 (this is the last good record)
? 2
$ fabricast trace convert traces/samples/lammps-lj-16.fct --text -o $TMP/lj.txt && cd $TMP && head -n 3000 lj.txt > cut.txt; fabricast predict -m bgl-64 -t cut.txt
! fabricast: cut.txt:3000: the trace ends here, cut in the middle (expected more events of the rank: 1026)
? 2
$ fabricast trace info /dev/null
! fabricast: /dev/null:1: not a trace that is known (expected 'fabricast-trace 1', or one of otf2, dumpi, paraver, chakra, goal, liballprof, ti)
? 2
$ cd $TMP; mkdir -p many; echo 1 > many/a; tar -czf many.tgz many; fabricast trace info many.tgz; fabricast trace info many
! fabricast: many.tgz: is a tar archive of files (expected a trace: unpack it with `tar -xf` and give the file or folder in it)
! fabricast: many: is a folder without a trace that is known (otf2, dumpi, paraver, chakra, goal, liballprof, ti)
? 2
$ cd $TMP; printf '0 init\n0 compute 1e9\n' > one.ti; fabricast trace info one.ti --flops-per-s 1e9,2e9; fabricast predict -m bgl-64 -t one.ti --flops-per-s -1
! fabricast: one.ti: 2 speeds for 1 ranks (expected one for all, or one for each)
! fabricast: --flops-per-s: '-1' is not a number above 0 and up to 1e30
? 2
$ fabricast predict -m bgl-64 -t traces/samples/lammps-lj-16.fct --flops-per-s 1e9 || cd traces/samples && fabricast trace convert lammps-lj-16.fct -o $TMP/x.fct --flops-per-s 1e9
! fabricast: --flops-per-s: traces/samples/lammps-lj-16.fct has times, not operations (expected a trace of SimGrid or Chakra)
! fabricast: --flops-per-s: lammps-lj-16.fct has times, not operations (expected a trace of SimGrid or Chakra)
? 2
$ fabricast predict -m bgl-64 -p alltoall:bytes=1KiB --flops-per-s 1e9; fabricast trace capture --flops-per-s 1e9 -- true
! fabricast: --flops-per-s: only a trace has operations (expected -t TRACE)
! fabricast: --flops-per-s: only trace info and convert read a trace
? 2
$ fabricast predict -m percs-16 -t no-such.fct
! fabricast: no-such.fct: cannot be read: No such file or directory
? 2

$ cd $TMP; printf 'fabricast-trace 1\nranks 2\ncomm 0 0-1\nevents 6\nrank 0 3\ninit 0 0 0\nsend 1 1 0 comm=0 peer=1 tag=7 bytes=8\nfinalize 2 2 0\nrank 1 3\ninit 0 0 0\nrecv 1 1 0 comm=0 peer=0 tag=8 bytes=8\nfinalize 2 2 0\nend\n' > unmatched.txt; fabricast predict -m bgl-64 -t unmatched.txt
! fabricast: unmatched.txt:8: ranks wait for each other for ever: rank 0 in finalize (line 8) for rank 1, rank 1 in recv (line 11) for rank 0
? 2
$ cd $TMP; printf 'fabricast-trace 1\nranks 2\ncomm 0 0-1\nevents 8\nrank 0 4\ninit 0 0 0\nrecv 1 1 0 comm=0 peer=1 tag=7 bytes=8\nsend 1 1 0 comm=0 peer=1 tag=7 bytes=8\nfinalize 2 2 0\nrank 1 4\ninit 0 0 0\nrecv 1 1 0 comm=0 peer=0 tag=7 bytes=8\nsend 1 1 0 comm=0 peer=0 tag=7 bytes=8\nfinalize 2 2 0\nend\n' > knot.txt; fabricast predict -m bgl-64 -t knot.txt
! fabricast: knot.txt:7: ranks wait for each other for ever: rank 0 in recv (line 7) for rank 1, rank 1 in recv (line 12) for rank 0
? 2
$ cd $TMP; printf '%%%%MatrixMarket matrix coordinate real general\n1000 1000 1\n4 1 5\n' > g.mtx; fabricast predict -m bgl-64 -g g.mtx
! fabricast: communication graph has 1000 ranks but the machine has 128 cores
? 2
$ cd $TMP; printf 'fabricast-trace 1\nranks 2\ncomm 0 0-1\nevents 5\nrank 0 2\ninit 0 0 0\nfinalize 2 2 0\nrank 1 3\ninit 0 0 0\nrecv 1 1 0 comm=0 peer=0 tag=8 bytes=8\nfinalize 2 2 0\nend\n' > alone.txt; fabricast predict -m bgl-64 -t alone.txt
! fabricast: alone.txt:7: ranks wait for each other for ever: rank 0 in finalize (line 7) for rank 1, rank 1 in recv (line 10) for rank 0
? 2
# Tables of measured collectives.
$ cd $TMP; printf 'nodes\tcollective\n4\tbcast\n' > t.tsv; fabricast calibrate -m bgl-64 --measured t.tsv
! fabricast: t.tsv:1: no column algorithm (expected a line of names with tabs between)
? 2
$ cd $TMP; printf 'nodes\tcollective\talgorithm\tbytes\tmedian_us\n4\tbcast\tlinear\t64\t9\n' > t.tsv; fabricast calibrate -m bgl-64 --measured t.tsv --budget 3
! fabricast: --budget: --measured makes no runs of the kernel (leave it out)
? 2

# A fit that says nothing is not written.
$ cd $TMP; printf 'name: fast\nnetwork: {family: torus, dims: [4, 2]}\nlinks: {torus: {bandwidth: 12.5 GB/s, latency: 500 ns}, injection: {bandwidth: 12.5 GB/s}}\nrouter: {delay: 50 ns, vcs: 2, escape: bubble, buffer: 1 KiB}\npacket: {min: 32 B, max: 256 B, header: 16 B}\n' > fast.yaml; fabricast calibrate -m ./fast.yaml --budget 400ms -q; ls fast.calibration.yaml 2>&1 | sed 's/.*: //'
> No such file or directory
! fabricast: the calibration says nothing and is not written: an all-to-all of long messages takes 7.0 times what its links need (expected at most 5); router.buffer is 1024 B, and a virtual channel fills its link from 13440 B on: give it more, or leave it out

$ fabricast predict -m bgl-64 -t traces/samples/lammps-lj-16.fct --sensitivity --network flit
! fabricast: --sensitivity: the kernel is too slow for many replays (expected --network ideal, contention or queueing)
? 2
$ fabricast predict -m bgl-64 -t traces/samples/lammps-lj-16.fct --sensitivity --background job:traces/samples/qe-si-16.fct
! fabricast: --sensitivity: two jobs in one replay (expected --background trace: and its mean rates)
? 2

# The server's socket.
$ fabricast serve
! fabricast: no socket (expected --socket PATH)
? 2
$ cd $TMP; echo x >file; fabricast serve --socket file
! fabricast: --socket: file is there and is no socket
? 2
$ fabricast serve --socket x --json
! fabricast: --json: all answers are JSON (leave it out)
? 2

# Our own benchmark: nothing is left of a run that failed, or of one that measured nothing.
$ cd $TMP; fabricast measure -q -o m.yaml --mpi openmpi -- false; ls m.yaml* 2>&1 | sed 's/.*: //'
> No such file or directory
! fabricast: false ended with exit status 1; nothing is written
$ cd $TMP; fabricast measure -q -o m.yaml --mpi openmpi -- true; ls m.yaml* 2>&1 | sed 's/.*: //'
> No such file or directory
! fabricast: what the benchmark printed has no line '# fabricast measure 1: ...' (expected what fabricast-measure-openmpi or -mpich prints); nothing is written
$ fabricast measure -q -- ./no-such-launcher --mpi openmpi
! fabricast: ./no-such-launcher does not tell whose MPI it starts (expected --mpi openmpi or --mpi mpich)
? 2
$ fabricast measure -q --mpi lam -- mpirun -n 2
! fabricast: --mpi: 'lam' is none that the benchmark is built for (expected openmpi or mpich)
? 2
$ fabricast measure --from osu -- mpirun -n 2
! fabricast: --from: files are read, or a benchmark is run (leave one of them out)
? 2
$ fabricast measure --from fabricast
! fabricast: --from fabricast reads one file (expected what fabricast-measure-openmpi or -mpich printed)
? 2
$ fabricast measure --time 3s --from fabricast rows.txt
! fabricast: --time: no benchmark is run (expected `measure -o FILE -- mpirun -n 4 ...`)
? 2
$ fabricast measure
! fabricast: nothing to measure or to read (expected `measure -o FILE -- mpirun -n 4 ...`, or `measure --from osu|netpipe FILE...`, what osu_latency, osu_bw, osu_mbw_mr or NPmpi printed)
? 2

# Sets of jobs, and what only some curves have.
$ fabricast compare -m bgl-64
! fabricast: no set of jobs (expected `compare JOBS -m A,B`, JOBS a file of lines WEIGHT trace|pattern|graph INPUT)
? 2
$ cd $TMP; echo '1 pattern uniform' > set.jobs; fabricast compare set.jobs -m bgl-64,bgl-512
! fabricast: set.jobs:1: uniform traffic is a rate, not a number of bytes, so it takes no time (use alltoall:bytes=N for a message between every two nodes) (machine bgl-64)
? 2
$ cd $TMP; echo '1 patern uniform' > set.jobs; fabricast compare set.jobs -m bgl-64 --tier own
! fabricast: set.jobs:1: 'patern' is no kind of job (expected WEIGHT trace|pattern|graph INPUT [NAME])
? 2
$ cd $TMP; echo '1 pattern alltoall' > set.jobs; fabricast compare set.jobs -m bgl-64 --tier best
! fabricast: --tier: 'best' is unknown (expected same, own or theory)
? 2
$ fabricast curve -m bgl-64 -g none.mtx --loads 20% --solver queueing
! fabricast: --graph: the model's error is not known for matrices (expected --solver flit)
? 2
$ fabricast predict -m bgl-64 -p group-shift --set cost.switch=-5
! fabricast: --set cost.switch=-5: cost.switch: '-5' is negative (expected a number without unit, e.g. 0.25)
? 2
$ fabricast load -m bgl-64 --worst-case --map def
! fabricast: --map: --worst-case is of the routing between all nodes (leave it out)
? 2
$ fabricast flit -m bgl-64 --set router.queues=output -p uniform --load 20%
! fabricast: router.queues: output is for replays of traces; the flit-level kernel's routers queue at inputs (expected router.queues: input)
? 2
$ fabricast curve -m bgl-64 --set router.queues=output -p uniform --loads 20% --solver queueing
! fabricast: router.queues: output is for replays of traces; the queueing model's routers queue at inputs (expected router.queues: input)
? 2
$ fabricast calibrate -m bgl-64 --set router.queues=output -o x.yaml
! fabricast: router.queues: output is for replays of traces; the kernel that calibrates has routers that queue at inputs (expected router.queues: input)
? 2
