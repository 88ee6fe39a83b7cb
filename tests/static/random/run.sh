#!/bin/sh
# run.sh DEADHEAT OBJECTS [SEED...] - random programs of locks by element and threads by element: no proof is wrong.
#
# generate.py makes a program of some parts, some of them with a mistake, and marks its lines. Each program is run under the
# default detector and analysed as source and as -O1 has it. In the set `sound`
#   - every race that was seen is a pair, of the source and of the binary;
#   - lines marked `// SAFE` are in no pair of the source, those marked `// MISTAKE` in one.
# Over all programs some races must have been seen. SEEDS=N in the environment tries so many.
set -u
here=$(cd "$(dirname "$0")" && pwd)
deadheat=$(readlink -f "${DEADHEAT:-$1}")
lines=$2/tests/static/static-lines
shift 2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset DEADHEAT_OPTIONS
export LC_ALL=C
cd "$work" || exit 1
# shellcheck disable=SC2046 # numbers
[ $# -gt 0 ] || set -- $(seq 1 "${SEEDS:-16}")
failed=0 seen=0

pairs() { # OF
    within 60 "$deadheat" static --of="$1" --style=sound --format=json -O1 -pthread random.c >pairs.json 2>err || return 1
    "$lines" pairs . pairs.json >"$1"
}

marked() { # MARK: places
    grep -n "// $1\$" random.c | sed 's/^\([0-9]*\):.*/random.c:\1/' | sort
}

complaints() {
    for of in source binary; do
        comm -23 races $of | sed "s,^,sound of the $of lacks what was seen: ,"
    done
    tr ' ' '\n' <source | sort -u >places
    marked SAFE | comm -12 - places | sed 's,^,safe and in a pair: ,'
    marked MISTAKE | comm -23 - places | sed 's,^,a mistake in no pair: ,'
}

# The complaints themselves: of a program with a race, if nothing were found; and if everything were.
printf 'int x; // SAFE\nint y; // MISTAKE\n' >random.c
marked MISTAKE | sed 's,.*,& &,' >races
: >source && : >binary
complaints >none
{ marked SAFE && marked MISTAKE; } | sed 's,.*,& &,' | sort >source && cp source binary
complaints >all
if grep -q 'lacks what was seen' none && grep -q 'a mistake in no pair' none && ! grep -q 'a mistake in no pair' all && grep -q 'safe and in' all; then
    echo "ok static/random/complains"
else
    echo "FAIL static/random/complains: $(cat none all | head -3 | tr '\n' ';')" && failed=1
fi

for seed; do
    name=static/random/$seed
    python3 "$here/generate.py" "$seed" >random.c
    if ! "$deadheat" cc -g -O1 -pthread -w random.c -o prog >err 2>&1 || ! pairs source || ! pairs binary; then
        echo "FAIL $name: $(head -2 err | tr '\n' '|')" && failed=1 && continue
    fi
    rm -f races.jsonl
    within 60 "$deadheat" run --output=races.jsonl -- ./prog >out 2>&1 </dev/null
    "$deadheat" report races.jsonl --all --format=json >races.json 2>err
    "$lines" races . races.json >races
    seen=$((seen + $(wc -l <races)))
    complaints >why
    if [ -s why ]; then
        echo "FAIL $name: $(tr '\n' ';' <why)" && failed=1
    else
        echo "ok $name"
    fi
done
if [ $seen -gt 0 ]; then
    echo "ok static/random/races-seen"
else
    echo "FAIL static/random/races-seen: none in any program" && failed=1
fi
exit $failed
