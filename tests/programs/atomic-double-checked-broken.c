// Double-checked locking with a plain pointer: both the pointer and what it points to race.
// TSAN: it takes malloc for a write of its own
#include "invisible.h"

struct thing {
    int value;
};

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
struct thing *instance;

static struct thing *get(void)
{
    struct thing *t = instance; // RACE a:read

    if (!t) {
        pthread_mutex_lock(&m);
        t = instance;
        if (!t) {
            t = malloc(sizeof(*t));
            t->value = 7; // RACE b:write
            instance = t; // RACE a:write
        }
        pthread_mutex_unlock(&m);
    }
    return t;
}

THREAD(first)
{
    get();
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    MUST(get()->value == 7); // RACE b:read
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
