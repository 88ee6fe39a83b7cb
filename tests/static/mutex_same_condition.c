// Locked under a condition, and what is done under the same condition.
// FLAGS -O0
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int x, y;

__attribute__((noinline)) static void work(int careful, int more)
{
    if (careful)
        pthread_mutex_lock(&lock);
    if (more)
        __asm__ volatile("");
    if (careful)
        x++; // NO PAIR
    y++;     // PAIR a
    if (careful)
        pthread_mutex_unlock(&lock);
}

static void *thread(void *arg)
{
    work(arg != NULL, 1);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, thread, argv[i]);
    return 0;
}
