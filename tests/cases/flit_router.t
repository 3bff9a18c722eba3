# What routers and nodes may have beside the common: finite reception queues, a bypass, packets of high priority.

$ cd $TMP; printf 'name: ring-4\ntitle: a ring\nclock: 1 GHz\nnetwork: {family: torus, dims: [4]}\nlinks: {torus: {bandwidth: 8 GB/s, latency: 1 cycle}, injection: {bandwidth: 8 GB/s, latency: 1 cycle}}\nrouter: {delay: 2 cycles, bypass: 1 cycle, flit: 8 B, flow_control: cut-through, credit: 1 cycle, vcs: 2, buffer: 128 B, routing: dimension-order, high_priority: yes}\npacket: {min: 8 B, max: 64 B}\nnode: {reception: 128 B, reception_queues: 2, reception_time: 3 cycles}\n' > router.yaml; fabricast flit -m ./router.yaml -p uniform --load 0.6 --high-priority 10% --packet-flits 4 --warmup 1000 --measure 20000
> machine     ring-4: a ring
> run         uniform at 0.6 flits/node/cycle, packets of 4 flits
> routers     routing dimension-order, rule dateline, 4 virtual channels, cycle engine
> cycles      21256 of 1 ns: 1000 to warm up, 20000 measured
> answer      stable
> latency     19.46 +- 0.52 cycles (19.46 ns), p50 17, p95 36, p99 48, max 82; 11997 packets
>             17.07 in the network, 2.39 at the source
> hops        0.9977 links between routers
> priority    10 % of the load is of high priority: latency 14.87 cycles, p50 14, p95 21, p99 23, max 28; 1203 packets
>             13.90 in the network; all others 19.97 cycles
> load        offered 0.6, accepted 0.5998 flits/node/cycle
> ...
$ cd $TMP; fabricast flit -m ./router.yaml -p uniform --load 0.6 --high-priority 10% --packet-flits 4 --warmup 1000 --measure 20000 --json | sed -n '/high_priority/,/}/p'
>   "high_priority": {
>     "share": 0.1,
>     "packets": 1203,
>     "latency_mean": 14.8694929343308,
>     "latency_p50": 14.0,
>     "latency_p95": 21.0,
>     "latency_p99": 23.0,
>     "latency_max": 28.0,
>     "network_latency_mean": 13.9027431421446,
>     "others_latency_mean": 19.9697980359459
>   },
$ cd $TMP; fabricast flit -m ./router.yaml -p uniform --load 0.6 --engine event
! fabricast: engine event is not exact for this machine: reception queues of finite size (node.reception)
? 2
$ cd $TMP; fabricast flit -m ./router.yaml -p uniform --load 0.6 --high-priority 100%
! fabricast: --high-priority: '100%' is no share (expected more than 0 and less than 1, e.g. 5%)
? 2
$ cd $TMP; fabricast flit -m ./router.yaml -p uniform --load 0.6 --high-priority some
! fabricast: --high-priority: 'some' is no share (expected more than 0 and less than 1, e.g. 5%)
? 2
$ cd $TMP; fabricast flit -m ./router.yaml -p alltoall:bytes=8 --high-priority 10%
! fabricast: --high-priority: a set of messages has no rate to take a share of (leave it out)
? 2
$ cd $TMP; fabricast flit -m ./router.yaml -p uniform --backlog --high-priority 10%
! fabricast: --high-priority: with --backlog sources always have a packet waiting, there is no rate
? 2
$ cd $TMP; sed 's/bypass: 1/bypass: 3/' router.yaml > slow.yaml; fabricast flit -m ./slow.yaml -p uniform --load 0.6
! fabricast: ./slow.yaml:6: router.bypass: 3e-09 s is longer than router.delay, 2e-09 s
? 2
$ cd $TMP; sed 's/high_priority: yes/credit: 0 s/; s/credit: 1 cycle, //' router.yaml > none.yaml; fabricast flit -m ./none.yaml -p uniform --load 0.6 --high-priority 5%
! fabricast: ./none.yaml: router.high_priority: no channels for packets of high priority, and 0.05 of the load is to be such (expected high_priority: true)
? 2
$ cd $TMP; sed 's/high_priority: yes/injection_buffer: 512 KiB/' router.yaml > deep.yaml; fabricast flit -m ./deep.yaml -p uniform --load 0.6
! fabricast: ./deep.yaml:6: router.injection_buffer: 524288 B hold 65536 flits of 8 B (expected at most 65535 flits)
? 2
$ cd $TMP; sed 's/high_priority: yes/injection_buffer: 56 B/' router.yaml > flat.yaml; fabricast flit -m ./flat.yaml -p uniform --load 0.6
! fabricast: ./flat.yaml: router.injection_buffer: 56 B hold 7 flits (expected at least 8, the longest packet)
? 2
$ cd $TMP; sed 's/reception: 128/reception: 56/' router.yaml > small.yaml; fabricast flit -m ./small.yaml -p uniform --load 0.6
! fabricast: ./small.yaml: node.reception: 56 B hold 7 flits, a node takes in whole packets, of up to 8 flits
? 2
$ cd $TMP; printf 'name: dragonfly\nclock: 1 GHz\nnetwork: {family: two-level, supernodes: 5, nodes_per_drawer: 2, nodes_per_router: 2, d_link: relative, d_ports: 2}\nlinks: {ll: {bandwidth: 8 GB/s, latency: 10 cycles}, d: {bandwidth: 8 GB/s, latency: 100 cycles}, injection: {bandwidth: 8 GB/s, latency: 1 cycle}}\nrouter: {delay: 2 cycles, flit: 8 B, credit: 1 cycle, vcs: 3, buffer: 2 KiB, routing: ugal, ugal: {threshold: 30, weight: 2, queue: credits}}\npacket: {min: 8 B, max: 64 B}\n' > ugal.yaml; fabricast flit -m ./ugal.yaml -p complement --load 0.3 --warmup 2000 --measure 10000 | grep ^hops
> hops        2.5109 links between routers
$ cd $TMP; fabricast flit -m ./ugal.yaml --set router.ugal.queue=local -p complement --load 0.3 --warmup 2000 --measure 10000 | grep ^hops
> hops        2.3052 links between routers
$ cd $TMP; fabricast flit -m ./ugal.yaml --set router.ugal.threshold=-3 -p complement --load 0.3
! fabricast: --set router.ugal.threshold=-3: router.ugal.threshold: '-3' is negative (expected a number without unit, e.g. 0.25)
? 2
$ cd $TMP; sed 's/ugal: {.*credits}/ugal: 30/' ugal.yaml > bare.yaml; fabricast flit -m ./bare.yaml -p complement --load 0.3
! fabricast: ./bare.yaml:5: router.ugal: is not a mapping (expected ugal: {threshold: FLITS, weight: N, queue: local, credits or both})
? 2
