// A thread's stack is used again by the next one; its history must not be.
// NO RACE
#include "invisible.h"

__attribute__((noinline)) static void scribble(volatile char *p, int n)
{
    for (int i = 0; i < n; i++)
        p[i] = (char)i;
}

THREAD(child)
{
    char local[4096];

    scribble(local, sizeof(local));
    mark();
    return NULL;
}

int main(void)
{
    for (int i = 0; i < 8; i++) {
        pthread_t t = spawn(child, NULL);

        pthread_detach(t);
        after(i + 1);
    }
    return 0;
}
