// A block is shown by an address somewhere in it.
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *shown;

static void *thread(void *arg)
{
    pthread_mutex_lock(&lock);
    char *s = shown; // NO PAIR
    pthread_mutex_unlock(&lock);
    if (s)
        *s = 1; // PAIR a
    return arg;
}

int main(int n, char **args)
{
    (void)args;
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    char *s = malloc(64);
    if (!s)
        abort();
    s[0] = 0; // NO PAIR
    pthread_mutex_lock(&lock);
    shown = s + n; // NO PAIR
    pthread_mutex_unlock(&lock);
    s[1] = 2; // PAIR a
    return 0;
}
