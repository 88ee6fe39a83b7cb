// Members that are checked together, of which some were accessed in this epoch before and some were not: the check as a whole
// misses, and records what is new.
#include "invisible.h"

struct pair {
    int known, fresh;
    long known_too, fresh_too;
};
static struct pair shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static __attribute__((noinline)) void some(struct pair *p)
{
    p->known = 1;
    p->known_too = 2;
}

static __attribute__((noinline)) void all(struct pair *p)
{
    p->known = 3;
    p->fresh = 4; // RACE a:write
    p->known_too = 5;
    p->fresh_too = 6; // RACE b:write
}

THREAD(first)
{
    for (int round = 0; round < 3; round++) {
        struct pair *p = &shared;
        pthread_mutex_lock(&lock);
        some(p);
        all(p);
        pthread_mutex_unlock(&lock);
    }
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    pthread_mutex_lock(&lock);
    long known = shared.known + shared.known_too;
    pthread_mutex_unlock(&lock);
    mark();
    use(known);
    return NULL;
}

THREAD(third)
{
    after(2);
    use(shared.fresh);     // RACE a:read
    use(shared.fresh_too); // RACE b:read
    return NULL;
}

int main(void)
{
    pthread_t t = spawn(third, NULL);
    both(first, second);
    join(t);
    return 0;
}
