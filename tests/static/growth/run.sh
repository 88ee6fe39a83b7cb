#!/bin/sh
# run.sh DEADHEAT - the work of the static analysis grows with the program, not with its square.
#
# Programs of N and 4N objects, each with its lock and functions that use it, and eight threads that call them all.
# The counters of the analysis, which are the same on every machine, may grow by little more than the factor four.
# Both sizes are below the one from which the analysis is coarser; a third, with more pairs than are named one by
# one, must become bundles and still hold every pair.
set -u
deadheat=$(readlink -f "${DEADHEAT:-$1}")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

program() { # N: N objects, each in a structure with its lock
    awk -v n="$1" 'BEGIN {
        print "#include <pthread.h>\n#include <stdlib.h>"
        for (i = 0; i < n; i++) {
            printf "struct s%d { pthread_mutex_t m; long a; int *p; } *g%d; int x%d;\n", i, i, i
            printf "__attribute__((noinline)) void locked%d(void) { pthread_mutex_lock(&g%d->m); g%d->a++; pthread_mutex_unlock(&g%d->m); }\n", i, i, i, i
            printf "__attribute__((noinline)) void open%d(void) { *g%d->p += 1; x%d++; }\n", i, i, i
        }
        for (t = 0; t < 8; t++) {
            printf "void *thread%d(void *a) {\n", t
            for (i = 0; i < n; i++) printf "locked%d(); open%d();\n", i, i
            print "return a; }"
        }
        print "int main(void) { pthread_t t[8];"
        for (i = 0; i < n; i++) printf "g%d = malloc(sizeof *g%d); pthread_mutex_init(&g%d->m, 0); g%d->p = &x%d;\n", i, i, i, i, i
        for (t = 0; t < 8; t++) printf "pthread_create(&t[%d], 0, thread%d, 0);\n", t, t
        for (t = 0; t < 8; t++) printf "pthread_join(t[%d], 0);\n", t
        print "return 0; }"
    }'
}

crowd() { # N: N places that write one variable
    awk -v n="$1" 'BEGIN {
        print "#include <pthread.h>\nint x;\nvoid *thread(void *a) {"
        for (i = 0; i < n; i++) printf "__atomic_signal_fence(5); x = %d;\n", i
        print "return a; }\nint main(void) { pthread_t t[2];"
        print "pthread_create(&t[0], 0, thread, 0); pthread_create(&t[1], 0, thread, 0); return 0; }"
    }'
}

analyse() { # NAME: NAME.json from NAME.c
    clang-19 -O1 -g -w -emit-llvm -c "$work/$1.c" -o "$work/$1.bc" &&
        within 100 "$deadheat" static --style=sound --format=json --limit=1 "$work/$1.bc" >"$work/$1.json"
}

check() { # NAME PYTHON: small, large and many are what was printed
    if why=$(python3 -c "import json
small, large, many = (json.load(open('$work/%s.json' % n)) for n in ('small', 'large', 'many'))
$2" 2>&1); then
        echo "ok static/$1"
    else
        echo "FAIL static/$1: $(echo "$why" | tail -1)" && failed=1
    fi
}

program 15 >"$work/small.c"
program 60 >"$work/large.c"
crowd 1000 >"$work/many.c"
for name in small large many; do
    analyse $name || { echo "FAIL static/growth: $name cannot be analysed" && exit 1; }
done
check growth "
for name in ('operations', 'instance operations', 'objects', 'points-to nodes', 'points-to constraints', 'points-to members',
             'classes', 'class uses', 'compared classes', 'compared contexts'):
    a, b = small['counters'][name], large['counters'][name]
    assert 0 < b <= 5 * a, '%s: %d and %d' % (name, a, b)
assert large['pairs'] <= 5 * small['pairs'] and small['pairs'] > 0"
check bundles "
assert many['bundles'] < 100, many['bundles']
assert many['pairs'] == 1000 * 1001 // 2, many['pairs']"
# A bundle may stand for thousands of places: --limit is for them, too.
check limit "
sides = [a for f in many['findings'] for a in f['accesses']]
assert max(len(a.get('alike', ())) for a in sides) == 1
assert max(a.get('alike_in_all', 0) for a in sides) > 400, sides"
# So may the threads that run one place be many. What is left out is counted.
check limit-threads "
sides = [a for f in large['findings'] for a in f['accesses']]
assert max(len(a['threads']) for a in sides) == 1
assert max(a.get('threads_in_all', 0) for a in sides) == 8
assert any(v.get('findings_in_all', 0) > 1 for v in large['variables'])
assert len(large['findings']) <= len(large['variables'])"
exit $failed
