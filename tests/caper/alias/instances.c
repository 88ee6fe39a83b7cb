/* Two threads of one kind: an access aliases with itself. pairs: A-A A-B B-B */
#include "alias.h"
volatile int x;
static void *worker(void *arg)
{
    x = 1; /* A */
    x = 2; /* B */
    return arg;
}
int main(void)
{
    both(worker, worker, NULL);
    return 0;
}
