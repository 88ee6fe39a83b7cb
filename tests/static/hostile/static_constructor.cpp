// A constructor of a static object that starts a thread.
#include <thread>
int x;

struct starter {
    std::thread t;
    starter() : t([] { x++; }) // RACE a
    {
    }
    ~starter()
    {
        t.join();
    }
};
starter s;

int main()
{
    x = 4; // RACE a
    return 0;
}
