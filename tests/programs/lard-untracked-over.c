// After the last end everything is looked at again; synchronisation in an untracked region always counts.
// TSAN: it does not know the interface
#include <deadheat/lard.h>
#include <stdatomic.h>

#include "invisible.h"

int word, ordered;
static atomic_int flag;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

THREAD(first)
{
    ordered = 1;
    dh_lard_untracked_begin();
    dh_lard_untracked_begin();
    word = 1;
    dh_lard_untracked_end();
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    atomic_store_explicit(&flag, 1, memory_order_release);
    dh_lard_untracked_end();
    dh_lard_untracked_end(); /* one too many is none */
    word = 2;                // RACE a
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    word = 3; // RACE a
    dh_lard_untracked_begin();
    int seen = atomic_load_explicit(&flag, memory_order_acquire);
    dh_lard_untracked_end();
    ordered = seen;
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
