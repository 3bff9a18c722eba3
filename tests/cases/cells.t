# Networks of unequal cells, and machines that know their hosts.

$ fabricast machines leonardo
> machine     leonardo: Leonardo, HDR InfiniBand dragonfly+, 19 Booster cells of 180 nodes, a hybrid one of 324, two DCGP cells of 624
> confidence  high for cells, switches, links, nodes and host names (documented, or listed node by node); which spine has which global link, latencies are estimates; end points fit jobs of up to 64 nodes; the management cell (the 23rd) is left out
> source      CINECA user guide (network, cells, switches); G. Lockwood's notes on Leonardo; HLC-Lab/pico, commit 413bc5d, tracer/maps (cell, rack and leaf switch of every node); Turisini et al., LEONARDO, arXiv 2307.16885
> family      dragonfly-plus, routing ugal
> nodes       4992 with 32 cores, on 788 routers
> slow        lrdn0393: o is 1.8 us longer there
> hosts       lrdn0001 to lrdn4992
> distance    diameter 3 hops, mean 2.93236 hops (2.93294 between distinct nodes)
> bisection   2178 links, 54.45 TB/s one way
> links       spine          14112 of 25 GB/s, 15 ns
> links       global          8316 of 25 GB/s, 100 ns
> links       injection      30720 of 12.5 GB/s, 400 ns
$ fabricast certify -m lumi
> machine     lumi: LUMI, HPE Cray EX, Slingshot 11 dragonfly, 8 groups of 256 CPU nodes and 24 of 124 or 126 GPU nodes
> confidence  high for groups, nodes, switches, NICs, links between groups and host names (documented; group sizes of a measured job of 1000 nodes agree); the switches of a node, latencies are estimates; end points fit jobs of 4 to 16 nodes of LUMI-G
> rule        cell-hops on routing ugal: 4 virtual channels a link
> graph       268480 channels (157776 used), 475032 arcs
> answer      free of deadlock: acyclic
>             The channel number grows with every global link and never falls; within a cell a packet goes up, then down, or where it passes through down, then up, or over one local link, or over two, the second in a channel of its own. The dependency graph (157776 channels in use) has no cycle: what a packet holds always comes before what it waits for in the topological order.
$ fabricast predict -m lumi -p stencil2d:grid=2x2,bytes=64KiB --nodes nid[001000,001016,005000,007977] --ranks-per-node 1
> machine        lumi: LUMI, HPE Cray EX, Slingshot 11 dragonfly, 8 groups of 256 CPU nodes and 24 of 124 or 126 GPU nodes
> job            stencil2d:grid=2x2,bytes=64KiB, 4 tasks, mapping def, routing ugal
> time           19.77 us
> computation    0 s
> communication  19.77 us (100.0 % of the time)
> bound          15.18 us: no run with this mapping and routing is faster
> of peak        76.8 %
> best bound     15.18 us: no mapping of this job is faster (computation and software of the busiest task)
> bottleneck     software
> error          unknown: not calibrated for this network
> traffic        1.049 MB between nodes, 0 B inside, 2.49 MB hop-bytes
> machine data   high for groups, nodes, switches, NICs, links between groups and host names (documented; group sizes of a measured job of 1000 nodes agree); the switches of a node, latencies are estimates; end points fit jobs of 4 to 16 nodes of LUMI-G
$ fabricast load -m leonardo -p stencil2d:grid=8x4,bytes=4KiB --nodes lrdn[0001-0016,0181-0196] --ranks-per-node 1
> machine     leonardo: Leonardo, HDR InfiniBand dragonfly+, 19 Booster cells of 180 nodes, a hybrid one of 324, two DCGP cells of 624
> confidence  high for cells, switches, links, nodes and host names (documented, or listed node by node); which spine has which global link, latencies are estimates; end points fit jobs of up to 64 nodes; the management cell (the 23rd) is left out
> traffic     stencil2d:grid=8x4,bytes=4KiB, 32 tasks, 524.3 KB between nodes, 0 B inside
> mapping     def, routing ugal (best mixture of routes)
>
> class          links      used          min         mean          max
> spine          14112       216     1.365 KB     2.579 KB     4.096 KB
> global          8316        36     3.641 KB     3.641 KB     3.641 KB
> injection      30720       256     4.096 KB     4.096 KB     4.096 KB
>
> spine links by load
>     1.229 KB .. 1.638 KB         72 ########################################
>     2.048 KB .. 2.458 KB         72 ########################################
>     3.686 KB .. 4.096 KB         72 ########################################
>
> global links by load
>     3.277 KB .. 3.641 KB         36 ########################################
>
> injection links by load
>     3.686 KB .. 4.096 KB        256 ########################################
>
> hottest links
>   node 0 out                               4.096 KB     329.8 ns
>   node 0 out                               4.096 KB     329.8 ns
>   node 0 out                               4.096 KB     329.8 ns
>   node 0 out                               4.096 KB     329.8 ns
>   node 1 out                               4.096 KB     329.8 ns
>
> hop-bytes   688.1 KB (1.312 hops a byte)
> bound       329.8 ns (busiest link 329.8 ns, wire bytes 1.006 x payload)
> time        329.8 ns on the network, 100.0 % of peak
> error       unknown: not calibrated for this network
$ fabricast predict -m lumi -p stencil2d:grid=2x2,bytes=64KiB --nodes nid[004000-004003]
! fabricast: --nodes: host 'nid004000' is not in machine lumi (near: nid001000, nid002000, nid003000; it has nid001000 to nid007977)
? 2
$ fabricast predict -m leonardo -p stencil2d:grid=8x8,bytes=4KiB --nodes lrdn4992 --ranks-per-node 64
! fabricast: --ranks-per-node: 64 are more than a node of leonardo holds (32)
? 2
$ fabricast predict -m leonardo -p stencil2d:grid=8x8,bytes=4KiB --nodes lrdn4992 --ranks-per-node 64 --set node.cores=112
> machine        leonardo: Leonardo, HDR InfiniBand dragonfly+, 19 Booster cells of 180 nodes, a hybrid one of 324, two DCGP cells of 624 (changed: node.cores=112)
> job            stencil2d:grid=8x8,bytes=4KiB, 64 tasks, mapping def, routing ugal
> time           6.126 us
> computation    0 s
> communication  6.126 us (100.0 % of the time)
> bound          5.551 us: no run with this mapping and routing is faster
> of peak        90.6 %
> best bound     5.551 us: no mapping of this job is faster (computation and software of the busiest task)
> bottleneck     software
> error          unknown: not calibrated for this network
> traffic        0 B between nodes, 1.049 MB inside, 0 B hop-bytes
> machine data   high for cells, switches, links, nodes and host names (documented, or listed node by node); which spine has which global link, latencies are estimates; end points fit jobs of up to 64 nodes; the management cell (the 23rd) is left out
$ fabricast machines leonardo --set 'network.leaf_nodes=342*10/4, 9'
! fabricast: --set network.leaf_nodes=342*10/4, 9: network.leaf_nodes ends after 343 leaf switches (expected 392)
? 2
$ fabricast machines lumi --set 'network.rails=[1, 3, 4]'
! fabricast: --set network.rails=[1, 3, 4]: network.rails: 32 leaf switches a cell are not whole sets of 3
? 2
$ fabricast flit -m tests/machines/cells-40.yaml -p uniform --load 20% | grep -e ^routers -e ^latency -e ^hops
> routers     routing ugal, rule cell-hops, 4 virtual channels, event engine
> latency     74.52 +- 0.53 cycles (74.52 ns), p50 92.29, p95 106.1, p99 116.1, max 148; 20178 packets
> hops        2.3880 links between routers
$ fabricast flit -m tests/machines/cells-40.yaml -p uniform --load 20% --routing direct | grep -e ^routers -e ^latency -e ^hops
> routers     routing direct, rule cell-hops, 4 virtual channels, event engine
> latency     72.68 +- 0.49 cycles (72.68 ns), p50 92.2, p95 100.2, p99 106.9, max 128; 20166 packets
> hops        2.3879 links between routers
$ fabricast flit -m tests/machines/cells-40.yaml -p uniform --load 20% --routing indirect | grep -e ^routers -e ^latency -e ^hops
> routers     routing indirect, rule cell-hops, 4 virtual channels, event engine
> latency     109.29 +- 0.64 cycles (109.3 ns), p50 144.8, p95 157.4, p99 165.9, max 203; 40003 packets
> hops        3.0669 links between routers
$ fabricast curve -m tests/machines/cells-40.yaml -p uniform --loads 0.1:0.4:0.1 --solver both --warmup 500 --measure 2000 | grep -v -e speed -e machine
> run         uniform, routing ugal, rule cell-hops, event engine
> model       queueing, by theory, not calibrated; errors against the kernel on other networks of such routers
>
>      offered     accepted      latency           +-        model           +-    deviation
> flits/node/c flits/node/c       cycles       cycles       cycles            %            %
>          0.1       0.0983        71.28         1.97        71.97          1.2          1.0
>          0.2       0.2033        73.82         1.49        74.14          1.6          0.4
>          0.3       0.3047        78.76         1.04        77.42          2.6         -1.7
>          0.4       0.4037        87.37         1.95        83.60          8.5         -4.3
>
> saturation  0.4889 flits/node/cycle offered, 48.9 % of the ideal throughput 1
> model       0.5014 +- 9.7 %, deviation +2.6 %
