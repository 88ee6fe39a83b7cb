/*
 * prog.c - a program with a race that it comes to when it is told: it reads commands from its standard input, of which
 * "go" starts two threads that race all the time, "hang" stops these for ever, "crash" aborts, "whose" says whether calls of sem_post are libc's or the
 * program's own (deadheat's), and "end", or the end of the input, ends it.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int hits;
static atomic_int over, stuck;

#ifdef ORDERED /* the threads take turns, in a way that the static analysis does not know */
static sem_t turns[2];
#define TAKE(n) sem_wait(&turns[n])
#define GIVE(n) sem_post(&turns[n])
#else
#define TAKE(n) (void)(n)
#define GIVE(n) (void)(n)
#endif

#ifdef APART /* the pair that meets is not in the bundle that is examined */
static int misses;

static void touch(int me)
{
    if (!me)
        hits = 1;
    else if (hits > 1)
        abort();
    misses++;
}
#else
static void touch(int me)
{
    (void)me;
    hits++; /* RACE, unless they are ordered */
}
#endif

/* By a system call of its own: a breakpoint kills a thread that blocks SIGILL. */
static void block_all(void)
{
#ifdef DIRECT
    unsigned long all = ~0ul;
    long ret;
    register long size __asm__("r10") = sizeof(all);
    __asm__ volatile("syscall"
                     : "=a"(ret)
                     : "a"(14L), "D"(0L), "S"(&all), "d"(0L), "r"(size)
                     : "rcx", "r11", "memory");
#endif
}

static void *visit(void *arg)
{
    int me = arg != NULL;
    block_all();
    while (!atomic_load(&over)) {
        TAKE(me);
        touch(me);
        usleep(100);
        GIVE(!me);
        while (atomic_load(&stuck))
            pause();
    }
    return arg;
}

#ifdef WITH_PLAIN
extern void plain(void); /* plain.c, compiled without deadheat */
#else
static void plain(void)
{
}
#endif

/* The address is that which calls go to. */
static const char *whose(void)
{
    extern char __executable_start, etext; // NOLINT(bugprone-reserved-identifier): the linker's
    int (*volatile function)(sem_t *) = sem_post;
    return (char *)function >= &__executable_start && (char *)function < &etext ? "own" : "libc";
}

int main(void)
{
    pthread_t t[2];
    char line[64];
    int n = 0;
    GIVE(0);
    while (fgets(line, sizeof(line), stdin) && strcmp(line, "end\n") != 0) {
        if (strcmp(line, "crash\n") == 0)
            abort();
        if (strcmp(line, "hang\n") == 0)
            atomic_store(&stuck, 1);
        if (strcmp(line, "plain\n") == 0)
            for (int i = 0; i < 1000; i++)
                plain();
        if (strcmp(line, "go\n") == 0 && n == 0)
            for (; n < 2; n++)
                pthread_create(&t[n], NULL, visit, n ? line : NULL);
        if (strcmp(line, "whose\n") == 0)
            puts(whose());
        else
            fputs(line, stdout);
        fflush(stdout);
    }
    atomic_store(&over, 1);
    GIVE(0);
    GIVE(1);
    while (n)
        pthread_join(t[--n], NULL);
    puts("over");
    return 7;
}
