# An iterative program by some of its periods: what repeats, the time, its error, and what is refused.

$ cd $TMP; printf 'fabricast-trace 1\nprogram ./ring\nrecorded by hand\nranks 2\ncomm 0 0-1\nevents 804\n' > loop.txt; for r in 0 1; do echo "rank $r 402"; echo 'init 0 0 0'; for k in $(seq 200); do echo "send 0 0 0.000010000 comm=0 peer=$((1 - r)) tag=0 bytes=1000"; echo "recv 0 0 0 comm=0 peer=$((1 - r)) tag=0 bytes=1000"; done; echo 'finalize 0 0 0.001'; done >> loop.txt; echo end >> loop.txt; fabricast trace info loop.txt | grep period
> period       repeats 200 times, period of 2 events a rank, 99.5 % of all
$ cd $TMP; fabricast trace info loop.txt --json | grep -A6 '"period"'
>   "period": {
>     "repeats": 200,
>     "least_events": 2,
>     "most_events": 2,
>     "covers_percent": 99.5024875621891,
>     "why": ""
>   },

# In a steady state nothing is lost.
$ cd $TMP; fabricast predict -m qsnet-64 -t loop.txt -q | grep '^time' > full; fabricast predict -m qsnet-64 -t loop.txt -q --period auto | grep '^time' | diff - full; fabricast predict -m qsnet-64 -t loop.txt -q --period check | grep '^period' | sed 's/by .*/by little/; s/error  *[+-][0-9.]*\(e-[0-9]*\)* %/error nearly 0/; s/is .*/is T/'
> period         16 of 200 replayed; the last doubling moved the time by little
> period error nearly 0: in full the time is T
$ cd $TMP; fabricast predict -m qsnet-64 -t loop.txt -q --period auto | grep 'period error'; fabricast predict -m qsnet-64 -t loop.txt -q --period auto --json | grep -A3 '"period"'; fabricast predict -m qsnet-64 -t loop.txt -q --period off | grep period | wc -l
> period error   not measured (--period check replays in full too)
>   "period": {
>     "repeats": 200,
>     "replayed": 16,
>     "least_events": 2,
> 0

# None: replayed in full, and said so.
$ fabricast predict -m bgl-64 -t traces/samples/lammps-lj-16.fct -q --period auto | grep period
> period         not used, replayed in full: no period: no calls about the middle of any rank repeat 5 times
$ fabricast predict -m bgl-64 -t traces/samples/lammps-lj-16.fct --period yes
! fabricast: --period: 'yes' is unknown (expected auto, check or off)
? 2
$ fabricast predict -m bgl-64 -p alltoall --period auto
! fabricast: --period: only a trace has periods (expected -t TRACE)
? 2

# A trace larger than memory goes through a temporary file; none can be made here.
$ cd $TMP; { printf 'fabricast-trace 1\nprogram long\nrecorded by hand\nranks 1\ncomm 0 0\nevents 1048580\nrank 0 1048580\n'; yes 'other 0 0 0.000000001' | head -1048580; echo end; } > long.txt; TMPDIR=/nowhere fabricast predict -m qsnet-64 -t long.txt -q; s=$?; rm long.txt; exit $s
! fabricast: no temporary file in /nowhere for a trace that is larger than memory should hold: No such file or directory
? 1
