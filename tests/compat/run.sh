#!/bin/sh
# run.sh DEADHEAT BUILDDIR - other tools' interfaces, and other compilers' instrumentation, on our runtime.
#
# The programs here and some of tests/programs, compiled by each frontend, are judged by the runner of
# tests/programs. COMPAT_ALL=1 in the environment takes all of tests/programs, which lasts minutes; otherwise an eighth,
# chosen by name, another one for each frontend. exceptions.txt names those that differ.
set -u
deadheat=$(readlink -f "$1")
here=$(cd "$(dirname "$0")" && pwd)
runner=$(readlink -f "$2")/tests/programs/program-runner
programs=$here/../programs
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0

check() { # NAME WANTED GOT
    if [ "$2" = "$3" ]; then
        echo "ok compat/$1"
    else
        echo "FAIL compat/$1: $3"
        failed=1
    fi
}

# ---- Programs, each with every frontend ----

judge() { # FRONTEND FILE...
    frontend=$1
    shift
    case $frontend in
    own) unset PROGRAM_FRONTEND ;;
    *) export PROGRAM_FRONTEND="$frontend" ;;
    esac
    # gcc warns of attributes of clang and of orders that it corrects, which are meant to be.
    [ "$frontend" = gcc ] && export PROGRAM_FLAGS=-w
    "$runner" "${BUILD:?}" "$@" | sed "s,^\([a-zA-Z]*\) programs/,\1 compat/$frontend/," | tee judged
    grep -q '^FAIL' judged && failed=1
    unset PROGRAM_FRONTEND PROGRAM_FLAGS
}

differs() { # FRONTEND NAME
    while read -r frontend pattern _; do
        # shellcheck disable=SC2254 # it is a pattern
        case $frontend/$2 in
        "$1"/$pattern) return 0 ;;
        esac
    done <"$here/exceptions.txt"
    return 1
}

slice() { # FRONTEND NUMBER: the programs of tests/programs that are its to run
    for f in "$programs"/*.c "$programs"/*.cpp; do
        name=$(basename "$f")
        [ "$name" = runner.c ] && continue
        differs "$1" "${name%.*}" && continue
        if [ -n "${COMPAT_ALL-}" ] || [ $(($(echo "$name" | cksum | cut -d' ' -f1) % 8)) -eq "$2" ]; then
            echo "$f"
        fi
    done
}

# Lists, meant to be split.
own=$(find "$here" -name '*.c' -o -name '*.cpp' | grep -v '/mixed' | sort)
# shellcheck disable=SC2086
judge own $own
# shellcheck disable=SC2046,SC2086
judge clang $own $(slice clang 1)
# gcc 12 has no <sanitizer/tsan_interface_atomic.h>.
# shellcheck disable=SC2046
judge gcc $(echo "$own" | grep -v atomic-interface) $(slice gcc 5)

# ---- A lock's own memory, with a detector of the laboratory and in a recording ----

PROGRAM_OPTIONS=detector=basicvc "$runner" "${BUILD:?}" "$here/lock-own-memory.c" |
    sed 's,^\([a-zA-Z]*\) programs/,\1 compat/lab/,' | tee judged
grep -q '^FAIL' judged && failed=1
"$deadheat" cc -g -O1 -pthread "$here/lock-own-memory.c" -o own-memory >log 2>&1 &&
    within 40 "$deadheat" record --quiet -o own-memory.dht -- ./own-memory >log 2>&1
within 40 "$deadheat" analyze own-memory.dht >log 2>&1
check recorded/lock-own-memory 0 $?

# ---- Stacks ----

for frontend in own gcc clang; do
    flag=
    [ $frontend != own ] && flag=--dh-frontend=$frontend
    for level in -O0 -O2; do
        "$deadheat" c++ $flag -g $level -pthread "$here/stacks.cc" -o stacks >log 2>&1 &&
            within 40 "$deadheat" run --source=0 -- ./stacks >log 2>&1
        got=$(awk '/^ *Location: global/ { gsub(/`/, "", $3); print $3 ":" a; print $3 ":" b }
            /(rite|ead) of .* by thread / { a = b; b = ""; on = 1 } /^$/ { on = 0 } on && /^ *#/ { b = b " " $2 }' log |
            sed 's/ main$//' | sort -u | tr '\n' ',')
        check "stacks/$frontend$level" "after_catch: access_it catch_it thread_body,after_handler: access_it land_from_handler thread_body,after_jump: access_it land thread_body,variable: access_it access_it access_it thread_body," "$got"
    done
done

# ---- What the program brings for ThreadSanitizer ----

"$deadheat" cc -g -O1 -pthread "$here/defaults.c" -o defaults >log 2>&1
within 40 ./defaults >log 2>&1
check defaults/status 7 $?
check defaults/suppressed "told" "$(sed -n 's/.*data race on global .\([a-z]*\).*/\1/p' log | tr '\n' ' ' | sed 's/ $//')"
DEADHEAT_OPTIONS=exitcode=9 within 40 ./defaults >log 2>&1
check defaults/options-win 9 $?
"$deadheat" cc -g -O1 -pthread "$here/sanitizer.c" -o prog >log 2>&1
DEADHEAT_OPTIONS=report=0 within 40 ./prog print >log 2>&1
check sanitizer/stack 1 "$(grep -c '^    #0 .*/prog+0x[0-9a-f]*$' log)"

# ---- Fortran ----

"$deadheat" cc --dh-frontend=gfortran -g -O1 -pthread "$here/fortran.f90" -o fortran >log 2>&1 &&
    within 40 "$deadheat" run -- ./fortran >out 2>log
check fortran/status 66 $?
check fortran/output "done" "$(cat out)"
line=$(sed -n '/! RACE/=' "$here/fortran.f90")
check fortran/place "spoil body" "$(sed -n "s/.*#0 __work_MOD_\([a-z]*\) .*fortran.f90:$line:.*/\1/p; s/.*#1 \(body\) .*/\1/p" log |
    sort -ru | tr '\n' ' ' | sed 's/ $//')"
check fortran/no-other 0 "$(grep -c 'MOD_counted\|MOD_field' log)"

# ---- Objects of several compilers in one program; of plain ones too ----

{
    "$deadheat" cc -g -c -DBY=by_own "$here/mixed-part.c" -o own.o &&
        gcc -fsanitize=thread -g -c -DBY=by_gcc "$here/mixed-part.c" -o gcc.o &&
        clang-19 -fsanitize=thread -g -c -DBY=by_clang "$here/mixed-part.c" -o clang.o &&
        "$deadheat" cc --dh-frontend=gcc -g -shared -fPIC -DBY=by_library "$here/mixed-part.c" -o library.so &&
        "$deadheat" cc -g -rdynamic "$here/mixed.c" own.o gcc.o clang.o -o mixed -ldl -pthread
} >log 2>&1
check mixed/build 0 $?
within 40 "$deadheat" run --all --source=0 -- ./mixed ./library.so >log 2>&1
check mixed/status 66 $?
check mixed/accesses "by_clang by_gcc by_library by_own" "$(sed -n 's/^ *#0 \(by_[a-z]*\) .*/\1/p' log | sort -u | tr '\n' ' ' | sed 's/ $//')"
check mixed/no-other 0 "$(grep 'data race on' log | grep -vc shared_by_all)"
check mixed/no-libtsan "" "$(ldd mixed library.so | grep -o 'libtsan[^ ]*')"

# ---- The driver ----

macros() { # FLAG...: which macros of the kind are defined
    echo | "$deadheat" cc "$@" -E -dM -x c - | sed -n 's/^#define \(__SANITIZE_THREAD__\|__DEADHEAT__\) .*/\1/p' | sort | tr '\n' ' '
}
check macros/own "__DEADHEAT__ __SANITIZE_THREAD__ " "$(macros)"
check macros/undefined "__DEADHEAT__ " "$(macros -U__SANITIZE_THREAD__)"
check macros/plain "__DEADHEAT__ " "$(macros --dh-plain)"
check macros/gcc "__DEADHEAT__ __SANITIZE_THREAD__ " "$(macros --dh-frontend=gcc)"
check macros/field "" "$(macros --dh-mode=field)"
echo '#if !__has_feature(thread_sanitizer)
#error
#endif' >feature.c
check macros/clang 0 "$("$deadheat" cc --dh-frontend=clang -c feature.c >log 2>&1 && echo $?)"

refused() { # NAME WORDS FLAG...
    name=$1 words=$2
    shift 2
    "$deadheat" cc "$@" -c "$here/mixed-part.c" -DBY=by -o refused.o >log 2>&1
    check "driver/$name" "2 1 1" "$? $(wc -l <log) $(grep -c -- "$words" log)"
}
refused unknown "there is no frontend 'tcc'" --dh-frontend=tcc
refused missing "cannot find 'gcc-0'" --dh-frontend=gcc-0
refused field "cannot be combined" --dh-frontend=gcc --dh-mode=field
refused own-tsan "dh-frontend=clang" -fsanitize=thread
refused address "cannot be combined" --dh-frontend=gcc -fsanitize=thread,address

for frontend in gcc clang; do
    # Given by the build system as well: it must not bring the other runtime.
    "$deadheat" cc --dh-frontend=$frontend -fsanitize=thread,undefined -g "$here/acquire-release.c" -o twice -pthread >log 2>&1
    check "driver/$frontend-twice" "0 0" "$(grep -c . log) $(ldd twice | grep -c libtsan)"
    "$deadheat" cc --dh-frontend=$frontend --dh-plain -c "$here/mixed-part.c" -DBY=by -o plain.o
    check "driver/$frontend-plain" 0 "$(nm plain.o | grep -c tsan)"
    "$deadheat" cc --dh-frontend=$frontend -O2 -flto -c "$here/acquire-release.c" -o lto.o >log 2>&1 &&
        "$deadheat" cc --dh-frontend=$frontend -O2 -flto lto.o -o lto -pthread >log 2>&1
    within 40 "$deadheat" run --report=0 -- ./lto >log 2>&1
    check "driver/$frontend-lto" 66 $?
    within 40 ./lto >log 2>&1 # by itself: it finds its reporter
    check "driver/$frontend-reporter" yes "$(grep -q 'WARNING: deadheat: data race on' log && echo yes)"
done
exit $failed
