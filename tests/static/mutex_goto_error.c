// Errors leave by a common exit that unlocks.
#include <pthread.h>

int x, errors, done;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static int add(int n)
{
    int result = -1;
    pthread_mutex_lock(&m);
    if (n < 0) {
        errors++; // NO PAIR
        goto out;
    }
    if (n > 100)
        goto out;
    x += n; // NO PAIR
    result = 0;
out:
    pthread_mutex_unlock(&m);
    done++; // PAIR a
    return result;
}

static void *thread(void *arg)
{
    add((int)(long)arg);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, (void *)(long)argc);
    add(argc - 2);
    pthread_join(t, NULL);
    return 0;
}
