// After an exception was caught the stack is right again, and so are the lines of the race.
#include <stdexcept>
#include <thread>

#include "invisible.h"

long count;

__attribute__((noinline)) static void fall(int n)
{
    if (n == 0)
        throw 1;
    fall(n - 1);
    use(n);
}

__attribute__((noinline)) static void touch()
{
    count++; // RACE a
}

static void work(int turn)
{
    after(turn);
    try {
        fall(10);
    } catch (int) {
    }
    touch();
    mark();
}

int main()
{
    std::thread a(work, 0), b(work, 1);

    a.join();
    b.join();
    return 0;
}
