// A thread that holds very many locks takes one more for reading: another reader's release must not be lost.
// NO RACE
// TSAN: it hangs, holding more locks than it has room for
#include "invisible.h"

enum { MANY = 200 };
pthread_rwlock_t many[MANY], l = PTHREAD_RWLOCK_INITIALIZER;
int x;

THREAD(reader)
{
    pthread_rwlock_rdlock(&l);
    use(x);
    pthread_rwlock_unlock(&l);
    mark();
    return NULL;
}

THREAD(hoarder)
{
    for (int i = 0; i < MANY; i++)
        pthread_rwlock_rdlock(&many[i]);
    after(1);
    pthread_rwlock_rdlock(&l);
    use(x);
    pthread_rwlock_unlock(&l);
    mark();
    for (int i = MANY; i-- > 0;)
        pthread_rwlock_unlock(&many[i]);
    return NULL;
}

THREAD(writer)
{
    after(2);
    pthread_rwlock_wrlock(&l);
    x = 1;
    pthread_rwlock_unlock(&l);
    return NULL;
}

int main(void)
{
    pthread_t t;

    for (int i = 0; i < MANY; i++)
        pthread_rwlock_init(&many[i], NULL);
    t = spawn(writer, NULL);
    both(reader, hoarder);
    join(t);
    return 0;
}
