// std::async, promise and future.
// NO RACE
#include <future>
#include <vector>

#include "invisible.h"

static int data;

int main()
{
    std::promise<int> promise;
    std::thread setter([&] {
        data = 1;
        promise.set_value(41);
    });
    std::vector<int> numbers(100, 1);
    auto sum = std::async(std::launch::async, [&] {
        int total = 0;

        for (int n : numbers)
            total += n;
        return total;
    });

    MUST(promise.get_future().get() == 41 && data == 1);
    data = 2;
    MUST(sum.get() == 100);
    numbers[0] = 2;
    setter.join();
    return 0;
}
