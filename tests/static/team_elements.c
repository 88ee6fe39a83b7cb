// FLAGS -O0
// Threads that a loop creates, each with an element of its own: by pointer, by number, by both, through a function. The
// creator fills an element before it creates the thread, and reads it behind the join of that thread.
#include <pthread.h>
#include <stdlib.h>

enum { N = 8 };
struct work {
    int id;
    long from, to, sum;
    char text[16];
} works[N];
long by_number[N], by_int[N], sums[N];

static void add(struct work *w, long n)
{
    w->sum += n; // NO PAIR
}

static void set(long *all, int i)
{
    all[i] = i; // NO PAIR
}

static void *by_pointer(void *arg)
{
    struct work *w = arg;
    for (long i = w->from; i < w->to; i++) // NO PAIR
        add(w, i);
    w->text[3] = 1; // NO PAIR
    return NULL;
}

static void *by_count(void *arg)
{
    long id = (long)arg;
    by_number[id] = id; // NO PAIR
    set(by_int, (int)(long)arg);
    by_int[id]++; // NO PAIR
    return NULL;
}

static void *to_heap(void *arg)
{
    long *p = arg;
    *p += 1; // NO PAIR
    return NULL;
}

int main(void)
{
    pthread_t t[N], u[N], v[N];
    long sum = 0, *heap = calloc(N, sizeof *heap);
    for (int i = 0; i < N; i++) {
        works[i].id = i;         // NO PAIR
        works[i].from = i * 100; // NO PAIR
        works[i].to = i + 100;   // NO PAIR
        pthread_create(&t[i], NULL, by_pointer, &works[i]);
    }
    for (long i = 0; i < N; i++) {
        by_number[i] = -1; // NO PAIR
        if (pthread_create(&u[i], NULL, by_count, (void *)i) != 0)
            abort();
    }
    for (unsigned i = 0; i < N; i++)
        pthread_create(&v[i], NULL, to_heap, heap + i);
    for (int i = 0; i < N; i++) {
        pthread_join(t[i], NULL);
        sum += works[i].sum; // NO PAIR
    }
    for (long i = 0; i < N; i++)
        pthread_join(u[i], NULL);
    for (unsigned i = 0; i < N; i++) {
        pthread_join(v[i], NULL);
        if (heap[i] > 1)    // NO PAIR
            sum += heap[i]; // NO PAIR
    }
    for (int i = 0; i < N; i++)
        sum += by_number[i] + by_int[i] + works[i].to; // NO PAIR
    return (int)sum;
}
