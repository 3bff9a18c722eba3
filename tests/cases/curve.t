# Latency and accepted load against offered load.
$ cd $TMP; printf 'name: ring-4\ntitle: a ring\nclock: 1 GHz\nnetwork: {family: torus, dims: [4]}\nlinks: {torus: {bandwidth: 8 GB/s, latency: 1 cycle}, injection: {bandwidth: 8 GB/s, latency: 1 cycle}}\nrouter: {delay: 2 cycles, flit: 8 B, flow_control: cut-through, credit: 1 cycle, vcs: 2, buffer: 128 B, escape: dateline, routing: dimension-order}\npacket: {min: 8 B, max: 64 B}\n' > ring.yaml; fabricast curve -m ./ring.yaml -p uniform --packet-flits 1 --loads 0.2:0.6:0.2 --warmup 500 --measure 2000
> machine     ring-4: a ring
> run         uniform, routing dimension-order, rule dateline, cycle engine
>
>      offered     accepted      latency           +-
> flits/node/c flits/node/c       cycles       cycles
> ...
>
> ...
$ cd $TMP; fabricast curve -m ./ring.yaml -p uniform --packet-flits 4 --loads 60%,30% --measure 2000 --warmup 1000 --json
> {
>   "machine": "ring-4",
>   "traffic": "uniform",
>   "routing": "dimension-order",
>   "vc_rule": "dateline",
>   "engine": "cycle",
>   "points": [
>     {
>       "load": 0.3,
>       "queueing": null,
>       "flit": {
> ...
>         "stable": true
>       }
>     },
>     {
>       "load": 0.6,
>       "queueing": null,
>       "flit": {
> ...
>         "stable": true
>       }
>     }
>   ],
>   "saturation": {
>     "queueing": null,
> ...
>   },
>   "ideal_throughput": 1.0,
>   "error_against": null,
>   "calibration": null,
>   "uncalibrated_because": null
> }
$ cd $TMP; fabricast curve -m ./ring.yaml -p uniform --packet-flits 4 --loads 0.95 --measure 2000 --warmup 1000 --json | grep -A3 '"flit": {'
>       "flit": {
>         "packet_latency_cycles": null,
> ...
>         "half_width_cycles": null,
$ cd $TMP; fabricast curve -m ./ring.yaml -p uniform --packet-flits 1 --loads 50% --warmup 500 --measure 2000 --plot p | tail -1; head -1 p/latency-curve.tsv; ls p
> plot: p/latency-curve.png
> series	machine	offered_flits_per_node_cycle	accepted_flits_per_node_cycle	packet_latency_cycles	half_width_cycles	model_latency_cycles	model_low_cycles	model_high_cycles
> latency-curve.gp
> latency-curve.png
> latency-curve.tsv

# The queueing model: alone, beside the kernel, and above its saturation.
$ cd $TMP; fabricast curve -m ./ring.yaml -p uniform --packet-flits 4 --loads 0.2,0.4,1.5 --solver queueing
> machine     ring-4: a ring
> run         uniform, routing dimension-order, rule dateline
> model       queueing, from 6 calibrated torus machines (nearest tmesh-216-central), not from this machine; errors against the kernel on its family
>
>      offered      latency           +-
> flits/node/c       cycles            %
> ...
>          1.5            -            -
>
> ...
$ cd $TMP; fabricast curve -m ./ring.yaml -p uniform --packet-flits 4 --loads 0.2,1.5 --solver queueing --json | grep -vE '_cycles": [0-9]'
> {
>   "machine": "ring-4",
>   "traffic": "uniform",
>   "routing": "dimension-order",
>   "vc_rule": "dateline",
>   "engine": null,
>   "points": [
>     {
>       "load": 0.2,
>       "queueing": {
>         "accepted": 0.2,
> ...
>         "tier": "transfer",
>         "elsewhere": false,
>         "extrapolated": false,
>         "why": "",
>         "stable": true
>       },
>       "flit": null
>     },
>     {
>       "load": 1.5,
>       "queueing": {
>         "packet_latency_cycles": null,
>         "accepted": null,
>         "error_percent": null,
>         "tier": "transfer",
>         "elsewhere": false,
>         "extrapolated": false,
>         "why": "",
>         "network_latency_cycles": null,
>         "source_queue_cycles": null,
>         "p95_cycles": null,
>         "p99_cycles": null,
>         "stable": false
>       },
>       "flit": null
>     }
>   ],
>   "saturation": {
> ...
>     "flit": null,
> ...
>   },
>   "ideal_throughput": 1.0,
>   "error_against": "family",
> ...
>   "uncalibrated_because": "no calibration of this machine (`fabricast calibrate` makes one)"
> }
$ cd $TMP; fabricast curve -m ./ring.yaml -p uniform --packet-flits 4 --loads 0.3 --solver both --warmup 500 --measure 2000 --plot q | sed -n '2,6p'; ls q; grep -c 'queueing model' q/latency-curve.gp
> run         uniform, routing dimension-order, rule dateline, cycle engine
> model       queueing, from 6 calibrated torus machines (nearest tmesh-216-central), not from this machine; errors against the kernel on its family
>
>      offered     accepted      latency           +-        model           +-    deviation
> flits/node/c flits/node/c       cycles       cycles       cycles            %            %
> latency-curve.gp
> latency-curve.png
> latency-curve.tsv
> 1
$ cd $TMP; fabricast curve -m ./ring.yaml -p uniform --packet-flits 4 --loads 0.3 --solver both --warmup 500 --measure 2000 --json | grep -c deviation_percent
> 1

# Single pairs, by distance, closed injection: a packet a node, never more.
$ cd $TMP; fabricast curve -m ./ring.yaml -p uniform --packet-flits 4 --loads 0.2,1.5 --solver queueing --pairs 0-1,0-2 --windows 1,100000 | sed -n '/pair/,$p' | sed -E 's/[0-9.]+ +[0-9.]+ +[0-9.]+$/.../; s/[0-9.]+ +([a-z]+)$/... \1/'
>      offered              pair     hops        empty         mean          95%          99%  (cycles)
>          0.2               0-1        1        11.00        ...
>          0.2               0-2        2        14.00        ...
>
>       window     accepted      latency  limit
>      packets flits/node/c       cycles
>            1       0.3352        ... window
>       100000       0.7723        ... window
$ cd $TMP; fabricast curve -m ./ring.yaml -p uniform --packet-flits 4 --loads 0.2 --solver queueing --by-hops | sed -n '/of packets/,$p' | cut -c 1-52
>      offered      % of packets     hops        empty
>          0.2            25.000        0         8.00
>          0.2            50.000        1        11.00
>          0.2            25.000        2        14.00
$ cd $TMP; fabricast curve -m ./ring.yaml -p uniform --packet-flits 4 --loads 0.2 --solver queueing --pairs 3-3 --by-hops --windows 2 --json | grep -cE '"(pairs|by_hops|windows)"'
> 3

# Refusals.
$ cd $TMP; fabricast curve -m ./ring.yaml -p uniform --loads 0.2 --solver queueing --pairs 0-4
! fabricast: --pairs: '0-4': the machine has nodes 0 to 3
? 2
$ cd $TMP; fabricast curve -m ./ring.yaml -p uniform --loads 0.2 --solver queueing --pairs 0:3
! fabricast: --pairs: '0:3' is no pair (expected nodes FROM-TO, e.g. 0-17,3-9)
? 2
$ cd $TMP; fabricast curve -m ./ring.yaml -p uniform --loads 0.2 --by-hops
! fabricast: --by-hops: for the queueing model (expected --solver queueing or both)
? 2
$ cd $TMP; fabricast curve -m ./ring.yaml -p uniform --loads 0.2 --solver queueing --windows 4,0
! fabricast: --windows: '0' is no window (expected 1 to 1000000 packets)
? 2
$ cd $TMP; fabricast curve -m ./ring.yaml -p uniform
! fabricast: no loads (expected --loads FROM:TO:STEP in flits a node and cycle, e.g. --loads 0.05:0.95:0.05, or a list)
? 2
$ cd $TMP; fabricast curve -m ./ring.yaml -p uniform --loads 0.1:0.5
! fabricast: --loads: '0.1:0.5' is no range (expected FROM:TO:STEP, e.g. 0.05:0.95:0.05)
? 2
$ cd $TMP; fabricast curve -m ./ring.yaml -p uniform --loads 0.5:0.1:0.1
! fabricast: --loads: '0.5:0.1:0.1' ends below its start (expected FROM:TO:STEP)
? 2
$ cd $TMP; fabricast curve -m ./ring.yaml -p uniform --loads 0.1:0.9:1e-5
! fabricast: --loads: '0.1:0.9:1e-5' are 80001 points (at most 1000)
? 2
$ cd $TMP; fabricast curve -m ./ring.yaml -p uniform --loads 0.1,,0.3
! fabricast: '0.1,,0.3': an empty name in the list
? 2
$ cd $TMP; fabricast curve -m ./ring.yaml -p uniform --loads 0.1,x
! fabricast: --loads: 'x' is no load (expected flits a node and cycle above 0, e.g. 0.3, or 60% of the ideal throughput)
? 2
$ cd $TMP; fabricast curve -m ./ring.yaml -p uniform --loads 0.5,2
! fabricast: load 2: node 0 would offer 2 flits a cycle, but its injection links take 1 (load counts flits a node and cycle; at most 1 here; write a percentage, such as 80%, for a share of the ideal throughput)
? 2
$ cd $TMP; fabricast curve -m ./ring.yaml -p uniform --loads 0.5 --solver fast
! fabricast: --solver: 'fast' is unknown (expected queueing, flit or both)
? 2
$ cd $TMP; fabricast curve -m ./ring.yaml -p stencil2d:grid=4x2,bytes=64 --loads 0.5
! fabricast: --loads: stencil2d:grid=4x2,bytes=64 has 8 tasks, and rates are those of the 4 nodes (without it its messages are sent as fast as they go)
? 2

# Designs side by side.
$ cd $TMP; fabricast curve -m bgl-64,qsnet-64 -p uniform --loads 20%,60% --solver queueing -q --plot c --per bisection >text; tail -4 text; head -1 c/latency-curve.tsv; cut -f1,2 c/latency-curve.tsv | tail -2
> machine                 nodes    latency     saturation  GB/s a node  injection  bisection    error
> bgl-64                     64   2.076 us        0.05607        0.314       29.9       89.7      1.6
> qsnet-64                   64   1.525 us         0.6029       0.2412       60.3       30.1      5.0
> latency: of a packet at the least load; saturation: flits/node/cycle; injection, bisection: percent of these that it is, bisection as if traffic were uniform
> series	machine	offered_percent_of_bisection	accepted_percent_of_bisection	packet_latency_ns	half_width_ns	model_latency_ns	model_low_ns	model_high_ns
> 1	qsnet-64
> 1	qsnet-64
$ fabricast curve -m bgl-64,qsnet-64 -p uniform --loads 20% --solver queueing -q --json | grep -c '"injection_percent"'
> 2
$ fabricast curve -m bgl-64,qsnet-64 -p uniform --loads 20% --solver queueing --plot $TMP/c --per nodes
! fabricast: --per: 'nodes' is unknown (expected node, injection or bisection)
? 2
$ fabricast curve -m bgl-64 -p uniform --loads 20% --solver queueing --plot $TMP/c --per node
! fabricast: --per: for a plot of several machines (expected -m A,B --plot DIR)
? 2
$ cd $TMP; fabricast curve -m ./ring.yaml -p uniform --packet-flits 1 --loads 30%,80% --precision 5%
> machine     ring-4: a ring
> run         uniform, routing dimension-order, rule dateline, cycle engine
>
>      offered     accepted      latency           +-
> flits/node/c flits/node/c       cycles       cycles
>          0.3       0.3003         8.14         0.15
>          0.8       0.7999        12.30         0.31
>
> saturation  0.8586 flits/node/cycle offered, 85.9 % of the ideal throughput 1
$ cd $TMP; fabricast curve -m ./ring.yaml -p neighbor --packet-flits 4 --solver flit --loads 30% --precision 2% | grep saturation
> saturation  1 flits/node/cycle offered, 100.0 % of the ideal throughput 1
$ cd $TMP; for length in '' '--warmup 500 --measure 2000'; do fabricast curve -m ./ring.yaml -p uniform --packet-flits 8 --loads 30% $length --json | grep -e precision; done
>         "precision_reached": true
>   "precision": 0.01
? 1
$ cd $TMP; fabricast curve -m ./ring.yaml -p uniform --packet-flits 1 --loads 30% --precision 0
! fabricast curve: --precision: '0' is out of range (allowed: 0.0001 to 0.5)
! Try `fabricast curve --help' or `fabricast curve --usage' for more
! information.
? 2
$ cd $TMP; fabricast curve -m ./ring.yaml -p neighbor --packet-flits 4 --solver both --loads 50%,90% --precision 2%
> machine     ring-4: a ring
> run         neighbor, routing dimension-order, rule dateline, cycle engine
> model       queueing, nobody meets in this traffic: each source's pace by a short run of the kernel; errors against it
>
>      offered     accepted      latency           +-        model           +-    deviation
> flits/node/c flits/node/c       cycles       cycles       cycles            %            %
>          0.5       0.4998        12.45         0.18        12.50          1.0          0.4
>          0.9          0.9        24.59         0.40        24.50          2.4         -0.4
>
> saturation  1 flits/node/cycle offered, 100.0 % of the ideal throughput 1
> model       1 +- 1.5 %, deviation +0.0 %
$ fabricast curve -m bgl-64 -p neighbor --routing dimension-order --solver queueing --loads 50% --json | grep -E '"(tier|queueing_error_percent|error_against|extrapolated|why)"'
>         "tier": "alone",
>         "extrapolated": false,
>         "why": "",
>     "queueing_error_percent": 1.5
>   "error_against": "kernel",

$ for d in 4 5; do fabricast curve -m fugaku-torus --set network.dims=[$d,4,4] -p uniform --solver queueing --loads 10%,20% | grep ^model; done; fabricast curve -m fugaku-torus --set network.dims=[5,4,4] -p uniform --solver queueing --loads 10% --json | grep elsewhere
> model       queueing, calibrated by fugaku-torus.calibration.yaml (anchored); errors against the kernel
> model       queueing, calibrated by fugaku-torus.calibration.yaml (transfer; nothing was run on this network); errors against the kernel
>         "elsewhere": true,
