#!/bin/sh
# Every detector of detectors.def on every program of tests/programs/lard-*.c, in the running program where it can be
# and on recordings of it. What each must say follows from its guarantee: precise detectors what the source says, no
# more and no less; the others what is written here, and why.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
programs=$root/tests/programs
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
unset DEADHEAT_OPTIONS

ok() { echo "ok lard/detectors/$1"; }
fail() { echo "FAIL lard/detectors/$1: $2"; }

# ---- In the running program ----

# judge DETECTOR GUARANTEE PROGRAM LINE - what the runner said of a program.
judge() {
    case $2:$1:$3:$4 in
    *:"ok "*) ok "$1/$3" ;;
    *"compiling"* | *"signal"*) fail "$1/$3" "${4#*: }" ;;
    # It looks at nothing.
    none:*) case $4 in *unexpected*) fail "$1/$3" "${4#*: }" ;; *) ok "$1/$3" ;; esac ;;
    # Locks are all it knows of order, and the first thread's writes count as initialisation.
    unsound:eraser:lard-access:* | unsound:eraser:lard-acquire-release:* | unsound:eraser:lard-clocks:* | \
        unsound:eraser:lard-fibers:* | unsound:eraser:lard-identity:* | unsound:eraser:lard-lock-again:* | \
        unsound:eraser:lard-move:* | \
        unsound:eraser:lard-unordered-across:* | unsound:eraser:lard-many-threads:* | \
        unsound:eraser:lard-untracked-over:*) ok "$1/$3" ;;
    # The same states hide the race, but it invents nothing.
    unsound:multirace:lard-access:* | unsound:multirace:lard-lock-again:* | unsound:multirace:lard-unordered-across:*)
        case $4 in *unexpected*) fail "$1/$3" "${4#*: }" ;; *) ok "$1/$3" ;; esac ;;
    # `outside` is written before any lock is taken: in another schedule that races, and these say so.
    hybrid:*:lard-unordered-across:* | predictive-sound:wcp:lard-unordered-across:*)
        case $4 in
        *missing*) fail "$1/$3" "${4#*: }" ;;
        *unexpected*unexpected*) fail "$1/$3" "${4#*: }" ;;
        *unexpected*:45:write*:14:write*) ok "$1/$3" ;;
        *) fail "$1/$3" "${4#*: }" ;;
        esac ;;
    *) fail "$1/$3" "${4#*: }" ;;
    esac
}

"$DEADHEAT" detectors --format=json | python3 -c 'import json, sys
for d in json.load(sys.stdin)["detectors"]:
    print(d["name"], d["guarantee"], "whole" if d["whole_trace"] else "part")' >"$work/list" || exit 2
sed -n 's/^DH_DETECTOR(\(.*\))$/\1/p' "$root/src/detect/detectors.def" >"$work/names"
while read -r name; do
    line=$(grep "^$name " "$work/list") || { fail "$name" "not listed"; continue; }
    guarantee=$(echo "$line" | awk '{print $2}')
    echo "$name $guarantee" >>"$work/guarantees"
    case $line in *" whole") continue ;; esac # it cannot run in the program
    online=$name
    case $name in
    fasttrack) online=fasttrack-ref ;;
    esac
    all_online="${all_online:-} detector=$online"
    case $name in basicvc | djit | fasttrack) ;; *) most_online="${most_online:-} detector=$online" ;; esac # the rest: tests/lard
    echo "$online $guarantee" >>"$work/online"
done <"$work/names"
for p in "$programs"/lard-*.c; do
    case $p in */lard-many-threads.c) options=${all_online# } ;; *) options=${most_online# } ;; esac
    PROGRAM_OPTIONS=$options "$BUILD/obj/tests/programs/program-runner" "$BUILD" "$p"
done >"$work/said" 2>&1
while read -r said; do
    place=${said#*programs/} && place=${place%%:*} # PROGRAM/detector=NAME
    name=${place#*/detector=}
    judge "$name" "$(awk -v name="$name" '$1 == name { print $2 }' "$work/online")" "${place%%/*}" "$said"
done <"$work/said"

# ---- On recordings ----

# What cp, syncp and osr find, where it is not all: they report what a reordering shows in which every read sees what it saw, and
# memory is used after it was made.
#   acquire-release: what is released to one object stays in order
#   clear: the second thread has used memory that the first cleared, so the writes before that came before
#   unordered: it has read the atomics that the first thread wrote
predictable() {
    case $1 in
    lard-acquire-release) echo 0 ;;
    lard-clear) echo 1 ;;
    lard-unordered) echo 0 ;;
    *) echo "$2" ;;
    esac
}

# fits DETECTOR GUARANTEE PROGRAM WANTED GOT - racy variables.
fits() {
    case $2:$1 in
    precise:* | predictive-sound:shb) [ "$5" = "$4" ] ;;
    none:*) [ "$5" = 0 ] ;;
    unsound:multirace) [ "$5" -le "$4" ] ;;
    unsound:*) [ "$4" != 0 ] || [ "$5" = 0 ] ;;
    *:cp | *:syncp | *:osr)
        low=$(predictable "$3" "$4")
        [ "$1" != cp ] || [ "$3" != lard-gc ] || low=0 # by schedule: its order is stronger
        [ "$5" -ge "$low" ] && [ "$5" -le "$(($4 + $(more "$3")))" ] ;;
    *) [ "$5" = "$(($4 + $(more "$3")))" ] ;;
    esac
}

# Races of other schedules only.
more() { case $1 in lard-unordered-across) echo 1 ;; *) echo 0 ;; esac; }

all=$(paste -sd, "$work/names")
for p in "$programs"/lard-*.c; do
    program=$(basename "$p" .c)
    # shellcheck disable=SC2046
    "$DEADHEAT" cc -g -O1 -pthread -I"$programs" "$p" $(sed -n 's,^// FLAGS: ,,p' "$p") -o "$work/prog" >"$work/log" 2>&1 ||
        { fail "record/$program" "compiling: $(head -3 "$work/log" | tr '\n' '|')"; continue; }
    want=$(sed -n 's/.*\/\/ RACE \(.*\)/\1/p' "$p" | sed 's/:[a-z]*//g' | tr ' ' '\n' | sort -u | grep -c .)
    within 60 "$DEADHEAT" record -o "$work/t.dht" -- "$work/prog" >"$work/log" 2>&1
    within 120 "$DEADHEAT" analyze --detector="$all" --limit=0 "$work/t.dht" >"$work/out" 2>"$work/err"
    while read -r name guarantee; do
        got=$(sed -n "s/^$name ([a-z-]*): \([0-9no]*\).*/\1/p" "$work/out" | sed 's/no/0/')
        if [ -n "$got" ] && fits "$name" "$guarantee" "$program" "$want" "$got"; then
            ok "record/$program/$name"
        else
            fail "record/$program/$name" "'$got' racy variables, the source says $want: $(head -2 "$work/err" | tr '\n' '|')"
        fi
    done <"$work/guarantees"
done
