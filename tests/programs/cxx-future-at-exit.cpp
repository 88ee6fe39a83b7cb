// Results that are to be known at the end of a thread: the library makes them known, after the thread-local
// objects are gone, and who waits may use the result and all that came before.
// NO RACE
// TSAN: it does not see what the library stores
#include <condition_variable>
#include <future>
#include <mutex>
#include <string>
#include <thread>

#include "invisible.h"

static int last_words, data, told;

struct AtEnd {
    int value = 0;
    ~AtEnd()
    {
        last_words = value;
    }
};
static thread_local AtEnd at_end;

int main()
{
    std::promise<std::string> promise;
    std::thread promises([&] {
        data = 1;
        at_end.value = 1;
        promise.set_value_at_thread_exit(std::string(100, 'x'));
    });
    std::string value = promise.get_future().get();
    MUST(value.size() == 100 && data++ == 1 && last_words++ == 1);
    promises.join();

    std::packaged_task<int(int)> task([](int n) { return data += n; });
    std::future<int> result = task.get_future();
    std::thread runs([&] {
        at_end.value = 2;
        task.make_ready_at_thread_exit(3);
    });
    MUST(result.get() == 5 && data++ == 5 && last_words++ == 2);
    runs.join();

    std::mutex m;
    std::condition_variable c;
    std::thread tells([&] {
        std::unique_lock<std::mutex> lock(m);
        at_end.value = 3;
        told = 1;
        std::notify_all_at_thread_exit(c, std::move(lock));
    });
    std::unique_lock<std::mutex> lock(m);
    c.wait(lock, [] { return told == 1; });
    MUST(last_words++ == 3);
    lock.unlock();
    tells.join();
    return 0;
}
