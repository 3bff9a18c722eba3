# None of the nodes is free now: the advice tells when the first can start.
$ printf '+45 0-7\n+600 8-15\n' > $TMP/free.txt; fabricast predict -m bgl-64 -p stencil2d:grid=2x4,bytes=64KiB --queue $TMP/free.txt -q | grep -e free -e advice
> free now    0 nodes
> advice      start in 45 min: nothing later ends earlier
