// Exceptions thrown through many instrumented frames, with locks released on the way.
// NO RACE
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include "invisible.h"

static std::mutex m;
static long count;

struct Bump {
    ~Bump()
    {
        std::lock_guard<std::mutex> lock(m);
        count++;
    }
};

__attribute__((noinline)) static void fall(int n)
{
    Bump bump;

    if (n == 0)
        throw std::runtime_error(std::string("bottom"));
    fall(n - 1);
    use(n);
}

static void work()
{
    for (int i = 0; i < 30; i++) {
        try {
            fall(10);
        } catch (const std::exception &e) {
            MUST(e.what()[0] == 'b');
        }
        std::lock_guard<std::mutex> lock(m);
        count++;
    }
}

int main()
{
    std::thread a(work), b(work);

    a.join();
    b.join();
    MUST(count == 2 * 30 * 12);
    return 0;
}
