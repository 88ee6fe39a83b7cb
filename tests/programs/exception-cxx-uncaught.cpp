// Where nobody would catch it, or code in between must not throw, the race is a signal, not std::terminate.
// FLAGS: --dh-exceptions
// OPTIONS: on_race=exception
#include <csignal>
#include <cstdlib>
#include <exception>

#include <deadheat/race.h>

#include "invisible.h"

int x, y, z;
static volatile sig_atomic_t signals;

static void on_signal(int)
{
    signals = signals + 1;
}

__attribute__((noinline)) static void must_not_throw() noexcept
{
    y = 2; // RACE b:write
}

THREAD(first)
{
    x = 1; // RACE a:write
    y = 1; // RACE b:write
    z = 1; // RACE c:write
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    x = 2; // RACE a:write
    MUST(signals == 1);
    try {
        must_not_throw();
    } catch (...) {
        abort();
    }
    MUST(signals == 2);
    try {
        z = 2; // RACE c:write
    } catch (const std::bad_exception &) {
        abort();
    }
    MUST(signals == 3);
    return NULL;
}

int main()
{
    std::signal(SIGTRAP, on_signal);
    std::set_terminate(abort);
    both(first, second);
    MUST(x == 2 && y == 2 && z == 2);
    return 0;
}
