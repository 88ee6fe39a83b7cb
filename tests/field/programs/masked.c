/*
 * masked.c - accesses that cannot be chased: alone in their line, and with one that can. They are never executed.
 */
#include <stdio.h>

#define MASKED(p) __asm__ volatile("vmaskmovps %%ymm0, %%ymm1, (%0)" ::"r"(p) : "memory")
#define BOTH(p)     \
    do {            \
        MASKED(p);  \
        (p)[3] = 1; \
    } while (0)

volatile long data[4];

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 100) {
        MASKED(data); // MASKED
        BOTH(data);   // BOTH
    }
    data[1] = argc; // PLAIN
    puts("OK");
    return 0;
}
