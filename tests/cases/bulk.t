# The time of a phase and its error, with a small calibration of a square.
$ cd $TMP; printf 'name: bulk-4\ntitle: a square\nclock: 1 GHz\nnetwork: {family: torus, dims: [4, 4]}\nlinks: {torus: {bandwidth: 8 GB/s, latency: 1 cycle}, injection: {bandwidth: 16 GB/s, latency: 1 cycle}}\nrouter: {delay: 2 cycles, flit: 8 B, flow_control: cut-through, credit: 1 cycle, vcs: 2, buffer: 128 B, escape: dateline, routing: dimension-order}\npacket: {min: 8 B, max: 64 B}\n' > bulk.yaml; fabricast load -m ./bulk.yaml -p alltoall:bytes=640 | tail -2
> time        920.3 ns on the network, 69.5 % of peak
> error       +-59 % against the kernel on its family, from 6 calibrated torus machines (nearest tmesh-216-central), not from this machine; extrapolated: packets a message 10: no such phase was run
$ cd $TMP; fabricast calibrate -m ./bulk.yaml --budget 1s > /dev/null; grep -c '{network: "dims \[4, 4\]"' bulk.calibration.yaml | awk '{ print ($1 > 10) }'; fabricast load -m ./bulk.yaml -p alltoall:bytes=640 | tail -1 | sed 's/+-[0-9]*/+-N/'
> 1
> error       +-N % against the kernel, calibrated by bulk.calibration.yaml
! fabricast: writes ./bulk.calibration.yaml (-o FILE names another place)
# A calibration of other settings is kept under another name, one of the same is not.
$ cd $TMP; cp bulk.calibration.yaml first; fabricast calibrate -m ./bulk.yaml --budget 100ms -q > /dev/null; cmp first bulk.calibration.yaml.before && rm bulk.calibration.yaml.before; fabricast calibrate -m ./bulk.yaml --budget 100ms -q > /dev/null; ls bulk.calibration.yaml*; cp first bulk.calibration.yaml
> bulk.calibration.yaml
! fabricast: the calibration of other settings that was there is kept as ./bulk.calibration.yaml.before
$ cd $TMP; fabricast predict -m ./bulk.yaml -p alltoall:bytes=640 --json | grep -E '"(extrapolated|why|calibration)"'; fabricast predict -m ./bulk.yaml -p tornado:bytes=64 | grep -c 'calibrated by'
>   "extrapolated": false,
>   "why": "",
>   "calibration": "./bulk.calibration.yaml",
> 1
# The replay of a trace has an error where the calibration has replayed jobs; they can be made alone.
$ cd $TMP; fabricast calibrate -m ./bulk.yaml --replays --budget 8s -q | grep -c '^replays'; grep -c 'job:' bulk.calibration.yaml | awk '{ print ($1 >= 10) }'; fabricast trace generate -m ./bulk.yaml -p stencil2d:grid=4x4,bytes=640 --iterations 3 -o loop.fct; fabricast predict -m ./bulk.yaml -t loop.fct | grep ^error | sed 's/+-[0-9]*/+-N/'
> 1
> 1
> error          +-N % against the kernel, calibrated by bulk.calibration.yaml
$ cd $TMP; for n in queueing ideal flit; do fabricast predict -m ./bulk.yaml -t loop.fct --network $n -q | grep ^error | sed 's/+-[0-9]*/+-N/'; done; fabricast predict -m ./bulk.yaml -t loop.fct --background uniform:10% -q | grep ^error
> error          +-N % against the kernel, calibrated by bulk.calibration.yaml
> error          unknown: an ideal network is no machine's
> error          unknown: a run of the kernel itself: nothing to compare with
> error          unknown: replays beside other traffic are not compared with the kernel
$ cd $TMP; sed 's/^name: .*/name: old/' bulk.yaml > old.yaml; sed '/^replays:/,$d' bulk.calibration.yaml > old.calibration.yaml; fabricast predict -m ./old.yaml -t loop.fct | grep ^error; rm old.calibration.yaml; fabricast predict -m ./old.yaml -t loop.fct --json | grep -E '"(error_percent|why)"' | sed 's/: [0-9.]*,/: N,/'; fabricast calibrate -m ./old.yaml --replays
> error          unknown: the calibration has no replays (`fabricast calibrate --replays` adds them)
>   "error_percent": N,
>   "why": "",
! fabricast: ./old.calibration.yaml: cannot be read: No such file or directory
? 2
# A calibration for another kind of router.
$ cd $TMP; sed 's/vcs: 2/vcs: 4/' bulk.yaml > other.yaml; cp bulk.calibration.yaml other.calibration.yaml; fabricast load -m ./other.yaml -p alltoall:bytes=640 2> why | tail -1; cut -d: -f1-3 why; grep -c 'vcs=2.*vcs=4' why
> error       +-11 % against the kernel on its family, from other.calibration.yaml, made for other keys of its router
> fabricast: ./other.calibration.yaml: made for another kind of router
> 1
$ cd $TMP; fabricast predict -m ./other.yaml -p alltoall:bytes=640 2> why | grep error; grep -c 'vcs=2.*vcs=4' why; fabricast curve -m ./other.yaml -p uniform --loads 0.1 --solver queueing 2> why | grep model; grep -c 'vcs=2.*vcs=4' why
> error          +-11 % against the kernel on its family, from other.calibration.yaml, made for other keys of its router
> 1
> model       queueing, from other.calibration.yaml, made for other keys of its router; errors against the kernel on its family
> 1
# A calibration that does not fit its machine file is a relative only, and the answer says which key differs.
$ cd $TMP; cp "$FABRICAST_DATA"/machines/bgl-64.calibration.yaml misfit.calibration.yaml; sed 's/^  vcs: 2 /  vcs: 3 /' "$FABRICAST_DATA"/machines/bgl-64.yaml > misfit.yaml; fabricast predict -m ./misfit.yaml -p alltoall:bytes=1KiB --map def,rnm --json | grep -E '"(error_against|error_percent|uncalibrated_because)"' | sed 's/: [0-9.]*,/: N,/'
>       "error_percent": N,
>       "error_against": "family",
>       "uncalibrated_because": "./misfit.calibration.yaml: made for another kind of router: vcs=3 (expected vcs=4); `fabricast calibrate` makes a new one",
>       "error_percent": N,
>       "error_against": "family",
>       "uncalibrated_because": "./misfit.calibration.yaml: made for another kind of router: vcs=3 (expected vcs=4); `fabricast calibrate` makes a new one",
! fabricast: ./misfit.calibration.yaml: made for another kind of router: vcs=3 (expected vcs=4); `fabricast calibrate` makes a new one; this answer takes it with a wider error, or its family
$ cd $TMP; fabricast load -m ./misfit.yaml -p alltoall:bytes=1KiB | grep error
> error       +-6 % against the kernel on its family, from misfit.calibration.yaml, made for other keys of its router
! fabricast: ./misfit.calibration.yaml: made for another kind of router: vcs=3 (expected vcs=4); `fabricast calibrate` makes a new one; this answer takes it with a wider error, or its family
$ cd $TMP; fabricast calibrate -m ./misfit.yaml --replays 2>&1 | grep -c 'misfit.calibration.yaml: made for another kind of router'
> 1
# Changed keys: the family answers, and names its nearest; a family without any calibration does not, nor an error above 100 %.
$ fabricast load -m bgl-64 -p alltoall:bytes=2400 --set router.buffer=2KiB --json | grep -E '"(error_against|extrapolated)"'; fabricast load -m bgl-64 -p alltoall:bytes=2400 --set router.buffer=2KiB | grep ^error
>   "error_against": "family",
>   "extrapolated": false,
> error       +-11 % against the kernel on its family, from bgl-64.calibration.yaml, made for other keys of its router
$ cd $TMP; printf 'name: plain\nclock: 1 GHz\nnetwork: {family: mesh, dims: [4, 4]}\nlinks: {mesh: {bandwidth: 8 GB/s, latency: 1 cycle}, injection: {bandwidth: 16 GB/s}}\nrouter: {delay: 2 cycles, flit: 8 B, vcs: 1, buffer: 128 B, escape: none, routing: dimension-order}\npacket: {min: 8 B, max: 64 B}\n' > plain.yaml; fabricast predict -m ./plain.yaml -p neighbor:bytes=1KiB --json | grep -E '"(error_against|uncalibrated_because)"'
>   "error_against": null,
>   "uncalibrated_because": "no calibration of this machine (`fabricast calibrate` makes one); no machine of its family (mesh) is calibrated",
# All-to-all on 64 x 32 x 32 of Blue Gene/L: 64 % of peak were measured (Kumar et al., ICPP 2008).
$ fabricast load -m bgl-64k -p alltoall:bytes=240 | tail -2
> time        1.144 s on the network, 70.7 % of peak
> error       +-20 % against the kernel, calibrated by bgl-64k.calibration.yaml; extrapolated: mean hops 32: no such phase was run
