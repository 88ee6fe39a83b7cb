#!/bin/sh
# run.sh DEADHEAT - `deadheat pipeline`: stages.c has a pair for each way to end. The pipeline is also killed, and goes on.
. "$(dirname "$0")/../../cli/lib.sh"
suite=caper/pipeline
cd "$work" || exit 1
cp "$here/stages.c" .
line() { grep -n "/\* $1 \*/" stages.c | cut -d: -f1; }
"$deadheat" cc --dh-mode=caper -g -O1 -pthread stages.c -o prog >log 2>&1 || { bad build "$(tail -3 log | tr '\n' '|')"; exit 1; }
value() { python3 -c "import json; d = json.load(open('$1')); print($2)"; } # FILE EXPRESSION

"$deadheat" pipeline --budget=60s --state=d --format=json -- ./prog >page.json 2>err
same races "$?" 66
same confirmed-on "$(value page.json "sorted({c['variable'] for c in d['confirmed']})")" "['global \`racy\`']"
same stages "$(value page.json "[s['stage'] for s in d['stages']]")" "['static analysis', 'Caper', 'inference', 'chase', 'steering']"
same steady "$(value page.json "d['stages'][1]['runs'] >= 4 and d['stages'][0]['left'] > d['stages'][1]['left'] > 0")" True
same in-and-out "$(value page.json "[s['in'] - s['confirmed'] - s['left'] for s in d['stages'][3:]]")" "[0, 0]"
sums="sum(s['pairs'] for s in d['sums']) == d['stages'][1]['left']"
same sums "$(value page.json "$sums and all(r['pairs'] > 0 for r in d['possible'] + d['never_seen'])")" True
same possible "$(value page.json "'stages.c:$(line BEFORE):' in str(d['possible'])")" True
same refuted "$(value page.json "'stages.c:$(line PRIVATE):' in str(d['refuted']) and 'stages.c:$(line NEVER):' in str(d['refuted']) and d['n_refuted'] > 0")" True
same not-refuted "$(value page.json "'stages.c:$(line RACY):' in str(d['refuted'])")" False
same has-stacks "$(value page.json "any('worker stages.c:$(line RACY)' in s for s in d['confirmed'][0]['stacks'])")" True
has progress err "deadheat pipeline: caper: run 1:" "deadheat pipeline: inference" "deadheat pipeline: steering"
lacks silent page.json "output of the program"
recipe=$(value page.json "d['confirmed'][0]['recipe']")
(cd "$work" && PATH=$(dirname "$deadheat"):$PATH sh -c "$recipe") >out 2>&1
same recipe "$?" 66

# What follows a race that inference has confirmed is observed in steered runs; the order that crashes is replayed.
"$deadheat" cc --dh-mode=caper -g -O1 -pthread "$here/crash.c" -o crash >log 2>&1 || bad build-crash "$(tail -3 log | tr '\n' '|')"
"$deadheat" pipeline --budget=60s --state=c --format=json -- ./crash >crash.json 2>err
same crash "$?:$(value crash.json "[(c['variable'], c['consequence']) for c in d['confirmed']]")" "66:[('global \`current\`', 'crash')]"
has crash-words err "deadheat pipeline: inference" "deadheat pipeline: confirmed races, the"
same crash-order "$(value crash.json "[s.split(' by')[0] for s in d['confirmed'][0]['stacks'] if ' by' in s]")" "['first a write', 'then a read']"
recipe=$(value crash.json "d['confirmed'][0]['recipe']")
# A replay holds the reader for 200 ms at most, in which a busy machine may not have come to the other thread.
for _ in 1 2 3 4 5; do
    (PATH=$(dirname "$deadheat"):$PATH sh -c "$recipe") >out 2>&1
    status=$?
    [ $status -eq 66 ] && break
done
same crash-recipe "$status" 66
has crash-recipe-words out "in this order the program was killed by SIGSEGV"

# Inference sees accesses meet that are no pair: they are not among the results of dpPairs, and there is a reason. (On a busy machine
# they may be too late for each other.)
"$deadheat" cc --dh-mode=caper -g -O1 -pthread "$here/beyond.c" -o beyond >log 2>&1 || bad build-beyond "$(tail -3 log | tr '\n' '|')"
at() { grep -n "/\* $1 \*/" "$here/beyond.c" | cut -d: -f1; }
for budget in 15 60 120; do
    rm -rf beyond.pipeline
    "$deadheat" pipeline --budget=${budget}s --format=json -- ./beyond >beyond.json 2>err
    met=$(value beyond.json "[r for r in d['beyond'] if 'beyond.c:$(at FIRST):' in r['first'] and 'beyond.c:$(at SECOND):' in r['second']]")
    [ "$met" = "[]" ] || break
done
same beyond-sums "$(value beyond.json "$sums")" True
same beyond-apart "$(value beyond.json "d['n_beyond'] == len(d['beyond']) and not any('beyond.c:$(at FIRST)' in r['first'] and 'beyond.c:$(at SECOND)' in r['second'] for r in d['possible'] + d['never_seen'])")" True
case $met in *"in no pair of the static analysis"*) ok beyond-reason ;; *) bad beyond-reason "$met" ;; esac
"$deadheat" pipeline --budget=${budget}s -- ./beyond >out 2>err
has beyond-text out "What became of dpPairs" "Met without being proposed" "in no pair of the static analysis"
"$deadheat" pipeline --budget=${budget}s --format=html -- ./beyond >out 2>err
has beyond-html out "<h2>What became of dpPairs</h2>" "<h2>Met without being proposed</h2>" "in no pair of the static analysis"

# What the static analysis proposes is chased in turns: first of each variable a pair without locks, then the next one of each.
python3 - "$(line RACY)" "$(line NEVER)" "$(line BEFORE)" "$(line AFTER)" >order.json <<'END'
import json, sys
racy, never, before, after = map(int, sys.argv[1:])
def one(variable, lines, locks=()):
    stack = lambda line: [{"file": "stages.c", "line": line}]
    accesses = [{"kind": "write", "atomic": False, "stack": stack(line), "locks": list(locks)} for line in lines]
    return {"provenance": "possible", "summary": variable, "flags": ["relay", "sound"], "accesses": accesses}
found = [one("racy", (racy, racy), [{"mode": "write"}]), one("racy", (racy, never)), one("racy", (never, never)), one("ordered", (before, before))]
print(json.dumps({"version": 2, "findings": found}))
END
"$deadheat" chase --from order.json -- ./prog >out 2>err
same turns "$(sed -n 's/^deadheat chase: stages.c:\([0-9]*\) with stages.c:\([0-9]*\): .*/\1-\2/p' err | uniq | tr '\n' ' ')" \
    "$(line NEVER)-$(line RACY) $(line BEFORE)-$(line BEFORE) $(line NEVER)-$(line NEVER) $(line RACY)-$(line RACY) "

# It goes on with what it knows; all was done, so only the page is new.
"$deadheat" pipeline --budget=60s --state=d -- ./prog >page 2>err
same again "$?" 66
"$deadheat" pipeline --budget=60s --state=d --format=json -- ./prog >again.json 2>err
same again-sums "$(value again.json "$sums")" True
same again-confirmed "$(value again.json "sum(s['confirmed'] for s in d['stages'][2:])")" "$(value page.json "sum(s['confirmed'] for s in d['stages'][2:])")"
same again-in "$(value again.json "all(s['in'] <= d['stages'][1]['left'] for s in d['stages'][2:])")" True
has again-words err "continuing with 'd'"
lacks again-infers err "deadheat pipeline: inference"
has text page "Confirmed races" "Still possible" "Refuted" "Never seen" "deadheat chase --replay="
"$deadheat" pipeline --budget=60s --state=d --format=html --output=page.html -- ./prog >out 2>err
same html "$?:$(cat out)" "66:"
has page page.html "<h2>Confirmed races</h2>" "prefers-color-scheme:dark" "stages.c:$(line BEFORE)"

# Killed in the midst of Caper, and of the chase.
mkfifo said
for when in "caper: run 1:" "chase, with"; do
    rm -rf k
    "$deadheat" pipeline --budget=60s --state=k -- ./prog >out 2>said &
    command=$!
    grep -m1 -F "$when" <said >/dev/null
    kill -9 $command 2>/dev/null
    wait $command 2>/dev/null
    "$deadheat" pipeline --budget=60s --state=k --format=json -- ./prog >killed.json 2>err
    same "killed-${when%%[:,]*}" "$?:$(value killed.json "sorted({c['variable'] for c in d['confirmed']})")" "66:['global \`racy\`']"
    same "spent-${when%%[:,]*}" "$(value killed.json "d['seconds'] >= sum(s['seconds'] for s in d['stages'][1:])")" True
done

# A record that was cut off.
printf '{"type":"rac' >>k/races.jsonl
"$deadheat" pipeline --budget=60s --state=k --format=json -- ./prog >killed.json 2>err
same cut-off "$?:$(tail -c1 k/races.jsonl | od -An -c | tr -d ' ')" '66:\n'

# Files that are none, and records that are gone: a sentence, and the race that was confirmed still counts.
for file in caper chase pairs.json pipeline.json races.jsonl; do
    rm -rf t && cp -r d t && rm t/$file && mkfifo t/$file
    within 20 "$deadheat" pipeline --budget=5s --state=t -- ./prog >out 2>err
    same "pipe-$file" "$?" 2
    has "pipe-$file-words" err "its $file is no regular file"
done
for file in caper pipeline.json; do
    rm -rf t && cp -r d t && head -c 100 d/$file >t/$file
    within 20 "$deadheat" pipeline --budget=5s --state=t -- ./prog >out 2>err
    same "cut-$file" "$?:$(head -c 100 d/$file | cmp - t/$file && grep -c 'error: cannot' err)" 2:1
done
rm -rf t && cp -r d t && printf 'no record' >t/races.jsonl
within 20 "$deadheat" pipeline --budget=5s --state=t --format=json -- ./prog >gone.json 2>err
same records-gone "$?:$(value gone.json "d['n_confirmed'] > 0 and d['confirmed'] == []")" 66:True
has records-gone-words err "has no record of that"

# Without time: the rest was never seen.
"$deadheat" pipeline --budget=1s --state=short --format=json -- ./prog >short.json 2>err
status=$?
same short "$(value short.json "len(d['stages'])")" 5
case $status in 0 | 66) ok short-status ;; *) bad short-status "exit status $status" ;; esac

# Accesses without a line cannot be chased, and that is said.
cat >nameless.c <<'END'
#include <pthread.h>
static int racy;
static void *worker(void *arg)
{
#line 0
    racy++;
    return arg;
}
int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    return 0;
}
END
"$deadheat" cc --dh-mode=caper -g -O1 -pthread nameless.c -o nameless >log 2>&1 || bad nameless-build "$(tail -3 log | tr '\n' '|')"
"$deadheat" pipeline --budget=60s --format=json -- ./nameless >nameless.json 2>err
same nameless "$?:$(value nameless.json "d['stages'][1]['left'] == d['n_unnamed'] > 0")" 0:True
has nameless-words err "no pair has two source lines"

# A file as its input is read again by each run.
cat >input.c <<'END'
#include <stdio.h>
int main(void)
{
    char all[1 << 16];
    return fread(all, 1, sizeof(all), stdin) == 0 && fputs("no input", stderr);
}
END
"$deadheat" cc --dh-mode=caper -g -O1 -pthread input.c -o input >log 2>&1 || bad input-build "$(tail -3 log | tr '\n' '|')"
{ read -r line && "$deadheat" pipeline --budget=60s -- ./input >out 2>err; } <stages.c
same input "$?:$(grep -c 'caper: run' err)" 0:3
lacks input-again err "no input"

# A program that never ends is ended, in each stage.
"$deadheat" cc --dh-mode=caper -g -O1 -pthread "$here/forever.c" -o forever >log 2>&1 || bad forever-build "$(tail -3 log | tr '\n' '|')"
for budget in 6 30 120; do # on a busy machine it needs more
    rm -rf forever.pipeline
    within 300 "$deadheat" pipeline --budget=${budget}s --format=json -- ./forever >forever.json 2>err
    status=$?
    [ $status -eq 66 ] && break
done
same forever "$status:$(value forever.json "d['interrupted'], d['stages'][2]['runs']")" "66:False 1"

# Many pairs: 120 functions, each with each other. Not all of them are written out, the rest is counted, and the run for all pairs confirms some.
python3 - >many.c <<'END'
print("#include <pthread.h>\n#include <unistd.h>\nint racy;")
for i in range(120):
    print(f"__attribute__((noinline)) static void add{i}(void) {{ racy += {i}; }}")
print("static void *worker(void *arg)\n{\n    for (int i = 0; i < 3; i++) {")
for i in range(120):
    print(f"        add{i}();\n        usleep(500);")
print("    }\n    return arg;\n}\nint main(void)\n{\n    pthread_t t[2];")
print("    for (int i = 0; i < 2; i++)\n        pthread_create(&t[i], NULL, worker, NULL);")
print("    for (int i = 0; i < 2; i++)\n        pthread_join(t[i], NULL);\n    return 0;\n}")
END
"$deadheat" cc --dh-mode=caper -g -O1 -pthread many.c -o many >log 2>&1 || bad many-build "$(tail -3 log | tr '\n' '|')"
for budget in 8 30 120; do
    rm -rf many.pipeline
    within 300 "$deadheat" pipeline --budget=${budget}s --format=json -- ./many >many.json 2>err
    status=$?
    at_once=$(value many.json "d['stages'][2]['confirmed'] > 0 and d['stages'][2]['in'] == d['stages'][1]['left']")
    [ "$at_once" = True ] && break
done
same many "$status" 66
listed() { python3 -c "import json; print(sum(1 + len(f.get('variants', [])) for f in json.load(open('$1'))['findings']))"; }
same many-listed "$(listed many.pipeline/pairs.json)" 1000
same many-counted "$(value many.json "d['n_unlisted'] + 1000 == d['stages'][1]['left'] and d['stages'][1]['left'] > 7000")" True
same many-at-once "$at_once" True
same many-sums "$(value many.json "$sums and all('where it is counted' in r['why'] for r in d['beyond'])")" True
has many-words err "are not chased one by one"

# A server ends when its client has: that is no interruption, though no handler makes it an orderly end.
"$deadheat" cc --dh-mode=caper -g -O1 -pthread "$here/server.c" -o server >log 2>&1 || bad server-build "$(tail -3 log | tr '\n' '|')"
client='until [ -e up ]; do sleep 0.01; done; rm up'
"$deadheat" caper --state=server.caper --client="$client" -- ./server 2>err
same client-status "$?" 0
"$deadheat" pipeline --budget=60s --client="$client" --format=json -- ./server >server.json 2>err
same client-races "$?" 66
same client-stages "$(value server.json "d['interrupted'], [s['left'] is not None for s in d['stages'][:3]]")" "False [True, True, True]"
recipe=$(value server.json "d['confirmed'][0]['recipe']")
PATH=$(dirname "$deadheat"):$PATH sh -c "$recipe" >out 2>&1
same client-recipe "$?" 66
rm -f up
# One that ends by itself has its own status, and its client is killed.
"$deadheat" caper --state=server.caper --client='echo $$ >pid.new; mv pid.new pid; exec sleep 600' -- ./server pid 2>err
same client-late "$?" 3
while grep -q '^State:[[:space:]]*[^ZX]' "/proc/$(cat pid)/status" 2>/dev/null; do sleep 0.01; done
ok client-killed

# Nothing to find.
cat >none.c <<'END'
int main(void) { return 5; }
END
"$deadheat" cc --dh-mode=caper -g -O1 none.c -o none && "$deadheat" pipeline --budget=5s -- ./none >out 2>err
same none "$?" 0
has none-words out "No race was confirmed."
same default-directory "$(find none.pipeline -name caper | wc -l)" 1

# What cannot be used.
clang-19 -O1 none.c -o plain
"$deadheat" pipeline -- ./plain >out 2>err
same plain "$?" 2
has plain-words err "is no Caper build"
"$deadheat" pipeline --state=d -- ./none >out 2>err
same other-build "$?" 2
has other-build-words err "cannot go on with 'd'"
for bad_flag in --budget=1 --steady=0 --format=sarif --bugdet=3s; do
    "$deadheat" pipeline $bad_flag -- ./prog >out 2>err
    same "flag$bad_flag" "$?" 2
done
"$deadheat" pipeline >out 2>err
same no-program "$?" 2
: >file
"$deadheat" pipeline --state=file -- ./prog >out 2>err
same no-directory "$?" 2
"$deadheat" pipeline --budget=2s --state=none.pipeline --output=none -- ./none >out 2>err
same over-input "$?" 2
exit $failed
