// std::async with a function and with a lambda.
#include <future>
int x, y, z;

static int work(int *p)
{
    *p += 1;  // RACE a
    return x; // RACE b
}

int main()
{
    auto a = std::async(std::launch::async, work, &y);
    auto b = std::async(std::launch::async, [] {
        z++;          // RACE c
        return x = 3; // RACE b
    });
    y = 2; // RACE a
    z = 5; // RACE c
    int r = a.get() + b.get();
    return r & 0;
}
