/*
 * alone.c - a program that works on its own before its threads start and after they have ended, as most do
 * that read, prepare and write: it fills a hash table, sorts, and sweeps a grid; the threads only add up what
 * is there.
 *
 * While there is one thread there is nothing to race with. The threads take a few hundredths of the time.
 */
#include "kernel.h"

#include <string.h>

#define KEYS (1u << 16)
#define SLOTS (1u << 18)
#define SIDE 512

struct slot {
    uint64_t key, count;
};

static struct slot *slots;
static uint64_t *sorted;
static double (*grid)[SIDE];
static uint64_t sums[MAX_THREADS];
static size_t rounds;

static void count(uint64_t key)
{
    size_t i = (size_t)(key * 0x9e3779b97f4a7c15u >> 46);

    while (slots[i].count && slots[i].key != key)
        i = (i + 1) % SLOTS;
    slots[i].key = key;
    slots[i].count++;
}

static void sort(uint64_t *a, size_t n)
{
    while (n > 16) {
        uint64_t pivot = a[n / 2];
        size_t i = 0, j = n - 1;
        for (;; i++, j--) {
            while (a[i] < pivot)
                i++;
            while (a[j] > pivot)
                j--;
            if (i >= j)
                break;
            uint64_t t = a[i];
            a[i] = a[j];
            a[j] = t;
        }
        sort(a, i);
        a += i;
        n -= i;
    }
    for (size_t i = 1; i < n; i++) {
        uint64_t v = a[i];
        size_t j = i;
        for (; j > 0 && a[j - 1] > v; j--)
            a[j] = a[j - 1];
        a[j] = v;
    }
}

static void sweep(void)
{
    for (size_t y = 1; y < SIDE - 1; y++)
        for (size_t x = 1; x < SIDE - 1; x++)
            grid[y][x] = 0.25 * (grid[y][x - 1] + grid[y][x + 1] + grid[y - 1][x] + grid[y + 1][x]);
}

static void work(uint64_t seed)
{
    for (size_t r = 0; r < rounds; r++) {
        memset(slots, 0, SLOTS * sizeof(*slots));
        for (size_t i = 0; i < KEYS; i++) {
            sorted[i] = kernel_random(&seed) % KEYS;
            count(sorted[i]);
        }
        sort(sorted, KEYS);
        for (size_t i = 0; i < KEYS; i++)
            grid[1 + i % (SIDE - 2)][1 + i / SIDE] += (double)(sorted[i] % 16);
        sweep();
        sweep();
    }
}

static void *body(void *index)
{
    unsigned me = (unsigned)(uintptr_t)index;
    size_t lo, hi;

    kernel_share(SLOTS, me, &lo, &hi);
    for (size_t i = lo; i < hi; i++)
        sums[me] += slots[i].key ^ slots[i].count;
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t sum = 0;

    kernel_args(argc, argv);
    rounds = kernel_scaled(20);
    slots = kernel_alloc(SLOTS, sizeof(*slots));
    sorted = kernel_alloc(KEYS, sizeof(*sorted));
    grid = kernel_alloc(SIDE, sizeof(*grid));
    work(47);
    kernel_run(body);
    work(53);
    for (unsigned i = 0; i < n_threads; i++)
        sum += sums[i];
    for (size_t y = 0; y < SIDE; y++)
        for (size_t x = 0; x < SIDE; x++) {
            uint64_t bits;
            memcpy(&bits, &grid[y][x], sizeof(bits));
            sum = kernel_mix(sum, bits);
        }
    for (size_t i = 0; i < KEYS; i++)
        sum = kernel_mix(sum, sorted[i]);
    kernel_print(sum);
    free(slots);
    free(sorted);
    free(grid);
    return 0;
}
