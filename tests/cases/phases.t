# Phases of a trace: the table, one of them as the traffic of flit and load, every refusal.

# Two ranks: a first exchange, four times the same two phases, a message until the end.
$ cd $TMP; { printf 'fabricast-trace 1\nprogram ./ring\nrecorded by hand\nranks 2\ncomm 0 0-1\nevents 28\n'; for r in 0 1; do p=$((1-r)); echo rank $r 14; echo allgather 0 0 0 comm=0 bytes=100; for i in 1 2 3 4; do [ $r = 1 ] || echo send 0 0 0 comm=0 peer=1 tag=1 bytes=1000; echo allreduce 0 0 0 comm=0 bytes=8; [ $r = 0 ] || echo recv 0 0 0 comm=0 peer=0 tag=1 bytes=1000; echo barrier 0 0 0 comm=0; done; [ $r = 1 ] || echo send 0 0 0 comm=0 peer=1 tag=2 bytes=7; [ $r = 0 ] || echo recv 0 0 0 comm=0 peer=0 tag=2 bytes=7; done; echo end; } > ring.txt; fabricast trace info ring.txt --phases
> trace        ring.txt
> program      ./ring
> recorded     by hand
> ranks        2, communicators 1
> events       28, messages 5, collective calls 18, failed polls 0
> volume       point-to-point 4.007 KB over 1 pairs, collectives 264 B
> time         span 0 s; a rank on average: 0 s CPU between calls, 0 s inside MPI (wall, as recorded)
> balance      every message has a sender and a receiver, every request is waited for
> period       none: no calls about the middle of any rank repeat 5 times
>
> call                  count        bytes
> send                      5     4.007 KB
> recv                      5     4.007 KB
> barrier                   8          0 B
> allgather                 2        200 B
> allreduce                 8         64 B
>
> bytes              messages       volume collective calls
> 0                         0          0 B                8
> 4 .. <8                   1          7 B                0
> 8 .. <16                  0          0 B                8
> 64 .. <128                0          0 B                2
> 512 .. <1Ki               4         4 KB                0
>
> sends to              ranks   (at most 1)
> 0                         1
> 1                         1
>
> 10 phases of 4 kinds, collectives expanded
> phases     times  kind  ends with     pairs  messages     bytes  most of a rank
> 0              1     0  allgather         2         2     200 B           100 B
> 1, 3 .. 7      4     1  allreduce         2         3  1.016 KB        1.008 KB
> 2, 4 .. 8      4     2  barrier           2         2       0 B             0 B
> 9              1     3  end of trace      1         1       7 B             7 B
$ cd $TMP; fabricast trace info ring.txt --phases --json | sed -n '/phases/,$p'
>   "phases": {
>     "count": 10,
>     "kinds": 4,
>     "rows": [
>       {
>         "first": 0,
>         "step": 1,
>         "times": 1,
>         "kind": 0,
>         "ends_with": "allgather",
>         "pairs": 2,
>         "messages": 2,
>         "bytes": 200.0,
>         "max_rank_bytes": 100.0
>       },
>       {
>         "first": 1,
>         "step": 2,
>         "times": 4,
>         "kind": 1,
>         "ends_with": "allreduce",
>         "pairs": 2,
>         "messages": 3,
>         "bytes": 1016.0,
>         "max_rank_bytes": 1008.0
>       },
>       {
>         "first": 2,
>         "step": 2,
>         "times": 4,
>         "kind": 2,
>         "ends_with": "barrier",
>         "pairs": 2,
>         "messages": 2,
>         "bytes": 0.0,
>         "max_rank_bytes": 0.0
>       },
>       {
>         "first": 9,
>         "step": 1,
>         "times": 1,
>         "kind": 3,
>         "ends_with": null,
>         "pairs": 1,
>         "messages": 1,
>         "bytes": 7.0,
>         "max_rank_bytes": 7.0
>       }
>     ]
>   }
> }
# A phase as messages is the same as its graph: here flit.t's first case.
$ cd $TMP; printf 'name: ring-4\ntitle: a ring\nclock: 1 GHz\nnetwork: {family: torus, dims: [4]}\nlinks: {torus: {bandwidth: 8 GB/s, latency: 1 cycle}, injection: {bandwidth: 8 GB/s, latency: 1 cycle}}\nrouter: {delay: 2 cycles, flit: 8 B, flow_control: cut-through, credit: 1 cycle, vcs: 2, buffer: 128 B, escape: dateline, routing: dimension-order}\npacket: {min: 8 B, max: 64 B}\n' > ring.yaml; printf '%%%%MatrixMarket matrix coordinate real general\n4 4 2\n1 2 40\n1 3 8\n' > g.mtx; { printf 'fabricast-trace 1\nprogram ./four\nranks 4\ncomm 0 0-3\nevents 8\n'; printf 'rank 0 4\nsend 0 0 0 comm=0 peer=3 tag=1 bytes=640\nbarrier 0 0 0 comm=0\nsend 0 0 0 comm=0 peer=1 tag=1 bytes=40\nsend 0 0 0 comm=0 peer=2 tag=1 bytes=8\n'; for r in 1 2; do printf 'rank %d 1\nbarrier 0 0 0 comm=0\n' $r; done; printf 'rank 3 2\nrecv 0 0 0 comm=0 peer=0 tag=1 bytes=640\nbarrier 0 0 0 comm=0\nend\n'; } > four.txt; for c in flit load; do fabricast $c -m ./ring.yaml -g g.mtx --json | grep -v -e traffic -e cpu_s -e rss > one; fabricast $c -m ./ring.yaml -t four.txt --phase 1 --json | grep -v -e traffic -e cpu_s -e rss > two; cmp one two && echo same; done
> same
> same
$ cd $TMP; fabricast flit -m ./ring.yaml -t four.txt --phase 0-1 --json | grep traffic; fabricast load -m ./ring.yaml -t four.txt --phase 0 --json | grep -e traffic -e network_bytes
>   "traffic": "./four, phases 0-1",
>   "traffic": "./four, phase 0",
>   "network_bytes": 640.0,
$ cd $TMP; fabricast flit -m ./ring.yaml -t four.txt --phase 2
! fabricast: four.txt: phase 2 is out of range (allowed: 0 to 1)
? 2
$ cd $TMP; fabricast load -m ./ring.yaml -t four.txt --phase 1-2
! fabricast: four.txt: phase 2 is out of range (allowed: 0 to 1)
? 2
$ fabricast load -m bgl-64 -t traces/samples/lammps-lj-16.fct --phase one
! fabricast: --phase: 'one' is no phase (expected N or N-M, counted from 0)
? 2
$ fabricast load -m bgl-64 -t traces/samples/lammps-lj-16.fct --phase 5-2
! fabricast: --phase: '5-2' is no phase (expected N or N-M, counted from 0)
? 2
$ fabricast flit -m bgl-64 -p neighbor --phase 1
! fabricast: --phase: only a trace has phases (expected -t TRACE)
? 2
$ fabricast load -m bgl-64 -g no-such.mtx --phase 1
! fabricast: --phase: only a trace has phases (expected -t TRACE)
? 2
$ fabricast trace convert traces/samples/lammps-lj-16.fct --phases
! fabricast: --phases: only trace info has a table of phases
? 2
$ cd $TMP; printf 'fabricast-trace 1\nranks 2\ncomm 0 0-1\ncomm 1 0-1\nevents 4\nrank 0 2\nbarrier 0 0 0 comm=0\nbarrier 0 0 0 comm=1\nrank 1 2\nbarrier 0 0 0 comm=1\nbarrier 0 0 0 comm=0\nend\n' > order.txt; fabricast trace info order.txt --phases
! fabricast: order.txt:10: rank 1 calls barrier (collective call 1 on communicator 1) where rank 0 calls barrier (call 1 on communicator 0, line 7): all ranks must synchronise in the same order
? 2
