// The last user of an object destroys the mutex in it and makes something else of the memory, as POSIX allows
// once it has seen, under the mutex, that nobody else will come; then it is given away as a mutex again.
// NO RACE
#include <stdatomic.h>
#include <string.h>

#include "invisible.h"

struct object {
    pthread_mutex_t lock;
    int users, number;
};

static union {
    struct object object;
    char bytes[sizeof(struct object)];
} memory;
static _Atomic(struct object *) offered;

static void make(int number)
{
    pthread_mutex_init(&memory.object.lock, NULL);
    memory.object.users = 2;
    memory.object.number = number;
    atomic_store_explicit(&offered, &memory.object, memory_order_release);
}

static int leave(struct object *o)
{
    int left;

    pthread_mutex_lock(&o->lock);
    left = --o->users;
    pthread_mutex_unlock(&o->lock);
    return left;
}

static int use_and_leave(int number)
{
    struct object *o = atomic_load_explicit(&offered, memory_order_acquire);

    MUST(o->number == number); /* never changes while the object lives: no lock is needed */
    return leave(o);
}

THREAD(first)
{
    make(1);
    MUST(leave(&memory.object) == 1);
    mark();
    after(2);
    MUST(use_and_leave(2) == 0);
    pthread_mutex_destroy(&memory.object.lock);
    return NULL;
}

THREAD(second)
{
    after(1);
    MUST(use_and_leave(1) == 0);
    pthread_mutex_destroy(&memory.object.lock);
    memset(memory.bytes, 'x', sizeof memory.bytes);
    make(2);
    MUST(leave(&memory.object) == 1);
    mark();
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
