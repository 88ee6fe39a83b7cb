#!/bin/sh
# run.sh DEADHEAT OBJECTS [NAME...] - the shapes that code with one lock an element, or one element a thread, is written in.
#
# Each program is right as it stands, and `sound` must have no pair of its source. It names its mistakes:
#   // WRONG 2: the index changes under the lock
# Compiled with -DWRONG=2 (shapes.h) it races, and a line marked `// HERE` must be in a pair: no proof is wrong.
set -u
here=$(cd "$(dirname "$0")" && pwd)
deadheat=$(readlink -f "${DEADHEAT:-$1}")
lines=$2/tests/static/static-lines
shift 2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset DEADHEAT_OPTIONS
export LC_ALL=C
cd "$here" || exit 1
[ $# -gt 0 ] || set -- *.c
failed=0

fail() { # NAME WHY
    echo "FAIL $1: $2" && failed=1
}

places() { # SOURCE.c WRONG: the lines that are in pairs
    within 60 "$deadheat" static --style=sound --format=json -w -DWRONG="$2" "$1" >"$work/json" 2>"$work/err" || return 1
    "$lines" pairs "$here" "$work/json" | tr ' ' '\n' | sort -u >"$work/places"
}

for f; do
    f=${f%.c}.c
    name=static/shapes/${f%.c}
    grep -n '// HERE$' "$f" | sed "s/^\([0-9]*\):.*/$f:\1/" | sort >"$work/here"
    if ! places "$f" 0; then
        fail "$name" "$(head -2 "$work/err" | tr '\n' '|')"
    elif [ -s "$work/places" ]; then
        fail "$name" "in a pair: $(tr '\n' ' ' <"$work/places")"
    else
        echo "ok $name"
    fi
    mistakes=$(sed -n 's,^// WRONG \([1-6]\):.*,\1,p' "$f")
    [ -n "$mistakes" ] || fail "$name" "no mistake is named"
    for wrong in $mistakes; do
        if ! places "$f" "$wrong"; then
            fail "$name-$wrong" "$(head -2 "$work/err" | tr '\n' '|')"
        elif [ "$(comm -12 "$work/here" "$work/places" | wc -l)" -eq 0 ]; then
            fail "$name-$wrong" "no pair: $(sed -n "s,^// WRONG $wrong: ,,p" "$f")"
        else
            echo "ok $name-$wrong"
        fi
    done
done
exit $failed
