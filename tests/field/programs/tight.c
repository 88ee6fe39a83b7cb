/*
 * tight.c - the pair on an alternate stack with room for the kernel's part of a handler's frame and little more, as
 * programs have where MINSIGSTKSZ is just that. Nothing may be written below it.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SIZE = 1 << 16, MORE = 320 };

static volatile int shared;
static _Alignas(64) char stack[SIZE];
static size_t frame; /* the kernel's part */

__attribute__((noinline)) static void touch(void)
{
    shared++; // FIRST
}

static void measure(int number)
{
    (void)number;
    frame = (size_t)(stack + SIZE - (char *)__builtin_frame_address(0));
}

/* Not by libc: one that is smaller than the kernel recommends is kept from it. */
static void set_stack(size_t size)
{
    stack_t s = {.ss_sp = stack + SIZE - size, .ss_size = size};
    syscall(SYS_sigaltstack, &s, NULL);
}

int main(void)
{
    struct sigaction act = {.sa_handler = measure, .sa_flags = SA_ONSTACK};
    struct timespec begin, now;
    sigaction(SIGUSR1, &act, NULL);
    set_stack(SIZE);
    raise(SIGUSR1);
    const size_t size = (frame + MORE + 63) / 64 * 64;
    memset(stack, 0x55, SIZE);
    set_stack(size);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        touch();
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < 100);
    for (size_t i = 0; i < SIZE - size; i++)
        if (stack[i] != 0x55) {
            printf("%zu bytes below the stack were written\n", SIZE - size - i);
            return 1;
        }
    puts("OK");
    return 0;
}
