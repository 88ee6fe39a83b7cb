// A creator does not run ahead of the threads it creates: nearly all of them come to do something while it is still in the call. One
// of fifty is asked for, since the scheduler has the last word on a busy machine; without help there is none.
// TSAN: it does not wait for threads to begin
// NO RACE
#include "invisible.h"

enum { THREADS = 50 };

static int passed[THREADS], early;

static int is_set(const int *flag)
{
    int seen;

    __asm__ volatile("movl %1, %0" : "=r"(seen) : "m"(*flag) : "memory");
    return seen;
}

static void set(int *flag)
{
    __asm__ volatile("movl $1, %0" : "=m"(*flag) : : "memory");
}

THREAD(child)
{
    early += !is_set(arg);
    return NULL;
}

int main(void)
{
    for (int i = 0; i < THREADS; i++) {
        pthread_t t = spawn(child, &passed[i]);

        set(&passed[i]);
        join(t);
    }
    MUST(early > 0);
    return 0;
}
