# One page of a job under two mappings. The text is what the page's headline says.
$ fabricast report -m percs-16 -p stencil2d:grid=128x128,bytes=64KiB --versus bsm -o $TMP/page.html | sed "s|$TMP|TMP|; s|[0-9.]* KB, loads|N KB, loads|"
> machine     percs-16: PERCS, 16 supernodes (16 384 cores, the case of Table 1)
> confidence  high for topology and bandwidths (stated); hosts of the D links, latencies, delays and software costs are estimates; packet overhead is unknown, so links carry payload only
> job         stencil2d:grid=128x128,bytes=64KiB, 16384 tasks, routing direct
>
> mapping                time    error  against      bound  of peak  of best  bottleneck
> def                842.6 us    +-6 %   kernel   838.9 us     99.6      7.0  D 0.0->1.0
> bsm                230.4 us   +-19 %   kernel   209.7 us     91.0     25.6  D 0.0->1.0
>
> best bound  58.98 us: no mapping of this job is faster (grid surface, supernodes)
> answer      843 us +-6 % against the kernel, 100 % of peak; the D links are the bottleneck; mapping bsm 3.7x faster
> page        TMP/page.html, N KB, loads of 17136 links
$ fabricast report -m qsnet-64 -t traces/samples/lammps-lj-16.fct --time 0.1s -o $TMP/page.html | grep answer
> answer      146 ms +-8 % against the kernel, 57 % of peak; the leaf links are the bottleneck; optimized mapping 2 % faster (the errors overlap)
# Two mappings in one word, as predict takes them.
$ fabricast report -m percs-16 -p stencil2d:grid=128x128,bytes=64KiB --map def,bsm -o $TMP/page.html | grep answer
> answer      843 us +-6 % against the kernel, 100 % of peak; the D links are the bottleneck; mapping bsm 3.7x faster
$ fabricast report -m bgl-64 -p neighbor --versus def -o $TMP/page.html | grep answer
> answer      6.84 ms +-24 % against the kernel, 99 % of peak; the torus links are the bottleneck; mapping def as fast
$ fabricast report -m bgl-64 -p permutation:seed=3 --map random --versus def -o $TMP/page.html --json | grep -E "^  \"(links|rounded|answer)"
>   "links": 512,
>   "rounded": false,
>   "answer": "60 % of peak; the torus links are the bottleneck; mapping def 1.3× faster (the errors overlap)",
# Dense traffic, which optimize does not search, is held against random places.
$ fabricast report -m bgl-64 -p alltoall -o $TMP/page.html | grep answer
> answer      242 us +-5 % against the kernel, 90 % of peak; the torus links are the bottleneck; mapping random as fast
# The page carries the predictions as `predict --json` gives them.
$ fabricast predict -m bgl-64 -t traces/samples/lammps-lj-16.fct --time 0.1s --map def,optimize --json >$TMP/predict.json; fabricast report -m bgl-64 -t traces/samples/lammps-lj-16.fct --time 0.1s -o $TMP/page.html >$TMP/text; sed -n "/id=\"predictions\"/,/<.script>/p" $TMP/page.html | sed "1d;\$d" | cmp - $TMP/predict.json && echo equal
> equal
# Pictures.
$ fabricast load -m bgl-64 -p permutation:seed=3 --plot $TMP/plots -q >$TMP/text; ls $TMP/plots
> link-histogram.gp
> link-histogram.png
> link-histogram.tsv
> link-map.gp
> link-map.png
> link-map.tsv
> mapping.gp
> mapping.png
> mapping.tsv
$ head -1 $TMP/plots/link-histogram.tsv
> class	name	from_bytes	to_bytes	links
$ fabricast predict -m bgl-64 -t traces/samples/lammps-lj-16.fct --plot $TMP/ranks | tail -1 | sed "s|$TMP|TMP|g"
> plots: TMP/ranks/predictions.png, TMP/ranks/percent-of-peak.png, TMP/ranks/link-loads.png, TMP/ranks/ranks.png, TMP/ranks/timeline.png, TMP/ranks/time-profile.png, TMP/ranks/throughput.png

# Refused; no page is left behind.
$ fabricast report -m bgl-64 -p neighbor
! fabricast: no page (expected -o FILE.html)
? 2
$ fabricast report -m bgl-64,qsnet-64 -p neighbor -o $TMP/no.html
! fabricast: -m bgl-64,qsnet-64: a page is of one machine
? 2
$ fabricast report -m bgl-64 -o $TMP/no.html
! fabricast: no traffic (expected one of -p PATTERN, -g GRAPH, -t TRACE)
? 2
$ fabricast report -m bgl-64 -p neighbor --map def,random,scotch -o $TMP/no.html
! fabricast: --map def,random,scotch: a page is of two mappings
? 2
$ fabricast report -m bgl-64 -p neighbor --map def,random --versus scotch -o $TMP/no.html
! fabricast: --map def,random --versus scotch: a page is of two mappings
? 2
$ fabricast report -m bgl-64 -p neighbor --versus sideways -o $TMP/no.html
! fabricast: 'sideways' is neither a strategy (known: def, random, bnm, bdm, bsm, rnm, rdm, shapes, fold, tile, permute, hilbert, greedy, scotch, optimize, exact) nor a mapping file
? 2
$ fabricast report -m bgl-64 -t traces/samples/lammps-lj-16.fct --network flit -o $TMP/no.html
! fabricast: --network flit: loads of links are not known (expected contention or queueing)
? 2
$ fabricast report -m bgl-64 -p uniform -o $TMP/no.html
! fabricast: uniform traffic is a rate, not a number of bytes, so it takes no time (use alltoall:bytes=N for a message between every two nodes)
? 2
$ fabricast report -m bgl-64 -p neighbor -o $TMP/none/no.html 2>&1 | sed "s|$TMP|TMP|"
> fabricast: TMP/none/no.html: cannot be written: No such file or directory
$ fabricast report -m bgl-64 -p neighbor --nodes 0-31 --nodes 32-63 -o $TMP/no.html
! fabricast: --nodes: given more than once (only predict compares lists of nodes)
? 2
$ fabricast load -m bgl-64 --worst-case --plot $TMP/plots
! fabricast: --plot: the worst case is a permutation, without loads of all links
? 2
$ ls $TMP | grep -c no.html
> 0
? 1
