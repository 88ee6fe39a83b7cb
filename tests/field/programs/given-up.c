/*
 * given-up.c - uses more locks than can be followed while an access is, so that the chase is given up; then tells whether its
 * code is again what its file holds. Prints OK, or LEFT if a breakpoint is still there after a while.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LOCKS = 20000, TRIES = 2000, PAUSE_US = 5000 };

static pthread_mutex_t locks[LOCKS];
static volatile long shared;
static volatile long sink;

__attribute__((noinline)) static void put(void)
{
    shared = 1; // FIRST
}

__attribute__((noinline)) static void get(void)
{
    sink = shared; // SECOND
}

static int is_as_in_file(void)
{
    static char now[1 << 20], then[1 << 20];
    unsigned long lo, hi, offset, here = (unsigned long)&put;
    char line[4096];
    int same = 0;
    FILE *maps = fopen("/proc/self/maps", "r"), *file = fopen("/proc/self/exe", "r");
    while (maps && file && fgets(line, sizeof(line), maps)) {
        if (sscanf(line, "%lx-%lx %*s %lx", &lo, &hi, &offset) != 3 || here < lo || here >= hi ||
            hi - lo > sizeof(now))
            continue;
        memcpy(now, (const char *)lo, hi - lo);
        fseek(file, (long)offset, SEEK_SET);
        /* The last page of a segment may hold more of the file than the program's code. */
        size_t n = fread(then, 1, hi - lo, file);
        same = n > 0 && memcmp(now, then, n) == 0;
    }
    if (maps)
        fclose(maps);
    if (file)
        fclose(file);
    return same;
}

int main(void)
{
    int same = 0;
    put();
    for (int i = 0; i < LOCKS; i++) {
        pthread_mutex_init(&locks[i], NULL);
        pthread_mutex_lock(&locks[i]);
        pthread_mutex_unlock(&locks[i]);
    }
    for (int i = 0; i < TRIES && !same; i++) {
        same = is_as_in_file();
        usleep(PAUSE_US);
    }
    get();
    puts(same ? "OK" : "LEFT");
    return 0;
}
