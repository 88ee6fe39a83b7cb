#!/bin/sh
# run.sh DEADHEAT - field builds call libc directly; when their synchronisation is followed, calls of libc by the program and
# by its libraries are seen, on whatever way the function's address came there.
. "$(dirname "$0")/../lib.sh"

# ---- Asleep ----
cat >quiet.cpp <<'CODE'
#include <cstdio>
#include <mutex>
#include <thread>
static std::mutex m;
int main()
{
    std::thread t([] { std::lock_guard<std::mutex> l(m); });
    t.join();
    std::puts("OK");
}
CODE
for mode in field caper; do
    "$deadheat" c++ --dh-mode=$mode -O2 -pthread quiet.cpp -o quiet || exit 1
    ./quiet >out
    same "asleep-$mode" "$?:$(cat out)" 0:OK
    nm -D --defined-only quiet | grep -v ' __bss_start$\| _edata$\| _end$\| __dh_' >symbols # and nothing of libc's,
    # but for the one function that would bring in all of the shadow (src/field/escape/shadow.c).
    same "defines-$mode" "$(sed 's/.* //' symbols)" "$([ $mode = caper ] && echo mlockall)"
    nm -D --undefined-only quiet >symbols
    like "calls-$mode" symbols " U pthread_mutex_lock@GLIBC"
    lacks "wraps-$mode" symbols __wrap
done

# ---- Awake ----
library() { # NAME FLAGS
    # shellcheck disable=SC2086
    gcc -shared -fPIC -O2 -D_GNU_SOURCE $2 -o "$1" || { bad "build-$1" "$2"; exit 1; }
}
source=$programs/imports-library.c
library libimports.so "-DKEEPS $source -Wl,-rpath,\$ORIGIN/sub"
mkdir -p sub
library sub/elsewhere.so "$source"
library plugin.so "$source"
library inner.so "$source"
echo >nothing.c
library outer.so "nothing.c -Wl,--no-as-needed ./inner.so"
library during.so "-DDURING $source"
library tls.so "-DTLS $source"
library deep.so "-DDEEP -fno-builtin $source"
cat >cxx.cpp <<'CODE'
#include <cstdlib>
#include <pthread.h>
extern "C" int imports_lock(pthread_mutex_t *m)
{
    static const int zero = std::atoi("0");
    return pthread_mutex_lock(m) + zero;
}
extern "C" int imports_unlock(pthread_mutex_t *m)
{
    return pthread_mutex_unlock(m);
}
CODE
g++ -shared -fPIC -O2 cxx.cpp -o cxx.so || exit 1
pair="imports.c:$(line imports FIRST):*:write:imports.c:$(line imports SECOND):*:read"
field() { # NAME FLAGS
    # shellcheck disable=SC2086
    "$deadheat" cc --dh-mode=field -D_GNU_SOURCE -pthread -rdynamic $2 "$programs/imports.c" ./libimports.so -o "$1" || exit 1
}
followed() { # PROGRAM ANALYSIS HOW
    chase --rmax=100% --window=20s --trust --analysis="$2" --pair "$pair" -- "./$1" "$3"
}
while read -r built flags; do
    field "$built" "$flags"
    followed "$built" litehb none
    same "$built-none" "$status:$(cat out)" 66:OK
    for how in direct static asked library kept opened needed path deep cxx during tls; do
        followed "$built" litehb $how
        same "$built-$how" "$status:$(cat out)" 0:OK
        lacks "$built-$how-race" err "data race"
        like "$built-$how-words" err "$none"
    done
done <<'BUILDS'
lazy -O2 -Wl,-z,lazy
now -O2 -Wl,-z,now,-z,relro
no-plt -O2 -fno-plt
no-pie -O1 -no-pie
packed -O2 -Wl,-z,pack-relative-relocs,--hash-style=sysv
BUILDS
for how in none direct library during; do
    wanted=0
    [ $how = none ] && wanted=66
    followed lazy fullhb $how
    same "fullhb-$how" "$status:$(cat out)" $wanted:OK
done
# Nothing is redirected for a chase that follows nothing but what signals need.
for how in direct opened path deep; do
    chase --rmax=100% --delay=20ms --pair "$pair" -- ./now $how
    same "chaser-$how" "$(cat out)" OK
done

# ---- Functions of the program's own under these names ----
cat >own.c <<'CODE'
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
static int calls;
static long x;
int pthread_mutex_lock(pthread_mutex_t *m)
{
    calls++;
    return ((int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, "pthread_mutex_lock"))(m);
}
int imports_lock(pthread_mutex_t *m);
int imports_unlock(pthread_mutex_t *m);
int main(void)
{
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    imports_lock(&m);
    x++; // X
    imports_unlock(&m);
    printf("%d\n", calls);
    return 0;
}
CODE
"$deadheat" cc --dh-mode=field -D_GNU_SOURCE -w own.c ./inner.so -o own || exit 1
x=own.c:$(grep -n '// X' own.c | cut -d: -f1):*
./own >out
same own-asleep "$(cat out)" 1
chase --rmax=100% --window=100ms --trust --analysis=litehb --pair "$x:$x" -- ./own
same own-awake "$(cat out)" 1
# What dlerror has to say is not lost on the way.
cat >says.c <<'CODE'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static long x;
int main(void)
{
    void *m = dlopen("./missing.so", RTLD_NOW);
    free(malloc(1));
    x++; // X
    puts(m ? "found" : "missing");
    const char *why = dlerror();
    puts(why && strstr(why, "missing.so") ? "OK" : "forgotten");
    dlopen("./plugin.so", RTLD_NOW);
    puts(dlerror() ? "said" : "OK");
    return 0;
}
CODE
"$deadheat" cc --dh-mode=field -D_GNU_SOURCE -w says.c -o says || exit 1
x=says.c:$(grep -n '// X' says.c | cut -d: -f1):*
chase --rmax=100% --window=100ms --trust --analysis=litehb --pair "$x:$x" -- ./says
same dlerror "$(tr '\n' ' ' <out)" "missing OK OK "
"$deadheat" c++ --dh-mode=field -O1 -pthread -static-libstdc++ -static-libgcc "$programs/order-cxx.cpp" -std=c++20 -o inside
cxx=order-cxx.cpp:$(grep -n '// FIRST' "$programs/order-cxx.cpp" | cut -d: -f1):*
refused static-cxx "'$work/inside' cannot be tracked by --analysis=litehb: it has the library of C++ inside" \
    --trust --analysis=litehb --pair "$cxx:$cxx" -- ./inside
# A section of code with nothing in it, at no address.
"$deadheat" cc --dh-mode=field -D_GNU_SOURCE -pthread -O2 "$programs/meet.c" -o meet
: >nothing
objcopy --add-section .nothing=nothing --set-section-flags .nothing=code,readonly meet hollow
persist --rmax=100% --delay=900ms --analysis=litehb \
    --pair "meet.c:$(line meet FIRST):write:meet.c:$(line meet SECOND):read" -- ./hollow
same hollow "$status:$(cat out)" 66:OK
exit $failed
