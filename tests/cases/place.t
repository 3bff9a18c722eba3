# place: layouts of the interfaces on a chip's mesh.

# A small chip: all layouts, the same by the integer program, latency and saturation by the queueing model, drawings.
$ cd $TMP; printf 'name: tmesh-33\ntitle: a small TMesh\nclock: 500 MHz\nnetwork: {family: tmesh, dims: [4, 3], mesh: [3, 3], bridges: {x-: 0, y-: 2, x+: 1, y+: 3}}\nlinks: {torus: {bandwidth: 2 GB/s, latency: 8 cycles}, mesh: {bandwidth: 8 GB/s, latency: 1 cycle}, injection: {bandwidth: 8 GB/s}}\nrouter: {delay: 4 cycles, flow_control: cut-through, flit: 32 B, vcs: 2, escape: dateline, buffer: 512 B, routing: dimension-order}\npacket: {min: 32 B, max: 160 B}\n' > m33.yaml; fabricast place -m ./m33.yaml --objective weighted --constraint lines --milp --time 60s -q
> machine     tmesh-33: a small TMesh
> chip        3 x 3 mesh, 4 interfaces, 5 cores, routes row-first; torus 4 x 3, turns dimension-order
> rules       lines: a line of the mesh for each dimension; separate channels for injection and ejection
> layouts     216 allowed, 24 differ, all evaluated
> weighted    5.09831, proven by all layouts; proven by integer program
> model       queueing, latencies at 0.03 flits/node/cycle, 60.0 % of the ideal throughput; 2 layouts
>
>         turn  weighted  greatest of torus  fairness  bridges   latency     +- saturation     +-  free
>         hops      hops      load        %             passed    cycles      %  flits/n/c      %
> 1     1.7500    5.4475    1.9068    18.75     0.493   0.2203     125.8      -       0.05      -   yes  machine
> 2     1.5000    5.0983    2.2881    22.50     0.600   0.4322     121.2      -       0.05      -   yes  front; least weighted
>
> 1           2
> x- x+ y-    .  y+ y-
> y+ .  .     x+ x- .
> .  .  .     .  .  .
>
> * errors of the model: not calibrated
# The front of hops and load under other turns; what the cores' own chip adds; pins.
$ fabricast place -m $TMP/m33.yaml --turns paths --objective load -q | grep -E '^(chip|layouts|least)'
> chip        3 x 3 mesh, 4 interfaces, 5 cores, routes row-first; torus 4 x 3, turns paths
> layouts     3024 allowed, 273 differ, all evaluated
> least load  1.86441, proven by all layouts
$ fabricast place -m $TMP/m33.yaml --on-chip 50% --pin x-=4 --keep-free 0,8 --objective load -q | grep -E '^(chip|layouts|least)'
> chip        3 x 3 mesh, 4 interfaces, 5 cores, routes row-first; torus 4 x 3, turns dimension-order, on-chip traffic 0.5
> layouts     120 allowed, 120 differ, all evaluated
> least load  1.77966, proven by all layouts
# The fronts that are exact: hops against load, hops against bridges that packets pass.
$ fabricast place -m $TMP/m33.yaml --time 0s -q | grep front | sed -E 's/^(.{62}).* yes /\1/'
> 3     2.0000    4.7729    1.7797    17.50     0.733   0.5254   front; least weighted; least load; hops/load front
> 4     2.0000    4.7729    2.2881    22.50     0.733   0.0932   hops/passed front
> 5     2.2500    4.8441    1.8814    18.50     0.760   0.0763   hops/passed front
> 6     2.0000    5.0441    2.2881    22.50     0.500   0.0678   hops/passed front
> 7     2.2500    5.1153    2.2881    22.50     0.551   0.0169   hops/passed front
> 8     2.5000    5.1864    1.8814    18.50     0.727   0.0000   hops/passed front
# The paper's chip: 16!/10! layouts, the proof, and Table 1 (turn hops 2.89 1.78 1.78 1.67 1.56 1.56 1.56), which the number
# of chips does not change (of 216: docs/architect.md).
$ fabricast place -m tmesh-216 --set network.dims=[2,2,2] --objective hops --milp --time 60s -q | grep -E '^(chip|layouts|least)|Table 1' | cut -c1-50
> chip        4 x 4 mesh, 6 interfaces, 10 cores, ro
> layouts     5765760 allowed, 216216 differ, all ev
> least hops  1.55556, proven by all layouts; proven
> 1     2.8889    7.0177    3.0380     9.38     0.63
> 2     1.7778    7.3063    3.5443    10.94     0.40
> 3     1.7778    6.0608    2.8481     8.79     0.66
> 4     1.6667    6.1494    3.7975    11.72     0.64
> 5     1.5556    6.1823    2.8481     8.79     0.60
> 6     1.5556    6.1570    3.0380     9.38     0.62
> 7     1.5556    6.1063    2.5823     7.97     0.63
# JSON of the contract.
$ fabricast place -m $TMP/m33.yaml --objective hops --json -q | grep -cE '"(bridges|mean_turn_hops|latency_cycles|saturation|deadlock_free|best_latency|best_throughput)"'
> 22
# What is refused.
$ cp models/machines/bgl-64.yaml $TMP; cd $TMP; fabricast place -m ./bgl-64.yaml
! fabricast: ./bgl-64.yaml:7: bgl-64 is of family torus, which has no interfaces to place (expected family tmesh)
? 2
$ fabricast place -m $TMP/m33.yaml --constraint lines --pin x-=0,x+=5,y-=6
! fabricast: no layout is allowed by pins x+=5, x-=0; lines (for each of 2 dimensions one of 3 rows of 3 nodes), which contradict each other: without any one of them there is one (4 interfaces, one a node, on 9 nodes)
? 2
$ fabricast place -m $TMP/m33.yaml --keep-free 0-5
! fabricast: no layout is allowed by keep-free 0, 1, 2, 3, 4, 5, which contradict each other: without any one of them there is one (4 interfaces, one a node, on 9 nodes)
? 2
$ fabricast place -m $TMP/m33.yaml --pin x-=4 --keep-free 0-8
! fabricast: no layout is allowed by pins x-=4; keep-free 4, which contradict each other: without any one of them there is one (4 interfaces, one a node, on 9 nodes)
? 2
$ fabricast place -m $TMP/m33.yaml --keep-free 9
! fabricast: --keep-free: '9' is out of range (allowed: 0 to 8)
? 2
$ fabricast place -m $TMP/m33.yaml --pin z-=0
! fabricast: --pin: 'z-=0' names no interface of a torus of 2 dimensions and its node (expected x-=0,y+=5,...)
? 2
$ fabricast place -m $TMP/m33.yaml --pin x-=9
! fabricast: --pin: '9' is out of range (allowed: 0 to 8)
? 2
$ fabricast place -m $TMP/m33.yaml --objective speed
! fabricast: --objective: 'speed' is unknown (expected hops, weighted, load, pareto)
? 2
$ fabricast place -m $TMP/m33.yaml --constraint five-vc
! fabricast: --constraint: 'five-vc' is unknown (expected six-vc, lines, none)
? 2
$ fabricast place -m $TMP/m33.yaml --turns left
! fabricast: --turns: 'left' is unknown (expected dimension-order, orders, paths)
? 2
$ fabricast place -m $TMP/m33.yaml --load 0
! fabricast: --load: '0' is no load (expected flits a node and cycle above 0, e.g. 0.3, or 60% of the ideal throughput)
? 2
$ sed 's/mesh: .3, 3./mesh: [2, 2]/' $TMP/m33.yaml > $TMP/m22.yaml; cd $TMP; fabricast place -m ./m22.yaml
! fabricast: ./m22.yaml:4: network.mesh: 4 nodes are too few for 4 bridges and a node that computes
? 2
