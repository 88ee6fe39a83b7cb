// std::thread, std::mutex, lock_guard, unique_lock, condition_variable.
// NO RACE
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "invisible.h"

static std::mutex m;
static std::condition_variable ready;
static bool go;
static long count;

static void work()
{
    {
        std::unique_lock<std::mutex> lock(m);
        ready.wait(lock, [] { return go; });
    }
    for (int i = 0; i < 50; i++) {
        std::lock_guard<std::mutex> lock(m);
        count++;
    }
}

int main()
{
    std::vector<std::thread> threads;

    for (int i = 0; i < 4; i++)
        threads.emplace_back(work);
    {
        std::lock_guard<std::mutex> lock(m);
        go = true;
    }
    ready.notify_all();
    for (auto &t : threads)
        t.join();
    MUST(count == 200);
    return 0;
}
