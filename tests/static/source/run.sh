#!/bin/sh
# run.sh DEADHEAT OBJECTS [NAME...] - of the source or of the binary: accesses that the optimiser removes.
#
# Marks at the ends of lines: two lines with `// RACE a` are a pair in both, two with `// REMOVED a` (also behind a RACE) are one
# in the source only. Each program is analysed at -O1 and -O2, as sources for either, and as a program that carries its table;
# the pairs of lines of `sound` must be exactly those. `// OPTIONS ...` are for the compiler, `// WITH ...` names further files.
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
[ $# -gt 0 ] || set -- *.c *.cpp
failed=0

marked() { # SOURCE MARK...: the pairs of lines, as static-lines prints them
    python3 - "$@" <<'PY'
import re
import sys

lines = {}
for number, text in enumerate(open(sys.argv[1], encoding="utf-8"), 1):
    for mark, letters in re.findall(r"(RACE|REMOVED)((?: [a-z]\b)+)", text.partition("//")[2]):
        for letter in letters.split() if mark in sys.argv[2:] else []:
            lines.setdefault(letter, []).append("%s:%d" % (sys.argv[1], number))
print("\n".join(sorted(" ".join(sorted(pair)) for pair in lines.values())))
PY
}

pairs() { # ARGUMENTS: what was found
    within 60 "$deadheat" static --style=sound --format=json "$@" >"$work/pairs.json" 2>"$work/err" ||
        { head -2 "$work/err" && return; }
    "$lines" pairs . "$work/pairs.json"
}

check() { # WHAT WANTED FOUND
    [ "$2" = "$3" ] || why="$why$1: '$3', not '$2'; "
}

for f; do
    name=static/source/${f%.*} why=
    cc=cc
    [ "${f%.cpp}" != "$f" ] && cc=c++
    options=$(sed -n 's,^// OPTIONS ,,p' "$f") with=$(sed -n 's,^// WITH ,,p' "$f")
    source=$(marked "$f" RACE REMOVED) binary=$(marked "$f" RACE)
    [ "$source" = "$binary" ] && why="nothing is marked as removed; "
    for level in -O1 -O2; do
        # shellcheck disable=SC2086 # several words
        {
            check "source $level" "$source" "$(pairs $level $options "$f" $with)"
            check "binary $level" "$binary" "$(pairs --of=binary $level $options "$f" $with)"
            "$deadheat" $cc --dh-mode=field -w -pthread $level $options "$f" $with -o "$work/prog" 2>"$work/err" ||
                why="$why$(head -1 "$work/err"); "
        }
        check "program $level" "$binary" "$(pairs "$work/prog")"
    done
    if [ -n "$why" ]; then
        echo "FAIL $name: $(echo "$why" | tr '\n' ' ')" && failed=1
    else
        echo "ok $name"
    fi
done
exit $failed
