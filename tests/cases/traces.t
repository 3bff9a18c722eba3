# trace info and trace convert: what is in a trace, also one that is a window of a run, and the forms that it is written in.

# Figures of the shipped sample are those of its README: 77,786 of the 95,162 collective calls are on some ranks only.
$ cd traces/samples; fabricast trace info qe-si-16.fct
> trace        qe-si-16.fct
> program      mpirun --allow-run-as-root --oversubscribe -n 16 pw.x -npool 4 -in si.in
> recorded     Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, repo rev: v4.1.4, May 26, 2022; 16 ranks on 1 host; 2026-11-21 13:27 UTC; computation is thread CPU time
> ranks        16, communicators 1441 (1436 of some ranks)
> events       180135, messages 26239, collective calls 95162 (77786 on some ranks), failed polls 0
> volume       point-to-point 2.995 MB over 59 pairs, collectives 65.53 MB
> time         span 4.031 s; a rank on average: 44.71 ms CPU between calls, 3.854 s inside MPI (wall, as recorded)
> computation  1.1 % of the time
> balance      every message has a sender and a receiver, every request is waited for
> period       none: no calls about the middle of any rank repeat 5 times
>
> call                  count        bytes
> init                     16          0 B
> finalize                 16          0 B
> send                  17898     2.344 MB
> recv                  14977     892.4 KB
> isend                  8341     650.9 KB
> irecv                 11262     2.102 MB
> wait                  19603          0 B
> barrier               24500          0 B
> bcast                 39200     40.91 MB
> alltoall               8512     16.46 MB
> alltoallv               352     4.548 MB
> reduce                 7410     859.9 KB
> allreduce             15188     2.752 MB
> comm                   2960          0 B
> other                  9900          0 B
>
> bytes              messages       volume collective calls
> 0                       279          0 B            24500
> 4 .. <8                 876     3.504 KB            12340
> 8 .. <16                  3         28 B             7932
> 16 .. <32              4162     67.39 KB             7132
> 32 .. <64              4101     166.7 KB            12212
> 64 .. <128             6973     473.9 KB            13010
> 128 .. <256            2049     287.7 KB             3180
> 256 .. <512            7796     1.996 MB             4280
> 512 .. <1Ki               0          0 B              696
> 1Ki .. <2Ki               0          0 B             8408
> 2Ki .. <4Ki               0          0 B              224
> 4Ki .. <8Ki               0          0 B              512
> 8Ki .. <16Ki              0          0 B              624
> 16Ki .. <32Ki             0          0 B               64
> 512Ki .. <1Mi             0          0 B               48
>
> sends to              ranks   (at most 4)
> 2 .. <4                   4
> 4 .. <8                  12

# A window: a send without receive, one with another tag, an open request, a wildcard.
$ cd $TMP; printf 'fabricast-trace 1\nprogram ./window\nrecorded by hand\nunwrapped (3 times: MPI_Win_fence: only its time is kept)\nranks 3\ncomm 0 0-2\ncomm 1 2,0\nevents 12\nrank 0 6\nisend 0 0.000000100 0.000000300 comm=0 peer=1 tag=1 bytes=1500 request=0\nirecv 0.000000100 0.000000100 0 comm=1 peer=2 tag=2 bytes=64 request=1\nwait 0.000000100 0.000000700 0.000000600 requests=0 polls=3\nsend 1 1 0 comm=0 peer=2 tag=5 bytes=0\nallreduce 1 1 0 comm=1 bytes=8\nrecv 1 1 0 comm=0 peer=any tag=9 bytes=70\nrank 1 3\nrecv 0 0 0 comm=0 peer=0 tag=4 bytes=1500\nsend 1 1 0 comm=0 peer=2 tag=1 bytes=9\nsend 1 1 0 comm=0 peer=0 tag=9 bytes=70\nrank 2 3\nrecv 0 0 0 comm=0 peer=0 tag=5 bytes=0\nallreduce 1 1 0 comm=1 bytes=8\nrecv 1 1 0 comm=0 peer=0 tag=1 bytes=9\nend\n' > window.txt; fabricast trace info window.txt
> trace        window.txt
> program      ./window
> recorded     by hand
> ranks        3, communicators 2 (1 of some ranks)
> events       12, messages 4, collective calls 2 (2 on some ranks), failed polls 3
> volume       point-to-point 1.579 KB over 4 pairs, collectives 16 B
> time         span 1 s; a rank on average: 300 ns CPU between calls, 233.3 ns inside MPI (wall, as recorded)
> computation  56.2 % of the time
> unmatched    sends without a receive: 1, receives without a send: 2 (by pair of ranks)
> unmatched    pairs of ranks whose ends differ in tags or communicators: 1
> unmatched    requests that are never waited for: 1
> wildcards    receives that do not tell their source or tag: 1
> period       none: no calls about the middle of any rank repeat 5 times
>
> call                  count        bytes
> send                      3         79 B
> recv                      4     1.579 KB
> isend                     1       1.5 KB
> irecv                     1         64 B
> wait                      1          0 B
> allreduce                 2         16 B
>
> bytes              messages       volume collective calls
> 0                         1          0 B                0
> 8 .. <16                  1          9 B                2
> 64 .. <128                1         70 B                0
> 1Ki .. <2Ki               1       1.5 KB                0
>
> sends to              ranks   (at most 2)
> 0                         1
> 2 .. <4                   2
>
> not recorded, or not fully (names of functions: the program can call them):
>   (3 times: MPI_Win_fence: only its time is kept)
$ cd $TMP; fabricast trace info window.txt --json
> {
>   "trace": "window.txt",
>   "program": "./window",
>   "recorded": "by hand",
>   "ranks": 3,
>   "communicators": 2,
>   "events": 12,
>   "messages": 4,
>   "collective_calls": 2,
>   "failed_polls": 3,
>   "p2p_bytes": 1579.0,
>   "collective_bytes": 16.0,
>   "pairs": 4,
>   "span_s": 1.0,
>   "compute_s": 3e-7,
>   "mpi_s": 2.33333333333333e-7,
>   "calls": {
>     "send": {
>       "count": 3,
>       "bytes": 79.0
>     },
>     "recv": {
>       "count": 4,
>       "bytes": 1579.0
>     },
>     "isend": {
>       "count": 1,
>       "bytes": 1500.0
>     },
>     "irecv": {
>       "count": 1,
>       "bytes": 64.0
>     },
>     "wait": {
>       "count": 1,
>       "bytes": 0.0
>     },
>     "allreduce": {
>       "count": 2,
>       "bytes": 16.0
>     }
>   },
>   "unwrapped": [
>     "(3 times: MPI_Win_fence: only its time is kept)"
>   ],
>   "assumed_flops_per_s": null,
>   "graph": false,
>   "computation_share": 0.5625,
>   "sub_communicators": 1,
>   "sub_communicator_calls": 2,
>   "unmatched_sends": 1,
>   "unmatched_receives": 2,
>   "pairs_of_other_tags": 1,
>   "open_requests": 1,
>   "wildcards": 1,
>   "most_partners": 2,
>   "period": {
>     "repeats": 0,
>     "least_events": 0,
>     "most_events": 0,
>     "covers_percent": 0.0,
>     "why": "no calls about the middle of any rank repeat 5 times"
>   },
>   "sizes": [
>     {
>       "from": 0.0,
>       "to": 0.0,
>       "messages": 1,
>       "message_bytes": 0.0,
>       "collective_calls": 0
>     },
>     {
>       "from": 8.0,
>       "to": 15.0,
>       "messages": 1,
>       "message_bytes": 9.0,
>       "collective_calls": 2
>     },
>     {
>       "from": 64.0,
>       "to": 127.0,
>       "messages": 1,
>       "message_bytes": 70.0,
>       "collective_calls": 0
>     },
>     {
>       "from": 1024.0,
>       "to": 2047.0,
>       "messages": 1,
>       "message_bytes": 1500.0,
>       "collective_calls": 0
>     }
>   ],
>   "partners": [
>     {
>       "from": 0.0,
>       "to": 0.0,
>       "ranks": 1
>     },
>     {
>       "from": 2.0,
>       "to": 3.0,
>       "ranks": 2
>     }
>   ]
> }

# Packed, text and compressed text give the same.
$ cd $TMP; fabricast trace convert window.txt -o window.fct && fabricast trace convert window.fct --format text -o again.txt && fabricast trace info again.txt | sed 1d > one && gzip -k window.txt && fabricast trace info window.txt.gz | sed 1d > two && cmp one two && echo same
> same

# For other tools; what they cannot say is told.
$ cd $TMP; fabricast trace convert window.txt -o window.goal; cat window.goal
> num_ranks 3
> rank 0 {
> l0: calc 300
> l1: send 1500b to 1 tag 1
> l1 requires l0
> l2: recv 64b from 2 tag 10
> l2 irequires l1
> l3: calc 600
> l3 irequires l2
> l4: calc 0
> l4 requires l3
> l4 requires l1
> l5: send 0b to 2 tag 5
> l5 requires l4
> l6: send 8b to 2 tag 11
> l6 requires l5
> l7: recv 8b from 2 tag 11
> l7 requires l5
> l8: calc 0
> l8 requires l6
> l8 requires l7
> l9: recv 70b from -1 tag 9
> l9 requires l8
> }
> rank 1 {
> l0: recv 1500b from 0 tag 4
> l1: send 9b to 2 tag 1
> l1 requires l0
> l2: send 70b to 0 tag 9
> l2 requires l1
> }
> rank 2 {
> l0: recv 0b from 0 tag 5
> l1: send 8b to 0 tag 11
> l1 requires l0
> l2: recv 8b from 0 tag 11
> l2 requires l0
> l3: calc 0
> l3 requires l1
> l3 requires l2
> l4: recv 9b from 0 tag 1
> l4 requires l3
> }
! fabricast: goal: receives from any source or of any tag, which may take a message of a collective: 1
! fabricast: goal: requests that are never waited for: 1
$ cd $TMP; fabricast trace convert window.txt --format ti -o window.trace; cat window.trace
> 0 init
> 0 compute 300
> 0 isend 1 1 1500
> 0 irecv 2 10 64
> 0 compute 600
> 0 wait 0 1 1
> 0 send 2 5 0
> 0 isend 2 11 8
> 0 irecv 2 11 8
> 0 wait 0 2 11
> 0 wait 2 0 11
> 0 recv -333 9 70
> 0 finalize
> 1 init
> 1 recv 0 4 1500
> 1 send 2 1 9
> 1 send 0 9 70
> 1 finalize
> 2 init
> 2 recv 0 5 0
> 2 isend 0 11 8
> 2 irecv 0 11 8
> 2 wait 2 0 11
> 2 wait 0 2 11
> 2 recv 0 1 9
> 2 finalize
! fabricast: ti: receives from any source or of any tag, which may take a message of a collective: 1
! fabricast: ti: requests that are never waited for: 1
$ cd $TMP; fabricast trace convert window.txt -o window.mtx; cat window.mtx
> %%MatrixMarket matrix coordinate real general
> % bytes from row to column, collectives expanded
> 3 3 5
> 1 2 1500
> 1 3 8
> 2 1 70
> 2 3 9
> 3 1 8
$ fabricast trace convert traces/samples/lammps-lj-16.fct --format otf3 -o $TMP/x
! fabricast: --format: 'otf3' cannot be written (expected fct, text, goal, ti or mtx)
? 2
$ fabricast trace convert traces/samples/lammps-lj-16.fct --text --format goal -o $TMP/x
! fabricast: --text and --format goal contradict each other
? 2
$ fabricast trace info traces/samples/lammps-lj-16.fct --format goal
! fabricast: --format: only trace convert chooses a format
? 2
$ fabricast trace info traces/samples/lammps-lj-16.fct --partial
! fabricast: --partial: only trace capture runs a program
? 2

# A packed trace that is cut.
$ cd $TMP; head -c 100 window.fct > cut.fct; fabricast trace info cut.fct
! fabricast: cut.fct: the packed trace is cut in the middle: its end with the list of its parts is missing
? 2
$ fabricast list formats | grep -E '^  (fct|text) '
>   fct (trace, read and written) our trace, packed
>   text (trace, read and written) our trace, readable

# What a window leaves over is counted.
$ cd $TMP; printf 'fabricast-trace 1\nprogram x\nrecorded x\nranks 2\ncomm 0 0-1\nevents 3\nrank 0 2\nsend 0 0 0 comm=0 peer=1 tag=0 bytes=8\nsend 0 0 0 comm=0 peer=1 tag=1 bytes=8\nrank 1 1\nrecv 0 0 0 comm=0 peer=0 tag=0 bytes=8\nend\n' > window.txt; fabricast predict -t window.txt -m bgl-64 | grep left; fabricast predict -t window.txt -m bgl-64 --json | grep unmatched
> left over      1 messages that nobody received, 0 receives that got nothing
>   "unmatched_sends": 1,
>   "unmatched_receives": 0,

# Operations become time at the speed of each rank; without one the assumption is said. SimGrid 3.32 (factors 1, links of two
# directions) gives 13.123645 s.
$ cd $TMP; printf '%s init\n%s allreduce 5e4 5e8\n%s compute 5e8\n' 0 0 0 1 1 1 2 2 2 > all.ti; cd - > /dev/null; fabricast predict -m tests/fabrics/small_platform.yaml -t $TMP/all.ti --flops-per-s 98.095e6,76.296e6,76.296e6 --collectives allreduce=reduce+bcast --json | grep -E 'time_s|assumed'; fabricast predict -m tests/fabrics/small_platform.yaml -t $TMP/all.ti --collectives allreduce=reduce+bcast | sed -n 2,6p
>   "time_s": 13.1236445957688,
>   "assumed_flops_per_s": null,
> job            all.ti, 3 tasks, mapping def, routing shortest
> assumed        1e+09 operations/s: the trace counts operations and does not tell (--flops-per-s)
> collectives    by the rules mpich,allreduce=reduce+bcast
> time           1.017 s
> computation    1 s (x1.0)
$ cd $TMP; fabricast trace info all.ti | grep -E '^(recorded|assumed)'; fabricast trace info all.ti --flops-per-s 5e7 | grep -E '^(recorded|assumed)'
> recorded     SimGrid time-independent trace at 1e+09 operations/s (assumed); no clocks
> assumed      1e+09 operations/s: the trace counts operations and does not tell (--flops-per-s)
> recorded     SimGrid time-independent trace at 5e+07 operations/s; no clocks
$ cd $TMP; fabricast trace convert all.ti -o all.txt --flops-per-s 1e8,2e8,4e8 && grep other all.txt; fabricast trace convert all.txt -o again.ti --flops-per-s 1e8,2e8,4e8 && grep compute again.ti
> other 0.000000000 0.000000000 10.000000000
> other 0.000000000 0.000000000 5.000000000
> other 0.000000000 0.000000000 2.500000000
> 0 compute 1000000000
> 1 compute 1000000000
> 2 compute 1000000000
