// Threads, locks and thread-locals as C11 has them.
#include <threads.h>

int x, y;
thread_local int z;
mtx_t m;

static int thread(void *arg)
{
    mtx_lock(&m);
    x++; // NO PAIR
    mtx_unlock(&m);
    y++; // PAIR a
    z++; // NO PAIR
    if (mtx_trylock(&m) == thrd_success) {
        x--; // NO PAIR
        mtx_unlock(&m);
    }
    return 0;
}

int main(void)
{
    thrd_t t;
    mtx_init(&m, mtx_plain);
    thrd_create(&t, thread, NULL);
    mtx_lock(&m);
    x++; // NO PAIR
    mtx_unlock(&m);
    y++; // PAIR a
    z++; // NO PAIR
    thrd_join(t, NULL);
    y++; // NO PAIR
    return 0;
}
