/*
 * stress_remap.c - threads that map memory, move it and give it back: the kernel hands the addresses that one of them
 * leaves to the next at once, and the history of one owner must never be the next one's.
 *
 * FLAGS: -D_GNU_SOURCE
 */
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "stress.h"

enum { THREADS = 4, ROUNDS = 1500, SMALL = 2 * 4096, LARGE = 16 * 4096, LESS = 4096 };

static char *map(void)
{
    char *p = mmap(NULL, SMALL, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(p != MAP_FAILED);
    memset(p, 1, SMALL);
    return p;
}

static void *work(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        char *p = map();
        p = mremap(p, SMALL, LARGE, MREMAP_MAYMOVE);
        CHECK(p != MAP_FAILED && p[0] == 1 && p[SMALL - 1] == 1 && p[SMALL] == 0);
        memset(p, 2, LARGE);
        CHECK(mremap(p, LARGE, LESS, 0) == p && p[LESS - 1] == 2);
        p[0] = 3;
        CHECK(munmap(p, LESS) == 0);
    }
    return arg;
}

int main(void)
{
    pthread_t t[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&t[i], NULL, work, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(t[i], NULL) == 0);
    puts("OK");
    return 0;
}
