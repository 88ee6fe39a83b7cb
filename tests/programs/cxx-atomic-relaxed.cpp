// std::atomic used relaxed where it should not be.
#include <atomic>
#include <thread>

#include "invisible.h"

static std::atomic<bool> ready{false};
int data;

int main()
{
    std::thread producer([] {
        data = 42; // RACE a:write
        ready.store(true, std::memory_order_relaxed);
    });
    std::thread consumer([] {
        while (!ready.load(std::memory_order_relaxed))
            std::this_thread::yield();
        use(data); // RACE a:read
    });

    producer.join();
    consumer.join();
    return 0;
}
