// atomic::wait and notify of C++20, and atomic_ref over a plain variable that is used plainly before and
// after.
// NO RACE
// FLAGS: -std=c++20
#include <atomic>
#include <thread>

#include "invisible.h"

static std::atomic<int> turn;
static std::atomic_flag done;
static int data, plain;

int main()
{
    plain = 5;
    auto play = [](int me) {
        for (int i = me; i < 40; i += 2) {
            for (int seen; (seen = turn.load(std::memory_order_acquire)) != i;)
                turn.wait(seen, std::memory_order_relaxed);
            data++;
            std::atomic_ref<int>(plain).fetch_add(1, std::memory_order_relaxed);
            turn.store(i + 1, std::memory_order_release);
            turn.notify_all();
        }
    };
    std::thread even(play, 0), odd(play, 1), last([&] {
        done.wait(false);
        MUST(data == 40);
        data = 0;
    });

    even.join();
    odd.join();
    MUST(plain++ == 45);
    done.test_and_set();
    done.notify_one();
    last.join();
    return data;
}
