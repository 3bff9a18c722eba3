#!/bin/bash
# validate_same_bytes.sh - the same bytes from every build and everywhere.
#
# Builds the program with gcc and clang at -O1 and -O3, and with clang for this very processor (fused multiply and add,
# wide vectors), runs commands of every kind with 1, 2 and 8 threads each, gcc's -O3 also in another locale and time
# zone (de_DE.UTF-8, made in a private directory; Asia/Tokyo), and compares every byte of what they print and write
# with gcc -O3, one thread, C. Left out are the seconds and the memory that a run itself took, the number of threads in
# a command line that is repeated, and gnuplot's pictures (PDF has the date in it): its scripts and tables are compared.
# `trace capture` records times and has no bytes to repeat.
#
# Needs clang with OpenMP (Debian: clang, libomp-dev or libomp-14-dev) and, for the locale, localedef and its sources
# (Debian: locales); says so and skips that part otherwise. KEEP: a new directory that keeps builds and answers.
# BUILDS: some of gcc-O1 gcc-O3 clang-O1 clang-O3 clang-native.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root" || exit 1
work=${KEEP:-$(mktemp -d /tmp/fabricast-bytes-XXXXXX)}
[ -n "${KEEP:-}" ] || trap 'rm -rf "$work"' EXIT
mkdir -p "$work"
export FABRICAST_DATA=$root/models LC_ALL=C TZ=UTC
surroundings= # variables of the runs
samples=$root/traces/samples machines=$root/tests/machines

# ---- the commands; @ stands for --threads N ----

write_inputs()
{
    cat >ring.yaml <<'END'
name: ring-4
clock: 1 GHz
network: {family: torus, dims: [4]}
links: {torus: {bandwidth: 8 GB/s, latency: 1 cycle}, injection: {bandwidth: 8 GB/s, latency: 1 cycle}}
router: {delay: 2 cycles, flit: 8 B, flow_control: cut-through, credit: 1 cycle, vcs: 2, buffer: 128 B, escape: dateline, routing: dimension-order}
packet: {min: 8 B, max: 64 B}
END
    printf '%%%%MatrixMarket matrix coordinate real general\n4 4 2\n1 2 40.5\n1 3 8\n' >graph.mtx
    printf 'command: load -p stencil2d:grid=8x8,bytes=64KiB\nvary: {machine: [bgl-64, qsnet-64], map: [def, random], seed: "1:2:1"}\ncolumns: [bound_s, bottleneck.class, percent_of_peak]\n' >sweep.yaml
}
commands()
{
    cat <<'END'
list families
list strategies --json
list collectives --members 12 --bytes 64KiB --loggops L=2500ns,o=1500ns,g=1000ns,G=6ns/B --json
machines bgl-512
machines qsnet-64 --json
machines ./ring.yaml --dump-network
certify -m tmesh-216 --vc-rule shared
certify -m tmesh-216-024 --vc-rule six-vc --json
load -m bgl-512 -p permutation:seed=3 --plot load @
load -m bgl-64 -p permutation:seed=3 --bound lp --json @
load -m percs-16 --worst-case --json @
load -m qsnet-64 -p alltoall:bytes=4096 --json @
load -m frontier -p stencil3d --json @
flit -m ./ring.yaml -g graph.mtx --json @
flit -m bgl-64 -p uniform --load 30% --engine cycle --warmup 500 --measure 1500 --interval 500 --json @
flit -m bgl-64 -p uniform --load 30% --engine event --warmup 500 --measure 1500 --plot flit @
flit -m tmesh-216 -p uniform --backlog --warmup 200 --measure 400 --json @
flit -m qsnet-64 -p alltoall:bytes=64 --json @
flit -m gemini-xe6 -p uniform --load 20% --background tornado:0.05 --warmup 300 --measure 700 --json @
curve -m ./ring.yaml -p uniform --packet-flits 4 --loads 20%,50% --solver both --warmup 500 --measure 2000 --plot curve @
curve -m bgl-64 -p uniform --loads 20%,60% --solver queueing --by-hops --json @
curve -m tmesh-216 -p uniform --loads 20% --solver queueing --pairs 0-1,0-200 --windows 1,8 @
map -m bgl-64 -p stencil2d:grid=8x8,bytes=64KiB --strategy all --time 0.05s --json @
map -m qsnet-64 -t SAMPLES/lammps-lj-64.fct --strategy optimize --time 0.1s -o job.map --plot map --json @
map -m percs-16 -p stencil2d:grid=32x16,bytes=64KiB --strategy optimize:time --time 0.05s --json @
map -m bgl-64 -p stencil2d:grid=3x3,bytes=64KiB --nodes 0-8 --strategy exact:hops --json @
map -m MACHINES/torus-4x4x4.yaml -p permutation:seed=2 --strategy optimize:time --time 0.05s --json @
place -m MACHINES/tmesh-27.yaml --objective pareto --json @
place -m tmesh-216 --objective load --time 0.1s --plot place @
predict -m bgl-64,qsnet-64,percs-16,tmesh-216 -t SAMPLES/lammps-lj-64.fct --map def,optimize --time 0.05s --plot predict @
predict -m bgl-64 -t SAMPLES/lammps-lj-16.fct --network queueing --json @
predict -m bgl-64 -p alltoall:bytes=4096 --background uniform:30% --json @
report -m bgl-64 -t SAMPLES/lammps-lj-64.fct --time 0.05s -o page.html @
report -m percs-16 -p stencil2d:grid=128x128,bytes=64KiB --versus bsm -o page2.html --json @
trace info SAMPLES/lammps-lj-16.fct --json
trace info SAMPLES/lammps-lj-16.fct --phases
trace generate -m ./ring.yaml -p stencil2d:grid=2x2,bytes=640 --iterations 3 --compute 1.5us -o loop.fct
predict -m ./ring.yaml -t loop.fct --network flit --json @
trace convert SAMPLES/lammps-lj-16.fct --text -o lj.txt
trace convert SAMPLES/lammps-lj-16.fct --format goal -o lj.goal
trace convert SAMPLES/lammps-lj-16.fct --format ti -o lj.ti
trace convert SAMPLES/lammps-lj-16.fct --format mtx -o lj.mtx
trace convert lj.txt -o lj.fct
calibrate -m bgl-8x8x1 --budget 2s -o calibration.yaml @
sweep sweep.yaml -o sweep.tsv @
sweep sweep.yaml --json @
reproduce gemini-fig6 gemini-fig7 qsnet-fig9 percs-fig2 percs-table1 --quick -o figures @
END
}

# answer PROGRAM THREADS DIRECTORY: runs them all there
answer()
{
    local program=$1 threads=$2 n=0 line
    rm -rf "$3" && mkdir -p "$3" && cd "$3" && write_inputs || exit 1
    while read -r line; do
        n=$((n + 1))
        line=${line//SAMPLES/$samples} line=${line//MACHINES/$machines}
        { echo "fabricast ${line/ @/}"
          env $surroundings timeout -k 5 900 "$program" ${line/@/--threads $threads} -q 2>&1 </dev/null
          echo "exit status $?"; } >"$(printf 'answer-%02d' $n)"
    done < <(commands)
    rm -f ./*/*.png ./*/*.pdf
    find . -type f -exec sed -i -E '/"(cpu_s|flit_hops_per_cpu_s|peak_rss_bytes|elapsed_s)":/ d; /^speed  / d; s/ --threads [0-9]+//g' {} +
    cd "$root" || exit 1
}

# ---- builds ----

build()
{
    local cc=${1%%-*} flags=-${1#*-}
    [ "$1" != clang-native ] || flags='-O3 -march=native'
    make -s CC="$cc" OBJ="$work/$1" CFLAGS="$flags" "$work/$1/fabricast" >"$work/$1.log" 2>&1
}

builds=${BUILDS:-gcc-O1 clang-O1 clang-O3 clang-native}
if ! echo 'int main(void) { return 0; }' | clang -fopenmp -x c -o "$work/empty" - 2>/dev/null; then
    echo "SKIPPED: the builds with clang: clang with OpenMP is not installed (clang, libomp-dev)"
    builds=$(tr ' ' '\n' <<<"$builds" | grep gcc)
fi
for b in gcc-O3 $builds; do
    echo "  building $b"
    build "$b" || { cat "$work/$b.log"; echo "FAILED: $b does not build"; exit 1; }
done

# ---- answers ----

failed=0 compared=0
answer "$work/gcc-O3/fabricast" 1 "$work/expected"
n=$(grep -c . < <(commands)) good=$(grep -l 'exit status [01]$' "$work"/expected/answer-* | wc -l)
echo "  $n commands, $good answered, $(find "$work/expected" -type f | wc -l) files"
grep -L 'exit status [01]$' "$work"/expected/answer-* | xargs -r tail -n 3

# compare NAME PROGRAM THREADS
compare()
{
    answer "$2" "$3" "$work/answers"
    compared=$((compared + 1))
    if diff -rq "$work/expected" "$work/answers" >"$work/differ"; then
        echo "  same    $1, $3 threads"
        rm -rf "$work/answers"
        return
    fi
    failed=$((failed + 1))
    echo "  FAILED  $1, $3 threads: $(wc -l <"$work/differ") files differ"
    diff -r "$work/expected" "$work/answers" | head -30
    rm -rf "$work/differ-$1-$3" && mv "$work/answers" "$work/differ-$1-$3"
}

compare gcc-O3 "$work/gcc-O3/fabricast" 2
compare gcc-O3 "$work/gcc-O3/fabricast" 8
if mkdir -p "$work/locale" && localedef -i de_DE -f UTF-8 "$work/locale/de_DE.UTF-8" 2>/dev/null &&
   [ "$(env LOCPATH="$work/locale" LC_ALL=de_DE.UTF-8 locale decimal_point)" = , ]; then
    surroundings="LOCPATH=$work/locale LC_ALL=de_DE.UTF-8 LANG=de_DE.UTF-8 TZ=Asia/Tokyo"
    compare de_DE-Tokyo "$work/gcc-O3/fabricast" 2
else
    echo "SKIPPED: the locale de_DE.UTF-8: localedef cannot make it (Debian: locales)"
    surroundings=TZ=Asia/Tokyo
    compare Tokyo "$work/gcc-O3/fabricast" 2
fi
surroundings=
for b in $builds; do
    [ "$b" != gcc-O3 ] || continue
    for threads in 1 2 8; do compare "$b" "$work/$b/fabricast" $threads; done
done
echo "  $compared runs of $n commands compared, $failed differ"
[ $failed = 0 ] && [ "$good" = "$n" ]
