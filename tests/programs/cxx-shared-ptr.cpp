// shared_ptr: copies in many threads, and the last one deletes.
// NO RACE
#include <memory>
#include <thread>
#include <vector>

#include "invisible.h"

struct Thing {
    int data[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    ~Thing()
    {
        for (int &d : data)
            d = 0;
    }
};

int main()
{
    for (int round = 0; round < 10; round++) {
        auto thing = std::make_shared<Thing>();
        std::weak_ptr<Thing> weak = thing;
        std::vector<std::thread> threads;

        for (int i = 0; i < 4; i++)
            threads.emplace_back([thing, weak] {
                auto mine = thing;
                long sum = 0;

                for (int d : mine->data)
                    sum += d;
                MUST(sum == 36);
                MUST(weak.lock());
            });
        thing.reset();
        for (auto &t : threads)
            t.join();
        MUST(weak.expired());
    }
    return 0;
}
