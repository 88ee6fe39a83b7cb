// std::jthread: what comes before the request to stop comes before the callback and before what follows the
// wait that it ends; the destructor joins.
// NO RACE
// FLAGS: -std=c++20
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

#include "invisible.h"

static std::mutex m;
static std::condition_variable_any c;
static int reason, ended, called;

int main()
{
    for (int round = 0; round < 10; round++) {
        reason = ended = called = 0;
        {
            std::jthread waits([](std::stop_token stop) {
                std::unique_lock<std::mutex> lock(m);
                MUST(!c.wait(lock, stop, [] { return false; }));
                MUST(stop.stop_requested() && reason == 1);
                ended = 1;
            });
            std::jthread polls([](std::stop_token stop) {
                std::stop_callback callback(stop, [] { called += reason; });
                while (!stop.stop_requested())
                    std::this_thread::yield();
                MUST(reason == 1);
            });
            reason = 1;
            polls.request_stop();
            waits.request_stop();
        }
        MUST(ended == 1);
    }
    return 0;
}
