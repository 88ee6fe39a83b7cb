// FLAGS -O0
// Loops that join fewer than were created, or others: another bound, another begin, a way out, a handle written over, a
// bound that changes in between.
#include <pthread.h>
#include <stdlib.h>

int a, b, c, d, e, f, threads = 4;
pthread_t ta[8], tb[8], tc[8], td[8], te[8], tf[8];

#define THREAD(name, variable)                              \
    static void *name(void *arg)                            \
    {                                                       \
        __atomic_fetch_add(&variable, 1, __ATOMIC_RELAXED); \
        return arg;                                         \
    }

THREAD(bound, a)   // PAIR a:sound
THREAD(begin, b)   // PAIR b:sound
THREAD(way_out, c) // PAIR c:sound
THREAD(over, d)    // PAIR d:sound
THREAD(changes, e) // PAIR e:sound
THREAD(some, f)    // PAIR f:sound

int main(int argc, char **argv)
{
    for (int i = 0; i < 8; i++)
        pthread_create(&ta[i], NULL, bound, NULL);
    for (int i = 0; i < 7; i++)
        pthread_join(ta[i], NULL);
    a = 1; // PAIR a

    for (int i = 0; i < 8; i++)
        pthread_create(&tb[i], NULL, begin, NULL);
    for (int i = 1; i < 8; i++)
        pthread_join(tb[i], NULL);
    b = 1; // PAIR b

    for (int i = 0; i < 8; i++)
        pthread_create(&tc[i], NULL, way_out, NULL);
    for (int i = 0; i < 8; i++) {
        pthread_join(tc[i], NULL);
        if (rand() == 0)
            break;
    }
    c = 1; // PAIR c

    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 8; i++)
            pthread_create(&td[i], NULL, over, NULL);
    for (int i = 0; i < 8; i++)
        pthread_join(td[i], NULL);
    d = 1; // PAIR d

    for (int i = 0; i < threads; i++)
        pthread_create(&te[i], NULL, changes, NULL);
    threads = 2;
    for (int i = 0; i < threads; i++)
        pthread_join(te[i], NULL);
    e = 1; // PAIR e

    for (int i = 0; i < 8; i++)
        pthread_create(&tf[i], NULL, some, NULL);
    for (int i = 0; i < 8; i++)
        if (i != argc)
            pthread_join(tf[i], NULL);
    f = 1; // PAIR f
    return 0;
}
