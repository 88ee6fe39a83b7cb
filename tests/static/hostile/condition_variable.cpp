// std::condition_variable: what is under the lock is safe, what comes after it is not.
#include <condition_variable>
#include <mutex>
#include <thread>
std::mutex m;
std::condition_variable cv;
bool ready;
int data, loose;

static void consumer()
{
    std::unique_lock<std::mutex> l(m);
    cv.wait(l, [] { return ready; });
    data++; // NO RACE
    l.unlock();
    loose++; // RACE a
}

int main()
{
    std::thread t(consumer);
    {
        std::lock_guard<std::mutex> l(m);
        data = 1; // NO RACE
        ready = true;
    }
    cv.notify_one();
    loose = 3; // RACE a
    {
        std::scoped_lock l(m);
        data++; // NO RACE
    }
    t.join();
}
