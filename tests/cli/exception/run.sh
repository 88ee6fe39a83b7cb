#!/bin/sh
# run.sh DEADHEAT - data-race exceptions as the shell sees them; what `--dh-exceptions` makes of code; and the
# header without deadheat. What happens inside a program is in tests/programs/exception-*.
. "$(dirname "$0")/../lib.sh"
headers=$here/../../../include

cd "$work" || exit 1
cat >race.c <<'END'
#include <stdio.h>
#include "invisible.h"
int x;
THREAD(first)
{
    x = 1;
    mark();
    return NULL;
}
THREAD(second)
{
    after(1);
    x = 2;
    puts("made");
    fflush(stdout);
    return NULL;
}
int main(void)
{
    both(first, second);
    puts("end");
    return 0;
}
END
"$deadheat" cc -g -pthread -I"$here/../../programs" race.c -o race || { bad compile "deadheat cc failed"; exit 1; }

run() { # FLAGS: sets status, fills out and err
    (ulimit -c 0 && "$deadheat" run "$@" -- ./race) >out 2>err
    status=$?
}

run --on-race=exception
same default-is-sigtrap "$status:$(cat out)" "133:"
same reported-before "$(grep -c 'WARNING: deadheat: data race' err)" 1
run --on-race=exception --race-signal=10
same other-signal "$status:$(cat out)" "138:"
run --on-race=exception --race-action=abort
same abort "$status:$(cat out)" "134:"
same abort-says-so "$(grep -c 'stopped at a data race, before its second access' err)" 1
same abort-reports "$(grep -c 'WARNING: deadheat: data race' err)" 1
run --on-race=exception --race-action=thread
same thread "$status:$(cat out)" "66:end"
run --on-race=exception --race-action=continue
same continue "$status:$(tr '\n' ' ' <out)" "66:made end "
run --on-race=exception --race-action=continue --stats
same counted "$(grep -c '^deadheat: 1 races raised before' err)" 1
run --race-action=abort
same only-with-exception "$status:$(tr '\n' ' ' <out)" "66:made end "
run --on-race=exception --race-action=explode
same bad-action "$status:$(cat err)" \
    "2:deadheat run: error: option '--race-action' cannot be 'explode'; it must be throw, signal, continue, thread or abort"

# ---- Going on changes nothing: the same races, as often, and the same status

for program in basic-read-shared-write.c string-memcpy.c loop-overlap.c atomic-and-plain.c heap-free-then-read.c \
    bytes-overlap.c io-read-buffer.c mutex-one-side.c; do
    "$deadheat" cc -g -O1 -pthread "$here/../../programs/$program" -o program 2>err || bad "$program" "$(cat err)"
    ./program >out 2>err
    before=$?:$(grep 'Fingerprint\|^deadheat: [0-9]* data race' err)
    DEADHEAT_OPTIONS=on_race=exception:race_action=continue ./program >out 2>err
    same "as-without-$program" "$?:$(grep 'Fingerprint\|^deadheat: [0-9]* data race' err)" "$before"
done

# ---- A thread that cannot be unwound ends all the same: g++ leaves calls that do not throw out of its tables

cat >gnu.cpp <<'END'
volatile int never;
void through(void (*f)() noexcept)
{
    try {
        if (never)
            throw 1;
        f();
        never = 0; /* no tail call */
    } catch (int) {
        never = 0;
    }
}
END
cat >stuck.cpp <<'END'
#include <stdio.h>
#include "invisible.h"
int x;
void through(void (*f)() noexcept);
static void change() noexcept
{
    x = 2;
    abort();
}
THREAD(first)
{
    x = 1;
    mark();
    return NULL;
}
THREAD(second)
{
    after(1);
    through(change);
    abort();
}
int main()
{
    pthread_t a = spawn(first, NULL), b = spawn(second, NULL);
    join(a);
    MUST(join(b) == PTHREAD_CANCELED);
    printf("%d\n", x);
    return 0;
}
END
if g++-12 -std=c++17 -O2 -c gnu.cpp -o gnu.o 2>err &&
    "$deadheat" c++ -std=c++17 -g -O1 -pthread -I"$here/../../programs" stuck.cpp gnu.o -o stuck 2>err; then
    DEADHEAT_OPTIONS=on_race=exception:race_action=thread ./stuck >out 2>err
    same stuck-thread "$?:$(cat out)" 66:1
else
    bad stuck-thread "$(cat err)"
fi

# ---- What the pass makes of it

cat >code.cpp <<'END'
int x;
struct Guard { ~Guard(); };
void in_try() { try { x = 1; } catch (...) { } }
void in_scope() { Guard g; x = 1; }
void nowhere() { x = 1; }
void must_not() noexcept { x = 1; }
static inline int inner() { return x; }
int outer() { Guard g; return inner(); }
constexpr int twice(int v) { return 2 * v; }
static_assert(twice(2) == 4, "still evaluated");
END
cat >code.c <<'END'
int x;
void nowhere(void) { x = 1; }
END
for level in -O0 -O1 -O2; do
    "$deadheat" c++ --dh-exceptions $level -S -emit-llvm code.cpp -o code.ll 2>err || bad "cxx$level" "$(cat err)"
    body() { awk -v name="$1" '/^define/ { on = index($0, "@" name "(") } on { print } /^}/ { on = 0 }' code.ll; }
    same "in-try$level" "$(body _Z6in_tryv | grep -c 'invoke void @__dh_unwind_write4')" 1
    same "in-scope$level" "$(body _Z8in_scopev | grep -c 'invoke void @__dh_unwind_write4')" 1
    same "nowhere$level" "$(body _Z7nowherev | grep -c 'call void @__dh_unwind_write4')" 1
    same "must-not$level" "$(body _Z8must_notv | grep -c 'preserve_mostcc void @__dh_slow_write4')" 1
    same "marks-gone$level" "$(grep -c __dh_statement code.ll)" 0
    "$deadheat" cc --dh-exceptions $level -S -emit-llvm code.c -o code.ll 2>err || bad "c$level" "$(cat err)"
    same "in-c$level" "$(body nowhere | grep -c 'call void @__dh_unwind_write4')" 1
done
"$deadheat" c++ --dh-exceptions -O2 -S -emit-llvm code.cpp -o code.ll
same inlined-too "$(body _Z5outerv | grep -c 'invoke void @__dh_unwind_read4')" 1
"$deadheat" c++ --dh-exceptions -fno-exceptions -O1 -S -emit-llvm -x c++ code.c -o code.ll
same no-exceptions "$(grep -c __dh_unwind code.ll)" 0

# ---- The header costs nothing without deadheat

cat >header.c <<'END'
#include <deadheat/race.h>
static enum dh_race_action handler(const struct dh_race_record *r, void *p)
{
    (void)r;
    (void)p;
    return DH_RACE_ABORT;
}
int f(void)
{
    return dh_on_race(handler, 0) == 0 && dh_race_current() == 0;
}
END
cp header.c header.cpp
for compiler in 'gcc-12 -std=c99' 'clang-19 -std=c17' 'g++-12 -std=c++11' 'clang++-19 -std=c++20' \
    'clang++-19 -fno-exceptions -fno-rtti'; do
    case $compiler in *++*) file=header.cpp ;; *) file=header.c ;; esac
    name=header-$(echo "$compiler" | tr -c 'a-z0-9\n' _)
    # shellcheck disable=SC2086
    if $compiler -Wall -Wextra -pedantic -Werror -O1 -I"$headers" -c $file -o header.o 2>err; then
        same "$name" "$(nm -u header.o | grep -c 'dh_')" 0
    else
        bad "$name" "$(cat err)"
    fi
done

exit $failed
