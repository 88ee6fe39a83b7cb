// A function that returns with a lock held, and throws without it: where the exception is caught, nothing is held. What
// the catching function holds itself it still has there.
#include <mutex>
#include <pthread.h>

static std::mutex m, outer;
static int x, y, z;
static volatile int refuse = 1;

__attribute__((noinline)) static void enter()
{
    m.lock();
    if (refuse) {
        m.unlock();
        throw 1;
    }
}

__attribute__((noinline)) static void fail()
{
    std::lock_guard<std::mutex> hold(m);
    if (refuse)
        throw 2;
}

static void *thread(void *arg)
{
    try {
        enter();
        y++; // NO RACE
        m.unlock();
    } catch (int) {
        x++; // RACE a
    }
    std::lock_guard<std::mutex> hold(outer);
    try {
        fail();
    } catch (int) {
        z++; // NO RACE
    }
    return arg;
}

int main()
{
    pthread_t t, u;
    pthread_create(&t, nullptr, thread, nullptr);
    pthread_create(&u, nullptr, thread, nullptr);
    pthread_join(t, nullptr);
    pthread_join(u, nullptr);
}
