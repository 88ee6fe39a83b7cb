// An exception that two threads hold is freed by the one that lets go of it last, which libstdc++ finds out by
// counting. Both ways to let go: the end of a catch block, and the end of an exception_ptr.
// NO RACE
// TSAN: does not see the counting inside libstdc++
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include "invisible.h"

struct loud : std::runtime_error {
    std::string more;
    loud() : std::runtime_error("thrown by the first thread, caught by the second"), more(100, 'x')
    {
    }
};

static std::mutex lock;
static std::exception_ptr handed[2];

static void look(std::exception_ptr p)
{
    try {
        std::rethrow_exception(std::move(p));
    } catch (const loud &e) {
        MUST(e.what()[0] == 't' && e.more.size() == 100);
    }
}

int main()
{
    std::thread first([] {
        for (int i = 0; i < 2; i++) {
            std::exception_ptr mine;

            try {
                throw loud();
            } catch (...) {
                mine = std::current_exception();
            }
            {
                std::lock_guard<std::mutex> hold(lock);
                handed[i] = mine;
            }
            mark();
            after(3 * i + 2);
            if (i == 0)
                mine = nullptr; // the last reference, dropped by a pointer
            else
                look(std::move(mine)); // and by the end of a catch block
            mark();
        }
    });
    for (int i = 0; i < 2; i++) {
        std::exception_ptr mine;

        after(3 * i + 1);
        {
            std::lock_guard<std::mutex> hold(lock);
            mine.swap(handed[i]);
        }
        look(std::move(mine));
        mark();
        after(3 * i + 3);
    }
    first.join();
    return 0;
}
