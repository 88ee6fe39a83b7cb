/*
 * races.c - a program with eight races that happen more and less often, for bench/sample.
 *
 * Two threads do work of their own, each under a lock of its own, and now and then touch a variable that both
 * use: r0 in every round, r1 in every fourth, and so on up to r7, which each touches once. Nothing orders the
 * threads, so every touch races with all of the other thread's. All eight are reported by every run that
 * looks at everything.
 *
 * races [scale]: the work, in percent of the usual, which takes about half a second natively.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { RACES = 8, ROUNDS = 1 << 14, WORK = 4096 };

static unsigned scale = 100;
static pthread_mutex_t own_lock[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static uint32_t own[2][WORK];
static volatile int r0, r1, r2, r3, r4, r5, r6, r7;

/* Each its own place in the program. */
#define TOUCH(k)                                                   \
    static __attribute__((noinline)) void touch##k(unsigned round) \
    {                                                              \
        if (round % (1u << (2 * (k))) == (1u << (2 * (k))) / 2)    \
            r##k++;                                                \
    }
TOUCH(0)
TOUCH(1)
TOUCH(2)
TOUCH(3)
TOUCH(4)
TOUCH(5)
TOUCH(6)
TOUCH(7)

static void work(unsigned me, unsigned round)
{
    uint32_t *p = own[me], sum = round;
    for (unsigned i = 0; i < WORK * scale / 100; i++) {
        sum = sum * 1664525 + 1013904223;
        p[(sum >> 16) % WORK] += sum;
    }
}

static void *body(void *arg)
{
    unsigned me = (unsigned)(uintptr_t)arg;
    for (unsigned round = 0; round < ROUNDS; round++) {
        pthread_mutex_lock(&own_lock[me]);
        work(me, round);
        pthread_mutex_unlock(&own_lock[me]);
        touch0(round), touch1(round), touch2(round), touch3(round);
        touch4(round), touch5(round), touch6(round), touch7(round);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t[2];
    if (argc > 1)
        scale = (unsigned)strtoul(argv[1], NULL, 10);
    for (uintptr_t i = 0; i < 2; i++)
        if (pthread_create(&t[i], NULL, body, (void *)i) != 0)
            return 2;
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    printf("%u\n", own[0][0] ^ own[1][0]);
    return 0;
}
