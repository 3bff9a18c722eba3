# A step of the 4D stencil of the PERCS paper on 64 supernodes: its computation, and the link that the default mapping loads.
$ fabricast predict -m percs-64 -p stencil4d:grid=16x16x16x16,bytes=2MiB --compute 224ms --routing indirect | grep -E '^(job|time|computation|communication|bound)'
> job            stencil4d:grid=16x16x16x16,bytes=2MiB, 65536 tasks, mapping def, routing indirect
> time           245.6 ms
> computation    224 ms
> communication  21.57 ms (8.8 % of the time)
> bound          244.3 ms: no run with this mapping and routing is faster
$ fabricast predict -m percs-64 -t traces/samples/lammps-lj-64.fct --compute 1ms
! fabricast: --compute: a trace has its own computation (expected -p or -g)
? 2
# Table 5's supernodes of 8x8x4x4 tasks, the nodes as in bsm; and a drawer that its nodes do not fill evenly.
$ fabricast map -m percs-64 -p stencil4d:grid=16x16x16x16,bytes=2MiB --map shapes:4x2x2x2/4x4x4x4/8x8x4x4 | awk 'END {print $1, $2, $3, $6}'
> shapes:4x2x2x2/4x4x4x4/8x8x4x4 53.69 ms 1.830
$ fabricast map -m percs-64 -p stencil4d:grid=16x16x16x16,bytes=2MiB --map shapes:4x2x2x2/6x4x4x2
! fabricast: strategy shapes: a side of 6 tasks of the drawer is no multiple of the node's 4 (nearest valid shapes: 8x4x4x2, 4x8x4x2, 4x4x8x2)
? 2
