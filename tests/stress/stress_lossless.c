/*
 * stress_lossless.c - two accesses that race at the same instant: is every single one noticed?
 *
 * The one program here that is full of races. It takes the place of the function that reports them (by the
 * linker), so it learns of each, not only of the first of its kind, and nothing is printed. Two threads meet at
 * every piece of memory and make one access each, as close together as two processors can; which accesses
 * depends on the piece. What the pieces' cells are like beforehand differs too: never used, used as a
 * whole, byte by byte in several epochs, read by everyone again and again. A piece without a report is a
 * lost race.
 *
 * FLAGS: -Wl,--wrap=dh_report_race
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "stress.h"

enum { PIECE = 256, PIECES = 512, ROUNDS = 150, EPOCHS = 12 };

static unsigned char memory[PIECES][PIECE] __attribute__((aligned(4096)));
static unsigned char reported[PIECES]; /* written by the wrapper only, which nobody sees */
static pthread_mutex_t mine[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static unsigned arrived; /* both are used by assembly only */
static unsigned seed = 1;

struct dh_access_now;
void __wrap_dh_report_race(const struct dh_access_now *a, uint32_t id, uintptr_t addr, uint32_t size,
                           uintptr_t at);

/* Called inside the runtime, with nothing of the program's ordered by it. */
__attribute__((no_sanitize("thread"))) void __wrap_dh_report_race(const struct dh_access_now *a, uint32_t id,
                                                                  uintptr_t addr, uint32_t size, uintptr_t at)
{
    (void)a, (void)id, (void)addr, (void)size;
    if (at - (uintptr_t)memory < sizeof(memory))
        __asm__ volatile("movb $1, %0" : "=m"(reported[(at - (uintptr_t)memory) / PIECE]));
}

/* Wait for the other, without being seen to: in assembly, as in tests/programs/invisible.h. */
static __attribute__((noinline)) void meet(unsigned n)
{
    unsigned seen;
    __asm__ volatile("lock incl %0" : "+m"(arrived) : : "memory", "cc");
    for (unsigned spins = 0;; spins++) {
        long rc;
        __asm__ volatile("movl %1, %0" : "=r"(seen) : "m"(arrived) : "memory");
        if ((int)(seen - n) >= 0)
            return;
        if (spins > 2000)
            __asm__ volatile("syscall" : "=a"(rc) : "0"(24L /* sched_yield */) : "rcx", "r11", "memory");
    }
}

static __attribute__((noinline)) void access_once(unsigned char *p, unsigned how)
{
    unsigned char copy[200];
    size_t elements = 20;
    __asm__("" : "+r"(elements)); /* too many for checks of their own, if they are not unrolled */
    switch (how % 12) {
    case 0:
        *(volatile uint8_t *)(p + 5) = 1;
        break;
    case 1:
        *(volatile uint16_t *)(p + 4) = 1;
        break;
    case 2:
        *(volatile uint32_t *)(p + 4) = 1;
        break;
    case 3:
        *(volatile uint64_t *)p = 1;
        break;
    case 4:
        memset(p, 1, 200);
        break;
    case 5:
        for (size_t i = 0; i < elements; i++)
            *(volatile uint32_t *)(p + 4 + i * 8) = 1;
        break;
    case 6:
        (void)*(volatile uint8_t *)(p + 5);
        break;
    case 7:
        (void)*(volatile uint64_t *)p;
        break;
    case 8:
        memcpy(copy, p + 3, 4); /* bytes 3 to 6 */
        __asm__ volatile("" : : "r"(copy) : "memory");
        break;
    case 9:
        for (size_t i = 0; i < elements; i++)
            (void)*(volatile uint32_t *)(p + 4 + i * 12);
        break;
    case 10:
        memcpy(copy, p, sizeof(copy));
        __asm__ volatile("" : : "r"(copy) : "memory");
        break;
    default:
        atomic_store_explicit((_Atomic uint32_t *)(p + 4), 1, memory_order_relaxed);
    }
}

/* At least one of the two writes, and they are not both atomic; all of them touch byte 5. */
static void choose(unsigned piece, unsigned how[2])
{
    unsigned x = (piece + seed) * 2654435761u >> 8;
    how[0] = x % 6;
    how[1] = x / 6 % 12;
}

/* What the piece is like when they meet there. Each thread under a lock of its own: read by both, ordered by
 * nothing, and so without a race. */
static void prepare(unsigned char *p, unsigned piece, unsigned me)
{
    for (unsigned e = 0; e < EPOCHS; e++) {
        pthread_mutex_lock(&mine[me]);
        switch (piece % 4) {
        case 1:
            (void)*(volatile uint64_t *)p;
            break;
        case 2:
            (void)*(volatile uint8_t *)(p + e % 8);
            break;
        case 3:
            if (me == 0)
                (void)*(volatile uint16_t *)(p + e % 4 * 2);
            break;
        default:;
        }
        pthread_mutex_unlock(&mine[me]);
    }
}

static void *work(void *arg)
{
    unsigned me = (unsigned)(uintptr_t)arg, how[2];
    for (unsigned i = 0; i < PIECES; i++)
        prepare(memory[i], i, me);
    for (unsigned i = 0; i < PIECES; i++) {
        choose(i, how);
        meet(2 * (i + 1));
        access_once(memory[i], how[(i + me) % 2]);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS, lost = 0;
    for (int r = 0; r < rounds; r++, seed++) {
        pthread_t t[2];
        __asm__ volatile("movl $0, %0" : "=m"(arrived));
        for (unsigned i = 0; i < 2; i++)
            CHECK(pthread_create(&t[i], NULL, work, (void *)(uintptr_t)i) == 0);
        for (unsigned i = 0; i < 2; i++)
            CHECK(pthread_join(t[i], NULL) == 0);
        for (unsigned i = 0; i < PIECES; i++) {
            unsigned how[2];
            choose(i, how);
            if (!reported[i] && lost++ < 10)
                fprintf(stderr, "round %d, piece %u: %u and %u were not reported\n", r, i, how[0], how[1]);
        }
        memset(reported, 0, sizeof(reported));
    }
    CHECK(lost == 0);
    puts("OK");
    return 0;
}
