// Each thread has a part of an array, from first to end: both are computed from its number, or given to it.
// WRONG 1: the end is in the part
// WRONG 2: the part is longer than it is far from the next one
// WRONG 3: the end is that of another part for some
// WRONG 4: two threads have one number
// WRONG 5: the index goes on behind the loop
// WRONG 6: the first of a part is changed when its thread has begun
#include "shapes.h"

enum { T = 4, N = 64, K = N / T };
int constant[N + K], computed[N + K], by_unsigned[N + K], given[N + K], by_id[N + K], closed[N + K], *heap,
    by_pointer[N + K], in_callee[N + K];
struct part {
    int from, to, id;
} part[T];

static void *thread(void *arg)
{
    long i = (long)arg;
    for (long k = i * K; k W1(<=, <)(i + W2(2, W3(1 + i % 2, 1))) * K; k++)
        constant[k] = 1; // HERE
    int id = (int)i, n = N / T, first = id * n, end = first + n W2(+1, ), k;
    for (k = first; k < end; k++)
        computed[k]++;        // HERE
    computed[W5(k, first)]++; // HERE
    for (size_t u = (size_t)i * K; u W1(<=, <)(size_t) i * K + K; u++)
        by_unsigned[W5(u + 1, u)]++; // HERE
    for (long c = i * K; c <= i * K + K - W1(0, 1); c++)
        closed[c]++; // HERE
    k = first;
    while (k < end) {
        heap[k]++; // HERE
        W3(if (k & 1) end++;, )
        k++;
    }
    return NULL;
}

static void *worker(void *arg)
{
    struct part *p = arg;
    for (int k = p->from; k W1(<=, <) p->to; k++)
        given[k]++; // HERE
    for (int k = p->id * K; k < (p->id + W2(2, 1)) * K; k++)
        by_id[k]++; // HERE
    return NULL;
}

static void fill(int *x, int from, int to)
{
    for (int k = from; k < to; k++)
        x[k] = k; // HERE
}

static void *with_pointer(void *arg)
{
    int *own = arg;
    for (int k = 0; k W1(<=, <) K W2(+1, ); k++)
        own[k] = k; // HERE
    return NULL;
}

static void *calling(void *arg)
{
    int id = *(int *)arg;
    fill(in_callee, id * K, id * K + K W1(+1, ));
    return NULL;
}

int main(void)
{
    pthread_t t[T];
    heap = malloc((N + K) * sizeof *heap);
    for (long i = 0; i < T; i++)
        pthread_create(&t[i], NULL, thread, (void *)(W4(i / 2, i)));
    for (int i = 0; i < T; i++)
        pthread_join(t[i], NULL);
    for (int i = 0; i < T; i++) {
        part[i].id = W4(0, i);
        part[i].from = W3(i * (K - i), i * K);
        part[i].to = (i + W2(2, 1)) * K;
        pthread_create(&t[i], NULL, worker, &part[i]);
        W6(part[i].from = 0;, )
    }
    for (int i = 0; i < T; i++)
        pthread_join(t[i], NULL);
    for (int i = 0; i < T; i++)
        pthread_create(&t[i], NULL, with_pointer, by_pointer + i * (K W3(-1, )));
    for (int i = 0; i < T; i++)
        pthread_join(t[i], NULL);
    for (int i = 0; i < T; i++) {
        part[i].id = W4(i / 2, i);
        pthread_create(&t[i], NULL, calling, &part[i].id);
    }
    for (int i = 0; i < T; i++)
        pthread_join(t[i], NULL);
    return constant[0];
}
