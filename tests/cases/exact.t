# The proven best mapping of a small job, and what is said of it.

$ fabricast map -q -m bgl-64 --routing dimension-order -p stencil2d:grid=3x3,bytes=64KiB --nodes 0-8 --strategy exact | grep -E '^(bound|proof)'
> bound       1.054 ms: no mapping is faster (all mappings)
> proof       exact: no mapping has less time
$ fabricast map -q -m bgl-64 --routing dimension-order -p stencil2d:grid=3x3,bytes=64KiB --nodes 0-8 --strategy exact:hops --time 10s | grep ^proof
> proof       exact:hops: no mapping has less hop-bytes
$ fabricast map -q -m bgl-64 -p stencil2d:grid=3x3,bytes=64KiB --nodes 0-8 --strategy exact | grep ^proof
> proof       exact: no mapping has less time than 842.9 us, for even splits over the minimal routes; the table's times are of the solver's splits
$ fabricast map -q -m bgl-64 -p stencil2d:grid=8x8,bytes=64KiB --strategy exact
! fabricast: strategy exact: 64 tasks on 64 nodes are too many to prove the best mapping of (at most 16 tasks and 16 nodes; --nodes allows fewer nodes)
? 2
$ fabricast map -q -m bgl-64 -p stencil2d:grid=4x4,bytes=64KiB --nodes 0-15 --strategy exact:hops
! fabricast: strategy exact:hops: 16 tasks on 16 nodes are too many (at most 144 task-node pairs, e.g. 12 tasks on 12 nodes)
? 2
$ fabricast map -q -m bgl-64 -p stencil2d:grid=3x3,bytes=64KiB --strategy exact:links
! fabricast: strategy exact: unknown objective 'links' (expected time or hops)
? 2
$ fabricast map -q --json -m bgl-64 --routing dimension-order -p stencil2d:grid=3x3,bytes=64KiB --nodes 0-8 --strategy exact | grep -E 'gap_percent|bound_binds|proof|objective|proven|even_splits'
>   "bound_binds": "all mappings",
>   "gap_percent": 0.0,
>   "proof": {
>     "objective": "time",
>     "proven": true,
>     "gap_percent": 0.0,
>     "even_splits": false
