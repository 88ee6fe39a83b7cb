#!/bin/sh
# run.sh DEADHEAT - a race in a recording is told as in a run: the same fingerprint, stacks, locks, threads and memory, in
# the same words, and an analysis of the source gives it the same fingerprint. Also in what a killed program or recorder left, and of
# files of the version before as far as they go.
#
# RECORDED="basic-recursion cxx-race" chooses the programs of tests/programs; as a rule all that race are taken.
. "$(dirname "$0")/../lib.sh"
programs=$here/../../programs
demo=$here/../../../examples/demo

cd "$work" || exit 1

# ---- Every part of the reports ----
# Not taken: what a recording does not have (forked children, uses of a lock beside its initialisation); where the
# order of a recording, which racing accesses do not have, may show another race of a variable first, or an access before its
# memory was allocated; where part of the earlier access was overwritten, of which a run does not know any more.
other='fork-child-races lock-init-unordered rwlock-read-after-init io-aio-buffer bytes-part-of-filled heap-unsafe-publication'
# Not compared with what `deadheat static` says of the source: where the optimiser cut a global variable into pieces or moved an
# access out of its column; memory that the program mapped, of which a run does not know where; what <deadheat/lard.h> says and what
# stdio does with its buffers, which only a run follows; indices of a matrix and members of a union, which are one to the analysis.
cut='basic-hoisted-flags bytes-bitfields bytes-in-turn bytes-overlap bytes-vector-blocks cxx-containers
    fields-cxx-members fields-pointer-between fields-second-epoch io-scanf io-scanf-forms lard-access lard-copy
    lard-identity lard-move lard-pool-before lard-unordered-create loop-matrix-overlap mmap-advise-race
    mmap-fixed-race mmap-huge mmap-race mmap-remap-over mmap-remap-race mmap-sbrk mmap-shm stdio-given-buffer
    stdio-memory-race stdio-memstream-race stride-columns thread-loop-variable'
# shellcheck disable=SC2086 # one blank between the names
cut=$(echo $cut)
racy() { # those that race, whatever else they need
    cd "$programs" && grep -l '// RACE' -- *.c *.cpp | sed 's,\.[a-z]*$,,' | grep -vx runner
}
usable() { # FILE: compiled and run without more than its FLAGS
    ! grep -qE '^// (LIB|PLAIN|PART|ARGS|EXIT|OPTIONS):' "$1"
}
for name in ${RECORDED:-$(racy)}; do
    source=$programs/$name.c compiler=cc
    [ -f "$source" ] || source=$programs/$name.cpp compiler=c++
    case " $other " in *" $name "*) continue ;; esac
    usable "$source" || continue
    flags=$(sed -n 's,^// FLAGS: ,,p' "$source")
    # shellcheck disable=SC2086 # flags are several
    "$deadheat" $compiler -w -g -O1 -pthread -I"$programs" $flags "$source" -o program -lm || bad "$name" "does not compile"
    rm -f run.jsonl
    "$deadheat" run --report=0 --output=run.jsonl -- ./program >out 2>err
    "$deadheat" record --quiet -o program.dht -- ./program >out 2>err
    "$deadheat" report --all --format=json run.jsonl >run.json 2>err
    "$deadheat" analyze --all --format=json --list=events program.dht >analyze.json 2>err
    set --
    case " $cut " in
    *" $name "*) ;;
    *)
        # shellcheck disable=SC2086
        "$deadheat" static --style=sound --format=json -w -I"$programs" $flags "$source" >static.json 2>err
        set -- static.json
        ;;
    esac
    if why=$(python3 "$here/same.py" run.json analyze.json "$@" 2>&1) && [ "$why" != 0 ]; then
        ok "$name"
    else
        bad "$name" "$(echo "$why" | head -5 | tr '\n' '|') $(cat err)"
    fi
done

# ---- The words ----
words() { # FILE: the report in it, without what differs from one execution to the next
    sed -n '/^WARNING/,/Fingerprint/{s/0x[0-9a-f]*\|[pt]id [0-9]*/N/g; s/ (event [0-9]*)//; s/, seen .*//; p}' "$1"
}
"$deadheat" cc -g -O1 -pthread "$demo/hits.c" -o hits || bad compile "deadheat cc failed"
"$deadheat" run -- ./hits >out 2>run.txt
"$deadheat" record --quiet -o hits.dht -- ./hits >out 2>err
"$deadheat" analyze --detector=fasttrack,shb hits.dht >analyze.txt 2>err
same words-status "$?:$(cat err)" "66:"
same words "$(words analyze.txt)" "$(words run.txt)"
same told-once "$(grep -c '^WARNING' analyze.txt)" 1
like in-the-trace analyze.txt '^  global `total`: write by T[23] at .* (event [0-9]*), earlier write by T[23] at .* (event [0-9]*)'
like witness analyze.txt '^    a witness of [0-9]* events, checked'

# ---- Suppressions: the rules of `run` ----
print() { printf '%s\n' "$@"; }
print 'race:count_hit' >count.txt
"$deadheat" analyze --suppressions=count.txt hits.dht >out 2>err
same suppressed "$?:$(grep -c '^WARNING' out):$(grep -c '^  1 pair of locations suppressed$' out):$(cat err)" "0:0:1:"
print 'race:total' >total.txt
"$deadheat" analyze --suppressions=total.txt --list=none hits.dht >out 2>err
same suppressed-variable "$?" 0
print 'race:somebody_else' >else.txt
"$deadheat" analyze --suppressions=else.txt hits.dht >out 2>err
same not-suppressed "$?:$(grep -c '^WARNING' out):$(grep -c suppressed out)" "66:1:0"
"$deadheat" analyze --suppressions=count.txt --format=json hits.dht >out 2>err
same suppressed-json "$?:$(python3 -c 'import json
d = json.load(open("out"))
print(d["findings"], d["detectors"][0]["suppressed"])')" "0:[] 1"
"$deadheat" analyze --suppressions=missing.txt hits.dht >out 2>err
same suppressions-missing "$?:$(grep -c "cannot read the suppressions 'missing.txt'" err)" "2:1"
printf 'a|fork(b)|1\na|w(x)|2\nb|w(x)|3\n' >text.std
"$deadheat" analyze --suppressions=count.txt text.std >out 2>err
same suppressions-text "$?:$(cat err)" "66:"
print 'race:^x$' >x.txt
"$deadheat" analyze --suppressions=x.txt text.std >out 2>err
same suppressions-text-variable "$?:$(cat err)" "0:"
# One pair of places of a variable is suppressed, another is not.
cat >pairs.c <<'END'
#include "invisible.h"
int x;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noinline)) void legacy(void) { x = 1; }
__attribute__((noinline)) void fresh(void) { x = 2; }
THREAD(first) { x = 3; mark(); return NULL; }
THREAD(second)
{
    after(1);
    legacy();
    pthread_mutex_lock(&m); /* the next epoch */
    pthread_mutex_unlock(&m);
    fresh();
    return NULL;
}
int main(void) { both(first, second); return 0; }
END
"$deadheat" cc -g -O0 -pthread -I"$programs" pairs.c -o pairs || bad compile-pairs "deadheat cc failed"
"$deadheat" record --quiet -o pairs.dht -- ./pairs >out 2>err
print 'race:legacy' >legacy.txt
"$deadheat" analyze --suppressions=legacy.txt --detector=basicvc pairs.dht >out 2>err
same other-pair "$?:$(grep -c '#0 fresh' out):$(grep -c '#0 legacy' out):$(grep -c '^  1 pair of locations suppressed$' out)" "66:1:0:1"

# ---- Killed ----
"$deadheat" cc -g -O1 -pthread "$here/../record/racy.c" -o racy || bad compile-racy "deadheat cc failed"
stacks() { # FILE: both stacks of the race in it, and where they begin
    "$deadheat" analyze "$1" 2>err | sed -n 's/^    #\([0-9]\) \([a-z]*\) .*/\1 \2/p' | sort | tr '\n' ';'
}
"$deadheat" record --quiet -o racy.dht -- ./racy >out 2>err
wanted=$(stacks racy.dht)
same whole "$wanted" '0 main;0 work;0 work;1 body;1 main;'
"$deadheat" record --quiet -o killed.dht -- ./racy 1000 0 2>err
same killed-program "$(stacks killed.dht)" "$wanted"
("$deadheat" record --quiet --flush=1 -o late.dht -- ./racy 1000 1 late.dht.part; :) 2>err >out
same killed-recorder "$(stacks late.dht.part)" "$wanted"

# ---- Other versions ----
cp "$here/old.dht" . # of version 2: places and locks, no stacks, and no blocks
"$deadheat" analyze --format=json old.dht >out 2>err
same old-version "$?:$(python3 -c 'import json
d = json.load(open("out"))
f = d["findings"][0]
print(d["trace"]["events"], len(d["findings"]), [a["kind"] for a in f["accesses"]], [len(a["locks"]) for a in f["accesses"]],
    f["location"]["kind"], [s["function"] for s in f["accesses"][0]["stack"]])')" \
    "66:17 1 ['write', 'write'] [1, 0] unknown ['add']"
exit $failed
