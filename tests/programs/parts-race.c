// A thread that goes through memory byte by byte gathers parts of words before it records them. A byte that waits
// there races like any other, whichever side waits, also if the thread learns from a lock in between.
#include "invisible.h"

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned char noise[8192];
_Alignas(64) unsigned char written;
_Alignas(64) unsigned char seen;
_Alignas(64) unsigned char learned;

/* Bytes of the same words in different epochs, more of them than are kept apart. */
static void make_many(void)
{
    for (int epoch = 0; epoch < 4; epoch++) {
        for (unsigned i = (unsigned)epoch; i < sizeof(noise); i += 4)
            noise[i] = 1;
        pthread_mutex_lock(&m);
        pthread_mutex_unlock(&m);
    }
}

THREAD(bytes)
{
    make_many();
    written = 1;  // RACE a:write
    use(seen);    // RACE b:read
    use(learned); // RACE c:read
    mark();
    after(2);
    pthread_mutex_lock(&m); /* now the other's write to `learned` seems to have happened before */
    pthread_mutex_unlock(&m);
    return NULL;
}

THREAD(other)
{
    after(1);
    use(written); // RACE a:read
    seen = 1;     // RACE b:write
    learned = 1;  // RACE c:write
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    mark();
    return NULL;
}

int main(void)
{
    both(bytes, other);
    return 0;
}
