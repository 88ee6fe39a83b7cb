#!/bin/sh
# run.sh DEADHEAT OBJ - programs that change while they are chased: threads, exec, libraries; many threads; a debugger.
. "$(dirname "$0")/../lib.sh"

build gcc -O1 churn
build gcc "-O1 -DPLUGIN -fPIC -shared" plugin plugin.so
build gcc -O2 hammer
touch=churn.c:$(line churn FIRST)
pair="hammer.c:$(line hammer A):*:hammer.c:$(line hammer B):*"

# ---- Threads that begin and end ----
for what in "--pair=$touch:$touch" "--any=$touch" --any --infer; do
    name=${what%%=*}
    chase --rmax=100% --delay=2ms --exitcode=4 "$what" -- ./churn threads
    same "threads$name" "$status:$(cat out)" 4:OK
    lacks "threads$name-words" err "given up"
done

# ---- exec, while another thread waits ----
for what in "--pair=$touch:$touch" "--any=$touch"; do
    chase --rmax=100% --delay=5s "$what" -- ./churn exec
    same "exec${what%%=*}" "$status:$(cat out)" 4:OK
    lacks "exec${what%%=*}-race" err "data race"
done

# ---- A library that is unloaded and loaded again ----
# It may be elsewhere then, and the chase is given up; the program does not notice.
chase --rmax=100% --delay=1ms --stats --module=plugin.so --pair "plugin.c:$(line plugin FIRST):plugin.c:$(line plugin SECOND)" \
    -- ./churn reload ./plugin.so
same reload "$(cat out)" OK
lacks reload-traps err " 0 traps"
chase --rmax=100% --delay=1ms --exitcode=4 --module=plugin.so --any -- ./churn reload ./plugin.so
same reload-any "$(cat out)" OK
# What comes to its place is not code, whatever it looks like.
for what in "--pair=plugin.c:$(line plugin FIRST):plugin.c:$(line plugin SECOND)" "--any=plugin.c:$(line plugin FIRST)"; do
    chase --rmax=100% --delay=1ms --exitcode=4 --module=plugin.so "$what" -- ./churn replace ./plugin.so
    same "replace${what%%=*}" "$(cat out)" OK
done

# ---- From one thread to 256 ----
for n in 1 2 256; do
    chase --rmax=100% --delay=5ms --stats --pair "$pair" -- ./hammer $n 200
    same "threads-$n" "$status:$(cat out)" 0:OK
    lacks "threads-$n-traps" err " 0 traps"
    chase --rmax=100% --delay=5ms --stats --any="hammer.c:$(line hammer A):*" -- ./hammer $n 200
    same "threads-any-$n" "$status:$(cat out)" 0:OK
    lacks "threads-any-$n-traps" err " 0 traps"
    lacks "threads-any-$n-race" err "data race"
    "$obj/tests/field/field-stress" "$library" "$pair" ./hammer $n 200 >out 2>err
    same "threads-stress-$n" "$?:$(cat out)" 0:OK
done

# ---- A command that gets no processor, so that threads go on without it ----
# What they write themselves is nobody else's doing.
"$deadheat" chase --stats --rmax=50% --delay=2ms --any="hammer.c:$(line hammer A):*" -- ./hammer 1 1000 >out 2>err &
chaser=$!
while kill -STOP $chaser 2>/dev/null; do
    sleep 0.02
    kill -CONT $chaser
    sleep 0.02
done
wait $chaser
same late "$?:$(cat out)" 0:OK
lacks late-samples err "in 0 samples"
lacks late-race err "race"

# ---- A command that gets none at all while something is set ----
# The threads of the program end that themselves: after some traps they remove the breakpoints, and each of them hits a watchpoint
# once.
build gcc -O1 stopped
"$deadheat" cc --dh-mode=field -g -O1 -D_GNU_SOURCE -pthread "$programs/stopped.c" -o stopped-field
first=stopped.c:$(line stopped FIRST)
both="$first:stopped.c:$(line stopped SECOND)"
stopped() { # PROGRAM MODE ARGUMENTS: on a busy machine it may not see in time that something is set
    program=$1 mode=$2
    shift 2
    for _ in $(seq 100); do
        chase --stats --rmax=50% "$@" -- "./$program" "$mode"
        [ "$status" -ne 2 ] || grep -q "given up" err && break
    done
}
for mode in first second; do
    stopped stopped $mode --delay=30ms --pair "$both"
    same "stopped-$mode" "$status:$(cat out)" 0:RESTORED
    lacks "stopped-$mode-words" err "budget was exceeded"
done
stopped stopped-field atomic --delay=30ms --analysis=litehb --pair "$both"
same stopped-atomic "$status:$(cat out)" 0:RESTORED
lacks stopped-atomic-words err "data race" "budget was exceeded"
stopped stopped watched --delay=200ms --any="$first"
if grep -q 'refuses hardware watchpoints' err; then
    skip stopped-watched "no hardware watchpoints here"
else
    lacks stopped-watched err "budget was exceeded"
    same stopped-watched-traps "$(sed -n 's/.*samples; \([0-9]*\) traps.*/\1/p' err | awk '{ print ($1 > 1 && $1 <= 6) }')" 1
fi
# A program that would be killed for that keeps them until the command is back.
stopped stopped filter --delay=30ms --pair "$both"
same stopped-filter "$(cat out)" KEPT
lacks stopped-filter-killed err "SIGSYS"

# ---- A debugger that comes while breakpoints are set ----
if ! command -v gdb >/dev/null; then
    skip debugger "there is no gdb"
    exit $failed
fi
"$deadheat" chase --stats --rmax=100% --delay=30s --pair "$pair" -- ./hammer 4 3000 >out 2>err &
chaser=$!
until program=$(pgrep -P $chaser -x hammer); do
    kill -0 $chaser 2>/dev/null || break
done
gdb -nx -batch -p "$program" -ex 'handle SIGILL nostop' -ex continue >gdb.out 2>&1
wait $chaser
same debugger "$?:$(cat out)" 0:OK
like debugger-seen gdb.out "exited normally"
has debugger-words err "no breakpoint was set while a debugger was attached to the program"
exit $failed
