#!/bin/sh
# run.sh DEADHEAT - stacks and names where the way led through code that is not ours, or through relative names.
set -u
here=$(cd "$(dirname "$0")" && pwd)
deadheat=${DEADHEAT:-$1}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

check() { # NAME WANTED GOT
    if [ "$2" = "$3" ]; then
        echo "ok cli/stacks/$1"
    else
        echo "FAIL cli/stacks/$1: $3"
        failed=1
    fi
}

cd "$work" || exit 1
mkdir sub
for level in -O0 -O2; do
    if ! { "$deadheat" cc -g $level -shared -fPIC "$here/touch.c" -o sub/libtouch.so &&
        "$deadheat" c++ -g $level -pthread "$here/created.cpp" -o created; } >log 2>&1; then
        echo "FAIL cli/stacks/build$level: $(head -1 log)"
        failed=1
        continue
    fi
    ./created sub/libtouch.so >log 2>&1
    got=$(awk '/was created by/ { on = 1 } /^$/ { on = 0 } on && / main / { n++ } END { print n }' log)
    check "created-through-libstdc++$level" "$(grep -c 'was created by' log)" "$got"
    check "relative-library$level" 'touch.c:6 touch.c:6' \
        "$(sed -n 's/.*#0 touch .*\(touch\.c:[0-9]*\).*/\1/p' log | tr '\n' ' ' | sed 's/ $//')"
    got=$(awk '/(rite|ead) of .* by thread / { on = 1; s = "" } /^$/ { if (on && s ~ /libstdc/) print s ~ /#[0-9]+ assign\(/; on = 0 }
        on { s = s $0 }' log | sort -u | tr '\n' ' ')
    check "access-through-libstdc++$level" '1 ' "$got"
    "$deadheat" cc -g $level -pthread "$here/called.c" -o called >log 2>&1 && ./called >log 2>&1
    check "called-by-runtime$level" 'initialise worker initialise worker handle worker handle worker' \
        "$(sed -n 's/^    #[0-9]* \([a-z_]*\) .*/\1/p' log | grep -v '^main$\|^spawn$' | tr '\n' ' ' | sed 's/ $//')"
done
exit $failed
