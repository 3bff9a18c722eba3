# What the commands answer, on small machines.

$ fabricast list families
> families:
>   torus                        dims: [8, 8, 8]; links_per_dim: [1, 1, 1]; wrap: [1, 1, 1]; classes: torus, or x y z ...
>   mesh                         dims: [4, 4]; links_per_dim: [1, 1]; wrap: [0, 0]; classes: mesh, or x y z ...
>   fat-tree                     children: [4, 4, 4]; parents: [1, 4, 4]; links: [1, 1, 1]; planes: 1; classes: leaf, level1 ... or up
>   tmesh                        dims: [6, 6, 6]; mesh: [4, 4]; bridges: {x-: 0, y-: 2, z-: 4, x+: 1, y+: 3, z+: 5}; classes: torus, mesh
>   two-level                    supernodes: 64; drawers: 4; nodes_per_drawer: 8; d_link: packed; classes: ll, lr, d
>   dragonfly-plus               cells: [19, 2]; leaves: [18, 16]; spines: [18, 18]; nodes_per_cell: [180, 624]; links_per_pair: 18; classes: spine (local without spines), global
>   graph                        file: fabric.txt; format: ibnetdiscover | slurm-topology | edge-list | cray-xname | kubernetes; classes: as the file names them
$ fabricast list routings
> routings:
>   dimension-order (torus)      x, then y, then z; one path, ties of even rings shared by both ways
>   dimension-order (mesh)       x, then y, then z; one path, ties of even rings shared by both ways
>   adaptive (torus)             any minimal path; the solver finds the split
>   adaptive (mesh)              any minimal path; the solver finds the split
>   valiant (torus)              dimension order to a random router, then on to the destination
>   valiant (mesh)               dimension order to a random router, then on to the destination
>   nca (fat-tree)               adaptive ascent, uniform over the nearest common ancestors, then straight down
>   nca-hash (fat-tree)          deterministic d-mod-k: the destination's digits choose the way up
>   nca-random (fat-tree)        ascent by up links picked at random afresh at every level, then straight down
>   dimension-order (tmesh)      torus x, then y, then z; straight over each chip's mesh between bridges
>   direct (two-level)           LL/LR - D - LL/LR, at most one D link
>   indirect (two-level)         through a random other supernode, two D links
>   ugal (two-level)             direct and indirect mixed by load; the solver finds the share
>   direct (dragonfly-plus)      up - global - down over all spines and cables, at most one global link
>   indirect (dragonfly-plus)    through a random other cell, two global links
>   ugal (dragonfly-plus)        direct and indirect mixed by load; the solver finds the share
>   shortest (graph)             equal split over all shortest next hops (ECMP)
>   shortest-hash (graph)        one shortest path a pair, drawn by a hash (ECMP as switches do it)
>   valiant (graph)              by shortest paths to a random router that has nodes, and on to the destination
>   ugal (graph)                 shortest paths and Valiant's detours mixed by load; the solver finds the share
>   updown-hash (graph)          one shortest up*-down* path a pair, drawn by a hash
>   tables (graph)               the switches' own forwarding tables (network.routes)
$ fabricast machines bgl-512
> machine     bgl-512: Blue Gene/L midplane, 8 x 8 x 8 torus
> confidence  high for links, packets and buffers (stated); router delay and software costs are estimates
> source      Adiga et al., Blue Gene/L torus interconnection network, IBM J. Res. Dev. 49(2/3), 2005
> family      torus, routing adaptive
> nodes       512 with 2 cores, on 512 routers
> distance    diameter 12 hops, mean 6 hops (6.01174 between distinct nodes)
> bisection   128 links, 22.4 GB/s one way
> links       torus           3072 of 175 MB/s, 45.71 ns
> links       injection       1024 of 1.05 GB/s, 0 s
# The network interface: derived figures.
$ fabricast machines gemini-xe6 | grep nic
> nic         to the farthest node: put 2.77 us, message 3.42 us, empty
> nic         puts of a node 8.084 GB/s, to the farthest node alone 5.882 GB/s
> nic         atomic operations on a node 100 M/s cached, 44.83 M/s not
$ fabricast machines qsnet-64 | grep nic
> source      Petrini, Coll, Frachtenberg, Hoisie, Hardware- and Software-Based Collective Communication on the Quadrics Network, IEEE NCA 2001
> nic         to the farthest node: put 2.2 us, message 5.68 us, empty
> nic         puts of a node 200 MB/s, to the farthest node alone 200 MB/s
> nic         barrier of all nodes in hardware 6.001 us
> nic         barrier of all nodes in software 14.8 us
> nic         broadcast to all nodes, of 64 bytes 12.52 us, of 1 MiB at 288 MB/s
$ fabricast load -m bgl-512 -p uniform --json
> {
>   "machine": "bgl-512",
>   "traffic": "uniform",
>   "mapping": "def",
>   "routing": "adaptive",
>   "method": "structural",
>   "time_s": 6.42857142857143e-9,
>   "communication_s": 6.42857142857143e-9,
>   "computation_s": null,
>   "bound_s": 6.42857142857143e-9,
>   "percent_of_peak": 100.0,
>   "bottleneck": {
>     "class": "torus",
>     "link": "x+ (0,0,0)->(1,0,0)",
>     "bytes": 1.0
>   },
>   "links": {
>     "torus": {
>       "count": 3072,
>       "used": 3072,
>       "min_bytes": 1.0,
>       "mean_bytes": 1.0,
>       "max_bytes": 1.0
>     },
>     "injection": {
>       "count": 1024,
>       "used": 1024,
>       "min_bytes": 0.998046875,
>       "mean_bytes": 0.998046875,
>       "max_bytes": 0.998046875
>     }
>   },
>   "hop_bytes": 3072.0,
>   "error_percent": null,
>   "error_against": null,
>   "extrapolated": false,
>   "why": "rates take no time",
>   "calibration": null,
>   "uncalibrated_because": null,
>   "network_bytes": 511.0,
>   "local_bytes": 0.0,
>   "wire_factor": 1.125,
>   "bound_by": "routing",
>   "lp": null,
>   "histograms": {
>     "torus": [
>       0,
>       0,
>       0,
>       0,
>       0,
>       0,
>       0,
>       0,
>       0,
>       3072
>     ],
>     "injection": [
>       0,
>       0,
>       0,
>       0,
>       0,
>       0,
>       0,
>       0,
>       0,
>       1024
>     ]
>   },
>   "hottest": [
>     {
>       "class": "torus",
>       "link": "x+ (0,0,0)->(1,0,0)",
>       "bytes": 1.0
>     },
>     {
>       "class": "torus",
>       "link": "x- (0,0,0)->(7,0,0)",
>       "bytes": 1.0
>     },
>     {
>       "class": "torus",
>       "link": "y+ (0,0,0)->(0,1,0)",
>       "bytes": 1.0
>     },
>     {
>       "class": "torus",
>       "link": "y- (0,0,0)->(0,7,0)",
>       "bytes": 1.0
>     },
>     {
>       "class": "torus",
>       "link": "z+ (0,0,0)->(0,0,1)",
>       "bytes": 1.0
>     }
>   ]
> }
$ fabricast predict -m bgl-512 -p alltoall:bytes=2400
> machine        bgl-512: Blue Gene/L midplane, 8 x 8 x 8 torus
> job            alltoall:bytes=2400, 512 tasks, mapping def, routing adaptive
> time           8.031 ms
> computation    0 s
> communication  8.031 ms (100.0 % of the time)
> bound          7.899 ms: no run with this mapping and routing is faster
> of peak        98.4 %
> best bound     7.899 ms: no mapping of this job is faster (all tasks, halves of dimension 1)
> bottleneck     x+ (0,0,0)->(1,0,0) carries 1.229 MB; link binds
> error          +-4 % against the kernel, calibrated by bgl-512.calibration.yaml
> traffic        627.9 MB between nodes, 0 B inside, 3.775 GB hop-bytes
> machine data   high for links, packets and buffers (stated); router delay and software costs are estimates

# The same bytes for any number of threads.
$ fabricast predict -m bgl-64 -t traces/samples/lammps-lj-16.fct --json --threads 1 > $TMP/one; fabricast predict -m bgl-64 -t traces/samples/lammps-lj-16.fct --json --threads 2 > $TMP/two; cmp $TMP/one $TMP/two && echo same
> same
$ fabricast load -m bgl-512 -p permutation:seed=3 --json --threads 1 > $TMP/one; fabricast load -m bgl-512 -p permutation:seed=3 --json --threads 2 > $TMP/two; cmp $TMP/one $TMP/two && echo same
> same

# An output file appears whole; a refused command leaves none.
$ cd $TMP; fabricast list families -o f.txt && wc -l < f.txt; fabricast load -m bgl-64 -p nothing -o g.txt 2>/dev/null; test -e g.txt || echo none
> 8
> none

# TMesh: the paper's two policies and ours.
$ fabricast certify -m tmesh-216 --vc-rule shared
> machine     tmesh-216: TMesh, 6 x 6 x 6 torus of chips with a 4 x 4 mesh, bridges LN{0,2,4} RN{1,3,5}
> confidence  high for sizes, bandwidths and bridges (stated); delays, packets (as Blue Gene/Q), buffers and software costs are estimates
> rule        shared on routing dimension-order: 2 virtual channels a link
> graph       31968 channels (20628 used), 43380 arcs
> answer      CAN DEADLOCK
>             The dependency graph has a cycle: packets that hold all of its channels wait for each other for ever.
>   cycle:    mesh (0,0,0).2->3 vc 1
>   waits for y+ (0,0,0).3->(0,1,0).2 vc 0
>   waits for mesh (0,1,0).2->3 vc 0
>   waits for y+ (0,1,0).3->(0,2,0).2 vc 0
>   waits for mesh (0,2,0).2->3 vc 0
>   waits for y+ (0,2,0).3->(0,3,0).2 vc 0
>   waits for mesh (0,3,0).2->3 vc 0
>   waits for y+ (0,3,0).3->(0,4,0).2 vc 0
>   waits for mesh (0,4,0).2->3 vc 0
>   waits for y+ (0,4,0).3->(0,5,0).2 vc 0
>   waits for mesh (0,5,0).2->3 vc 0
>   waits for y+ (0,5,0).3->(0,0,0).2 vc 1
>   waits for mesh (0,0,0).2->3 vc 1
! fabricast: tmesh-216 can deadlock under rule shared
? 1
$ fabricast certify -m tmesh-216-840 --vc-rule separate
> machine     tmesh-216-840: TMesh, 6 x 6 x 6 torus of chips with a 4 x 4 mesh, bridges LN{8,4,0} RN{11,7,3}
> confidence  high for sizes, bandwidths and bridges (stated); delays, packets (as Blue Gene/Q), buffers and software costs are estimates
> rule        separate on routing dimension-order: 4 virtual channels a link
> graph       63936 channels (27864 used), 54144 arcs
> answer      free of deadlock: acyclic
>             The dependency graph (27864 channels in use) has no cycle: what a packet holds always comes before what it waits for in the topological order.
# a rule that takes more virtual channels than there are
$ printf 'name: g\nnetwork: {family: graph, file: ring.txt, format: edge-list}\nlinks: {link: {bandwidth: 1 GB/s}}\n' > $TMP/ring.yaml; printf 'router %s node h%s\nrouter %s router %s\n' a 0 a b b 1 b c c 2 c d d 3 d e e 4 e a > $TMP/ring.txt; fabricast certify -m $TMP/ring.yaml --vc-rule layers
> machine     g
> rule        layers on routing shortest: 2 virtual channels a link
> graph       40 channels (28 used), 34 arcs
> answer      NOT with this machine's virtual channels
>             The rule takes 2 virtual channels of a link; router.vcs has 1.
>             A packet keeps the channel of its destination's layer, and each layer is acyclic by itself. The dependency graph (28 channels in use) has no cycle: what a packet holds always comes before what it waits for in the topological order.
! fabricast: g has too few virtual channels for rule layers: router.vcs is 1 (expected at least 2)
? 1
$ fabricast certify -m tmesh-216-024 --vc-rule six-vc --json
> {
>   "machine": "tmesh-216-024",
>   "routing": "dimension-order",
>   "rule": "six-vc",
>   "deadlock_free": true,
>   "acyclic": true,
>   "virtual_channels": 6,
>   "vcs_needed": 2,
>   "vcs": 2,
>   "channels": 95904,
>   "channels_used": 38088,
>   "arcs": 72144,
>   "argument": "Traffic for dimension d has mesh channels of its own on either side of the dateline, where it only moves on around the ring: a straight mesh route never returns to the bridge it came in by. The dependency graph (38088 channels in use) has no cycle: what a packet holds always comes before what it waits for in the topological order.",
>   "cycle": []
> }
