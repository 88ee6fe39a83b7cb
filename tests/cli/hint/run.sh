#!/bin/sh
# run.sh DEADHEAT - what a report says of the cause: the lock that other accesses at the same lines were made under,
# and the thread that brought the race out. Prints `ok NAME` or `FAIL NAME: why` for each case.
. "$(dirname "$0")/../lib.sh"

cd "$work" || exit 1
for name in usual crowd; do
    "$deadheat" cc -g -O1 -pthread -I"$here/../../programs" "$here/$name.c" -o $name ||
        { bad compile "$name.c"; exit 1; }
done

# The line below the sentence about locks.
hint() { "$deadheat" run --source=0 -- "$@" 2>&1 | sed -n '/^WARNING/,/^$/p' | sed -n '3s/^  //p'; }

same one-lock "$(hint ./usual 1)" \
    '8 of 9 accesses recorded at these lines held `all`; the write by thread T3 did not.'
call=$(awk '/pthread_mutex_lock/ { print FNR }' "$here/usual.c")
same lock-of-each-object "$(hint ./usual 2)" \
    "8 of 9 accesses recorded at these lines held a lock taken at usual.c:$call; the write by thread T3 did not."
same never-locked "$(hint ./usual 3)" ''
same seldom-locked "$(hint ./usual 4)" ''
case $(hint ./crowd) in
*'It first raced after thread T5 was created.') ok newest-thread ;;
*) bad newest-thread "$(hint ./crowd)" ;;
esac
rm -f r.jsonl
"$deadheat" run --output=r.jsonl --report=0 -- ./usual 1
"$deadheat" report --format=json r.jsonl >out 2>err
has json out '"hint":"8 of 9 accesses'
