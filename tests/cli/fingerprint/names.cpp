// Functions that have one name in the source, or none: overloads, instances of a template, constructors, members of
// classes in a namespace without a name, lambdas. Each has one race, at the line of the function and in the column that
// those have which it could be taken for; all are on one array. So only the function tells them apart.
#include "invisible.h"

#include <thread>

volatile int value[10]; // no store is merged with another

namespace
{
struct Holder {
    Holder()
    {
        value[0] = 1;
    }
    void set()
    {
        value[1] = 1;
    }
};
struct Keeper {
    void set()
    {
        value[2] = 1;
    }
};
} // namespace

static void set(int)
{
    value[3] = 1;
}
static void set(long)
{
    value[4] = 1;
}
template <int N> static void put()
{
    value[N] = 1;
}

static void work(int order)
{
    after(order);
    Holder().set();
    Keeper().set();
    set(1);
    set(1L);
    put<5>();
    put<6>();
    auto one = [] { value[7] = 1; };
    auto two = [] { value[8] = 1; };
    one();
    two();
    mark();
}

int main()
{
    std::thread first(work, 0), second(work, 1);
    first.join();
    second.join();
}
