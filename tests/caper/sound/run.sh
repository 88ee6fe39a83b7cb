#!/bin/sh
# run.sh DEADHEAT OBJECTS [NAME...] - no race is missed: what `deadheat run` finds, `deadheat caper` has in dpPairs after the same run.
#
# Every racy program of tests/programs and bench/programs (there called bench-NAME) is built and run once as a Caper build. Each race that the
# default detector finds in it is looked up, as a pair of source lines, in dpPairs. Which these are, the program says:
# programs/NAME and bench-programs fail unless exactly the races marked are found; and the programs race in the same way in every run.
# What is not as it should be is listed in EXPECTED with its reason; a line there that is not needed is a failure too. Programs that
# call functions of the runtime, which a Caper build does not have, are left out.
#
# PART="2 4" in the environment does every fourth program, from the second on (tests/run does them side by side).
set -u
here=$(cd "$(dirname "$0")" && pwd)
DEADHEAT=$(readlink -f "${DEADHEAT:-$1}")
export DEADHEAT
OBJECTS=$(cd "$2" && pwd)
export OBJECTS
runner=$OBJECTS/tests/programs/program-runner
shift 2
tests=$(cd "$here/../../programs" && pwd)
bench=$(cd "$here/../../../bench/programs" && pwd)
unset DEADHEAT_OPTIONS

all() {
    ls "$tests"/*.c "$tests"/*.cpp | grep -v '/runner\.c$'
    ls "$bench"/*.c
}
chosen() { # NAME...
    for name; do
        case $name in
        */*) echo "$name" ;;
        bench-*) ls "$bench/${name#bench-}.c" ;;
        *) ls "$tests/$name".c* ;;
        esac
    done
}
# shellcheck disable=SC2046 # names are words
if [ $# -gt 0 ]; then
    set -- $(chosen "$@")
else
    set -- $(all | awk -v part="${PART:-1 1}" '{ split(part, p) } (NR - p[1]) % p[2] == 0')
fi
for file; do
    shift
    if grep -q 'dh_period_\|Annotate[A-Z]' "$file"; then
        name=$(basename "$file")
        echo "skip sound/${name%.*}: it calls the runtime"
    else
        set -- "$@" "$file"
    fi
done
PROGRAM_FLAGS=--dh-mode=caper "$runner" --with "$here/each.sh" "${BUILD:?}" "$@" 2>&1 |
    sed "s,^\([a-zA-Z]*\) programs/,\1 sound/,"
