/* sparse.c PAGES - reads one byte of each of so many pages, which all are the page of zeros. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

static void *idle(void *arg)
{
    return arg;
}

int main(int argc, char **argv)
{
    size_t n = argc > 1 ? (size_t)atol(argv[1]) : 1;
    volatile char *p = mmap(NULL, n << 12, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    pthread_t t;
    int sum = 0;
    pthread_create(&t, NULL, idle, NULL);
    for (size_t i = 0; i < n; i++)
        sum += p[i << 12];
    pthread_join(t, NULL);
    return sum;
}
