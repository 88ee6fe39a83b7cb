// std::shared_mutex, recursive_mutex, timed_mutex and scoped_lock.
// NO RACE
#include <chrono>
#include <mutex>
#include <shared_mutex>
#include <thread>

#include "invisible.h"

static std::shared_mutex shared;
static std::recursive_mutex recursive;
static std::timed_mutex timed;
static std::mutex a, b;
static long one, two, three, four;

static void work()
{
    for (int i = 0; i < 50; i++) {
        {
            std::shared_lock<std::shared_mutex> lock(shared);
            use(one);
        }
        {
            std::unique_lock<std::shared_mutex> lock(shared);
            one++;
        }
        {
            std::lock_guard<std::recursive_mutex> outer(recursive), inner(recursive);
            two++;
        }
        if (timed.try_lock_for(std::chrono::hours(1))) {
            three++;
            timed.unlock();
        }
        {
            std::scoped_lock lock(a, b);
            four++;
        }
    }
}

int main()
{
    std::thread first(work), second(work);

    first.join();
    second.join();
    MUST(one == 100 && two == 100 && three == 100 && four == 100);
    return 0;
}
