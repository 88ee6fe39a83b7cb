// Code that is compiled so that races can be thrown, and has none: exceptions of its own go their way through
// it, what its frames hold is destroyed, and no other is thrown.
// FLAGS: --dh-exceptions
// OPTIONS: on_race=exception
// NO RACE
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include <deadheat/race.h>

#include "invisible.h"

static std::mutex m;
static std::map<std::string, int> table;
static int thrown, destroyed;

struct Guard {
    ~Guard()
    {
        destroyed++;
    }
};

__attribute__((noinline)) static void change(int i)
{
    Guard guard;
    auto key = std::make_unique<std::string>(std::to_string(i % 7));

    if (++table[*key] % 3 == 0)
        throw std::out_of_range(*key);
}

static void work()
{
    for (int i = 0; i < 50; i++) {
        std::lock_guard<std::mutex> lock(m);
        try {
            change(i);
        } catch (const deadheat::data_race &) {
            abort();
        } catch (const std::out_of_range &) {
            thrown++;
        }
    }
}

int main()
{
    std::thread first([] {
        work();
        mark();
    });
    std::thread second([] {
        after(1);
        work();
    });

    first.join();
    second.join();
    MUST(destroyed == 100 && thrown == 29);
    return 0;
}
