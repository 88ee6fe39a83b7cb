// What was thrown out of in one thread is tried again by another: of std::call_once and of a local static,
// the failed attempt comes before the next one.
// TSAN: it hangs, since its pthread_once does not survive an exception
// NO RACE
#include <mutex>
#include <stdexcept>
#include <thread>

#include "invisible.h"

static std::once_flag flag;
static int attempts, made, table[16];

static void fill()
{
    table[attempts] = 1;
    if (++attempts == 1)
        throw std::runtime_error("not yet");
    table[0]++;
}

struct Thing {
    Thing()
    {
        if (++made == 1)
            throw std::runtime_error("not yet");
    }
};

static void look()
{
    static Thing thing;
}

template <class F> static bool throws(F f)
{
    try {
        f();
    } catch (const std::runtime_error &) {
        return true;
    }
    return false;
}

int main()
{
    std::thread first([] {
        MUST(throws([] { std::call_once(flag, fill); }));
        MUST(throws(look));
        mark();
    });
    std::thread second([] {
        after(1);
        MUST(!throws([] { std::call_once(flag, fill); }));
        MUST(!throws(look));
        mark();
    });
    std::thread third([] {
        after(2);
        MUST(!throws([] { std::call_once(flag, fill); }));
        MUST(table[0] == 2 && table[1] == 1 && attempts == 2);
        MUST(!throws(look));
        MUST(made == 2);
    });

    first.join();
    second.join();
    third.join();
    return 0;
}
