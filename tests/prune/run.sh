#!/bin/sh
# run.sh DEADHEAT OBJECTS - programs whose needless checks are left out when they are linked (--dh-prune).
#
# What may race must still be found, above all where a part of the program is not in the merged module: then the other
# part is built with `deadheat cc` as usual, so that a missing report is due to a check that is gone. tests/run also
# builds all of tests/programs so (pruned/...).
set -u
deadheat=$(readlink -f "${DEADHEAT:-$1}")
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
unset DEADHEAT_OPTIONS
opt=${DEADHEAT_OPT:-opt-19}
flags="-g -O1 -pthread -I$here -I$here/../programs"
failed=0

cc() { # ARGUMENTS...
    # shellcheck disable=SC2086 # flags are several words
    "$deadheat" cc $flags "$@" 2>err
}
pruned() { cc --dh-prune "$@"; }

# Whether a run of ./prog reports a race on this variable, or none for "-".
reports() { # VARIABLE
    within 60 "$deadheat" run -- ./prog >out 2>&1
    code=$?
    if [ "$1" = - ]; then
        [ $code = 0 ] || { echo "exit status $code: $(head -1 out)"; return 1; }
    else
        { [ $code = 66 ] && grep -q "data race on .*$1" out; } ||
            { echo "no race on $1, exit status $code: $(head -1 out)"; return 1; }
    fi
}

# The inlined slow calls of one kind in one function, in the code that ./prog was made of (-Wl,--save-temps).
checks() { # FUNCTION KIND; inlined, up to a slow call, or not
    "$opt" -S -o prog.ll prog.0.5.precodegen.bc &&
        awk -v name="@$1(" '/^define/ { on = index($0, name) } on { print } /^}/ { on = 0 }' prog.ll |
        grep -Ec "call .*@__dh_(slow|rare)_$2\\("
}

said() { grep -q -- "$1" err || { echo "said: $(head -2 err | tr '\n' '|')"; return 1; }; }

case_() { # NAME FUNCTION
    rm -f prog* err
    if why=$($2 2>&1); then
        echo "ok prune/$1"
    else
        echo "FAIL prune/$1: $(echo "$why" | head -3 | tr '\n' ' ') $(head -2 err 2>/dev/null | tr '\n' '|')"
        failed=1
    fi
}

# Two files that are one module: each counts on its own, one of them under a lock.
two_modules() {
    pruned -c "$here/first.c" -o first.o && pruned -c "$here/second.c" -o second.o && pruned first.o second.o -o prog &&
        said '^deadheat: prog: [1-9][0-9]* of [0-9]* checks omitted' && said '^deadheat: prog: assumptions: .*inline-asm (' &&
        reports raced_in_second && ! grep -q 'counted_in_second' out
}

# Objects are of use without the flag as well: nothing is left out then.
linked_without() {
    pruned -c "$here/first.c" -o first.o && pruned -c "$here/second.c" -o second.o && cc first.o second.o -o prog &&
        [ ! -s err ] && reports raced_in_second
}

quiet() {
    cc --dh-prune=quiet "$here/first.c" "$here/second.c" -o prog && [ ! -s err ] && reports raced_in_second
}

unoptimised() {
    pruned -O0 "$here/first.c" "$here/second.c" -o prog && said 'checks omitted' && reports raced_in_second
}

# A call of another file's function that cannot synchronise does not end a window; one that can does.
across_modules() {
    pruned -Wl,--save-temps "$here/calls.c" "$here/callees.c" -o prog &&
        { n=$(checks over_quiet read4) && [ "$n" = 1 ] || { echo "over_quiet: $n reads checked, not 1"; return 1; }; } &&
        { n=$(checks over_sync read4) && [ "$n" = 2 ] || { echo "over_sync: $n reads checked, not 2"; return 1; }; } &&
        reports shared
}

# The part that is not in the module knows a variable by name, was given a pointer, is returned one, calls a function
# by name on a thread of its own, or keeps a function in memory that it was given.
outside() { # WHICH VARIABLE
    cc -D"$1" -c "$here/outside.c" -o outside.o && pruned -D"$1" "$here/inside.c" outside.o -o prog && reports "$2"
}
by_name() { outside BY_NAME named; }
given() { outside GIVEN given; }
returned() { outside RETURNED returned; }
called() { outside CALLED called; }
kept() { outside KEPT kept; }
# ... and an archive, by the same means.
in_archive() {
    cc -DGIVEN -c "$here/outside.c" -o outside.o && rm -f liboutside.a && ar rc liboutside.a outside.o &&
        pruned -DGIVEN "$here/inside.c" -L. -loutside -o prog && reports given
}
# ... and one that a shared object has, which gets the checks of its ordinary code.
in_library() {
    pruned -DGIVEN -fPIC -shared "$here/outside.c" -o liboutside.so && pruned -DGIVEN "$here/inside.c" -L. -loutside \
        "-Wl,-rpath,$work" -o prog && reports given
}
# ... and one that is found while the program runs.
loaded() {
    cc -DGIVEN -fPIC -shared "$here/outside.c" -o libloaded.so &&
        pruned -DGIVEN -DLOADED="\"$work/libloaded.so\"" "$here/inside.c" -o prog && reports given
}

own_stacks() {
    pruned "$here/stacks.c" -o prog && said 'no check is left out: it makes threads or stacks of its own' && reports -
}

counts() {
    cc --dh-prune=quiet --dh-count-checks "$here/count.c" -o prog || return 1
    ./prog 2>out # whether the race shows in the order that it happens to run in is not asked
    grep -qx 'deadheat: accesses 1012 checked 10' out || { cat out; return 1; }
}

for name in two_modules linked_without quiet unoptimised across_modules by_name given returned called kept in_archive \
    in_library loaded own_stacks counts; do
    case_ $name $name
done
exit $failed
