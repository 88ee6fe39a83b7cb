#!/bin/sh
# run.sh DEADHEAT - --sample and --overhead: what they take and refuse, what a sampled run says of itself, and that
# periods come by themselves. What they find is tested by tests/programs/sample-*.c and stress_sample.
. "$(dirname "$0")/../lib.sh"

cd "$work" || exit 1
"$deadheat" cc -g -O1 -pthread "$here/racy.c" -o racy || { bad compile "deadheat cc failed"; exit 1; }

refused() { # NAME SENTENCE ARGUMENTS
    name=$1 sentence=$2
    shift 2
    "$deadheat" run "$@" -- ./racy quiet >out 2>err
    same "$name" "$?:$(cat err)" "2:deadheat run: error: $sentence"
}
refused bare-number "option '--sample' cannot be '1'; it must be a percentage such as 1% or 0.5%" --sample=1
refused no-number "option '--sample' cannot be '%'; it must be a percentage such as 1% or 0.5%" --sample=%
refused too-fine "option '--sample' cannot be '0.00001%'; it must be a percentage such as 1% or 0.5%" --sample=0.00001%
refused too-much "option '--sample' cannot be '101%'; it must be a percentage from 0% to 100%, such as 1% or 0.5%" \
    --sample=101%
refused no-value "--overhead needs a value: --overhead=VALUE" --overhead
refused other-detector "--sample works only with the detector fasttrack, not with 'eraser'" --sample=1% --detector=eraser
refused exception "--on-race=exception promises to raise every race, so it cannot be combined with --overhead" \
    --overhead=30% --on-race=exception
DEADHEAT_OPTIONS=sample=1%:detector=eraser ./racy quiet >out 2>err
same runtime-refuses "$?:$(cat err)" \
    "2:deadheat: sample and overhead work only with the detector fasttrack: others see everything or nothing"
DEADHEAT_OPTIONS=sample=1% "$deadheat" record -o trace.dht -- ./racy quiet >out 2>err
has record-refuses err "sample and overhead work only with the detector fasttrack"

# All is the same as without the option, and silent.
"$deadheat" run --sample=100% -- ./racy quiet >out 2>err
same all "$?:$(cat out err)" "0:"

# A run in which nothing was found says how much was looked at.
"$deadheat" run --sample=20% --output=quiet.jsonl -- ./racy quiet >out 2>err
same quiet-status $? 0
like quiet err "^deadheat: no data race was found in the sampled part: [1-9][0-9]* periods, [0-9]*\.[0-9]*% of the time, [0-9]*\.[0-9]*% of the work$"
has record quiet.jsonl '"sample":0.200000'
"$deadheat" report quiet.jsonl >out 2>err
has report err "deadheat: no data races" "deadheat: this run was sampled: "
"$deadheat" report --format=json quiet.jsonl >json 2>err
has json json '"PERIODS"' '"SAMPLED_WORK"' '"SAMPLED_OF_WORK"'
"$deadheat" run --sample=0% -- ./racy quiet >out 2>err
same none "$(cat err)" \
    "deadheat: no data race was found in the sampled part: 0 periods, 0.00% of the time, 0.00% of the work"

# One that happens ten thousands of times is found in a second, at a fifth and within a budget. How much a budget leaves
# room for depends on what else the machine does, so that gets some more runs.
"$deadheat" run --sample=20% -- ./racy >out 2>err
same found-status $? 66
has found err "data race on global \`racy\`" "deadheat: this run was sampled: "
for _ in 1 2 3 4 5 6 7 8; do
    "$deadheat" run --overhead=50% --stats -- ./racy >out 2>err
    status=$?
    [ $status = 66 ] && break
done
same budget-status $status 66
like budget err "^deadheat: [1-9][0-9]* sampling periods$"

# A period finds what the full detector finds.
programs=$here/../../programs
for name in atomic-and-plain basic-read-shared-write basic-three-threads bytes-overlap loop-matrix-overlap loop-strided \
    stride-fields string-memcpy heap-use-after-free mutex-different-locks; do
    "$deadheat" cc -g -O1 -pthread -I"$programs" -include "$here/always.h" "$programs/$name.c" -o prog ||
        { bad "period-$name" "deadheat cc failed"; continue; }
    "$deadheat" run --source=0 -- ./prog >out 2>full
    "$deadheat" run --source=0 --sample=0% -- ./prog >out 2>sampled
    same "period-$name" "$(grep -c '^WARNING' sampled)" "$(grep -c '^WARNING' full)"
done
exit $failed
