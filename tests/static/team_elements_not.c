// FLAGS -O0
// The same, and each time one step is missing: an element is given twice, or the neighbour's is touched, or the creator comes
// too late or too early.
#include <pthread.h>
#include <stdlib.h>

enum { N = 8 };
struct work {
    long same, next, late, early, spans[1];
} works[N + 1];
long half[N], after[N], behind[N];

static void *given_twice(void *arg)
{
    struct work *w = arg;
    w->same++; // PAIR a:partition
    return NULL;
}

static void *neighbour(void *arg)
{
    struct work *w = arg;
    w->next++;       // PAIR c:partition
    (w + 1)->next++; // PAIR c
    return NULL;
}

static void *creator(void *arg)
{
    struct work *w = arg;
    w->late++;  // PAIR d
    w->early++; // PAIR e
    return NULL;
}

static void *number(void *arg)
{
    long i = (long)arg;
    half[i / 2]++; // PAIR f
    after[i]++;    // PAIR g
    i++;
    behind[i % N]++; // PAIR h
    return NULL;
}

int main(void)
{
    pthread_t t[N], u[N], v[N], w[N];
    long sum = 0;
    for (int i = 0; i < N; i++) {
        int k = i < N - 1 ? i : 0;
        pthread_create(&t[i], NULL, given_twice, &works[k]);
    }
    for (int i = 0; i < N; i++)
        pthread_create(&u[i], NULL, neighbour, &works[i]);
    for (int i = 0; i < N; i++) {
        pthread_create(&v[i], NULL, creator, &works[i]);
        works[i].late = 1; // PAIR d
    }
    for (long i = 0; i < N; i++)
        pthread_create(&w[i], NULL, number, (void *)i);
    for (int i = 0; i < N; i++) {
        sum += works[i].early; // PAIR e
        pthread_join(v[i], NULL);
    }
    after[rand() % N] = 1; // PAIR g
    for (int i = 0; i < N; i++) {
        pthread_join(t[i], NULL);
        pthread_join(u[i], NULL);
        pthread_join(w[i], NULL);
    }
    return (int)sum;
}
