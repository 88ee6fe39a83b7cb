/*
 * quicksort.c - recursive quicksort; the upper levels of the recursion hand one half to a new thread.
 *
 * Many short-lived threads, each ordered with its parent by create and join, over one array.
 */
#include "kernel.h"

#define SMALL 24

struct part {
    int32_t *lo, *hi; /* [lo, hi) */
    unsigned depth;   /* levels that may still create threads */
};

static void insertion_sort(int32_t *lo, int32_t *hi)
{
    for (int32_t *i = lo + 1; i < hi; i++) {
        int32_t v = *i, *j = i;
        for (; j > lo && j[-1] > v; j--)
            *j = j[-1];
        *j = v;
    }
}

/* Hoare's partition around the median of three; both sides are non-empty and shorter than the whole. */
static int32_t *split(int32_t *lo, int32_t *hi)
{
    int32_t a = lo[0], b = lo[(hi - lo) / 2], c = hi[-1];
    int32_t pivot = a < b ? (b < c ? b : (a < c ? c : a)) : (a < c ? a : (b < c ? c : b));
    int32_t *i = lo, *j = hi - 1;

    for (;;) {
        while (*i < pivot)
            i++;
        while (*j > pivot)
            j--;
        if (i >= j)
            return i > lo ? i : lo + 1;
        int32_t t = *i;
        *i++ = *j;
        *j-- = t;
    }
}

static void *sort(void *arg)
{
    struct part p = *(struct part *)arg;

    while (p.hi - p.lo > SMALL) {
        int32_t *mid = split(p.lo, p.hi);
        struct part left = {p.lo, mid, p.depth ? p.depth - 1 : 0};
        pthread_t tid;
        if (p.depth) {
            struct part right = {mid, p.hi, p.depth - 1};
            if (pthread_create(&tid, NULL, sort, &left))
                kernel_fail("cannot create a thread");
            sort(&right);
            pthread_join(tid, NULL);
            return NULL;
        }
        sort(&left);
        p.lo = mid;
    }
    insertion_sort(p.lo, p.hi);
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t state = 6, sum = 0;

    kernel_args(argc, argv);
    size_t n = kernel_scaled(9u * 1000 * 1000);
    int32_t *array = kernel_alloc(n, sizeof(*array));
    for (size_t i = 0; i < n; i++)
        array[i] = (int32_t)kernel_random(&state);

    struct part all = {array, array + n, 0};
    while ((1u << all.depth) < n_threads * 4)
        all.depth++;
    sort(&all);
    for (size_t i = 0; i < n; i++) {
        if (i && array[i - 1] > array[i])
            kernel_fail("not sorted");
        sum = kernel_mix(sum, (uint32_t)array[i]);
    }
    kernel_print(sum);
    free(array);
    return 0;
}
