// The thread reads its number from what it was given: from its element, from a block that was made for it.
// WRONG 1: all elements have one number
// WRONG 2: the number is stored when the thread has begun
// WRONG 3: the thread changes it
// WRONG 4: the number is stored for some only
// WRONG 5: all threads are given one place
// WRONG 6: another thread writes the numbers
#include "shapes.h"

enum { N = 8 };
struct work {
    int id;
    long result;
    pthread_t handle;
} work[N];
long results[N], by_int[N], by_block[N];

static void *worker(void *arg)
{
    struct work *w = arg;
    W3(w->id /= 2;, )
    results[w->id] = w->result; // HERE
    return arg;
}

static void *with_int(void *arg)
{
    int id = *(int *)arg;
    by_int[id]++; // HERE
    return NULL;
}

static void *with_block(void *arg)
{
    int id = *(int *)arg;
    free(arg);
    by_block[id]++; // HERE
    return NULL;
}

static void *writer(void *arg)
{
    work[3].id = 4;
    return arg;
}

int main(void)
{
    pthread_t t[N], other;
    int ids[N];
    long sum = 0;
    W6(pthread_create(&other, NULL, writer, NULL);, (void)other;)
    for (int i = 0; i < N; i++) {
        W4(if (i != 3), )
        W2(, work[i].id = W1(0, i);)
        work[i].result = i;
        pthread_create(&work[i].handle, NULL, worker, &work[i]);
        W2(work[i].id = i;, )
    }
    for (int i = 0; i < N; i++) {
        pthread_join(work[i].handle, NULL);
        sum += results[i]; // HERE
    }
    for (int i = 0; i < N; i++) {
        int at = W5(0, i);
        ids[at] = i;
        pthread_create(&t[i], NULL, with_int, &ids[at]);
    }
    for (int i = 0; i < N; i++)
        pthread_join(t[i], NULL);
    for (int i = 0; i < N; i++) {
        int *id = malloc(sizeof *id);
        *id = W1(i / 2, i);
        pthread_create(&t[i], NULL, with_block, id);
    }
    for (int i = 0; i < N; i++)
        pthread_join(t[i], NULL);
    return (int)sum;
}
