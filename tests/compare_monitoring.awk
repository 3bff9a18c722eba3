# compare_monitoring.awk - a recording against Open MPI's own counters of the same run, pair by pair.
#
#   awk -f compare_monitoring.awk TRACE.txt MONITORING.*.prof
#
# TRACE.txt is the text form (docs/trace-format.md). The other files are what pml_monitoring wrote with
# enable=2: a row is KIND FROM TO BYTES "bytes" MESSAGES "msgs sent". E: what the program's point-to-point
# calls sent. S and R: what one-sided calls sent and fetched. C: collectives by their definition (MPI 3.1,
# chapter 5) and not as messages of an algorithm. MPI's own collectives are in C too: three allreduces of 4
# bytes over the parent for a communicator, and an allgather of 8 bytes where it is split; that much is
# granted. What a window takes is not known: with -v windows=N (how many were made), C may not be less than
# recorded, and a difference is only told. Prints `KIND pairs messages bytes pairs messages bytes
# pairs_that_differ`, ours first, then the first pairs that differ.

function add(kind, from, to, bytes)
{
    bytes_of[kind, from, to] += bytes
    messages_of[kind, from, to]++
}

function value(key,    i)
{
    for (i = 5; i <= NF; i++)
        if (index($i, key "=") == 1) return substr($i, length(key) + 2)
    return -1
}

# members[comm, 0 ..]: from "0-3,8"
function read_members(comm, text,    part, ends, n, i, r)
{
    n_members[comm] = 0
    n = split(text, part, ",")
    for (i = 1; i <= n; i++) {
        if (split(part[i], ends, "-") == 1) ends[2] = ends[1]
        for (r = ends[1] + 0; r <= ends[2] + 0; r++) members[comm, n_members[comm]++] = r
    }
}

# to or from every other member
function others(comm, bytes, outwards,    i, m)
{
    for (i = 0; i < n_members[comm]; i++) {
        m = members[comm, i]
        if (m != rank && outwards) add("C", rank, m, bytes)
        if (m != rank && !outwards) add("C", m, rank, bytes)
    }
}

function collective(op, bytes,    comm, root, i, size, after)
{
    comm = value("comm")
    root = value("root")
    if (op == "barrier" || op == "allreduce" || op == "allgather" || op == "alltoall") others(comm, bytes, 1)
    if ((op == "bcast" || op == "reduce") && root == rank) others(comm, bytes, 1)
    if ((op == "gather" || op == "scatter") && root != rank) add("C", root, rank, bytes)
    if (op == "reduce_scatter") others(comm, bytes, 0)
    if (op == "alltoallv") {
        split(value("sizes"), size, ",")
        for (i = 0; i < n_members[comm]; i++)
            if (members[comm, i] != rank) add("C", rank, members[comm, i], size[i + 1])
    }
    if (op == "scan")
        for (i = 0; i < n_members[comm]; i++) {
            if (after) add("C", rank, members[comm, i], bytes)
            if (members[comm, i] == rank) after = 1
        }
}

function make(comm, parent,    i)
{
    if (comm == parent) return # made by messages of the members
    for (i = 0; i < n_members[parent]; i++)
        if (members[parent, i] != rank) made["C", rank, members[parent, i]]++
}

# What is monitored beyond the recorded: is it MPI's own making of communicators?
function granted(pair,    extra, splits)
{
    extra = their_messages[pair] - messages_of[pair]
    splits = extra - 3 * made[pair]
    if (windows) return extra >= 0 && their_bytes[pair] >= bytes_of[pair]
    return splits >= 0 && splits <= made[pair] && \
        their_bytes[pair] - bytes_of[pair] == 12 * made[pair] + 8 * splits
}

function one_sided(peer, bytes, mode)
{
    if (mode == "put" || mode == "update") add("S", rank, peer, bytes)
    if (mode == "get") add("S", rank, peer, 0) # the request
    if (mode == "get" || mode == "update") add("R", rank, peer, bytes)
}

FNR == 1 { file++ }
file == 1 && $1 == "comm" && rank == "" { read_members($2, $3); next }
file == 1 && $1 == "rank" { rank = $2; next }
file == 1 && ($1 == "send" || $1 == "isend") { add("E", rank, value("peer"), value("bytes")); next }
file == 1 && $1 == "rma" { one_sided(value("peer"), value("bytes"), value("mode")); next }
file == 1 && $1 == "comm" { make(value("comm"), value("parent")); next }
file == 1 && $1 == "barrier" { collective($1, 0); next }
# MPI passes over collectives of no bytes
file == 1 && rank != "" && value("comm") >= 0 && value("bytes") > 0 { collective($1, value("bytes")) }
file > 1 && /^[ESRC]\t/ {
    their_bytes[$1, $2, $3] = $4
    their_messages[$1, $2, $3] = $6
}

function compare(kind,    pair, part, ours, theirs, differ, shown)
{
    split("", seen)
    for (pair in messages_of) seen[pair]
    for (pair in their_messages) seen[pair]
    for (pair in seen) {
        split(pair, part, SUBSEP)
        if (part[1] != kind) continue
        ours_pairs += messages_of[pair] > 0
        ours_messages += messages_of[pair]
        ours_bytes += bytes_of[pair]
        theirs_pairs += their_messages[pair] > 0
        theirs_messages += their_messages[pair]
        theirs_bytes += their_bytes[pair]
        if (messages_of[pair] + 0 == their_messages[pair] + 0 && bytes_of[pair] + 0 == their_bytes[pair] + 0)
            continue
        if (kind == "C" && granted(pair)) continue
        if (differ++ < 4)
            shown = shown sprintf("  %s %d -> %d: recorded %d messages of %.0f bytes, monitored %d of %.0f\n", \
                                  kind, part[2], part[3], messages_of[pair], bytes_of[pair], \
                                  their_messages[pair], their_bytes[pair])
    }
    printf "%s %d %d %.0f %d %d %.0f %d\n%s", kind, ours_pairs, ours_messages, ours_bytes, theirs_pairs, \
        theirs_messages, theirs_bytes, differ, shown
    ours_pairs = ours_messages = ours_bytes = theirs_pairs = theirs_messages = theirs_bytes = 0
}

END {
    compare("E")
    compare("S")
    compare("R")
    compare("C")
}
