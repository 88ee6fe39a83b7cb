/* Two threads, one variable. pairs: A-B */
#include "alias.h"
volatile int x, y;
static void *first(void *arg)
{
    x = 1; /* A */
    return arg;
}
static void *second(void *arg)
{
    y = x; /* B */
    return arg;
}
int main(void)
{
    both(first, second, NULL);
    return 0;
}
