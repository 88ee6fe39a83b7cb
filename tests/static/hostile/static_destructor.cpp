// A destructor of a static object that races with a thread, and starts one.
#include <cstdlib>
#include <thread>
int x, y;

static std::thread *left;

struct ender {
    ~ender()
    {
        x = 1;                        // RACE a:sound
        std::thread t([] { y = 1; }); // RACE b:sound
        y = 2;                        // RACE b
        t.join();
    }
};
ender e;

int main()
{
    left = new std::thread([] { x = 2; }); // RACE a
    left->detach();
    return 0;
}
