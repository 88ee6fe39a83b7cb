// No thread at setjmp, but one when it comes back.
#include <pthread.h>
#include <setjmp.h>
int x;

static jmp_buf j;

static pthread_t t;

static void *other(void *p)
{
    x++; // RACE a
    return p;
}

static __attribute__((noinline)) void start(void)
{
    pthread_create(&t, 0, other, 0);
    longjmp(j, 1);
}

int main(void)
{
    if (setjmp(j)) {
        x = 5; // RACE a
        pthread_join(t, 0);
        return 0;
    }
    start();
    return 0;
}
