/* What a thread writes before it publishes a block aliases here, unlike in Caper. pairs: A-D A-C */
#include "alias.h"
struct item {
    volatile int n;
};
struct item *volatile shared;
volatile int sum;
static void *reader(void *arg)
{
    while (!shared)
        ;
    sum = shared->n; /* D */
    shared->n = 2;   /* C */
    return arg;
}
static void *writer(void *arg)
{
    struct item *item = malloc(sizeof(*item));
    item->n = 1; /* A */
    shared = item;
    return arg;
}
int main(void)
{
    both(reader, writer, NULL);
    return 0;
}
