/*
 * stress_heap.c - the allocator under the program must stay an allocator.
 *
 * Four threads do random malloc, calloc, realloc, aligned allocation and free over private sets of blocks,
 * fill each block with a pattern of its own, and check alignment, contents and disjointness on
 * every step. Blocks also change hands, through a mutex. There is no race in it; it prints OK.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, BLOCKS = 128, STEPS = 6000, EXCHANGE = 16 };

struct block {
    unsigned char *p;
    size_t n;
    unsigned char fill;
};

static struct block exchange[EXCHANGE];
static pthread_mutex_t exchange_lock = PTHREAD_MUTEX_INITIALIZER;

#define CHECK(cond)                                                     \
    do {                                                                \
        if (!(cond)) {                                                  \
            printf("line %d: %s (errno %d)\n", __LINE__, #cond, errno); \
            exit(1);                                                    \
        }                                                               \
    } while (0)

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Mostly small, sometimes around the sizes where allocators change their ways. */
static size_t random_size(uint64_t *r)
{
    uint64_t x = next_random(r);
    switch (x % 32) {
    case 0:
        return 0;
    case 1:
        return 1000 + (x >> 8) % 100;
    case 2:
        return 4096 - 40 + (x >> 8) % 80;
    case 3:
        return 20000 + (x >> 8) % 20000;
    case 4:
        return (x >> 8) % 16 == 0 ? (128 << 10) - 64 + (x >> 16) % 200000 : 64;
    default:
        return (x >> 8) % 300;
    }
}

/* First and last bytes, and a sample between: the whole would only test memset. */
static void fill(struct block *b)
{
    size_t step = b->n > 512 ? 97 : 1;
    for (size_t i = 0; i < b->n; i += step)
        b->p[i] = (unsigned char)(b->fill + i);
    if (b->n != 0)
        b->p[b->n - 1] = b->fill;
}

static void verify(const struct block *b, size_t n, size_t step)
{
    for (size_t i = 0; i < n; i += step)
        CHECK(b->p[i] == (unsigned char)(b->fill + i) || i == b->n - 1);
    if (n == b->n && n != 0)
        CHECK(b->p[n - 1] == b->fill);
}

static void verify_all(const struct block *b)
{
    verify(b, b->n, b->n > 512 ? 97 : 1);
}

static void make(struct block *b, uint64_t *r)
{
    size_t n = random_size(r), align = 16;
    void *p = NULL;
    switch (next_random(r) % 8) {
    case 0:
        p = calloc(n / 8 + 1, 8);
        n = (n / 8 + 1) * 8;
        for (size_t i = 0; i < n; i++)
            CHECK(((unsigned char *)p)[i] == 0);
        break;
    case 1:
        align = (size_t)16 << (next_random(r) % 9);
        CHECK(posix_memalign(&p, align, n) == 0);
        break;
    case 2:
        align = 64;
        p = aligned_alloc(align, (n + 63) / 64 * 64);
        n = (n + 63) / 64 * 64;
        break;
    case 3:
        align = (size_t)1 << (next_random(r) % 14);
        p = memalign(align, n);
        break;
    case 4:
        p = realloc(NULL, n);
        break;
    default:
        p = malloc(n);
        break;
    }
    CHECK(p != NULL);
    CHECK((uintptr_t)p % (align < 16 ? 16 : align) == 0);
    CHECK(malloc_usable_size(p) >= n);
    *b = (struct block){p, n, (unsigned char)next_random(r)};
    fill(b);
}

static void resize(struct block *b, uint64_t *r)
{
    size_t n = random_size(r) + 1, kept = n < b->n ? n : b->n;
    size_t step = b->n > 512 ? 97 : 1;
    void *p = next_random(r) % 4 == 0 ? reallocarray(b->p, n, 1) : realloc(b->p, n);
    CHECK(p != NULL);
    CHECK((uintptr_t)p % 16 == 0);
    b->p = p;
    verify(b, kept, step);
    b->n = n;
    fill(b);
}

static void drop(struct block *b)
{
    verify_all(b);
    errno = 77;
    free(b->p);
    CHECK(errno == 77);
    b->p = NULL;
}

static void swap_with_others(struct block *b, uint64_t *r)
{
    struct block *other = &exchange[next_random(r) % EXCHANGE];
    pthread_mutex_lock(&exchange_lock);
    struct block mine = *b;
    *b = *other;
    *other = mine;
    pthread_mutex_unlock(&exchange_lock);
}

static void *work(void *arg)
{
    uint64_t r = 0x9E3779B97F4A7C15ull * ((uintptr_t)arg + 1);
    struct block *set = calloc(BLOCKS, sizeof *set);
    CHECK(set != NULL);
    for (int i = 0; i < STEPS; i++) {
        struct block *b = &set[next_random(&r) % BLOCKS];
        if (b->p == NULL)
            make(b, &r);
        else if (next_random(&r) % 4 == 0)
            resize(b, &r);
        else if (next_random(&r) % 16 == 0)
            swap_with_others(b, &r);
        else
            drop(b);
    }
    for (int i = 0; i < BLOCKS; i++)
        if (set[i].p != NULL)
            drop(&set[i]);
    free(set);
    return NULL;
}

/* Sizes grow past every threshold and shrink back; the contents must follow. */
static void grow_and_shrink(void)
{
    struct block b = {malloc(1), 1, 9};
    CHECK(b.p != NULL);
    b.p[0] = b.fill;
    for (size_t n = 1; n < (8u << 20); n = n * 3 / 2 + 1) {
        b.p = realloc(b.p, n);
        CHECK(b.p != NULL);
        verify(&b, b.n, 97);
        b.n = n;
        for (size_t i = 0; i < n; i += 97)
            b.p[i] = (unsigned char)(b.fill + i);
        b.p[n - 1] = b.fill;
    }
    for (size_t n = b.n; n > 200; n = n * 2 / 3) {
        b.p = realloc(b.p, n);
        CHECK(b.p != NULL);
        b.n = n;
        b.p[n - 1] = b.fill;
        for (size_t i = 0; i < n - 1; i += 97)
            b.p[i] = (unsigned char)(b.fill + i);
    }
    free(b.p);
}

static void contracts(void)
{
    volatile size_t huge = SIZE_MAX - 100, zero = 0;
    /* Through pointers: the compiler thinks malloc leaves errno alone, and drops blocks nobody uses. */
    void *(*volatile call_malloc)(size_t) = malloc;
    void *(*volatile call_calloc)(size_t, size_t) = calloc;
    void *(*volatile call_realloc)(void *, size_t) = realloc;
    errno = 0;
    CHECK(call_malloc(huge) == NULL && errno == ENOMEM);
    errno = 0;
    CHECK(call_calloc(huge, 16) == NULL && errno == ENOMEM);
    errno = 0;
    CHECK(reallocarray(NULL, huge, 16) == NULL && errno == ENOMEM);
    char *keep = malloc(10);
    CHECK(keep != NULL);
    memcpy(keep, "unchanged", 10);
    errno = 0;
    CHECK(call_realloc(keep, huge) == NULL && errno == ENOMEM);
    CHECK(strcmp(keep, "unchanged") == 0);
    CHECK(call_realloc(keep, zero) == NULL);
    void *p = &p;
    CHECK(posix_memalign(&p, 3, 8) == EINVAL && p == &p);
    CHECK(posix_memalign(&p, 64, huge) == ENOMEM && p == &p);
    void *a = malloc(zero), *b = malloc(zero);
    CHECK(a != NULL && b != NULL && a != b);
    free(a);
    free(b);
    free(NULL);
    p = valloc(10);
    CHECK(p != NULL && (uintptr_t)p % 4096 == 0);
    free(p);
    p = pvalloc(10);
    CHECK(p != NULL && (uintptr_t)p % 4096 == 0 && malloc_usable_size(p) >= 4096);
    free(p);
    p = memalign(1 << 21, 5);
    CHECK(p != NULL && (uintptr_t)p % (1 << 21) == 0);
    free(p);
    CHECK(malloc_usable_size(NULL) == 0);
}

int main(void)
{
    pthread_t threads[THREADS];
    contracts();
    grow_and_shrink();
    for (uintptr_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, work, (void *)i) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    for (int i = 0; i < EXCHANGE; i++)
        if (exchange[i].p != NULL)
            drop(&exchange[i]);
    puts("OK");
    return 0;
}
