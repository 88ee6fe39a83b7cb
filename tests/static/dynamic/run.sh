#!/bin/sh
# run.sh DEADHEAT OBJECTS [NAME...] - no race is missed: what `deadheat run` finds, `deadheat static` has among its pairs.
#
# Every program of tests/programs and bench/programs (there called bench-NAME) is analysed statically, and each race that
# the default detector finds in it is looked up, as a pair of source lines, in the set `sound`. Which these are, the program
# says: programs/NAME and bench-programs fail unless exactly the races marked are found. Misses of `relay` are not
# failures, but each must be listed in EXPECTED with its reason; one that is listed and no longer missed is a failure too.
#
# Analysed is the binary: the same bitcode as -O1 has it. A program with a line `// STATIC: why` is analysed as source instead,
# because its binary cannot tell.
#
# PART="2 4" in the environment does every fourth program, from the second on (tests/run does them side by side).
# FIGURES=FILE also writes a table: program, races found, pairs of lines in relay and in sound.
set -u
here=$(cd "$(dirname "$0")" && pwd)
deadheat=$(readlink -f "${DEADHEAT:-$1}")
runner=$2/tests/programs/program-runner
lines=$2/tests/static/static-lines
shift 2
tests=$(cd "$here/../../programs" && pwd)
bench=$(cd "$here/../../../bench/programs" && pwd)
include=$(cd "$here/../../../include" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset DEADHEAT_OPTIONS
export LC_ALL=C # one order for sort, comm and static-lines
. "$here/../lib.sh"
failed=0

# What the source asks for, as tests/programs/runner.c reads it.
words() { # KEY FILE
    sed -n "s,^// $1: *,,p" "$2" | tr '\n' ' '
}

find_pairs() { # SOURCE; handlers of <deadheat/race.h> are called, as under deadheat
    flags="-DDH_RACE=1 $(words FLAGS "$1" | tr ' ' '\n' | grep -v '^--dh-')"
    set -- "$1"
    for part in $(words PART "$1") $(words PLAIN "$1"); do
        set -- "$@" "$programs/parts/$part"
    done
    files=
    # shellcheck disable=SC2086
    [ $of = source ] && files="-pthread -I$programs -I$tests -I$include $(echo $flags) $*" && set --
    for f; do
        bc=$work/$(basename "$f").bc
        # shellcheck disable=SC2086
        "$clang" -g -O1 -pthread -w -I"$programs" -I"$tests" -I"$include" $flags -emit-llvm -c "$f" -o "$bc" \
            >"$work/err" 2>&1 || return 1
        files="$files $bc"
    done
    # shellcheck disable=SC2086
    if [ $of = source ]; then
        for style in relay sound; do
            within 60 "$deadheat" static --style=$style --format=json $files >"$work/$style.json" 2>"$work/err" || return 1
        done
    else
        both_styles "" $files || return 1
    fi
    for style in relay sound; do
        "$lines" pairs "$programs" "$work/$style.json" >"$work/$style" || return 1
    done
}

all() {
    (cd "$tests" && ls ./*.c ./*.cpp)
    (cd "$bench" && printf 'bench-%s\n' *.c)
}
# shellcheck disable=SC2046 # names are words
[ $# -gt 0 ] || set -- $(all | awk -v part="${PART:-1 1}" '{ split(part, p) } (NR - p[1]) % p[2] == 0')
for name; do
    name=$(basename "$(basename "$name" .c)" .cpp)
    programs=$tests f=$tests/$name.c clang=clang-19
    [ -e "$tests/$name.cpp" ] && f=$tests/$name.cpp clang=clang++-19
    [ "${name#bench-}" != "$name" ] && programs=$bench f=$bench/${name#bench-}.c
    [ "$name" = runner ] && continue
    if grep -q '^// LIB:' "$f"; then
        echo "skip static/dynamic/$name: parts of it are loaded while it runs"
        continue
    fi
    if grep -q 'deadheat/lard.h' "$f"; then
        echo "skip static/dynamic/$name: it tells the detector about threads and memory of its own"
        continue
    fi
    of=binary
    grep -q '^// STATIC:' "$f" && of=source
    if ! "$runner" --marks "${BUILD:?}" "$f" >"$work/races" 2>"$work/err" || ! find_pairs "$f"; then
        echo "FAIL static/dynamic/$name: $(head -3 "$work/err" | tr '\n' '|')" && failed=1
        continue
    fi
    comm -23 "$work/races" "$work/sound" >"$work/missed"
    comm -23 "$work/races" "$work/relay" >"$work/missed-by-relay"
    sed -n "s,^$name	\([^	]*\)	.*,\1,p" "$here/EXPECTED" | sort >"$work/expected"
    if [ -s "$work/missed" ]; then
        echo "FAIL static/dynamic/$name: sound lacks $(tr '\n' ';' <"$work/missed")" && failed=1
    elif ! cmp -s "$work/missed-by-relay" "$work/expected"; then
        echo "FAIL static/dynamic/$name: relay lacks '$(tr '\n' ';' <"$work/missed-by-relay")', EXPECTED says otherwise" &&
            failed=1
    else
        echo "ok static/dynamic/$name"
    fi
    [ -n "${FIGURES:-}" ] &&
        printf '%s\t%s\t%s\t%s\n' "$name" "$(wc -l <"$work/races")" "$(wc -l <"$work/relay")" "$(wc -l <"$work/sound")" >>"$FIGURES"
done
exit $failed
