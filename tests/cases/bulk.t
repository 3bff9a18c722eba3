# The time of a phase and its error, with a small calibration of a square.
$ cd $TMP; printf 'name: bulk-4\ntitle: a square\nclock: 1 GHz\nnetwork: {family: torus, dims: [4, 4]}\nlinks: {torus: {bandwidth: 8 GB/s, latency: 1 cycle}, injection: {bandwidth: 16 GB/s, latency: 1 cycle}}\nrouter: {delay: 2 cycles, flit: 8 B, flow_control: cut-through, credit: 1 cycle, vcs: 2, buffer: 128 B, escape: dateline, routing: dimension-order}\npacket: {min: 8 B, max: 64 B}\n' > bulk.yaml; fabricast load -m ./bulk.yaml -p alltoall:bytes=640 | tail -2
> time        640 ns on the network, 100.0 % of peak
> error       unknown: not calibrated for this network
$ cd $TMP; fabricast calibrate -m ./bulk.yaml --budget 150ms -q > /dev/null; grep -c '{network: "dims \[4, 4\]"' bulk.calibration.yaml | awk '{ print ($1 > 10) }'; fabricast load -m ./bulk.yaml -p alltoall:bytes=640 | tail -1 | sed 's/+-[0-9]*/+-N/'
> 1
> error       +-N %, calibrated by bulk.calibration.yaml
$ cd $TMP; fabricast predict -m ./bulk.yaml -p alltoall:bytes=640 --json | grep -E '"(extrapolated|why|calibration)"'; fabricast predict -m ./bulk.yaml -p tornado:bytes=64 | grep -c 'calibrated by'
>   "extrapolated": false,
>   "why": "",
>   "calibration": "./bulk.calibration.yaml",
> 1
# The replay of a trace has an error where the calibration has replayed jobs; they can be made alone.
$ cd $TMP; fabricast calibrate -m ./bulk.yaml --replays --budget 4s -q | grep -c '^replays'; grep -c 'job:' bulk.calibration.yaml | awk '{ print ($1 >= 10) }'; fabricast trace generate -m ./bulk.yaml -p stencil2d:grid=4x4,bytes=640 --iterations 3 -o loop.fct; fabricast predict -m ./bulk.yaml -t loop.fct | grep ^error | sed 's/+-[0-9]*/+-N/'
> 1
> 1
> error          +-N %, calibrated by bulk.calibration.yaml
$ cd $TMP; for n in queueing ideal flit; do fabricast predict -m ./bulk.yaml -t loop.fct --network $n -q | grep ^error | sed 's/+-[0-9]*/+-N/'; done; fabricast predict -m ./bulk.yaml -t loop.fct --background uniform:10% -q | grep ^error
> error          +-N %, calibrated by bulk.calibration.yaml
> error          unknown: an ideal network is no machine's
> error          unknown: a run of the kernel itself: nothing to compare with
> error          unknown: replays beside other traffic are not compared with the kernel
$ cd $TMP; sed 's/^name: .*/name: old/' bulk.yaml > old.yaml; sed '/^replays:/,$d' bulk.calibration.yaml > old.calibration.yaml; fabricast predict -m ./old.yaml -t loop.fct | grep ^error; rm old.calibration.yaml; fabricast predict -m ./old.yaml -t loop.fct --json | grep -E '"(error_percent|why)"'; fabricast calibrate -m ./old.yaml --replays
> error          unknown: the calibration has no replays (`fabricast calibrate --replays` adds them)
>   "error_percent": null,
>   "why": "no calibration of this machine (`fabricast calibrate` makes one)",
! fabricast: ./old.calibration.yaml: cannot be read: No such file or directory
? 2
# A calibration for another kind of router.
$ cd $TMP; sed 's/vcs: 2/vcs: 4/' bulk.yaml > other.yaml; cp bulk.calibration.yaml other.calibration.yaml; fabricast load -m ./other.yaml -p alltoall:bytes=640 2> why | tail -1; cut -d: -f1-3 why; grep -c 'vcs=2.*vcs=4' why
> error       unknown: not calibrated for this network
> fabricast: ./other.calibration.yaml: made for another kind of router
> 1
$ cd $TMP; fabricast predict -m ./other.yaml -p alltoall:bytes=640 2> why | grep error; grep -c 'vcs=2.*vcs=4' why; fabricast curve -m ./other.yaml -p uniform --loads 0.1 --solver queueing 2> why | grep model; grep -c 'vcs=2.*vcs=4' why
> error          unknown: not calibrated for this network
> 1
> model       queueing, not calibrated (fabricast calibrate measures its error)
> 1
# A calibration that does not fit its machine file is not used, and the answer says which key differs.
$ cd $TMP; cp "$FABRICAST_DATA"/machines/bgl-64.calibration.yaml misfit.calibration.yaml; sed 's/^  vcs: 2 /  vcs: 3 /' "$FABRICAST_DATA"/machines/bgl-64.yaml > misfit.yaml; fabricast predict -m ./misfit.yaml -p alltoall:bytes=1KiB --map def,rnm --json | grep -E '"(calibration|error_percent|uncalibrated_because)"'
>       "error_percent": null,
>       "calibration": null,
>       "uncalibrated_because": "./misfit.calibration.yaml: made for another kind of router: vcs=3 (expected vcs=4); `fabricast calibrate` makes a new one",
>       "error_percent": null,
>       "calibration": null,
>       "uncalibrated_because": "./misfit.calibration.yaml: made for another kind of router: vcs=3 (expected vcs=4); `fabricast calibrate` makes a new one",
! fabricast: ./misfit.calibration.yaml: made for another kind of router: vcs=3 (expected vcs=4); `fabricast calibrate` makes a new one; this answer is not calibrated by it
$ cd $TMP; fabricast load -m ./misfit.yaml -p alltoall:bytes=1KiB | grep error
> error       unknown: not calibrated for this network
! fabricast: ./misfit.calibration.yaml: made for another kind of router: vcs=3 (expected vcs=4); `fabricast calibrate` makes a new one; this answer is not calibrated by it
$ cd $TMP; fabricast calibrate -m ./misfit.yaml --replays 2>&1 | grep -c 'misfit.calibration.yaml: made for another kind of router'
> 1
