// Destructors of thread-local objects run when their threads end, also that of main.
#include <thread>
int x;

struct d {
    int v;
    d() : v(1)
    {
    }
    ~d()
    {
        x = v; // RACE a b
    }
};
thread_local d per;

static void run()
{
    per.v = 2;
}

int main()
{
    std::thread t(run), u([] { x = 7; }); // RACE a
    t.join();
    u.join();
    per.v = 3;
    std::thread w([] { x = 8; }); // RACE b
    w.detach();
    return 0;
}
