# compare_calls.awk - a recording against a count of the program's calls by name (count_calls.sh).
#
#   awk -f compare_calls.awk TRACE.txt CALLS...
#
# Operations with one event a call must agree; the others are told apart from messages by the monitoring.
# Prints `OP: recorded N, called N`, with `differ` where they do.

BEGIN {
    n = split("barrier bcast gather scatter allgather alltoall alltoallv reduce allreduce reduce_scatter scan " \
              "comm rma finalize", ops, " ")
    split("gatherv=gather scatterv=scatter allgatherv=allgather alltoallw=alltoallv " \
          "reduce_scatter_block=reduce_scatter exscan=scan " \
          "comm_dup=comm comm_dup_with_info=comm comm_idup=comm " \
          "comm_split=comm comm_split_type=comm comm_create=comm comm_create_group=comm cart_create=comm " \
          "cart_sub=comm graph_create=comm dist_graph_create=comm dist_graph_create_adjacent=comm " \
          "intercomm_merge=comm put=rma get=rma accumulate=rma rput=rma rget=rma raccumulate=rma " \
          "get_accumulate=rma rget_accumulate=rma fetch_and_op=rma compare_and_swap=rma " \
          "neighbor_allgather=alltoallv neighbor_allgatherv=alltoallv neighbor_alltoall=alltoallv " \
          "neighbor_alltoallv=alltoallv neighbor_alltoallw=alltoallv", pairs, " ")
    for (i in pairs) {
        split(pairs[i], part, "=")
        op_of[part[1]] = part[2]
    }
    for (i = 1; i <= n; i++) op_of[ops[i]] = ops[i]
    delete op_of["comm"]
    delete op_of["rma"]
}

FNR == 1 { file++ }
file == 1 && $1 == "rank" { inside = 1 }
file == 1 && inside { recorded[$1]++ }
file > 1 {
    name = tolower($1)
    sub(/^mpi_/, "", name)
    sub(/_f08_$|_$/, "", name)
    calls += $2
    if (!(name in op_of) && name ~ /^i/ && (substr(name, 2) in op_of)) name = substr(name, 2) # nonblocking
    if (name in op_of) called[op_of[name]] += $2
}

END {
    for (i = 1; i <= n; i++)
        if (recorded[ops[i]] + called[ops[i]])
            printf "%s%s: recorded %d, called %d%s", shown++ ? "; " : "", ops[i], recorded[ops[i]], \
                called[ops[i]], (recorded[ops[i]] == called[ops[i]] ? "" : " differ")
    printf "; %.0f calls of MPI functions in all\n", calls
}
