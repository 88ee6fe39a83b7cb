// A destructor waits until the last user is done. The vtable pointer that it stores first is the one the object has.
// NO RACE
// FLAGS: -O0
#include <semaphore.h>

#include <thread>

#include "invisible.h"

struct Shared {
    sem_t idle;
    Shared()
    {
        sem_init(&idle, 0, 0);
    }
    virtual ~Shared()
    {
        sem_wait(&idle);
    }
    virtual int answer()
    {
        return 42;
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
