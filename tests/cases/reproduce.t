# reproduce: the papers' figures and tables, published beside ours.

$ fabricast list figures
> figures:
>   bgl-fig2                     response time by routing, channels and paths, uniform traffic
>   bgl-fig4                     response time by arbitration, uniform traffic
>   bgl-fig3                     hot region: throughput over time by buffers
>   bgl-fig5                     hot region: throughput over time by arbitration
>   bgl-fig6                     all-to-all: links busy, by routing and channels
>   bgl-fig11                    all-to-all: percent of peak by message size
>   bgl-fig7                     hot region: throughput over time by escape channels
>   bgl-fig8                     hot region: throughput by channel, dateline pair
>   bgl-fig9                     hot region: returns of tokens that unblock
>   bgl-text                     rates, bounds, broadcasts and the bubble of the text
>   bgl-hotspot                  hot spots: percent of the links' bound
>   bgl-asymmetric               all-to-all on 32x16x16: links busy over time
>   tmesh-table1                 seven layouts: latency, throughput, hops
>   tmesh-fig15                  throughput and latency of seven layouts, uniform traffic
>   tmesh-fig8                   TMesh against the standard torus, uniform traffic
>   tmesh-fig16                  TMesh by the rate of the mesh links, uniform traffic
>   tmesh-fig17                  TMesh beside traffic within its chips, uniform traffic
>   percs-table1                 effective bandwidth of a message, 2D stencil of 16K tasks
>   percs-fig2                   links of the tiers by supernodes
>   percs-table4                 time of a step less its computation, 2D stencil, 64 supernodes
>   percs-fig5                   bytes on the links, 2D stencil, 64 supernodes
>   percs-fig6                   D links by load, direct routing, 4D stencil, 64 supernodes
>   percs-fig7                   greatest load by class, direct and indirect, 4D stencil
>   percs-fig8                   bytes on the links, 4D stencil, 64 supernodes
>   percs-fig9                   time of a step, 4D stencil, 64 supernodes
>   percs-fig10                  ranks computing over time, 4D stencil, 64 supernodes
>   percs-table6                 time of a step, multicast, 64 supernodes
>   percs-fig11                  bytes on the links, multicast, 64 supernodes
>   percs-fig12                  bytes on the links, 4D stencil, 300 supernodes
>   percs-fig13                  time of a step, 4D stencil, 300 supernodes
>   gemini-rates                 rates, links and hops that the text states
>   gemini-fig6                  packet formats, 24-bit phits
>   gemini-fig7                  put and get latency by transfer size
>   gemini-fig8                  FMA put bandwidth by transfer size and processes
>   gemini-fig9                  many-to-one atomic adds
>   qsnet-fig8                   unidirectional ping
>   qsnet-fig9                   barriers in an empty network
>   qsnet-fig13                  broadcast over 64 nodes
>   qsnet-fig14                  broadcast of 256 KB by nodes
>   qsnet-fig10                  barriers beside background traffic
>   qsnet-fig11                  distribution of elan_hgsync, 64 nodes
>   qsnet-fig12                  distribution of elan_gsync, 64 nodes
>   qsnet-fig15                  broadcast over 64 nodes beside background traffic
>   qsnet-fig16                  broadcast of 256 KB by nodes beside background traffic
>   measured-fugaku              collectives measured and predicted, 8 to 4096 nodes
>   measured-lumi                collectives measured and predicted, 4 to 1000 nodes
>   measured-leonardo            collectives measured and predicted, 4 to 2048 nodes
# A machine that stands somewhere: the small jobs of its measured collectives.
$ fabricast reproduce measured-lumi --quick -o $TMP/out -q | sed "s|$TMP|TMP|"; head -3 $TMP/out/measured-lumi.tsv
> measured-lumi: collectives measured and predicted, 4 to 1000 nodes
> HLC-Lab/pico, commit 413bc5d, 2025, Cray MPICH 8.1.29; machine lumi; quick run
> note: quick: jobs of at most 64 ranks
> what                                         published   ours  unit  deviation %  allowed  kind    by         verdict
> 16 nodes, up to 16 KiB, 17 rows: median off          -  14.39  %               -  -        timing  predicted  -
> 16 nodes, above 16 KiB, 16 rows: median off          -  10.13  %               -  -        timing  predicted  -
> 8 nodes, up to 16 KiB, 28 rows: median off           -  9.213  %               -  -        timing  predicted  -
> 8 nodes, above 16 KiB, 28 rows: median off           -  8.866  %               -  -        timing  predicted  -
> 4 nodes, up to 16 KiB, 4 rows: median off            -  11.38  %               -  -        timing  predicted  -
> 4 nodes, above 16 KiB, 6 rows: median off            -  23.37  %               -  -        timing  predicted  -
> all jobs, up to 16 KiB, 49 rows: median off          -  10.66  %               -  0..20    timing  predicted  inside
> all jobs, above 16 KiB, 50 rows: median off          -  8.866  %               -  0..20    timing  predicted  inside
> all 99 rows: within 40 %                             -  95.96  %               -  80..100  timing  predicted  inside
> of two algorithms ranked alike, 101 pairs            -  96.04  %               -  85..100  timing  predicted  inside
> the stated error covers                              -  84.85  %               -  80..100  timing  fitted     inside
> the same, from rows of other jobs alone              -   79.8  %               -  -        timing  fitted     -
> the stated error, median                             -  20.02  %               -  0..30    timing  predicted  inside
>
> figure         points  inside  worst %  what
> measured-lumi       6       6        -  collectives measured and predicted, 4 to 1000 nodes
>
> 6 points of 1 figure: 6 inside, 0 outside
> drawn in TMP/out: .tsv, .gp, .png, .svg, .pdf of each
> series	label	category	vector_bytes	time_us	low_time_us	high_time_us
> 0	16 nodes, ring	allgather	256	41.69425897034718	nan	nan
> 0	16 nodes, ring	allgather	2048	41.94240019810756	nan	nan
# One that costs nothing, with its files, into figures/ when no folder is given; two of different groups.
$ export FABRICAST_DATA=$PWD/models; cd $TMP && fabricast reproduce gemini-fig6 -q; ls figures
> gemini-fig6: packet formats, 24-bit phits
> Alverson, Roweth, Kaplan, HOTI 2010, Figure 6; machine gemini-xe6
> like: fabricast machines gemini-xe6
> what                          published  ours  unit   deviation %  allowed  kind         by      verdict
> put 8 B, request                     11    11  phits        +0.00  +-0 %    closed-form  stated  inside
> put 8 B, response                     2     2  phits        +0.00  +-0 %    closed-form  stated  inside
> put 64 B, request                    32    32  phits        +0.00  +-0 %    closed-form  stated  inside
> put 64 B, response                    2     2  phits        +0.00  +-0 %    closed-form  stated  inside
> get 64 B, request                     8     8  phits        +0.00  +-0 %    closed-form  stated  inside
> get 64 B, response                   27    27  phits        +0.00  +-0 %    closed-form  stated  inside
> longest packet under the CRC        768   768  bits         +0.00  +-0 %    closed-form  stated  inside
>
> figure       points  inside  worst %  what
> gemini-fig6       7       7    +0.00  packet formats, 24-bit phits
>
> 7 points of 1 figure: 7 inside, 0 outside
> drawn in figures: .tsv, .gp, .png, .svg, .pdf of each
> gemini-fig6.gp
> gemini-fig6.pdf
> gemini-fig6.png
> gemini-fig6.svg
> gemini-fig6.tsv
$ fabricast reproduce gemini-fig7 qsnet-fig9 --quick -o $TMP/out -q | tail -7 | sed "s|$TMP|TMP|"
>
> figure       points  inside  worst %  what
> gemini-fig7       3       3        -  put and get latency by transfer size
> qsnet-fig9        8       8    +6.27  barriers in an empty network
>
> 11 points of 2 figures: 11 inside, 0 outside
> drawn in TMP/out: .tsv, .gp, .png, .svg, .pdf of each
$ head -3 $TMP/figures/gemini-fig6.tsv
> series	label	category	packet	phits	low_phits	high_phits
> 0	published, request	put 8 B	0	11	nan	nan
> 0	published, request	put 64 B	1	32	nan	nan
# JSON draws only where -o says.
$ export FABRICAST_DATA=$PWD/models; mkdir $TMP/json; cd $TMP/json && fabricast reproduce percs-table1 --json -q | head -27; ls
> {
>   "budget": "full",
>   "points_judged": 15,
>   "points_inside": 15,
>   "figures": [
>     {
>       "id": "percs-table1",
>       "title": "effective bandwidth of a message, 2D stencil of 16K tasks",
>       "source": "Bhatele, Jain, Gropp, Kale, SC'11, Table 1",
>       "machine": "percs-16",
>       "command": "fabricast load -m percs-16 -p stencil2d:grid=128x128,bytes=64KiB",
>       "note": "",
>       "points": [
>         {
>           "what": "default mapping, LL: sharers",
>           "unit": "",
>           "published": 32.0,
>           "ours": 32.0,
>           "half_width": null,
>           "deviation_percent": 0.0,
>           "tolerance_percent": 0.0,
>           "low": 32.0,
>           "high": 32.0,
>           "kind": "closed-form",
>           "origin": "stated",
>           "inside": true,
>           "reason": null
# The page of the summary.
$ printf "a\n<!-- reproduce: begin -->\nold\n<!-- reproduce: end -->\nb\n" > $TMP/page.md && fabricast reproduce percs-fig2 -o $TMP/out --into $TMP/page.md -q > /dev/null; cat $TMP/page.md
> a
> <!-- reproduce: begin -->
> Written by `fabricast reproduce --into`, full runs; deviations in percent of the published number, the worst of those judged.
>
> | figure | what | kinds | inside | worst |
> |---|---|---|---|---|
> | percs-fig2 | links of the tiers by supernodes | closed-form | 4 of 4 | +0.0 % |
>
> | kind of model | points | inside | with a number | mean deviation |
> |---|---|---|---|---|
> | closed-form | 4 | 4 (100 %) | 4 | 0 % |
> | all | 4 | 4 (100 %) | 4 | 0 % |
> <!-- reproduce: end -->
> b
# A point outside: exit 1, after the table.
$ fabricast reproduce percs-table4 -o $TMP/out -q > $TMP/table; echo $?; grep -E "^[BR][^,]*OUTSIDE|^outside: B|^18 points" $TMP/table
> 1
> BNM: less 479                                    2.74    1.68  ms         -38.69  +-36.5 %  bound  predicted  OUTSIDE
> BSM: less 479                                     1.9  0.2119  ms         -88.84  +-52.6 %  bound  predicted  OUTSIDE
> RNM: less 479                                    1.71   0.343  ms         -79.94  +-58.5 %  bound  predicted  OUTSIDE
> RDM: less 479                                    2.03  0.3168  ms         -84.39  +-49.3 %  bound  predicted  OUTSIDE
> outside: BNM: less 479: some 1.1 ms a step, +-0.6, are no matter of links (BSM is slower than BDM, no link carries more): the simulator's software, for which the paper gives no figure
> outside: BSM: less 479: some 1.1 ms a step, +-0.6, are no matter of links (BSM is slower than BDM, no link carries more): the simulator's software, for which the paper gives no figure
> 18 points of 1 figure: 13 inside, 5 outside
! fabricast: 5 points lie outside
# Refusals.
$ fabricast reproduce percs-fgi9 -o $TMP/none
! fabricast: unknown figure 'percs-fgi9'; did you mean 'percs-fig9'? (`fabricast list figures` lists them)
? 2
$ fabricast reproduce gemini-fig6 --quick --full
! fabricast: --quick: --full is the opposite (leave one of them out)
? 2
$ echo x > $TMP/file && cd $TMP && fabricast reproduce gemini-fig6 -o file
! fabricast: file: no directory (expected one for the figures)
? 2
$ cd $TMP && fabricast reproduce gemini-fig6 -o file/below
! fabricast: file/below: cannot be made: Not a directory
? 2
$ fabricast reproduce gemini-fig6 -o $TMP/out --into LICENSE -q
! fabricast: LICENSE: has no line '<!-- reproduce: begin -->' before a line '<!-- reproduce: end -->'
? 2
$ f=$(command -v fabricast); cd $TMP && PATH=/nonexistent $f reproduce gemini-fig6 -o new
! fabricast: gnuplot cannot be run: No such file or directory (install gnuplot-nox)
? 1
