// std::atomic with its orders, and an atomic shared counter.
// NO RACE
#include <atomic>
#include <thread>

#include "invisible.h"

static std::atomic<bool> ready{false};
static std::atomic<int> count{0};
static int data;

int main()
{
    std::thread producer([] {
        data = 42;
        count.fetch_add(1, std::memory_order_relaxed);
        ready.store(true, std::memory_order_release);
    });
    std::thread consumer([] {
        while (!ready.load(std::memory_order_acquire))
            std::this_thread::yield();
        MUST(data == 42);
        data = 0;
        count++;
    });

    producer.join();
    consumer.join();
    MUST(count == 2);
    return 0;
}
