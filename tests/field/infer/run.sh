#!/bin/sh
# run.sh DEADHEAT OBJ - `deadheat chase --infer`: which accesses meet, what the static analysis says of them, and what comes of
# it for the pairs that are chased afterwards.
. "$(dirname "$0")/../lib.sh"

add=random.c:$(line random FIRST) foreign=random.c:$(line random FOREIGN) locked=random.c:$(line random LOCKED)
slow="--rmax=100% --delay=20ms --infer"
build gcc "-O2 -DFOREIGN -c" random foreign.o
gcc -g -O2 -D_GNU_SOURCE -pthread "$programs/random.c" foreign.o -o random || exit 1
"$deadheat" cc --dh-mode=field -g -O2 -D_GNU_SOURCE -pthread "$programs/random.c" foreign.o -o random-field || exit 1

# ---- What met, and how ----
# shellcheck disable=SC2086
persist $slow --summary=race.json -- ./random race
if grep -q 'refuses hardware watchpoints' err; then
    skip all "no hardware watchpoints here"
    exit 0
fi
same race "$status:$(cat out)" 66:OK
has race-words err "1 pair of accesses met on the same bytes:" "$add:5 with $add:5: at the same time" "confirmed data race on global"
has race-json race.json '"at_once": true' '"missed": false' "$add:5:"
lacks race-atomics err "with random.c:$(line random ATOMIC)"
# Under a lock they are never there at the same time, and nobody is said to race.
# shellcheck disable=SC2086
await "$locked:9 with $locked:9: one after the other" $slow --summary=mutex.json -- ./random mutex 500000
same mutex "$status:$(cat out)" 3:OK
has mutex-words err "$locked:9 with $locked:9: one after the other"
has mutex-json mutex.json '"at_once": false'
lacks mutex-race err "race"
# shellcheck disable=SC2086
chase $slow -- ./random apart
same apart "$status:$(cat out)" 3:OK
has apart-words err "0 pairs of accesses met on the same bytes"

# ---- What the static analysis knows ----
# shellcheck disable=SC2086
persist $slow -- ./random-field race
same field "$status:$(cat out)" 66:OK
has field-words err "$add:5 with $add:5: at the same time"
lacks field-defect err "defect"
# shellcheck disable=SC2086
persist $slow --summary=foreign.json -- ./random-field foreign
same defect "$status:$(cat out)" 66:OK
defect="a defect of the static analysis: .*$add raced with .*$foreign, and these lines are no pair of its table"
like defect-words err "$defect"
same defect-once "$(grep -c defect err)" 1
has defect-json foreign.json '"missed": true'
# So it is with races that are confirmed otherwise.
for what in --any "--pair=$add:$foreign:*" "--pair=$add:$foreign:* --steer=primary"; do
    # shellcheck disable=SC2086
    persist --rmax=100% --delay=50ms $what -- ./random-field foreign
    same "defect$what" "$status" 66
    like "defect$what-words" err "a defect of the static analysis: .* raced with .*, and these lines are no pair of its table"
done
persist --rmax=100% --delay=50ms --pair="$add:$add" -- ./random-field race
same no-defect "$status" 66
lacks no-defect-words err "defect"
# What the compiler has merged has no line, and that of the call which led there is not meant.
"$deadheat" cc --dh-mode=field -g -O2 -D_GNU_SOURCE -pthread "$programs/merged.c" -o merged-field || exit 1
for _ in $(seq 20); do # the write is made once, and nobody may be waiting then
    chase --rmax=100% --delay=400ms --any="merged.c:$(line merged SECOND):read" -- ./merged-field
    [ "$status" = 66 ] && break
done
same merged "$status:$(cat out)" 66:OK
has merged-words err "#0 set" "#1 first"
lacks merged-defect err "defect"
# Machine code does not tell that two accesses are atomic; a field build does, and they are no pair.
# shellcheck disable=SC2086
persist $slow -- ./random builtin 500000
same atomic "$status:$(cat out)" 66:OK
has atomic-words err "with random.c:$(line random BUILTIN):" "if both are atomic in the source, this is no race"
# shellcheck disable=SC2086
chase $slow -- ./random-field builtin
same atomic-built "$status:$(cat out)" 3:OK
has atomic-built-words err "0 pairs of accesses met"
lacks atomic-built-defect err "defect"

# ---- Pairs that meet come first, and one that was not proposed is chased, too ----
# shellcheck disable=SC2086
chase $slow --all --state=foreign.state --summary=all.json -- ./random-field foreign
same all "$status" 66
has all-state foreign.state '"outcome":"met'
like all-words err "chase: random.c:.* with random.c:.*: confirmed"
has all-json all.json '"met": [' '"missed": true'
like all-foreign all.json "\"pair\": \".*$foreign:.*$add:"
met=$(grep -c '"outcome":"met' foreign.state)
chase --rmax=100% --delay=20ms --all --state=foreign.state --summary=again.json -- ./random-field foreign
same again "$status:$(grep -c '"outcome":"met' foreign.state)" "66:$met"
like again-foreign again.json "\"pair\": \".*$foreign:.*$add:"
# A run that does not end by itself is ended.
chase --rmax=100% --infer=1s -- ./random race 2000000000
same time "$(wc -c <out)" 0
has time-words err "pair of accesses met on the same bytes"

# ---- Only the lines of pairs that others propose are drawn, wherever their files were ----
proposed() { # LINE
    access="{\"kind\":\"write\",\"stack\":[{\"file\":\"/elsewhere/random.c\",\"line\":$1,\"column\":77}]}"
    echo "{\"version\":2,\"findings\":[{\"accesses\":[$access,$access]}]}" >proposed.json
}
proposed "$(line random FIRST)"
# shellcheck disable=SC2086
await "at the same time" $slow --trials=0 --from=proposed.json --summary=proposed.out -- ./random race
same from "$status:$(cat out)" 66:OK
has from-words err "1 pair of accesses met on the same bytes:" "$add:5 with $add:5: at the same time" "confirmed data race on global"
has from-json proposed.out '"runs": 0' '"tried": 1' '"confirmed": 1' '"left": 0'
# A line with two increments meets itself four times in one run, as two reads and two writes. That is no second run.
sed 's,++\*cell; // FIRST,++cell[0]; ++cell[1]; // FIRST,' "$programs/random.c" >random.c
gcc -g -O0 -D_GNU_SOURCE -pthread random.c -o twice || exit 1
# shellcheck disable=SC2086
await "4 pairs of accesses met" $slow --trials=0 --from=proposed.json --summary=proposed.out -- ./twice race 200
has from-once proposed.out '"confirmed": 1' '"twice": 0'
proposed "$(line random LOCKED)"
# shellcheck disable=SC2086
chase $slow --trials=0 --from=proposed.json --summary=proposed.out -- ./random race
same from-other "$status:$(cat out)" 0:OK
has from-other-words err "0 pairs of accesses met on the same bytes"
has from-other-json proposed.out '"confirmed": 0' '"left": 1'

# ---- A wait does not end with the first who comes ----
build gcc -O1 several
written=several.c:$(line several FIRST)
access="{\"kind\":\"write\",\"stack\":[{\"file\":\"several.c\",\"line\":$(line several FIRST)}]}"
echo "{\"version\":2,\"findings\":[{\"accesses\":[$access,$access]}]}" >several.json
await "2 pairs of accesses met" --rmax=100% --delay=500ms --infer --trials=0 --from=several.json -- ./several
has several err "2 pairs of accesses met on the same bytes:" \
    "several.c:$(line several ONE):9:read with $written:12:write: at the same time" \
    "several.c:$(line several OTHER):9:read with $written:12:write: at the same time"
lacks several-others err "one after the other"

# ---- Who has gone on by itself, just before it was to wait for others, races with nobody ----
build gcc -O1 kept
sed "s/several.c/kept.c/g; s/\"line\":[0-9]*/\"line\":$(line kept FIRST)/g" several.json >kept.json
cat >kept.gdb <<'END'
break dh_chase_target_keep
commands
shell until [ -e past ]; do sleep 0.01; done
shell touch go
delete 1
continue
end
run
END
if command -v gdb >/dev/null; then
    for _ in $(seq 20); do # the other thread may get no processor while the first waits
        rm -f past go
        gdb -nx -batch -x kept.gdb --args "$deadheat" chase --source=0 --rmax=50% --delay=200ms --infer --trials=0 --from=kept.json \
            -- ./kept >out 2>err
        grep -q "Breakpoint 1, dh_chase_target_keep" out && break
    done
    has kept out "Breakpoint 1, dh_chase_target_keep"
    has kept-met err "1 pair of accesses met on the same bytes" "kept.c:$(line kept AT_ONCE)"
    lacks kept-later err "kept.c:$(line kept LATER)"
else
    skip kept "there is no gdb"
fi

# ---- More pairs than there can be runs: the first runs are for all of them ----
{
    echo '#include <pthread.h>'
    echo 'static volatile int x; static void *f(void *p) {'
    for i in $(seq 24); do echo 'x++;'; done
    echo 'return p; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); f(0); pthread_join(t, 0); }'
} >large.c
"$deadheat" cc --dh-mode=field -O1 -pthread large.c -o large || exit 1
chase --all --budget=1s --summary=large.json -- ./large
like large err "deadheat chase: there are [0-9]* pairs: the first runs are for all of them"
has large-json large.json '"met": ['

# ---- What does not go together ----
chase --infer --delay=10ms..1ms -- ./random
same delay-bad "$status" 2
has delay-bad-words err "--delay cannot be '10ms..1ms'; it must be a time up to a minute, such as 10ms, or two of them, such as 10ms..1s"
refused trials-0 "--trials cannot be '0'" --trials=0 --from=proposed.json -- ./random
chase --infer --any -- ./random
same infer-any "$status" 2
has infer-any-words err "--infer is not for a particular pair: omit --any"
chase --infer=0 -- ./random
same infer-bad "$status" 2
has infer-bad-words err "--infer cannot be '0'"
exit $failed
