# --time pays for starts, evaluations and the bound too: what is left out is said.

$ fabricast map -m bgl-4k -p stencil2d:grid=64x64 --strategy optimize --time 10ms --json | grep '"tasks"'
>   "tasks": 4096,
! fabricast: the bound of all mappings is left out: it may take 0.095 s, more than --time leaves it
! fabricast: --time: 0.01 s ended before the search: optimize is the best of the starts that they paid for
$ fabricast map -q -m bgl-64k -p stencil3d:grid=64x32x32 --strategy all --time 0.1s | awk '{print $1}' | tail -3
> mapping
> def
> optimize
! fabricast: --time: 0.1 s ended before the search: optimize is the best of the starts that they paid for
