# What README.md showed until its examples became simpler: four machines, a two-level network, a certificate, a curve.
$ fabricast predict -t traces/samples/lammps-lj-16.fct -m qsnet-64,percs-16,tmesh-216 --map def,optimize --time 200ms
> lammps-lj-16.fct, 16 tasks
>
> machine          mapping            time   comm %  of peak  of best    error  against  bottleneck
> qsnet-64         def            145.7 ms     56.1     56.8     36.1    +-8 %   kernel  down L1.0->node 1
> qsnet-64         optimize       143.1 ms     56.9     75.5     36.8    +-6 %   kernel  down L1.3->node 13
> percs-16         def            62.61 ms      5.6    100.0     84.1     none   kernel  computation
> percs-16         optimize=def   62.61 ms      5.6    100.0     84.1     none   kernel  computation
> tmesh-216        def            71.88 ms     20.0     91.8     73.2    +-2 %   kernel  x- (1,0,0).0->(0,0,0).1
> tmesh-216        optimize        70.5 ms     16.0     99.8     74.7    +-1 %   kernel  x- (4,0,2).0->(3,0,2).1
$ fabricast load -m percs-16 -p stencil2d:grid=128x128,bytes=64KiB
> machine     percs-16: PERCS, 16 supernodes (16 384 cores, the case of Table 1)
> confidence  high for topology and bandwidths (stated); hosts of the D links, latencies, delays and software costs are estimates; packet overhead is unknown, so links carry payload only
> traffic     stencil2d:grid=128x128,bytes=64KiB, 16384 tasks, 2.215 GB between nodes, 2.08 GB inside
> mapping     def, routing direct (structural)
>
> class          links      used          min         mean          max
> ll              3584      1568     65.54 KB       856 KB     2.163 MB
> lr             12288       512     2.097 MB     2.097 MB     2.097 MB
> d                240        32     8.389 MB     8.389 MB     8.389 MB
> injection       1024      1024     4.325 MB     4.325 MB     4.325 MB
>
> ll links by load
>          0 B .. 216.3 KB        960 ########################################
>     1.946 MB .. 2.163 MB        608 ##########################
>
> lr links by load
>     1.887 MB .. 2.097 MB        512 ########################################
>
> d links by load
>      7.55 MB .. 8.389 MB         32 ########################################
>
> injection links by load
>     3.893 MB .. 4.325 MB       1024 ########################################
>
> hottest links
>   D 0.0->1.0                               8.389 MB     838.9 us
>   D 0.0->15.0                              8.389 MB     838.9 us
>   D 1.0->0.0                               8.389 MB     838.9 us
>   D 1.0->2.0                               8.389 MB     838.9 us
>   D 2.0->1.0                               8.389 MB     838.9 us
>
> hop-bytes   2.684 GB (1.212 hops a byte)
> bound       838.9 us (busiest link 838.9 us, wire bytes 1 x payload)
> time        840.6 us on the network, 99.8 % of peak
> error       +-6 % against the kernel, calibrated by percs-16.calibration.yaml
$ fabricast certify -m tmesh-216
> machine     tmesh-216: TMesh, 6 x 6 x 6 torus of chips with a 4 x 4 mesh, bridges LN{0,2,4} RN{1,3,5}
> confidence  high for sizes, bandwidths and bridges (stated); delays, packets (as Blue Gene/Q), buffers and software costs are estimates
> rule        six-vc on routing dimension-order: 6 virtual channels a link
> graph       95904 channels (38088 used), 72144 arcs
> answer      free of deadlock: acyclic
>             Traffic for dimension d has mesh channels of its own on either side of the dateline, where it only moves on around the ring: a straight mesh route never returns to the bridge it came in by. The dependency graph (38088 channels in use) has no cycle: what a packet holds always comes before what it waits for in the topological order.
$ fabricast curve -m bgl-64 -p uniform --loads 20%:100%:20% --solver both --warmup 16000 --measure 128000
> machine     bgl-64: Blue Gene/L, 4 x 4 x 4 torus (the VHDL test)
> confidence  high for links, packets and buffers (stated); router delay and software costs are estimates
> run         uniform, routing adaptive, rule bubble, event engine
> model       queueing, calibrated by bgl-64.calibration.yaml (anchored); errors against the kernel
>
>      offered     accepted      latency           +-        model           +-    deviation
> flits/node/c flits/node/c       cycles       cycles       cycles            %            %
>      0.01185      0.01188       364.42         1.89       363.26          1.0         -0.3
>       0.0237      0.02375       432.31         3.47       430.00          1.0         -0.5
>      0.03556      0.03566       550.68         6.16       553.42          1.0          0.5
>      0.04741      0.04739       859.98        33.03       851.36          2.6         -1.0
>      0.05926      0.05617     unstable            -            -            -            -
>
> saturation  0.05605 flits/node/cycle offered, 94.6 % of the ideal throughput 0.05926
> model       0.05607 +- 1.6 %, deviation +0.0 %
