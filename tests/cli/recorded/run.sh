#!/bin/sh
# run.sh DEADHEAT OBJECTS - a race in a recording is told as in a run: the same fingerprint, stacks, locks, threads and memory, in
# the same words; and an analysis of the source tells of it what it can know. Also in what a killed program or recorder left, and of
# files of the version before as far as they go.
#
# RECORDED="basic-recursion cxx-race" chooses the programs of tests/programs, RECORDED=all all that race; as a rule every second of these
# is taken. PART="2 4" does every fourth of them, from the second on; the first part does all the rest.
. "$(dirname "$0")/../lib.sh"
runner=$(readlink -f "$2")/tests/programs/program-runner
programs=$(cd "$here/../../programs" && pwd)
demo=$here/../../../examples/demo
export DEADHEAT="$deadheat"

cd "$work" || exit 1

# ---- Every part of the reports ----
all=$(cd "$programs" && echo *.c *.cpp)
case ${RECORDED:=half} in
half) RECORDED=$(echo "$all" | tr ' ' '\n' | awk 'NR % 2') ;;
all) RECORDED=$all ;;
esac
sources() {
    for name in $RECORDED; do
        for file in "$programs/${name%.*}.c" "$programs/${name%.*}.cpp"; do
            [ -f "$file" ] && [ "${file##*/}" != runner.c ] && echo "$file"
        done
    done | awk -v part="${PART:-1 1}" '{ split(part, p) } (NR - p[1]) % p[2] == 0'
}
# shellcheck disable=SC2046 # names are words
"$runner" --with "$here/each.sh" "${BUILD:?}" $(sources) >lines 2>&1 || failed=1
sed "s,^\([a-zA-Z]*\) programs/,\1 $suite/," lines
case ${PART:-1} in 1*) ;; *) exit $failed ;; esac

# ---- The words ----
words() { # FILE: the report in it, without what differs from one execution to the next
    sed -n '/^WARNING/,/Fingerprint/{s/0x[0-9a-f]*\|[pt]id [0-9]*/N/g; s/ (event [0-9]*)//; s/, seen .*//; p}' "$1"
}
cat >words.c <<'END'
#include "invisible.h"
pthread_mutex_t pages_lock = PTHREAD_MUTEX_INITIALIZER;
long total;
static void count_hit(void)
{
    pthread_mutex_lock(&pages_lock);
    pthread_mutex_unlock(&pages_lock);
    total++;
}
THREAD(first) { count_hit(); mark(); return NULL; }
THREAD(second) { after(1); count_hit(); return NULL; }
int main(void) { both(first, second); return 0; }
END
"$deadheat" cc -g -O1 -pthread -I"$programs" words.c -o words || bad compile-words "deadheat cc failed"
"$deadheat" run -- ./words >out 2>run.txt
"$deadheat" record --quiet -o words.dht -- ./words >out 2>err
"$deadheat" analyze --detector=fasttrack,shb words.dht >analyze.txt 2>err
same words-status "$?:$(cat err)" "66:"
like words-race analyze.txt '^WARNING: deadheat: data race on global `total`'
same words "$(words analyze.txt)" "$(words run.txt)"
"$deadheat" cc -g -O1 -pthread "$demo/hits.c" -o hits || bad compile "deadheat cc failed"
"$deadheat" record --quiet -o hits.dht -- ./hits >out 2>err
"$deadheat" analyze --detector=fasttrack,shb hits.dht >analyze.txt 2>err
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
