# The time of a phase and its error, with a small calibration of a square.
$ cd $TMP; printf 'name: bulk-4\ntitle: a square\nclock: 1 GHz\nnetwork: {family: torus, dims: [4, 4]}\nlinks: {torus: {bandwidth: 8 GB/s, latency: 1 cycle}, injection: {bandwidth: 16 GB/s, latency: 1 cycle}}\nrouter: {delay: 2 cycles, flit: 8 B, flow_control: cut-through, credit: 1 cycle, vcs: 2, buffer: 128 B, escape: dateline, routing: dimension-order}\npacket: {min: 8 B, max: 64 B}\n' > bulk.yaml; fabricast load -m ./bulk.yaml -p alltoall:bytes=640 | tail -2
> time        640 ns on the network, 100.0 % of peak
> error       unknown: not calibrated for this network
$ cd $TMP; fabricast calibrate -m ./bulk.yaml --budget 300ms -q > /dev/null; grep -c '{network: "dims \[4, 4\]"' bulk.calibration.yaml | awk '{ print ($1 > 10) }'; fabricast load -m ./bulk.yaml -p alltoall:bytes=640 | tail -1 | sed 's/+-[0-9]*/+-N/'
> 1
> error       +-N %, calibrated by bulk.calibration.yaml
$ cd $TMP; fabricast predict -m ./bulk.yaml -p alltoall:bytes=640 --json | grep -E '"(extrapolated|why|calibration)"'; fabricast predict -m ./bulk.yaml -p tornado:bytes=64 | grep -c 'calibrated by'
>   "extrapolated": false,
>   "why": "",
>   "calibration": "./bulk.calibration.yaml",
> 1
# A trace is replayed, which no closed run says anything of.
$ cd $TMP; fabricast predict -m bgl-64 -t $OLDPWD/traces/samples/lammps-lj-16.fct | grep ^error
> error          unknown: replays are not compared with the kernel
# A calibration for another kind of router.
$ cd $TMP; sed 's/vcs: 2/vcs: 4/' bulk.yaml > other.yaml; cp bulk.calibration.yaml other.calibration.yaml; fabricast load -m ./other.yaml -p alltoall:bytes=640 2> why; echo $?; cut -d: -f1-3 why; grep -c 'vcs=2.*vcs=4' why
> 2
> fabricast: ./other.calibration.yaml: made for another kind of router
> 1
$ cd $TMP; fabricast predict -m ./other.yaml -p alltoall:bytes=640 2> why; echo $?; grep -c 'vcs=2.*vcs=4' why; fabricast curve -m ./other.yaml -p uniform --loads 0.1 --solver queueing 2> why; echo $?; grep -c 'vcs=2.*vcs=4' why
> 2
> 1
> 2
> 1
