/*
 * hot_lock.c - every thread takes one mutex all the time: a small shared record is updated under it.
 *
 * The cost of acquire and release, and of an epoch that ends after a handful of accesses.
 */
#include "kernel.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    uint64_t total, squares, low, count;
    uint32_t last[16];
} record;
static size_t rounds;

static void *body(void *index)
{
    uint64_t state = (uint64_t)(uintptr_t)index;

    for (size_t i = 0; i < rounds; i++) {
        uint64_t v = kernel_random(&state);
        pthread_mutex_lock(&lock);
        record.total += v;
        record.squares += v * v;
        record.low ^= v & 0xff;
        record.last[record.count++ % 16] = (uint32_t)v;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t sum = 0;

    kernel_args(argc, argv);
    rounds = kernel_scaled(8u * 1000 * 1000);
    kernel_run(body);
    sum = kernel_mix(sum, record.total);
    sum = kernel_mix(sum, record.squares);
    sum = kernel_mix(sum, record.low);
    sum = kernel_mix(sum, record.count);
    kernel_print(sum);
    return 0;
}
