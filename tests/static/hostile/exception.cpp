// Pointers that are thrown, in an object and by themselves, and thrown again elsewhere.
#include <exception>
#include <stdexcept>
#include <thread>
int x;

struct carried : std::exception {
    int *p;
    carried(int *p) : p(p)
    {
    }
};

static void thrower()
{
    throw carried(&x);
}

static void run()
{
    try {
        thrower();
    } catch (carried &c) {
        *c.p += 1; // RACE a
    }
}
std::exception_ptr kept;
int y;

static void keep()
{
    try {
        throw &y;
    } catch (...) {
        kept = std::current_exception();
    }
}

static void again()
{
    try {
        std::rethrow_exception(kept);
    } catch (int *p) {
        *p = 7; // RACE b
    }
}

int main()
{
    keep();
    std::thread t(run), u(again);
    run();
    y = 2; // RACE b
    t.join();
    u.join();
    return 0;
}
