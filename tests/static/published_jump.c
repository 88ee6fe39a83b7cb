// A block is shown, and then the function goes back to where it had not been.
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *shown;
static jmp_buf back;

static void *thread(void *arg)
{
    pthread_mutex_lock(&lock);
    int *n = shown; // NO PAIR
    pthread_mutex_unlock(&lock);
    if (n)
        *n = 1; // PAIR a
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    int *n = malloc(sizeof *n);
    if (!n)
        abort();
    if (setjmp(back) == 0) {
        pthread_mutex_lock(&lock);
        shown = n; // NO PAIR
        pthread_mutex_unlock(&lock);
        longjmp(back, 1);
    }
    *(volatile int *)n = 2; // PAIR a
    return 0;
}
