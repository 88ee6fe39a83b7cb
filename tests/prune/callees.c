/* What calls.c calls: one function that cannot synchronise, and one that does. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int table[64], total;

int look(int x)
{
    table[x & 63] = x;
    return table[(x + 1) & 63];
}

void stir(int x)
{
    pthread_mutex_lock(&lock);
    total += x;
    pthread_mutex_unlock(&lock);
}
