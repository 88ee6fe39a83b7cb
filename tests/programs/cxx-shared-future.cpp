// One result for many: shared_future, packaged_task, and an exception that travels.
// NO RACE
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "invisible.h"

static int data;

int main()
{
    std::packaged_task<std::string(int)> task([](int n) {
        data = n;
        if (n > 1)
            throw std::runtime_error(std::string(100, 'x'));
        return std::string(100, 'y');
    });

    for (int round = 1; round <= 2; round++) {
        std::shared_future<std::string> result = task.get_future().share();
        std::vector<std::thread> waiting;

        for (int i = 0; i < 3; i++)
            waiting.emplace_back([result, round] {
                try {
                    MUST(result.get().size() == 100 && round == 1);
                } catch (const std::runtime_error &e) {
                    MUST(std::string(e.what()).size() == 100 && round == 2);
                }
                MUST(data == round);
            });
        std::thread runs([&] { task(round); });
        for (auto &t : waiting)
            t.join();
        data = 0;
        runs.join();
        task.reset();
    }
    return 0;
}
