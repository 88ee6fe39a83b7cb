#!/bin/sh
# run.sh DEADHEAT OBJECTS [NAME...] - the static analysis on small programs, one idea each.
#
# Each is compiled to bitcode and analysed in both styles; static-judge compares the pairs with the marks in
# the source (judge.c says how they are written). `// FLAGS ...` in a source replaces the flags of the compiler.
# Last, the judge itself: it must complain of marks that are not true.
set -u
here=$(cd "$(dirname "$0")" && pwd)
deadheat=$(readlink -f "${DEADHEAT:-$1}")
judge=$2/tests/static/static-judge
shift 2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset DEADHEAT_OPTIONS
. "$here/lib.sh"
cd "$here" || exit 1
[ $# -gt 0 ] || set -- *.c
failed=0

analyse() { # SOURCE.c: relay.json and sound.json, or a sentence in $why
    flags=$(sed -n 's,^// FLAGS ,,p' "$1")
    # shellcheck disable=SC2086 # flags are several words
    clang-19 -Wall -Wextra -Wno-unused-parameter ${flags:--O1} -g -emit-llvm -c "$1" -o "$work/a.bc" >"$work/err" 2>&1 ||
        { why="compiling: $(head -3 "$work/err" | tr '\n' '|')" && return 1; }
    both_styles --no-assume=all "$work/a.bc" ||
        { why="exit status $?: $(head -3 "$work/err" | tr '\n' '|')" && return 1; }
}

for f; do
    f=${f%.c}.c
    case $f in judge.c | lines.c) continue ;; esac
    name=static/${f%.c}
    if analyse "$f"; then
        "$judge" "$name" "$f" "$work/relay.json" "$work/sound.json" 2>"$work/err" || failed=1
        [ -s "$work/err" ] && echo "FAIL $name: $(head -1 "$work/err")"
    else
        echo "FAIL $name: $why" && failed=1
    fi
done

# A program with one pair: the judge must see a pair too few, one too many, and wrong flags.
printf '#include <pthread.h>\nint x;\nstatic void *f(void *a)\n{\n    x = 1; %s\n    return a;\n}\n%s' '// PAIR a' \
    'int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, f, 0);
    x = 2; // PAIR a
    return pthread_join(t, 0);
}
' >"$work/one.c"
if analyse "$work/one.c"; then
    for wrong in 's, // PAIR a$,,' 's,x = 2; // PAIR a,x = 2; // NO PAIR,' 's,x = 2; // PAIR a,&:sound,' \
        's,x = 2; // PAIR a,&:ad-hoc,' 's,return pthread_join.*,& // PAIR b,' 's,^int x;,&\n// ASSUMED inline-asm 5,' \
        's,^int x;,// NO THREADS\n&,'; do
        sed "$wrong" "$work/one.c" >"$work/wrong.c"
        if "$judge" wrong "$work/wrong.c" "$work/relay.json" "$work/sound.json" >"$work/said" 2>&1; then
            echo "FAIL static/judge: it believes: $wrong" && failed=1
        fi
    done
    "$judge" static/judge "$work/one.c" "$work/relay.json" "$work/sound.json" || failed=1
else
    echo "FAIL static/judge: $why" && failed=1
fi
exit $failed
