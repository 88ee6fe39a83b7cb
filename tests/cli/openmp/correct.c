/* correct.c - OpenMP programs without a race, of most constructs that order something. Prints what they compute. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 400 };

static int a[N], order[N], copied, fib_result;
static char text[64];
static omp_lock_t lock;
static omp_nest_lock_t nest;
#pragma omp threadprivate(copied)

static int fib(int n)
{
    int x, y;

    if (n < 2)
        return n;
#pragma omp task shared(x)
    x = fib(n - 1);
#pragma omp task shared(y)
    y = fib(n - 2);
#pragma omp taskwait
    return x + y;
}

static int loops(void)
{
    int sum = 0, max = 0;

#pragma omp parallel for schedule(static, 7)
    for (int i = 0; i < N; i++)
        a[i] = i;
#pragma omp parallel for reduction(+ : sum) reduction(max : max) schedule(dynamic)
    for (int i = 0; i < N; i++) {
        sum += a[N - 1 - i];
        max = a[i] > max ? a[i] : max;
    }
#pragma omp parallel
    {
#pragma omp for nowait
        for (int i = 0; i < N; i++)
            a[i] += 1;
#pragma omp barrier
#pragma omp for
        for (int i = 0; i < N; i++)
            order[i] = a[(i + N / 2) % N];
    }
    return sum + max + order[0];
}

static int sections(void)
{
    int left = 0, right = 0, both = 0, turns = 0, last = -1;

#pragma omp parallel sections
    {
#pragma omp section
        left = 1;
#pragma omp section
        right = 2;
    }
#pragma omp parallel
    {
#pragma omp single copyprivate(copied)
        copied = left + right;
#pragma omp critical(one)
        both += copied;
#pragma omp masked
        turns = omp_get_num_threads();
#pragma omp for ordered
        for (int i = 0; i < 20; i++) {
#pragma omp ordered
            last = last + 1 == i ? i : -2;
        }
    }
    return both / turns + last;
}

static int locks(void)
{
    int under_lock = 0, under_nest = 0, counted = 0;

    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
#pragma omp parallel num_threads(4)
    for (int i = 0; i < 50; i++) {
        omp_set_lock(&lock);
        under_lock++;
        omp_unset_lock(&lock);
        omp_set_nest_lock(&nest);
        omp_set_nest_lock(&nest);
        under_nest++;
        omp_unset_nest_lock(&nest);
        omp_unset_nest_lock(&nest);
#pragma omp atomic
        counted++;
    }
    omp_destroy_lock(&lock);
    omp_destroy_nest_lock(&nest);
    return under_lock + under_nest + counted > 0;
}

static int tasks(void)
{
    int x = 0, sum = 0, *heap = malloc(sizeof(*heap));

#pragma omp parallel
#pragma omp single
    {
        fib_result = fib(10);
#pragma omp task depend(out : x) shared(x)
        x = 1;
#pragma omp task depend(inout : x) shared(x)
        x *= 5;
#pragma omp task depend(in : x) shared(x, sum)
        sum = x;
#pragma omp taskgroup
        {
#pragma omp task
            *heap = 3;
        }
        *heap += 1;
#pragma omp taskloop
        for (int i = 0; i < N; i++)
            a[i] = i;
    }
    sum += *heap + a[N - 1];
    free(heap);
    return sum;
}

int main(void)
{
    omp_set_dynamic(0);
#pragma omp parallel
    {
#pragma omp critical(text)
        snprintf(text, sizeof(text), "thread of %d", omp_get_num_threads()); /* libc called by the program */
    }
    printf("%d %d %d %d %d %zu\n", loops(), sections(), locks(), tasks(), fib_result, strlen(text));
    return 0;
}
