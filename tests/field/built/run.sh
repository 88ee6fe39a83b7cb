#!/bin/sh
# run.sh DEADHEAT - field builds: the library that is linked into them sleeps unnoticed, wakes for `deadheat chase` without being
# preloaded, and the compiler's table says which of their accesses are atomic.
. "$(dirname "$0")/../lib.sh"

build() { # PROGRAM FLAGS [OUTPUT]
    # shellcheck disable=SC2086
    "$deadheat" cc --dh-mode=field -D_GNU_SOURCE -pthread $2 "$programs/$1.c" -o "${3:-$1}" >log 2>&1 ||
        { bad "build-$1" "$(tail -3 log | tr '\n' '|')"; exit 1; }
}
self() { echo "$1.c:$(line "$1" FIRST):*:$1.c:$(line "$1" FIRST):*"; } # the pair of one line with itself, in every column
sure="--rmax=100% --delay=900ms" short="--rmax=100% --delay=50ms --stats"
pair="meet.c:$(line meet FIRST):write:meet.c:$(line meet SECOND):read"

# ---- Asleep ----
for p in meet clean signals stacks fork cancel atomic; do
    build $p -O2
    clang-19 -O2 -D_GNU_SOURCE -pthread "$programs/$p.c" -o plain
    ./plain >wanted 2>&1
    status=$?
    ./$p >out 2>&1
    same "asleep-$p" "$?:$(cat out)" "$status:$(cat wanted)"
done
nm -D meet >symbols
lacks exported symbols ' W '
lacks exported-own symbols ' T '
nm -D "$(dirname "$deadheat")/../lib/deadheat/libdeadheat-field.so" >symbols # follows nobody's synchronisation
lacks preloaded-is-small symbols pthread_mutex_lock
DEADHEAT_FIELD=0 ./meet </dev/null >out
same no-socket "$?:$(cat out)" 3:OK
# A program's own functions of these names stay its own.
cat >own.c <<'END'
#include <stdio.h>
int ppoll(int x) { return x + 1; }
int main(void) { return printf("%d\n", ppoll(6)) != 2; }
END
"$deadheat" cc --dh-mode=field -w own.c -o own && ./own >out
same own-function "$?:$(cat out)" 0:7

# ---- Awake ----
# A command without the library to preload still finds the one in the program.
mkdir -p alone/bin && cp "$deadheat" alone/bin/
# shellcheck disable=SC2086
alone/bin/deadheat chase $sure --pair "$pair" -- ./meet >out 2>err
same linked "$?:$(cat out)" 66:OK
clang-19 -g -O2 -D_GNU_SOURCE -pthread "$programs/meet.c" -o plain
# shellcheck disable=SC2086
alone/bin/deadheat chase $sure --pair "$pair" -- ./plain >out 2>err
same not-linked "$?" 2
has not-linked-words err "libdeadheat-field.so' is missing"
# shellcheck disable=SC2086
LD_PRELOAD=$(dirname "$deadheat")/../lib/deadheat/libdeadheat-field.so "$deadheat" chase $sure --pair "$pair" -- ./meet >out 2>err
same loaded-twice "$?:$(cat out)" 66:OK
KEPT=1 LD_PRELOAD=libc.so.6 ./clean >wanted
KEPT=1 LD_PRELOAD=libc.so.6 "$deadheat" chase --pair "$(self clean)" -- ./clean >out 2>err
same unseen "$?:$(cat out)" "5:$(cat wanted)"
for p in signals stacks fork cancel; do
    # shellcheck disable=SC2086
    chase $short --pair "$(self $p)" -- ./$p
    same "awake-$p" "$(cat out)" OK
done
cp meet raised
if chown nobody raised 2>/dev/null && chmod u+s raised && chmod a+rx "$work" && [ "$(id -u)" = 0 ]; then
    # shellcheck disable=SC2086
    chase $sure --pair "$pair" -- ./raised
    same more-rights "$status:$(cat out)" 3:OK
    has more-rights-words err "the program has not loaded deadheat's library" "set-user-ID"
else
    skip more-rights "only the superuser can give a program away"
fi

# ---- Atomic accesses ----
for level in -O0 -O2; do
    build atomic $level
    for what in global member through builtin; do
        mark=$(echo $what | tr a-z A-Z)
        store=atomic.c:$(line atomic $mark-STORE):write load=atomic.c:$(line atomic $mark-LOAD):read
        for both in "$load:$store" "$store:$load"; do
            # shellcheck disable=SC2086
            chase $short --pair "$both" -- ./atomic $what
            same "atomic-$what$level-${both##*:}" "$status:$(cat out)" 3:OK
            lacks "atomic-$what$level-${both##*:}-race" err "data race"
        done
        # Only the second order is certain to meet, unless the other thread gets no processor for so long.
        for _ in 1 2 3 4 5; do
            grep -q " 0 harmless meetings" err || break
            # shellcheck disable=SC2086
            chase $sure --stats --pair "$both" -- ./atomic $what
        done
        lacks "atomic-$what$level-met" err " 0 harmless meetings"
    done
    build meet $level
    rm -f races.jsonl
    # shellcheck disable=SC2086
    chase $sure --output=races.jsonl --pair "$pair" -- ./meet global
    same "plain$level" "$status:$(cat out)" 66:OK
    lacks "plain$level-known" races.jsonl '"atomics"'
done
# The same if only one of the two is named.
build atomic -O2
# shellcheck disable=SC2086
chase $short --any="atomic.c:$(line atomic BUILTIN-STORE):write" -- ./atomic builtin
if grep -q 'refuses hardware watchpoints' err; then
    skip any "no hardware watchpoints here"
else
    same any "$status:$(cat out)" 3:OK
    lacks any-race err "data race"
    rm -f races.jsonl
    # shellcheck disable=SC2086
    chase $sure --output=races.jsonl --any="meet.c:$(line meet FIRST):write" -- ./meet global
    same any-plain "$status:$(cat out)" 66:OK
    lacks any-plain-known races.jsonl '"atomics"'
fi
# What the compiler makes of them: a load and a store in one instruction, copies by inlining, a loop.
cat >shapes.c <<'END'
static int value, other;
static inline int get(int *p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); } // READ
int main(int argc, char **argv)
{
    (void)argv;
    __atomic_store_n(&value, __atomic_load_n(&value, __ATOMIC_RELAXED) + 1, __ATOMIC_RELEASE); // MERGED
    __atomic_fetch_nand(&value, argc, __ATOMIC_SEQ_CST); // LOOP
    other += argc; // PLAIN
    return get(&value) + get(&other);
}
END
"$deadheat" cc --dh-mode=field -O2 shapes.c -o shapes
for mark in READ MERGED LOOP PLAIN; do
    number=$(grep -n "// $mark\$" shapes.c | cut -d: -f1)
    chase --list --pair "shapes.c:$number:*:shapes.c:$(grep -n '// PLAIN$' shapes.c | cut -d: -f1):*" -- ./shapes
    cp out list-$mark
done
same shape-read "$(sed -n '/^second/q; / at /p' list-READ | grep -c 'atomic read of 4')" 2
has shape-merged list-MERGED "atomic read and write of 4 bytes"
has shape-loop list-LOOP "atomic read and write of 4 bytes"
lacks shape-plain list-PLAIN atomic
exit $failed
