// std::call_once, also when the first attempt throws.
// TSAN: it hangs, since its pthread_once does not survive an exception
// NO RACE
#include <mutex>
#include <stdexcept>
#include <thread>

#include "invisible.h"

static std::once_flag flag;
static int attempts, table[16];

static void fill()
{
    if (++attempts == 1)
        throw std::runtime_error("not yet");
    for (int i = 0; i < 16; i++)
        table[i] = i;
}

static void use_table()
{
    for (;;) {
        try {
            std::call_once(flag, fill);
            break;
        } catch (const std::runtime_error &) {
        }
    }
    for (int i = 0; i < 16; i++)
        MUST(table[i] == i);
}

int main()
{
    std::thread first([] {
        use_table();
        mark();
    });
    std::thread second([] {
        after(1);
        use_table();
    });

    first.join();
    second.join();
    MUST(attempts == 2);
    return 0;
}
