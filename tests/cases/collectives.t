# Collectives: the table, closed-form times, the choice.

$ fabricast list collectives --members 12 --bytes 64KiB --loggops L=2500ns,o=1500ns,g=1000ns,G=6ns/B | grep -E 'algorithm|bcast|allgather'
> operation       algorithm                 time  chosen by
> bcast           binomial               1.59 ms  
> bcast           binomial-doubling      1.59 ms  
> bcast           linear                4.341 ms  openmpi, openmpi5
> bcast           chain                 4.386 ms  
> bcast           pipeline              2.423 ms  
> bcast           3-chains              1.989 ms  
> bcast           4-chains              1.985 ms  
> bcast           binary                1.985 ms  
> bcast           binary-segments       1.399 ms  fjmpi
> bcast           binomial-segments     1.594 ms  
> bcast           4-nomial               1.98 ms  cray-mpich
> bcast           split-binary                 -  
> bcast           scatter+doubling             -  
> bcast           scatter+doubling-any         -  
> bcast           scatter+ring          798.8 us  mpich, mpich4
> bcast           hardware                     -  
> bcast           elan                         -  
> bcast           line                         -  
> bcast           plane                        -  
> allgather       doubling                     -  
> allgather       doubling-any                 -  
> allgather       bruck                 4.347 ms  openmpi, openmpi5
> allgather       4-bruck                      -  
> allgather       8-bruck                      -  
> allgather       sparbit               7.112 ms  
> allgather       ring                  4.386 ms  mpich, mpich4, cray-mpich
> allgather       neighbor              4.358 ms  fjmpi
> allgather       gather+bcast          23.24 ms  
> allgather       linear                8.285 ms  
> allreduce       reduce+bcast          3.181 ms  
> allreduce       allgather+reduce      4.347 ms  
$ fabricast list collectives | tail -4
>   non-overlapping (reduce_scatter) is reduce+scatter
>   nonoverlapping (reduce_scatter) is reduce+scatter
>   recursive-doubling (scan)    is doubling
>   basic-linear (scan)          is linear
$ fabricast load -m bgl-64 -t traces/samples/lammps-lj-64.fct --collectives bcast=scatter+ring -q | grep -i time
> time        54.33 ms on the network, 85.0 % of peak
$ fabricast predict -m bgl-64 -t traces/samples/lammps-lj-64.fct --network ideal --collectives openmpi,allreduce=linear -q | head -4
> machine        bgl-64: Blue Gene/L, 4 x 4 x 4 torus (the VHDL test)
> job            lammps-lj-64.fct, 64 tasks, mapping def, routing adaptive
> collectives    by the rules openmpi,allreduce=linear
> time           84.86 ms

# Names of libraries; the rules of the library that recorded the trace, said in the answer.
$ fabricast predict -m bgl-64 -t traces/samples/lammps-lj-16.fct --network ideal --collectives bcast=binomial_ompi,scan=default-default -q --json | grep '"collectives"'
>   "collectives": "openmpi,bcast=binomial-doubling,scan=fjmpi",
$ fabricast predict -m bgl-64 -t traces/samples/lammps-lj-16.fct --network ideal --collectives allreduce=default -q
! fabricast: collectives: unknown algorithm 'default' of allreduce (known: doubling, rabenseifner, rabenseifner-halves, ring, ring-segments, reduce+bcast, allgather+reduce, linear)
? 2
$ fabricast list collectives | grep -E 'knomial|\(rules\)|gtbc'
>   4-nomial (bcast)             Open MPI coll/base, knomial
>   mpich (rules)                MPICH up to 3; Thakur, Rabenseifner & Gropp 2005
>   mpich4 (rules)               MPICH 4 and 5
>   openmpi (rules)              Open MPI 4.1, coll/tuned
>   openmpi5 (rules)             Open MPI 5.0, the same rules
>   cray-mpich (rules)           Cray MPICH 8, as far as it is known
>   fjmpi (rules)                FJMPI 4 on Fugaku, inferred from times
>   knomial (bcast)              is 4-nomial
>   default-gtbc (allgather)     is gather+bcast
