/*
 * unseen-by.c - what orders the two accesses of unseen.c: BY_FLAG, a flag that is stored and loaded by plain moves; BY_LOCK, a
 * spin lock around it; BY_ASSEMBLY and BY_LOCKED_ASSEMBLY, the same two in inline assembly; BY_SYSTEM_CALL, a pipe.
 */
#include <unistd.h>

void tell(void);
void hear(void);

#if defined(BY_FLAG)
static int flag;
void tell(void)
{
    __atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
}
void hear(void)
{
    while (!__atomic_load_n(&flag, __ATOMIC_ACQUIRE))
        continue;
}
#elif defined(BY_LOCK)
static int taken, said;
static int look(int say)
{
    while (__atomic_exchange_n(&taken, 1, __ATOMIC_ACQUIRE))
        continue;
    said |= say;
    int seen = said;
    __atomic_store_n(&taken, 0, __ATOMIC_RELEASE);
    return seen;
}
void tell(void)
{
    look(1);
}
void hear(void)
{
    while (!look(0))
        usleep(100);
}
#elif defined(BY_ASSEMBLY)
static int flag;
void tell(void)
{
    __asm__ volatile("movl $1, %0" : "=m"(flag) : : "memory");
}
void hear(void)
{
    int seen;
    do
        __asm__ volatile("movl (%1), %0" : "=r"(seen) : "r"(&flag) : "memory");
    while (!seen);
}
#elif defined(BY_LOCKED_ASSEMBLY)
static int taken, said;
static int look(int say)
{
    int old;
    do {
        old = 1;
        __asm__ volatile("xchgl %0, %1" : "+r"(old), "+m"(taken) : : "memory");
    } while (old);
    said |= say;
    int seen = said;
    __asm__ volatile("movl $0, %0" : "=m"(taken) : : "memory");
    return seen;
}
void tell(void)
{
    look(1);
}
void hear(void)
{
    while (!look(0))
        usleep(100);
}
#elif defined(BY_SYSTEM_CALL)
static int ends[2];
static long call(long number, long fd, void *p, long n)
{
    __asm__ volatile("syscall" : "+a"(number) : "D"(fd), "S"(p), "d"(n) : "rcx", "r11", "memory");
    return number;
}
__attribute__((constructor)) static void begin(void)
{
    if (pipe(ends) != 0)
        _exit(1);
}
void tell(void)
{
    char byte = 0;
    call(1, ends[1], &byte, 1);
}
void hear(void)
{
    char byte;
    call(0, ends[0], &byte, 1);
}
#endif
