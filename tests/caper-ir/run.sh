#!/bin/sh
# run.sh DEADHEAT OBJECTS - what a Caper build inserts (src/ir/caper), before it is inlined.
#
# A line `CASE f rule: publish=1` in an input says which calls of __dh_esc_... are in function f; ask=1 is a question. `CASE
# f rule:` says that there are none. If the rule is left out (DEADHEAT_CAPER_WITHOUT), there must be other calls; for the
# rule `-` that is not tried. The last cases build programs with the driver.
set -u
deadheat=$(readlink -f "${DEADHEAT:-$1}")
here=$(cd "$(dirname "$0")" && pwd)
plugin=$(dirname "$deadheat")/../lib/deadheat/deadheat-pass.so
clang=${DEADHEAT_CLANG:-clang-19}
opt=${DEADHEAT_OPT:-opt-19}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
unset DEADHEAT_CAPER_WITHOUT DEADHEAT_CAPER_RUN
failed=0

result() { # NAME WHY; no reason: it passed
    if [ -z "$2" ]; then
        echo "ok caper-ir/$1"
    else
        echo "FAIL caper-ir/$1: $2"
        failed=1
    fi
}

# The calls of one function, as "name=count name=count", in order of name.
calls_of() { # FUNCTION FILE
    awk -v name="@$1(" '/^define/ { on = index($0, name) } on { print } /^}/ { on = 0 }' "$2" |
        sed -n 's/.*\(call\|invoke\) [^@]*@__dh_esc_\([a-z_]*\)(.*/\2/p' | sort | uniq -c | awk '{ printf "%s%s=%s", (NR > 1 ? " " : ""), $2, $1 }'
}

instrument() { # INPUT RULE OUTPUT
    DEADHEAT_CAPER_WITHOUT=$2 "$opt" -load-pass-plugin="$plugin" -passes=deadheat-caper-raw,verify -S "$1" -o "$3" 2>err ||
        { echo "opt: $(head -1 err)"; return 1; }
}

for input in "$here"/*.c; do
    name=$(basename "$input")
    "$clang" -g -O2 -fno-vectorize -fno-slp-vectorize -fno-finite-loops -fno-discard-value-names -emit-llvm -c "$input" -o in.bc 2>err || { result "$name" "$(head -1 err)"; continue; }
    instrument in.bc '' all.ll || { result "$name" "$(head -1 err)"; continue; }
    sed -n 's/.*CASE \([a-z_0-9]*\) \([-a-z]*\): *\([a-z_=0-9 ]*\).*/\1 \2 \3/p' "$input" | sed 's/ *$//' >cases
    while read -r function rule expected; do
        why=
        found=$(calls_of "$function" all.ll)
        [ "$found" = "$expected" ] || why="'$found', not '$expected'"
        if [ -z "$why" ] && [ "$rule" != - ]; then
            instrument in.bc "$rule" without.ll >said || why=$(cat said)
            [ "$(calls_of "$function" without.ll)" != "$expected" ] || why="the same without the rule '$rule'"
        fi
        result "$name/$function" "$why"
    done <cases
done

# ---- whole programs ----

cat >prog.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
int shared;
static void *work(void *arg) { shared++; return arg; }
int main(void)
{
    pthread_t t;
    int *p = malloc(16);
    pthread_create(&t, NULL, work, p);
    shared++;
    pthread_join(t, NULL);
    free(p);
    puts("done");
}
END

builds() {
    "$deadheat" cc --dh-mode=caper -O2 -pthread prog.c -o prog 2>err || { head -1 err; return; }
    [ ! -s err ] || head -1 err
    [ "$(./prog)" = done ] || echo "it does not run"
    "$deadheat" static ./prog 2>&1 | grep -q 'global `shared`' || echo "no table of pairs"
    for section in dh_caper_questions dh_caper_groups dh_caper_head; do
        readelf -SW prog | grep -q "[ .]$section " || echo "no section $section"
    done
}
result builds "$(builds)"

# Objects are plain beside their bitcode, and a link in another mode takes the code.
objects() {
    "$deadheat" cc --dh-mode=caper -O2 -pthread -c prog.c -o prog.o 2>err || { head -1 err; return; }
    ! nm prog.o | grep -q __dh_ || echo "the object is instrumented"
    "$clang" -pthread prog.o -o plain 2>err || head -1 err
    [ "$(./plain)" = done ] || echo "it does not run without us"
}
result objects "$(objects)"

# Relaxed atomics order nothing, so here they race with each other; not in a field build, and not those that order.
cat >relaxed.c <<'END'
#include <pthread.h>
#include <stdatomic.h>
_Atomic int loose, strict;
static void *work(void *arg)
{
    atomic_store_explicit(&loose, 1, memory_order_relaxed);
    atomic_store(&strict, 1);
    return arg;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, work, NULL);
    int sum = atomic_load_explicit(&loose, memory_order_relaxed) + atomic_load(&strict);
    pthread_join(t, NULL);
    return sum > 2;
}
END
relaxed() { # MODE; the variables that pairs are on
    "$deadheat" cc --dh-mode="$1" -O2 -pthread relaxed.c -o relaxed 2>err || { head -1 err; return; }
    "$deadheat" static --style=sound ./relaxed 2>&1 | sed -n 's/^global `\([a-z]*\)`.*/\1/p' | tr '\n' ' '
}
found=$(relaxed caper)
result relaxed "$([ "$found" = "loose " ] || echo "pairs on '$found'")"
found=$(relaxed field)
result relaxed-in-field "$([ "$found" = "" ] || echo "pairs on '$found'")"

# Rules of the library: how many blocks escape with them, and without.
cat >library.c <<'END'
#include <stdint.h>
#include <stdlib.h>
struct node { struct node *next; long pad[5]; } *shared;
int main(void)
{
    struct node *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b));
    a->next = b;
    shared = (struct node *)(VALUE);
}
END
escapes() { # RULE VALUE
    DEADHEAT_CAPER_WITHOUT=$1 "$deadheat" cc --dh-mode=caper -O2 "-DVALUE=$2" library.c -o library 2>err || { head -1 err; return; }
    "$here/../field/escape/runfile.py" make run library "" && DEADHEAT_CAPER_RUN=run ./library
    "$here/../field/escape/runfile.py" show run | sed 's/.*escapes \([0-9]*\).*/\1/'
}
while read -r name rule with without value; do
    found="$(escapes '' "$value") $(escapes "$rule" "$value")"
    result "library-$rule-$name" "$([ "$found" = "$with $without" ] || echo "escapes: $found, not $with $without")"
done <<'END'
linked transitive 2 1 a
inside interior 1 0 &b->pad[3]
low tags 1 0 (uintptr_t)b | 5
high tags 1 0 (uintptr_t)b | 0xbeefull << 48
low interior 1 1 (uintptr_t)b | 5
inside tags 1 1 &b->pad[3]
END

# Questions at one place share a nop: each of them switches it on, and all are asked then.
cat >together.c <<'END'
#include <pthread.h>
int a, b;
static void *work(void *arg) { a++; b++; return arg; }
int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, work, NULL);
    a++;
    b++;
    pthread_join(t, NULL);
}
END
together() { # WANTED
    "$here/../field/escape/runfile.py" make run together "$1" && DEADHEAT_CAPER_RUN=run ./together 2>&1
    "$here/../field/escape/runfile.py" show run | sed 's/.*trouble/trouble/'
}
"$deadheat" cc --dh-mode=caper -O2 -pthread together.c -o together 2>err || head -1 err
for wanted in 1111 1010 0101; do
    found=$(together $wanted)
    result "together-$wanted" "$([ "$found" = "trouble 0 marks 1111" ] || echo "$found")"
done

no_rule() {
    DEADHEAT_CAPER_WITHOUT=nonsense "$deadheat" cc --dh-mode=caper -O2 -pthread prog.c -o prog 2>err && echo "it was linked"
    grep -q "there is no rule 'nonsense'" err || head -1 err
}
result no-such-rule "$(no_rule)"

not_with() { # ARGUMENT SENTENCE
    "$deadheat" cc --dh-mode=caper "$1" prog.c -o prog 2>err && echo "it was built"
    grep -q -- "$2" err || head -1 err
}
result not-with-prune "$(not_with --dh-prune 'cannot be combined: such a build has no checks')"
result not-with-frontend "$(not_with --dh-frontend=gcc 'cannot be combined: such a build needs our own pass')"

exit $failed
