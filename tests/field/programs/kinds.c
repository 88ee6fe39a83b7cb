/*
 * kinds.c - one kind of access a line, for `--list`: what is expected of each is behind its mark, in every compilation, separated
 * by semicolons. It is never run.
 */
#include <stdatomic.h>

typedef int vector __attribute__((vector_size(16)));

long global;
_Thread_local long own;
long (*table[4])(void);

void plain(int *p, char *q, double *d)
{
    *p = 1;     // LINE write of 4 bytes
    *q = 2;     // LINE write of 1 byte
    *d = 3;     // LINE write of 8 bytes
    global = 4; // LINE write of 8 bytes
    own = 5;    // LINE write of 8 bytes
}

int load(const short *p)
{
    return *p; // LINE read of 2 bytes
}

void vectors(vector *to, const vector *from)
{
    *to = *from; // LINE read of 16 bytes;write of 16 bytes
}

void atomics(_Atomic int *p, _Atomic long *q)
{
    atomic_fetch_add(p, 1); // LINE atomic read and write of 4 bytes
    atomic_exchange(q, 2);  // LINE atomic read and write of 8 bytes
}

#define COPY(to, from, n) __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n)::"memory")
#define ON(instruction, p) __asm__ volatile(instruction ::"r"(p) : "memory", "cc", "rax")

void strings(char *to, const char *from, unsigned long n)
{
    COPY(to, from, n); // LINE write of 1 byte, repeated;read of 1 byte, repeated
}

void modify(long *p)
{
    ON("addq $1, (%0)", p);         // LINE read and write of 8 bytes
    ON("xaddq %%rax, (%0)", p);     // LINE read and write of 8 bytes
    ON("lock incq (%0)", p);        // LINE atomic read and write of 8 bytes
    ON("movq %%gs:(%0), %%rax", p); // LINE cannot be chased: its address is relative to the gs segment
    ON("vmaskmovps %%ymm0, %%ymm1, (%0)", p); // LINE cannot be chased: a mask decides which bytes
}

long through(int i)
{
    return table[i](); // LINE read of 8 bytes
}

int main(void)
{
    return 0;
}
