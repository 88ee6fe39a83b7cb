#!/bin/sh
# run.sh DEADHEAT - `deadheat caper --analysis=alias`: programs whose pairs are known exactly (alias.h), what the state keeps
# over runs, and what is said of builds and states that do not fit.
. "$(dirname "$0")/../../cli/lib.sh"
suite=caper/alias
cd "$work" || exit 1

build() { # OUTPUT SOURCE FLAG...
    out=$1 source=$2
    shift 2
    "$deadheat" cc --dh-mode=caper -g -O1 -pthread "$@" "$source" -o "$out" >log 2>&1
}
observe() { # STATE PROGRAM ARGUMENT...
    state=$1
    shift
    "$deadheat" caper --analysis=alias --quiet --state="$state" -- "$@"
}
list() { # STATE SOURCE: its pairs of labels
    "$deadheat" caper status --state="$1" --list --format=json >list.json 2>list.err || { cat list.err; return; }
    python3 "$here/pairs.py" "$2" list.json
}

for source in "$here"/*.c; do
    name=$(basename "$source" .c)
    wanted=$(grep -o 'pairs: [-A-Z a-z]*' "$source" | head -1 | cut -d' ' -f2- | tr ' ' '\n' | grep . | sort | tr '\n' ' ')
    if ! build "$name" "$source" --dh-alias; then
        bad "$name" "$(tail -3 log | tr '\n' '|')"
        continue
    fi
    observe "$name.state" "./$name" >out 2>err || { bad "$name" "$(cat err)"; continue; }
    same "$name" "$(list "$name.state" "$source")" "${wanted% }"
    "$deadheat" static --style=sound --format=json "./$name" >sound.json 2>err
    possible=$(python3 "$here/pairs.py" "$source" sound.json)
    for pair in $(grep -o 'not: [-A-Z ]*' "$source" | cut -d' ' -f2-); do
        case " $possible " in *" $pair "*) ok "$name-could-be-$pair" ;; *) bad "$name-could-be-$pair" "only $possible" ;; esac
    done
done

# Over runs: what one run has seen stays, and a run without anything new says so.
cat >runs.c <<'END'
#include <pthread.h>
volatile int x, y;
__attribute__((noinline)) static void set_x(void)
{
    x = 1; /* A */
}
__attribute__((noinline)) static void set_y(void)
{
    y = 1; /* B */
}
static void *worker(void *arg)
{
    if (arg)
        set_x();
    else
        set_y();
    return 0;
}
int main(int argc, char **argv)
{
    pthread_t t[2];
    (void)argv;
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], 0, worker, argc > 1 ? &t : 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    return argc + 2;
}
END
build runs runs.c --dh-alias || bad build "$(cat log)"
"$deadheat" caper --analysis=alias --state=s -- ./runs 2>err
same status "$?" 3
has first err "1 new pair in run 1; 1 of 2 pairs accessed the same bytes"
observe s ./runs more
same status-more "$?" 4
same over-runs "$(list s runs.c)" "A-A B-B"
"$deadheat" caper --analysis=alias --state=s -- ./runs 2>err
has steady err "0 new pairs in run 3; 2 of 2 pairs" "nothing new for 1 run"
"$deadheat" caper status --state=s >out 2>&1
has text out "aliasPairs  2 of 2 pairs" "Nothing new was seen in the last run."
"$deadheat" caper status --state=s --format=json >out 2>&1
same json "$(python3 -c 'import json
d = json.load(open("out"))
print(d["analysis"], d["runs"], d["alias_pairs"], d["sound_pairs"], [h["new_pairs"] for h in d["history"]])')" "alias 3 2 2 [1, 1, 0]"

# By itself it does what it does, and says nothing.
./runs >out 2>&1
same asleep "$?:$(cat out)" "3:"

# What does not fit is refused, and the state stays as it is.
build caper runs.c || bad build-caper "$(cat log)"
clang-19 -O1 -pthread runs.c -o plain
cp s before
"$deadheat" caper --analysis=alias --state=s -- ./caper 2>err
same caper-build "$?" 2
has caper-build-words err "is a Caper build" "--dh-mode=caper --dh-alias"
"$deadheat" caper --state=c -- ./runs 2>err
same alias-build "$?" 2
has alias-build-words err "is an alias build: run it with --analysis=alias"
"$deadheat" caper --analysis=alias --state=s -- ./plain 2>err
same plain "$?" 2
has plain-words err "is no alias build: build it with 'deadheat cc --dh-mode=caper --dh-alias'"
"$deadheat" caper --quiet --state=c -- ./caper
"$deadheat" caper --state=s -- ./caper 2>err
same alias-state "$?" 2
has alias-state-words err "the state 's' is of --analysis=alias"
"$deadheat" caper --analysis=alias --state=c -- ./runs 2>err
same caper-state "$?" 2
has caper-state-words err "the state 'c' is of escape analysis"
"$deadheat" caper export --state=s --to=pairs 2>err
same export "$?" 2
for flag in --set=dp --format=html; do
    "$deadheat" caper status --state=s $flag >out 2>err
    same "status$flag" "$?" 2
done
"$deadheat" caper --analysis=points-to --state=s -- ./runs 2>err
same analysis "$?" 2
same untouched "$(cmp s before 2>&1)" ""
"$deadheat" cc --dh-alias -c runs.c -o runs.o 2>err
same mode "$?" 2
has mode-words err "give --dh-mode=caper, too"

# Another build: pairs of accesses that both have are carried over.
sed 's/return argc + 2/return argc + 3/' runs.c >changed && mv changed runs.c
build runs runs.c --dh-alias || bad build-again "$(cat log)"
"$deadheat" caper --analysis=alias --state=s -- ./runs 2>err
same other-build "$?" 2
"$deadheat" caper --analysis=alias --migrate --state=s -- ./runs 2>err
same migrated "$?:$(list s runs.c)" "4:A-A B-B"
has migrated-words err "of the 2 pairs in the state, 2 are carried over"

# A program that is killed, and one that forks, lose nothing.
cat >ends.c <<'END'
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
volatile int x, y;
__attribute__((noinline)) static void set_x(void)
{
    x = 1; /* A */
}
__attribute__((noinline)) static void set_y(void)
{
    y = 1; /* B */
}
static void *worker(void *arg)
{
    if (arg)
        set_x();
    else
        set_y();
    return 0;
}
static void twice(void *arg)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], 0, worker, arg);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
}
int main(int argc, char **argv)
{
    if (fork() == 0) {
        twice(argv);
        _exit(0);
    }
    wait(NULL);
    twice(argc > 1 ? argv : NULL);
    raise(SIGKILL);
}
END
build ends ends.c --dh-alias || bad build-ends "$(cat log)"
observe e ./ends 2>err
same killed "$?:$(list e ends.c)" "137:A-A B-B"

# More pairs than a new file has room for.
python3 - >wide.c <<'END'
n = 100
print("#include <pthread.h>\nvolatile int x;")
print("static void *worker(void *arg)\n{")
print("\n".join("    x = %d;" % i for i in range(n)))
print("    return arg;\n}\nint main(void)\n{\n    pthread_t t[2];")
print("    for (int i = 0; i < 2; i++)\n        pthread_create(&t[i], 0, worker, 0);")
print("    for (int i = 0; i < 2; i++)\n        pthread_join(t[i], 0);\n    return 0;\n}")
END
build wide wide.c --dh-alias || bad build-wide "$(cat log)"
"$deadheat" caper --analysis=alias --state=w -- ./wide 2>err
has room err "5050 new pairs in run 1; 5050 of 5050 pairs accessed the same bytes"

# A program that may not write files so large goes on, and it is said that something is missing.
printf 'ulimit -f 80\nexec ./wide\n' >limited.sh
"$deadheat" caper --analysis=alias --state=w2 --program=./wide -- sh limited.sh 2>err
same limit "$?" 0
has limit-words err "pairs may be missing" "4096 new pairs in run 1"
exit $failed
