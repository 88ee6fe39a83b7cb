// A writer comes after every reader before it, not only after the last one to leave.
// NO RACE
#include "invisible.h"

pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
int mine[2], total;

THREAD(first)
{
    pthread_rwlock_rdlock(&l);
    mine[0] = 1;
    mark();
    after(2);
    pthread_rwlock_unlock(&l);
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    pthread_rwlock_rdlock(&l);
    mine[1] = 2;
    mark();
    after(3);
    pthread_rwlock_unlock(&l);
    mark();
    return NULL;
}

THREAD(writer)
{
    after(4);
    pthread_rwlock_wrlock(&l);
    total = mine[0] + mine[1];
    pthread_rwlock_unlock(&l);
    return NULL;
}

int main(void)
{
    pthread_t a = spawn(first, NULL), b = spawn(second, NULL), c = spawn(writer, NULL);

    join(a);
    join(b);
    join(c);
    MUST(total == 3);
    return 0;
}
