// Handles, elements and their number are in a structure of the heap, which the functions that create and join are given.
// WRONG 1: the handles are replaced
// WRONG 2: the number changes before all are joined
// WRONG 3: the elements are replaced while threads are created
// WRONG 4: another pool is joined
// WRONG 5: one less is joined
// WRONG 6: a thread changes the number
#include "shapes.h"

struct pool {
    int n;
    pthread_t *t;
    struct work {
        struct pool *pool;
        int sum;
    } *work;
};
int seen;

static void *worker(void *arg)
{
    struct work *w = arg;
    w->sum++; // HERE
    W6(w->pool->n = 1, );
    return NULL;
}

static struct pool *make(int n)
{
    struct pool *p = malloc(sizeof *p);
    p->n = n;
    p->t = malloc((size_t)n * sizeof *p->t);
    p->work = calloc((size_t)n, sizeof *p->work);
    return p;
}

static void start(struct pool *p)
{
    for (int i = 0; i < p->n; i++) {
        W3(if (i == 2) p->work -= 1, );
        p->work[i].pool = p;
        pthread_create(&p->t[i], NULL, worker, &p->work[i]);
    }
}

static int stop(struct pool *p)
{
    int sum = 0;
    for (int i = 0; i < p->n W5(-1, ); i++) {
        pthread_join(p->t[i], NULL);
        sum += p->work[i].sum; // HERE
    }
    for (int i = 0; i < p->n; i++)
        sum += p->work[i].sum; // HERE
    return sum;
}

int main(void)
{
    struct pool *p = make(input());
    W4(struct pool *other = make(input()), );
    start(p);
    W1(p->t = malloc((size_t)p->n * sizeof *p->t), );
    W2(p->n = input(), );
    W4(stop(other), );
    seen = W4(p->work[0].sum, stop(p)); // HERE
    return seen;
}
