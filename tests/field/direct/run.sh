#!/bin/sh
# run.sh DEADHEAT OBJ - programs with system calls of their own, which may set signals unseen, so that a breakpoint would kill them.
. "$(dirname "$0")/../lib.sh"

# chase_direct NAME STATUS: what the program prints is as always.
chase_direct() {
    name=$1 wanted=$2
    shift 2
    chase --stats --rmax=100% --delay=1ms --pair "$(self direct)" -- "$@"
    same "$name" "$status:$(cat out)" "$wanted:OK"
}
why() { # FILE CALL
    echo "given up: '$work/$1' makes $2 directly, not through libc, at 0x"
}

for compiler in gcc clang-19; do
    build $compiler "-O2 -DACTION" direct
    chase_direct action-$compiler 2 ./direct
    has action-words-$compiler err "$(why direct 'the system call rt_sigaction')" "in 0 samples"
    build $compiler "-O2 -DMASK" direct
    chase_direct mask-$compiler 2 ./direct
    has mask-words-$compiler err "$(why direct 'the system call rt_sigprocmask')" "in 0 samples"
    build $compiler "-O2 -DNUMBER" direct
    chase_direct number-$compiler 2 ./direct
    has number-words-$compiler err "$(why direct 'system calls')" "in 0 samples"

    # Neither other calls nor bytes that are part of other instructions.
    build $compiler -O2 direct
    chase_direct harmless-$compiler 0 ./direct
    lacks harmless-words-$compiler err "given up"
    lacks harmless-traps-$compiler err " 0 traps"
    build $compiler "-O2 -DLIBC" direct
    chase_direct libc-$compiler 0 ./direct
    lacks libc-traps-$compiler err " 0 traps"
    build $compiler "-O2 -DLOADED" direct
    build $compiler "-O2 -DPLUGIN -fPIC -shared" direct loaded.so
    strip loaded.so
    chase_direct library-$compiler 0 ./direct ./loaded.so
    lacks library-words-$compiler err "given up"

    # A library that comes later, and has symbols or none.
    build $compiler "-O2 -DPLUGIN -DACTION -fPIC -shared" direct loaded.so
    chase_direct loaded-$compiler 2 ./direct ./loaded.so
    has loaded-words-$compiler err "$(why loaded.so 'the system call rt_sigaction')"
    lacks loaded-samples-$compiler err "in 0 samples"
    strip loaded.so
    chase_direct stripped-$compiler 2 ./direct ./loaded.so
    has stripped-words-$compiler err "$(why loaded.so 'the system call rt_sigaction')"
done

# One that is there from the beginning; and once is enough.
build gcc "-O2 -DPLUGIN -DMASK -fPIC -shared" direct loaded.so
build gcc "-O2 -DLOADED" direct
LD_PRELOAD=$work/loaded.so "$deadheat" chase --trials=3 --pair "$(self direct)" -- ./direct >out 2>err
same preloaded "$?:$(cat out)" 2:OK
same preloaded-words "$(grep -c "$(why loaded.so 'the system call rt_sigprocmask')" err)" 1

# A function in which every jump leads backwards, to the next; and bytes of system calls in data. Neither takes long to look at.
{
    echo '.section .note.GNU-stack,"",@progbits'
    echo '.text; .globl hostile; .type hostile, @function; hostile: mov $1, %eax; jmp .L30000; .L0: syscall; ret'
    seq 30000 | awk '{ print ".L" $1 ": jmp .L" $1 - 1 }'
    echo '.size hostile, . - hostile; .fill 300000, 3, 0x06050f'
} >hostile.s
gcc -shared hostile.s -o hostile.so || bad hostile "build"
build gcc -O2 direct
LD_PRELOAD=$work/hostile.so timeout 60 "$deadheat" chase --pair "$(self direct)" -- ./direct >out 2>err
same hostile "$?:$(cat out)" 2:OK
has hostile-words err "$(why hostile.so 'system calls')"

# Field builds: deadheat's own system calls do not count, and with many pairs nothing is tried again.
"$deadheat" cc --dh-mode=field -g -O2 -D_GNU_SOURCE -pthread "$programs/meet.c" -o meet || bad field "build"
chase --rmax=100% --delay=200ms --pair "meet.c:$(line meet FIRST):write:meet.c:$(line meet SECOND):read" -- ./meet global
lacks field err "given up"
"$deadheat" cc --dh-mode=field -g -O2 -D_GNU_SOURCE -pthread -DLIBC "$programs/direct.c" -o direct || bad field "build"
chase_direct field-libc 0 ./direct
lacks field-libc-traps err " 0 traps"
"$deadheat" cc --dh-mode=field -g -O2 -D_GNU_SOURCE -pthread -DACTION "$programs/direct.c" -o direct || bad field "build"
for what in --infer "--pair=$(self direct)"; do
    chase --trials=4 --rmax=100% --delay=1ms "$what" -- ./direct
    same "field-${what%%=*}" "$status:$(cat out)" 2:OK
    has "field-words-${what%%=*}" err "$(why direct 'the system call rt_sigaction')"
done
exit $failed
