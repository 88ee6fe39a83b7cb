// A write made long ago (after thousands of accesses and synchronisations elsewhere) is not forgotten.
// TSAN: its history is bounded and has lost the first stack by then
#include "invisible.h"

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int x;
int busy[4096];

THREAD(first)
{
    x = 1; // RACE a
    for (int i = 0; i < 20000; i++) {
        pthread_mutex_lock(&m);
        busy[i % 4096]++;
        pthread_mutex_unlock(&m);
    }
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    x = 2; // RACE a
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
