// A function that creates one thread, a function that joins one, one that fills in what a thread is given, and one that
// calls these in loops and is called in a loop itself.
// WRONG 1: a thread that is created twice in a call has one handle
// WRONG 2: the function returns before all are joined
// WRONG 3: the function that joins is given another handle
// WRONG 4: two threads are given one element
// WRONG 5: the last round joins nobody
// WRONG 6: the number is cut short
#include "shapes.h"

enum { SIZE = 8, ROUNDS = 3 };
struct work {
    int number, sum;
};
int total[1000], seen;

static void start(pthread_t *t, void *(*f)(void *), void *arg)
{
    if (pthread_create(t, NULL, f, arg) != 0)
        abort();
    W1(if (pthread_create(t, NULL, f, arg) != 0) abort(), );
}

static void finish(pthread_t t)
{
    if (pthread_join(t, NULL) != 0)
        abort();
}

static void fill(struct work *w, int number)
{
    w->number = W6((char)number, number);
    w->sum = 0;
}

static void *worker(void *arg)
{
    struct work *w = arg;
    total[w->number]++; // HERE
    w->sum++;           // HERE
    return NULL;
}

static int team(int n)
{
    pthread_t *t = malloc((size_t)n * sizeof *t);
    struct work *work = malloc((size_t)n * sizeof *work);
    int sum = 0;
    for (int i = 0; i < n; i++) {
        fill(&work[i], i);
        start(&t[i], worker, &work[W4(i / 2, i)]);
    }
    W2(if (input()) return 0, );
    for (int i = 0; i < n W5(-1, ); i++)
        finish(t[W3(i / 2, i)]);
    for (int i = 0; i < n; i++)
        sum += work[i].sum; // HERE
    free(t);
    free(work);
    return sum;
}

int main(void)
{
    int n = input();
    for (int i = 0; i < ROUNDS; i++) {
        seen += team(n);
        total[0]++; // HERE
    }
    return seen;
}
