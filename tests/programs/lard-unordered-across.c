// A lock that is taken on one side of the border and released on the other orders nothing; outside, the same
// lock orders as ever.
// TSAN: it does not know the interface
#include <deadheat/lard.h>

#include "invisible.h"

long inside_out, outside_in, outside;
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t three = PTHREAD_MUTEX_INITIALIZER;

THREAD(first)
{
    outside = 1;
    inside_out = 1; // RACE a
    outside_in = 1; // RACE b
    dh_lard_unordered_begin();
    pthread_mutex_lock(&one);
    dh_lard_unordered_end();
    pthread_mutex_unlock(&one);
    pthread_mutex_lock(&two);
    dh_lard_unordered_begin();
    pthread_mutex_unlock(&two);
    dh_lard_unordered_end();
    mark();
    after(2);
    pthread_mutex_lock(&three);
    pthread_mutex_unlock(&three);
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    pthread_mutex_lock(&one);
    inside_out = 2; // RACE a
    pthread_mutex_unlock(&one);
    pthread_mutex_lock(&two);
    outside_in = 2; // RACE b
    pthread_mutex_unlock(&two);
    mark();
    after(3);
    pthread_mutex_lock(&three);
    outside = 2;
    pthread_mutex_unlock(&three);
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
