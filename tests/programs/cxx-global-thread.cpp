// A global object with a thread of its own: started by its constructor, before main, and joined by its
// destructor, after main; other destructors run when it has ended.
// NO RACE
// OUTPUT: 4 entries
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "invisible.h"

struct Log {
    std::vector<std::string> entries;
    ~Log()
    {
        std::printf("%zu entries\n", entries.size());
    }
};
static Log written; /* constructed first, destroyed last */

class Writer
{
    std::mutex m;
    std::condition_variable c;
    std::vector<std::string> queue;
    bool over = false;
    std::thread thread;

    void run()
    {
        std::unique_lock<std::mutex> lock(m);
        while (!over || !queue.empty()) {
            c.wait(lock, [this] { return over || !queue.empty(); });
            for (auto &s : queue)
                written.entries.push_back(std::move(s));
            queue.clear();
        }
        lock.unlock();
        written.entries.push_back("no more");
    }

  public:
    Writer() : thread([this] { run(); })
    {
    }
    void add(const char *text)
    {
        std::lock_guard<std::mutex> lock(m);
        queue.emplace_back(text);
        c.notify_one();
    }
    ~Writer()
    {
        {
            std::lock_guard<std::mutex> lock(m);
            over = true;
        }
        c.notify_one();
        thread.join();
        written.entries.push_back("the end");
    }
};
static Writer writer;

int main()
{
    writer.add("a first line that is too long to be kept in the string itself");
    writer.add("second");
    return 0;
}
