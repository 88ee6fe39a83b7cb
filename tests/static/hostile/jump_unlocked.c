// A lock is held at setjmp, and no longer when it comes back.
#include <pthread.h>
#include <setjmp.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int x, y;

static jmp_buf *where;

static __attribute__((noinline)) void leave(void)
{
    pthread_mutex_unlock(&m);
    longjmp(*where, 1);
}

static void *other(void *p)
{
    pthread_mutex_lock(&m);
    x++; // RACE a
    pthread_mutex_unlock(&m);
    y++;
    return p;
}

int main(void)
{
    pthread_t t;
    jmp_buf j;
    where = &j;
    volatile int started = 0;
    pthread_mutex_lock(&m);
    if (setjmp(j) == 0) {
        pthread_create(&t, 0, other, 0);
        started = 1;
        leave();
    } else {
        x = 5; // RACE a
    }
    if (started)
        pthread_join(t, 0);
    return 0;
}
