# A machine without what has failed; machine files by a rule and from a fabric's own file.

$ fabricast load -m bgl-64 -p alltoall:bytes=4KiB --without 'x+ (0,0,0)->(1,0,0)'
> machine     bgl-64: Blue Gene/L, 4 x 4 x 4 torus (the VHDL test) (without x+ (0,0,0)->(1,0,0)), a virtual channel a hop: 6
> confidence  high for links, packets and buffers (stated); router delay and software costs are estimates
> traffic     alltoall:bytes=4KiB, 64 tasks, 16.52 MB between nodes, 0 B inside
> mapping     def, routing shortest (structural)
>
> class          links      used          min         mean          max
> torus            382       382     131.1 KB     131.8 KB     151.6 KB
> injection        128       128       258 KB       258 KB       258 KB
>
> torus links by load
>     121.3 KB .. 136.4 KB        372 ########################################
>     136.4 KB .. 151.6 KB         10 ##
>
> injection links by load
>     232.2 KB .. 258 KB          128 ########################################
>
> hottest links
>   torus (0,3,0)->(1,3,0)                   151.6 KB     980.4 us
>   torus (1,3,0)->(0,3,0)                   151.6 KB     980.4 us
>   torus (2,0,0)->(3,0,0)                   151.6 KB     980.4 us
>   torus (3,0,0)->(2,0,0)                   151.6 KB     980.4 us
>   torus (0,1,0)->(1,1,0)                   151.6 KB     980.4 us
>
> hop-bytes   50.35 MB (3.049 hops a byte)
> bound       980.4 us (busiest link 980.4 us, wire bytes 1.132 x payload)
> time        980.4 us on the network, 100.0 % of peak
> error       unknown: not calibrated for this network
$ fabricast load -m qsnet-64 -p neighbor:bytes=4KiB --without 'switch L2.0' --json | python3 -c 'import json, sys; a = json.load(sys.stdin); print(a["routing"], a["bound_s"])'
> shortest 1.2125e-05
$ fabricast predict -m bgl-64 --hosts 'n[00-63]' -p stencil2d:grid=4x4,bytes=64KiB --nodes 'n[00-15]' --without 'n03'
! fabricast: --nodes: node 3 (n03) is gone (failed, or by --without)
? 2
$ fabricast predict -m bgl-64 --hosts 'n[00-63]' -p stencil2d:grid=4x4,bytes=64KiB --without 'n[03-04]'
> machine        bgl-64: Blue Gene/L, 4 x 4 x 4 torus (the VHDL test) (without n[03-04])
> job            stencil2d:grid=4x4,bytes=64KiB, 16 tasks, mapping def, routing adaptive
> time           1.765 ms
> computation    0 s
> communication  1.765 ms (100.0 % of the time)
> bound          1.264 ms: no run with this mapping and routing is faster
> of peak        71.6 %
> best bound     281 us: no mapping of this job is faster (grid surface of one, nodes)
> bottleneck     y+ (1,0,0)->(1,1,0) carries 196.6 KB; link binds
> error          +-31 % against the kernel, calibrated by bgl-64.calibration.yaml; extrapolated: mean hops 1.75: no such phase was run
> traffic        3.146 MB between nodes, 1.049 MB inside, 5.505 MB hop-bytes
> machine data   high for links, packets and buffers (stated); router delay and software costs are estimates
$ fabricast flit -m bgl-64 -p uniform --load 10% --without 5
! fabricast: --without, or failed: of the machine: open-loop traffic is between all nodes (expected links and routers)
? 2
$ fabricast flit -m models/machines/bgl-64.yaml -p uniform --load 10% --measure 2000 --without '(0,0,0)->(1,0,0)' | sed -n '4,6p;8,9p'
> routers     routing shortest, rule hops, 6 virtual channels, event engine
> cycles      9521 of 5.714 ns: 7194 to warm up, 2000 measured
> answer      stable
>             348.66 in the network, 0.70 at the source
> hops        3.1750 links between routers
$ fabricast certify -m bgl-64 --without '(0,0,0)->(1,0,0)' --vc-rule hops
> machine     bgl-64: Blue Gene/L, 4 x 4 x 4 torus (the VHDL test) (without (0,0,0)->(1,0,0)), a virtual channel a hop: 6
> confidence  high for links, packets and buffers (stated); router delay and software costs are estimates
> rule        hops on routing shortest: 6 virtual channels a link
> graph       3060 channels (2420 used), 12174 arcs
> answer      free of deadlock: acyclic
>             The channel number grows with every hop. The dependency graph (2420 channels in use) has no cycle: what a packet holds always comes before what it waits for in the topological order.
$ fabricast map -m bgl-64 -p stencil2d:grid=4x4,bytes=64KiB --strategy def --without '(9,9,9)'
! fabricast: --without: '(9,9,9)' is no link, router, node or host of bgl-64 (they are called 'x+ (0,0,0)->(1,0,0)', '(0,0,0)', 'node 0')
? 2
$ fabricast predict -m bgl-64 -p stencil2d:grid=4x4,bytes=64KiB --without '(1,0,0),(3,0,0),(0,1,0),(0,3,0),(0,0,1),(0,0,3)'
! fabricast: --without: nothing would connect node 0 and node 2
? 1
$ fabricast load -m bgl-64 -p neighbor --routing adaptive --without '(1,0,0)'
! fabricast: --routing: what --without or failed: leaves is routed by shortest (leave it out)
? 2

$ cd $TMP; sed '1a failed: ["(0,0,0)->(1,0,0)", 5]' "$FABRICAST_DATA"/machines/bgl-64.yaml >hurt.yaml; fabricast machines ./hurt.yaml | head -1; fabricast calibrate -m ./hurt.yaml; fabricast predict -m ./hurt.yaml -p stencil2d:grid=2x4,bytes=64KiB --nodes 2-5
> machine     bgl-64: Blue Gene/L, 4 x 4 x 4 torus (the VHDL test) (without (0,0,0)->(1,0,0),5), a virtual channel a hop: 6
! fabricast: ./hurt.yaml:2: failed: a calibration is of a whole machine (expected a copy of the file without it)
! fabricast: --nodes: node 5 is gone (failed, or by --without)
? 2

# Which cables a job can spare least.
$ fabricast predict -m bgl-64,bgl-512 -p stencil2d:grid=4x4,bytes=64KiB --weakest 2
! fabricast: --weakest: of one prediction (expected one machine, mapping and list of nodes)
? 2
$ fabricast predict -m bgl-64 -t traces/samples/lammps-lj-16.fct --network queueing --weakest 2
! fabricast: --weakest: links are compared by their contention (leave out --network)
? 2
$ fabricast predict -m bgl-64 -p stencil2d:grid=4x4,bytes=64KiB --weakest 2 --without '(0,0,0)->(1,0,0)' | tail -6
>                all 20 cables that carry this job's traffic were looked at
>                left out: 8 cables that are their nodes' only ones
>
> cable                   alike   time without       more
> torus (2,1,0)->(3,1,0)      1       4.555 ms    16.95 %
> torus (0,1,0)->(1,1,0)      1       4.429 ms    13.71 %
$ fabricast predict -m bgl-64 -p stencil2d:grid=1x2,bytes=64KiB --weakest 2 | tail -3
>
> failures       of one cable each; traffic takes the shortest ways left, by which the whole machine takes 9 us
>                no cable between routers carries any traffic of this job
$ fabricast predict -m bgl-64 -p stencil2d:grid=2x2,bytes=64KiB --weakest 1 --threads 2 --json | python3 -c 'import json, sys; a = json.load(sys.stdin); print(a["weakest"], a["weakest_of"], a["weakest_looked_at"], a["weakest_whole_s"])'
> [{'link': 'x+ (0,0,0)->(1,0,0)', 'time_s': 0.000340490285714286, 'increase_percent': -79.8405808378979, 'disconnects': False, 'cables_alike': 1}] 1 1 0.00168898857142857

# By a rule.
$ cd $TMP; fabricast machines --generate slimfly:q=5 -o slim.yaml && cat slim.yaml && grep -c router slim.edges
> machine     slim: Slim Fly of q = 5: 50 routers of 7 links to others, 4 nodes each
> confidence  the network is its paper's; rates, delays, packets and software costs are placeholders
> source      Besta & Hoefler, SC'14 (the network)
> family      graph, routing shortest
> nodes       200 with 1 cores, on 50 routers
> distance    diameter 2 hops, mean 1.82 hops (1.82915 between distinct nodes)
> bisection   at least 63 links, 1.562 TB/s (spectrum); at most 65 links, 1.625 TB/s (Scotch) one way
> links       link             750 of 25 GB/s, 50 ns
> # made by `fabricast machines --generate slimfly:q=5`
> name: slim
> title: "Slim Fly of q = 5: 50 routers of 7 links to others, 4 nodes each"
> source: "Besta & Hoefler, SC'14 (the network)"
> confidence: the network is its paper's; rates, delays, packets and software costs are placeholders
> network:
>   family: graph
>   format: edge-list
>   file: slim.edges
> links:
>   link: {bandwidth: 25 GB/s, latency: 50 ns}
>   injection: {bandwidth: 25 GB/s, latency: 50 ns}
> router: {delay: 100 ns, vcs: 2, escape: hops}
> packet: {max: 256 B, header: 16 B}
> node: {cores: 1}
> 376
$ cd $TMP; fabricast certify -m ./slim.yaml
> machine     slim: Slim Fly of q = 5: 50 routers of 7 links to others, 4 nodes each
> confidence  the network is its paper's; rates, delays, packets and software costs are placeholders
> rule        hops on routing shortest: 2 virtual channels a link
> graph       1500 channels (1100 used), 6900 arcs
> answer      free of deadlock: acyclic
>             The channel number grows with every hop. The dependency graph (1100 channels in use) has no cycle: what a packet holds always comes before what it waits for in the topological order.
$ cd $TMP; fabricast machines --generate hyperx:dims=3x3,nodes=1,cores=2 -o h.yaml -q && fabricast flit -m ./h.yaml -p uniform --load 20% --measure 4000 | sed -n '4p;6p'
> machine     h: HyperX of 3 x 3 routers, 1 nodes each
> confidence  the network is its paper's; rates, delays, packets and software costs are placeholders
> source      Ahn et al., SC'09 (the network)
> family      graph, routing shortest
> nodes       9 with 2 cores, on 9 routers
> distance    diameter 2 hops, mean 1.33333 hops (1.5 between distinct nodes)
> bisection   4 links, 100 GB/s one way
> links       link              54 of 25 GB/s, 50 ns
> routers     routing shortest, rule hops, 2 virtual channels, event engine
> answer      stable
$ cd $TMP; fabricast machines --generate slimfly:q=5
! fabricast: --generate writes a machine file (expected -o NAME.yaml)
? 2
$ cd $TMP; fabricast machines --generate slimfly:q=6 -o six.yaml; ls six*
! fabricast: --generate slimfly: q: 6 is no power of a prime of the form 4 w - 1, 4 w or 4 w + 1
! ls: cannot access 'six*': No such file or directory
? 2
$ cd $TMP; fabricast machines bgl-64 --generate slimfly:q=5 -o six.yaml
! fabricast: --generate: a machine is named already (expected one of them)
? 2
$ fabricast list generators
> generators:
>   hyperx                       routers on a grid, all of a row linked: dims=10x10,nodes=10
>   slimfly                      graphs of diameter two: q=9,nodes=7
>   dragonfly                    groups of routers, all to all: a=8,h=4,p=4,g=33
>   dragonfly+                   groups of leaf and spine switches: groups=9,leaves=8,spines=8,nodes=8,links_per_pair=8
>   megafly                      groups of leaf and spine switches: groups=9,leaves=8,spines=8,nodes=8,links_per_pair=8
>   jellyfish                    a random regular graph: switches=100,ports=14,nodes=10,seed=1
>   fat-tree                     switches of k ports: k=16,levels=3,taper=1

# From a fabric's file.
$ cd $TMP; printf 'SwitchName=l[0-1] Switches=x\n' >bad.conf; fabricast machines --import slurm bad.conf -o site.yaml; ls site*
! fabricast: bad.conf:1: Switches: 'x' (expected a switch that has a SwitchName line)
! ls: cannot access 'site*': No such file or directory
? 2
$ cd $TMP; printf 'SwitchName=leaf0 Nodes=cn[0-3]\nSwitchName=leaf1 Nodes=cn[4-7]\nSwitchName=spine Switches=leaf[0-1]\n' >topology.conf; fabricast machines --import slurm topology.conf -o site.yaml && cat site.yaml && tail -2 site.hosts
> machine     site: a fat-tree of 2 levels: children [4, 2], parents [1, 1]
> confidence  switches, cables and hosts from the fabric's own file; delays, buffers, packets and software costs are placeholders
> source      topology.conf (slurm)
> family      fat-tree, routing nca
> nodes       8 with 1 cores, on 3 routers
> hosts       cn0 to cn7
> distance    diameter 2 hops, mean 1 hops (1.14286 between distinct nodes)
> bisection   1 links, 12.5 GB/s one way
> links       leaf              16 of 12.5 GB/s, 50 ns
> links       level1             4 of 12.5 GB/s, 50 ns
> name: site
> title: "a fat-tree of 2 levels: children [4, 2], parents [1, 1]"
> source: "topology.conf (slurm)"
> confidence: switches, cables and hosts from the fabric's own file; delays, buffers, packets and software costs are placeholders
> hosts_file: "site.hosts"
> network:
>   family: fat-tree
>   children: [4, 2]
>   parents: [1, 1]
> links:
>   "leaf": {bandwidth: 12.5 GB/s, latency: 50 ns}   # placeholders: the file tells neither
>   "level1": {bandwidth: 12.5 GB/s, latency: 50 ns}   # placeholders: the file tells neither
> router: {delay: 130 ns, vcs: 2}   # queues: output where packets wait for their own, as in most IP switches
> packet: {max: 4 KiB, header: 64 B}
> node: {cores: 1}   # all placeholders
> cn6
> cn7
! fabricast: topology.conf: a fat-tree of 2 levels: children [4, 2], parents [1, 1]
! fabricast: the file tells no rates: 12.5 GB/s is a placeholder
! fabricast: delays, packets, cores and software costs are placeholders: look through the file
$ cd $TMP; gzip -c topology.conf >t.conf.gz; fabricast machines --import slurm t.conf.gz -o z.yaml >log; cmp site.hosts z.hosts && echo same
> same
! fabricast: t.conf.gz: a fat-tree of 2 levels: children [4, 2], parents [1, 1]
! fabricast: the file tells no rates: 12.5 GB/s is a placeholder
! fabricast: delays, packets, cores and software costs are placeholders: look through the file
$ fabricast machines --import slurm -o site.yaml
! fabricast: --import: makes a machine of a fabric's files (expected `machines --import KIND FILE... -o NAME.yaml`)
? 2
$ fabricast machines --import nonsense tests/fabrics/tree.conf -o site.yaml
! fabricast: --import: 'nonsense' is no kind of topology file (known: slurm, ibnetdiscover, edges, opensm-routes, cray-xname, kubernetes)
? 2
$ cd $TMP; printf 'router a node 0\n' >a.edges; fabricast machines --import opensm-routes a.edges -o r.yaml
! fabricast: --import opensm-routes: no forwarding tables (expected files of dump_lfts, ibroute or opensm.fdbs)
? 2

# Nodes that differ.
$ cd $TMP; printf 'name: k\nnetwork: {family: torus, dims: [4, 2]}\nlinks: {torus: {bandwidth: 1 GB/s}, injection: {bandwidth: 4 GB/s}}\nhosts: cn[0-7]\nnode:\n- {hosts: "cn[0-1]", cores: 4, injection: 1 GB/s}\n- {cores: 2, compute_scale: 2}\n' >k.yaml; fabricast machines ./k.yaml
> machine     k
> family      torus, routing adaptive
> nodes       8 of 2 kinds, on 8 routers
>             2 with 4 cores, computation x1, injection 1 GB/s
>             6 with 2 cores, computation x2
> hosts       cn0 to cn7
> distance    diameter 3 hops, mean 1.5 hops (1.71429 between distinct nodes)
> bisection   4 links, 4 GB/s one way
> links       torus             32 of 1 GB/s, 0 s
> links       injection1         4 of 1 GB/s, 0 s
> links       injection         12 of 4 GB/s, 0 s
$ cd $TMP; fabricast load -m ./k.yaml -p alltoall:bytes=1MB | sed -n '/^class/,/^$/p'
> class          links      used          min         mean          max
> torus             32        32         2 MB         3 MB         4 MB
> injection1         4         4         7 MB         7 MB         7 MB
> injection         12        12         7 MB         7 MB         7 MB
>
$ cd $TMP; fabricast predict -m ./k.yaml -p stencil2d:grid=5x4,bytes=64KiB --compute 1ms | sed -n '2,4p;8,9p'
> job            stencil2d:grid=5x4,bytes=64KiB, 20 tasks, mapping def, routing adaptive
> time           2.788 ms
> computation    2 ms
> best bound     unknown: the machine's nodes differ
> bottleneck     node 1 out carries 786.4 KB; computation binds
$ cd $TMP; fabricast map -m ./k.yaml -p stencil2d:grid=5x4,bytes=64KiB --strategy random
! fabricast: the allowed nodes have different numbers of cores (expected --ranks-per-node, --nodes of one kind, or mapping def or a file)
? 2
$ cd $TMP; fabricast map -m ./k.yaml -p stencil2d:grid=4x4,bytes=64KiB --strategy rnm --ranks-per-node 2 | head -2
> machine     k
> traffic     stencil2d:grid=4x4,bytes=64KiB, 16 tasks, routing adaptive
$ cd $TMP; fabricast flit -m ./k.yaml -p uniform --load 10%
! fabricast: ./k.yaml:6: node: flit is for machines whose nodes are all alike (expected node: {...}; load, predict and map take a list)
? 2
$ cd $TMP; fabricast curve -m ./k.yaml -p uniform --loads 10%
! fabricast: ./k.yaml:6: node: curve is for machines whose nodes are all alike (expected node: {...}; load, predict and map take a list)
? 2
$ cd $TMP; fabricast calibrate -m ./k.yaml
! fabricast: ./k.yaml:6: node: a calibration is of a machine whose nodes are all alike (expected node: {...})
? 2
$ cd $TMP; fabricast certify -m ./k.yaml | grep answer
> answer      free of deadlock: acyclic
