/*
 * unseen.h - for stress programs that know better than the engine what it must report: waiting and waking that
 * no detector sees, and races and collections that the program itself is told of.
 *
 * Everything here is assembly or untracked, so it orders nothing. What the program keeps for itself is accessed
 * in the same way.
 *
 * The linker has dh_report_race and dh_ids_want_collection call what is defined here:
 * -Wl,--wrap=dh_report_race -Wl,--wrap=dh_ids_want_collection.
 */
#ifndef UNSEEN_H
#define UNSEEN_H

#include <deadheat/deadheat.h>
#include <stdbool.h>
#include <stdint.h>

#include "stress.h"

DH_UNTRACKED static long unseen_futex(unsigned *p, long operation, long value)
{
    long rc;
    register long no_timeout __asm__("r10") = 0;
    __asm__ volatile("syscall"
                     : "=a"(rc)
                     : "0"(202L /* futex */), "D"(p), "S"(operation), "d"(value), "r"(no_timeout)
                     : "rcx", "r11", "memory");
    return rc;
}

/* Let who waits for p, or will, go on. */
DH_UNTRACKED static void unseen_wake(unsigned *p)
{
    __asm__ volatile("lock incl %0" : "+m"(*p) : : "memory", "cc");
    unseen_futex(p, 129 /* FUTEX_WAKE_PRIVATE */, 1 << 20);
}

/* Until p was woken for the nth time. */
DH_UNTRACKED static void unseen_wait(unsigned *p, unsigned n)
{
    for (;;) {
        unsigned seen;
        __asm__ volatile("movl %1, %0" : "=r"(seen) : "m"(*p) : "memory");
        if ((int)(seen - n) >= 0)
            return;
        unseen_futex(p, 128 /* FUTEX_WAIT_PRIVATE */, seen);
    }
}

struct dh_access_now;
void __wrap_dh_report_race(const struct dh_access_now *a, uint32_t id, uintptr_t addr, uint32_t size,
                           uintptr_t at);
bool __wrap_dh_ids_want_collection(void);

/* A race on the byte at `at`. Called inside the runtime, by any thread. */
static void race_found(uintptr_t at);

DH_UNTRACKED void __wrap_dh_report_race(const struct dh_access_now *a, uint32_t id, uintptr_t addr,
                                        uint32_t size, uintptr_t at)
{
    (void)a, (void)id, (void)addr, (void)size;
    race_found(at);
}

/* How many questions lie between two collections; 0: there are none. Written while one thread is alone. */
static unsigned collect_every;

/* Numbers are collected far more often than there is need. */
DH_UNTRACKED bool __wrap_dh_ids_want_collection(void)
{
    static unsigned asked;
    unsigned n = 1;
    __asm__ volatile("lock xaddl %0, %1" : "+r"(n), "+m"(asked) : : "memory", "cc");
    return collect_every && n % collect_every < 2; /* who hears yes asks once more */
}

#endif
