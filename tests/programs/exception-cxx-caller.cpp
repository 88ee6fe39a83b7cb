// Thrown through callers, inlined or not, templates and lambdas, in threads of std::thread; what each frame
// holds is destroyed on the way, and none of the racing accesses is made.
// FLAGS: --dh-exceptions
// OPTIONS: on_race=exception
// STATIC: the copy is not used, and without --dh-exceptions the optimiser takes it away
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <deadheat/race.h>

#include "invisible.h"

int a, b, c, d;
char text[200];
static int destroyed;

struct Guard {
    int *count;
    ~Guard()
    {
        ++*count;
    }
};

static inline __attribute__((always_inline)) void innermost(int *p)
{
    Guard guard{&destroyed};
    *p = 2; // RACE a:write
}

static inline void inner(int *p)
{
    Guard guard{&destroyed};
    innermost(p);
}

__attribute__((noinline)) static void called(int *p)
{
    Guard guard{&destroyed};
    *p = 2; // RACE b:write
}

template <class T> __attribute__((noinline)) T taken(const T *from)
{
    Guard guard{&destroyed};
    std::string temporary(100, 'x');
    return *from; // RACE c:read
}

static void run_first()
{
    a = 1;                          // RACE a:write
    b = 1;                          // RACE b:write
    c = 1;                          // RACE c:write
    d = 1;                          // RACE d:write
    __builtin_memset(text, 1, 200); // RACE e:write
    mark();
}

static void run_second()
{
    int caught = 0, local = 7;
    after(1);
    try {
        inner(&a);
    } catch (const deadheat::data_race &) {
        caught++;
    }
    MUST(destroyed == 2);
    try {
        std::vector<int> held(10);
        called(&b);
    } catch (const deadheat::data_race &) {
        caught++;
    }
    MUST(destroyed == 3);
    try {
        local = taken(&c);
    } catch (...) {
        caught++;
    }
    MUST(destroyed == 4 && local == 7);
    auto change = [&caught](int value) {
        for (int i = 0; i < 3; i++) {
            try {
                Guard guard{&destroyed};
                d = value + i; // RACE d:write
            } catch (const std::exception &) {
                caught++;
            }
        }
    };
    change(2);
    MUST(destroyed == 7 && caught == 6);
    try {
        auto copy = std::make_unique<char[]>(200);
        __builtin_memcpy(copy.get(), text, caught * 20); // RACE e:read
        abort();
    } catch (const deadheat::data_race &race) {
        MUST(race.record().second.size == 120 && !race.record().late);
        caught++;
    }
    MUST(caught == 7);
}

int main()
{
    std::thread one(run_first), other(run_second);
    one.join();
    other.join();
    MUST(a == 1 && b == 1 && c == 1 && d == 1);
    return 0;
}
