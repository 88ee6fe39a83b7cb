/* Fields of one structure, chosen at run time, are different bytes; the same field is not. pairs: A-B; not: C-D */
#include "alias.h"
struct pair {
    int at[2], rest[2];
};
struct pair *volatile shared;
volatile int left = 0, right = 1;
static void *first(void *arg)
{
    shared->at[left] = 1;   /* A */
    shared->rest[left] = 1; /* C */
    return arg;
}
static void *second(void *arg)
{
    shared->at[left] = 2;    /* B */
    shared->rest[right] = 2; /* D */
    return arg;
}
int main(void)
{
    shared = malloc(sizeof(*shared));
    both(first, second, NULL);
    return 0;
}
