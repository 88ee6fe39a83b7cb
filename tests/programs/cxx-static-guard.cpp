// A local static is initialised once, before all who use it; also when its constructor throws first.
// NO RACE
#include <stdexcept>
#include <thread>

#include "invisible.h"

static int attempts;

struct Table {
    int cells[32];
    Table()
    {
        if (++attempts == 1)
            throw std::runtime_error("not yet");
        for (int i = 0; i < 32; i++)
            cells[i] = i * 3;
    }
};

static Table &table()
{
    static Table instance;
    return instance;
}

static void look()
{
    for (;;) {
        try {
            for (int i = 0; i < 32; i++)
                MUST(table().cells[i] == i * 3);
            return;
        } catch (const std::runtime_error &) {
        }
    }
}

int main()
{
    std::thread first([] {
        look();
        mark();
    });
    std::thread second([] {
        after(1);
        look();
    });

    first.join();
    second.join();
    return 0;
}
