// One function creates the threads, another one joins them; both are given the handles, and how many there are.
// WRONG 1: fewer are joined
// WRONG 2: others are joined
// WRONG 3: the threads are joined by name only: the function returns early
// WRONG 4: the first function is called again
// WRONG 5: the handles are copied over in between
// WRONG 6: one more is created when the loop ends
#include "shapes.h"

enum { N = 8 };
int x;

static void *thread(void *arg)
{
    __atomic_store_n(&x, 1, __ATOMIC_RELAXED); // HERE
    return arg;
}

static void start(pthread_t *t, int n)
{
    for (int i = 0; W6((pthread_create(&t[i], NULL, thread, NULL), i < n), i < n); i++)
        W6(, pthread_create(&t[i], NULL, thread, NULL));
}

static void stop(pthread_t *t, int n)
{
    for (int i = 0; i < n; i++) {
        W3(if (input()) return;, )
        pthread_join(t[i], NULL);
    }
}

int main(void)
{
    pthread_t t[N + 1], u[N];
    int n = input() & 7;
    start(t, n);
    W4(start(u, n);, )
    W5(t[1] = t[0];, )
    stop(W2(u, t), n W1(-1, ));
    x = 0; // HERE
    return 0;
}
