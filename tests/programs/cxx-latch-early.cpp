// A latch orders what came before the countdown: who counts down first and works afterwards has promised too
// much.
// FLAGS: -std=c++20
#include <latch>
#include <semaphore>
#include <thread>

#include "invisible.h"

int before, behind, released;

int main()
{
    std::latch latch(1);
    std::binary_semaphore semaphore(0);
    std::thread works([&] {
        before = 1;
        latch.count_down();
        behind = 1; // RACE a:write
        semaphore.release();
        released = 1; // RACE b:write
        mark();
    });

    after(1);
    latch.wait();
    before = 2;
    behind = 2; // RACE a:write
    semaphore.acquire();
    released = 2; // RACE b:write
    works.join();
    return 0;
}
