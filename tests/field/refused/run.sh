#!/bin/sh
# run.sh DEADHEAT OBJ - `deadheat chase` where the kernel refuses hardware watchpoints, or that code is written through
# /proc/self/mem: what it does instead, and that it says so.
. "$(dirname "$0")/../lib.sh"

first=$(line random FIRST)
build gcc -O2 random
build gcc -O1 refuse
build gcc -O1 fork
refused() { # WHAT ARGUMENTS: chases with that refused
    refuses=$1
    shift
    ./refuse "$refuses" "$deadheat" chase --source=0 --rmax=100% --delay=50ms "$@" >out 2>err
    status=$?
}
insist() { # WHAT ARGUMENTS: the same until a race is confirmed, as persist of lib.sh
    for _ in 1 2 3 4 5; do
        refused "$@"
        [ "$status" -ne 3 ] && return
    done
}

# ---- Breakpoints in the place of watchpoints ----
sentence="the kernel refuses hardware watchpoints (perf_event_open: Permission denied); breakpoints at"
for what in --any "--any=random.c:$first" --infer; do
    insist perf "$what" -- ./random race
    same "perf$what" "$status:$(cat out)" 66:OK
    has "perf$what-words" err "$sentence" "data race on global \`cells[0][0]\`" "#0 add"
    refused perf "$what" -- ./random apart
    same "perf$what-apart" "$status:$(cat out)" 3:OK
    lacks "perf$what-apart-race" err "race o"
done
# What is not seen is said, if it leaves a trace.
refused perf "--any=random.c:$first" -- ./random kernel
same perf-kernel "$status:$(cat out)" 3:OK
has perf-kernel-words err "no thread was seen writing: a race of unknown origin"
insist perf --pair "random.c:$first:random.c:$first" -- ./random race
same perf-pair "$status" 66
lacks perf-pair-words err "watchpoints"

# ---- Code that the program makes writable itself ----
sentence="code cannot be written through /proc/self/mem here, so the program has made its own writable (mprotect)"
for what in --any "--pair=random.c:$first:random.c:$first"; do
    insist open "$what" -- ./random race
    same "open$what" "$status:$(cat out)" 66:OK
    has "open$what-words" err "$sentence" "data race on global \`cells[0][0]\`" "#0 add"
done
refused open --stats --pair "$(self fork)" -- ./fork
same open-fork "$(cat out)" OK
has open-fork-words err "$sentence"
lacks open-fork-traps err " 0 traps"
# What is loaded later cannot be made writable, and the program is left alone.
build gcc -O1 plugin
build gcc "-O1 -DPLUGIN -fPIC -shared" plugin plugin.so
refused open --module=plugin.so --pair "plugin.c:$(line plugin FIRST):plugin.c:$(line plugin SECOND)" -- ./plugin ./plugin.so
same open-plugin "$status:$(cat out)" 2:OK
has open-plugin-words err "given up: the program's code cannot be written through /proc/self/mem here, and what it loads later could not"
exit $failed
