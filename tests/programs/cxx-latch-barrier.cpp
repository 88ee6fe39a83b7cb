// std::latch and std::barrier of C++20: who has counted down, or arrived, comes before who has waited; what a
// barrier does on completion comes between.
// NO RACE
// FLAGS: -std=c++20
#include <barrier>
#include <latch>
#include <thread>
#include <vector>

#include "invisible.h"

static constexpr int threads = 4, rounds = 10;
static long cells[threads], total;

int main()
{
    std::latch started(threads), go(1);
    auto sum = []() noexcept {
        for (long cell : cells)
            total += cell;
    };
    std::barrier meeting(threads, sum);
    std::vector<std::thread> all;
    long prepared = 0;

    for (int me = 0; me < threads; me++)
        all.emplace_back([&, me] {
            cells[me] = me;
            started.count_down();
            go.wait();
            MUST(prepared == 7);
            for (int i = 0; i < rounds; i++) {
                cells[me]++;
                meeting.arrive_and_wait();
                use(cells[(me + 1) % threads] + total);
                meeting.arrive_and_wait();
            }
        });
    started.wait();
    for (int me = 0; me < threads; me++)
        MUST(cells[me] == me);
    prepared = 7;
    go.count_down();
    for (auto &t : all)
        t.join();
    MUST(total == 2 * (rounds * 6 + threads * rounds * (rounds + 1) / 2));
    return 0;
}
