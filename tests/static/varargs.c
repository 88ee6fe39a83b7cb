// Pointers through an ellipsis.
#include <pthread.h>
#include <stdarg.h>

int x, y;

__attribute__((noinline)) static void set_all(int n, ...)
{
    va_list args;
    va_start(args, n);
    for (int i = 0; i < n; i++)
        *va_arg(args, int *) = 1; // PAIR a
    va_end(args);
}

static void *thread(void *arg)
{
    set_all(1, &x);
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    x = 2; // PAIR a
    y = 2; // NO PAIR
    pthread_join(t, NULL);
    return 0;
}
