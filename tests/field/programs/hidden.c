/*
 * hidden.c - a race that a lock hides, as it comes after the first access and before the second in the order in which they are
 * always made.
 */
#include <stdio.h>

#include "../../programs/invisible.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long data, of_first, of_second;

THREAD(first)
{
    data = 1; // FIRST
    pthread_mutex_lock(&lock);
    of_first++;
    pthread_mutex_unlock(&lock);
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    pthread_mutex_lock(&lock);
    of_second++;
    pthread_mutex_unlock(&lock);
    data = 2; // SECOND
    return NULL;
}

int main(void)
{
    both(first, second);
    puts(data && of_first + of_second == 2 ? "OK" : "lost");
    return 0;
}
