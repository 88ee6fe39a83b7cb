// std::call_once with a function and with a lambda.
#include <mutex>
#include <thread>
std::once_flag flag, flag2;
int guarded, loose;

static void init()
{
    guarded = 1;
    loose = 1;
}

static void run()
{
    std::call_once(flag, init);
    if (guarded)
        loose++; // RACE a b
}

static void lam()
{
    int k = 3;
    std::call_once(flag2, [&k] { loose = k; }); // RACE b
}

int main()
{
    std::thread a(run), b(run), c(lam);
    a.join();
    b.join();
    c.join();
    return 0;
}
