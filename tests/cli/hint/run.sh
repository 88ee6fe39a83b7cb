#!/bin/sh
# run.sh DEADHEAT - what a report says of the cause: the lock that other accesses at the same lines were made under,
# what ordered them where no lock was held, and the thread that brought the race out. Of a run, of a recording of it,
# and of a text trace. Prints `ok NAME` or `FAIL NAME: why` for each case.
. "$(dirname "$0")/../lib.sh"
schema=$here/../../../docs/schema/findings.schema.json

cd "$work" || exit 1
for name in usual crowd hand; do
    "$deadheat" cc -g -O1 -pthread -I"$here/../../programs" "$here/$name.c" -o $name ||
        { bad compile "$name.c"; exit 1; }
done

# The line below the sentence about locks.
third() { sed -n '/^WARNING/,/^$/p' | sed -n '3s/^  //p'; }
hint() { # NAME WANTED PROGRAM ARGUMENTS...
    name=$1 wanted=$2
    shift 2
    same "$name" "$("$deadheat" run --source=0 -- "$@" 2>&1 | third)" "$wanted"
    rm -f t.dht
    "$deadheat" record --quiet -o t.dht -- "$@" >out 2>err
    same "recorded-$name" "$("$deadheat" analyze t.dht | third)" "$wanted"
}

hint one-lock '8 of 9 accesses recorded at these lines held `all`; the write by thread T3 did not.' ./usual 1
call=$(awk '/pthread_mutex_lock/ { print FNR }' "$here/usual.c")
hint lock-of-each-object "8 of 9 accesses recorded at these lines held a lock taken at usual.c:$call; the write by thread T3 did not." \
    ./usual 2
hint never-locked '' ./usual 3
hint seldom-locked '' ./usual 4
hint newest-thread 'It first raced after thread T5 was created.' ./crowd
hint handed-over 'Accesses at these lines were ordered by `queue.lock` in 8 of 9 observations.' ./hand 1
hint seldom-handed-over '' ./hand 2
hint handed-over-by-many '' ./hand 3

# ---- For programs ----
facts() { # FILE: what the first finding's hint is taken from
    python3 -c "import json, sys
f = json.load(open(sys.argv[1]))['findings'][0]
print(f.get('hint'), *(f'{k}={v}' for k, v in sorted(f.get('discipline', {}).items()) if k != 'taken_at'), sep='|')" "$1"
}
document() { # NAME WANTED COMMAND...
    name=$1 wanted=$2
    shift 2
    "$deadheat" "$@" --format=json >out 2>err
    same "$name" "$(facts out)" "$wanted"
    same "$name-schema" "$(python3 "$here/../findings/validate.py" "$schema" out 2>&1 | tail -1)" valid
}
both() { # NAME WANTED PROGRAM ARGUMENTS...
    case=$1 facts=$2
    shift 2
    rm -f r.jsonl t.dht
    "$deadheat" run --output=r.jsonl --report=0 -- "$@" >out 2>err
    "$deadheat" record --quiet -o t.dht -- "$@" >out 2>err
    document "json-$case" "$facts" report r.jsonl
    document "recorded-json-$case" "$facts" analyze t.dht
}
both order 'Accesses at these lines were ordered by `queue.lock` in 8 of 9 observations.|accesses=18|newest_thread=3|observations=9|ordered=8|ordered_by=queue.lock' \
    ./hand 1
both nothing None ./hand 2
document without-stacks None analyze --stacks=0 t.dht
"$deadheat" record --quiet -o locked.dht -- ./usual 1 >out 2>err
document lock '8 of 9 accesses recorded at these lines held `all`; the write by thread T3 did not.|accesses=9|held=8|held_from=8|lock=all|newest_thread=3' \
    analyze locked.dht
for form in sarif html; do
    "$deadheat" analyze --format=$form locked.dht >out 2>err
    has $form out '8 of 9 accesses recorded at these lines held'
done

# ---- Text traces ----
text() { # NAME WANTED: the trace is t.std
    same "text-$1" "$("$deadheat" analyze t.std | sed -n 's/^    //p')" "$2"
    same "piped-$1" "$(cat t.std | "$deadheat" analyze - 2>&1 | grep -c '^    ')" 0
}
{
    printf '%s\n' 'main|fork(a)|1' 'main|fork(b)|2'
    for t in a b a b a; do printf "$t|%s\n" 'acq(l)|3' 'w(x)|4' 'rel(l)|5'; done
    echo 'b|w(x)|4'
} >t.std
text lock '5 of 6 accesses recorded at these lines held `l`; the write by thread b did not.'
queue() { # LOCK...: an item goes there by each and back by another, and at last by none
    printf '%s\n' 'main|fork(a)|1' 'main|fork(b)|2'
    for q; do
        printf 'a|%s\n' "w(item)|10" "acq($q)|11" "rel($q)|12"
        printf 'b|%s\n' "acq($q)|20" "rel($q)|21" "r(item)|22" "acq(b$q)|23" "rel(b$q)|24"
        printf 'a|%s\n' "acq(b$q)|13" "rel(b$q)|14"
    done
    printf '%s\n' 'a|w(item)|10' 'b|r(item)|22'
}
queue q q q q >t.std
text order 'Accesses at these lines were ordered by `q` in 4 of 5 observations.'
document json-text-order 'Accesses at these lines were ordered by `q` in 4 of 5 observations.|accesses=10|newest_thread=3|observations=5|ordered=4|ordered_by=q' \
    analyze t.std
queue q1 q2 q3 q4 >t.std
text order-by-many ''
{
    for i in 1 2 3; do printf '%s\n' "main|fork(t$i)|1" "t$i|w(x)|2" "main|join(t$i)|3" 'main|w(x)|4'; done
    printf '%s\n' 'main|fork(t4)|1' 't4|w(x)|2' 'main|w(x)|4'
} >t.std
text newest-thread 'It first raced after thread t4 was created.'
# More threads than detectors have numbers for.
{
    for i in $(seq 300); do printf '%s\n' "main|fork(t$i)|1" "t$i|acq(l)|3" "t$i|w(x)|4" "t$i|rel(l)|5" "main|join(t$i)|2"; done
    printf '%s\n' 'main|fork(u)|1' 'main|w(x)|4' 'u|w(x)|4'
} >t.std
text many-threads '300 of 302 accesses recorded at these lines held `l`; these two did not.'
exit $failed
