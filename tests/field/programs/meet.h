/*
 * meet.h - for programs in which one thread comes to the first access once, and another to the second until the first is
 * done: if the first waits there, the two are certain to meet. The order is made by atomics; nothing else orders them.
 */
#ifndef MEET_H
#define MEET_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atomic_int running, done;

/* The thread of the second access is at it. */
static inline void await_other(void)
{
    while (!atomic_load(&running))
        continue;
}

static inline void say_done(void)
{
    atomic_store(&done, 1);
}

static inline int is_done(void)
{
    if (!atomic_load_explicit(&running, memory_order_relaxed))
        atomic_store(&running, 1);
    return atomic_load(&done);
}

/* The second thread may also be one that calls this function until the first is done. */
static inline void *keep_calling(void *function)
{
    while (!is_done())
        ((void (*)(void))function)();
    return NULL;
}

/* Does this thread sleep? In a program that sleeps nowhere itself, it is one that is held. */
static inline int is_asleep(int tid)
{
    char path[64], text[512];
    snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
    text[n] = 0;
    if (f)
        fclose(f);
    const char *end = strrchr(text, ')');
    return end && end[1] == ' ' && end[2] == 'S';
}

static inline void both(void *(*first)(void *), void *(*second)(void *), void *function)
{
    pthread_t a, b;
    pthread_create(&b, NULL, second, function);
    pthread_create(&a, NULL, first, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

#endif
