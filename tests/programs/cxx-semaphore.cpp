// The semaphores of C++20 hand over what was done before the release, to every way to acquire.
// NO RACE
// FLAGS: -std=c++20
#include <chrono>
#include <semaphore>
#include <thread>

#include "invisible.h"

static std::counting_semaphore<8> there(0);
static std::binary_semaphore back(0);
static int data;

int main()
{
    std::thread left([] {
        for (int i = 0; i < 30; i++) {
            data++;
            there.release();
            back.acquire();
        }
    });
    std::thread right([] {
        for (int i = 0; i < 30; i++) {
            if (i % 3 == 0)
                there.acquire();
            else if (i % 3 == 1)
                MUST(there.try_acquire_for(std::chrono::hours(1)));
            else
                while (!there.try_acquire())
                    std::this_thread::yield();
            data++;
            back.release();
        }
    });

    left.join();
    right.join();
    MUST(data == 60);
    return 0;
}
