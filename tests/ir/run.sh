#!/bin/sh
# The rules of the pass, one small input each: run.sh PLUGIN BUILDDIR
#
# An input says in its comments what must be inserted into which function:
#   RUN: flags            for the compiler (C and C++ inputs; -O1 when absent)
#   EXPECT f: read4=1     calls of __dh_read4 in f; what is not named must not be there at all, except
#                         enter, exit, reenter and what the tests of a group share, which are only compared
#                         when named. In a group an access is a test, far4, and behind it a check, rare_read4.
#                         A check that is not inlined is rare_read4; where no rare_... is named, it does not
#                         matter which of them are
#   MATCH f: regex        some line of f matches; NOMATCH f: regex: none does
#   MATCH *: regex        some line of the whole module
#   PRUNE: yes            the file is a whole program, and what races with nothing gets no check
#   PLUGIN: yes           look at what the compiler makes of it with the plugin, inlined, instead
# The calls are counted before they are inlined. Each input is also compiled all the way to an object, and in
# the inlined code no fast path may be left and every alloca of constant size must be in the first block,
# where it has a fixed place in the frame.
set -u
plugin=$1
frontend=-fplugin=$(dirname "$1")/deadheat-attributes.so # as `deadheat cc` gives it
work=$2/tests-ir
here=$(cd "$(dirname "$0")" && pwd)
clang=${DEADHEAT_CLANG:-clang-19}
opt=${DEADHEAT_OPT:-opt-19}
mkdir -p "$work"
status=0

say_fail() {
    echo "FAIL ir/$1: $2"
    status=1
}

# The lines of one function (or of all, for *) of an .ll file.
body_of() {
    if [ "$1" = '*' ]; then
        cat "$2"
    else
        awk -v name="$1" '
            /^define/ { on = index($0, "@" name "(") || index($0, "@\"" name "\"(") }
            on { print }
            /^}/ { on = 0 }' "$2"
    fi
}

# Calls of the runtime in one function, as "name=count" in order of name.
counts_of() {
    body_of "$1" "$2" | grep -o 'call [^@]*@__dh_[a-z0-9_]*(' | sed 's/.*@__dh_//; s/($//' | sort | uniq -c |
        awk '{ print $2 "=" $1 }'
}

check_expect() { # function, expected words, .ll file; prints what is wrong
    if [ -z "$(body_of "$1" "$3" | head -1)" ]; then
        echo "no function $1"
        return
    fi
    counts_of "$1" "$3" > "$work/counts.all"
    case $2 in
    *rare_*) cp "$work/counts.all" "$work/counts" ;;
    *) awk -F= '{ sub(/^rare_/, ""); n[$1] += $2 } END { for (name in n) print name "=" n[name] }' "$work/counts.all" > "$work/counts" ;;
    esac
    for want in $2; do
        name=${want%%=*}
        got=$(sed -n "s/^$name=//p" "$work/counts")
        [ "${got:-0}" = "${want##*=}" ] || echo "$1: $name is ${got:-0}, not ${want##*=}"
    done
    while IFS='=' read -r name got; do
        case " $2" in *" $name="*) continue ;; esac
        case $name in enter | rare_enter | exit | reenter | flip_read | flip_write | bases | farthest | span) continue ;; esac
        echo "$1: unexpected $name=$got"
    done < "$work/counts"
}

check_comments() { # source, .ll file; prints what is wrong
    sed -n 's/^[/;]* *\(EXPECT\|NOMATCH\|MATCH\) \([^ :]*\): *\(.*\)$/\1|\2|\3/p' "$1" > "$work/comments"
    while IFS='|' read -r what fn rest; do
        case $what in
        EXPECT) check_expect "$fn" "$rest" "$2" ;;
        MATCH) body_of "$fn" "$2" | grep -Eq -- "$rest" || echo "$fn: nothing matches $rest" ;;
        NOMATCH) body_of "$fn" "$2" | grep -Eq -- "$rest" && echo "$fn: something matches $rest" ;;
        esac
    done < "$work/comments"
}

run_case() {
    source=$1
    name=$(basename "$source")
    base=$work/$name
    flags=$(sed -n 's/^.*RUN: *//p' "$source" | head -1)
    flags=${flags:--O1}
    case $source in
    *.ll) cp "$source" "$base.in.ll" ;;
    *.cpp) mode=--driver-mode=g++ ;;
    *) mode=--driver-mode=gcc ;;
    esac
    include=-I$here/../../include
    case $source in
    *.ll)
        "$clang" -O0 "-fpass-plugin=$plugin" -c -o "$base.o" -x ir "$source" > "$base.log" 2>&1 ||
            { say_fail "$name" "compiling: $(head -1 "$base.log")"; return; }
        ;;
    *)
        # shellcheck disable=SC2086 # flags is a list
        "$clang" $mode $include $flags "$frontend" -S -emit-llvm -o "$base.in.ll" "$source" > "$base.log" 2>&1 &&
            "$clang" $mode $include $flags "$frontend" "-fpass-plugin=$plugin" -c -o "$base.o" "$source" > "$base.log" 2>&1 ||
            { say_fail "$name" "compiling: $(head -1 "$base.log")"; return; }
        ;;
    esac
    [ ! -s "$base.log" ] || { say_fail "$name" "noise: $(head -1 "$base.log")"; return; }
    prune=
    grep -q 'PRUNE: yes' "$source" && prune=internalize,deadheat-prune,
    DEADHEAT_PRUNE=quiet "$opt" "-load-pass-plugin=$plugin" -internalize-public-api-list=main "-passes=${prune}deadheat-raw,verify" -S -o "$base.raw.ll" "$base.in.ll" \
        > "$base.log" 2>&1 || { say_fail "$name" "opt: $(head -1 "$base.log")"; return; }
    DEADHEAT_PRUNE=quiet "$opt" "-load-pass-plugin=$plugin" -internalize-public-api-list=main "-passes=${prune}deadheat,verify" -S -o "$base.ll" "$base.in.ll" \
        > "$base.log" 2>&1 || { say_fail "$name" "opt: $(head -1 "$base.log")"; return; }
    if grep -Eq '@__dh_((read|write|far)(1|2|4|8|16|_n)|enter|exit|reenter|vptr_write|flip_read|bases|farthest|span)\(' "$base.ll"; then
        say_fail "$name" "a fast path was not inlined"
        return
    fi
    late=$(awk '/^define/ { label = 0 } /^[-a-zA-Z0-9._]+:/ { label = 1 } label && / = alloca [^%]*$/' "$base.ll")
    if [ -n "$late" ]; then
        say_fail "$name" "an alloca after the first block: $late"
        return
    fi
    looked_at=$base.raw.ll
    if grep -q 'PLUGIN: yes' "$source"; then
        looked_at=$base.plugin.ll
        # shellcheck disable=SC2086
        "$clang" $mode $include $flags "$frontend" "-fpass-plugin=$plugin" -S -emit-llvm -o "$looked_at" "$source"
    fi
    wrong=$(check_comments "$source" "$looked_at" | head -3 | tr '\n' ';')
    if [ -n "$wrong" ]; then
        say_fail "$name" "$wrong"
    else
        echo "ok ir/$name"
    fi
}

for source in "$here"/*.c "$here"/*.cpp "$here"/*.ll; do
    run_case "$source"
done
. "$here/codegen.sh"
exit $status
