// thread_local objects with constructors and destructors.
// NO RACE
#include <mutex>
#include <string>
#include <thread>

#include "invisible.h"

static std::mutex m;
static int destroyed;

struct Buffer {
    std::string text = "empty";
    ~Buffer()
    {
        std::lock_guard<std::mutex> lock(m);
        destroyed++;
    }
};

static thread_local Buffer buffer;

int main()
{
    for (int i = 0; i < 5; i++) {
        auto work = [] {
            MUST(buffer.text == "empty");
            buffer.text = "a text too long to be stored in the string object itself";
        };
        std::thread a(work), b(work);

        a.join();
        b.join();
    }
    MUST(destroyed == 10);
    return 0;
}
