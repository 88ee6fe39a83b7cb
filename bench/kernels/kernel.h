/*
 * kernel.h - what every kernel shares: arguments, threads, a random stream, the printed checksum.
 *
 * A kernel is run as `kernel [threads [scale [volume]]]`: two threads and scale 100 by default, which takes
 * about half a second natively; the scale is a percentage of that work. A kernel that knows the volume has so
 * many times the data for about the same work; the others take no notice of it. It prints one line, its
 * checksum, which depends on the arguments only and never on scheduling, so that the output of any two builds
 * can be compared. Kernels are free of data races: a detector that reports one is wrong.
 *
 * The header is C and C++ alike.
 */
#ifndef DH_BENCH_KERNEL_H
#define DH_BENCH_KERNEL_H

#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_THREADS 64

static unsigned n_threads = 2;
static unsigned scale = 100;
static unsigned volume = 1;

/* A thread's index is passed by value in the argument pointer. */
typedef void *thread_body(void *index);

static inline void kernel_fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(2);
}

static inline void kernel_args(int argc, char **argv)
{
    if (argc > 1)
        n_threads = (unsigned)strtoul(argv[1], NULL, 10);
    if (argc > 2)
        scale = (unsigned)strtoul(argv[2], NULL, 10);
    if (argc > 3)
        volume = (unsigned)strtoul(argv[3], NULL, 10);
    if (n_threads < 1 || n_threads > MAX_THREADS || scale < 1 || volume < 1)
        kernel_fail("usage: kernel [threads (1 to 64) [scale in percent [volume]]]");
}

/* `full` units of work, scaled; at least one. */
static inline size_t kernel_scaled(size_t full)
{
    size_t n = full * scale / 100;
    return n ? n : 1;
}

/* Passes over data that the volume multiplies: as many fewer, so that the work stays; at least one. */
static inline size_t kernel_passes(size_t full)
{
    size_t n = kernel_scaled(full) / volume;
    return n ? n : 1;
}

static inline void *kernel_alloc(size_t count, size_t size)
{
    void *p = calloc(count, size);
    if (!p)
        kernel_fail("out of memory");
    return p;
}

static inline void kernel_run(thread_body *body)
{
    pthread_t tid[MAX_THREADS];

    for (unsigned i = 0; i < n_threads; i++)
        if (pthread_create(&tid[i], NULL, body, (void *)(uintptr_t)i))
            kernel_fail("cannot create a thread");
    for (unsigned i = 0; i < n_threads; i++)
        pthread_join(tid[i], NULL);
}

/* Thread i of n works on [ret_lo, ret_hi) of `total`. */
static inline void kernel_share(size_t total, unsigned i, size_t *ret_lo, size_t *ret_hi)
{
    *ret_lo = total * i / n_threads;
    *ret_hi = total * (i + 1) / n_threads;
}

/* splitmix64: a state that may start anywhere, and a stream good enough for test data. */
static inline uint64_t kernel_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline uint64_t kernel_mix(uint64_t sum, uint64_t value)
{
    return ((sum << 23 | sum >> 41) ^ value) * 0x100000001b3u;
}

static inline void kernel_print(uint64_t sum)
{
    printf("%016" PRIx64 "\n", sum);
}

#endif
