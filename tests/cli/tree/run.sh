#!/bin/sh
# run.sh DEADHEAT - `deadheat run` with a command that starts other programs: what any of them finds is told once and
# makes the exit status, whoever started it and however it ends.
. "$(dirname "$0")/../lib.sh"

cd "$work" || exit 1
cp "$here/race.c" race.c
compile() { # PROGRAM FLAGS...
    program=$1
    shift
    "$deadheat" cc -g "$@" race.c -o "$program" -pthread || { bad compile "deadheat cc failed"; exit 1; }
}
compile one -DNAME=apples
compile two -DNAME=pears
run() { # ARGUMENTS: sets status, fills out and err
    "$deadheat" run "$@" >out 2>err
    status=$?
}
reports() { grep -c '^WARNING: deadheat: data race' err; }

# ---- Launchers ----
run -- sh -c './one race; ./two race; exit 0'
same shell-status "$status" 66
has shell-reports err '`apples`' '`pears`' 'deadheat: 2 data races'
like shell-names-one err '^  one: 1 process raced$'
like shell-names-two err '^  two: 1 process raced$'
run -- sh -c './one; ./two; exit 0'
same clean "$status:$(cat err)" 0:
run -- sh -c './one; exit 9'
same clean-keeps-status "$status:$(cat err)" 9:
run -- sh -c './one race; ./one; exit 9'
same raced-changes-status "$status:$(tail -1 err)" '66:  one: 1 of 2 processes raced'
run --exitcode=5 -- sh -c './one race; exit 9'
same other-status "$status" 5
run --exitcode=0 -- sh -c './one race; exit 9'
same own-status "$status" 9
run -- true
same nothing "$status" 2
starts nothing-sentence "$(cat err)" "deadheat run: error: nothing that ran was compiled by deadheat"
run -- sh -c 'exit 9'
same nothing-keeps-failure "$status" 9
run --force -- true
same nothing-forced "$status:$(cat err)" 0:
printf 'all: a b c\na: ; @./one race; true\nb: ; @./two race; true\nc: ; @./one; true\n' >Makefile
if command -v make >/dev/null; then
    run -- make -j3
    same make-status "$status" 66
    has make-reports err '`apples`' '`pears`' 'deadheat: 2 data races'
    like make-names-one err '^  one: 1 of 2 processes raced$'
    mkdir -p sub && printf 'all: ; @../one race\n' >sub/Makefile
    echo 'race:^named$' >known.txt
    run --suppressions=known.txt --output=sub.jsonl -- make -C sub
    same make-elsewhere "$status:$(tail -1 err):$(ls sub)" '0:deadheat: 0 data races, 1 suppressed:Makefile'
    "$deadheat" report sub.jsonl >out 2>err
    same make-elsewhere-output "$?" 66
else
    skip make "there is no make"
fi
if command -v ctest >/dev/null; then
    echo 'add_test(first "./one" "race") 
add_test(second "./two")' >CTestTestfile.cmake
    run -- ctest
    same ctest "$status:$(tail -1 err)" '66:  one: 1 process raced'
else
    skip ctest "there is no ctest"
fi

# ---- One race in many processes ----
run --output=many.jsonl -- sh -c 'i=0; while [ $i -lt 20 ]; do ./one race & i=$((i + 1)); done; wait'
same many-status "$status" 66
same many-printed-once "$(reports)" 1
has many-counted err 'deadheat: 1 data race (19 repetitions)' ': 20 times in 20 processes' '  one: all 20 processes raced'
"$deadheat" report many.jsonl >out 2>err
same many-recorded "$?:$(grep -c '^WARNING' out)" 66:1
has many-recorded-count out 'seen 20 times in 20 processes'
"$deadheat" report --format=json many.jsonl >out 2>err
same many-json "$(python3 - <<'END'
import json
r = json.load(open("out"))
race, = r["findings"]
program, = r["programs"]
print(race["count"], race["processes"], len({p["id"] for p in r["processes"]}), program["exe"].split("/")[-1],
      program["processes"], program["raced"], r["summary"]["findings"], r["summary"]["complete"])
END
)" "20 20 20 one 20 20 1 True"
run -- sh -c 'i=0; while [ $i -lt 300 ]; do ./two & i=$((i + 1)); done; wait; ./one race'
same crowd "$status:$(reports)" 66:1

# ---- Records and documents that nobody gets ----
run --output=/dev/full -- ./one race
same unsaved "$status:$(reports):$(grep -c 'not all records could be written' err)" 2:1:1
run --output=/dev/full -- sh -c './two 2>/dev/null; exit 9'
same unsaved-without-a-race "$status:$(cat err)" '2:deadheat run: error: not all records could be written to the output file'
run --output=%e/records.jsonl -- ./one fork
same unsaved-unopened "$status:$(grep -c 'not all records could be written' err)" 2:1
DEADHEAT_OPTIONS=output=/dev/full ./one race 2>err
same unsaved-alone "$?:$(reports)" 66:1
run -- "$deadheat" run --format=json:below.json -- ./one race
same below "$status:$(reports):$(grep -c 'have no effect here' err):$([ -e below.json ] || echo 1)" 66:1:1:1
"$deadheat" run --format=json:known.json -- ./one race 2>err
run -- "$deadheat" run --baseline=known.json -- ./one race
same below-baseline "$status:$(grep -c 'have no effect here' err)" 66:1
run --baseline=known.json -- "$deadheat" run -- "$deadheat" run --baseline=known.json --format=text -- ./one race
same below-the-same "$status:$(cat err)" '0:deadheat: 1 finding is in the baseline'

# ---- Ways to start and to end ----
for how in fork vfork setsid; do
    run -- ./one "$how" race
    same "$how" "$status:$(reports)" 66:1
done
run -- ./one race exec
same before-exec "$status:$(reports)" 66:1
run -- sh -c './one race kill; exit 0' 2>/dev/null
same killed-child "$status:$(reports)" 66:1
run -- ./one race kill
same killed "$status:$(reports)" 137:1
run -- ./one kill
same killed-clean "$status" 137
run -- sh -c 'env -i ./one race 2>own; exit 0'
same without-environment "$(reports):$(grep -c WARNING own)" 0:1
run -- sh -c 'DEADHEAT_OPTIONS=source=0 ./one race; exit 0'
same other-options "$status:$(reports)" 66:1
run -- sh -c './one race 2>/dev/null; exit 0'
same closed-standard-error "$status:$(reports)" 66:1
run --report=0 -- sh -c './one race; exit 0'
same silent "$status:$(cat err)" 66:

# The process goes on when the command has ended: first a race that counts, then one of its own.
mkfifo ready go late
cat late >late.err &
run -- sh -c './one race write=ready read=go later 2>late & cat ready'
same outlived-status "$status" 66
has outlived-first err '`apples`'
: >go
wait
has outlived-second late.err '`later`' 'deadheat: 1 data race'
lacks outlived-not-twice late.err '`apples`'

# ---- Signals ----
cat >signal.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static void handler(int number)
{
    _exit(number == SIGRTMIN + 3 ? 41 : 40);
}
int main(int argc, char **argv)
{
    (void)argc;
    signal(SIGTERM, handler);
    signal(SIGRTMIN + 3, handler);
    fclose(fopen(argv[1], "w"));
    for (;;)
        pause();
}
END
"$deadheat" cc -g signal.c -o signal || bad compile "deadheat cc failed"
for number in TERM RTMIN+3; do
    "$deadheat" run -- ./signal ready >out 2>err &
    cat ready
    kill -s $number $! 2>/dev/null || kill -$number $!
    wait $!
    same passes-on-$number "$?:$(cat err)" "$([ $number = TERM ] && echo 40 || echo 41):"
done
# Also those that the command was started with ignored, as a background job of a script is, or blocked: the program may handle them,
# or wait for them. And it is started with them like that itself.
cat >inherited.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static volatile sig_atomic_t got;
static void handler(int number)
{
    got = number;
}
int main(int argc, char **argv)
{
    (void)argc;
    int number = atoi(argv[2]);
    sigset_t set, before;
    struct sigaction was;
    sigaction(number, NULL, &was);
    sigemptyset(&set);
    sigaddset(&set, number);
    sigprocmask(SIG_BLOCK, &set, &before);
    signal(number, handler);
    fclose(fopen(argv[1], "w"));
    int found = was.sa_handler == SIG_IGN ? 'i' : sigismember(&before, number) ? 'b' : 'n';
    sigdelset(&before, number);
    while (!got)
        sigsuspend(&before);
    printf("%c %d\n", found, got);
    return 0;
}
END
"$deadheat" cc -g inherited.c -o inherited || bad compile "deadheat cc failed"
cat >start.py <<'END'
import os, signal, sys
number = int(sys.argv[2])
if sys.argv[1] == "ignored":
    signal.signal(number, signal.SIG_IGN)
elif sys.argv[1] == "blocked":
    signal.pthread_sigmask(signal.SIG_BLOCK, [number])
os.execv(sys.argv[3], sys.argv[3:])
END
for command in run "record --quiet -o inherited.dht"; do
    for case in ignored:2 ignored:1 blocked:15 neither:15 neither:24; do
        how=${case%:*} number=${case#*:}
        # shellcheck disable=SC2086 # the words of a command
        python3 start.py "$how" "$number" "$deadheat" $command -- ./inherited ready "$number" >out 2>err &
        cat ready
        kill -"$number" $!
        wait $!
        same "passes-on-$how-$number-${command%% *}" "$?:$(cat out):$(cat err)" "0:$(echo "$how" | cut -c1) $number:"
    done
done
# If the command is killed, so is the program: nobody is left who holds the pipe that is its standard error.
cat late >late.err &
"$deadheat" run -- ./one write=ready read=go >out 2>late &
cat ready
kill -s KILL $!
wait $! 2>/dev/null
same killed-command "$?" 137
wait
ok killed-command-program

# A reader of the command's output waits for the programs only.
"$deadheat" run -- sh -c 'exec >&-; ./one read=go' >late 2>err &
cat late
: >go
wait $!
same closed-output "$?:$(cat err)" 0:

# ---- Suppressions and hooks of single programs ----
compile suppressed -DNAME=apples -DSUPPRESSED='"^named$"'
run -- sh -c './suppressed race; exit 3'
same own-suppressions "$status:$(cat err)" '3:deadheat: 0 data races, 1 suppressed'
run -- sh -c './suppressed race; ./one race; exit 3'
same own-suppressions-only "$status:$(reports)" 66:1
echo 'race:^named$' >known.txt
run -- sh -c "DEADHEAT_OPTIONS=suppressions=known.txt ./one race; exit 3"
same file-of-one-program "$status:$(cat err)" '3:deadheat: 0 data races, 1 suppressed'
compile forgives -DNAME=apples -DFORGIVES
run -- sh -c './forgives race; exit 3'
same own-decision "$status:$(reports)" 3:1
run -- sh -c 'DEADHEAT_OPTIONS=exitcode=7 ./one race; echo $?; exit 3'
same own-exitcode "$status:$(cat out)" 7:7

# ---- One run below another ----
run -- sh -c "'$deadheat' run -- sh -c './one race; exit 0'; '$deadheat' run -- ./two; exit 0"
same nested "$status:$(reports)" 66:1
run -- sh -c "DEADHEAT_RUN=00112233445566778899aabbccddeeff '$deadheat' run -- sh -c './one race' 2>own; exit 3"
same stale-address "$status:$(grep -c WARNING own)" 3:1
exit $failed
