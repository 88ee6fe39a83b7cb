// FLAGS -O0
// Locks in one array and data in another, by the same index.
#include <pthread.h>
#include <stdlib.h>

pthread_mutex_t locks[8];
int data[8], first[8];
struct pair {
    int a, b;
} pairs[8];

static void take(int i)
{
    pthread_mutex_lock(&locks[i]);
}

static void leave(int i)
{
    pthread_mutex_unlock(&locks[i]);
}

static void add(int i, int n)
{
    data[i] += n; // NO PAIR
}

static void *thread(void *arg)
{
    int i = rand() % 8;
    pthread_mutex_lock(&locks[i]);
    data[i]++;      // NO PAIR
    pairs[i].a = 1; // NO PAIR
    add(i, 2);
    pthread_mutex_unlock(&locks[i]);
    for (int n = 0; n < 8; n++) {
        take(n);
        if (data[n] > 0)  // NO PAIR
            pairs[n].b--; // NO PAIR
        leave(n);
    }
    pthread_mutex_lock(&locks[3]);
    data[3] = 0;  // NO PAIR
    first[0] = 0; // PAIR a:sound
    pthread_mutex_unlock(&locks[3]);
    pthread_mutex_lock(&locks[i]);
    first[i] = 1; // PAIR a:sound
    pthread_mutex_unlock(&locks[i]);
    return arg;
}

int main(void)
{
    pthread_t t, u;
    for (int i = 0; i < 8; i++)
        pthread_mutex_init(&locks[i], NULL);
    pthread_create(&t, NULL, thread, NULL);
    pthread_create(&u, NULL, thread, NULL);
    pthread_join(t, NULL);
    return pthread_join(u, NULL);
}
