#!/bin/sh
# fuzz.sh - libFuzzer over all targets: fuzz.sh FOLDER N|Ns [TARGET...]: N executions in all, or N seconds, dealt over the
# targets. The corpus grows in FOLDER/corpus; what breaks a reader is kept in FOLDER/findings. Ends with 1 on a finding.
# An input may take 10 s and 1 GB under the sanitizers. One malloc may ask for more, up to 2 GB: libotf2 asks for what an
# archive announces and does not touch it.
folder=$1 amount=$2
shift 2
fuzz=$folder/fuzz
export OMP_NUM_THREADS=1 ASAN_OPTIONS=allocator_may_return_null=1:max_allocation_size_mb=2048:quarantine_size_mb=16
all=$(FUZZ_LIST=1 $fuzz) || exit 2
targets=${*:-$all}
n=$(echo $targets | wc -w)
mkdir -p "$folder/seeds" "$folder/findings"
FUZZ_SEEDS=$folder/seeds $fuzz || exit 2

# Executions (or seconds) of one target, in a few goes: a finding ends a go.
run()
{
    target=$1 left=$2 unit=$3 done=0 found=0 began=$(date +%s%N)
    corpus=$folder/corpus/$target log=$folder/log/$target
    mkdir -p "$corpus" "$folder/log"
    for seed in "$folder/seeds/$target".*; do [ -f "$seed" ] && cp "$seed" "$corpus/${seed##*/}"; done
    : >"$log"
    while [ "$left" -gt 0 ] && [ $found -lt 5 ]; do
        FUZZ_TARGET=$target $fuzz -$unit="$left" -timeout=10 -rss_limit_mb=1024 -malloc_limit_mb=4096 \
            -dict=tests/fuzz/words.dict -print_final_stats=1 -artifact_prefix="$folder/findings/$target." "$corpus" >"$log.one" 2>&1
        status=$?
        cat "$log.one" >>"$log"
        made=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log.one" | tail -1)
        done=$((done + ${made:-0}))
        [ $status = 0 ] && break
        grep -q 'written to' "$log.one" || { tail -3 "$log.one"; exit 2; }
        found=$((found + 1))
        [ $unit = runs ] && left=$((left - ${made:-0} - 1)) || left=0
        grep -h -m1 'ERROR: \|runtime error\|^fuzz: ' "$log.one"
        sed -n 's/^artifact_prefix.*written to \(.*\)$/  reproduce: FUZZ_TARGET='"$target"' '"$(echo $fuzz | sed 's/\//\\\//g')"' \1/p' "$log.one"
    done
    spent=$((($(date +%s%N) - began) / 1000000))
    printf '%-16s %12d %12d %12d\n' "$target" $done $((done * 1000 / (spent + 1))) $found
    total=$((total + done)) findings=$((findings + found))
}

total=0 findings=0
printf '%-16s %12s %12s %12s\n' target executions executions/s 'new findings'
for t in $targets; do
    case $amount in
    *s) run $t $(((${amount%s} + n - 1) / n)) max_total_time ;;
    *) run $t $(((amount + n - 1) / n)) runs ;;
    esac
done
printf '%-16s %12d %12s %12d\n' all $total '' $findings
[ $findings = 0 ] && exit 0
echo "the inputs are in $folder/findings; a mended one goes to tests/fuzz/found/TARGET.NAME, which the tests replay"
exit 1
