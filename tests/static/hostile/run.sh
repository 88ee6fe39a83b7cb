#!/bin/sh
# run.sh DEADHEAT OBJECTS [NAME...] - programs that hide who calls what, and where pointers go.
#
# Marks at the ends of lines: two lines with `// RACE a` are a pair of both styles (one line alone: with itself), with
# `// RACE a:sound` of sound only; a line with `// NO RACE` is in no pair of relay at -O2, with `// NO RACE at all` in none of
# either style at either level. Lines without a mark may be in pairs: here it counts what must not be missed; unless there
# is a line `// NOTHING ELSE`: then relay has no other pairs at -O2. Each program is analysed as -O0 and -O2 leave it, and run;
# what `deadheat run` finds must be in sound. `// NOT AT -O0` leaves one out, `// ASSUMED name` asks for a count.
set -u
here=$(cd "$(dirname "$0")" && pwd)
deadheat=$(readlink -f "${DEADHEAT:-$1}")
lines=$2/tests/static/static-lines
shift 2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset DEADHEAT_OPTIONS
export LC_ALL=C
. "$here/../lib.sh"
cd "$here" || exit 1
[ $# -gt 0 ] || set -- *.c *.cpp
failed=0

# The pairs that the marks ask for, as static-lines prints them: relay's, or all.
wanted() { # SOURCE relay|sound
    awk -v f="$1" -v style="$2" '
        match($0, /\/\/ RACE .*/) {
            n = split(substr($0, RSTART + 8, RLENGTH - 8), mark, " ")
            for (i = 1; i <= n; i++) {
                only_sound = sub(/:sound$/, "", mark[i])
                if (!(mark[i] in first)) first[mark[i]] = NR
                last[mark[i]] = NR
                if (only_sound) hidden[mark[i]] = 1
            }
        }
        END {
            for (m in first)
                if (style == "sound" || !(m in hidden)) {
                    a = f ":" first[m]; b = f ":" last[m]
                    print a < b ? a " " b : b " " a
                }
        }' "$1" | sort
}

analyse() { # SOURCE: $work/relay and $work/sound
    "$clang" -g "$level" -pthread -w -emit-llvm -c "$1" -o "$work/a.bc" >"$work/err" 2>&1 || return 1
    both_styles "" "$work/a.bc" || return 1
    for style in relay sound; do
        "$lines" pairs "$here" "$work/$style.json" >"$work/$style" || return 1
    done
}

# What is wrong with the pairs, in one line; nothing if nothing is.
complaints() { # SOURCE
    for style in relay sound; do
        wanted "$1" $style | comm -23 - "$work/$style" | sed "s,^,$style at $level lacks ,"
    done
    [ "$level" = -O0 ] || grep -n '// NO RACE' "$1" | cut -d: -f1 | while read -r n; do
        grep "$1:$n\( \|\$\)" "$work/relay" | sed "s,^,relay at $level has ,"
    done
    grep -n '// NO RACE at all$' "$1" | cut -d: -f1 | while read -r n; do
        grep "$1:$n\( \|\$\)" "$work/relay" "$work/sound" | sed "s,^$work/,,; s,^,at $level ,"
    done
    if [ "$level" = -O2 ] && grep -q '^// NOTHING ELSE$' "$1"; then
        wanted "$1" relay | comm -13 - "$work/relay" | sed "s,^,relay at $level also has ,"
    fi
    sed -n 's,^// ASSUMED ,,p' "$1" | while read -r name; do
        python3 -c "
import json, sys
if not [a for a in json.load(open('$work/sound.json'))['assumptions'] if a['name'] == '$name' and a['count'] > 0]:
    print('$name is not counted at $level')"
    done
    comm -23 "$work/races" "$work/sound" | sed "s,^,sound at $level lacks what was seen: ,"
}

for f; do
    name=static/hostile/${f%.*}
    cc=cc clang=clang-19
    [ "${f%.cpp}" != "$f" ] && cc=c++ clang=clang++-19
    if ! "$deadheat" $cc -g -O1 -pthread -w "$f" -o "$work/prog" >"$work/err" 2>&1; then
        echo "FAIL $name: $(head -2 "$work/err" | tr '\n' '|')" && failed=1 && continue
    fi
    rm -f "$work/races.jsonl"
    (cd "$work" && within 60 "$deadheat" run --output="$work/races.jsonl" -- ./prog >out 2>&1 </dev/null)
    "$deadheat" report "$work/races.jsonl" --all --format=json >"$work/races.json" 2>"$work/err"
    "$lines" races "$here" "$work/races.json" >"$work/races"
    : >"$work/why"
    for level in -O0 -O2; do
        grep -q "^// NOT AT $level" "$f" && continue
        if analyse "$f"; then
            complaints "$f" >>"$work/why"
        else
            echo "cannot be analysed at $level: $(head -1 "$work/err")" >>"$work/why"
        fi
    done
    if [ -s "$work/why" ]; then
        echo "FAIL $name: $(tr '\n' ';' <"$work/why")" && failed=1
    else
        echo "ok $name"
    fi
done
exit $failed
