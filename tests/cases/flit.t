# One run of the flit-level kernel: what it prints, and every refusal.

# Two messages: 5 flits one hop on and 1 flit two hops on. The first packet: 2 routers x 2 + 3 wires + 5 flits = 12 cycles.
$ cd $TMP; printf 'name: ring-4\ntitle: a ring\nclock: 1 GHz\nnetwork: {family: torus, dims: [4]}\nlinks: {torus: {bandwidth: 8 GB/s, latency: 1 cycle}, injection: {bandwidth: 8 GB/s, latency: 1 cycle}}\nrouter: {delay: 2 cycles, flit: 8 B, flow_control: cut-through, credit: 1 cycle, vcs: 2, buffer: 128 B, escape: dateline, routing: dimension-order}\npacket: {min: 8 B, max: 64 B}\n' > ring.yaml; printf '%%%%MatrixMarket matrix coordinate real general\n4 4 2\n1 2 40\n1 3 8\n' > g.mtx; fabricast flit -m ./ring.yaml -g g.mtx --in-order
> machine     ring-4: a ring
> run         g.mtx, 4 tasks, mapping def
> routers     routing dimension-order, rule dateline, 2 virtual channels, event engine
> cycles      16 of 1 ns
> time        16 ns, bound 6 ns: 37.5 % of peak
> latency     14.00 cycles (14 ns), p50 12, p95 16, p99 16, max 16; 2 packets
>             11.50 in the network, 2.50 at the source
> hops        1.5000 links between routers
> load        accepted 0.09375 flits/node/cycle
> fairness    nodes inject 1.00 to 1.00 of the mean, Jain's index 1.0000
> packets     2 injected = 2 delivered + 0 in flight; flits 6 = 6 + 0; all credits back
>
> class          links    mean %     max %  busiest
> torus              8      5.47     37.50  x+ (0)->(1)
> injection          8      9.38     37.50  node 0 in
> links between routers are busy 5.5 % of the time
>
> buffers     flits in each virtual channel: 0.109 0
> ...
$ cd $TMP; fabricast flit -m ./ring.yaml -g g.mtx --in-order --json
> {
>   "machine": "ring-4",
>   "traffic": "g.mtx",
>   "routing": "dimension-order",
>   "vc_rule": "dateline",
>   "engine": "event",
>   "offered_flits_per_node_cycle": null,
>   "accepted_flits_per_node_cycle": 0.09375,
>   "packet_latency_cycles": {
>     "mean": 14.0,
>     "half_width": null,
>     "p50": 12.0,
>     "p95": 16.0,
>     "p99": 16.0,
>     "max": 16.0
>   },
>   "network_latency_cycles": {
>     "mean": 11.5
>   },
>   "hops_mean": 1.5,
>   "cycles": 16,
>   "flit_hops": 7,
>   "packets_injected": 2,
>   "packets_delivered": 2,
>   "packets_in_flight": 0,
>   "deadlock": false,
>   "stable": true,
> ...
>   "link_utilization": {
>     "torus": {
>       "mean": 0.0546875,
>       "max": 0.375,
>       "links": 8,
>       "busiest": "x+ (0)->(1)"
>     },
>     "injection": {
>       "mean": 0.09375,
>       "max": 0.375,
>       "links": 8,
>       "busiest": "node 0 in"
>     }
>   },
>   "ideal_throughput": null,
>   "cycle_s": 1e-9,
>   "unstable_because": null,
>   "deadlock_cycle": null,
>   "complete": true,
>   "measured_packets": 2,
>   "warmup_cycles": 0.0,
>   "measure_cycles": 16.0,
>   "flits_injected": 6,
>   "flits_delivered": 6,
>   "flits_in_flight": 0,
>   "multicast": null,
>   "packets_copied": 0,
>   "flits_copied": 0,
>   "credits_full": true,
>   "escape_share": null,
>   "vc_occupancy_flits": [
>     0.109375,
>     0.0
>   ],
>   "fairness": {
>     "min": 1.0,
>     "max": 1.0,
>     "jain": 1.0
>   },
>   "router_links_utilization": 0.0546875,
>   "mapping": "def",
>   "time_s": 1.6e-8,
>   "bound_s": 6e-9,
>   "percent_of_peak": 37.5,
>   "intervals": []
> }

# Packets that routers copy. A line: 4 routers x 2 + 5 wires + 2 packets of 8 flits = 29 cycles. A tree: 3 switches x 2 + 4 wires
# + 8 flits = 18 cycles, and the acknowledgement 10 more before the second packet.
$ cd $TMP; printf 'name: line-4\ntitle: a line\nclock: 1 GHz\nnetwork: {family: mesh, dims: [4]}\nlinks: {mesh: {bandwidth: 8 GB/s, latency: 1 cycle}, injection: {bandwidth: 8 GB/s, latency: 1 cycle}}\nrouter: {delay: 2 cycles, flit: 8 B, vcs: 1, buffer: 128 B, escape: none, multicast: deposit}\npacket: {min: 8 B, max: 64 B}\n' > line.yaml; fabricast flit -m ./line.yaml -p line-broadcast:bytes=128
> machine     line-4: a line
> run         line-broadcast:bytes=128, 4 tasks, mapping def
> routers     routing dimension-order, rule none, 1 virtual channel, multicast deposit, cycle engine
> cycles      29 of 1 ns
> time        29 ns, bound 16 ns: 55.2 % of peak
> ...
> packets     2 injected + 4 copied = 6 delivered + 0 in flight; flits 16 + 32 = 48 + 0; all credits back
> ...
$ cd $TMP; fabricast flit -m ./line.yaml -p line-broadcast:bytes=128 --json | grep 'multicast\|copied'
>   "multicast": "deposit",
>   "packets_copied": 4,
>   "flits_copied": 32,
$ cd $TMP; printf 'name: tree-16\ntitle: a tree\nclock: 1 GHz\nnetwork: {family: fat-tree, children: [4, 4], parents: [1, 4]}\nlinks: {leaf: {bandwidth: 8 GB/s, latency: 1 cycle}, up: {bandwidth: 8 GB/s, latency: 1 cycle}}\nrouter: {delay: 2 cycles, flit: 8 B, flow_control: wormhole, vcs: 2, buffer: 128 B, escape: none, multicast: tree}\npacket: {min: 8 B, max: 64 B}\n' > tree.yaml; fabricast flit -m ./tree.yaml -p broadcast:root=5,bytes=128
> machine     tree-16: a tree
> run         broadcast:root=5,bytes=128, 16 tasks, mapping def
> routers     routing nca, rule up-down, 2 virtual channels, multicast tree, cycle engine
> cycles      46 of 1 ns
> time        46 ns, bound 16 ns: 34.8 % of peak
> ...
> packets     2 injected + 30 copied = 32 delivered + 0 in flight; flits 16 + 240 = 256 + 0; all credits back
> ...
$ cd $TMP; fabricast flit -m ./line.yaml -p line-broadcast:bytes=128 --engine event
! fabricast: engine event is not exact for this machine: routers copy packets on the way (router.multicast)
? 2
$ cd $TMP; fabricast flit -m ./line.yaml -p line-broadcast:bytes=128 --map rnm
! fabricast: router.multicast: deposit from node 2 along x+: receiver 0 is on node 1 (expected node 3 of the line; mapping def keeps lines)
? 2
$ cd $TMP; sed 's/: deposit/: tree/' line.yaml > bad.yaml; fabricast flit -m ./bad.yaml -p line-broadcast
! fabricast: ./bad.yaml:6: router.multicast: tree is for fat-trees; a mesh network has no root above all nodes
? 2

# Open loop: stable, and what is offered. The rest is in tests/test_flit_*.c.
$ cd $TMP; fabricast flit -m ./ring.yaml -p uniform --load 30% --packet-flits 1
> machine     ring-4: a ring
> run         uniform at 0.3 flits/node/cycle, 30 % of the ideal, packets of 1 flit
> routers     routing dimension-order, rule dateline, 2 virtual channels, cycle engine
> ...
> answer      stable
> ...
>
> class          links    mean %     max %  busiest
> ...
>
> ...
$ cd $TMP; fabricast flit -m ./ring.yaml -p uniform --load 0.95 --packet-flits 4 --measure 2000 --warmup 1000 | grep -c '^answer      UNSTABLE'
> 1
$ cd $TMP; fabricast flit -m ./ring.yaml -p uniform --backlog --packet-flits 2-6 | grep '^run'
> run         uniform, every source backlogged, packets of 2 to 6 flits
$ for t in 1 2; do fabricast flit -m bgl-64 -p uniform --load 50% --warmup 2000 --measure 6000 --interval 2000 --json --threads $t | grep -v 'cpu_s\|peak_rss' > $TMP/$t.json; done; cmp $TMP/1.json $TMP/2.json && grep -c stable $TMP/1.json
> 2

# Deadlock: the cycle, and exit status 1.
$ cd $TMP; printf 'name: ring-8\ntitle: a ring\nclock: 1 GHz\nnetwork: {family: torus, dims: [8]}\nlinks: {torus: {bandwidth: 8 GB/s, latency: 1 cycle}, injection: {bandwidth: 8 GB/s, latency: 1 cycle}}\nrouter: {delay: 2 cycles, flit: 8 B, flow_control: cut-through, credit: 1 cycle, vcs: 1, buffer: 64 B, escape: none, routing: dimension-order}\npacket: {min: 8 B, max: 64 B}\n' > none.yaml; fabricast flit -m ./none.yaml -p uniform --load 0.9 --allow-deadlock --engine cycle
> machine     ring-8: a ring
> run         uniform at 0.9 flits/node/cycle
> routers     routing dimension-order, rule none, 1 virtual channel, cycle engine
> ...
> answer      DEADLOCK: 8 packets wait in a cycle:
> ...
! ...
? 1

# Refusals.
$ cd $TMP; fabricast flit -m ./none.yaml -p uniform --load 0.9
! fabricast: ring-8: router.buffer: 64 B leave a link idle until credits are back (expected at least 112 B a virtual channel: bandwidth x round trip, and a packet)
! fabricast: ./none.yaml: dimension-order routing can deadlock under rule none: x+ (0)->(1) vc 0 -> x+ (1)->(2) vc 0 -> x+ (2)->(3) vc 0 -> ... (8 channels) wait for each other (expected a rule whose dependency graph has no cycle, or --allow-deadlock)
? 2
$ cd $TMP; printf 'name: ring-4\ntitle: a ring\nclock: 1 GHz\nnetwork: {family: torus, dims: [4]}\nlinks: {torus: {bandwidth: 8 GB/s, latency: 1 cycle}, injection: {bandwidth: 8 GB/s, latency: 1 cycle}}\nrouter: {delay: 2 cycles, flit: 8 B, flow_control: cut-through, credit: 1 cycle, vcs: 1, buffer: 128 B, escape: dateline, routing: dimension-order}\npacket: {min: 8 B, max: 64 B}\n' > one.yaml; fabricast flit -m ./one.yaml -p uniform --load 0.3
! fabricast: ./one.yaml: router.vcs: 1: no virtual channel left for dimension-order routing under rule dateline, which takes 2 (expected at least 2)
? 2
$ cd $TMP; printf 'name: ring-4\ntitle: a ring\nclock: 1 GHz\nnetwork: {family: torus, dims: [4]}\nlinks: {torus: {bandwidth: 8 GB/s, latency: 1 cycle}, injection: {bandwidth: 8 GB/s, latency: 1 cycle}}\nrouter: {delay: 2 cycles, flit: 8 B, flow_control: cut-through, credit: 1 cycle, vcs: 2, buffer: 32 B, escape: dateline, routing: dimension-order}\npacket: {min: 8 B, max: 64 B}\n' > small.yaml; fabricast flit -m ./small.yaml -p uniform --load 0.3
! fabricast: ring-4: router.buffer: 32 B leave a link idle until credits are back (expected at least 112 B a virtual channel: bandwidth x round trip, and a packet)
! fabricast: ./small.yaml: router.buffer: 32 B hold 4 flits, cut-through needs room for the longest packet, 8 flits
? 2
$ cd $TMP; fabricast flit -m ./ring.yaml -p uniform --load 1.5
! fabricast: load 1.5: node 0 would offer 1.5 flits a cycle, but its injection links take 1 (load counts flits a node and cycle; at most 1 here; write a percentage, such as 80%, for a share of the ideal throughput)
? 2
$ cd $TMP; fabricast flit -m ./ring.yaml -p uniform
! fabricast: no load: uniform is open-loop traffic (expected --load L in flits a node and cycle, e.g. --load 0.3, or --load 60% of the ideal throughput, or --backlog)
? 2
$ cd $TMP; fabricast flit -m ./ring.yaml -p uniform --load much
! fabricast: --load: 'much' is no load (expected flits a node and cycle above 0, e.g. 0.3, or 60% of the ideal throughput)
? 2
$ cd $TMP; fabricast flit -m ./ring.yaml -p uniform --load 0
! fabricast: --load: '0' is no load (expected flits a node and cycle above 0, e.g. 0.3, or 60% of the ideal throughput)
? 2
$ cd $TMP; fabricast flit -m ./ring.yaml -p uniform --load 0.3 --backlog
! fabricast: --load: with --backlog sources always have a packet waiting, there is no rate
? 2
$ cd $TMP; fabricast flit -m ./ring.yaml -p uniform --load 0.3 --measure 0
! fabricast flit: --measure: '0' is out of range (allowed: 1 to 1000000000000)
! Try `fabricast flit --help' or `fabricast flit --usage' for more information.
? 2
$ cd $TMP; fabricast flit -m ./ring.yaml -p uniform --load 0.3 --engine fast
! fabricast: --engine: 'fast' is unknown (expected auto, event or cycle)
? 2
$ cd $TMP; printf 'name: ring-4\ntitle: a ring\nclock: 1 GHz\nnetwork: {family: torus, dims: [4]}\nlinks: {torus: {bandwidth: 8 GB/s, latency: 1 cycle}, injection: {bandwidth: 8 GB/s, latency: 1 cycle}}\nrouter: {delay: 2 cycles, flit: 8 B, flow_control: wormhole, credit: 1 cycle, vcs: 2, buffer: 128 B, escape: dateline, routing: dimension-order}\npacket: {min: 8 B, max: 64 B}\n' > worm.yaml; fabricast flit -m ./worm.yaml -p uniform --load 0.3 --engine event
! fabricast: engine event is not exact for this machine: wormhole flow control spreads a packet over several buffers (router.flow_control)
? 2
$ cd $TMP; fabricast flit -m ./ring.yaml -p uniform --load 0.3 --packet-flits 4-2
! fabricast: --packet-flits: '4-2' is no length (expected N or N-M flits, 1 to 65535)
? 2
$ cd $TMP; fabricast flit -m ./ring.yaml -p uniform --load 0.3 --packet-flits 17
! fabricast: ./ring.yaml: router.buffer: 128 B hold 16 flits, cut-through needs room for the longest packet, 17 flits
? 2
$ cd $TMP; fabricast flit -m ./ring.yaml -p uniform --load 0.3 --routing nca
! fabricast: a torus network cannot do routing 'nca' (it can: dimension-order, adaptive, valiant)
? 2
$ cd $TMP; fabricast flit -m ./ring.yaml -p uniform --load 0.3 --map rnm
! fabricast: --map: open-loop traffic is between all nodes (leave it out)
? 2
$ cd $TMP; fabricast flit -m ./ring.yaml -p uniform --load 0.3 --gap 10
! fabricast: --gap: open-loop traffic is no set of messages (leave it out)
? 2
$ cd $TMP; fabricast flit -m ./ring.yaml -p stencil2d:grid=4x2,bytes=64 --load 0.3
! fabricast: --load: stencil2d:grid=4x2,bytes=64 has 8 tasks, and rates are those of the 4 nodes (without it its messages are sent as fast as they go)
? 2
$ cd $TMP; fabricast flit -m ./ring.yaml -p alltoall:bytes=64 --measure 100
! fabricast: --measure: of a set of messages the whole run is measured (leave it out)
? 2
$ cd $TMP; fabricast flit -m ./ring.yaml -p alltoall:bytes=640 --max-cycles 20 -o /dev/null
! fabricast: ring-4: not all messages have arrived after 20 cycles (raise --max-cycles)
? 1
# Traffic of others beside the load, counted apart.
$ fabricast flit -m bgl-64 -p uniform --load 40% --background blocks:nodes=16,load=30% --warmup 1000 --measure 4000 -q | grep -E '^(answer|latency|load|background|packets)'
> answer      stable
> latency     561.64 +- 26.97 cycles (3.209 us), p50 508.8, p95 1029, p99 1525, max 2889; 685 packets
> load        offered 0.0237, accepted 0.02072 flits/node/cycle
> background  blocks:nodes=16,load=30%: offered 0.0166, accepted 0.01675 flits/node/cycle; latency 613.69 cycles, 607.82 in the network
> packets     2404 injected = 2198 delivered + 206 in flight; flits 19232 = 17584 + 1648
$ fabricast flit -m bgl-64 -p uniform --load 40% --background blocks:nodes=16,load=30% --warmup 1000 --measure 1000 --json -q | grep -A12 '"background"'
>   "background": {
>     "share": 0.411899313501145,
>     "packets": 145,
>     "latency_mean": 553.08275862069,
>     "latency_p50": 491.527777777778,
>     "latency_p95": 999.708333333333,
>     "latency_p99": 1386.5,
>     "latency_max": 1501.0,
>     "network_latency_mean": 546.468965517241,
>     "others_latency_mean": 569.012422360248,
>     "what": "blocks:nodes=16,load=30%",
>     "offered_flits_per_node_cycle": 0.0166018158236058,
>     "accepted_flits_per_node_cycle": 0.01625
$ fabricast flit -m bgl-64 -p uniform --load 40% --background uniform:full
! fabricast: --background: uniform:full: sources that always have a packet waiting leave no place in the nodes' queues (expected a rate)
? 2
$ fabricast flit -m bgl-64 -p alltoall --background uniform:10%
! fabricast: --background: beside a set of messages it is not run here (expected open-loop traffic, or `predict --network flit`)
? 2
$ fabricast flit -m bgl-64 -p uniform --load 40% --background blocks:nodes=7,load=30%
! fabricast: pattern blocks: nodes: blocks of 7 do not divide the 64 nodes
? 2

# A buffer smaller than bandwidth x round trip is taken, and a note says what is needed; left out it is that. A shipped machine as it
# is has its source's.
$ cd $TMP; printf 'name: fast\nnetwork: {family: mesh, dims: [2]}\nlinks: {mesh: {bandwidth: 12.5 GB/s, latency: 500 ns}}\nrouter: {delay: 30 ns, credit: 20 ns}\npacket: {min: 32 B, max: 256 B}\n' > fast.yaml; fabricast flit -m ./fast.yaml -p complement:bytes=1MiB --set router.buffer=1KiB | grep ^time; fabricast flit -m ./fast.yaml -p complement:bytes=1MiB | grep ^time; fabricast flit -m gemini-xe6 --set network.dims=[2,2,2] -p complement:bytes=1KiB | grep -c ^time
> time        1.095 ms, bound 83.89 us: 7.7 % of peak
> time        84.85 us, bound 83.89 us: 98.9 % of peak
> 1
! fabricast: fast: router.buffer: 1024 B leave a link idle until credits are back (expected at least 13440 B a virtual channel: bandwidth x round trip, and a packet)

# Until the half widths are what was asked, or the most that is asked for has been run.
$ cd $TMP; fabricast flit -m ./ring.yaml -p uniform --load 60% --packet-flits 4 --precision 3% | grep -e ^answer -e ^latency -e ^load -e ^precision
> answer      stable
> latency     17.22 +- 0.36 cycles (17.22 ns), p50 16, p95 32, p99 43, max 67; 4888 packets
> load        offered 0.6, accepted 0.5998 flits/node/cycle
> precision   3 % reached, latency +- 2.09 %, accepted load +- 0.92 %
$ cd $TMP; fabricast flit -m ./ring.yaml -p uniform --load 70% --packet-flits 4 --precision 0.5% --max-cycles 9000 | grep -e ^answer -e ^precision
> answer      stable
> precision   0.5 % not reached, latency +- 5.28 %, accepted load +- 0.95 %
$ cd $TMP; fabricast flit -m ./ring.yaml -p uniform --load 60% --packet-flits 4 --precision 3% --json | grep -e precision -e '"accepted_'
>   "accepted_flits_per_node_cycle": 0.599786513587245,
>   "precision": 0.03,
>   "precision_reached": true,
>   "accepted_half_width_flits_per_node_cycle": 0.00554525206910932,
$ cd $TMP; fabricast flit -m ./ring.yaml -p uniform --load 60% --precision 3% --measure 1000
! fabricast: --precision: a measurement of given length ends with it (leave one of them out)
? 2
$ cd $TMP; fabricast flit -m ./ring.yaml -p uniform --load 60% --precision 200%
! fabricast flit: --precision: '200%' is out of range (allowed: 0.0001 to 0.5)
! Try `fabricast flit --help' or `fabricast flit --usage' for more information.
? 2
