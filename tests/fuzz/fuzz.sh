#!/bin/sh
# fuzz.sh - libFuzzer over all targets: fuzz.sh FOLDER N|Ns [TARGET...]: N executions in all, or N seconds, dealt over the
# targets. A tenth of the executions is dealt evenly and measures how fast each target is; the rest is dealt so that each
# gets about the same time. Seconds are dealt evenly. The corpus grows in FOLDER/corpus; what breaks a reader is kept in
# FOLDER/findings. Ends with 1 on a finding.
# An input may take 10 s of the processor and 1 GB under the sanitizers. One that took 10 s by the clock is run again with
# the processor's time counted: a machine that does something else too makes no finding.
folder=$1 amount=$2
shift 2
fuzz=$folder/fuzz
export OMP_NUM_THREADS=1 ASAN_OPTIONS=allocator_may_return_null=1:max_allocation_size_mb=2048:quarantine_size_mb=16
all=$(FUZZ_LIST=1 $fuzz) || exit 2
targets=${*:-$all}
n=$(echo $targets | wc -w)
mkdir -p "$folder/seeds" "$folder/findings" "$folder/log" "$folder/spent"
FUZZ_SEEDS=$folder/seeds $fuzz || exit 2

# Executions (or seconds) of one target, in a few goes: a finding ends a go. Adds what was done, the milliseconds it took
# and the findings to FOLDER/spent/TARGET.
run()
{
    target=$1 left=$2 unit=$3 done=0 found=0 began=$(date +%s%N)
    corpus=$folder/corpus/$target log=$folder/log/$target
    mkdir -p "$corpus"
    for seed in "$folder/seeds/$target".*; do [ -f "$seed" ] && cp "$seed" "$corpus/${seed##*/}"; done
    while [ "$left" -gt 0 ] && [ $found -lt 5 ]; do
        FUZZ_TARGET=$target $fuzz -$unit="$left" -timeout=10 -rss_limit_mb=1024 -malloc_limit_mb=4096 \
            -dict=tests/fuzz/words.dict -print_final_stats=1 -artifact_prefix="$folder/findings/$target." "$corpus" >"$log.one" 2>&1
        status=$?
        cat "$log.one" >>"$log"
        made=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log.one" | tail -1)
        done=$((done + ${made:-0}))
        [ $status = 0 ] && break
        grep -q 'written to' "$log.one" || { tail -3 "$log.one"; exit 2; }
        slow=$(sed -n 's/^artifact_prefix.*written to \(.*timeout-.*\)$/\1/p' "$log.one")
        if [ -n "$slow" ] && (ulimit -t 10; FUZZ_TARGET=$target $fuzz -timeout=600 "$slow" >/dev/null 2>&1); then
            rm "$slow"
            [ $unit = runs ] && left=$((left - ${made:-0} - 1)) || left=0
            continue
        fi
        found=$((found + 1))
        [ $unit = runs ] && left=$((left - ${made:-0} - 1)) || left=0
        grep -h -m1 'ERROR: \|runtime error\|^fuzz: ' "$log.one"
        sed -n 's/^artifact_prefix.*written to \(.*\)$/  reproduce: FUZZ_TARGET='"$target"' '"$(echo $fuzz | sed 's/\//\\\//g')"' \1/p' "$log.one"
    done
    echo $done $((($(date +%s%N) - began) / 1000000 + 1)) $found >>"$folder/spent/$target"
}

# The line of a target; its sums are in $made, $spent and $found.
told()
{
    set -- "$1" $(awk '{ made += $1; spent += $2; found += $3 } END { print made, spent, found }' "$folder/spent/$1")
    made=$2 spent=$3 found=$4
    printf '%-16s %12d %12d %12d\n' "$1" $made $((made * 1000 / spent)) $found
    total=$((total + made)) findings=$((findings + found))
}

total=0 findings=0
for t in $targets; do rm -f "$folder/spent/$t" "$folder/log/$t"; done
printf '%-16s %12s %12s %12s\n' target executions executions/s 'new findings'
case $amount in
*s) for t in $targets; do
        run $t $(((${amount%s} + n - 1) / n)) max_total_time
        told $t
    done ;;
*)  for t in $targets; do run $t $((amount / 10 / n + 1)) runs; done
    made=0 speeds=0
    for t in $targets; do
        read -r executions milliseconds found <"$folder/spent/$t"
        made=$((made + executions)) speeds=$((speeds + executions * 1000 / milliseconds + 1))
    done
    rest=$((amount - made))
    for t in $targets; do
        read -r executions milliseconds found <"$folder/spent/$t"
        run $t $(((executions * 1000 / milliseconds + 1) * rest / speeds + 1)) runs
        told $t
    done ;;
esac
printf '%-16s %12d %12s %12d\n' all $total '' $findings
[ $findings = 0 ] && exit 0
echo "the inputs are in $folder/findings; a mended one goes to tests/fuzz/found/TARGET.NAME, which the tests replay"
exit 1
