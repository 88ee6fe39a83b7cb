// Readers share, writers exclude.
// NO RACE
#include "invisible.h"

pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
long value;

THREAD(writer)
{
    for (int i = 0; i < 200; i++) {
        pthread_rwlock_wrlock(&l);
        value++;
        pthread_rwlock_unlock(&l);
    }
    return NULL;
}

THREAD(reader)
{
    for (int i = 0; i < 200; i++) {
        pthread_rwlock_rdlock(&l);
        use(value);
        pthread_rwlock_unlock(&l);
    }
    return NULL;
}

int main(void)
{
    pthread_t a = spawn(writer, NULL), b = spawn(reader, NULL), c = spawn(reader, NULL),
              d = spawn(writer, NULL);

    join(a);
    join(b);
    join(c);
    join(d);
    MUST(value == 400);
    return 0;
}
