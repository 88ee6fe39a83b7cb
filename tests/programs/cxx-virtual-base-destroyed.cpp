// As cxx-virtual-destroyed, of a class with a virtual base: its destructor is told which vtable pointers to store.
// NO RACE
// FLAGS: -O0
#include <semaphore.h>

#include <thread>

#include "invisible.h"

struct Base {
    int value = 42;
    virtual ~Base() = default;
};

struct Shared : virtual Base {
    sem_t idle;
    Shared()
    {
        sem_init(&idle, 0, 0);
    }
    ~Shared() override
    {
        sem_wait(&idle);
    }
    virtual int answer()
    {
        return value;
    }
};

int main()
{
    Shared *s = new Shared;
    std::thread user([s] {
        after(1);
        MUST(s->answer() == 42);
        sem_post(&s->idle);
    });

    mark();
    delete s;
    user.join();
    return 0;
}
