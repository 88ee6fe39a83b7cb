#!/bin/sh
# run.sh DEADHEAT - `deadheat analyze` with more threads at once than any program has: in bounded memory and time, with
# what there is to find, or with a sentence that says what to do instead.
. "$(dirname "$0")/../lib.sh"
cd "$work" || exit 1

# THREADS EVENTS EVERY: all begin before the first ends and read a table that is written when the last has ended. Each
# EVERYth also has a critical section, repeated by any of them up to EVENTS; one in 200 writes a variable without a lock.
trace() {
    python3 - "$@" <<'EOF'
import sys

threads, events, every = map(int, sys.argv[1:])
lines = []


def put(thread, what, place):
    lines.append(f"t{thread}|{what}|{place}")


def section(thread):
    put(thread, f"acq(l{thread % 61})", 3)
    put(thread, f"w(v{thread % 61})", 4)
    put(thread, f"rel(l{thread % 61})", 5)


for i in range(1, threads):
    put(0, f"fork(t{i})", 1)
for i in range(1, threads):
    put(i, "r(table)", 2)
    if i % every == 0:
        section(i)
    if i % 200 == 1:
        put(i, "w(racy)", 6)
while len(lines) + threads < events:
    i = (i * 7919 + 104729) % threads or 1
    section(i)
for i in range(1, threads):
    put(0, f"join(t{i})", 7)
put(0, "w(table)", 8)
print("\n".join(lines))
EOF
}

# Twice what the hungriest one takes, and several times what the slowest one does.
analyze() { # TRACE DETECTOR MEGABYTES
    case $1:$2 in *:fasttrack | ten-thousand:*) list=variables ;; *) list=none ;; esac # what races is read again for hints
    (ulimit -v $(($3 << 10)) && ulimit -t 30 && exec "$deadheat" analyze --detector="$2" --list=$list "$1.std") >out 2>err
    status=$?
}

# TRACE MEGABYTES RACY-EVENTS
analyzed_by_all() {
    for detector in multirace goldilocks basicvc djit fasttrack acculock multilock simplelock shb wcp; do
        analyze "$1" $detector "$2"
        same "$1-$detector-exit" "$status: $(cat err)" "66: "
        has "$1-$detector" out "): 1 racy variable, $3 racy events at 1 location, 1 pair of locations"
        case $list in variables) has "$1-$detector-listed" out "racy: write by" ;; esac
        lacks "$1-$detector-complete" out incomplete
    done
    analyze "$1" eraser "$2" # the table was not written under a lock either
    has "$1-eraser" out "2 racy variables, $(($3 + 1)) racy events"
    for detector in cp syncp osr; do
        analyze "$1" $detector "$2"
        same "$1-$detector-exit" "$status" 2
        has "$1-$detector" out "incomplete: more than 4096 threads at once, which is its limit; detectors that read the trace once have none"
        lacks "$1-$detector-silent" out "racy"
    done
}

trace 10000 142551 1 >ten-thousand.std
analyzed_by_all ten-thousand 256 49
trace 300000 0 4 >many.std
analyzed_by_all many 1600 1499
analyze ten-thousand wcp 256
has no-witness out "no witness made: more than 4096 threads at once"
exit $failed
