# Ctrl-C ends a search, which gives the best mapping it has.

$ timeout --preserve-status -k 60 -s INT 2 env --default-signal=INT fabricast map -q -m bgl-64 -p stencil2d:grid=4x12,bytes=1KiB --strategy optimize:time --time 100000s -o $TMP/stopped.map | grep ^written | cut -c1-7; grep -vc '#' $TMP/stopped.map
> written
> 48
! fabricast: the search was stopped: optimize:time is the best mapping found until then
$ timeout --preserve-status -k 60 -s INT 2 env --default-signal=INT fabricast map -q -m bgl-64 -p stencil2d:grid=8x8,bytes=1KiB --strategy optimize:hops
! fabricast: strategy optimize: 'hops' is unknown (expected optimize or optimize:time)
? 2
$ fabricast map -q -m bgl-64 -p stencil2d:grid=8x8,bytes=1KiB --strategy tile:hops
! fabricast: strategy tile: 'hops' is unknown (expected tile or tile:time)
? 2
