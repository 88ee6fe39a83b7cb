/* The other half: first.c begins the threads. They count under a lock, and race after they have released it: taking it
 * orders nothing that the other thread does later. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int counted_in_second, raced_in_second;

void count_second(int n)
{
    static int table[16];
    pthread_mutex_lock(&lock);
    counted_in_second += table[n] + n;
    table[n] = counted_in_second;
    pthread_mutex_unlock(&lock);
}

void race_second(int n)
{
    raced_in_second += n;
}
