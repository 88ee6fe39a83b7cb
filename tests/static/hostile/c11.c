// C11 threads: once, thread-specific destructors, a lock on one side only.
#include <threads.h>
int x, y;
mtx_t m;
tss_t k;
once_flag of = ONCE_FLAG_INIT;
int once_v;

static void fini(void *p)
{
    ++*(int *)p; // RACE a
}

static void init(void)
{
    once_v = 1;
}

static int f(void *a)
{
    call_once(&of, init);
    tss_set(k, &y);
    mtx_lock(&m);
    ++*(int *)a; // RACE b
    mtx_unlock(&m);
    return once_v;
}

int main(void)
{
    thrd_t t;
    mtx_init(&m, mtx_plain);
    tss_create(&k, fini);
    thrd_create(&t, f, &x);
    x++; // RACE b
    y++; // RACE a
    int r;
    thrd_join(t, &r);
    return 0;
}
