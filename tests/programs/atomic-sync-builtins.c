// The old __sync builtins are full barriers.
// NO RACE
#include "invisible.h"

int lock, count, data;

THREAD(worker)
{
    for (int i = 0; i < 100; i++) {
        while (!__sync_bool_compare_and_swap(&lock, 0, 1))
            ;
        data++;
        __sync_lock_release(&lock);
        __sync_fetch_and_add(&count, 1);
    }
    return NULL;
}

int main(void)
{
    both(worker, worker);
    MUST(data == 200 && count == 200);
    return 0;
}
