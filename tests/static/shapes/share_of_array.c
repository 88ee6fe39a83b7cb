// Each thread goes over a share of an array whose size is only known when the program runs: from f(i) to f(i + 1), the last
// one to the end.
// WRONG 1: the shares overlap by one
// WRONG 2: another one than the last share goes to the end
// WRONG 3: the size of a share changes while threads are created
// WRONG 4: the number of threads is not the one that the size was divided by
// WRONG 5: a share begins where another thread's index says
// WRONG 6: the end is in the share
#include "shapes.h"

struct share {
    int *x;
    int from, to;
};
int *table, size, chunk;
double *grid;

static void *by_number(void *arg)
{
    int i = (int)(long)arg;
    for (int k = i * chunk; k < (i + 1) * chunk W1(+1, ); k++)
        table[k]++; // HERE
    return NULL;
}

static void *by_member(void *arg)
{
    struct share *s = arg;
    for (int k = s->from; k W6(<=, <) s->to; k++)
        s->x[k]++; // HERE
    return NULL;
}

struct range {
    size_t from, to;
};

static void *without_sign(void *arg)
{
    struct range *r = arg;
    for (size_t k = r->from; k < r->to; k++)
        grid[k] *= 2; // HERE
    return NULL;
}

int main(void)
{
    int n = input();
    if (n < 1)
        return 1;
    pthread_t *t = malloc((size_t)n * sizeof *t);
    struct share *s = malloc((size_t)n * sizeof *s);
    struct range *r = malloc((size_t)n * sizeof *r);
    int *x;
    size = input();
    chunk = size / n;
    table = calloc((size_t)size, sizeof *table);
    x = calloc((size_t)size, sizeof *x);
    grid = calloc((size_t)size, sizeof *grid);

    for (int i = 0; i < n; i++) {
        W3(chunk = input(), );
        pthread_create(&t[i], NULL, by_number, (void *)(long)i);
    }
    for (int i = 0; i < n; i++)
        pthread_join(t[i], NULL);

    for (int i = 0; i < n; i++) { // a quotient of a product
        s[i].x = x;
        s[i].from = W5(i / 2, i) * size / n;
        s[i].to = (i + 1) * size / n;
        pthread_create(&t[i], NULL, by_member, &s[i]);
    }
    for (int i = 0; i < n; i++)
        pthread_join(t[i], NULL);

    for (int i = 0; i < n; i++) { // the last one is longer
        s[i].x = x;
        s[i].from = i * chunk;
        s[i].to = i == n - W2(2, 1) ? size : (i + 1) * chunk;
        pthread_create(&t[i], NULL, by_member, &s[i]);
    }
    for (int i = 0; i < n; i++)
        pthread_join(t[i], NULL);

    size_t threads = (size_t)n, part = (size_t)size / W4(2, threads);
    for (size_t i = 0; i < threads; i++) { // numbers that wrap around
        r[i].from = i * part;
        r[i].to = i + 1 == threads ? (size_t)size : r[i].from + part;
        pthread_create(&t[i], NULL, without_sign, &r[i]);
    }
    for (size_t i = 0; i < threads; i++)
        pthread_join(t[i], NULL);
    return 0;
}
