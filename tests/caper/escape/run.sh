#!/bin/sh
# run.sh DEADHEAT OBJECTS [NAME...] - ways in which a pointer reaches another thread: Caper notices each, and would not without its
# rule.
#
# Every program here is built once as it is, and once more without the rule of the instrumenter that its line `// RULE: name` names
# (src/ir/caper/rules.def). After a run of the first, all lines marked ESCAPED and none marked PRIVATE are among the sites that have
# escaped; after one of the second, one that is marked ESCAPED is missing (judge.py). Other lines, as in tests/programs:
#
#   // FLAGS: -O2     compiler flags after the standing `-g -O1 -pthread`
#   // PLAIN: x.c     plain/x.c, compiled by the plain compiler and linked in
#   // LIB: x.c       the same as a shared library
#
# PART="2 4" in the environment does every fourth program, from the second on (tests/run does them side by side).
set -u
here=$(cd "$(dirname "$0")" && pwd)
deadheat=$(readlink -f "${DEADHEAT:-$1}")
shift 2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset DEADHEAT_OPTIONS
failed=0
standing="-g -O1 -pthread -D_GNU_SOURCE -I$here/../../../include"

words() { # KEY FILE
    sed -n "s,^// $1: *,,p" "$2" | tr '\n' ' '
}

# The objects that were not compiled by us.
# shellcheck disable=SC2086 # options are several words
parts() { # SOURCE; sets parts
    parts=
    for part in $(words PLAIN "$1"); do
        clang-19 $standing -c "$here/plain/$part" -o "$work/plain-$part.o" || return
        parts="$parts $work/plain-$part.o"
    done
    for part in $(words LIB "$1"); do
        clang-19 $standing -fPIC -shared "$here/plain/$part" -o "$work/lib-$part.so" || return
        parts="$parts $work/lib-$part.so -Wl,-rpath,$work"
    done
}

# shellcheck disable=SC2046,SC2086 # options are several words
try() { # SOURCE NAME: the sites that have escaped, with the rule and without, in $work/NAME.tsv and $work/NAME.without.tsv
    compiler=cc rule=$(words RULE "$1")
    [ "${1%.cpp}" != "$1" ] && compiler=c++
    parts "$1" || return
    "$deadheat-$compiler" --dh-mode=caper $standing $(words FLAGS "$1") -c "$1" -o "$work/$2.o" || return
    for without in '' ${rule:+.without}; do
        DEADHEAT_CAPER_WITHOUT=${without:+${rule% }} \
            "$deadheat-$compiler" --dh-mode=caper -pthread "$work/$2.o" $parts -o "$work/$2$without" || return
        within 20 "$deadheat" caper --quiet --state="$work/$2$without.state" -- "$work/$2$without" || return
        "$deadheat" caper export --to=filter --state="$work/$2$without.state" >"$work/$2$without.tsv" || return
    done
}

# A rule is shown to be needed by a program that names it alone.
rules() {
    for rule in $(sed -n 's/^DH_CAPER_[A-Z_]*RULE([A-Z]*, "\([a-z]*\)").*/\1/p' "$here/../../../src/ir/caper/rules.def"); do
        grep -qxF "// RULE: $rule" "$here"/*.c "$here"/*.cpp || echo "$rule"
    done
}
case ${PART:-1} in 1*)
    if [ -z "$(rules)" ]; then echo "ok escape/rules"; else echo "FAIL escape/rules: no program is for: $(rules | tr '\n' ' ')" && failed=1; fi
    ;;
esac

# shellcheck disable=SC2046 # names are words
[ $# -gt 0 ] || set -- $(cd "$here" && printf '%s\n' *.c *.cpp | awk -v part="${PART:-1 1}" '{ split(part, p) } (NR - p[1]) % p[2] == 0')
for file; do
    file=$(basename "$file")
    name=${file%.*}
    if try "$here/$file" "$name" >"$work/log" 2>&1; then
        set -- "$@" "$here/$file"
    else
        echo "FAIL escape/$name: $(head -3 "$work/log" | tr '\n' '|')" && failed=1
    fi
    shift
done
python3 "$here/judge.py" "$work" "$@" || failed=1
exit $failed
