/*
 * stress_bytes.c - neighbouring bytes with different guards.
 *
 * Byte b belongs to lock b % LOCKS, so the four bytes of a word are accessed by different threads at the same
 * time, in all sizes and from several places, without a race: cells are split, joined, shared and replaced
 * under each other's hands. Every so often a thread takes all locks and goes over everything at once.
 */
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "stress.h"

enum { BYTES = 256, LOCKS = 7, THREADS = 8, ROUNDS = 40000 };

static pthread_mutex_t locks[LOCKS];
static unsigned char data[BYTES] __attribute__((aligned(64)));
static unsigned total[LOCKS]; /* under the same locks */

static uint32_t next(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void lock_bytes(unsigned first, unsigned n)
{
    for (unsigned l = 0; l < LOCKS; l++)
        for (unsigned b = first; b < first + n; b++)
            if (b % LOCKS == l)
                pthread_mutex_lock(&locks[l]);
}

static void unlock_bytes(unsigned first, unsigned n)
{
    for (unsigned b = first; b < first + n; b++)
        pthread_mutex_unlock(&locks[b % LOCKS]);
}

static void everything(void)
{
    unsigned char copy[BYTES];
    unsigned sum[LOCKS] = {0};
    lock_bytes(0, LOCKS);
    memcpy(copy, data, BYTES);
    for (unsigned b = 0; b < BYTES; b++)
        sum[b % LOCKS] += copy[b];
    for (unsigned l = 0; l < LOCKS; l++)
        CHECK((sum[l] & 0xFF) == (total[l] & 0xFF));
    memset(data, 0, BYTES);
    memset(total, 0, sizeof(total));
    unlock_bytes(0, LOCKS);
}

static __attribute__((noinline)) void add_one(unsigned b)
{
    data[b]++;
    total[b % LOCKS]++;
}

static __attribute__((noinline)) void add_two(unsigned b)
{
    uint16_t two;
    memcpy(&two, &data[b], 2);
    two += 0x0101;
    memcpy(&data[b], &two, 2);
    /* A carry from the lower byte is not what the totals say. */
    if ((two & 0xFF) == 0)
        data[b + 1]--;
    total[b % LOCKS]++;
    total[(b + 1) % LOCKS]++;
}

static void *work(void *seed)
{
    uint32_t state = (uint32_t)(uintptr_t)seed;
    for (int i = 0; i < ROUNDS; i++) {
        unsigned b = next(&state) % (BYTES - 1), n = 1 + next(&state) % 2;
        lock_bytes(b, n);
        if (n == 2)
            add_two(b);
        else if (next(&state) % 2)
            add_one(b);
        else
            (void)*(volatile unsigned char *)&data[b];
        unlock_bytes(b, n);
        if (next(&state) % 2000 == 0)
            everything();
    }
    return NULL;
}

int main(void)
{
    pthread_t t[THREADS];
    for (int l = 0; l < LOCKS; l++)
        pthread_mutex_init(&locks[l], NULL);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&t[i], NULL, work, (void *)(uintptr_t)(i + 1)) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    everything();
    puts("OK");
    return 0;
}
