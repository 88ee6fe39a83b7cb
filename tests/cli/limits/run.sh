#!/bin/sh
# run.sh DEADHEAT - files that never end, and small files about much: a sentence, or memory in proportion to what is used.
. "$(dirname "$0")/../lib.sh"

cd "$work" || exit 1
"$deadheat" cc -g -O1 -pthread "$here/sparse.c" -o sparse && "$deadheat" cc -g -O1 -pthread "$here/../messages/two.c" -o two || {
    bad compile "deadheat cc failed"
    exit 1
}
capped() { # KILOBYTES ARGUMENTS: sets status, fills out and err
    kb=$1
    shift
    (ulimit -v "$kb" && exec within 60 "$deadheat" "$@" >out 2>err)
    status=$?
}

# ---- Files that never end ----
"$deadheat" run --report=0 --output=r.jsonl -- ./two >out
capped 600000 report --suppressions=/dev/zero r.jsonl
same suppressions "$status:$(grep -c 'cannot read the suppressions /dev/zero: File too large' err)" 2:1
DEADHEAT_OPTIONS=suppressions=/dev/zero within 60 ./two >out 2>err
same suppressions-of-a-run "$?:$(grep -c 'cannot read the suppressions /dev/zero: File too large' err):$(grep -c ^WARNING err)" 66:1:2
capped 600000 run --suppressions=/dev/zero -- ./two
same suppressions-at-the-start "$status:$(cat out):$(cat err)" \
    "2::deadheat run: error: cannot read the suppressions '/dev/zero': File too large"
capped 600000 report /dev/zero
same records "$status:$(grep -c 'cannot read /dev/zero: File too large' err)" 2:1
for command in analyze 'trace cat' 'compare --detectors=empty'; do
    # shellcheck disable=SC2086
    capped 600000 $command /dev/zero
    same "trace-${command%% *}" "$status:$(grep -c 'longer than a megabyte' err)" 2:1
done
echo 'T1|w(x)|1' >t.std
capped 600000 compare --detectors=fasttrack --truth=/dev/zero t.std
same truth "$status:$(grep -c 'cannot read /dev/zero: File too large' err)" 2:1
capped 600000 static /dev/zero
same static "$status:$(grep -c 'neither a program nor LLVM bitcode' err)" 2:1

# ---- A recording of a kilobyte and a half ----
"$deadheat" record --quiet -o sparse.dht -- ./sparse 700000
same small "$(($(wc -c <sparse.dht) < 5000))" 1
capped 600000 trace info sparse.dht
same needs-little "$status:$(sed -n 's/.*: \([0-9]*\) events/\1/p' out | awk '{ print ($1 > 700000) }')" 0:1
capped 100000 trace info sparse.dht
same says-so "$status:$(cat err)" "2:deadheat trace: error: sparse.dht: there is not enough memory for what it is about"

# ---- A small stack: the commands have one of their own ----
"$deadheat" cc --dh-mode=field -g -O1 -pthread "$here/../messages/two.c" -o field || bad compile-field "deadheat cc failed"
for command in 'report r.jsonl' 'analyze sparse.dht' 'chase --any --rmax=0% -- ./field' 'record --quiet -o s.dht -- ./two'; do
    # shellcheck disable=SC2086
    "$deadheat" $command >out 2>err
    wanted=$?
    # shellcheck disable=SC2086
    (ulimit -s 64 && exec "$deadheat" $command >out 2>err)
    same "small-stack-${command%% *}" "$?" $wanted
done

exit $failed
