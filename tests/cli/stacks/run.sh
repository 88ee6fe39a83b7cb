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

# What a function leaves to be done by a jump is not on the stack.
want='allocate_at_the_end main
called_back plain_call call_again plain_call call worker
called_back plain_call plain_call call worker
change worker
compare call worker
plain_copy copy worker
plain_copy plain_handle worker
plain_copy plain_initialise plain_once worker
plain_lock worker
plain_new plain_new plain_new plain_new allocate main
plain_spawn main'
for compiler in clang-19 gcc; do
    for flags in '-O0' '-O0 -fomit-frame-pointer' '-O2' '-O2 -fno-omit-frame-pointer'; do
        # shellcheck disable=SC2086
        if ! { $compiler -g $flags -c "$here/plain.c" -o plain.o &&
            "$deadheat" cc -g -O2 -pthread "$here/through.c" plain.o -o through; } >log 2>&1; then
            echo "FAIL cli/stacks/plain-object-$compiler$flags: $(head -1 log)"
            failed=1
            continue
        fi
        ./through >log 2>&1
        # libc's own, which calls back for qsort, has a name only where its debug symbols are installed.
        got=$(awk '/^    #/ { if ($2 !~ /^(plain_tail_new|msort_with_tmp.*|\?\?)$/) s = s (s == "" ? "" : " ") $2 }
            /^$/ { if (s != "") print s; s = "" }' log | LC_ALL=C sort -u)
        check "plain-object-$compiler$(echo "$flags" | tr -d ' ')" "$want" "$got"
    done
done
for what in NO_MEMORY NO_ADDRESS; do
    "$deadheat" cc -g -O1 -D$what "$here/handmade.c" -o handmade >log 2>&1 && ./handmade >log 2>&1
    check "outer-end-$what" back "$(cat log)"
done
exit $failed
