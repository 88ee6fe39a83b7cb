/*
 * invisible.h - order without happens-before, so that a race happens the same way in every run.
 *
 * mark() counts up and after(n) waits until n marks have been made. Both are inline assembly: no
 * compiler pass sees an access, no interceptor sees a call (even the yield is a bare system call), so no
 * detector can take them for synchronisation. A program whose two accesses are separated only by mark
 * and after therefore still has its race, always with the same access first.
 *
 * With -DAFTER_AT_MOST_MS=N, after(n) goes on after N milliseconds anyway. The order is then the usual one and
 * not the only one, as if it came about by chance: for programs that `deadheat chase` holds a thread of.
 *
 * The rest saves each program some lines: spawn, join, both, use.
 */
#ifndef INVISIBLE_H
#define INVISIBLE_H

#include <pthread.h>
#include <stdlib.h>

#define HELPER static inline __attribute__((unused))
#define THREAD(name) static void *name(void *arg __attribute__((unused)))

#ifndef AFTER_AT_MOST_MS
#define AFTER_AT_MOST_MS 0
#endif

static int invisible_marks __attribute__((unused));

HELPER void mark(void)
{
    __asm__ volatile("lock incl %0" : "+m"(invisible_marks) : : "memory", "cc");
}

HELPER void after(int n)
{
    const long millisecond[2] = {0, 1000000}; /* a struct timespec */

    for (int waited = 0;; waited++) {
        int seen;
        long rc;

        __asm__ volatile("movl %1, %0" : "=r"(seen) : "m"(invisible_marks) : "memory");
        if (seen >= n || (AFTER_AT_MOST_MS && waited >= AFTER_AT_MOST_MS))
            return;
        __asm__ volatile("syscall"
                         : "=a"(rc)
                         : "0"(AFTER_AT_MOST_MS ? 35L /* nanosleep */ : 24L /* sched_yield */),
                           "D"(millisecond), "S"(0L)
                         : "rcx", "r11", "memory");
    }
}

/* Hand a pointer to another thread without ordering the two. */
HELPER void hide(void **where, void *value)
{
    __asm__ volatile("movq %1, %0" : "=m"(*where) : "r"(value) : "memory");
}

HELPER void *seek(void **where)
{
    void *value;

    __asm__ volatile("movq %1, %0" : "=r"(value) : "m"(*where) : "memory");
    return value;
}

/* The value is needed, says the compiler; nothing happens to it. */
HELPER void use(long value)
{
    __asm__ volatile("" : : "r"(value));
}

HELPER pthread_t spawn(void *(*body)(void *), void *arg)
{
    pthread_t t;

    if (pthread_create(&t, NULL, body, arg) != 0)
        abort();
    return t;
}

HELPER void *join(pthread_t t)
{
    void *result;

    if (pthread_join(t, &result) != 0)
        abort();
    return result;
}

/* Two threads at once; returns when both are done. */
HELPER void both(void *(*one)(void *), void *(*other)(void *))
{
    pthread_t a = spawn(one, NULL), b = spawn(other, NULL);

    join(a);
    join(b);
}

/* The program checks itself: a wrong answer is a failure whatever the detector says. */
#define MUST(condition)   \
    do {                  \
        if (!(condition)) \
            abort();      \
    } while (0)

#endif
