// Each thread is given a pointer to where its share begins and how long it is, or computes where it begins.
// WRONG 1: a share is longer by one
// WRONG 2: two shares begin at one place
// WRONG 3: the length of a row changes
// WRONG 4: a row ends in the next one
// WRONG 5: the rows are closer than they are long
// WRONG 6: shares of a variable overlap
#include "shapes.h"

enum { SIZE = 100, TEAM = 4 };
struct share {
    int *x, n;
};
int count, width, fixed[SIZE];
double *grid;

static void *from_pointer(void *arg)
{
    struct share *s = arg;
    for (int k = 0; k < s->n; k++)
        s->x[k]++; // HERE
    return NULL;
}

static void *of_variable(void *arg)
{
    struct share *s = arg;
    for (int k = 0; k < s->n; k++)
        s->x[k]++; // HERE
    return NULL;
}

static void *row(void *arg)
{
    long i = (long)arg;
    for (int k = 0; k W4(<=, <) width; k++)
        grid[i * W5((width - 1), width) + k] += 1; // HERE
    return NULL;
}

int main(void)
{
    int n = input(), k = input();
    if (n < 1 || k < 1)
        return 1;
    pthread_t *t = malloc((size_t)n * sizeof *t), u[TEAM];
    struct share *s = malloc((size_t)n * sizeof *s), v[TEAM];
    int *x = calloc((size_t)(n * k), sizeof *x);
    for (int i = 0; i < n; i++) {
        s[i].x = &x[W2(i / 2, i) * k];
        s[i].n = k W1(+1, );
        pthread_create(&t[i], NULL, from_pointer, &s[i]);
    }
    for (int i = 0; i < n; i++)
        pthread_join(t[i], NULL);

    for (int i = 0; i < TEAM; i++) {
        v[i].x = &fixed[i * (SIZE / TEAM)];
        v[i].n = SIZE / TEAM W6(+1, );
        pthread_create(&u[i], NULL, of_variable, &v[i]);
    }
    for (int i = 0; i < TEAM; i++)
        pthread_join(u[i], NULL);

    count = n;
    width = k;
    grid = calloc((size_t)(n * k), sizeof *grid);
    for (long i = 0; i < count; i++) {
        W3(width = input(), );
        pthread_create(&t[i], NULL, row, (void *)i);
    }
    for (long i = 0; i < count; i++)
        pthread_join(t[i], NULL);
    return 0;
}
