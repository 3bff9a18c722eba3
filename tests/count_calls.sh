#!/bin/bash
# count_calls.sh LIBRARY PROGRAM - makes a library that, preloaded, counts the program's MPI calls by name.
#
# Every MPI function that PROGRAM or a library of it (but MPI's own) refers to gets an entry that counts and
# jumps on to the next definition: the arguments stay where they are, so it needs no prototypes and knows
# nothing of MPI. When a rank ends it appends "NAME COUNT" lines to $FABRICAST_CALLS.RANK. Fails quietly but
# on x86-64 with gcc and nm.
set -eu
[ "$(uname -m)" = x86_64 ] && command -v gcc >/dev/null && command -v nm >/dev/null || exit 1
library=$1
objects="$2 $(ldd "$2" | awk '$3 ~ /^\// && $3 !~ /lib(mpi|open-|c\.|m\.)/ { print $3 }')"
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
for object in $objects; do nm -D --undefined-only "$object"; done |
    sed -n 's/^ *[Uw] \(MPI_[A-Za-z_]*\|mpi_[a-z0-9_]*_\)\(@.*\)\?$/\1/p' |
    grep -viE '_fn_?$|^mpi_(fortran|c)_' | sort -u >"$directory/names"
awk '{
    printf ".globl %s\n.type %s, @function\n%s: ", $1, $1, $1
    printf "lock incq counts+%d(%%rip)\njmp *next+%d(%%rip)\n", 8 * (NR - 1), 8 * (NR - 1)
    names = names sprintf(".quad text%d\n", NR)
    texts = texts sprintf("text%d: .asciz \"%s\"\n", NR, $1)
}
BEGIN { print ".text" }
END {
    print ".data\n.balign 8\n.globl counts, next, names\n.hidden counts\n.hidden next\n.hidden names\n"
    printf "names:\n%s.quad 0\ncounts: .fill %d, 8, 0\nnext: .fill %d, 8, 0\n%s", names, NR, NR, texts
    print ".section .note.GNU-stack, \"\", @progbits"
}' "$directory/names" >"$directory/entries.s"
cat >"$directory/count.c" <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
extern long counts[];
extern void *next[];
extern const char *const names[];
__attribute__((constructor)) static void find(void)
{
    for (int i = 0; names[i]; i++) next[i] = dlsym(RTLD_NEXT, names[i]);
}
__attribute__((destructor)) static void tell(void)
{
    const char *prefix = getenv("FABRICAST_CALLS"), *rank = getenv("OMPI_COMM_WORLD_RANK");
    char path[4096];
    if (!prefix || !rank) return;
    snprintf(path, sizeof path, "%s.%s", prefix, rank);
    FILE *file = fopen(path, "a");
    for (int i = 0; file && names[i]; i++)
        if (counts[i]) fprintf(file, "%s %ld\n", names[i], counts[i]);
    if (file) fclose(file);
}
C
gcc -shared -fPIC -o "$library" "$directory/count.c" "$directory/entries.s" -ldl
