#!/bin/sh
# run.sh DEADHEAT OBJ - `deadheat chase --any` without a position: accesses drawn at random.
. "$(dirname "$0")/../lib.sh"

# ---- Accesses drawn at random: all of them, if the program has few ----
for how in 'gcc:-O0' 'gcc:-O2' 'clang-19:-O2'; do
    kind=$(echo "$how" | tr -d ':')
    build "${how%%:*}" "${how#*:}" random
    chase --list --any -- ./random
    same "random-list-$kind" "$status:$(grep -c "random.c:$(line random FIRST):[0-9]* at 0x" out | grep -c '[12]')" 0:1
    lacks "random-list-$kind-frame" out "random.c:$(line random FRAME)"
    persist --rmax=100% --delay=100ms --any -- ./random race
    if grep -q 'refuses hardware watchpoints' err; then
        skip "random-$kind" "no hardware watchpoints here"
        continue
    fi
    same "random-race-$kind" "$status:$(cat out)" 66:OK
    has "random-race-$kind-words" err "data race on global \`cells[0][0]\`" "#0 add" "random.c:$(line random FIRST)" "1 data race"
    lacks "random-race-$kind-slot" err "?? (0x"
    lacks "random-race-$kind-atomics" err "rounds"
    persist --rmax=100% --delay=100ms --any -- ./random library
    same "random-library-$kind" "$status:$(cat out)" 66:OK
    has "random-library-$kind-words" err "data race on global \`cells[0][0]\`" "Write of" "1 data race"
    await "a race of unknown origin" --rmax=100% --delay=100ms --any -- ./random kernel
    same "random-kernel-$kind" "$status:$(cat out)" 3:OK
    has "random-kernel-$kind-words" err "random.c:$(line random FIRST)" "no thread was seen writing: a race of unknown origin"
    lacks "random-kernel-$kind-race" err "data race"
    chase --rmax=100% --delay=20ms --any -- ./random apart
    same "random-apart-$kind" "$status:$(cat out)" 3:OK
    has "random-apart-$kind-words" err "at randomly chosen accesses, and no other thread was seen accessing the same bytes"
    lacks "random-apart-$kind-race" err "race o"
done
# Some of them at a time, and others when those were hit, if it has many.
awk 'BEGIN { print "#include <stdio.h>\nint cells[500];"
    for (i = 0; i < 500; i++) print "void f" i "(void) { ++cells[" i "]; }"
    print "int main(void) { for (int i = 0; i < 5000; i++) {"
    for (i = 0; i < 500; i++) print "f" i "();"
    print "} for (int i = 0; i < 500; i++) if (cells[i] != 5000) return 1; puts(\"OK\"); return 3; }" }' >many.c
gcc -g -O0 many.c -o many
drawn() { awk '/different accesses/ { print ($3 > 32 && $3 <= 1502) }' err; }
for seed in 1 2; do
    for _ in $(seq 20); do # the program may be over before the command has run twice
        chase --seed=$seed --stats --rmax=100% --delay=1us --any -- ./many
        [ "$(drawn)" = 1 ] && break
    done
    same "random-many-$seed" "$status:$(cat out)" 3:OK
    same "random-many-$seed-drawn" "$(drawn)" 1
done

# ---- Programs without races ----
for program in lufact moldyn philo sor; do
    gcc -g -O2 -pthread "$fields/../../bench/programs/$program.c" -o $program -lm || exit 1
    chase --stats --rmax=50% --delay=5ms --any -- ./$program
    same "free-$program" "$status" 0
    lacks "free-$program-race" err "race"
done
exit $failed
