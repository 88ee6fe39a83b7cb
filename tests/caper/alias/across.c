/* An access that crosses a word meets a byte in the next one; the byte behind it does not. pairs: A-B; not: A-C */
#include "alias.h"
char room[32] __attribute__((aligned(16)));
struct packed {
    long n;
} __attribute__((packed));
volatile int at[3] = {5, 12, 13};
static void *first(void *arg)
{
    ((volatile struct packed *)&room[at[0]])->n = 1; /* A */
    return arg;
}
static void *second(void *arg)
{
    *(volatile char *)&room[at[1]] = 2; /* B */
    *(volatile char *)&room[at[2]] = 2; /* C */
    return arg;
}
int main(void)
{
    both(first, second, NULL);
    return 0;
}
