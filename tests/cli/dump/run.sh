#!/bin/sh
# run.sh DEADHEAT - dh_debug_dump, which is for debuggers: a program calls it for cells of every form.
. "$(dirname "$0")/../lib.sh"

cd "$work" || exit 1

part() { sed -n "/^\[$1\]\$/,/^\[/p" err >part.txt; } # fills part.txt with what was said of one address

for kind in plain checked; do
    flag=
    [ $kind = checked ] && flag=--dh-checked
    # shellcheck disable=SC2086 # one flag or none
    "$deadheat" cc -g -O1 -pthread $flag "$here/forms.c" -o forms || { bad $kind-compile "deadheat cc failed"; continue; }
    "$deadheat" run -- ./forms >out 2>err
    same $kind-status $? 0
    lacks $kind-valid err INVALID
    part nothing
    has $kind-nothing part.txt 'nothing was recorded' 'as T1 sees it: slot 0, clock '
    part one
    has $kind-one part.txt ': T1, slot 0, clock ' ', write of 8, context ' ' (depth 2, at 0x' ', locks 0x' ' bytes 0123, id '
    part two-readers
    has $kind-two-readers part.txt 'read 2 ' ': T3, slot 2, ' 'read 3 ' ': T4, slot 3, ' ', read of 8, ' ', happened before' ', not ordered'
    part by-slot
    has $kind-by-slot part.txt ', a place for each slot, atomic' ', atomic write of 8, ' ', not ordered'
    part split
    has $kind-split part.txt ': split, record ' ', use ' '    byte 0: bytes 0123, id ' '    byte 1: bytes 0123, id ' '    byte 2: nothing'
    part no-shadow
    has $kind-no-shadow part.txt '0x10 has no shadow'
done
exit $failed
