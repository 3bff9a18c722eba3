# Nodes by host, coordinates and file; launcher files; mappings that a format or a machine cannot take.

$ cd $TMP; printf 'name: small\nnetwork: {family: torus, dims: [4, 2]}\nlinks: {torus: {bandwidth: 1 GB/s}}\nnode: {cores: 2}\nhosts: cn[0-7]\n' > small.yaml; printf '4\n5\n0\n9\n8\n1\n' > six.map
$ cd $TMP; fabricast map -m ./small.yaml -p stencil2d:grid=2x3,bytes=1KiB --strategy six.map --format slurm
> cn2
> cn2
> cn0
> cn4
> cn4
> cn0
$ cd $TMP; fabricast map -m ./small.yaml -p stencil2d:grid=2x3,bytes=1KiB --strategy six.map --format hostfile -o h.txt | sed 's/ [0-9.]*  x/ S  x/' && cat h.txt
> machine     small
> traffic     stencil2d:grid=2x3,bytes=1KiB, 6 tasks, routing adaptive
> ...
> written     h.txt, format hostfile
> start       mpiexec -f h.txt -n 6 PROGRAM
> cn2:2
> cn0:1
> cn4:2
> cn0:1
$ cd $TMP; fabricast map -m ./small.yaml -p stencil2d:grid=2x3,bytes=1KiB --nodes cn2,cn0,cn4 --strategy six.map --format cray
> # 6 ranks, 2 a node
> 0,1
> 2,5
> 4,3
$ cd $TMP; fabricast map -m ./small.yaml -p stencil2d:grid=2x3,bytes=1KiB --nodes '(2,0),(0,0),(0,1)' --strategy six.map --format lsf
> {(0,1)(2,5)(4,3)}
$ cd $TMP; fabricast map -m bgl-64 -p stencil2d:grid=2x2,bytes=1KiB --hosts a,b --nodes 5,9 --strategy def --format rankfile
> rank 0=a slot=0
> rank 1=a slot=1
> rank 2=b slot=0
> rank 3=b slot=1
$ cd $TMP; printf 'cn6\ncn6\ncn1\n' > nodefile; fabricast map -m ./small.yaml -p stencil2d:grid=2x2,bytes=1KiB --nodes @nodefile --strategy def --format json | grep -c '"host": "cn6"'
> 2

# What one tool wrote, another reads: the same job by its Slurm file and by its cores.
$ cd $TMP; fabricast map -m ./small.yaml -p stencil2d:grid=2x3,bytes=1KiB --strategy six.map --format slurm -o s.txt --json > a.json; fabricast map -m ./small.yaml -p stencil2d:grid=2x3,bytes=1KiB --strategy slurm:s.txt --json > b.json; grep '"time_s"' a.json b.json | sed 's/.*time/time/' | uniq | wc -l; grep -c '"lower_bound_s": 1.024e-6' a.json
> 1
> 1

# All strategies beside each other; the best one's keys stand on top.
$ fabricast map -m tests/fabrics/tree.yaml -p stencil2d:grid=2x2,bytes=1KiB --compare --time 10ms -q | sed 's/ [0-9][0-9.]*  link/ S  link/'
> machine     tree
> traffic     stencil2d:grid=2x2,bytes=1KiB, 4 tasks, routing shortest
> bound       327.7 ns: no mapping is faster (heaviest task, nodes)
> link time   of the busiest link; predict tells the job's time
>
> mapping       link time  of peak %  times bound  hops/byte   spent s  hottest link
> def            327.7 ns      100.0        1.000      1.000     S  link rack1->cn001
> ...
> rnm            327.7 ns      100.0        1.000      1.500     S  link rack1->cn003
> ...
$ fabricast map -m bgl-64 -p stencil2d:grid=4x4,bytes=1MiB --strategy all --time 10ms --json -q | grep -E '^  "(strategy|lower_bound_s|strategies)"|^      "strategy"'
> ...
>   "strategies": [
>       "strategy": "def",
> ...
>       "strategy": "optimize",
> ...
$ fabricast list formats | grep -E '^  (slurm|cray|lsf) '
>   slurm (mapping)              Slurm host file for -m arbitrary: a host a line, line r for rank r
>   cray (mapping)               Cray MPICH_RANK_ORDER: the ranks in slot order, a line a node
>   lsf (mapping)                LSF task geometry: {(2,5)(0,1)}, group i on node i of the allocation
$ fabricast map -m bgl-64 -p stencil2d:grid=40x40,bytes=1KiB --compare
! fabricast: communication graph has 1600 ranks but the machine has 128 cores
? 2

# Lists of nodes, fastest first: a ring of 16 tasks on a cycle through all nodes puts 1 MiB on each of its links, not two.
$ cd $TMP; fabricast predict -m ./small.yaml -p stencil2d:grid=1x16,bytes=1MiB --nodes 0,3,1,2,4,7,5,6 --nodes cn[0-3],cn7,cn6,cn5,cn4
> stencil2d:grid=1x16,bytes=1MiB, 16 tasks
>
> machine          mapping            time   comm %  of peak  of best    error  against  nodes; bottleneck
> small            def            1.051 ms    100.0     99.8     49.9    +-3 %   family  cn[0-3],cn7,cn6,cn5,cn4; x+ (0,0)->(1,0)
> small            def            2.358 ms    100.0     89.0     22.2   +-37 %   family  0,3,1,2,4,7,5,6; x- (0,0)->(3,0)
$ cd $TMP; fabricast predict -m ./small.yaml -p stencil2d:grid=1x16,bytes=1MiB --nodes 0,3,1,2,4,7,5,6 --nodes cn[0-3],cn7,cn6,cn5,cn4 --json | grep '"nodes"'
>       "nodes": "cn[0-3],cn7,cn6,cn5,cn4"
>       "nodes": "0,3,1,2,4,7,5,6"
# a file with a candidate list a line; commands that take one list do not merge them
$ cd $TMP; printf '0 3 1 2 4 7 5 6  # the cycle\n\ncn[0-3],cn7,cn6,cn5,cn4\n' > candidates; fabricast predict -m ./small.yaml -p stencil2d:grid=1x16,bytes=1MiB --nodes @candidates --nodes 0-7 --json | grep '"nodes"'
>       "nodes": "cn[0-3],cn7,cn6,cn5,cn4"
>       "nodes": "0-7"
>       "nodes": "0,3,1,2,4,7,5,6"
$ cd $TMP; fabricast map -m ./small.yaml -p stencil2d:grid=1x16,bytes=1MiB --nodes @candidates --strategy def
! fabricast: candidates:3: a second list of nodes: the file has 2 candidate lists, one a line (expected one name a line, or all on one line; `predict --nodes` compares several)
? 2
$ cd $TMP; printf 'cn[0-3]\ncn4 cn9\n' > candidates; fabricast predict -m ./small.yaml -p stencil2d:grid=2x2,bytes=1KiB --nodes @candidates
! fabricast: candidates:2: host 'cn9' is not in machine small (near: cn0, cn1, cn2; it has cn0 to cn7) (with --nodes cn4,cn9)
? 2
$ cd $TMP; fabricast predict -m ./small.yaml -p stencil2d:grid=1x16,bytes=1MiB --nodes 0-7 --nodes cn[0-3]
! fabricast: communication graph has 16 ranks but the 4 allowed nodes have 8 cores (with --nodes cn[0-3])
? 2

# Refused: more ranks than slots; a host not in the machine; no host names; the wrong number of them.
$ cd $TMP; fabricast map -m ./small.yaml -p stencil2d:grid=3x3,bytes=1KiB --nodes cn[0-3] --strategy def --format slurm -o none.txt; test -e none.txt || echo nothing >&2
! fabricast: communication graph has 9 ranks but the 4 allowed nodes have 8 cores
! nothing
$ cd $TMP; fabricast map -m ./small.yaml -p stencil2d:grid=2x2,bytes=1KiB --nodes cn[6-8] --strategy def
! fabricast: --nodes: host 'cn8' is not in machine small (near: cn0, cn1, cn2; it has cn0 to cn7)
? 2
$ fabricast map -m bgl-64 -p stencil2d:grid=2x2,bytes=1KiB --nodes cn[0-1] --strategy def
! fabricast: --nodes: 'cn0': machine bgl-64 has no host names (expected node numbers up to 63 or names of routers up to (3,3,3); hosts: in the machine file or --hosts gives it host names)
? 2
$ fabricast map -m bgl-64 -p stencil2d:grid=2x2,bytes=1KiB --strategy def --format slurm
! fabricast: format slurm names hosts, and node 0 of machine bgl-64 has no host name (expected hosts: in the machine file, or --hosts LIST|@FILE)
? 2
$ fabricast map -m bgl-64 -p stencil2d:grid=2x2,bytes=1KiB --hosts a,b --strategy def --format slurm
! fabricast: --hosts: 2 hosts (expected one for each of the machine's 64 nodes; --nodes tells which they are)
? 2
$ fabricast map -m bgl-64 -p stencil2d:grid=2x2,bytes=1KiB --hosts a,a --nodes 0-1 --strategy def --format slurm
! fabricast: --hosts: host 'a' is listed twice
? 2
$ fabricast map -m bgl-64 -p stencil2d:grid=2x2,bytes=1KiB --nodes 0-1 --nodes 2-3 --strategy def
! fabricast: --nodes: given more than once (only predict compares lists of nodes)
? 2

# Formats that cannot say a mapping, or are none.
$ cd $TMP; fabricast map -m ./small.yaml -p stencil2d:grid=2x3,bytes=1KiB --strategy six.map --format lsf
! fabricast: format lsf cannot name nodes: its group i goes to host i, and node 1 of the allocation holds no rank while later ones do (3 of 8 nodes have ranks; list only these with --nodes)
? 2
$ cd $TMP; fabricast map -m ./small.yaml -p stencil2d:grid=2x3,bytes=1KiB --strategy six.map --format cray
! fabricast: format cray fills the nodes in order with equal ranks: node 1 of the allocation holds 0 ranks (expected 2: 6 ranks by 2 a node)
? 2
$ fabricast map -m bgl-512 -p stencil2d:grid=16x32,bytes=1KiB --strategy rnm --format cray -q
! ...
? 2
$ fabricast map -m bgl-512 -p permutation:seed=1 --strategy random --format cray -q
! fabricast: the order's PMI_process_mapping takes 5018 bytes, and cray-mpich 9.1.0 aborts in MPI_Init from 1024 on (whole blocks of consecutive ranks a node fold; --long-mapping writes it all the same)
? 1
$ fabricast map -m bgl-512 -p permutation:seed=1 --strategy random --format cray --long-mapping -q | wc -l
> 513
$ fabricast map -m qsnet-64 -p stencil2d:grid=2x2,bytes=1KiB --strategy def --format bgl
! fabricast: format bgl writes coordinates, and a fat-tree network has none (tori and meshes do)
? 2
$ fabricast map -m bgl-64 -p stencil2d:grid=2x2,bytes=1KiB --strategy def --format slrum
! fabricast: --format: 'slrum' is unknown (did you mean 'slurm'? known: cores, slurm, rankfile, rankfile-relative, hostfile, seq, cray, bgl, pjm, flux, lsf, erf, slots, kueue, json)
? 2
$ fabricast map -m bgl-64 -p stencil2d:grid=2x2,bytes=1KiB --compare --format slurm
! fabricast: --format writes one mapping (expected --strategy with one name)
? 2
$ fabricast map -m bgl-64 -p stencil2d:grid=2x2,bytes=1KiB --strategy def --format slurm --json
! fabricast: --json and the mapping both go to standard output (expected -o FILE)
? 2

# Mapping files that are no permutation, graphs with negative weights, blocks that do not divide.
$ cd $TMP; printf '0\n1\n1\n3\n' > twice.map; fabricast map -m ./small.yaml -p stencil2d:grid=2x2,bytes=1KiB --strategy twice.map
! fabricast: twice.map:3: core 1 is used twice (first at line 2)
? 2
$ cd $TMP; printf '%%%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 5\n2 3 -5\n' > g.mtx; fabricast map -m ./small.yaml -g g.mtx --strategy def
! fabricast: g.mtx:4: bytes: -5 is negative
? 2
$ cd $TMP; printf '2 1 001\n2 -5\n1 -5\n' > g.graph; fabricast map -m ./small.yaml -g g.graph --strategy def
! fabricast: g.graph:2: edge weight: '-5' is out of range (allowed: at least 1)
? 2
$ fabricast map -m percs-16 -p stencil2d:grid=64x64,bytes=1KiB --strategy bsm:node=5x6
! fabricast: strategy bsm: block 5x6 of a node does not divide the task grid: 6 is no part of 64 (nearest valid shapes: 4x8, 4x4, 8x4)
? 2
$ fabricast map -m percs-16 -p stencil2d:grid=64x64,bytes=1KiB --strategy shapes:6x5
! fabricast: strategy shapes: the outermost block leaves a rest in 2 dimensions of the grid (expected 1 at most), nearest valid shapes: 8x4, 4x4, 4x8
? 2
