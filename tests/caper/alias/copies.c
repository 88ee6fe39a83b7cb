/* A copy accesses as many bytes as it copies, on either side. pairs: A-C A-D; not: A-E A-F */
#include "alias.h"
char from[64], to[64];
volatile int n = 16;
volatile char sum;
static void *first(void *arg)
{
    memcpy(to, from, n); /* A */
    return arg;
}
static void *second(void *arg)
{
    *(volatile char *)&from[15] = 1; /* C */
    *(volatile char *)&from[16] = 1; /* E */
    sum = *(volatile char *)&to[15]; /* D */
    sum = *(volatile char *)&to[16]; /* F */
    return arg;
}
int main(void)
{
    both(first, second, NULL);
    return 0;
}
