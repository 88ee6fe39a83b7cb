/* In a loop all that two threads share is found, and nothing else: they overlap in one element. pairs: A-B */
#include "alias.h"
volatile long array[64];
static void *first(void *arg)
{
    for (int i = 0; i < 33; i++)
        array[i] = i; /* A */
    return arg;
}
static void *second(void *arg)
{
    for (int i = 32; i < 64; i++)
        array[i] = i; /* B */
    return arg;
}
int main(void)
{
    both(first, second, NULL);
    return 0;
}
