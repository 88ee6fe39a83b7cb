// Out of a function by longjmp, which unlocks nothing.
#include <pthread.h>
#include <setjmp.h>

int x, y;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static void work(jmp_buf out, int n)
{
    pthread_mutex_lock(&m);
    x += n; // NO PAIR
    pthread_mutex_unlock(&m);
    if (n > 3)
        longjmp(out, 1);
}

static void *thread(void *arg)
{
    jmp_buf out;
    if (setjmp(out) == 0)
        work(out, (int)(long)arg);
    y++; // PAIR a
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t, u;
    pthread_create(&t, NULL, thread, (void *)(long)argc);
    pthread_create(&u, NULL, thread, (void *)(long)argc);
    pthread_join(t, NULL);
    return pthread_join(u, NULL);
}
