#!/bin/sh
# run.sh DEADHEAT OBJ - what a chased program passes on to those it starts, of the signals that a chase takes for itself.
. "$(dirname "$0")/../lib.sh"

at=inherit.c:$(line inherit FIRST)

# unchanged NAME ARGUMENTS: whether SIGTRAP is taken, too, or not, all is as without a chase.
unchanged() {
    name=$1
    shift
    $run "$@" >plain 2>&1
    plain=$?
    for what in "--pair=$at:$at" "--any=$at"; do
        chase --stats --rmax=100% --delay=1ms --exitcode=0 "$what" -- $run "$@"
        same "$name-$kind${what%%=*}" "$status:$(cat out)" "$plain:$(cat plain)"
        lacks "$name-$kind${what%%=*}-traps" err " 0 traps"
    done
}

build gcc -O2 inherit
kind=preloaded run=./inherit
for how in execve execv execvp execvpe fexecve execveat execl execlp execle; do
    unchanged $how $how it i
done
for settings in "it t" "i t" "t i" "- it" "- -"; do
    for how in fork spawn vfork fail execv; do
        # shellcheck disable=SC2086
        unchanged "$how-$(echo "$settings" | tr -d ' ')" $how $settings
    done
done

# The mask is one thread's; what is ignored concerns others.
for how in fork spawn vfork fail execl; do
    unchanged "$how-threads" $how it 2
done
unchanged fork-threads-ignored fork it it2

"$deadheat" cc --dh-mode=field -g -O2 -D_GNU_SOURCE -pthread "$programs/inherit.c" -o inherit-field || bad field "build"
kind=field run=./inherit-field
for how in execve execl execle execlp fork spawn vfork fail; do
    unchanged $how $how it i
done
exit $failed
