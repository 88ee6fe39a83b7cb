// FLAGS -O0
// Locks in one array and data in another, and the indices differ, or are not for one element each.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

pthread_mutex_t locks[8];
int next[9], half[8], many[8], other[8];

static void *thread(void *arg)
{
    int i = rand() % 8;
    pthread_mutex_lock(&locks[i]);
    next[i]++;     // PAIR a:sound
    next[i + 1]++; // PAIR a b:sound
    pthread_mutex_unlock(&locks[i]);

    pthread_mutex_lock(&locks[i]);
    half[i / 2]++; // PAIR c:sound
    pthread_mutex_unlock(&locks[i]);

    pthread_mutex_lock(&locks[i]);
    memset(&many[i], 0, 2 * sizeof many[0]); // PAIR d:sound
    pthread_mutex_unlock(&locks[i]);

    pthread_mutex_lock(&locks[i]);
    i = rand() % 8;
    other[i]++; // PAIR e:sound
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
