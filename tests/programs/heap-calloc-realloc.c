// The rest of the malloc family: calloc, realloc both ways, aligned blocks, strdup, growing buffers.
// NO RACE
// FLAGS: -D_GNU_SOURCE
#include <malloc.h>
#include <stdint.h>
#include <string.h>

#include "invisible.h"

THREAD(worker)
{
    for (int i = 1; i < 60; i++) {
        char *p = calloc(i, 7), *q, *s;
        void *aligned = NULL;

        for (int j = 0; j < i * 7; j++)
            MUST(p[j] == 0);
        memset(p, i, i * 7);
        p = realloc(p, i * 100);
        MUST(p[i * 7 - 1] == i);
        p = realloc(p, i);
        p = reallocarray(p, i, 3);
        MUST(p[i - 1] == i);
        q = aligned_alloc(64, 128);
        MUST((uintptr_t)q % 64 == 0);
        memset(q, 1, malloc_usable_size(q));
        MUST(posix_memalign(&aligned, 4096, 100) == 0);
        memset(aligned, 2, 100);
        s = strdup("hello");
        MUST(strcmp(s, "hello") == 0);
        free(s);
        free(aligned);
        free(q);
        free(p);
        free(realloc(NULL, 10));
        p = memalign(32, 99);
        p[98] = 1;
        free(p);
        free(NULL);
    }
    return NULL;
}

int main(void)
{
    mallopt(M_ARENA_MAX, 1);
    both(worker, worker);
    return 0;
}
