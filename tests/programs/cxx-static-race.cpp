// The guard protects the initialisation of a local static, not its later use.
#include <thread>

#include "invisible.h"

struct Counter {
    int value;
    Counter()
    {
        value = 0;
    }
    void add()
    {
        value++; // RACE a
    }
};

__attribute__((noinline)) static Counter &counter()
{
    static Counter *instance = new Counter;
    return *instance;
}

int main()
{
    std::thread first([] {
        counter().add();
        mark();
    });
    std::thread second([] {
        after(1);
        counter().add();
    });

    first.join();
    second.join();
    return 0;
}
