#!/bin/sh
# run.sh DEADHEAT - the counters of --stats: each rule of the engine once in a small program, as text and as JSON, and
# silence about them without the option.
. "$(dirname "$0")/../lib.sh"

cd "$work" || exit 1
"$deadheat" cc -g -O1 -pthread "$here/rules.c" -o rules || { bad compile "deadheat cc failed"; exit 1; }
"$deadheat" run --stats --output=rules.jsonl -- ./rules >out 2>err
same status $? 0
"$deadheat" report --format=json rules.jsonl >json

value() { sed -n "s/.*\"$1\":\\([0-9]*\\).*/\\1/p" json; }
at_least() { # NAME LEAST
    got=$(value "$1")
    if [ "${got:-0}" -ge "$2" ]; then ok "$1"; else bad "$1" "${got:-0}, less than $2"; fi
}
at_least READ_SAME_EPOCH 900
at_least READ_EXCLUSIVE 100
at_least READ_SHARE 100
at_least WRITE_EXCLUSIVE 100
at_least WRITE_SHARED 100
at_least ATOMIC 100
at_least ATOMIC_SAME 1
at_least RANGE 4
at_least RANGE_SAME 2
at_least UNALIGNED 1
at_least STEP_NEW 1
at_least HISTORY_MADE 1
at_least MISS_UNORDERED 1
at_least MISS_HISTORY 1
at_least COLLECTIONS 2
has text err " run time in milliseconds" " histories made" " collections of access ids" \
    " writes that found a history of several readers"
"$deadheat" report --stats rules.jsonl >out 2>&1
has report out " histories made"
# More than once a second is said so; on a busy machine it may be less.
often() {
    awk '/ collections of access ids/ { n = $2 } / run time in milliseconds/ { ms = $2 } END { print (n > 1 && n * 1000 > ms) }' "$1"
}
same text-often "$(grep -c "the collector of access ids ran " err)" "$(often err)"
same report-often "$(grep -c "the collector of access ids ran " out)" "$(often out)"

# A child counts from nothing: its parent has told, or will tell, what it did before the fork.
"$deadheat" run --stats -- ./rules child >out 2>err
same child-status $? 0
same child "$(grep -c "^deadheat: 0 atomic reads and writes" err)" 1

rm rules.jsonl
"$deadheat" run --output=rules.jsonl -- ./rules >out 2>err
same silent "$(cat out err)" ""
lacks not-counted rules.jsonl READ_EXCLUSIVE
has others-kept rules.jsonl COLLECTIONS
exit $failed
