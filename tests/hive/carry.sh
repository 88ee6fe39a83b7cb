#!/bin/sh
# carry.sh DEADHEAT - which candidates of a program an edit of its source makes new ones. A candidate of the later build that has
# the id of one of the earlier is the same, with its results; those of edited code must have other ids, wherever they are.
set -u
deadheat=$1
mkdir carry && cd carry || exit 1

cat >step.h <<'C'
#define STEP 1
C
cat >base.c <<'C'
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include "step.h"
long hits, miss, rest;
pthread_rwlock_t guard = PTHREAD_RWLOCK_INITIALIZER;

__attribute__((noinline)) static void count(int n)
{
    assert(n);
    ; /* room for a lock */
    hits += STEP; /* a comment */
}
__attribute__((noinline)) static void other(void)
{
    rest += 3;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    puts("other");
}
static void *work(void *arg)
{
    ; /* room for another */
    count(1);
    other();
    return arg;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, work, NULL);
    work(NULL);
    pthread_join(t, NULL);
    return 0;
}
C

build() { # NAME: from prog.c
    "$deadheat" cc --dh-mode=field -g -O1 -pthread prog.c -o "$1" >log 2>&1 && "$deadheat" hive add --db="$2" --program=prog "./$1" >>log 2>&1
}
ids() { # DB PROGRAM FUNCTION: of candidates in it
    "$deadheat" hive export --db="$1" --format=json --build="$(readelf -n "$2" | sed -n 's/.*Build ID: //p')" |
        python3 -c "import json, sys
print(*sorted(c['id'] for c in json.load(sys.stdin)['candidates'] if {x['function'] for x in c['sites']} == {'$3'}))"
}
edit() { # NAME count|other|both|none SED: which of the two functions the candidates of become new
    cp base.c prog.c
    echo '#define STEP 1' >step.h
    rm -f db*
    build before db || { echo "FAIL hive/carry-$1: $(head -3 log | tr '\n' '|')"; return; }
    sed -i "$3" "$([ "$1" = macro ] && echo step.h || echo prog.c)"
    build after db || { echo "FAIL hive/carry-$1: $(head -3 log | tr '\n' '|')"; return; }
    new=none
    for f in count other; do
        a=$(ids db before $f) b=$(ids db after $f)
        [ -n "$a" ] && [ "$(echo "$a" | wc -w)" = "$(echo "$b" | wc -w)" ] || { echo "FAIL hive/carry-$1: '$a' and '$b' of $f"; return; }
        [ "$a" = "$b" ] && continue
        [ $new = none ] && new=$f || new=both
    done
    [ $new = "$2" ] && echo "ok hive/carry-$1" || echo "FAIL hive/carry-$1: $new instead of $2"
}

edit same none ''
edit above none '5s/^/\n\n/'
edit comment none 's/a comment/another one/'
edit string none 's/^long/static const char first[] = "a string"; const char *use(void) { puts("more"); return first; }\n&/'
edit another other 's/rest += 3/rest += 4/'
edit operator count 's/hits += STEP/hits -= STEP/'
edit variable count 's/hits += STEP/miss += STEP/'
edit fence other 's/thread_fence/signal_fence/'
edit macro count 's/1/2/'
# Shared locks, which leave the pairs possible.
edit 'locks-of-callers' both 's/; .* room for another .*/pthread_rwlock_rdlock(\&guard);/;s/    return arg;/    pthread_rwlock_unlock(\&guard); return arg;/'
edit threads both 's/work(NULL);/; pthread_t u; pthread_create(\&u, NULL, work, NULL);/'
edit lock count 's/; .* room for a lock .*/pthread_rwlock_rdlock(\&guard);/;s/a comment \*\//*\/ pthread_rwlock_unlock(\&guard);/'
