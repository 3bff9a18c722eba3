# Beside other jobs: what a background takes, who it is, and what is refused; collectives that networks carry out.

$ fabricast predict -m bgl-64 -p alltoall:bytes=4096 --background uniform:30% -q | grep -E '^(time|bound|error|background)'
> time           1.285 ms
> bound          1.211 ms: no run with this mapping and routing is faster
> error          +-8 % against the kernel, calibrated by bgl-64.calibration.yaml; extrapolated: no run had a background
> background     uniform:30%: 64 nodes send 5.88 GB/s; of the busiest link, x+ (0,0,0)->(1,0,0), it takes 30.0 %; of the bottleneck 30.0 %
$ fabricast predict -m bgl-64 -p alltoall:bytes=4096 -q | grep -cE '^background'
> 0
? 1
$ fabricast predict -m bgl-64 -p alltoall:bytes=4096 --background hotregion:fraction=0.25,region=0.125,load=50MB/s --background-nodes 0-15,48-63 --json -q | grep -A8 '"background"'
>   "background": {
>     "what": "hotregion:fraction=0.25,region=0.125,load=50MB/s",
>     "nodes": 32,
>     "offered_bytes_per_s": 1550000000.0,
>     "max_utilization": 0.308035714285714,
>     "busiest_link": "x- (2,0,0)->(1,0,0)",
>     "bottleneck_utilization": 0.308035714285714,
>     "full": false
>   }
$ printf '%%%%MatrixMarket matrix coordinate real general\n64 64 2\n1 3 1e6\n2 3 5e5\n' > $TMP/b.mtx; for b in b.mtx:over=10ms b.mtx b.mtx:over=1ms; do fabricast predict -m bgl-64 -p tornado:bytes=240 --background $TMP/$b -q 2>&1 | grep -E 'background'; done
> error          +-26 % against the kernel, calibrated by bgl-64.calibration.yaml; extrapolated: no run had a background
> background     b.mtx:over=10ms: 2 nodes send 150 MB/s; of the busiest link, x+ (1,0,0)->(2,0,0), it takes 50.2 %
> error          +-21 % against the kernel, calibrated by bgl-64.calibration.yaml; extrapolated: no run had a background
> background     b.mtx: 2 nodes send 1.5 MB/s; of the busiest link, x+ (1,0,0)->(2,0,0), it takes 0.5 %
> fabricast: the background would keep link x+ (1,0,0)->(2,0,0) busy for 502.2 % of the time (expected less than 100 %)
$ fabricast load -m bgl-64 -p alltoall:bytes=4096 --background uniform:50% -q | grep -E '^time'
> time        1.794 ms on the network, 94.5 % of peak
$ fabricast predict -m bgl-64 -t traces/samples/lammps-lj-16.fct --nodes 0-7 --background trace:traces/samples/lammps-lj-16.fct -q | grep -E '^(time|background)'
> time           191 ms
> background     lammps-lj-16.fct: 8 nodes send 841.3 MB/s; of the busiest link, x- (1,2,0)->(0,2,0), it takes 52.6 %; of the bottleneck 0.0 %
$ fabricast predict -m bgl-64 -t traces/samples/lammps-lj-16.fct --background-nodes 0-7 --background trace:traces/samples/lammps-lj-16.fct:over=1s -q | grep -E '^(time|background)'
> time           203.2 ms
> background     lammps-lj-16.fct:over=1s: 8 nodes send 160.6 MB/s; of the busiest link, x- (1,0,0)->(0,0,0), it takes 10.0 %; of the bottleneck 10.0 %
$ fabricast predict -m bgl-64 -t traces/samples/lammps-lj-16.fct --network queueing --background uniform:40% -q | grep -E '^(time|background)'
> time           277 ms
> background     uniform:40%: 64 nodes send 7.84 GB/s; of the busiest link, x+ (0,0,0)->(1,0,0), it takes 40.0 %; of the bottleneck 40.0 %
$ fabricast predict -m bgl-64 -t traces/samples/lammps-lj-16.fct --background-nodes 0-7 --background job:traces/samples/lammps-lj-16.fct -q | grep -E '^(time|bound|background)'
> time           298.4 ms
> bound          147.5 ms: no run with this mapping and routing is faster
> background     lammps-lj-16.fct: 16 tasks, up to 3 runs of 191 ms alone; this job alone takes 191 ms
$ fabricast predict -m bgl-64 -t traces/samples/lammps-lj-16.fct --nodes 0-7 --background job:traces/samples/lammps-lj-16.fct --json -q | grep -A6 '"background"'
>   "background": {
>     "what": "job:traces/samples/lammps-lj-16.fct",
>     "tasks": 16,
>     "runs": 3,
>     "alone_s": 0.190990069322059,
>     "other_alone_s": 0.190990069322059
>   }

# QsNET: the software barrier collapses beside traffic that fills the network, the hardware's doubles.
$ awk 'BEGIN { print "fabricast-trace 1\nprogram hand\nranks 64\ncomm 0 0-63\nevents 64"; for (r = 0; r < 64; r++) print "rank " r " 1\nbarrier 0 0 0 comm=0"; print "end" }' > $TMP/barrier; seq 0 4 252 > $TMP/map; for a in hardware elan; do for b in -q --background=uniform:full; do fabricast predict -m qsnet-64 -t $TMP/barrier --map $TMP/map --collectives barrier=$a $b -q | grep '^time'; done; done
> time           6.001 us
> time           14.38 us
> time           14.8 us
> time           595.2 us
$ fabricast predict -m qsnet-64 -t $TMP/barrier --map $TMP/map --collectives hardware --background uniform:30%
! fabricast: barrier by hardware: beside a background its time is known only for one that fills the network (expected a pattern of load full, or no background)
? 2
$ fabricast predict -m bgl-64 -t $TMP/barrier --collectives hardware 2>&1 | sed 's/.*yaml: //'
> nic: a barrier or broadcast in hardware is for machines with nic: and router.multicast: tree
$ sed 's/^barrier \(.*\)/bcast \1 root=0 bytes=1048576/; s/^ranks.*/ranks 4/; s/0-63/0-3/; s/^events.*/events 4/' $TMP/barrier | awk '/^rank / && $2 > 3 { skip = 2 } skip-- > 0 { next } 1' > $TMP/bcast; seq 0 2 6 > $TMP/four; fabricast predict -m bgl-64 -t $TMP/bcast --map $TMP/four --collectives bcast=line -q | grep -E '^(time|traffic)'; fabricast predict -m bgl-64 -t $TMP/bcast --map $TMP/four --collectives bcast=plane -q
> time           3.375 ms
> traffic        3.146 MB between nodes, 0 B inside, 0 B hop-bytes
! fabricast: bcast by plane: the members' nodes differ in 1 dimensions (expected 2)
? 2
$ fabricast list collectives | grep -E 'QsNET, Pet|BG/L'
>   hardware (barrier)           QsNET, Petrini et al. 2001: hgsync
>   hardware-event (barrier)     QsNET, Petrini et al. 2001: hgsyncEvent
>   elan (barrier)               QsNET, Petrini et al. 2001: gsync
>   hardware (bcast)             QsNET, Petrini et al. 2001: hbcast
>   elan (bcast)                 QsNET, Petrini et al. 2001: bcast
>   line (bcast)                 BG/L deposit bit, Adiga et al. 2005
>   plane (bcast)                BG/L deposit bit, Adiga et al. 2005

# Refused.
$ fabricast predict -m bgl-64 -p tornado:bytes=1KiB --background uniform
! fabricast: --background: uniform has no load (expected PATTERN:LOAD, e.g. uniform:0.3, or PATTERN:key=value,load=LOAD)
? 2
$ fabricast predict -m bgl-64 -p tornado:bytes=1KiB --background hotregion:fraction=0.25
! fabricast: --background: hotregion:fraction=0.25 has no load (expected PATTERN:LOAD, e.g. uniform:0.3, or PATTERN:key=value,load=LOAD)
? 2
$ fabricast predict -m bgl-64 -p tornado:bytes=1KiB --background uniform:fast
! fabricast: --background: 'fast' is no load (expected flits a node and cycle, e.g. 0.3, a part of the busiest link's time, e.g. 30%, payload a node, e.g. 50MB/s, or full)
? 2
$ fabricast predict -m bgl-64 -p tornado:bytes=1KiB --background uniform:120%
! fabricast: --background: '120%' is no load (expected flits a node and cycle, e.g. 0.3, a part of the busiest link's time, e.g. 30%, payload a node, e.g. 50MB/s, or full)
? 2
$ fabricast predict -m bgl-64 -p tornado:bytes=1KiB --background uniform:-1
! fabricast: --background: '-1' is no load (expected flits a node and cycle, e.g. 0.3, a part of the busiest link's time, e.g. 30%, payload a node, e.g. 50MB/s, or full)
? 2
$ fabricast predict -m bgl-64 -p tornado:bytes=1KiB --background uniform:1
! fabricast: the background would keep link x+ (0,0,0)->(1,0,0) busy for 1688 % of the time (expected less than 100 %)
? 2
$ fabricast predict -m bgl-64 -p tornado:bytes=1KiB --background uniform:full --background-nodes 0-7
! fabricast: uniform: sources that always have a packet waiting are those of all nodes (leave the list of nodes out, or give a load)
? 2
$ fabricast predict -m bgl-64 -p tornado:bytes=1KiB --background uniform:30% --background-nodes 60-64
! fabricast: --background-nodes: '60-64' is out of range (allowed: 0 to 63)
? 2
$ fabricast predict -m bgl-64 -p tornado:bytes=1KiB --background-nodes 0-7
! fabricast: --background-nodes: no background (expected --background)
? 2
$ fabricast predict -m bgl-64 -p tornado:bytes=1KiB --background no-such-file
! fabricast: no-such-file: cannot be read: No such file or directory
? 2
$ fabricast predict -m bgl-64 -p tornado:bytes=1KiB --background $TMP/b.mtx:over=0s
! fabricast: --background: over=0s is not a time above 0 and up to 1e9 s
? 2
$ fabricast predict -m bgl-64 -p tornado:bytes=1KiB --background $TMP/b.mtx --background-nodes 0-3 2>&1 | sed 's/.*b.mtx: //'
> the background has 64 tasks, 1 a node, and 4 nodes to run on
$ fabricast predict -m bgl-64 -p tornado:bytes=1KiB --background job:traces/samples/lammps-lj-16.fct
! fabricast: --background: job:FILE is replayed beside a trace (expected -t TRACE; or trace:FILE, its mean rates)
? 2
$ fabricast predict -m bgl-64 -t traces/samples/lammps-lj-16.fct --background trace:traces/samples/lammps-lj-16.fct
! fabricast: --background: on which nodes does the other job run? (expected --background-nodes LIST, or --nodes LIST for this one: the other then has the rest)
? 2
$ fabricast predict -m bgl-64 -t traces/samples/lammps-lj-16.fct --background uniform:30% --network ideal
! fabricast: --background: on an ideal network no message meets another (expected --network contention, queueing or flit)
? 2
$ fabricast load -m bgl-64 -t traces/samples/lammps-lj-16.fct --background job:traces/samples/lammps-lj-16.fct --nodes 0-7
! fabricast: --background: job:FILE is for `predict` (expected trace:FILE, its mean rates)
? 2
$ fabricast map -m bgl-64 -p stencil2d:grid=4x4,bytes=64KiB --strategy def --background tornado:0.013 --background-nodes 0-31 | grep -E '^(background|bound|def)' | sed 's/ 0[.]0.. / /'
> background  tornado:0.013: 16 nodes send 2.184 GB/s; of the busiest link, z+ (0,0,0)->(0,0,1), it takes 87.8 %
> bound       281 us: no mapping is faster (grid surface of one, nodes)
> def            6.848 ms       53.9       24.371      2.000      x+ (2,0,0)->(3,0,0)
$ fabricast predict -m bgl-64 -p alltoall:bytes=4096 --background uniform:10% --background uniform:20% -q | grep -E '^(time|bound|background)'
> time           1.285 ms
> bound          1.211 ms: no run with this mapping and routing is faster
> background     uniform:10% + uniform:20%: 64 nodes send 5.88 GB/s; of the busiest link, x+ (0,0,0)->(1,0,0), it takes 30.0 %; of the bottleneck 30.0 %
$ fabricast predict -m bgl-64 -t traces/samples/lammps-lj-16.fct --nodes 0-7 --background trace:traces/samples/qe-si-16.fct:over=1s --background-nodes 8-15 --background trace:traces/samples/lammps-lj-16.fct:over=1s --background-nodes 16-23 -q --json | grep -E '"(what|nodes)"'
>     "what": "trace:traces/samples/qe-si-16.fct:over=1s + trace:traces/samples/lammps-lj-16.fct:over=1s",
>     "nodes": 16,
$ fabricast predict -m bgl-64 -t traces/samples/lammps-lj-16.fct --nodes 0-7 --background trace:traces/samples/qe-si-16.fct --background uniform:10%
! fabricast: --background: of several jobs each has nodes of its own (expected --background-nodes LIST behind trace:traces/samples/qe-si-16.fct)
? 2
$ fabricast predict -m bgl-64 -t traces/samples/lammps-lj-16.fct --nodes 0-7 --background job:traces/samples/qe-si-16.fct --background uniform:10%
! fabricast: --background: a job: is replayed alone beside this one (expected trace:FILE for each of several)
? 2
$ fabricast flit -m bgl-64 -p uniform --load 0.1 --background uniform:0.1 --background uniform:0.1
! fabricast: --background: given more than once (expected one)
? 2
$ fabricast predict -m bgl-64 -p stencil2d:grid=4x4,bytes=64KiB --background uniform:10% --background uniform:10% --background-nodes 0-7 --background-nodes 8-15
! fabricast: --background-nodes: given twice for one background (expected one list behind each --background)
? 2
