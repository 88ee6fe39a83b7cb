#!/bin/sh
# The interface for run-time systems beyond what tests/programs/lard-*.c says: the same programs under detectors of
# the laboratory and in recordings, the views of a recording, and the header without deadheat.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
programs=$root/tests/programs
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
unset DEADHEAT_OPTIONS

ok() { echo "ok lard/$1"; }
fail() { echo "FAIL lard/$1: $2"; }

# A detector of the laboratory finds what the fast engine finds. The other detectors, and a hundred thousand threads,
# are in tests/lard/detectors.
set --
for p in "$programs"/lard-*.c; do
    case $p in */lard-many-threads.c) ;; *) set -- "$@" "$p" ;; esac
done
PROGRAM_OPTIONS="detector=fasttrack-ref detector=basicvc detector=djit" \
    "$BUILD/obj/tests/programs/program-runner" "$BUILD" "$@" |
    sed 's,^\([a-zA-Z]*\) programs/\([^/]*\)/detector=\([a-z-]*\),\1 lard/\3/\2,'

# So does an analysis of a recording, with and without what the run-time system does in it.
for name in access untracked unordered unordered-across unordered-create clear copy move identity clocks lock \
    acquire-release stack pool pool-before; do
    p=$programs/lard-$name.c
    "$DEADHEAT" cc -g -O1 -pthread -I"$programs" "$p" -o "$work/prog" >"$work/log" 2>&1 ||
        { fail "record/$name" "compiling: $(head -3 "$work/log" | tr '\n' '|')"; continue; }
    want=$(sed -n 's/.*\/\/ RACE \(.*\)/\1/p' "$p" | sed 's/:[a-z]*//g' | tr ' ' '\n' | sort -u | grep -c .)
    for kept in 0 1; do
        DEADHEAT_OPTIONS=lard_system=$kept "$DEADHEAT" record -o "$work/t.dht" -- "$work/prog" >"$work/log" 2>&1
        "$DEADHEAT" analyze --detector=fasttrack,djit --limit=0 "$work/t.dht" >"$work/out" 2>"$work/err"
        got=$(sed -n 's/^\(fasttrack\|djit\) (precise): \([0-9]*\).*/\2/p' "$work/out" | sort -u | tr '\n' ' ')
        [ "$want" != 0 ] || [ -s "$work/err" ] || got="$(grep -c ': no races$' "$work/out" | sed 's/2/0/')"
        if [ "${got% }" = "$want" ]; then
            ok "record/$name/$kept"
        else
            fail "record/$name/$kept" "$got racy variables, expected $want: $(head -2 "$work/err")"
        fi
    done
done

# One execution, seven views.
"$DEADHEAT" cc -g -O1 -pthread -I"$programs" "$here/views.c" -o "$work/views" >"$work/log" 2>&1 ||
    fail views "compiling: $(head -3 "$work/log" | tr '\n' '|')"
DEADHEAT_OPTIONS=lard_system=1 "$DEADHEAT" record -o "$work/v.dht" -- "$work/views" >"$work/log" 2>&1
view() {
    name=$1
    want=$2
    for detector in fasttrack djit; do
        got=$("$DEADHEAT" analyze --detector=$detector --view="$name" --limit=0 --all "$work/v.dht" 2>/dev/null |
            sed -n 's/^WARNING: .* `\([a-z_.]*\)` (pid .*/\1/p' | sort | tr '\n' ' ')
        if [ "${got% }" = "$want" ]; then
            ok "view/$name/$detector"
        else
            fail "view/$name/$detector" "races on '$got', expected '$want'"
        fi
    done
}
view lard "race to.more"
view allmem "race system_counter to.more two"
view allsync "to.more"
view noclear "race recycled.field to.more"
view nocopy "race"
view noidentity "of_one of_two race to.more"
view naive "of_one of_two recycled.field system_counter"

# Which of the accesses that the run-time system told raced: the same in every view.
for name in lard noclear; do
    got=$("$DEADHEAT" analyze --view=$name --format=json "$work/v.dht" 2>/dev/null |
        grep -o '"language_access":[0-9]*' | cut -d: -f2 | sort -n | uniq | tr '\n' ' ')
    case $name:$got in
    lard:"6 9 " | noclear:"5 6 9 ") ok "language-access/$name" ;;
    *) fail "language-access/$name" "$got" ;;
    esac
done
"$DEADHEAT" analyze --view=nothing "$work/v.dht" >"$work/out" 2>&1
if [ $? -eq 2 ] && grep -q "must be one of lard, allmem" "$work/out"; then ok view/unknown; else fail view/unknown "accepted"; fi

# Without deadheat the header is nothing: no warning, no symbol, and the code of a function without the calls.
for compiler in "gcc -std=c11" "gcc -std=c99" "g++ -x c++ -std=c++11" "clang-19 -std=c17" "clang++-19 -x c++ -std=c++20"; do
    label=$(echo "$compiler" | tr ' ' '_')
    if ! $compiler -Wall -Wextra -Wpedantic -Werror -O1 -I"$root/include" -c "$here/plain.c" -o "$work/plain.o" \
        >"$work/log" 2>&1; then
        fail "header/$label" "$(head -3 "$work/log" | tr '\n' '|')"
    elif nm "$work/plain.o" | grep -q 'dh_\|deadheat'; then
        fail "header/$label" "$(nm "$work/plain.o" | grep 'dh_' | head -3 | tr '\n' '|')"
    else
        ok "header/$label"
    fi
done
"$DEADHEAT" cc -O1 -c "$here/plain.c" -o "$work/with.o" && nm "$work/with.o" | grep -q 'U dh_lard_move' &&
    ok header/deadheat || fail header/deadheat "deadheat cc does not call"
"$DEADHEAT" cc -DDH_LARD=0 -O1 -c "$here/plain.c" -o "$work/without.o" && ! nm "$work/without.o" | grep -q 'dh_lard' &&
    ok header/none || fail header/none "DH_LARD=0 calls all the same"
