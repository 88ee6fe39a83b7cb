#!/bin/sh
# run.sh DEADHEAT - `deadheat analyze` with predictive detectors, many detectors, many threads and bounds: what it says
# is never more than was looked at, and the same whatever is done side by side.
. "$(dirname "$0")/../lib.sh"
traces=$(cd "$(dirname "$0")/../../traces" && pwd)

run() { # ARGUMENTS: sets status, fills out and err; allocated memory is not zero
    MALLOC_PERTURB_=85 "$deadheat" "$@" >out 2>err
    status=$?
}

cd "$work" || exit 1

# ---- A section nested in the reversed one has to be reversed too ----
printf '%s\n' 'a|acq(k)|1' 'a|acq(l)|2' 'a|rel(l)|3' 'a|r(x)|4' 'a|rel(k)|5' \
    'b|acq(k)|6' 'b|acq(l)|7' 'b|rel(l)|8' 'b|rel(k)|9' 'b|w(x)|10' >nested.std
run analyze --detector=osr,cp,wcp --witness nested.std
same nested-exit "$status" 66
same nested-all "$(grep -c 'a witness of 9 events, checked: 6 7 8 9 1 2 3 4 10' out)" 3

# ---- Bounds ----
printf '%s\n' 'm|fork(a)|1' 'm|w(x)|2' 'a|r(x)|3' 'a|w(x)|4' >later.std
run analyze --detector=wcp --list=events --hold=2 later.std
has hold-how-much out "no witness found within the bound: the race is beyond the events held; --hold=6 holds it"
run analyze --detector=wcp --list=events --hold=6 later.std
has hold-enough out "a witness of 3 events, checked"
run analyze --detector=wcp --list=events --hold=3 nested.std
has hold-beyond out "--hold=20 holds it"

# Witnesses are made for the variable that is asked for, however many others race.
python3 -c '
print("m|fork(a)|0")
for i in range(2000):
    print(f"m|w(x{i})|1")
for i in range(2000):
    print(f"a|w(x{i})|2")' >many.std
run analyze --detector=syncp,wcp,fasttrack --variable=x1999 --witness many.std
same variable-exit "$status" 66
same variable-only "$(grep -c '1 racy variable, 1 racy event' out)" 3
same variable-proved "$(grep -c 'a witness of 4001 events, checked' out)" 2
run analyze --variable=y many.std
same variable-none "$status" 0
run analyze --variable= many.std
same variable-empty "$status" 2

# ---- Side by side ----
"$deadheat" analyze --format=json --detector=eraser,fasttrack,wcp,syncp,osr,cp many.std >all.json 2>err
for d in eraser fasttrack wcp syncp osr cp; do
    "$deadheat" analyze --format=json --detector=$d many.std >one.json 2>err
    same "alone-$d" "$(python3 -c '
import json, sys
def of(name, file):
    d = json.load(open(file))
    return ([{k: v for k, v in x.items() if k != "memory"} for x in d["detectors"] if x["name"] == name],
            [f for f in d["findings"] if f["detector"] == name])
print(of(sys.argv[1], "one.json") == of(sys.argv[1], "all.json"))' $d)" True
done

# ---- Many threads ----
python3 -c '
for i in range(1, 20001):
    print(f"m|fork(t{i})|1")
for i in range(1, 20001):
    print(f"t{i}|w(x{i % 7})|2")' >threads.std
run analyze --detector=syncp threads.std
same threads-exit "$status" 2
has threads-said out "incomplete: more than 4096 threads at once"
has threads-not-clean out "no races before it stopped"
run analyze --detector=djit,eraser --memory=50 threads.std # clocks grow with what threads know of each other
same memory-enough "$status" 66
run analyze --detector=djit,eraser --memory=5 threads.std
same memory-exit "$status" 2
has memory-said out "incomplete: stopped when it had taken 5 MB of memory (--memory)"
has memory-others out "eraser (unsound): 7 racy variables"

# ---- What record says is what analyze says ----
cat >two.c <<'EOF'
#include <pthread.h>
static struct { int a, b; } pair;
static void *work(void *arg)
{
    pair.a = 1;
    pair.b = 2;
    return arg;
}
int main(void)
{
    pthread_t t;
    typeof(pair) copy;
    pthread_create(&t, NULL, work, NULL);
    copy = pair;
    pthread_join(t, NULL);
    return copy.a + copy.b > 5;
}
EOF
"$deadheat" cc -g -O1 -pthread two.c -o two || { bad compile "deadheat cc failed"; exit 1; }
"$deadheat" record -o two.dht -- ./two 2>said
said=$(sed -n 's/^deadheat record: \([0-9]*\) events.*/\1/p' said)
run analyze --format=json two.dht
same recorded "$(python3 -c 'import json; print(json.load(open("out"))["trace"]["recorded"])')" "$said"
run trace cat two.dht
same first-thread "$(cut -f2 out | head -1 | cut -d'|' -f1)" T1
exit $failed
