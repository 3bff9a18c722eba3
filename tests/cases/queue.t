# None of the nodes is free now: the advice tells when the first can start.
$ printf '+45 0-7\n+600 8-15\n' > $TMP/free.txt; fabricast predict -m bgl-64 -p stencil2d:grid=2x4,bytes=64KiB --queue $TMP/free.txt -q | grep -e free -e advice
> free now    0 nodes
> advice      start in 45 min: nothing later ends earlier

# A choice that no route joins is a row that says so; where none is left, an error.
$ cd $TMP; printf 'router s0 router s1 10 Gb/s\nnode n0 router s0 10 Gb/s\nnode n1 router s0 10 Gb/s\nnode n2 router s1 10 Gb/s\nnode n3 router s1 10 Gb/s\nnode n4 router s2 10 Gb/s\nnode n5 router s2 10 Gb/s\n' >split.txt; printf 'name: split\nnetwork: {family: graph, file: split.txt, format: edge-list}\n' >split.yaml; printf '+0 n[0-1],n[4-5]\n+10 n[2-3]\n' >split.free; fabricast predict -m ./split.yaml -p stencil2d:grid=2x2,bytes=1MiB --queue split.free
> machine     split
> job         stencil2d:grid=2x2,bytes=1MiB, 4 tasks on 4 nodes, mapping def
> free now    4 nodes
>
> start      nodes          time        run    error        end   list
> now        listed            -          -        -      never   n[0-1],n[4-5]: ./split.txt: there is no path from n4 to n0 (expected traffic within connected parts of the network)
> 10 min     packed     3.357 ms   3.357 ms  +-25 %?     10 min * n[0-3]
> 10 min     spread            -          -        -      never   n[0-2],n4: ./split.txt: there is no path from n4 to n1 (expected traffic within connected parts of the network)
> 10 min     random            -          -        -      never   n[2-5]: ./split.txt: there is no path from n4 to n2 (expected traffic within connected parts of the network)
>
> ?           the error is not known there: 25 % is assumed
> ends first  packed, start in 10 min
> advice      start in 10 min: nothing later ends earlier
! fabricast: 3 of 4 choices of --queue have no answer; the first: ./split.txt: there is no path from n4 to n0 (expected traffic within connected parts of the network)
? 1
$ cd $TMP; fabricast predict -m ./split.yaml -p stencil2d:grid=2x2,bytes=1MiB --queue split.free --json -q | grep -E '"(start_s|run_s|end_s|message|best|first|advice)"'
>       "start_s": 0.0,
>       "run_s": null,
>       "end_s": null,
>       "message": "./split.txt: there is no path from n4 to n0 (expected traffic within connected parts of the network)"
>       "start_s": 600.0,
>       "run_s": 0.0033574432,
>       "end_s": 600.0033574432,
>       "message": null
>       "start_s": 600.0,
>       "run_s": null,
>       "end_s": null,
>       "message": "./split.txt: there is no path from n4 to n1 (expected traffic within connected parts of the network)"
>       "start_s": 600.0,
>       "run_s": null,
>       "end_s": null,
>       "message": "./split.txt: there is no path from n4 to n2 (expected traffic within connected parts of the network)"
>   "best": 1,
>   "first": 1,
>   "advice": "start"
! fabricast: 3 of 4 choices of --queue have no answer; the first: ./split.txt: there is no path from n4 to n0 (expected traffic within connected parts of the network)
$ cd $TMP; printf '+0 n[0-1],n[4-5]\n' >none.free; fabricast predict -m ./split.yaml -p stencil2d:grid=2x2,bytes=1MiB --queue none.free
! fabricast: ./split.txt: there is no path from n4 to n0 (expected traffic within connected parts of the network) (with --nodes n[0-1],n[4-5])
? 1
