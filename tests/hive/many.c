/*
 * many.c - a program with many possible races, for tests of who gets which.
 */
#include <pthread.h>

#define RACY(name)                 \
    int name;                      \
    static void count_##name(void) \
    {                              \
        name++;                    \
    }

/* clang-format off: a line each, for that is what tells them apart */
RACY(aw)
RACY(ax)
RACY(ay)
RACY(az)
RACY(bw)
RACY(bx)
RACY(by)
RACY(bz)
RACY(cw)
RACY(cx)
RACY(cy)
RACY(cz)
RACY(dw)
RACY(dx)
RACY(dy)
RACY(dz)
/* clang-format on */

static void *work(void *arg)
{
    count_aw();
    count_ax();
    count_ay();
    count_az();
    count_bw();
    count_bx();
    count_by();
    count_bz();
    count_cw();
    count_cx();
    count_cy();
    count_cz();
    count_dw();
    count_dx();
    count_dy();
    count_dz();
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, work, NULL);
    work(NULL);
    pthread_join(t, NULL);
    return 0;
}
