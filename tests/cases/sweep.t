# A command over all combinations of options, and machines with keys changed (--set).

$ printf 'command: load -p stencil2d:grid=8x8,bytes=64KiB\nvary: {machine: [bgl-64, qsnet-64], map: [def, random], seed: "1:2:1"}\ncolumns: [bound_s, bottleneck.class, percent_of_peak]\n' > $TMP/s.yaml; fabricast sweep $TMP/s.yaml --threads 2
> machine   map     seed      bound_s  bottleneck.class  percent_of_peak  status
> bgl-64    def     1     0.000842926  torus                     99.9692       0
> bgl-64    def     2     0.000842926  torus                     99.9692       0
> bgl-64    random  1      0.00100097  torus                     56.4119       0
> bgl-64    random  2      0.00092195  torus                     54.1573       0
> qsnet-64  def     1      0.00193565  leaf                      91.6993       0
> qsnet-64  def     2      0.00193565  leaf                      91.6993       0
> qsnet-64  random  1      0.00154852  leaf                      62.7299       0
> qsnet-64  random  2      0.00232278  leaf                      80.9559       0
$ fabricast sweep $TMP/s.yaml -o $TMP/s.tsv; head -2 $TMP/s.tsv; test -e $TMP/s.tsv.part; echo $?
> machine	map	seed	bound_s	bottleneck.class	percent_of_peak	status	message
> bgl-64	def	1	0.000842925714285714	torus	99.9691924308598	0	
> 1
$ printf 'command: load -p uniform\nvary: {machine: [bgl-64, bgl-46]}\ncolumns: [bound_s]\n' > $TMP/s.yaml; fabricast sweep $TMP/s.yaml
> machine      bound_s  status  message
> bgl-64   3.21429e-09       0  
> bgl-46             -       2  no shipped machine is called 'bgl-46'; did you mean 'bgl-4k'? (`fabricast machines` lists them; a path contains '/' or ends in .yaml)
! fabricast: 1 of 2 points have no answer; the first, point 2: no shipped machine is called 'bgl-46'; did you mean 'bgl-4k'? (`fabricast machines` lists them; a path contains '/' or ends in .yaml)
? 1
$ printf 'command: load -p uniform\nvary:\n  links.torus.bandwidth: "1 GB/s:2 GB/s:0.5 GB/s"\n  machine: bgl-64\ncolumns: [bound]\n' > $TMP/s.yaml; (cd $TMP; fabricast sweep s.yaml)
! fabricast: s.yaml: columns: 'bound' is not in the answer of load (it has: machine, traffic, mapping, routing, method, time_s, communication_s, computation_s, bound_s, percent_of_peak, bottleneck, links, hop_bytes, error_percent, error_against, extrapolated, why, calibration, uncalibrated_because, network_bytes, local_bytes, wire_factor, bound_by, lp, histograms, hottest)
? 2
# A background that is left out, or there (examples/sweeps/tmesh-chip-traffic.yaml).
$ printf 'command: flit -m bgl-64 -p uniform\nvary: {load: ["20%%", "40%%"], background: [false, "blocks:nodes=16,load=30%%"], links.torus.bandwidth: 350 MB/s, warmup: 500, measure: 2000}\ncolumns: [accepted_flits_per_node_cycle, packet_latency_cycles.mean]\n' > $TMP/s.yaml; fabricast sweep $TMP/s.yaml
> load  background                links.torus.bandwidth  warmup  measure  accepted_flits_per_node_cycle  packet_latency_cycles.mean  status
> 20%   false                     350 MB/s               500     2000                          0.023625                     219.341       0
> 20%   blocks:nodes=16,load=30%  350 MB/s               500     2000                         0.0214375                     263.454       0
> 40%   false                     350 MB/s               500     2000                           0.04625                     253.808       0
> 40%   blocks:nodes=16,load=30%  350 MB/s               500     2000                            0.0415                     327.436       0
# A sweep's points only answer: nothing that a sweep file names runs a program or writes a file.
$ printf 'command: [trace, capture, --, sh, -c, "touch %s/pwned"]\nvary: {seed: 1:2:1}\ncolumns: [a]\n' $TMP > $TMP/s.yaml; (cd $TMP; fabricast sweep s.yaml); status=$?; ls $TMP/pwned 2>/dev/null; exit $status
! fabricast: s.yaml:1: command: `trace capture` does not only answer (in a sweep: `trace info`)
? 2
$ printf 'vary: {seed: 1:2:1}\ncolumns: [a]\ncommand: trace -m bgl-64\n' > $TMP/s.yaml; (cd $TMP; fabricast sweep s.yaml)
! fabricast: s.yaml:3: command: `trace` does not only answer (in a sweep: `trace info`)
? 2
$ for c in report reproduce calibrate 'sweep s.yaml' nothing; do printf "command: $c\nvary: {seed: 1:2:1}\ncolumns: [a]\n" > $TMP/s.yaml; (cd $TMP; fabricast sweep s.yaml); done
! fabricast: s.yaml:1: command: 'report' is no command that only answers (expected predict, compare, load, map, trace info, flit, curve, certify, place, measure, machines, list)
! fabricast: s.yaml:1: command: 'reproduce' is no command that only answers (expected predict, compare, load, map, trace info, flit, curve, certify, place, measure, machines, list)
! fabricast: s.yaml:1: command: 'calibrate' is no command that only answers (expected predict, compare, load, map, trace info, flit, curve, certify, place, measure, machines, list)
! fabricast: s.yaml:1: command: 'sweep' is no command that only answers (expected predict, compare, load, map, trace info, flit, curve, certify, place, measure, machines, list)
! fabricast: s.yaml:1: command: 'nothing' is no command that only answers (expected predict, compare, load, map, trace info, flit, curve, certify, place, measure, machines, list)
? 2
$ for c in '-o x' '-ox' '--output=x' '--ou x' '--plot x' '--pl=x'; do printf "command: load -m bgl-64 -p uniform $c\nvary: {seed: 1:2:1}\ncolumns: [a]\n" > $TMP/s.yaml; (cd $TMP; fabricast sweep s.yaml; ls x 2>/dev/null); done 2>&1 | sort | uniq -c | sed 's/^ *//'
> 4 fabricast: s.yaml:1: command: --output writes files, and points would write over each other's (a sweep's points only answer; its own -o takes the table of them)
> 2 fabricast: s.yaml:1: command: --plot writes files, and points would write over each other's (a sweep's points only answer; its own -o takes the table of them)
$ for c in '--json' '--js' -q '--nix 3' -Z -p '-p uniform -- sh' --help; do printf "command: load -m bgl-64 $c\nvary: {seed: 1:2:1}\ncolumns: [a]\n" > $TMP/s.yaml; (cd $TMP; fabricast sweep s.yaml); done
! fabricast: s.yaml:1: command: --json is set by the sweep itself
! fabricast: s.yaml:1: command: --json is set by the sweep itself
! fabricast: s.yaml:1: command: --quiet is set by the sweep itself
! fabricast: s.yaml:1: command: '--nix': load has no such option, or it lacks its value
! fabricast: s.yaml:1: command: '-Z': load has no such option, or it lacks its value
! fabricast: s.yaml:1: command: '-p': load has no such option, or it lacks its value
! fabricast: s.yaml:1: command: '--': another program's command line, and a sweep runs none
! fabricast: s.yaml:1: command: '--help': load has no such option, or it lacks its value
? 2
$ for v in 'output: [a, b]' 'plot: a' 'pl: [false, a]' 'json: true' 'threat: 2' 'quiet: true'; do printf "command: load -m bgl-64 -p uniform\nvary:\n  seed: 1:2:1\n  $v\ncolumns: [a]\n" > $TMP/s.yaml; (cd $TMP; fabricast sweep s.yaml); done
! fabricast: s.yaml:4: vary: --output writes files, and points would write over each other's (a sweep's points only answer; its own -o takes the table of them)
! fabricast: s.yaml:4: vary: --plot writes files, and points would write over each other's (a sweep's points only answer; its own -o takes the table of them)
! fabricast: s.yaml:4: vary: --plot writes files, and points would write over each other's (a sweep's points only answer; its own -o takes the table of them)
! fabricast: s.yaml:4: vary: --json is set by the sweep itself
! fabricast: s.yaml:4: vary: '--threat=2': load has no such option, or it lacks its value
! fabricast: s.yaml:4: vary: --quiet is set by the sweep itself
? 2
$ printf 'command: trace info\nvary: {trace: [traces/samples/lammps-lj-16.fct]}\ncolumns: [ranks]\n' > $TMP/s.yaml; fabricast sweep $TMP/s.yaml
> trace                            ranks  status
> traces/samples/lammps-lj-16.fct     16       0
$ fabricast sweep
! fabricast: no sweep file (expected `sweep FILE`; docs/sweep.md)
? 2
$ fabricast sweep no.yaml
! fabricast: no.yaml: cannot be read: No such file or directory
? 2
$ fabricast machines bgl-64 --set 'network.dims=[8, 4, 4]' --set links.torus.bandwidth=350MB/s
> machine     bgl-64: Blue Gene/L, 4 x 4 x 4 torus (the VHDL test) (changed: network.dims=[8, 4, 4], links.torus.bandwidth=350MB/s)
> confidence  high for links, packets and buffers (stated); router delay and software costs are estimates
> source      Adiga et al., Blue Gene/L torus interconnection network, IBM J. Res. Dev. 49(2/3), 2005
> family      torus, routing adaptive
> nodes       128 with 2 cores, on 128 routers
> distance    diameter 8 hops, mean 4 hops (4.0315 between distinct nodes)
> bisection   32 links, 11.2 GB/s one way
> links       torus            768 of 350 MB/s, 45.71 ns
> links       injection        256 of 1.05 GB/s, 0 s
$ fabricast load -m bgl-64 -p uniform --set router.vcs=many
! fabricast: --set router.vcs=many: router.vcs: 'many' is not an integer
? 2
$ fabricast predict -m bgl-64 -p uniform --set links.torus.speed=1
! fabricast: --set links.torus.speed=1: unknown key 'speed' (known: bandwidth, latency)
? 2
$ fabricast calibrate -m bgl-64 --set router.vcs=4
! fabricast: --set: the file beside the machine is for the machine as it is (expected -o FILE)
? 2
# A changed key near a calibration uses that calibration with a wider error: the sweep is not sorted by which point is calibrated. What
# rows are held against is told where it differs between them.
$ printf 'command: predict -m bgl-64 -p stencil3d:grid=4x4x4,bytes=64KiB\nvary: {router.buffer: [512 B, 1 KiB, 2 KiB, 4 KiB]}\ncolumns: [time_s, error_percent]\n' > $TMP/s.yaml; fabricast sweep $TMP/s.yaml; fabricast sweep $TMP/s.yaml --json | grep -c error_against; sed -i 's/router.buffer: .*/router.buffer: [2 KiB, 4 KiB]}/' $TMP/s.yaml; fabricast sweep $TMP/s.yaml
> router.buffer      time_s  error_percent  error_against  status
> 512 B          0.00270872        37.8193  family              0
> 1 KiB          0.00270872        35.6337  kernel              0
> 2 KiB          0.00270872        37.8193  family              0
> 4 KiB          0.00270872        43.9864  family              0
> 4
> router.buffer      time_s  error_percent  status
> 2 KiB          0.00270872        37.8193       0
> 4 KiB          0.00270872        43.9864       0
$ printf 'command: curve -m bgl-512 -p uniform --loads 60%% --solver queueing\nvary: {router.buffer: [512 B, 1 KiB, 4 KiB]}\ncolumns: [saturation.queueing, points.0.queueing.error_percent]\n' > $TMP/s.yaml; fabricast sweep $TMP/s.yaml
> router.buffer  saturation.queueing  points.0.queueing.error_percent  error_against  status
> 512 B                    0.0283298                          8.74403  family              0
> 1 KiB                    0.0283058                           1.0141  kernel              0
> 4 KiB                    0.0283298                          7.47387  family              0
