// A pointer walks over the handles, the elements that threads are given, or both, to an end that is compared in any way.
// WRONG 1: the last one is not joined
// WRONG 2: the pointer skips one
// WRONG 3: the pointer changes within a round
// WRONG 4: the second loop walks over another array
// WRONG 5: all threads are given the element that the walk begins with
// WRONG 6: the walk begins behind the first one
#include "shapes.h"

enum { N = 8 };
struct work {
    pthread_t handle;
    int in, out;
} work[N];
int up, other_end, last, number, mixed, done, given[N];
pthread_t global[N];

#define THREAD(x)                                  \
    static void *set_##x(void *arg)                \
    {                                              \
        __atomic_store_n(&x, 1, __ATOMIC_RELAXED); \
        return arg;                                \
    }
THREAD(up)        // HERE
THREAD(other_end) // HERE
THREAD(last)      // HERE
THREAD(number)    // HERE
THREAD(mixed)     // HERE
THREAD(done)      // HERE

static void *worker(void *arg)
{
    struct work *w = arg;
    w->out = w->in; // HERE
    return arg;
}

static void *with_pointer(void *arg)
{
    int *own = arg;
    ++*own; // HERE
    return arg;
}

static void by_number(int n)
{
    pthread_t *t = malloc((size_t)n * sizeof *t), *p;
    for (p = t; p < t + n; p++)
        pthread_create(p, NULL, set_number, NULL);
    for (p = t W6(+1, ); p < t + n W1(-1, ); p++)
        pthread_join(*p, NULL);
    number = 0; // HERE
    free(t);
}

int main(void)
{
    pthread_t t[N], u[N], *p;
    int sum = 0;
    for (p = t; p < t + N; p++)
        pthread_create(p, NULL, set_up, NULL);
    W4(for (p = u; p < u + N; p++) pthread_create(p, NULL, set_up, NULL);, )
    for (p = W6(t + 1, t); p < t + N W1(-1, ); p += W2(2, 1)) {
        W3(p += input();, )
        pthread_join(*p, NULL);
    }
    up = 0; // HERE

    for (p = global; p != &global[N]; ++p)
        pthread_create(p, NULL, set_other_end, NULL);
    for (p = W4(t, global); W4(t, global) + N W1(-1, ) > p; p++) {
        W3(if (input()) continue;, )
        pthread_join(*p, NULL);
    }
    other_end = 0; // HERE

    for (p = t; p <= &t[N - 1]; p++)
        pthread_create(p, NULL, set_last, NULL);
    p = t;
    while (p <= t + N - W1(2, 1))
        pthread_join(*p++, NULL);
    last = 0; // HERE

    for (p = t; p < t + N; p++)
        pthread_create(p, NULL, set_mixed, NULL);
    for (int i = W6(1, 0); i < N; i += W2(2, 1))
        pthread_join(t[i], NULL);
    mixed = 0; // HERE

    p = t;
    do
        pthread_create(p, NULL, set_done, NULL);
    while (++p < t + N);
    p = t;
    do
        pthread_join(*p, NULL);
    while (++p != t + N W1(-1, ));
    done = 0; // HERE

    for (struct work *w = work; w < work + N; w++) {
        w->in = 1; // HERE
        pthread_create(&w->handle, NULL, worker, W5(work, w));
    }
    for (struct work *w = work W6(+1, ); w < work + N; w++) {
        pthread_join(w->handle, NULL);
        sum += W2(w[w < work + N - 1].out, w->out); // HERE
    }
    int *own = given;
    for (p = t; p < t + N; p++, own += W5(0, 1))
        pthread_create(p, NULL, with_pointer, &given[W5(own - given, p - t)]);
    for (p = t; p < t + N; p++)
        pthread_join(*p, NULL);
    by_number(input());
    return sum;
}
