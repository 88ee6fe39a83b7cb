// A copy that begins at an index of bytes is taken to move no pointers; that is assumed, and counted.
// ASSUMED byte-copies 1
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static int x;
static char *block;

static void *worker(void *arg)
{
    size_t *at = arg;
    int **copy = malloc(at[1] * sizeof *copy);
    memcpy(copy, block + at[0], at[1] * sizeof *copy);
    **copy = 1; // NO PAIR
    return copy;
}

int main(int argc, char **argv)
{
    pthread_t t;
    int *p = &x;
    size_t at[2] = {(size_t)argc * 3, (size_t)argc};
    block = malloc(100);
    memcpy(block + 24, &p, sizeof p);
    pthread_create(&t, NULL, worker, at);
    x = 2; // NO PAIR
    pthread_join(t, NULL);
    return argv == NULL;
}
