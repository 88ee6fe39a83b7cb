#!/bin/sh
# run.sh DEADHEAT - the checked runtime works accesses out a second time: of every kind, all of them where threads take
# turns; the other runtime does not.
. "$(dirname "$0")/../lib.sh"

cd "$work" || exit 1
"$deadheat" cc -g -O1 -pthread --dh-checked "$here/paths.c" -o checked || { bad compile "deadheat cc failed"; exit 1; }
"$deadheat" cc -g -O1 -pthread "$here/paths.c" -o plain || { bad compile "deadheat cc failed"; exit 1; }

count() { # PROGRAM KIND: fills rechecked and skipped
    rm -f counts.jsonl
    "$deadheat" run --output=counts.jsonl -- "./$1" "$2" >out 2>&1 || bad "$2-status" "$(head -3 out | tr '\n' '|')"
    "$deadheat" report --format=json counts.jsonl >json
    rechecked=$(sed -n 's/.*"RECHECKED":\([0-9]*\).*/\1/p' json)
    skipped=$(sed -n 's/.*"RECHECK_SKIPPED":\([0-9]*\).*/\1/p' json)
    rechecked=${rechecked:-0} skipped=${skipped:-0} # what is 0 is not told
}

count checked nothing
few=$rechecked
for kind in words bytes ranges strides atomics; do
    count checked $kind
    if [ "$rechecked" -ge $((few + 500)) ]; then ok $kind; else bad $kind "$rechecked, $few without"; fi
    same $kind-skipped "$skipped" 0
done
count plain words
same plain "$rechecked" 0
"$deadheat" run --stats -- ./checked words >out 2>err
like stats err '^deadheat: [1-9][0-9]* accesses checked against the reference'
exit $failed
