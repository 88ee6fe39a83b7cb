/*
 * history.c - how fast histories are cleared, copied and moved (include/deadheat/lard.h).
 *
 * Compiled by `deadheat cc`. For ranges that were never accessed and for ranges that one thread has written,
 * of sizes from a small object to what a collector evacuates at once. Prints one JSON object: bytes of the
 * program's memory a second of processor time, the best of several rounds.
 *
 * Memory with a past is written again before each round, outside the clock.
 */
#include <deadheat/lard.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { ROUNDS = 5, WORK = 64 << 20 };

enum what { CLEAR, COPY, COPY_SHIFTED, MOVE };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static char *fresh(size_t n)
{
    char *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        abort();
    return p;
}

/* All of WORK bytes, in pieces of `size`. */
static double work(enum what what, char *dst, const char *src, size_t size)
{
    double from = now();
    for (size_t at = 0; at + size <= WORK; at += size) {
        if (what == CLEAR)
            dh_lard_clear(dst + at, size);
        else if (what == MOVE)
            dh_lard_move(dst + at, src + at, size);
        else
            dh_lard_copy(dst + at, src + at + (what == COPY_SHIFTED), size);
    }
    return now() - from;
}

/* The first pass is not counted: it may meet pages of shadow that nobody has looked at yet. */
static double rate(enum what what, char *dst, char *src, size_t size, bool touched)
{
    double best = 1e9;
    for (int round = 0; round <= ROUNDS; round++) {
        if (touched) {
            memset(dst, 1, WORK + 8);
            memset(src, 1, WORK + 8);
        }
        double took = work(what, dst, src, size);
        best = round && took < best ? took : best;
    }
    return WORK / best;
}

int main(void)
{
    static const char *const names[] = {"clear", "copy", "copy_shifted", "move"};
    static const size_t sizes[] = {64, 1024, 64 << 10, 1 << 20, 64 << 20};
    char *dst = fresh(WORK + 8), *src = fresh(WORK + 8);
    printf("{");
    /* Without a past first: it would stay. */
    for (int touched = 0; touched < 2; touched++)
        for (int what = CLEAR; what <= MOVE; what++)
            for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
                printf("%s\"%s %s %zu\": %.0f", what || touched || i ? ",\n " : "", names[what],
                       touched ? "uniform" : "untouched", sizes[i],
                       rate((enum what)what, dst, src, sizes[i], touched));
    printf("}\n");
    return 0;
}
