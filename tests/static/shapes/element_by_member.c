// The thread's structure has its number, and the array that the number is for; functions that are given it read them.
// WRONG 1: two threads have one number
// WRONG 2: the number is changed when the thread has begun
// WRONG 3: a function changes the number
// WRONG 4: the array is another one when the thread has begun
// WRONG 5: the structure of the next thread is used
// WRONG 6: the array begins elsewhere for some
#include "shapes.h"

enum { N = 8, K = 4 };
struct args {
    long id;
    int *table;
    int first, end;
} args[N + 1];
int in_callee[N], in_loop[N], table[2 * N], deep[N], copied[N];

static void deeper(const struct args *a, int *to)
{
    to[a->id]++; // HERE
}

static void put(struct args *a)
{
    W3(a->id = 0;, )
    in_callee[a->id]++; // HERE
    deeper(a, deep);
}

static void *worker(void *arg)
{
    struct args *a = arg;
    W5(a++;, )
    put(a);
    long id = a->id;
    copied[id] = 1; // HERE
    for (int k = 0; k < K; k++)
        in_loop[a->id] += k; // HERE
    a->table[a->id] = 1;     // HERE
    int *own = a->table;
    own[id]++; // HERE
    return NULL;
}

static void *with_part(void *arg)
{
    struct args *a = arg;
    for (int k = a->first; k < a->end; k++)
        a->table[k]++; // HERE
    return NULL;
}

int main(void)
{
    pthread_t t[N];
    int i;
    int *local = calloc(N, K * sizeof *local);
    for (i = 0; i < N; i++) {
        args[i].id = W1(i / 2, i);
        args[i].table = table W6(+(i & 1), );
        pthread_create(&t[i], NULL, worker, &args[i]);
        W2(args[i].id = 3;, )
        W4(args[i].table = table + 1;, )
    }
    for (i = 0; i < N; i++)
        pthread_join(t[i], NULL);
    for (i = 0; i < N; i++) {
        args[i].first = W1(0, i) * K;
        args[i].end = (i + 1) * K;
        args[i].table = local W6(+(i & 1), );
        pthread_create(&t[i], NULL, with_part, &args[i]);
        W2(args[i].end = N * K;, )
    }
    for (i = 0; i < N; i++)
        pthread_join(t[i], NULL);
    free(local);
    return table[0];
}
