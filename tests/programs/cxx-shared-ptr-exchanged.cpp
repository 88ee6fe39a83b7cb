// A shared_ptr that threads load and replace through the atomic functions: what it points to was filled
// before, and is destroyed after the last reader.
// NO RACE
// FLAGS: -Wno-deprecated-declarations
#include <memory>
#include <thread>
#include <vector>

#include "invisible.h"

struct Config {
    std::vector<int> values;
    explicit Config(int n) : values(20, n)
    {
    }
    ~Config()
    {
        for (int &v : values)
            v = -1;
    }
};

static std::shared_ptr<Config> current = std::make_shared<Config>(0);

int main()
{
    std::thread writer([] {
        for (int i = 1; i <= 100; i++)
            std::atomic_store(&current, std::make_shared<Config>(i));
    });
    auto read = [] {
        for (int i = 0; i < 100; i++) {
            std::shared_ptr<Config> config = std::atomic_load(&current);
            for (int v : config->values)
                MUST(v == config->values[0] && v >= 0);
        }
    };
    std::thread first(read), second(read);

    writer.join();
    first.join();
    second.join();
    return 0;
}
