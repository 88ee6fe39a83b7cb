/* Two reads are no pair. pairs: A-B A-C */
#include "alias.h"
volatile int x, y, z;
static void *first(void *arg)
{
    y = x; /* B */
    return arg;
}
static void *second(void *arg)
{
    z = x; /* C */
    return arg;
}
static void *third(void *arg)
{
    x = 1; /* A */
    return arg;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, third, NULL);
    both(first, second, NULL);
    pthread_join(t, NULL);
    return 0;
}
