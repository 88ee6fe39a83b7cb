// A fault in a function of libc, after an atomic operation that is over: nothing that it held is let go of again.
// NO RACE
#define _GNU_SOURCE 1
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

enum { ROUNDS = 2000 };

size_t length; /* others might look at it, so it is found out */

static atomic_int shared;
static sigjmp_buf back;

static void jump(int number)
{
    (void)number;
    siglongjmp(back, 1);
}

static void *count(void *p)
{
    for (int i = 0; i < ROUNDS * 50; i++)
        atomic_fetch_add(&shared, 1);
    return p;
}

int main(void)
{
    char *bad = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_t t;
    signal(SIGSEGV, jump);
    pthread_create(&t, NULL, count, NULL);
    for (volatile int i = 0; i < ROUNDS; i++) {
        atomic_fetch_add(&shared, 1);
        if (sigsetjmp(back, 1) == 0)
            length = strlen(bad + i % 64);
    }
    pthread_join(t, NULL);
    return shared == ROUNDS * 51 ? 0 : 1;
}
