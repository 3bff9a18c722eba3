# names.awk - of an mpi.h (preprocessed) a line for each function that takes a communicator: CALL(name, name in Fortran,
# arguments that are communicators as bits, what it is), or C_CALL where Fortran has none. Left out are those of
# reorder_calls.c and those that mean the real MPI_COMM_WORLD.
BEGIN {
    RS = ";"
    n = split("Abort Comm_get_name Comm_set_name Comm_c2f Cart_create Graph_create Dist_graph_create " \
              "Dist_graph_create_adjacent", left)
    for (i = 1; i <= n; i++) out["MPI_" left[i]]
}
{
    gsub(/[[:space:]]+/, " ")
    if (!match($0, /(^|[^A-Za-z_])int MPIX?_[A-Za-z_0-9]*\(/)) next
    name = substr($0, RSTART, RLENGTH)
    sub(/.*int /, "", name)
    sub(/\(/, "", name)
    if (name in out || name in seen) next
    seen[name]
    arguments = substr($0, RSTART + RLENGTH)
    sub(/\).*/, "", arguments)
    n = split(arguments, argument, ",")
    mask = 0
    for (i = 1; i <= n; i++) if (argument[i] ~ /^ ?MPI_Comm [a-z]/) mask += 2 ^ (i - 1)
    if (!mask) next
    what = "PLAIN"
    if (tolower(name) ~ /^mpi_(i?[bsrp]?send|i?[mp]?recv)(_init)?(_c)?$|^mpi_i?(sendrecv|m?probe)/) what = "TALK"
    if (name ~ /^MPI_(Comm_(get|set|delete)_attr|Attr_(get|put|delete))$/) what = "ATTRIBUTE"
    if (name ~ /^MPI_(Comm_set_errhandler|Errhandler_set)$/) what = "ERRORS"
    small = tolower(name)
    if (sub(/^mpi_/, "", small) && small !~ /_c$/)
        printf "CALL(%s, %s, %d, %s)\n", name, small, mask, what
    else
        printf "C_CALL(%s, %d, %s)\n", name, mask, what
}
# Of MPI-1, no longer in the header of Open MPI; older programs call them.
END {
    if (!("MPI_Errhandler_set" in seen)) print "CALL(MPI_Errhandler_set, errhandler_set, 1, ERRORS)"
    if (!("MPI_Errhandler_get" in seen)) print "CALL(MPI_Errhandler_get, errhandler_get, 1, PLAIN)"
}
