/*
 * direct.c - system calls by machine code of its own, not through libc, as some run-time systems make them: direct [LIBRARY].
 *
 *   -DACTION   sets the action of SIGILL
 *   -DMASK     blocks SIGILL
 *   -DNUMBER   makes a call whose number only the program knows
 *   -DLIBC     sets both through libc's `syscall`, which is not a direct call
 *   -DLOADED   none; the LIBRARY does, which is this file with -DPLUGIN and one of the above
 *   otherwise  makes calls that have nothing to do with signals, and has the bytes of such an instruction in others
 */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { SIGACTION = 13, SIGPROCMASK = 14, GETPID = 39, GETTID = 186 };

/* The kernel's layout. */
struct action {
    void (*handler)(int);
    unsigned long flags;
    void *restorer;
    unsigned long mask;
};

__attribute__((always_inline, unused)) static inline long call(long number, long a, long b, long c, long d)
{
    long ret;
    register long r10 __asm__("r10") = d;
    __asm__ volatile("syscall"
                     : "=a"(ret)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
                     : "rcx", "r11", "memory");
    return ret;
}

__attribute__((unused)) static void on_illegal(int number)
{
    (void)number;
    static const char words[] = "illegal instruction\n";
    _exit(write(2, words, sizeof(words) - 1) > 0 ? 9 : 8);
}

void set_up(void);
void set_up(void)
{
#if defined ACTION
    struct action act = {.handler = on_illegal};
    call(SIGACTION, SIGILL, (long)&act, 0, sizeof(act.mask));
#elif defined MASK
    unsigned long mask = 1ul << (SIGILL - 1);
    call(SIGPROCMASK, SIG_BLOCK, (long)&mask, 0, sizeof(mask));
#elif defined NUMBER
    static volatile long number = GETPID;
    if (call(number, 0, 0, 0, 0) != getpid())
        abort();
#elif defined LIBC
    struct action act = {.handler = SIG_IGN}, was;
    unsigned long mask = 1ul << (SIGILL - 1), before, now;
    if (syscall(SIGACTION, SIGILL, &act, &was, sizeof(act.mask)) != 0 || was.handler != SIG_DFL)
        abort();
    if (syscall(SIGACTION, SIGILL, NULL, &was, sizeof(act.mask)) != 0 || was.handler != SIG_IGN)
        abort();
    if (syscall(SIGACTION, SIGKILL, &act, NULL, sizeof(act.mask)) != -1 || errno != EINVAL)
        abort();
    if (syscall(SIGPROCMASK, SIG_BLOCK, &mask, &before, sizeof(mask)) != 0 || before & mask)
        abort();
    if (syscall(SIGPROCMASK, SIG_BLOCK, NULL, &now, sizeof(mask)) != 0 || now != (before | mask))
        abort();
    if (syscall(GETPID) != getpid() || syscall(-1, 1, 2, 3, 4, 5, 6) != -1 || errno != ENOSYS)
        abort();
#elif !defined LOADED
    for (int i = 0; i < 2; i++) /* the compiler keeps the number in another register */
        if (call(GETPID, 0, 0, 0, 0) != getpid() || call(GETTID, 0, 0, 0, 0) != gettid())
            abort();
    __asm__ volatile("movl $0x050f, %%eax\n\tleal 0x050f(%%rax), %%eax" ::: "eax");
#endif
}

#ifndef PLUGIN
static volatile long shared;

__attribute__((noinline)) static void touch(void)
{
    shared++; // FIRST
}

/* For long enough that breakpoints are set in the meantime. */
static void touch_often(void)
{
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        touch();
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < 200);
}

int main(int argc, char **argv)
{
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    void (*its)(void) = library ? (void (*)(void))dlsym(library, "set_up") : set_up;
    if (argc > 1)
        touch_often();
    its();
    touch_often();
    puts("OK");
    return 0;
}
#endif
