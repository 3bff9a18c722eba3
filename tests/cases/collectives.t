# Collectives: the table, closed-form times, the choice.

$ fabricast list collectives --members 12 --bytes 64KiB --loggops L=2500ns,o=1500ns,g=1000ns,G=6ns/B | grep -E 'algorithm|bcast|allgather'
> operation       algorithm              time  chosen by
> bcast           binomial            1.59 ms  
> bcast           binomial-doubling   1.59 ms  
> bcast           linear             4.341 ms  openmpi
> bcast           chain              4.386 ms  
> bcast           pipeline           2.423 ms  
> bcast           3-chains           1.989 ms  
> bcast           4-chains           1.985 ms  
> bcast           binary             1.985 ms  
> bcast           binary-segments    1.399 ms  
> bcast           binomial-segments  1.594 ms  
> bcast           4-nomial            1.98 ms  
> bcast           scatter+doubling          -  
> bcast           scatter+ring       798.8 us  mpich
> bcast           hardware                  -  
> bcast           elan                      -  
> bcast           line                      -  
> bcast           plane                     -  
> allgather       doubling                  -  
> allgather       bruck              4.347 ms  openmpi
> allgather       ring               4.386 ms  mpich
> allgather       neighbor           4.358 ms  
> allgather       gather+bcast       23.24 ms  
> allgather       linear             8.285 ms  
> allreduce       reduce+bcast       3.181 ms  
$ fabricast list collectives | tail -4
>   ring (reduce_scatter)        Open MPI coll/base
>   reduce+scatter (reduce_scatter) Open MPI coll/base
>   doubling (scan)              Thakur, Rabenseifner & Gropp 2005
>   linear (scan)                Open MPI coll/base
$ fabricast load -m bgl-64 -t traces/samples/lammps-lj-64.fct --collectives bcast=scatter+ring -q | grep -i time
> time        62.68 ms on the network, 73.7 % of peak
$ fabricast predict -m bgl-64 -t traces/samples/lammps-lj-64.fct --network ideal --collectives openmpi,allreduce=linear -q | head -3
> machine        bgl-64: Blue Gene/L, 4 x 4 x 4 torus (the VHDL test)
> job            lammps-lj-64.fct, 64 tasks, mapping def, routing adaptive
> time           85.72 ms
