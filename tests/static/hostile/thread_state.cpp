// What a std::thread runs lies in a block that is its own from its start on: the one who starts it does not free it, but
// where the start fails.
// NOTHING ELSE
#include <functional>
#include <thread>

static int x;

static void add(int &to, int n)
{
    to += n; // RACE a c
}

static void set(int *to)
{
    *to = 1;
}

int main()
{
    int y = 0, z = 0;
    std::thread t(add, std::ref(x), 3), u(set, &y), v(set, &z), w([&x = x] { x--; }); // RACE a b
    x++;                                                                              // RACE b c
    t.join();
    u.join();
    v.join();
    w.join();
    return x + y + z;
}
