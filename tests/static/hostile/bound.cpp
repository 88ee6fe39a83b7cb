// std::thread with a member function and a reference; std::function; a shared lock that writes.
#include <functional>
#include <shared_mutex>
#include <thread>
std::shared_mutex sm;
int x, y;
std::function<void(int &)> fn;

struct worker {
    int n = 0;
    void run(int &r)
    {
        r++; // RACE a
        n++; // RACE b
    }
};

int main()
{
    fn = [](int &r) {
        std::shared_lock<std::shared_mutex> l(sm);
        r++; // RACE c
    };
    worker w;
    std::thread a(&worker::run, &w, std::ref(x));
    std::thread b(fn, std::ref(y));
    fn(y);
    x++;     // RACE a
    w.n = 2; // RACE b
    a.join();
    b.join();
}
