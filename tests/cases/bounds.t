# The least busiest link by a linear program, and the permutation that a routing carries worst.
$ fabricast load -m bgl-512 -p permutation:seed=3 | grep -E '^(bound|lp)'
> bound       7.215 ms (busiest link 7.584 ms, wire bytes 1.125 x payload)
> bound by    linear program
> lp          7.215 ms, the optimum over paths of fewest hops (510 destinations, 3072 links, columns)
$ fabricast load -m bgl-512 -p permutation:seed=3 --bound cuts | grep -E '^(bound|lp)'
> bound       7.11 ms (busiest link 7.584 ms, wire bytes 1.125 x payload)
$ fabricast load -m bgl-64 -p permutation:seed=3 --bound lp | grep -E '^(bound|lp)'
> bound       6.741 ms (busiest link 6.741 ms, wire bytes 1.125 x payload)
> bound by    cuts
> lp          3.581 ms, the optimum over all paths (61 destinations, 384 links, columns)
$ fabricast load -m bgl-64 -p permutation:seed=3 --bound lp-minimal --json | grep -A10 '"bound_by"' | grep -v _s
>   "bound_by": "cuts",
>   "lp": {
>     "paths": "minimal",
>     "exact": true,
>     "method": "columns",
>     "destinations": 61,
>     "links": 384,
>     "variables": 1329.0,
>     "symmetry": 1
# The routing stays at dimension order; what any other could do is said beside it.
$ fabricast load -m tmesh-216 -p uniform --bound lp | grep -E '^(bound|lp)'
> bound       4.043 ns (busiest link 4.043 ns, wire bytes 1.078 x payload)
> bound by    routing
> lp          4.043 ns, the optimum over all paths (10 destinations, 54 links, columns)
$ fabricast load -m bgl-512 --worst-case --routing dimension-order
> machine     bgl-512: Blue Gene/L midplane, 8 x 8 x 8 torus
> confidence  high for links, packets and buffers (stated); router delay and software costs are estimates
> routing     dimension-order
> worst case  24 x the bytes of a node on y+ (0,0,0)->(0,1,0)
> throughput  7.292 MB/s from every node, 4.167 % of the capacity for uniform traffic
> certificate the dual of the assignment is 24 (2 links solved, 512 translations used)
> permutation 0->24 1->88 2->152 3->216 4->280 5->344 6->408 7->472 ... (--json has all)
$ fabricast load -m bgl-512 --worst-case --routing valiant | grep -E '^(worst|through)'
> worst case  2 x the bytes of a node on y+ (0,0,0)->(0,1,0)
> throughput  87.5 MB/s from every node, 50 % of the capacity for uniform traffic
$ fabricast load -m bgl-64 --worst-case --json | grep -v '^    '
> {
>   "machine": "bgl-64",
>   "routing": "adaptive",
>   "worst_case_load": 2.16666666666667,
>   "worst_case_s_per_byte": 1.23809523809524e-8,
>   "worst_case_most_s_per_byte": 1.23809523809524e-8,
>   "exact": true,
>   "throughput_bytes_per_s": 80769230.7692308,
>   "link": "x- (0,0,0)->(3,0,0)",
>   "dual": 2.16666666666667,
>   "percent_of_capacity": 23.0769230769231,
>   "links_solved": 6,
>   "symmetry": 64,
>   "permutation": [
>   ]
> }

# Refused.
$ fabricast load -m bgl-64 -p uniform --bound simplex
! fabricast: --bound: 'simplex' is unknown (expected lp: over all paths, lp-minimal: over those of fewest hops, or cuts)
? 2
$ fabricast load -m bgl-64 -p uniform --worst-case
! fabricast: --pattern: --worst-case finds the traffic itself (expected no -p, -g, -t)
? 2
$ fabricast load -m bgl-64 --worst-case --bound lp
! fabricast: --bound: --worst-case is of the routing between all nodes (leave it out)
? 2
$ fabricast load -m bgl-32k --worst-case
! fabricast: the worst case of 32768 nodes is an assignment of 1.07e+09 pairs for each link (at most 4096 nodes)
? 1
$ fabricast load -m bgl-4k -p complement --routing dimension-order --bound lp
! fabricast: the flow program has 1.01e+08 variables for 4096 destinations and 24576 links (at most 3e+07)
? 1
