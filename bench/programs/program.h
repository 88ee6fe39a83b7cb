/*
 * program.h - what the papers' programs share: arguments, a team of threads, random numbers.
 *
 * A program is run as `program [threads [scale]]`, four threads and scale 100 by default, which takes a few
 * tenths of a second natively. It prints one line, a result it has verified, that depends on the scale only:
 * not on scheduling and not on the number of threads.
 *
 * Marks. `// RACE x` stands on the two lines of a race that every happens-before detector sees in every run
 * (one line alone races with itself), `// NO RACE` in a program without one. `// HIDDEN RACE x` is as real,
 * but in the order that the program always runs in, handing over an unrelated lock orders its two sides.
 *
 * The order of racing accesses is kept by mark and after of invisible.h, which no detector can see. A thread
 * makes such an access before it first takes a lock or after it last gave one back; then no lock can
 * order it by chance, whatever the other threads do. No thread works much between the two sides of a race
 * either: a detector may remember only so much (ThreadSanitizer forgets where an access was made).
 *
 * Shared data are globals, and a detector's warnings are counted by global: an array counts once. main reads
 * what locks protect under those locks even after joining, because Eraser does not know what a join is; a
 * program that is meant to show that says so.
 */
#ifndef DH_BENCH_PROGRAM_H
#define DH_BENCH_PROGRAM_H

#include "../../tests/programs/invisible.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

enum { MAX_THREADS = 64, MAX_SCALE = 400 };

/* Written by main before there is another thread. */
static int threads = 4, scale = 100;

HELPER void arguments(int argc, char **argv)
{
    if (argc > 1)
        threads = atoi(argv[1]);
    if (argc > 2)
        scale = atoi(argv[2]);
    if (threads < 1 || threads > MAX_THREADS || scale < 1 || scale > MAX_SCALE) {
        fprintf(stderr, "usage: %s [threads (1 to %d) [scale (1 to %d)]]\n", argv[0], MAX_THREADS, MAX_SCALE);
        exit(2);
    }
}

/* The index of a team's thread, in its body. */
#define ME ((int)(intptr_t)arg)

/* Runs the body in `count` threads, numbered from 0, and waits for them. */
HELPER void team(int count, void *(*body)(void *))
{
    pthread_t t[MAX_THREADS + 1];

    for (int i = 0; i < count; i++)
        t[i] = spawn(body, (void *)(intptr_t)i);
    for (int i = 0; i < count; i++)
        join(t[i]);
}

/* The first of `n` things that part `i` of `parts` gets. */
HELPER long part(long n, int i, int parts)
{
    return n * i / parts;
}

/* A linear congruential generator; the upper half of the state is the number. */
HELPER uint32_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 32);
}

/* From 0 to 1, without 1. */
HELPER double next_uniform(uint64_t *state)
{
    return next_random(state) / 4294967296.0;
}

/* Work of one's own that touches no memory: the seed after so many steps. */
HELPER uint64_t churn(uint64_t seed, long steps)
{
    for (long i = 0; i < steps; i++)
        seed = (seed ^ (seed >> 29)) * 0xbf58476d1ce4e5b9u + (uint64_t)i;
    return seed;
}

#endif
