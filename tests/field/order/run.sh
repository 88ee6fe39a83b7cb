#!/bin/sh
# run.sh DEADHEAT - `deadheat chase --analysis=litehb` and `=fullhb`: a race of accesses that are far apart in time is found, and
# none is where anything orders them.
. "$(dirname "$0")/../lib.sh"

trust=--trust # the programs make an order that is no synchronisation, by inline assembly
chase() { # ARGUMENTS: sets status, fills out and err
    # shellcheck disable=SC2086
    "$deadheat" chase --source=0 --rmax=100% --window=20s $trust "$@" >out 2>err
    status=$?
}
pair="order.c:$(line order FIRST):*:write:order.c:$(line order SECOND):*:read"

for level in -O0 -O2; do
    "$deadheat" cc --dh-mode=field $level -D_GNU_SOURCE -pthread "$programs/order.c" -o order || exit 1
    for analysis in litehb fullhb; do
        for how in none mutexes relaxed; do
            chase --analysis=$analysis --pair "$pair" -- ./order $how
            same "$analysis$level-$how" "$status:$(cat out)" 66:OK
            has "$analysis$level-$how-words" err "Nothing orders the access by thread T2" "Read of 8 bytes" "#0 get" "#1 reader" \
                "Earlier write of 8 bytes" "#0 put" "#1 writer" "1 data race"
            lacks "$analysis$level-$how-at-once" err "at the same time"
        done
        for how in mutex rwlock spin mtx cond barrier sem pipe epoll_pwait2 timerfd flockfile putc printf feof atomic builtin add local create join chain once free; do
            chase --analysis=$analysis --pair "$pair" -- ./order $how
            same "$analysis$level-$how" "$status:$(cat out)" 0:OK
            lacks "$analysis$level-$how-race" err "data race"
            like "$analysis$level-$how-words" err "$none"
            [ $how = free ] && lacks "$analysis$level-$how-verdict" err "no race:" # it cannot be followed any more: no verdict
        done
    done
done
# Numbers of threads, where the kernel starts again at low ones in between. In a namespace of its own, whose last number it sets.
if unshare -p -f --mount-proc sh -c 'echo 1000 >/proc/sys/kernel/ns_last_pid' 2>err; then
    for left in 2 3 4 5 6; do
        unshare -p -f --mount-proc sh -c "echo \$((\$(cat /proc/sys/kernel/pid_max) - $left)) >/proc/sys/kernel/ns_last_pid &&
            '$deadheat' chase --source=0 --rmax=100% --window=20s --trust --analysis=litehb --pair '$pair' -- ./order none" >out 2>err
        has "wrapped-$left" err "Nothing orders the access by thread T2"
    done
else
    skip wrapped "no process namespaces: $(cat err)"
fi
for _ in 1 2 3 4 5 6 7 8; do # or the first thread may have been joined before the second comes
    chase --analysis=litehb --pair "$pair" -- ./order mutex
    grep -q "no race" err && break
done
has verdict err "no race: other threads reached the second access 1 time on the same bytes, always ordered after the first"
for analysis in litehb fullhb; do # measured, not looked for
    chase --analysis=$analysis --tracking-only --pair "$pair" -- ./order none
    same "$analysis-tracking-only" "$status:$(cat out)" 0:OK
    lacks "$analysis-tracking-only-race" err "data race"
    has "$analysis-tracking-only-words" err "threads were sampled 1 time at the first access"
done
refused tracking-only "--tracking-only needs --analysis=litehb or fullhb" --tracking-only --pair "$pair" -- ./order
chase --delay=20ms --pair "$pair" -- ./order none
same chaser-misses "$status:$(cat out)" 0:OK
lacks chaser-misses-race err "data race"
chase --analysis=litehb --output=races.jsonl --pair "$pair" -- ./order none
has record races.jsonl '"analysis":"litehb"' '"detector":"litehb"' '"provenance":"confirmed"' '"order":"shown"'
"$deadheat" report --format=json races.jsonl >races.json
has record-json races.json '"analysis":"litehb"'
lacks record-atomics races.jsonl '"atomics"'

# ---- Threads that libc creates by itself ----
"$deadheat" cc --dh-mode=field -O2 -D_GNU_SOURCE -pthread "$programs/notify.c" -lanl -lrt -o notify || exit 1
for analysis in litehb fullhb; do
    for how in timer aio_read aio_read64 aio_fsync getaddrinfo_a mq_notify; do
        chase --analysis=$analysis --pair "notify.c:$(line notify FIRST):write:notify.c:$(line notify SECOND):read" -- ./notify $how
        same "$analysis-notify-$how" "$status:$(cat out)" 0:OK
        lacks "$analysis-notify-$how-race" err "data race"
        has "$analysis-notify-$how-words" err "not seen: threads were sampled 1 time at the first access"
    done
done

# ---- What cannot be followed, in one sentence ----
clang-19 -g -O2 -D_GNU_SOURCE -pthread "$programs/order.c" -o plain
for analysis in litehb fullhb; do
    refused "plain-$analysis" \
        "--analysis=$analysis needs to know which accesses are atomic, and '$work/plain' does not say: build it with 'deadheat cc --dh-mode=field'" \
        --analysis=$analysis --pair "$pair" -- ./plain
done
refused unknown "--analysis cannot be 'hb'; it must be chaser, litehb or fullhb" --analysis=hb --pair "$pair" -- ./order
refused steered "--analysis=litehb tracks a pair: it cannot be combined with --steer" --analysis=litehb --steer=primary --pair "$pair" -- ./order
refused window "--window cannot be '1'; it must be a time" --window=1 --pair "$pair" -- ./order
printf '_Atomic __int128 x;\nint y;\nint main(void)\n{\n    y = (int)x;\n    return y;\n}\n' >large.c
"$deadheat" cc --dh-mode=field -w large.c -latomic -o large
refused large "'$work/large' cannot be tracked by --analysis=litehb: some of its atomic objects are larger than eight bytes" \
    --analysis=litehb --pair "large.c:5:*:large.c:5:*" -- ./large
cat >own.c <<'END'
#include <stdlib.h>
int y;
void free(void *p) { y = p != NULL; }
int main(void) { return y; }
END
"$deadheat" cc --dh-mode=field -w own.c -o own
refused allocator "'$work/own' cannot be tracked by --analysis=litehb: it has an allocator of its own" \
    --analysis=litehb --pair "own.c:3:*:own.c:3:*" -- ./own
printf '#include <error.h>\nint y;\nint main(void)\n{\n    error(0, 0, "%%d", y++);\n    return 0;\n}\n' >says.c
"$deadheat" cc --dh-mode=field -w says.c -o says
refused error "'$work/says' cannot be tracked by --analysis=litehb: it calls error" \
    --analysis=litehb --pair "says.c:5:*:says.c:5:*" -- ./says
printf 'int y;\nint main(void)\n{\n#pragma omp parallel\n    y++;\n    return 0;\n}\n' >omp.c
if "$deadheat" cc --dh-mode=field -fopenmp -w omp.c -o omp 2>log; then
    refused openmp "'$work/omp' cannot be tracked by --analysis=litehb: it uses OpenMP" \
        --analysis=litehb --pair "omp.c:5:*:omp.c:5:*" -- ./omp
else
    skip openmp "$(head -1 log)"
fi

# ---- What others have compiled, and inline assembly: followed or refused, and never taken for a race ----
trust=
unseen="unseen.c:$(line unseen FIRST):*:write:unseen.c:$(line unseen SECOND):*:read"
not_seen() { # NAME PROGRAM
    for analysis in litehb fullhb; do
        chase --analysis=$analysis --pair "$unseen" -- "./$1"
        same "$1-$analysis" "$status:$(cat out)" 0:OK
        lacks "$1-$analysis-race" err "data race"
        like "$1-$analysis-words" err "$none"
    done
}
field() { "$deadheat" cc --dh-mode=field -O2 -D_GNU_SOURCE -pthread "$programs/unseen.c" "$@" || exit 1; }
for by in FLAG LOCK ASSEMBLY LOCKED_ASSEMBLY SYSTEM_CALL; do
    field -DBY_$by "$programs/unseen-by.c" -o own-$by
    gcc -g -O2 -D_GNU_SOURCE -DBY_$by -c "$programs/unseen-by.c" -o by-$by.o
    field by-$by.o -o foreign-$by
    gcc -shared -fPIC -O2 -D_GNU_SOURCE -DBY_$by "$programs/unseen-by.c" -o libby-$by.so
    field ./libby-$by.so -o library-$by
    [ $by = SYSTEM_CALL ] && continue
    not_seen own-$by
    not_seen foreign-$by
done
own_line=$(grep -n '"syscall"' "$programs/unseen-by.c" | cut -d: -f1)
refused own-SYSTEM_CALL "'$work/own-SYSTEM_CALL' cannot be tracked by --analysis=litehb: its function '" \
    --analysis=litehb --pair "$unseen" -- ./own-SYSTEM_CALL
has own-SYSTEM_CALL-where err "has inline assembly that makes system calls by itself (unseen-by.c:$own_line); give --trust"
refused foreign-SYSTEM_CALL "'$work/foreign-SYSTEM_CALL' cannot be tracked by --analysis=litehb: its function '" \
    --analysis=litehb --pair "$unseen" -- ./foreign-SYSTEM_CALL
has foreign-SYSTEM_CALL-why err "which 'deadheat cc' has not compiled, makes system calls by itself; compile it with"
# Also if its symbols say that functions are larger than their section.
gcc -O2 -D_GNU_SOURCE -DBY_SYSTEM_CALL -S "$programs/unseen-by.c" -o large.s
sed -i 's/\(\.size[[:space:]]*[a-z]*,\).*/\1 0x1000000/' large.s
gcc -c large.s -o large.o
field large.o -o foreign-large
refused foreign-large "'$work/foreign-large' cannot be tracked by --analysis=litehb: its function '" --analysis=litehb --pair "$unseen" \
    -- ./foreign-large
while read -r by what; do
    refused "library-$by" "'$work/library-$by' cannot be tracked by --analysis=litehb: its library '$work/libby-$by.so' $what" \
        --analysis=litehb --pair "$unseen" -- ./library-$by
    same "library-$by-not-begun" "$(cat out)" ""
    chase --analysis=litehb --trust=libby-$by.so --pair "$unseen" -- ./library-$by
    same "library-$by-trusted" "$status:$(cat out)" 66:OK
done <<END
FLAG waits for other threads in loops of its own
ASSEMBLY waits for other threads in loops of its own
LOCK has atomic accesses of its own
LOCKED_ASSEMBLY has atomic accesses of its own
SYSTEM_CALL makes system calls by itself
END
export LD_PRELOAD="$work/libby-LOCK.so"
chase --analysis=litehb --pair "$unseen" -- ./own-FLAG # which has its own tell and hear
unset LD_PRELOAD
same preloaded "$status:$(cat out)" 2:
has preloaded-why err "its library '$work/libby-LOCK.so' has atomic accesses of its own"
field "$programs/unseen-loaded.c" -o loaded
chase --analysis=litehb --pair "$unseen" -- ./loaded ./libby-LOCK.so
lacks loaded-race err "data race"
has loaded-why err "its library '$work/libby-LOCK.so' has atomic accesses of its own"
field -DCLOSED "$programs/unseen-loaded.c" -o closed # it is gone when two threads meet
chase --analysis=litehb --pair "$unseen" -- ./closed ./libby-LOCK.so
same closed "$status:$(cat out)" 0:OK
lacks closed-race err "data race"
# What inline assembly cannot do is not held against it.
cat >harmless.c <<'END'
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
enum { ROUNDS = 20000 };
static long x;
static atomic_int rounds[2]; /* relaxed: orders nothing, but both threads are there for a while */
static int go_on(atomic_int *own)
{
    atomic_fetch_add_explicit(own, 1, memory_order_relaxed);
    return atomic_load_explicit(&rounds[0], memory_order_relaxed) < ROUNDS ||
           atomic_load_explicit(&rounds[1], memory_order_relaxed) < ROUNDS;
}
static void *put(void *p)
{
    unsigned a = 0, c = 0;
    __asm__ volatile("" : : : "memory");
    __asm__ volatile("rep; nop\n\tpause # and so on" : : : "memory");
    __asm__ volatile("cpuid" : "+a"(a), "+c"(c) : : "ebx", "edx");
    __asm__ volatile("bswap %0\n\tnop" : "+r"(a));
    __asm__ volatile("prefetcht0 %0" : : "m"(x));
    do
        x++; // BOTH
    while (go_on(p));
    return p;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, put, &rounds[0]);
    pthread_create(&b, NULL, put, &rounds[1]);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    puts("OK");
    return 0;
}
END
"$deadheat" cc --dh-mode=field -O1 -pthread harmless.c -o harmless
both=harmless.c:$(grep -n BOTH harmless.c | cut -d: -f1):*
chase --analysis=litehb --pair "$both:$both" -- ./harmless
same harmless "$status:$(cat out)" 66:OK
trust=--trust

# ---- What is given up leaves no breakpoint behind ----
"$deadheat" cc --dh-mode=field -O1 -D_GNU_SOURCE -pthread "$programs/given-up.c" -o given-up || exit 1
chase --analysis=fullhb --pair "given-up.c:$(line given-up FIRST):given-up.c:$(line given-up SECOND):read" -- ./given-up
same given-up "$status:$(cat out)" 2:OK
has given-up-words err "given up: the program has more threads, or more locks and atomics, than can be followed"
lacks given-up-race err "data race"

# ---- C++, and threads that come and go while something is followed ----
for how in thread future at-exit once guard shared_ptr exception_ptr catch pmr detached; do
    [ -x cxx ] || "$deadheat" c++ --dh-mode=field -O1 -std=c++20 -pthread "$programs/order-cxx.cpp" -o cxx || exit 1
    cxx="order-cxx.cpp:$(grep -n '// FIRST' "$programs/order-cxx.cpp" | cut -d: -f1):*:write:order-cxx.cpp:$(
        grep -n '// SECOND' "$programs/order-cxx.cpp" | cut -d: -f1):*:read"
    chase --analysis=litehb --pair "$cxx" -- ./cxx $how
    same "cxx-$how" "$status:$(cat out)" 0:OK
    lacks "cxx-$how-race" err "data race"
done
chase --analysis=litehb --pair "$cxx" -- ./cxx none
same cxx-none "$status:$(cat out)" 66:OK
exit $failed
