#!/bin/sh
# adding.sh BUILT - adds one of each kind of thing to a copy of the sources, as docs/adding.md says: the files of
# tests/adding, and a line of tests/adding/lines in each list. Compiles these files and the lists, links them with
# everything else as it was built (BUILT: obj/test), and runs each new thing. Prints what it runs and answers, and "done".
set -e
built=$(cd "$1" && pwd) top=$(pwd) to=$(mktemp -d)
trap 'rm -rf "$to"' EXIT
mkdir "$to/copy"
for room in core models traces solvers mapping plots answer library reproduce sweep cli; do
    cp -r "$room" "$to/copy/"
done
cd "$top/tests/adding"
new=$(find . -name '*.c' | sed 's,^\./,,' | sort)
for f in $new; do
    [ ! -e "$to/copy/$f" ] || echo "$f is there already"
    cp "$f" "$to/copy/$f"
done
cp hyperx-4x4.yaml four.txt "$to/"
lists=$(grep -v '^#' lines | cut -d' ' -f1 | sort -u)
cd "$to/copy"
grep -v '^#' "$top/tests/adding/lines" | while read -r file list line; do
    awk -v list="#define $list(" -v line="$line" \
        '{ print } !done && index($0, list) == 1 { print "    " line " \\"; done = 1 } END { exit !done }' "$file" >"$to/new" ||
        echo "$file has no list $list"
    cp "$to/new" "$file"
done
changed=$(cd "$top" && for f in $lists; do diff "$f" "$to/copy/$f" | grep -c '^[<>]'; done | awk '{ n += $1 } END { print n }')
[ "$changed" = "$(grep -vc '^#' "$top/tests/adding/lines")" ] || echo "$changed lines changed"

own=$(sed -n 's/^OWN *= \(.*\) -MMD -MP$/\1/p' "$top/Makefile") libs=$(sed -n 's/^LIBS *= //p' "$top/Makefile")
mkdir "$to/o"
for f in $new $lists; do
    ${CC:-cc} $own -Werror -O0 -c -o "$to/o/$(echo "$f" | tr / _).o" "$f"
done
cli=$(for f in cli/*.c; do [ "$f" = cli/ranks_mpi.c ] || echo "$built/o/${f%.c}.o"; done)
${CC:-cc} -fopenmp -fsanitize=address,undefined -o "$to/fabricast" "$to"/o/*.o $cli "$built/libfabricast.a" $libs

cd "$to"
export FABRICAST_DATA="$top/models" # shipped machines
run() {
    echo "$ fabricast $*"
    ./fabricast "$@" || echo "status $?"
}
for kind in families routings patterns strategies collectives formats figures; do
    run list $kind | grep -E '^\$|hyperx|reverse|shift|backwards|pairs'
done
run load -m ./hyperx-4x4.yaml -p uniform
run load -m ./hyperx-4x4.yaml -p shift:by=5
run certify -m ./hyperx-4x4.yaml
run flit -m ./hyperx-4x4.yaml -p shift:by=2 --load 20% --measure 2000
run flit -m ./hyperx-4x4.yaml -p uniform --load 30% --measure 2000
run calibrate -m ./hyperx-4x4.yaml --budget 0.5s -o cal.yaml
run predict -m ./hyperx-4x4.yaml -p alltoall:bytes=4KiB
run predict -m ./hyperx-4x4.yaml -t four.txt --map def,backwards
run predict -m ./hyperx-4x4.yaml -t "$top/traces/samples/lammps-lj-64.fct" --set node.cores=2 --collectives bcast=backwards
mesh=$top/tests/machines/mesh-4x4.yaml torus=$top/tests/machines/torus-4x4x4.yaml
run load -m "$mesh" --routing reverse-order -p transpose
run certify -m "$mesh" --routing reverse-order
run flit -m "$mesh" --routing reverse-order -p transpose --load 10% --measure 2000
run certify -m "$torus" --routing reverse-order
run list collectives --members 8 --bytes 1KiB --loggops L=1us,o=1us,g=1us,G=1ns/B
run reproduce hyperx-diameter -o figures
echo done
